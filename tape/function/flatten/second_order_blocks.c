/* SPDX-License-Identifier: MIT */
/* Second derivatives of a recording with loops, or with operations on matrices that have an
 * expansion and no adjoint in operations on matrices. The recording becomes a function, in
 * which these are written out, but for loops that are not short, and the product of its Hessian
 * with vectors is evaluated at the recorded point: for the directions that are wanted, or for
 * all unit vectors at once. That is slower than drivers/second_order.c. The function of the
 * products is cached with the tape, for further ones at the same point; at many points make a
 * function of the recording. */
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
    struct cached *cached;
    size_t *place;          /* where input i is among them; SIZE_MAX: it is a constant */
    double *value, *v, *hv; /* the point; all directions, all products */
    size_t directions;
} hessian;

/* The function of the products, by the output and the inputs that it is of. */
typedef struct cached {
    wgi_derived head;
    wgi_home home;
    wg_function *hvp;
    uint32_t y;
    size_t n;
    uint32_t slot[];
} cached;

static void drop(wgi_derived *d) {
    cached *const k = (cached *)(void *)d;
    wg_function_free(k->hvp);
    wgi_home_release(&k->home, k);
}

/* That of an earlier call, if it is the same one; nothing frees it meanwhile. */
static cached *taken(wgi_core *c, const hessian *k, wg_real y) {
    cached *const d = (cached *)(void *)c->derived;
    if (d == NULL || d->head.drop != drop || d->y != y.at.slot || d->n != k->n) return NULL;
    for (size_t i = 0; i < k->n; i++)
        if (d->slot[i] != k->x[i].at.slot) return NULL;
    c->derived = NULL;
    return d;
}

/* For the next call. A tape in a caller's buffer need never be freed: there it is given
 * back. */
static void keep(wgi_core *c, cached *d) {
    if (d == NULL) return;
    (void)wgi_derived_drop(c);
    if (c->buffer == NULL) c->derived = &d->head;
    else drop(&d->head);
}

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
 * failure: the results are those of the recorded branch. Unless it may be the one that says
 * whether a solution was found. */
static wg_status evaluate(const hessian *k, const wg_function *f) {
    const ptrdiff_t n = (ptrdiff_t)k->n;
    const wg_points in[2] = {{k->value, 0, 1}, {k->v, n, 1}};
    const wg_results out = {k->hv, n, 1};
    void *const room = wg_tape_keep(k->work, wg_function_work(f, NULL), NULL);
    if (room == NULL) return wg_tape_status(k->work);
    const wg_status s = wg_function_evaluate(f, k->directions, in, &out, NULL, room, NULL);
    return s == WG_EGUARD && !wgi_repeat_any_solves(f) ? WG_OK : s;
}

static wg_status refuse(const hessian *k, wgi_core *c, const char *call, wg_status s,
                        const wg_tape *scratch) {
    const int here = scratch == NULL || wg_tape_status(scratch) == WG_OK;
    return wgi_refuse(c, s, "%s: %s", call, wg_tape_message(here ? k->work : scratch));
}

/* A loop of more operations is sooner differentiated than written out; of many directions each
 * would pay for its steps. */
enum { WRITTEN_OUT = 128, FEW_DIRECTIONS = 64 };

static wg_status extract(const hessian *k, wgi_core *c, const char *call, wg_real y,
                         wg_function **f) {
    const wg_argument in = {"x", k->n, 1, 0}, out = {"y", 1, 1, 0};
    const size_t loops_over = c->loops_over;
    if (loops_over == 0 && k->directions <= FEW_DIRECTIONS) c->loops_over = WRITTEN_OUT;
    const wg_status s = wgi_function_extract(&c->head, call, 1, &in, k->x, 1, &out, &y, f);
    c->loops_over = loops_over;
    return s;
}

/* Derives it. */
static wg_status derive(hessian *k, wgi_core *c, const char *call, wg_real y) {
    wg_function *f = NULL;
    const wg_options options = {.flags = 0};
    wgi_home home;
    void *base;
    wg_tape *scratch;
    wg_status s =
        wgi_home_obtain(c, sizeof *k->cached + k->n * sizeof *k->cached->slot, &home, &base);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no workspace", call);
    k->cached = base;
    *k->cached = (cached){{drop, NULL}, home, NULL, y.at.slot, k->n};
    for (size_t i = 0; i < k->n; i++) k->cached->slot[i] = k->x[i].at.slot;
    s = wgi_tape_beside(c, &options, &scratch);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no workspace", call);
    s = extract(k, c, call, y, &f);
    if (s == WG_OK) {
        s = wg_function_hvp(scratch, f, &k->cached->hvp);
        if (s != WG_OK) s = refuse(k, c, call, s, scratch);
    }
    wg_function_free(f);
    wg_tape_free(scratch);
    return s;
}

static wg_status products(hessian *k, wgi_core *c, const char *call, wg_real y) {
    wg_status s = WG_OK;
    k->cached = taken(c, k, y);
    if (k->cached == NULL) s = derive(k, c, call, y);
    if (s == WG_OK) {
        s = evaluate(k, k->cached->hvp);
        if (s != WG_OK) s = refuse(k, c, call, s, NULL);
    }
    if (s == WG_OK) keep(c, k->cached);
    else if (k->cached != NULL) drop(&k->cached->head);
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
