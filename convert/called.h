/* SPDX-License-Identifier: MIT */
/* --to tape, --to blocks: which operations are recorded by a call each (wengert/let.h) and which by
 * statements in line. */
#ifndef CONVERT_CALLED_H
#define CONVERT_CALLED_H

#include "convert/writer.h"

/* choose_calls - at most `most` operations in line, those that run most often first; NULL: as
 * many as leave the result within four times the source's time to compile. */
void choose_calls(writer *w, const char *most);
/* Does node n of the version that is written run so seldom that it records by calls? */
bool is_seldom(const writer *w, const node *n);
/* Is what node n records of the version that is written recorded by calls? */
bool by_calls(const writer *w, const node *n);

#endif
