/* SPDX-License-Identifier: MIT */
/* Implicit functions, fixed points, preaccumulated sections: against what a recording of the
 * closed form gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

static void close_to(double a, double b, double ulps) {
    if (!(fabs(a - b) <= ulps * 0x1p-52 * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

/* x0 x1 = p0, x0 / x1 = p1: x0 = sqrt(p0 p1), x1 = sqrt(p0 / p1). */
static wg_status two_equations(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                               void *data) {
    if (n != 4 || m != 2) return WG_EARG;
    const wg_real *extra = data;
    r[0] = wg_let(t, wg_sub(wg_mul(in[0], in[1]), in[2]));
    r[1] = wg_let(t, wg_sub(in[0], wg_mul(in[1], in[3])));
    if (extra != NULL) r[1] = wg_let(t, wg_add(r[1], wg_sub(*extra, wg_value(*extra))));
    return WG_OK;
}

static wg_status cosine(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                        void *data) {
    (void)data;
    if (n != 2 || m != 1) return WG_EARG;
    r[0] = wg_let(t, wg_cos(wg_mul(in[1], in[0])));
    return WG_OK;
}

static wg_status failing(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                         void *data) {
    (void)t, (void)n, (void)in, (void)m, (void)r, (void)data;
    return WG_ECONVERGE;
}

/* 3 x0 + x1^2, for parameters p: by the closed form, or by the equations. */
static wg_real loss(wg_tape *t, const wg_real *p, int implicitly, void *extra) {
    wg_real x[2];
    if (implicitly) {
        const double v[2] = {sqrt(wg_value(p[0]) * wg_value(p[1])),
                             sqrt(wg_value(p[0]) / wg_value(p[1]))};
        (void)wg_implicit(t, two_equations, extra, 2, v, 2, p, x);
    } else {
        x[0] = wg_let(t, wg_sqrt(wg_mul(p[0], p[1])));
        x[1] = wg_let(t, wg_sqrt(wg_div(p[0], p[1])));
    }
    return wg_let(t, wg_add(wg_mul(3, x[0]), wg_square(x[1])));
}

static void implicit_function_has_the_derivative_of_its_closed_form(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double v[2] = {2.5, 0.7};
    double g[2][2];
    for (int way = 0; way < 2; way++) {
        wg_real p[2];
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 2, v, p), WG_OK);
        wg_real square[2] = {wg_let(t, wg_mul(p[0], p[0])), p[1]};
        wg_real y = loss(t, square, way, NULL);
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(wg_adjoints(t, 2, p, g[way]), WG_OK);
        /* several at once, and asked again */
        const double w[] = {1, 2, -1};
        assert_int_equal(wg_reverse_lanes(t, 3, 1, &y, w), WG_OK);
        close_to(wg_adjoint_lane(t, p[0], 1), 2 * g[way][0], 2);
    }
    for (int i = 0; i < 2; i++) close_to(g[1][i], g[0][i], 8);
    wg_tape_free(t);
}

static void implicit_function_on_a_forward_tape(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double v[2] = {2.5, 0.7};
    double d[2][2];
    for (int way = 0; way < 2; way++) {
        wg_real p[2];
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 2), WG_OK);
        assert_int_equal(wg_inputs(t, 2, v, p), WG_OK);
        for (size_t l = 0; l < 2; l++) assert_int_equal(wg_tangent_seed(t, p[l], l, 1), WG_OK);
        wg_real y = loss(t, p, way, NULL);
        assert_int_equal(wg_tape_status(t), WG_OK);
        for (size_t l = 0; l < 2; l++) d[way][l] = wg_tangent(t, y, l);
    }
    for (int i = 0; i < 2; i++) close_to(d[1][i], d[0][i], 8);
    wg_tape_free(t);
}

static int find_call(void *ctx, const char *text, size_t bytes) {
    static const char call[] = "wg_fixed_point";
    for (size_t i = 0; i + sizeof call - 1 <= bytes; i++)
        if (memcmp(text + i, call, sizeof call - 1) == 0) *(int *)ctx = 1;
    return 0;
}

static void fixed_point_has_its_derivative(void **state) {
    (void)state;
    double x = 1;
    for (int i = 0; i < 200; i++) x = cos(0.8 * x);
    wg_tape *t = wg_tape_new(NULL);
    wg_real p = wg_input(t, 0.8), y;
    assert_int_equal(wg_fixed_point(t, cosine, NULL, 1, &x, 1, &p, &y), WG_OK);
    assert_true(wg_value(y) == x);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    close_to(wg_adjoint(t, p), -sin(0.8 * x) * x / (1 + 0.8 * sin(0.8 * x)), 8);
    int named = 0;
    assert_int_equal(wg_tape_dump(t, find_call, &named), WG_OK);
    assert_true(named);
    wg_tape_free(t);
}

static wg_status one_too_many(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                              void *data) {
    r[m] = in[0];
    return two_equations(t, n, in, m, r, data);
}

/* What a solver leaves that has diverged. */
static void no_solution_is_no_number(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double w[2] = {4, 1}, nan[2] = {2, NAN}, infinite[2] = {INFINITY, 2}, x[2] = {2, 2};
    wg_real p[2], y[2];
    assert_int_equal(wg_inputs(t, 2, w, p), WG_OK);
    assert_int_equal(wg_implicit(t, two_equations, NULL, 2, nan, 2, p, y), WG_ENONFINITE);
    assert_string_equal(wg_tape_message(t), "wg_implicit: output 0 is nan where x[0] is 2");
    assert_true(isnan(wg_value(y[0])));
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 2, w, p), WG_OK);
    assert_int_equal(wg_implicit(t, two_equations, NULL, 2, infinite, 2, p, y), WG_ENONFINITE);
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 2, w, p), WG_OK);
    assert_int_equal(wg_implicit(t, one_too_many, NULL, 2, x, 2, p, y), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "written more than 2 outputs"));
    wg_tape_free(t);
}

static void implicit_mistakes_are_named(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double v[2] = {0, 0}, w[2] = {4, 1};
    wg_real p[2], y[2];
    assert_int_equal(wg_inputs(t, 2, v, p), WG_OK);
    assert_int_equal(wg_implicit(t, two_equations, NULL, 2, v, 2, p, y), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "wg_implicit"));
    assert_true(isnan(wg_value(y[0])));
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 2, w, p), WG_OK);
    assert_int_equal(wg_implicit(t, failing, NULL, 2, v, 2, p, y), WG_ECONVERGE);
    wg_tape_reset(t);
    /* a variable of the tape that is no parameter */
    assert_int_equal(wg_inputs(t, 2, w, p), WG_OK);
    wg_real extra = wg_let(t, wg_mul(p[0], 3));
    const double x[2] = {2, 2};
    assert_int_equal(wg_implicit(t, two_equations, &extra, 2, x, 2, p, y), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "slot 3"));
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 2, w, p), WG_OK);
    assert_int_equal(wg_implicit(t, NULL, NULL, 2, x, 2, p, y), WG_ENULL);
    wg_tape_reset(t);
    /* constants, and a paused tape: values only */
    const wg_real q[2] = {wg_constant(4), wg_constant(1)};
    assert_int_equal(wg_implicit(t, two_equations, NULL, 2, x, 2, q, y), WG_OK);
    assert_true(wg_value(y[1]) == 2 && y[1].at.slot == 0);
    assert_int_equal(wg_implicit(NULL, two_equations, NULL, 2, x, 2, q, y), WG_ENULL);
    wg_tape_free(t);
}

/* ---- preaccumulation ---- */

static wg_real section(wg_tape *t, const wg_real *x, wg_real *other) {
    wg_real s = x[0];
    for (int i = 0; i < 50; i++) s = wg_let(t, wg_sin(wg_add(s, wg_mul(x[1], 0.1 * i))));
    wg_mat column = wg_mat_gather(t, 2, 1, x);
    *other = wg_let(t, wg_mul(s, wg_mat_at(column, 1, 0)));
    return s;
}

/* What a function may do to the tape that it should only record on. */
enum mischief_kind { PAUSE, RESET, REWIND, RESUME, REFUSE, STRANGE, DRIVE };
typedef struct mischief {
    enum mischief_kind what;
    wg_mark before;
} mischief;

static wg_status naughty(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                         void *data) {
    const mischief *const k = data;
    double y;
    (void)n, (void)m;
    r[0] = wg_let(t, wg_sub(wg_mul(in[0], in[0]), in[1]));
    switch (k->what) {
    case PAUSE:
        return wg_tape_pause(t);
    case RESET:
        wg_tape_reset(t);
        return WG_OK;
    case REWIND:
        return wg_tape_rewind(t, k->before);
    case RESUME:
        return wg_tape_resume(t);
    case REFUSE:
        return wg_tape_refuse(t, WG_EARG, "growth: no rate");
    case STRANGE:
        return (wg_status)1000;
    default:
        return wg_eval(t, cosine, NULL, 2, (double[]){1, 1}, 1, &y);
    }
}

static void a_function_that_changes_the_tape_is_found(void **state) {
    (void)state;
    static const struct {
        enum mischief_kind what;
        wg_status s;
        const char *text;
    } c[] = {{PAUSE, WG_EMODE, "has left the tape paused"},
             {RESET, WG_ESTALE, "has reset the tape"},
             {REWIND, WG_EMARK, "has rewound the tape to before its call"},
             {RESUME, WG_EMODE, "said before: wg_tape_resume: the tape is not paused"},
             {REFUSE, WG_EARG, "said before: growth: no rate"},
             {STRANGE, WG_ECALLBACK, "the function returned 1000"},
             {DRIVE, WG_EMODE, "wg_eval: called by the function of"}}; /* its own message */
    for (int width = 0; width < 2; width++)
        for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
            wg_tape *t = wg_tape_new(NULL);
            if (width != 0) assert_int_equal(wg_tape_forward(t, 1), WG_OK);
            mischief k = {c[i].what, wg_tape_mark(t)};
            (void)wg_tape_refuse(t, WG_EARG, "what was said of something else");
            wg_real p = wg_input(t, 4), y;
            const double x = 2;
            assert_int_equal(wg_implicit(t, naughty, &k, 1, &x, 1, &p, &y), c[i].s);
            assert_true(isnan(wg_value(y)));
            assert_int_equal(wg_tape_status(t), c[i].s);
            assert_true(c[i].what == DRIVE ||
                        strstr(wg_tape_message(t), "wg_implicit") != NULL);
            assert_non_null(strstr(wg_tape_message(t), c[i].text));
            assert_null(strstr(wg_tape_message(t), "something else"));
            /* a reset is all that it takes */
            wg_tape_reset(t);
            p = wg_input(t, 3);
            if (width != 0) assert_int_equal(wg_tangent_seed(t, p, 0, 1), WG_OK);
            y = wg_let(t, wg_mul(p, p));
            if (width == 0) assert_int_equal(wg_reverse(t, y), WG_OK);
            assert_true((width == 0 ? wg_adjoint(t, p) : wg_tangent(t, y, 0)) == 6);
            wg_tape_free(t);
        }
}

static void preaccumulated_section_has_the_same_gradient(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double v[3] = {0.3, 1.2, 7};
    double g[2][3];
    uint64_t records[2];
    for (int way = 0; way < 2; way++) {
        wg_real x[3], y[4];
        wg_stats stats;
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 3, v, x), WG_OK);
        wg_real pair[2] = {wg_let(t, wg_mul(x[0], x[2])), x[1]};
        const wg_mark m = wg_tape_mark(t);
        y[0] = section(t, pair, &y[1]);
        y[2] = wg_constant(5);
        y[3] = pair[1]; /* from before */
        const wg_real in[3] = {pair[0], pair[1], pair[0]};
        if (way == 1) assert_int_equal(wg_preaccumulate(t, m, 3, in, 4, y), WG_OK);
        wg_tape_stats(t, &stats);
        records[way] = stats.records;
        wg_real z = wg_let(t, wg_add(wg_mul(y[0], y[1]), wg_mul(y[2], y[3])));
        assert_int_equal(wg_reverse(t, z), WG_OK);
        assert_int_equal(wg_adjoints(t, 3, x, g[way]), WG_OK);
    }
    for (int i = 0; i < 3; i++) close_to(g[1][i], g[0][i], 64);
    assert_int_equal(records[1], 3);
    assert_true(records[0] > 50);
    wg_tape_free(t);
}

static void preaccumulation_refuses_what_it_would_lose(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double v[3] = {0.3, 1.2, 7};
    wg_real x[3], y, other;
    assert_int_equal(wg_inputs(t, 3, v, x), WG_OK);
    const wg_mark m = wg_tape_mark(t);
    y = section(t, x, &other);
    y = wg_let(t, wg_mul(y, x[2]));
    const wg_real before = y;
    assert_int_equal(wg_preaccumulate(t, m, 2, x, 1, &y), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "slot 3"));
    assert_memory_equal(&before, &y, sizeof y);
    assert_int_equal(wg_reverse(t, y), WG_OK); /* as it was */
    assert_true(wg_adjoint(t, x[2]) != 0);
    assert_int_equal(wg_preaccumulate(t, m, 1, &y, 1, &y), WG_EARG);
    wg_tape_reset(t);
    assert_int_equal(wg_preaccumulate(t, m, 0, NULL, 0, NULL), WG_EMARK);
    wg_tape_free(t);
}

static void a_forward_tape_refuses_a_foreign_variable_as_well(void **state) {
    (void)state;
    const double x[2] = {2, 3}; /* p = (6, 2/3) */
    for (int forward = 0; forward < 2; forward++) {
        wg_tape *t = wg_tape_new(NULL);
        if (forward) assert_int_equal(wg_tape_forward(t, 2), WG_OK);
        wg_real extra = wg_input(t, 1), p[2], y[2];
        const double v[2] = {6, 2.0 / 3};
        assert_int_equal(wg_inputs(t, 2, v, p), WG_OK);
        if (forward) assert_int_equal(wg_tangent_seed(t, extra, 0, 1), WG_OK);
        assert_int_equal(wg_implicit(t, two_equations, &extra, 2, x, 2, p, y), WG_EARG);
        assert_non_null(strstr(wg_tape_message(t), "slot 1,"));
        wg_tape_free(t);
    }
}

static void a_section_may_gather_from_both_sides_of_its_mark(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_real x = wg_input(t, 2);
    const wg_mark m = wg_tape_mark(t);
    const wg_real pair[2] = {x, wg_let(t, wg_mul(2.0, x))}; /* consecutive slots */
    wg_mat e = wg_mat_square(t, wg_mat_gather(t, 2, 1, pair));
    wg_real y = wg_let(t, wg_add(wg_mat_at(e, 0, 0), wg_mat_at(e, 1, 0)));
    assert_int_equal(wg_preaccumulate(t, m, 1, &x, 1, &y), WG_OK);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x) == 20);
    wg_tape_free(t);
}

static void a_section_in_a_buffer_keeps_its_jacobian(void **state) {
    (void)state;
    enum { ORDER = 60 };
    static _Alignas(64) unsigned char buffer[1 << 21];
    static double a[ORDER * ORDER], v[ORDER];
    static wg_real x[ORDER], y[ORDER];
    for (int i = 0; i < ORDER * ORDER; i++) a[i] = 1 + i % 17;
    for (size_t fill = 0; fill < (1 << 20); fill += 50000) {
        wg_options o;
        memset(&o, 0, sizeof o);
        o.buffer = buffer, o.buffer_bytes = sizeof buffer;
        wg_tape *t = wg_tape_new(&o);
        assert_int_equal(wg_inputs(t, ORDER, v, x), WG_OK);
        wg_mat m = wg_mat_constant(t, ORDER, ORDER, a, ORDER);
        if (fill != 0) (void)wg_tape_keep(t, fill, NULL);
        const wg_mark start = wg_tape_mark(t);
        wg_mat r = wg_matmul(t, m, wg_mat_gather(t, ORDER, 1, x));
        for (size_t i = 0; i < ORDER; i++) y[i] = wg_mat_at(r, i, 0);
        const wg_status s = wg_preaccumulate(t, start, ORDER, x, ORDER, y);
        for (size_t i = 0; s == WG_OK && i < ORDER; i += 7) {
            assert_int_equal(wg_reverse(t, y[i]), WG_OK);
            for (size_t j = 0; j < ORDER; j++)
                assert_true(wg_adjoint(t, x[j]) == a[i + j * ORDER]);
        }
        if (s != WG_OK) assert_int_equal(s, WG_EBUDGET);
        wg_tape_free(t);
    }
}

static wg_status stopped(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    const wg_mat a = wg_mat_gather(t, 1, 1, x), s = wg_mat_stop_gradient(t, a);
    y[0] = wg_let(t, wg_add(wg_mul(x[0], wg_stop_gradient(x[0])), wg_mat_at(s, 0, 0)));
    return wg_tape_status(t);
}

/* Also at another point than that of the recording. */
static void stopped_gradient_passes_the_value_only(void **state) {
    (void)state;
    const wg_options keep = {.flags = WG_KEEP_CODE};
    wg_tape *t = wg_tape_new(&keep);
    wg_real x = wg_input(t, 3), y;
    assert_int_equal(stopped(t, 1, &x, 1, &y, NULL), WG_OK);
    assert_true(wg_value(y) == 12);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x) == 3);
    wg_tape_reset(t);
    const double three = 3, five = 5;
    x = wg_input(t, three);
    y = wg_let(t, wg_mul(x, wg_stop_gradient(x)));
    assert_int_equal(wg_tape_replay(t, 1, &x, &five), WG_OK);
    assert_true(wg_tape_value(t, y) == 25);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x) == 5);
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const wg_points at = {&five, 0, 1};
    double v, g, work[4096];
    wg_function *f = NULL, *df = NULL;
    assert_int_equal(wg_function_record(t, stopped, NULL, 1, &in, &three, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_gradient(t, f, &df), WG_OK);
    assert_true(wg_function_work(f, NULL) + wg_function_work(df, NULL) <= sizeof work);
    assert_int_equal(wg_function_evaluate(f, 1, &at, &(wg_results){&v, 0, 1}, NULL, work, NULL),
                     WG_OK);
    assert_int_equal(
        wg_function_evaluate(df, 1, &at, &(wg_results){&g, 0, 1}, NULL, work, NULL), WG_OK);
    assert_true(v == 30 && g == 5);
    wg_function_free(df), wg_function_free(f);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(implicit_function_has_the_derivative_of_its_closed_form),
        cmocka_unit_test(implicit_function_on_a_forward_tape),
        cmocka_unit_test(fixed_point_has_its_derivative),
        cmocka_unit_test(no_solution_is_no_number),
        cmocka_unit_test(implicit_mistakes_are_named),
        cmocka_unit_test(a_function_that_changes_the_tape_is_found),
        cmocka_unit_test(preaccumulated_section_has_the_same_gradient),
        cmocka_unit_test(preaccumulation_refuses_what_it_would_lose),
        cmocka_unit_test(a_forward_tape_refuses_a_foreign_variable_as_well),
        cmocka_unit_test(a_section_may_gather_from_both_sides_of_its_mark),
        cmocka_unit_test(a_section_in_a_buffer_keeps_its_jacobian),
        cmocka_unit_test(stopped_gradient_passes_the_value_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
