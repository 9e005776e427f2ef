/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to s->x --of return
 * says: 's->x': 'x' is in a structure without a name
 */
typedef struct state {
    struct {
        double x, y;
    };
} state;
double f(const state *s) { return s->x * s->y; }
