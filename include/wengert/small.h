/* SPDX-License-Identifier: MIT */
/* small.h - elementwise arithmetic on small matrices, recorded inline.
 *
 * Two contiguous matrices of the same shape, at most WGI_SMALL elements, on a tape in its plain
 * mode: one record and one wgi_small, written where the call stands. Everything else goes the
 * way of all block operations (elementwise.h). */
#ifndef WENGERT_SMALL_H
#define WENGERT_SMALL_H

#include <wengert/elementwise_ops.h>

WG_BEGIN_DECLS

#ifdef __cplusplus /* what is inline here is C as well */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

enum { WGI_SMALL = 32 };
enum { WGI_SMALL_ADD, WGI_SMALL_SUB, WGI_SMALL_MUL, WGI_SMALL_DIV };

/* A block whose record holds the slots of the operands, a in in0, b in in1. */
typedef struct wgi_small {
    const wg_block_op *op;
    struct wgi_block *prev;
    uint64_t record;
    uint32_t out, outs; /* the fields so far are as in a block */
    uint32_t in[2], kind, unused;
    const double *a, *b;
} __attribute__((may_alias)) wgi_small;

/* The results stand behind it. */
static inline double *wgi_small_values(const wgi_small *s) {
    return (double *)(uintptr_t)(s + 1);
}

WGI_API extern const wg_block_op wgi_small_op;

/* Vectors of two elements anywhere in memory; and of four, where registers are that wide. */
typedef double wgi_pair __attribute__((vector_size(16), aligned(8), may_alias));
#ifdef __AVX__
typedef double wgi_most __attribute__((vector_size(32), aligned(8), may_alias));
#else
typedef wgi_pair wgi_most;
#endif
enum { WGI_MOST = sizeof(wgi_most) / sizeof(double) };
#define WGI_SMALL_VALUES(type, sign)                                                           \
    (*(type *)(v + i) = *(const type *)(a.value + i) sign * (const type *)(b.value + i))

/* Are two matrices of this tape, of one shape, without gaps, and small? */
WGI_INLINE int wgi_small_fits(const wg_tape *t, const wg_mat *a, const wg_mat *b) {
    const size_t rows = a->rows, cols = a->cols;
    return ((rows ^ b->rows) | (cols ^ b->cols) | (a->trans | b->trans) |
            (rows | cols) >> 31) == 0 &&
           rows * cols - 1 < WGI_SMALL && (cols == 1 || (a->ld == rows && b->ld == rows)) &&
           a->at.stamp == t->stamp && b->at.stamp == t->stamp;
}

/* Appends a block of n results with its record, and gives the place for their values. NULL:
 * there is no room, an operand is not on the tape any more, or both are constants. (Where there
 * is room for a record there is a slot for it.) What is stored is volatile where compilers
 * would otherwise join it in vectors, by more instructions. */
WGI_INLINE double *wgi_small_open(wg_tape *t, unsigned kind, size_t n, const wg_mat *a,
                                  const wg_mat *b) {
    wgi_record *const r = t->top;
    char *const p = t->payload_top;
    const uint64_t out = t->slots, in0 = a->at.slot, in1 = b->at.slot;
    volatile wg_tape *const to = t;
    volatile wgi_small *const s = (volatile wgi_small *)(void *)p;
    if (WGI_UNLIKELY(r >= t->limit)) return WGI_NULL;
    if (WGI_UNLIKELY((size_t)(t->payload_end - p) < sizeof *s + 8 * WGI_SMALL)) return WGI_NULL;
    if (WGI_UNLIKELY(in0 + n > out)) return WGI_NULL;
    if (WGI_UNLIKELY(in1 + n > out)) return WGI_NULL;
    if (WGI_UNLIKELY((in0 | in1) == 0)) return WGI_NULL;
    s->op = &wgi_small_op;
    s->prev = t->last_block;
    s->record = ((uintptr_t)r - t->record_origin) / sizeof *r;
    s->out = (uint32_t)out;
    s->outs = (uint32_t)n;
    s->in[0] = (uint32_t)in0;
    s->in[1] = (uint32_t)in1;
    s->kind = kind;
    s->a = a->value;
    s->b = b->value;
    r->out = (uint32_t)out, r->in0 = r->in1 = 0, r->kind = 1, r->jac1 = 0;
    __builtin_memcpy(&r->jac0, &p, sizeof p);
    to->top = r + 1;
    to->slots = (uint32_t)(out + n);
    to->last_block = (struct wgi_block *)(void *)p;
    to->payload_top = p + (sizeof *s + 8 * n + 31) / 32 * 32;
    return (double *)(void *)(p + sizeof *s);
}

/* A matrix field by field: copied as a whole it goes through memory, also where the result
 * never does. */
#define WGI_SMALL_COPY(to, from)                                                               \
    ((to).value = (from).value, (to).rows = (from).rows, (to).cols = (from).cols,              \
     (to).ld = (from).ld, (to).at.slot = (from).at.slot, (to).at.stamp = (from).at.stamp,      \
     (to).trans = (from).trans)

#define WGI_SMALL_OPERATION(name, which, sign)                                                 \
    WGI_INLINE wg_mat wgi_small_##name(wg_tape *t, wg_mat a, wg_mat b) {                       \
        wg_mat y;                                                                              \
        const size_t n = a.rows * a.cols;                                                      \
        double *v = WGI_NULL;                                                                  \
        if (WGI_LIKELY(t && wgi_small_fits(t, &a, &b)))                                        \
            v = wgi_small_open(t, which, n, &a, &b);                                           \
        if (WGI_LIKELY(v != WGI_NULL)) {                                                       \
            size_t i = 0;                                                                      \
            y.at.slot = t->slots - (uint32_t)n, y.at.stamp = a.at.stamp;                       \
            for (; i + WGI_MOST <= n; i += WGI_MOST) WGI_SMALL_VALUES(wgi_most, sign);         \
            if (WGI_UNLIKELY(i < n)) {                                                         \
                if (WGI_MOST > 2 && (n & 2) != 0) {                                            \
                    WGI_SMALL_VALUES(wgi_pair, sign);                                          \
                    i += 2;                                                                    \
                }                                                                              \
                if ((n & 1) != 0) WGI_SMALL_VALUES(double, sign);                              \
            }                                                                                  \
            y.value = v;                                                                       \
            y.rows = a.rows, y.cols = a.cols, y.ld = a.rows;                                   \
            y.trans = 0;                                                                       \
        } else {                                                                               \
            wg_mat x[2], r;                                                                    \
            WGI_SMALL_COPY(x[0], a);                                                           \
            WGI_SMALL_COPY(x[1], b);                                                           \
            r = wg_mat_##name(t, x[0], x[1]);                                                  \
            WGI_SMALL_COPY(y, r);                                                              \
        }                                                                                      \
        return y;                                                                              \
    }

/* Those of elementwise.h, as macros; (wg_mat_add)(t, a, b) calls the function. */
WGI_SMALL_OPERATION(add, WGI_SMALL_ADD, +)
WGI_SMALL_OPERATION(sub, WGI_SMALL_SUB, -)
WGI_SMALL_OPERATION(mul, WGI_SMALL_MUL, *)
WGI_SMALL_OPERATION(div, WGI_SMALL_DIV, /)
#define wg_mat_add(t, a, b) wgi_small_add(t, a, b)
#define wg_mat_sub(t, a, b) wgi_small_sub(t, a, b)
#define wg_mat_mul(t, a, b) wgi_small_mul(t, a, b)
#define wg_mat_div(t, a, b) wgi_small_div(t, a, b)

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

WG_END_DECLS

#endif
