/* SPDX-License-Identifier: MIT */
/* A region of code whose numbers are plain doubles while it runs: what it reads are leaves of a
 * graph of local derivatives (chain.h), and what is read behind it goes on the tape at its
 * end. */
#ifndef CONVERT_REGION_H
#define CONVERT_REGION_H

#include "convert/chain.h"
#include "convert/writer.h"

/* A number of the region: the name of its value, and its vertex (NO_VERTEX: no variable) of
 * the graph at a depth. */
typedef struct number {
    const char *value;
    int vertex;
    unsigned depth;
} number;

/* A place that holds one, as it was found: x, s.f, a[2], p[i + 1]. */
typedef struct place {
    const char *key; /* as the tape's code reaches it; with a @: it is of the region only */
    const char *root, *symbol; /* of an element: what is indexed, and by what .. */
    long offset;               /* .. plus this */
    bool object;               /* what is indexed is an array of that name: no pointer */
    bool local;                /* a local variable that nobody has the address of */
    const decl *d;             /* of a local variable of the function that is written */
    const decl *array;         /* of an element: the local array whose name it is reached by */
    cell *cell;
    number now;
    bool dirty,
        stale;      /* memory has not got it yet; something else may have been written there */
    unsigned order; /* of the last assignment */
} place;

/* What a name stands for: a name of the region, or a pointer. */
typedef struct binding {
    const decl *d;
    const char *name; /* of a number or whole number; NULL: a pointer */
    bool constant;    /* a whole number that is known: */
    long is;
    struct address *pointer;
} binding;

typedef struct address {
    const char *text;   /* what is indexed; NULL: it leads to one object: */
    const char *object; /* its key */
    const char *symbol;
    long offset;
    bool array;
    const decl *d; /* the local array that it leads into, by its name */
    bool gone;     /* what it is written with is another number now */
} address;

/* A function that is run within the region; the first one is what is written. */
typedef struct frame {
    version *v;
    struct frame *caller;
    unsigned number, depth; /* the depth of branches that its return may stand at */
    list bindings;
    bool returned;
    number result;
    const char *plain; /* what it returns, where that is no variable */
} frame;

typedef struct level {
    chain chain;
    struct level *outer;
} level;

typedef struct region {
    writer *w;
    const node *block;
    chain_text x;
    const char *indent; /* of its statements */
    text before;        /* declarations that stand before the outermost branch */
    unsigned depth;
    level *level;
    place *at;
    size_t n, room;
    frame *frame;
    unsigned frames, order;
    list declared; /* decl: scalars that are variables, of the block */
    list own;      /* decl: arrays and structures that are of the region only */
    list
        loaded; /* decl: local variables, and arrays, that were read before they were assigned to, in any branch or turn */
    list shared;     /* words in indices of what may be changed through memory, or elsewhere */
    bool asks;       /* a copy, which is to change nothing but its places */
    bool failed;     /* what is looked at cannot be a part of it */
    size_t operands; /* of the statement so far, and records of those before, as statements */
    size_t records;
    size_t vertices; /* in all */
    /* the loop whose turn is run, and what places held before it */
    struct turns *turns;
    const place *turns_before;
    size_t turns_n;
    unsigned turns_began;
    int perhaps;         /* what is written may not be evaluated: right of &&, of ? */
    const char *guarded; /* what is read now is read only if this is so */
} region;

/* What a region was, to be had again where something cannot be a part of it. */
enum { MOST_LEVELS = 16 };
typedef struct snapshot {
    place *at;
    size_t n, chains[MOST_LEVELS], text, before, bindings, declared, own, records, all;
    unsigned order, depth;
    level *level;
    frame *frame;
    struct turns *turns;
} snapshot;

/* ---- region.c, region_end.c ---- */

/* Is it a branch that leaves the region for good, by return, break or continue? */
bool is_exit(const region *r, const node *n);
bool run_exit(region *r, const node *n);
/* The text for statements first .. of a block, and how many it is for; NULL: none gains by
 * it. */
const char *write_region(writer *w, const node *block, size_t first, size_t *count);
/* May it stand as it is, a text of numbers? It assigns to no variable, and hands no memory of
 * variables to others. */
bool stands_as_it_is(const region *r, const node *n);
/* Runs a statement or expression; false: it cannot be a part of the region. */
bool run_statement(region *r, const node *n);

snapshot save_region(const region *r);
void restore_region(region *r, const snapshot *s);
bool is_declared_here(const region *r, const decl *d);
bool declared_in(const node *n, const decl *d);

chain copy_chain(const chain *c);

/* ---- forget.c ---- */

/* What n assigns to is another number afterwards. */
void forget_assigned(region *r, const node *n);
/* What was said of places whose names have this word in them is not true any more. */
void forget_word(region *r, const char *word);
void forget_memory(region *r);

/* ---- turns.c ---- */

bool run_turns(region *r, const node *n); /* a loop */
bool leaves_turns(const region *r,
                  const node *n); /* is it if (..) break; of the turn that is run? */
bool run_break(region *r, const node *n);
/* A place is read in a turn for the first time: from now on it is before the loop. False: it
 * may not be. */
bool read_in_turn(region *r, const place *p,
                  number *x); /* true: it is another one in each turn, and *x in this */
bool load_before_turns(region *r, const place *p);

/* ---- tidy.c ---- */

/* The text of a region without what nothing reads. */
const char *tidied(const char *s);

/* ---- place.c ---- */

/* The place of an expression; false: it is not known which one. */
bool find_place(region *r, const node *n, place *p);
bool find_pointer(region *r, const node *n, address *p);
/* The digits that a macro without arguments stands for; "": it is not known. */
const char *macro_number(const node *n);
bool known_integer(const region *r, const node *n, long *is);
/* The text of such a number, of its type: 3; ((unsigned int)3). */
const char *known_text(const type *t, long is);
binding *bound(const region *r, const decl *d);
/* What a node is as a number in the text of the region; NULL: as it stands. */
const char *region_number(region *r, const node *n);
/* What is written from now on is evaluated only perhaps (by 1), or again in any case
 * (by -1). */
void region_perhaps(region *r, int by);
number read_place(region *r, const place *p);
void assign_place(region *r, place *p, number x);
void replace_place(region *r, const place *p);
/* What may be the same memory as p, which was written to, by another name. */
void outdate_others(region *r, const place *p);
/* A vertex of a graph around as one of this. */
number here(region *r, number x);

/* ---- numbers.c, inline.c ---- */

number number_of(region *r, const node *n);
number number_of_choice(region *r, const node *n); /* a ? b : c */
number call_inline(region *r, const node *n);
bool run_choice(region *r, const node *n); /* an if */
/* An if with returns in it, and what follows it in the block of a function that is run in
 * the region. */
bool run_early_return(region *r, const node *n, const node *block, size_t from);
bool has_jump(const node *n); /* a statement that may go elsewhere than to the one behind it */
bool run_statements(region *r, const node *block, size_t from);
/* Do two pointers or arrays lead to one type? */
bool leads_alike(const type *a, const type *b);
bool assigns_to(const node *n, const decl *d); /* or takes its address */
number fails(region *r);

#endif
