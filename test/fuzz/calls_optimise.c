/* SPDX-License-Identifier: MIT */
/* calls_optimise.c - rows: minima, fits, steps of descent. */
#include "calls.h"

enum { MOST_VARIABLES = 16 };

static int stops(void *context, const wg_minimise_step *s, size_t n, const double *x) {
    (void)context, (void)n, (void)x;
    return s->step == 2;
}

static wg_descent draw_descent(void) {
    static const double rates[] = {0, 0.1, 1, -1, 0.01, INFINITY, 1e300, 0.5};
    wg_descent d = {.rule = (wg_rule)below(WG_RULE_COUNT)};
    d.rate = one_in(2) ? 0 : rates[below(8)];
    if (one_in(3)) d.schedule = (wg_schedule)below(WG_SCHEDULE_COUNT);
    if (one_in(30)) d.rule = (wg_rule)77;
    if (one_in(30)) d.schedule = (wg_schedule)77;
    if (one_in(4)) d.period = below(4), d.warmup = below(3);
    if (one_in(10)) d.momentum = rates[below(8)];
    if (one_in(10)) d.clip_norm = rates[below(8)];
    if (one_in(10)) d.clip_value = rates[below(8)];
    return d;
}

/* Where a search begins, its options, and where they stand. */
typedef struct search {
    double x[MOST_VARIABLES], lower[MOST_VARIABLES], upper[MOST_VARIABLES];
    wg_minimise_step history[3];
    wg_minimise_options o;
    wg_minimise_result result;
} search;

static void draw_search(search *s, size_t n) {
    static const double tolerances[] = {0, 1e-6, 1, -1, 1e300, NAN};
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < n && i < MOST_VARIABLES; i++) {
        s->x[i] = one_in(60) ? NAN : number();
        s->lower[i] = one_in(20) ? INFINITY : s->x[i] - (double)below(3);
        s->upper[i] = one_in(4) ? INFINITY : s->x[i] + (double)below(3);
    }
    s->o.method = (wg_method)below(WG_METHOD_COUNT);
    if (one_in(30)) s->o.method = (wg_method)77;
    s->o.limit = 1 + below(6);
    if (one_in(3)) s->o.gradient = tolerances[below(6)];
    if (one_in(6)) s->o.step = tolerances[below(6)];
    if (one_in(6)) s->o.value = tolerances[below(6)];
    if (one_in(6)) s->o.damping = tolerances[below(6)];
    if (one_in(3)) s->o.lower = s->lower;
    if (one_in(3)) s->o.upper = s->upper;
    if (one_in(3)) s->o.memory = one_in(10) ? SIZE_MAX : 1 + below(3);
    s->o.descent = draw_descent();
    if (one_in(3)) s->o.history = s->history, s->o.history_size = 3;
    if (one_in(4)) s->o.progress = stops;
    named("method", "%d", (int)s->o.method);
    named("limit", "%zu", s->o.limit);
}
#define SEARCH(n)                                                                              \
    search search_;                                                                            \
    draw_search(&search_, n);                                                                  \
    double *const x = one_in(60) ? NULL : search_.x;                                           \
    const wg_minimise_options *const o = one_in(60) ? NULL : &search_.o;                       \
    wg_minimise_result *const result = one_in(60) ? NULL : &search_.result

ROW(wg_minimise) {
    DRIVER_TAPE(t);
    CALLBACK(f);
    COUNT(n);
    SEARCH(n);
    GIVES_STATUS(wg_minimise(t, f, NULL, n, x, o, result));
}
ROW(wg_fit) {
    DRIVER_TAPE(t);
    CALLBACK(f);
    COUNT(n);
    COUNT(m);
    SEARCH(n);
    RESULTS(deviation, n);
    GIVES_STATUS(wg_fit(t, f, NULL, m, n, x, o, result, deviation));
}
static wg_status bowl(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    (void)m, (void)data;
    if (n == 0) return WG_ECALLBACK;
    y[0] = wg_mat_from_real(t, wg_mat_sum(t, wg_mat_square(t, x[0])));
    return WG_OK;
}
ROW(wg_mat_minimise) {
    DRIVER_TAPE(t);
    const size_t n = below(3), rows = below(4), cols = below(3);
    SEARCH(rows * cols);
    wg_mat_result place[2] = {{x, rows, cols, 0}, {search_.lower, 1, 1, 0}};
    const wg_mat_result *const at = one_in(60) ? NULL : place;
    wg_mat_callback *const f = one_in(60) ? NULL : bowl;
    if (n == 2) search_.o.lower = search_.o.upper = NULL;
    named("n", "%zu", n);
    GIVES_STATUS(wg_mat_minimise(t, f, NULL, n, at, o, result));
}

/* One point, or some, of a function: entries of each input next to each other. */
#define OF_A_FUNCTION                                                                          \
    DRIVER_TAPE(t);                                                                            \
    FUNCTION(f);                                                                               \
    POOL(threads);                                                                             \
    const size_t inputs = wg_function_inputs(f), points = one_in(20) ? 0 : 1 + below(3);       \
    static double data[4096];                                                                  \
    wg_points in_[MOST_VARIABLES];                                                             \
    size_t entries = 0;                                                                        \
    if (inputs > MOST_VARIABLES) return;                                                       \
    for (size_t i = 0; i < inputs; i++) {                                                      \
        const wg_argument *const a = wg_function_input(f, i);                                  \
        in_[i] = (wg_points){data, (ptrdiff_t)(a->rows * a->cols), 1};                         \
        entries += a->rows * a->cols;                                                          \
        if (a->rows * a->cols > 1000) return;                                                  \
    }                                                                                          \
    if (entries > MOST_VARIABLES) return;                                                      \
    const wg_points *const in = one_in(60) ? NULL : in_;                                       \
    named("points", "%zu", points);                                                            \
    SEARCH(entries)

ROW(wg_function_minimise) {
    OF_A_FUNCTION;
    GIVES_STATUS(wg_function_minimise(t, f, points, in, threads, x, o, result));
}
ROW(wg_function_fit) {
    OF_A_FUNCTION;
    RESULTS(deviation, entries);
    GIVES_STATUS(wg_function_fit(t, f, points, in, threads, x, o, result, deviation));
}

/* ---- steps ---- */

ROW(wg_descent_rate) {
    const wg_descent d = draw_descent();
    const wg_descent *const o = one_in(6) ? NULL : &d;
    SIZE(step);
    GIVES_NUMBER(wg_descent_rate(o, step));
}
ROW(wg_descent_numbers) {
    const wg_descent d = draw_descent();
    const wg_descent *const o = one_in(6) ? NULL : &d;
    SIZE(n);
    GIVES_NUMBER(wg_descent_numbers(o, n));
}
ROW(wg_descent_step) {
    const wg_descent d = draw_descent();
    const wg_descent *const o = one_in(6) ? NULL : &d;
    const size_t n = below(5), step = below(4);
    double at[4] = {1, 2, 3, 4}, kept[8] = {0};
    double *const x = one_in(30) ? NULL : at, *const state = one_in(10) ? NULL : kept;
    DOUBLES(g, n);
    named("n", "%zu", n);
    GIVES_STATUS(wg_descent_step(o, step, n, x, g, state));
}
ROW(wg_mat_descent_step) {
    const wg_descent d = draw_descent();
    const wg_descent *const o = one_in(6) ? NULL : &d;
    const size_t n = below(3), step = below(4), rows = below(3);
    double at[8] = {1, 2, 3, 4}, kept[32] = {0}, by[8] = {0.5, -1, 2, 0, 1};
    const wg_mat_result x_[2] = {{at, rows, 2, one_in(3) ? 0 : 2}, {at + 4, 2, 1, 0}};
    const wg_mat_result g_[2] = {{one_in(20) ? NULL : by, one_in(20) ? 1 : rows, 2, 0},
                                 {by + 4, 2, 1, 2}};
    const wg_mat_result *const x = one_in(30) ? NULL : x_, *const g = one_in(30) ? NULL : g_;
    double *const state = one_in(10) ? NULL : kept;
    named("n", "%zu", n);
    GIVES_STATUS(wg_mat_descent_step(o, step, n, x, g, state));
}

/* ---- texts ---- */

#define OF_A_LIST(call, type)                                                                  \
    ROW(call) {                                                                                \
        const type k = one_in(8) ? (type)-1 : (type)below(12);                                 \
        named("k", "%d", (int)k);                                                              \
        GIVES_NUMBER(call(k)[0]);                                                              \
    }
OF_A_LIST(wg_rule_text, wg_rule)
OF_A_LIST(wg_method_text, wg_method)
OF_A_LIST(wg_stop_text, wg_stop)

static const struct row list[] = {
    LISTED(wg_minimise, 6),          LISTED(wg_fit, 6),          LISTED(wg_mat_minimise, 4),
    LISTED(wg_function_minimise, 4), LISTED(wg_function_fit, 4), LISTED(wg_descent_rate, 1),
    LISTED(wg_descent_numbers, 1),   LISTED(wg_descent_step, 3), LISTED(wg_mat_descent_step, 3),
    LISTED(wg_rule_text, 1),         LISTED(wg_method_text, 1),  LISTED(wg_stop_text, 1),
};
const struct rows calls_optimise = ROWS(list);
