/* SPDX-License-Identifier: MIT */
/* null_matrix.h - operations on matrices without a tape, on a tape in failure, with matrices
 * that have failed.
 *
 *     MAT(wg_gemm, 'N', 'T', 2, a, b, 1, c);
 *
 * makes that call many times: as it stands; with NULL as the tape; on a tape in failure; and
 * each of these with every operand it names lost in turn; at the end again as it stands, with
 * the same result. Operands are the letters declared below. */
#ifndef WENGERT_TEST_NULL_MATRIX_H
#define WENGERT_TEST_NULL_MATRIX_H

#include "null.h"

/* The tape of the call, and its operands: variables of the shapes below. */
static wg_tape *t;
static wg_mat a, b, c, d; /* symmetric, positive definite */
static wg_mat x, y, z;    /* columns */
static wg_mat r, s;       /* numbers */
static wg_mat v;          /* the values of g */
static wg_mat w;          /* two beside each other */
static wg_factor f;       /* of a */
static wg_csr g;
static wg_real p, q; /* never lost */
static wg_mat out[3];

enum { ENTRIES = 8 };
static const struct operand {
    char letter;
    size_t rows, cols;
    wg_mat *matrix;
    double value[ENTRIES];
} operands[] = {
    {'a', 2, 2, &a, {2, 0.5, 0.5, 3}},
    {'b', 2, 2, &b, {1.5, 0.25, 0.25, 1}},
    {'c', 2, 2, &c, {3, 1, 1, 2.5}},
    {'d', 2, 2, &d, {4, -1, -1, 3.5}},
    {'x', 2, 1, &x, {0.5, 2}},
    {'y', 2, 1, &y, {1, 0.75}},
    {'z', 2, 1, &z, {0.25, -1}},
    {'r', 1, 1, &r, {0.375}},
    {'s', 1, 1, &s, {1.25}},
    {'v', 4, 1, &v, {2, 0.5, 0.5, 3}},
    {'w', 2, 4, &w, {2, 0.5, 0.5, 3, 1.5, 0.25, 0.25, 1}},
    {'f', 2, 2, NULL, {0}}, /* a factorisation and a pattern */
    {'g', 2, 2, NULL, {0}},
};
enum { OPERANDS = sizeof operands / sizeof *operands };

/* A round: what is wrong with the tape, and which operand is lost, counted from 1. */
enum { WELL, NO_TAPE, IN_FAILURE, TAPES };
enum { ROUNDS = TAPES * (OPERANDS + 1), RESULTS = 3, LARGEST = 64 };
static const char *const tapes[] = {"a good tape", "no tape", "a tape in failure"};

static struct call {
    const char *name, *named, *text; /* named: what the message says */
    wg_status expected;              /* of the call as it stands */
    size_t round;
    size_t rows[RESULTS], cols[RESULTS];
    double value[RESULTS][LARGEST];
    char message[512];
} call;

static inline size_t tape_of_round(void) { return call.round % TAPES; }
static inline size_t lost_in_round(void) { return call.round / TAPES % (OPERANDS + 1); }
static inline int as_it_stands(void) { return tape_of_round() == WELL && !lost_in_round(); }

#define WRONG(...)                                                                             \
    do {                                                                                       \
        const size_t lost_ = lost_in_round();                                                  \
        print_message(__VA_ARGS__);                                                            \
        fail_msg("%s(%s), %s%s%c; the tape says: %s", call.name, call.text,                    \
                 tapes[tape_of_round()], lost_ != 0 ? ", without " : "",                       \
                 lost_ != 0 ? operands[lost_ - 1].letter : ' ', wg_tape_message(tape));        \
    } while (0)

/* Does the call name that operand? 'N' is not, and wg_mat is no m. */
static inline int takes(const char *text, char letter) {
    for (const char *at = text; (at = strchr(at, letter)) != NULL; at++)
        if ((at == text || (!name_char(at[-1]) && at[-1] != '\'')) && !name_char(at[1]))
            return 1;
    return 0;
}

static inline void operands_set(void) {
    static const size_t start[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    const size_t lost = lost_in_round();
    wg_tape_reset(tape);
    for (size_t i = 0; i < OPERANDS; i++) {
        const struct operand *const o = &operands[i];
        if (o->matrix == NULL) continue;
        *o->matrix = wg_mat_input(tape, o->rows, o->cols, o->value, o->rows);
        assert_non_null(o->matrix->value);
    }
    f = wg_lu(lost != 0 && operands[lost - 1].letter == 'f' ? NULL : tape, a);
    g = wg_csr_pattern(lost != 0 && operands[lost - 1].letter == 'g' ? NULL : tape, 2, 2, start,
                       col);
    p = wg_input(tape, 0.75), q = wg_input(tape, 1.25);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    if (lost != 0 && operands[lost - 1].matrix != NULL)
        *operands[lost - 1].matrix =
            wg_mat_failed(operands[lost - 1].rows, operands[lost - 1].cols);
}

/* What the message of a tape in failure says. */
#define FIRST_FAILURE "wg_mat_fill"

static inline void round_set(void) {
    static const double poison = 42;
    operands_set();
    if (tape_of_round() == IN_FAILURE) {
        (void)wg_mat_fill(tape, SIZE_MAX, 2, 0);
        assert_int_equal(wg_tape_status(tape), WG_ESHAPE);
        assert_non_null(strstr(wg_tape_message(tape), FIRST_FAILURE));
    }
    snprintf(call.message, sizeof call.message, "%s", wg_tape_message(tape));
    for (size_t k = 0; k < RESULTS; k++) {
        out[k] = wg_mat_failed(99, 99);
        out[k].value = &poison;
    }
    t = tape_of_round() == NO_TAPE ? NULL : tape;
}

/* Before the first round; `named`: the function that the message names. */
static inline void start_call(const char *name, const char *named, const char *text,
                              wg_status expected) {
    try(name);
    memset(&call, 0, sizeof call);
    call.name = name, call.named = named, call.text = text;
    call.expected = expected;
    call.round = (size_t)-1;
}

/* The next round, and at last the first one again; 0: that was the last. */
static inline int next_round(void) {
    do call.round++;
    while (call.round < ROUNDS && lost_in_round() != 0 &&
           (call.expected != WG_OK || !takes(call.text, operands[lost_in_round() - 1].letter)));
    if (call.round > ROUNDS) {
        wg_tape_reset(tape);
        return 0;
    }
    round_set();
    return 1;
}

/* The status this round should have. */
static inline wg_status status_due(void) {
    const size_t lost = lost_in_round();
    if (tape_of_round() == NO_TAPE) return WG_ENULL;
    if (tape_of_round() == IN_FAILURE) return WG_ESHAPE;
    if (lost == 0) return call.expected;
    return operands[lost - 1].letter == 'g' ? WG_ESTALE : WG_ESHAPE;
}

/* The tape after the call. */
static inline void judge_tape(void) {
    if (tape_of_round() == NO_TAPE || status_due() == WG_OK) {
        if (wg_tape_status(tape) != WG_OK) WRONG("the tape has failed\n");
        return;
    }
    if (wg_tape_status(tape) != status_due())
        WRONG("status %d, not %d\n", (int)wg_tape_status(tape), (int)status_due());
    if (tape_of_round() == IN_FAILURE) {
        if (strcmp(wg_tape_message(tape), call.message) != 0)
            WRONG("the first message is lost\n");
    } else if (!says(call.named)) {
        WRONG("the message does not begin with the function\n");
    }
}

/* A result: as it was the first time, or failed and of that shape. Where the call as it stands
 * is refused there is no shape. */
static inline void judge_result(size_t k, wg_mat got) {
    if (status_due() != WG_OK) {
        if (got.value != NULL || got.at.slot != 0) WRONG("result %zu has not failed\n", k);
        if (call.expected == WG_OK && (got.rows != call.rows[k] || got.cols != call.cols[k]))
            WRONG("result %zu is %zux%zu, not %zux%zu\n", k, got.rows, got.cols, call.rows[k],
                  call.cols[k]);
        if (got.rows * got.cols != 0 && !isnan(wg_value(wg_mat_at(got, 0, 0))))
            WRONG("result %zu is not NaN\n", k);
        return;
    }
    double value[LARGEST] = {0};
    assert_true(got.rows * got.cols <= LARGEST);
    if (got.value == NULL) WRONG("result %zu has failed\n", k);
    assert_int_equal(wg_mat_value(tape, got, value, got.rows), WG_OK);
    if (call.round == 0) {
        call.rows[k] = got.rows, call.cols[k] = got.cols;
        memcpy(call.value[k], value, sizeof value);
    }
    if (got.rows != call.rows[k] || got.cols != call.cols[k] ||
        memcmp(value, call.value[k], sizeof value) != 0)
        WRONG("result %zu is not what it was at first\n", k);
    if (got.at.slot != 0) assert_int_equal(wg_mat_reverse(tape, got, NULL, 0), WG_OK);
}

static inline void take_results(size_t n, const wg_mat *got) {
    judge_tape();
    for (size_t k = 0; k < n; k++) judge_result(k, got[k]);
}
static inline void take_matrix(wg_mat got) { take_results(1, &got); }
static inline void take_status(size_t n, wg_status got) {
    if (got != status_due()) WRONG("returned %d, not %d\n", (int)got, (int)status_due());
    take_results(n, out);
}
static inline void take_number(wg_real got) {
    judge_tape();
    if (status_due() != WG_OK) assert_passive(got);
    else {
        if (call.round == 0) call.value[0][0] = got.value;
        if (isnan(got.value) || got.value != call.value[0][0])
            WRONG("%g is not %g\n", got.value, call.value[0][0]);
        assert_int_equal(wg_reverse(tape, got), WG_OK);
    }
}

/* Calls: their results are a matrix, a number, or n matrices in out and a status. _AS: an
 * operation of that name, called otherwise. _NULL: WG_ENULL is due. */
#define ROUNDS_OF(function, named, expected, ...)                                              \
    for (start_call(#function, named, #__VA_ARGS__, expected); next_round();)
#define MAT(function, ...)                                                                     \
    ROUNDS_OF(function, #function, WG_OK, __VA_ARGS__) take_matrix(function(t, __VA_ARGS__))
#define MAT_AS(named, function, ...)                                                           \
    ROUNDS_OF(function, #named, WG_OK, __VA_ARGS__) take_matrix(function(t, __VA_ARGS__))
#define MAT_NULL(function, ...)                                                                \
    ROUNDS_OF(function, #function, WG_ENULL, __VA_ARGS__) take_matrix(function(t, __VA_ARGS__))
#define REAL(function, ...)                                                                    \
    ROUNDS_OF(function, #function, WG_OK, __VA_ARGS__) take_number(function(t, __VA_ARGS__))
#define MATS(n, function, ...)                                                                 \
    ROUNDS_OF(function, #function, WG_OK, __VA_ARGS__) take_status(n, function(t, __VA_ARGS__))

#endif
