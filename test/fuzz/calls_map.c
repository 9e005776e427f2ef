/* SPDX-License-Identifier: MIT */
/* calls_map.c - rows: functions in a recording: called, mapped, scanned, checkpointed. */
#include "calls.h"

ROW(wg_callable_new) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    wg_callable *made = NULL, **const out = one_in(60) ? NULL : &made;
    GIVES_STATUS(wg_callable_new(t, f, out));
    if (made == NULL) return;
    const size_t k = below(CALLABLES);
    callable_close(k);
    world.callable[k] = made;
}
ROW(wg_callable_free) {
    const size_t k = below(CALLABLES);
    named("k", "k%zu", k);
    say("", "wg_callable_free(k)");
    callable_close(k);
}
ROW(wg_callable_function) {
    CALLABLE(k);
    say("", "wg_callable_function(k)");
    sink = (double)wg_function_inputs(wg_callable_function(k));
}

/* ---- calls ---- */

enum { MOST_ARGS = 16 };
static size_t rows_of(const wg_function *f, size_t k) { return wg_function_input(f, k)->rows; }
static size_t cols_of(const wg_function *f, size_t k) { return wg_function_input(f, k)->cols; }

ROW(wg_call) {
    TAPE(t);
    CALLABLE(k);
    const wg_function *const f = wg_callable_function(k);
    wg_mat x_[MOST_ARGS], y_[MOST_ARGS];
    const size_t n = wg_function_inputs(f), m = wg_function_outputs(f);
    for (size_t i = 0; i < MOST_ARGS; i++) x_[i] = y_[i] = wg_mat_failed(1, 1);
    for (size_t i = 0; i < n && i < MOST_ARGS; i++)
        x_[i] = draw_mat("x", rows_of(f, i), cols_of(f, i));
    if (n > MOST_ARGS || m > MOST_ARGS) return;
    const wg_mat *const x = one_in(60) ? NULL : x_;
    wg_mat *const y = one_in(60) ? NULL : one_in(20) ? x_ : y_;
    GIVES_STATUS(wg_call(t, k, x, y));
    for (size_t i = 0; i < m && y != NULL; i++) keep_mat(y[i]);
}

/* ---- maps ---- */

static double steady[512]; /* what is not copied stays */
static wg_status fills(size_t first, size_t count, double *data, void *user) {
    const size_t entries = *(const size_t *)user;
    if (one_in(30)) meddle();
    for (size_t i = 0; i < count * entries; i++)
        data[i] = 0.5 + 0.01 * (double)((first * entries + i) % 50);
    return WG_OK;
}
static wg_status fails(size_t first, size_t count, double *data, void *user) {
    (void)user;
    for (size_t i = 0; i < count; i++) data[i] = (double)(first + i);
    return WG_ESINGULAR;
}
static const size_t entries_list[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* From a matrix, from numbers, from a callback. */
static wg_source source(size_t entries, size_t rows, size_t cols, int shared, size_t points) {
    if (steady[0] == 0)
        for (size_t i = 0; i < 512; i++) steady[i] = 0.5 + 0.25 * sin((double)i);
    const size_t way = below(12);
    if (way == 0 && entries * points <= 512) {
        named("x", "from data");
        return wg_from_data(one_in(20) ? NULL : steady, (ptrdiff_t)entries, 1);
    }
    if (way == 1 && entries <= 16) {
        named("x", "from a fill");
        return wg_from_fill(one_in(8) ? fails : fills,
                            (void *)(uintptr_t)&entries_list[entries]);
    }
    if (shared) return wg_from_matrix(draw_mat("x", rows, cols));
    return wg_from_matrix(draw_mat("x", entries, points));
}
ROW(wg_map) {
    TAPE(t);
    CALLABLE(k);
    POOL(threads);
    const wg_function *const f = wg_callable_function(k);
    wg_source x_[MOST_ARGS];
    wg_mat y_[MOST_ARGS];
    const size_t points = one_in(12) ? below(30) : 1 + below(4);
    const size_t n = wg_function_inputs(f), m = wg_function_outputs(f);
    if (n > MOST_ARGS || m > MOST_ARGS) return;
    named("points", "%zu", points);
    for (size_t i = 0; i < n; i++) {
        const int shared = (wg_function_input(f, i)->flags & WG_SHARED) != 0;
        x_[i] =
            source(rows_of(f, i) * cols_of(f, i), rows_of(f, i), cols_of(f, i), shared, points);
    }
    for (size_t i = 0; i < MOST_ARGS; i++) y_[i] = wg_mat_failed(1, 1);
    const wg_source *const x = one_in(60) || n == 0 ? NULL : x_;
    wg_mat *const y = one_in(60) ? NULL : y_;
    GIVES_STATUS(wg_map(t, k, points, x, threads, y));
    for (size_t i = 0; i < m; i++) keep_mat(y_[i]);
}

/* ---- scans ---- */

/* The house's step x = f(p, x), or any callable; names that are there, mostly. */
static void stage_sources(wg_source *x, size_t cells, size_t steps, int each) {
    static const char *const names[] = {"x", "y", "s", "nobody"};
    const char *const name = one_in(20) ? names[below(4)] : "x";
    x[0] = wg_from_matrix(each ? draw_mat("p", 1, steps) : draw_mat("p", 1, 1));
    if (each) x[0] = wg_each_step(x[0]);
    if (one_in(12)) x[0] = source(1, 1, 1, 1, 1);
    switch (below(cells > 1 ? 4 : 2)) {
    case 2:
        x[1] = wg_from_neighbour(name, (ptrdiff_t)below(5) - 2, 0, 0);
        break;
    case 3:
        x[1] = wg_from_neighbour(name, one_in(20) ? PTRDIFF_MIN : 1, one_in(4), 0);
        break;
    default:
        x[1] = one_in(20) ? wg_from_next(name, 0, 0, 0) : wg_from_state(name);
    }
    named("x", "from \"%s\" at %td, %td", name, x[1].offset[0], x[1].offset[1]);
}
ROW(wg_scan) {
    TAPE(t);
    const wg_callable *k = house_callable[1];
    if (one_in(8)) k = draw_callable("k");
    const size_t n = wg_function_inputs(wg_callable_function(k));
    if (n > MOST_ARGS) return;
    POOL(threads);
    const size_t steps = one_in(20) ? below(60) : below(6);
    const size_t cells = one_in(3) ? 1 + below(10) : 1;
    wg_source x[MOST_ARGS];
    for (size_t i = 0; i < MOST_ARGS; i++) x[i] = wg_from_state("x");
    stage_sources(x, cells, steps, one_in(6));
    const wg_stage stage_[2] = {{one_in(60) ? NULL : k, one_in(60) ? NULL : x}, {k, x}};
    const size_t stages = one_in(20) ? below(3) : 1, states = one_in(20) ? below(3) : 1;
    const wg_state state_[2] = {{one_in(40) ? "z" : "x", draw_mat("start", 1, cells)},
                                {one_in(60) ? NULL : "x", wg_mat_failed(1, 1)}};
    wg_scan_options o_ = {{cells, 0, 0},
                          {(wg_boundary)below(3), (wg_boundary)below(3), WG_PERIODIC},
                          below(4),
                          threads,
                          one_in(4)};
    if (one_in(40)) o_.boundary[0] = (wg_boundary)9;
    if (one_in(40)) o_.cells[1] = one_in(2) ? SIZE_MAX : (size_t)1 << 31;
    if (one_in(12) && cells % 2 == 0) o_.cells[0] = cells / 2, o_.cells[1] = 2;
    const wg_scan_options *const o = cells == 1 && one_in(2) ? NULL : &o_;
    const wg_stage *const stage = one_in(60) ? NULL : stage_;
    const wg_state *const state = one_in(60) ? NULL : state_;
    wg_mat y_[MOST_ARGS], *const y = one_in(60) ? NULL : y_;
    for (size_t i = 0; i < MOST_ARGS; i++) y_[i] = wg_mat_failed(1, 1);
    named("steps", "%zu", steps);
    named("stages", "%zu", stages);
    named("states", "%zu", states);
    if (o == NULL) named("o", "NULL");
    else
        named("o", "{{%zu, %zu}, {%d, %d}, stored %zu, sums_by_step %d}", o->cells[0],
              o->cells[1], (int)o->boundary[0], (int)o->boundary[1], o->stored,
              o->sums_by_step);
    GIVES_STATUS(wg_scan(t, steps, stages, stage, states, state, o, y));
    keep_mat(y_[0]), keep_mat(y_[1]);
}
ROW(wg_callable_stencil) {
    DRIVER_TAPE(t);
    const wg_callable *const k = one_in(4) ? draw_callable("k") : house_callable[1];
    if (wg_function_inputs(wg_callable_function(k)) > MOST_ARGS) return;
    wg_source x_[MOST_ARGS];
    for (size_t i = 0; i < MOST_ARGS; i++)
        x_[i] = i == 0 ? wg_from_matrix(wg_mat_failed(1, 1))
                       : wg_from_neighbour("x", (ptrdiff_t)below(3) - 1, 0, 0);
    const wg_source *const x = one_in(60) ? NULL : x_;
    wg_callable *made = NULL, **const out = one_in(60) ? NULL : &made;
    GIVES_STATUS(wg_callable_stencil(t, k, x, out));
    if (made == NULL) return;
    const size_t to = below(CALLABLES);
    callable_close(to);
    world.callable[to] = made;
}

/* ---- checkpoints ---- */

static wg_status record(wg_tape *t, size_t step, size_t n, const wg_real *state, size_t np,
                        const wg_real *param, wg_real *next, void *data) {
    (void)step, (void)data;
    if (one_in(30)) meddle();
    for (size_t i = 0; i < n; i++)
        next[i] = np != 0 ? wg_let(t, wg_mul(wg_sin(state[i]), param[i % np]))
                          : wg_let(t, wg_sin(state[i]));
    return WG_OK;
}
static wg_status records_strangers(wg_tape *t, size_t step, size_t n, const wg_real *state,
                                   size_t np, const wg_real *param, wg_real *next, void *data) {
    (void)t, (void)step, (void)state, (void)np, (void)param, (void)data;
    for (size_t i = 0; i < n; i++) next[i] = world.room[i % TAPES].real[0];
    return WG_OK;
}
static wg_status records_nothing(wg_tape *t, size_t step, size_t n, const wg_real *state,
                                 size_t np, const wg_real *param, wg_real *next, void *data) {
    (void)n, (void)state, (void)np, (void)param, (void)next, (void)data;
    if (step == 1) wg_tape_reset(t);
    return step == 2 ? (wg_status)99 : WG_OK;
}
static wg_status value(size_t step, size_t n, const double *state, size_t np,
                       const double *param, double *next, void *data) {
    (void)step, (void)np, (void)param, (void)data;
    if (one_in(30)) meddle();
    for (size_t i = 0; i < n; i++) next[i] = 2 * state[i];
    return WG_OK;
}
static wg_status vjp(size_t step, size_t n, const double *state, size_t np, const double *param,
                     const double *w, double *dstate, double *dparam, void *data) {
    (void)step, (void)state, (void)np, (void)param, (void)dparam, (void)data;
    if (one_in(30)) meddle();
    for (size_t i = 0; i < n; i++) dstate[i] = 2 * w[i];
    return WG_OK;
}
/* One that is right, as a rule. */
static wg_region some_region(void) {
    static const wg_region region[] = {{.record = record},
                                       {.value = value, .vjp = vjp},
                                       {.record = records_strangers},
                                       {.record = records_nothing},
                                       {.value = value},
                                       {.record = NULL}};
    return region[one_in(6) ? below(6) : below(2)];
}
ROW(wg_checkpoint) {
    TAPE(t);
    wg_tape *work = call.room->work;
    if (one_in(40)) work = one_in(2) ? NULL : t;
    wg_region region_[2];
    for (size_t i = 0; i < 2; i++) region_[i] = some_region();
    const size_t regions = one_in(20) ? 0 : 1 + below(2), steps = below(7), stored = below(4);
    DIM(n);
    MAT(state, n, 1);
    MAT(param, 2, 1);
    const wg_region *const region = one_in(60) ? NULL : region_;
    wg_mat out = wg_mat_failed(1, 1), *const y = one_in(60) ? NULL : &out;
    named("steps", "%zu", steps);
    named("regions", "%zu", regions);
    named("stored", "%zu", stored);
    named("work", "%s", work == NULL ? "NULL" : work == t ? "t" : "its own");
    GIVES_STATUS(wg_checkpoint(t, work, steps, regions, region, stored, state, param, y));
    keep_mat(out);
}

static int ends(size_t step, size_t n, const double *state, size_t np, const double *param,
                void *data) {
    (void)n, (void)state, (void)np, (void)param, (void)data;
    return step == 4;
}
static wg_status lowest(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)m, (void)data;
    y[0] = n != 0 ? wg_let(t, wg_square(x[0])) : wg_constant(1);
    return WG_OK;
}
ROW(wg_loop_gradient) {
    TAPE(t);
    wg_region region[2];
    double x[4], p[2], g[4], gp[2], y;
    for (size_t i = 0; i < 2; i++) region[i] = some_region();
    for (size_t i = 0; i < 4; i++) x[i] = (double)below(9) / 4 - 1, p[i / 2] = x[i];
    if (one_in(20)) x[0] = (double)NAN;
    wg_loop loop_ = {.n = below(5), .np = below(3), .regions = one_in(20) ? 0 : 1 + below(2)};
    loop_.region = one_in(60) ? NULL : region;
    loop_.steps = one_in(60) ? SIZE_MAX : below(9);
    loop_.ends = one_in(3) ? ends : NULL;
    loop_.objective = one_in(60) ? NULL : lowest;
    const wg_loop_options o_ = {.memory = one_in(30) ? below(4) : 4 + below(5),
                                .file = one_in(30) ? "/none/loop" : NULL};
    const wg_loop *const l = one_in(60) ? NULL : &loop_;
    const wg_loop_options *const o = one_in(3) ? NULL : &o_;
    const double *const state = one_in(60) ? NULL : x, *const param = one_in(60) ? NULL : p;
    double *const dstate = one_in(5) ? NULL : one_in(5) ? x : g;
    wg_loop_report report;
    named("n", "%zu", loop_.n);
    named("np", "%zu", loop_.np);
    named("steps", "%zu", loop_.steps);
    named("memory", "%zu", o_.memory);
    GIVES_STATUS(wg_loop_gradient(t, l, o, state, param, &y, dstate, gp, &report));
}

static const struct row list[] = {
    LISTED(wg_callable_new, 4),
    LISTED(wg_callable_free, 1),
    LISTED(wg_callable_function, 1),
    LISTED(wg_call, 16),
    LISTED(wg_map, 16),
    LISTED(wg_scan, 16),
    LISTED(wg_callable_stencil, 2),
    LISTED(wg_checkpoint, 8),
    LISTED(wg_loop_gradient, 4),
};
const struct rows calls_map = ROWS(list);
