/* SPDX-License-Identifier: MIT */
/* Commands that are run, and what they write. */
#define _GNU_SOURCE
#include "compiler.h"

#include "tape/engine/drive.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int wgi_hash_bytes(void *ctx, const char *text, size_t bytes) {
    wgi_hash *const h = ctx;
    for (size_t i = 0; i < bytes; i++) {
        h->a = (h->a ^ (unsigned char)text[i]) * 0x100000001b3u;
        h->b = (h->b ^ (unsigned char)text[i]) * 0x9e3779b97f4a7c15u;
        h->b ^= h->b >> 29;
    }
    return 0;
}

/* Milliseconds between two looks at a process that writes nothing; and how many looks it gets
 * when it was told to end, before it is killed. */
enum { BEAT = 20, BEATS = 100 };

/* What a process writes: the beginning of it, and a hash of all if that is wanted. */
typedef struct saying {
    char *text;
    size_t room, used;
    wgi_hash *all;
    wgi_progress *progress; /* told while it is waited for */
} saying;

/* Reads what has been written; 0: nothing more will come. */
static int listen(int from, saying *to) {
    for (char piece[4096];;) {
        const ssize_t n = read(from, piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return 1;
        if (n <= 0) return 0;
        const size_t left = to->room - 1 - to->used, take = (size_t)n < left ? (size_t)n : left;
        memcpy(to->text + to->used, piece, take);
        to->used += take;
        if (to->all != NULL) (void)wgi_hash_bytes(to->all, piece, (size_t)n);
    }
}

/* What is left of the group of a process that is to be stopped: asked first, so that a compiler
 * can remove its files, and killed before its leader is waited for, as long as nobody else can
 * have its number. */
static void stop(pid_t pid) {
    siginfo_t ended;
    (void)kill(-pid, SIGTERM);
    for (int beat = 0; beat < BEATS; beat++) {
        memset(&ended, 0, sizeof ended);
        if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 &&
            errno != EINTR)
            break;
        if (ended.si_pid == pid) break;
        (void)poll(NULL, 0, BEAT);
    }
    (void)kill(-pid, SIGKILL);
}

/* Waits until the process has ended; not until the pipe is closed, since it may have started
 * others. Gives its wait status; 0 if somebody else has waited for it: what it has made will
 * tell. */
static int attend(pid_t pid, int from, saying *to) {
    const int told = to->progress->to.call != NULL;
    int status = 0, stopped = 0;
    for (int open = 1;;) {
        struct pollfd p = {from, POLLIN, 0};
        if (open && poll(&p, 1, BEAT) > 0) open = listen(from, to);
        else if (!open && told) (void)poll(NULL, 0, BEAT);
        if (told && !stopped && (stopped = wgi_progress_stops(to->progress, 0)) != 0) stop(pid);
        const pid_t ended = waitpid(pid, &status, open || told ? WNOHANG : 0);
        if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
        /* what it had started, and is killed, writes no more files once the pipe is closed */
        for (int beat = 0; stopped && open && beat < BEATS; beat++)
            if (poll(&p, 1, BEAT) > 0) open = listen(from, to);
        if (open) (void)listen(from, to);
        return ended < 0 ? 0 : status;
    }
}

/* With attributes: the process leads a group of its own, with all that it starts, so that they
 * can be stopped together. */
static int own_group(posix_spawnattr_t *attributes) {
    if (posix_spawnattr_init(attributes) != 0) return 0;
    if (posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP) == 0 &&
        posix_spawnattr_setpgroup(attributes, 0) == 0)
        return 1;
    (void)posix_spawnattr_destroy(attributes);
    return 0;
}

int wgi_process_run(wgi_core *c, const char *const *argument, char *said, size_t room,
                    wgi_hash *all) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    wgi_progress *const progress = wgi_progress_of(c);
    /* a terminal stops a group: it stays the user's where nobody is told */
    const int told = progress->to.call != NULL;
    saying to = {said, room, 0, all, progress};
    int ends[2], status = 0;
    pid_t pid = -1;
    memset(said, 0, room);
    if (c->status == WG_ESTOPPED) return -1;
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
        posix_spawn_file_actions_init(&actions) != 0) {
        (void)close(ends[0]), (void)close(ends[1]);
        return -1;
    }
    int bad = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (bad == 0) bad = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    if (bad == 0) bad = posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    /* POSIX says that the strings are not changed */
    char *argv[WGI_MOST_WORDS_OF_COMMAND + 1];
    for (size_t i = 0; i <= WGI_MOST_WORDS_OF_COMMAND; i++) {
        memcpy(&argv[i], &argument[i], sizeof argv[i]);
        if (argv[i] == NULL) break;
    }
    if (bad == 0 && told) bad = !own_group(&attributes);
    if (bad == 0) {
        bad = posix_spawnp(&pid, argv[0], &actions, told ? &attributes : NULL, argv, environ);
        if (told) (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    if (bad == 0) status = attend(pid, ends[0], &to);
    (void)close(ends[0]);
    if (told && progress->stopped)
        (void)wgi_fail(c, WG_ESTOPPED,
                       "wg_function_compile: stopped by the callback for progress");
    /* it may have ended well just before it was stopped: what it has made is not used either */
    if (bad != 0 || c->status == WG_ESTOPPED) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}
