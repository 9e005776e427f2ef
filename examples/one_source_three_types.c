/* SPDX-License-Identifier: MIT */
/* One kernel, written once, used as three things: a function of doubles, forward mode with dual
 * numbers (constant memory), and a taped function for the reverse mode.
 *
 * The kernel is the range of a thrown ball with drag; its three derivatives must agree. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

#define WG_AS_DOUBLE
#include "kernel_trajectory.h"
#undef WG_AS_DOUBLE

#define WG_AS_DUAL
#include "kernel_trajectory.h"
#undef WG_AS_DUAL

#include "kernel_trajectory.h"

enum { N = TRAJECTORY_PARAMETERS };

/* Forward and reverse sum the same terms in another order: a few ulps for each of the some 150
 * Runge-Kutta steps. */
static const double rounding = 1e-12;
/* Central differences lose a third of the digits to rounding and to the step. */
static const double differencing = 1e-7;

static void print(const char *how, double range, const double *g) {
    printf("%-22s %14.9f %14.9f %14.9f %14.6f\n", how, range, g[0], g[1], g[2]);
}

/* The largest relative difference between two gradients. */
static double difference(const double *g, const double *h) {
    double largest = 0;
    for (size_t j = 0; j < N; j++) largest = fmax(largest, fabs(g[j] - h[j]) / fabs(h[j]));
    return largest;
}

int main(void) {
    const double p[N] = {30, 0.7, 0.01}; /* m/s, radians, 1/m */
    printf("%-22s %14s %14s %14s %14s\n", "a throw", "range", "d/dspeed", "d/delevation",
           "d/ddrag");

    /* Doubles: the value, and central differences to look at. */
    const double range = trajectory_range_double(NULL, p);
    double differences[N];
    for (size_t j = 0; j < N; j++) {
        double q[N] = {p[0], p[1], p[2]};
        const double h = 1e-5 * p[j];
        q[j] = p[j] + h;
        const double above = trajectory_range_double(NULL, q);
        q[j] = p[j] - h;
        differences[j] = (above - trajectory_range_double(NULL, q)) / (2 * h);
    }
    print("doubles, differences", range, differences);

    /* Duals: all derivatives at once, nothing stored. */
    wg_dual d[N];
    for (size_t j = 0; j < N; j++) d[j] = wg_dual_input(p[j], j);
    const wg_dual forward = trajectory_range_dual(NULL, d);
    double tangents[N];
    for (size_t j = 0; j < N; j++) tangents[j] = wg_dual_tangent(forward, j);
    print("duals, forward", wg_dual_value(forward), tangents);

    /* The tape: all derivatives in one sweep back. */
    wg_tape *t = wg_tape_new(NULL);
    wg_real x[N];
    wg_status status = wg_inputs(t, N, p, x);
    if (status != WG_OK) {
        fprintf(stderr, "one_source_three_types: %s\n", wg_status_text(status));
        wg_tape_free(t);
        return EXIT_FAILURE;
    }
    const wg_real taped = trajectory_range_real(t, x);
    double adjoints[N];
    status = wg_reverse(t, taped);
    if (status == WG_OK) status = wg_adjoints(t, N, x, adjoints);
    if (status != WG_OK) {
        fprintf(stderr, "one_source_three_types: %s\n", wg_tape_message(t));
        wg_tape_free(t);
        return EXIT_FAILURE;
    }
    print("tape, reverse", wg_value(taped), adjoints);
    wg_tape_free(t);

    const int same = wg_dual_value(forward) == range && wg_value(taped) == range &&
                     difference(tangents, adjoints) <= rounding &&
                     difference(differences, adjoints) <= differencing;
    printf("%s\n", same ? "The three agree." : "The three disagree.");
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
