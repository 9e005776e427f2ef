/* SPDX-License-Identifier: MIT */
/* Wengert: derivatives of numerical C codes. This header brings in the whole library. */
#ifndef WENGERT_H
#define WENGERT_H

#include <wengert/config.h>
#include <wengert/types.h>
#include <wengert/tape.h>
#include <wengert/threads.h>
#include <wengert/statement.h>
#include <wengert/scalar.h>
#include <wengert/array.h>
#include <wengert/drivers.h>
#include <wengert/sparsity.h>
#include <wengert/matrix.h>
#include <wengert/elementwise.h>
#include <wengert/reduce.h>
#include <wengert/data.h>
#include <wengert/products.h>
#include <wengert/sparse.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include <wengert/statistics.h>
#include <wengert/implicit.h>
#include <wengert/dual.h>
#include <wengert/branches.h>
#include <wengert/derive.h>
#include <wengert/function.h>
#include <wengert/map.h>
#include <wengert/model.h>
#include <wengert/file.h>
#include <wengert/emit.h>

#endif
