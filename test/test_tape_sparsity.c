/* SPDX-License-Identifier: MIT */
/* test_tape_sparsity.c - sparse Jacobians and Hessians: patterns and values against an oracle,
 * and random sparse programs against the dense drivers. */
#include "oracle_text.h"
#include "sparse_case.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

/* ---- the functions of the oracle; data: the size of a grid ------------------------------- */

#define FUNCTION(name)                                                                         \
    static wg_status name(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,        \
                          void *data)
#define UNUSED(...) unused((const void *[]){__VA_ARGS__}[0])
static void unused(const void *p) { (void)p; }

FUNCTION(chained_rosenbrock) {
    (void)m, UNUSED(data);
    wg_real sum = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++) {
        const wg_real r = wg_let(t, wg_sub(x[i + 1], wg_square(x[i])));
        sum = wg_let(
            t, wg_add(sum, wg_add(wg_mul(100, wg_square(r)), wg_square(wg_sub(1, x[i])))));
    }
    y[0] = sum;
    return WG_OK;
}

FUNCTION(arrowhead) {
    (void)m, UNUSED(data);
    wg_real sum = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++) {
        const wg_real s = wg_let(t, wg_add(wg_square(x[i]), wg_square(x[n - 1])));
        sum = wg_let(t, wg_add(sum, wg_add(wg_sub(wg_square(s), wg_mul(4, x[i])), 3)));
    }
    y[0] = sum;
    return WG_OK;
}

FUNCTION(block_diagonal5) {
    (void)m, UNUSED(data);
    wg_real sum = wg_constant(0);
    for (size_t b = 0; b + 5 <= n; b += 5) {
        sum = wg_let(t, wg_add(sum, wg_exp(wg_mean(t, 5, x + b))));
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < i; j++)
                sum = wg_let(t, wg_add(sum, wg_mul(wg_square(x[b + i]), wg_square(x[b + j]))));
    }
    y[0] = sum;
    return WG_OK;
}

FUNCTION(pentadiagonal) {
    (void)m, UNUSED(data);
    wg_real sum = wg_constant(0);
    for (size_t i = 0; i + 2 < n; i++)
        sum = wg_let(t, wg_add(sum, wg_mul(wg_mul(x[i], x[i + 1]), x[i + 2])));
    for (size_t i = 0; i < n; i++)
        sum = wg_let(t, wg_add(sum, wg_div(wg_square(wg_square(x[i])), 4)));
    y[0] = sum;
    return WG_OK;
}

FUNCTION(mostly_linear) {
    (void)m, UNUSED(data);
    y[0] = wg_let(
        t, wg_add(wg_sum(t, n, x), wg_add(wg_mul(x[0], x[1]), wg_mul(wg_exp(x[2]), x[4]))));
    return WG_OK;
}

FUNCTION(bratu2d) {
    const size_t k = *(const size_t *)data;
    const double h = 1 / ((double)k + 1);
    (void)n, (void)m;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            const wg_real *const u = &x[i * k + j];
            wg_real f = wg_let(t, wg_sub(wg_mul(4, *u), wg_mul(h * h * 6, wg_exp(*u))));
            if (i > 0) f = wg_let(t, wg_sub(f, u[-(ptrdiff_t)k]));
            if (i + 1 < k) f = wg_let(t, wg_sub(f, u[k]));
            if (j > 0) f = wg_let(t, wg_sub(f, u[-1]));
            if (j + 1 < k) f = wg_let(t, wg_sub(f, u[1]));
            y[i * k + j] = f;
        }
    return WG_OK;
}

static wg_real laplacian(wg_tape *t, size_t k, const wg_real *u, size_t i, size_t j) {
    const wg_real *const up = u + (i + k - 1) % k * k, *const down = u + (i + 1) % k * k;
    const wg_real *const row = u + i * k;
    return wg_let(t, wg_sub(wg_add(wg_add(up[j], down[j]),
                                   wg_add(row[(j + k - 1) % k], row[(j + 1) % k])),
                            wg_mul(4, row[j])));
}

FUNCTION(brusselator2d) {
    const size_t k = *(const size_t *)data, cells = k * k;
    const double c = ((double)k - 1) * ((double)k - 1) / 10;
    (void)n, (void)m;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            const wg_real u = x[i * k + j], v = x[cells + i * k + j];
            const wg_real uv = wg_let(t, wg_mul(wg_square(u), v));
            y[i * k + j] = wg_let(t, wg_add(wg_sub(wg_add(1, uv), wg_mul(4.4, u)),
                                            wg_mul(c, laplacian(t, k, x, i, j))));
            y[cells + i * k + j] =
                wg_let(t, wg_add(wg_sub(wg_mul(3.4, u), uv),
                                 wg_mul(c, laplacian(t, k, x + cells, i, j))));
        }
    return WG_OK;
}

FUNCTION(broyden_banded) {
    (void)m, UNUSED(data);
    for (size_t i = 0; i < n; i++) {
        wg_real f = wg_let(t, wg_add(wg_mul(x[i], wg_add(2, wg_mul(5, wg_square(x[i])))), 1));
        for (size_t j = i < 5 ? 0 : i - 5; j <= i + 1 && j < n; j++)
            if (j != i) f = wg_let(t, wg_sub(f, wg_mul(x[j], wg_add(1, x[j]))));
        y[i] = f;
    }
    return WG_OK;
}

FUNCTION(dense_row_col) {
    (void)m, UNUSED(data);
    for (size_t i = 0; i + 1 < n; i++)
        y[i] = wg_let(t, wg_add(wg_square(x[i]), wg_mul(x[0], x[i])));
    y[n - 1] = wg_squared_norm(t, n, x);
    return WG_OK;
}

FUNCTION(pairs_rectangular) {
    (void)n, UNUSED(data);
    for (size_t k = 0; k < m; k++)
        y[k] = k == 1 ? wg_constant(7) : wg_let(t, wg_mul(x[2 * k], x[2 * k + 1]));
    return WG_OK;
}

static const struct {
    const char *name;
    wg_callback *f;
    int hessian;
} functions[] = {
    {"chained_rosenbrock", chained_rosenbrock, 1}, {"arrowhead", arrowhead, 1},
    {"block_diagonal5", block_diagonal5, 1},       {"pentadiagonal", pentadiagonal, 1},
    {"mostly_linear", mostly_linear, 1},           {"bratu2d", bratu2d, 0},
    {"brusselator2d", brusselator2d, 0},           {"broyden_banded", broyden_banded, 0},
    {"dense_row_col", dense_row_col, 0},           {"pairs_rectangular", pairs_rectangular, 0},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, CASES = 15 };

static struct oracle_case oracle;

static const double *reference(const char *role, const char *key, size_t count) {
    const struct oracle_array *const a = oracle_case_array(&oracle, role, key);
    assert_non_null(a);
    assert_int_equal(a->count, count);
    return a->v;
}
static size_t parameter(const char *key) {
    const char *const text = oracle_case_param(&oracle, key);
    return text != NULL ? (size_t)strtoul(text, NULL, 10) : 0;
}

static void assert_all_close(size_t n, const double *got, const double *want) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(want[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * largest))
            fail_msg("%s: number %zu is %.17g, not %.17g", oracle.name, i, got[i], want[i]);
}

static void check_case_of_oracle(wg_callback *f, int hessian) {
    size_t grid = parameter("N");
    const size_t n = parameter("n"), m = parameter("m"), entries = parameter("nnz");
    const double *const x = reference("in", "x", n);
    const double *const row = reference("ref", "rows", entries);
    const double *const col = reference("ref", "cols", entries);
    double *const values = numbers(entries), *const y = numbers(m), *const g = numbers(n);
    wg_sparsity *s;
    ok(tape, hessian ? wg_hessian_sparsity(tape, f, &grid, n, x, m, 'L', WG_ROW_MAJOR, &s)
                     : wg_jacobian_sparsity(tape, f, &grid, n, x, m, WG_ROW_MAJOR, &s));
    const wg_pattern *const p = wg_sparsity_pattern(s);
    assert_int_equal(p->entries, entries); /* as sharp as by hand */
    for (size_t k = 0; k < entries; k++)
        assert_true((double)p->row[k] == row[k] && (double)p->col[k] == col[k]);
    assert_in_order(p);
    assert_plan(s);
    ok(tape, hessian ? wg_sparse_hessian(tape, s, f, &grid, x, NULL, y, g, values)
                     : wg_sparse_jacobian(tape, s, f, &grid, x, y, values));
    assert_all_close(entries, values, reference("ref", "vals", entries));
    if (hessian) assert_all_close(1, y, reference("ref", "f", 1));
    else assert_all_close(m, y, reference("ref", "F", m));
    if (hessian) assert_all_close(n, g, reference("ref", "grad", n));
    wg_sparsity_free(s);
    free(values), free(y), free(g);
}

static void functions_of_the_oracle_have_its_patterns_and_values(void **state) {
    FILE *const in = fopen(TEST_DATA "sparse.txt", "r");
    int cases = 0, got;
    (void)state;
    assert_non_null(in);
    while ((got = oracle_case_read(in, &oracle)) == 1) {
        int claimed = 0;
        for (size_t i = 0; i < FUNCTIONS; i++) {
            if (strcmp(functions[i].name, oracle.name) != 0) continue;
            check_case_of_oracle(functions[i].f, functions[i].hessian);
            claimed = 1;
        }
        if (!claimed) fail_msg("%s: not claimed", oracle.name);
        oracle_case_free(&oracle);
        cases++;
    }
    fclose(in);
    assert_int_equal(got, 0);
    assert_int_equal(cases, CASES);
}

/* ---- how many colours -------------------------------------------------------------------- */

static size_t colours_of(wg_callback *f, void *data, size_t n, size_t m, int hessian) {
    double *const x = numbers(n);
    wg_sparsity *s;
    for (size_t i = 0; i < n; i++) x[i] = 0.3 + 0.01 * (double)(i % 7);
    ok(tape, hessian ? wg_hessian_sparsity(tape, f, data, n, x, m, 'L', WG_ROW_MAJOR, &s)
                     : wg_jacobian_sparsity(tape, f, data, n, x, m, WG_ROW_MAJOR, &s));
    const size_t colours = wg_sparsity_colours(s);
    assert_plan(s);
    wg_sparsity_free(s);
    free(x);
    return colours;
}

FUNCTION(sum_of_squares) {
    (void)m, UNUSED(data);
    y[0] = wg_squared_norm(t, n, x);
    return WG_OK;
}

static void colours_are_as_few_as_sweeps_need(void **state) {
    (void)state;
    size_t grid = 20;
    assert_int_equal(colours_of(chained_rosenbrock, NULL, 500, 1, 1), 3);
    assert_int_equal(colours_of(arrowhead, NULL, 500, 1, 1), 2);
    assert_int_equal(colours_of(sum_of_squares, NULL, 500, 1, 1), 1);
    assert_true(colours_of(pentadiagonal, NULL, 500, 1, 1) <= 8);
    assert_true(colours_of(bratu2d, &grid, 400, 400, 0) <= 8);
    assert_true(colours_of(broyden_banded, NULL, 300, 300, 0) <= 8);
    assert_int_equal(colours_of(sum_of_squares, NULL, 500, 1, 0), 1); /* by rows */
    assert_int_equal(colours_of(dense_row_col, NULL, 30, 30, 0), 3);
    assert_int_equal(colours_of(dense_row_col, NULL, 200, 200, 0), 3);
}

/* ---- random sparse programs -------------------------------------------------------------- */

static uint64_t random_state;
static size_t any_of(size_t n) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(random_state >> 33) % n;
}

struct shape {
    uint64_t seed;
    size_t steps;
    const double *w;
};

static wg_real one_step(wg_tape *t, const wg_real *v, size_t first, size_t n) {
    const wg_real a = v[first + any_of(n)], b = v[first + any_of(n)], c = v[first + any_of(n)];
    switch (any_of(14)) {
    case 0:
        return wg_let(t, wg_mul(a, b));
    case 1:
        return wg_let(t, wg_add(wg_sin(a), wg_mul(0.5, b)));
    case 2:
        return wg_let(t, wg_div(a, wg_add(3, wg_square(b))));
    case 3:
        return wg_let(t, wg_sub(wg_mul(a, b), wg_mul(a, b))); /* 0, and in the pattern */
    case 4:
        return wg_let(t, wg_select_lt(a, b, wg_cos(c), wg_mul(0.25, a)));
    case 5:
        return wg_let(t, wg_add(wg_floor(wg_mul(a, b)), c));
    case 6:
        return wg_let(t, wg_fma(a, b, c));
    case 7:
        return wg_let(t, wg_add(wg_add(a, b), wg_tanh(wg_sub(c, a))));
    case 8:
        return wg_let(t, wg_fmax(a, wg_mul(b, 0.5)));
    case 9:
        return wg_dot(t, 2, (const wg_real[]){a, b}, (const wg_real[]){c, a});
    case 10:
        return wg_polynomial(t, 3, (const wg_real[]){a, b, c}, b);
    case 11:
        return wg_mean(t, 3, (const wg_real[]){a, b, c});
    case 12:
        return wg_squared_norm(t, 2, (const wg_real[]){a, c});
    default:
        return wg_let(t, wg_tanh(a));
    }
}

/* Steps over a window that goes along the variables: outputs depend on few inputs, now and then
 * on many. */
FUNCTION(random_program) {
    const struct shape *const p = data;
    wg_real *const v = malloc((n + p->steps + 1) * sizeof *v);
    assert_non_null(v);
    random_state = p->seed;
    if (n != 0) memcpy(v, x, n * sizeof *v);
    const size_t window = 2 + any_of(12);
    for (size_t s = 0; s < p->steps && n != 0; s++) {
        const size_t have = n + s, size = any_of(20) == 0 || have < window ? have : window;
        size_t first = any_of(3) == 0 ? have - size : any_of(have - size + 1);
        v[have] = one_step(t, v, first, size);
        v[have] = wg_let(t, wg_tanh(v[have])); /* bounded */
    }
    for (size_t j = 0; j < m; j++)
        y[j] = n == 0 || any_of(9) == 0 ? wg_constant(2) : v[any_of(n + p->steps)];
    free(v);
    return WG_OK;
}

FUNCTION(weighted_program) {
    const struct shape *const p = data;
    wg_real *const all = malloc((p->steps + 1) * sizeof *all);
    const size_t outputs = p->steps;
    (void)m;
    assert_non_null(all);
    struct shape inner = *p;
    inner.steps = 3 * outputs;
    const wg_status s = random_program(t, n, x, outputs, all, &inner);
    y[0] = wg_linear(t, outputs, p->w, all);
    free(all);
    return s;
}

static void random_programs_have_the_dense_jacobian(void **state) {
    (void)state;
    enum { MOST = 60 };
    double x[MOST], other[MOST];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_state = seed * 77;
        struct shape p = {seed, any_of(150), NULL};
        const size_t n = any_of(MOST + 1), m = any_of(40);
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)any_of(1000) / 500 - 1;
            other[i] = (double)any_of(1000) / 500 - 1;
        }
        wg_sparsity_free(check_jacobian(random_program, &p, n, x, other, m,
                                        seed % 2 ? WG_ROW_MAJOR : WG_COL_MAJOR));
    }
}

static void random_programs_have_the_dense_hessian(void **state) {
    (void)state;
    enum { MOST = 40, OUTPUTS = 30 };
    double x[MOST], other[MOST], w[OUTPUTS];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        random_state = seed * 99;
        const size_t n = any_of(MOST + 1), m = any_of(OUTPUTS);
        for (size_t j = 0; j < m; j++) w[j] = (double)any_of(9) - 4;
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)any_of(1000) / 500 - 1;
            other[i] = (double)any_of(1000) / 500 - 1;
        }
        struct shape p = {seed, 3 * m, NULL}, weighted = {seed, m, w};
        wg_sparsity_free(check_hessian(random_program, &p, n, x, other, m, w, "LUF"[seed % 3],
                                       seed % 2 ? WG_ROW_MAJOR : WG_COL_MAJOR, weighted_program,
                                       &weighted));
    }
}

/* ---- sizes ------------------------------------------------------------------------------- */

/* A chain of sums, of which every tenth is an output: rows become long. */
FUNCTION(running_sum) {
    wg_real sum = wg_constant(0);
    UNUSED(data);
    for (size_t i = 0; i < n; i++) {
        sum = wg_let(t, wg_add(wg_mul(0.9, sum), wg_sin(x[i])));
        if (i % 10 == 9 && i / 10 < m) y[i / 10] = sum;
    }
    return WG_OK;
}

/* A recurrence over few inputs, read by all outputs. */
FUNCTION(shared_chain) {
    wg_real s = wg_constant(1);
    UNUSED(data);
    for (size_t k = 0; k < 20 * n; k++) s = wg_let(t, wg_sin(wg_add(s, x[k % n])));
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(s, x[j % n]));
    return WG_OK;
}

static void long_rows_are_found_and_shared(void **state) {
    (void)state;
    enum { N = 600 };
    double x[N], other[N];
    for (size_t i = 0; i < N; i++) x[i] = 0.1 + 0.001 * (double)i, other[i] = 1 - x[i];
    wg_sparsity *s = check_jacobian(running_sum, NULL, N, x, other, N / 10, WG_ROW_MAJOR);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 10 * (N / 10) * (N / 10 + 1) / 2);
    wg_sparsity_free(s);
    s = check_jacobian(shared_chain, NULL, 200, x, other, 30, WG_COL_MAJOR);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 200 * 30);
    wg_sparsity_free(s);
}

/* A row and a column of more than 64 colours, and of more than one word of bits. */
FUNCTION(wide) {
    UNUSED(data);
    for (size_t j = 0; j < m; j++)
        y[j] = j == 0 ? wg_squared_norm(t, n, x)
                      : wg_let(t, wg_add(wg_mul(x[0], x[j % n]), wg_square(x[(3 * j) % n])));
    return WG_OK;
}
FUNCTION(wide_objective) {
    wg_real *const all = malloc(n * sizeof *all);
    assert_non_null(all);
    const wg_status s = wide(t, n, x, n, all, data);
    (void)m;
    y[0] = wg_let(t, wg_add(wg_norm2(t, n / 4, all), wg_logsumexp(t, n / 2, x)));
    free(all);
    return s;
}

/* As many rows and columns of a dense block: no direction takes fewer colours than the
 * other. */
FUNCTION(dense_block) {
    UNUSED(data);
    for (size_t j = 0; j < m; j++) y[j] = wg_logsumexp(t, 80, x + (j < 80 ? 0 : n - 80));
    return WG_OK;
}

static void more_colours_than_a_word_has_bits(void **state) {
    (void)state;
    enum { N = 150 };
    double x[N], other[N];
    for (size_t i = 0; i < N; i++) x[i] = 0.1 + 0.01 * (double)i, other[i] = 1 - x[i];
    wg_sparsity *s = check_jacobian(dense_block, NULL, N, x, other, N, WG_ROW_MAJOR);
    assert_true(wg_sparsity_colours(s) > 64);
    wg_sparsity_free(s);
    s = check_jacobian(wide, NULL, N, x, other, N, WG_ROW_MAJOR);
    assert_true(wg_sparsity_colours(s) < 64);
    wg_sparsity_free(s);
    s = check_hessian(wide_objective, NULL, N, x, other, 1, NULL, 'L', WG_COL_MAJOR,
                      wide_objective, NULL);
    assert_true(wg_sparsity_colours(s) > 64);
    wg_sparsity_free(s);
}

FUNCTION(nothing) {
    (void)t, (void)n, (void)x, (void)m, (void)y, UNUSED(data);
    return WG_OK;
}

static void empty_sizes_have_empty_patterns(void **state) {
    (void)state;
    const double x[3] = {1, 2, 3};
    const size_t sizes[][2] = {{0, 0}, {3, 0}, {0, 2}, {3, 2}};
    for (size_t k = 0; k < 4; k++) {
        const size_t n = sizes[k][0], m = sizes[k][1];
        for (int layout = 0; layout < 2; layout++) {
            wg_sparsity *s, *h;
            double y[2] = {1, 1}, g[3] = {1, 1, 1}, value = 1;
            ok(tape, wg_jacobian_sparsity(tape, nothing, NULL, n, x, m, (wg_layout)layout, &s));
            ok(tape,
               wg_hessian_sparsity(tape, nothing, NULL, n, x, m, 'F', (wg_layout)layout, &h));
            assert_int_equal(wg_sparsity_pattern(s)->entries, 0);
            assert_int_equal(wg_sparsity_pattern(h)->entries, 0);
            assert_int_equal(wg_sparsity_colours(s) + wg_sparsity_colours(h), 0);
            assert_in_order(wg_sparsity_pattern(s));
            assert_in_order(wg_sparsity_pattern(h));
            ok(tape, wg_sparse_jacobian(tape, s, nothing, NULL, x, y, &value));
            assert_true(m == 0 ? y[0] == 1 : y[0] != y[0]); /* never written */
            ok(tape, wg_sparse_hessian(tape, h, nothing, NULL, x, NULL, y, g, &value));
            assert_true(n == 0 ? g[0] == 1 : m == 0 ? g[0] == 0 : g[0] != g[0]);
            assert_true(value == 1);
            wg_sparsity_free(s), wg_sparsity_free(h);
        }
    }
}

/* Bands of square roots, also of 0: infinite derivatives beside zeros. */
FUNCTION(roots) {
    const size_t width = *(const size_t *)data;
    for (size_t j = 0; j < m; j++) {
        wg_real sum = wg_constant(0);
        for (size_t k = 0; k < width; k++)
            sum = wg_let(t, wg_add(sum, wg_mul(wg_sqrt(x[(j + k) % n]), 2.0 + (double)k)));
        y[j] = sum;
    }
    return WG_OK;
}

static void zeros_beside_infinities_stay_zeros(void **state) {
    (void)state;
    enum { N = 60, M = 240 };
    static double dense[M * N], values[M * 12], y[M];
    double x[N];
    for (size_t i = 0; i < N; i++) x[i] = i % 3 == 0 ? 0 : 0.1 * (double)i;
    for (size_t width = 1; width <= 12; width++)
        for (int tall = 0; tall < 2; tall++) {
            const size_t m = tall ? M : N / 2;
            wg_sparsity *s;
            ok(tape, wg_jacobian_sparsity(tape, roots, &width, N, x, m, WG_ROW_MAJOR, &s));
            ok(tape, wg_jacobian(tape, roots, &width, N, x, m, y, WG_ROW_MAJOR, dense, N));
            ok(tape, wg_sparse_jacobian(tape, s, roots, &width, x, y, values));
            const wg_pattern *const p = wg_sparsity_pattern(s);
            assert_int_equal(p->entries, m * width);
            for (size_t k = 0; k < p->entries; k++)
                assert_true(values[k] == dense[p->row[k] * N + p->col[k]]);
            assert_true(!tall || s->side[1].colours == 0);
            wg_sparsity_free(s);
        }
}

static void recordings_may_be_in_several_pieces(void **state) {
    (void)state;
    size_t grid = 150;
    const size_t n = grid * grid;
    const wg_options pieces = {.flags = WG_KEEP_CODE, .reserve = 1 << 20};
    wg_tape *const t = wg_tape_new(&pieces);
    double *const x = numbers(n), *const y = numbers(n), *const values = numbers(12 * n);
    wg_sparsity *s, *other;
    for (size_t i = 0; i < n; i++) x[i] = 0.3 + 1e-4 * (double)(i % 100);
    for (int k = 0; k < 2; k++) {
        wg_callback *const f = k == 0 ? bratu2d : brusselator2d;
        size_t side = k == 0 ? grid : 100, cells = k == 0 ? n : 2 * side * side;
        ok(t, wg_jacobian_sparsity(t, f, &side, cells, x, cells, WG_ROW_MAJOR, &s));
        ok(tape, wg_jacobian_sparsity(tape, f, &side, cells, x, cells, WG_ROW_MAJOR, &other));
        const wg_pattern *const p = wg_sparsity_pattern(s);
        assert_int_equal(p->entries, k == 0 ? 5 * n - 4 * grid : 6 * cells);
        ok(t, wg_sparse_jacobian(t, other, f, &side, x, y, values));
        ok(tape, wg_sparse_jacobian(tape, s, f, &side, x, y, values + p->entries));
        assert_memory_equal(values, values + p->entries, p->entries * sizeof *values);
        wg_sparsity_free(s), wg_sparsity_free(other);
        cells = k == 0 ? n : n / 2;
        wg_callback *const g = k == 0 ? chained_rosenbrock : pentadiagonal;
        ok(t, wg_hessian_sparsity(t, g, NULL, cells, x, 1, 'L', WG_COL_MAJOR, &s));
        ok(t, wg_sparse_hessian(t, s, g, NULL, x, NULL, y, NULL, values));
        const size_t entries = wg_sparsity_pattern(s)->entries;
        ok(tape, wg_sparse_hessian(tape, s, g, NULL, x, NULL, y, NULL, values + entries));
        assert_memory_equal(values, values + entries, entries * sizeof *values);
        wg_sparsity_free(s);
    }
    wg_tape_free(t);
    free(x), free(y), free(values);
}

static void a_function_has_the_pattern_of_the_tape(void **state) {
    (void)state;
    enum { N = 10 };
    double x[N];
    for (size_t i = 0; i < N; i++) x[i] = 0.3 + 0.1 * (double)i;
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f, *h;
    wg_sparsity *found, *s;
    ok(tape, wg_function_record(tape, chained_rosenbrock, NULL, 1, &in, x, 1, &out, &f));
    ok(tape, wg_function_hessian(tape, f, &h));
    for (int layout = 0; layout < 2; layout++) {
        ok(tape, wg_function_sparsity(tape, h, 0, (wg_layout)layout, &s));
        ok(tape, wg_hessian_sparsity(tape, chained_rosenbrock, NULL, N, x, 1, 'F',
                                     (wg_layout)layout, &found));
        const wg_pattern *const p = wg_sparsity_pattern(s), *const q =
                                                                wg_sparsity_pattern(found);
        assert_in_order(p);
        assert_int_equal(p->entries, q->entries);
        assert_memory_equal(p->row, q->row, p->entries * sizeof *p->row);
        assert_memory_equal(p->col, q->col, p->entries * sizeof *p->col);
        wg_sparsity_free(s), wg_sparsity_free(found);
    }
    assert_int_equal(wg_function_sparsity(tape, h, 1, WG_ROW_MAJOR, &s), WG_EARG);
    assert_message(tape, "wg_function_sparsity: output 1 of 1");
    assert_int_equal(wg_function_sparsity(tape, h, 0, (wg_layout)5, &s), WG_EARG);
    assert_null(s);
    wg_function_free(f), wg_function_free(h);
}

/* The first coefficient of a polynomial stands in no product, neither in its row nor in that of
 * the argument. */
FUNCTION(one_polynomial) {
    (void)m, UNUSED(data);
    y[0] = wg_polynomial(t, n - 1, x, x[n - 1]);
    return WG_OK;
}

static void a_polynomial_is_linear_in_its_first_coefficient(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 0.5}, other[] = {2, 1, 4, -0.5};
    for (size_t n = 2; n <= 4; n++) {
        wg_sparsity *const s = check_hessian(one_polynomial, NULL, n, x, other, 1, NULL, 'F',
                                             WG_ROW_MAJOR, one_polynomial, NULL);
        const wg_pattern *const p = wg_sparsity_pattern(s);
        wg_sparsity *again; /* which asks for (j, i) where (i, j) is */
        assert_int_equal(p->entries, 2 * (n - 1) - 1 - (n == 2));
        ok(tape, wg_hessian_sparsity_of(tape, n, 1, p->entries, p->row, p->col, 'F',
                                        WG_ROW_MAJOR, 0, &again));
        wg_sparsity_free(again);
        wg_sparsity_free(s);
    }
}

/* A chain of sums must not be copied at each link, nor a triangle of a chain of products. */
static void memory_is_in_proportion_to_entries(void **state) {
    (void)state;
    enum { N = 200000 };
    const wg_options small = {.flags = WG_KEEP_CODE, .budget = (size_t)200 << 20};
    double *const x = numbers(N);
    wg_tape *const t = wg_tape_new(&small);
    wg_sparsity *s;
    for (size_t i = 0; i < N; i++) x[i] = 0.3 + 1e-6 * (double)i;
    ok(t, wg_jacobian_sparsity(t, chained_rosenbrock, NULL, N, x, 1, WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, N);
    wg_sparsity_free(s);
    ok(t, wg_hessian_sparsity(t, chained_rosenbrock, NULL, N, x, 1, 'L', WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, 2 * N - 1);
    wg_sparsity_free(s);
    ok(t, wg_hessian_sparsity(t, arrowhead, NULL, N, x, 1, 'L', WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, 2 * N - 1);
    assert_int_equal(wg_sparsity_colours(s), 2);
    wg_sparsity_free(s);
    wg_tape_free(t);
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(functions_of_the_oracle_have_its_patterns_and_values),
        TEST(colours_are_as_few_as_sweeps_need),
        TEST(random_programs_have_the_dense_jacobian),
        TEST(random_programs_have_the_dense_hessian),
        TEST(long_rows_are_found_and_shared),
        TEST(more_colours_than_a_word_has_bits),
        TEST(empty_sizes_have_empty_patterns),
        TEST(zeros_beside_infinities_stay_zeros),
        TEST(recordings_may_be_in_several_pieces),
        TEST(a_function_has_the_pattern_of_the_tape),
        TEST(a_polynomial_is_linear_in_its_first_coefficient),
        TEST(memory_is_in_proportion_to_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
