/* SPDX-License-Identifier: MIT */
/* gradbench - Wengert as a tool of GradBench: messages on standard input, a line each, get
 * their responses on standard output, until the message of kind "end" or the end of the input.
 */
#define _POSIX_C_SOURCE 200809L
#include "gradbench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int usage(const char *program) {
    fprintf(stderr,
            "usage: %s [--multithreaded[=THREADS]]\n"
            "Answers GradBench's messages, JSON lines, on standard input. With threads those\n"
            "functions use them that map over data; without a number as many as there are\n"
            "processors.\n",
            program);
    return 2;
}

static int read_options(int argc, char **argv, size_t *count) {
    static const char name[] = "--multithreaded";
    *count = 1;
    for (int k = 1; k < argc; k++) {
        if (strncmp(argv[k], name, sizeof name - 1) != 0) return -1;
        const char *rest = argv[k] + sizeof name - 1;
        if (*rest == '\0') {
            const long processors = sysconf(_SC_NPROCESSORS_ONLN);
            *count = processors > 1 ? (size_t)processors : 1;
            continue;
        }
        char *end;
        const long threads = strtol(rest + 1, &end, 10);
        if (*rest != '=' || end == rest + 1 || *end || threads < 1 || threads > 1024) return -1;
        *count = (size_t)threads;
    }
    return 0;
}

/* Of OpenBLAS, if that is what the BLAS is. */
void openblas_set_num_threads(int threads) __attribute__((weak));

/* Is the response to be the last? */
static int ends(const char *line, size_t length) {
    json_t *message = length < 4096 ? json_loadb(line, length, 0, NULL) : NULL;
    const char *kind = json_string_value(json_object_get(message, "kind"));
    const int end = kind && strcmp(kind, "end") == 0;
    json_decref(message);
    return end;
}

int main(int argc, char **argv) {
    struct gb_options options = {NULL};
    size_t threads;
    if (read_options(argc, argv, &threads)) return usage(argv[0]);
    if (wg_threads_new(threads, NULL, &options.threads) != WG_OK) {
        fprintf(stderr, "%s: %zu threads cannot be made\n", argv[0], threads);
        return 1;
    }
    if (openblas_set_num_threads) openblas_set_num_threads(1); /* the same bits always */
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int end = 0, status = 0;
    while (!end && status == 0 && (length = getline(&line, &room, stdin)) > 0) {
        if (strspn(line, " \t\r\n") == (size_t)length) continue;
        end = ends(line, (size_t)length);
        json_t *response = gb_respond(line, (size_t)length, &options);
        if (!response || json_dumpf(response, stdout, JSON_REAL_PRECISION(17)) ||
            putchar('\n') == EOF || fflush(stdout) == EOF) {
            fprintf(stderr, "%s: %s\n", argv[0],
                    response ? strerror(errno) : "no memory for a response");
            status = 1;
        }
        json_decref(response);
    }
    free(line);
    wg_threads_free(options.threads);
    return status;
}
