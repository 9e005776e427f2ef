/* SPDX-License-Identifier: MIT */
/* The interpreter for every machine: vectors of two. */
#define WIDTH 2
#define MACHINE wgi_fn_base
#define MVEC "_ZGVbN2"
#include "interpreter_kernels.h"
