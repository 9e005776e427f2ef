/* SPDX-License-Identifier: MIT */
/* Names that macros make: of variables, parameters, functions, and of the fields of a structure
 * by a list that stands for another macro each time.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 -0.5
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
#define VARIABLE(n) double v_##n = 0
#define LOCAL double w
#define PAIR(a, b) double a, b
#define POINTER(p) double *p##_at
#define TABLE double table[2]
#define FUNCTION(n) pre_##n
#define ARGUMENT(x) x##_given
#define STATE double p, q
#define FIELDS FIELD(mass) FIELD(spin)
#define TYPE double
struct body {
#define FIELD(n) double n;
    FIELDS
#undef FIELD
};
typedef struct {
    TYPE z;
    STATE;
    struct {
        TABLE;
    } in;
} state;
static double FUNCTION(g)(double ARGUMENT(x)) { return ARGUMENT(x) * x_given; }
double f(double x, double y) {
    struct body b;
#define FIELD(n) b.n = x * (double)sizeof(#n);
    FIELDS
#undef FIELD
    state s;
    VARIABLE(sum);
    LOCAL = y;
    PAIR(c, d);
    POINTER(k) = &w;
    TABLE = {x, y};
    double ARGUMENT(y) = x * y;
    s.z = b.mass, s.p = b.spin * y, s.q = s.p * *k_at, s.in.table[1] = s.q;
    c = table[0], d = table[1];
    v_sum += FUNCTION(g)(x) * y_given + c * d;
    return v_sum * s.in.table[1] + s.z;
}
