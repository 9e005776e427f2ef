/* SPDX-License-Identifier: MIT */
/* test_function_refused.c - what a tape refuses at a point is no number of a function there:
 * every operation on matrices that is written out or done as a whole in functions, with
 * operands that are 0, of rank one, not positive definite, of equal columns, not finite; in
 * every way that a function is evaluated. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "emitted.h"

#include <math.h>
#include <wengert.h>

#include "tolerance.h"
#include "written_out.h"

/* ---- operations: those of the table, and large ones that stay whole ---- */

enum { LARGE = 20 };

#define WHOLE(name, ...)                                                                       \
    static void name(wg_tape *t, const wg_mat *in, struct written_out_results *r,              \
                     const void *data) {                                                       \
        (void)data;                                                                            \
        written_out_put(r, __VA_ARGS__);                                                       \
    }
static wg_mat number(wg_tape *t, wg_real x) { return wg_mat_gather(t, 1, 1, &x); }
WHOLE(solve, wg_solve(t, in[0], in[1]))
WHOLE(inverse, wg_inverse(t, in[0]))
WHOLE(logabsdet, number(t, wg_logabsdet(t, in[0], NULL)))
WHOLE(det, number(t, wg_det(t, in[0])))
WHOLE(cholesky, wg_cholesky(t, in[0]))
WHOLE(solve_spd, wg_solve_spd(t, in[0], in[1]))
WHOLE(logdet_spd, number(t, wg_logdet_spd(t, in[0])))
WHOLE(powm, wg_powm(t, in[0], -1))

static const struct written_out large[] = {
    {"solve_whole", solve, NULL, {{LARGE, LARGE, HEAVY}, {LARGE, 1, PLAIN}}, 0},
    {"inverse_whole", inverse, NULL, {{LARGE, LARGE, HEAVY}}, 0},
    {"logabsdet_whole", logabsdet, NULL, {{LARGE, LARGE, HEAVY}}, 0},
    {"det_whole", det, NULL, {{LARGE, LARGE, HEAVY}}, 0},
    {"cholesky_whole", cholesky, NULL, {{LARGE, LARGE, SPD}}, 0},
    {"solve_spd_whole", solve_spd, NULL, {{LARGE, LARGE, SPD}, {LARGE, 1, PLAIN}}, 0},
    {"logdet_spd_whole", logdet_spd, NULL, {{LARGE, LARGE, SPD}}, 0},
    {"powm_whole", powm, NULL, {{LARGE, LARGE, HEAVY}}, 0}};
enum { LARGES = sizeof large / sizeof *large };

static const struct written_out *operation(size_t k) {
    if (k < LARGES) return &large[k];
    return written_out_case(k - LARGES);
}

/* ---- points that are refused ---- */

enum bad { ZERO, ONES, MINUS, EQUAL, NOT_A_NUMBER, INFINITE, BADS };
static const char *const bad_names[] = {
    "0", "ones", "minus what it was", "equal columns", "a NaN", "an infinity"};

static void spoil(const struct written_out *c, size_t operand, enum bad how, double *x) {
    for (size_t k = 0; k < operand; k++) x += c->in[k].rows * c->in[k].cols;
    const size_t rows = c->in[operand].rows, n = rows * c->in[operand].cols;
    for (size_t e = 0; e < n; e++) switch (how) {
        case ZERO:
            x[e] = 0;
            break;
        case ONES:
            x[e] = 1;
            break;
        case MINUS:
            x[e] = -x[e];
            break;
        case EQUAL:
            x[e] = cos((double)(1 + e % rows));
            break;
        case NOT_A_NUMBER:
            if (e == 0) x[e] = NAN;
            break;
        default:
            if (e == 0) x[e] = INFINITY;
        }
}

/* Where all is well. */
static void start(const struct written_out *c, size_t k, double *at) {
    written_out_seed = 7 + k;
    written_out_fill(c, at);
}

static wg_status evaluate(const wg_function *f, const double *x, const double *beside,
                          double *y) {
    const ptrdiff_t n = (ptrdiff_t)wgi_argument_size(&f->input[0]);
    const wg_points in[2] = {{x, n, 1}, {beside, (ptrdiff_t)f->n - n, 1}};
    const wg_results out = {y, (ptrdiff_t)f->m, 1};
    void *const work = malloc(wg_function_work(f, NULL) + 1);
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, 1, in, &out, NULL, work, NULL);
    free(work);
    return s;
}

/* ---- one operation ---- */

/* What a tape refuses because it has no factor, and is a right number all the same: the
 * determinant of a singular matrix; A^0. */
static int is_right(const struct written_out *c) {
    return strcmp(c->name, "factor_det") == 0 || strcmp(c->name, "powm_nothing") == 0;
}

/* Results, at a point that the tape refuses: all of them NaN, and of the slopes of each some,
 * or the point is refused. */
static int is_no_number(const wg_function *f, const wg_function *jacobian, size_t n,
                        const double *x, int infinite) {
    const size_t m = f->m;
    double *const y = written_out_room(m), *const slopes = written_out_room(n * m);
    const wg_status s = evaluate(f, x, NULL, y),
                    of_slopes = evaluate(jacobian, x, NULL, slopes);
    size_t good = s == of_slopes && (s == WG_OK || s == WG_EGUARD);
    for (size_t j = 0; s == WG_OK && j < m; j++) {
        size_t holes = 0;
        if (wg_function_is_zero(f, 0, j)) continue;
        for (size_t i = 0; i < n; i++)
            if (isnan(slopes[i + j * n])) holes++;
        if (!isnan(y[j]) || (holes == 0 && !infinite)) good = 0;
    }
    free(y), free(slopes);
    return good != 0;
}

/* A point of an operation, and whether a tape refuses it. */
static int is_refused(const struct written_out *c, size_t m, const double *x) {
    const size_t n = written_out_entries(c);
    double *const y = written_out_room(m), *const jac = written_out_room(n * m);
    const wg_status s = wg_jacobian(written_out_tape, written_out_call, (void *)(uintptr_t)c, n,
                                    x, m, y, WG_ROW_MAJOR, jac, n);
    wg_tape_reset(written_out_tape);
    free(y), free(jac);
    return s != WG_OK;
}

/* Recorded where all is well, evaluated where it is not. */
static void what_a_tape_refuses_is_no_number_of_a_function(void **state) {
    (void)state;
    const struct written_out *c;
    size_t refused = 0;
    for (size_t k = 0; (c = operation(k)) != NULL; k++) {
        double x[WRITTEN_OUT_MOST], at[WRITTEN_OUT_MOST];
        start(c, k, at);
        const size_t n = written_out_entries(c), m = written_out_results_of(c, at);
        wg_function *const f = written_out_recorded(c, at, m), *jacobian = NULL;
        written_out_must(c->name, wg_function_jacobian(written_out_tape, f, &jacobian));
        for (size_t operand = 0; operand < INS && c->in[operand].rows != 0; operand++)
            for (size_t how = 0; how < BADS; how++) {
                memcpy(x, at, sizeof x);
                spoil(c, operand, (enum bad)how, x);
                if (is_right(c) || !is_refused(c, m, x)) continue;
                refused++;
                if (!is_no_number(f, jacobian, n, x, how == INFINITE))
                    fail_msg("%s, operand %zu %s: a number that the tape refuses", c->name,
                             operand, bad_names[how]);
            }
        wg_function_free(jacobian);
        wg_function_free(f);
    }
    assert_true(refused > 120);
}

/* A last pivot of 0, which nothing is divided by but what belongs to it: a derivative of some
 * other number in its place would be 0. */
static void what_has_no_last_pivot_has_no_derivative(void **state) {
    (void)state;
    static const struct written_out small[] = {
        {"inverse_1", inverse, NULL, {{1, 1, HEAVY}}, 0},
        {"solve_1", solve, NULL, {{1, 1, HEAVY}, {1, 1, PLAIN}}, 0},
        {"powm_1", powm, NULL, {{1, 1, HEAVY}}, 0},
        {"logabsdet_1", logabsdet, NULL, {{1, 1, HEAVY}}, 0},
        {"logabsdet_2", logabsdet, NULL, {{2, 2, HEAVY}}, 0},
        {"logabsdet_3", logabsdet, NULL, {{3, 3, HEAVY}}, 0}};
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        const struct written_out *const c = &small[k];
        const size_t order = c->in[0].rows;
        double x[WRITTEN_OUT_MOST];
        start(c, k, x);
        const size_t n = written_out_entries(c), m = written_out_results_of(c, x);
        wg_function *const f = written_out_recorded(c, x, m), *jacobian = NULL;
        written_out_must(c->name, wg_function_jacobian(written_out_tape, f, &jacobian));
        for (size_t e = 0; e < order * order; e++) x[e] = e % (order + 1) == 0;
        x[order * order - 1] = 0;
        if (!is_refused(c, m, x) || !is_no_number(f, jacobian, n, x, 0))
            fail_msg("%s: a number that the tape refuses", c->name);
        wg_function_free(jacobian);
        wg_function_free(f);
    }
}

/* ---- in every way, all operations at once ---- */

enum { MOST_CASES = 128, MOST_POINTS = 512 };

/* Operations side by side, and the points at which one of them is refused. */
struct joint {
    const struct written_out *c[MOST_CASES];
    size_t cases, n, m, points;
    size_t first[MOST_CASES + 1], result[MOST_CASES + 1];
    double *at, *x;
    size_t of[MOST_POINTS]; /* the operation of a point */
};

static wg_status side_by_side(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    const struct joint *const j = data;
    (void)n, (void)m;
    for (size_t k = 0; k < j->cases; k++) {
        const wg_status s = written_out_call(t, j->first[k + 1] - j->first[k], x + j->first[k],
                                             j->result[k + 1] - j->result[k], y + j->result[k],
                                             (void *)(uintptr_t)j->c[k]);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}

/* Those that have comparisons, or those that have none; of a size. */
static void collect(struct joint *j, int guarded, int whole) {
    const struct written_out *c;
    memset(j, 0, sizeof *j);
    for (size_t k = 0; (c = operation(k)) != NULL; k++) {
        double x[WRITTEN_OUT_MOST], at[WRITTEN_OUT_MOST];
        size_t bad = 0;
        if ((k < LARGES) != whole || is_right(c)) continue;
        start(c, k, at);
        const size_t n = written_out_entries(c), m = written_out_results_of(c, at);
        wg_function *const f = written_out_recorded(c, at, m);
        const int has_guards = f->guards != 0;
        wg_function_free(f);
        if (has_guards != guarded) continue;
        for (size_t operand = 0; operand < INS && c->in[operand].rows != 0; operand++)
            for (size_t how = 0; how < BADS; how++) {
                memcpy(x, at, sizeof x);
                spoil(c, operand, (enum bad)how, x);
                if (is_refused(c, m, x)) bad++;
            }
        if (bad == 0) continue;
        assert_true(j->cases < MOST_CASES);
        j->c[j->cases++] = c;
        j->first[j->cases] = j->n += n;
        j->result[j->cases] = j->m += m;
    }
    j->at = written_out_room(j->n), j->x = written_out_room(j->n * MOST_POINTS);
    for (size_t k = 0; k < j->cases; k++) start(j->c[k], k, j->at + j->first[k]);
    for (size_t k = 0; k < j->cases; k++)
        for (size_t operand = 0; operand < INS && j->c[k]->in[operand].rows != 0; operand++)
            for (size_t how = 0; how < INFINITE; how++) {
                double *const x = j->x + j->points * j->n;
                memcpy(x, j->at, j->n * sizeof *x);
                spoil(j->c[k], operand, (enum bad)how, x + j->first[k]);
                if (!is_refused(j->c[k], j->result[k + 1] - j->result[k], x + j->first[k]))
                    continue;
                assert_true(j->points + 1 < MOST_POINTS);
                j->of[j->points++] = k;
            }
}

/* At a point: what the refused operation gives is NaN, or the point is refused; all others give
 * what they give where all is well. */
static void check_point(const struct joint *j, const wg_function *f, size_t p, wg_status s,
                        const double *y, const double *well) {
    const size_t k = j->of[p];
    if (s == WG_EGUARD) return;
    assert_int_equal(s, WG_OK);
    for (size_t r = 0; r < j->m; r++) {
        const int its = r >= j->result[k] && r < j->result[k + 1];
        if (its ? !wg_function_is_zero(f, 0, r) && !isnan(y[r]) : !same_bits(y[r], well[r]))
            fail_msg("%s, result %zu at point %zu: %.17g", j->c[k]->name, r, p, y[r]);
    }
}

/* The same statuses and bits at all points. */
static void check_same(const struct joint *j, const wg_function *f, const wg_function *g,
                       const double *w) {
    double *const y = written_out_room(f->m), *const z = written_out_room(f->m);
    for (size_t p = 0; p < j->points; p++) {
        const double *const x = j->x + p * j->n;
        const wg_status s = evaluate(f, x, w, y);
        assert_int_equal(evaluate(g, x, w, z), s);
        for (size_t r = 0; s == WG_OK && r < f->m; r++) assert_true(same_bits(y[r], z[r]));
    }
    free(y), free(z);
}

static void check_loaded(const struct joint *j, const wg_function *f, const double *w) {
    size_t bytes = 0;
    wg_function *g = NULL;
    assert_int_equal(wg_function_save(f, NULL, 0, &bytes), WG_OK);
    void *const file = malloc(bytes);
    assert_non_null(file);
    assert_int_equal(wg_function_save(f, file, bytes, NULL), WG_OK);
    assert_int_equal(wg_function_load(written_out_tape, file, bytes, NULL, 0, &g), WG_OK);
    check_same(j, f, g, w);
    wg_function_free(g);
    free(file);
}

static void check_compiled(const struct joint *j, const wg_function *f, const double *w,
                           int whole) {
    static const char *const quick[] = {"-O0", NULL};
    const wg_compile_options o = {EMITTED_COMPILER, quick, COMPILED_BEFORE};
    wg_compiled how;
    wg_function *g = NULL;
    assert_int_equal(wg_function_compile(written_out_tape, f, &o, &g, &how), WG_OK);
    if (how.native == whole) fail_msg("%s", how.why);
    check_same(j, f, g, w);
    wg_function_free(g);
}

/* As C: refused, or NaN, where it is so in the function. */
static void check_emitted(const struct joint *j, const wg_function *f, const double *w) {
    typedef int point_fn(const double *const *arg, double *const *res);
    const wg_emit_options o = {"refused", WG_EMIT_POINT, 0, 0};
    double *const y = written_out_room(f->m), *const z = written_out_room(f->m);
    emitted e;
    point_fn *call;
    FILE *const text = emitted_text(&e);
    assert_int_equal(wg_function_emit(written_out_tape, f, &o, wg_write_file, text), WG_OK);
    assert_int_equal(fclose(text), 0);
    emitted_open(&e, EMITTED_COMPILER, "-O0");
    EMITTED(&e, "refused", "", call);
    for (size_t p = 0; p < j->points; p++) {
        const double *const arg[2] = {j->x + p * j->n, w};
        double *const res[1] = {z};
        const wg_status s = evaluate(f, arg[0], w, y);
        assert_int_equal(call(arg, res) != 0, s == WG_EGUARD);
        for (size_t r = 0; s == WG_OK && r < f->m; r++)
            assert_int_equal(isnan(y[r]), isnan(z[r]));
    }
    emitted_close(&e);
    emitted_remove(&e);
    free(y), free(z);
}

/* A map of one point each: refused, or with the bits of the function, and NaN in its
 * gradient. */
static void check_mapped(const struct joint *j, const wg_function *f) {
    double *const y = written_out_room(j->m), *const g = written_out_room(j->n);
    wg_callable *k = NULL;
    assert_int_equal(wg_callable_new(written_out_tape, f, &k), WG_OK);
    for (size_t p = 0; p < j->points; p++) {
        const double *const x = j->x + p * j->n;
        const wg_status s = evaluate(f, x, NULL, y);
        const wg_mat in = wg_mat_input(written_out_tape, j->n, 1, x, j->n);
        const wg_source from = wg_from_matrix(in);
        wg_mat out;
        assert_int_equal(wg_map(written_out_tape, k, 1, &from, NULL, &out), s);
        if (s == WG_OK) {
            size_t holes = 0;
            for (size_t r = 0; r < j->m; r++) assert_true(same_bits(y[r], out.value[r]));
            assert_int_equal(wg_reverse(written_out_tape, wg_mat_sum(written_out_tape, out)),
                             WG_OK);
            assert_int_equal(wg_mat_adjoint(written_out_tape, in, g, j->n), WG_OK);
            const size_t last = j->first[j->of[p] + 1];
            for (size_t i = j->first[j->of[p]]; i < last; i++)
                if (isnan(g[i])) holes++;
            assert_true(holes > 0);
        }
        wg_tape_reset(written_out_tape);
    }
    wg_callable_free(k);
    free(y), free(g);
}

static void check_every_way(int guarded, int whole, size_t at_least) {
    struct joint j;
    collect(&j, guarded, whole);
    assert_true(j.points >= at_least);
    const wg_argument in = {"x", j.n, 1, 0}, out = {"y", j.m, 1, 0};
    wg_function *f = NULL, *vjp = NULL;
    written_out_must("all", wg_function_record(written_out_tape, side_by_side, &j, 1, &in, j.at,
                                               1, &out, &f));
    written_out_must("all", wg_function_vjp(written_out_tape, f, &vjp));
    double *const y = written_out_room(j.m), *const well = written_out_room(j.m);
    double *const w = written_out_room(j.m);
    for (size_t r = 0; r < j.m; r++) w[r] = 1 + 0.25 * (double)(r % 5);
    assert_int_equal(evaluate(f, j.at, NULL, well), WG_OK);
    for (size_t p = 0; p < j.points; p++)
        check_point(&j, f, p, evaluate(f, j.x + p * j.n, NULL, y), y, well);
    check_loaded(&j, f, NULL);
    check_loaded(&j, vjp, w);
    check_compiled(&j, f, NULL, whole);
    check_compiled(&j, vjp, w, whole);
    check_emitted(&j, f, NULL);
    check_emitted(&j, vjp, w);
    check_mapped(&j, f);
    wg_function_free(vjp);
    wg_function_free(f);
    free(y), free(well), free(w), free(j.at), free(j.x);
}

static void nor_is_it_in_any_other_way(void **state) {
    (void)state;
    check_every_way(0, 0, 60);
    check_every_way(1, 0, 15);
    check_every_way(0, 1, 15);
}

static wg_status first_power(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)n, (void)m, (void)data;
    const wg_mat p = wg_powm(t, wg_mat_gather(t, 2, 2, x), 1);
    for (size_t i = 0; i < 4; i++) y[i] = wg_mat_at(p, i % 2, i / 2);
    return WG_OK;
}

/* Their sum is beyond the range of numbers, they are not. */
static void large_operands_are_not_refused(void **state) {
    (void)state;
    const double at[] = {1, 2, 3, 4}, x[] = {1e308, 1, 2, 1e308};
    const wg_argument in = {"x", 4, 1, 0}, out = {"y", 4, 1, 0};
    double y[4];
    wg_function *f;
    assert_int_equal(
        wg_function_record(written_out_tape, first_power, NULL, 1, &in, at, 1, &out, &f),
        WG_OK);
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 63) / 64 * 64);
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, &(wg_points){x, 0, 1}, &(wg_results){y, 0, 1},
                                          NULL, work, NULL),
                     WG_OK);
    assert_memory_equal(y, x, sizeof y);
    free(work);
    wg_function_free(f);
    wg_tape_reset(written_out_tape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_tape_refuses_is_no_number_of_a_function),
        cmocka_unit_test(what_has_no_last_pivot_has_no_derivative),
        cmocka_unit_test(nor_is_it_in_any_other_way),
        cmocka_unit_test(large_operands_are_not_refused),
    };
    return cmocka_run_group_tests(tests, written_out_open, written_out_close);
}
