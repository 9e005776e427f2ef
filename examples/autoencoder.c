/* SPDX-License-Identifier: MIT */
/* An auto-encoder: signals of 16 samples squeezed through a code of 3 numbers and restored.
 *
 *     code = tanh(E x),  restored = D code,  loss = mean squared distance of x and restored
 *
 * Trained by every rule of descent and by L-BFGS. What is restored lies in the span of 3
 * vectors, and how near that can come to the signals is known from their singular values
 * (Eckart, Young 1936). The exit status is 0 when every rule comes within 5 % of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

#include "random_numbers.h"

enum { SAMPLES = 16, SIGNALS = 60, CODE = 3, PARAMETERS = 2 * CODE * SAMPLES };

struct context {
    wg_tape *tape;
    double signal[SAMPLES * SIGNALS]; /* a column each */
};

/* A bump: its place is all that distinguishes one signal from another. */
static double bump(size_t sample, size_t signal) {
    const double place = 3 + 9 * (double)signal / (SIGNALS - 1);
    return exp(-0.5 * pow(((double)sample - place) / 2.5, 2));
}

static wg_status loss(wg_tape *t, size_t n, const wg_mat *in, size_t m, wg_mat *y, void *data) {
    const struct context *c = data;
    const wg_mat encoder = in[0], decoder = in[1];
    (void)n, (void)m;
    const wg_mat x = wg_mat_constant(t, SAMPLES, SIGNALS, c->signal, SAMPLES);
    const wg_mat code = wg_mat_tanh(t, wg_matmul(t, encoder, x));
    const wg_mat error = wg_gemm(t, 'N', 'N', 1, decoder, code, -1, x);
    const wg_real sum = wg_mat_dot(t, error, error);
    y[0] = wg_mat_from_real(t, wg_let(t, wg_div(sum, SIGNALS)));
    return WG_OK;
}

/* The smallest loss there can be: what is left when the first CODE singular values are kept. */
static double least_loss(const struct context *c) {
    wg_tape_reset(c->tape);
    const wg_mat x = wg_mat_constant(c->tape, SAMPLES, SIGNALS, c->signal, SAMPLES);
    const wg_mat s = wg_svdvals(c->tape, x);
    double sum = 0;
    for (size_t i = CODE; i < SAMPLES; i++) sum += pow(wg_value(wg_mat_at(s, i, 0)), 2);
    return sum / SIGNALS;
}

int main(void) {
    static const double rate[WG_RULE_COUNT] = {0.1, 0.02, 0.02, 0.01, 0.02, 0.1};
    struct context c = {.tape = wg_tape_new(NULL)};
    if (c.tape == NULL) return EXIT_FAILURE;
    for (size_t j = 0; j < SIGNALS; j++)
        for (size_t i = 0; i < SAMPLES; i++) c.signal[i + j * SAMPLES] = bump(i, j);
    const double least = least_loss(&c);
    int all = least > 0;

    printf("%-17s %6s %6s %12s %12s\n", "rule", "rate", "steps", "loss", "|gradient|");
    for (int k = 0; k <= WG_RULE_COUNT; k++) {
        const int descends = k < WG_RULE_COUNT;
        double x[PARAMETERS];
        uint64_t state = 1;
        for (size_t i = 0; i < PARAMETERS; i++) x[i] = 0.3 * random_normal(&state);
        const wg_mat_result parameters[] = {{x, CODE, SAMPLES, 0},
                                            {x + CODE * SAMPLES, SAMPLES, CODE, 0}};
        wg_minimise_options o = {.limit = 3000, .gradient = 1e-5};
        if (descends) {
            o.method = WG_DESCENT;
            o.descent = (wg_descent){.rule = (wg_rule)k, .rate = rate[k], .clip_norm = 1};
            o.descent.schedule = WG_RATE_COSINE;
        }
        wg_minimise_result r;
        const wg_status status = wg_mat_minimise(c.tape, loss, &c, 2, parameters, &o, &r);
        const int is_near =
            status == WG_OK && r.value > least * (1 - 1e-12) && r.value < 1.05 * least;
        printf("%-17s %6g %6zu %12.6f %12.1e  %s\n",
               descends ? wg_rule_text((wg_rule)k) : wg_method_text(o.method),
               descends ? rate[k] : 0, r.steps, r.value, r.gradient,
               is_near ? wg_stop_text(r.why) : "NOT NEAR THE LEAST");
        all &= is_near;
    }
    printf("the least there can be with %d numbers: %.6f\n", (int)CODE, least);
    wg_tape_free(c.tape);
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
