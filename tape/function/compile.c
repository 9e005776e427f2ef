/* SPDX-License-Identifier: MIT */
/* Functions compiled: the text of native.c goes to the system's compiler, what comes of it is
 * loaded and plugged into the program of a copy of the function.
 *
 *     DIRECTORY/KEY.so              KEY: a hash of the text, the flags, and the compiler's
 *     DIRECTORY/KEY-PID-N.c, .so    own description; these while it is made
 *
 * Nothing is loaded that is not a regular file of the user's which nobody else can write, in a
 * directory of the same kind, and that does not end with its key and a hash of all before. No
 * shell takes part. */
#define _GNU_SOURCE
#include "native.h"

#include "making.h"

#include <wengert/emit.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PATHS = 4096,
    KEY = 33,
    WHY = sizeof((wg_compiled *)0)->why,
    MOST_FLAGS = 64,
    UNIT = 400,
    LARGE = 20000, /* operations: beyond that, less optimisation */
    SLOT_ROOM = 192 << 10
};

typedef struct build {
    const char *compiler;
    const char *const *flags;
    char directory[PATHS], path[PATHS], key[KEY];
    const char *argument[MOST_FLAGS];
    size_t arguments;
    int is_clang;
    char said[1024]; /* by the compiler, of itself */
    char *why;       /* where the reason goes; of a wg_compiled */
} build;

static int fail(build *b, const char *what, const char *detail) {
    (void)snprintf(b->why, WHY, "%.60s%s%.160s", what, *detail != 0 ? ": " : "", detail);
    return 0;
}

/* ---- keys ---- */

typedef struct hash {
    uint64_t a, b;
} hash;

static int hash_bytes(void *ctx, const char *text, size_t bytes) {
    hash *const h = ctx;
    for (size_t i = 0; i < bytes; i++) {
        h->a = (h->a ^ (unsigned char)text[i]) * 0x100000001b3u;
        h->b = (h->b ^ (unsigned char)text[i]) * 0x9e3779b97f4a7c15u;
        h->b ^= h->b >> 29;
    }
    return 0;
}

/* ---- processes ---- */

/* Runs it with nothing to read; what it says first goes to `said`. Gives its exit status, or
 * -1: it could not be run. */
static int run(const char *const *argument, char *said, size_t room) {
    posix_spawn_file_actions_t actions;
    int ends[2], status = -1;
    pid_t pid = -1;
    size_t used = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        (void)close(ends[0]), (void)close(ends[1]);
        return -1;
    }
    int bad = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (bad == 0) bad = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    if (bad == 0) bad = posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    /* the strings are not changed: POSIX says so */
    char *argv[MOST_FLAGS + 1];
    for (size_t i = 0; i <= MOST_FLAGS; i++) {
        memcpy(&argv[i], &argument[i], sizeof argv[i]);
        if (argv[i] == NULL) break;
    }
    if (bad == 0) bad = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    if (bad == 0)
        for (char piece[512];;) {
            const ssize_t n = read(ends[0], piece, sizeof piece);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) break;
            const size_t take = used + (size_t)n < room ? (size_t)n : room - 1 - used;
            memcpy(said + used, piece, take);
            used += take;
        }
    said[used] = 0;
    (void)close(ends[0]);
    if (bad != 0) return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 0; /* somebody else waits for children: what it made tells */
    return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

/* ---- the directory ---- */

static int ours(const struct stat *s) {
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int is_our_directory(const char *path) {
    struct stat s;
    return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && ours(&s);
}

static int make_directory(const char *path) {
    (void)mkdir(path, S_IRWXU);
    return is_our_directory(path);
}

static int choose_directory(build *b, const char *given) {
    struct passwd entry, *found = NULL;
    char room[4096];
    int n = -1;
    if (given != NULL) {
        n = snprintf(b->directory, PATHS, "%s", given);
    } else if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) == 0 && found != NULL &&
               found->pw_dir != NULL && is_our_directory(found->pw_dir)) {
        n = snprintf(b->directory, PATHS, "%s/.cache", found->pw_dir);
        if (n > 0 && n < PATHS && make_directory(b->directory))
            n = snprintf(b->directory, PATHS, "%s/.cache/wengert", found->pw_dir);
        else n = -1;
    }
    if (given == NULL && (n < 0 || n >= PATHS || !make_directory(b->directory)))
        n = snprintf(b->directory, PATHS, "/tmp/wengert-%lu", (unsigned long)geteuid());
    if (n < 0 || n + 128 >= PATHS) return fail(b, "the path of the directory is too long", "");
    if (!make_directory(b->directory))
        return fail(b, "no directory of the user's that nobody else can write", b->directory);
    return 1;
}

/* ---- the text in a file ---- */

typedef struct file {
    int descriptor;
    off_t at;
} file;

static int to_file(void *ctx, const char *text, size_t bytes) {
    file *const f = ctx;
    while (bytes != 0) {
        const ssize_t n = pwrite(f->descriptor, text, bytes, f->at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 1;
        text += n, bytes -= (size_t)n, f->at += n;
    }
    return 0;
}

static int write_text(wgi_source *s, const wgi_native_form *form, const build *b,
                      const char *path) {
    file f = {
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR), 0};
    if (f.descriptor < 0) return 0;
    wgi_text_open(&s->o, to_file, &f);
    wgi_native_write(s, form, b->key);
    const wg_status status = wgi_text_close(&s->o);
    return (close(f.descriptor) == 0) & (status == WG_OK);
}

/* ---- what is at the end of a file: its key, and a hash of all before ---- */

enum { TRAILER = 2 * (KEY - 1) };

/* Into trailer, of the first `size` bytes. */
static int seal(const build *b, int descriptor, off_t size, char *trailer) {
    char piece[4096];
    hash h = {0xcbf29ce484222325u, 0x6a09e667f3bcc908u};
    for (off_t at = 0; at < size;) {
        const size_t most =
            size - at < (off_t)sizeof piece ? (size_t)(size - at) : sizeof piece;
        const ssize_t n = pread(descriptor, piece, most, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        (void)hash_bytes(&h, piece, (size_t)n);
        at += n;
    }
    (void)snprintf(trailer, TRAILER + 1, "%s%016llx%016llx", b->key, (unsigned long long)h.a,
                   (unsigned long long)h.b);
    return 1;
}

static int put_seal(const build *b, const char *path) {
    char trailer[TRAILER + 1];
    struct stat s;
    const int descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return 0;
    file f = {descriptor, 0};
    int done = fstat(descriptor, &s) == 0 && seal(b, descriptor, s.st_size, trailer);
    f.at = done ? s.st_size : 0;
    done = done && to_file(&f, trailer, TRAILER) == 0;
    return (close(descriptor) == 0) & done;
}

/* Is the file the user's, and whole, and of this key? */
static int is_sealed(const build *b, const char *path) {
    char trailer[TRAILER + 1], found[TRAILER + 1] = "";
    struct stat s;
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return 0;
    const int same = fstat(descriptor, &s) == 0 && S_ISREG(s.st_mode) && ours(&s) &&
                     s.st_size > TRAILER &&
                     pread(descriptor, found, TRAILER, s.st_size - TRAILER) == TRAILER &&
                     seal(b, descriptor, s.st_size - TRAILER, trailer) &&
                     memcmp(found, trailer, TRAILER) == 0;
    (void)close(descriptor);
    return same;
}

/* ---- the compiler ---- */

static void add(build *b, const char *argument) {
    if (b->arguments + 1 < MOST_FLAGS) b->argument[b->arguments++] = argument;
    b->argument[b->arguments] = NULL;
}

static void command(build *b, const wgi_native_form *form, size_t operations) {
    static const char *const always[] = {"-std=gnu11",
                                         "-w",
                                         "-shared",
                                         "-fPIC",
                                         "-ffp-contract=off",
                                         "-fno-math-errno",
                                         "-fno-trapping-math",
                                         "-fno-plt"};
    /* the text holds nothing twice; looking for it takes time and registers */
    static const char *const quick[] = {"-fno-gcse", "-fno-tree-pre"};
    static const char *const avx2[] = {"-mavx2", "-mfma"};
    static const char *const avx512[] = {"-mavx512f", "-mavx512dq", "-mavx512vl",
                                         "-mprefer-vector-width=512"};
    b->arguments = 0;
    add(b, b->compiler);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) add(b, always[i]);
    for (size_t i = 0; form->width >= 4 && i < 2; i++) add(b, avx2[i]);
    for (size_t i = 0; form->width == 8 && i < 4; i++) add(b, avx512[i]);
    add(b, operations > LARGE ? "-O1" : "-O2");
    for (size_t i = 0; !b->is_clang && i < 2; i++) add(b, quick[i]);
    for (size_t i = 0; b->flags != NULL && b->flags[i] != NULL; i++) add(b, b->flags[i]);
}

static int ask(build *b) {
    const char *const question[] = {b->compiler, "--version", NULL};
    if (run(question, b->said, sizeof b->said) != 0)
        return fail(b, "there is no compiler that can be run", b->compiler);
    b->is_clang = strstr(b->said, "clang") != NULL;
    return 1;
}

static int describe(build *b, wgi_source *s, const wgi_native_form *form) {
    hash h = {0xcbf29ce484222325u, 0x6a09e667f3bcc908u};
    (void)hash_bytes(&h, b->said, strlen(b->said) + 1);
    for (size_t i = 0; i < b->arguments; i++)
        (void)hash_bytes(&h, b->argument[i], strlen(b->argument[i]) + 1);
    wgi_text_open(&s->o, hash_bytes, &h);
    wgi_native_write(s, form, "");
    (void)wgi_text_close(&s->o);
    (void)snprintf(b->key, KEY, "%016llx%016llx", (unsigned long long)h.a,
                   (unsigned long long)h.b);
    (void)snprintf(b->path, PATHS, "%.3900s/%s.so", b->directory, b->key);
    return s->c->status == WG_OK;
}

static int compile(build *b, wgi_source *s, const wgi_native_form *form) {
    char text[PATHS], made[PATHS], said[160];
    struct stat there;
    unsigned n = 0;
    do {
        (void)snprintf(text, PATHS, "%.3900s/%s-%ld-%u.c", b->directory, b->key, (long)getpid(),
                       n);
        (void)snprintf(made, PATHS, "%.3900s/%s-%ld-%u.so", b->directory, b->key,
                       (long)getpid(), n);
    } while (lstat(text, &there) == 0 && ++n < 1000);
    if (!write_text(s, form, b, text)) return fail(b, "cannot write", text);
    add(b, "-o");
    add(b, made);
    add(b, text);
    add(b, "-lm");
    const int status = run(b->argument, said, sizeof said);
    (void)unlink(text);
    if (status == 0 && chmod(made, S_IRWXU) == 0 && put_seal(b, made) && is_sealed(b, made) &&
        rename(made, b->path) == 0)
        return 1;
    (void)unlink(made);
    for (char *p = said; *p != 0; p++)
        if (*p == '\n') *p = ' ';
    return fail(b, "the compiler failed", said);
}

/* ---- loading ---- */

enum { NATIVE_BYTES = 4096 };

static void close_native(wg_function *f) {
    (void)dlclose(f->native->library);
    f->memory.release(f->memory.ctx, f->native, NATIVE_BYTES);
    f->native = NULL;
}

static int load(build *b, wg_function *f) {
    if (!is_our_directory(b->directory) || !is_sealed(b, b->path))
        return fail(b, "not what was compiled, or not the user's only", b->path);
    void *const library = dlopen(b->path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return fail(b, "cannot be loaded", b->path);
    const char *const key = dlsym(library, WGI_NATIVE_KEY);
    void *const each = dlsym(library, WGI_NATIVE_EACH);
    const wg_memory *const m = &f->memory;
    wgi_native *native = NULL;
    if (key != NULL && each != NULL && strcmp(key, b->key) == 0)
        native = m->reserve(m->ctx, NATIVE_BYTES);
    if (native != NULL && m->commit(m->ctx, native, NATIVE_BYTES) != 0) {
        m->release(m->ctx, native, NATIVE_BYTES);
        native = NULL;
    }
    if (native == NULL) {
        (void)dlclose(library);
        return fail(b, "is not what was compiled", b->path);
    }
    native->close = close_native;
    native->library = library;
    f->native = native;
    memcpy(&f->program->native, &each, sizeof each);
    return 1;
}

/* ---- a function ---- */

static wg_status no_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

static wg_status copy(wg_tape *t, const wg_function *f, wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_compile", f != NULL,
                                   f == NULL ? 0 : f->inputs + f->outputs, out);
    if (k.c == NULL) return s;
    if (s == WG_OK) {
        wgi_making_inputs_of(&k, f);
        const uint32_t *const map = wgi_making_take(&k, f, NULL);
        wgi_making_room(&k, f->m);
        for (size_t j = 0; j < f->outputs && k.c->status == WG_OK; j++)
            wgi_making_output(&k, f->output[j].name, f->output[j].rows, f->output[j].cols,
                              f->output[j].flags);
        for (size_t j = 0; j < f->m && k.c->status == WG_OK; j++)
            wgi_making_put(&k, map[f->result[j]]);
    }
    return wgi_making_end(&k, s, out);
}

/* Gives 0 with a reason where there is none; a failure of memory is the tape's. */
static int make_native(wgi_core *c, wg_function *f, const wg_compile_options *o,
                       wg_compiled *compiled) {
    static const char call[] = "wg_function_compile";
    const wgi_native_form form = {wgi_native_width(f->program), UNIT, SLOT_ROOM};
    build b;
    wgi_source s;
    memset(&b, 0, sizeof b);
    b.compiler = o != NULL && o->compiler != NULL ? o->compiler : "cc";
    b.flags = o != NULL ? o->flags : NULL;
    b.why = compiled->why;
    if (f->each == 0) return fail(&b, "nothing is done at each point", "");
    if (wgi_source_open(&s, c, call, f, "wgi") != WG_OK || wgi_native_plan(&s, &form) != WG_OK)
        return fail(&b, c->message, "");
    if (!ask(&b)) return 0;
    command(&b, &form, f->each);
    if (b.arguments + 6 >= MOST_FLAGS) return fail(&b, "too many flags", "");
    if (!choose_directory(&b, o != NULL ? o->directory : NULL) || !describe(&b, &s, &form))
        return 0;
    compiled->cached = is_sealed(&b, b.path);
    if (compiled->cached && load(&b, f)) return 1;
    compiled->cached = 0;
    return compile(&b, &s, &form) && load(&b, f);
}

wg_status wg_function_compile(wg_tape *t, const wg_function *f,
                              const wg_compile_options *options, wg_function **out,
                              wg_compiled *compiled) {
    wg_compiled here;
    wgi_drive d;
    if (compiled == NULL) compiled = &here;
    memset(compiled, 0, sizeof *compiled);
    wg_status s = copy(t, f, out);
    if (s != WG_OK) return s;
    s = wgi_drive_open(&d, t, "wg_function_compile", no_callback, NULL, 0, 0, 0);
    if (s == WG_OK) {
        compiled->native = make_native(d.c, *out, options, compiled);
        if (compiled->native) compiled->why[0] = 0;
        s = d.c->status == WG_ENOMEM || d.c->status == WG_EBUDGET ? d.c->status : WG_OK;
    }
    s = wgi_drive_close(&d, s);
    if (s != WG_OK) {
        wg_function_free(*out);
        *out = NULL;
    }
    return s;
}
