/* SPDX-License-Identifier: MIT */
/* Which numbers of a program are variables: those that depend on the inputs, and that the
 * outputs depend on.
 *
 * A cell stands for all the memory that is told apart no further: a variable, all elements of
 * an array, a field of all structures of a type, what a pointer leads to. What two pointers may
 * both lead to is one cell (Steensgaard, "Points-to analysis in almost linear time", 1996). A
 * function that is called is looked at anew for each call, so that a call with numbers is not
 * taken for one with variables; calls that turn out alike share one version. Within a function
 * the order of its statements does not matter. */
#ifndef CONVERT_ACTIVITY_H
#define CONVERT_ACTIVITY_H

#include "convert/tree.h"

typedef struct cell cell;
struct cell {
    cell *joined;     /* with another one: ask that */
    const type *type; /* of the memory, without arrays; NULL: not known */
    cell *target;     /* of a pointer */
    list parameters;  /* of a function: cells */
    cell *result;
    list versions; /* of a function: those that it may be */
    list to, from; /* cells that are computed of it, of which it is computed */
    bool varied, useful, active;
    const decl *passive, *open; /* declarations that are said to be, and that are not */
    bool forced;                /* a variable whatever follows: an input or output */
    bool addressed;             /* something may point to it */
    bool needed;                /* its values are, when derivatives go back */
    unsigned number;            /* while a function is planned */
    const decl *declared;       /* the first variable, field or function that it is */
};

/* A function as it is for some calls. */
typedef struct version version;
struct version {
    decl *function;
    cell **of_node; /* by number; NULL where there is none */
    cell **of_decl; /* by index */
    cell *result;
    version **called; /* by number of the node of a call */
    version *caller,
        *like;        /* who calls it; the one that it shares its text with, maybe itself */
    bool touched;     /* it has to do with variables */
    const char *name; /* of the function that is written */
    unsigned number;
    /* called.h: pairs of labels and the last jumps back to them; in how many loops it is called;
     * what stands in fewer loops than that is recorded by calls */
    list jumps;
    unsigned depth, calls_below;
    bool depth_known;
};

enum { MOST_RANGES = 4 };

/* What an input or output is. */
typedef struct selection {
    const char *text;  /* as the user wrote it */
    const char *path;  /* how the original reaches it, with [@k] for the index of range k */
    const char *names; /* without brackets */
    decl *root;        /* parameter or global; NULL: what the function returns */
    list fields;       /* decl, on the way */
    size_t ranges, brackets;
    bool follows; /* the one before, element by element: p[0:n].{x,y} */
    const char *from[MOST_RANGES],
        *end[MOST_RANGES]; /* first element, and behind the last one */
    cell *cell;
    const type *type; /* at the end of the path */
} selection;

typedef struct analysis {
    program *program;
    version *root;
    list versions;        /* all */
    cell **of_decl;       /* of globals and fields, by number of the decl */
    list inputs, outputs; /* selection */
    list accepted; /* names of functions that may have variables as if they were numbers */
    list calls; /* PARAMETER=FUNCTION: what a parameter of the root that is a function may be */
    list callees; /* decl: these functions */
    bool accept_integers;
    bool loops;                    /* comments say that some are maps or scans */
    bool without_tape;             /* what pointers to functions may be tells versions apart */
    list losses, foreign, unknown; /* what is said when all is known */
    list named;                    /* functions that are not among the files, by name */
    list mixtures;                 /* memory of two types */
    list to_integers,
        from_integers; /* cells that pointers lead to which become integers, and were ones */
    const node *at;    /* what is looked at */
    list never;        /* what no function with variables may have: jumps out of it, assembly */
    list passive;      /* cells that are said to be */
    list routines;     /* calls of BLAS and LAPACK */
    list recorded;     /* calls that are written with the tape alone, if they have variables */
    list lent;         /* calls of functions that are said to be passive */
    list through;      /* calls through pointers */
    list signatures;   /* cells of functions whose address is taken */
    version *outside;  /* the initialisers of globals */
    list typed;        /* parameters void * that are taken for one type, and their own */
    size_t cells;
} analysis;

/* type_arguments - a parameter void *p of the function that is converted, of which that makes
 * pointers to structures or numbers of one type only, is of that type, if it leads to
 * variables. */
void type_arguments(analysis *a, decl *function);
/* parse_selections - of "rec->{a,b}, x[0:n], return". False after an error that was said. */
bool parse_selections(analysis *a, const decl *function, const char *s, list *to);
/* analyse - false after errors. */
bool analyse(analysis *a, decl *function);

cell *real_cell(cell *c);      /* that it is joined with */
bool is_variable(cell *c);     /* a number that is one */
bool holds_variables(cell *c); /* it, or what it leads to */
bool record_holds(const analysis *a, const record *r);
cell *cell_of(const analysis *a, const version *v, const decl *d);
cell *node_cell(const version *v, const node *n);
bool keeps_state(
    const decl *d); /* a local variable that is remembered from call to call, and written to */
/* No word of the user's files is a name of this library's. */
void refuse_names(const program *p);
bool is_own_global(const analysis *a, const decl *d); /* in an adjoint, of each thread */
void refuse_recorded(const analysis *a); /* who has no tape has none of these */
/* What is written with variables in the place of numbers hands none of them to a function
 * that is said to be passive. */
void refuse_lent(const analysis *a);
void name_versions(analysis *a);                        /* those that are touched */
version *called_by(const version *v, const node *call); /* whose text it has; NULL: none */
/* The function that a call goes to through a pointer; NULL: it is called by its name. What
 * it may be is in `versions`. */
cell *called_through(const version *v, const node *call);
/* The functions that a part of v calls, and that they call: orders of qsort are not among them. */
void find_reached(const version *v, const node *n, list *to);
/* The function that node i is, or leads to; NULL. */
cell *function_of_node(const version *v, size_t i);
bool function_varies(cell *function); /* it has variables */
/* From here on pointers to functions hold no variables: without a tape they lead to the
 * originals. */
void leave_functions(analysis *a);

#endif
