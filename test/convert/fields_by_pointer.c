/* SPDX-License-Identifier: MIT */
/* Structures with arrays by pointer, whose lengths the arguments say.
 * options: --function f --with-respect-to s->gain,s->level[0:s->n] --of return
 * inputs: 1.25 0.4 2
 * outputs: 1
 * given: double level[2] = {in[1], in[2]};
 * given: struct system s = {2, in[0], level};
 * call: out[0] = f(&s);
 * arguments: .s = &s, .s_level_count = 2
 */
struct system {
    int n;
    double gain, *level;
};

double f(struct system *s) {
    double r = 0;
    for (int i = 0; i < s->n; i++) {
        s->level[i] *= s->gain;
        r += s->level[i] * s->level[i];
    }
    return r;
}
