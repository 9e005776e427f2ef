/* SPDX-License-Identifier: MIT */
/* What specifiers.c and declaration.c share: parts of a text that are replaced. */
#ifndef CONVERT_SPECIFIERS_H
#define CONVERT_SPECIFIERS_H

#include "convert/writer.h"

typedef struct parts {
    part *at;
    size_t n, room;
} parts;
void add_part(parts *to, size_t begin, size_t end, const char *s);
/* Parameters and dimensions of a declarator; specifiers, which end where the result says. */
void scan_function(writer *w, const file *f, size_t begin, size_t end, parts *to);
size_t scan_specifiers(writer *w, const file *f, size_t begin, size_t end, parts *to);
/* Has a name of a type another one where numbers are variables: is it of an array, pointer,
 * function or structure of them? */
bool names_numbers(const writer *w, const decl *d);
/* Tokens by number: their text, is it that sign, the one behind an offset, the one behind
 * the group that this opens. */
const char *word_at(const file *f, size_t i);
size_t next_token(const file *f, size_t i);
size_t after_group(const file *f, size_t i);
bool sign_is(const file *f, size_t i, char s);

#endif
