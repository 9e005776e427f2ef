/* SPDX-License-Identifier: MIT */
/* test_function_far_ranks.c - functions with factorisations whose signs and ranks differ from
 * point to point. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "far_case.h"

typedef struct spec {
    char what;
    size_t rows, cols;
    double rcond;
} spec;

static wg_status record(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const spec *const s = data;
    const wg_mat a = wg_mat_gather(t, s->rows, s->cols, x);
    const wg_real *const rest = x + s->rows * s->cols;
    wg_mat r[2] = {wg_mat_failed(0, 0), wg_mat_failed(0, 0)};
    (void)n;
    switch (s->what) {
    case 'q':
        if (wg_qr(t, a, &r[0], &r[1]) != WG_OK) return wg_tape_status(t);
        break;
    case 'l':
        r[0] = wg_lstsq(t, a, wg_mat_gather(t, s->rows, 1, rest));
        break;
    case 'p':
        r[0] = wg_pinv(t, a, s->rcond);
        break;
    case 'c':
        r[0] = wg_covariance(t, WG_MATERN_52, a, wg_mat_gather(t, s->cols, 1, rest), rest[2],
                             rest[3]);
        break;
    default:
        r[0] = wg_solve_spd(t, a, wg_mat_gather(t, s->rows, 1, rest));
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t j = 0; j < r[k].cols; j++)
            for (size_t i = 0; i < r[k].rows; i++, m--) {
                if (m == 0) return WG_ESHAPE;
                *y++ = wg_mat_at(r[k], i, j);
            }
    return m == 0 ? WG_OK : WG_ESHAPE;
}

static far_case *case_of(const char *name, const spec *s, size_t beside, size_t m) {
    static far_case c;
    memset(&c, 0, sizeof c);
    c.name = name, c.f = record, c.data = s;
    c.n = s->rows * s->cols + beside, c.m = m;
    for (size_t e = 0; e < c.n; e++) c.at[e] = uniform(0.5, 1.5) * (e % 3 == 1 ? -1 : 1);
    return &c;
}

/* Equal columns, a column of 0, and one that is another to rounding; of three, one that depends
 * on two others, nearly parallel ones, so that a triangle which is not pivoted has rounding
 * there, a million times over. */
static void deficient(size_t rows, size_t cols, size_t how, double *x) {
    const double parallel[9] = {1048579, 1048568, 1048583, 1048578, 1048567,
                                1048585, 0x1p20,  0x1p20,  -0x1p21};
    if (how == 3 && rows == 3 && cols == 3) memcpy(x, parallel, sizeof parallel);
    for (size_t e = 0; e < rows * cols; e++) {
        const size_t first = rows >= cols ? e % rows : e / rows * rows;
        const int last = rows >= cols ? e / rows == cols - 1 : e % rows == rows - 1;
        if (last && how < 3)
            x[e] = how == 0 ? x[first] : how == 1 ? 0 : x[first] * (1 + DBL_EPSILON);
    }
}

/* Of a file, compiled, as C and in a map: no number there, either. */
static void refused_in_all_ways(const far_case *c, const wg_function *f, size_t points,
                                const double *x) {
    typedef int point_fn(const double *const *arg, double *const *res);
    static const char *const quick[] = {"-O1", NULL};
    const wg_compile_options options = {EMITTED_COMPILER, quick, COMPILED_BEFORE};
    const wg_emit_options as_c = {"far", WG_EMIT_POINT, 0, 0};
    double y[FAR_ENTRIES], *const res[1] = {y};
    size_t bytes = 0;
    wg_function *loaded = NULL, *compiled = NULL;
    wg_compiled how;
    wg_callable *k = NULL;
    wg_mat out;
    emitted e;
    point_fn *call;
    assert_true(f->m <= FAR_ENTRIES);
    far_must(c, wg_function_save(f, NULL, 0, &bytes));
    void *const file = malloc(bytes);
    assert_non_null(file);
    far_must(c, wg_function_save(f, file, bytes, NULL));
    far_must(c, wg_function_load(far_tape, file, bytes, NULL, 0, &loaded));
    far_must(c, wg_function_compile(far_tape, f, &options, &compiled, &how));
    FILE *const text = emitted_text(&e);
    far_must(c, wg_function_emit(far_tape, f, &as_c, wg_write_file, text));
    assert_int_equal(fclose(text), 0);
    emitted_open(&e, EMITTED_COMPILER, "-O1");
    EMITTED(&e, "far", "", call);
    far_must(c, wg_callable_new(far_tape, f, &k));
    for (size_t p = 0; p < points; p++) {
        const double *const at = x + p * c->n, *const arg[1] = {at};
        assert_int_equal(far_evaluate(loaded, 1, at, NULL, y), WG_EGUARD);
        assert_int_equal(far_evaluate(compiled, 1, at, NULL, y), WG_EGUARD);
        assert_int_not_equal(call(arg, res), 0);
        const wg_source from = wg_from_matrix(wg_mat_input(far_tape, c->n, 1, at, c->n));
        assert_int_equal(wg_map(far_tape, k, 1, &from, NULL, &out), WG_EGUARD);
        wg_tape_reset(far_tape);
    }
    emitted_close(&e);
    emitted_remove(&e);
    wg_callable_free(k);
    wg_function_free(compiled);
    wg_function_free(loaded);
    free(file);
}

/* Q and R of a matrix of lower rank have no derivatives, and a recording there is refused. */
static void qr_says_where_the_rank_is_lower(void **state) {
    static const size_t shape[][2] = {{4, 2}, {3, 3}};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const spec s = {'q', shape[k][0], shape[k][1], 0};
        far_case *const c = case_of("qr", &s, 0, s.rows * s.cols + s.cols * s.cols);
        wg_function *f = NULL, *jacobian = NULL, *none = NULL;
        double y[18], jac[162], truth[162], x[9];
        far_must(c, far_record(c, c->at, &f));
        far_must(c, wg_function_jacobian(far_tape, f, &jacobian));
        for (size_t q = 0; q < (s.cols == 3 ? 4 : 3); q++) {
            for (size_t e = 0; e < c->n; e++) x[e] = uniform(-1, 1);
            deficient(s.rows, s.cols, q, x);
            assert_int_equal(far_truth(c, x, y, truth), WG_EDEGENERATE);
            assert_int_equal(far_evaluate(f, 1, x, NULL, y), WG_EGUARD);
            assert_int_equal(far_evaluate(jacobian, 1, x, NULL, jac), WG_EGUARD);
            assert_int_equal(far_record(c, x, &none), WG_EDEGENERATE);
            assert_non_null(strstr(wg_tape_message(far_tape), "wg_qr"));
            wg_tape_reset(far_tape);
        }
        wg_function_free(jacobian);
        wg_function_free(f);
    }
}

/* All signs; columns that are 0 below the diagonal; a first element of 0. */
static void signs_of_qr_are_those_of_the_point(void **state) {
    static const size_t shape[][2] = {{3, 3}, {4, 2}, {2, 4}};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const spec s = {'q', shape[k][0], shape[k][1], 0};
        const size_t p = s.rows < s.cols ? s.rows : s.cols;
        far_case *const c = case_of("qr", &s, 0, s.rows * p + p * s.cols);
        c->points = 12;
        for (size_t q = 0; q < c->points; q++) {
            double *const x = c->x + q * c->n;
            for (size_t e = 0; e < c->n; e++) x[e] = uniform(-1, 1);
            if (q < 2) /* a triangle */
                for (size_t e = 0; e < c->n; e++) x[e] = e % s.rows > e / s.rows ? 0 : x[e];
            if (q == 2) x[0] = 0;
            if (q == 3) x[0] = -0.0;
            for (size_t e = 0; q > 3 && q < 6 && e < c->n; e++) x[e] *= q == 4 ? 1e100 : 1e-100;
        }
        assert_int_equal(far_check(c, k == 0 ? FAR_COMPILED | FAR_CURVED : FAR_CURVED), 12);
    }
}

static void least_squares_say_where_the_rank_is_lower(void **state) {
    static const size_t shape[][2] = {{4, 2}, {2, 4}, {3, 3}};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const spec s = {'l', shape[k][0], shape[k][1], 0};
        far_case *const c = case_of("lstsq", &s, s.rows, s.cols);
        c->points = 7;
        const size_t lower = k == 2 ? 4 : 3;
        for (size_t q = 0; q < c->points; q++) {
            double *const x = c->x + q * c->n;
            for (size_t e = 0; e < c->n; e++) x[e] = uniform(-1, 1);
            if (q < lower) deficient(s.rows, s.cols, q, x);
            if (q != 6) continue; /* units of columns, or rows, are no matter of rank */
            for (size_t e = 0; e < s.rows * s.cols; e++)
                x[e] = ldexp(x[e], -60 * (int)(s.rows < s.cols ? e % s.rows : e / s.rows));
        }
        assert_int_equal(far_check(c, k != 1 ? FAR_COMPILED | FAR_CURVED : FAR_CURVED),
                         7 - lower);
        /* in so many words, and of the derivative, too */
        wg_function *f = NULL, *jacobian = NULL;
        double y[16], jac[256];
        far_must(c, far_record(c, c->at, &f));
        far_must(c, wg_function_jacobian(far_tape, f, &jacobian));
        for (size_t q = 0; q < lower; q++) {
            assert_int_equal(far_evaluate(f, 1, c->x + q * c->n, NULL, y), WG_EGUARD);
            assert_int_equal(far_evaluate(jacobian, 1, c->x + q * c->n, NULL, jac), WG_EGUARD);
        }
        if (k != 0) refused_in_all_ways(c, f, lower, c->x);
        wg_function_free(jacobian);
        wg_function_free(f);
    }
}

/* Where the tape finds a lower rank, and gives another number, the function has none. */
static void pseudo_inverses_say_where_the_rank_is_lower(void **state) {
    static const size_t shape[][2] = {{3, 2}, {2, 3}};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const spec s = {'p', shape[k % 2][0], shape[k % 2][1], k < 2 ? -1 : 0.1};
        far_case *const c = case_of("pinv", &s, 0, 6);
        double y[6], jac[36];
        c->points = 4;
        const double full[2][6] = {{1, 0.1, 0, -0.2, 1, 0.3}, {1, 0.1, 0, -0.2, 1, 0.3}};
        memcpy(c->at, full[k % 2], sizeof full[0]);
        for (size_t q = 0; q < c->points; q++)
            for (size_t e = 0; e < 6; e++)
                c->x[q * 6 + e] = full[k % 2][e] * (q % 2 == 0 ? -30 : 1) + uniform(-0.1, 0.1);
        assert_int_equal(far_check(c, k == 0 ? FAR_COMPILED | FAR_CURVED : FAR_CURVED), 4);
        wg_function *f = NULL;
        far_must(c, far_record(c, c->at, &f));
        for (size_t q = 0; q < 4; q++) {
            double x[6];
            for (size_t e = 0; e < 6; e++) x[e] = uniform(-1, 1);
            deficient(s.rows, s.cols, q < 3 ? q : 0, x);
            if (q == 3 && s.rcond > 0) x[5] += 1e-3; /* of full rank but for rcond */
            assert_int_equal(far_truth(c, x, y, jac), WG_OK);
            assert_int_equal(far_evaluate(f, 1, x, NULL, y), WG_EGUARD);
        }
        wg_function_free(f);
    }
}

/* NaN beside the diagonal, whatever the signs of coordinates, on the tape and in functions; so
 * are derivatives by the scale and the points. */
static void covariances_at_a_scale_of_0_are_those_of_the_tape(void **state) {
    const spec s = {'c', 3, 2, 0};
    double y[9], got[9], jac[9 * 10], slopes[9 * 10];
    wg_function *f = NULL, *jacobian = NULL;
    (void)state;
    far_case *const c = case_of("covariance", &s, 4, 9);
    c->points = 2;
    for (size_t e = 0; e < 2 * c->n; e++) c->x[e] = uniform(0.5, 3);
    assert_int_equal(far_check(c, FAR_CURVED), 2);
    far_must(c, far_record(c, c->at, &f));
    far_must(c, wg_function_jacobian(far_tape, f, &jacobian));
    for (int signs = 0; signs < 2; signs++) {
        c->x[6] = 0;
        if (signs == 1) c->x[0] = -c->x[0], c->x[1] = 0;
        far_must(c, far_truth(c, c->x, y, jac));
        far_must(c, far_evaluate(f, 1, c->x, NULL, got));
        far_must(c, far_evaluate(jacobian, 1, c->x, NULL, slopes));
        for (size_t e = 0; e < 9; e++)
            assert_true(e % 4 == 0 ? got[e] == y[e] : isnan(y[e]) && isnan(got[e]));
        /* y_1 by the point 0, point 1 and the scale */
        for (size_t i = 0; i < 7; i++)
            if (i % 3 != 2) assert_true(isnan(jac[c->n + i]) && isnan(slopes[i + c->n]));
    }
    wg_function_free(jacobian);
    wg_function_free(f);
}

/* Not positive definite: the tape refuses, and there is no number. */
static void cholesky_has_no_number_where_there_is_no_factor(void **state) {
    const spec s = {'d', 3, 3, 0};
    static const double bad[3][9] = {
        {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 0, 0, 0, -1, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0}};
    (void)state;
    far_case *const c = case_of("solve_spd", &s, 3, 3);
    c->points = 5;
    for (size_t q = 0; q <= c->points; q++) {
        double *const x = q == 0 ? c->at : c->x + (q - 1) * c->n;
        for (size_t e = 0; e < c->n; e++) x[e] = uniform(-1, 1);
        for (size_t e = 0; e < 9; e++)
            x[e] = e % 4 == 0 ? 4 * (double)(q + 1) : x[e / 3 + e % 3 * 3];
        if (q > 2) memcpy(x, bad[q - 3], sizeof bad[0]);
    }
    assert_int_equal(far_check(c, FAR_COMPILED), 2);
}

/* ---- second derivatives where two eigenvalues or singular values are one ---- */

enum { LEAST = 3, MOST_ENTRIES = LEAST * LEAST };
typedef struct squares {
    const char *name;
    size_t rows, cols;
} squares;

/* The sum of the squares of what there is: tr A'A, or tr A A of the eigenvalues of any A. */
static wg_status squares_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const squares *const s = data;
    const wg_mat a = wg_mat_gather(t, s->rows, s->cols, x);
    wg_mat w, im;
    (void)n, (void)m;
    if (strcmp(s->name, "eigvalsh") == 0) w = wg_eigvalsh(t, a);
    else if (strcmp(s->name, "eigvalsh_general") == 0)
        w = wg_eigvalsh_general(t, a, wg_mat_identity(t, s->rows));
    else if (strcmp(s->name, "svdvals") == 0) w = wg_svdvals(t, a);
    else if (wg_eigvals(t, a, &w, &im) != WG_OK) return wg_tape_status(t);
    y[0] = wg_mat_sum(t, wg_mat_square(t, w));
    if (strcmp(s->name, "eigvals") == 0)
        y[0] = wg_let(t, wg_sub(y[0], wg_mat_sum(t, wg_mat_square(t, im))));
    return wg_tape_status(t);
}

static void numbers_of(const wg_function *f, const double *x, const double *v, double *y) {
    const wg_points in[2] = {{x, 0, 1}, {v, 0, 1}};
    const wg_results out = {y, 0, 1};
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 127) / 64 * 64);
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, in, &out, NULL, work, NULL), WG_OK);
    free(work);
}

static void second_derivatives_at_values_that_are_one_are_right_or_none(void **state) {
    (void)state;
    static const squares all[] = {{"eigvalsh", 3, 3}, {"eigvalsh_general", 3, 3},
                                  {"svdvals", 3, 3},  {"svdvals", 3, 2},
                                  {"svdvals", 2, 3},  {"eigvals", 3, 3}};
    static const double points[][MOST_ENTRIES] = {{1, 0.5, 0.25, 0.5, 2.5, -0.5, 0.25, -0.5, 5},
                                                  {0},
                                                  {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                                  {1, 1, 1, 1, 1, 1, 1, 1, 1},
                                                  {2, 1, 1, 1, 2, 1, 1, 1, 2},
                                                  {1e9, 2e9, 3e9, 2e9, 4e9, 6e9, 3e9, 6e9, 9e9},
                                                  {1, 0, 0, 0, 0, 0, 0, 0, 0}};
    static const double v[MOST_ENTRIES] = {1, 2, 3, 2, -1, 0.5, 3, 0.5, 2};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
        squares s = all[c];
        const size_t n = s.rows * s.cols;
        const int any = strcmp(s.name, "eigvals") == 0;
        const int symmetric = strncmp(s.name, "eigvalsh", 8) == 0;
        const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
        wg_function *f, *g, *hv, *h;
        assert_int_equal(wg_function_record(t, squares_of, &s, 1, &in, points[0], 1, &out, &f),
                         WG_OK);
        assert_int_equal(wg_function_gradient(t, f, &g), WG_OK);
        assert_int_equal(wg_function_hvp(t, f, &hv), WG_OK);
        assert_int_equal(wg_function_jacobian(t, g, &h), WG_OK);
        for (size_t p = 0; p < sizeof points / sizeof *points; p++) {
            const double *const x = points[p];
            double first[MOST_ENTRIES], along[MOST_ENTRIES],
                second[MOST_ENTRIES * MOST_ENTRIES];
            numbers_of(g, x, NULL, first);
            numbers_of(hv, x, v, along);
            numbers_of(h, x, NULL, second);
            for (size_t e = 0; e < n; e++) {
                const size_t turned = any ? e % 3 * 3 + e / 3 : e;
                const double size = 1e3 * DBL_EPSILON * (1 + x[n - 1]);
                if (p == 0) assert_true(!isnan(along[e]));
                if (!any) assert_true(fabs(first[e] - 2 * x[e]) <= size);
                if (!isnan(along[e]) && !(fabs(along[e] - 2 * v[turned]) <= 1e4 * DBL_EPSILON))
                    fail_msg("%s, point %zu, entry %zu: %g", s.name, p, e, along[e]);
                for (size_t k = 0; k < n; k++) {
                    const double got = second[e * n + k];
                    const int own = k == turned, other = k == e % 3 * 3 + e / 3;
                    /* of symmetric ones, the symmetric part moves */
                    const double want = symmetric ? own + other : 2 * own;
                    if (!isnan(got) && !(fabs(got - want) <= 1e4 * DBL_EPSILON))
                        fail_msg("%s, point %zu, entries %zu, %zu: %g", s.name, p, e, k, got);
                }
            }
        }
        wg_function_free(f), wg_function_free(g), wg_function_free(hv), wg_function_free(h);
    }
    wg_tape_free(t);
}

/* A nuclear norm is smooth where no singular value is 0: at c I, or c times columns of it, its
 * second derivative along v is the square of what v has below the square, and half of that of
 * V - V' in it, over c. */
static wg_status nuclear_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const squares *const s = data;
    (void)n, (void)m;
    y[0] = wg_mat_norm_nuclear(t, wg_mat_gather(t, s->rows, s->cols, x));
    return wg_tape_status(t);
}
static void nuclear_norms_have_second_derivatives_at_equal_singular_values(void **state) {
    static const double sizes[] = {1, 2.5, 1e9, 1e-9},
                        v[MOST_ENTRIES] = {1, 2, 3, -2, -1, 0.5, 3, 0.25, 2};
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t rows = 2; rows <= 3; rows++)
        for (size_t cols = 2; cols <= 3; cols++) {
            squares s = {"nuclear", rows, cols};
            const size_t n = rows * cols, square = rows < cols ? rows : cols;
            const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
            double x[MOST_ENTRIES] = {0}, along[MOST_ENTRIES], want = 0;
            wg_function *f, *hv;
            for (size_t e = 0; e < n; e++) x[e] = (double)(e + 1);
            assert_int_equal(wg_function_record(t, nuclear_of, &s, 1, &in, x, 1, &out, &f),
                             WG_OK);
            assert_int_equal(wg_function_hvp(t, f, &hv), WG_OK);
            for (size_t j = 0; j < cols; j++)
                for (size_t i = 0; i < rows; i++) {
                    const double here = v[i + j * rows];
                    if (i >= square || j >= square) want += here * here;
                    else want += here * (here - v[j + i * rows]) / 2;
                }
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                double got = 0;
                for (size_t e = 0; e < n; e++) x[e] = e % rows == e / rows ? sizes[k] : 0;
                numbers_of(hv, x, v, along);
                for (size_t e = 0; e < n; e++) got += v[e] * along[e];
                assert_true(fabs(got * sizes[k] - want) <= 1e3 * DBL_EPSILON * fabs(want));
            }
            wg_function_free(f), wg_function_free(hv);
        }
    wg_tape_free(t);
}

/* Where a singular value is 0 there are many slopes: functions have that of the tape. */
static void slopes_of_nuclear_norms_of_lower_rank_are_those_of_a_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t rows = 1; rows <= 3; rows++)
        for (size_t cols = 1; cols <= 3; cols++) {
            squares s = {"nuclear", rows, cols};
            const size_t n = rows * cols;
            const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
            double x[MOST_ENTRIES], got[MOST_ENTRIES], want;
            wg_function *f, *g;
            for (size_t e = 0; e < n; e++) x[e] = (double)(e * e + 1);
            assert_int_equal(wg_function_record(t, nuclear_of, &s, 1, &in, x, 1, &out, &f),
                             WG_OK);
            assert_int_equal(wg_function_jacobian(t, f, &g), WG_OK);
            for (int k = 0; k < 3; k++) { /* of rank 1, 0, and 1 */
                for (size_t e = 0; e < n; e++)
                    x[e] = k == 0 ? 1 : k == 1 ? 0 : (double)((e % rows + 1) * (e / rows + 2));
                numbers_of(g, x, NULL, got);
                wg_real at[MOST_ENTRIES], y;
                wg_tape_reset(t);
                assert_int_equal(wg_inputs(t, n, x, at), WG_OK);
                assert_int_equal(nuclear_of(t, n, at, 1, &y, &s), WG_OK);
                assert_int_equal(wg_reverse(t, y), WG_OK);
                for (size_t e = 0; e < n; e++) {
                    want = wg_adjoint(t, at[e]);
                    if (!(fabs(got[e] - want) <= 100 * DBL_EPSILON))
                        fail_msg("%zux%zu, point %d, entry %zu: %g, not %g", rows, cols, k, e,
                                 got[e], want);
                }
            }
            wg_function_free(f), wg_function_free(g);
        }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_of_nuclear_norms_of_lower_rank_are_those_of_a_tape),
        cmocka_unit_test(nuclear_norms_have_second_derivatives_at_equal_singular_values),
        cmocka_unit_test(second_derivatives_at_values_that_are_one_are_right_or_none),
        cmocka_unit_test(signs_of_qr_are_those_of_the_point),
        cmocka_unit_test(qr_says_where_the_rank_is_lower),
        cmocka_unit_test(least_squares_say_where_the_rank_is_lower),
        cmocka_unit_test(pseudo_inverses_say_where_the_rank_is_lower),
        cmocka_unit_test(covariances_at_a_scale_of_0_are_those_of_the_tape),
        cmocka_unit_test(cholesky_has_no_number_where_there_is_no_factor),
    };
    return cmocka_run_group_tests(tests, far_open, far_close);
}
