/* SPDX-License-Identifier: MIT */
/* The interpreter for machines with AVX-512 (F, DQ, VL), when compiled for them. */
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define WIDTH 8
#define MACHINE wgi_fn_avx512
#define MVEC "_ZGVeN8"
#include "interpreter_kernels.h"
#else
#include "bytecode.h"
const wgi_fn_machine *const wgi_fn_avx512 = NULL;
#endif
