/* SPDX-License-Identifier: MIT */
/* Expanding macros in the text, where what they stand for has to be changed. */
#ifndef CONVERT_EXPAND_H
#define CONVERT_EXPAND_H

#include "convert/front.h"

/* The text of a file with those macros expanded that have to be, within the functions named in
 * `functions`; NULL when there are none. Lines keep their numbers. `undone`: names of macros
 * that are not at the end of all files what they were before; then those are expanded, too
 * (NULL: what is written stands where it stood). */
const char *expanded_file(const file *f, const list *functions, const table *macros,
                          const table *undone);

/* Declarations that a text needs in which macros of the system stand by a plain name: it is
 * read before all others. And the text without these names. */
extern const char *const plain_header, *const plain_name;
const char *without_plain(const char *s);

#endif
