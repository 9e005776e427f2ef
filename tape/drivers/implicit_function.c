/* SPDX-License-Identifier: MIT */
/* Implicit functions in functions: a repeat that solves (tape/function/graph/repeat.h). Its
 * body is a step of Newton's method, x - F_x^-1 F, of the nodes of F, of their derivatives by
 * x, and of a solve that is recorded for them; it starts from the recorded solution at every
 * point. Comparisons say whether the last step was small. */
#include "implicit.h"
#include "tape/function/graph/taking.h"
#include "tape/function/graph/builder.h"

#include <wengert/solve.h>

#include <math.h>
#include <string.h>

/* So many steps are made. The last one may be a part of the solution as small as that; what
 * only halves with each step is larger. Components of nothing beside others count as such a
 * part of these. */
enum { STEPS = 32 };
#define SMALL 0x1p-34

typedef struct making {
    wgi_graph *g;
    const wgi_block *b;
    const wgi_solution *k;
    size_t n, np;
    wg_tape *work; /* F is recorded there */
    wgi_equations e;
    wgi_builder body;
    uint32_t *in;       /* nodes of the body: x, then p */
    uint32_t *residual; /* F */
    uint32_t *jac;      /* F_x, column after column */
    uint32_t *step;     /* F_x^-1 F */
} making;

static uint32_t *list_of(const making *m, size_t count) {
    return wg_tape_keep(&m->g->c->head, (count + 1) * sizeof(uint32_t), NULL);
}

static wg_status explain(const making *m, wg_status s) {
    if (s == WG_OK || m->g->c->status != WG_OK) return s;
    const wg_status theirs = wg_tape_status(m->work);
    return wgi_fail(m->g->c, s, "%s: %s: %s", m->g->call, m->b->op->name,
                    theirs != WG_OK ? wg_tape_message(m->work) : wg_status_text(s));
}

/* Evaluates F_x at the recorded point, which a solve is recorded with, and records F, while the
 * tape of the recording is closed and held. */
static wg_status record(making *m) {
    wgi_core *const c = wgi_core_of(m->work), *const of = m->k->c;
    wg_mark inside;
    wg_status s = wgi_equations_room(c, &m->e);
    if (s != WG_OK) return s;
    memcpy(m->e.value, m->b->operand[1].value, m->n * sizeof(double));
    memcpy(m->e.value + m->n, m->b->operand[0].value, m->np * sizeof(double));
    const uint64_t stamps = wgi_tape_close(of);
    const wgi_hold before = wgi_tape_hold(of);
    s = wgi_equations_by_rows(c, &m->e);
    if (s == WG_OK) s = wgi_equations_refuse_infinite(c, &m->e);
    if (s == WG_OK) s = wgi_equations_record(c, &m->e, &inside);
    const int asked = wgi_tape_release(of, before);
    (void)wgi_tape_open_again(of, stamps);
    if (!asked) return s;
    return wgi_fail(m->g->c, WG_EMODE, "%s: the function of %s would reset or rewind the tape",
                    m->g->call, m->b->op->name);
}

/* The nodes of F, and of its derivatives by x. */
static wg_status add_equations(making *m) {
    wgi_graph *const g = &m->body.g;
    const size_t n = m->n;
    const wg_argument x = {"x", n, 1, 0}, p = {"p", m->np, 1, 0};
    (void)wgi_builder_input(&m->body, "", &x, WGI_CARRIED);
    (void)wgi_builder_input(&m->body, "", &p, 0);
    for (size_t i = 0; i < n + m->np; i++) m->in[i] = (uint32_t)i;
    wg_status s = wgi_taking_all(g, wgi_core_of(m->work), 1, n + m->np, m->e.in, m->in, n,
                                 m->e.out, m->residual);
    for (size_t j = 0; s == WG_OK && m->k->of.fixed_point && j < n; j++)
        m->residual[j] = WGI_GRAPH2(g, sub, m->residual[j], m->in[j]);
    const size_t nodes = g->nodes;
    unsigned char *const wanted = wg_tape_keep(&g->c->head, nodes + 1, NULL);
    uint32_t *const bar = list_of(m, nodes);
    if (s != WG_OK || bar == NULL) return g->c->status;
    memset(wanted, 0, nodes);
    memset(wanted, 1, n);
    wgi_mark_dependent(nodes, g->node, g->operand, wanted);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < nodes; i++) bar[i] = WGI_NO_NODE;
        bar[m->residual[j]] = wgi_graph_number(g, 1);
        if (wanted[m->residual[j]]) wgi_graph_reverse_point(g, nodes, wanted, bar);
        for (size_t i = 0; i < n; i++) m->jac[j + i * n] = wgi_graph_or_zero(g, bar[i]);
    }
    return g->c->status;
}

/* The nodes of F_x^-1 F: those of a solve that is recorded with the numbers of the recorded
 * point. */
static wg_status add_solve(making *m) {
    const size_t n = m->n, all = n + m->np;
    wg_tape *const t = m->work;
    wg_real *const x = wg_tape_keep(t, (n * n + n) * sizeof *x, NULL);
    wg_real *const y = wg_tape_keep(t, n * sizeof *y, NULL);
    uint32_t *const node = list_of(m, n * n + n);
    if (y == NULL || node == NULL) return WG_ENOMEM;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            x[j + i * n] =
                wg_input(t, m->e.jac[j * all + i] - (m->k->of.fixed_point && i == j ? 1 : 0));
    for (size_t j = 0; j < n; j++) x[n * n + j] = wg_input(t, 0);
    const wg_mat solved =
        wg_solve(t, wg_mat_gather(t, n, n, x), wg_mat_gather(t, n, 1, x + n * n));
    wg_status s = wg_tape_status(t);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i++) y[i] = wg_mat_at(solved, i, 0);
    memcpy(node, m->jac, n * n * sizeof *node);
    memcpy(node + n * n, m->residual, n * sizeof *node);
    return wgi_taking_all(&m->body.g, wgi_core_of(t), 1, n * n + n, x, node, n, y, m->step);
}

/* |x| of unknown i after step k; and how far that step went. y: the unknowns after the last
 * one. */
static uint32_t size_after(making *m, const uint32_t *y, size_t i, size_t k) {
    return WGI_GRAPH1(m->g, fabs, y[i] - (uint32_t)((STEPS - k) * m->n));
}
static uint32_t step_of(making *m, const uint32_t *y, size_t i, size_t k) {
    const uint32_t x = y[i] - (uint32_t)((STEPS - k) * m->n);
    return WGI_GRAPH1(m->g, fabs, WGI_GRAPH2(m->g, sub, x, x - (uint32_t)m->n));
}

/* What a step of an unknown has to be below to be small: SMALL times `size`, the unknown's own
 * before the last step (after it a step to infinity would be small beside itself), and times
 * `other`, another size of it, unless that is NULL. Adds it to *sum. */
static uint32_t small_part(making *m, uint32_t size, const double *other, uint32_t *sum) {
    wgi_graph *const g = m->g;
    const uint32_t part = wgi_graph_number(g, SMALL);
    uint32_t small = WGI_GRAPH2(g, mul, part, size);
    if (other != NULL)
        small = WGI_GRAPH2(g, add, small, wgi_graph_number(g, SMALL * fabs(*other)));
    *sum = WGI_GRAPH2(g, add, *sum, small);
    return small;
}

/* A comparison at each point: is the last step of unknown i small? That it is beside the
 * recorded solution is enough only if it is no smaller than all in the second half, as where x
 * is 0 and what is left is rounding: steps that still shrink may be nothing beside that one,
 * and all of x. */
static void compare(making *m, const uint32_t *y) {
    wgi_graph *const g = m->g;
    const size_t n = m->n;
    const double *const start = m->b->operand[1].value;
    uint32_t *const near = list_of(m, n), *const far = list_of(m, n);
    uint32_t all_near = wgi_graph_number(g, 0), all_far = all_near;
    if (near == NULL || far == NULL) return;
    for (size_t i = 0; i < n; i++) {
        const uint32_t size = size_after(m, y, i, STEPS - 1);
        near[i] = small_part(m, size, NULL, &all_near);
        far[i] = small_part(m, size, &start[i], &all_far);
    }
    const uint32_t part = wgi_graph_number(g, SMALL);
    const uint32_t more_near = WGI_GRAPH2(g, mul, part, all_near);
    const uint32_t more_far = WGI_GRAPH2(g, mul, part, all_far);
    for (size_t i = 0; i < n; i++) {
        const uint32_t step = step_of(m, y, i, STEPS);
        uint32_t least = step_of(m, y, i, STEPS / 2);
        for (size_t k = STEPS / 2 + 1; k < STEPS; k++)
            least = WGI_GRAPH2(g, fmin, least, step_of(m, y, i, k));
        const uint32_t most =
            WGI_GRAPH4(g, select_lt, step, least, WGI_GRAPH2(g, add, near[i], more_near),
                       WGI_GRAPH2(g, add, far[i], more_far));
        enum { LE = 1 };
        wgi_graph_guard_add(g, step, most, LE, 1);
    }
}

/* The repeat of the body, from the recorded solution on. */
static wg_status add_repeat(making *m, const uint32_t *p, uint32_t *y) {
    wgi_graph *const g = m->g;
    const size_t n = m->n;
    const wg_argument x = {"x", n, 1, 0};
    wgi_builder_output(&m->body, "", &x, WGI_CARRIED);
    for (size_t i = 0; i < n; i++)
        wgi_builder_result(&m->body, WGI_GRAPH2(&m->body.g, sub, m->in[i], m->step[i]));
    const unsigned char *const used = wgi_builder_prune(&m->body);
    wgi_repeat *const r = wg_tape_keep(&g->c->head, sizeof *r, NULL);
    uint32_t *const operand = list_of(m, n + m->np);
    if (used == NULL || operand == NULL) return g->c->status;
    const wgi_repeat *const made = wgi_builder_repeat(&m->body, STEPS, 0);
    if (made == NULL) return g->c->status;
    *r = *made;
    r->solves = 1;
    for (size_t i = 0; i < n; i++) operand[i] = wgi_graph_number(g, m->b->operand[1].value[i]);
    for (size_t i = 0; used[1] && i < m->np; i++) operand[n + i] = p[i];
    const uint32_t node = wgi_graph_repeat(g, r, operand);
    for (size_t i = 0; i < n; i++) y[i] = node + 1 + (uint32_t)(STEPS * n + i);
    compare(m, y);
    return g->c->status;
}

wg_status wgi_implicit_flatten(wgi_graph *g, const wgi_block *b, const uint32_t *x,
                               uint32_t *y) {
    const wgi_solution *const k = b->params;
    making m = {.g = g, .b = b, .k = k, .n = k->of.n, .np = k->of.np, .e = k->of};
    wg_options options;
    memset(&options, 0, sizeof options);
    options.flags = WG_KEEP_CODE;
    options.loops_over = g->c->loops_over;
    m.in = list_of(&m, m.n + m.np);
    m.residual = list_of(&m, m.n), m.step = list_of(&m, m.n);
    m.jac = list_of(&m, m.n * m.n);
    if (g->c->status != WG_OK) return g->c->status;
    wg_status s = wgi_tape_beside(g->c, &options, &m.work);
    if (s != WG_OK)
        return wgi_fail(g->c, s, "%s: %s has no tape for its equations", g->call, b->op->name);
    s = record(&m);
    if (s == WG_OK) {
        wgi_builder_open(&m.body, g->c, g->call);
        s = add_equations(&m);
    }
    if (s == WG_OK) s = add_solve(&m);
    if (s == WG_OK) s = add_repeat(&m, x, y);
    s = explain(&m, s);
    wg_tape_free(m.work);
    return s;
}
