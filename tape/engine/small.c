/* SPDX-License-Identifier: MIT */
/* Small elementwise operations, recorded inline by small.h: their backward sweep, and the
 * general form of it for several adjoints.
 *
 * add: a_ += w, b_ += w;  sub: a_ += w, b_ -= w;  mul: a_ += w b, b_ += w a;
 * div: a_ += w/b, b_ -= (v/b) w. Products follow the zero rule. */
#include "tape.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* to += sign w: two elements at once. */
static inline void add(uint32_t n, double *to, const double *w, double sign) {
    uint32_t i = 0;
    for (; i + 2 <= n; i += 2) *(wgi_pair *)(to + i) += sign * *(const wgi_pair *)(w + i);
    if (i < n) to[i] += sign * w[i];
}

/* to += w p. */
static inline void add_product(uint32_t n, double *to, const double *w, const double *p) {
    uint32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const wgi_pair x = *(const wgi_pair *)(w + i) * *(const wgi_pair *)(p + i);
        if (__builtin_expect(__builtin_isunordered(x[0], x[1]), 0)) {
            to[i] += wgi_product(w[i], p[i]);
            to[i + 1] += wgi_product(w[i + 1], p[i + 1]);
        } else *(wgi_pair *)(to + i) += x;
    }
    if (i < n) to[i] += wgi_product(w[i], p[i]);
}

static void add_quotients(uint32_t n, const wgi_small *s, const double *w, double *a,
                          double *b) {
    const double *const v = wgi_small_values(s);
    for (uint32_t i = 0; i < n; i++) {
        const double d = 1 / s->b[i];
        if (a != NULL) a[i] += wgi_product(w[i], d);
        if (b != NULL) b[i] += wgi_product(w[i], -v[i] / s->b[i]);
    }
}

static void sweep(const wgi_small *s, const double *w, double *a, double *b) {
    const uint32_t n = s->outs;
    switch (s->kind) {
    case WGI_SMALL_ADD:
        if (a != NULL) add(n, a, w, 1);
        if (b != NULL) add(n, b, w, 1);
        break;
    case WGI_SMALL_SUB:
        if (a != NULL) add(n, a, w, 1);
        if (b != NULL) add(n, b, w, -1);
        break;
    case WGI_SMALL_MUL:
        if (a != NULL) add_product(n, a, w, s->b);
        if (b != NULL) add_product(n, b, w, s->a);
        break;
    default:
        add_quotients(n, s, w, a, b);
    }
}

/* Copies one lane of rows to an array, and back. */
static void unpack(uint32_t n, const double *rows, size_t lanes, double *x) {
    for (uint32_t i = 0; i < n; i++) x[i] = rows[i * lanes];
}
static void pack_add(uint32_t n, const double *x, size_t lanes, double *rows) {
    for (uint32_t i = 0; i < n; i++) rows[i * lanes] += x[i];
}

static void sweep_lanes(const wgi_small *s, double *adjoint, size_t lanes) {
    double w[WGI_SMALL], a[WGI_SMALL], b[WGI_SMALL];
    for (size_t l = 0; l < lanes; l++) {
        double *const rows = adjoint + l;
        unpack(s->outs, rows + s->out * lanes, lanes, w);
        for (uint32_t i = 0; i < s->outs; i++) a[i] = b[i] = 0;
        sweep(s, w, s->in[0] != 0 ? a : NULL, s->in[1] != 0 ? b : NULL);
        if (s->in[0] != 0) pack_add(s->outs, a, lanes, rows + s->in[0] * lanes);
        if (s->in[1] != 0) pack_add(s->outs, b, lanes, rows + s->in[1] * lanes);
    }
}

/* Sweeps a run of blocks downwards. Where results are one vector of WIDTH, their adjoint may
 * still be in a register, if it was just computed as that of an operand: so a chain of
 * operations does not wait for what it has stored. */
#define KERNEL(NAME, WIDTH, ODD, ATTRIBUTE)                                                    \
    typedef double NAME##_row                                                                  \
        __attribute__((vector_size(8 * (WIDTH)), aligned(8), may_alias));                      \
    ATTRIBUTE static const wgi_block *NAME(const wgi_block *block, uint64_t low,               \
                                           double *adjoint) {                                  \
        NAME##_row last = {0};                                                                 \
        uint32_t last_slot = 0; /* of what is in last */                                       \
        for (uint64_t record = block->record;; record--) {                                     \
            const wgi_small *const s = (const wgi_small *)(const void *)block;                 \
            const wgi_block *const before = block->prev;                                       \
            const uint32_t in0 = s->in[0], in1 = s->in[1], kind = s->kind;                     \
            double *const a = adjoint + in0, *const b = adjoint + in1;                         \
            const double *const out = adjoint + s->out;                                        \
            if (s->outs == (WIDTH) && kind != WGI_SMALL_DIV) {                                 \
                NAME##_row w = last;                                                           \
                if (s->out != last_slot) w = *(const NAME##_row *)out;                         \
                NAME##_row x = w, y = kind == WGI_SMALL_SUB ? -w : w;                          \
                if (kind == WGI_SMALL_MUL) {                                                   \
                    x = w * *(const NAME##_row *)s->b;                                         \
                    y = w * *(const NAME##_row *)s->a;                                         \
                    if (__builtin_expect(ODD(x, y), 0))                                        \
                        for (size_t i = 0; i < (WIDTH); i++) {                                 \
                            x[i] = wgi_product(w[i], s->b[i]);                                 \
                            y[i] = wgi_product(w[i], s->a[i]);                                 \
                        }                                                                      \
                }                                                                              \
                if (in0 != 0) *(NAME##_row *)a = x += *(const NAME##_row *)a;                  \
                if (in1 != 0) *(NAME##_row *)b = y += *(const NAME##_row *)b;                  \
                last = y, last_slot = in1;                                                     \
                if (in0 >= (uint64_t)in1 + (WIDTH)) last = x, last_slot = in0;                 \
            } else {                                                                           \
                sweep(s, out, in0 != 0 ? a : NULL, in1 != 0 ? b : NULL);                       \
                last_slot = 0;                                                                 \
            }                                                                                  \
            if (record == low || before == NULL || before->op != &wgi_small_op ||              \
                before->record != record - 1)                                                  \
                return block;                                                                  \
            block = before;                                                                    \
        }                                                                                      \
    }
#if defined(__x86_64__)
#define ODD2(a, b) _mm_movemask_pd(_mm_cmpunord_pd((__m128d)(a), (__m128d)(b)))
#define ODD4(a, b) _mm256_movemask_pd(_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_UNORD_Q))
KERNEL(avx2, 4, ODD4, __attribute__((target("avx2"))))
#else
#define ODD2(a, b) (a[0] != a[0] || a[1] != a[1] || b[0] != b[0] || b[1] != b[1])
#endif
KERNEL(base, 2, ODD2, )

const wgi_block *wgi_small_reverse(wgi_core *c, const wgi_block *b, uint64_t low) {
    if (c->lanes != 1) {
        sweep_lanes((const wgi_small *)(const void *)b, wgi_adjoints(c), c->lanes);
        return b;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return avx2(b, low, wgi_adjoints(c));
#endif
    return base(b, low, wgi_adjoints(c));
}

/* The tangent of one element; at and bt are rows of tangents, NULL for a constant. */
static void tangent(unsigned kind, double a, double b, double v, size_t lanes, const double *at,
                    const double *bt, double *vt) {
    const double da = kind == WGI_SMALL_MUL ? b : kind == WGI_SMALL_DIV ? 1 / b : 1;
    const double db = kind == WGI_SMALL_MUL   ? a
                      : kind == WGI_SMALL_DIV ? -v / b
                      : kind == WGI_SMALL_SUB ? -1
                                              : 1;
    for (size_t l = 0; l < lanes; l++)
        vt[l] = (at != NULL ? wgi_product(at[l], da) : 0) +
                (bt != NULL ? wgi_product(bt[l], db) : 0);
}

void wgi_small_forward(wgi_core *c, const wgi_block *b) {
    const wgi_small *const s = (const wgi_small *)(const void *)b;
    const double *const v = wgi_small_values(s);
    double *const all = wgi_tangents(c);
    for (uint32_t e = 0; e < s->outs; e++)
        tangent(s->kind, s->a[e], s->b[e], v[e], c->width,
                s->in[0] != 0 ? all + ((size_t)s->in[0] + e) * c->width : NULL,
                s->in[1] != 0 ? all + ((size_t)s->in[1] + e) * c->width : NULL,
                all + ((size_t)s->out + e) * c->width);
}

const wg_scalar_op *wgi_small_row(const wgi_small *s) {
    static const unsigned char row[] = {[WGI_SMALL_ADD] = WGI_OP_add,
                                        [WGI_SMALL_SUB] = WGI_OP_sub,
                                        [WGI_SMALL_MUL] = WGI_OP_mul,
                                        [WGI_SMALL_DIV] = WGI_OP_div};
    return &wgi_scalar_ops[row[s->kind]];
}

const wg_block_op wgi_small_op = {"elementwise", 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
