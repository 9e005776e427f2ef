/* SPDX-License-Identifier: MIT */
/* A function that branches on a value, or makes a constant of one, records something else at
 * another point, and what is made of the recording is wrong there. To find that, it is recorded
 * at other points, too.
 *
 * Two recordings are walked side by side: entries of code, blocks and inputs have to be the
 * same, with the same operands, numbers and constants, up to a comparison that came out
 * differently, from which on they may be different. What stands in the parameters of matrix
 * operations is not known here: the second recording is replayed at the first point, and has
 * to give the first one's values. */
#include "value_branches.h"
#include "numbers.h"

#include "slot_walk.h"

#include <math.h>
#include <stdio.h>

/* The statements that the second recording may have beyond those of the first. */
enum { MORE = 16, TEXT = 160 };

/* ---- what is different ---- */

typedef struct difference {
    int found;
    char what[2][TEXT]; /* of both recordings */
} difference;

static void describe_place(const wgi_core *c, uint32_t slot, char *to) {
    const wgi_place *const p = slot == 0 ? NULL : wgi_place_of(c, slot);
    const size_t at = strlen(to);
    if (p != NULL) (void)snprintf(to + at, TEXT - at, " (%.60s:%u)", p->file, p->line);
}

/* What the walk has come to; end: it is at its end. */
static void describe(const wgi_slot_walk *w, int end, char *to) {
    char text[64];
    if (end) {
        (void)snprintf(to, TEXT, "nothing more");
    } else if (w->block != NULL) {
        const wgi_operand *const y = &w->block->operand[w->block->inputs];
        (void)snprintf(to, TEXT, "%.60s, %ux%u", w->block->op->name, y->rows, y->cols);
    } else if (w->coded) {
        if (wgi_code_text(&w->entry, text, sizeof text) >= sizeof text)
            memcpy(text + sizeof text - 4, "...", 4);
        (void)snprintf(to, TEXT, "%s", text);
    } else {
        (void)snprintf(to, TEXT, "an input of value %.17g", wgi_values(w->c)[w->slot]);
    }
    if (!end) describe_place(w->c, w->slot, to);
}

static void differs(difference *d, const wgi_slot_walk *a, int a_ends, const wgi_slot_walk *b,
                    int b_ends) {
    d->found = 1;
    describe(a, a_ends, d->what[0]);
    describe(b, b_ends, d->what[1]);
}

/* ---- two recordings side by side ---- */

static int same_entry(const wgi_entry *a, const wgi_entry *b) {
    if (a->type != b->type || a->op != b->op || a->code != b->code ||
        a->operands != b->operands || a->numbers != b->numbers)
        return 0;
    for (size_t k = 0; k < a->operands; k++)
        if (a->slot[k] != b->slot[k]) return 0;
    for (size_t k = 0; k < a->numbers; k++)
        if (!wgi_same_number(a->number[k], b->number[k])) return 0;
    return 1;
}

/* The same comparison of the same two: how it came out is another matter. */
static int same_comparison(const wgi_entry *a, const wgi_entry *b) {
    if (a->op / 2 != b->op / 2) return 0;
    for (int k = 0; k < 2; k++)
        if (a->slot[k] != b->slot[k] ||
            (a->slot[k] == 0 && !wgi_same_number(a->number[k], b->number[k])))
            return 0;
    return 1;
}

/* A number that the same variable is compared with is another one, as where code goes on with
 * the whole part of a variable: would b have come out differently with that of a? */
static int says_why(const wgi_core *c, const wgi_entry *a, const wgi_entry *b) {
    double side[2];
    if (a->op != b->op) return 0;
    for (int k = 0; k < 2; k++) {
        if (a->slot[k] != b->slot[k]) return 0;
        side[k] = a->slot[k] != 0 ? wgi_values(c)[a->slot[k]] : a->number[k];
    }
    return wgi_compare(a->op / 2, side[0], side[1]) != (int)(a->op & 1);
}

static int same_constants(const wgi_operand *a, const wgi_operand *b) {
    const size_t rows = a->trans ? a->cols : a->rows, cols = a->trans ? a->rows : a->cols;
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            if (!wgi_same_number(a->value[i + j * a->ld], b->value[i + j * b->ld])) return 0;
    return 1;
}

static int same_block(const wgi_block *a, const wgi_block *b) {
    if (a->op != b->op || a->outs != b->outs || a->inputs != b->inputs ||
        a->outputs != b->outputs)
        return 0;
    for (uint32_t k = 0; k < a->inputs + a->outputs; k++) {
        const wgi_operand *const x = &a->operand[k], *const y = &b->operand[k];
        if (x->slot != y->slot || x->rows != y->rows || x->cols != y->cols ||
            x->trans != y->trans || (x->slot != 0 && x->ld != y->ld))
            return 0;
        if (k < a->inputs && x->slot == 0 && !same_constants(x, y)) return 0;
    }
    const uint32_t *const from = wgi_gather_slots(a), *const to = wgi_gather_slots(b);
    for (uint32_t e = 0; from != NULL && e < a->outs; e++)
        if (from[e] != to[e] ||
            (from[e] == 0 &&
             !wgi_same_number(a->operand[a->inputs].value[e], b->operand[b->inputs].value[e])))
            return 0;
    return 1;
}

static int is_guard(const wgi_slot_walk *w) {
    return w->coded && w->entry.type == WGI_ENTRY_GUARD;
}

/* Is it the same that two walks have come to? Inputs beyond those of the function are
 * constants. */
static int same_step(const wgi_slot_walk *a, const wgi_slot_walk *b, size_t n) {
    if ((a->block == NULL) != (b->block == NULL) || a->coded != b->coded ||
        is_guard(a) != is_guard(b))
        return 0;
    if (a->block != NULL) return same_block(a->block, b->block);
    if (is_guard(a)) return same_comparison(&a->entry, &b->entry);
    if (a->coded) return same_entry(&a->entry, &b->entry);
    return a->slot <= n ||
           wgi_same_number(wgi_values(a->c)[a->slot], wgi_values(b->c)[b->slot]);
}

/* 1: they are the same to their ends; 0: they differ, or may from a comparison on. The second
 * one may have failed for lack of slots, and is then looked at as far as it goes. */
static int same_recording(const wgi_core *a, const wgi_core *b, size_t n, difference *d) {
    wgi_slot_walk x = wgi_slot_walk_of(a), y = wgi_slot_walk_of(b);
    for (;;) {
        const int more = wgi_slot_step(&x), other = wgi_slot_step(&y);
        if (!more && !other) return 1;
        if (more && other && is_guard(&x) && is_guard(&y) && says_why(b, &x.entry, &y.entry))
            return 0;
        if (!more || !other || !same_step(&x, &y, n)) {
            differs(d, &x, !more, &y, !other);
            return 0;
        }
        if (is_guard(&x) && x.entry.op != y.entry.op) return 0;
    }
}

/* ---- outputs, and the values of matrix operations ---- */

static void describe_output(const wg_real *y, size_t j, char *to) {
    char text[WGI_NUMBER_TEXT];
    if (y->at.slot != 0) (void)snprintf(to, TEXT, "output %zu is s%u", j, y->at.slot);
    else
        (void)snprintf(to, TEXT, "output %zu is the constant %s", j,
                       wgi_number_text(text, y->value));
}

static int same_outputs(const wgi_drive *a, const wgi_drive *b, difference *d) {
    for (size_t j = 0; j < a->m; j++) {
        const wg_real *const x = &a->y[j], *const y = &b->y[j];
        if (x->at.slot == y->at.slot &&
            (x->at.slot != 0 || wgi_same_number(x->value, y->value)))
            continue;
        d->found = 1;
        describe_output(x, j, d->what[0]);
        describe_output(y, j, d->what[1]);
        return 0;
    }
    return 1;
}

/* Far more than what matrices that stand elsewhere in memory could make of the same numbers. */
#define FAR 0x1p-30

/* The second recording, replayed at the first point: the first operation whose values are
 * others. */
static void compare_values(const wgi_core *a, const wgi_core *b, difference *d) {
    const double *const x = wgi_values(a), *const y = wgi_values(b);
    for (wgi_slot_walk w = wgi_slot_walk_of(a); wgi_slot_step(&w);) {
        double size = 0, apart = 0;
        int nan = 0;
        for (uint32_t s = w.slot; s != 0 && s < w.next; s++) {
            if (wgi_same_number(x[s], y[s])) continue;
            nan |= (x[s] != x[s]) != (y[s] != y[s]);
            apart = fmax(apart, fabs(x[s] - y[s]));
            size = fmax(size, fmax(fabs(x[s]), fabs(y[s])));
        }
        if (apart == 0 && !nan) continue;
        /* NaN and infinities are no rounding of anything else */
        if (w.block == NULL || (!nan && apart < INFINITY && apart <= FAR * size)) return;
        d->found = 1;
        describe(&w, 0, d->what[0]);
        (void)snprintf(d->what[1], TEXT, "the same operation with other parameters");
        return;
    }
}

/* ---- points ---- */

enum { OWN = 6 };
static const char *const own_point[OWN] = {
    "-x", "x in reverse order", "2 x", "x +- 1", "100 x", "x / 100"};

static double own_entry(size_t which, size_t n, const double *x, size_t i) {
    switch (which) {
    case 0:
        return x[i] != 0 ? -x[i] : -1;
    case 1:
        return x[n - 1 - i];
    case 2:
        return 2 * x[i];
    case 3:
        return i % 2 == 0 ? x[i] + 1 : x[i] - 1;
    case 4:
        return 100 * x[i];
    default:
        return x[i] / 100;
    }
}

/* Is the point worth a call? */
static int is_another(size_t n, const double *x, const double *point) {
    for (size_t i = 0; i < n; i++)
        if (!wgi_same_number(x[i], point[i])) return 1;
    return 0;
}

/* ---- the check ---- */

typedef struct recording {
    wg_tape *t;
    wgi_drive d;
    wg_status s; /* of the callback */
} recording;

static int open_recording(recording *r, wgi_core *c, size_t slots) {
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE | (c->flags & (WG_KEEP_PLACES | WG_CHECKED));
    o.max_slots = slots;
    o.loops_over = c->loops_over;
    return wgi_tape_beside(c, &o, &r->t) == WG_OK;
}

/* Records f at a point; it stays until it is closed. */
static void begin_recording(recording *r, const char *call, wg_callback *f, void *data,
                            size_t n, const double *x, size_t m) {
    r->s = wgi_drive_open(&r->d, r->t, call, f, data, n, m, 0);
    if (r->s == WG_OK) r->s = wgi_drive_run(&r->d, 0, x);
}

static void end_recording(recording *r) {
    (void)wgi_drive_close(&r->d, r->s);
    wg_tape_reset(r->t);
}

/* Has the callback left the tape alone that it was not given? */
static int is_empty(const wgi_core *c) {
    return c->status == WG_OK && c->head.slots == 1 && c->head.code_words == 0;
}

static void compare(recording *a, recording *b, const double *x, difference *d) {
    const wgi_core *const first = wgi_core_of(a->t), *const second = wgi_core_of(b->t);
    if (b->s != WG_OK && b->s != WG_ESLOTS) return;
    if (!same_recording(first, second, a->d.n, d) || b->s != WG_OK) return;
    if (!same_outputs(&a->d, &b->d, d) || first->head.last_block == NULL) return;
    if (wg_tape_replay(b->t, b->d.n, b->d.x, x) == WG_OK) compare_values(first, second, d);
}

static wg_status report(wgi_core *c, const char *call, const char *point, const difference *d) {
    return wgi_fail(
        c, WG_EBRANCH,
        "%s: at x the function records %s, at %s %s: no recorded comparison says why "
        "(wg_lt, wg_select_lt)",
        call, d->what[0], point, d->what[1]);
}

/* Both tapes are there, and room for a point. */
static wg_status check(wgi_core *c, const char *call, recording *a, recording *b,
                       const double *x, size_t points, const double *at, double *room) {
    const wgi_drive *const o = &a->d;
    char name[40];
    for (size_t k = 0; k < (at != NULL ? points : OWN); k++) {
        difference d = {0};
        for (size_t i = 0; i < o->n; i++)
            room[i] = at != NULL ? at[k * o->n + i] : own_entry(k, o->n, x, i);
        if (!is_another(o->n, x, room)) continue;
        begin_recording(b, call, o->f, o->data, o->n, room, o->m);
        const int judged = is_empty(c);
        if (judged) compare(a, b, x, &d);
        if (judged && b->s == WG_ESTOPPED) (void)wgi_fail(c, b->s, "%s", wg_tape_message(b->t));
        end_recording(b);
        if (!is_empty(c)) return c->status == WG_ESTOPPED ? c->status : WG_OK;
        (void)snprintf(name, sizeof name, "point %zu", k);
        if (d.found) return report(c, call, at != NULL ? name : own_point[k], &d);
    }
    return WG_OK;
}

/* At most at a time: a function may rewind. */
static uint64_t slots_used(const wgi_core *c) {
    return c->head.slots > c->max_slot_count ? c->head.slots : c->max_slot_count;
}

wg_status wgi_value_branches(wgi_core *c, const char *call, wg_callback *f, void *data,
                             size_t n, const double *x, size_t m, size_t points,
                             const double *at) {
    recording a, b;
    wg_status s = WG_OK;
    if (n == 0 || x == NULL || !is_empty(c) || !open_recording(&a, c, c->max_slots))
        return WG_OK;
    wgi_core_of(a.t)->judged = 1;
    begin_recording(&a, call, f, data, n, x, m);
    if (a.s == WG_EBRANCH || a.s == WG_ESTOPPED)
        s = wgi_fail(c, a.s, "%s", wg_tape_message(a.t));
    if (a.s == WG_OK && is_empty(c) &&
        open_recording(&b, c, slots_used(wgi_core_of(a.t)) + MORE)) {
        double *const room = wg_tape_keep(a.t, n * sizeof *room, NULL);
        if (room != NULL) s = check(c, call, &a, &b, x, points, at, room);
        wg_tape_free(b.t);
    }
    end_recording(&a);
    wg_tape_free(a.t);
    return s;
}
