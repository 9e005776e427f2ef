/* SPDX-License-Identifier: MIT */
/* Functions of symmetric matrices: A = V diag(w) V', f(A) = V diag(f(w)) V'.
 *
 *     A_ = L(A, F_),  F. = L(A, A.),  L(A, W) = V (D o V' W V) V',
 *     D_ij = f[w_i, w_j], the divided difference (f(w_i) - f(w_j)) / (w_i - w_j), or f'(w_i)
 *     L(A, .) is its own adjoint. Of L by A, along P, with W~ = V' W V, P~ = V' P V:
 *     V T V',  T_ij = sum over k of f[w_i, w_k, w_j] (W~_ik P~_kj + P~_ik W~_kj),
 *     the same with W and P exchanged
 *
 * Adjoints and tangents enter with their symmetric parts only. Sources: Daletskii and Krein
 * 1965; Higham 2008, 3.2. */
#include "spectral.h"
#include "symmetric_rules.h"
#include "traits.h"
#include "whole.h"

#include <wengert/spectral.h>

#include <math.h>
#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* A function of the table as a call has it: its row, and what the row gets: the user's
 * functions, or the exponent as their data. params of WGI_RULE_POWER: the exponent; of
 * WGI_RULE_USER: a wg_symmetric_function. */
typedef struct chosen {
    const wgi_symmetric_rule *r;
    double p;
    wg_symmetric_function user;
} chosen;

static chosen chosen_of(const wg_block *b, int which) {
    chosen c;
    memset(&c, 0, sizeof c);
    c.r = &wgi_symmetric_rules[which];
    if (which == WGI_RULE_POWER) {
        c.p = *(const double *)b->params;
        c.user.data = (void *)(uintptr_t)b->params;
    }
    if (which == WGI_RULE_USER) memcpy(&c.user, b->params, sizeof c.user);
    return c;
}

static wg_status square_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n) return wgi_block_refuse(b, WG_ESHAPE, "the matrix is not square");
    if (n > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    b->out[0].rows = b->out[0].cols = n;
    return WG_OK;
}

/* ---- f(A) ---- */

static wg_status function_room(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->saved_bytes = (n * n + n) * sizeof(double); /* V, w */
    b->work_bytes = larger(wgi_spectral_lapack_bytes(n), (3 * n * n + n) * sizeof(double));
    return square_shape(b);
}

static wg_status function_shape(wg_block *b, int which) {
    const chosen c = chosen_of(b, which);
    if (which == WGI_RULE_USER && (c.user.f == NULL || c.user.slope == NULL))
        return wgi_block_refuse(b, WG_ENULL, "no function, or no slope");
    if (which == WGI_RULE_POWER && !isfinite(c.p))
        return wgi_block_refuse(b, WG_EARG, "the exponent is not finite");
    return function_room(b);
}

/* V to vw, and behind it w, as the function takes them. */
static wg_status eigen(wg_block *b, const chosen *c, double *vw) {
    const size_t n = b->in[0].rows;
    double *const w = vw + n * n;
    if (!wgi_spectral_lower(n, b->in[0].value, b->in[0].ld, vw))
        return wgi_spectral_not_finite(b);
    wg_status s = wgi_spectral_decompose(b, n, vw, w, b->work);
    const double noise = s == WG_OK ? wgi_spectral_tie(n, w) : 0;
    for (size_t i = 0; s == WG_OK && i < n; i++) s = c->r->take(c->p, &w[i], noise, &b->why);
    return s;
}

static wg_status function_value(wg_block *b, int which) {
    const size_t n = b->in[0].rows;
    const int m = wgi_int(n);
    const chosen c = chosen_of(b, which);
    double *const v = b->saved, *const w = v + n * n, *const x = b->work;
    double *const out = b->out[0].value, *const f = x + n * n;
    if (n == 0) return WG_OK;
    const wg_status s = eigen(b, &c, v);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i++) f[i] = c.r->f(&c.user, w[i]);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) x[i + j * n] = v[i + j * n] * f[j];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, m, m, 1, x, m, v, m, 0, out, m);
    (void)wgi_spectral_symmetric(n, out, n, out);
    return WG_OK;
}

/* to += L(A, from) for V and w of A in vw. */
static wg_status derivative(wg_block *b, const chosen *c, const double *vw, const double *from,
                            size_t from_ld, double *to, size_t to_ld) {
    const size_t n = b->in[0].rows;
    const double *const v = vw, *const w = v + n * n;
    double *const m = b->work, *const x = m + n * n, *const g = x + n * n;
    const double tie = wgi_spectral_tie(n, w);
    (void)wgi_spectral_symmetric(n, from, from_ld, m);
    wgi_spectral_into_basis(n, v, m, x, m);
    const double nothing = wgi_spectral_nothing(n, wgi_spectral_largest(n * n, m));
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            const double d = w[i] - w[j] <= tie ? c->r->slope(&c->user, 0.5 * w[i] + 0.5 * w[j])
                                                : c->r->divided(&c->user, w[j], w[i]);
            double *const e = &m[i + j * n];
            if (!isfinite(d)) {
                if (!(fabs(*e) <= nothing))
                    return wgi_block_refuse(b, WG_EDEGENERATE,
                                            "the slope at an eigenvalue is not finite");
                *e = 0;
            } else *e *= i == j ? 0.5 * d : d;
        }
    wgi_spectral_congruence(n, 1, v, CblasLower, m, x, g, to, to_ld);
    return WG_OK;
}

static wg_status function_vjp(wg_block *b, int which) {
    const chosen c = chosen_of(b, which);
    if (b->in[0].rows == 0 || b->in[0].bar == NULL) return WG_OK;
    return derivative(b, &c, b->saved, b->out[0].bar, b->out[0].bar_ld, b->in[0].bar,
                      b->in[0].bar_ld);
}

static wg_status function_jvp(wg_block *b, int which) {
    const size_t n = b->in[0].rows, ld = b->out[0].bar_ld;
    const chosen c = chosen_of(b, which);
    if (n == 0) return WG_OK;
    for (size_t j = 0; j < n; j++) memset(b->out[0].bar + j * ld, 0, n * sizeof(double));
    if (b->in[0].bar == NULL) return WG_OK;
    return derivative(b, &c, b->saved, b->in[0].bar, b->in[0].bar_ld, b->out[0].bar, ld);
}

/* ---- L(A, W), the adjoint of f(A) as an operation of both ---- */

/* What of A is known already: its V and w, behind the exponent of a power. In a function, where
 * A is another one at each point, there is none. */
struct along {
    double p;
    const double *vw; /* NULL: to be found */
};
struct along_user {
    wg_symmetric_function user;
    const double *vw;
};
static const double *known(const wg_block *b, int which, int in_function) {
    if (in_function) return NULL;
    return which == WGI_RULE_USER ? ((const struct along_user *)b->params)->vw
                                  : ((const struct along *)b->params)->vw;
}

static wg_status along_shape(wg_block *b, int in_function) {
    const size_t n = b->in[0].rows;
    const size_t room = (6 * n * n + n) * sizeof(double);
    b->saved_bytes = in_function ? (n * n + n) * sizeof(double) : 0;
    b->work_bytes = in_function ? larger(room, wgi_spectral_lapack_bytes(n)) : room;
    return square_shape(b);
}

static wg_status along_value(wg_block *b, int which, int in_function) {
    const size_t n = b->in[0].rows;
    const chosen c = chosen_of(b, which);
    const double *const given = known(b, which, in_function);
    if (n == 0) return WG_OK;
    const wg_status s = given != NULL ? WG_OK : eigen(b, &c, b->saved);
    if (s != WG_OK) return s;
    if (!wgi_spectral_finite(n, n, b->in[1].value, b->in[1].ld))
        return wgi_spectral_not_finite(b);
    memset(b->out[0].value, 0, n * n * sizeof(double));
    return derivative(b, &c, given != NULL ? given : b->saved, b->in[1].value, b->in[1].ld,
                      b->out[0].value, n);
}

/* f[w_i, w_j, w_k], whatever their order. */
static double second_at(const chosen *c, double x, double y, double z) {
    const double low = fmin(x, fmin(y, z)), high = fmax(x, fmax(y, z));
    const double mid = fmax(fmin(x, y), fmin(fmax(x, y), z));
    return c->r->second(&c->user, low, mid, high);
}

/* T of the head, the lower triangle with half the diagonal; p, q symmetric. 0: an infinite
 * difference is not multiplied by 0. */
static int both_along(const chosen *c, size_t n, const double *w, const double *p,
                      const double *q, double *t) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) {
                const double by = p[k + i * n] * q[k + j * n] + q[k + i * n] * p[k + j * n];
                const double d = by != 0 ? second_at(c, w[i], w[k], w[j]) : 0;
                if (by != 0 && !isfinite(d)) return 0;
                sum += d * by;
            }
            t[i + j * n] = i == j ? 0.5 * sum : sum;
        }
    return 1;
}

/* to += the derivative of L(A, W) by A along P, for V and w of A in vw. */
static wg_status second_derivative(wg_block *b, const chosen *c, const double *vw,
                                   const double *of, size_t ld_of, const double *p, size_t ld_p,
                                   double *to, size_t ld) {
    const size_t n = b->in[0].rows;
    const double *const v = vw, *const w = v + n * n;
    double *const x = b->work, *const g = x + n * n, *const of_w = g + n * n;
    double *const of_a = of_w + n * n, *const t = of_a + n * n;
    (void)wgi_spectral_symmetric(n, of, ld_of, of_w);
    wgi_spectral_into_basis(n, v, of_w, x, of_w);
    (void)wgi_spectral_symmetric(n, p, ld_p, of_a);
    wgi_spectral_into_basis(n, v, of_a, x, of_a);
    if (!both_along(c, n, w, of_w, of_a, t))
        return wgi_block_refuse(b, WG_EDEGENERATE,
                                "the second derivative at an eigenvalue is not finite");
    wgi_spectral_congruence(n, 1, v, CblasLower, t, x, g, to, ld);
    return WG_OK;
}

static wg_status along_jvp(wg_block *b, int which, int in_function) {
    const size_t n = b->in[0].rows;
    const chosen c = chosen_of(b, which);
    const double *const vw = in_function ? b->saved : known(b, which, in_function);
    double *const out = b->out[0].bar;
    memset(out, 0, n * n * sizeof *out);
    if (n == 0) return WG_OK;
    if (b->in[1].bar != NULL) {
        const wg_status s = derivative(b, &c, vw, b->in[1].bar, b->in[1].bar_ld, out, n);
        if (s != WG_OK) return s;
    }
    if (b->in[0].bar == NULL) return WG_OK;
    return second_derivative(b, &c, vw, b->in[1].value, b->in[1].ld, b->in[0].bar,
                             b->in[0].bar_ld, out, n);
}

static wg_status along_vjp(wg_block *b, int which, int in_function) {
    const size_t n = b->in[0].rows;
    const chosen c = chosen_of(b, which);
    const double *const vw = in_function ? b->saved : known(b, which, in_function);
    const wg_block_arg *const a = &b->in[0], *const w = &b->in[1], *const out = &b->out[0];
    if (n == 0) return WG_OK;
    if (w->bar != NULL) {
        const wg_status s = derivative(b, &c, vw, out->bar, out->bar_ld, w->bar, w->bar_ld);
        if (s != WG_OK) return s;
    }
    if (a->bar == NULL) return WG_OK;
    return second_derivative(b, &c, vw, w->value, w->ld, out->bar, out->bar_ld, a->bar,
                             a->bar_ld);
}

/* ---- the derivative of L(A, W) by A along P, as an operation of all three: of functions
 * only ---- */

static wg_status second_shape(wg_block *b) { return along_shape(b, 1); }

static wg_status second_value(wg_block *b, int which) {
    const size_t n = b->in[0].rows;
    const chosen c = chosen_of(b, which);
    if (n == 0) return WG_OK;
    const wg_status s = eigen(b, &c, b->saved);
    if (s != WG_OK) return s;
    for (size_t i = 1; i < 3; i++)
        if (!wgi_spectral_finite(n, n, b->in[i].value, b->in[i].ld))
            return wgi_spectral_not_finite(b);
    memset(b->out[0].value, 0, n * n * sizeof(double));
    return second_derivative(b, &c, b->saved, b->in[1].value, b->in[1].ld, b->in[2].value,
                             b->in[2].ld, b->out[0].value, n);
}

/* It is never swept: in a function it is taken apart. */
static wg_status second_vjp(wg_block *b) {
    return wgi_block_refuse(
        b, WG_EMODE, "third derivatives of a function of a symmetric matrix are not known");
}

/* ---- descriptors ---- */

/* By A: the derivative of L(A, W) along the adjoint, for it is symmetric in all it takes. */
static wg_status along_adjoint(wg_tape *t, const wg_block_op *along, const wg_block_op *second,
                               size_t bytes, const wg_block *b, const wg_mat *in,
                               const wg_mat *bar, wg_mat *back) {
    const wg_mat of[3] = {in[0], in[1], bar[0]}, by_w[2] = {in[0], bar[0]};
    const wg_status s = wg_apply(t, second, b->params, bytes, 3, of, 1, &back[0]);
    return s != WG_OK ? s : wg_apply(t, along, b->params, bytes, 2, by_w, 1, &back[1]);
}

/* By W and by P it is linear; by A it would be a third derivative. */
static wg_status second_adjoint(wg_tape *t, const wg_block_op *second, size_t bytes,
                                wg_block *b, const wg_mat *in, const wg_mat *bar,
                                wg_mat *back) {
    const wg_mat by_w[3] = {in[0], in[2], bar[0]}, by_p[3] = {in[0], in[1], bar[0]};
    b->why = "third derivatives of a function of a symmetric matrix are not known";
    back[0] = wg_mat_failed(in[0].rows, in[0].cols);
    const wg_status s = wg_apply(t, second, b->params, bytes, 3, by_w, 1, &back[1]);
    return s != WG_OK ? s : wg_apply(t, second, b->params, bytes, 3, by_p, 1, &back[2]);
}

#define FUNCTION(NAME, name, adjoint, traits)                                                  \
    static wg_status name##_shape(wg_block *b) { return function_shape(b, NAME); }             \
    static wg_status name##_value(wg_block *b) { return function_value(b, NAME); }             \
    static wg_status name##_vjp(wg_block *b) { return function_vjp(b, NAME); }                 \
    static wg_status name##_jvp(wg_block *b) { return function_jvp(b, NAME); }                 \
    static const wg_block_op name##_op = {"wg_symmetric_" #name,                               \
                                          WG_OP_TRANS,                                         \
                                          name##_shape,                                        \
                                          name##_value,                                        \
                                          name##_vjp,                                          \
                                          name##_jvp,                                          \
                                          NULL,                                                \
                                          adjoint,                                             \
                                          traits};

/* L and its derivative of a function of the table: on tapes (`tape`), and in functions. */
#define WITH_SECOND(NAME, name, numbers)                                                       \
    static wg_status name##_along_value(wg_block *b) { return along_value(b, NAME, 1); }       \
    static wg_status name##_along_vjp(wg_block *b) { return along_vjp(b, NAME, 1); }           \
    static wg_status name##_along_jvp(wg_block *b) { return along_jvp(b, NAME, 1); }           \
    static wg_status name##_known_value(wg_block *b) { return along_value(b, NAME, 0); }       \
    static wg_status name##_known_vjp(wg_block *b) { return along_vjp(b, NAME, 0); }           \
    static wg_status name##_known_jvp(wg_block *b) { return along_jvp(b, NAME, 0); }           \
    static wg_status name##_second_value(wg_block *b) { return second_value(b, NAME); }        \
    static const wg_block_op name##_along_op, name##_second_op;                                \
    static wg_status name##_along_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,           \
                                          const wg_mat *out, const wg_mat *bar,                \
                                          wg_mat *back) {                                      \
        (void)out;                                                                             \
        return along_adjoint(t, &name##_along_op, &name##_second_op, numbers * sizeof(double), \
                             b, in, bar, back);                                                \
    }                                                                                          \
    static wg_status name##_second_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,          \
                                           const wg_mat *out, const wg_mat *bar,               \
                                           wg_mat *back) {                                     \
        (void)out;                                                                             \
        return second_adjoint(t, &name##_second_op, numbers * sizeof(double), b, in, bar,      \
                              back);                                                           \
    }                                                                                          \
    const wgi_whole wgi_whole_symmetric_##name##_along = {                                     \
        &name##_along_op, "nnnn", "nn", NULL, NULL, 0, numbers, 40};                           \
    const wgi_whole wgi_whole_symmetric_##name##_second = {                                    \
        &name##_second_op, "nnnnnn", "nn", NULL, NULL, 0, numbers, 60};                        \
    static const wgi_traits name##_along_traits = {.whole =                                    \
                                                       &wgi_whole_symmetric_##name##_along};   \
    static const wgi_traits name##_second_traits = {.whole =                                   \
                                                        &wgi_whole_symmetric_##name##_second}; \
    static const wg_block_op name##_along_op = {"symmetric_" #name "_derivative",              \
                                                0,                                             \
                                                second_shape,                                  \
                                                name##_along_value,                            \
                                                name##_along_vjp,                              \
                                                name##_along_jvp,                              \
                                                NULL,                                          \
                                                name##_along_adjoint,                          \
                                                &name##_along_traits};                         \
    static const wg_block_op name##_second_op = {"symmetric_" #name "_second_derivative",      \
                                                 0,                                            \
                                                 second_shape,                                 \
                                                 name##_second_value,                          \
                                                 second_vjp,                                   \
                                                 NULL,                                         \
                                                 NULL,                                         \
                                                 name##_second_adjoint,                        \
                                                 &name##_second_traits};                       \
    static wg_status name##_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,                 \
                                    const wg_mat *out, const wg_mat *bar, wg_mat *back) {      \
        static const wg_block_op op = {"derivative of wg_symmetric_" #name,                    \
                                       0,                                                      \
                                       known_shape,                                            \
                                       name##_known_value,                                     \
                                       name##_known_vjp,                                       \
                                       name##_known_jvp,                                       \
                                       NULL,                                                   \
                                       NULL,                                                   \
                                       &name##_along_traits};                                  \
        const struct along p = {b->params != NULL ? *(const double *)b->params : 0, b->saved}; \
        const wg_mat of[2] = {in[0], bar[0]};                                                  \
        (void)out;                                                                             \
        return wg_apply(t, &op, &p, sizeof p, 2, of, 1, back);                                 \
    }                                                                                          \
    static const wg_block_op name##_op;                                                        \
    const wgi_whole wgi_whole_symmetric_##name = {&name##_op, "nn", "nn",    NULL,             \
                                                  NULL,       0,    numbers, 25};              \
    static const wgi_traits name##_traits = {.whole = &wgi_whole_symmetric_##name};            \
    FUNCTION(NAME, name, name##_adjoint, &name##_traits)

static wg_status known_shape(wg_block *b) { return along_shape(b, 0); }

WITH_SECOND(WGI_RULE_EXP, exp, 0)
WITH_SECOND(WGI_RULE_LOG, log, 0)
WITH_SECOND(WGI_RULE_SQRT, sqrt, 0)
WITH_SECOND(WGI_RULE_INVERSE_SQRT, inverse_sqrt, 0)
WITH_SECOND(WGI_RULE_POWER, power, 1)

/* Functions of the user's in functions (own of traits.h). Rules record `nothing` in the place
 * of what is a node then. */
enum { OWN_NUMBERS = sizeof(wg_symmetric_function) / sizeof(double) };
_Static_assert(sizeof(wg_symmetric_function) == OWN_NUMBERS * sizeof(double),
               "addresses are as long as numbers");
static const wgi_traits own_traits = {.own = 1};

static wg_status own_value(wg_block *b) { return function_value(b, WGI_RULE_USER); }
static wg_status own_along_value(wg_block *b) { return along_value(b, WGI_RULE_USER, 1); }
static wg_status own_second_value(wg_block *b) { return second_value(b, WGI_RULE_USER); }
static wg_status nothing_value(wg_block *b) {
    memset(b->out[0].value, 0, b->out[0].rows * b->out[0].cols * sizeof(double));
    return WG_OK;
}

#define OWN(name, shape, operands, flops)                                                      \
    static wg_status name##_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out, \
                                 const wg_mat *bar, wg_mat *back);                             \
    static const wg_block_op name##_op = {"wg_symmetric_apply", 0,    shape, name##_value,     \
                                          second_vjp,           NULL, NULL,  NULL,             \
                                          &own_traits};                                        \
    const wgi_whole wgi_whole_symmetric_##name = {                                             \
        &name##_op, operands, "nn", name##_rule, NULL, 0, OWN_NUMBERS, flops};                 \
    static const wgi_traits name##_as_node = {.whole = &wgi_whole_symmetric_##name}
#define NOTHING(name)                                                                          \
    static const wg_block_op name##_nothing = {                                                \
        "wg_symmetric_apply", 0, second_shape, nothing_value, second_vjp, NULL, NULL, NULL,    \
        &name##_as_node}

OWN(own, function_room, "nn", 25);
OWN(own_along, second_shape, "nnnn", 40);
OWN(own_second, second_shape, "nnnnnn", 60);
NOTHING(own_along);
NOTHING(own_second);

static wg_status own_second_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    (void)out;
    return second_adjoint(t, &own_second_nothing, sizeof(wg_symmetric_function), b, in, bar,
                          back);
}
static wg_status own_along_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    const wg_mat by_w[2] = {in[0], bar[0]};
    const size_t bytes = sizeof(wg_symmetric_function);
    (void)out;
    if (chosen_of(b, WGI_RULE_USER).user.curve != NULL)
        return along_adjoint(t, &own_along_nothing, &own_second_nothing, bytes, b, in, bar,
                             back);
    b->why = "its user has given no curve";
    back[0] = wg_mat_failed(in[0].rows, in[0].cols);
    return wg_apply(t, &own_along_nothing, b->params, bytes, 2, by_w, 1, &back[1]);
}
static wg_status own_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                          const wg_mat *bar, wg_mat *back) {
    const wg_mat of[2] = {in[0], bar[0]};
    (void)out;
    return wg_apply(t, &own_along_nothing, b->params, sizeof(wg_symmetric_function), 2, of, 1,
                    back);
}

FUNCTION(WGI_RULE_USER, apply, NULL, &own_as_node)

/* With a curve the user's function has second derivatives; a function of its own it is not. */
static wg_status apply_known_value(wg_block *b) { return along_value(b, WGI_RULE_USER, 0); }
static wg_status apply_known_vjp(wg_block *b) { return along_vjp(b, WGI_RULE_USER, 0); }
static wg_status apply_known_jvp(wg_block *b) { return along_jvp(b, WGI_RULE_USER, 0); }
static wg_status apply_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"derivative of wg_symmetric_apply",
                                   0,
                                   known_shape,
                                   apply_known_value,
                                   apply_known_vjp,
                                   apply_known_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const struct along_user p = {*(const wg_symmetric_function *)b->params, b->saved};
    const wg_mat of[2] = {in[0], bar[0]};
    (void)out;
    return wg_apply(t, &op, &p, sizeof p, 2, of, 1, back);
}
static const wg_block_op apply_twice_op = {
    "wg_symmetric_apply", WG_OP_TRANS, apply_shape, apply_value, apply_vjp, apply_jvp, NULL,
    apply_adjoint,        &own_as_node};

/* ---- calls ---- */

static wg_mat function(wg_tape *t, const wg_block_op *op, wg_mat a, const void *params,
                       size_t bytes) {
    return wgi_apply_one(t, op, params, bytes, 1, &a);
}

wg_mat wg_symmetric_exp(wg_tape *t, wg_mat a) { return function(t, &exp_op, a, NULL, 0); }
wg_mat wg_symmetric_log(wg_tape *t, wg_mat a) { return function(t, &log_op, a, NULL, 0); }
wg_mat wg_symmetric_sqrt(wg_tape *t, wg_mat a) { return function(t, &sqrt_op, a, NULL, 0); }
wg_mat wg_symmetric_inverse_sqrt(wg_tape *t, wg_mat a) {
    return function(t, &inverse_sqrt_op, a, NULL, 0);
}
wg_mat wg_symmetric_power(wg_tape *t, wg_mat a, double p) {
    return function(t, &power_op, a, &p, sizeof p);
}
wg_mat wg_symmetric_apply(wg_tape *t, wg_mat a, wg_symmetric_function f) {
    return function(t, f.curve != NULL ? &apply_twice_op : &apply_op, a, &f, sizeof f);
}
