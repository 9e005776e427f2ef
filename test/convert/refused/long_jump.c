/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/long_jump.c:9: error: 'longjmp(back, 1)': a long jump leaves recordings where they are
 */
#include <setjmp.h>
static jmp_buf back;

double f(double x) {
    if (x > 3) longjmp(back, 1);
    return x * x;
}
