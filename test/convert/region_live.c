/* SPDX-License-Identifier: MIT */
/* What is read behind a region only where a switch or continue leads.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:4]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 4
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static int seen, turns;

/* one case overwrites what the next one reads */
static double by_switch(int k, double u, double v) {
    double d = u * v * sin(u), y = 0;
    d = d * u * v;
    switch (k) {
    case 1:
        seen++;
        d = v * u;
        break;
    case 2:
        seen++;
        y = d * u * v;
        break;
    default:
        break;
    }
    return y;
}

/* the head of the loop reads it, which begins with an assignment to it */
static double by_continue(double u, double v) {
    double t, sum = 0;
    for (t = u; t < 20; t = t + 1) {
        sum = sum + t * t * v;
        t = t * t * t * sin(v) * 4 + v * 3 + 4;
        if (turns++ < 3) {
            switch (turns) {
            case 7:
                sum = sum + 1;
            }
            continue;
        }
        t = 30;
    }
    return sum * v;
}

void f(const double *x, double *y) {
    turns = 0;
    y[0] = by_switch(1, x[0], x[1]);
    y[1] = by_switch(2, x[0], x[1]);
    y[2] = by_switch(3, x[2], x[3]);
    y[3] = by_continue(x[0], x[1]);
}
