/* SPDX-License-Identifier: MIT */
/* The list of operations that functions keep whole, and a call of one on plain arrays. */
#include "whole.h"

#include "dense.h"
#include "traits.h"

#include <math.h>
#include <string.h>

#define SYMMETRIC(name)                                                                        \
    &wgi_whole_symmetric_##name, &wgi_whole_symmetric_##name##_along,                          \
        &wgi_whole_symmetric_##name##_second
const wgi_whole *const wgi_wholes[] = {&wgi_whole_eigh,
                                       &wgi_whole_eigh_general,
                                       &wgi_whole_svd,
                                       &wgi_whole_norm_nuclear,
                                       &wgi_whole_norm_spectral,
                                       &wgi_whole_sqrtm,
                                       &wgi_whole_logm,
                                       &wgi_whole_expm,
                                       &wgi_whole_sylvester,
                                       &wgi_whole_lyapunov,
                                       &wgi_whole_lyapunov_discrete,
                                       &wgi_whole_qr,
                                       &wgi_whole_lstsq,
                                       &wgi_whole_pinv,
                                       &wgi_whole_kalman,
                                       &wgi_whole_lu_factors,
                                       &wgi_whole_qr_pivoted,
                                       &wgi_whole_polar,
                                       &wgi_whole_signm,
                                       &wgi_whole_riccati,
                                       &wgi_whole_riccati_discrete,
                                       &wgi_whole_eig,
                                       &wgi_whole_null_space,
                                       &wgi_whole_mapped,
                                       &wgi_whole_ode_value,
                                       &wgi_whole_ode_back,
                                       &wgi_whole_ode_tangent,
                                       &wgi_whole_ode_second,
                                       SYMMETRIC(exp),
                                       SYMMETRIC(log),
                                       SYMMETRIC(sqrt),
                                       SYMMETRIC(inverse_sqrt),
                                       SYMMETRIC(power),
                                       SYMMETRIC(own)};
const size_t wgi_whole_count = sizeof wgi_wholes / sizeof *wgi_wholes;

int wgi_whole_is_own(const wgi_whole *w) { return wgi_traits_of(w->op).own; }

size_t wgi_whole_index(const wgi_whole *w) {
    size_t i = 0;
    while (i < wgi_whole_count && wgi_wholes[i] != w) i++;
    return i;
}

size_t wgi_whole_named(const char *name, size_t bytes) {
    size_t i = 0;
    for (; i < wgi_whole_count; i++)
        if (!wgi_whole_is_own(wgi_wholes[i]) &&
            strncmp(wgi_wholes[i]->op->name, name, bytes) == 0 &&
            wgi_wholes[i]->op->name[bytes] == 0)
            break;
    return i;
}

/* ---- sizes ---- */

static const size_t most = SIZE_MAX / 64;
static size_t plus(size_t a, size_t b) { return a > most - b ? most : a + b; }
static size_t times(size_t a, size_t b) { return b != 0 && a > most / b ? most : a * b; }

static size_t letter(const wgi_whole_op *op, char c) {
    switch (c) {
    case 'm':
        return op->size[0];
    case 'n':
        return op->size[1];
    case 'k':
        return op->size[2];
    case 's':
        return op->size[0] < op->size[1] ? op->size[0] : op->size[1];
    default:
        return 1;
    }
}

static size_t elements(const wgi_whole_op *op, const char *shapes) {
    size_t n = 0;
    for (; shapes[0] != 0; shapes += 2)
        n = plus(n, times(letter(op, shapes[0]), letter(op, shapes[1])));
    return n;
}

static int has(const wgi_whole *w, char c) {
    return strchr(w->operands, c) != NULL || strchr(w->results, c) != NULL;
}

int wgi_whole_sizes(const wgi_whole *w, const wg_block *b, wgi_whole_op *op) {
    const size_t args = strlen(w->operands) / 2;
    memset(op, 0, sizeof *op);
    op->row = w;
    if (b->inputs != args) return 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < 2 * args; i++) {
            const char c = w->operands[i];
            const size_t is = i % 2 == 0 ? b->in[i / 2].rows : b->in[i / 2].cols;
            if (pass == 0 && c >= 'k' && c <= 'n')
                op->size[c == 'm' ? 0 : c == 'n' ? 1 : 2] = is;
            if (pass == 1 && letter(op, c) != is) return 0;
        }
    if (strchr(w->operands, 'k') == NULL && has(w, 'k')) op->size[2] = b->out[0].cols;
    return 1;
}

size_t wgi_whole_operands(const wgi_whole_op *op) {
    return plus(elements(op, op->row->operands), op->row->numbers);
}
size_t wgi_whole_results(const wgi_whole_op *op) { return elements(op, op->row->results); }
size_t wgi_whole_flops(const wgi_whole_op *op) {
    const size_t n = op->size[1], m = has(op->row, 'm') ? op->size[0] : n;
    return times(op->row->flops, times(times(m, n), m < n ? m : n));
}

/* ---- values ---- */

void wgi_whole_call(const wgi_whole_op *op, const double *x, double *y, wg_block_arg *arg,
                    wg_block *b) {
    const char *const shapes[2] = {op->row->operands, op->row->results};
    size_t count = 0, before = 0;
    memset(b, 0, sizeof *b);
    for (int side = 0; side < 2; side++) {
        double *at = side == 0 ? (double *)(uintptr_t)x : y; /* operands are only read */
        before = count;
        for (const char *s = shapes[side]; s[0] != 0; s += 2, count++) {
            const size_t rows = letter(op, s[0]), cols = letter(op, s[1]);
            arg[count] = (wg_block_arg){.rows = rows,
                                        .cols = cols,
                                        .ld = wgi_ld(rows),
                                        .bar_ld = wgi_ld(rows),
                                        .value = at};
            if (at != NULL) at += rows * cols;
        }
    }
    b->in = arg, b->out = arg + before;
    b->inputs = before, b->outputs = count - before;
    b->params = op->row->params;
    if (op->row->numbers != 0 && x != NULL) b->params = x + elements(op, op->row->operands);
}

/* Room for what is saved, and for workspace. */
static wg_status room_of(const wgi_whole_op *op, wg_block *b) {
    static const double none[WGI_WHOLE_NUMBERS] = {0, 0, 0, 0};
    if (op->row->numbers != 0 && b->params == NULL) b->params = none;
    const wg_status s = op->row->op->shape(b);
    b->saved_bytes = (b->saved_bytes + 63) / 64 * 64;
    return s;
}

int wgi_whole_fits(const wgi_whole_op *op) {
    const char letters[] = "mnk";
    wg_block_arg arg[WGI_WHOLE_ARGS];
    wg_block b;
    for (int i = 0; i < 3; i++)
        if ((op->size[i] != 0) != has(op->row, letters[i])) return 0;
    wgi_whole_call(op, NULL, NULL, arg, &b);
    return room_of(op, &b) == WG_OK;
}

size_t wgi_whole_work(const wgi_whole_op *op, const double *number) {
    wg_block_arg arg[WGI_WHOLE_ARGS];
    wg_block b;
    wgi_whole_call(op, NULL, NULL, arg, &b);
    if (op->row->numbers != 0) b.params = number;
    (void)room_of(op, &b);
    return b.saved_bytes + b.work_bytes;
}

void wgi_whole_value(const wgi_whole_op *op, const double *x, double *y, void *work,
                     size_t bytes) {
    wg_block_arg arg[WGI_WHOLE_ARGS];
    wg_block b;
    const size_t results = wgi_whole_results(op);
    wgi_whole_call(op, x, y, arg, &b);
    wg_status s = room_of(op, &b);
    if (s == WG_OK && b.saved_bytes + b.work_bytes > bytes) s = WG_ENOMEM;
    if (s == WG_OK) {
        b.saved = work;
        b.work = (char *)work + b.saved_bytes;
        s = op->row->op->value(&b);
    }
    for (size_t i = 0; s != WG_OK && i < results; i++) y[i] = NAN;
}

void wg_block_value(const char *name, size_t m, size_t n, size_t k, const double *x, double *y,
                    double *work) {
    const size_t place = name == NULL ? wgi_whole_count : wgi_whole_named(name, strlen(name));
    if (place == wgi_whole_count || x == NULL || y == NULL || work == NULL) return;
    const wgi_whole_op op = {wgi_wholes[place], {m, n, k}};
    if (wgi_whole_fits(&op)) wgi_whole_value(&op, x, y, work, SIZE_MAX);
}
