/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/assembly.c:7: error: '__asm__("" : "+x"(y))': what assembly does is not known
 */
double f(double x) {
    double y = x;
    __asm__("" : "+x"(y));
    return y * x;
}
