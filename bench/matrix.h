/* SPDX-License-Identifier: MIT */
/* matrix.h - the sides that matrix.c compares. */
#ifndef WENGERT_BENCH_MATRIX_H
#define WENGERT_BENCH_MATRIX_H

#include <wengert.h>

#include "matrix_case.h"

/* ---- hand-written (matrix_hand.c) -------------------------------------------------------- */

/* Doubles and ints that the two below need in work and pivot. */
void matrix_work(const struct matrix_case *c, size_t *doubles, size_t *ints);
/* y; 0, or LAPACK's info. */
int matrix_forward(const struct matrix_case *c, double *y);
/* y and x_, with the best known adjoint. */
int matrix_handwritten(const struct matrix_case *c, double *y, double *g);
/* Only for `products`: the same, knowing that all adjoints of a sum are equal, so that two of
 * the four products of the adjoint are outer products. */
int matrix_handwritten_rank_one(const struct matrix_case *c, double *y, double *g);
/* Only for map_...: what a derivative has to read and write beside computing: the operand into
 * its place, adjoints cleared, the seed, the adjoint of the operand. */
int matrix_traffic(const struct matrix_case *c, double *y, double *g);

/* ---- Wengert (matrix_tape.c) ------------------------------------------------------------- */

enum matrix_extent { MATRIX_RECORD, MATRIX_REVERSE, MATRIX_GRADIENT };

/* Resets, makes the inputs, records; from MATRIX_REVERSE on sweeps; MATRIX_GRADIENT: copies x_
 * to g. */
wg_status matrix_tape(wg_tape *t, const struct matrix_case *c, enum matrix_extent extent,
                      double *g);

#endif
