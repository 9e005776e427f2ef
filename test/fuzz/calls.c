/* SPDX-License-Identifier: MIT */
/* calls.c - a generator: random sequences of public calls, of every function of every header,
 * with honest and hostile arguments in random order (calls.h).
 *
 * No sequence may crash, hang, return what is no status, leak, or leave a tape that a reset
 * does not cure: then a reference program gives its reference bits on it. Sequences run in
 * children of this process, many in one, so that this one can tell of their end. What is found
 * is made smaller by leaving out calls while it goes wrong in the same way, printed, and
 * written to a file:
 *
 *     world 0x1234
 *     wg_mat_input 0x77        name of a row, where its numbers start
 *
 * Behind # in such a file stands what the calls were when it was written. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "calls.h"

enum { LENGTH = 60, BATCH = 1000, FIXED = 3000, SLOW = 60, SLOW_TRIAL = 10, MOST_ROWS = 1000 };
enum { LEAKED = 23, FOUND = 3, TEXT = 1 << 17, MOST_KINDS = 64 };

static struct row rows[MOST_ROWS];
static size_t row_count;
static uint64_t all_weights;

struct sequence {
    uint64_t world;
    size_t count;
    struct {
        size_t row;
        uint64_t seed;
    } step[LENGTH];
};

/* What a child tells. */
static struct shared {
    uint64_t sequence, step, calls[MOST_ROWS], sequences;
    char why[1000], text[TEXT];
    size_t length;
} * shared;

/* Sanitizers: their names are fixed. */
const char *__asan_default_options(void);  // NOLINT(bugprone-reserved-identifier)
const char *__asan_default_options(void) { // NOLINT(bugprone-reserved-identifier)
    return "exitcode=77:detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=2048";
}
const char *__lsan_default_options(void);  // NOLINT(bugprone-reserved-identifier)
const char *__lsan_default_options(void) { // NOLINT(bugprone-reserved-identifier)
    return "exitcode=23:max_leaks=3";
}

/* ---- text of a sequence ---- */

static void put(const char *format, va_list args) {
    if (shared->length > TEXT - 2000) return;
    shared->length += (size_t)vsnprintf(shared->text + shared->length, 1500, format, args);
}
static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...) {
    va_list args;
    va_start(args, format);
    put(format, args);
    va_end(args);
    shared->text[shared->length++] = '\n';
    shared->text[shared->length] = 0;
}

enum { NAMES = 24 };
static struct {
    const char *name;
    char text[120];
} names[NAMES];
static size_t name_count;

void named(const char *name, const char *format, ...) {
    if (!call.printing || name_count == NAMES) return;
    va_list args;
    va_start(args, format);
    names[name_count].name = name;
    (void)vsnprintf(names[name_count++].text, sizeof names->text, format, args);
    va_end(args);
}

void aside(const char *format, ...) {
    char text[1000];
    if (!call.printing) return;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    line("#   %s", text);
}

static int word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

void say(const char *target, const char *text) {
    char out[1200];
    size_t n = 0;
    call.done = 1;
    shared->calls[call.index]++;
    if (!call.printing) return;
    while (*text != 0 && n < 1000) {
        size_t k = 0;
        while (word(text[k])) k++;
        const char *with = NULL;
        for (size_t i = 0; i < name_count && k != 0; i++)
            if (strlen(names[i].name) == k && memcmp(names[i].name, text, k) == 0)
                with = names[i].text;
        if (k == 0) out[n++] = *text++;
        else
            n += (size_t)snprintf(out + n, sizeof out - n, "%.*s", with != NULL ? 119 : (int)k,
                                  with != NULL ? with : text);
        text += k;
    }
    out[n] = 0;
    line("#   %s%s%s", target, target[0] != 0 ? ": " : "", out);
}

_Noreturn void finding(const char *what) {
    (void)snprintf(shared->why, sizeof shared->why, "%s", what);
    _exit(FOUND);
}

/* ---- sequences ---- */

static uint64_t mix(uint64_t a, uint64_t b) {
    const uint64_t before = call.state;
    call.state = a;
    (void)draw();
    call.state ^= b * UINT64_C(0xd6e8feb86659fd93);
    const uint64_t r = draw();
    call.state = before;
    return r;
}

static size_t weighted(void) {
    uint64_t at = (draw() >> 20) % all_weights;
    size_t k = 0;
    while (at >= rows[k].weight) at -= rows[k++].weight;
    return k;
}

/* first: the row it begins with; row_count: any. */
static void generate(struct sequence *s, uint64_t seed, size_t first) {
    call.state = seed;
    s->world = draw();
    s->count = LENGTH;
    for (size_t i = 0; i < LENGTH; i++) {
        s->step[i].row = i == 0 && first < row_count ? first : weighted();
        s->step[i].seed = draw();
    }
}

/* A sequence hangs when it takes so many seconds of the processor's, or ten times as many by
 * the clock, as one that waits for ever; 0: it is over. */
static void watch(unsigned limit) {
    const struct itimerval used = {{0, 0}, {(time_t)limit, 0}};
    (void)setitimer(ITIMER_PROF, &used, NULL);
    (void)alarm(10 * limit);
}

static void run(const struct sequence *s, int printing, unsigned limit) {
    call.printing = printing;
    shared->why[0] = 0;
    if (printing) line("world 0x%llx", (unsigned long long)s->world);
    watch(limit);
    if (world_open(s->world) != 0) finding("a tape cannot be opened");
    for (size_t i = 0; i < s->count; i++) {
        shared->step = i;
        call.row = &rows[s->step[i].row];
        call.index = s->step[i].row;
        call.state = call.memory = s->step[i].seed;
        call.room = &world.room[0];
        call.done = 0;
        name_count = 0;
        draw_begin();
        if (printing) line("%s 0x%llx", call.row->name, (unsigned long long)s->step[i].seed);
        call.row->draw();
    }
    shared->step = s->count;
    const char *const why = world_close();
    if (why != NULL) finding(why);
    watch(0);
}

/* ---- children ---- */

/* How a child ended: 0 well, otherwise a number that is the same for the same kind of end. */
static int end_of(pid_t child) {
    int how = 0;
    while (waitpid(child, &how, 0) < 0) {
    }
    if (WIFSIGNALED(how)) return 1000 + WTERMSIG(how);
    return WEXITSTATUS(how);
}

static const char *kind(int end) {
    static char text[100];
    if (end == LEAKED) return "leaks";
    if (end == FOUND) return shared->why;
    if (end == 1000 + SIGALRM || end == 1000 + SIGPROF) return "hangs";
    if (end > 1000) (void)snprintf(text, sizeof text, "dies of signal %d", end - 1000);
    else (void)snprintf(text, sizeof text, "ends with status %d", end);
    return text;
}

static void quiet(void) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) (void)dup2(nowhere, 2);
}

static int try(const struct sequence *s, int printing, unsigned limit, int loud) {
    (void)fflush(stdout);
    shared->length = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (!loud) quiet();
        run(s, printing, limit);
        exit(0);
    }
    return end_of(child);
}

/* Leaves out calls while it ends in the same way. */
static void shrink(struct sequence *s, int end) {
    for (size_t part = s->count / 2 != 0 ? s->count / 2 : 1; part != 0; part /= 2) {
        for (size_t from = 0; from < s->count;) {
            struct sequence less = *s;
            const size_t n = part < s->count - from ? part : s->count - from;
            memmove(&less.step[from], &s->step[from + n],
                    (s->count - from - n) * sizeof *s->step);
            less.count -= n;
            if (try(&less, 0, SLOW_TRIAL, 0) == end) *s = less;
            else from += n;
        }
    }
}

/* ---- findings ---- */

static const char *prefix = "";
static size_t findings, kinds;
static char seen[MOST_KINDS][200];

static void report(struct sequence *s, int end) {
    char path[600], what[200], why[sizeof shared->why];
    (void)snprintf(why, sizeof why, "%s", kind(end));
    const size_t at = shared->step;
    const char *const last = at < s->count ? rows[s->step[at].row].name : "the end";
    (void)snprintf(what, sizeof what, "%.60s in %s", why, last);
    findings++;
    for (size_t i = 0; i < kinds; i++)
        if (strcmp(seen[i], what) == 0) return;
    if (kinds < MOST_KINDS) memcpy(seen[kinds++], what, sizeof what);
    shrink(s, end);
    (void)try(s, 1, SLOW_TRIAL, 1);
    printf("%s: %s\n%s\n", what, why, shared->text);
    if (prefix[0] == 0) return;
    (void)snprintf(path, sizeof path, "%s%016llx", prefix, (unsigned long long)s->world);
    FILE *const f = fopen(path, "w");
    if (f == NULL) return;
    (void)fprintf(f, "# %s: %s\n%s", what, why, shared->text);
    (void)fclose(f);
    printf("written to %s\n", path);
}

/* Sequences from..to in one child; what goes wrong alone is reported. Gives the first one that
 * was not run. */
static uint64_t batch(uint64_t seed, uint64_t from, uint64_t to, int fixed) {
    struct sequence s;
    (void)fflush(stdout);
    shared->sequence = from;
    const pid_t child = fork();
    if (child == 0) {
        quiet();
        for (uint64_t i = from; i < to; i++) {
            shared->sequence = i;
            generate(&s, mix(seed, i), fixed ? (size_t)i : row_count);
            run(&s, 0, SLOW);
            shared->sequences++;
        }
        exit(0);
    }
    const int end = end_of(child);
    if (end == 0) return to;
    const uint64_t at = shared->sequence;
    if (end == LEAKED) {
        if (to - from == 1) {
            generate(&s, mix(seed, from), fixed ? (size_t)from : row_count);
            report(&s, end);
            return to;
        }
        const uint64_t middle = from + (to - from) / 2;
        (void)batch(seed, from, middle, fixed);
        (void)batch(seed, middle, to, fixed);
        return to;
    }
    char why[sizeof shared->why];
    (void)snprintf(why, sizeof why, "%s", kind(end)); /* what runs next writes another one */
    generate(&s, mix(seed, at), fixed ? (size_t)at : row_count);
    const int alone = try(&s, 0, SLOW, 0);
    if (alone != 0) report(&s, alone);
    else {
        findings++;
        printf("sequence %llu of seed %llu: %s, after %llu others only\n",
               (unsigned long long)at, (unsigned long long)seed, why,
               (unsigned long long)(at - from));
    }
    return at + 1;
}

/* ---- files ---- */

/* A name, which may be several words, and a number. */
static int split(char *text, char *name, size_t bytes, unsigned long long *seed) {
    char *const at = strrchr(text, ' ');
    if (at == NULL || sscanf(at, "%llx", seed) != 1) return 1;
    *at = 0;
    (void)snprintf(name, bytes, "%.*s", (int)bytes - 1, text);
    return 0;
}

static int parse(const char *path, struct sequence *s) {
    char text[400], name[200];
    unsigned long long seed;
    FILE *const f = fopen(path, "r");
    int good = 0;
    memset(s, 0, sizeof *s);
    if (f == NULL) return 1;
    while (fgets(text, sizeof text, f) != NULL) {
        if (text[0] == '#' || split(text, name, sizeof name, &seed) != 0) continue;
        if (strcmp(name, "world") == 0) {
            s->world = seed;
            good = 1;
            continue;
        }
        size_t k = 0;
        while (k < row_count && strcmp(rows[k].name, name) != 0) k++;
        if (k == row_count || s->count == LENGTH) {
            good = 0;
            break;
        }
        s->step[s->count].row = k;
        s->step[s->count++].seed = seed;
    }
    (void)fclose(f);
    return !good;
}

/* 0: it is as it should be. */
static int replay(const char *path, int printing) {
    struct sequence s;
    if (parse(path, &s) != 0) {
        printf("%s: no sequence of calls\n", path);
        return 1;
    }
    const int end = try(&s, printing, SLOW, 1);
    if (printing) printf("%s", shared->text);
    if (end == 0) return 0;
    printf("%s: %s in %s\n", path, kind(end),
           shared->step < s.count ? rows[s.step[shared->step].row].name : "the end");
    return 1;
}

static size_t replay_folder(const char *path) {
    size_t bad = 0;
    DIR *const d = opendir(path);
    if (d == NULL) return 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char file[1000];
        if (e->d_name[0] == '.') continue;
        (void)snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        bad += (size_t)replay(file, 0);
    }
    (void)closedir(d);
    return bad;
}

/* ---- rows ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static void rows_open(void) {
    static const struct rows *const all[] = {&calls_tape,
                                             &calls_sweeps,
                                             &calls_matrix,
                                             &calls_elementwise,
                                             &calls_data,
                                             &calls_products,
                                             &calls_batch,
                                             &calls_solve,
                                             &calls_spectral,
                                             &calls_drivers,
                                             &calls_function,
                                             &calls_derive,
                                             &calls_files,
                                             &calls_map,
                                             &calls_turns,
                                             &calls_model,
                                             &calls_ode,
                                             &calls_optimise,
                                             &calls_parallel,
                                             &calls_spill,
                                             &calls_special,
                                             &calls_statement,
                                             &calls_statement_plain,
                                             &calls_statement_small,
                                             &calls_let,
                                             &calls_matrix_drivers,
                                             &calls_arrays};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->count && row_count < MOST_ROWS; k++)
            rows[row_count++] = all[i]->row[k];
    qsort(rows, row_count, sizeof *rows, by_name);
    for (size_t k = 0; k < row_count; k++) all_weights += rows[k].weight;
}

/* Is it the row of that exported name? wg_sum is a macro of wgi_sum_at. */
static int row_of(const char *row, const char *name) {
    const size_t n = strlen(row), m = strlen(name);
    const char *const star = strchr(row, '*');
    if (star != NULL) {
        const size_t before = (size_t)(star - row), after = n - before - 1;
        return m > n && memcmp(row, name, before) == 0 &&
               memcmp(star + 1, name + m - after, after) == 0;
    }
    if (strcmp(row, name) == 0) return 1;
    return strncmp(name, "wgi_", 4) == 0 && m == n + 4 && strcmp(name + m - 3, "_at") == 0 &&
           strncmp(row, "wg_", 3) == 0 && memcmp(name + 4, row + 3, n - 3) == 0;
}

/* Names of the library that no sequence has called. */
static size_t uncalled(void) {
    char name[200];
    size_t bad = 0, total = 0;
    FILE *const f = fopen("test/abi.txt", "r");
    if (f == NULL) {
        printf("test/abi.txt cannot be read\n");
        return 1;
    }
    while (fscanf(f, "%199s", name) == 1) {
        uint64_t calls = 0;
        for (size_t k = 0; k < row_count; k++)
            if (row_of(rows[k].name, name)) calls += shared->calls[k];
        total++;
        if (calls != 0) continue;
        printf("%s is never called: it needs a row in test/fuzz/calls_*.c\n", name);
        bad++;
    }
    (void)fclose(f);
    return bad + (total == 0);
}

/* ---- main ---- */

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void go_on(double seconds, uint64_t runs, uint64_t seed) {
    const double start = now();
    double told = start;
    for (uint64_t i = 0; i < runs && now() - start < seconds;) {
        const uint64_t to = runs - i < BATCH ? runs : i + BATCH;
        i = batch(seed, i, to, 0);
        if (now() - told < 60 && i < runs) continue;
        told = now();
        printf("%llu sequences, %zu findings, %.0f s\n", (unsigned long long)i, findings,
               told - start);
        (void)fflush(stdout);
    }
    printf("seed %llu: %llu sequences of %d calls, %zu findings of %zu kinds, %.0f s\n",
           (unsigned long long)seed, (unsigned long long)shared->sequences, LENGTH, findings,
           kinds, now() - start);
}

int main(int argc, char **argv) {
    double seconds = 0;
    uint64_t seed = 1, runs = UINT64_MAX;
    size_t bad = 0, files = 0;
    int printing = 0;
    if (getenv("OPENBLAS_NUM_THREADS") == NULL) { /* BLAS has read it by now */
        (void)setenv("OPENBLAS_NUM_THREADS", "1", 0);
        (void)execv("/proc/self/exe", argv);
    }
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 28); /* workspace is not to be mapped each time */
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 28);
    rows_open();
    if (house_open() != 0) {
        printf("the functions of the house cannot be made\n");
        return 1;
    }
    for (int i = 1; i < argc; i++) {
        const char *const a = argv[i];
        struct stat is;
        if (strncmp(a, "-max_total_time=", 16) == 0) seconds = atof(a + 16);
        else if (strncmp(a, "-runs=", 6) == 0) runs = strtoull(a + 6, NULL, 0);
        else if (strncmp(a, "-seed=", 6) == 0) seed = strtoull(a + 6, NULL, 0);
        else if (strncmp(a, "-artifact_prefix=", 17) == 0) prefix = a + 17;
        else if (strcmp(a, "-print") == 0) printing = 1;
        else if (a[0] == '-') continue;
        else if (stat(a, &is) == 0 && S_ISDIR(is.st_mode)) bad += replay_folder(a);
        else bad += (size_t)replay(a, printing), files++;
    }
    if (printing) return bad != 0;
    if (seconds > 0 || runs != UINT64_MAX) {
        go_on(seconds > 0 ? seconds : INFINITY, runs, seed);
        return bad + findings != 0;
    }
    for (uint64_t i = 0; i < FIXED;)
        i = batch(seed, i, i + BATCH < FIXED ? i + BATCH : FIXED, 1);
    bad += uncalled();
    printf("%zu files and %llu sequences of %d calls, %zu wrong\n", files,
           (unsigned long long)shared->sequences, LENGTH, bad + findings);
    return bad + findings != 0;
}
