/* SPDX-License-Identifier: MIT */
/* native.h - native code for the part of each point: its text, and what was loaded. Internal.
 */
#ifndef WGI_TAPE_FUNCTION_NATIVE_NATIVE_H
#define WGI_TAPE_FUNCTION_NATIVE_NATIVE_H

#include "tape/function/run/bytecode.h"
#include "tape/function/text/writer.h"

/* The names of the function in the text, a wgi_fn_native, and of its key. */
#define WGI_NATIVE_EACH "wengert_each"
#define WGI_NATIVE_KEY "wengert_key"

/* How it is written. */
typedef struct wgi_native_form {
    unsigned width;   /* doubles in a vector: 2, 4 or 8 */
    size_t unit;      /* operations in one C function, about */
    size_t slot_room; /* bytes in which slots are near */
} wgi_native_form;

/* The width at which the interpreter works, so that functions give the same bits. */
unsigned wgi_native_width(const wgi_bytecode *p);
/* As how many operations a node counts, where units are made equally long. */
size_t wgi_native_weight(const wgi_node *n);
/* Is it a call of a function that takes long, or a partial that needs the value of one? */
int wgi_native_takes_long(const wgi_node *n);
/* Writes it into w->o. The plan is made at the first call; WG_EMODE: the slots take too much.
 */
wg_status wgi_native_plan(wgi_writer *w, const wgi_native_form *form);
/* How many vectors of room the operands of array operations need: as many as the longest has
 * at each point. */
size_t wgi_native_room(const wg_function *f);
/* Notes what the functions over vectors call. */
void wgi_native_need(wgi_writer *w);
/* Is it a slope that comes with a value of its unit? */
int wgi_native_is_slope(const wgi_writer *w, uint32_t node);
/* Puts the list of each unit into an order in which operations wait little for each other and
 * few numbers are alive at a time. */
void wgi_native_schedule(wgi_writer *w);
void wgi_native_write(wgi_writer *w, const wgi_native_form *form, const char *key);

#endif
