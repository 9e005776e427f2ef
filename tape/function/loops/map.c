/* SPDX-License-Identifier: MIT */
/* A function in a recording, at one point (wg_call) or at many (wg_map): a block operation
 * whose value, vjp and jvp each take one road, with the stations of evaluate.c: some points at
 * a time are loaded, a function is evaluated there, and its results are stored.
 *
 * Results go where they belong by themselves. What goes through workspace is filled by
 * callbacks, or has to be added to what is there: adjoints, and sums over blocks of points. */
#include "flatten_call.h"
#include "map.h"
#include "tape/function/run/bytecode.h"

#include <string.h>

/* The operand that input i is; NULL: it is none, but data or filled by a callback. */
static wg_block_arg *operand_of(const wg_block *b, const wgi_map *m, size_t i) {
    return m->feed[i].kind == WGI_FROM_MATRIX ? &b->in[m->feed[i].operand] : NULL;
}

static int filled(const wgi_map *m, size_t i) { return m->feed[i].kind == WGI_FROM_FILL; }

/* ---- workspace -------------------------------------------------------------------------- */

typedef struct run {
    wg_block *b;
    const wgi_map *m;
    char *why;
    wg_points *x;
    wg_results *y;
    double **copy;    /* of each input without strides, or filled by a callback */
    double **tangent; /* of each input, where it has no strides */
    double **adjoint, **sum;
    size_t block; /* points at a time */
    int bar;      /* results are tangents, not values */
    void *work;   /* workspace of the evaluation */
} run;

/* How many numbers per point may go through workspace. */
static size_t staged(const wgi_map *m) {
    size_t n = 0;
    for (size_t i = 0; i < m->k->f->inputs; i++) {
        const wg_argument *const a = &m->k->f->input[i];
        if (!wgi_argument_shared(a) && (filled(m, i) || wgi_argument_active(a)))
            n += wgi_argument_size(a);
    }
    return n;
}

/* STAGE: how many numbers are in workspace at a time, in blocks of LEAST to MOST points. It
 * does not depend on the number of threads, nor do the sums. */
enum { STAGE = 1 << 17, LEAST = 1 << 12, MOST = 1 << 14 };

static size_t block_of(const wgi_map *m) {
    const size_t n = staged(m);
    if (n == 0 || !m->k->parts) return m->points;
    size_t block = STAGE / n / 64 * 64;
    if (block < LEAST) block = LEAST;
    if (block > MOST) block = MOST;
    return block < m->points ? block : m->points;
}

/* Prepares: cuts the workspace and gives its size; with base NULL it only counts. */
static size_t lay_out(run *r, const wgi_map *m, void *base) {
    wgi_pieces p = {(char *)base, 0};
    const wg_function *const f = m->k->f;
    const size_t in = f->inputs, out = f->outputs;
    r->m = m;
    r->block = block_of(m);
    r->why = wgi_pieces_take(&p, WGI_WHY);
    r->x = wgi_pieces_take(&p, m->k->inputs_most * sizeof *r->x);
    r->y = wgi_pieces_take(&p, m->k->outputs_most * sizeof *r->y);
    double **const pointers = wgi_pieces_take(&p, (3 * in + out) * sizeof *pointers);
    if (base != NULL) {
        r->copy = pointers, r->tangent = pointers + in;
        r->adjoint = pointers + 2 * in, r->sum = pointers + 3 * in;
    }
    for (size_t i = 0; i < in; i++) {
        const wg_argument *const a = &f->input[i];
        const size_t points = wgi_argument_shared(a) ? 1 : r->block,
                     entries = wgi_argument_size(a);
        const int one = wgi_argument_shared(a) || m->points == 1; /* perhaps without strides */
        double *const copy = wgi_pieces_doubles(&p, filled(m, i) || one ? points * entries : 0);
        double *const tangent =
            wgi_pieces_doubles(&p, wgi_argument_active(a) && one ? entries : 0);
        double *const adjoint =
            wgi_pieces_doubles(&p, wgi_argument_active(a) ? points * entries : 0);
        if (base != NULL) r->copy[i] = copy, r->tangent[i] = tangent, r->adjoint[i] = adjoint;
    }
    for (size_t k = 0; k < out; k++) {
        double *const sum = wgi_pieces_doubles(
            &p, wgi_argument_summed(&f->output[k]) ? wgi_argument_size(&f->output[k]) : 0);
        if (base != NULL) r->sum[k] = sum;
    }
    r->work = wgi_pieces_take(&p, wgi_callable_work(m->k, m->threads));
    return p.used;
}

/* ---- the road of all three --------------------------------------------------------------- */

/* Where the inputs stand at point 0. */
static void values(const run *r) {
    const wg_function *const f = r->m->k->f;
    for (size_t i = 0; i < f->inputs; i++) {
        const wg_block_arg *const a = operand_of(r->b, r->m, i);
        const size_t entries = wgi_argument_size(&f->input[i]);
        if (a != NULL) r->x[i] = wgi_points_in(a, entries, 0, r->copy[i]);
        else if (filled(r->m, i)) r->x[i] = (wg_points){r->copy[i], (ptrdiff_t)entries, 1};
        else r->x[i] = r->m->feed[i].data;
    }
}

/* Loads what callbacks fill. */
static wg_status load(const run *r, size_t first, size_t points) {
    const wg_function *const f = r->m->k->f;
    for (size_t i = 0; i < f->inputs; i++) {
        if (!filled(r->m, i) || (wgi_argument_shared(&f->input[i]) && first != 0)) continue;
        const size_t count = wgi_argument_shared(&f->input[i]) ? 1 : points;
        const wgi_feed *const from = &r->m->feed[i];
        if (count == 0) continue;
        const wg_status s = from->fill(first, count, r->copy[i], from->user);
        if (s == WG_OK) continue;
        wgi_why(r->b, r->why, "the callback of input %zu (%s) returned %s", i, f->input[i].name,
                wg_status_text(s));
        return s;
    }
    return WG_OK;
}

static wg_status evaluate(const run *r, const wg_function *f, size_t first, size_t points) {
    wg_function_guard guard = {0, 0};
    const wg_status s =
        wgi_function_evaluate(f, points, r->x, r->y, r->m->threads, r->work, &guard,
                              wgi_progress_points(r->m->progress, first, r->m->points));
    if (s == WG_EGUARD && r->m->is_call)
        wgi_why(r->b, r->why, "guard %zu came out differently", guard.guard);
    else if (s == WG_EGUARD)
        wgi_why(r->b, r->why, "guard %zu came out differently at point %zu", guard.guard,
                first + guard.point);
    return s;
}

/* Goes on to the inputs of the next block. */
static void advance(const run *r, const wg_function *fn, size_t points) {
    const wg_function *const f = r->m->k->f;
    for (size_t i = 0; i < fn->inputs; i++)
        if (!wgi_argument_shared(&fn->input[i]) && r->x[i].data != NULL &&
            (i >= f->inputs || !filled(r->m, i)))
            r->x[i].data += (ptrdiff_t)points * r->x[i].point;
}

/* Says where the results of a block go, which begins at point `first`; NULL: it is said before.
 */
typedef void aim(const run *r, const wg_function *fn, size_t first);
/* Stores what a block has left in workspace. */
typedef void store(const run *r, const wg_function *fn, size_t first, size_t points);

/* fn, the function itself or one of its derivatives, at all points, `block` at a time. */
static wg_status each_block(const run *r, const wg_function *fn, size_t block, aim *where,
                            store *what) {
    size_t first = 0;
    wgi_progress_begin(r->m->progress);
    do {
        const size_t left = r->m->points - first, points = block < left ? block : left;
        wg_status s = load(r, first, points);
        if (where != NULL) where(r, fn, first);
        if (s == WG_OK) s = evaluate(r, fn, first, points);
        if (s != WG_OK) return s;
        what(r, fn, first, points);
        advance(r, fn, points);
        first += points;
    } while (first < r->m->points);
    return WG_OK;
}

/* ---- value and tangent ------------------------------------------------------------------ */

static double *result_of(const run *r, size_t k) {
    return r->bar ? r->b->out[k].bar : r->b->out[k].value;
}

/* Sums over later blocks go to workspace first. */
static void aim_results(const run *r, const wg_function *fn, size_t first) {
    for (size_t k = 0; k < fn->outputs; k++) {
        const size_t entries = wgi_argument_size(&fn->output[k]);
        double *const to = result_of(r, k);
        if (!wgi_argument_summed(&fn->output[k]))
            r->y[k] = (wg_results){to + first * entries, (ptrdiff_t)entries, 1};
        else r->y[k] = (wg_results){first == 0 ? to : r->sum[k], 0, 1};
    }
}

static void store_sums(const run *r, const wg_function *fn, size_t first, size_t points) {
    (void)points;
    for (size_t k = 0; k < fn->outputs && first != 0; k++) {
        double *const to = result_of(r, k);
        if (!wgi_argument_summed(&fn->output[k])) continue;
        for (size_t e = 0; e < wgi_argument_size(&fn->output[k]); e++) to[e] += r->sum[k][e];
    }
}

/* Points are done in blocks only where callbacks fill workspace. */
static wg_status results(run *r, const wg_function *fn, int bar) {
    int any = 0;
    for (size_t i = 0; i < r->m->k->f->inputs; i++) any |= filled(r->m, i);
    r->bar = bar;
    return each_block(r, fn, any ? r->block : r->m->points, aim_results, store_sums);
}

static wg_status value(wg_block *b) {
    run r = {.b = b};
    (void)lay_out(&r, b->params, b->work);
    values(&r);
    return results(&r, r.m->k->f, 0);
}

static wg_status jvp(wg_block *b) {
    run r = {.b = b};
    (void)lay_out(&r, b->params, b->work);
    const wg_function *const f = r.m->k->f;
    values(&r);
    for (size_t i = 0, at = f->inputs; i < f->inputs; i++) {
        if (!wgi_argument_active(&f->input[i])) continue;
        const wg_block_arg *const a = operand_of(b, r.m, i);
        const wg_points none = {NULL, 0, 0};
        r.x[at++] = a == NULL
                        ? none
                        : wgi_points_in(a, wgi_argument_size(&f->input[i]), 1, r.tangent[i]);
    }
    return results(&r, r.m->k->jvp, 1);
}

/* ---- adjoint ---------------------------------------------------------------------------- */

/* The operand that input i is, if its adjoint is wanted; or NULL. */
static wg_block_arg *wanted(const run *r, size_t i) {
    if (!wgi_argument_active(&r->m->k->f->input[i])) return NULL;
    wg_block_arg *const a = operand_of(r->b, r->m, i);
    return a != NULL && a->bar != NULL ? a : NULL;
}

/* Workspace for the adjoint of input i at the points of a block. */
static wg_results stage_of(const run *r, size_t i, const wg_block_arg *a) {
    const wg_argument *const x = &r->m->k->f->input[i];
    const size_t entries = wgi_argument_size(x);
    if (wgi_argument_shared(x)) return (wg_results){r->adjoint[i], (ptrdiff_t)entries, 1};
    return wgi_adjoint_room(a, entries, r->block, r->adjoint[i]);
}

static void store_adjoints(const run *r, const wg_function *fn, size_t first, size_t points) {
    (void)fn;
    const wg_function *const f = r->m->k->f;
    for (size_t i = 0, at = 0; i < f->inputs; i++) {
        if (!wgi_argument_active(&f->input[i])) continue;
        const wg_results from = r->y[at++];
        const int shared = wgi_argument_shared(&f->input[i]);
        if (from.data != NULL)
            wgi_adjoint_add(wanted(r, i), wgi_argument_size(&f->input[i]), shared ? 0 : first,
                            shared ? 1 : points, from);
    }
}

static wg_status vjp(wg_block *b) {
    run r = {.b = b};
    (void)lay_out(&r, b->params, b->work);
    const wg_function *const f = r.m->k->f, *const fn = r.m->k->vjp;
    values(&r);
    for (size_t k = 0; k < f->outputs; k++)
        r.x[f->inputs + k] =
            (wg_points){b->out[k].bar, (ptrdiff_t)wgi_argument_size(&f->output[k]), 1};
    for (size_t i = 0, at = 0; i < f->inputs; i++) {
        if (!wgi_argument_active(&f->input[i])) continue;
        const wg_block_arg *const a = wanted(&r, i);
        r.y[at++] = a == NULL ? (wg_results){NULL, 0, 0} : stage_of(&r, i, a);
    }
    return each_block(&r, fn, r.block, NULL, store_adjoints);
}

/* ---- the operations --------------------------------------------------------------------- */

static wg_status shape(wg_block *b) {
    const wgi_map *const m = b->params;
    const wg_function *const f = m->k->f;
    for (size_t k = 0; k < f->outputs; k++) {
        const wg_argument *const y = &f->output[k];
        const int own = wgi_argument_summed(y) || m->is_call;
        b->out[k].rows = own ? y->rows : wgi_argument_size(y);
        b->out[k].cols = own ? y->cols : m->points;
    }
    run r;
    b->work_bytes = lay_out(&r, m, NULL);
    return WG_OK;
}

static void by_point(const wgi_block *b, wgi_by_point *p) {
    const wgi_map *const m = b->params;
    const wg_function *const f = m->k->f;
    p->points = m->points;
    for (size_t i = 0; i < f->inputs; i++) {
        const wg_argument *const a = &f->input[i];
        if (m->feed[i].kind != WGI_FROM_MATRIX) continue;
        const uint32_t operand = m->feed[i].operand;
        p->in[operand] = wgi_argument_shared(a) ? 0 : wgi_argument_size(a);
        if (!wgi_argument_active(a)) p->passive |= 1u << operand;
    }
}

static const wgi_traits call_traits = {.sets = wgi_sets_of_map,
                                       .curves = wgi_curves_of_call,
                                       .hash = wgi_hash_of_map,
                                       .flatten = wgi_flatten_map};
static const wgi_traits map_traits = {.by_point = by_point,
                                      .sets = wgi_sets_of_map,
                                      .hash = wgi_hash_of_map,
                                      .flatten = wgi_flatten_map};

const wg_block_op wgi_op_call = {.name = "wg_call",
                                 .flags = WG_OP_TRANS,
                                 .shape = shape,
                                 .value = value,
                                 .vjp = vjp,
                                 .jvp = jvp,
                                 .traits = &call_traits};
const wg_block_op wgi_op_map = {.name = "wg_map",
                                .flags = WG_OP_TRANS,
                                .shape = shape,
                                .value = value,
                                .vjp = vjp,
                                .jvp = jvp,
                                .traits = &map_traits};

/* ---- calls ------------------------------------------------------------------------------ */

static wg_status misfit(wgi_core *c, const char *call, size_t i, const wg_argument *a,
                        size_t points, const wg_mat *x) {
    if (wgi_argument_shared(a) || points == 1)
        return wgi_fail(c, WG_ESHAPE, "%s: input %zu (%s) is %zux%zu, not %zux%zu", call, i,
                        a->name, x->rows, x->cols, a->rows, a->cols);
    return wgi_fail(c, WG_ESHAPE, "%s: input %zu (%s) is %zux%zu, not %zux%zu", call, i,
                    a->name, x->rows, x->cols, wgi_argument_size(a), points);
}

static int fits(const wg_argument *a, size_t points, const wg_mat *x) {
    if (wgi_argument_shared(a)) return x->rows == a->rows && x->cols == a->cols;
    return wgi_points_fit(a, points, x->rows, x->cols);
}

/* The status of the tape, or the failure of missing a callable, its inputs or its results. */
static wg_status begin(wg_tape *t, const char *call, const wg_callable *k, const void *x,
                       const wg_mat *y) {
    const wg_function *const f = wg_callable_function(k);
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (f == NULL) return wgi_fail(c, WG_ENULL, "%s: the callable is NULL", call);
    if (x == NULL && f->inputs != 0)
        return wgi_fail(c, WG_ENULL, "%s: the %zu inputs are NULL", call, f->inputs);
    if (y == NULL && f->outputs != 0)
        return wgi_fail(c, WG_ENULL, "%s: the %zu results are NULL", call, f->outputs);
    return WG_OK;
}

/* Results become failed matrices only now: they may be stored where operands are. */
static wg_status failed(const wg_callable *k, wg_status s, wg_mat *y) {
    wgi_results_fail(k == NULL ? 0 : k->f->outputs, y);
    return s;
}

wg_status wg_call(wg_tape *t, const wg_callable *k, const wg_mat *x, wg_mat *y) {
    wg_status s = begin(t, "wg_call", k, x, y);
    for (size_t i = 0; s == WG_OK && i < k->f->inputs; i++)
        if (x[i].rows != k->f->input[i].rows || x[i].cols != k->f->input[i].cols)
            s = misfit(wgi_core_of(t), "wg_call", i, &k->f->input[i], 1, &x[i]);
    if (s != WG_OK) return failed(k, s, y);
    const wgi_map m = {k, 1, NULL, k->feed, 1, wgi_progress_of(wgi_core_of(t))};
    return wg_apply(t, &wgi_op_call, &m, sizeof m, k->f->inputs, x, k->f->outputs, y);
}

/* One source as a feed, and its matrix among the operands. */
static wg_status take(wgi_core *c, size_t i, const wg_argument *a, size_t points,
                      const wg_source *x, wgi_feed *to, wg_mat *in, uint32_t *operands) {
    const size_t numbers = wgi_argument_size(a) * (wgi_argument_shared(a) ? 1 : points);
    *to = (wgi_feed){.kind = x->kind,
                     .operand = *operands,
                     .data = x->data,
                     .fill = x->fill,
                     .user = x->user};
    if (x->each_step || x->kind > WGI_FROM_FILL)
        return wgi_fail(c, WG_EARG, "wg_map: input %zu (%s) has a source for wg_scan", i,
                        a->name);
    if (x->kind == WGI_FROM_DATA && x->data.data == NULL && numbers != 0)
        return wgi_fail(c, WG_ENULL, "wg_map: the data of input %zu (%s) are NULL", i, a->name);
    if (x->kind == WGI_FROM_FILL && x->fill == NULL)
        return wgi_fail(c, WG_ENULL, "wg_map: the callback of input %zu (%s) is NULL", i,
                        a->name);
    if (x->kind != WGI_FROM_MATRIX) return WG_OK;
    if (!fits(a, points, &x->matrix)) return misfit(c, "wg_map", i, a, points, &x->matrix);
    if (*operands == WGI_MAX_ARGS)
        return wgi_fail(c, WG_EARG, "wg_map: input %zu (%s) is one matrix too many for %d", i,
                        a->name, WGI_MAX_ARGS);
    in[(*operands)++] = x->matrix;
    return WG_OK;
}

wg_status wg_map(wg_tape *t, const wg_callable *k, size_t points, const wg_source *x,
                 wg_threads *threads, wg_mat *y) {
    wg_status s = begin(t, "wg_map", k, x, y);
    if (s == WG_OK && !k->parts && points > SIZE_MAX / 64 / (k->f->n + 1))
        s = wgi_fail(wgi_core_of(t), WG_ENOMEM, "wg_map: %zu points at once", points);
    if (s != WG_OK) return failed(k, s, y);
    const wg_function *const f = k->f;
    wgi_feed *const feeds = wg_tape_keep(t, (f->inputs + 1) * sizeof *feeds, NULL);
    if (feeds == NULL) return failed(k, wg_tape_status(t), y);
    wg_mat in[WGI_MAX_ARGS];
    uint32_t operands = 0;
    for (size_t i = 0; i < f->inputs && s == WG_OK; i++)
        s = take(wgi_core_of(t), i, &f->input[i], points, &x[i], &feeds[i], in, &operands);
    if (s != WG_OK) return failed(k, s, y);
    const wgi_map m = {k, points, threads, feeds, 0, wgi_progress_of(wgi_core_of(t))};
    return wg_apply(t, &wgi_op_map, &m, sizeof m, operands, in, f->outputs, y);
}
