/* SPDX-License-Identifier: MIT */
/* What #if leaves out is not looked at, and stays in the text.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
#define FAST 1

double f(double x) {
#if FAST
    return x * x;
#else
    return unknown_to_everybody(x);
#endif
}
