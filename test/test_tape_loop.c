/* SPDX-License-Identifier: MIT */
/* Gradients of long loops through checkpoints in memory and in files: against the loop recorded
 * as a whole; runs that are killed, stopped, fail, and go on; files that are damaged, or of
 * something else. */
#define _DEFAULT_SOURCE /* mkdtemp, usleep */
#include "scratch.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wengert.h>

enum { N = 3, NP = 2, STEPS = 300 };
static const double start[N] = {0.7, -0.2, 1.1}, param[NP] = {0.31, 0.05};
static char directory[SCRATCH_BYTES], path[SCRATCH_BYTES + 8];

/* ---- a loop ---- */

typedef struct counts {
    size_t recorded, fails_at,
        objectives; /* fails_at: the recording that fails; 0: none does */
} counts;

/* A pendulum that is driven, and an integral of it. */
static wg_status swing(wg_tape *t, size_t step, size_t n, const wg_real *s, size_t np,
                       const wg_real *p, wg_real *next, void *data) {
    counts *const c = data;
    (void)n, (void)np;
    if (++c->recorded == c->fails_at) return WG_ECALLBACK;
    next[1] =
        wg_let(t, wg_sub(s[1], wg_mul(p[0], wg_sin(wg_add(s[0], 0.01 * (double)(step % 7))))));
    next[0] = wg_let(t, wg_add(s[0], wg_mul(0.1, next[1])));
    next[2] = wg_let(t, wg_add(s[2], wg_mul(s[0], s[1])));
    return WG_OK;
}
/* Friction, by hand. */
static wg_status damp(size_t step, size_t n, const double *s, size_t np, const double *p,
                      double *next, void *data) {
    (void)step, (void)np, (void)data;
    for (size_t i = 0; i < n; i++) next[i] = s[i];
    next[1] = s[1] - p[1] * (s[1] * s[1]);
    return WG_OK;
}
static wg_status damp_vjp(size_t step, size_t n, const double *s, size_t np, const double *p,
                          const double *w, double *ds, double *dp, void *data) {
    (void)step, (void)np, (void)data;
    for (size_t i = 0; i < n; i++) ds[i] = w[i];
    ds[1] = w[1] - w[1] * p[1] * 2 * s[1];
    if (dp != NULL) dp[1] -= w[1] * s[1] * s[1];
    return WG_OK;
}
static wg_status objective(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m;
    ((counts *)data)->objectives++;
    y[0] = wg_let(t, wg_add(wg_mul(x[0], x[2]), wg_mul(x[3], wg_square(x[1]))));
    return WG_OK;
}
/* It ends where `steps` would have ended it. */
static int after_steps(size_t step, size_t n, const double *state, size_t np, const double *p,
                       void *data) {
    (void)n, (void)np, (void)data;
    return step == STEPS && state[0] == state[0] && p[0] == param[0];
}
static int never(size_t step, size_t n, const double *state, size_t np, const double *p,
                 void *data) {
    (void)step, (void)n, (void)state, (void)np, (void)p, (void)data;
    return 0;
}

typedef struct result {
    double value, dstate[N], dparam[NP];
} result;

static wg_tape *tape;

static wg_status run(size_t steps, const wg_loop_options *o, counts *c, result *r,
                     wg_loop_report *report) {
    const wg_region region[2] = {{.record = swing, .data = c},
                                 {.value = damp, .vjp = damp_vjp}};
    const wg_loop l = {N, NP, 2, region, steps, NULL, objective, c};
    wg_tape_reset(tape);
    return wg_loop_gradient(tape, &l, o, start, param, &r->value, r->dstate, r->dparam, report);
}

static void expect_ok(wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(tape));
}
static void expect(wg_status s, wg_status expected, const char *text) {
    if (s != expected || strstr(wg_tape_message(tape), text) == NULL)
        fail_msg("%s: %s", wg_status_text(s), wg_tape_message(tape));
}

/* What all runs have to give, bit for bit. */
static result uninterrupted(void) {
    counts c = {0};
    result r;
    expect_ok(run(STEPS, NULL, &c, &r, NULL));
    return r;
}
static void assert_same(const result *a, const result *b) {
    assert_memory_equal(a, b, sizeof *a);
}

static int is_there(const char *name) { return access(name, F_OK) == 0; }

/* ---- what it gives ---- */

/* The whole loop, recorded. */
static wg_status whole(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    wg_real s[N], next[N];
    counts *const c = data;
    (void)n, (void)m;
    memcpy(s, x, sizeof s);
    for (size_t k = 0; k < STEPS; k++) {
        const wg_status status = swing(t, k, N, s, NP, x + N, next, c);
        if (status != WG_OK) return status;
        memcpy(s, next, sizeof s);
        s[1] = wg_let(t, wg_sub(s[1], wg_mul(x[N + 1], wg_square(s[1]))));
    }
    const wg_real last[N + NP] = {s[0], s[1], s[2], x[N], x[N + 1]};
    return objective(t, N + NP, last, 1, y, data);
}

static void gradients_are_those_of_the_whole_loop(void **state) {
    double x[N + NP], g[N + NP], value;
    counts c = {0};
    const result r = uninterrupted();
    (void)state;
    memcpy(x, start, sizeof start);
    memcpy(x + N, param, sizeof param);
    expect_ok(wg_gradient(tape, whole, &c, N + NP, x, &value, g));
    assert_true(value == r.value);
    for (size_t i = 0; i < N + NP; i++) {
        const double a = i < N ? r.dstate[i] : r.dparam[i - N];
        if (!(fabs(a - g[i]) <= 1e-13 * (1 + fabs(g[i]))))
            fail_msg("%zu: %.17g, not %.17g", i, a, g[i]);
    }
}

static void memory_and_files_of_any_size_give_the_same_bits(void **state) {
    const result want = uninterrupted();
    (void)state;
    for (size_t memory = 4; memory <= 1000; memory = memory * 3 - 5)
        for (size_t states = 0; states <= 200; states = states * 4 + 2) {
            const wg_loop_options o = {
                .memory = memory, .states = states, .file = states != 0 ? path : NULL};
            counts c = {0};
            result r;
            wg_loop_report report;
            expect_ok(run(STEPS, &o, &c, &r, &report));
            assert_same(&r, &want);
            assert_true(report.steps == STEPS && report.left == 0 &&
                        report.adjoints == 2 * STEPS);
            assert_true(report.evaluations >= 2 * STEPS && !report.resumed &&
                        c.objectives == 1);
            assert_int_equal(report.saved != 0, states != 0);
            assert_false(is_there(path));
        }
}

static void the_number_of_steps_may_turn_out_on_the_way(void **state) {
    const result want = uninterrupted();
    counts c = {0};
    result r;
    wg_loop_report report;
    const wg_region region[2] = {{.record = swing, .data = &c},
                                 {.value = damp, .vjp = damp_vjp}};
    wg_loop l = {N, NP, 2, region, 5000, after_steps, objective, &c};
    (void)state;
    for (size_t memory = 4; memory <= 64; memory *= 2) {
        const wg_loop_options o = {.memory = memory};
        expect_ok(wg_loop_gradient(tape, &l, &o, start, param, &r.value, r.dstate, r.dparam,
                                   &report));
        assert_same(&r, &want);
        assert_int_equal(report.steps, STEPS);
    }
    l.ends = never;
    expect(wg_loop_gradient(tape, &l, NULL, start, param, &r.value, r.dstate, r.dparam, NULL),
           WG_ECONVERGE, "wg_loop_gradient: the loop has not ended after 5000 steps");
    assert_true(isnan(r.value) && isnan(r.dstate[N - 1]) && isnan(r.dparam[0]));
    wg_tape_reset(tape);
}

static void results_may_take_the_place_of_what_they_are_of(void **state) {
    const result want = uninterrupted();
    counts c = {0};
    result r = {0};
    const wg_region region[2] = {{.record = swing, .data = &c},
                                 {.value = damp, .vjp = damp_vjp}};
    const wg_loop l = {N, NP, 2, region, STEPS, NULL, objective, &c};
    (void)state;
    memcpy(r.dstate, start, sizeof start);
    memcpy(r.dparam, param, sizeof param);
    expect_ok(wg_loop_gradient(tape, &l, NULL, r.dstate, r.dparam, &r.value, r.dstate, r.dparam,
                               NULL));
    assert_same(&r, &want);
    expect_ok(wg_loop_gradient(tape, &l, NULL, start, param, NULL, NULL, NULL, NULL));
}

static void loops_without_a_step_are_their_objective(void **state) {
    counts c = {0};
    result r;
    (void)state;
    expect_ok(run(0, &(wg_loop_options){.file = path}, &c, &r, NULL));
    assert_true(r.value == start[0] * start[2] + param[0] * start[1] * start[1]);
    assert_true(r.dstate[0] == start[2] && r.dparam[0] == start[1] * start[1] &&
                r.dparam[1] == 0);
}

/* ---- runs that end early ---- */

/* A run in a process of its own that is killed after so many microseconds. 1: it came to its
 * end before. */
static int killed_after(unsigned microseconds, const wg_loop_options *o, result *shared) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        counts c = {0};
        result r;
        wg_loop_report report;
        if (run(STEPS, o, &c, &r, &report) == WG_OK) *shared = r;
        _exit(0);
    }
    int status = 0;
    (void)usleep(microseconds);
    (void)kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status);
}

static void killed_runs_go_on_to_the_same_bits(void **state) {
    const result want = uninterrupted();
    result *const shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const wg_loop_options o = {.memory = 8, .states = 16, .file = path, .seconds = 2e-3};
    unsigned seed = 1;
    int kills = 0;
    (void)state;
    assert_true(shared != MAP_FAILED);
    while (kills < 100) {
        /* longer and longer, or on a slow machine it would never end */
        unsigned most = 2000;
        memset(shared, 0, sizeof *shared);
        for (int ended = 0; !ended; most += most / 4) {
            seed = seed * 1664525u + 1013904223u;
            ended = killed_after((seed >> 8) % most, &o, shared);
            kills += !ended;
        }
        assert_same(shared, &want);
        assert_false(is_there(path));
    }
    (void)munmap(shared, sizeof *shared);
}

typedef struct stopper {
    size_t calls, at;
} stopper;
static int stop(void *context, const wg_loop_report *now) {
    stopper *const s = context;
    assert_true(now->left <= now->steps && now->steps <= STEPS);
    return ++s->calls == s->at;
}

static void stopped_runs_go_on(void **state) {
    const result want = uninterrupted();
    (void)state;
    for (size_t at = 1; at <= 2 * STEPS; at += 67) {
        stopper s = {0, at};
        wg_loop_options o = {
            .memory = 6, .states = 8, .file = path, .progress = stop, .context = &s};
        counts c = {0};
        result r;
        wg_loop_report first, second;
        expect(run(STEPS, &o, &c, &r, &first), WG_ESTOPPED, "wg_loop_gradient: stopped");
        assert_true(isnan(r.value) && is_there(path));
        expect_ok(run(STEPS, &o, &c, &r, &second));
        assert_same(&r, &want);
        assert_true(second.resumed == (first.saved != 0));
        /* that is behind the last stretch */
        if (at > STEPS + STEPS / 4) assert_true(second.adjoints < 2 * STEPS);
        assert_false(is_there(path));
    }
}

static void runs_go_on_after_a_failure(void **state) {
    const result want = uninterrupted();
    const wg_loop_options o = {.memory = 6, .states = 8, .file = path};
    (void)state;
    for (size_t at = 1; at < 4 * STEPS; at += 97) {
        counts c = {.fails_at = at};
        result r;
        const wg_status s = run(STEPS, &o, &c, &r, NULL);
        if (c.recorded >= at) {
            expect(s, WG_ECALLBACK, "wg_loop_gradient: region 0 of step ");
            expect_ok(run(STEPS, &o, &c, &r, NULL));
        }
        assert_same(&r, &want);
    }
}

/* ---- files ---- */

static void write_file(const char *text, size_t bytes) {
    FILE *const f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}
static void leave_file(size_t at, const wg_loop_options *options) {
    stopper s = {0, at};
    wg_loop_options o = *options;
    counts c = {0};
    result r;
    o.progress = stop;
    o.context = &s;
    assert_int_equal(run(STEPS, &o, &c, &r, NULL), WG_ESTOPPED);
}

/* What is damaged is not used: never another number. */
static void damaged_files_give_the_same_bits_or_are_refused(void **state) {
    const result want = uninterrupted();
    const wg_loop_options o = {.memory = 6, .states = 8, .file = path, .seconds = 2e-3};
    unsigned seed = 7;
    int refused = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        counts c = {0};
        result r;
        leave_file(1 + (size_t)i * 9, &o);
        const int f = open(path, O_RDWR);
        const off_t size = lseek(f, 0, SEEK_END);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            /* in the head, the journal or the slots */
            const off_t part = i % 3 == 0 ? 56 : i % 3 == 1 ? 12288 : size;
            const off_t at = (off_t)(seed >> 4) % part;
            char byte;
            assert_int_equal(pread(f, &byte, 1, at), 1);
            byte = (char)(byte ^ (1 << (seed & 7)));
            assert_int_equal(pwrite(f, &byte, 1, at), 1);
        }
        if (i % 5 == 4) assert_int_equal(ftruncate(f, size / 2), 0);
        (void)close(f);
        const wg_status s = run(STEPS, &o, &c, &r, NULL);
        if (s == WG_OK) {
            assert_same(&r, &want);
        } else {
            expect(s, WG_EARG, "wg_loop_gradient: ");
            assert_true(is_there(path));
            (void)unlink(path);
            refused++;
        }
    }
    assert_true(refused > 0 && refused < 30);
}

static void files_of_something_else_are_left_alone(void **state) {
    static const char text[] = "The only copy of a thesis.";
    char read[64] = "";
    counts c = {0};
    result r;
    (void)state;
    write_file(text, sizeof text);
    expect(run(STEPS, &(wg_loop_options){.file = path}, &c, &r, NULL), WG_EARG,
           "the file is none of wg_loop_gradient");
    FILE *const f = fopen(path, "rb");
    assert_int_equal(fread(read, 1, sizeof read, f), sizeof text);
    assert_string_equal(read, text);
    (void)fclose(f);
    (void)unlink(path);
    /* nor is one that begins with zeros, or has more of them than we had made */
    for (int way = 0; way < 2; way++) {
        static char much[1 << 16];
        char byte = 0;
        if (way == 0) much[100] = 'x';
        write_file(much, way == 0 ? 101 : sizeof much);
        expect(run(STEPS, &(wg_loop_options){.file = path}, &c, &r, NULL), WG_EARG,
               "the file is none of wg_loop_gradient");
        struct stat about;
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_size, way == 0 ? 101 : sizeof much);
        const int zeros = open(path, O_RDONLY);
        assert_int_equal(pread(zeros, &byte, 1, 100), 1);
        assert_int_equal(byte, way == 0 ? 'x' : 0);
        (void)close(zeros);
        (void)unlink(path);
        much[100] = 0;
    }

    wg_loop_options o = {.file = path, .tag = "model 1"};
    leave_file(400, &o);
    o.tag = "model 2";
    expect(run(STEPS, &o, &c, &r, NULL), WG_EARG, "the file is of another run");
    o.tag = "model 1";
    expect(run(STEPS + 1, &o, &c, &r, NULL), WG_EARG, "the file is of another run");
    o.states = 65;
    expect(run(STEPS, &o, &c, &r, NULL), WG_EARG, "another number of states");
    o.states = 0;
    o.memory = 17; /* which may be another one */
    expect_ok(run(STEPS, &o, &c, &r, NULL));
    const result want = uninterrupted();
    assert_same(&r, &want);
}

static void what_the_system_refuses_is_a_status(void **state) {
    char name[96];
    counts c = {0};
    result r;
    (void)state;
    expect(run(STEPS, &(wg_loop_options){.file = directory}, &c, &r, NULL), WG_EWRITE,
           directory);
    expect(run(STEPS, &(wg_loop_options){.file = "/dev/null"}, &c, &r, NULL), WG_EWRITE,
           "/dev/null");
    (void)snprintf(name, sizeof name, "%s/none/loop", directory);
    expect(run(STEPS, &(wg_loop_options){.file = name}, &c, &r, NULL), WG_EWRITE,
           "no such directory");
    /* a disk that has not so much room */
    expect(
        run(STEPS, &(wg_loop_options){.file = path, .states = (size_t)1 << 52}, &c, &r, NULL),
        WG_ENOMEM, "no room");
    assert_false(is_there(path));
    const int other = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(other >= 0 && flock(other, LOCK_EX) == 0);
    expect(run(STEPS, &(wg_loop_options){.file = path}, &c, &r, NULL), WG_EWRITE,
           "another run uses it");
    (void)close(other);
    expect_ok(run(STEPS, &(wg_loop_options){.file = path}, &c, &r, NULL)); /* it was empty */
}

/* ---- mistakes ---- */

static void mistakes_are_refused_by_name(void **state) {
    counts c = {0};
    double v;
    const wg_region good[1] = {{.record = swing, .data = &c}},
                    bad[2] = {good[0], {.value = damp}};
    const wg_loop l = {N, NP, 1, good, STEPS, NULL, objective, &c};
    wg_loop k;
    const struct {
        wg_loop_options o;
        const char *text;
    } options[] = {{{.memory = 3}, "3 states in memory"},
                   {{.states = 1}, "1 in the file"},
                   {{.memory = SIZE_MAX}, "states in memory"},
                   {{.seconds = NAN}, "saved every nan s"}};
    (void)state;
#define REFUSED(status, text, ...)                                                             \
    do {                                                                                       \
        wg_tape_reset(tape);                                                                   \
        v = 0;                                                                                 \
        expect(wg_loop_gradient(tape, __VA_ARGS__, &v, NULL, NULL, NULL), status, text);       \
        assert_true(isnan(v));                                                                 \
    } while (0)
    v = 0;
    assert_int_equal(wg_loop_gradient(NULL, &l, NULL, start, param, &v, NULL, NULL, NULL),
                     WG_ENULL);
    assert_true(isnan(v));
    REFUSED(WG_ENULL, "the loop is NULL", NULL, NULL, start, param);
    REFUSED(WG_ENULL, "the numbers of the state are NULL", &l, NULL, NULL, param);
    REFUSED(WG_ENULL, "the parameters are NULL", &l, NULL, start, NULL);
    k = l, k.objective = NULL;
    REFUSED(WG_ENULL, "the objective is NULL", &k, NULL, start, param);
    k = l, k.region = NULL;
    REFUSED(WG_ENULL, "the regions are NULL", &k, NULL, start, param);
    k = l, k.region = bad, k.regions = 2;
    REFUSED(WG_ENULL, "region 1 is neither recorded nor by hand", &k, NULL, start, param);
    k = l, k.regions = 0;
    REFUSED(WG_EARG, "300 steps of 0 regions", &k, NULL, start, param);
    k = l, k.steps = SIZE_MAX;
    REFUSED(WG_EARG, "steps of 1 regions", &k, NULL, start, param);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        REFUSED(WG_EARG, options[i].text, &l, &options[i].o, start, param);
#undef REFUSED
    wg_tape_reset(tape);
}

static void budgets_bound_a_loop(void **state) {
    counts c = {0};
    result r;
    wg_tape *const all = tape;
    (void)state;
    tape = wg_tape_new(&(wg_options){.budget = 1 << 20});
    expect(run(STEPS, &(wg_loop_options){.memory = 1 << 20}, &c, &r, NULL), WG_EBUDGET,
           "no room for");
    expect_ok(run(STEPS, NULL, &c, &r, NULL));
    wg_tape_free(tape);
    tape = all;
}

static int open_all(void **state) {
    (void)state;
    if (scratch_make(directory) != 0) return 1;
    (void)snprintf(path, sizeof path, "%s/loop", directory);
    tape = wg_tape_new(NULL);
    return tape == NULL;
}
static int close_all(void **state) {
    (void)state;
    wg_tape_free(tape);
    return scratch_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_whole_loop),
        cmocka_unit_test(memory_and_files_of_any_size_give_the_same_bits),
        cmocka_unit_test(the_number_of_steps_may_turn_out_on_the_way),
        cmocka_unit_test(results_may_take_the_place_of_what_they_are_of),
        cmocka_unit_test(loops_without_a_step_are_their_objective),
        cmocka_unit_test(killed_runs_go_on_to_the_same_bits),
        cmocka_unit_test(stopped_runs_go_on),
        cmocka_unit_test(runs_go_on_after_a_failure),
        cmocka_unit_test(damaged_files_give_the_same_bits_or_are_refused),
        cmocka_unit_test(files_of_something_else_are_left_alone),
        cmocka_unit_test(what_the_system_refuses_is_a_status),
        cmocka_unit_test(mistakes_are_refused_by_name),
        cmocka_unit_test(budgets_bound_a_loop),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
