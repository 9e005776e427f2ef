/* SPDX-License-Identifier: MIT */
/* calls_callback.c - functions of a user's that drivers call: honest ones, and ones that do
 * what a callback should not. */
#include "calls.h"

#define CALL_OF(name)                                                                          \
    static wg_status name(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,        \
                          void *data)
#define UNUSED (void)t, (void)n, (void)x, (void)m, (void)y, (void)data

static wg_real at(size_t n, const wg_real *x, size_t i) {
    return n != 0 ? x[i % n] : wg_constant(0.5);
}

CALL_OF(smooth) {
    UNUSED;
    for (size_t j = 0; j < m; j++)
        y[j] = wg_let(t, wg_add(wg_mul(at(n, x, j), wg_sin(at(n, x, j + 1))),
                                wg_square(at(n, x, j + 2))));
    return WG_OK;
}
CALL_OF(matrices) {
    UNUSED;
    const wg_mat a = wg_mat_gather(t, n, 1, x), b = wg_mat_exp(t, a);
    const wg_real s = wg_mat_dot(t, a, b);
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(s, at(n, x, j)));
    return WG_OK;
}
CALL_OF(solves) {
    UNUSED;
    wg_real e[6];
    for (size_t i = 0; i < 6; i++) e[i] = at(n, x, i);
    e[0] = wg_let(t, wg_add(e[0], 3)), e[3] = wg_let(t, wg_add(e[3], 4));
    const wg_mat a = wg_mat_gather(t, 2, 2, e), b = wg_mat_gather(t, 2, 1, e + 4);
    const wg_mat s = wg_solve(t, a, b);
    for (size_t j = 0; j < m; j++) y[j] = wg_mat_at(s, j % 2, 0);
    return WG_OK;
}
CALL_OF(arrays) {
    UNUSED;
    for (size_t j = 0; j < m; j++) y[j] = j % 2 ? wg_logsumexp(t, n, x) : wg_norm2(t, n, x);
    return WG_OK;
}
CALL_OF(branches) {
    UNUSED;
    for (size_t j = 0; j < m; j++)
        y[j] = wg_lt(t, at(n, x, j), at(n, x, j + 1)) ? wg_let(t, wg_exp(at(n, x, j)))
                                                      : wg_let(t, wg_mul(at(n, x, j), 2));
    return WG_OK;
}
CALL_OF(calls) {
    UNUSED;
    wg_real e[4];
    for (size_t i = 0; i < 4; i++) e[i] = at(n, x, i);
    const wg_mat in[] = {wg_mat_gather(t, 2, 1, e), wg_mat_gather(t, 2, 1, e + 2)};
    wg_mat out = wg_mat_failed(1, 1);
    const wg_status s = wg_call(t, house_callable[0], in, &out);
    for (size_t j = 0; j < m; j++) y[j] = wg_mat_at(out, 0, 0);
    return s;
}
CALL_OF(scans) {
    UNUSED;
    const wg_real p = at(n, x, 0), q = at(n, x, 1);
    const wg_source from[] = {wg_from_matrix(wg_mat_gather(t, 1, 1, &p)), wg_from_state("x")};
    const wg_stage stage = {house_callable[1], from};
    const wg_state state = {"x", wg_mat_gather(t, 1, 1, &q)};
    wg_mat out = wg_mat_failed(1, 1);
    const wg_status s = wg_scan(t, 5, 1, &stage, 1, &state, NULL, &out);
    for (size_t j = 0; j < m; j++) y[j] = wg_mat_at(out, 0, 0);
    return s;
}

/* ---- as they should not be ---- */

CALL_OF(fails) { return UNUSED, WG_ESINGULAR; }
CALL_OF(returns_nothing_known) { return UNUSED, (wg_status)99; }
CALL_OF(says_no_without_reason) { return UNUSED, (wg_status)-1; }
CALL_OF(writes_nothing) { return UNUSED, WG_OK; }
/* What it was given may be the tape's, and is not touched afterwards. */
CALL_OF(resets) {
    UNUSED;
    const wg_real of[2] = {at(n, x, 0), at(n, x, 1)};
    wg_real to[2];
    wg_tape_reset(t);
    return smooth(t, 2, of, 2, to, data);
}
CALL_OF(drives) {
    UNUSED;
    const double a[] = {1, 2};
    double value, g[2];
    const wg_status s = wg_gradient(t, smooth, NULL, 2, a, &value, g);
    (void)smooth(t, n, x, m, y, data);
    return s;
}
CALL_OF(gives_strangers) {
    UNUSED;
    for (size_t j = 0; j < m; j++) y[j] = world.room[j % TAPES].real[j % REALS];
    return WG_OK;
}
CALL_OF(takes_strangers) {
    UNUSED;
    for (size_t j = 0; j < m; j++)
        y[j] = wg_let(t, wg_mul(at(n, x, j), world.room[j % TAPES].real[1]));
    return WG_OK;
}
CALL_OF(pauses) {
    UNUSED;
    (void)wg_tape_pause(t);
    return smooth(t, n, x, m, y, data);
}
CALL_OF(resumes) {
    UNUSED;
    (void)wg_tape_resume(t);
    return smooth(t, n, x, m, y, data);
}
CALL_OF(goes_forward) {
    UNUSED;
    (void)smooth(t, n, x, m, y, data);
    return wg_tape_forward(t, 3);
}
CALL_OF(writes_too_many) {
    UNUSED;
    (void)smooth(t, n, x, m, y, data);
    y[m] = wg_constant(1);
    return WG_OK;
}
CALL_OF(rewinds) {
    UNUSED;
    const wg_mark here = wg_tape_mark(t);
    (void)smooth(t, n, x, m, y, data);
    return wg_tape_rewind(t, here);
}
CALL_OF(rewinds_far) {
    UNUSED;
    (void)status(wg_tape_rewind(t, world.room[0].mark[0]));
    return smooth(t, n, x, m, y, data);
}
CALL_OF(gives_nan) {
    UNUSED;
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_log(wg_mul(-1, wg_exp(at(n, x, j)))));
    return WG_OK;
}
CALL_OF(gives_constants) {
    UNUSED;
    for (size_t j = 0; j < m; j++) y[j] = wg_constant((double)j);
    return WG_OK;
}
CALL_OF(sweeps) {
    UNUSED;
    (void)smooth(t, n, x, m, y, data);
    return m != 0 ? wg_reverse(t, y[0]) : WG_OK;
}
CALL_OF(replays) {
    UNUSED;
    const double a[] = {1, 2, 3, 4};
    (void)smooth(t, n, x, m, y, data);
    return n <= 4 ? wg_tape_replay(t, n, x, a) : WG_OK;
}
CALL_OF(makes_functions) {
    UNUSED;
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    wg_function *f = NULL;
    (void)smooth(t, n, x, m, y, data);
    const wg_status s = wg_function_extract(t, 1, &in, x, 1, &out, y, &f);
    wg_function_free(f);
    return s;
}
CALL_OF(makes_inputs) {
    UNUSED;
    const wg_real z = wg_input(t, 0.5);
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(z, at(n, x, j)));
    return WG_OK;
}
CALL_OF(fails_in_matrices) {
    UNUSED;
    const wg_mat zero = wg_mat_fill(t, 2, 2, 0), s = wg_inverse(t, zero);
    for (size_t j = 0; j < m; j++) y[j] = wg_mat_at(s, 0, 0);
    return WG_OK;
}

static wg_callback *const honest[] = {smooth, matrices, solves, arrays, branches, calls, scans};
static wg_callback *const odd[] = {fails,
                                   returns_nothing_known,
                                   says_no_without_reason,
                                   writes_nothing,
                                   resets,
                                   drives,
                                   gives_strangers,
                                   takes_strangers,
                                   pauses,
                                   resumes,
                                   goes_forward,
                                   writes_too_many,
                                   rewinds,
                                   rewinds_far,
                                   gives_nan,
                                   gives_constants,
                                   sweeps,
                                   replays,
                                   makes_functions,
                                   makes_inputs,
                                   fails_in_matrices};
static const char *const honest_names[] = {"smooth",   "matrices", "solves", "arrays",
                                           "branches", "calls",    "scans"};
static const char *const odd_names[] = {"fails",
                                        "returns_nothing_known",
                                        "says_no_without_reason",
                                        "writes_nothing",
                                        "resets",
                                        "drives",
                                        "gives_strangers",
                                        "takes_strangers",
                                        "pauses",
                                        "resumes",
                                        "goes_forward",
                                        "writes_too_many",
                                        "rewinds",
                                        "rewinds_far",
                                        "gives_nan",
                                        "gives_constants",
                                        "sweeps",
                                        "replays",
                                        "makes_functions",
                                        "makes_inputs",
                                        "fails_in_matrices"};

wg_callback *one_callback(void) {
    return one_in(5) ? odd[below(sizeof odd / sizeof *odd)]
                     : honest[below(sizeof honest / sizeof *honest)];
}

wg_callback *draw_callback(const char *name) {
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    wg_callback *const f = one_callback();
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (odd[i] == f) named(name, "%s", odd_names[i]);
    for (size_t i = 0; i < sizeof honest / sizeof *honest; i++)
        if (honest[i] == f) named(name, "%s", honest_names[i]);
    return f;
}

/* ---- anywhere ---- */

/* It stops at the first piece: who dumps at each piece of a dump takes time by the square. */
static int nowhere(void *ctx, const char *text, size_t bytes) {
    (void)ctx;
    for (size_t i = 0; i < bytes; i++) sink = text[i];
    return 1;
}

void meddle(void) {
    static int inside; /* what is called here may call again */
    struct room *const r = one_in(3) || call.room == NULL ? &world.room[0] : call.room;
    wg_tape *const t = r->tape;
    const double at[] = {1, 2, 3, 4};
    if (t == NULL || inside) return;
    inside = 1;
    wg_real x = wg_constant(1);
    const size_t what = below(10);
    if (what >= 2) x = wg_input(t, 0.5);
    if (what == 0 || one_in(8)) wg_tape_reset(t);
    if (what == 1) (void)status(wg_tape_rewind(t, r->mark[0]));
    if (what == 2)
        for (size_t i = 0, n = below(2000); i < n; i++) x = wg_let(t, wg_add(wg_sin(x), 1));
    if (what == 3) {
        const size_t n = below(40);
        wg_mat a = wg_mat_fill(t, n, n, 0.1);
        for (size_t i = 0; i < 3; i++) a = wg_expm(t, wg_mat_scale_real(t, x, a));
    }
    if (what == 4) (void)status(wg_reverse(t, wg_let(t, wg_square(x))));
    if (what == 5) (void)status(wg_tape_replay(t, 1, &r->real[0], at));
    if (what == 6) (void)status(wg_gradient(t, smooth, NULL, 2, at, NULL, results));
    if (what == 7) (void)status(wg_tape_dump(t, nowhere, NULL));
    if (what == 8) (void)status(wg_tape_pause(t)), (void)status(wg_tape_resume(t));
    if (what == 9) {
        const wg_argument in = {"x", 1, 1, 0};
        const wg_real y = wg_let(t, wg_exp(x));
        wg_function *f = NULL;
        (void)status(wg_function_extract(t, 1, &in, &x, 1, &in, &y, &f));
        wg_function_free(f);
    }
    inside = 0;
}

/* ---- progress ---- */

/* By tape, the last one without: a tape goes on telling its own when another is told of. */
static struct told {
    wg_tape *tape;
    unsigned left; /* calls before it stops */
} told[TAPES + 1];

static int counts(void *context, double done) {
    struct told *const to = (struct told *)context;
    if (to < told || to > told + TAPES || !(done >= 0 && done <= 1))
        finding("what progress is told");
    return to->left-- == 0;
}
static int meddles(void *context, double done) {
    struct told *const to = (struct told *)context;
    wg_tape *const t = to->tape;
    (void)done;
    const wg_real x = wg_input(t, 1);
    if (t != NULL && x.value == x.value) finding("the callback for progress records");
    if (wg_reverse(t, x) == WG_OK) finding("the callback for progress sweeps");
    if (t != NULL && (wg_tape_pause(t) == WG_OK || wg_tape_resume(t) == WG_OK))
        finding("the callback for progress pauses or resumes");
    wg_tape_reset(t);
    return to->left-- == 0;
}

const wg_progress *draw_progress(wg_tape *t) {
    static const double seconds[] = {0, 0, 0, 1e-6, 1e9, -1, NAN};
    static wg_progress p;
    size_t room = 0;
    while (room < TAPES && world.room[room].tape != t) room++;
    if (t == NULL) room = TAPES;
    told[room].tape = t;
    told[room].left = (unsigned)below(one_in(2) ? 3 : 40);
    p.call = one_in(8) ? NULL : one_in(3) ? meddles : counts;
    p.context = &told[room];
    p.seconds = seconds[below(7)];
    named("progress", "{%s, %u, %g}",
          p.call == NULL     ? "NULL"
          : p.call == counts ? "counts"
                             : "meddles",
          told[room].left, p.seconds);
    if (!one_in(6)) return &p;
    named("progress", "NULL");
    return NULL;
}
