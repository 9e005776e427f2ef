/* SPDX-License-Identifier: MIT */
/* Several adjoints at once: `lanes` of them interleaved per slot, in SIMD registers.
 *
 * The kernels are compiled for the baseline, AVX2 and AVX-512; which one runs is looked up per
 * sweep. None contracts a multiplication and an addition, so all give the same bits. */
#include "stretch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Of a record with a single operand, the products of the other, which are 0, are added to the
 * row of slot 0. Where other threads sweep beside this one that is everybody's, and they are
 * added to rows of this run alone. A branch for it would be mispredicted in irregular
 * recordings, and a single such row be waited for; so one is chosen of several, by plain
 * arithmetic. */
enum { NONE = 4 };
#define TARGET(slot, row, none)                                                                \
    (double *)((uintptr_t)(none) ^                                                             \
               (((uintptr_t)(row) ^ (uintptr_t)(none)) & -(uintptr_t)((slot) != 0)))

/* One kernel: LANES adjoints per slot, `stride` doubles apart from slot to slot, as vectors of
 * WIDTH; ODD(a, b) tells whether any lane of a or b is a NaN. The product of each lane follows
 * the zero rule; products that are all numbers take no further look. */
#define KERNEL(NAME, LANES, WIDTH, ODD, ATTRIBUTE)                                             \
    typedef double NAME##_row                                                                  \
        __attribute__((vector_size(8 * (WIDTH)), aligned(8), may_alias));                      \
    ATTRIBUTE static inline __attribute__((always_inline)) void NAME##_run(                    \
        const wgi_record *low, const wgi_record *high, double *adjoint, size_t stride,         \
        const wgi_offset *offset, int alone) {                                                 \
        double none[NONE * (LANES)];                                                           \
        _Pragma("GCC unroll 16") for (size_t i = 0; i < NONE * (LANES); i += (WIDTH)) *        \
            (NAME##_row *)(void *)(none + i) = (NAME##_row){0};                                \
        for (const wgi_record *r = high; r-- != low;) {                                        \
            const double *const from = wgi_row(offset, adjoint, stride, r->out);               \
            double *const to0 = wgi_row(offset, adjoint, stride, r->in0);                      \
            double *const row1 = wgi_row(offset, adjoint, stride, r->in1);                     \
            double *const to1 =                                                                \
                alone                                                                          \
                    ? row1                                                                     \
                    : TARGET(r->in1, row1, none + (uintptr_t)r / sizeof *r % NONE * (LANES));  \
            for (size_t i = 0; i < (LANES); i += (WIDTH)) {                                    \
                const NAME##_row w = *(const NAME##_row *)(const void *)(from + i);            \
                NAME##_row p0 = w * r->jac0, p1 = w * r->jac1;                                 \
                if (__builtin_expect(ODD(p0, p1), 0))                                          \
                    for (int l = 0; l < (WIDTH); l++) {                                        \
                        p0[l] = wgi_product(w[l], r->jac0);                                    \
                        p1[l] = wgi_product(w[l], r->jac1);                                    \
                    }                                                                          \
                *(NAME##_row *)(void *)(to0 + i) += p0;                                        \
                *(NAME##_row *)(void *)(to1 + i) += p1;                                        \
            }                                                                                  \
        }                                                                                      \
    }                                                                                          \
    ATTRIBUTE static void NAME(const wgi_record *low, const wgi_record *high, double *adjoint, \
                               size_t stride, const wgi_offset *offset, int alone) {           \
        if (offset != NULL) NAME##_run(low, high, adjoint, stride, offset, 0);                 \
        else if (!alone) NAME##_run(low, high, adjoint, stride, NULL, 0);                      \
        else if (stride == (LANES)) NAME##_run(low, high, adjoint, LANES, NULL, 1);            \
        else NAME##_run(low, high, adjoint, stride, NULL, 1);                                  \
    }

/* The same for a forward sweep. */
#define FORWARD(NAME, LANES, WIDTH, ODD, ATTRIBUTE)                                            \
    ATTRIBUTE static void NAME##_forward(const wgi_record *low, const wgi_record *high,        \
                                         double *tangent) {                                    \
        for (const wgi_record *r = low; r != high; r++) {                                      \
            double *const to = tangent + (size_t)r->out * (LANES);                             \
            const double *const from0 = tangent + (size_t)r->in0 * (LANES);                    \
            const double *const from1 = tangent + (size_t)r->in1 * (LANES);                    \
            for (size_t i = 0; i < (LANES); i += (WIDTH)) {                                    \
                const NAME##_row a = *(const NAME##_row *)(const void *)(from0 + i);           \
                const NAME##_row b = *(const NAME##_row *)(const void *)(from1 + i);           \
                NAME##_row p0 = a * r->jac0, p1 = b * r->jac1;                                 \
                if (__builtin_expect(ODD(p0, p1), 0))                                          \
                    for (int l = 0; l < (WIDTH); l++) {                                        \
                        p0[l] = wgi_product(a[l], r->jac0);                                    \
                        p1[l] = wgi_product(b[l], r->jac1);                                    \
                    }                                                                          \
                *(NAME##_row *)(void *)(to + i) += p0 + p1;                                    \
            }                                                                                  \
        }                                                                                      \
    }

typedef void kernel(const wgi_record *low, const wgi_record *high, double *adjoint,
                    size_t stride, const wgi_offset *offset, int alone);

#if defined(__x86_64__)
#define ODD2(a, b) _mm_movemask_pd(_mm_cmpunord_pd((__m128d)(a), (__m128d)(b)))
#define ODD4(a, b) _mm256_movemask_pd(_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_UNORD_Q))
#define ODD8(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_UNORD_Q)
KERNEL(avx2_4, 4, 4, ODD4, __attribute__((target("avx2"))))
KERNEL(avx2_8, 8, 4, ODD4, __attribute__((target("avx2"))))
KERNEL(avx512_8, 8, 8, ODD8, __attribute__((target("avx512f,avx512dq"))))
FORWARD(avx2_4, 4, 4, ODD4, __attribute__((target("avx2"))))
FORWARD(avx2_8, 8, 4, ODD4, __attribute__((target("avx2"))))
FORWARD(avx512_8, 8, 8, ODD8, __attribute__((target("avx512f,avx512dq"))))
#else
#define ODD2(a, b) (a[0] != a[0] || a[1] != a[1] || b[0] != b[0] || b[1] != b[1])
#endif
KERNEL(base2, 2, 2, ODD2, )
KERNEL(base4, 4, 2, ODD2, )
KERNEL(base8, 8, 2, ODD2, )
FORWARD(base2, 2, 2, ODD2, )
FORWARD(base4, 4, 2, ODD2, )
FORWARD(base8, 8, 2, ODD2, )

static kernel *choose(size_t lanes) {
#if defined(__x86_64__)
    if (lanes >= 8 && __builtin_cpu_supports("avx512dq")) return avx512_8;
    if (lanes >= 8 && __builtin_cpu_supports("avx2")) return avx2_8;
    if (lanes == 4 && __builtin_cpu_supports("avx2")) return avx2_4;
#endif
    return lanes == 2 ? base2 : lanes == 4 ? base4 : base8;
}

void wgi_sweep_lanes(const wgi_record *low, const wgi_record *high, double *adjoint,
                     size_t lanes, const wgi_offset *w, int alone) {
    kernel *const run = choose(lanes);
    for (size_t first = 0; first < lanes; first += 8)
        run(low, high, adjoint + first, lanes, w, alone);
}

static void forward_one(const wgi_record *low, const wgi_record *high, double *tangent) {
    for (const wgi_record *r = low; r != high; r++)
        tangent[r->out] +=
            wgi_product(tangent[r->in0], r->jac0) + wgi_product(tangent[r->in1], r->jac1);
}

typedef void forward_kernel(const wgi_record *low, const wgi_record *high, double *tangent);

static forward_kernel *choose_forward(size_t lanes) {
#if defined(__x86_64__)
    if (lanes == 8 && __builtin_cpu_supports("avx512dq")) return avx512_8_forward;
    if (lanes == 8 && __builtin_cpu_supports("avx2")) return avx2_8_forward;
    if (lanes == 4 && __builtin_cpu_supports("avx2")) return avx2_4_forward;
#endif
    if (lanes == 1) return forward_one;
    return lanes == 2 ? base2_forward : lanes == 4 ? base4_forward : base8_forward;
}

void wgi_forward_lanes(const wgi_record *low, const wgi_record *high, double *tangent,
                       size_t lanes) {
    choose_forward(lanes)(low, high, tangent);
}
