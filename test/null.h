/* SPDX-License-Identifier: MIT */
/* null.h - which functions a program has tried with NULL, and whether those are all that its
 * headers declare. */
#ifndef WENGERT_TEST_NULL_H
#define WENGERT_TEST_NULL_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wengert.h>

#ifndef HEADERS
#define HEADERS "include/wengert/"
#endif

/* Whose header it is. All others, new ones too, are test_tape_null.c's. */
static const struct {
    const char *header, *program;
} owners[] = {
    {"block.h", "test_tape_null_matrix.c"},
    {"matrix.h", "test_tape_null_matrix.c"},
    {"implicit.h", "test_tape_null_matrix.c"},
    {"threads.h", "test_function_null.c"},
    {"function.h", "test_function_null.c"},
    {"branches.h", "test_function_null.c"},
    {"derive.h", "test_function_null.c"},
    {"emit.h", "test_function_null_calls.c"},
    {"file.h", "test_function_null.c"},
    {"map.h", "test_function_null_calls.c"},
    {"ode.h", "test_function_null_calls.c"},
    {"model.h", "test_function_null_calls.c"},
    {"elementwise.h", "test_ops_null.c"},
    {"elementwise_ops.h", "test_ops_null.c"},
    {"reduce.h", "test_ops_null.c"},
    {"data.h", "test_ops_null.c"},
    {"products.h", "test_ops_null.c"},
    {"sparse.h", "test_ops_null.c"},
    {"solve.h", "test_ops_null.c"},
    {"spectral.h", "test_ops_null.c"},
    {"statistics.h", "test_ops_null.c"},
    {"batch.h", "test_ops_null.c"},
    {"blas_vjp.h", "test_ops_null.c"},
};

static inline const char *owner_of(const char *header) {
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (strcmp(owners[i].header, header) == 0) return owners[i].program;
    return "test_tape_null.c";
}

/* ---- what has been tried ---- */

enum { MOST = 512 };
static const char *tried[MOST];
static size_t tries;

static inline int was_tried(const char *name) {
    for (size_t i = 0; i < tries; i++)
        if (strcmp(tried[i], name) == 0) return 1;
    return 0;
}
static inline void try(const char *name) {
    if (was_tried(name)) return;
    assert_true(tries < MOST);
    tried[tries++] = name;
}

/* f(...) is the status, a NaN, a passive NaN, or happens. */
#define STATUS(status, f, ...) assert_int_equal((try(#f), f(__VA_ARGS__)), status)
#define NOTHING(f, ...) assert_true((try(#f), isnan(f(__VA_ARGS__))))
#define PASSIVE(f, ...) assert_passive((try(#f), f(__VA_ARGS__)))
#define HAPPENS(f, ...) (try(#f), (void)f(__VA_ARGS__))

static inline void assert_passive(wg_real number) {
    assert_true(isnan(wg_value(number)));
    assert_int_equal(number.at.slot, 0);
}

static wg_tape *tape;

static inline int open_tape(void **state) {
    const wg_options opt = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&opt);
    return tape == NULL;
}
static inline int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)

static inline int name_char(char ch) { return isalnum((unsigned char)ch) || ch == '_'; }

/* Does the message of the tape begin with the name of that call? */
static inline int says(const char *call) {
    const char *const message = wg_tape_message(tape);
    const size_t n = strlen(call);
    return strncmp(message, call, n) == 0 && !name_char(message[n]);
}
static inline void assert_says(const char *call) {
    if (!says(call)) fail_msg("%s says: '%s'", call, wg_tape_message(tape));
}

/* Those that only sweep or read refuse with a message; the recording is as good as before. */
#define REFUSES(expected, f, ...)                                                              \
    do {                                                                                       \
        assert_int_equal((try(#f), f(__VA_ARGS__)), expected);                                 \
        assert_int_equal(wg_tape_status(tape), WG_OK);                                         \
        assert_says(#f);                                                                       \
        if ((expected) == WG_ENULL) assert_non_null(strstr(wg_tape_message(tape), "NULL"));    \
    } while (0)

/* Those that record keep the failure as the status of the tape. */
#define KEEPS(expected, f, ...)                                                                \
    do {                                                                                       \
        assert_int_equal((try(#f), f(__VA_ARGS__)), expected);                                 \
        assert_int_equal(wg_tape_status(tape), expected);                                      \
        assert_says(#f);                                                                       \
        assert_non_null(strstr(wg_tape_message(tape), "NULL"));                                \
        wg_tape_reset(tape);                                                                   \
    } while (0)

/* ---- was that all? ---- */

/* Names after WG_API or WGI_API in a header. */
static inline size_t missing_in(const char *path, const char *program) {
    static char text[200000];
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    assert_true(feof(file));
    fclose(file);
    size_t missing = 0;
    for (char *at = text; (at = strstr(at, "_API ")) != NULL;) {
        char *const mark = at - (at[-1] == 'I' ? 4 : 3);
        at += strlen("_API ");
        if (strncmp(mark, "\nWG", 3) != 0) continue;
        char *const open = at + strcspn(at, "(;=[");
        if (*open != '(') continue; /* data */
        char *name = open;
        while (name > at && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
        char *const parameters = open + 1;
        *open = 0;
        at = parameters + strcspn(parameters, ")");
        char *const star = strchr(parameters, '*');
        char public[128] = ""; /* wg_sum is a macro of wgi_sum_at */
        if (strncmp(name, "wgi_", 4) == 0 && open - name > 7 && strcmp(open - 3, "_at") == 0)
            snprintf(public, sizeof public, "wg_%.*s", (int)(open - name) - 7, name + 4);
        if (was_tried(name) || was_tried(public) ||
            (strncmp(name, "wgi_", 4) == 0 && (star == NULL || star > at)))
            continue; /* or nothing that could be NULL */
        print_message("%s: %s is never called with NULL: see %s\n", path, name, program);
        missing++;
    }
    return missing;
}

/* Has every function of the headers of this program (its __FILE__) been tried? To be asked
 * last. */
static inline void assert_all_tried(const char *file) {
    const char *const slash = strrchr(file, '/');
    const char *const program = slash != NULL ? slash + 1 : file;
    DIR *const all = opendir(HEADERS);
    assert_non_null(all);
    size_t missing = 0, headers = 0;
    for (const struct dirent *e; (e = readdir(all)) != NULL;) {
        char path[512];
        if (strstr(e->d_name, ".h") == NULL || strcmp(owner_of(e->d_name), program) != 0)
            continue;
        snprintf(path, sizeof path, "%s%s", HEADERS, e->d_name);
        missing += missing_in(path, program);
        headers++;
    }
    closedir(all);
    assert_true(headers >= 3);
    assert_int_equal(missing, 0);
}

#endif
