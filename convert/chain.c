/* SPDX-License-Identifier: MIT */
/* chain.c - vertices and edges, their elimination, and the text of both. */
#include <stdlib.h>
#include <string.h>
#include "convert/chain.h"

const char *chain_name(chain_text *x) { return format("wgc_%u", ++*x->names); }

static int add_vertex(chain *c, vertex v) {
    if (c->n == c->room) {
        vertex *const more = arena_get((c->room = 2 * c->room + 32) * sizeof *more);
        if (c->n != 0) memcpy(more, c->at, c->n * sizeof *more);
        c->at = more;
    }
    c->at[c->n] = v;
    return (int)c->n++;
}

int chain_leaf(chain *c, const char *handle, const char *value, int outer) {
    return add_vertex(c,
                      (vertex){.value = value, .handle = handle, .outer = outer, .leaf = true});
}
int chain_vertex(chain *c, const char *value) {
    return add_vertex(c, (vertex){.value = value, .outer = NO_VERTEX});
}

static const char *weight_of(const edge *e) {
    return e->unit == 0 ? e->weight : e->unit > 0 ? "1.0" : "-1.0";
}

static edge sum(chain_text *x, const edge *a, const edge *b) {
    const char *const name = chain_name(x);
    putf(&x->to, "%sconst double %s = %s %s %s;\n", x->indent, name, weight_of(a),
         b->unit < 0 ? "-" : "+", b->unit != 0 ? "1.0" : b->weight);
    return (edge){a->from, name, 0, a->singular || b->singular};
}

/* What may be multiplied by as it stands: a number that is neither 0 nor infinite. */
static bool is_plain_factor(const char *s) {
    char *end;
    const double v = strtod(s, &end);
    return *end == 0 && end != s && v * 0 == 0 && (v < 0 || v > 0);
}

static edge product(chain_text *x, const edge *outer, const edge *inner) {
    edge e = *outer;
    e.from = inner->from;
    e.singular = outer->singular || inner->singular;
    if (outer->unit != 0 && inner->unit != 0) {
        e.unit = outer->unit * inner->unit;
    } else if (outer->unit == 1 || inner->unit == 1) {
        e.unit = 0;
        e.weight = outer->unit == 1 ? inner->weight : outer->weight;
    } else {
        const char *const name = chain_name(x);
        if (outer->unit == -1 || inner->unit == -1)
            putf(&x->to, "%sconst double %s = -%s;\n", x->indent, name,
                 outer->unit == -1 ? inner->weight : outer->weight);
        else
            putf(&x->to,
                 e.singular && !is_plain_factor(outer->weight) &&
                         !is_plain_factor(inner->weight)
                     ? "%sconst double %s = wg_chain(%s, %s);\n"
                     : "%sconst double %s = %s * %s;\n",
                 x->indent, name, outer->weight, inner->weight);
        e.unit = 0;
        e.weight = name;
    }
    return e;
}

static edge *edge_from(const vertex *v, int from) {
    for (size_t i = 0; i < v->n; i++)
        if (v->in[i].from == from) return &v->in[i];
    return NULL;
}

void chain_edge(chain *c, chain_text *x, int to, edge e) {
    vertex *const v = &c->at[to];
    edge *const old = edge_from(v, e.from);
    if (old != NULL) {
        *old = sum(x, old, &e);
        return;
    }
    if (v->n == v->room) {
        edge *const more = arena_get((v->room = 2 * v->room + 4) * sizeof *more);
        if (v->n != 0) memcpy(more, v->in, v->n * sizeof *more);
        v->in = more;
    }
    v->in[v->n++] = e;
}

/* ---- elimination ------------------------------------------------------------------------- */

typedef struct uses {
    size_t n,
        fresh; /* edges out of a vertex; edges that there are more after its elimination */
} uses;

static uses uses_of(const chain *c, int v) {
    uses u = {0, 0};
    const vertex *const p = &c->at[v];
    for (size_t s = (size_t)v + 1; s < c->n; s++) {
        if (c->at[s].gone || edge_from(&c->at[s], v) == NULL) continue;
        u.n++;
        for (size_t i = 0; i < p->n; i++)
            u.fresh += edge_from(&c->at[s], p->in[i].from) == NULL;
    }
    return u;
}

/* What elimination adds in edges, of each vertex; as it was before the last one, where that
 * is not `known`. */
typedef struct costs {
    long *more;
    bool *known;
} costs;

static void eliminate(chain *c, chain_text *x, int v, const costs *of) {
    vertex *const p = &c->at[v];
    for (size_t s = (size_t)v + 1; s < c->n; s++) {
        vertex *const q = &c->at[s];
        edge *const e = q->gone ? NULL : edge_from(q, v);
        if (e == NULL) continue;
        const edge outer = *e;
        *e = q->in[--q->n];
        for (size_t i = 0; i < p->n; i++) {
            const edge between = product(x, &outer, &p->in[i]);
            chain_edge(c, x, (int)s, between);
        }
        of->known[s] = false;
        for (size_t i = 0; i < q->n; i++) of->known[q->in[i].from] = false;
    }
    for (size_t i = 0; i < p->n; i++) of->known[p->in[i].from] = false;
    p->gone = true;
}

static bool is_between(const vertex *v) { return !v->leaf && !v->kept && !v->gone; }

/* What nothing that is kept depends on is gone at once. */
static void drop_unused(chain *c) {
    bool *const used = arena_get(c->n + 1);
    for (size_t v = c->n; v-- > 0;) {
        const vertex *const p = &c->at[v];
        if (p->gone || !(p->kept || used[v])) {
            if (!p->leaf) c->at[v].gone = true;
            continue;
        }
        for (size_t i = 0; i < p->n; i++) used[p->in[i].from] = true;
    }
}

void chain_eliminate(chain *c, chain_text *x, bool all) {
    const costs of = {arena_get((c->n + 1) * sizeof *of.more),
                      arena_get((c->n + 1) * sizeof *of.known)};
    drop_unused(c);
    for (;;) {
        int best = NO_VERTEX;
        long least = 0;
        for (size_t v = 0; v < c->n; v++) {
            if (!is_between(&c->at[v])) continue;
            if (!of.known[v]) {
                const uses u = uses_of(c, (int)v);
                of.more[v] = (long)u.fresh - (long)(u.n + c->at[v].n);
                of.known[v] = true;
            }
            /* of alike ones the last, as in reverse */
            if (best == NO_VERTEX || of.more[v] <= least) best = (int)v, least = of.more[v];
        }
        if (best == NO_VERTEX) return;
        /* a variable of its own costs as much as an operand, and its slot */
        if (all || least <= 1) eliminate(c, x, best, &of);
        else c->at[best].kept = true;
    }
}

size_t chain_operands(const chain *c) {
    size_t n = 0;
    for (size_t v = 0; v < c->n; v++)
        if (c->at[v].kept && !c->at[v].gone) n += (c->at[v].n + 1) / 2;
    return n;
}

void chain_record(chain *c, chain_text *x, int v, const char *tape, bool by_call) {
    vertex *const p = &c->at[v];
    if (p->handle != NULL) return;
    for (size_t i = 0; i < p->n; i++) chain_record(c, x, p->in[i].from, tape, by_call);
    p->handle = chain_name(x);
    if (p->n == 0) {
        putf(&x->to, "%sconst wg_real %s = wg_constant(%s);\n", x->indent, p->handle, p->value);
        return;
    }
    if (p->n == 1 && p->in[0].unit == 1 && same(c->at[p->in[0].from].value, p->value)) {
        p->handle = c->at[p->in[0].from].handle;
        return;
    }
    /* in parentheses it is no macro, which records in line */
    putf(&x->to,
         by_call ? "%sconst wg_real %s = (wg_let_given)(%s, %s, %zu, ((const wg_real[]){"
                 : "%sconst wg_real %s = wg_let_given(%s, %s, %zu, ((const wg_real[]){",
         x->indent, p->handle, tape, p->value, p->n);
    for (size_t i = 0; i < p->n; i++)
        putf(&x->to, "%s%s", i != 0 ? ", " : "", c->at[p->in[i].from].handle);
    put(&x->to, "}), ((const double[]){");
    for (size_t i = 0; i < p->n; i++)
        putf(&x->to, "%s%s", i != 0 ? ", " : "", weight_of(&p->in[i]));
    put(&x->to, "}));\n");
}
