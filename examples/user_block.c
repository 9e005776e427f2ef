/* SPDX-License-Identifier: MIT */
/* A matrix operation of your own: a convolution as a wg_block_op, checked by wg_check_op, then
 * used to find an unknown filter from a signal and what the filter made of it.
 *
 *     r(i) = sum over k of h(k) x(j), j = i + K - 1 - k;  x of n, h of K, r of n - K + 1
 *     adjoints: x_(j) += h(k) r_(i),  h_(k) += x(j) r_(i)
 *
 * The exit status is 0 when the check passes, finds the mistake of a second, wrong operation,
 * and the filter is found. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wengert.h>

/* ---- the operation: functions of one wg_block, no tape ----------------------------------- */

enum { X, H };

static wg_status shape(wg_block *b) {
    const wg_block_arg *x = &b->in[X], *h = &b->in[H];
    if (x->cols != 1 || h->cols != 1 || h->rows == 0 || x->rows < h->rows) return WG_ESHAPE;
    b->out[0].rows = x->rows - h->rows + 1;
    b->out[0].cols = 1;
    return WG_OK;
}

/* r += h * x */
static void convolve(size_t n, double *r, size_t taps, const double *h, const double *x) {
    for (size_t k = 0; k < taps; k++)
        for (size_t i = 0; i < n; i++) r[i] += h[k] * x[i + taps - 1 - k];
}

static wg_status value(wg_block *b) {
    memset(b->out[0].value, 0, b->out[0].rows * sizeof *b->out[0].value);
    convolve(b->out[0].rows, b->out[0].value, b->in[H].rows, b->in[H].value, b->in[X].value);
    return WG_OK;
}

static wg_status vjp(wg_block *b) {
    const wg_block_arg *x = &b->in[X], *h = &b->in[H];
    const double *w = b->out[0].bar;
    for (size_t k = 0; k < h->rows; k++)
        for (size_t i = 0; i < b->out[0].rows; i++) {
            const size_t j = i + h->rows - 1 - k;
            if (x->bar != NULL) x->bar[j] += h->value[k] * w[i];
            if (h->bar != NULL) h->bar[k] += x->value[j] * w[i];
        }
    return WG_OK;
}

static wg_status jvp(wg_block *b) {
    const wg_block_arg *x = &b->in[X], *h = &b->in[H];
    double *r = b->out[0].bar;
    memset(r, 0, b->out[0].rows * sizeof *r);
    if (x->bar != NULL) convolve(b->out[0].rows, r, h->rows, h->value, x->bar);
    if (h->bar != NULL) convolve(b->out[0].rows, r, h->rows, h->bar, x->value);
    return WG_OK;
}

static const wg_block_op convolution = {
    .name = "convolution", .shape = shape, .value = value, .vjp = vjp, .jvp = jvp};

/* The usual mistake: the filter not turned around on the way back. */
static wg_status wrong_vjp(wg_block *b) {
    const wg_block_arg *x = &b->in[X], *h = &b->in[H];
    for (size_t k = 0; k < h->rows; k++)
        for (size_t i = 0; i < b->out[0].rows; i++)
            if (x->bar != NULL) x->bar[i + k] += h->value[k] * b->out[0].bar[i];
    return WG_OK;
}

static const wg_block_op wrong = {
    .name = "wrong_convolution", .shape = shape, .value = value, .vjp = wrong_vjp, .jvp = jvp};

/* As users call it. */
static wg_mat convolved(wg_tape *t, wg_mat x, wg_mat h) {
    const wg_mat in[] = {x, h};
    wg_mat r = wg_mat_failed(0, 1);
    (void)wg_apply(t, &convolution, NULL, 0, 2, in, 1, &r); /* the tape keeps the status */
    return r;
}

/* ---- the unknown filter ------------------------------------------------------------------ */

enum { TAPS = 5, SIGNAL = 60, RESULT = SIGNAL - TAPS + 1 };

static const double filter[TAPS] = {0.1, -0.35, 1, 0.6, 0.15};

struct context {
    double signal[SIGNAL], seen[RESULT];
};

/* Half the squared distance between what the filter h makes of the signal and what was seen. */
static wg_status misfit(wg_tape *t, size_t n, const wg_mat *h, size_t m, wg_mat *y,
                        void *data) {
    const struct context *c = data;
    (void)n, (void)m;
    const wg_mat made = convolved(t, wg_mat_constant(t, SIGNAL, 1, c->signal, SIGNAL), h[0]);
    const wg_mat seen = wg_mat_constant(t, RESULT, 1, c->seen, RESULT);
    const wg_mat r = wg_axpy(t, -1, seen, made);
    y[0] = wg_mat_from_real(t, wg_let(t, wg_mul(0.5, wg_mat_dot(t, r, r))));
    return WG_OK;
}

int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    struct context c = {{0}, {0}};
    for (size_t i = 0; i < SIGNAL; i++) c.signal[i] = sin(0.3 * (double)(i * i) + 1);
    convolve(RESULT, c.seen, TAPS, filter, c.signal);

    const wg_mat in[] = {wg_mat_constant(t, SIGNAL, 1, c.signal, SIGNAL),
                         wg_mat_constant(t, TAPS, 1, filter, TAPS)};
    const wg_status right = wg_check_op(t, &convolution, NULL, 0, 2, in, 1);
    printf("check of %s: %s\n", convolution.name, wg_status_text(right));
    const wg_status found = wg_check_op(t, &wrong, NULL, 0, 2, in, 1);
    printf("check of %s: %s\n    %s\n", wrong.name, wg_status_text(found), wg_tape_message(t));

    double h[TAPS] = {0}, error = 0;
    const wg_mat_result unknown = {h, TAPS, 1, 0};
    const wg_minimise_options o = {.method = WG_DESCENT,
                                   .gradient = 1e-12,
                                   .descent = {.rule = WG_NESTEROV, .rate = 0.01}};
    wg_minimise_result r;
    const wg_status status = wg_mat_minimise(t, misfit, &c, 1, &unknown, &o, &r);
    if (status != WG_OK) fprintf(stderr, "%s\n", wg_tape_message(t));
    wg_tape_free(t);
    printf("filter after %zu steps (%s):", r.steps, wg_stop_text(r.why));
    for (size_t k = 0; k < TAPS; k++) {
        printf(" %.9f", h[k]);
        error = fmax(error, fabs(h[k] - filter[k]));
    }
    printf("\n");
    const int is_right = right == WG_OK && found == WG_EMISMATCH && status == WG_OK &&
                         r.converged && error <= 1e-12;
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
