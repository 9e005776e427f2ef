/* SPDX-License-Identifier: MIT */
/* programmes.h - nonlinear programmes with published solutions, for the tests of solvers.
 *
 * Source: Hock, Schittkowski, Test Examples for Nonlinear Programming Codes, LNEMS 187, 1981.
 * 112 is 111 in another form, and has its value (the book stopped short of it), to the seven
 * digits that the book's solution has. Objectives, and constraints but for 26 and 112, are
 * those of test/opt_problems. */
#ifndef WENGERT_ADAPTERS_PROGRAMMES_H
#define WENGERT_ADAPTERS_PROGRAMMES_H

#include <math.h>
#include <stdio.h>
#include "test/opt_cases.h"

/* gl <= g(x) <= gu, as above 0 (AT_LEAST), 0 (EQUAL). */
typedef enum side { EQUAL, AT_LEAST } side;

typedef struct programme {
    const char *name; /* in opt_problems[] */
    size_t n, m;
    side sides[4];
    double shift[4];     /* constraints are g - shift */
    double lower, upper; /* of all variables */
    double start[10];
    double value;             /* published */
    double digits;            /* a unit of its last place: some were rounded, some cut off */
    wg_callback *constraints; /* NULL: those of opt_problems */
} programme;

/* 26: (1 + y^2) x + z^4 = 3 */
static wg_status hs26_constraint(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(
        t, wg_sub(wg_add(wg_mul(wg_add(1, wg_square(x[1])), x[0]), wg_square(wg_square(x[2]))),
                  3));
    return WG_OK;
}

/* 112: amounts of three elements, in ten compounds */
static wg_status hs112_constraints(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                   void *data) {
    static const double amount[3][10] = {{1, 2, 2, 0, 0, 1, 0, 0, 0, 1},
                                         {0, 0, 0, 1, 2, 1, 1, 0, 0, 0},
                                         {0, 0, 1, 0, 0, 0, 1, 1, 2, 1}};
    static const double total[3] = {2, 1, 1};
    (void)data;
    for (size_t j = 0; j < m; j++) {
        y[j] = wg_constant(-total[j]);
        for (size_t i = 0; i < n; i++)
            y[j] = wg_let(t, wg_add(y[j], wg_mul(amount[j][i], x[i])));
    }
    return WG_OK;
}

/* clang-format off */
#define FREE -INFINITY, INFINITY
#define TEN_TIMES(a) {a, a, a, a, a, a, a, a, a, a}
static const programme programmes[] = {
    {"hs26", 3, 1, {EQUAL}, {0}, FREE, {-2.6, 2, 2}, 0, 1e-8, hs26_constraint},
    {"hs71", 4, 2, {AT_LEAST, EQUAL}, {25, 40}, 1, 5, {1, 5, 5, 1}, 17.0140173, 1e-7, NULL},
    {"hs78", 5, 3, {EQUAL, EQUAL, EQUAL}, {0}, FREE, {-2, 1.5, 2, -1, -1}, -2.91970041, 1e-8, NULL},
    {"hs100", 7, 4, {AT_LEAST, AT_LEAST, AT_LEAST, AT_LEAST}, {0}, FREE, {1, 2, 0, 4, 0, 1, 1},
     680.6300573, 1e-7, NULL},
    {"hs110", 10, 0, {EQUAL}, {0}, 2.001, 9.999, TEN_TIMES(9), -45.77846971, 1e-8, NULL},
    {"hs111", 10, 3, {EQUAL, EQUAL, EQUAL}, {0}, -100, 100, TEN_TIMES(-2.3), -47.76109, 1e-6, NULL},
    {"hs112", 10, 3, {EQUAL, EQUAL, EQUAL}, {0}, 1e-6, INFINITY, TEN_TIMES(0.1), -47.76109, 1e-6,
     hs112_constraints},
    {"hs99_loop", 7, 2, {EQUAL, EQUAL}, {0}, 0, 1.58, TEN_TIMES(0.5), -0.831079892e9, 1, NULL},
};
#undef FREE
#undef TEN_TIMES
/* clang-format on */
enum { PROGRAMMES = sizeof programmes / sizeof *programmes };

static int programme_number(const programme *p) {
    int k = 0;
    while (strcmp(opt_problems[k].name, p->name) != 0) k++;
    return k;
}

/* data of both: a programme */
static wg_status programme_objective(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                     wg_real *y, void *data) {
    int number = programme_number(data);
    return opt_objective(t, n, x, m, y, &number);
}
static wg_status programme_constraints(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                       wg_real *y, void *data) {
    const programme *const p = data;
    int number = programme_number(p);
    const wg_status s = p->constraints != NULL ? p->constraints(t, n, x, m, y, NULL)
                                               : opt_residuals(t, n, x, m, y, &number);
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_sub(y[j], p->shift[j]));
    return s;
}

#endif
