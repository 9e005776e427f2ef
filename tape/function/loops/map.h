/* SPDX-License-Identifier: MIT */
/* map.h - a call and a map as the tape keeps them. Internal. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_MAP_H
#define WGI_TAPE_FUNCTION_LOOPS_MAP_H

#include "callable.h"

/* The parameters of a recorded call or map. */
typedef struct wgi_map {
    const wg_callable *k;
    size_t points;
    wg_threads *threads;
    const wgi_feed *feed; /* of every input */
    int is_call;
    wgi_progress *progress; /* of the tape */
} wgi_map;

extern const wg_block_op wgi_op_call, wgi_op_map;

#endif
