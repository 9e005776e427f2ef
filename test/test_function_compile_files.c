/* SPDX-License-Identifier: MIT */
/* test_function_compile_files.c - what is compiled and loaded, from where, by which compiler,
 * and what is said when it is not. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "compile_case.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <wengert/derive.h>

/* ---- where it comes from ---- */

/* Compiled in that directory: is it native, and was it there? */
static void expect(hand *h, const char *with, const char *const *flags, const char *where,
                   int native, int cached) {
    wg_compiled how;
    wg_function *const g = compiled(h->t, h->f, with, flags, where, &how);
    if (how.native != native) print_error("%s\n", how.why);
    assert_int_equal(how.native, native);
    assert_int_equal(how.cached, cached);
    assert_true(native ? *how.why == 0 : *how.why != 0);
    compare(h->f, g, 17, 1, 1);
    wg_function_free(g);
}

static int command(const char *format, const char *a, const char *b) {
    char line[512];
    (void)snprintf(line, sizeof line, format, a, b);
    return system(line);
}

static void what_was_compiled_is_found_again(void **state) {
    static const char *const other[] = {"-O1", NULL};
    hand h;
    char where[96];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/again", directory);
    open_small(&h, 1.25);
    expect(&h, compiler, NULL, where, 1, 0);
    expect(&h, compiler, NULL, where, 1, 1);
    expect(&h, compiler, other, where, 1, 0);
    hand_close(&h);
    open_small(&h, 1.5);
    expect(&h, compiler, NULL, where, 1, 0);
    /* only what was made is left */
    assert_int_equal(
        command("test $(ls %s | wc -l) = 3 && test $(ls %s/*.so | wc -l) = 3", where, where),
        0);
    /* two that use one library, one freed first */
    wg_compiled how;
    wg_function *const a = compiled(h.t, h.f, compiler, NULL, where, &how);
    wg_function *const b = compiled(h.t, h.f, compiler, NULL, where, &how);
    wg_function_free(a);
    compare(h.f, b, 9, 1, 1);
    wg_function_free(b);
    hand_close(&h);
}

static void a_file_that_is_not_what_was_made_is_made_again(void **state) {
    hand h;
    char where[96];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/file", directory);
    open_small(&h, 2.25);
    expect(&h, compiler, NULL, where, 1, 0);
    assert_int_equal(
        command("for f in %s/*.so; do head -c 700 $f > $f.x; mv $f.x $f; done%s", where, ""),
        0);
    expect(&h, compiler, NULL, where, 1, 0);
    assert_int_equal(command("chmod 0722 %s/*.so%s", where, ""), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    /* the one of another text under this name */
    hand other;
    char there[96];
    (void)snprintf(there, sizeof there, "%s/other", directory);
    open_small(&other, 7.25);
    expect(&other, compiler, NULL, there, 1, 0);
    assert_int_equal(command("cp %s/*.so $(ls %s/*.so)", there, where), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    /* a link to a file */
    assert_int_equal(
        command("f=$(ls %s/*.so) && mv $f %s/away && ln -s ../away $f", where, directory), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    /* a pipe, of which nobody is the writer */
    assert_int_equal(command("f=$(ls %s/*.so) && rm $f && mkfifo $f%s", where, ""), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    expect(&h, compiler, NULL, where, 1, 1);
    if (geteuid() == 0) {
        assert_int_equal(command("chown 1 %s/*.so%s", where, ""), 0);
        expect(&h, compiler, NULL, where, 1, 0);
    }
    hand_close(&other);
    hand_close(&h);
}

static void a_directory_of_others_is_not_used(void **state) {
    hand h;
    char where[96], link[96];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/open", directory);
    (void)snprintf(link, sizeof link, "%s/link", directory);
    open_small(&h, 3.25);
    expect(&h, compiler, NULL, where, 1, 0);
    assert_int_equal(chmod(where, 0770), 0);
    expect(&h, compiler, NULL, where, 0, 0);
    assert_int_equal(chmod(where, 0707), 0);
    expect(&h, compiler, NULL, where, 0, 0);
    assert_int_equal(chmod(where, 0700), 0);
    assert_int_equal(symlink(where, link), 0);
    expect(&h, compiler, NULL, link, 0, 0);
    (void)snprintf(link, sizeof link, "%s/link//", directory);
    expect(&h, compiler, NULL, link, 0, 0);
    expect(&h, compiler, NULL, where, 1, 1);
    (void)snprintf(link, sizeof link, "%s/open/", directory);
    expect(&h, compiler, NULL, link, 1, 1);
    expect(&h, compiler, NULL, "/nowhere/at/all", 0, 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(where, 1, (gid_t)-1), 0);
        expect(&h, compiler, NULL, where, 0, 0);
    }
    hand_close(&h);
}

static void without_a_compiler_functions_are_interpreted(void **state) {
    static const char *const wrong[] = {"-no-such-flag-at-all", NULL};
    hand h;
    (void)state;
    open_small(&h, 4.25);
    expect(&h, "wengert-no-such-compiler", NULL, directory, 0, 0);
    expect(&h, "/bin/false", NULL, directory, 0, 0);
    expect(&h, "/bin/true", NULL, directory, 0, 0);
    expect(&h, compiler, wrong, directory, 0, 0);
    assert_int_equal(command("! ls %s | grep -q '[-]'%s", directory, ""), 0);
    wg_function *out = h.f;
    assert_int_equal(wg_function_compile(NULL, h.f, NULL, &out, NULL), WG_ENULL);
    assert_int_equal(wg_function_compile(h.t, NULL, NULL, &out, NULL), WG_ENULL);
    assert_int_equal(wg_function_compile(h.t, h.f, NULL, NULL, NULL), WG_ENULL);
    hand_close(&h);
}

/* ---- many at a time, and compilers that are odd ---- */

typedef struct at_once {
    pthread_t thread;
    pthread_barrier_t *start;
    const wg_function *f;
    const char *where;
    wg_compiled how;
    wg_status status;
} at_once;

static void *compile_at_once(void *data) {
    at_once *const a = data;
    const wg_compile_options o = {compiler, NULL, a->where};
    wg_function *out = NULL;
    wg_tape *const t = wg_tape_new(NULL);
    (void)pthread_barrier_wait(a->start);
    a->status = wg_function_compile(t, a->f, &o, &out, &a->how);
    wg_function_free(out);
    wg_tape_free(t);
    return NULL;
}

static void threads_compile_the_same_at_once(void **state) {
    enum { THREADS = 4 };
    at_once a[THREADS];
    pthread_barrier_t start;
    hand h;
    char where[96];
    (void)state;
    open_small(&h, 8.25);
    (void)snprintf(where, sizeof where, "%s/threads", directory);
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++) {
        a[k] = (at_once){.start = &start, .f = h.f, .where = where};
        assert_int_equal(pthread_create(&a[k].thread, NULL, compile_at_once, &a[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(a[k].thread, NULL), 0);
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(a[k].status, WG_OK);
        if (!a[k].how.native) fail_msg("%s", a[k].how.why);
    }
    assert_int_equal(command("test $(ls %s | wc -l) = 1%s", where, ""), 0);
    (void)pthread_barrier_destroy(&start);
    hand_close(&h);
}

/* A program of the shell that ends as the compiler. */
static void write_compiler(char *path, size_t room, const char *name, const char *text) {
    (void)snprintf(path, room, "%s/%s", directory, name);
    FILE *const f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fprintf(f, "#!/bin/sh\n%s\nexec %s \"$@\" $more\n", text, compiler) > 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static void what_a_compiler_leaves_running_is_not_waited_for(void **state) {
    hand h;
    char path[96], where[96], text[256];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/daemon", directory);
    (void)snprintf(text, sizeof text, "sleep 100 & echo $! >>%s/sleeping", directory);
    write_compiler(path, sizeof path, "starter", text);
    open_small(&h, 9.25);
    const time_t start = time(NULL);
    expect(&h, path, NULL, where, 1, 0);
    assert_true(time(NULL) - start < 60);
    assert_int_equal(command("kill $(cat %s/sleeping)%s", directory, ""), 0);
    hand_close(&h);
}

/* As with -march=native on two machines. */
static void what_flags_mean_is_part_of_the_key(void **state) {
    hand h;
    char path[96], where[96], text[256];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/meaning", directory);
    (void)snprintf(text, sizeof text, "test -f %s/moved && more=-DMOVED=1", directory);
    write_compiler(path, sizeof path, "native", text);
    open_small(&h, 10.25);
    expect(&h, path, NULL, where, 1, 0);
    expect(&h, path, NULL, where, 1, 1);
    assert_int_equal(command("touch %s/moved%s", directory, ""), 0);
    expect(&h, path, NULL, where, 1, 0);
    expect(&h, path, NULL, where, 1, 1);
    hand_close(&h);
}

/* Where clang is: it takes flags from its environment, too. */
static void what_clang_adds_by_itself_is_part_of_the_key(void **state) {
    hand h;
    char where[96];
    (void)state;
    if (system("clang --version >/dev/null 2>&1") != 0) skip();
    (void)snprintf(where, sizeof where, "%s/clang", directory);
    open_small(&h, 12.25);
    expect(&h, "clang", NULL, where, 1, 0);
    expect(&h, "clang", NULL, where, 1, 1);
    assert_int_equal(setenv("CCC_OVERRIDE_OPTIONS", "#+-DMOVED=1", 1), 0);
    expect(&h, "clang", NULL, where, 1, 0);
    assert_int_equal(unsetenv("CCC_OVERRIDE_OPTIONS"), 0);
    expect(&h, "clang", NULL, where, 1, 1);
    hand_close(&h);
}

static void files_of_processes_that_are_gone_are_removed(void **state) {
    hand h;
    char where[96], line[512];
    (void)state;
    (void)snprintf(where, sizeof where, "%s/left", directory);
    open_small(&h, 11.25);
    assert_int_equal(mkdir(where, 0700), 0);
    (void)snprintf(line, sizeof line,
                   "cd %s && k=0123456789abcdef0123456789abcdef && "
                   "touch -d '2 days ago' $k-999999999-0.c $k-999999999-1.so $k-%ld-0.c $k.so "
                   "a-999999999-0.c && touch $k-999999999-2.c",
                   where, (long)getpid());
    assert_int_equal(system(line), 0);
    expect(&h, compiler, NULL, where, 1, 0);
    (void)snprintf(
        line, sizeof line,
        "cd %s && test $(ls | wc -l) = 5 && ls *-999999999-2.c *-%ld-0.c a-* >/dev/null", where,
        (long)getpid());
    assert_int_equal(system(line), 0);
    hand_close(&h);
}

/* ---- what is said ---- */

static const wg_scalar_op *long_operation(void) {
    static const char name[] = "an operation with a name that is longer than anybody would "
                               "ever write, though a program may";
    static wg_scalar_op op;
    op = wgi_user_looked_up;
    op.name = name;
    return &op;
}

static void reasons_are_whole(void **state) {
    hand h;
    wg_compiled how;
    char where[PATH_BYTES];
    (void)state;
    hand_open(&h);
    const uint32_t x = hand_input(&h, "x", 1, 1, 0);
    const uint32_t y = hand_partial(&h, long_operation(), WGI_NODE_OP, 0, &x);
    hand_output(&h, "y", 1, 1, 0, &y);
    hand_finish(&h);
    wg_function_free(compiled(h.t, h.f, compiler, NULL, directory, &how));
    assert_non_null(strstr(how.why, "cannot be written"));
    hand_close(&h);
    open_small(&h, 12.25);
    /* what is wrong with flags, and not what they define */
    static const char *const missing[] = {"/not/there.o", NULL};
    wg_function_free(compiled(h.t, h.f, compiler, missing, directory, &how));
    assert_int_equal(how.native, 0);
    assert_non_null(strstr(how.why, "/not/there.o"));
    assert_null(strstr(how.why, "#define"));
    /* no part of a path is taken for all of it */
    memset(where, 'd', sizeof where);
    memcpy(where, directory, strlen(directory));
    for (size_t i = strlen(directory); i < sizeof where; i += 100) where[i] = '/';
    where[sizeof where - 1] = 0;
    wg_function_free(compiled(h.t, h.f, compiler, NULL, where, &how));
    assert_int_equal(how.native, 0);
    assert_non_null(strstr(how.why, "too long"));
    hand_close(&h);
}

typedef struct scarce {
    long calls, fail_at, live;
} scarce;
static void *scarce_reserve(void *ctx, size_t bytes) {
    scarce *const s = ctx;
    if (s->calls++ == s->fail_at) return NULL;
    void *const p =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    s->live += p != MAP_FAILED;
    return p != MAP_FAILED ? p : NULL;
}
static int scarce_commit(void *ctx, void *p, size_t bytes) {
    scarce *const s = ctx;
    return s->calls++ == s->fail_at ? 1 : mprotect(p, bytes, PROT_READ | PROT_WRITE);
}
static void scarce_release(void *ctx, void *p, size_t bytes) {
    ((scarce *)ctx)->live--;
    (void)munmap(p, bytes);
}

static void no_memory_is_said_to_be_that(void **state) {
    hand h;
    scarce s = {0, -1, 0};
    long failed = 0;
    (void)state;
    open_small(&h, 13.25);
    wg_function_free(must_compile_to(h.t, h.f, directory));
    for (int done = 0; !done;) {
        static const char *const quick[] = {"-O1", NULL};
        const wg_compile_options o = {compiler, quick, directory};
        const wg_options options = {
            .memory = {scarce_reserve, scarce_commit, scarce_release, &s}};
        wg_function *copy = NULL, *out = NULL;
        wg_compiled how;
        s.fail_at = -1;
        wg_tape *const t = wg_tape_new(&options);
        assert_non_null(t);
        assert_int_equal(wg_function_join(t, 1, (const wg_function *const[]){h.f}, &copy),
                         WG_OK);
        s.calls = 0, s.fail_at = failed;
        const wg_status status = wg_function_compile(t, copy, &o, &out, &how);
        done = s.calls <= s.fail_at;
        assert_int_equal(status, done ? WG_OK : WG_ENOMEM);
        assert_int_equal(out != NULL, done);
        if (done) assert_int_equal(how.native, 1);
        s.fail_at = -1;
        wg_function_free(out);
        wg_function_free(copy);
        wg_tape_free(t);
        assert_int_equal(s.live, 0);
        failed++;
    }
    assert_true(failed > 3);
    hand_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_compile_the_same_at_once),
        cmocka_unit_test(what_a_compiler_leaves_running_is_not_waited_for),
        cmocka_unit_test(what_flags_mean_is_part_of_the_key),
        cmocka_unit_test(what_clang_adds_by_itself_is_part_of_the_key),
        cmocka_unit_test(files_of_processes_that_are_gone_are_removed),
        cmocka_unit_test(reasons_are_whole),
        cmocka_unit_test(no_memory_is_said_to_be_that),
        cmocka_unit_test(what_was_compiled_is_found_again),
        cmocka_unit_test(a_file_that_is_not_what_was_made_is_made_again),
        cmocka_unit_test(a_directory_of_others_is_not_used),
        cmocka_unit_test(without_a_compiler_functions_are_interpreted),
    };
    return cmocka_run_group_tests(tests, open_directory, close_directory);
}
