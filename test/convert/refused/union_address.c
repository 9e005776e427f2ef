/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_address.c:7: error: a field of union
 */
#include <stdint.h>

union way {
    uintptr_t to;
    const double *from;
};
double f(double x) {
    double y = x * x;
    union way w;
    w.to = (uintptr_t)&y;
    return *w.from * 2;
}
