/* SPDX-License-Identifier: MIT */
/* Pointers to functions that stand in structures and change; functions that change what they are led to.
 * options: --function f --with-respect-to x[0:2] --of y[0:2]
 * inputs: 1.25 -0.5
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in, .y = (double[2]){0}
 */
struct rule {
    int times;
    void (*step)(double *s, double by);
    double (*size)(const double *s);
};

static void turn(double *s, double by) {
    const double a = s[0];
    s[0] = a * by - s[1];
    s[1] = s[1] * by + a;
}
static void scale(double *s, double by) {
    for (int i = 0; i < 2; i++) s[i] *= by * s[i];
}
static double first(const double *s) { return s[0]; }
static double square(const double *s) { return s[0] * s[0] + s[1] * s[1]; }
static int twice(int k) { return 2 * k; }
static int once(int k) { return k; }

static double run(const struct rule *r, double *s) {
    int (*often)(int) = r->times > 1 ? twice : once;
    for (int i = 0; i < often(r->times); i++) {
        r->step(s, 0.25 * s[1]);
        if (r->size(s) > 100) break;
    }
    return r->size(s);
}

void f(const double *x, double *y) {
    double s[2] = {x[0], x[1]};
    struct rule r = {2, turn, square};
    y[0] = run(&r, s);
    r.step = scale;
    r.size = first;
    r.times = 1;
    y[1] = run(&r, s) * y[0];
}
