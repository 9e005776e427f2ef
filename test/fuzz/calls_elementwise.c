/* SPDX-License-Identifier: MIT */
/* calls_elementwise.c - rows: elementwise operations, one for each of the table, and
 * reductions. */
#include "calls.h"

/* A shape that goes with rows-by-cols: stretched along a dimension, now and then. */
#define STRETCHED(v, rows, cols)                                                               \
    const size_t v##_rows = one_in(8) ? 1 : (rows);                                            \
    const size_t v##_cols = one_in(8) ? 1 : (cols);                                            \
    MAT(v, v##_rows, v##_cols)
#define SHAPE                                                                                  \
    TAPE(t);                                                                                   \
    DIM(m);                                                                                    \
    DIM(n);                                                                                    \
    MAT(a, m, n)

#define OP1(name, ...)                                                                         \
    static void each_##name(void) {                                                            \
        SHAPE;                                                                                 \
        GIVES_MAT((wg_mat_##name)(t, a));                                                      \
    }
#define OP2(name, ...)                                                                         \
    static void each_##name(void) {                                                            \
        SHAPE;                                                                                 \
        STRETCHED(b, m, n);                                                                    \
        GIVES_MAT((wg_mat_##name)(t, a, b));                                                   \
    }
#define OP3(name, ...)                                                                         \
    static void each_##name(void) {                                                            \
        SHAPE;                                                                                 \
        STRETCHED(b, m, n);                                                                    \
        STRETCHED(c, m, n);                                                                    \
        GIVES_MAT((wg_mat_##name)(t, a, b, c));                                                \
    }
#define OP4(name, ...)                                                                         \
    static void each_##name(void) {                                                            \
        SHAPE;                                                                                 \
        STRETCHED(b, m, n);                                                                    \
        STRETCHED(c, m, n);                                                                    \
        STRETCHED(d, m, n);                                                                    \
        GIVES_MAT((wg_mat_##name)(t, a, b, c, d));                                             \
    }
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* Inline, on small matrices. */
ROW(wgi_small_op) {
    SHAPE;
    MAT(b, m, n);
    GIVES_MAT(wg_mat_add(t, wg_mat_mul(t, a, b), wg_mat_sub(t, a, wg_mat_div(t, a, b))));
}
ROW(wg_mat_select) {
    SHAPE;
    MAT(b, m, n);
    STRETCHED(mask, m, n);
    GIVES_MAT(wg_mat_select(t, mask, a, b));
}
ROW(wg_mat_scale) {
    SHAPE;
    NUMBER(c);
    GIVES_MAT(wg_mat_scale(t, c, a));
}
ROW(wg_mat_scale_real) {
    SHAPE;
    REAL(c);
    GIVES_MAT(wg_mat_scale_real(t, c, a));
}
ROW(wg_mat_axpby) {
    SHAPE;
    NUMBER(c);
    NUMBER(d);
    STRETCHED(b, m, n);
    GIVES_MAT(wg_mat_axpby(t, c, a, d, b));
}
static double square(void *ctx, double x) { return (void)ctx, x * x; }
static double twice(void *ctx, double x) { return (void)ctx, 2 * x; }
ROW(wg_mat_map) {
    SHAPE;
    wg_map_fn *const f = one_in(40) ? NULL : square, *const d = one_in(40) ? NULL : twice;
    GIVES_MAT(wg_mat_map(t, f, d, NULL, a));
}
ROW(wg_mat_apply_scalar) {
    TAPE(t);
    const wg_scalar_op *op = some_op();
    if (op != NULL && op->name == NULL) op = NULL; /* rows without functions are not defined */
    named("op", "%s", op != NULL ? op->name : "NULL");
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    STRETCHED(b, m, n);
    STRETCHED(c, m, n);
    STRETCHED(d, m, n);
    GIVES_MAT(wg_mat_apply_scalar(t, op, one_in(40) ? NULL : (const wg_mat[]){a, b, c, d}));
}
static double two(void *ctx, double x) { return (void)ctx, (void)x, 2; }
ROW(wg_mat_map_twice) {
    SHAPE;
    wg_map_fn *const f = one_in(40) ? NULL : square, *const d = one_in(40) ? NULL : twice;
    GIVES_MAT(wg_mat_map_twice(t, f, d, one_in(40) ? NULL : two, NULL, a));
}

/* ---- reductions ---- */

#define ALL(name)                                                                              \
    ROW(name) {                                                                                \
        SHAPE;                                                                                 \
        GIVES_REAL(name(t, a));                                                                \
    }
#define ALONG(name)                                                                            \
    ROW(name) {                                                                                \
        SHAPE;                                                                                 \
        AXIS(axis);                                                                            \
        GIVES_MAT(name(t, a, axis));                                                           \
    }
#define ALL_BY(name)                                                                           \
    ROW(name) {                                                                                \
        SHAPE;                                                                                 \
        const double p = one_in(3) ? number() : 1 + (double)below(3);                          \
        named("p", "%.17g", p);                                                                \
        GIVES_REAL(name(t, a, p));                                                             \
    }
#define ALONG_BY(name)                                                                         \
    ROW(name) {                                                                                \
        SHAPE;                                                                                 \
        const double p = one_in(3) ? number() : 1 + (double)below(3);                          \
        named("p", "%.17g", p);                                                                \
        AXIS(axis);                                                                            \
        GIVES_MAT(name(t, a, p, axis));                                                        \
    }
ALL(wg_mat_sum)
ALONG(wg_mat_sum_axis)
ALL(wg_mat_mean)
ALONG(wg_mat_mean_axis)
ALL_BY(wg_mat_var)
ALONG_BY(wg_mat_var_axis)
ALL_BY(wg_mat_std)
ALONG_BY(wg_mat_std_axis)
ALL(wg_mat_prod)
ALONG(wg_mat_prod_axis)
ALL(wg_mat_max)
ALONG(wg_mat_max_axis)
ALL(wg_mat_min)
ALONG(wg_mat_min_axis)
ALL_BY(wg_mat_norm_entries)
ALONG_BY(wg_mat_norm_entries_axis)
ALL(wg_mat_norm_column_sum)
ALL(wg_mat_norm_row_sum)
ALONG(wg_mat_cumsum)
ALONG(wg_mat_cumprod)
ALONG(wg_mat_cummax)
ALONG(wg_mat_sort)
ALONG(wg_mat_median_axis)
ALONG_BY(wg_mat_quantile_axis)
ROW(wg_mat_median) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    GIVES_REAL(wg_mat_median(t, a));
}
ROW(wg_mat_quantile) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    NUMBER(p);
    GIVES_REAL(wg_mat_quantile(t, a, p));
}
ALL(wg_mat_logsumexp)
ALONG(wg_mat_logsumexp_axis)
ALONG(wg_mat_softmax)
ALONG(wg_mat_log_softmax)
ROW(wg_mat_cross_entropy) {
    SHAPE;
    AXIS(axis);
    const size_t most = m > n ? m : n;
    INDICES(label, most + 1, m < n ? m : n);
    GIVES_MAT(wg_mat_cross_entropy(t, a, label, axis));
}
ROW(wg_mat_cross_entropy_soft) {
    SHAPE;
    MAT(q, m, n);
    AXIS(axis);
    GIVES_MAT(wg_mat_cross_entropy_soft(t, a, q, axis));
}
ROW(wg_mat_layer_norm) {
    SHAPE;
    AXIS(axis);
    const size_t length = axis == WG_ALL ? m * n : axis == WG_EACH_COL ? m : n;
    MAT(gain, length, 1);
    const int row = one_in(2);
    MAT(bias, row ? 1 : length, row ? length : 1);
    POSITIVE(eps);
    GIVES_MAT(wg_mat_layer_norm(t, a, gain, bias, eps, axis));
}

#define ANY(name, ...) {"wg_mat_" #name, each_##name, 3},
#define OP1 ANY
#define OP2 ANY
#define OP3 ANY
#define OP4 ANY
static const struct row list[] = {
#include "ops/scalar/scalar.def"
    LISTED(wgi_small_op, 24),
    LISTED(wg_mat_select, 4),
    LISTED(wg_mat_scale, 8),
    LISTED(wg_mat_scale_real, 8),
    LISTED(wg_mat_axpby, 8),
    LISTED(wg_mat_apply_scalar, 4),
    LISTED(wg_mat_map, 4),
    LISTED(wg_mat_map_twice, 4),
    LISTED(wg_mat_sum, 16),
    LISTED(wg_mat_sum_axis, 6),
    LISTED(wg_mat_mean, 6),
    LISTED(wg_mat_mean_axis, 6),
    LISTED(wg_mat_var, 6),
    LISTED(wg_mat_var_axis, 6),
    LISTED(wg_mat_std, 6),
    LISTED(wg_mat_std_axis, 6),
    LISTED(wg_mat_prod, 6),
    LISTED(wg_mat_prod_axis, 6),
    LISTED(wg_mat_max, 6),
    LISTED(wg_mat_max_axis, 6),
    LISTED(wg_mat_min, 6),
    LISTED(wg_mat_min_axis, 6),
    LISTED(wg_mat_norm_entries, 6),
    LISTED(wg_mat_norm_entries_axis, 6),
    LISTED(wg_mat_norm_column_sum, 6),
    LISTED(wg_mat_norm_row_sum, 6),
    LISTED(wg_mat_cumsum, 6),
    LISTED(wg_mat_cumprod, 6),
    LISTED(wg_mat_cummax, 4),
    LISTED(wg_mat_sort, 6),
    LISTED(wg_mat_median, 4),
    LISTED(wg_mat_median_axis, 4),
    LISTED(wg_mat_quantile, 4),
    LISTED(wg_mat_quantile_axis, 4),
    LISTED(wg_mat_logsumexp, 6),
    LISTED(wg_mat_logsumexp_axis, 6),
    LISTED(wg_mat_softmax, 6),
    LISTED(wg_mat_log_softmax, 6),
    LISTED(wg_mat_cross_entropy, 6),
    LISTED(wg_mat_cross_entropy_soft, 6),
    LISTED(wg_mat_layer_norm, 6),
};
const struct rows calls_elementwise = ROWS(list);
