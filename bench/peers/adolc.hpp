// SPDX-License-Identifier: MIT
// adolc.hpp - traces by ADOL-C, for adolc.cpp, which makes one for each derivative, and
// adolc_kept.cpp, which keeps the first. Included after FIRST_TAG, the first of its numbers for
// traces: there is one list of them.
#ifndef WENGERT_BENCH_ADOLC_HPP
#define WENGERT_BENCH_ADOLC_HPP

#include <adolc/adolc.h>
#include <vector>

using std::size_t;
static double wg_value(const adouble &x) { return x.value(); }
#define BENCH_REAL adouble
#include "peer_kernels.hpp"

#ifndef WG_ADOLC_VERSION // its headers do not say
#define WG_ADOLC_VERSION "version unknown"
#endif

// Variables of both: what is alive at the same time costs each trace.
namespace bench_adolc {
inline std::vector<adouble> in, work;
}

namespace {

using bench_adolc::in;
using bench_adolc::work;

typedef adouble kernel(wg_tape *, const void *, const adouble *, adouble *);
enum { ROOM = 1 << 28, HAND = HT_THETA + HT_OWN };

struct buffers {
    size_t operations, locations, values, taylors;
} sizes[BENCH_IDS];
bench_id now;

short tag_of(bench_id id) { return short(FIRST_TAG + id); }

void begin(short tag, const buffers &b) {
    trace_on(tag, 1, unsigned(b.operations), unsigned(b.locations), unsigned(b.values),
             unsigned(b.taylors));
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

void trace_tracking(short tag, const bench_case *c, const buffers &b) {
    const auto *p = static_cast<const ht_params *>(c->params);
    adouble *const moved = work.data(), *const r = moved + 12 * HT_MOVING;
    adouble err[3];
    double y;
    begin(tag, b);
    for (size_t i = 0; i < c->n; i++) in[i] <<= c->x[i];
    ht_pose(nullptr, p, in.data(), moved, r);
    for (size_t i = 0; i < p->n; i++) {
        const size_t own = p->own ? HT_THETA + p->own * i : 0;
        ht_distance(nullptr, p, in.data(), moved, r, i, &in[own], err);
        for (int j = 0; j < 3; j++) err[j] >>= y;
    }
    trace_off();
}

// All columns of the Jacobian forward; the two coordinates of each point share theirs.
int tangents(short tag, const bench_case *c, double *entries) {
    const auto *p = static_cast<const ht_params *>(c->params);
    const size_t columns = p->own + HT_THETA;
    std::vector<double> seed(c->n * columns), y(c->m);
    std::vector<double *> seeds(c->n), rows(c->m);
    for (size_t i = 0; i < c->n; i++) {
        seeds[i] = &seed[i * columns];
        seeds[i][i < HT_THETA ? p->own + i : (i - HT_THETA) % HT_OWN] = 1;
    }
    for (size_t i = 0; i < c->m; i++) rows[i] = entries + i * columns;
    return fov_forward(tag, int(c->m), int(c->n), int(columns), c->x, seeds.data(), y.data(),
                       rows.data()) < 0;
}

#define TRACE(name, kernel) trace<kernel>,
void (*const traces[])(short, const bench_case *, const buffers &) = {
    BENCH_GRADIENTS(TRACE) nullptr, BENCH_EVAL_GRADIENTS(TRACE) trace<kmeans>, trace_tracking,
    trace_tracking};
#undef TRACE

// How large the buffers have to be for the trace to stay in memory: found with a first trace.
int open(bench_id id, const bench_case *c) {
    const size_t inputs = id == BENCH_bundle ? size_t(BUNDLE_INPUTS) : c->n;
    const short scratch = tag_of(BENCH_IDS);
    now = id;
    if (in.size() < inputs) in = std::vector<adouble>(inputs);
    if (work.size() < c->work) work = std::vector<adouble>(c->work);
    if (id == BENCH_bundle) return 0;
    const buffers room = {ROOM, ROOM, ROOM, ROOM};
    size_t counts[STAT_SIZE];
    traces[id](scratch, c, room);
    tapestats(scratch, counts);
    removeTape(scratch, ADOLC_REMOVE_COMPLETELY);
    const buffers need = {counts[NUM_OPERATIONS] + 1024, counts[NUM_LOCATIONS] + 1024,
                          counts[NUM_VALUES] + 1024, counts[TAY_STACK_SIZE] + 1024};
    if (need.operations > sizes[id].operations || need.taylors > sizes[id].taylors) {
        if (sizes[id].operations) removeTape(tag_of(id), ADOLC_REMOVE_COMPLETELY);
        sizes[id] = need;
    }
    return 0;
}

void close(bench_id id) {
    removeTape(tag_of(id), ADOLC_REMOVE_COMPLETELY);
    sizes[id] = buffers();
    in.clear();
    in.shrink_to_fit();
    work.clear();
    work.shrink_to_fit();
}

} // namespace

#endif
