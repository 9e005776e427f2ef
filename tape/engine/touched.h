/* SPDX-License-Identifier: MIT */
/* touched.h - to which elements of a large operand the vjp of an operation adds, where these
 * are few: what is looked up in a table. Internal.
 *
 * What the engine reads of the traits of an operation, which begin with it. */
#ifndef WGI_TAPE_ENGINE_TOUCHED_H
#define WGI_TAPE_ENGINE_TOUCHED_H

#include <wengert/block.h>

/* n elements of the operand as they are stored, from number `first` on. */
typedef void wgi_touch(void *to, size_t first, size_t n);

typedef struct wgi_touched {
    /* calls `touch` for all that are touched of the call's only operand; NULL: it may be
     * anything */
    void (*of)(const wg_block *call, wgi_touch *touch, void *to);
} wgi_touched;

/* What an operation says of it; NULL: nothing. */
static inline const wgi_touched *wgi_touched_of(const wg_block_op *op) {
    const wgi_touched *const few = (const wgi_touched *)(const void *)op->traits;
    return few != NULL && few->of != NULL ? few : NULL;
}

/* Of a call whose operand has a bar of its own: clears what is touched of it; adds that to a
 * lane of rows, which begin with the first element's, and leaves 0 behind. */
void wgi_touched_clear(const wgi_touched *few, const wg_block *call);
void wgi_touched_add(const wgi_touched *few, const wg_block *call, double *rows, size_t lanes);

#endif
