/* SPDX-License-Identifier: MIT */
/* Arguments that are pointers to pointers to numbers, of which some are no inputs.
 * options: --function f --with-respect-to in[0][0:2],in[2][0:1] --of out[0][0:2]
 * inputs: 1.25 -0.5 2
 * outputs: 2
 * given: double third[1] = {in[2]}, first[2] = {in[0], in[1]}, to[2] = {0}, factors[2] = {3, 0.25};
 * call: f(2, (const double *const[]){first, factors, third}, (double *const[]){to}); out[0] = to[0]; out[1] = to[1];
 * arguments: .n = 2, .in = (const double *const[]){first, factors, third}, .in_count = 3, .in_counts = (size_t[]){2, 2, 1}, .out = (double *const[]){to}, .out_count = 1, .out_counts = (size_t[]){2}
 */
void f(int n, const double *const *in, double *const *out) {
    const double *const a = in[0];
    for (int i = 0; i < n; i++) {
        out[0][i] = a[i] * in[1][i];
        out[0][i] *= in[2][0] * out[0][i];
    }
}
