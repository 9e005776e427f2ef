/* SPDX-License-Identifier: MIT */
/* --to generic: the text of --to tape as a kernel for three types (wengert/generic.h). The file
 * goes on with itself twice; what is the source's own is read once. */
#ifndef CONVERT_GENERIC_H
#define CONVERT_GENERIC_H

#include "convert/output.h"

/* Appends a text that only the first round reads; with one type, as it is. `in` is the file
 * that is written, `line`: what follows begins a line. */
void put_once(text *to, const writer *w, const char *in, const char *s, bool line);
/* The text between functions, variables and types. */
const char *between(const writer *w, const file *f, const char *in, size_t begin, size_t end);
/* The whole file `in`, of this body, with its rounds; with one type, as it is. */
const char *in_rounds(const writer *w, const char *in, const char *body);
/* What the header says of the callback. */
const char *generic_declaration(writer *w, const char *arguments);

#endif
