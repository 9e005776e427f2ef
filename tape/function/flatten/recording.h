/* SPDX-License-Identifier: MIT */
/* recording.h - a piece of a tape becomes a function. Internal. */
#ifndef WGI_TAPE_FUNCTION_FLATTEN_RECORDING_H
#define WGI_TAPE_FUNCTION_FLATTEN_RECORDING_H

#include "tape/function/graph/graph.h"

/* wg_function_extract, with messages in the name of the call that the user made. */
wg_status wgi_function_extract(wg_tape *t, const char *call, size_t inputs,
                               const wg_argument *input, const wg_real *x, size_t outputs,
                               const wg_argument *output, const wg_real *y, wg_function **out);

#endif
