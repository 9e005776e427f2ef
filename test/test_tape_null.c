/* SPDX-License-Identifier: MIT */
/* test_tape_null.c - NULL for every pointer of every function of the library: status functions
 * answer WG_ENULL, recording functions give a passive NaN, nothing crashes. A function that the
 * headers declare and that is not tried is a failure: here, or for the headers of matrices in
 * the programs that null.h names. */
#include "null.h"

#include <wengert/operation.h>

static wg_status square(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)data;
    for (size_t j = 0; j < m; j++)
        y[j] = n > 0 ? wg_let(t, wg_square(x[j % n])) : wg_constant(1);
    return WG_OK;
}

/* test/small_kernel.c: a statement of n operands, small code. */
wg_real small_statement(wg_tape *t, size_t n, int way, const wg_real *x);

static int sink(void *ctx, const char *text, size_t bytes) {
    (void)ctx, (void)text, (void)bytes;
    return 0;
}

/* ---- no tape ---- */

static void a_tape_that_is_null_is_answered(void **state) {
    (void)state;
    const wg_real x = wg_constant(1);
    const wg_mark m = wg_tape_mark(NULL);
    const double one = 1;
    const size_t size = 1;
    const double *point[] = {&one};
    double v, *block[] = {&v};
    wg_real y = x;
    wg_stats s;
    wg_check found;
    try("wg_tape_mark");
    assert_int_equal(m.slot, 0);
    HAPPENS(wg_tape_free, NULL);
    HAPPENS(wg_tape_reset, NULL);
    STATUS(WG_EMARK, wg_tape_rewind, tape, m);
    STATUS(WG_ENULL, wg_tape_rewind, NULL, m);
    STATUS(WG_ENULL, wg_tape_pause, NULL);
    STATUS(WG_ENULL, wg_tape_resume, NULL);
    STATUS(WG_ENULL, wg_tape_own, NULL);
    STATUS(WG_ENULL, wg_tape_progress, NULL, &(const wg_progress){0});
    STATUS(WG_ENULL, wg_tape_forward, NULL, 1);
    STATUS(WG_ENULL, wg_tape_status, NULL);
    assert_true((try("wg_tape_message"), wg_tape_message(NULL)[0] != 0));
    STATUS(WG_ESHAPE, wg_tape_refuse, NULL, WG_ESHAPE, "no shape");
    STATUS(WG_ENULL, wg_tape_stats, NULL, &s);
    PASSIVE(wg_input, NULL, 1);
    STATUS(WG_ENULL, wg_inputs, NULL, 1, &one, &y);
    STATUS(WG_ENULL, wg_label, NULL, x, "x");
    STATUS(WG_ENULL, wg_reverse, NULL, x);
    STATUS(WG_ENULL, wg_reverse_seeds, NULL, 1, &x, &one);
    STATUS(WG_ENULL, wg_reverse_lanes, NULL, 1, 1, &x, &one);
    STATUS(WG_ENULL, wg_reverse_check, NULL, 1, 1, &x);
    STATUS(WG_ENULL, wg_adjoints_clear, NULL);
    STATUS(WG_ENULL, wg_adjoint_seed, NULL, x, 1);
    STATUS(WG_ENULL, wg_sweep, NULL, m, m);
    NOTHING(wg_adjoint, NULL, x);
    NOTHING(wg_adjoint_lane, NULL, x, 0);
    STATUS(WG_ENULL, wg_adjoints, NULL, 1, &x, &v);
    STATUS(WG_ENULL, wg_adjoints_add, NULL, 1, &x, &v);
    STATUS(WG_ENULL, wg_adjoints_lanes, NULL, 1, &x, 1, &v, 1);
    STATUS(WG_ENULL, wg_tangent_seed, NULL, x, 0, 1);
    NOTHING(wg_tangent, NULL, x, 0);
    STATUS(WG_ENULL, wg_tape_hvp, NULL, x, 1, &x, &one, &v);
    STATUS(WG_ENULL, wg_tape_hvp_check, NULL, x, 1, &x);
    STATUS(WG_ENULL, wg_tape_hessian, NULL, x, 1, &x, &v, 1);
    STATUS(WG_ENULL, wg_tape_verify, NULL);
    STATUS(WG_ENULL, wg_tape_replay, NULL, 1, &x, &one);
    NOTHING(wg_tape_value, NULL, x);
    STATUS(WG_ENULL, wg_tape_dump, NULL, sink, NULL);
    STATUS(WG_ENULL, wg_tape_dot, NULL, sink, NULL);
    STATUS(WG_ENULL, wg_print, NULL, x, sink, NULL);
    /* statements and array operations */
    try("wgi_let_0");
    assert_passive(wg_let(NULL, 2));
    try("wgi_let_r");
    assert_passive(wg_let(NULL, x));
    try("wgi_let_1");
    assert_passive(wg_let(NULL, wg_mul(x, 2)));
    try("wgi_let_2");
    assert_passive(wg_let(NULL, wg_mul(x, x)));
    try("wgi_let_3");
    assert_passive(wg_let(NULL, wg_fma(x, x, x)));
    try("wgi_let_4");
    assert_passive(wg_let(NULL, wg_add(wg_fma(x, x, x), x)));
    try("wgi_let_5");
    assert_passive(wg_let(NULL, wg_add(wg_fma(x, x, x), wg_mul(x, x))));
    try("wgi_let_6");
    assert_passive(wg_let(NULL, wg_add(wg_fma(x, x, x), wg_fma(x, x, x))));
    try("wgi_let_7");
    assert_passive(wg_let(NULL, wg_fma(wg_fma(x, x, x), wg_fma(x, x, x), x)));
    try("wgi_let_8");
    assert_passive(wg_let(NULL, wg_fma(wg_fma(x, x, x), wg_fma(x, x, x), wg_mul(x, x))));
    /* these leave to the ones above, which answer */
#define LEAVES(n, ...)                                                                         \
    try("wgi_some_" #n);                                                                       \
    assert_int_equal(wgi_some_##n(NULL, 2, __VA_ARGS__).at.slot, WGI_OUTSIDE);
    LEAVES(5, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2)
    LEAVES(6, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2)
    LEAVES(7, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2)
    LEAVES(8, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2)
#undef LEAVES
    assert_int_equal((try("wgi_guards"), wgi_guards(NULL)), 0);
    try("wgi_let_long");
    assert_passive(wg_let(NULL, wg_fma(wg_fma(x, x, x), wg_fma(x, x, x), wg_fma(x, x, x))));
    const wg_real xs[] = {x, x, x, x, x, x, x, x};
    try("wgi_short_r");
    assert_passive(small_statement(NULL, 0, 2, xs));
    for (size_t n = 1; n <= sizeof xs / sizeof *xs; n++) {
        static const char *const name[] = {"wgi_short_1", "wgi_short_2", "wgi_short_3",
                                           "wgi_short_4", "wgi_short_5", "wgi_short_6",
                                           "wgi_short_7", "wgi_short_8"};
        try(name[n - 1]);
        assert_passive(small_statement(NULL, n, 0, xs));
    }
    PASSIVE(wg_sum, NULL, 1, &x);
    PASSIVE(wg_product, NULL, 1, &x);
    PASSIVE(wg_dot, NULL, 1, &x, &x);
    PASSIVE(wg_linear, NULL, 1, &one, &x);
    PASSIVE(wg_polynomial, NULL, 1, &x, x);
    PASSIVE(wg_norm2, NULL, 1, &x);
    PASSIVE(wg_squared_norm, NULL, 1, &x);
    PASSIVE(wg_logsumexp, NULL, 1, &x);
    PASSIVE(wg_maximum, NULL, 1, &x);
    PASSIVE(wg_minimum, NULL, 1, &x);
    PASSIVE(wg_mean, NULL, 1, &x);
    PASSIVE(wg_lookup, NULL, x, 1, &x);
    PASSIVE(wg_lookup, NULL, x, 0, NULL);
    PASSIVE(wg_apply_scalar, NULL, &wgi_scalar_ops[WGI_OP_mul], &x);
    PASSIVE(wg_apply_scalar, NULL, NULL, NULL);
    PASSIVE(wg_maximum, NULL, 0, NULL);
    PASSIVE(wg_dot, NULL, 1, &x, NULL);
    const wg_real two = wg_constant(2);
    STATUS(1, wg_lt, NULL, x, two);
    STATUS(1, wg_le, NULL, x, two);
    STATUS(0, wg_gt, NULL, x, two);
    STATUS(0, wg_ge, NULL, x, two);
    STATUS(0, wg_eq, NULL, x, two);
    STATUS(1, wg_ne, NULL, x, two);
    /* drivers */
    STATUS(WG_ENULL, wg_eval, NULL, square, NULL, 1, &one, 1, &v);
    STATUS(WG_ENULL, wg_gradient, NULL, square, NULL, 1, &one, &v, &v);
    STATUS(WG_ENULL, wg_jacobian, NULL, square, NULL, 1, &one, 1, &v, WG_ROW_MAJOR, &v, 1);
    STATUS(WG_ENULL, wg_jacobian_groups, NULL, square, NULL, 1, &size, point, 1, &v,
           WG_ROW_MAJOR, block, &size);
    STATUS(WG_ENULL, wg_jvp, NULL, square, NULL, 1, &one, &one, 1, &v, &v);
    STATUS(WG_ENULL, wg_vjp, NULL, square, NULL, 1, &one, 1, &one, &v, &v);
    STATUS(WG_ENULL, wg_hvp, NULL, square, NULL, 1, &one, &one, &v, &v, &v);
    STATUS(WG_ENULL, wg_loop_gradient, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    STATUS(WG_ENULL, wg_taylor, NULL, square, NULL, 1, 0, &one, 1, &v);
    STATUS(WG_ENULL, wg_taylor_vjp, NULL, square, NULL, 1, 0, &one, 1, &one, &v, &v);
    STATUS(WG_ENULL, wg_mat_eval, NULL, NULL, NULL, 0, NULL, 0, NULL);
    STATUS(WG_ENULL, wg_mat_gradient, NULL, NULL, NULL, 0, NULL, &v, NULL);
    STATUS(WG_ENULL, wg_mat_vjp, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL);
    STATUS(WG_ENULL, wg_mat_jvp, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL);
    STATUS(WG_ENULL, wg_mat_jacobian, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL);
    STATUS(WG_ENULL, wg_mat_hvp, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL);
    STATUS(WG_ENULL, wg_mat_hessian, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL);
    assert_null(
        (try("wg_cg"), wg_cg(NULL, NULL, NULL, 0, NULL, wg_mat_failed(1, 1), NULL)).value);
    assert_null(
        (try("wg_gmres"), wg_gmres(NULL, NULL, NULL, 0, NULL, wg_mat_failed(1, 1), NULL))
            .value);
    STATUS(WG_ENULL, wg_hessian, NULL, square, NULL, 1, &one, &v, &v, &v, 1);
    STATUS(WG_ENULL, wg_check_gradient, NULL, square, NULL, 1, &one, 1, &found);
    STATUS(WG_ENULL, wg_check_hessian, NULL, square, NULL, 1, &one, 1, &found);
    STATUS(WG_ENULL, wg_check_branches, NULL, square, NULL, 1, &one, 1, 0, NULL);
    STATUS(WG_ENULL, wg_check_gradient_within, NULL, square, NULL, 1, &one, 1, NULL, &found);
    STATUS(WG_ENULL, wg_check_hessian_within, NULL, square, NULL, 1, &one, 1, NULL, &found);
    STATUS(WG_ENULL, wg_check_scalar_op, NULL, &wgi_scalar_ops[WGI_OP_sin], &one);
    /* sparse derivatives */
    wg_sparsity *pattern = NULL;
    STATUS(WG_ENULL, wg_jacobian_sparsity, NULL, square, NULL, 1, &one, 1, WG_ROW_MAJOR,
           &pattern);
    STATUS(WG_ENULL, wg_hessian_sparsity, NULL, square, NULL, 1, &one, 1, 'L', WG_ROW_MAJOR,
           &pattern);
    STATUS(WG_ENULL, wg_jacobian_sparsity_of, NULL, 1, 1, 0, NULL, NULL, WG_ROW_MAJOR, 0,
           &pattern);
    STATUS(WG_ENULL, wg_hessian_sparsity_of, NULL, 1, 1, 0, NULL, NULL, 'L', WG_ROW_MAJOR, 0,
           &pattern);
    STATUS(WG_ENULL, wg_sparsity_select, NULL, NULL, 0, NULL, NULL, &pattern);
    STATUS(WG_ENULL, wg_sparsity_select, tape, NULL, 0, NULL, NULL, &pattern);
    STATUS(WG_ENULL, wg_sparsity_colour, NULL, NULL, NULL, &pattern);
    STATUS(WG_ENULL, wg_sparsity_colour, tape, NULL, NULL, &pattern);
    STATUS(WG_ENULL, wg_sparse_jacobian, NULL, NULL, square, NULL, &one, &v, &v);
    STATUS(WG_ENULL, wg_sparse_hessian, NULL, NULL, square, NULL, &one, &one, &v, &v, &v);
    STATUS(WG_ENULL, wg_sparse_jacobian, tape, NULL, square, NULL, &one, &v, &v);
    STATUS(WG_ENULL, wg_sparse_hessian, tape, NULL, square, NULL, &one, &one, &v, &v, &v);
    wg_tape_reset(tape);
    assert_null((try("wg_sparsity_pattern"), wg_sparsity_pattern(NULL)));
    assert_int_equal((try("wg_sparsity_colours"), wg_sparsity_colours(NULL)), 0);
    HAPPENS(wg_sparsity_free, NULL);
    /* without a tape at all */
    assert_non_null((try("wg_tape_new"), wg_status_text(WG_OK)));
    try("wg_status_text");
}

/* ---- a tape, and no array ---- */

static void arrays_that_are_null_are_answered(void **state) {
    (void)state;
    const double one = 1;
    double v = 42;
    wg_real x, y;
    assert_int_equal(wg_inputs(tape, 1, &one, &x), WG_OK);
    y = wg_let(tape, wg_square(x));
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    STATUS(WG_ENULL, wg_tape_stats, tape, NULL);
    STATUS(WG_ENULL, wg_label, tape, x, NULL);
    STATUS(WG_ENULL, wg_adjoints, tape, 1, NULL, &v);
    STATUS(WG_ENULL, wg_adjoints, tape, 1, &x, NULL);
    STATUS(WG_ENULL, wg_adjoints_add, tape, 1, NULL, &v);
    STATUS(WG_ENULL, wg_adjoints_add, tape, 1, &x, NULL);
    STATUS(WG_ENULL, wg_adjoints_lanes, tape, 1, NULL, 1, &v, 1);
    STATUS(WG_ENULL, wg_adjoints_lanes, tape, 1, NULL, 0, &v, 1); /* also of no lane */
    STATUS(WG_ENULL, wg_adjoints_lanes, tape, 1, &x, 1, NULL, 1);
    STATUS(WG_ENULL, wg_reverse_check, tape, 1, 1, NULL);
    STATUS(WG_ENULL, wg_tape_hvp, tape, y, 1, NULL, &one, &v);
    STATUS(WG_ENULL, wg_tape_hvp_check, tape, y, 1, NULL);
    STATUS(WG_ENULL, wg_tape_hvp, tape, y, 1, &x, NULL, &v);
    STATUS(WG_ENULL, wg_tape_hvp, tape, y, 1, &x, &one, NULL);
    STATUS(WG_ENULL, wg_tape_hessian, tape, y, 1, NULL, &v, 1);
    STATUS(WG_ENULL, wg_tape_hessian, tape, y, 1, &x, NULL, 1);
    STATUS(WG_ENULL, wg_tape_replay, tape, 1, NULL, &one);
    STATUS(WG_ENULL, wg_tape_replay, tape, 1, &x, NULL);
    STATUS(WG_ENULL, wg_tape_dump, tape, NULL, NULL);
    STATUS(WG_ENULL, wg_tape_dot, tape, NULL, NULL);
    STATUS(WG_ENULL, wg_print, tape, x, NULL, NULL);
    assert_true((try("wg_write_file"), wg_write_file(NULL, "x", 1) != 0));
    assert_int_equal(wg_tape_status(tape), WG_OK);
    assert_true(v == 42);
}

/* A number that is recorded. */
#define LOSES(f, ...)                                                                          \
    do {                                                                                       \
        const wg_real x = wg_input(tape, 1);                                                   \
        (void)x;                                                                               \
        PASSIVE(f, __VA_ARGS__);                                                               \
        assert_int_equal(wg_tape_status(tape), WG_ENULL);                                      \
        assert_says(#f);                                                                       \
        wg_tape_reset(tape);                                                                   \
    } while (0)

static void a_recording_without_its_array_has_failed(void **state) {
    (void)state;
    const double one = 1;
    double v = 42;
    wg_real y = wg_constant(1);
    const size_t size = 1, huge = 1;
    const double *point[] = {&one}, *no_point[] = {NULL};
    double *block[] = {&v};
    KEEPS(WG_ENULL, wg_inputs, tape, 1, NULL, &y);
    KEEPS(WG_ENULL, wg_inputs, tape, 1, &one, NULL);
    REFUSES(WG_ENULL, wg_reverse_seeds, tape, 1, NULL, &one);
    REFUSES(WG_ENULL, wg_reverse_seeds, tape, 1, &y, NULL);
    REFUSES(WG_ENULL, wg_reverse_lanes, tape, 1, 1, NULL, &one);
    REFUSES(WG_ENULL, wg_reverse_lanes, tape, 1, 1, &y, NULL);
    LOSES(wg_sum, tape, 1, NULL);
    LOSES(wg_product, tape, 1, NULL);
    LOSES(wg_dot, tape, 1, NULL, &x);
    LOSES(wg_dot, tape, 1, &x, NULL);
    LOSES(wg_linear, tape, 1, NULL, &x);
    LOSES(wg_linear, tape, 1, &one, NULL);
    LOSES(wg_polynomial, tape, 1, NULL, x);
    LOSES(wg_norm2, tape, 1, NULL);
    LOSES(wg_squared_norm, tape, 1, NULL);
    LOSES(wg_logsumexp, tape, 1, NULL);
    LOSES(wg_maximum, tape, 1, NULL);
    LOSES(wg_minimum, tape, 1, NULL);
    LOSES(wg_mean, tape, 1, NULL);
    LOSES(wg_lookup, tape, x, 1, NULL);
    LOSES(wg_apply_scalar, tape, NULL, &x);
    LOSES(wg_apply_scalar, tape, &wgi_scalar_ops[WGI_OP_mul], NULL);
    KEEPS(WG_ENULL, wg_eval, tape, NULL, NULL, 1, &one, 1, &v);
    KEEPS(WG_ENULL, wg_eval, tape, square, NULL, 1, NULL, 1, &v);
    KEEPS(WG_ENULL, wg_gradient, tape, NULL, NULL, 1, &one, &v, &v);
    KEEPS(WG_ENULL, wg_gradient, tape, square, NULL, 1, NULL, &v, &v);
    KEEPS(WG_ENULL, wg_jacobian, tape, NULL, NULL, 1, &one, 1, &v, WG_ROW_MAJOR, &v, 1);
    KEEPS(WG_ENULL, wg_jacobian, tape, square, NULL, 1, NULL, 1, &v, WG_ROW_MAJOR, &v, 1);
    KEEPS(WG_ENULL, wg_jacobian_groups, tape, NULL, NULL, 1, &size, point, 1, &v, WG_ROW_MAJOR,
          block, &huge);
    KEEPS(WG_ENULL, wg_jacobian_groups, tape, square, NULL, 1, NULL, point, 1, &v, WG_ROW_MAJOR,
          block, &huge);
    KEEPS(WG_ENULL, wg_jacobian_groups, tape, square, NULL, 1, &size, NULL, 1, &v, WG_ROW_MAJOR,
          block, &huge);
    KEEPS(WG_ENULL, wg_jacobian_groups, tape, square, NULL, 1, &size, no_point, 1, &v,
          WG_ROW_MAJOR, block, &huge);
    KEEPS(WG_ENULL, wg_jacobian_groups, tape, square, NULL, 1, &size, point, 1, &v,
          WG_ROW_MAJOR, block, NULL);
    KEEPS(WG_ENULL, wg_jvp, tape, NULL, NULL, 1, &one, &one, 1, &v, &v);
    KEEPS(WG_ENULL, wg_jvp, tape, square, NULL, 1, NULL, &one, 1, &v, &v);
    KEEPS(WG_ENULL, wg_jvp, tape, square, NULL, 1, &one, NULL, 1, &v, &v);
    KEEPS(WG_ENULL, wg_vjp, tape, NULL, NULL, 1, &one, 1, &one, &v, &v);
    KEEPS(WG_ENULL, wg_vjp, tape, square, NULL, 1, NULL, 1, &one, &v, &v);
    KEEPS(WG_ENULL, wg_vjp, tape, square, NULL, 1, &one, 1, NULL, &v, &v);
    KEEPS(WG_ENULL, wg_hvp, tape, NULL, NULL, 1, &one, &one, &v, &v, &v);
    KEEPS(WG_ENULL, wg_taylor, tape, NULL, NULL, 1, 0, &one, 1, &v);
    KEEPS(WG_ENULL, wg_taylor_vjp, tape, NULL, NULL, 1, 0, &one, 1, &one, &v, &v);
    KEEPS(WG_ENULL, wg_mat_eval, tape, NULL, NULL, 0, NULL, 0, NULL);
    KEEPS(WG_ENULL, wg_mat_gradient, tape, NULL, NULL, 0, NULL, &v, NULL);
    KEEPS(WG_ENULL, wg_mat_vjp, tape, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL);
    KEEPS(WG_ENULL, wg_mat_jvp, tape, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL);
    KEEPS(WG_ENULL, wg_mat_jacobian, tape, NULL, NULL, 0, NULL, 0, NULL, NULL);
    KEEPS(WG_ENULL, wg_mat_hvp, tape, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL);
    KEEPS(WG_ENULL, wg_mat_hessian, tape, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL);
    KEEPS(WG_ENULL, wg_hvp, tape, square, NULL, 1, NULL, &one, &v, &v, &v);
    KEEPS(WG_ENULL, wg_hvp, tape, square, NULL, 1, &one, NULL, &v, &v, &v);
    KEEPS(WG_ENULL, wg_hessian, tape, NULL, NULL, 1, &one, &v, &v, &v, 1);
    KEEPS(WG_ENULL, wg_hessian, tape, square, NULL, 1, NULL, &v, &v, &v, 1);
    wg_check found;
    KEEPS(WG_ENULL, wg_check_gradient, tape, NULL, NULL, 1, &one, 1, &found);
    KEEPS(WG_ENULL, wg_check_gradient, tape, square, NULL, 1, NULL, 1, &found);
    KEEPS(WG_ENULL, wg_check_branches, tape, NULL, NULL, 1, &one, 1, 0, NULL);
    KEEPS(WG_ENULL, wg_check_branches, tape, square, NULL, 1, NULL, 1, 0, NULL);
    KEEPS(WG_ENULL, wg_check_gradient_within, tape, NULL, NULL, 1, &one, 1, NULL, &found);
    KEEPS(WG_ENULL, wg_check_gradient_within, tape, square, NULL, 1, NULL, 1,
          &(wg_check_range){&one, &one, &one}, &found);
    KEEPS(WG_ENULL, wg_check_hessian_within, tape, NULL, NULL, 1, &one, 1, NULL, &found);
    KEEPS(WG_ENULL, wg_check_hessian, tape, NULL, NULL, 1, &one, 1, &found);
    KEEPS(WG_ENULL, wg_check_hessian, tape, square, NULL, 1, NULL, 1, &found);
    STATUS(WG_ENULL, wg_check_scalar_op, tape, NULL, &one);
    STATUS(WG_ENULL, wg_check_scalar_op, tape, &wgi_scalar_ops[WGI_OP_sin], NULL);
    assert_true(v == 42);
}

static void outputs_of_drivers_that_are_null_are_not_wanted(void **state) {
    (void)state;
    const double at[] = {3, 4}, w[] = {1, 0.5};
    const size_t size[] = {1, 1}, ld[] = {2, 2};
    const double *point[] = {&at[0], &at[1]};
    double *none[] = {NULL, NULL};
    STATUS(WG_OK, wg_eval, tape, square, NULL, 2, at, 2, NULL);
    STATUS(WG_OK, wg_gradient, tape, square, NULL, 2, at, NULL, NULL);
    STATUS(WG_OK, wg_jacobian, tape, square, NULL, 2, at, 2, NULL, WG_ROW_MAJOR, NULL, 0);
    STATUS(WG_OK, wg_jacobian_groups, tape, square, NULL, 2, size, point, 2, NULL, WG_COL_MAJOR,
           NULL, NULL);
    STATUS(WG_OK, wg_jacobian_groups, tape, square, NULL, 2, size, point, 2, NULL, WG_COL_MAJOR,
           none, ld);
    STATUS(WG_OK, wg_jvp, tape, square, NULL, 2, at, w, 2, NULL, NULL);
    STATUS(WG_OK, wg_vjp, tape, square, NULL, 2, at, 2, w, NULL, NULL);
    STATUS(WG_OK, wg_hvp, tape, square, NULL, 2, at, w, NULL, NULL, NULL);
    STATUS(WG_OK, wg_hessian, tape, square, NULL, 2, at, NULL, NULL, NULL, 2);
    STATUS(WG_OK, wg_check_gradient, tape, square, NULL, 2, at, 2, NULL);
    STATUS(WG_OK, wg_check_hessian, tape, square, NULL, 2, at, 2, NULL);
    /* no inputs, no outputs, no arrays */
    STATUS(WG_OK, wg_eval, tape, square, NULL, 0, NULL, 0, NULL);
    STATUS(WG_OK, wg_gradient, tape, square, NULL, 0, NULL, NULL, NULL);
    STATUS(WG_OK, wg_jacobian, tape, square, NULL, 0, NULL, 0, NULL, WG_ROW_MAJOR, NULL, 0);
    STATUS(WG_OK, wg_jacobian_groups, tape, square, NULL, 0, NULL, NULL, 0, NULL, WG_ROW_MAJOR,
           NULL, NULL);
    STATUS(WG_OK, wg_jvp, tape, square, NULL, 0, NULL, NULL, 0, NULL, NULL);
    STATUS(WG_OK, wg_vjp, tape, square, NULL, 0, NULL, 0, NULL, NULL, NULL);
    STATUS(WG_OK, wg_hvp, tape, square, NULL, 0, NULL, NULL, NULL, NULL, NULL);
    STATUS(WG_OK, wg_hessian, tape, square, NULL, 0, NULL, NULL, NULL, NULL, 0);
    STATUS(WG_OK, wg_check_gradient, tape, square, NULL, 0, NULL, 0, NULL);
    STATUS(WG_OK, wg_check_hessian, tape, square, NULL, 0, NULL, 0, NULL);
}

static void memory_callbacks_that_are_null_are_the_defaults(void **state) {
    (void)state;
    wg_options opt = {.memory = {.ctx = &opt}};
    wg_tape *t = wg_tape_new(&opt);
    assert_non_null((try("wg_tape_new"), t));
    assert_int_equal(wg_reverse(t, wg_let(t, wg_sin(wg_input(t, 1)))), WG_OK);
    wg_tape_free(t);
    assert_null(wg_tape_new(&(wg_options){.buffer = &opt, .buffer_bytes = 0}));
}

static void files_of_memory_that_are_null_are_answered(void **state) {
    const char *why;
    wg_spill *s;
    (void)state;
    STATUS(WG_ENULL, wg_spill_new, NULL, 0, 4096, &s, &why);
    assert_null(s);
    STATUS(WG_ENULL, wg_spill_new, "/tmp", 0, 4096, NULL, NULL);
    assert_null((try("wg_spill_memory"), wg_spill_memory(NULL).commit)); /* the defaults */
    assert_int_equal((try("wg_spill_used"), wg_spill_used(NULL)), 0);
    HAPPENS(wg_spill_free, NULL);
}

/* ---- was that all? ---- */

static void searches_answer(void **state) {
    wg_minimise_result r;
    double x = 1;
    (void)state;
    STATUS(WG_ENULL, wg_minimise, NULL, square, NULL, 1, &x, NULL, &r);
    STATUS(WG_ENULL, wg_mat_minimise, NULL, NULL, NULL, 0, NULL, NULL, &r);
    STATUS(WG_ENULL, wg_function_minimise, NULL, NULL, 1, NULL, NULL, &x, NULL, &r);
    STATUS(WG_ENULL, wg_fit, NULL, square, NULL, 1, 1, &x, NULL, &r, NULL);
    STATUS(WG_ENULL, wg_function_fit, NULL, NULL, 1, NULL, NULL, &x, NULL, &r, NULL);
    KEEPS(WG_ENULL, wg_minimise, tape, NULL, NULL, 1, &x, NULL, &r);
    KEEPS(WG_ENULL, wg_minimise, tape, square, NULL, 1, NULL, NULL, &r);
    KEEPS(WG_ENULL, wg_minimise, tape, square, NULL, 1, &x, NULL, NULL);
    KEEPS(WG_ENULL, wg_mat_minimise, tape, NULL, NULL, 0, NULL, NULL, &r);
    KEEPS(WG_ENULL, wg_function_minimise, tape, NULL, 1, NULL, NULL, &x, NULL, &r);
    KEEPS(WG_ENULL, wg_fit, tape, NULL, NULL, 1, 1, &x, NULL, &r, NULL);
    KEEPS(WG_ENULL, wg_fit, tape, square, NULL, 1, 1, &x, NULL, NULL, NULL);
    KEEPS(WG_ENULL, wg_function_fit, tape, NULL, 1, NULL, NULL, &x, NULL, &r, NULL);
    STATUS(WG_ENULL, wg_descent_step, NULL, 0, 1, NULL, &x, NULL);
    STATUS(WG_ENULL, wg_descent_step, NULL, 0, 1, &x, NULL, NULL);
    STATUS(WG_ENULL, wg_mat_descent_step, NULL, 0, 1, NULL, NULL, NULL);
    HAPPENS(wg_descent_rate, NULL, 0);
    HAPPENS(wg_descent_numbers, NULL, 3);
    HAPPENS(wg_rule_text, WG_RULE_COUNT);
    HAPPENS(wg_method_text, WG_METHOD_COUNT);
    HAPPENS(wg_stop_text, WG_STOP_COUNT);
    assert_true(x == 1);
}

static void parallel_loops_answer(void **state) {
    (void)state;
    wg_parallel *p;
    wg_real x = wg_input(tape, 1), y;
    STATUS(WG_ENULL, wg_parallel_new, NULL, 2, NULL, &p);
    STATUS(WG_ENULL, wg_parallel_new, tape, 2, NULL, NULL);
    HAPPENS(wg_parallel_free, NULL);
    STATUS(0, wg_parallel_segments, NULL);
    STATUS(7, wg_parallel_from, NULL, 0, 7);
    STATUS(WG_ENULL, wg_parallel_begin, NULL, NULL);
    assert_null((try("wg_parallel_tape"), wg_parallel_tape(NULL, 0)));
    STATUS(WG_ENULL, wg_parallel_run, NULL, NULL, NULL);
    STATUS(0, wgi_parallel_recorded, NULL, 0);
    STATUS(WG_ENULL, wg_parallel_join, NULL);
    STATUS(WG_ENULL, wg_parallel_adopt, NULL, 1, &x);
    STATUS(WG_ENULL, wg_parallel_reduce, NULL, WG_REDUCE_SUM, 1, &x, &y);
    assert_passive(y);
    KEEPS(WG_ENULL, wg_parallel_begin, NULL, tape);
    assert_int_equal(wg_parallel_new(tape, 2, NULL, &p), WG_OK);
    STATUS(WG_ENULL, wg_parallel_begin, p, NULL);
    STATUS(WG_ENULL, wg_parallel_run, p, NULL, NULL);
    STATUS(WG_ENULL, wg_parallel_adopt, p, 1, NULL);
    STATUS(WG_ENULL, wg_parallel_reduce, p, WG_REDUCE_SUM, 1, NULL, &y);
    STATUS(WG_ENULL, wg_parallel_reduce, p, WG_REDUCE_SUM, 1, &x, NULL);
    wg_parallel_free(p);
}

/* Where no loop is open all calls do nothing, and a loop that they are given NULL in has
 * failed. */
static void recorded_turns_answer(void **state) {
    (void)state;
    static const char site;
    wg_real x = wg_input(tape, 1);
    double number = 1;
    assert_null((try("wg_turns_begin"), wg_turns_begin(NULL, &site, "here", 0)));
    STATUS(0, wg_turns_next, NULL);
    assert_int_equal((try("wg_turns_load"), wg_turns_load(NULL, &x)).at.slot, 0);
    assert_int_equal((try("wg_turns_load_number"), wg_turns_load_number(NULL, &number)).at.slot,
                     0);
    assert_int_equal((try("wg_turns_load_each"), wg_turns_load_each(NULL, &x)).at.slot, 0);
    assert_int_equal(
        (try("wg_turns_load_number_each"), wg_turns_load_number_each(NULL, &number)).at.slot,
        0);
    assert_int_equal((try("wg_turns_whole_each"), wg_turns_whole_each(NULL, 3)).at.slot, 0);
    HAPPENS(wg_turns_add_each, NULL, &x, x);
    HAPPENS(wg_turns_store, NULL, &x, x);
    HAPPENS(wg_turns_store_number, NULL, &number, x);
    HAPPENS(wg_turns_add, NULL, &x, x);
    HAPPENS(wg_turns_add_number, NULL, &number, x);
    HAPPENS(wg_turns_local, NULL, &x, sizeof x);
    HAPPENS(wg_turns_private, NULL, &x, sizeof x);
    assert_int_equal((try("wg_turns_whole"), wg_turns_whole(NULL, 3)).at.slot, 0);
    STATUS(7, wg_turns_way, NULL, 7);
    STATUS(WG_ENULL, wg_turns_end, NULL);
    assert_true(number == 1);
    assert_true(wg_value(x) == 1);
    assert_null(wg_turns_begin(tape, NULL, "here", 0));
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
    wg_tape_reset(tape);
    wg_turns *const r = wg_turns_begin(tape, &site, "here", 0);
    assert_int_equal(wg_turns_next(r), 1);
    (void)wg_turns_load(r, NULL);
    assert_int_equal(wg_turns_end(r), WG_ENULL);
}

/* Calls of BLAS and LAPACK that give nothing, or info. */
#define ARRAY(f, ...)                                                                          \
    do {                                                                                       \
        (try(#f), (void)f(tape, __VA_ARGS__));                                                 \
        assert_int_equal(wg_tape_status(tape), WG_ENULL);                                      \
        assert_says(#f);                                                                       \
        assert_non_null(strstr(wg_tape_message(tape), "NULL"));                                \
        wg_tape_reset(tape);                                                                   \
        (void)f(NULL, __VA_ARGS__);                                                            \
    } while (0)

static void calls_on_arrays_answer(void **state) {
    (void)state;
    const wg_array none = {NULL, NULL};
    wg_real x = wg_constant(2);
    const wg_real two = x;
    int pivot = 1;
#define ONE wg_array_of_variables(&two)
    ARRAY(wg_ddot, 1, none, 1, ONE, 1);
    ARRAY(wg_ddot, 1, ONE, 1, none, 1);
    ARRAY(wg_dnrm2, 1, none, 1);
    ARRAY(wg_dasum, 1, none, 1);
    ARRAY(wg_idamax, 1, none, 1);
    ARRAY(wg_daxpy, 1, two, none, 1, &x, 1);
    ARRAY(wg_daxpy, 1, two, ONE, 1, NULL, 1);
    ARRAY(wg_dscal, 1, two, NULL, 1);
    ARRAY(wg_dcopy, 1, none, 1, &x, 1);
    ARRAY(wg_dcopy, 1, ONE, 1, NULL, 1);
    ARRAY(wg_dswap, 1, NULL, 1, &x, 1);
    ARRAY(wg_dswap, 1, &x, 1, NULL, 1);
    ARRAY(wg_dgemv, 'C', 'N', 1, 1, two, none, 1, ONE, 1, two, &x, 1);
    ARRAY(wg_dgemv, 'C', 'N', 1, 1, two, ONE, 1, none, 1, two, &x, 1);
    ARRAY(wg_dgemv, 'C', 'N', 1, 1, two, ONE, 1, ONE, 1, two, NULL, 1);
    ARRAY(wg_dsymv, 'C', 'L', 1, two, none, 1, ONE, 1, two, &x, 1);
    ARRAY(wg_dger, 'C', 1, 1, two, none, 1, ONE, 1, &x, 1);
    ARRAY(wg_dger, 'C', 1, 1, two, ONE, 1, ONE, 1, NULL, 1);
    ARRAY(wg_dtrmv, 'C', 'L', 'N', 'N', 1, none, 1, &x, 1);
    ARRAY(wg_dtrsv, 'C', 'L', 'N', 'N', 1, none, 1, &x, 1);
    ARRAY(wg_dgemm, 'C', 'N', 'N', 1, 1, 1, two, ONE, 1, none, 1, two, &x, 1);
    ARRAY(wg_dgemm, 'C', 'N', 'N', 1, 1, 1, two, ONE, 1, ONE, 1, two, NULL, 1);
    ARRAY(wg_dsymm, 'C', 'L', 'L', 1, 1, two, none, 1, ONE, 1, two, &x, 1);
    ARRAY(wg_dsyrk, 'C', 'L', 'N', 1, 1, two, none, 1, two, &x, 1);
    ARRAY(wg_dtrmm, 'C', 'L', 'L', 'N', 'N', 1, 1, two, none, 1, &x, 1);
    ARRAY(wg_dtrsm, 'C', 'L', 'L', 'N', 'N', 1, 1, two, ONE, 1, NULL, 1);
    ARRAY(wg_dgetrf, 'C', 1, 1, NULL, 1, &pivot);
    ARRAY(wg_dgetrf, 'C', 1, 1, &x, 1, NULL);
    ARRAY(wg_dgetrs, 'C', 'N', 1, 1, none, 1, &pivot, &x, 1);
    ARRAY(wg_dgetrs, 'C', 'N', 1, 1, ONE, 1, NULL, &x, 1);
    ARRAY(wg_dgesv, 'C', 1, 1, &x, 1, NULL, &x, 1);
    ARRAY(wg_dpotrf, 'C', 'L', 1, NULL, 1);
    ARRAY(wg_dpotrs, 'C', 'L', 1, 1, none, 1, &x, 1);
    ARRAY(wg_dposv, 'C', 'L', 1, 1, NULL, 1, &x, 1);
    ARRAY(wg_dgels, 'C', 'N', 1, 1, 1, NULL, 1, &x, 1);
    ARRAY(wg_dsyev, 'C', 'V', 'L', 1, NULL, 1, &x);
}

static void variables_that_are_given_their_partials_answer(void **state) {
    (void)state;
    const wg_real v = wg_input(tape, 1);
    const double one = 1;
    wg_terms s = wg_terms_open(NULL);
    PASSIVE(wg_let_given, NULL, 1, 1, &v, &one);
    PASSIVE(wgi_let_given, NULL, 1, 1, &v, &one, NULL, 0);
    HAPPENS(wgi_terms_add, &s, v, 1);
    PASSIVE(wg_terms_close, &s, 1);
    LOSES(wg_let_given, tape, 1, 1, NULL, &one);
    LOSES(wg_let_given, tape, 1, 1, &x, NULL);
}

static void statements_by_a_call_answer(void **state) {
    (void)state;
    const wg_real v = wg_input(tape, 1);
#define OP1(name, ...) PASSIVE(wg_let_##name, NULL, v);
#define OP2(name, ...) PASSIVE(wg_let_##name, NULL, v, v);
#define OP3(name, ...) PASSIVE(wg_let_##name, NULL, v, v, v);
#define OP4(name, ...) PASSIVE(wg_let_##name, NULL, v, v, v, v);
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
}

static void drivers_of_strided_vectors_answer(void **state) {
    (void)state;
    double v[1] = {1}, h[1];
    const wg_strided x = {v, 1}, none = {NULL, 1};
    const wg_strided_result y = {h, 1}, nothing = {NULL, 1};
    STATUS(WG_ENULL, wg_eval_strided, NULL, square, NULL, 1, x, 1, y);
    STATUS(WG_ENULL, wg_eval_strided, tape, NULL, NULL, 1, x, 1, y);
    STATUS(WG_ENULL, wg_eval_strided, tape, square, NULL, 1, none, 1, y);
    STATUS(WG_ENULL, wg_gradient_strided, NULL, square, NULL, 1, x, NULL, y);
    STATUS(WG_ENULL, wg_gradient_strided, tape, square, NULL, 1, none, NULL, y);
    STATUS(WG_ENULL, wg_jacobian_strided, NULL, square, NULL, 1, x, 1, nothing, h, 1, 1);
    STATUS(WG_ENULL, wg_jacobian_strided, tape, square, NULL, 1, none, 1, nothing, h, 1, 1);
    STATUS(WG_ENULL, wg_jvp_strided, NULL, square, NULL, 1, x, x, 1, nothing, y);
    STATUS(WG_ENULL, wg_jvp_strided, tape, square, NULL, 1, x, none, 1, nothing, y);
    STATUS(WG_ENULL, wg_vjp_strided, NULL, square, NULL, 1, x, 1, x, nothing, y);
    STATUS(WG_ENULL, wg_vjp_strided, tape, square, NULL, 1, x, 1, none, nothing, y);
    STATUS(WG_ENULL, wg_hvp_strided, NULL, square, NULL, 1, x, x, NULL, nothing, y);
    STATUS(WG_ENULL, wg_hvp_strided, tape, square, NULL, 1, x, none, NULL, nothing, y);
    STATUS(WG_ENULL, wg_hessian_strided, NULL, square, NULL, 1, x, NULL, nothing, h, 1);
    STATUS(WG_ENULL, wg_hessian_strided, tape, square, NULL, 1, none, NULL, nothing, h, 1);
}

static void every_function_of_the_headers_was_tried(void **state) {
    (void)state;
    assert_all_tried(__FILE__);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_tape_that_is_null_is_answered),
        TEST(arrays_that_are_null_are_answered),
        TEST(a_recording_without_its_array_has_failed),
        TEST(outputs_of_drivers_that_are_null_are_not_wanted),
        TEST(memory_callbacks_that_are_null_are_the_defaults),
        TEST(files_of_memory_that_are_null_are_answered),
        TEST(searches_answer),
        TEST(parallel_loops_answer),
        TEST(recorded_turns_answer),
        TEST(calls_on_arrays_answer),
        TEST(variables_that_are_given_their_partials_answer),
        TEST(statements_by_a_call_answer),
        TEST(drivers_of_strided_vectors_answer),
        cmocka_unit_test(every_function_of_the_headers_was_tried), /* the last one */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
