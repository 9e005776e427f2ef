/* SPDX-License-Identifier: MIT */
/* Fields that lead to const numbers and structures, which are read where they stand; structures
 * of them by value, without a place to write to, and of a global and a static array.
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 0.6 1.4 -0.5 0.3
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <stddef.h>

struct pair {
    double a, b[2];
};
struct part {
    const double *from;
    double *to;
    int n;
};
struct table {
    const double *rows[2];
    const struct pair *of;
};
static double sums[4];

static void add(const struct part p, struct part q, double by) {
    for (int i = 0; i < p.n; i++) {
        p.to[i] += by * p.from[i] * q.from[i];
        if (q.to) q.to[0] += p.to[i] * 0.1;
    }
}
static double entry(const struct table *t, int i) {
    return t->rows[i % 2][i] * t->of->a + *t->rows[1] * t->of[1].b[i % 2];
}

double f(const double *x) {
    static double kept[4];
    double w[4];
    for (int i = 0; i < 4; i++) {
        sums[i] = 0;
        kept[i] = x[i];
        w[i] = 1;
    }
    struct part p = {x, sums, 4}, q = {kept, NULL, 4}, r = {sums, kept, 2};
    add(p, q, 2);
    add(r, p, x[1]);
    add((struct part){x, w, 3}, r, x[2]);
    add(r, r, 0.5);
    const struct pair pairs[2] = {{x[0], {x[1], 1}}, {2, {x[2] * x[3], x[3]}}};
    struct table t = {{x, w}, pairs};
    double s = 0;
    for (int i = 0; i < 4; i++)
        s += sums[i] * kept[i] * w[i] + entry(&t, i) * t.rows[0][i] * t.of->a;
    return s;
}
