/* SPDX-License-Identifier: MIT */
/* check_modes.h - one checker for all modes of differentiation.
 *
 * For a function and a point it finds wrong, and says so in words:
 *   values      of plain, checked and code-keeping tapes and of duals: the same bits
 *   gradients   of the plain tape, of the others (the same bits), of seeds, of a sweep in parts
 *   lanes       k = 1, 2, 3, 4, 5, 8, 11 adjoints at once: the same bits as one after the other
 *   tangents    of a forward tape, of duals; <w, J v> = <J' w, v>
 *   curvature   the Hessian, that it is symmetric, H v one direction at a time
 *   functions   the recording as a function: values, the same bits; its Jacobian and Hessian
 *   replay      at another point and back, values, gradients and Hessian: the same bits as a
 * new recording; every statement recomputed from its code: wg_tape_verify References are the
 * caller's (closed forms, oracles); check_program takes them from the toy. */
#ifndef WENGERT_TEST_CHECK_MODES_H
#define WENGERT_TEST_CHECK_MODES_H

#include <wengert/drivers.h>
#include "program.h"

enum { CHECK_TEXT = 512 };

/* The tapes, kept open from check to check, and how much has been compared. */
struct check {
    wg_tape *plain, *checked, *code, *fresh, *forward;
    size_t compared, skipped; /* numbers; skipped: no reference */
    char why[CHECK_TEXT]; /* the first thing wrong with the last check; "" when it was well */
};
int check_open(struct check *c); /* 0, or -1: out of memory */
void check_close(struct check *c);

/* What is expected: ref[i] within allowed[i], row-major. allowed infinite: not compared. A NaN
 * or an infinity is expected as such. allowed NULL: the ulps of a derivative or value.
 * ref NULL: no reference, the modes are compared with the plain tape. */
struct check_want {
    const double *ref, *allowed;
};

struct check_function {
    wg_callback *call;
    void (*dual)(void *data, const wg_dual *x, wg_dual *y); /* NULL: none */
    void *data;
    size_t n, m;
    const double *x;     /* the point */
    const double *other; /* where to replay; NULL: no replay */
    const double *w, *v; /* weights of the outputs for the Hessian; a direction */
    struct check_want value, jacobian, hessian; /* m, m by n, n by n */
};

/* 0 when every mode agrees, else the number of things found wrong; c->why says the first. */
int check_modes(struct check *c, const struct check_function *f);

/* The same for a program, and: every node has the value of the toy in every mode; the Jacobian
 * and the Hessian of the outputs weighted by w are those of the toy. */
int check_program(struct check *c, const struct program *p, const double *x,
                  const double *other);

/* The Jacobian of a program's outputs and the Hessian of their sum weighted by w, from the toy;
 * and what another order of the same operations may make of them. Row-major; 4 arrays of the
 * caller's. Infinite: the derivatives pass through numbers too large to say. */
void check_toy(struct toy *t, size_t n, size_t m, const size_t *input, const size_t *output,
               const double *w, double *jacobian, double *jacobian_allowed, double *hessian,
               double *hessian_allowed);

/* The weights and the direction that check_program uses: the first of them. */
extern const double check_weights[], check_direction[];
enum { CHECK_WEIGHTS = 8 };

#endif
