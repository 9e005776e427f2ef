// SPDX-License-Identifier: MIT
// ADOL-C: a trace per derivative, kept in memory, and one reverse sweep; bundle adjustment
// sweeps its three adjoints at once.
#include <adolc/adolc.h>
#include <vector>

using std::size_t;
static double wg_value(const adouble &x) { return x.value(); }
#define BENCH_REAL adouble
#include "peer_kernels.hpp"

namespace {

typedef adouble kernel(wg_tape *, const void *, const adouble *, adouble *);
enum { SCRATCH = BENCH_WORKLOADS + 1, ROOM = 1 << 28 };

struct buffers {
    size_t operations, locations, values, taylors;
} sizes[BENCH_WORKLOADS];
std::vector<adouble> in, work;
bench_id now;

int begin(short tag, const buffers &b) {
    trace_on(tag, 1, unsigned(b.operations), unsigned(b.locations), unsigned(b.values),
             unsigned(b.taylors));
    return tag;
}

template <kernel *K> void trace(short tag, const bench_case *c, const buffers &b) {
    double y;
    begin(tag, b);
    for (size_t i = 0; i < c->n; i++) in[i] <<= c->x[i];
    {
        adouble f = K(nullptr, c->params, in.data(), work.data());
        f >>= y;
    }
    trace_off();
}

template <kernel *K> int gradient(const bench_case *c, double *g) {
    const short tag = short(now + 1);
    double one = 1;
    trace<K>(tag, c, sizes[now]);
    return fos_reverse(tag, 1, int(c->n), &one, g) < 0;
}

int jacobian(const bench_case *c, double *entries) {
    static const double seed[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const auto *p = static_cast<const bundle_params *>(c->params);
    const short tag = short(BENCH_bundle + 1);
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

#define TRACE(name, kernel) trace<kernel>,
void (*const traces[])(short, const bench_case *, const buffers &) = {BENCH_GRADIENTS(TRACE)};

// How large the buffers have to be for the trace to stay in memory: found with a first trace.
int open(bench_id id, const bench_case *c) {
    const size_t inputs = id == BENCH_bundle ? size_t(BUNDLE_INPUTS) : c->n;
    now = id;
    if (in.size() < inputs) in = std::vector<adouble>(inputs);
    if (work.size() < c->work) work = std::vector<adouble>(c->work);
    if (id == BENCH_bundle) return 0;
    const buffers room = {ROOM, ROOM, ROOM, ROOM};
    size_t counts[STAT_SIZE];
    traces[id](SCRATCH, c, room);
    tapestats(SCRATCH, counts);
    removeTape(SCRATCH, ADOLC_REMOVE_COMPLETELY);
    const buffers need = {counts[NUM_OPERATIONS] + 1024, counts[NUM_LOCATIONS] + 1024,
                          counts[NUM_VALUES] + 1024, counts[TAY_STACK_SIZE] + 1024};
    if (need.operations > sizes[id].operations || need.taylors > sizes[id].taylors) {
        if (sizes[id].operations) removeTape(short(id + 1), ADOLC_REMOVE_COMPLETELY);
        sizes[id] = need;
    }
    return 0;
}

void close(bench_id id) {
    removeTape(short(id + 1), ADOLC_REMOVE_COMPLETELY);
    sizes[id] = buffers();
    in.clear();
    in.shrink_to_fit();
    work.clear();
    work.shrink_to_fit();
}

} // namespace

#ifndef WG_ADOLC_VERSION // its headers do not say
#define WG_ADOLC_VERSION "version unknown"
#endif

extern "C" const bench_peer bench_peer_adolc = {
    "ADOL-C", WG_ADOLC_VERSION, {BENCH_PEER_GRADIENTS jacobian}, open, close,
};
