/* SPDX-License-Identifier: MIT */
/* Optimal control by single shooting: a pendulum is swung up by a weak motor. The cost of all
 * steps is a function of the controls; its gradient is a function, too, and becomes C for a
 * target that has neither this library nor a tape: with an argument, in the file of that name.
 * The loops over the steps stay loops in it.
 *
 *     examples/controller gradient.c */
#include <math.h>
#include <stdio.h>
#include <wengert.h>

enum { STEPS = 120 };
static const double DT = 0.05, STRONGEST = 2.5;

/* A step of the pendulum: angle and speed s, the control u. Gives the next state and the cost
 * of the step: far from upright is expensive, so is the motor. */
static wg_status step(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const wg_real angle = x[0], speed = x[1];
    (void)n, (void)m, (void)data;
    const wg_real torque = wg_let(t, wg_mul(STRONGEST, wg_tanh(x[2])));
    y[1] = wg_let(t, wg_add(speed, wg_mul(DT, wg_sub(torque, wg_add(wg_mul(9.81, wg_sin(angle)),
                                                                    wg_mul(0.1, speed))))));
    y[0] = wg_let(t, wg_add(angle, wg_mul(DT, y[1])));
    y[2] =
        wg_let(t, wg_add(wg_mul(DT, wg_add(1, wg_cos(y[0]))),
                         wg_add(wg_mul(1e-3, wg_square(y[1])), wg_mul(1e-4, wg_square(x[2])))));
    return WG_OK;
}

/* All steps, in one record: x is the start, then the controls. */
static wg_status shoot(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    const wg_callable *const k = data;
    const wg_state state = {"s", wg_mat_gather(t, 2, 1, x)};
    const wg_source from[] = {wg_from_state("s"),
                              wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, n - 2, x + 2)))};
    const wg_stage stage = {k, from};
    wg_mat result[2]; /* the last state, the cost */
    (void)m;
    const wg_status s = wg_scan(t, n - 2, 1, &stage, 1, &state, NULL, result);
    if (s == WG_OK) y[0] = wg_mat_at(result[1], 0, 0);
    return s;
}

static int failed(wg_tape *t, const char *what) {
    fprintf(stderr, "%s: %s\n", what, wg_tape_message(t));
    return 1;
}

static int write_text(wg_tape *t, const wg_function *gradient, const char *path) {
    const wg_emit_options options = {.name = "gradient", .entries = WG_EMIT_CASADI};
    FILE *const f = fopen(path, "w");
    if (f == NULL) return perror(path), 1;
    const wg_status s = wg_function_emit(t, gradient, &options, wg_write_file, f);
    if (fclose(f) != 0 || s != WG_OK) return failed(t, path);
    return 0;
}

int main(int argc, char **argv) {
    /* a loop of more than 1000 operations is to stay one */
    const wg_options options = {.flags = WG_KEEP_CODE, .loops_over = 1000};
    wg_tape *const t = wg_tape_new(&options);
    const wg_argument in[] = {{"s", 2, 1, 0}, {"u", 1, 1, 0}};
    const wg_argument out[] = {{"s", 2, 1, 0}, {"cost", 1, 1, WG_SUMMED}};
    const wg_argument all_in[] = {{"start", 2, 1, WG_PASSIVE}, {"u", STEPS, 1, 0}};
    const wg_argument all_out = {"cost", 1, 1, 0};
    const double at[3] = {0.1, 0, 0};
    double x[2 + STEPS] = {0, 0};
    wg_function *one = NULL, *f = NULL, *df = NULL;
    wg_minimise_step first;
    wg_minimise_result found;
    wg_callable *k = NULL;

    if (t == NULL) return 1;
    for (size_t i = 0; i < STEPS; i++) x[2 + i] = 0.1 * sin(0.15 * (double)i);
    if (wg_function_record(t, step, NULL, 2, in, at, 2, out, &one) != WG_OK ||
        wg_callable_new(t, one, &k) != WG_OK ||
        wg_function_record(t, shoot, k, 2, all_in, x, 1, &all_out, &f) != WG_OK ||
        wg_function_gradient(t, f, &df) != WG_OK)
        return failed(t, "recording");

    const wg_points points[] = {{x, 0, 1}, {x + 2, 0, 1}};
    const wg_minimise_options search = {.gradient = 1e-6, .history = &first, .history_size = 1};
    if (wg_function_minimise(t, f, 1, points, NULL, x + 2, &search, &found) != WG_OK)
        return failed(t, "search");
    printf("cost of %d steps: %.2f at first, %.2f after %zu iterations (%s)\n", STEPS,
           first.value, found.value, found.steps, wg_stop_text(found.why));
    size_t bytes = 0;
    if (wg_function_text(t, df, NULL, NULL, 0, &bytes) != WG_OK) return failed(t, "text");
    printf("its gradient as C: %zu lines' worth of 80 characters\n", (bytes + 79) / 80);
    const int status = argc > 1 ? write_text(t, df, argv[1]) : 0;

    wg_function_free(df), wg_function_free(f), wg_function_free(one);
    wg_callable_free(k);
    wg_tape_free(t);
    return status || !found.converged || !(found.value < 0.7 * first.value);
}
