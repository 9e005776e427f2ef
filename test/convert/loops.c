/* SPDX-License-Identifier: MIT */
/* for, while and do, break and continue, counters of numbers.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
double f(double x, double y) {
    double s = 0, t = x;
    int i = 0;
    for (double h = 0.5; h < 3; h += 0.5) s += h * x;
    while (1) {
        if (++i > 8) break;
        if (i % 3 == 0) continue;
        t = t * y + 1;
    }
    do {
        t /= 2;
        s += t;
    } while (t > 0.1 && i-- > 0);
    for (;;) {
        if (s < 4) break;
        s *= 0.75;
    }
    for (int k = 0, m = 5; k < m; k++, m--) s += k * y - m * t;
    return s;
}
