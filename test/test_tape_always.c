/* SPDX-License-Identifier: MIT */
/* test_tape_always.c - operations that reach beyond the tape (WG_OP_ALWAYS): recorded and swept
 * whatever their operands and adjoints are, once for all lanes, and refused where one tape
 * alone is seen. The operation here is "a letter": what is put in at one end comes out at
 * another, twice as large, and adjoints go the other way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>

enum { MOST = 16 };

/* What is under way, from put to get, and back. */
static struct {
    double value, bar[MOST];
    int values, vjps, jvps;
    size_t lanes;
} post;

static wg_status one_result(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}
static wg_status put_value(wg_block *b) {
    post.value = b->in[0].value[0];
    b->out[0].value[0] = 0;
    post.values++;
    return WG_OK;
}
static wg_status put_vjp(wg_block *b) {
    for (size_t l = 0; b->in[0].bar != NULL && l < b->lanes; l++)
        b->in[0].bar[l] += 2 * post.bar[l];
    post.vjps++;
    return WG_OK;
}
static wg_status put_jvp(wg_block *b) {
    for (size_t l = 0; l < b->lanes; l++)
        post.bar[l] = b->in[0].bar != NULL ? b->in[0].bar[l] : 0;
    for (size_t l = 0; l < b->lanes; l++) b->out[0].bar[l] = 0;
    post.jvps++;
    return WG_OK;
}
static wg_status get_value(wg_block *b) {
    b->out[0].value[0] = 2 * post.value;
    post.values++;
    return WG_OK;
}
static wg_status get_vjp(wg_block *b) {
    post.lanes = b->lanes;
    for (size_t l = 0; l < b->lanes; l++) post.bar[l] = b->out[0].bar[l];
    post.vjps++;
    return WG_OK;
}
static wg_status get_jvp(wg_block *b) {
    post.lanes = b->lanes;
    for (size_t l = 0; l < b->lanes; l++) b->out[0].bar[l] = 2 * post.bar[l];
    post.jvps++;
    return WG_OK;
}
static const wg_block_op put = {.name = "put",
                                .flags = WG_OP_ALWAYS,
                                .shape = one_result,
                                .value = put_value,
                                .vjp = put_vjp,
                                .jvp = put_jvp},
                         get = {.name = "get",
                                .flags = WG_OP_ALWAYS,
                                .shape = one_result,
                                .value = get_value,
                                .vjp = get_vjp,
                                .jvp = get_jvp};

static wg_real letter(wg_tape *t, wg_real x) {
    const wg_mat in = wg_mat_from_real(t, x);
    wg_mat token, out = wg_mat_failed(1, 1);
    (void)wg_apply(t, &put, NULL, 0, 1, &in, 1, &token);
    (void)wg_apply(t, &get, NULL, 0, 0, NULL, 1, &out);
    return wg_mat_at(out, 0, 0);
}

static int start(void **state) {
    memset(&post, 0, sizeof post);
    *state = wg_tape_new(NULL);
    return *state == NULL;
}
static int end(void **state) {
    wg_tape_free(*state);
    return 0;
}

static void it_is_recorded_without_a_variable(void **state) {
    wg_tape *const t = *state;
    const wg_real y = letter(t, wg_constant(3));
    assert_true(y.at.slot != 0);
    assert_true(y.value == 6);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_int_equal(post.vjps, 2);
}

static void adjoints_come_back_beside_the_tape(void **state) {
    wg_tape *const t = *state;
    const wg_real x = wg_input(t, 3), y = wg_let(t, wg_mul(letter(t, x), 5));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x) == 10);
}

static void a_sweep_calls_it_with_adjoints_that_are_0(void **state) {
    wg_tape *const t = *state;
    const wg_real x = wg_input(t, 3);
    letter(t, x);
    const wg_real y = wg_let(t, wg_mul(x, 4));
    letter(t, x);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_int_equal(post.vjps, 4);
    assert_true(wg_adjoint(t, x) == 4);
    assert_int_equal(wg_mat_reverse(t, wg_mat_from_real(t, y), NULL, 1), WG_OK);
    assert_int_equal(post.vjps, 8);
    assert_true(wg_adjoint(t, x) == 4);
}

static void a_sweep_needs_no_root(void **state) {
    wg_tape *const t = *state;
    const double w = 1;
    const wg_real c = wg_constant(1), x = wg_input(t, 3);
    assert_int_equal(wg_reverse(t, c), WG_ESEED);
    letter(t, x);
    assert_int_equal(wg_reverse(t, c), WG_OK);
    assert_int_equal(wg_reverse_lanes(t, 1, 1, &c, &w), WG_OK);
    assert_int_equal(post.vjps, 4);
    assert_true(wg_adjoint(t, x) == 0);
    assert_int_equal(wg_mat_reverse(t, wg_mat_fill(t, 2, 2, 1), NULL, 2), WG_OK);
    assert_int_equal(wg_mat_reverse(t, wg_mat_fill(t, 0, 2, 1), NULL, 0), WG_OK);
    assert_int_equal(post.vjps, 8);
    assert_true(wg_adjoint(t, x) == 0);
}

/* Long enough for marks: whether x or what has nothing to do with it is the root. */
static void no_page_with_it_is_left_out(void **state) {
    enum { LONG = 30000 };
    wg_tape *const t = *state;
    wg_real x = wg_input(t, 3), first = x, other = wg_input(t, 1), y;
    for (int i = 0; i < LONG; i++) {
        if (i % (LONG / 4) == 0) letter(t, other);
        other = wg_let(t, wg_mul(other, 1));
    }
    y = wg_let(t, wg_mul(letter(t, first), 1));
    for (int i = 0; i < LONG; i++) other = wg_let(t, wg_mul(other, 1));
    letter(t, other);
    for (int again = 0; again < 3; again++) {
        post.vjps = 0;
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(post.vjps, 12);
        assert_true(wg_adjoint(t, x) == 2);
        assert_true(wg_adjoint(t, other) == 0);
        assert_int_equal(wg_reverse(t, other), WG_OK);
        assert_true(wg_adjoint(t, x) == 0);
        assert_true(wg_adjoint(t, other) == 1);
    }
}

static void all_lanes_of_adjoints_go_at_once(void **state) {
    wg_tape *const t = *state;
    const double w[] = {1, 10, 100};
    const wg_real x = wg_input(t, 3), y = letter(t, x);
    assert_int_equal(wg_reverse_lanes(t, 3, 1, &y, w), WG_OK);
    assert_int_equal(post.vjps, 2);
    assert_true(post.lanes >= 3);
    for (size_t l = 0; l < 3; l++) assert_true(wg_adjoint_lane(t, x, l) == 2 * w[l]);
}

static void all_lanes_of_tangents_go_at_once(void **state) {
    wg_tape *const t = *state;
    assert_int_equal(wg_tape_forward(t, 2), WG_OK);
    const wg_real x = wg_input(t, 3);
    assert_int_equal(wg_tangent_seed(t, x, 0, 1), WG_OK);
    assert_int_equal(wg_tangent_seed(t, x, 1, 7), WG_OK);
    wg_real y = letter(t, x);
    assert_true(wg_tangent(t, y, 0) == 2);
    assert_true(wg_tangent(t, y, 1) == 14);
    assert_int_equal(post.jvps, 2);
    y = letter(t, wg_constant(1));
    assert_true(wg_tangent(t, y, 0) == 0);
    assert_int_equal(post.jvps, 4);
}

static void parts_of_a_sweep_call_what_they_pass(void **state) {
    wg_tape *const t = *state;
    const wg_mark begin = wg_tape_mark(t);
    const wg_real x = wg_input(t, 3), y = letter(t, x);
    const wg_mark middle = wg_tape_mark(t);
    letter(t, x);
    assert_int_equal(wg_adjoints_clear(t), WG_OK);
    assert_int_equal(wg_sweep(t, wg_tape_mark(t), middle), WG_OK);
    assert_int_equal(post.vjps, 2);
    assert_int_equal(wg_adjoint_seed(t, y, 1), WG_OK);
    assert_int_equal(wg_sweep(t, middle, begin), WG_OK);
    assert_int_equal(post.vjps, 4);
    assert_true(wg_adjoint(t, x) == 2);
}

static void it_is_forgotten_by_a_rewind(void **state) {
    wg_tape *const t = *state;
    const wg_real x = wg_input(t, 3);
    const wg_mark m = wg_tape_mark(t);
    letter(t, x);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    assert_int_equal(wg_reverse(t, wg_constant(1)), WG_ESEED);
    letter(t, x);
    const wg_mark later = wg_tape_mark(t);
    letter(t, x);
    assert_int_equal(wg_tape_rewind(t, later), WG_OK);
    assert_int_equal(wg_reverse(t, wg_constant(1)), WG_OK);
    assert_int_equal(post.vjps, 2);
}

static void a_paused_tape_records_none(void **state) {
    wg_tape *const t = *state;
    const wg_real x = wg_input(t, 3);
    assert_int_equal(wg_tape_pause(t), WG_OK);
    const wg_real y = letter(t, x);
    assert_int_equal(wg_tape_resume(t), WG_OK);
    assert_true(y.value == 6 && y.at.slot == 0);
    assert_int_equal(post.values, 2);
}

static void it_has_a_result(void **state) {
    wg_tape *const t = *state;
    assert_int_equal(wg_apply(t, &get, NULL, 0, 0, NULL, 0, NULL), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "get"));
}

static wg_status by_letter(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    const wg_real square = wg_let(t, wg_square(x[0])), got = letter(t, square);
    y[0] = wg_let(t, wg_mul(got, 1));
    y[1] = wg_constant(4);
    return WG_OK;
}

static void drivers_sweep_it(void **state) {
    wg_tape *const t = *state;
    const double x = 3, v = 1;
    double y[2], jac[2], yt[2], g, w[2] = {1, 1};
    assert_int_equal(wg_jacobian(t, by_letter, NULL, 1, &x, 2, y, WG_COL_MAJOR, jac, 2), WG_OK);
    assert_true(y[0] == 18 && jac[0] == 12 && jac[1] == 0);
    assert_int_equal(wg_jvp(t, by_letter, NULL, 1, &x, &v, 2, y, yt), WG_OK);
    assert_true(yt[0] == 12 && yt[1] == 0);
    assert_int_equal(wg_vjp(t, by_letter, NULL, 1, &x, 2, w, y, &g), WG_OK);
    assert_true(g == 12);
}

static void what_sees_one_tape_is_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const wg_argument in = {.name = "x", .rows = 1, .cols = 1},
                      out = {.name = "y", .rows = 2, .cols = 1};
    const double a = 3, v = 1;
    double hv;
    wg_function *f = NULL;
    wg_sparsity *s = NULL;
    assert_int_equal(wg_function_record(t, by_letter, NULL, 1, &in, &a, 1, &out, &f), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "get cannot be part of a function"));
    assert_null(f);
    assert_int_equal(wg_jacobian_sparsity(t, by_letter, NULL, 1, &a, 2, WG_ROW_MAJOR, &s),
                     WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "reaches beyond this tape"));
    assert_null(s);
    wg_tape_reset(t);
    wg_real x = wg_input(t, 3), z[2];
    assert_int_equal(by_letter(t, 1, &x, 2, z, NULL), WG_OK);
    assert_int_equal(wg_tape_hvp(t, z[0], 1, &x, &v, &hv), WG_EMODE);
    assert_int_equal(wg_tape_hessian(t, z[0], 1, &x, &hv, 1), WG_EMODE);
    wg_tape_free(t);
}

static void preaccumulation_is_refused_of_what_has_it_alone(void **state) {
    wg_tape *const t = *state;
    wg_real x = wg_input(t, 3), y = letter(t, x), z;
    wg_mark m = wg_tape_mark(t);
    z = wg_let(t, wg_mul(wg_let(t, wg_mul(y, y)), 2));
    assert_int_equal(wg_preaccumulate(t, m, 1, &y, 1, &z), WG_OK);
    assert_int_equal(wg_reverse(t, z), WG_OK);
    assert_true(wg_adjoint(t, x) == 2 * 2 * 2 * 6);
    m = wg_tape_mark(t);
    z = letter(t, z);
    assert_int_equal(wg_preaccumulate(t, m, 1, &y, 1, &z), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "get reaches beyond"));
}

static wg_status in_a_step(wg_tape *t, size_t step, size_t n, const wg_real *x, size_t np,
                           const wg_real *p, wg_real *next, void *data) {
    (void)step, (void)n, (void)np, (void)p, (void)data;
    next[0] = letter(t, x[0]);
    return wg_tape_status(t);
}
static void a_checkpointed_step_is_refused(void **state) {
    wg_tape *const t = *state, *const work = wg_tape_new(NULL);
    const wg_region region = {.record = in_a_step};
    const wg_mat x = wg_mat_from_real(t, wg_input(t, 3)), none = wg_mat_fill(t, 0, 1, 0);
    wg_mat y;
    assert_int_equal(wg_checkpoint(t, work, 3, 1, &region, 2, x, none, &y), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "put: reaches beyond"));
    assert_non_null(strstr(wg_tape_message(t), "WG_REGION_ALWAYS"));
    wg_tape_free(work);
}

/* Three letters, 8 x: their steps are gone through in every sweep, once for each lane. */
static void a_region_that_says_so_reaches_beyond_its_steps(void **state) {
    wg_tape *const t = *state, *const work = wg_tape_new(NULL);
    const wg_region region = {.record = in_a_step, .flags = WG_REGION_ALWAYS};
    const wg_mat none = wg_mat_fill(t, 0, 1, 0);
    const wg_real x = wg_input(t, 3);
    wg_mat y;
    assert_int_equal(wg_checkpoint(t, work, 3, 1, &region, 1, wg_mat_from_real(t, x), none, &y),
                     WG_OK);
    assert_true(wg_mat_at(y, 0, 0).value == 24 && post.values == 2 * 3);
    assert_int_equal(wg_reverse(t, wg_let(t, wg_mul(wg_mat_at(y, 0, 0), 2))), WG_OK);
    assert_true(wg_adjoint(t, x) == 2 * 8);
    assert_int_equal(post.vjps, 2 * 3);
    const double w[] = {1, -3};
    const wg_real last = wg_mat_at(y, 0, 0);
    assert_int_equal(wg_reverse_lanes(t, 2, 1, &last, w), WG_OK);
    assert_int_equal(post.vjps, 2 * 3 + 2 * 2 * 3);
    assert_true(wg_adjoint_lane(t, x, 0) == 8 && wg_adjoint_lane(t, x, 1) == -3 * 8);
    assert_int_equal(wg_reverse_seeds(t, 1, &x, w), WG_OK); /* nothing that is behind it */
    assert_int_equal(post.vjps, 2 * 3 + 2 * 2 * 3 + 2 * 3);

    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 2), WG_OK);
    const wg_real z = wg_input(t, 3);
    assert_int_equal(wg_tangent_seed(t, z, 1, 5), WG_OK);
    assert_int_equal(wg_checkpoint(t, work, 3, 1, &region, 1, wg_mat_from_real(t, z),
                                   wg_mat_fill(t, 0, 1, 0), &y),
                     WG_OK);
    assert_true(wg_tangent(t, wg_mat_at(y, 0, 0), 0) == 0);
    assert_true(wg_tangent(t, wg_mat_at(y, 0, 0), 1) == 5 * 8);
    assert_int_equal(post.jvps, 2 * 2 * 3);
    wg_tape_free(work);
}

static wg_status equation(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(letter(t, x[0]), x[1]));
    return wg_tape_status(t);
}
static void an_equation_is_refused(void **state) {
    wg_tape *const t = *state;
    const double x = 2;
    for (size_t width = 0; width <= 1; width++) {
        wg_tape_reset(t);
        assert_int_equal(wg_tape_forward(t, width), WG_OK);
        wg_real p = wg_input(t, 4), y;
        assert_int_equal(wg_implicit(t, equation, NULL, 1, &x, 1, &p, &y), WG_EMODE);
        assert_non_null(strstr(wg_tape_message(t), "reaches beyond"));
    }
}

/* ---- what is known of adjoints ---- */

static struct {
    unsigned said[2]; /* to each call, the last one recorded first */
    int calls, wrong;
} knows;

/* Two operands, of which the result is the sum. */
static wg_status sum_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = 1;
    return WG_OK;
}
static wg_status sum_value(wg_block *b) {
    for (size_t i = 0; i < b->out[0].rows; i++)
        b->out[0].value[i] = b->in[0].value[i] + b->in[1].value[i];
    return WG_OK;
}
static wg_status sum_vjp(wg_block *b) {
    const size_t n = b->out[0].rows * b->lanes;
    knows.said[knows.calls++ % 2] = b->untouched;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; b->untouched >> k & 1 && i < n; i++)
            knows.wrong |= b->in[k].bar[i] != 0;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < n; i++) b->in[k].bar[i] += b->out[0].bar[i];
    return WG_OK;
}
static const wg_block_op sum_op = {.name = "sum",
                                   .flags = WG_OP_ALWAYS,
                                   .shape = sum_shape,
                                   .value = sum_value,
                                   .vjp = sum_vjp};
static wg_mat sum(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    wg_mat y = wg_mat_failed(a.rows, 1);
    (void)wg_apply(t, &sum_op, NULL, 0, 2, in, 1, &y);
    return y;
}

enum between { NOTHING, WHAT_READS_B, WHAT_READS_A, A_STATEMENT, A_SMALL, A_GATHER, CASES };
static void record_between(wg_tape *t, enum between what, wg_mat a, wg_mat b) {
    const wg_mat two = wg_mat_block(a, 0, 0, 2, 1);
    const wg_real some[2] = {wg_mat_at(b, 3, 0), wg_mat_at(a, 1, 0)};
    if (what == WHAT_READS_B) (void)wg_mat_exp(t, b);
    if (what == WHAT_READS_A) (void)wg_mat_exp(t, a);
    if (what == A_STATEMENT) (void)wg_let(t, wg_mul(some[1], 2));
    if (what == A_SMALL) (void)wg_mat_add(t, two, two);
    if (what == A_GATHER) (void)wg_mat_gather(t, 1, 2, some);
}

/* y = a + b, z = y + b. Of a short recording nothing is known, nor behind what touches
 * anything. */
static void what_no_adjoint_has_come_to_is_said(void **state) {
    enum { LONG = 5000, LANES = 3 };
    static double numbers[LONG];
    wg_tape *const t = *state;
    const double w[LANES] = {1, 2, 3};
    for (size_t lanes = 0; lanes <= LANES; lanes += LANES)
        for (size_t n = 10; n <= LONG; n += LONG - 10)
            for (enum between what = NOTHING; what < CASES; what++)
                for (int parts = 0; parts <= (lanes == 0); parts++) {
                    wg_tape_reset(t);
                    memset(&knows, 0, sizeof knows);
                    const wg_mark begin = wg_tape_mark(t);
                    const wg_mat a = wg_mat_input(t, n, 1, numbers, n);
                    const wg_mat b = wg_mat_input(t, n, 1, numbers, n), y = sum(t, a, b);
                    record_between(t, what, a, b);
                    const wg_mark middle = wg_tape_mark(t);
                    const wg_real f = wg_mat_at(sum(t, y, b), n - 1, 0);
                    if (lanes != 0)
                        assert_int_equal(wg_reverse_lanes(t, lanes, 1, &f, w), WG_OK);
                    else if (!parts) assert_int_equal(wg_reverse(t, f), WG_OK);
                    else {
                        assert_int_equal(wg_adjoints_clear(t), WG_OK);
                        assert_int_equal(wg_adjoint_seed(t, f, 1), WG_OK);
                        assert_int_equal(wg_sweep(t, wg_tape_mark(t), middle), WG_OK);
                        assert_int_equal(wg_sweep(t, middle, begin), WG_OK);
                    }
                    assert_true(knows.calls == 2 && !knows.wrong);
                    assert_int_equal(knows.said[0], n == LONG ? 3 : 0);
                    assert_int_equal(knows.said[1],
                                     n == LONG && !parts && what <= WHAT_READS_B ? 1 : 0);
                    for (size_t l = 0; l < (lanes != 0 ? lanes : 1); l++) {
                        assert_true(wg_adjoint_lane(t, wg_mat_at(a, n - 1, 0), l) == w[l]);
                        assert_true(wg_adjoint_lane(t, wg_mat_at(b, n - 1, 0), l) == 2 * w[l]);
                    }
                }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(it_is_recorded_without_a_variable),
        TEST(adjoints_come_back_beside_the_tape),
        TEST(a_sweep_calls_it_with_adjoints_that_are_0),
        TEST(a_sweep_needs_no_root),
        TEST(no_page_with_it_is_left_out),
        TEST(all_lanes_of_adjoints_go_at_once),
        TEST(all_lanes_of_tangents_go_at_once),
        TEST(parts_of_a_sweep_call_what_they_pass),
        TEST(it_is_forgotten_by_a_rewind),
        TEST(a_paused_tape_records_none),
        TEST(it_has_a_result),
        TEST(drivers_sweep_it),
        TEST(what_sees_one_tape_is_refused),
        TEST(a_checkpointed_step_is_refused),
        TEST(a_region_that_says_so_reaches_beyond_its_steps),
        TEST(an_equation_is_refused),
        TEST(what_no_adjoint_has_come_to_is_said),
        TEST(preaccumulation_is_refused_of_what_has_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
