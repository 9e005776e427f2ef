/* SPDX-License-Identifier: MIT */
/* hello.c - the square of a number, and its derivative. */
#include <stdlib.h>

#include "gradbench.h"

struct hello {
    wg_tape *t;
    double x, y;
};

static void release(void *job) {
    struct hello *h = job;
    wg_tape_free(h->t);
    free(h);
}

static void *read(const json_t *input, const struct gb_options *o, struct gb_error *e) {
    (void)o;
    if (!json_is_number(input)) {
        gb_fail(e, "input: a number is wanted");
        return NULL;
    }
    struct hello *h = malloc(sizeof *h);
    if (!h) {
        gb_fail(e, "no memory");
        return NULL;
    }
    *h = (struct hello){.t = wg_tape_new(NULL), .x = json_number_value(input)};
    if (h->t) return h;
    gb_fail(e, "no memory for a tape");
    release(h);
    return NULL;
}

static wg_status square(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[0]));
    return WG_OK;
}

/* Nothing depends on more than sizes here but the number itself: at another one the tape
 * obtains what memory it needs. */
static int prepare(void *job, struct gb_error *e) {
    struct hello *h = job;
    const double other = 0;
    double value, slope;
    return gb_status(e, wg_gradient(h->t, square, NULL, 1, &other, &value, &slope), h->t);
}

static int run_square(void *job, struct gb_error *e) {
    struct hello *h = job;
    return gb_status(e, wg_eval(h->t, square, NULL, 1, &h->x, 1, &h->y), h->t);
}

static int run_double(void *job, struct gb_error *e) {
    struct hello *h = job;
    double value;
    return gb_status(e, wg_gradient(h->t, square, NULL, 1, &h->x, &value, &h->y), h->t);
}

static json_t *output(const void *job) {
    const struct hello *h = job;
    return gb_array(&h->y, 0, NULL);
}

const struct gb_module gb_hello = {
    .name = "hello",
    .read = read,
    .release = release,
    .functions = {{"square", prepare, run_square, output}, {"double", prepare, run_double, output}},
};
