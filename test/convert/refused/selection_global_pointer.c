/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to work[0:n] --of return
 * says: (options): error: 'work[0:n]' leads through 'work', a pointer that is not copied: make it a parameter
 */
double *work;
double f(int n) { return work[0] * work[n - 1]; }
