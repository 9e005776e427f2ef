/* SPDX-License-Identifier: MIT */
/* model.h - a model from inside: what is kept beside the recording. Internal.
 *
 *   t        the recording: all nodes are matrices of it
 *   store    nodes, names, values of variables: never reset
 *   scratch  what one call needs
 *   work     the workspace of wg_function_...
 *
 * A node that is made from nodes (a derivative, a sum) is an input of the recording, and output
 * `output` of a function of placeholders and variables. A computation is extracted with such
 * nodes as inputs, and composed with their functions. */
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

/* Bytes of a name that is given: files of variables have room for so many. */
enum { WGI_LONGEST_NAME = 4096 };

enum { WGI_DERIVED = 16 }; /* beside WG_OPERATION: an output of a function */

typedef struct wgi_node_of {
    struct wgi_node_of *next; /* made after this one */
    unsigned kind, flags;     /* flags: of a placeholder */
    wg_mat mat;
    wg_dim dim[2];
    const char *name, *operation, *file;
    int line;
    wgi_tag *tag;
    /* a placeholder */
    wg_points feed;
    /* a variable; copied initial values, if there are any, are in the arena as well */
    double *values;
    wg_initial initial;
    struct wgi_node_of *updates; /* the variable that a run sets to this node; or NULL */
    /* what it is made from, as far as that is known: operands; y and x of dy/dx; what a sum is
     * of; NULL after them */
    const struct wgi_node_of *from[4];
    /* derived */
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

/* Is the recording in order? A status and message of the tape's otherwise. */
wg_status wgi_model_ready(wg_model *m, const char *call);
/* The node that a matrix is; NULL: none. */
wgi_node_of *wgi_model_node_of(const wg_model *m, const wg_mat *a);
/* The placeholder or variable of that name. */
wgi_node_of *wgi_model_leaf(const wg_model *m, const char *name);
int wgi_model_name_taken(const wg_model *m, const char *name);
/* A matrix becomes a node, with a name that is not taken (NULL: that of the operation and a
 * number). NULL: a failure, of this or of the recording of a, which is the tape's. */
wgi_node_of *wgi_model_add(wg_model *m, const char *call, unsigned kind, const char *name,
                           const char *operation, wg_mat a, const wg_dim *dim, const char *file,
                           int line);
/* Memory that lives as long as the model; NULL: a failure, kept by the tape. */
void *wgi_model_keep(wg_model *m, const char *call, size_t bytes, const void *data);
/* Bytes of scratch, 64-byte aligned, until wg_tape_reset(m->scratch); NULL: none, with a
 * message. */
void *wgi_model_scratch(wg_model *m, const char *call, size_t bytes);
size_t wgi_model_size(const wgi_node_of *n);
/* A refusal also while the tape is in failure: then without a message. */
#define WGI_MODEL_REFUSE(m, s, ...) wgi_refuse((m)->c, s, __VA_ARGS__)

/* ---- model_search.c ---- */

/* How far a walk goes back: to placeholders and variables; to derived nodes as well; to any
 * node. */
typedef enum { WGI_REACH_LEAVES, WGI_REACH_DERIVED, WGI_REACH_NODES } wgi_reach_to;

/* Slots of the recording, to be walked backwards. In scratch. */
typedef struct wgi_slots {
    const wg_model *m;
    uint64_t *word;     /* where the code of a slot is, and 1; 0: none */
    wgi_node_of **node; /* what a slot belongs to: the first, where one is a view of another */
    unsigned char *mark;
} wgi_slots;

wg_status wgi_slots_open(wg_model *m, const char *call, wgi_slots *s);
/* Marks what the nodes need, themselves among them. */
void wgi_slots_walk(wgi_slots *s, size_t count, wgi_node_of *const *from, wgi_reach_to to);
int wgi_slots_marked(const wgi_slots *s, const wgi_node_of *n);

#endif
