/* SPDX-License-Identifier: MIT */
/* A tape that is swept is closed: what a vjp may do with the tape it is called from, and
 * what not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

static const double X[] = {1, -1, 2};

enum misuse { SWEEPS, REWINDS, RESETS, PAUSES, DRIVES, MARKS };
typedef struct misused {
    wg_tape *t;
    wg_real x;
    wg_mark start;
    enum misuse how;
} misused;

static wg_status misused_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status misused_value(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++) b->out[0].value[i] = b->in[0].value[i];
    return WG_OK;
}
static wg_mark left; /* by the vjp */

static wg_status half(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(0.5, x[0]));
    return WG_OK;
}

static wg_status misused_vjp(wg_block *b) {
    const misused *const m = b->params;
    if (m->how == DRIVES) {
        double x = 1, y = -77, g = -77;
        const wg_status s = wg_gradient(m->t, half, NULL, 1, &x, &y, &g);
        assert_true(y == -77 && g == -77);
        return s;
    }
    if (m->how == MARKS) {
        left = wg_tape_mark(m->t);
        for (size_t i = 0; i < 3; i++) b->in[0].bar[i] += b->out[0].bar[i];
        return WG_OK;
    }
    if (m->how == SWEEPS) {
        const wg_real y = wg_let(m->t, wg_square(m->x));
        assert_true(isnan(wg_value(y)));
        assert_int_equal(wg_adjoints_clear(m->t), WG_EMODE);
        assert_true(isnan(wg_adjoint(m->t, m->x)));
        return wg_reverse(m->t, m->x);
    }
    if (m->how == PAUSES) return wg_tape_pause(m->t);
    if (m->how == REWINDS) {
        assert_int_equal(wg_tape_rewind(m->t, m->start), WG_EMODE);
    } else { /* and would write over what there was */
        static const double ones[4096] = {1};
        wg_tape *const t = m->t;
        wg_tape_reset(t);
        (void)wg_mat_input(t, 4096, 1, ones, 4096);
    }
    return WG_OK;
}

static void a_tape_being_swept_is_closed_to_its_operations(void **state) {
    (void)state;
    static const wg_block_op op = {"misused", 0,    misused_shape, misused_value, misused_vjp,
                                   NULL,      NULL, NULL,          NULL};
    static const char *const message[] = {
        "a sweep: misused of 3x1: WG_EMODE; a tape is closed while it is swept",
        "a sweep: misused: its vjp would reset or rewind the tape",
        "a sweep: misused: its vjp would reset or rewind the tape"};
    wg_tape *const t = wg_tape_new(NULL);
    for (int run = 0; run <= 2 * RESETS + 1; run++) {
        const int how = run / 2;
        wg_tape_reset(t);
        const wg_mat x = wg_mat_input(t, 3, 1, X, 3);
        const misused m = {t, wg_mat_at(x, 1, 0), wg_tape_mark(t), (enum misuse)how};
        wg_mat y;
        double g[3];
        assert_int_equal(wg_apply(t, &op, &m, sizeof m, 1, &x, 1, &y), WG_OK);
        y = wg_mat_exp(t, y);
        const wg_real root = wg_mat_at(y, 1, 0);
        assert_int_equal(run % 2 == 0
                             ? wg_mat_reverse(t, y, NULL, 0)
                             : wg_reverse_lanes(t, 2, 1, &root, (const double[]){1, 2}),
                         WG_EMODE);
        assert_string_equal(wg_tape_message(t), message[how]);
        assert_int_not_equal(wg_mat_adjoint(t, x, g, 3), WG_OK);
        /* what was recorded is there */
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_int_equal(wg_reverse(t, wg_let(t, wg_square(m.x))), WG_OK);
        assert_true(wg_adjoint(t, m.x) == 2 * X[1]);
    }
    wg_tape_free(t);
}

/* A tape with one operation that misuses it so; x is an element of the operand, y the
 * result. */
static wg_tape *record_misused(enum misuse how, wg_real *x, wg_mat *y) {
    static const wg_block_op op = {"misused", 0,    misused_shape, misused_value, misused_vjp,
                                   NULL,      NULL, NULL,          NULL};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat in = wg_mat_input(t, 3, 1, X, 3);
    *x = wg_mat_at(in, 1, 0);
    const misused m = {t, *x, wg_tape_mark(t), how};
    assert_int_equal(wg_apply(t, &op, &m, sizeof m, 1, &in, 1, y), WG_OK);
    return t;
}

static void a_pause_in_a_sweep_stays(void **state) {
    (void)state;
    wg_real x;
    wg_mat y;
    wg_tape *const t = record_misused(PAUSES, &x, &y);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    assert_int_equal(wg_let(t, wg_square(x)).at.slot, 0);
    assert_int_equal(wg_tape_resume(t), WG_OK);
    assert_int_not_equal(wg_let(t, wg_square(x)).at.slot, 0);
    wg_tape_free(t);
}

static void a_driver_in_a_sweep_is_refused(void **state) {
    (void)state;
    wg_real x;
    wg_mat y;
    wg_tape *const t = record_misused(DRIVES, &x, &y);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_EMODE);
    assert_string_equal(
        wg_tape_message(t),
        "a sweep: misused of 3x1: WG_EMODE; a tape is closed while it is swept");
    /* the recording is there, and drivers work again */
    assert_int_equal(wg_reverse(t, wg_let(t, wg_square(x))), WG_OK);
    assert_true(wg_adjoint(t, x) == 2 * X[1]);
    double at = 3, f, g;
    assert_int_equal(wg_gradient(t, half, NULL, 1, &at, &f, &g), WG_OK);
    assert_true(f == 1.5 && g == 0.5);
    wg_tape_free(t);
}

static void a_mark_of_a_sweep_is_one_of_a_tape_that_is_well(void **state) {
    (void)state;
    wg_real x;
    wg_mat y;
    wg_tape *const t = record_misused(MARKS, &x, &y);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    (void)wg_mat_constant(t, 2, 2, NULL, 2);
    assert_int_equal(wg_tape_status(t), WG_ENULL);
    assert_int_equal(wg_tape_rewind(t, left), WG_OK);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* ---- what an operation asks for numbers ---- */

typedef struct source {
    wg_tape *t;
    wg_mark start;
    int how;  /* in a sweep: 1: resets, 2: rewinds, and records over it */
    int well; /* not in so many calls */
} source;

static wg_status numbers(size_t first, size_t count, double *data, void *user) {
    source *const s = user;
    const int how = s->well > 0 ? 0 : s->how;
    s->well--;
    if (how == 1) wg_tape_reset(s->t);
    if (how == 2) assert_int_equal(wg_tape_rewind(s->t, s->start), WG_EMODE);
    if (how != 0) {
        static const double ones[4096] = {1};
        (void)wg_mat_input(s->t, 4096, 1, ones, 4096);
    }
    for (size_t i = 0; i < count; i++) data[i] = (double)(first + i + 1);
    return WG_OK;
}
static wg_status product(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    return WG_OK;
}

/* A map of a by those numbers on a forward tape: they come once for the values, then for the
 * tangents. */
static void map_forward(const wg_callable *k, const double *x, int how, size_t lanes) {
    wg_tape *const t = wg_tape_new(NULL);
    assert_int_equal(wg_tape_forward(t, lanes), WG_OK);
    source s = {t, wg_tape_mark(t), how, 1};
    const wg_mat a = wg_mat_input(t, 1, 3, x, 1);
    const wg_source from[] = {wg_from_matrix(a), wg_from_fill(numbers, &s)};
    wg_mat y;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(wg_tangent_seed(t, wg_mat_at(a, 0, i), lanes - 1, 1), WG_OK);
    assert_int_equal(wg_map(t, k, 3, from, NULL, &y), how != 0 ? WG_EMODE : WG_OK);
    assert_true(s.well < 0); /* they were asked for again */
    for (size_t i = 0; how == 0 && i < 3; i++)
        assert_true(wg_tangent(t, wg_mat_at(y, 0, i), lanes - 1) == (double)(i + 1));
    if (how != 0)
        assert_non_null(
            strstr(wg_tape_message(t), "its tangent would reset or rewind the tape"));
    wg_tape_free(t);
}

/* A map goes on with its numbers after the callback that gives some of them: in sweeps, in
 * tangents of a forward tape, and in second derivatives. */
static void a_callback_that_gives_numbers_does_not_reset_the_tape(void **state) {
    (void)state;
    const wg_argument in[] = {{"x", 1, 1, 0}, {"d", 1, 1, WG_PASSIVE}}, out = {"y", 1, 1, 0};
    const double at[] = {1, 1}, x[] = {0.5, -1, 2}, v[] = {1, 1, 1};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f;
    wg_callable *k;
    assert_int_equal(wg_function_record(t, product, NULL, 2, in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_callable_new(t, f, &k), WG_OK);
    for (int run = 0; run < 6; run++) {
        wg_tape_reset(t);
        source s = {t, wg_tape_mark(t), 0, 0};
        const wg_mat a = wg_mat_input(t, 1, 3, x, 1);
        const wg_source from[] = {wg_from_matrix(a), wg_from_fill(numbers, &s)};
        wg_mat y;
        double g[3], hv[3];
        assert_int_equal(wg_map(t, k, 3, from, NULL, &y), WG_OK);
        const wg_real sum = wg_mat_dot(t, y, y),
                      of[] = {wg_mat_at(a, 0, 0), wg_mat_at(a, 0, 1), wg_mat_at(a, 0, 2)};
        s.how = 1 + run % 2;
        const wg_status found = run < 2   ? wg_reverse(t, sum)
                                : run < 4 ? wg_reverse_lanes(t, 2, 1, &sum, x)
                                          : wg_tape_hvp(t, sum, 3, of, v, hv);
        assert_int_equal(found, WG_EMODE);
        assert_non_null(strstr(wg_tape_message(t), "would reset or rewind the tape"));
        assert_int_equal(wg_tape_status(t), WG_OK);
        s.how = 0;
        assert_int_equal(wg_reverse(t, sum), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, 1), WG_OK);
        for (size_t i = 0; i < 3; i++)
            assert_true(g[i] == 2 * x[i] * (double)((i + 1) * (i + 1)));
    }
    for (size_t lanes = 1; lanes < 3; lanes++)
        for (int how = 0; how < 3; how++) map_forward(k, x, how, lanes);
    wg_callable_free(k);
    wg_function_free(f);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tape_being_swept_is_closed_to_its_operations),
        cmocka_unit_test(a_pause_in_a_sweep_stays),
        cmocka_unit_test(a_driver_in_a_sweep_is_refused),
        cmocka_unit_test(a_mark_of_a_sweep_is_one_of_a_tape_that_is_well),
        cmocka_unit_test(a_callback_that_gives_numbers_does_not_reset_the_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
