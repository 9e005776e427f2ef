/* SPDX-License-Identifier: MIT */
/* What needed.c, plan.c and again.c share: the walk that finds which old values are needed
 * again. */
#ifndef CONVERT_PLANNER_H
#define CONVERT_PLANNER_H

#include "convert/adjoint.h"
#include "convert/known.h"

/* Elements [0, bound) of an array that were all assigned, and whose values nothing has asked
 * for since: to overwrite them again loses nothing. */
typedef struct fresh {
    const decl *array;
    cell *cell;
    const char *bound;
} fresh;

/* A loop that is being walked: its variable goes from 0, or what is no less, to below
 * `bound`. */
typedef struct range {
    const cell *variable;
    const char *bound;
    struct range *outer;
} range;

typedef struct planner {
    routine *r;
    const list *routines;
    cell_flags used;    /* its present value is needed */
    list *numbered;     /* the cells that have numbers */
    cell_flags *needed; /* those of them that are, as each says itself */
    bool marking;       /* finds what is needed at all */
    bool grown;         /* something is needed or kept that was not before */
    bool *turned;       /* a function without variables got a way back */
    list fresh;         /* struct fresh */
    range *ranges;
} planner;

/* needed.c */
void number_one(list *numbered, cell *c);
unsigned cell_number(planner *p, cell *c); /* gives it one, if it has none */
bool has_flag(const cell_flags *f, unsigned k);
void set_flag(cell_flags *f, unsigned k, bool to);
unsigned next_flag(const cell_flags *f, unsigned k); /* k, or the next that has one; 0: none */
cell_flags copy_flags(const cell_flags *f);
void add_flags(cell_flags *to, const cell_flags *more);
void keep_flags(cell_flags *to, const cell_flags *these); /* those that `these` has, too */
bool has_all_flags(const cell_flags *f, const cell_flags *of);
void use(planner *p, cell *c);
void use_value(planner *p, const node *n);    /* all that the value of n is computed of */
void use_address(planner *p, const node *n);  /* what the address of a place is computed of */
void use_partials(planner *p, const node *n); /* what the adjoint of an expression asks for */
const range *range_of(const planner *p, const node *index);
bool has_one_value(const decl *d); /* not one for each turn of a loop */
const decl *array_of(const planner *p, const node *n);
bool is_fresh(const planner *p, const node *n);
cell *variable_cell(const planner *p,
                    const char *name); /* of a variable of ours; NULL: there is none */
bool is_local(const planner *p,
              const target *t); /* a local variable that only its name leads to */
/* routine_steps.c: which values the adjoint of a routine asks for, and what of these the
 * routine overwrites. */
void walk_routine(planner *p, step *s);
bool routine_changes(const step *s, const cell *c);
/* The call, no step of its own, by which a step may change c; NULL: there is none. */
const node *step_changes(const planner *p, const step *s, cell *c);
/* Marks what is computed again where a list of steps goes back; `whole`: the steps of the
 * function. */
void all_again(planner *p, list *body, const list *whole, bool in_loop);

#endif
