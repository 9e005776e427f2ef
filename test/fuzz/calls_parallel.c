/* SPDX-License-Identifier: MIT */
/* calls_parallel.c - rows: parallel loops. A loop may stay open from one call to the next: its
 * tape is closed then, and is reset or freed as others are, while segments go on recording. */
#include "calls.h"
#include <wengert/openmp.h>

/* More segments than these, which are allowed, would use up the memory of the world. */
enum { MOST_SEGMENTS = 64, MOST_PARTS = 3 };

/* ---- segments ---- */

static const struct parallel nobody = {NULL, TAPES, POOLS, 0};

/* Made of the tape of the call, with whose threads; not before the loop on the old ones is
 * over. */
static wg_status segments_open(size_t k, wg_tape *t, size_t segments, wg_parallel **out) {
    const size_t pool = below(POOLS);
    wg_threads *const threads = one_in(2) ? NULL : world.pool[pool];
    parallel_close(k);
    const wg_status s = wg_parallel_new(t, segments, threads, out);
    if (threads != NULL) world.parallel[k].pool = pool;
    return s;
}

/* Segments that there are, or are made of the tape of the call; nobody: NULL. */
static struct parallel *draw_segments(const char *name, struct parallel *none) {
    const size_t k = below(PARALLELS);
    struct parallel *const l = &world.parallel[k];
    *none = nobody;
    if (one_in(60)) {
        named(name, "NULL");
        return none;
    }
    if (l->p == NULL && call.room != NULL) {
        aside("segments s%zu = wg_parallel_new(t%zu, ...)", k, room_number(call.room));
        (void)status(segments_open(k, call.room->tape, 1 + below(4), &l->p));
    }
    named(name, "%s%zu", l->p != NULL ? "s" : "NULL, no s", k);
    return l;
}
#define SEGMENTS(v)                                                                            \
    struct parallel none_, *const l_ = draw_segments(#v, &none_);                              \
    wg_parallel *const v = l_->p
/* What is kept is of the tape of the loop, if there is one. */
#define LOOP_ROOM                                                                              \
    if (l_->tape < TAPES) call.room = &world.room[l_->tape]

/* A variable of the tape, or of a segment; it is not made, for the tape is closed. */
static wg_real operand(void) {
    const struct room *const r = one_in(40) ? &world.room[below(TAPES)] : call.room;
    const wg_tape *const t = r->tape;
    for (size_t k = below(REALS), i = 0; i < REALS && !one_in(20); i++, k = (k + 1) % REALS)
        if (r->real[k].at.stamp == t->stamp && r->real[k].at.slot < t->slots) return r->real[k];
    return one_in(3) ? wg_constant(number()) : r->real[below(REALS)];
}

/* ---- what is recorded ---- */

static void honest_call(wg_tape *s) {
    const wg_real a = operand(), b = operand(), x[] = {a, b, operand(), operand()};
    switch (below(10)) {
    case 0:
        keep_real(wg_input(s, number()));
        break;
    case 1:
        keep_real(wg_sum(s, 3, x));
        break;
    case 2:
        keep_real(wg_maximum(s, 3, x));
        break;
    case 3:
        sink = wg_lt(s, a, b);
        break;
    case 4:
        keep_real(wg_lookup(s, wg_constant((double)below(4)), 3, x));
        break;
    case 5:
        keep_real(wg_apply_scalar(s, &wgi_scalar_ops[below(wgi_scalar_op_count)], x));
        break;
    case 6:
        for (size_t i = 0; i < 200; i++) sink = wg_let(s, wg_mul(a, wg_sin(b))).value;
        break;
    default:
        keep_real(wg_let(s, wg_add(wg_mul(a, b), wg_exp(wg_neg(a)))));
    }
}

static wg_status doubled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(2, x[0]));
    return WG_OK;
}

/* What a segment refuses or fails by name. */
static void hostile_call(wg_tape *s) {
    static double number_[4] = {1, 2, 3, 4};
    const wg_real a = operand(), x[] = {a, operand()};
    wg_parallel *inner = NULL;
    wg_stats stats;
    const size_t what = below(20);
    if (call.printing) aside("hostile call %zu", what);
    switch (what) {
    case 0:
        (void)status(wg_reverse(s, a));
        break;
    case 1:
        (void)wg_mat_input(s, 2, 2, number_, 2);
        break;
    case 2:
        if (wg_tape_keep(s, 100, NULL) != NULL && s != NULL) finding("a segment keeps memory");
        break;
    case 3:
        wg_tape_reset(s);
        break;
    case 4:
        wg_tape_free(s);
        break;
    case 5:
        (void)status(wg_tape_rewind(s, wg_tape_mark(s)));
        break;
    case 6:
        (void)status(wg_tape_forward(s, below(3)));
        break;
    case 7:
        (void)status(wg_tape_stats(s, &stats));
        break;
    case 8:
        sink = (double)strlen(wg_tape_message(s));
        break;
    case 9:
        (void)status(wg_label(s, a, "a"));
        break;
    case 10:
        sink = wg_adjoint(s, a);
        break;
    case 11:
        (void)status(wg_gradient(s, doubled, NULL, 1, number_, results, results + 1));
        break;
    case 12:
        (void)status(wg_parallel_begin(world.parallel[below(PARALLELS)].p, s));
        break;
    case 13:
        (void)status(wg_parallel_new(s, 2, NULL, &inner));
        if (inner != NULL) finding("segments of a segment");
        break;
    case 14:
        (void)status(wg_tape_pause(s));
        break;
    case 15:
        (void)status(wg_tape_resume(s));
        break;
    case 16:
        (void)status(wg_tape_hvp(s, a, 1, x, number_, results));
        break;
    case 17:
        (void)status(wg_tape_replay(s, 1, x, number_));
        break;
    case 18:
        sink = wg_tape_value(s, a);
        break;
    default:
        (void)status(wg_adjoint_seed(s, a, 1));
    }
}

static void use_segment(struct parallel *l, size_t k) {
    wg_tape *const s = wg_parallel_tape(l->p, k);
    if (one_in(12)) hostile_call(s);
    else honest_call(s);
    (void)status(wg_tape_status(s));
}

static size_t draw_segment(const struct parallel *l) {
    const size_t n = wg_parallel_segments(l->p);
    return n == 0 || one_in(30) ? (one_in(2) ? n : SIZE_MAX) : below(n);
}

/* ---- life ---- */

ROW(wg_parallel_new) {
    wg_tape *const drawn = draw_tape("t"), *const t = drawn != NULL ? call.room->tape : NULL;
    const size_t k = below(PARALLELS); /* no segment: these are freed first */
    const size_t segments = one_in(60)  ? MOST_SEGMENTS
                            : one_in(8) ? draw_size("segments")
                                        : 1 + below(5);
    wg_parallel **const out = one_in(60) ? NULL : &world.parallel[k].p;
    named("segments", "%zu", segments);
    say("", "wg_parallel_new(t, segments, threads, out)");
    (void)status(segments_open(k, t, segments, out));
    if (out == NULL || world.parallel[k].p == NULL) parallel_close(k);
}
ROW(wg_parallel_free) {
    const size_t k = below(PARALLELS);
    say("", "wg_parallel_free(p)");
    if (one_in(8)) wg_parallel_free(NULL);
    parallel_close(k);
}
ROW(wg_parallel_segments) {
    SEGMENTS(p);
    GIVES_NUMBER(wg_parallel_segments(p));
}
ROW(wg_parallel_from) {
    SEGMENTS(p);
    SIZE(k);
    SIZE(n);
    say("", "wg_parallel_from(p, k, n)");
    const size_t all = wg_parallel_segments(p), from = wg_parallel_from(p, k, n);
    if (from > n || (k != SIZE_MAX && wg_parallel_from(p, k + 1, n) < from) ||
        wg_parallel_from(p, all, n) != n || (all != 0 && wg_parallel_from(p, 0, n) != 0))
        finding("iterations are not shared out");
}

/* ---- a loop ---- */

static wg_status begin(struct parallel *l, wg_tape *t) {
    const wg_status s = wg_parallel_begin(l->p, t);
    if (l->p == NULL || l->open || t == NULL) return s;
    l->tape = room_number(call.room);
    l->open = s == WG_OK;
    if (l->pool < POOLS) world.pool_tapes[l->pool] |= 1U << l->tape;
    return s;
}

ROW(wg_parallel_begin) {
    TAPE(t);
    SEGMENTS(p);
    if (p != NULL && l_->open && !one_in(6)) {
        aside("wg_parallel_join of the loop before");
        (void)status(parallel_join(l_));
    }
    say("", "wg_parallel_begin(p, t)");
    (void)status(begin(l_, t));
    if (p == NULL || t == NULL) return;
    for (size_t i = below(8); i != 0; i--) use_segment(l_, draw_segment(l_));
    if (one_in(2)) return;
    aside("wg_parallel_join");
    (void)status(parallel_join(l_));
}
ROW(wg_parallel_tape) {
    TAPE(t);
    (void)t;
    SEGMENTS(p);
    const size_t k = draw_segment(l_);
    LOOP_ROOM;
    named("k", "%zu", k);
    say("", "wg_parallel_tape(p, k)");
    if ((wg_parallel_tape(p, k) != NULL) != (k < wg_parallel_segments(p)))
        finding("a segment that is none");
    use_segment(l_, k);
}
ROW(wg_parallel_join) {
    SEGMENTS(p);
    (void)p;
    say("", "wg_parallel_join(p)");
    (void)status(parallel_join(l_));
}
ROW(wg_parallel_adopt) {
    static wg_real v_[4];
    SEGMENTS(p);
    LOOP_ROOM;
    const size_t n = one_in(40) ? draw_size("n") : below(5), at = below(REALS - 4);
    wg_real *const v = one_in(60) || n > 4 ? NULL : v_;
    memcpy(v_, call.room->real + at, sizeof v_);
    named("n", "%zu", n);
    GIVES_STATUS(wg_parallel_adopt(p, n, v));
    memcpy(call.room->real + at, v_, sizeof v_);
}
ROW(wg_parallel_reduce) {
    static wg_real part_[MOST_PARTS * MOST_SEGMENTS], y_[MOST_PARTS];
    SEGMENTS(p);
    LOOP_ROOM;
    const size_t n = one_in(20) ? draw_size("n") : below(MOST_PARTS + 1);
    const wg_reduction how = (wg_reduction)(one_in(30) ? 77 : below(4));
    for (size_t i = 0; i < wg_parallel_segments(p) * MOST_PARTS; i++) part_[i] = operand();
    wg_real *const part = one_in(60) || n > MOST_PARTS ? NULL : part_;
    wg_real *const y = one_in(60) || n > MOST_PARTS ? NULL : y_;
    named("how", "%d", (int)how);
    named("n", "%zu", n);
    GIVES_STATUS(wg_parallel_reduce(p, how, n, part, y));
    for (size_t j = 0; y != NULL && j < n; j++) keep_real(y[j]);
}

/* Statements in whatever thread: they draw nothing. */
struct task {
    wg_parallel *p;
    wg_real x[2], *part;
    size_t statements, fails; /* fails: the segment that does */
};
static wg_status record(void *ctx, size_t k) {
    const struct task *const a = ctx;
    wg_tape *const s = wg_parallel_tape(a->p, k);
    wg_real y = wg_let(s, wg_mul(a->x[k % 2], (double)k + 1));
    for (size_t i = 0; i < a->statements; i++)
        y = wg_let(s, wg_add(y, wg_sin(wg_mul(y, a->x[i % 2]))));
    a->part[k] = y;
    return k == a->fails ? WG_ESINGULAR : WG_OK;
}
static wg_real parts[MOST_SEGMENTS];

ROW(wg_parallel_run) {
    SEGMENTS(p);
    LOOP_ROOM;
    struct task a = {
        p, {operand(), operand()}, parts, below(9), one_in(8) ? below(3) : SIZE_MAX};
    wg_task *const f = one_in(40) ? NULL : record;
    const unsigned odds = world.odds;
    if (l_->pool < POOLS) world.odds = 0;
    if (one_in(40)) a.statements = 4000;
    for (size_t k = 0; k < wg_parallel_segments(p); k++) parts[k] = wg_constant(0);
    GIVES_STATUS(wg_parallel_run(p, f, &a));
    world.odds = odds;
    for (size_t k = 0; k < wg_parallel_segments(p) && k < 4; k++) keep_real(parts[k]);
}
/* The macro for OpenMP, which does without it what it does with it. */
ROW(wgi_parallel_recorded) {
    SEGMENTS(p);
    LOOP_ROOM;
    SIZE(k);
    const wg_real x = operand();
    const size_t n = below(20);
    GIVES_NUMBER(wgi_parallel_recorded(p, k));
    WG_OPENMP_FOR(p, s, i, n) {
        const wg_real y = wg_let(s, wg_mul(x, (double)i));
        if (i < 4) keep_real(y);
    }
}

/* ---- loops from beginning to end ---- */

/* y = x + 2 x + ... + n x */
static wg_status add_up(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    struct parallel *const l = data;
    struct task a = {l->p, {x[0], x[0]}, parts, 0, SIZE_MAX};
    (void)n, (void)m;
    wg_status s = begin(l, t);
    if (s != WG_OK) return s;
    s = wg_parallel_run(l->p, record, &a);
    if (s != WG_OK) finding("a task that cannot fail does");
    s = parallel_join(l);
    return s != WG_OK ? s : wg_parallel_reduce(l->p, WG_REDUCE_SUM, 1, parts, y);
}

#define WHOLE_LOOP                                                                             \
    TAPE(t);                                                                                   \
    SEGMENTS(p);                                                                               \
    if (p == NULL || t == NULL) return;                                                        \
    if (l_->open) (void)status(parallel_join(l_));                                             \
    const double at = (double)below(7) - 3, all = (double)wg_parallel_segments(p),             \
                 slope = all * (all + 1) / 2;                                                  \
    const unsigned odds = world.odds;                                                          \
    if (l_->pool < POOLS) world.odds = 0;                                                      \
    named("at", "%g", at)

ROW(whole_loop) {
    WHOLE_LOOP;
    const wg_real x = wg_input(t, at);
    wg_real y = wg_constant(0);
    say("", "a loop over x = at, a sweep");
    const wg_status s = add_up(t, 1, &x, 1, &y, l_);
    world.odds = odds;
    if (status(s) != WG_OK) return;
    if (y.value != slope * at) finding("the sum of a loop");
    keep_real(y);
    if (y.at.slot != 0 && status(wg_reverse(t, y)) == WG_OK && x.at.slot != 0 &&
        wg_adjoint(t, x) != slope)
        finding("the derivative of a loop");
}
ROW(loop_in_a_driver) {
    double value = 0, g = 0;
    WHOLE_LOOP;
    say("", "wg_gradient(t, a loop, at)");
    const wg_status s = wg_gradient(t, add_up, l_, 1, &at, &value, &g);
    world.odds = odds;
    if (status(s) == WG_OK && (value != slope * at || g != slope))
        finding("the gradient of a loop");
}

static const struct row list[] = {
    LISTED(wg_parallel_new, 2),       LISTED(wg_parallel_free, 1),
    LISTED(wg_parallel_segments, 1),  LISTED(wg_parallel_from, 1),
    LISTED(wg_parallel_begin, 16),    LISTED(wg_parallel_tape, 16),
    LISTED(wg_parallel_join, 8),      LISTED(wg_parallel_adopt, 12),
    LISTED(wg_parallel_reduce, 6),    LISTED(wg_parallel_run, 4),
    LISTED(wgi_parallel_recorded, 4), LISTED(whole_loop, 8),
    LISTED(loop_in_a_driver, 4),
};
const struct rows calls_parallel = ROWS(list);
