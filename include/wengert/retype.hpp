/* SPDX-License-Identifier: MIT */
/* C code as it stands, over wg::active: the standard headers that it may include are included
 * here, so that they are done with when `double` gets another meaning.
 *
 *     #include <wengert/retype.hpp>
 *     namespace retyped {
 *     #define double wg::active
 *     #include "model.c"
 *     #undef double
 *     }
 *
 * compiles model.c as C++, once more beside what it is in C. Works: arithmetic, comparisons, ?
 * :, <math.h>, printf and scanf, structures, arrays of any dimension, malloc and calloc by
 * sizeof, memcpy and memset of such objects, unions of objects, static objects, pointers to
 * functions. Where an int is wanted it takes the whole part of an object, as C does; a guard is
 * left (active.hpp).
 * Refused by the compiler: an object where a float is wanted; long double; what C++ does not
 * take from C (malloc without a cast: g++ -fpermissive).
 * Neither: memory that malloc gives is no object yet, and read before it is written has any
 * value, as that of a double; bytes of a double that are copied into an object, as from a file,
 * make a part of one: read them into a double. A `double` in a file that is included before
 * is a double. */
#ifndef WENGERT_RETYPE_HPP
#define WENGERT_RETYPE_HPP

#include <assert.h>
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#if defined(WENGERT_ACTIVE_HPP) && !defined(WG_IMPLICIT_INTEGERS)
#error "wengert: include <wengert/retype.hpp> before <wengert/active.hpp>"
#endif
#ifndef WG_IMPLICIT_INTEGERS
#define WG_IMPLICIT_INTEGERS
#endif
#include <wengert/active.hpp>

#endif
