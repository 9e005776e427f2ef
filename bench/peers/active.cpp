// SPDX-License-Identifier: MIT
// wg::active: this library where code says double, in C++. What the kernels say by wg_let is here a plain
// assignment; bundle adjustment sweeps its three adjoints at once.
#include <vector>
#include <wengert/active.hpp>

using std::size_t;
typedef wg::active real;
#define BENCH_REAL real
#include "peer_kernels.hpp"

namespace {

typedef real kernel(wg_tape *, const void *, const real *, real *);
wg::tape tape(0, wg::on_failure::returns);
std::vector<real> in, work;

template <kernel *K> int gradient(const bench_case *c, double *g) {
    const wg::scope here(tape);
    tape.reset();
    in.resize(c->n);
    if (work.size() < c->work) work.resize(c->work);
    if (wg_inputs(tape, c->n, c->x, in.data()) != WG_OK) return -1;
    const real y = K(tape, c->params, in.data(), work.data());
    return tape.reverse(y) != WG_OK || wg_adjoints(tape, c->n, in.data(), g) != WG_OK;
}

void close(bench_id) {
    std::vector<real>().swap(in);
    std::vector<real>().swap(work);
    tape = wg::tape(0, wg::on_failure::returns);
}

int jacobian(const bench_case *c, double *entries) {
    static const double seeds[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const auto *p = static_cast<const bundle_params *>(c->params);
    const wg::scope here(tape);
    for (size_t i = 0; i < p->observations; i++, entries += BUNDLE_ENTRIES) {
        double a[BUNDLE_INPUTS], g[3 * BUNDLE_INPUTS];
        real x[BUNDLE_INPUTS], err[3];
        bundle_gather(p, c->x, i, a);
        tape.reset();
        if (wg_inputs(tape, BUNDLE_INPUTS, a, x) != WG_OK) return -1;
        bundle(tape, x, p->feats + 2 * i, err);
        if (wg_reverse_lanes(tape, 3, 3, err, seeds) != WG_OK ||
            wg_adjoints_lanes(tape, BUNDLE_INPUTS, x, 3, g, BUNDLE_INPUTS) != WG_OK)
            return -1;
        for (int j = 0; j < 2 * BUNDLE_INPUTS; j++) entries[j] = g[j];
        entries[2 * BUNDLE_INPUTS] = g[3 * BUNDLE_INPUTS - 1];
    }
    return 0;
}

} // namespace

extern "C" const bench_peer bench_peer_active = {
    "wg::active",
    WG_VERSION,
    {BENCH_PEER_GRADIENTS jacobian, BENCH_PEER_EVAL_GRADIENTS nullptr},
    nullptr,
    close,
    0,
};
