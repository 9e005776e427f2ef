/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/integer_pointer.c:9: error: '(const double *)((uintptr_t)a + sizeof(double))': an integer becomes a pointer to variables: keep the pointer
 */
#include <stdint.h>

double f(double x) {
    const double a[2] = {1, x};
    const double *const p = (const double *)((uintptr_t)a + sizeof(double));
    return *p;
}
