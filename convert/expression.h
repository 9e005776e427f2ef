/* SPDX-License-Identifier: MIT */
/* What expression.c, passive.c and operand.c use of each other, beside writer.h. */
#ifndef CONVERT_EXPRESSION_H
#define CONVERT_EXPRESSION_H

#include "convert/known.h"
#include "convert/writer.h"

bool is_place(const node *n);
const known *known_of(const node *call, unsigned *bits);
bool may_change(const node *n);
bool expression_holds(const writer *w, const node *n);
const char *write_call(writer *w, const node *n);
const char *write_assignment(writer *w, const node *n);
const char *operation(const char *op);
const char *with_children(writer *w, const node *n); /* as it stands, but for these */
const char *written_name(const writer *w, const node *n);
const char *write_compound(writer *w, const node *n);
/* What node n records: the operation of that name, of variable x and y, or 1 if that is NULL. */
const char *write_operation(writer *w, const node *n, const char *name, const char *x,
                            const node *y);
const char *number_argument(writer *w, const node *n);

#endif
