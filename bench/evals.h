/* SPDX-License-Identifier: MIT */
/* evals.h - inputs for the evals of GradBench, made up here from fixed seeds, and what else
 * than their modules computes the same derivatives. */
#ifndef WENGERT_BENCH_EVALS_H
#define WENGERT_BENCH_EVALS_H

#include <jansson.h>
#include <stddef.h>

#include "harness.h"

/* A new reference to what the module of that name reads; NULL: no memory. */
typedef json_t *eval_input(size_t size);
eval_input eval_hello, eval_ba, eval_det, eval_gmm, eval_ht_simple, eval_ht_complicated,
    eval_kmeans, eval_llsq, eval_lse, eval_lstm, eval_ode, eval_particle, eval_saddle;

/* A kernel of workloads/ that is the eval's function. */
struct eval_kernel {
    const char *eval;
    enum bench_id id;
    /* The case of an input; 0, or -1: no memory, or it is none that the kernel can do. To be
     * finished and freed. */
    int (*fill)(struct bench_case *c, const json_t *input);
    /* A derivative's entries in the order of the eval's numbers; how many those are. */
    size_t (*arrange)(const struct bench_case *c, const double *entries, double *out);
};
/* NULL: there is none. */
const struct eval_kernel *eval_kernel(const char *eval);

#endif
