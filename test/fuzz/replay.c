/* SPDX-License-Identifier: MIT */
/* replay.c - main() of a generator that takes any bytes, where it is built without libFuzzer.
 *
 * Runs every file named on the command line, then byte strings from a fixed seed; whatever the
 * unit finds wrong it says by abort(). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STRINGS = 2000, LONGEST = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int replay(const char *path) {
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t n = 0;
    if (!f) {
        perror(path);
        return 0;
    }
    for (size_t size = 4096, got = 1; got; size *= 2) {
        uint8_t *more = realloc(bytes, size);
        if (!more) {
            fclose(f);
            free(bytes);
            return 0;
        }
        bytes = more;
        got = fread(bytes + n, 1, size - n, f);
        n += got;
    }
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    return 1;
}

/* xorshift64* (Vigna 2016), the high byte. */
static uint8_t next_byte(uint64_t *state) {
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return (uint8_t)((*state * UINT64_C(2685821657736338717)) >> 56);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!replay(argv[i])) return 1;
    uint64_t state = 1;
    for (size_t i = 0; i < STRINGS; i++) {
        uint8_t bytes[LONGEST];
        const size_t n = i * LONGEST / STRINGS;
        for (size_t k = 0; k < n; k++) bytes[k] = next_byte(&state);
        LLVMFuzzerTestOneInput(bytes, n);
    }
    printf("%d files and %d strings replayed\n", argc - 1, STRINGS);
    return 0;
}
