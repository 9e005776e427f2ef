// SPDX-License-Identifier: MIT
// forward.hpp - what peers share that carry all derivatives along with each value: the
// workloads of few inputs, where that is what one would do. Included after
//
//     template <int N> using real = ...;                  a value and N derivatives
//     template <int N> real<N> variable(double a, int k)  the k-th derivative is 1
//     template <int N> double slope(const real<N> &a, int k)
//     template <int N> double wg_value(const real<N> &a)
#ifndef WENGERT_BENCH_FORWARD_HPP
#define WENGERT_BENCH_FORWARD_HPP

enum { CHAIN_INPUTS = 6, FEW_INPUTS = 10, CAMERA_INPUTS = 15, HAND_INPUTS = 26 };

typedef real<CHAIN_INPUTS> chain_variable;
#define BENCH_REAL chain_variable
#define BENCH_KERNELS "../workloads/chain_arithmetic.h"
#include "peer_kernels.hpp"
#undef BENCH_KERNELS
#define BENCH_KERNELS "../workloads/chain_mixed.h"
#include "peer_kernels.hpp"
#undef BENCH_KERNELS
#undef BENCH_REAL

typedef real<FEW_INPUTS> few_variable;
#define BENCH_REAL few_variable
#define BENCH_KERNELS "../workloads/rosenbrock.h"
#include "peer_kernels.hpp"
#undef BENCH_KERNELS
#undef BENCH_REAL

typedef real<CAMERA_INPUTS> camera_variable;
#define BENCH_REAL camera_variable
#define BENCH_KERNELS "../workloads/bundle.h"
#include "peer_kernels.hpp"
#undef BENCH_KERNELS
#undef BENCH_REAL

typedef real<HAND_INPUTS> hand_variable;
typedef real<HAND_INPUTS + 2> point_variable;
#define BENCH_REAL hand_variable
#define BENCH_KERNELS "../workloads/ht.h"
#include "peer_kernels.hpp"
#undef BENCH_REAL
#define BENCH_REAL point_variable
#include "peer_kernels.hpp"
#undef BENCH_KERNELS
#undef BENCH_REAL
static_assert(int(HAND_INPUTS) == int(HT_THETA), "inputs of a pose");
static_assert(int(CAMERA_INPUTS) == int(BUNDLE_INPUTS), "inputs of an observation");

namespace {

template <int N, real<N> (*K)(wg_tape *, const void *, const real<N> *, real<N> *)>
int gradient(const bench_case *c, double *g) {
    if (c->n != std::size_t(N)) return -1;
    real<N> x[N];
    for (int i = 0; i < N; i++) x[i] = variable<N>(c->x[i], i);
    const real<N> y = K(nullptr, c->params, x, nullptr);
    for (int i = 0; i < N; i++) g[i] = slope<N>(y, i);
    return 0;
}

int jacobian(const bench_case *c, double *entries) {
    const auto *p = static_cast<const bundle_params *>(c->params);
    for (std::size_t i = 0; i < p->observations; i++, entries += BUNDLE_ENTRIES) {
        double a[BUNDLE_INPUTS];
        camera_variable x[BUNDLE_INPUTS], err[3];
        bundle_gather(p, c->x, i, a);
        for (int j = 0; j < BUNDLE_INPUTS; j++) x[j] = variable<CAMERA_INPUTS>(a[j], j);
        bundle(nullptr, x, p->feats + 2 * i, err);
        for (int j = 0; j < BUNDLE_INPUTS; j++) {
            entries[j] = slope<CAMERA_INPUTS>(err[0], j);
            entries[BUNDLE_INPUTS + j] = slope<CAMERA_INPUTS>(err[1], j);
        }
        entries[2 * BUNDLE_INPUTS] = slope<CAMERA_INPUTS>(err[2], BUNDLE_INPUTS - 1);
    }
    return 0;
}

// The two coordinates of a point, where there are any, come first.
template <int N> int tracking(const bench_case *c, double *row) {
    enum { OWN = N - HT_THETA };
    const auto *p = static_cast<const ht_params *>(c->params);
    real<N> theta[HT_THETA], moved[12 * HT_MOVING], r[9],
        u[HT_OWN] = {real<N>(0.0), real<N>(0.0)};
    real<N> err[3];
    for (int k = 0; k < HT_THETA; k++) theta[k] = variable<N>(c->x[k], OWN + k);
    ht_pose(nullptr, p, theta, moved, r);
    for (std::size_t i = 0; i < p->n; i++) {
        for (int k = 0; k < OWN; k++) u[k] = variable<N>(p->us[OWN * i + std::size_t(k)], k);
        ht_distance(nullptr, p, theta, moved, r, i, u, err);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < N; k++) *row++ = slope<N>(err[j], k);
    }
    return 0;
}

// The others stay NULL.
bench_peer forward_peer(const char *name, const char *version) {
    bench_peer p = {};
    p.name = name;
    p.version = version;
    p.derivative[BENCH_chain_arithmetic] = p.derivative[BENCH_small] =
        gradient<CHAIN_INPUTS, chain_arithmetic>;
    p.derivative[BENCH_chain_mixed] = gradient<CHAIN_INPUTS, chain_mixed>;
    p.derivative[BENCH_rosenbrock_small] = gradient<FEW_INPUTS, rosenbrock>;
    p.derivative[BENCH_bundle] = jacobian;
    p.derivative[BENCH_ht_simple] = tracking<HAND_INPUTS>;
    p.derivative[BENCH_ht_complicated] = tracking<HAND_INPUTS + 2>;
    return p;
}

} // namespace

#endif
