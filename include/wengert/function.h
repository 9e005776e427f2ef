/* SPDX-License-Identifier: MIT */
/* Functions: a recording as a value, evaluated and differentiated at many points at once.
 *
 * A function is recorded once from a callback. It is immutable and refers to no tape: any
 * number of threads may evaluate it, each with a workspace of its own. Points run through SIMD
 * lanes: where a computation repeats over data, value and derivative cost little more than the
 * arithmetic. */
#ifndef WENGERT_FUNCTION_H
#define WENGERT_FUNCTION_H

#include <stddef.h>
#include <wengert/drivers.h>

WG_BEGIN_DECLS

typedef struct wg_function wg_function;

/* Where the numbers of many points stand: entry e of point p at data[p * point + e * entry].
 * An array of structures of k numbers: point k, entry 1. A structure of arrays over n points:
 * point 1, entry n. NULL data: seeds that are all 0, results that are not wanted. */
typedef struct wg_points {
    const double *data;
    ptrdiff_t point, entry;
} wg_points;
typedef struct wg_results {
    double *data;
    ptrdiff_t point, entry;
} wg_results;

/* What wg_function_record has made of the recording. */
typedef struct wg_function_stats {
    size_t statements, operations; /* on the tape */
    size_t folded, repeated, dead; /* operations of constants, done already, of no use */
    size_t nodes;                  /* inputs, constants and operations that are left */
    size_t guards;                 /* comparisons */
} wg_function_stats;

/* wg_function_record - calls f once at x and keeps what its outputs need: operations of
 * constants are done, those that repeat are shared, those without use are dropped. Nothing is
 * reassociated: the values are those of the callback wherever its comparisons come out alike.
 * t:       a tape with WG_KEEP_CODE, as workspace; left empty, as by a driver.
 * Cost:    one recording; 40 bytes per operation, from the memory callbacks of the tape.
 * Errors:  as the drivers; WG_EMODE: no kept code, or a matrix operation. *out is NULL then. */
WG_API WG_MUST_CHECK wg_status wg_function_record(wg_tape *t, wg_callback *f, void *data,
                                                  size_t n, const double *x, size_t m,
                                                  wg_function **out);
WG_API void wg_function_free(wg_function *f);

WG_API size_t wg_function_inputs(const wg_function *f);
WG_API size_t wg_function_outputs(const wg_function *f);
WG_API wg_status wg_function_statistics(const wg_function *f, wg_function_stats *out);
/* Bytes of workspace that one call needs; 64-byte aligned memory is best. */
WG_API size_t wg_function_work(const wg_function *f);

/* Which comparison came out differently from the recording, and at which point first. */
typedef struct wg_function_guard {
    size_t point, guard; /* guard: in the order of the recording */
} wg_function_guard;

/* Each at `points` points, x as inputs, y as outputs; results that are not wanted have data
 * NULL. Transcendental functions are those of elementwise.h: within 4 ulp of the callback's.
 * wg_function_values   - y = f(x).
 * wg_function_vjp      - y, and g = J' w.  w: m entries a point.
 * wg_function_jvp      - y, and jv = J v.
 * wg_function_jacobian - y, and J by rows: entry j n + i of a point is dy[j] / dx[i].
 * work:    wg_function_work bytes.  guard: may be NULL.
 * Errors:  WG_ENULL; WG_EGUARD: *guard says where first; the results of such points are those
 * of the recorded branch: record again there. */
WG_API WG_MUST_CHECK wg_status wg_function_values(const wg_function *f, size_t points,
                                                  wg_points x, wg_results y, void *work,
                                                  wg_function_guard *guard);
WG_API WG_MUST_CHECK wg_status wg_function_vjp(const wg_function *f, size_t points, wg_points x,
                                               wg_points w, wg_results y, wg_results g,
                                               void *work, wg_function_guard *guard);
WG_API WG_MUST_CHECK wg_status wg_function_jvp(const wg_function *f, size_t points, wg_points x,
                                               wg_points v, wg_results y, wg_results jv,
                                               void *work, wg_function_guard *guard);
WG_API WG_MUST_CHECK wg_status wg_function_jacobian(const wg_function *f, size_t points,
                                                    wg_points x, wg_results y, wg_results jac,
                                                    void *work, wg_function_guard *guard);

WG_END_DECLS

#endif
