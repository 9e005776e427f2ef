/* SPDX-License-Identifier: MIT */
/* programs_moves.c - operations of programs that move elements, and loops, on series; see
 * programs_toy.h. */
#include <string.h>
#include "programs_toys.h"

/* ---- moved ---- */

DEFINE(copy, give(y, x[0]);)
DEFINE(reversed, const size_t n = x[0].rows * x[0].cols;
       for (size_t i = 0; i < n; i++) y->v[i] = x[0].v[n - 1 - i];)
DEFINE(scatter_add, give(y, x[0]); const size_t n = x[0].rows * x[0].cols;
       for (size_t i = 0; i < x[1].rows * x[1].cols; i++)
           y->v[2 * i % n] = toy_add(y->v[2 * i % n], x[1].v[i]);)
DEFINE(scatter_set, give(y, x[0]); const size_t n = x[0].rows * x[0].cols;
       for (size_t i = 0; i < x[1].rows * x[1].cols; i++) y->v[2 * i % n] = x[1].v[i];)
DEFINE(row, for (size_t j = 0; j < x[0].cols; j++) y->v[j] = AT(&x[0], (size_t)s->whole[0], j);)
DEFINE(column,
       for (size_t i = 0; i < x[0].rows; i++) y->v[i] = AT(&x[0], i, (size_t)s->whole[0]);)
DEFINE(diagonal, for (size_t i = 0; i < y->rows; i++) y->v[i] = AT(&x[0], i, i);)
DEFINE(stacked, give(y, x[0]);)
DEFINE(concat_rows,
       for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++)
           AT(y, i, j) = i < x[0].rows ? AT(&x[0], i, j) : AT(&x[1], i - x[0].rows, j);)
DEFINE(concat_cols,
       for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++)
           AT(y, i, j) = j < x[0].cols ? AT(&x[0], i, j) : AT(&x[1], i, j - x[0].cols);)
DEFINE(diag, for (size_t i = 0; i < y->rows; i++) AT(y, i, i) = x[0].v[i];)
DEFINE(tril, for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++) if (
                 (long)j - (long)i <= s->whole[0]) AT(y, i, j) = AT(&x[0], i, j);)
DEFINE(triu, for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++) if (
                 (long)j - (long)i >= s->whole[0]) AT(y, i, j) = AT(&x[0], i, j);)
DEFINE(flip_rows, for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++)
                      AT(y, i, j) = AT(&x[0], y->rows - 1 - i, j);)
DEFINE(pad, for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++)
                AT(y, i, j) = j > 0 && i < x[0].rows ? AT(&x[0], i, j - 1)
                                                     : toy_number(s->number[0]);)
DEFINE(repeat, for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++)
                   AT(y, i, j) = AT(&x[0], i / 2, j);)

/* ---- loops ---- */

/* Body of s on operands that stand one after the other. */
static struct toy_matrix body(const struct program_case *c, const struct program_step *s,
                              const struct toy_matrix *x) {
    struct toy_series in[PROGRAM_NUMBERS];
    size_t n = 0;
    for (size_t k = 0; k < s->operands; k++) {
        memcpy(in + n, x[k].v, x[k].rows * x[k].cols * sizeof *in);
        n += x[k].rows * x[k].cols;
    }
    return toy_nodes(c, (size_t)s->whole[0], in);
}
DEFINE(call, const struct toy_matrix r = body(c, s, x); if (toy_run.known) give(y, r);)
void TOY(map)(const struct program_case *c, const struct program_step *s,
              const struct toy_matrix *x, struct toy_matrix *y) {
    struct toy_matrix in[PROGRAM_INPUTS];
    for (size_t k = 0; k < s->operands; k++) in[k] = x[k];
    in[0].cols = 1;
    for (size_t p = 0; p < x[0].cols; p++) {
        struct toy_matrix part = {y->rows, 1, y->v + p * y->rows};
        in[0].v = x[0].v + p * x[0].rows;
        const struct toy_matrix r = body(c, s, in);
        if (toy_run.known) give(&part, r);
    }
}
void TOY(scan)(const struct program_case *c, const struct program_step *s,
               const struct toy_matrix *x, struct toy_matrix *y) {
    struct toy_matrix in[PROGRAM_INPUTS];
    for (size_t k = 0; k < s->operands; k++) in[k] = x[k];
    for (int step = 0; step < s->whole[1] && toy_run.known; step++) {
        in[0] = body(c, s, in);
        if (toy_run.known) give(y, in[0]);
    }
}
DEFINE(checkpoint, TOY(scan)(c, s, x, y);)
