// SPDX-License-Identifier: MIT
// ADOL-C with a trace that is kept: made once, evaluated again at each point. That is right for
// the evals whose way through the code does not depend on their numbers; bundle adjustment has
// one trace for all its observations.
enum { FIRST_TAG = 100 };
#include "adolc.hpp"

namespace {

int kept_gradient(const bench_case *c, double *g) {
    return gradient(tag_of(now), int(c->n), const_cast<double *>(c->x), g) < 0;
}

int kept_tracking(const bench_case *c, double *entries) {
    return tangents(tag_of(now), c, entries);
}

// Where an observation was seen is taken away afterwards: in the trace it is 0.
int kept_jacobian(const bench_case *c, double *entries) {
    static const double seed[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const auto *p = static_cast<const bundle_params *>(c->params);
    const short tag = tag_of(BENCH_bundle);
    const double *u[3] = {seed[0], seed[1], seed[2]};
    double *z[3], unused[BUNDLE_INPUTS];
    z[2] = unused;
    for (size_t i = 0; i < p->observations; i++) {
        double x[BUNDLE_INPUTS], y[3];
        bundle_gather(p, c->x, i, x);
        z[0] = entries + BUNDLE_ENTRIES * i;
        z[1] = z[0] + BUNDLE_INPUTS;
        if (zos_forward(tag, 3, BUNDLE_INPUTS, 1, x, y) < 0 ||
            fov_reverse(tag, 3, BUNDLE_INPUTS, 3, const_cast<double **>(u), z) < 0)
            return -1;
        for (size_t k = 0; k < 2; k++) z[k][BUNDLE_INPUTS - 1] -= p->feats[2 * i + k];
        z[0][2 * BUNDLE_INPUTS] = unused[BUNDLE_INPUTS - 1];
    }
    return 0;
}

int keep(bench_id id, const bench_case *c) {
    if (open(id, c)) return -1;
    if (id != BENCH_bundle) {
        traces[id](tag_of(id), c, sizes[id]);
        return 0;
    }
    static const double origin[2] = {0, 0};
    double x[BUNDLE_INPUTS], y;
    bundle_gather(static_cast<const bundle_params *>(c->params), c->x, 0, x);
    trace_on(tag_of(id), 1);
    {
        adouble err[3];
        for (size_t j = 0; j < BUNDLE_INPUTS; j++) in[j] <<= x[j];
        bundle(nullptr, in.data(), origin, err);
        for (size_t j = 0; j < 3; j++) err[j] >>= y;
    }
    trace_off();
    return 0;
}

// Only the evals.
bench_peer kept() {
    bench_peer p = {};
    p.name = "ADOL-C, trace kept";
    p.version = WG_ADOLC_VERSION;
    p.open = keep;
    p.close = close;
    p.evals_only = 1;
#define KEPT(name, kernel) p.derivative[BENCH_##name] = kept_gradient;
    BENCH_EVAL_GRADIENTS(KEPT)
    KEPT(mixture, mixture)
    KEPT(lstm, lstm)
    p.derivative[BENCH_bundle] = kept_jacobian;
    p.derivative[BENCH_ht_simple] = p.derivative[BENCH_ht_complicated] = kept_tracking;
    return p;
}

} // namespace

extern "C" const bench_peer bench_peer_adolc_kept = kept();
