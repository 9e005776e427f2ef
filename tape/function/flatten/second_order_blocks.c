/* SPDX-License-Identifier: MIT */
/* Second derivatives of a recording with loops, or with operations on matrices that have an expansion
 * and no adjoint in operations on matrices. The recording becomes a function, in which these are
 * written out, and the product of its Hessian with vectors is evaluated at the recorded point: for
 * the directions that are wanted, or for all unit vectors at once. That is slower than
 * drivers/second_order.c, and it allocates memory: to do it often, make a function of the
 * recording. */
#include "second_order_blocks.h"
#include "recording.h"
#include "tape/function/graph/repeat.h"

#include <string.h>
#include <wengert/derive.h>

/* The inputs that are variables, each of them once. */
typedef struct hessian {
    wg_tape *work;
    size_t n; /* how many they are */
    wg_real *x;
    size_t *place;          /* where input i is among them; SIZE_MAX: it is a constant */
    double *value, *v, *hv; /* the point; all directions, all products */
    size_t directions;
} hessian;

static wg_status open(hessian *k, const wgi_core *c, size_t n, const wg_real *x,
                      size_t directions, const double *v) {
    wg_tape *const t = k->work;
    uint32_t *const of_slot =
        /* where a slot is among the inputs, plus 1 */
        wg_tape_keep(t, (size_t)c->head.slots * sizeof *of_slot, NULL);
    k->x = wg_tape_keep(t, (n + 1) * sizeof *k->x, NULL);
    k->place = wg_tape_keep(t, (n + 1) * sizeof *k->place, NULL);
    k->value = wg_tape_keep(t, (n + 1) * sizeof(double), NULL);
    if (wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    memset(of_slot, 0, (size_t)c->head.slots * sizeof *of_slot);
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = x[i].at.slot;
        k->place[i] = SIZE_MAX;
        if (slot == 0) continue;
        if (of_slot[slot] == 0) {
            k->x[k->n] = x[i];
            k->value[k->n] = wgi_values(c)[slot];
            of_slot[slot] = (uint32_t)++k->n;
        }
        k->place[i] = of_slot[slot] - 1;
    }
    k->directions = v != NULL ? directions : k->n;
    const size_t numbers = k->directions * k->n;
    if (k->n != 0 && k->directions > SIZE_MAX / 64 / k->n) return WG_ENOMEM;
    k->v = wg_tape_keep(t, (numbers + 1) * sizeof(double), NULL);
    k->hv = wg_tape_keep(t, (numbers + 1) * sizeof(double), NULL);
    if (wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    memset(k->v, 0, numbers * sizeof(double));
    for (size_t l = 0; v != NULL && l < directions; l++)
        for (size_t i = 0; i < n; i++)
            if (k->place[i] != SIZE_MAX) k->v[l * k->n + k->place[i]] += v[l * n + i];
    for (size_t i = 0; v == NULL && i < k->n; i++) k->v[i * k->n + i] = 1;
    return WG_OK;
}

/* A comparison that comes out differently, by the last bit of a function's value, is no
 * failure: the results are those of the recorded branch. Unless it may be the one that says whether
 * a solution was found. */
static wg_status evaluate(const hessian *k, const wg_function *f) {
    const ptrdiff_t n = (ptrdiff_t)k->n;
    const wg_points in[2] = {{k->value, 0, 1}, {k->v, n, 1}};
    const wg_results out = {k->hv, n, 1};
    void *const room = wg_tape_keep(k->work, wg_function_work(f, NULL), NULL);
    if (room == NULL) return wg_tape_status(k->work);
    const wg_status s = wg_function_evaluate(f, k->directions, in, &out, NULL, room, NULL);
    return s == WG_EGUARD && !wgi_repeat_any_solves(f) ? WG_OK : s;
}

static wg_status products(hessian *k, wgi_core *c, const char *call, wg_real y) {
    const wg_argument in = {"x", k->n, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL, *hvp = NULL;
    const wg_options options = {.flags = 0};
    wg_tape *scratch;
    wg_status s = wgi_tape_beside(c, &options, &scratch);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no workspace", call);
    s = wgi_function_extract(&c->head, call, 1, &in, k->x, 1, &out, &y, &f);
    if (s == WG_OK) {
        s = wg_function_hvp(scratch, f, &hvp);
        if (s == WG_OK) s = evaluate(k, hvp);
        if (s != WG_OK)
            s = wgi_refuse(c, s, "%s: %s", call,
                           wg_tape_status(scratch) != WG_OK ? wg_tape_message(scratch)
                                                            : wg_tape_message(k->work));
    }
    wg_function_free(f);
    wg_function_free(hvp);
    wg_tape_free(scratch);
    return s;
}

/* Entry (i, j) of the symmetric matrix, from what was computed below its diagonal. */
static double entry(const hessian *k, size_t i, size_t j) {
    return i > j ? k->hv[j * k->n + i] : k->hv[i * k->n + j];
}

wg_status wgi_second_of_blocks(wgi_core *c, const char *call, wg_real y, size_t n,
                               const wg_real *x, size_t directions, const double *v, double *h,
                               size_t ld) {
    const wg_options options = {.flags = 0};
    hessian k = {.n = 0};
    wg_status s = wgi_tape_beside(c, &options, &k.work);
    if (s == WG_OK) s = open(&k, c, n, x, directions, v);
    if (s != WG_OK) s = wgi_refuse(c, s, "%s: no workspace for %zu inputs", call, n);
    else s = products(&k, c, call, y);
    for (size_t i = 0; s == WG_OK && i < n; i++) {
        const size_t row = k.place[i];
        for (size_t l = 0; v != NULL && l < directions; l++)
            h[l * ld + i] = row != SIZE_MAX ? k.hv[l * k.n + row] : 0;
        for (size_t j = 0; v == NULL && j < n; j++)
            h[i * ld + j] =
                row != SIZE_MAX && k.place[j] != SIZE_MAX ? entry(&k, row, k.place[j]) : 0;
    }
    wg_tape_free(k.work);
    return s;
}
