/* SPDX-License-Identifier: MIT */
#include "optimiser.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<lbfgs.h>)
#define HAVE_LBFGS 1
#include <lbfgs.h>
#endif
#endif

static const double pi = 3.14159265358979323846;

/* A search under way. */
struct search {
    const struct opt_options *o; /* with the defaults filled in */
    opt_function *f;
    void *ctx;
    size_t n;
    double *x, *g, *v, *s; /* v: velocity, or Adam's m; g is clipped in place */
    struct opt_result result;
};

/* ---- what the rules have in common ------------------------------------------------------- */

static double norm(size_t n, const double *g) {
    double scale = 0, sum = 0; /* no overflow before the norm itself does */
    for (size_t j = 0; j < n; j++)
        scale = fabs(g[j]) > scale || isnan(g[j]) ? fabs(g[j]) : scale;
    if (!(scale > 0) || isinf(scale)) return scale;
    for (size_t j = 0; j < n; j++) sum += g[j] / scale * (g[j] / scale);
    return scale * sqrt(sum);
}

/* Writes step k to history and progress; says whether the search is over. */
static int is_over(struct search *s, const double *x, const struct opt_step *step,
                   opt_status *status) {
    const struct opt_options *o = s->o;
    s->result.steps = step->step;
    s->result.value = step->value;
    s->result.slope = step->slope;
    if (o->history != NULL) o->history[step->step] = *step;
    const int is_stopped =
        o->progress != NULL && o->progress(o->progress_ctx, step, s->n, x) != 0;
    if (!isfinite(step->value) || !isfinite(step->slope)) *status = OPT_ENONFINITE;
    else if (step->slope <= o->tolerance) *status = OPT_CONVERGED;
    else if (is_stopped) *status = OPT_STOPPED;
    else if (step->step == o->limit) *status = OPT_LIMIT;
    else return 0;
    return 1;
}

double opt_rate(const struct opt_options *o, size_t step) {
    const double limit = o->limit != 0 ? (double)o->limit : 1000;
    const double turns = (double)step / (o->period != 0 ? (double)o->period : limit);
    const double decay = o->decay != 0 ? o->decay : 0.5, rate = o->rate != 0 ? o->rate : 0.01;
    switch (o->schedule) {
    case OPT_STEPS:
        return rate * pow(decay, floor(turns));
    case OPT_EXPONENTIAL:
        return rate * pow(decay, turns);
    case OPT_COSINE:
        return turns < 1 ? rate * (1 + cos(pi * turns)) / 2 : 0;
    default:
        return rate;
    }
}

static void clip(const struct opt_options *o, size_t n, double *g) {
    if (o->clip_value > 0)
        for (size_t j = 0; j < n; j++) g[j] = fmax(-o->clip_value, fmin(g[j], o->clip_value));
    const double length = o->clip_norm > 0 ? norm(n, g) : 0;
    if (length > o->clip_norm)
        for (size_t j = 0; j < n; j++) g[j] *= o->clip_norm / length;
}

/* ---- the rules --------------------------------------------------------------------------- */

/* Moves x against g; k steps were made before. */
static void move(struct search *s, size_t k, double rate) {
    const struct opt_options *o = s->o;
    const double unbias1 = 1 - pow(o->beta1, (double)(k + 1));
    const double unbias2 = 1 - pow(o->beta2, (double)(k + 1));
    for (size_t j = 0; j < s->n; j++) {
        const double g = s->g[j];
        switch (o->rule) {
        case OPT_MOMENTUM:
            s->v[j] = o->momentum * s->v[j] - rate * g;
            s->x[j] += s->v[j];
            break;
        case OPT_NESTEROV:
            s->v[j] = o->momentum * s->v[j] - rate * g;
            s->x[j] += o->momentum * s->v[j] - rate * g;
            break;
        case OPT_RMSPROP:
            s->s[j] = o->beta2 * s->s[j] + (1 - o->beta2) * g * g;
            s->x[j] -= rate * g / (sqrt(s->s[j]) + o->small);
            break;
        case OPT_ADAM:
            s->v[j] = o->beta1 * s->v[j] + (1 - o->beta1) * g;
            s->s[j] = o->beta2 * s->s[j] + (1 - o->beta2) * g * g;
            s->x[j] -= rate * (s->v[j] / unbias1) / (sqrt(s->s[j] / unbias2) + o->small);
            break;
        case OPT_ADAGRAD:
            s->s[j] += g * g;
            s->x[j] -= rate * g / (sqrt(s->s[j]) + o->small);
            break;
        default:
            s->x[j] -= rate * g;
        }
    }
}

static opt_status descend(struct search *s) {
    for (size_t k = 0;; k++) {
        struct opt_step step = {.step = k, .rate = opt_rate(s->o, k)};
        opt_status status = OPT_ECALLBACK;
        s->result.evaluations++;
        if (s->f(s->ctx, s->n, s->x, &step.value, s->g) != 0) return status;
        step.slope = norm(s->n, s->g);
        if (is_over(s, s->x, &step, &status)) return status;
        clip(s->o, s->n, s->g);
        move(s, k, step.rate);
    }
}

/* ---- L-BFGS ------------------------------------------------------------------------------ */

#ifdef HAVE_LBFGS

int opt_has_lbfgs(void) { return 1; }

struct lbfgs_search {
    struct search *s;
    opt_status status;      /* why the search is over, once it is */
    int is_over, is_finite; /* the last value and gradient */
};

static lbfgsfloatval_t lbfgs_value(void *instance, const lbfgsfloatval_t *x, lbfgsfloatval_t *g,
                                   int n, lbfgsfloatval_t step) {
    struct lbfgs_search *l = instance;
    struct search *s = l->s;
    (void)n, (void)step;
    double value = (double)NAN;
    if (l->is_over) return value;
    if (s->f(s->ctx, s->n, x, &value, g) != 0) {
        l->status = OPT_ECALLBACK;
        l->is_over = 1;
        return (double)NAN;
    }
    const struct opt_step start = {.value = value, .slope = norm(s->n, g)};
    l->is_finite = isfinite(value) && isfinite(start.slope);
    if (s->result.evaluations++ == 0) l->is_over = is_over(s, x, &start, &l->status);
    return value;
}

static int lbfgs_step(void *instance, const lbfgsfloatval_t *x, const lbfgsfloatval_t *g,
                      const lbfgsfloatval_t value, const lbfgsfloatval_t x_norm,
                      const lbfgsfloatval_t g_norm, const lbfgsfloatval_t rate, int n, int k,
                      int tries) {
    struct lbfgs_search *l = instance;
    (void)g, (void)x_norm, (void)n, (void)tries;
    const struct opt_step step = {(size_t)k, value, g_norm, rate};
    if (!l->is_over) l->is_over = is_over(l->s, x, &step, &l->status);
    return l->is_over;
}

static opt_status lbfgs_descend(struct search *s) {
    struct lbfgs_search l = {.s = s, .status = OPT_STALLED};
    lbfgs_parameter_t p;
    lbfgs_parameter_init(&p);
    p.epsilon = 0; /* lbfgs_step decides */
    p.max_iterations = 0;
    double *x = lbfgs_malloc((int)s->n); /* aligned as the library wants it */
    if (x == NULL) return OPT_ENOMEM;
    memcpy(x, s->x, s->n * sizeof *x);
    const int code = lbfgs((int)s->n, x, NULL, lbfgs_value, lbfgs_step, &l, &p);
    memcpy(s->x, x, s->n * sizeof *x);
    lbfgs_free(x);
    if (l.is_over) return l.status;
    if (code == LBFGSERR_OUTOFMEMORY) return OPT_ENOMEM;
    return l.is_finite ? OPT_STALLED : OPT_ENONFINITE;
}

#else

int opt_has_lbfgs(void) { return 0; }

static opt_status lbfgs_descend(struct search *s) {
    (void)s;
    return OPT_EABSENT;
}

#endif

/* ---- the search -------------------------------------------------------------------------- */

static int are_sound(const struct opt_options *o) {
    return o->rule < OPT_RULE_COUNT && o->schedule < OPT_SCHEDULE_COUNT && o->rate > 0 &&
           o->decay > 0 && o->momentum >= 0 && o->momentum < 1 && o->beta1 >= 0 &&
           o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1 && o->small > 0 && o->tolerance >= 0 &&
           o->clip_value >= 0 && o->clip_norm >= 0;
}

opt_status opt_minimise(opt_function *f, void *ctx, size_t n, double *x,
                        const struct opt_options *opt, struct opt_result *result) {
    struct opt_options o = {0};
    if (opt != NULL) o = *opt;
    if (o.limit == 0) o.limit = 1000;
    if (o.rate == 0) o.rate = 0.01;
    if (o.decay == 0) o.decay = 0.5;
    if (o.momentum == 0) o.momentum = 0.9;
    if (o.beta1 == 0) o.beta1 = 0.9;
    if (o.beta2 == 0) o.beta2 = o.rule == OPT_RMSPROP ? 0.9 : 0.999;
    if (o.small == 0) o.small = 1e-8;
    if (f == NULL || x == NULL || n == 0 || n > (1u << 30) || !are_sound(&o)) return OPT_EARG;

    double *memory = calloc(3 * n, sizeof *memory);
    if (memory == NULL) return OPT_ENOMEM;
    struct search s = {.o = &o, .f = f, .ctx = ctx, .n = n, .x = x};
    s.g = memory;
    s.v = memory + n;
    s.s = memory + 2 * n;
    const opt_status status = o.rule == OPT_LBFGS ? lbfgs_descend(&s) : descend(&s);
    free(memory);
    if (result != NULL) *result = s.result;
    return status;
}

/* ---- texts ------------------------------------------------------------------------------- */

int opt_print(void *file, const struct opt_step *s, size_t n, const double *x) {
    size_t leading = s->step, ten = 1;
    for (; leading >= 10; leading /= 10) ten *= 10;
    const int is_round = leading * ten == s->step && (leading <= 2 || leading == 5);
    (void)n, (void)x;
    if (s->step == 0)
        fprintf(file, "%8s %14s %10s %9s\n", "step", "value", "|gradient|", "rate");
    if (is_round)
        fprintf(file, "%8zu %14.7g %10.1e %9.2g\n", s->step, s->value, s->slope, s->rate);
    return 0;
}

#define OPT_TEXT(name, text) text,
const char *opt_rule_text(opt_rule r) {
    static const char *const texts[] = {OPT_RULE_LIST(OPT_TEXT)};
    return (size_t)r < sizeof texts / sizeof texts[0] ? texts[r] : "unknown rule";
}

const char *opt_status_text(opt_status s) {
    static const char *const texts[] = {OPT_STATUS_LIST(OPT_TEXT)};
    return (size_t)s < sizeof texts / sizeof texts[0] ? texts[s] : "unknown status";
}
#undef OPT_TEXT
