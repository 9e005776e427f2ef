/* SPDX-License-Identifier: MIT */
/* programs_toys.h - what the operations of programs are in the toy, and which shapes fit
 * them. */
#ifndef WENGERT_TEST_FUZZ_PROGRAMS_TOYS_H
#define WENGERT_TEST_FUZZ_PROGRAMS_TOYS_H

#include <string.h>
#include "programs_toy.h"

enum { PROGRAM_USER_OPERATIONS = 2 };
extern const wg_scalar_op *const program_user_operations[PROGRAM_USER_OPERATIONS];

/* Constants of `wide`. */
static inline double program_constant(size_t i) { return ((double)(i * 37 % 19) - 9) / 8; }

enum rule {
    R_EACH,     /* stretched as elementwise operations are */
    R_SAME,     /* of one operand: the same */
    R_SAME_ALL, /* all the same */
    R_ONE,      /* 1-by-1 of anything */
    R_AXIS,     /* reduced along an axis */
    R_LINES,    /* the same; along an axis */
    R_NORM_LINES,
    R_PRODUCT,
    R_GEMM,
    R_GEMV,
    R_PAIR_ONE,  /* 1-by-1 of two of one shape */
    R_PAIR_COLS, /* a number per column of two of one shape */
    R_SCALE,     /* 1-by-1 and anything */
    R_GER,
    R_OUTER,
    R_KRON,
    R_QUADFORM,
    R_SQUARE_ONE,
    R_TRACE_PRODUCT,
    R_SYRK,
    R_SYMM,
    R_TRIANGLE,
    R_GRAM,
    R_WIDE,
    R_SOLVE,
    R_SQUARE, /* square, the same */
    R_BATCH,
    R_BANDED,
    R_TRIDIAGONAL,
    R_QR_Q,
    R_QR_R,
    R_LSTSQ,
    R_TRANSPOSED,
    R_EIGENVALUES,
    R_SINGULAR,
    R_SYLVESTER,
    R_SQUARES, /* two square ones of one order: the same */
    R_SCATTER,
    R_ROW,
    R_COLUMN,
    R_DIAGONAL,
    R_STACKED,
    R_ROWS,
    R_COLS,
    R_DIAG,
    R_PAD,
    R_REPEAT,
    R_MVN,
    R_COVARIANCE,
    R_CALL,
    R_MAP,
    R_SCAN
};

#define PROGRAM_TOYS(X)                                                                        \
    X(each)                                                                                    \
    X(user)                                                                                    \
    X(cubes)                                                                                   \
    X(cubes_expanded)                                                                          \
    X(sum)                                                                                     \
    X(mean) X(var) X(std) X(prod) X(max) X(min) X(norm_entries) X(logsumexp) X(cumsum) X(      \
        cumprod) X(softmax) X(log_softmax) X(norm_column_sum) X(norm_row_sum) X(layer_norm)    \
        X(matmul) X(gemm) X(gemv) X(dot) X(axpy) X(scale_real) X(ger) X(outer) X(kron) X(      \
            quadform) X(trace) X(trace_product) X(syrk) X(symm) X(trmm) X(gram) X(wide)        \
            X(solve) X(solve_spd) X(inverse) X(inverse_spd) X(det) X(logabsdet) X(logdet_spd)  \
                X(cholesky) X(factor_solve) X(factor_logdet) X(factor_det) X(factor_inverse)   \
                    X(solve_batch) X(trsm) X(solve_banded) X(solve_tridiagonal) X(qr_q) X(     \
                        qr_r) X(qr_product) X(lstsq) X(pinv) X(eigvalsh) X(eigh_squares)       \
                        X(eigh_product) X(svdvals) X(svd_product) X(norm_spectral) X(          \
                            norm_nuclear) X(symmetric_exp) X(symmetric_log) X(symmetric_sqrt)  \
                            X(symmetric_inverse_sqrt) X(symmetric_cube) X(expm) X(powm)        \
                                X(sqrtm) X(logm) X(sylvester) X(lyapunov) X(lyapunov_discrete) \
                                    X(copy) X(reversed) X(scatter_add) X(scatter_set) X(row)   \
                                        X(column) X(diagonal) X(stacked) X(concat_rows)        \
                                            X(concat_cols) X(diag) X(tril) X(triu)             \
                                                X(flip_rows) X(pad) X(repeat) X(mvn_logpdf)    \
                                                    X(covariance) X(cross_entropy_soft)        \
                                                        X(call) X(map) X(scan) X(checkpoint)
#define TOY(name) toy_of_##name
#define TOY_DECLARED(name)                                                                     \
    void TOY(name)(const struct program_case *c, const struct program_step *s,                 \
                   const struct toy_matrix *x, struct toy_matrix *y);
PROGRAM_TOYS(TOY_DECLARED)

/* Defines one of them. */
#define DEFINE(name, ...)                                                                      \
    void TOY(name)(const struct program_case *c, const struct program_step *s,                 \
                   const struct toy_matrix *x, struct toy_matrix *y) {                         \
        (void)c, (void)s, (void)x;                                                             \
        __VA_ARGS__                                                                            \
    }

static inline void give(struct toy_matrix *y, struct toy_matrix a) {
    memcpy(y->v, a.v, y->rows * y->cols * sizeof *y->v);
}

#endif
