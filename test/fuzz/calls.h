/* SPDX-License-Identifier: MIT */
/* calls.h - random sequences of public calls: the world they act on, and the words in which a
 * row says how the arguments of a function are drawn.
 *
 * A row is a function of one call:
 *
 *     ROW(wg_gemv) {
 *         TAPE(t); FLAG(trans, "NT"); NUMBER(alpha); DIM(m); DIM(n);
 *         MAT(a, m, n); MAT(x, n, 1); NUMBER(beta); MAT(y, m, 1);
 *         GIVES_MAT(wg_gemv(t, trans, alpha, a, x, beta, y));
 *     }
 *
 * Each word draws one argument under the name given, mostly an honest one, sometimes one that
 * the headers define another answer for: stale, of another tape, NULL, NaN, huge, of another
 * shape. A call draws from numbers of its own, so that it means nearly the same when the calls
 * before it are left out. What C leaves undefined is not drawn: freed objects, arrays
 * shorter than said. */
#ifndef WENGERT_TEST_FUZZ_CALLS_H
#define WENGERT_TEST_FUZZ_CALLS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/model.h>

/* ---- rows ---- */

struct row {
    const char *name; /* of the function, or of a family of wgi_ names up to a * */
    void (*draw)(void);
    unsigned weight; /* how often, 8 is ordinary; 0: only where a sequence begins with it */
};
struct rows {
    const struct row *row;
    size_t count;
};
#define ROW(name) static void row_##name(void)
#define LISTED(name, weight)                                                                   \
    { #name, row_##name, weight }
#define ROWS(list)                                                                             \
    { list, sizeof(list) / sizeof *(list) }

extern const struct rows calls_arrays, calls_tape, calls_sweeps, calls_matrix,
    calls_elementwise, calls_data, calls_products, calls_batch, calls_solve, calls_spectral,
    calls_drivers, calls_matrix_drivers, calls_function, calls_derive, calls_files, calls_map,
    calls_turns, calls_model, calls_ode, calls_optimise, calls_special, calls_parallel,
    calls_spill, calls_statement, calls_statement_plain, calls_statement_small, calls_let;

/* ---- the world ---- */

enum { TAPES = 3, REALS = 16, MATS = 14, FACTORS = 3, PATTERNS = 3, MARKS = 4 };
enum { FUNCTIONS = 6, CALLABLES = 5, POOLS = 2, SPARSITIES = 3, MODELS = 2, NODES = 8 };
enum { BRANCHES = 2, PARALLELS = 2, FILES = 3, FILE_BYTES = 1 << 16, HOUSE = 4, MOST = 40 };

/* A tape, and what calls on it have given: also what is stale by now. */
struct room {
    wg_tape *tape, *work; /* work: of checkpoints recorded on tape */
    unsigned config;
    char *buffer;
    wg_real real[REALS];
    wg_mat mat[MATS];
    unsigned char spd[MATS]; /* symmetric positive definite as it was made */
    wg_factor factor[FACTORS];
    wg_csr pattern[PATTERNS];
    uint32_t pattern_stamp[PATTERNS]; /* of the tape then */
    wg_mark mark[MARKS];
};

struct world {
    uint64_t seed;
    unsigned odds; /* one in so many requests for memory is refused; 0: none */
    struct room room[TAPES];
    wg_function *function[FUNCTIONS];
    wg_callable *callable[CALLABLES];
    unsigned callable_tapes[CALLABLES]; /* bit k: a recording of tape k may need it */
    wg_threads *pool[POOLS];
    unsigned pool_tapes[POOLS];
    wg_sparsity *sparsity[SPARSITIES];
    size_t sparsity_n[SPARSITIES], sparsity_m[SPARSITIES];
    struct {
        wg_model *model;
        size_t tape;
        wg_mat node[NODES];
    } model[MODELS];
    struct {
        wg_branches *branches;
        size_t tape, inputs, outputs; /* entries of those of the callback */
    } branch[BRANCHES];
    struct parallel {
        wg_parallel *p;
        size_t tape, pool; /* of its last loop, and whose threads; TAPES, POOLS: none */
        int open;          /* a loop began and was not joined */
    } parallel[PARALLELS];
    struct {
        unsigned char bytes[FILE_BYTES];
        size_t length;
    } file[FILES];
};
extern struct world world;

/* Functions and callables that are there from the beginning to the end: y = f(a, x), a step
 * x = f(p, x), a sum over points, a solve. */
extern wg_function *house_function[HOUSE];
extern wg_callable *house_callable[HOUSE];

int house_open(void);
int house_ode_open(wg_tape *t);
int world_open(uint64_t seed);   /* nonzero: it cannot be had */
const char *world_close(void);   /* what is wrong at the end; NULL: nothing */
void tape_close(struct room *r); /* and whatever needs it */
int tape_open(struct room *r, unsigned config);
void branches_close(size_t k);
void model_close(size_t k);
void parallel_close(size_t k);
wg_status parallel_join(struct parallel *l);
void forget(struct room *r); /* what would be a pointer into freed memory */
void callable_close(size_t k);
void pool_close(size_t k);
wg_memory fuzz_memory(void);

/* ---- drawing ---- */

struct call {
    const struct row *row;
    size_t index;      /* of the row */
    uint64_t state;    /* of its numbers */
    uint64_t memory;   /* of the refusals of memory during it */
    struct room *room; /* of the tape drawn */
    int printing, done;
};
extern struct call call;

uint64_t draw(void);
void draw_begin(void); /* of a call */
static inline size_t below(size_t n) { return (size_t)((draw() >> 33) % n); }
static inline int one_in(size_t n) { return below(n) == 0; }

/* What was found wrong: ends the sequence. */
_Noreturn void finding(const char *what);
/* Counts the call, and prints it with what was drawn in place of the names. */
void say(const char *target, const char *text);
/* The text of what was drawn under a name. */
void named(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line before that of the call. */
void aside(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a function of the user's should not do, to a tape that the call may work on. */
void meddle(void);
/* Somebody to be told of progress: who lets it go on, stops it sooner or later, or uses the
 * tape. */
const wg_progress *draw_progress(wg_tape *t);
wg_tape *draw_tape(const char *name);
wg_tape *draw_code_tape(const char *name);
wg_tape *draw_driver_tape(const char *name);
double draw_number(const char *name);
double draw_positive(const char *name);
size_t draw_dim(const char *name);
size_t draw_size(const char *name); /* huge, too */
size_t draw_below(const char *name, size_t n);
char draw_flag(const char *name, const char *letters);
wg_real draw_real(const char *name);
const wg_real *draw_reals(const char *name, size_t n);
wg_mat draw_mat(const char *name, size_t rows, size_t cols);
wg_mat draw_any_mat(const char *name);
wg_mat draw_spd(const char *name, size_t n);
wg_axis draw_axis(const char *name);
const double *draw_doubles(const char *name, size_t n);
double *draw_results(const char *name, size_t n);
const size_t *draw_indices(const char *name, size_t n, size_t limit);
wg_mark draw_mark(const char *name);
wg_callback *draw_callback(const char *name);
size_t draw_count(const char *name); /* inputs or outputs of a callback */
const wg_function *draw_function(const char *name);
const wg_callable *draw_callable(const char *name); /* notes that the tape may need it */
wg_threads *draw_pool(const char *name);
size_t room_number(const struct room *r);

double number(void);
wg_callback *one_callback(void);
const wg_scalar_op *some_op(void); /* built in, of its own, or NULL */

/* ---- keeping ---- */

void keep_real(wg_real x);
void keep_mat(wg_mat a);
void keep_function(wg_status s, wg_function *f);
wg_status status(wg_status s);
void keep_status(wg_status s);
extern volatile double sink;
extern double results[1 << 16]; /* where drivers write */
int fuzz_write(void *ctx, const char *text, size_t bytes);

/* A file of the world, as a wg_write and a wg_read take it. */
struct file {
    size_t which, at;
    int left; /* writes that still succeed */
};
struct file draw_file(const char *name);
int to_file(void *ctx, const char *text, size_t bytes);
size_t from_file(void *ctx, void *data, size_t bytes);

/* ---- the words ---- */

#define TAPE(v) wg_tape *const v = draw_tape(#v)
#define CODE_TAPE(v) wg_tape *const v = draw_code_tape(#v)
/* Of drivers, which forget what was recorded. */
#define DRIVER_TAPE(v) wg_tape *const v = draw_driver_tape(#v)
#define NUMBER(v) const double v = draw_number(#v)
#define POSITIVE(v) const double v = draw_positive(#v)
#define DIM(v) const size_t v = draw_dim(#v)
#define SIZE(v) const size_t v = draw_size(#v)
#define BELOW(v, n) const size_t v = draw_below(#v, n)
#define FLAG(v, letters) const char v = draw_flag(#v, letters)
#define REAL(v) const wg_real v = draw_real(#v)
#define REAL_ARRAY(v, n) const wg_real *const v = draw_reals(#v, n)
#define MAT(v, rows, cols) const wg_mat v = draw_mat(#v, rows, cols)
#define ANY_MAT(v) const wg_mat v = draw_any_mat(#v)
#define SPD(v, n) const wg_mat v = draw_spd(#v, n)
#define AXIS(v) const wg_axis v = draw_axis(#v)
#define DOUBLES(v, n) const double *const v = draw_doubles(#v, n)
#define RESULTS(v, n) double *const v = draw_results(#v, n)
#define INDICES(v, n, limit) const size_t *const v = draw_indices(#v, n, limit)
#define MARK(v) const wg_mark v = draw_mark(#v)
#define CALLBACK(v) wg_callback *const v = draw_callback(#v)
#define COUNT(v) const size_t v = draw_count(#v)
#define FUNCTION(v) const wg_function *const v = draw_function(#v)
#define CALLABLE(v) const wg_callable *const v = draw_callable(#v)
#define POOL(v) wg_threads *const v = draw_pool(#v)

#define GIVES(e) (say("", #e), (void)(e))
#define GIVES_NUMBER(e) (say("", #e), sink = (double)(e))
#define GIVES_REAL(e) (say("real", #e), keep_real(e))
#define GIVES_MAT(e) (say("matrix", #e), keep_mat(e))
#define GIVES_STATUS(e) (say("", #e), (void)status(e))
#define GIVES_FUNCTION(v, e)                                                                   \
    do {                                                                                       \
        wg_function *v = NULL;                                                                 \
        say("function", #e);                                                                   \
        const wg_status s_ = (e);                                                              \
        keep_function(s_, v);                                                                  \
    } while (0)

#endif
