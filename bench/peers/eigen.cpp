// SPDX-License-Identifier: MIT
// Eigen's AutoDiffScalar: forward mode, all derivatives in a vector of fixed size, by
// expression templates.
#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

template <int N> using real = Eigen::AutoDiffScalar<Eigen::Matrix<double, N, 1>>;
template <int N> static real<N> variable(double a, int k) { return real<N>(a, N, k); }
template <int N> static double slope(const real<N> &a, int k) { return a.derivatives()[k]; }
template <int N> static double wg_value(const real<N> &a) { return a.value(); }
#include "forward.hpp"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
extern "C" const bench_peer bench_peer_eigen = forward_peer(
    "Eigen AutoDiffScalar",
    TEXT(EIGEN_WORLD_VERSION) "." TEXT(EIGEN_MAJOR_VERSION) "." TEXT(EIGEN_MINOR_VERSION));
