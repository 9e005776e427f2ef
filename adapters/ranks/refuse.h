/* SPDX-License-Identifier: MIT */
/* refuse.h - what adapters on several ranks record where a call is refused for a reason that is
 * known before: the tape's failure, if it has none yet, names the call and the reason. */
#ifndef WENGERT_RANKS_REFUSE_H
#define WENGERT_RANKS_REFUSE_H

#include <wengert/block.h>

/* A block that fails, with this status and message. */
typedef struct wgi_refusal {
    wg_status s;
    const char *why;
} wgi_refusal;

static inline wg_status wgi_no_shape(wg_block *b) {
    const wgi_refusal *const what = b->params;
    b->why = what->why;
    return what->s;
}

/* The status is that of wg_apply: s, or what the tape failed with before. */
static inline wg_status wgi_refuse_call(wg_tape *t, wg_status s, const char *name,
                                        const char *why) {
    const wgi_refusal what = {s, why};
    const wg_block_op op = {.name = name, .shape = wgi_no_shape, .value = wgi_no_shape};
    return wg_apply(t, &op, &what, sizeof what, 0, NULL, 0, NULL);
}

#endif
