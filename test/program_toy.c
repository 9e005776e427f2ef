/* SPDX-License-Identifier: MIT */
/* program_toy.c - runs a program on the toy, operation by operation: statements and array
 * operations are taken apart in the order in which the library computes their values. */
#include <wengert/scalar.h>
#include "program.h"
#include "scalar_rows.h"

/* ---- the operations of a user's that program.c defines, as rows ---- */

#define SOFT (1 + fabs(x[0]))
static double softsign(const double *x, double v) { return (void)v, x[0] / SOFT; }
static double softsign_a(const double *x, double v) { return (void)v, 1 / (SOFT * SOFT); }
static double softsign_aa(const double *x, double v) {
    return (void)v, copysign(2.0, -x[0]) / (SOFT * SOFT * SOFT);
}
#define BELL exp(-x[1] * x[1])
static double blend(const double *x, double v) { return (void)v, x[0] * BELL; }
static double blend_a(const double *x, double v) { return (void)v, BELL; }
static double blend_b(const double *x, double v) { return -2 * x[1] * v; }
static double blend_aa(const double *x, double v) { return (void)x, (void)v, 0; }
static double blend_ab(const double *x, double v) { return (void)v, -2 * x[1] * BELL; }
static double blend_bb(const double *x, double v) { return (4 * x[1] * x[1] - 2) * v; }

static const struct scalar_row softsign_row = {"softsign", "GUARD",      1,
                                               softsign,   {softsign_a}, {{softsign_aa}}};
static const struct scalar_row blend_row = {
    "blend", "GUARD", 2, blend, {blend_a, blend_b}, {{blend_aa, blend_ab}, {NULL, blend_bb}}};

/* ---- statements: the names of wengert/scalar.h now build toy nodes ---- */

static size_t call(struct toy *t, const struct scalar_row *row, size_t x, size_t y, size_t z,
                   size_t w) {
    const size_t from[] = {x, y, z, w};
    return toy_apply(t, row, from);
}
#define CALL1(name, x) call(t, &scalar_rows[WGI_OP_##name], x, 0, 0, 0)
#define CALL2(name, x, y) call(t, &scalar_rows[WGI_OP_##name], x, y, 0, 0)
#define CALL3(name, x, y, z) call(t, &scalar_rows[WGI_OP_##name], x, y, z, 0)
#define CALL4(name, x, y, z, w) call(t, &scalar_rows[WGI_OP_##name], x, y, z, w)
#undef WGI_OPERATION1
#undef WGI_OPERATION2
#undef WGI_OPERATION3
#undef WGI_OPERATION4
#define WGI_OPERATION1(slope, name) const size_t wgi_e = CALL1(name, wgi_x)
#define WGI_OPERATION2(slope, name) const size_t wgi_e = CALL2(name, wgi_x, wgi_y)
#define WGI_OPERATION3(slope, name) const size_t wgi_e = CALL3(name, wgi_x, wgi_y, wgi_z)
#define WGI_OPERATION4(slope, name) const size_t wgi_e = CALL4(name, wgi_x, wgi_y, wgi_z, wgi_w)
#define N(c) toy_leaf(t, c)
#define SOFTSIGN(x) call(t, &softsign_row, x, 0, 0, 0)
#define BLEND(x, y) call(t, &blend_row, x, y, 0, 0)

#define FUSED(name, n, e)                                                                      \
    static size_t fused_##name(struct toy *t, const size_t *x) {                               \
        const size_t x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];                               \
        const size_t x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];                               \
        (void)x0, (void)x1, (void)x2, (void)x3, (void)x4, (void)x5, (void)x6, (void)x7;        \
        return e;                                                                              \
    }
#include "fused.def"
#undef FUSED

static size_t (*const fused[])(struct toy *t, const size_t *x) = {
#define FUSED(name, n, e) fused_##name,
#include "fused.def"
#undef FUSED
};

/* ---- array operations ---- */

static size_t fold(struct toy *t, const struct step *s, const size_t *x) {
    static const double coefficient[STEP_OPERANDS] = {1.5, -2, 0.25, 3, -0.75, 0, 1, -1.25};
    const size_t n = s->operands;
    size_t v = toy_leaf(t, s->op == STEP_PRODUCT ? 1 : n != 0 ? -0.0 : 0);
    switch (s->op) {
    case STEP_PRODUCT:
        for (size_t i = 0; i < n; i++) v = CALL2(mul, v, x[i]);
        return v;
    case STEP_DOT:
        for (size_t i = 0; i < n; i += 2) v = CALL2(add, v, CALL2(mul, x[i], x[i + 1]));
        return v;
    case STEP_LINEAR:
        for (size_t i = 0; i < n; i++)
            v = CALL2(add, v, CALL2(mul, toy_leaf(t, coefficient[i]), x[i]));
        return v;
    case STEP_POLYNOMIAL:
        if (n > 1) v = x[n - 2];
        for (size_t i = n - 1; i-- > 1;) v = CALL2(add, CALL2(mul, v, x[n - 1]), x[i - 1]);
        return v;
    case STEP_SQUARED_NORM:
        for (size_t i = 0; i < n; i++) v = CALL2(add, v, CALL2(mul, x[i], x[i]));
        return v;
    default:
        for (size_t i = 0; i < n; i++) v = CALL2(add, v, x[i]);
        return s->op == STEP_MEAN ? CALL2(div, v, toy_leaf(t, (double)n)) : v;
    }
}

void program_toy(const struct program *p, const double *x, struct toy *t, size_t *at) {
    toy_forget(t);
    for (size_t i = 0; i < p->inputs; i++) at[i] = toy_leaf(t, x[i]);
    for (size_t i = 0; i < p->steps; i++) {
        const struct step *s = &p->step[i];
        size_t from[STEP_OPERANDS] = {0};
        for (size_t k = 0; k < s->operands; k++)
            from[k] = s->from[k] >= 0 ? at[s->from[k]] : toy_leaf(t, s->number[k]);
        size_t *const to = &at[p->inputs + i];
        if (s->op < STEP_COPY) *to = toy_apply(t, &scalar_rows[s->op], from);
        else if (s->op == STEP_COPY) *to = from[0];
        else if (s->op < STEP_FUSED) *to = fold(t, s, from);
        else *to = fused[s->op - STEP_FUSED](t, from);
    }
}
