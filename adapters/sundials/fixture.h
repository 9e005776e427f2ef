/* SPDX-License-Identifier: MIT */
/* fixture.h - a context of SUNDIALS for a group of tests, and vectors in it. */
#ifndef WENGERT_SUNDIALS_FIXTURE_H
#define WENGERT_SUNDIALS_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <nvector/nvector_serial.h>
#include <wengert.h>

static SUNContext context;
static inline int create(void **state) {
    (void)state;
    return SUNContext_Create(NULL, &context);
}
static inline int destroy(void **state) {
    (void)state;
    return SUNContext_Free(&context);
}

/* from: NULL: zeros. */
static inline N_Vector vector(const double *from, size_t n) {
    N_Vector v = N_VNew_Serial((sunindextype)n, context);
    for (size_t i = 0; i < n; i++) NV_Ith_S(v, (sunindextype)i) = from == NULL ? 0 : from[i];
    return v;
}
static inline void assert_near(N_Vector v, const double *ref, double bound) {
    for (sunindextype i = 0; i < NV_LENGTH_S(v); i++)
        if (!(fabs(NV_Ith_S(v, i) / ref[i] - 1) < bound))
            fail_msg("entry %d is %.10g, not %.10g", (int)i, NV_Ith_S(v, i), ref[i]);
}

#endif
