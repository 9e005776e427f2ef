/* SPDX-License-Identifier: MIT */
/* pieces.h - several arrays in one block of memory: laid out twice in the same order, once with
 * base NULL to count the bytes, once to place them. Internal. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_PIECES_H
#define WGI_TAPE_FUNCTION_GRAPH_PIECES_H

#include <stddef.h>

typedef struct wgi_pieces {
    char *base;
    size_t used;
} wgi_pieces;

/* The next piece, 64-byte aligned if base is; NULL while they are counted. */
static inline void *wgi_pieces_take(wgi_pieces *p, size_t bytes) {
    void *const place = p->base == NULL ? NULL : p->base + p->used;
    p->used += (bytes + 63) / 64 * 64;
    return place;
}
static inline double *wgi_pieces_doubles(wgi_pieces *p, size_t n) {
    return (double *)wgi_pieces_take(p, n * sizeof(double));
}

#endif
