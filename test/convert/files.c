/* SPDX-License-Identifier: MIT */
/* Two files given together, which share a structure and a global.
 * options: --function f --with-respect-to x,y --of return
 * files: files_part
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
#include "files_part.h"

double gain = 2;

double f(double x, double y) {
    struct filter s = {0};
    for (int i = 0; i < 3; i++) advance(&s, x + i * y);
    return s.level * gain;
}
