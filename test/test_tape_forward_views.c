/* SPDX-License-Identifier: MIT */
/* test_tape_forward_views.c - operands that are views of larger matrices, and transposed ones:
 * tangents on a forward tape, where they stand between those of others, against adjoints. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <wengert.h>
#include "walk.h"
#include "written_out.h"

enum { EDGE = 1, AROUND = 4096 }; /* rows above and below a view */
#define ELSEWHERE 77.0            /* tangents of elements that no operand has */

/* An operand with values x: the middle of a larger matrix, or of the transpose of one. */
static wg_mat view_of(wg_tape *t, size_t rows, size_t cols, const double *x, int turned) {
    double around[AROUND];
    const size_t length = turned ? cols : rows, columns = turned ? rows : cols;
    const size_t ld = length + 2 * EDGE;
    assert_true(ld * columns <= AROUND);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < ld; i++) {
            const size_t k = i - EDGE;
            around[i + j * ld] = k >= length ? 9 : turned ? x[j + k * rows] : x[k + j * rows];
        }
    const wg_mat all = wg_mat_input(t, ld, columns, around, ld);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < ld; i++)
            (void)!wg_tangent_seed(t, wg_mat_at(all, i, j), 0, ELSEWHERE);
    const wg_mat view = wg_mat_block(all, EDGE, 0, length, columns);
    return turned ? wg_mat_transpose(view) : view;
}

/* Records the case; gives how many inputs and results it has. */
static void record(wg_tape *t, const struct written_out *c, const double *x, int turned,
                   const double *tangent, wg_real *in, size_t *n, wg_real *y, size_t *m) {
    struct written_out_results r = {.count = 0};
    wg_mat operand[INS];
    *n = *m = 0;
    for (size_t k = 0; k < INS; k++) {
        const size_t rows = c->in[k].rows, cols = c->in[k].cols;
        operand[k] = rows * cols == 0 ? wg_mat_fill(t, rows, cols, 0)
                                      : view_of(t, rows, cols, x + *n, turned);
        for (size_t j = 0; j < cols; j++)
            for (size_t i = 0; i < rows; i++) {
                in[*n] = wg_mat_at(operand[k], i, j);
                if (tangent != NULL)
                    assert_int_equal(wg_tangent_seed(t, in[*n], 0, tangent[*n]), WG_OK);
                ++*n;
            }
    }
    c->record(t, operand, &r, c->data);
    for (size_t o = 0; o < r.count; o++)
        for (size_t j = 0; j < r.mat[o].cols; j++)
            for (size_t i = 0; i < r.mat[o].rows; i++) y[(*m)++] = wg_mat_at(r.mat[o], i, j);
    written_out_must(c->name, wg_tape_status(t));
}

static void tangents_of_views_are_those_of_adjoints(void **state) {
    (void)state;
    static wg_real in[WRITTEN_OUT_MOST], y[WRITTEN_OUT_MOST];
    const struct written_out *c;
    for (size_t k = 0; (c = written_out_case(k)) != NULL; k++)
        for (int turned = 0; turned < 2; turned++) {
            double x[WRITTEN_OUT_MOST], v[WRITTEN_OUT_MOST], w[WRITTEN_OUT_MOST],
                g[WRITTEN_OUT_MOST];
            double backward = 0, forward = 0, sizes = 0;
            size_t n, m;
            wg_tape *const t = wg_tape_new(NULL);
            written_out_seed = 3 + k;
            written_out_fill(c, x);
            for (size_t i = 0; i < WRITTEN_OUT_MOST; i++) {
                v[i] = walk_number(&written_out_seed);
                w[i] = walk_number(&written_out_seed);
            }
            record(t, c, x, turned, NULL, in, &n, y, &m);
            if (wg_reverse_seeds(t, m, y, w) == WG_OK) {
                written_out_must(c->name, wg_adjoints(t, n, in, g));
                for (size_t i = 0; i < n; i++)
                    backward += g[i] * v[i], sizes += fabs(g[i] * v[i]);
            }
            wg_tape_reset(t);
            assert_int_equal(wg_tape_forward(t, 1), WG_OK);
            record(t, c, x, turned, v, in, &n, y, &m);
            for (size_t j = 0; j < m; j++) forward += w[j] * wg_tangent(t, y[j], 0);
            if (!(fabs(forward - backward) <= 1e-11 * sizes))
                fail_msg("%s%s: %.17g forward, %.17g backward", c->name,
                         turned ? ", transposed" : "", forward, backward);
            wg_tape_free(t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangents_of_views_are_those_of_adjoints),
    };
    return cmocka_run_group_tests(tests, written_out_open, written_out_close);
}
