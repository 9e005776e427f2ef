/* SPDX-License-Identifier: MIT */
/* options: --to generic --function f --with-respect-to x --of return --calls g=square
 * says: refused/generic_function.c:7: error: 'g' is a function that is given as an argument, which would be three
 */
static double square(double x) { return x * x; }

double f(double (*g)(double), double x) { return g(x) + square(x); }
