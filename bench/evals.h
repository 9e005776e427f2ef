/* SPDX-License-Identifier: MIT */
/* evals.h - inputs for the evals of GradBench, made up here from fixed seeds. */
#ifndef WENGERT_BENCH_EVALS_H
#define WENGERT_BENCH_EVALS_H

#include <jansson.h>
#include <stddef.h>

/* A new reference to what the module of that name reads; NULL: no memory. */
typedef json_t *eval_input(size_t size);
eval_input eval_hello, eval_ba, eval_det, eval_gmm, eval_ht_simple, eval_ht_complicated,
    eval_kmeans, eval_llsq, eval_lse, eval_lstm, eval_ode, eval_particle, eval_saddle;

#endif
