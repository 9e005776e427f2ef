/* SPDX-License-Identifier: MIT */
/* finish.h - the last step of making a function. Internal. */
#ifndef WGI_TAPE_FUNCTION_MAKE_FINISH_H
#define WGI_TAPE_FUNCTION_MAKE_FINISH_H

#include "tape/function/graph/builder.h"

/* The last step of a call that began with wgi_builder_begin: makes the function that was built,
 * unless s or the tape is a failure. Gives the status of the call. */
wg_status wgi_builder_end(wgi_builder *b, wg_status s, wg_function **out);

/* Makes a function with these arguments; names are copied. result: the nodes of all output
 * entries; entries of a summed output are summed here unless they are already. */
wg_status wgi_function_finish(wgi_graph *g, size_t inputs, const wg_argument *input,
                              size_t outputs, const wg_argument *output, const uint32_t *result,
                              wg_function **out);
/* A copy of f, made for the call of that name. Where f is NULL, *out is NULL, and that is a
 * failure. */
wg_status wgi_function_copy(wg_tape *t, const char *call, const wg_function *f,
                            wg_function **out);

#endif
