/* SPDX-License-Identifier: MIT */
/* Loops that a comment says are maps or scans: what they may have (loops_check.c), and their
 * text, in which the body runs for two turns, over what it reads and writes by calls of
 * wengert/turns.h (loops.c, loops_write.c).
 *
 * Whole numbers and pointers of a turn are the same in all turns, or grow by the same amount
 * from each to the next, or are found when all turns are run. All turns take the same way: what
 * depends on numbers is selected. */
#ifndef CONVERT_LOOPS_H
#define CONVERT_LOOPS_H

#include "convert/annotate.h"
#include "convert/expression.h"

/* What a whole number or pointer is, from turn to turn. ANY: it is there if the turn is run,
 * since nothing that it is made of is a real number. */
typedef enum course { SAME, GROWS, ANY, UNKNOWN } course;

/* The body of a loop, or a function that it calls. */
typedef struct turn {
    writer *w;
    version *v;
    const node *loop;    /* NULL: of a function */
    const decl *counter; /* of the loop */
    struct turn *caller;
    unsigned char *course; /* by index of parameters and locals */
    const char *masked;    /* selected by this condition: its text; NULL: always */
    unsigned depth;
    bool failed, each; /* each: all turns are run; of the loop's own */
} turn;

/* A function that a loop calls, as it is written for turns; `course` of its parameters. */
typedef struct turn_function {
    version *v;
    const unsigned char *course;
    const char *name;
} turn_function;

/* Is it such a loop, and what is written a recording, statement by statement? */
bool is_recorded_loop(const writer *w, const node *n);
/* write_loop - the text of such a loop; its source after an error that was said. */
const char *write_loop(writer *w, const node *n);

/* ---- loops_course.c ---- */

/* A type that grows steadily as long as its number is one at all: signed ones, and those as
 * wide as pointers. */
bool is_steady(const type *t);
/* As a number it does not, where it goes below 0. */
bool is_unsigned(const type *t);
bool is_tracked(const turn *t, const decl *d); /* a whole number or pointer of the function */
/* What a whole number or pointer is from turn to turn; where a place is. */
course course_of(turn *t, const node *n);
course address_of(turn *t, const node *n);
/* What a parameter is. */
course argument_course(turn *t, const decl *p, const node *n);
/* One pass over all assignments of n; true: something has become worse. */
bool follow(turn *t, const node *n);
/* What is the first that n does with d? PERHAPS: it may be assigned to, or nothing may be
 * done. */
enum { NOT_THERE, FIRST, PERHAPS, READ };
int first_use(const node *n, const decl *d);

/* ---- loops_check.c ---- */

bool check_turn(turn *t, const node *body);
/* Is it a number that stands in a C variable of its own, not in memory of the turn? */
bool is_own(const turn *t, const decl *d);
/* Is it declared in the turn? */
bool is_of_turn(const turn *t, const decl *d);
bool is_selected(const turn *t, const node *condition); /* it depends on numbers */
bool is_sum(const turn *t, const node *n);              /* x = x + e, x = x - e */
version *turn_called(const turn *t, const node *call);
bool is_number_literal(const node *n);
/* Does a whole number, a place, a number move in no steps? Then calls .._each read it. */
bool is_any_whole(turn *t, const node *n);
bool is_any_place(turn *t, const node *n);
bool is_variable_of(turn *t, const node *n);

/* ---- loops_write.c ---- */

const char *write_turn(turn *t, const node *n);
const char *turn_function_name(turn *t, version *v, const node *call);

#endif
