/* SPDX-License-Identifier: MIT */
/* test_ops_elementwise.c - every row of the scalar table over matrices, against the table;
 * broadcasting; what stands beside the table. On every instruction set this machine has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/elementwise.h>
#include "ops/scalar/elementwise.h"
#include "matrix_oracle.h"
#include "scalar_rows.h"
#include "tolerance.h"
#include "walk.h"

/* What elementwise.h promises of values, of libm's vector functions and what is made of them;
 * the scalar function itself may be off by nearly as much as the vector function. */
#define TOL_VECTOR_ULP (4.0 + 1.0)
/* And of partials: several such values multiplied. */
#define TOL_VECTOR_PARTIAL_ULP 16.0

/* ---- the oracle ---- */

/* A list of the oracle goes with the rows of a matrix, as in numpy. */
static wg_mat row(const struct matrix_case *c, const wg_mat *in, size_t i) {
    return c->in[i].dims == 1 ? wg_mat_transpose(in[i]) : in[i];
}
#define BINARY(name)                                                                           \
    RECORD(broadcast_##name) {                                                                 \
        (void)data;                                                                            \
        out[0] = wg_mat_##name(t, row(c, in, 0), row(c, in, 1));                               \
    }                                                                                          \
    ORACLE(broadcast_##name)
BINARY(add)
BINARY(sub)
BINARY(mul)

/* The divisor of the oracle is kept from 0 by a shift. */
RECORD(broadcast_div) {
    const wg_mat b = row(c, in, 1);
    (void)data;
    out[0] = wg_mat_div(t, row(c, in, 0), wg_mat_add(t, b, wg_mat_fill(t, 1, 1, 2.5)));
}
ORACLE(broadcast_div)

RECORD(where) {
    double cond[MATRIX_CASE_LIST];
    const size_t n = matrix_case_list(c, "cond", cond);
    (void)data;
    out[0] = wg_mat_select(t, wg_mat_constant(t, n, 1, cond, n), in[0], in[1]);
}
ORACLE(where)

/* ---- shapes: stretched, with gaps, transposed ---- */

/* An operation of up to three operands, whole and element by element. */
struct way {
    wg_mat (*whole)(wg_tape *t, const wg_mat *in);
    wg_real (*element)(wg_tape *t, const wg_real *x);
    size_t operands;
};

RECORD(on_the_tape) {
    const struct way *const w = data;
    (void)c;
    out[0] = w->whole(t, in);
}

RECORD(one_by_one) {
    const struct way *const w = data;
    size_t rows = 1, cols = 1, n = 0;
    (void)c;
    for (size_t k = 0; k < w->operands; k++) {
        if (in[k].rows != 1) rows = in[k].rows;
        if (in[k].cols != 1) cols = in[k].cols;
    }
    wg_real *const y = calloc(rows * cols + 1, sizeof *y);
    assert_non_null(y);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) {
            wg_real x[4];
            for (size_t k = 0; k < w->operands; k++)
                x[k] = wg_mat_at(in[k], in[k].rows == 1 ? 0 : i, in[k].cols == 1 ? 0 : j);
            y[n++] = w->element(t, x);
        }
    out[0] = wg_mat_gather(t, rows, cols, y);
    free(y);
}

#define WAY(name, operands, call, expression)                                                  \
    static wg_mat name##_whole(wg_tape *t, const wg_mat *in) { return call; }                  \
    static wg_real name##_element(wg_tape *t, const wg_real *x) {                              \
        return wg_let(t, expression);                                                          \
    }                                                                                          \
    static struct way name = {name##_whole, name##_element, operands}
WAY(product, 2, wg_mat_mul(t, in[0], in[1]), wg_mul(x[0], x[1]));
WAY(fused, 3, wg_mat_fma(t, in[0], in[1], in[2]), wg_fma(x[0], x[1], x[2]));
WAY(angle, 2, wg_mat_atan2(t, in[0], in[1]), wg_atan2(x[0], x[1]));
WAY(chosen, 4, wg_mat_select_lt(t, in[0], in[1], in[2], in[3]),
    wg_select_lt(x[0], x[1], x[2], x[3]));
WAY(slope_kept, 1, wg_mat_tanh(t, in[0]), wg_tanh(x[0]));
WAY(through_the_table, 1, wg_mat_log_Phi(t, in[0]), wg_log_Phi(x[0]));
WAY(scaled, 1, wg_mat_scale(t, 0.3, in[0]), wg_mul(0.3, x[0]));
WAY(combined, 2, wg_mat_axpby(t, 0.3, in[0], -7, in[1]),
    wg_add(wg_mul(0.3, x[0]), wg_mul(-7, x[1])));

static double twice_sin(void *ctx, double x) { return *(double *)ctx * sin(x); }
static double twice_cos(void *ctx, double x) { return *(double *)ctx * cos(x); }
static double two = 2;
WAY(mapped, 1, wg_mat_map(t, twice_sin, twice_cos, &two, in[0]), wg_mul(2, wg_sin(x[0])));

static void agree(struct way *w, const struct matrix_shape *shapes) {
    matrix_case_compare("elementwise", w->operands, shapes, 1, on_the_tape, one_by_one, w);
}

static void operands_are_stretched_wherever_they_have_length_one(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {5, 1}, {1, 7}, {5, 7}};
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++) {
            const struct matrix_shape shapes[] = {{sizes[a][0], sizes[a][1], 0},
                                                  {sizes[b][0], sizes[b][1], 0},
                                                  {5, 7, 0},
                                                  {1, 7, 0}};
            agree(&product, shapes);
            agree(&angle, shapes);
            agree(&combined, shapes);
            agree(&fused, shapes);
            agree(&chosen, shapes);
        }
}

static void any_size_is_one_loop_or_several(void **state) {
    (void)state;
    static const size_t sizes[][2] = {
        {0, 0},  {0, 3},  {3, 0},  {1, 1},   {2, 1},   {3, 1},   {4, 1},   {7, 1},   {1, 9},
        {16, 1}, {31, 3}, {33, 9}, {300, 2}, {2, 300}, {10, 64}, {32, 17}, {128, 5}, {129, 5}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const struct matrix_shape full = {sizes[k][0], sizes[k][1], 0};
        const struct matrix_shape whole[] = {full, full, full, full};
        const struct matrix_shape column[] = {full, {sizes[k][0], 1, 0}};
        const struct matrix_shape line[] = {{1, sizes[k][1], 0}, full};
        agree(&product, whole);
        agree(&product, column);
        agree(&product, line);
        agree(&slope_kept, whole);
        agree(&through_the_table, whole);
        agree(&scaled, whole);
        agree(&mapped, whole);
    }
}

static void an_operand_twice_counts_twice(void **state) {
    (void)state;
    enum { N = 19 };
    double x[N], g[N];
    for (size_t i = 0; i < N; i++) x[i] = 0.1 * (double)i - 0.7;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, N, 1, x, N);
    const wg_mat head = wg_mat_block(a, 0, 0, N - 1, 1), tail = wg_mat_block(a, 1, 0, N - 1, 1);
    assert_int_equal(wg_mat_reverse(t, wg_mat_mul(t, a, a), NULL, N), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, N), WG_OK);
    for (size_t i = 0; i < N; i++) assert_true(g[i] == 2 * x[i]);
    assert_int_equal(wg_mat_reverse(t, wg_mat_mul(t, head, tail), NULL, N - 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, N), WG_OK);
    for (size_t i = 0; i < N; i++) {
        const double below = i > 0 ? x[i - 1] : 0, above = i + 1 < N ? x[i + 1] : 0;
        assert_true(close_ulp(g[i], below + above, TOL_ORDER_ULP) ||
                    fabs(g[i] - below - above) <= DBL_EPSILON);
    }
    wg_tape_free(t);
}

/* ---- every row, every instruction set ---- */

enum { LEVELS = 3 };
static const char *const level_names[LEVELS] = {"base", "AVX2", "AVX-512"};

/* NULL: not on this machine. */
static const wgi_simd *level(int l) {
    if (l == 0) return wgi_simd_base;
#if defined(__x86_64__)
    if (l == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return wgi_simd_avx2;
    if (l == 2 && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return wgi_simd_avx512;
#endif
    return NULL;
}

/* Rows whose kernels have the bits of the table. */
static int exact(const char *name) {
    static const char *const names[] = {
        "neg",    "add",       "sub",       "mul",       "div",       "fma",       "reciprocal",
        "square", "cube",      "sqrt",      "rsqrt",     "floor",     "ceil",      "trunc",
        "rint",   "sign",      "fabs",      "relu",      "copysign",  "fmax",      "fmin",
        "clamp",  "select_lt", "select_le", "select_gt", "select_ge", "select_eq", "select_ne"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

/* Where formulas end: zeros, infinities, subnormals, poles, thresholds. */
static const double special[] = {0.0,
                                 -0.0,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 DBL_MIN,
                                 -DBL_MIN,
                                 DBL_TRUE_MIN,
                                 -DBL_TRUE_MIN,
                                 1e-310,
                                 -1e-310,
                                 DBL_MAX,
                                 -DBL_MAX,
                                 1,
                                 -1,
                                 0.5,
                                 -0.5,
                                 2,
                                 -2,
                                 3,
                                 1e22,
                                 -1e22,
                                 1e5,
                                 1e300,
                                 -1e300,
                                 1e154,
                                 1e160,
                                 1e-160,
                                 -1e-160,
                                 709.5,
                                 709.9,
                                 -708.5,
                                 -720,
                                 -744,
                                 -745.2,
                                 -750,
                                 1023.5,
                                 1024.2,
                                 1024.6,
                                 -1022,
                                 -1060,
                                 -1074,
                                 -1080,
                                 308.2,
                                 308.3,
                                 -307,
                                 -320,
                                 -324,
                                 710.3,
                                 -710.3,
                                 711,
                                 1e-8,
                                 1e-20,
                                 -1e-20,
                                 1 + DBL_EPSILON,
                                 1 - DBL_EPSILON / 2,
                                 -1 + DBL_EPSILON / 2,
                                 26.4,
                                 27,
                                 27.3,
                                 5.9,
                                 -6,
                                 20,
                                 -20,
                                 22.1,
                                 37,
                                 1e9,
                                 -1e9,
                                 1e10,
                                 0.99999,
                                 1e15,
                                 355};
enum { SPECIAL = sizeof special / sizeof *special, POINTS = 4096 };

static double point(uint64_t *seed, unsigned kind) {
    const double s = walk_number(seed);
    switch (kind % 6) {
    case 0:
        return s;
    case 1:
        return 20 * s;
    case 2:
        return 800 * s;
    case 3:
        return copysign(exp(690 * s), walk_number(seed));
    case 4:
        return copysign(exp(-20 - 20 * s), walk_number(seed));
    default:
        return special[(size_t)(fabs(s) * SPECIAL) % SPECIAL];
    }
}

/* got of the kernel, ref of the table. A few subnormal units: libmvec and products of partials.
 */
static int close(double got, double ref, double ulps) {
    if (ulps == 0)
        return (got != got && ref != ref) || (got == ref && signbit(got) == signbit(ref));
    if (!(fabs(ref) <= DBL_MAX) || !(fabs(got) <= DBL_MAX))
        return close_ulp(got, ref, ulps) ||
               (fabs(ref) > 0x1.fffffffffff00p1023 && fabs(got) > 0x1.fffffffffff00p1023 &&
                (got > 0) == (ref > 0));
    return close_ulp(got, ref, ulps);
}

static void check_row(int l, unsigned r) {
    const struct scalar_row *const s = &scalar_rows[r];
    const wgi_kernels *const k = &level(l)->row[r];
    static double x[4][POINTS], y[POINTS], saved[POINTS], w[POINTS], bar[4][POINTS], yt[POINTS];
    const int bits = exact(s->name);
    uint64_t seed = 11 + r;
    wg_block_arg in[4], out;
    if (k->value == NULL) return;
    memset(in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t a = 0; a < s->arity; a++)
            x[a][i] =
                i < SPECIAL * SPECIAL && i < POINTS / 2
                    ? special[a == 0 ? i % SPECIAL : (i / SPECIAL + 3 * (a - 1)) % SPECIAL]
                    : point(&seed, (unsigned)(i + a * (i >> 3)));
        w[i] = 1;
    }
    for (size_t a = 0; a < 4; a++) in[a].value = x[a];
    out.value = y;
    k->value(POINTS, in, &out, saved, NULL);
    for (size_t i = 0; i < POINTS; i++) {
        const double p[] = {x[0][i], x[1][i], x[2][i], x[3][i]}, ref = s->value(p, 0);
        if (!close(y[i], ref, bits ? 0 : TOL_VECTOR_ULP))
            fail_msg("%s, %s(%.17g, %.17g) is %.17g, not %.17g: %.1f ulp", level_names[l],
                     s->name, p[0], s->arity > 1 ? p[1] : 0, y[i], ref, error_ulp(y[i], ref));
    }
    out.bar = w;
    for (size_t a = 0; a < s->arity; a++) in[a].bar = memset(bar[a], 0, sizeof bar[a]);
    k->vjp(POINTS, in, &out, saved, NULL);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t a = 0; a < s->arity; a++) {
            const double p[] = {x[0][i], x[1][i], x[2][i], x[3][i]};
            const double ref = 0 + s->first[a](p, s->value(p, 0));
            if (!close(bar[a][i], ref, bits ? 0 : TOL_VECTOR_PARTIAL_ULP))
                fail_msg("%s, partial %zu of %s(%.17g, %.17g) is %.17g, not %.17g: %.1f ulp",
                         level_names[l], a, s->name, p[0], s->arity > 1 ? p[1] : 0, bar[a][i],
                         ref, error_ulp(bar[a][i], ref));
        }
    /* tangents are these partials; a tangent of 0 gives 0 beside whatever partial */
    for (size_t a = 0; a < s->arity; a++) {
        static double xt[POINTS];
        for (size_t b = 0; b < s->arity; b++) in[b].bar = NULL;
        for (size_t i = 0; i < POINTS; i++) xt[i] = i % 2 == 0;
        in[a].bar = xt;
        out.bar = yt;
        k->jvp(POINTS, in, &out, saved, NULL);
        for (size_t i = 0; i < POINTS; i++) {
            const double ref = i % 2 == 0 ? bar[a][i] : 0;
            if (!(yt[i] == ref || (yt[i] != yt[i] && ref != ref)))
                fail_msg("%s, tangent %zu of %s(%.17g) is %.17g, not %.17g", level_names[l], a,
                         s->name, x[0][i], yt[i], ref);
        }
    }
    /* adjoints of 0 */
    out.bar = memset(w, 0, sizeof w);
    for (size_t a = 0; a < s->arity; a++) in[a].bar = memset(bar[a], 0, sizeof bar[a]);
    k->vjp(POINTS, in, &out, saved, NULL);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t a = 0; a < s->arity; a++) assert_true(bar[a][i] == 0);
}

static void every_row_agrees_with_the_table_on_every_instruction_set(void **state) {
    (void)state;
    for (int l = 0; l < LEVELS; l++)
        for (unsigned r = 0; level(l) != NULL && r < SCALAR_ROWS; r++) check_row(l, r);
}

/* The bits of a result depend neither on its place nor on what stands beside it. */
static void the_bits_of_a_result_do_not_depend_on_its_place(void **state) {
    (void)state;
    for (int l = 0; l < LEVELS; l++)
        for (unsigned r = 0; level(l) != NULL && r < SCALAR_ROWS; r++) {
            const wgi_kernels *const k = &level(l)->row[r];
            double x[4][24], y[24], saved[24], alone[2], alone_saved[2];
            wg_block_arg in[4], out;
            uint64_t seed = 3;
            if (k->value == NULL) continue;
            memset(in, 0, sizeof in);
            memset(&out, 0, sizeof out);
            for (size_t a = 0; a < 4; a++)
                for (size_t i = 0; i < 24; i++) x[a][i] = point(&seed, (unsigned)(i % 5));
            for (size_t n = 1; n <= 24; n++) {
                for (size_t a = 0; a < 4; a++) in[a].value = x[a];
                out.value = y;
                k->value(n, in, &out, saved, NULL);
                for (size_t i = 0; i < n; i++) {
                    for (size_t a = 0; a < 4; a++) in[a].value = x[a] + i;
                    out.value = alone;
                    k->value(1, in, &out, alone_saved, NULL);
                    if (memcmp(alone, y + i, sizeof *alone) != 0)
                        fail_msg("%s, %s: element %zu of %zu", level_names[l],
                                 scalar_rows[r].name, i, n);
                }
            }
        }
}

/* Nothing beside the arrays is touched. */
static void kernels_stay_within_their_arrays(void **state) {
    (void)state;
    for (int l = 0; l < LEVELS; l++)
        for (unsigned r = 0; level(l) != NULL && r < SCALAR_ROWS; r++) {
            const wgi_kernels *const k = &level(l)->row[r];
            if (k->value == NULL) continue;
            for (size_t n = 0; n <= 17; n++) {
                double *const x = malloc(n * sizeof(double) + 1), *const y = calloc(n + 1, 8);
                double *const saved = malloc(n * sizeof(double) + 1), *const bar =
                                                                          calloc(n + 1, 8);
                double *const w = calloc(n + 1, 8);
                wg_block_arg in[4], out;
                assert_true(x && y && saved && bar && w);
                memset(in, 0, sizeof in);
                memset(&out, 0, sizeof out);
                for (size_t i = 0; i < n; i++) x[i] = 0.5, w[i] = 1;
                for (size_t a = 0; a < 4; a++) in[a].value = x, in[a].bar = bar;
                y[n] = bar[n] = w[n] = 77;
                out.value = y, out.bar = w;
                k->value(n, in, &out, saved, NULL);
                k->vjp(n, in, &out, saved, NULL);
                k->jvp(n, in, &out, saved, NULL);
                assert_true(y[n] == 77 && bar[n] == 77 && w[n] == 77);
                free(x), free(y), free(saved), free(bar), free(w);
            }
        }
}

/* Through the tape, every row, by wg_check_op. */
static void every_operation_passes_the_check_of_operations(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    for (unsigned r = 0; r < SCALAR_ROWS; r++) {
        const struct scalar_row *const s = &scalar_rows[r];
        double x[4][6];
        wg_mat in[4];
        uint64_t seed = 29;
        wg_tape_reset(t);
        for (size_t a = 0; a < s->arity; a++) {
            for (size_t i = 0; i < 6; i++) {
                /* where all functions are smooth and defined, but for those that want |x| > 1
                 */
                const double low = strcmp(s->name, "lambertwm1") == 0 ? -0.3
                                   : strcmp(s->name, "log1mexp") == 0 ? -0.6
                                                                      : 0.3;
                x[a][i] = low + 0.2 * fabs(walk_number(&seed)) + (a > 0 ? 0.6 : 0);
                if (strcmp(s->name, "acosh") == 0 || strcmp(s->name, "asec") == 0 ||
                    strcmp(s->name, "acsc") == 0 || strcmp(s->name, "acoth") == 0)
                    x[a][i] += 1;
                if (strcmp(s->name, "log_diff_exp") == 0) x[a][i] = -x[a][i];
            }
            in[a] = wg_mat_input(t, 2, 3, x[a], 2);
        }
        if (strcmp(s->name, "stop_gradient") == 0)
            continue; /* its slope is not its derivative */
        if (wg_check_op(t, &wgi_elementwise_ops[r], NULL, 0, s->arity, in, 1) != WG_OK)
            fail_msg("%s", wg_tape_message(t));
    }
    wg_tape_free(t);
}

/* The names users call are those of the table, in its order. */
static void every_row_is_an_operation(void **state) {
    (void)state;
    const double v[] = {0.25};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_constant(t, 1, 1, v, 1), b = wg_mat_constant(t, 1, 1, v, 1);
#define OP1(name, ...) WG_MAT_IS(name, wg_mat_##name(t, a))
#define OP2(name, ...) WG_MAT_IS(name, wg_mat_##name(t, a, b))
#define OP3(name, ...) WG_MAT_IS(name, wg_mat_##name(t, a, b, a))
#define OP4(name, ...) WG_MAT_IS(name, wg_mat_##name(t, a, b, a, b))
#define WG_MAT_IS(row_name, call)                                                              \
    do {                                                                                       \
        const double x[] = {0.25, 0.25, 0.25, 0.25};                                           \
        const wg_mat y = call;                                                                 \
        const struct scalar_row *const s = scalar_row_find(#row_name);                         \
        assert_non_null(s);                                                                    \
        assert_string_equal(wgi_elementwise_ops[s - scalar_rows].name, "wg_mat_" #row_name);   \
        if (!close(wg_value(wg_mat_at(y, 0, 0)), s->value(x, 0), TOL_VECTOR_ULP))              \
            fail_msg("wg_mat_%s: %.17g", #row_name, wg_value(wg_mat_at(y, 0, 0)));             \
    } while (0);
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef WG_MAT_IS
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

/* ---- sums and extrema of the kernels ---- */

static void sums_and_extrema_of_every_length_are_right(void **state) {
    (void)state;
    for (int l = 0; l < LEVELS; l++) {
        const wgi_simd *const s = level(l);
        double x[100], y[100], moment[2];
        if (s == NULL) continue;
        for (size_t n = 0; n <= 100; n++) {
            double sum = 0, size = 0, square = 0, top = -INFINITY, low = INFINITY, far = 0;
            for (size_t i = 0; i < n; i++) {
                x[i] = (double)((i * 37) % 101) - 50;
                sum += x[i], size += fabs(x[i]), square += x[i] * x[i];
                top = fmax(top, x[i]), low = fmin(low, x[i]), far = fmax(far, fabs(x[i]));
            }
            s->moments(n, x, 0, moment);
            assert_true(s->sum(n, x) == sum && s->sum_abs(n, x) == size);
            assert_true(s->dot(n, x, x) == square && moment[0] == sum && moment[1] == square);
            assert_true(s->largest(n, x) == top && s->smallest(n, x) == low);
            assert_true(s->largest_abs(n, x) == far);
            for (size_t i = 0; i < n; i++) {
                const double kept = x[i];
                x[i] = NAN;
                assert_true(isnan(s->largest(n, x)) && isnan(s->smallest(n, x)));
                assert_true(isnan(s->largest_abs(n, x)));
                x[i] = kept;
            }
            memset(y, 0, sizeof y);
            s->axpy(n, 3, x, y);
            s->add(n, 5, y);
            for (size_t i = 0; i < n; i++) assert_true(y[i] == 3 * x[i] + 5);
            assert_true(n == 100 || y[n] == 0);
            const double e = s->exp_sum(n, x, 50, y);
            double ref = 0;
            for (size_t i = 0; i < n; i++) {
                assert_true(close_ulp(y[i], exp(x[i] - 50), TOL_VECTOR_ULP));
                ref += y[i];
            }
            assert_true(fabs(e - ref) <= 8 * DBL_EPSILON * ref &&
                        s->exp_sum(n, x, 50, NULL) == e);
        }
    }
}

/* ---- the zero rule, tails, the mask ---- */

static void an_infinite_slope_that_nothing_depends_on_does_not_spread(void **state) {
    (void)state;
    const double x[] = {0, 4, 0, 9, 16}, mask[] = {0, 1, 0, 1, 0}, other[] = {1, 2, 3, 4, 5};
    double g[5], h[5];
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 5, 1, x, 5), b = wg_mat_input(t, 5, 1, other, 5);
    const wg_mat m = wg_mat_constant(t, 5, 1, mask, 5);
    const wg_mat y = wg_mat_select(t, m, wg_mat_sqrt(t, a), b);
    const wg_mat z = wg_mat_mul(t, m, wg_mat_sqrt(t, a));
    for (int k = 0; k < 2; k++) {
        assert_int_equal(wg_mat_reverse(t, k == 0 ? y : z, NULL, 5), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, 5), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, b, h, 5), WG_OK);
        for (size_t i = 0; i < 5; i++) {
            assert_true(g[i] == (mask[i] != 0 ? 0.5 / sqrt(x[i]) : 0));
            assert_true(h[i] == (k == 0 && mask[i] == 0 ? 1 : 0));
        }
    }
    wg_tape_free(t);
}

static void slopes_keep_their_digits_in_the_tails(void **state) {
    (void)state;
    static const double x[] = {-300, -40, -18, -3, -0.4, 1e-9, 0.3, 2, 19, 30, 350};
    enum { N = sizeof x / sizeof *x };
    double g[N];
    wg_mat (*const f[])(wg_tape *, wg_mat) = {wg_mat_tanh, wg_mat_sigmoid, wg_mat_softplus,
                                              wg_mat_log_sigmoid};
    static const char *const names[] = {"tanh", "sigmoid", "softplus", "log_sigmoid"};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, N, 1, x, N);
    for (size_t k = 0; k < 4; k++) {
        const struct scalar_row *const s = scalar_row_find(names[k]);
        assert_int_equal(wg_mat_reverse(t, f[k](t, a), NULL, N), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, N), WG_OK);
        for (size_t i = 0; i < N; i++) {
            const double ref = s->first[0](&x[i], s->value(&x[i], 0));
            if (!close_ulp(g[i], ref, TOL_VECTOR_PARTIAL_ULP))
                fail_msg("slope of %s at %g: %.17g, not %.17g", names[k], x[i], g[i], ref);
        }
    }
    wg_tape_free(t);
}

static void a_map_is_not_asked_for_slopes_nobody_needs(void **state) {
    (void)state;
    double x[] = {1, 2, 3}, w[] = {0, 1, 0}, g[3];
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 3, 1, x, 3);
    const wg_mat y = wg_mat_map(t, twice_sin, twice_cos, &two, a);
    assert_int_equal(wg_mat_reverse(t, y, w, 3), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
    assert_true(g[0] == 0 && g[1] == 2 * cos(2) && g[2] == 0);
    (void)wg_mat_map(t, twice_sin, NULL, &two, a);
    assert_int_equal(wg_tape_status(t), WG_ENULL);
    assert_non_null(strstr(wg_tape_message(t), "wg_mat_map"));
    wg_tape_free(t);
}

static double minus_twice_sin(void *ctx, double x) { return -*(const double *)ctx * sin(x); }

/* Of a'b with b = 2 sin(a): 2 (cos a + cos a - a sin a); and of what nobody needs nothing. */
static void a_map_with_two_slopes_has_second_derivatives(void **state) {
    (void)state;
    enum { N = 11 };
    const wg_options keep = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&keep);
    for (int transposed = 0; transposed < 2; transposed++) {
        double x[N], h[N * N];
        wg_real in[N], y[N];
        for (size_t i = 0; i < N; i++) x[i] = 0.3 * (double)i - 1;
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, N, x, in), WG_OK);
        wg_mat a = wg_mat_gather(t, N, 1, in);
        if (transposed) a = wg_mat_transpose(a);
        const wg_mat b = wg_mat_map_twice(t, twice_sin, twice_cos, minus_twice_sin, &two, a);
        for (size_t i = 0; i < N; i++)
            y[i] = transposed ? wg_mat_at(b, 0, i) : wg_mat_at(b, i, 0);
        wg_real sum = wg_constant(0);
        for (size_t i = 0; i + 1 < N; i++) sum = wg_let(t, wg_add(sum, wg_mul(in[i], y[i])));
        assert_int_equal(wg_tape_hessian(t, sum, N, in, h, N), WG_OK);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                const double ref =
                    i != j || i + 1 == N ? 0 : 4 * cos(x[i]) - 2 * x[i] * sin(x[i]);
                assert_true(fabs(h[i * N + j] - ref) <= TOL_DERIVATIVE_ULP * DBL_EPSILON * 4);
            }
    }
    wg_tape_free(t);
}

/* ---- what is refused ---- */

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    const double v[16] = {0};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 2, 3, v, 2), b = wg_mat_input(t, 3, 2, v, 3);
    const wg_mat y = wg_mat_add(t, a, b);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_mat_add of 2x3, 3x2"));
    assert_null(y.value);
    wg_tape_reset(t);
    const wg_mat c = wg_mat_input(t, 0, 3, v, 1), d = wg_mat_input(t, 2, 3, v, 2);
    (void)wg_mat_mul(t, c, d);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    wg_tape_free(t);
}

static void without_a_tape_a_result_is_nan_of_its_shape(void **state) {
    (void)state;
    const wg_mat a = wg_mat_failed(3, 1), b = wg_mat_failed(1, 4);
    const wg_mat y = wg_mat_mul(NULL, a, b), z = wg_mat_tanh(NULL, a);
    const wg_mat m = wg_mat_map(NULL, twice_sin, twice_cos, &two, a),
                 s = wg_mat_scale(NULL, 2, b);
    assert_true(y.value == NULL && y.rows == 3 && y.cols == 4);
    assert_true(z.value == NULL && z.rows == 3 && z.cols == 1);
    assert_true(m.value == NULL && m.rows == 3 && s.value == NULL && s.cols == 4);
}

static void all_cases_claimed_here_were_checked(void **state) {
    (void)state;
    matrix_claims_met("elementwise");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broadcast_add_agrees_with_its_oracle),
        cmocka_unit_test(broadcast_sub_agrees_with_its_oracle),
        cmocka_unit_test(broadcast_mul_agrees_with_its_oracle),
        cmocka_unit_test(broadcast_div_agrees_with_its_oracle),
        cmocka_unit_test(where_agrees_with_its_oracle),
        cmocka_unit_test(operands_are_stretched_wherever_they_have_length_one),
        cmocka_unit_test(any_size_is_one_loop_or_several),
        cmocka_unit_test(an_operand_twice_counts_twice),
        cmocka_unit_test(every_row_agrees_with_the_table_on_every_instruction_set),
        cmocka_unit_test(the_bits_of_a_result_do_not_depend_on_its_place),
        cmocka_unit_test(kernels_stay_within_their_arrays),
        cmocka_unit_test(every_operation_passes_the_check_of_operations),
        cmocka_unit_test(every_row_is_an_operation),
        cmocka_unit_test(sums_and_extrema_of_every_length_are_right),
        cmocka_unit_test(an_infinite_slope_that_nothing_depends_on_does_not_spread),
        cmocka_unit_test(slopes_keep_their_digits_in_the_tails),
        cmocka_unit_test(a_map_with_two_slopes_has_second_derivatives),
        cmocka_unit_test(a_map_is_not_asked_for_slopes_nobody_needs),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(without_a_tape_a_result_is_nan_of_its_shape),
        cmocka_unit_test(all_cases_claimed_here_were_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
