/* SPDX-License-Identifier: MIT */
/* calls_statement_small.c - rows: statements as small code has them, recorded by a call. */
#define WG_SMALL_CODE
#include "calls_statement.h"

static const struct row list[] = {
    {"wgi_short_r", variable, 2},          {"wgi_short_0", statement_0, 2},
    {"wgi_short_1", statement_1, 2},       {"wgi_short_2", statement_2, 2},
    {"wgi_short_3", statement_3, 2},       {"wgi_short_4", statement_4, 2},
    {"wgi_short_5", statement_5, 2},       {"wgi_short_6", statement_6, 2},
    {"wgi_short_7", statement_7, 2},       {"wgi_short_8", statement_8, 2},
    {"wgi_short_many", statement_long, 2},
};
const struct rows calls_statement_small = ROWS(list);
