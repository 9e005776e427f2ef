/* SPDX-License-Identifier: MIT */
/* making.h - a function made from functions: workspace, arguments, results. Internal.
 *
 * wgi_making_begin; inputs first; then nodes; outputs and as many results; wgi_making_end. A
 * failure is the tape's, and is passed on at the end. */
#ifndef WENGERT_TAPE_FUNCTION_MAKING_H
#define WENGERT_TAPE_FUNCTION_MAKING_H

#include "tape/engine/drive.h"
#include "tape/function/graph/arguments.h"

typedef struct wgi_making {
    wgi_drive d;
    wgi_core *c;
    const char *call;
    wgi_graph g;
    size_t inputs, outputs, results;
    wg_argument *input, *output;
    uint32_t *result;
} wgi_making;

/* given: are the functions it is made from there? Room for that many inputs, and outputs. If
 * k->c is NULL then, that is all; otherwise end. */
wg_status wgi_making_begin(wgi_making *k, wg_tape *t, const char *call, int given,
                           size_t arguments, wg_function **out);
wg_status wgi_making_end(wgi_making *k, wg_status s, wg_function **out);

/* Room in the arena for node numbers; NULL: a failure. */
uint32_t *wgi_making_list(wgi_making *k, size_t count);
/* `a` and `b` after it, with _2, _3, ... behind a name that is taken. */
const char *wgi_making_name(wgi_making *k, size_t count, const wg_argument *taken,
                            const char *a, const char *b);
/* An input, and its entries as nodes; all those of a function. */
void wgi_making_input(wgi_making *k, const char *name, const wg_argument *like, unsigned flags);
void wgi_making_inputs_of(wgi_making *k, const wg_function *f);
/* The nodes of a function whose inputs begin at these nodes; of one whose inputs are the first
 * of all if input is NULL. */
uint32_t *wgi_making_take(wgi_making *k, const wg_function *f, const uint32_t *input);
void wgi_making_output(wgi_making *k, const char *name, size_t rows, size_t cols,
                       unsigned flags);
void wgi_making_room(wgi_making *k, size_t results);
void wgi_making_put(wgi_making *k, uint32_t node);
/* WGI_NO_NODE: 0. */
void wgi_making_put_or_zero(wgi_making *k, uint32_t node);

#endif
