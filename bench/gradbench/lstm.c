/* SPDX-License-Identifier: MIT */
/* lstm.c - the loss of a diagonal long short-term memory network that predicts a sequence.
 *
 * All matrices are diagonal: a bit of a character, through all layers, depends on no other one.
 * Bits are the cells of a scan, characters its steps; the loss is made of sums over the bits of
 * each step. */
#include <stdlib.h>
#include <string.h>

#include "mapped.h"

#include "../workloads/lstm.h"
#define WG_AS_DOUBLE
#include "../workloads/lstm.h"
#undef WG_AS_DOUBLE
#include <wengert/generic.h>

enum { GATES = 4, WEIGHTS = 2 * GATES, ENDS = 3 };

struct lstm {
    wg_tape *t, *code; /* of the loss, of the function of a step */
    wg_callable *step;
    struct lstm_params p;
    size_t n;                     /* parameters */
    double *x, *state, *sequence; /* x: main parameters, then the extra ones */
    double *g, *golden, *work;    /* golden: sums of the bits of each next character */
    double loss;
};

static void release(void *job) {
    struct lstm *l = job;
    wg_tape_free(l->t);
    wg_callable_free(l->step);
    wg_tape_free(l->code);
    free(l->x);
    free(l->state);
    free(l->sequence);
    free(l->g);
    free(l->golden);
    free(l->work);
    free(l);
}

/* The arrays of the input agree in the number of layers and bits. */
static int take(struct lstm *l, const json_t *input, struct gb_error *e) {
    size_t main[] = {GB_ANY, GB_ANY};
    double *const weights = gb_numbers(input, "main_params", 2, main, e);
    if (weights == NULL) return -1;
    const size_t layers = main[0] / 2, b = main[1] / GATES;
    size_t extra[] = {ENDS, b}, state[] = {2 * layers, b}, sequence[] = {GB_ANY, b};
    double *ends = NULL;
    int failed = 0;
    if (layers == 0 || main[0] % 2 != 0)
        failed =
            gb_fail(e, "main_params: two rows per layer are wanted, not %zu in all", main[0]);
    else if (b == 0 || main[1] % GATES != 0)
        failed = gb_fail(e, "main_params: rows of four times the bits are wanted, not of %zu",
                         main[1]);
    else if ((ends = gb_numbers(input, "extra_params", 2, extra, e)) == NULL ||
             (l->state = gb_numbers(input, "state", 2, state, e)) == NULL ||
             (l->sequence = gb_numbers(input, "sequence", 2, sequence, e)) == NULL)
        failed = -1;
    else if (sequence[0] < 2)
        failed = gb_fail(e, "sequence: two characters at least are wanted");
    if (!failed) {
        const size_t inner = WEIGHTS * layers * b;
        l->n = inner + ENDS * b;
        l->p = (struct lstm_params){layers, sequence[0], b, l->state, l->sequence};
        l->x = malloc(l->n * sizeof *l->x);
        if (l->x != NULL) {
            memcpy(l->x, weights, inner * sizeof *l->x);
            memcpy(l->x + inner, ends, ENDS * b * sizeof *l->x);
        }
        l->g = malloc(l->n * sizeof *l->g);
        l->golden = calloc(l->p.chars, sizeof *l->golden);
        l->work = malloc((2 * layers + 2) * b * sizeof *l->work);
        l->t = wg_tape_new(NULL);
        l->code = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
        if (!l->x || !l->g || !l->golden || !l->work || !l->t || !l->code)
            failed = gb_fail(e, "no memory for %zu parameters", l->n);
    }
    free(weights);
    free(ends);
    return failed;
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    struct lstm *const l = calloc(1, sizeof *l);
    (void)o;
    if (l == NULL) {
        gb_fail(e, "no memory");
        return NULL;
    }
    if (take(l, input, e) == 0) return l;
    release(l);
    return NULL;
}

static int run_objective(void *job, struct gb_error *e) {
    struct lstm *l = job;
    (void)e;
    l->loss = lstm_double(NULL, &l->p, l->x, l->work);
    return 0;
}

/* ---- a step, of one bit ------------------------------------------------------------------ */

/* in: weights and biases of the layers, those of the ends, hidden and cell of the layers, this
 * character and the next. out: hidden and cell, then what the loss sums. */
static wg_status step(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *out,
                      void *data) {
    const struct lstm_params *const p = data;
    const size_t layers = p->layers;
    const wg_real *const ends = in + WEIGHTS * layers, *const state = ends + ENDS;
    const wg_real now = state[2 * layers], gold = state[2 * layers + 1];
    wg_real below = wg_let(t, wg_mul(now, ends[0]));
    (void)n, (void)m;
    for (size_t k = 0; k < layers; k++) {
        const wg_real *const weight = in + WEIGHTS * k;
        wg_real *const hidden = out + 2 * k, *const cell = hidden + 1;
        *hidden = state[2 * k];
        *cell = state[2 * k + 1];
        lstm_layer_real(t, 1, weight, weight + GATES, hidden, cell, &below);
        below = *hidden;
    }
    const wg_real top = wg_let(t, wg_add(wg_mul(below, ends[1]), ends[2]));
    out[2 * layers] = wg_let(t, wg_exp(top));
    out[2 * layers + 1] = wg_let(t, wg_mul(gold, top));
    return WG_OK;
}

static int prepare(void *job, struct gb_error *e) {
    struct lstm *l = job;
    const size_t states = 2 * l->p.layers, weights = WEIGHTS * l->p.layers + ENDS;
    const wg_argument in[] = {{"weights", weights, 1, 0},
                              {"state", states, 1, 0},
                              {"now", 1, 1, WG_PASSIVE},
                              {"gold", 1, 1, WG_PASSIVE}};
    const wg_argument out[] = {
        {"state", states, 1, 0}, {"exps", 1, 1, WG_SUMMED}, {"hits", 1, 1, WG_SUMMED}};
    double *const at = calloc(weights + states + 2, sizeof *at);
    wg_function *f = NULL;
    if (at == NULL) return gb_fail(e, "no memory for %zu layers", l->p.layers);
    if (wg_function_record(l->code, step, &l->p, 4, in, at, 3, out, &f) != WG_OK) f = NULL;
    free(at);
    l->step = gb_callable(l->code, f, e);
    return l->step ? 0 : -1;
}

/* ---- the loss ---------------------------------------------------------------------------- */

static wg_real loss(struct lstm *l, wg_mat x) {
    wg_tape *const t = l->t;
    const size_t b = l->p.bits, steps = l->p.chars - 1, states = 2 * l->p.layers;
    for (size_t i = 0; i < steps; i++) {
        l->golden[i] = 0;
        for (size_t j = 0; j < b; j++) l->golden[i] += l->sequence[(i + 1) * b + j];
    }
    const wg_source from[] = {
        wg_from_matrix(wg_mat_transpose(wg_mat_reshape(t, x, b, WEIGHTS * l->p.layers + ENDS))),
        wg_from_state("state"), wg_each_step(wg_from_data(l->sequence, 1, 1)),
        wg_each_step(wg_from_data(l->sequence + b, 1, 1))};
    const wg_state start = {"state",
                            wg_mat_constant_strided(t, states, b, l->state, (ptrdiff_t)b, 1)};
    const wg_stage stage = {l->step, from};
    const wg_scan_options o = {.cells = {b}, .sums_by_step = 1};
    wg_mat y[3];
    if (wg_scan(t, steps, 1, &stage, 1, &start, &o, y) != WG_OK) return wg_constant(0);
    const wg_mat sums = wg_mat_add(t, y[1], wg_mat_fill(t, 1, 1, 2));
    const wg_mat golden = wg_mat_constant_borrowed(t, 1, steps, l->golden, 1);
    const wg_real hits = wg_mat_sum(t, y[2]);
    const wg_real lost = wg_mat_sum(t, wg_mat_mul(t, golden, wg_mat_log(t, sums)));
    return wg_let(t, wg_div(wg_sub(lost, hits), (double)steps * (double)b));
}

static int run_jacobian(void *job, struct gb_error *e) {
    struct lstm *l = job;
    wg_tape_reset(l->t);
    const wg_mat x = wg_mat_input_borrowed(l->t, l->n, 1, l->x, l->n);
    const wg_real y = loss(l, x);
    wg_status s = wg_tape_status(l->t);
    if (s == WG_OK) s = wg_reverse(l->t, y);
    if (s == WG_OK) s = wg_mat_adjoint(l->t, x, l->g, l->n);
    return gb_status(e, s, l->t);
}

static json_t *output_loss(const void *job) {
    const struct lstm *l = job;
    return gb_array(&l->loss, 0, NULL);
}
static json_t *output_jacobian(const void *job) {
    const struct lstm *l = job;
    return gb_array(l->g, 1, &l->n);
}

const struct gb_module gb_lstm = {
    .name = "lstm",
    .read = read,
    .release = release,
    .functions = {{"objective", NULL, run_objective, output_loss},
                  {"jacobian", prepare, run_jacobian, output_jacobian}},
};
