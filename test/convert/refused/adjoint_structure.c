/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x --of return
 * says: refused/adjoint_structure.c:9: error: 'both' returns a structure or pointer of variables
 */
struct pair {
    double a, b;
};

static struct pair both(double x) {
    struct pair p = {x, x * x};
    return p;
}

double f(double x) { return both(x).a * both(x).b; }
