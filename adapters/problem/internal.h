/* SPDX-License-Identifier: MIT */
/* internal.h - a problem from inside: what it keeps, and its two sides, drivers on a tape and
 * evaluation of functions. */
#ifndef WENGERT_PROBLEM_INTERNAL_H
#define WENGERT_PROBLEM_INTERNAL_H

#include "wengert/problem.h"
#include <wengert/derive.h>
#include <wengert/emit.h>

/* Inputs and outputs of a function that is part of a problem: as many as wg_call takes, and
 * twice that in its derivatives. */
enum { WGI_MOST = 16, WGI_MOST_ARGUMENTS = 3 * WGI_MOST };

/* What is made of a function, when it is first asked for. WGI_LANES: inputs shared by all
 * directions, directions side by side. */
typedef enum wgi_kind {
    WGI_VALUE,
    WGI_GRADIENT, /* and value */
    WGI_JVP,
    WGI_VJP,
    WGI_HVP,
    WGI_TAYLOR,
    WGI_LANES_JVP,
    WGI_LANES_VJP,
    WGI_LANES_HVP,
    WGI_JACOBIAN, /* by the first group; + k: by group k */
    WGI_KINDS = WGI_JACOBIAN + WGI_MOST
} wgi_kind;

/* What is asked of a function, in arrays over all entries of its inputs, or outputs. lanes: 0
 * for one point, or so many directions, whose entries stand side by side. */
typedef struct wgi_question {
    const double *x, *w, *v; /* inputs of the computation; weights of outputs; directions */
    double *y, *to;          /* value, where the kind has it; the rest */
    size_t lanes;
    wgi_kind kind; /* behind pairs of words, which are stored and read alike */
} wgi_question;
/* Where inputs and results of an evaluation stand, in the order of the function's: in lanes the
 * entries stand side by side, so many apart. */
typedef struct wgi_places {
    const double *x[WGI_MOST_ARGUMENTS];
    double *y[WGI_MOST_ARGUMENTS];
    size_t inputs, outputs;
    size_t shared; /* inputs before these are the same in all lanes */
    size_t apart;
} wgi_places;

typedef struct wgi_derived {
    wg_function *function; /* NULL: not made yet */
    void *work;
    wg_point_call *point; /* where problems are compiled, or NULL */
    wgi_question asked;   /* last, and where that stands */
    wgi_places at;
} wgi_derived;

/* Where the entries of a pattern are found in products with seeds: lines of one colour share no
 * line across. */
typedef struct wgi_compression {
    size_t colours;
    uint32_t *colour; /* of each column, or of each row where rows are coloured */
    int rows;         /* are rows coloured? */
} wgi_compression;

typedef struct wgi_sparse {
    wg_sparsity *sparsity;
    wgi_compression plan; /* of a problem with a function */
} wgi_sparse;

struct wg_problem {
    wg_tape *tape;
    size_t n, m, groups;
    size_t group[WGI_MOST]; /* sizes */
    wg_callback *callback;  /* of n inputs, for the drivers */
    void *data;
    size_t parameters;
    const double *parameter; /* of the user: read at each call */
    /* What the user gave, of n + parameters inputs, and room for these. */
    wg_callback *users_callback;
    void *users_data;
    wg_real *arguments;
    const wg_function *function; /* given, or `own`; NULL: drivers on the tape */
    wg_function *own;
    /* Of the function: the first entry of each input that is differentiated and of each output,
     * and behind the last the end of all. */
    size_t inputs, outputs, input[WGI_MOST + 1], output[WGI_MOST + 1];
    /* All of its inputs, parameters among them: where in x, or in `parameter`, each begins. */
    size_t all, place[WGI_MOST];
    unsigned char passive[WGI_MOST];
    wg_callable *called; /* of a given function, whose pattern is found by a call */
    unsigned flags;
    double *x;        /* where patterns are found, or NULL */
    double *recorded; /* inputs and parameters that `own` was recorded at */
    wgi_derived derived[WGI_KINDS];
    wgi_sparse jacobian, hessian;
    size_t pattern_group;
    wg_pattern pattern; /* of the Jacobian, columns counted from the first of the group */
    uint32_t *pattern_col;
    double *scratch; /* for results that stand in another order */
    size_t scratch_size;
    void *attached;
    void (*release)(void *);
    wg_status broken; /* of wg_problem_new */
    wg_status status;
    char message[400];
};

/* ---- failures ---- */

/* Keeps the failure s with the message of the tape, or with a text of its own. Result: s. */
wg_status wgi_problem_fail(wg_problem *p, wg_status s);
wg_status wgi_problem_refuse(wg_problem *p, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* WG_ENONFINITE where one of v[0..n) is NaN or infinite. NULL is finite. */
wg_status wgi_problem_finite(wg_problem *p, const char *what, size_t n, const double *v);
/* What every question begins with: is there a problem, a point, and a function to record? */
wg_status wgi_problem_begin(wg_problem *p, const char *call, const double *x);
/* Room for so many numbers; NULL: the problem has failed. What was there before is lost. */
double *wgi_problem_scratch_made(wg_problem *p, size_t numbers);
static inline double *wgi_problem_scratch(wg_problem *p, size_t numbers) {
    return numbers <= p->scratch_size && p->scratch != NULL
               ? p->scratch
               : wgi_problem_scratch_made(p, numbers);
}

/* ---- functions ---- */

/* A copy of n numbers. */
wg_status wgi_problem_keep_point(wg_problem *p, size_t n, const double *x, double **to);
/* Records the callback at x, unless there is a function. */
wg_status wgi_problem_record(wg_problem *p, const double *x);
/* The group that input i belongs to begins at this input. */
size_t wgi_problem_first(const wg_problem *p, size_t group);

wg_status wgi_problem_ask(wg_problem *p, const wgi_question *q);
void wgi_problem_forget(wg_problem *p); /* frees what was derived */
/* The function of that kind, made if it is not there. */
wg_status wgi_problem_derive(wg_problem *p, wgi_kind kind);

/* Where input k of the function stands, for the inputs x of the computation. */
static inline const double *wgi_problem_input(const wg_problem *p, size_t k, const double *x) {
    const double *const of = p->passive[k] ? p->parameter : x;
    return of == NULL ? NULL : of + p->place[k];
}
/* Notes the inputs and outputs of the function. */
void wgi_problem_measure(wg_problem *p);

/* ---- sparse ---- */

/* Colours for the entries of the pattern: columns or rows of a Jacobian, whichever take fewer;
 * symmetric: columns of a Hessian whose lower triangle the pattern is. */
wg_status wgi_compress(const wg_pattern *at, int symmetric, wgi_compression *out);

#endif
