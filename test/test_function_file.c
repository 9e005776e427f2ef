/* SPDX-License-Identifier: MIT */
/* test_function_file.c - functions as files: there and back, operations of the user's, files of
 * the caller's, memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "tape/function/make/finish.h"
#include "counted.h"
#include "file_case.h"

/* ---- there and back ---- */

static void assert_same_arguments(const wg_argument *a, const wg_argument *b) {
    if (a == NULL || b == NULL) {
        assert_ptr_equal(a, b);
        return;
    }
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_int_equal(a->flags, b->flags);
}

static void what_is_loaded_gives_the_same_bits(void **state) {
    (void)state;
    for (size_t k = 0; k < SAMPLES; k++) {
        size_t n;
        wg_function *const f = sample_of(k);
        uint8_t *const bytes = bytes_of(f, &n);
        wg_function *const g = loaded(bytes, n);
        wg_function_stats before, after;
        wg_status s, again;
        double *const y = values(f, &s), *const z = values(g, &again);
        assert_int_equal(s, again);
        assert_memory_equal(y, z, entries(f, 1) * POINTS * sizeof *y);
        assert_int_equal(wg_function_statistics(f, &before), WG_OK);
        assert_int_equal(wg_function_statistics(g, &after), WG_OK);
        assert_memory_equal(&before, &after, sizeof before);
        assert_int_equal(wg_function_inputs(f), wg_function_inputs(g));
        assert_int_equal(wg_function_outputs(f), wg_function_outputs(g));
        for (size_t i = 0; i <= wg_function_inputs(f); i++)
            assert_same_arguments(wg_function_input(f, i), wg_function_input(g, i));
        for (size_t i = 0; i <= wg_function_outputs(f); i++)
            assert_same_arguments(wg_function_output(f, i), wg_function_output(g, i));
        free(y), free(z), free(bytes);
        wg_function_free(f);
        wg_function_free(g);
    }
}

static void what_is_loaded_is_saved_as_the_same_bytes(void **state) {
    (void)state;
    for (size_t k = 0; k < SAMPLES; k++) {
        size_t n, m;
        wg_function *const f = sample_of(k);
        uint8_t *const bytes = bytes_of(f, &n);
        wg_function *const g = loaded(bytes, n);
        uint8_t *const again = bytes_of(g, &m);
        assert_int_equal(n, m);
        assert_memory_equal(bytes, again, n);
        free(bytes), free(again);
        wg_function_free(f);
        wg_function_free(g);
    }
}

static void what_is_loaded_can_be_differentiated(void **state) {
    (void)state;
    size_t n;
    wg_status s, again;
    wg_function *const f = sample_of(3), *df = NULL, *dg = NULL;
    uint8_t *const bytes = bytes_of(f, &n);
    wg_function *const g = loaded(bytes, n);
    assert_int_equal(wg_function_jacobian(tape, f, &df), WG_OK);
    assert_int_equal(wg_function_jacobian(tape, g, &dg), WG_OK);
    double *const y = values(df, &s), *const z = values(dg, &again);
    assert_int_equal(s, again);
    assert_int_equal(entries(df, 1), 5 * 3);
    assert_memory_equal(y, z, entries(df, 1) * POINTS * sizeof *y);
    free(y), free(z), free(bytes);
    wg_function_free(f);
    wg_function_free(g);
    wg_function_free(df);
    wg_function_free(dg);
}

static void saving_tells_how_much_room_it_needs(void **state) {
    (void)state;
    size_t n, needed = 0;
    wg_function *const f = sample_of(1);
    uint8_t *const bytes = bytes_of(f, &n), *const room = malloc(n + 1);
    assert_non_null(room);
    memset(room, 0x77, n + 1);
    assert_int_equal(wg_function_save(f, room, n - 1, &needed), WG_ESHAPE);
    assert_int_equal(needed, n);
    for (size_t i = 0; i <= n; i++) assert_int_equal(room[i], 0x77);
    assert_int_equal(wg_function_save(f, room, 0, NULL), WG_ESHAPE);
    assert_int_equal(wg_function_save(f, NULL, 0, NULL), WG_OK);
    assert_int_equal(wg_function_save(f, room, n + 1, NULL), WG_OK);
    assert_memory_equal(room, bytes, n);
    assert_int_equal(room[n], 0x77);
    free(room), free(bytes);
    wg_function_free(f);
}

static void files_of_the_first_version_are_read(void **state) {
    (void)state;
    uint8_t bytes[sizeof first_version];
    memcpy(bytes, first_version, sizeof bytes);
    seal(bytes, sizeof bytes);
    wg_function *const f = loaded(bytes, sizeof bytes);
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_int_equal(s.statements, 1);
    assert_int_equal(s.dead, 256);
    assert_int_equal(s.each, 2);
    assert_int_equal(s.after, 1);
    const double x[] = {1, 2, 3, 10, 20, 30}, p = 4;
    double y = 0;
    void *const work = malloc(wg_function_work(f, NULL));
    wg_function_guard guard;
    assert_int_equal(wg_function_evaluate(f, 3, (wg_points[]){{x, 1, 3}, {&p, 0, 0}},
                                          (wg_results[]){{&y, 0, 0}}, NULL, work, &guard),
                     WG_OK);
    assert_float_equal(y, 25.5, 0);
    size_t n;
    uint8_t *const again = bytes_of(f, &n);
    assert_int_equal(n, sizeof bytes);
    assert_memory_equal(again, bytes, n);
    free(again), free(work);
    wg_function_free(f);
}

/* Operations that were called otherwise once: log_sum_exp, and held, half_of_each and two
 * matern_ of what is written out of matrices. */
static wg_status renamed(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)data;
    if (n != 4 || m != 6) return WG_EARG;
    const wg_mat a = wg_mat_gather(t, 2, 2, x), column = wg_mat_col(a, 0);
    const wg_mat soft = wg_mat_softmax(t, a, WG_ALL);
    const wg_mat product = wg_symv(t, 'L', 1, a, column, 0, column);
    y[0] = wg_let(t, wg_reciprocal(x[0]));
    y[1] = wg_let(t, wg_log_add_exp(x[0], x[1]));
    y[2] = wg_mat_at(soft, 1, 1);
    y[3] = wg_mat_at(product, 1, 0);
    for (size_t k = 0; k < 2; k++)
        y[4 + k] = wg_mat_at(
            wg_covariance(t, k == 0 ? WG_MATERN_32 : WG_MATERN_52, a, column, x[0], x[1]), 0,
            1);
    return WG_OK;
}

/* Where a name stands in a file, its length before it; NULL: nowhere. */
static uint8_t *find_name(uint8_t *bytes, size_t n, const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i + length < n; i++)
        if (bytes[i] == length && memcmp(bytes + i + 1, name, length) == 0)
            return bytes + i + 1;
    return NULL;
}

/* A file that was saved from that callback when they had their former names. */
static void files_with_former_names_of_operations_are_read(void **state) {
    (void)state;
    static const char *const names[] = {"log_sum_exp", "held", "half_of_each", "matern_32",
                                        "matern_52"};
    static const char *const today[] = {"log_add_exp", "wgi_held", "wgi_half_of_each",
                                        "wgi_matern_32", "wgi_matern_52"};
    const wg_argument in = {"x", 4, 1, 0}, out = {"y", 6, 1, 0};
    const double x[] = {0.25, 0.125, 0.5, 0.75};
    uint8_t old[2048];
    FILE *const file = fopen("test/data/former_names.function", "rb");
    assert_non_null(file);
    const size_t n = fread(old, 1, sizeof old, file);
    fclose(file);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        assert_non_null(find_name(old, n, names[k]));
    wg_function *const g = loaded(old, n), *f = NULL;
    assert_int_equal(wg_function_record(tape, renamed, NULL, 1, &in, x, 1, &out, &f), WG_OK);
    wg_status s, again;
    double *const y = values(f, &s), *const z = values(g, &again);
    assert_int_equal(s, again);
    assert_memory_equal(y, z, entries(f, 1) * POINTS * sizeof *y);
    size_t then; /* what was read is saved under the names of today */
    uint8_t *const saved = bytes_of(g, &then);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        assert_null(find_name(saved, then, names[k]));
        assert_non_null(find_name(saved, then, today[k]));
    }
    free(saved), free(y), free(z);
    wg_function_free(f);
    wg_function_free(g);
}

/* Of 1 / x recordings make a division; a file may have the operation all the same. */
static void a_reciprocal_is_read_under_its_former_name(void **state) {
    (void)state;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double x = 4;
    double y = 0;
    wgi_graph g;
    wg_function *f = NULL;
    size_t n;
    wg_tape_reset(tape);
    wgi_graph_open(&g, wgi_core_of(tape), "sine");
    const uint32_t sine = WGI_GRAPH1(&g, sin, wgi_graph_input(&g, WGI_EACH));
    assert_int_equal(wgi_function_finish(&g, 1, &in, 1, &out, &sine, &f), WG_OK);
    uint8_t *const bytes = bytes_of(f, &n), *const name = find_name(bytes, n, "sin");
    wg_function_free(f);
    assert_non_null(name);
    memcpy(name, "inv", 3);
    seal(bytes, n);
    f = loaded(bytes, n);
    void *const work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, 1, &(wg_points){&x, 0, 1}, &(wg_results){&y, 0, 1},
                                          NULL, work, NULL),
                     WG_OK);
    assert_true(y == 0.25);
    free(work), free(bytes);
    wg_function_free(f);
}

/* ---- files of the caller's ---- */

static size_t read_too_much(void *ctx, void *data, size_t bytes) {
    (void)ctx, (void)data;
    return bytes + 1;
}

static void several_functions_stand_in_one_file(void **state) {
    (void)state;
    FILE *const file = tmpfile();
    assert_non_null(file);
    for (size_t k = 0; k < SAMPLES; k++) {
        wg_function *const f = sample_of(k);
        assert_int_equal(wg_function_write(f, wg_write_file, file), WG_OK);
        wg_function_free(f);
    }
    rewind(file);
    wg_function *g = NULL;
    for (size_t k = 0; k < SAMPLES; k++) {
        size_t n, m;
        wg_function *const f = sample_of(k);
        if (wg_function_read(tape, wg_read_file, file, user_operations, USER_OPERATIONS, &g) !=
            WG_OK)
            fail_msg("%s", wg_tape_message(tape));
        uint8_t *const bytes = bytes_of(f, &n), *const again = bytes_of(g, &m);
        assert_int_equal(n, m);
        assert_memory_equal(bytes, again, n);
        free(bytes), free(again);
        wg_function_free(f);
        wg_function_free(g);
    }
    assert_int_equal(wg_function_read(tape, wg_read_file, file, NULL, 0, &g), WG_EARG);
    assert_has(wg_tape_message(tape), "wg_function_read: at byte 0: cut short: 0 bytes");
    assert_null(g);
    fclose(file);
}

static void a_long_function_is_read_piece_by_piece(void **state) {
    (void)state;
    wgi_graph g;
    wg_function *f = NULL, *again = NULL;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    wgi_graph_open(&g, wgi_core_of(tape), "long");
    const uint32_t x = wgi_graph_input(&g, WGI_EACH);
    uint32_t y = x;
    for (int i = 0; i < 20000; i++) {
        y = WGI_GRAPH1(&g, sin, y);
        y = WGI_GRAPH2(&g, mul, y, wgi_graph_number(&g, i + 2.5));
    }
    assert_int_equal(wgi_function_finish(&g, 1, &in, 1, &out, &y, &f), WG_OK);
    size_t n;
    uint8_t *const bytes = bytes_of(f, &n);
    assert_true(n > 700000);
    struct slow o = {bytes, n, 0, 0};
    assert_int_equal(wg_function_read(tape, read_slow, &o, NULL, 0, &again), WG_OK);
    assert_int_equal(o.taken, n);
    assert_in_range(o.calls, 3, 12);
    wg_function_free(again);
    o = (struct slow){bytes, n - 1, 0, 0};
    assert_int_equal(wg_function_read(tape, read_slow, &o, NULL, 0, &again), WG_EARG);
    assert_null(again);
    assert_int_equal(wg_function_read(tape, read_too_much, NULL, NULL, 0, &again),
                     WG_ECALLBACK);
    o = (struct slow){(const uint8_t *)"a text and nothing else", 23, 0, 0};
    assert_int_equal(wg_function_read(tape, read_slow, &o, NULL, 0, &again), WG_EARG);
    bytes[8] = 4;
    o = (struct slow){bytes, n, 0, 0};
    assert_int_equal(wg_function_read(tape, read_slow, &o, NULL, 0, &again), WG_EARG);
    assert_has(wg_tape_message(tape), "wg_function_read: at byte 8: version 4.0");
    assert_int_equal(o.taken, 24);
    free(bytes);
    wg_function_free(f);
}

static void what_cannot_be_written_is_told(void **state) {
    (void)state;
    wg_function *const f = sample_of(1);
    wg_status (*const call[])(const wg_function *, wg_write *,
                              void *) = {wg_function_write, wg_function_dump, wg_function_dot};
    for (size_t i = 0; i < 3; i++) {
        struct full o = {SIZE_MAX, 0};
        assert_int_equal(call[i](f, write_full, &o), WG_OK);
        const size_t pieces = o.calls;
        for (size_t k = 0; k < pieces; k++) {
            o = (struct full){k, 0};
            assert_int_equal(call[i](f, write_full, &o), WG_EWRITE);
            assert_int_equal(o.calls, k + 1); /* never asked again */
        }
        assert_int_equal(call[i](f, wg_write_file, NULL), WG_EWRITE);
    }
    wg_function_free(f);
}

/* ---- operations of the user's ---- */

static double of_two(const double *x) { return x[0] + x[1]; }

static void operations_of_the_users_are_given_again_by_name(void **state) {
    (void)state;
    size_t n, m;
    wg_function *const f = sample_of(0), *g = NULL;
    uint8_t *const bytes = bytes_of(f, &n);
    assert_int_equal(wg_function_load(tape, bytes, n, NULL, 0, &g), WG_EMODE);
    assert_null(g);
    assert_has(wg_tape_message(tape), "softsign, which is not given");
    assert_int_equal(wg_function_load(tape, bytes, n, user_operations, 1, &g), WG_EMODE);
    assert_has(wg_tape_message(tape), "area, which is not given");
    wg_scalar_op copy[3] = {wgi_user_area, wgi_user_softsign, wgi_user_softsign};
    copy[0].name = "another";
    const wg_scalar_op *const given[] = {&copy[0], &copy[1], &wgi_user_area};
    assert_int_equal(wg_function_load(tape, bytes, n, given, 3, &g), WG_OK);
    uint8_t *const again = bytes_of(g, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    free(again);
    wg_function_free(g);
    copy[1] = (wg_scalar_op){.name = "softsign", .arity = 2, .value = of_two};
    assert_int_equal(wg_function_load(tape, bytes, n, given, 3, &g), WG_ENULL);
    assert_has(wg_tape_message(tape),
               "operation 1, its name, value or first partials are NULL");
    copy[1].first = wgi_user_area.first;
    assert_int_equal(wg_function_load(tape, bytes, n, given, 3, &g), WG_EARG);
    assert_has(wg_tape_message(tape), "has 1 operands, and its operation 2");
    copy[1].arity = 5;
    assert_int_equal(wg_function_load(tape, bytes, n, given, 3, &g), WG_EARG);
    assert_has(wg_tape_message(tape), "operation softsign has 5 operands");
    copy[1].value = NULL;
    assert_int_equal(wg_function_load(tape, bytes, n, given, 3, &g), WG_ENULL);
    assert_int_equal(wg_function_load(tape, bytes, n, NULL, 3, &g), WG_ENULL);
    free(bytes);
    wg_function_free(f);
}

static void an_operation_without_the_partials_of_the_file_is_refused(void **state) {
    (void)state;
    size_t n;
    wg_function *const f = sample_of(1), *g = NULL;
    uint8_t *const bytes = bytes_of(f, &n);
    wg_scalar_op straight = wgi_user_softsign;
    straight.second = NULL;
    const wg_scalar_op *const given[] = {&straight, &wgi_user_area};
    assert_int_equal(wg_function_load(tape, bytes, n, given, 2, &g), WG_EMODE);
    assert_has(wg_tape_message(tape), "a partial that softsign does not have");
    free(bytes);
    wg_function_free(f);
}

/* Operations one after the other, up to a NULL, of x[0]: is that saved? */
static wg_status chained(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m;
    y[0] = x[0];
    for (const wg_scalar_op *const *op = data; *op != NULL; op++)
        y[0] = wg_apply_scalar(t, *op, y);
    return wg_tape_status(t);
}
static wg_status chain_is_saved(const wg_scalar_op **op) {
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double x = 0.5;
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(tape, chained, op, 1, &in, &x, 1, &out, &f), WG_OK);
    const wg_status s = wg_function_save(f, NULL, 0, NULL);
    wg_function_free(f);
    return s;
}

static double its_square(const double *x) { return x[0] * x[0]; }

static void two_operations_of_one_name_are_not_saved(void **state) {
    (void)state;
    wg_scalar_op other[4] = {wgi_user_softsign, wgi_user_softsign, wgi_user_softsign,
                             wgi_user_softsign};
    other[0].text[0] = "a * a", other[0].value = its_square;
    other[1].text[0] = NULL, other[1].value = its_square;
    other[2].zero_second = 1; /* the last has the same texts, as of another file */
    for (size_t i = 0; i < 4; i++) {
        const wg_scalar_op *both[] = {&wgi_user_softsign, &other[i], NULL};
        assert_int_equal(chain_is_saved(both), i < 3 ? WG_EARG : WG_OK);
    }
}

static void a_file_has_at_most_256_operations_of_the_users(void **state) {
    enum { MOST = 256 };
    static wg_scalar_op many[MOST + 1];
    static char names[MOST + 1][8];
    const wg_scalar_op *all[MOST + 2] = {NULL};
    (void)state;
    for (size_t i = 0; i <= MOST; i++) {
        (void)snprintf(names[i], sizeof names[i], "f%zu", i);
        many[i] = wgi_user_softsign, many[i].name = names[i];
        all[i] = &many[i];
    }
    assert_int_equal(chain_is_saved(all), WG_EARG);
    all[MOST] = NULL;
    assert_int_equal(chain_is_saved(all), WG_OK);
}

static void names_that_no_file_can_hold_are_not_saved(void **state) {
    (void)state;
    char name[300];
    memset(name, 'n', sizeof name);
    name[255] = 0;
    wg_scalar_op odd = wgi_user_softsign;
    const wg_scalar_op *const given[] = {&odd};
    odd.name = name;
    wg_function *f = apply(&odd), *g = NULL;
    size_t n;
    uint8_t *const bytes = bytes_of(f, &n);
    assert_int_equal(wg_function_load(tape, bytes, n, given, 1, &g), WG_OK);
    wg_function_free(f);
    wg_function_free(g);
    free(bytes);
    memset(name, 'n', sizeof name);
    name[256] = 0;
    static const char *const wrong[] = {NULL, "", "two words", "line\n", "quote\"", "back\\"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        odd.name = i == 0 ? name : wrong[i];
        f = apply(&odd);
        n = 77;
        assert_int_equal(wg_function_save(f, NULL, 0, &n), WG_EARG);
        assert_int_equal(n, 0);
        assert_int_equal(wg_function_write(f, wg_write_file, NULL), WG_EARG);
        wg_function_free(f);
    }
}

/* Rows and columns are numbered as nodes are, also where there are none of the others. */
static void arguments_beyond_all_numbers_are_not_saved(void **state) {
    (void)state;
    static const size_t sizes[] = {(size_t)1 << 40, UINT32_MAX / 4, UINT32_MAX / 4 - 1};
    for (size_t i = 0; i < 6; i++) {
        const size_t size = sizes[i / 2];
        const wg_argument empty = {"empty", i % 2 ? 0 : size, i % 2 ? size : 0, 0};
        wgi_graph g;
        wg_function *f = NULL;
        size_t n;
        wg_tape_reset(tape);
        wgi_graph_open(&g, wgi_core_of(tape), "empty");
        assert_int_equal(wgi_function_finish(&g, 1, &empty, 1, &empty, NULL, &f), WG_OK);
        const wg_status s = wg_function_save(f, NULL, 0, &n);
        assert_int_equal(s, i < 4 ? WG_EARG : WG_OK);
        if (s == WG_OK) {
            uint8_t *const bytes = bytes_of(f, &n);
            wg_function_free(loaded(bytes, n));
            free(bytes);
        }
        wg_function_free(f);
    }
}

/* ---- life ---- */

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    size_t n;
    wg_function *const f = sample_of(1);
    uint8_t *const bytes = bytes_of(f, &n);
    for (int reading = 0; reading < 2; reading++) {
        wg_status s = WG_ENOMEM;
        for (size_t k = 0; s != WG_OK; k++) {
            assert_true(k < 100);
            struct counted m = counted_start();
            const wg_options opt = {.memory = counted_memory(&m)};
            wg_tape *const t = wg_tape_new(&opt);
            wg_function *g = NULL;
            struct slow o = {bytes, n, 0, 0};
            m.fail_at = m.asked + k;
            m.fail_on = 1;
            s = reading
                    ? wg_function_read(t, read_slow, &o, user_operations, USER_OPERATIONS, &g)
                    : wg_function_load(t, bytes, n, user_operations, USER_OPERATIONS, &g);
            assert_true(s == WG_OK ? g != NULL : s == WG_ENOMEM && g == NULL);
            if (s != WG_OK) assert_has(wg_tape_message(t), "no ");
            wg_tape_free(t);
            wg_function_free(g); /* it does not need the tape */
            assert_int_equal(m.wrong + m.ranges, 0);
        }
    }
    free(bytes);
    wg_function_free(f);
}

static void a_tape_is_left_empty_and_in_its_mode(void **state) {
    (void)state;
    size_t n;
    wg_function *const f = sample_of(1), *g;
    uint8_t *const bytes = bytes_of(f, &n);
    wg_tape *const t = wg_tape_new(NULL);
    wg_stats s;
    assert_int_equal(wg_tape_forward(t, 3), WG_OK);
    (void)wg_input(t, 1);
    assert_int_equal(wg_function_load(t, bytes, n, user_operations, USER_OPERATIONS, &g),
                     WG_OK);
    wg_function_free(g);
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    assert_int_equal(s.slots + s.payload_bytes, 0);
    const wg_real x = wg_input(t, 1);
    assert_int_equal(wg_tangent_seed(t, x, 2, 1), WG_OK);
    assert_int_equal(wg_function_load(t, bytes, n - 1, NULL, 0, &g), WG_EARG);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    assert_int_equal(wg_function_load(t, bytes, n, user_operations, USER_OPERATIONS, &g),
                     WG_OK); /* as a reset */
    wg_function_free(g);
    wg_tape_free(t);
    free(bytes);
    wg_function_free(f);
}

static void null_is_answered(void **state) {
    (void)state;
    size_t n = 77;
    wg_function *f = (wg_function *)(uintptr_t)1;
    const uint8_t byte = 0;
    assert_int_equal(wg_function_save(NULL, NULL, 0, &n), WG_ENULL);
    assert_int_equal(n, 0);
    assert_int_equal(wg_function_write(NULL, wg_write_file, NULL), WG_ENULL);
    assert_int_equal(wg_function_dump(NULL, wg_write_file, NULL), WG_ENULL);
    assert_int_equal(wg_function_dot(NULL, wg_write_file, NULL), WG_ENULL);
    assert_int_equal(wg_function_load(NULL, &byte, 1, NULL, 0, &f), WG_ENULL);
    assert_null(f);
    assert_int_equal(wg_function_load(tape, &byte, 1, NULL, 0, NULL), WG_ENULL);
    assert_int_equal(wg_function_load(tape, NULL, 1, NULL, 0, &f), WG_ENULL);
    assert_has(wg_tape_message(tape), "wg_function_load: data is NULL");
    assert_int_equal(wg_function_read(NULL, wg_read_file, NULL, NULL, 0, &f), WG_ENULL);
    assert_int_equal(wg_function_read(tape, wg_read_file, NULL, NULL, 0, NULL), WG_ENULL);
    assert_int_equal(wg_function_read(tape, NULL, NULL, NULL, 0, &f), WG_ENULL);
    assert_has(wg_tape_message(tape), "wg_function_read: read is NULL");
    assert_int_equal(wg_read_file(NULL, NULL, 1), 0);
    f = sample_of(2);
    assert_int_equal(wg_function_write(f, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_function_dump(f, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_function_dot(f, NULL, NULL), WG_ENULL);
    wg_function_free(f);
}

/* ---- operations of the library's own that are no rows of the table ---- */

static wg_status covariances(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)data;
    const wg_mat points = wg_mat_gather(t, n - 1, 1, x),
                 one = wg_mat_gather(t, 1, 1, x + n - 1);
    const wg_mat k = wg_covariance(t, WG_MATERN_52, points, one, x[n - 1], wg_constant(0.1));
    for (size_t e = 0; e < m; e++) y[e] = wg_mat_at(k, e % k.rows, e / k.rows);
    return WG_OK;
}

static void covariances_are_loaded_without_being_told_of(void **state) {
    (void)state;
    const wg_options code = {.flags = WG_KEEP_CODE};
    const wg_argument in = {"x", 3, 1, 0}, result = {"k", 4, 1, 0};
    const double x[3] = {0.25, -1.5, 0.75};
    static unsigned char bytes[1 << 16];
    wg_tape *t = wg_tape_new(&code);
    wg_function *f = NULL, *again = NULL;
    size_t needed = 0;
    double y[4], z[4];
    assert_int_equal(wg_function_record(t, covariances, NULL, 1, &in, x, 1, &result, &f),
                     WG_OK);
    assert_int_equal(wg_function_save(f, bytes, sizeof bytes, &needed), WG_OK);
    assert_int_equal(wg_function_load(t, bytes, needed, NULL, 0, &again), WG_OK);
    const wg_points at = {x, 0, 1};
    const wg_results to_y = {y, 0, 1}, to_z = {z, 0, 1};
    void *work = malloc(wg_function_work(f, NULL) + wg_function_work(again, NULL));
    assert_int_equal(wg_function_evaluate(f, 1, &at, &to_y, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(again, 1, &at, &to_z, NULL, work, NULL), WG_OK);
    assert_memory_equal(y, z, sizeof y);
    assert_true(y[0] > y[1] && y[1] > 0);
    free(work);
    wg_function_free(f);
    wg_function_free(again);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_loaded_gives_the_same_bits),
        TEST(what_is_loaded_is_saved_as_the_same_bytes),
        TEST(what_is_loaded_can_be_differentiated),
        TEST(saving_tells_how_much_room_it_needs),
        TEST(files_of_the_first_version_are_read),
        TEST(files_with_former_names_of_operations_are_read),
        TEST(a_reciprocal_is_read_under_its_former_name),
        TEST(several_functions_stand_in_one_file),
        TEST(a_long_function_is_read_piece_by_piece),
        TEST(what_cannot_be_written_is_told),
        TEST(operations_of_the_users_are_given_again_by_name),
        TEST(an_operation_without_the_partials_of_the_file_is_refused),
        TEST(two_operations_of_one_name_are_not_saved),
        TEST(a_file_has_at_most_256_operations_of_the_users),
        TEST(names_that_no_file_can_hold_are_not_saved),
        TEST(arguments_beyond_all_numbers_are_not_saved),
        TEST(every_failing_allocation_is_survived),
        TEST(a_tape_is_left_empty_and_in_its_mode),
        TEST(null_is_answered),
        TEST(covariances_are_loaded_without_being_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
