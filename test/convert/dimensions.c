/* SPDX-License-Identifier: MIT */
/* Arrays of two and three dimensions, parameters and local ones.
 * options: --function f --with-respect-to a[0:2][0:2] --of return,b[0:2][0:2]
 * inputs: 1.5 -0.25 2 0.75
 * outputs: 5
 * call: out[0] = f((void *)in, (void *)(out + 1));
 * arguments: .a = (void *)in
 */
static double trace(double m[2][2]) { return m[0][0] + m[1][1]; }

double f(double a[2][2], double b[2][2]) {
    double cube[2][2][2], sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++) cube[i][j][k] = a[i][k] * a[k][j];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            b[i][j] = cube[i][j][0] + cube[i][j][1];
            sum += b[i][j] * cube[j][i][1];
        }
    return sum / trace(b);
}
