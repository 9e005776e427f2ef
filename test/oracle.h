/* SPDX-License-Identifier: MIT */
/* oracle.h - reads a table of reference values: comma-separated text whose first line names the
 * columns; a cell may be quoted. Numbers are written so that strtod reads them back exactly. */
#ifndef WENGERT_TEST_ORACLE_H
#define WENGERT_TEST_ORACLE_H

#include <stddef.h>

struct oracle_csv {
    char *text;   /* the whole file, cut into cells */
    char **cells; /* rows + 1 times cols; row 0 is the header */
    size_t rows, cols;
};

/* Returns 0, or -1 when the file cannot be read or a line has the wrong number of cells. */
int oracle_csv_read(struct oracle_csv *t, const char *path);
void oracle_csv_free(struct oracle_csv *t);

/* The number of the column so named, or (size_t)-1. */
size_t oracle_csv_column(const struct oracle_csv *t, const char *name);

/* The cell in data row `row`, 0 <= row < rows; "" outside the table. */
const char *oracle_csv_cell(const struct oracle_csv *t, size_t row, size_t col);

/* 1 and the number in *x, or 0 where the cell is empty, `any` or not a number. */
int oracle_csv_number(const struct oracle_csv *t, size_t row, size_t col, double *x);

#endif
