/* SPDX-License-Identifier: MIT */
/* source.h - a function on its way to C text. Internal.
 *
 * A plan says which nodes are written, in which order, and in which unit: a C function, or a
 * loop. Within a unit a node is a constant of its own, or is folded into the one expression
 * that uses it; what is used in a later unit too has a slot of an array, which is given to
 * another node after its last use. */
#ifndef WENGERT_TAPE_FUNCTION_SOURCE_H
#define WENGERT_TAPE_FUNCTION_SOURCE_H

#include "tape/function/graph/graph.h"
#include "text.h"

typedef struct wgi_source {
    wgi_text o;
    wgi_core *c;
    const char *call;
    const wg_function *f;
    const char *name;           /* what names in the text begin with */
    const char *scope;          /* of its functions: "" or "static " */
    const char **in, **out;     /* arguments as identifiers */
    uint32_t *argument, *entry; /* of each entry of an input */
    uint32_t *same;             /* of a partial: the node of the value, or WGI_NO_NODE; then */
    uint32_t *twin;             /* the first partial that needs this value */
    unsigned char *special;     /* definitions that are needed */
    unsigned char *is_result;
    int blas; /* do whole matrices become calls? */

    /* the plan */
    size_t units, listed, slots;
    uint32_t *list, *unit; /* unit: of a node, WGI_NO_NODE if it is not listed */
    uint32_t *slot;        /* of a node, or WGI_NO_NODE */
    int apart;       /* slots of what is not done at each point are apart, and not given */
    size_t uniforms; /* to another node: so many up to now */
    struct wgi_repeat_layout **layout; /* of a repeat: emit_repeat.c */
    uint32_t *uses;
    unsigned char *folded;
    uint32_t *length, *last, *spare; /* room */
    uint32_t now;                    /* the unit that is being written */

    const char *number; /* the type of a node that is a constant of its own: "const double " */
    const char *times;  /* the call for a product by the zero rule; NULL: a plain product */
    void (*leaf)(struct wgi_source *s, uint32_t node); /* a node that is not folded */
} wgi_source;

/* Is it a word of C, or a name of the headers that are included? Then no function has it. */
int wgi_source_is_known(const char *name);
/* Names, room, and whether all operations can be written: those of the user's by their texts.
 */
wg_status wgi_source_open(wgi_source *s, wgi_core *c, const char *call, const wg_function *f,
                          const char *name);

/* The text has the headers of BLAS and LAPACK: no argument is named as something of theirs.
 */
wg_status wgi_source_use_blas(wgi_source *s);
/* Is it a name of these headers, or of those that they include? */
int wgi_source_is_of_blas(const char *name);

/* ---- definitions ---- */

/* Notes what the text calls; what any node calls, also for values that are nodes of their own.
 */
void wgi_source_need(wgi_source *s, const char *text);
void wgi_source_need_all(wgi_source *s, int all_values);
/* Writes what is needed. */
void wgi_source_definitions(wgi_source *s);
/* Is a definition of that name among them? */
int wgi_source_defines(const wgi_source *s, const char *name);
/* Does it use functions beyond C99? */
int wgi_source_beyond_c99(const wgi_source *s);
/* The text, names that begin with wgi_ beginning with the name. */
void wgi_source_named(wgi_source *s, const char *text);

/* ---- plans ---- */

/* From list and unit, which grows along the list: uses. Then, if wanted, what is folded: at
 * most so many characters; then slots. */
void wgi_source_count(wgi_source *s);
void wgi_source_fold(wgi_source *s, size_t most);
void wgi_source_slots(wgi_source *s);
/* Is it written at its results only? */
int wgi_source_at_result(const wgi_source *s, uint32_t node);

/* Marks nodes of each point that show whether a plain product was right at all of them:
 * results, what is summed, and what goes into an operation that may hide a NaN. Gives 0 if
 * there are no products by the zero rule. */
int wgi_source_checks(const wgi_source *s, unsigned char *check);

/* ---- expressions ---- */

/* What the place of an operand does without parentheses. */
enum { WGI_PLACE_SUM, WGI_PLACE_PRODUCT, WGI_PLACE_SIGNED, WGI_PLACE_ATOM };
void wgi_source_operand(wgi_source *s, uint32_t node, int place);
/* What a node is, of its operands. v: the name of the value, where needed. */
void wgi_source_expression(wgi_source *s, uint32_t node, const char *v);
/* A row's text: letters are the operands of the node. */
void wgi_source_row(wgi_source *s, const char *text, uint32_t node, const char *v);
/* The text of the row for what the node is; NULL: it has none. */
const char *wgi_source_text(const wgi_node *n);
/* Is v part of the text, and no node before it? */
int wgi_source_needs_v(const wgi_source *s, uint32_t node);
/* How often the letter stands in a text. */
unsigned wgi_source_letters(const char *text, char letter);
/* Is it a call of something, in the text? */
int wgi_source_calls(const char *text);

#endif
