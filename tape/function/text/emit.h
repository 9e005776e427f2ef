/* SPDX-License-Identifier: MIT */
/* emit.h - the entry points of emitted text. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_EMIT_H
#define WENGERT_TAPE_FUNCTION_EMIT_H

#include "source.h"

#include <wengert/emit.h>

/* How many of the listed nodes belong to the unit, from list[first] on. */
size_t wgi_emit_unit_end(const wgi_source *s, size_t first, uint32_t unit);
/* The nodes [first, last) of the list, each on a line of its own: "const double t1 = ...;". */
void wgi_emit_nodes(wgi_source *s, size_t first, size_t last, const char *indent);
/* The comparison that was recorded did not come out so: an expression. */
void wgi_emit_guard(wgi_source *s, size_t guard);
/* In which unit a guard is looked at, `last` where neither side is listed. */
uint32_t wgi_emit_guard_unit(const wgi_source *s, size_t guard, uint32_t last);

/* Definitions that the batch entry point adds; the entry point: about so many operations in a
 * unit. */
void wgi_emit_batch(wgi_source *s, size_t unit);

#endif
