/* SPDX-License-Identifier: MIT */
/* generic_kernel_c.h - kernels recorded by C, seen from C++. */
#ifndef WENGERT_TEST_GENERIC_KERNEL_C_H
#define WENGERT_TEST_GENERIC_KERNEL_C_H

#include <wengert/tape.h>

WG_BEGIN_DECLS

wg_real smooth_in_c(wg_tape *t, const wg_real *x);
wg_real exact_in_c(wg_tape *t, const wg_real *x);
wg_real branches_in_c(wg_tape *t, const wg_real *x);
wg_real own_operations_in_c(wg_tape *t, const wg_real *x);
/* Statements of 1 to 8 operands, with the pairs that become one record. */
wg_real wide_in_c(wg_tape *t, const wg_real *x);

WG_END_DECLS

#endif
