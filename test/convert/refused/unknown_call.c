/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/unknown_call.c:10: error: 'measured' gets 'x', which depends on the inputs, and is not among the files given
 * says: register an operation of your own
 * says: --passive measured
 */
double measured(double x);

double f(double x) {
    return x * measured(x);
}
