/* SPDX-License-Identifier: MIT */
/* test_function_locale.c - derivatives of a user's operation where the decimal point is a
 * character of several bytes. No such locale need be installed: strtod and localeconv are
 * this program's. */
#define _GNU_SOURCE /* strtod_l */
#include "derive_case.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "graph_walk.h"
#include "tolerance.h"

static const char point[] = "\xd9\xab"; /* U+066B, as in Pashto */

/* As in a locale with that point: a '.' ends the number. */
double strtod(const char *restrict text, char **restrict end) {
    char plain[256];
    size_t n = 0, from = 0;
    int seen = 0;
    for (; text[from] != 0 && n + 1 < sizeof plain; n++) {
        if (text[from] == '.') break;
        if (!seen && strncmp(text + from, point, sizeof point - 1) == 0) {
            plain[n] = '.';
            from += sizeof point - 1;
            seen = 1;
        } else {
            plain[n] = text[from++];
        }
    }
    plain[n] = 0;
    char *stop;
    const double x = strtod_l(plain, &stop, newlocale(LC_ALL_MASK, "C", (locale_t)0));
    if (end != NULL) {
        size_t used = (size_t)(stop - plain);
        const char *const dot = memchr(plain, '.', used);
        *end = (char *)(uintptr_t)text + used + (dot != NULL ? sizeof point - 2 : 0);
    }
    return x;
}

struct lconv *localeconv(void) {
    static char text[sizeof point];
    static struct lconv here;
    memcpy(text, point, sizeof text);
    here.decimal_point = text;
    return &here;
}

/* 0.75 x^3.5, spelled in all ways. */
WG_OPERATION1(spelled, 7.5E-1 * pow(a, 3.5), 2.625 * pow(a, 25e-1), .65625e1 * pow(a, 1.5),
              ARITH, "test")

static wg_status one_statement(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, WG_CALL1(spelled, x[0]));
    return WG_OK;
}

static void third_derivatives_do_not_ask_the_locale(void **state) {
    (void)state;
    char *end;
    assert_true(strtod("2\xd9\xab"
                       "5",
                       &end) == 2.5 &&
                *end == 0);
    assert_true(strtod("2.5", &end) == 2 && *end == '.');
    wg_tape *const t = code_tape();
    const double x = 1.75;
    const double exact[] = {0.75 * pow(x, 3.5), 2.625 * pow(x, 2.5), 6.5625 * pow(x, 1.5),
                            9.84375 * pow(x, 0.5), 4.921875 * pow(x, -0.5)};
    wg_function *f = recorded(t, one_statement, NULL, 1, 1, &x);
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k++) {
        double y;
        if (k != 0) f = next(t, wg_function_gradient, f);
        assert_int_equal(graph_walk(f, &x, &y), 0);
        assert_true(fabs(y - exact[k]) <= TOL_PROGRAM_ULP * DBL_EPSILON * exact[k]);
    }
    wg_function_free(f);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(third_derivatives_do_not_ask_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
