/* SPDX-License-Identifier: MIT */
/* Adjoints without a tape: for each version two functions, one that runs forwards and keeps on
 * a stack what is overwritten and needed again, and one that goes back. */
#ifndef CONVERT_ADJOINT_H
#define CONVERT_ADJOINT_H

#include "convert/output.h"
#include "convert/steps.h"

const char *without_const(const char *s); /* a type's text */

/* As it stands in the file that is written; with what sorts variables, and with what routines
 * of BLAS and LAPACK need. */
const char *stack_definition(bool sorts, bool routines);

/* The routines of all that is called, planned and laid out. False after errors. */
bool make_adjoint(writer *w, list *routines);
/* The text of a file, and behind it the adjoints of what it defines. */
const char *write_adjoint(const list *routines, const file *f);
/* Does a file define any of it? */
bool has_adjoint(const list *routines, const file *f);

/* plan - which values derivatives ask for, which old ones are kept for that, and which are
 * computed again; in all routines. False, when a function without variables is found that has
 * to be turned round: it is touched from then on, and the routines are made anew. */
bool plan(const list *routines);
bool version_changes(const version *v,
                     cell *c); /* may it assign to c, itself or by what it calls? */

bool is_value(const analysis *a, const type *t); /* an adjoint goes back to who calls */
bool gives_pointer(const version *v); /* to variables: the way there gives its shadow, too */
const char *own_global(const decl *d); /* its name */

/* A partial derivative of an operation: its text in the letters a, b, c, v; NULL: there is
 * none. */
const char *partial_text(const char *operation, size_t operand);
/* May it be infinite or NaN where the operands are finite? */
bool partial_is_singular(const char *operation);

/* Finds the calls whose results are kept, in all steps. */
void find_results(routine *r);
/* The partial derivative of a result, as C. */
const char *partial_of_result(const routine *r, const kept_call *x);
/* The backward part of an assignment, which reads the adjoint of what is assigned to. */
void put_adjoint(routine *r, const step *s, text *to, const char *indent);
const char *operation_of(const routine *r, const node *n); /* of table rows; NULL: none */
bool is_scaled(const node *n);                             /* ldexp and its kin */
size_t operands_of(const node *n, const node **operand);

#endif
