/* SPDX-License-Identifier: MIT */
/* Products of truncated series. Sixteen coefficients of a product are computed side by side:
 * each takes a_j b_{k-j} in turn, where b is 0 in front of its beginning; four of a square,
 * which has half of the terms. The kernels are compiled for the baseline and for AVX2; neither
 * contracts a multiplication and an addition, so that both give the same bits. */
#include "taylor_rows.h"

#include "tape/engine/tape.h"

#include <string.h>

enum { ROW = WGI_ROW_COEFFICIENTS, SIDE = WGI_ROW_SIDE, FOUR = 4 };

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long flags __attribute__((vector_size(32)));

/* ---- with the zero rule ---- */

/* The sum of a_j a_{k-j}, j from `from` to k - from. */
static double pairs(const double *a, size_t k, size_t from) {
    double sum = 0;
    for (size_t j = from; 2 * j < k; j++) sum += wgi_product(a[j], a[k - j]);
    return 2 * sum + (k % 2 == 0 ? wgi_product(a[k / 2], a[k / 2]) : 0);
}

static void careful_scale(size_t n, const double *a, double by, double *v) {
    for (size_t k = 1; k < n; k++) v[k] = wgi_product(a[k], by);
}
static void careful_square(size_t n, const double *a, double *v) {
    for (size_t k = 1; k < n; k++) v[k] = pairs(a, k, 0);
}
static void careful_product(size_t n, const double *a, const double *b, double *v) {
    for (size_t k = 1; k < n; k++) {
        v[k] = 0;
        for (size_t j = 0; j <= k; j++) v[k] += wgi_product(a[j], b[k - j]);
    }
}

/* ---- as vectors ---- */

#define LOAD(p) (*(const four *)(const void *)(p))
#define STORE(p, x) (*(four *)(void *)(p) = (x))

/* Where a lane was NaN: one that counts? What comes beyond n may be anything, and must not
 * decide by which sums the rest is found. */
static int has_nan(size_t n, const double *v) {
    for (size_t k = 1; k < n; k++)
        if (v[k] != v[k]) return 1;
    return 0;
}

#define BAD(bad, n, v) ((bad[0] | bad[1] | bad[2] | bad[3]) != 0 && has_nan(n, v))
#define KERNELS(NAME, ATTRIBUTE)                                                               \
    ATTRIBUTE static void NAME##_add(size_t n, const double *a, const double *b, double *v) {  \
        for (size_t k = 1; k < n; k += FOUR) STORE(v + k, LOAD(a + k) + LOAD(b + k));          \
    }                                                                                          \
    ATTRIBUTE static void NAME##_sub(size_t n, const double *a, const double *b, double *v) {  \
        for (size_t k = 1; k < n; k += FOUR) STORE(v + k, LOAD(a + k) - LOAD(b + k));          \
    }                                                                                          \
    ATTRIBUTE static void NAME##_scale(size_t n, const double *a, double by, double *v) {      \
        flags bad = {0};                                                                       \
        for (size_t k = 1; k < n; k += FOUR) {                                                 \
            const four x = LOAD(a + k) * by;                                                   \
            bad |= x != x;                                                                     \
            STORE(v + k, x);                                                                   \
        }                                                                                      \
        if (BAD(bad, n, v)) careful_scale(n, a, by, v);                                        \
    }                                                                                          \
    ATTRIBUTE static void NAME##_square(size_t n, const double *a, double *v) {                \
        const flags half = {0, 0, -1, -1};                                                     \
        flags bad = {0};                                                                       \
        for (size_t k = 1, q = 0; k < n; k += FOUR, q += 2) {                                  \
            const double *const at = a + k;                                                    \
            four even = LOAD(at) * a[0], odd = {0};                                            \
            for (size_t j = 1; j < q; j += 2) {                                                \
                odd += LOAD(at - j) * a[j];                                                    \
                even += LOAD(at - j - 1) * a[j + 1];                                           \
            }                                                                                  \
            const four last = LOAD(at - q - 1) * a[q + 1];                                     \
            four sum = even + (odd + (four)((flags)last & half));                              \
            const four middle = {0, a[q + 1] * a[q + 1], 0, a[q + 2] * a[q + 2]};              \
            sum = sum + sum + middle;                                                          \
            bad |= sum != sum;                                                                 \
            STORE(v + k, sum);                                                                 \
        }                                                                                      \
        if (BAD(bad, n, v)) careful_square(n, a, v);                                           \
    }                                                                                          \
    ATTRIBUTE static void NAME##_product(size_t n, const double *a, const double *b,           \
                                         double *v) {                                          \
        double padded[SIDE + ROW + SIDE];                                                      \
        flags bad = {0};                                                                       \
        for (size_t k = 0; k < SIDE; k += FOUR) STORE(padded + k, (four){0});                  \
        memcpy(padded + SIDE, b, wgi_row_stride(n - 1) * sizeof *b);                           \
        for (size_t k = 1; k < n; k += SIDE) {                                                 \
            const size_t end = k + SIDE <= n ? k + SIDE : n;                                   \
            const double *at = padded + SIDE + k;                                              \
            four s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                                       \
            for (size_t j = 0; j < end; j++, at--) {                                           \
                s0 += LOAD(at) * a[j];                                                         \
                s1 += LOAD(at + FOUR) * a[j];                                                  \
                s2 += LOAD(at + 2 * FOUR) * a[j];                                              \
                s3 += LOAD(at + 3 * FOUR) * a[j];                                              \
            }                                                                                  \
            bad |= (s0 != s0) | (s1 != s1) | (s2 != s2) | (s3 != s3);                          \
            STORE(v + k, s0);                                                                  \
            STORE(v + k + FOUR, s1);                                                           \
            STORE(v + k + 2 * FOUR, s2);                                                       \
            STORE(v + k + 3 * FOUR, s3);                                                       \
        }                                                                                      \
        if (BAD(bad, n, v)) careful_product(n, a, b, v);                                       \
    }                                                                                          \
    static const wgi_row_kernels NAME = {NAME##_add, NAME##_sub, NAME##_scale, NAME##_product, \
                                         NAME##_square};

#if defined(__x86_64__)
KERNELS(avx2, __attribute__((target("avx2"))))
#endif
KERNELS(base, )

/* In both of these the newest coefficient comes last: what is older is added up while it is
 * waited for. */
void wgi_row_quotient(size_t n, const double *a, const double *b, double *v) {
    const double by = 1 / b[0];
    int bad = 0;
    for (size_t k = 1; k < n; k++) {
        double sum = 0;
        for (size_t i = 0; i + 1 < k; i++) sum += v[i] * b[k - i];
        v[k] = (a[k] - sum - v[k - 1] * b[1]) * by;
        bad |= v[k] != v[k];
    }
    for (size_t k = 1; bad && k < n; k++) {
        double sum = 0;
        for (size_t i = 0; i < k; i++) sum += wgi_product(v[i], b[k - i]);
        v[k] = wgi_product(a[k] - sum, by);
    }
}

void wgi_row_root(size_t n, const double *a, double *v) {
    const double by = 1 / (2 * v[0]);
    int bad = 0;
    for (size_t k = 1; k < n; k++) {
        double sum = 0;
        for (size_t j = (k - 1) / 2; j > 1; j--) sum += v[j] * v[k - j];
        sum = a[k] - (k % 2 == 0 ? 2 * sum + v[k / 2] * v[k / 2] : 2 * sum);
        v[k] = (k > 2 ? sum - 2 * v[1] * v[k - 1] : sum) * by;
        bad |= v[k] != v[k];
    }
    for (size_t k = 1; bad && k < n; k++) v[k] = wgi_product(a[k] - pairs(v, k, 1), by);
}

const wgi_row_kernels *wgi_row_kernels_here(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return &avx2;
#endif
    return &base;
}

/* What is given to a_j is coefficient n - 1 - j of the product of b and the reverse of v. */
void wgi_row_product_adjoint(const wgi_row_kernels *rows, size_t n, const double *v,
                             const double *b, double *a) {
    double reverse[ROW + SIDE], all[ROW + SIDE];
    for (size_t k = 0; k < n; k++) reverse[k] = v[n - 1 - k];
    memset(reverse + n, 0, (wgi_row_stride(n - 1) - n) * sizeof *reverse);
    all[0] = wgi_product(b[0], reverse[0]);
    rows->product(n, b, reverse, all);
    for (size_t j = 0; j < n; j++) a[j] += all[n - 1 - j];
}
