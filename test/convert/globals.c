/* SPDX-License-Identifier: MIT */
/* Globals that are inputs, passive, and on the way.
 * options: --function f --with-respect-to rate,x --of return,total
 * inputs: 0.75 1.5
 * outputs: 2
 * call: rate = in[0]; out[0] = f(in[1]); out[1] = total;
 * arguments: .x = in[1]
 */
#include <math.h>

double rate = 0.5, total;
static double scratch[4];
static const double table[3] = {1.0, 0.5, 0.25};
int calls = 0;

static void fill(double x) {
    for (int i = 0; i < 3; i++) scratch[i] = table[i] * exp(-rate * x * i);
}

double f(double x) {
    calls++;
    fill(x);
    total = scratch[0] + scratch[1] + scratch[2];
    return total * scratch[2];
}
