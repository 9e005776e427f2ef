/* SPDX-License-Identifier: MIT */
/* Comparisons of variables in values: counts and flags are numbers.
 * options: --function f --with-respect-to x[0:3] --of return
 * inputs: 1.25 0.4 2
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
double f(const double x[3]) {
    int above = 0, order[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) above += x[i] > 1;
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (x[order[k]] < x[order[i]]) {
                const int t = order[i];
                order[i] = order[k];
                order[k] = t;
            }
    const _Bool equal = x[0] == x[1];
    return above * x[order[0]] + x[order[2]] / (1 + equal) - x[order[1]];
}
