/* SPDX-License-Identifier: MIT */
/* Comments that say what options say, and which declarations are passive:
 *     wengert: function f with-respect-to x[0:n] of return
 *     wengert: passive                (before a declaration, or behind the name) */
#ifndef CONVERT_ANNOTATE_H
#define CONVERT_ANNOTATE_H

#include "convert/activity.h"

/* What one comment says; NULL where it does not. */
typedef struct annotation {
    const char *where;
    const char *function, *inputs, *outputs, *to;
    list passive, calls; /* names; PARAMETER=FUNCTION */
    bool accept_integers;
} annotation;

/* annotations_in - those of a file, appended; a file that cannot be read has none. Errors that
 * are said: words that are no option. */
void annotations_in(const char *file, list *to);
/* mark_passive - the declarations that a comment says are passive, in all files but the
 * system's; functions are appended to a->accepted. Errors that are said: a comment without a
 * declaration, structures. */
void mark_passive(analysis *a);

enum { LOOP_PLAIN, LOOP_MAP, LOOP_SCAN };
/* mark_loops - notes which loops comments say are maps or scans. Errors that are said: a
 * comment without a loop. */
void mark_loops(analysis *a);
/* said_of_loop - what a comment says of the loop behind it: LOOP_MAP, LOOP_SCAN, or
 * LOOP_PLAIN. */
int said_of_loop(const file *f, const token *t);

#endif
