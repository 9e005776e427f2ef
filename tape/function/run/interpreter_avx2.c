/* SPDX-License-Identifier: MIT */
/* The interpreter for machines with AVX2 and FMA, when compiled for them. */
#if defined(__AVX2__) && defined(__FMA__)
#define WIDTH 4
#define MACHINE wgi_fn_avx2
#define MVEC "_ZGVdN4"
#include "interpreter_kernels.h"
#else
#include "bytecode.h"
const wgi_fn_machine *const wgi_fn_avx2 = NULL;
#endif
