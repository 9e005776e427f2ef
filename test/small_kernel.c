/* SPDX-License-Identifier: MIT */
/* small_kernel.c - the statements of small_kernel.h as small code. */
#define WG_SMALL_CODE
#include <wengert.h>
#define KERNEL small_statement
#include "small_kernel.h"
