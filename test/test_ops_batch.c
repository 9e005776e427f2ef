/* SPDX-License-Identifier: MIT */
/* test_ops_batch.c - batches against the same operation on each member, in values,
 * gradients and tangents; their derivatives of both orders against differences; members that
 * are NaN; batches of none; operands that members share; functions of them; refusals. */
#include "derived_case.h"

/* ---- an operation on one, and on many ---- */

enum { OPERANDS = 3, RESULTS = 3, MEMBERS = 4 };

typedef struct family {
    const char *name;
    void (*many)(wg_tape *t, size_t count, const wg_mat *in, wg_mat *out);
    void (*one)(wg_tape *t, const wg_mat *in, wg_mat *out);
    size_t results;
    int tall, wide; /* how many more rows, columns than the order */
    int definite;   /* the last operand is positive definite */
    size_t more[2]; /* columns of further operands; 99: the order */
} family;

static void det_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_det_batch(t, n, in[0]);
}
static void det_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_mat_from_real(t, wg_det(t, in[0]));
}
static void log_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    double sign[MEMBERS];
    out[0] = wg_logabsdet_batch(t, n, in[0], sign);
    for (size_t k = 0; k < n && wg_tape_status(t) == WG_OK; k++)
        assert_true(fabs(sign[k]) == 1 || isnan(sign[k]));
}
static void log_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_mat_from_real(t, wg_logabsdet(t, in[0], NULL));
}
static void spd_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_logdet_spd_batch(t, n, in[0]);
}
static void spd_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_mat_from_real(t, wg_logdet_spd(t, in[0]));
}
static void inverse_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_inverse_batch(t, n, in[0]);
}
static void inverse_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_inverse(t, in[0]);
}
static void inverse_spd_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_inverse_spd_batch(t, n, in[0]);
}
static void inverse_spd_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_inverse_spd(t, in[0]);
}
static void qr_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    (void)!wg_qr_batch(t, n, in[0], &out[0], &out[1]);
}
static void qr_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    (void)!wg_qr(t, in[0], &out[0], &out[1]);
}
static void lstsq_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_lstsq_batch(t, n, in[0], in[1]);
}
static void lstsq_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_lstsq(t, in[0], in[1]);
}
static void eigvalsh_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_eigvalsh_batch(t, n, in[0]);
}
static void eigvalsh_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_eigvalsh(t, in[0]);
}
static void eigh_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    (void)!wg_eigh_batch(t, n, in[0], &out[0], &out[1]);
}
static void eigh_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    (void)!wg_eigh(t, in[0], &out[0], &out[1]);
}
static void svdvals_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_svdvals_batch(t, n, in[0]);
}
static void svdvals_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_svdvals(t, in[0]);
}
static void svd_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    (void)!wg_svd_batch(t, n, in[0], &out[0], &out[1], &out[2]);
}
static void svd_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    (void)!wg_svd(t, in[0], &out[0], &out[1], &out[2]);
    out[2] = wg_mat_transpose(out[2]);
}
static void expm_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_expm_batch(t, n, in[0]);
}
static void expm_one(wg_tape *t, const wg_mat *in, wg_mat *out) { out[0] = wg_expm(t, in[0]); }
static void mvn_many(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {
    out[0] = wg_mvn_logpdf_batch(t, n, in[1], in[2], in[0]);
}
static void mvn_one(wg_tape *t, const wg_mat *in, wg_mat *out) {
    out[0] = wg_mat_from_real(t, wg_mvn_logpdf(t, in[1], in[2], in[0]));
}

static const family families[] = {
    {"det", det_many, det_one, 1, 0, 0, 0, {0, 0}},
    {"logabsdet", log_many, log_one, 1, 0, 0, 0, {0, 0}},
    {"logdet_spd", spd_many, spd_one, 1, 0, 0, 1, {0, 0}},
    {"inverse", inverse_many, inverse_one, 1, 0, 0, 0, {0, 0}},
    {"inverse_spd", inverse_spd_many, inverse_spd_one, 1, 0, 0, 1, {0, 0}},
    {"qr", qr_many, qr_one, 2, 0, 0, 0, {0, 0}},
    {"qr, tall", qr_many, qr_one, 2, 2, 0, 0, {0, 0}},
    {"qr, wide", qr_many, qr_one, 2, 0, 3, 0, {0, 0}},
    {"lstsq", lstsq_many, lstsq_one, 1, 2, 0, 0, {2, 0}},
    {"lstsq, wide", lstsq_many, lstsq_one, 1, 0, 1, 0, {3, 0}},
    {"eigvalsh", eigvalsh_many, eigvalsh_one, 1, 0, 0, 1, {0, 0}},
    {"eigh", eigh_many, eigh_one, 2, 0, 0, 1, {0, 0}},
    {"svdvals", svdvals_many, svdvals_one, 1, 1, 0, 0, {0, 0}},
    {"svd", svd_many, svd_one, 3, 0, 2, 0, {0, 0}},
    {"expm", expm_many, expm_one, 1, 0, 0, 0, {0, 0}},
    {"mvn_logpdf", mvn_many, mvn_one, 1, 0, 0, 1, {3, 1}},
};
enum { FAMILIES = sizeof families / sizeof *families };

static size_t operands_of(const family *f) {
    return f->more[0] == 0 ? 1 : f->more[1] == 0 ? 2 : 3;
}

/* ---- members on arrays ---- */

enum { ROOM = 2 * DERIVED_SIDE * DERIVED_SIDE };
typedef struct numbers {
    size_t count, rows[OPERANDS], cols[OPERANDS];
    double x[OPERANDS][ROOM];
} numbers;

/* Members of order n: diagonally heavy, apart from each other, the definite ones symmetric. */
static void draw(const family *f, size_t n, size_t count, numbers *to, uint64_t *seed) {
    memset(to, 0, sizeof *to);
    to->count = count;
    for (size_t o = 0; o < operands_of(f); o++) {
        const size_t rows = n + (size_t)f->tall,
                     cols = o == 0 ? n + (size_t)f->wide : f->more[o - 1];
        to->rows[o] = rows, to->cols[o] = cols;
        assert_true(rows * cols * count <= ROOM);
        for (size_t e = 0; e < rows * cols * count; e++) {
            const size_t i = e % rows, j = e / rows % cols;
            to->x[o][e] = walk_number(seed);
            if (o != 0) continue;
            if (i == j) to->x[o][e] += (double)(rows + i) * (f->definite || n < 3 ? 1 : 0.3);
            if (f->definite && i < j) to->x[o][e] = to->x[o][e - i - j * rows + j + i * rows];
        }
    }
}

/* What a result counts for in the sum that is differentiated. */
static double weight(size_t k, size_t r, size_t e) {
    return sin(1.7 * (double)(1 + 31 * k + 7 * r + e));
}

static void sum_up(wg_tape *t, wg_real *sum, wg_mat y, size_t k, size_t r) {
    for (size_t e = 0; e < y.rows * y.cols; e++) {
        const wg_real x = wg_mat_at(y, e % y.rows, e / y.rows);
        *sum = wg_let(t, wg_add(*sum, wg_mul(weight(k, r, e), wg_mul(x, x))));
    }
}

/* Values of all results, members apart, and either the gradient by operands, or the tangent. */
typedef struct outcome {
    size_t values;
    double y[RESULTS * ROOM], g[OPERANDS][ROOM], tangent;
} outcome;

static void must(const family *f, wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", f->name, wg_tape_message(t));
}

/* many: as one batch; v: a direction, on a forward tape. */
static void run(const family *f, const numbers *x, int many, const numbers *v, outcome *to) {
    const wg_options o = {.flags = 0};
    wg_tape *const t = wg_tape_new(&o);
    const size_t inputs = operands_of(f), records = many ? 1 : x->count;
    wg_mat in[MEMBERS][OPERANDS], out[MEMBERS][RESULTS];
    wg_real sum = wg_constant(0);
    memset(to, 0, sizeof *to);
    if (v != NULL) must(f, t, wg_tape_forward(t, 1));
    for (size_t k = 0; k < records; k++) {
        for (size_t i = 0; i < inputs; i++) {
            const size_t rows = x->rows[i], cols = x->cols[i], at = k * rows * cols;
            in[k][i] = wg_mat_input(t, rows, many ? cols * x->count : cols, x->x[i] + at, rows);
            if (v != NULL) must(f, t, wg_mat_tangent_seed(t, in[k][i], 0, v->x[i] + at, rows));
        }
        if (many) f->many(t, x->count, in[0], out[0]);
        else f->one(t, in[k], out[k]);
        must(f, t, wg_tape_status(t));
    }
    for (size_t k = 0; k < x->count; k++)
        for (size_t r = 0; r < f->results; r++) {
            const wg_mat all = out[many ? 0 : k][r];
            const size_t cols = many ? all.cols / x->count : all.cols;
            const wg_mat y = wg_mat_block(all, 0, many ? k * cols : 0, all.rows, cols);
            must(f, t, wg_mat_value(t, y, to->y + to->values, y.rows));
            to->values += y.rows * cols;
            sum_up(t, &sum, y, k, r);
        }
    if (v != NULL) to->tangent = wg_tangent(t, sum, 0);
    else must(f, t, wg_reverse(t, sum));
    for (size_t k = 0; k < records && v == NULL; k++)
        for (size_t i = 0; i < inputs; i++)
            must(f, t,
                 wg_mat_adjoint(t, in[k][i], to->g[i] + k * x->rows[i] * x->cols[i],
                                x->rows[i]));
    wg_tape_free(t);
}

static void same(const family *f, const char *what, const double *a, const double *b,
                 size_t n) {
    for (size_t e = 0; e < n; e++)
        if (memcmp(a + e, b + e, sizeof *a) != 0 && !(isnan(a[e]) && isnan(b[e])))
            fail_msg("%s: %s (%zu) is %.17g in a batch, alone %.17g", f->name, what, e, a[e],
                     b[e]);
}

/* BLAS sums in another order where a matrix is aligned otherwise: so many ulps of the largest
 * entry for members of order n, whose condition is below ten. */
#define TOL_ALIGNED 64.0

static void close_to(const family *f, const char *what, const double *a, const double *b,
                     size_t n, size_t order) {
    const double bound =
        TOL_ALIGNED * (double)order * DBL_EPSILON * fmax(1, derived_largest(n, b));
    for (size_t e = 0; e < n; e++)
        if (!(fabs(a[e] - b[e]) <= bound))
            fail_msg("%s of order %zu: %s (%zu) is %.17g in a batch, alone %.17g", f->name,
                     order, what, e, a[e], b[e]);
}

static void a_batch_is_each_of_its_members(void **state) {
    (void)state;
    static numbers x, v;
    static outcome many, one;
    uint64_t seed = 11;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t n = 1; n <= 19; n += n < 6 ? 1 : 6)
            for (size_t count = 1; count <= MEMBERS && count * n <= 60;
                 count += n > 3 ? 2 : 1) {
                const family *const p = &families[f];
                draw(p, n, count, &x, &seed);
                draw(p, n, count, &v, &seed);
                run(p, &x, 1, NULL, &many);
                run(p, &x, 0, NULL, &one);
                close_to(p, "value", many.y, one.y, one.values, n);
                for (size_t i = 0; i < operands_of(p); i++)
                    close_to(p, "gradient", many.g[i], one.g[i], x.rows[i] * x.cols[i] * count,
                             n);
                run(p, &x, 1, &v, &many);
                run(p, &x, 0, &v, &one);
                close_to(p, "tangent", &many.tangent, &one.tangent, 1, n);
            }
}

/* ---- members that are NaN ---- */

static void a_member_that_is_nan_touches_no_other(void **state) {
    (void)state;
    static numbers x;
    static outcome good, bad;
    uint64_t seed = 5;
    for (size_t f = 0; f < FAMILIES; f++)
        for (size_t o = 0; o < operands_of(&families[f]); o++) {
            const family *const p = &families[f];
            draw(p, 3, 3, &x, &seed);
            run(p, &x, 1, NULL, &good);
            const size_t size = x.rows[o] * x.cols[o];
            x.x[o][size + size / 2] = NAN; /* of the second of three */
            run(p, &x, 1, NULL, &bad);
            const size_t values = good.values / 3;
            for (size_t k = 0; k < 3; k++) {
                for (size_t e = 0; e < values; e++)
                    if (k == 1) assert_true(isnan(bad.y[values + e]));
                if (k != 1) same(p, "value", bad.y + k * values, good.y + k * values, values);
                for (size_t i = 0; i < operands_of(p); i++) {
                    const size_t own = x.rows[i] * x.cols[i], at = k * own;
                    for (size_t e = 0; e < own && k == 1; e++)
                        assert_true(isnan(bad.g[i][at + e]));
                    if (k != 1) same(p, "gradient", bad.g[i] + at, good.g[i] + at, own);
                }
            }
        }
}

/* The second of three systems has a NaN, and is singular or not definite beside that. */
static void systems_beside_one_with_a_nan_are_solved(void **state) {
    (void)state;
    enum { N = 20 };
    static double a[3 * N * N], b[3 * N], y[4][3 * N * N], g[4][3 * N * N];
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t n = 2; n <= N; n += 9)
        for (int which = 0; which < 3; which++)
            for (int bad = 0; bad < 2; bad++) {
                uint64_t seed = 13;
                for (size_t e = 0; e < 3 * n * n; e++) {
                    const size_t i = e % n, j = e / n % n, base = e - i - j * n;
                    a[e] = i < j ? a[base + j + i * n] : walk_number(&seed);
                    if (i == j) a[e] = (double)(2 * n + i);
                }
                for (size_t e = 0; e < 3 * n; e++) b[e] = (double)(e + 1);
                if (bad) {
                    memset(a + n * n, 0, n * n * sizeof *a);
                    a[2 * n * n - 1] = NAN;
                }
                wg_tape_reset(t);
                const wg_mat of = wg_mat_input(t, n, 3 * n, a, n),
                             to = wg_mat_input(t, n, 3, b, n);
                const wg_mat x = which == 0   ? wg_solve_batch(t, 3, of, to)
                                 : which == 1 ? wg_solve_spd_batch(t, 3, of, to)
                                              : wg_cholesky_batch(t, 3, of);
                const size_t width = x.cols / 3;
                assert_int_equal(wg_tape_status(t), WG_OK);
                assert_int_equal(wg_mat_value(t, x, y[bad], n), WG_OK);
                assert_int_equal(wg_mat_reverse(t, x, NULL, n), WG_OK);
                assert_int_equal(wg_mat_adjoint(t, of, g[bad], n), WG_OK);
                if (!bad) continue;
                for (size_t k = 0; k < 3; k += 2) {
                    const size_t at = k * n * width;
                    assert_memory_equal(y[0] + at, y[1] + at, n * width * sizeof(double));
                    assert_memory_equal(g[0] + k * n * n, g[1] + k * n * n,
                                        n * n * sizeof(double));
                }
                assert_true(isnan(y[1][2 * n * width - 1]) && isnan(g[1][2 * n * n - 1]));
            }
    wg_tape_free(t);
}

/* Of the first and the third of three systems. */
static wg_status two_systems(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const int which = *(const int *)data;
    const wg_mat a = wg_mat_gather(t, 2, 6, x), b = wg_mat_gather(t, 2, 6, x + 12);
    const wg_mat all =
        which == 0   ? wg_solve_batch(t, 3, a, b)
        : which == 1 ? wg_solve_spd_batch(t, 3, a, b)
        : which == 2 ? wg_cholesky_batch(t, 3, a)
                     : wg_trsm_batch(t, 3, which == 3 ? 'L' : 'R', 'L', 'T', 'N', 2, a, b);
    const wg_mat first = wg_mat_block(all, 0, 0, 2, 2), third = wg_mat_block(all, 0, 4, 2, 2);
    (void)n, (void)m;
    y[0] = wg_let(t, wg_add(wg_mat_dot(t, first, first), wg_mat_dot(t, third, third)));
    return wg_tape_status(t);
}

static void second_derivatives_leave_a_system_out_that_nothing_depends_on(void **state) {
    enum { N = 24 };
    double at[N] = {4, 1, 1, 3, 5, 1, 1, 6, 7, 2, 2, 5}, v[N], h[2][N];
    uint64_t seed = 31;
    (void)state;
    wg_tape *const t = derived_tape();
    for (size_t e = 0; e < N; e++) v[e] = walk_number(&seed);
    for (size_t e = 12; e < N; e++) at[e] = walk_number(&seed);
    for (int which = 0; which < 5; which++) {
        for (int bad = 0; bad < 2; bad++) {
            at[4] = bad ? NAN : 5;
            const wg_status s = wg_hvp(t, two_systems, &which, N, at, v, NULL, NULL, h[bad]);
            if (s != WG_OK) fail_msg("%d: %s", which, wg_tape_message(t));
        }
        assert_memory_equal(h[0], h[1], sizeof h[0]);
        for (size_t e = 4; e < 8; e++) assert_true(h[1][e] == 0 && h[1][12 + e] == 0);
        assert_true(h[1][0] != 0 && h[1][8] != 0);
    }
    wg_tape_free(t);
}

typedef struct with_nan {
    const family *f;
    const numbers *x;
    int without; /* the second member is not in the sum */
} with_nan;

static wg_status sum_of_all(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const with_nan *const p = data;
    wg_mat in[OPERANDS], out[RESULTS];
    (void)n, (void)m;
    for (size_t i = 0; i < operands_of(p->f); i++) {
        in[i] = wg_mat_gather(t, p->x->rows[i], p->x->cols[i] * p->x->count, x);
        x += p->x->rows[i] * p->x->cols[i] * p->x->count;
    }
    p->f->many(t, p->x->count, in, out);
    y[0] = wg_constant(0);
    for (size_t r = 0; r < p->f->results; r++) {
        const size_t cols = out[r].cols / p->x->count;
        for (size_t k = 0; k < p->x->count; k += p->without ? 2 : 1)
            sum_up(t, &y[0], wg_mat_block(out[r], 0, k * cols, out[r].rows, cols), k, r);
    }
    return wg_tape_status(t);
}

/* Along all of them: what belongs to the others has the bits that it has beside a good one, and
 * what belongs to one that nothing depends on is 0, as in its gradient. */
static void second_derivatives_beside_a_nan_are_those_of_the_others(void **state) {
    (void)state;
    static numbers x;
    uint64_t seed = 29;
    for (size_t f = 0; f < 2 * FAMILIES; f++) {
        wg_tape *const t = derived_tape();
        double at[DERIVED_MOST], v[DERIVED_MOST], h[2][DERIVED_MOST];
        with_nan p = {&families[f / 2], &x, f % 2 != 0};
        size_t n = 0;
        draw(p.f, 3, 3, &x, &seed);
        for (size_t i = 0; i < operands_of(p.f); i++)
            for (size_t e = 0; e < x.rows[i] * x.cols[i] * 3; e++) at[n++] = x.x[i][e];
        for (size_t e = 0; e < n; e++) v[e] = walk_number(&seed);
        for (int bad = 0; bad < 2; bad++) {
            if (bad) at[x.rows[0] * x.cols[0]] = NAN;
            must(p.f, t, wg_hvp(t, sum_of_all, &p, n, at, v, NULL, NULL, h[bad]));
        }
        n = 0;
        for (size_t i = 0; i < operands_of(p.f); i++) {
            const size_t own = x.rows[i] * x.cols[i];
            for (size_t k = 0; k < 3; k++, n += own) {
                if (k != 1) same(p.f, "Hessian along v", h[1] + n, h[0] + n, own);
                for (size_t e = 0; e < own && k == 1; e++)
                    assert_true(p.without ? h[1][n + e] == 0 : isnan(h[1][n + e]));
            }
        }
        wg_tape_free(t);
    }
}

/* Of its equal eigenvalues there are no second derivatives. */
static void a_degenerate_member_is_not_asked_where_nothing_depends_on_it(void **state) {
    (void)state;
    const family *const f = &families[10];
    numbers x = {.count = 3, .rows = {2}, .cols = {2}};
    const double at[12] = {2, 0.5, 0.5, 1, 3, 0, 0, 3, 4, 1, 1, -1}, v[12] = {1, 2, 3, 4, 5, 6};
    double h[12];
    wg_tape *const t = derived_tape();
    assert_string_equal(f->name, "eigvalsh");
    for (int without = 0; without < 2; without++) {
        with_nan p = {f, &x, without};
        const wg_status s = wg_hvp(t, sum_of_all, &p, 12, at, v, NULL, NULL, h);
        assert_int_equal(s, without ? WG_OK : WG_EDEGENERATE);
    }
    for (size_t e = 4; e < 8; e++) assert_true(h[e] == 0);
    wg_tape_free(t);
}

/* ---- derivatives of both orders ---- */

#define OF(name, count)                                                                        \
    static void of_##name(wg_tape *t, const wg_mat *in, derived_sum *s) {                      \
        wg_mat out[RESULTS];                                                                   \
        name##_many(t, count, in, out);                                                        \
        derived_matrix(s, out[0]);                                                             \
    }
OF(det, 2)
OF(log, 2)
OF(spd, 2)
OF(inverse, 2)
OF(inverse_spd, 2)
OF(lstsq, 2)
OF(eigvalsh, 2)
OF(svdvals, 2)
OF(expm, 2)
OF(mvn, 2)
static void of_qr(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat q, r;
    if (wg_qr_batch(t, 2, in[0], &q, &r) == WG_OK) derived_matrix(s, q), derived_matrix(s, r);
}
static void of_eigh(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat w, v;
    if (wg_eigh_batch(t, 2, in[0], &w, &v) == WG_OK) derived_matrix(s, w), derived_matrix(s, v);
}
static void of_svd(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat u, w, vt;
    if (wg_svd_batch(t, 2, in[0], &u, &w, &vt) == WG_OK)
        derived_matrix(s, u), derived_matrix(s, w), derived_matrix(s, vt);
}
/* The symmetric part of both, so that a definite operand stays one. */
static wg_mat symmetric_pair(wg_tape *t, wg_mat a) {
    wg_mat both[2];
    for (size_t k = 0; k < 2; k++) {
        const wg_mat m = wg_mat_block(a, 0, k * a.rows, a.rows, a.rows);
        both[k] = wg_mat_add(t, wg_mat_axpby(t, 0.5, m, 0.5, wg_mat_transpose(m)),
                             wg_mat_scale(t, 4, wg_mat_identity(t, a.rows)));
    }
    return wg_concat_cols(t, 2, both);
}
static void of_definite(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat a = symmetric_pair(t, in[0]);
    of_spd(t, &a, s);
    of_inverse_spd(t, &a, s);
}
static void of_densities(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat all[3] = {symmetric_pair(t, in[0]), in[1], in[2]};
    of_mvn(t, all, s);
}
static void of_shared_densities(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat sum = wg_mat_axpby(t, 0.5, in[0], 0.5, wg_mat_transpose(in[0]));
    const wg_mat all[3] = {wg_mat_add(t, sum, wg_mat_scale(t, 4, wg_mat_identity(t, 3))), in[1],
                           in[2]};
    of_mvn(t, all, s);
}
/* Overlapping members, and one for all of them. */
static void of_windows(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat a = wg_windows(t, in[0], 2, 3, 1);
    of_det(t, &a, s);
    const wg_mat pair[2] = {wg_windows(t, in[0], 2, 2, 0), in[1]};
    of_lstsq(t, pair, s);
}

static const derived_case cases[] = {
    {"det", of_det, {3}, {6}, {DERIVED_ANY}},
    {"det 1", of_det, {1}, {2}, {DERIVED_ANY}},
    {"logabsdet", of_log, {4}, {8}, {DERIVED_ANY}},
    {"definite", of_definite, {3}, {6}, {DERIVED_ANY}},
    {"inverse", of_inverse, {3}, {6}, {DERIVED_APART}},
    {"qr", of_qr, {3}, {6}, {DERIVED_APART}},
    {"qr, tall", of_qr, {4}, {4}, {DERIVED_APART}},
    {"qr, wide", of_qr, {2}, {6}, {DERIVED_APART}},
    {"lstsq", of_lstsq, {4, 4}, {4, 2}, {DERIVED_APART, DERIVED_ANY}},
    {"lstsq, wide", of_lstsq, {2, 2}, {6, 4}, {DERIVED_APART, DERIVED_ANY}},
    {"eigvalsh", of_eigvalsh, {3}, {6}, {DERIVED_APART}},
    {"eigh", of_eigh, {3}, {6}, {DERIVED_APART}},
    {"svdvals", of_svdvals, {3}, {4}, {DERIVED_APART}},
    {"svd", of_svd, {3}, {4}, {DERIVED_APART}},
    {"expm", of_expm, {3}, {6}, {DERIVED_ANY}},
    {"densities", of_densities, {3, 3, 3}, {6, 4, 2}, {DERIVED_ANY, DERIVED_ANY, DERIVED_ANY}},
    {"densities, shared",
     of_shared_densities,
     {3, 3, 3},
     {3, 4, 1},
     {DERIVED_ANY, DERIVED_ANY, DERIVED_ANY}},
    {"windows", of_windows, {3, 3}, {4, 4}, {DERIVED_APART, DERIVED_ANY}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) derived_check(&cases[i]);
}

/* ---- stacks ---- */

static void windows_are_the_blocks_of_columns_that_they_say(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    const wg_mat x = derived_random(t, 2, 9, 1, &seed);
    for (size_t stride = 0; stride <= 3; stride++)
        for (int turned = 0; turned < 2; turned++) {
            const wg_mat of =
                turned ? wg_mat_transpose(wg_mat_copy(t, wg_mat_transpose(x))) : x;
            const wg_mat y = wg_windows(t, of, 3, 3, stride);
            assert_true(y.rows == 2 && y.cols == 9);
            for (size_t k = 0; k < 3; k++)
                derived_close("windows", wg_mat_block(y, 0, 3 * k, 2, 3),
                              wg_mat_block(x, 0, stride * k, 2, 3), 0);
        }
    const wg_mark before = wg_tape_mark(t);
    (void)wg_windows(t, x, 3, 3, 4);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_windows"));
    assert_int_equal(wg_tape_rewind(t, before), WG_OK);
    (void)wg_windows(t, x, 2, 1, SIZE_MAX);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    wg_tape_free(t);
}

/* Every second member of a matrix, without a copy. */
static void members_may_stand_in_a_view(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    double g[60];
    const wg_mat x = derived_random(t, 5, 12, 1, &seed), a = wg_mat_block(x, 1, 2, 3, 9);
    const wg_mat y = wg_det_batch(t, 3, a);
    for (size_t k = 0; k < 3; k++) {
        const wg_mat m = wg_mat_block(a, 0, 3 * k, 3, 3);
        const wg_real d = wg_det(t, m);
        assert_true(wg_value(d) == wg_value(wg_mat_at(y, 0, k)));
        assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, k)), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, x, g, 5), WG_OK);
        for (size_t j = 0; j < 12; j++)
            for (size_t i = 0; i < 5; i++)
                if (i < 1 || i > 3 || j < 2 + 3 * k || j > 4 + 3 * k)
                    assert_true(g[i + 5 * j] == 0);
    }
    wg_tape_free(t);
}

/* ---- none, and what does not fit ---- */

static void a_batch_of_none_has_results_without_columns(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t f = 0; f < FAMILIES; f++) {
        const family *const p = &families[f];
        wg_mat in[OPERANDS], out[RESULTS];
        wg_tape_reset(t);
        for (size_t i = 0; i < operands_of(p); i++) in[i] = wg_mat_input(t, 3, 0, NULL, 3);
        p->many(t, 0, in, out);
        must(p, t, wg_tape_status(t));
        for (size_t r = 0; r < p->results; r++) assert_int_equal(out[r].cols, 0);
        /* and members of order 0 */
        for (size_t i = 0; i < operands_of(p); i++) in[i] = wg_mat_input(t, 0, 0, NULL, 1);
        if (operands_of(p) == 3) in[2] = wg_mat_fill(t, 0, 1, 0);
        p->many(t, 3, in, out);
        must(p, t, wg_tape_status(t));
    }
    wg_tape_free(t);
}

static void what_does_not_fit_is_refused_by_name(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 7;
    for (size_t f = 0; f < FAMILIES; f++) {
        const family *const p = &families[f];
        wg_mat in[OPERANDS], out[RESULTS];
        wg_tape_reset(t);
        for (size_t i = 0; i < operands_of(p); i++) in[i] = derived_random(t, 3, 7, 1, &seed);
        p->many(t, 2, in, out);
        assert_int_equal(wg_tape_status(t), WG_ESHAPE);
        assert_non_null(strstr(wg_tape_message(t), "_batch"));
        assert_non_null(strstr(wg_tape_message(t), "3x7"));
        assert_null(out[0].value);
    }
    wg_tape_reset(t);
    static const double two[] = {1, 0, 0, 1, 1, 2, 2, 4};
    double sign[2] = {0, 0};
    const wg_mat a = wg_mat_input(t, 2, 4, two, 2);
    assert_true(isnan(wg_mat_at(wg_logabsdet_batch(t, 2, a, sign), 0, 0).value));
    assert_true(isnan(sign[0]) && isnan(sign[1]));
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "wg_logabsdet_batch"));
    assert_non_null(strstr(wg_tape_message(t), "singular"));
    wg_tape_free(t);
}

/* ---- in functions ---- */

static wg_status evaluate(const wg_function *f, const double *x, const double *v, double *y) {
    const wg_points in[2] = {{x, 0, 1}, {v, 0, 1}};
    const wg_results out = {y, 0, 1};
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 127) / 64 * 64);
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, 1, in, &out, NULL, work, NULL);
    free(work);
    return s;
}

static size_t flat(const family *f, const numbers *x, double *to) {
    size_t n = 0;
    for (size_t i = 0; i < operands_of(f); i++)
        for (size_t e = 0; e < x->rows[i] * x->cols[i] * x->count; e++) to[n++] = x->x[i][e];
    return n;
}

/* Recorded at one point, evaluated at others, at one of them with a member that is NaN; against
 * the tape, by another order of the same sums and another way to factor. */
static void functions_are_the_tape_at_other_points(void **state) {
    (void)state;
    static numbers x;
    uint64_t seed = 41;
    wg_tape *const t = derived_tape();
    for (size_t f = 0; f < FAMILIES; f++) {
        const with_nan p = {&families[f], &x, 0};
        double at[DERIVED_MOST], v[DERIVED_MOST], y[2], g[2][DERIVED_MOST], h[2][DERIVED_MOST];
        wg_function *record, *grad, *hvp;
        draw(p.f, 3, 2, &x, &seed);
        const size_t n = flat(p.f, &x, at), own = x.rows[0] * x.cols[0];
        const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
        must(p.f, t,
             wg_function_record(t, sum_of_all, (void *)(uintptr_t)&p, 1, &in, at, 1, &out,
                                &record));
        must(p.f, t, wg_function_vjp(t, record, &grad));
        must(p.f, t, wg_function_hvp(t, record, &hvp));
        for (int point = 0; point < 3; point++) {
            const double one = 1;
            draw(p.f, 3, 2, &x, &seed);
            (void)flat(p.f, &x, at);
            for (size_t e = 0; e < n; e++) v[e] = walk_number(&seed);
            if (point == 2) at[own] = NAN;
            must(p.f, t,
                 wg_hvp(t, sum_of_all, (void *)(uintptr_t)&p, n, at, v, &y[0], g[0], h[0]));
            const wg_status s = evaluate(record, at, NULL, &y[1]);
            if (point == 2 && s == WG_EGUARD) continue; /* of a rank, which is compared */
            assert_int_equal(s, WG_OK);
            assert_int_equal(evaluate(grad, at, &one, g[1]), WG_OK);
            assert_int_equal(evaluate(hvp, at, v, h[1]), WG_OK);
            const double size = point == 2 ? 1 : fmax(1, derived_largest(n, h[0]));
            for (size_t e = 0; e < n; e++) {
                if (isnan(g[0][e])) assert_true(isnan(g[1][e]) && isnan(h[1][e]));
                else derived_near(p.f->name, "gradient", 1, &g[1][e], &g[0][e], NULL, size);
                if (point != 2)
                    derived_near(p.f->name, "Hessian along v", 1, &h[1][e], &h[0][e], NULL,
                                 size);
            }
            if (point == 2) assert_true(isnan(y[0]) && isnan(y[1]));
            else derived_near(p.f->name, "value", 1, &y[1], &y[0], NULL, size);
        }
        wg_function_free(record), wg_function_free(grad), wg_function_free(hvp);
    }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_each_of_its_members),
        cmocka_unit_test(a_member_that_is_nan_touches_no_other),
        cmocka_unit_test(systems_beside_one_with_a_nan_are_solved),
        cmocka_unit_test(second_derivatives_leave_a_system_out_that_nothing_depends_on),
        cmocka_unit_test(second_derivatives_beside_a_nan_are_those_of_the_others),
        cmocka_unit_test(a_degenerate_member_is_not_asked_where_nothing_depends_on_it),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(windows_are_the_blocks_of_columns_that_they_say),
        cmocka_unit_test(members_may_stand_in_a_view),
        cmocka_unit_test(a_batch_of_none_has_results_without_columns),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
        cmocka_unit_test(functions_are_the_tape_at_other_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
