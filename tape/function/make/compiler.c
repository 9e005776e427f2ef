/* SPDX-License-Identifier: MIT */
/* The system's compiler at work, on texts of this library: what comes of it is kept in a
 * directory of the user's, and loaded.
 *
 *     DIRECTORY/KEY.so              KEY: a hash of the text, the flags, the compiler's own
 *                                   description, and its macros with these flags
 *     DIRECTORY/KEY-PID-N.c, .so    these while it is made; the first is there until the end,
 *                                   so that nobody else takes PID-N
 *
 * Nothing is loaded that is not a regular file of the user's which nobody else can write, in a
 * directory of the same kind, and that does not end with its key and a hash of all before. The
 * directory is held open: what is looked at and loaded is in that one, wherever its path leads
 * by then. No shell takes part. */
#define _GNU_SOURCE
#include "compiler.h"

#include "tape/engine/drive.h"
#include "tape/function/native/native.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

enum {
    PATHS = 4096,
    KEY = 33,
    NAMES = KEY + 48, /* for KEY-PID-N.so */
    WHY = sizeof((wg_compiled *)0)->why,
    MORE_FLAGS = 6, /* flags that the last commands add */
    MOST_TRIES = 1000,
    LARGE = 20000,      /* operations: functions with more are optimised less */
    LEFT_SECONDS = 3600 /* from that age on, files of a process that is gone may be removed */
};

typedef struct build {
    wgi_core *c;
    const wgi_compiled_text *text;
    const char *compiler;
    const char *const *flags;
    char directory[PATHS], key[KEY], name[NAMES]; /* the name is KEY.so */
    /* descriptor of the directory; -1: not open yet */
    int held;
    const char *argument[WGI_MOST_WORDS_OF_COMMAND];
    size_t arguments;
    int is_clang;
    char said[1024]; /* how the compiler describes itself */
    wgi_hash macros; /* a hash of the macros that it defines with these flags */
    char *why;       /* room for the reason of a failure, in a wg_compiled */
} build;

/* Sets the reason; what does not fit is cut, and ends with dots. Gives 0. */
static int fail(build *b, const char *what, const char *detail) {
    const int n = snprintf(b->why, WHY, "%s%s%s", what, *detail != 0 ? ": " : "", detail);
    if (n >= WHY) memcpy(b->why + WHY - 4, "...", 4);
    return 0;
}

/* Joins a path; 0: it does not fit. */
static int join(char *to, size_t room, const char *directory, const char *name) {
    const int n = snprintf(to, room, "%s/%s", directory, name);
    return n > 0 && (size_t)n < room;
}

/* Has the program rights that its user does not have? Then neither the path nor the environment
 * nor the user's files can be trusted. */
static int is_privileged(void) {
#ifdef __linux__
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

/* ---- the directory ---- */

static int ours(const struct stat *s) {
    return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int is_our_directory(const char *path) {
    struct stat s;
    return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && ours(&s);
}

/* Makes the directory if it is not there, and keeps it open if it belongs to the user. */
static int hold(build *b) {
    struct stat s;
    (void)mkdir(b->directory, S_IRWXU);
    b->held = open(b->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (b->held >= 0 && fstat(b->held, &s) == 0 && S_ISDIR(s.st_mode) && ours(&s)) return 1;
    if (b->held >= 0) (void)close(b->held);
    b->held = -1;
    return 0;
}

/* Slashes at its end are cut, since they would follow a link; a path that begins as a flag does
 * is made one that does not. */
static int take_directory(build *b, const char *given) {
    size_t end = strlen(given);
    while (end > 1 && given[end - 1] == '/') end--;
    const int n = snprintf(b->directory, PATHS, "%s%.*s", *given == '-' ? "./" : "",
                           end < PATHS ? (int)end : PATHS, given);
    return n > 0 && n + NAMES < PATHS;
}

static int choose_directory(build *b, const char *given) {
    static const char none[] = "no directory of the user's that nobody else can write";
    static const char is_long[] = "the path of the directory is too long";
    struct passwd entry, *found = NULL;
    char room[4096];
    if (given != NULL) {
        if (!take_directory(b, given)) return fail(b, *given == 0 ? none : is_long, "");
        return hold(b) ? 1 : fail(b, none, b->directory);
    }
    if (getpwuid_r(geteuid(), &entry, room, sizeof room, &found) == 0 && found != NULL &&
        found->pw_dir != NULL && is_our_directory(found->pw_dir) &&
        join(b->directory, PATHS - NAMES, found->pw_dir, ".cache")) {
        (void)mkdir(b->directory, S_IRWXU);
        if (is_our_directory(b->directory) &&
            join(b->directory, PATHS - NAMES, found->pw_dir, ".cache/wengert") && hold(b))
            return 1;
    }
    (void)snprintf(b->directory, PATHS, "/tmp/wengert-%lu", (unsigned long)geteuid());
    return hold(b) ? 1 : fail(b, none, b->directory);
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

static int write_text(const build *b, int descriptor) {
    file f = {descriptor, 0};
    const wg_status s = b->text->write(b->text->ctx, b->key, to_file, &f);
    return (close(descriptor) == 0) & (s == WG_OK) & (b->c->status == WG_OK);
}

/* ---- what is at the end of a file: its key, and a hash of all before ---- */

enum { TRAILER = 2 * (KEY - 1) };

/* Writes the trailer for the first `size` bytes of a file. */
static int seal(const build *b, int descriptor, off_t size, char *trailer) {
    char piece[4096];
    wgi_hash h = {0xcbf29ce484222325u, 0x6a09e667f3bcc908u};
    for (off_t at = 0; at < size;) {
        const size_t most =
            size - at < (off_t)sizeof piece ? (size_t)(size - at) : sizeof piece;
        const ssize_t n = pread(descriptor, piece, most, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        (void)wgi_hash_bytes(&h, piece, (size_t)n);
        at += n;
    }
    (void)snprintf(trailer, TRAILER + 1, "%s%016llx%016llx", b->key, (unsigned long long)h.a,
                   (unsigned long long)h.b);
    return 1;
}

/* Opens a file that exists and may belong to the user; -1: there is none. It never waits for a
 * writer. */
static int open_ours(const build *b, const char *name, int how) {
    struct stat s;
    const int descriptor = openat(b->held, name, how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return -1;
    if (fstat(descriptor, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid())
        return descriptor;
    (void)close(descriptor);
    return -1;
}

/* Appends the trailer to a file that has just been made. */
static int put_seal(const build *b, const char *name) {
    char trailer[TRAILER + 1];
    struct stat s;
    const int descriptor = open_ours(b, name, O_RDWR);
    if (descriptor < 0) return 0;
    file f = {descriptor, 0};
    int done = fchmod(descriptor, S_IRWXU) == 0 && fstat(descriptor, &s) == 0 &&
               seal(b, descriptor, s.st_size, trailer);
    f.at = done ? s.st_size : 0;
    done = done && to_file(&f, trailer, TRAILER) == 0;
    return (close(descriptor) == 0) & done;
}

/* Does the file belong to the user, is it complete, and has it this key? */
static int is_sealed(const build *b, const char *name) {
    char trailer[TRAILER + 1], found[TRAILER + 1] = "";
    struct stat s;
    const int descriptor = open_ours(b, name, O_RDONLY);
    if (descriptor < 0) return 0;
    const int same = fstat(descriptor, &s) == 0 && ours(&s) && s.st_size > TRAILER &&
                     pread(descriptor, found, TRAILER, s.st_size - TRAILER) == TRAILER &&
                     seal(b, descriptor, s.st_size - TRAILER, trailer) &&
                     memcmp(found, trailer, TRAILER) == 0;
    (void)close(descriptor);
    return same;
}

/* ---- what is left of processes that were stopped ---- */

/* Is it KEY-PID-N.c or .so, old, and of a process that is gone? A process that cannot be seen
 * from here, on another machine or in a container, may still use it: hence the age. */
static int is_left(const build *b, const char *name) {
    struct stat s;
    char *end;
    if (strspn(name, "0123456789abcdef") != KEY - 1 || name[KEY - 1] != '-') return 0;
    const long pid = strtol(name + KEY, &end, 10);
    if (pid <= 0 || *end != '-') return 0;
    (void)strtol(end + 1, &end, 10);
    if (strcmp(end, ".c") != 0 && strcmp(end, ".so") != 0) return 0;
    return getpgid((pid_t)pid) < 0 && errno == ESRCH &&
           fstatat(b->held, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode) &&
           s.st_mtime < time(NULL) - LEFT_SECONDS;
}

static void remove_leftovers(const build *b) {
    const int again = openat(b->held, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const d = again >= 0 ? fdopendir(again) : NULL;
    if (d == NULL) {
        if (again >= 0) (void)close(again);
        return;
    }
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (is_left(b, e->d_name)) (void)unlinkat(b->held, e->d_name, 0);
    (void)closedir(d);
}

/* ---- the compiler ---- */

static void add(build *b, const char *argument) {
    if (b->arguments + 1 < WGI_MOST_WORDS_OF_COMMAND) b->argument[b->arguments++] = argument;
    b->argument[b->arguments] = NULL;
}

static void command(build *b) {
    static const char *const always[] = {"-std=gnu11",
                                         "-w",
                                         "-shared",
                                         "-fPIC",
                                         "-ffp-contract=off",
                                         "-fno-math-errno",
                                         "-fno-trapping-math",
                                         "-fno-plt"};
    /* The text has no expression twice: to look for such takes time, and what is found occupies
     * registers. And gcc 12, when it makes vectors of scalars, contracts an addition beside a
     * subtraction, whatever it was told. */
    static const char *const of_gcc[] = {"-fno-gcse", "-fno-tree-pre",
                                         "-fno-tree-slp-vectorize"};
    static const char *const avx2[] = {"-mavx2", "-mfma"};
    static const char *const avx512[] = {"-mavx512f", "-mavx512dq", "-mavx512vl",
                                         "-mprefer-vector-width=512"};
    b->arguments = 0;
    add(b, b->compiler);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) add(b, always[i]);
    for (size_t i = 0; b->text->width >= 4 && i < 2; i++) add(b, avx2[i]);
    for (size_t i = 0; b->text->width == 8 && i < 4; i++) add(b, avx512[i]);
    add(b, b->text->operations > LARGE ? "-O1" : "-O2");
    for (size_t i = 0; !b->is_clang && i < 3; i++) add(b, of_gcc[i]);
    for (size_t i = 0; b->flags != NULL && b->flags[i] != NULL; i++) add(b, b->flags[i]);
}

static int compiler_failed(build *b, char *said) {
    for (char *p = said; *p != 0; p++)
        if (*p == '\n') *p = ' ';
    return fail(b, "the compiler failed", said);
}

static int ask(build *b) {
    const char *const question[] = {b->compiler, "--version", NULL};
    if (wgi_process_run(b->c, question, b->said, sizeof b->said, NULL) != 0)
        return fail(b, "there is no compiler that can be run", b->compiler);
    b->is_clang = strstr(b->said, "clang") != NULL;
    return 1;
}

/* Runs the compiler, with its flags, on an empty text. */
static int ask_of_nothing(build *b, const char *const *what, char *said, wgi_hash *all) {
    static const char *const nothing[] = {"-x", "c", "/dev/null"};
    const size_t before = b->arguments;
    for (; *what != NULL; what++) add(b, *what);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) add(b, nothing[i]);
    const int status = wgi_process_run(b->c, b->argument, said, WHY, all);
    b->argument[b->arguments = before] = NULL;
    return status;
}

/* Is this file a program itself, and no script, which may add flags of its own? */
static int is_binary(const char *path) {
    char start[4];
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return 0;
    const ssize_t n = read(descriptor, start, sizeof start);
    (void)close(descriptor);
    return n == (ssize_t)sizeof start && memcmp(start, "\177ELF", sizeof start) == 0;
}

/* Is what is run under the compiler's name such a file? Searched for as by a shell. */
static int is_compiler_binary(const char *compiler) {
    const char *directory = NULL;
    char path[PATHS];
    if (strchr(compiler, '/') != NULL) return is_binary(compiler);
    for (char **v = environ; v != NULL && *v != NULL && directory == NULL; v++)
        if (strncmp(*v, "PATH=", 5) == 0) directory = *v + 5;
    while (directory != NULL) {
        const size_t length = strcspn(directory, ":");
        const int n = snprintf(path, PATHS, "%.*s/%s", (int)length, directory, compiler);
        if (length == 0 || length >= PATHS || n >= PATHS) return 0;
        if (access(path, X_OK) == 0) return is_binary(path);
        directory = directory[length] != 0 ? directory + length + 1 : NULL;
    }
    return 0;
}

/* Hashes the macros that its flags amount to on this machine: -march=native is not the same
 * everywhere. Our own flags are the same on all machines of a kind: of a gcc without others
 * they are not asked. clang may take more from files and its environment. */
static int ask_macros(build *b) {
    static const char *const macros[] = {"-dM", "-E", NULL}, *const check[] = {"-fsyntax-only",
                                                                               NULL};
    char said[WHY];
    wgi_hash h = {0xcbf29ce484222325u, 0x6a09e667f3bcc908u};
    struct utsname here;
    if (!b->is_clang && (b->flags == NULL || b->flags[0] == NULL) &&
        is_compiler_binary(b->compiler) && uname(&here) == 0) {
        (void)wgi_hash_bytes(&h, here.machine, strlen(here.machine));
        b->macros = h;
        return 1;
    }
    const int status = ask_of_nothing(b, macros, said, &h);
    b->macros = h;
    if (status == 0) return 1;
    /* for the message, without macros in front of it */
    (void)ask_of_nothing(b, check, said, NULL);
    return compiler_failed(b, said);
}

static int describe(build *b) {
    wgi_hash h = b->macros;
    (void)wgi_hash_bytes(&h, b->said, strlen(b->said) + 1);
    for (size_t i = 0; i < b->arguments; i++)
        (void)wgi_hash_bytes(&h, b->argument[i], strlen(b->argument[i]) + 1);
    const wg_status s = b->text->write(b->text->ctx, "", wgi_hash_bytes, &h);
    (void)snprintf(b->key, KEY, "%016llx%016llx", (unsigned long long)h.a,
                   (unsigned long long)h.b);
    (void)snprintf(b->name, NAMES, "%s.so", b->key);
    return s == WG_OK && b->c->status == WG_OK;
}

/* Makes a file for the text that belongs to this call alone; `name` becomes its name without
 * .c. -1: it cannot be made. */
static int own_file(const build *b, char *name) {
    char text[NAMES + 4];
    for (unsigned n = 0; n < MOST_TRIES; n++) {
        (void)snprintf(name, NAMES, "%s-%ld-%u", b->key, (long)getpid(), n);
        (void)snprintf(text, sizeof text, "%s.c", name);
        const int descriptor =
            openat(b->held, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   S_IRUSR | S_IWUSR);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

static int compile(build *b) {
    char name[NAMES], text[NAMES + 4], made[NAMES + 4], said[WHY];
    char text_path[PATHS], made_path[PATHS];
    int status = -1, done = 0;
    remove_leftovers(b);
    const int descriptor = own_file(b, name);
    if (descriptor < 0) return fail(b, "cannot write in", b->directory);
    (void)snprintf(text, sizeof text, "%s.c", name);
    (void)snprintf(made, sizeof made, "%s.so", name);
    (void)unlinkat(b->held, made, 0); /* left by an earlier process of the same number */
    if (!write_text(b, descriptor)) {
        (void)fail(b, "cannot write in", b->directory);
    } else if (!join(text_path, PATHS, b->directory, text) ||
               !join(made_path, PATHS, b->directory, made)) {
        (void)fail(b, "the path is too long", b->directory);
    } else {
        add(b, "-o");
        add(b, made_path);
        add(b, text_path);
        add(b, "-lm");
        status = wgi_process_run(b->c, b->argument, said, sizeof said, NULL);
        if (status != 0) (void)compiler_failed(b, said);
        else if (!put_seal(b, made) || !is_sealed(b, made) ||
                 renameat(b->held, made, b->held, b->name) != 0)
            (void)fail(b, "the compiler made nothing that can be used in", b->directory);
        else done = 1;
    }
    if (!done) (void)unlinkat(b->held, made, 0);
    (void)unlinkat(b->held, text, 0);
    return done;
}

/* ---- loading ---- */

/* A path to a file in the directory that is open, where the system has one for that; otherwise
 * the path that leads there now. A loader that has loaded a library of that name takes that: it
 * has the same key. */
static int library_path(const build *b, char *path) {
    char held[48];
    struct stat s, there;
    (void)snprintf(held, sizeof held, "/proc/self/fd/%d", b->held);
    if (fstat(b->held, &s) != 0) return 0;
    const char *by = held;
    if (stat(by, &there) != 0 || there.st_dev != s.st_dev || there.st_ino != s.st_ino) {
        by = b->directory;
        if (lstat(by, &there) != 0 || there.st_dev != s.st_dev || there.st_ino != s.st_ino)
            return 0;
    }
    return join(path, PATHS, by, b->name);
}

/* Loads it, and gives what the text defines under the name. */
static int load(build *b, wgi_loaded *out) {
    char path[PATHS];
    if (!is_sealed(b, b->name) || !library_path(b, path))
        return fail(b, "not what was compiled, or not the user's only", b->name);
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *const said = dlerror();
        return fail(b, "cannot be loaded", said != NULL ? said : b->name);
    }
    const char *const key = dlsym(library, WGI_NATIVE_KEY);
    void *const entry = dlsym(library, b->text->entry);
    if (key == NULL || entry == NULL || strcmp(key, b->key) != 0) {
        (void)dlclose(library);
        return fail(b, "is not what was compiled", b->name);
    }
    *out = (wgi_loaded){library, entry};
    return 1;
}

/* Takes a library from the directory, or compiles one into it. */
static int find_or_compile(build *b, wgi_loaded *out, wg_compiled *compiled) {
    if (!describe(b)) return fail(b, b->c->message, "");
    compiled->cached = is_sealed(b, b->name) && load(b, out);
    if (compiled->cached) return 1;
    return b->c->status == WG_OK && compile(b) && load(b, out);
}

int wgi_compiler_refuses(char *why, const char *what) {
    build b;
    b.why = why;
    return fail(&b, what, "");
}

int wgi_compiler_run(wgi_core *c, const wgi_compiled_text *text, const wg_compile_options *o,
                     wgi_loaded *out, wg_compiled *compiled) {
    build b;
    memset(&b, 0, sizeof b);
    b.c = c;
    b.text = text;
    b.compiler = o != NULL && o->compiler != NULL ? o->compiler : "cc";
    b.flags = o != NULL ? o->flags : NULL;
    b.why = compiled->why;
    compiled->cached = 0;
    if (is_privileged()) return fail(&b, "the program has rights that its user has not", "");
    if (!ask(&b)) return 0;
    command(&b);
    if (b.arguments + MORE_FLAGS >= WGI_MOST_WORDS_OF_COMMAND)
        return fail(&b, "too many flags", "");
    if (!ask_macros(&b) || !choose_directory(&b, o != NULL ? o->directory : NULL)) return 0;
    const int done = find_or_compile(&b, out, compiled);
    (void)close(b.held);
    return done;
}

void wgi_compiler_unload(const wgi_loaded *l) { (void)dlclose(l->library); }
