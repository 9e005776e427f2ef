/* SPDX-License-Identifier: MIT */
/* Writing a version of a function with variables in the place of numbers: what stays the same
 * is copied from the source, with its layout and comments. */
#ifndef CONVERT_WRITER_H
#define CONVERT_WRITER_H

#include "convert/activity.h"

typedef struct writer {
    analysis *a;
    version *v;          /* that is written; NULL: what is outside of functions */
    const char *tape;    /* the name of the tape */
    const decl *rounded; /* the function of which it was said that float is not rounded to */
    bool sorts;          /* qsort of variables was written */
    bool generic;        /* for three types */
    unsigned duals;      /* the text is over duals, of so many tangents; 0: over variables */
    bool rows;           /* an adjoint without a tape, whose rows a callback records */
    bool bytes; /* sizes of numbers are those of variables: in what asks for memory of them */
    list typedefs;         /* decl: those of which there has to be one with variables */
    bool blocks;           /* regions become statements of their inputs */
    unsigned names;        /* of regions so far */
    struct region *region; /* that is written: numbers are its own */
    list turns;            /* turn_function (loops.h): what loops call */
    size_t turns_written;  /* of these */
} writer;

/* An operand of a recorded operation, and what it adds to the statement. */
typedef struct operand {
    const char *s;
    unsigned variables, numbers, operations;
} operand;

bool is_active(const writer *w, const node *n);     /* a number that is a variable */
const char *write_number(writer *w, const node *n); /* its value, or what is no number, as C */
const char *write_variable(writer *w, const node *n); /* a wg_real */
operand write_operand(writer *w, const node *n);      /* of an operation */
const char *write_place(writer *w, const node *n);    /* what can be assigned to */
const char *write_condition(writer *w, const node *n);
const char *write_step(writer *w, const node *n,
                       bool used); /* x++ and the like of a variable */
const char *write_initialiser(writer *w, const node *n, const type *t, cell *c, bool constant);

/* A statement or expression in the place of one. */
const char *write_statement(writer *w, const node *n);

/* The text [begin, end) of a file with parts replaced; parts are in order. */
typedef struct part {
    size_t begin, end;
    const char *s;
} part;
const char *replaced(const file *f, size_t begin, size_t end, size_t n, const part *p);
/* Children as they are written: an index may stand before its array. */
void in_text_order(size_t n, part *p);

/* A declaration of a number, array, pointer or structure, [begin, end) with its specifiers, as
 * one of variables. `more` are parts that are replaced besides. */
const char *retyped(writer *w, const file *f, size_t begin, size_t end);
/* Only the specifiers: where they end, in *rest. */
const char *retyped_specifiers(writer *w, const file *f, size_t begin, size_t end,
                               size_t *rest);
size_t specifiers_end(const file *f, size_t begin, size_t end);
const char *write_declaration(writer *w, const node *n);
/* Declarator i of a declaration by itself, with its specifiers: int *p, without what ends a
 * statement. */
const char *write_one_declaration(writer *w, const node *n, size_t i);
const char *write_signature(writer *w, const version *v, bool as_prototype);
const char *write_function(writer *w, version *v);
/* The functions for turns that loops written since the last call use (loops.h). */
const char *turn_functions(writer *w);
/* The types of a group with variables; what is declared by them stands apart. */
const char *write_types(writer *w, const file *f, const list *decls, size_t begin, size_t end);
const char *write_global(writer *w, const decl *d, const char *begin_with);

#endif
