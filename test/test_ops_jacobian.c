/* SPDX-License-Identifier: MIT */
/* Operations that give their Jacobian: products with it, in every mode. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

/* Spherical coordinates: from (r, theta, phi), one column, to (x, y, z), one row, and r^2 times
 * the scale, the second operand, 1-by-1. */
static wg_status shape(wg_block *b) {
    if (b->in[0].rows * b->in[0].cols != 3 || b->in[1].rows * b->in[1].cols != 1)
        return WG_ESHAPE;
    b->out[0].rows = 1, b->out[0].cols = 3;
    b->out[1].rows = b->out[1].cols = 1;
    b->work_bytes = wg_jacobian_work(b);
    return WG_OK;
}

static double at(const wg_block_arg *a, size_t c) {
    const size_t i = c % a->rows, j = c / a->rows;
    return a->value[a->trans ? j + i * a->ld : i + j * a->ld];
}

static wg_status value(wg_block *b) {
    const double r = at(&b->in[0], 0), u = at(&b->in[0], 1), v = at(&b->in[0], 2);
    b->out[0].value[0] = r * sin(u) * cos(v);
    b->out[0].value[1] = r * sin(u) * sin(v);
    b->out[0].value[2] = r * cos(u);
    b->out[1].value[0] = r * r * b->in[1].value[0];
    return WG_OK;
}

static wg_status jacobian(wg_block *b, size_t out, size_t in, double *j) {
    const double r = at(&b->in[0], 0), u = at(&b->in[0], 1), v = at(&b->in[0], 2);
    if (r < 0) return WG_EDEGENERATE;
    if (out == 1) {
        if (in == 0) j[0] = 2 * r * b->in[1].value[0];
        else j[0] = r * r;
    } else if (in == 0) {
        const double d[9] = {sin(u) * cos(v),      sin(u) * sin(v),     cos(u),
                             r * cos(u) * cos(v),  r * cos(u) * sin(v), -r * sin(u),
                             -r * sin(u) * sin(v), r * sin(u) * cos(v), 0};
        memcpy(j, d, sizeof d);
    }
    return WG_OK;
}

static wg_status vjp(wg_block *b) { return wg_vjp_by_jacobian(b, jacobian); }
static wg_status jvp(wg_block *b) { return wg_jvp_by_jacobian(b, jacobian); }

static const wg_block_op spherical = {"spherical", WG_OP_TRANS, shape, value,
                                      vjp,         jvp,         NULL, NULL,  NULL};
static const double P[3] = {2, 0.4, 1.1};

static void an_operation_may_give_its_jacobian(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double scale = 3;
    const wg_mat c = wg_mat_constant(t, 1, 1, &scale, 1);
    wg_mat in[2] = {wg_mat_input(t, 3, 1, P, 3), wg_mat_input(t, 1, 1, &scale, 1)}, out[2];
    assert_int_equal(wg_check_op(t, &spherical, NULL, 0, 2, in, 2), WG_OK);
    const wg_mat turned[2] = {wg_mat_transpose(in[0]), in[1]}, half[2] = {in[0], c};
    assert_int_equal(wg_check_op(t, &spherical, NULL, 0, 2, turned, 2), WG_OK);
    assert_int_equal(wg_check_op(t, &spherical, NULL, 0, 2, half, 2), WG_OK);
    assert_int_equal(wg_apply(t, &spherical, NULL, 0, 2, in, 2, out), WG_OK);
    double g[3];
    assert_int_equal(wg_mat_reverse(t, out[1], NULL, 0), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, in[0], g, 3), WG_OK);
    assert_true(g[0] == 12 && g[1] == 0 && g[2] == 0);
    assert_int_equal(wg_mat_adjoint(t, in[1], g, 1), WG_OK);
    assert_true(g[0] == 4);
    wg_tape_free(t);
}

static void what_a_jacobian_returns_is_passed_on(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double bad[3] = {-1, 0, 0}, scale = 3;
    wg_mat in[2] = {wg_mat_input(t, 3, 1, bad, 3), wg_mat_input(t, 1, 1, &scale, 1)}, out[2];
    assert_int_equal(wg_apply(t, &spherical, NULL, 0, 2, in, 2, out), WG_OK);
    assert_int_equal(wg_mat_reverse(t, out[0], NULL, 0), WG_EDEGENERATE);
    assert_non_null(strstr(wg_tape_message(t), "spherical"));
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 1), WG_OK);
    in[0] = wg_mat_input(t, 3, 1, bad, 3);
    in[1] = wg_mat_constant(t, 1, 1, &scale, 1);
    assert_int_equal(wg_mat_tangent_seed(t, in[0], 0, P, 3), WG_OK);
    assert_int_equal(wg_apply(t, &spherical, NULL, 0, 2, in, 2, out), WG_EDEGENERATE);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_may_give_its_jacobian),
        cmocka_unit_test(what_a_jacobian_returns_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
