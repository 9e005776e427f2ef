/* SPDX-License-Identifier: MIT */
/* What functions for drivers are made of: the original's arguments, and where in them the
 * inputs and outputs are. */
#ifndef CONVERT_CALLBACK_H
#define CONVERT_CALLBACK_H

#include "convert/output.h"

bool root_holds(const writer *w,
                const decl *d);             /* a parameter, global or field of the root's */
bool selection_is_flat(const selection *s); /* one range through all numbers of an array */
bool is_function(const decl *p);
bool in_header(const writer *w); /* types of all arguments can be seen there */
const char *count_of_selection(const selection *s); /* how many numbers, as C */
const char *count_of_array(const type *t);
const char *total_of(const list *selections);
const char *elements_of(const writer *w, const decl *p,
                        const decl *field); /* what a pointer is to have, as C */
const char *reached_elements(const writer *w, const decl *p, const decl *field, bool *single);
const char *
declared_dimension(const decl *p); /* of a parameter written as an array; NULL: there is none */
/* The last field of a structure, if it is an array that may go on behind its end: of no
 * length, or of one. */
const decl *tail_of(const writer *w, const type *t);
/* Checks of the arguments: pointers in a structure that lead into itself would lead to
 * memory of their own in a copy. */
void put_apart(const writer *w, text *to);
/* That counts are there of what pointers lead to, where nothing else says them: before anything
 * is made. */
void check_counts(const writer *w, bool taped, text *to);
/* That pointers to pointers lead to the inputs among the numbers there; `refusal` has %s for
 * the status. (Where outputs will be the function may set pointers to.) */
void check_rows(const writer *w, bool taped, const char *refusal, text *to);
/* The status of arguments that do not fit, as C that tells a tape why, if there is one. */
const char *misfit(const writer *w, bool taped, const char *why);
bool is_held_pointer(const writer *w, const decl *d);
bool leads_to_rows(const decl *d); /* a pointer to pointers to numbers */
extern const char *const memory_text,
    *const larger_text; /* functions that hold memory to the end; the larger size */
const char *arguments_name(const writer *w);
const char *
arguments_declaration(writer *w); /* the structure, and how many inputs and outputs */
const char *selections_text(const list *selections);
const char *function_pointer(writer *w, const decl *p); /* a parameter, as it is declared */
const char *dimensions(const type *t);
const char *record_name(const record *r);
const type *pointed(const decl *p);
const decl *
cannot_make(const writer *w); /* a parameter that is not copied by itself, or NULL */

bool has_deep_pointers(
    const writer *w); /* to pointers to what is no number, which are not copied */

/* The function for drivers of an adjoint without a tape: value and transposed product. Where
 * rows are recorded it is of its file only, and a callback is declared. */
const char *vjp_declaration(writer *w);
const char *vjp_definition(writer *w);
const char *vjp_header(writer *w); /* what the header says */

#endif
