/* SPDX-License-Identifier: MIT */
/* calls_files.c - rows: functions as files, as text, as C, and compiled. */
#include "calls.h"

WG_OPERATION1(filed, a *a, 2 * a, 2, ARITH, "calls_files.c")

/* ---- files ---- */

ROW(wg_function_save) {
    FUNCTION(f);
    const struct file file = draw_file("buffer");
    size_t length = 0;
    size_t *const needed = one_in(40) ? NULL : &length;
    const size_t bytes = one_in(8) ? below(200) : FILE_BYTES;
    void *const buffer = one_in(12) ? NULL : world.file[file.which].bytes;
    named("bytes", "%zu", bytes);
    say("", "wg_function_save(f, buffer, bytes, needed)");
    const wg_status s = status(wg_function_save(f, buffer, bytes, needed));
    if (s == WG_OK && buffer != NULL && needed != NULL) world.file[file.which].length = length;
}
ROW(wg_function_write) {
    FUNCTION(f);
    struct file file = draw_file("ctx");
    wg_write *const write = one_in(40) ? NULL : to_file;
    void *const ctx = &file;
    GIVES_STATUS(wg_function_write(f, write, ctx));
}
/* A file as it was saved, cut short, or with some bytes that are others. */
static size_t damaged(size_t which) {
    if (world.file[which].length == 0) {
        const wg_function *const f = draw_function("f");
        (void)status(wg_function_save(f, world.file[which].bytes, FILE_BYTES,
                                      &world.file[which].length));
    }
    size_t n = world.file[which].length;
    if (one_in(3) && n != 0) {
        for (size_t i = 1 + below(3); i > 0; i--)
            world.file[which].bytes[below(n)] =
                (unsigned char)(one_in(2) ? below(256) : '0' + below(10));
        aside("some bytes of file %zu are changed", which);
    }
    if (one_in(12)) n = below(n + 1);
    return n;
}
static const wg_scalar_op *const users[] = {&wgi_user_filed};
ROW(wg_function_load) {
    DRIVER_TAPE(t);
    const struct file file = draw_file("data");
    const size_t bytes = damaged(file.which), user_count = below(2);
    const void *const data = one_in(40) ? NULL : world.file[file.which].bytes;
    const wg_scalar_op *const *const user = one_in(20) ? NULL : users;
    named("bytes", "%zu", bytes);
    GIVES_FUNCTION(out, wg_function_load(t, data, bytes, user, user_count, &out));
}
ROW(wg_function_read) {
    DRIVER_TAPE(t);
    struct file file = draw_file("ctx");
    (void)damaged(file.which);
    wg_read *const read = one_in(40) ? NULL : from_file;
    void *const ctx = &file;
    const size_t user_count = below(2);
    GIVES_FUNCTION(out, wg_function_read(t, read, ctx, users, user_count, &out));
}
#define SHOWN(name)                                                                            \
    ROW(name) {                                                                                \
        FUNCTION(f);                                                                           \
        int left = one_in(3) ? (int)below(5) : 1 << 30;                                        \
        wg_write *const write = one_in(40) ? NULL : fuzz_write;                                \
        GIVES_STATUS(name(f, write, &left));                                                   \
    }
SHOWN(wg_function_dump)
SHOWN(wg_function_dot)

/* ---- as C ---- */

#define EMITTED                                                                                \
    DRIVER_TAPE(t);                                                                            \
    FUNCTION(f);                                                                               \
    static const char *const names[] = {"wg_f", "two words", "sin", "", "f1", "int"};          \
    const wg_emit_options o_ = {one_in(4) ? names[below(6)] : NULL,                            \
                                one_in(20) ? (unsigned)below(20) : (unsigned)below(8),         \
                                one_in(2) ? 0 : 1 + below(9), one_in(20) ? 7 : (int)below(2)}; \
    const wg_emit_options *const options = one_in(20) ? NULL : &o_
ROW(wg_function_emit) {
    EMITTED;
    int left = one_in(3) ? (int)below(5) : 1 << 30;
    wg_write *const write = one_in(40) ? NULL : fuzz_write;
    GIVES_STATUS(wg_function_emit(t, f, options, write, &left));
}
ROW(wg_function_text) {
    static char text[1 << 15];
    EMITTED;
    size_t length;
    size_t *const needed = one_in(40) ? NULL : &length;
    const size_t bytes = one_in(4) ? below(100) : sizeof text;
    char *const buffer = one_in(20) ? NULL : text;
    GIVES_STATUS(wg_function_text(t, f, options, buffer, bytes, needed));
}

/* Mostly by a compiler that is not there: the one that is takes long. */
static const wg_compile_options *draw_compiler(void) {
    static char directory[] = "/tmp/wengert-fuzz-calls";
    static wg_compile_options o;
    static const char *const flags[] = {"-O0", NULL};
    o = (wg_compile_options){one_in(30)  ? NULL
                             : one_in(2) ? "/nowhere/cc"
                                         : "false",
                             flags, one_in(20) ? "/nowhere/at/all" : directory};
    if (one_in(2)) o.flags = NULL;
    named("options", "%s", o.compiler != NULL ? o.compiler : "cc");
    return &o;
}
ROW(wg_function_compile) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    const wg_compile_options *const options = draw_compiler();
    wg_compiled room, *const compiled = one_in(4) ? NULL : &room;
    GIVES_FUNCTION(out, wg_function_compile(t, f, options, &out, compiled));
}
ROW(wg_function_compile_point) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    const wg_compile_options *const options = draw_compiler();
    wg_compiled room, *const compiled = one_in(4) ? NULL : &room;
    GIVES_FUNCTION(out, wg_function_compile_point(t, f, options, &out, compiled));
}
ROW(wg_function_point) {
    FUNCTION(f);
    wg_point_call *const call = wg_function_point(f);
    CHECK(f != NULL || call == NULL);
}
ROW(wg_callable_compile) {
    DRIVER_TAPE(t);
    CALLABLE(k);
    const wg_compile_options *const options = draw_compiler();
    wg_compiled room, *const compiled = one_in(4) ? NULL : &room;
    wg_callable *out = NULL;
    GIVES_STATUS(wg_callable_compile(t, k, options, &out, compiled));
    const size_t to = below(CALLABLES);
    if (out == NULL) return;
    callable_close(to);
    world.callable[to] = out;
}

static const struct row list[] = {
    LISTED(wg_function_save, 6),          LISTED(wg_function_write, 6),
    LISTED(wg_function_load, 8),          LISTED(wg_function_read, 8),
    LISTED(wg_function_dump, 3),          LISTED(wg_function_dot, 3),
    LISTED(wg_function_emit, 4),          LISTED(wg_function_text, 4),
    LISTED(wg_function_compile, 0),       LISTED(wg_callable_compile, 0),
    LISTED(wg_function_compile_point, 0), LISTED(wg_function_point, 2),
};
const struct rows calls_files = ROWS(list);
