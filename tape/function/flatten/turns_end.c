/* SPDX-License-Identifier: MIT */
/* turns_end.c - the record of a loop whose first two turns have run: what turns have in common
 * is checked for all of them, accesses become inputs and outputs of a function, and that is
 * mapped over the turns. */
#include "turns.h"

#include <string.h>

/* ---- what turns share -------------------------------------------------------------------- */

static int is_outer(const wgi_turn_access *q) { return q->local == 0 && !q->whole; }

enum { MOST_TURNS_AGO = 64 };

/* How many turns ago w was written where q is read now; below 0: it will be in so many turns,
 * and what is read was there before the loop. 0: something else. */
static intptr_t turns_ago(const wgi_turns *r, const wgi_turn_access *w,
                          const wgi_turn_access *q) {
    if (!w->stored || w->added || q->stored || q->added || w->stride != q->stride ||
        w->stride == 0 || w->number != q->number || w->each || q->each)
        return 0;
    const intptr_t apart = (intptr_t)(w->at - q->at), turns = apart / w->stride;
    if (turns * w->stride != apart || turns > MOST_TURNS_AGO || turns >= (intptr_t)r->turn)
        return 0;
    return turns;
}

static int is_carried(const wgi_turns *r, const wgi_turn_access *w, const wgi_turn_access *q) {
    return (r->flags & WG_TURNS_CARRIED) != 0 && turns_ago(r, w, q) > 0;
}

/* The index of a place that meets one that is written to; accesses.n: none does. */
static size_t conflict(wgi_turns *r) {
    const size_t n = r->accesses.n;
    for (size_t i = 0; i < n; i++) {
        const wgi_turn_access *const w = wgi_turn_access_at(r, i);
        if (!is_outer(w) || (!w->stored && !w->added)) continue;
        const size_t apart = (size_t)(w->stride < 0 ? -w->stride : w->stride);
        if (apart != 0 && apart < w->size) return i;
        for (size_t k = 0; k < n; k++) {
            const wgi_turn_access *const q = wgi_turn_access_at(r, k);
            if (k == i || !is_outer(q)) continue;
            if (wgi_turn_meet(r, w, q) && turns_ago(r, w, q) >= 0 && !is_carried(r, w, q))
                return k;
        }
    }
    return n;
}

/* What was written to w some turns ago is the state of a scan, and the values that it had
 * meanwhile are, too. */
static void hold(wgi_turns *r, size_t written) {
    intptr_t most = 0;
    const size_t n = r->accesses.n;
    for (size_t k = 0; k < n; k++)
        if (k != written && is_outer(wgi_turn_access_at(r, k)) &&
            is_carried(r, wgi_turn_access_at(r, written), wgi_turn_access_at(r, k))) {
            const intptr_t ago =
                turns_ago(r, wgi_turn_access_at(r, written), wgi_turn_access_at(r, k));
            most = ago > most ? ago : most;
        }
    wg_real before = wgi_turn_access_at(r, written)->now;
    for (intptr_t ago = 1; ago <= most; ago++) {
        if (!wgi_turn_need(r, &r->accesses, sizeof(wgi_turn_access))) return;
        const wgi_turn_access *const w = wgi_turn_access_at(r, written);
        wgi_turn_access *const q = wgi_turn_access_at(r, r->accesses.n++);
        *q = *w;
        q->at = w->at - (uintptr_t)w->stride * (uintptr_t)ago;
        q->stride = 0;
        q->loaded = q->stored = q->held = 1;
        q->of = (uint32_t)written, q->ago = (uint32_t)ago;
        q->operand = wg_constant(0);
        for (size_t k = 0; k < n; k++) {
            wgi_turn_access *const l = wgi_turn_access_at(r, k);
            if (k == written || !is_outer(l) || !l->loaded || turns_ago(r, w, l) != ago)
                continue;
            q->operand = l->operand;
            l->loaded = 0;
            l->of = q->of, l->ago = q->ago;
        }
        if (q->operand.at.slot == 0) q->operand = wg_input(r->head.tape, 0);
        q->now = before;
        before = q->operand;
    }
}

/* ---- accesses as inputs and outputs ------------------------------------------------------ */

static void group(const wgi_turns *r, wgi_turn_access *q) {
    /* in all turns; a single one is a point */
    const int same = r->turn > 1 && q->stride == 0 && !q->each;
    q->input = WGI_TURNS_NO_INPUT, q->output = WGI_TURNS_NO_OUTPUT;
    if (q->whole)
        q->input =
            q->each || q->value[1] - q->value[0] != 0 ? WGI_TURNS_DATA : WGI_TURNS_NUMBERS;
    if (!is_outer(q)) return;
    const int state = q->loaded && q->stored && (same || q->held);
    if (q->loaded) {
        q->input = q->number ? WGI_TURNS_DATA : WGI_TURNS_POINT;
        if (same) q->input = q->number ? WGI_TURNS_NUMBERS : WGI_TURNS_SHARED;
        if (state) q->input = WGI_TURNS_STATE;
    }
    if (q->stored) q->output = state ? WGI_TURNS_NEXT : WGI_TURNS_EACH;
    if (q->added) q->output = same ? WGI_TURNS_SUM : WGI_TURNS_EACH;
}

/* The next access of a group of inputs (or outputs) from number k on; accesses.n: there is
 * none. */
static size_t next_in(const wgi_turns *r, int input, int output, size_t k) {
    for (; k < r->accesses.n; k++) {
        const wgi_turn_access *const q = wgi_turn_access_at(r, k);
        if (q->input == input || q->output == output) break;
    }
    return k;
}
static size_t inputs_of(const wgi_turns *r, int which) {
    size_t n = 0;
    for (size_t k = 0; (k = next_in(r, which, -1, k)) < r->accesses.n; k++) n++;
    return n;
}
static size_t outputs_of(const wgi_turns *r, int which) {
    size_t n = 0;
    for (size_t k = 0; (k = next_in(r, -1, which, k)) < r->accesses.n; k++) n++;
    return n;
}

static const struct {
    const char *name;
    unsigned flags;
} inputs[WGI_TURNS_INPUTS] = {{"shared", WG_SHARED},
                              {"numbers", WG_SHARED | WG_PASSIVE},
                              {"point", 0},
                              {"data", WG_PASSIVE},
                              {"state", 0}},
  outputs[WGI_TURNS_OUTPUTS] = {{"state", 0}, {"each", 0}, {"sum", WG_SUMMED}};

/* ---- the function ------------------------------------------------------------------------ */

/* Workspace until the end of the call; NULL: there is none, and the tape has failed. */
static void *obtain(wgi_turns *r, size_t n, size_t bytes, wgi_home *home) {
    void *p = NULL;
    size_t all;
    wg_status s = WG_ENOMEM;
    if (!__builtin_mul_overflow(n, bytes, &all))
        s = wgi_home_obtain(r->c, all != 0 ? all : 1, home, &p);
    if (s != WG_OK) wgi_turn_fail(r, s, "no memory for what its turns read");
    return p;
}

static wg_status extract(wgi_turns *r, wg_function **out) {
    wg_argument in[WGI_TURNS_INPUTS], to[WGI_TURNS_OUTPUTS];
    size_t n = 0, m = 0, k = 0;
    wgi_home home;
    wg_real *const x = obtain(r, 2 * r->accesses.n, sizeof *x, &home);
    if (x == NULL) return r->c->status;
    wg_real *const y = x + r->accesses.n;
    for (int g = 0; g < WGI_TURNS_INPUTS; g++) {
        const size_t rows = inputs_of(r, g);
        if (rows == 0) continue;
        in[n++] = (wg_argument){inputs[g].name, rows, 1, inputs[g].flags};
        for (size_t i = 0; (i = next_in(r, g, -1, i)) < r->accesses.n; i++)
            x[k++] = wgi_turn_access_at(r, i)->operand;
    }
    k = 0;
    for (int g = 0; g < WGI_TURNS_OUTPUTS; g++) {
        const size_t rows = outputs_of(r, g);
        if (rows == 0) continue;
        to[m++] = (wg_argument){outputs[g].name, rows, 1, outputs[g].flags};
        for (size_t i = 0; (i = next_in(r, -1, g, i)) < r->accesses.n; i++)
            y[k++] = wgi_turn_access_at(r, i)->now;
    }
    const wg_status s = wg_function_extract(r->head.tape, n, in, x, m, to, y, out);
    wgi_home_release(&home, x);
    return s;
}

int wgi_turn_forget(wgi_turns *r) {
    const size_t before = r->functions.n;
    size_t n = 0;
    for (size_t k = 0; k < before; k++) {
        wgi_turn_function *const f = (wgi_turn_function *)r->functions.at + k;
        if (f->used == r->c->generation) {
            ((wgi_turn_function *)r->functions.at)[n++] = *f;
            continue;
        }
        wg_callable_free(f->k);
        wgi_home_release(&f->home, f->way);
    }
    r->functions.n = n;
    return n != before;
}

/* The function of the turns, kept from a loop before or made now; NULL: the tape has failed. */
static const wg_callable *function_of(wgi_turns *r) {
    enum { MOST_FUNCTIONS = 64 };
    const size_t words = r->way.n;
    for (size_t k = 0; k < r->functions.n; k++) {
        wgi_turn_function *const f = (wgi_turn_function *)r->functions.at + k;
        if (f->site != r->site || f->words != words ||
            memcmp(f->way, r->way.at, words * sizeof *f->way) != 0)
            continue;
        f->used = r->c->generation;
        return f->k;
    }
    if (r->functions.n >= MOST_FUNCTIONS) (void)wgi_turn_forget(r);
    wgi_turn_function made = {.site = r->site, .used = r->c->generation, .words = words};
    wg_function *f = NULL;
    if (!wgi_turn_need(r, &r->functions, sizeof made) ||
        (made.way = obtain(r, words, sizeof *made.way, &made.home)) == NULL)
        return NULL;
    wg_status s = extract(r, &f);
    if (s == WG_OK) s = wg_callable_new(r->head.tape, f, &made.k);
    wg_function_free(f);
    if (s != WG_OK) {
        if (!r->failed) wgi_turn_fail(r, s, wg_tape_message(r->head.tape));
        wgi_home_release(&made.home, made.way);
        return NULL;
    }
    memcpy(made.way, r->way.at, words * sizeof *made.way);
    ((wgi_turn_function *)r->functions.at)[r->functions.n++] = made;
    return made.k;
}

/* ---- operands and results ---------------------------------------------------------------- */

static double whole_in_turn(const wgi_turns *r, const wgi_turn_access *q, size_t turn) {
    if (!q->each) return wgi_turn_whole(q, turn);
    const uint64_t bits = wgi_turn_reached(r, q, turn);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Numbers, one column per turn, as a constant matrix: they stay with the recording. */
static wg_mat numbers_of(wgi_turns *r, int which, size_t rows, size_t turns) {
    size_t bytes;
    double *data = NULL;
    if (!__builtin_mul_overflow(rows * sizeof *data, turns, &bytes))
        data = wg_tape_keep(&r->c->head, bytes, NULL);
    if (data == NULL) {
        wgi_turn_fail(r, WG_ENOMEM, "no memory for what its turns read");
        return wg_mat_failed(rows, turns);
    }
    for (size_t i = 0, k = 0; (i = next_in(r, which, -1, i)) < r->accesses.n; i++, k++) {
        const wgi_turn_access *const q = wgi_turn_access_at(r, i);
        for (size_t p = 0; p < turns; p++)
            data[k + p * rows] =
                q->whole ? whole_in_turn(r, q, p) : *(const double *)wgi_turn_address(r, q, p);
    }
    return wg_mat_constant_borrowed(&r->c->head, rows, turns, data, rows);
}

/* Variables likewise. Of a state there may be numbers among them. */
static wg_mat variables_of(wgi_turns *r, int which, size_t rows, size_t turns) {
    wgi_home home;
    wg_real *const x = obtain(r, rows * turns, sizeof *x, &home);
    if (x == NULL) return wg_mat_failed(rows, turns);
    enum { AT_ONCE = 64 }; /* turns whose columns stay in the cache */
    for (size_t from = 0; from < turns; from += AT_ONCE) {
        const size_t to = turns - from < AT_ONCE ? turns : from + AT_ONCE;
        for (size_t i = 0, k = 0; (i = next_in(r, which, -1, i)) < r->accesses.n; i++, k++) {
            const wgi_turn_access *const q = wgi_turn_access_at(r, i);
            for (size_t p = from; p < to; p++) {
                const void *const at = (const void *)wgi_turn_address(r, q, p);
                x[k + p * rows] =
                    q->number ? wg_constant(*(const double *)at) : *(const wg_real *)at;
            }
        }
    }
    const wg_mat m = wg_mat_gather(&r->c->head, rows, turns, x);
    wgi_home_release(&home, x);
    return m;
}

/* Assigns to a place, as it is in a turn, or adds to it. */
static void assign(wgi_turns *r, const wgi_turn_access *q, size_t turn, wg_real x) {
    void *const at = (void *)wgi_turn_address(r, q, turn);
    if (q->number) {
        double *const to = at;
        *to = q->added ? *to + wg_value(x) : wg_value(x);
    } else {
        wg_real *const to = at;
        *to = q->added ? wg_let(&r->c->head, wg_add(*to, x)) : x;
    }
}

/* What loops leave: of results of each turn one column per turn, of which a place that is the
 * same in all turns gets the last. */
static void assign_all(wgi_turns *r, int which, wg_mat y) {
    for (size_t i = 0, k = 0; (i = next_in(r, -1, which, i)) < r->accesses.n; i++, k++) {
        const wgi_turn_access *const q = wgi_turn_access_at(r, i);
        const size_t last = which == WGI_TURNS_EACH ? r->turn - 1 : 0;
        for (size_t p = q->stride == 0 && !q->each ? last : 0; !q->held && p <= last; p++)
            assign(r, q, p, wg_mat_at(y, k, p));
    }
}

/* After a failure: where turns that were run have been, and, where two are run only, where the
 * others would be. */
static void assign_nan(wgi_turns *r) {
    const int all_run = (r->flags & WG_TURNS_EACH) != 0;
    for (size_t i = 0; i < r->accesses.n; i++) {
        const wgi_turn_access *const q = wgi_turn_access_at(r, i);
        size_t turns = q->seen < 2 || q->stride == 0 ? 1 : all_run ? q->seen : r->turn;
        if (q->each && r->reached.n > q->column)
            turns = (r->reached.n - q->column - 1) / r->columns + 1;
        for (size_t p = 0; is_outer(q) && !q->held && (q->stored || q->added) && p < turns; p++)
            assign(r, q, p, wg_constant(WGI_NAN));
    }
}

static void record(wgi_turns *r, const wg_callable *k) {
    wg_tape *const t = &r->c->head;
    wg_source x[WGI_TURNS_INPUTS];
    wg_mat y[WGI_TURNS_OUTPUTS], start = wg_mat_failed(0, 0);
    const size_t states = inputs_of(r, WGI_TURNS_STATE), turns = r->turn;
    size_t n = 0, m = 0;
    for (int g = 0; g < WGI_TURNS_INPUTS; g++) {
        const size_t rows = inputs_of(r, g);
        if (rows == 0) continue;
        if (g == WGI_TURNS_STATE) {
            start = variables_of(r, g, rows, 1);
            x[n++] = wg_from_state(inputs[g].name);
            continue;
        }
        const size_t columns = (inputs[g].flags & WG_SHARED) != 0 ? 1 : turns;
        const wg_source s = wg_from_matrix((inputs[g].flags & WG_PASSIVE) != 0
                                               ? numbers_of(r, g, rows, columns)
                                               : variables_of(r, g, rows, columns));
        x[n++] = states != 0 && columns == turns && (inputs[g].flags & WG_SHARED) == 0
                     ? wg_each_step(s)
                     : s;
    }
    if (r->failed) return;
    const wg_stage stage = {k, x};
    const wg_state state = {"state", start};
    const wg_status s = states != 0 ? wg_scan(t, turns, 1, &stage, 1, &state, NULL, y)
                                    : wg_map(t, k, turns, x, NULL, y);
    if (s != WG_OK) {
        wgi_fail_as(r->c, r->where);
        r->failed = 1;
        return;
    }
    for (int g = 0; g < WGI_TURNS_OUTPUTS; g++)
        if (outputs_of(r, g) != 0) assign_all(r, g, y[m++]);
    if (r->c->status != WG_OK) r->failed = 1; /* of what is assigned */
}

/* Inputs and outputs; a function has an input. */
static size_t group_all(wgi_turns *r) {
    size_t writes = 0, reads = 0;
    for (size_t k = 0; k < r->accesses.n; k++) {
        wgi_turn_access *const q = wgi_turn_access_at(r, k);
        group(r, q);
        writes += q->output != WGI_TURNS_NO_OUTPUT, reads += q->input != WGI_TURNS_NO_INPUT;
    }
    if (writes != 0 && reads == 0 && !r->failed) {
        const size_t turns = r->turn;
        r->turn = 1;
        (void)wg_turns_whole(&r->head, 0);
        r->turn = turns;
        if (!r->failed) group(r, wgi_turn_access_at(r, r->accesses.n - 1));
    }
    return writes;
}

static void check(wgi_turns *r) {
    const wg_status s = wg_tape_status(r->head.tape);
    if (r->opened != r->c->generation)
        wgi_turn_fail(r, WG_ESTALE, "the tape was reset before its end");
    if (r->turn > 1 && r->cursor != r->way.n)
        wgi_turn_fail(r, WG_EARG, "a turn does less than the first one");
    if (s != WG_OK) wgi_turn_fail(r, s, wg_tape_message(r->head.tape));
    if (!r->failed && conflict(r) != r->accesses.n)
        wgi_turn_fail(r, WG_EARG, "a turn reads or overwrites what another one writes");
    const size_t accesses = r->accesses.n;
    for (size_t k = 0; k < accesses && !r->failed; k++)
        if (is_outer(wgi_turn_access_at(r, k)) && wgi_turn_access_at(r, k)->stored) hold(r, k);
}

wg_status wg_turns_end(wg_turns *turns) {
    wgi_turns *const r = (wgi_turns *)turns;
    if (r == NULL) return WG_ENULL;
    if (!r->open) return wgi_fail(r->c, WG_EARG, "wg_turns_end: no loop is open");
    r->open = 0;
    if (r->turn == 0) return WG_OK;
    check(r);
    const size_t writes = group_all(r);
    if (inputs_of(r, WGI_TURNS_STATE) != 0 && (r->flags & WG_TURNS_CARRIED) == 0)
        wgi_turn_fail(r, WG_EARG, "a turn reads what the one before has left");
    for (size_t k = 0; k < r->accesses.n && !r->failed; k++) {
        const wgi_turn_access *const q = wgi_turn_access_at(r, k);
        const uint64_t words[] = {(uint64_t)q->of << 32 | q->ago,
                                  (uint64_t)q->input << 8 | q->output |
                                      (uint64_t)(q->local != 0) << 16 |
                                      (uint64_t)q->number << 17};
        for (int i = 0; i < 2; i++)
            if (wgi_turn_need(r, &r->way, sizeof *words))
                ((uint64_t *)r->way.at)[r->way.n++] = words[i];
    }
    const wg_callable *const k = r->failed || writes == 0 ? NULL : function_of(r);
    if (k != NULL) record(r, k);
    if (r->failed) assign_nan(r);
    r->turn = 0;
    return r->failed ? r->c->status : WG_OK;
}
