/* SPDX-License-Identifier: MIT */
/* Matrix variables: making, views, reading, seeding, gathers; in every mode of a tape. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

#include "times_op.h"

static void a_product_and_its_adjoints(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    wg_mat y = multiply(t, &times_op, a, x);
    double v[6], g[6];
    assert_int_equal(wg_mat_value(t, y, v, 2), WG_OK);
    assert_true(v[0] == 8 && v[1] == 10);
    const double w[] = {1, 10};
    assert_int_equal(wg_mat_reverse(t, y, w, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
    const double ga[] = {1, 10, -1, -10, 2, 20};
    assert_memory_equal(g, ga, sizeof ga);
    assert_int_equal(wg_mat_adjoint(t, x, g, 3), WG_OK);
    assert_true(g[0] == 21 && g[1] == 43 && g[2] == 65);
    /* an element as the root of a scalar statement: the other has no part */
    wg_real r = wg_let(t, wg_mul(wg_mat_at(y, 1, 0), wg_mat_at(x, 2, 0)));
    assert_int_equal(wg_reverse(t, r), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, x, g, 3), WG_OK);
    assert_true(g[0] == 4 && g[1] == 8 && g[2] == 12 + 10);
    /* an element of a result as the root itself */
    assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, x, g, 3), WG_OK);
    assert_true(g[0] == 1 && g[1] == 3 && g[2] == 5);
    wg_tape_free(t);
}

/* The memory of tangents serves Hessians too, and keeps what was in it. */
static void gathered_constants_have_no_tangent(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    wg_real a = wg_input(t, 3), b = wg_let(t, wg_mul(a, wg_mul(a, a)));
    double h;
    assert_int_equal(wg_tape_hessian(t, b, 1, &a, &h, 1), WG_OK);
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 3), WG_OK);
    const wg_real x[2] = {wg_input(t, 1), wg_constant(2)};
    wg_mat m = wg_mat_gather(t, 2, 1, x);
    double tangent[2];
    for (size_t l = 0; l < 3; l++) {
        assert_int_equal(wg_mat_tangent(t, m, l, tangent, 2), WG_OK);
        assert_true(tangent[0] == 0 && tangent[1] == 0);
    }
    wg_tape_free(t);
}

static void views_are_free_and_overlap(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    double v[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, g[9], out[9];
    wg_mat m = wg_mat_input(t, 3, 3, v, 3);
    wg_stats before, after;
    wg_tape_stats(t, &before);
    wg_mat left = wg_mat_block(m, 0, 0, 2, 2), right = wg_mat_block(m, 0, 1, 2, 2);
    wg_mat turned = wg_mat_transpose(wg_mat_block(m, 1, 0, 2, 2));
    assert_int_equal(wg_mat_value(t, turned, out, 2), WG_OK);
    assert_true(out[0] == 2 && out[1] == 5 && out[2] == 3 && out[3] == 6);
    assert_true(wg_value(wg_mat_at(wg_mat_row(turned, 1), 0, 1)) == 6);
    assert_true(wg_value(wg_mat_at(wg_mat_col(m, 2), 0, 0)) == 7);
    wg_tape_stats(t, &after);
    assert_int_equal(before.records, after.records);
    assert_int_equal(before.payload_bytes, after.payload_bytes);
    wg_mat y = multiply(t, &times_op, left, right);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, m, g, 3), WG_OK);
    /* y = L R: L_ = 1 R', R_ = L' 1; the middle column belongs to both */
    const double expect[] = {11, 11, 0, 13 + 3, 13 + 9, 0, 3, 9, 0};
    for (int i = 0; i < 9; i++) assert_true(g[i] == expect[i]);
    wg_mat z =
        multiply(t, &times_op, turned, left); /* copied for an operation without WG_OP_TRANS */
    assert_int_equal(wg_mat_reverse(t, z, NULL, 0), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, m, g, 3), WG_OK);
    const double expect2[] = {7, 5 + 9, 7, 7, 5 + 9, 7, 0, 0, 0};
    for (int i = 0; i < 9; i++) assert_true(g[i] == expect2[i]);
    assert_true(wg_mat_block(m, 2, 2, 2, 1).value == NULL);
    wg_tape_free(t);
}

static void lanes_and_forward_tapes_agree_with_reverse(void **state) {
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        const wg_block_op *op = slow ? &slow_op : &times_op;
        wg_tape *t = wg_tape_new(NULL), *f = wg_tape_new(NULL);
        wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
        wg_mat y = multiply(t, op, a, x);
        wg_real out[2] = {wg_mat_at(y, 0, 0), wg_mat_at(y, 1, 0)};
        const double w[] = {1, 0, 3, 0, 1, -2};
        assert_int_equal(wg_reverse_lanes(t, 3, 2, out, w), WG_OK);
        double g[3][6], gx[3][3];
        for (size_t l = 0; l < 3; l++) {
            assert_int_equal(wg_mat_adjoint_lane(t, a, l, g[l], 2), WG_OK);
            assert_int_equal(wg_mat_adjoint_lane(t, x, l, gx[l], 3), WG_OK);
        }
        for (int i = 0; i < 6; i++) assert_true(g[2][i] == 3 * g[0][i] - 2 * g[1][i]);
        assert_true(gx[0][0] == 1 && gx[1][0] == 2 && gx[2][2] == 15 - 12);

        assert_int_equal(wg_tape_forward(f, 2), WG_OK);
        a = wg_mat_input(f, 2, 3, A, 2), x = wg_mat_input(f, 3, 1, X, 3);
        const double at[] = {1, 0, 2, 0, 3, 1}, xt[] = {1, 2, 3};
        assert_int_equal(wg_mat_tangent_seed(f, a, 0, at, 2), WG_OK);
        assert_int_equal(wg_mat_tangent_seed(f, x, 1, xt, 3), WG_OK);
        y = multiply(f, op, a, x);
        double yt[2];
        assert_int_equal(wg_mat_tangent(f, y, 0, yt, 2), WG_OK);
        assert_true(yt[0] == 1 - 2 + 6 && yt[1] == 2);
        assert_int_equal(wg_mat_tangent(f, y, 1, yt, 2), WG_OK);
        assert_true(yt[0] == 22 && yt[1] == 28);
        wg_real e = wg_let(f, wg_mul(2, wg_mat_at(y, 1, 0)));
        assert_true(wg_tangent(f, e, 1) == 56);
        wg_tape_free(t);
        wg_tape_free(f);
    }
}

static void scalars_become_a_matrix_and_back(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_real p[6];
    assert_int_equal(wg_inputs(t, 6, A, p), WG_OK);
    wg_stats before, after;
    wg_tape_stats(t, &before);
    wg_mat a = wg_mat_gather(t, 2, 3, p);
    wg_tape_stats(t, &after);
    assert_int_equal(before.records, after.records); /* slots in a row: a view */
    wg_real q[3] = {p[5], wg_constant(2), wg_let(t, wg_mul(p[0], p[1]))};
    wg_mat x = wg_mat_gather(t, 3, 1, q);
    wg_tape_stats(t, &after);
    assert_int_equal(after.records, before.records + 2); /* the product and the gather */
    wg_mat y = multiply(t, &times_op, a, x);
    wg_real r = wg_let(t, wg_add(wg_mat_at(y, 0, 0), wg_mat_at(y, 1, 0)));
    /* 3*6 + 7*2 + 11*2 */
    assert_true(wg_value(r) == 54);
    assert_int_equal(wg_reverse(t, r), WG_OK);
    double g[6];
    assert_int_equal(wg_adjoints(t, 6, p, g), WG_OK);
    const double expect[] = {6 + 22, 6 + 11, 2, 2, 2, 2 + 3};
    assert_memory_equal(g, expect, sizeof g);
    wg_tape_free(t);
}

static void replay_runs_blocks_again(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    wg_real s = wg_input(t, 3);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2);
    wg_real q[3] = {wg_let(t, wg_mul(s, s)), s, wg_constant(1)};
    wg_mat x = wg_mat_gather(t, 3, 1, q);
    wg_mat y = multiply(t, &times_op, a, x);
    wg_real r = wg_let(t, wg_mul(wg_mat_at(y, 0, 0), s));
    wg_mat row = wg_mat_gather(t, 1, 1, &s);
    wg_real last = wg_let(t, wg_mul(2, wg_mat_at(multiply(t, &times_op, row, row), 0, 0)));
    assert_true(wg_value(r) == 3 * (9 + 9 + 5) && wg_value(last) == 18);
    wg_real in[7];
    double v[7] = {2};
    in[0] = s;
    for (size_t i = 0; i < 6; i++) in[1 + i] = wg_mat_at(a, i % 2, i / 2), v[1 + i] = 1;
    assert_int_equal(wg_tape_replay(t, 7, in, v), WG_OK);
    assert_true(wg_tape_value(t, r) == 2 * (4 + 2 + 1) && wg_tape_value(t, last) == 8);
    assert_int_equal(wg_reverse(t, r), WG_OK);
    assert_true(wg_adjoint(t, s) == 7 + 2 * (4 + 1)); /* y + s dy/ds */
    assert_true(wg_adjoint(t, in[1]) == 8);
    double h;
    const double one = 1;
    assert_int_equal(wg_tape_hvp(t, r, 1, &s, &one, &h), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "times"));
    wg_tape_free(t);
}

/* By the call that the user wrote, not by what it is made of. */
static void what_cannot_be_made_is_named_by_its_call(void **state) {
    (void)state;
    const size_t huge = (size_t)1 << 40;
    wg_tape *const t = wg_tape_new(NULL);
#define NAMED(call, ...)                                                                       \
    do {                                                                                       \
        (void)call(t, __VA_ARGS__);                                                            \
        assert_int_equal(wg_tape_status(t), WG_ESHAPE);                                        \
        assert_true(strncmp(wg_tape_message(t), #call ": ", sizeof #call + 1) == 0);           \
        wg_tape_reset(t);                                                                      \
    } while (0)
    NAMED(wg_mat_input, huge, 1, A, huge);
    NAMED(wg_mat_input, 2, 3, A, 1);
    NAMED(wg_mat_input_strided, huge, 1, A, 0, 0);
    NAMED(wg_mat_input_borrowed, huge, 1, A, huge);
    NAMED(wg_mat_input_borrowed, 2, 3, A, 1);
    NAMED(wg_mat_constant_borrowed, huge, 1, A, huge);
    NAMED(wg_mat_constant_borrowed, 2, 3, A, 1);
    NAMED(wg_mat_fill, huge, 1, 0);
    NAMED(wg_mat_identity, huge);
#undef NAMED
    wg_tape_free(t);
}

static void mistakes_are_named(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL), *other = wg_tape_new(NULL);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    wg_mark m = wg_tape_mark(t);
    wg_mat y = multiply(t, &times_op, x, a);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "times of 3x1, 2x3"));
    assert_true(y.value == NULL);
    double v[6];
    assert_int_equal(wg_mat_value(t, a, v, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, v, 2), WG_ESHAPE);
    assert_true(isnan(v[5]));
    y = multiply(t, &times_op, a, x); /* does nothing, and has its shape */
    assert_true(y.value == NULL && y.rows == 2 && y.cols == 1);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    y = multiply(t, &times_op, a, x);
    assert_int_equal(wg_mat_value(t, y, v, 2), WG_OK);
    assert_true(v[1] == 10);
    (void)multiply(other, &times_op, a, x);
    assert_int_equal(wg_tape_status(other), WG_ESTALE);
    (void)multiply(t, &times_op, wg_mat_block(a, 1, 1, 2, 2), x);
    assert_non_null(strstr(wg_tape_message(t), "times: operand 0"));
    wg_tape_reset(t);
    wg_mat c = wg_mat_constant(t, 3, 1, X, 3);
    (void)multiply(t, &times_op, a, c);
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_reset(t);
    (void)multiply(t, &times_op, c, c);
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    assert_true(isnan(wg_value(wg_mat_at(multiply(NULL, &times_op, a, x), 0, 0))));
    wg_tape_reset(t);
    (void)wg_mat_input(t, 3, 1, X, 2);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    wg_tape_reset(t);
    (void)wg_mat_input(t, 3, 1, NULL, 3);
    assert_int_equal(wg_tape_status(t), WG_ENULL);
    wg_tape_free(t);
    wg_tape_free(other);
}

static void empty_matrices_flow(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_mat a = wg_mat_input(t, 2, 0, NULL, 2), x = wg_mat_input(t, 0, 3, NULL, 0);
    wg_mat y = multiply(t, &times_op, a, x);
    double v[6] = {1, 1, 1, 1, 1, 1};
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_mat_value(t, y, v, 2), WG_OK);
    for (int i = 0; i < 6; i++) assert_true(v[i] == 0);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_ESEED);
    wg_mat z = multiply(t, &times_op, x, wg_mat_input(t, 3, 1, X, 3));
    assert_true(z.rows == 0 && z.cols == 1 && z.value != NULL);
    wg_tape_free(t);
}

static void strided_input_reads_row_major(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_mat a = wg_mat_input_strided(t, 2, 3, A, 3, 1);
    assert_true(wg_value(wg_mat_at(a, 0, 1)) == 2 && wg_value(wg_mat_at(a, 1, 0)) == 4);
    wg_mat i = wg_mat_identity(t, 2), f = wg_mat_fill(t, 2, 2, 5);
    assert_true(wg_value(wg_mat_at(i, 1, 1)) == 1 && wg_value(wg_mat_at(i, 1, 0)) == 0);
    assert_true(wg_value(wg_mat_at(f, 1, 0)) == 5);
    wg_mat r = wg_mat_reshape(t, a, 3, 2);
    assert_true(r.value == a.value && wg_value(wg_mat_at(r, 2, 0)) == 2);
    wg_mat s = wg_mat_reshape(t, wg_mat_transpose(a), 6, 1);
    assert_true(wg_value(wg_mat_at(s, 1, 0)) == 2 && s.value != a.value);
    const double w[] = {0, 7, 0, 0, 0, 1};
    assert_int_equal(wg_mat_reverse(t, s, w, 6), WG_OK);
    double g[6];
    assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
    assert_true(g[2] == 7 && g[5] == 1 && g[0] == 0);
    (void)wg_mat_reshape(t, a, 4, 2);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "2x3"));
    wg_tape_free(t);
}

static void borrowed_matrices_are_not_copied(void **state) {
    (void)state;
    double a[6], x[3];
    memcpy(a, A, sizeof a);
    memcpy(x, X, sizeof x);
    for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags++) {
        wg_options o;
        memset(&o, 0, sizeof o);
        o.flags = flags;
        wg_tape *t = wg_tape_new(&o);
        wg_mat m = wg_mat_input_borrowed(t, 2, 3, a, 2);
        wg_mat part = wg_mat_constant_borrowed(t, 1, 3, a, 2); /* the first row */
        wg_mat v = wg_mat_constant_borrowed(t, 3, 1, x, 3);
        assert_true((m.value == a) == (flags == 0) && v.value == x);
        assert_true(wg_value(wg_mat_at(part, 0, 2)) == 5);
        wg_mat y = multiply(t, &times_op, m, v);
        double g[6];
        assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, m, g, 2), WG_OK);
        assert_true(g[0] == 1 && g[2] == -1 && g[5] == 2);
        if (flags != 0) {
            wg_real in[6];
            for (size_t i = 0; i < 6; i++) in[i] = wg_mat_at(m, i % 2, i / 2);
            const double other[6] = {0, 0, 0, 0, 0, 1};
            assert_int_equal(wg_tape_replay(t, 6, in, other), WG_OK);
            assert_true(wg_tape_value(t, wg_mat_at(y, 1, 0)) == 2);
            assert_memory_equal(a, A, sizeof a);
        }
        assert_true(wg_mat_constant_borrowed(t, 0, 3, NULL, 0).value != NULL);
        assert_true(wg_mat_constant_borrowed(t, 2, 3, NULL, 2).value == NULL);
        assert_int_equal(wg_tape_status(t), WG_ENULL);
        wg_tape_free(t);
    }
    assert_true(wg_mat_constant_borrowed(NULL, 2, 3, a, 2).value == NULL);
    assert_true(wg_mat_input_borrowed(NULL, 2, 3, a, 2).value == NULL);
}

static void steady_iterations_obtain_nothing(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_stats first, later;
    double g[6];
    for (int k = 0; k < 5; k++) {
        wg_tape_reset(t);
        wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
        wg_mat y = x;
        for (int i = 0; i < 3000; i++) {
            y = multiply(t, &times_op, a, x);
            wg_real q[3] = {wg_mat_at(y, 1, 0), wg_mat_at(x, 2, 0), wg_constant(1)};
            x = wg_mat_gather(t, 3, 1, q);
        }
        assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
        wg_tape_stats(t, k == 0 ? &first : &later);
    }
    assert_int_equal(first.memory_calls, later.memory_calls);
    assert_int_equal(first.payload_bytes, later.payload_bytes);
    wg_tape_free(t);
}

static void passive_values_leave_no_record(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    wg_stats before, after;
    wg_tape_stats(t, &before);
    (void)wg_tape_pause(t);
    wg_mat y = multiply(t, &times_op, a, x);
    (void)wg_tape_resume(t);
    wg_tape_stats(t, &after);
    assert_int_equal(before.records, after.records);
    assert_int_equal(y.at.slot, 0);
    assert_true(y.value[0] == 8);
    wg_tape_free(t);
}

static void rewind_gives_payload_back(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.reserve = 1 << 20; /* several chunks of payload */
    wg_tape *t = wg_tape_new(&o);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    (void)multiply(t, &times_op, a, x);
    const wg_mark m = wg_tape_mark(t);
    wg_stats before, after;
    wg_tape_stats(t, &before);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 20000; i++) (void)multiply(t, &times_op, a, x);
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        wg_tape_stats(t, &after);
        assert_int_equal(before.payload_bytes, after.payload_bytes);
    }
    wg_mat y = multiply(t, &times_op, a, x);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    double g[3];
    assert_int_equal(wg_mat_adjoint(t, x, g, 3), WG_OK);
    assert_true(g[0] == 3 && g[1] == 7 && g[2] == 11);
    wg_tape_free(t);
}

static wg_status through_a_driver(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    (void)data;
    if (n != 9 || m != 2) return WG_EARG;
    wg_mat r = multiply(t, &times_op, wg_mat_gather(t, 2, 3, x), wg_mat_gather(t, 3, 1, x + 6));
    y[0] = wg_mat_at(r, 0, 0);
    y[1] = wg_let(t, wg_exp(wg_mul(0.1, wg_mat_at(r, 1, 0))));
    return WG_OK;
}

static void drivers_take_matrices(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    double x[9], y[2], jac[18], other[18];
    memcpy(x, A, sizeof A);
    memcpy(x + 6, X, sizeof X);
    assert_int_equal(wg_jacobian(t, through_a_driver, NULL, 9, x, 2, y, WG_ROW_MAJOR, jac, 9),
                     WG_OK);
    for (size_t j = 0; j < 9; j++) {
        double v[9] = {0}, jv[2];
        v[j] = 1;
        assert_int_equal(wg_jvp(t, through_a_driver, NULL, 9, x, v, 2, y, jv), WG_OK);
        other[j] = jv[0], other[9 + j] = jv[1];
    }
    for (int i = 0; i < 18; i++) assert_true(fabs(jac[i] - other[i]) <= 1e-15 * fabs(jac[i]));
    assert_true(jac[6] == 1 && jac[7] == 3 && jac[9] == 0);
    wg_check found;
    assert_int_equal(wg_check_gradient(t, through_a_driver, NULL, 9, x, 2, &found), WG_OK);
    wg_tape_free(t);
}

static wg_status wrong_vjp(wg_block *b) {
    const wg_status s = times_vjp(b);
    if (b->in[1].bar) b->in[1].bar[1] *= 1.001;
    return s;
}

static wg_status wrong_jvp(wg_block *b) {
    const wg_status s = times_jvp(b);
    b->out[0].bar[1] += 1e-3 * (b->in[0].bar ? b->in[0].bar[0] : 0);
    return s;
}

static void a_wrong_operation_is_found(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const wg_mat in[] = {wg_mat_input(t, 2, 3, A, 2), wg_mat_input(t, 3, 1, X, 3)};
    const wg_mat half[] = {in[0], wg_mat_constant(t, 3, 1, X, 3)};
    const wg_mat turned[] = {wg_mat_transpose(in[0]), wg_mat_block(in[0], 0, 1, 2, 2)};
    wg_block_op op = times_op;
    assert_int_equal(wg_check_op(t, &op, NULL, 0, 2, in, 1), WG_OK);
    assert_int_equal(wg_check_op(t, &op, NULL, 0, 2, turned, 1), WG_OK);
    assert_int_equal(wg_check_op(t, &slow_op, NULL, 0, 2, in, 1), WG_OK);
    op.vjp = wrong_vjp;
    assert_int_equal(wg_check_op(t, &op, NULL, 0, 2, in, 1), WG_EMISMATCH);
    assert_non_null(strstr(wg_tape_message(t), "times"));
    assert_int_equal(wg_check_op(t, &op, NULL, 0, 2, half, 1), WG_OK);
    op.jvp = NULL; /* tangents come from the wrong adjoints: differences see it */
    assert_int_equal(wg_check_op(t, &op, NULL, 0, 2, in, 1), WG_EMISMATCH);
    op = times_op;
    op.jvp = wrong_jvp;
    assert_int_equal(wg_check_op(t, &op, NULL, 0, 2, half, 1), WG_EMISMATCH);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_and_its_adjoints),
        cmocka_unit_test(gathered_constants_have_no_tangent),
        cmocka_unit_test(views_are_free_and_overlap),
        cmocka_unit_test(lanes_and_forward_tapes_agree_with_reverse),
        cmocka_unit_test(scalars_become_a_matrix_and_back),
        cmocka_unit_test(replay_runs_blocks_again),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(what_cannot_be_made_is_named_by_its_call),
        cmocka_unit_test(empty_matrices_flow),
        cmocka_unit_test(strided_input_reads_row_major),
        cmocka_unit_test(borrowed_matrices_are_not_copied),
        cmocka_unit_test(steady_iterations_obtain_nothing),
        cmocka_unit_test(passive_values_leave_no_record),
        cmocka_unit_test(rewind_gives_payload_back),
        cmocka_unit_test(drivers_take_matrices),
        cmocka_unit_test(a_wrong_operation_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
