/* SPDX-License-Identifier: MIT */
/* A definition as before 1989.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0], 2);
 * arguments: .x = in[0], .n = 2
 */
double f(x, n)
double x;
int n;
{
    return n * x * x;
}
