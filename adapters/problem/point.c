/* SPDX-License-Identifier: MIT */
/* point.c - a function at one point, as solvers ask, compiled: the text of wg_function_emit goes to the
 * system's compiler, and what comes of it is loaded.
 *
 * Text and library stand in a directory of their own, which nobody else can read, until they are loaded. No
 * shell takes part. Where any of it fails there is no such code, and the function is evaluated as it is. */
#define _GNU_SOURCE
#include "internal.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Operations up to which a compiler takes less than a second, at each start of a program. */
enum { MOST_OPERATIONS = 4000, PATHS = 4096 };

static int written(wg_tape *t, const wg_function *f, const char *path) {
    const wg_emit_options as = {.name = "wg_point", .entries = WG_EMIT_POINT};
    FILE *const out = fopen(path, "w");
    if (out == NULL) return 0;
    const int well = wg_function_emit(t, f, &as, wg_write_file, out) == WG_OK;
    return fclose(out) == 0 && well;
}

/* Runs the compiler, which says nothing. */
static int compiled(const char *text, const char *library) {
    char *const command[] = {"cc",
                             "-std=gnu11",
                             "-w",
                             "-shared",
                             "-fPIC",
                             "-O2",
                             "-ffp-contract=off",
                             "-fno-math-errno",
                             "-fno-trapping-math",
                             "-o",
                             (char *)(uintptr_t)library,
                             (char *)(uintptr_t)text,
                             "-lm",
                             NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0) return 0;
    const int quiet =
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0;
    if (quiet && posix_spawnp(&pid, command[0], &actions, NULL, command, environ) == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    (void)posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

/* Directory and NAME in it; 0: it does not fit. */
static int join(char *to, const char *directory, const char *name) {
    const int n = snprintf(to, PATHS, "%s/%s", directory, name);
    return n > 0 && n < PATHS;
}

void wgi_point_compile(wg_tape *t, const wg_function *f, wgi_point *out) {
    const char *const place = getenv("TMPDIR");
    char directory[PATHS], text[PATHS], library[PATHS];
    wg_function_stats of;
    *out = (wgi_point){NULL, NULL};
    if (getauxval(AT_SECURE) != 0) return; /* of a program with rights that its user has not */
    if (wg_function_statistics(f, &of) != WG_OK ||
        of.once + of.each + of.after > MOST_OPERATIONS)
        return;
    if (!join(directory, place != NULL ? place : "/tmp", "wengert-XXXXXX") ||
        mkdtemp(directory) == NULL)
        return;
    if (join(text, directory, "point.c") && join(library, directory, "point.so")) {
        if (written(t, f, text) && compiled(text, library))
            out->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        void *const call = out->library == NULL ? NULL : dlsym(out->library, "wg_point");
        memcpy(&out->call, &call, sizeof call);
        (void)unlink(text), (void)unlink(library);
    }
    (void)rmdir(directory);
}

void wgi_point_free(wgi_point *p) {
    if (p->library != NULL) (void)dlclose(p->library);
    *p = (wgi_point){NULL, NULL};
}
