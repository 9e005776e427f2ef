/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x --of return
 * says: adjoint_static_address.c:7: error: 'at' is static and leads to another that changes, which cannot be turned round: assign to it
 */
double f(double x) {
    static int count[2];
    static int *at = &count[1];
    count[1]++;
    return *at * x * x;
}
