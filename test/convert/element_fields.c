/* SPDX-License-Identifier: MIT */
/* Fields of single elements that are arrays.
 * options: --function f --with-respect-to s[0].{p,q},s[1].p[0:2] --of s[0].p,s[1].{q,p},return
 * inputs: 0.5 1.9 0.2 1.1 0.9
 * outputs: 6
 * given: struct item v[2] = {{{in[0], in[1]}, in[2]}, {{in[3], in[4]}, 3}};
 * call: out[5] = f(v); out[0] = v[0].p[0]; out[1] = v[0].p[1]; out[2] = v[1].q; out[3] = v[1].p[0]; out[4] = v[1].p[1];
 * arguments: .s = v
 */
struct item {
    double p[2], q;
};

double f(struct item *s) {
    s[1].q *= s[0].p[1] * s[0].q;
    s[0].p[0] += s[1].p[1] * s[1].p[0];
    s[1].p[1] = s[0].p[0] * s[0].p[1];
    return s[1].p[0] * s[1].q;
}
