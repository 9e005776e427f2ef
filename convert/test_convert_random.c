/* SPDX-License-Identifier: MIT */
/* test_convert_random.c - programs of test_random.h, converted in every mode: values are those
 * of the original bit for bit, derivatives those of differences in long double. For PER of them
 * the compiler is started twice for the originals, and once in each mode (WG_SMALL_CODE: less
 * to compile; test_convert has the other way to record). Numbers as arguments: only these
 * programs. KEEP=1 keeps what was made. */
#define _DEFAULT_SOURCE
#include "convert/test_build.h"
#include "test/sanitized.h"
#include "convert/test_random.h"

/* One in EACH is for three types. Blocks and regions, which differ in how derivatives go
 * through them, take turns of two programs, of which one keeps numbers between calls. A program
 * whose number is given is for every mode. By itself the test has the first programs, or with DEPTH=2
 * those behind them, too, for gcc; the next ones for another compiler; and the last ones for the
 * converter under a sanitizer. */
enum { PROGRAMS = 225, PER = 25, EACH = 5 };
#if SANITIZED
enum { FIRST = 175, END = 200, DEEP_END = PROGRAMS };
#elif defined(__clang__)
enum { FIRST = 125, END = 150, DEEP_END = 175 };
#else
enum { FIRST = 0, END = 25, DEEP_END = 75 };
#endif

/* In the place of headers, which take longer to read than a program. */
static const char declarations[] =
    "double sin(double), cos(double), atan(double), sqrt(double), log(double), exp(double), fabs(double);\n"
    "typedef unsigned long size_t;\n"
    "void *memcpy(void *, const void *, unsigned long), *memmove(void *, const void *, unsigned long);\n";

/* Programs from `first` on, PER of them; or one. */
typedef struct batch {
    unsigned first, n;
    char name[64];
} batch;

static void input_of(unsigned k, double *x) {
    for (unsigned i = 0; i < RANDOM_INPUTS; i++)
        x[i] = sin(1.0 + k + 0.7 * i) + (i == 1 ? 0.5 : 0);
}

static void write_calls(FILE *to, const batch *b, const char *name, const char *number) {
    for (unsigned k = b->first; k < b->first + b->n; k++)
        fprintf(
            to,
            "\nvoid %s_%u(const %s *x, %s *y);\nvoid %s_%u(const %s *x, %s *y) {\n    const %s in[3] = {x[0], x[1], x[2]};\n"
            "    y[0] = p%u_f(in, y + 1);\n}\n",
            name, k, number, number, name, k, number, number, number, k);
}

static void *originals(const batch *b, bool wide) {
    char name[NAME_BYTES], *text = NULL;
    size_t bytes = 0;
    print_into(name, sizeof name, "%s%u.c", wide ? "long" : "plain", b->first);
    FILE *const all = open_memstream(&text, &bytes), *const to = open_file(name);
    assert_non_null(all);
    fputs("#include <math.h>\n#include <string.h>\n\n", all);
    for (unsigned k = b->first; k < b->first + b->n; k++) put_program(all, k);
    write_calls(all, b, wide ? "wgt_long" : "wgt_plain", "double");
    (void)fclose(all);
    if (wide) put_retyped(to, text, "long double");
    else fputs(text, to);
    (void)fclose(to);
    free(text);
    name[strlen(name) - 2] = 0;
    build_library(name, wide ? "-O0 -w" : "-O1 -w");
    return load_library(name);
}

/* Programs that this way of converting takes: an adjoint refuses some, as those with statics
 * that depend on the inputs. */
static bool taken[PROGRAMS]; /* by number, modulo PROGRAMS: a batch has fewer */

static bool is_left_out(const mode *how, const batch *b, unsigned k) {
    if (b->n == 1) return false;
    if (how->three_types) return k % EACH != 0;
    return how->turn != 0 && how->turn != 1 + k / 2 % 2;
}

/* The library of them, or NULL, where this mode is not run. */
static void *converted_by(const batch *b, const mode *how) {
    char name[NAME_BYTES], command[COMMAND_BYTES];
    print_into(name, sizeof name, "%s%u.c", how->name, b->first);
    FILE *const to = open_file(name);
    for (unsigned k = b->first; k < b->first + b->n; k++) {
        taken[k % PROGRAMS] = false;
        if (is_left_out(how, b, k)) continue;
        print_into(name, sizeof name, "p%u.c", k);
        FILE *const program = open_file(name);
        fputs(declarations, program);
        put_program(program, k);
        (void)fclose(program);
        print_into(
            command, sizeof command,
            "wengert-convert %s %s/p%u.c --function p%u_f --with-respect-to 'x[0:3]' --of 'return,y[0:2]' -o %s/p%u_wg.c",
            how->options, scratch, k, k, scratch, k);
        taken[k % PROGRAMS] = converts("%s", command);
        if (!taken[k % PROGRAMS]) continue;
        fprintf(to, "#include \"p%u_wg.c\"\n", k);
    }
    fputs("#include \"convert/test_called.h\"\n", to);
    for (unsigned k = b->first; k < b->first + b->n; k++) {
        if (!taken[k % PROGRAMS]) continue;
        fprintf(
            to,
            "\nconst char *wgt_converted_%u(const double *x, double *y, double *jacobian, double *reverse, double *forward);\n"
            "const char *wgt_converted_%u(const double *x, double *y, double *jacobian, double *reverse, double *forward) {\n"
            "    p%u_f_wg_arguments data = {.x = x};\n",
            k, k, k);
        print_into(name, sizeof name, "p%u_f", k);
        if (how->records) put_recorded(to, how, name, RANDOM_INPUTS, "x", RANDOM_OUTPUTS);
        else put_rows(to, name, RANDOM_INPUTS, "x", RANDOM_OUTPUTS);
    }
    (void)fclose(to);
    if (how->use == CONVERTED) return NULL;
    const char *const flags = how->alone ? QUICK_WIDE : QUICK;
    char first[NAME_BYTES + 32], options[2 * NAME_BYTES];
    include_precompiled(first, sizeof first, flags);
    print_into(options, sizeof options, "%s -Wall -Wextra -Werror %s", flags, first);
    if (how->use == TAKEN) {
        print_into(name, sizeof name, "%s%u.c", how->name, b->first);
        take(name, options);
        return NULL;
    }
    print_into(name, sizeof name, "%s%u", how->name, b->first);
    build_library(name, options);
    return load_library(name);
}

static void check(void **state) {
    const batch *const b = *state;
    char name[NAME_BYTES];
    void *same = NULL, *longer = NULL;
    for (size_t i = 0; i < MODES; i++) {
        void *const library = converted_by(b, &modes[i]);
        unsigned refused = 0;
        if (library != NULL && same == NULL)
            same = originals(b, false), longer = originals(b, true);
        for (unsigned k = b->first; k < b->first + b->n; k++) {
            if (!taken[k % PROGRAMS]) {
                refused += !is_left_out(&modes[i], b, k);
                continue;
            }
            if (library == NULL) continue;
            plain_function *plain;
            long_function *wide;
            converted_function *converted;
            double x[RANDOM_INPUTS];
            input_of(k, x);
            print_into(name, sizeof name, "wgt_plain_%u", k);
            FOUND(same, name, plain);
            print_into(name, sizeof name, "wgt_long_%u", k);
            FOUND(longer, name, wide);
            print_into(name, sizeof name, "wgt_converted_%u", k);
            FOUND(library, name, converted);
            print_into(name, sizeof name, "program %u, %s", k, modes[i].name);
            compare(name, RANDOM_INPUTS, x, RANDOM_OUTPUTS, plain, wide, converted);
        }
        /* every second one keeps numbers, and some of the others call through pointers */
        assert_true(refused <= (modes[i].records ? 0 : b->n * 3 / 4));
        if (library != NULL) close_library(library);
    }
    if (longer != NULL) close_library(longer);
    if (same != NULL) close_library(same);
}

int main(int argc, char **argv) {
    static batch all[PROGRAMS];
    static struct CMUnitTest tests[PROGRAMS];
    size_t n = 0;
    if (argc == 1)
        for (unsigned k = FIRST, end = is_deep() ? DEEP_END : END; k < end; k += PER)
            all[n++] = (batch){.first = k, .n = PER};
    for (int i = 1; i < argc && n < PROGRAMS; i++)
        all[n++] = (batch){.first = (unsigned)strtoul(argv[i], NULL, 10), .n = 1};
    for (size_t i = 0; i < n; i++) {
        batch *const b = &all[i];
        (void)snprintf(b->name, sizeof b->name, "programs_%u_to_%u_agree_in_all_modes",
                       b->first, b->first + b->n - 1);
        tests[i] = (struct CMUnitTest){.name = b->name, .test_func = check, .initial_state = b};
    }
    return _cmocka_run_group_tests("convert_random", tests, n, open_scratch, close_scratch);
}
