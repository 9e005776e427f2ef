/* SPDX-License-Identifier: MIT */
/* Minimisation by gradients: six rules of descent, and L-BFGS where liblbfgs is installed
 * (Debian: liblbfgs-dev).
 *
 * Reusable: knows nothing of tapes or of problems. The function may be a different one at every
 * call (batches of data): only L-BFGS minds.
 * Letters: x the variables, g the gradient, r the rate; v, m, s what a rule remembers, at first
 * 0.
 * Sources: Polyak 1964 (momentum); Sutskever et al. 2013 (Nesterov); Hinton 2012 (RMSProp);
 * Kingma, Ba 2015 (Adam); Duchi, Hazan, Singer 2011 (Adagrad); Liu, Nocedal 1989 (L-BFGS);
 * Loshchilov, Hutter 2017 (cosine). */
#ifndef OPTIMISER_H
#define OPTIMISER_H

#include <stddef.h>

/* What a step does:
 *   gradient descent  x -= r g
 *   momentum          v = momentum v - r g;  x += v
 *   Nesterov          v = momentum v - r g;  x += momentum v - r g: x is the point looked ahead
 * to RMSProp           s = beta2 s + (1 - beta2) g^2;  x -= r g / (sqrt s + small) Adam the
 * same with m = beta1 m + (1 - beta1) g for g; m and s unbiased Adagrad           s += g^2;  x
 * -= r g / (sqrt s + small) L-BFGS            that of liblbfgs, with its line search: has its
 * own rate, does not clip */
#define OPT_RULE_LIST(X)                                                                       \
    X(DESCENT, "gradient descent")                                                             \
    X(MOMENTUM, "momentum")                                                                    \
    X(NESTEROV, "Nesterov")                                                                    \
    X(RMSPROP, "RMSProp")                                                                      \
    X(ADAM, "Adam")                                                                            \
    X(ADAGRAD, "Adagrad")                                                                      \
    X(LBFGS, "L-BFGS")

/* The rate of step k, relative to that of step 0:
 *   constant     1
 *   steps        decay^floor(k / period)
 *   exponential  decay^(k / period)
 *   cosine       (1 + cos(pi k / period)) / 2, then 0 */
#define OPT_SCHEDULE_LIST(X) X(CONSTANT) X(STEPS) X(EXPONENTIAL) X(COSINE)

#define OPT_STATUS_LIST(X)                                                                     \
    X(CONVERGED, "converged")                                                                  \
    X(LIMIT, "iteration limit")                                                                \
    X(STOPPED, "stopped by the progress function")                                             \
    X(STALLED, "stalled: the line search finds no lower value")                                \
    X(EARG, "an option is out of its range")                                                   \
    X(ENOMEM, "out of memory")                                                                 \
    X(ECALLBACK, "the function gave up")                                                       \
    X(ENONFINITE, "the value or the gradient is not finite")                                   \
    X(EABSENT, "built without liblbfgs (apt-get install liblbfgs-dev)")

#define OPT_RULE_ENUM(name, text) OPT_##name,
#define OPT_SCHEDULE_ENUM(name) OPT_##name,
#define OPT_STATUS_ENUM(name, text) OPT_##name,
typedef enum opt_rule { OPT_RULE_LIST(OPT_RULE_ENUM) OPT_RULE_COUNT } opt_rule;
typedef enum opt_schedule {
    OPT_SCHEDULE_LIST(OPT_SCHEDULE_ENUM) OPT_SCHEDULE_COUNT
} opt_schedule;
typedef enum opt_status { OPT_STATUS_LIST(OPT_STATUS_ENUM) OPT_STATUS_COUNT } opt_status;
#undef OPT_RULE_ENUM
#undef OPT_SCHEDULE_ENUM
#undef OPT_STATUS_ENUM

/* opt_function - the value at x (n) and the gradient g. Returns 0, or nonzero to give up. */
typedef int opt_function(void *ctx, size_t n, const double *x, double *value, double *g);

/* One entry of the history: step 0 is the start. */
struct opt_step {
    size_t step;
    double value, slope; /* the function, and the norm of its gradient before clipping */
    double rate;         /* of the step that leads away from here; L-BFGS: that led here */
};

/* opt_progress - sees every step as it is taken. Returns 0, or nonzero to stop. */
typedef int opt_progress(void *ctx, const struct opt_step *s, size_t n, const double *x);

/* opt_print - an opt_progress that prints steps 0, 1, 2, 5, 10, 20, 50, ..., one line each;
 * ctx: where to, a FILE *. */
int opt_print(void *file, const struct opt_step *s, size_t n, const double *x);

/* Zeros: the defaults. */
struct opt_options {
    opt_rule rule;
    size_t limit;             /* steps; 0: 1000 */
    double tolerance;         /* converged when the norm of the gradient is at most this */
    double rate;              /* at first; 0: 0.01 */
    opt_schedule schedule;    /* and later */
    double decay;             /* 0: 0.5 */
    size_t period;            /* steps; 0: the limit */
    double momentum;          /* 0: 0.9 */
    double beta1, beta2;      /* memory; 0: 0.9, and 0.999 (Adam), 0.9 (RMSProp) */
    double small;             /* 0: 1e-8 */
    double clip_value;        /* no element of the gradient is taken for larger; 0: as it is */
    double clip_norm;         /* the gradient is not taken for longer; 0: as long as it is */
    struct opt_step *history; /* limit + 1 entries, or NULL */
    opt_progress *progress;   /* or NULL */
    void *progress_ctx;
};

struct opt_result {
    size_t steps; /* entries of the history: steps + 1 */
    size_t evaluations;
    double value, slope; /* where it ended */
};

/* opt_minimise - a local minimum of f near x, which is overwritten.
 * Shapes: x n. NULL options, result: the defaults, not wanted.
 * Cost:   a value with gradient per step (L-BFGS: one or more); memory of at most 3 n.
 * Status: the first four leave a usable x and result. */
opt_status opt_minimise(opt_function *f, void *ctx, size_t n, double *x,
                        const struct opt_options *o, struct opt_result *result);

/* opt_rate - the rate at a step. */
double opt_rate(const struct opt_options *o, size_t step);

/* The texts of the lists above; never NULL. */
const char *opt_rule_text(opt_rule r);
const char *opt_status_text(opt_status s);

/* Was liblbfgs there? */
int opt_has_lbfgs(void);

#endif
