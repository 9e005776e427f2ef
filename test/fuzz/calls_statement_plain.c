/* SPDX-License-Identifier: MIT */
/* calls_statement_plain.c - rows: statements as code without optimisation has them, which calls
 * the recorders in the library. */
#undef __OPTIMIZE__
#include "calls_statement.h"

static const struct row list[] = {
    {"wgi_*_r", variable, 2},    {"wgi_*_0", statement_0, 2}, {"wgi_*_1", statement_1, 4},
    {"wgi_*_2", statement_2, 4}, {"wgi_*_3", statement_3, 2}, {"wgi_*_4", statement_4, 2},
    {"wgi_*_5", statement_5, 2}, {"wgi_*_6", statement_6, 2}, {"wgi_*_7", statement_7, 2},
    {"wgi_*_8", statement_8, 2}, {"wgi_*_many", statement_long, 2},
};
const struct rows calls_statement_plain = ROWS(list);
