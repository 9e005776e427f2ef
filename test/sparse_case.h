/* SPDX-License-Identifier: MIT */
/* sparse_case.h - sparse derivatives of a callback against the dense drivers, and a plan of
 * sweeps against what a plan has to keep. */
#ifndef WENGERT_TEST_SPARSE_CASE_H
#define WENGERT_TEST_SPARSE_CASE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "tape/sparsity/sparsity.h"
#include "tolerance.h"

static wg_tape *tape; /* with WG_KEEP_CODE */

static inline int open_tape(void **state) {
    const wg_options keep = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&keep);
    return tape == NULL;
}
static inline int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)

static inline void ok(const wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(t));
}
static inline void assert_message(const wg_tape *t, const char *part) {
    if (strstr(wg_tape_message(t), part) == NULL)
        fail_msg("the message is: %s\nand not: %s", wg_tape_message(t), part);
}

static inline double *numbers(size_t n) {
    double *const p = malloc((n + 1) * sizeof *p);
    assert_non_null(p);
    return p;
}

/* In order, each entry once, lines as start says. */
static inline void assert_in_order(const wg_pattern *p) {
    const int by_rows = p->layout == WG_ROW_MAJOR;
    const size_t lines = by_rows ? p->rows : p->cols;
    const uint32_t *const line = by_rows ? p->row : p->col, *const across =
                                                                by_rows ? p->col : p->row;
    assert_int_equal(p->start[0], 0);
    assert_int_equal(p->start[lines], p->entries);
    for (size_t i = 0; i < lines; i++)
        for (size_t k = p->start[i]; k < p->start[i + 1]; k++) {
            assert_int_equal(line[k], i);
            assert_true(across[k] < (by_rows ? p->cols : p->rows));
            if (k > p->start[i]) assert_true(across[k] > across[k - 1]);
        }
}

/* How many colours a side has. */
static inline size_t assert_side(const wgi_side *a, size_t lines) {
    size_t colours = 0;
    for (size_t i = 0; i < lines && a->colour != NULL; i++)
        if (a->colour[i] != WGI_NO_COLOUR && a->colour[i] >= colours)
            colours = a->colour[i] + 1;
    assert_int_equal(colours, a->colours);
    return colours;
}

/* Have neighbours different colours, and no two colours a cycle? Variables of two colours are
 * walked through from neighbour to neighbour: in a forest none is met twice. */
static inline void walk_tree(const wg_sparsity *s, size_t v, size_t from, uint32_t other,
                             unsigned char *met) {
    const uint32_t *const colour = s->side[0].colour;
    if (met[v]) fail_msg("a cycle of two colours goes through variable %zu", v);
    met[v] = 1;
    for (size_t k = s->whole_start[v]; k < s->whole_start[v + 1]; k++) {
        const size_t w = s->whole_col[k];
        if (w == v) continue;
        if (colour[w] == colour[v]) fail_msg("neighbours %zu and %zu have one colour", v, w);
        if (w != from && colour[w] == other) walk_tree(s, w, v, colour[v], met);
    }
}
static inline void assert_acyclic(const wg_sparsity *s) {
    const wgi_side *const a = &s->side[0];
    unsigned char *const met = malloc(s->n + 1);
    assert_non_null(met);
    for (uint32_t c = 0; c < a->colours; c++)
        for (uint32_t d = c + 1; d < a->colours; d++) {
            memset(met, 0, s->n);
            for (size_t i = 0; i < s->n; i++)
                if (!met[i] && (a->colour[i] == c || a->colour[i] == d))
                    walk_tree(s, i, i, a->colour[i] == c ? d : c, met);
        }
    free(met);
}

/* Is every wanted entry alone with its colour where it is read? The entries of each row of the whole
 * pattern are counted by the colours of their columns, and those of each column by the colours of
 * their rows. */
static inline void assert_plan(const wg_sparsity *s) {
    const wg_pattern *const p = &s->pattern;
    const size_t colours[2] = {s->side[0].colours, s->side[1].colours};
    assert_int_equal(assert_side(&s->side[0], p->cols) + assert_side(&s->side[1], p->rows),
                     wg_sparsity_colours(s));
    if (s->step != NULL) {
        assert_acyclic(s);
        return;
    }
    uint32_t *const in_row = calloc(p->rows * colours[0] + 1, sizeof *in_row);
    uint32_t *const in_column = calloc(p->cols * colours[1] + 1, sizeof *in_column);
    assert_non_null(in_row);
    assert_non_null(in_column);
    for (size_t i = 0; i < p->rows; i++)
        for (size_t k = s->whole_start[i]; k < s->whole_start[i + 1]; k++) {
            const size_t j = s->whole_col[k];
            if (colours[0] != 0 && s->side[0].colour[j] != WGI_NO_COLOUR)
                in_row[i * colours[0] + s->side[0].colour[j]]++;
            if (colours[1] != 0 && s->side[1].colour[i] != WGI_NO_COLOUR)
                in_column[j * colours[1] + s->side[1].colour[i]]++;
        }
    for (size_t e = 0; e < p->entries; e++) {
        const int swap = s->swapped != NULL && s->swapped[e];
        const size_t at = swap ? p->col[e] : p->row[e], along = swap ? p->row[e] : p->col[e];
        const int by_row = swap && !s->hessian; /* a backward sweep */
        const uint32_t colour = s->side[by_row].colour[along];
        assert_true(colour < colours[by_row]);
        assert_int_equal((by_row ? in_column : in_row)[at * colours[by_row] + colour], 1);
    }
    free(in_row), free(in_column);
}

/* Entries against a dense matrix, m-by-n by rows: none that is not 0 is missing, where the
 * pattern has the whole (or a triangle); values agree to some roundings of the largest. */
static inline void assert_entries(const wg_pattern *p, const double *values,
                                  const double *dense, char triangle) {
    unsigned char *const there = calloc(p->rows * p->cols + 1, 1);
    double largest = 0;
    assert_non_null(there);
    for (size_t i = 0; i < p->rows * p->cols; i++)
        if (fabs(dense[i]) > largest) largest = fabs(dense[i]);
    for (size_t k = 0; k < p->entries; k++) {
        const size_t at = p->row[k] * p->cols + p->col[k];
        there[at] = 1;
        if (dense[at] != dense[at] ? values[k] == values[k]
                                   : !(fabs(values[k] - dense[at]) <=
                                       TOL_FORWARD_REVERSE_ULP * DBL_EPSILON * largest))
            fail_msg("(%u, %u) is %.17g, not %.17g", p->row[k], p->col[k], values[k],
                     dense[at]);
    }
    for (size_t i = 0; i < p->rows && triangle != 0; i++)
        for (size_t j = 0; j < p->cols; j++)
            if (dense[i * p->cols + j] != 0 && !there[i * p->cols + j] &&
                (triangle == 'F' || (triangle == 'L' ? i >= j : i <= j)))
                fail_msg("(%zu, %zu) is %g, and not in the pattern", i, j,
                         dense[i * p->cols + j]);
    free(there);
}

/* Found at x, compared at x and at `other`, with the dense matrix. */
static inline wg_sparsity *check_jacobian(wg_callback *f, void *data, size_t n, const double *x,
                                          const double *other, size_t m, wg_layout layout) {
    wg_sparsity *s;
    double *const dense = numbers(m * n), *const y = numbers(m), *const want = numbers(m);
    ok(tape, wg_jacobian_sparsity(tape, f, data, n, x, m, layout, &s));
    const wg_pattern *const p = wg_sparsity_pattern(s);
    double *const values = numbers(p->entries);
    assert_int_equal(p->rows, m);
    assert_int_equal(p->cols, n);
    assert_int_equal(p->layout, layout);
    assert_in_order(p);
    if (m * n < 100000) assert_plan(s);
    for (int k = 0; k < 2; k++) {
        const double *const at = k == 0 ? x : other;
        ok(tape, wg_jacobian(tape, f, data, n, at, m, want, WG_ROW_MAJOR, dense, n));
        ok(tape, wg_sparse_jacobian(tape, s, f, data, at, y, values));
        assert_entries(p, values, dense, 'F');
        assert_memory_equal(y, want, m * sizeof *y);
    }
    free(dense), free(y), free(want), free(values);
    return s;
}

/* The same of a Hessian of the sum of m outputs with weights w (NULL: 1). */
static inline wg_sparsity *check_hessian(wg_callback *f, void *data, size_t n, const double *x,
                                         const double *other, size_t m, const double *w,
                                         char triangle, wg_layout layout, wg_callback *weighted,
                                         void *weighted_data) {
    wg_sparsity *s;
    double *const dense = numbers(n * n), *const g = numbers(n), *const want = numbers(n);
    double *const y = numbers(m), *const outputs = numbers(m);
    ok(tape, wg_hessian_sparsity(tape, f, data, n, x, m, triangle, layout, &s));
    const wg_pattern *const p = wg_sparsity_pattern(s);
    double *const values = numbers(p->entries);
    assert_int_equal(p->rows, n);
    assert_int_equal(p->cols, n);
    assert_in_order(p);
    assert_plan(s);
    for (size_t k = 0; k < p->entries; k++)
        assert_true(triangle == 'F' ||
                    (triangle == 'L' ? p->row[k] >= p->col[k] : p->row[k] <= p->col[k]));
    for (int k = 0; k < 2; k++) {
        const double *const at = k == 0 ? x : other;
        ok(tape, wg_hessian(tape, weighted, weighted_data, n, at, NULL, want, dense, n));
        ok(tape, wg_sparse_hessian(tape, s, f, data, at, w, y, g, values));
        assert_entries(p, values, dense, triangle);
        ok(tape, wg_eval(tape, f, data, n, at, m, outputs));
        assert_memory_equal(y, outputs, m * sizeof *y);
        double largest = 0;
        for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(want[i]));
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(g[i] - want[i]) <=
                        TOL_FORWARD_REVERSE_ULP * DBL_EPSILON * largest);
    }
    /* the same by substitution, at the last point, where every entry is finite */
    const wg_colouring forest = {.substitution = 1};
    wg_sparsity *by = NULL;
    int finite = 1;
    for (size_t i = 0; i < n * n; i++) finite &= fabs(dense[i]) <= DBL_MAX;
    ok(tape, wg_sparsity_colour(tape, s, &forest, &by));
    assert_plan(by);
    ok(tape, wg_sparse_hessian(tape, by, f, data, other, w, NULL, NULL, values));
    if (finite) assert_entries(p, values, dense, triangle);
    wg_sparsity_free(by);
    free(dense), free(g), free(want), free(y), free(outputs), free(values);
    return s;
}

#endif
