/* SPDX-License-Identifier: MIT */
/* capacity - how much memory does a tape take, and does a steady iteration obtain any?
 *
 * Records 10^8 statements (10^6 with --small), sweeps them, and compares the bytes with what
 * the layout promises: 32 per record of two operands, 8 per slot for adjoints, and nothing else
 * beyond one growth step of each. Then repeats a smaller recording and counts the calls to the
 * memory callbacks. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "harness.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* y = prod (1 + 1/n) x, one statement of one operand each: dy/dx is the product. */
static wg_status iterate(wg_tape *t, long statements, double *derivative, double *seconds) {
    wg_tape_reset(t);
    const double start = now();
    const wg_real x = wg_input(t, 1.0);
    const double factor = 1 + 1 / (double)statements;
    wg_real y = x;
    for (long i = 0; i < statements; i++) y = wg_let(t, wg_mul(y, factor));
    seconds[0] = now() - start;
    const wg_status s = wg_reverse(t, y);
    seconds[1] = now() - start - seconds[0];
    *derivative = wg_adjoint(t, x);
    return s;
}

/* One recording and one sweep, measured once. 0, or -1. */
static int write_results(const char *path, double statements, const double *seconds,
                         const wg_stats *s) {
    static const char *const what[2] = {"recording", "reverse sweep"};
    struct bench_report report;
    bench_report_open(&report, "capacity", 1);
    for (int k = 0; k < 2; k++) {
        const double t = seconds[k];
        struct bench_row *row = bench_report_add(&report, "capacity", "product", "Wengert",
                                                 what[k], &(struct bench_times){t, t, t, t, 0});
        row->size = statements;
        row->bytes = (double)s->committed_bytes;
        row->ns_per_statement = 1e9 * t / statements;
    }
    const int lost = bench_report_write(&report, path);
    bench_report_close(&report);
    return lost;
}

int main(int argc, char **argv) {
    struct bench_options o;
    if (bench_options(&o, argc, argv, 0)) return 2;
    const int small = o.small;
    const long statements = small ? 1000000 : 100000000;
    enum { STEADY = 100 };
    /* growth steps of records and adjoints, the tape itself */
    const double slack = 2.0 * (1 << 25) + (1 << 20);
    wg_tape *t = wg_tape_new(NULL);
    double derivative = 0, seconds[2] = {0, 0};
    wg_stats s, before;
    if (t == NULL || iterate(t, statements, &derivative, seconds) != WG_OK ||
        wg_tape_stats(t, &s) != WG_OK) {
        fprintf(stderr, "capacity: %s\n", wg_tape_message(t));
        wg_tape_free(t);
        return 1;
    }
    const double n = (double)statements, promised = 32 * n + 8 * (n + 2);
    const int right = fabs(derivative - exp(1.0)) < 1e-5 && (double)s.record_bytes == 32 * n &&
                      (double)s.adjoint_bytes == 8 * (n + 2) &&
                      (double)s.committed_bytes <= promised + slack;
    printf("capacity: %ld statements, %.0f + %.0f bytes, %.0f committed: %s\n", statements,
           (double)s.record_bytes, (double)s.adjoint_bytes, (double)s.committed_bytes,
           right ? "as computed" : "NOT AS COMPUTED");
    if (!small)
        printf("          recorded in %.2f s, swept in %.2f s\n", seconds[0], seconds[1]);
    const int lost = !small && o.json && write_results(o.json, n, seconds, &s);

    int steady =
        iterate(t, 100000, &derivative, seconds) == WG_OK && wg_tape_stats(t, &before) == WG_OK;
    for (int i = 0; i < STEADY && steady; i++)
        steady = iterate(t, 100000, &derivative, seconds) == WG_OK;
    steady = steady && wg_tape_stats(t, &s) == WG_OK;
    const unsigned long long calls =
        steady ? (unsigned long long)(s.memory_calls - before.memory_calls) : 1;
    printf("capacity: %d further iterations of 100000 statements: %llu memory calls\n", STEADY,
           calls);
    wg_tape_free(t);
    return lost ? 2 : !(right && calls == 0);
}
