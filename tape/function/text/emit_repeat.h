/* SPDX-License-Identifier: MIT */
/* emit_repeat.h - repeats as loops of the text. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_EMIT_REPEAT_H
#define WENGERT_TAPE_FUNCTION_EMIT_REPEAT_H

#include "tape/function/graph/repeat.h"
#include "source.h"

/* Can the bodies of a function be written, and those in them? Notes in *beyond whether one uses
 * functions beyond C99. 0: they cannot; the tape keeps why. */
int wgi_emit_bodies_check(wgi_core *c, const char *call, const wg_function *f, int *beyond);

/* Places for the results of all listed repeats and operations on whole matrices, behind the
 * slots. */
void wgi_emit_repeat_slots(wgi_source *s);

/* Nodes into the array `to`, from `at` on. */
void wgi_emit_gather(wgi_source *s, const char *indent, const char *to, size_t at,
                     const uint32_t *node, size_t count);
/* A repeat: a block of statements. */
void wgi_emit_repeat(wgi_source *s, uint32_t node, const char *indent);
/* Do bodies of these listed nodes compare? A unit whose repeats do has an int `inner`: 0, or
 * the first failure among them. */
int wgi_emit_repeat_compares(const wgi_source *s, size_t first, size_t last);

#endif
