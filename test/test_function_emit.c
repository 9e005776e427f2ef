/* SPDX-License-Identifier: MIT */
/* test_function_emit.c - the text of functions, compiled as strict C99 without a warning,
 * against a walk through their nodes. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "emitted.h"

#include <fenv.h>
#include <math.h>
#include <wengert/array.h>
#include <wengert/operation.h>
#include "../tape/function/text.h"

typedef int point_fn(const double *const *arg, double *const *res);
typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                     double *const *res, const ptrdiff_t *res_step, size_t *where);
typedef int casadi_fn(const double **arg, double **res, long long *iw, double *w, int mem);

enum { ALL = WG_EMIT_POINT | WG_EMIT_BATCH | WG_EMIT_CASADI, MOST = 4096, POINTS = 29 };

static void emit(FILE *f, hand *h, const char *name, unsigned entries, size_t unit) {
    const wg_emit_options o = {name, entries, unit, 0};
    assert_int_equal(wg_function_emit(h->t, h->f, &o, wg_write_file, f), WG_OK);
}

/* Pointers to the arguments that stand one after the other. */
static void pointers(const wg_function *f, const double *x, const double **arg, double *y,
                     double **res) {
    for (size_t k = 0; k < f->inputs; x += wgi_argument_size(&f->input[k++])) arg[k] = x;
    for (size_t k = 0; k < f->outputs; y += wgi_argument_size(&f->output[k++])) res[k] = y;
}

/* The first comparison that comes out differently at a point, + 1; or 0. */
static int guard_at(const wg_function *f, const double *x) {
    double *const v = malloc((f->nodes + 1) * sizeof *v), operand[8];
    int first = 0;
    assert_non_null(v);
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        for (uint32_t k = 0; k < n->count; k++) operand[k] = v[f->operand[n->first + k]];
        v[i] = n->kind == WGI_NODE_INPUT ? x[i]
               : n->kind == WGI_NODE_SUM ? operand[0]
                                         : wgi_node_value(n, operand);
    }
    for (size_t k = f->guards; k-- > 0;)
        if (wgi_compare(f->guard[k].comparison, v[f->guard[k].a], v[f->guard[k].b]) !=
            f->guard[k].outcome)
            first = (int)k + 1;
    free(v);
    return first;
}

static void draw_point(double *x, size_t n, size_t p) {
    for (size_t i = 0; i < n; i++)
        x[i] = p % 3 == 0 ? special[below(SPECIALS)] : uniform(-2, 2);
}

static void same(const char *what, size_t entry, double got, double want) {
    if (same_bits(got, want)) return;
    print_error("%s, entry %zu: %.17g, not %.17g\n", what, entry, got, want);
    fail();
}

/* ---- entry points against the walk ---- */

static void check_point(const emitted *e, const hand *h, const char *name, const char *suffix) {
    static double x[MOST], y[MOST], want[MOST];
    const double *arg[16];
    double *res[16];
    point_fn *f;
    EMITTED(e, name, suffix, f);
    pointers(h->f, x, arg, y, res);
    for (size_t p = 0; p < POINTS; p++) {
        draw_point(x, h->n, p);
        memset(y, 0x7f, h->m * sizeof *y);
        assert_int_equal(f(arg, res), guard_at(h->f, x));
        assert_int_equal(graph_walk(h->f, x, want), 0);
        for (size_t j = 0; j < h->m; j++) same(name, j, y[j], want[j]);
    }
}

static void nothing_given_is_zero(const emitted *e, const hand *h, const char *name,
                                  const char *suffix) {
    static double x[MOST], y[MOST], want[MOST];
    const double *arg[16];
    double *res[16];
    point_fn *f;
    EMITTED(e, name, suffix, f);
    pointers(h->f, x, arg, y, res);
    memset(x, 0, sizeof x);
    memset(y, 0x7f, sizeof y);
    assert_int_equal(graph_walk(h->f, x, want), 0);
    memset(arg, 0, sizeof arg);
    res[0] = NULL;
    (void)f(arg, res);
    for (size_t j = 0; j < h->m; j++)
        if (j >= wgi_argument_size(&h->f->output[0])) same(name, j, y[j], want[j]);
        else assert_memory_equal(&y[j], "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", sizeof *y);
}

/* At one point for each, so that sums are of one point. */
static void check_batch_of_one(const emitted *e, const hand *h, const char *name) {
    static double x[MOST], y[MOST], want[MOST];
    const double *arg[16];
    double *res[16];
    ptrdiff_t xs[32], ys[32];
    size_t where;
    batch_fn *f;
    EMITTED(e, name, "_batch", f);
    pointers(h->f, x, arg, y, res);
    for (size_t k = 0; k < 16; k++)
        xs[2 * k] = ys[2 * k] = 0, xs[2 * k + 1] = ys[2 * k + 1] = 1;
    for (size_t p = 0; p < POINTS; p++) {
        draw_point(x, h->n, p);
        where = 77;
        const int first = guard_at(h->f, x);
        assert_int_equal(f(1, arg, xs, res, ys, &where), first);
        assert_int_equal(where, first != 0 ? 0 : 77);
        assert_int_equal(graph_walk(h->f, x, want), 0);
        for (size_t j = 0; j < h->m; j++)
            if (want[j] != 0 || y[j] != 0) same("batch of one", j, y[j], want[j]);
    }
}

/* Arrays of structures in, structures of arrays out. */
static void check_batch(const emitted *e, const hand *h, const char *name, size_t points) {
    static double x[MOST * POINTS], y[MOST * POINTS], want[MOST];
    const double *arg[16];
    double *res[16];
    ptrdiff_t xs[32], ys[32];
    size_t where = 0, at = 0;
    int first = 0;
    batch_fn *f;
    const wg_function *const g = h->f;
    EMITTED(e, name, "_batch", f);
    for (size_t p = 0; p < points; p++) draw_point(x + p * h->n, h->n, p);
    for (size_t k = 0; k < g->inputs; at += wgi_argument_size(&g->input[k++])) {
        arg[k] = x + at;
        xs[2 * k] = (ptrdiff_t)h->n, xs[2 * k + 1] = 1;
        if (!(g->input[k].flags & WG_SHARED)) continue;
        for (size_t p = 1; p < points; p++)
            memcpy(x + p * h->n + at, x + at, wgi_argument_size(&g->input[k]) * sizeof *x);
    }
    at = 0;
    for (size_t k = 0; k < g->outputs; at += wgi_argument_size(&g->output[k++])) {
        res[k] = y + at * points;
        ys[2 * k] = 1, ys[2 * k + 1] = (ptrdiff_t)points;
    }
    const int said = f(points, arg, xs, res, ys, &where);
    for (size_t p = 0; p < points; p++) {
        if (first == 0 && (first = guard_at(g, x + p * h->n)) != 0) assert_int_equal(where, p);
        assert_int_equal(graph_walk(g, x + p * h->n, want), 0);
        for (size_t k = 0, j = 0; k < g->outputs; k++)
            for (size_t l = 0; l < wgi_argument_size(&g->output[k]); l++, j++)
                if (!(g->output[k].flags & WG_SUMMED))
                    same(name, j, y[j * points + p], want[j]);
    }
    assert_int_equal(said, first);
}

static void check_casadi(const emitted *e, const hand *h, const char *name) {
    static double x[MOST], y[MOST], want[MOST], w[MOST];
    const wg_function *const g = h->f;
    const double *arg[16];
    double *res[16], dense[MOST];
    long long sizes[4];
    casadi_fn *f;
    int (*work)(long long *, long long *, long long *, long long *);
    long long (*n_in)(void), (*n_out)(void);
    const char *(*name_in)(long long), *(*name_out)(long long);
    const long long *(*sparsity_in)(long long), *(*sparsity_out)(long long);
    EMITTED(e, name, "", f);
    EMITTED(e, name, "_work", work);
    EMITTED(e, name, "_n_in", n_in);
    EMITTED(e, name, "_n_out", n_out);
    EMITTED(e, name, "_name_in", name_in);
    EMITTED(e, name, "_name_out", name_out);
    EMITTED(e, name, "_sparsity_in", sparsity_in);
    EMITTED(e, name, "_sparsity_out", sparsity_out);
    assert_int_equal(work(&sizes[0], &sizes[1], &sizes[2], &sizes[3]), 0);
    assert_int_equal(n_in(), g->inputs);
    assert_int_equal(n_out(), g->outputs);
    assert_int_equal(sizes[0], g->inputs);
    assert_int_equal(sizes[1], g->outputs);
    assert_true(sizes[3] <= MOST);
    assert_null(name_in(n_in()));
    assert_null(sparsity_out(-1));
    pointers(g, x, arg, y, res);
    for (size_t k = 0; k < g->inputs; k++) {
        const long long *const s = sparsity_in((long long)k);
        assert_string_equal(name_in((long long)k), g->input[k].name);
        assert_int_equal(s[0], g->input[k].rows);
        assert_int_equal(s[1], g->input[k].cols);
        assert_int_equal(s[2 + s[1]], s[0] * s[1]);
    }
    for (size_t p = 0; p < POINTS; p++) {
        draw_point(x, h->n, p);
        assert_int_equal(f(arg, res, NULL, w, 0), guard_at(g, x));
        assert_int_equal(graph_walk(g, x, want), 0);
        for (size_t k = 0, j = 0; k < g->outputs; k++) {
            const long long *const s = sparsity_out((long long)k), *const row = s + 3 + s[1];
            const size_t size = wgi_argument_size(&g->output[k]);
            assert_string_equal(name_out((long long)k), g->output[k].name);
            memset(dense, 0, size * sizeof *dense);
            for (long long c = 0; c < s[1]; c++)
                for (long long i = s[2 + c]; i < s[3 + c]; i++)
                    dense[row[i] + c * s[0]] = res[k][i];
            for (size_t l = 0; l < size; l++, j++) same("casadi", j, dense[l], want[j]);
        }
    }
}

/* ---- tests ---- */

static void every_row_and_partial_is_that_of_the_table(void **state) {
    enum { APIECE = 12 };
    emitted e;
    hand h[16];
    char name[16][8];
    size_t parts = 0;
    (void)state;
    FILE *const f = emitted_text(&e);
    for (size_t k = 0; k < wgi_scalar_op_count; k += APIECE, parts++) {
        const size_t end = k + APIECE < wgi_scalar_op_count ? k + APIECE : wgi_scalar_op_count;
        hand_open(&h[parts]);
        hand_every_row(&h[parts], k, end);
        (void)snprintf(name[parts], sizeof name[parts], "r%zu", parts);
        emit(f, &h[parts], name[parts], WG_EMIT_POINT | WG_EMIT_BATCH, 0);
    }
    assert_int_equal(fclose(f), 0);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1 -D_DEFAULT_SOURCE");
        for (size_t k = 0; k < parts; k++) {
            check_point(&e, &h[k], name[k], "");
            check_batch(&e, &h[k], name[k], POINTS);
        }
        emitted_close(&e);
    }
    emitted_remove(&e);
    for (size_t k = 0; k < parts; k++) hand_close(&h[k]);
}

static void drawn_functions_are_what_the_walk_gives(void **state) {
    enum { DRAWN = 16 };
    emitted e;
    static hand h[DRAWN];
    char name[DRAWN][8];
    (void)state;
    FILE *const f = emitted_text(&e);
    for (size_t k = 0; k < DRAWN; k++) {
        hand_open(&h[k]);
        hand_draw(&h[k], k + 1, 10 + 12 * k, k % 2 == 1, k % 4 >= 2);
        (void)snprintf(name[k], sizeof name[k], "f%zu", k);
        emit(f, &h[k], name[k], ALL, k % 3 == 0 ? 0 : 5 + k);
    }
    assert_int_equal(fclose(f), 0);
    for (size_t c = 0; c < 4; c++) {
        if (!has_compiler(emitted_compilers[c % 2])) continue;
        emitted_open(&e, emitted_compilers[c % 2], c < 2 ? "-O2" : "-O1 -DWG_NO_VECTORS");
        for (size_t k = 0; k < DRAWN; k++) {
            check_point(&e, &h[k], name[k], "_point");
            nothing_given_is_zero(&e, &h[k], name[k], "_point");
            check_batch_of_one(&e, &h[k], name[k]);
            for (size_t points = 1; points <= POINTS; points += 7)
                check_batch(&e, &h[k], name[k], points);
            check_casadi(&e, &h[k], name[k]);
        }
        emitted_close(&e);
    }
    emitted_remove(&e);
    for (size_t k = 0; k < DRAWN; k++) hand_close(&h[k]);
}

/* x u with u shared: sums of x u, of u, and what follows from them. */
static void sums_are_over_all_points_in_lanes(void **state) {
    emitted e;
    hand h;
    double x[POINTS], u = 0.7, y[3], lane[8] = {0};
    (void)state;
    hand_open(&h);
    const uint32_t a = hand_input(&h, "x", 1, 1, 0), b = hand_input(&h, "u", 1, 1, WG_SHARED);
    const uint32_t product = WGI_GRAPH2(&h.g, mul, a, b);
    const uint32_t out[3] = {wgi_graph_sum(&h.g, product), wgi_graph_sum(&h.g, b),
                             WGI_GRAPH1(&h.g, sin, wgi_graph_sum(&h.g, product))};
    h.out[0] = (wg_argument){"y", 3, 1, WG_SUMMED};
    h.outs = 1;
    memcpy(h.result, out, sizeof out);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "s", WG_EMIT_BATCH, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    batch_fn *batch;
    EMITTED(&e, "s", "_batch", batch);
    for (size_t p = 0; p < POINTS; p++) {
        x[p] = uniform(-1, 1);
        lane[p % 8] += x[p] * u;
    }
    const double want = ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
                        ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    const ptrdiff_t xs[] = {1, 1, 0, 1}, ys[] = {0, 1};
    assert_int_equal(
        batch(POINTS, (const double *const[]){x, &u}, xs, (double *const[]){y}, ys, NULL), 0);
    same("sum", 0, y[0], want);
    same("sum of a number", 1, y[1], POINTS * u);
    same("after", 2, y[2], sin(want));
    assert_int_equal(
        batch(0, (const double *const[]){x, &u}, xs, (double *const[]){y}, ys, NULL), 0);
    for (size_t k = 0; k < 3; k++) assert_true(y[k] == 0);
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

/* Results at each point that are the same at all of them: a call, arithmetic, a product by the
 * rule, of use for nothing else. */
static void what_is_done_once_is_a_result_at_every_point(void **state) {
    enum { RESULTS = 4 };
    emitted e;
    hand h;
    const double u[2] = {0.7, -1.3};
    double x[POINTS], y[POINTS][RESULTS];
    (void)state;
    hand_open(&h);
    const uint32_t b = hand_input(&h, "u", 2, 1, WG_SHARED), a = hand_input(&h, "x", 1, 1, 0);
    const uint32_t out[RESULTS] = {WGI_GRAPH1(&h.g, sin, b), WGI_GRAPH2(&h.g, sub, b, b + 1),
                                   wgi_graph_times(&h.g, b, WGI_GRAPH1(&h.g, exp, b + 1)),
                                   WGI_GRAPH2(&h.g, mul, a, b)};
    hand_output(&h, "y", RESULTS, 1, 0, out);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "o", WG_EMIT_BATCH, 0);
    emit(f, &h, "units", WG_EMIT_BATCH, 1);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    for (int units = 0; units < 2; units++) {
        batch_fn *batch;
        EMITTED(&e, units ? "units" : "o", "_batch", batch);
        const ptrdiff_t xs[] = {0, 1, 1, 1}, ys[] = {RESULTS, 1};
        for (size_t p = 0; p < POINTS; p++) x[p] = uniform(-1, 1);
        memset(y, 0x7f, sizeof y);
        assert_int_equal(
            batch(POINTS, (const double *const[]){u, x}, xs, (double *const[]){y[0]}, ys, NULL),
            0);
        for (size_t p = 0; p < POINTS; p++) {
            const double want[RESULTS] = {sin(u[0]), u[0] - u[1], u[0] * exp(u[1]),
                                          x[p] * u[0]};
            for (size_t k = 0; k < RESULTS; k++) same("done once", k, y[p][k], want[k]);
        }
    }
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

/* c * sqrt(x) by x where c is 0 and x is 0. */
static void zero_times_infinity_is_zero_by_the_rule(void **state) {
    emitted e;
    hand h;
    (void)state;
    hand_open(&h);
    const uint32_t c = hand_input(&h, "c", 1, 1, 0), x = hand_input(&h, "x", 1, 1, 0);
    const uint32_t d = hand_partial(&h, op_named("sqrt"), WGI_NODE_FIRST, 0, &x);
    uint32_t out[2] = {wgi_graph_times(&h.g, c, d), 0};
    /* a comparison hides the NaN of the plain product */
    out[1] = WGI_GRAPH4(&h.g, select_lt, out[0], c, x, d);
    hand_output(&h, "y", 2, 1, 0, out);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "z", WG_EMIT_POINT | WG_EMIT_BATCH, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    check_point(&e, &h, "z", "");
    check_batch(&e, &h, "z", POINTS);
    point_fn *point;
    batch_fn *batch;
    EMITTED(&e, "z", "", point);
    EMITTED(&e, "z", "_batch", batch);
    double zero[10] = {0}, y[20];
    assert_int_equal(point((const double *const[]){zero, zero}, (double *const[]){y}), 0);
    assert_true(y[0] == 0);
    const ptrdiff_t xs[] = {1, 1, 1, 1}, ys[] = {2, 1};
    assert_int_equal(
        batch(10, (const double *const[]){zero, zero}, xs, (double *const[]){y}, ys, NULL), 0);
    for (size_t p = 0; p < 10; p++) assert_true(y[2 * p] == 0);
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

static void any_name_becomes_an_identifier(void **state) {
    static const char *const name[] = {
        "double", "x*/y", "a-b", "a+b",  "\xc3\xa9t\xc3\xa9", "t1",  "9lives",
        "_x",     "exp",  "arg", "?\?/", "odd_part0",         "odd", "INFINITY"};
    enum { NAMES = sizeof name / sizeof *name };
    emitted e;
    hand h;
    uint32_t x[NAMES];
    (void)state;
    hand_open(&h);
    for (size_t k = 0; k < NAMES; k++) x[k] = hand_input(&h, name[k], 1, 1, 0);
    for (size_t k = 0; k < NAMES; k++) {
        uint32_t y = WGI_GRAPH1(&h.g, exp, x[k]);
        y = WGI_GRAPH2(&h.g, sub, y, x[(k + 3) % NAMES]);
        hand_output(&h, name[NAMES - 1 - k], 1, 1, 0, &y);
    }
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "odd", ALL, 4);
    assert_int_equal(fclose(f), 0);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1 -trigraphs");
        check_point(&e, &h, "odd", "_point");
        check_batch(&e, &h, "odd", 11);
        check_casadi(&e, &h, "odd");
        emitted_close(&e);
    }
    emitted_remove(&e);
    hand_close(&h);
}

/* One spelling, x_________: all are told apart, in the order of the arguments; one of another
 * spelling is like one of these. */
enum { ALIKE = 3000 };
static wg_status sum_of_all(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)m, (void)data;
    y[0] = wg_sum(t, n, x);
    return WG_OK;
}

static void thousands_of_names_spelled_alike_are_told_apart(void **state) {
    static char name[ALIKE][16];
    static wg_argument in[ALIKE];
    static double at[ALIKE];
    const wg_argument out = {"x_________", 1, 1, 0};
    wg_function *f = NULL;
    size_t needed = 0;
    (void)state;
    for (size_t k = 0; k < ALIKE; k++) {
        name[k][0] = 'x';
        for (size_t i = 0, digits = k; i < 9; i++, digits /= 3)
            name[k][1 + i] = ".-+"[digits % 3];
        in[k] = (wg_argument){name[k], 1, 1, 0};
    }
    in[1].name = "x__________3";
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_int_equal(wg_function_record(t, sum_of_all, NULL, ALIKE, in, at, 1, &out, &f),
                     WG_OK);
    assert_int_equal(wg_function_text(t, f, NULL, NULL, 0, &needed), WG_OK);
    char *const text = malloc(needed + 1);
    assert_non_null(text);
    assert_int_equal(wg_function_text(t, f, NULL, text, needed + 1, &needed), WG_OK);
    const char *from = text;
    for (size_t k = 0; k <= ALIKE; k++) { /* the output comes last */
        char wanted[64];
        const size_t suffix = k < 3 ? k : k + 1;
        if (k == 0) (void)snprintf(wanted, sizeof wanted, "const x_________ = arg[0]");
        else if (k == 1) (void)snprintf(wanted, sizeof wanted, "const x__________3 = arg[1]");
        else if (k < ALIKE)
            (void)snprintf(wanted, sizeof wanted, "const x__________%zu = arg[%zu]", suffix, k);
        else (void)snprintf(wanted, sizeof wanted, "const x__________%zu = res[0]", suffix);
        from = strstr(from, wanted);
        if (from == NULL) fail_msg("no %s", wanted);
    }
    free(text);
    wg_function_free(f);
    wg_tape_free(t);
}

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "an expression")
static double table(double a) { return a * 2; }
WG_OPERATION1(looked_up, table(a), 2.0, 0, ARITH, "a call of something else")

static double twice(const double *x) { return x[0] * 2; }
static void twice_first(const double *x, double v, double *d) { (void)x, (void)v, *d = 2; }
/* The text begins with a space. */
static const wg_scalar_op spaced = {.name = "spaced",
                                    .source = "a space",
                                    .arity = 1,
                                    .value = twice,
                                    .first = twice_first,
                                    .text = {" a * 2", "2", "0"}};

static void operations_of_the_user_are_their_texts(void **state) {
    emitted e;
    hand h;
    (void)state;
    hand_open(&h);
    const uint32_t x = hand_input(&h, "x", 1, 1, 0);
    uint32_t y[4];
    y[3] = hand_partial(&h, &spaced, WGI_NODE_OP, 0, &x);
    y[0] = hand_partial(&h, &wgi_user_softsign, WGI_NODE_OP, 0, &x);
    y[1] = hand_partial(&h, &wgi_user_softsign, WGI_NODE_FIRST, 0, &x);
    y[2] = hand_partial(&h, &wgi_user_softsign, WGI_NODE_SECOND, 0, &x);
    hand_output(&h, "y", 4, 1, 0, y);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "user", WG_EMIT_POINT, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    check_point(&e, &h, "user", "");
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);

    size_t needed;
    hand_open(&h);
    const uint32_t z = hand_input(&h, "x", 1, 1, 0);
    y[0] = hand_partial(&h, &wgi_user_looked_up, WGI_NODE_OP, 0, &z);
    hand_output(&h, "y", 1, 1, 0, y);
    hand_finish(&h);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, NULL, 0, &needed), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(h.t), "looked_up"));
    hand_close(&h);
}

static void a_buffer_is_filled_as_by_snprintf(void **state) {
    hand h;
    size_t needed = 0, again = 0;
    (void)state;
    hand_open(&h);
    hand_draw(&h, 3, 30, 0, 1);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, NULL, 0, &needed), WG_OK);
    char *const text = malloc(needed + 1), *const half = malloc(needed / 2);
    assert_non_null(text);
    assert_non_null(half);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, text, needed + 1, &again), WG_OK);
    assert_int_equal(again, needed);
    assert_int_equal(strlen(text), needed);
    assert_non_null(strstr(text, "int wg_f(const double *const *arg, double *const *res) {"));
    assert_int_equal(wg_function_text(h.t, h.f, NULL, half, needed / 2, &again), WG_OK);
    assert_int_equal(again, needed);
    assert_int_equal(strlen(half), needed / 2 - 1);
    assert_memory_equal(half, text, needed / 2 - 1);
    free(text);
    free(half);
    hand_close(&h);
}

/* Guards of inputs, of what is done once, at each point, and on sums; most entries of the
 * inputs are read by nothing. */
static void open_guarded(hand *h) {
    enum { UNREAD = 200000 };
    hand_open(h);
    const uint32_t x = hand_input(h, "x", 2, 1, 0), u = hand_input(h, "u", 3, 1, WG_SHARED);
    (void)hand_input(h, "unread", UNREAD, 1, 0);
    const uint32_t half = wgi_graph_number(&h->g, 0.5), two = wgi_graph_number(&h->g, 2);
    uint32_t y = WGI_GRAPH2(&h->g, add, x, u);
    wgi_graph_guard_add(&h->g, wgi_graph_sum(&h->g, x + 1), two, 0, 1);
    wgi_graph_guard_add(&h->g, x, half, 0, 1);
    wgi_graph_guard_add(&h->g, WGI_GRAPH1(&h->g, exp, u + 2), two, 0, 1);
    wgi_graph_guard_add(&h->g, u, u + 2, 0, 1);
    wgi_graph_guard_add(&h->g, y, two, 0, 1);
    wgi_graph_guard_add(&h->g, u, half, 3, 0);
    hand_output(h, "y", 1, 1, 0, &y);
    hand_finish(h);
}

static void a_batch_fails_where_evaluation_fails(void **state) {
    emitted e;
    hand h;
    double x[2 * POINTS], u[3], y[POINTS], z[POINTS];
    batch_fn *batch;
    size_t failures = 0;
    (void)state;
    open_guarded(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "g", WG_EMIT_BATCH, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O1");
    assert_int_equal(h.f->guards, 6);
    void *const work = malloc(wg_function_work(h.f, NULL));
    assert_non_null(work);
    EMITTED(&e, "g", "_batch", batch);
    for (size_t k = 0; k < 600; k++) {
        const size_t points = k % POINTS;
        wg_function_guard guard = {77, 0};
        size_t where = 77;
        for (size_t i = 0; i < 2 * points; i++) x[i] = uniform(-1, below(9) != 0 ? 0.4 : 3);
        for (size_t i = 0; i < 3; i++) u[i] = uniform(-1, below(4) != 0 ? 0.4 : 3);
        if (below(3) != 0) u[2] = fmax(u[0], u[2]) + 0.1;
        const wg_points in[] = {{x, 2, 1}, {u, 0, 1}, {NULL, 0, 0}};
        const wg_results out[] = {{y, 1, 1}};
        const ptrdiff_t xs[] = {2, 1, 0, 1, 0, 0}, ys[] = {1, 1};
        const wg_status s = wg_function_evaluate(h.f, points, in, out, NULL, work, &guard);
        const int said = batch(points, (const double *const[]){x, u, NULL}, xs,
                               (double *const[]){z}, ys, &where);
        assert_int_equal(said, s == WG_OK ? 0 : guard.guard + 1);
        assert_int_equal(where, s == WG_OK ? 77 : guard.point);
        assert_memory_equal(y, z, points * sizeof *y);
        failures += s != WG_OK;
    }
    assert_in_range(failures, 100, 550);
    free(work);
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

static void names_of_c_are_not_used_again(void **state) {
    static const char *const taken[] = {"int",  "NULL",   "sin",    "sinf", "memset",
                                        "main", "M_PI",   "FP_X",   "j0",   "_Bool",
                                        "__x",  "MATH_E", "HUGE_V", "erfl", "strcpy"};
    static const char *const name[] = {"M_PI", "FP_NAN",   "HUGE_VALF", "MATH_ERRNO",
                                       "X",    "MAXFLOAT", "VECTOR",    "EIGHT",
                                       "MASK", "SNAN",     "T",         "y1"};
    enum { NAMES = sizeof name / sizeof *name };
    emitted e;
    hand h, two, idle;
    size_t needed;
    uint32_t x[NAMES], y;
    (void)state;
    hand_open(&h);
    for (size_t k = 0; k < NAMES; k++) x[k] = hand_input(&h, name[k], 1, 1, 0);
    for (size_t k = 0; k < NAMES; k++) {
        y = WGI_GRAPH2(&h.g, mul, x[k], x[(k + 1) % NAMES]);
        y = WGI_GRAPH2(&h.g, sub, WGI_GRAPH1(&h.g, sin, y), x[0]);
        hand_output(&h, name[NAMES - 1 - k], 1, 1, 0, &y);
    }
    hand_finish(&h);
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
        const wg_emit_options o = {taken[k], 0, 0, 0};
        assert_int_equal(wg_function_text(h.t, h.f, &o, NULL, 0, &needed), WG_EARG);
    }
    /* nothing passes from the first unit to the second one of three */
    hand_open(&two);
    x[0] = hand_input(&two, "x", 1, 1, 0);
    for (int k = 0; k < 3; k++) {
        y = WGI_GRAPH1(&two.g, sin, WGI_GRAPH1(&two.g, exp, x[0]));
        if (k == 1) y = WGI_GRAPH1(&two.g, cos, y);
        if (k == 2) y = WGI_GRAPH2(&two.g, add, WGI_GRAPH1(&two.g, tan, x[0]), y);
        hand_output(&two, "y", 1, 1, 0, &y);
    }
    hand_finish(&two);
    hand_open(&idle);
    (void)hand_input(&idle, "x", 2, 1, 0);
    y = wgi_graph_number(&idle.g, 3);
    hand_output(&idle, "y", 1, 1, 0, &y);
    hand_finish(&idle);
    FILE *const f = emitted_text(&e);
    emit(f, &two, "VECTOR", ALL, 2);
    emit(f, &idle, "T", ALL, 0);
    emit(f, &h, "X", ALL, 0);
    assert_int_equal(fclose(f), 0);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1 -D_GNU_SOURCE");
        check_point(&e, &h, "X", "_point");
        check_batch(&e, &h, "X", 11);
        check_point(&e, &two, "VECTOR", "_point");
        check_batch(&e, &two, "VECTOR", 11);
        check_point(&e, &idle, "T", "_point");
        emitted_close(&e);
    }
    emitted_remove(&e);
    hand_close(&h);
    hand_close(&two);
    hand_close(&idle);
}

static double number_as_text(double x, char *text, size_t room) {
    wgi_buffer_text b = {text, room, 0};
    wgi_text o;
    wgi_text_open(&o, wgi_text_to_buffer, &b);
    wgi_text_number(&o, x);
    assert_int_equal(wgi_text_close(&o), WG_OK);
    (void)fesetround(FE_TONEAREST);
    return strtod(text, NULL);
}

/* However the program rounds, compilers round to nearest. */
static void numbers_are_read_back_to_the_last_bit(void **state) {
    static const int how[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const char *const locale[][2] = {{"1.5", "1.5"},
                                            {"-1,25e-07", "-1.25e-07"},
                                            {"1\xd9\xab"
                                             "5e+20",
                                             "1.5e+20"},
                                            {"12", "12"}};
    char text[64];
    (void)state;
    for (size_t k = 0; k < 4; k++)
        for (int i = 0; i < 2000; i++) {
            const double x = (i % 2 ? -1 : 1) * (1000 + uniform(0, 24)) * pow(10, i % 40 - 20);
            (void)fesetround(how[k]);
            assert_true(same_bits(number_as_text(x, text, sizeof text), x));
        }
    (void)number_as_text(0.1, text, sizeof text);
    assert_string_equal(text, "0.1");
    for (size_t k = 0; k < 4; k++) {
        (void)snprintf(text, sizeof text, "%s", locale[k][0]);
        wgi_text_plain(text);
        assert_string_equal(text, locale[k][1]);
    }
}

static int refuse(void *ctx, const char *text, size_t bytes) {
    (void)ctx, (void)text, (void)bytes;
    return 1;
}

static void what_cannot_be_done_is_a_status(void **state) {
    hand h;
    size_t needed;
    wg_emit_options o = {"2f", 0, 0, 0};
    (void)state;
    hand_open(&h);
    hand_draw(&h, 5, 30, 0, 0);
    assert_int_equal(wg_function_text(h.t, h.f, &o, NULL, 0, &needed), WG_EARG);
    o.name = "f", o.entries = 64;
    assert_int_equal(wg_function_text(h.t, h.f, &o, NULL, 0, &needed), WG_EARG);
    assert_int_equal(wg_function_emit(h.t, h.f, NULL, refuse, NULL), WG_EWRITE);
    assert_int_equal(wg_function_emit(h.t, h.f, NULL, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_function_emit(NULL, h.f, NULL, refuse, NULL), WG_ENULL);
    assert_int_equal(wg_function_emit(h.t, NULL, NULL, refuse, NULL), WG_ENULL);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, NULL, 1, &needed), WG_ENULL);
    hand_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_and_partial_is_that_of_the_table),
        cmocka_unit_test(drawn_functions_are_what_the_walk_gives),
        cmocka_unit_test(sums_are_over_all_points_in_lanes),
        cmocka_unit_test(what_is_done_once_is_a_result_at_every_point),
        cmocka_unit_test(zero_times_infinity_is_zero_by_the_rule),
        cmocka_unit_test(a_batch_fails_where_evaluation_fails),
        cmocka_unit_test(any_name_becomes_an_identifier),
        cmocka_unit_test(thousands_of_names_spelled_alike_are_told_apart),
        cmocka_unit_test(names_of_c_are_not_used_again),
        cmocka_unit_test(numbers_are_read_back_to_the_last_bit),
        cmocka_unit_test(operations_of_the_user_are_their_texts),
        cmocka_unit_test(a_buffer_is_filled_as_by_snprintf),
        cmocka_unit_test(what_cannot_be_done_is_a_status)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
