/* SPDX-License-Identifier: MIT */
/* Binomial checkpointing. Letters: l steps left, c states for them, b(c, r) = C(c + r, r). */
#include "checkpoints.h"

#include <string.h>

size_t wgi_checkpoints_stored(size_t steps, size_t stored) {
    if (stored == 0 || stored > steps) stored = steps;
    return stored != 0 ? stored : 1;
}

size_t wgi_checkpoints_split(size_t l, size_t c) {
    if (l <= c + 1) return 1;
    /* b(c, r - 1) < l <= b(c, r), from b(c, 0) = 1 on */
    size_t r = 1, before = 1, b = c + 1;
    while (b < l) {
        r++;
        before = b;
        b = b * (c + r) / r;
    }
    const size_t part = before * c / (c + r - 1); /* b(c - 1, r - 1) */
    return l - part < before ? l - part : before;
}

/* The step before which the state behind the top one is to be stored; 0: no more are. */
static size_t next_stored(const wgi_checkpoints *l, size_t top) {
    const size_t left = l->steps - l->position[top], states = l->stored - top;
    return left > 1 && states > 1 ? l->position[top] + wgi_checkpoints_split(left, states) : 0;
}

void wgi_checkpoints_keep(wgi_checkpoints *l, wgi_pieces *p) {
    l->top = wgi_pieces_take(p, sizeof *l->top);
    l->position = wgi_pieces_take(p, l->stored * sizeof *l->position);
    l->state = wgi_pieces_doubles(p, l->stored * l->size);
    l->turn = wgi_pieces_doubles(p, l->stored < l->steps ? l->size : 0);
}

void wgi_checkpoints_work(wgi_checkpoints *l, wgi_pieces *p) {
    l->spare = wgi_pieces_doubles(p, 2 * l->size);
}

static double *slot(const wgi_checkpoints *l, size_t k) { return l->state + k * l->size; }

/* So many steps are done, one way or the other. */
static wg_status told(const wgi_checkpoints *l, size_t steps) {
    return wgi_progress_stops(l->progress, (double)steps / (double)l->steps) ? WG_ESTOPPED
                                                                             : WG_OK;
}

/* Goes through steps [first, first + count) from a state; the state after the last one is left
 * at `to`. Those before are done, if it goes forward for the first time. */
static wg_status advance(const wgi_checkpoints *l, size_t first, size_t count,
                         const double *from, double *to, int again) {
    for (size_t i = 0; i < count; i++) {
        double *const next = i + 1 == count ? to : l->spare + (i & 1) * l->size;
        wg_status s = l->advance(l->context, first + i, from, next);
        if (s == WG_OK) s = told(l, again ? 0 : first + i + 1);
        if (s != WG_OK) return s;
        from = next;
    }
    return WG_OK;
}

wg_status wgi_checkpoints_forward(wgi_checkpoints *l, const double **last) {
    size_t step = 0, top = 0;
    l->position[0] = 0;
    wgi_progress_begin(l->progress);
    for (size_t next; (next = next_stored(l, top)) != 0; step = next) {
        const wg_status s = advance(l, step, next - step, slot(l, top), slot(l, top + 1), 0);
        if (s != WG_OK) return s;
        l->position[++top] = next;
    }
    *l->top = top;
    *last = slot(l, top);
    if (step == l->steps) return WG_OK;
    if (step + 1 < l->steps) {
        const wg_status s = advance(l, step, l->steps - 1 - step, *last, l->turn, 0);
        if (s != WG_OK) return s;
        *last = l->turn;
    } else if (l->stored < l->steps) {
        memcpy(l->turn, *last, l->size * sizeof *l->turn);
    }
    const double *const from = *last;
    *last = l->spare;
    return advance(l, l->steps - 1, 1, from, l->spare, 0);
}

wg_status wgi_checkpoints_reverse(wgi_checkpoints *l) {
    size_t top = *l->top;
    /* a second sweep finds only the first state: the others are overwritten now */
    if (l->stored < l->steps) *l->top = 0;
    wgi_progress_begin(l->progress);
    for (size_t end = l->steps; end > 0; end--) {
        while (end == l->position[top]) top--;
        const int turns = end == l->steps && l->stored < l->steps;
        const double *from = turns ? l->turn : slot(l, top);
        /* forward, to the state before the last step that is left */
        for (size_t left; !turns && (left = end - l->position[top]) > 1;) {
            const int store = l->stored - top > 1;
            const size_t count =
                store ? wgi_checkpoints_split(left, l->stored - top) : left - 1;
            double *const to = store ? slot(l, top + 1) : l->spare + (count & 1 ? 0 : l->size);
            const wg_status s = advance(l, l->position[top], count, from, to, 1);
            if (s != WG_OK) return s;
            from = to;
            if (!store) break;
            l->position[top + 1] = l->position[top] + count;
            top++;
        }
        wg_status s = l->adjoint(l->context, end - 1, from);
        if (s == WG_OK) s = told(l, l->steps - end + 1);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}
