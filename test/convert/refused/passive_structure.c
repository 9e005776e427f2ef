/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return --passive report
 * says: passive_structure.c:11: error: 'report' is said to be passive and gets '&s', which leads to variables: give it numbers
 */
typedef struct state {
    double x;
} state;
void report(const state *s);
double f(double x) {
    state s = {x};
    report(&s);
    return s.x * s.x;
}
