/* SPDX-License-Identifier: MIT */
/* scratch.h - a directory of the test's own. A file that includes it, or emitted.h or
 * scan_case.h, defines _DEFAULT_SOURCE first. */
#ifndef WENGERT_TEST_SCRATCH_H
#define WENGERT_TEST_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_BYTES = 64 };

/* Makes it, and says where; 0, or -1. */
static inline int scratch_make(char directory[SCRATCH_BYTES]) {
    (void)snprintf(directory, SCRATCH_BYTES, "%s/wengert-test-XXXXXX", P_tmpdir);
    return mkdtemp(directory) != NULL ? 0 : -1;
}

/* Removes it with all that is in it; 0, or what is not. */
static inline int scratch_remove(const char directory[SCRATCH_BYTES]) {
    char line[SCRATCH_BYTES + 16];
    (void)snprintf(line, sizeof line, "rm -rf %s", directory);
    return system(line);
}

/* Where tests compile functions whose code may be there already: the library looks by itself
 * whether what it finds was made of the same text, with the same flags, by the same compiler.
 * It stays for the next run, with whatever compiler that is built. */
#define COMPILED_BEFORE "build/compiled"

#endif
