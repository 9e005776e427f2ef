/* SPDX-License-Identifier: MIT */
/* touched.h - to which elements of a large operand the vjp of an operation adds, where these are
 * few: what is looked up in a table. Internal.
 *
 * What the engine reads of the traits of an operation, which begin with it. */
#ifndef WGI_TAPE_ENGINE_TOUCHED_H
#define WGI_TAPE_ENGINE_TOUCHED_H

#include <wengert/block.h>

/* n elements of the operand as they are stored, from number `first` on. */
typedef void wgi_touch(void *to, size_t first, size_t n);

typedef struct wgi_touched {
    /* calls `touch` for all that are touched of the call's only operand; NULL: it may be anything */
    void (*of)(const wg_block *call, wgi_touch *touch, void *to);
} wgi_touched;

#endif
