/* SPDX-License-Identifier: MIT */
/* test_tape_taylor.c - Taylor coefficients of callbacks, and their adjoints, against those of
 * functions, known series and each other. */
#include "counted.h"
#include "driver_cases.h"

#include "ops/scalar/elementwise.h"

/* ---- every operation ---- */

enum { ORDER = 6 };

static wg_status one_row(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m;
    y[0] = wg_apply_scalar(t, data, x);
    return WG_OK;
}

/* The coefficients as wg_function_taylor has them, along a line. */
static wg_status by_function(const wg_scalar_op *op, size_t order, const double *x,
                             const double *v, double *c) {
    const size_t n = op->arity;
    const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL, *series = NULL;
    wg_status s =
        wg_function_record(coded, one_row, (void *)(uintptr_t)op, 1, &in, x, 1, &out, &f);
    if (s == WG_OK) s = wg_function_taylor(coded, f, order, &series);
    if (s == WG_OK) {
        void *const work = aligned_alloc(64, (wg_function_work(series, NULL) + 63) / 64 * 64);
        const wg_points at[2] = {{x, 0, 1}, {v, 0, 1}};
        const wg_results y = {c, 0, 1};
        s = wg_function_evaluate(series, 1, at, &y, NULL, work, NULL);
        free(work);
    }
    wg_function_free(series);
    wg_function_free(f);
    return s;
}

static int agree(double a, double b, double size) {
    return (a != a && b != b) || a == b || fabs(a - b) <= TOL_PROGRAM_ULP * DBL_EPSILON * size;
}

static void every_operation_has_the_coefficients_of_its_function(void **state) {
    static const double point[][4] = {{0.3, 0.7, 0.45, 1.1},
                                      {1.7, 2.4, 1.2, -0.3},
                                      {-0.6, 0.9, -1.3, 0.2},
                                      {2.3, -0.4, 0.8, 3}};
    const double v[4] = {0.7, -0.4, 0.3, 1};
    size_t compared = 0;
    (void)state;
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        for (size_t p = 0; p < 4; p++) {
            const wg_scalar_op *const op = &wgi_scalar_ops[i];
            const size_t n = op->arity;
            double x[4 * (ORDER + 1)] = {0}, c[ORDER + 1], ref[ORDER + 1], size = 1;
            for (size_t k = 0; k < n; k++) x[k] = point[p][k], x[n + k] = v[k];
            for (size_t order = 0; order <= ORDER; order += 3) {
                const wg_status s = by_function(op, order, point[p], v, ref);
                assert_int_equal(
                    wg_taylor(coded, one_row, (void *)(uintptr_t)op, n, order, x, 1, c), s);
                if (s != WG_OK) continue;
                for (size_t k = 0; k <= order; k++)
                    if (fabs(ref[k]) <= DBL_MAX) size = fmax(size, fabs(ref[k]));
                for (size_t k = 0; k <= order; k++, compared++)
                    if (!agree(c[k], ref[k], size))
                        fail_msg("%s at point %zu: coefficient %zu is %.17g, not %.17g",
                                 op->name, p, k, c[k], ref[k]);
            }
        }
    assert_true(compared > 3000);
}

/* ---- curves ---- */

/* Of x(s) = s + s^2 + ... = s / (1 - s): 1 / (1 + x) = 1 - s, log(1 + x) = -log(1 - s). */
static wg_status of_curve(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_div(1, wg_add(1, x[0])));
    y[1] = wg_let(t, wg_log(wg_add(1, x[0])));
    y[2] = wg_let(t, wg_pow(x[0], 3));
    y[3] = wg_constant(5);
    y[4] = x[0];
    return WG_OK;
}

static void curves_have_the_series_of_what_they_are_put_into(void **state) {
    enum { FAR = 32, M = 6 };
    double x[FAR + 1], c[M * (FAR + 1)];
    (void)state;
    x[0] = 0;
    for (int k = 1; k <= FAR; k++) x[k] = 1;
    assert_int_equal(wg_taylor(coded, of_curve, NULL, 1, FAR, x, M, c), WG_OK);
    for (int k = 0; k <= FAR; k++) {
        const double *const at = c + M * k;
        assert_true(fabs(at[0] - (k == 0   ? 1
                                  : k == 1 ? -1
                                           : 0)) <= TOL_PROGRAM_ULP * DBL_EPSILON);
        assert_true(fabs(at[1] - (k == 0 ? 0 : 1.0 / k)) <= TOL_PROGRAM_ULP * DBL_EPSILON);
        /* (s / (1 - s))^3: pairs out of k - 1 */
        assert_true(at[2] == (k < 3 ? 0 : (k - 1) * (k - 2) / 2));
        assert_true(at[3] == (k == 0 ? 5 : 0) && at[4] == x[k]);
        assert_nan(at[5]); /* never written */
    }
}

/* y' = f(y) by its own coefficients: y_{k+1} = f_k / (k + 1). The logistic curve of which
 * all is known. */
static wg_status logistic(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], wg_sub(1, x[0])));
    return WG_OK;
}

static void steps_of_a_differential_equation_are_series(void **state) {
    enum { FAR = 20 };
    double y[FAR + 1] = {0.5}, f[FAR + 1], sum = 0;
    (void)state;
    for (size_t k = 0; k < FAR; k++) {
        assert_int_equal(wg_taylor(coded, logistic, NULL, 1, k, y, 1, f), WG_OK);
        y[k + 1] = f[k] / (double)(k + 1);
    }
    for (int k = FAR; k >= 0; k--) sum = sum * 0.5 + y[k];
    assert_true(fabs(sum - 1 / (1 + exp(-0.5))) <= TOL_PROGRAM_ULP * DBL_EPSILON);
}

/* ---- adjoints ---- */

static wg_status everything(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    const wg_real a = wg_let(t, wg_add(wg_mul(x[0], x[1]), wg_exp(wg_neg(x[2]))));
    const wg_real b = wg_let(t, wg_sqrt(wg_add(2, wg_square(a))));
    const wg_real c = wg_let(t, wg_div(wg_sin(wg_mul(b, x[2])), wg_fma(a, b, 3)));
    const wg_real d = wg_let(t, wg_select_lt(a, b, wg_pow(c, 5), wg_tanh(a)));
    const wg_real e = wg_let(t, wg_pow(b, wg_add(x[1], 0.5)));
    y[0] = wg_let(t, wg_add(wg_mul(d, e), wg_hypot(a, c)));
    y[1] = wg_logsumexp(t, 3, (const wg_real[]){a, c, x[2]});
    y[2] = wg_let(t, wg_pow(wg_sub(x[0], 0.4), 3)); /* of 0 at the point */
    return WG_OK;
}

/* Against the vjp of wg_function_taylor, which is made by the sweep of all functions, from
 * coefficients that are nodes. */
static void adjoints_are_those_of_the_recurrences_written_out(void **state) {
    enum { N = 3, M = 3, HIGH = 5, E = HIGH + 1 };
    const wg_argument in = {"x", N, 1, 0}, out = {"y", M, 1, 0};
    double x[N * E] = {0.4, 0.8, -0.3, 0.5, -0.7, 0.2}, w[M * E], c[M * E], g[N * E];
    double full[2 * N + M * E], ref[2 * N];
    wg_function *f = NULL, *series = NULL, *vjp = NULL;
    (void)state;
    for (int k = 0; k < M * E; k++) w[k] = cos(1.0 + k);
    assert_int_equal(wg_taylor_vjp(coded, everything, NULL, N, HIGH, x, M, w, c, g), WG_OK);
    assert_int_equal(wg_function_record(coded, everything, NULL, 1, &in, x, 1, &out, &f),
                     WG_OK);
    assert_int_equal(wg_function_taylor(coded, f, HIGH, &series), WG_OK);
    assert_int_equal(wg_function_vjp(coded, series, &vjp), WG_OK);
    memcpy(full, x, 2 * N * sizeof *x);
    memcpy(full + 2 * N, w, sizeof w);
    void *const work = aligned_alloc(64, (wg_function_work(vjp, NULL) + 63) / 64 * 64);
    const wg_points at[3] = {{full, 0, 1}, {full + N, 0, 1}, {full + 2 * N, 0, 1}};
    const wg_results y[2] = {{ref, 0, 1}, {ref + N, 0, 1}};
    assert_int_equal(wg_function_evaluate(vjp, 1, at, y, NULL, work, NULL), WG_OK);
    free(work);
    double size = 0;
    for (int i = 0; i < 2 * N; i++) size = fmax(size, fabs(ref[i]));
    for (int i = 0; i < 2 * N; i++)
        if (!agree(g[i], ref[i], 16 * size))
            fail_msg("g[%d] = %.17g, not %.17g", i, g[i], ref[i]);
    /* the adjoint of a higher coefficient of x is that of the lower one, of weights further
     * up */
    for (int shift = 1; shift + 1 <= HIGH; shift++) {
        double moved[M * E] = {0}, h[N * E];
        for (int k = 0; k + shift <= HIGH;
             k++) /* d c_{k+shift} / d x_{1+shift} = d c_k / d x_1 */
            for (int j = 0; j < M; j++) moved[k * M + j] = w[(k + shift) * M + j];
        assert_int_equal(wg_taylor_vjp(coded, everything, NULL, N, HIGH, x, M, moved, NULL, h),
                         WG_OK);
        for (int i = 0; i < N; i++)
            assert_true(agree(g[(1 + shift) * N + i], h[N + i], 64 * size));
    }
    wg_function_free(vjp), wg_function_free(series), wg_function_free(f);
}

/* ---- entry by entry, and all at once ---- */

/* Statements and arrays of many kinds, some of them alike but for their numbers, variables that
 * are none of the inputs, results that are operands. One operation on a matrix, which changes
 * nothing, lets all of it be one plan. */
typedef struct mixture {
    size_t powers;
    int with_matrix;
} mixture;

static wg_status mix(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *data) {
    const mixture *const d = data;
    const wg_real still = wg_input(t, 0.75), other = wg_let(t, wg_exp(still));
    (void)n, (void)m;
    wg_real sum =
        d->with_matrix ? wg_mat_at(wg_mat_scale(t, 1, wg_mat_from_real(t, x[0])), 0, 0) : x[0];
    for (size_t k = 0; k < d->powers; k++) {
        const wg_real a = wg_let(t, wg_pow(x[1], 0.5 + (double)k / 8));
        sum = wg_let(t, wg_add(wg_mul(sum, 0.25 + (double)(k % 3)), wg_div(a, 4 + (double)k)));
        sum = wg_let(t, wg_fma(sum, 0.5, wg_neg(wg_neg(x[2]))));
    }
    const wg_real same = wg_let(t, wg_neg(wg_neg(x[0])));
    const wg_real gone = wg_let(t, wg_sub(wg_mul(0, x[1]), wg_mul(still, other)));
    const wg_real list[] = {same, gone, wg_constant(2), sum, still, x[2]};
    const double by[] = {1, -2, 0.5, 3, 1, -1};
    y[0] = wg_let(t, wg_add(sum, wg_mul(wg_dot(t, 3, list, list + 3), other)));
    y[1] = wg_let(t, wg_add(wg_linear(t, 6, by, list), wg_sum(t, 6, list)));
    y[2] = wg_let(t, wg_sin(wg_mul(wg_square(same), wg_square(same))));
    y[3] = wg_let(t, wg_select_lt(x[0], x[1], wg_sqrt(wg_mul(x[1], x[1])), gone));
    y[4] = other;
    y[5] = still;
    y[6] = wg_polynomial(t, 3, list, x[1]);
    y[7] = wg_let(t, wg_mul(wg_square(wg_div(1, x[1])), wg_div(x[0], still)));
    return WG_OK;
}

static void entries_have_the_series_of_the_whole(void **state) {
    enum { N = 3, M = 8, HIGH = 33, E = HIGH + 1 };
    static const size_t powers[] = {0, 3, 90, 300}; /* 300: more codes than have plans */
    double x[N * E], w[M * E], c[2][M * E], g[2][N * E];
    (void)state;
    for (int k = 0; k < N * E; k++) x[k] = k < N ? 0.4 + 0.3 * k : sin(1.0 + k) / (1 + k * k);
    for (int k = 0; k < M * E; k++) w[k] = cos(1.0 + k);
    for (size_t p = 0; p < 4; p++)
        for (size_t order = 0; order <= HIGH; order = 2 * order + 1 + (order == 15)) {
            for (int matrix = 0; matrix < 2; matrix++)
                assert_int_equal(wg_taylor_vjp(coded, mix, &(mixture){powers[p], matrix}, N,
                                               order, x, M, w, c[matrix], g[matrix]),
                                 WG_OK);
            double size = 1, bar = 1;
            for (size_t k = 0; k < M * (order + 1); k++) size = fmax(size, fabs(c[1][k]));
            for (size_t k = 0; k < N * (order + 1); k++) bar = fmax(bar, fabs(g[1][k]));
            for (size_t k = 0; k < M * (order + 1); k++)
                if (!agree(c[0][k], c[1][k], size))
                    fail_msg("c[%zu] of order %zu: %.17g, not %.17g", k, order, c[0][k],
                             c[1][k]);
            for (size_t k = 0; k < N * (order + 1); k++)
                if (!agree(g[0][k], g[1][k], bar))
                    fail_msg("g[%zu] of order %zu: %.17g, not %.17g", k, order, g[0][k],
                             g[1][k]);
        }
}

/* ---- the highest order ---- */

static wg_status products(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    y[1] = wg_let(t, wg_square(x[0]));
    y[2] = wg_let(t, wg_fma(x[0], x[1], x[1]));
    return WG_OK;
}

static void rows_of_products_are_those_of_every_length(void **state) {
    enum { N = 2, M = 3, HIGHEST = 63 };
    double x[N * (HIGHEST + 1)], w[M * (HIGHEST + 1)], c[M * (HIGHEST + 1)];
    double g[N * (HIGHEST + 1)];
    (void)state;
    for (int k = 0; k < N * (HIGHEST + 1); k++) x[k] = k % 7 - 3;
    for (int k = 0; k < M * (HIGHEST + 1); k++) w[k] = k % 5 - 2;
    for (size_t order = 0; order <= HIGHEST; order++) {
        assert_int_equal(wg_taylor_vjp(coded, products, NULL, N, order, x, M, w, c, g), WG_OK);
        for (size_t k = 0; k <= order; k++) { /* whole numbers: exactly */
            double ab = 0, aa = 0, by_a = 0, by_b = w[M * k + 2];
            for (size_t j = 0; j <= k; j++) {
                ab += x[N * j] * x[N * (k - j) + 1];
                aa += x[N * j] * x[N * (k - j)];
            }
            for (size_t j = k; j <= order; j++) {
                const double *const v = w + M * j;
                by_a += (v[0] + v[2]) * x[N * (j - k) + 1] + 2 * v[1] * x[N * (j - k)];
                by_b += (v[0] + v[2]) * x[N * (j - k)];
            }
            assert_true(c[M * k] == ab && c[M * k + 1] == aa);
            assert_true(c[M * k + 2] == ab + x[N * k + 1]);
            assert_true(g[N * k] == by_a && g[N * k + 1] == by_b);
        }
    }
}

/* What is infinite has no part in where the other factor is 0; elsewhere it has. */
static void zeros_beside_infinities_are_zeros_in_rows(void **state) {
    enum { N = 2, M = 3, HIGH = 12 };
    double x[N * (HIGH + 1)] = {0}, w[M * (HIGH + 1)] = {0}, c[M * (HIGH + 1)];
    double g[N * (HIGH + 1)];
    (void)state;
    x[0] = 2, x[N * 3] = INFINITY, x[N * 4 + 1] = 5;
    w[M * 7] = 1;
    assert_int_equal(wg_taylor_vjp(coded, products, NULL, N, HIGH, x, M, w, c, g), WG_OK);
    for (int k = 0; k <= HIGH; k++) {
        assert_true(c[M * k] == (k == 4 ? 10 : k == 7 ? INFINITY : 0));
        assert_true(g[N * k] == (k == 3 ? 5 : 0));
        assert_true(g[N * k + 1] == (k == 7 ? 2 : k == 4 ? INFINITY : 0));
    }
}

static void order_zero_is_the_gradient(void **state) {
    const double x[3] = {0.4, 0.8, -0.3}, w[3] = {1, -2, 0.5};
    double y[3], c[3], g[3], ref[3];
    (void)state;
    assert_int_equal(wg_vjp(coded, everything, NULL, 3, x, 3, w, y, ref), WG_OK);
    assert_int_equal(wg_taylor_vjp(coded, everything, NULL, 3, 0, x, 3, w, c, g), WG_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(c[i] == y[i]);
        assert_true(agree(g[i], ref[i], 8));
    }
}

/* ---- mistakes, memory ---- */

static void mistakes_are_refused(void **state) {
    double x[2 * 2] = {1, 2, 1, 1}, c[2];
    (void)state;
    assert_int_equal(wg_taylor(tape, product, NULL, 2, 1, x, 1, c), WG_EMODE);
    assert_message(tape, "wg_taylor: the tape was not opened with WG_KEEP_CODE");
    assert_int_equal(wg_taylor(coded, product, NULL, 2, 64, x, 1, c), WG_EARG);
    assert_int_equal(wg_taylor(coded, NULL, NULL, 2, 1, x, 1, c), WG_ENULL);
    assert_int_equal(wg_taylor(coded, product, NULL, 2, 1, NULL, 1, c), WG_ENULL);
    assert_int_equal(wg_taylor(NULL, product, NULL, 2, 1, x, 1, c), WG_ENULL);
    assert_int_equal(wg_taylor_vjp(coded, product, NULL, 2, 1, x, 1, NULL, c, x), WG_ENULL);
    assert_message(coded, "wg_taylor_vjp: w is NULL");
    assert_int_equal(wg_taylor(coded, product, NULL, 2, 1, x, 1, c), WG_OK);
    assert_true(c[0] == 2 && c[1] == 3); /* (1 + s)(2 + s) */
    assert_int_equal(wg_taylor(coded, nothing, NULL, 0, 3, NULL, 0, NULL), WG_OK);
}

static wg_status large_product(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    enum { SIZE = 80 };
    static double numbers[SIZE * SIZE];
    (void)n, (void)m, (void)data;
    const wg_mat a = wg_mat_scale_real(t, x[0], wg_mat_constant(t, SIZE, SIZE, numbers, SIZE));
    y[0] = wg_mat_sum(t, wg_gemm(t, 'N', 'N', 1, a, a, 0, a));
    return WG_OK;
}

static void what_has_no_series_is_named(void **state) {
    const double x[2] = {1, 1};
    double c[2];
    (void)state;
    assert_int_equal(wg_taylor(coded, large_product, NULL, 1, 1, x, 1, c), WG_EMODE);
    assert_message(coded, "wg_taylor: wg_gemm has no Taylor coefficients on a tape: it is done "
                          "as an operation on matrices");
}

static void repeated_calls_do_not_allocate(void **state) {
    double x[3 * 9] = {0.4, 0.8, -0.3, 0.5, -0.7, 0.2}, w[3 * 9], c[3 * 9], first[3 * 9],
                 g[3 * 9];
    wg_stats before, after;
    (void)state;
    for (int k = 0; k < 27; k++) w[k] = 1.0 / (k + 1);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(wg_taylor_vjp(coded, everything, NULL, 3, 8, x, 3, w, c, g), WG_OK);
        if (k == 0) memcpy(first, g, sizeof g);
        if (k == 1) assert_int_equal(wg_tape_stats(coded, &before), WG_OK);
        assert_memory_equal(first, g, sizeof g);
    }
    assert_int_equal(wg_tape_stats(coded, &after), WG_OK);
    assert_true(before.memory_calls == after.memory_calls);
}

/* Memory that begins as one byte again and again. */
struct stained {
    wg_memory of;
    int with;
};
static void *reserve(void *ctx, size_t bytes) {
    const struct stained *const m = ctx;
    return m->of.reserve(m->of.ctx, bytes);
}
static int commit(void *ctx, void *p, size_t bytes) {
    const struct stained *const m = ctx;
    const int failed = m->of.commit(m->of.ctx, p, bytes);
    if (!failed) memset(p, m->with, bytes);
    return failed;
}
static void release(void *ctx, void *p, size_t bytes) {
    const struct stained *const m = ctx;
    m->of.release(m->of.ctx, p, bytes);
}

static wg_status squares(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_square(wg_let(t, wg_sqrt(x[0]))));
    y[1] = wg_let(t, wg_square(wg_let(t, wg_exp(x[0]))));
    return WG_OK;
}

static void what_memory_held_before_decides_no_bits(void **state) {
    enum { MANY = 20 };
    double x[MANY], w[2 * MANY], c[2][2 * MANY], g[2][MANY];
    (void)state;
    for (int k = 0; k < MANY; k++) x[k] = 1.3 / (1 + k), w[k] = 0.7, w[MANY + k] = -0.3;
    for (size_t order = 1; order < MANY; order++) {
        for (int k = 0; k < 2; k++) {
            struct counted counted = counted_start();
            struct stained m = {counted_memory(&counted), k == 0 ? 0 : 0xff}; /* NaN */
            const wg_options o = {.flags = WG_KEEP_CODE,
                                  .memory = {reserve, commit, release, &m}};
            wg_tape *const t = wg_tape_new(&o);
            assert_int_equal(wg_taylor_vjp(t, squares, NULL, 1, order, x, 2, w, c[k], g[k]),
                             WG_OK);
            wg_tape_free(t);
        }
        assert_memory_equal(c[0], c[1], 2 * (order + 1) * sizeof(double));
        assert_memory_equal(g[0], g[1], (order + 1) * sizeof(double));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_the_coefficients_of_its_function),
        cmocka_unit_test(curves_have_the_series_of_what_they_are_put_into),
        cmocka_unit_test(steps_of_a_differential_equation_are_series),
        cmocka_unit_test(adjoints_are_those_of_the_recurrences_written_out),
        cmocka_unit_test(entries_have_the_series_of_the_whole),
        cmocka_unit_test(rows_of_products_are_those_of_every_length),
        cmocka_unit_test(zeros_beside_infinities_are_zeros_in_rows),
        cmocka_unit_test(order_zero_is_the_gradient),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(what_has_no_series_is_named),
        cmocka_unit_test(repeated_calls_do_not_allocate),
        cmocka_unit_test(what_memory_held_before_decides_no_bits),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
