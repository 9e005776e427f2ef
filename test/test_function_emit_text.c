/* SPDX-License-Identifier: MIT */
/* test_function_emit_text.c - the names and numbers in the text of functions, where it goes,
 * and what is refused. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "emit_case.h"

#include <fenv.h>
#include <wengert/array.h>
#include "tape/engine/text.h"

static void any_name_becomes_an_identifier(void **state) {
    static const char *const name[] = {
        "double", "x*/y", "a-b", "a+b",  "\xc3\xa9t\xc3\xa9", "t1",  "9lives",
        "_x",     "exp",  "arg", "?\?/", "odd_part0",         "odd", "INFINITY"};
    enum { NAMES = sizeof name / sizeof *name };
    emitted e;
    hand h;
    uint32_t x[NAMES];
    (void)state;
    hand_open(&h);
    for (size_t k = 0; k < NAMES; k++) x[k] = hand_input(&h, name[k], 1, 1, 0);
    for (size_t k = 0; k < NAMES; k++) {
        uint32_t y = WGI_GRAPH1(&h.g, exp, x[k]);
        y = WGI_GRAPH2(&h.g, sub, y, x[(k + 3) % NAMES]);
        hand_output(&h, name[NAMES - 1 - k], 1, 1, 0, &y);
    }
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "odd", ALL, 4);
    assert_int_equal(fclose(f), 0);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1 -trigraphs");
        check_point(&e, &h, "odd", "_point");
        check_batch(&e, &h, "odd", 11);
        check_casadi(&e, &h, "odd");
        emitted_close(&e);
    }
    emitted_remove(&e);
    hand_close(&h);
}

/* One spelling, x_________: all are told apart, in the order of the arguments; one of another
 * spelling is like one of these. */
enum { ALIKE = 3000 };
static wg_status sum_of_all(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)m, (void)data;
    y[0] = wg_sum(t, n, x);
    return WG_OK;
}

static void thousands_of_names_spelled_alike_are_told_apart(void **state) {
    static char name[ALIKE][16];
    static wg_argument in[ALIKE];
    static double at[ALIKE];
    const wg_argument out = {"x_________", 1, 1, 0};
    wg_function *f = NULL;
    size_t needed = 0;
    (void)state;
    for (size_t k = 0; k < ALIKE; k++) {
        name[k][0] = 'x';
        for (size_t i = 0, digits = k; i < 9; i++, digits /= 3)
            name[k][1 + i] = ".-+"[digits % 3];
        in[k] = (wg_argument){name[k], 1, 1, 0};
    }
    in[1].name = "x__________3";
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_int_equal(wg_function_record(t, sum_of_all, NULL, ALIKE, in, at, 1, &out, &f),
                     WG_OK);
    assert_int_equal(wg_function_text(t, f, NULL, NULL, 0, &needed), WG_OK);
    char *const text = malloc(needed + 1);
    assert_non_null(text);
    assert_int_equal(wg_function_text(t, f, NULL, text, needed + 1, &needed), WG_OK);
    const char *from = text;
    for (size_t k = 0; k <= ALIKE; k++) { /* the output comes last */
        char wanted[64];
        const size_t suffix = k < 3 ? k : k + 1;
        if (k == 0) (void)snprintf(wanted, sizeof wanted, "const x_________ = arg[0]");
        else if (k == 1) (void)snprintf(wanted, sizeof wanted, "const x__________3 = arg[1]");
        else if (k < ALIKE)
            (void)snprintf(wanted, sizeof wanted, "const x__________%zu = arg[%zu]", suffix, k);
        else (void)snprintf(wanted, sizeof wanted, "const x__________%zu = res[0]", suffix);
        from = strstr(from, wanted);
        if (from == NULL) fail_msg("no %s", wanted);
    }
    free(text);
    wg_function_free(f);
    wg_tape_free(t);
}

static void names_of_c_are_not_used_again(void **state) {
    static const char *const taken[] = {"int",  "NULL",   "sin",    "sinf", "memset",
                                        "main", "M_PI",   "FP_X",   "j0",   "_Bool",
                                        "__x",  "MATH_E", "HUGE_V", "erfl", "strcpy"};
    static const char *const name[] = {"M_PI", "FP_NAN",   "HUGE_VALF", "MATH_ERRNO",
                                       "X",    "MAXFLOAT", "VECTOR",    "EIGHT",
                                       "MASK", "SNAN",     "T",         "y1"};
    enum { NAMES = sizeof name / sizeof *name };
    emitted e;
    hand h, two, idle;
    size_t needed;
    uint32_t x[NAMES], y;
    (void)state;
    hand_open(&h);
    for (size_t k = 0; k < NAMES; k++) x[k] = hand_input(&h, name[k], 1, 1, 0);
    for (size_t k = 0; k < NAMES; k++) {
        y = WGI_GRAPH2(&h.g, mul, x[k], x[(k + 1) % NAMES]);
        y = WGI_GRAPH2(&h.g, sub, WGI_GRAPH1(&h.g, sin, y), x[0]);
        hand_output(&h, name[NAMES - 1 - k], 1, 1, 0, &y);
    }
    hand_finish(&h);
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
        const wg_emit_options o = {taken[k], 0, 0, 0};
        assert_int_equal(wg_function_text(h.t, h.f, &o, NULL, 0, &needed), WG_EARG);
    }
    /* nothing passes from the first unit to the second one of three */
    hand_open(&two);
    x[0] = hand_input(&two, "x", 1, 1, 0);
    for (int k = 0; k < 3; k++) {
        y = WGI_GRAPH1(&two.g, sin, WGI_GRAPH1(&two.g, exp, x[0]));
        if (k == 1) y = WGI_GRAPH1(&two.g, cos, y);
        if (k == 2) y = WGI_GRAPH2(&two.g, add, WGI_GRAPH1(&two.g, tan, x[0]), y);
        hand_output(&two, "y", 1, 1, 0, &y);
    }
    hand_finish(&two);
    hand_open(&idle);
    (void)hand_input(&idle, "x", 2, 1, 0);
    y = wgi_graph_number(&idle.g, 3);
    hand_output(&idle, "y", 1, 1, 0, &y);
    hand_finish(&idle);
    FILE *const f = emitted_text(&e);
    emit(f, &two, "VECTOR", ALL, 2);
    emit(f, &idle, "T", ALL, 0);
    emit(f, &h, "X", ALL, 0);
    assert_int_equal(fclose(f), 0);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1 -D_GNU_SOURCE");
        check_point(&e, &h, "X", "_point");
        check_batch(&e, &h, "X", 11);
        check_point(&e, &two, "VECTOR", "_point");
        check_batch(&e, &two, "VECTOR", 11);
        check_point(&e, &idle, "T", "_point");
        emitted_close(&e);
    }
    emitted_remove(&e);
    hand_close(&h);
    hand_close(&two);
    hand_close(&idle);
}

static double number_as_text(double x, char *text, size_t room) {
    wgi_buffer_text b = {text, room, 0};
    wgi_text o;
    wgi_text_open(&o, NULL, wgi_text_to_buffer, &b);
    wgi_text_number(&o, x);
    assert_int_equal(wgi_text_close(&o), WG_OK);
    (void)fesetround(FE_TONEAREST);
    return strtod(text, NULL);
}

/* However the program rounds, compilers round to nearest. */
static void numbers_are_read_back_to_the_last_bit(void **state) {
    static const int how[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const char *const locale[][2] = {{"1.5", "1.5"},
                                            {"-1,25e-07", "-1.25e-07"},
                                            {"1\xd9\xab"
                                             "5e+20",
                                             "1.5e+20"},
                                            {"12", "12"}};
    char text[64];
    (void)state;
    for (size_t k = 0; k < 4; k++)
        for (int i = 0; i < 2000; i++) {
            const double x = (i % 2 ? -1 : 1) * (1000 + uniform(0, 24)) * pow(10, i % 40 - 20);
            (void)fesetround(how[k]);
            assert_true(same_bits(number_as_text(x, text, sizeof text), x));
        }
    (void)number_as_text(0.1, text, sizeof text);
    assert_string_equal(text, "0.1");
    for (size_t k = 0; k < 4; k++) {
        (void)snprintf(text, sizeof text, "%s", locale[k][0]);
        wgi_text_plain(text);
        assert_string_equal(text, locale[k][1]);
    }
}

static void a_buffer_is_filled_as_by_snprintf(void **state) {
    hand h;
    size_t needed = 0, again = 0;
    (void)state;
    hand_open(&h);
    hand_draw(&h, 3, 30, 0, 1);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, NULL, 0, &needed), WG_OK);
    char *const text = malloc(needed + 1), *const half = malloc(needed / 2);
    assert_non_null(text);
    assert_non_null(half);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, text, needed + 1, &again), WG_OK);
    assert_int_equal(again, needed);
    assert_int_equal(strlen(text), needed);
    assert_non_null(strstr(text, "int wg_f(const double *const *arg, double *const *res) {"));
    assert_int_equal(wg_function_text(h.t, h.f, NULL, half, needed / 2, &again), WG_OK);
    assert_int_equal(again, needed);
    assert_int_equal(strlen(half), needed / 2 - 1);
    assert_memory_equal(half, text, needed / 2 - 1);
    free(text);
    free(half);
    hand_close(&h);
}

static int refuse(void *ctx, const char *text, size_t bytes) {
    (void)ctx, (void)text, (void)bytes;
    return 1;
}

/* Compares pieces of a text with another one, and resets the tape, and writes over it. */
typedef struct meddling {
    wg_tape *t;
    const char *text;
    size_t at;
} meddling;
static int meddle(void *ctx, const char *text, size_t bytes) {
    static const double ones[1 << 14] = {1};
    meddling *const k = ctx;
    wg_tape_reset(k->t);
    (void)wg_mat_input(k->t, 1 << 14, 1, ones, 1 << 14);
    if (memcmp(k->text + k->at, text, bytes) != 0) return 1;
    k->at += bytes;
    return 0;
}

static void what_is_written_is_not_lost_to_a_reset_meanwhile(void **state) {
    hand h;
    size_t needed;
    (void)state;
    hand_open(&h);
    hand_draw(&h, 5, 3000, 3, 0);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, NULL, 0, &needed), WG_OK);
    char *const text = malloc(needed + 1);
    assert_non_null(text);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, text, needed + 1, &needed), WG_OK);
    meddling k = {h.t, text, 0};
    assert_int_equal(wg_function_emit(h.t, h.f, NULL, meddle, &k), WG_OK);
    assert_int_equal(k.at, needed);
    free(text);
    hand_close(&h);
}

static void what_cannot_be_done_is_a_status(void **state) {
    hand h;
    size_t needed;
    wg_emit_options o = {"2f", 0, 0, 0};
    (void)state;
    hand_open(&h);
    hand_draw(&h, 5, 30, 0, 0);
    assert_int_equal(wg_function_text(h.t, h.f, &o, NULL, 0, &needed), WG_EARG);
    o.name = "f", o.entries = 64;
    assert_int_equal(wg_function_text(h.t, h.f, &o, NULL, 0, &needed), WG_EARG);
    assert_int_equal(wg_function_emit(h.t, h.f, NULL, refuse, NULL), WG_EWRITE);
    assert_int_equal(wg_function_emit(h.t, h.f, NULL, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_function_emit(NULL, h.f, NULL, refuse, NULL), WG_ENULL);
    assert_int_equal(wg_function_emit(h.t, NULL, NULL, refuse, NULL), WG_ENULL);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, NULL, 1, &needed), WG_ENULL);
    hand_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_name_becomes_an_identifier),
        cmocka_unit_test(thousands_of_names_spelled_alike_are_told_apart),
        cmocka_unit_test(names_of_c_are_not_used_again),
        cmocka_unit_test(numbers_are_read_back_to_the_last_bit),
        cmocka_unit_test(a_buffer_is_filled_as_by_snprintf),
        cmocka_unit_test(what_is_written_is_not_lost_to_a_reset_meanwhile),
        cmocka_unit_test(what_cannot_be_done_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
