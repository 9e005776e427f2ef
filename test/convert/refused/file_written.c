/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/file_written.c:9: error: 'fwrite' gets
 */
#include <stdio.h>

double f(double x) {
    double y = x * x;
    fwrite(&y, sizeof y, 1, stderr);
    return y;
}
