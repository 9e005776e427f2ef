/* SPDX-License-Identifier: MIT */
/* Loops for machines with AVX2 and FMA, when compiled for them: clang passes vectors as the
 * flags of a file say, not as the attributes of a function do. */
#if defined(__AVX2__) && defined(__FMA__)
#define WIDTH 4
#define TABLE wgi_simd_avx2
#define MVEC "_ZGVdN4"
#include "elementwise_simd.h"
#else
#include "elementwise.h"
const wgi_simd *const wgi_simd_avx2 = NULL;
#endif
