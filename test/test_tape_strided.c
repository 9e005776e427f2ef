/* SPDX-License-Identifier: MIT */
/* test_tape_strided.c - drivers for vectors whose entries do not stand side by side: the bits
 * of those whose entries do, nothing written between, and who refuses. */
#include "driver_cases.h"

#include <stdlib.h>

enum { MOST = 20, ROOM = MOST * 8 };

/* n outputs or one, of n inputs. */
static wg_status waves(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)data;
    for (size_t j = 0; j < m; j++) {
        y[j] = wg_constant(0.25 * (double)j);
        for (size_t i = 0; i < n; i++)
            y[j] = wg_let(t, wg_add(y[j], wg_sin(wg_mul(x[i], wg_add(x[(i + j) % n], 0.5)))));
    }
    return WG_OK;
}

/* A vector in an array of -77: its first entry is where there is room for a stride of either
 * sign. */
typedef struct spread {
    double all[ROOM];
    double *first;
    ptrdiff_t stride;
    size_t n;
} spread;
static void spread_out(spread *s, size_t n, ptrdiff_t stride, const double *x) {
    for (size_t i = 0; i < ROOM; i++) s->all[i] = -77;
    s->first = s->all + (stride < 0 ? ROOM - 1 : 0);
    s->stride = stride, s->n = n;
    for (size_t i = 0; x != NULL && i < n; i++) s->first[(ptrdiff_t)i * stride] = x[i];
}
static wg_strided of(const spread *s) { return (wg_strided){s->first, s->stride}; }
static wg_strided_result to(spread *s) { return (wg_strided_result){s->first, s->stride}; }

static void assert_is(const spread *s, const double *x) {
    spread expected;
    spread_out(&expected, s->n, s->stride, x);
    assert_memory_equal(s->all, expected.all, sizeof s->all);
}

static const ptrdiff_t strides[] = {1, 2, -1, -3, 7};
enum { STRIDES = sizeof strides / sizeof *strides };

static void numbers(size_t n, double first, double *x) {
    for (size_t i = 0; i < n; i++) x[i] = first + 0.37 * (double)i - 0.011 * (double)(i * i);
}

typedef struct vectors {
    spread x, v, w, y, g, h;
} vectors;

static void results_are(size_t n, size_t m, vectors *s) {
    double x[MOST], v[MOST], w[MOST], y[MOST], jv[MOST], g[MOST], hv[MOST], value, second;
    double jac[MOST * MOST], h[MOST * MOST], same[MOST * MOST];
    numbers(n, 0.3, x), numbers(n, -1.1, v), numbers(m, 0.6, w);
    for (size_t a = 0; a < STRIDES; a++)
        for (size_t b = 0; b < STRIDES; b++) {
            const ptrdiff_t in = strides[a], out = strides[b];
            spread_out(&s->x, n, in, x), spread_out(&s->v, n, -in, v);
            spread_out(&s->w, m, in, w);
#define FRESH                                                                                  \
    spread_out(&s->y, m, out, NULL), spread_out(&s->g, n, out, NULL),                          \
        spread_out(&s->h, n, -out, NULL)
            FRESH;
            assert_int_equal(wg_eval(coded, waves, NULL, n, x, m, y), WG_OK);
            assert_int_equal(wg_eval_strided(coded, waves, NULL, n, of(&s->x), m, to(&s->y)),
                             WG_OK);
            assert_is(&s->y, y);
            FRESH;
            assert_int_equal(wg_jvp(coded, waves, NULL, n, x, v, m, NULL, jv), WG_OK);
            assert_int_equal(wg_jvp_strided(coded, waves, NULL, n, of(&s->x), of(&s->v), m,
                                            (wg_strided_result){NULL, 0}, to(&s->y)),
                             WG_OK);
            assert_is(&s->y, jv);
            FRESH;
            assert_int_equal(wg_vjp(coded, waves, NULL, n, x, m, w, y, g), WG_OK);
            assert_int_equal(wg_vjp_strided(coded, waves, NULL, n, of(&s->x), m, of(&s->w),
                                            to(&s->y), to(&s->g)),
                             WG_OK);
            assert_is(&s->y, y);
            assert_is(&s->g, g);
            FRESH;
            assert_int_equal(wg_gradient(coded, waves, NULL, n, x, &value, g), WG_OK);
            assert_int_equal(
                wg_gradient_strided(coded, waves, NULL, n, of(&s->x), &second, to(&s->g)),
                WG_OK);
            assert_true(value == second);
            assert_is(&s->g, g);
            FRESH;
            assert_int_equal(wg_hvp(coded, waves, NULL, n, x, v, &value, g, hv), WG_OK);
            assert_int_equal(wg_hvp_strided(coded, waves, NULL, n, of(&s->x), of(&s->v),
                                            &second, to(&s->g), to(&s->h)),
                             WG_OK);
            assert_true(value == second);
            assert_is(&s->g, g);
            assert_is(&s->h, hv);
            FRESH;
            assert_int_equal(wg_hessian(coded, waves, NULL, n, x, &value, g, h, n), WG_OK);
            assert_int_equal(wg_hessian_strided(coded, waves, NULL, n, of(&s->x), &second,
                                                to(&s->g), same, n),
                             WG_OK);
            assert_true(value == second);
            assert_is(&s->g, g);
            assert_memory_equal(h, same, n * n * sizeof *h);
            FRESH;
            assert_int_equal(wg_jacobian(coded, waves, NULL, n, x, m, y, WG_ROW_MAJOR, jac, n),
                             WG_OK);
            double *const wide = malloc(2 * m * 3 * n * sizeof *wide);
            assert_non_null(wide);
            for (size_t k = 0; k < 2 * m * 3 * n; k++) wide[k] = -77;
            assert_int_equal(wg_jacobian_strided(coded, waves, NULL, n, of(&s->x), m, to(&s->y),
                                                 wide + 3 * n * (m - 1), -3 * (ptrdiff_t)n, 3),
                             WG_OK);
            assert_is(&s->y, y);
            for (size_t k = 0; k < 2 * m * 3 * n; k++) {
                const size_t row = k / (3 * n), column = k % (3 * n) / 3;
                const int entry = k % 3 == 0 && row < m;
                assert_true(wide[k] == (entry ? jac[(m - 1 - row) * n + column] : -77));
            }
            free(wide);
        }
}

static void strides_change_no_bit(void **state) {
    vectors *const s = malloc(sizeof *s);
    (void)state;
    assert_non_null(s);
    /* Jacobians forward and backward, at once and in several passes */
    results_are(3, 4, s);
    results_are(2, MOST, s);
    results_are(MOST, 2, s);
    results_are(MOST, MOST, s);
    results_are(1, 1, s);
    free(s);
}

static void what_is_read_may_be_the_same_for_all(void **state) {
    const double x = 0.4, all[3] = {0.4, 0.4, 0.4};
    double g[3], same[3];
    (void)state;
    assert_int_equal(wg_gradient(tape, waves, NULL, 3, all, NULL, g), WG_OK);
    assert_int_equal(wg_gradient_strided(tape, waves, NULL, 3, (wg_strided){&x, 0}, NULL,
                                         (wg_strided_result){same, 1}),
                     WG_OK);
    assert_memory_equal(g, same, sizeof g);
}

static void failures_leave_results_as_they_were(void **state) {
    const double x[6] = {1, 2, 3, 4, 5, 6};
    double y[6] = {-77, -77, -77, -77, -77, -77}, value = -77;
    const wg_strided in = {x, 2}, none = {NULL, 2};
    const wg_strided_result out = {y, 2}, one = {y, 0};
    (void)state;
#define REFUSED(status, call, part)                                                            \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        assert_message(coded, part);                                                           \
    } while (0)
    REFUSED(WG_EARG, wg_eval_strided(coded, waves, NULL, 3, in, 3, one),
            "wg_eval_strided: 3 entries of y have a stride of 0");
    REFUSED(WG_EARG, wg_gradient_strided(coded, waves, NULL, 3, in, &value, one),
            "wg_gradient_strided: 3 entries of g have a stride of 0");
    REFUSED(WG_EARG, wg_jvp_strided(coded, waves, NULL, 3, in, in, 3, out, one),
            "3 entries of jv have a stride of 0");
    REFUSED(WG_EARG, wg_vjp_strided(coded, waves, NULL, 3, in, 3, in, one, out),
            "3 entries of y have a stride of 0");
    REFUSED(WG_EARG, wg_hvp_strided(coded, waves, NULL, 3, in, in, &value, out, one),
            "3 entries of hv have a stride of 0");
    REFUSED(WG_EARG, wg_hessian_strided(coded, waves, NULL, 3, in, &value, one, NULL, 3),
            "3 entries of g have a stride of 0");
    REFUSED(WG_EARG, wg_jacobian_strided(coded, waves, NULL, 3, in, 2, out, y, 0, 1),
            "wg_jacobian_strided: the Jacobian is 2-by-3, its strides 0, 1");
    REFUSED(WG_ENULL, wg_eval_strided(coded, waves, NULL, 3, none, 3, out), "x is NULL");
    REFUSED(WG_ENULL, wg_jvp_strided(coded, waves, NULL, 3, in, none, 3, out, out),
            "v is NULL");
    REFUSED(WG_ENULL, wg_vjp_strided(coded, waves, NULL, 3, in, 3, none, out, out),
            "w is NULL");
    REFUSED(WG_ENULL, wg_jacobian_strided(coded, waves, NULL, 3, none, 2, out, y, 3, 1),
            "x is NULL");
    REFUSED(WG_ENOMEM, wg_hvp_strided(coded, waves, NULL, SIZE_MAX, in, in, &value, out, out),
            "no room for");
    assert_int_equal(wg_eval_strided(NULL, waves, NULL, 3, in, 3, out), WG_ENULL);
    for (size_t i = 0; i < 6; i++) assert_true(y[i] == -77);
    assert_true(value == -77);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_change_no_bit),
        cmocka_unit_test(what_is_read_may_be_the_same_for_all),
        cmocka_unit_test(failures_leave_results_as_they_were),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
