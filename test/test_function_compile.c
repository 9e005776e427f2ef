/* SPDX-License-Identifier: MIT */
/* test_function_compile.c - compiled functions against interpreted ones, to the last bit where
 * nothing is summed; and what is loaded from where. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "emitted.h"

#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <wengert/derive.h>
#include <wengert/operation.h>
#include "../tape/function/native.h"
#include "pools.h"
#include "tolerance.h"

enum { MOST = 2048, POINTS = 150, PATH_BYTES = 4080 };

static char directory[64];
static const char *compiler;

static int open_directory(void **state) {
    (void)state;
    compiler = getenv("CC");
    /* a wrapper with arguments is no program */
    if (compiler == NULL || *compiler == 0 || strchr(compiler, ' ') != NULL) compiler = "cc";
    (void)snprintf(directory, sizeof directory, "/tmp/wengert-test-XXXXXX");
    return mkdtemp(directory) == NULL;
}
static int close_directory(void **state) {
    char line[128];
    (void)free_pools(state);
    (void)snprintf(line, sizeof line, "rm -rf %s", directory);
    return system(line) != 0;
}

static wg_function *compiled(wg_tape *t, const wg_function *f, const char *with,
                             const char *const *flags, const char *where, wg_compiled *how) {
    const wg_compile_options o = {with, flags, where};
    wg_function *out = NULL;
    assert_int_equal(wg_function_compile(t, f, &o, &out, how), WG_OK);
    assert_non_null(out);
    return out;
}
static wg_function *must_compile(wg_tape *t, const wg_function *f) {
    static const char *const quick[] = {"-O1", NULL};
    wg_compiled how;
    wg_function *const out = compiled(t, f, compiler, quick, directory, &how);
    if (!how.native) fail_msg("%s", how.why);
    assert_string_equal(how.why, "");
    return out;
}

/* Arrays of structures of all inputs and of all outputs; sums at the first point. */
static wg_status evaluate(const wg_function *f, size_t points, const double *x, double *y,
                          size_t threads, wg_function_guard *guard) {
    wg_points in[16];
    wg_results out[16];
    size_t at = 0;
    for (size_t k = 0; k < f->inputs; at += wgi_argument_size(&f->input[k++]))
        in[k] = (wg_points){x + at, (ptrdiff_t)f->n, 1};
    at = 0;
    for (size_t k = 0; k < f->outputs; at += wgi_argument_size(&f->output[k++]))
        out[k] = (wg_results){y + at, (ptrdiff_t)f->m, 1};
    void *const work = malloc(wg_function_work(f, pool_of(threads)) + 1);
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, points, in, out, pool_of(threads), work, guard);
    free(work);
    return s;
}

static void draw_points(double *x, size_t n, size_t points, int plain) {
    for (size_t i = 0; i < n * points; i++)
        x[i] = !plain && (i / n) % 3 == 0 ? special[below(SPECIALS)] : uniform(-2, 2);
}

/* The same status and guard, results with the same bits, sums to the order of their terms. */
static void compare(const wg_function *f, const wg_function *g, size_t points, size_t threads,
                    int plain) {
    static double x[MOST * POINTS], y[MOST * POINTS], z[MOST * POINTS];
    wg_function_guard a = {0, 0}, b = {0, 0};
    draw_points(x, f->n, points, plain);
    memset(y, 0, f->m * (points + 1) * sizeof *y);
    memset(z, 0, f->m * (points + 1) * sizeof *z);
    assert_int_equal(evaluate(f, points, x, y, 1, &a), evaluate(g, points, x, z, threads, &b));
    assert_int_equal(a.point, b.point);
    assert_int_equal(a.guard, b.guard);
    for (size_t p = 0; p < points; p++)
        for (size_t k = 0, j = 0; k < f->outputs; k++)
            for (size_t l = 0; l < wgi_argument_size(&f->output[k]); l++, j++) {
                const double want = y[p * f->m + j], got = z[p * f->m + j];
                const double size = (double)points * DBL_EPSILON * (1 + fabs(want));
                if (same_bits(want, got)) continue;
                if (f->output[k].flags & WG_SUMMED &&
                    fabs(got - want) <= 64 * TOL_ORDER_ULP * size)
                    continue;
                print_error("point %zu of %zu, entry %zu: %.17g, not %.17g\n", p, points, j,
                            got, want);
                fail();
            }
}

static void rows_and_partials_have_the_bits_of_the_interpreter(void **state) {
    enum { APIECE = 24 };
    (void)state;
    for (size_t k = 0; k < wgi_scalar_op_count; k += APIECE) {
        hand h;
        hand_open(&h);
        hand_every_row(&h, k,
                       k + APIECE < wgi_scalar_op_count ? k + APIECE : wgi_scalar_op_count);
        wg_function *const g = must_compile(h.t, h.f);
        compare(h.f, g, POINTS, 1, 0);
        compare(h.f, g, POINTS, 1, 1);
        wg_function_free(g);
        hand_close(&h);
    }
}

static void drawn_functions_have_the_bits_of_the_interpreter(void **state) {
    (void)state;
    for (size_t k = 0; k < 8; k++) {
        hand h;
        hand_open(&h);
        hand_draw(&h, 100 + k, k == 7 ? 2000 : 30 + 40 * k, k % 2 == 1, k % 4 >= 2);
        wg_function *const g = must_compile(h.t, h.f);
        compare(h.f, g, POINTS, 1, 0);
        for (size_t points = 0; points < 70; points += k == 0 ? 1 : 23)
            compare(h.f, g, points, 1 + points % 3, 1);
        wg_function_free(g);
        hand_close(&h);
    }
}

/* ---- where arguments stand ---- */

enum { FIELDS_IN = 5, FIELDS_OUT = 4, STRUCTURE = 32 };
static const wg_argument fields_in[FIELDS_IN] = {
    {"a", 3, 1, 0}, {"b", 1, 1, 0}, {"c", 5, 1, 0}, {"d", 1, 1, 0}, {"e", 11, 1, 0}};
static const wg_argument fields_out[FIELDS_OUT] = {
    {"u", 1, 1, 0}, {"v", 9, 1, 0}, {"w", 2, 1, 0}, {"z", 1, 1, 0}};

/* Entry i of an output is of inputs i and i + 3 and, past some, one of the inputs itself. */
static wg_status fields(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)data;
    for (size_t i = 0; i < m; i++)
        y[i] = i % 5 == 4 ? x[n - i]
                          : wg_let(t, wg_sub(wg_mul(x[i], x[i + 3]), wg_div(x[i], 3.0)));
    return WG_OK;
}

/* Where arguments begin in a structure, the size of which is `point`, or, where that is 1, in
 * arrays of POINTS; step: from entry to entry. */
typedef struct layout {
    size_t in[FIELDS_IN], out[FIELDS_OUT], point, step;
} layout;

static void evaluate_fields(const wg_function *f, const layout *l, size_t points,
                            const double *x, double *y) {
    wg_points in[FIELDS_IN];
    wg_results out[FIELDS_OUT];
    const size_t scale = l->point == 1 ? POINTS : 1;
    for (size_t k = 0; k < FIELDS_IN; k++)
        in[k] = (wg_points){x + l->in[k] * scale, (ptrdiff_t)l->point, (ptrdiff_t)l->step};
    for (size_t k = 0; k < FIELDS_OUT; k++)
        out[k] = (wg_results){y + l->out[k] * scale, (ptrdiff_t)l->point, (ptrdiff_t)l->step};
    void *const work = malloc(wg_function_work(f, NULL) + 1);
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, points, in, out, NULL, work, NULL), WG_OK);
    free(work);
}

/* Next to each other, with gaps, in another order, entries apart, arrays. What lies between is
 * left alone. */
static void arguments_may_stand_anywhere(void **state) {
    (void)state;
    static const layout layouts[] = {
        {{0, 3, 4, 9, 10}, {0, 1, 10, 12}, 21, 1},
        {{0, 3, 4, 9, 10}, {0, 1, 10, 12}, STRUCTURE, 1},
        {{2, 6, 9, 15, 17}, {3, 5, 16, 20}, STRUCTURE, 1},
        {{18, 17, 12, 11, 0}, {12, 3, 1, 0}, 21, 1},
        {{0, 6, 8, 18, 20}, {0, 2, 20, 24}, 2 * STRUCTURE, 2},
        {{0, 3, 4, 9, 10}, {0, 1, 10, 12}, 1, POINTS},
    };
    static double x[2 * STRUCTURE * POINTS], y[2 * STRUCTURE * POINTS],
        z[2 * STRUCTURE * POINTS];
    double at[21];
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f;
    for (size_t i = 0; i < 21; i++) at[i] = 1 + 0.1 * (double)i;
    assert_int_equal(wg_function_record(t, fields, NULL, FIELDS_IN, fields_in, at, FIELDS_OUT,
                                        fields_out, &f),
                     WG_OK);
    wg_function *const g = must_compile(t, f);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = uniform(-2, 2);
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
        for (size_t points = 1; points <= POINTS; points += points < 20 ? 1 : 13) {
            for (size_t i = 0; i < sizeof y / sizeof *y; i++) y[i] = z[i] = -7;
            evaluate_fields(f, &layouts[k], points, x, y);
            evaluate_fields(g, &layouts[k], points, x, z);
            assert_memory_equal(y, z, sizeof y);
            assert_true(y[layouts[k].out[0]] != -7);
        }
    wg_function_free(g);
    wg_function_free(f);
    wg_tape_free(t);
}

#if defined(__x86_64__)
/* For a machine with shorter vectors than this one has. */
static void narrow(hand *h, const wgi_fn_machine *machine, const wgi_simd *simd,
                   const char *flags) {
    const wgi_native_form form = {(unsigned)machine->width, 50, 192 << 10};
    emitted e;
    wgi_source s;
    char line[512];
    wgi_fn_program_free(h->f);
    assert_int_equal(wgi_fn_program_make(wgi_core_of(h->t), h->f, machine, simd), WG_OK);
    wg_function copy = *h->f;
    wgi_fn_program program = *h->f->program;
    copy.program = &program;
    FILE *const f = emitted_text(&e);
    assert_int_equal(wgi_source_open(&s, wgi_core_of(h->t), "test", h->f, "wgi"), WG_OK);
    assert_int_equal(wgi_native_plan(&s, &form), WG_OK);
    wgi_text_open(&s.o, wg_write_file, f);
    wgi_native_write(&s, &form, "key");
    assert_int_equal(wgi_text_close(&s.o), WG_OK);
    assert_int_equal(fclose(f), 0);
    (void)snprintf(
        line, sizeof line,
        "%s -std=gnu11 -w -O1 -ffp-contract=off %s -shared -fPIC -o %s/e.so %s/e.c -lm",
        compiler, flags, e.directory, e.directory);
    assert_int_equal(system(line), 0);
    (void)snprintf(line, sizeof line, "%s/e.so", e.directory);
    e.library = dlopen(line, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(e.library);
    EMITTED(&e, "wengert_each", "", program.native);
    assert_string_equal(emitted_symbol(&e, "wengert_key", ""), "key");
    compare(h->f, &copy, POINTS, 1, 0);
    compare(h->f, &copy, POINTS - 3, 1, 1);
    emitted_close(&e);
    emitted_remove(&e);
}

static void shorter_vectors_have_the_bits_of_their_interpreter(void **state) {
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        hand h;
        hand_open(&h);
        if (k == 0) hand_every_row(&h, 0, 30);
        else hand_draw(&h, 200 + k, 150, k == 2, k == 2);
        narrow(&h, wgi_fn_base, wgi_simd_base, "");
        if (wgi_fn_avx2 != NULL && __builtin_cpu_supports("avx2") &&
            __builtin_cpu_supports("fma"))
            narrow(&h, wgi_fn_avx2, wgi_simd_avx2, "-mavx2 -mfma");
        hand_close(&h);
    }
}
#endif

/* Sums of every point, of whole numbers: exact in any order. */
static void each_point_is_summed_once(void **state) {
    hand h;
    static double x[POINTS * 2];
    (void)state;
    hand_open(&h);
    const uint32_t a = hand_input(&h, "x", 2, 1, 0);
    uint32_t out[3] = {a, WGI_GRAPH2(&h.g, mul, a, a + 1), WGI_GRAPH2(&h.g, sub, a + 1, a)};
    hand_output(&h, "s", 3, 1, WG_SUMMED, out);
    hand_finish(&h);
    wg_function *const g = must_compile(h.t, h.f);
    for (size_t i = 0; i < 2 * POINTS; i++) x[i] = (double)below(100) - 40;
    for (size_t points = 0; points <= POINTS; points++) {
        double want[3] = {0, 0, 0}, got[3];
        for (size_t p = 0; p < points; p++) {
            want[0] += x[2 * p];
            want[1] += x[2 * p] * x[2 * p + 1];
            want[2] += x[2 * p + 1] - x[2 * p];
        }
        assert_int_equal(evaluate(g, points, x, got, 1 + points % 2, NULL), WG_OK);
        for (int k = 0; k < 3; k++) assert_true(got[k] == want[k]);
    }
    wg_function_free(g);
    hand_close(&h);
}

static void zero_times_infinity_is_zero_by_the_rule(void **state) {
    hand h;
    double x[POINTS * 2], y[POINTS * 2];
    (void)state;
    hand_open(&h);
    const uint32_t c = hand_input(&h, "c", 1, 1, 0), z = hand_input(&h, "x", 1, 1, 0);
    const uint32_t d = hand_partial(&h, op_named("sqrt"), WGI_NODE_FIRST, 0, &z);
    uint32_t out[2] = {wgi_graph_times(&h.g, c, d), 0};
    out[1] = WGI_GRAPH4(&h.g, select_lt, out[0], c, z, d); /* hides a NaN */
    hand_output(&h, "y", 2, 1, 0, out);
    hand_output(&h, "s", 2, 1, WG_SUMMED, out);
    hand_finish(&h);
    wg_function *const g = must_compile(h.t, h.f);
    compare(h.f, g, POINTS, 1, 0);
    wg_function_free(g);
    hand_close(&h);

    hand_open(&h);
    const uint32_t v = hand_input(&h, "c", 1, 1, 0), u = hand_input(&h, "x", 1, 1, 0);
    const uint32_t e = hand_partial(&h, op_named("sqrt"), WGI_NODE_FIRST, 0, &u);
    const uint32_t hidden = wgi_graph_times(&h.g, v, e);
    out[0] = WGI_GRAPH4(&h.g, select_le, hidden, v, u, e);
    hand_output(&h, "y", 1, 1, 0, out);
    hand_finish(&h);
    wg_function *const k = must_compile(h.t, h.f);
    for (size_t p = 0; p < POINTS; p++) x[2 * p] = 0, x[2 * p + 1] = 0;
    assert_int_equal(evaluate(k, POINTS, x, y, 1, NULL), WG_OK);
    for (size_t p = 0; p < POINTS; p++) assert_true(y[p] == 0);
    wg_function_free(k);
    hand_close(&h);
}

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "an expression")
static double table(double a) { return a * 2; }
WG_OPERATION1(looked_up, table(a), 2.0, 0, ARITH, "a call of something else")

static void operations_of_the_user_are_compiled_or_interpreted(void **state) {
    const wg_scalar_op *const op[] = {&wgi_user_softsign, &wgi_user_looked_up};
    (void)state;
    for (int k = 0; k < 2; k++) {
        hand h;
        wg_compiled how;
        hand_open(&h);
        const uint32_t x = hand_input(&h, "x", 1, 1, 0);
        const uint32_t y = hand_partial(&h, op[k], WGI_NODE_OP, 0, &x);
        hand_output(&h, "y", 1, 1, 0, &y);
        hand_finish(&h);
        wg_function *const g = compiled(h.t, h.f, compiler, NULL, directory, &how);
        assert_int_equal(how.native, k == 0);
        if (k == 1) assert_non_null(strstr(how.why, "looked_up"));
        assert_int_equal(wg_tape_status(h.t), WG_OK);
        compare(h.f, g, 40, 1, 1);
        wg_function_free(g);
        hand_close(&h);
    }
}

/* Arrays of n operands: inputs, and products of them. */
static void open_arrays(hand *h, size_t n, int arrays) {
    enum { ROOM = 20000 };
    static uint32_t node[ROOM];
    uint32_t y[2 * WGI_ARRAY_COUNT];
    int results = 0;
    assert_true(n <= ROOM);
    hand_open(h);
    const uint32_t x = hand_input(h, "x", n, 1, 0);
    static const unsigned array[] = {WGI_ARRAY_norm2, WGI_ARRAY_logsumexp, WGI_ARRAY_maximum,
                                     WGI_ARRAY_minimum};
    for (int k = 0; k < arrays; k++) {
        for (uint32_t i = 0; i < n; i++) node[i] = x + i;
        y[results++] = wgi_graph_array(&h->g, array[k], n, node);
        for (uint32_t i = 0; i < n; i++)
            node[i] = WGI_GRAPH2(&h->g, mul, x + i, x + (i + 1) % (uint32_t)n);
        y[results++] = wgi_graph_array(&h->g, array[k], n, node);
    }
    hand_output(h, "y", (size_t)results, 1, 0, y);
    hand_finish(h);
}

static void long_arrays_take_little_of_stack_and_compiler(void **state) {
    hand h;
    wg_compiled how;
    (void)state;
    open_arrays(&h, 600, 4);
    const time_t start = time(NULL);
    wg_function *const g = must_compile(h.t, h.f);
    assert_true(time(NULL) - start < 60);
    compare(h.f, g, 70, 1, 0);
    compare(h.f, g, 70, 1, 1);
    wg_function_free(g);
    hand_close(&h);

    open_arrays(&h, 20000, 1);
    wg_function *const k = compiled(h.t, h.f, compiler, NULL, directory, &how);
    assert_int_equal(how.native, 0);
    assert_non_null(strstr(how.why, "alive"));
    wg_function_free(k);
    hand_close(&h);
}

/* ---- where it comes from ---- */

static void open_small(hand *h, double number) {
    hand_open(h);
    const uint32_t x = hand_input(h, "x", 1, 1, 0), c = wgi_graph_number(&h->g, number);
    const uint32_t y = WGI_GRAPH2(&h->g, mul, x, c);
    hand_output(h, "y", 1, 1, 0, &y);
    hand_finish(h);
}

/* Compiled in that directory: is it native, and was it there? */
static void expect(hand *h, const char *with, const char *const *flags, const char *where,
                   int native, int cached) {
    wg_compiled how;
    wg_function *const g = compiled(h->t, h->f, with, flags, where, &how);
    if (how.native != native) print_error("%s\n", how.why);
    assert_int_equal(how.native, native);
    assert_int_equal(how.cached, cached);
    assert_true(native ? *how.why == 0 : *how.why != 0);
    compare(h->f, g, 17, 1, 1);
    wg_function_free(g);
}

static int command(const char *format, const char *a, const char *b) {
    char line[512];
    (void)snprintf(line, sizeof line, format, a, b);
    return system(line);
}

static void what_was_compiled_is_found_again(void **state) {
    static const char *const other[] = {"-O1", NULL};
    hand h;
    char where[96];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/again", directory);
    open_small(&h, 1.25);
    expect(&h, compiler, NULL, where, 1, 0);
    expect(&h, compiler, NULL, where, 1, 1);
    expect(&h, compiler, other, where, 1, 0);
    hand_close(&h);
    open_small(&h, 1.5);
    expect(&h, compiler, NULL, where, 1, 0);
    /* only what was made is left */
    assert_int_equal(
        command("test $(ls %s | wc -l) = 3 && test $(ls %s/*.so | wc -l) = 3", where, where),
        0);
    /* two that use one library, one freed first */
    wg_compiled how;
    wg_function *const a = compiled(h.t, h.f, compiler, NULL, where, &how);
    wg_function *const b = compiled(h.t, h.f, compiler, NULL, where, &how);
    wg_function_free(a);
    compare(h.f, b, 9, 1, 1);
    wg_function_free(b);
    hand_close(&h);
}

static void a_file_that_is_not_what_was_made_is_made_again(void **state) {
    hand h;
    char where[96];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/file", directory);
    open_small(&h, 2.25);
    expect(&h, compiler, NULL, where, 1, 0);
    assert_int_equal(
        command("for f in %s/*.so; do head -c 700 $f > $f.x; mv $f.x $f; done%s", where, ""),
        0);
    expect(&h, compiler, NULL, where, 1, 0);
    assert_int_equal(command("chmod 0722 %s/*.so%s", where, ""), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    /* the one of another text under this name */
    hand other;
    char there[96];
    (void)snprintf(there, sizeof there, "%s/other", directory);
    open_small(&other, 7.25);
    expect(&other, compiler, NULL, there, 1, 0);
    assert_int_equal(command("cp %s/*.so $(ls %s/*.so)", there, where), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    /* a link to a file */
    assert_int_equal(
        command("f=$(ls %s/*.so) && mv $f %s/away && ln -s ../away $f", where, directory), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    /* a pipe, of which nobody is the writer */
    assert_int_equal(command("f=$(ls %s/*.so) && rm $f && mkfifo $f%s", where, ""), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    expect(&h, compiler, NULL, where, 1, 1);
    if (geteuid() == 0) {
        assert_int_equal(command("chown 1 %s/*.so%s", where, ""), 0);
        expect(&h, compiler, NULL, where, 1, 0);
    }
    hand_close(&other);
    hand_close(&h);
}

static void a_directory_of_others_is_not_used(void **state) {
    hand h;
    char where[96], link[96];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/open", directory);
    (void)snprintf(link, sizeof link, "%s/link", directory);
    open_small(&h, 3.25);
    expect(&h, compiler, NULL, where, 1, 0);
    assert_int_equal(chmod(where, 0770), 0);
    expect(&h, compiler, NULL, where, 0, 0);
    assert_int_equal(chmod(where, 0707), 0);
    expect(&h, compiler, NULL, where, 0, 0);
    assert_int_equal(chmod(where, 0700), 0);
    assert_int_equal(symlink(where, link), 0);
    expect(&h, compiler, NULL, link, 0, 0);
    (void)snprintf(link, sizeof link, "%s/link//", directory);
    expect(&h, compiler, NULL, link, 0, 0);
    expect(&h, compiler, NULL, where, 1, 1);
    (void)snprintf(link, sizeof link, "%s/open/", directory);
    expect(&h, compiler, NULL, link, 1, 1);
    expect(&h, compiler, NULL, "/nowhere/at/all", 0, 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(where, 1, (gid_t)-1), 0);
        expect(&h, compiler, NULL, where, 0, 0);
    }
    hand_close(&h);
}

static void without_a_compiler_functions_are_interpreted(void **state) {
    static const char *const wrong[] = {"-no-such-flag-at-all", NULL};
    hand h;
    (void)state;
    open_small(&h, 4.25);
    expect(&h, "wengert-no-such-compiler", NULL, directory, 0, 0);
    expect(&h, "/bin/false", NULL, directory, 0, 0);
    expect(&h, "/bin/true", NULL, directory, 0, 0);
    expect(&h, compiler, wrong, directory, 0, 0);
    assert_int_equal(command("! ls %s | grep -q '[-]'%s", directory, ""), 0);
    wg_function *out = h.f;
    assert_int_equal(wg_function_compile(NULL, h.f, NULL, &out, NULL), WG_ENULL);
    assert_int_equal(wg_function_compile(h.t, NULL, NULL, &out, NULL), WG_ENULL);
    assert_int_equal(wg_function_compile(h.t, h.f, NULL, NULL, NULL), WG_ENULL);
    hand_close(&h);
}

/* ---- many at a time, and compilers that are odd ---- */

typedef struct at_once {
    pthread_t thread;
    pthread_barrier_t *start;
    const wg_function *f;
    const char *where;
    wg_compiled how;
    wg_status status;
} at_once;

static void *compile_at_once(void *data) {
    at_once *const a = data;
    const wg_compile_options o = {compiler, NULL, a->where};
    wg_function *out = NULL;
    wg_tape *const t = wg_tape_new(NULL);
    (void)pthread_barrier_wait(a->start);
    a->status = wg_function_compile(t, a->f, &o, &out, &a->how);
    wg_function_free(out);
    wg_tape_free(t);
    return NULL;
}

static void threads_compile_the_same_at_once(void **state) {
    enum { THREADS = 4 };
    at_once a[THREADS];
    pthread_barrier_t start;
    hand h;
    char where[96];
    (void)state;
    open_small(&h, 8.25);
    (void)snprintf(where, sizeof where, "%s/threads", directory);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++) {
        a[k] = (at_once){.start = &start, .f = h.f, .where = where};
        assert_int_equal(pthread_create(&a[k].thread, NULL, compile_at_once, &a[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(a[k].thread, NULL), 0);
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(a[k].status, WG_OK);
        if (!a[k].how.native) fail_msg("%s", a[k].how.why);
    }
    assert_int_equal(command("test $(ls %s | wc -l) = 1%s", where, ""), 0);
    (void)pthread_barrier_destroy(&start);
    hand_close(&h);
}

/* A program of the shell that ends as the compiler. */
static void write_compiler(char *path, size_t room, const char *name, const char *text) {
    (void)snprintf(path, room, "%s/%s", directory, name);
    FILE *const f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fprintf(f, "#!/bin/sh\n%s\nexec %s \"$@\" $more\n", text, compiler) > 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static void what_a_compiler_leaves_running_is_not_waited_for(void **state) {
    hand h;
    char path[96], where[96], text[256];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/daemon", directory);
    (void)snprintf(text, sizeof text, "sleep 100 & echo $! >>%s/sleeping", directory);
    write_compiler(path, sizeof path, "starter", text);
    open_small(&h, 9.25);
    const time_t start = time(NULL);
    expect(&h, path, NULL, where, 1, 0);
    assert_true(time(NULL) - start < 60);
    assert_int_equal(command("kill $(cat %s/sleeping)%s", directory, ""), 0);
    hand_close(&h);
}

/* As with -march=native on two machines. */
static void what_flags_mean_is_part_of_the_key(void **state) {
    hand h;
    char path[96], where[96], text[256];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/meaning", directory);
    (void)snprintf(text, sizeof text, "test -f %s/moved && more=-DMOVED=1", directory);
    write_compiler(path, sizeof path, "native", text);
    open_small(&h, 10.25);
    expect(&h, path, NULL, where, 1, 0);
    expect(&h, path, NULL, where, 1, 1);
    assert_int_equal(command("touch %s/moved%s", directory, ""), 0);
    expect(&h, path, NULL, where, 1, 0);
    expect(&h, path, NULL, where, 1, 1);
    hand_close(&h);
}

static void files_of_processes_that_are_gone_are_removed(void **state) {
    hand h;
    char where[96], line[512];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/left", directory);
    open_small(&h, 11.25);
    assert_int_equal(mkdir(where, 0700), 0);
    (void)snprintf(line, sizeof line,
                   "cd %s && k=0123456789abcdef0123456789abcdef && "
                   "touch -d '2 days ago' $k-999999999-0.c $k-999999999-1.so $k-%ld-0.c $k.so "
                   "a-999999999-0.c && touch $k-999999999-2.c",
                   where, (long)getpid());
    assert_int_equal(system(line), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    (void)snprintf(
        line, sizeof line,
        "cd %s && test $(ls | wc -l) = 5 && ls *-999999999-2.c *-%ld-0.c a-* >/dev/null", where,
        (long)getpid());
    assert_int_equal(system(line), 0);
    hand_close(&h);
}

/* ---- what is said ---- */

static const wg_scalar_op *long_operation(void) {
    static const char name[] = "an operation with a name that is longer than anybody would "
                               "ever write, though a program may";
    static wg_scalar_op op;
    op = wgi_user_looked_up;
    op.name = name;
    return &op;
}

static void reasons_are_whole(void **state) {
    hand h;
    wg_compiled how;
    char where[PATH_BYTES];
    (void)state;
    hand_open(&h);
    const uint32_t x = hand_input(&h, "x", 1, 1, 0);
    const uint32_t y = hand_partial(&h, long_operation(), WGI_NODE_OP, 0, &x);
    hand_output(&h, "y", 1, 1, 0, &y);
    hand_finish(&h);
    wg_function_free(compiled(h.t, h.f, compiler, NULL, directory, &how));
    assert_non_null(strstr(how.why, "cannot be written"));
    hand_close(&h);
    /* no part of a path is taken for all of it */
    open_small(&h, 12.25);
    memset(where, 'd', sizeof where);
    memcpy(where, directory, strlen(directory));
    for (size_t i = strlen(directory); i < sizeof where; i += 100) where[i] = '/';
    where[sizeof where - 1] = 0;
    wg_function_free(compiled(h.t, h.f, compiler, NULL, where, &how));
    assert_int_equal(how.native, 0);
    assert_non_null(strstr(how.why, "too long"));
    hand_close(&h);
}

typedef struct scarce {
    long calls, fail_at, live;
} scarce;
static void *scarce_reserve(void *ctx, size_t bytes) {
    scarce *const s = ctx;
    if (s->calls++ == s->fail_at) return NULL;
    void *const p =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    s->live += p != MAP_FAILED;
    return p != MAP_FAILED ? p : NULL;
}
static int scarce_commit(void *ctx, void *p, size_t bytes) {
    scarce *const s = ctx;
    return s->calls++ == s->fail_at ? 1 : mprotect(p, bytes, PROT_READ | PROT_WRITE);
}
static void scarce_release(void *ctx, void *p, size_t bytes) {
    ((scarce *)ctx)->live--;
    (void)munmap(p, bytes);
}

static void no_memory_is_said_to_be_that(void **state) {
    hand h;
    scarce s = {0, -1, 0};
    long failed = 0;
    (void)state;
    open_small(&h, 13.25);
    wg_function_free(must_compile(h.t, h.f));
    for (int done = 0; !done;) {
        static const char *const quick[] = {"-O1", NULL};
        const wg_compile_options o = {compiler, quick, directory};
        const wg_options options = {
            .memory = {scarce_reserve, scarce_commit, scarce_release, &s}};
        wg_function *copy = NULL, *out = NULL;
        wg_compiled how;
        s.fail_at = -1;
        wg_tape *const t = wg_tape_new(&options);
        assert_non_null(t);
        assert_int_equal(wg_function_join(t, 1, (const wg_function *const[]){h.f}, &copy),
                         WG_OK);
        s.calls = 0, s.fail_at = failed;
        const wg_status status = wg_function_compile(t, copy, &o, &out, &how);
        done = s.calls <= s.fail_at;
        assert_int_equal(status, done ? WG_OK : WG_ENOMEM);
        assert_int_equal(out != NULL, done);
        if (done) assert_int_equal(how.native, 1);
        s.fail_at = -1;
        wg_function_free(out);
        wg_function_free(copy);
        wg_tape_free(t);
        assert_int_equal(s.live, 0);
        failed++;
    }
    assert_true(failed > 3);
    hand_close(&h);
}

/* Derivatives of a compiled function, and a function of nothing at the points. */
static void compiled_functions_are_functions(void **state) {
    hand h;
    wg_compiled how;
    (void)state;
    open_small(&h, 5.25);
    wg_function *const g = must_compile(h.t, h.f);
    wg_function *const again = must_compile(h.t, g);
    compare(h.f, again, 33, 1, 1);
    wg_function_free(g);
    compare(h.f, again, 33, 1, 1);
    wg_function_free(again);
    hand_close(&h);
    hand_open(&h);
    const uint32_t x = hand_input(&h, "x", 1, 1, WG_SHARED);
    const uint32_t y = WGI_GRAPH1(&h.g, exp, x);
    hand_output(&h, "y", 1, 1, 0, &y);
    hand_finish(&h);
    wg_function *const k = compiled(h.t, h.f, compiler, NULL, directory, &how);
    assert_int_equal(how.native, 0);
    wg_function_free(k);
    hand_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_partials_have_the_bits_of_the_interpreter),
        cmocka_unit_test(drawn_functions_have_the_bits_of_the_interpreter),
        cmocka_unit_test(arguments_may_stand_anywhere),
#if defined(__x86_64__)
        cmocka_unit_test(shorter_vectors_have_the_bits_of_their_interpreter),
#endif
        cmocka_unit_test(each_point_is_summed_once),
        cmocka_unit_test(zero_times_infinity_is_zero_by_the_rule),
        cmocka_unit_test(operations_of_the_user_are_compiled_or_interpreted),
        cmocka_unit_test(long_arrays_take_little_of_stack_and_compiler),
        cmocka_unit_test(threads_compile_the_same_at_once),
        cmocka_unit_test(what_a_compiler_leaves_running_is_not_waited_for),
        cmocka_unit_test(what_flags_mean_is_part_of_the_key),
        cmocka_unit_test(files_of_processes_that_are_gone_are_removed),
        cmocka_unit_test(reasons_are_whole),
        cmocka_unit_test(no_memory_is_said_to_be_that),
        cmocka_unit_test(what_was_compiled_is_found_again),
        cmocka_unit_test(a_file_that_is_not_what_was_made_is_made_again),
        cmocka_unit_test(a_directory_of_others_is_not_used),
        cmocka_unit_test(without_a_compiler_functions_are_interpreted),
        cmocka_unit_test(compiled_functions_are_functions)
    };
    return cmocka_run_group_tests(tests, open_directory, close_directory);
}
