/* SPDX-License-Identifier: MIT */
/* det.c - the determinant by expansion along the first row: of the minors, along theirs, and so
 * on, and its gradient by all entries.
 *
 * Recorded statement by statement, an expansion of order 11 has 10^8 of them. Each order is a
 * function instead, which calls that of the order below for its minors. A minor that is met
 * again in another one is the same operations of the same entries, of which a function keeps
 * one: of order n there are n 2^(n-1) products left of the n! e that the primal does. That is
 * what recording as a function is good for here; it says nothing about the cost of derivatives.
 */
#include <stdlib.h>

#include "mapped.h"

enum { MOST = 16 };

struct det {
    wg_tape *t;
    struct gb_mapped gradient;
    size_t n;
    double *a, *g, det;
};

static void release(void *job) {
    struct det *d = job;
    gb_mapped_close(&d->gradient);
    wg_tape_free(d->t);
    free(d->a);
    free(d->g);
    free(d);
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    struct det *const d = calloc(1, sizeof *d);
    size_t entries = GB_ANY;
    (void)o;
    if (d == NULL) {
        gb_fail(e, "no memory");
        return NULL;
    }
    d->a = gb_numbers(input, "A", 1, &entries, e);
    if (d->a != NULL && gb_index(input, "ell", &d->n, e) == 0) {
        d->g = malloc((entries + 1) * sizeof *d->g);
        d->t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
        if (d->n == 0 || d->n > MOST) gb_fail(e, "ell: 1 to %d is wanted, not %zu", MOST, d->n);
        else if (d->n * d->n != entries)
            gb_fail(e, "A: %zu entries are wanted, not %zu", d->n * d->n, entries);
        else if (d->g == NULL || d->t == NULL) gb_fail(e, "no memory for %zu entries", entries);
        else return d;
    }
    release(d);
    return NULL;
}

/* Of the rows from `row` on and the columns in the list after that of number n. */
static double expand(size_t n, const double *a, size_t row, size_t *next) {
    double sum = 0, sign = 1;
    if (row == n) return 1;
    for (size_t before = n, j = next[n]; j < n; before = j, j = next[j]) {
        next[before] = next[j];
        sum += sign * a[row * n + j] * expand(n, a, row + 1, next);
        next[before] = j;
        sign = -sign;
    }
    return sum;
}

static int run_primal(void *job, struct gb_error *e) {
    struct det *d = job;
    size_t next[MOST + 1];
    (void)e;
    for (size_t j = 0; j < d->n; j++) next[j] = j + 1;
    next[d->n] = 0;
    d->det = expand(d->n, d->a, 0, next);
    return 0;
}

struct order {
    size_t n;
    const wg_callable *below; /* NULL for the first */
};

/* in: row after row */
static wg_status expansion(wg_tape *t, size_t entries, const wg_real *in, size_t m,
                           wg_real *out, void *data) {
    const struct order *const o = data;
    const size_t n = o->n;
    wg_real minor[MOST * MOST], sum = wg_constant(0);
    (void)entries, (void)m;
    if (n == 1) {
        out[0] = in[0];
        return WG_OK;
    }
    for (size_t j = 0; j < n; j++) {
        size_t k = 0;
        for (size_t i = n; i < n * n; i++)
            if (i % n != j) minor[k++] = in[i];
        const wg_mat at = wg_mat_gather(t, n - 1, n - 1, minor);
        wg_mat y;
        wg_call(t, o->below, &at, &y);
        const wg_real term = wg_let(t, wg_mul(in[j], wg_mat_at(y, 0, 0)));
        sum = j % 2 ? wg_let(t, wg_sub(sum, term)) : wg_let(t, wg_add(sum, term));
    }
    out[0] = sum;
    return wg_tape_status(t);
}

/* One order after the other; the function of the last one, or NULL. */
static wg_function *determinant(struct det *d) {
    const wg_argument y = {"det", 1, 1, 0};
    wg_callable *below = NULL, *here = NULL;
    wg_function *f = NULL;
    for (size_t n = 1; n <= d->n; n++) {
        const wg_argument a = {"A", n, n, 0};
        struct order o = {n, below};
        if (wg_function_record(d->t, expansion, &o, 1, &a, d->a, 1, &y, &f) != WG_OK ||
            n == d->n)
            break;
        const wg_status s = wg_callable_new(d->t, f, &here);
        wg_function_free(f);
        f = NULL;
        if (s != WG_OK) break;
        wg_callable_free(below);
        below = here;
    }
    wg_callable_free(below);
    return f;
}

static int prepare(void *job, struct gb_error *e) {
    struct det *d = job;
    wg_function *const f = determinant(d);
    wg_function *g = NULL;
    if (f != NULL && wg_function_gradient(d->t, f, &g) != WG_OK) g = NULL;
    wg_function_free(f);
    return gb_mapped_open(&d->gradient, d->t, g, NULL, e);
}

static int run_gradient(void *job, struct gb_error *e) {
    struct det *d = job;
    const wg_points at = {d->a, 0, 1};
    const wg_results to = {d->g, 0, 1};
    return gb_mapped_run(&d->gradient, 1, &at, &to, e);
}

static json_t *output_value(const void *job) {
    const struct det *d = job;
    return gb_array(&d->det, 0, NULL);
}
static json_t *output_gradient(const void *job) {
    const struct det *d = job;
    const size_t entries = d->n * d->n;
    return gb_array(d->g, 1, &entries);
}

const struct gb_module gb_det = {
    .name = "det",
    .read = read,
    .release = release,
    .functions = {{"primal", NULL, run_primal, output_value},
                  {"gradient", prepare, run_gradient, output_gradient}},
};
