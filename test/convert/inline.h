/* SPDX-License-Identifier: MIT */
#ifndef TEST_CONVERT_INLINE_H
#define TEST_CONVERT_INLINE_H

static inline double cubed(double x) { return x * x * x; }

#endif
