/* SPDX-License-Identifier: MIT */
/* programs_toys.c - the operations of programs on series; see programs_toy.h. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/operation.h>
#include "programs_toys.h"

#define BIT(k) (s->whole[0] >> (k)&1)

/* ---- element by element ---- */

static void each(const wg_scalar_op *op, const struct program_step *s,
                 const struct toy_matrix *x, struct toy_matrix *y) {
    struct toy_series a[PROGRAM_OPERANDS];
    for (size_t j = 0; j < y->cols; j++)
        for (size_t i = 0; i < y->rows; i++) {
            for (size_t k = 0; k < s->operands; k++)
                a[k] = AT(&x[k], x[k].rows == 1 ? 0 : i, x[k].cols == 1 ? 0 : j);
            AT(y, i, j) = toy_scalar(op, a);
        }
}
DEFINE(each, each(&wgi_scalar_ops[s->op - program_ops], s, x, y);)
DEFINE(user, each(program_user_operations[s->operands - 1], s, x, y);)
DEFINE(cubes, each(&wgi_scalar_ops[WGI_OP_cube], s, x, y);)
DEFINE(cubes_expanded, each(&wgi_scalar_ops[WGI_OP_cube], s, x, y);)

/* ---- lines ---- */

static struct toy_series magnitude(struct toy_series a) {
    return toy_scale(a.c[0] > 0 ? 1 : a.c[0] < 0 ? -1 : a.c[0], a);
}

/* a: n series, in and out; what is reduced to one number goes to a[0]. */
typedef void on_line(struct toy_series *a, size_t n, double p);

static struct toy_series sum_of(const struct toy_series *a, size_t n) {
    struct toy_series y = toy_number(0);
    for (size_t i = 0; i < n; i++) y = toy_add(y, a[i]);
    return y;
}
static struct toy_series mean_of(const struct toy_series *a, size_t n) {
    return toy_div(sum_of(a, n), toy_number((toy_real)n));
}
static void line_sum(struct toy_series *a, size_t n, double p) {
    (void)p;
    a[0] = sum_of(a, n);
}
static void line_mean(struct toy_series *a, size_t n, double p) {
    (void)p;
    a[0] = mean_of(a, n);
}
static void line_var(struct toy_series *a, size_t n, double p) {
    const struct toy_series m = mean_of(a, n);
    struct toy_series y = toy_number(0);
    for (size_t i = 0; i < n; i++) {
        const struct toy_series d = toy_sub(a[i], m);
        y = toy_add(y, toy_mul(d, d));
    }
    a[0] = (double)n <= p ? toy_number(NAN) : toy_div(y, toy_number((toy_real)n - p));
}
static void line_std(struct toy_series *a, size_t n, double p) {
    line_var(a, n, p);
    if (a[0].c[0] == 0) a[0] = toy_number(0);
    else a[0] = toy_sqrt(a[0]);
}
static void line_prod(struct toy_series *a, size_t n, double p) {
    struct toy_series y = toy_number(1);
    (void)p;
    for (size_t i = 0; i < n; i++) y = toy_mul(y, a[i]);
    a[0] = y;
}
/* The mean of those that are extreme. */
static void extremum(struct toy_series *a, size_t n, int sign) {
    toy_real most = a[0].c[0], ties = 0;
    struct toy_series y = toy_number(0);
    for (size_t i = 1; i < n; i++)
        if (sign * a[i].c[0] > sign * most || a[i].c[0] != a[i].c[0]) most = a[i].c[0];
    for (size_t i = 0; i < n; i++)
        if (a[i].c[0] == most) y = toy_add(y, a[i]), ties++;
    y = toy_div(y, toy_number(ties));
    y.c[0] = most;
    a[0] = y;
}
static void line_max(struct toy_series *a, size_t n, double p) {
    (void)p;
    extremum(a, n, 1);
}
static void line_min(struct toy_series *a, size_t n, double p) {
    (void)p;
    extremum(a, n, -1);
}
static void line_norm(struct toy_series *a, size_t n, double p) {
    for (size_t i = 0; i < n && p != 2; i++) {
        /* a slope that jumps at what BLAS made of a 0 */
        if (p != 3 && toy_run.blas && fabsl(a[i].c[0]) < TOY_ROUNDED_0) toy_run.terms = 1;
        a[i] = magnitude(a[i]);
    }
    if (p == INFINITY) {
        extremum(a, n, 1);
        return;
    }
    if (p == 1) {
        a[0] = sum_of(a, n);
        return;
    }
    struct toy_series y = toy_number(0); /* p is 2 or 3 */
    for (size_t i = 0; i < n; i++) {
        const struct toy_series u = toy_mul(a[i], a[i]);
        y = toy_add(y, p == 2 ? u : toy_mul(u, a[i]));
    }
    if (y.c[0] == 0) a[0] = toy_number(0);
    else a[0] = p == 2 ? toy_sqrt(y) : toy_exp(toy_div(toy_log(y), toy_number(3)));
}
static struct toy_series largest(const struct toy_series *a, size_t n) {
    toy_real most = a[0].c[0];
    for (size_t i = 1; i < n; i++)
        if (a[i].c[0] > most) most = a[i].c[0];
    return toy_number(most);
}
static struct toy_series logsumexp(const struct toy_series *a, size_t n) {
    const struct toy_series most = largest(a, n);
    struct toy_series y = toy_number(0);
    for (size_t i = 0; i < n; i++) y = toy_add(y, toy_exp(toy_sub(a[i], most)));
    return toy_add(most, toy_log(y));
}
static void line_logsumexp(struct toy_series *a, size_t n, double p) {
    (void)p;
    a[0] = logsumexp(a, n);
}
static void line_softmax(struct toy_series *a, size_t n, double p) {
    const struct toy_series most = largest(a, n);
    struct toy_series sum = toy_number(0);
    (void)p;
    for (size_t i = 0; i < n; i++) sum = toy_add(sum, a[i] = toy_exp(toy_sub(a[i], most)));
    for (size_t i = 0; i < n; i++) a[i] = toy_div(a[i], sum);
}
static void line_log_softmax(struct toy_series *a, size_t n, double p) {
    const struct toy_series y = logsumexp(a, n);
    (void)p;
    for (size_t i = 0; i < n; i++) a[i] = toy_sub(a[i], y);
}
static void line_cumsum(struct toy_series *a, size_t n, double p) {
    (void)p;
    for (size_t i = 1; i < n; i++) a[i] = toy_add(a[i - 1], a[i]);
}
static void line_cumprod(struct toy_series *a, size_t n, double p) {
    (void)p;
    for (size_t i = 1; i < n; i++) a[i] = toy_mul(a[i - 1], a[i]);
}

static void lines(const struct toy_matrix *x, int axis, struct toy_matrix *y, on_line *f,
                  double p) {
    const size_t count = axis == WG_ALL ? 1 : axis == WG_EACH_COL ? x->cols : x->rows;
    const size_t n = x->rows * x->cols / (count != 0 ? count : 1);
    const size_t step = axis == WG_EACH_ROW ? x->rows : 1, from = axis == WG_EACH_ROW ? 1 : n;
    const int reduced = y->rows * y->cols != x->rows * x->cols || n == 1;
    struct toy_series a[PROGRAM_ENTRIES];
    for (size_t l = 0; l < count; l++) {
        for (size_t i = 0; i < n; i++) a[i] = x->v[l * from + i * step];
        f(a, n, p);
        for (size_t i = 0; i < n && !reduced; i++) y->v[l * from + i * step] = a[i];
        if (reduced) y->v[l] = a[0];
    }
}
#define LINES(name) DEFINE(name, lines(&x[0], s->whole[0], y, line_##name, s->number[0]);)
LINES(sum)
LINES(mean)
LINES(var)
LINES(std)
LINES(prod)
LINES(max)
LINES(min)
LINES(logsumexp)
LINES(softmax)
LINES(log_softmax)
LINES(cumsum)
LINES(cumprod)
DEFINE(norm_entries, lines(&x[0], s->whole[0], y, line_norm, s->number[0]);)

DEFINE(norm_column_sum, struct toy_matrix u = toy_new(1, x[0].cols);
       lines(&x[0], WG_EACH_COL, &u, line_norm, 1); lines(&u, WG_ALL, y, line_max, 0);)
DEFINE(norm_row_sum, struct toy_matrix u = toy_new(x[0].rows, 1);
       lines(&x[0], WG_EACH_ROW, &u, line_norm, 1); lines(&u, WG_ALL, y, line_max, 0);)
void TOY(layer_norm)(const struct program_case *c, const struct program_step *s,
                     const struct toy_matrix *x, struct toy_matrix *y) {
    const size_t n = x[0].rows;
    (void)c;
    for (size_t j = 0; j < x[0].cols; j++) {
        struct toy_series a[PROGRAM_ENTRIES];
        for (size_t i = 0; i < n; i++) a[i] = AT(&x[0], i, j);
        const struct toy_series m = mean_of(a, n);
        line_var(a, n, 0);
        const struct toy_series root = toy_sqrt(toy_add(a[0], toy_number(s->number[0])));
        for (size_t i = 0; i < n; i++)
            AT(y, i, j) = toy_add(
                toy_mul(toy_div(toy_sub(AT(&x[0], i, j), m), root), x[1].v[i]), x[2].v[i]);
    }
}
void TOY(cross_entropy_soft)(const struct program_case *c, const struct program_step *s,
                             const struct toy_matrix *x, struct toy_matrix *y) {
    const size_t n = x[0].rows;
    (void)c, (void)s;
    for (size_t j = 0; j < x[0].cols; j++) {
        const struct toy_series l = logsumexp(&AT(&x[0], 0, j), n);
        for (size_t i = 0; i < n; i++)
            y->v[j] = toy_add(y->v[j], toy_mul(AT(&x[1], i, j), toy_sub(l, AT(&x[0], i, j))));
    }
}

/* ---- products ---- */

static struct toy_matrix flagged(int turned, const struct toy_matrix *a) {
    return turned ? toy_transpose(a) : toy_copy(a);
}
/* As BLAS: a factor 0 looks at nothing. */
static void add_scaled(struct toy_matrix *y, double f, const struct toy_matrix *a) {
    for (size_t i = 0; f != 0 && i < y->rows * y->cols; i++)
        y->v[i] = toy_add(y->v[i], toy_scale(f, a->v[i]));
}
static void gemm(double alpha, struct toy_matrix a, struct toy_matrix b, double beta,
                 const struct toy_matrix *c, struct toy_matrix *y) {
    const struct toy_matrix u = toy_product(&a, &b);
    add_scaled(y, alpha, &u);
    if (c != NULL) add_scaled(y, beta, c);
}
DEFINE(matmul, gemm(1, x[0], x[1], 0, NULL, y);)
DEFINE(gemm, gemm(s->number[0], flagged(BIT(0), &x[0]), flagged(BIT(1), &x[1]), s->number[1],
                  &x[2], y);)
DEFINE(gemv, gemm(s->number[0], flagged(BIT(0), &x[0]), x[1], s->number[1], &x[2], y);)
DEFINE(dot, for (size_t i = 0; i < x[0].rows * x[0].cols; i++)
                y->v[0] = toy_add(y->v[0], toy_mul(x[0].v[i], x[1].v[i]));)
DEFINE(axpy, add_scaled(y, s->number[0], &x[0]); add_scaled(y, 1, &x[1]);)
DEFINE(scale_real,
       for (size_t i = 0; i < y->rows * y->cols; i++) y->v[i] = toy_mul(x[0].v[0], x[1].v[i]);)
DEFINE(ger, const struct toy_matrix u = toy_transpose(&x[1]);
       gemm(s->number[0], x[0], u, 1, &x[2], y);)
DEFINE(outer, const struct toy_matrix u = toy_transpose(&x[1]); gemm(1, x[0], u, 0, NULL, y);)
DEFINE(kron, const size_t r = x[1].rows; const size_t q = x[1].cols;
       for (size_t j = 0; j < y->cols; j++) for (size_t i = 0; i < y->rows; i++)
           AT(y, i, j) = toy_mul(AT(&x[0], i / r, j / q), AT(&x[1], i % r, j % q));)
DEFINE(quadform, const struct toy_matrix u = toy_product(&x[0], &x[1]);
       for (size_t i = 0; i < u.rows; i++)
           y->v[0] = toy_add(y->v[0], toy_mul(u.v[i], x[1].v[i]));)
static struct toy_series trace(const struct toy_matrix *a) {
    struct toy_series y = toy_number(0);
    for (size_t i = 0; i < a->rows; i++) y = toy_add(y, AT(a, i, i));
    return y;
}
DEFINE(trace, y->v[0] = trace(&x[0]);)
DEFINE(trace_product, const struct toy_matrix u = toy_product(&x[0], &x[1]);
       y->v[0] = trace(&u);)
DEFINE(syrk, const struct toy_matrix a = flagged(BIT(0), &x[0]);
       const struct toy_matrix sym = toy_symmetric(&x[1]);
       gemm(s->number[0], a, toy_transpose(&a), s->number[1], &sym, y);)

/* One triangle of a, the other: its mirror image, or zeros. */
static struct toy_matrix triangle(const struct toy_matrix *a, int upper, int mirrored,
                                  int unit) {
    struct toy_matrix y = toy_copy(a);
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) {
            if (i == j && unit) AT(&y, i, j) = toy_number(1);
            if (i != j && (i < j) != upper)
                AT(&y, i, j) = mirrored ? AT(a, j, i) : toy_number(0);
        }
    return y;
}
/* One triangle is read for the value, derivatives are by both: at a symmetric operand that is
 * its symmetric part, and elsewhere the toy does not know. */
static struct toy_matrix symmetric_operand(const struct toy_matrix *a) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < j; i++)
            if (AT(a, i, j).c[0] != AT(a, j, i).c[0] && !toy_run.noisy) toy_run.known = 0;
    return toy_symmetric(a);
}
DEFINE(symm, const struct toy_matrix a = symmetric_operand(&x[0]);
       gemm(s->number[0], BIT(0) ? x[1] : a, BIT(0) ? a : x[1], s->number[1], &x[2], y);)
DEFINE(trmm, struct toy_matrix a = triangle(&x[0], BIT(1), 0, BIT(3)); a = flagged(BIT(2), &a);
       gemm(s->number[0], BIT(0) ? x[1] : a, BIT(0) ? a : x[1], 0, NULL, y);)
DEFINE(gram, const struct toy_matrix i = toy_identity(x[0].rows);
       gemm(1, x[0], toy_transpose(&x[0]), s->number[0], &i, y);)
DEFINE(wide, struct toy_matrix l = toy_new(y->rows, x[0].rows);
       struct toy_matrix r = toy_new(y->rows, x[0].cols);
       for (size_t i = 0; i < l.rows * l.cols; i++) l.v[i].c[0] = program_constant(i);
       for (size_t i = 0; i < r.rows * r.cols; i++) r.v[i].c[0] = program_constant(i);
       const struct toy_matrix i = toy_identity(y->rows);
       gemm(1, toy_product(&l, &x[0]), toy_transpose(&r), s->number[0], &i, y);)

/* ---- systems ---- */

static struct toy_series log_size(struct toy_series a) { return toy_log(magnitude(a)); }
static struct toy_matrix inverse(const struct toy_matrix *a) {
    const struct toy_matrix i = toy_identity(a->rows);
    return toy_solve(a, &i);
}
/* By Cholesky, or else not a number: what the library refuses. */
static struct toy_matrix definite(const struct toy_matrix *a) {
    struct toy_matrix u = symmetric_operand(a);
    const struct toy_matrix l = toy_cholesky(&u);
    for (size_t i = 0; i < a->rows; i++)
        if (!(AT(&l, i, i).c[0] > 0)) u.v[0] = toy_number(NAN);
    return u;
}
static struct toy_matrix factored(int cholesky, const struct toy_matrix *a) {
    return cholesky ? definite(a) : toy_copy(a);
}
DEFINE(solve, give(y, toy_solve(&x[0], &x[1]));)
DEFINE(solve_spd, const struct toy_matrix a = definite(&x[0]); give(y, toy_solve(&a, &x[1]));)
DEFINE(inverse, give(y, inverse(&x[0]));)
DEFINE(inverse_spd, const struct toy_matrix a = definite(&x[0]); give(y, inverse(&a));)
DEFINE(det, toy_count_condition(&x[0]); y->v[0] = toy_det(&x[0]);)
DEFINE(logabsdet, toy_count_condition(&x[0]); y->v[0] = log_size(toy_det(&x[0]));)
DEFINE(logdet_spd, const struct toy_matrix a = definite(&x[0]); toy_count_condition(&a);
       y->v[0] = log_size(toy_det(&a));)
DEFINE(cholesky, const struct toy_matrix a = symmetric_operand(&x[0]); toy_count_condition(&a);
       give(y, toy_cholesky(&a));)
DEFINE(factor_solve, struct toy_matrix a = factored(BIT(0), &x[0]); a = flagged(BIT(1), &a);
       give(y, toy_solve(&a, &x[1]));)
DEFINE(factor_logdet, const struct toy_matrix a = factored(BIT(0), &x[0]);
       toy_count_condition(&a); y->v[0] = log_size(toy_det(&a));)
DEFINE(factor_det, const struct toy_matrix a = factored(BIT(0), &x[0]); toy_count_condition(&a);
       y->v[0] = toy_det(&a);)
DEFINE(factor_inverse, const struct toy_matrix a = factored(BIT(0), &x[0]);
       give(y, inverse(&a));)
void TOY(solve_batch)(const struct program_case *c, const struct program_step *s,
                      const struct toy_matrix *x, struct toy_matrix *y) {
    const size_t n = x[0].rows, count = x[0].cols / n, k = x[1].cols / count;
    (void)c, (void)s;
    for (size_t b = 0; b < count; b++) {
        const struct toy_matrix u = {n, n, x[0].v + b * n * n}, v = {n, k, x[1].v + b * n * k};
        struct toy_matrix part = {n, k, y->v + b * n * k};
        give(&part, toy_solve(&u, &v));
    }
}
DEFINE(trsm, struct toy_matrix a = triangle(&x[0], BIT(1), 0, BIT(3));
       struct toy_matrix b = toy_copy(&x[1]);
       for (size_t i = 0; i < b.rows * b.cols; i++) b.v[i] = toy_scale(s->number[0], b.v[i]);
       a = flagged(BIT(2) != BIT(0), &a); b = flagged(BIT(0), &b); b = toy_solve(&a, &b);
       give(y, flagged(BIT(0), &b));)
DEFINE(
    solve_banded, struct toy_matrix a = toy_new(x[0].cols, x[0].cols);
    for (size_t j = 0; j < a.cols; j++) for (size_t i = 0; i < a.rows; i++) {
        if (i + 1 >= j && i <= j + 1) AT(&a, i, j) = AT(&x[0], 1 + i - j, j);
    } give(y, toy_solve(&a, &x[1]));)
DEFINE(
    solve_tridiagonal, const size_t n = x[1].rows; struct toy_matrix a = toy_new(n, n);
    for (size_t i = 0; i < n; i++) {
        AT(&a, i, i) = x[1].v[i];
        if (i + 1 < n) AT(&a, i + 1, i) = x[0].v[i], AT(&a, i, i + 1) = x[2].v[i];
    } give(y, toy_solve(&a, &x[3]));)
/* What R is of in its square part: the first columns. */
static toy_real first_columns_of_full_rank(const struct toy_matrix *a) {
    const struct toy_matrix u = {a->rows, a->rows < a->cols ? a->rows : a->cols, a->v};
    const toy_real before = toy_run.condition;
    toy_full_rank(&u, 1e-6);
    return toy_run.condition / before;
}
/* A factor, whose derivatives a method rounds beside those in any direction as long as that of
 * A: the condition times how much of A that is. */
static void give_factor(struct toy_matrix *y, struct toy_matrix f, const struct toy_matrix *a,
                        toy_real condition) {
    const toy_real part = condition * toy_largest(a, 1) / toy_largest(a, 0);
    struct toy_matrix noise = toy_new(f.rows, f.cols);
    struct toy_series size = toy_number(0);
    toy_real power = toy_largest(&f, 0);
    for (int k = 1; k < TOY_TERMS; k++)
        power *= part, size.c[k] = power <= LDBL_MAX ? power : 0;
    for (size_t i = 0; i < f.rows * f.cols; i++) noise.v[i] = size;
    toy_noise(&noise);
    for (size_t i = 0; i < f.rows * f.cols; i++)
        for (int k = 1; k < TOY_TERMS; k++) f.v[i].c[k] += noise.v[i].c[k] - size.c[k];
    give(y, f);
}
DEFINE(qr_q, const toy_real condition = first_columns_of_full_rank(&x[0]); struct toy_matrix q;
       struct toy_matrix r; if (!toy_qr(&x[0], &q, &r)) toy_run.known = 0;
       give_factor(y, q, &x[0], condition);)
DEFINE(qr_r, const toy_real condition = first_columns_of_full_rank(&x[0]); struct toy_matrix q;
       struct toy_matrix r; if (!toy_qr(&x[0], &q, &r)) toy_run.known = 0;
       give_factor(y, r, &x[0], condition);)
/* QR has no derivative where the rank is not full, and few digits near by. */
DEFINE(qr_product, (void)first_columns_of_full_rank(&x[0]); give(y, toy_qr_product(&x[0]));)

/* (A'A)^-1 A' or A' (A A')^-1: of full rank. */
static struct toy_matrix pseudo_inverse(const struct toy_matrix *a) {
    const struct toy_matrix u = toy_transpose(a);
    if (a->rows >= a->cols) {
        const struct toy_matrix g = toy_product(&u, a);
        return toy_solve_any(&g, &u);
    }
    const struct toy_matrix g = toy_product(a, &u), y = toy_solve_any(&g, a);
    return toy_transpose(&y);
}
/* The rank is full, columns in units of their own (wide: rows): otherwise the toy does not
 * know, which has A'A, where half of the digits are lost. Derivatives have projections, whose
 * rounding is that of the units there are: what counts is the condition in these. */
static void full_rank_in_units(const struct toy_matrix *a) {
    struct toy_matrix u = a->rows < a->cols ? toy_transpose(a) : toy_copy(a);
    const toy_real before = toy_run.condition;
    for (size_t j = 0; j < u.cols; j++) {
        toy_real most = 0;
        for (size_t i = 0; i < u.rows; i++)
            if (fabsl(AT(&u, i, j).c[0]) > most) most = fabsl(AT(&u, i, j).c[0]);
        for (size_t i = 0; i < u.rows && most > 0; i++) AT(&u, i, j).c[0] /= most;
    }
    toy_full_rank(&u, 0);
    const struct toy_matrix w = toy_singular_values(a);
    toy_run.condition = before * w.v[0].c[0] / w.v[w.rows - 1].c[0];
    if (!(toy_run.condition <= LDBL_MAX)) toy_run.condition = before;
}
DEFINE(lstsq, full_rank_in_units(&x[0]); const struct toy_matrix p = pseudo_inverse(&x[0]);
       give(y, toy_product(&p, &x[1]));)
DEFINE(pinv, toy_full_rank(&x[0], s->number[0]); give(y, pseudo_inverse(&x[0]));)

/* ---- spectra ---- */

DEFINE(eigvalsh, const struct toy_matrix w = toy_eigenvalues(&x[0], NULL);
       toy_spectrum(&w, 0, 2); give(y, w);)
DEFINE(eigh_squares, struct toy_matrix v;
       const struct toy_matrix w = toy_eigenvalues(&x[0], &v); toy_spectrum(&w, 0, 1);
       for (size_t i = 0; i < y->rows * y->cols; i++) y->v[i] = toy_mul(v.v[i], v.v[i]);)
/* What is composed from vectors loses its derivative where values are equal, as the manual
 * says; near by, digits. */
static void apart(const struct toy_matrix *w, int from_zero) {
    toy_real most = 0, least = INFINITY;
    for (size_t i = 0; i < w->rows; i++)
        if (fabsl(w->v[i].c[0]) > most) most = fabsl(w->v[i].c[0]);
    for (size_t i = 0; i < w->rows; i++)
        for (size_t j = 0; j <= i; j++) {
            if (i == j && !from_zero) continue;
            const toy_real gap = i == j ? w->v[i].c[0] : w->v[i].c[0] - w->v[j].c[0];
            if (!(fabsl(gap) > 1e-6L * most)) toy_run.known = 0;
            if (fabsl(gap) < least) least = fabsl(gap);
        }
    if (least < INFINITY) toy_run.condition *= most / least;
}
DEFINE(eigh_product, const struct toy_matrix w = toy_eigenvalues(&x[0], NULL); apart(&w, 0);
       give(y, toy_eigh_product(&x[0]));)
DEFINE(svdvals, const struct toy_matrix w = toy_singular_values(&x[0]);
       toy_spectrum(&w, x[0].rows != x[0].cols, 2); give(y, w);)
DEFINE(svd_product, const struct toy_matrix w = toy_singular_values(&x[0]); apart(&w, 1);
       give(y, toy_svd_product(&x[0]));)
/* Twice where the largest are one, three times where its vectors' derivatives are not known. */
DEFINE(norm_spectral, const struct toy_matrix w = toy_singular_values(&x[0]);
       struct toy_matrix first = w; if (first.rows > 2) first.rows = 2;
       toy_spectrum(&first, 0, 2); toy_spectrum(&w, x[0].rows != x[0].cols, 3);
       y->v[0] = w.v[0];)
/* It has a kink where a value is 0. */
DEFINE(norm_nuclear, const struct toy_matrix w = toy_singular_values(&x[0]);
       struct toy_matrix last = {1, 1, &w.v[w.rows - 1]};
       if (!(last.v[0].c[0] > DBL_EPSILON * (toy_real)(x[0].rows + x[0].cols) * w.v[0].c[0]) &&
           toy_run.nan_from > 2) toy_run.nan_from = 2;
       y->v[0] = sum_of(w.v, w.rows);)
/* Functions of a symmetric matrix whose derivatives at small eigenvalues are large, of the order
 * given on: there an eigenvalue below the rounding of the largest one has no digits, as
 * spectral.h says. */
static void small_eigenvalue(const struct toy_matrix *a, int order) {
    const size_t n = a->rows;
    size_t beside = 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) beside += i != j && AT(a, i, j).c[0] != 0;
    if (toy_run.noisy || toy_run.torn || beside == 0) return;
    const struct toy_matrix w = toy_eigenvalues(a, NULL);
    if (!(fabsl(w.v[0].c[0]) < (toy_real)n * DBL_EPSILON * w.v[n - 1].c[0])) return;
    if (order == 0) toy_run.known = 0;
    else if (toy_run.terms > order) toy_run.terms = order;
}
DEFINE(symmetric_exp, const struct toy_matrix a = toy_symmetric(&x[0]);
       give(y, toy_exponential(&a));)
DEFINE(symmetric_log, const struct toy_matrix a = toy_symmetric(&x[0]); small_eigenvalue(&a, 0);
       give(y, toy_logarithm(&a));)
DEFINE(symmetric_sqrt, const struct toy_matrix a = toy_symmetric(&x[0]);
       small_eigenvalue(&a, 1); toy_count_condition(&a); give(y, toy_root(&a));)
DEFINE(symmetric_inverse_sqrt, struct toy_matrix a = toy_symmetric(&x[0]);
       small_eigenvalue(&a, 0); toy_count_condition(&a); a = toy_root(&a);
       give(y, inverse(&a));)
DEFINE(symmetric_cube, const struct toy_matrix a = toy_symmetric(&x[0]);
       const struct toy_matrix u = toy_product(&a, &a); give(y, toy_product(&u, &a));)
DEFINE(expm, give(y, toy_exponential(&x[0]));)
DEFINE(powm, struct toy_matrix a = s->whole[0] < 0 ? inverse(&x[0]) : toy_copy(&x[0]);
       struct toy_matrix u = toy_identity(a.rows);
       for (int k = s->whole[0] < 0 ? -s->whole[0] : s->whole[0]; k > 0; k--)
           u = toy_product(&u, &a);
       give(y, u);)
DEFINE(sqrtm, toy_count_condition(&x[0]); give(y, toy_root(&x[0]));)
DEFINE(logm, give(y, toy_logarithm(&x[0]));)
DEFINE(sylvester, give(y, toy_sylvester(&x[0], &x[1], &x[2]));)
DEFINE(lyapunov, const struct toy_matrix u = toy_transpose(&x[0]);
       give(y, toy_sylvester(&x[0], &u, &x[1]));)
DEFINE(lyapunov_discrete, give(y, toy_discrete(&x[0], &x[1]));)

/* ---- statistics ---- */

void TOY(mvn_logpdf)(const struct program_case *c, const struct program_step *s,
                     const struct toy_matrix *x, struct toy_matrix *y) {
    const struct toy_matrix a = definite(&x[2]);
    struct toy_matrix d = toy_copy(&x[0]);
    (void)c, (void)s;
    for (size_t j = 0; j < d.cols; j++)
        for (size_t i = 0; i < d.rows; i++) AT(&d, i, j) = toy_sub(AT(&d, i, j), x[1].v[i]);
    const struct toy_matrix u = toy_solve(&a, &d), v = toy_transpose(&d),
                            q = toy_product(&v, &u);
    const toy_real log_2_pi = 1.837877066409345483560659472811235279722794947275566825634L;
    const struct toy_series each =
        toy_add(log_size(toy_det(&a)), toy_number((toy_real)d.rows * log_2_pi));
    y->v[0] = toy_scale(-0.5L, toy_add(trace(&q), toy_scale((toy_real)d.cols, each)));
}
void TOY(covariance)(const struct program_case *c, const struct program_step *s,
                     const struct toy_matrix *x, struct toy_matrix *y) {
    const struct toy_series sigma2 = toy_mul(x[2].v[0], x[2].v[0]);
    (void)c;
    for (size_t j = 0; j < y->cols; j++)
        for (size_t i = 0; i < y->rows; i++) {
            struct toy_series r2 = toy_number(0), k = toy_number(1);
            for (size_t l = 0; l < x[0].cols; l++) {
                const struct toy_series d = toy_div(toy_sub(AT(&x[0], i, l), AT(&x[0], j, l)),
                                                    x[1].v[x[1].rows == 1 ? 0 : l]);
                r2 = toy_add(r2, toy_mul(d, d));
            }
            if (s->whole[0] == WG_SQUARED_EXPONENTIAL) k = toy_exp(toy_scale(-0.5L, r2));
            else if (r2.c[0] != 0 || s->whole[0] != WG_MATERN_12) toy_run.known = 0;
            AT(y, i, j) = toy_mul(sigma2, k);
            if (i == j) AT(y, i, j) = toy_add(AT(y, i, j), toy_mul(x[3].v[0], x[3].v[0]));
        }
}
