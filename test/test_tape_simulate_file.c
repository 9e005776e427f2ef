/* SPDX-License-Identifier: MIT */
/* Solutions with a file: runs that are killed, stopped, fail, and go on to the same bits; files
 * that are damaged, or of something else. */
#define _DEFAULT_SOURCE
#include "ode_case.h"
#include "sanitized.h"
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 5, STATES = 2, INTEGRALS = 3, ENTRIES = STATES + PARAMS };
static char directory[SCRATCH_BYTES], path[SCRATCH_BYTES + 8];
static wg_ode *hunt_ode, *shot_ode; /* smooth; stiff, and with events */

typedef struct result {
    double y[STATES * TIMES], r[INTEGRALS * TIMES], g[ENTRIES];
} result;

static const wg_ode_options ways[] = {
    {.method = WG_RK4, .step = SANITIZED ? 0.01 : 0.002, .stored = 7},
    {.method = WG_DOPRI5, .step = SANITIZED ? 0.04 : 0.01},
    {.rtol = 1e-12, .atol = 1e-13, .stored = 5},
    {.rtol = 1e-8, .atol = 1e-9, .max_step = 0.05, .stored = 3},
    {.method = WG_RODAS4, .rtol = 1e-6, .atol = 1e-7, .max_step = 0.05}};
enum { EVENTS_FROM = 3 };
enum { WAYS = sizeof ways / sizeof *ways };
static const double at[TIMES] = {0, 2, 7, 16, 20};

/* Where the prey falls below 0.8, half of the hunters are shot. */
static wg_status few(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *e, void *data) {
    (void)n, (void)m, (void)data;
    e[0] = wg_let(t, wg_sub(x[1], 0.8));
    return WG_OK;
}
static wg_status shoot(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[1];
    y[1] = wg_let(t, wg_mul(0.5, x[2]));
    return WG_OK;
}

static int is_there(void) { return access(path, F_OK) == 0; }

/* A solution and the gradient of its squares, or as much of it as there is. */
static wg_status solve_ode(const wg_ode *k, const wg_ode_options *o, double factor, result *to,
                           wg_ode_report *report) {
    wg_mat y, r;
    wg_tape_reset(tape);
    const wg_mat y0 = wg_mat_input(tape, STATES, 1, starts, STATES),
                 p = wg_mat_input(tape, PARAMS, 1, params, PARAMS);
    wg_status s = wg_ode_solve(tape, k, o, TIMES, at, y0, p, &y, &r, report);
    if (s != WG_OK) return s;
    const wg_real f =
        wg_let(tape, wg_add(wg_mat_dot(tape, y, y), wg_mul(factor, wg_mat_dot(tape, r, r))));
    s = wg_reverse(tape, f);
    if (s != WG_OK) return s;
    assert_int_equal(wg_mat_value(tape, y, to->y, STATES), WG_OK);
    assert_int_equal(wg_mat_value(tape, r, to->r, INTEGRALS), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, y0, to->g, STATES), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, p, to->g + STATES, PARAMS), WG_OK);
    return WG_OK;
}

static wg_status solve(const wg_ode_options *o, double factor, result *to,
                       wg_ode_report *report) {
    const int events = o->max_step == ways[EVENTS_FROM].max_step;
    return solve_ode(events ? shot_ode : hunt_ode, o, factor, to, report);
}

static void expect_ok(wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(tape));
}
static void expect(wg_status s, wg_status expected, const char *text) {
    if (s != expected || strstr(wg_tape_message(tape), text) == NULL)
        fail_msg("%s: %s", wg_status_text(s), wg_tape_message(tape));
}

static result uninterrupted(size_t way) {
    result r;
    expect_ok(solve(&ways[way], 0.1, &r, NULL));
    return r;
}
static void assert_same(const result *a, const result *b) {
    assert_memory_equal(a, b, sizeof *a);
}
static wg_ode_options with_file(size_t way) {
    wg_ode_options o = ways[way];
    o.file = path;
    o.seconds = 1e-5;
    return o;
}

/* ---- runs that end early ---- */

static void files_change_no_bit_and_are_gone_after_the_sweep(void **state) {
    (void)state;
    for (size_t way = 0; way < WAYS; way++) {
        const result want = uninterrupted(way);
        for (int seldom = 0; seldom < 2; seldom++) {
            wg_ode_options o = with_file(way);
            result r;
            wg_ode_report report;
            if (seldom) o.seconds = -1;
            expect_ok(solve(&o, 0.1, &r, &report));
            assert_same(&r, &want);
            assert_int_equal(report.resumed, 0);
            assert_false(is_there());
        }
    }
}

static int killed_after(unsigned microseconds, const wg_ode_options *o, result *shared) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        result r;
        if (solve(o, 0.1, &r, NULL) == WG_OK) *shared = r;
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
    result *const shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned seed = 1;
    (void)state;
    assert_true(shared != MAP_FAILED);
    for (size_t way = 0; way < WAYS; way++) {
        const result want = uninterrupted(way);
        const wg_ode_options o = with_file(way);
        for (int kills = 0; kills < 25;) {
            /* longer and longer, or on a slow machine it would never end */
            unsigned most = 3000;
            memset(shared, 0, sizeof *shared);
            for (int ended = 0; !ended; most += most / 4) {
                seed = seed * 1664525u + 1013904223u;
                ended = killed_after((seed >> 8) % most, &o, shared);
                kills += !ended;
            }
            assert_same(shared, &want);
            assert_false(is_there());
        }
    }
    (void)munmap(shared, sizeof *shared);
}

typedef struct stopper {
    size_t calls, at;
} stopper;
static int stop(void *context, double part) {
    stopper *const s = context;
    assert_true(part >= 0 && part <= 1);
    return ++s->calls == s->at;
}

/* Steps forward are told, and those of the way back. */
static wg_status stopped(size_t calls, const wg_ode_options *o, result *r,
                         wg_ode_report *report) {
    stopper s = {0, calls};
    const wg_progress told = {stop, &s, 0};
    assert_int_equal(wg_tape_progress(tape, &told), WG_OK);
    const wg_status status = solve(o, 0.1, r, report);
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    return status;
}

static void stopped_runs_go_on_from_where_they_were(void **state) {
    (void)state;
    for (size_t way = 0; way < WAYS; way++) {
        const result want = uninterrupted(way);
        const wg_ode_options o = with_file(way);
        wg_ode_report whole, first, second;
        result r;
        expect_ok(solve(&ways[way], 0.1, &r, &whole));
        for (size_t calls = 1; calls < 2 * whole.steps; calls += whole.steps / (SANITIZED ? 2 : 5) + 1) {
            expect(stopped(calls, &o, &r, &first), WG_ESTOPPED, "wg_ode_solve");
            assert_true(is_there());
            expect_ok(solve(&o, 0.1, &r, &second));
            assert_same(&r, &want);
            assert_int_equal(second.resumed, 1);
            assert_int_equal(second.steps, whole.steps);
            assert_int_equal(second.rejected, whole.rejected);
            if (calls <= whole.steps) assert_int_equal(first.steps, calls);
        }
    }
}

static void sweeps_of_other_adjoints_begin_anew(void **state) {
    const wg_ode_options o = with_file(0);
    wg_ode_report report;
    result want, r;
    (void)state;
    expect_ok(solve(&ways[0], 0.3, &want, &report));
    assert_int_equal(stopped(report.steps + report.steps / 2, &o, &r, NULL), WG_ESTOPPED);
    expect_ok(solve(&o, 0.3, &r, &report));
    assert_int_equal(report.resumed, 1);
    assert_same(&r, &want);
}

static void runs_that_took_too_many_steps_go_on(void **state) {
    const result want = uninterrupted(2);
    wg_ode_options o = with_file(2);
    wg_ode_report report;
    result r;
    (void)state;
    o.max_steps = 300;
    o.seconds = 1e-9;
    expect(solve(&o, 0.1, &r, &report), WG_ECONVERGE, "too many steps");
    assert_true(is_there());
    o.max_steps = 0;
    expect_ok(solve(&o, 0.1, &r, &report));
    assert_same(&r, &want);
    assert_int_equal(report.resumed, 1);
}

/* ---- where there is no sweep ---- */

static void files_are_gone_where_nothing_is_swept(void **state) {
    const wg_ode_options o = with_file(0);
    wg_tape_reset(tape);
    const wg_mat y0 = wg_mat_constant(tape, STATES, 1, starts, STATES),
                 p = wg_mat_constant(tape, PARAMS, 1, params, PARAMS);
    wg_mat y, r;
    (void)state;
    expect_ok(wg_ode_solve(tape, hunt_ode, &o, TIMES, at, y0, p, &y, &r, NULL));
    assert_false(is_there());
    /* tangents */
    wg_tape *const forward = wg_tape_new(NULL);
    assert_int_equal(wg_tape_forward(forward, 1), WG_OK);
    const wg_mat x = wg_mat_input(forward, STATES, 1, starts, STATES),
                 q = wg_mat_constant(forward, PARAMS, 1, params, PARAMS);
    assert_int_equal(wg_ode_solve(forward, hunt_ode, &o, TIMES, at, x, q, &y, &r, NULL), WG_OK);
    assert_false(is_there());
    wg_tape_free(forward);
}

/* ---- files ---- */

static void damaged_files_give_the_same_bits_or_are_refused(void **state) {
    const result want = uninterrupted(0);
    const wg_ode_options o = with_file(0);
    enum { FILES = SANITIZED ? 20 : 60 };
    unsigned seed = 7;
    int refused = 0;
    wg_ode_report report;
    result r;
    (void)state;
    expect_ok(solve(&ways[0], 0.1, &r, &report));
    for (size_t i = 0; i < FILES; i++) {
        assert_int_equal(stopped(1 + i * (2 * report.steps / FILES), &o, &r, NULL), WG_ESTOPPED);
        const int f = open(path, O_RDWR);
        const off_t size = lseek(f, 0, SEEK_END);
        assert_true(size > 0);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            const off_t where = (off_t)(seed >> 4) % (i % 3 == 0 ? 56 : size);
            char byte;
            assert_int_equal(pread(f, &byte, 1, where), 1);
            byte = (char)(byte ^ (1 << (seed & 7)));
            assert_int_equal(pwrite(f, &byte, 1, where), 1);
        }
        if (i % 5 == 4) assert_int_equal(ftruncate(f, size / 2), 0);
        (void)close(f);
        const wg_status s = solve(&o, 0.1, &r, NULL);
        if (s == WG_OK) {
            assert_same(&r, &want);
        } else {
            expect(s, WG_EARG, "wg_ode_solve");
            assert_true(is_there());
            (void)unlink(path);
            refused++;
        }
    }
    assert_true(refused > 0 && refused < FILES / 2);
}

/* The words of a place in the file, as ode_file.c has them, and the hash behind all. */
enum {
    PLACE_BYTES = 1,
    PLACE_USED = 5,
    PLACE_STRIDE,
    PLACE_STEPS,
    PLACE_HELD,
    PLACE_LEFT,
    WORDS = 16
};
static void forge(int f, off_t from, int word, uint64_t value) {
    static uint64_t place[1 << 16];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    assert_int_equal(pread(f, place, WORDS * 8, from), WORDS * 8);
    const size_t words = place[PLACE_BYTES] / 8;
    if (words < WORDS || words > sizeof place / 8) return; /* nothing was written here */
    assert_int_equal(pread(f, place, words * 8, from), (ssize_t)(words * 8));
    place[word] = value;
    for (size_t i = 0; i + 1 < words; i++) {
        hash = (hash ^ place[i]) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    place[words - 1] = hash;
    assert_int_equal(pwrite(f, place, words * 8, from), (ssize_t)(words * 8));
}

/* With a check that fits, too, nothing is read out of bounds: what is beyond sense is begun
 * anew, or refused. */
static void forged_files_give_the_same_bits_or_are_refused(void **state) {
    static const struct {
        int word;
        uint64_t value;
        int refused; /* 0: taken for nothing */
    } forged[] = {{PLACE_USED, 0, 0},
                  {PLACE_USED, UINT64_MAX, 0},
                  {PLACE_STRIDE, 0, 0},
                  {PLACE_LEFT, UINT64_MAX, 0},
                  {WORDS + 4, TIMES - 1, 1} /* which of the times is next */};
    const result want = uninterrupted(0);
    const wg_ode_options o = with_file(0);
    wg_ode_report report;
    result r;
    (void)state;
    expect_ok(solve(&ways[0], 0.1, &r, &report));
    for (size_t back = 0; back < 2; back++)
        for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
            const size_t calls = report.steps / 2 + back * report.steps;
            assert_int_equal(stopped(calls, &o, &r, NULL), WG_ESTOPPED);
            const int f = open(path, O_RDWR);
            const off_t size = lseek(f, 0, SEEK_END), half = (size - 4096) / 2;
            for (off_t k = 0; k < 2; k++)
                forge(f, 4096 + k * half, forged[i].word, forged[i].value);
            (void)close(f);
            if (forged[i].refused) {
                expect(solve(&o, 0.1, &r, NULL), WG_EARG, "not what was written");
                (void)unlink(path);
                continue;
            }
            expect_ok(solve(&o, 0.1, &r, NULL));
            assert_same(&r, &want);
            assert_false(is_there());
        }
}

static void files_of_something_else_are_left_alone(void **state) {
    static const char text[] = "The only copy of a thesis.";
    char read_back[64] = "";
    const result want = uninterrupted(0);
    wg_ode_options o = with_file(0);
    result r;
    (void)state;
    int f = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(f, text, sizeof text), sizeof text);
    (void)close(f);
    expect(solve(&o, 0.1, &r, NULL), WG_EARG, "the file is none of wg_ode_solve");
    f = open(path, O_RDONLY);
    assert_int_equal(read(f, read_back, sizeof read_back), sizeof text);
    assert_string_equal(read_back, text);
    (void)close(f);
    (void)unlink(path);

    o.tag = "model 1";
    assert_int_equal(stopped(50, &o, &r, NULL), WG_ESTOPPED);
    o.tag = "model 2";
    expect(solve(&o, 0.1, &r, NULL), WG_EARG, "the file is of another run");
    o.tag = "model 1", o.step = 0.003;
    expect(solve(&o, 0.1, &r, NULL), WG_EARG, "the file is of another run");
    o.step = ways[0].step, o.stored = 8;
    expect(solve(&o, 0.1, &r, NULL), WG_EARG, "another number of states");
    o.stored = ways[0].stored, o.seconds = 3; /* which may be another one */
    expect_ok(solve(&o, 0.1, &r, NULL));
    assert_same(&r, &want);
}

static void what_the_system_refuses_is_a_status(void **state) {
    wg_ode_options o = with_file(0);
    char none[SCRATCH_BYTES + 16];
    result r;
    (void)state;
    o.file = directory;
    expect(solve(&o, 0.1, &r, NULL), WG_EWRITE, directory);
    o.file = "/dev/null";
    expect(solve(&o, 0.1, &r, NULL), WG_EWRITE, "this is no file");
    (void)snprintf(none, sizeof none, "%s/none/ode", directory);
    o.file = none;
    expect(solve(&o, 0.1, &r, NULL), WG_EWRITE, "no such directory");
    o.file = path;
    const int other = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(other >= 0 && flock(other, LOCK_EX) == 0);
    expect(solve(&o, 0.1, &r, NULL), WG_EWRITE, "another run uses it");
    (void)close(other);
    o.seconds = (double)NAN;
    expect(solve(&o, 0.1, &r, NULL), WG_EARG, "written every nan s");
    o.seconds = 0;
    expect_ok(solve(&o, 0.1, &r, NULL)); /* it was empty */
    assert_false(is_there());
}

static int set_up(void **state) {
    if (scratch_make(directory) != 0) return -1;
    (void)snprintf(path, sizeof path, "%s/ode", directory);
    const int s = open_tapes(state);
    if (s != 0) return s;
    hunt_ode = hunting(1);
    wg_function *const part[] = {rhs_of(hunt_recorded, STATES, PARAMS, STATES),
                                 rhs_of(prey_recorded, STATES, PARAMS, INTEGRALS),
                                 rhs_of(few, STATES, PARAMS, 1),
                                 rhs_of(shoot, STATES, PARAMS, STATES)};
    const wg_ode_system system = {part[0], part[1], part[2], part[3], .stiff = 1};
    if (wg_ode_new(coded, &system, &shot_ode) != WG_OK) return -1;
    for (size_t i = 0; i < 4; i++) wg_function_free(part[i]);
    return 0;
}
static int tear_down(void **state) {
    wg_ode_free(hunt_ode);
    wg_ode_free(shot_ode);
    return scratch_remove(directory) + close_tapes(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_change_no_bit_and_are_gone_after_the_sweep),
        cmocka_unit_test(killed_runs_go_on_to_the_same_bits),
        cmocka_unit_test(stopped_runs_go_on_from_where_they_were),
        cmocka_unit_test(sweeps_of_other_adjoints_begin_anew),
        cmocka_unit_test(runs_that_took_too_many_steps_go_on),
        cmocka_unit_test(files_are_gone_where_nothing_is_swept),
        cmocka_unit_test(damaged_files_give_the_same_bits_or_are_refused),
        cmocka_unit_test(forged_files_give_the_same_bits_or_are_refused),
        cmocka_unit_test(files_of_something_else_are_left_alone),
        cmocka_unit_test(what_the_system_refuses_is_a_status),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
