/* SPDX-License-Identifier: MIT */
/* float: numbers in float become variables, which are double.
 * adjoint: rounds
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 * rounds: yes
 */
#include <math.h>

static float squared(float v) { return v * v; }

float f(float x, float y) {
    float s = squared(x) + 0.5f * y;
    s += sinf(x) * sqrtf(y);
    return s / (float)(x + 2);
}
