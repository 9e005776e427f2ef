/* SPDX-License-Identifier: MIT */
/* What the files of the analysis (activity.h) use of each other. */
#ifndef CONVERT_CELLS_H
#define CONVERT_CELLS_H

#include "convert/activity.h"

/* What was found of memory that is used as two types: where, of which. */
typedef struct mixture {
    const node *n;
    cell *of;
    const type *type[2];
} mixture;

/* Something that is said if it turns out to have to do with variables. */
typedef struct remark {
    version *v;
    const node *n;
    const char *what;
} remark;

/* cells.c */
const type *element(const type *t); /* without arrays */
cell *new_cell(analysis *a, const type *t);
void make_signature(analysis *a, cell *c);
cell *target(analysis *a, cell *c); /* what a pointer leads to */
cell *decl_cell(analysis *a, version *v, const decl *d);
void join(analysis *a, cell *x, cell *y);
/* The numbers of a structure are what is at `number`. */
void join_numbers(analysis *a, const type *t, cell *number);
void flow(cell *from, cell *to);
void note(list *to, version *v, const node *n, const char *what);
void note_pointer(analysis *a, const node *n, cell *c);

/* evaluate.c */
cell *pointee(analysis *a, version *v, const node *n); /* what a pointer or array leads to */
cell *evaluate(analysis *a, version *v, const node *n);
void run(analysis *a, version *v, const node *n);
void initialise(analysis *a, version *v, cell *to, const type *t, const node *n);
bool gives_real(const node *n);

/* versions.c */
version *new_version(analysis *a, version *caller, decl *f);
version *version_for(analysis *a, version *caller, decl *f);
cell *function_cell(analysis *a, version *caller, decl *f);
bool remembers(decl *f);
void join_statics(analysis *a);
void share_versions(analysis *a);

/* selection.c */
cell *selected(analysis *a, version *v, const selection *s);

/* refuse.c */
void refuse_uses(analysis *a);

#endif
