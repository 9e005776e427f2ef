/* SPDX-License-Identifier: MIT */
/* test_tape_matrix_drivers_refuse.c - drivers for functions of matrices that cannot: what the
 * caller gave, what the function did, no memory; a status and a message, and outputs as they
 * were. And what they leave of the tape. */
#include "counted.h"
#include "matrix_driver_case.h"

/* ---- mistakes ---- */

#define REFUSED(t, e, s, words)                                                                \
    do {                                                                                       \
        const wg_status got_ = (e);                                                            \
        if (got_ != (s)) fail_msg("status %d: %s", (int)got_, wg_tape_message(t));             \
        assert_message(t, words);                                                              \
        assert_int_equal(wg_tape_status(t), s);                                                \
    } while (0)

static void what_the_caller_gives_wrong_is_named_with_its_shapes(void **state) {
    (void)state;
    places p;
    wg_mat_values x[3], w[2];
    clear(&p);
    memcpy(x, x_, sizeof x), memcpy(w, w_, sizeof w);
    assert_int_equal(wg_mat_eval(NULL, model, NULL, 3, x, 2, p.out), WG_ENULL);
    REFUSED(tape, wg_mat_eval(tape, NULL, NULL, 3, x, 2, p.out), WG_ENULL,
            "wg_mat_eval: the function is NULL");
    REFUSED(tape, wg_mat_eval(tape, model, NULL, 3, NULL, 2, p.out), WG_ENULL,
            "wg_mat_eval: x is NULL, with 3 entries");
    x[1].value = NULL;
    REFUSED(tape, wg_mat_eval(tape, model, NULL, 3, x, 2, p.out), WG_ENULL,
            "wg_mat_eval: x[1] is NULL, with 3x2 elements");
    x[1] = x_[1], x[0].ld = 1;
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, w, p.out, p.in), WG_ESHAPE,
            "wg_mat_vjp: x[0] is 2x3, its leading dimension 1 is less than 2");
    x[0] = x_[0], p.in[1].rows = 2, p.in[1].cols = 3;
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, w, p.out, p.in), WG_ESHAPE,
            "wg_mat_vjp: g[1] is 2x3, input 1 is 3x2");
    REFUSED(tape, wg_mat_gradient(tape, weighted, NULL, 3, x, NULL, p.in), WG_ESHAPE,
            "wg_mat_gradient: g[1] is 2x3, input 1 is 3x2");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 2, w, p.out, NULL, p.in), WG_ESHAPE,
            "wg_mat_hvp: hv[1] is 2x3, input 1 is 3x2");
    clear(&p);
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, NULL, p.out, p.in), WG_ENULL,
            "wg_mat_vjp: w is NULL, with 2 entries");
    w[0].rows = 4, w[0].cols = 1;
    REFUSED(tape, wg_mat_vjp(tape, model, NULL, 3, x, 2, w, p.out, p.in), WG_ESHAPE,
            "wg_mat_vjp: w[0] is 4x1, output 0 is 2x2");
    w[0] = w_[0], w[0].ld = 1;
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 2, w, p.out, p.in, NULL), WG_ESHAPE,
            "wg_mat_hvp: w[0] is 2x2, its leading dimension 1 is less than 2");
    p.out[1].cols = 2;
    REFUSED(tape, wg_mat_eval(tape, model, NULL, 3, x, 2, p.out), WG_ESHAPE,
            "wg_mat_eval: y[1] is 1x2, output 1 is 1x1");
    REFUSED(tape, wg_mat_jvp(tape, model, NULL, 3, x, v_, 2, NULL, p.out), WG_ESHAPE,
            "wg_mat_jvp: jv[1] is 1x2, output 1 is 1x1");
    clear(&p);
    REFUSED(tape, wg_mat_jvp(tape, model, NULL, 3, x, NULL, 2, NULL, p.out), WG_ENULL,
            "wg_mat_jvp: v is NULL, with 3 entries");
    REFUSED(tape, wg_mat_jvp(tape, model, NULL, 3, x, x_ + 1, 2, NULL, p.out), WG_ESHAPE,
            "wg_mat_jvp: v[0] is 3x2, input 0 is 2x3");
    REFUSED(tape, wg_mat_gradient(tape, model, NULL, 3, x, NULL, p.in), WG_ESHAPE,
            "wg_mat_gradient: the output is 2x2, not 1x1");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 1, NULL, NULL, p.in, p.in),
            WG_ESHAPE, "wg_mat_hvp: the output is 2x2, not 1x1");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, v_, 2, NULL, NULL, p.in, p.in),
            WG_ENULL, "wg_mat_hvp: w is NULL, with 2 entries");
    REFUSED(coded, wg_mat_hvp(coded, model, NULL, 3, x, NULL, 2, w, NULL, p.in, p.in), WG_ENULL,
            "wg_mat_hvp: v is NULL, with 3 entries");
    REFUSED(tape, wg_mat_hvp(tape, model, NULL, 3, x, v_, 2, w_, NULL, p.in, p.in), WG_EMODE,
            "wg_mat_hvp: the tape was not opened with WG_KEEP_CODE");
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, NULL, NULL), WG_ENULL,
            "wg_mat_jacobian: y is NULL, with 2 entries");
    wg_mat_result block[9] = {{p.a, 4, 6, 4}};
    block[1] = (wg_mat_result){p.b, 4, 5, 4};
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, p.out, block), WG_ESHAPE,
            "wg_mat_jacobian: jac[1] is 4x5, of 4 by 6 elements");
    block[1] = (wg_mat_result){NULL, 0, 0, 0}, block[0].ld = 3;
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, p.out, block), WG_ESHAPE,
            "wg_mat_jacobian: jac[0] is 4x6, its leading dimension 3 is less than 4");
    wg_mat_result shapes[] = {{NULL, 2, 3, 2}, {NULL, 1, 1, 1}};
    block[0] = (wg_mat_result){NULL, 0, 0, 0};
    REFUSED(tape, wg_mat_jacobian(tape, model, NULL, 3, x, 2, shapes, block), WG_ESHAPE,
            "wg_mat_jacobian: y[0] is 2x3, output 0 is 2x2");
    block[5] = (wg_mat_result){p.b, 6, 2, 6};
    REFUSED(coded, wg_mat_hessian(coded, model, NULL, 3, x, 2, w_, NULL, NULL, block),
            WG_ESHAPE, "wg_mat_hessian: h[5] is 6x2, of 6 by 1 elements");
    assert_untouched(&p);
    assert_ok(tape, wg_mat_eval(tape, model, NULL, 3, x, 2, p.out)); /* usable all the while */
    assert_values(&p);
}

/* A function that does one of several things. */
enum {
    FAILS,
    WRITES_MORE,
    WRITES_LESS,
    RESETS,
    FOREIGN,
    SHAPES,
    NESTED,
    PAUSES,
    FORWARD,
    VIEW
};
typedef struct deed {
    int what;
    wg_tape *other;
    wg_status said;
} deed;
static wg_status does(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    deed *const d = data;
    wg_status s = WG_OK;
    double one = 1;
    for (size_t j = 0; j < m; j++) y[j] = wg_mat_mul(t, x[2], 2);
    switch (d->what) {
    case FAILS:
        return WG_ECONVERGE;
    case WRITES_MORE:
        y[m] = y[0];
        break;
    case WRITES_LESS:
        y[m - 1] = wg_mat_failed(1, 1);
        break;
    case RESETS:
        wg_tape_reset(t);
        break;
    case FOREIGN:
        y[0] = wg_mat_input(d->other, 1, 1, &one, 1);
        break;
    case SHAPES:
        y[0] = wg_mat_add(t, x[0], x[1]);
        break;
    case NESTED:
        d->said = wg_mat_gradient(t, model, NULL, 3, x_, NULL, NULL);
        break;
    case PAUSES:
        (void)wg_tape_pause(t);
        break;
    case FORWARD:
        s = wg_tape_forward(t, 2);
        break;
    default:
        y[0] = wg_mat_block(x[0], 1, 1, 5, 5);
    }
    (void)n;
    return s;
}
static void what_the_function_does_wrong_is_named(void **state) {
    (void)state;
    static const struct {
        wg_status status;
        const char *words;
    } answer[] = {
        [FAILS] = {WG_ECONVERGE, "wg_mat_vjp: the function returned WG_ECONVERGE"},
        [WRITES_MORE] = {WG_ESHAPE, "wg_mat_vjp: the function has written more than 2 outputs"},
        [WRITES_LESS] = {WG_ESHAPE,
                         "wg_mat_vjp: output 1 was not set by the function, or is a"},
        [RESETS] = {WG_ESTALE, "wg_mat_vjp: the function has reset the tape"},
        [FOREIGN] = {WG_ESTALE, "wg_mat_vjp: output 0 is a matrix of another tape"},
        [SHAPES] = {WG_ESHAPE, "of 2x3, 3x2"},
        [NESTED] = {WG_EMODE,
                    "wg_mat_gradient: called by the function of a driver, on its own"},
        [PAUSES] = {WG_EMODE, "wg_mat_vjp: the function has left the tape paused"},
        [FORWARD] = {WG_EMODE, "wg_tape_forward"},
        [VIEW] = {WG_ESHAPE,
                  "wg_mat_vjp: output 0 was not set by the function, or is a failed"},
    };
    const double one = 1;
    const wg_mat_values w[] = {{&one, 1, 1, 1}, {&one, 1, 1, 1}};
    deed d = {.other = wg_tape_new(NULL)};
    places p;
    clear(&p);
    for (d.what = FAILS; d.what <= VIEW; d.what++)
        REFUSED(tape, wg_mat_vjp(tape, does, &d, 3, x_, 2, w, NULL, p.in),
                answer[d.what].status, answer[d.what].words);
    assert_int_equal(d.said, WG_EMODE);
    assert_untouched(&p);
    wg_tape_free(d.other);
}

/* ---- memory ---- */

/* Driver `which`, of the six with results in p. */
static wg_status driver(wg_tape *t, int which, places *p, double *value) {
    const wg_mat_result block = {p->y0, 1, 1, 1}, y = {value, 1, 1, 1};
    wg_mat_result blocks[9] = {{NULL, 0, 0, 0}};
    blocks[8] = blocks[5] = block;
    switch (which) {
    case 0:
        return wg_mat_gradient(t, weighted, NULL, 3, x_, value, p->in);
    case 1:
        return wg_mat_vjp(t, model, NULL, 3, x_, 2, w_, p->out, p->in);
    case 2:
        return wg_mat_jvp(t, model, NULL, 3, x_, v_, 2, NULL, p->out);
    case 3:
        return wg_mat_hvp(t, model, NULL, 3, x_, v_, 2, w_, p->out, NULL, p->in);
    case 4:
        blocks[5].value = NULL;
        return wg_mat_hessian(t, weighted, NULL, 3, x_, 1, NULL, &y, p->in, blocks);
    case 5:
        blocks[8].value = blocks[5].value = NULL;
        blocks[2] = (wg_mat_result){p->b, 1, 1, 1};
        return wg_mat_jacobian(t, weighted, NULL, 3, x_, 1, &y, blocks);
    default:
        return wg_mat_eval(t, model, NULL, 3, x_, 2, p->out);
    }
}
enum { DRIVERS = 7 };

static void repeated_drivers_give_the_same_bits_and_obtain_no_memory(void **state) {
    (void)state;
    places first[DRIVERS], again;
    double value[DRIVERS], other;
    uint64_t calls = 0;
    wg_stats s;
    memset(&again, 0, sizeof again);
    for (int k = 0; k < 50; k++) {
        for (int which = 0; which < DRIVERS; which++) {
            places *const p = k == 0 ? &first[which] : &again;
            if (k == 0) memset(p, 0, sizeof *p);
            clear(p);
            value[which] = k == 0 ? GAP : value[which], other = GAP;
            assert_ok(coded, driver(coded, which, p, k == 0 ? &value[which] : &other));
            assert_true(k == 0 || memcmp(p->a, first[which].a, offsetof(places, in)) == 0);
            assert_true(k == 0 || other == value[which]);
        }
        assert_int_equal(wg_tape_stats(coded, &s), WG_OK);
        assert_true(s.slots == 0 && s.records == 0);
        if (k == 1) calls = s.memory_calls;
        assert_true(k < 2 || s.memory_calls == calls);
    }
}

static void a_driver_leaves_the_tape_in_its_mode(void **state) {
    (void)state;
    places p;
    double value;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_int_equal(wg_tape_forward(t, 2), WG_OK);
    for (int which = 0; which < DRIVERS; which++) {
        clear(&p);
        assert_ok(t, driver(t, which, &p, &value));
        const wg_real x = wg_input(t, 4);
        assert_int_equal(wg_tangent_seed(t, x, 1, 1), WG_OK);
        assert_true(wg_tangent(t, wg_let(t, wg_mul(x, x)), 1) == 8);
    }
    wg_tape_free(t);
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    for (int which = 0; which < DRIVERS; which++) {
        int done = 0;
        for (size_t fail_at = 2; !done; fail_at++) { /* 0, 1: the tape itself */
            struct counted memory = counted_start();
            places p;
            double value = GAP;
            const wg_options opt = {
                .flags = WG_KEEP_CODE, .memory = counted_memory(&memory), .reserve = 1 << 16};
            memory.fail_at = fail_at;
            memory.fail_on = 1;
            wg_tape *const t = wg_tape_new(&opt);
            assert_non_null(t);
            assert_true(fail_at < 500);
            clear(&p);
            const wg_status s = driver(t, which, &p, &value);
            done = memory.refused == 0;
            assert_int_equal(s, done ? WG_OK : WG_ENOMEM);
            if (!done) {
                assert_int_equal(wg_tape_status(t), WG_ENOMEM);
                assert_message(t, "wg_"); /* the call, or what its function has called */
                assert_untouched(&p);
                assert_true(value == GAP);
            }
            memory.fail_at = SIZE_MAX, memory.fail_on = 0;
            assert_ok(t, driver(t, which, &p, &value));
            wg_tape_free(t);
            assert_true(memory.ranges == 0 && memory.wrong == 0);
        }
    }
}

static void a_budget_is_kept(void **state) {
    (void)state;
    enum { LARGE = 400 };
    static double x0[LARGE * LARGE], g0[LARGE * LARGE];
    const wg_mat_values x = {x0, LARGE, LARGE, LARGE};
    const wg_mat_result g = {g0, LARGE, LARGE, LARGE};
    const size_t all = (size_t)LARGE * LARGE;
    wg_mat_result h = {g0, all, all, all}; /* 200 GB, which nobody writes to */
    const double one = 1;
    const wg_mat_values w = {&one, 1, 1, 1};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .budget = 1 << 20});
    places p;
    double value;
    REFUSED(t, wg_mat_gradient(t, passes, NULL, 1, &x, NULL, &g), WG_EBUDGET,
            "wg_mat_gradient");
    REFUSED(t, wg_mat_hessian(t, passes, NULL, 1, &x, 1, &w, NULL, NULL, &h), WG_EBUDGET,
            "wg_mat_hessian: no room for");
    const wg_mat_values huge = {x0, SIZE_MAX / 2, 3, SIZE_MAX / 2};
    h = (wg_mat_result){g0, SIZE_MAX, SIZE_MAX, SIZE_MAX};
    REFUSED(t, wg_mat_hessian(t, passes, NULL, 1, &huge, 1, &w, NULL, NULL, &h), WG_ENOMEM,
            "wg_mat_hessian: no room for");
    REFUSED(t, wg_mat_eval(t, passes, NULL, 1, &huge, 1, NULL), WG_ESHAPE,
            "wg_mat_eval: wg_mat_constant: ");
    for (int which = 0; which < DRIVERS; which++) {
        clear(&p);
        assert_ok(t, driver(t, which, &p, &value));
    }
    wg_tape_free(t);
}

static void a_traced_tape_tells_where_a_nan_came_from(void **state) {
    (void)state;
    const double one = 1;
    double g = GAP;
    const wg_mat_values x[] = {{&one, 1, 1, 1}, {&one, 1, 1, 1}, {&one, 1, 1, 1}};
    const wg_mat_result in[] = {{&g, 1, 1, 1}, {NULL, 0, 0, 0}, {NULL, 0, 0, 0}};
    const double bad = NAN;
    const wg_mat_values w[] = {{&bad, 1, 1, 1}, {NULL, 0, 0, 0}};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_TRACE});
    REFUSED(t, wg_mat_vjp(t, model, NULL, 3, x, 2, w, NULL, in), WG_ENONFINITE,
            "wg_mat_vjp: a sweep");
    assert_true(g == GAP);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_caller_gives_wrong_is_named_with_its_shapes),
        cmocka_unit_test(what_the_function_does_wrong_is_named),
        cmocka_unit_test(repeated_drivers_give_the_same_bits_and_obtain_no_memory),
        cmocka_unit_test(a_driver_leaves_the_tape_in_its_mode),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(a_budget_is_kept),
        cmocka_unit_test(a_traced_tape_tells_where_a_nan_came_from),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
