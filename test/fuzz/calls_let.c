/* SPDX-License-Identifier: MIT */
/* calls_let.c - rows: statements of one operation that are recorded by a call. */
#include "calls.h"

#define OP1(name, ...)                                                                         \
    static void let_##name(void) {                                                             \
        TAPE(t);                                                                               \
        const wg_real a = draw_real("a");                                                      \
        say("real", "wg_let_" #name "(t, a)");                                                 \
        keep_real(wg_let_##name(t, a));                                                        \
    }
#define OP2(name, ...)                                                                         \
    static void let_##name(void) {                                                             \
        TAPE(t);                                                                               \
        const wg_real a = draw_real("a"), b = draw_real("b");                                  \
        say("real", "wg_let_" #name "(t, a, b)");                                              \
        keep_real(wg_let_##name(t, a, b));                                                     \
    }
#define OP3(name, ...)                                                                         \
    static void let_##name(void) {                                                             \
        TAPE(t);                                                                               \
        const wg_real a = draw_real("a"), b = draw_real("b"), c = draw_real("c");              \
        say("real", "wg_let_" #name "(t, a, b, c)");                                           \
        keep_real(wg_let_##name(t, a, b, c));                                                  \
    }
#define OP4(name, ...)                                                                         \
    static void let_##name(void) {                                                             \
        TAPE(t);                                                                               \
        const wg_real a = draw_real("a"), b = draw_real("b"), c = draw_real("c");              \
        const wg_real d = draw_real("d");                                                      \
        say("real", "wg_let_" #name "(t, a, b, c, d)");                                        \
        keep_real(wg_let_##name(t, a, b, c, d));                                               \
    }
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

#define ANY(name, ...) {"wg_let_" #name, let_##name, 1},
#define OP1 ANY
#define OP2 ANY
#define OP3 ANY
#define OP4 ANY
static const struct row list[] = {
#include "ops/scalar/scalar.def"
};
const struct rows calls_let = ROWS(list);
