/* SPDX-License-Identifier: MIT */
/* Arguments whose fields stand in structures and unions without a name, and are of such.
 * options: --function f --with-respect-to s->p.at[0:2],s->many[1][0].in.v,t.q.at[1],x[0:2] --of return
 * inputs: 0.7 1.9 -0.5 0.25 0.6 1.1
 * outputs: 1
 * given: struct state s = {.kind = 3, .x = 2, .y = -1, .p = {{in[0], in[1]}, 1}, .q = {{0.5, 4}, 1}, .a = 5, .size = {2, 3}, .first = 1, .last = 6, .most = {{{7, 0}}, {{8, 9}}}}, t = s;
 * given: s.many[1][0].in.v = in[2], s.many[0][1].w = 1.5, s.many[1][1].in.k = 2, t.q.at[1] = in[3], t.p.at[1] = 1.25;
 * call: out[0] = f(&s, t, in + 4);
 * arguments: .s = &s, .t = t, .x = in + 4
 */
struct state {
    int kind;
    struct {
        double x, y;
    };
    struct {
        double at[2];
        int n;
    } p, q;
    struct {
        double w;
        struct {
            double v;
            int k;
        } in;
    } many[2][2];
    union {
        int a;
        unsigned b;
    };
    struct {
        int rows, columns;
    } size;
    struct {
        int first : 4, : 2, last : 8;
        struct {
            int by[2];
        } most[2];
    };
};

static double part(const struct state *s) {
    return s->x * s->p.at[s->p.n] + s->y * s->q.at[0] + s->kind;
}
double f(const struct state *s, struct state t, const double *x) {
    double sum = part(s) * x[0];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            sum += s->many[i][k].w * s->p.at[0] + s->many[i][k].in.v * (s->many[i][k].in.k + 3);
    t.x = x[1] * t.q.at[1];
    t.many[0][0].in.v = t.x * s->p.at[1];
    return sum * part(&t) * t.many[0][0].in.v +
           x[0] * (int)(s->b + t.size.rows * t.size.columns) +
           x[1] * t.first * s->last * s->most[1].by[0];
}
