/* SPDX-License-Identifier: MIT */
/* Structures that are written out: assigned, handed over, returned; and copied as memory.
 * options: --function f --with-respect-to x[0:3] --of y[0:3]
 * inputs: 0.7 1.2 -0.4
 * outputs: 3
 * call: f(in, out);
 * arguments: .x = in, .y = (double[3]){0}
 */
#include <math.h>
#include <string.h>

struct point {
    double x, y;
    int n;
};
struct path {
    struct point at[3];
    double length;
};

static struct point turned(struct point p, double by) {
    if (p.n > 3) return p;
    return (struct point){.x = p.x * cos(by) - p.y * sin(by), .y = p.x * sin(by) + p.y * cos(by), .n = p.n + 1};
}
static double area(struct point a, struct point b) { return a.x * b.y - a.y * b.x; }

/* A structure of arrays that is given back. */
static struct path walked(double a, double b) {
    struct path p = {{{a, b, 0}, {b, a * b, 1}}, 0};
    for (int i = 1; i < 3; i++) {
        p.at[i] = turned(p.at[i - 1], a * i);
        p.length += hypot(p.at[i].x - b, p.at[i].y);
    }
    return p;
}

void f(const double *x, double *y) {
    struct point p = {x[0], x[1], 0}, q;
    struct path w[3], v[3];
    q = (struct point){x[1] * x[1], x[2], 2};
    p = turned(turned(p, x[2]), q.x);
    y[0] = area(p, (struct point){x[2], p.x, 1}) * area(q, p);
    memset(w, 0, sizeof w);
    for (int i = 0; i < 3; i++) w[i] = walked(x[i], x[0] + i);
    memcpy(v, w, sizeof v);
    memmove(v, v + 1, 2 * sizeof(struct path));
    memmove(w + 1, w, 2 * sizeof *w);
    y[1] = v[0].length * w[2].at[1].x + v[2].at[2].y * w[1].length;
    memset(&w[1], 0, sizeof w[1]);
    w[1].length = p.y * v[1].length;
    y[2] = w[1].length * w[2].length + w[1].at[0].x * v[0].length;
}
