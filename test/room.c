/* SPDX-License-Identifier: MIT */
/* room.c - the test programs of one room as one program, linked once: it has a name for each of
 * them, and is the test that it is called by. WG_TESTS(X) lists their names. */
#include <stdio.h>
#include <string.h>

#define X(name) int name(void);
WG_TESTS(X)
#undef X

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*main)(void);
    } test[] = {
#define X(name) {#name, name},
        WG_TESTS(X)
#undef X
    };
    const char *const slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *const name = argc == 0 ? "" : slash != NULL ? slash + 1 : argv[0];
    for (size_t i = 0; i < sizeof test / sizeof *test; i++)
        if (strcmp(test[i].name, name) == 0) return test[i].main();
    fprintf(stderr, "%s: no test of that name\n", name);
    return 2;
}
