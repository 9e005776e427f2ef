/* SPDX-License-Identifier: MIT */
/* options:
 * says: refused/annotation_word.c:6: error: wengert: 'functoin' is no option here
 */

/* wengert: functoin f with-respect-to x of return */
double f(double x) { return x * x; }
