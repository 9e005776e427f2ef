/* SPDX-License-Identifier: MIT */
/* writer.h - a function on its way to text. Internal.
 *
 * A plan says which nodes are written, in which order, and in which unit: a C function, or a
 * loop. Within a unit a node is a constant of its own, or is folded into the one expression
 * that uses it; what is used in a later unit too has a slot of an array, which is given to
 * another node after its last use. */
#ifndef WGI_TAPE_FUNCTION_TEXT_WRITER_H
#define WGI_TAPE_FUNCTION_TEXT_WRITER_H

#include "tape/function/graph/graph.h"
#include "target.h"
#include "tape/engine/text.h"

typedef struct wgi_writer {
    wgi_text o;
    wgi_core *c;
    const char *call;
    const wg_function *f;
    const char *name;           /* what names in the text begin with */
    const char *scope;          /* of its functions: "" or "static " */
    const char **in, **out;     /* arguments as identifiers */
    uint32_t *argument, *entry; /* of each entry of an input */
    /* of a partial whose text has the value: the node of that value, or WGI_NO_NODE where it is
     * no node; then `twin` is the first partial that has it */
    uint32_t *same, *twin;
    unsigned char *special; /* definitions that are needed */
    unsigned char *is_result;
    int blas; /* do whole matrices become calls? */
    const wgi_target *target;
    void *own; /* what the target keeps */

    /* the plan */
    size_t units, listed, slots;
    uint32_t *list, *unit; /* unit: of a node, WGI_NO_NODE if it is not listed */
    uint32_t *start;       /* of each unit in the list, then of none */
    uint32_t *guard_unit;  /* of each comparison, WGI_NO_NODE: none */
    uint32_t from, last;   /* units of the numbers of each point; results are in them */
    uint32_t *slot;        /* of a node, or WGI_NO_NODE */
    /* what is not done at each point has slots of its own, so many up to now, which are not
     * given to another node later */
    int apart;
    size_t uniforms;
    struct wgi_repeat_layout **layout; /* of a node with parts: emit_repeat.c */
    uint32_t *uses;
    unsigned char *folded;
    /* workspace of the plan, of as many numbers as there are nodes */
    uint32_t *length, *end, *spare;
    uint32_t now; /* the unit that is being written */
} wgi_writer;

/* Names, room, and whether all operations can be written: those of the user's by their texts.
 */
wg_status wgi_writer_open(wgi_writer *w, wgi_core *c, const char *call, const wg_function *f,
                          const char *name);

/* Into the text, as wgi_text_format; names that begin with wgi_ begin with that of the text. */
void wgi_put(wgi_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of a statement: the target's indentation, and that of so many blocks inside. */
void wgi_line(wgi_writer *w, int inside, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As it stands but for these names. */
void wgi_put_named(wgi_writer *w, const char *text);
/* A node that is not folded and is no number. */
#define WGI_LEAF(w, node) ((w)->target->leaf(w, node).text)

/* ---- names: names.c ---- */

/* Is it a word of C, or a name of the headers that are included? Then no function has it. */
int wgi_name_is_known(const char *name);
/* Is it a name of the headers of BLAS and LAPACK, or of those that they include? */
int wgi_name_is_of_blas(const char *name);
/* Identifiers for the arguments; again, when w->blas was set: none is named as something of the
 * headers of BLAS and LAPACK. */
wg_status wgi_name_arguments(wgi_writer *w);

/* ---- functions of the text: definitions.c ---- */

/* Is there one of this name, of so many letters? */
int wgi_definition_is(const char *name, size_t length);
size_t wgi_definitions(void); /* how many there are */
/* Notes what a text calls; what any node calls, also for values that are nodes of their own. */
void wgi_need(wgi_writer *w, const char *text);
void wgi_need_all(wgi_writer *w, int all_values);
/* Writes what is needed. */
void wgi_write_definitions(wgi_writer *w);
/* Is a definition of that name among them? */
int wgi_needs(const wgi_writer *w, const char *name);
/* Does it use functions beyond C99? */
int wgi_needs_beyond_c99(const wgi_writer *w);
/* wgi_array_norm2_value and the like. */
const char *wgi_array_function(const wgi_node *n);

/* ---- plans: plan.c ---- */

/* Operand k, or after the last one the value that a partial is computed from; WGI_NO_NODE: that
 * is all. */
uint32_t wgi_plan_needed(const wgi_writer *w, uint32_t node, uint32_t k);
/* One more node; in a new unit where `fresh` is set or the last one has `most`. */
void wgi_plan_list(wgi_writer *w, uint32_t node, int fresh, size_t *in_unit, size_t most);
/* From list and unit, which grows along the list: where units start, uses, and where results
 * and guards belong: those of each point into units from ... last, or else, if there is none,
 * in the last of them, other guards in `other`. */
void wgi_plan_count(wgi_writer *w, uint32_t from, uint32_t last, uint32_t other);
/* What is folded: at most so many characters; then slots. */
void wgi_plan_fold(wgi_writer *w, size_t most);
void wgi_plan_slots(wgi_writer *w);
/* Is it written at its results only? */
int wgi_plan_at_result(const wgi_writer *w, uint32_t node);
/* The unit in which result j is written. */
uint32_t wgi_plan_result_unit(const wgi_writer *w, size_t j);

/* Marks nodes of each point that show whether a plain product was right at all of them:
 * results, what is summed, and what goes into an operation that may hide a NaN. Gives 0 if
 * there are no products by the zero rule. */
int wgi_plan_checks(const wgi_writer *w, unsigned char *check);

/* ---- expressions: expression.c ---- */

/* What the place of an operand does without parentheses. */
enum { WGI_PLACE_SUM, WGI_PLACE_PRODUCT, WGI_PLACE_SIGNED, WGI_PLACE_ATOM };
void wgi_write_operand(wgi_writer *w, uint32_t node, int place);
/* What a node is, of its operands. v: the name of the value, where needed. */
void wgi_write_expression(wgi_writer *w, uint32_t node, const char *v);
/* A row's text: letters are the operands of the node. */
void wgi_write_row(wgi_writer *w, const char *text, uint32_t node, const char *v);
/* An array of operands, as a call of C. */
void wgi_write_array(wgi_writer *w, uint32_t node);
/* Is it + - * / or a sign? What is not is a call. */
int wgi_is_arithmetic(const wgi_node *n);
/* The text of the row for what the node is; NULL: it has none. */
const char *wgi_text_of(const wgi_node *n);
/* Is v part of the text, and no node before it? */
int wgi_text_needs_v(const wgi_writer *w, uint32_t node);
/* How often the letter stands in a text. */
unsigned wgi_text_letters(const char *text, char letter);
/* Is it a call of something, in the text? */
int wgi_text_calls(const char *text);

/* ---- units: unit.c ---- */

/* Nodes, results and guards of a unit, as the target has it. */
void wgi_write_unit(wgi_writer *w, uint32_t unit);
/* A loop, or an operation on whole matrices: a block of statements of C; emit_repeat.c,
 * emit_dense.c. */
void wgi_write_whole(wgi_writer *w, uint32_t node);
#define KIND_WHOLE(NAME, stem, ...) void wgi_emit_##stem(wgi_writer *w, uint32_t node);
#include "tape/function/graph/kinds.def"
/* "const double t1 = ...;", and before it the value that a partial needs. */
void wgi_write_definition(wgi_writer *w, uint32_t node);
/* What result j is. */
void wgi_write_result(wgi_writer *w, size_t j);
/* The comparison that was recorded did not come out so: an expression. */
void wgi_write_guard(wgi_writer *w, size_t guard);

/* The number of an operation in names of the text. */
static inline uint32_t wgi_number_of(const wgi_writer *w, uint32_t node) {
    return node - (uint32_t)(w->f->n + w->f->numbers);
}

#endif
