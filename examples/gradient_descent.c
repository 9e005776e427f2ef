/* SPDX-License-Identifier: MIT */
/* Gradient descent and Adam on four classical test functions, gradients by wg_gradient.
 *
 * Each search has a rate, a tolerance on the norm of the gradient and a limit of steps, and
 * keeps the history of its steps, which is printed in part. The exit status is 0 when every
 * search ends at the minimum. Source of Adam: Kingma, Ba 2015, algorithm 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

enum { DIMENSION = 2 };

/* ---- the functions: y[0] = f(x[0], x[1]) ------------------------------------------------- */

static wg_status beale(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    static const double c[] = {1.5, 2.25, 2.625};
    (void)data;
    if (n != DIMENSION || m != 1) return WG_ESHAPE;
    wg_real sum = wg_constant(0), power = wg_constant(1);
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        power = wg_let(t, wg_mul(power, x[1]));
        sum =
            wg_let(t, wg_add(sum, wg_square(wg_add(wg_sub(c[i], x[0]), wg_mul(x[0], power)))));
    }
    y[0] = sum;
    return WG_OK;
}

static wg_status booth(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)data;
    if (n != DIMENSION || m != 1) return WG_ESHAPE;
    y[0] = wg_let(t, wg_add(wg_square(wg_sub(wg_add(x[0], wg_mul(2, x[1])), 7)),
                            wg_square(wg_sub(wg_add(wg_mul(2, x[0]), x[1]), 5))));
    return WG_OK;
}

static wg_status goldstein_price(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)data;
    if (n != DIMENSION || m != 1) return WG_ESHAPE;
    const wg_real u = x[0], v = x[1];
    const wg_real uu = wg_let(t, wg_square(u)), uv = wg_let(t, wg_mul(u, v));
    const wg_real vv = wg_let(t, wg_square(v));
    /* Both factors are 1 + square(linear) * quadratic; the quadratics term by term. */
    wg_real p = wg_let(t, wg_add(wg_sub(19, wg_mul(14, u)), wg_mul(3, uu)));
    p = wg_let(t, wg_add(wg_sub(p, wg_mul(14, v)), wg_add(wg_mul(6, uv), wg_mul(3, vv))));
    wg_real q = wg_let(t, wg_add(wg_sub(18, wg_mul(32, u)), wg_mul(12, uu)));
    q = wg_let(t, wg_add(wg_add(q, wg_mul(48, v)), wg_sub(wg_mul(27, vv), wg_mul(36, uv))));
    p = wg_let(t, wg_add(1, wg_mul(wg_square(wg_add(wg_add(u, v), 1)), p)));
    q = wg_let(t, wg_add(30, wg_mul(wg_square(wg_sub(wg_mul(2, u), wg_mul(3, v))), q)));
    y[0] = wg_let(t, wg_mul(p, q));
    return WG_OK;
}

static wg_status rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)data;
    if (n != DIMENSION || m != 1) return WG_ESHAPE;
    y[0] = wg_let(t, wg_add(wg_square(wg_sub(1, x[0])),
                            wg_mul(100, wg_square(wg_sub(x[1], wg_square(x[0]))))));
    return WG_OK;
}

/* ---- the two rules ----------------------------------------------------------------------- */

struct options {
    double rate;
    double tolerance; /* ends the search: the norm of the gradient */
    size_t limit;     /* of steps */
};

/* What a rule remembers from step to step; zeros before the first. */
struct memory {
    double mean[DIMENSION], square[DIMENSION]; /* decaying averages of g and of g^2 */
    double mean_weight, square_weight;         /* what their decay has left over: beta^k */
};

/* One step of a rule: moves x against the gradient g. */
typedef void rule(const struct options *o, struct memory *s, const double *g, double *x);

static void descend(const struct options *o, struct memory *s, const double *g, double *x) {
    (void)s;
    for (size_t j = 0; j < DIMENSION; j++) x[j] -= o->rate * g[j];
}

static void adam(const struct options *o, struct memory *s, const double *g, double *x) {
    const double beta1 = 0.9, beta2 = 0.999, small = 1e-8; /* as published */
    if (s->mean_weight == 0) s->mean_weight = s->square_weight = 1;
    s->mean_weight *= beta1;
    s->square_weight *= beta2;
    for (size_t j = 0; j < DIMENSION; j++) {
        s->mean[j] = beta1 * s->mean[j] + (1 - beta1) * g[j];
        s->square[j] = beta2 * s->square[j] + (1 - beta2) * g[j] * g[j];
        x[j] -= o->rate * (s->mean[j] / (1 - s->mean_weight)) /
                (sqrt(s->square[j] / (1 - s->square_weight)) + small);
    }
}

/* ---- a search and its history ------------------------------------------------------------ */

struct step {
    double x[DIMENSION], value, slope; /* slope: the norm of the gradient */
};

struct history {
    struct step *step; /* step[0] is the start; room for `limit` more */
    size_t count;      /* of entries */
};

/* Fills the history; it is up to the caller to look at how it ends. */
static wg_status search(wg_tape *t, wg_callback *f, rule *move, const struct options *o,
                        const double *start, struct history *h) {
    struct memory memory = {0};
    double x[DIMENSION], g[DIMENSION];
    for (size_t j = 0; j < DIMENSION; j++) x[j] = start[j];
    for (h->count = 0; h->count <= o->limit;) {
        struct step *s = &h->step[h->count];
        const wg_status status = wg_gradient(t, f, NULL, DIMENSION, x, &s->value, g);
        if (status != WG_OK) return status;
        for (size_t j = 0; j < DIMENSION; j++) s->x[j] = x[j];
        s->slope = hypot(g[0], g[1]);
        h->count++;
        if (!(s->slope > o->tolerance)) break; /* also when it is NaN */
        move(o, &memory, g, x);
    }
    return WG_OK;
}

/* Steps 0, 1, 10, 100, ... and the last one. */
static void print_history(const struct history *h) {
    size_t next = 0;
    for (size_t k = 0; k < h->count; k++) {
        if (k != next && k + 1 != h->count) continue;
        const struct step *s = &h->step[k];
        printf("    %6zu   %10.6f %10.6f   %13.6e   %.1e\n", k, s->x[0], s->x[1], s->value,
               s->slope);
        if (k == next) next = next == 0 ? 1 : 10 * next;
    }
}

/* ---- the problems ------------------------------------------------------------------------ */

struct problem {
    const char *name;
    wg_callback *f;
    double start[DIMENSION], minimum[DIMENSION];
    double descent_rate, adam_rate;
};

static const struct problem problems[] = {
    {"Beale", beale, {1, 1}, {3, 0.5}, 0.02, 0.02},
    {"Booth", booth, {-5, 5}, {1, 3}, 0.1, 0.1},
    {"Goldstein-Price", goldstein_price, {-0.3, -0.7}, {0, -1}, 2e-4, 0.005},
    {"Rosenbrock", rosenbrock, {-1.2, 1}, {1, 1}, 1e-3, 0.01},
};

static const double tolerance = 1e-8;
static const size_t limit = 100000;
/* How far from the minimum a search may end: the tolerance over the smallest curvature found at
 * these minima (Beale's, 0.3), and a factor 3. */
static const double nearness = 1e-7;

/* One search, printed. Result: whether it ends at the minimum. */
static int run(wg_tape *t, const struct problem *p, const char *name, rule *move, double rate) {
    const struct options o = {.rate = rate, .tolerance = tolerance, .limit = limit};
    struct history h = {.step = malloc((limit + 1) * sizeof *h.step)};
    if (h.step == NULL) return 0;
    int found = 0;
    printf("%s, %s with rate %g\n", p->name, name, rate);
    printf("    %6s   %10s %10s   %13s   %s\n", "step", "x", "y", "value", "|gradient|");
    const wg_status status = search(t, p->f, move, &o, p->start, &h);
    if (status == WG_OK) {
        const struct step *last = &h.step[h.count - 1];
        print_history(&h);
        found = hypot(last->x[0] - p->minimum[0], last->x[1] - p->minimum[1]) <= nearness;
        printf("    %s\n\n", found ? "at the minimum" : "not at the minimum");
    } else {
        printf("    %s\n\n", wg_status_text(status));
    }
    free(h.step);
    return found;
}

int main(void) {
    wg_tape *t = wg_tape_new(NULL);
    int all = t != NULL;
    for (size_t i = 0; t != NULL && i < sizeof problems / sizeof problems[0]; i++) {
        const struct problem *p = &problems[i];
        all &= run(t, p, "gradient descent", descend, p->descent_rate);
        all &= run(t, p, "Adam", adam, p->adam_rate);
    }
    wg_tape_free(t);
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
