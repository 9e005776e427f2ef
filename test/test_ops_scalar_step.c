/* SPDX-License-Identifier: MIT */
/* test_ops_scalar_step.c - the partials of ops/scalar/scalar.def against steps of what they
 * differentiate.
 *
 * Three steps, none of which uses a derivative formula:
 *   - complex step: the same texts expanded over double complex, f'(x) = Im f(x + ih) / h with
 * no subtraction (Squire and Trapp 1998), for rows whose functions have a complex spelling;
 *   - Romberg differences of the same texts expanded over long double, for rows of libm alone;
 *   - Romberg differences of the double functions, for every row and every partial. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <complex.h>
#include <string.h>
#include "scalar_rows.h"
#include "tolerance.h"

/* Operands away from every kink and jump; a row is tried where its value is finite. */
static const double POINTS[][4] = {{0.3, 1.3, 2.9, 4.1},  {0.7, -2.1, 1.1, -3.2},
                                   {1.7, 0.6, 2.3, 0.9},  {-0.45, 0.8, -1.6, 2.2},
                                   {5.2, 2.4, 3.7, -0.7}, {-0.2, -1.9, 0.4, 1.5}};
#define COUNT_POINTS (sizeof POINTS / sizeof POINTS[0])

/* IS(X) is 1 where X is defined as LISTED, else 0. */
#define SECOND_OF(x, n, ...) n
#define IS_LISTED(...) SECOND_OF(__VA_ARGS__, 0, )
#define LISTED ~, 1
#define PASTE(x, y) x##y
#define CAT(x, y) PASTE(x, y)
#define IF_0(...)
#define IF_1(...) __VA_ARGS__
#define WHEN(listed) CAT(IF_, IS_LISTED(listed))

/* ---- the rows over double complex ---- */

typedef double complex complex_fn(const double complex *x, double complex v);

struct complex_row {
    const char *name;
    complex_fn *value, *first[2]; /* first is NULL where its text is not complex */
};

/* Values with a complex spelling, and the rows of them whose first partials have one too. */
#define VALUE_neg LISTED
#define VALUE_add LISTED
#define VALUE_sub LISTED
#define VALUE_mul LISTED
#define VALUE_div LISTED
#define VALUE_inv LISTED
#define VALUE_square LISTED
#define VALUE_cube LISTED
#define VALUE_sqrt LISTED
#define VALUE_rsqrt LISTED
#define VALUE_pow LISTED
#define VALUE_exp LISTED
#define VALUE_exp10 LISTED
#define VALUE_log LISTED
#define VALUE_sin LISTED
#define VALUE_cos LISTED
#define VALUE_tan LISTED
#define VALUE_sec LISTED
#define VALUE_csc LISTED
#define VALUE_cot LISTED
#define VALUE_asin LISTED
#define VALUE_acos LISTED
#define VALUE_atan LISTED
#define VALUE_acot LISTED
#define VALUE_sinh LISTED
#define VALUE_cosh LISTED
#define VALUE_tanh LISTED
#define VALUE_coth LISTED
#define VALUE_asinh LISTED
#define VALUE_acosh LISTED
#define VALUE_atanh LISTED
#define PARTIAL_mul LISTED
#define PARTIAL_div LISTED
#define PARTIAL_inv LISTED
#define PARTIAL_square LISTED
#define PARTIAL_cube LISTED
#define PARTIAL_rsqrt LISTED
#define PARTIAL_exp LISTED
#define PARTIAL_exp10 LISTED
#define PARTIAL_sin LISTED
#define PARTIAL_cos LISTED
#define PARTIAL_tan LISTED
#define PARTIAL_sec LISTED
#define PARTIAL_csc LISTED
#define PARTIAL_cot LISTED
#define PARTIAL_asin LISTED
#define PARTIAL_acos LISTED
#define PARTIAL_sinh LISTED
#define PARTIAL_cosh LISTED

#define sqrt csqrt
#define pow cpow
#define exp cexp
#define log clog
#define sin csin
#define cos ccos
#define tan ctan
#define asin casin
#define acos cacos
#define atan catan
#define wgi_tanh ctanh
#define sinh csinh
#define cosh ccosh
#define tanh ctanh
#define asinh casinh
#define acosh cacosh
#define atanh catanh

#define COMPLEX_FN(id, text)                                                                   \
    static double complex id(const double complex *x, double complex v) {                      \
        const double complex a = x[0], b = x[1];                                               \
        (void)a;                                                                               \
        (void)b;                                                                               \
        (void)v;                                                                               \
        return text;                                                                           \
    }
#define OP1(name, f, fa, faa, class, source)                                                   \
    WHEN(VALUE_##name)                                                                         \
    (COMPLEX_FN(name##_complex, f)) WHEN(PARTIAL_##name)(COMPLEX_FN(name##_complex_a, fa))
#define OP2(name, f, fa, fb, faa, fab, fbb, class, source)                                     \
    WHEN(VALUE_##name)                                                                         \
    (COMPLEX_FN(name##_complex, f)) WHEN(PARTIAL_##name)(COMPLEX_FN(name##_complex_a, fa)      \
                                                             COMPLEX_FN(name##_complex_b, fb))
#define OP3(...)
#define OP4(...)
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2

#define OP1(name, f, fa, faa, class, source)                                                   \
    WHEN(VALUE_##name)                                                                         \
    ({#name,                                                                                   \
      name##_complex,                                                                          \
      {WHEN(PARTIAL_##name)(name##_complex_a) CAT(ELSE_NULL_, IS_LISTED(PARTIAL_##name))}}, )
#define OP2(name, f, fa, fb, faa, fab, fbb, class, source)                                     \
    WHEN(VALUE_##name)                                                                         \
    ({#name,                                                                                   \
      name##_complex,                                                                          \
      {WHEN(PARTIAL_##name)(name##_complex_a, name##_complex_b)                                \
           CAT(ELSE_NULL_, IS_LISTED(PARTIAL_##name))}}, )
#define ELSE_NULL_0 NULL
#define ELSE_NULL_1
static const struct complex_row complex_rows[] = {
#include "ops/scalar/scalar.def"
};
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef sqrt
#undef pow
#undef exp
#undef log
#undef sin
#undef cos
#undef tan
#undef asin
#undef acos
#undef atan
#undef sinh
#undef cosh
#undef tanh
#undef asinh
#undef acosh
#undef atanh

#define COMPLEX_ROWS (sizeof complex_rows / sizeof complex_rows[0])
#define STEP 0x1p-300

static int differs(const char *what, const char *name, const double *x, double got, double ref,
                   double ulps) {
    if (close_ulp(got, ref, ulps)) return 0;
    print_error("%s %s(%g, %g): %.17g, by step %.17g, %.3g ulp\n", what, name, x[0], x[1], got,
                ref, error_ulp(got, ref));
    return 1;
}

/* x with an imaginary step in operand k. */
static void stepped(const double *x, size_t k, double complex *z) {
    for (size_t i = 0; i < 2; i++) z[i] = x[i];
    z[k] += STEP * I;
}

static void first_partials_equal_the_complex_step(void **state) {
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < COMPLEX_ROWS; i++) {
        const struct scalar_row *r = scalar_row_find(complex_rows[i].name);
        int tried = 0;
        for (size_t p = 0; p < COUNT_POINTS; p++) {
            double v = r->value(POINTS[p], 0);
            if (v != v) continue;
            tried++;
            for (size_t k = 0; k < r->arity; k++) {
                double complex z[2];
                stepped(POINTS[p], k, z);
                if (strcmp(r->name, "pow") == 0 && POINTS[p][0] < 0) continue;
                bad += differs("partial of", r->name, POINTS[p], r->first[k](POINTS[p], v),
                               cimag(complex_rows[i].value(z, 0)) / STEP, TOL_COMPLEX_STEP_ULP);
            }
        }
        assert_true(tried > 0);
    }
    assert_int_equal(bad, 0);
}

static void second_partials_equal_the_complex_step_of_the_first(void **state) {
    int bad = 0, rows = 0;
    (void)state;
    for (size_t i = 0; i < COMPLEX_ROWS; i++) {
        const struct complex_row *c = &complex_rows[i];
        const struct scalar_row *r = scalar_row_find(c->name);
        if (!c->first[0]) continue;
        rows++;
        for (size_t p = 0; p < COUNT_POINTS; p++) {
            double v = r->value(POINTS[p], 0);
            if (v != v) continue;
            for (size_t k = 0; k < r->arity; k++)
                for (size_t l = k; l < r->arity; l++) {
                    double complex z[2];
                    stepped(POINTS[p], l, z);
                    bad += differs(
                        "second partial of", r->name, POINTS[p], r->second[k][l](POINTS[p], v),
                        cimag(c->first[k](z, c->value(z, 0))) / STEP, TOL_COMPLEX_STEP_ULP);
                }
        }
    }
    assert_true(rows > 0);
    assert_int_equal(bad, 0);
}

/* ---- the rows over long double ---- */

typedef long double long_fn(const long double *x);

struct long_row {
    const char *name;
    long_fn *value;
};

#define LONG_fma LISTED
#define LONG_fmod LISTED
#define LONG_remainder LISTED
#define LONG_cbrt LISTED
#define LONG_hypot LISTED
#define LONG_exp2 LISTED
#define LONG_expm1 LISTED
#define LONG_log2 LISTED
#define LONG_log10 LISTED
#define LONG_log1p LISTED
#define LONG_log1mx LISTED
#define LONG_atan2 LISTED
#define LONG_erf LISTED
#define LONG_erfc LISTED
#define LONG_tgamma LISTED
#define LONG_floor LISTED
#define LONG_ceil LISTED
#define LONG_trunc LISTED
#define LONG_round LISTED
#define LONG_rint LISTED
#define LONG_sign LISTED
#define LONG_fabs LISTED
#define LONG_relu LISTED
#define LONG_copysign LISTED
#define LONG_fmax LISTED
#define LONG_fmin LISTED
#define LONG_fdim LISTED
#define LONG_clamp LISTED

#define fma fmal
#define fmod fmodl
#define remainder remainderl
#define cbrt cbrtl
#define hypot hypotl
#define exp2 exp2l
#define expm1 expm1l
#define log2 log2l
#define log10 log10l
#define log1p log1pl
#define atan2 atan2l
#define erf erfl
#define erfc erfcl
#define tgamma tgammal
#define floor floorl
#define ceil ceill
#define trunc truncl
#define round roundl
#define rint rintl
#define fabs fabsl
#define copysign copysignl
#define fmax fmaxl
#define fmin fminl
#define fdim fdiml

#define LONG_FN(id, text)                                                                      \
    static long double id(const long double *x) {                                              \
        const long double a = x[0], b = x[1], c = x[2];                                        \
        (void)a;                                                                               \
        (void)b;                                                                               \
        (void)c;                                                                               \
        return text;                                                                           \
    }
#define OP1(name, f, ...) WHEN(LONG_##name)(LONG_FN(name##_long, f))
#define OP2(name, f, ...) WHEN(LONG_##name)(LONG_FN(name##_long, f))
#define OP3(name, f, ...) WHEN(LONG_##name)(LONG_FN(name##_long, f))
#define OP4(...)
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#define OP1(name, ...) WHEN(LONG_##name)({#name, name##_long}, )
#define OP2(name, ...) WHEN(LONG_##name)({#name, name##_long}, )
#define OP3(name, ...) WHEN(LONG_##name)({#name, name##_long}, )
static const struct long_row long_rows[] = {
#include "ops/scalar/scalar.def"
};
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef fma
#undef fmod
#undef remainder
#undef cbrt
#undef hypot
#undef exp2
#undef expm1
#undef log2
#undef log10
#undef log1p
#undef atan2
#undef erf
#undef erfc
#undef tgamma
#undef floor
#undef ceil
#undef trunc
#undef round
#undef rint
#undef fabs
#undef copysign
#undef fmax
#undef fmin
#undef fdim

#define LEVELS 5

/* Central differences with steps h, h/2, ..., extrapolated to step 0 (Romberg). */
static long double extrapolate(long double *t) {
    for (int k = 1; k < LEVELS; k++)
        for (int i = LEVELS - 1; i >= k; i--)
            t[i] += (t[i] - t[i - 1]) / (ldexpl(1, 2 * k) - 1);
    return t[LEVELS - 1];
}

static double slope_long(long_fn *f, const double *x, size_t k, double *size) {
    long double t[LEVELS], y[4] = {x[0], x[1], x[2], x[3]}, h = fabsl(y[k]) / 64, s = 0;
    for (int i = 0; i < LEVELS; i++, h /= 2) {
        y[k] = x[k] + h;
        t[i] = f(y);
        s = fmaxl(s, fabsl(t[i]));
        y[k] = x[k] - h;
        t[i] = (t[i] - f(y)) / (2 * h);
    }
    *size = (double)(s / fabsl(x[k]));
    return (double)extrapolate(t);
}

static void first_partials_equal_differences_of_long_double(void **state) {
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof long_rows / sizeof long_rows[0]; i++) {
        const struct scalar_row *r = scalar_row_find(long_rows[i].name);
        for (size_t p = 0; p < COUNT_POINTS; p++) {
            double v = r->value(POINTS[p], 0);
            for (size_t k = 0; k < r->arity && v == v; k++) {
                double size, got = r->first[k](POINTS[p], v);
                double ref = slope_long(long_rows[i].value, POINTS[p], k, &size);
                if (fabs(got - ref) > TOL_LONG_ROUNDING * (double)LDBL_EPSILON * size)
                    bad += differs("partial of", r->name, POINTS[p], got, ref,
                                   TOL_LONG_DIFFERENCE_ULP);
            }
        }
    }
    assert_int_equal(bad, 0);
}

/* ---- every row, by differences of double ---- */

/* The slope along operand k of the partial f of row r (NULL: of its value), and its size. */
static double slope(const struct scalar_row *r, scalar_fn *f, const double *x, size_t k,
                    double *size) {
    long double t[LEVELS];
    double y[4] = {x[0], x[1], x[2], x[3]}, h = ldexp(1, ilogb(x[k]) - 6), s = 0;
    for (int i = 0; i < LEVELS; i++, h /= 2) {
        double g[2];
        for (int j = 0; j < 2; j++) {
            y[k] = j ? x[k] - h : x[k] + h;
            double v = r->value(y, 0);
            g[j] = f ? f(y, v) : v;
            s = fmax(s, fabs(g[j]));
        }
        t[i] = ((long double)g[0] - g[1]) / (2 * h);
    }
    *size = s / fabs(x[k]);
    return (double)extrapolate(t);
}

static int off(const struct scalar_row *r, scalar_fn *f, const double *x, size_t k,
               double got) {
    double size, ref = slope(r, f, x, k, &size);
    if (fabs(got - ref) <= TOL_DIFFERENCE_ULP * DBL_EPSILON * (fabs(got) + size)) return 0;
    print_error("%s(%g, %g, %g) along operand %zu: %.17g, by differences %.17g\n", r->name,
                x[0], x[1], x[2], k, got, ref);
    return 1;
}

static void every_partial_is_the_slope_of_what_it_differentiates(void **state) {
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < SCALAR_ROWS; i++) {
        const struct scalar_row *r = &scalar_rows[i];
        if (strcmp(r->name, "stop_gradient") == 0) continue; /* has none by request */
        int tried = 0;
        for (size_t p = 0; p < COUNT_POINTS; p++) {
            const double *x = POINTS[p];
            double v = r->value(x, 0);
            if (v != v) continue;
            tried++;
            for (size_t k = 0; k < r->arity; k++) {
                double d = r->first[k](x, v);
                if (d != d) continue;
                bad += off(r, NULL, x, k, d);
                for (size_t l = k; l < r->arity && l < 3; l++)
                    if (r->second[k][l] && r->second[k][l](x, v) == r->second[k][l](x, v))
                        bad += off(r, r->first[k], x, l, r->second[k][l](x, v));
            }
        }
        if (!tried) print_error("%s: no point\n", r->name);
        assert_true(tried > 0);
    }
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_partials_equal_the_complex_step),
        cmocka_unit_test(second_partials_equal_the_complex_step_of_the_first),
        cmocka_unit_test(first_partials_equal_differences_of_long_double),
        cmocka_unit_test(every_partial_is_the_slope_of_what_it_differentiates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
