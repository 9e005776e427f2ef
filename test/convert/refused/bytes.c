/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/bytes.c:6: error
 */
double f(double x) {
    double a[2] = {x, 0};
    const char *const from = (const char *)a;
    char *const to = (char *)(a + 1);
    for (int i = 0; i < 8; i++) to[i] = from[i];
    return a[1];
}
