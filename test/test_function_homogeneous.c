/* SPDX-License-Identifier: MIT */
/* test_function_homogeneous.c - operations of which operands times powers of two give results
 * times powers of two, exactly: so are their gradients, tangents and second derivatives, which
 * are oracle enough. On tapes, backwards, forwards and in second order, and as functions, which
 * are recorded at ordinary numbers; of operands, results and derivatives that stay in the range
 * of numbers, whatever would leave it on the way. Functions have second derivatives that go
 * through partials of the third degree: of those only smaller and larger numbers are tried that
 * leave these in it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "tolerance.h"
#include "walk.h"

enum { ORDER = 3, OPERANDS = 6, RESULTS = 4, NUMBERS = 160 };

/* Operands by letters:
 *   g general, s symmetric positive definite, of order n; h two of those, side by side
 *   t tall, (n + 2) by n;  w wide;  T (n + 2) by 2;  b n by 2;  c n by 1;  u (n - 1) by 1
 *   d n by 3;  1 a number;  z three diagonals, 3 by n;  v a sparse tridiagonal matrix, 3 n - 2
 * rule: the powers of two of operands, and behind the colon of results, as p and q say. `shift`:
 * values are not homogeneous, but their derivatives are. */
struct operation {
    const char *name, *operands, *rule;
    size_t (*call)(wg_tape *t, const wg_mat *in, wg_mat *out);
    int shift;
};

static wg_csr tridiagonal(wg_tape *t) {
    size_t start[ORDER + 1], col[3 * ORDER], e = 0;
    for (size_t i = 0; i < ORDER; i++) {
        start[i] = e;
        for (size_t j = i > 0 ? i - 1 : 0; j < ORDER && j <= i + 1; j++) col[e++] = j;
    }
    start[ORDER] = e;
    return wg_csr_pattern(t, ORDER, ORDER, start, col);
}

#define CALL(id, results, ...)                                                                 \
    static size_t id(wg_tape *t, const wg_mat *in, wg_mat *out) {                              \
        __VA_ARGS__;                                                                           \
        return results;                                                                        \
    }
#define MATRIX(id, ...) CALL(id, 1, out[0] = __VA_ARGS__)
#define NUMBER(id, ...) CALL(id, 1, out[0] = wg_mat_from_real(t, __VA_ARGS__))
#define AT(k) wg_mat_at(in[k], 0, 0)

MATRIX(solve, wg_solve(t, in[0], in[1]))
MATRIX(solve_spd, wg_solve_spd(t, in[0], in[1]))
MATRIX(solve_symmetric, wg_solve_symmetric(t, in[0], in[1]))
MATRIX(solve_batch, wg_solve_batch(t, 2, in[0], in[1]))
MATRIX(inverse, wg_inverse(t, in[0]))
MATRIX(inverse_spd, wg_inverse_spd(t, in[0]))
NUMBER(det, wg_det(t, in[0]))
NUMBER(logabsdet, wg_logabsdet(t, in[0], NULL))
NUMBER(logdet_spd, wg_logdet_spd(t, in[0]))
MATRIX(cholesky, wg_cholesky(t, in[0]))
MATRIX(trsm, wg_trsm(t, 'L', 'U', 'T', 'N', 2, in[0], in[1]))
MATRIX(banded, wg_solve_banded(t, 1, 1, in[0], in[1]))
MATRIX(toeplitz, wg_solve_toeplitz(t, in[0], in[1], in[2]))
MATRIX(circulant, wg_solve_circulant(t, in[0], in[1]))
CALL(sparse, 1, const wg_csr p = tridiagonal(t);
     out[0] = wg_sparse_solve(t, 'N', &p, in[0], in[1]))
CALL(sparse_spd, 1, const wg_csr p = tridiagonal(t);
     out[0] = wg_sparse_spd_solve(t, &p, in[0], in[1]))
MATRIX(lstsq, wg_lstsq(t, in[0], in[1]))
MATRIX(pinv, wg_pinv(t, in[0], -1))
CALL(qr, 2, (void)wg_qr(t, in[0], &out[0], &out[1]))
CALL(qr_pivoted, 2, (void)wg_qr_pivoted(t, in[0], &out[0], &out[1], NULL))
CALL(lu_factors, 2, (void)wg_lu_factors(t, in[0], &out[0], &out[1], NULL))
MATRIX(eigvalsh, wg_eigvalsh(t, in[0]))
CALL(eigh, 2, (void)wg_eigh(t, in[0], &out[0], &out[1]))
CALL(svd, 3, (void)wg_svd(t, in[0], &out[0], &out[1], &out[2]))
MATRIX(eigvalsh_general, wg_eigvalsh_general(t, in[0], in[1]))
CALL(eigvals, 2, (void)wg_eigvals(t, in[0], &out[0], &out[1]))
CALL(eig, 4, (void)wg_eig(t, in[0], &out[0], &out[1], &out[2], &out[3]))
CALL(polar, 2, (void)wg_polar(t, in[0], &out[0], &out[1]))
MATRIX(symmetric_sqrt, wg_symmetric_sqrt(t, in[0]))
MATRIX(logm, wg_logm(t, in[0]))
MATRIX(lyapunov, wg_lyapunov(t, in[0], in[1]))
MATRIX(powm, wg_powm(t, in[0], -2))
MATRIX(sqrtm, wg_sqrtm(t, in[0]))
MATRIX(sylvester, wg_sylvester(t, in[0], in[1], in[2]))
NUMBER(mvn, wg_mvn_logpdf(t, in[0], in[1], in[2]))
MATRIX(covariance_12, wg_covariance(t, WG_MATERN_12, in[0], in[1], AT(2), AT(3)))
MATRIX(covariance_52, wg_covariance(t, WG_MATERN_52, in[0], in[1], AT(2), AT(3)))
NUMBER(process_exponential,
       wg_gp_logml(t, WG_SQUARED_EXPONENTIAL, in[0], in[1], in[2], AT(3), AT(4)))
NUMBER(process_12, wg_gp_logml(t, WG_MATERN_12, in[0], in[1], in[2], AT(3), AT(4)))
NUMBER(process_32, wg_gp_logml(t, WG_MATERN_32, in[0], in[1], in[2], AT(3), AT(4)))
MATRIX(distances, wg_distances(t, in[0], in[1]))
MATRIX(layer_norm, wg_mat_layer_norm(t, in[0], in[1], in[2], 0, WG_EACH_COL))
MATRIX(std_of, wg_mat_std_axis(t, in[0], 0, WG_EACH_COL))
MATRIX(norm_2, wg_mat_norm_entries_axis(t, in[0], 2, WG_EACH_COL))
MATRIX(norm_3, wg_mat_norm_entries_axis(t, in[0], 3, WG_EACH_COL))
MATRIX(norm_of_half, wg_mat_norm_entries_axis(t, in[0], 1.5, WG_EACH_ROW))
MATRIX(matmul, wg_matmul(t, in[0], in[1]))

static const struct operation operations[] = {
    {"wg_solve", "gb", "p,q:q-p", solve, 0},
    {"wg_solve_spd", "sb", "p,q:q-p", solve_spd, 0},
    {"wg_solve_symmetric", "sb", "p,q:q-p", solve_symmetric, 0},
    {"wg_solve_batch", "hb", "p,q:q-p", solve_batch, 0},
    {"wg_inverse", "g", "p:-p", inverse, 0},
    {"wg_inverse_spd", "s", "p:-p", inverse_spd, 0},
    {"wg_det", "g", "p:3p", det, 0},
    {"wg_logabsdet", "g", "p:0", logabsdet, 1},
    {"wg_logdet_spd", "s", "p:0", logdet_spd, 1},
    {"wg_cholesky", "s", "2p:p", cholesky, 0},
    {"wg_trsm", "gb", "p,q:q-p", trsm, 0},
    {"wg_solve_banded", "zb", "p,q:q-p", banded, 0},
    {"wg_solve_toeplitz", "ccb", "p,p,q:q-p", toeplitz, 0},
    {"wg_solve_circulant", "cb", "p,q:q-p", circulant, 0},
    {"wg_sparse_solve", "vb", "p,q:q-p", sparse, 0},
    {"wg_sparse_spd_solve", "vb", "p,q:q-p", sparse_spd, 0},
    {"wg_lstsq", "tT", "p,q:q-p", lstsq, 0},
    {"wg_lstsq", "gb", "p,q:q-p", lstsq, 0},
    {"wg_lstsq", "wb", "p,q:q-p", lstsq, 0},
    {"wg_pinv", "t", "p:-p", pinv, 0},
    {"wg_pinv", "w", "p:-p", pinv, 0},
    {"wg_qr", "t", "p:0,p", qr, 0},
    {"wg_qr", "w", "p:0,p", qr, 0},
    {"wg_qr_pivoted", "t", "p:0,p", qr_pivoted, 0},
    {"wg_lu_factors", "g", "p:0,p", lu_factors, 0},
    {"wg_eigvalsh", "s", "p:p", eigvalsh, 0},
    {"wg_eigh", "s", "p:p,0", eigh, 0},
    {"wg_svd", "t", "p:0,p,0", svd, 0},
    {"wg_svd", "w", "p:0,p,0", svd, 0},
    {"wg_eigvalsh_general", "ss", "p,q:p-q", eigvalsh_general, 0},
    {"wg_eigvals", "g", "p:p,p", eigvals, 0},
    {"wg_eig", "g", "p:p,p,0,0", eig, 0},
    {"wg_polar", "t", "p:0,p", polar, 0},
    {"wg_symmetric_sqrt", "s", "2p:p", symmetric_sqrt, 0},
    {"wg_logm", "s", "p:0", logm, 1},
    {"wg_lyapunov", "ss", "p,q:q-p", lyapunov, 0},
    {"wg_powm", "g", "p:-2p", powm, 0},
    {"wg_sqrtm", "s", "2p:p", sqrtm, 0},
    {"wg_sylvester", "sss", "p,p,q:q-p", sylvester, 0},
    {"wg_mvn_logpdf", "ccs", "p,p,2p:0", mvn, 1},
    {"wg_covariance", "d111", "p,p,q,q:2q", covariance_12, 0},
    {"wg_covariance", "d111", "p,p,q,q:2q", covariance_52, 0},
    {"wg_gp_logml", "db111", "p,q,p,q,q:0", process_exponential, 1},
    {"wg_gp_logml", "db111", "p,q,p,q,q:0", process_12, 1},
    {"wg_gp_logml", "db111", "p,q,p,q,q:0", process_32, 1},
    {"wg_distances", "dd", "p,p:p", distances, 0},
    {"wg_mat_layer_norm", "gcc", "p,q,q:q", layer_norm, 0},
    {"wg_mat_std", "g", "p:p", std_of, 0},
    {"wg_mat_norm_entries", "g", "p:p", norm_2, 0},
    {"wg_mat_norm_entries", "g", "p:p", norm_3, 0},
    {"wg_mat_norm_entries", "g", "p:p", norm_of_half, 0},
    {"wg_matmul", "gg", "p,q:p+q", matmul, 0},
};

/* ---- operands ---- */

static void size_of(char letter, size_t *rows, size_t *cols) {
    const size_t n = ORDER;
    *rows = strchr("tT", letter) ? n + 2
            : letter == 'u'      ? n - 1
            : letter == 'v'      ? 3 * n - 2
            : letter == 'z'      ? 3
            : letter == '1'      ? 1
                                 : n;
    *cols = letter == 'w'            ? n + 2
            : letter == 'h'          ? 2 * n
            : strchr("Tb", letter)   ? 2
            : letter == 'd'          ? 3
            : strchr("cuv1", letter) ? 1
                                     : n;
}

/* Numbers of moderate size; matrices well away from singular ones. */
static void fill(char letter, size_t which, size_t rows, size_t cols, double *a) {
    uint64_t seed = 5 + which;
    for (size_t i = 0; i < rows * cols; i++) a[i] = walk_number(&seed);
    for (size_t j = 0; strchr("gshtw", letter) != NULL && j < cols; j++)
        for (size_t i = 0; i < rows; i++) {
            const size_t l = j % rows;
            if (letter == 's' || letter == 'h')
                a[i + j * rows] = 0.5 * cos((double)((i + 1) * (l + 1) * (which + 1)));
            if (i == l) a[i + j * rows] += 4 + 1.75 * (double)i;
        }
    for (size_t j = 0; letter == 'z' && j < cols; j++) a[1 + 3 * j] = 4;
    for (size_t k = 0; letter == 'v' && k < rows; k++) a[k] = k % 3 == 0 ? 4 : 0.5;
    if (letter == '1') a[0] = 1.25 + 0.5 * (double)which;
    if (letter == 'c') a[0] += which == 0 ? 7 : 1;
}

/* A term of a rule: p, q, 3p, -p, q-p, 0. */
static int power_of(const char *rule, size_t term, int p, int q) {
    int sum = 0;
    for (; term > 0; term--) rule = strpbrk(rule, ",:") + 1;
    for (int sign = 1, times = 1; *rule != 0 && *rule != ',' && *rule != ':'; rule++)
        if (*rule == '-') sign = -1;
        else if (*rule == '+') sign = 1;
        else if (*rule == 'p' || *rule == 'q') {
            sum += sign * times * (*rule == 'p' ? p : q);
            sign = times = 1;
        } else times = *rule - '0';
    return sum;
}

/* ---- what is differentiated: the sum of all results by weights, which are inputs, too ---- */

static const struct operation *now;
static size_t count, group[NUMBERS], operands, results;

static wg_status weighted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    wg_mat in[OPERANDS], out[RESULTS];
    (void)n, (void)m, (void)data;
    for (size_t k = 0; k < operands; k++) {
        size_t rows, cols;
        size_of(now->operands[k], &rows, &cols);
        in[k] = wg_mat_gather(t, rows, cols, x);
        x += rows * cols;
    }
    results = now->call(t, in, out);
    wg_real sum = wg_constant(0);
    for (size_t k = 0; k < results && wg_tape_status(t) == WG_OK; k++) {
        const size_t size = out[k].rows * out[k].cols;
        if (y == NULL) /* of how many numbers they are */
            for (size_t i = 0; i < size; i++) group[count++] = operands + k;
        else
            sum = wg_let(
                t, wg_add(sum, wg_mat_dot(t, out[k],
                                          wg_mat_gather(t, out[k].rows, out[k].cols, x))));
        x += size;
    }
    if (y != NULL) y[0] = sum;
    return wg_tape_status(t);
}

/* Value and tangent, gradient, Hessian times tangents. */
struct derivatives {
    double value, along, gradient[NUMBERS], product[NUMBERS];
};
enum { BACKWARD, FORWARD, SECOND, FUNCTION, MODES, THIRD = 300 };
static const char *const modes[MODES] = {"gradient", "tangent", "product", "function"};

static wg_tape *plain, *code;

static wg_function *all_of(const double *x) {
    const wg_argument in = {"x", count, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f, *g, *h, *j, *all;
    assert_int_equal(wg_function_record(code, weighted, NULL, 1, &in, x, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_gradient(code, f, &g), WG_OK);
    assert_int_equal(wg_function_hvp(code, f, &h), WG_OK);
    assert_int_equal(wg_function_jvp(code, f, &j), WG_OK);
    const wg_function *const parts[] = {f, g, h, j};
    assert_int_equal(wg_function_join(code, 4, parts, &all), WG_OK);
    wg_function_free(f), wg_function_free(g), wg_function_free(h), wg_function_free(j);
    return all;
}

static wg_status run(int mode, const wg_function *f, const double *x, const double *v,
                     struct derivatives *d) {
    if (mode == BACKWARD)
        return wg_gradient(plain, weighted, NULL, count, x, &d->value, d->gradient);
    if (mode == FORWARD)
        return wg_jvp(plain, weighted, NULL, count, x, v, 1, &d->value, &d->along);
    if (mode == SECOND)
        return wg_hvp(code, weighted, NULL, count, x, v, &d->value, d->gradient, d->product);
    const wg_points points[2] = {{x, 0, 1}, {v, 0, 1}};
    const wg_results to[4] = {
        {&d->value, 0, 1}, {d->gradient, 0, 1}, {d->product, 0, 1}, {&d->along, 0, 1}};
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, 1, points, to, NULL, work, NULL);
    free(work);
    return s;
}

/* ---- all of them ---- */

static int bad;
static void compare(int mode, const char *what, int p, int q, double got, double want,
                    double size) {
    if (fabs(got - want) <= TOL_HOMOGENEOUS * size) return;
    if (bad++ < 20)
        print_error("%s of %s, %s, %s at p = %d, q = %d: %.17g, not %.17g\n", now->name,
                    now->operands, modes[mode], what, p, q, got, want);
}

static void compare_all(int mode, int p, int q, const struct derivatives *got,
                        const struct derivatives *want, const int *power, int of_sum) {
    const double *const a[2] = {got->gradient, got->product}, *const b[2] = {want->gradient,
                                                                             want->product};
    if (!now->shift)
        compare(mode, "value", p, q, ldexp(got->value, -of_sum), want->value,
                1 + fabs(want->value));
    if (mode == FORWARD || mode == FUNCTION)
        compare(mode, "tangent", p, q, ldexp(got->along, -of_sum), want->along,
                1 + fabs(want->along));
    for (int k = 0; k < 2; k++) {
        double most[OPERANDS + RESULTS] = {0};
        if (mode == FORWARD || (k == 1 && mode == BACKWARD)) continue;
        if (k == 1 && mode == FUNCTION && abs(p) + abs(q) > THIRD) continue;
        for (size_t i = 0; i < count; i++) most[group[i]] = fmax(most[group[i]], fabs(b[k][i]));
        for (size_t i = 0; i < count; i++) /* by a weight: the value */
            if (k == 1 || !now->shift || group[i] < operands)
                compare(mode, k == 0 ? "gradient" : "product", p, q,
                        ldexp(a[k][i], power[i] - of_sum), b[k][i], most[group[i]]);
    }
}

static void try_operation(void) {
    static const int powers[] = {0, -800, -700, -600, -530, -300, 300, 530, 600, 700, 800};
    enum { POWERS = sizeof powers / sizeof *powers, MOST = 900 };
    static struct derivatives want[MODES], got;
    double x[NUMBERS], v[NUMBERS], at[NUMBERS], along[NUMBERS];
    wg_real start[NUMBERS];
    int power[NUMBERS];
    uint64_t seed = 7;
    operands = strlen(now->operands), count = 0;
    for (size_t k = 0; k < operands; k++) {
        size_t rows, cols;
        size_of(now->operands[k], &rows, &cols);
        assert_true(count + rows * cols <= NUMBERS);
        fill(now->operands[k], k, rows, cols, x + count);
        for (size_t i = 0; i < rows * cols; i++) group[count++] = k;
    }
    wg_tape_reset(plain);
    assert_int_equal(wg_inputs(plain, count, x, start), WG_OK);
    const size_t before = count;
    assert_int_equal(weighted(plain, count, start, 0, NULL, NULL), WG_OK);
    for (size_t i = before; i < count; i++) x[i] = walk_number(&seed);
    for (size_t i = 0; i < count; i++)
        v[i] = now->shift && i >= before ? 0 : walk_number(&seed);
    wg_function *const f = all_of(x);
    for (int mode = 0; mode < MODES; mode++)
        assert_int_equal(run(mode, f, x, v, &want[mode]), WG_OK);
    for (size_t e = 0; e < (size_t)POWERS * POWERS; e++) {
        const int p = powers[e % POWERS], q = powers[e / POWERS];
        const int twice = strchr(now->rule, 'q') == NULL;
        const int of_sum = power_of(now->rule, operands, p, q);
        int inside = !(twice && q != 0);
        for (size_t i = 0; i < count; i++) {
            const int own = power_of(now->rule, group[i], p, q);
            power[i] = group[i] < operands ? own : of_sum - own;
            inside &= abs(own) <= MOST && abs(power[i]) <= MOST && abs(of_sum - own) <= MOST;
            at[i] = ldexp(x[i], power[i]), along[i] = ldexp(v[i], power[i]);
        }
        for (int mode = 0; mode < MODES && inside && abs(of_sum) <= MOST; mode++) {
            assert_int_equal(run(mode, f, at, along, &got), WG_OK);
            compare_all(mode, p, q, &got, &want[mode], power, of_sum);
        }
    }
    wg_function_free(f);
}

static void derivatives_of_homogeneous_operations_are_homogeneous(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        now = &operations[k];
        try_operation();
    }
    assert_int_equal(bad, 0);
}

static int open_tapes(void **state) {
    (void)state;
    plain = wg_tape_new(NULL);
    code = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    return plain == NULL || code == NULL;
}
static int close_tapes(void **state) {
    (void)state;
    wg_tape_free(plain), wg_tape_free(code);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_homogeneous_operations_are_homogeneous),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
