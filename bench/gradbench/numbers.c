/* SPDX-License-Identifier: MIT */
/* numbers.c - arrays of numbers read from and written to JSON. An error names the member by the
 * path of its indices and says what was found there. */
#include "gradbench.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 4 };

int gb_fail(struct gb_error *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->text, sizeof e->text, format, arguments);
    va_end(arguments);
    return -1;
}

int gb_status(struct gb_error *e, wg_status status, const wg_tape *t) {
    if (status == WG_OK) return 0;
    const char *said = t ? wg_tape_message(t) : "";
    return gb_fail(e, "%s%s%s", wg_status_text(status), *said ? ": " : "", said);
}

/* What is being read, and where in it. */
struct reader {
    const char *key;
    int depth;
    size_t *dims, at[MAX_DEPTH];
    double limit; /* whole numbers from 0 below it; negative: any numbers */
    double *real;
    size_t *whole;
    size_t done;
    struct gb_error *e;
};

static int complain(const struct reader *r, int level, const char *what) {
    char place[96] = "";
    size_t used = 0;
    for (int k = 0; k < level && used < sizeof place - 24; k++)
        used += (size_t)snprintf(place + used, sizeof place - used, "[%zu]", r->at[k]);
    return gb_fail(r->e, "%s%s: %s", r->key, place, what);
}

static const char *kind(const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a truth value";
    default:
        return "null";
    }
}

/* Finds or checks the lengths. */
static int measure(struct reader *r, const json_t *value, int level) {
    char what[160];
    if (level == r->depth || level == MAX_DEPTH) {
        if (json_is_number(value)) return 0;
        snprintf(what, sizeof what, "a number is wanted, not %s", kind(value));
        return complain(r, level, what);
    }
    if (!json_is_array(value)) {
        snprintf(what, sizeof what, "an array is wanted, not %s", kind(value));
        return complain(r, level, what);
    }
    const size_t n = json_array_size(value);
    if (r->dims[level] == GB_ANY) r->dims[level] = n;
    if (r->dims[level] != n) {
        snprintf(what, sizeof what, "%zu entries are wanted, not %zu", r->dims[level], n);
        return complain(r, level, what);
    }
    for (size_t i = 0; i < n; i++) {
        r->at[level] = i;
        if (measure(r, json_array_get(value, i), level + 1)) return -1;
    }
    return 0;
}

static int take(struct reader *r, const json_t *value, int level) {
    if (level < r->depth && level < MAX_DEPTH) {
        for (size_t i = 0; i < r->dims[level]; i++) {
            r->at[level] = i;
            if (take(r, json_array_get(value, i), level + 1)) return -1;
        }
        return 0;
    }
    const double x = json_number_value(value);
    if (r->real) {
        r->real[r->done++] = x;
        return 0;
    }
    if (x >= 0 && x < r->limit && x == floor(x)) {
        r->whole[r->done++] = (size_t)x;
        return 0;
    }
    char what[160];
    if (r->limit == 0) snprintf(what, sizeof what, "nothing is there that it could name");
    else
        snprintf(what, sizeof what, "a whole number from 0 to %.0f is wanted, not %.17g",
                 r->limit - 1, x);
    return complain(r, level, what);
}

/* The numbers of a member, as doubles or as sizes. */
static void *numbers(const json_t *object, const char *key, int depth, size_t *dims,
                     double limit, struct gb_error *e) {
    struct reader r = {.key = key, .depth = depth, .dims = dims, .limit = limit, .e = e};
    const json_t *value = json_object_get(object, key);
    if (!value) {
        gb_fail(e, "%s: is missing", key);
        return NULL;
    }
    if (measure(&r, value, 0)) return NULL;
    size_t n = 1;
    for (int k = 0; k < depth; k++) {
        if (dims[k] == GB_ANY) dims[k] = 0; /* no array of that level was there */
        n *= dims[k];                       /* there are that many, or none: no overflow */
    }
    void *out = malloc((n ? n : 1) * (limit >= 0 ? sizeof *r.whole : sizeof *r.real));
    if (!out) {
        gb_fail(e, "%s: no memory for %zu numbers", key, n);
        return NULL;
    }
    if (limit >= 0) r.whole = out;
    else r.real = out;
    if (take(&r, value, 0) == 0) return out;
    free(out);
    return NULL;
}

double *gb_numbers(const json_t *object, const char *key, int depth, size_t *dims,
                   struct gb_error *e) {
    return numbers(object, key, depth, dims, -1, e);
}

/* Above it doubles are not all the whole numbers. */
#define MOST ((size_t)1 << 53)

size_t *gb_indices(const json_t *object, const char *key, int depth, size_t *dims, size_t limit,
                   struct gb_error *e) {
    return numbers(object, key, depth, dims, (double)(limit < MOST ? limit : MOST), e);
}

int gb_number(const json_t *object, const char *key, double *x, struct gb_error *e) {
    double *one = gb_numbers(object, key, 0, NULL, e);
    if (!one) return -1;
    *x = *one;
    free(one);
    return 0;
}

int gb_index(const json_t *object, const char *key, size_t *x, struct gb_error *e) {
    size_t *one = gb_indices(object, key, 0, NULL, SIZE_MAX, e);
    if (!one) return -1;
    *x = *one;
    free(one);
    return 0;
}

const json_t *gb_object(const json_t *object, const char *key, struct gb_error *e) {
    const json_t *value = json_object_get(object, key);
    if (json_is_object(value)) return value;
    gb_fail(e, value ? "%s: an object is wanted, not %s" : "%s: is missing", key,
            value ? kind(value) : "");
    return NULL;
}

static json_t *array(const double **x, int depth, const size_t *dims) {
    if (depth == 0) return json_real(*(*x)++);
    json_t *out = json_array();
    for (size_t i = 0; out && i < dims[0]; i++) {
        json_t *part = array(x, depth - 1, dims + 1);
        if (!part || json_array_append_new(out, part)) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

json_t *gb_array(const double *x, int depth, const size_t *dims) {
    return array(&x, depth, dims);
}
