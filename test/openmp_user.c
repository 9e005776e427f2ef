/* SPDX-License-Identifier: MIT */
/* openmp_user.c - loops by wengert/openmp.h, mistakes in them, and maps between them: what is
 * printed is the same for any number of threads, and without OpenMP. Numbers are printed
 * with all bits. */
#define _POSIX_C_SOURCE 200809L /* opendir */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <wengert.h>
#include <wengert/openmp.h>

enum { N = 300, SEGMENTS = 16 };
static wg_real u[N], v[N];
static wg_tape *t;
static wg_parallel *p;

static wg_real product(wg_tape *s, size_t i) {
    return wg_let(s, wg_mul(u[i], wg_sin(u[(i + 7) % N])));
}

static void begin(void) {
    wg_tape_reset(t);
    for (int i = 0; i < N; i++) u[i] = wg_input(t, 1 + 0.01 * i), v[i] = wg_constant(0);
    wg_parallel_begin(p, t);
}

/* Joins, adopts, and sweeps from the sum. */
static void end(const char *what) {
    double g[N], norm = 0;
    const wg_status joined = wg_parallel_join(p), adopted = wg_parallel_adopt(p, N, v);
    wg_real sum = wg_constant(0);
    for (int i = 0; i < N; i++) sum = wg_let(t, wg_add(sum, v[i]));
    const wg_status swept = wg_reverse(t, sum);
    if (swept == WG_OK && wg_adjoints(t, N, u, g) == WG_OK)
        for (int i = 0; i < N; i++) norm += (i + 1) * g[i];
    else norm = NAN;
    printf("%s: %d %d %d %a %a %s\n", what, (int)joined, (int)adopted, (int)swept,
           wg_value(sum), norm, wg_tape_message(t));
}

static void loops(void) {
    begin();
    WG_OPENMP_FOR(p, s, i, N) v[i] = product(s, i);
    end("all");

    begin();
    WG_OPENMP_FOR(p, s, i, N) {
        if (i % 3 == 1) continue;
        if (i % 30 == 29) break; /* the segment's other iterations are left out */
        v[i] = product(s, i);
    }
    end("continue and break");

    begin();
    WG_OPENMP_FOR(p, s, i, 0) v[i] = product(s, i);
    end("no iterations");

    begin();
    WG_OPENMP_FOR(p, s, i, 3) v[i] = product(s, i);
    end("fewer than segments");

    begin();
    WG_OPENMP_SEGMENTS(p, k) {
        double weight = 0;
        wg_tape *const s = wg_parallel_tape(p, k);
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : weight)
#endif
        for (int j = 0; j < 8; j++) weight += j;
        v[k] = wg_let(s, wg_mul(weight, u[k]));
    }
    end("loops of numbers inside");
}

static void reductions(void) {
    static const wg_reduction all[] = {WG_REDUCE_SUM, WG_REDUCE_PRODUCT, WG_REDUCE_MINIMUM,
                                       WG_REDUCE_MAXIMUM};
    static const double neutral[] = {0, 1, INFINITY, -INFINITY};
    for (size_t turns = 0; turns <= N; turns += N / 2)
        for (int how = 0; how < 4; how++) {
            wg_real part[SEGMENTS], y;
            begin();
            WG_OPENMP_SEGMENTS(p, k) {
                wg_tape *const s = wg_parallel_tape(p, k);
                part[k] = wg_constant(neutral[how]);
                for (size_t i = wg_parallel_from(p, k, turns);
                     i < wg_parallel_from(p, k + 1, turns); i++)
                    part[k] = how == 0   ? wg_let(s, wg_add(part[k], u[i]))
                              : how == 1 ? wg_let(s, wg_mul(part[k], u[i]))
                              : how == 2 ? wg_let(s, wg_fmin(part[k], u[i]))
                                         : wg_let(s, wg_fmax(part[k], u[i]));
            }
            const wg_status joined = wg_parallel_join(p);
            const wg_status reduced = wg_parallel_reduce(p, all[how], 1, part, &y);
            const wg_status swept = wg_reverse(t, y);
            printf("reduction %d of %zu: %d %d %d %a %a %a\n", how, turns, (int)joined,
                   (int)reduced, (int)swept, wg_value(y), wg_adjoint(t, u[0]),
                   wg_adjoint(t, u[N / 2 - 1]));
        }
}

static void mistakes(void) {
    const double numbers[4] = {1, 2, 3, 4};
    wg_tape *const other = wg_tape_new(NULL);
    const wg_real of_nobody = wg_input(other, 1);
    wg_tape_free(other);
    begin();
    WG_OPENMP_FOR(p, s, i, N) {
        v[i] = product(s, i);
        if (i == N / 2) (void)wg_let(s, wg_mul(of_nobody, 2.0));
        if (i == N / 3) wg_tape_reset(s); /* is no matter of a segment */
    }
    end("a statement that fails in one thread");

    begin();
    WG_OPENMP_FOR(p, s, i, N) {
        v[i] = product(s, i);
        if (i == N - 1) (void)wg_mat_input(s, 2, 2, numbers, 2);
    }
    end("a matrix in one thread");

    begin();
    const wg_real of_first = wg_let(wg_parallel_tape(p, 0), wg_mul(2, u[0]));
    WG_OPENMP_FOR(p, s, i, N) v[i] = wg_let(s, wg_mul(i < N / 2 ? u[i] : of_first, 2));
    end("a variable of another segment");

    begin();
    WG_OPENMP_SEGMENTS(p, k) {
        wg_tape *const s = wg_parallel_tape(p, k);
        v[k] = product(s, k);
        if (k == 5) wg_parallel_begin(p, s);
    }
    end("a loop within a loop");

    begin();
    WG_OPENMP_SEGMENTS(p, k) {
        wg_tape *const s = wg_parallel_tape(p, k);
        v[k] = product(s, k);
        if (k == 6 && wg_reverse(s, v[k]) != WG_EMODE) v[k] = wg_constant(NAN);
    }
    end("a sweep in a segment is refused, and all else goes on");

    begin();
    WG_OPENMP_SEGMENTS(p, k) {
        wg_tape *const s = wg_parallel_tape(p, k);
        v[k] = product(s, k);
        if (k == 2) wg_tape_pause(s);
    }
    end("a segment that is left paused");

    begin();
    WG_OPENMP_FOR(p, s, i, N) v[i] = product(s, i);
    (void)wg_parallel_join(p);
    wg_parallel_begin(p, t);
    WG_OPENMP_FOR(p, s, i, N) v[i] = wg_let(s, wg_mul(2, v[i]));
    end("variables of an earlier loop, not adopted");

    WG_OPENMP_FOR((wg_parallel *)NULL, s, i, N) v[i] = product(s, i);
    begin();
    wg_tape_reset(t);
    WG_OPENMP_FOR(p, s, i, N) v[i] = product(s, i);
    end("a reset in a loop");
}

/* ---- maps and functions, in the threads of the loops ---- */

static int threads_there_are(void) {
    DIR *const tasks = opendir("/proc/self/task");
    int n = 0;
    while (tasks != NULL && readdir(tasks) != NULL) n++;
    if (tasks != NULL) (void)closedir(tasks);
    return n;
}

static wg_status body(wg_tape *tape, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(tape, wg_mul(x[1], wg_sin(wg_mul(x[0], x[1]))));
    return wg_tape_status(tape);
}

enum { POINTS = 20000 };
static double at[POINTS];

/* A loop, a map, a sweep over both, and the function at the same points. */
static wg_status mapped(const wg_function *f, const wg_callable *k, wg_threads *threads) {
    double scale = 0.5, sum = 0;
    const wg_points points[] = {{&scale, 0, 1}, {at, 1, 1}};
    const wg_results result = {&sum, 0, 1};
    void *const work = malloc(wg_function_work(f, threads));
    wg_mat y = wg_mat_failed(1, 1);
    begin();
    WG_OPENMP_FOR(p, s, i, N) v[i] = product(s, i);
    wg_status s = wg_parallel_join(p);
    if (s == WG_OK) s = wg_parallel_adopt(p, N, v);
    const wg_source x[] = {wg_from_matrix(wg_mat_from_real(t, u[0])), wg_from_data(at, 1, 1)};
    if (s == WG_OK) s = wg_map(t, k, POINTS, x, threads, &y);
    if (s == WG_OK) s = wg_reverse(t, wg_let(t, wg_mul(wg_mat_at(y, 0, 0), v[0])));
    if (s == WG_OK && work == NULL) s = WG_ENOMEM;
    if (s == WG_OK) s = wg_function_evaluate(f, POINTS, points, &result, threads, work, NULL);
    free(work);
    printf("a map: %a %a %a\n", wg_value(wg_mat_at(y, 0, 0)), wg_adjoint(t, u[0]), sum);
    return s;
}

static wg_status maps(wg_threads *threads) {
    const wg_argument in[] = {{"scale", 1, 1, WG_SHARED}, {"at", 1, 1, 0}},
                      out = {"sum", 1, 1, WG_SUMMED};
    const double start[2] = {1, 1};
    wg_function *f = NULL;
    wg_callable *k = NULL;
    for (int i = 0; i < POINTS; i++) at[i] = 1e-4 * i;
    wg_status s = wg_function_record(t, body, NULL, 2, in, start, 1, &out, &f);
    if (s == WG_OK) s = wg_callable_new(t, f, &k);
    const int before = threads_there_are();
    if (s == WG_OK) s = mapped(f, k, threads);
    if (s == WG_OK) s = mapped(f, k, NULL);
    printf("maps: %d, %s\n", (int)s,
           threads_there_are() > before ? "in other threads" : "in the same threads");
    wg_callable_free(k);
    wg_function_free(f);
    return s;
}

int main(void) {
    static const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED, WG_TRACE};
    wg_threads *threads;
    if (wg_openmp_threads(&threads) != WG_OK) return 1;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        t = wg_tape_new(&(wg_options){.flags = flags[k]});
        if (wg_parallel_new(t, SEGMENTS, threads, &p) != WG_OK) return 1;
        loops();
        reductions();
        mistakes();
        if (flags[k] == WG_KEEP_CODE && maps(threads) != WG_OK) return 1;
        wg_parallel_free(p);
        wg_tape_free(t);
    }
    wg_threads_free(threads);
    return 0;
}
