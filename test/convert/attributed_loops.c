/* SPDX-License-Identifier: MIT */
/* Loops with a word to the compiler before them.
 * options: --function f --with-respect-to x[0:3] --of return
 * inputs: 1.25 -0.5 2
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
double f(const double *x) {
    double sum = 0;
#pragma clang loop vectorize(enable)
    for (int i = 0; i < 3; i++) sum += x[i] * x[i];
    _Pragma("clang loop unroll(enable)") for (int i = 0; i < 3; i++) {
        if (x[i] < 0) continue;
        sum *= x[i];
    }
    return sum;
}
