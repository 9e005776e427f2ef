/* SPDX-License-Identifier: MIT */
/* --to blocks where the inputs are few and counted: the whole function runs forwards over
 * duals, each output is one statement of the inputs. */
#ifndef CONVERT_FORWARD_H
#define CONVERT_FORWARD_H

#include "convert/output.h"

enum { MOST_DIRECTIONS = 16 };

/* The width of the duals that the function is written over; 0: it is written over variables.
 * At most `most` inputs. */
unsigned dual_width(const writer *w, unsigned most);
/* What the names mean from here on, in a text over duals: duals, or variables again. Nothing
 * in others. */
const char *names_of_duals(const writer *w);
const char *names_of_variables(const writer *w);
/* The callback that runs the one over duals, NAME_duals. */
const char *forward_callback(const writer *w);

#endif
