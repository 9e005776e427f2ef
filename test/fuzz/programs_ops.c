/* SPDX-License-Identifier: MIT */
/* programs_ops.c - the operations of programs: how each is recorded, and what fits; what each
 * is in the toy stands in programs_toys.h. */
#include <math.h>
#include <string.h>
#include <wengert/operation.h>
#include "programs_toys.h"

/* ---- scalar operations ---- */

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "Bergstra 2009")
WG_OPERATION2(ratio, a / (1 + b * b), 1 / (1 + b * b), -2 * a * b / ((1 + b * b) * (1 + b * b)),
              0, -2 * b / ((1 + b * b) * (1 + b * b)),
              a *(6 * b * b - 2) / ((1 + b * b) * (1 + b * b) * (1 + b * b)), ARITH,
              "quotient rule")

const wg_scalar_op *const program_user_operations[PROGRAM_USER_OPERATIONS] = {
    &wgi_user_softsign, &wgi_user_ratio};

#define ARGS                                                                                   \
    wg_tape *t, const struct program_case *c, const struct program_step *s, const wg_mat *x

/* The operand's element for element (i, j) of the result: stretched where it has length 1. */
static wg_real element(wg_mat a, size_t i, size_t j) {
    return wg_mat_at(a, a.rows == 1 ? 0 : i, a.cols == 1 ? 0 : j);
}

/* Statement by statement. */
static wg_mat each_scalar(wg_tape *t, const struct program_step *s, const wg_mat *x,
                          const wg_scalar_op *op) {
    wg_real y[PROGRAM_ENTRIES], a[PROGRAM_OPERANDS];
    size_t rows = 1, cols = 1;
    for (size_t k = 0; k < s->operands; k++) {
        if (x[k].rows != 1) rows = x[k].rows;
        if (x[k].cols != 1) cols = x[k].cols;
    }
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) {
            for (size_t k = 0; k < s->operands; k++) a[k] = element(x[k], i, j);
            y[i + rows * j] = wg_apply_scalar(t, op, a);
        }
    return wg_mat_gather(t, rows, cols, y);
}
static wg_mat each_user(ARGS) {
    (void)c;
    return each_scalar(t, s, x, program_user_operations[s->operands - 1]);
}

/* whole 1: statement by statement; otherwise as an operation on matrices. */
#define EACH(name, ...)                                                                        \
    static wg_mat each_##name(ARGS) {                                                          \
        (void)c;                                                                               \
        if (s->whole[0] == 1) return each_scalar(t, s, x, &wgi_scalar_ops[WGI_OP_##name]);     \
        return (wg_mat_##name)(t, __VA_ARGS__);                                                \
    }
#define OP1(name, ...) EACH(name, x[0])
#define OP2(name, ...) EACH(name, x[0], x[1])
#define OP3(name, ...) EACH(name, x[0], x[1], x[2])
#define OP4(name, ...) EACH(name, x[0], x[1], x[2], x[3])
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* ---- a block of one's own: y = x^3, element by element ---- */

static wg_status cubes_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status cubes_value(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->out[0];
    for (size_t j = 0; j < x->cols; j++)
        for (size_t i = 0; i < x->rows; i++) {
            const double a = x->value[i + j * x->ld];
            y->value[i + j * y->ld] = a * a * a;
        }
    return WG_OK;
}
static wg_status cubes_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->out[0];
    for (size_t j = 0; j < x->cols; j++)
        for (size_t i = 0; i < x->rows; i++) {
            const double a = x->value[i + j * x->ld], w = y->bar[i + j * y->bar_ld];
            if (w != 0 && a != 0) x->bar[i + j * x->bar_ld] += 3 * a * a * w;
        }
    return WG_OK;
}
static wg_status cubes_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    for (size_t i = 0; i < b->in[0].rows * b->in[0].cols; i++) y[i] = wg_let(t, wg_cube(x[i]));
    return WG_OK;
}
static const wg_block_op cubes = {.name = "cubes",
                                  .flags = WG_OP_EACH,
                                  .shape = cubes_shape,
                                  .value = cubes_value,
                                  .vjp = cubes_vjp};
static const wg_block_op cubes_expanded = {.name = "cubes_expanded",
                                           .flags = WG_OP_EACH | WG_OP_EXPANDS,
                                           .shape = cubes_shape,
                                           .value = cubes_value,
                                           .vjp = cubes_vjp,
                                           .expand = cubes_expand};

/* ---- recording ---- */

static wg_mat one(wg_tape *t, wg_real y) { return wg_mat_gather(t, 1, 1, &y); }

#define RECORD(name, ...)                                                                      \
    static wg_mat record_##name(ARGS) {                                                        \
        (void)c, (void)s, (void)t;                                                             \
        __VA_ARGS__                                                                            \
    }
#define BIT(k, yes, no) (s->whole[0] >> (k)&1 ? (yes) : (no))
#define AXIS ((wg_axis)s->whole[0])
#define REDUCED(name, of_all, of_lines)                                                        \
    RECORD(name, return s->whole[0] == WG_ALL ? one(t, of_all) : of_lines;)

RECORD(cubes, wg_mat y; (void)wg_apply(t, &cubes, NULL, 0, 1, x, 1, &y); return y;)
RECORD(cubes_expanded, wg_mat y; (void)wg_apply(t, &cubes_expanded, NULL, 0, 1, x, 1, &y);
       return y;)

REDUCED(sum, wg_mat_sum(t, x[0]), wg_mat_sum_axis(t, x[0], AXIS))
REDUCED(mean, wg_mat_mean(t, x[0]), wg_mat_mean_axis(t, x[0], AXIS))
REDUCED(var, wg_mat_var(t, x[0], s->number[0]), wg_mat_var_axis(t, x[0], s->number[0], AXIS))
REDUCED(std, wg_mat_std(t, x[0], s->number[0]), wg_mat_std_axis(t, x[0], s->number[0], AXIS))
REDUCED(prod, wg_mat_prod(t, x[0]), wg_mat_prod_axis(t, x[0], AXIS))
REDUCED(max, wg_mat_max(t, x[0]), wg_mat_max_axis(t, x[0], AXIS))
REDUCED(min, wg_mat_min(t, x[0]), wg_mat_min_axis(t, x[0], AXIS))
REDUCED(norm_entries, wg_mat_norm_entries(t, x[0], s->number[0]),
        wg_mat_norm_entries_axis(t, x[0], s->number[0], AXIS))
REDUCED(logsumexp, wg_mat_logsumexp(t, x[0]), wg_mat_logsumexp_axis(t, x[0], AXIS))
RECORD(cumsum, return wg_mat_cumsum(t, x[0], AXIS);)
RECORD(cumprod, return wg_mat_cumprod(t, x[0], AXIS);)
RECORD(softmax, return wg_mat_softmax(t, x[0], AXIS);)
RECORD(log_softmax, return wg_mat_log_softmax(t, x[0], AXIS);)
RECORD(norm_column_sum, return one(t, wg_mat_norm_column_sum(t, x[0]));)
RECORD(norm_row_sum, return one(t, wg_mat_norm_row_sum(t, x[0]));)
RECORD(layer_norm, return wg_mat_layer_norm(t, x[0], x[1], x[2], s->number[0], WG_EACH_COL);)
RECORD(cross_entropy_soft, return wg_mat_cross_entropy_soft(t, x[0], x[1], WG_EACH_COL);)

RECORD(matmul, return wg_matmul(t, x[0], x[1]);)
RECORD(gemm, return wg_gemm(t, BIT(0, 'T', 'N'), BIT(1, 'T', 'N'), s->number[0], x[0], x[1],
                            s->number[1], x[2]);)
RECORD(gemv, return wg_gemv(t, BIT(0, 'T', 'N'), s->number[0], x[0], x[1], s->number[1], x[2]);)
RECORD(dot, return one(t, wg_mat_dot(t, x[0], x[1]));)
RECORD(axpy, return wg_axpy(t, s->number[0], x[0], x[1]);)
RECORD(scale_real, return wg_mat_scale_real(t, wg_mat_at(x[0], 0, 0), x[1]);)
RECORD(ger, return wg_ger(t, s->number[0], x[0], x[1], x[2]);)
RECORD(outer, return wg_outer(t, x[0], x[1]);)
RECORD(kron, return wg_kron(t, x[0], x[1]);)
RECORD(quadform, return one(t, wg_quadform(t, x[0], x[1]));)
RECORD(trace, return one(t, wg_trace(t, x[0]));)
RECORD(trace_product, return one(t, wg_trace_product(t, x[0], x[1]));)
RECORD(syrk, return wg_syrk(t, BIT(0, 'T', 'N'), s->number[0], x[0], s->number[1], x[1]);)
RECORD(symm, return wg_symm(t, BIT(0, 'R', 'L'), BIT(1, 'U', 'L'), s->number[0], x[0], x[1],
                            s->number[1], x[2]);)
RECORD(trmm, return wg_trmm(t, BIT(0, 'R', 'L'), BIT(1, 'U', 'L'), BIT(2, 'T', 'N'),
                            BIT(3, 'U', 'N'), s->number[0], x[0], x[1]);)

/* A A' + number I, which is positive definite. */
RECORD(gram, const wg_mat i = wg_mat_identity(t, x[0].rows);
       return wg_mat_axpby(t, 1, wg_matmul(t, x[0], wg_mat_transpose(x[0])), s->number[0], i);)
/* C A C' + number I of order `whole`, C constant. */
RECORD(wide, const size_t n = (size_t)s->whole[0]; double left[PROGRAM_ENTRIES];
       for (size_t i = 0; i < PROGRAM_ENTRIES; i++) left[i] = program_constant(i);
       const wg_mat l = wg_mat_constant(t, n, x[0].rows, left, n);
       const wg_mat r = wg_mat_constant(t, n, x[0].cols, left, n);
       const wg_mat y = wg_matmul(t, wg_matmul(t, l, x[0]), wg_mat_transpose(r));
       return wg_mat_axpby(t, 1, y, s->number[0], wg_mat_identity(t, n));)

RECORD(solve, return wg_solve(t, x[0], x[1]);)
RECORD(solve_spd, return wg_solve_spd(t, x[0], x[1]);)
RECORD(inverse, return wg_inverse(t, x[0]);)
RECORD(inverse_spd, return wg_inverse_spd(t, x[0]);)
RECORD(det, return one(t, wg_det(t, x[0]));)
RECORD(logabsdet, return one(t, wg_logabsdet(t, x[0], NULL));)
RECORD(logdet_spd, return one(t, wg_logdet_spd(t, x[0]));)
RECORD(cholesky, return wg_cholesky(t, x[0]);)
#define FACTOR (s->whole[0] & 1 ? wg_potrf(t, x[0]) : wg_lu(t, x[0]))
RECORD(factor_solve, return wg_factor_solve(t, FACTOR, BIT(1, 'T', 'N'), x[1]);)
RECORD(factor_logdet, return one(t, wg_factor_logdet(t, FACTOR));)
RECORD(factor_det, return one(t, wg_factor_det(t, FACTOR));)
RECORD(factor_inverse, return wg_factor_inverse(t, FACTOR);)
RECORD(solve_batch, return wg_solve_batch(t, x[0].cols / x[0].rows, x[0], x[1]);)
RECORD(trsm, return wg_trsm(t, BIT(0, 'R', 'L'), BIT(1, 'U', 'L'), BIT(2, 'T', 'N'),
                            BIT(3, 'U', 'N'), s->number[0], x[0], x[1]);)
RECORD(solve_banded, return wg_solve_banded(t, 1, 1, x[0], x[1]);)
RECORD(solve_tridiagonal, return wg_solve_tridiagonal(t, x[0], x[1], x[2], x[3]);)
RECORD(qr_q, return wg_qr_q(t, x[0]);)
RECORD(qr_r, return wg_qr_r(t, x[0]);)
RECORD(qr_product, wg_mat q; wg_mat r;
       if (wg_qr(t, x[0], &q, &r) != WG_OK) return wg_mat_failed(x[0].rows, x[0].cols);
       return wg_matmul(t, q, r);)
RECORD(lstsq, return wg_lstsq(t, x[0], x[1]);)
RECORD(pinv, return wg_pinv(t, x[0], s->number[0]);)

RECORD(eigvalsh, return wg_eigvalsh(t, x[0]);)
RECORD(eigvalsh_general, return wg_eigvalsh_general(t, x[0], x[1]);)
RECORD(eigh_squares, wg_mat v;
       if (wg_eigh(t, x[0], NULL, &v) != WG_OK) return wg_mat_failed(x[0].rows, x[0].cols);
       return (wg_mat_square)(t, v);)
RECORD(eigh_product, wg_mat w; wg_mat v;
       if (wg_eigh(t, x[0], &w, &v) != WG_OK) return wg_mat_failed(x[0].rows, x[0].cols);
       return wg_matmul(t, wg_matmul(t, v, wg_diag(t, w)), wg_mat_transpose(v));)
RECORD(svdvals, return wg_svdvals(t, x[0]);)
RECORD(svd_product, wg_mat u; wg_mat w; wg_mat v;
       if (wg_svd(t, x[0], &u, &w, &v) != WG_OK) return wg_mat_failed(x[0].rows, x[0].cols);
       return wg_matmul(t, wg_matmul(t, u, wg_diag(t, w)), wg_mat_transpose(v));)
RECORD(norm_spectral, return one(t, wg_mat_norm_spectral(t, x[0]));)
RECORD(norm_nuclear, return one(t, wg_mat_norm_nuclear(t, x[0]));)
RECORD(symmetric_exp, return wg_symmetric_exp(t, x[0]);)
RECORD(symmetric_log, return wg_symmetric_log(t, x[0]);)
RECORD(symmetric_sqrt, return wg_symmetric_sqrt(t, x[0]);)
RECORD(symmetric_inverse_sqrt, return wg_symmetric_inverse_sqrt(t, x[0]);)
RECORD(symmetric_cube, return wg_symmetric_power(t, x[0], 3);)
RECORD(expm, return wg_expm(t, x[0]);)
RECORD(powm, return wg_powm(t, x[0], s->whole[0]);)
RECORD(sqrtm, return wg_sqrtm(t, x[0]);)
RECORD(logm, return wg_logm(t, x[0]);)
RECORD(sylvester, return wg_sylvester(t, x[0], x[1], x[2]);)
RECORD(lyapunov, return wg_lyapunov(t, x[0], x[1]);)
RECORD(lyapunov_discrete, return wg_lyapunov_discrete(t, x[0], x[1]);)

RECORD(copy, return wg_mat_copy(t, x[0]);)
RECORD(reversed, size_t index[PROGRAM_ENTRIES]; const size_t n = x[0].rows * x[0].cols;
       for (size_t i = 0; i < n; i++) index[i] = n - 1 - i;
       return wg_gather(t, x[0], x[0].rows, x[0].cols, index);)
RECORD(scatter_add, size_t index[PROGRAM_ENTRIES];
       for (size_t i = 0; i < x[1].rows * x[1].cols; i++)
           index[i] = 2 * i % (x[0].rows * x[0].cols);
       return wg_scatter_add(t, x[0], x[1], index);)
RECORD(scatter_set, size_t index[PROGRAM_ENTRIES];
       for (size_t i = 0; i < x[1].rows * x[1].cols; i++)
           index[i] = 2 * i % (x[0].rows * x[0].cols);
       return wg_scatter_set(t, x[0], x[1], index);)
RECORD(row, return wg_mat_row(x[0], (size_t)s->whole[0]);)
RECORD(column, return wg_mat_col(x[0], (size_t)s->whole[0]);)
RECORD(diagonal, return wg_mat_diagonal(x[0]);)
RECORD(stacked, return wg_mat_reshape(t, x[0], x[0].rows *x[0].cols, 1);)
RECORD(concat_rows, return wg_concat_rows(t, 2, x);)
RECORD(concat_cols, return wg_concat_cols(t, 2, x);)
RECORD(diag, return wg_diag(t, x[0]);)
RECORD(tril, return wg_tril(t, x[0], s->whole[0]);)
RECORD(triu, return wg_triu(t, x[0], s->whole[0]);)
RECORD(flip_rows, return wg_flip_rows(t, x[0]);)
RECORD(pad, return wg_pad(t, x[0], 0, 1, 1, 0, s->number[0]);)
RECORD(repeat, return wg_repeat(t, x[0], 2, 1);)
RECORD(mvn_logpdf, return one(t, wg_mvn_logpdf(t, x[0], x[1], x[2]));)
RECORD(covariance, return wg_covariance(t, (wg_kernel)s->whole[0], x[0], x[1],
                                        wg_mat_at(x[2], 0, 0), wg_mat_at(x[3], 0, 0));)

/* ---- loops ---- */

static wg_mat failed(const wg_status s, wg_mat y) {
    return s == WG_OK ? y : wg_mat_failed(y.rows, y.cols);
}
#define BODY (c->program[s->whole[0]].call)
RECORD(call, wg_mat y = wg_mat_failed(0, 0); return failed(wg_call(t, BODY, x, &y), y);)
/* The first operand has a column per point, the others are shared. */
static wg_mat record_map(ARGS) {
    wg_source from[PROGRAM_INPUTS];
    wg_mat y = wg_mat_failed(0, 0);
    for (size_t k = 0; k < s->operands; k++) from[k] = wg_from_matrix(x[k]);
    return failed(wg_map(t, BODY, x[0].cols, from, NULL, &y), y);
}
static wg_mat record_scan(ARGS) {
    wg_source from[PROGRAM_INPUTS];
    const wg_state state = {"y", x[0]};
    const wg_stage stage = {BODY, from};
    const wg_scan_options o = {.stored = s->whole[1] > 3 ? 2 : 0};
    wg_mat y = wg_mat_failed(0, 0);
    from[0] = wg_from_state("y");
    for (size_t k = 1; k < s->operands; k++) from[k] = wg_from_matrix(x[k]);
    return failed(wg_scan(t, (size_t)s->whole[1], 1, &stage, 1, &state, &o, &y), y);
}
static wg_status record_region(wg_tape *t, size_t step, size_t n, const wg_real *state,
                               size_t np, const wg_real *param, wg_real *next, void *data) {
    const struct program_run *const run = data;
    wg_real x[PROGRAM_NUMBERS];
    wg_mat y;
    (void)step;
    memcpy(x, state, n * sizeof *x);
    memcpy(x + n, param, np * sizeof *x);
    const wg_status s = program_record(t, run->c, run->self, n + np, x, &y);
    for (size_t i = 0; s == WG_OK && i < n; i++) next[i] = wg_mat_at(y, i % y.rows, i / y.rows);
    return s;
}
static wg_mat record_checkpoint(ARGS) {
    const struct program_run run = {c, (size_t)s->whole[0]};
    const wg_region region = {.record = record_region,
                              .data = wg_tape_keep(t, sizeof run, &run)};
    const wg_mat none = wg_mat_fill(t, 0, 1, 0);
    wg_mat y = wg_mat_failed(0, 0);
    return failed(wg_checkpoint(t, c->work, (size_t)s->whole[1], 1, &region, 2, x[0],
                                s->operands > 1 ? x[1] : none, &y),
                  y);
}

/* ---- the table ---- */

#define ROW(name, operands, wholes, numbers, rule, backward)                                   \
    { #name, operands, wholes, numbers, rule, backward, record_##name, TOY(name) }

const struct program_op program_ops[] = {
#define EACH_ROW(name, n) {#name, n, 1, 0, R_EACH, 0, each_##name, toy_of_each},
#define OP1(name, ...) EACH_ROW(name, 1)
#define OP2(name, ...) EACH_ROW(name, 2)
#define OP3(name, ...) EACH_ROW(name, 3)
#define OP4(name, ...) EACH_ROW(name, 4)
#include "ops/scalar/scalar.def"
    {"user_softsign", 1, 0, 0, R_EACH, 0, each_user, toy_of_user},
    {"user_ratio", 2, 0, 0, R_EACH, 0, each_user, toy_of_user},
    ROW(cubes, 1, 0, 0, R_SAME, 0),
    ROW(cubes_expanded, 1, 0, 0, R_SAME, 0),
    ROW(sum, 1, 1, 0, R_AXIS, 0),
    ROW(mean, 1, 1, 0, R_AXIS, 0),
    ROW(var, 1, 1, 1, R_AXIS, 0),
    ROW(std, 1, 1, 1, R_AXIS, 0),
    ROW(prod, 1, 1, 0, R_AXIS, 0),
    ROW(max, 1, 1, 0, R_AXIS, 0),
    ROW(min, 1, 1, 0, R_AXIS, 0),
    ROW(norm_entries, 1, 1, 1, R_AXIS, 0),
    ROW(logsumexp, 1, 1, 0, R_AXIS, 0),
    ROW(cumsum, 1, 1, 0, R_LINES, 0),
    ROW(cumprod, 1, 1, 0, R_LINES, 0),
    ROW(softmax, 1, 1, 0, R_LINES, 0),
    ROW(log_softmax, 1, 1, 0, R_LINES, 0),
    ROW(norm_column_sum, 1, 0, 0, R_ONE, 0),
    ROW(norm_row_sum, 1, 0, 0, R_ONE, 0),
    ROW(layer_norm, 3, 0, 1, R_NORM_LINES, 0),
    ROW(matmul, 2, 0, 0, R_PRODUCT, 1),
    ROW(gemm, 3, 1, 2, R_GEMM, 1),
    ROW(gemv, 3, 1, 2, R_GEMV, 1),
    ROW(dot, 2, 0, 0, R_PAIR_ONE, 1),
    ROW(axpy, 2, 0, 1, R_SAME_ALL, 0),
    ROW(scale_real, 2, 0, 0, R_SCALE, 0),
    ROW(ger, 3, 0, 1, R_GER, 0),
    ROW(outer, 2, 0, 0, R_OUTER, 0),
    ROW(kron, 2, 0, 0, R_KRON, 0),
    ROW(quadform, 2, 0, 0, R_QUADFORM, 1),
    ROW(trace, 1, 0, 0, R_SQUARE_ONE, 0),
    ROW(trace_product, 2, 0, 0, R_TRACE_PRODUCT, 1),
    ROW(syrk, 2, 1, 2, R_SYRK, 1),
    ROW(symm, 3, 1, 2, R_SYMM, 1),
    ROW(trmm, 2, 1, 1, R_TRIANGLE, 1),
    ROW(gram, 1, 0, 1, R_GRAM, 1),
    ROW(wide, 1, 1, 1, R_WIDE, 1),
    ROW(solve, 2, 0, 0, R_SOLVE, 1),
    ROW(solve_spd, 2, 0, 0, R_SOLVE, 1),
    ROW(inverse, 1, 0, 0, R_SQUARE, 1),
    ROW(inverse_spd, 1, 0, 0, R_SQUARE, 1),
    ROW(det, 1, 0, 0, R_SQUARE_ONE, 1),
    ROW(logabsdet, 1, 0, 0, R_SQUARE_ONE, 1),
    ROW(logdet_spd, 1, 0, 0, R_SQUARE_ONE, 1),
    ROW(cholesky, 1, 0, 0, R_SQUARE, 1),
    ROW(factor_solve, 2, 1, 0, R_SOLVE, 1),
    ROW(factor_logdet, 1, 1, 0, R_SQUARE_ONE, 1),
    ROW(factor_det, 1, 1, 0, R_SQUARE_ONE, 1),
    ROW(factor_inverse, 1, 1, 0, R_SQUARE, 1),
    ROW(solve_batch, 2, 0, 0, R_BATCH, 1),
    ROW(trsm, 2, 1, 1, R_TRIANGLE, 1),
    ROW(solve_banded, 2, 0, 0, R_BANDED, 1),
    ROW(solve_tridiagonal, 4, 0, 0, R_TRIDIAGONAL, 1),
    ROW(qr_q, 1, 0, 0, R_QR_Q, 1),
    ROW(qr_r, 1, 0, 0, R_QR_R, 1),
    ROW(qr_product, 1, 0, 0, R_SAME, 1),
    ROW(lstsq, 2, 0, 0, R_LSTSQ, 1),
    ROW(pinv, 1, 0, 1, R_TRANSPOSED, 1),
    ROW(eigvalsh, 1, 0, 0, R_EIGENVALUES, 1),
    ROW(eigh_squares, 1, 0, 0, R_SQUARE, 1),
    ROW(eigh_product, 1, 0, 0, R_SQUARE, 1),
    ROW(svdvals, 1, 0, 0, R_SINGULAR, 1),
    ROW(svd_product, 1, 0, 0, R_SAME, 1),
    ROW(norm_spectral, 1, 0, 0, R_ONE, 1),
    ROW(norm_nuclear, 1, 0, 0, R_ONE, 1),
    ROW(symmetric_exp, 1, 0, 0, R_SQUARE, 1),
    ROW(symmetric_log, 1, 0, 0, R_SQUARE, 1),
    ROW(symmetric_sqrt, 1, 0, 0, R_SQUARE, 1),
    ROW(symmetric_inverse_sqrt, 1, 0, 0, R_SQUARE, 1),
    ROW(symmetric_cube, 1, 0, 0, R_SQUARE, 1),
    ROW(expm, 1, 0, 0, R_SQUARE, 1),
    ROW(powm, 1, 1, 0, R_SQUARE, 1),
    ROW(sqrtm, 1, 0, 0, R_SQUARE, 1),
    ROW(logm, 1, 0, 0, R_SQUARE, 1),
    ROW(sylvester, 3, 0, 0, R_SYLVESTER, 1),
    ROW(lyapunov, 2, 0, 0, R_SQUARES, 1),
    ROW(lyapunov_discrete, 2, 0, 0, R_SQUARES, 1),
    ROW(copy, 1, 0, 0, R_SAME, 0),
    ROW(reversed, 1, 0, 0, R_SAME, 0),
    ROW(scatter_add, 2, 0, 0, R_SCATTER, 0),
    ROW(scatter_set, 2, 0, 0, R_SCATTER, 0),
    ROW(row, 1, 1, 0, R_ROW, 0),
    ROW(column, 1, 1, 0, R_COLUMN, 0),
    ROW(diagonal, 1, 0, 0, R_DIAGONAL, 0),
    ROW(stacked, 1, 0, 0, R_STACKED, 0),
    ROW(concat_rows, 2, 0, 0, R_ROWS, 0),
    ROW(concat_cols, 2, 0, 0, R_COLS, 0),
    ROW(diag, 1, 0, 0, R_DIAG, 0),
    ROW(tril, 1, 1, 0, R_SAME, 0),
    ROW(triu, 1, 1, 0, R_SAME, 0),
    ROW(flip_rows, 1, 0, 0, R_SAME, 0),
    ROW(pad, 1, 0, 1, R_PAD, 0),
    ROW(repeat, 1, 0, 0, R_REPEAT, 0),
    ROW(mvn_logpdf, 3, 0, 0, R_MVN, 1),
    ROW(covariance, 4, 1, 0, R_COVARIANCE, 0),
    ROW(cross_entropy_soft, 2, 0, 0, R_PAIR_COLS, 0),
    {"eigvalsh_general", 2, 0, 0, R_EIGENVALUES, 1, record_eigvalsh_general, NULL},
    ROW(call, 0, 1, 0, R_CALL, 0),
    ROW(map, 0, 1, 0, R_MAP, 0),
    ROW(scan, 0, 2, 0, R_SCAN, 0),
    ROW(checkpoint, 0, 2, 0, R_SCAN, 0),
};
#undef OP1
#undef OP2
#undef OP3
#undef OP4
const size_t program_op_count = sizeof program_ops / sizeof *program_ops;

const struct program_op *program_op_named(const char *name) {
    for (size_t i = 0; i < program_op_count; i++)
        if (strcmp(program_ops[i].name, name) == 0) return &program_ops[i];
    return NULL;
}
