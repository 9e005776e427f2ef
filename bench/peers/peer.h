/* SPDX-License-Identifier: MIT */
/* peer.h - another library computing the same derivatives from the same kernels. One object
 * file per library, in C++, and a row in the Makefile's table PEERS; compiled with -O3
 * -march=native -DNDEBUG as the workloads are. */
#ifndef WENGERT_BENCH_PEER_H
#define WENGERT_BENCH_PEER_H

#include "../case.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All in one iteration: forgets the last one, records, sweeps, gives the derivative: a gradient
 * of n entries, or the entries of `bundle`. 0, or nonzero: failed. */
typedef int bench_derivative(const struct bench_case *c, double *entries);

struct bench_peer {
    const char *name;
    const char *version;
    bench_derivative *derivative[BENCH_IDS]; /* NULL: not for this peer */
    /* Before the first derivative of a case, and after the last; NULL: nothing to do. */
    int (*open)(enum bench_id id, const struct bench_case *c);
    void (*close)(enum bench_id id);
    int evals_only; /* what it shares with the engine's workloads is measured with evals only */
};

/* What is linked in, and what is not. */
extern const struct bench_peer *const bench_peers[];
extern const size_t bench_peer_count;
extern const char *const bench_peers_absent[]; /* ends with NULL */

#ifdef __cplusplus
}
#endif

#endif
