/* SPDX-License-Identifier: MIT */
/* test_convert_memory.c - adjoints without a tape where memory runs out: the k-th allocation
 * fails, for each k until none does. Each time there is a status, and everything is given
 * back. */
#define _DEFAULT_SOURCE
#include "convert/test_build.h"

enum { INPUTS = 2, MOST_ALLOCATIONS = 4096 };

typedef int limited_function(size_t allowed, const double *x, double *y, double *g,
                             size_t *held);

/* The library's allocations are counted, by other names in the converted file. */
static const char counted[] =
    "#include <stdlib.h>\nstatic size_t wgt_left, wgt_held;\n"
    "static void *wgt_malloc(size_t n) {\n    void *const p = wgt_left == 0 ? NULL : malloc(n);\n"
    "    wgt_left -= p != NULL, wgt_held += p != NULL;\n    return p;\n}\n"
    "static void *wgt_calloc(size_t n, size_t size) {\n    void *const p = wgt_left == 0 ? NULL : calloc(n, size);\n"
    "    wgt_left -= p != NULL, wgt_held += p != NULL;\n    return p;\n}\n"
    "static void wgt_free(void *p) {\n    wgt_held -= p != NULL;\n    free(p);\n}\n"
    "#define malloc wgt_malloc\n#define calloc wgt_calloc\n#define free wgt_free\n#include \"deep_wg.c\"\n"
    "int wgt_limited(size_t allowed, const double *x, double *y, double *g, size_t *held);\n"
    "int wgt_limited(size_t allowed, const double *x, double *y, double *g, size_t *held) {\n"
    "    const f_wg_arguments data = {.n = 60, .x = x};\n    const double w = 1;\n"
    "    wgt_left = allowed;\n    const wg_status s = f_wg_vjp(2, x, 1, y, &w, g, &data);\n"
    "    *held = wgt_held;\n    return (int)s;\n}\n";

static void every_allocation_that_fails_is_a_status_and_nothing_leaks(void **state) {
    (void)state;
    const double x[INPUTS] = {0.3, 0.8};
    double y[2], g[2][INPUTS];
    size_t held, k = 0;
    limited_function *limited;
    must_run(
        "%s/wengert-convert --to adjoint test/convert/deep.c --function f --with-respect-to 'x[0:2]' --of return -o %s/deep_wg.c",
        setting("B", "."), scratch);
    FILE *const to = open_file("limited.c");
    fputs(counted, to);
    (void)fclose(to);
    build_library("limited", "-O1 -Wall -Wextra -Werror");
    void *const library = load_library("limited");
    FOUND(library, "wgt_limited", limited);
    assert_int_equal(limited(SIZE_MAX, x, &y[0], g[0], &held), WG_OK);
    assert_int_equal(held, 0);
    int status = WG_ENOMEM;
    for (; status != WG_OK && k < MOST_ALLOCATIONS; k++) {
        status = limited(k, x, &y[1], g[1], &held);
        if (status != WG_OK) assert_int_equal(status, WG_ENOMEM);
        assert_int_equal(held, 0);
    }
    /* one for each turn of the loop, two for its shadow and what is given back, and the
     * stack's chunks */
    assert_in_range(k, 4 * 60 + 3, MOST_ALLOCATIONS - 1);
    assert_memory_equal(&y[0], &y[1], sizeof y[0]);
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    close_library(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_that_fails_is_a_status_and_nothing_leaks)};
    return cmocka_run_group_tests_name("convert_memory", tests, open_scratch, close_scratch);
}
