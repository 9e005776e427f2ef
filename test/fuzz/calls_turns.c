/* SPDX-License-Identifier: MIT */
/* calls_turns.c - rows: loops that are recorded by their first two turns. Each row runs one in
 * which its function is called, among others; sometimes without a loop, out of order, or
 * with turns that differ. */
#include "calls.h"

/* Room for all that turns reach: the library goes on from the first two of them, so that an
 * index that begins anew at the end would not be the one that it takes. */
enum { MOST_TURNS = 24, CELLS = 64 };
static wg_real cell[CELLS], other[CELLS];
static double plain[CELLS];
enum {
    BEGIN,
    NEXT,
    LOAD,
    LOAD_NUMBER,
    STORE,
    STORE_NUMBER,
    ADD,
    ADD_NUMBER,
    LOCAL,
    PRIVATE,
    WHOLE,
    WAY,
    LOAD_EACH,
    LOAD_NUMBER_EACH,
    WHOLE_EACH,
    ADD_EACH,
    END
};

/* What a turn does: which calls, at which places, that move by so much. */
static void turn(wg_turns *r, int what, size_t at, size_t stride, size_t turn, int odd) {
    const size_t k = at + stride * turn;
    double own[2] = {1, 2};
    wg_real x = wg_turns_load(r, odd ? NULL : &cell[k]);
    if (what == LOAD_NUMBER || what == WHOLE)
        x = wg_let(r->tape, wg_mul(x, wg_turns_load_number(r, &plain[k])));
    if (what == WHOLE) x = wg_let(r->tape, wg_add(x, wg_turns_whole(r, (double)turn)));
    if (what == WAY && wg_turns_way(r, (long long)(turn * (size_t)odd)) != 0)
        x = wg_constant(1);
    if (what == LOCAL) {
        wg_turns_local(r, own, sizeof own);
        wg_turns_store_number(r, &own[1], x);
        x = wg_turns_load_number(r, &own[turn * (size_t)odd % 2]);
    }
    if (what == PRIVATE) {
        wg_turns_private(r, &plain[2], 2 * sizeof(double));
        if (!odd) wg_turns_store_number(r, &plain[3], x);
        x = wg_turns_load_number(r, &plain[3]);
    }
    /* by an index that jumps; where `odd`, into what the loop writes */
    const size_t any = (7 * turn + at) % (odd ? CELLS : CELLS - 1);
    if (what == LOAD_EACH)
        x = wg_let(r->tape, wg_add(x, wg_turns_load_each(r, odd ? NULL : &cell[any])));
    if (what == LOAD_NUMBER_EACH)
        x = wg_let(r->tape, wg_mul(x, wg_turns_load_number_each(r, &plain[any])));
    if (what == WHOLE_EACH) x = wg_let(r->tape, wg_mul(x, wg_turns_whole_each(r, (double)any)));
    if (what == ADD_EACH) wg_turns_add_each(r, &other[any], x);
    if (what == STORE) wg_turns_store(r, &cell[k + at], x);
    else if (what == STORE_NUMBER) wg_turns_store_number(r, &plain[k + at], x);
    else if (what == ADD_NUMBER) wg_turns_add_number(r, &plain[0], x);
    else wg_turns_add(r, &cell[CELLS - 1], x);
}

static void loop(int what) {
    TAPE(t);
    static char site[4];
    const size_t n = one_in(4) ? below(4) : below(MOST_TURNS), at = below(4), stride = below(3);
    const void *const where = one_in(40) ? NULL : &site[below(4)];
    const char *const name = one_in(40) ? NULL : "of the fuzz";
    const unsigned carried = one_in(2) ? WG_TURNS_CARRIED : 0;
    const int odd = one_in(12), twice = one_in(20), stops = one_in(20);
    const int each = what >= LOAD_EACH && what <= ADD_EACH
                         ? !one_in(10)
                         : what == NEXT || what == LOCAL || what == WHOLE;
    const unsigned flags = carried | (each ? WG_TURNS_EACH : 0);
    for (size_t k = 0; k < CELLS; k++) {
        cell[k] = call.room->real[(at + k) % REALS];
        other[k] = call.room->real[k % REALS];
        plain[k] = 0.25 * (double)k;
    }
    cell[CELLS - 1] = wg_constant(0);
    named("n", "%zu", n);
    named("what", "%d at %zu, %zu; flags %u, odd %d, twice %d", what, at, stride, flags, odd,
          twice);
    say("", "loop(t, n, what)");
    wg_turns *const r = wg_turns_begin(t, where, name, flags);
    if (twice) (void)wg_turns_begin(t, where, name, flags);
    if (stops) wg_tape_reset(t);
    for (size_t k = 0; k < n; k++)
        if (wg_turns_next(r)) turn(r, what, at, stride, k, odd);
    (void)wg_turns_end(r);
    sink = wg_value(cell[CELLS - 1]);
}

#define LOOP(name, what)                                                                       \
    ROW(name) { loop(what); }
LOOP(wg_turns_begin, BEGIN)
LOOP(wg_turns_next, NEXT)
LOOP(wg_turns_load, LOAD)
LOOP(wg_turns_load_number, LOAD_NUMBER)
LOOP(wg_turns_store, STORE)
LOOP(wg_turns_store_number, STORE_NUMBER)
LOOP(wg_turns_add, ADD)
LOOP(wg_turns_add_number, ADD_NUMBER)
LOOP(wg_turns_local, LOCAL)
LOOP(wg_turns_private, PRIVATE)
LOOP(wg_turns_whole, WHOLE)
LOOP(wg_turns_way, WAY)
LOOP(wg_turns_load_each, LOAD_EACH)
LOOP(wg_turns_load_number_each, LOAD_NUMBER_EACH)
LOOP(wg_turns_whole_each, WHOLE_EACH)
LOOP(wg_turns_add_each, ADD_EACH)
LOOP(wg_turns_end, END)

static const struct row list[] = {
    LISTED(wg_turns_begin, 1),      LISTED(wg_turns_next, 1),
    LISTED(wg_turns_load, 1),       LISTED(wg_turns_load_number, 2),
    LISTED(wg_turns_store, 4),      LISTED(wg_turns_store_number, 2),
    LISTED(wg_turns_add, 2),        LISTED(wg_turns_add_number, 2),
    LISTED(wg_turns_local, 2),      LISTED(wg_turns_private, 2),
    LISTED(wg_turns_whole, 2),      LISTED(wg_turns_way, 2),
    LISTED(wg_turns_load_each, 2),  LISTED(wg_turns_load_number_each, 2),
    LISTED(wg_turns_whole_each, 2), LISTED(wg_turns_add_each, 2),
    LISTED(wg_turns_end, 1),
};
const struct rows calls_turns = ROWS(list);
