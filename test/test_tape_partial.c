/* SPDX-License-Identifier: MIT */
/* test_tape_partial.c - a sweep goes where there are adjoints, and nowhere else: all adjoints
 * are those of a sweep over everything, to the last bit, and what is not reached is neither
 * visited nor cleared. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "counted.h"
#include "sanitized.h"
#include "tape/engine/tape.h"
#include "times_op.h"
#include "tolerance.h"
#include "walk.h"

static void ok(const wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
}

/* ---- recordings of parts that know little of each other ---- */

enum { PARTS = 5, POOL = 48, ROWS = 90, COLS = 110, MOST_LANES = 9, BUFFER = 96 << 20 };

/* A part has variables of its own, the last POOL of them, and a matrix. */
struct part {
    wg_real x[POOL];
    size_t made;
    wg_mat m;
};

struct world {
    wg_tape *t;
    uint64_t seed;
    struct part part[PARTS];
    wg_mat table;
};

static uint64_t draw(struct world *w, uint64_t n) { return walk_random(&w->seed) % n; }

static void keep(struct part *p, wg_real x) {
    memmove(p->x, p->x + 1, (POOL - 1) * sizeof *p->x);
    p->x[POOL - 1] = x;
}

static void begin(struct world *w, wg_tape *t, uint64_t seed) {
    double a[ROWS * COLS];
    *w = (struct world){.t = t, .seed = seed};
    for (size_t i = 0; i < ROWS * COLS; i++) a[i] = walk_number(&w->seed);
    for (size_t k = 0; k < PARTS; k++) {
        for (size_t i = 0; i < POOL; i++) w->part[k].x[i] = wg_input(t, walk_number(&w->seed));
        w->part[k].m = wg_mat_input(t, 3, 4, a + 12 * k, 3);
        if (k == 1) w->table = wg_mat_input(t, ROWS, COLS, a, ROWS);
    }
}

/* Twelve elements of the table, in one of the LOOK_UPS ways that there are to look them up. */
enum { LOOK_UPS = 8 };
static wg_mat look_up(struct world *w, uint64_t kind) {
    size_t index[12];
    const wg_mat table = kind >= 4 ? wg_mat_transpose(w->table) : w->table;
    const size_t most = kind % 4 == 0 ? ROWS * COLS : kind % 4 == 1 ? table.rows : table.cols;
    for (size_t i = 0; i < 12; i++) index[i] = draw(w, most);
    index[2] = index[0]; /* once more */
    switch (kind % 4) {
    case 0:
        return wg_gather(w->t, table, 3, 4, index);
    case 1:
        return wg_take_rows(w->t, wg_mat_block(table, 0, draw(w, 80), table.rows, 4), 3, index);
    case 2:
        return wg_take_cols(w->t, wg_mat_block(table, draw(w, 80), 0, 3, table.cols), 4, index);
    default:
        return wg_embedding(w->t, wg_mat_block(table, draw(w, 80), 0, 3, table.cols), 4, index);
    }
}

static void matrices(struct world *w, struct part *p) {
    wg_tape *const t = w->t;
    wg_mat out;
    switch (draw(w, 7)) {
    case 0:
        p->m = wg_mat_tanh(t, wg_mat_mul(t, p->m, p->m));
        break;
    case 1:
        p->m = wg_mat_mul(t, wg_mat_fill(t, 3, 4, 0.5),
                          wg_mat_add(t, p->m, look_up(w, draw(w, LOOK_UPS))));
        break;
    case 2:
        p->m = wg_mat_tanh(t, wg_matmul(t, wg_matmul(t, p->m, wg_mat_transpose(p->m)), p->m));
        break;
    case 3: /* variables become a matrix, some of them twice, and one a constant */
        for (size_t i = 0; i < 3; i++) keep(p, p->x[draw(w, POOL)]);
        p->x[0] = wg_constant(0.25);
        p->m = wg_mat_add(t, p->m, wg_mat_gather(t, 3, 4, p->x));
        break;
    case 4: /* a block across pages, and a part of it */
        out = wg_mat_sin(t, wg_broadcast_to(t, wg_mat_row(p->m, 1), 150, 4));
        p->m = wg_mat_block(out, draw(w, 140), 0, 3, 4);
        p->m = wg_mat_copy(t, p->m);
        break;
    case 5: /* of a user */
        out = wg_matmul(t, p->m, wg_mat_transpose(p->m));
        ok(t, wg_apply(t, &times_op, NULL, 0, 2, (wg_mat[]){out, p->m}, 1, &out));
        p->m = wg_mat_tanh(t, out);
        break;
    default:
        keep(p, wg_mat_at(p->m, draw(w, 3), draw(w, 4)));
        keep(p, wg_let(t, wg_tanh(wg_sum(t, POOL, p->x))));
    }
}

/* A few statements become one. */
static void preaccumulate(struct world *w, struct part *p) {
    wg_real x[POOL + 10];
    memcpy(x, p->x, sizeof p->x);
    const wg_mark start = wg_tape_mark(w->t);
    for (size_t i = POOL; i < POOL + 10; i++) x[i] = walk_statement(w->t, &w->seed, x, i);
    ok(w->t, wg_preaccumulate(w->t, start, POOL, x, 1, &x[POOL + 9]));
    keep(p, x[POOL + 9]);
}

/* Anything, or, that adjoints do not fade away, a mean. */
static wg_real statement(struct world *w, const struct part *p) {
    if (draw(w, 8) == 0) return walk_statement(w->t, &w->seed, p->x, POOL);
    const wg_real a = p->x[draw(w, POOL)], b = p->x[POOL - 1 - draw(w, 3)];
    return wg_let(w->t, wg_add(wg_mul(a, 0.5), wg_mul(0.5, b)));
}

/* Records on, mostly in one part after the other for so long that it fills some pages. */
static void go_on(struct world *w, size_t stretches) {
    for (size_t s = 0; s < stretches; s++) {
        struct part *const p = &w->part[draw(w, PARTS)];
        for (size_t n = draw(w, 1500); n > 0; n--) {
            if (draw(w, 40) == 0) matrices(w, p);
            keep(p, statement(w, p));
        }
        if (draw(w, 3) == 0) /* one that knows another */
            keep(p,
                 wg_let(w->t, wg_tanh(wg_add(p->x[POOL - 1], w->part[draw(w, PARTS)].x[7]))));
        if (draw(w, 6) == 0 && (wgi_core_of(w->t)->flags & WG_KEEP_CODE) == 0)
            preaccumulate(w, p);
    }
    ok(w->t, wg_tape_status(w->t));
}

/* ---- against a sweep over everything ---- */

struct seeds {
    size_t m, k; /* k 0: not in lanes */
    wg_real y[3];
    double w[3 * MOST_LANES];
};

static struct seeds seeds_of(struct world *w) {
    struct seeds s = {.m = 1 + draw(w, 3), .k = draw(w, 3) == 0 ? 1 + draw(w, MOST_LANES) : 0};
    for (size_t j = 0; j < 3; j++) s.y[j] = w->part[draw(w, PARTS)].x[draw(w, POOL)];
    for (size_t i = 0; i < sizeof s.w / sizeof *s.w; i++)
        s.w[i] = draw(w, 5) == 0 ? 0 : walk_number(&w->seed);
    return s;
}

/* Every record is swept, and every adjoint cleared before. */
static wg_status sweep_everything(wg_tape *t, const struct seeds *s) {
    wgi_core *const c = wgi_core_of(t);
    const size_t k = s->k != 0 ? s->k : 1, lanes = k <= 2 ? k : k <= 4 ? 4 : (k + 7) / 8 * 8;
    wgi_adjoints_forget(c);
    ok(t, wgi_adjoints_open(c, c->head.slots, lanes, s->k != 0));
    c->marks.in_use = 0;
    c->asked = k;
    memset(wgi_adjoints(c), 0, c->head.slots * lanes * sizeof(double));
    for (size_t j = 0; j < s->m; j++)
        for (size_t l = 0; l < k && s->y[j].at.slot != 0; l++)
            wgi_adjoints(c)[s->y[j].at.slot * lanes + l] += s->w[j * k + l];
    const wg_status r = wgi_sweep(c, wgi_record_count(c), 0);
    wgi_adjoints_forget(c);
    return r;
}

static wg_real variable(const wg_tape *t, uint32_t slot) {
    return (wg_real){0, {slot, wgi_stamp_of(wgi_core_of_const(t), slot)}};
}

static void assert_same_adjoints(const wg_tape *t, const wg_tape *u, size_t k) {
    const uint32_t slots = wgi_core_of_const(t)->head.slots;
    for (uint32_t slot = 1; slot < slots; slot++)
        for (size_t l = 0; l < (k != 0 ? k : 1); l++) {
            const double a = wg_adjoint_lane(t, variable(t, slot), l),
                         b = wg_adjoint_lane(u, variable(u, slot), l);
            if (!same_number(a, b)) fail_msg("slot %u, lane %zu: %.17g, %.17g", slot, l, a, b);
        }
}

static wg_status sweep_in_parts(wg_tape *t, const struct seeds *s, const wg_mark *mark,
                                size_t n) {
    wg_status r = wg_adjoints_clear(t);
    for (size_t j = 0; j < s->m && r == WG_OK; j++)
        if (s->y[j].at.slot != 0) r = wg_adjoint_seed(t, s->y[j], s->w[j]);
    wg_mark high = wg_tape_mark(t);
    while (n-- > 0 && r == WG_OK) {
        r = wg_sweep(t, high, mark[n]);
        high = mark[n];
    }
    return r;
}

/* The same things are done on two tapes, one of which sweeps everything. */
static void compare(const wg_options *o, const wg_options *like_it, uint64_t seed,
                    int replayed) {
    struct world w, v;
    wg_tape *const t = wg_tape_new(o), *const u = wg_tape_new(like_it);
    wg_mark mark[12], same[12];
    assert_true(t != NULL && u != NULL);
    for (int round = 0; round < 2; round++) {
        wg_tape_reset(t);
        wg_tape_reset(u);
        mark[0] = wg_tape_mark(t), same[0] = wg_tape_mark(u);
        begin(&w, t, seed + (uint64_t)round);
        begin(&v, u, seed + (uint64_t)round);
        for (size_t n = 1; n < (SANITIZED ? 7 : 12); n++) {
            mark[n] = wg_tape_mark(t), same[n] = wg_tape_mark(u);
            go_on(&w, 4);
            go_on(&v, 4);
            assert_int_equal(w.seed, v.seed);
            for (int again = 0; again < 3; again++) {
                struct seeds s = seeds_of(&w), r = seeds_of(&v);
                const int parts = s.k == 0 && draw(&w, 3) == 0;
                v.seed = w.seed;
                const wg_status x = parts      ? sweep_in_parts(t, &s, mark, n)
                                    : s.k != 0 ? wg_reverse_lanes(t, s.k, s.m, s.y, s.w)
                                               : wg_reverse_seeds(t, s.m, s.y, s.w);
                if (x == WG_ESEED) continue;
                ok(t, x);
                ok(u, sweep_everything(u, &r));
                assert_same_adjoints(t, u, s.k);
            }
            if (n % 5 == 4) { /* on from before, with what was there then */
                ok(t, wg_tape_rewind(t, mark[2]));
                ok(u, wg_tape_rewind(u, same[2]));
                for (size_t i = 3; i <= n; i++) mark[i] = wg_tape_mark(t);
                begin(&w, t, seed + n);
                begin(&v, u, seed + n);
            }
        }
        if (replayed) {
            double a[POOL];
            wg_real x[POOL];
            for (uint32_t i = 0; i < POOL; i++) x[i] = variable(t, i + 1);
            for (size_t i = 0; i < POOL; i++) a[i] = walk_number(&w.seed);
            ok(t, wg_tape_replay(t, POOL, x, a));
            for (uint32_t i = 0; i < POOL; i++) x[i] = variable(u, i + 1);
            ok(u, wg_tape_replay(u, POOL, x, a));
            const struct seeds s = {.m = 1, .y = {w.part[0].x[POOL - 1]}, .w = {1}},
                               r = {.m = 1, .y = {v.part[0].x[POOL - 1]}, .w = {1}};
            ok(t, wg_reverse_seeds(t, 1, s.y, s.w));
            ok(u, sweep_everything(u, &r));
            assert_same_adjoints(t, u, 0);
        }
    }
    wg_tape_free(t);
    wg_tape_free(u);
}

static void all_adjoints_are_those_of_a_sweep_over_everything(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) compare(NULL, NULL, seed * 1000, 0);
}

static void so_they_are_on_tapes_of_every_kind(void **state) {
    (void)state;
    struct counted count = counted_start();
    const wg_options kind[] = {{.flags = WG_CHECKED},
                               {.flags = WG_TRACE},
                               {.flags = WG_KEEP_CODE},
                               {.flags = WG_KEEP_PLACES, .reserve = 1 << 20},
                               {.memory = counted_memory(&count)}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        compare(&kind[k], &kind[k], 11000 + 1000 * k, (kind[k].flags & WG_KEEP_CODE) != 0);
    static char buffer[2][BUFFER];
    compare(&(wg_options){.buffer = buffer[0], .buffer_bytes = BUFFER},
            &(wg_options){.buffer = buffer[1], .buffer_bytes = BUFFER}, 20000, 0);
}

/* ---- what is not reached ---- */

/* The whole pages of memory of the adjoints of [from, to) are out of bounds, or not. */
static void forbid(const wg_tape *t, uint32_t from, uint32_t to, int forbidden) {
    const wgi_core *const c = wgi_core_of_const(t);
    const uintptr_t page = 4096, adjoints = (uintptr_t)wgi_adjoints(c),
                    row = c->lanes * sizeof(double);
    const uintptr_t first = (adjoints + from * row + page - 1) / page * page,
                    last = (adjoints + to * row) / page * page;
    assert_true(first < last);
    assert_int_equal(
        mprotect((void *)first, last - first, forbidden ? PROT_NONE : PROT_READ | PROT_WRITE),
        0);
}

static wg_real chain(wg_tape *t, wg_real a, wg_real b, size_t n) {
    while (n-- > 0) a = wg_let(t, wg_add(wg_mul(a, 0.5), b));
    return a;
}

static void what_is_not_reached_is_neither_visited_nor_cleared(void **state) {
    (void)state;
    enum { LONG = 200000, SHORT = 300 };
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real x = wg_input(t, 0.5), z = wg_input(t, 2);
    const wg_real large = chain(t, x, z, LONG);
    const wg_real y = chain(t, x, z, SHORT);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(wg_reverse(t, y), WG_OK);
        const double w = wg_adjoint(t, z);
        assert_true(close_ulp(w, 2, TOL_DERIVATIVE_ULP)); /* 1 + 1/2 + 1/4 + ... */
        assert_true(same_number(wg_adjoint(t, large), 0));
        forbid(t, x.at.slot + 1024, large.at.slot - 1024, 1);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_true(same_number(wg_adjoint(t, z), w));
        forbid(t, x.at.slot + 1024, large.at.slot - 1024, 0);
        assert_true(wgi_core_of(t)->marks.runs == 0);
        /* and now all of it, which the next sweep has to clear */
        assert_int_equal(wg_reverse(t, large), WG_OK);
        assert_true(same_number(wg_adjoint(t, large), 1));
        assert_true(close_ulp(wg_adjoint(t, z), 2, TOL_DERIVATIVE_ULP));
        assert_true(same_number(wg_adjoint(t, y), 0));
    }
    wg_tape_free(t);
}

static void a_table_costs_what_is_looked_up_in_it(void **state) {
    (void)state;
    enum { HIGH = 16, WIDE = 20000 };
    double *const a = calloc(HIGH * WIDE, sizeof *a), g[2 * HIGH];
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t i = 0; i < HIGH * WIDE; i++) a[i] = (double)(i % 13) / 8;
    for (size_t step = 0; step < 20; step++) {
        const size_t index[] = {step, WIDE - 1, step}, rows[] = {3, 0};
        wg_tape_reset(t);
        const wg_mat table = wg_mat_input_borrowed(t, HIGH, WIDE, a, HIGH);
        const wg_mat first = wg_embedding(t, table, 3, index);
        const wg_mat turned = wg_mat_transpose(wg_mat_block(table, 0, step, HIGH, 2));
        const wg_real y = wg_let(t, wg_add(wg_mat_sum(t, wg_mat_mul(t, first, first)),
                                           wg_mat_sum(t, wg_take_cols(t, turned, 2, rows))));
        if (step != 0) forbid(t, 1024 + HIGH * 20, HIGH * (WIDE - 1) - 512, 1);
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, wg_mat_block(table, 0, step, HIGH, 2), g, HIGH),
                         WG_OK);
        for (size_t i = 0; i < HIGH; i++) {
            const double moved = i == 3 || i == 0;
            assert_true(same_number(g[i], 4 * a[i + step * HIGH] + moved));
            assert_true(same_number(g[HIGH + i], moved));
        }
        if (step != 0) forbid(t, 1024 + HIGH * 20, HIGH * (WIDE - 1) - 512, 0);
        assert_int_equal(wg_mat_adjoint(t, wg_mat_col(table, WIDE - 1), g, HIGH), WG_OK);
        for (size_t i = 0; i < HIGH; i++)
            assert_true(same_number(g[i], 2 * a[i + (WIDE - 1) * HIGH]));
        assert_int_equal(wg_mat_adjoint(t, wg_mat_col(table, WIDE / 2), g, HIGH), WG_OK);
        for (size_t i = 0; i < HIGH; i++) assert_true(same_number(g[i], 0));
    }
    for (size_t step = 0; step < 3; step++) { /* in lanes: the first time for the memory */
        const size_t index[] = {WIDE - 1, step, WIDE - 1};
        const double w[] = {1, 2, 0, -1};
        wg_tape_reset(t);
        const wg_mat table = wg_mat_input_borrowed(t, HIGH, WIDE, a, HIGH);
        const wg_mat found = wg_embedding(t, table, 3, index);
        const wg_real y = wg_mat_sum(t, wg_mat_mul(t, found, found));
        if (step != 0) forbid(t, 1024 + HIGH * 20, HIGH * (WIDE - 1) - 512, 1);
        assert_int_equal(wg_reverse_lanes(t, 4, 1, &y, w), WG_OK);
        if (step != 0) forbid(t, 1024 + HIGH * 20, HIGH * (WIDE - 1) - 512, 0);
        for (size_t l = 0; l < 4; l++) {
            assert_int_equal(wg_mat_adjoint_lane(t, wg_mat_col(table, WIDE - 1), l, g, HIGH),
                             WG_OK);
            for (size_t i = 0; i < HIGH; i++)
                assert_true(g[i] == w[l] * 4 * a[i + (WIDE - 1) * HIGH]);
        }
    }
    wg_tape_free(t);
    free(a);
}

static void lanes_of_a_lookup_are_single_sweeps(void **state) {
    (void)state;
    enum { K = 5 };
    wg_tape *const t = wg_tape_new(NULL);
    const uint32_t slots = ROWS * COLS + 12 * PARTS + POOL * PARTS;
    double *const single = calloc((size_t)slots * K, sizeof *single), w[2 * K];
    for (uint64_t kind = 0; kind < LOOK_UPS; kind++) {
        struct world world;
        wg_tape_reset(t);
        begin(&world, t, kind);
        const wg_mat found = look_up(&world, kind), square = wg_mat_mul(t, found, found);
        const wg_real y[] = {wg_mat_sum(t, square), wg_mat_at(found, 0, 0)};
        for (size_t i = 0; i < 2 * K; i++) w[i] = walk_number(&world.seed);
        size_t reached = 0;
        for (size_t l = 0; l < K; l++) {
            const double one[] = {w[l], w[K + l]};
            ok(t, wg_reverse_seeds(t, 2, y, one));
            for (uint32_t slot = 1; slot < slots; slot++) {
                single[slot * K + l] = wg_adjoint(t, variable(t, slot));
                reached += single[slot * K + l] != 0;
            }
        }
        assert_true(reached >= 6 * K && reached <= 12 * K);
        ok(t, wg_reverse_lanes(t, K, 2, y, w));
        for (uint32_t slot = 1; slot < slots; slot++)
            for (size_t l = 0; l < K; l++)
                assert_true(same_number(wg_adjoint_lane(t, variable(t, slot), l),
                                        single[slot * K + l]));
    }
    wg_tape_free(t);
    free(single);
}

/* Without room for marks, in a budget that is just enough for one sweep. */
static void without_memory_for_marks_everything_is_swept(void **state) {
    (void)state;
    enum { LENGTH = 20000 };
    double expected = 0;
    int swept = 0, refused = 0;
    for (size_t budget = 640 << 10; budget < 2 << 20; budget += 4096) {
        wg_tape *const t = wg_tape_new(&(wg_options){.budget = budget});
        const wg_real x = wg_input(t, 0.5), z = wg_input(t, 2);
        const wg_real y = chain(t, x, z, LENGTH);
        const wg_status s = wg_reverse(t, y);
        if (s == WG_OK) {
            if (swept++ == 0) expected = wg_adjoint(t, z);
            assert_true(same_number(wg_adjoint(t, z), expected));
        } else {
            assert_int_equal(s, WG_EBUDGET);
            assert_int_equal(swept, 0);
            refused++;
        }
        wg_tape_free(t);
    }
    assert_true(swept != 0 && refused != 0);
    assert_true(close_ulp(expected, 2, TOL_DERIVATIVE_ULP));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_adjoints_are_those_of_a_sweep_over_everything),
        cmocka_unit_test(so_they_are_on_tapes_of_every_kind),
        cmocka_unit_test(what_is_not_reached_is_neither_visited_nor_cleared),
        cmocka_unit_test(a_table_costs_what_is_looked_up_in_it),
        cmocka_unit_test(lanes_of_a_lookup_are_single_sweeps),
        cmocka_unit_test(without_memory_for_marks_everything_is_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
