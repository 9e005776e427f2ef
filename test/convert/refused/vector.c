/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x,y --of return
 * says: refused/vector.c:8: error: 'x' depends on the inputs and becomes part of a vector
 */
typedef double pair __attribute__((vector_size(16)));

double f(double x, double y) {
    pair a = {x, y}, b = a * a;
    return b[0] + b[1];
}
