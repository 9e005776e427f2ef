/* SPDX-License-Identifier: MIT */
/* What the files share that write the two ways of a routine: frames.c (where what is kept
 * stands), sweeps.c (steps) and adjoint.c (functions). */
#ifndef CONVERT_SWEEPS_H
#define CONVERT_SWEEPS_H

#include "convert/adjoint.h"

typedef struct emitter {
    routine *r;
    text *to;
    unsigned loops;
    bool back;
} emitter;

routine *routine_of(const routine *r, const version *v);
bool is_kind(const type *t, type_kind k);
bool target_holds(const step *s);
const node *memory_call(const routine *r,
                        const step *s); /* malloc or calloc; NULL: it assigns something else */

/* ---- signature.c */
const char *signature(const routine *r, bool back);
bool param_holds(const routine *r, const decl *p);

/* ---- adjoint.c */
const char *shadow_type(const type *t, const char *name); /* a declaration */
/* The declaration of d alone, by another name, with its initialiser. */
const char *one_declaration(const routine *r, const decl *d, const char *name);

/* ---- globals.c: what is declared at the top, and what runs begin and end with */
void put_local_types(const list *routines, const file *f, text *to); /* of functions */
void put_statics(const emitter *m, text *begin);
void put_globals(const list *routines, const file *f, bool alone, text *to, text *begin,
                 text *end);
/* The function that begins or ends a run; that of the root's file does so for the others. */
void put_around(const list *routines, const file *f, const char *when, const char *own,
                text *to);

/* ---- frames.c */
/* `order`: them, each behind those whose frames it has in its own. */
void lay_out_all(const list *routines, list *order);
/* Do these steps do nothing on the way back? */
bool is_idle(const list *steps);

/* ---- routine_steps.c */
bool routine_pushes(const step *s);    /* is anything left on the stack? */
bool routine_goes_back(const step *s); /* has it to do with variables? */
void forward_routine(emitter *m, const step *s, const char *indent);
void backward_routine(emitter *m, const step *s, const char *indent);

/* ---- sweeps.c */
const char *assignable(const type *t,
                       const char *name); /* a variable; what it points to stays const */
void put_keep(text *to, const char *indent, const char *kept, const char *x, const type *t);
void put_restore(text *to, const char *indent, const char *x, const char *kept, const type *t);
void keep_old(emitter *m, const step *s, const char *indent); /* of `to` */
void restore_old(emitter *m, const step *s, const char *indent);
void put_extent(emitter *m, const extent *e, const char *indent); /* at the beginning of it */
void end_extent(emitter *m, const extent *e, const char *indent);
void forward(emitter *m, const list *steps, const char *indent);
void backward(emitter *m, const list *steps, const char *indent);
/* Adjoints of all numbers of a structure move. */
void move_record(const emitter *m, const char *to, const char *from, const type *t,
                 const char *indent);

#endif
