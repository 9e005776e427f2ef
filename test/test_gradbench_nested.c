/* SPDX-License-Identifier: MIT */
/* The nested evals of the tool for GradBench, particle and saddle: one result in all four
 * combinations of modes, that of the same descent with derivatives written by hand. */
#define _DEFAULT_SOURCE /* setenv */
#include <float.h>
#include <math.h>

#include "gradbench_ask.h"
#include "tolerance.h"

static const char *const modes[] = {"ff", "fr", "rf", "rr"};

/* ---- the descent, of two unknowns, in plain C ---- */

struct landscape {
    double (*at)(const double *x, double *g, const void *data);
    const void *data;
    int n;
};

static double length(int n, const double *a) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * a[i];
    return sqrt(s);
}

static void descend(const struct landscape *l, double *x) {
    double g[2], to[2], at[2], step[2], f = l->at(x, g, l->data), eta = 1e-5;
    for (int steps = 0; length(l->n, g) > 1e-5;) {
        if (steps == 10) {
            eta *= 2;
            steps = 0;
        }
        for (int i = 0; i < l->n; i++) {
            at[i] = x[i] - eta * g[i];
            step[i] = x[i] - at[i];
        }
        if (length(l->n, step) <= 1e-5) return;
        const double next = l->at(at, to, l->data);
        if (next < f) {
            for (int i = 0; i < l->n; i++) x[i] = at[i], g[i] = to[i];
            f = next;
            steps++;
        } else {
            eta /= 2;
            steps = 0;
        }
    }
}

/* ---- saddle ---- */

static double height(const double *x, const double *y) {
    return x[0] * x[0] + x[1] * x[1] - (y[0] * y[0] + y[1] * y[1]);
}
static double below(const double *y, double *g, const void *x) {
    g[0] = 2 * y[0];
    g[1] = 2 * y[1];
    return -height(x, y);
}
static double largest(const double *x, double *g, const void *start) {
    double y[2];
    memcpy(y, start, sizeof y);
    const struct landscape l = {below, x, 2};
    descend(&l, y);
    g[0] = 2 * x[0];
    g[1] = 2 * x[1];
    return height(x, y);
}

static json_t *saddle_input(const double *start) {
    return json_pack("{s:o}", "start", array_of(2, start));
}

static void saddle_is_one_point_in_all_modes(void **state) {
    (void)state;
    static const double starts[][2] = {{1, 1}, {-2, 0.5}, {1e-7, 0}, {30, -1e3}, {0, 0}};
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        double want[4];
        memcpy(want, starts[k], 2 * sizeof *want);
        memcpy(want + 2, starts[k], 2 * sizeof *want);
        const struct landscape outer = {largest, starts[k], 2}, inner = {below, want, 2};
        descend(&outer, want);
        descend(&inner, want + 2);
        for (size_t mode = 0; mode < 4; mode++) {
            double p[4];
            answers("saddle", modes[mode], saddle_input(starts[k]), 2, 1, 4, p);
            for (int i = 0; i < 4; i++) near(1, &p[i], &want[i], TOL_PROGRAM_ULP);
        }
    }
}

/* What the suite compares with. */
static void saddle_is_that_of_the_suite(void **state) {
    (void)state;
    const double start[] = {1, 1}, want = 8.246324826140356e-06;
    for (size_t mode = 0; mode < 4; mode++) {
        double p[4];
        answers("saddle", modes[mode], saddle_input(start), 1, 1, 4, p);
        for (int i = 0; i < 4; i++) near(1, &p[i], &want, TOL_PROGRAM_ULP);
    }
}

/* ---- particle ---- */

/* The same with tangents: w is the last of three numbers of each place. */
static double miss(const double *wp, double *g, const void *data) {
    const double w = *wp, dt = 0.1;
    double x[2] = {0, 8}, v[2] = {0.75, 0}, dx[2] = {0, 0}, dv[2] = {0, 0};
    (void)data;
    while (x[1] + dt * v[1] > 0) {
        const double charge[2][2] = {{10, 10 - w}, {10, 0}}, dcharge[2][2] = {{0, -1}, {0, 0}};
        double a[2] = {0, 0}, da[2] = {0, 0};
        for (int k = 0; k < 2; k++) { /* a += d / r^3 */
            const double d[2] = {x[0] - charge[k][0], x[1] - charge[k][1]};
            const double dd[2] = {dx[0] - dcharge[k][0], dx[1] - dcharge[k][1]};
            const double r2 = d[0] * d[0] + d[1] * d[1], r3 = r2 * sqrt(r2);
            const double along = (d[0] * dd[0] + d[1] * dd[1]) / r2;
            for (int i = 0; i < 2; i++) {
                a[i] += d[i] / r3;
                da[i] += (dd[i] - 3 * along * d[i]) / r3;
            }
        }
        for (int i = 0; i < 2; i++) {
            x[i] += dt * v[i];
            dx[i] += dt * dv[i];
            v[i] += dt * a[i];
            dv[i] += dt * da[i];
        }
    }
    const double at = x[0] - x[1] / v[1] * v[0];
    *g = 2 * at * (dx[0] - x[1] / v[1] * dv[0] - v[0] * (dx[1] - x[1] / v[1] * dv[1]) / v[1]);
    return at * at;
}

/* Hundreds of steps, each feeding the next: rounding of one grows as the paths part. */
#define TOL_TRAJECTORY_ULP 1e5

static void particle_is_one_number_in_all_modes(void **state) {
    (void)state;
    static const double starts[] = {0, 0.5, 0.1};
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        double want = starts[k], w[4];
        const struct landscape l = {miss, NULL, 1};
        descend(&l, &want);
        for (size_t mode = 0; mode < 4; mode++) {
            answers("particle", modes[mode], json_pack("{s:f}", "w", starts[k]), mode ? 1 : 2,
                    1, 1, &w[mode]);
            near(1, &w[mode], &want, TOL_TRAJECTORY_ULP);
            near(1, &w[mode], w, TOL_TRAJECTORY_ULP);
        }
    }
}

static void particle_is_that_of_the_suite(void **state) {
    (void)state;
    const double want = 0.2071918746486116;
    for (size_t mode = 0; mode < 4; mode++) {
        double w;
        answers("particle", modes[mode], json_pack("{s:f}", "w", 0.0), 1, 1, 1, &w);
        near(1, &w, &want, TOL_TRAJECTORY_ULP);
    }
}

/* ---- refusals ---- */

static void inputs_that_do_not_fit_are_refused_in_words(void **state) {
    (void)state;
    static const char *const wrong[][3] = {
        {"saddle", "{}", "start: is missing"},
        {"saddle", "{\"start\": [1]}", "start: 2 entries are wanted, not 1"},
        {"saddle", "{\"start\": [1, 2, 3]}", "start: 2 entries are wanted, not 3"},
        {"saddle", "{\"start\": [1, null]}", "start[1]: a number is wanted, not null"},
        /* the gradient overflows: no step is ever short */
        {"saddle", "{\"start\": [1e308, 1.7e308]}", "did not converge"},
        {"particle", "{}", "w: is missing"},
        {"particle", "{\"w\": [0]}", "w: a number is wanted, not an array"},
        /* the particle flies away */
        {"particle", "{\"w\": -0.4}", "did not converge"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        for (size_t mode = 0; mode < 4; mode += 3)
            refuses(wrong[k][0], modes[mode], wrong[k][1], wrong[k][2]);
    refuses("particle", "primal", "{\"w\": 0}", "has no function");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saddle_is_one_point_in_all_modes),
        cmocka_unit_test(saddle_is_that_of_the_suite),
        cmocka_unit_test(particle_is_one_number_in_all_modes),
        cmocka_unit_test(particle_is_that_of_the_suite),
        cmocka_unit_test(inputs_that_do_not_fit_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, without_compiler, NULL);
}
