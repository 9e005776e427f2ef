/* SPDX-License-Identifier: MIT */
/* needed.c - which present values a step asks for again: for its value, its address, its
 * partials. */
#include <string.h>
#include "convert/planner.h"

void number_one(list *numbered, cell *c) {
    if (c->number != 0) return;
    push(numbered, c);
    c->number = (unsigned)numbered->n;
}
unsigned cell_number(planner *p, cell *c) {
    p->grown |= c->number == 0; /* what was known of all lacks it */
    number_one(p->numbered, c);
    return c->number;
}
enum { BITS = 8 * sizeof(unsigned long) };

static unsigned long bit(unsigned k) { return 1UL << k % BITS; }

static void make_room(cell_flags *f, size_t words) {
    if (words <= f->room) return;
    const cell_flags before = *f;
    f->room = words;
    f->at = arena_get(f->room * sizeof *f->at);
    if (before.room != 0) memcpy(f->at, before.at, before.room * sizeof *f->at);
}

bool has_flag(const cell_flags *f, unsigned k) {
    return k / BITS < f->room && (f->at[k / BITS] & bit(k)) != 0;
}
void set_flag(cell_flags *f, unsigned k, bool to) {
    if (k / BITS >= f->room) make_room(f, 2 * (k / BITS + 1));
    if (to) f->at[k / BITS] |= bit(k);
    else f->at[k / BITS] &= ~bit(k);
}
unsigned next_flag(const cell_flags *f, unsigned k) {
    for (size_t i = k / BITS; i < f->room; i++, k = (unsigned)i * BITS) {
        const unsigned long rest = f->at[i] >> k % BITS;
        if (rest != 0) return k + (unsigned)__builtin_ctzl(rest);
    }
    return 0;
}
cell_flags copy_flags(const cell_flags *f) {
    cell_flags c = {NULL, 0};
    add_flags(&c, f);
    return c;
}
void add_flags(cell_flags *to, const cell_flags *more) {
    make_room(to, more->room);
    for (size_t i = 0; i < more->room; i++) to->at[i] |= more->at[i];
}
void keep_flags(cell_flags *to, const cell_flags *these) {
    for (size_t i = 0; i < to->room; i++) to->at[i] &= i < these->room ? these->at[i] : 0;
}
bool has_all_flags(const cell_flags *f, const cell_flags *of) {
    for (size_t i = 0; i < of->room; i++)
        if ((of->at[i] & ~(i < f->room ? f->at[i] : 0)) != 0) return false;
    return true;
}

cell *variable_cell(const planner *p, const char *name) {
    for (size_t i = 0; i < p->r->variables.n; i++) {
        const variable *const v = p->r->variables.at[i];
        if (same(v->name, name)) return v->cell;
    }
    return NULL;
}

void use(planner *p, cell *c) {
    if (c == NULL) return;
    c = real_cell(c);
    if (p->marking) {
        if (c->needed) return;
        p->grown = true;
        c->needed = true;
        set_flag(p->needed, cell_number(p, c), true);
    } else set_flag(&p->used, cell_number(p, c), true);
    if (!p->marking)
        for (size_t i = 0; i < p->fresh.n; i++)
            if (((fresh *)p->fresh.at[i])->cell == c) ((fresh *)p->fresh.at[i])->cell = NULL;
}

const range *range_of(const planner *p, const node *index) {
    cell *const c = bare(index)->kind == NODE_NAME ? cell_at(p->r, bare(index)) : NULL;
    for (const range *g = p->ranges; g != NULL && c != NULL; g = g->outer)
        if (g->variable == c) return g;
    return NULL;
}

/* Does a local variable or parameter that is never assigned to have one value, not one for
 * each turn? */
bool has_one_value(const decl *d) {
    for (const node *n = d->kind == DECL_PARAMETER ? NULL : d->group; n != NULL; n = n->parent)
        if (n->kind == NODE_FOR || n->kind == NODE_WHILE || n->kind == NODE_DO) return false;
    return d->owner != NULL && (d->kind == DECL_PARAMETER || d->group != NULL);
}

/* The array of x[i], where x is a local pointer, parameter or array that stays the same. */
const decl *array_of(const planner *p, const node *n) {
    const node *const x =
        n != NULL && bare(n)->kind == NODE_INDEX ? bare(bare(n)->child[0]) : NULL;
    if (x == NULL || x->kind != NODE_NAME || x->decl->owner == NULL) return NULL;
    cell *const c = cell_at(p->r, x);
    if (x->type->kind == TYPE_POINTER &&
        (c == NULL || c->addressed || !has_one_value(x->decl) || version_changes(p->r->v, c)))
        return NULL;
    return x->decl;
}

bool is_fresh(const planner *p, const node *n) {
    const decl *const d = array_of(p, n);
    if (d == NULL) return false;
    const range *const g = range_of(p, bare(n)->child[1]);
    for (size_t i = 0; g != NULL && i < p->fresh.n; i++) {
        const fresh *const f = p->fresh.at[i];
        if (f->array == d && f->cell != NULL && same(f->bound, g->bound)) return true;
    }
    return false;
}

/* All that the value of n is computed of. */
void use_value(planner *p, const node *n) {
    if (n == NULL || (n->kind == NODE_SIZEOF && n->type_end == 0)) return;
    const char *const instead = p->r->instead[n->number];
    const kept_call *const kept = p->r->results[n->number];
    if (kept != NULL && !kept->partial) return;
    if (p->r->place[n->number] != NULL) {
        use_value(p, p->r->place[n->number]);
        return;
    }
    if (instead != NULL) {
        cell *const c = variable_cell(p, instead);
        if (c != NULL) {
            use(p, c);
            return;
        }
    }
    if (n->kind == NODE_UNARY && same(n->op, "&")) {
        use_address(p, n->child[0]);
        return;
    }
    if (n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
        (n->kind == NODE_UNARY && same(n->op, "*"))) {
        if (n->type != NULL &&
            n->type->kind == TYPE_ARRAY) { /* the address of its first element */
            use_address(p, n);
            return;
        }
        use(p, cell_at(p->r, n));
    }
    for (size_t i = n->kind == NODE_CALL; i < n->children; i++) use_value(p, n->child[i]);
}

/* What the address of a place is computed of. */
void use_address(planner *p, const node *n) {
    if (n == NULL || p->r->instead[n->number] != NULL) return;
    switch (n->kind) {
    case NODE_PAREN:
        use_address(p, n->child[0]);
        break;
    case NODE_MEMBER:
        if (n->arrow) use_value(p, n->child[0]);
        else if (n->children != 0) use_address(p, n->child[0]);
        break;
    case NODE_INDEX:
        for (size_t i = 0; i < 2; i++)
            if (n->child[i]->type != NULL && n->child[i]->type->kind == TYPE_ARRAY)
                use_address(p, n->child[i]);
            else use_value(p, n->child[i]);
        break;
    case NODE_UNARY:
        use_value(p, n->child[0]);
        break;
    default:
        break;
    }
}

static bool mentions_letter(const char *s, char letter) {
    const tokens t = lex(s, strlen(s));
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].kind == TOKEN_WORD && t.at[i].end == t.at[i].begin + 1 &&
            s[t.at[i].begin] == letter)
            return true;
    return false;
}

/* What the adjoint of an expression asks for. */
void use_partials(planner *p, const node *n) {
    const routine *const r = p->r;
    if (!step_is_active(r, n)) return;
    if (r->place[n->number] != NULL) use_address(p, r->place[n->number]);
    if (r->instead[n->number] != NULL) return;
    if (n->kind == NODE_PAREN || n->kind == NODE_CAST) {
        use_partials(p, n->child[0]);
        return;
    }
    if (n->kind == NODE_BINARY && same(n->op, ",")) {
        use_partials(p, n->child[1]);
        return;
    }
    if (n->kind == NODE_CHOICE) {
        use_value(p, n->child[0]);
        for (size_t i = n->children == 3; i < n->children; i++) use_partials(p, n->child[i]);
        return;
    }
    const char *const name = operation_of(r, n);
    if (name == NULL) {
        if (is_scaled(n)) {
            use_partials(p, n->child[1]);
            use_value(p, n->child[2]);
        } else if (n->kind == NODE_UNARY && same(n->op, "+")) use_partials(p, n->child[0]);
        else use_address(p, n);
        return;
    }
    const node *arg[4];
    const size_t k = operands_of(n, arg);
    const kept_call *const kept = r->results[n->number];
    for (size_t i = 0; i < k; i++) {
        if (!step_is_active(r, arg[i])) continue;
        use_partials(p, arg[i]);
        if (kept != NULL && kept->partial) continue;
        const char *const s = partial_text(name, i);
        for (size_t j = 0; j < k; j++)
            if (mentions_letter(s, (char)('a' + (int)j)) ||
                (kept == NULL && mentions_letter(s, 'v')))
                use_value(p, arg[j]);
    }
}

bool is_local(const planner *p, const target *t) {
    const cell *const c = t->cell;
    if (c == NULL || c->addressed || t->type == NULL) return false;
    if (t->type->kind == TYPE_ARRAY || t->type->kind == TYPE_RECORD) return false;
    if (t->shadow != NULL) return false; /* an element */
    if (t->name != NULL) return true;
    const node *const n = bare(t->n);
    (void)p;
    return n->kind == NODE_NAME && n->decl->owner != NULL && !n->decl->is_static;
}
