/* SPDX-License-Identifier: MIT */
/* An auto-encoder: signals of 16 samples squeezed through a code of 3 numbers and restored.
 *
 *     code = tanh(E x),  restored = D code,  loss = mean squared distance of x and restored
 *
 * Trained by every rule of optimiser.h. What is restored lies in the span of 3 vectors, and how
 * near that can come to the signals is known from their singular values (Eckart, Young 1936).
 * The exit status is 0 when every rule comes within 5 % of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

#include "optimiser.h"
#include "training.h"

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

static int loss(void *ctx, size_t n, const double *parameters, double *value, double *g) {
    const struct context *c = ctx;
    wg_tape *t = c->tape;
    struct parameters p = parameters_begin(t, n, parameters);
    const wg_mat encoder = parameters_take(&p, CODE, SAMPLES);
    const wg_mat decoder = parameters_take(&p, SAMPLES, CODE);
    const wg_mat x = wg_mat_constant(t, SAMPLES, SIGNALS, c->signal, SAMPLES);
    const wg_mat code = wg_mat_tanh(t, wg_matmul(t, encoder, x));
    const wg_mat error = wg_gemm(t, 'N', 'N', 1, decoder, code, -1, x);
    const wg_real sum = wg_mat_dot(t, error, error);
    return parameters_gradient(&p, wg_let(t, wg_div(sum, SIGNALS)), value, g);
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
    static const double rate[OPT_RULE_COUNT] = {0.1, 0.02, 0.02, 0.01, 0.02, 0.1, 0};
    struct context c = {.tape = wg_tape_new(NULL)};
    if (c.tape == NULL) return EXIT_FAILURE;
    for (size_t j = 0; j < SIGNALS; j++)
        for (size_t i = 0; i < SAMPLES; i++) c.signal[i + j * SAMPLES] = bump(i, j);
    const double least = least_loss(&c);
    int all = least > 0;

    printf("%-17s %6s %6s %12s %12s\n", "rule", "rate", "steps", "loss", "|gradient|");
    for (int rule = 0; rule < OPT_RULE_COUNT; rule++) {
        if (rule == OPT_LBFGS && !opt_has_lbfgs()) continue;
        double x[PARAMETERS];
        uint64_t state = 1;
        for (size_t i = 0; i < PARAMETERS; i++) x[i] = 0.3 * random_normal(&state);
        struct opt_options o = {.rule = (opt_rule)rule, .limit = 3000, .tolerance = 1e-5};
        o.rate = rate[rule];
        o.schedule = OPT_COSINE;
        o.clip_norm = 1;
        struct opt_result r = {0};
        const opt_status status = opt_minimise(loss, &c, PARAMETERS, x, &o, &r);
        const int is_near =
            status <= OPT_STALLED && r.value > least * (1 - 1e-12) && r.value < 1.05 * least;
        printf("%-17s %6g %6zu %12.6f %12.1e  %s\n", opt_rule_text((opt_rule)rule), rate[rule],
               r.steps, r.value, r.slope,
               is_near ? opt_status_text(status) : "NOT NEAR THE LEAST");
        all &= is_near;
    }
    if (!opt_has_lbfgs())
        printf("%s: %s\n", opt_rule_text(OPT_LBFGS), opt_status_text(OPT_EABSENT));
    printf("the least there can be with %d numbers: %.6f\n", (int)CODE, least);
    wg_tape_free(c.tape);
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
