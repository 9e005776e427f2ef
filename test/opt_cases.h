/* SPDX-License-Identifier: MIT */
/* opt_cases.h - the reference points of data/opt_problems.txt, and the problems as callbacks of
 * the drivers. */
#ifndef WENGERT_TEST_OPT_CASES_H
#define WENGERT_TEST_OPT_CASES_H

#include <stdlib.h>
#include <string.h>
#include "opt_problems.h"
#include "oracle_text.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

enum { OPT_MAX_N = 16, OPT_MAX_M = 128, OPT_CASES = 82 /* two points of each problem */ };

struct opt_case {
    struct oracle_case text;
    int number; /* in opt_problems[] */
    size_t n, m;
    const double *x, *f, *g, *h, *r, *j; /* r, j: NULL where there are none; row-major */
};

/* 1: the next case; 0: no more; -1: malformed. */
static inline int opt_case_read(FILE *in, struct opt_case *c) {
    const int got = oracle_case_read(in, &c->text);
    if (got != 1) return got;
    c->number = 0;
    while (c->number < opt_problems_count &&
           strcmp(opt_problems[c->number].name, c->text.name) != 0)
        c->number++;
    if (c->number == opt_problems_count) return -1;
    c->n = (size_t)opt_problems[c->number].n;
    c->m = (size_t)opt_problems[c->number].m;
    const struct oracle_array *a = oracle_case_array(&c->text, "in", "x");
    if (a == NULL || a->count != c->n) return -1;
    c->x = a->v;
    const char *const key[] = {"f", "g", "H", "r", "J"};
    const double **const to[] = {&c->f, &c->g, &c->h, &c->r, &c->j};
    const size_t count[] = {1, c->n, c->n * c->n, c->m, c->m * c->n};
    for (int i = 0; i < 5; i++) {
        a = oracle_case_array(&c->text, "ref", key[i]);
        if (a == NULL && c->m == 0 && i > 2) a = oracle_case_array(&c->text, "ref", "f");
        else if (a == NULL || a->count != count[i]) return -1;
        *to[i] = a->v;
    }
    return 1;
}

/* Calls f with every case; how many, or -1: the file is missing or malformed. */
static inline int opt_for_each(void (*f)(const struct opt_case *c)) {
    FILE *in = fopen(TEST_DATA "opt_problems.txt", "r");
    struct opt_case c;
    int got, cases = 0;
    if (in == NULL) return -1;
    for (; (got = opt_case_read(in, &c)) == 1; cases++) {
        f(&c);
        oracle_case_free(&c.text);
    }
    fclose(in);
    return got == 0 ? cases : -1;
}

/* Callbacks; data: the number of the problem. */
static inline wg_status opt_objective(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                      wg_real *y, void *data) {
    const int number = *(const int *)data;
    wg_real r[OPT_MAX_M];
    (void)m;
    opt_problem_real(t, number, (int)n, opt_problems[number].m, x, y,
                     opt_problems[number].nls ? r : NULL);
    return WG_OK;
}

static inline wg_status opt_residuals(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                      wg_real *y, void *data) {
    opt_problem_real(t, *(const int *)data, (int)n, (int)m, x, NULL, y);
    return WG_OK;
}

#endif
