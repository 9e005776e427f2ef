/* SPDX-License-Identifier: MIT */
/* The files that are written: the converted source, its header, and a callback for drivers. */
#ifndef CONVERT_OUTPUT_H
#define CONVERT_OUTPUT_H

#include "convert/writer.h"

typedef struct output {
    const char *source, *header; /* their names */
    const char *command;         /* what was asked for, in a comment */
    bool alone;                  /* one file was given: functions within it are static */
} output;

/* The text of file f, as file `in`, with what it has of functions, types and variables as
 * they were, and converted. */
const char *write_file(writer *w, const file *f, const char *in, const output *o);
/* Headers that it needs beside its own, which stand before those; a name of the implementation
 * that a source without math.h declares itself is another one in them. */
void put_headers(const program *p, const file *f, const char *headers, text *to);
/* What is written asks for <wengert.h>; the same with those headers of it only that have the names
 * which stand there. */
const char *with_few_headers(const char *s);
size_t headers_place(const file *f);
bool has_name(const list *names, const char *name);
const char *guard_of(const char *name); /* in capitals, as include guards are */
bool is_converted(const writer *w, const file *f);
const char *write_header(writer *w, const output *o, const char *declarations);
/* A declaration of `name` with that type. */
const char *declared_as(const type *t, const char *name);
/* The callback, and the arguments that it takes: what the header has of their declaration, all
 * of it, and what stands in the source. */
const char *callback_declaration(writer *w);
const char *whole_declaration(writer *w);
const char *callback_definition(writer *w, const char *in);
/* A function that gives the globals of file f that hold variables the values of the originals,
 * and what it needs that is not in `done`; "" where there are none. */
const char *write_begin(writer *w, const file *f, list *done);

#endif
