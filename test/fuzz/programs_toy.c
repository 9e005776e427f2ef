/* SPDX-License-Identifier: MIT */
/* programs_toy.c - series, scalar operations on them, and programs; see programs_toy.h. */
#include "programs_toy.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/operation.h>

enum { TOY_ENTRIES = 1 << 20 };
#define TOY_LARGE 1e120L
#define TOY_SMALL 1e-120L

struct toy_run toy_run;

/* ---- memory ---- */

static struct toy_series *entries;
static size_t used;

struct toy_matrix toy_new(size_t rows, size_t cols) {
    struct toy_matrix a = {rows, cols, NULL};
    if (entries == NULL) entries = malloc(TOY_ENTRIES * sizeof *entries);
    if (entries == NULL || rows * cols > TOY_ENTRIES - used) abort();
    a.v = entries + used;
    used += rows * cols;
    memset(a.v, 0, rows * cols * sizeof *a.v);
    return a;
}
void toy_forget(void) { used = 0; }
size_t toy_mark(void) { return used; }
void toy_rewind(size_t mark) { used = mark; }

/* ---- noise ---- */

/* Up to 2^-51 either way. */
static toy_real shake(void) {
    uint64_t *const u = &toy_run.noise.state;
    *u ^= *u >> 12, *u ^= *u << 25, *u ^= *u >> 27;
    return (toy_real)(int64_t)(*u * UINT64_C(2685821657736338717)) * 0x1p-114L;
}
/* What is lost of this by a partial that is no normal number, as a size of rounded(): half of
 * the least number there is, whatever the partial is multiplied by. */
static toy_real below_normal(toy_real by) {
    return fabsl(by) <= LDBL_MAX ? 0x1p50L * DBL_TRUE_MIN * fabsl(by) : 0;
}
/* A term that is a sum of terms of this size. */
static toy_real rounded(toy_real a, toy_real size) {
    return toy_run.noisy && size <= LDBL_MAX ? a + size * shake() : a;
}
static struct toy_series rounded_series(struct toy_series a) {
    for (int k = 0; k < TOY_TERMS && toy_run.noisy; k++) a.c[k] = rounded(a.c[k], a.c[k]);
    return a;
}

/* ---- series ---- */

/* A product among which one factor is a derivative: 0 if either is. */
static toy_real times(toy_real a, toy_real b) { return a == 0 || b == 0 ? 0 : a * b; }

struct toy_series toy_number(toy_real a) {
    struct toy_series y = {{a}};
    return y;
}
struct toy_series toy_scale(toy_real f, struct toy_series a) {
    a.c[0] *= f;
    for (int k = 1; k < TOY_TERMS; k++) a.c[k] = times(f, a.c[k]);
    return rounded_series(a);
}
/* Values of terms that cancel lose nothing; derivatives are added up with others, in an order
 * that is another one in sweeps. */
struct toy_series toy_add(struct toy_series a, struct toy_series b) {
    a.c[0] += b.c[0];
    a.c[0] = rounded(a.c[0], a.c[0]);
    for (int k = 1; k < TOY_TERMS; k++)
        a.c[k] = rounded(a.c[k] + b.c[k], fabsl(a.c[k]) + fabsl(b.c[k]));
    return a;
}
struct toy_series toy_sub(struct toy_series a, struct toy_series b) {
    for (int k = 0; k < TOY_TERMS; k++) b.c[k] = -b.c[k];
    return toy_add(a, b);
}
/* Of what is no number nothing is known: processors take ten times as long for its terms. */
static struct toy_series no_number(void) {
    struct toy_series y;
    toy_run.no_number = 1;
    for (int k = 0; k < TOY_TERMS; k++) y.c[k] = NAN;
    return y;
}
struct toy_series toy_mul(struct toy_series a, struct toy_series b) {
    struct toy_series y;
    y.c[0] = a.c[0] * b.c[0];
    if (y.c[0] != y.c[0]) return no_number();
    y.c[0] = rounded(y.c[0], y.c[0]);
    for (int k = 1; k < TOY_TERMS; k++) {
        toy_real size = y.c[k] = 0;
        for (int i = 0; i <= k; i++) {
            const toy_real term = times(a.c[i], b.c[k - i]);
            y.c[k] += term;
            size += fabsl(term);
        }
        y.c[k] = rounded(y.c[k], size);
    }
    return y;
}
struct toy_series toy_div(struct toy_series a, struct toy_series b) {
    struct toy_series y;
    if (b.c[0] == 0) toy_run.infinite = 1;
    y.c[0] = a.c[0] / b.c[0];
    if (y.c[0] != y.c[0]) return no_number();
    y.c[0] = rounded(y.c[0], y.c[0]);
    /* as by partials: powers of the slope of b, which may cancel others, and the partials
     * themselves, 1/b and a/b^2 and on, which may be no normal numbers */
    const toy_real slope = fabsl(b.c[1] / b.c[0]);
    toy_real power = fabsl(a.c[0]), other = fabsl(a.c[1]), by = fabsl(a.c[1]) + fabsl(b.c[1]);
    for (int k = 1; k < TOY_TERMS; k++) {
        power *= slope;
        toy_real sum = a.c[k], size = fabsl(sum) + power + other;
        other *= slope;
        for (int i = 1; i <= k; i++) {
            const toy_real term = times(b.c[i], y.c[k - i]);
            sum -= term;
            size += fabsl(term);
        }
        sum = rounded(sum, size);
        y.c[k] = sum == 0 ? 0 : sum / b.c[0];
        y.c[k] = rounded(y.c[k], below_normal(by));
        by *= fabsl(b.c[1]);
    }
    return y;
}

/* f of a series, f the Taylor coefficients of the function at a.c[0]. */
static struct toy_series compose(const toy_real *f, struct toy_series a) {
    const toy_real a1 = a.c[1], a2 = a.c[2], a3 = a.c[3];
    const toy_real t2[] = {times(f[1], a2), times(f[2], times(a1, a1))},
                   t3[] = {times(f[1], a3), 2 * times(f[2], times(a1, a2)),
                           times(f[3], times(a1, times(a1, a1)))};
    struct toy_series y;
    if (!(fabsl(f[1]) <= LDBL_MAX)) toy_run.infinite = 1;
    /* a partial that is no normal number is lost, whatever it is multiplied by */
    for (int k = 2; k < TOY_TERMS; k++)
        if (f[k] != 0 && !(fabsl(f[k]) >= DBL_MIN && fabsl(f[k]) <= DBL_MAX) &&
            fabsl(f[k]) <= LDBL_MAX && toy_run.terms > k)
            toy_run.terms = k;
    y.c[0] = rounded(f[0], f[0]);
    y.c[1] = times(f[1], a1);
    y.c[1] = rounded(y.c[1], y.c[1]);
    y.c[2] = rounded(t2[0] + t2[1], fabsl(t2[0]) + fabsl(t2[1]));
    y.c[3] = rounded(t3[0] + t3[1] + t3[2], fabsl(t3[0]) + fabsl(t3[1]) + fabsl(t3[2]));
    return y;
}
struct toy_series toy_sqrt(struct toy_series a) {
    const toy_real r = sqrtl(a.c[0]), q = a.c[0] + 0;
    const toy_real f[] = {r, 0.5L / (r + 0), -0.125L / (r + 0) / q, 0.0625L / (r + 0) / q / q};
    return compose(f, a);
}
struct toy_series toy_exp(struct toy_series a) {
    const toy_real e = expl(a.c[0]), f[] = {e, e, e / 2, e / 6};
    return compose(f, a);
}
struct toy_series toy_log(struct toy_series a) {
    const toy_real x = a.c[0] + 0, v = logl(x);
    const toy_real f[] = {v, x < 0 ? v : 1 / x, x < 0 ? v : -0.5L / x / x,
                          x < 0 ? v : 1 / (3 * x) / x / x};
    return compose(f, a);
}

/* ---- scalar operations ---- */

static int formula(const char *name, const struct toy_series *x, struct toy_series *y) {
    const toy_real a = x[0].c[0];
    toy_real f[TOY_TERMS];
#define IS(text) (strcmp(name, text) == 0)
    if (IS("neg")) *y = toy_scale(-1, x[0]);
    else if (IS("add")) *y = toy_add(x[0], x[1]);
    else if (IS("sub")) *y = toy_sub(x[0], x[1]);
    else if (IS("mul")) *y = toy_mul(x[0], x[1]);
    else if (IS("div")) *y = toy_div(x[0], x[1]);
    else if (IS("fma")) *y = toy_add(toy_mul(x[0], x[1]), x[2]);
    else if (IS("reciprocal")) *y = toy_div(toy_number(1), x[0]);
    else if (IS("square")) *y = toy_mul(x[0], x[0]);
    else if (IS("cube")) *y = toy_mul(toy_mul(x[0], x[0]), x[0]);
    else if (IS("sqrt")) *y = toy_sqrt(x[0]);
    else if (IS("rsqrt") && a > 0 && a <= DBL_MAX) /* a slope of it may underflow in double */
        *y = toy_div(toy_number(1), toy_sqrt(x[0]));
    else if (IS("exp")) *y = toy_exp(x[0]);
    else if (IS("log")) *y = toy_log(x[0]);
    else if (IS("sin") || IS("cos")) {
        const toy_real s = sinl(a), c = cosl(a), u = IS("sin") ? s : c, v = IS("sin") ? c : -s;
        f[0] = u, f[1] = v, f[2] = -u / 2, f[3] = -v / 6;
        *y = compose(f, x[0]);
    } else if (IS("tanh")) {
        const toy_real v = tanhl(a), s = 1 / coshl(a) / coshl(a);
        f[0] = v, f[1] = s, f[2] = -v * s, f[3] = s * (3 * v * v - 1) / 3;
        *y = compose(f, x[0]);
    } else if (IS("atan")) {
        const toy_real q = 1 / (1 + a * a);
        f[0] = atanl(a), f[1] = q, f[2] = -a * q * q, f[3] = (a * a - 1.0L / 3) * q * q * q;
        *y = compose(f, x[0]);
    } else if (IS("sigmoid")) {
        const toy_real v = 1 / (1 + expl(-a)), u = 1 / (1 + expl(a)), s = u * v;
        f[0] = v, f[1] = s, f[2] = -s * tanhl(a / 2) / 2, f[3] = s * (1 - 6 * s) / 6;
        *y = compose(f, x[0]);
    } else return 0;
#undef IS
    return 1;
}

/* From the partials of the row: two terms beyond the value. */
static struct toy_series by_row(const wg_scalar_op *op, const struct toy_series *x) {
    double a[4], d[4] = {0}, h[10] = {0};
    struct toy_series y;
    unsigned packed = 0;
    for (unsigned i = 0; i < op->arity; i++) a[i] = (double)x[i].c[0];
    y.c[0] = op->value(a);
    op->first(a, (double)y.c[0], d);
    if (op->second != NULL) (void)op->second(a, d, h);
    y.c[1] = y.c[2] = y.c[3] = 0;
    for (unsigned i = 0; i < op->arity; i++) {
        if (op->zero_first >> i & 1) d[i] = 0;
        if (!(fabs(d[i]) <= DBL_MAX)) toy_run.infinite = 1;
        for (int k = 1; k < TOY_TERMS; k++) {
            const toy_real term = times(d[i], x[i].c[k]);
            y.c[k] += rounded(term, 4 * term);
        }
        for (unsigned j = i; j < op->arity; j++, packed++) {
            if (op->second == NULL || op->zero_second >> packed & 1) continue;
            if (!(fabs(h[packed]) <= DBL_MAX)) toy_run.infinite = 1;
            const toy_real square = times(x[i].c[1], x[j].c[1]);
            const toy_real term = times(h[packed], i == j ? square / 2 : square);
            y.c[2] += rounded(term, 4 * term);
            if (toy_run.terms > 3) toy_run.terms = 3;
        }
    }
    return y;
}

#define JUMP 0.25

static int jumps(double a, double b) { return a == a || b == b ? !(fabs(a - b) <= JUMP) : 0; }

/* What BLAS makes of a 0, in all operands at once: does that decide a jump, or one of a slope?
 */
static void look_beside_0(const wg_scalar_op *op, const double *a, const double *zeros) {
    double d[4] = {0}, to[4] = {0};
    const double here = op->value(a), there = op->value(zeros);
    if (here != there && jumps(here, there)) toy_run.known = 0;
    op->first(a, here, d);
    op->first(zeros, there, to);
    for (unsigned i = 0; i < op->arity; i++)
        if (d[i] != to[i] && !(op->zero_first >> i & 1) && jumps(d[i], to[i]))
            toy_run.terms = 1;
}

/* The same of two operands that are equal but for what BLAS rounds. */
static void look_at_equals(const wg_scalar_op *op, double *a) {
    for (unsigned i = 0; i < op->arity && toy_run.blas; i++)
        for (unsigned j = 0; j < op->arity; j++) {
            const double old = a[i];
            double other[4];
            if (i == j || old == 0 || !(fabs(old - a[j]) <= (double)TOY_ROUNDED_0 * fabs(old)))
                continue;
            memcpy(other, a, sizeof other);
            for (int k = -1; k <= 1; k++) {
                other[i] = a[j] * (1 + k * DBL_EPSILON);
                look_beside_0(op, a, other);
            }
        }
}

/* Does the sign of the zero that is operand i decide a first partial, or a second one? What is
 * no number is none on either side. */
static void look_at_sign(const wg_scalar_op *op, double *a, unsigned i) {
    double d[2][4] = {{0}}, h[2][10] = {{0}};
    unsigned packed = 0;
    for (int side = 0; side < 2; side++, a[i] = -a[i]) {
        op->first(a, op->value(a), d[side]);
        if (op->second != NULL) (void)op->second(a, d[side], h[side]);
    }
    for (unsigned k = 0; k < op->arity; k++) {
        if (d[0][k] != d[1][k] && d[0][k] == d[0][k] && !(op->zero_first >> k & 1))
            toy_run.zero_sign_from = 1;
        for (unsigned j = k; j < op->arity; j++, packed++)
            if (h[0][packed] != h[1][packed] && h[0][packed] == h[0][packed] &&
                !(op->zero_second >> packed & 1) && toy_run.zero_sign_from > 2)
                toy_run.zero_sign_from = 2;
    }
}

/* At a jump that the sign of a zero decides, which BLAS and loops leave open, or that of what is
 * no number; or that what BLAS makes of a 0 decides. */
static void look_for_jumps(const wg_scalar_op *op, const struct toy_series *x) {
    double a[4] = {0}, zeros[3][4];
    int rounded_0 = 0;
    for (unsigned i = 0; i < op->arity; i++) {
        a[i] = zeros[0][i] = zeros[1][i] = zeros[2][i] = (double)x[i].c[0];
        if (!(toy_run.blas && fabs(a[i]) < (double)TOY_ROUNDED_0)) continue;
        zeros[0][i] = 0, zeros[1][i] = DBL_EPSILON, zeros[2][i] = -DBL_EPSILON;
        rounded_0 = 1;
    }
    for (int k = 0; k < 3 && rounded_0; k++) look_beside_0(op, a, zeros[k]);
    look_at_equals(op, a);
    for (unsigned i = 0; i < op->arity; i++) {
        const double here = op->value(a), old = a[i];
        if (old == old && old != 0) continue;
        if (old == 0) look_at_sign(op, a, i);
        a[i] = -old;
        const double there = op->value(a);
        a[i] = old;
        if (there == here || here != here) continue;
        if (old != old) toy_run.known = 0;
        else toy_run.infinite = toy_run.zero_sign = 1;
    }
}

struct toy_series toy_scalar(const wg_scalar_op *op, const struct toy_series *x) {
    struct toy_series y;
    look_for_jumps(op, x);
    if (strcmp(op->name, "pow") == 0 && fabsl(x[0].c[0]) <= (toy_run.blas ? TOY_ROUNDED_0 : 0))
        toy_run.power_of_0 = 1;
    return rounded_series(formula(op->name, x, &y) ? y : by_row(op, x));
}

/* ---- noise of matrices ---- */

toy_real toy_largest(const struct toy_matrix *a, int k) {
    toy_real most = 0;
    for (size_t i = 0; i < a->rows * a->cols; i++) {
        const toy_real size = fabsl(a->v[i].c[k]);
        if (size > most && size <= LDBL_MAX) most = size;
    }
    return most;
}

/* A term is as large as it is, or as powers of the first one make it: what a method goes
 * through has such terms, even where they cancel at its end. */
void toy_noise(struct toy_matrix *a) {
    const toy_real value = toy_largest(a, 0), slope = toy_largest(a, 1);
    toy_real power = value;
    if (!toy_run.noisy) return;
    for (int k = 0; k < TOY_TERMS; k++) {
        toy_real size = toy_largest(a, k);
        if (power > size && power <= LDBL_MAX) size = power;
        for (size_t i = 0; i < a->rows * a->cols; i++) a->v[i].c[k] += 2 * size * shake();
        power = value > 0 ? power * (slope / value) : 0;
    }
}

void toy_tear(struct toy_matrix *a) {
    for (size_t i = 0; i < a->rows * a->cols && toy_run.torn; i++)
        for (int k = 1; k < TOY_TERMS; k++)
            if (shake() < 0) a->v[i].c[k] = -a->v[i].c[k];
}

/* What is met: beyond the range of doubles nothing is known, and near its ends little. */
static void look(const struct toy_matrix *a, int blas) {
    for (size_t i = 0; i < a->rows * a->cols; i++)
        for (int k = 0; k < toy_run.terms; k++) {
            const toy_real size = fabsl(a->v[i].c[k]);
            if (size == 0) continue;
            if (!(size >= TOY_SMALL && size <= TOY_LARGE)) toy_run.extreme = 1;
            if (size < DBL_MIN || (size > DBL_MAX && (size <= LDBL_MAX || blas)))
                toy_run.known = 0;
        }
}

/* ---- programs ---- */

struct toy_matrix toy_nodes(const struct program_case *c, size_t self,
                            const struct toy_series *x) {
    const struct program *const p = &c->program[self];
    struct toy_matrix node[PROGRAM_NODES];
    for (size_t i = 0; i < p->inputs; i++) {
        node[i] = toy_new(p->node[i].rows, p->node[i].cols);
        memcpy(node[i].v, x, node[i].rows * node[i].cols * sizeof *x);
        x += node[i].rows * node[i].cols;
        look(&node[i], 0);
    }
    for (size_t i = 0; i < p->steps; i++) {
        const struct program_step *const s = &p->step[i];
        const struct program_shape *const shape = &p->node[p->inputs + i];
        struct toy_matrix in[PROGRAM_OPERANDS], *const out = &node[p->inputs + i];
        *out = toy_new(shape->rows, shape->cols);
        const size_t mark = toy_mark();
        for (size_t k = 0; k < s->operands; k++)
            in[k] = s->trans >> k & 1 ? toy_transpose(&node[s->from[k]])
                                      : toy_copy(&node[s->from[k]]);
        for (size_t k = 0; k < s->operands; k++) toy_tear(&in[k]);
        for (size_t k = 0; k < s->operands && s->op->backward; k++) {
            look(&in[k], 1); /* there an infinite slope spreads */
            toy_noise(&in[k]);
        }
        if (s->op->toy == NULL) toy_run.known = 0;
        if (!toy_run.known) return *out;
        s->op->toy(c, s, in, out);
        for (size_t e = 0; s->op == toy_run.planted && e < out->rows * out->cols; e++)
            out->v[e].c[1] *= 1 + TOY_PLANTED;
        if (s->op->backward) toy_noise(out), toy_run.blas = 1;
        for (size_t e = 0; e < out->rows * out->cols && s->op->backward; e++)
            if (out->v[e].c[0] != out->v[e].c[0]) toy_run.no_number = 1;
        look(out, 0);
        toy_rewind(mark);
    }
    return node[p->inputs + p->steps - 1];
}

void toy_program(const struct program_case *c, size_t self, const struct toy_series *x,
                 struct toy_series *y) {
    toy_run.known = 1;
    toy_run.terms = TOY_TERMS;
    toy_run.nan_from = TOY_TERMS;
    toy_run.condition = 1;
    toy_run.zero_sign_from = TOY_TERMS;
    toy_run.extreme = toy_run.infinite = toy_run.zero_sign = toy_run.power_of_0 = 0;
    toy_run.blas = toy_run.no_number = 0;
    const struct toy_matrix last = toy_nodes(c, self, x);
    for (size_t j = 0; j < c->program[self].m; j++) y[j] = last.v[j];
    toy_forget();
}
