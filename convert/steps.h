/* SPDX-License-Identifier: MIT */
/* A function as a list of steps that can be turned round: assignments of expressions without
 * effects, calls, branches and loops. Effects within expressions become steps of their own,
 * before them, whose results have names.
 *
 * Code that jumps (goto, break, continue, return, switch) stands around pieces, each a list of
 * steps without jumps: which pieces were run, and in which order, is only known when it
 * runs. */
#ifndef CONVERT_STEPS_H
#define CONVERT_STEPS_H

#include "convert/activity.h"

typedef enum step_kind {
    STEP_ASSIGN, /* to = e;  to += e, to -= e: `add` is 1, -1 */
    STEP_CALL,   /* of a version with variables; its result, if it has one, is `to` */
    STEP_PLAIN,  /* what only runs forwards, as printf */
    STEP_ARRAY, /* memory for an array whose size is known when it runs; `text`: how many elements */
    STEP_CLEAR,   /* an array or structure is 0, before what its initialiser gives */
    STEP_COPY,    /* memcpy(to, e, text bytes) of variables; without e: memset to 0 */
    STEP_SORT,    /* qsort(to, ..) of variables: what follows `to` in `text` */
    STEP_ROUTINE, /* of BLAS or LAPACK, with variables; its result, if it has one, is `to` */
    STEP_IF,
    STEP_COUNTED, /* for (to = from; to < e; to += by), whose bounds and `to` the body does not change */
    STEP_LOOP /* while (e) body; with `at_end`: do body while (e) */
} step_kind;

/* What is assigned to: an expression of the source, or a name of our own. */
typedef struct target {
    const node *n;
    const char *name; /* NULL: n */
    const type *type;
    cell *cell;
    const char *shadow; /* of an element that has a name: w[0] */
} target;

/* Memory that the way there writes and the way back reads: of a function, of each turn of a
 * loop, of a piece. */
typedef struct extent {
    const char *name; /* of the pointer to it */
    const char *type; /* struct .. */
    text fields;
    unsigned n;   /* fields */
    bool dynamic; /* more goes on the stack before it is done with */
} extent;

/* A call of math.h that the way back does not run again: its value is kept, or its partial
 * derivative, where that is a call itself. */
typedef struct kept_call {
    const node *call;
    bool partial;
    const char *kept;
} kept_call;

/* Of an assignment of text: what it is computed of, and how an adjoint, %s, goes there. */
typedef struct factor {
    target of;
    const char *how;
} factor;

/* An argument of a routine of BLAS or LAPACK. */
typedef struct routine_operand {
    const node *n;
    char kind;    /* its letter (routines.h) */
    cell *memory; /* what it leads to; NULL: it is a number */
    bool holds;   /* it has a shadow */
    bool push;    /* what is overwritten there is kept */
} routine_operand;

typedef struct step step;
struct step {
    step_kind kind;
    target to;
    const node *e;
    const char *text; /* instead of e: what is assigned, run or asked as it stands */
    int add;
    bool sum;              /* it stands as to = to + e in the source */
    version *callee;       /* whose text is run */
    const version *called; /* what is known of this call */
    const node *call;
    list args;        /* of a call: struct argument */
    list body, other; /* step */
    bool at_end;
    /* counted loops */
    const node *from, *bound;
    const char *compare;
    long by;
    bool everywhere; /* the variable is used outside of the loop, too */
    /* what is known at the end */
    bool push; /* its old value is kept */
    const char
        *undo;  /* instead: what is taken from a whole number to have the old one, as in i++ */
    bool again; /* computed again, backwards */
    list results;                      /* struct kept_call: the inner ones first */
    bool parts;                        /* an assignment of text with a derivative: */
    list factors;                      /* struct factor */
    const struct routine_row *routine; /* of STEP_ROUTINE: */
    bool fortran;
    list operands; /* struct routine_operand */
    /* where it is kept: what is overwritten, and its shadow; which way an if went; how often a
     * loop turned; the extent of a function that is called */
    const char *kept, *kept_shadow, *noted, *lent;
    extent *turn;       /* of each turn of a loop; NULL: in that around the loop */
    const char *turned; /* of which turn, where memory for all of them is obtained at once */
};

/* What is passed: an expression, or a name, with its shadow. */
typedef struct argument {
    const node *n;
    const char *name; /* NULL: n */
    const type *type; /* of the parameter */
    bool holds;
} argument;

/* A part of the code that jumps: text, or a piece. Pieces within loops are run any number of
 * times, in any order; others once at most, in theirs. */
typedef struct stretch {
    const char *text; /* NULL: a piece */
    list steps;
    bool opens;        /* behind it stand pieces that are run many times */
    bool repeated;     /* one of these */
    unsigned number;   /* of the piece, from 1 on */
    const char *noted; /* was it run? */
    extent *turn;      /* of each run, where there are many */
} stretch;

/* A local variable of the functions that are written. */
typedef struct variable {
    const decl *d; /* NULL: one of our own */
    const char *name;
    const type *type;
    cell *cell;
    bool holds;  /* it has a shadow */
    bool framed; /* it has an address: it stands in the frame, which both ways share */
    bool again;  /* computed again where it is needed */
} variable;

/* Cells by number, from 1 on: one bit of knowledge for each. */
typedef struct cell_flags {
    unsigned long *at; /* a bit for each number */
    size_t room;       /* words */
} cell_flags;

/* A variable whose last value goes over to the way back. */
typedef struct saved {
    const variable *of;
    const char *kept, *kept_shadow;
} saved;

typedef struct routine {
    analysis *a;
    version *v;
    list stretches;       /* stretch */
    list variables;       /* variable */
    const char **instead; /* by number of a node: the name of its result */
    const node *
        *place; /* by number of a node: the place whose value it is, where that is its name */
    const kept_call **results; /* by number of a node */
    table *names;              /* of local variables, by number of the decl */
    bool jumps;
    unsigned loops;   /* around what is looked at, in code that jumps */
    const list *all;  /* routines, of which this is one */
    const file *home; /* the file that it is written into */
    bool shared;      /* others call it */
    text types;       /* its structures */
    list saved;       /* struct saved */
    extent frame;
    bool laid_out, is_being_laid_out;
    bool
        keeps_pointers; /* it, or one that it calls; the way back takes them from there: nothing is computed of parameters only */
    bool lends;         /* the caller has its frame: it takes nothing of the stack */
    bool shadows;       /* the way there takes shadows, too */
    cell_flags outside; /* what others than the function reach, too */
    cell_flags entered; /* what of it is needed when it is called, for what was before */
    unsigned own;       /* names of our own so far */
    bool refused;
} routine;

/* The steps of a version. Where something cannot be turned round it is said, and `refused`
 * set. */
routine *steps_of(analysis *a, version *v);

bool is_free(const node *n);             /* a call of free */
const node *behind_casts(const node *n); /* and parentheses */
bool leads_to_variables(const routine *r,
                        const type *t); /* has pointers to them, where it holds any */
/* A structure that holds pointers to variables, and no variables. */
bool is_handle(const analysis *a, const type *t);
bool step_is_active(const routine *r, const node *n); /* a number that is a variable */
bool node_holds(const routine *r, const node *n);
cell *cell_at(const routine *r, const node *n);
const char *print(const routine *r, const node *n);          /* as C, with names for results */
const char *print_shadow(const routine *r, const node *n);   /* of a place or pointer */
const char *shadow_name(const routine *r, const char *name); /* of a variable, by its name */
const char *shadow_pointer(const routine *r,
                           const node *n); /* as a value of a pointer to numbers */
const char *print_target(const routine *r, const target *t);
const char *shadow_target(const routine *r, const target *t);

#endif
