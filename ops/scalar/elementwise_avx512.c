/* SPDX-License-Identifier: MIT */
/* Loops for machines with AVX-512 (F, DQ, VL), when compiled for them. */
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define WIDTH 8
#define TABLE wgi_simd_avx512
#define MVEC "_ZGVeN8"
#include "elementwise_simd.h"
#else
#include "elementwise.h"
const wgi_simd *const wgi_simd_avx512 = NULL;
#endif
