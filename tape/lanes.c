/* SPDX-License-Identifier: MIT */
/* Several adjoints at once: `lanes` of them interleaved per slot, in SIMD registers.
 *
 * The kernels are compiled for the baseline, AVX2 and AVX-512; which one runs is looked up per
 * sweep. None contracts a multiplication and an addition, so all give the same bits. */
#include "tape.h"

#include <string.h>

/* One kernel: LANES adjoints per slot as vectors of WIDTH. The product of each lane follows the
 * zero rule; a record whose products are all ordered numbers takes no further look. */
#define KERNEL(NAME, LANES, WIDTH, ATTRIBUTE)                                                  \
    typedef double NAME##_row                                                                  \
        __attribute__((vector_size(8 * (WIDTH)), aligned(8), may_alias));                      \
    typedef int64_t NAME##_mask                                                                \
        __attribute__((vector_size(8 * (WIDTH)), aligned(8), may_alias));                      \
    ATTRIBUTE static void NAME(const wgi_record *low, const wgi_record *high, double *adjoint, \
                               size_t stride) {                                                \
        for (const wgi_record *r = high; r-- != low;) {                                        \
            const double *const from = adjoint + (size_t)r->out * stride;                      \
            double *const to0 = adjoint + (size_t)r->in0 * stride;                             \
            double *const to1 = adjoint + (size_t)r->in1 * stride;                             \
            for (size_t i = 0; i < (LANES); i += (WIDTH)) {                                    \
                const NAME##_row w = *(const NAME##_row *)(const void *)(from + i);            \
                NAME##_row p0 = w * r->jac0, p1 = w * r->jac1;                                 \
                const NAME##_mask odd = (p0 != p0) | (p1 != p1);                               \
                int64_t any = 0;                                                               \
                for (int l = 0; l < (WIDTH); l++) any |= odd[l];                               \
                if (__builtin_expect(any != 0, 0))                                             \
                    for (int l = 0; l < (WIDTH); l++) {                                        \
                        p0[l] = wgi_product(w[l], r->jac0);                                    \
                        p1[l] = wgi_product(w[l], r->jac1);                                    \
                    }                                                                          \
                *(NAME##_row *)(void *)(to0 + i) += p0;                                        \
                *(NAME##_row *)(void *)(to1 + i) += p1;                                        \
            }                                                                                  \
        }                                                                                      \
    }

typedef void kernel(const wgi_record *low, const wgi_record *high, double *adjoint,
                    size_t stride);

KERNEL(base2, 2, 2, )
KERNEL(base4, 4, 2, )
KERNEL(base8, 8, 2, )
#if defined(__x86_64__)
KERNEL(avx2_4, 4, 4, __attribute__((target("avx2"))))
KERNEL(avx2_8, 8, 4, __attribute__((target("avx2"))))
KERNEL(avx512_8, 8, 8, __attribute__((target("avx512f,avx512dq"))))
#endif

static kernel *choose(size_t lanes) {
#if defined(__x86_64__)
    if (lanes >= 8 && __builtin_cpu_supports("avx512dq")) return avx512_8;
    if (lanes >= 8 && __builtin_cpu_supports("avx2")) return avx2_8;
    if (lanes == 4 && __builtin_cpu_supports("avx2")) return avx2_4;
#endif
    return lanes == 2 ? base2 : lanes == 4 ? base4 : base8;
}

void wgi_sweep_lanes(const wgi_record *low, const wgi_record *high, double *adjoint,
                     size_t lanes) {
    kernel *const run = choose(lanes);
    for (size_t first = 0; first < lanes; first += 8)
        run(low, high, adjoint + first, lanes);
}
