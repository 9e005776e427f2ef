/* SPDX-License-Identifier: MIT */
/* matrix_case.c - see matrix_case.h.
 *
 * Every way of running a case is a `mode`: how the inputs are made, and which of them are
 * variables. Every mode ends with the same comparisons. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "matrix_case.h"
#include "matrix_claims.h"
#include "tolerance.h"
#include "walk.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

enum { CASES = 512, LANES = 3, MARGIN = 2 };

static struct matrix_case *cases[CASES];
static size_t count;
static int checked[CASES + 1]; /* the last for those of one's own */

/* ---- reading ---- */

static double *room(size_t n) {
    double *a = calloc(n + 1, sizeof *a);
    assert_non_null(a);
    return a;
}

static struct matrix_array convert(const struct oracle_array *a) {
    struct matrix_array m = {a->key, 1, 1, a->dims, {1, 1, 1, 1}, room(a->count)};
    memcpy(m.dim, a->dim, a->dims * sizeof *m.dim);
    /* As d0 d1 d2 d3 with the batch first. */
    size_t d[4] = {1, 1, 1, 1};
    if (a->dims == 1) d[1] = a->dim[0];
    if (a->dims == 2) d[1] = a->dim[0], d[2] = a->dim[1];
    if (a->dims > 2) memcpy(d, a->dim, a->dims * sizeof *d);
    m.rows = d[1], m.cols = d[2] * d[3] * d[0];
    for (size_t b = 0, from = 0; b < d[0]; b++)
        for (size_t i = 0; i < d[1]; i++)
            for (size_t k = 0; k < d[2]; k++)
                for (size_t l = 0; l < d[3]; l++, from++)
                    m.v[i + d[1] * (k + d[2] * (l + d[3] * b))] = a->v[from];
    return m;
}

static struct matrix_array find(const struct oracle_case *c, const char *role,
                                const char *key) {
    const struct matrix_array none = {NULL, 0, 0, 0, {0, 0, 0, 0}, NULL};
    const struct oracle_array *a = oracle_case_array(c, role, key);
    return a == NULL ? none : convert(a);
}

static struct matrix_case *next_case(FILE *in) {
    struct matrix_case *c = calloc(1, sizeof *c);
    assert_non_null(c);
    const int got = oracle_case_read(in, &c->text);
    assert_true(got >= 0);
    if (got == 0) {
        free(c);
        return NULL;
    }
    c->name = c->text.name, c->variant = c->text.variant;
    c->ulps = TOL_MATRIX_ULP;
    for (size_t i = 0; i < c->text.arrays; i++) {
        const struct oracle_array *a = &c->text.array[i];
        if (strcmp(a->role, "in") == 0) {
            assert_true(c->ins < MATRIX_CASE_ARRAYS);
            c->grad[c->ins] = find(&c->text, "grad", a->key);
            c->in[c->ins++] = convert(a);
        } else if (strcmp(a->role, "out") == 0) {
            assert_true(c->outs < MATRIX_CASE_ARRAYS);
            c->adj[c->outs] = find(&c->text, "adj", a->key);
            assert_non_null(c->adj[c->outs].v);
            c->out[c->outs++] = convert(a);
        }
    }
    return c;
}

void matrix_case_free(struct matrix_case *c) {
    struct matrix_array *const all[] = {c->in, c->grad, c->out, c->adj};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t j = 0; j < MATRIX_CASE_ARRAYS; j++) free(all[k][j].v);
    oracle_case_free(&c->text);
    free(c);
}

static void free_cases(void) {
    for (size_t i = 0; i < count; i++) matrix_case_free(cases[i]);
    count = 0;
}

static void read_cases(void) {
    if (count != 0) return;
    FILE *in = fopen(TEST_DATA "matrix_ops.txt", "r");
    assert_non_null(in);
    struct matrix_case *c;
    while ((c = next_case(in)) != NULL) {
        assert_true(count < CASES);
        c->number = count;
        cases[count++] = c;
    }
    fclose(in);
    assert_true(count > 0);
    atexit(free_cases);
}

void matrix_case_each(const char *name, void (*check)(struct matrix_case *c)) {
    size_t n = 0;
    read_cases();
    for (size_t i = 0; i < count; i++)
        if (strcmp(cases[i]->name, name) == 0) check(cases[i]), n++;
    if (n == 0) fail_msg("no case of %s", name);
}

const char *matrix_case_word(const struct matrix_case *c, const char *key) {
    const char *text = oracle_case_param(&c->text, key);
    if (text == NULL) fail_msg("%s %s: no parameter %s", c->name, c->variant, key);
    return text;
}

double matrix_case_number(const struct matrix_case *c, const char *key) {
    char *end;
    const char *text = matrix_case_word(c, key);
    const double x = strtod(text, &end);
    if (end == text) fail_msg("%s %s: %s is not a number", c->name, c->variant, key);
    return x;
}

size_t matrix_case_size(const struct matrix_case *c, const char *key) {
    const double x = matrix_case_number(c, key);
    assert_true(x >= 0);
    return (size_t)x;
}

size_t matrix_case_list(const struct matrix_case *c, const char *key,
                        double list[MATRIX_CASE_LIST]) {
    char name[64];
    snprintf(name, sizeof name, "%s[]", key);
    char *at = (char *)(uintptr_t)matrix_case_word(c, name);
    const size_t n = strtoul(at, &at, 10);
    assert_true(n <= MATRIX_CASE_LIST);
    for (size_t i = 0; i < n; i++) list[i] = strtod(at, &at);
    return n;
}

size_t matrix_case_sizes(const struct matrix_case *c, const char *key,
                         size_t list[MATRIX_CASE_LIST]) {
    double number[MATRIX_CASE_LIST];
    const size_t n = matrix_case_list(c, key, number);
    for (size_t i = 0; i < n; i++) list[i] = (size_t)number[i];
    return n;
}

wg_mat matrix_case_scalar(wg_tape *t, wg_real x) { return wg_mat_gather(t, 1, 1, &x); }

/* ---- running ---- */

/* How the inputs stand. */
enum layout { PLAIN, BLOCK, TRANSPOSED_BLOCK, LAYOUTS };
static const char *const layout_names[LAYOUTS] = {"", ", inputs in larger matrices",
                                                  ", inputs in larger transposed matrices"};

/* One run of a case on a tape. */
struct run {
    struct matrix_case *c;
    matrix_case_record *record;
    void *data;
    wg_tape *t;
    const char *mode;
    char what[160];
    enum layout layout;
    wg_mat whole[MATRIX_CASE_ARRAYS], in[MATRIX_CASE_ARRAYS], out[MATRIX_CASE_ARRAYS];
    wg_mark start, end;
};

/* What a message begins with. */
static const char *where(struct run *r) {
    snprintf(r->what, sizeof r->what, "case %zu, %s %s, %s%s", r->c->number, r->c->name,
             r->c->variant, r->mode, layout_names[r->layout]);
    return r->what;
}

static void must(struct run *r, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s (%s)", where(r), wg_status_text(s), wg_tape_message(r->t));
}

static double largest(const struct matrix_array *a, size_t n) {
    double m = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < a[i].rows * a[i].cols; j++)
            if (fabs(a[i].v[j]) <= DBL_MAX) m = fmax(m, fabs(a[i].v[j]));
    return m;
}

/* got, ld = ref->rows, against factor ref. An array of zeros is measured by its neighbours. */
static void compare(struct run *r, const char *what, const double *got,
                    const struct matrix_array *ref, double factor,
                    const struct matrix_array *all, size_t n) {
    double scale = largest(ref, 1);
    if (scale == 0) scale = largest(all, n);
    const double bound = r->c->ulps * DBL_EPSILON * scale * fabs(factor);
    for (size_t i = 0; i < ref->rows * ref->cols; i++) {
        const double x = got[i], y = factor * ref->v[i];
        if (x == y || (x != x && y != y) || fabs(x - y) <= bound) continue;
        fail_msg("%s: %s of %s (%zu, %zu) is %.17g, not %.17g: %.1f units of the largest entry",
                 where(r), what, ref->key, i % ref->rows, i / ref->rows, x, y,
                 fabs(x - y) / (scale * fabs(factor) * DBL_EPSILON));
    }
}

/* The matrix a among numbers that no operation may look at, or its transpose. */
static wg_mat make_input(struct run *r, size_t i, int variable) {
    const struct matrix_array *a = &r->c->in[i];
    wg_mat (*make)(wg_tape *, size_t, size_t, const double *, size_t) =
        variable ? wg_mat_input : wg_mat_constant;
    const size_t ld = a->rows != 0 ? a->rows : 1;
    if (r->layout == PLAIN) return r->whole[i] = make(r->t, a->rows, a->cols, a->v, ld);
    const int turned = r->layout == TRANSPOSED_BLOCK;
    const size_t rows = turned ? a->cols : a->rows, cols = turned ? a->rows : a->cols;
    const size_t high = rows + 2 * MARGIN, wide = cols + 2 * MARGIN;
    double *v = room(high * wide);
    for (size_t k = 0; k < high * wide; k++) v[k] = 1e30;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t k = 0; k < a->rows; k++)
            v[turned ? MARGIN + j + (MARGIN + k) * high : MARGIN + k + (MARGIN + j) * high] =
                a->v[k + j * a->rows];
    r->whole[i] = make(r->t, high, wide, v, high);
    free(v);
    const wg_mat b = wg_mat_block(r->whole[i], MARGIN, MARGIN, rows, cols);
    return turned ? wg_mat_transpose(b) : b;
}

/* Makes the inputs, those with a bit in `variables` as variables, and records; checks shapes
 * and values. */
static void record(struct run *r, unsigned variables) {
    struct matrix_case *c = r->c;
    wg_tape_reset(r->t);
    r->start = wg_tape_mark(r->t);
    for (size_t i = 0; i < c->ins; i++)
        r->in[i] = make_input(r, i, c->grad[i].key != NULL && (variables >> i & 1));
}
static void compare_values(struct run *r) {
    struct matrix_case *c = r->c;
    for (size_t k = 0; k < c->outs; k++) {
        const struct matrix_array *ref = &c->out[k];
        if (r->out[k].rows != ref->rows || r->out[k].cols != ref->cols)
            fail_msg("%s: result %zu is %zu x %zu, not %zu x %zu", where(r), k, r->out[k].rows,
                     r->out[k].cols, ref->rows, ref->cols);
        double *v = room(ref->rows * ref->cols);
        must(r, wg_mat_value(r->t, r->out[k], v, ref->rows != 0 ? ref->rows : 1));
        compare(r, "value", v, ref, 1, c->out, c->outs);
        free(v);
    }
}

static void finish(struct run *r) {
    r->record(r->t, r->c, r->in, r->out, r->data);
    must(r, wg_tape_status(r->t));
    r->end = wg_tape_mark(r->t);
    compare_values(r);
}

/* The adjoint (or a lane of it) of an input against factor ref; around a block it is 0. */
static void compare_adjoint(struct run *r, size_t i, size_t lane,
                            const struct matrix_array *ref, double factor) {
    const wg_mat m = r->in[i], all = r->whole[i];
    double *g = room(m.rows * m.cols);
    must(r, wg_mat_adjoint_lane(r->t, m, lane, g, m.rows != 0 ? m.rows : 1));
    compare(r, "adjoint", g, ref, factor, r->c->grad, r->c->ins);
    free(g);
    if (r->layout == PLAIN) return;
    g = room(all.rows * all.cols);
    must(r, wg_mat_adjoint_lane(r->t, all, lane, g, all.rows));
    for (size_t k = 0; k < all.rows * all.cols; k++) {
        const size_t row = k % all.rows, col = k / all.rows;
        if (row >= MARGIN && row < all.rows - MARGIN && col >= MARGIN &&
            col < all.cols - MARGIN)
            continue;
        if (g[k] != 0)
            fail_msg("%s: an adjoint %g beside the block of %s", where(r), g[k], ref->key);
    }
    free(g);
}

/* An empty matrix has no variables. */
static int is_constant(wg_mat a) { return a.at.slot == 0 || a.rows == 0 || a.cols == 0; }

/* Sweeps with the seeds w[k] on the results that are variables; 0: none is. */
static int sweep(struct run *r, const struct matrix_array *w) {
    int seeds = 0;
    must(r, wg_adjoints_clear(r->t));
    for (size_t k = 0; k < r->c->outs; k++) {
        if (is_constant(r->out[k])) continue;
        must(r, wg_mat_adjoint_seed(r->t, r->out[k], w[k].v, w[k].rows != 0 ? w[k].rows : 1));
        seeds++;
    }
    if (seeds != 0) must(r, wg_sweep(r->t, r->end, r->start));
    return seeds != 0;
}

/* One sweep seeded with `adj`. Where no result is a variable, nothing depends on the inputs. */
static void check_adjoints(struct run *r, unsigned variables) {
    const int swept = sweep(r, r->c->adj);
    for (size_t i = 0; i < r->c->ins; i++) {
        const struct matrix_array *const g = &r->c->grad[i];
        if (g->key == NULL || !(variables >> i & 1)) continue;
        if (swept) compare_adjoint(r, i, 0, g, 1);
        else if (largest(g, 1) != 0)
            fail_msg("%s: the results are constants, and the gradient of %s is not 0", where(r),
                     g->key);
    }
}

static struct matrix_array random_like(const struct matrix_array *a, uint64_t *seed) {
    struct matrix_array b = *a;
    b.v = room(a->rows * a->cols);
    for (size_t i = 0; i < a->rows * a->cols; i++) b.v[i] = walk_number(seed);
    return b;
}

/* Lane 0 has `adj`, lane 1 a random seed, lane 2 nothing: as one sweep each. */
static void check_lanes(struct run *r) {
    struct matrix_case *c = r->c;
    struct matrix_array w[MATRIX_CASE_ARRAYS], alone[MATRIX_CASE_ARRAYS];
    uint64_t seed = 5 + c->number;
    size_t m = 0;
    for (size_t k = 0; k < c->outs; k++) {
        w[k] = random_like(&c->adj[k], &seed);
        m += w[k].rows * w[k].cols;
    }
    wg_real *y = calloc(m + 1, sizeof *y);
    assert_non_null(y);
    double *const lanes = room(LANES * m);
    int active = 0;
    for (size_t k = 0, at = 0; k < c->outs; k++)
        for (size_t e = 0; e < w[k].rows * w[k].cols; e++, at++) {
            y[at] = wg_mat_at(r->out[k], e % w[k].rows, e / w[k].rows);
            active |= y[at].at.slot != 0;
            lanes[LANES * at] = c->adj[k].v[e], lanes[LANES * at + 1] = w[k].v[e];
        }
    if (active) {
        (void)sweep(r, w);
        for (size_t i = 0; i < c->ins; i++) {
            alone[i] = c->in[i];
            alone[i].v = room(c->in[i].rows * c->in[i].cols);
            if (c->grad[i].key != NULL)
                must(r, wg_mat_adjoint(r->t, r->in[i], alone[i].v,
                                       alone[i].rows != 0 ? alone[i].rows : 1));
        }
        must(r, wg_reverse_lanes(r->t, LANES, m, y, lanes));
        for (size_t i = 0; i < c->ins; i++) {
            if (c->grad[i].key != NULL) {
                compare_adjoint(r, i, 0, &c->grad[i], 1);
                compare_adjoint(r, i, 1, &alone[i], 1);
                compare_adjoint(r, i, 2, &c->grad[i], 0);
            }
            free(alone[i].v);
        }
    }
    for (size_t k = 0; k < c->outs; k++) free(w[k].v);
    free(y);
    free(lanes);
}

/* sum a b, and the sum of sizes. */
static double inner(const struct matrix_array *a, const double *b, double *size) {
    double s = 0;
    for (size_t i = 0; i < a->rows * a->cols; i++)
        s += a->v[i] * b[i], *size += fabs(a->v[i] * b[i]);
    return s;
}

/* <adj, J v> = <grad, v> for two random v at once. */
static void check_forward(struct run *r, unsigned variables) {
    struct matrix_case *c = r->c;
    uint64_t seed = 77 + c->number;
    double grad_v[2] = {0, 0}, size[2] = {0, 0};
    record(r, variables);
    for (size_t i = 0; i < c->ins; i++)
        if (c->grad[i].key != NULL && (variables >> i & 1))
            for (size_t lane = 0; lane < 2; lane++) {
                struct matrix_array v = random_like(&c->in[i], &seed);
                /* The tangent of the whole, zero around the block. */
                const wg_mat all = r->whole[i];
                if (is_constant(all)) {
                    free(v.v);
                    continue;
                }
                double *const vt = room(all.rows * all.cols);
                const size_t edge = r->layout == PLAIN ? 0 : MARGIN;
                for (size_t e = 0; e < v.rows * v.cols; e++) {
                    const size_t row = e % v.rows, col = e / v.rows;
                    vt[r->layout == TRANSPOSED_BLOCK ? edge + col + (edge + row) * all.rows
                                                     : edge + row + (edge + col) * all.rows] =
                        v.v[e];
                }
                must(r, wg_mat_tangent_seed(r->t, all, lane, vt, all.rows != 0 ? all.rows : 1));
                free(vt);
                grad_v[lane] += inner(&c->grad[i], v.v, &size[lane]);
                free(v.v);
            }
    finish(r);
    for (size_t lane = 0; lane < 2; lane++) {
        double adj_jv = 0;
        for (size_t k = 0; k < c->outs; k++) {
            double *jv = room(c->out[k].rows * c->out[k].cols);
            must(r, wg_mat_tangent(r->t, r->out[k], lane, jv,
                                   c->out[k].rows != 0 ? c->out[k].rows : 1));
            adj_jv += inner(&c->adj[k], jv, &size[lane]);
            free(jv);
        }
        if (!(fabs(adj_jv - grad_v[lane]) <= c->ulps * DBL_EPSILON * size[lane]))
            fail_msg(
                "%s, lane %zu: <adj, J v> = %.17g, <grad, v> = %.17g: %.1f units of their terms",
                where(r), lane, adj_jv, grad_v[lane],
                fabs(adj_jv - grad_v[lane]) / (DBL_EPSILON * size[lane]));
    }
}

/* Paused, everything is a constant and has the same bits as recorded. */
static void check_paused(struct run *r, unsigned variables) {
    double *v[MATRIX_CASE_ARRAYS];
    record(r, variables);
    finish(r);
    for (size_t k = 0; k < r->c->outs; k++) {
        const struct matrix_array *a = &r->c->out[k];
        v[k] = room(a->rows * a->cols);
        must(r, wg_mat_value(r->t, r->out[k], v[k], a->rows != 0 ? a->rows : 1));
    }
    record(r, variables);
    must(r, wg_tape_pause(r->t));
    finish(r);
    for (size_t k = 0; k < r->c->outs; k++) {
        const struct matrix_array *a = &r->c->out[k];
        double *again = room(a->rows * a->cols);
        must(r, wg_mat_value(r->t, r->out[k], again, a->rows != 0 ? a->rows : 1));
        if (memcmp(again, v[k], a->rows * a->cols * sizeof *again) != 0)
            fail_msg("%s: other bits than recorded", where(r));
        free(again);
        free(v[k]);
    }
    must(r, wg_tape_resume(r->t));
}

/* The element of the case that stands at element e (column-major) of a whole input; around a
 * block: NULL. */
static const double *behind(const struct run *r, size_t i, size_t e) {
    const struct matrix_array *const a = &r->c->in[i];
    const size_t edge = r->layout == PLAIN ? 0 : MARGIN, rows = r->whole[i].rows;
    const size_t row = e % rows, col = e / rows;
    const int turned = r->layout == TRANSPOSED_BLOCK;
    const size_t k = turned ? col : row, j = turned ? row : col;
    return k < edge || j < edge || k >= edge + a->rows || j >= edge + a->cols
               ? NULL
               : &a->v[k - edge + (j - edge) * a->rows];
}

/* Recorded with inputs a quarter larger, replayed with those of the case. */
static void check_replay(struct run *r, unsigned variables) {
    struct matrix_case *const c = r->c;
    double *given[MATRIX_CASE_ARRAYS];
    size_t n = 0;
    for (size_t i = 0; i < c->ins; i++) {
        struct matrix_array *const in = &c->in[i];
        given[i] = in->v;
        if (c->grad[i].key == NULL) continue;
        in->v = room(in->rows * in->cols);
        for (size_t e = 0; e < in->rows * in->cols; e++) in->v[e] = 1.25 * given[i][e];
        n += (in->rows + 2 * MARGIN) * (in->cols + 2 * MARGIN);
    }
    record(r, variables);
    for (size_t i = 0; i < c->ins; i++)
        if (c->in[i].v != given[i]) {
            free(c->in[i].v);
            c->in[i].v = given[i];
        }
    r->record(r->t, c, r->in, r->out, r->data);
    must(r, wg_tape_status(r->t));
    r->end = wg_tape_mark(r->t);
    wg_real *const x = calloc(n + 1, sizeof *x);
    double *const a = room(n);
    assert_non_null(x);
    n = 0;
    for (size_t i = 0; i < c->ins; i++) {
        const wg_mat all = r->whole[i];
        for (size_t e = 0; !is_constant(all) && e < all.rows * all.cols; e++, n++) {
            const double *const v = behind(r, i, e);
            x[n] = wg_mat_at(all, e % all.rows, e / all.rows);
            a[n] = v != NULL ? *v : wg_value(x[n]);
        }
    }
    must(r, wg_tape_replay(r->t, n, x, a));
    free(x);
    free(a);
    compare_values(r);
    check_adjoints(r, variables);
}

void matrix_case_check(struct matrix_case *c, matrix_case_record *f, void *data) {
    const unsigned every = ~0u;
    struct run r = {.c = c, .record = f, .data = data, .t = wg_tape_new(NULL)};
    assert_non_null(r.t);
    for (r.layout = PLAIN; r.layout < LAYOUTS; r.layout++) {
        r.mode = "reverse";
        for (int again = 0; again < 2; again++) {
            record(&r, every);
            finish(&r);
            check_adjoints(&r, every);
        }
        r.mode = "lanes";
        check_lanes(&r);
        r.mode = "one variable";
        for (size_t i = 0; i < c->ins; i++) {
            if (c->grad[i].key == NULL) continue;
            record(&r, 1u << i);
            finish(&r);
            check_adjoints(&r, 1u << i);
        }
        r.mode = "constants";
        record(&r, 0);
        finish(&r);
        r.mode = "paused";
        check_paused(&r, every);
    }
    wg_tape_reset(r.t);
    r.mode = "forward";
    must(&r, wg_tape_forward(r.t, 2));
    for (r.layout = PLAIN; r.layout < LAYOUTS; r.layout++) {
        check_forward(&r, every);
        for (size_t i = 0; i < c->ins; i++)
            if (c->grad[i].key != NULL) check_forward(&r, 1u << i);
    }
    wg_tape_free(r.t);
    r.t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    assert_non_null(r.t);
    r.mode = "replay";
    for (r.layout = PLAIN; r.layout < LAYOUTS; r.layout++) check_replay(&r, every);
    wg_tape_free(r.t);
    checked[c->number] = 1;
}

/* ---- cases of one's own ---- */

static struct matrix_array array_of(const char *key, size_t rows, size_t cols) {
    return (struct matrix_array){key, rows, cols, 2, {rows, cols, 1, 1}, room(rows * cols)};
}

struct matrix_case *matrix_case_make(const char *name, size_t ins,
                                     const struct matrix_shape *in, size_t outs,
                                     matrix_case_record *reference, void *data) {
    static const char *const keys[MATRIX_CASE_ARRAYS] = {"0", "1", "2", "3",
                                                         "4", "5", "6", "7"};
    struct matrix_case *const c = calloc(1, sizeof *c);
    uint64_t seed = 19;
    assert_non_null(c);
    assert_true(ins <= MATRIX_CASE_ARRAYS && outs <= MATRIX_CASE_ARRAYS);
    c->name = name, c->variant = "-";
    c->ins = ins, c->outs = outs;
    c->ulps = TOL_MATRIX_ULP;
    c->number = CASES;
    struct run r = {.c = c, .t = wg_tape_new(NULL), .mode = "reference"};
    assert_non_null(r.t);
    r.start = wg_tape_mark(r.t);
    for (size_t i = 0; i < ins; i++) {
        const size_t n = in[i].rows;
        c->in[i] = array_of(keys[i], n, in[i].cols);
        for (size_t k = 0; k < n * in[i].cols; k++) c->in[i].v[k] = walk_number(&seed);
        for (size_t j = 0; in[i].symmetric && j < n; j++)
            for (size_t k = 0; k < j; k++) c->in[i].v[k + j * n] = c->in[i].v[j + k * n];
        r.in[i] = make_input(&r, i, 1);
    }
    reference(r.t, c, r.in, r.out, data);
    must(&r, wg_tape_status(r.t));
    r.end = wg_tape_mark(r.t);
    for (size_t k = 0; k < outs; k++) {
        const wg_mat y = r.out[k];
        c->out[k] = array_of(keys[k], y.rows, y.cols);
        c->adj[k] = random_like(&c->out[k], &seed);
        must(&r, wg_mat_value(r.t, y, c->out[k].v, y.rows != 0 ? y.rows : 1));
    }
    const int swept = sweep(&r, c->adj);
    for (size_t i = 0; i < ins; i++) {
        c->grad[i] = array_of(keys[i], in[i].rows, in[i].cols);
        if (swept)
            must(&r,
                 wg_mat_adjoint(r.t, r.in[i], c->grad[i].v, in[i].rows != 0 ? in[i].rows : 1));
    }
    wg_tape_free(r.t);
    return c;
}

void matrix_case_compare(const char *name, size_t ins, const struct matrix_shape *in,
                         size_t outs, matrix_case_record *f, matrix_case_record *reference,
                         void *data) {
    struct matrix_case *const c = matrix_case_make(name, ins, in, outs, reference, data);
    matrix_case_check(c, f, data);
    matrix_case_free(c);
}

/* ---- claims ---- */

struct claim {
    const char *program, *name, *variant;
};
#define CLAIM(p, n, v) {p, n, v},
static const struct claim claims[] = {MATRIX_CLAIMS(CLAIM)};
enum { CLAIMS = sizeof claims / sizeof *claims };

static int is_of(const struct claim *a, const struct matrix_case *c) {
    return strcmp(a->name, c->name) == 0 &&
           (*a->variant == 0 || strcmp(a->variant, c->variant) == 0);
}

void matrix_claims_met(const char *program) {
    size_t missing = 0, met = 0;
    read_cases();
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < CLAIMS; k++)
            if (strcmp(claims[k].program, program) == 0 && is_of(&claims[k], cases[i])) {
                if (checked[i]) met++;
                else {
                    print_message("%s does not check case %zu, %s %s\n", program, i,
                                  cases[i]->name, cases[i]->variant);
                    missing++;
                }
            }
    assert_true(met > 0);
    assert_int_equal(missing, 0);
}

void matrix_claims_complete(void) {
    size_t of[CLAIMS] = {0};
    read_cases();
    for (size_t i = 0; i < count; i++) {
        size_t n = 0;
        for (size_t k = 0; k < CLAIMS; k++)
            if (is_of(&claims[k], cases[i])) n++, of[k]++;
        if (n != 1)
            fail_msg("case %zu, %s %s, is claimed %zu times", i, cases[i]->name,
                     cases[i]->variant, n);
    }
    for (size_t k = 0; k < CLAIMS; k++)
        if (of[k] == 0) fail_msg("no case is %s %s", claims[k].name, claims[k].variant);
}
