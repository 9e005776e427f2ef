/* SPDX-License-Identifier: MIT */
/* turns.c - the body of a loop runs twice: in the first turn on a tape of its own, and what it
 * reads, writes and decides is taken down, event by event; in the second one events are
 * compared, and accesses tell how far they have moved. With WG_TURNS_EACH it goes on so: all
 * turns are compared, and where they reach what does not move steadily is taken down. */
#include "turns.h"

#include <string.h>

/* Events; the number of an access stands above. */
enum { LOADED, STORED, ADDED, LOCAL, WHOLE, WAY, CONSTANT, EACH };
enum { EVENT_BITS = 3 };

int wgi_turn_need(wgi_turns *r, wgi_turn_list *l, size_t bytes) {
    if (l->n < l->room) return 1;
    enum { FIRST = 64 };
    const size_t room = l->room != 0 ? 2 * l->room : FIRST;
    wgi_home home;
    void *p;
    const wg_status s = wgi_home_obtain(r->c, room * bytes, &home, &p);
    if (s != WG_OK) {
        wgi_turn_fail(r, s, "no memory for what a turn does");
        return 0;
    }
    if (l->n != 0) memcpy(p, l->at, l->n * bytes);
    if (l->at != NULL) wgi_home_release(&l->home, l->at);
    l->home = home, l->at = p, l->room = room;
    return 1;
}

void wgi_turn_fail(wgi_turns *r, wg_status s, const char *what) {
    if (!r->failed) (void)wgi_fail(r->c, s, "the loop %s: %s", r->where, what);
    r->failed = 1;
}

void wgi_turn_give(wgi_turn_list *l) {
    if (l->at != NULL) wgi_home_release(&l->home, l->at);
    l->at = NULL, l->n = l->room = 0;
}

static void drop(wgi_derived *d) {
    wgi_turns *const r = (wgi_turns *)(void *)((char *)d - offsetof(wgi_turns, owned));
    for (size_t k = 0; k < r->functions.n; k++) {
        wgi_turn_function *const f = (wgi_turn_function *)r->functions.at + k;
        wg_callable_free(f->k);
        wgi_home_release(&f->home, f->way);
    }
    wgi_turn_give(&r->accesses), wgi_turn_give(&r->locals), wgi_turn_give(&r->way),
        wgi_turn_give(&r->functions), wgi_turn_give(&r->reached);
    wg_tape_free(r->head.tape);
    wgi_home_release(&r->home, r);
}

/* The tape of a loop that is being recorded stays, and that of one which goes on, although its
 * tape was reset, while it is in the middle of a statement. */
static int shrink(wgi_derived *d) {
    wgi_turns *const r = (wgi_turns *)(void *)((char *)d - offsetof(wgi_turns, owned));
    wgi_core *const own = wgi_core_of(r->head.tape);
    const int any = wgi_turn_forget(r);
    if (!r->holds || own->asks || (r->turn != 0 && r->opened == r->c->generation)) return any;
    r->holds = 0;
    wgi_turn_give(&r->reached);
    own->starved = 1;
    wg_tape_reset(r->head.tape);
    return 1;
}

/* What the tape has for its loops, made with the first one. */
static wg_status loops_of(wgi_core *c, wgi_turns **out) {
    if (c->turns != NULL) {
        *out = (wgi_turns *)(void *)((char *)c->turns - offsetof(wgi_turns, owned));
        return WG_OK;
    }
    wgi_home home;
    void *base;
    wg_status s = wgi_home_obtain(c, sizeof **out, &home, &base);
    if (s != WG_OK) return s;
    wgi_turns *const r = base;
    memset(r, 0, sizeof *r);
    r->home = home;
    r->c = c;
    r->owned.drop = drop;
    r->owned.shrink = shrink;
    wg_options options;
    memset(&options, 0, sizeof options);
    options.flags = WG_KEEP_CODE;
    s = wgi_tape_beside(c, &options, &r->head.tape);
    if (s != WG_OK) {
        wgi_home_release(&home, r);
        return s;
    }
    c->turns = &r->owned;
    *out = r;
    return WG_OK;
}

wg_turns *wg_turns_begin(wg_tape *t, const void *site, const char *where, unsigned flags) {
    if (t == NULL) return NULL;
    wgi_core *const c = wgi_core_of(t);
    wgi_turns *r = NULL;
    if (c->status != WG_OK || wgi_check_thread(c, "wg_turns_begin") != WG_OK) return NULL;
    if (site == NULL || where == NULL) {
        (void)wgi_fail(c, WG_ENULL, "wg_turns_begin: %s is NULL",
                       site == NULL ? "site" : "where");
        return NULL;
    }
    if (c->outer != NULL) {
        (void)wgi_fail(c, WG_EMODE,
                       "the loop %s: a segment of a parallel loop has none as one record",
                       where);
        return NULL;
    }
    const wg_status s = loops_of(c, &r);
    if (s != WG_OK) {
        (void)wgi_fail(c, s, "the loop %s: no memory for its record", where);
        return NULL;
    }
    if (r->open && r->opened == c->generation) {
        (void)wgi_fail(c, WG_EMODE, "the loop %s: the one %s is open", where, r->where);
        return NULL;
    }
    wg_tape_reset(r->head.tape);
    r->open = r->holds = 1, r->failed = 0, r->opened = c->generation;
    r->flags = flags, r->site = site, r->where = where;
    r->turn = r->cursor = 0;
    r->locals_made = r->columns = 0;
    r->accesses.n = r->locals.n = r->way.n = r->reached.n = 0;
    memset(r->hash, 0, sizeof r->hash);
    return &r->head;
}

int wg_turns_next(wg_turns *turns) {
    wgi_turns *const r = (wgi_turns *)turns;
    if (r == NULL || !r->open) return 0;
    if (r->turn > 1 && r->cursor != r->way.n)
        wgi_turn_fail(r, WG_EARG, "a turn does less than the first one");
    r->turn++;
    r->locals.n = 0;
    r->locals_made = 0;
    if (r->turn > 2 && (r->flags & WG_TURNS_EACH) == 0) return 0;
    r->cursor = 0;
    return !r->failed;
}

/* Is it the first turn? Then takes an event down, otherwise compares. Gives the number that
 * goes with it: `k`, or what stood there in the first turn; -1 after a failure. */
static int64_t event(wgi_turns *r, unsigned what, uint64_t k) {
    if (r->failed) return -1;
    if (r->turn == 1) {
        if (!wgi_turn_need(r, &r->way, sizeof(uint64_t))) return -1;
        ((uint64_t *)r->way.at)[r->way.n++] = k << EVENT_BITS | what;
        return (int64_t)k;
    }
    const uint64_t *const way = r->way.at;
    if (r->cursor == r->way.n || (way[r->cursor] & ((1u << EVENT_BITS) - 1)) != what) {
        wgi_turn_fail(r, WG_EARG, "its turns do not do the same");
        return -1;
    }
    return (int64_t)(way[r->cursor++] >> EVENT_BITS);
}

/* In which local memory an address is, and where; 0: in none. */
static uint32_t local_of(const wgi_turns *r, uintptr_t *at) {
    const wgi_turn_local *const l = r->locals.at;
    for (size_t k = r->locals.n; k-- != 0;)
        if (*at - l[k].at < l[k].bytes) {
            *at -= l[k].at;
            return l[k].number;
        }
    return 0;
}

static size_t hash_of(uintptr_t at, uint32_t local) {
    return (size_t)(((uint64_t)at / sizeof(double) + local * 2654435761u) *
                        UINT64_C(0x9E3779B97F4A7C15) >>
                    32) %
           WGI_TURN_HASH;
}

/* The access to an address in the first turn, perhaps a new one; its number, or -1. */
static int64_t access_at(wgi_turns *r, const void *p, int number) {
    uintptr_t at = (uintptr_t)p;
    const uint32_t local = local_of(r, &at);
    uint32_t *const first = &r->hash[hash_of(at, local)];
    for (uint32_t k = *first; k != 0; k = wgi_turn_access_at(r, k - 1)->next) {
        const wgi_turn_access *const q = wgi_turn_access_at(r, k - 1);
        if (q->at == at && q->local == local && q->number == number && !q->whole) return k - 1;
    }
    if (r->accesses.n >= UINT32_MAX - 1)
        wgi_turn_fail(r, WG_ESLOTS, "a turn has too many places");
    if (r->failed || !wgi_turn_need(r, &r->accesses, sizeof(wgi_turn_access))) return -1;
    wgi_turn_access *const q = wgi_turn_access_at(r, r->accesses.n);
    memset(q, 0, sizeof *q);
    q->at = at, q->local = local;
    q->number = number != 0;
    q->size = number ? sizeof(double) : sizeof(wg_real);
    q->seen = 1;
    q->next = *first;
    *first = (uint32_t)++r->accesses.n;
    return (int64_t)r->accesses.n - 1;
}

/* The access of an event; NULL: there is nothing more to do, since it is the second turn. */
static wgi_turn_access *access_of(wgi_turns *r, unsigned what, const void *p, int number) {
    if (r == NULL || r->failed || r->turn == 0) return NULL;
    if (p == NULL) {
        wgi_turn_fail(r, WG_ENULL, "a turn reads or writes at NULL");
        return NULL;
    }
    int64_t k = r->turn == 1 ? access_at(r, p, number) : 0;
    if (k >= 0) k = event(r, what, (uint64_t)k);
    if (k < 0) return NULL;
    wgi_turn_access *const q = wgi_turn_access_at(r, (size_t)k);
    if (r->turn == 1) return q;
    uintptr_t at = (uintptr_t)p;
    const uint32_t local = local_of(r, &at);
    const uintptr_t moved = at - q->at;
    const ptrdiff_t stride = r->turn == 2 ? (ptrdiff_t)moved : q->stride;
    if (local != q->local || q->number != (number != 0) || (local != 0 && stride != 0) ||
        (q->seen > 1 && q->stride != stride) || moved != (uintptr_t)stride * (r->turn - 1)) {
        wgi_turn_fail(r, WG_EARG, "its turns do not reach memory in the same way");
        return NULL;
    }
    q->stride = stride;
    q->seen = r->turn;
    return NULL;
}

/* Something that has no part in what is recorded. */
static wg_real any(void) { return wg_constant(1); }

static int is_unwritten(wgi_turns *r, const wgi_turn_access *q) {
    if ((q->local & WGI_TURN_PRIVATE) == 0) return 0;
    wgi_turn_fail(r, WG_EARG,
                  "a turn reads what another one has left in memory that is each one's own");
    return 1;
}

/* What stands at a place before the turn. */
typedef struct standing {
    double value;
    int variable;
} standing;
static standing number_at(const wgi_turns *r, const double *p) {
    return (standing){r != NULL && p != NULL ? *p : 0, 0};
}
static standing real_at(const wgi_turns *r, const wg_real *p) {
    if (r == NULL || p == NULL) return (standing){0, 0};
    return (standing){wg_value(*p), p->at.slot != 0};
}

/* In memory of the turn it is a constant of the function: the same in both turns, and where the
 * function is used again. */
static wg_real constant(wgi_turns *r, standing x) {
    uint64_t bits;
    memcpy(&bits, &x.value, sizeof bits);
    const uint64_t half[] = {bits & UINT32_MAX, bits >> 32};
    if (x.variable) wgi_turn_fail(r, WG_EARG, "memory of a turn begins with a variable in it");
    for (int k = 0; k < 2; k++)
        if (event(r, CONSTANT, half[k]) != (int64_t)half[k])
            wgi_turn_fail(r, WG_EARG,
                          "memory of a turn does not begin with the same numbers in each");
    return wg_constant(x.value);
}
static wg_real in_second_turn(wgi_turns *r, standing x) {
    const uint64_t *const way = r != NULL ? r->way.at : NULL;
    if (way != NULL && !r->failed && r->turn > 1 && r->cursor < r->way.n &&
        (way[r->cursor] & ((1u << EVENT_BITS) - 1)) == CONSTANT)
        (void)constant(r, x);
    return any();
}

static wg_real load(wgi_turns *r, const void *p, int number, standing x) {
    wgi_turn_access *const q = access_of(r, LOADED, p, number);
    if (q == NULL) return in_second_turn(r, x);
    if (q->stored) return q->now;
    if (is_unwritten(r, q)) return any();
    if (q->local != 0) return constant(r, x);
    if (!q->loaded) q->operand = wg_input(r->head.tape, x.value);
    q->loaded = 1;
    if (!q->added) return q->operand;
    q->added = 0, q->stored = 1; /* no sum: what was there is read, with what was added */
    return q->now = wg_let(r->head.tape, wg_add(q->operand, q->now));
}

/* What is assigned or added to a number is a value. */
static wg_real given(wgi_turns *r, int number, wg_real x) {
    return number ? wg_let(r->head.tape, wg_stop_gradient(x)) : x;
}

static void store(wgi_turns *r, const void *p, int number, wg_real x) {
    wgi_turn_access *const q = access_of(r, STORED, p, number);
    if (q == NULL) return;
    x = given(r, number, x);
    if (q->added) wgi_turn_fail(r, WG_EARG, "a turn assigns to a sum that it has added to");
    q->stored = 1;
    q->now = x;
}

static void add(wgi_turns *r, const void *p, int number, standing before, wg_real x) {
    wgi_turn_access *const q = access_of(r, ADDED, p, number);
    if (q == NULL) {
        (void)in_second_turn(r, before);
        return;
    }
    if (!q->stored && is_unwritten(r, q)) return;
    x = given(r, number, x);
    if (q->local != 0 && !q->stored) q->now = constant(r, before);
    if (q->loaded && !q->stored) q->now = q->operand;
    const int begins = q->local == 0 && !q->loaded && !q->stored && !q->added;
    q->now = begins ? x : wg_let(r->head.tape, wg_add(q->now, x));
    if (q->local != 0 || q->loaded || q->stored) q->stored = 1;
    else q->added = 1;
}

wg_real wg_turns_load(wg_turns *r, const wg_real *p) {
    return load((wgi_turns *)r, p, 0, real_at((wgi_turns *)r, p));
}
wg_real wg_turns_load_number(wg_turns *r, const double *p) {
    return load((wgi_turns *)r, p, 1, number_at((wgi_turns *)r, p));
}
void wg_turns_store(wg_turns *r, wg_real *p, wg_real x) { store((wgi_turns *)r, p, 0, x); }
void wg_turns_store_number(wg_turns *r, double *p, wg_real x) {
    store((wgi_turns *)r, p, 1, x);
}
void wg_turns_add(wg_turns *r, wg_real *p, wg_real x) {
    add((wgi_turns *)r, p, 0, real_at((wgi_turns *)r, p), x);
}
void wg_turns_add_number(wg_turns *r, double *p, wg_real x) {
    add((wgi_turns *)r, p, 1, number_at((wgi_turns *)r, p), x);
}

static void begin_local(wgi_turns *r, const void *p, size_t bytes, uint32_t kind) {
    if (r == NULL || r->turn == 0 || r->failed) return;
    if (p == NULL || event(r, LOCAL, bytes) != (int64_t)bytes) {
        wgi_turn_fail(r, WG_EARG,
                      "memory of a turn is NULL, or of another size in the second one");
        return;
    }
    const uintptr_t at = (uintptr_t)p;
    wgi_turn_local *l = r->locals.at;
    size_t n = 0; /* what stood there is gone */
    for (size_t k = 0; k < r->locals.n; k++)
        if (l[k].at - at >= bytes && at - l[k].at >= l[k].bytes) l[n++] = l[k];
    r->locals.n = n;
    if (!wgi_turn_need(r, &r->locals, sizeof *l)) return;
    l = r->locals.at;
    l[r->locals.n++] = (wgi_turn_local){at, bytes, ++r->locals_made | kind};
}

void wg_turns_local(wg_turns *r, const void *p, size_t bytes) {
    begin_local((wgi_turns *)r, p, bytes, 0);
}
void wg_turns_private(wg_turns *r, const void *p, size_t bytes) {
    begin_local((wgi_turns *)r, p, bytes, WGI_TURN_PRIVATE);
}

wg_real wg_turns_whole(wg_turns *turns, double x) {
    wgi_turns *const r = (wgi_turns *)turns;
    if (r == NULL || r->failed || r->turn == 0) return any();
    if (r->turn > 1) {
        const int64_t k = event(r, WHOLE, 0);
        wgi_turn_access *const q = k >= 0 ? wgi_turn_access_at(r, (size_t)k) : NULL;
        if (q != NULL && r->turn == 2) q->value[1] = x;
        if (q != NULL && r->turn > 2 && x != wgi_turn_whole(q, r->turn - 1))
            wgi_turn_fail(r, WG_EARG, "a whole number does not grow by the same amount");
        return any();
    }
    if (!wgi_turn_need(r, &r->accesses, sizeof(wgi_turn_access)) ||
        event(r, WHOLE, r->accesses.n) < 0)
        return any();
    wgi_turn_access *const q = wgi_turn_access_at(r, r->accesses.n++);
    memset(q, 0, sizeof *q);
    q->number = q->whole = q->loaded = 1;
    q->value[0] = q->value[1] = x;
    return q->operand = wg_input(r->head.tape, x);
}

long long wg_turns_way(wg_turns *turns, long long way) {
    wgi_turns *const r = (wgi_turns *)turns;
    if (r == NULL || r->failed || r->turn == 0) return way;
    /* both halves, since an event has room for less than all bits */
    const uint64_t bits = (uint64_t)way, half[] = {bits & UINT32_MAX, bits >> 32};
    for (int k = 0; k < 2; k++)
        if (event(r, WAY, half[k]) != (int64_t)half[k])
            wgi_turn_fail(r, WG_EARG, "its turns take different ways");
    return way;
}

/* ---- what does not move steadily --------------------------------------------------------- */

/* The access of a call, in each turn somewhere else, which is taken down; NULL: there is nothing
 * more to do. */
static wgi_turn_access *reach(wgi_turns *r, unsigned kind, uint64_t bits) {
    if (r == NULL || r->failed || r->turn == 0) return NULL;
    const unsigned char size =
        kind == WGI_TURN_VARIABLE || kind == WGI_TURN_SUM ? sizeof(wg_real) : sizeof(double);
    uintptr_t at = (uintptr_t)bits;
    if ((r->flags & WG_TURNS_EACH) == 0)
        wgi_turn_fail(r, WG_EMODE, "not all of its turns are run: WG_TURNS_EACH");
    else if (kind != WGI_TURN_WHOLE && at == 0)
        wgi_turn_fail(r, WG_ENULL, "a turn reads or writes at NULL");
    else if (kind != WGI_TURN_WHOLE && local_of(r, &at) != 0)
        wgi_turn_fail(r, WG_EARG, "in memory of a turn it does not move steadily");
    else if (r->turn == 1 && r->accesses.n >= UINT32_MAX - 1)
        wgi_turn_fail(r, WG_ESLOTS, "a turn has too many places");
    if (r->failed || !wgi_turn_need(r, &r->reached, sizeof bits) ||
        (r->turn == 1 && !wgi_turn_need(r, &r->accesses, sizeof(wgi_turn_access))))
        return NULL;
    const int64_t k = event(r, EACH, r->accesses.n);
    if (k < 0) return NULL;
    wgi_turn_access *const q = wgi_turn_access_at(r, (size_t)k);
    if (r->turn == 1) {
        r->accesses.n++;
        memset(q, 0, sizeof *q);
        q->each = (unsigned char)kind, q->column = r->columns++;
        q->low = at, q->size = size;
        q->number = kind == WGI_TURN_NUMBER || kind == WGI_TURN_WHOLE;
        q->whole = kind == WGI_TURN_WHOLE;
    } else if (q->each != kind) {
        wgi_turn_fail(r, WG_EARG, "its turns do not do the same");
        return NULL;
    }
    ((uint64_t *)r->reached.at)[r->reached.n++] = bits;
    if (at < q->low) q->low = at;
    if (at + size > q->high) q->high = at + size;
    return r->turn == 1 ? q : NULL;
}

static wg_real load_each(wgi_turns *r, unsigned kind, uint64_t bits, double value) {
    wgi_turn_access *const q = reach(r, kind, bits);
    if (q == NULL) return any();
    q->loaded = 1;
    return q->operand = wg_input(r->head.tape, value);
}

wg_real wg_turns_load_each(wg_turns *turns, const wg_real *p) {
    wgi_turns *const r = (wgi_turns *)turns;
    return load_each(r, WGI_TURN_VARIABLE, (uintptr_t)p, real_at(r, p).value);
}
wg_real wg_turns_load_number_each(wg_turns *turns, const double *p) {
    wgi_turns *const r = (wgi_turns *)turns;
    return load_each(r, WGI_TURN_NUMBER, (uintptr_t)p, number_at(r, p).value);
}
wg_real wg_turns_whole_each(wg_turns *turns, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return load_each((wgi_turns *)turns, WGI_TURN_WHOLE, bits, x);
}
void wg_turns_add_each(wg_turns *turns, wg_real *p, wg_real x) {
    wgi_turn_access *const q = reach((wgi_turns *)turns, WGI_TURN_SUM, (uintptr_t)p);
    if (q == NULL) return;
    q->added = 1;
    q->now = x;
}
