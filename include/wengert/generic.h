/* SPDX-License-Identifier: MIT */
/* One source, three types: this header may be included again and again, and each time decides
 * what `wg_real` and the operations of a kernel mean.
 *
 * A kernel is a file without include guard, which starts by including this header:
 *
 *     // norm.h
 *     #include <wengert/generic.h>
 *     static wg_real WG_NAME(norm)(wg_tape *t, wg_real x, wg_real y) {
 *         return wg_let(t, wg_sqrt(wg_add(wg_mul(x, x), wg_mul(y, y))));
 *     }
 *
 * It is included once for each type that is wanted:
 *
 *     #include "norm.h"                  norm_real: recorded on a tape
 *     #define WG_AS_DOUBLE
 *     #include "norm.h"                  norm_double: plain C, at the speed of plain C
 *     #undef WG_AS_DOUBLE
 *     #define WG_AS_DUAL
 *     #include "norm.h"                  norm_dual: forward mode, wengert/dual.h
 *     #undef WG_AS_DUAL
 *     #include <wengert/generic.h>       wg_real is the taped variable again
 *
 * In every mode: wg_real, wg_let, wg_constant, wg_value, wg_input, wg_inputs, wg_label, the
 * scalar operations, operations of your own (WG_CALL1 to WG_CALL4), wg_let_NAME of
 * wengert/let.h, which are calls on a tape only, wg_let_given and wg_terms of wengert/given.h,
 * the array operations of wengert/array.h and the comparisons wg_lt(t, x, y). Where nothing is
 * recorded the tape is evaluated and not used: it may be NULL. An input is then a constant; a
 * dual that is to have a tangent is made before the kernel is called, with wg_dual_input.
 * A value must go through wg_let before it is stored, as on a tape; numbers and variables mix
 * in every position. In a kernel that C++ shall compile too, use what both languages have: no
 * compound literals, designated initialisers, variable-length arrays or restrict.
 *
 * WG_NAME(f) is f_real, f_double or f_dual: with it one translation unit holds all three. */
#ifndef WENGERT_GENERIC_H
#define WENGERT_GENERIC_H
#include <wengert.h>
#include <wengert/generic_body.h>
#include <wengert/given.h>
#include <wengert/operation.h>
#define WGI_NAME(f, type) f##_##type
#endif

#if (defined(WG_AS_DOUBLE) + defined(WG_AS_DUAL) + defined(WG_AS_TAPE)) > 1
#error "wengert: one of WG_AS_DOUBLE, WG_AS_DUAL, WG_AS_TAPE at a time: an #undef is missing"
#endif

/* What the names mean now, if not the taped variable: WGI_IS_DOUBLE or WGI_IS_DUAL. */
#if (defined(WGI_IS_DOUBLE) && !defined(WG_AS_DOUBLE)) ||                                      \
    (defined(WGI_IS_DUAL) && !defined(WG_AS_DUAL))
#undef WGI_IS_DOUBLE
#undef WGI_IS_DUAL
#include <wengert/generic_tape.h>
#endif

#undef WG_NAME
#if defined(WG_AS_DOUBLE)
#define WG_NAME(f) WGI_NAME(f, double)
#ifndef WGI_IS_DOUBLE
#define WGI_IS_DOUBLE
#include <wengert/generic_double.h>
#endif
#elif defined(WG_AS_DUAL)
#define WG_NAME(f) WGI_NAME(f, dual)
#ifndef WGI_IS_DUAL
#define WGI_IS_DUAL
#include <wengert/generic_dual.h>
#endif
#else
#define WG_NAME(f) WGI_NAME(f, real)
#endif
