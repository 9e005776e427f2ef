/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/annotation_open.c:7: error: unterminated
 */

double f(double x) { return x * x; }
/* wengert: passive
