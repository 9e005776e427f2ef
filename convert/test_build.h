/* SPDX-License-Identifier: MIT */
/* test_build.h - what tests of the converter share: commands, files, compiled code that is
 * loaded, and derivatives of it by differences. Three libraries are made of a file: the
 * original as it is; the original in long double, of which differences are taken, so that
 * neither the converter nor this library has a part in what they are compared with; and the
 * converted one, with test_called.h. A file that includes this one defines _DEFAULT_SOURCE
 * first. */
#ifndef CONVERT_TEST_BUILD_H
#define CONVERT_TEST_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <float.h>
#include <glob.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wengert.h>
#include "test/depth.h"
#include "test/sanitized.h"
#include "test/scratch.h"
#include "test/tolerance.h"

enum { MOST_INPUTS = 16, MOST_OUTPUTS = 16, COMMAND_BYTES = 8192, NAME_BYTES = 256 };
enum { REFUSED = 1 }; /* the converter's status; a sanitizer has another one */

/* What is made of a converted file: nothing, or it is taken by the compiler without a warning, or
 * compiled and run. gcc runs what it compiles. Another compiler has other warnings, and evaluates
 * operands in another order: it runs what writes statements in an order of its own, recordings
 * and adjoints, and takes what has the expressions of the source. A sanitizer sees the converter
 * and the library: it runs what calls the library in most ways. */
typedef enum use {
    CONVERTED,
    TAKEN,
    RUN,
#if SANITIZED
    WITH_ORDER = CONVERTED,
    WITH_EXPRESSIONS = CONVERTED,
    WITH_DUALS = RUN
#elif defined(__clang__)
    WITH_ORDER = RUN,
    WITH_EXPRESSIONS = TAKEN,
    WITH_DUALS = TAKEN
#else
    WITH_ORDER = RUN,
    WITH_EXPRESSIONS = RUN,
    WITH_DUALS = RUN
#endif
} use;

/* How the header of a converted file is looked at: within the file only, included before all else,
 * compared with that of the first mode, or compiled alone, which takes longest: by gcc. */
typedef enum header_check {
    HEADER_WITHIN,
    HEADER_FIRST,
    HEADER_SAME,
    HEADER_ALONE,
#if SANITIZED || defined(__clang__)
    HEADER_BY_GCC = HEADER_WITHIN
#else
    HEADER_BY_GCC = HEADER_ALONE
#endif
} header_check;

/* Quickly compiled: statements are calls. */
#define QUICK "-O0 -DWG_SMALL_CODE"
/* Where gcc's warnings see most; those of others see as much in what is not optimised. */
#ifdef __clang__
#define OPTIMISED QUICK
#else
#define OPTIMISED "-O1"
#endif

/* With the width of duals that --directions 16 asks for, where the header is included first. */
#define QUICK_WIDE QUICK " -DWG_DUAL_WIDTH=16"

/* The ways to write a converted function: what is given to the converter, and to the compiler.
 * A recording has a callback, an adjoint a function for the transposed product. `alone`: nothing
 * is included before the file. Of random programs, modes with a turn get every second one (turn
 * 1 or 2; 0: all). */
typedef struct mode {
    const char *name, *options, *flags;
    header_check header;
    bool records, three_types, alone;
    use use;
    unsigned turn;
} mode;
static const mode modes[] = {
    {"tape", "", OPTIMISED, HEADER_FIRST, true, false, false, WITH_ORDER, 0},
    {"calls", "--inline 0", QUICK, HEADER_SAME, true, false, false, WITH_ORDER, 1},
    {"generic", "--to generic --inline 6", QUICK, HEADER_FIRST, true, true, false,
     WITH_EXPRESSIONS, 0},
    {"blocks", "--to blocks --directions 16", QUICK, HEADER_BY_GCC, true, false, true,
     WITH_DUALS, 1},
    {"regions", "--to blocks --directions 0 --rows 0", QUICK, HEADER_SAME, true, false, false,
     WITH_EXPRESSIONS, 2},
    {"adjoint", "--to adjoint", OPTIMISED, HEADER_BY_GCC, false, false, false, WITH_ORDER, 0}};
enum { MODES = sizeof modes / sizeof *modes };

static char scratch[SCRATCH_BYTES], here[1024];

/* snprintf that fits. */
__attribute__((format(printf, 3, 4))) static inline void print_into(char *to, size_t room,
                                                                    const char *how, ...) {
    va_list args;
    va_start(args, how);
    const int n = vsnprintf(to, room, how, args);
    va_end(args);
    assert_in_range(n, 0, room - 1);
}

static inline const char *setting(const char *name, const char *otherwise) {
    const char *const s = getenv(name);
    return s != NULL && *s ? s : otherwise;
}

/* What sanitizers ask a program: their status is none of the converter's. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "exitcode=99";
}
__attribute__((visibility("default"))) const char *__ubsan_default_options(void) {
    return "exitcode=99";
}

/* The library is used here, too, so that it stays loaded when one that uses it is closed: what
 * it is linked with may not give back what it obtains at its start. */
static inline int open_scratch(void **state) {
    (void)state;
    return wg_status_text(WG_OK) == NULL || getcwd(here, sizeof here) == NULL ||
                   scratch_make(scratch) != 0
               ? -1
               : 0;
}
static inline int close_scratch(void **state) {
    (void)state;
    return getenv("KEEP") != NULL ? (int)(fprintf(stderr, "%s\n", scratch) < 0)
                                  : scratch_remove(scratch);
}

/* All of a file, which the caller frees; NULL if it is not there. */
static inline char *whole_file(const char *name) {
    FILE *const f = fopen(name, "rb");
    if (f == NULL) return NULL;
    size_t n = 0, room = 1 << 16;
    char *s = malloc(room);
    for (size_t got; (got = fread(s + n, 1, room - n - 1, f)) != 0; n += got)
        if (room - n < 1 << 12) s = realloc(s, room *= 2);
    s[n] = 0;
    (void)fclose(f);
    return s;
}

/* The converter's main(). */
int converter_main(int argc, char **argv);

/* How wengert-convert ends with a command line of words, some of them in single quotes, which it
 * cuts up: in a process of its own, which has nothing to load. What it says is in the file. */
static inline int convert_line(char *line, const char *said) {
    char *word[128];
    int n = 0, status = -1;
    for (char *at = line; *(at += strspn(at, " \n")) != 0;) {
        const bool quoted = *at == '\'';
        at += quoted;
        assert_in_range(n, 0, sizeof word / sizeof *word - 2);
        word[n++] = at;
        at += strcspn(at, quoted ? "'" : " \n");
        if (*at) *at++ = 0;
    }
    word[n] = NULL;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const bool heard =
            freopen(said, "w", stdout) != NULL && dup2(fileno(stdout), STDERR_FILENO) >= 0;
        exit(heard ? converter_main(n, word) : 127);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

/* The command, the converter's or one of the shell, must end with one of these: which one;
 * otherwise what it said is in the message. */
static inline int must_end(bool ours, int status, int other, const char *how, va_list args) {
    char line[COMMAND_BYTES], copy[COMMAND_BYTES], said[SCRATCH_BYTES + 8];
    print_into(said, sizeof said, "%s/said", scratch);
    const int n = vsnprintf(line, sizeof line, how, args);
    assert_in_range(n, 1, sizeof line - 1);
    int ended;
    if (ours) {
        print_into(copy, sizeof copy, "%s", line);
        ended = convert_line(copy, said);
    } else {
        print_into(copy, sizeof copy, "%s >%s 2>&1", line, said);
        ended = system(copy);
    }
    if (WIFEXITED(ended) && (WEXITSTATUS(ended) == status || WEXITSTATUS(ended) == other))
        return WEXITSTATUS(ended);
    char *const s = whole_file(said);
    fprintf(stderr, "%s\n%.4000s\n", line, s != NULL ? s : "");
    free(s);
    fail_msg("a command does not end with status %d", status);
    return status;
}
__attribute__((format(printf, 1, 2))) static inline void must_run(const char *how, ...) {
    va_list args;
    va_start(args, how);
    (void)must_end(false, 0, 0, how, args);
    va_end(args);
}
/* The converter, whose name is the first word, converts; refuses; does one of both. */
__attribute__((format(printf, 1, 2))) static inline void must_convert(const char *how, ...) {
    va_list args;
    va_start(args, how);
    (void)must_end(true, 0, 0, how, args);
    va_end(args);
}
__attribute__((format(printf, 1, 2))) static inline void must_refuse(const char *how, ...) {
    va_list args;
    va_start(args, how);
    (void)must_end(true, REFUSED, REFUSED, how, args);
    va_end(args);
}
__attribute__((format(printf, 1, 2))) static inline bool converts(const char *how, ...) {
    va_list args;
    va_start(args, how);
    const int status = must_end(true, 0, REFUSED, how, args);
    va_end(args);
    return status == 0;
}

static inline const char *compiler(void) { return setting("CC", "cc"); }

/* A file NAME in the scratch directory, which is written. */
static inline FILE *open_file(const char *name) {
    char path[NAME_BYTES];
    print_into(path, sizeof path, "%s/%s", scratch, name);
    FILE *const f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

/* Functions of numbers that are known when it is compiled are libm's, too (-fno-builtin). Tables to
 * unwind the stack by, which nobody reads, would take a twentieth of the time. */
#define COMMON_FLAGS                                                                           \
    "-std=gnu11 -fno-builtin -fPIC -ffp-contract=off -fno-asynchronous-unwind-tables"

/* Derivatives of a dual stand in few registers of the widest vectors that this machine has: sixteen
 * of them are compiled in a third of the time. What they are has the same bits. */
static inline const char *machine_flags(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        return "-mavx512f -mavx512vl -mavx512dq";
    if (__builtin_cpu_supports("avx2")) return "-mavx2";
#endif
    return "";
}

/* ---- what was compiled before ---- */

/* Two hashes of all that a compiler is given; files in it are each seen once. */
typedef struct digest {
    uint64_t a, b;
    char seen[128][NAME_BYTES];
    size_t n;
} digest;

static inline void digest_text(digest *d, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        d->a = (d->a ^ (unsigned char)s[i]) * 0x100000001b3u;
        d->b = (d->b ^ (unsigned char)s[i]) * 0x9e3779b97f4a7c15u;
        d->b ^= d->b >> 29;
    }
}

static inline bool digest_file(digest *d, const char *folder, const char *name);

/* The file and, of what it includes in quotes, what is in its folder, in the scratch directory or
 * here; false: it is not there. */
static inline bool digest_path(digest *d, const char *path) {
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->seen[i], path) == 0) return true;
    char *const s = whole_file(path);
    if (s == NULL) return false;
    assert_true(d->n < sizeof d->seen / sizeof *d->seen);
    print_into(d->seen[d->n++], NAME_BYTES, "%s", path);
    digest_text(d, s, strlen(s) + 1);
    char name[NAME_BYTES], folder[NAME_BYTES];
    print_into(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    const char *const folders[] = {folder, scratch, here, "test/convert"};
    for (const char *at = s; (at = strstr(at, "#include \"")) != NULL; at++) {
        (void)sscanf(at, "#include \"%255[^\"]", name);
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
            if (digest_file(d, folders[i], name)) break;
    }
    free(s);
    return true;
}

static inline bool digest_file(digest *d, const char *folder, const char *name) {
    char path[2 * NAME_BYTES];
    print_into(path, sizeof path, "%s/%s", folder, name);
    return digest_path(d, path);
}

/* What is the same for all: the compiler, and every header of the library. */
static inline digest digest_of_headers(void) {
    static digest all;
    if (all.a != 0) return all;
    char said[NAME_BYTES];
    print_into(said, sizeof said, "%s/version", scratch);
    must_run("%s --version && cp %s/said %s", compiler(), scratch, said);
    assert_true(digest_path(&all, said));
    glob_t headers;
    assert_int_equal(glob("include/wengert/*", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        all.n = 0;
        assert_true(digest_path(&all, headers.gl_pathv[i]));
    }
    globfree(&headers);
    all.n = 0;
    return all;
}

/* Writes where what is made in this way of a file in the scratch directory, and of other sources
 * there that are among the flags, is kept (scratch.h); true: it is there. The scratch directory,
 * whose name is another one each time, is no part of the flags. */
static inline bool is_kept(char *path, size_t room, const char *way, const char *name,
                           const char *flags) {
    digest d = digest_of_headers();
    digest_text(&d, way, strlen(way) + 1);
    digest_text(&d, compiler(), strlen(compiler()) + 1);
    digest_text(&d, machine_flags(), strlen(machine_flags()) + 1);
    const size_t n = strlen(scratch);
    for (const char *s = flags, *end; *s; s = end) {
        end = strstr(s, scratch);
        if (end == NULL) end = s + strlen(s);
        digest_text(&d, s, (size_t)(end - s));
        if (!*end) break;
        char other[NAME_BYTES];
        print_into(other, sizeof other, "%.*s", (int)strcspn(end, " "), end);
        end += n;
        if (strcmp(other + strlen(other) - 2, ".c") == 0) assert_true(digest_path(&d, other));
    }
    assert_true(digest_file(&d, scratch, name));
    print_into(path, room, COMPILED_BEFORE "/converted-%016llx%016llx", (unsigned long long)d.a,
               (unsigned long long)d.b);
    return access(path, F_OK) == 0;
}
static inline void have_folder(const char *name) {
    assert_true(mkdir(name, 0777) == 0 || errno == EEXIST);
}

/* Where it is made, in the same folder; and what was made to its end gets its name. */
static inline void make_kept(char *made, size_t room, const char *path) {
    have_folder(COMPILED_BEFORE);
    print_into(made, room, "%s.%ld", path, (long)getpid());
}
static inline void keep(const char *made, const char *path) {
    assert_int_equal(rename(made, path), 0);
}

/* The folder of wengert.h, precompiled with these flags as far as they are no warnings. */
static inline void known_folder(char *to, size_t room, const char *flags) {
    const char *const end = strstr(flags, " -W");
    print_into(to, room, "%s/known%.*s", scratch,
               (int)(end != NULL ? (size_t)(end - flags) : strlen(flags)), flags);
    for (char *s = to + strlen(scratch) + 1; *s; s++)
        if (!isalnum((unsigned char)*s)) *s = '_';
}
/* Options by which gcc has it where a file includes it before all else, and those by which it is
 * included before a file: a short one is compiled in two thirds of the time. */
static inline void find_precompiled(char *to, size_t room, const char *flags) {
    char folder[NAME_BYTES];
    known_folder(folder, sizeof folder, flags);
    print_into(to, room, "-Winvalid-pch -I%s", folder);
}
static inline void include_precompiled(char *to, size_t room, const char *flags) {
    char folder[NAME_BYTES];
    known_folder(folder, sizeof folder, flags);
    print_into(to, room, "-Winvalid-pch -include %s/wengert.h", folder);
}
/* Where flags have them: makes it. */
static inline void precompile(const char *flags) {
    char folder[NAME_BYTES], path[NAME_BYTES + 16];
    const char *const end = strstr(flags, " -W");
    if (strstr(flags, "-Winvalid-pch") == NULL || end == NULL) return;
    known_folder(folder, sizeof folder, flags);
    print_into(path, sizeof path, "%s/wengert.h.gch", folder);
    if (access(path, F_OK) == 0) return;
    have_folder(folder);
    must_run("%s " COMMON_FLAGS " %s %.*s -I%s/include -x c-header %s/include/wengert.h -o %s",
             compiler(), machine_flags(), (int)(end - flags), flags, here, here, path);
}

/* A library NAME.so of NAME.c in the scratch directory. The functions of ours and of libraries of
 * C that it calls are those of the program that loads it. */
static inline void build_library(const char *name, const char *flags) {
    char source[NAME_BYTES], path[NAME_BYTES], made[NAME_BYTES + 16], loaded[NAME_BYTES],
        target[sizeof here + NAME_BYTES];
    print_into(source, sizeof source, "%s.c", name);
    print_into(loaded, sizeof loaded, "%s/%s.so", scratch, name);
    if (!is_kept(path, sizeof path, "library", source, flags)) {
        precompile(flags);
        make_kept(made, sizeof made, path);
        must_run("%s " COMMON_FLAGS
                 " %s -shared -nostdlib -Wl,-Bsymbolic %s -I%s/include -I%s -o %s %s/%s",
                 compiler(), machine_flags(), flags, here, here, made, scratch, source);
        keep(made, path);
    }
    print_into(target, sizeof target, "%s/%s", here, path);
    (void)unlink(loaded);
    assert_int_equal(symlink(target, loaded), 0);
}

/* The compiler takes a file in the scratch directory. */
static inline void take(const char *source, const char *flags) {
    char path[NAME_BYTES], made[NAME_BYTES + 16];
    if (is_kept(path, sizeof path, "taken", source, flags)) return;
    precompile(flags);
    make_kept(made, sizeof made, path);
    must_run("%s " COMMON_FLAGS " %s -fsyntax-only %s -I%s/include -I%s -x c %s/%s", compiler(),
             machine_flags(), flags, here, here, scratch, source);
    FILE *const f = fopen(made, "w");
    assert_non_null(f);
    (void)fclose(f);
    keep(made, path);
}
/* A leak sanitizer goes through what threads have of their own in libraries, of closed ones,
 * too, and dies. */
static inline void close_library(void *handle) {
    if (!SANITIZED) (void)dlclose(handle);
}
static inline void *load_library(const char *name) {
    char path[NAME_BYTES];
    print_into(path, sizeof path, "%s/%s.so", scratch, name);
    void *const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) fail_msg("%s", dlerror());
    return handle;
}

/* Is it the name of a function of math.h for float? */
static inline bool is_of_float(const char *s, size_t n) {
    static const char *const all[] = {"sinf", "cosf", "sqrtf", "expf", "logf", "powf", "fabsf"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i]) == n && strncmp(s, all[i], n) == 0) return true;
    return false;
}

/* The text with `number`, double or long double, in the place of all of C's floating types, and
 * functions of math.h for it. */
static inline void put_retyped(FILE *to, const char *s, const char *number) {
    fprintf(to, "#include <tgmath.h>\ntypedef %s wgt_number;\n", number);
    if (strcmp(number, "long double") == 0)
        fputs("#define modf modfl\n#define j0(x) j0l(x)\n#define j1(x) j1l(x)\n", to);
    while (*s) {
        if (!(isalpha((unsigned char)*s) || *s == '_')) {
            fputc(*s++, to);
            continue;
        }
        size_t n = 0;
        while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
        const bool is_long = strncmp(s, "long double", 11) == 0;
        if (is_long) n = 11;
        if (is_long || (n == 6 && strncmp(s, "double", 6) == 0) ||
            (n == 5 && strncmp(s, "float", 5) == 0))
            fputs("wgt_number", to);
        else fwrite(s, 1, n - is_of_float(s, n), to);
        s += n;
    }
}

/* What the libraries define. */
typedef void plain_function(const double *x, double *y);
typedef void long_function(const long double *x, long double *y);
typedef const char *converted_function(const double *x, double *y, double *jacobian,
                                       double *reverse, double *forward);

/* Statements that take the rows of a Jacobian from FUNCTION_wg_vjp, with arguments that are
 * called `data`: into all three, of which there is one. */
static inline void put_rows(FILE *to, const char *function, size_t n, const char *x, size_t m) {
    fprintf(
        to,
        "    double w[%zu] = {0}, *const into[] = {jacobian, reverse, forward};\n"
        "    for (int j = 0; j < 3 * %zu; j++) {\n        const int row = j %% %zu;\n        w[row] = 1;\n"
        "        if (%s_wg_vjp(%zu, %s, %zu, y, w, into[j / %zu] + row * %zu, &data) != WG_OK) return \"vjp\";\n        w[row] = 0;\n"
        "    }\n    return NULL;\n}\n",
        m, m, m, function, n, x, m, m, n);
}

/* The statement that gives the derivatives of a recording, with arguments that are called
 * `data`. */
static inline void put_recorded(FILE *to, const mode *how, const char *function, size_t n,
                                const char *x, size_t m) {
    fprintf(to, "    return %s(%s_wg_callback",
            how->three_types ? "wgt_of_three_types" : "wgt_derivatives", function);
    if (how->three_types)
        fprintf(to, "_real, %s_wg_callback_double, %s_wg_callback_dual", function, function);
    fprintf(to, ", &data, %zu, %s, %zu, y, jacobian, reverse, forward);\n}\n", n, x, m);
}

/* The function that a library has under this name. */
static inline void *found(void *library, const char *name) {
    void *const p = dlsym(library, name);
    if (p == NULL) fail_msg("%s is not in the library", name);
    return p;
}
#define FOUND(library, name, to)                                                               \
    do {                                                                                       \
        void *const p_ = found(library, name);                                                 \
        memcpy(&(to), &p_, sizeof p_);                                                         \
    } while (0)

/* Differences of long double over steps of 2^-16 and 2^-17 of an input, extrapolated: what is
 * left is a fourth power of the step. */
static inline void differences(long_function *f, size_t n, const double *x, size_t m,
                               long double *jacobian) {
    for (size_t j = 0; j < n; j++) {
        long double slope[2][MOST_OUTPUTS];
        for (size_t level = 0; level < 2; level++) {
            const long double size = fabs(x[j]) > 1 ? fabsl((long double)x[j]) : 1;
            const long double h = size / (long double)(level == 0 ? 1 << 16 : 1 << 17);
            long double at[MOST_INPUTS], up[MOST_OUTPUTS], down[MOST_OUTPUTS];
            for (size_t i = 0; i < n; i++) at[i] = x[i];
            at[j] = (long double)x[j] + h;
            f(at, up);
            at[j] = (long double)x[j] - h;
            f(at, down);
            for (size_t i = 0; i < m; i++) slope[level][i] = (up[i] - down[i]) / (2 * h);
        }
        for (size_t i = 0; i < m; i++)
            jacobian[i * n + j] = (4 * slope[1][i] - slope[0][i]) / 3;
    }
}

/* Values are near those of the original, whose routines of BLAS are others. */
static bool values_are_near;

/* Values have the bits of the original; the Jacobian by the driver, by reverse and forward
 * sweeps are the same, and that of differences. `who` is in the message. */
static inline void compare(const char *who, size_t n, const double *x, size_t m,
                           plain_function *plain, long_function *wide,
                           converted_function *converted) {
    double y[MOST_OUTPUTS], value[MOST_OUTPUTS], j[3][MOST_OUTPUTS * MOST_INPUTS];
    long double d[MOST_OUTPUTS * MOST_INPUTS];
    plain(x, y);
    const char *const said = converted(x, value, j[0], j[1], j[2]);
    if (said != NULL) fail_msg("%s: %s", who, said);
    for (size_t i = 0; i < m; i++)
        if (values_are_near ? !(fabs(y[i] - value[i]) <=
                                TOL_CONVERTED_ULP * DBL_EPSILON * fmax(1, fabs(y[i])))
                            : memcmp(&y[i], &value[i], sizeof *y) != 0)
            fail_msg("%s: output %zu is %.17g, of the original %.17g", who, i, value[i], y[i]);
    differences(wide, n, x, m, d);
    for (size_t i = 0; i < m; i++) {
        double largest = fabs(y[i]);
        for (size_t k = 0; k < n; k++) largest = fmax(largest, fabs(j[1][i * n + k]));
        for (size_t k = 0; k < n; k++) {
            const size_t at = i * n + k;
            const double reverse = j[1][at];
            if (!(fabs(j[0][at] - reverse) <=
                  TOL_FORWARD_REVERSE_ULP * DBL_EPSILON * largest) ||
                !(fabs(j[2][at] - reverse) <= TOL_FORWARD_REVERSE_ULP * DBL_EPSILON * largest))
                fail_msg(
                    "%s: output %zu by input %zu: reverse %.17g, forward %.17g, driver %.17g",
                    who, i, k, reverse, j[2][at], j[0][at]);
            if (!(fabsl((long double)reverse - d[at]) <=
                  TOL_CONVERTED_ULP * DBL_EPSILON * largest))
                fail_msg("%s: output %zu by input %zu: %.17g, by differences %.17g", who, i, k,
                         reverse, (double)d[at]);
        }
    }
}

#endif
