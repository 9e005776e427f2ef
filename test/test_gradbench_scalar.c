/* SPDX-License-Identifier: MIT */
/* Scalar evals of the tool for GradBench: det, lse, llsq, ode, lstm, against what is known of
 * their derivatives otherwise. */
#define _DEFAULT_SOURCE /* setenv */
#include <float.h>
#include <math.h>

#include "gradbench_ask.h"
#include "oracle_text.h"
#include "tolerance.h"

static const char *oracles = "test/data/adbench_like.txt";

/* ---- lse ---- */

enum { MANY = 10007 };

static json_t *lse_input(size_t n, const double *x) {
    return json_pack("{s:o}", "x", array_of(n, x));
}

static void lse_has_softmax_as_its_gradient(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 300, MANY};
    static double x[MANY], g[MANY], want[MANY];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int far = 0; far < 2; far++) { /* numbers whose exponentials overflow */
            const size_t n = sizes[k];
            double y;
            long double s = 0;
            draw_numbers(n, x, far ? -800 : 0, far ? 800 : 1);
            for (size_t i = 0; i < n; i++) s += expl(x[i]);
            for (size_t i = 0; i < n; i++) want[i] = (double)(expl(x[i]) / s);
            answers("lse", "primal", lse_input(n, x), 1, 1, 1, &y);
            near(1, &y, (const double[]){(double)logl(s)}, TOL_PROGRAM_ULP);
            answers("lse", "gradient", lse_input(n, x), 2, 1, n, g);
            near(n, g, want, TOL_PROGRAM_ULP);
        }
}

static void ties_for_the_largest_are_equal(void **state) {
    (void)state;
    static const double x[] = {1, 3, 3, -1000, 3}, want[] = {0, 1, 1, 0, 1};
    double g[5], sum = 0;
    answers("lse", "gradient", lse_input(5, x), 1, 1, 5, g);
    for (int i = 0; i < 5; i++) sum += g[i];
    assert_true(g[1] == g[2] && g[2] == g[4]);
    assert_true(g[3] == want[3]);
    near(1, &sum, (const double[]){1}, TOL_VALUE_ULP);
}

/* ---- llsq ---- */

static json_t *llsq_input(size_t m, const double *x, size_t n) {
    return json_pack("{s:o, s:I}", "x", array_of(m, x), "n", (json_int_t)n);
}

/* The sum of the squares, halved, and its gradient. */
static double llsq(size_t m, const double *x, size_t n, double *g) {
    long double y = 0, sums[64] = {0};
    for (size_t i = 0; i < n; i++) {
        const long double t = 2.0L * (long double)i / (long double)(n - 1) - 1;
        long double r = (t > 0) - (t < 0), power = 1;
        for (size_t j = 0; j < m; j++, power *= t) r -= x[j] * power;
        y += r * r / 2;
        power = 1;
        for (size_t j = 0; j < m; j++, power *= t) sums[j] -= r * power;
    }
    for (size_t j = 0; j < m; j++) g[j] = (double)sums[j];
    return (double)y;
}

static void llsq_has_the_moments_of_its_residuals_as_gradient(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{1, 2}, {3, 17}, {64, 1000}, {10, 5000}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t m = sizes[k][0], n = sizes[k][1];
        double x[64], g[64], want[64], y;
        draw_numbers(m, x, -1, 1);
        const double value = llsq(m, x, n, want);
        answers("llsq", "primal", llsq_input(m, x, n), 1, 1, 1, &y);
        near(1, &y, &value, TOL_PROGRAM_ULP);
        answers("llsq", "gradient", llsq_input(m, x, n), 2, 1, m, g);
        near(m, g, want, TOL_PROGRAM_ULP);
    }
}

static void no_coefficient_and_no_point_will_do(void **state) {
    (void)state;
    const double x[] = {1, 2};
    double y, g[2];
    answers("llsq", "primal", llsq_input(0, x, 3), 1, 1, 1, &y);
    assert_true(y == 1); /* the squares of -1, 0 and 1, halved */
    answers("llsq", "gradient", llsq_input(0, x, 3), 1, 1, 0, g);
    answers("llsq", "gradient", llsq_input(2, x, 0), 1, 1, 2, g);
    assert_true(g[0] == 0 && g[1] == 0);
}

/* ---- ode ---- */

enum { EQUATIONS = 500 };

static json_t *ode_input(size_t n, const double *x, size_t s) {
    return json_pack("{s:o, s:I}", "x", array_of(n, x), "s", (json_int_t)s);
}

/* Of order four, the method is exact for the first four equations: polynomials of time. */
static void ode_is_exact_for_four_equations(void **state) {
    (void)state;
    const double x[] = {0.5, 1.25, -0.75, 1.5};
    for (size_t n = 1; n <= 4; n++)
        for (size_t s = 1; s <= 7; s += 3) {
            double y[4], g[4], want[4], product = 1;
            for (size_t i = 0; i < n; i++) {
                product *= 2 * x[i] / (double)(i + 1);
                want[i] = product;
            }
            answers("ode", "primal", ode_input(n, x, s), 1, 1, n, y);
            near(n, y, want, TOL_PROGRAM_ULP);
            for (size_t i = 0; i < n; i++) want[i] = product / x[i];
            answers("ode", "gradient", ode_input(n, x, s), 2, 1, n, g);
            near(n, g, want, TOL_PROGRAM_ULP);
        }
}

/* The last y is linear in each x: its derivative is its value where that x is 1, and 0 where an
 * x before the last so many is looked at, from which nothing has arrived. */
static void the_last_equation_is_linear_in_each_number(void **state) {
    (void)state;
    static double x[EQUATIONS], y[EQUATIONS], g[EQUATIONS];
    static const size_t sizes[][2] = {{6, 2}, {11, 5}, {40, 16}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k][0], s = sizes[k][1];
        double want[40];
        draw_numbers(n, x, 0.5, 2);
        for (size_t i = 0; i < n; i++) {
            const double kept = x[i];
            x[i] = 1;
            answers("ode", "primal", ode_input(n, x, s), 1, 1, n, y);
            want[i] = y[n - 1];
            x[i] = kept;
        }
        answers("ode", "gradient", ode_input(n, x, s), 1, 1, n, g);
        for (size_t i = 0; i < n; i++) near(1, &g[i], &want[i], TOL_PROGRAM_ULP * (double)s);
        assert_true(want[0] > 0);
    }
    /* 4 s equations are reached in s steps */
    draw_numbers(EQUATIONS, x, 0.5, 2);
    answers("ode", "gradient", ode_input(EQUATIONS, x, 3), 1, 1, EQUATIONS, g);
    for (size_t i = 0; i < EQUATIONS; i++) assert_true(g[i] == 0);
}

/* ---- det ---- */

enum { ORDERS = 7 };

static json_t *det_input(size_t n, const double *a) {
    return json_pack("{s:o, s:I}", "A", array_of(n * n, a), "ell", (json_int_t)n);
}

/* By elimination, without pivots. */
static long double eliminate(size_t n, long double *a) {
    long double det = 1;
    for (size_t k = 0; k < n; k++) {
        det *= a[k * n + k];
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = n; j-- > k;)
                a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
    }
    return det;
}

static void det_has_its_cofactors_as_gradient(void **state) {
    (void)state;
    double a[ORDERS * ORDERS], g[ORDERS * ORDERS], want[ORDERS * ORDERS], y;
    long double b[ORDERS * ORDERS];
    for (size_t n = 1; n <= ORDERS; n++) {
        draw_numbers(n * n, a, -1, 1);
        for (size_t i = 0; i < n; i++) a[i * n + i] += 3;
        for (size_t i = 0; i < n * n; i++) b[i] = a[i];
        const double det = (double)eliminate(n, b);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) { /* row i becomes a unit vector */
                for (size_t k = 0; k < n * n; k++) b[k] = a[k];
                for (size_t k = 0; k < n; k++) b[i * n + k] = k == j;
                for (size_t k = 0; k < n; k++) /* and comes last, column j as well */
                    for (size_t l = i; l + 1 < n; l++) {
                        const long double row = b[l * n + k];
                        b[l * n + k] = b[(l + 1) * n + k];
                        b[(l + 1) * n + k] = row;
                    }
                for (size_t k = 0; k < n; k++)
                    for (size_t l = j; l + 1 < n; l++) {
                        const long double column = b[k * n + l];
                        b[k * n + l] = b[k * n + l + 1];
                        b[k * n + l + 1] = column;
                    }
                want[i * n + j] = (double)eliminate(n, b) * ((i + j) % 2 ? -1 : 1);
            }
        answers("det", "primal", det_input(n, a), 1, 1, 1, &y);
        near(1, &y, &det, TOL_PROGRAM_ULP);
        answers("det", "gradient", det_input(n, a), 2, 1, n * n, g);
        near(n * n, g, want, TOL_PROGRAM_ULP);
    }
}

static void singular_matrices_have_a_gradient(void **state) {
    (void)state;
    const double zeros[9] = {0}, rank_one[] = {1, 2, 2, 4}, want[] = {4, -2, -2, 1};
    double g[9];
    answers("det", "gradient", det_input(3, zeros), 1, 1, 9, g);
    for (int i = 0; i < 9; i++) assert_true(g[i] == 0);
    answers("det", "gradient", det_input(2, rank_one), 1, 1, 4, g);
    near(4, g, want, 0);
}

/* ---- lstm ---- */

static json_t *lstm_input(size_t layers, size_t chars, size_t b, const double *x,
                          const double *state, const double *sequence) {
    return json_pack("{s:o, s:o, s:o, s:o}", "main_params", matrix_of(2 * layers, 4 * b, x),
                     "extra_params", matrix_of(3, b, x + 8 * layers * b), "state",
                     matrix_of(2 * layers, b, state), "sequence",
                     matrix_of(chars, b, sequence));
}

static void lstm_is_that_of_the_oracle(void **state) {
    (void)state;
    FILE *in = fopen(oracles, "r");
    struct oracle_case c;
    size_t found = 0;
    assert_non_null(in);
    while (oracle_case_read(in, &c) == 1) {
        if (strcmp(c.name, "lstm") == 0) {
            const size_t layers = (size_t)atoi(oracle_case_param(&c, "layers"));
            const size_t chars = (size_t)atoi(oracle_case_param(&c, "chars"));
            const size_t b = (size_t)atoi(oracle_case_param(&c, "bits"));
            const struct oracle_array *const x = oracle_case_array(&c, "in", "x");
            const double *const start = oracle_case_array(&c, "data", "state")->v;
            const double *const sequence = oracle_case_array(&c, "data", "sequence")->v;
            double *const g = malloc(x->count * sizeof *g), y;
            answers("lstm", "objective", lstm_input(layers, chars, b, x->v, start, sequence), 1,
                    1, 1, &y);
            near(1, &y, oracle_case_array(&c, "ref", "F")->v, TOL_PROGRAM_ULP);
            answers("lstm", "jacobian", lstm_input(layers, chars, b, x->v, start, sequence), 2,
                    1, x->count, g);
            near(x->count, g, oracle_case_array(&c, "ref", "grad")->v, TOL_PROGRAM_ULP);
            free(g);
            found++;
        }
        oracle_case_free(&c);
    }
    (void)fclose(in);
    assert_int_equal(found, 2);
}

/* Central differences of the objective, of three layers. */
static void layers_are_as_many_as_there_are_rows(void **state) {
    (void)state;
    enum { LAYERS = 3, CHARS = 9, BITS = 9, N = (8 * LAYERS + 3) * BITS };
    static double x[N], start[2 * LAYERS * BITS], sequence[CHARS * BITS], g[N];
    const double h = 0x1p-14;
    draw_numbers(N, x, 0, 1);
    draw_numbers(2 * LAYERS * BITS, start, 0, 1);
    draw_numbers(CHARS * BITS, sequence, 0, 2);
    for (size_t i = 0; i < CHARS * BITS; i++) sequence[i] = floor(sequence[i]);
    answers("lstm", "jacobian", lstm_input(LAYERS, CHARS, BITS, x, start, sequence), 1, 1, N,
            g);
    for (size_t i = 0; i < N; i += 7) {
        const double kept = x[i];
        double y[2];
        for (int side = 0; side < 2; side++) {
            x[i] = kept + (side ? h : -h);
            answers("lstm", "objective", lstm_input(LAYERS, CHARS, BITS, x, start, sequence), 1,
                    1, 1, &y[side]);
        }
        x[i] = kept;
        /* truncation h^2, rounding DBL_EPSILON/h */
        assert_true(fabs((y[1] - y[0]) / (2 * h) - g[i]) <= h * h);
    }
}

/* ---- all ---- */

static void threads_give_the_same_bits(void **state) {
    (void)state;
    enum { N = 70000 }; /* as many as threads are made for */
    static double x[N], one[N], several[N];
    draw_numbers(N, x, 0, 1);
    for (unsigned threads = 2; threads <= 3; threads++) {
        answers("lse", "gradient", lse_input(N, x), 1, 1, N, one);
        answers("lse", "gradient", lse_input(N, x), 2, threads, N, several);
        assert_memory_equal(one, several, sizeof one);
        answers("llsq", "gradient", llsq_input(40, x, N), 1, 1, 40, one);
        answers("llsq", "gradient", llsq_input(40, x, N), 2, threads, 40, several);
        assert_memory_equal(one, several, 40 * sizeof *one);
        answers("ode", "gradient", ode_input(N, x, 2), 1, 1, N, one);
        answers("ode", "gradient", ode_input(N, x, 2), 2, threads, N, several);
        assert_memory_equal(one, several, sizeof one);
    }
}

static void inputs_that_do_not_fit_are_refused_in_words(void **state) {
    (void)state;
    static const char *const wrong[][4] = {
        {"lse", "gradient", "{}", "x: is missing"},
        {"lse", "gradient", "7", "x: is missing"},
        {"lse", "primal", "{\"x\": []}", "x: at least one number is wanted"},
        {"lse", "gradient", "{\"x\": [1, \"a\"]}", "x[1]: a number is wanted, not a string"},
        {"lse", "gradient", "{\"x\": [[1]]}", "x[0]: a number is wanted, not an array"},
        {"llsq", "gradient", "{\"x\": [1]}", "n: is missing"},
        {"llsq", "gradient", "{\"x\": [1], \"n\": -1}", "n: a whole number"},
        {"llsq", "gradient", "{\"x\": [1], \"n\": 2.5}", "n: a whole number"},
        {"llsq", "gradient", "{\"x\": [1], \"n\": 9e15}", "n: at most"},
        {"llsq", "gradient", "{\"x\": [1], \"n\": 1}", "not finite"},
        {"llsq", "gradient", "{\"x\": 1, \"n\": 1}", "x: an array is wanted"},
        {"ode", "gradient", "{\"x\": [], \"s\": 1}", "x: at least one number is wanted"},
        {"ode", "gradient", "{\"x\": [1], \"s\": 0}", "s: at least one step is wanted"},
        {"ode", "primal", "{\"x\": [1], \"s\": [1]}", "s: a number is wanted, not an array"},
        {"ode", "primal", "{\"x\": [1]}", "s: is missing"},
        {"det", "gradient", "{\"A\": [], \"ell\": 0}", "ell: 1 to"},
        {"det", "gradient", "{\"A\": [1], \"ell\": 100}", "ell: 1 to"},
        {"det", "gradient", "{\"A\": [1, 2, 3], \"ell\": 2}", "A: 4 entries are wanted, not 3"},
        {"det", "primal", "{\"A\": [[1]], \"ell\": 1}", "A[0]: a number is wanted"},
        {"det", "primal", "{\"A\": [1]}", "ell: is missing"},
        {"lstm", "jacobian", "{}", "main_params: is missing"},
        {"lstm", "jacobian", "{\"main_params\": []}", "main_params: two rows per layer"},
        {"lstm", "jacobian", "{\"main_params\": [[1, 2, 3, 4]]}", "main_params: two rows"},
        {"lstm", "jacobian", "{\"main_params\": [[], []]}", "main_params: rows of four times"},
        {"lstm", "jacobian", "{\"main_params\": [[1, 2, 3], [4, 5, 6]]}",
         "main_params: rows of four times"},
        {"lstm", "jacobian", "{\"main_params\": [[1, 2, 3, 4], [1, 2, 3]]}",
         "main_params[1]: 4 entries are wanted, not 3"},
        {"lstm", "jacobian",
         "{\"main_params\": [[1, 2, 3, 4], [1, 2, 3, 4]], \"extra_params\": [[1], [2]]}",
         "extra_params: 3 entries are wanted, not 2"},
        {"lstm", "jacobian",
         "{\"main_params\": [[1, 2, 3, 4], [1, 2, 3, 4]], \"extra_params\": [[1], [2], [3]],"
         " \"state\": [[1]]}",
         "state: 2 entries are wanted, not 1"},
        {"lstm", "objective",
         "{\"main_params\": [[1, 2, 3, 4], [1, 2, 3, 4]], \"extra_params\": [[1], [2], [3]],"
         " \"state\": [[1], [1]], \"sequence\": [[1]]}",
         "sequence: two characters at least are wanted"},
        {"lstm", "objective",
         "{\"main_params\": [[1, 2, 3, 4], [1, 2, 3, 4]], \"extra_params\": [[1], [2], [3]],"
         " \"state\": [[1], [1]], \"sequence\": [[1], [1, 2]]}",
         "sequence[1]: 1 entries are wanted, not 2"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refuses(wrong[k][0], wrong[k][1], wrong[k][2], wrong[k][3]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lse_has_softmax_as_its_gradient),
        cmocka_unit_test(ties_for_the_largest_are_equal),
        cmocka_unit_test(llsq_has_the_moments_of_its_residuals_as_gradient),
        cmocka_unit_test(no_coefficient_and_no_point_will_do),
        cmocka_unit_test(ode_is_exact_for_four_equations),
        cmocka_unit_test(the_last_equation_is_linear_in_each_number),
        cmocka_unit_test(det_has_its_cofactors_as_gradient),
        cmocka_unit_test(singular_matrices_have_a_gradient),
        cmocka_unit_test(lstm_is_that_of_the_oracle),
        cmocka_unit_test(layers_are_as_many_as_there_are_rows),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(inputs_that_do_not_fit_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, without_compiler, NULL);
}
