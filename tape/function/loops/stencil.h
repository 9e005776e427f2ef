/* SPDX-License-Identifier: MIT */
/* stencil.h - the adjoint of a stencil as a stencil. Internal.
 *
 * Where y(p) = f(u(p + a), u(p + b), ...) at all cells p of a grid, the adjoint of u at a cell
 * q is the sum of df/da at the cell q - a, of df/db at q - b, and so on: a function of weights
 * and inputs around q, evaluated at all cells, so that nothing is added to neighbours. What
 * these derivatives share is computed once for each of them; stencil.c says when that is too
 * much. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_STENCIL_H
#define WGI_TAPE_FUNCTION_LOOPS_STENCIL_H

#include "callable.h"

#include <wengert/emit.h>

/* Where an input of f comes from. Inputs of one group read the same state, at different cells.
 */
typedef struct wgi_wire {
    int kind;       /* WGI_FROM_... */
    uint32_t group; /* the first input of its group */
    ptrdiff_t offset[3];
} wgi_wire;

/* An input of `gather`: an argument of the vjp of f, some cells away. Inputs of f are named by
 * the first one of their group; from f->inputs on an argument is the weight of an output. */
typedef struct wgi_tap {
    uint32_t argument;
    ptrdiff_t offset[3];
} wgi_tap;

typedef struct wgi_stencil {
    wgi_home home;
    /* its outputs are the adjoints of the groups that are differentiated */
    wg_function *gather;
    wgi_wire *wire; /* for every input of f */
    wgi_tap *tap;   /* for every input of gather */
} wgi_stencil;

void wgi_stencil_free(wgi_stencil *s);
/* Makes a copy whose functions are compiled; where there is no stencil, *out stays NULL. */
wg_status wgi_stencil_compile(wg_tape *t, const wg_callable *k,
                              const wg_compile_options *options, wgi_stencil **out,
                              wg_compiled *compiled);

/* Does input i stand for its group among the outputs of gather? */
int wgi_stencil_leads(const wg_function *f, const wgi_stencil *s, size_t i);

#endif
