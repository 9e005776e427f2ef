/* SPDX-License-Identifier: MIT */
/* programs_check.h - what the two halves of the checker share: the truth at each point, and
 * how a number is judged by it. */
#ifndef WENGERT_TEST_FUZZ_PROGRAMS_CHECK_H
#define WENGERT_TEST_FUZZ_PROGRAMS_CHECK_H

#include "programs_toy.h"

enum { CHECK_DIRECTIONS = 33 }; /* along each input, and one across */

/* What is known at a point: along each direction coefficients of the outputs and, last, of
 * their sum weighted by program_weights, and how far a computation in double may be from
 * them. */
struct truth {
    double x[PROGRAM_NUMBERS], across[PROGRAM_NUMBERS];
    int known, terms, nan_from, extreme, infinite, power_of_0, exact;
    size_t directions;
    long double condition;
    long double ref[CHECK_DIRECTIONS][PROGRAM_OUTPUTS + 1][TOY_TERMS];
    long double spread[CHECK_DIRECTIONS][PROGRAM_OUTPUTS + 1][TOY_TERMS];
    struct program_random noise; /* of this point alone: the same whenever it is looked at */
    /* The plain tape's: of the recording, and of that and sweeps. */
    wg_status recorded, status;
    double value[PROGRAM_OUTPUTS], jacobian[PROGRAM_OUTPUTS * PROGRAM_NUMBERS]; /* row-major */
};
extern const double program_weights[PROGRAM_OUTPUTS];

/* A number of a program with BLAS that is farther from the truth than noise says: what rounding
 * alone makes of it is seen where the point is moved by rounding. */
enum { CHECK_SUSPECTS = 32, CHECK_MODE = 24 };
struct suspect {
    char mode[CHECK_MODE];
    size_t at, direction, output;
    int order;
    double got;
    long double moved; /* the farthest from `got` that was seen */
};

struct check {
    struct program_checker *k;
    struct program_case *c;
    struct program *p;
    struct program_run run;
    size_t points, at; /* at: the point that is looked at */
    struct truth *truth;
    int exact;  /* 1: no BLAS, whose bits depend on where its operands stand, and no loops */
    int scalar; /* 1: no operations on matrices, which sum up in another order in lanes */
    int bad;
    size_t wrong; /* the point of the first finding */
    struct suspect suspect[CHECK_SUSPECTS];
    size_t suspects, looks_at; /* looks_at: the point they are looked at, moved, or no point */
    int moving;                /* 1: nothing is judged, numbers of suspects are looked at */
};

/* A finding: it counts once, and where no other kind is looked for. */
void check_finding(struct check *r, const char *mode, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Coefficient `order` of output j (m: of the weighted sum) along a direction, times factorial
 * `order`. */
void check_number(struct check *r, const char *mode, size_t direction, size_t j, int order,
                  double got);
/* A value and a row-major Jacobian against the truth, and a symmetric Hessian of the
 * weighted sum. */
void check_values(struct check *r, const char *mode, const double *value);
void check_jacobian(struct check *r, const char *mode, const double *jacobian);
void check_hessian(struct check *r, const char *mode, const double *hessian);
/* The same bits; NaN is one value. */
void check_bits(struct check *r, const char *mode, const char *what, size_t n,
                const double *got, const double *want);
/* A status that is an answer: is it WG_OK? */
int check_status(struct check *r, wg_status s);

/* ---- the modes ---- */

void check_tapes(struct check *r); /* at the point: programs_tapes.c */
void check_duals(struct check *r); /* of elementwise operations: programs_duals.c */
void check_functions(struct check *r, int compile); /* at all points: programs_functions.c */

#endif
