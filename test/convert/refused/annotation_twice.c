/* SPDX-License-Identifier: MIT */
/* options:
 * says: refused/annotation_twice.c:9: error: wengert: this is the second function, 'g': say --function NAME
 */

/* wengert: function f with-respect-to x of return */
double f(double x) { return x * x; }

/* wengert: function g with-respect-to x of return */
double g(double x) { return x * x; }
