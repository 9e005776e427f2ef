/* SPDX-License-Identifier: MIT */
/* Structures that are defined where variables of them are declared.
 * options: --function f --with-respect-to x,knob.gain --of return,last[0].at,other.at
 * inputs: 0.5 1.9
 * outputs: 3
 * call: knob.gain = in[1]; out[0] = f(in[0]); out[1] = last[0].at; out[2] = other.at;
 * arguments: .x = in[0]
 */
#include <math.h>

static double linear(double a, double k) { return a * k; }
static double square(double a, double k) { return a * a * k; }

struct settings {
    double gain, offset;
    int turns;
} knob = {0, 2, 3};
struct point {
    double at;
    struct inner {
        double more;
    } in;
} last[2], other = {0, {1}};
static const struct row {
    double (*of)(double, double);
    double k;
    const char *name;
} table[] = {{linear, 2, "linear"}, {square, 3, "square"}};

double f(double x) {
    double s = knob.offset;
    other.in.more = x;
    for (int i = 0; i < knob.turns; i++) {
        s += table[i % 2].of(x, table[i % 2].k) * knob.gain;
        last[i % 2].at = s * other.in.more;
    }
    other.at = last[0].at * last[1].at;
    return sin(s);
}
