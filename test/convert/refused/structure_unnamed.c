/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: structure_unnamed.c:8: error: 'state' holds variables and is a structure without a name: give that a tag
 */
struct {
    double last;
    int turns;
} state;

double f(double x) {
    state.last = x * x;
    state.turns++;
    return state.last;
}
