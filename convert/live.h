/* SPDX-License-Identifier: MIT */
/* Which local variables are read later. */
#ifndef CONVERT_LIVE_H
#define CONVERT_LIVE_H

#include "convert/tree.h"

/* May what d holds behind statement `last` of a block be read, before it is assigned to as a
 * whole? A local variable whose address nobody has; of an array the question is whether it
 * is named. */
bool is_live_after(const node *block, size_t last, const decl *d);
/* Is it named in its function but in statements first .. last of the block? */
bool is_named_outside(const node *block, size_t first, size_t last, const decl *d);
/* Is it named in n? */
bool names_it(const node *n, const decl *d);

#endif
