/* SPDX-License-Identifier: MIT */
/* statements.c - statements without jumps: declarations with their initialisers, branches,
 * loops. */
#include <stdlib.h>
#include <string.h>
#include "convert/builder.h"

static bool assigned_in(const routine *r, const node *n, const decl *d) {
    if (n == NULL) return false;
    const bool counts = n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"));
    if ((n->kind == NODE_ASSIGN || counts) && bare(n->child[0])->kind == NODE_NAME &&
        bare(n->child[0])->decl == d)
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (assigned_in(r, n->child[i], d)) return true;
    for (size_t i = 0; i < n->decls.n; i++)
        if (((decl *)n->decls.at[i])->init != NULL &&
            assigned_in(r, ((decl *)n->decls.at[i])->init, d))
            return true;
    return false;
}

/* Only numbers and local variables that the loop does not change, which have no address. */
static bool stays(const routine *r, const node *n, const node *loop) {
    if (n->kind == NODE_NAME) {
        if (n->decl->kind == DECL_CONSTANT) return true;
        return is_plain_local(r, n) && !assigned_in(r, loop, n->decl);
    }
    if (n->by_macro && n->children == 0 && n->kind != NODE_NUMBER) return false;
    if (n->kind == NODE_CALL || n->kind == NODE_OPAQUE || n->kind == NODE_MEMBER ||
        n->kind == NODE_INDEX || n->kind == NODE_ASSIGN || n->kind == NODE_STATEMENTS ||
        (n->kind == NODE_UNARY && (same(n->op, "*") || same(n->op, "++") || same(n->op, "--"))))
        return false;
    for (size_t i = 0; i < n->children; i++)
        if (!stays(r, n->child[i], loop)) return false;
    return true;
}

size_t uses(const node *n, const decl *d) {
    if (n == NULL) return 0;
    size_t k = n->kind == NODE_NAME && n->decl == d;
    for (size_t i = 0; i < n->children; i++) k += uses(n->child[i], d);
    for (size_t i = 0; i < n->decls.n; i++) k += uses(((decl *)n->decls.at[i])->init, d);
    return k;
}

static const char *const comparisons[] = {"<", "<=", ">", ">="};

static const char *unqualified(const type *t) {
    return t->spelling + (starts_with(t->spelling, "const ") ? 6 : 0);
}
static bool is_signed(const type *t) {
    static const char *const all[] = {"int",         "long",      "long long", "short",
                                      "signed char", "ptrdiff_t", "ssize_t"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (same(unqualified(t), all[i])) return true;
    return false;
}
/* Are the counter d and the whole number n compared and converted without a change of sign? */
static bool is_like(const decl *d, const node *n) {
    return is_integer(n->type) &&
           (bare(n)->kind == NODE_NUMBER || same(unqualified(d->type), unqualified(n->type)) ||
            (is_signed(d->type) && is_signed(n->type)));
}

/* for (i = from; i < bound; i += by), if it is one. */
static bool is_counted(routine *r, const node *n, step *s, const decl **by_what) {
    const node *const init = n->child[0],
                      *const cond = n->child[1] != NULL ? bare(n->child[1]) : NULL,
                      *const by = n->child[2] != NULL ? bare(n->child[2]) : NULL,
                      *const body = n->child[3];
    const decl *d = NULL;
    if (init == NULL || cond == NULL || by == NULL || jumps(body)) return false;
    if (init->kind == NODE_ASSIGN && same(init->op, "=") &&
        bare(init->child[0])->kind == NODE_NAME) {
        d = bare(init->child[0])->decl;
        s->from = init->child[1];
    } else if (init->kind == NODE_DECLARE && init->decls.n == 1) {
        d = init->decls.at[0];
        s->from = d->init;
    }
    if (d == NULL || s->from == NULL || !is_integer(d->type) || d->owner == NULL ||
        d->is_static)
        return false;
    cell *const c = cell_of(r->a, r->v, d);
    if (c == NULL || c->addressed || assigned_in(r, body, d)) return false;
    bool compares = false;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        compares |= cond->kind == NODE_BINARY && same(cond->op, comparisons[i]);
    if (!compares || bare(cond->child[0])->kind != NODE_NAME || bare(cond->child[0])->decl != d)
        return false;
    s->bound = cond->child[1];
    s->compare = cond->op;
    if (by->kind == NODE_UNARY && bare(by->child[0])->kind == NODE_NAME &&
        bare(by->child[0])->decl == d)
        s->by = same(by->op, "++") ? 1 : same(by->op, "--") ? -1 : 0;
    else if (by->kind == NODE_ASSIGN && bare(by->child[0])->kind == NODE_NAME &&
             bare(by->child[0])->decl == d && by->child[1]->kind == NODE_NUMBER &&
             (same(by->op, "+=") || same(by->op, "-="))) {
        const char *const digits = source(by->child[1]);
        const size_t n_digits = strspn(digits, "0123456789");
        const bool decimal = *digits != '0' && n_digits < 9 && digits[n_digits] == 0;
        const long k = decimal ? strtol(digits, NULL, 10) : 0;
        s->by = same(by->op, "+=") ? k : -k;
    }
    if (s->by == 0 || (s->by > 0) != (*s->compare == '<')) return false;
    const bool from_number =
        s->by > 0 && bare(s->from)->kind == NODE_NUMBER && is_integer(s->from->type);
    if (!is_integer(s->bound->type) ||
        (!from_number && !(is_like(d, s->from) && is_like(d, s->bound))))
        return false;
    if (!stays(r, s->from, n) || !stays(r, s->bound, n)) return false;
    if (uses(s->from, d) != 0 || uses(s->bound, d) != 0) return false;
    s->to = (target){NULL, local_name(r, d), d->type, c, NULL};
    *by_what = d;
    return true;
}

/* Uses of d within loops that count by it. */
static size_t uses_in_loops(routine *r, const node *n, const decl *d) {
    if (n == NULL) return 0;
    step s = {.kind = STEP_COUNTED};
    const decl *by = NULL;
    if (n->kind == NODE_FOR && is_counted(r, n, &s, &by) && by == d) return uses(n, d);
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) k += uses_in_loops(r, n->child[i], d);
    return k;
}

static void initialise_local(builder *b, const decl *d);
static void declare_locals(builder *b, const node *n) {
    for (size_t i = 0; i < n->children; i++) pure(b, n->child[i]);
    for (size_t i = 0; i < n->decls.n; i++) initialise_local(b, n->decls.at[i]);
}

void initialise_list(builder *b, const node *n, const type *t, cell *c, const char *name,
                     const char *shadow) {
    routine *const r = b->r;
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) {
        const node *e = n->child[i];
        const type *of = t->kind == TYPE_ARRAY ? t->of : NULL;
        const decl *f = NULL;
        if (e->kind == NODE_DESIGNATED) {
            f = e->decl;
            if (f == NULL || e->children == 0) {
                refuse_node(r, e, "a designator of an element: assign the elements");
                return;
            }
            e = e->child[e->children - 1];
        }
        if (t->kind == TYPE_RECORD) {
            const list *const fields = &t->record->fields;
            if (f == NULL && k < fields->n) f = fields->at[k];
            for (size_t j = 0; j < fields->n; j++)
                if (fields->at[j] == f) k = j + 1;
            if (f == NULL || t->record->is_union) {
                refuse_node(r, e, "an initialiser of a union");
                return;
            }
            of = f->type;
        }
        if (of == NULL) return;
        const char *const element = f != NULL ? format(".%s", f->name) : format("[%zu]", k++);
        const char *const x = format("%s%s", name, element), *const y = format("%s%s", shadow,
                                                                               element);
        cell *const own = f != NULL ? cell_of(r->a, r->v, f) : c;
        if (e->kind == NODE_LIST) {
            initialise_list(b, e, of, own, x, y);
            continue;
        }
        if (of->kind == TYPE_ARRAY ||
            (of->kind == TYPE_RECORD && (e->type == NULL || e->type->kind != TYPE_RECORD))) {
            refuse_node(r, e, "an initialiser without all of its braces");
            return;
        }
        pure(b, e);
        const target to = {NULL, x, of, own, y};
        assign_to(b, &to, e, "=");
    }
}

static void initialise_local(builder *b, const decl *d) {
    routine *const r = b->r;
    const char *const name = local_name(r, d);
    cell *const c = cell_of(r->a, r->v, d);
    const target t = {NULL, name, d->type, c, NULL};
    if (d->is_static) {
        if (c != NULL && holds_variables(c) && leads_to_variables(r, d->type))
            refuse_node(r, d->group, "a static variable that leads to variables");
        return;
    }
    if (d->type->kind == TYPE_ARRAY && d->type->count < 0) {
        const type *const e = d->type->of;
        const file *const f = d->file;
        const char *const open = strchr(f->text + d->at, '[');
        if (e->kind == TYPE_ARRAY || open == NULL || d->init != NULL) {
            refuse_node(r, d->group,
                        "an array of several dimensions that are known when it runs");
            return;
        }
        step *const s = add_step(b, STEP_ARRAY);
        s->to = t;
        for (size_t i = 0; i < d->group->children; i++) {
            const node *const size = d->group->child[i];
            if (f->text + size->begin > open && size->end <= d->end && s->text == NULL)
                s->text = print(r, size), s->e = size;
        }
        return;
    }
    if (d->init == NULL) return;
    if (d->type->kind == TYPE_ARRAY ||
        (d->type->kind == TYPE_RECORD && d->init->kind == NODE_LIST)) {
        if (is_kept(r, d)) return; /* it keeps its initialiser */
        if (d->init->kind != NODE_LIST) {
            refuse_node(r, d->group, "an array that a string initialises");
            return;
        }
        step *const s = add_step(b, STEP_CLEAR);
        s->to = t;
        initialise_list(b, d->init, d->type, c, name, format("%s_b", name));
        return;
    }
    pure(b, d->init);
    assign_to(b, &t, d->init, "=");
}

static void if_step(builder *b, const node *n) {
    pure(b, n->child[0]);
    step *const s = add_step(b, STEP_IF);
    s->e = n->child[0];
    builder yes = {b->r, &s->body, b->next}, no = {b->r, &s->other, b->next};
    statement(&yes, n->child[1]);
    if (n->children > 2) statement(&no, n->child[2]);
}

static void loop_step(builder *b, const node *n) {
    if (n->kind == NODE_FOR) {
        step counted = {.kind = STEP_COUNTED};
        const decl *d;
        if (is_counted(b->r, n, &counted, &d)) {
            const node *const body_of = b->r->v->function->body;
            counted.everywhere = n->child[0]->kind == NODE_ASSIGN &&
                                 uses(body_of, d) != uses_in_loops(b->r, body_of, d);
            step *const s = add_step(b, STEP_COUNTED);
            *s = counted;
            builder body = {b->r, &s->body, NULL};
            statement(&body, n->child[3]);
            return;
        }
        if (n->child[0] != NULL) statement(b, n->child[0]);
    }
    step *const s = add_step(b, STEP_LOOP);
    builder body = {b->r, &s->body, NULL};
    s->at_end = n->kind == NODE_DO;
    s->e = n->kind == NODE_FOR || n->kind == NODE_DO ? n->child[1] : n->child[0];
    statement(&body, n->kind == NODE_FOR  ? n->child[3]
                     : n->kind == NODE_DO ? n->child[0]
                                          : n->child[1]);
    if (n->kind == NODE_FOR && n->child[2] != NULL) statement(&body, n->child[2]);
}

const node *without_attributes(const node *n) {
    while (n != NULL && n->kind == NODE_OTHER && n->children == 1 && n->child[0] != NULL &&
           !is_expression(n->child[0]) && n->child[0]->end == n->end)
        n = n->child[0];
    return n;
}

/* A statement without jumps. */
void statement(builder *b, const node *n) {
    n = without_attributes(n);
    if (n == NULL || n->kind == NODE_EMPTY) return;
    if (is_expression(n)) {
        const node *const e = bare(n);
        if (e->kind == NODE_BINARY && same(e->op, ",")) {
            statement(b, e->child[0]);
            statement(b, e->child[1]);
        } else if (e->kind == NODE_CAST && e->type->kind == TYPE_VOID)
            statement(b, e->child[0]);
        else if (has_effects(e)) pure(b, e);
        return;
    }
    switch (n->kind) {
    case NODE_BLOCK:
        for (size_t i = 0; i < n->children; i++) statement(b, n->child[i]);
        break;
    case NODE_DECLARE:
        declare_locals(b, n);
        break;
    case NODE_IF:
        if_step(b, n);
        break;
    case NODE_FOR:
    case NODE_WHILE:
    case NODE_DO:
        loop_step(b, n);
        break;
    default:
        refuse_node(b->r, n, "a statement that is not known");
    }
}
