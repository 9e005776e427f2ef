/* SPDX-License-Identifier: MIT */
/* Results by pointers to single numbers, some of them unused.
 * options: --function f --with-respect-to *x,y --of *sum,*product
 * inputs: 1.25 0.4
 * outputs: 2
 * given: double left;
 * call: f(in, in[1], out, out + 1, &left);
 * arguments: .x = in, .y = in[1], .left = &left
 */
void f(const double *x, double y, double *sum, double *product, double *left) {
    *sum = *x + y;
    *product = *x * y;
    *left = 2;
}
