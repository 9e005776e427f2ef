/* SPDX-License-Identifier: MIT */
/* One lane of the adjoint of a large operand, of which little is touched. */
#include "touched.h"

#include <string.h>

struct lane {
    const wg_block_arg *operand;
    double *rows;
    size_t lanes;
};

/* In its bar an element stands elsewhere, if there are gaps between the columns of the
 * operand. */
static double *in_bar(const wg_block_arg *x, size_t element) {
    return x->bar + element / x->ld * x->bar_ld + element % x->ld;
}

static void clear(void *to, size_t first, size_t n) {
    memset(in_bar(to, first), 0, n * sizeof(double));
}

/* What is touched twice is added once. */
static void move(void *to, size_t first, size_t n) {
    const struct lane *const lane = to;
    double *const bar = in_bar(lane->operand, first);
    for (size_t i = 0; i < n; i++) {
        lane->rows[(first + i) * lane->lanes] += bar[i];
        bar[i] = 0;
    }
}

void wgi_touched_clear(const wgi_touched *few, const wg_block *call) {
    few->of(call, clear, call->in);
}

void wgi_touched_add(const wgi_touched *few, const wg_block *call, double *rows, size_t lanes) {
    struct lane lane = {call->in, rows, lanes};
    few->of(call, move, &lane);
}
