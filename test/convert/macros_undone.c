/* SPDX-License-Identifier: MIT */
/* Macros that are undefined or defined anew behind their use; names of the C library that are the source's own.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 -0.75
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
extern const int __stpcpy;
#define abs(a) ((a) >= 0 ? (a) : -(a))
#define half 0.5
#define quarter (half * half)
#define table {quarter, 2 * half}
static double g(double x) {
    static double twice[2] = table;
    switch ((int)(4 * half)) {
    case 2:
        return half * x + quarter * x * x + twice[1];
    default:
        return x;
    }
}
#undef half
#define half 0.25
static double h(double x) { return half * x * x + quarter * x; }
#undef half
#undef quarter
#undef table
double f(double x, double y) { return g(x) * h(abs(y)); }
