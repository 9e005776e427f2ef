/* SPDX-License-Identifier: MIT */
/* test_ops_extreme.c - operations on matrices that factor, iterate or scale, at NaN, infinities
 * and numbers at the ends of the range, in every operand, in adjoints and in tangents: each
 * call comes back, and afterwards the tape gives what it gave before. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <wengert.h>
#include "tolerance.h"
#include "walk.h"

/* Results of a call, at most; elements of a matrix. */
enum { RESULTS = 3, OPERANDS = 5, ELEMENTS = 8192 };

/* One operation at order n; operands by letters:
 *   g general, s symmetric positive definite, of order n; h two of those, side by side
 *   t tall, (n + 2) by n;  w wide, n by (n + 2)
 *   b n by 2;  c n by 1;  u (n - 1) by 1;  d n by 3;  1 a number
 *   z three diagonals, 3 by n;  v the entries of a sparse tridiagonal matrix, 3 n - 2 by 1 */
struct operation {
    const char *name, *operands;
    size_t (*call)(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out);
};

static wg_mat number(wg_tape *t, wg_real x) { return wg_mat_gather(t, 1, 1, &x); }
static double squared(double x, const void *data) { return (void)data, x * x; }
static double twice(double x, const void *data) { return (void)data, 2 * x; }
static wg_csr tridiagonal(wg_tape *t, size_t n) {
    size_t start[ELEMENTS], col[ELEMENTS], e = 0;
    for (size_t i = 0; i < n; i++) {
        start[i] = e;
        for (size_t j = i > 0 ? i - 1 : 0; j < n && j <= i + 1; j++) col[e++] = j;
    }
    start[n] = e;
    return wg_csr_pattern(t, n, n, start, col);
}

#define CALL(id, results, ...)                                                                 \
    static size_t id(wg_tape *t, size_t n, const wg_mat *in, wg_mat *out) {                    \
        (void)n;                                                                               \
        __VA_ARGS__;                                                                           \
        return results;                                                                        \
    }
#define MATRIX(id, ...) CALL(id, 1, out[0] = __VA_ARGS__)
#define NUMBER(id, ...) CALL(id, 1, out[0] = number(t, __VA_ARGS__))

MATRIX(factor_solve, wg_factor_solve(t, wg_lu(t, in[0]), 'T', in[1]))
MATRIX(potrf_solve, wg_factor_solve(t, wg_potrf(t, in[0]), 'N', in[1]))
NUMBER(factor_logdet, wg_factor_logdet(t, wg_lu(t, in[0])))
NUMBER(factor_det, wg_factor_det(t, wg_lu(t, in[0])))
NUMBER(potrf_det, wg_factor_det(t, wg_potrf(t, in[0])))
MATRIX(factor_inverse, wg_factor_inverse(t, wg_lu(t, in[0])))
MATRIX(potrf_inverse, wg_factor_inverse(t, wg_potrf(t, in[0])))
MATRIX(solve, wg_solve(t, in[0], in[1]))
MATRIX(solve_spd, wg_solve_spd(t, in[0], in[1]))
MATRIX(solve_batch, wg_solve_batch(t, 2, in[0], in[1]))
MATRIX(solve_spd_batch, wg_solve_spd_batch(t, 2, in[0], in[1]))
NUMBER(logabsdet, wg_logabsdet(t, in[0], NULL))
NUMBER(logdet_spd, wg_logdet_spd(t, in[0]))
NUMBER(det, wg_det(t, in[0]))
MATRIX(inverse, wg_inverse(t, in[0]))
MATRIX(inverse_spd, wg_inverse_spd(t, in[0]))
MATRIX(cholesky, wg_cholesky(t, in[0]))
MATRIX(cholesky_batch, wg_cholesky_batch(t, 2, in[0]))
MATRIX(trsm, wg_trsm(t, 'L', 'U', 'T', 'N', 2, in[0], in[1]))
MATRIX(trsv, wg_trsv(t, 'L', 'N', 'N', in[0], in[1]))
MATRIX(trsm_batch, wg_trsm_batch(t, 2, 'R', 'L', 'N', 'N', 2, in[0], in[1]))
MATRIX(banded, wg_solve_banded(t, 1, 1, in[0], in[1]))
MATRIX(solve_tridiagonal, wg_solve_tridiagonal(t, in[0], in[1], in[2], in[3]))
MATRIX(lstsq, wg_lstsq(t, in[0], in[1]))
MATRIX(pinv, wg_pinv(t, in[0], -1))
CALL(qr, 2, (void)wg_qr(t, in[0], &out[0], &out[1]))
MATRIX(qr_q, wg_qr_q(t, in[0]))
MATRIX(qr_r, wg_qr_r(t, in[0]))
CALL(sparse_solve, 1, const wg_csr p = tridiagonal(t, n);
     out[0] = wg_sparse_solve(t, 'N', &p, in[0], in[1]))
CALL(sparse_spd_solve, 1, const wg_csr p = tridiagonal(t, n);
     out[0] = wg_sparse_spd_solve(t, &p, in[0], in[1]))
MATRIX(eigvalsh, wg_eigvalsh(t, in[0]))
CALL(eigh, 2, (void)wg_eigh(t, in[0], &out[0], &out[1]))
MATRIX(eigvalsh_general, wg_eigvalsh_general(t, in[0], in[1]))
CALL(eigh_general, 2, (void)wg_eigh_general(t, in[0], in[1], &out[0], &out[1]))
MATRIX(svdvals, wg_svdvals(t, in[0]))
CALL(svd, 3, (void)wg_svd(t, in[0], &out[0], &out[1], &out[2]))
NUMBER(norm_nuclear, wg_mat_norm_nuclear(t, in[0]))
NUMBER(norm_spectral, wg_mat_norm_spectral(t, in[0]))
MATRIX(symmetric_exp, wg_symmetric_exp(t, in[0]))
MATRIX(symmetric_log, wg_symmetric_log(t, in[0]))
MATRIX(symmetric_sqrt, wg_symmetric_sqrt(t, in[0]))
MATRIX(symmetric_inverse_sqrt, wg_symmetric_inverse_sqrt(t, in[0]))
MATRIX(symmetric_power, wg_symmetric_power(t, in[0], 1.5))
MATRIX(symmetric_apply,
       wg_symmetric_apply(t, in[0], (wg_symmetric_function){squared, twice, NULL, NULL}))
MATRIX(expm, wg_expm(t, in[0]))
MATRIX(powm, wg_powm(t, in[0], 5))
MATRIX(powm_of_inverse, wg_powm(t, in[0], -3))
MATRIX(powm_real, wg_powm_real(t, in[0], 0.3))
MATRIX(sqrtm, wg_sqrtm(t, in[0]))
MATRIX(logm, wg_logm(t, in[0]))
MATRIX(sylvester, wg_sylvester(t, in[0], in[1], in[2]))
MATRIX(lyapunov, wg_lyapunov(t, in[0], in[1]))
MATRIX(lyapunov_discrete, wg_lyapunov_discrete(t, in[0], in[1]))
NUMBER(mvn_logpdf, wg_mvn_logpdf(t, in[0], in[1], in[2]))
MATRIX(covariance, wg_covariance(t, WG_MATERN_52, in[0], in[1], wg_mat_at(in[2], 0, 0),
                                 wg_mat_at(in[3], 0, 0)))
MATRIX(covariance_between,
       wg_covariance_between(t, WG_MATERN_12, in[0], in[1], in[2], wg_mat_at(in[3], 0, 0)))
NUMBER(gp_logml, wg_gp_logml(t, WG_MATERN_32, in[0], in[1], in[2], wg_mat_at(in[3], 0, 0),
                             wg_mat_at(in[4], 0, 0)))
MATRIX(layer_norm, wg_mat_layer_norm(t, in[0], in[1], in[2], 0.125, WG_EACH_COL))
MATRIX(softmax, wg_mat_softmax(t, in[0], WG_EACH_COL))
MATRIX(log_softmax, wg_mat_log_softmax(t, in[0], WG_EACH_ROW))
MATRIX(logsumexp, wg_mat_logsumexp_axis(t, in[0], WG_EACH_COL))
MATRIX(cross_entropy_soft, wg_mat_cross_entropy_soft(t, in[0], in[1], WG_EACH_COL))
MATRIX(std_of, wg_mat_std_axis(t, in[0], 0, WG_EACH_COL))
MATRIX(norm_entries, wg_mat_norm_entries_axis(t, in[0], 3, WG_EACH_COL))

static const struct operation operations[] = {
    {"wg_lu, wg_factor_solve", "gb", factor_solve},
    {"wg_potrf, wg_factor_solve", "sb", potrf_solve},
    {"wg_factor_logdet", "g", factor_logdet},
    {"wg_lu, wg_factor_det", "g", factor_det},
    {"wg_potrf, wg_factor_det", "s", potrf_det},
    {"wg_lu, wg_factor_inverse", "g", factor_inverse},
    {"wg_potrf, wg_factor_inverse", "s", potrf_inverse},
    {"wg_solve", "gb", solve},
    {"wg_solve_spd", "sb", solve_spd},
    {"wg_solve_batch", "hb", solve_batch},
    {"wg_solve_spd_batch", "hb", solve_spd_batch},
    {"wg_logabsdet", "g", logabsdet},
    {"wg_logdet_spd", "s", logdet_spd},
    {"wg_det", "g", det},
    {"wg_inverse", "g", inverse},
    {"wg_inverse_spd", "s", inverse_spd},
    {"wg_cholesky", "s", cholesky},
    {"wg_cholesky_batch", "h", cholesky_batch},
    {"wg_trsm", "gb", trsm},
    {"wg_trsv", "gc", trsv},
    {"wg_trsm_batch", "hh", trsm_batch},
    {"wg_solve_banded", "zb", banded},
    {"wg_solve_tridiagonal", "ucub", solve_tridiagonal},
    {"wg_lstsq", "gb", lstsq},
    {"wg_pinv", "t", pinv},
    {"wg_pinv", "w", pinv},
    {"wg_qr", "t", qr},
    {"wg_qr", "w", qr},
    {"wg_qr_q", "g", qr_q},
    {"wg_qr_r", "g", qr_r},
    {"wg_sparse_solve", "vb", sparse_solve},
    {"wg_sparse_spd_solve", "vb", sparse_spd_solve},
    {"wg_eigvalsh", "s", eigvalsh},
    {"wg_eigh", "s", eigh},
    {"wg_eigvalsh_general", "ss", eigvalsh_general},
    {"wg_eigh_general", "ss", eigh_general},
    {"wg_svdvals", "t", svdvals},
    {"wg_svd", "t", svd},
    {"wg_svd", "g", svd},
    {"wg_svd", "w", svd},
    {"wg_mat_norm_nuclear", "g", norm_nuclear},
    {"wg_mat_norm_spectral", "g", norm_spectral},
    {"wg_symmetric_exp", "s", symmetric_exp},
    {"wg_symmetric_log", "s", symmetric_log},
    {"wg_symmetric_sqrt", "s", symmetric_sqrt},
    {"wg_symmetric_inverse_sqrt", "s", symmetric_inverse_sqrt},
    {"wg_symmetric_power", "s", symmetric_power},
    {"wg_symmetric_apply", "s", symmetric_apply},
    {"wg_expm", "g", expm},
    {"wg_powm", "g", powm},
    {"wg_powm", "g", powm_of_inverse},
    {"wg_powm_real", "s", powm_real},
    {"wg_sqrtm", "s", sqrtm},
    {"wg_logm", "s", logm},
    {"wg_sylvester", "sss", sylvester},
    {"wg_lyapunov", "sg", lyapunov},
    {"wg_lyapunov_discrete", "gg", lyapunov_discrete},
    {"wg_mvn_logpdf", "bcs", mvn_logpdf},
    {"wg_covariance", "d111", covariance},
    {"wg_covariance_between", "dd11", covariance_between},
    {"wg_gp_logml", "db111", gp_logml},
    {"wg_mat_layer_norm", "gcc", layer_norm},
    {"wg_mat_softmax", "g", softmax},
    {"wg_mat_log_softmax", "g", log_softmax},
    {"wg_mat_logsumexp", "g", logsumexp},
    {"wg_mat_cross_entropy_soft", "gs", cross_entropy_soft},
    {"wg_mat_std", "g", std_of},
    {"wg_mat_norm_entries", "g", norm_entries},
};
enum { CALLS = sizeof operations / sizeof *operations };

/* ---- one call ---- */

/* What is odd about a call: one element, or all of them, of an operand, of a result's adjoint
 * or of an operand's tangent; or an operand is multiplied by a number. */
enum place { NOWHERE, OPERAND, ADJOINT, TANGENT, SCALE };
static const char *const places[] = {"nothing", "operand", "the adjoint of result",
                                     "the tangent of operand", "the scale of operand"};
struct odd {
    enum place place;
    size_t which, element; /* element past the end: all of them */
    double number;
};

struct operand {
    size_t rows, cols;
    double value[ELEMENTS];
};

/* Numbers of moderate size; matrices well away from singular ones. */
static void fill(const struct operation *op, size_t which, size_t n, struct operand *a) {
    const char letter = op->operands[which];
    uint64_t seed = 5 + which;
    const size_t more = n + 2, entries = n > 0 ? 3 * n - 2 : 0;
    a->rows = letter == 't' ? more : letter == 'u' ? n - 1 : letter == 'z' ? 3 : n;
    a->cols = letter == 'w'                    ? more
              : letter == 'h'                  ? 2 * n
              : letter == 'b'                  ? 2
              : letter == 'd'                  ? 3
              : letter == 'c' || letter == 'u' ? 1
                                               : n;
    if (letter == 'v') a->rows = entries, a->cols = 1;
    if (letter == '1') a->rows = a->cols = 1;
    assert_true(a->rows * a->cols <= ELEMENTS);
    for (size_t i = 0; i < a->rows * a->cols; i++) a->value[i] = walk_number(&seed);
    const int square = strchr("gshtw", letter) != NULL;
    for (size_t j = 0; square && j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) {
            double *const e = &a->value[i + j * a->rows];
            const size_t l = j % n;
            if (letter == 's' || letter == 'h')
                *e = cos((double)((i + 1) * (l + 1) * (which + 1)));
            if (i == l) *e += 3 * (double)n;
        }
    if (letter == 'z')
        for (size_t j = 0; j < n; j++) a->value[1 + 3 * j] = 4;
    if (letter == 'v')
        for (size_t k = 0; k < entries; k++) a->value[k] = k % 3 == 0 ? 4 : 0.5;
    if (letter == '1') a->value[0] = 1.25;
    if (letter == 'c')
        for (size_t i = 0; i < n; i++) a->value[i] = 2 + fabs(a->value[i]);
}

static void make_odd(const struct odd *o, enum place place, size_t which, size_t n, double *a) {
    if (o->place != place || o->which != which) return;
    for (size_t i = 0; i < n; i++)
        if (i == o->element || o->element >= n)
            a[i] = place == SCALE ? a[i] * o->number : o->number;
}

/* The tape is plain, or a forward one. Sums of what came out, to compare bits with. */
static wg_status call_of(wg_tape *t, int forward, const struct operation *op, size_t n,
                         const struct odd *o, double sums[OPERANDS + 1]) {
    static struct operand a;
    static double w[ELEMENTS];
    const size_t operands = strlen(op->operands);
    wg_mat in[OPERANDS], out[RESULTS];
    wg_tape_reset(t);
    const wg_mark start = wg_tape_mark(t);
    for (size_t i = 0; i <= OPERANDS; i++) sums[i] = 0;
    if (forward) assert_int_equal(wg_tape_forward(t, 1), WG_OK);
    for (size_t i = 0; i < operands; i++) {
        fill(op, i, n, &a);
        make_odd(o, OPERAND, i, a.rows * a.cols, a.value);
        make_odd(o, SCALE, i, a.rows * a.cols, a.value);
        in[i] = wg_mat_input(t, a.rows, a.cols, a.value, a.rows != 0 ? a.rows : 1);
        if (!forward) continue;
        for (size_t e = 0; e < a.rows * a.cols; e++) w[e] = 1 / (double)(e + 1);
        make_odd(o, TANGENT, i, a.rows * a.cols, w);
        assert_int_equal(wg_mat_tangent_seed(t, in[i], 0, w, a.rows != 0 ? a.rows : 1), WG_OK);
    }
    const size_t results = op->call(t, n, in, out);
    if (wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    for (size_t k = 0; k < results; k++) {
        const size_t elements = out[k].rows * out[k].cols;
        const size_t ld = out[k].rows != 0 ? out[k].rows : 1;
        assert_true(elements <= ELEMENTS);
        assert_int_equal(
            (forward ? wg_mat_tangent(t, out[k], 0, w, ld) : wg_mat_value(t, out[k], w, ld)),
            WG_OK);
        for (size_t e = 0; e < elements; e++) sums[OPERANDS] += w[e];
    }
    if (forward) return WG_OK;
    assert_int_equal(wg_adjoints_clear(t), WG_OK);
    for (size_t k = 0; k < results; k++) {
        const size_t elements = out[k].rows * out[k].cols;
        for (size_t e = 0; e < elements; e++) w[e] = 1 / (double)(e + 1);
        make_odd(o, ADJOINT, k, elements, w);
        if (out[k].at.slot == 0) continue;
        assert_int_equal(wg_mat_adjoint_seed(t, out[k], w, out[k].rows), WG_OK);
    }
    const wg_status s = wg_sweep(t, wg_tape_mark(t), start);
    for (size_t i = 0; i < operands && s == WG_OK; i++) {
        assert_int_equal(wg_mat_adjoint(t, in[i], w, in[i].rows != 0 ? in[i].rows : 1), WG_OK);
        for (size_t e = 0; e < in[i].rows * in[i].cols; e++) sums[i] += w[e];
    }
    return s;
}

/* ---- all of them ---- */

/* What is being done, for who comes too late. */
static char now[256];
static void too_late(int signal_number) {
    (void)signal_number;
    if (write(2, now, strlen(now)) < 0) _exit(2);
    _exit(1);
}

/* Seconds of this process, however many others there are. 0: no longer. */
enum { SECONDS = 20 };
static void be_back_in(int seconds) {
    const struct itimerval time = {{0, 0}, {seconds, 0}};
    assert_int_equal(setitimer(ITIMER_PROF, &time, NULL), 0);
}

static const double odd_numbers[] = {NAN,    INFINITY, -INFINITY,    DBL_MAX,
                                     -1e300, 1e-300,   DBL_TRUE_MIN, 0};
enum { ODD_NUMBERS = sizeof odd_numbers / sizeof *odd_numbers };

static size_t calls_made;

static void try_odd(wg_tape *const t[2], const struct operation *op, size_t n, enum place place,
                    size_t which, size_t elements) {
    /* of many elements: some at the ends and between, and all of them */
    const size_t step = elements > 16 ? elements / 3 : 1;
    for (size_t k = 0; k < ODD_NUMBERS; k++)
        for (size_t e = place == SCALE ? elements : 0; e < elements + step; e += step) {
            const struct odd o = {place, which, e, odd_numbers[k]};
            double sums[OPERANDS + 1];
            snprintf(now, sizeof now,
                     "%s, operands %s of order %zu, %g in %s %zu, element %zu: %s\n", op->name,
                     op->operands, n, o.number, places[place], which, e, "did not come back");
            for (int forward = 0; forward < 2; forward++) {
                if (forward ? place == ADJOINT : place == TANGENT) continue;
                be_back_in(SECONDS);
                (void)call_of(t[forward], forward, op, n, &o, sums);
                calls_made++;
            }
            be_back_in(0);
        }
}

static void every_call_comes_back(void **state) {
    (void)state;
    static const size_t orders[] = {1, 2, 3, 4, 5, 7, 33};
    wg_tape *const t[2] = {wg_tape_new(NULL), wg_tape_new(NULL)};
    static struct operand a;
    assert_true(signal(SIGPROF, too_late) != SIG_ERR);
    for (size_t c = 0; c < CALLS; c++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            const struct operation *const op = &operations[c];
            const size_t n = orders[i];
            const struct odd none = {NOWHERE, 0, 0, 0};
            double before[2][OPERANDS + 1], after[2][OPERANDS + 1];
            /* a library without SuiteSparse refuses sparse systems */
            if (call_of(t[0], 0, op, n, &none, before[0]) == WG_EMODE) continue;
            for (int f = 0; f < 2; f++) {
                const wg_status s = call_of(t[f], f, op, n, &none, before[f]);
                if (s != WG_OK) fail_msg("%s, %zu: %s", op->name, n, wg_tape_message(t[f]));
            }
            for (size_t k = 0; op->operands[k] != 0; k++) {
                fill(op, k, n, &a);
                try_odd(t, op, n, OPERAND, k, a.rows * a.cols);
                try_odd(t, op, n, SCALE, k, a.rows * a.cols);
                try_odd(t, op, n, TANGENT, k, a.rows * a.cols);
            }
            for (size_t k = 0; k < RESULTS; k++) try_odd(t, op, n, ADJOINT, k, n * n);
            for (int f = 0; f < 2; f++) {
                assert_int_equal(call_of(t[f], f, op, n, &none, after[f]), WG_OK);
                assert_memory_equal(before[f], after[f], sizeof before[f]);
            }
        }
    wg_tape_free(t[0]);
    wg_tape_free(t[1]);
    assert_true(calls_made > 100000);
}

/* ---- batches ---- */

MATRIX(gemm_batch, wg_gemm_batch(t, 2, 'N', 'T', 2, in[0], in[1]))
static const struct operation batches[] = {{"wg_solve_batch", "hh", solve_batch},
                                           {"wg_solve_spd_batch", "hh", solve_spd_batch},
                                           {"wg_trsm_batch", "hh", trsm_batch},
                                           {"wg_cholesky_batch", "h", cholesky_batch},
                                           {"wg_gemm_batch", "hh", gemm_batch}};

/* The first member of a batch has a NaN, its adjoints and tangents are 0: what it gets and
 * gives is, and the second member is as it is beside any other. */
static void a_member_without_an_adjoint_has_no_gradient(void **state) {
    (void)state;
    enum { ORDER = 3, MEMBER = ORDER * ORDER, ALL = 2 * MEMBER };
    static struct operand a[2];
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t c = 0; c < sizeof batches / sizeof *batches; c++)
        for (size_t odd = 0; odd < strlen(batches[c].operands); odd++) {
            const size_t operands = strlen(batches[c].operands);
            double got[2][3][ALL];
            for (int round = 0; round < 4; round++) { /* honest or not, backwards or forwards */
                const int forward = round / 2, nan = round % 2;
                double w[ALL] = {0};
                wg_mat in[2], out;
                for (size_t e = MEMBER; e < ALL; e++) w[e] = 1 / (double)e;
                wg_tape_reset(t);
                assert_int_equal(wg_tape_forward(t, forward ? 1 : 0), WG_OK);
                for (size_t i = 0; i < operands; i++) {
                    fill(&batches[c], i, ORDER, &a[i]);
                    if (nan && i == odd) a[i].value[0] = NAN;
                    in[i] = wg_mat_input(t, ORDER, 2 * ORDER, a[i].value, ORDER);
                    if (forward)
                        assert_int_equal(wg_mat_tangent_seed(t, in[i], 0, w, ORDER), WG_OK);
                }
                assert_int_equal(batches[c].call(t, ORDER, in, &out), 1);
                assert_int_equal(wg_tape_status(t), WG_OK);
                if (forward)
                    assert_int_equal(wg_mat_tangent(t, out, 0, got[nan][2], ORDER), WG_OK);
                else assert_int_equal(wg_mat_reverse(t, out, w, ORDER), WG_OK);
                for (size_t i = 0; i < operands && !forward; i++)
                    assert_int_equal(wg_mat_adjoint(t, in[i], got[nan][i], ORDER), WG_OK);
            }
            for (size_t k = 0; k < 3; k++)
                for (size_t e = 0; e < ALL && (k < operands || k == 2); e++) {
                    if (e < MEMBER) assert_true(got[1][k][e] == 0);
                    else assert_true(got[1][k][e] == got[0][k][e]);
                }
        }
    wg_tape_free(t);
}

/* Matrices and adjoints of the size of `scale`: gradients go as they say, where products of
 * both would leave the range. */
static wg_status least_squares(wg_tape *t, const wg_mat *in, wg_mat *out) {
    *out = wg_lstsq(t, in[0], in[1]);
    return wg_tape_status(t);
}
static wg_status factor_q(wg_tape *t, const wg_mat *in, wg_mat *out) {
    *out = wg_qr_q(t, in[0]);
    return wg_tape_status(t);
}
static wg_status factor_r(wg_tape *t, const wg_mat *in, wg_mat *out) {
    *out = wg_qr_r(t, in[0]);
    return wg_tape_status(t);
}
static wg_status both_factors(wg_tape *t, const wg_mat *in, wg_mat *out) {
    wg_mat q;
    return wg_qr(t, in[0], &q, out);
}
static void gradients_go_with_the_size_of_a_matrix(void **state) {
    static const double numbers[15] = {1,    -2, 0.5,  3,    1.5, -0.25, 2, 1,
                                       -1.5, 4,  0.75, -0.5, 2.5, 1,     -3};
    static const struct {
        const char *name;
        wg_status (*call)(wg_tape *t, const wg_mat *in, wg_mat *out);
        double to, by; /* powers of the scale: of the adjoint given, and of the gradient */
    } calls[] = {{"least squares", least_squares, 0, -1},
                 {"Q", factor_q, 0, -1},
                 {"R", factor_r, 1, 1},
                 {"R beside Q", both_factors, 1, 1}};
    static const size_t shapes[][2] = {{5, 3}, {3, 3}, {3, 5}};
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const size_t m = shapes[k][0], n = shapes[k][1];
            static const double scales[] = {1, 0x1p600, 0x1p-600, 0x1p900, 0x1p-900};
            double plain[15], got[15], a[15], b[5], w[15], most = 0;
            for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
                const double scale = scales[s];
                wg_mat in[2], out;
                for (size_t i = 0; i < 15; i++) a[i] = numbers[i] * scale;
                for (size_t i = 0; i < 15; i++)
                    w[i] = ((double)(i % 4) - 1.25) * (calls[c].to == 1 ? scale : 1);
                for (size_t i = 0; i < 5; i++) b[i] = numbers[(7 * i + 3) % 15] * scale;
                wg_tape_reset(t);
                in[0] = wg_mat_input(t, m, n, a, m), in[1] = wg_mat_input(t, m, 1, b, m);
                assert_int_equal(calls[c].call(t, in, &out), WG_OK);
                assert_int_equal(wg_mat_reverse(t, out, w, out.rows), WG_OK);
                assert_int_equal(wg_mat_adjoint(t, in[0], s == 0 ? plain : got, m), WG_OK);
                for (size_t i = 0; i < 15 && s == 0; i++) most = fmax(most, fabs(plain[i]));
                for (size_t i = 0; i < m * n && s != 0; i++) {
                    got[i] *= calls[c].by == 1 ? 1 / scale : scale;
                    if (!(fabs(got[i] - plain[i]) <= TOL_SOLVED_TWICE * most))
                        fail_msg("%s, %zux%zu, scale %g: element %zu is %.17g, not %.17g",
                                 calls[c].name, m, n, scale, i, got[i], plain[i]);
                }
            }
        }
    wg_tape_free(t);
}

/* Each right-hand side has a size of its own, and so has its adjoint. */
static void right_hand_sides_of_other_sizes_have_gradients_beside_each_other(void **state) {
    static const double a[6] = {1, -2, 0.5, 3, 1.5, -0.25}, b[3] = {2, 1, -1.5},
                        w[3] = {0.75, -0.5, 2};
    static const int sizes[] = {0, 600, -600, 900, -900};
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t wide = 0; wide < 2; wide++)
        for (size_t s = 1; s < sizeof sizes / sizeof *sizes; s++) {
            const size_t m = wide ? 2 : 3, n = wide ? 3 : 2;
            double right[6], back[6], plain[6], got[6];
            for (size_t k = 0; k < 2; k++) { /* the second one is as it was each time */
                const int size = k == 0 ? sizes[s] : 0;
                for (size_t i = 0; i < m; i++)
                    right[i] = ldexp(b[i], size), right[i + m] = ldexp(b[2 - i], -size);
                for (size_t i = 0; i < n; i++)
                    back[i] = ldexp(w[i], -size), back[i + n] = ldexp(w[2 - i], size);
                wg_tape_reset(t);
                const wg_mat of = wg_mat_input(t, m, n, a, m);
                const wg_mat x = wg_lstsq(t, of, wg_mat_input(t, m, 2, right, m));
                assert_int_equal(wg_mat_reverse(t, x, back, n), WG_OK);
                assert_int_equal(wg_mat_adjoint(t, of, k == 0 ? got : plain, m), WG_OK);
            }
            for (size_t i = 0; i < 6; i++)
                if (!(fabs(got[i] - plain[i]) <= TOL_SOLVED_TWICE))
                    fail_msg("%zux%zu, size %d: element %zu is %.17g, not %.17g", m, n,
                             sizes[s], i, got[i], plain[i]);
        }
    wg_tape_free(t);
}

/* Of R adjoints and tangents go as what they come of, however large or small the matrix is. */
static void derivatives_of_r_are_as_large_as_what_they_come_of(void **state) {
    static const double numbers[6] = {1, -2, 0.5, 3, 1.5, -0.25},
                        along[6] = {0.75, -0.5, 2, 1, 1, 3};
    static const int sizes[][2] = {{0, 0}, {1000, 60}, {-1000, -60}, {1000, -60}, {-1000, 60}};
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t m = 1; m <= 3; m++)
        for (size_t with_q = 0; with_q < 2; with_q++) {
            const size_t n = 6 / m, p = m < n ? m : n;
            double plain[2][6], got[2][6], a[6], w[6];
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                wg_mat q, r;
                for (size_t i = 0; i < 6; i++)
                    a[i] = ldexp(numbers[i], sizes[s][0]), w[i] = ldexp(along[i], sizes[s][1]);
                for (size_t way = 0; way < 2; way++) {
                    double *const to = s == 0 ? plain[way] : got[way];
                    wg_tape_reset(t);
                    assert_int_equal(wg_tape_forward(t, way), WG_OK);
                    const wg_mat x = wg_mat_input(t, m, n, a, m);
                    for (size_t i = 0; i < 6 && way == 1; i++)
                        assert_int_equal(
                            wg_tangent_seed(t, wg_mat_at(x, i % m, i / m), 0, w[i]), WG_OK);
                    if (!with_q) r = wg_qr_r(t, x);
                    else assert_int_equal(wg_qr(t, x, &q, &r), WG_OK);
                    for (size_t i = 0; i < p * n && way == 1; i++)
                        to[i] = wg_tangent(t, wg_mat_at(r, i % p, i / p), 0);
                    if (way == 1) continue;
                    assert_int_equal(wg_mat_reverse(t, r, w, p), WG_OK);
                    assert_int_equal(wg_mat_adjoint(t, x, to, m), WG_OK);
                }
                for (size_t i = 0; i < 12 && s != 0; i++) {
                    const size_t way = i / 6, entries = way == 0 ? 6 : p * n;
                    if (i % 6 >= entries) continue;
                    const double d = ldexp(got[way][i % 6], -sizes[s][1]);
                    if (!(fabs(d - plain[way][i % 6]) <= TOL_SOLVED_TWICE))
                        fail_msg("%zux%zu, size %d, %s %zu: %.17g, not %.17g", m, n,
                                 sizes[s][0], way == 0 ? "gradient" : "tangent", i % 6, d,
                                 plain[way][i % 6]);
                }
            }
        }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_comes_back),
        cmocka_unit_test(a_member_without_an_adjoint_has_no_gradient),
        cmocka_unit_test(gradients_go_with_the_size_of_a_matrix),
        cmocka_unit_test(right_hand_sides_of_other_sizes_have_gradients_beside_each_other),
        cmocka_unit_test(derivatives_of_r_are_as_large_as_what_they_come_of)};
    return cmocka_run_group_tests_name("extreme numbers in operations on matrices", tests, NULL,
                                       NULL);
}
