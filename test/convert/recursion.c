/* SPDX-License-Identifier: MIT */
/* Functions that call themselves and each other.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(6, in[0]);
 * arguments: .n = 6, .x = in[0]
 */
static double odd(int n, double x);
static double even(int n, double x) { return n == 0 ? x : x * odd(n - 1, x) + 1; }
static double odd(int n, double x) { return n == 0 ? 1 : x / (1 + even(n - 1, x) * even(n - 1, x)); }

static double legendre(int n, double x) {
    if (n == 0) return 1;
    if (n == 1) return x;
    return ((2 * n - 1) * x * legendre(n - 1, x) - (n - 1) * legendre(n - 2, x)) / n;
}

double f(int n, double x) { return legendre(n, x / 2) + even(n, x); }
