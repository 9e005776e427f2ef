/* SPDX-License-Identifier: MIT */
/* Second derivatives of a recording with operations on matrices: as a function, in which they
 * are written out in scalar operations, differentiated twice and evaluated at the recorded
 * point. Slower than the passes of second.c over statements alone, and with allocations: who
 * needs many records a function of their own. */
#include "graph.h"

#include <string.h>
#include <wengert/derive.h>

/* The inputs that are variables, and where their numbers are. */
typedef struct curvature {
    wg_tape *work;
    size_t n;
    wg_real *x;
    size_t *at;
    double *number; /* n values, then n of the direction */
    double *result;
} curvature;

static wg_status open(curvature *k, const wgi_core *c, size_t n, const wg_real *x,
                      const double *v) {
    const size_t results = v != NULL ? n : n * n;
    if (n != 0 && n > SIZE_MAX / 64 / n) return WG_ENOMEM;
    k->x = wg_tape_keep(k->work, (n + 1) * sizeof *k->x, NULL);
    k->at = wg_tape_keep(k->work, (n + 1) * sizeof *k->at, NULL);
    k->number = wg_tape_keep(k->work, (2 * n + 1) * sizeof(double), NULL);
    k->result = wg_tape_keep(k->work, (results + 1) * sizeof(double), NULL);
    if (wg_tape_status(k->work) != WG_OK) return wg_tape_status(k->work);
    for (size_t i = 0; i < n; i++) {
        if (x[i].at.slot == 0) continue;
        k->x[k->n] = x[i];
        k->number[k->n] = wgi_values(c)[x[i].at.slot];
        if (v != NULL) k->number[n + k->n] = v[i];
        k->at[k->n++] = i;
    }
    return WG_OK;
}

static wg_status evaluate(const curvature *k, const wg_function *f, const double *v) {
    const wg_points in[2] = {{k->number, 0, 1}, {v, 0, 1}};
    const wg_results out = {k->result, 0, 1};
    void *const room = wg_tape_keep(k->work, wg_function_work(f, 1), NULL);
    if (room == NULL) return wg_tape_status(k->work);
    return wg_function_evaluate(f, 1, in, &out, 1, room, NULL);
}

wg_status wgi_second_of_blocks(wgi_core *c, const char *call, wg_real y, size_t n,
                               const wg_real *x, const double *v, double *h, size_t ld) {
    wg_options options;
    curvature k;
    memset(&options, 0, sizeof options);
    memset(&k, 0, sizeof k);
    options.memory = c->memory;
    k.work = wg_tape_new(&options);
    wg_tape *const scratch = wg_tape_new(&options);
    wg_function *f = NULL, *second = NULL;
    wg_status s = k.work == NULL || scratch == NULL ? WG_ENOMEM : open(&k, c, n, x, v);
    if (s != WG_OK) {
        s = wgi_refuse(c, s, "%s: no workspace for %zu inputs", call, n);
    } else {
        const wg_argument in = {"x", k.n, 1, 0}, out = {"y", 1, 1, 0};
        s = wg_function_extract(&c->head, 1, &in, k.x, 1, &out, &y, &f);
        if (s == WG_OK) {
            s = v != NULL ? wg_function_hvp(scratch, f, &second)
                          : wg_function_hessian(scratch, f, &second);
            if (s != WG_OK) s = wgi_refuse(c, s, "%s: %s", call, wg_tape_message(scratch));
        }
        if (s == WG_OK) s = evaluate(&k, second, k.number + n);
    }
    for (size_t i = 0; s == WG_OK && i < n; i++) {
        if (v != NULL) h[i] = 0;
        for (size_t j = 0; v == NULL && j < n; j++) h[i * ld + j] = 0;
    }
    for (size_t i = 0; s == WG_OK && i < k.n; i++) {
        if (v != NULL) h[k.at[i]] = k.result[i];
        for (size_t j = 0; v == NULL && j < k.n; j++)
            h[k.at[i] * ld + k.at[j]] = k.result[i * k.n + j];
    }
    wg_function_free(f);
    wg_function_free(second);
    wg_tape_free(k.work);
    wg_tape_free(scratch);
    return s;
}
