/* SPDX-License-Identifier: MIT */
/* scalar_rows.h - ops/scalar/scalar.def expanded into plain functions of double, and the table
 * of them. */
#ifndef WENGERT_TEST_SCALAR_ROWS_H
#define WENGERT_TEST_SCALAR_ROWS_H

#include <string.h>
#include "ops/scalar/special_second.h"

/* x holds the operands a, b, c, d; v is the value, and is ignored by the value itself. */
typedef double scalar_fn(const double *x, double v);

struct scalar_row {
    const char *name, *class;
    size_t arity;
    scalar_fn *value;
    scalar_fn *first[4];     /* a b c d */
    scalar_fn *second[3][3]; /* upper triangle: aa ab ac, bb bc, cc; NULL where identically 0 */
};

#define PICK1                                                                                  \
    const double a = x[0];                                                                     \
    (void)a;                                                                                   \
    (void)v;
#define PICK2                                                                                  \
    PICK1 const double b = x[1];                                                               \
    (void)b;
#define PICK3                                                                                  \
    PICK2 const double c = x[2];                                                               \
    (void)c;
#define PICK4                                                                                  \
    PICK3 const double d = x[3];                                                               \
    (void)d;
#define ROW_FN(name, column, pick, text)                                                       \
    static double name##_##column(const double *x, double v) { pick return text; }

#define OP1(name, f, fa, faa, class, source)                                                   \
    ROW_FN(name, row_f, PICK1, f)                                                              \
    ROW_FN(name, row_a, PICK1, fa) ROW_FN(name, row_aa, PICK1, faa)
#define OP2(name, f, fa, fb, faa, fab, fbb, class, source)                                     \
    OP2_FIRST(name, PICK2, f, fa, fb)                                                          \
    ROW_FN(name, row_aa, PICK2, faa)                                                           \
    ROW_FN(name, row_ab, PICK2, fab) ROW_FN(name, row_bb, PICK2, fbb)
#define OP2_FIRST(name, pick, f, fa, fb)                                                       \
    ROW_FN(name, row_f, pick, f) ROW_FN(name, row_a, pick, fa) ROW_FN(name, row_b, pick, fb)
#define OP3(name, f, fa, fb, fc, faa, fab, fac, fbb, fbc, fcc, class, source)                  \
    OP2_FIRST(name, PICK3, f, fa, fb)                                                          \
    ROW_FN(name, row_c, PICK3, fc)                                                             \
    ROW_FN(name, row_aa, PICK3, faa) ROW_FN(name, row_ab, PICK3, fab)                          \
        ROW_FN(name, row_ac, PICK3, fac) ROW_FN(name, row_bb, PICK3, fbb)                      \
            ROW_FN(name, row_bc, PICK3, fbc) ROW_FN(name, row_cc, PICK3, fcc)
#define OP4(name, f, fa, fb, fc, fd, class, source)                                            \
    OP2_FIRST(name, PICK4, f, fa, fb)                                                          \
    ROW_FN(name, row_c, PICK4, fc) ROW_FN(name, row_d, PICK4, fd)
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

#define OP1(n, f, fa, faa, class, source)                                                      \
    {#n, #class, 1, n##_row_f, {n##_row_a}, {{n##_row_aa}}},
#define OP2(n, f, fa, fb, faa, fab, fbb, class, source)                                        \
    {#n,                                                                                       \
     #class,                                                                                   \
     2,                                                                                        \
     n##_row_f,                                                                                \
     {n##_row_a, n##_row_b},                                                                   \
     {{n##_row_aa, n##_row_ab}, {NULL, n##_row_bb}}},
#define OP3(n, f, fa, fb, fc, faa, fab, fac, fbb, fbc, fcc, class, source)                     \
    {#n,                                                                                       \
     #class,                                                                                   \
     3,                                                                                        \
     n##_row_f,                                                                                \
     {n##_row_a, n##_row_b, n##_row_c},                                                        \
     {{n##_row_aa, n##_row_ab, n##_row_ac},                                                    \
      {NULL, n##_row_bb, n##_row_bc},                                                          \
      {NULL, NULL, n##_row_cc}}},
#define OP4(n, f, fa, fb, fc, fd, class, source)                                               \
    {#n, #class, 4, n##_row_f, {n##_row_a, n##_row_b, n##_row_c, n##_row_d}, {{NULL}}},
static const struct scalar_row scalar_rows[] = {
#include "ops/scalar/scalar.def"
};
#undef OP1
#undef OP2
#undef OP3
#undef OP4

#define SCALAR_ROWS (sizeof scalar_rows / sizeof scalar_rows[0])

static inline const struct scalar_row *scalar_row_find(const char *name) {
    for (size_t i = 0; i < SCALAR_ROWS; i++)
        if (strcmp(scalar_rows[i].name, name) == 0) return &scalar_rows[i];
    return NULL;
}

/* How far ops/scalar/formula.def says that an operation can be differentiated; 0: without
 * end. */
static inline size_t last_order(const char *name) {
    static const struct {
        const char *name;
        size_t order;
    } ends[] = {
#define FORMULA(name, k, text)
#define SECOND(name, k, text)
#define CAREFUL(name)
#define ORDER(name, k) {#name, k},
#include "ops/scalar/formula.def"
#undef FORMULA
#undef SECOND
#undef CAREFUL
#undef ORDER
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(name, ends[i].name) == 0) return ends[i].order;
    return 0;
}

#endif
