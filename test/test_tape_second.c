/* SPDX-License-Identifier: MIT */
/* test_tape_second.c - Hessians and Hessian-vector products from the tape.
 *
 * The oracle test/data/second_order.txt has 8 functions with f, gradient g, H, v, H v, v'H v
 * and Taylor coefficients along v; each is held against them in every mode. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "check_tapes.h"
#include "oracle_text.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

#include "second_kernel.h"
#define WG_AS_DUAL
#include "second_kernel.h"
#undef WG_AS_DUAL
#include <wengert/generic.h>

/* ---- the functions of the oracle ---- */

typedef wg_real real_function(wg_tape *t, size_t n, const wg_real *x, const double *data);
typedef wg_dual dual_function(wg_tape *t, size_t n, const wg_dual *x, const double *data);

static const struct function {
    const char *name;
    real_function *real;
    dual_function *dual;
} functions[] = {{"rosenbrock6", rosenbrock_real, rosenbrock_dual},
                 {"speelpenning5_zero", speelpenning_real, speelpenning_dual},
                 {"speelpenning5_zero", speelpenning_array_real, speelpenning_array_dual},
                 {"helmholtz8", helmholtz_real, helmholtz_dual},
                 {"mlp_2_3_1", mlp_real, mlp_dual},
                 {"pendulum_rk4", pendulum_real, pendulum_dual},
                 {"gp_nll", gp_real, gp_dual},
                 {"spherical_volume3", spherical_real, spherical_dual},
                 {"bilinear_saddle6", bilinear_real, bilinear_dual}};
enum { FUNCTIONS = sizeof functions / sizeof *functions, CASES = 8, MOST = 16 };

struct data {
    const struct function *f;
    double number[32];
    size_t n;
};

static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *p) {
    const struct data *const data = p;
    assert_int_equal(m, 1);
    y[0] = data->f->real(t, n, x, data->number);
    return WG_OK;
}

static void call_dual(void *p, const wg_dual *x, wg_dual *y) {
    const struct data *const data = p;
    y[0] = data->f->dual(NULL, data->n, x, data->number);
}

static struct oracle_case oracle;

static const double *reference(const char *role, const char *key, size_t count) {
    const struct oracle_array *const a = oracle_case_array(&oracle, role, key);
    assert_non_null(a);
    assert_int_equal(a->count, count);
    return a->v;
}

static void allow(size_t n, const double *ref, double *allowed) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(ref[i]));
    for (size_t i = 0; i < n; i++) allowed[i] = TOL_PROGRAM_ULP * DBL_EPSILON * largest;
}

static int check_function_of_oracle(const struct function *function) {
    const struct oracle_array *const in = oracle_case_array(&oracle, "in", "x");
    assert_non_null(in);
    const size_t n = in->count;
    assert_in_range(n, 1, MOST);
    const double *const x = in->v, *const v = reference("in", "v", n);
    const double *const f = reference("ref", "f", 1), *const g = reference("ref", "g", n);
    const double *const h = reference("ref", "H", n * n), *const hv = reference("ref", "Hv", n);
    const double *const taylor = reference("ref", "taylor", 5);
    const double vhv = *reference("ref", "vHv", 1);
    struct data data = {.f = function, .n = n};
    double f_allowed, g_allowed[MOST], h_allowed[MOST * MOST], hv_allowed[MOST], other[MOST];
    double got[MOST], quadratic = 0, size = 0;
    size_t numbers = 0;
    int bad = 0;
    for (size_t i = 0; i < oracle.arrays; i++) {
        const struct oracle_array *const a = &oracle.array[i];
        if (strcmp(a->role, "data") != 0) continue;
        assert_true(numbers + a->count <= sizeof data.number / sizeof *data.number);
        memcpy(data.number + numbers, a->v, a->count * sizeof *a->v);
        numbers += a->count;
    }
    allow(1, f, &f_allowed);
    allow(n, g, g_allowed);
    f_allowed += g_allowed[0]; /* f may be 0 */
    allow(n * n, h, h_allowed);
    allow(n, hv, hv_allowed);
    for (size_t i = 0; i < n; i++) other[i] = x[i] * 0.96875;
    const struct check_function c = {
        call,           call_dual,     &data, n, 1, x, other, check_weights, v, {f, &f_allowed},
        {g, g_allowed}, {h, h_allowed}};
    if (check_modes(&check, &c) != 0) {
        print_error("%s: %s\n", oracle.name, check.why);
        bad++;
    }
    /* along v: H v, v'H v, and the first coefficients of the Taylor series */
    wg_tape *const t = check.code;
    wg_real in_real[MOST];
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, n, x, in_real), WG_OK);
    const wg_real y = function->real(t, n, in_real, data.number);
    assert_int_equal(wg_tape_hvp(t, y, n, in_real, v, got), WG_OK);
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(got[i] - hv[i]) <= hv_allowed[i])) {
            print_error("%s: H v [%zu] is %.17g, reference %.17g\n", oracle.name, i, got[i],
                        hv[i]);
            bad++;
        }
        quadratic += v[i] * got[i];
        size += fabs(v[i] * got[i]);
    }
    assert_true(fabs(quadratic - vhv) <= TOL_PROGRAM_ULP * DBL_EPSILON * size);
    assert_true(fabs(quadratic / 2 - taylor[2]) <= TOL_PROGRAM_ULP * DBL_EPSILON * size);
    assert_true(fabs(wg_value(y) - taylor[0]) <= f_allowed);
    return bad;
}

static void functions_of_the_oracle_agree_in_every_mode(void **state) {
    FILE *in = fopen(TEST_DATA "second_order.txt", "r");
    int bad = 0, cases = 0, checked = 0, got;
    (void)state;
    assert_non_null(in);
    while ((got = oracle_case_read(in, &oracle)) == 1) {
        int claims = 0;
        cases++;
        for (size_t i = 0; i < FUNCTIONS; i++) {
            if (strcmp(functions[i].name, oracle.name) != 0) continue;
            bad += check_function_of_oracle(&functions[i]);
            claims++;
        }
        if (claims == 0) print_error("%s: not claimed\n", oracle.name);
        assert_true(claims > 0);
        checked += claims;
        oracle_case_free(&oracle);
    }
    fclose(in);
    assert_int_equal(got, 0);
    assert_int_equal(cases, CASES);
    assert_int_equal(checked, FUNCTIONS);
    assert_int_equal(bad, 0);
}

/* ---- what the calls promise ---- */

/* f = x^2 y + sin z at (3, 5, 0.5): every entry is known exactly, or to the sine. */
static wg_real three(wg_tape *t, wg_real *x) {
    static const double a[] = {3, 5, 0.5};
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
    return wg_let(t, wg_add(wg_mul(wg_square(x[0]), x[1]), wg_sin(x[2])));
}

static void the_matrix_is_column_major_and_padding_is_left_alone(void **state) {
    wg_real x[3];
    double h[3 * 5];
    (void)state;
    const wg_real y = three(check.code, x);
    for (size_t i = 0; i < 15; i++) h[i] = 77;
    assert_int_equal(wg_tape_hessian(check.code, y, 3, x, h, 5), WG_OK);
    const double want[3][3] = {{10, 6, 0}, {6, 0, 0}, {0, 0, -sin(0.5)}};
    for (size_t j = 0; j < 3; j++) {
        for (size_t i = 0; i < 3; i++) assert_true(h[j * 5 + i] == want[j][i]);
        assert_true(h[j * 5 + 3] == 77 && h[j * 5 + 4] == 77);
    }
}

/* The inputs may be some of them, in any order, and constants among them count as constant. */
static void inputs_may_be_a_selection(void **state) {
    wg_real x[3];
    double h[9], hv[3] = {9, 9, 9};
    (void)state;
    const wg_real y = three(check.code, x);
    const wg_real some[] = {x[1], wg_constant(2), x[0]};
    const double v[] = {1, 100, -2};
    assert_int_equal(wg_tape_hessian(check.code, y, 3, some, h, 3), WG_OK);
    const double want[] = {0, 0, 6, 0, 0, 0, 6, 0, 10};
    for (size_t i = 0; i < 9; i++) assert_true(h[i] == want[i]);
    assert_int_equal(wg_tape_hvp(check.code, y, 3, some, v, hv), WG_OK);
    assert_true(hv[0] == -12 && hv[1] == 0 && hv[2] == 6 - 20);
}

static void a_root_before_the_end_of_the_tape_has_its_own_hessian(void **state) {
    wg_real x[3];
    double h[9], v[] = {1, 0, 0}, hv[3];
    wg_tape *const t = check.code;
    (void)state;
    const wg_real y = three(t, x), later = wg_let(t, wg_exp(wg_mul(y, x[0])));
    const wg_real after = wg_input(t, 1); /* an input the root cannot depend on */
    assert_true(wg_value(later) > 0);
    assert_int_equal(wg_tape_hessian(t, y, 3, x, h, 3), WG_OK);
    assert_true(h[0] == 10 && h[1] == 6 && h[3] == 6 && h[4] == 0);
    const wg_real two[] = {x[0], after};
    assert_int_equal(wg_tape_hvp(t, y, 2, two, v, hv), WG_OK);
    assert_true(hv[0] == 10 && hv[1] == 0);
}

/* Local second derivatives are kept from call to call: whatever is recorded, rewound or
 * replayed in between, they are those of what is on the tape. */
static void kept_second_derivatives_follow_the_tape(void **state) {
    wg_tape *const t = check.code;
    double h;
    (void)state;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 2);
    const wg_mark start = wg_tape_mark(t);
    const wg_real square = wg_let(t, wg_mul(3, wg_square(x)));
    assert_int_equal(wg_tape_hessian(t, square, 1, &x, &h, 1), WG_OK);
    assert_true(h == 6);
    const wg_real more = wg_let(t, wg_mul(square, x));
    assert_int_equal(wg_tape_hessian(t, more, 1, &x, &h, 1), WG_OK);
    assert_true(h == 36);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    const wg_real cube = wg_let(t, wg_mul(3, wg_cube(x))); /* as many words of code */
    assert_int_equal(wg_tape_hessian(t, cube, 1, &x, &h, 1), WG_OK);
    assert_true(h == 36);
    const double elsewhere = -1;
    assert_int_equal(wg_tape_replay(t, 1, &x, &elsewhere), WG_OK);
    assert_int_equal(wg_tape_hessian(t, cube, 1, &x, &h, 1), WG_OK);
    assert_true(h == -18);
    wg_tape_reset(t);
    const wg_real z = wg_input(t, 2), again = wg_let(t, wg_mul(5, wg_square(z)));
    assert_int_equal(wg_tape_hessian(t, again, 1, &z, &h, 1), WG_OK);
    assert_true(h == 10);
}

/* More inputs than lanes are swept at once, and a number that is no multiple of them. */
static void wide_hessians_are_put_together_from_several_sweeps(void **state) {
    enum { N = 19 };
    wg_tape *const t = check.code;
    wg_real x[N], y = wg_constant(0);
    static double a[N], h[N * N];
    (void)state;
    for (size_t i = 0; i < N; i++) a[i] = (double)i - 7;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            y = wg_let(t, wg_add(y, wg_mul((double)(i * N + j), wg_mul(x[i], x[j]))));
    assert_int_equal(wg_tape_hessian(t, y, N, x, h, N), WG_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            const double want = (double)(i * N + j) * (i == j ? 2 : 1);
            assert_true(h[i * N + j] == want && h[j * N + i] == want);
        }
}

static void misuse_is_answered_and_outputs_are_left_alone(void **state) {
    wg_real x[3];
    double h[9] = {77}, v[3] = {1, 0, 0}, hv[3] = {77};
    (void)state;
    wg_real y = three(check.plain, x);
    assert_int_equal(wg_tape_hessian(check.plain, y, 3, x, h, 3), WG_EMODE);
    assert_int_equal(wg_tape_hvp(check.plain, y, 3, x, v, hv), WG_EMODE);
    assert_int_equal(wg_tape_verify(check.plain), WG_EMODE);
    assert_int_equal(wg_tape_replay(check.plain, 3, x, v), WG_EMODE);
    y = three(check.code, x);
    assert_int_equal(wg_tape_hessian(NULL, y, 3, x, h, 3), WG_ENULL);
    assert_int_equal(wg_tape_hessian(check.code, y, 3, NULL, h, 3), WG_ENULL);
    assert_int_equal(wg_tape_hessian(check.code, y, 3, x, NULL, 3), WG_ENULL);
    assert_int_equal(wg_tape_hessian(check.code, y, 3, x, h, 2), WG_ESHAPE);
    assert_int_equal(wg_tape_hessian(check.code, wg_constant(1), 3, x, h, 3), WG_ESEED);
    assert_int_equal(wg_tape_hvp(check.code, wg_constant(1), 3, x, v, hv), WG_ESEED);
    assert_int_equal(wg_tape_hvp(check.code, y, 3, x, NULL, hv), WG_ENULL);
    assert_true(h[0] == 77 && hv[0] == 77);
    const wg_real old = y;
    y = three(check.code, x);
    assert_int_equal(wg_tape_hvp(check.code, old, 3, x, v, hv), WG_ESTALE);
    assert_true(hv[0] == 77);
}

/* ---- kinks, and comparisons in a replay ---- */

static void the_curvature_of_a_kink_is_zero(void **state) {
    wg_tape *const t = check.code;
    wg_real y[5];
    double h = 77;
    (void)state;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 0);
    y[0] = wg_let(t, wg_fabs(x));
    y[1] = wg_let(t, wg_relu(x));
    y[2] = wg_let(t, wg_fmax(x, wg_neg(x)));
    y[3] = wg_let(t, wg_floor(x));
    y[4] = wg_norm2(t, 1, &x);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(wg_tape_hessian(t, y[i], 1, &x, &h, 1), WG_OK);
        assert_true(h == 0);
    }
}

static wg_real branches(wg_tape *t, wg_real x, wg_real y) {
    return wg_lt(t, x, y) ? wg_let(t, wg_mul(x, x)) : wg_let(t, wg_mul(x, y));
}

static void a_replay_into_the_other_branch_is_reported(void **state) {
    const double same_side[] = {1, 2.5}, other_side[] = {3, 2.5};
    wg_tape *const t = check.code;
    wg_real x[2];
    (void)state;
    wg_tape_reset(t);
    const double a[] = {1, 2};
    assert_int_equal(wg_inputs(t, 2, a, x), WG_OK);
    const wg_mark before = wg_tape_mark(t);
    const wg_real y = branches(t, x[0], x[1]);
    const wg_mark after = wg_tape_mark(t);
    assert_int_equal(wg_tape_replay(t, 2, x, same_side), WG_OK);
    assert_true(wg_tape_value(t, y) == 1);
    assert_int_equal(wg_tape_replay(t, 2, x, other_side), WG_EGUARD);
    assert_int_equal(wg_tape_status(t), WG_EGUARD);
    assert_non_null(strstr(wg_tape_message(t), "lt"));
    /* half of it is replayed: no mark brings it back */
    assert_int_equal(wg_tape_rewind(t, after), WG_EGUARD);
    assert_int_equal(wg_tape_rewind(t, before), WG_EGUARD);
    assert_int_equal(wg_reverse(t, y), WG_EGUARD);
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 2, other_side, x), WG_OK);
    const wg_real z = branches(t, x[0], x[1]);
    assert_int_equal(wg_reverse(t, z), WG_OK);
    assert_true(wg_value(z) == 7.5 && wg_adjoint(t, x[0]) == 2.5);
}

static void only_inputs_take_new_values_in_a_replay(void **state) {
    wg_tape *const t = check.code;
    double a[] = {7, 8, 9};
    (void)state;
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 2), y = wg_let(t, wg_square(x)), u = wg_input(t, 5);
    const wg_real z = wg_let(t, wg_mul(y, u)), sum = wg_sum(t, 1, &z);
    const wg_real computed[][2] = {{x, y}, {x, z}, {u, sum}, {x, wg_constant(1)}};
    assert_int_equal(wg_label(t, z, "area"), WG_OK);
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        assert_int_equal(wg_tape_replay(t, 2, computed[i], a), WG_EARG);
        assert_non_null(strstr(wg_tape_message(t), "wg_tape_replay: variable 1 "));
        if (i == 1) assert_non_null(strstr(wg_tape_message(t), "(slot 4, area) is no input"));
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_true(wg_tape_value(t, x) == 2 && wg_tape_value(t, z) == 20); /* as it was */
    }
    const wg_real inputs[] = {u, x}; /* in any order */
    assert_int_equal(wg_tape_replay(t, 2, inputs, a), WG_OK);
    assert_true(wg_tape_value(t, sum) == 7 * 64);
}

static void elements_of_results_take_no_new_values_in_a_replay(void **state) {
    wg_tape *const t = check.code;
    const double a[] = {1, 2, 3, 4};
    double v[] = {5, 6};
    (void)state;
    wg_tape_reset(t);
    const wg_mat x = wg_mat_input(t, 2, 2, a, 2);
    const wg_mat g =
        wg_mat_gather(t, 2, 1, (const wg_real[]){wg_mat_at(x, 1, 1), wg_mat_at(x, 0, 0)});
    const wg_real u = wg_input(t, 7), z = wg_let(t, wg_mul(wg_mat_at(g, 0, 0), u));
    for (size_t i = 0; i < 2; i++) {
        const wg_real inner[] = {u, wg_mat_at(g, i, 0)};
        assert_int_equal(wg_tape_replay(t, 2, inner, v), WG_EARG);
        assert_non_null(strstr(wg_tape_message(t), "wg_tape_replay: variable 1 "));
    }
    const wg_real inputs[] = {wg_mat_at(x, 1, 1), u};
    assert_int_equal(wg_tape_replay(t, 2, inputs, v), WG_OK);
    assert_true(wg_tape_value(t, z) == 30);
}

/* sqrt(x0) - sqrt(2 x0) at 0, and a matrix: the sweep is refused, and nothing written. */
static void what_the_sweep_refuses_leaves_no_products(void **state) {
    (void)state;
    const wg_options o = {.flags = WG_KEEP_CODE | WG_TRACE};
    wg_tape *const t = wg_tape_new(&o);
    wg_real x[2];
    const double at[2] = {0, 2}, v[2] = {1, 1};
    double hv[2] = {-77, -77}, h[4] = {-77, -77, -77, -77};
    assert_int_equal(wg_inputs(t, 2, at, x), WG_OK);
    const wg_mat a = wg_mat_exp(t, wg_mat_gather(t, 1, 1, x + 1));
    const wg_real r = wg_let(t, wg_sqrt(x[0])), s = wg_let(t, wg_sqrt(wg_mul(2, x[0])));
    const wg_real y = wg_let(t, wg_add(wg_sub(r, s), wg_mat_at(a, 0, 0)));
    assert_int_equal(wg_tape_hvp(t, y, 2, x, v, hv), WG_ENONFINITE);
    assert_int_equal(wg_tape_hessian(t, y, 2, x, h, 2), WG_ENONFINITE);
    for (int i = 0; i < 4; i++) assert_true(hv[i % 2] == -77 && h[i] == -77);
    wg_tape_free(t);
}

/* What happens to the adjoints between a gradient and the product that takes them from it. */
enum between {
    NOTHING,
    A_PRODUCT,
    ANOTHER_SEED,
    MORE_IS_ADDED,
    A_PARTIAL_SWEEP,
    ANOTHER_ROOT,
    LANES,
    CLEARED,
    REWOUND,
    REPLAYED,
    PREACCUMULATED,
    BETWEENS
};
static wg_real bent(wg_tape *t, const wg_real *x, wg_real *inner) {
    *inner = wg_let(t, wg_mul(wg_sin(x[0]), x[1]));
    return wg_let(t, wg_mul(*inner, wg_exp(*inner)));
}
static void products_never_take_adjoints_of_something_else(void **state) {
    (void)state;
    const wg_options o = {.flags = WG_KEEP_CODE};
    const double at[2] = {0.5, 1.25}, other[2] = {-0.25, 0.75}, v[2] = {1, -2};
    const double two = 2, twos[2] = {2, 2};
    for (int what = 0; what < BETWEENS; what++) {
        wg_tape *const t = wg_tape_new(&o), *const fresh = wg_tape_new(&o);
        wg_real x[2], z[2], inner, same;
        double hv[2], expected[2], g[2], ge[2];
        assert_int_equal(wg_inputs(t, 2, at, x), WG_OK);
        const wg_mark start = wg_tape_mark(t);
        wg_real y = bent(t, x, &inner);
        const wg_mark end = wg_tape_mark(t);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        switch ((enum between)what) {
        case A_PRODUCT:
            assert_int_equal(wg_tape_hvp(t, y, 2, x, twos, hv), WG_OK);
            break;
        case ANOTHER_SEED:
            assert_int_equal(wg_reverse_seeds(t, 1, &y, &two), WG_OK);
            break;
        case MORE_IS_ADDED:
            assert_int_equal(wg_adjoint_seed(t, inner, 3), WG_OK);
            break;
        case A_PARTIAL_SWEEP:
            assert_int_equal(wg_sweep(t, end, start), WG_OK);
            break;
        case ANOTHER_ROOT:
            assert_int_equal(wg_reverse(t, inner), WG_OK);
            break;
        case LANES:
            assert_int_equal(wg_reverse_lanes(t, 2, 1, &y, twos), WG_OK);
            break;
        case CLEARED:
            assert_int_equal(wg_adjoints_clear(t), WG_OK);
            break;
        case REWOUND: /* and another statement in its place */
            assert_int_equal(wg_tape_rewind(t, start), WG_OK);
            inner = wg_let(t, wg_mul(x[0], x[1]));
            y = wg_let(t, wg_mul(inner, wg_exp(wg_mul(2, inner))));
            break;
        case REPLAYED:
            assert_int_equal(wg_tape_replay(t, 2, x, other), WG_OK);
            break;
        case PREACCUMULATED:
            assert_int_equal(wg_preaccumulate(t, start, 2, x, 1, &y), WG_EMODE);
            break;
        default:
            break;
        }
        assert_int_equal(wg_inputs(fresh, 2, what == REPLAYED ? other : at, z), WG_OK);
        if (what == REWOUND) {
            same = wg_let(fresh, wg_mul(z[0], z[1]));
            same = wg_let(fresh, wg_mul(same, wg_exp(wg_mul(2, same))));
        } else {
            same = bent(fresh, z, &inner);
        }
        assert_int_equal(wg_tape_hvp(fresh, same, 2, z, v, expected), WG_OK);
        assert_int_equal(wg_adjoints(fresh, 2, z, ge), WG_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(wg_tape_hvp(t, y, 2, x, v, hv), WG_OK);
            assert_int_equal(wg_adjoints(t, 2, x, g), WG_OK);
            for (int i = 0; i < 2; i++)
                if (hv[i] != expected[i] || g[i] != ge[i]) fail_msg("after %d", what);
        }
        wg_tape_free(t);
        wg_tape_free(fresh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_never_take_adjoints_of_something_else),
        cmocka_unit_test(what_the_sweep_refuses_leaves_no_products),
        cmocka_unit_test(functions_of_the_oracle_agree_in_every_mode),
        cmocka_unit_test(the_matrix_is_column_major_and_padding_is_left_alone),
        cmocka_unit_test(inputs_may_be_a_selection),
        cmocka_unit_test(a_root_before_the_end_of_the_tape_has_its_own_hessian),
        cmocka_unit_test(kept_second_derivatives_follow_the_tape),
        cmocka_unit_test(wide_hessians_are_put_together_from_several_sweeps),
        cmocka_unit_test(misuse_is_answered_and_outputs_are_left_alone),
        cmocka_unit_test(the_curvature_of_a_kink_is_zero),
        cmocka_unit_test(a_replay_into_the_other_branch_is_reported),
        cmocka_unit_test(only_inputs_take_new_values_in_a_replay),
        cmocka_unit_test(elements_of_results_take_no_new_values_in_a_replay),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
