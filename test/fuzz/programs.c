/* SPDX-License-Identifier: MIT */
/* programs.c - random programs of scalar and matrix operations, user operations, calls, maps,
 * scans and checkpointed loops, recorded at one point and evaluated at others, far away and at
 * the edge: every mode of differentiation against a toy, and against each other.
 *
 *     programs FILE...                       replays cases (programs.h has their text), then
 *                                            draws some from a fixed seed; with DEPTH=2 more, and
 *                                            looks whether planted errors are found
 *     programs -max_total_time=60 -seed=N -artifact_prefix=P FOLDER...
 *                                            replays those of the folders, then draws for so
 *                                            long
 *
 * What is found is made smaller, printed, and written to P and a number. -keep_going=1 goes on
 * after a finding, printing each kind once; -without='NAME NAME' draws none of these
 * operations. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "programs.h"
#include "test/depth.h"
#include "test/scratch.h"

/* How many cases are drawn where no time is given: of one seed, fewer by clang; a quarter of
 * them without DEPTH=2. */
#ifdef __clang__
enum { CASES = 100 };
#else
enum { CASES = 150 };
#endif

/* A compiler takes as long for a case as the rest of the checker for two hundred: one of so
 * many is compiled, beginning with one that `make test` draws. */
enum { COMPILE_EVERY = 500, COMPILE_FIRST = 9, TEXT = 1 << 16, KINDS = 64 };

struct options {
    double seconds;
    uint64_t seed;
    const char *prefix, *without;
    int keep_going;
};

static struct program_checker checker;
static struct program_case drawn;

static char *read_text(const char *path) {
    static char text[TEXT];
    FILE *const f = fopen(path, "rb");
    if (f == NULL) return NULL;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    (void)fclose(f);
    return text;
}

/* 0, or 1: there is something wrong with that file, or found with it. */
static int replay(const char *path) {
    char *const text = read_text(path);
    double far[1][PROGRAM_NUMBERS];
    size_t wrong;
    const int line = text != NULL ? program_read(&drawn, text) : -1;
    if (line != 0) {
        fprintf(stderr, "%s: line %d is no part of a program\n", path, line);
        return 1;
    }
    memcpy(far[0], drawn.far, sizeof far[0]);
    if (program_check(&checker, &drawn, 1, far, strstr(path, "compile") != NULL, &wrong) == 0)
        return 0;
    fprintf(stderr, "%s: %s: %s\n", path, checker.kind, checker.why);
    return 1;
}

static int replay_folder(const char *path) {
    DIR *const d = opendir(path);
    int bad = 0;
    if (d == NULL) return replay(path);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char name[1024];
        (void)snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.') bad |= replay(name);
    }
    (void)closedir(d);
    return bad;
}

static void report(const struct options *o, size_t finding) {
    char path[1024];
    printf("# %s: %s\n", checker.kind, checker.why);
    program_write(&drawn, stdout);
    if (o->prefix != NULL) {
        (void)snprintf(path, sizeof path, "%s%zu", o->prefix, finding);
        FILE *const f = fopen(path, "w");
        if (f != NULL) {
            fprintf(f, "# %s: %s\n", checker.kind, checker.why);
            program_write(&drawn, f);
            (void)fclose(f);
        }
    }
    (void)fflush(stdout);
}

/* What a finding is about: its kind, and the operation it was shrunk to. */
static int is_new(char (*met)[96], size_t *count) {
    const struct program *const p = &drawn.program[drawn.programs - 1];
    char kind[96];
    (void)snprintf(kind, sizeof kind, "%s %s", checker.kind, p->step[p->steps - 1].op->name);
    for (size_t i = 0; i < *count; i++)
        if (strcmp(met[i], kind) == 0) return 0;
    if (*count < KINDS) memcpy(met[(*count)++], kind, sizeof kind);
    return 1;
}

/* One case at its points: 0, or 1: there is a finding, in `drawn`, made smaller, and first what
 * it was before. */
static int one(struct program_random *r, size_t number, char *first, size_t size) {
    double far[PROGRAM_FAR][PROGRAM_NUMBERS];
    size_t wrong;
    if (program_draw_case(r, &drawn) != 0) return 0;
    for (size_t p = 0; p < PROGRAM_FAR; p++) {
        if (p > 0) program_draw_far(r, &drawn);
        else memcpy(drawn.far, drawn.program[drawn.programs - 1].at, sizeof drawn.far);
        memcpy(far[p], drawn.far, sizeof far[p]);
    }
    if (!program_check(&checker, &drawn, PROGRAM_FAR, far,
                       number % COMPILE_EVERY == COMPILE_FIRST, &wrong))
        return 0;
    memcpy(drawn.far, far[wrong], sizeof drawn.far);
    (void)snprintf(first, size, "%s: %s", checker.kind, checker.why);
    program_shrink(&checker, &drawn);
    return 1;
}

/* ---- planted errors ---- */

static int has(const struct program_case *c, const struct program_op *op) {
    for (size_t q = 0; q < c->programs; q++)
        for (size_t i = 0; i < c->program[q].steps; i++)
            if (c->program[q].step[i].op == op) return 1;
    return 0;
}
/* Is a slope of that operation that is wrong by 1e-6 found, in so many programs with it? And
 * again, at that point by itself: otherwise it could not be made smaller. */
static int is_found(struct program_random *r, const struct program_op *op) {
    enum { MOST = 30 };
    int found = 0;
    program_plant(op);
    for (size_t k = 0; k < MOST && !found;) {
        double far[PROGRAM_FAR][PROGRAM_NUMBERS];
        size_t wrong;
        if (program_draw_case(r, &drawn) != 0 || !has(&drawn, op)) continue;
        for (size_t p = 0; p < PROGRAM_FAR; p++) {
            program_draw_far(r, &drawn);
            memcpy(far[p], drawn.far, sizeof far[p]);
        }
        found = program_check(&checker, &drawn, PROGRAM_FAR, far, 0, &wrong);
        if (found) {
            memcpy(far[0], far[wrong], sizeof far[0]);
            found = program_check(&checker, &drawn, 1, far, 0, &wrong);
            if (!found) break;
        }
        k++;
    }
    program_plant(NULL);
    return found;
}
/* What the checker does not see it does not judge: 0, or 1: there is such an error. */
static int plant(void) {
    static const char *const name[] = {
        "div",      "exp",         "sin",       "pow",      "matmul",      "softmax",
        "solve",    "inverse_spd", "logabsdet", "cholesky", "qr_r",        "pinv",
        "eigvalsh", "svdvals",     "expm",      "sqrtm",    "lyapunov",    "norm_nuclear",
        "map",      "scan",        "sylvester", "lstsq",    "svd_product", "eigh_product"};
    struct program_random r = {1, NULL};
    int bad = 0;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (!is_found(&r, program_op_named(name[i]))) {
            fprintf(stderr, "a slope of %s that is wrong by 1e-6 is not found\n", name[i]);
            bad = 1;
        }
    return bad;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int draw(const struct options *o) {
    struct program_random r = {o->seed * UINT64_C(0x9e3779b97f4a7c15) + 1, o->without};
    const double until = now() + o->seconds;
    static char met[KINDS][96], first[512];
    size_t kinds = 0, findings = 0;
    const size_t cases = is_deep() ? CASES : CASES / 4;
    for (size_t i = 0; o->seconds > 0 ? now() < until : i < cases; i++) {
        const uint64_t seed = r.state;
        if (!one(&r, i, first, sizeof first)) continue;
        if (checker.kind[0] == 0)
            printf("# found with seed %llu, not again: %s\n", (unsigned long long)seed, first);
        findings++;
        if (is_new(met, &kinds)) report(o, kinds);
        if (!o->keep_going) break;
    }
    return findings > 0;
}

static void counts(void) {
    const struct program_counts *const n = &checker.count;
    printf(
        "%zu programs at %zu points: %zu numbers judged, %zu of them at the mercy of rounding, "
        "%zu without three digits, %zu bits; %zu refused, %zu on another branch\n",
        n->programs, n->points, n->judged, n->moved, n->unjudged, n->bits, n->refused,
        n->guarded);
}

int main(int argc, char **argv) {
    struct options o = {.seed = 0};
    char directory[SCRATCH_BYTES];
    int bad = 0;
    if (program_checker_open(&checker) != 0 || scratch_make(directory) != 0) return 1;
    checker.directory = directory;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-max_total_time=", 16) == 0) o.seconds = atof(argv[i] + 16);
        else if (strncmp(argv[i], "-seed=", 6) == 0) o.seed = strtoull(argv[i] + 6, NULL, 10);
        else if (strncmp(argv[i], "-artifact_prefix=", 17) == 0) o.prefix = argv[i] + 17;
        else if (strncmp(argv[i], "-keep_going=", 12) == 0) o.keep_going = atoi(argv[i] + 12);
        else if (strncmp(argv[i], "-without=", 9) == 0) o.without = argv[i] + 9;
        else if (argv[i][0] != '-') bad |= replay_folder(argv[i]);
    }
    if (o.seed == 0) o.seed = o.seconds > 0 ? (uint64_t)time(NULL) : 1;
    const struct program_counts before = checker.count;
    if (o.seconds <= 0 && is_deep()) bad |= plant();
    checker.count = before;
    bad |= draw(&o);
    printf("seed %llu: ", (unsigned long long)o.seed);
    counts();
    program_checker_close(&checker);
    (void)scratch_remove(directory);
    return bad;
}
