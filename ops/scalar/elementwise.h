/* SPDX-License-Identifier: MIT */
/* elementwise.h - loops over contiguous arrays, one set per instruction set. Internal.
 *
 * A kernel sees n elements of every operand and of the result at in[k].value, out->value and
 * the bars beside them, as wg_block_op describes them. elementwise_simd.def lists the kernels,
 * the files elementwise_<level>.c compile them, and wgi_simd_best chooses a level. */
#ifndef WGI_OPS_SCALAR_ELEMENTWISE_H
#define WGI_OPS_SCALAR_ELEMENTWISE_H

#include <wengert/block.h>

/* Are all of n numbers finite? */
static inline int wgi_all_finite(size_t n, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * 0;
    return sum == 0;
}

/* The rows of scalar.def in its order, then those that are no row of it. */
enum {
#define OP1(name, ...) WGI_ROW_##name,
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
#include "scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
    WGI_ROW_scale,  /* p0 a */
    WGI_ROW_axpby,  /* p0 a + p1 b */
    WGI_ROW_select, /* a where the mask is not 0, otherwise b */
    WGI_ROWS
};

/* saved: n numbers that value leaves for vjp and jvp, in rows that keep their slope; params:
 * p0, p1, ... of the call. */
typedef void wgi_kernel(size_t n, const wg_block_arg *in, const wg_block_arg *out,
                        double *saved, const void *params);

typedef struct wgi_kernels {
    wgi_kernel *value, *vjp, *jvp;
} wgi_kernels;

extern const wg_block_op wgi_elementwise_ops[WGI_ROWS];
/* A scalar operation element by element: its wg_scalar_op are the params. */
extern const wgi_kernels wgi_by_row;
/* Does the row keep its slope? */
extern const unsigned char wgi_elementwise_keeps[WGI_ROWS];

enum { WGI_STRIP = 16 };
typedef struct wgi_simd {
    const wgi_kernels *row; /* by WGI_ROW_; NULL members: no kernel, take the scalar table */
    double (*sum)(size_t n, const double *x);
    double (*sum_abs)(size_t n, const double *x);
    double (*dot)(size_t n, const double *x, const double *y);
    /* sums of x - c and of its square */
    void (*moments)(size_t n, const double *x, double c, double *sums);
    /* of x and of |x|; NaN if there is one; -inf, inf and 0 if n = 0 */
    double (*largest)(size_t n, const double *x);
    double (*smallest)(size_t n, const double *x);
    double (*largest_abs)(size_t n, const double *x);
    /* y = exp(x - c), and its sum; y may be x, or NULL */
    double (*exp_sum)(size_t n, const double *x, double c, double *y);
    /* y += c;  y += c x, a product with an exact 0 being 0 */
    void (*add)(size_t n, double c, double *y);
    void (*axpy)(size_t n, double c, const double *x, double *y);
    /* y += p (t - s) where p <= 1/2; the place of one p above that, or n */
    size_t (*centred)(size_t n, const double *p, const double *t, double s, double *y);
    /* c += alpha a b, small: m by n, k in between; columns of a and c are lda and ldc apart,
     * element (l, j) of b is at l down + j across */
    void (*product)(size_t m, size_t n, size_t k, double alpha, const double *a, size_t lda,
                    const double *b, size_t down, size_t across, double *c, size_t ldc);
    /* y += a b, m by n, k in between; element (l, j) of b is where u[j] + v[l] says, columns of
     * y are ldy apart; a stands in strips of WGI_STRIP rows, zeros in the last one, whose
     * columns follow each other */
    void (*placed)(size_t m, size_t n, size_t k, const double *a, const double *b,
                   const ptrdiff_t *u, const ptrdiff_t *v, double *y, size_t ldy);
} wgi_simd;

/* NULL where the compiler was not told to make that one. */
extern const wgi_simd *const wgi_simd_base, *const wgi_simd_avx2, *const wgi_simd_avx512;

static inline const wgi_simd *wgi_simd_best(void) {
#if defined(__x86_64__)
    if (wgi_simd_avx512 != NULL && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return wgi_simd_avx512;
    if (wgi_simd_avx2 != NULL && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return wgi_simd_avx2;
#endif
    return wgi_simd_base;
}

/* The zero rule: a product is 0 when either factor is, whatever the other. */
static inline double wgi_times(double w, double d) {
    const double p = w * d;
    return WGI_UNLIKELY(p != p) && (w == 0 || d == 0) ? 0.0 : p;
}

#endif
