/* SPDX-License-Identifier: MIT */
/* What is known of functions that others define: those of math.h and the C library. */
#ifndef CONVERT_KNOWN_H
#define CONVERT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum known_kind {
    KNOWN_NOTHING,
    KNOWN_OPERATION, /* numbers to a number: `as` is the operation on variables */
    KNOWN_SCALED,   /* ldexp and the like: a number times a power of two that is an integer's */
    KNOWN_PARTS,    /* modf, frexp: a result, and one by pointer */
    KNOWN_QUESTION, /* isnan and the like: of the value, without derivative */
    KNOWN_ROUNDING, /* lround and the like: a whole number of a value */
    KNOWN_MEMORY,   /* gives new memory */
    KNOWN_AGAIN,    /* realloc */
    KNOWN_COPY,     /* memcpy, memmove */
    KNOWN_FILL,     /* memset */
    KNOWN_SORT,     /* qsort */
    KNOWN_PRINT,    /* printf and its kin: values */
    KNOWN_HARMLESS /* does nothing with what it is given that could matter: free, exit, strlen */
} known_kind;

typedef struct known {
    const char *name;
    known_kind kind;
    const char *as;
    unsigned numbers;
} known;

/* By name; KNOWN_NOTHING for others. Names that end with f or l, and __builtin_ ones, are those
 * without: sinf is sin, but `bits`, unless NULL, says that it rounds to 32 bits or none of
 * 64. */
const known *known_function(const char *name, unsigned *bits);

#endif
