/* SPDX-License-Identifier: MIT */
/* model.h - a model from inside: what is kept beside the recording. Internal.
 *
 *   t        the recording: all nodes are matrices of it
 *   store    nodes, names, values of variables: never reset
 *   scratch  what a single call needs
 *   work     the workspace of wg_function_...
 *
 * A derived node, which is made from other nodes (a derivative, a sum over points), is an input
 * of the recording, and at the same time output `output` of a function of placeholders and
 * variables. A computation is extracted with derived nodes as inputs, and composed with their
 * functions. */
#ifndef WGI_TAPE_MODEL_MODEL_H
#define WGI_TAPE_MODEL_MODEL_H

#include "tape/function/graph/arguments.h"

#include <wengert/model.h>

/* A function that the model owns. */
typedef struct wgi_made {
    struct wgi_made *next;
    wg_function *f;
} wgi_made;

typedef struct wgi_tag {
    struct wgi_tag *next;
    const char *text;
} wgi_tag;

/* The most bytes of a name that the user gives: files of variables have room for so many. */
enum { WGI_LONGEST_NAME = 4096 };

enum { WGI_DERIVED = 16 }; /* flag beside WG_OPERATION: the node is an output of a function */

typedef struct wgi_node_of {
    struct wgi_node_of *next; /* the node that was made after this one */
    unsigned kind, flags;     /* flags are those of a placeholder */
    wg_mat mat;
    wg_dim dim[2];
    const char *name, *operation, *file;
    int line;
    wgi_tag *tag;
    /* of a placeholder: */
    wg_points feed;
    /* of a variable; initial values that were copied are in `store` as well: */
    double *values;
    wg_initial initial;
    struct wgi_node_of *updates; /* the variable that a run sets to this node; or NULL */
    /* what the node was made from, as far as that is known, NULL behind it: the operands; y and
     * x of dy/dx; the terms of a sum */
    const struct wgi_node_of *from[4];
    /* of a derived node: */
    const wgi_made *made;
    const char *output;
} wgi_node_of;

struct wg_model {
    wg_tape *t, *store, *scratch, *work;
    wgi_core *c;         /* of t */
    uint64_t generation; /* of t */
    wgi_node_of *first, **last;
    size_t nodes;
    wgi_made *made;
};

/* ---- model.c ---- */

/* Is the recording in order? Otherwise gives its status; the tape has the message. */
wg_status wgi_model_ready(wg_model *m, const char *call);
/* The node that a matrix is; NULL: it is none. */
wgi_node_of *wgi_model_node_of(const wg_model *m, const wg_mat *a);
/* The placeholder or variable of that name. */
wgi_node_of *wgi_model_leaf(const wg_model *m, const char *name);
int wgi_model_name_taken(const wg_model *m, const char *name);
/* Makes a node of a matrix, with a name that is not taken; name NULL: it is made of the
 * operation and a number. NULL: a failure, of this call or of the recording of a, which the
 * tape keeps. */
wgi_node_of *wgi_model_add(wg_model *m, const char *call, unsigned kind, const char *name,
                           const char *operation, wg_mat a, const wg_dim *dim, const char *file,
                           int line);
/* Memory that lives as long as the model; NULL: a failure, which the tape keeps. */
void *wgi_model_keep(wg_model *m, const char *call, size_t bytes, const void *data);
/* Memory from scratch, 64-byte aligned, until wg_tape_reset(m->scratch); NULL: there is none,
 * and the tape has a message. */
void *wgi_model_scratch(wg_model *m, const char *call, size_t bytes);
size_t wgi_model_size(const wgi_node_of *n);
/* Refuses, also while the tape is in failure; its message stays then. */
#define WGI_MODEL_REFUSE(m, s, ...) wgi_refuse((m)->c, s, __VA_ARGS__)

/* ---- model_search.c ---- */

/* How far a walk goes back: to placeholders and variables, to derived nodes as well, or to any
 * node. */
typedef enum { WGI_REACH_LEAVES, WGI_REACH_DERIVED, WGI_REACH_NODES } wgi_reach_to;

/* The slots of the recording, to be walked backwards; in scratch. */
typedef struct wgi_slots {
    const wg_model *m;
    /* for each slot, the word at which its code begins, plus 1; 0: it has none */
    uint64_t *word;
    /* for each slot, the node that it belongs to; if one is a view of another, the first of
     * them */
    wgi_node_of **node;
    unsigned char *mark;
} wgi_slots;

wg_status wgi_slots_open(wg_model *m, const char *call, wgi_slots *s);
/* Marks these nodes and what they need. */
void wgi_slots_walk(wgi_slots *s, size_t count, wgi_node_of *const *from, wgi_reach_to to);
int wgi_slots_marked(const wgi_slots *s, const wgi_node_of *n);

#endif
