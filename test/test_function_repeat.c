/* SPDX-License-Identifier: MIT */
/* Maps and scans inside of functions that are too large to be written out, against loops of
 * statements, which are: values and derivatives, emitted text, compiled code. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "repeat_case.h"

static void derivatives_are_those_in_full(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS);
    static double x[2 * LIKELY_IN + 8];
    fill(x, sizeof x / sizeof *x);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const roll = recorded(rollout, l, ROLL_IN, x, ROLL_OUT);
    wg_function *const roll_full = recorded(rollout_in_full, l, ROLL_IN, x, ROLL_OUT);
    wg_function *const map = recorded(likelihood, l, LIKELY_IN, x, LIKELY_OUT);
    wg_function *const map_full = recorded(likelihood_in_full, l, LIKELY_IN, x, LIKELY_OUT);
    assert_int_equal(roll->repeats, 1);
    assert_int_equal(map->repeats, 1);
    static const struct {
        const char *name;
        transform *by;
    } list[] = {{"value", NULL},
                {"jvp", wg_function_jvp},
                {"vjp", wg_function_vjp},
                {"jacobian", wg_function_jacobian},
                {"hvp", wg_function_hvp}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        compare(list[k].name, list[k].by, roll, roll_full, x);
        compare(list[k].name, list[k].by, map, map_full, x);
    }
    wg_function_free(roll);
    wg_function_free(roll_full);
    wg_function_free(map);
    wg_function_free(map_full);
    models_free(l);
}

static void second_and_third_derivatives(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS);
    double x[8 * FEW];
    fill(x, 8 * FEW);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const f = recorded(few_repeated, l, FEW, x, 1);
    wg_function *const full = recorded(few_in_full, l, FEW, x, 1);
    compare("gradient", wg_function_gradient, f, full, x);
    compare("hessian", wg_function_hessian, f, full, x);
    wg_function *const hvp = made(wg_function_hvp, f), *const hvp_full =
                                                           made(wg_function_hvp, full);
    compare("third", wg_function_jvp, hvp, hvp_full, x);
    wg_function *taylor = NULL, *taylor_full = NULL;
    assert_int_equal(wg_function_taylor(coded, f, 3, &taylor), WG_OK);
    assert_int_equal(wg_function_taylor(coded, full, 3, &taylor_full), WG_OK);
    compare("taylor", NULL, taylor, taylor_full, x);
    wg_function_free(taylor);
    wg_function_free(taylor_full);
    wg_function_free(hvp);
    wg_function_free(hvp_full);
    wg_function_free(f);
    wg_function_free(full);
    models_free(l);
}

/* ---- many points, threads, what is shared ------------------------------------------------ */

static void bits_do_not_depend_on_points_or_threads(void **state) {
    (void)state;
    enum { POINTS = 70 };
    models *const l = models_new(STEPS, PATHS);
    double x[POINTS][FEW], one[FEW], *const all = malloc(POINTS * FEW * sizeof *all);
    double *const threaded = malloc(POINTS * FEW * sizeof *threaded);
    fill(x[0], POINTS * FEW);
    wg_function *const f = recorded(few_repeated, l, FEW, x[0], 1);
    wg_function *const g = made(wg_function_gradient, f);
    wg_threads *pool = NULL;
    assert_int_equal(wg_threads_new(2, NULL, &pool), WG_OK);
    assert_int_equal(evaluated(g, POINTS, x[0], all, NULL, NULL), WG_OK);
    assert_int_equal(evaluated(g, POINTS, x[0], threaded, pool, NULL), WG_OK);
    assert_memory_equal(all, threaded, POINTS * FEW * sizeof *all);
    for (size_t p = 0; p < POINTS; p++) {
        assert_int_equal(evaluated(g, 1, x[p], one, NULL, NULL), WG_OK);
        assert_memory_equal(one, all + p * FEW, sizeof one);
    }
    wg_threads_free(pool);
    free(all);
    free(threaded);
    wg_function_free(g);
    wg_function_free(f);
    models_free(l);
}

/* Shared inputs: the repeat is done once, and what each point adds goes back through it. */
static wg_status once_and_each(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    wg_real r;
    (void)n, (void)m;
    const wg_status s = few(t, x, &r, user, rollout);
    if (s == WG_OK) y[0] = wg_let(t, wg_mul(wg_square(wg_sub(r, x[FEW])), x[FEW]));
    return s;
}
static void shared_inputs_go_through_once(void **state) {
    (void)state;
    enum { POINTS = 9 };
    models *const l = models_new(STEPS, PATHS);
    double x[FEW + POINTS], value, expected[FEW + 1], sum[FEW] = {0}, got[FEW + POINTS];
    fill(x, FEW + POINTS);
    const wg_argument in[] = {{"x", FEW, 1, WG_SHARED}, {"z", 1, 1, 0}};
    const wg_argument out = {"y", 1, 1, WG_SUMMED};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, once_and_each, l, 2, in, x, 1, &out, &f), WG_OK);
    wg_function *const g = made(wg_function_gradient, f);
    const wg_points from[] = {{x, 0, 1}, {x + FEW, 1, 1}};
    const wg_results to[] = {{got, 0, 1}, {got + FEW, 1, 1}};
    void *const work = malloc(wg_function_work(g, NULL));
    assert_int_equal(wg_function_evaluate(g, POINTS, from, to, NULL, work, NULL), WG_OK);
    free(work);
    for (size_t p = 0; p < POINTS; p++) {
        double at[FEW + 1];
        memcpy(at, x, FEW * sizeof *at);
        at[FEW] = x[FEW + p];
        assert_int_equal(wg_gradient(tape, once_and_each, l, FEW + 1, at, &value, expected),
                         WG_OK);
        for (size_t i = 0; i < FEW; i++) sum[i] += expected[i];
        assert_all_near("each", 1, &got[FEW + p], &expected[FEW]);
    }
    assert_all_near("shared", FEW, got, sum);
    /* so does the text */
    typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                         double *const *res, const ptrdiff_t *res_step, size_t *where);
    emitted e;
    FILE *const text = emitted_text(&e);
    const wg_emit_options o = {.name = "shared", .entries = WG_EMIT_BATCH};
    assert_int_equal(wg_function_emit(coded, g, &o, wg_write_file, text), WG_OK);
    (void)fclose(text);
    for (size_t c = 0; c < 2; c++) {
        const double *const arg[] = {x, x + FEW};
        double written[FEW + POINTS], *const res[] = {written, written + FEW};
        static const ptrdiff_t arg_step[] = {0, 1, 1, 1}, res_step[] = {0, 1, 1, 1};
        batch_fn *batch;
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1");
        EMITTED(&e, "shared", "_batch", batch);
        assert_int_equal(batch(POINTS, arg, arg_step, res, res_step, NULL), 0);
        assert_all_near("written", FEW + POINTS, written, got);
        emitted_close(&e);
    }
    emitted_remove(&e);
    wg_function_free(g);
    wg_function_free(f);
    models_free(l);
}

/* Of s and v: sums over terms of v alone, and of s alone, in one loop. */
static wg_status apart(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sin(x[0]));
    y[1] = wg_let(t, wg_exp(x[1]));
    return WG_OK;
}
static wg_status two_sums(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    enum { TERMS = 20 };
    wg_real each[2 * TERMS];
    wg_mat r[2];
    (void)n, (void)m;
    for (int i = 0; i < 2 * TERMS; i++)
        each[i] = wg_let(t, wg_mul(x[i < TERMS], (i % TERMS + 1) * 0.01));
    const wg_source from[] = {wg_from_matrix(wg_mat_gather(t, 1, TERMS, each)),
                              wg_from_matrix(wg_mat_gather(t, 1, TERMS, each + TERMS))};
    const wg_status s = wg_map(t, user, TERMS, from, NULL, r);
    for (int k = 0; k < 2 && s == WG_OK; k++) y[k] = wg_mat_at(r[k], 0, 0);
    return s;
}

/* With s a sum over the points, and v of each point: what depends on v alone is one per point
 * where the loop is written out; the loop is one operation, and has both. */
static void a_loop_that_takes_a_sum_gives_sums_alone(void **state) {
    (void)state;
    const wg_argument ab[] = {{"a", 1, 1, 0}, {"b", 1, 1, 0}},
                      pq[] = {{"p", 1, 1, WG_SUMMED}, {"q", 1, 1, WG_SUMMED}},
                      sv[] = {{"s", 1, 1, WG_SHARED}, {"v", 1, 1, 0}},
                      y[] = {{"of_v", 1, 1, 0}, {"of_s", 1, 1, 0}}, x = {"x", 1, 1, 0},
                      sum = {"s", 1, 1, WG_SUMMED};
    const double at[2] = {0.3, 0.7};
    for (int loop = 0; loop < 2; loop++) {
        const wg_options options = {.flags = WG_KEEP_CODE, .loops_over = loop ? 1 : 1 << 16};
        wg_tape *const t = wg_tape_new(&options);
        wg_function *f = NULL, *inner = NULL, *outer = NULL, *both = NULL;
        wg_callable *k = NULL;
        assert_int_equal(wg_function_record(t, apart, NULL, 2, ab, at, 2, pq, &f), WG_OK);
        assert_int_equal(wg_callable_new(t, f, &k), WG_OK);
        assert_int_equal(wg_function_record(t, two_sums, k, 2, sv, at, 2, y, &outer), WG_OK);
        assert_int_equal(wg_function_record(t, wave, NULL, 1, &x, at, 1, &sum, &inner), WG_OK);
        assert_int_equal(wg_function_compose(t, outer, inner, &both), loop ? WG_EMODE : WG_OK);
        if (loop) assert_message(t, "a sum over the points is used at the points");
        else {
            assert_int_equal(wg_function_output(both, 0)->flags & WG_SUMMED, 0);
            assert_int_equal(wg_function_output(both, 1)->flags & WG_SUMMED, WG_SUMMED);
        }
        wg_function_free(f), wg_function_free(inner), wg_function_free(outer);
        wg_function_free(both);
        wg_callable_free(k);
        wg_tape_free(t);
    }
}

/* ---- comparisons, products with what is infinite ----------------------------------------- */

static wg_status turning(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    wg_real z = wg_let(t, wg_mul(x[0], x[1]));
    for (int i = 0; i < 20; i++) z = wg_let(t, wg_add(z, wg_mul(1e-3, wg_square(z))));
    y[0] = wg_lt(t, z, wg_constant(2)) ? z : wg_let(t, wg_mul(2, z));
    return WG_OK;
}
static wg_status turns(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m;
    const wg_source from[] = {wg_from_state("s"),
                              wg_from_matrix(wg_mat_gather(t, 1, 1, x + 1))};
    const wg_stage stage = {user, from};
    const wg_state state = {"s", wg_mat_gather(t, 1, 1, x)};
    wg_mat r;
    const wg_status s = wg_scan(t, 100, 1, &stage, 1, &state, NULL, &r);
    if (s != WG_OK) return s;
    const int below_three = wg_lt(t, x[0], wg_constant(3));
    y[0] = below_three ? wg_mat_at(r, 0, 0) : x[1];
    return WG_OK;
}

static void comparisons_in_steps_are_watched(void **state) {
    (void)state;
    static const wg_argument in[] = {{"s", 1, 1, 0}, {"p", 1, 1, WG_SHARED}};
    static const wg_argument out = {"s", 1, 1, 0};
    static const double at[] = {0.5, 0.9};
    wg_callable *const k = callable(turning, 2, in, at, 1, &out);
    wg_function *const f = recorded(turns, k, 2, at, 1), *const g =
                                                             made(wg_function_jacobian, f);
    assert_int_equal(f->repeats, 1);
    double x[5][2] = {{0.5, 0.9}, {0.6, 0.8}, {1.2, 1.01}, {4, 0.1}, {0.3, 0.3}}, y[10];
    wg_function_guard guard = {99, 99};
    assert_int_equal(evaluated(f, 5, x[0], y, NULL, &guard), WG_EGUARD);
    assert_int_equal(guard.point, 2); /* in the repeat: after those of the function */
    assert_int_equal(guard.guard, 1);
    assert_int_equal(evaluated(f, 1, x[3], y, NULL, &guard), WG_EGUARD);
    assert_int_equal(guard.guard, 0);
    assert_int_equal(evaluated(f, 2, x[0], y, NULL, &guard), WG_OK);
    assert_int_equal(evaluated(g, 1, x[2], y, NULL, &guard), WG_EGUARD);
    typedef int point_fn(const double *const *arg, double *const *res);
    typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                         double *const *res, const ptrdiff_t *res_step, size_t *where);
    emitted e;
    FILE *const text = emitted_text(&e);
    const wg_emit_options o = {.name = "turns", .entries = WG_EMIT_POINT | WG_EMIT_BATCH};
    assert_int_equal(wg_function_emit(coded, f, &o, wg_write_file, text), WG_OK);
    (void)fclose(text);
    for (size_t c = 0; c < 2; c++) {
        static const int expected[] = {0, 0, 2, 1, 0}; /* 1 + the number of the comparison */
        static const ptrdiff_t arg_step[] = {2, 1}, res_step[] = {1, 1};
        double *const res[] = {y};
        point_fn *point;
        batch_fn *batch;
        size_t where = 99;
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1");
        EMITTED(&e, "turns", "", point);
        EMITTED(&e, "turns", "_batch", batch);
        for (size_t p = 0; p < 5; p++)
            assert_int_equal(point((const double *const[]){x[p]}, res), expected[p]);
        assert_int_equal(
            batch(5, (const double *const[]){x[0]}, arg_step, res, res_step, &where), 2);
        assert_int_equal(where, 2);
        emitted_close(&e);
    }
    emitted_remove(&e);
    wg_function_free(f);
    wg_function_free(g);
    wg_callable_free(k);
}

/* Where a factor is 0, a slope that is infinite has no effect: in a repeat, and before it. */
enum { ROOTS = 100, ROOTS_IN = 2 + 2 * ROOTS };
static wg_status rooted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    wg_real z = wg_let(t, wg_add(wg_mul(0.5, x[0]), wg_mul(x[1], wg_sqrt(x[2]))));
    for (int i = 0; i < 20; i++) z = wg_let(t, wg_mul(z, wg_cos(wg_mul(1e-3, z))));
    y[0] = z;
    return WG_OK;
}
static wg_status roots(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m;
    const wg_real start = wg_let(t, wg_mul(x[0], wg_sqrt(x[1])));
    const wg_source from[] = {
        wg_from_state("s"), wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, ROOTS, x + 2))),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, ROOTS, x + 2 + ROOTS)))};
    const wg_stage stage = {user, from};
    const wg_state state = {"s", wg_mat_gather(t, 1, 1, &start)};
    wg_mat r;
    const wg_status s = wg_scan(t, ROOTS, 1, &stage, 1, &state, NULL, &r);
    if (s == WG_OK) y[0] = wg_mat_at(r, 0, 0);
    return s;
}
static wg_status roots_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    (void)n, (void)m, (void)user;
    wg_real s = wg_let(t, wg_mul(x[0], wg_sqrt(x[1])));
    for (size_t i = 0; i < ROOTS; i++) {
        const wg_real in[] = {s, x[2 + i], x[2 + ROOTS + i]};
        (void)rooted(t, 3, in, 1, &s, NULL);
    }
    y[0] = s;
    return WG_OK;
}

static void the_zero_rule_holds_in_repeats(void **state) {
    (void)state;
    static const wg_argument in[] = {{"s", 1, 1, 0}, {"w", 1, 1, 0}, {"z", 1, 1, 0}};
    static const wg_argument out = {"s", 1, 1, 0};
    static const double at[] = {0.5, 0.9, 0.4};
    double x[2 * ROOTS_IN];
    wg_callable *const k = callable(rooted, 3, in, at, 1, &out);
    fill(x, 2 * ROOTS_IN);
    for (size_t i = 0; i < ROOTS; i++) x[2 + ROOTS + i] = fabs(x[2 + ROOTS + i]);
    x[1] = 0.3;
    wg_function *const f = recorded(roots, k, ROOTS_IN, x, 1);
    wg_function *const full = recorded(roots_in_full, NULL, ROOTS_IN, x, 1);
    assert_int_equal(f->repeats, 1);
    x[0] = x[1] = 0;
    for (size_t i = 0; i < ROOTS; i += 9) x[2 + i] = x[2 + ROOTS + i] = 0;
    compare("gradient", wg_function_gradient, f, full, x);
    compare("jvp", wg_function_jvp, f, full, x);
    wg_function_free(f);
    wg_function_free(full);
    wg_callable_free(k);
}

/* ---- states that nothing depends on ------------------------------------------------------ */

/* s is driven by data only; the first sum depends on it and on q, the second one on q only. */
static wg_status driven_step(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    wg_real z = x[2];
    (void)n, (void)m, (void)data;
    for (int i = 0; i < 20; i++) z = wg_let(t, wg_mul(0.9, wg_sin(wg_add(z, x[0]))));
    y[0] = wg_let(t, wg_add(wg_mul(0.5, x[0]), x[1]));
    y[1] = wg_let(t, wg_add(wg_mul(wg_square(x[2]), x[0]), z));
    y[2] = wg_let(t, wg_mul(wg_square(x[2]), x[3]));
    return WG_OK;
}
static const wg_argument driven_in[] = {
    {"s", 1, 1, 0}, {"d", 1, 1, WG_PASSIVE}, {"q", 2, 1, WG_SHARED}};
static const wg_argument driven_out[] = {
    {"s", 1, 1, 0}, {"a", 1, 1, WG_SUMMED}, {"b", 1, 1, WG_SUMMED}};

typedef struct driven {
    wg_callable *k;
    double d[STEPS];
} driven;
static wg_status drive(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    const driven *const l = user;
    const wg_real start = wg_constant(0.3);
    (void)n, (void)m;
    const wg_source from[] = {wg_from_state("s"), wg_each_step(wg_from_data(l->d, 1, 1)),
                              wg_from_matrix(wg_mat_gather(t, 2, 1, x))};
    const wg_stage stage = {l->k, from};
    const wg_state state = {"s", wg_mat_gather(t, 1, 1, &start)};
    wg_mat r[3];
    const wg_status s = wg_scan(t, STEPS, 1, &stage, 1, &state, NULL, r);
    if (s == WG_OK) y[0] = wg_let(t, wg_mul(wg_mat_at(r[1], 0, 0), wg_mat_at(r[2], 0, 0)));
    return s;
}
static wg_status drive_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    const driven *const l = user;
    wg_real s = wg_constant(0.3), a = wg_constant(0), b = a, now[3];
    (void)n, (void)m;
    for (size_t i = 0; i < STEPS; i++) {
        const wg_real in[] = {s, wg_constant(l->d[i]), x[0], x[1]};
        (void)driven_step(t, 4, in, 3, now, NULL);
        s = now[0];
        a = wg_let(t, wg_add(a, now[1]));
        b = wg_let(t, wg_add(b, now[2]));
    }
    y[0] = wg_let(t, wg_mul(a, b));
    return WG_OK;
}

static void states_need_not_depend_on_what_is_differentiated(void **state) {
    (void)state;
    static const double at[] = {0.3, 0.1, 0.7, -0.4};
    const double x[8] = {0.7, -0.4, 1, 2, -0.5, 0.25, 1.5, -1};
    driven l = {callable(driven_step, 3, driven_in, at, 3, driven_out), {0}};
    for (size_t i = 0; i < STEPS; i++) l.d[i] = 0.3 * sin(0.1 * (double)i);
    wg_function *const f = recorded(drive, &l, 2, x, 1);
    wg_function *const full = recorded(drive_in_full, &l, 2, x, 1);
    assert_int_equal(f->repeats, 1);
    compare("value", NULL, f, full, x);
    compare("gradient", wg_function_gradient, f, full, x);
    compare("vjp", wg_function_vjp, f, full, x);
    compare("jvp", wg_function_jvp, f, full, x);
    compare("jacobian", wg_function_jacobian, f, full, x);
    compare("hvp", wg_function_hvp, f, full, x);
    compare("hessian", wg_function_hessian, f, full, x);
    wg_function_free(f);
    wg_function_free(full);
    wg_callable_free(l.k);
}

static void repeats_stand_in_repeats(void **state) {
    (void)state;
    static const double at[] = {0.1, 0.2, 0.3, 0.5};
    wg_callable *const k = callable(heat_of_cell, 4, heat_in, at, 2, heat_out);
    double x[2 * HEAT_IN];
    fill(x, 2 * HEAT_IN);
    wg_function *const f = recorded(heat, k, HEAT_IN, x, 1);
    wg_function *const full = recorded(heat_in_full, NULL, HEAT_IN, x, 1);
    assert_int_equal(f->repeats, 1);
    assert_int_equal(f->repeat[0].body->repeats, 1);
    compare("value", NULL, f, full, x);
    compare("gradient", wg_function_gradient, f, full, x);
    compare("hvp", wg_function_hvp, f, full, x);
    wg_function_free(f);
    wg_function_free(full);
    wg_callable_free(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_in_full),
        cmocka_unit_test(second_and_third_derivatives),
        cmocka_unit_test(bits_do_not_depend_on_points_or_threads),
        cmocka_unit_test(shared_inputs_go_through_once),
        cmocka_unit_test(a_loop_that_takes_a_sum_gives_sums_alone),
        cmocka_unit_test(comparisons_in_steps_are_watched),
        cmocka_unit_test(the_zero_rule_holds_in_repeats),
        cmocka_unit_test(states_need_not_depend_on_what_is_differentiated),
        cmocka_unit_test(repeats_stand_in_repeats),
    };
    return cmocka_run_group_tests(tests, open_looping, close_tapes);
}
