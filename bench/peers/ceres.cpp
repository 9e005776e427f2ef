// SPDX-License-Identifier: MIT
// Ceres Solver's Jet: forward mode, all derivatives in a vector of fixed size.
#include <ceres/jet.h>
#include <ceres/version.h>

template <int N> using real = ceres::Jet<double, N>;
template <int N> static real<N> variable(double a, int k) { return real<N>(a, k); }
template <int N> static double slope(const real<N> &a, int k) { return a.v[k]; }
template <int N> static double wg_value(const real<N> &a) { return a.a; }
#include "forward.hpp"

extern "C" const bench_peer bench_peer_ceres = forward_peer("Ceres Jet", CERES_VERSION_STRING);
