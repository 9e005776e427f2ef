/* SPDX-License-Identifier: MIT */
/* A structure that has nothing but pointers.
 * options: --function f --with-respect-to s->m[0:2][0:1],s->v[0:1] --of return
 * inputs: 1.25 -0.5 2.5
 * outputs: 1
 * given: double a[1] = {in[0]}, b[1] = {in[1]}, v[1] = {in[2]}, *m[2] = {a, b}; struct s s = {m, v};
 * call: out[0] = f(&s);
 * arguments: .s = &s, .s_m_counts = (size_t[]){1, 1}
 */
struct s {
    double **m, *v;
};
double f(struct s *s) {
    *s->m[1] *= *s->v;
    return **s->m * s->m[1][0];
}
