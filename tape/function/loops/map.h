/* SPDX-License-Identifier: MIT */
/* map.h - a call and a map as the tape keeps them. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_MAP_H
#define WENGERT_TAPE_FUNCTION_MAP_H

#include "callable.h"

/* An input as the operation finds it. */
typedef struct wgi_map_feed {
    int kind;         /* WGI_FROM_MATRIX, _DATA or _FILL */
    uint32_t operand; /* of a matrix */
    wg_points data;
    wg_fill *fill;
    void *user;
} wgi_map_feed;

/* The params of a block. feed NULL: every input is the operand of its number. */
typedef struct wgi_map {
    const wg_callable *k;
    size_t points;
    wg_threads *threads;
    const wgi_map_feed *feed;
} wgi_map;

extern const wg_block_op wgi_op_call, wgi_op_map;

#endif
