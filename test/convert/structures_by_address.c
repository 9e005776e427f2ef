/* SPDX-License-Identifier: MIT */
/* Structures that are copied from where a pointer leads, which nothing else asks for.
 * options: --function f --with-respect-to x[0:4].{re,im} --of y[0:2].{re,im}
 * inputs: 0.5 -0.3 1.2 0.4 -0.7 0.9 0.2 1.1
 * outputs: 4
 * call: { struct number y[2]; f(2, (const struct number *)in, y); memcpy(out, y, sizeof y); }
 * arguments: .n = 2, .x = (const struct number *)in
 */
#include <string.h>

struct number {
    double re, im;
};

static struct number times(struct number a, struct number b) {
    return (struct number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

void f(int n, const struct number *x, struct number *y) {
    const struct number *const table = x + n;
    struct number last = table[n - 1], *to = y;
    for (int i = 0; i < n; i++) {
        const struct number *from = x;
        struct number a, b;
        from += i;
        a = *from++;
        b = table[i];
        *to = times(a, b);
        last = times(last, *to++);
        from = table;
    }
    y[0] = times(y[0], last);
}
