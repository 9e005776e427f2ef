// SPDX-License-Identifier: MIT
// ADOL-C: a trace per derivative, kept in memory, and one reverse sweep; bundle adjustment
// sweeps its three adjoints at once, hand tracking all tangents forward.
enum { FIRST_TAG = 0 };
#include "adolc.hpp"

namespace {

template <kernel *K> int gradient(const bench_case *c, double *g) {
    const short tag = tag_of(now);
    double one = 1;
    trace<K>(tag, c, sizes[now]);
    return fos_reverse(tag, 1, int(c->n), &one, g) < 0;
}

int jacobian(const bench_case *c, double *entries) {
    static const double seed[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const auto *p = static_cast<const bundle_params *>(c->params);
    const short tag = tag_of(BENCH_bundle);
    const double *u[3] = {seed[0], seed[1], seed[2]};
    double *z[3], unused[BUNDLE_INPUTS];
    adouble err[3];
    z[2] = unused;
    for (size_t i = 0; i < p->observations; i++) {
        double x[BUNDLE_INPUTS], y;
        bundle_gather(p, c->x, i, x);
        trace_on(tag, 1);
        for (size_t j = 0; j < BUNDLE_INPUTS; j++) in[j] <<= x[j];
        bundle(nullptr, in.data(), p->feats + 2 * i, err);
        for (size_t j = 0; j < 3; j++) err[j] >>= y;
        trace_off();
        z[0] = entries + BUNDLE_ENTRIES * i;
        z[1] = z[0] + BUNDLE_INPUTS;
        if (fov_reverse(tag, 3, BUNDLE_INPUTS, 3, const_cast<double **>(u), z) < 0) return -1;
        z[0][2 * BUNDLE_INPUTS] = unused[BUNDLE_INPUTS - 1];
    }
    return 0;
}

// k-means: the product of the Hessian with a direction, which has the gradient beside it.
int newton(const bench_case *c, double *step) {
    const short tag = tag_of(BENCH_kmeans);
    double y, slope, one = 1;
    std::vector<double> both(2 * c->n);
    std::vector<double *> rows(c->n);
    for (size_t i = 0; i < c->n; i++) rows[i] = &both[2 * i];
    trace<kmeans>(tag, c, sizes[BENCH_kmeans]);
    if (fos_forward(tag, 1, int(c->n), 2, c->x, c->scratch + c->n, &y, &slope) < 0 ||
        hos_reverse(tag, 1, int(c->n), 1, &one, rows.data()) < 0)
        return -1;
    for (size_t i = 0; i < c->n; i++) step[i] = rows[i][0] / rows[i][1];
    return 0;
}

int tracking(const bench_case *c, double *entries) {
    const short tag = tag_of(now);
    trace_tracking(tag, c, sizes[now]);
    return tangents(tag, c, entries);
}

} // namespace

extern "C" const bench_peer bench_peer_adolc = {
    "ADOL-C",
    WG_ADOLC_VERSION,
    {BENCH_PEER_GRADIENTS jacobian, BENCH_PEER_EVAL_GRADIENTS newton, tracking, tracking},
    open,
    close,
    0,
};
