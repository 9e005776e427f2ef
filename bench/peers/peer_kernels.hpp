// SPDX-License-Identifier: MIT
// peer_kernels.hpp - the kernels of ../workloads over the type BENCH_REAL of a peer, or only
// those in the file BENCH_KERNELS. May be included once per type: the kernels are overloads.
// The peer provides wg_value(const BENCH_REAL &).
#ifndef WENGERT_BENCH_PEER_KERNELS_HPP
#define WENGERT_BENCH_PEER_KERNELS_HPP

#include <cmath>
#include <cstddef>

#include "peer.h"

#define BENCH_PEER
struct wg_tape; // what a kernel passes on and a peer ignores

#define WG_NAME(f) f
#define wg_let(t, e) (e)
#define wg_constant(c) wg_real(c)
#define wg_add(x, y) ((x) + (y))
#define wg_sub(x, y) ((x) - (y))
#define wg_mul(x, y) ((x) * (y))
#define wg_div(x, y) ((x) / (y))
#define wg_neg(x) (-(x))
#define wg_sqrt(x) sqrt(x)
#define wg_exp(x) exp(x)
#define wg_log(x) log(x)
#define wg_sin(x) sin(x)
#define wg_cos(x) cos(x)
#define wg_tanh(x) tanh(x)
#define wg_sigmoid(x) (1.0 / (1.0 + exp(-(x))))
#define wg_square(x) bench_square(x)
// Of an expression that is evaluated once.
template <class X> inline auto bench_square(const X &x) -> decltype(x * x) { return x * x; }

// The table of gradients of a template `gradient<kernel>`, for bench_peer.
#define BENCH_PEER_GRADIENT(name, kernel) gradient<kernel>,
#define BENCH_PEER_GRADIENTS BENCH_GRADIENTS(BENCH_PEER_GRADIENT)
#define BENCH_PEER_EVAL_GRADIENTS BENCH_EVAL_GRADIENTS(BENCH_PEER_GRADIENT)

#endif

#ifndef BENCH_KERNELS
#define BENCH_KERNELS "../workloads/all.h"
#endif
#define wg_real BENCH_REAL
#include BENCH_KERNELS
#undef wg_real
