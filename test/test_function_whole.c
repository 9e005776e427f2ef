/* SPDX-License-Identifier: MIT */
/* Operations on matrices that functions keep whole: eigenvalues, singular values, functions of
 * matrices and matrix equations; and, where they are large, QR, least squares, pseudo-inverses
 * and exponentials. Functions are recorded at one point and compared with the tape at
 * others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "pools.h"
#include "walk.h"
#include "whole_case.h"

static int close_all(void **state) {
    (void)free_pools(state);
    return close_tape(state);
}

/* ---- against the tape, far from where they were recorded ---- */

static void functions_are_the_tape_at_other_points(void **state) {
    (void)state;
    uint64_t seed = 21;
    for (size_t c = 0; c < OPERATIONS; c++)
        for (size_t order = 1; order <= 4; order++) {
            number k = {operations[c].of, order, 0};
            const size_t n = 3 * order * order;
            double at[ALL], x[ALL], v[ALL], y[2], g[2][ALL], h[2][ALL], j;
            static double hess[ALL * ALL];
            fill(order, at, &seed);
            wg_function *const f = recording_of(number_of, &k, n, at);
            wg_function *const grad = made(wg_function_vjp, f), *const hvp =
                                                                    made(wg_function_hvp, f);
            wg_function *const jvp = made(wg_function_jvp, f);
            wg_function *const full = order <= 3 ? made(wg_function_hessian, f) : NULL;
            for (int point = 0; point < 3; point++) {
                fill(order, x, &seed);
                for (size_t i = 0; i < n; i++) v[i] = walk_number(&seed);
                must(wg_hvp(tape, number_of, &k, n, x, v, &y[1], g[1], h[1]));
                evaluate(f, x, NULL, NULL, y);
                near(operations[c].name, order, "the value", 1, y, y + 1);
                const double one = 1;
                evaluate(grad, x, &one, NULL, g[0]);
                near(operations[c].name, order, "the gradient", n, g[0], g[1]);
                double slope = 0;
                for (size_t i = 0; i < n; i++) slope += g[1][i] * v[i];
                evaluate(jvp, x, v, NULL, &j);
                near(operations[c].name, order, "the tangent", 1, &j, &slope);
                evaluate(hvp, x, v, NULL, h[0]);
                near(operations[c].name, order, "H v", n, h[0], h[1]);
                if (full == NULL) continue;
                evaluate(full, x, NULL, NULL, hess);
                for (size_t i = 0; i < n; i++) {
                    h[0][i] = 0;
                    for (size_t l = 0; l < n; l++) h[0][i] += hess[i + l * n] * v[l];
                }
                near(operations[c].name, order, "the Hessian times v", n, h[0], h[1]);
            }
            wg_function_free(f), wg_function_free(grad), wg_function_free(hvp);
            wg_function_free(jvp), wg_function_free(full);
        }
}

/* d/dx (H v) u, against extrapolated differences of the tape's products. */
static void third(number *k, size_t n, const double *x, const double *v, const double *u,
                  double *d) {
    enum { STEPS = 5 };
    double table[STEPS][ALL], at[ALL], h[2][ALL], step = 0x1p-6;
    for (size_t s = 0; s < STEPS; s++, step /= 2) {
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) at[i] = x[i] + (side ? -step : step) * u[i];
            must(wg_hvp(tape, number_of, k, n, at, v, NULL, NULL, h[side]));
        }
        for (size_t i = 0; i < n; i++) table[s][i] = (h[0][i] - h[1][i]) / (2 * step);
    }
    for (size_t level = 1, f = 4; level < STEPS; level++, f *= 4)
        for (size_t s = STEPS - 1; s >= level; s--)
            for (size_t i = 0; i < n; i++)
                table[s][i] += (table[s][i] - table[s - 1][i]) / ((double)f - 1);
    memcpy(d, table[STEPS - 1], n * sizeof *d);
}

static int is_of_symmetric_function(const char *name) {
    return strncmp(name, "symmetric_", 10) == 0 || strncmp(name, "user's", 6) == 0;
}

static void third_derivatives_are_there_or_refused_by_name(void **state) {
    (void)state;
    uint64_t seed = 31;
    for (size_t c = 0; c < OPERATIONS; c++) {
        enum { ORDER = 2, N = 3 * ORDER * ORDER };
        number k = {operations[c].of, ORDER, 0};
        double x[N], v[N], u[N], got[N], want[N];
        fill(ORDER, x, &seed);
        wg_function *const f = recording_of(number_of, &k, N, x);
        wg_function *const hvp = made(wg_function_hvp, f);
        wg_function *more = NULL;
        const wg_status s = wg_function_jvp(tape, hvp, &more);
        if (is_of_symmetric_function(operations[c].name)) {
            assert_int_equal(s, WG_EMODE);
            assert_non_null(strstr(wg_tape_message(tape), "third derivatives"));
            wg_tape_reset(tape);
        } else {
            must(s);
            fill(ORDER, x, &seed);
            for (size_t i = 0; i < N; i++) v[i] = walk_number(&seed), u[i] = walk_number(&seed);
            double all[2 * N] = {0};
            memcpy(all, u, sizeof u);
            const wg_points in[4] = {{x, 0, 1}, {v, 0, 1}, {u, 0, 1}, {all + N, 0, 1}};
            const wg_results out = {got, 0, 1};
            void *const work =
                aligned_alloc(64, (wg_function_work(more, NULL) + 127) / 64 * 64);
            assert_non_null(work);
            assert_int_equal(wg_function_evaluate(more, 1, in, &out, NULL, work, NULL), WG_OK);
            free(work);
            third(&k, N, x, v, u, want);
            const double size = fmax(1, largest(N, want));
            for (size_t i = 0; i < N; i++)
                if (!(fabs(got[i] - want[i]) <= 1e-6 * size))
                    fail_msg("%s: the third derivative (%zu) is %.17g, not %.17g",
                             operations[c].name, i, got[i], want[i]);
        }
        wg_function_free(f), wg_function_free(hvp), wg_function_free(more);
    }
}

/* ---- what a tape refuses is no number ---- */

OPERATION(of_basis, add(s, wg_null_space(t, wg_mat_block(o->a, 0, 0, 1, o->n), -1)))

static void what_a_tape_refuses_is_not_finite(void **state) {
    (void)state;
    enum { ORDER = 3, N = 3 * ORDER * ORDER };
    static const struct {
        operation *of;
        double diagonal[ORDER];
        int value, second; /* is the value a number; has it second derivatives? */
    } cases[] = {{of_eigenvectors, {2, 2, 2}, 1, 0},
                 {of_eigenvalues, {2, 2, 2}, 1, 0},
                 {of_singular_values, {2, 2, 2}, 1, 0},
                 {of_singular_vectors, {2, 2, 2}, 1, 0},
                 {of_sqrtm, {1, -1, 2}, 0, 0},
                 {of_logm, {1, 0, 2}, 0, 0},
                 {of_symmetric_log, {1, -1, 2}, 0, 0},
                 {of_lyapunov, {1, -1, 2}, 0, 0},
                 {of_eigenvalues, {1, NAN, 2}, 0, 0},
                 {of_singular_values, {1, INFINITY, 2}, 0, 0},
                 {of_symmetric_exp, {2, 2, 2}, 1, 1},
                 {of_sqrtm, {2, 2, 2}, 1, 1},
                 {of_lu, {1, 0, 2}, 1, 0},
                 {of_lu, {1, 1e-17, 2}, 1, 0},
                 {of_polar, {1, 0, 2}, 1, 0},
                 {of_polar, {1, 1e-17, 2}, 1, 0},
                 {of_polar, {2, 2, 2}, 1, 1},
                 {of_any_vectors, {2, 2, 3}, 1, 0},
                 {of_any_vectors, {1, 2, 3}, 1, 1},
                 {of_signm, {1, 0, 2}, 0, 0},
                 {of_null_space, {1, 0, 2}, 0, 0},
                 {of_null_space, {1, 2, 3}, 1, 1},
                 {of_null_space, {1, NAN, 2}, 0, 0},
                 {of_basis, {1, 2, 3}, 1, 0}};
    uint64_t seed = 3;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        number k = {cases[c].of, ORDER, 1};
        double x[N], v[N], y, h[N];
        fill(ORDER, x, &seed);
        wg_function *const f = recording_of(number_of, &k, N, x), *const hvp =
                                                                      made(wg_function_hvp, f);
        for (size_t i = 0; i < N; i++) v[i] = walk_number(&seed), x[i] = 0;
        for (size_t i = 0; i < ORDER; i++) x[i * (ORDER + 1)] = cases[c].diagonal[i];
        evaluate(f, x, NULL, NULL, &y);
        evaluate(hvp, x, v, NULL, h);
        if (isfinite(y) != cases[c].value) fail_msg("case %zu: the value is %g", c, y);
        int finite = 1;
        for (size_t i = 0; i < ORDER * ORDER; i++) finite &= isfinite(h[i]) != 0;
        if (finite != cases[c].second) fail_msg("case %zu: H v begins with %g", c, h[0]);
        wg_function_free(f), wg_function_free(hvp);
    }
}

static wg_status of_two_columns(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    (void)n, (void)m, (void)data;
    const wg_mat a = wg_mat_gather(t, 3, 2, x);
    const wg_mat v = wg_null_space(t, wg_gemm(t, 'N', 'T', 1, a, a, 0, a), 1e-9);
    y[0] = wg_mat_sum(t, wg_gemm(t, 'N', 'T', 1, v, v, 0, v));
    return wg_tape_status(t);
}

/* Where a matrix has not full rank its null space is a part of functions, its derivative is
 * not. */
static void null_spaces_of_lower_rank_are_values(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, -1, 0.5, 2}, at[] = {2, 1, -1, 0, 1, 3};
    wg_function *const f = recording_of(of_two_columns, NULL, 6, x);
    double y[2], g[6];
    evaluate(f, at, NULL, NULL, y);
    must(wg_gradient(tape, of_two_columns, NULL, 6, at, &y[1], g));
    near("a null space", 3, "the value", 1, y, y + 1);
    wg_function *none = NULL;
    assert_int_equal(wg_function_gradient(tape, f, &none), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(tape), "the derivative of wg_null_space"));
    wg_tape_reset(tape);
    wg_function_free(f);
}

/* ---- adjoints and directions of any size ---- */

static void derivatives_are_linear_at_all_sizes(void **state) {
    (void)state;
    static const double sizes[] = {1e-200, 1e-100, 1e-20, 1e20, 1e100, 1e200};
    enum { ORDER = 3, N = 3 * ORDER * ORDER };
    uint64_t seed = 41;
    for (size_t c = 0; c < OPERATIONS; c++) {
        number k = {operations[c].of, ORDER, 0};
        double x[N], v[N], w[N], g[2][N], h[2][N];
        const double one = 1;
        fill(ORDER, x, &seed);
        wg_function *const f = recording_of(number_of, &k, N, x);
        wg_function *const vjp = made(wg_function_vjp, f), *const hvp =
                                                               made(wg_function_hvp, f);
        for (size_t i = 0; i < N; i++) v[i] = walk_number(&seed);
        evaluate(vjp, x, &one, NULL, g[1]);
        evaluate(hvp, x, v, NULL, h[1]);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (size_t i = 0; i < N; i++) w[i] = sizes[s] * v[i];
            evaluate(vjp, x, &sizes[s], NULL, g[0]);
            evaluate(hvp, x, w, NULL, h[0]);
            for (size_t i = 0; i < N; i++) g[0][i] /= sizes[s], h[0][i] /= sizes[s];
            near(operations[c].name, s, "the gradient of a multiple", N, g[0], g[1]);
            near(operations[c].name, s, "H v of a multiple", N, h[0], h[1]);
        }
        wg_function_free(f), wg_function_free(vjp), wg_function_free(hvp);
    }
}

/* ---- operands of any size ---- */

static void vectors_of(wg_tape *t, wg_mat a, sums *s) {
    wg_mat u, v;
    if (wg_svd(t, a, &u, NULL, &v) == WG_OK) add(s, u), add(s, v);
}
OPERATION(of_vectors_alone, wg_mat v;
          if (wg_eigh(t, o->symmetric, NULL, &v) == WG_OK) add(s, v))
OPERATION(of_both_alone, vectors_of(t, o->a, s))
OPERATION(of_tall_alone, vectors_of(t, wg_mat_block(o->a, 0, 0, o->n, o->n - o->n / 2), s))
OPERATION(of_wide_alone, vectors_of(t, wg_mat_block(o->a, 0, 0, o->n - o->n / 2, o->n), s))

/* Those of c A are those of A: with c a power of 2, so that nothing is rounded otherwise, H
 * is c^-2 H. */
static void vectors_of_any_size_have_second_derivatives(void **state) {
    (void)state;
    static operation *const all[] = {of_vectors_alone, of_both_alone, of_tall_alone,
                                     of_wide_alone};
    static const int exponents[] = {0, -300, -40, 40, 300};
    uint64_t seed = 51;
    for (size_t c = 0; c < sizeof all / sizeof *all; c++)
        for (size_t order = 1; order <= 3; order++) {
            number k = {all[c], order, 0};
            const size_t n = order * order;
            double x[ALL], at[ALL], v[ALL], h[ALL], want[ALL];
            fill(order, x, &seed);
            wg_function *const f = recording_of(number_of, &k, 3 * n, x);
            wg_function *const hvp = made(wg_function_hvp, f);
            for (size_t i = 0; i < 3 * n; i++) v[i] = walk_number(&seed);
            must(wg_hvp(tape, number_of, &k, 3 * n, x, v, NULL, NULL, want));
            for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
                for (size_t i = 0; i < 3 * n; i++) at[i] = ldexp(x[i], exponents[e]);
                evaluate(hvp, at, v, NULL, h);
                for (size_t i = 0; i < n; i++) h[i] = ldexp(h[i], 2 * exponents[e]);
                near("vectors", order, "H v", n, h, want);
            }
            wg_function_free(f), wg_function_free(hvp);
        }
}

/* ---- many points, threads, maps ---- */

static void points_and_threads_do_not_change_bits(void **state) {
    (void)state;
    enum { ORDER = 3, N = 3 * ORDER * ORDER, POINTS = 37 };
    uint64_t seed = 8;
    double x[N * POINTS], y[POINTS], one, g[N * POINTS], of_one[N], bar[POINTS];
    for (size_t p = 0; p < POINTS; p++) fill(ORDER, x + p * N, &seed), bar[p] = 1 + (double)p;
    for (size_t c = 0; c < OPERATIONS; c++) {
        number k = {operations[c].of, ORDER, 0};
        /* written out at this order, with comparisons that come out otherwise at some points */
        if (strncmp(operations[c].name, "expm", 4) == 0) continue;
        wg_function *const f = recording_of(number_of, &k, N, x), *const vjp =
                                                                      made(wg_function_vjp, f);
        const wg_points in[2] = {{x, N, 1}, {bar, 1, 1}};
        const wg_results out = {y, 1, 1}, back = {g, N, 1};
        void *const work = aligned_alloc(
            64, (wg_function_work(f, pool_of(2)) + wg_function_work(vjp, pool_of(2)) + 127) /
                    64 * 64);
        assert_non_null(work);
        assert_int_equal(wg_function_evaluate(f, POINTS, in, &out, pool_of(2), work, NULL),
                         WG_OK);
        assert_int_equal(wg_function_evaluate(vjp, POINTS, in, &back, pool_of(2), work, NULL),
                         WG_OK);
        free(work);
        for (size_t p = 0; p < POINTS; p++) {
            evaluate(f, x + p * N, NULL, NULL, &one);
            if (!same_bits(one, y[p]))
                fail_msg("%s, point %zu: %.17g, and alone %.17g", operations[c].name, p, y[p],
                         one);
            evaluate(vjp, x + p * N, bar + p, NULL, of_one);
            for (size_t i = 0; i < N; i++) assert_true(same_bits(of_one[i], g[p * N + i]));
        }
        wg_function_free(f), wg_function_free(vjp);
    }
}

/* ---- large ones that could be written out ---- */

enum { TALL = 40, WIDE = 25, LARGE = TALL * WIDE };
static void of_qr(wg_tape *t, wg_mat a, sums *s) {
    wg_mat q, r;
    if (wg_qr(t, a, &q, &r) == WG_OK) add(s, q), add(s, r);
}
static void of_wide_qr(wg_tape *t, wg_mat a, sums *s) { of_qr(t, wg_mat_transpose(a), s); }
static void of_q(wg_tape *t, wg_mat a, sums *s) {
    wg_mat q;
    if (wg_qr(t, a, &q, NULL) == WG_OK) add(s, q);
}
static void of_r(wg_tape *t, wg_mat a, sums *s) {
    wg_mat r;
    if (wg_qr(t, a, NULL, &r) == WG_OK) add(s, r);
}
static void of_least_squares(wg_tape *t, wg_mat a, sums *s) {
    add(s, wg_lstsq(t, a, wg_mat_block(wg_mat_sin(t, a), 0, 0, TALL, 4)));
}
static void of_least_norm(wg_tape *t, wg_mat a, sums *s) {
    const wg_mat turned = wg_mat_transpose(a);
    add(s, wg_lstsq(t, turned, wg_mat_block(wg_mat_sin(t, turned), 0, 0, WIDE, 4)));
}
static void of_pinv(wg_tape *t, wg_mat a, sums *s) { add(s, wg_pinv(t, a, -1)); }
static void of_large_expm(wg_tape *t, wg_mat a, sums *s) {
    add(s, wg_expm(t, wg_mat_scale(t, 0.25, wg_mat_block(a, 0, 0, WIDE, WIDE))));
}
typedef void large_operation(wg_tape *t, wg_mat a, sums *s);

static wg_status large_number(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)n, (void)m;
    sums s = {t, wg_constant(0), 1};
    (*(large_operation **)data)(t, wg_mat_gather(t, TALL, WIDE, x), &s);
    y[0] = s.to;
    return wg_tape_status(t);
}

static void large_operations_are_few_nodes(void **state) {
    (void)state;
    static large_operation *const all[] = {
        of_qr, of_wide_qr, of_q, of_r, of_least_squares, of_least_norm, of_pinv, of_large_expm};
    static double at[LARGE], x[LARGE], v[LARGE], g[2][LARGE], h[2][LARGE];
    uint64_t seed = 77;
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        large_operation *of = all[c];
        double y[2];
        const double one = 1;
        for (size_t i = 0; i < LARGE; i++) {
            at[i] = walk_number(&seed), x[i] = -walk_number(&seed), v[i] = walk_number(&seed);
            if (i % TALL == i / TALL) at[i] += 3, x[i] -= 4;
        }
        wg_function *const f = recording_of(large_number, &of, LARGE, at);
        wg_function *const vjp = made(wg_function_vjp, f), *const hvp =
                                                               made(wg_function_hvp, f);
        wg_function_stats stats;
        assert_int_equal(wg_function_statistics(f, &stats), WG_OK);
        assert_in_range(stats.each, 1, 20 * LARGE);
        assert_int_equal(stats.guards, 0);
        must(wg_hvp(tape, large_number, &of, LARGE, x, v, &y[1], g[1], h[1]));
        evaluate(f, x, NULL, NULL, y);
        near("large", c, "the value", 1, y, y + 1);
        evaluate(vjp, x, &one, NULL, g[0]);
        near("large", c, "the gradient", LARGE, g[0], g[1]);
        evaluate(hvp, x, v, NULL, h[0]);
        near("large", c, "H v", LARGE, h[0], h[1]);
        wg_function_free(f), wg_function_free(vjp), wg_function_free(hvp);
    }
}

/* Its last column is the first but for roundings. */
static void large_ranks_are_those_of_the_point(void **state) {
    (void)state;
    static double at[LARGE], x[LARGE], g[LARGE];
    uint64_t seed = 19;
    const double one = 1;
    for (size_t i = 0; i < LARGE; i++) at[i] = x[i] = walk_number(&seed);
    for (size_t i = 0; i < TALL; i++)
        x[i + TALL * (WIDE - 1)] = x[i] * (1 + 0x1p-50 * (double)(i % 3));
    large_operation *of = of_qr;
    wg_function *const qr = recording_of(large_number, &of, LARGE, at);
    wg_function *const slope = made(wg_function_vjp, qr);
    double y, want;
    evaluate(qr, x, NULL, NULL, &y);
    assert_true(isfinite(y));
    evaluate(slope, x, &one, NULL, g);
    for (size_t i = 0; i < LARGE; i++) assert_true(isnan(g[i]));
    wg_function_free(qr), wg_function_free(slope);
    of = of_least_squares;
    wg_function *const least = recording_of(large_number, &of, LARGE, at);
    evaluate(least, x, NULL, NULL, &y);
    assert_true(isnan(y));
    wg_function_free(least);
    of = of_pinv;
    wg_function *const pinv = recording_of(large_number, &of, LARGE, at);
    evaluate(pinv, x, NULL, NULL, &y);
    must(wg_eval(tape, large_number, &of, LARGE, x, 1, &want));
    near("pinv", 0, "the value", 1, &y, &want);
    wg_function_free(pinv);
}

/* ---- few controls of many states ---- */

static wg_status of_one_control(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    enum { STATES = 8 };
    const wg_mat a = wg_mat_gather(t, STATES, STATES, x), one = wg_mat_identity(t, STATES);
    const wg_mat b = wg_mat_gather(t, STATES, 1, x + STATES * STATES);
    sums s = {t, wg_constant(0), 1};
    (void)n, (void)m, (void)data;
    add(&s, wg_riccati(t, wg_mat_sub(t, a, wg_mat_scale(t, 2, one)), b, one,
                       wg_mat_identity(t, 1)));
    y[0] = s.to;
    return wg_tape_status(t);
}

static void one_control_of_many_states_has_derivatives(void **state) {
    (void)state;
    enum { ALL_STATES = 8 * 9 };
    double at[ALL_STATES], v[ALL_STATES], y[2], g[2][ALL_STATES], h[2][ALL_STATES];
    uint64_t seed = 41;
    for (size_t i = 0; i < ALL_STATES; i++)
        at[i] = walk_number(&seed), v[i] = walk_number(&seed);
    wg_function *const f = recording_of(of_one_control, NULL, ALL_STATES, at);
    wg_function *const slope = made(wg_function_gradient, f), *const hvp =
                                                                  made(wg_function_hvp, f);
    for (size_t i = 0; i < ALL_STATES; i++) at[i] = walk_number(&seed);
    must(wg_hvp(tape, of_one_control, NULL, ALL_STATES, at, v, &y[1], g[1], h[1]));
    evaluate(f, at, NULL, NULL, y);
    near("riccati", 8, "the value", 1, y, y + 1);
    evaluate(slope, at, NULL, NULL, g[0]);
    near("riccati", 8, "the gradient", ALL_STATES, g[0], g[1]);
    evaluate(hvp, at, v, NULL, h[0]);
    near("riccati", 8, "H v", ALL_STATES, h[0], h[1]);
    wg_function_free(f), wg_function_free(slope), wg_function_free(hvp);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_the_tape_at_other_points),
        cmocka_unit_test(third_derivatives_are_there_or_refused_by_name),
        cmocka_unit_test(what_a_tape_refuses_is_not_finite),
        cmocka_unit_test(null_spaces_of_lower_rank_are_values),
        cmocka_unit_test(derivatives_are_linear_at_all_sizes),
        cmocka_unit_test(vectors_of_any_size_have_second_derivatives),
        cmocka_unit_test(points_and_threads_do_not_change_bits),
        cmocka_unit_test(large_operations_are_few_nodes),
        cmocka_unit_test(large_ranks_are_those_of_the_point),
        cmocka_unit_test(one_control_of_many_states_has_derivatives),
    };
    return cmocka_run_group_tests(tests, open_tape, close_all);
}
