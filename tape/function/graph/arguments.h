/* SPDX-License-Identifier: MIT */
/* arguments.h - inputs and outputs of functions: names, shapes, flags. Internal. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_ARGUMENTS_H
#define WGI_TAPE_FUNCTION_GRAPH_ARGUMENTS_H

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

/* The entries of all arguments together; where that overflows, a number larger than any memory.
 */
size_t wgi_arguments_size(size_t count, const wg_argument *a);
/* A copy in the arena, with a name for each argument: the caller's, or letter0, letter1, ...
 * Fails where a name occurs twice, or where a flag is set that is not in `flags`. */
wg_status wgi_arguments_copy(wgi_core *c, const char *call, size_t count, const wg_argument *a,
                             char letter, unsigned flags, wg_argument **out);
/* The number of the argument of that name; `count` where there is none. */
size_t wgi_argument_find(size_t count, const wg_argument *a, const char *name);
/* The texts a, b and d joined, in the arena; NULL: a failure. */
const char *wgi_argument_name(wgi_core *c, const char *a, const char *b, const char *d);

#endif
