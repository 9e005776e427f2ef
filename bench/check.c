/* SPDX-License-Identifier: MIT */
/* check.c - derivatives against differences, against each other, and against reference values.
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/data.h"

double bench_ulps(size_t n, const double *a, const double *b) {
    double error = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        const double e = fabs(a[i] - b[i]);
        if (!(e < INFINITY)) return INFINITY;
        error = (e > error ? e : error);
        size = (fabs(b[i]) > size ? fabs(b[i]) : size);
    }
    return error == 0 ? 0 : error / size / DBL_EPSILON;
}

/* ---- differences ----------------------------------------------------------------------------
 */

double bench_difference(const struct bench_workload *w, const struct bench_case *c) {
    enum { DIRECTIONS = 4 };
    const double h = BENCH_DIFFERENCE_STEP;
    struct bench_case moved = *c;
    double *entries = malloc(c->entries * sizeof *entries);
    double *v = malloc(c->n * sizeof *v), *x = malloc(c->n * sizeof *x);
    double *y = malloc(5 * c->m * sizeof *y), worst = 0;
    uint64_t seed = 99;
    if (!entries || !v || !x || !y) {
        worst = INFINITY;
        goto end;
    }
    w->handwritten(c, entries);
    moved.x = x;
    for (size_t k = 0; k < DIRECTIONS; k++) {
        static const double at[4] = {1, -1, 2, -2};
        double *jv = y + 4 * c->m, error = 0, size = 0;
        for (size_t i = 0; i < c->n; i++) v[i] = bench_uniform(&seed, -1, 1) * fabs(c->x[i]);
        for (size_t j = 0; j < 4; j++) {
            for (size_t i = 0; i < c->n; i++) x[i] = c->x[i] + at[j] * h * v[i];
            w->primal(&moved, y + j * c->m);
        }
        w->apply(c, entries, v, jv);
        for (size_t i = 0; i < c->m; i++) {
            const double d =
                (8 * (y[i] - y[c->m + i]) - (y[2 * c->m + i] - y[3 * c->m + i])) / (12 * h);
            const double e = fabs(d - jv[i]);
            error = (e <= error ? error : e);
            size = (fabs(jv[i]) > size ? fabs(jv[i]) : size);
        }
        if (!(error / size <= worst)) worst = error / size;
    }
end:
    free(entries);
    free(v);
    free(x);
    free(y);
    return worst == worst ? worst : INFINITY;
}

/* ---- reference values: a text file of cases, token by token
 * ----------------------------------- */

enum { MAX_FIELDS = 24 };

struct field {
    char role[16], key[40];
    double *number;
    size_t count;
};

struct oracle {
    char name[40];
    struct field field[MAX_FIELDS];
    size_t fields;
};

static void oracle_free(struct oracle *o) {
    for (size_t i = 0; i < o->fields; i++) free(o->field[i].number);
    o->fields = 0;
}

/* Numbers of `count`, from here on. 0, or -1. */
static int read_numbers(FILE *f, struct field *to, size_t count) {
    char text[64];
    to->count = count;
    to->number = malloc((count ? count : 1) * sizeof *to->number);
    if (!to->number) return -1;
    for (size_t i = 0; i < count; i++) {
        if (fscanf(f, "%63s", text) != 1) return -1;
        to->number[i] = strtod(text, NULL);
    }
    return 0;
}

static int read_field(FILE *f, const char *word, struct oracle *o) {
    if (o->fields == MAX_FIELDS) return -1;
    struct field *to = &o->field[o->fields++];
    to->number = NULL;
    to->count = 0;
    if (strcmp(word, "param") == 0) {
        char text[128];
        strcpy(to->role, "param");
        if (fscanf(f, "%39s", to->key) != 1) return -1;
        const size_t length = strlen(to->key);
        if (length > 2 && strcmp(to->key + length - 2, "[]") == 0) {
            size_t count;
            return fscanf(f, "%zu", &count) == 1 && count < 1000 ? read_numbers(f, to, count)
                                                                 : -1;
        }
        /* a number, or words that nobody asks for */
        if (fscanf(f, "%127s", text) != 1 || !(to->number = malloc(sizeof *to->number)))
            return -1;
        to->number[0] = strtod(text, NULL);
        to->count = 1;
        return 0;
    }
    if (strcmp(word, "darray") != 0 && strcmp(word, "iarray") != 0) return -1;
    size_t dimensions, extent, count = 1;
    if (fscanf(f, "%15s %39s %zu", to->role, to->key, &dimensions) != 3) return -1;
    for (size_t i = 0; i < dimensions; i++) {
        if (fscanf(f, "%zu", &extent) != 1 || extent > 1000000 || (count *= extent) > 1000000)
            return -1;
    }
    return read_numbers(f, to, count);
}

/* 1: a case; 0: no more; -1: not understood. */
static int oracle_read(FILE *f, struct oracle *o) {
    char word[40];
    o->fields = 0;
    if (fscanf(f, "%39s", word) != 1) return 0;
    if (strcmp(word, "case") != 0 || fscanf(f, "%39s %*s", o->name) != 1) return -1;
    while (fscanf(f, "%39s", word) == 1) {
        if (strcmp(word, "end") == 0) return 1;
        if (read_field(f, word, o)) break;
    }
    oracle_free(o);
    return -1;
}

static const struct field *find(const struct oracle *o, const char *key) {
    static const struct field none;
    for (size_t i = 0; i < o->fields; i++)
        if (strcmp(o->field[i].key, key) == 0) return &o->field[i];
    return &none;
}

static size_t whole(const struct oracle *o, const char *key) {
    const struct field *f = find(o, key);
    return f->count == 1 && f->number[0] > 0 ? (size_t)f->number[0] : 0;
}

static int copy(double *to, size_t n, const struct field *from) {
    if (from->count != n) return -1;
    memcpy(to, from->number, n * sizeof *to);
    return 0;
}

static int oracle_mixture(const struct oracle *o, struct bench_case *c) {
    double *x, *points;
    const size_t d = whole(o, "d"), k = whole(o, "k"), n = whole(o, "N");
    const struct field *gamma = find(o, "gamma"), *m = find(o, "wishart_m");
    return d * k * n == 0 || gamma->count != 1 || m->count != 1 ||
           bench_mixture_case(c, d, k, n, gamma->number[0], (int)m->number[0], 1, &x,
                              &points) ||
           copy(x, c->n, find(o, "x")) || copy(points, n * d, find(o, "data"));
}

static int oracle_lstm(const struct oracle *o, struct bench_case *c) {
    double *x, *state, *sequence;
    const size_t l = whole(o, "layers"), n = whole(o, "chars"), b = whole(o, "bits");
    return l * n * b == 0 || bench_lstm_case(c, l, n, b, &x, &state, &sequence) ||
           copy(x, c->n, find(o, "x")) || copy(state, 2 * l * b, find(o, "state")) ||
           copy(sequence, n * b, find(o, "sequence"));
}

static int oracle_bundle(const struct oracle *o, struct bench_case *c) {
    double *x, *feats;
    size_t *seen;
    const struct field *obs = find(o, "obs");
    const size_t cameras = whole(o, "cams"), points = whole(o, "points"), n = obs->count / 2;
    if (cameras * points * n == 0 ||
        bench_bundle_case(c, cameras, points, n, &x, &seen, &feats) ||
        copy(x, c->n, find(o, "x")) || copy(feats, 2 * n, find(o, "feats")))
        return -1;
    for (size_t i = 0; i < 2 * n; i++) {
        if (!(obs->number[i] >= 0 && obs->number[i] < (double)(i % 2 ? points : cameras)))
            return -1;
        seen[i] = (size_t)obs->number[i];
    }
    return 0;
}

/* The reference derivative in the order of the workload's entries; 0, or -1. A Jacobian comes
 * in coordinates: its rows and columns are found again by applying ours to unit vectors. */
static int reference(const struct oracle *o, const struct bench_workload *w,
                     const struct bench_case *c, const double *entries, double *ours,
                     double *theirs) {
    if (w->id != BENCH_bundle) {
        memcpy(ours, entries, c->n * sizeof *ours);
        return copy(theirs, c->n, find(o, "grad"));
    }
    const struct field *row = find(o, "jac_rows"), *column = find(o, "jac_cols");
    const struct field *value = find(o, "jac_vals");
    double *unit = calloc(c->n, sizeof *unit), *jv = malloc(c->m * sizeof *jv);
    int bad = (!unit || !jv || row->count != value->count || column->count != value->count);
    memset(theirs, 0, c->n * c->m * sizeof *theirs);
    for (size_t i = 0; i < value->count && !bad; i++) {
        const double at = row->number[i] * (double)c->n + column->number[i];
        if (at >= 0 && at < (double)(c->n * c->m)) theirs[(size_t)at] = value->number[i];
        else bad = 1;
    }
    for (size_t j = 0; j < c->n && !bad; j++) {
        unit[j] = 1;
        w->apply(c, entries, unit, jv);
        unit[j] = 0;
        for (size_t i = 0; i < c->m; i++) ours[i * c->n + j] = jv[i];
    }
    free(unit);
    free(jv);
    return bad ? -1 : 0;
}

static int oracle_case(const struct oracle *o, const struct bench_workload *w,
                       const struct bench_case *c, wg_tape *t, FILE *out) {
    const size_t dense = (w->id == BENCH_bundle ? c->m : 1) * c->n;
    double *entries = malloc(c->entries * sizeof *entries), *y = malloc(c->m * sizeof *y);
    double *ours = malloc(dense * sizeof *ours), *theirs = malloc(dense * sizeof *theirs);
    wg_real *vars = malloc((c->n + c->work) * sizeof *vars);
    const struct field *value = find(o, "F");
    double primal = INFINITY, hand = INFINITY, tape = INFINITY;
    if (entries && y && ours && theirs && vars && value->count == c->m) {
        w->primal(c, y);
        primal = bench_ulps(c->m, y, value->number);
        w->handwritten(c, entries);
        if (reference(o, w, c, entries, ours, theirs) == 0)
            hand = bench_ulps(dense, ours, theirs);
        if (w->tape(t, c, vars, entries, NULL) == WG_OK &&
            reference(o, w, c, entries, ours, theirs) == 0)
            tape = bench_ulps(dense, ours, theirs);
    }
    free(entries);
    free(y);
    free(ours);
    free(theirs);
    free(vars);
    const int bad = !(primal <= BENCH_ORACLE_ULPS && hand <= BENCH_ORACLE_ULPS &&
                      tape <= BENCH_ORACLE_ULPS);
    fprintf(out, "%-18s reference n %-6zu %12.3g %12.3g %12.3g  %s\n", w->name, c->n, primal,
            hand, tape, bad ? "WRONG" : "ok");
    return bad;
}

int bench_oracle(const char *path, FILE *out) {
    static const struct {
        const char *name;
        enum bench_id id;
        int (*fill)(const struct oracle *o, struct bench_case *c);
    } known[] = {{"gmm_adbench", BENCH_mixture, oracle_mixture},
                 {"lstm", BENCH_lstm, oracle_lstm},
                 {"ba", BENCH_bundle, oracle_bundle}};
    FILE *f = fopen(path, "r");
    wg_tape *t = wg_tape_new(NULL);
    struct oracle *o = malloc(sizeof *o);
    int wrong = 0, more = (f && t && o ? 1 : -1);
    size_t checked = 0;
    if (more == 1)
        fprintf(out, "%-18s %-18s %12s %12s %12s\n", "", "error in ulps of", "value",
                "handwritten", "wengert");
    while (more == 1 && (more = oracle_read(f, o)) == 1) {
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            struct bench_case c;
            if (strcmp(known[i].name, o->name) != 0) continue;
            memset(&c, 0, sizeof c);
            if (known[i].fill(o, &c) || bench_case_finish(&c)) more = -1;
            else wrong += oracle_case(o, &bench_workloads[known[i].id], &c, t, out);
            bench_case_free(&c);
            checked++;
        }
        oracle_free(o);
    }
    free(o);
    wg_tape_free(t);
    if (f) fclose(f);
    return more < 0 || checked == 0 ? -1 : wrong;
}
