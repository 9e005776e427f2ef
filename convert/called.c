/* SPDX-License-Identifier: MIT */
/* called.c - which operations are recorded by calls.
 *
 * A compiler takes some seven times as long for an operation in line as for a call, and the
 * operation runs in half the time. So those are in line that run most often, by the loops that
 * stand around them, there and where the function is called; of a function those below a depth
 * of loops are calls. */
#include <stdlib.h>
#include <string.h>
#include "convert/called.h"
#include "convert/expression.h"

/* Depths above this one are alike; what is called from nowhere is called in a loop. */
enum { DEEPEST = 4, UNKNOWN_DEPTH = 1 };

/* Microseconds that gcc 12 -O2 takes: for a file with headers, for a node of the source; for an
 * operation in line and by a call, for the headers of this library with the callback. How many
 * times that of the source the result may take beyond it, in tenths; how many operations are in
 * line in any case. */
enum { OF_FILE = 20000, OF_NODE = 70, IN_LINE = 9000, BY_CALL = 1100, OF_LIBRARY = 40000 };
enum { TENTHS = 26, LEAST = 12 };

static const char *label_of(const node *n) {
    const char *s = source(n);
    if (n->kind == NODE_GOTO) s += strcspn(s, " \t\n"), s += strspn(s, " \t\n");
    return copy_text(s, strcspn(s, " \t\n:;"));
}

static void collect(node *n, node_kind kind, list *to) {
    if (n == NULL) return;
    if (n->kind == kind) push(to, n);
    for (size_t i = 0; i < n->children; i++) collect(n->child[i], kind, to);
}

/* Loops around node n in its function; jumps back make one. */
static unsigned loops_around(const version *v, const node *n) {
    unsigned depth = 0;
    for (const node *c = n, *p = n->parent; p != NULL; c = p, p = p->parent)
        depth += p->kind == NODE_WHILE || p->kind == NODE_DO ||
                 (p->kind == NODE_FOR && c != p->child[0]);
    for (size_t i = 0; i + 1 < v->jumps.n; i += 2) {
        const node *const label = v->jumps.at[i], *const jump = v->jumps.at[i + 1];
        depth += label->begin <= n->begin && n->begin < jump->end;
    }
    return depth;
}

static void find_jumps(version *v) {
    list labels = {NULL, 0, 0}, jumps = {NULL, 0, 0};
    collect(v->function->body, NODE_LABEL, &labels);
    collect(v->function->body, NODE_GOTO, &jumps);
    for (size_t i = 0; i < labels.n; i++) {
        const node *const l = labels.at[i];
        node *last = NULL; /* that leads back to it */
        for (size_t k = 0; k < jumps.n; k++) {
            node *const j = jumps.at[k];
            if (j->begin > l->begin && same(label_of(l), label_of(j))) last = j;
        }
        if (last == NULL) continue;
        push(&v->jumps, labels.at[i]);
        push(&v->jumps, last);
    }
}

/* Does node n record an operation? */
static bool records(const writer *w, const node *n) {
    switch (n->kind) {
    case NODE_UNARY:
        if (same(n->op, "*") || same(n->op, "+") || same(n->op, "&")) return false;
        return is_active(w, n);
    case NODE_BINARY:
        if (same(n->op, ",")) return false;
        return is_active(w, n) || is_active(w, n->child[0]) || is_active(w, n->child[1]);
    case NODE_ASSIGN:
        return !same(n->op, "=") && is_active(w, n);
    case NODE_CALL: {
        const known_kind k = known_of(n, NULL)->kind;
        return (k == KNOWN_OPERATION || k == KNOWN_SCALED || k == KNOWN_PARTS) &&
               is_active(w, n);
    }
    default:
        return false;
    }
}

static void count(const writer *w, const node *n, size_t *at) {
    if (n == NULL) return;
    if (records(w, n)) {
        const unsigned d = loops_around(w->v, n);
        at[d < DEEPEST ? d : DEEPEST]++;
    }
    for (size_t i = 0; i < n->children; i++) count(w, n->child[i], at);
    for (size_t i = 0; i < n->decls.n; i++) count(w, ((const decl *)n->decls.at[i])->init, at);
}

static size_t nodes_of(const program *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->functions.n; i++) {
        const decl *const d = p->functions.at[i];
        if (d->file->given) n += d->nodes;
    }
    return n;
}

/* The depth of loops in which a function is called. */
static bool deepen(version *v, unsigned depth) {
    v = v->like;
    if (depth > DEEPEST) depth = DEEPEST;
    if (v->depth_known && v->depth >= depth) return false;
    v->depth = depth;
    v->depth_known = true;
    return true;
}

static bool deepen_called(const version *v, const node *n) {
    bool more = false;
    if (n == NULL) return false;
    if (n->kind == NODE_CALL) {
        const unsigned depth = v->depth + loops_around(v, n);
        if (v->called[n->number] != NULL) more |= deepen(v->called[n->number], depth);
        const cell *const through = called_through(v, n);
        for (size_t i = 0; through != NULL && i < through->versions.n; i++)
            more |= deepen(through->versions.at[i], depth);
    }
    for (size_t i = 0; i < n->children; i++) more |= deepen_called(v, n->child[i]);
    for (size_t i = 0; i < n->decls.n; i++)
        more |= deepen_called(v, ((const decl *)n->decls.at[i])->init);
    return more;
}

static void find_depths(const list *versions, version *root) {
    (void)deepen(root, 0);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < versions->n; i++) {
            const version *const v = versions->at[i];
            if (v->depth_known) more |= deepen_called(v, v->function->body);
        }
    }
}

void choose_calls(writer *w, const char *most) {
    list versions = {NULL, 0, 0}, counts = {NULL, 0, 0};
    size_t all = 0;
    for (size_t i = 0; i < w->a->versions.n; i++) {
        version *const v = w->a->versions.at[i];
        if (!v->touched || v->like != v || v->function->body == NULL) continue;
        size_t *const at = arena_get((DEEPEST + 1) * sizeof *at);
        find_jumps(v);
        w->v = v;
        count(w, v->function->body, at);
        for (size_t d = 0; d <= DEEPEST; d++) all += at[d];
        push(&versions, v);
        push(&counts, at);
    }
    w->v = NULL;
    find_depths(&versions, w->a->root);
    const size_t of_source = OF_FILE + OF_NODE * nodes_of(w->a->program),
                 room = of_source * TENTHS / 10, others = OF_LIBRARY + BY_CALL * all;
    size_t left = room > others ? (room - others) / (IN_LINE - BY_CALL) : 0;
    if (left < LEAST) left = LEAST;
    if (most != NULL) left = strtoul(most, NULL, 10);
    for (unsigned hot = 2 * DEEPEST + 1; hot-- > 0;)
        for (size_t i = 0; i < versions.n; i++) {
            version *const v = versions.at[i];
            const size_t *const at = counts.at[i];
            const unsigned base = v->depth_known ? v->depth : UNKNOWN_DEPTH;
            if (hot < base || hot - base > DEEPEST || v->calls_below > hot - base) continue;
            if (at[hot - base] <= left) left -= at[hot - base];
            else v->calls_below = hot - base + 1;
        }
}

/* May the operands of n be evaluated in any order, as those of a call are? Statements in line
 * go from left to right. */
static bool in_any_order(const node *n) {
    if (n->kind == NODE_ASSIGN) return !may_change(n->child[1]);
    if (n->kind == NODE_UNARY || (n->kind == NODE_CALL && n->children == 2)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (may_change(n->child[i])) return false;
    return true;
}

bool is_seldom(const writer *w, const node *n) {
    if (w->v == NULL || w->v->calls_below == 0) return false;
    const unsigned d = loops_around(w->v, n);
    return (d < DEEPEST ? d : DEEPEST) < w->v->calls_below;
}
bool by_calls(const writer *w, const node *n) { return is_seldom(w, n) && in_any_order(n); }
