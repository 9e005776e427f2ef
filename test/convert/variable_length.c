/* SPDX-License-Identifier: MIT */
/* Arrays of variable length, as parameters and as local ones.
 * adjoint: refused
 * options: --function f --with-respect-to x[0:n] --of return
 * inputs: 1.5 -0.25 2 0.75 0.5
 * outputs: 1
 * call: out[0] = f(5, in);
 * arguments: .n = 5, .x = in
 */
static double weighted(int rows, int cols, double m[rows][cols]) {
    double s = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) s += (i + 2 * j + 1) * m[i][j];
    return s;
}

double f(int n, const double x[n]) {
    double outer[n][n], difference[n - 1];
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) outer[i][j] = x[i] * x[j];
    for (int i = 0; i + 1 < n; i++) difference[i] = x[i + 1] - x[i];
    for (int i = 0; i + 1 < n; i++) s += difference[i] * difference[i];
    return s + weighted(n, n, outer);
}
