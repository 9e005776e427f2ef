/* SPDX-License-Identifier: MIT */
/* Compiler and linkage: what every other header of Wengert assumes.
 *
 * Wengert needs gcc or clang (GNU statement expressions, __auto_type) and IEEE arithmetic. */
#ifndef WENGERT_CONFIG_H
#define WENGERT_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__GNUC__)
#error "wengert: gcc or clang is needed (GNU statement expressions)"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "wengert: -ffast-math removes the NaN and infinity rules the derivatives rest on"
#elif defined(__ASSOCIATIVE_MATH__) /* gcc; clang has no such macro */
#error "wengert: -fassociative-math reorders the sums and products that derivatives are written in"
#endif
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "wengert: compile as C11 or later (-std=c11 or -std=gnu11)"
#endif

#define WG_VERSION_MAJOR 0
#define WG_VERSION_MINOR 1
#define WG_VERSION_PATCH 0
#define WG_VERSION "0.1.0"

#ifdef __cplusplus
#define WG_BEGIN_DECLS extern "C" {
#define WG_END_DECLS }
#define WGI_NULL nullptr
#else
#define WG_BEGIN_DECLS
#define WG_END_DECLS
#define WGI_NULL NULL
#endif

/* NAN is a float, of which compilers may warn. */
#define WGI_NAN __builtin_nan("")

/* Exported from the shared library: WG_API for users, WGI_API for the macros and inline
 * functions of these headers. */
#define WG_API __attribute__((visibility("default")))
#define WGI_API WG_API
/* A status that nothing else would tell later: the compiler warns where it is not used. */
#define WG_MUST_CHECK __attribute__((warn_unused_result))
/* Inlined into the user's statement. */
#define WGI_INLINE static inline __attribute__((always_inline, unused))
#define WGI_LIKELY(c) __builtin_expect(!!(c), 1)
#define WGI_UNLIKELY(c) __builtin_expect(!!(c), 0)
#define WGI_NEARLY_ALWAYS(x) __builtin_expect_with_probability(!!(x), 1, 0.9999)
#define WGI_AT_TIMES(x) __builtin_expect_with_probability(!!(x), 1, 0.3)

#endif
