/* SPDX-License-Identifier: MIT */
/* test_tape_drivers_refuse.c - drivers that cannot: what the function did, what the caller
 * gave; a status and a message, and outputs as they were. */
#include "driver_cases.h"
#include <wengert/sparsity.h>

/* ---- mistakes ---- */

static wg_status refuses(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)t, (void)n, (void)m;
    y[0] = x[0];
    return *(const wg_status *)data;
}

static void what_the_function_returns_is_passed_on(void **state) {
    (void)state;
    const double x = 3, v = 1;
    double f = -77, g = -77;
    wg_status own = WG_EARG, odd = (wg_status)1000;
    assert_int_equal(wg_gradient(tape, refuses, &own, 1, &x, &f, &g), WG_EARG);
    assert_int_equal(wg_tape_status(tape), WG_EARG);
    assert_message(tape, "wg_gradient: the function returned WG_EARG");
    assert_int_equal(wg_gradient(tape, refuses, &odd, 1, &x, &f, &g), WG_ECALLBACK);
    assert_message(tape, "wg_gradient: the function returned 1000");
    own = WG_ECALLBACK;
    assert_int_equal(wg_eval(tape, refuses, &own, 1, &x, 1, &f), WG_ECALLBACK);
    assert_message(tape, "wg_eval");
    assert_int_equal(wg_jacobian(tape, refuses, &own, 1, &x, 1, &f, WG_ROW_MAJOR, &g, 1),
                     WG_ECALLBACK);
    assert_message(tape, "wg_jacobian");
    assert_int_equal(wg_jvp(tape, refuses, &own, 1, &x, &v, 1, &f, &g), WG_ECALLBACK);
    assert_message(tape, "wg_jvp");
    assert_int_equal(wg_vjp(tape, refuses, &own, 1, &x, 1, &v, &f, &g), WG_ECALLBACK);
    assert_message(tape, "wg_vjp");
    assert_int_equal(wg_hvp(coded, refuses, &own, 1, &x, &v, &f, &g, &g), WG_ECALLBACK);
    assert_message(coded, "wg_hvp");
    assert_int_equal(wg_hessian(coded, refuses, &own, 1, &x, &f, &g, &g, 1), WG_ECALLBACK);
    assert_message(coded, "wg_hessian");
    assert_true(f == -77 && g == -77);
    own = WG_OK; /* the next driver starts afresh */
    assert_int_equal(wg_gradient(tape, refuses, &own, 1, &x, &f, &g), WG_OK);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    assert_true(f == 3 && g == 1);
}

/* What a refused call has said is not lost when the function only passes its status on. */
static wg_status preaccumulates(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    const wg_mark start = wg_tape_mark(t);
    (void)data;
    y[0] = wg_let(t, wg_sin(x[0]));
    return wg_preaccumulate(t, start, n, x, m, y);
}

static void what_a_refused_call_said_is_passed_on(void **state) {
    (void)state;
    const double x = 3;
    double f, g;
    assert_int_equal(wg_gradient(coded, preaccumulates, NULL, 1, &x, &f, &g), WG_EMODE);
    assert_message(coded, "wg_gradient: the function returned WG_EMODE");
    assert_message(coded, "wg_preaccumulate: ");
    assert_int_equal(wg_gradient(tape, preaccumulates, NULL, 1, &x, &f, &g), WG_OK);
}

/* A function of the user's says why it fails, or what it was told, or nothing. */
static wg_status says(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const char *const text = data;
    (void)n, (void)m;
    y[0] = x[0];
    if (strcmp(text, "again") != 0) return wg_tape_refuse(t, WG_EARG, *text ? text : NULL);
    (void)wg_tape_refuse(t, WG_ESHAPE, "growth: no rates");
    return wg_tape_refuse(t, WG_ESHAPE, wg_tape_message(t));
}

static void what_the_function_says_is_passed_on(void **state) {
    (void)state;
    const double x = 3;
    double f, g;
    char text[1000];
    assert_int_equal(wg_gradient(tape, says, (char[]){"growth: rate %s"}, 1, &x, &f, &g),
                     WG_EARG);
    assert_message(tape, "wg_gradient: the function returned WG_EARG");
    assert_message(tape, "; said before: growth: rate %s");
    assert_int_equal(wg_gradient(tape, says, (char[]){"again"}, 1, &x, &f, &g), WG_ESHAPE);
    assert_message(tape, "; said before: growth: no rates");
    assert_int_equal(wg_gradient(tape, says, (char[]){""}, 1, &x, &f, &g), WG_EARG);
    assert_message(tape, "; said before: WG_EARG: an argument");
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 0;
    assert_int_equal(wg_gradient(tape, says, text, 1, &x, &f, &g), WG_EARG);
    assert_message(tape, "; said before: aaaa");

    wg_tape_reset(tape), wg_tape_reset(coded);
    assert_int_equal(wg_tape_refuse(tape, WG_OK, "all is well"), WG_OK);
    assert_string_equal(wg_tape_message(tape), ""); /* no failure */
    const wg_real v = wg_input(tape, 2), w = wg_let(tape, wg_square(v));
    assert_int_equal(wg_tape_refuse(tape, WG_ESHAPE, "not this"), WG_ESHAPE);
    assert_int_equal(wg_tape_status(tape), WG_OK); /* the recording is as good as before */
    assert_int_equal(wg_reverse(tape, w), WG_OK);
    assert_true(wg_adjoint(tape, v) == 4);
    wg_let(tape, wg_mul(v, wg_input(coded, 1)));
    assert_int_equal(wg_tape_refuse(tape, WG_ESHAPE, "not this"), WG_ESHAPE);
    assert_message(tape, "another tape"); /* the first failure stays */
    wg_tape_reset(tape), wg_tape_reset(coded);
}

/* A failure of the tape comes before what the function says. */
static wg_status mixes_tapes(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)n, (void)m;
    y[0] = wg_let(t, wg_mul(x[0], *(const wg_real *)data));
    return WG_EARG;
}
static wg_status returns_foreign(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)t, (void)n, (void)x;
    y[m - 1] = *(const wg_real *)data;
    return WG_OK;
}
static wg_status resets(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(2, x[0]));
    wg_tape_reset(t);
    return WG_OK;
}
static wg_status rewinds(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    const wg_mark here = wg_tape_mark(t);
    y[0] = wg_let(t, wg_mul(2, x[0]));
    return wg_tape_rewind(t, here);
}
static wg_status changes_mode(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)n, (void)x, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_constant(1);
    return wg_tape_forward(t, 3);
}
static wg_status drives(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    double f, inner = 2;
    (void)n, (void)m, (void)data;
    y[0] = x[0];
    (void)!wg_gradient(t, product, NULL, 1, &inner, &f, &inner);
    return WG_OK;
}

static void stale_outputs_are_refused(void **state) {
    (void)state;
    wg_tape *const other = wg_tape_new(NULL);
    wg_real foreign = wg_input(other, 2);
    const double x = 3, v = 1;
    double f = -77, g = -77, y[2] = {-77, -77};
    assert_int_equal(wg_gradient(tape, mixes_tapes, &foreign, 1, &x, &f, &g), WG_ESTALE);
    assert_message(tape, "wg_let");
    assert_int_equal(wg_gradient(tape, returns_foreign, &foreign, 1, &x, &f, &g), WG_ESTALE);
    assert_message(tape, "wg_gradient");
    assert_int_equal(wg_eval(tape, returns_foreign, &foreign, 1, &x, 2, y), WG_ESTALE);
    assert_message(tape, "wg_eval");
    assert_int_equal(wg_gradient(tape, resets, NULL, 1, &x, &f, &g), WG_ESTALE);
    assert_message(tape, "wg_gradient: the function has reset the tape");
    assert_int_equal(wg_eval(tape, resets, NULL, 1, &x, 1, &f), WG_ESTALE);
    assert_int_equal(wg_jvp(tape, resets, NULL, 1, &x, &v, 1, &f, &g), WG_ESTALE);
    assert_int_equal(wg_gradient(tape, rewinds, NULL, 1, &x, &f, &g), WG_ESTALE);
    assert_true(f == -77 && g == -77 && y[0] == -77 && y[1] == -77);
    wg_tape_free(other);
}

/* Three residuals, however many there is room for. */
static wg_status writes_three(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)n, (void)m, (void)data;
    for (size_t j = 0; j < 3; j++) y[j] = wg_let(t, wg_mul((double)j, x[0]));
    return WG_OK;
}

static void too_many_outputs_are_found(void **state) {
    (void)state;
    const double x = 3, v = 1;
    double f[3] = {-77, -77, -77}, g = -77;
    assert_int_equal(wg_gradient(tape, writes_three, NULL, 1, &x, f, &g), WG_ESHAPE);
    assert_message(tape, "wg_gradient: the function has written more than 1 output");
    assert_int_equal(wg_eval(tape, writes_three, NULL, 1, &x, 2, f), WG_ESHAPE);
    assert_message(tape, "wg_eval: the function has written more than 2 outputs");
    assert_int_equal(wg_jvp(tape, writes_three, NULL, 1, &x, &v, 2, f, f), WG_ESHAPE);
    assert_true(f[0] == -77 && f[1] == -77 && f[2] == -77 && g == -77);
    assert_int_equal(wg_eval(tape, writes_three, NULL, 1, &x, 3, f), WG_OK);
    assert_true(f[0] == 0 && f[1] == 3 && f[2] == 6);
}

static wg_status writes_one(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)data;
    y[0] = wg_constant(1);
    return WG_OK;
}

static void an_output_where_there_is_nothing_is_found(void **state) {
    (void)state;
    assert_int_equal(wg_eval(tape, writes_one, NULL, 0, NULL, 0, NULL), WG_ESHAPE);
    assert_message(tape, "wg_eval: the function has written more than 0 outputs");
    assert_int_equal(wg_jvp(tape, writes_one, NULL, 0, NULL, NULL, 0, NULL, NULL), WG_ESHAPE);
}

/* Groups without entries need no values. */
static void empty_groups_may_all_be_null(void **state) {
    (void)state;
    const size_t size[] = {0, 0}, ld[] = {1, 1};
    double y = -77, room = -77, *const jac[] = {&room, NULL};
    assert_int_equal(
        wg_jacobian_groups(tape, writes_one, NULL, 2, size, NULL, 1, &y, WG_ROW_MAJOR, jac, ld),
        WG_OK);
    assert_true(y == 1 && room == -77);
}

static wg_status cancels(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    const wg_real a = wg_let(t, wg_sqrt(x[0])), b = wg_let(t, wg_sqrt(wg_mul(2, x[0])));
    (void)!wg_tape_resume(t); /* is refused, and does not matter */
    y[0] = wg_let(t, wg_sub(a, b));
    return WG_OK;
}

static void what_a_sweep_refuses_is_passed_on(void **state) {
    (void)state;
    const wg_options o = {.flags = WG_TRACE};
    wg_tape *const t = wg_tape_new(&o);
    const double x = 0;
    double f = -77, g = -77;
    assert_int_equal(wg_gradient(t, cancels, NULL, 1, &x, &f, &g), WG_ENONFINITE);
    assert_string_equal(
        wg_tape_message(t),
        "wg_gradient: a sweep: the adjoint of slot 1 becomes nan: that of slot 2 "
        "is 1, its local derivative inf");
    assert_true(f == -77 && g == -77);
    wg_tape_free(t);
}

/* The last output has an adjoint that is NaN: whether that is said must not hang on how many
 * rows the last sweep of a Jacobian has. */
static wg_status last_cancels(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    for (size_t j = 0; j + 1 < m; j++) y[j] = wg_let(t, wg_mul(x[j % n], 2 + (double)j));
    return cancels(t, n, x, 1, y + m - 1, data);
}

static void jacobians_are_not_traced_whatever_their_rows(void **state) {
    (void)state;
    enum { N = 20, M = 10 };
    const wg_options o = {.flags = WG_TRACE};
    wg_tape *const t = wg_tape_new(&o);
    double x[N] = {0}, jacobian[M * N];
    for (size_t i = 1; i < N; i++) x[i] = 1;
    for (size_t m = 1; m <= M; m++) {
        assert_int_equal(
            wg_jacobian(t, last_cancels, NULL, N, x, m, NULL, WG_ROW_MAJOR, jacobian, N),
            WG_OK);
        assert_true(isnan(jacobian[(m - 1) * N]));
        wg_sparsity *s;
        assert_int_equal(wg_jacobian_sparsity(t, last_cancels, NULL, N, x, m, WG_ROW_MAJOR, &s),
                         WG_OK);
        const wg_pattern *const p = wg_sparsity_pattern(s);
        assert_true(p->entries == m && m <= M * N);
        assert_int_equal(wg_sparse_jacobian(t, s, last_cancels, NULL, x, NULL, jacobian),
                         WG_OK);
        assert_true(isnan(jacobian[p->start[m - 1]]));
        wg_sparsity_free(s);
    }
    wg_tape_free(t);
}

static void the_mode_belongs_to_the_driver(void **state) {
    (void)state;
    const double x = 3;
    double f = -77, g = -77;
    assert_int_equal(wg_gradient(tape, changes_mode, NULL, 1, &x, &f, &g), WG_EMODE);
    assert_int_equal(wg_eval(tape, changes_mode, NULL, 0, NULL, 1, &f), WG_EMODE);
    assert_message(tape, "wg_eval: the function has changed the mode");
    assert_int_equal(wg_gradient(tape, drives, NULL, 1, &x, &f, &g), WG_EMODE);
    assert_message(tape, "wg_gradient: called by the function of a driver");
    assert_true(f == -77 && g == -77);
    assert_int_equal(wg_gradient(tape, product, NULL, 1, &x, &f, &g), WG_OK);
    assert_true(f == 3 && g == 1);
}

/* A driver of another tape inside: d/dx [x d/dy (x + y)] is 1, the inner x is no variable. */
static wg_status inner_sum(wg_tape *t, size_t n, const wg_real *y, size_t m, wg_real *z,
                           void *data) {
    (void)n, (void)m;
    z[0] = wg_let(t, wg_add(*(const double *)data, y[0]));
    return WG_OK;
}
static wg_status outer(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    double here = wg_value(x[0]), slope, at = 1;
    (void)n, (void)m;
    const wg_status s = wg_gradient(data, inner_sum, &here, 1, &at, NULL, &slope);
    y[0] = wg_let(t, wg_mul(x[0], slope));
    return s;
}
static wg_status pausing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[0]));
    return wg_tape_pause(t);
}

static void a_function_that_leaves_the_tape_paused_is_named(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double x = 3, v = 1;
    double y = 7, g = 7;
    const wg_status s[] = {wg_eval(t, pausing, NULL, 1, &x, 1, &y),
                           wg_gradient(t, pausing, NULL, 1, &x, &y, &g),
                           wg_jvp(t, pausing, NULL, 1, &x, &v, 1, &y, &g),
                           wg_vjp(t, pausing, NULL, 1, &x, 1, &v, &y, &g)};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) assert_int_equal(s[i], WG_EMODE);
    assert_true(y == 7 && g == 7);
    assert_string_equal(wg_tape_message(t), "wg_vjp: the function has left the tape paused");
    wg_tape_free(t);
}

static void drivers_of_two_tapes_nest(void **state) {
    (void)state;
    const double x = 1;
    double g = 0;
    assert_int_equal(wg_gradient(tape, outer, coded, 1, &x, NULL, &g), WG_OK);
    assert_true(g == 1);
}

static void null_arguments_are_named(void **state) {
    (void)state;
    const double x[2] = {1, 2};
    const double *const xs[2] = {x, NULL};
    double y[2] = {-77, -77}, *const none[2] = {NULL, NULL}, *const jac[2] = {y, y};
    const size_t size[2] = {1, 1}, ld[2] = {1, 1};
    assert_int_equal(wg_eval(NULL, wave, NULL, 2, x, 2, y), WG_ENULL);
    assert_int_equal(wg_gradient(NULL, product, NULL, 2, x, y, y), WG_ENULL);
    assert_int_equal(wg_jacobian(NULL, wave, NULL, 2, x, 2, y, WG_ROW_MAJOR, y, 2), WG_ENULL);
    assert_int_equal(
        wg_jacobian_groups(NULL, wave, NULL, 2, size, xs, 2, y, WG_ROW_MAJOR, none, NULL),
        WG_ENULL);
    assert_int_equal(wg_jvp(NULL, wave, NULL, 2, x, x, 2, y, y), WG_ENULL);
    assert_int_equal(wg_vjp(NULL, wave, NULL, 2, x, 2, x, y, y), WG_ENULL);
    assert_int_equal(wg_hvp(NULL, product, NULL, 2, x, x, y, y, y), WG_ENULL);
    assert_int_equal(wg_hessian(NULL, product, NULL, 2, x, y, y, y, 2), WG_ENULL);
#define REFUSED(call, name, part)                                                              \
    do {                                                                                       \
        assert_int_equal(call, WG_ENULL);                                                      \
        assert_message(coded, name ": ");                                                      \
        assert_message(coded, part);                                                           \
    } while (0)
    REFUSED(wg_eval(coded, NULL, NULL, 2, x, 2, y), "wg_eval", "the function is NULL");
    REFUSED(wg_gradient(coded, NULL, NULL, 2, x, y, y), "wg_gradient", "the function is NULL");
    REFUSED(wg_jacobian(coded, NULL, NULL, 2, x, 2, y, WG_ROW_MAJOR, y, 2), "wg_jacobian",
            "the function is NULL");
    REFUSED(wg_jvp(coded, NULL, NULL, 2, x, x, 2, y, y), "wg_jvp", "the function is NULL");
    REFUSED(wg_vjp(coded, NULL, NULL, 2, x, 2, x, y, y), "wg_vjp", "the function is NULL");
    REFUSED(wg_hvp(coded, NULL, NULL, 2, x, x, y, y, y), "wg_hvp", "the function is NULL");
    REFUSED(wg_hessian(coded, NULL, NULL, 2, x, y, y, y, 2), "wg_hessian",
            "the function is NULL");
    REFUSED(wg_eval(coded, wave, NULL, 2, NULL, 2, y), "wg_eval", "x is NULL");
    REFUSED(wg_gradient(coded, product, NULL, 2, NULL, y, y), "wg_gradient", "x is NULL");
    REFUSED(wg_jacobian(coded, wave, NULL, 2, NULL, 2, y, WG_ROW_MAJOR, y, 2), "wg_jacobian",
            "x is NULL");
    REFUSED(wg_jvp(coded, wave, NULL, 2, NULL, x, 2, y, y), "wg_jvp", "x is NULL");
    REFUSED(wg_jvp(coded, wave, NULL, 2, x, NULL, 2, y, y), "wg_jvp", "v is NULL");
    REFUSED(wg_vjp(coded, wave, NULL, 2, NULL, 2, x, y, y), "wg_vjp", "x is NULL");
    REFUSED(wg_vjp(coded, wave, NULL, 2, x, 2, NULL, y, y), "wg_vjp", "w is NULL");
    REFUSED(wg_hvp(coded, product, NULL, 2, NULL, x, y, y, y), "wg_hvp", "x is NULL");
    REFUSED(wg_hvp(coded, product, NULL, 2, x, NULL, y, y, y), "wg_hvp", "v is NULL");
    REFUSED(wg_hessian(coded, product, NULL, 2, NULL, y, y, y, 2), "wg_hessian", "x is NULL");
#define GROUPS(f, size, x, jac, ld)                                                            \
    wg_jacobian_groups(coded, f, NULL, 2, size, x, 2, y, WG_ROW_MAJOR, jac, ld)
    REFUSED(GROUPS(NULL, size, xs, none, ld), "wg_jacobian_groups", "the function is NULL");
    REFUSED(GROUPS(wave, NULL, xs, none, ld), "wg_jacobian_groups", "size is NULL");
    REFUSED(GROUPS(wave, size, NULL, none, ld), "wg_jacobian_groups", "x is NULL");
    REFUSED(GROUPS(wave, size, xs, none, ld), "wg_jacobian_groups", "x of group 1 is NULL");
    REFUSED(GROUPS(wave, size, xs, jac, NULL), "wg_jacobian_groups", "leading dimensions");
    assert_true(y[0] == -77 && y[1] == -77);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    const double x[3] = {1, 2, 3};
    double y[2] = {-77, -77}, jac[9] = {-77};
    assert_int_equal(wg_jacobian(tape, wave, NULL, 3, x, 2, y, WG_ROW_MAJOR, jac, 2),
                     WG_ESHAPE);
    assert_message(tape, "wg_jacobian: the Jacobian is 2-by-3, row-major, its leading "
                         "dimension 2 is less than 3");
    assert_int_equal(wg_jacobian(tape, wave, NULL, 3, x, 2, y, WG_COL_MAJOR, jac, 1),
                     WG_ESHAPE);
    assert_message(tape, "column-major");
    assert_int_equal(wg_jacobian(tape, wave, NULL, 3, x, 2, y, (wg_layout)5, jac, 3), WG_EARG);
    assert_message(tape, "wg_jacobian: 5 is no layout");
    assert_int_equal(wg_hessian(coded, product, NULL, 3, x, y, NULL, jac, 2), WG_ESHAPE);
    assert_message(coded, "wg_hessian: the Hessian is 3-by-3");
    assert_true(y[0] == -77 && y[1] == -77 && jac[0] == -77);
    assert_int_equal(wg_eval(tape, wave, NULL, SIZE_MAX, x, 2, y), WG_ENOMEM);
    assert_int_equal(wg_eval(tape, wave, NULL, 2, x, SIZE_MAX / 8, y), WG_ENOMEM);
    const size_t size[2] = {SIZE_MAX, 3};
    const double *const xs[2] = {x, x};
    assert_int_equal(
        wg_jacobian_groups(tape, wave, NULL, 2, size, xs, 2, y, WG_ROW_MAJOR, NULL, NULL),
        WG_ENOMEM);
    assert_message(tape, "wg_jacobian_groups");
}

static void second_order_needs_the_code(void **state) {
    (void)state;
    const double x[2] = {1, 2};
    double h[4] = {-77};
    assert_int_equal(wg_hessian(tape, product, NULL, 2, x, h, h, h, 2), WG_EMODE);
    assert_message(tape, "wg_hessian: the tape was not opened with WG_KEEP_CODE");
    assert_int_equal(wg_hvp(tape, product, NULL, 2, x, x, h, h, h), WG_EMODE);
    assert_message(tape, "wg_hvp: the tape was not opened with WG_KEEP_CODE");
    assert_true(h[0] == -77);
}

/* Fails from the second call on. */
static wg_status tires(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    if (wave(t, n, x, m, y, data) != WG_OK) return WG_EARG;
    return *(const int *)data > 1 ? WG_EARG : WG_OK;
}
static void a_late_failure_leaves_the_jacobian_as_it_was(void **state) {
    (void)state;
    enum { N = 20, M = 300 };
    static double x[N], y[M], jac[M * N];
    int calls = 0;
    for (int i = 0; i < M * N; i++) jac[i] = -77;
    y[0] = -77;
    assert_int_equal(wg_jacobian(tape, tires, &calls, N, x, M, y, WG_ROW_MAJOR, jac, N),
                     WG_EARG);
    assert_int_equal(calls, 2);
    for (int i = 0; i < M * N; i++) assert_true(jac[i] == -77);
    assert_true(y[0] == -77);
}

/* The last output comes from a variable that the function itself has forgotten. */
static wg_status forgets_one(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const wg_status s = wave(t, n, x, m - 1, y, NULL);
    const wg_mark here = wg_tape_mark(t);
    wg_real lost = x[0];
    for (int i = 0; i < 9; i++) lost = wg_let(t, wg_sin(lost));
    if (s != WG_OK || wg_tape_rewind(t, here) != WG_OK) return WG_EARG;
    if (*(const int *)data) lost = x[0];
    y[m - 1] = wg_let(t, wg_mul(lost, x[0]));
    return WG_OK;
}
static void a_sweep_refused_late_leaves_the_jacobian_as_it_was(void **state) {
    (void)state;
    enum { N = 40, M = 20 };
    static double x[N], y[M], jac[M * N];
    for (int good = 0; good < 2; good++)
        for (int layout = 0; layout < 2; layout++) {
            for (int i = 0; i < N; i++) x[i] = 0.1 + 0.01 * i;
            for (int i = 0; i < M * N; i++) jac[i] = -77;
            y[0] = -77;
            const size_t ld = layout == WG_ROW_MAJOR ? N : M;
            assert_int_equal(
                wg_jacobian(tape, forgets_one, &good, N, x, M, y, (wg_layout)layout, jac, ld),
                good ? WG_OK : WG_ESTALE);
            for (size_t j = 0; j < M; j++)
                for (size_t i = 0; i < N; i++) {
                    const double got = jac[layout == WG_ROW_MAJOR ? j * N + i : i * M + j];
                    if (!good) assert_true(got == -77);
                    else if (j < M - 1) assert_close(got, wave_derivative(N, x, j, i));
                    else assert_true(got == (i == 0 ? 2 * x[0] : 0));
                }
            assert_true(good || y[0] == -77);
        }
}

/* A matrix operation, y = x, whose derivative gives up after so many calls. */
static wg_status same_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status same_value(wg_block *b) {
    memcpy(b->out[0].value, b->in[0].value, b->in[0].rows * sizeof(double));
    return WG_OK;
}
static wg_status same_until(wg_block *b) {
    int *const left = *(int *const *)b->params;
    if (--*left < 0) return WG_ECONVERGE;
    for (size_t i = 0; i < b->in[0].rows; i++) b->in[0].bar[i] += b->out[0].bar[i];
    return WG_OK;
}
static const wg_block_op tiring = {"tiring", 0,    same_shape, same_value, same_until,
                                   NULL,     NULL, NULL,       NULL};

static wg_status by_matrix(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const wg_mat a = wg_mat_gather(t, n, 1, x);
    wg_mat b;
    const wg_status s = wg_apply(t, &tiring, &data, sizeof data, 1, &a, 1, &b);
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(wg_mat_at(b, j, 0), j));
    return s;
}
static void an_operation_refused_late_leaves_the_jacobian_as_it_was(void **state) {
    (void)state;
    enum { N = 40, M = 20 };
    static double x[N], y[M], jac[M * N];
    for (int calls = 0; calls < 2 * M; calls += 3) {
        int left = calls;
        for (int i = 0; i < M * N; i++) jac[i] = -77;
        y[0] = -77;
        const wg_status s =
            wg_jacobian(tape, by_matrix, &left, N, x, M, y, WG_ROW_MAJOR, jac, N);
        assert_int_equal(s, left < 0 ? WG_ECONVERGE : WG_OK);
        assert_int_equal(wg_tape_status(tape), s);
        for (int j = 0; j < M; j++)
            for (int i = 0; i < N; i++)
                assert_true(jac[j * N + i] == (s != WG_OK ? -77 : i == j ? j : 0));
        assert_true(y[0] == (s == WG_OK ? 0 : -77));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_function_returns_is_passed_on),
        cmocka_unit_test(what_a_refused_call_said_is_passed_on),
        cmocka_unit_test(what_the_function_says_is_passed_on),
        cmocka_unit_test(stale_outputs_are_refused),
        cmocka_unit_test(too_many_outputs_are_found),
        cmocka_unit_test(an_output_where_there_is_nothing_is_found),
        cmocka_unit_test(empty_groups_may_all_be_null),
        cmocka_unit_test(what_a_sweep_refuses_is_passed_on),
        cmocka_unit_test(jacobians_are_not_traced_whatever_their_rows),
        cmocka_unit_test(the_mode_belongs_to_the_driver),
        cmocka_unit_test(a_function_that_leaves_the_tape_paused_is_named),
        cmocka_unit_test(drivers_of_two_tapes_nest),
        cmocka_unit_test(null_arguments_are_named),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(second_order_needs_the_code),
        cmocka_unit_test(a_late_failure_leaves_the_jacobian_as_it_was),
        cmocka_unit_test(a_sweep_refused_late_leaves_the_jacobian_as_it_was),
        cmocka_unit_test(an_operation_refused_late_leaves_the_jacobian_as_it_was),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
