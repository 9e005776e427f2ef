/* SPDX-License-Identifier: MIT */
/* case.h - one instance of a workload: its sizes, its inputs, its data. Seen by the harness (C)
 * and by the peers (C++). */
#ifndef WENGERT_BENCH_CASE_H
#define WENGERT_BENCH_CASE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of workloads whose derivative is a gradient: name, kernel. The kernel is
 *   wg_real kernel(wg_tape *t, const void *params, const wg_real *x, wg_real *work).
 * `bundle` has a Jacobian, a kernel for one observation, and is listed apart. */
#define BENCH_GRADIENTS(X)                                                                     \
    X(chain_arithmetic, chain_arithmetic)                                                      \
    X(chain_mixed, chain_mixed)                                                                \
    X(lax_wendroff, lax_wendroff)                                                              \
    X(toon, toon)                                                                              \
    X(burgers, burgers)                                                                        \
    X(brusselator, brusselator)                                                                \
    X(mixture, mixture)                                                                        \
    X(lstm, lstm)                                                                              \
    X(rosenbrock, rosenbrock)                                                                  \
    X(rosenbrock_small, rosenbrock)                                                            \
    X(small, chain_arithmetic)

/* The same for evals of GradBench that are not among those already (gmm: mixture; lstm; ba:
 * bundle). `kmeans` has a step of Newton's method, ht a Jacobian: they are listed apart. */
#define BENCH_EVAL_GRADIENTS(X)                                                                \
    X(det, det)                                                                                \
    X(llsq, llsq)                                                                              \
    X(lse, lse)                                                                                \
    X(ode, ode)

enum bench_id {
#define BENCH_ENUM(name, kernel) BENCH_##name,
    BENCH_GRADIENTS(BENCH_ENUM) BENCH_bundle,
    BENCH_WORKLOADS, /* of the engine */
    BENCH_LAST_WORKLOAD = BENCH_WORKLOADS - 1,
    BENCH_EVAL_GRADIENTS(BENCH_ENUM) BENCH_kmeans,
    BENCH_ht_simple,
    BENCH_ht_complicated,
    BENCH_IDS
#undef BENCH_ENUM
};

enum { BENCH_BLOCKS = 16 };

struct bench_case {
    size_t size;          /* what is swept: operations, steps, cells, terms, ... */
    size_t n;             /* inputs */
    size_t m;             /* outputs */
    size_t entries;       /* numbers in the derivative: n for a gradient */
    size_t work;          /* variables of workspace the kernel wants */
    size_t scratch_len;   /* doubles in scratch */
    const double *x;      /* the inputs */
    const void *params;   /* struct <workload>_params */
    double *scratch;      /* for the hand-written derivative, and what else a kernel says */
    double *work_doubles; /* for the kernel over double */
    void *block[BENCH_BLOCKS];
    size_t blocks;
};

/* What a tape held for one derivative. */
struct bench_counts {
    double statements, record_bytes, adjoint_bytes;
};

#ifdef __cplusplus
}
#endif

#endif
