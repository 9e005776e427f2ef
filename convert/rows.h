/* SPDX-License-Identifier: MIT */
/* --to blocks where the outputs are few: the adjoint without a tape gives a row of the Jacobian
 * for each of them, which is one statement of the inputs. */
#ifndef CONVERT_ROWS_H
#define CONVERT_ROWS_H

#include "convert/output.h"

enum { MOST_ROWS = 16 };

/* Are there at most `rows` outputs, by a count that is known, and more than `directions`
 * inputs? */
bool has_few_rows(const analysis *a, unsigned directions, unsigned rows);
/* Can the adjoint stand in the place of a recording? */
bool can_have_rows(const writer *w);
/* What stands behind the source: the adjoint for drivers, of this file only, and the
 * callback that records its rows. */
const char *rows_definition(writer *w);

#endif
