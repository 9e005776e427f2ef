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
    uint32_t out, outs; /* so far as in a block */
    uint32_t in[2], kind, unused;
    const double *a, *b;
} __attribute__((may_alias)) wgi_small;

/* The results stand behind it. */
static inline double *wgi_small_values(const wgi_small *s) {
    return (double *)(uintptr_t)(s + 1);
}

WG_API extern const wg_block_op wgi_small_op;

/* Two elements at once, wherever they are. */
typedef double wgi_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* May two matrices be recorded inline? */
WGI_INLINE int wgi_small_fits(const wg_tape *t, const wg_mat *a, const wg_mat *b) {
    const size_t rows = a->rows, cols = a->cols, n = rows * cols;
    return t->top < t->limit && a->at.stamp == t->stamp && b->at.stamp == t->stamp &&
           rows == b->rows && cols == b->cols && rows <= WGI_SMALL && n - 1 < WGI_SMALL &&
           (a->trans | b->trans) == 0 && ((a->ld == rows && b->ld == rows) || cols == 1) &&
           (a->at.slot | b->at.slot) != 0 && a->at.slot + n <= t->slots &&
           b->at.slot + n <= t->slots && t->last_slot - t->slots >= WGI_SMALL &&
           (size_t)(t->payload_end - t->payload_top) >= sizeof(wgi_small) + 8 * WGI_SMALL + 32;
}

/* Room for n values, as a block with its record. */
WGI_INLINE wgi_small *wgi_small_open(wg_tape *t, unsigned kind, uint32_t n, const wg_mat *a,
                                     const wg_mat *b) {
    wgi_small *const s = (wgi_small *)(void *)t->payload_top;
    wgi_record *const r = t->top;
    const uint32_t out = t->slots;
    s->op = &wgi_small_op;
    s->prev = t->last_block;
    s->record = ((uint64_t)(uintptr_t)r - t->record_origin) / sizeof *r;
    s->out = out, s->outs = n;
    s->in[0] = a->at.slot, s->in[1] = b->at.slot;
    s->kind = kind;
    s->a = a->value, s->b = b->value;
    r->out = out, r->in0 = r->in1 = 0, r->kind = 1, r->jac1 = 0;
    __builtin_memcpy(&r->jac0, &s, sizeof s);
    t->top = r + 1;
    t->slots = out + n;
    t->last_block = (struct wgi_block *)(void *)s;
    t->payload_top += (sizeof *s + 8 * (size_t)n + 31) / 32 * 32;
    return s;
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
        if (WGI_LIKELY(t && wgi_small_fits(t, &a, &b))) {                                      \
            const uint32_t n = (uint32_t)(a.rows * a.cols);                                    \
            const wgi_small *const s = wgi_small_open(t, which, n, &a, &b);                    \
            double *const v = wgi_small_values(s);                                             \
            uint32_t i = 0;                                                                    \
            for (; i + 2 <= n; i += 2)                                                         \
                *(wgi_pair *)(v + i) =                                                         \
                    *(const wgi_pair *)(a.value + i) sign * (const wgi_pair *)(b.value + i);   \
            if (i < n) v[i] = a.value[i] sign b.value[i];                                      \
            y.value = v;                                                                       \
            y.rows = a.rows, y.cols = a.cols, y.ld = a.rows;                                   \
            y.at.slot = s->out, y.at.stamp = t->stamp;                                         \
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

/* Those of elementwise.h; (wg_mat_add)(t, a, b) is the function. */
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
