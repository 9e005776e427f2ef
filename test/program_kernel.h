/* SPDX-License-Identifier: MIT */
/* program_kernel.h - runs a program over taped variables, doubles or duals; see
 * wengert/generic.h. Included by program.c once for each. */
#include <wengert/generic.h>

/* One function per operation: inlined into one, compilers with sanitizers take minutes. */
#define APART static __attribute__((noinline))

#define N(k) (s->number[k])
/* Operations of one operand are written in all ways where gcc compiles them without a
 * sanitizer, and elsewhere, which would take longest of all, in the plain one alone. Those of two
 * and more are written in all ways everywhere. */
#if SANITIZED || defined(__clang__)
#define WAYS_OF_ONE(...)
#else
#define WAYS_OF_ONE(...) __VA_ARGS__
#endif
#define OP1(name, ...)                                                                         \
    APART wg_real WG_NAME(row_##name)(wg_tape * t, const struct step *s, const wg_real *x) {   \
        (void)t, (void)s;                                                                      \
        WAYS_OF_ONE(                                                                           \
            if (s->shape == STEP_INNER) return wg_let(t, wg_##name(wg_mul(x[0], 1.0)));        \
            if (s->shape == STEP_OUTER) return wg_let(t, wg_mul(1.0, wg_##name(x[0])));        \
            if (s->literals & 1) return wg_let(t, wg_##name(N(0)));)                           \
        return wg_let(t, wg_##name(x[0]));                                                     \
    }
#define OP2(name, ...)                                                                         \
    APART wg_real WG_NAME(row_##name)(wg_tape * t, const struct step *s, const wg_real *x) {   \
        (void)t;                                                                               \
        if (s->shape == STEP_INNER)                                                            \
            return wg_let(t, wg_##name(wg_mul(x[0], 1.0), wg_mul(x[1], 1)));                   \
        if (s->shape == STEP_OUTER) return wg_let(t, wg_mul(1.0, wg_##name(x[0], x[1])));      \
        switch (s->literals & 3) {                                                             \
        case 1:                                                                                \
            return wg_let(t, wg_##name(N(0), x[1]));                                           \
        case 2:                                                                                \
            return wg_let(t, wg_##name(x[0], N(1)));                                           \
        case 3:                                                                                \
            return wg_let(t, wg_##name(N(0), N(1)));                                           \
        default:                                                                               \
            return wg_let(t, wg_##name(x[0], x[1]));                                           \
        }                                                                                      \
    }
#define OP3(name, ...)                                                                         \
    APART wg_real WG_NAME(row_##name)(wg_tape * t, const struct step *s, const wg_real *x) {   \
        (void)t;                                                                               \
        if (s->shape == STEP_INNER)                                                            \
            return wg_let(t, wg_##name(wg_mul(x[0], 1.0), wg_mul(x[1], 1), wg_mul(1, x[2])));  \
        if (s->shape == STEP_OUTER)                                                            \
            return wg_let(t, wg_mul(1.0, wg_##name(x[0], x[1], x[2])));                        \
        switch (s->literals & 7) {                                                             \
        case 1:                                                                                \
            return wg_let(t, wg_##name(N(0), x[1], x[2]));                                     \
        case 2:                                                                                \
            return wg_let(t, wg_##name(x[0], N(1), x[2]));                                     \
        case 3:                                                                                \
            return wg_let(t, wg_##name(N(0), N(1), x[2]));                                     \
        case 4:                                                                                \
            return wg_let(t, wg_##name(x[0], x[1], N(2)));                                     \
        case 5:                                                                                \
            return wg_let(t, wg_##name(N(0), x[1], N(2)));                                     \
        case 6:                                                                                \
            return wg_let(t, wg_##name(x[0], N(1), N(2)));                                     \
        case 7:                                                                                \
            return wg_let(t, wg_##name(N(0), N(1), N(2)));                                     \
        default:                                                                               \
            return wg_let(t, wg_##name(x[0], x[1], x[2]));                                     \
        }                                                                                      \
    }
#define OP4(name, ...)                                                                         \
    APART wg_real WG_NAME(row_##name)(wg_tape * t, const struct step *s, const wg_real *x) {   \
        (void)t;                                                                               \
        if (s->shape == STEP_INNER)                                                            \
            return wg_let(t, wg_##name(wg_mul(x[0], 1.0), wg_mul(x[1], 1), wg_mul(1, x[2]),    \
                                       wg_mul(1, x[3])));                                      \
        if (s->shape == STEP_OUTER)                                                            \
            return wg_let(t, wg_mul(1.0, wg_##name(x[0], x[1], x[2], x[3])));                  \
        switch (s->literals & 15) {                                                            \
        case 1:                                                                                \
            return wg_let(t, wg_##name(N(0), x[1], x[2], x[3]));                               \
        case 2:                                                                                \
            return wg_let(t, wg_##name(x[0], N(1), x[2], x[3]));                               \
        case 3:                                                                                \
            return wg_let(t, wg_##name(N(0), N(1), x[2], x[3]));                               \
        case 4:                                                                                \
            return wg_let(t, wg_##name(x[0], x[1], N(2), x[3]));                               \
        case 8:                                                                                \
            return wg_let(t, wg_##name(x[0], x[1], x[2], N(3)));                               \
        case 12:                                                                               \
            return wg_let(t, wg_##name(x[0], x[1], N(2), N(3)));                               \
        case 15:                                                                               \
            return wg_let(t, wg_##name(N(0), N(1), N(2), N(3)));                               \
        default:                                                                               \
            return wg_let(t, wg_##name(x[0], x[1], x[2], x[3]));                               \
        }                                                                                      \
    }
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef N
#undef WAYS_OF_ONE

#define N(c) (c)
#define SOFTSIGN(x) WG_CALL1(softsign, x)
#define BLEND(x, y) WG_CALL2(blend, x, y)
#define FUSED(name, n, e)                                                                      \
    APART wg_real WG_NAME(fused_##name)(wg_tape * t, const wg_real *x) {                       \
        const wg_real x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];                              \
        const wg_real x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];                              \
        (void)t, (void)x0, (void)x1, (void)x2, (void)x3;                                       \
        (void)x4, (void)x5, (void)x6, (void)x7;                                                \
        return wg_let(t, e);                                                                   \
    }
#include "fused.def"
#undef FUSED
#undef N
#undef SOFTSIGN
#undef BLEND

static wg_real WG_NAME(step)(wg_tape *t, const struct step *s, const wg_real *x) {
    const size_t n = s->operands;
    wg_real u[STEP_OPERANDS], v[STEP_OPERANDS];
    switch (s->op) {
#define OP1(name, ...)                                                                         \
    case WGI_OP_##name:                                                                        \
        return WG_NAME(row_##name)(t, s, x);
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#define FUSED(name, n, e)                                                                      \
    case STEP_FUSED + FUSED_##name:                                                            \
        return WG_NAME(fused_##name)(t, x);
#include "fused.def"
#undef FUSED
    case STEP_SUM:
        return wg_sum(t, n, x);
    case STEP_PRODUCT:
        return wg_product(t, n, x);
    case STEP_LINEAR:
        return wg_linear(t, n, program_coefficient, x);
    case STEP_POLYNOMIAL:
        return wg_polynomial(t, n - 1, x, x[n - 1]);
    case STEP_SQUARED_NORM:
        return wg_squared_norm(t, n, x);
    case STEP_MEAN:
        return wg_mean(t, n, x);
    case STEP_DOT:
        for (size_t i = 0; i < n / 2; i++) u[i] = x[2 * i], v[i] = x[2 * i + 1];
        return wg_dot(t, n / 2, u, v);
    default:
        break;
    }
    if (s->literals & 1) return wg_let(t, s->number[0]);
    return wg_let(t, x[0]);
}

static void WG_NAME(run)(wg_tape *t, const struct program *p, wg_real *node) {
    for (size_t i = 0; i < p->steps; i++) {
        const struct step *s = &p->step[i];
        wg_real x[STEP_OPERANDS];
        for (size_t k = 0; k < STEP_OPERANDS; k++)
            x[k] = k < s->operands && s->from[k] >= 0 ? node[s->from[k]]
                                                      : wg_constant(s->number[k]);
        node[p->inputs + i] = WG_NAME(step)(t, s, x);
    }
}
#undef APART
