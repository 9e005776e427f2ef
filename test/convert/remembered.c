/* SPDX-License-Identifier: MIT */
/* Globals and statics that change more than once, within functions that are called again.
 * about: adjoint
 * options: --function f --with-respect-to x[0:2],gain --of return,total
 * inputs: 0.6 1.4 0.5
 * outputs: 2
 * given: gain = in[2];
 * call: total = 2; filter = (struct filter){{0.5, 1}, 0}; out[0] = f(in); out[1] = total;
 * arguments: .x = in
 */
#include <math.h>

struct filter {
    double state[2];
    int count;
};
double gain = 0.25, total = 2;
static struct filter filter = {{0.5, 1}, 0};

static double filtered(double v, int first) {
    static double before;
    static int turn;
    if (first) before = 0.5, turn = 0;
    const double out = filter.state[turn % 2] * v + before * gain;
    filter.state[turn++ % 2] = sin(out) * filter.state[0];
    before = v * before;
    filter.count++;
    total *= 1 + out * out;
    return out;
}

double f(const double *x) {
    double s = 0, *const at = &gain;
    for (int i = 0; i < 4; i++) {
        s += filtered(x[i % 2] + 0.1 * i, i == 0) * filter.state[1];
        *at = *at * x[1];
    }
    return s + filter.count * gain;
}
