/* SPDX-License-Identifier: MIT */
/* ode_solve.h - what the operation wg_ode_solve and its adjoint, as an operation, share. Their
 * first operands are y0 and, if there are parameters, p; their params are a pointer to the
 * call. Internal. */
#ifndef WGI_TAPE_SIMULATE_ODE_SOLVE_H
#define WGI_TAPE_SIMULATE_ODE_SOLVE_H

#include "ode.h"
#include "ode_file.h"
#include "tape/engine/tape.h"

static inline wgi_ode_call *wgi_ode_call_of(const wg_block *b) {
    return *(wgi_ode_call *const *)b->params;
}

/* Operands, with the tangents behind them where the flow has such. */
void wgi_ode_load_operands(wgi_ode_run *r);
/* Opens f, and what a Rosenbrock method has beside it; of an adjoint the rest. */
void wgi_ode_open(wgi_ode_run *r);
void wgi_ode_open_adjoint(wgi_ode_adjoint *a);
/* All steps; c NULL: without checkpoints; file NULL: without one. Everything has been cut. */
wg_status wgi_ode_forward(wgi_ode_run *r, wgi_ode_record *record, wgi_ode_checkpoints *c,
                          wgi_ode_file *file);
/* Cuts an adjoint of a flow. */
void wgi_ode_lay_out_adjoint(wgi_ode_adjoint *a, wgi_ode_run *r, wg_block *b,
                             const wgi_ode_flow *flow, wgi_pieces *p);
/* Cuts checkpoints of a flow. */
void wgi_ode_lay_out_checkpoints(wgi_ode_checkpoints *c, const wgi_ode_call *call,
                                 const wgi_ode_flow *flow, wgi_pieces *p);

/* ode_second.c: the adjoint in operations on matrices (wg_block_op). */
wg_status wgi_ode_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                       const wg_mat *bar, wg_mat *back);
/* The values alone, or the tangents, without what an adjoint needs beside; and the bytes of work
 * that takes. report: what it takes is counted there. */
wg_status wgi_ode_alone(wg_block *b, int tangents, wg_ode_report *report);
size_t wgi_ode_alone_room(wg_block *b, int tangents);
/* ode_second.c: the adjoints of y0 and p from operands y0, p, y_, r_, forward and back again; or
 * the tangent of that; and the bytes of work. */
wg_status wgi_ode_swept(wg_block *b, int tangents);
size_t wgi_ode_swept_room(wg_block *b, int tangents);
/* ode_node.c: one node for a solution that is not written out. */
void wgi_ode_add_node(wgi_graph *g, const wgi_ode_call *call, const uint32_t *x, uint32_t *y);
/* Frees what such nodes were made with. */
void wgi_ode_nodes_free(const wg_ode *k);
/* ode_function.c: its nodes in a function (traits.h). */
wg_status wgi_ode_flatten(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y);

#endif
