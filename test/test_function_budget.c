/* SPDX-License-Identifier: MIT */
/* test_function_budget.c - the budget of a tape holds for all that is made on it: functions,
 * callables, patterns, branches, files, compiled code, models, and the work of calls on
 * them. */
#define _DEFAULT_SOURCE /* scratch.h */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <wengert.h>
#include <wengert/model.h>

#include "counted.h"
#include "scratch.h"

/* ---- what is made, and freed when all was looked at ---- */

typedef struct made {
    wg_tape *t;
    wg_function *f, *g, *h;
    wg_sparsity *s;
    wg_callable *k, *native;
    wg_branches *b;
    wg_model *m;
    wg_tape *work;
} made;

static void free_made(made *o) {
    wg_function_free(o->f), wg_function_free(o->g), wg_function_free(o->h);
    wg_sparsity_free(o->s);
    wg_callable_free(o->k), wg_callable_free(o->native);
    wg_branches_free(o->b);
    wg_tape_free(o->work);
}

enum { N = 40 };
static const double at[N] = {0.5, 0.25};
static char cache[SCRATCH_BYTES];

static wg_status chain(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)data;
    for (size_t j = 0; j < m; j++) {
        y[j] = x[j % n];
        for (size_t i = 0; i < n; i++)
            y[j] = wg_let(t, wg_add(wg_sin(wg_mul(y[j], x[i])), wg_mul(0.5 + (double)j, y[j])));
    }
    return WG_OK;
}

/* x sin x, or x cos x where x is negative. */
static wg_status two_ways(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    const int left = wg_lt(t, x[0], wg_constant(0));
    *y = left ? wg_let(t, wg_mul(x[0], wg_cos(x[0]))) : wg_let(t, wg_mul(x[0], wg_sin(x[0])));
    return WG_OK;
}

static wg_status record(made *o, size_t n, size_t m) {
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    return wg_function_record(o->t, chain, NULL, 1, &in, at, 1, &out, &o->f);
}

static wg_status functions(made *o) {
    wg_status s = record(o, N, 1);
    if (s == WG_OK) s = wg_function_gradient(o->t, o->f, &o->g);
    if (s == WG_OK) s = wg_function_hvp(o->t, o->f, &o->h);
    return s;
}

static wg_status patterns(made *o) {
    return wg_jacobian_sparsity(o->t, chain, NULL, N, at, N, WG_ROW_MAJOR, &o->s);
}

static wg_status callables(made *o) {
    wg_status s = record(o, 4, 4);
    if (s == WG_OK) s = wg_callable_new(o->t, o->f, &o->k);
    return s;
}

static wg_status stencils(made *o) {
    wg_source x[4];
    for (int i = 0; i < 4; i++) x[i] = wg_from_neighbour("u", i - 1, 0, 0);
    const wg_argument in[4] = {{"a", 1, 1, 0}, {"b", 1, 1, 0}, {"c", 1, 1, 0}, {"d", 1, 1, 0}};
    const wg_argument out = {"u", 1, 1, 0};
    wg_status s = wg_function_record(o->t, chain, NULL, 4, in, at, 1, &out, &o->f);
    if (s == WG_OK) s = wg_callable_new(o->t, o->f, &o->k);
    if (s == WG_OK) s = wg_callable_stencil(o->t, o->k, x, &o->native);
    return s;
}

/* A map and a scan with their sweeps. */
static wg_status loops(made *o) {
    enum { POINTS = 300, STEPS = 20 };
    double x[4 * POINTS];
    wg_status s = callables(o);
    if (s != WG_OK) return s;
    for (int i = 0; i < 4 * POINTS; i++) x[i] = 0.001 * i;
    wg_mat y;
    const wg_mat a = wg_mat_input(o->t, 4, POINTS, x, 4);
    const wg_source from = wg_from_matrix(a);
    s = wg_map(o->t, o->k, POINTS, &from, NULL, &y);
    if (s == WG_OK) s = wg_reverse(o->t, wg_mat_sum(o->t, y));
    if (s != WG_OK) return s;
    wg_tape_reset(o->t);
    const wg_argument io = {"y", 4, 1, 0};
    wg_function_free(o->f), wg_callable_free(o->k);
    o->f = NULL, o->k = NULL;
    s = wg_function_record(o->t, chain, NULL, 1, &io, at, 1, &io, &o->f);
    if (s == WG_OK) s = wg_callable_new(o->t, o->f, &o->k);
    if (s != WG_OK) return s;
    const wg_source state = wg_from_state("y");
    const wg_stage stage = {o->k, &state};
    const wg_state start = {"y", wg_mat_input(o->t, 4, 1, x, 4)};
    s = wg_scan(o->t, STEPS, 1, &stage, 1, &start, NULL, &y);
    return s == WG_OK ? wg_reverse(o->t, wg_mat_at(y, 0, 0)) : s;
}

static wg_status branches(made *o) {
    enum { POINTS = 60 };
    static const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    double x[POINTS], y[POINTS];
    for (int i = 0; i < POINTS; i++) x[i] = i % 7 < 3 ? -0.1 * i - 1 : 0.1 * i;
    wg_status s = wg_branches_new(o->t, two_ways, NULL, 1, &in, 1, &out, NULL, &o->b);
    if (s == WG_OK)
        s = wg_branches_evaluate(o->b, POINTS, &(wg_points){x, 1, 1}, &(wg_results){y, 1, 1});
    for (int i = 0; s == WG_OK && i < POINTS; i++)
        assert_true(fabs(y[i] - x[i] * (x[i] < 0 ? cos(x[i]) : sin(x[i]))) < 1e-14);
    return s;
}

typedef struct bytes {
    unsigned char *data;
    size_t size, at;
} bytes;
static bytes file;
static int keep_bytes(void *ctx, const char *text, size_t n) {
    bytes *const b = ctx;
    b->data = realloc(b->data, b->size + n);
    memcpy(b->data + b->size, text, n);
    b->size += n;
    return 0;
}
static size_t give_bytes(void *ctx, void *data, size_t n) {
    bytes *const b = ctx;
    if (n > b->size - b->at) n = b->size - b->at;
    memcpy(data, b->data + b->at, n);
    b->at += n;
    return n;
}

/* Read from a stream, and from memory. */
static wg_status files(made *o) {
    file.at = 0;
    wg_status s = wg_function_read(o->t, give_bytes, &file, NULL, 0, &o->f);
    if (s == WG_OK) s = wg_function_load(o->t, file.data, file.size, NULL, 0, &o->g);
    return s;
}
static void make_file(void) {
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    made o = {.t = t};
    assert_int_equal(record(&o, N, N), WG_OK);
    file = (bytes){NULL, 0, 0};
    assert_int_equal(wg_function_write(o.f, keep_bytes, &file), WG_OK);
    free_made(&o);
    wg_tape_free(t);
}

/* Compiled, as far as there is a compiler; the text of each is there after the first time. */
static wg_status compiled(made *o) {
    const wg_compile_options options = {.directory = cache};
    wg_status s = callables(o);
    if (s == WG_OK) s = wg_callable_compile(o->t, o->k, &options, &o->native, NULL);
    return s;
}

static wg_status texts(made *o) {
    size_t needed = 0;
    wg_status s = record(o, N, 4);
    if (s == WG_OK) s = wg_function_text(o->t, o->f, NULL, NULL, 0, &needed);
    return s;
}

static wg_status models(made *o) {
    enum { D = 300 };
    const wg_dim many = {NULL, D}, one = {NULL, 1};
    double x[D] = {1}, y;
    wg_status s = wg_model_new(o->t, &o->m);
    if (s != WG_OK) return s;
    const wg_mat w = wg_model_variable(o->m, "w", one, many, wg_initial_normal(1, 0, 0.1));
    const wg_mat p = wg_model_placeholder(o->m, "p", many, one, 0, NULL);
    const wg_mat loss = wg_model_op(o->m, wg_mat_tanh, wg_model_op(o->m, wg_matmul, w, p));
    wg_mat dw;
    if ((s = wg_model_gradient(o->m, loss, 1, &w, &dw)) != WG_OK) return s;
    if ((s = wg_model_feed(o->m, p, x, 0, 1)) != WG_OK) return s;
    if ((s = wg_model_function(o->m, 1, &loss, &o->f)) != WG_OK) return s;
    s = wg_model_run(o->m, o->f, 1, &(wg_results){&y, 1, 1}, NULL);
    if (s != WG_OK) return s;
    bytes saved = {NULL, 0, 0};
    s = wg_model_save(o->m, keep_bytes, &saved);
    if (s == WG_OK) s = wg_model_restore(o->m, give_bytes, &saved);
    free(saved.data);
    return s;
}

/* A Hessian of matrices, a part of a recording, the check of an operation: on tapes beside. */
static wg_status beside(made *o) {
    enum { M = 4 };
    double v[M * M], h[M * M * M * M];
    for (int i = 0; i < M * M; i++) v[i] = 1.0 / (i + 2);
    const wg_mat a = wg_mat_input(o->t, M, M, v, M);
    const wg_real y = wg_mat_sum(o->t, wg_gemm(o->t, 'N', 'N', 1, a, a, 0, a));
    if (wg_tape_status(o->t) != WG_OK) return wg_tape_status(o->t);
    wg_real x[M * M];
    for (int i = 0; i < M * M; i++) x[i] = wg_mat_at(a, (size_t)(i % M), (size_t)(i / M));
    wg_status s = wg_tape_hessian(o->t, y, M * M, x, h, M * M);
    const wg_argument in = {"x", M, M, 0}, out = {"y", 1, 1, 0};
    if (s == WG_OK) s = wg_function_extract(o->t, 1, &in, x, 1, &out, &y, &o->f);
    return s;
}

static wg_status step_of(wg_tape *t, size_t step, size_t n, const wg_real *state, size_t np,
                         const wg_real *param, wg_real *next, void *data) {
    (void)step, (void)np, (void)param, (void)data;
    for (size_t i = 0; i < n; i++) {
        next[i] = state[i];
        for (int k = 0; k < 500; k++) next[i] = wg_let(t, wg_sin(next[i]));
    }
    return WG_OK;
}

/* Steps recorded on a work tape whose budget is as large: its status is that of the tape. */
static size_t work_budget;
static wg_status checkpoints(made *o) {
    const wg_region region = {.record = step_of};
    wg_mat y;
    if (o->work == NULL) o->work = wg_tape_new(&(wg_options){.budget = work_budget});
    if (o->work == NULL) return WG_EBUDGET;
    const wg_mat x = wg_mat_input(o->t, 4, 1, at, 4), none = wg_mat_fill(o->t, 0, 0, 0);
    wg_status s = wg_checkpoint(o->t, o->work, 6, 1, &region, 2, x, none, &y);
    return s == WG_OK ? wg_reverse(o->t, wg_mat_at(y, 0, 0)) : s;
}

/* ---- with budgets from too small to enough ---- */

static wg_stats stats_of(const wg_tape *t) {
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    return s;
}

/* Nothing is lost: an empty tape works as a new one does. */
static void assert_works(wg_tape *t) {
    wg_tape_reset(t);
    const wg_real x = wg_input(t, 3), y = wg_let(t, wg_mul(x, wg_mul(x, x)));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x) == 27);
    wg_tape_reset(t);
}

typedef wg_status make(made *o);

/* One try; gives what the call gave. Every other time the tape goes first. */
static wg_status try_with(make *f, size_t budget, int tape_first, wg_stats *used) {
    struct counted memory = counted_start();
    const wg_options options = {
        .flags = WG_KEEP_CODE, .budget = budget, .memory = counted_memory(&memory)};
    made o = {.t = wg_tape_new(&options)};
    work_budget = budget;
    if (o.t == NULL) {
        assert_true(memory.ranges == 0);
        return WG_EBUDGET;
    }
    const size_t alone = memory.committed;
    const wg_status s = f(&o);
    *used = stats_of(o.t);
    assert_true(used->committed_bytes == memory.committed);
    assert_true(used->max_committed_bytes == memory.most);
    assert_true(budget == 0 || memory.most <= budget);
    if (s != WG_OK) assert_true(wg_tape_message(o.t)[0] != 0);
    /* with a work tape it may be that which had no room */
    const int alone_failed = s != WG_OK && o.work == NULL;
    wg_model_free(o.m);
    if (tape_first) {
        wg_tape_free(o.t);
        free_made(&o);
    } else {
        free_made(&o);
        assert_true(stats_of(o.t).committed_bytes == memory.committed);
        wg_tape_reset(o.t);
        if (alone_failed) assert_true(memory.committed == alone);
        if (s == WG_OK || budget >= alone + 10 * 4096) assert_works(o.t);
        wg_tape_free(o.t);
    }
    assert_true(memory.committed == 0 && memory.ranges == 0 && memory.wrong == 0);
    return s;
}

static void assert_kept(make *f) {
    enum { TRIES = 60 };
    wg_stats used;
    int refused = 0;
    assert_int_equal(try_with(f, 0, 0, &used), WG_OK);
    const size_t enough = (size_t)used.max_committed_bytes;
    const size_t step = (enough / TRIES / 4096 + 1) * 4096;
    wg_status s = WG_EBUDGET;
    for (size_t budget = 4096; s != WG_OK; budget += step) {
        s = try_with(f, budget, refused % 2, &used);
        if (s == WG_OK) break;
        assert_int_equal(s, WG_EBUDGET);
        refused++;
        assert_true(budget <= enough);
    }
    assert_true(refused > 3);
}

#define KEPT(name)                                                                             \
    static void name##_keep_the_budget(void **state) {                                         \
        (void)state;                                                                           \
        assert_kept(name);                                                                     \
    }
KEPT(functions)
KEPT(patterns)
KEPT(callables)
KEPT(stencils)
KEPT(loops)
KEPT(branches)
KEPT(compiled)
KEPT(texts)
KEPT(models)
KEPT(beside)
KEPT(checkpoints)

static void files_keep_the_budget(void **state) {
    (void)state;
    make_file();
    assert_kept(files);
    free(file.data);
}

/* ---- what counts ---- */

/* A function counts until it is freed, whatever becomes of the recording. */
static void functions_count_until_they_are_freed(void **state) {
    (void)state;
    enum { MOST = 1000 };
    const wg_options options = {.flags = WG_KEEP_CODE, .budget = 1 << 20};
    wg_tape *const t = wg_tape_new(&options);
    wg_function *all[MOST] = {NULL};
    made o = {.t = t};
    for (int round = 0; round < 2; round++) {
        size_t n = 0;
        wg_status s = WG_OK;
        for (; n < MOST && (s = record(&o, 4, 1)) == WG_OK; n++) all[n] = o.f, o.f = NULL;
        assert_int_equal(s, WG_EBUDGET);
        assert_true(n > 20);
        assert_true(stats_of(t).committed_bytes <= options.budget);
        /* those made before are as good as ever */
        double y, work[4096];
        assert_true(wg_function_work(all[n - 1], NULL) <= sizeof work);
        assert_int_equal(wg_function_evaluate(all[n - 1], 1, &(wg_points){at, 0, 1},
                                              &(wg_results){&y, 0, 1}, NULL, work, NULL),
                         WG_OK);
        for (size_t k = 0; k < n; k++) wg_function_free(all[k]);
        assert_works(t);
    }
    wg_tape_free(t);
}

/* In a buffer a tape has no other budget; what is made on it outlives the buffer. */
static void what_is_made_in_a_buffer_outlives_it(void **state) {
    (void)state;
    struct counted memory = counted_start();
    const size_t size = 1 << 22;
    char *const buffer = malloc(size);
    const wg_options options = {.flags = WG_KEEP_CODE,
                                .budget = 1 << 16,
                                .buffer = buffer,
                                .buffer_bytes = size,
                                .memory = counted_memory(&memory)};
    made o = {.t = wg_tape_new(&options)};
    assert_int_equal(functions(&o), WG_OK);
    assert_int_equal(branches(&o), WG_OK);
    wg_tape_free(o.t);
    memset(buffer, -1, size);
    free(buffer);
    free_made(&o);
    assert_true(memory.committed == 0 && memory.ranges == 0 && memory.wrong == 0);
}

static long touched_kilobytes(void) {
    struct rusage u;
    assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
    return u.ru_maxrss;
}

/* 2^30 entries where there is memory for two arrays of that length, and not for three: nothing
 * is touched before that is known. */
static void a_variable_of_a_billion_entries_is_refused_untouched(void **state) {
    (void)state;
    struct rlimit before, limited;
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    limited = before;
    limited.rlim_cur = (rlim_t)20 << 30;
    if (before.rlim_cur != RLIM_INFINITY && before.rlim_cur < limited.rlim_cur) skip();
    assert_int_equal(setrlimit(RLIMIT_DATA, &limited), 0);
    void *const page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) { /* a sanitizer has mapped more than that already */
        assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
        skip();
    }
    (void)munmap(page, 4096);
    const long held = touched_kilobytes();
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_model *m = NULL;
    assert_int_equal(wg_model_new(t, &m), WG_OK);
    const wg_dim rows = {NULL, 1 << 15}, cols = {NULL, 1 << 15}, one = {NULL, 1};
    const wg_mark start = wg_tape_mark(t);
    const wg_mat w = wg_model_variable(m, "w", rows, cols, wg_initial_fill(1));
    assert_null(w.value);
    assert_int_equal(wg_tape_status(t), WG_ENOMEM);
    assert_non_null(strstr(wg_tape_message(t), "wg_model_variable"));
    assert_true(touched_kilobytes() < held + (1 << 20));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_model_variable(m, "v", one, one, wg_initial_fill(1));
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_model_free(m);
    wg_tape_free(t);
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
}

/* ---- operations that are written out: where memory ends in the middle, no matrix is
 * singular ---- */

static wg_status factors(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    wg_mat q, r;
    (void)n, (void)m, (void)data;
    y[0] = wg_constant(NAN);
    if (wg_qr(t, wg_mat_gather(t, 3, 9, x), &q, &r) == WG_OK) y[0] = wg_mat_sum(t, r);
    return wg_tape_status(t);
}

static void statements_of_a_matrix_find_no_room(void **state) {
    (void)state;
    double x[27];
    const wg_argument in = {"x", 27, 1, 0}, out = {"y", 1, 1, 0};
    size_t failed = 0;
    for (size_t i = 0; i < 27; i++) x[i] = sin((double)(i * i));
    for (size_t call = 0, more = 1; more; call++) {
        struct counted m = counted_start();
        m.fail_at = call;
        const wg_options options = {
            .flags = WG_KEEP_CODE, .memory = counted_memory(&m), .reserve = 65536};
        wg_tape *const t = wg_tape_new(&options);
        wg_function *f = NULL;
        if (t != NULL) {
            const wg_status s = wg_function_record(t, factors, NULL, 1, &in, x, 1, &out, &f);
            if (s != WG_OK) assert_int_equal(s, WG_ENOMEM), failed++;
            wg_function_free(f);
            wg_tape_free(t);
        }
        more = m.refused;
    }
    assert_true(failed > 0);
}

#define TEST(name) cmocka_unit_test(name)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(functions_keep_the_budget),
        TEST(patterns_keep_the_budget),
        TEST(callables_keep_the_budget),
        TEST(stencils_keep_the_budget),
        TEST(loops_keep_the_budget),
        TEST(branches_keep_the_budget),
        TEST(files_keep_the_budget),
        TEST(compiled_keep_the_budget),
        TEST(texts_keep_the_budget),
        TEST(models_keep_the_budget),
        TEST(beside_keep_the_budget),
        TEST(checkpoints_keep_the_budget),
        TEST(functions_count_until_they_are_freed),
        TEST(what_is_made_in_a_buffer_outlives_it),
        TEST(a_variable_of_a_billion_entries_is_refused_untouched),
        TEST(statements_of_a_matrix_find_no_room),
    };
    if (scratch_make(cache) != 0) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return scratch_remove(cache) != 0 ? 1 : failed;
}
