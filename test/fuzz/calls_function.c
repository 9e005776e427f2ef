/* SPDX-License-Identifier: MIT */
/* calls_function.c - rows: functions recorded, evaluated, looked at; functions with branches;
 * pools of threads. */
#include <pthread.h>
#include "calls.h"

/* ---- arguments ---- */

static const char *const words[] = {"x", "a", "y", "p", "dx", "b", NULL, "x", "two words", ""};
enum { WORDS = sizeof words / sizeof *words, GOOD_WORDS = 6, SOME = 3 };

/* Splits n entries among `count` arguments; gives how many entries they have. */
static size_t arguments(const char *name, size_t count, int results_, wg_argument *list) {
    size_t n = 0, first = below(GOOD_WORDS);
    char text[100] = "";
    for (size_t i = 0; i < count; i++) {
        list[i].name = words[(first + i) % GOOD_WORDS];
        if (one_in(30)) list[i].name = words[below(WORDS)];
        list[i].rows = one_in(20) ? 0 : 1 + below(2);
        list[i].cols = one_in(4) ? 2 : 1;
        list[i].flags = results_ ? (one_in(4) ? WG_SUMMED : 0) : (unsigned)below(4);
        if (one_in(40)) list[i].flags = (unsigned)below(16);
        if (one_in(60)) list[i].rows = SIZE_MAX / 3, list[i].cols = 4;
        n += list[i].rows * list[i].cols;
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s %zux%zu/%u ",
                       list[i].name != NULL ? list[i].name : "NULL", list[i].rows, list[i].cols,
                       list[i].flags);
    }
    named(name, "{%s}", text);
    return n;
}

#define ARGUMENTS                                                                              \
    wg_argument input_[SOME], output_[SOME];                                                   \
    const size_t inputs = one_in(20) ? below(SOME + 1) : 1 + below(2), outputs = 1 + below(2); \
    const size_t n = arguments("input", inputs, 0, input_);                                    \
    const size_t m = arguments("output", outputs, 1, output_);                                 \
    const wg_argument *const input = one_in(60) ? NULL : input_;                               \
    const wg_argument *const output = one_in(60) ? NULL : output_;                             \
    named("inputs", "%zu", inputs);                                                            \
    named("outputs", "%zu", outputs);                                                          \
    (void)m

ROW(wg_function_record) {
    DRIVER_TAPE(t);
    CALLBACK(f);
    ARGUMENTS;
    DOUBLES(x, n);
    GIVES_FUNCTION(out,
                   wg_function_record(t, f, NULL, inputs, input, x, outputs, output, &out));
}
ROW(wg_function_extract) {
    CODE_TAPE(t);
    ARGUMENTS;
    REAL_ARRAY(x, n < 60 ? n : 0);
    REAL_ARRAY(y, m < 60 ? m : 0);
    if (n > 60 || m > 60) return;
    GIVES_FUNCTION(out, wg_function_extract(t, inputs, input, x, outputs, output, y, &out));
}
ROW(wg_function_free) {
    const size_t k = below(FUNCTIONS);
    named("f", "f%zu", k);
    say("", "wg_function_free(f)");
    wg_function_free(world.function[k]);
    world.function[k] = NULL;
}

/* ---- what it is ---- */

#define OUTPUT(v) const size_t v = one_in(12) ? draw_size(#v) : draw_below(#v, 2)

ROW(wg_function_inputs) {
    FUNCTION(f);
    GIVES_NUMBER(wg_function_inputs(f));
}
ROW(wg_function_outputs) {
    FUNCTION(f);
    GIVES_NUMBER(wg_function_outputs(f));
}
#define NAMED(which)                                                                           \
    ROW(which) {                                                                               \
        FUNCTION(f);                                                                           \
        SIZE(k);                                                                               \
        say("", #which "(f, k)");                                                              \
        const wg_argument *const a = which(f, k);                                              \
        if (a != NULL) sink = (double)(strlen(a->name) + a->rows + a->cols);                   \
    }
NAMED(wg_function_input)
NAMED(wg_function_output)
ROW(wg_function_statistics) {
    FUNCTION(f);
    wg_function_stats s, *const out = one_in(40) ? NULL : &s;
    GIVES_STATUS(wg_function_statistics(f, out));
}
ROW(wg_function_is_zero) {
    FUNCTION(f);
    OUTPUT(output);
    SIZE(entry);
    GIVES_NUMBER(wg_function_is_zero(f, output, entry));
}
ROW(wg_function_sparsity) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    OUTPUT(output);
    wg_sparsity *out = NULL;
    const wg_layout layout = one_in(30) ? (wg_layout)5 : (wg_layout)below(2);
    GIVES_STATUS(wg_function_sparsity(t, f, output, layout, &out));
    wg_sparsity_free(out);
}
ROW(wg_function_depends) {
    unsigned char room[64];
    DRIVER_TAPE(t);
    FUNCTION(f);
    OUTPUT(output);
    unsigned char *const depends = one_in(40) || wg_function_inputs(f) > 64 ? NULL : room;
    GIVES_STATUS(wg_function_depends(t, f, output, depends));
}

/* ---- evaluation ---- */

enum { ARGS = 24, PLACES = 2048 };
struct places {
    wg_points x[ARGS];
    wg_results y[ARGS];
};

/* Where the numbers of all arguments stand: each has a part of one array. 0: too many. */
static int places(struct places *p, const wg_function *f, size_t points) {
    static double in[ARGS][PLACES];
    const size_t n = wg_function_inputs(f), m = wg_function_outputs(f);
    if (n > ARGS || m > ARGS) return 0;
    for (size_t k = 0; k < n; k++) {
        const wg_argument *const a = wg_function_input(f, k);
        const size_t entries = a->rows * a->cols, all = entries * points;
        if (entries > PLACES || all > PLACES) return 0;
        const size_t some = all < 64 ? (all > entries ? all : entries) : 64;
        const int of_one = one_in(4);
        for (size_t i = 0; i < some; i++) in[k][i] = number();
        p->x[k].data = one_in(40) ? NULL : in[k];
        p->x[k].point = of_one ? 1 : (ptrdiff_t)entries;
        p->x[k].entry = of_one ? (ptrdiff_t)points : 1;
    }
    for (size_t k = 0; k < m; k++) {
        const wg_argument *const a = wg_function_output(f, k);
        const size_t entries = a->rows * a->cols;
        if (entries > PLACES || entries * points > PLACES) return 0;
        const int of_one = one_in(4), one_place = one_in(20);
        p->y[k].data = one_in(12) ? NULL : results + k * PLACES;
        p->y[k].point = one_place ? 0 : of_one ? 1 : (ptrdiff_t)entries;
        p->y[k].entry = of_one && !one_place ? (ptrdiff_t)points : 1;
    }
    return 1;
}

static size_t draw_points(const char *name) {
    static const size_t few[] = {0, 1, 2, 3, 8, 9, 17, 40};
    const size_t n = few[below(8)];
    named(name, "%zu", n);
    return n;
}

ROW(wg_function_work) {
    FUNCTION(f);
    POOL(threads);
    GIVES_NUMBER(wg_function_work(f, threads));
}
static void evaluate(int telling) {
    struct places p;
    FUNCTION(f);
    POOL(threads);
    const size_t points = draw_points("points");
    if (!places(&p, f, points)) return;
    wg_function_guard at, *const guard = one_in(3) ? NULL : &at;
    void *const work =
        one_in(60) ? NULL : aligned_alloc(64, (wg_function_work(f, threads) + 127) / 64 * 64);
    const wg_points *const x = one_in(60) ? NULL : p.x;
    const wg_results *const y = one_in(60) ? NULL : p.y;
    if (telling) {
        const wg_progress *const progress = draw_progress(NULL);
        GIVES_STATUS(
            wg_function_evaluate_progress(f, points, x, y, threads, work, guard, progress));
    } else {
        GIVES_STATUS(wg_function_evaluate(f, points, x, y, threads, work, guard));
    }
    free(work);
}
ROW(wg_function_evaluate) { evaluate(0); }
ROW(wg_function_evaluate_progress) { evaluate(1); }

ROW(wg_function_block) {
    FUNCTION(f);
    GIVES_NUMBER(wg_function_block(f));
}
ROW(wg_function_work_part) {
    FUNCTION(f);
    POOL(threads);
    const size_t points = draw_points("points");
    GIVES_NUMBER(wg_function_work_part(f, points, threads));
}
static wg_status add_blocks(void *ctx, size_t blocks, size_t n, const double *sum,
                            double *total) {
    if (ctx != NULL) return WG_ECALLBACK;
    for (size_t b = 0; b < blocks; b++)
        for (size_t k = 0; k < n; k++) total[k] += sum[b * n + k];
    return WG_OK;
}
ROW(wg_function_evaluate_part) {
    struct places p;
    FUNCTION(f);
    POOL(threads);
    const size_t points = draw_points("points"), all = points + draw_points("elsewhere");
    if (!places(&p, f, points)) return;
    wg_function_guard at, *const guard = one_in(3) ? NULL : &at;
    const size_t bytes = wg_function_work_part(f, points, threads);
    void *const work = one_in(60) ? NULL : aligned_alloc(64, (bytes + 127) / 64 * 64);
    wg_adding *const add = one_in(40) ? NULL : add_blocks;
    void *const ctx = one_in(10) ? &world : NULL;
    GIVES_STATUS(
        wg_function_evaluate_part(f, all, points, p.x, p.y, threads, work, guard, add, ctx));
    free(work);
}

/* ---- branches ---- */

static wg_status keeps_guards(wg_tape *t, const wg_function *f, wg_function **out) {
    return wg_function_vjp(t, f, out);
}
static wg_status makes_nothing(wg_tape *t, const wg_function *f, wg_function **out) {
    (void)t, (void)f;
    *out = NULL;
    return WG_ESINGULAR;
}
ROW(wg_branches_new) {
    const size_t k = below(BRANCHES);
    DRIVER_TAPE(t);
    CALLBACK(f);
    static wg_argument input[BRANCHES][2], output[BRANCHES][1]; /* as long as they are used */
    branches_close(k);
    input[k][0] = (wg_argument){"a", 2, 1, WG_SHARED},
    input[k][1] = (wg_argument){"x", 2, 1, 0};
    output[k][0] = (wg_argument){"y", 1, 1, one_in(3) ? WG_SUMMED : 0};
    if (one_in(30)) input[k][1].name = "a";
    static wg_derivation *const all[] = {NULL, keeps_guards, wg_function_gradient,
                                         makes_nothing};
    wg_derivation *const derive = all[one_in(20) ? 3 : below(3)];
    wg_branches **const out = one_in(60) ? NULL : &world.branch[k].branches;
    world.branch[k].tape = room_number(call.room);
    world.branch[k].inputs = derive == keeps_guards ? 3 : 2;
    world.branch[k].outputs = derive == NULL ? 1 : derive == keeps_guards ? 2 : 2;
    GIVES_STATUS(wg_branches_new(t, f, NULL, 2, input[k], 1, output[k], derive, out));
}
ROW(wg_branches_free) {
    const size_t k = below(BRANCHES);
    say("", "wg_branches_free(b)");
    branches_close(k);
}
ROW(wg_branches_count) {
    const wg_branches *const b = world.branch[below(BRANCHES)].branches;
    GIVES_NUMBER(wg_branches_count(b));
}
/* All of its inputs have at most 2 entries. */
ROW(wg_branches_evaluate) {
    double in[4][64];
    const size_t k = below(BRANCHES), points = draw_points("points") % 20;
    wg_points x_[4];
    wg_results y_[4];
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 64; j++) in[i][j] = j < 40 ? number() : 0;
        x_[i] = (wg_points){in[i], 2, 1};
        y_[i] = (wg_results){results + 256 * i, 2, 1};
    }
    wg_branches *const b = one_in(40) ? NULL : world.branch[k].branches;
    const wg_points *const x = one_in(60) ? NULL : x_;
    const wg_results *const y = one_in(60) ? NULL : y_;
    GIVES_STATUS(wg_branches_evaluate(b, points, x, y));
}

/* ---- threads ---- */

enum { MOST_THREADS = 8 };
static pthread_t thread[POOLS][MOST_THREADS];
static int start(void *ctx, size_t k, void *(*run)(void *), void *arg) {
    pthread_t *const of = ctx;
    if (k >= MOST_THREADS || (world.odds != 0 && one_in(world.odds))) return 1;
    return pthread_create(&of[k], NULL, run, arg);
}
static void join(void *ctx, size_t k) {
    pthread_t *const of = ctx;
    (void)pthread_join(of[k], NULL);
}
ROW(wg_threads_new) {
    const size_t k = below(POOLS);
    const size_t count = one_in(12) ? (one_in(2) ? 0 : 65537) : 1 + below(3);
    const wg_threads_options o_ = {.memory = fuzz_memory(), .calls = {start, join, thread[k], NULL}};
    const wg_threads_options *const o = one_in(8) ? NULL : &o_;
    pool_close(k);
    wg_threads **const out = one_in(60) ? NULL : &world.pool[k];
    named("count", "%zu", count);
    GIVES_STATUS(wg_threads_new(count, o, out));
}
ROW(wg_threads_free) {
    const size_t k = below(POOLS);
    say("", "wg_threads_free(threads)");
    pool_close(k);
}
ROW(wg_threads_count) {
    POOL(threads);
    GIVES_NUMBER(wg_threads_count(threads));
}
static wg_status task(void *ctx, size_t k) {
    return ctx != NULL && k == 3 ? WG_ESINGULAR : WG_OK;
}
ROW(wg_threads_run) {
    POOL(threads);
    const size_t tasks = below(9);
    wg_task *const f = one_in(40) ? NULL : task;
    void *const ctx = one_in(3) ? &world : NULL;
    GIVES_STATUS(wg_threads_run(threads, tasks, f, ctx));
}

static const struct row list[] = {
    LISTED(wg_function_record, 24),   LISTED(wg_function_extract, 12),
    LISTED(wg_function_free, 4),      LISTED(wg_function_inputs, 2),
    LISTED(wg_function_outputs, 2),   LISTED(wg_function_input, 2),
    LISTED(wg_function_output, 2),    LISTED(wg_function_statistics, 2),
    LISTED(wg_function_is_zero, 4),   LISTED(wg_function_sparsity, 4),
    LISTED(wg_function_depends, 4),   LISTED(wg_function_work, 2),
    LISTED(wg_function_evaluate, 24), LISTED(wg_function_evaluate_progress, 8),
    LISTED(wg_function_block, 1),     LISTED(wg_function_work_part, 1),
    LISTED(wg_function_evaluate_part, 8),
    LISTED(wg_branches_new, 6),       LISTED(wg_branches_free, 1),
    LISTED(wg_branches_count, 2),     LISTED(wg_branches_evaluate, 8),
    LISTED(wg_threads_new, 2),        LISTED(wg_threads_free, 1),
    LISTED(wg_threads_count, 1),      LISTED(wg_threads_run, 3),
};
const struct rows calls_function = ROWS(list);
