/* SPDX-License-Identifier: MIT */
/* memcpy, memmove and memset on variables.
 * options: --function f --with-respect-to x[0:3] --of y[0:3]
 * inputs: 1.25 0.4 -2
 * outputs: 3
 * call: f(in, out);
 * arguments: .x = in
 */
#include <string.h>

struct state {
    double now[3], before[3];
};

void f(const double x[3], double y[3]) {
    struct state s, copy;
    double work[4];
    memset(work, 0, sizeof work);
    memcpy(s.now, x, 3 * sizeof(double));
    memcpy(s.before, s.now, sizeof s.now);
    for (int i = 0; i < 3; i++) s.now[i] *= s.before[(i + 1) % 3];
    memcpy(&copy, &s, sizeof(struct state));
    memmove(work + 1, copy.now, 3 * sizeof *work);
    memmove(work, work + 1, 2 * sizeof *work);
    for (int i = 0; i < 3; i++) y[i] = work[i] + copy.before[i] * x[0];
}
