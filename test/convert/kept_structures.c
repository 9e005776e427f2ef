/* SPDX-License-Identifier: MIT */
/* Structures that are overwritten as a whole, field by field and through calls.
 * about: adjoint
 * options: --function f --with-respect-to x[0:n] --of y[0:15]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 15
 * call: f(4, in, out);
 * arguments: .n = 4, .x = in
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct s_a14 {
    double a, b;
};
static double g_a14(const struct s_a14 *t) { return t->a * t->b * t->a; }
static double a14(int n, const double *x, double *y) {
    (void)n;
    struct s_a14 t = {x[0], x[1]}, u = {x[2], x[3]};
    y[0] = g_a14(&t);
    t.a = x[2];
    y[1] = g_a14(&t);
    t = u;
    u.a = x[0] * x[1];
    y[1] += t.a * t.a * t.b;
    t = u;
    y[1] += t.a * t.a * t.b;
    return g_a14(&t);
}

struct s_b28 {
    double a, b;
};
static double b28(int n, const double *x, double *y) {
    (void)n;
    struct s_b28 s = {x[0], x[1]}, t[2] = {{x[1], x[2]}, {x[3], x[0]}};
    double q = 0;
    for (int i = 0; i < 2; i++) {
        double v = s.a * 2;
        q += v * v * x[i];
        s = t[i];
    }
    y[0] = q;
    y[1] = s.a * s.b;
    return q;
}

struct s_b29 {
    double a, b;
    double v[2];
    struct {
        double p;
    } in[2];
    int k;
};
static double g_b29(struct s_b29 t) {
    t.a *= t.b;
    t.in[1].p *= t.v[1];
    return t.a * t.v[1] * t.in[1].p;
}
static double b29(int n, const double *x, double *y) {
    (void)n;
    struct s_b29 t;
    t.a = x[0];
    t.b = x[1];
    t.v[0] = 1;
    t.v[1] = x[2];
    t.in[0].p = 0;
    t.in[1].p = x[3];
    t.k = 3;
    y[0] = g_b29(t);
    t.a = 5 * x[1];
    t.v[1] = x[0];
    struct s_b29 u = t;
    u.in[1].p *= x[0];
    y[1] = g_b29(u) * g_b29(t);
    const struct s_b29 *const same = &t;
    t = *same;
    t.b = 1;
    return g_b29(t);
}

struct n_c39 {
    double v;
    struct n_c39 *next;
};
static double c39(int n, const double *x, double *y) {
    struct n_c39 a[4];
    for (int i = 0; i < n; i++) {
        a[i].v = x[i] * x[i];
        a[i].next = i + 1 < n ? &a[i + 1] : NULL;
    }
    double s = 0;
    for (struct n_c39 *p = a; p; p = p->next) {
        s += p->v * p->v * s + p->v;
        p->v = s * p->v;
    }
    y[0] = s;
    y[1] = a[2].v;
    a[0].next = &a[2];
    for (struct n_c39 *p = a; p; p = p->next) s *= p->v;
    return s;
}

struct p_c47 {
    int k;
    double v;
};
static void init_c47(struct p_c47 *q) { q->k = 2; }
static double c47(int n, const double *x, double *y) {
    (void)n;
    struct p_c47 q = {1, x[0]};
    double s = x[q.k] * x[q.k];
    init_c47(&q);
    s += x[q.k] * x[q.k] * q.v * q.v;
    struct p_c47 z = {3, x[1]};
    q = z;
    s += x[q.k] * x[q.k] * q.v * q.v;
    y[0] = s;
    y[1] = 0;
    return s;
}

void f(int n, const double *x, double *y) {
    y[2] = a14(n, x, y + 0);
    y[5] = b28(n, x, y + 3);
    y[8] = b29(n, x, y + 6);
    y[11] = c39(n, x, y + 9);
    y[14] = c47(n, x, y + 12);
}
