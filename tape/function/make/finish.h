/* SPDX-License-Identifier: MIT */
/* finish.h - the last step of making a function. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_MAKE_FINISH_H
#define WENGERT_TAPE_FUNCTION_MAKE_FINISH_H

#include "tape/function/graph/graph.h"

/* The function with these arguments; names are copied. result: nodes of all output entries;
 * entries of a summed output are summed here unless they are already. */
wg_status wgi_function_finish(wgi_graph *g, size_t inputs, const wg_argument *input,
                           size_t outputs, const wg_argument *output, const uint32_t *result,
                           wg_function **out);

#endif
