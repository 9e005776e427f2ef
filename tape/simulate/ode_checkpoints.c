/* SPDX-License-Identifier: MIT */
/* Checkpoints of a solution whose number of steps is not known beforehand.
 *
 * A block is so many steps, whose adjoints are done together. On the way forward every block is
 * a checkpoint, until there is no room; then every second one is given up, and from there on
 * only every second block becomes one, and so on. On the way back half of the room is made free
 * first, if blocks were left out; between two checkpoints it is filled as the binomial scheme
 * says, and given up behind the last block done.
 *
 * Source: the doubled distances as in Stumm and Walther 2010, SIAM J. Sci. Comput. 32(2);
 * between checkpoints Griewank and Walther 2000. */
#include "ode.h"

#include "tape/engine/numbers.h"
#include "tape/function/loops/checkpoints.h"

#include <string.h>

void wgi_ode_checkpoints_keep(wgi_ode_checkpoints *c, wgi_pieces *p) {
    size_t *const head = wgi_pieces_take(p, 3 * sizeof *head);
    c->position = wgi_pieces_take(p, c->stored * sizeof *c->position);
    c->state = wgi_pieces_doubles(p, c->stored * c->states);
    if (head == NULL) return;
    c->used = head, c->stride = head + 1, c->steps = head + 2;
}

void wgi_ode_checkpoints_begin(wgi_ode_checkpoints *c) {
    *c->used = *c->steps = 0;
    *c->stride = 1;
}

static double *state_of(const wgi_ode_checkpoints *c, size_t k) {
    return c->state + k * c->states;
}

static void put(wgi_ode_checkpoints *c, size_t k, const wgi_ode_position *at,
                const double *state) {
    c->position[k] = *at;
    wgi_copy_numbers(state_of(c, k), state, c->states);
}

/* Gives up every second one. */
static void thin(wgi_ode_checkpoints *c) {
    for (size_t k = 1; 2 * k < *c->used; k++)
        put(c, k, &c->position[2 * k], state_of(c, 2 * k));
    *c->used = (*c->used + 1) / 2;
    *c->stride *= 2;
}

void wgi_ode_checkpoints_pass(wgi_ode_checkpoints *c, const wgi_ode_position *at,
                              const double *state) {
    *c->steps = at->steps;
    if (at->steps % c->block != 0) return;
    const size_t number = at->steps / c->block;
    if (number % *c->stride != 0) return;
    if (*c->used == c->stored) thin(c);
    if (number % *c->stride != 0 || *c->used == c->stored) return;
    put(c, (*c->used)++, at, state);
}

/* What is left to be done of a stretch, whole blocks but for the last. */
static size_t blocks(const wgi_ode_checkpoints *c, size_t from, size_t end) {
    return (end - from + c->block - 1) / c->block;
}

/* From checkpoint *top to the beginning of the last block before step `end`, storing states on
 * the way where there is room; keeps that block. */
static wg_status to_last_block(wgi_ode_checkpoints *c, const wgi_ode_back *back, size_t *top,
                               size_t end) {
    wgi_ode_position at = c->position[*top];
    wgi_copy_numbers(back->state, state_of(c, *top), c->states);
    for (size_t left; (left = blocks(c, at.steps, end)) > 1;) {
        const size_t room = c->stored - *top;
        const size_t go = room > 1 ? wgi_checkpoints_split(left, room) : left - 1;
        const wg_status s = back->advance(back->context, &at, back->state, go * c->block, 0);
        if (s != WG_OK) return s;
        if (room == 1) continue;
        put(c, ++*top, &at, back->state);
        if (*c->used > *top) *c->used = *top;
    }
    return back->advance(back->context, &at, back->state, end - at.steps, 1);
}

void wgi_ode_checkpoints_turn(wgi_ode_checkpoints *c, size_t *left, size_t *top) {
    /* what is stored between is lost for the next sweep, what stands below is not */
    while (*c->stride > 1 && *c->used > (c->stored + 1) / 2) thin(c);
    *left = *c->steps;
    *top = *c->used - 1;
}

wg_status wgi_ode_checkpoints_reverse(wgi_ode_checkpoints *c, const wgi_ode_back *back,
                                      size_t left, size_t top) {
    while (left > 0) {
        while (c->position[top].steps >= left) top--;
        wg_status s = to_last_block(c, back, &top, left);
        if (s != WG_OK) return s;
        const size_t count = (left - 1) % c->block + 1;
        s = back->adjoint(back->context, count);
        if (s != WG_OK) return s;
        left -= count;
        if (back->passed != NULL) s = back->passed(back->context, left, top);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}
