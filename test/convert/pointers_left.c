/* SPDX-License-Identifier: MIT */
/* Pointers to structures with variables that the function does not follow.
 * options: --function f --with-respect-to p->x,of->scale --of return
 * inputs: 0.6 1.4
 * outputs: 1
 * given: struct whole of = {in[1], 2, NULL}; struct part p = {in[0], &of, {&of, NULL}};
 * call: out[0] = f(&p, &of);
 * arguments: .p = &p, .of = &of
 */
#include <math.h>
#include <stddef.h>

struct whole {
    double scale;
    int n;
    struct part *const first;
};
struct part {
    double x;
    const struct whole *of, *others[2];
};

double f(const struct part *p, const struct whole *of) {
    double s = 0;
    for (int i = 0; i < of->n; i++) s += sin(p->x * of->scale + i);
    return s * p->x;
}
