/* SPDX-License-Identifier: MIT */
/* calls_statement.c - rows: statements, inline as optimised code has them. */
#include "calls_statement.h"

static const struct row list[] = {
    {"wg_let of a variable", variable, 4}, {"wg_let of 0", statement_0, 4},
    {"wg_let of 1", statement_1, 24},      {"wg_let of 2", statement_2, 24},
    {"wg_let of 3", statement_3, 12},      {"wg_let of 4", statement_4, 12},
    {"wg_let of 5", statement_5, 8},       {"wg_let of 6", statement_6, 8},
    {"wg_let of 7", statement_7, 8},       {"wg_let of 8", statement_8, 8},
    {"wgi_let_long", statement_long, 8},
};
const struct rows calls_statement = ROWS(list);
