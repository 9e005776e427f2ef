/* SPDX-License-Identifier: MIT */
/* What the files share that make steps of a function: names.c (variables and text), effects.c
 * (expressions), statements.c, jumps.c and steps.c. */
#ifndef CONVERT_BUILDER_H
#define CONVERT_BUILDER_H

#include "convert/adjoint.h"
#include "convert/known.h"
#include "convert/steps.h"

typedef struct builder {
    routine *r;
    list *to;         /* the steps so far of where it stands */
    const char *next; /* where `continue` leads to; NULL: to the head of the loop */
} builder;

step *add_step(builder *b, step_kind kind);
void refuse_node(routine *r, const node *n, const char *why);

/* ---- names.c */
void add_local(routine *r, const decl *d);
void add_parameter(routine *r, const decl *d);
/* A variable of our own, which holds variables where c does. */
target new_name(routine *r, const type *t, cell *c);
const char *local_name(const routine *r, const decl *d);
bool is_kept(const routine *r, const decl *d); /* a table, which keeps its initialiser */

/* ---- effects.c */
const known *known_call(const node *n);
version *touched_call(const routine *r, const node *n);
/* Does an expression do more than to give a value? */
bool has_effects(const node *n);
/* A local variable without an address. */
bool is_plain_local(const routine *r, const node *n);
bool is_integer(const type *t); /* a number of which + 1 is undone by - 1: no _Bool */
bool has_held_pointers(const routine *r, const type *t); /* to variables, in a structure */
/* Makes steps of all effects in n; what is left of it has none. */
void pure(builder *b, const node *n);
void assign_to(builder *b, const target *to, const node *e, const char *op);

void name_literal(builder *b, const node *e); /* a structure that is written out gets a name */
void check_record(routine *r, const type *t, const node *e); /* one that is copied */

/* ---- calls.c: a call of v, and one through a pointer */
void call_step(builder *b, const node *n, version *v);
void through_step(builder *b, const node *n, const cell *function);

/* ---- routine_steps.c: BLAS and LAPACK; false: it is none with variables */
bool routine_step(builder *b, const node *n);

/* ---- statements.c */
size_t uses(const node *n, const decl *d); /* by its name */
/* The elements of an initialiser, one by one, behind what made the whole 0. */
void initialise_list(builder *b, const node *n, const type *t, cell *c, const char *name,
                     const char *shadow);
void statement(builder *b, const node *n); /* without jumps */
/* What an attribute or pragma stands before: for compilers' loops. */
const node *without_attributes(const node *n);

/* ---- jumps.c */
/* Does a statement leave the list that it stands in otherwise than at its end? */
bool jumps(const node *n);
/* The stretches of a statement; `next`: where `continue` leads to; NULL: to the head of the
 * loop. */
void make_jumps(routine *r, const node *n, const char *next);
void flow_return(routine *r, const node *n);
void open_loop(routine *r); /* what stands behind it is run any number of times */

#endif
