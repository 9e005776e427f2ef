/* SPDX-License-Identifier: MIT */
/* elementwise_simd.h - the loops of elementwise.h for one instruction set. A file defines
 *     WIDTH    doubles in a vector: 2, 4 or 8
 *     TABLE    the name of a pointer to the table
 *     MVEC     how glibc's vector functions of that width begin
 * and includes this. Functions of libm are those of glibc's libmvec where it has them all,
 * otherwise libm's own. What is left over at the end of an array goes through the same vectors,
 * so that the bits of a result do not depend on its place. */
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
 * <immintrin.h> itself takes several times longer to read than all that is compiled for a function.
 * Where there is none, it is done lane by lane. */
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
LIBM1(cbrt)
LIBM1(exp)
LIBM1(exp2)
LIBM1(exp10)
LIBM1(expm1) LIBM1(log) LIBM1(log2) LIBM1(log10) LIBM1(log1p) LIBM1(sin) LIBM1(cos) LIBM1(tan)
    LIBM1(asin) LIBM1(acos) LIBM1(atan) LIBM1(sinh) LIBM1(cosh) LIBM1(asinh) LIBM1(acosh)
        LIBM1(atanh) LIBM1(erf) LIBM1(erfc) LIBM2(pow) LIBM2(hypot) LIBM2(atan2)

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

/* ---- kernels ---- */

#define ARGS                                                                                   \
    size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved, const void *params
#define UNUSED (void)saved, (void)params, (void)in, (void)out, (void)n
#define P(k) splat(((const double *)params)[k])
#define X(k) const double *const x##k = in[k].value
/* A bar or tangent that is not there, or has nothing to do with the result. */
#define BAR(k, d) double *const bar##k = WGI_ZERO(#d) ? NULL : in[k].bar
#define LETTER(a, k) const V a = get(x##k + i, r)
#define RESULTS double *const y = out->value, *const w_ = out->bar
#define VALUE_AND_W const V v = get(y + i, r), w = get(w_ + i, r)
#define ADD(k, d)                                                                              \
    if (bar##k != NULL) put(bar##k + i, r, get(bar##k + i, r) + CHAIN(w, d))
#define TANGENT(k, d)                                                                          \
    if (bar##k != NULL) t += CHAIN(get(bar##k + i, r), d)
#define KERNELS(name, xs, bars, letters, text, adds, tangents)                                 \
    static void name##_value(ARGS) {                                                           \
        UNUSED;                                                                                \
        xs;                                                                                    \
        double *const y = out->value;                                                          \
        EACH({                                                                                 \
            letters;                                                                           \
            put(y + i, r, text);                                                               \
        });                                                                                    \
    }                                                                                          \
    static void name##_vjp(ARGS) {                                                             \
        UNUSED;                                                                                \
        xs;                                                                                    \
        bars;                                                                                  \
        RESULTS;                                                                               \
        EACH({                                                                                 \
            letters;                                                                           \
            VALUE_AND_W;                                                                       \
            (void)v, (void)w;                                                                  \
            adds;                                                                              \
        });                                                                                    \
    }                                                                                          \
    static void name##_jvp(ARGS) {                                                             \
        UNUSED;                                                                                \
        xs;                                                                                    \
        bars;                                                                                  \
        RESULTS;                                                                               \
        EACH({                                                                                 \
            letters;                                                                           \
            const V v = get(y + i, r);                                                         \
            V t = ZERO;                                                                        \
            (void)v;                                                                           \
            tangents;                                                                          \
            put(w_ + i, r, t);                                                                 \
        });                                                                                    \
    }
#define V1(name, text, da)                                                                     \
    KERNELS(name, X(0), BAR(0, da), LETTER(a, 0); (void)a, text, ADD(0, da), TANGENT(0, da))
#define V2(name, text, da, db)                                                                 \
    KERNELS(name, X(0); X(1), BAR(0, da); BAR(1, db), LETTER(a, 0); LETTER(b, 1); (void)a;     \
            (void)b, text, ADD(0, da); ADD(1, db), TANGENT(0, da); TANGENT(1, db))
#define V3(name, text, da, db, dc)                                                             \
    KERNELS(name, X(0); X(1); X(2), BAR(0, da); BAR(1, db); BAR(2, dc), LETTER(a, 0);          \
            LETTER(b, 1); LETTER(c, 2); (void)a; (void)b; (void)c, text, ADD(0, da);           \
            ADD(1, db); ADD(2, dc), TANGENT(0, da); TANGENT(1, db); TANGENT(2, dc))
#define V4(name, text, da, db, dc, dd)                                                         \
    KERNELS(name, X(0); X(1); X(2); X(3), BAR(0, da); BAR(1, db); BAR(2, dc);                  \
            BAR(3, dd), LETTER(a, 0); LETTER(b, 1); LETTER(c, 2); LETTER(d, 3); (void)a;       \
            (void)b; (void)c; (void)d, text, ADD(0, da); ADD(1, db); ADD(2, dc);               \
            ADD(3, dd), TANGENT(0, da); TANGENT(1, db); TANGENT(2, dc); TANGENT(3, dd))

/* value: function(a, &s) with s kept. */
#define V1K(name, function)                                                                    \
    static void name##_value(ARGS) {                                                           \
        UNUSED;                                                                                \
        const double *const x0 = in->value;                                                    \
        double *const y = out->value;                                                          \
        EACH({                                                                                 \
            V s;                                                                               \
            LETTER(a, 0);                                                                      \
            put(y + i, r, function(a, &s));                                                    \
            put(saved + i, r, s);                                                              \
        });                                                                                    \
    }                                                                                          \
    static void name##_vjp(ARGS) {                                                             \
        UNUSED;                                                                                \
        double *const bar0 = in->bar;                                                          \
        const double *const w_ = out->bar;                                                     \
        EACH({                                                                                 \
            const V w = get(w_ + i, r);                                                        \
            ADD(0, get(saved + i, r));                                                         \
        });                                                                                    \
    }                                                                                          \
    static void name##_jvp(ARGS) {                                                             \
        UNUSED;                                                                                \
        double *const bar0 = in->bar;                                                          \
        double *const w_ = out->bar;                                                           \
        EACH({                                                                                 \
            V t = ZERO;                                                                        \
            TANGENT(0, get(saved + i, r));                                                     \
            put(w_ + i, r, t);                                                                 \
        });                                                                                    \
    }
#include "elementwise_simd.def"
#undef V1
#undef V2
#undef V3
#undef V4
#undef V1K

#define V1(name, ...) [WGI_ROW_##name] = {name##_value, name##_vjp, name##_jvp},
#define V2 V1
#define V3 V1
#define V4 V1
#define V1K V1
static const wgi_kernels rows[WGI_ROWS] = {
#include "elementwise_simd.def"
};
#undef V1
#undef V2
#undef V3
#undef V4
#undef V1K

/* ---- sums and extrema: four vectors, added up in a fixed order ---- */

enum { FOUR = 4 * WIDTH };

INNER double across(V s) {
    double t[WIDTH];
    memcpy(t, &s, sizeof s);
    for (int half = WIDTH / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) t[l] += t[l + half];
    return t[0];
}

/* The sum of `term` over V x (and y); `rest` is the same for one element. */
#define SUM(term, rest)                                                                        \
    size_t i = 0;                                                                              \
    V s[4] = {ZERO, ZERO, ZERO, ZERO};                                                         \
    for (; i + FOUR <= n; i += FOUR)                                                           \
        for (int k = 0; k < 4; k++) {                                                          \
            const size_t at = i + (size_t)k * WIDTH;                                           \
            s[k] += term;                                                                      \
        }                                                                                      \
    double total = across((s[0] + s[1]) + (s[2] + s[3]));                                      \
    for (; i < n; i++) total += rest

static double sum(size_t n, const double *x) {
    SUM(get(x + at, WIDTH), x[i]);
    return total;
}
static double sum_abs(size_t n, const double *x) {
    SUM(v_abs(get(x + at, WIDTH)), fabs(x[i]));
    return total;
}
static double dot(size_t n, const double *x, const double *y) {
    SUM(get(x + at, WIDTH) * get(y + at, WIDTH), x[i] * y[i]);
    return total;
}
static void moments(size_t n, const double *x, double c, double *sums) {
    size_t i = 0;
    V s[2] = {ZERO, ZERO}, q[2] = {ZERO, ZERO};
    for (; i + 2 * WIDTH <= n; i += 2 * WIDTH)
        for (int k = 0; k < 2; k++) {
            const V d = get(x + i + (size_t)k * WIDTH, WIDTH) - c;
            s[k] += d;
            q[k] += d * d;
        }
    sums[0] = across(s[0] + s[1]);
    sums[1] = across(q[0] + q[1]);
    for (; i < n; i++) {
        const double d = x[i] - c;
        sums[0] += d;
        sums[1] += d * d;
    }
}
#define EXTREMUM(name, beats, none)                                                            \
    static double name(size_t n, const double *x) {                                            \
        V m[2] = {splat(none), splat(none)};                                                   \
        M nan = (M)ZERO;                                                                       \
        double best = none;                                                                    \
        size_t i = 0;                                                                          \
        for (; i + 2 * WIDTH <= n; i += 2 * WIDTH)                                             \
            for (int k = 0; k < 2; k++) {                                                      \
                const V a = get(x + i + (size_t)k * WIDTH, WIDTH);                             \
                m[k] = v_if(a beats m[k], a, m[k]);                                            \
                nan |= a != a;                                                                 \
            }                                                                                  \
        m[0] = v_if(m[1] beats m[0], m[1], m[0]);                                              \
        for (int l = 0; l < WIDTH; l++) best = m[0][l] beats best ? m[0][l] : best;            \
        if (any(nan)) return NAN;                                                              \
        for (; i < n; i++) {                                                                   \
            if (x[i] != x[i]) return x[i];                                                     \
            best = x[i] beats best ? x[i] : best;                                              \
        }                                                                                      \
        return best;                                                                           \
    }
EXTREMUM(largest, >, -INFINITY)
EXTREMUM(smallest, <, INFINITY)
static double largest_abs(size_t n, const double *x) {
    V m = ZERO;
    M nan = (M)ZERO;
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        const V a = v_abs(get(x + i, WIDTH));
        m = v_if(a > m, a, m);
        nan |= a != a;
    }
    double top = 0;
    for (int l = 0; l < WIDTH; l++) top = m[l] > top ? m[l] : top;
    if (any(nan)) return NAN;
    for (; i < n; i++) {
        if (x[i] != x[i]) return x[i];
        top = fabs(x[i]) > top ? fabs(x[i]) : top;
    }
    return top;
}
static double exp_sum(size_t n, const double *x, double c, double *y) {
    V s = ZERO;
    double rest = 0;
    EACH({
        const V e = v_exp(get(x + i, r) - c);
        if (y != NULL) put(y + i, r, e);
        if (r == WIDTH) s += e;
        else
            for (size_t l = 0; l < r; l++) rest += e[l];
    });
    return across(s) + rest;
}
static void add(size_t n, double c, double *y) {
    EACH({ put(y + i, r, get(y + i, r) + c); });
}
static void axpy(size_t n, double c, const double *x, double *y) {
    EACH({ put(y + i, r, get(y + i, r) + v_times(splat(c), get(x + i, r))); });
}

static size_t centred(size_t n, const double *p, const double *t, double s, double *y) {
    size_t at = n;
    EACH({
        const V q = get(p + i, r);
        const M high = q > 0.5;
        const V d = v_times(q, get(t + i, r) - s);
        if (any(high)) at = i + (size_t)__builtin_ctz(lanes(high));
        put(y + i, r, get(y + i, r) + v_if(high, ZERO, d));
    });
    return at;
}

/* Four columns at a time share what is loaded of a. */
static void product(size_t m, size_t cols, size_t k, double alpha, const double *a, size_t lda,
                    const double *b, size_t down, size_t step, double *c, size_t ldc) {
    const size_t n = m;
    for (; cols >= 4; cols -= 4, b += 4 * step, c += 4 * ldc)
        EACH({
            V s0 = ZERO, s1 = ZERO, s2 = ZERO, s3 = ZERO;
            for (size_t l = 0; l < k; l++) {
                const V x = get(a + i + l * lda, r);
                const double *const y = b + l * down;
                s0 += x * y[0], s1 += x * y[step], s2 += x * y[2 * step], s3 += x * y[3 * step];
            }
            double *const to = c + i;
            put(to, r, get(to, r) + alpha * s0);
            put(to + ldc, r, get(to + ldc, r) + alpha * s1);
            put(to + 2 * ldc, r, get(to + 2 * ldc, r) + alpha * s2);
            put(to + 3 * ldc, r, get(to + 3 * ldc, r) + alpha * s3);
        });
    for (; cols > 0; cols--, b += step, c += ldc)
        EACH({
            V s = ZERO;
            for (size_t l = 0; l < k; l++) s += get(a + i + l * lda, r) * b[l * down];
            put(c + i, r, get(c + i, r) + alpha * s);
        });
}

/* ---- products with elements that stand anywhere ---- */

#if WIDTH == 2
#define MORE(s, x, at) s += (x) * *(at)
#else
#define MORE(s, x, at) s = v_fma(x, splat(*(at)), s)
#endif

/* y += v, r elements. */
INNER void add_some(double *y, size_t r, V v) {
    double from[WIDTH];
    memcpy(from, &v, sizeof v);
    for (size_t i = 0; i < r; i++) y[i] += from[i];
}
INNER void add_vector(double *y, size_t r, V v) {
    if (r < WIDTH) add_some(y, r, v);
    else put(y, WIDTH, get(y, WIDTH) + v);
}

/* Of one vector of rows, r of them, the columns at u, which are eight; the first `cols` count. */
static void placed_rows(size_t r, size_t cols, size_t k, const double *a, const double *b,
                        const ptrdiff_t *u, const ptrdiff_t *v, double *y, size_t ldy) {
    const double *const b0 = b + u[0], *const b1 = b + u[1], *const b2 = b + u[2],
                        *const b3 = b + u[3], *const b4 = b + u[4], *const b5 = b + u[5],
                        *const b6 = b + u[6], *const b7 = b + u[7];
    V s[8], s0 = ZERO, s1 = ZERO, s2 = ZERO, s3 = ZERO, s4 = ZERO, s5 = ZERO, s6 = ZERO,
            s7 = ZERO;
    for (size_t l = 0; l < k; l++, a += WGI_STRIP) {
        const V x = get(a, WIDTH);
        const ptrdiff_t at = v[l];
        MORE(s0, x, b0 + at);
        MORE(s1, x, b1 + at);
        MORE(s2, x, b2 + at);
        MORE(s3, x, b3 + at);
        MORE(s4, x, b4 + at);
        MORE(s5, x, b5 + at);
        MORE(s6, x, b6 + at);
        MORE(s7, x, b7 + at);
    }
    s[0] = s0, s[1] = s1, s[2] = s2, s[3] = s3, s[4] = s4, s[5] = s5, s[6] = s6, s[7] = s7;
    for (size_t j = 0; j < cols; j++) add_vector(y + j * ldy, r, s[j]);
}

/* Of two vectors, the second of r rows, four columns. */
static void placed_pair(size_t r, size_t cols, size_t k, const double *a, const double *b,
                        const ptrdiff_t *u, const ptrdiff_t *v, double *y, size_t ldy) {
    const double *const b0 = b + u[0], *const b1 = b + u[1], *const b2 = b + u[2],
                        *const b3 = b + u[3];
    V s[4], t[4], s0 = ZERO, s1 = ZERO, s2 = ZERO, s3 = ZERO, t0 = ZERO, t1 = ZERO, t2 = ZERO,
                  t3 = ZERO;
    for (size_t l = 0; l < k; l++, a += WGI_STRIP) {
        const V x = get(a, WIDTH), z = get(a + WIDTH, WIDTH);
        const ptrdiff_t at = v[l];
        MORE(s0, x, b0 + at);
        MORE(t0, z, b0 + at);
        MORE(s1, x, b1 + at);
        MORE(t1, z, b1 + at);
        MORE(s2, x, b2 + at);
        MORE(t2, z, b2 + at);
        MORE(s3, x, b3 + at);
        MORE(t3, z, b3 + at);
    }
    s[0] = s0, s[1] = s1, s[2] = s2, s[3] = s3, t[0] = t0, t[1] = t1, t[2] = t2, t[3] = t3;
    for (size_t j = 0; j < cols; j++) {
        add_vector(y + j * ldy, WIDTH, s[j]);
        add_vector(y + j * ldy + WIDTH, r, t[j]);
    }
}

/* Pairs of vectors of rows as long as there are, then one. Columns that are missing are the last one
 * again, and are not stored. */
static void placed(size_t m, size_t n, size_t k, const double *a, const double *b,
                   const ptrdiff_t *u, const ptrdiff_t *v, double *y, size_t ldy) {
    size_t i = 0;
    for (; m - i > WIDTH; i += 2 * WIDTH) {
        const double *const from = a + i / WGI_STRIP * WGI_STRIP * k + i % WGI_STRIP;
        const size_t r = m - i - WIDTH < WIDTH ? m - i - WIDTH : WIDTH;
        for (size_t j = 0; j < n; j += 4) {
            ptrdiff_t at[4];
            for (size_t c = 0; c < 4; c++) at[c] = u[j + c < n ? j + c : n - 1];
            placed_pair(r, n - j < 4 ? n - j : 4, k, from, b, at, v, y + i + j * ldy, ldy);
        }
        if (m - i <= 2 * WIDTH) return;
    }
    a += i / WGI_STRIP * WGI_STRIP * k + i % WGI_STRIP;
    for (size_t j = 0; j < n && i < m; j += 8) {
        ptrdiff_t at[8];
        for (size_t c = 0; c < 8; c++) at[c] = u[j + c < n ? j + c : n - 1];
        placed_rows(m - i, n - j < 8 ? n - j : 8, k, a, b, at, v, y + i + j * ldy, ldy);
    }
}

static const wgi_simd table = {rows,        sum,     sum_abs, dot,  moments, largest, smallest,
                               largest_abs, exp_sum, add,     axpy, centred, product, placed};
const wgi_simd *const TABLE = &table;
