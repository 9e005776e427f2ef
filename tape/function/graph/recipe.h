/* SPDX-License-Identifier: MIT */
/* recipe.h - the texts of partials as lists of operations. Internal.
 *
 * Places: operands of the operation from 0, its value, then the results of the steps. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_RECIPE_H
#define WGI_TAPE_FUNCTION_GRAPH_RECIPE_H

#include "graph.h"

enum {
    WGI_RECIPE_VALUE = 4,
    WGI_RECIPE_FIRST = 5,   /* the result of the first step */
    WGI_RECIPE_STEPS = 1024 /* a longer text is not understood */
};

typedef struct wgi_recipe_step {
    const wg_scalar_op *op; /* NULL: it is a number */
    double number;
    uint32_t x[4];
} wgi_recipe_step;

typedef struct wgi_recipe {
    int understood, one; /* one: it is the number 1 */
    uint32_t steps, result;
    wgi_recipe_step step[];
} wgi_recipe;

/* The recipe of a text of this operation, in the arena; NULL: a failure. A text that is NULL is
 * not understood. */
const wgi_recipe *wgi_recipe_of(wgi_graph *g, const wg_scalar_op *op, const char *text);
/* The node that comes of it, of 4 operands, though the operation may have fewer, and its value;
 * WGI_NO_NODE: it is not understood, or NULL. */
uint32_t wgi_recipe_follow(wgi_graph *g, const wgi_recipe *r, const uint32_t *x,
                           uint32_t value);
/* The same with a sign (signed.h). */
uint32_t wgi_recipe_follow_signed(wgi_graph *g, const wgi_recipe *r, const uint32_t *x,
                                  uint32_t value);
/* Is it a number, with or without a sign? */
int wgi_text_is_number(const char *text);

#endif
