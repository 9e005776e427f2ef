// SPDX-License-Identifier: MIT
// Sacado, reverse mode (Rad::ADvar): its memory is recycled by the first operation after a
// sweep, so inputs are made anew for each derivative. Bundle adjustment sweeps its three
// adjoints at once (RadVec::ADvar); k-means has a tangent in each number as well, so that its
// adjoints have Hessian times ones beside the gradient.
#include "sacado_fad.hpp"

#include <Sacado_trad.hpp>
#include <Sacado_tradvec.hpp>
#include <vector>

using std::size_t;
typedef Sacado::Rad::ADvar<double> real;
typedef Sacado::RadVec::ADvar<double> lanes;
static double wg_value(const real &x) { return x.val(); }
static double wg_value(const lanes &x) { return x.val(); }
typedef Sacado::Fad::SFad<double, 1> along;
typedef Sacado::Rad::ADvar<along> second;
static double wg_value(const second &x) { return x.val().val(); }
#define BENCH_REAL real
#include "peer_kernels.hpp"
#define wg_real lanes
#include "../workloads/bundle.h"
#undef wg_real
#define wg_real second
#include "../workloads/kmeans.h"
#undef wg_real

namespace {

typedef real kernel(wg_tape *, const void *, const real *, real *);
std::vector<real> in, work;

template <kernel *K> int gradient(const bench_case *c, double *g) {
    in.clear();
    in.reserve(c->n);
    for (size_t i = 0; i < c->n; i++) in.emplace_back(c->x[i]);
    if (work.size() < c->work) work.resize(c->work);
    real y = K(nullptr, c->params, in.data(), work.data());
    real::Outvar_Gradcomp(y);
    for (size_t i = 0; i < c->n; i++) g[i] = in[i].adj();
    return 0;
}

void close(bench_id) {
    std::vector<real>().swap(in);
    std::vector<real>().swap(work);
}

int jacobian(const bench_case *c, double *entries) {
    static double one[] = {1};
    static double *seeds[] = {one, one, one};
    static size_t counts[] = {1, 1, 1};
    const auto *p = static_cast<const bundle_params *>(c->params);
    std::vector<lanes> x;
    for (size_t i = 0; i < p->observations; i++, entries += BUNDLE_ENTRIES) {
        double a[BUNDLE_INPUTS];
        bundle_gather(p, c->x, i, a);
        x.clear();
        x.reserve(BUNDLE_INPUTS);
        for (size_t j = 0; j < BUNDLE_INPUTS; j++) x.emplace_back(a[j]);
        lanes err[3];
        bundle(nullptr, x.data(), p->feats + 2 * i, err);
        lanes *each[3] = {&err[0], &err[1], &err[2]};
        lanes **outputs[3] = {&each[0], &each[1], &each[2]};
        lanes::Weighted_GradcompVec(3, counts, outputs, seeds);
        for (int j = 0; j < BUNDLE_INPUTS; j++) {
            entries[j] = x[size_t(j)].adj(0);
            entries[BUNDLE_INPUTS + j] = x[size_t(j)].adj(1);
        }
        entries[2 * BUNDLE_INPUTS] = x[BUNDLE_INPUTS - 1].adj(2);
    }
    return 0;
}

int newton(const bench_case *c, double *step) {
    std::vector<second> x;
    x.reserve(c->n);
    for (size_t i = 0; i < c->n; i++) x.emplace_back(along(1, 0, c->x[i]));
    second y = kmeans(nullptr, c->params, x.data(), nullptr);
    second::Outvar_Gradcomp(y);
    for (size_t i = 0; i < c->n; i++) {
        const along g = x[i].adj();
        step[i] = g.val() / g.dx(0);
    }
    return 0;
}

} // namespace

extern "C" const bench_peer bench_peer_sacado = {
    "Sacado",
    "Trilinos " TRILINOS_VERSION_STRING,
    {BENCH_PEER_GRADIENTS jacobian, BENCH_PEER_EVAL_GRADIENTS newton},
    nullptr,
    close,
};
