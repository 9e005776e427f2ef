/* --function f --with-respect-to x[0:3] --of y[0:3]
 * A structure that goes on behind its end: the arguments have s_weight_count. y[i] = weight[i] x[i], weight a
 * variable because all structures `number` are. */
struct number { double v; };
struct scale { int n; struct number weight[1]; };
void f(struct scale *s, const double *x, double *y) {
    for (int i = 0; i < s->n; i++) {
        struct number t;
        t.v = x[i];
        y[i] = s->weight[i].v * t.v;
    }
}
