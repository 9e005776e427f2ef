/* SPDX-License-Identifier: MIT */
/* gradbench_ask.h - questions to the tool for GradBench, and what its answers hold. */
#ifndef WENGERT_TEST_GRADBENCH_ASK_H
#define WENGERT_TEST_GRADBENCH_ASK_H

#include "../bench/gradbench/gradbench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The response; the input is taken over. */
static inline json_t *ask(const char *module, const char *function, json_t *input, int runs,
                          unsigned threads) {
    struct gb_options o = {NULL};
    assert_int_equal(wg_threads_new(threads, NULL, &o.threads), WG_OK);
    assert_non_null(input);
    if (json_is_object(input))
        assert_int_equal(json_object_set_new(input, "min_runs", json_integer(runs)), 0);
    json_t *message = json_pack("{s:i, s:s, s:s, s:s, s:o}", "id", 1, "kind", "evaluate",
                                "module", module, "function", function, "input", input);
    char *line = json_dumps(message, JSON_REAL_PRECISION(17));
    json_t *r = gb_respond(line, strlen(line), &o);
    assert_non_null(r);
    json_decref(message);
    free(line);
    wg_threads_free(o.threads);
    return r;
}

/* The numbers of its output, in order; the input is taken over. */
static inline size_t append(const json_t *from, double *y, size_t room) {
    if (json_is_number(from)) {
        assert_true(room > 0);
        *y = json_number_value(from);
        return 1;
    }
    size_t n = 0;
    assert_true(json_is_array(from));
    for (size_t i = 0; i < json_array_size(from); i++)
        n += append(json_array_get(from, i), y + n, room - n);
    return n;
}
static inline void answers(const char *module, const char *function, json_t *input, int runs,
                           unsigned threads, size_t n, double *y) {
    json_t *r = ask(module, function, input, runs, threads);
    if (!json_is_true(json_object_get(r, "success")))
        fail_msg("%s %s: %s", module, function, json_string_value(json_object_get(r, "error")));
    assert_int_equal(append(json_object_get(r, "output"), y, n), n);
    json_decref(r);
}

/* It is refused, with these words; the input, a JSON text. */
static inline void refuses(const char *module, const char *function, const char *input,
                           const char *words) {
    json_t *r = ask(module, function, json_loads(input, JSON_DECODE_ANY, NULL), 1, 1);
    const char *error = json_string_value(json_object_get(r, "error"));
    if (json_is_true(json_object_get(r, "success"))) fail_msg("%s %s: taken", module, input);
    if (!error || !strstr(error, words))
        fail_msg("%s %s: \"%s\", not \"%s\"", module, input, error ? error : "", words);
    assert_null(json_object_get(r, "output"));
    json_decref(r);
}

static inline json_t *array_of(size_t n, const double *x) { return gb_array(x, 1, &n); }
static inline json_t *matrix_of(size_t rows, size_t cols, const double *x) {
    return gb_array(x, 2, (const size_t[]){rows, cols});
}

/* A fixed sequence of numbers from lo to hi. */
static inline void draw_numbers(size_t n, double *x, double lo, double hi) {
    uint64_t seed = 5;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
    }
}

/* Are y what is wanted, to so many ulps of the largest? */
static inline void near(size_t n, const double *y, const double *wanted, double ulps) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(wanted[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(y[i] - wanted[i]) <= ulps * DBL_EPSILON * most))
            fail_msg("entry %zu: %.17g, not %.17g", i, y[i], wanted[i]);
}

/* The suite runs on the interpreter: quick, and the same everywhere. */
static inline int without_compiler(void **state) {
    (void)state;
    return setenv("PATH", "/nowhere", 1);
}

#endif
