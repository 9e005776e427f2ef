/* SPDX-License-Identifier: MIT */
/* Wengert: derivatives of numerical C codes. This header brings in the whole library but for
 * the graph model, <wengert/model.h>, kernels that are compiled for several types,
 * <wengert/generic.h>, loops of OpenMP, <wengert/openmp.h>, and what is for C++ alone,
 * <wengert/active.hpp> and its kin. Each tier needs only those above it. */
#ifndef WENGERT_H
#define WENGERT_H

/* Core: the tape, statements, operations of one's own, drivers and sparse patterns, duals. */
#include <wengert/config.h>
#include <wengert/types.h>
#include <wengert/tape.h>
#include <wengert/spill.h>
#include <wengert/statement.h>
#include <wengert/scalar.h>
#include <wengert/operation.h>
#include <wengert/given.h>
#include <wengert/let.h>
#include <wengert/array.h>
#include <wengert/drivers.h>
#include <wengert/sparsity.h>
#include <wengert/dual.h>

/* Matrices: views, block operations, and what is done with whole matrices. */
#include <wengert/block.h>
#include <wengert/matrix.h>
#include <wengert/elementwise.h>
#include <wengert/reduce.h>
#include <wengert/data.h>
#include <wengert/products.h>
#include <wengert/sparse.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include <wengert/statistics.h>
#include <wengert/batch.h>
#include <wengert/blas.h>
#include <wengert/blas_vjp.h>
#include <wengert/operand.h>
#include <wengert/implicit.h>
#include <wengert/matrix_drivers.h>
#include <wengert/krylov.h>

/* Functions: recordings as values, their derivatives, calls, maps and loops. */
#include <wengert/threads.h>
#include <wengert/parallel.h>
#include <wengert/function.h>
#include <wengert/derive.h>
#include <wengert/branches.h>
#include <wengert/map.h>
#include <wengert/turns.h>

/* Tools: minima and fits; functions as files and drawings, as C and as compiled code. */
#include <wengert/optimise.h>
#include <wengert/file.h>
#include <wengert/emit.h>

/* Simulation. */
#include <wengert/loop.h>
#include <wengert/ode.h>

#endif
