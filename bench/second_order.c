/* SPDX-License-Identifier: MIT */
/* second_order - what does a Hessian-vector product cost over the gradient of the same tape?
 *
 * Both are timed on a tape that keeps its code: the gradient is recording and reverse sweep, the
 * first product also computes the local second derivatives, a further one at the same point finds
 * them there. Verified first: against the closed form of Rosenbrock's function, and by symmetry.
 *     second_order [--small]   verification only */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wengert.h>

enum { N = 20000, REPEATS = 15 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---- chains of terms f = sum_i term(x[i], x[i+1]) ---- */

static wg_real rosenbrock(wg_tape *t, size_t n, const wg_real *x) {
    wg_real f = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++)
        f = wg_let(t, wg_add(f, wg_add(wg_mul(100, wg_square(wg_sub(x[i + 1], wg_square(x[i])))),
                                       wg_square(wg_sub(1, x[i])))));
    return f;
}

static wg_real transcendental(wg_tape *t, size_t n, const wg_real *x) {
    wg_real f = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++)
        f = wg_let(t, wg_add(f, wg_mul(wg_exp(x[i]), wg_sin(x[i + 1]))));
    return f;
}

static wg_real unfused(wg_tape *t, size_t n, const wg_real *x) {
    wg_real f = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++) {
        const wg_real p = wg_let(t, wg_mul(x[i], x[i + 1]));
        const wg_real q = wg_let(t, wg_div(p, wg_add(1.0, x[i])));
        f = wg_let(t, wg_add(f, q));
    }
    return f;
}

static const struct {
    const char *name;
    wg_real (*f)(wg_tape *t, size_t n, const wg_real *x);
} chains[] = {{"rosenbrock, fused", rosenbrock},
              {"exp(x) sin(y), fused", transcendental},
              {"x y / (1 + x), one operation each", unfused}};
enum { CHAINS = sizeof chains / sizeof *chains };

/* ---- verification ---- */

static double dot(size_t n, const double *a, const double *b) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

/* H v of Rosenbrock's chained function. */
static void rosenbrock_hvp(size_t n, const double *x, const double *v, double *hv) {
    memset(hv, 0, n * sizeof *hv);
    for (size_t i = 0; i + 1 < n; i++) {
        hv[i] += (1200 * x[i] * x[i] - 400 * x[i + 1] + 2) * v[i] - 400 * x[i] * v[i + 1];
        hv[i + 1] += 200 * v[i + 1] - 400 * x[i] * v[i];
    }
}

struct run {
    double *a, *u, *v, *hu, *hv;
    wg_real *x;
};

static wg_status record(wg_tape *t, int chain, const struct run *r, wg_real *f) {
    wg_tape_reset(t);
    const wg_status s = wg_inputs(t, N, r->a, r->x);
    if (s != WG_OK) return s;
    *f = chains[chain].f(t, N, r->x);
    return wg_tape_status(t);
}

static int verify(wg_tape *t, const struct run *r) {
    int wrong = 0;
    for (int k = 0; k < CHAINS; k++) {
        wg_real f;
        if (record(t, k, r, &f) != WG_OK || wg_tape_hvp(t, f, N, r->x, r->u, r->hu) != WG_OK ||
            wg_tape_hvp(t, f, N, r->x, r->v, r->hv) != WG_OK)
            return -1;
        const double a = dot(N, r->v, r->hu), b = dot(N, r->u, r->hv);
        /* N products are summed on both sides */
        wrong += !(fabs(a - b) <= N * 2.3e-16 * fabs(a));
        if (k != 0) continue;
        rosenbrock_hvp(N, r->a, r->v, r->hu);
        for (size_t i = 0; i < N; i++) wrong += !(fabs(r->hv[i] - r->hu[i]) <= 1e-11);
    }
    return wrong;
}

/* ---- timing: minima, the same tape over and over ---- */

static double less(double a, double b) { return a < b ? a : b; }

static int measure(wg_tape *t, const struct run *r) {
    printf("%-36s %10s %10s %10s %8s %8s\n", "milliseconds, n = 20000", "gradient", "first H v",
           "next H v", "first", "next");
    for (int k = 0; k < CHAINS; k++) {
        double gradient = INFINITY, first = INFINITY, next = INFINITY;
        for (int i = 0; i < REPEATS; i++) {
            wg_real f;
            const double t0 = now();
            if (record(t, k, r, &f) != WG_OK || wg_reverse(t, f) != WG_OK ||
                wg_adjoints(t, N, r->x, r->hu) != WG_OK)
                return -1;
            const double t1 = now();
            if (wg_tape_hvp(t, f, N, r->x, r->v, r->hv) != WG_OK) return -1;
            const double t2 = now();
            if (wg_tape_hvp(t, f, N, r->x, r->v, r->hv) != WG_OK) return -1;
            const double t3 = now();
            gradient = less(gradient, t1 - t0);
            first = less(first, t2 - t1);
            next = less(next, t3 - t2);
        }
        printf("%-36s %10.3f %10.3f %10.3f %7.2fx %7.2fx\n", chains[k].name, gradient, first,
               next, first / gradient, next / gradient);
    }
    return 0;
}

int main(int argc, char **argv) {
    const int small = argc > 1 && strcmp(argv[1], "--small") == 0;
    const wg_options keep = {.flags = WG_KEEP_CODE};
    wg_tape *t = wg_tape_new(&keep);
    double *const numbers = calloc(5 * (size_t)N, sizeof *numbers);
    wg_real *const x = calloc(N, sizeof *x);
    const struct run r = {numbers,         numbers + N,     numbers + 2 * N,
                          numbers + 3 * N, numbers + 4 * N, x};
    int status = 1;
    if (t != NULL && numbers != NULL && x != NULL) {
        for (int i = 0; i < N; i++) {
            r.a[i] = 0.3 + 1e-5 * i;
            r.u[i] = 1 - 1e-4 * (i % 100);
            r.v[i] = 0.5 + 1e-3 * (i % 7);
        }
        const int wrong = verify(t, &r);
        printf("second_order: Hessian-vector products %s\n",
               wrong == 0 ? "verified" : "DISAGREE");
        status = wrong != 0 || (!small && measure(t, &r) != 0);
        if (wrong < 0) fprintf(stderr, "second_order: %s\n", wg_tape_message(t));
    }
    free(x);
    free(numbers);
    wg_tape_free(t);
    return status;
}
