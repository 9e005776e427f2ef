/* SPDX-License-Identifier: MIT */
/* let.c - statements of one operation that are recorded by a call, wengert/let.h: wg_let, for
 * each row of ops/scalar/scalar.def. A constant among two operands is a number of the statement,
 * which is then one of one operand. */
#include <wengert/let.h>
#include <wengert/scalar.h>

#define OP1(name, text, da, daa, class, source)                                                \
    wg_real wg_let_##name(wg_tape *t, wg_real a) { return wg_let(t, wg_##name(a)); }

#define OP2(name, text, da, db, daa, dab, dbb, class, source)                                  \
    wg_real wg_let_##name(wg_tape *t, wg_real a, wg_real b) {                                  \
        if (a.at.slot != 0 && b.at.slot == 0) return wg_let(t, wg_##name(a, b.value));         \
        if (a.at.slot == 0 && b.at.slot != 0) return wg_let(t, wg_##name(a.value, b));         \
        return wg_let(t, wg_##name(a, b));                                                     \
    }

#define OP3(name, text, da, db, dc, daa, dab, dac, dbb, dbc, dcc, class, source)               \
    wg_real wg_let_##name(wg_tape *t, wg_real a, wg_real b, wg_real c) {                       \
        return wg_let(t, wg_##name(a, b, c));                                                  \
    }

#define OP4(name, text, da, db, dc, dd, class, source)                                         \
    wg_real wg_let_##name(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d) {            \
        return wg_let(t, wg_##name(a, b, c, d));                                               \
    }

#include "ops/scalar/scalar.def"
