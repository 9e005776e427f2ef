/* SPDX-License-Identifier: MIT */
/* switch with cases that fall through, and goto.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0], 3);
 * arguments: .x = in[0], .n = 3
 */
static double step(int kind, double x) {
    double y = 1;
    switch (kind) {
    case 0: return x;
    case 1: y = x * x;
    /* fall through */
    case 2: y += x; break;
    case 3: {
        double z = x / 2;
        y = z * z;
        break;
    }
    default: y = -x;
    }
    return y;
}

double f(double x, int n) {
    double s = 0;
    int k = 0;
again:
    s = s * 0.5 + step(k, x + s);
    if (++k <= n + 1) goto again;
    if (s < 0) goto negative;
    return s;
negative:
    return -s * x;
}
