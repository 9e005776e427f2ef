/* SPDX-License-Identifier: MIT */
#include "training.h"

#include <math.h>

struct parameters parameters_begin(wg_tape *t, size_t n, const double *x) {
    wg_tape_reset(t);
    struct parameters p = {t, wg_mat_input(t, n, 1, x, n), 0};
    return p;
}

wg_mat parameters_take(struct parameters *p, size_t rows, size_t cols) {
    const wg_mat part = wg_mat_block(p->all, p->used, 0, rows * cols, 1);
    p->used += rows * cols;
    return wg_mat_reshape(p->tape, part, rows, cols);
}

int parameters_gradient(struct parameters *p, wg_real y, double *value, double *g) {
    *value = wg_value(y);
    return wg_reverse(p->tape, y) != WG_OK ||
           wg_mat_adjoint(p->tape, p->all, g, p->all.rows) != WG_OK;
}

double random_uniform(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

double random_normal(uint64_t *state) {
    const double radius = sqrt(-2 * log(random_uniform(state)));
    return radius * cos(2 * 3.14159265358979323846 * random_uniform(state));
}
