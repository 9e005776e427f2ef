/* SPDX-License-Identifier: MIT */
/* Blocks on a tape: small ones recorded inline, dumps, chunks, buffers, marks, replays. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

#include "tape/engine/tape.h"
#include "times_op.h"

/* ---- small elementwise operations, recorded inline ---- */

/* A chain of all four, on blocks of four elements: inline, or by the functions. */
static wg_mat chain(wg_tape *t, int inlined, wg_mat x, wg_mat c) {
    wg_mat y = x;
    for (int i = 0; i < 7; i++) {
        if (inlined) {
            y = wg_mat_mul(t, wg_mat_add(t, y, c), x);
            y = wg_mat_div(t, wg_mat_sub(t, y, x), wg_mat_add(t, x, x));
        } else {
            y = (wg_mat_mul)(t, (wg_mat_add)(t, y, c), x);
            y = (wg_mat_div)(t, (wg_mat_sub)(t, y, x), (wg_mat_add)(t, x, x));
        }
    }
    return y;
}

static void small_operations_are_those_of_any_size(void **state) {
    (void)state;
    const double v[35] = {1.5, -2, 0.25, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5,
                          6,   7,  8,    9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4};
    const size_t sizes[][2] = {{4, 1}, {1, 1}, {3, 1}, {1, 5}, {2, 3}, {32, 1}, {35, 1}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t rows = sizes[k][0], cols = sizes[k][1];
        double value[2][35], g[2][35], lane[2][35];
        uint64_t bytes[2];
        for (int inlined = 0; inlined < 2; inlined++) {
            wg_tape *t = wg_tape_new(NULL);
            wg_mat x = wg_mat_input(t, rows, cols, v, rows);
            wg_mat c = wg_mat_constant(t, rows, cols, v, rows);
            wg_mat y = chain(t, inlined, x, c);
            wg_stats s;
            assert_int_equal(wg_tape_stats(t, &s), WG_OK);
            assert_int_equal(s.records, 35);
            bytes[inlined] = s.payload_bytes;
            assert_int_equal(wg_mat_value(t, y, value[inlined], rows), WG_OK);
            assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, x, g[inlined], rows), WG_OK);
            const wg_real root = wg_mat_at(y, rows - 1, cols - 1);
            const double w[3] = {1, 2, 3};
            assert_int_equal(wg_reverse_lanes(t, 3, 1, &root, w), WG_OK);
            assert_int_equal(wg_mat_adjoint_lane(t, x, 2, lane[inlined], rows), WG_OK);
            wg_tape_free(t);
        }
        assert_memory_equal(value[0], value[1], rows * cols * sizeof(double));
        for (size_t i = 0; i < rows * cols; i++) {
            assert_true(fabs(g[0][i] - g[1][i]) <= 1e-14 * fabs(g[0][i]));
            assert_true(fabs(lane[0][i] - lane[1][i]) <= 1e-14 * fabs(lane[0][i]));
        }
        assert_true(rows * cols <= 32 ? bytes[1] < bytes[0] : bytes[1] == bytes[0]);
    }
}

static void small_operations_keep_the_zero_rule_and_their_place(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL), *other = wg_tape_new(NULL);
    const double v[3] = {INFINITY, 2, 3}, z[3] = {0, 1, 1};
    wg_mat a = wg_mat_input(t, 3, 1, v, 3), b = wg_mat_input(t, 3, 1, z, 3);
    wg_mat y = wg_mat_mul(t, a, b);
    double g[3];
    const double w[3] = {0, 1, 0};
    assert_int_equal(wg_mat_reverse(t, y, w, 3), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, b, g, 3), WG_OK);
    assert_true(g[0] == 0 && g[1] == 2 && g[2] == 0); /* 0 * inf is 0 */
    y = wg_mat_div(t, b, wg_mat_sub(t, b, b));
    assert_int_equal(wg_mat_reverse(t, y, w, 3), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
    assert_true(g[0] == 0 && g[1] == 0);
    /* broadcasting and views go the general way; a forgotten or foreign operand is found */
    y = wg_mat_add(t, a, wg_mat_transpose(b));
    assert_true(y.rows == 3 && y.cols == 3);
    const wg_mark m = wg_tape_mark(t);
    wg_mat late = wg_mat_add(t, a, b);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    (void)wg_mat_add(t, late, late);
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    (void)wg_mat_add(other, a, b);
    assert_int_equal(wg_tape_status(other), WG_ESTALE);
    assert_true(wg_mat_add(NULL, a, b).value == NULL);
    wg_tape_free(t);
    wg_tape_free(other);
}

/* Operations on vectors of 1 to 8, whose operands are now and then the latest result, views
 * that overlap, or constants. */
static wg_mat wander(wg_tape *t, uint64_t seed, wg_mat x) {
    wg_mat all[60] = {x};
    wg_mat y = x;
    for (size_t made = 1; made < sizeof all / sizeof *all; made++) {
        const uint64_t r = (seed = seed * 6364136223846793005 + 1442695040888963407) >> 33;
        const size_t n = r % 3 == 0 ? 1 + r / 3 % 8 : 4;
        wg_mat in[2];
        for (size_t k = 0; k < 2; k++) {
            const uint64_t q = r >> (8 + 8 * k);
            wg_mat a = q % 4 != 0 && y.rows >= n ? y : all[q / 4 % made];
            if (a.rows < n) a = x;
            in[k] = wg_mat_block(a, q / 16 % (a.rows - n + 1), 0, n, 1);
        }
        if (r % 7 == 0) in[r % 2] = wg_mat_fill(t, n, 1, 0.75);
        switch (r / 7 % 5) {
        case 0:
            y = wg_mat_sub(t, in[0], in[1]);
            break;
        case 1:
            y = wg_mat_div(t, in[0], wg_mat_add(t, wg_mat_mul(t, in[1], in[1]), in[1]));
            break;
        case 2:
            y = wg_mat_add(t, in[0], in[1]);
            break;
        default:
            y = wg_mat_mul(t, in[0], in[1]);
        }
        all[made] = y;
    }
    return y;
}

/* A sweep of one adjoint has vectors and what it remembers, one of lanes has neither. */
static void short_vectors_have_the_same_bits_in_lanes(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    double v[20], g[20], lane[20];
    size_t moved = 0;
    for (size_t i = 0; i < 20; i++) v[i] = 0.8 + 0.07 * (double)i;
    for (uint64_t seed = 1; seed < 400; seed++) {
        wg_tape_reset(t);
        const wg_mat x = wg_mat_input(t, 20, 1, v, 20);
        const wg_mat y = wander(t, seed, x);
        if (y.at.slot == 0) continue;
        const wg_real root[2] = {wg_mat_at(y, 0, 0), wg_mat_at(y, y.rows - 1, 0)};
        const double w[4] = {0.3, 1, -0.7, 1};
        const double one[2] = {w[0], w[2]};
        assert_int_equal(wg_reverse_lanes(t, 2, 2, root, w), WG_OK);
        assert_int_equal(wg_mat_adjoint_lane(t, x, 0, lane, 20), WG_OK);
        assert_int_equal(wg_reverse_seeds(t, 2, root, one), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, x, g, 20), WG_OK);
        for (size_t i = 0; i < 20; i++) {
            if (g[i] == g[i]) assert_memory_equal(&g[i], &lane[i], sizeof *g);
            else assert_true(lane[i] != lane[i]);
            moved += g[i] == g[i] && g[i] != 0;
        }
    }
    assert_true(moved > 1000);
    wg_tape_free(t);
}

static void vectors_of_four_keep_the_zero_rule(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double v[4] = {INFINITY, 2, NAN, 3}, z[4] = {0, 1, 0, -INFINITY};
    const double w[4] = {0, 1, 0, 1};
    double g[4];
    wg_mat a = wg_mat_input(t, 4, 1, v, 4), b = wg_mat_input(t, 4, 1, z, 4);
    const wg_mat y = wg_mat_mul(t, a, b);
    assert_int_equal(wg_mat_reverse(t, y, w, 4), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, b, g, 4), WG_OK);
    assert_true(g[0] == 0 && g[1] == 2 && g[2] == 0 && g[3] == 3);
    assert_int_equal(wg_mat_adjoint(t, a, g, 4), WG_OK);
    assert_true(g[0] == 0 && g[1] == 1 && g[2] == 0 && g[3] == -INFINITY);
    wg_tape_free(t);
}

/* ---- looking into the tape ---- */

struct sink {
    char text[4000];
    size_t used;
};

static int collect(void *ctx, const char *text, size_t bytes) {
    struct sink *k = ctx;
    if (k->used + bytes >= sizeof k->text) return 1;
    memcpy(k->text + k->used, text, bytes);
    k->used += bytes;
    k->text[k->used] = 0;
    return 0;
}

static void dumps_show_a_block_as_one_line(void **state) {
    (void)state;
    for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags++) {
        wg_options o;
        memset(&o, 0, sizeof o);
        o.flags = flags;
        wg_tape *t = wg_tape_new(&o);
        wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_constant(t, 3, 1, X, 3);
        wg_mat y = multiply(t, &times_op, a, x);
        wg_real z = wg_let(t, wg_mul(3, wg_mat_at(y, 1, 0)));
        (void)wg_mat_gather(t, 1, 2, (wg_real[]){z, wg_mat_at(a, 0, 0)});
        struct sink k;
        k.used = 0;
        assert_int_equal(wg_tape_dump(t, collect, &k), WG_OK);
        assert_non_null(strstr(k.text, "\ns7 to s8: times of s1 2x3, constant 3x1\ns9"));
        assert_non_null(strstr(k.text, "s10 to s11: wg_mat_gather of s9, s1\n"));
        assert_non_null(strstr(k.text, "s6"));
        assert_non_null(strstr(k.text, "3 s8"));
        k.used = 0;
        assert_int_equal(wg_tape_dot(t, collect, &k), WG_OK);
        assert_non_null(strstr(k.text, "s7 [shape=box3d, label=\"s7 to s8\\ntimes\"];"));
        assert_non_null(strstr(k.text, "s7 -> s9 [label=\"3\"];")); /* from the block's node */
        assert_non_null(strstr(k.text, "s1 -> s7"));
        assert_non_null(strstr(k.text, "s9 -> s10;"));
        wg_tape_free(t);
    }
}

static void a_traced_tape_names_the_block(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_TRACE;
    wg_tape *t = wg_tape_new(&o);
    const double bad[3] = {1, INFINITY, -INFINITY};
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, bad, 3);
    (void)multiply(t, &times_op, a, x);
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    assert_non_null(strstr(wg_tape_message(t), "times of 2x3, 3x1"));
    wg_tape_reset(t);
    const double zero[3] = {1, 0, 2};
    x = wg_mat_input(t, 3, 1, zero, 3);
    wg_mat root = wg_mat_sqrt(t, x), other = wg_mat_sqrt(t, x);
    other = wg_mat_add(t, other, other);
    assert_int_equal(wg_mat_reverse(t, wg_mat_sub(t, root, other), NULL, 0), WG_ENONFINITE);
    assert_string_equal(wg_tape_message(t), "a sweep: wg_mat_sqrt of 3x1: the adjoint of an "
                                            "operand became NaN");
    wg_tape_reset(t);
    x = wg_mat_input(t, 3, 1, zero, 3);
    other = wg_mat_sqrt(t, wg_mat_add(t, x, x)), root = wg_mat_sqrt(t, x);
    assert_int_equal(wg_mat_reverse(t, wg_mat_sub(t, root, other), NULL, 0), WG_ENONFINITE);
    assert_string_equal(wg_tape_message(t),
                        "a sweep: wg_mat_add of 3x1, 3x1: the adjoint of an "
                        "operand became NaN");
    wg_tape_reset(t);
    const wg_real v = wg_input(t, 0), w = wg_let(t, wg_mul(wg_input(t, 2), wg_input(t, 3)));
    const wg_mat both = wg_mat_sqrt(t, wg_mat_gather(t, 2, 1, (const wg_real[]){v, v}));
    const wg_real zero_of = wg_let(t, wg_sub(wg_mat_at(both, 0, 0), wg_mat_at(both, 1, 0)));
    assert_int_equal(wg_reverse(t, wg_let(t, wg_add(zero_of, w))), WG_ENONFINITE);
    assert_string_equal(wg_tape_message(t),
                        "a sweep: wg_mat_gather of 2 variables: the adjoint of "
                        "element 0, slot 1, becomes nan");
    wg_tape_free(t);
}

static void slots_and_budgets_are_kept(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.max_slots = 12;
    wg_tape *t = wg_tape_new(&o);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    wg_mat y = multiply(t, &times_op, a, x);
    assert_int_equal(wg_tape_status(t), WG_OK);
    const wg_mark m = wg_tape_mark(t);
    (void)multiply(t, &times_op, a, x);
    assert_int_equal(wg_tape_status(t), WG_ESLOTS);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    wg_real last = wg_let(t, wg_exp(wg_mat_at(y, 0, 0)));
    assert_int_equal(wg_tape_status(t), WG_OK);
    (void)wg_let(t, wg_exp(last));
    assert_int_equal(wg_tape_status(t), WG_ESLOTS);
    wg_tape_free(t);

    memset(&o, 0, sizeof o);
    o.budget = 1 << 20;
    t = wg_tape_new(&o);
    a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    const wg_mark start = wg_tape_mark(t);
    y = multiply(t, &times_op, a, x);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK); /* the sweep has its memory */
    int done = 0;
    while (wg_tape_status(t) == WG_OK) (void)multiply(t, &times_op, a, x), done++;
    assert_int_equal(wg_tape_status(t), WG_EBUDGET);
    assert_true(done > 500);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    y = multiply(t, &times_op, a, x);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    wg_tape_free(t);

    static char buffer[1 << 20];
    memset(&o, 0, sizeof o);
    o.buffer = buffer;
    o.buffer_bytes = sizeof buffer;
    t = wg_tape_new(&o);
    a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    for (int i = 0; i < 100; i++) y = multiply(t, &times_op, a, x);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    double g[3];
    assert_int_equal(wg_mat_adjoint(t, x, g, 3), WG_OK);
    assert_true(g[0] == 3);
    wg_tape_free(t);
}

static void a_checked_tape_finds_forgotten_matrices(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_CHECKED;
    wg_tape *t = wg_tape_new(&o);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    const wg_mark m = wg_tape_mark(t);
    wg_mat old = wg_mat_input(t, 3, 1, X, 3);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    wg_mat fresh = wg_mat_input(t, 3, 1, X, 3);
    wg_mat y = multiply(t, &times_op, a, x);
    y = multiply(t, &times_op, a, fresh);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    (void)multiply(t, &times_op, a, old);
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_free(t);
}

/* ---- chunks, buffers, marks ---- */

static wg_tape *small_chunks(unsigned flags) {
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = flags;
    o.reserve = 1 << 20;
    return wg_tape_new(&o);
}

static void statements_follow_blocks_into_the_next_chunk_of_records(void **state) {
    (void)state;
    wg_tape *t = small_chunks(0);
    const double one = 1;
    wg_mat x = wg_mat_input(t, 1, 1, &one, 1);
    for (int i = 0; i < 40000; i++) (void)wg_mat_exp(t, x); /* a record each: over 1 MB */
    wg_real s = wg_mat_at(x, 0, 0);
    for (int i = 0; i < 40000; i++) s = wg_let(t, wg_mul(s, 1.0));
    wg_mat small = wg_mat_gather(t, 1, 1, &s);
    s = wg_mat_at(wg_mat_mul(t, small, small), 0, 0);
    assert_int_equal(wg_reverse(t, s), WG_OK);
    assert_true(wg_adjoint(t, wg_mat_at(x, 0, 0)) == 2);
    wg_tape_free(t);
}

static void small_operations_keep_the_limit_of_slots(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.max_slots = 1000;
    wg_tape *t = wg_tape_new(&o);
    double a[32] = {1};
    wg_stats st;
    wg_mat x = wg_mat_input(t, 32, 1, a, 32);
    (void)wg_mat_exp(t, x); /* the tape has room for records now */
    for (int i = 0; i < 28; i++) (void)wg_mat_add(t, x, x);
    wg_real s = wg_mat_at(x, 0, 0);
    for (int i = 0; i < 1000; i++) s = wg_let(t, wg_mul(s, 2.0));
    assert_int_equal(wg_tape_status(t), WG_ESLOTS);
    assert_int_equal(wg_tape_stats(t, &st), WG_OK);
    assert_int_equal(st.slots, 1000);
    wg_tape_free(t);
}

static size_t recorded_inline(wg_tape *t, size_t operations) {
    const double v[4] = {1, 2, 3, 4};
    wg_tape_reset(t);
    const wg_mat x = wg_mat_input(t, 4, 1, v, 4);
    wg_mat y = x;
    for (size_t i = 0; i < operations; i++) y = wg_mat_add(t, y, x);
    assert_int_equal(wg_tape_status(t), WG_OK);
    size_t n = 0;
    for (const wgi_block *b = wgi_core_of(t)->head.last_block; b != NULL; b = b->prev)
        n += b->op == &wgi_small_op;
    return n;
}

/* More of them than there was room for at first, and nothing but them: the first few after
 * every growth are the exception. */
static void small_operations_stay_inline_in_a_recording_of_nothing_else(void **state) {
    (void)state;
    enum { MANY = 20000 };
    const wg_options options[] = {{.flags = 0}, {.max_slots = 4 * MANY + 100}};
    for (size_t k = 0; k < 2; k++) {
        wg_tape *const t = wg_tape_new(&options[k]);
        for (int turn = 0; turn < 2; turn++)
            assert_in_range(recorded_inline(t, MANY), MANY - MANY / 50, MANY);
        wg_tape_free(t);
    }
}

/* So many elements that their number is a small one, in 64 bits. */
static void small_operations_refuse_shapes_that_wrap_around(void **state) {
    const size_t rows = SIZE_MAX / 3 + 1, cols = 3;
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const double x[2] = {1, 2};
    wg_mat a = wg_mat_input(t, 2, 1, x, 2);
    assert_int_equal(rows * cols, 2);
    a.rows = a.ld = rows, a.cols = cols;
    const wg_mat y = wg_mat_add(t, a, a);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_null(y.value);
    wg_tape_free(t);
}

static void an_empty_matrix_takes_room_in_a_buffer(void **state) {
    (void)state;
    enum { BYTES = 1 << 20, FENCE = 64 };
    static _Alignas(64) unsigned char buffer[BYTES + FENCE];
    memset(buffer + BYTES, 0x5a, FENCE);
    wg_options o;
    memset(&o, 0, sizeof o);
    o.buffer = buffer, o.buffer_bytes = BYTES;
    wg_tape *t = wg_tape_new(&o);
    assert_non_null(wg_mat_constant(t, 0, 0, NULL, 0).value);
    (void)wg_mat_exp(t, wg_mat_input(t, 2, 3, A, 2));
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
    for (int i = 0; i < FENCE; i++) assert_int_equal(buffer[BYTES + i], 0x5a);
}

static void a_check_of_an_operation_at_the_end_of_a_chunk(void **state) {
    (void)state;
    wg_tape *t = small_chunks(0);
    enum { LONG = 1000 };
    double *const a = wg_tape_keep(t, LONG * sizeof(double), NULL);
    for (int i = 0; i < LONG; i++) a[i] = 0.001 * i;
    wg_mat row = wg_mat_constant(t, 1, LONG, a, 1), x = wg_mat_input(t, LONG, 1, a, LONG);
    assert_non_null(wg_tape_keep(t, (1 << 20) - 3 * LONG * sizeof(double) - 3000, NULL));
    const wg_mat in[] = {row, x};
    assert_int_equal(wg_check_op(t, &times_op, NULL, 0, 2, in, 1), WG_OK);
    for (int i = 0; i < 1000; i++) (void)wg_mat_constant(t, LONG, 1, a, LONG);
    wg_mat y = multiply(t, &times_op, row, x);
    assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
    assert_true(wg_adjoint(t, wg_mat_at(x, 3, 0)) == a[3]);
    wg_tape_free(t);
}

static wg_status busy_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    b->work_bytes = 1200000;
    return WG_OK;
}
static wg_status busy_value(wg_block *b) {
    memset(b->work, 0xff, 1200000);
    for (size_t i = 0; i < b->in[0].rows; i++) b->out[0].value[i] = 2 * b->in[0].value[i];
    return WG_OK;
}
static wg_status busy_vjp(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++) b->in[0].bar[i] += 2 * b->out[0].bar[i];
    return WG_OK;
}
static const wg_block_op busy_op = {"busy",   0,    busy_shape, busy_value,
                                    busy_vjp, NULL, NULL, NULL,       NULL};

static void a_replay_with_blocks_keeps_its_workspace(void **state) {
    (void)state;
    wg_tape *t = small_chunks(WG_KEEP_CODE); /* workspace beyond its first range */
    enum { LONG = 5000 };
    static double a[LONG];
    static wg_real x[LONG];
    assert_int_equal(wg_inputs(t, LONG, a, x), WG_OK);
    wg_mat m = wg_mat_gather(t, LONG, 1, x), y;
    assert_int_equal(wg_apply(t, &busy_op, NULL, 0, 1, &m, 1, &y), WG_OK);
    wg_real s = wg_sum(t, LONG, x);
    s = wg_let(t, wg_mul(s, wg_mat_at(y, 1, 0)));
    for (int i = 0; i < LONG; i++) a[i] = 1;
    assert_int_equal(wg_tape_replay(t, LONG, x, a), WG_OK);
    assert_true(wg_tape_value(t, s) == 2 * LONG);
    wg_tape_free(t);
}

static void a_replayed_statement_leaves_the_block_behind_it(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    const double v[2] = {0.5, 0.25};
    double g[2];
    wg_real x[2];
    assert_int_equal(wg_inputs(t, 2, v, x), WG_OK);
    wg_real s = wg_let(t, wg_add(wg_mul(x[0], x[1]), wg_mul(3.0, x[0]))); /* x0 twice */
    wg_mat y = wg_mat_square(t, wg_mat_gather(t, 1, 1, &s));
    for (int k = 0; k < 3; k++) {
        assert_int_equal(wg_mat_reverse(t, y, NULL, 0), WG_OK);
        assert_int_equal(wg_adjoints(t, 2, x, g), WG_OK);
        assert_true(g[0] == 2 * 1.625 * 3.25 && g[1] == 2 * 1.625 * 0.5);
        assert_int_equal(wg_tape_replay(t, 2, x, v), WG_OK);
    }
    wg_tape_free(t);
}

static void a_replay_stopped_by_a_block_is_cleared_by_a_reset_only(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    wg_real x = wg_input(t, 4);
    (void)wg_cholesky(t, wg_mat_gather(t, 1, 1, &x));
    const wg_mark m = wg_tape_mark(t);
    const double minus = -1;
    assert_int_equal(wg_tape_replay(t, 1, &x, &minus), WG_ESINGULAR);
    assert_int_equal(wg_tape_rewind(t, m), WG_ESINGULAR);
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    wg_tape_reset(t);
    const wg_mark again = wg_tape_mark(t);
    assert_int_equal(wg_tape_rewind(t, again), WG_OK);
    wg_tape_free(t);
}

static void marks_die_where_only_payload_was_forgotten(void **state) {
    (void)state;
    enum { LONG = 1 << 17, LONGER = 1 << 19 };
    static double a[LONGER];
    wg_tape *t = small_chunks(0);
    (void)wg_input(t, 2);
    (void)wg_mat_constant(t, 10, 1, a, 10);
    const wg_mark first = wg_tape_mark(t);
    (void)wg_mat_constant(t, LONG, 1, a, LONG); /* the next chunk */
    (void)wg_mat_constant(t, LONG / 4, 1, a, LONG);
    const wg_mark later = wg_tape_mark(t);
    assert_int_equal(wg_tape_rewind(t, first), WG_OK);
    (void)wg_mat_constant(t, LONGER, 1, a, LONGER); /* another in its place */
    assert_int_equal(wg_tape_rewind(t, later), WG_EMARK);
    assert_int_equal(wg_tape_rewind(t, first), WG_OK);
    wg_tape_free(t);
}

static void marks_die_where_only_a_gather_was_forgotten(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    wg_real x[3];
    assert_int_equal(wg_inputs(t, 3, X, x), WG_OK);
    const wg_mark first = wg_tape_mark(t);
    (void)wg_mat_gather(t, 3, 1, x); /* a record without slots */
    const wg_mark later = wg_tape_mark(t);
    assert_int_equal(wg_tape_rewind(t, first), WG_OK);
    (void)wg_mat_constant(t, 2, 3, A, 2);
    wg_real y = wg_let(t, wg_mul(x[0], x[1]));
    assert_int_equal(wg_tape_rewind(t, later), WG_EMARK);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x[0]) == X[1]);
    wg_tape_free(t);
}

static void a_rewind_in_a_buffer_gives_all_payload_back(void **state) {
    (void)state;
    static _Alignas(64) unsigned char buffer[4 << 20];
    static double a[1 << 13];
    wg_options o;
    memset(&o, 0, sizeof o);
    o.buffer = buffer, o.buffer_bytes = sizeof buffer;
    wg_tape *t = wg_tape_new(&o);
    (void)wg_mat_constant(t, 1000, 1, a, 1000);
    wg_tape_reset(t);
    const wg_mark m = wg_tape_mark(t); /* at the start of a chunk, and the end of another */
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) (void)wg_mat_constant(t, 1 << 13, 1, a, 1 << 13);
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        wg_stats st;
        assert_int_equal(wg_tape_stats(t, &st), WG_OK);
        assert_int_equal(st.payload_bytes, 0);
    }
    wg_tape_free(t);
}

static void a_forward_tape_that_keeps_code_has_the_values_of_blocks(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    assert_int_equal(wg_tape_forward(t, 1), WG_OK);
    wg_mat a = wg_mat_input(t, 2, 3, A, 2), x = wg_mat_input(t, 3, 1, X, 3);
    wg_mat y = multiply(t, &times_op, a, x);
    const wg_real ends[] = {wg_mat_at(y, 1, 0), wg_mat_at(x, 0, 0)};
    wg_mat g = wg_mat_gather(t, 2, 1, ends);
    assert_true(wg_tape_value(t, wg_mat_at(y, 0, 0)) == 8);
    assert_true(wg_tape_value(t, wg_mat_at(g, 0, 0)) == 10);
    assert_true(wg_tape_value(t, wg_mat_at(g, 1, 0)) == 1);
    wg_tape_free(t);
}

static void a_checked_tape_finds_foreign_and_forgotten_constants(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_CHECKED;
    wg_tape *t = wg_tape_new(&o), *other = wg_tape_new(&o);
    double v[3];
    wg_mat a = wg_mat_constant(t, 2, 3, A, 2), lent = wg_mat_constant_borrowed(t, 3, 1, X, 3);
    const wg_mark m = wg_tape_mark(t);
    wg_mat late = wg_mat_constant(t, 3, 1, X, 3);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    (void)multiply(t, &times_op, a, lent); /* from before the mark */
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    assert_int_equal(wg_mat_value(t, late, v, 3), WG_ESTALE);
    (void)multiply(t, &times_op, a, wg_mat_constant(other, 3, 1, X, 3));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_reset(t);
    assert_int_equal(wg_mat_value(t, lent, v, 3), WG_ESTALE);
    wg_tape_free(t);
    wg_tape_free(other);
}

static void an_operation_without_workspace_lacks_none(void **state) {
    int done = 0;
    (void)state;
    for (size_t budget = 4096; !done; budget += 4096) {
        const wg_options o = {.flags = WG_KEEP_CODE, .budget = budget};
        wg_tape *t = wg_tape_new(&o);
        if (t == NULL) continue;
        (void)wg_mat_neg(t, wg_mat_input(t, 2, 3, A, 2));
        done = wg_tape_status(t) == WG_OK;
        assert_null(strstr(wg_tape_message(t), "workspace"));
        wg_tape_free(t);
    }
}

/* What takes no room of its own is on one side of a mark all the same. */
static void a_checked_tape_knows_where_constants_without_room_stand(void **state) {
    const wg_options o = {.flags = WG_CHECKED};
    wg_tape *t = wg_tape_new(&o);
    double v[3];
    (void)state;
    const wg_mat x = wg_mat_input(t, 3, 1, X, 3);
    const wg_mark first = wg_tape_mark(t);
    for (int empty = 0; empty < 2; empty++) {
        (void)wg_mat_exp(t, x);
        assert_int_equal(wg_tape_rewind(t, first), WG_OK);
        const wg_mat a =
            empty ? wg_mat_constant(t, 0, 1, NULL, 1) : wg_mat_constant_borrowed(t, 3, 1, X, 3);
        const wg_mark m = wg_tape_mark(t);
        (void)wg_mat_exp(t, x);
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        (void)wg_mat_exp(t, a); /* from before the mark */
        assert_int_equal(wg_tape_status(t), WG_OK);
        assert_int_equal(wg_mat_value(t, a, v, 3), WG_OK);
        assert_int_equal(wg_tape_rewind(t, first), WG_OK);
        assert_int_equal(wg_mat_value(t, a, v, 3), WG_ESTALE);
    }
    const wg_mat late = wg_mat_constant_borrowed(t, 3, 1, X, 3); /* nothing else since */
    assert_int_equal(wg_tape_rewind(t, first), WG_OK);
    assert_int_equal(wg_mat_value(t, late, v, 3), WG_ESTALE);
    wg_tape_free(t);
}

static void a_refused_root_leaves_no_adjoints(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    wg_mat x = wg_mat_input(t, 3, 1, X, 3), constant = wg_mat_constant(t, 3, 1, X, 3);
    double g[3];
    assert_int_equal(wg_mat_reverse(t, wg_mat_exp(t, x), NULL, 0), WG_OK);
    assert_int_equal(wg_mat_reverse(t, constant, NULL, 0), WG_ESEED);
    assert_int_equal(wg_mat_adjoint(t, x, g, 3), WG_ESEED);
    wg_tape_free(t);
}

static int append(void *text, const char *piece, size_t bytes) {
    strncat(text, piece, bytes);
    return 0;
}

static void dumps_go_on_behind_a_gather_of_a_block(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    wg_mat y = wg_mat_neg(t, wg_mat_input(t, 3, 1, X, 3));
    const wg_real x[] = {wg_mat_at(y, 0, 0), wg_mat_at(y, 1, 0), wg_mat_at(y, 2, 0)};
    wg_mat g = wg_mat_gather(t, 3, 1, x); /* the same slots */
    (void)wg_let(t, wg_mul(x[0], x[1]));
    (void)wg_mat_neg(t, g);
    char text[2000] = "";
    assert_int_equal(wg_tape_dump(t, append, text), WG_OK);
    assert_non_null(strstr(text, "s7 = -1: 1 s4, -1 s5; mul(s4, s5)\n"));
    assert_non_null(strstr(text, "s8 to s10: wg_mat_neg of s4 3x1\n"));
    wg_tape_free(t);
}

/* A million blocks: what is linear takes a second, what is not takes hours. */
static void parts_of_a_long_tape_of_blocks_are_swept_in_linear_time(void **state) {
    (void)state;
    enum { LONG = 300000 };
    static wg_mark mark[LONG + 1];
    wg_tape *t = wg_tape_new(NULL);
    const double one = 1;
    wg_mat x = wg_mat_input(t, 1, 1, &one, 1), y = x, first = x;
    mark[0] = wg_tape_mark(t);
    for (int i = 0; i < LONG; i++) {
        y = wg_mat_neg(t, y);
        if (i == 0) first = y;
        mark[i + 1] = wg_tape_mark(t);
    }
    assert_int_equal(wg_adjoints_clear(t), WG_OK);
    assert_int_equal(wg_mat_adjoint_seed(t, y, NULL, 0), WG_OK);
    for (int i = LONG; i-- > 0;) assert_int_equal(wg_sweep(t, mark[i + 1], mark[i]), WG_OK);
    assert_true(wg_adjoint(t, wg_mat_at(x, 0, 0)) == 1);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(wg_reverse(t, wg_mat_at(first, 0, 0)), WG_OK);
    assert_true(wg_adjoint(t, wg_mat_at(x, 0, 0)) == -1);
    wg_tape_free(t);
}

/* What is missing in a call, or in its operation, is named before anything is read. */
static void incomplete_calls_are_refused(void **state) {
    (void)state;
    wg_tape *t = wg_tape_new(NULL);
    const wg_mark m = wg_tape_mark(t);
    const double v[2] = {1, 2};
    wg_mat y;
    wg_block_op nameless = times_op;
    nameless.name = NULL;
    for (int k = 0; k < 3; k++) {
        const wg_mat x = wg_mat_input(t, 2, 1, v, 2);
        const wg_mat in[] = {x, x};
        const wg_status s = k == 0   ? wg_apply(t, &nameless, NULL, 0, 2, in, 1, &y)
                            : k == 1 ? wg_apply(t, &times_op, NULL, 8, 2, in, 1, &y)
                                     : wg_apply(t, &times_op, v, SIZE_MAX - 8, 2, in, 1, &y);
        assert_int_equal(s, k == 2 ? WG_ENOMEM : WG_ENULL);
        assert_null(y.value);
        assert_non_null(strstr(wg_tape_message(t), k == 0 ? "name" : "params"));
        assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    }
    assert_int_equal(wg_apply(NULL, &times_op, NULL, 8, 0, NULL, 1, &y), WG_ENULL);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incomplete_calls_are_refused),
        cmocka_unit_test(statements_follow_blocks_into_the_next_chunk_of_records),
        cmocka_unit_test(small_operations_keep_the_limit_of_slots),
        cmocka_unit_test(small_operations_stay_inline_in_a_recording_of_nothing_else),
        cmocka_unit_test(small_operations_refuse_shapes_that_wrap_around),
        cmocka_unit_test(an_empty_matrix_takes_room_in_a_buffer),
        cmocka_unit_test(a_check_of_an_operation_at_the_end_of_a_chunk),
        cmocka_unit_test(a_replay_with_blocks_keeps_its_workspace),
        cmocka_unit_test(a_replayed_statement_leaves_the_block_behind_it),
        cmocka_unit_test(a_replay_stopped_by_a_block_is_cleared_by_a_reset_only),
        cmocka_unit_test(marks_die_where_only_payload_was_forgotten),
        cmocka_unit_test(marks_die_where_only_a_gather_was_forgotten),
        cmocka_unit_test(a_rewind_in_a_buffer_gives_all_payload_back),
        cmocka_unit_test(a_forward_tape_that_keeps_code_has_the_values_of_blocks),
        cmocka_unit_test(a_checked_tape_finds_foreign_and_forgotten_constants),
        cmocka_unit_test(a_checked_tape_knows_where_constants_without_room_stand),
        cmocka_unit_test(an_operation_without_workspace_lacks_none),
        cmocka_unit_test(a_refused_root_leaves_no_adjoints),
        cmocka_unit_test(dumps_go_on_behind_a_gather_of_a_block),
        cmocka_unit_test(parts_of_a_long_tape_of_blocks_are_swept_in_linear_time),
        cmocka_unit_test(small_operations_are_those_of_any_size),
        cmocka_unit_test(small_operations_keep_the_zero_rule_and_their_place),
        cmocka_unit_test(short_vectors_have_the_same_bits_in_lanes),
        cmocka_unit_test(vectors_of_four_keep_the_zero_rule),
        cmocka_unit_test(dumps_show_a_block_as_one_line),
        cmocka_unit_test(a_traced_tape_names_the_block),
        cmocka_unit_test(slots_and_budgets_are_kept),
        cmocka_unit_test(a_checked_tape_finds_forgotten_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
