/* SPDX-License-Identifier: MIT */
/* test_function_file.c - functions as files, which may be cut short, damaged or hostile; as
 * text; as graphs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "counted.h"
#include "function_file.h"

static wg_tape *tape;

static int open_tape(void **state) {
    const wg_options opt = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&opt);
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

static wg_function *sample_of(size_t k) {
    wg_function *const f = sample(tape, k);
    if (f == NULL) fail_msg("sample %zu: %s", k, wg_tape_message(tape));
    return f;
}
static uint8_t *bytes_of(const wg_function *f, size_t *n) {
    uint8_t *const bytes = saved(f, n);
    assert_non_null(bytes);
    return bytes;
}
static wg_status load(const void *data, size_t n, wg_function **f) {
    return wg_function_load(tape, data, n, user_operations, USER_OPERATIONS, f);
}
static wg_function *loaded(const void *data, size_t n) {
    wg_function *f = NULL;
    if (load(data, n, &f) != WG_OK) fail_msg("%s", wg_tape_message(tape));
    return f;
}
static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("this text: %s\ndoes not hold: %s", text, part);
}
/* These bytes are refused, with a message that holds the part. */
static void assert_refused(const void *data, size_t n, wg_status expected, const char *part) {
    wg_function *f = (wg_function *)(uintptr_t)1;
    assert_int_equal(load(data, n, &f), expected);
    assert_null(f);
    assert_int_equal(wg_tape_status(tape), expected);
    assert_has(wg_tape_message(tape), "wg_function_load: ");
    assert_has(wg_tape_message(tape), part);
}

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

/* The format is a promise: x[2], p shared passive; y = x[0] * p + 0.5, summed. */
static const uint8_t first_version[] = {
    0x89, 'W', 'G', 'F', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0, 0, 0, 0, 0,
#define WORD(low, high) low, high, 0, 0, 0, 0, 0, 0
    WORD(280 & 255, 280 >> 8),
    /* inputs, outputs, name bytes, nodes, operands, entries, guards */
    WORD(2, 0), WORD(1, 0), WORD(3, 0), WORD(7, 0), WORD(5, 0), WORD(1, 0), WORD(1, 0),
    /* statements .. dead */
    WORD(1, 0), WORD(2, 0), WORD(3, 0), WORD(4, 0), WORD(5, 0), WORD(0, 1),
    /* arguments */
    WORD(2, 0), WORD(1, 0), 0, 0, 0, 0, 1, 0, 0, 0, 'x', /**/
    WORD(1, 0), WORD(1, 0), 3, 0, 0, 0, 1, 0, 0, 0, 'p', /**/
    WORD(1, 0), WORD(1, 0), 4, 0, 0, 0, 1, 0, 0, 0, 'y', /**/
    /* x[0], x[1], p, 0.5, mul, add, sum */
    1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f,                /**/
    3, 3, 'm', 'u', 'l', 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, /**/
    3, 3, 'a', 'd', 'd', 2, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, /**/
    8, 1, 0, 0, 0, 5, 0, 0, 0,                               /**/
    6, 0, 0, 0,                                              /**/
    0, 0, 0, 0, 3, 0, 0, 0, 2, 1,                            /**/
    0, 0, 0, 0, 0, 0, 0, 0};

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

/* ---- files of the caller's ---- */

struct slow { /* a reader that counts what was taken */
    const uint8_t *bytes;
    size_t n, taken, calls;
};
static size_t read_slow(void *ctx, void *data, size_t bytes) {
    struct slow *const o = ctx;
    const size_t n = bytes < o->n - o->taken ? bytes : o->n - o->taken;
    if (n != 0) memcpy(data, o->bytes + o->taken, n);
    o->taken += n;
    o->calls++;
    return n;
}
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
    assert_int_equal(wgi_graph_finish(&g, 1, &in, 1, &out, &y, &f), WG_OK);
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
    bytes[8] = 3;
    o = (struct slow){bytes, n, 0, 0};
    assert_int_equal(wg_function_read(tape, read_slow, &o, NULL, 0, &again), WG_EARG);
    assert_has(wg_tape_message(tape), "wg_function_read: at byte 8: version 3.0");
    assert_int_equal(o.taken, 24);
    free(bytes);
    wg_function_free(f);
}

struct full { /* refuses the k-th piece */
    size_t k, calls;
};
static int write_full(void *ctx, const char *text, size_t bytes) {
    struct full *const o = ctx;
    (void)text, (void)bytes;
    return o->calls++ >= o->k;
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

/* y = op(x) */
static wg_function *apply(const wg_scalar_op *op) {
    wgi_graph g;
    wg_function *f = NULL;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    wg_tape_reset(tape);
    wgi_graph_open(&g, wgi_core_of(tape), "apply");
    const uint32_t x = wgi_graph_input(&g, WGI_EACH), y = wgi_graph_op(&g, op, &x);
    assert_int_equal(wgi_graph_finish(&g, 1, &in, 1, &out, &y, &f), WG_OK);
    return f;
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

/* ---- damaged files ---- */

static void every_file_that_is_cut_short_is_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < SAMPLES; k++) {
        size_t n;
        wg_function *const f = sample_of(k);
        uint8_t *const bytes = bytes_of(f, &n);
        for (size_t cut = 0; cut < n; cut++) {
            /* memory of just that size: a read beyond it is seen by a sanitizer */
            uint8_t *const part = malloc(cut + 1);
            memcpy(part, bytes, cut);
            assert_refused(part, cut, WG_EARG, "byte");
            seal(part, cut); /* a shorter one, made to look whole */
            wg_function *g;
            assert_int_not_equal(load(part, cut, &g), WG_OK);
            free(part);
        }
        free(bytes);
        wg_function_free(f);
    }
}

static void every_changed_byte_is_noticed(void **state) {
    (void)state;
    for (size_t k = 0; k < SAMPLES; k++) {
        size_t n;
        wg_function *const f = sample_of(k);
        uint8_t *const bytes = bytes_of(f, &n);
        for (size_t i = 0; i < n; i++)
            for (unsigned change = 1; change < 256; change = change * 5 + 2) {
                bytes[i] ^= (uint8_t)change;
                assert_refused(bytes, n, WG_EARG, "at byte ");
                bytes[i] ^= (uint8_t)change;
            }
        free(bytes);
        wg_function_free(f);
    }
}

/* Whatever is accepted is a function in every respect. */
static size_t examine(const uint8_t *bytes, size_t n) {
    wg_function *f;
    struct full sink = {SIZE_MAX, 0};
    size_t m;
    wg_status s;
    if (load(bytes, n, &f) != WG_OK) {
        assert_null(f);
        assert_has(wg_tape_message(tape), "at byte ");
        return 0;
    }
    uint8_t *const again = bytes_of(f, &m);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    if (is_short(f)) {
        free(values(f, &s));
        assert_true(s == WG_OK || s == WG_EGUARD);
    }
    assert_int_equal(wg_function_dump(f, write_full, &sink), WG_OK);
    assert_int_equal(wg_function_dot(f, write_full, &sink), WG_OK);
    free(again);
    wg_function_free(f);
    return 1;
}

static void a_changed_byte_under_a_right_checksum_does_no_harm(void **state) {
    (void)state;
    static const uint8_t changes[] = {1, 2, 3, 4, 0x10, 0x7f, 0x80, 0xff};
    for (size_t k = 0; k < SAMPLES; k++) {
        size_t n, taken = 0;
        wg_function *const f = sample_of(k);
        uint8_t *const bytes = bytes_of(f, &n);
        for (size_t i = 0; i < n - 8; i++)
            for (size_t c = 0; c < sizeof changes; c++) {
                const uint8_t byte = bytes[i];
                bytes[i] ^= changes[c];
                seal(bytes, n);
                taken += examine(bytes, n);
                bytes[i] = byte;
            }
        /* some of them only changed a number, a flag, an operand */
        assert_in_range(taken, 1, n * sizeof changes / 2);
        free(bytes);
        wg_function_free(f);
    }
}

/* ---- files that were made to do harm ---- */

static void put(uint8_t *to, unsigned size, uint64_t x) {
    for (unsigned i = 0; i < size; i++) to[i] = (uint8_t)(x >> 8 * i);
}

static void every_rule_of_the_format_is_checked(void **state) {
    (void)state;
    enum { ARGUMENTS = 128, NODES = ARGUMENTS + 75, MUL = NODES + 12, ADD = MUL + 17 };
    enum { SUM = ADD + 17, RESULT = SUM + 9, GUARD = RESULT + 4 };
    static const struct {
        size_t at;
        unsigned size;
        uint64_t value;
        wg_status status;
        const char *message;
    } edits[] = {
        {0, 1, 'W', WG_EARG, "at byte 0: these 280 bytes are no function"},
        {7, 1, '\r', WG_EARG, "no function"},
        {8, 4, 3, WG_EARG, "at byte 8: version 3.0; this library reads 1 to 2"},
        {8, 4, 0, WG_EARG, "version 0.0"},
        {8, 4, 2, WG_EARG, "a count of 2 does not fit"}, /* repeats: rows of x */
        {12, 4, 1, WG_EARG, "version 1.1"},
        {24, 8, UINT64_MAX, WG_EARG, "at byte 24: a count of 18446744073709551615"},
        {24, 8, 9, WG_EARG, "a count of 9 does not fit"},
        {32, 8, UINT64_MAX / 24 + 2, WG_EARG, "at byte 32: a count of"},
        {40, 8, 200, WG_EARG, "at byte 40: a count of 200 does not fit"},
        {40, 8, 4, WG_EARG, "the names have 3 bytes, not 4"},
        {40, 8, 2, WG_EARG, "output 0 does not fit"},
        {48, 8, (uint64_t)1 << 31, WG_EARG, "at byte 48: a count of 2147483648"},
        {48, 8, 8, WG_EARG, "node 7"},
        {48, 8, 6, WG_EARG, "at byte"},
        {48, 8, 2, WG_EARG, "input 1 is 1 by 1, and all entries are 2"},
        {56, 8, 6, WG_EARG, "the nodes have 5 operands, not 6"},
        {56, 8, 4, WG_EARG, "node 6 does not fit"},
        {64, 8, 2, WG_EARG, "the outputs have 1 entries, not 2"},
        {64, 8, 0, WG_EARG, "output 0 is 1 by 1, and all entries are 0"},
        {72, 8, 2, WG_EARG, "10 bytes for 2 comparisons"},
        {72, 8, 0, WG_EARG, "10 bytes for 0 comparisons"},
        {80, 8, UINT64_MAX, WG_EARG, "at byte 80: a count of 18446744073709551615"},
        {ARGUMENTS, 8, (uint64_t)1 << 40, WG_EARG, "input 0 is 1099511627776 by 1"},
        {ARGUMENTS + 8, 8, (uint64_t)1 << 63, WG_EARG, "input 0 is 2 by 9223372036854775808"},
        {ARGUMENTS, 8, 3, WG_EARG, "node 3 is out of its order"},
        {ARGUMENTS, 8, 1, WG_EARG, "node 2 is out of its order"},
        {ARGUMENTS + 16, 4, 4, WG_EARG, "flags 4 of input 0"},
        {ARGUMENTS + 20, 4, 0, WG_EARG, "the name of input 0 is no word"},
        {ARGUMENTS + 20, 4, UINT32_MAX, WG_EARG, "input 0 does not fit"},
        {ARGUMENTS + 24, 1, ' ', WG_EARG, "the name of input 0 is no word"},
        {ARGUMENTS + 24, 1, 0, WG_EARG, "the name of input 0 is no word"},
        {ARGUMENTS + 24, 1, '"', WG_EARG, "the name of input 0 is no word"},
        {ARGUMENTS + 24, 1, 0xe4, WG_EARG, "the name of input 0 is no word"},
        {ARGUMENTS + 24, 1, 'p', WG_EARG, "two inputs have the name p"},
        {ARGUMENTS + 66, 4, 1, WG_EARG, "flags 1 of output 0"},
        {ARGUMENTS + 66, 4, 0, WG_EARG, "entry 0 of output 0 is a sum over the points"},
        {NODES, 1, 2, WG_EARG, "node 0 is out of its order"},
        {NODES, 1, 0, WG_EARG, "node 0 has the code 0, which is unknown"},
        {NODES, 1, 0x81, WG_EARG, "node 0 has the code 129, which is unknown"},
        {NODES + 2, 1, 9, WG_EARG, "node 2 has the code 9, which is unknown"},
        {NODES + 2, 1, 11, WG_EARG, "node 2 has the code 11, which is unknown"},
        {NODES + 3, 1, 1, WG_EARG, "node 3 is out of its order"},
        {MUL, 1, 7, WG_EMODE, "node 4 is the array operation mul, which is unknown"},
        {MUL, 1, 0x83, WG_EMODE, "node 4 is the user's operation mul, which is not given"},
        {MUL, 1, 0x87, WG_EARG, "node 4 has the code 135, which is unknown"},
        {MUL, 1, 0x86, WG_EARG, "node 4 has the code 134, which is unknown"},
        {MUL + 1, 1, 255, WG_EARG, "node 4 does not fit"},
        {MUL + 1, 1, 0, WG_EARG, "the name of the operation of node 4 is no word"},
        {MUL + 2, 1, '\n', WG_EARG, "the name of the operation of node 4 is no word"},
        {MUL + 2, 1, 'M', WG_EMODE, "node 4 is the operation Mul, which is unknown"},
        {MUL + 5, 4, 1, WG_EARG, "node 4 has 1 operands, and its operation 2"},
        {MUL + 5, 4, UINT32_MAX, WG_EARG, "node 4 has 4294967295 operands"},
        {MUL + 9, 4, 4, WG_EARG, "operand 0 of node 4 is node 4, which is not before it"},
        {MUL + 13, 4, UINT32_MAX, WG_EARG, "operand 1 of node 4 is node 4294967295"},
        {MUL + 13, 4, 1, WG_OK, NULL},
        {ADD + 9, 4, 1, WG_EARG, "nothing needs node 4"},
        {SUM + 1, 4, 2, WG_EARG, "node 6 has 2 operands, and its operation 1"},
        {SUM + 5, 4, 4, WG_EARG, "nothing needs node 5"},
        {RESULT, 4, 7, WG_EARG, "entry 0 of output 0 is node 7"},
        {RESULT, 4, 5, WG_EARG, "entry 0 of output 0 is one per point, not summed"},
        {GUARD, 4, 7, WG_EARG, "comparison 0: kind 2 of nodes 7 and 3 was 1"},
        {GUARD + 4, 4, UINT32_MAX, WG_EARG, "comparison 0: kind 2 of nodes 0 and 4294967295"},
        {GUARD + 4, 4, 6, WG_EARG, "comparison 0: a sum over the points at the points"},
        {GUARD + 8, 1, 6, WG_EARG, "comparison 0: kind 6"},
        {GUARD + 9, 1, 2, WG_EARG, "comparison 0: kind 2 of nodes 0 and 3 was 2"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        uint8_t bytes[sizeof first_version];
        memcpy(bytes, first_version, sizeof bytes);
        put(bytes + edits[i].at, edits[i].size, edits[i].value);
        seal(bytes, sizeof bytes);
        if (edits[i].status == WG_OK) assert_int_equal(examine(bytes, sizeof bytes), 1);
        else assert_refused(bytes, sizeof bytes, edits[i].status, edits[i].message);
    }
}

static void a_length_that_is_not_that_of_the_bytes_is_refused(void **state) {
    (void)state;
    uint8_t bytes[sizeof first_version + 1] = {0};
    memcpy(bytes, first_version, sizeof first_version);
    seal(bytes, sizeof first_version);
    assert_refused(bytes, sizeof bytes, WG_EARG, "280 bytes in all, and 281 are there");
    put(bytes + 16, 8, UINT64_MAX);
    assert_refused(bytes, sizeof bytes, WG_EARG, "18446744073709551615 bytes in all");
    put(bytes + 16, 8, 135);
    assert_refused(bytes, sizeof bytes, WG_EARG, "at byte 16: 135 bytes in all are too few");
    seal(bytes, sizeof bytes);
    assert_refused(bytes, sizeof bytes, WG_EARG, "11 bytes for 1 comparisons");
}

static void a_reader_is_not_asked_for_what_a_header_claims(void **state) {
    (void)state;
    struct counted m = counted_start();
    const wg_options opt = {.flags = WG_KEEP_CODE, .memory = counted_memory(&m)};
    wg_tape *const t = wg_tape_new(&opt);
    uint8_t bytes[sizeof first_version];
    memcpy(bytes, first_version, sizeof bytes);
    put(bytes + 16, 8, (uint64_t)1 << 60);
    struct slow o = {bytes, sizeof bytes, 0, 0};
    wg_function *f = NULL;
    const size_t before = m.committed;
    assert_int_equal(wg_function_read(t, read_slow, &o, NULL, 0, &f), WG_EARG);
    assert_has(wg_tape_message(t), "1152921504606846976 bytes in all, and 280 are there");
    assert_true(m.committed - before < 1 << 20);
    wg_tape_free(t);
    assert_int_equal(m.wrong + m.ranges, 0);
}

/* x per point, s shared: t2 = sum(x), t3 = mul(s, t2), t4 = sum(s). */
static void sums_are_not_used_at_the_points(void **state) {
    (void)state;
    wgi_graph g;
    wg_function *f = NULL;
    const wg_argument in[] = {{"x", 1, 1, 0}, {"s", 1, 1, WG_SHARED}};
    const wg_argument y = {"y", 2, 1, WG_SUMMED};
    wgi_graph_open(&g, wgi_core_of(tape), "sums");
    const uint32_t x = wgi_graph_input(&g, WGI_EACH), s = wgi_graph_input(&g, WGI_ONCE);
    const uint32_t product = WGI_GRAPH2(&g, mul, s, wgi_graph_sum(&g, x));
    const uint32_t result[] = {product, wgi_graph_sum(&g, s)};
    assert_int_equal(wgi_graph_finish(&g, 2, in, 1, &y, result, &f), WG_OK);
    size_t n;
    uint8_t *const bytes = bytes_of(f, &n);
    uint8_t *const sum = bytes + n - 8 - 8 - 4, *const mul = sum - 5 - 8; /* operands */
    assert_int_equal(mul[0], 1);
    assert_int_equal(mul[4], 2);
    assert_int_equal(sum[0], 1);
    mul[0] = 0;
    seal(bytes, n);
    assert_refused(bytes, n, WG_EARG, "node 3 uses a sum over the points at the points");
    mul[0] = 1;
    sum[0] = 3;
    seal(bytes, n);
    assert_refused(bytes, n, WG_EARG, "node 4 uses a sum over the points at the points");
    sum[0] = 1;
    bytes[128 + 25 + 16] = 0; /* s is not shared */
    seal(bytes, n);
    assert_refused(bytes, n, WG_EARG, "node 3 uses a sum over the points at the points");
    free(bytes);
    wg_function_free(f);
}

/* Inputs x0, x1, ... of one entry that nothing uses, no outputs, names of `width` letters in a
 * scattered order. */
static uint8_t *of_many_inputs(size_t count, size_t width, size_t *n) {
    *n = 128 + count * (24 + width) + count + 8;
    uint8_t *const bytes = calloc(*n, 1);
    assert_non_null(bytes);
    memcpy(bytes, first_version, 16);
    put(bytes + 24, 8, count);
    put(bytes + 40, 8, count * width);
    put(bytes + 48, 8, count);
    uint8_t *to = bytes + 128;
    for (size_t k = 0; k < count; k++, to += 24 + width) {
        put(to, 8, 1);
        put(to + 8, 8, 1);
        put(to + 20, 4, width);
        size_t number = k * 7919 % count;
        for (size_t i = 0; i < width; i++, number /= 10)
            to[24 + width - 1 - i] = (uint8_t)('0' + number % 10);
    }
    memset(to, 1, count);
    seal(bytes, *n);
    return bytes;
}

static void very_many_names_are_looked_through_in_short_time(void **state) {
    (void)state;
    enum { COUNT = 100000, WIDTH = 5 };
    size_t n;
    uint8_t *const bytes = of_many_inputs(COUNT, WIDTH, &n);
    wg_function *f = loaded(bytes, n);
    struct full sink = {SIZE_MAX, 0};
    assert_int_equal(wg_function_inputs(f), COUNT);
    assert_int_equal(wg_function_dot(f, write_full, &sink), WG_OK);
    wg_function_free(f);
    uint8_t *const last = bytes + 128 + (COUNT - 1) * (24 + WIDTH) + 24;
    memcpy(last, bytes + 128 + 24, WIDTH);
    seal(bytes, n);
    assert_refused(bytes, n, WG_EARG, "two inputs have the name 00000");
    free(bytes);
    for (size_t count = 0; count < 40; count++) {
        uint8_t *const few = of_many_inputs(count, 2, &n);
        f = loaded(few, n);
        wg_function_free(f);
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++) {
                uint8_t kept[2], *const name = few + 128 + a * 26 + 24;
                memcpy(kept, name, 2);
                memcpy(name, few + 128 + b * 26 + 24, 2);
                seal(few, n);
                assert_refused(few, n, WG_EARG, "two inputs have the name");
                memcpy(name, kept, 2);
            }
        free(few);
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

/* ---- text and graphs ---- */

static struct {
    size_t used;
    char bytes[1 << 14];
} out;
static int collect(void *ctx, const char *text, size_t bytes) {
    (void)ctx;
    if (out.used + bytes >= sizeof out.bytes) return 1;
    memcpy(out.bytes + out.used, text, bytes);
    out.used += bytes;
    out.bytes[out.used] = 0;
    return 0;
}
static const char *dump_of(const wg_function *f) {
    out.used = 0;
    assert_int_equal(wg_function_dump(f, collect, NULL), WG_OK);
    return out.bytes;
}
static const char *dot_of(const wg_function *f) {
    out.used = 0;
    assert_int_equal(wg_function_dot(f, collect, NULL), WG_OK);
    return out.bytes;
}

static void a_dump_has_a_line_per_operation(void **state) {
    (void)state;
    uint8_t bytes[sizeof first_version];
    memcpy(bytes, first_version, sizeof bytes);
    seal(bytes, sizeof bytes);
    wg_function *f = loaded(bytes, sizeof bytes);
    assert_string_equal(dump_of(f), "input x[2]\n"
                                    "input p shared passive\n"
                                    "output y summed\n"
                                    "t4 = mul(x[0], p)  ; each\n"
                                    "t5 = add(t4, 0.5)  ; each\n"
                                    "t6 = sum(t5)  ; after\n"
                                    "guard 0: gt(x[0], 0.5) was true\n"
                                    "y = t6\n");
    wg_function_free(f);
    f = sample_of(1);
    assert_string_equal(dump_of(f), "input x[2]\n"
                                    "input s[1,2] shared\n"
                                    "output J[2,3]\n"
                                    "output total[3] summed\n"
                                    "output c[4]\n"
                                    "t8 = area(s[0], s[1])  ; once\n"
                                    "t9 = pow.ab(s[0], t8)  ; once\n"
                                    "t10 = pow.b(x[0], x[1])  ; each\n"
                                    "t11 = softsign.aa(x[1])  ; each\n"
                                    "t12 = times(t10, t11)  ; each\n"
                                    "t13 = norm2(x[0], x[1], s[0], s[1])  ; each\n"
                                    "t14 = sum(t12)  ; after\n"
                                    "t15 = sum(t9)  ; after\n"
                                    "t16 = pow(t15, t14)  ; after\n"
                                    "guard 0: le(x[0], s[0]) was false\n"
                                    "guard 1: ne(t16, -inf) was true\n"
                                    "J[0,0] = t10\n"
                                    "J[1,0] = t9\n"
                                    "J[0,1] = t11\n"
                                    "J[1,1] = t12\n"
                                    "J[0,2] = t13\n"
                                    "J[1,2] = x[1]\n"
                                    "total[0] = t14\n"
                                    "total[1] = t16\n"
                                    "total[2] = s[1]\n"
                                    "c[0] = nan\n"
                                    "c[1] = -0\n"
                                    "c[2] = 4.94065645841247e-324\n"
                                    "c[3] = -inf\n");
    wg_function_free(f);
}

static void a_graph_has_a_cluster_per_kind_of_work(void **state) {
    (void)state;
    uint8_t bytes[sizeof first_version];
    memcpy(bytes, first_version, sizeof bytes);
    seal(bytes, sizeof bytes);
    wg_function *f = loaded(bytes, sizeof bytes);
    assert_string_equal(dot_of(f), "digraph function {\n"
                                   "    t0 [shape=box, label=\"x[0]\"];\n"
                                   "    t1 [shape=box, label=\"x[1]\"];\n"
                                   "    t2 [shape=box, label=\"p\"];\n"
                                   "    subgraph cluster_each {\n"
                                   "        label=\"each\";\n"
                                   "        t4 [label=\"t4\\nmul(x[0], p)\"];\n"
                                   "        t5 [label=\"t5\\nadd(t4, 0.5)\"];\n"
                                   "    }\n"
                                   "    subgraph cluster_after {\n"
                                   "        label=\"after\";\n"
                                   "        t6 [label=\"t6\\nsum(t5)\"];\n"
                                   "    }\n"
                                   "    t0 -> t4;\n"
                                   "    t2 -> t4;\n"
                                   "    t4 -> t5;\n"
                                   "    t5 -> t6;\n"
                                   "    g0 [shape=diamond, label=\"gt(x[0], 0.5) was true\"];\n"
                                   "    t0 -> g0;\n"
                                   "    r0 [shape=box, peripheries=2, label=\"y\"];\n"
                                   "    t6 -> r0;\n"
                                   "}\n");
    wg_function_free(f);
    f = sample_of(2);
    assert_string_equal(dot_of(f), "digraph function {\n"
                                   "    r0 [shape=box, peripheries=2, label=\"y = 0.1\"];\n"
                                   "}\n");
    wg_function_free(f);
}

static void names_are_escaped_in_graphs(void **state) {
    (void)state;
    wg_scalar_op odd = wgi_user_softsign;
    odd.name = "a \"b\\N\"\nc";
    wg_function *const f = apply(&odd);
    assert_has(dot_of(f), "    t1 [label=\"t1\\na \\\"b\\\\N\\\" c(x)\"];\n");
    assert_has(dump_of(f), "t1 = a \\\"b\\\\N\\\" c(x)  ; each\n");
    wg_function_free(f);
}

static void long_lists_of_operands_are_cut_in_graphs_only(void **state) {
    (void)state;
    enum { N = 100 };
    wgi_graph g;
    wg_function *f = NULL;
    const wg_argument in = {"x", N, 1, 0}, result = {"y", 1, 1, 0};
    uint32_t x[N];
    wgi_graph_open(&g, wgi_core_of(tape), "long");
    for (int i = 0; i < N; i++) x[i] = wgi_graph_input(&g, WGI_EACH);
    const uint32_t y = wgi_graph_array(&g, WGI_ARRAY_maximum, N, x);
    assert_int_equal(wgi_graph_finish(&g, 1, &in, 1, &result, &y, &f), WG_OK);
    assert_has(dot_of(f), "maximum(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], ...)\"");
    assert_has(out.bytes, "    t99 -> t100;\n");
    assert_has(dump_of(f), ", x[98], x[99])  ; each\n");
    wg_function_free(f);
}

/* Inputs of many shapes, some of no entries: each entry finds its own. */
static void entries_of_many_inputs_are_named(void **state) {
    (void)state;
    enum { INPUTS = 1000 };
    static wg_argument in[INPUTS];
    static char name[INPUTS][8];
    size_t n = 0;
    for (size_t k = 0; k < INPUTS; k++) {
        snprintf(name[k], sizeof name[k], "i%zu", k);
        in[k] = (wg_argument){name[k], k % 3, 1, 0};
        n += k % 3;
    }
    wgi_graph g;
    wgi_graph_open(&g, wgi_core_of(tape), "many");
    for (size_t i = 0; i < n; i++) (void)wgi_graph_input(&g, WGI_EACH);
    const wg_argument result = {"y", n, 1, 0};
    uint32_t *const y = malloc(n * sizeof *y);
    for (size_t i = 0; i < n; i++) y[i] = (uint32_t)i;
    wg_function *f = NULL;
    assert_int_equal(wgi_graph_finish(&g, INPUTS, in, 1, &result, y, &f), WG_OK);
    free(y);
    FILE *const file = tmpfile();
    assert_non_null(file);
    assert_int_equal(wg_function_dump(f, wg_write_file, file), WG_OK);
    rewind(file);
    char line[64], expected[64];
    for (size_t k = 0; k <= INPUTS; k++) assert_non_null(fgets(line, sizeof line, file));
    for (size_t k = 0, j = 0; k < INPUTS; k++)
        for (size_t e = 0; e < k % 3; e++, j++) {
            assert_non_null(fgets(line, sizeof line, file));
            if (k % 3 == 1) snprintf(expected, sizeof expected, "y[%zu] = i%zu\n", j, k);
            else snprintf(expected, sizeof expected, "y[%zu] = i%zu[%zu]\n", j, k, e);
            assert_string_equal(line, expected);
        }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    wg_function_free(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)

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
        TEST(covariances_are_loaded_without_being_told_of),
        TEST(what_is_loaded_gives_the_same_bits),
        TEST(what_is_loaded_is_saved_as_the_same_bytes),
        TEST(what_is_loaded_can_be_differentiated),
        TEST(saving_tells_how_much_room_it_needs),
        TEST(files_of_the_first_version_are_read),
        TEST(several_functions_stand_in_one_file),
        TEST(a_long_function_is_read_piece_by_piece),
        TEST(what_cannot_be_written_is_told),
        TEST(operations_of_the_users_are_given_again_by_name),
        TEST(an_operation_without_the_partials_of_the_file_is_refused),
        TEST(names_that_no_file_can_hold_are_not_saved),
        TEST(every_file_that_is_cut_short_is_refused),
        TEST(every_changed_byte_is_noticed),
        TEST(a_changed_byte_under_a_right_checksum_does_no_harm),
        TEST(every_rule_of_the_format_is_checked),
        TEST(a_length_that_is_not_that_of_the_bytes_is_refused),
        TEST(a_reader_is_not_asked_for_what_a_header_claims),
        TEST(sums_are_not_used_at_the_points),
        TEST(very_many_names_are_looked_through_in_short_time),
        TEST(every_failing_allocation_is_survived),
        TEST(a_tape_is_left_empty_and_in_its_mode),
        TEST(null_is_answered),
        TEST(a_dump_has_a_line_per_operation),
        TEST(a_graph_has_a_cluster_per_kind_of_work),
        TEST(names_are_escaped_in_graphs),
        TEST(long_lists_of_operands_are_cut_in_graphs_only),
        TEST(entries_of_many_inputs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
