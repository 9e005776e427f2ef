/* SPDX-License-Identifier: MIT */
/* calls_tape.c - rows: the life of a tape, variables, statements, arrays, scalar operations. */
#include "calls.h"

/* ---- life ---- */

ROW(wg_tape_new) {
    struct room *const r = &world.room[below(TAPES)];
    const unsigned config = (unsigned)below(16);
    tape_close(r);
    say("", "wg_tape_free, wg_tape_new");
    if (tape_open(r, config) == 0) return;
    const unsigned odds = world.odds;
    world.odds = 0; /* there has to be one */
    if (tape_open(r, config) != 0) finding("a tape cannot be opened");
    world.odds = odds;
}
ROW(wg_tape_free) {
    const wg_options o = {.flags = (unsigned)below(40),
                          .budget = below(100000),
                          .max_slots = below(50),
                          .reserve = below(3) * 5000,
                          .loops_over = below(30),
                          .memory = fuzz_memory()};
    say("", "wg_tape_free(wg_tape_new(&o))");
    wg_tape *const t = wg_tape_new(&o);
    if (t == NULL) return;
    (void)wg_input(t, 1);
    if (one_in(2)) (void)wg_mat_input(t, 1, 1, results, 1);
    wg_tape_free(t);
}
ROW(wg_tape_reset) {
    TAPE(t);
    say("", "wg_tape_reset(t)");
    wg_tape_reset(t);
}
ROW(wg_tape_mark) {
    TAPE(t);
    const size_t k = below(MARKS);
    if (call.printing) aside("mark %zu =", k);
    say("", "wg_tape_mark(t)");
    call.room->mark[k] = wg_tape_mark(t);
}
ROW(wg_tape_rewind) {
    TAPE(t);
    MARK(m);
    GIVES_STATUS(wg_tape_rewind(t, m));
}
ROW(wg_tape_pause) {
    TAPE(t);
    GIVES_STATUS(wg_tape_pause(t));
}
ROW(wg_tape_resume) {
    TAPE(t);
    GIVES_STATUS(wg_tape_resume(t));
}
ROW(wg_tape_own) {
    TAPE(t);
    GIVES_STATUS(wg_tape_own(t));
}
ROW(wg_tape_progress) {
    TAPE(t);
    const wg_progress *const progress = draw_progress(t);
    GIVES_STATUS(wg_tape_progress(t, progress));
}
ROW(wg_tape_forward) {
    TAPE(t);
    SIZE(width);
    GIVES_STATUS(wg_tape_forward(t, width));
    if (one_in(2)) return;
    if (call.printing) aside("wg_tape_forward(t, 0) after a reset");
    wg_tape_reset(t);
    if (t == call.room->tape && wg_tape_forward(t, 0) != WG_OK)
        finding("forward after a reset");
}
ROW(wg_tape_status) {
    TAPE(t);
    GIVES_STATUS(wg_tape_status(t));
}
ROW(wg_tape_message) {
    TAPE(t);
    say("", "wg_tape_message(t)");
    sink = (double)strlen(wg_tape_message(t));
}
ROW(wg_tape_refuse) {
    TAPE(t);
    static const char *const texts[] = {"", "no rate %s", "a text of \303\244"};
    const char *const text = one_in(20) ? NULL : texts[below(3)];
    say("", "wg_tape_refuse(t, WG_ESHAPE, a text)");
    if (wg_tape_refuse(t, WG_ESHAPE, text) != WG_ESHAPE)
        finding("another status than was said");
}
ROW(wg_tape_stats) {
    TAPE(t);
    wg_stats s;
    wg_stats *const out = one_in(40) ? NULL : &s;
    GIVES_STATUS(wg_tape_stats(t, out));
}
ROW(wg_status_text) {
    const int s = (int)below(40) - 10;
    say("", "wg_status_text(s)");
    sink = (double)strlen(wg_status_text((wg_status)s));
}

/* ---- variables ---- */

ROW(wg_input) {
    TAPE(t);
    NUMBER(x);
    GIVES_REAL(wg_input(t, x));
}
ROW(wg_inputs) {
    static wg_real room[4096];
    TAPE(t);
    const size_t n = one_in(100) ? (size_t)1 << 33 : draw_dim("n");
    DOUBLES(a, n);
    wg_real *const x = one_in(60) ? NULL : room;
    GIVES_STATUS(wg_inputs(t, n, a, x));
    for (size_t i = 0; i < n && i < 5; i++) keep_real(room[i]);
}
ROW(wg_label) {
    TAPE(t);
    REAL(x);
    static const char *const names[] = {"", "speed", "a \"name\" that is longer than 28 bytes"};
    const char *const name = one_in(20) ? NULL : names[below(3)];
    GIVES_STATUS(wg_label(t, x, name));
}

/* ---- scalar operations ---- */

ROW(wgi_no_tape) {
    REAL(x);
    GIVES_REAL(wg_let(NULL, wg_sin(x)));
}
ROW(wgi_scalar_op_count) {
    say("", "wgi_scalar_op_count");
    sink = (double)wgi_scalar_op_count;
}
ROW(wgi_scalar_ops) {
    double x[4], first[4], second[10];
    const size_t k = below(wgi_scalar_op_count);
    const wg_scalar_op *const op = &wgi_scalar_ops[k];
    for (size_t i = 0; i < 4; i++) x[i] = draw_number("x");
    named("op", "%s", op->name);
    say("", "op->value(x), first, second");
    const double v = op->value(x);
    op->first(x, v, first);
    sink = op->second != NULL ? op->second(x, first, second) : v;
}

/* ---- scalar operations known at run time ---- */

WG_OPERATION1(fuzzy, a *sin(a), sin(a) + a * cos(a), 2 * cos(a) - a * sin(a), ARITH, "calls.c")
WG_OPERATION2(fuzzily, a *b *b, b *b, 2 * a * b, 0, 2 * b, 2 * a, ARITH, "calls.c")

const wg_scalar_op *some_op(void) {
    static const wg_scalar_op nameless = {.name = NULL};
    static wg_scalar_op first_only;
    const size_t k = below(40);
    first_only = wgi_user_fuzzy;
    first_only.second = NULL;
    if (k == 0) return NULL;
    if (k == 1) return &first_only;
    if (k == 2) return &nameless;
    if (k < 8) return &wgi_user_fuzzy;
    if (k < 12) return &wgi_user_fuzzily;
    return &wgi_scalar_ops[below(wgi_scalar_op_count)];
}

ROW(wg_apply_scalar) {
    TAPE(t);
    const wg_scalar_op *op = some_op();
    if (op != NULL && op->name == NULL) op = NULL; /* rows without functions are not defined */
    named("op", "%s", op != NULL ? op->name : "NULL");
    REAL_ARRAY(x, 4);
    GIVES_REAL(wg_apply_scalar(t, op, x));
}
ROW(wg_check_scalar_op) {
    TAPE(t);
    const wg_scalar_op *op = some_op();
    if (op != NULL && op->name == NULL) op = NULL;
    named("op", "%s", op != NULL ? op->name : "NULL");
    DOUBLES(x, 4);
    GIVES_STATUS(wg_check_scalar_op(t, op, x));
}
ROW(user_operations) {
    TAPE(t);
    REAL(x);
    REAL(y);
    GIVES_REAL(wg_let(t, wg_mul(WG_CALL1(fuzzy, x), WG_CALL2(fuzzily, x, y))));
}

/* ---- arrays ---- */

#define ARRAY(name)                                                                            \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        DIM(n);                                                                                \
        REAL_ARRAY(x, n);                                                                      \
        GIVES_REAL(name(t, n, x));                                                             \
    }
ARRAY(wg_sum)
ARRAY(wg_product)
ARRAY(wg_norm2)
ARRAY(wg_squared_norm)
ARRAY(wg_logsumexp)
ARRAY(wg_maximum)
ARRAY(wg_minimum)
ARRAY(wg_mean)
ROW(wg_dot) {
    TAPE(t);
    DIM(n);
    REAL_ARRAY(x, n);
    REAL_ARRAY(y, n);
    GIVES_REAL(wg_dot(t, n, x, y));
}
ROW(wg_linear) {
    TAPE(t);
    DIM(n);
    DOUBLES(c, n);
    REAL_ARRAY(x, n);
    GIVES_REAL(wg_linear(t, n, c, x));
}
ROW(wg_polynomial) {
    TAPE(t);
    DIM(n);
    REAL_ARRAY(c, n);
    REAL(z);
    GIVES_REAL(wg_polynomial(t, n, c, z));
}
ROW(wg_lookup) {
    TAPE(t);
    DIM(n);
    REAL(index);
    REAL_ARRAY(x, n);
    GIVES_REAL(wg_lookup(t, index, n, x));
}
#define COMPARISON(name)                                                                       \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        REAL(x);                                                                               \
        REAL(y);                                                                               \
        GIVES_NUMBER(name(t, x, y));                                                           \
    }
COMPARISON(wg_lt)
COMPARISON(wg_le)
COMPARISON(wg_gt)
COMPARISON(wg_ge)
COMPARISON(wg_eq)
COMPARISON(wg_ne)
ROW(wgi_guards) {
    TAPE(t);
    GIVES_NUMBER(wgi_guards(t));
}

static void given(void) {
    TAPE(t);
    NUMBER(value);
    DIM(n);
    REAL_ARRAY(x, n);
    DOUBLES(partial, n);
    if (one_in(2)) GIVES_REAL(wg_let_given(t, value, n, x, partial));
    else GIVES_REAL((wg_let_given)(t, value, n, x, partial));
    if (n != 0 && partial != NULL) GIVES_NUMBER(wg_chain(value, partial[0]));
}
/* Operands one by one, with what is not allowed in between, or never closed. */
static void terms(void) {
    TAPE(t);
    NUMBER(value);
    DIM(n);
    REAL_ARRAY(x, n);
    DOUBLES(partial, n);
    wg_terms s = wg_terms_open(t);
    for (size_t i = 0; x != NULL && partial != NULL && i < n && i < 8; i++) {
        wg_terms_add(&s, x[i], partial[i]);
        if (one_in(12)) GIVES_REAL(wg_let(t, wg_sin(x[i])));
        if (one_in(24)) GIVES_STATUS(wg_tape_pause(t));
    }
    if (!one_in(8)) GIVES_REAL(wg_terms_close(&s, value));
}

static const struct row list[] = {
    LISTED(wg_tape_new, 1),
    LISTED(wg_tape_free, 1),
    LISTED(wg_tape_reset, 6),
    LISTED(wg_tape_mark, 24),
    LISTED(wg_tape_rewind, 16),
    LISTED(wg_tape_pause, 2),
    LISTED(wg_tape_resume, 6),
    LISTED(wg_tape_own, 1),
    LISTED(wg_tape_progress, 4),
    LISTED(wg_tape_forward, 6),
    LISTED(wg_tape_status, 2),
    LISTED(wg_tape_message, 2),
    LISTED(wg_tape_refuse, 2),
    LISTED(wg_tape_stats, 2),
    LISTED(wg_status_text, 1),
    LISTED(wg_input, 24),
    LISTED(wg_inputs, 12),
    LISTED(wg_label, 4),
    LISTED(wgi_no_tape, 1),
    LISTED(wgi_scalar_ops, 8),
    LISTED(wgi_scalar_op_count, 0),
    LISTED(wg_apply_scalar, 16),
    LISTED(wg_check_scalar_op, 1),
    LISTED(user_operations, 8),
    {"wg_let_given", given, 4},
    {"wgi_let_given", given, 4},
    {"wgi_chain", given, 0},
    {"wg_terms_close", terms, 4},
    {"wgi_terms_add", terms, 4},
    LISTED(wg_sum, 8),
    LISTED(wg_product, 8),
    LISTED(wg_norm2, 8),
    LISTED(wg_squared_norm, 8),
    LISTED(wg_logsumexp, 8),
    LISTED(wg_maximum, 8),
    LISTED(wg_minimum, 8),
    LISTED(wg_mean, 8),
    LISTED(wg_dot, 8),
    LISTED(wg_linear, 8),
    LISTED(wg_polynomial, 8),
    LISTED(wg_lookup, 8),
    LISTED(wg_lt, 4),
    LISTED(wg_le, 4),
    LISTED(wg_gt, 4),
    LISTED(wg_ge, 4),
    LISTED(wg_eq, 4),
    LISTED(wg_ne, 4),
    LISTED(wgi_guards, 4),
};
const struct rows calls_tape = ROWS(list);
