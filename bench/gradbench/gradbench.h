/* SPDX-License-Identifier: MIT */
/* gradbench.h - what a module of GradBench is to this tool, and the numbers of its messages.
 *
 *   main.c      the options, and the loop over the lines of standard input
 *   protocol.c  one message in, one response out
 *   numbers.c   arrays of numbers read from and written to JSON, shapes checked
 *   <eval>.c    one module each; modules.c lists them
 *
 * Protocol and modules: https://github.com/gradbench/gradbench, CONTRIBUTING.md and evals/. */
#ifndef WENGERT_BENCH_GRADBENCH_H
#define WENGERT_BENCH_GRADBENCH_H

#include <jansson.h>
#include <stddef.h>
#include <wengert.h>

struct gb_options {
    wg_threads *threads; /* NULL: one */
};

/* What went wrong, in one sentence. */
struct gb_error {
    char text[512];
};

/* Writes the sentence; returns -1. */
int gb_fail(struct gb_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 0 for WG_OK; otherwise -1, and the sentence is the status and what the tape (or NULL) says.
 */
int gb_status(struct gb_error *e, wg_status status, const wg_tape *t);

enum { GB_MAX_FUNCTIONS = 4 };

/* Jobs: an input read and what a function makes of it. */
struct gb_module {
    const char *name;
    /* The input, checked; NULL with an error. Not timed. */
    void *(*read)(const json_t *input, const struct gb_options *o, struct gb_error *e);
    void (*release)(void *job);
    struct gb_function {
        const char *name;
        /* What is done once for an input, timed as "prepare"; NULL: nothing. 0 or -1. */
        int (*prepare)(void *job, struct gb_error *e);
        /* Timed as "evaluate", as often as the message asks for. 0 or -1. */
        int (*run)(void *job, struct gb_error *e);
        /* A new reference; NULL where a number is not finite, or without memory. */
        json_t *(*output)(const void *job);
    } functions[GB_MAX_FUNCTIONS]; /* those with a name */
};

/* modules.c: up to the one without a name */
extern const struct gb_module *const gb_modules[];

/* A response to one message, without memory NULL. */
json_t *gb_respond(const char *line, size_t length, const struct gb_options *o);

/* ---- numbers (numbers.c) ----------------------------------------------------------------- */

#define GB_ANY ((size_t)-1)

/* Member `key` of an object: `depth` arrays in one another, all of a level of one length, the
 * last of numbers, row after row. dims[k] is the length asked for at level k, or GB_ANY, and
 * then becomes the length found. To be freed; NULL with an error. Depth 0 is one number. */
double *gb_numbers(const json_t *object, const char *key, int depth, size_t *dims,
                   struct gb_error *e);
/* The same, of whole numbers below `limit`. */
size_t *gb_indices(const json_t *object, const char *key, int depth, size_t *dims, size_t limit,
                   struct gb_error *e);
/* One number, or one whole number. 0 or -1. */
int gb_number(const json_t *object, const char *key, double *x, struct gb_error *e);
int gb_index(const json_t *object, const char *key, size_t *x, struct gb_error *e);
/* Member `key`, an object. NULL with an error. */
const json_t *gb_object(const json_t *object, const char *key, struct gb_error *e);

/* Arrays in one another, dims[k] long at level k; NULL where a number is not finite. */
json_t *gb_array(const double *x, int depth, const size_t *dims);

#endif
