/* SPDX-License-Identifier: MIT */
/* test_tape_lookup.c - the element of an array that an index chooses, in every mode; indices
 * that choose none, variables of other tapes, replays. Letters: those of array_case.h. */
#include "array_case.h"

/* Elements that are no index, each chosen; other[] of check_array chooses another. */
static void lookups_give_the_element_of_the_index_in_every_mode(void **state) {
    static const double parts[] = {0, 0.25, 0.984375};
    int from[12], bad = 0;
    double x[12];
    (void)state;
    for (size_t n = 1; n <= 10; n++)
        for (size_t k = 0; k < 3 * n; k++) {
            size_t inputs = 0;
            for (size_t i = 0; i < n; i++) x[i] = 3 * sin((double)(i + n));
            x[n] = (double)(k / 3) + parts[k % 3];
            for (size_t i = 0; i <= n; i++) from[i] = (int)i;
            bad += check_array(LOOKUP, n + 1, x, from, n + 1);
            from[n] = -1; /* a constant index */
            bad += check_array(LOOKUP, n + 1, x, from, n);
            for (size_t i = 0; i < n; i++) from[i] = -1; /* nothing but the index */
            from[n] = 0;
            bad += check_array(LOOKUP, n + 1, x, from, 1);
            for (size_t i = 0; i <= n; i++) from[i] = i % 3 == 1 ? -1 : (int)inputs++;
            bad += check_array(LOOKUP, n + 1, x, from, inputs);
            for (size_t i = 0; i < n; i++) from[i] = (int)(i / 2), x[i] = x[i / 2];
            from[n] = (int)(n + 1) / 2;
            bad += check_array(LOOKUP, n + 1, x, from, (n + 1) / 2 + 1);
            for (size_t i = 0; i < n; i++) from[i] = (int)i;
            from[n] = (int)(k % n), x[k % n] = x[n]; /* the index is an element */
            bad += check_array(LOOKUP, n + 1, x, from, n);
        }
    assert_int_equal(bad, 0);
}

static void a_lookup_among_a_thousand_takes_one(void **state) {
    enum { N = 1000 };
    static double x[N + 1];
    static int from[N + 1];
    int bad = 0;
    (void)state;
    for (size_t i = 0; i <= N; i++) from[i] = (int)i;
    for (size_t i = 0; i < N; i++) x[i] = cos((double)i);
    for (size_t k = 0; k < N; k += 333) {
        x[N] = (double)k + 0.5;
        bad += check_array(LOOKUP, N + 1, x, from, N + 1);
    }
    assert_int_equal(bad, 0);
}

static const double outside[] = {-1,     -0.5,     -0x1p-1074, 3,         3.5,
                                 0x1p53, 0x1p1023, INFINITY,   -INFINITY, NAN};
enum { OUTSIDE = sizeof outside / sizeof *outside };

static void assert_says(wg_tape *t, const char *text) {
    if (strstr(wg_tape_message(t), text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, wg_tape_message(t));
}

static void an_index_that_chooses_no_element_is_refused(void **state) {
    static const double a[] = {1, 2, 4};
    wg_tape *const tapes[] = {check.plain, check.checked, check.code, check.forward};
    wg_real x[3];
    char text[64];
    (void)state;
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++)
        for (size_t i = 0; i < OUTSIDE; i++)
            for (int how = 0; how < 3; how++) { /* active, constant, paused */
                wg_tape *const t = tapes[k];
                wg_tape_reset(t);
                assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
                const wg_real index =
                    how == 1 ? wg_constant(outside[i]) : wg_input(t, outside[i]);
                if (how == 2) assert_int_equal(wg_tape_pause(t), WG_OK);
                const wg_real y = wg_lookup(t, index, 3, x);
                assert_true(isnan(wg_value(y)));
                assert_int_equal(wg_tape_status(t), WG_EARG);
                (void)snprintf(text, sizeof text, "wg_lookup: index %s",
                               isnan(outside[i])     ? "nan"
                               : signbit(outside[i]) ? "-"
                                                     : "");
                assert_says(t, text);
                assert_says(t, " of 3 elements");
                assert_says(t, "test_tape_lookup.c:");
            }
    wg_tape_reset(check.code);
    assert_int_equal(wg_inputs(check.code, 3, a, x), WG_OK);
    assert_true(wg_value(wg_lookup(check.code, wg_constant(-0.0), 3, x)) == 1);
    assert_true(wg_value(wg_lookup(check.code, wg_constant(0.999), 3, x)) == 1);
    assert_true(wg_value(wg_lookup(check.code, wg_constant(nextafter(3, 0)), 3, x)) == 4);
    assert_int_equal(wg_tape_status(check.code), WG_OK);
}

/* A variable of another tape is refused in the name of the call. */
static void foreign_variables_are_refused_by_name(void **state) {
    wg_tape *const tapes[] = {check.plain, check.code}, *const other = wg_tape_new(NULL);
    const double c[2] = {1, 2};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        wg_tape *const t = tapes[k];
        wg_real x[2] = {{0, {0, 0}}, wg_input(other, 2)};
#define REFUSED(name, ...)                                                                     \
    do {                                                                                       \
        wg_tape_reset(t);                                                                      \
        x[0] = wg_input(t, 1);                                                                 \
        (void)name(t, __VA_ARGS__);                                                            \
        assert_int_equal(wg_tape_status(t), WG_ESTALE);                                        \
        assert_says(t, #name ": operand");                                                     \
    } while (0)
        REFUSED(wg_sum, 2, x);
        REFUSED(wg_product, 2, x);
        REFUSED(wg_dot, 2, x, x);
        REFUSED(wg_linear, 2, c, x);
        REFUSED(wg_polynomial, 2, x, x[0]);
        REFUSED(wg_norm2, 2, x);
        REFUSED(wg_squared_norm, 2, x);
        REFUSED(wg_logsumexp, 2, x);
        REFUSED(wg_maximum, 2, x);
        REFUSED(wg_minimum, 2, x);
        REFUSED(wg_mean, 2, x);
        REFUSED(wg_lookup, x[0], 2, x);
        REFUSED(wg_lt, x[0], x[1]);
        REFUSED(wg_le, x[0], x[1]);
        REFUSED(wg_gt, x[0], x[1]);
        REFUSED(wg_ge, x[0], x[1]);
        REFUSED(wg_eq, x[0], x[1]);
        REFUSED(wg_ne, x[0], x[1]);
#undef REFUSED
        wg_tape_reset(t);
    }
    wg_tape_free(other);
}

static void a_lookup_of_nothing_is_refused(void **state) {
    wg_tape *const tapes[] = {check.plain, check.code};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        wg_tape_reset(tapes[k]);
        const wg_real zero = wg_input(tapes[k], 0);
        assert_true(isnan(wg_value(wg_lookup(tapes[k], zero, 0, NULL))));
        assert_int_equal(wg_tape_status(tapes[k]), WG_ESHAPE);
        assert_says(tapes[k], "wg_lookup: of 0 operands");
        wg_tape_reset(tapes[k]);
        const wg_real one = wg_input(tapes[k], 1);
        assert_true(isnan(wg_value(wg_lookup(tapes[k], one, 2, NULL))));
        assert_int_equal(wg_tape_status(tapes[k]), WG_ENULL);
        assert_says(tapes[k], "wg_lookup");
        wg_tape_reset(tapes[k]);
        /* an index from before */
        const wg_real x = wg_input(tapes[k], 1);
        assert_true(isnan(wg_value(wg_lookup(tapes[k], one, 1, &x))));
        assert_int_equal(wg_tape_status(tapes[k]), WG_ESTALE);
    }
}

static void a_replay_chooses_anew_or_says_that_it_cannot(void **state) {
    static const double a[] = {1, 2, 4, 1.5};
    wg_tape *const t = check.code;
    (void)state;
    for (size_t i = 0; i < OUTSIDE; i++) {
        wg_real x[4];
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 4, a, x), WG_OK);
        const wg_real chosen = wg_lookup(t, x[3], 3, x);
        const wg_real y = wg_let(t, wg_mul(chosen, chosen));
        assert_true(wg_value(y) == 4);
        for (size_t k = 0; k < 3; k++) {
            double h[16];
            const double b[] = {3, 5, 7, (double)k};
            assert_int_equal(wg_tape_replay(t, 4, x, b), WG_OK);
            assert_int_equal(wg_tape_verify(t), WG_OK);
            assert_true(wg_tape_value(t, y) == b[k] * b[k]);
            assert_int_equal(wg_reverse(t, y), WG_OK);
            for (size_t j = 0; j < 4; j++)
                assert_true(wg_adjoint(t, x[j]) == (j == k ? 2 * b[k] : 0));
            assert_int_equal(wg_tape_hessian(t, y, 4, x, h, 4), WG_OK);
            for (size_t j = 0; j < 16; j++) assert_true(h[j] == (j == 5 * k ? 2 : 0));
        }
        const double c[] = {3, 5, 7, outside[i]};
        const wg_mark mark = wg_tape_mark(t);
        assert_int_equal(wg_tape_replay(t, 4, x, c), WG_EARG);
        assert_int_equal(wg_tape_status(t), WG_EARG);
        assert_says(t, "wg_tape_replay: wg_lookup of slot ");
        assert_says(t, " of 3 elements");
        assert_int_equal(wg_tape_rewind(t, mark), WG_EARG);
        assert_int_equal(wg_tape_replay(t, 4, x, a), WG_EARG);
    }
    wg_tape_reset(t);
}

static void elements_not_chosen_do_not_matter(void **state) {
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    wg_tape *const t = check.code;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double g[3], h[9];
        wg_real x[3], e[2];
        const double a[] = {2, i == 0 ? 3 : 0, 0.5};
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, 3, a, x), WG_OK);
        e[0] = wg_let(t, wg_mul(x[0], x[0]));
        /* infinite in value or in slope */
        e[1] = i == 0 ? wg_let(t, wg_mul(x[1], odd[i])) : wg_let(t, wg_sqrt(x[1]));
        const wg_real y = wg_lookup(t, x[2], 2, e);
        assert_true(wg_value(y) == 4);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(wg_adjoints(t, 3, x, g), WG_OK);
        assert_true(g[0] == 4 && g[1] == 0 && g[2] == 0);
        assert_int_equal(wg_tape_hessian(t, y, 3, x, h, 3), WG_OK);
        for (size_t j = 0; j < 9; j++) assert_true(h[j] == (j == 0 ? 2 : 0));
    }
}

/* The loop of array.h, at every index and outside, then read again: the value comes back, and
 * the derivatives of what was overwritten are 0. */
static void a_value_is_stored_at_an_index_by_selects(void **state) {
    wg_tape *const t = check.code;
    const double a[] = {1, 2, 4, 8, 0}; /* three elements, a value, the index */
    wg_real in[5], x[3];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 5, a, in), WG_OK);
    for (size_t k = 0; k < 3; k++)
        x[k] = wg_let(t, wg_select_eq(wg_floor(in[4]), (double)k, in[3], in[k]));
    const wg_real y = wg_linear(t, 3, (const double[]){1, 10, 100}, x);
    for (int k = -1; k < 4; k++) {
        const double b[] = {1, 2, 4, 8, k + 0.5};
        double want = 0;
        assert_int_equal(wg_tape_replay(t, 5, in, b), WG_OK);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        for (int j = 0, f = 1; j < 3; j++, f *= 10) {
            want += f * (j == k ? 8 : b[j]);
            assert_true(wg_adjoint(t, in[j]) == (j == k ? 0 : f));
            if (j == k) assert_true(wg_adjoint(t, in[3]) == f);
        }
        assert_true(wg_tape_value(t, y) == want);
        assert_true(wg_adjoint(t, in[4]) == 0);
        if (k < 0 || k == 3) assert_true(wg_adjoint(t, in[3]) == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups_give_the_element_of_the_index_in_every_mode),
        cmocka_unit_test(a_lookup_among_a_thousand_takes_one),
        cmocka_unit_test(an_index_that_chooses_no_element_is_refused),
        cmocka_unit_test(foreign_variables_are_refused_by_name),
        cmocka_unit_test(a_lookup_of_nothing_is_refused),
        cmocka_unit_test(a_replay_chooses_anew_or_says_that_it_cannot),
        cmocka_unit_test(elements_not_chosen_do_not_matter),
        cmocka_unit_test(a_value_is_stored_at_an_index_by_selects),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
