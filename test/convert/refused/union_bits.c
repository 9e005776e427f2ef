/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_bits.c:7: error: a field of union
 */
#include <stdint.h>

union bits {
    double number;
    uint64_t whole;
};
double f(double x) {
    union bits b;
    b.number = x;
    return x * (double)(b.whole >> 52);
}
