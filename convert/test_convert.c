/* SPDX-License-Identifier: MIT */
/* test_convert.c - the files of test/convert, a construct of C each: converted, compiled
 * without a warning, loaded; values are compared with the original's bit for bit, derivatives
 * with differences of the original in long double. The head of a file says how:
 *     options: --function f ..     of the converter
 *     files: other                 .c files that are given besides
 *     inputs: 0.5 -2               the numbers that are `in[0]`, ..
 *     outputs: 1                   how many there are
 *     given: STATEMENTS            before the call, and before the arguments
 *     call: STATEMENTS             of the original, from in[] to out[]
 *     arguments: .x = in           what the callback's arguments are
 *     adjoint: refused             what --to adjoint answers; `rounds`: floats stay floats there
 *     generic: refused             what --to generic answers
 *     rounds: yes                  floats round the original's values, which are compared in double
 *     behind: other                a file that is included behind the original, and behind what is converted
 *     near: yes                    values are near the original's
 *     about: regions               a mode (test_build.h) that it is for: run in any case
 * A NAME.expected beside it is what the converter writes, line for line: WRITE=1 writes all
 * those that are there anew. Names of files as arguments: only these. KEEP=1 keeps what was
 * made. */
#define _DEFAULT_SOURCE
#include "convert/test_build.h"

enum { MOST_CASES = 160 };

typedef struct construct {
    char name[64], title[192];
    char options[512], files[256], given[1024], call[1024], arguments[1024], rounds[8],
        adjoint[16], generic[16], near[8], behind[64], about[16];
    double x[MOST_INPUTS];
    size_t n, m, turn;
} construct;

/* What is written is compiled and run by turns: the recording or the adjoint, and one of the
 * others; with DEPTH=2 both, and two of the others; and what the construct is about. Constructs
 * that are named have every mode. clang has one of a construct, and of every third one, most often
 * another one than gcc has of it. Modes that are not run are converted where the answer is known,
 * with DEPTH=2, and, every second one, under a sanitizer, which sees the converter. */
static bool is_about(const construct *c, const mode *how) {
    return strncmp(c->about, how->name, strlen(how->name)) == 0;
}
static enum { SOME, MORE, EVERY } modes_of_one;
static use use_of(const construct *c, const mode *how) {
#if SANITIZED
    (void)c, (void)how;
    return CONVERTED;
#else
    const size_t at = (size_t)(how - modes), others = MODES - 2, turn = c->turn / 2 % others;
#ifdef __clang__
    if (modes_of_one == SOME) return at == (c->turn + 2) % MODES ? how->use : CONVERTED;
#endif
    bool runs = modes_of_one == EVERY || is_about(c, how);
    if (at == 0 || at == MODES - 1)
        runs |= modes_of_one != SOME || (at == 0) == (c->turn % 2 == 0);
    else runs |= (at - 1 + others - turn) % (modes_of_one == SOME ? others : 2) == 0;
    return runs ? how->use : CONVERTED;
#endif
}

/* Is nothing to be included before its file? That takes longer, and what a file does not include is
 * the same for all compilers: gcc asks for every fourth one, another one, which runs less, for all. */
static bool is_alone(const construct *c, const mode *how) {
#ifdef __clang__
    (void)c;
    return how->alone;
#else
    return how->alone && c->turn % 4 == 0;
#endif
}

/* Optimised, every second construct by itself, the others as quickly as may be. */
static const char *flags_of(const construct *c, const mode *how) {
    if (how->alone && !is_alone(c, how)) return QUICK_WIDE;
    const bool optimised = modes_of_one != SOME || c->turn / 2 % 2 == 0;
    return optimised || strcmp(how->flags, OPTIMISED) != 0 ? how->flags : QUICK;
}

static void read_construct(construct *c, const char *path) {
    char *const s = whole_file(path);
    char inputs[512] = "", outputs[16] = "";
    const struct {
        const char *key;
        char *to;
        size_t room;
    } keys[] = {{"options", c->options, sizeof c->options},
                {"files", c->files, sizeof c->files},
                {"given", c->given, sizeof c->given},
                {"call", c->call, sizeof c->call},
                {"arguments", c->arguments, sizeof c->arguments},
                {"adjoint", c->adjoint, sizeof c->adjoint},
                {"near", c->near, sizeof c->near},
                {"behind", c->behind, sizeof c->behind},
                {"about", c->about, sizeof c->about},
                {"generic", c->generic, sizeof c->generic},
                {"rounds", c->rounds, sizeof c->rounds},
                {"inputs", inputs, sizeof inputs},
                {"outputs", outputs, sizeof outputs}};
    memset(c, 0, sizeof *c);
    const char *const slash = strrchr(path, '/');
    print_into(c->name, sizeof c->name, "%.*s", (int)strcspn(slash + 1, "."), slash + 1);
    char *rest = s, title[112] = "";
    for (char *line; (line = strsep(&rest, "\n")) != NULL && strcmp(line, " */") != 0;) {
        if (!*title && strncmp(line, "/* SPDX", 7) != 0)
            print_into(title, sizeof title, "%.*s", (int)sizeof title - 1, line + 3);
        if (strncmp(line, " * ", 3) != 0) continue;
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const size_t n = strlen(keys[k].key);
            if (strncmp(line + 3, keys[k].key, n) != 0 || line[3 + n] != ':') continue;
            const size_t used = strlen(keys[k].to);
            print_into(keys[k].to + used, keys[k].room - used, "%s\n",
                       line + 3 + n + 1 + (line[3 + n + 1] == ' '));
        }
    }
    const char *at = inputs;
    for (char *end; c->n < MOST_INPUTS; at = end, c->n++) {
        c->x[c->n] = strtod(at, &end);
        if (end == at) break;
    }
    c->m = (size_t)strtoul(outputs, NULL, 10);
    print_into(c->title, sizeof c->title, "%s: %s", c->name, title);
    free(s);
}

/* The words of `from`, each with texts around it. */
static const char *words(char *to, size_t room, const char *from, const char *before,
                         const char *behind) {
    size_t used = 0;
    *to = 0;
    while (*(from += strspn(from, " \n")) && used < room) {
        const size_t n = strcspn(from, " \n");
        used +=
            (size_t)snprintf(to + used, room - used, "%s%.*s%s", before, (int)n, from, behind);
        from += n;
    }
    assert_true(used < room);
    return to;
}

static void write_call(FILE *to, const construct *c, const char *name, const char *number) {
    fprintf(to,
            "\nvoid %s(const %s *wgt_from, %s *out);\nvoid %s(const %s *wgt_from, %s *out) {\n",
            name, number, number, name, number, number);
    fprintf(
        to,
        "    %s in[%d] = {0};\n    for (int wgt_i = 0; wgt_i < %zu; wgt_i++) in[wgt_i] = wgt_from[wgt_i];\n",
        number, MOST_INPUTS, c->n);
    fprintf(to, "    %s\n    %s\n}\n", c->given, c->call);
}

/* All of test/convert with `number` as its type, in a folder of the scratch directory: once. */
static void retype_all(const char *folder, const char *number) {
    char path[NAME_BYTES];
    glob_t all;
    print_into(path, sizeof path, "%s/%s", scratch, folder);
    if (access(path, F_OK) == 0) return;
    must_run("mkdir %s", path);
    assert_int_equal(glob("test/convert/*.[ch]", 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        print_into(path, sizeof path, "%s/%s", folder, strrchr(all.gl_pathv[i], '/') + 1);
        char *const s = whole_file(all.gl_pathv[i]);
        FILE *const f = open_file(path);
        put_retyped(f, s, number);
        (void)fclose(f);
        free(s);
    }
    globfree(&all);
}

/* The original, and what else is given, with the call beneath; in long double or as it is. */
static void *original(const construct *c, bool wide) {
    char path[NAME_BYTES], library[NAME_BYTES], text[1024];
    print_into(library, sizeof library, "%s_%s", c->name, wide ? "long" : "plain");
    print_into(path, sizeof path, "%s.c", library);
    FILE *const to = open_file(path);
    const bool rounds = !wide && *c->rounds;
    const char *const folder = wide     ? "#include \"long/"
                               : rounds ? "#include \"double/"
                                        : "#include \"test/convert/";
    fputs(words(text, sizeof text, c->files, folder, ".c\"\n"), to);
    fprintf(to, "%s%s.c\"\n", folder, c->name);
    fputs(words(text, sizeof text, c->behind, folder, ".c\"\n"), to);
    if (wide) retype_all("long", "long double");
    if (rounds) retype_all("double", "double");
    char call[4096];
    FILE *const of_call = fmemopen(call, sizeof call, "w");
    write_call(of_call, c, wide ? "wgt_long_call" : "wgt_plain", "double");
    (void)fclose(of_call);
    if (wide) put_retyped(to, call, "long double");
    else fputs(call, to);
    print_into(path, sizeof path, "-O0 -w -I%s", scratch);
    (void)fclose(to);
    build_library(library, path);
    return load_library(library);
}

/* Begins with "refused", or is nothing. */
static const char *answer_to(const construct *c, const mode *how) {
    return !how->records ? c->adjoint : how->three_types ? c->generic : "";
}

static bool is_passed_over(const construct *c, const mode *how) {
    const bool sanitized = SANITIZED && ((size_t)(how - modes) + c->turn) % 2 == 0;
    return !sanitized && modes_of_one == SOME && how != modes && use_of(c, how) == CONVERTED &&
           !*answer_to(c, how);
}

static void *converted_by(const construct *c, const mode *how) {
    char function[64] = "";
    (void)sscanf(strstr(c->options, "--function"), "--function %63s", function);
    char files[1024], options[2048];
    const char *const answer = answer_to(c, how);
    const bool refused = strncmp(answer, "refused", 7) == 0;
    (refused ? must_refuse : must_convert)(
        "wengert-convert %s test/convert/%s.c %s %s -o %s/%s_wg.c -- -std=gnu11", how->options,
        c->name, words(files, sizeof files, c->files, "test/convert/", ".c "),
        words(options, sizeof options, c->options, "'", "' "), scratch, c->name);
    if (*answer) return NULL;
    if (how->header == HEADER_SAME)
        must_run("cmp %s/of_first.h %s/%s_wg.h", scratch, scratch, c->name);
    else if (how == modes) must_run("cp %s/%s_wg.h %s/of_first.h", scratch, c->name, scratch);
    if (use_of(c, how) == CONVERTED) return NULL;
    if (how->header == HEADER_ALONE) {
        char header[NAME_BYTES], precompiled[NAME_BYTES];
        print_into(header, sizeof header, "%s_wg.h", c->name);
        find_precompiled(precompiled, sizeof precompiled, QUICK);
        print_into(options, sizeof options, "%s -Wall -Wextra -Werror %s -Itest/convert", QUICK,
                   precompiled);
        take(header, options);
    }
    char library[NAME_BYTES], source[NAME_BYTES + 2], folder[SCRATCH_BYTES + 4],
        first[NAME_BYTES] = "";
    print_into(library, sizeof library, "%s_%s", c->name, how->name);
    print_into(source, sizeof source, "%s.c", library);
    FILE *const to = open_file(source);
    if (how->header == HEADER_FIRST) fprintf(to, "#include \"%s_wg.h\"\n", c->name);
    fprintf(to, "#include \"%s_wg.c\"\n#include \"convert/test_called.h\"\n", c->name);
    fputs(words(files, sizeof files, c->behind, "#include \"test/convert/", ".c\"\n"), to);
    const char *const given = strstr(c->options, "--calls");
    char callee[64] = "";
    if (!how->records && given != NULL && sscanf(given, "--calls %*[^=]=%63s", callee) == 1)
        fprintf(to, "#define %s_wg %s\n", callee, callee); /* originals are called by pointer */
    write_call(to, c, "wgt_plain", "double");
    fprintf(
        to,
        "\nconst char *wgt_converted(const double *wgt_from, double *y, double *jacobian, double *reverse, double *forward);\n"
        "const char *wgt_converted(const double *wgt_from, double *y, double *jacobian, double *reverse, double *forward) {\n"
        "    double in[%d] = {0};\n    for (int wgt_i = 0; wgt_i < %zu; wgt_i++) in[wgt_i] = wgt_from[wgt_i];\n    %s\n"
        "    %s_wg_arguments data = {%s};\n",
        MOST_INPUTS, c->n, c->given, function, *c->arguments ? c->arguments : "0");
    if (how->records) put_recorded(to, how, function, c->n, "wgt_from", c->m);
    else put_rows(to, function, c->n, "wgt_from", c->m);
    (void)fclose(to);
    print_into(folder, sizeof folder, " %s/", scratch);
    const char *const flags = flags_of(c, how);
    if (!is_alone(c, how)) include_precompiled(first, sizeof first, flags);
    print_into(options, sizeof options, "%s -Wall -Wextra -Werror %s -Itest/convert%s", flags,
               first, words(files, sizeof files, c->files, folder, "_wg.c"));
    if (use_of(c, how) == TAKEN) {
        take(source, options);
        return NULL;
    }
    build_library(library, options);
    return load_library(library);
}

static void as_expected(const construct *c) {
    char path[NAME_BYTES], made[NAME_BYTES];
    print_into(path, sizeof path, "test/convert/%s.expected", c->name);
    print_into(made, sizeof made, "%s/%s_wg.c", scratch, c->name);
    if (access(path, R_OK) != 0) return;
    if (getenv("WRITE") != NULL) must_run("cp %s %s", made, path);
    else must_run("diff -u %s %s", path, made);
}

static void check(void **state) {
    const construct *const c = *state;
    plain_function *plain = NULL, *kept;
    long_function *wide = NULL;
    converted_function *converted;
    void *same = NULL, *longer = NULL;
    if (c->n == 0 || c->m == 0 || c->m > MOST_OUTPUTS)
        fail_msg("%s: no inputs or outputs in its head", c->name);
    values_are_near = *c->near != 0;
    bool known = *c->about == 0;
    for (size_t k = 0; k < MODES; k++) known |= is_about(c, &modes[k]);
    if (!known) fail_msg("%s: it is about no mode", c->name);
    for (size_t k = 0; k < MODES; k++) {
        double a[MOST_OUTPUTS], b[MOST_OUTPUTS];
        if (is_passed_over(c, &modes[k])) continue;
        void *const library = converted_by(c, &modes[k]);
        if (k == 0) as_expected(c);
        if (library == NULL) continue;
        if (same == NULL) {
            same = original(c, false), longer = original(c, true);
            FOUND(same, "wgt_plain", plain);
            FOUND(longer, "wgt_long_call", wide);
        }
        FOUND(library, "wgt_converted", converted);
        FOUND(library, "wgt_plain", kept);
        compare(modes[k].name, c->n, c->x, c->m, plain, wide, converted);
        plain(c->x, a);
        kept(c->x, b);
        if (!*c->rounds)
            assert_memory_equal(a, b, c->m * sizeof *a); /* the original is in there, too */
        close_library(library);
    }
    if (longer != NULL) close_library(longer);
    if (same != NULL) close_library(same);
}

int main(int argc, char **argv) {
    static construct all[MOST_CASES];
    struct CMUnitTest tests[MOST_CASES];
    size_t n = 0;
    glob_t files;
    modes_of_one = argc > 1 ? EVERY : is_deep() ? MORE : SOME;
    if (glob("test/convert/*.c", 0, NULL, &files) != 0) return 1;
    if (files.gl_pathc > MOST_CASES) return 1;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        read_construct(&all[n], files.gl_pathv[i]);
        bool wanted = argc == 1;
#if defined(__clang__) && !SANITIZED
        wanted = wanted && (is_deep() || i % 3 == 0);
#endif
        for (int k = 1; k < argc; k++) wanted |= strcmp(argv[k], all[n].name) == 0;
        if (!*all[n].options || !wanted) continue;
        all[n].turn = i;
        tests[n] = (struct CMUnitTest){
            .name = all[n].title, .test_func = check, .initial_state = &all[n]};
        n++;
    }
    globfree(&files);
    return _cmocka_run_group_tests("convert", tests, n, open_scratch, close_scratch);
}
