/* SPDX-License-Identifier: MIT */
/* tolerance.h - every tolerance of the tests, in ulps of the reference, each with its reason.
 */
#ifndef WENGERT_TEST_TOLERANCE_H
#define WENGERT_TEST_TOLERANCE_H

#include <float.h>
#include <math.h>

/* A value: libm is within about 2 ulp, a helper adds one or two roundings. */
#define TOL_VALUE_ULP 4.0

/* A first or second partial: a product of two or three such factors. */
#define TOL_DERIVATIVE_ULP 8.0

/* A subnormal result: this many units of DBL_TRUE_MIN, for the rounding of each factor. */
#define TOL_SUBNORMAL_UNITS 4.0

/* A complex step through csin, cexp, ...: the complex functions of libm lose a few more ulp
 * than the real ones, and the quotient tan = sin/cos of the reference formula a few more. */
#define TOL_COMPLEX_STEP_ULP 32.0

/* Romberg differences of long double, steps from 1/64 of the operand: the rounding of the value
 * over the smallest step, 2^-10 of the operand, is what a slope much smaller than its value is
 * known to (times LDBL_EPSILON and value per unit operand); other slopes lose a few bits to
 * truncation. */
#define TOL_LONG_DIFFERENCE_ULP 64.0
#define TOL_LONG_ROUNDING 1024.0

/* The same of double functions good to TOL_DERIVATIVE_ULP: those ulps over the smallest step,
 * 2^-11 of the operand. Relative to the partial plus the size of what is differenced per unit
 * operand. */
#define TOL_DIFFERENCE_ULP 16384.0

/* The same sums of the same products in another order, or associated otherwise: an ulp of the
 * sum of their sizes for every operation of the program. */
#define TOL_ORDER_ULP 1.0

/* Beyond this a product of two derivatives may overflow in one order and not in another: no
 * bound is claimed. */
#define TOL_LARGEST 1e100

/* Products of numbers up to TOL_LARGEST lose this much where they underflow in one order and
 * not in another. */
#define TOL_SMALLEST 1e-200

/* A whole function against a reference: some dozens of operations, in ulps of the largest entry
 * of the gradient or Hessian. */
#define TOL_PROGRAM_ULP 64.0

/* Numbers below this are stored as 0 in the text oracles. */
#define TOL_ORACLE_ZERO 1e-45

/* Forward against reverse: the same partials multiplied and added in another order, through
 * some fifty operations. */
#define TOL_FORWARD_REVERSE_ULP 128.0

/* Third derivatives of scalar operations, relative: those of the texts of second ones, in which up
 * to six digits cancel before their series take over (erfcx, log_Phi). */
#define TOL_THIRD 1e-9

/* A converted function against extrapolated differences of the original in long double,
 * relative to the largest of its value and slopes: rounding of long double over a step of 2^-17
 * is 64 ulp of double, and the derivative itself is made of some hundred operations. */
#define TOL_CONVERTED_ULP 1024.0

/* The optimisation problems, relative to the largest entry of a gradient, Hessian or row of a
 * Jacobian: they lose up to 9 bits to cancellation, in their values already. */
#define TOL_PROBLEM_ULP 512.0

/* A step of a solution in time, or of its adjoint: some dozens of operations in another order
 * than the reference's, in ulps of the largest entry for every step. */
#define TOL_STEP_ULP 16.0

/* Solutions of stiff problems against published ones, relative: solved with a tolerance of 1e-7
 * or less, whose errors grow along the way. Sensitivities published with the four digits of
 * a tolerance of 1e-4. */
#define TOL_PUBLISHED 1e-5
#define TOL_PUBLISHED_SENSITIVITY 1e-3

/* Gradients by two methods, each solved to 1e-9. */
#define TOL_TWO_METHODS 1e-6

/* Solutions with events against their closed forms, relative: steps without an error but
 * rounding, which every bounce enlarges; steps with tolerances of 1e-11, or of a size of
 * which h^4 is 1e-11. */
#define TOL_BOUNCES 1e-12
#define TOL_EVENTS 1e-8

/* Solved forth and back with tolerances of 1e-12: what these leave, grown along the way. */
#define TOL_SOLVED_TWICE 1e-10

/* The same evaluated as functions, whose sines and exponentials are within 4 ulp where
 * libm's are within 1. */
#define TOL_PROBLEM_FUNCTION_ULP (4 * TOL_PROBLEM_ULP)

/* Derivatives of solutions of equations, relative to them or to 1: their condition, below 100,
 * and some operations. */
#define TOL_IMPLICIT_ULP 400.0

/* Steps of descent against long double: some ten roundings of each step, and of those before in
 * what the rule remembers; relative to the largest x so far. */
#define TOL_DESCENT_ULP 32.0

/* How far from a minimum a search may end whose gradient is 1e-9 at most: that over the
 * smallest curvature of these problems (Beale's, 0.3), and as much again for the direction
 * in between. */
#define TOL_MINIMUM 1e-8

/* The same of parameters that were fitted until rounding ended it, relative. */
#define TOL_FIT 1e-9

/* Of derivatives at operands times powers of two, of the largest of their operand: rounding goes
 * another way where pivots or scales do, which conditions up to 1e4 magnify. */
#define TOL_HOMOGENEOUS 1e-11

/* |got - ref| in ulps of ref; 0 for equals and for two NaN, infinite where only one is finite.
 */
static inline double error_ulp(double got, double ref) {
    if (got == ref || (got != got && ref != ref)) return 0;
    if (!(fabs(got) <= DBL_MAX && fabs(ref) <= DBL_MAX)) return INFINITY;
    double r = fmin(fabs(ref), nextafter(DBL_MAX, 0));
    return fabs(got - ref) / (nextafter(r, INFINITY) - r);
}

/* Within ulps of ref, or within the units a subnormal is allowed. */
static inline int close_ulp(double got, double ref, double ulps) {
    return error_ulp(got, ref) <= ulps || fabs(got - ref) <= TOL_SUBNORMAL_UNITS * DBL_TRUE_MIN;
}

#endif
