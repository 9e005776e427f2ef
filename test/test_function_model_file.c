/* SPDX-License-Identifier: MIT */
/* test_function_model_file.c - variables of models: initial values, files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "model_case.h"

/* ---- variables ---- */

static void initial_values_are_what_they_were(void **state) {
    (void)state;
    enum { N = 4000 };
    const wg_dim n = {NULL, N};
    const wg_mat u = wg_model_variable(m, "u", n, one, wg_initial_uniform(1, -2, 4));
    const wg_mat g1 = wg_model_variable(m, "g", n, one, wg_initial_normal(1, 3, 2));
    const wg_mat g2 = wg_model_variable(m, "h", n, one, wg_initial_normal(2, 3, 2));
    const double *const v = wg_model_values(m, u), *const a = wg_model_values(m, g1);
    double mean = 0, square = 0, low = 4, high = -2;
    for (size_t i = 0; i < N; i++) {
        low = fmin(low, v[i]), high = fmax(high, v[i]);
        mean += a[i] / N;
        square += (a[i] - 3) * (a[i] - 3) / N;
    }
    assert_true(low >= -2 && low < -1.99 && high < 4 && high > 3.99);
    assert_true(fabs(mean - 3) < 0.15 && fabs(sqrt(square) - 2) < 0.15); /* 4 deviations */
    assert_true(a[0] != wg_model_values(m, g2)[0]);
    /* splitmix64 of seed 1 */
    assert_true(v[0] == -2 + 6 * ((double)(0x910a2dec89025cc1u >> 12) + 0.5) * 0x1p-52);
    const wg_mat row = wg_mat_row(u, 0);
    assert_null(wg_model_values(m, row));
    assert_null(wg_model_values(m, placeholder("x", one, one)));
}

/* Bounds, means and deviations that make no numbers. */
static void initial_values_that_cannot_be_are_refused(void **state) {
    (void)state;
    const double inf = INFINITY, nan = NAN, most = 1.7976931348623157e308;
    const struct {
        wg_initial i;
        const char *part;
    } cases[] = {
        {wg_initial_uniform(1, 2, 1), "wg_model_variable: v between 2 and 1"},
        {wg_initial_uniform(1, nan, 1), "v between nan and 1"},
        {wg_initial_uniform(1, 0, nan), "v between 0 and nan"},
        {wg_initial_uniform(1, -inf, inf), "v between -inf and inf"},
        {wg_initial_uniform(1, -most, most), "v between -1.7976931348623157e+308 and 1.79"},
        {wg_initial_normal(1, 0, -1), "wg_model_variable: v with mean 0 and deviation -1"},
        {wg_initial_normal(1, 0, nan), "v with mean 0 and deviation nan"},
        {wg_initial_normal(1, 0, inf), "v with mean 0 and deviation inf"},
        {wg_initial_normal(1, nan, 1), "v with mean nan and deviation 1"},
        {wg_initial_normal(1, inf, 1), "v with mean inf and deviation 1"},
        {{.kind = 77}, "wg_model_variable: initial values of kind 77 for v"},
        {{.kind = -1}, "kind -1 for v"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const wg_mark before = wg_tape_mark(tape);
        const wg_mat v = wg_model_variable(m, "v", three, one, cases[k].i);
        assert_has(wg_tape_message(tape), "test_function_model_file.c:");
        assert_failed(v, before, WG_EARG, cases[k].part);
    }
    /* these make numbers */
    const wg_mat point = wg_model_variable(m, "v", three, one, wg_initial_uniform(1, 2, 2));
    const wg_mat exact = wg_model_variable(m, "w", three, one, wg_initial_normal(1, 3, 0));
    assert_true(wg_model_values(m, point)[1] == 2 && wg_model_values(m, exact)[2] == 3);
}

static const double odd[6] = {-0.0, 1e-310, INFINITY, -1.0 / 3, NAN, 1.7976931348623157e308};

static void make_variables(wg_model *to, int turned) {
    for (int k = 0; k < 2; k++)
        if (k != turned) (void)wg_model_variable(to, "w", rows, cols, wg_initial_values(odd));
        else (void)wg_model_variable(to, "b", rows, one, wg_initial_normal(1, 0, 1));
    (void)wg_model_variable(to, "none", (wg_dim){NULL, 0}, cols, wg_initial_fill(1));
}
static double *values_of(wg_model *of, const char *name) {
    wg_mat a;
    assert_int_equal(wg_model_find(of, WG_VARIABLE, name, NULL, NULL, 1, &a), 1);
    return wg_model_values(of, a);
}
static void spoil(wg_model *of) {
    for (size_t i = 0; i < 6; i++) values_of(of, "w")[i] = 7;
    for (size_t i = 0; i < 3; i++) values_of(of, "b")[i] = 8;
}

static void variables_come_back_from_a_file(void **state) {
    (void)state;
    make_variables(m, 1);
    double b[3];
    memcpy(b, values_of(m, "b"), sizeof b);
    bytes file = empty();
    assert_ok(wg_model_save(m, put, &file));
    spoil(m);
    assert_ok(wg_model_restore(m, get, &file));
    assert_int_equal(file.read, file.n);
    assert_memory_equal(values_of(m, "w"), odd, sizeof odd);
    assert_memory_equal(values_of(m, "b"), b, sizeof b);
    /* into another model, where they stand in another order; another file after it */
    const wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&opt);
    wg_model *second;
    assert_ok(wg_model_new(t, &second));
    make_variables(second, 0);
    spoil(second);
    file.read = 0;
    memcpy(file.at + file.n, file.at, file.n);
    file.n *= 2;
    assert_ok(wg_model_restore(second, get, &file));
    assert_int_equal(file.read, file.n / 2);
    assert_memory_equal(values_of(second, "w"), odd, sizeof odd);
    spoil(second);
    assert_ok(wg_model_restore(second, get, &file));
    assert_memory_equal(values_of(second, "b"), b, sizeof b);
    wg_model_free(second);
    wg_tape_free(t);
}

static void assert_bad_file(bytes file, const char *part) {
    spoil(m);
    file.read = 0;
    const wg_status s = wg_model_restore(m, get, &file);
    assert_true(s == WG_EARG || s == WG_ESHAPE);
    assert_has(wg_tape_message(tape), "wg_model_restore: ");
    assert_has(wg_tape_message(tape), part);
    for (size_t i = 0; i < 6; i++) assert_true(values_of(m, "w")[i] == 7);
    for (size_t i = 0; i < 3; i++) assert_true(values_of(m, "b")[i] == 8);
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    make_variables(m, 1);
    bytes file = empty();
    assert_ok(wg_model_save(m, put, &file));
    for (size_t n = 0; n < file.n; n++) {
        bytes cut = file;
        cut.n = n;
        assert_bad_file(cut, "ends too early");
        for (int bit = 0; bit < 8; bit++) {
            bytes turned = file;
            turned.at[n] = (char)(turned.at[n] ^ 1 << bit);
            assert_bad_file(turned, "");
        }
        bytes small = empty();
        small.room = n;
        assert_int_equal(wg_model_save(m, put, &small), WG_EWRITE);
        assert_has(wg_tape_message(tape), "wg_model_save: write gave a failure");
    }
    bytes text = empty();
    (void)put(&text, "w = 1\nb = 2\n", 12);
    assert_bad_file(text, "no file of variables");
}

/* FNV-1a, as model_file.c tells. */
static void seal(bytes *file) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < file->n - 8; i++)
        h = (h ^ (unsigned char)file->at[i]) * 0x100000001b3u;
    for (size_t i = 0; i < 8; i++) file->at[file->n - 8 + i] = (char)(h >> 8 * i);
}

static void files_that_were_made_to_do_harm_are_refused(void **state) {
    (void)state;
    enum { VERSION = 8, COUNT = 12, W = 16, NAME = 20, B = W + NAME + 1 + 6 * 8 };
    static const struct {
        size_t at, size;
        uint64_t value;
        const char *part;
    } edits[] = {
        {VERSION, 4, 2, "version 2, not 1"},
        {COUNT, 4, UINT32_MAX, "wg_model_restore: "},
        {COUNT, 4, 2, "the checksum differs"},
        {W, 8, UINT64_MAX, "w is 3x2, in the file 18446744073709551615x2"},
        {W + 8, 8, (uint64_t)1 << 63, "w is 3x2, in the file 3x9223372036854775808"},
        {W + 16, 4, 4097, "a name is too long"},
        {W + 16, 4, UINT32_MAX, "a name is too long"},
        {W + 16, 4, 0, "a name is no word"},
        {W + NAME, 1, 0, "a name is no word"},
        {W + NAME, 1, ' ', "a name is no word"},
        {W + NAME, 1, '"', "a name is no word"},
        {W + NAME, 1, 0xe4, "a name is no word"},
        {W + NAME, 1, 'v', "the model has no variable v"},
        {B + NAME, 1, 'w', "w is there twice"},
    };
    make_variables(m, 1);
    bytes file = empty();
    assert_ok(wg_model_save(m, put, &file));
    assert_true(file.at[W + NAME] == 'w' && file.at[B + NAME] == 'b');
    for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
        bytes made = file;
        for (size_t i = 0; i < edits[k].size; i++)
            made.at[edits[k].at + i] = (char)(edits[k].value >> 8 * i);
        seal(&made);
        assert_bad_file(made, edits[k].part);
    }
    seal(&file);
    file.read = 0;
    assert_ok(wg_model_restore(m, get, &file));
}

/* Files have room for a name of so many bytes. */
static void names_that_files_cannot_hold_are_refused(void **state) {
    (void)state;
    enum { LONGEST = 4096 };
    static char name[LONGEST + 2];
    memset(name, 'n', LONGEST + 1);
    const wg_mark before = wg_tape_mark(tape);
    assert_failed(wg_model_variable(m, name, one, one, wg_initial_fill(1)), before, WG_EARG,
                  "a name of 4097 bytes, more than 4096");
    name[LONGEST] = 0;
    const wg_mat a = wg_model_variable(m, name, one, one, wg_initial_fill(1));
    bytes file = empty();
    assert_ok(wg_model_save(m, put, &file));
    *wg_model_values(m, a) = 2;
    assert_ok(wg_model_restore(m, get, &file));
    assert_true(*wg_model_values(m, a) == 1);
}

static void files_of_other_variables_are_refused(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_KEEP_CODE};
    static const struct {
        const char *name;
        size_t rows;
        const char *part;
    } cases[] = {{"b", 4, "b is 3x1, in the file 4x1"},
                 {"c", 3, "the model has no variable c"},
                 {NULL, 0, "the file has no variable b"}};
    make_variables(m, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wg_tape *const t = wg_tape_new(&opt);
        wg_model *second;
        assert_ok(wg_model_new(t, &second));
        (void)wg_model_variable(second, "w", rows, cols, wg_initial_values(odd));
        if (cases[k].name != NULL)
            (void)wg_model_variable(second, cases[k].name, (wg_dim){NULL, cases[k].rows}, one,
                                    wg_initial_fill(1));
        (void)wg_model_variable(second, "none", (wg_dim){NULL, 0}, cols, wg_initial_fill(1));
        bytes file = empty();
        assert_ok(wg_model_save(second, put, &file));
        assert_bad_file(file, cases[k].part);
        wg_model_free(second);
        wg_tape_free(t);
    }
}

/* A model is printed, saved and restored while somebody adds to it, or resets its tape. */
static void add(void) {
    assert_true(isnan(wg_input(tape, 1).value));
    assert_null(wg_model_variable(m, "more", rows, cols, wg_initial_fill(1)).value);
    assert_int_equal(wg_model_find(m, WG_VARIABLE, NULL, NULL, NULL, 0, NULL), 3);
    wg_tape_reset(tape);
}
static int put_adding(void *ctx, const char *text, size_t n) {
    add();
    return put(ctx, text, n);
}
static size_t get_adding(void *ctx, void *data, size_t n) {
    add();
    return get(ctx, data, n);
}
static void nothing_is_lost_to_who_uses_the_tape_meanwhile(void **state) {
    static wg_status (*const texts[])(wg_model *, wg_write *,
                                      void *) = {wg_model_print, wg_model_dot, wg_model_save};
    (void)state;
    make_variables(m, 1);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        bytes plain = empty(), file = empty();
        assert_ok(texts[k](m, put, &plain));
        assert_ok(texts[k](m, put_adding, &file));
        assert_int_equal(file.n, plain.n);
        assert_memory_equal(file.at, plain.at, plain.n);
        if (texts[k] != wg_model_save) continue;
        spoil(m);
        assert_ok(wg_model_restore(m, get_adding, &file));
        assert_memory_equal(values_of(m, "w"), odd, sizeof odd);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(initial_values_are_what_they_were),
        TEST(initial_values_that_cannot_be_are_refused),
        TEST(variables_come_back_from_a_file),
        TEST(damaged_files_are_refused),
        TEST(files_that_were_made_to_do_harm_are_refused),
        TEST(names_that_files_cannot_hold_are_refused),
        TEST(files_of_other_variables_are_refused),
        TEST(nothing_is_lost_to_who_uses_the_tape_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
