/* SPDX-License-Identifier: MIT */
/* A solution as one node of a function (ops/matrix/solution.h): the steps are chosen, or the
 * systems solved, anew at each point at which the function is evaluated, and its derivatives
 * are the discrete adjoint and tangent there, which are nodes as well. All do without
 * checkpoints on a tape: an adjoint solves forward and goes back at once.
 *
 * Vectors: x is y0, p all parameters, y the columns of y and then those of r; of an empty one
 * there is a 0. What a node was made with stands with the system. */
#include "ode_solve.h"

#include "ops/matrix/solution.h"
#include "ops/matrix/whole.h"
#include "tape/function/graph/whole_node.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Behind it stand the times, and tolerances of each state. */
typedef struct wgi_ode_node_call {
    wgi_ode_object object;
    wgi_home home;
    struct wgi_ode_node_call *next;
    wgi_ode_call call;
} node_call;

/* ---- a part ---- */

/* The blocks of ode_solve.c and ode_second.c, with the arrays of a part. */
typedef struct matrices {
    wgi_ode_call *call; /* params */
    wg_block b;
    wg_block_arg arg[6];
} matrices;

static wg_block_arg matrix(size_t rows, size_t cols, double *value, double *bar) {
    return (wg_block_arg){.rows = rows,
                          .cols = cols,
                          .ld = rows != 0 ? rows : 1,
                          .bar_ld = rows != 0 ? rows : 1,
                          .value = value,
                          .bar = bar};
}

static double *array(const wg_block_arg *a) { return a != NULL ? a->value : NULL; }

/* x, p: operands and their tangents; y: results, or of the adjoint operands. of: whose arrays
 * these are; NULL: only the sizes count. */
static void set_matrices(matrices *m, const node_call *o, wgi_ode_node_part part,
                         const wg_block *of, void *work) {
    const wgi_ode_call *const call = &o->call;
    const wg_ode *const k = call->k;
    const wg_block_arg *const in = of != NULL ? of->in : NULL;
    const wg_block_arg *const out = of != NULL ? of->out : NULL;
    const int sweeps = part == WGI_ODE_PART_BACK || part == WGI_ODE_PART_SECOND;
    const wg_block_arg *const y = sweeps ? (in != NULL ? in + 2 : NULL) : out;
    const wg_block_arg *const tangent = part == WGI_ODE_PART_TANGENT && in != NULL  ? in + 2
                                        : part == WGI_ODE_PART_SECOND && in != NULL ? in + 3
                                                                                    : NULL;
    wg_block_arg *a = m->arg;
    memset(m, 0, sizeof *m);
    m->call = (wgi_ode_call *)(uintptr_t)call; /* a call without a file is only read */
    m->b.params = &m->call;
    m->b.work = work;
    m->b.in = a;
    *a++ = matrix(k->n, 1, array(in), array(tangent));
    if (k->params != 0)
        *a++ = matrix(k->params, call->columns, in != NULL ? in[1].value : NULL,
                      tangent != NULL ? tangent[1].value : NULL);
    if (!sweeps) m->b.inputs = (size_t)(a - m->arg), m->b.out = a;
    const int is_tangent = part == WGI_ODE_PART_TANGENT;
    double *const first = array(y), *const second =
                                        first != NULL ? first + k->n * call->times : NULL;
    *a++ = matrix(k->n, call->times, is_tangent ? NULL : first, is_tangent ? first : NULL);
    if (k->integrals != 0)
        *a++ = matrix(k->integrals, call->times, is_tangent ? NULL : second,
                      is_tangent ? second : NULL);
    if (!sweeps) m->b.outputs = (size_t)(a - m->b.out);
    else {
        m->b.inputs = (size_t)(a - m->arg), m->b.out = a;
        for (int i = 0; i < 1 + (k->params != 0); i++) {
            double *const to = out != NULL ? out[i].value : NULL;
            *a++ = matrix(m->arg[i].rows, m->arg[i].cols, to, to);
        }
        m->b.outputs = (size_t)(a - m->b.out);
    }
}

static size_t work(const wgi_ode_object *of, wgi_ode_node_part part) {
    const node_call *const o = (const node_call *)of;
    matrices m;
    set_matrices(&m, o, part, NULL, NULL);
    const int tangents = part == WGI_ODE_PART_TANGENT || part == WGI_ODE_PART_SECOND;
    return part == WGI_ODE_PART_BACK || part == WGI_ODE_PART_SECOND
               ? wgi_ode_swept_room(&m.b, tangents)
               : wgi_ode_alone_room(&m.b, tangents);
}

static wg_status run(const wgi_ode_object *of, wgi_ode_node_part part, wg_block *b) {
    const node_call *const o = (const node_call *)of;
    wg_ode_report report;
    matrices m;
    for (size_t i = 0; i < b->inputs; i++)
        for (size_t e = 0; e < b->in[i].rows * b->in[i].cols; e++)
            if (!(fabs(b->in[i].value[e]) <= DBL_MAX)) return WG_ENONFINITE;
    memset(&report, 0, sizeof report);
    set_matrices(&m, o, part, b, b->work);
    switch (part) {
    case WGI_ODE_PART_VALUE:
    case WGI_ODE_PART_TANGENT:
        return wgi_ode_alone(&m.b, part == WGI_ODE_PART_TANGENT, &report);
    default:
        if (o->call.k->n == 0) b->out[0].value[0] = 0;
        if (o->call.k->params == 0) b->out[1].value[0] = 0;
        return wgi_ode_swept(&m.b, part == WGI_ODE_PART_SECOND);
    }
}

/* ---- what it was made with ---- */

static int is_same(const wgi_ode_call *a, const wgi_ode_call *b) {
    return a->method == b->method && a->times == b->times && a->columns == b->columns &&
           a->stops == b->stops && a->o.rtol == b->o.rtol && a->o.atol == b->o.atol &&
           a->o.step == b->o.step && a->o.min_step == b->o.min_step &&
           a->o.max_step == b->o.max_step && a->o.max_steps == b->o.max_steps &&
           a->o.stored == b->o.stored && (a->atols == NULL) == (b->atols == NULL) &&
           memcmp(a->time, b->time, a->times * sizeof *a->time) == 0 &&
           (a->atols == NULL || memcmp(a->atols, b->atols, a->k->n * sizeof *a->atols) == 0);
}

static node_call *make(wgi_core *c, const wgi_ode_call *call) {
    const wg_ode *const k = call->k;
    const size_t numbers = call->times + (call->atols != NULL ? k->n : 0);
    wgi_home home;
    void *base;
    const wg_status s = wgi_home_obtain_beside(
        &k->home, sizeof(node_call) + numbers * sizeof(double), &home, &base);
    if (s != WG_OK) {
        (void)wgi_fail(c, s, "wg_ode_solve: no memory for a part of a function");
        return NULL;
    }
    node_call *const o = memset(base, 0, sizeof *o);
    double *const time = (double *)(void *)(o + 1);
    o->home = home;
    o->call = *call;
    o->call.progress = NULL;
    o->call.o.file = o->call.o.tag = NULL;
    o->call.o.atols = NULL;
    o->call.key = 0;
    o->call.time = memcpy(time, call->time, call->times * sizeof *time);
    if (call->atols != NULL)
        o->call.atols = memcpy(time + call->times, call->atols, k->n * sizeof *time);
    o->object = (wgi_ode_object){.n = k->n != 0 ? k->n : 1,
                                 .m = k->params != 0 ? k->params * call->columns : 1,
                                 .k = (k->n + k->integrals) * call->times,
                                 .run = run,
                                 .work = work};
    if (k->flow.event != NULL)
        o->object.lacks[WGI_ODE_PART_TANGENT] = o->object.lacks[WGI_ODE_PART_SECOND] =
            "solutions with events have no tangents in functions";
    else if (!k->second)
        o->object.lacks[WGI_ODE_PART_SECOND] = "the system was not made for second derivatives";
    return o;
}

/* Adds to the list, which others may add to. */
static const node_call *keep(wgi_core *c, const wgi_ode_call *call) {
    wg_ode *const k = (wg_ode *)(uintptr_t)call->k;
    node_call *first = atomic_load(&k->node_calls);
    for (const node_call *o = first; o != NULL; o = o->next)
        if (is_same(&o->call, call)) return o;
    node_call *const o = make(c, call);
    if (o == NULL) return NULL;
    do o->next = first;
    while (!atomic_compare_exchange_weak(&k->node_calls, &first, o));
    return o;
}

void wgi_ode_nodes_free(const wg_ode *k) {
    for (node_call *o = atomic_load(&((wg_ode *)(uintptr_t)k)->node_calls), *next; o != NULL;
         o = next) {
        next = o->next;
        wgi_home_release(&o->home, o);
    }
}

void wgi_ode_add_node(wgi_graph *g, const wgi_ode_call *call, const uint32_t *x, uint32_t *y) {
    const wg_ode *const k = call->k;
    const node_call *const o = k->n + k->integrals != 0 ? keep(g->c, call) : NULL;
    if (o == NULL) return;
    const wgi_whole_op op = {&wgi_whole_ode_value, {o->object.m, o->object.n, o->object.k}};
    const size_t params = k->params != 0 ? o->object.m : 0;
    uint32_t *const all =
        wg_tape_keep(&g->c->head, (o->object.n + o->object.m + 1) * sizeof *all, NULL);
    double number;
    memcpy(&number, &o, sizeof number);
    if (all == NULL) return;
    all[0] = all[o->object.n] = wgi_graph_number(g, 0);
    memcpy(all, x, k->n * sizeof *all);
    memcpy(all + o->object.n, x + k->n, params * sizeof *all);
    all[o->object.n + o->object.m] = wgi_graph_number(g, number);
    const uint32_t node = wgi_graph_whole_op(g, &op, all);
    for (size_t e = 0; e < o->object.k; e++) y[e] = node + 1 + (uint32_t)e;
}
