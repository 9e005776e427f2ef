/* SPDX-License-Identifier: MIT */
/* arguments.h - inputs and outputs of functions: names, shapes, flags. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_ARGUMENTS_H
#define WENGERT_TAPE_FUNCTION_ARGUMENTS_H

#include "graph.h"

static inline int wgi_argument_shared(const wg_argument *a) {
    return (a->flags & WG_SHARED) != 0;
}
static inline int wgi_argument_active(const wg_argument *a) {
    return (a->flags & WG_PASSIVE) == 0;
}
static inline int wgi_argument_summed(const wg_argument *a) {
    return (a->flags & WG_SUMMED) != 0;
}

/* Entries of all; more than any memory holds where they overflow. */
size_t wgi_arguments_size(size_t count, const wg_argument *a);
/* A copy in the arena with a name for each, those of the caller or letter0, letter1, ...; no
 * name twice, flags only out of `flags`. */
wg_status wgi_arguments_copy(wgi_core *c, const char *call, size_t count, const wg_argument *a,
                             char letter, unsigned flags, wg_argument **out);
/* The argument of that name, or count. */
size_t wgi_argument_find(size_t count, const wg_argument *a, const char *name);
/* The texts one after the other, in the arena; NULL: a failure. */
const char *wgi_argument_name(wgi_core *c, const char *a, const char *b, const char *d);

#endif
