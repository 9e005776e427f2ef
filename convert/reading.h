/* SPDX-License-Identifier: MIT */
/* What the command says, and the files as they are read for it: as they are, and with macros
 * expanded. */
#ifndef CONVERT_READING_H
#define CONVERT_READING_H

#include "convert/expand.h"
#include "convert/front.h"

typedef struct options {
    list files, passive, flags, calls;
    const char *function, *inputs, *outputs, *out, *database, *to, *directions, *rows, *in_line;
    bool accept_integers;
} options;

enum { MOST_TEXTS = 64 };

/* What was read. */
typedef struct reading {
    program *raw, *last;
    table *macros;             /* of the files as they are */
    changed texts[MOST_TEXTS]; /* that were read last, after the first expansion */
    size_t n;
} reading;

/* The files as they are. NULL after an error that was said. */
program *read_plain(const options *o, reading *r);
/* The files with the macros expanded in those functions (NULL: of all that are reached); what
 * was read before, where the texts are the same. *expanded: there were some. NULL after an
 * error that was said. */
program *read_expanded(const options *o, reading *r, const list *only, bool *expanded);
/* The macros that the files define, by name; and of those that they define again or
 * undefine, in *undone. */
table *defined_names(const program *p, table *undone);

#endif
