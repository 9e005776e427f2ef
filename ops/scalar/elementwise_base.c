/* SPDX-License-Identifier: MIT */
/* Loops for every machine: vectors of two. */
#define WIDTH 2
#define TABLE wgi_simd_base
#define MVEC "_ZGVbN2"
#include "elementwise_simd.h"
