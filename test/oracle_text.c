/* SPDX-License-Identifier: MIT */
/* oracle_text.c - see oracle_text.h. Tokens are separated by blanks; numbers are read by
 * strtod, which knows nan and inf. */
#include <stdlib.h>
#include <string.h>
#include "oracle_text.h"

enum { LINE = 1 << 16 };

static int read_array(FILE *in, struct oracle_array *a) {
    if (fscanf(in, "%15s %47s %zu", a->role, a->key, &a->dims) != 3 || a->dims > 4) return -1;
    a->count = 1;
    for (size_t i = 0; i < a->dims; i++) {
        if (fscanf(in, "%zu", &a->dim[i]) != 1) return -1;
        a->count *= a->dim[i];
    }
    a->v = malloc((a->count + 1) * sizeof *a->v);
    if (a->v == NULL) return -1;
    for (size_t i = 0; i < a->count; i++) {
        char token[64], *end;
        if (fscanf(in, "%63s", token) != 1) return -1;
        a->v[i] = strtod(token, &end);
        if (*end != 0) return -1;
    }
    return 0;
}

static int read_line(FILE *in, const char *word, struct oracle_case *c) {
    char *text = malloc(LINE);
    if (text == NULL || c->lines == ORACLE_LINES) {
        free(text);
        return -1;
    }
    const size_t n = strlen(word);
    memcpy(text, word, n);
    if (fgets(text + n, LINE - (int)n, in) == NULL) text[n] = 0;
    text[strcspn(text, "\r\n")] = 0;
    c->line[c->lines++] = text;
    return 0;
}

int oracle_case_read(FILE *in, struct oracle_case *c) {
    char word[32];
    memset(c, 0, sizeof *c);
    if (fscanf(in, "%31s", word) != 1) return 0;
    if (strcmp(word, "case") != 0 || fscanf(in, "%95s %95s", c->name, c->variant) != 2)
        return -1;
    while (fscanf(in, "%31s", word) == 1) {
        int bad;
        if (strcmp(word, "end") == 0) return 1;
        if (strcmp(word, "darray") == 0 || strcmp(word, "iarray") == 0)
            bad = c->arrays == ORACLE_ARRAYS || read_array(in, &c->array[c->arrays++]) != 0;
        else bad = read_line(in, word, c) != 0;
        if (bad) break;
    }
    oracle_case_free(c);
    return -1;
}

void oracle_case_free(struct oracle_case *c) {
    for (size_t i = 0; i < c->arrays; i++) free(c->array[i].v);
    for (size_t i = 0; i < c->lines; i++) free(c->line[i]);
    c->arrays = c->lines = 0;
}

const struct oracle_array *oracle_case_array(const struct oracle_case *c, const char *role,
                                             const char *key) {
    for (size_t i = 0; i < c->arrays; i++)
        if (strcmp(c->array[i].role, role) == 0 && strcmp(c->array[i].key, key) == 0)
            return &c->array[i];
    return NULL;
}

const char *oracle_case_param(const struct oracle_case *c, const char *key) {
    const size_t n = strlen(key);
    for (size_t i = 0; i < c->lines; i++)
        if (strncmp(c->line[i], "param ", 6) == 0 && strncmp(c->line[i] + 6, key, n) == 0 &&
            c->line[i][6 + n] == ' ')
            return c->line[i] + 7 + n;
    return NULL;
}
