/* SPDX-License-Identifier: MIT */
/* tape_text.h - what a tape holds, as wg_tape_dump has it, to be compared. */
#ifndef WENGERT_TEST_TAPE_TEXT_H
#define WENGERT_TEST_TAPE_TEXT_H

#include <string.h>
#include <wengert.h>

struct text {
    size_t used;
    char bytes[8192];
};

static inline int collect(void *ctx, const char *text, size_t bytes) {
    struct text *const o = ctx;
    if (o->used + bytes >= sizeof o->bytes) return 1;
    memcpy(o->bytes + o->used, text, bytes);
    o->bytes[o->used += bytes] = 0;
    return 0;
}

#endif
