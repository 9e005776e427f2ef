/* SPDX-License-Identifier: MIT */
/* calls_arrays.c - rows: BLAS and LAPACK on arrays of variables. */
#include "calls.h"

#include <string.h>

/* Large enough for 4-by-4 matrices with leading dimensions up to 8, and for steps of 3. */
enum { ROOM = 40 };
static wg_real first[ROOM], second[ROOM], third[ROOM];
static double numbers[ROOM];
static int pivot[8];

static void fill(void) {
    REAL_ARRAY(x, 16);
    DOUBLES(v, 16);
    for (size_t i = 0; i < ROOM; i++) {
        const wg_real y = x != NULL ? x[i % 16] : wg_constant(0.5);
        first[i] = y, second[(i * 7) % ROOM] = y, third[(i * 11) % ROOM] = y;
        numbers[i] = v != NULL ? v[i % 16] : 1;
    }
    for (size_t i = 0; i < 8; i++) pivot[i] = one_in(6) ? (int)below(7) - 1 : (int)i + 1;
}
static wg_array array(const wg_real *x) {
    return one_in(40)  ? (wg_array){NULL, NULL}
           : one_in(4) ? wg_array_of_numbers(numbers)
                       : wg_array_of_variables(x);
}
static wg_real *own(wg_real *x) { return one_in(60) ? NULL : x; }
static int size(void) { return one_in(20) ? (int)below(4) - 3 : (int)below(5); }
static int step(void) { return one_in(30) ? 0 : one_in(3) ? (int)below(7) - 3 : 1; }
static int leading(void) { return one_in(20) ? (int)below(6) - 3 : 4 + (int)below(5); }
static int order(void) { return one_in(30) ? 'X' : one_in(2) ? 'C' : one_in(2) ? 'R' : 101; }
static int letter(const char *of) { return one_in(30) ? '?' : of[below(strlen(of))]; }
static int uplo(void) { return letter("LU"); }
static int trans(void) { return letter("NTC"); }
static int diag(void) { return letter("NU"); }
static int side(void) { return letter("LR"); }

/* A call, of which the first variable of a result is kept. */
#define CALL(name, to, ...)                                                                    \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        REAL(alpha);                                                                           \
        REAL(beta);                                                                            \
        (void)alpha, (void)beta;                                                               \
        fill();                                                                                \
        GIVES_REAL(((void)name(t, __VA_ARGS__), to));                                          \
    }
#define VALUE(name, ...)                                                                       \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        fill();                                                                                \
        GIVES_REAL(name(t, __VA_ARGS__));                                                      \
    }
VALUE(wg_ddot, size(), array(first), step(), array(second), step())
VALUE(wg_dnrm2, size(), array(first), step())
VALUE(wg_dasum, size(), array(first), step())
CALL(wg_idamax, first[0], size(), array(first), step())
CALL(wg_daxpy, second[0], size(), alpha, array(first), step(), own(second), step())
CALL(wg_dscal, first[0], size(), alpha, own(first), step())
CALL(wg_dcopy, second[0], size(), array(first), step(), own(second), step())
CALL(wg_dswap, second[0], size(), own(first), step(), own(second), step())
CALL(wg_dgemv, third[0], order(), trans(), size(), size(), alpha, array(first), leading(),
     array(second), step(), beta, own(third), step())
CALL(wg_dsymv, third[0], order(), uplo(), size(), alpha, array(first), leading(), array(second),
     step(), beta, own(third), step())
CALL(wg_dger, third[0], order(), size(), size(), alpha, array(first), step(), array(second),
     step(), own(third), leading())
CALL(wg_dtrmv, second[0], order(), uplo(), trans(), diag(), size(), array(first), leading(),
     own(second), step())
CALL(wg_dtrsv, second[0], order(), uplo(), trans(), diag(), size(), array(first), leading(),
     own(second), step())
CALL(wg_dgemm, third[0], order(), trans(), trans(), size(), size(), size(), alpha, array(first),
     leading(), array(second), leading(), beta, own(third), leading())
CALL(wg_dsymm, third[0], order(), side(), uplo(), size(), size(), alpha, array(first),
     leading(), array(second), leading(), beta, own(third), leading())
CALL(wg_dsyrk, third[0], order(), uplo(), trans(), size(), size(), alpha, array(first),
     leading(), beta, own(third), leading())
CALL(wg_dtrmm, second[0], order(), side(), uplo(), trans(), diag(), size(), size(), alpha,
     array(first), leading(), own(second), leading())
CALL(wg_dtrsm, second[0], order(), side(), uplo(), trans(), diag(), size(), size(), alpha,
     array(first), leading(), own(second), leading())
CALL(wg_dgetrf, first[0], order(), size(), size(), own(first), leading(),
     one_in(30) ? NULL : pivot)
CALL(wg_dgetrs, second[0], order(), trans(), size(), size(), array(first), leading(),
     one_in(30) ? NULL : pivot, own(second), leading())
CALL(wg_dgesv, second[0], order(), size(), size(), own(first), leading(),
     one_in(30) ? NULL : pivot, own(second), leading())
CALL(wg_dpotrf, first[0], order(), uplo(), size(), own(first), leading())
CALL(wg_dpotrs, second[0], order(), uplo(), size(), size(), array(first), leading(),
     own(second), leading())
CALL(wg_dposv, second[0], order(), uplo(), size(), size(), own(first), leading(), own(second),
     leading())
CALL(wg_dgels, second[0], order(), trans(), size(), size(), size(), own(first), leading(),
     own(second), leading())
CALL(wg_dsyev, second[0], order(), letter("NV"), uplo(), size(), own(first), leading(),
     own(second))

/* ---- adjoints on plain arrays ---- */

enum { WORK = 1 << 13 };
static double values[3][ROOM], bars[3][ROOM], factors[2], work[WORK];

static void fill_plain(void) {
    DOUBLES(v, 16);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < ROOM; i++) {
            values[k][i] = v != NULL ? v[(i * (2 * k + 1)) % 16] : 1;
            bars[k][i] = v != NULL ? v[(i * 5 + k) % 16] : 1;
        }
    for (size_t i = 0; i < 8; i++) pivot[i] = one_in(6) ? (int)below(7) - 1 : (int)i + 1;
}
static const double *value(size_t k) { return one_in(40) ? NULL : values[k]; }
static double *bar(size_t k) { return one_in(4) ? NULL : bars[k]; }
static double *factor(size_t k) { return one_in(2) ? NULL : &factors[k]; }
static const int *pivots(void) { return one_in(30) ? NULL : pivot; }
static double *room(void) { return one_in(30) ? NULL : work; }

#define PLAIN(name, ...)                                                                       \
    ROW(name) {                                                                                \
        NUMBER(alpha);                                                                         \
        NUMBER(beta);                                                                          \
        (void)alpha, (void)beta;                                                               \
        fill_plain();                                                                          \
        GIVES_STATUS(name(__VA_ARGS__));                                                       \
    }
PLAIN(wg_vjp_ddot, size(), value(0), bar(0), step(), value(1), bar(1), step(), alpha)
PLAIN(wg_vjp_dnrm2, size(), value(0), bar(0), step(), alpha)
PLAIN(wg_vjp_dasum, size(), value(0), bar(0), step(), alpha)
PLAIN(wg_vjp_daxpy, size(), alpha, factor(0), value(0), bar(0), step(), value(1), bar(1),
      step())
PLAIN(wg_vjp_dscal, size(), alpha, factor(0), value(0), bar(0), step())
PLAIN(wg_vjp_dcopy, size(), value(0), bar(0), step(), value(1), bar(1), step())
PLAIN(wg_vjp_dswap, size(), value(0), bar(0), step(), value(1), bar(1), step())
PLAIN(wg_vjp_dgemv, order(), trans(), size(), size(), alpha, factor(0), value(0), bar(0),
      leading(), value(1), bar(1), step(), beta, factor(1), value(2), bar(2), step())
PLAIN(wg_vjp_dsymv, order(), uplo(), size(), alpha, factor(0), value(0), bar(0), leading(),
      value(1), bar(1), step(), beta, factor(1), value(2), bar(2), step())
PLAIN(wg_vjp_dger, order(), size(), size(), alpha, factor(0), value(0), bar(0), step(),
      value(1), bar(1), step(), value(2), bar(2), leading())
PLAIN(wg_vjp_dtrmv, order(), uplo(), trans(), diag(), size(), value(0), bar(0), leading(),
      value(1), bar(1), step())
PLAIN(wg_vjp_dtrsv, order(), uplo(), trans(), diag(), size(), value(0), bar(0), leading(),
      value(1), bar(1), step())
PLAIN(wg_vjp_dgemm, order(), trans(), trans(), size(), size(), size(), alpha, factor(0),
      value(0), bar(0), leading(), value(1), bar(1), leading(), beta, factor(1), value(2),
      bar(2), leading())
PLAIN(wg_vjp_dsymm, order(), side(), uplo(), size(), size(), alpha, factor(0), value(0), bar(0),
      leading(), value(1), bar(1), leading(), beta, factor(1), value(2), bar(2), leading())
PLAIN(wg_vjp_dsyrk, order(), uplo(), trans(), size(), size(), alpha, factor(0), value(0),
      bar(0), leading(), beta, factor(1), value(2), bar(2), leading())
PLAIN(wg_vjp_dtrmm, order(), side(), uplo(), trans(), diag(), size(), size(), alpha, factor(0),
      value(0), bar(0), leading(), value(1), bar(1), leading())
PLAIN(wg_vjp_dtrsm, order(), side(), uplo(), trans(), diag(), size(), size(), alpha, factor(0),
      value(0), bar(0), leading(), value(1), bar(1), leading())
ROW(wg_vjp_room) { GIVES_NUMBER(wg_vjp_room(size(), size())); }
PLAIN(wg_vjp_dgetrf, order(), size(), size(), value(0), bar(0), leading(), pivots(), room())
PLAIN(wg_vjp_dgetrs, order(), trans(), size(), size(), value(0), bar(0), leading(), pivots(),
      value(1), bar(1), leading(), room())
PLAIN(wg_vjp_dgesv, order(), size(), size(), value(0), bar(0), leading(), pivots(), value(1),
      bar(1), leading(), room())
PLAIN(wg_vjp_dpotrf, order(), uplo(), size(), value(0), bar(0), leading(), room())
PLAIN(wg_vjp_dpotrs, order(), uplo(), size(), size(), value(0), bar(0), leading(), value(1),
      bar(1), leading(), room())
PLAIN(wg_vjp_dposv, order(), uplo(), size(), size(), value(0), bar(0), leading(), value(1),
      bar(1), leading(), room())

static const struct row list[] = {
    LISTED(wg_ddot, 3),       LISTED(wg_dnrm2, 3),     LISTED(wg_dasum, 3),
    LISTED(wg_idamax, 2),     LISTED(wg_daxpy, 3),     LISTED(wg_dscal, 3),
    LISTED(wg_dcopy, 2),      LISTED(wg_dswap, 2),     LISTED(wg_dgemv, 3),
    LISTED(wg_dsymv, 3),      LISTED(wg_dger, 3),      LISTED(wg_dtrmv, 3),
    LISTED(wg_dtrsv, 3),      LISTED(wg_dgemm, 3),     LISTED(wg_dsymm, 3),
    LISTED(wg_dsyrk, 3),      LISTED(wg_dtrmm, 3),     LISTED(wg_dtrsm, 3),
    LISTED(wg_dgetrf, 3),     LISTED(wg_dgetrs, 3),    LISTED(wg_dgesv, 3),
    LISTED(wg_dpotrf, 3),     LISTED(wg_dpotrs, 3),    LISTED(wg_dposv, 3),
    LISTED(wg_dgels, 3),      LISTED(wg_dsyev, 3),     LISTED(wg_vjp_ddot, 2),
    LISTED(wg_vjp_dnrm2, 2),  LISTED(wg_vjp_dasum, 2), LISTED(wg_vjp_daxpy, 2),
    LISTED(wg_vjp_dscal, 2),  LISTED(wg_vjp_dcopy, 2), LISTED(wg_vjp_dswap, 2),
    LISTED(wg_vjp_dgemv, 2),  LISTED(wg_vjp_dsymv, 2), LISTED(wg_vjp_dger, 2),
    LISTED(wg_vjp_dtrmv, 2),  LISTED(wg_vjp_dtrsv, 2), LISTED(wg_vjp_dgemm, 2),
    LISTED(wg_vjp_dsymm, 2),  LISTED(wg_vjp_dsyrk, 2), LISTED(wg_vjp_dtrmm, 2),
    LISTED(wg_vjp_dtrsm, 2),  LISTED(wg_vjp_room, 2),  LISTED(wg_vjp_dgetrf, 2),
    LISTED(wg_vjp_dgetrs, 2), LISTED(wg_vjp_dgesv, 2), LISTED(wg_vjp_dpotrf, 2),
    LISTED(wg_vjp_dpotrs, 2), LISTED(wg_vjp_dposv, 2),
};
const struct rows calls_arrays = ROWS(list);
