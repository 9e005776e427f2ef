/* SPDX-License-Identifier: MIT */
/* activity.c - from the program to cells and what is computed of what; then forwards from the
 * inputs, backwards from the outputs. */
#include <string.h>
#include "convert/cells.h"
#include "convert/routines.h"

/* What integers that were pointers lead to, where some become pointers again. */
static void join_integers(analysis *a) {
    for (size_t i = 0; i < a->from_integers.n; i++) {
        const mixture *const m = a->from_integers.at[i], *const first = a->from_integers.at[0];
        for (size_t k = 0; i == 0 && k < a->to_integers.n; k++)
            join(a, m->of, a->to_integers.at[k]);
        join(a, first->of, m->of);
    }
}

/* Joins what the pointers of a union lead to; *first: one of these. *whole: it has integers. */
static void join_pointers(analysis *a, const record *r, cell **first, bool *whole) {
    for (size_t k = 0; k < r->fields.n; k++) {
        const decl *const f = r->fields.at[k];
        const type *const t = element(f->type);
        if (t->kind == TYPE_RECORD) join_pointers(a, t->record, first, whole);
        *whole |= t->kind == TYPE_WHOLE;
        if (t->kind != TYPE_POINTER || leaf_type(t)->kind == TYPE_FUNCTION) continue;
        cell *const c = target(a, decl_cell(a, NULL, f));
        if (*first == NULL) *first = c;
        else join(a, *first, c);
    }
}
/* The memory of a union is that of all its fields: what is written as one may be read as another,
 * numbers, and through pointers, also those that are written as integers or become such. */
static void join_unions(analysis *a) {
    for (size_t i = 0; i < a->program->records.n; i++) {
        const record *const r = a->program->records.at[i];
        if (!r->is_union) continue;
        cell *first = NULL;
        bool whole = false;
        join_numbers(a, &(type){.kind = TYPE_RECORD, .record = (record *)r}, new_cell(a, NULL));
        join_pointers(a, r, &first, &whole);
        if (first == NULL || !whole) continue;
        for (size_t k = 0; k < a->to_integers.n; k++) join(a, first, a->to_integers.at[k]);
        push(&a->to_integers, first);
    }
}

/* What globals are initialised with: addresses of others, functions. */
static void initialise_globals(analysis *a) {
    version *const v = arena_get(sizeof *v);
    decl *const nobody = arena_get(sizeof *nobody);
    nobody->nodes = a->program->nodes;
    v->function = nobody;
    v->of_node = arena_get((nobody->nodes + 1) * sizeof *v->of_node);
    v->called = arena_get((nobody->nodes + 1) * sizeof *v->called);
    a->outside = v;
    for (size_t i = 0; i < a->program->globals.n; i++) {
        decl *const d = a->program->globals.at[i];
        cell *const c = decl_cell(a, NULL, d);
        if (d->init != NULL && d->reached) initialise(a, v, c, d->type, d->init);
    }
}

/* Functions that are called through pointers have one form where one of them has: all their
 * numbers are variables. */
static void force_signatures(analysis *a) {
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < a->signatures.n; i++) {
            cell *const c = real_cell(a->signatures.at[i]);
            if (!holds_variables(c)) continue;
            for (size_t k = 0; k <= c->parameters.n; k++) {
                cell *p = k < c->parameters.n ? c->parameters.at[k] : c->result;
                if (p == NULL) continue;
                p = real_cell(p);
                while (p->target != NULL) p = real_cell(p->target);
                if (p->type != NULL && p->type->kind == TYPE_REAL && !p->forced)
                    p->forced = again = true;
            }
        }
    }
}

/* ---- what is a variable ------------------------------------------------------------------ */

static void spread(cell *c, bool forwards) {
    list todo = {NULL, 0, 0};
    push(&todo, real_cell(c));
    while (todo.n != 0) {
        cell *const x = real_cell(todo.at[--todo.n]);
        if (x->passive != NULL || (forwards ? x->varied : x->useful)) continue;
        if (forwards) x->varied = true;
        else x->useful = true;
        const list *const next = forwards ? &x->to : &x->from;
        for (size_t i = 0; i < next->n; i++) push(&todo, next->at[i]);
    }
}

bool is_variable(cell *c) {
    c = real_cell(c);
    return c->type != NULL && c->type->kind == TYPE_REAL &&
           ((c->varied && c->useful) || c->forced);
}

/* Records that hold variables are marked by what is asked of their number. */
static bool *converted; /* of an analysis at a time */

bool record_holds(const analysis *a, const record *r) {
    (void)a;
    return converted[r->number];
}

static bool functions_left;

bool function_varies(cell *c) {
    for (size_t i = 0; i < c->parameters.n; i++)
        if (is_variable(c->parameters.at[i]) ||
            (real_cell(c->parameters.at[i])->target != NULL &&
             holds_variables(real_cell(c->parameters.at[i])->target)))
            return true;
    for (size_t i = 0; i < c->versions.n; i++)
        if (((version *)c->versions.at[i])->touched) return true;
    return c->result != NULL && is_variable(c->result);
}

bool holds_variables(cell *c) {
    size_t steps = 0;
    c = real_cell(c);
    while (c->target != NULL && (c->type == NULL || c->type->kind == TYPE_POINTER) &&
           steps++ < 16)
        c = real_cell(c->target);
    if (c->type == NULL) return false;
    if (c->type->kind == TYPE_POINTER) { /* nothing was asked of what it leads to but fields */
        const type *const t = leaf_type(c->type);
        return t->kind == TYPE_RECORD && converted[t->record->number];
    }
    if (c->type->kind == TYPE_RECORD) return converted[c->type->record->number];
    if (c->type->kind == TYPE_FUNCTION) return !functions_left && function_varies(c);
    return is_variable(c);
}

static void mark_records(analysis *a) {
    const list *const all = &a->program->records;
    converted = arena_get((all->n + 1) * sizeof *converted);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < all->n; i++) {
            const record *const r = all->at[i];
            if (converted[r->number]) continue;
            for (size_t k = 0; k < r->fields.n; k++) {
                const decl *const f = r->fields.at[k];
                const type *const t = leaf_type(f->type);
                cell *const c = a->of_decl[f->number];
                if ((c != NULL && holds_variables(c)) ||
                    (t->kind == TYPE_RECORD && converted[t->record->number]))
                    converted[r->number] = again = true;
            }
        }
    }
}

void leave_functions(analysis *a) {
    functions_left = true;
    mark_records(a);
}

static void mark_versions(analysis *a) {
    for (size_t i = 0; i < a->versions.n; i++) {
        version *const v = a->versions.at[i];
        const decl *const f = v->function;
        for (size_t k = 0; k < f->nodes && !v->touched; k++)
            v->touched = v->of_node[k] != NULL && holds_variables(v->of_node[k]);
        for (size_t k = 0; k < f->parameters.n + f->locals.n && !v->touched; k++)
            v->touched = v->of_decl[k] != NULL && holds_variables(v->of_decl[k]);
        if (v->result != NULL && holds_variables(v->result)) v->touched = true;
    }
    a->root->touched = true;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < a->versions.n; i++) {
            version *const v = a->versions.at[i];
            for (size_t k = 0; k < v->function->nodes && !v->touched; k++)
                if ((v->called[k] != NULL && v->called[k]->touched) ||
                    (v->of_node[k] != NULL && holds_variables(v->of_node[k])))
                    v->touched = again = true;
            /* who may be called in the place of one that is touched is touched, too */
            for (size_t k = 0; k < v->function->nodes; k++) {
                cell *const c = v->of_node[k] != NULL ? real_cell(v->of_node[k]) : NULL;
                if (c == NULL || c->type == NULL || c->type->kind != TYPE_FUNCTION ||
                    !holds_variables(c))
                    continue;
                for (size_t j = 0; j < c->versions.n; j++) {
                    version *const w = c->versions.at[j];
                    if (!w->touched) w->touched = again = true;
                }
            }
        }
    }
}

/* ---- void * ------------------------------------------------------------------------------- */

/* A pointer of type t is made of e: is that p? Two types are none. */
static void note_type(const decl *p, const node *e, const type *t, const type **found,
                      bool *several) {
    if (e == NULL || t == NULL || t->kind != TYPE_POINTER || t->of->kind == TYPE_VOID) return;
    e = bare(e);
    if (e->kind != NODE_NAME || e->decl != p) return;
    const type *const a = t->of, *const b = *found != NULL ? (*found)->of : a;
    *several |= (a->kind != TYPE_RECORD && a->kind != TYPE_REAL) || a->kind != b->kind ||
                (a->kind == TYPE_RECORD ? a->record != b->record : a->bits != b->bits);
    *found = t;
}
static void find_types(const decl *p, const node *n, const type **found, bool *several) {
    if (n == NULL) return;
    if (n->kind == NODE_CAST) note_type(p, n->child[0], n->of, found, several);
    if (n->kind == NODE_ASSIGN) {
        note_type(p, n->child[1], n->child[0]->type, found, several);
        const node *const to = bare(n->child[0]);
        *several |= to->kind == NODE_NAME && to->decl == p;
    }
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        note_type(p, d->init, d->type, found, several);
        find_types(p, d->init, found, several);
    }
    for (size_t i = 0; i < n->children; i++) find_types(p, n->child[i], found, several);
}
void type_arguments(analysis *a, decl *f) {
    for (size_t i = 0; i < f->parameters.n; i++) {
        decl *const p = f->parameters.at[i];
        if (p->type->kind != TYPE_POINTER || p->type->of->kind != TYPE_VOID) continue;
        const type *found = NULL;
        bool several = false;
        find_types(p, f->body, &found, &several);
        if (found == NULL || several) continue;
        push(&a->typed, p);
        push(&a->typed, (void *)p->type);
        p->type = found;
    }
}
static void give_types_back(const analysis *a) {
    for (size_t i = 0; i < a->typed.n; i += 2) {
        decl *const p = a->typed.at[i];
        cell *const c = cell_of(a, a->root, p);
        if (c == NULL || !holds_variables(c)) p->type = a->typed.at[i + 1];
    }
}

/* ---- all of it -------------------------------------------------------------------------- */

/* What functions the root's parameters may be, as the user says. */
static void join_callees(analysis *a, const decl *f) {
    for (size_t i = 0; i < a->calls.n; i++) {
        const char *const s = a->calls.at[i], *const name = strchr(s, '=') + 1;
        decl *const callee = function_named(a->program, name), *parameter = NULL;
        for (size_t k = 0; k < f->parameters.n; k++) {
            decl *const p = f->parameters.at[k];
            const size_t n = (size_t)(name - 1 - s);
            if (strlen(p->name) == n && strncmp(p->name, s, n) == 0) parameter = p;
        }
        if (parameter == NULL || parameter->type->kind != TYPE_POINTER ||
            leaf_type(parameter->type)->kind != TYPE_FUNCTION)
            error_at("(options)",
                     "--calls %s: %s has no parameter of that name that is a function", s,
                     f->name);
        else if (callee == NULL)
            error_at("(options)", "--calls %s: no function '%s' is defined in the files given",
                     s, name);
        else {
            push(&a->callees, callee);
            join(a, target(a, decl_cell(a, a->root, parameter)),
                 function_cell(a, a->root, callee));
        }
    }
}

bool analyse(analysis *a, decl *f) {
    const size_t before = errors_said();
    functions_left = false;
    a->of_decl = arena_get((a->program->decls + 1) * sizeof *a->of_decl);
    (void)remembers(f);
    a->root = new_version(a, NULL, f);
    join_callees(a, f);
    initialise_globals(a);
    join_statics(a);
    join_unions(a);
    join_integers(a);
    for (size_t i = 0; i < a->inputs.n; i++) {
        selection *const s = a->inputs.at[i];
        s->cell = selected(a, a->root, s);
    }
    for (size_t i = 0; i < a->outputs.n; i++) {
        selection *const s = a->outputs.at[i];
        s->cell = selected(a, a->root, s);
    }
    for (size_t i = 0; i < a->inputs.n; i++) spread(((selection *)a->inputs.at[i])->cell, true);
    for (size_t i = 0; i < a->outputs.n; i++)
        spread(((selection *)a->outputs.at[i])->cell, false);
    for (size_t i = 0; i < a->inputs.n; i++)
        real_cell(((selection *)a->inputs.at[i])->cell)->forced = true;
    for (size_t i = 0; i < a->outputs.n; i++)
        real_cell(((selection *)a->outputs.at[i])->cell)->forced = true;
    mark_records(a);
    mark_versions(a);
    do force_signatures(a);
    while (force_routines(a));
    mark_records(a);
    mark_versions(a);
    refuse_uses(a);
    share_versions(a);
    name_versions(a);
    give_types_back(a);
    return errors_said() == before;
}
