/* SPDX-License-Identifier: MIT */
/* test_tape_dump.c - looking into a tape: text, graph, labels, places, and messages that say
 * where something went wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "counted.h"

/* ---- text, collected ---- */

struct text {
    size_t used, calls, refuse_at;
    char bytes[1 << 16];
};
static struct text out;

static int collect(void *ctx, const char *text, size_t bytes) {
    struct text *const o = ctx;
    if (o->calls++ == o->refuse_at || o->used + bytes >= sizeof o->bytes) return 1;
    memcpy(o->bytes + o->used, text, bytes);
    o->used += bytes;
    o->bytes[o->used] = 0;
    return 0;
}
static void fresh(void) {
    out.used = out.calls = 0;
    out.refuse_at = SIZE_MAX;
    out.bytes[0] = 0;
}
static const char *dump_of(const wg_tape *t) {
    fresh();
    assert_int_equal(wg_tape_dump(t, collect, &out), WG_OK);
    return out.bytes;
}
static const char *print_of(const wg_tape *t, wg_real x) {
    fresh();
    assert_int_equal(wg_print(t, x, collect, &out), WG_OK);
    return out.bytes;
}

static wg_tape *open_with(unsigned flags) {
    const wg_options opt = {.flags = flags};
    wg_tape *const t = wg_tape_new(&opt);
    assert_non_null(t);
    return t;
}

/* The place of this line, of the next line, after `before`. */
#define HERE(before) place_text(before, __LINE__)
#define NEXT(before) place_text(before, __LINE__ + 1)
static const char *place_text(const char *before, int line) {
    static char text[8][1024];
    static int k;
    k = (k + 1) % 8;
    snprintf(text[k], sizeof text[k], "%s%s:%d", before, __FILE__, line);
    return text[k];
}
static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("this text: %s\ndoes not hold: %s", text, part);
}

/* ---- dumps ---- */

static void a_plain_tape_shows_operands_and_local_derivatives(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real x = wg_input(t, 3), y = wg_input(t, 4);
    const wg_real r = wg_let(t, wg_hypot(x, y));
    assert_int_equal(wg_label(t, r, "radius"), WG_OK);
    (void)wg_let(t, wg_add(wg_mul(2, r), wg_add(x, wg_mul(0.1, y))));
    assert_string_equal(dump_of(t), "s1: input\n"
                                    "s2: input\n"
                                    "s3 \"radius\": 0.6 s1, 0.8 s2\n"
                                    "s4: 2 s3, 1 s1, 0.1 s2\n");
    wg_tape_free(t);
}

static void kept_code_adds_values_and_operations(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_CODE);
    const wg_real x = wg_input(t, 3), y = wg_input(t, 4);
    const wg_real r = wg_let(t, wg_sqrt(wg_add(wg_mul(x, x), wg_mul(y, y))));
    const wg_real v[2] = {r, x};
    (void)wg_lt(t, x, y);
    (void)wg_sum(t, 2, v);
    (void)wg_ge(t, x, y);
    const char *const text = dump_of(t);
    assert_has(text, "s1 = 3: input\ns2 = 4: input\ns3 = 5: ");
    assert_has(text, "; sqrt(add(mul(s1, s1), mul(s2, s2)))\nguard: lt(s1, s2) was true\n");
    assert_has(text, "\ns4 = 8: 1 s3, 1 s1; sum(s3, s1)\nguard: ge(s1, s2) was false\n");
    wg_tape_free(t);
}

static void places_and_labels_are_shown_where_they_are_kept(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_PLACES);
    const wg_real x = wg_input(t, 2);
    const char *const at = NEXT("s2: 2 s1, 2 s1; ");
    const wg_real y = wg_let(t, wg_mul(x, x));
    assert_int_equal(wg_label(t, x, "a \"quoted\" \\ name"), WG_OK);
    const char *const text = dump_of(t);
    assert_has(text, at);
    assert_has(text, "s1 \"a \\\"quoted\\\" \\\\ name\": input\n");
    (void)y;
    wg_tape_free(t);
}

static void a_forward_tape_shows_tangents(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_PLACES);
    assert_int_equal(wg_tape_forward(t, 2), WG_OK);
    const wg_real x = wg_input(t, 3);
    assert_int_equal(wg_tangent_seed(t, x, 1, 1), WG_OK);
    const char *const at = NEXT("s2: 0 6; ");
    const wg_real y = wg_let(t, wg_mul(x, x));
    assert_has(dump_of(t), "s1: 0 1\n");
    assert_has(dump_of(t), at);
    assert_has(print_of(t, y), "9, slot 2, tangent 0 6 (");
    wg_tape_free(t);
}

static void an_empty_tape_has_an_empty_dump(void **state) {
    (void)state;
    for (unsigned flags = 0; flags < 16; flags++) {
        wg_tape *const t = open_with(flags);
        assert_string_equal(dump_of(t), "");
        fresh();
        assert_int_equal(wg_tape_dot(t, collect, &out), WG_OK);
        assert_string_equal(out.bytes, "digraph tape {\n}\n");
        wg_tape_free(t);
    }
}

static void a_tape_in_failure_says_so_first(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_TRACE);
    const wg_real x = wg_input(t, 1);
    const char *const at = NEXT(" in wg_let (");
    (void)wg_let(t, wg_log(wg_sub(x, 2)));
    const char *const text = dump_of(t);
    assert_has(text, "failed: log gave nan from -1");
    assert_has(text, at);
    assert_has(text, "\ns1: input\n");
    wg_tape_free(t);
}

static void a_graph_has_a_node_per_slot_and_an_edge_per_operand(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real x = wg_input(t, 3), y = wg_input(t, 4), z = wg_let(t, wg_mul(x, y));
    assert_int_equal(wg_label(t, z, "area"), WG_OK);
    (void)wg_let(t, wg_add(z, wg_add(x, y)));
    fresh();
    assert_int_equal(wg_tape_dot(t, collect, &out), WG_OK);
    assert_string_equal(out.bytes, "digraph tape {\n"
                                   "    s1 [shape=box, label=\"s1\"];\n"
                                   "    s2 [shape=box, label=\"s2\"];\n"
                                   "    s3 [label=\"area\"];\n"
                                   "    s1 -> s3 [label=\"4\"];\n"
                                   "    s2 -> s3 [label=\"3\"];\n"
                                   "    s4 [label=\"s4\"];\n"
                                   "    s3 -> s4 [label=\"1\"];\n"
                                   "    s1 -> s4 [label=\"1\"];\n"
                                   "    s2 -> s4 [label=\"1\"];\n"
                                   "}\n");
    wg_tape_free(t);
    wg_tape *const c = open_with(WG_KEEP_CODE);
    const wg_real a = wg_input(c, 2);
    (void)wg_let(c, wg_exp(wg_neg(a)));
    (void)wg_lt(c, a, a); /* comparisons are no nodes */
    fresh();
    assert_int_equal(wg_tape_dot(c, collect, &out), WG_OK);
    assert_has(out.bytes, "s1 [shape=box, label=\"s1 = 2\"];");
    assert_has(out.bytes, "\\nexp(neg(s1))\"];");
    wg_tape_free(c);
}

static void after_a_rewind_only_what_is_left_is_shown(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_CODE | WG_KEEP_PLACES);
    const wg_real x = wg_input(t, 2), y = wg_let(t, wg_mul(x, 3));
    const wg_mark here = wg_tape_mark(t);
    char before[4096];
    snprintf(before, sizeof before, "%s", dump_of(t));
    assert_has(before, "s2 = 6: 3 s1; mul(s1, 3); ");
    for (int k = 0; k < 50; k++) {
        wg_real z = wg_let(t, wg_add(y, k));
        assert_int_equal(wg_label(t, z, "gone"), WG_OK);
        assert_int_equal(wg_tape_rewind(t, here), WG_OK);
    }
    assert_string_equal(dump_of(t), before);
    wg_tape_free(t);
}

/* n operands, and a text longer than any buffer. */
static void long_statements_are_shown_to_the_last_operand(void **state) {
    (void)state;
    enum { N = 500 };
    for (unsigned flags = 0; flags <= WG_KEEP_CODE; flags++) {
        wg_tape *const t = open_with(flags);
        wg_real x[N];
        for (int i = 0; i < N; i++) x[i] = wg_input(t, i);
        (void)wg_sum(t, N, x);
        const char *const text = dump_of(t);
        assert_has(text, "s501");
        assert_has(text, ", 1 s499, 1 s500");
        if (flags) assert_has(text, "; sum(s1, s2, ");
        wg_tape_free(t);
    }
}

static void numbers_are_written_so_that_they_read_back(void **state) {
    (void)state;
    const double hard[] = {
        0.1,    1.0 / 3,  1e22,     5e-324, 1.7976931348623157e308, -0.0, 123456789.0123456789,
        2e-310, INFINITY, -INFINITY};
    wg_tape *const t = open_with(0);
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        const char *const text = print_of(t, wg_constant(hard[i]));
        const double back = strtod(text, NULL);
        assert_memory_equal(&back, &hard[i], sizeof back);
        assert_has(text, ", constant\n");
    }
    assert_string_equal(print_of(t, wg_constant(-NAN)), "nan, constant\n");
    assert_string_equal(print_of(t, wg_constant(0.1)), "0.1, constant\n");
    wg_tape_free(t);
}

/* ---- one variable ---- */

static void a_variable_is_printed_with_all_that_is_known(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_PLACES);
    const wg_real x = wg_input(t, 3);
    const char *const at = NEXT("9, slot 2 \"square\", adjoint 1 (");
    const wg_real y = wg_let(t, wg_mul(x, x));
    assert_string_equal(print_of(t, x), "3, slot 1\n");
    assert_int_equal(wg_label(t, y, "square"), WG_OK);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_string_equal(print_of(t, x), "3, slot 1, adjoint 6\n");
    assert_has(print_of(t, y), at);
    const double w[2] = {1, -2};
    assert_int_equal(wg_reverse_lanes(t, 2, 1, &y, w), WG_OK);
    assert_string_equal(print_of(t, x), "3, slot 1, adjoint 6 -12\n");
    wg_tape_reset(t);
    assert_string_equal(print_of(t, x), "3, slot 1 of another tape, or forgotten\n");
    assert_string_equal(print_of(t, wg_constant(4)), "4, constant\n");
    wg_tape_free(t);
}

/* ---- labels ---- */

static void labels_may_be_given_in_any_order_and_changed(void **state) {
    (void)state;
    enum { N = 100 };
    wg_tape *const t = open_with(0);
    wg_real x[N];
    char name[32], expected[64];
    for (int i = 0; i < N; i++) x[i] = wg_input(t, i);
    for (int i = 0; i < N; i++) { /* 37 and 100 have no common divisor: every one once */
        const int k = i * 37 % N;
        snprintf(name, sizeof name, "x%d", k);
        assert_int_equal(wg_label(t, x[k], name), WG_OK);
    }
    assert_int_equal(wg_label(t, x[50], "renamed"), WG_OK);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, i == 50 ? "renamed" : "x%d", i);
        snprintf(expected, sizeof expected, "%d, slot %d \"%s\"\n", i, i + 1, name);
        assert_string_equal(print_of(t, x[i]), expected);
    }
    wg_tape_free(t);
}

static void labels_are_copied_and_cut_between_characters(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real x = wg_input(t, 1);
    char name[64] = "the angle of attack \xce\xb1\xce\xb2\xce\xb3\xce\xb4"; /* alpha beta .. */
    assert_int_equal(wg_label(t, x, name), WG_OK);
    memset(name, '?', sizeof name - 1);
    assert_string_equal(print_of(t, x),
                        "1, slot 1 \"the angle of attack \xce\xb1\xce\xb2\xce\xb3\"\n");
    assert_int_equal(wg_label(t, x, ""), WG_OK);
    assert_string_equal(print_of(t, x), "1, slot 1 \"\"\n");
    wg_tape_free(t);
}

static void labels_of_constants_are_accepted_and_forgotten(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    assert_int_equal(wg_label(t, wg_constant(1), "nothing"), WG_OK);
    assert_int_equal(wg_tape_pause(t), WG_OK);
    assert_int_equal(wg_label(t, wg_let(t, wg_mul(wg_input(t, 2), 2)), "paused"), WG_OK);
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    assert_int_equal(s.slots, 1);
    wg_tape_free(t);
}

/* ---- places of failures ---- */

static void a_failure_names_the_place_of_its_statement(void **state) {
    (void)state;
    wg_tape *const t = open_with(0), *const other = open_with(0);
    const wg_real x = wg_input(t, 1), y = wg_input(other, 2);
    const char *const at = NEXT("(");
    (void)wg_let(t, wg_mul(x, y));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    assert_has(wg_tape_message(t), "wg_let: operand 1");
    assert_has(wg_tape_message(t), at);
    (void)wg_let(t, wg_mul(x, y)); /* the first failure is kept */
    assert_has(wg_tape_message(t), at);
    wg_tape_free(other);
    wg_tape_free(t);
}

#define TRACED(statement, part)                                                                \
    do {                                                                                       \
        wg_tape_reset(t);                                                                      \
        x = wg_input(t, x.value), y = wg_input(t, y.value);                                    \
        assert_int_equal(wg_label(t, y, "y"), WG_OK);                                          \
        const wg_real r = wg_let(t, statement);                                                \
        const char *const at = HERE(" (");                                                     \
        assert_true(wg_value(r) != wg_value(r));                                               \
        assert_int_equal(wg_tape_status(t), WG_ENONFINITE);                                    \
        assert_has(wg_tape_message(t), part);                                                  \
        assert_has(wg_tape_message(t), at);                                                    \
    } while (0)

static void a_traced_tape_names_the_operation_that_made_a_nan(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_TRACE);
    wg_real x = {1, {0, 0}}, y = {0, {0, 0}};
    TRACED(wg_div(x, y), "div gave inf from 1, y = 0 in wg_let (");
    TRACED(wg_log(wg_neg(x)), "log gave nan from -1 in wg_let (");
    TRACED(wg_div(wg_neg(x), wg_mul(y, 2)), "div gave -inf from -1, 0 in");
    TRACED(wg_add(3, wg_exp(wg_mul(1000, x))), "exp gave inf from 1000 in");
    /* the first of several, and the one that reaches the result */
    TRACED(wg_sub(wg_exp(wg_add(x, 999)), wg_exp(wg_add(x, 1999))),
           "exp gave inf from 1000 in");
    TRACED(wg_add(wg_select_lt(y, 1, x, wg_log(wg_neg(x))), wg_sqrt(wg_sub(y, 4))),
           "sqrt gave nan from -4 in");
    TRACED(wg_mul(wg_div(1, wg_reciprocal(y)), wg_log(wg_sub(y, x))),
           "log gave nan from -1 in");
    /* what was given is blamed, unless an operation made a NaN of infinities */
    TRACED(wg_add(x, NAN), "an operand of wg_let is nan (");
    TRACED(wg_mul(wg_add(x, wg_constant(-INFINITY)), 2), "an operand of wg_let is -inf (");
    TRACED(wg_sub(wg_mul(x, INFINITY), INFINITY), "sub gave nan from inf, inf in");
    x.value = INFINITY;
    TRACED(wg_mul(x, 2), "an operand of wg_let is inf (");
    TRACED(wg_mul(x, y), "mul gave nan from inf, y = 0 in");
    y.value = NAN;
    TRACED(wg_exp(wg_mul(2, y)), "an operand of wg_let is y = nan (");
    wg_tape_free(t);
}

/* Two infinite derivatives that cancel: the values are finite. */
static void a_traced_sweep_names_the_statement_that_made_a_nan(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_TRACE | WG_KEEP_PLACES);
    const wg_real x = wg_input(t, 0);
    assert_int_equal(wg_label(t, x, "radius"), WG_OK);
    const char *const place = NEXT("(");
    const wg_real a = wg_let(t, wg_sqrt(x));
    const wg_real b = wg_let(t, wg_sqrt(wg_mul(2, x))), y = wg_let(t, wg_sub(a, b));
    assert_int_equal(wg_reverse(t, y), WG_ENONFINITE);
    assert_has(wg_tape_message(t),
               "a sweep: the adjoint of slot 1 (radius) becomes nan: that of "
               "slot 2 is 1, its local derivative inf");
    assert_has(wg_tape_message(t), place);
    assert_true(isnan(wg_adjoint(t, x)));
    assert_int_equal(wg_tape_status(t), WG_OK);
    const wg_real z = wg_let(t, wg_add(wg_sqrt(x), wg_mul(b, wg_exp(x))));
    const double w[2] = {1, 0};
    assert_int_equal(wg_reverse_seeds(t, 2, (const wg_real[]){z, a}, w), WG_OK);
    assert_true(wg_adjoint(t, x) == INFINITY);
    wg_tape_free(t);
}

/* By lanes, after a sweep that was traced: inf - inf in the adjoint of x, by way of a
 * gather. */
static void preaccumulation_is_not_traced(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_TRACE);
    /* of 8 lanes, the first one of slot 1 stands where slot 8 has its only one */
    const double at[8] = {0, 1, 1, 1, 1, 1, 1, 2};
    wg_real in[8];
    assert_int_equal(wg_inputs(t, 8, at, in), WG_OK);
    const wg_real x = in[0], z = in[7];
    assert_int_equal(wg_reverse(t, wg_let(t, wg_square(z))), WG_OK);
    const wg_mark start = wg_tape_mark(t);
    const wg_mat root = wg_mat_sqrt(t, wg_mat_gather(t, 3, 1, (const wg_real[]){x, z, x}));
    wg_real y = wg_let(t, wg_sub(wg_mat_at(root, 0, 0), wg_mat_at(root, 2, 0)));
    y = wg_let(t, wg_add(y, wg_mat_at(root, 1, 0)));
    assert_int_equal(wg_preaccumulate(t, start, 2, (const wg_real[]){x, z}, 1, &y), WG_OK);
    assert_int_equal(wg_reverse(t, y), WG_ENONFINITE);
    wg_tape_free(t);
}

static void a_sweep_in_parts_is_traced_whatever_was_before(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_TRACE);
    const wg_real x = wg_input(t, 1), z = wg_input(t, 1);
    const wg_mark start = wg_tape_mark(t);
    const wg_real a = wg_let(t, wg_mul(x, 3)), b = wg_let(t, wg_mul(a, z));
    const double one = 1;
    assert_int_equal(wg_reverse_lanes(t, 1, 1, &b, &one), WG_OK);
    assert_int_equal(wg_adjoint_seed(t, b, INFINITY), WG_OK);
    assert_int_equal(wg_adjoint_seed(t, a, -INFINITY), WG_OK);
    assert_int_equal(wg_sweep(t, wg_tape_mark(t), start), WG_ENONFINITE);
    wg_tape_free(t);
}

static void a_traced_tape_lets_finite_values_pass(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_TRACE);
    const wg_real x = wg_input(t, 0);
    /* an infinity that does not reach the result, an infinite derivative */
    const wg_real y = wg_let(t, wg_div(1, wg_reciprocal(x))), z = wg_let(t, wg_sqrt(x));
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_true(wg_value(y) == 0 && wg_value(z) == 0);
    assert_int_equal(wg_reverse(t, z), WG_OK);
    assert_true(wg_adjoint(t, x) == INFINITY);
    wg_tape_free(t);
}

static void a_message_that_is_too_long_is_cut(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_TRACE);
    const wg_real x = wg_input(t, 0);
    char name[2000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    (void)wgi_leave_r(t, INFINITY, &x.at, NULL,
                      &(const wgi_site){0, WGI_CODE_HEAD(1, 0, 2, 1, 0), name});
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    assert_int_equal(strlen(wg_tape_message(t)), 511);
    wg_tape_free(t);
}

/* ---- writers ---- */

static void a_writer_that_refuses_stops_the_dump(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_CODE);
    wg_real x = wg_input(t, 1);
    for (int i = 0; i < 200; i++) x = wg_let(t, wg_mul(x, 1.1));
    (void)dump_of(t);
    const size_t calls = out.calls;
    assert_true(calls > 3);
    for (size_t k = 0; k < calls; k++) {
        fresh();
        out.refuse_at = k;
        assert_int_equal(wg_tape_dump(t, collect, &out), WG_EWRITE);
        assert_int_equal(out.calls, k + 1); /* never asked again */
        fresh();
        out.refuse_at = k;
        assert_int_equal(wg_tape_dot(t, collect, &out), WG_EWRITE);
        assert_int_equal(out.calls, k + 1);
    }
    fresh();
    out.refuse_at = 0;
    assert_int_equal(wg_print(t, x, collect, &out), WG_EWRITE);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void files_take_dumps(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real x = wg_input(t, 3);
    (void)wg_let(t, wg_mul(x, x));
    FILE *const file = tmpfile();
    char text[64] = "";
    assert_non_null(file);
    assert_int_equal(wg_tape_dump(t, wg_write_file, file), WG_OK);
    rewind(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file),
                     strlen("s1: input\ns2: 3 s1, 3 s1\n"));
    assert_string_equal(text, "s1: input\ns2: 3 s1, 3 s1\n");
    fclose(file);
    assert_int_equal(wg_tape_dump(t, wg_write_file, NULL), WG_EWRITE);
    assert_int_not_equal(wg_write_file(NULL, "x", 1), 0);
    FILE *const full = fopen("/dev/full", "w");
    if (full != NULL) {
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(wg_tape_dump(t, wg_write_file, full), WG_EWRITE);
        fclose(full);
    }
    wg_tape_free(t);
}

static void null_arguments_are_refused(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real x = wg_input(t, 1);
    assert_int_equal(wg_tape_dump(NULL, collect, &out), WG_ENULL);
    assert_int_equal(wg_tape_dump(t, NULL, &out), WG_ENULL);
    assert_int_equal(wg_tape_dot(NULL, collect, &out), WG_ENULL);
    assert_int_equal(wg_tape_dot(t, NULL, &out), WG_ENULL);
    assert_int_equal(wg_print(NULL, x, collect, &out), WG_ENULL);
    assert_int_equal(wg_print(t, x, NULL, &out), WG_ENULL);
    assert_int_equal(wg_label(NULL, x, "x"), WG_ENULL);
    assert_int_equal(wg_label(t, x, NULL), WG_ENULL);
    wg_tape_reset(t);
    assert_int_equal(wg_label(t, x, "x"), WG_ESTALE);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void no_room_for_labels_or_places_is_reported(void **state) {
    (void)state;
    static char room[1 << 20];
    const wg_options opt = {
        .buffer = room, .buffer_bytes = sizeof room, .flags = WG_KEEP_PLACES};
    wg_tape *const t = wg_tape_new(&opt);
    assert_non_null(t);
    wg_status s = WG_OK;
    for (int i = 0; i < 100000 && s == WG_OK; i++) s = wg_label(t, wg_input(t, i), "label");
    assert_int_equal(s, WG_EBUDGET);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
    /* a place is longer than a tangent: it is the first that has no room */
    struct counted m = counted_start();
    const wg_options few = {.memory = counted_memory(&m), .flags = WG_KEEP_PLACES};
    wg_tape *const u = wg_tape_new(&few);
    assert_int_equal(wg_tape_forward(u, 1), WG_OK);
    wg_real x = wg_let(u, wg_sin(wg_input(u, 1)));
    m.fail_at = m.asked;
    m.fail_on = 1;
    for (int i = 0; i < 100000 && wg_tape_status(u) == WG_OK; i++) x = wg_let(u, wg_add(x, 1));
    assert_int_equal(wg_tape_status(u), WG_ENOMEM);
    assert_has(wg_tape_message(u), "place");
    wg_tape_free(u);
}

static void numbers_in_code_are_printed_as_they_were_written(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_CODE);
    const double c[] = {0.1, -2};
    const wg_real x = wg_input(t, 3);
    const wg_real some[] = {wg_constant(0.3), x, wg_constant(1e300)};
    (void)wg_let(t, wg_mul(0.1, wg_pow(x, 1.0 / 3)));
    (void)wg_sum(t, 3, some);
    (void)wg_linear(t, 2, c, some);
    (void)wg_polynomial(t, 2, some, wg_constant(NAN));
    (void)wg_lt(t, x, wg_constant(0.7));
    (void)wg_ge(t, wg_constant(-INFINITY), x);
    const char *const text = dump_of(t);
    assert_has(text, "; mul(0.1, pow(s1, 0.333333333333333");
    assert_has(text, "; sum(0.3, s1, 1e+300)\n");
    assert_has(text, "; linear(0.1, -2; 0.3, s1)\n");
    assert_has(text, "; polynomial(0.3, s1, nan)\n");
    assert_has(text, "guard: lt(s1, 0.7) was false\n");
    assert_has(text, "guard: ge(-inf, s1) was false\n");
    const double elsewhere = 0.1;
    assert_int_equal(wg_tape_replay(t, 1, &x, &elsewhere), WG_EGUARD);
    assert_has(wg_tape_message(t), "wg_tape_replay: lt(0.1, 0.7) before slot 6 was false");
    wg_tape_free(t);
}

static void array_operations_know_their_line(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_PLACES | WG_TRACE);
    const wg_real x[] = {wg_input(t, 3), wg_input(t, 4)};
    const char *const sum = NEXT("");
    const wg_real s = wg_sum(t, 2, x);
    const char *const dot = NEXT("");
    const wg_real d = wg_dot(t, 2, x, (const wg_real[]){x[1], x[0]}); /* commas and all */
    assert_has(print_of(t, s), sum);
    assert_has(print_of(t, d), dot);
    assert_has(dump_of(t), dot);
    const wg_mark good = wg_tape_mark(t);
    const char *const trace = NEXT("(");
    (void)wg_product(t, 2, (const wg_real[]){wg_constant(1e308), x[0]});
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    assert_has(wg_tape_message(t), "wg_product of 2 operands gave inf");
    assert_has(wg_tape_message(t), trace);
    assert_int_equal(wg_tape_rewind(t, good), WG_OK);
    const char *const empty = NEXT("(");
    (void)wg_mean(t, 0, x);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_has(wg_tape_message(t), empty);
    assert_int_equal(wg_tape_rewind(t, good), WG_OK);
    wg_tape *const other = open_with(0);
    const wg_real foreign = wg_input(other, 1);
    const char *const stale = NEXT("(");
    (void)wg_polynomial(t, 2, x, foreign);
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    assert_has(wg_tape_message(t), stale);
    wg_tape_free(other);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_tape_shows_operands_and_local_derivatives),
        cmocka_unit_test(kept_code_adds_values_and_operations),
        cmocka_unit_test(places_and_labels_are_shown_where_they_are_kept),
        cmocka_unit_test(a_forward_tape_shows_tangents),
        cmocka_unit_test(an_empty_tape_has_an_empty_dump),
        cmocka_unit_test(a_tape_in_failure_says_so_first),
        cmocka_unit_test(a_graph_has_a_node_per_slot_and_an_edge_per_operand),
        cmocka_unit_test(after_a_rewind_only_what_is_left_is_shown),
        cmocka_unit_test(long_statements_are_shown_to_the_last_operand),
        cmocka_unit_test(numbers_are_written_so_that_they_read_back),
        cmocka_unit_test(a_variable_is_printed_with_all_that_is_known),
        cmocka_unit_test(labels_may_be_given_in_any_order_and_changed),
        cmocka_unit_test(labels_are_copied_and_cut_between_characters),
        cmocka_unit_test(labels_of_constants_are_accepted_and_forgotten),
        cmocka_unit_test(a_failure_names_the_place_of_its_statement),
        cmocka_unit_test(a_traced_tape_names_the_operation_that_made_a_nan),
        cmocka_unit_test(a_traced_sweep_names_the_statement_that_made_a_nan),
        cmocka_unit_test(preaccumulation_is_not_traced),
        cmocka_unit_test(a_sweep_in_parts_is_traced_whatever_was_before),
        cmocka_unit_test(a_traced_tape_lets_finite_values_pass),
        cmocka_unit_test(a_message_that_is_too_long_is_cut),
        cmocka_unit_test(a_writer_that_refuses_stops_the_dump),
        cmocka_unit_test(files_take_dumps),
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(no_room_for_labels_or_places_is_reported),
        cmocka_unit_test(numbers_in_code_are_printed_as_they_were_written),
        cmocka_unit_test(array_operations_know_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
