/* SPDX-License-Identifier: MIT */
/* Local derivatives of straight-line code as a graph: a vertex for each number, an edge for
 * each partial derivative, by the names that hold them. Numbers between are eliminated, in an
 * order that keeps edges few (Griewank and Walther, "Evaluating derivatives", 2008, chapter 9):
 * what forward and reverse accumulation are two orders of. What is left goes on the tape, an
 * edge an operand. */
#ifndef CONVERT_CHAIN_H
#define CONVERT_CHAIN_H

#include "convert/text.h"

enum { NO_VERTEX = -1 };

/* A partial derivative by vertex `from`. */
typedef struct edge {
    int from;
    const char *weight; /* a name or number; of a `unit`: "1" */
    int unit;           /* 1 or -1: the weight is that */
    bool singular;      /* it may be infinite or no number */
} edge;

typedef struct vertex {
    const char *value;  /* the name of its value */
    const char *handle; /* the name of its variable, if it has one */
    edge *in;
    size_t n, room;
    int outer; /* of a leaf that stands for a vertex of the graph around: that one; otherwise NO_VERTEX */
    bool leaf, kept; /* kept: it becomes a variable */
    bool gone;
} vertex;

typedef struct chain {
    vertex *at;
    size_t n, room;
} chain;

/* Where names come from and declarations go. */
typedef struct chain_text {
    text to;
    const char *indent;
    unsigned *names;
} chain_text;

const char *chain_name(chain_text *x); /* a new name */
int chain_leaf(chain *c, const char *handle, const char *value, int outer);
int chain_vertex(chain *c, const char *value);
/* One more edge; what is there already is added to. */
void chain_edge(chain *c, chain_text *x, int to, edge e);
/* Eliminates vertices that are neither leaves nor kept: all of them; or those that it pays for,
 * and the others are kept. */
void chain_eliminate(chain *c, chain_text *x, bool all);
/* How many operands and statements those that are kept have. */
size_t chain_operands(const chain *c);
/* Declares the variable of a kept vertex, behind those of its operands; recorded in line, or
 * by a call. */
void chain_record(chain *c, chain_text *x, int v, const char *tape, bool by_call);

#endif
