/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/annotation_input.c:6: error: 'x' is said to be passive, and is an input or output
 */

double f(/* wengert: passive */ double x) { return x * x; }
