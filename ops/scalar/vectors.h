/* SPDX-License-Identifier: MIT */
/* vectors.h - vectors of doubles, masks, and what the rows of elementwise_simd.def are made of,
 * for one instruction set: in the loops of elementwise_simd.h, in the interpreter of functions
 * and, as text, in native code. A file defines
 *     WIDTH    doubles in a vector: 2, 4 or 8
 *     MVEC     how glibc's vector functions of that width begin
 * and includes this. Functions of libm are those of glibc's libmvec where it has them all,
 * otherwise libm's own. */
#include "elementwise.h"

#include <math.h>
#include <string.h>
#include <wengert/operation.h>
#include <wengert/special.h>

#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define HAVE_MVEC 1
#endif
#endif

/* Has the compiler a function of its own of this name? They are what the intrinsics stand for:
 * <immintrin.h> itself takes several times longer to read than all that is compiled for a
 * function. Where there is none, it is done lane by lane. */
#if defined(__has_builtin)
#define HAS(f) __has_builtin(f)
#else
#define HAS(f) __x86_64__
#endif

/* What the table below does not use at one width or another. */
#define INNER static inline __attribute__((always_inline, unused))

typedef double V __attribute__((vector_size(8 * WIDTH)));
typedef int64_t M __attribute__((vector_size(8 * WIDTH))); /* of a lane: all ones, or 0 */

/* What the compiler's own take: M; a comparison; all lanes; the rounding as it is set. */
typedef long long L __attribute__((vector_size(8 * WIDTH)));
enum { UNORDERED = 3, ALL = 255, CURRENT = 4 };

#define ZERO ((V){0})
#define ONE (1.0 - ZERO)

INNER V splat(double c) { return c - ZERO; }

/* ---- in and out ---- */

#if WIDTH == 8
/* Four elements, and the same again. */
INNER V twice(const double *p) {
#if HAS(__builtin_ia32_broadcastf64x4_512)
    typedef double H __attribute__((vector_size(4 * sizeof(double))));
    H half;
    memcpy(&half, p, sizeof half);
    return __builtin_ia32_broadcastf64x4_512(half, ZERO, (unsigned char)ALL);
#else
    return (V){p[0], p[1], p[2], p[3], p[0], p[1], p[2], p[3]};
#endif
}
#endif
/* The first r < WIDTH elements, r one of 1, 2, 3 or 4; the others are such as these. */
INNER V load_some(const double *p, size_t r) {
#if WIDTH >= 4
    const double second = p[r > 1 ? 1 : 0], third = p[r > 2 ? 2 : 0];
#endif
#if WIDTH == 8
    if (r == 4) return twice(p);
    return (V){p[0], second, third, second, p[0], second, third, second};
#elif WIDTH == 4
    return (V){p[0], second, third, second};
#else
    (void)r;
    return splat(p[0]);
#endif
}

INNER void store_some(double *p, size_t r, V v) {
#if WIDTH == 8
    if (r == 4) {
        memcpy(p, &v, 4 * sizeof *p);
        return;
    }
#endif
    p[0] = v[0];
    if (r > 1) p[1] = v[1 % WIDTH];
    if (r > 2) p[2] = v[2 % WIDTH];
}

INNER V get(const double *p, size_t r) {
    V v;
    if (r < WIDTH) return load_some(p, r);
    memcpy(&v, p, sizeof v);
    return v;
}

INNER void put(double *p, size_t r, V v) {
    if (r < WIDTH) store_some(p, r, v);
    else memcpy(p, &v, sizeof v);
}

/* The statements for r = WIDTH elements from i on, and once or twice more for what is left.
 * What four doubles have stored, four load again at once. */
#define EACH(...)                                                                              \
    do {                                                                                       \
        size_t i = 0;                                                                          \
        for (; i + WIDTH <= n; i += WIDTH) {                                                   \
            const size_t r = WIDTH;                                                            \
            __VA_ARGS__                                                                        \
        }                                                                                      \
        if (WIDTH == 8 && i + 4 <= n) {                                                        \
            const size_t r = 4;                                                                \
            __VA_ARGS__                                                                        \
            i += 4;                                                                            \
        }                                                                                      \
        if (i < n) {                                                                           \
            const size_t r = n - i < 3 ? n - i : 3;                                            \
            __VA_ARGS__                                                                        \
        }                                                                                      \
    } while (0)

/* ---- masks ---- */

INNER V v_if(M m, V x, V y) { return (V)((m & (M)x) | (~m & (M)y)); }
INNER V v_half(M m) { return (V)(m & (M)splat(0.5)); }

/* A bit per lane. */
INNER unsigned lanes(M m) {
#if WIDTH == 8 && HAS(__builtin_ia32_cvtq2mask512)
    return (unsigned char)__builtin_ia32_cvtq2mask512((L)m);
#elif WIDTH == 4 && HAS(__builtin_ia32_movmskpd256)
    return (unsigned)__builtin_ia32_movmskpd256((V)m);
#elif WIDTH == 2 && HAS(__builtin_ia32_movmskpd)
    return (unsigned)__builtin_ia32_movmskpd((V)m);
#else
    unsigned bits = 0;
    for (int l = 0; l < WIDTH; l++) bits |= (unsigned)(m[l] != 0) << l;
    return bits;
#endif
}
INNER int any(M m) { return lanes(m) != 0; }
INNER int every(M m) { return lanes(m) == (1u << WIDTH) - 1; }

/* Where one of two is no number. */
INNER M unordered(V a, V b) {
#if WIDTH == 4 && HAS(__builtin_ia32_cmppd256)
    return (M)__builtin_ia32_cmppd256(a, b, UNORDERED);
#else
    return (a != a) | (b != b);
#endif
}
INNER unsigned unordered_lanes(V a, V b) {
#if WIDTH == 8 && HAS(__builtin_ia32_cmppd512_mask)
    const unsigned char all = ALL;
    return (unsigned char)__builtin_ia32_cmppd512_mask(a, b, UNORDERED, all, CURRENT);
#else
    return lanes(unordered(a, b));
#endif
}
INNER int any_nan(V v) {
#if WIDTH == 8
    return unordered_lanes(v, v) != 0;
#else
    return any(v != v);
#endif
}
/* a + b in these lanes, a in the others. */
INNER V add_lanes(V a, unsigned these, V b) {
#if WIDTH == 8 && HAS(__builtin_ia32_addpd512_mask)
    return __builtin_ia32_addpd512_mask(a, b, a, (unsigned char)these, CURRENT);
#elif WIDTH == 8 && HAS(__builtin_ia32_selectpd_512)
    return __builtin_ia32_selectpd_512((unsigned char)these, a + b, a);
#else
    for (int l = 0; l < WIDTH; l++)
        if (these >> l & 1) a[l] += b[l];
    return a;
#endif
}

/* ---- the zero rule ---- */

INNER V v_times(V w, V d) {
    V p = w * d;
    if (WGI_UNLIKELY(any_nan(p))) p = v_if((p != p) & ((w == 0) | (d == 0)), ZERO, p);
    return p;
}

/* Of a partial whose text is a bare 1: w itself. */
#define WGI_ONE(text) ((text)[0] == '1' && (text)[1] == 0)
#define CHAIN(w, d) (WGI_ONE(#d) ? (w) : v_times(w, (d)-ZERO))

/* ---- functions ---- */

/* f in every lane. */
#define LANES1(f, a)                                                                           \
    V y;                                                                                       \
    for (int l = 0; l < WIDTH; l++) y[l] = f((a)[l]);                                          \
    return y
#define LANES2(f, a, b)                                                                        \
    V y;                                                                                       \
    for (int l = 0; l < WIDTH; l++) y[l] = f((a)[l], (b)[l]);                                  \
    return y

#if defined(HAVE_MVEC)
#define LIBM1(f) extern V v_##f(V a) __asm__(MVEC "v_" #f) __attribute__((const));
#define LIBM2(f) extern V v_##f(V a, V b) __asm__(MVEC "vv_" #f) __attribute__((const));
#else
#define LIBM1(f)                                                                               \
    INNER V v_##f(V a) { LANES1(f, a); }
#define LIBM2(f)                                                                               \
    INNER V v_##f(V a, V b) { LANES2(f, a, b); }
#define exp10(a) pow(10.0, a)
#endif
/* clang-format off */
LIBM1(cbrt)
LIBM1(exp)
LIBM1(exp2)
LIBM1(exp10)
LIBM1(expm1) LIBM1(log) LIBM1(log2) LIBM1(log10) LIBM1(log1p) LIBM1(sin) LIBM1(cos) LIBM1(tan)
    LIBM1(asin) LIBM1(acos) LIBM1(atan) LIBM1(sinh) LIBM1(cosh) LIBM1(asinh) LIBM1(acosh)
        LIBM1(atanh) LIBM1(erf) LIBM1(erfc) LIBM2(pow) LIBM2(hypot) LIBM2(atan2)
/* clang-format on */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion" /* masks are of char or of unsigned char */
            INNER V v_sqrt(V a) {
#if WIDTH == 8 && HAS(__builtin_ia32_sqrtpd512_mask)
    return __builtin_ia32_sqrtpd512_mask(a, a, (unsigned char)ALL, CURRENT);
#elif WIDTH == 8 && HAS(__builtin_ia32_sqrtpd512)
    return __builtin_ia32_sqrtpd512(a, CURRENT);
#elif WIDTH == 4 && HAS(__builtin_ia32_sqrtpd256)
    return __builtin_ia32_sqrtpd256(a);
#elif WIDTH == 2 && HAS(__builtin_ia32_sqrtpd)
    return __builtin_ia32_sqrtpd(a);
#else
    LANES1(sqrt, a);
#endif
}
INNER V v_fma(V a, V b, V c) {
#if WIDTH == 8 && HAS(__builtin_ia32_vfmaddpd512_mask)
    return __builtin_ia32_vfmaddpd512_mask(a, b, c, (unsigned char)ALL, CURRENT);
#elif WIDTH == 4 && HAS(__builtin_ia32_vfmaddpd256)
    return __builtin_ia32_vfmaddpd256(a, b, c);
#else
    V y;
    for (int l = 0; l < WIDTH; l++) y[l] = fma(a[l], b[l], c[l]);
    return y;
#endif
}
/* `how` to round, without an exception: 9 down, 10 up, 11 to zero, 12 as it is set. */
#if WIDTH == 8 && HAS(__builtin_ia32_rndscalepd_mask)
#define ROUND(f, a, how)                                                                       \
    return __builtin_ia32_rndscalepd_mask(a, how, a, (unsigned char)ALL, CURRENT)
#elif WIDTH == 4 && HAS(__builtin_ia32_roundpd256)
#define ROUND(f, a, how) return __builtin_ia32_roundpd256(a, how)
#else
#define ROUND(f, a, how) LANES1(f, a)
#endif
INNER V v_floor(V a) { ROUND(floor, a, 9); }
INNER V v_ceil(V a) { ROUND(ceil, a, 10); }
INNER V v_trunc(V a) { ROUND(trunc, a, 11); }
INNER V v_rint(V a) { ROUND(rint, a, 12); }
#pragma GCC diagnostic pop

#define SIGNS ((M)splat(-0.0))
INNER V v_abs(V a) { return (V)((M)a & ~SIGNS); }
INNER V v_copysign(V a, V b) { return (V)(((M)a & ~SIGNS) | ((M)b & SIGNS)); }
INNER M v_signbit(V a) { return (M)a < 0; }
INNER V v_sign(V a) { return v_if(a > 0, ONE, v_if(a < 0, -ONE, a)); }

/* ---- partials with a rare case: there the scalar function, lane by lane ---- */

typedef double scalar3(double a, double b, double v);

static __attribute__((noinline, cold)) V rare(scalar3 *f, M usual, V r, V a, V b, V v) {
    for (int l = 0; l < WIDTH; l++)
        if (usual[l] == 0) r[l] = f(a[l], b[l], v[l]);
    return r;
}
#define UNLESS(usual, r, f, a, b, v)                                                           \
    (WGI_LIKELY(every(usual)) ? (r) : rare(f, usual, r, a, b, v))

INNER M moderate(V a) { return (v_abs(a) > 1e-290) & (v_abs(a) < 1e290); }

INNER V v_pow_da(V a, V b, V v) {
    const V q = v / a, r = v_if(b == 1, ONE, v_if(b == 2, 2 * a, b * q));
    const M usual = (b == 1) | (b == 2) | (moderate(v) & moderate(q) & moderate(r));
    return UNLESS(usual, r, wgi_pow_da, a, b, v);
}
INNER V v_pow_db(V a, V b, V v) {
    const V r = v * v_log(a);
    const M usual = (a > 0) & moderate(v);
    return UNLESS(usual, r, wgi_pow_db, a, b, v);
}
INNER V v_hypot_da(V a, V b, V v) {
    const V r = a / v;
    const M usual = (v > 0) & (v < INFINITY);
    return UNLESS(usual, r, wgi_hypot_da, a, b, v);
}
static double atan2_da(double a, double b, double v) {
    (void)v;
    return wgi_atan2_da(a, b);
}
INNER V v_atan2_da(V a, V b) {
    const V s = a * a + b * b, r = b / s;
    const M usual = (s > 1e-280) & (s < 1e280);
    return UNLESS(usual, r, atan2_da, a, b, s);
}
static double exp2_d(double a, double b, double v) {
    (void)b;
    return wgi_exp2_times(a, v, 0.693147180559945309417);
}
INNER V v_exp2_d(V a, V v) {
    const V r = v * 0.693147180559945309417;
    const M usual = v < INFINITY;
    return UNLESS(usual, r, exp2_d, a, a, v);
}
static double exp_msq(double a, double b, double v) {
    (void)b, (void)v;
    return wgi_exp_msq(a);
}
/* exp(-a^2); the rounding error of the square is a relative error of the result. */
INNER V v_exp_msq(V a) {
    const V s = a * a;
#if WIDTH >= 4
    const V e = v_fma(a, a, -s);
#else
    const V h = (V)((M)a & (M){-134217728, -134217728}), l = a - h;
    const V e = (h * h - s + 2 * h * l) + l * l;
#endif
    const V r = v_exp(-s) * (1 - e);
    const M usual = s < 700;
    return UNLESS(usual, r, exp_msq, a, a, a);
}

/* ---- functions that share an exponential with their slope s ---- */

/* 1 / (1 + exp -a), slope e / (1 + e)^2 with no difference that would lose the tails */
INNER V v_sigmoid(V a, V *s) {
    const V e = v_exp(-v_abs(a)), v = v_if(a < 0, e, ONE) / (1 + e);
    *s = v_if(a < 0, v * (1 - v), e * v * v);
    return v;
}
INNER V v_softplus(V a, V *s) {
    const V e = v_exp(-v_abs(a));
    *s = v_if(a < 0, e, ONE) / (1 + e);
    return v_if(a > 0, a, ZERO) + v_log1p(e);
}
INNER V v_log_sigmoid(V a, V *s) {
    const V v = v_softplus(-a, s);
    return -v;
}
/* As wgi_tanh and wgi_tanh_d, with one division: t is what is left of 1, the slope t (2 - t);
 * near 0 the value is a - a t. */
INNER V v_tanh(V a, V *s) {
    const M small = v_abs(a) < 0.5;
    const V e = v_exp(-2 * v_abs(a)), q = a * a;
    const V num = q * (45045 + q * (2772 + q * 27));
    const V den = 135135 + q * (62370 + q * (3150 + q * 28));
    const V t = v_if(small, num, 2 * e) / v_if(small, den, 1 + e);
    const V v = v_copysign(v_if(small, a - a * t, 1 - t), a);
    *s = v_if(small, (1 - v) * (1 + v), t * (2 - t));
    return v;
}

/* ---- the end ---- */
