/* SPDX-License-Identifier: MIT */
/* bytecode.h - how a finished function is evaluated. Internal.
 *
 * Points are done in runs of `lanes` points. A number that differs from point to point is a
 * column, one double per point of the run, in a slot that is given to another node when its
 * last reader is done. A number that does not is a uniform, one double for all runs.
 *
 *     uniform   [points | numbers | shared inputs | nodes done once | sums | results of sums]
 *     column    [scratch | constants as columns | inputs and nodes of each point]  per thread
 *     sum       a vector per sum, one lane per point modulo its width              per thread
 *
 * Columns stand one behind the other, as long as the run has points: those of one point alone
 * are near each other. Bytecode says where a column begins in runs of two points; in runs of
 * four it is twice that, and so on.
 *
 * A bytecode has three parts: once, at each point, after the sums. All three are lists of the
 * same instructions: the first and last run on short columns, whose first lane is kept as a
 * uniform, so that the bits of a value do not depend on where it is computed.
 *
 * The interpreter (interpreter.h) keeps the last result in registers, the accumulator: an
 * instruction takes operands from the accumulator (A), from columns (C) and from uniforms (S),
 * and leaves its result in the accumulator, and in a column (_ST) if it is read again later. */
#ifndef WGI_TAPE_FUNCTION_RUN_BYTECODE_H
#define WGI_TAPE_FUNCTION_RUN_BYTECODE_H

#include "tape/function/graph/graph.h"

#include "ops/scalar/array.h"
#include "ops/scalar/elementwise.h"

#include <string.h>

/* ---- instructions: X(name, name while products are plain) ---- */

#define WGI_FN_BOTH(X, n, p) X(n, p) X(n##_ST, p##_ST)
#define WGI_FN_OWN(X, n) WGI_FN_BOTH(X, n, n)
#define WGI_FN_ORDERED(X, n)                                                                   \
    WGI_FN_OWN(X, n##_AC)                                                                      \
    WGI_FN_OWN(X, n##_CA)                                                                      \
    WGI_FN_OWN(X, n##_AS)                                                                      \
    WGI_FN_OWN(X, n##_SA)                                                                      \
    WGI_FN_OWN(X, n##_CC) WGI_FN_OWN(X, n##_CS) WGI_FN_OWN(X, n##_SC)
#define WGI_FN_COMMUTES(X, n, p)                                                               \
    WGI_FN_BOTH(X, n##_AC, p##_AC)                                                             \
    WGI_FN_BOTH(X, n##_AS, p##_AS)                                                             \
    WGI_FN_BOTH(X, n##_CC, p##_CC) WGI_FN_BOTH(X, n##_CS, p##_CS)
/* z + x y, z - x y, x y - z; operands are named in the order z, x, y */
#define WGI_FN_FUSED(X, n, p)                                                                  \
    WGI_FN_BOTH(X, n##_ACC, p##_ACC)                                                           \
    WGI_FN_BOTH(X, n##_ACS, p##_ACS)                                                           \
    WGI_FN_BOTH(X, n##_CCC, p##_CCC) WGI_FN_BOTH(X, n##_CCS, p##_CCS)
#define WGI_FN_CODES(X)                                                                        \
    X(END, END)                                                                                \
    WGI_FN_COMMUTES(X, ADD, ADD)                                                               \
    WGI_FN_COMMUTES(X, MUL, MUL)                                                               \
    WGI_FN_OWN(X, MUL_AA)                                                                      \
    WGI_FN_COMMUTES(X, TIMES, MUL)                                                             \
    WGI_FN_ORDERED(X, SUB)                                                                     \
    WGI_FN_ORDERED(X, DIV)                                                                     \
    WGI_FN_FUSED(X, MADD, MADD)                                                                \
    WGI_FN_FUSED(X, MSUB, MSUB)                                                                \
    WGI_FN_FUSED(X, MRSB, MRSB)                                                                \
    WGI_FN_FUSED(X, TADD, MADD)                                                                \
    WGI_FN_FUSED(X, TSUB, MSUB)                                                                \
    WGI_FN_OWN(X, NEG_A)                                                                       \
    WGI_FN_OWN(X, NEG_C)                                                                       \
    WGI_FN_OWN(X, SQRT_A)                                                                      \
    WGI_FN_OWN(X, SQRT_C)                                                                      \
    WGI_FN_OWN(X, FABS_A)                                                                      \
    WGI_FN_OWN(X, FABS_C)                                                                      \
    WGI_FN_OWN(X, SPLAT)                                                                       \
    X(RELU, RELU)                                                                              \
    X(SIGN, SIGN)                                                                              \
    X(FMAX, FMAX)                                                                              \
    X(FMIN, FMIN)                                                                              \
    X(FMA, FMA)                                                                                \
    X(FABS_D, FABS_D) /* slopes */                                                             \
    X(RELU_D, RELU_D)                                                                          \
    X(FMAX_D, FMAX_D)                                                                          \
    X(FMIN_D, FMIN_D)                                                                          \
    X(SELECT_LT, SELECT_LT) /* the last operand stands in the word after */                    \
    X(SELECT_LE, SELECT_LE)                                                                    \
    X(SELECT_GT, SELECT_GT)                                                                    \
    X(SELECT_GE, SELECT_GE)                                                                    \
    X(SELECT_EQ, SELECT_EQ)                                                                    \
    X(SELECT_NE, SELECT_NE)                                                                    \
    X(EXCHANGE, EXCHANGE) /* SELECT_GT, and the other of the two into d of the word after */   \
    X(SUM_A, SUM_A)       /* into sum b */                                                     \
    X(SUM_C, SUM_C)                                                                            \
    X(CHECK_A, CHECK_A) /* is there a NaN? */                                                  \
    X(CHECK_C, CHECK_C)                                                                        \
    X(SET_A, SET_A) /* as uniform b */                                                         \
    X(SET_C, SET_C)                                                                            \
    X(GUARD, GUARD) /* number c, of columns a and b */                                         \
    X(LOAD, LOAD)   /* b groups from a on */                                                   \
    X(STORE, STORE)                                                                            \
    X(CALL, CALL) /* call a */

#define WGI_FN_ENUM(name, plain) WGI_FN_##name,
enum { WGI_FN_CODES(WGI_FN_ENUM) WGI_FN_CODE_COUNT };
#undef WGI_FN_ENUM

/* Operands a, b, c and the result d: byte offsets of columns, in a run of WGI_FN_FEWEST points,
 * or of uniforms. */
enum { WGI_FN_FEWEST = 2 };
typedef struct wgi_fn_code {
    uint32_t code, a, b, c, d;
} wgi_fn_code;

/* How a call does what has no instruction of its own. Its columns are its operands, then its
 * results. */
typedef enum {
    WGI_FN_VALUE,   /* the value of an operation, by a kernel */
    WGI_FN_SLOPE,   /* by a kernel that gives the value as result 0 and the slope as result 1 */
    WGI_FN_FIRST,   /* one first partial, by a kernel of adjoints */
    WGI_FN_ROWS,    /* the value of the node, point by point */
    WGI_FN_FIRSTS,  /* first partials by op->first; part[i] says which one result i is */
    WGI_FN_SECONDS, /* second partials by op->second; parts from 16 on are first partials */
    WGI_FN_ARRAY,
    WGI_FN_WHOLE /* a node with parts; part[i] says which one result i is, ascending */
} wgi_fn_how;
enum { WGI_FN_PART_FIRST = 16 };

typedef struct wgi_fn_call {
    wgi_fn_how how;
    uint32_t operands, results;
    /* its columns in the list of the bytecode, and behind them the parts of the results */
    uint32_t list;
    uint32_t part;  /* WGI_FN_FIRST: the operand */
    uint32_t value; /* WGI_FN_FIRST: the column that has the value, or WGI_NO_NODE */
    unsigned array;
    uint32_t node;
    const wg_scalar_op *op;
    wgi_kernel *kernel, *adjoint;
} wgi_fn_call;

/* Up to 8 entries of an argument, next to each other, and their columns. Groups that stand next
 * to each other in memory, such as fields of one structure per point, go between memory and
 * columns together. One instruction moves a batch of groups; larger batches would only occupy
 * columns for longer. */
enum { WGI_FN_GROUP = 8, WGI_FN_BATCH = 8 };
typedef struct wgi_fn_group {
    uint32_t argument, entry, count;
    uint32_t check;  /* bit i: entry i of an output depends on a product by the zero rule */
    uint32_t wanted; /* bit i: entry i of an input is used */
    uint32_t column[WGI_FN_GROUP];
    uint32_t native[WGI_FN_GROUP]; /* columns of native code */
} wgi_fn_group;

/* ---- native code instead of the part of each point ----
 *
 * native(uniform, input, result, sum, points, valid) does `points` points, a multiple of 8;
 * those from `valid` on repeat the last one.
 *
 * uniform: element u is node bytecode->uniform_node[u], or, where that is WGI_NO_NODE, nothing
 *          that the code reads. There is one for each number, shared input and node done once
 *          that a node of each point reads.
 * input:   input[i][p] is node bytecode->input_node[i] at point p, i < native_inputs.
 * result:  result[j][p] is to become node bytecode->result_node[j], j < native_results, for all
 *          `points`. Inputs and results do not overlap; columns are 64-byte aligned, the rows
 *          of in_place.h as numbers are.
 * sum:     sum[8 s + p % 8] += node bytecode->sum_node[s] at point p, s < sums, for p < valid
 *          only, in ascending order of p. 64-byte aligned; not 0 on entry.
 * Gives    0, or any of WGI_FN_NAN: WGI_NODE_TIMES was done as a plain product, and a node that
 *          shows whether that was right (wgi_plan_checks) is NaN at some point;
 *          WGI_FN_GUARD_FAILED: a comparison of the function, with a side that is of each
 *          point, came out differently at some point. Then the interpreter does these points
 *          again: result and sum may hold anything.
 * It may be called from many threads at once. Comparisons of uniforms, and what is done once
 * and after, stay with the interpreter. */
enum {
    WGI_FN_NATIVE_POINTS = 64, /* of a run in columns, at most */
    WGI_FN_NATIVE_LANES = 8    /* of its sums; it is called for a multiple of so many points */
};
enum { WGI_FN_NAN = 1, WGI_FN_GUARD_FAILED = 2 };
typedef int wgi_fn_native(const double *uniform, const double *const *input,
                          double *const *result, double *sum, size_t points, size_t valid);

/* ---- a bytecode ---- */

typedef struct wgi_fn_part {
    const wgi_fn_code *code;
    size_t slots; /* how many columns it needs */
} wgi_fn_part;

/* A column that holds a uniform in every lane. */
typedef struct wgi_fn_constant {
    uint32_t column, uniform;
} wgi_fn_constant;

/* An output that is summed, and the first of its results. */
typedef struct wgi_fn_total {
    uint32_t output, first;
} wgi_fn_total;

struct wgi_fn_run;
typedef struct wgi_fn_machine {
    size_t width;
    /* runs bytecode on columns of 1, 2, 4 and 8 vectors */
    void (*run[4])(const wgi_fn_code *code, struct wgi_fn_run *r);
    /* groups between memory and columns; native: columns of native code */
    void (*load)(const struct wgi_fn_run *r, const wgi_fn_group *g, size_t groups, int native);
    void (*store)(const struct wgi_fn_run *r, const wgi_fn_group *g, size_t groups, int native);
    /* is there a NaN in the first `lanes` numbers? */
    int (*any_nan)(const double *column, size_t lanes);
    void (*array)(struct wgi_fn_run *r, const wgi_fn_call *call);
} wgi_fn_machine;
/* NULL where the compiler was not told to make the interpreter for that instruction set. */
extern const wgi_fn_machine *const wgi_fn_base, *const wgi_fn_avx2, *const wgi_fn_avx512;

typedef struct wgi_bytecode {
    wgi_home home;
    const wgi_fn_machine *machine;
    const wgi_simd *simd;
    wgi_fn_part part[3]; /* once, each, after */
    size_t lanes;        /* points of a run */
    size_t operands;     /* the most that an array operation has */
    size_t whole_bytes;  /* the most workspace that a node with parts needs */
    size_t block;        /* points of a block */
    unsigned check_sums;

    size_t uniforms;
    const uint32_t *uniform_node; /* the node that each uniform is, or WGI_NO_NODE */
    size_t numbers;
    const double *number; /* uniform[1 ...]; the shared inputs follow them */
    size_t sums, sum_at;
    const uint32_t *sum_node; /* the nodes whose sums over the points are uniform[sum_at ...] */
    size_t shares, totals;
    const uint32_t *shared;         /* the inputs that are shared, ascending */
    const wgi_fn_total *total;      /* the outputs that are summed, ascending */
    const uint32_t *result_uniform; /* of each of the m results, or WGI_NO_NODE */
    const uint32_t *guard_uniform;  /* of both sides of each comparison, or WGI_NO_NODE */

    const wgi_fn_call *call;
    const uint32_t *list; /* columns and parts of all calls, one after the other */
    size_t loads, stores;
    const wgi_fn_group *load, *store;
    size_t constants;
    const wgi_fn_constant *constant;

    wgi_fn_native *native; /* or NULL */
    size_t native_points;  /* at most, in a run of it */
    size_t native_inputs, native_results, native_constants;
    const uint32_t *input_node, *result_node;
    const wgi_fn_constant *native_constant;
} wgi_bytecode;

enum { WGI_FN_MOST_LANES = 64 };

/* A run of points. */
typedef struct wgi_fn_run {
    const wg_function *function;
    const wgi_bytecode *bytecode;
    const wgi_fn_machine *machine; /* the one that does this run */
    char *column;
    double *uniform, *sum;
    double *operand; /* room for the operands of one array operation */
    char *whole;     /* workspace of one node with parts */
    const wg_points *x;
    const wg_results *y;
    size_t points; /* of the whole call of wg_function_evaluate */
    /* points of this run; lanes behind them repeat the last one */
    size_t first, rows;
    size_t lanes; /* of this run */
    /* for how many lanes the columns of constants are filled; 0: they are not */
    size_t laid;
    /* a column begins at its offset times 2 to the power of this */
    unsigned shift;
    size_t dump; /* offset of a column that is never read */
    /* products follow the zero rule; otherwise they are plain ones */
    int careful;
    /* a plain product may have given a NaN that the zero rule would not */
    int nan;
    int rescued; /* the zero rule has changed a product */
    /* a comparison came out differently; `guard` says which and where */
    int failed;
    wg_function_guard guard;
    wgi_progress_part progress; /* told by the caller's thread only */
    /* all ones in lanes below `rows`, 0 in others; only where rows < lanes */
    int64_t valid[WGI_FN_MOST_LANES];
} wgi_fn_run;

/* The first columns of every part: two of scratch, one of ones, one that is never read. */
enum { WGI_FN_SCRATCH, WGI_FN_SCRATCH2, WGI_FN_ONES, WGI_FN_DUMP, WGI_FN_FIXED };

/* Was the evaluation told to stop? Only the caller's thread knows. */
static inline int wgi_fn_stopped(const wgi_progress_part *p) {
    return p->of != NULL && p->of->stopped;
}

static inline uint32_t wgi_fn_offset(size_t slot) {
    return (uint32_t)(slot * WGI_FN_FEWEST * sizeof(double));
}
static inline double *wgi_fn_column(const wgi_fn_run *r, size_t offset) {
    return (double *)(void *)(r->column + (offset << r->shift));
}

/* Lanes beyond the points of a run repeat the last one. */
static inline void wgi_fn_fill(const wgi_fn_run *r, double *column) {
    for (size_t p = r->rows; p < r->lanes; p++) column[p] = column[r->rows - 1];
}

/* Lanes of a sum become one number: halves are added as long as there are two. */
static inline double wgi_fn_across(const double *t, size_t lanes) {
    if (lanes == 2) return t[0] + t[1];
    if (lanes == 4) return (t[0] + t[2]) + (t[1] + t[3]);
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

/* ---- stations that all ways to evaluate a function share; the road is in evaluate.c ---- */

/* Uniforms that are the same in all calls. */
static inline void wgi_fn_load_numbers(const wgi_bytecode *p, double *uniform) {
    if (p->numbers != 0) memcpy(uniform + 1, p->number, p->numbers * sizeof *uniform);
}

/* Uniforms that depend on the caller: how many points there are, and shared inputs. Sums begin
 * at 0. */
static inline void wgi_fn_load(const wg_function *f, size_t points, const wg_points *x,
                               double *uniform) {
    const wgi_bytecode *const p = f->bytecode;
    double *to = uniform + 1 + p->numbers;
    uniform[0] = (double)points;
    for (size_t n = 0; n < p->shares; n++) {
        const wg_points *const from = &x[p->shared[n]];
        const size_t entries = wgi_argument_size(&f->input[p->shared[n]]);
        for (size_t e = 0; e < entries; e++)
            *to++ = from->data == NULL ? 0 : from->data[(ptrdiff_t)e * from->entry];
    }
    if (p->sums != 0) memset(uniform + p->sum_at, 0, p->sums * sizeof *uniform);
}

/* Summed outputs, from the uniforms. */
static inline void wgi_fn_store_sums(const wg_function *f, const double *uniform,
                                     const wg_results *y) {
    const wgi_bytecode *const p = f->bytecode;
    for (size_t n = 0; n < p->totals; n++) {
        const wg_results *const to = &y[p->total[n].output];
        const uint32_t *const from = p->result_uniform + p->total[n].first;
        const size_t entries = wgi_argument_size(&f->output[p->total[n].output]);
        for (size_t e = 0; to->data != NULL && e < entries; e++)
            to->data[(ptrdiff_t)e * to->entry] = uniform[from[e]];
    }
}

/* ---- evaluate.c: what interpreters call ---- */

void wgi_fn_call_run(wgi_fn_run *r, const wgi_fn_call *call);
/* Does point p of an array operation. */
void wgi_fn_array_row(wgi_fn_run *r, const wgi_fn_call *call, size_t p);
/* For each kind of nodes with parts (repeat_run.c, dense_run.c): the most workspace that one of
 * them needs in a function; and one of them, at all points of a run. Among the operands of
 * matrices an odd number u stands for uniform u / 2. */
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    size_t wgi_fn_##stem##_work(const wg_function *f);                                         \
    void wgi_fn_##stem##_run(wgi_fn_run *r, const wgi_fn_call *call);
#include "tape/function/graph/kinds.def"
/* A comparison fails at some point: finds and notes which. */
void wgi_fn_guard_run(wgi_fn_run *r, const wgi_fn_code *code);
/* Notes a failure, unless an earlier one is noted. */
void wgi_fn_guard_note(wgi_fn_run *r, size_t point, size_t guard);

/* Does what a function does once, when numbers and shared inputs are loaded. work: so many
 * bytes, 64-byte aligned. */
size_t wgi_fn_once_work(const wg_function *f);
void wgi_fn_once(const wg_function *f, double *uniform, void *work);

/* A function that is evaluated again and again, at no more than so many points: prepare, load
 * and once are done when it is opened. x and y stay where they are; what they point to may be
 * elsewhere in each run. _load: a shared input has changed; load and once are done again. One
 * with summed outputs is evaluated at one point. work: so many bytes. */
struct wgi_fn_steady;
size_t wgi_fn_steady_work(const wg_function *f, size_t points);
struct wgi_fn_steady *wgi_fn_steady_open(const wg_function *f, size_t points,
                                         const wg_points *x, const wg_results *y, void *work,
                                         wgi_progress *progress);
void wgi_fn_steady_load(struct wgi_fn_steady *s);
/* WG_ESTOPPED: as of wgi_function_evaluate. */
wg_status wgi_fn_steady_run(struct wgi_fn_steady *s, size_t points, wg_function_guard *guard);

/* wg_function_evaluate as a part of what somebody is told of; WG_ESTOPPED: results of some
 * points are not written, nor sums. */
wg_status wgi_function_evaluate(const wg_function *f, size_t points, const wg_points *x,
                                const wg_results *y, wg_threads *threads, void *work,
                                wg_function_guard *guard, wgi_progress_part progress);

/* wgi_bytecode_new for an interpreter of the caller's choice, for tests. */
wg_status wgi_bytecode_make(wgi_core *c, wg_function *f, const wgi_fn_machine *machine,
                            const wgi_simd *simd);

/* Makes the bytecode of a function, f->bytecode. Messages and scratch memory are the tape's. */
wg_status wgi_bytecode_new(wgi_core *c, wg_function *f);
void wgi_bytecode_free(wg_function *f);

#endif
