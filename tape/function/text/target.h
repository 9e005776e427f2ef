/* SPDX-License-Identifier: MIT */
/* target.h - what is written in one way for a point and in another for many: a target.
 * Internal.
 *
 * wgi_write_unit (unit.c) is the one walk over a unit of the plan; a target says how each thing
 * that it meets is written. Expressions (expression.c) ask it for what a node is called. */
#ifndef WGI_TAPE_FUNCTION_TEXT_TARGET_H
#define WGI_TAPE_FUNCTION_TEXT_TARGET_H

#include <stddef.h>
#include <stdint.h>

struct wgi_writer;

/* A short text: "t[3]". Names of arguments fit, and an index. */
typedef struct wgi_spelling {
    char text[80];
} wgi_spelling;
wgi_spelling wgi_spell(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef struct wgi_target {
    /* ---- expressions ---- */

    /* An input, or a node that is written already: its name, or where it stands. */
    wgi_spelling (*leaf)(const struct wgi_writer *w, uint32_t node);
    int has_numbers; /* does leaf spell these too, as operands? 0: they are literals of C */
    /* A function in the text of a row, of so many letters. NULL: by its name; those that begin
     * with wgi_ are functions of the text, which begin with its name. */
    void (*call)(struct wgi_writer *w, const char *function, size_t length);
    /* The function for a product by the zero rule. NULL: a plain product, and a NaN is looked
     * for (wgi_plan_checks). */
    const char *times;
    /* An operation on an array of operands, as an expression. NULL: by define. */
    void (*array)(struct wgi_writer *w, uint32_t node);

    /* ---- statements ---- */

    const char *indent, *number_type; /* "const double ": what begins a definition */
    /* The statements of a node: wgi_write_definition, or others. */
    void (*define)(struct wgi_writer *w, uint32_t node);
    /* A loop, or an operation on whole matrices. NULL: there are none. */
    void (*whole)(struct wgi_writer *w, uint32_t node);
    /* What is done with the value of a node that is there now. NULL: nothing. */
    void (*after)(struct wgi_writer *w, uint32_t node);

    /* ---- units, in this order; nodes stand between the first two ---- */

    void (*open)(struct wgi_writer *w, uint32_t unit);
    void (*results)(struct wgi_writer *w, uint32_t unit); /* and looks for NaN; NULL: nothing */
    void (*guard)(struct wgi_writer *w, size_t guard);
    void (*close)(struct wgi_writer *w, uint32_t unit);
} wgi_target;

#endif
