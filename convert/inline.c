/* SPDX-License-Identifier: MIT */
/* inline.c - what stands within a region and has statements of its own: branches, and calls of
 * functions that are short enough to be run in it. */
#include <stdlib.h>
#include <string.h>
#include "convert/output.h"
#include "convert/region.h"

enum { MOST_DEPTH = 6, MOST_EDGES = 64, MOST_NODES = 600 };

/* ---- branches ---------------------------------------------------------------------------- */

/* One way of a branch: what it has written, and what places hold at its end. */
typedef struct way {
    text to;
    level level;
    place *at;
    size_t n;
    number result;
    bool returned;
} way;

/* What follows a branch in a function that is run here, up to its end. */
typedef struct rest {
    const node *block;
    size_t from;
} rest;

static place *copied(const place *at, size_t n) {
    place *const to = arena_get((n + 1) * sizeof *to);
    if (n != 0) memcpy(to, at, n * sizeof *to);
    return to;
}

/* Runs a way, a statement or an expression, on the places as they are now. */
static bool run_way(region *r, const node *n, bool expression, const rest *behind,
                    const place *at, size_t count, way *to) {
    const text before = r->x.to;
    const char *const indent = r->x.indent;
    r->x.to = (text){NULL, 0, 0};
    r->x.indent = format("%s    ", indent);
    to->level = (level){.outer = r->level};
    r->level = &to->level, r->depth++;
    r->at = copied(at, count), r->n = r->room = count;
    if (n != NULL && expression) to->result = number_of(r, n);
    else if (n != NULL && behind != NULL && n->kind == NODE_IF && has_jump(n)) { /* else if */
        r->frame->depth++;
        if (!run_early_return(r, n, behind->block, behind->from)) r->failed = true;
        r->frame->depth--;
    } else if (n != NULL && !run_statement(r, n)) r->failed = true;
    if (behind != NULL) {
        if (!r->failed && !r->frame->returned &&
            !run_statements(r, behind->block, behind->from))
            r->failed = true;
        to->returned = r->frame->returned, to->result = r->frame->result;
        r->frame->returned = false, r->frame->result = (number){NULL, NO_VERTEX, 0};
    }
    to->at = r->at, to->n = r->n;
    to->to = r->x.to;
    r->x.to = before, r->x.indent = indent;
    r->level = to->level.outer, r->depth--;
    return !r->failed;
}

static const place *place_in_way(const place *at, size_t n, const char *key) {
    for (size_t i = 0; i < n; i++)
        if (same(at[i].key, key)) return &at[i];
    return NULL;
}

static bool is_same(const number *a, const number *b) {
    return a->depth == b->depth && a->vertex == b->vertex && same(a->value, b->value);
}

/* What a number is at the end of a way, in a vertex of its own that nothing else depends on. */
static int end_vertex(region *r, way *w, number x) {
    if (x.vertex == NO_VERTEX) return NO_VERTEX;
    level *const outer = r->level;
    r->level = &w->level, r->depth++;
    const number y = here(r, x);
    r->level = outer, r->depth--;
    const int v = chain_vertex(&w->level.chain, x.value);
    chain_text none = {.names = r->x.names, .indent = ""};
    chain_edge(&w->level.chain, &none, v, (edge){.from = y.vertex, .unit = 1});
    w->level.chain.at[v].kept = true;
    return v;
}

/* A number that comes from one of both ways: its value and partials are assigned to in each. */
typedef struct merged {
    const char *value;
    int end[2];
    number from[2], now;
    place p;
} merged;

static void merge(region *r, way *ways, merged *all, size_t n, const char *cond) {
    const char *const deeper = format("%s    ", r->x.indent);
    const text before = r->x.to;
    for (size_t k = 0; k < 2; k++) {
        r->x.to = ways[k].to;
        chain_text x = {.to = ways[k].to, .indent = deeper, .names = r->x.names};
        chain_eliminate(&ways[k].level.chain, &x, true);
        ways[k].to = x.to;
    }
    r->x.to = before;
    size_t edges = 0;
    for (size_t i = 0; i < n; i++) {
        merged *const m = &all[i];
        m->value = chain_name(&r->x);
        putf(&r->x.to, "%sdouble %s;\n", r->x.indent, m->value);
        m->now = (number){m->value, NO_VERTEX, r->depth};
        for (size_t k = 0; k < 2; k++) {
            putf(&ways[k].to, "%s%s = %s;\n", deeper, m->value, m->from[k].value);
            chain *const c = &ways[k].level.chain;
            const vertex *const v = m->end[k] != NO_VERTEX ? &c->at[m->end[k]] : NULL;
            for (size_t j = 0; v != NULL && j < v->n; j++) {
                const edge *const e = &v->in[j];
                const char *const weight = e->unit == 0 ? e->weight : e->unit > 0 ? "1" : "-1";
                if (m->now.vertex == NO_VERTEX)
                    m->now.vertex = chain_vertex(&r->level->chain, m->value);
                vertex *const to = &r->level->chain.at[m->now.vertex];
                const int outer = c->at[e->from].outer;
                edge *own = NULL;
                for (size_t i2 = 0; i2 < to->n; i2++)
                    if (to->in[i2].from == outer) own = &to->in[i2];
                if (own == NULL) {
                    const char *const name = chain_name(&r->x);
                    putf(&r->x.to, "%sdouble %s = 0;\n", r->x.indent, name);
                    chain_edge(&r->level->chain, &r->x, m->now.vertex,
                               (edge){.from = outer, .weight = name, .singular = e->singular});
                    own = &r->level->chain.at[m->now.vertex]
                               .in[r->level->chain.at[m->now.vertex].n - 1];
                    edges++;
                }
                own->singular |= e->singular;
                putf(&ways[k].to, "%s%s = %s;\n", deeper, own->weight, weight);
            }
        }
        r->vertices++;
    }
    if (edges > MOST_EDGES) r->failed = true;
    putf(&r->x.to, "%sif (%s) {\n%s%s}", r->x.indent, cond, text_of(&ways[0].to), r->x.indent);
    if (ways[1].to.n != 0) putf(&r->x.to, " else {\n%s%s}", text_of(&ways[1].to), r->x.indent);
    put(&r->x.to, "\n");
}

/* What place p holds at the end of a way that has left it alone. */
static bool left_alone(region *r, const place *p, merged *m, size_t k, bool declared) {
    if (declared) { /* it had nothing yet */
        m->from[k] = (number){"0", NO_VERTEX, 0};
        return true;
    }
    if (!p->local || p->d == NULL) return false;
    m->from[k] = read_place(r, p);
    return !r->failed;
}

static bool condition_of(region *r, const node *n, const char **s) {
    if (!stands_as_it_is(r, n)) return false;
    *s = write_number(r->w, n);
    forget_assigned(r, n);
    return !r->failed;
}

/* Runs both ways and puts what they have assigned to together; the result of expressions
 * in *result. */
static bool run_both(region *r, const node *cond, const node *yes, const node *no,
                     const rest *behind, number *result) {
    const char *test;
    if (r->depth >= MOST_DEPTH || !condition_of(r, cond, &test)) return false;
    place *const at = r->at;
    size_t count = r->n;
    way ways[2] = {{.n = 0}, {.n = 0}};
    const bool expression = result != NULL && behind == NULL;
    if (!run_way(r, yes, expression, behind, at, count, &ways[0])) return false;
    if (!run_way(r, no, expression, behind, at, count, &ways[1])) return false;
    if (behind != NULL && result != NULL && !(ways[0].returned && ways[1].returned))
        return false;
    r->at = copied(at, count), r->n = r->room = 0;
    for (size_t i = 0; i < count; i++) /* what a way has forgotten is not known behind it */
        if (place_in_way(ways[0].at, ways[0].n, at[i].key) != NULL &&
            place_in_way(ways[1].at, ways[1].n, at[i].key) != NULL)
            r->at[r->n++] = at[i];
    r->room = count;
    list keys = {NULL, 0, 0};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < ways[k].n; i++) {
            const place *const p = &ways[k].at[i], *const old = place_in_way(at, count, p->key);
            const bool changed = p->dirty && (old == NULL || !is_same(&p->now, &old->now) ||
                                              !old->dirty || p->order != old->order);
            bool known = false;
            for (size_t j = 0; j < keys.n; j++)
                known |= same(((place *)keys.at[j])->key, p->key);
            if (changed && !known) push(&keys, (void *)p);
            place *const now = (place *)place_in_way(r->at, r->n, p->key);
            if (now != NULL && p->stale) now->stale = true;
        }
    merged *const all = arena_get((keys.n + 1) * sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < keys.n; i++) {
        merged *const m = &all[n++];
        m->p = *(place *)keys.at[i];
        const place *const old = place_in_way(at, count, m->p.key);
        const bool declared = m->p.d != NULL && old == NULL && is_declared_here(r, m->p.d);
        /* what is of one way only is gone behind it */
        bool own = old == NULL && *m->p.key == '@';
        for (size_t k = 0, both = 0; own && k < 2; k++) {
            const place *const p = place_in_way(ways[k].at, ways[k].n, m->p.key);
            both += p != NULL && p->dirty;
            own = both < 2;
        }
        const bool inner = old == NULL && m->p.d != NULL && !declared &&
                           ((yes != NULL && declared_in(yes, m->p.d)) ||
                            (no != NULL && declared_in(no, m->p.d)));
        if (own || inner) {
            n--;
            continue;
        }
        for (size_t k = 0; k < 2; k++) {
            const place *const p = place_in_way(ways[k].at, ways[k].n, m->p.key);
            if (p != NULL && p->stale) return false;
            if (p != NULL && p->dirty) m->from[k] = p->now;
            else if (old != NULL) m->from[k] = old->now;
            else if (p != NULL && p->now.value != NULL && p->now.depth <= r->depth)
                m->from[k] = p->now;
            else if (!left_alone(r, &m->p, m, k, declared)) return false;
            if (m->from[k].value == NULL) return false;
            m->p.order = p != NULL && p->order > m->p.order ? p->order : m->p.order;
        }
    }
    if (result != NULL) {
        merged *const m = &all[n++];
        m->p.key = NULL;
        for (size_t k = 0; k < 2; k++) m->from[k] = ways[k].result;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++) all[i].end[k] = end_vertex(r, &ways[k], all[i].from[k]);
    merge(r, ways, all, n, test);
    for (size_t i = 0; i < n; i++) {
        merged *const m = &all[i];
        if (m->p.key == NULL) {
            *result = m->now;
            continue;
        }
        m->p.now = m->now, m->p.dirty = true, m->p.stale = false;
        replace_place(r, &m->p);
    }
    return !r->failed;
}

bool run_choice(region *r, const node *n) {
    return run_both(r, n->child[0], n->child[1], n->children > 2 ? n->child[2] : NULL, NULL,
                    NULL);
}

bool run_early_return(region *r, const node *n, const node *block, size_t from) {
    const rest behind = {block, from};
    const version *const v = r->frame->v;
    const bool gives = v->result != NULL && is_variable(v->result);
    number x = {NULL, NO_VERTEX, 0};
    if (!run_both(r, n->child[0], n->child[1], n->children > 2 ? n->child[2] : NULL, &behind,
                  gives ? &x : NULL))
        return false;
    r->frame->returned = true;
    r->frame->result = x;
    return true;
}

number number_of_choice(region *r, const node *n) {
    number x;
    if (n->children != 3 || !run_both(r, n->child[0], n->child[1], n->child[2], NULL, &x))
        return fails(r);
    return x;
}

/* ---- calls ------------------------------------------------------------------------------- */

bool leads_alike(const type *a, const type *b) {
    return a->of != NULL && b != NULL && b->of != NULL && a->of->kind == b->of->kind &&
           a->of->record == b->of->record;
}

bool assigns_to(const node *n, const decl *d) {
    if (n == NULL) return false;
    const bool assigns = n->kind == NODE_ASSIGN ||
                         (n->kind == NODE_UNARY && n->op != NULL &&
                          (same(n->op, "++") || same(n->op, "--") || same(n->op, "&")));
    if (assigns && bare(n->child[0])->kind == NODE_NAME && bare(n->child[0])->decl == d)
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (assigns_to(n->child[i], d)) return true;
    for (size_t i = 0; i < n->decls.n; i++)
        if (assigns_to(((decl *)n->decls.at[i])->init, d)) return true;
    return false;
}

/* Is a whole number known that any type of whole numbers has, but for _Bool? */
static bool has_number(const type *t, const region *r, const node *e, long *is) {
    if (t->kind != TYPE_WHOLE || !known_integer(r, e, is)) return false;
    return *is == 0 || *is == 1 || (labs(*is) < 128 && strstr(t->spelling, "ool") == NULL);
}

/* What the parameter stands for in frame f, from the argument as it is in the frame of the
 * call. */
static bool bind(region *r, frame *f, const decl *p, const node *e) {
    cell *const c = f->v->of_decl[p->index];
    binding *const b = arena_get(sizeof *b);
    *b = (binding){.d = p};
    if (p->type->kind == TYPE_REAL && c != NULL && is_variable(c)) {
        const number x = number_of(r, e);
        if (r->failed || real_cell(c)->addressed) return false;
        r->records += r->operands > 1 ? (r->operands + 1) / 2 : 0;
        r->operands = 0;
        place at = {.key = format("@%u_%s_%u", f->number, p->name, p->number),
                    .object = true,
                    .local = true,
                    .cell = c};
        assign_place(r, &at, x);
        return true;
    }
    if (p->type->kind == TYPE_POINTER && leaf_type(p->type)->kind != TYPE_FUNCTION) {
        address *const q = arena_get(sizeof *q);
        if (!leads_alike(p->type, e->type) || assigns_to(f->v->function->body, p) ||
            !find_pointer(r, e, q))
            return false;
        b->pointer = q;
    } else if (p->type->kind == TYPE_REAL || p->type->kind == TYPE_WHOLE) {
        if (!stands_as_it_is(r, e)) return false;
        b->constant = has_number(p->type, r, e, &b->is) && !assigns_to(f->v->function->body, p);
        b->name = b->constant ? known_text(p->type, b->is) : chain_name(&r->x);
        if (!b->constant)
            putf(&r->x.to, "%s%s = %s;\n", r->x.indent, declared_as(p->type, b->name),
                 write_number(r->w, e));
        forget_assigned(r, e);
    } else return false;
    push(&f->bindings, b);
    return !r->failed;
}

/* Does n name something global that is another one among these parameters or local
 * variables? */
static bool is_hidden(const node *n, const list *by) {
    if (n == NULL) return false;
    const bool global = n->kind == NODE_NAME && n->decl != NULL && n->decl->owner == NULL;
    for (size_t i = 0; global && i < by->n; i++)
        if (same(((const decl *)by->at[i])->name, n->decl->name)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (is_hidden(n->child[i], by)) return true;
    for (size_t i = 0; i < n->decls.n; i++)
        if (is_hidden(((const decl *)n->decls.at[i])->init, by)) return true;
    return false;
}
static bool can_see(const region *r, const decl *callee) {
    const frame *outer = r->frame;
    while (outer->caller != NULL) outer = outer->caller;
    const decl *const f = outer->v->function;
    return !is_hidden(callee->body, &f->parameters) && !is_hidden(callee->body, &f->locals);
}

number call_inline(region *r, const node *n) {
    version *const v = r->w->v->called[n->number];
    if (v == NULL || v->function->body == NULL || v->function->nodes > MOST_NODES ||
        n->children != v->function->parameters.n + 1 || !can_see(r, v->function))
        return fails(r);
    size_t deep = 0;
    for (const frame *f = r->frame; f != NULL; f = f->caller, deep++)
        if (f->v->function == v->function) return fails(r);
    if (deep > MOST_DEPTH) return fails(r);
    frame *const f = arena_get(sizeof *f), *const caller = r->frame;
    *f = (frame){.v = v, .number = ++r->frames, .depth = r->depth};
    for (size_t i = 0; i < v->function->parameters.n; i++)
        if (!bind(r, f, v->function->parameters.at[i], n->child[i + 1])) return fails(r);
    f->caller = caller;
    r->frame = f;
    r->w->v = v;
    const bool good = run_statement(r, v->function->body);
    r->frame = caller;
    r->w->v = caller->v;
    if (!good ||
        (f->returned && f->result.value == NULL && v->result != NULL && is_variable(v->result)))
        return fails(r);
    return f->returned && f->result.value != NULL ? f->result : (number){"0", NO_VERTEX, 0};
}
