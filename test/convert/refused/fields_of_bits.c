/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/fields_of_bits.c:8: error: 'bits' holds variables and is used as two types
 */
#include <string.h>
struct both {
    double a;
    unsigned long long bits;
};

double f(double x) {
    struct both t = {.a = x};
    memcpy(&t.bits, &t.a, sizeof t.bits);
    t.bits ^= 1;
    memcpy(&t.a, &t.bits, sizeof t.bits);
    return t.a;
}
