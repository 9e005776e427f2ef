/* SPDX-License-Identifier: MIT */
/* function_file.c - any bytes as a file of a function: as they are; with the length and
 * the checksum put right; as changes of the files of some functions. What is loaded is saved as
 * the same bytes, and can be evaluated, differentiated, drawn and written as C; everything else
 * is refused with a message. */
#include <stdio.h>
#include <wengert/emit.h>
#include "test/function_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int sink(void *ctx, const char *text, size_t bytes) {
    (void)text;
    *(size_t *)ctx += bytes;
    return 0;
}

static void wrong(const char *what) {
    fprintf(stderr, "%s\n", what);
    abort();
}

static void examine(wg_tape *t, const uint8_t *bytes, size_t n) {
    wg_function *f, *g;
    size_t m, drawn = 0;
    wg_status s = wg_function_load(t, bytes, n, user_operations, USER_OPERATIONS, &f);
    if (s != WG_OK) {
        if (f != NULL || strstr(wg_tape_message(t), "wg_function_load: at byte ") == NULL)
            wrong(wg_tape_message(t));
        return;
    }
    uint8_t *const again = saved(f, &m);
    if (again == NULL || m != n || memcmp(again, bytes, n) != 0) wrong("saved as other bytes");
    free(again);
    if (is_short(f)) free(values(f, &s));
    if (s != WG_OK && s != WG_EGUARD) wrong("not evaluated");
    if (wg_function_dump(f, sink, &drawn) != WG_OK || wg_function_dot(f, sink, &drawn) != WG_OK)
        wrong("not drawn");
    const wg_emit_options all = {.entries = WG_EMIT_POINT | WG_EMIT_BATCH};
    s = wg_function_emit(t, f, &all, sink, &drawn);
    if (s != WG_OK && s != WG_EMODE) wrong("not written as C");
    if (entries(f, 0) * entries(f, 1) < 1000 && is_short(f) &&
        wg_function_jacobian(t, f, &g) == WG_OK) {
        if (is_short(g)) free(values(g, &s));
        wg_function_free(g);
    }
    wg_function_free(f);
}

/* Bytes four by four: a place, and what to do there. */
static void change(uint8_t *file, size_t *n, const uint8_t *bytes, size_t count) {
    for (; count >= 4; bytes += 4, count -= 4) {
        const size_t at = (bytes[0] + 256u * bytes[1]) % *n, left = *n - at;
        switch (bytes[2] % 8) {
        case 0: /* a byte less */
            if (left > 9) memmove(file + at, file + at + 1, left - 1), --*n;
            break;
        case 1: /* one more; there is room for them all */
            memmove(file + at + 1, file + at, left);
            file[at] = bytes[3];
            ++*n;
            break;
        case 2:
            file[at] = (uint8_t)(file[at] + bytes[3]);
            break;
        case 3: /* a large count */
            if (left >= 8) memset(file + at, 0xff, 8);
            break;
        default:
            file[at] = bytes[3];
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    static wg_tape *t; /* they stay: a steady state is tried, too */
    static uint8_t *file[SAMPLES];
    static size_t size[SAMPLES];
    for (size_t k = 0; t == NULL || (k < SAMPLES && file[k] == NULL); k++) {
        const wg_options opt = {.flags = WG_KEEP_CODE};
        if (t == NULL && (t = wg_tape_new(&opt)) == NULL) abort();
        wg_function *const f = sample(t, k);
        if (f == NULL || (file[k] = saved(f, &size[k])) == NULL) wrong(wg_tape_message(t));
        wg_function_free(f);
    }
    if (n == 0) return 0;
    const size_t k = bytes[0] % SAMPLES;
    size_t used = size[k];
    uint8_t *const same = malloc(n), *const copy = malloc(n + used);
    if (same == NULL || copy == NULL) abort();
    memcpy(same, bytes, n);
    examine(t, same, n);
    seal(same, n);
    examine(t, same, n);
    memcpy(copy, file[k], used);
    change(copy, &used, bytes + 1, n - 1);
    seal(copy, used);
    examine(t, copy, used);
    free(same), free(copy);
    return 0;
}
