/* SPDX-License-Identifier: MIT */
#ifndef TEST_CONVERT_FILES_PART_H
#define TEST_CONVERT_FILES_PART_H

struct filter {
    double level;
    int steps;
};
extern double gain;
void advance(struct filter *s, double to);

#endif
