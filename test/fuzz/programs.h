/* SPDX-License-Identifier: MIT */
/* programs.h - random programs of scalar and matrix operations, as data.
 *
 * A program is a list of nodes, each a matrix: its inputs, then the result of each step. Its
 * outputs are the elements of the last node, up to PROGRAM_OUTPUTS of them. A step may repeat
 * an earlier program, its body: as a call, mapped over columns, in a scan or a checkpointed
 * loop.
 *
 * A case is programs, the last of which is checked, the point it is recorded at, and the point
 * it is evaluated at. As text:
 *
 *     program
 *     input 2x2
 *     n1 = inverse n0
 *     n2 = norm_entries n1' number 2
 *     at 1 .2 .1 1
 *     far 0 1 -2 0
 *
 * n1' is a transposed view; `whole A B` and `number C D` are parameters of the operation. A
 * body stands before what repeats it, has an `at`, and no `far`. */
#ifndef WENGERT_TEST_FUZZ_PROGRAMS_H
#define WENGERT_TEST_FUZZ_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wengert.h>

enum {
    PROGRAM_INPUTS = 3,
    PROGRAM_STEPS = 24,
    PROGRAM_NODES = PROGRAM_INPUTS + PROGRAM_STEPS,
    PROGRAM_OUTPUTS = 4,
    PROGRAM_OPERANDS = 4,
    PROGRAM_NUMBERS = 64,   /* entries of all inputs, at most */
    PROGRAM_ENTRIES = 1024, /* of a node */
    PROGRAMS = 4
};

struct program_shape {
    size_t rows, cols;
};

struct program_step {
    const struct program_op *op;
    size_t operands;
    size_t from[PROGRAM_OPERANDS]; /* nodes, older than the step */
    unsigned trans;                /* bit k: operand k is taken as a transposed view */
    int whole[2];
    double number[2];
};

struct program {
    size_t inputs, steps;
    struct program_step step[PROGRAM_STEPS];
    struct program_shape node[PROGRAM_NODES];
    size_t n, m;                /* entries of the inputs, of the outputs */
    double at[PROGRAM_NUMBERS]; /* where it is recorded */
    wg_callable *call;          /* of a body, once the case is ready */
};

struct program_case {
    size_t programs;
    struct program program[PROGRAMS]; /* the last one is checked */
    double far[PROGRAM_NUMBERS];
    wg_tape *work; /* of checkpointed loops */
    uint64_t
        shaken; /* not 0: what steps give is moved by rounding, by each number differently */
};

/* ---- operations (programs_ops.c) ---- */

struct toy_matrix; /* programs_toy.h */

/* What an operation is: of how many operands and parameters, which shapes fit, how it is
 * recorded, and what it is in the toy (NULL: the toy does not know it). */
struct program_op {
    const char *name;
    size_t operands, wholes, numbers;
    int rule;     /* of shapes */
    int backward; /* 1: its errors are those of changed operands, as of a solve */
    wg_mat (*record)(wg_tape *t, const struct program_case *c, const struct program_step *s,
                     const wg_mat *x);
    void (*toy)(const struct program_case *c, const struct program_step *s,
                const struct toy_matrix *x, struct toy_matrix *y);
};

extern const struct program_op program_ops[];
extern const size_t program_op_count;
const struct program_op *program_op_named(const char *name);

/* The shape of a step's result; 0, or -1: the operands do not fit. Programs before `self` are
 * its bodies. */
int program_result(const struct program_case *c, size_t self, const struct program_step *s,
                   const struct program_shape *in, struct program_shape *out);

/* All shapes, n and m. 0, or -1: a step does not fit. */
int program_shapes(const struct program_case *c, size_t self, struct program *p);

/* Bodies as callables; the statuses of what refused. program_case_close gives them back. */
wg_status program_case_open(struct program_case *c, wg_tape *t);
void program_case_close(struct program_case *c);

/* Records a program; x: its n inputs. program_callback: data is a struct program_run. */
struct program_run {
    const struct program_case *c;
    size_t self;
};
wg_status program_record(wg_tape *t, const struct program_case *c, size_t self, size_t n,
                         const wg_real *x, wg_mat *result);
wg_status program_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data);

/* ---- text (programs_text.c) ---- */

void program_write(const struct program_case *c, FILE *out);
int program_read(struct program_case *c, const char *text); /* 0, or the line that is wrong */

/* ---- drawn (programs_draw.c) ---- */

struct program_random {
    uint64_t state;
    const char *without; /* operations that are left out, a blank between two; NULL: none */
};
uint64_t program_below(struct program_random *r, uint64_t n);
double program_uniform(struct program_random *r, double low, double high);
/* 0, or -1: this one came to nothing. */
int program_draw_case(struct program_random *r, struct program_case *c);
void program_draw_far(struct program_random *r, struct program_case *c);

/* ---- checked (programs_check.c) ---- */

enum { PROGRAM_FAR = 8, PROGRAM_TEXT = 400 };

/* What was done, and what came of it. */
struct program_counts {
    size_t programs, points; /* of programs, and of points at which they were evaluated */
    size_t judged, unjudged; /* numbers against the toy */
    size_t moved;            /* of these, numbers that are off by what rounding makes of them */
    size_t bits;             /* numbers that have to have the same bits */
    size_t refused, guarded; /* statuses that are an answer: of the tape, of a function */
    size_t refusals[WG_STATUS_COUNT]; /* of what derives */
};

struct program_checker {
    wg_tape *plain, *checked, *code, *fresh, *forward, *work, *loops;
    wg_threads *threads;
    struct program_counts count;
    const char *directory; /* of what is compiled; NULL: nothing is compiled */
    const char *only;      /* the kind of finding that is looked for; NULL: any */
    char kind[48];         /* of the first finding: which mode, which number; "" */
    char why[PROGRAM_TEXT];
};

int program_checker_open(struct program_checker *k);
void program_checker_close(struct program_checker *k);
/* The case at `points` points, c->far the first of them; 0, or 1: something is wrong at
 * *wrong. */
int program_check(struct program_checker *k, struct program_case *c, size_t points,
                  double (*far)[PROGRAM_NUMBERS], int compile, size_t *wrong);
/* From now on the truth has slopes of this operation that are wrong by 1e-6, which is to be
 * found; NULL: none. */
void program_plant(const struct program_op *op);

/* ---- made smaller (programs_shrink.c) ---- */

/* The smallest case found that has a finding of the same kind. */
void program_shrink(struct program_checker *k, struct program_case *c);

#endif
