/* SPDX-License-Identifier: MIT */
/* test_function_file_hostile.c - files of functions that are cut short, damaged, or made to do
 * harm. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <time.h>
#include "tape/function/make/finish.h"
#include "counted.h"
#include "file_case.h"

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
            for (size_t c = (i + k) % 4; c < sizeof changes; c += 4) {
                const uint8_t byte = bytes[i];
                bytes[i] ^= changes[c];
                seal(bytes, n);
                taken += examine(bytes, n);
                bytes[i] = byte;
            }
        /* some of them only changed a number, a flag, an operand */
        assert_in_range(taken, 1, n * sizeof changes / 8);
        free(bytes);
        wg_function_free(f);
    }
}

/* ---- files that were made to do harm ---- */

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
        {8, 4, 4, WG_EARG, "at byte 8: version 4.0; this library reads 1 to 3"},
        {8, 4, 0, WG_EARG, "version 0.0"},
        {8, 4, 2, WG_EARG, "a count of 2 does not fit"}, /* repeats: rows of x */
        {12, 4, 1, WG_EARG, "no operation has a former name of one of the library's"},
        {12, 4, 2, WG_EARG, "version 1.2"},
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
    assert_int_equal(wgi_function_finish(&g, 2, in, 1, &y, result, &f), WG_OK);
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

/* Evaluation adds up a node once. */
static void a_node_has_one_sum(void **state) {
    (void)state;
    wgi_graph g;
    wg_function *f = NULL;
    const wg_argument in = {"x", 2, 1, 0}, y = {"y", 2, 1, WG_SUMMED};
    wgi_graph_open(&g, wgi_core_of(tape), "sums");
    const uint32_t x = wgi_graph_input(&g, WGI_EACH), z = wgi_graph_input(&g, WGI_EACH);
    const uint32_t result[] = {wgi_graph_sum(&g, x), wgi_graph_sum(&g, z)};
    assert_int_equal(wgi_function_finish(&g, 1, &in, 1, &y, result, &f), WG_OK);
    size_t n;
    uint8_t *const bytes = bytes_of(f, &n), *const operand = bytes + n - 8 - 8 - 4;
    assert_int_equal(operand[0], 1);
    operand[0] = 0;
    seal(bytes, n);
    assert_refused(bytes, n, WG_EARG, "node 3 is the sum of node 0 once more");
    free(bytes);
    wg_function_free(f);
}

/* Rows of no columns, without end: what goes through them would have no end, either. */
static void empty_arguments_have_no_unbounded_sizes(void **state) {
    (void)state;
    size_t n;
    wg_function *const f = sample_of(2);
    uint8_t *const bytes = bytes_of(f, &n), *const empty = bytes + 128 + 25; /* 0 by 7 */
    assert_int_equal(empty[8], 7);
    for (uint64_t size = UINT32_MAX / 4; size < UINT64_MAX / 4; size *= 2) {
        put(empty + 8, 8, size);
        seal(bytes, n);
        assert_refused(bytes, n, WG_EARG, "output 1 is 0 by ");
    }
    put(empty + 8, 8, 0);
    put(empty, 8, (uint64_t)1 << 40);
    seal(bytes, n);
    assert_refused(bytes, n, WG_EARG, "output 1 is 1099511627776 by 0");
    free(bytes);
    wg_function_free(f);
}

static wg_status projector(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)m, (void)data;
    const wg_mat v = wg_null_space(t, wg_mat_gather(t, 1, n, x), -1);
    y[0] = wg_mat_sum(t, wg_gemm(t, 'N', 'T', 1, v, v, 0, v));
    return wg_tape_status(t);
}

/* Of a null space the columns stand in no operand: there are no more than the matrix has. */
static void a_null_space_is_no_larger_than_its_matrix(void **state) {
    (void)state;
    enum { N = 3 };
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    const double x[N] = {1, 2, 3};
    static const char name[] = "wg_null_space";
    wg_function *f;
    size_t n, at = 0;
    assert_int_equal(wg_function_record(tape, projector, NULL, 1, &in, x, 1, &out, &f), WG_OK);
    uint8_t *const bytes = bytes_of(f, &n);
    while (memcmp(bytes + at, name, sizeof name - 1) != 0) at++;
    uint8_t *const columns = bytes + at + sizeof name - 1 + 8;
    assert_int_equal(columns[0], N - 1);
    for (uint64_t k = N + 1; k < UINT32_MAX / 8; k = k * 5) {
        put(columns, 4, k);
        seal(bytes, n);
        assert_refused(bytes, n, WG_EARG, "wg_null_space of sizes 1, 3 and ");
    }
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

/* An operation of very many operands, each of which only it needs. */
static void very_many_operands_are_ordered_in_short_time(void **state) {
    (void)state;
    enum { COUNT = 100000, SECONDS = 6 }; /* some milliseconds; if each looked for all: 18 */
    wgi_graph g;
    wg_function *f = NULL;
    size_t n;
    const wg_argument in = {"x", COUNT, 1, 0}, y = {"y", 1, 1, 0};
    uint32_t *const x = malloc(COUNT * sizeof *x);
    wgi_graph_open(&g, wgi_core_of(tape), "many");
    for (size_t i = 0; i < COUNT; i++) x[i] = wgi_graph_input(&g, WGI_EACH);
    for (size_t i = 0; i < COUNT; i++) x[i] = WGI_GRAPH1(&g, sin, x[i]);
    *x = wgi_graph_array(&g, WGI_ARRAY_maximum, COUNT, x);
    const clock_t start = clock();
    assert_int_equal(wgi_function_finish(&g, 1, &in, 1, &y, x, &f), WG_OK);
    uint8_t *const bytes = bytes_of(f, &n);
    wg_function_free(loaded(bytes, n));
    assert_true(clock() - start < SECONDS * CLOCKS_PER_SEC);
    free(x), free(bytes);
    wg_function_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_file_that_is_cut_short_is_refused),
        TEST(every_changed_byte_is_noticed),
        TEST(a_changed_byte_under_a_right_checksum_does_no_harm),
        TEST(every_rule_of_the_format_is_checked),
        TEST(a_length_that_is_not_that_of_the_bytes_is_refused),
        TEST(a_reader_is_not_asked_for_what_a_header_claims),
        TEST(sums_are_not_used_at_the_points),
        TEST(a_node_has_one_sum),
        TEST(empty_arguments_have_no_unbounded_sizes),
        TEST(a_null_space_is_no_larger_than_its_matrix),
        TEST(very_many_names_are_looked_through_in_short_time),
        TEST(very_many_operands_are_ordered_in_short_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
