/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/annotation_structure.c:9: error: 's' is a structure, which is not passive as a whole: say it of its fields
 */

struct pair { double a, b; };

double f(double x) {
    struct pair s /* wengert: passive */ = {x, x};
    return s.a * s.b;
}
