/* SPDX-License-Identifier: MIT */
/* emit.h - the entry points of emitted text. Internal. */
#ifndef WGI_TAPE_FUNCTION_TEXT_EMIT_H
#define WGI_TAPE_FUNCTION_TEXT_EMIT_H

#include "tape/function/graph/repeat.h"
#include "writer.h"

#include <wengert/emit.h>

/* wg_function_emit where the tape is being worked on already. */
wg_status wgi_emit(wgi_core *c, const char *call, const wg_function *f,
                   const wg_emit_options *options, wg_write *write, void *ctx);

/* ---- one point: emit_point.c ---- */

/* About so many operations in a unit. */
void wgi_emit_point_plan(wgi_writer *w, size_t unit);
/* Of the plan: the function NAME and the suffix, and its units. given: its slots are the
 * caller's; sparse: entries that are always 0 are left out. */
void wgi_emit_point(wgi_writer *w, const char *suffix, int given, int sparse);
/* What stands in the place of inputs that are NULL, if any is read. */
void wgi_emit_point_support(wgi_writer *w);
/* Is result j left out? */
int wgi_emit_is_left_out(const wgi_writer *w, size_t j, int sparse);
/* Of units that are functions and give the number of the first comparison that failed. */
void wgi_emit_failures(wgi_writer *w, uint32_t unit); /* declares where bodies note theirs */
void wgi_emit_failed(wgi_writer *w, size_t guard);
void wgi_emit_return(wgi_writer *w, uint32_t unit);

/* By CasADi's calling convention, of the plan for one point: emit_casadi.c. */
void wgi_emit_casadi_prototypes(wgi_writer *w);
void wgi_emit_casadi(wgi_writer *w);

/* Definitions that the batch entry point adds; the entry point: emit_batch.c. */
void wgi_emit_batch(wgi_writer *w, size_t unit);

/* ---- repeats as loops of the text: emit_repeat.c ---- */

/* Can the bodies of a function be written, and those in them? Notes in *beyond whether one uses
 * functions beyond C99. 0: they cannot; the tape keeps why. */
int wgi_emit_bodies_check(wgi_core *c, const char *call, const wg_function *f, int *beyond);

/* Places for the results of all listed repeats and operations on whole matrices, behind the
 * slots. */
void wgi_emit_repeat_slots(wgi_writer *w);

/* The leaf (target.h) of texts that are C for people and programs: where a node stands, or its
 * name. */
wgi_spelling wgi_emit_leaf(const wgi_writer *w, uint32_t node);

/* Nodes into the array `to`, from `at` on. */
void wgi_emit_gather(wgi_writer *w, const char *to, size_t at, const uint32_t *node,
                     size_t count);
/* Of a node with parts: do its results stand apart for each point of eight? The array of them,
 * from its slot on. The results in `got` to there. */
int wgi_emit_is_laned(const wgi_writer *w, uint32_t node);
const char *wgi_emit_results(const wgi_writer *w, uint32_t node);
void wgi_emit_spread(wgi_writer *w, uint32_t node, size_t count);
/* Do bodies of nodes of this unit compare? A unit whose repeats do has an int `inner`: 0, or
 * the first failure among them. */
int wgi_emit_repeat_compares(const wgi_writer *w, uint32_t unit);

/* ---- operations on whole matrices: emit_dense.c ---- */

/* The headers of what is called, of bodies too. */
void wgi_emit_dense_headers(wgi_writer *w);
/* The functions that do the operations, once. */
void wgi_emit_dense_support(wgi_writer *w);
/* Does the text read operand k of the node? Of a factored matrix the factors are enough. */
int wgi_emit_dense_reads(const wgi_node *n, uint32_t k);

/* ---- operations on matrices that are calls of the library: emit_whole.c ---- */

/* Are there any, in bodies too? */
int wgi_emit_wholes(const wg_function *f, int bodies);
/* Refuses them, by name, in a text that may have no calls of libraries. 0: there are some. */
int wgi_emit_wholes_check(wgi_core *c, const char *call, const wg_function *f, int blas);
void wgi_emit_whole_prototype(wgi_writer *w);

#endif
