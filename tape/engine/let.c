/* SPDX-License-Identifier: MIT */
/* let.c - statements of one operation that are recorded by a call, wengert/let.h: each row of
 * ops/scalar/scalar.def as a function. What it records is what wg_let would, so that tapes, and
 * files, do not tell which of the two it was.
 *
 * Letters: a b c d operands, v the value. A constant among two operands becomes a number of the
 * statement, which is then one of one operand. */
#include <wengert/let.h>
#include <wengert/scalar.h>

/* A statement of one operand, and the number that stands behind it, if there is one. */
typedef struct one {
    wgi_s1 s;
    double number;
} one;

/* The bits of an operand and of a number in code. */
enum { VARIABLE = 0, NUMBER = 1 };

#define BITS(name, operands) (WGI_WIDTH(WGI_OP_##name) + 2 * (operands))
#define HEAD(name, line, operands, of)                                                         \
    WGI_CODE_HEAD(line, 0, BITS(name, of), operands, (of) - (operands))
#define CODE(name, operands, leaves) ((wgi_bits)WGI_CODE_##name << 2 * (operands) | (leaves))

/* The statement of n operands in list s, and the numbers behind it. The slow path, with whatever
 * has no room, is stale, constant or kept, is a function of its own: nothing is saved for it. */
#define RECORD(n, list, head, code)                                                            \
    do {                                                                                       \
        if (WGI_NEARLY_ALWAYS(t != NULL && wgi_ready_##n(t, t->limit, list, 0)))               \
            return wgi_append_##n(t, v, list);                                                 \
        return wgi_short_##n(t, v, list, head, code, file);                                    \
    } while (0)

#define OP1(name, text, da, daa, class, source)                                                \
    wg_real wgi_let_##name(const char *file, int line, wg_tape *t, wg_real a) {                \
        const double v = wgi_op_##name##_v(a.value);                                           \
        const wgi_s1 s = {{wgi_op_##name##_da(a.value, v)}, {a.value}, {wgi_word(a.at)}};      \
        RECORD(1, &s, HEAD(name, line, 1, 1), CODE(name, 1, 0));                               \
    }

#define OP2(name, text, da, db, daa, dab, dbb, class, source)                                  \
    wg_real wgi_let_##name(const char *file, int line, wg_tape *t, wg_real a, wg_real b) {     \
        const double v = wgi_op_##name##_v(a.value, b.value);                                  \
        const uint64_t i = wgi_word(a.at), j = wgi_word(b.at);                                 \
        if (i != 0 && j == 0) {                                                                \
            const one e = {{{wgi_op_##name##_da(a.value, b.value, v)}, {a.value}, {i}},        \
                           b.value};                                                           \
            RECORD(1, &e.s, HEAD(name, line, 1, 2), CODE(name, 2, VARIABLE | NUMBER << 2));    \
        }                                                                                      \
        if (i == 0 && j != 0) {                                                                \
            const one e = {{{wgi_op_##name##_db(a.value, b.value, v)}, {b.value}, {j}},        \
                           a.value};                                                           \
            RECORD(1, &e.s, HEAD(name, line, 1, 2), CODE(name, 2, NUMBER | VARIABLE << 2));    \
        }                                                                                      \
        const wgi_s2 s = {{wgi_op_##name##_da(a.value, b.value, v),                            \
                           wgi_op_##name##_db(a.value, b.value, v)},                           \
                          {a.value, b.value},                                                  \
                          {i, j}};                                                             \
        RECORD(2, &s, HEAD(name, line, 2, 2), CODE(name, 2, 0));                               \
    }

#define OP3(name, text, da, db, dc, daa, dab, dac, dbb, dbc, dcc, class, source)               \
    wg_real wgi_let_##name(const char *file, int line, wg_tape *t, wg_real a, wg_real b,       \
                           wg_real c) {                                                        \
        const double v = wgi_op_##name##_v(a.value, b.value, c.value);                         \
        const wgi_s3 s = {{wgi_op_##name##_da(a.value, b.value, c.value, v),                   \
                           wgi_op_##name##_db(a.value, b.value, c.value, v),                   \
                           wgi_op_##name##_dc(a.value, b.value, c.value, v)},                  \
                          {a.value, b.value, c.value},                                         \
                          {wgi_word(a.at), wgi_word(b.at), wgi_word(c.at)}};                   \
        RECORD(3, &s, HEAD(name, line, 3, 3), CODE(name, 3, 0));                               \
    }

#define OP4(name, text, da, db, dc, dd, class, source)                                         \
    wg_real wgi_let_##name(const char *file, int line, wg_tape *t, wg_real a, wg_real b,       \
                           wg_real c, wg_real d) {                                             \
        const double v = wgi_op_##name##_v(a.value, b.value, c.value, d.value);                \
        const wgi_s4 s = {{wgi_op_##name##_da(a.value, b.value, c.value, d.value, v),          \
                           wgi_op_##name##_db(a.value, b.value, c.value, d.value, v),          \
                           wgi_op_##name##_dc(a.value, b.value, c.value, d.value, v),          \
                           wgi_op_##name##_dd(a.value, b.value, c.value, d.value, v)},         \
                          {a.value, b.value, c.value, d.value},                                \
                          {wgi_word(a.at), wgi_word(b.at), wgi_word(c.at), wgi_word(d.at)}};   \
        RECORD(4, &s, HEAD(name, line, 4, 4), CODE(name, 4, 0));                               \
    }

#include "ops/scalar/scalar.def"
