/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: refused/adjoint_returned.c:12: error: 'row(x, 2)' cannot be turned round: a structure with pointers to variables is copied
 */
typedef struct view {
    const double *at;
    int n;
} view;
static view row(const double *x, int n) { return (view){x, n}; }

double f(const double *x) {
    const view v = row(x, 2);
    return v.at[0] * v.at[1];
}
