/* SPDX-License-Identifier: MIT */
/* oracle_text.h - reads reference cases of the form
 *
 *     case NAME VARIANT
 *     param KEY VALUE                 (a list: param KEY[] N v0 v1 ..)
 *     darray ROLE KEY NDIM d0 ..      and then the numbers; iarray: integers
 *     op ...                          kept as text, one line
 *     end */
#ifndef WENGERT_TEST_ORACLE_TEXT_H
#define WENGERT_TEST_ORACLE_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum { ORACLE_ARRAYS = 64, ORACLE_LINES = 512 };

struct oracle_array {
    char role[16], key[48];
    size_t dims, dim[4], count;
    double *v;
};

struct oracle_case {
    char name[96], variant[96];
    size_t arrays, lines;
    struct oracle_array array[ORACLE_ARRAYS];
    char *line[ORACLE_LINES]; /* params and ops, in order */
};

/* The next case: 1; 0 at the end of the file; -1 when the text is malformed. */
int oracle_case_read(FILE *in, struct oracle_case *c);
void oracle_case_free(struct oracle_case *c);

/* The array of that role and key, or NULL. */
const struct oracle_array *oracle_case_array(const struct oracle_case *c, const char *role,
                                             const char *key);
/* The text of a parameter, or NULL. */
const char *oracle_case_param(const struct oracle_case *c, const char *key);

#endif
