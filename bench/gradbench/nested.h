/* SPDX-License-Identifier: MIT */
/* nested.h - of particle.c and saddle.c: derivatives inside of what is differentiated, each in
 * a mode of its own. */
#ifndef WENGERT_BENCH_GRADBENCH_NESTED_H
#define WENGERT_BENCH_GRADBENCH_NESTED_H

#include "gradbench.h"

enum gb_mode { GB_FORWARD, GB_REVERSE };

/* The inner derivative: the gradient of a function of one number, by its first input. */
struct gb_slope {
    enum gb_mode mode;
    wg_callable *call;
    size_t n; /* entries of that input */
};

/* Takes the function over; all its inputs but the first are WG_PASSIVE. NULL: it could not be
 * made, and t says why. 0 or -1. */
int gb_slope_open(struct gb_slope *s, wg_tape *t, wg_function *f, enum gb_mode mode,
                  struct gb_error *e);
/* g = the gradient at x, one matrix per input, in a recording that may be differentiated again
 * by any of them. A failure is the tape's. */
void gb_slope_call(wg_tape *t, const struct gb_slope *s, const wg_mat *x, wg_real *g);
void gb_slope_close(struct gb_slope *s);

/* The four functions of a module from one: prepare(job, outer mode, inner mode, e). */
#define GB_MODES(prepare)                                                                      \
    static int ff(void *job, struct gb_error *e) {                                             \
        return prepare(job, GB_FORWARD, GB_FORWARD, e);                                        \
    }                                                                                          \
    static int fr(void *job, struct gb_error *e) {                                             \
        return prepare(job, GB_FORWARD, GB_REVERSE, e);                                        \
    }                                                                                          \
    static int rf(void *job, struct gb_error *e) {                                             \
        return prepare(job, GB_REVERSE, GB_FORWARD, e);                                        \
    }                                                                                          \
    static int rr(void *job, struct gb_error *e) {                                             \
        return prepare(job, GB_REVERSE, GB_REVERSE, e);                                        \
    }
#define GB_MODE_FUNCTIONS(run, output)                                                         \
    {                                                                                          \
        {"ff", ff, run, output}, {"fr", fr, run, output}, {"rf", rf, run, output}, {           \
            "rr", rr, run, output                                                              \
        }                                                                                      \
    }

#endif
