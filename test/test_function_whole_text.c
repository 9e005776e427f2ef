/* SPDX-License-Identifier: MIT */
/* Operations on matrices that functions keep whole, in files and in emitted text. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "depth.h"
#include "emitted.h"
#include "function_file.h"
#include "whole_case.h"

/* ---- files ---- */

static void files_hold_them(void **state) {
    (void)state;
    enum { ORDER = 3, N = 3 * ORDER * ORDER };
    uint64_t seed = 12;
    for (size_t c = 0; c < OPERATIONS - OF_USERS; c++) {
        number k = {operations[c].of, ORDER, 0};
        double x[N], v[N], h[2][N];
        size_t bytes;
        fill(ORDER, x, &seed);
        wg_function *const f = recording_of(number_of, &k, N, x), *const hvp =
                                                                      made(wg_function_hvp, f);
        wg_function *again = NULL;
        uint8_t *const file = saved(hvp, &bytes);
        assert_non_null(file);
        must(wg_function_load(tape, file, bytes, NULL, 0, &again));
        fill(ORDER, x, &seed);
        for (size_t i = 0; i < N; i++) v[i] = walk_number(&seed);
        evaluate(hvp, x, v, NULL, h[0]);
        evaluate(again, x, v, NULL, h[1]);
        for (size_t i = 0; i < N; i++) assert_true(same_bits(h[0][i], h[1][i]));
        free(file);
        wg_function_free(f), wg_function_free(hvp), wg_function_free(again);
    }
}

static wg_status one_power(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_at(wg_symmetric_power(t, wg_mat_gather(t, 2, 2, x), 1.5), 0, 1);
    return wg_tape_status(t);
}

/* Where the text stands in a file. */
static size_t place_of(const uint8_t *file, size_t bytes, const char *text) {
    for (size_t i = 0; i + strlen(text) <= bytes; i++)
        if (memcmp(file + i, text, strlen(text)) == 0) return i;
    fail_msg("%s is not in the file", text);
    return 0;
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    const double at[4] = {2, 0.5, 0.5, 1.5};
    size_t bytes;
    wg_function *const f = recording_of(one_power, NULL, 4, at);
    uint8_t *const file = saved(f, &bytes), *const bad = malloc(bytes);
    const size_t name = place_of(file, bytes, "wg_symmetric_power"), sizes = name + 18;
    /* m 0, n 2, k 0; then the count of operands, 4 elements and the exponent, which is node
     * 4 */
    const struct {
        size_t at;
        unsigned char value;
        wg_status status;
        const char *message;
    } edits[] = {{8, 2, WG_EARG, "has the code 12, which is unknown"},
                 {name, 'v', WG_EMODE, "is the operation on matrices vg_symmetric_power"},
                 {sizes, 1, WG_EARG, "wg_symmetric_power of sizes 1, 2 and 0"},
                 {sizes + 4, 3, WG_EARG, "has 5 operands, and its operation 10"},
                 {sizes + 4, 0, WG_EARG, "wg_symmetric_power of sizes 0, 0 and 0"},
                 {sizes + 7, 1, WG_EARG, "wg_symmetric_power of sizes 0, 16777218 and 0"},
                 {sizes + 8, 1, WG_EARG, "wg_symmetric_power of sizes 0, 2 and 1"},
                 {sizes + 32, 3, WG_EARG, "is a parameter, and no number"}};
    assert_int_equal(file[8], 3);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        wg_function *g = NULL;
        memcpy(bad, file, bytes);
        bad[edits[i].at] = edits[i].value;
        seal(bad, bytes);
        assert_int_equal(wg_function_load(tape, bad, bytes, NULL, 0, &g), edits[i].status);
        assert_null(g);
        if (strstr(wg_tape_message(tape), edits[i].message) == NULL)
            fail_msg("edit %zu: %s", i, wg_tape_message(tape));
        wg_tape_reset(tape);
    }
    free(file), free(bad);
    wg_function_free(f);
}

/* ---- text ---- */

typedef void by_name(const char *, size_t, size_t, size_t, const double *, double *, double *);
typedef int point_fn(const double *const *, double *const *);
typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                     double *const *res, const ptrdiff_t *res_step, size_t *where);
typedef void give_fn(by_name *f);

/* More points than lanes, each another one. */
static void batch_is_the_points(batch_fn *f, const wg_function *hvp, size_t order,
                                const char *name, uint64_t *seed) {
    enum { POINTS_HERE = 11, MOST_HERE = 12 };
    double x[POINTS_HERE * MOST_HERE], v[POINTS_HERE * MOST_HERE], h[POINTS_HERE * MOST_HERE];
    double one[MOST_HERE];
    const ptrdiff_t n = (ptrdiff_t)(3 * order * order), step[4] = {n, 1, n, 1};
    const double *const arg[2] = {x, v};
    double *const res[1] = {h};
    size_t where;
    for (size_t p = 0; p < POINTS_HERE; p++) fill(order, x + p * (size_t)n, seed);
    for (size_t i = 0; i < POINTS_HERE * (size_t)n; i++) v[i] = walk_number(seed);
    const int failed = f(POINTS_HERE, arg, step, res, step, &where);
    if (strncmp(name, "expm", 4) == 0 && failed != 0) return; /* small ones compare */
    assert_int_equal(failed, 0);
    for (size_t p = 0; p < POINTS_HERE; p++) {
        evaluate(hvp, x + p * (size_t)n, v + p * (size_t)n, NULL, one);
        near(name, order, "H v of the text of many points", (size_t)n, h + p * (size_t)n, one);
    }
}

/* The text of many points, which takes long to compile, is that of every fourth operation, and with
 * DEPTH=2 of all. */
static bool has_batch(size_t c) { return is_deep() || c % 4 == 0; }

static void text_calls_the_library(void **state) {
    (void)state;
    enum { ORDER = 2, N = 3 * ORDER * ORDER };
    static wg_function *hvp[OPERATIONS];
    uint64_t seed = 14;
    double x[N], v[N], h[2][N];
    char name[24];
    emitted e;
    FILE *const file = emitted_text(&e);
    for (size_t c = 0; c < OPERATIONS - OF_USERS; c++) {
        number k = {operations[c].of, ORDER, 0};
        fill(ORDER, x, &seed);
        wg_function *const f = recording_of(number_of, &k, N, x);
        hvp[c] = made(wg_function_hvp, f);
        wg_function_free(f);
        (void)snprintf(name, sizeof name, "h%zu", c);
        wg_emit_options o = {.name = name, .entries = WG_EMIT_POINT | WG_EMIT_BATCH};
        const wg_status s = wg_function_emit(tape, hvp[c], &o, wg_write_file, file);
        if (s == WG_OK) assert_null(strstr(operations[c].name, "eig"));
        else {
            assert_int_equal(s, WG_EMODE);
            assert_non_null(strstr(wg_tape_message(tape), "set blas for it"));
            wg_tape_reset(tape);
        }
    }
    rewind(file);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    for (size_t c = 0; c < OPERATIONS - OF_USERS; c++) {
        (void)snprintf(name, sizeof name, "h%zu", c);
        const unsigned batch = has_batch(c) ? WG_EMIT_BATCH : 0;
        wg_emit_options o = {.name = name, .entries = WG_EMIT_POINT | batch, .blas = 1};
        must(wg_function_emit(tape, hvp[c], &o, wg_write_file, file));
    }
    /* the library is in this program: it is given to the text */
    fputs(
        "static void (*given_function)(const char *, size_t, size_t, size_t, const double *,\n"
        "    double *, double *);\n"
        "void give(void (*f)(const char *, size_t, size_t, size_t, const double *, double *,\n"
        "    double *)) { given_function = f; }\n"
        "void wg_block_value(const char *name, size_t m, size_t n, size_t k, const double *x,\n"
        "    double *y, double *work) { given_function(name, m, n, k, x, y, work); }\n",
        file);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < 2; i++) {
        if (!has_compiler(emitted_compilers[i])) continue;
        emitted_load(&e, emitted_compilers[i], "-O0"); /* most of it is calls */
        give_fn *give;
        EMITTED(&e, "give", "", give);
        give(wg_block_value);
        for (size_t c = 0; c < OPERATIONS - OF_USERS; c++) {
            point_fn *f;
            (void)snprintf(name, sizeof name, "h%zu", c);
            EMITTED(&e, name, "", f);
            fill(ORDER, x, &seed);
            for (size_t k = 0; k < N; k++) v[k] = walk_number(&seed);
            evaluate(hvp[c], x, v, NULL, h[0]);
            const double *const arg[2] = {x, v};
            double *const res[1] = {h[1]};
            assert_int_equal(f(arg, res), 0);
            near(operations[c].name, ORDER, "H v of the text", N, h[1], h[0]);
            if (!has_batch(c)) continue;
            batch_fn *many;
            EMITTED(&e, name, "_batch", many);
            batch_is_the_points(many, hvp[c], ORDER, operations[c].name, &seed);
        }
    }
    emitted_close(&e);
    emitted_remove(&e);
    for (size_t c = 0; c < OPERATIONS - OF_USERS; c++) wg_function_free(hvp[c]);
}

static void functions_of_the_users_are_refused_by_name(void **state) {
    (void)state;
    enum { ORDER = 2, N = 3 * ORDER * ORDER };
    uint64_t seed = 17;
    for (size_t c = OPERATIONS - OF_USERS; c < OPERATIONS; c++) {
        number k = {operations[c].of, ORDER, 0};
        double x[N];
        char text[64];
        size_t bytes = 7;
        fill(ORDER, x, &seed);
        wg_function *const f = recording_of(number_of, &k, N, x);
        assert_int_equal(wg_function_save(f, NULL, 0, &bytes), WG_EMODE);
        assert_int_equal(bytes, 0);
        for (int blas = 0; blas < 2; blas++) {
            const wg_emit_options o = {.name = "f", .blas = blas};
            assert_int_equal(wg_function_text(tape, f, &o, text, sizeof text, &bytes),
                             WG_EMODE);
            assert_non_null(strstr(wg_tape_message(tape), "wg_symmetric_apply"));
        }
        wg_function_free(f);
    }
}

static void a_value_by_a_name_that_is_none_changes_nothing(void **state) {
    (void)state;
    double x[4] = {2, 0, 0, 3}, y[6] = {7, 7, 7, 7, 7, 7};
    static double work[8192];
    wg_block_value("wg_nothing", 0, 2, 0, x, y, work);
    wg_block_value("wg_mat_map", 0, 0, 0, x, y, work); /* its numbers would be addresses */
    wg_block_value("wg_symmetric_apply", 0, 2, 0, x, y, work);
    wg_block_value(NULL, 0, 2, 0, x, y, work);
    wg_block_value("wg_eigh", 2, 2, 0, x, y, work);
    wg_block_value("wg_eigh", 0, 2, 0, NULL, y, work);
    for (size_t i = 0; i < 6; i++) assert_true(y[i] == 7);
    wg_block_value("wg_eigh", 0, 2, 0, x, y, work);
    assert_true(y[0] == 2 && y[1] == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_hold_them),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(text_calls_the_library),
        cmocka_unit_test(functions_of_the_users_are_refused_by_name),
        cmocka_unit_test(a_value_by_a_name_that_is_none_changes_nothing),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}
