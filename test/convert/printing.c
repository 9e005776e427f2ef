/* SPDX-License-Identifier: MIT */
/* printf and its kin get values.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double f(double x) {
    char line[64];
    const double y = x * x;
    snprintf(line, sizeof line, "%d %.3f %s", 3, 1.5, "end");
    fprintf(stderr, "# y is %.4f at %g\n", y, x);
    return y * (double)strlen(line);
}
