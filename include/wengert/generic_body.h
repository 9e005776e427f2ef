/* SPDX-License-Identifier: MIT */
/* What the retyped names of generic.h call: operations that mix duals with numbers, and the array
 * operations of wengert/array.h over doubles and over duals.
 *
 * Letters: x y z w operands, a b their values, i j k m is it a dual (1) or a number (0). */
#ifndef WENGERT_GENERIC_BODY_H
#define WENGERT_GENERIC_BODY_H

#include <wengert/dual.h>

/* Nested expressions reuse the names of their locals on purpose, and use GNU C throughout. */
#pragma GCC system_header

/* ---- expressions: each operand is evaluated once ------------------------------------------- */

#ifndef __cplusplus

#define WGI_IS_A_DUAL(x) __builtin_types_compatible_p(__typeof__(x), wg_dual)
#define WGI_NO_POINTER(x)                                                                      \
    _Static_assert(__builtin_classify_type(x) != 5,                                            \
                   "wengert: an operand is a pointer: an index or a * is missing");            \
    _Static_assert(__builtin_classify_type(x) != 12 || WGI_IS_A_DUAL(x),                       \
                   "wengert: an operand is no dual and no number: a taped variable?")
/* The number or the dual x, as a dual; its value. */
#define WGI_LIFT(x, is)                                                                        \
    __builtin_choose_expr(is, x, wg_dual_constant(__builtin_choose_expr(is, 0, x)))
#define WGI_PRIMAL(x, is)                                                                      \
    __builtin_choose_expr(is, wg_dual_value(WGI_LIFT(x, is)), __builtin_choose_expr(is, 0, x))
