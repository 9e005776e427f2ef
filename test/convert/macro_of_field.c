/* SPDX-License-Identifier: MIT */
/* A macro of the same name as a field: what is written behind the source has the field.
 * options: --function f --with-respect-to s->pose[0:3] --of y[0:2]
 * inputs: 1.25 0.4 2.5
 * outputs: 2
 * call: struct robot r = {3, {in[0], in[1], in[2]}}; f(&r, out);
 * arguments: .s = &(struct robot){3, {in[0], in[1], in[2]}}, .y = (double[2]){0}
 */
#include <math.h>

struct robot {
    int joints;
    double pose[3];
};
#define pose s->pose
#define joints (s->joints)

void f(const struct robot *s, double *y) {
    y[0] = y[1] = 0;
    for (int i = 0; i < joints; i++) y[0] += pose[i] * sin(pose[i]);
    y[1] = pose[0] * pose[2];
}
