/* SPDX-License-Identifier: MIT */
/* mapped.h: the operation on one element, which functions keep as a node (whole.h). Its numbers
 * are the members of wgi_mapped, and those of its slope are the same, one place further. */
#include "mapped.h"

#include <string.h>

#include "traits.h"
#include "whole.h"

static wgi_mapped mapped_of(const void *params) {
    wgi_mapped m;
    memcpy(&m, params, sizeof m);
    return m;
}

static wg_status shape(wg_block *b) {
    b->out->rows = b->in->rows, b->out->cols = b->in->cols;
    return WG_OK;
}

static wg_status value(wg_block *b) {
    const wgi_mapped m = mapped_of(b->params);
    b->out->value[0] = m.f(m.ctx, b->in->value[0]);
    return WG_OK;
}

/* It is never swept: in a function it has a rule of its own. */
static wg_status vjp(wg_block *b) {
    b->why = "an element of a map is swept on no tape";
    return WG_EMODE;
}

static int slope(const double *number, double *to) {
    const wgi_mapped m = mapped_of(number), of = {m.d, m.dd, NULL, m.ctx};
    memcpy(to, &of, sizeof of);
    return m.d != NULL;
}

enum { NUMBERS = sizeof(wgi_mapped) / sizeof(double) };
_Static_assert(sizeof(wgi_mapped) == NUMBERS * sizeof(double),
               "addresses are as long as numbers");

static const wg_block_op op;
const wgi_whole wgi_whole_mapped = {&op, "11", "11", NULL, NULL, 0, NUMBERS, 0};
static const wgi_traits traits = {.whole = &wgi_whole_mapped, .own = 1, .slope = slope};
static const wg_block_op op = {
    .name = "wg_mat_map", .shape = shape, .value = value, .vjp = vjp, .traits = &traits};

wg_status wgi_mapped_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    for (size_t e = 0; e < b->in->rows * b->in->cols; e++) {
        const wg_mat a = wg_mat_from_real(t, x[e]);
        wg_mat out;
        const wg_status s = wg_apply(t, &op, b->params, sizeof(wgi_mapped), 1, &a, 1, &out);
        if (s != WG_OK) return s;
        y[e] = wg_mat_at(out, 0, 0);
    }
    return WG_OK;
}
