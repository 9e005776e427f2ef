/* SPDX-License-Identifier: MIT */
/* oracle_csv.c - reads the tables described in oracle.h. */
#include "oracle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *whole_file(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long n;
    if (!f) return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
        text = malloc((size_t)n + 1);
        if (text && fread(text, 1, (size_t)n, f) == (size_t)n) {
            text[n] = 0;
        } else {
            free(text);
            text = NULL;
        }
    }
    fclose(f);
    return text;
}

/* Ends the cell at p and returns what follows it; *last says whether the line ends with it. */
static char *cut(char *p, char **cell, int *last) {
    char *w = p;
    *cell = p;
    for (int quoted = 0; *p && (quoted || (*p != ',' && *p != '\n')); p++) {
        if (*p != '"') *w++ = *p;
        else if (quoted && p[1] == '"') *w++ = *p++;
        else quoted = !quoted;
    }
    char end = *p;
    if (w > *cell && w[-1] == '\r') w--;
    *w = 0;
    *last = end != ',';
    return end ? p + 1 : p;
}

int oracle_csv_read(struct oracle_csv *t, const char *path) {
    size_t used = 0, room = 0;
    *t = (struct oracle_csv){.text = whole_file(path)};
    if (!t->text) return -1;
    for (char *p = t->text; *p;) {
        size_t line = used;
        for (int last = 0; !last; used++) {
            if (used == room) {
                room = room ? 2 * room : 1024;
                char **more = realloc(t->cells, room * sizeof *more);
                if (!more) goto fail;
                t->cells = more;
            }
            p = cut(p, &t->cells[used], &last);
        }
        if (line == 0) t->cols = used;
        else if (used - line != t->cols) goto fail;
    }
    if (t->cols == 0) goto fail;
    t->rows = used / t->cols - 1;
    return 0;
fail:
    oracle_csv_free(t);
    return -1;
}

void oracle_csv_free(struct oracle_csv *t) {
    free(t->cells);
    free(t->text);
    *t = (struct oracle_csv){0};
}

size_t oracle_csv_column(const struct oracle_csv *t, const char *name) {
    for (size_t i = 0; i < t->cols; i++)
        if (strcmp(t->cells[i], name) == 0) return i;
    return (size_t)-1;
}

const char *oracle_csv_cell(const struct oracle_csv *t, size_t row, size_t col) {
    return row < t->rows && col < t->cols ? t->cells[(row + 1) * t->cols + col] : "";
}

int oracle_csv_number(const struct oracle_csv *t, size_t row, size_t col, double *x) {
    const char *s = oracle_csv_cell(t, row, col);
    char *end;
    double value = strtod(s, &end);
    if (end == s || *end) return 0;
    *x = value;
    return 1;
}
