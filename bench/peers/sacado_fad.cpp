// SPDX-License-Identifier: MIT
// Sacado, forward mode (Fad::SFad): all derivatives in a vector of fixed size, by expression
// templates. Its reverse mode is in sacado.cpp.
#include "sacado_fad.hpp"

template <int N> using real = Sacado::Fad::SFad<double, N>;
template <int N> static real<N> variable(double a, int k) { return real<N>(N, k, a); }
template <int N> static double slope(const real<N> &a, int k) { return a.fastAccessDx(k); }
template <int N> static double wg_value(const real<N> &a) { return a.val(); }
#include "forward.hpp"

extern "C" const bench_peer bench_peer_sacado_fad =
    forward_peer("Sacado Fad", "Trilinos " TRILINOS_VERSION_STRING);
