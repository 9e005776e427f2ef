/* SPDX-License-Identifier: MIT */
/* The front end: libclang reads the files, this makes the tree of them. */
#ifndef CONVERT_FRONT_H
#define CONVERT_FRONT_H

#include "convert/tree.h"

/* What a name of a macro stands for. */
typedef struct macro macro;
struct macro {
    const char *name;
    bool with_arguments, variadic, of_system;
    bool several;    /* the name has other definitions before it */
    list parameters; /* names */
    const char *body;
    const file *file; /* where it is defined: the directive that has this offset in it */
    size_t at;
};

/* A text that a file is to have instead of its own. */
typedef struct changed {
    const char *name, *text;
} changed;

/* read_program - the tree of `files` C files, compiled with those flags. NULL after an error of
 * the compiler's, which was said. Macros are by name, as last defined, in *macros (NULL: not
 * wanted). */
program *read_program(size_t files, const char *const *file, int flags, const char *const *flag,
                      size_t texts, const changed *text, table **macros);

#endif
