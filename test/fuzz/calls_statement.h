/* SPDX-License-Identifier: MIT */
/* calls_statement.h - rows: statements of 0 to 8 variables, and a longer one, for the ways
 * of compiling them. */
#include "calls.h"

#define STATEMENT(n, expression)                                                               \
    TAPE(t);                                                                                   \
    wg_real x[8];                                                                              \
    for (int i = 0; i < 8; i++) {                                                              \
        static const char *const names[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};   \
        x[i] = i < (n) ? draw_real(names[i]) : wg_constant(0);                                 \
    }                                                                                          \
    const wg_real x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5], x6 = x[6], \
                  x7 = x[7];                                                                   \
    (void)x0, (void)x1, (void)x2, (void)x3, (void)x4, (void)x5, (void)x6, (void)x7;            \
    NUMBER(a);                                                                                 \
    (void)a;                                                                                   \
    say("real", "wg_let(t, " #expression ")");                                                 \
    keep_real(wg_let(t, expression))

static void variable(void) { STATEMENT(1, x0); }
static void statement_0(void) { STATEMENT(0, wg_mul(a, wg_sin(a))); }
static void statement_1(void) { STATEMENT(1, wg_mul(a, wg_exp(wg_neg(x0)))); }
static void statement_2(void) { STATEMENT(2, wg_neg(wg_div(x0, wg_sqrt(x1)))); }
static void statement_3(void) { STATEMENT(3, wg_sin(wg_fma(x0, x1, wg_log(x2)))); }
static void statement_4(void) { STATEMENT(4, wg_neg(wg_add(wg_mul(x0, x1), wg_pow(x2, x3)))); }
static void statement_5(void) {
    STATEMENT(5, wg_neg(wg_add(wg_add(wg_mul(x0, x1), wg_hypot(x2, x3)), wg_mul(a, x4))));
}
static void statement_6(void) {
    STATEMENT(6, wg_neg(wg_add(wg_add(wg_mul(x0, x1), wg_atan2(x2, x3)),
                               wg_select_lt(x4, a, x5, 2.0))));
}
static void statement_7(void) {
    STATEMENT(
        7, wg_neg(wg_mul(wg_add(wg_mul(x0, x1), wg_sub(x2, x3)), wg_fma(x4, x5, wg_neg(x6)))));
}
static void statement_8(void) {
    STATEMENT(8, wg_neg(wg_add(wg_add(wg_mul(x0, x1), wg_mul(x2, x3)),
                               wg_add(wg_mul(x4, x5), wg_mul(x6, x7)))));
}
static void statement_long(void) {
    STATEMENT(8, wg_neg(wg_add(wg_add(wg_mul(x0, x1), wg_add(wg_mul(x2, x3), wg_mul(a, x0))),
                               wg_add(wg_fma(x4, x5, wg_exp(x2)), wg_mul(wg_sin(x6), x7)))));
}
