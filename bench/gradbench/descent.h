/* SPDX-License-Identifier: MIT */
/* descent.h - of particle.c and saddle.c: gradient descent as particle and saddle are specified
 * with. A step is eta times the gradient: eta is doubled after ten steps down, and halved when
 * one does not lead down. It ends where the gradient or the next step is short. */
#include <wengert/generic.h>

#ifndef WENGERT_BENCH_GRADBENCH_DESCENT_H
#define WENGERT_BENCH_GRADBENCH_DESCENT_H
enum { GB_MOST_UNKNOWNS = 2, GB_MOST_TRIALS = 20000 };
#define GB_SHORT 1e-5
#endif

/* The value *f and the gradient g at x. */
typedef wg_status WG_NAME(gb_landscape)(wg_tape *t, const wg_real *x, wg_real *f, wg_real *g,
                                        void *data);

/* Is a, or a - b where there is a b, short? */
static int WG_NAME(gb_is_short)(wg_tape *t, size_t n, const wg_real *a, const wg_real *b) {
    wg_real s = wg_constant(0);
    for (size_t i = 0; i < n; i++)
        s = b ? wg_let(t, wg_add(s, wg_square(wg_sub(a[i], b[i]))))
              : wg_let(t, wg_add(s, wg_square(a[i])));
    s = wg_let(t, wg_sqrt(s));
    return wg_le(t, s, wg_constant(GB_SHORT));
}

/* From x, n <= GB_MOST_UNKNOWNS, down to a minimum. WG_ECONVERGE: none is found. */
static wg_status WG_NAME(gb_descend)(wg_tape *t, size_t n, wg_real *x,
                                     WG_NAME(gb_landscape) * at, void *data) {
    wg_real f, g[GB_MOST_UNKNOWNS], next_f, next_g[GB_MOST_UNKNOWNS], next[GB_MOST_UNKNOWNS];
    double eta = 1e-5;
    int steps = 0;
    wg_status status = at(t, x, &f, g, data);
    for (int trials = 0; status == WG_OK && trials < GB_MOST_TRIALS; trials++) {
        if (WG_NAME(gb_is_short)(t, n, g, NULL)) return WG_OK;
        if (steps == 10) {
            eta *= 2;
            steps = 0;
        }
        for (size_t i = 0; i < n; i++) next[i] = wg_let(t, wg_sub(x[i], wg_mul(eta, g[i])));
        if (WG_NAME(gb_is_short)(t, n, x, next)) return WG_OK;
        status = at(t, next, &next_f, next_g, data);
        if (status != WG_OK) break;
        if (!wg_lt(t, next_f, f)) {
            eta /= 2;
            steps = 0;
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            x[i] = next[i];
            g[i] = next_g[i];
        }
        f = next_f;
        steps++;
    }
    return status != WG_OK ? status : WG_ECONVERGE;
}
