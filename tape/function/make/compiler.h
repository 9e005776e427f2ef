/* SPDX-License-Identifier: MIT */
/* compiler.h - texts of this library compiled by the system's compiler, kept, and loaded; and
 * how its process is run. Internal. */
#ifndef WGI_TAPE_FUNCTION_MAKE_COMPILER_H
#define WGI_TAPE_FUNCTION_MAKE_COMPILER_H

#include "tape/engine/tape.h"

#include <wengert/emit.h>

/* A text: what writes it (twice, at least), with its key in a constant of the name
 * WGI_NATIVE_KEY; "" where the key is not known yet. */
typedef wg_status wgi_write_text(void *ctx, const char *key, wg_write *to, void *to_ctx);
typedef struct wgi_compiled_text {
    wgi_write_text *write;
    void *ctx;
    const char *entry; /* what is wanted of it: the name of a function */
    unsigned width;    /* doubles in its vectors; 0: it has none */
    size_t operations; /* about: of many, the compiler has to try less hard */
} wgi_compiled_text;

typedef struct wgi_loaded {
    void *library;
    void *entry; /* the address of the function */
} wgi_loaded;

/* Compiles and loads it, or loads what was compiled before. Gives 0 where there is no code:
 * compiled->why says why; a lack of memory is a failure of the tape. */
int wgi_compiler_run(wgi_core *c, const wgi_compiled_text *text, const wg_compile_options *o,
                     wgi_loaded *out, wg_compiled *compiled);
void wgi_compiler_unload(const wgi_loaded *l);
/* Notes why there is nothing to be compiled, in the room of a wg_compiled. Gives 0. */
int wgi_compiler_refuses(char *why, const char *what);

/* ---- process.c ---- */

typedef struct wgi_hash {
    uint64_t a, b;
} wgi_hash;
/* A wg_write into a hash. */
int wgi_hash_bytes(void *ctx, const char *text, size_t bytes);

enum { WGI_MOST_WORDS_OF_COMMAND = 64 };
/* Runs a command that has no input. The beginning of what it writes goes to `said`, a hash of
 * all to `all`, if that is not NULL. Gives its exit status; -1: it could not be run, or was
 * stopped. */
int wgi_process_run(wgi_core *c, const char *const *argument, char *said, size_t room,
                    wgi_hash *all);

#endif
