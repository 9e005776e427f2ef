/* SPDX-License-Identifier: MIT */
/* Arrays of structures, and structures with arrays in them.
 * options: --function f --with-respect-to p[0:n].{x,y} --of return
 * inputs: 0.6 0.8 2.5 -1 0.25 1.75
 * outputs: 1
 * given: struct point p[3] = {{in[0], in[1], 0}, {in[2], in[3], 1}, {in[4], in[5], 0}};
 * call: out[0] = f(p, 3);
 * arguments: .p = p, .n = 3, .p_count = 3
 */
struct point {
    double x, y;
    int kind;
};
struct summary {
    double moment[3];
    int count[2];
};

double f(const struct point *p, int n) {
    struct summary s[2] = {{{0}, {0}}, {{0}, {0}}};
    for (int i = 0; i < n; i++) {
        struct summary *const to = &s[p[i].kind];
        to->moment[0] += p[i].x;
        to->moment[1] += p[i].x * p[i].y;
        to->moment[2] += p[i].y * p[i].y;
        to->count[p[i].x > 0]++;
    }
    double r = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) r += (i + 1) * s[k].moment[i] / (1 + s[k].count[1]);
    return r;
}
