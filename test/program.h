/* SPDX-License-Identifier: MIT */
/* program.h - straight-line programs as data: what the checker of all modes and the fuzzer run.
 *
 * A program is a list of steps. Node i < inputs is an input, node inputs + s the result of step
 * s. program_kernel.h runs it on tapes, on duals and on doubles, program_toy.c on the toy. */
#ifndef WENGERT_TEST_PROGRAM_H
#define WENGERT_TEST_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wengert/dual.h>
#include <wengert/tape.h>
#include "toy.h"

enum { STEP_OPERANDS = 8 };

/* The operations beyond the rows of ops/scalar/scalar.def, which come first: their WGI_OP_
 * numbers. */
enum {
    STEP_COPY = 128, /* wg_let of the operand itself */
    STEP_SUM,        /* array operations: any number of operands */
    STEP_PRODUCT,
    STEP_DOT, /* operands x0 y0 x1 y1 .. */
    STEP_LINEAR,
    STEP_POLYNOMIAL, /* the argument is the last operand */
    STEP_SQUARED_NORM,
    STEP_MEAN,
    STEP_FUSED, /* the statements of fused.def, in order */
};

/* How a step of a row is spelled; all have the same value and derivatives. */
enum {
    STEP_PLAIN, /* op(x, y) */
    STEP_INNER, /* op(x * 1, y * 1) */
    STEP_OUTER, /* 1 * op(x, y) */
    STEP_SHAPES
};

struct step {
    unsigned op, shape, operands;
    unsigned literals; /* bit k: operand k, a number, is written as one; else it is a constant
                          variable, as in mixes that program_kernel.h does not spell. Only in
                          STEP_PLAIN. */
    int from[STEP_OPERANDS]; /* a node, or -1: the number below */
    double number[STEP_OPERANDS];
};

struct program {
    size_t inputs, steps, outputs;
    struct step *step;
    size_t *output; /* nodes */
};

/* Operands of an operation: 0, as many as wanted. Its name. The operation so named, or -1. */
unsigned program_arity(unsigned op);
const char *program_name(unsigned op);
int program_find(const char *name);
/* Rows, and rows plus the other operations, for drawing: program_draw(0 .. PROGRAM_DRAWS-1). */
extern const unsigned program_rows, program_draws;
unsigned program_draw(unsigned i);

/* All nodes; node holds inputs + steps, the inputs filled in. */
void program_real(wg_tape *t, const struct program *p, wg_real *node);
void program_double(const struct program *p, double *node);
void program_dual(const struct program *p, wg_dual *node);
/* Fills t; gives the toy node of each program node in at. */
void program_toy(const struct program *p, const double *x, struct toy *t, size_t *at);

/* One line per step that an output depends on. */
void program_print(const struct program *p, const double *x, FILE *out);

/* A valid program from any bytes; x gets its inputs. Program memory is the caller's room. */
enum { PROGRAM_INPUTS = 6, PROGRAM_STEPS = 400, PROGRAM_OUTPUTS = 4 };
struct program_room {
    struct program program;
    struct step step[PROGRAM_STEPS];
    size_t output[PROGRAM_OUTPUTS];
    double x[PROGRAM_INPUTS], other[PROGRAM_INPUTS];
};
void program_from_bytes(const uint8_t *bytes, size_t n, struct program_room *room);

#endif
