/* SPDX-License-Identifier: MIT */
/* protocol.c - one message in, one response out. Whatever arrives gets a response: with the id
 * of the message, or null where it has none. */
#define _POSIX_C_SOURCE 200809L
#include "gradbench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) { /* nanoseconds */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int add_timing(json_t *timings, const char *name, double nanoseconds) {
    return json_array_append_new(
        timings, json_pack("{s:s, s:I}", "name", name, "nanoseconds", (json_int_t)nanoseconds));
}

/* How often, and how long at least. */
struct runs {
    size_t least;
    double seconds;
};

/* Inputs that are objects may say how often. */
static int read_runs(const json_t *input, struct runs *r, struct gb_error *e) {
    *r = (struct runs){1, 0};
    if (json_object_get(input, "min_runs") && gb_index(input, "min_runs", &r->least, e))
        return -1;
    if (json_object_get(input, "min_seconds") &&
        gb_number(input, "min_seconds", &r->seconds, e))
        return -1;
    if (r->least < 1) return gb_fail(e, "min_runs: at least 1 is wanted");
    return 0;
}

/* Prepares, runs, and takes the result of the last run. */
static json_t *run(const struct gb_function *f, void *job, const struct runs *r,
                   json_t *timings, struct gb_error *e) {
    const double start = now();
    if (f->prepare && f->prepare(job, e)) return NULL;
    int lost = add_timing(timings, "prepare", now() - start);
    double elapsed = 0;
    for (size_t k = 0; k < r->least || elapsed < r->seconds * 1e9; k++) {
        const double begin = now();
        if (f->run(job, e)) return NULL;
        const double took = now() - begin;
        elapsed += took;
        lost |= add_timing(timings, "evaluate", took);
    }
    json_t *output = f->output(job);
    if (output && !lost) return output;
    json_decref(output);
    gb_fail(e, "the result has a number that is not finite, which JSON cannot say");
    return NULL;
}

static const struct gb_module *find_module(const json_t *message, struct gb_error *e) {
    const char *name = json_string_value(json_object_get(message, "module"));
    for (size_t k = 0; name && gb_modules[k]; k++)
        if (strcmp(gb_modules[k]->name, name) == 0) return gb_modules[k];
    if (name) gb_fail(e, "module %.100s is not known", name);
    else gb_fail(e, "module: is missing");
    return NULL;
}

static const struct gb_function *find_function(const struct gb_module *m, const json_t *message,
                                               struct gb_error *e) {
    const char *name = json_string_value(json_object_get(message, "function"));
    for (int k = 0; name && k < GB_MAX_FUNCTIONS; k++)
        if (m->functions[k].name && strcmp(m->functions[k].name, name) == 0)
            return &m->functions[k];
    if (name) gb_fail(e, "module %s has no function %.100s", m->name, name);
    else gb_fail(e, "function: is missing");
    return NULL;
}

static json_t *evaluate(const json_t *message, const struct gb_options *o, json_t *timings,
                        struct gb_error *e) {
    const struct gb_module *m = find_module(message, e);
    const struct gb_function *f = m ? find_function(m, message, e) : NULL;
    if (!f) return NULL;
    const json_t *input = json_object_get(message, "input");
    struct runs r;
    if (!input) {
        gb_fail(e, "input: is missing");
        return NULL;
    }
    if (read_runs(input, &r, e)) return NULL;
    void *job = m->read(input, o, e);
    if (!job) return NULL;
    json_t *output = run(f, job, &r, timings, e);
    m->release(job);
    return output;
}

/* A sentence, whatever bytes it quotes: a character that was cut, or is none, becomes '?'. */
static json_t *words(const struct gb_error *e) {
    char text[sizeof e->text];
    size_t n = 0;
    json_t *const whole = json_string(e->text);
    if (whole) return whole;
    for (const char *p = e->text; *p;) {
        size_t bytes = 1;
        json_t *one = json_stringn(p, bytes);
        while (!one && bytes < 4 && p[bytes]) one = json_stringn(p, ++bytes);
        if (one) memcpy(text + n, p, bytes);
        else text[n] = '?', bytes = 1;
        json_decref(one);
        n += bytes, p += bytes;
    }
    return json_stringn(text, n);
}

static json_t *answer(const json_t *message, const struct gb_options *o) {
    const char *kind = json_string_value(json_object_get(message, "kind"));
    json_t *id = json_object_get(message, "id");
    json_t *out = json_pack("{s:O?}", "id", id);
    struct gb_error e = {""};
    if (!out) return NULL;
    if (!json_is_object(message)) {
        gb_fail(&e, "a message is an object");
    } else if (!kind) {
        gb_fail(&e, "kind: is missing");
    } else if (strcmp(kind, "start") == 0) {
        json_object_set_new(out, "tool", json_string("wengert"));
        json_object_set_new(out, "config",
                            json_pack("{s:s, s:i}", "version", WG_VERSION, "threads",
                                      (int)wg_threads_count(o->threads)));
        return out;
    } else if (strcmp(kind, "define") == 0) {
        json_object_set_new(out, "success", json_boolean(find_module(message, &e) != NULL));
    } else if (strcmp(kind, "evaluate") == 0) {
        json_t *timings = json_array();
        json_t *output = timings ? evaluate(message, o, timings, &e) : NULL;
        json_object_set_new(out, "success", json_boolean(output != NULL));
        if (output) {
            json_object_set_new(out, "output", output);
            json_object_set_new(out, "timings", timings);
        } else {
            json_decref(timings);
        }
    } else {
        return out; /* end, analysis and what may come */
    }
    if (*e.text) {
        json_object_set_new(out, "success", json_false());
        json_object_set_new(out, "error", words(&e));
    }
    return out;
}

json_t *gb_respond(const char *line, size_t length, const struct gb_options *o) {
    json_error_t wrong;
    json_t *message = json_loadb(line, length, JSON_DECODE_ANY, &wrong);
    if (!message) {
        struct gb_error e;
        gb_fail(&e, "not a JSON text: %s", wrong.text);
        return json_pack("{s:n, s:b, s:o}", "id", "success", 0, "error", words(&e));
    }
    json_t *out = answer(message, o);
    json_decref(message);
    return out;
}
