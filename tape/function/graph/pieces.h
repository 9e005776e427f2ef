/* SPDX-License-Identifier: MIT */
/* pieces.h - a function and its arrays in one block of memory: laid out twice in the same order,
 * once with base NULL to count the bytes, once to place them. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_PIECES_H
#define WENGERT_TAPE_FUNCTION_PIECES_H

#include <stddef.h>

typedef struct wgi_pieces {
    char *base;
    size_t used;
} wgi_pieces;

/* The next piece, 64-byte aligned if base is; NULL while they are counted. */
static inline void *wgi_piece(wgi_pieces *p, size_t bytes) {
    const size_t at = p->used;
    p->used += (bytes + 63) / 64 * 64;
    return p->base == NULL ? NULL : p->base + at;
}

#endif
