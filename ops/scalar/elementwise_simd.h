/* SPDX-License-Identifier: MIT */
/* elementwise_simd.h - the loops of elementwise.h for one instruction set. A file defines
 *     TABLE    the name of a pointer to the table
 * beside what vectors.h asks for, and includes this. What is left over at the end of an array
 * goes through the same vectors, so that the bits of a result do not depend on its place. */
#include "vectors.h"

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

/* Of one vector of rows, r of them, the columns at u, which are eight; the first `cols`
 * count. */
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

/* Pairs of vectors of rows as long as there are, then one. Columns that are missing are the
 * last one again, and are not stored. */
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
