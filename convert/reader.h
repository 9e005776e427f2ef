/* SPDX-License-Identifier: MIT */
/* What the front end's files share: a file being read, and what libclang says of a cursor. */
#ifndef CONVERT_READER_H
#define CONVERT_READER_H

#include <clang-c/Index.h>
#include "convert/front.h"

typedef struct reader {
    program *p;
    CXTranslationUnit unit;
    CXFile asked; /* last; what it is */
    file *answer;
    table *files;   /* by name */
    table *types;   /* by spelling */
    table *macros;  /* by name */
    decl *function; /* whose body is read */
    decl *global;   /* whose initialiser is read */
} reader;

typedef struct cursors {
    CXCursor *at;
    size_t n, room;
} cursors;

/* read_declarations.c */
const char *taken(CXString s); /* a copy; libclang's is disposed of */
const char *key_of(CXFile f);
file *file_of(reader *r, CXFile f, CXSourceLocation at);
file *located(reader *r, CXSourceLocation at, size_t *offset);
file *extent(reader *r, CXCursor c, size_t *begin, size_t *end);
const type *type_of(reader *r, CXType t);
const type *decayed(const type *t); /* of a parameter */
decl *decl_of(reader *r, CXCursor c);
void set_place(reader *r, decl *d, CXCursor c);

/* read_nodes.c */
cursors children(CXCursor c);
node *build(reader *r, CXCursor c, bool by_macro);  /* NULL: it stands in no file */
invocation *macro_at(const file *f, size_t offset); /* NULL: none stands there */

#endif
