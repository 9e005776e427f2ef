/* SPDX-License-Identifier: MIT */
/* test_tape_callbacks.c - what a user's functions must not do to the tape that they are called
 * for, and what is found of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

/* y = 2 x, by a value that meddles with the tape it is recorded on. */
typedef struct meddling {
    wg_tape *t;
    int rewinds;
    wg_mark m;
} meddling;

static wg_status shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status value(wg_block *b) {
    const meddling *const k = b->params;
    b->out[0].value[0] = 2 * b->in[0].value[0];
    if (k->t != NULL && k->rewinds) return wg_tape_rewind(k->t, k->m);
    if (k->t != NULL) (void)wg_input(k->t, 5);
    return WG_OK;
}
static wg_status vjp(wg_block *b) {
    b->in[0].bar[0] += 2 * b->out[0].bar[0];
    return WG_OK;
}
static const wg_block_op twice = {.name = "twice", .shape = shape, .value = value, .vjp = vjp};

static void a_value_that_records_on_its_tape_is_found(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (int k = 0; k < 3; k++) {
        const double one = 1;
        const wg_mark m = wg_tape_mark(t);
        const wg_mat x = wg_mat_input(t, 1, 1, &one, 1);
        wg_mat y;
        meddling with = {k != 0 ? t : NULL, k == 2, m};
        const wg_status s = wg_apply(t, &twice, &with, sizeof with, 1, &x, 1, &y);
        assert_int_equal(s, k == 0 ? WG_OK : WG_EMODE);
        assert_int_equal(wg_tape_status(t), s);
        assert_true(k == 0 ||
                    strstr(wg_tape_message(t), "twice: its value has recorded") != NULL);
        if (k == 0) {
            assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_OK);
            assert_true(wg_adjoint(t, wg_mat_at(x, 0, 0)) == 2);
        }
        wg_tape_reset(t);
    }
    wg_tape_free(t);
}

/* y = 2 x, whose derivative resets the tape. */
static wg_status resetting(wg_block *b) {
    const meddling *const k = b->params;
    if (b->in[0].bar != NULL) b->in[0].bar[0] += 2 * b->out[0].bar[0];
    wg_tape_reset(k->t);
    return WG_OK;
}
static wg_status quiet(wg_block *b) {
    b->out[0].value[0] = 2 * b->in[0].value[0];
    return WG_OK;
}
static const wg_block_op resets = {
    .name = "resets", .shape = shape, .value = quiet, .vjp = resetting};
static const wg_block_op jumps = {
    .name = "jumps", .shape = shape, .value = quiet, .vjp = vjp, .jvp = resetting};

/* In a buffer a reset hands out the same memory again. */
static void a_tangent_that_resets_its_tape_is_found(void **state) {
    static char buffer[1 << 18];
    (void)state;
    for (int k = 0; k < 8; k++) {
        const wg_options in_buffer = {.buffer = buffer, .buffer_bytes = sizeof buffer};
        wg_tape *const t = wg_tape_new(k & 1 ? &in_buffer : NULL);
        const double numbers[2] = {1, 3};
        double z[2];
        wg_mat y;
        for (int i = 0; i < 3; i++) { /* so that there is something to be given back */
            const wg_mat a = wg_mat_input(t, 2, 1, numbers, 2);
            assert_int_equal(wg_reverse(t, wg_mat_at(wg_mat_mul(t, a, a), 0, 0)), WG_OK);
            wg_tape_reset(t);
        }
        assert_int_equal(wg_tape_forward(t, k & 2 ? 1 : 3), WG_OK);
        const wg_mat x = wg_mat_input(t, 1, 1, numbers, 1);
        assert_int_equal(wg_tangent_seed(t, wg_mat_at(x, 0, 0), 0, 1), WG_OK);
        const meddling with = {.t = t};
        const wg_block_op *const op = k & 4 ? &jumps : &resets;
        assert_int_equal(wg_apply(t, op, &with, sizeof with, 1, &x, 1, &y), WG_EMODE);
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, 0), WG_OK);
        const wg_mat b = wg_mat_input(t, 2, 1, numbers, 2);
        assert_int_equal(wg_reverse(t, wg_mat_at(wg_mat_mul(t, b, b), 1, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, b, z, 2), WG_OK);
        assert_true(z[0] == 0 && z[1] == 6);
        wg_tape_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_that_records_on_its_tape_is_found),
        cmocka_unit_test(a_tangent_that_resets_its_tape_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
