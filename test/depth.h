/* SPDX-License-Identifier: MIT */
/* depth.h - how deep a test goes. `make test` runs every test; DEPTH=2, before a release, also
 * what only repeats it: other random programs, another way to compile the same text. */
#ifndef TEST_DEPTH_H
#define TEST_DEPTH_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_deep(void) {
    const char *const depth = getenv("DEPTH");
    return depth != NULL && atoi(depth) > 1;
}

#endif
