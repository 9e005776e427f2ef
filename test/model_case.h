/* SPDX-License-Identifier: MIT */
/* model_case.h - what the tests of models share: a model and a small one built in it, refusals,
 * bytes that are written and read. Included after cmocka.h. */
#ifndef WENGERT_TEST_MODEL_CASE_H
#define WENGERT_TEST_MODEL_CASE_H

#include <math.h>
#include <string.h>
#include <wengert.h>
#include <wengert/model.h>

static wg_tape *tape;
static wg_model *m;

static inline int open_model(void **state) {
    const wg_options opt = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&opt);
    return tape == NULL || wg_model_new(tape, &m) != WG_OK;
}
static inline int close_model(void **state) {
    (void)state;
    wg_model_free(m);
    wg_tape_free(tape);
    return 0;
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_model, close_model)

static inline void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("this text: %s\ndoes not hold: %s", text, part);
}
static inline void assert_ok(wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(tape));
}
/* The call was refused, with a message that holds the part; the recording is in order. */
static inline void assert_refused(wg_status s, wg_status expected, const char *part) {
    assert_int_equal(s, expected);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    assert_has(wg_tape_message(tape), part);
}
/* Recording failed; the tape goes back to before. */
static inline void assert_failed(wg_mat a, wg_mark before, wg_status expected,
                                 const char *part) {
    assert_null(a.value);
    assert_int_equal(wg_tape_status(tape), expected);
    assert_has(wg_tape_message(tape), part);
    assert_ok(wg_tape_rewind(tape, before));
}

static const wg_dim one = {NULL, 1}, rows = {"rows", 3}, cols = {"cols", 2},
                    other = {"other", 3}, three = {NULL, 3};

static inline wg_mat placeholder(const char *name, wg_dim r, wg_dim c) {
    return wg_model_placeholder(m, name, r, c, 0, NULL);
}
static inline wg_node node(wg_mat a) {
    wg_node n = {0};
    assert_ok(wg_model_node(m, a, &n));
    return n;
}
static inline wg_function *function(size_t count, const wg_mat *y) {
    wg_function *f = NULL;
    assert_ok(wg_model_function(m, count, y, &f));
    return f;
}
static inline size_t operations(const wg_function *f) {
    wg_function_stats s;
    assert_ok(wg_function_statistics(f, &s));
    return s.once + s.each + s.after;
}

/* ---- bytes ---- */

typedef struct bytes {
    char at[8192];
    size_t n, read, room; /* room: writing fails beyond it */
} bytes;
static inline int put(void *ctx, const char *text, size_t n) {
    bytes *const b = ctx;
    if (n > b->room - b->n) return 1;
    memcpy(b->at + b->n, text, n);
    b->n += n;
    return 0;
}
static inline size_t get(void *ctx, void *data, size_t n) {
    bytes *const b = ctx;
    const size_t there = b->n - b->read < n ? b->n - b->read : n;
    memcpy(data, b->at + b->read, there);
    b->read += there;
    return there;
}
static inline bytes empty(void) {
    bytes b;
    memset(&b, 0, sizeof b);
    b.room = sizeof b.at - 1;
    return b;
}

/* ---- a model of a few numbers ---- */

enum { POINTS = 37 };
static double xs[POINTS][2], ts[POINTS][3];

static inline void make_data(void) {
    for (size_t p = 0; p < POINTS; p++) {
        for (size_t j = 0; j < 2; j++) xs[p][j] = sin(1.7 * (double)(p + 40 * j));
        for (size_t i = 0; i < 3; i++) ts[p][i] = cos(0.9 * (double)(p * p + i));
    }
}

/* tanh(w x + b) with a squared error, summed. */
static struct { wg_mat x, t, w, b, wx, y, error, loss; } g;

static inline void build(void) {
    make_data();
    const double sample[2] = {0.3, -0.7}, target[3] = {0.1, 0.2, -0.3};
    g.x = wg_model_placeholder(m, "x", cols, one, 0, sample);
    g.t = wg_model_placeholder(m, "t", rows, one, WG_PASSIVE, target);
    g.w = wg_model_variable(m, "w", rows, cols, wg_initial_normal(3, 0, 0.5));
    g.b = wg_model_variable(m, "b", rows, one, wg_initial_uniform(4, -1, 1));
    g.wx = wg_model_op(m, wg_matmul, g.w, g.x);
    g.y = wg_model_op(m, wg_mat_tanh, wg_model_op(m, wg_mat_add, g.wx, g.b));
    const wg_mat e = wg_model_op(m, wg_mat_sub, g.y, g.t);
    g.error = wg_mat_sum_axis(tape, wg_model_op(m, wg_mat_square, e), WG_ALL);
    (void)wg_model_name(m, g.error, "error", NULL, NULL);
    g.loss = wg_model_sum(m, g.error);
    assert_ok(wg_tape_status(tape));
}

static inline void feed(void) {
    assert_ok(wg_model_feed(m, g.x, xs[0], 2, 1));
    assert_ok(wg_model_feed(m, g.t, ts[0], 3, 1));
}

/* By hand: the loss, and its gradient by w and b. */
static inline double by_hand(const double *w, const double *b, double *dw, double *db) {
    double loss = 0;
    memset(dw, 0, 6 * sizeof *dw);
    memset(db, 0, 3 * sizeof *db);
    for (size_t p = 0; p < POINTS; p++)
        for (size_t i = 0; i < 3; i++) {
            const double y = tanh(w[i] * xs[p][0] + w[i + 3] * xs[p][1] + b[i]);
            const double e = y - ts[p][i], d = 2 * e * (1 - y * y);
            loss += e * e;
            db[i] += d;
            dw[i] += d * xs[p][0];
            dw[i + 3] += d * xs[p][1];
        }
    return loss;
}

static inline void assert_near(const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1000 * 0x1p-52 * (1 + fabs(b[i]))))
            fail_msg("%zu: %.17g, not %.17g", i, a[i], b[i]);
}

#endif
