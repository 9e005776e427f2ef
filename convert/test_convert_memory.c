/* SPDX-License-Identifier: MIT */
/* test_convert_memory.c - adjoints without a tape where memory runs out: the k-th allocation
 * fails, for each k until none does. Each time there is a status, and everything is given
 * back. */
#define _DEFAULT_SOURCE
#include "convert/test_build.h"

enum { INPUTS = 2, TURNS = 160, MOST_ALLOCATIONS = 4096 };

/* Allocations of a run, by where they are made. */
typedef struct allocations {
    size_t made, held, of_chunks, of_lists;
} allocations;
typedef int limited_function(size_t allowed, int n, const double *x, double *y, double *g,
                             allocations *a);

/* The library's allocations are counted, by other names in the converted file. */
static const char counted[] =
    "#include <stdlib.h>\n#include <string.h>\n"
    "typedef struct { size_t made, held, of_chunks, of_lists; } wgt_allocations;\n"
    "static size_t wgt_allowed;\nstatic wgt_allocations wgt_a;\n"
    "static void *wgt_take(void *p, const char *where) {\n    if (p == NULL) return p;\n"
    "    wgt_a.made++, wgt_a.held++;\n"
    "    wgt_a.of_chunks += strcmp(where, \"wgc_grow\") == 0;\n"
    "    wgt_a.of_lists += strcmp(where, \"wgc_later\") == 0;\n    return p;\n}\n"
    "static void *wgt_malloc(size_t n, const char *where) {\n"
    "    return wgt_take(wgt_a.made == wgt_allowed ? NULL : malloc(n), where);\n}\n"
    "static void *wgt_calloc(size_t n, size_t size, const char *where) {\n"
    "    return wgt_take(wgt_a.made == wgt_allowed ? NULL : calloc(n, size), where);\n}\n"
    "static void wgt_free(void *p) {\n    wgt_a.held -= p != NULL;\n    free(p);\n}\n"
    "#define malloc(n) wgt_malloc(n, __func__)\n#define calloc(n, size) wgt_calloc(n, size, __func__)\n"
    "#define free wgt_free\n#include \"deep_wg.c\"\n"
    "int wgt_limited(size_t allowed, int n, const double *x, double *y, double *g, wgt_allocations *a);\n"
    "int wgt_limited(size_t allowed, int n, const double *x, double *y, double *g, wgt_allocations *a) {\n"
    "    const f_wg_arguments data = {.n = n, .x = x};\n    const double w = 1;\n"
    "    wgt_allowed = allowed, wgt_a = (wgt_allocations){0};\n"
    "    const wg_status s = f_wg_vjp(2, x, 1, y, &w, g, &data);\n"
    "    *a = wgt_a;\n    return (int)s;\n}\n";

static void every_allocation_that_fails_is_a_status_and_nothing_leaks(void **state) {
    (void)state;
    const double x[INPUTS] = {0.3, 0.8};
    double y[2], g[2][INPUTS];
    allocations all, some;
    limited_function *limited;
    must_convert(
        "wengert-convert --to adjoint test/convert/deep.c --function f --with-respect-to 'x[0:2]' --of return -o %s/deep_wg.c",
        scratch);
    FILE *const to = open_file("limited.c");
    fputs(counted, to);
    (void)fclose(to);
    build_library("limited", "-O1 -Wall -Wextra -Werror");
    void *const library = load_library("limited");
    FOUND(library, "wgt_limited", limited);
    assert_int_equal(limited(SIZE_MAX, TURNS, x, &y[0], g[0], &all), WG_OK);
    assert_int_equal(all.held, 0);
    /* one for each turn of the loop and one for its shadow; those outgrow the list on C's stack
     * more than once, and what is kept outgrows the chunk there */
    assert_in_range(all.made, 2 * TURNS + all.of_chunks + all.of_lists, MOST_ALLOCATIONS);
    assert_in_range(all.of_chunks, 3, all.made);
    assert_in_range(all.of_lists, 3, all.made);
    for (size_t k = 0; k <= all.made; k++) {
        const int status = limited(k, TURNS, x, &y[1], g[1], &some);
        assert_int_equal(status, k < all.made ? WG_ENOMEM : WG_OK);
        assert_int_equal(some.made, k);
        assert_int_equal(some.held, 0);
    }
    assert_memory_equal(&y[0], &y[1], sizeof y[0]);
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    close_library(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_that_fails_is_a_status_and_nothing_leaks)};
    return cmocka_run_group_tests_name("convert_memory", tests, open_scratch, close_scratch);
}
