/* SPDX-License-Identifier: MIT */
/* Macros that do arithmetic, with and without arguments, in each other; others stay.
 * options: --function f --with-respect-to x[0:COUNT] --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#define COUNT 2
#define SQUARE(a) ((a) * (a))
#define NORM2(v) (SQUARE(v[0]) + SQUARE(v[1]))
#define FIRST x[0]
#define ADD_TO(s, by) \
    do { \
        double added = (by); \
        (s) += added; \
    } while (0)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define JOINED(a, b) a##b

double f(const double x[COUNT]) {
    double total = NORM2(x); /* two squares */
    for (int i = 0; i < COUNT; i++) ADD_TO(total, FIRST * i + MAX(x[i], 1));
    return JOINED(tot, al) * SQUARE(FIRST);
}
