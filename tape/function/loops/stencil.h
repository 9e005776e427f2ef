/* SPDX-License-Identifier: MIT */
/* stencil.h - the adjoint of a stencil as a stencil. Internal.
 *
 * Where y(p) = f(u(p + a), u(p + b), ...) at all cells p of a grid, the adjoint of u at a cell
 * q is the sum of df/da at the cell q - a, df/db at q - b, ...: a function of what is around q,
 * of weights and inputs alike, that is evaluated at all cells. Nothing is added to neighbours
 * then. What these derivatives share at one cell is computed for each of them: stencil.c says
 * when that is too much. */
#ifndef WENGERT_TAPE_FUNCTION_STENCIL_H
#define WENGERT_TAPE_FUNCTION_STENCIL_H

#include "callable.h"

#include <wengert/emit.h>

/* Where an input of f comes from. Those of one group are of the same states, at offsets. */
typedef struct wgi_wire {
    int kind;       /* WGI_FROM_... */
    uint32_t group; /* the first input of it */
    ptrdiff_t offset[3];
} wgi_wire;

/* An input of `gather`: input `argument` of f, without its offset; from f->inputs on the weight
 * of an output. So many cells away. */
typedef struct wgi_tap {
    uint32_t argument;
    ptrdiff_t offset[3];
} wgi_tap;

typedef struct wgi_stencil {
    wg_memory memory;
    size_t bytes;
    wg_function *gather; /* its outputs: adjoints of the groups that are differentiated */
    wgi_wire *wire;      /* of every input of f */
    wgi_tap *tap;        /* of every input of gather */
} wgi_stencil;

void wgi_stencil_free(wgi_stencil *s);
/* With compiled code; NULL stays NULL. */
wg_status wgi_stencil_compile(wg_tape *t, const wg_callable *k,
                              const wg_compile_options *options, wgi_stencil **out,
                              wg_compiled *compiled);

/* Is input i the one that stands for its group among the outputs of gather? */
int wgi_stencil_leads(const wg_function *f, const wgi_stencil *s, size_t i);

#endif
