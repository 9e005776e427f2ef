/* SPDX-License-Identifier: MIT */
/* Arrays of integers beside variables: indirection, strides, masks.
 * options: --function f --with-respect-to x[0:n] --of return
 * inputs: 1.25 0.4 2 -1
 * outputs: 1
 * call: out[0] = f(4, in, (const unsigned[]){3, 0, 2, 1});
 * arguments: .n = 4, .x = in, .at = (const unsigned[]){3, 0, 2, 1}
 */
double f(int n, const double *x, const unsigned *at) {
    double s = 0;
    unsigned char seen[8] = {0};
    for (int i = 0; i < n; i++) {
        seen[at[i] & 7u]++;
        s += x[at[i]] * (double)(at[i] << 1 | 1u);
    }
    for (int i = 0; i < n; i += 2) s *= seen[i] ? x[i] : 1;
    return s;
}
