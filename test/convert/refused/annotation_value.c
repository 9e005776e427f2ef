/* SPDX-License-Identifier: MIT */
/* options:
 * says: refused/annotation_value.c:6: error: wengert: 'of' needs a value
 */

/* wengert: function f with-respect-to x of */
double f(double x) { return x * x; }
