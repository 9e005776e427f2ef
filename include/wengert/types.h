/* SPDX-License-Identifier: MIT */
/* Types of the public interface: status codes, variables, options, marks, statistics.
 *
 * A variable is a value and a slot. Slot 0 is the constant: it takes part in values, never in
 * derivatives. */
#ifndef WENGERT_TYPES_H
#define WENGERT_TYPES_H

#include <wengert/config.h>

WG_BEGIN_DECLS

/* The one list of status codes: name, text. WG_OK is 0. */
#define WG_STATUS_LIST(X)                                                                      \
    X(OK, "no error")                                                                          \
    X(ENULL, "a required argument is NULL")                                                    \
    X(EARG, "an argument is out of its range")                                                 \
    X(ESHAPE, "shapes do not fit")                                                             \
    X(ENOMEM, "out of memory")                                                                 \
    X(EBUDGET, "the byte budget of the tape is used up")                                       \
    X(ESLOTS, "the tape has no slot left")                                                     \
    X(ESTALE, "a variable of another tape, or from before a reset or rewind")                  \
    X(ESEED, "no sweep, or one without a seed: no output depends on an input of this tape")    \
    X(EMARK, "a mark of another tape, or from before a reset or rewind")                       \
    X(EMODE, "not possible in this mode of the tape")                                          \
    X(ECODE, "the statement has no code that can be kept")                                     \
    X(ECALLBACK, "the user's function returned a failure")                                     \
    X(EGUARD, "a recorded comparison came out differently")                                    \
    X(ENONFINITE, "a NaN or an infinity was produced")                                         \
    X(ESINGULAR, "a matrix is singular, or not positive definite")                             \
    X(EDEGENERATE, "no derivative exists at this point")                                       \
    X(ECONVERGE, "an iteration did not converge")                                              \
    X(EMISMATCH, "two derivatives that should agree do not")                                   \
    X(EWRITE, "the output could not be written")                                               \
    X(ETHREAD, "the tape belongs to another thread")                                           \
    X(ESTOPPED, "the user's callback for progress stopped the call")                           \
    X(EBRANCH, "the user's function branches on a value, not on a recorded comparison")

#define WGI_STATUS_ENUM(name, text) WG_##name,
typedef enum wg_status { WG_STATUS_LIST(WGI_STATUS_ENUM) WG_STATUS_COUNT } wg_status;
#undef WGI_STATUS_ENUM

/* wg_status_text - the text of a status; never NULL, also for values that are no status. */
WG_API const char *wg_status_text(wg_status s);

/* Where a variable lives: its slot, and the stamp of the tape and generation that gave it. */
typedef struct wg_handle {
    uint32_t slot;  /* 0: a constant */
    uint32_t stamp; /* 0 for constants */
} wg_handle;

/* A stored variable, 16 bytes, copied freely with `=`. */
typedef struct wg_real {
    double value;
    wg_handle at;
} wg_real;

/* The tape: an arena of records. Opaque but for the few fields the recorders touch. */
typedef struct wg_tape wg_tape;

/* Memory, as the library asks for it. `reserve` gives an address range that need not be
 * accessible yet, or NULL; `commit` makes [p, p + bytes) usable and returns 0, or nonzero;
 * `release` gives back a whole range. Sizes are multiples of 4096, as are offsets of `commit`
 * within a range. Committed memory is zero or arbitrary: the library does not care.
 * All three or none: with a NULL among them, mmap, mprotect and munmap are used. */
typedef struct wg_memory {
    void *(*reserve)(void *ctx, size_t bytes);
    int (*commit)(void *ctx, void *p, size_t bytes);
    void (*release)(void *ctx, void *p, size_t bytes);
    void *ctx;
} wg_memory;

enum {
    WG_KEEP_CODE = 1,   /* keep the code and the value of every statement: HVP, Hessian, replay */
    WG_KEEP_PLACES = 2, /* keep file:line of every wg_let */
    WG_TRACE = 4,       /* stop at the first statement that gives a NaN or an infinity, and in
                         * sweeps other than by lanes at the first adjoint that is NaN, also where it
                         * would flow on to no input, and other tapes go on */
    WG_CHECKED = 8      /* look at every handle exactly: also catches handles after a rewind; at
                         * the thread that uses the tape: wg_tape_own; and at callbacks that branch
                         * on values, where something is made of them: wg_check_branches */
};

/* The budget of a tape: how many bytes may be committed at a time, in pages of 4096, of
 *   - the tape, what is recorded on it, and the workspace of every call on it;
 *   - tapes that such calls use beside it, and models of it;
 *   - objects made on it, until they are freed, in whatever thread, also after the tape:
 *     functions with their bytecode and what was loaded for them, callables, branches,
 *     patterns. (The pages of a freed tape itself, some 16 kB, stay until then.)
 * Not of it: what the caller hands in (wg_function_work), pools of threads, address space that
 * is only reserved, and what others obtain: BLAS and LAPACK, SuiteSparse, the C library, the
 * compiler of wg_function_compile, and the code that is loaded.
 *
 * A call for which there is not enough gives WG_EBUDGET, wherever it may give WG_ENOMEM, once
 * the tape has given up what it held for nothing; no object is lost by that, and the next reset
 * gives back all that the tape itself holds. wg_stats.committed_bytes is what counts at
 * present, max_committed_bytes the budget that would have been enough, up to some pages.
 * A tape in a caller's buffer has that, and no other budget: what it would need beyond is
 * WG_EBUDGET, and objects made on it, and tapes beside it, are not limited. */
typedef struct wg_options {
    unsigned flags;      /* WG_KEEP_CODE | ... */
    size_t budget;       /* bytes, as above; 0: no limit */
    void *buffer;        /* memory of the caller to live in, or NULL; the tape obtains no other */
    size_t buffer_bytes; /* its size; the buffer outlives the tape */
    size_t max_slots;    /* at most this many variables; 0: 2^32 - 2 */
    size_t reserve;      /* address range to ask for at first, bytes; 0: the default */
    wg_memory memory;    /* zeros: the defaults */
    size_t loops_over;   /* of functions recorded on it: a map or scan of more operations than
                          * that stays a loop (function.h); 0: 65536 */
} wg_options;

/* A position on a tape. Plain data, copied freely; only the tape that gave it can use it. */
typedef struct wg_mark {
    uint64_t record; /* records below */
    uint64_t code;   /* bytes of code below */
    uint64_t places; /* entries of the list of places below */
    uint64_t payload, block; /* end of the payloads, and the last block */
    uint32_t slot;   /* first slot not yet given out */
    uint32_t stamp;
    uint32_t inputs; /* independent variables below */
    uint32_t failed; /* the tape was in failure already */
} wg_mark;

/* What is on the tape, and the high-water marks since wg_tape_new. */
typedef struct wg_stats {
    uint64_t statements, records, slots;
    uint64_t record_bytes, code_bytes, adjoint_bytes; /* in use now */
    uint64_t payload_bytes;                           /* values and payloads of matrices */
    uint64_t committed_bytes; /* of a budget, or in use of a buffer */
    uint64_t max_records, max_slots, max_committed_bytes;
    uint64_t memory_calls; /* reserve, commit and release so far: constant in a steady state */
    uint64_t resets;
} wg_stats;

/* Whom a long call tells how far it has come, and who may stop it: of a tape wg_tape_progress,
 * of a function wg_function_evaluate_progress.
 *
 * call:    gets `context`, and how much is done of what is being done just now, one map, one
 *          scan, one function that is evaluated: from 0 to 1, never less than before. Where
 *          that is not known, as of a function that is made or compiled, it is 0. A call that
 *          does several such things, as a sweep, begins again with each. It returns 0, or
 *          nonzero to stop: what it was called by then comes back with WG_ESTOPPED, even where
 *          nothing was left to be done. It is called between blocks of points, steps, chunks of
 *          a grid or pieces of a graph, and every 20 ms while a compiler runs; always by the
 *          thread that made the call, whatever pool works for it.
 * seconds: at least so many between two calls; 0: each time that it could be stopped. */
typedef struct wg_progress {
    int (*call)(void *context, double done); /* NULL: nobody is told */
    void *context;
    double seconds;
} wg_progress;

/* Where text goes: returns 0, or nonzero to stop; no exception leaves it. It does not use the
 * tape that the text is of, or that the call was given: calls on that are refused meanwhile
 * (WG_EMODE), also of other threads, a reset does nothing. */
typedef int wg_write(void *ctx, const char *text, size_t bytes);

WG_END_DECLS

#endif
