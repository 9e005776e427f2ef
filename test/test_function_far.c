/* SPDX-License-Identifier: MIT */
/* test_function_far.c - functions with systems of equations and determinants, recorded at one
 * point and evaluated at others, where other pivots are needed. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "far_case.h"

/* ---- what is recorded: a matrix of order n, and what the letter says ---- */

typedef struct spec {
    char what;
    size_t n, k; /* order; right-hand sides, or diagonals on each side */
} spec;

static wg_mat matrix(wg_tape *t, const wg_real **x, size_t rows, size_t cols) {
    const wg_mat a = wg_mat_gather(t, rows, cols, *x);
    *x += rows * cols;
    return a;
}

static wg_status record(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const spec *const s = data;
    (void)n;
    wg_mat r = wg_mat_failed(0, 0);
    if (s->what == 'c') { /* a diagonal, and what is above and below it; cyclic */
        size_t start[8], col[24], k = 0;
        for (size_t i = 0; i <= s->n; i++) start[i] = 3 * i;
        for (size_t i = 0; i < s->n; i++)
            for (size_t j = 0; j < 3; j++) col[k++] = (i + s->n - 1 + j) % s->n;
        const wg_csr pattern = wg_csr_pattern(t, s->n, s->n, start, col);
        const wg_mat values = matrix(t, &x, 3 * s->n, 1);
        r = wg_sparse_solve(t, 'N', &pattern, values, matrix(t, &x, s->n, 1));
    } else if (s->what == 't') {
        const wg_mat low = matrix(t, &x, s->n - 1, 1), mid = matrix(t, &x, s->n, 1);
        const wg_mat up = matrix(t, &x, s->n - 1, 1), right = matrix(t, &x, s->n, 1);
        r = wg_solve_tridiagonal(t, low, mid, up, right);
    } else if (s->what == 'b') {
        const wg_mat a = matrix(t, &x, 2 * s->k + 1, s->n), right = matrix(t, &x, s->n, 1);
        r = wg_solve_banded(t, s->k, s->k, a, right);
    } else {
        const wg_mat a = matrix(t, &x, s->n, s->n);
        const wg_mat right = matrix(t, &x, s->n, s->k);
        double sign = 0;
        switch (s->what) {
        case 'i':
            r = wg_inverse(t, a);
            break;
        case 'm':
            r = wg_powm(t, a, -1);
            break;
        case 's':
            r = wg_solve(t, a, right);
            break;
        case 'T':
            r = wg_factor_solve(t, wg_lu(t, a), 'T', right);
            break;
        case 'd':
            y[0] = wg_det(t, a);
            return WG_OK;
        default:
            y[0] = wg_logabsdet(t, a, &sign);
            return WG_OK;
        }
    }
    for (size_t j = 0; j < r.cols; j++)
        for (size_t i = 0; i < r.rows; i++, m--) {
            if (m == 0) return WG_ESHAPE;
            *y++ = wg_mat_at(r, i, j);
        }
    return m == 0 ? WG_OK : WG_ESHAPE;
}

/* ---- matrices ---- */

typedef enum {
    NO_FIRST_PIVOT, /* 0 at the beginning */
    TINY_PIVOTS,    /* 1e-300 on the diagonal */
    REVERSED,       /* the largest numbers on the other diagonal */
    PERMUTED,       /* of zeros and ones */
    TIES,           /* all of one size */
    LARGE,
    SMALL,
    FEW, /* every third number is 0 */
    RANDOM,
    EQUAL, /* from here on singular */
    NO_COLUMN,
    NO_ROW,
    KINDS
} kind;

static void fill(size_t n, kind what, double *a) {
    for (size_t e = 0; e < n * n; e++) {
        const size_t i = e % n, j = e / n;
        const double x = uniform(-1, 1);
        switch (what) {
        case NO_FIRST_PIVOT:
            a[e] = e == 0 ? 0 : x;
            break;
        case TINY_PIVOTS:
            a[e] = i == j ? 1e-300 : x;
            break;
        case REVERSED:
            a[e] = x + (i + j + 1 == n ? 4 : 0);
            break;
        case PERMUTED:
            a[e] = (i + 1) % n == j;
            break;
        case TIES:
            a[e] = i <= j ? 1 : -1;
            break;
        case LARGE:
            a[e] = 1e100 * (x + (i + j + 1 == n ? 4 : 0));
            break;
        case SMALL:
            a[e] = 1e-100 * (x + (i + j + 1 == n ? 4 : 0));
            break;
        case FEW:
            a[e] = e % 3 == 0 && (i + 1) % n != j ? 0 : x + ((i + 1) % n == j ? 2 : 0);
            break;
        case EQUAL:
            a[e] = 1;
            break;
        case NO_COLUMN:
            a[e] = j == n / 2 ? 0 : x;
            break;
        case NO_ROW:
            a[e] = i == n / 2 ? 0 : x;
            break;
        default:
            a[e] = x + (i == j ? 2 : 0);
        }
    }
}

/* Recorded where the diagonal is heavy. */
static far_case *case_of(const char *name, const spec *s, size_t m, kind last) {
    static far_case c;
    memset(&c, 0, sizeof c);
    c.name = name, c.f = record, c.data = s;
    c.n = s->n * s->n + s->n * s->k, c.m = m;
    for (size_t p = 0; p <= (size_t)last + 1; p++) {
        double *const x = p == 0 ? c.at : c.x + (p - 1) * c.n;
        for (size_t e = 0; e < c.n; e++) x[e] = uniform(-1, 1);
        if (p != 0) fill(s->n, (kind)(p - 1), x);
        else
            for (size_t i = 0; i < s->n; i++) x[i * (s->n + 1)] += 4;
    }
    c.points = (size_t)last + 1;
    return &c;
}

/* ---- tests ---- */

static void inverses_are_those_of_the_point(void **state) {
    (void)state;
    for (size_t n = 1; n <= 5; n++) {
        const spec s = {n % 2 == 0 ? 'i' : 'm', n, 0};
        far_case *const c = case_of("inverse", &s, n * n, NO_ROW);
        if (n == 1) c->points = 1, c->x[0] = -3;
        const size_t good = far_check(c, n == 3  ? FAR_COMPILED | FAR_CURVED
                                         : n < 3 ? FAR_CURVED
                                                 : 0);
        assert_int_equal(good, n == 1 ? 1 : EQUAL);
    }
}

static void solutions_are_those_of_the_point(void **state) {
    (void)state;
    for (size_t n = 2; n <= 6; n++) {
        const spec s = {n % 2 == 0 ? 's' : 'T', n, n == 3 ? 2 : 1};
        far_case *const c = case_of("solve", &s, n * s.k, NO_ROW);
        assert_int_equal(far_check(c, n == 3   ? FAR_COMPILED | FAR_CURVED
                                      : n == 4 ? FAR_CURVED
                                               : 0),
                         EQUAL);
    }
}

/* What has logarithms is refused where it is singular; a determinant is not. */
static void determinants_are_those_of_the_point(void **state) {
    (void)state;
    for (size_t n = 2; n <= 7; n++)
        for (int log = 0; log < 2; log++) {
            const spec s = {log ? 'l' : 'd', n, 0};
            far_case *const c = case_of(log ? "logabsdet" : "det", &s, 1, NO_ROW);
            c->whole = !log && n > 4;
            const unsigned ways = n == 4 ? FAR_COMPILED | FAR_CURVED : n < 7 ? FAR_CURVED : 0;
            for (size_t e = 0; e < c->n && !log; e++) { /* within the range of numbers */
                c->x[LARGE * c->n + e] *= 1e-60;
                c->x[SMALL * c->n + e] *= 1e60;
            }
            assert_int_equal(far_check(c, ways), log ? EQUAL : KINDS);
        }
}

/* Order 20, and 25 with a third of zeros: what complete pivots of the recording make NaN. */
static void large_determinants_are_those_of_the_point(void **state) {
    (void)state;
    for (size_t n = 20; n <= 25; n += 5) {
        const spec s = {'d', n, 0};
        far_case *const c = case_of("det", &s, 1, NO_ROW);
        c->whole = 1;
        for (size_t e = 0; e < c->n; e++) /* of the last two kinds, of a lower rank still */
            if (e % 3 == 0 && n == 25) c->x[RANDOM * c->n + e] = 0;
        assert_int_equal(far_check(c, n == 20 ? FAR_COMPILED : 0), KINDS);
    }
}

/* Tridiagonal and banded systems with pivots of 0 and of next to nothing. */
static void banded_systems_have_pivots_of_the_point(void **state) {
    static far_case c;
    (void)state;
    for (int tridiagonal = 0; tridiagonal < 2; tridiagonal++)
        for (size_t n = 5; n <= 40; n += 35) {
            const spec s = {tridiagonal ? 't' : 'b', n, 2};
            memset(&c, 0, sizeof c);
            c.name = tridiagonal ? "tridiagonal" : "banded";
            c.f = record, c.data = &s, c.m = n, c.points = 4;
            c.n = tridiagonal ? 4 * n - 2 : 6 * n;
            for (size_t p = 0; p <= c.points; p++) {
                double *const x = p == 0 ? c.at : c.x + (p - 1) * c.n;
                double *const middle = tridiagonal ? x + n - 1 : x + 2;
                const size_t step = tridiagonal ? 1 : 5;
                for (size_t e = 0; e < c.n; e++) x[e] = uniform(-1, 1);
                for (size_t i = 0; i < n; i++)
                    if (p == 0) middle[i * step] += 4;
                    else if (p < 4) middle[i * step] *= p == 1 ? 1e-12 : p == 2 ? 0 : 1e-300;
                if (p == 2 || p == 3)
                    middle[0] = 1; /* of odd order, and all 0, it is singular */
            }
            assert_int_equal(far_check(&c, n == 5 ? FAR_COMPILED | FAR_CURVED : 0), 4);
        }
}

/* The order of rows and columns of a sparse system is kept: where it does not serve that is
 * said. */
static void sparse_systems_are_right_or_refused(void **state) {
    enum { N = 6, ENTRIES = 4 * N, POINTS_OF_IT = 64 };
    static far_case c;
    static const spec s = {'c', N, 0};
    size_t good = 0, refused = 0;
    double y[N], got[N], jac[N * ENTRIES], slopes[N * ENTRIES];
    wg_function *f = NULL, *jacobian = NULL;
    (void)state;
    memset(&c, 0, sizeof c);
    c.name = "sparse", c.f = record, c.data = &s, c.n = ENTRIES, c.m = N;
    for (size_t e = 0; e < ENTRIES; e++)
        c.at[e] = uniform(-1, 1) + (e < 3 * N && e % 3 == 1 ? 4 : 0);
    if (far_truth(&c, c.at, y, jac) == WG_EMODE) return; /* built without SuiteSparse */
    far_must(&c, far_record(&c, c.at, &f));
    far_must(&c, wg_function_jacobian(far_tape, f, &jacobian));
    for (size_t p = 0; p < POINTS_OF_IT; p++) {
        double x[ENTRIES];
        const double size = p % 4 == 0 ? 4 : p % 4 == 1 ? 1e-12 : p % 4 == 2 ? 0 : 1;
        for (size_t e = 0; e < ENTRIES; e++) {
            x[e] = uniform(-1, 1);
            if (e < 3 * N && e % 3 == 1) x[e] = size * (p % 4 == 0 ? 1 + x[e] / 8 : x[e]);
        }
        const wg_status truth = far_truth(&c, x, y, jac), is = far_evaluate(f, 1, x, NULL, got);
        assert_int_equal(far_evaluate(jacobian, 1, x, NULL, slopes), is);
        refused += is == WG_EGUARD;
        if (is == WG_EGUARD) continue;
        far_must(&c, is);
        far_must(&c, truth);
        far_compare(&c, "value", p, N, got, y);
        far_compare(&c, "slope", p, N * ENTRIES, slopes, jac);
        good++;
    }
    assert_true(good >= POINTS_OF_IT / 4 && refused >= POINTS_OF_IT / 4);
    wg_function_free(jacobian);
    wg_function_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverses_are_those_of_the_point),
        cmocka_unit_test(solutions_are_those_of_the_point),
        cmocka_unit_test(determinants_are_those_of_the_point),
        cmocka_unit_test(large_determinants_are_those_of_the_point),
        cmocka_unit_test(banded_systems_have_pivots_of_the_point),
        cmocka_unit_test(sparse_systems_are_right_or_refused),
    };
    return cmocka_run_group_tests(tests, far_open, far_close);
}
