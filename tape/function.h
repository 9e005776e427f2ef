/* SPDX-License-Identifier: MIT */
/* function.h - a function drawn: nodes in the order of evaluation. Internal.
 *
 * Node numbers: inputs [0, n), then constants [n, n + constants), then operations. Every node
 * is one number per point; an operation is a kernel on columns of as many rows as there are
 * points in a run. */
#ifndef WENGERT_TAPE_FUNCTION_H
#define WENGERT_TAPE_FUNCTION_H

#include "tape.h"

#include "../ops/columns.h"

#include <wengert/function.h>

enum { WGI_RUN = 128 }; /* points at a time */

typedef struct wgi_fn_node {
    wgi_kernels kernel;
    const void *params;
    uint32_t first, count; /* operands: nodes at f->operand[first ...] */
    size_t saved;          /* doubles before its own in the room for what operations save */
} wgi_fn_node;

typedef struct wgi_fn_guard {
    uint32_t a, b; /* nodes */
    unsigned comparison;
    int outcome;
} wgi_fn_guard;

struct wg_function {
    wg_memory memory;
    size_t bytes; /* of all this */
    size_t n, m, constants, operations, guards;
    size_t saved, args; /* doubles that operations save; operands and results in all */
    double *constant;
    wgi_fn_node *node; /* of operations */
    uint32_t *operand;
    uint32_t *output; /* nodes */
    wgi_fn_guard *guard;
    wg_function_stats stats;
};

#endif
