/* SPDX-License-Identifier: MIT */
/* tape.c - any bytes are a program (program.h); all modes of differentiation and the toy
 * have to agree on it. */
#include <stdio.h>
#include <stdlib.h>
#include "test/check_modes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static struct check check; /* the tapes stay open: a steady state is tried, too */
    static struct program_room room;
    if (check.plain == NULL && check_open(&check) != 0) abort();
    program_from_bytes(bytes, n, &room);
    if (check_program(&check, &room.program, room.x, room.other) != 0) {
        fprintf(stderr, "%s\n", check.why);
        program_print(&room.program, room.x, stderr);
        abort();
    }
    return 0;
}
