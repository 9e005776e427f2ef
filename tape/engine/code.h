/* SPDX-License-Identifier: MIT */
/* code.h - kept code: what a tape with WG_KEEP_CODE keeps of what was recorded; a part of
 * tape.h. Internal. */
#ifndef WGI_TAPE_ENGINE_CODE_H
#define WGI_TAPE_ENGINE_CODE_H

#include "tape.h"

/* ---- code.c ------------------------------------------------------------------------------
 * The stream of words: per entry one head word
 *     out (32 bits) | type (4) | bits of code or op (12) | operands (8) | numbers (8)
 * and then  a statement: 1 or 2 words of code, slots two to a word, numbers;
 *           an array operation: one word with the count of operands, one with the count of
 *           numbers, slots two to a word, numbers;
 *           a guard: slots of the two sides in one word, their values if they were constants.
 * Operands that were constants became numbers when they were kept. */
enum { WGI_LEAF_BITS = 2 }; /* bits of the code of an operand alone */
enum { WGI_ENTRY_STATEMENT, WGI_ENTRY_ARRAY, WGI_ENTRY_GUARD };

typedef struct wgi_entry {
    int type;
    uint32_t out;
    unsigned op; /* the array operation; or, of a guard, the comparison and its outcome */
    unsigned bits;
    wgi_bits code;
    size_t operands, numbers;
    const uint32_t *slot;
    const double *number;
} wgi_entry;

/* the most words of a statement */
enum { WGI_STATEMENT_WORDS = 3 + WGI_MAX_OPERANDS + WGI_MAX_NUMBERS };

/* Keeps the code of a statement that is about to get the next slot. */
wg_status wgi_code_keep(wgi_core *c, const wgi_statement *s);
/* The same of n operands, handles as words and values, where there is room and head.code is up
 * to date: on the fast path of a tape that keeps its code. */
void wgi_code_put(wg_tape *t, const wgi_site *site, size_t n, const uint64_t *handle,
                  const double *x, const double *number);
/* Keeps an array operation: operands x (slot 0: a constant, its value kept), and numbers. */
wg_status wgi_code_keep_array(wgi_core *c, const char *call, unsigned op, size_t n,
                              const wg_real *x, size_t numbers, const double *number);
/* Keeps a comparison and how it came out. */
wg_status wgi_code_keep_guard(wgi_core *c, const char *call, unsigned comparison, int outcome,
                              wg_real x, wg_real y);
/* Reads the entry that begins at a word; gives the first word of the next one. */
static inline uint64_t wgi_code_read(const wgi_core *c, uint64_t word, wgi_entry *e) {
    const uint64_t *w = wgi_code_words(c) + word;
    uint64_t h; /* copied, because words are also written as two halves */
    memcpy(&h, w++, sizeof h);
    e->out = (uint32_t)h;
    e->type = (int)(h >> 32 & 15);
    e->op = e->bits = (unsigned)(h >> 36 & 4095);
    e->operands = h >> 48 & 255;
    e->numbers = h >> 56;
    e->code = 0;
    if (e->type == WGI_ENTRY_STATEMENT) {
        e->code = *w++;
        if (e->bits > 64) e->code |= (wgi_bits)*w++ << 64;
    } else if (e->type == WGI_ENTRY_ARRAY) {
        e->operands = *w++;
        e->numbers = *w++;
    }
    e->slot = (const uint32_t *)(const void *)w;
    w += (e->operands + 1) / 2;
    e->number = (const double *)(const void *)w;
    return (uint64_t)(w + e->numbers - wgi_code_words(c));
}
/* Writes the entry as text; gives the length of that, and never writes more than `bytes`. */
size_t wgi_code_text(const wgi_entry *e, char *buffer, size_t bytes);

/* A statement taken apart: a tree whose nodes are in postfix order. The operands below a node
 * are consecutive, [first, last), and those of its arguments follow each other. */
enum { WGI_MAX_NODES = 48 }; /* of a statement that is kept */
enum { WGI_MOST_NODES = WGI_MOST_OPERANDS + WGI_MOST_NUMBERS + WGI_MOST_CODE / 4 };
typedef struct wgi_statement_code {
    /* nodes [0, operands) are the operands of the statement, in their order */
    int operands, nodes;
    struct wgi_step {
        const wg_scalar_op *op; /* NULL: it is an operand or a number */
        /* of a number; for other nodes wgi_statement_code_run computes it */
        double value;
        uint8_t arg[4], first, last;
    } node[WGI_MOST_NODES];
} wgi_statement_code;
void wgi_statement_code_of(const wgi_entry *e, wgi_statement_code *p);
/* The same of a statement that is about to be recorded, which may be a long one. */
void wgi_statement_code_of_new(const wgi_statement *s, wgi_statement_code *p);
/* Is the operation a user's? It is not in the table; its code is its address, which stands
 * among the numbers. */
static inline int wgi_is_users(const wg_scalar_op *op) {
    return op < wgi_scalar_ops || op >= wgi_scalar_ops + wgi_scalar_op_count;
}
/* Computes the values of all nodes from those of the operands, x; gives the value of the
 * statement. */
double wgi_statement_code_run(wgi_statement_code *p, const double *x);
/* Computes, after a run, the partials by all operands, as the recorder does. */
void wgi_statement_code_partials(const wgi_statement_code *p, double *partial);
/* What comparison `which` gives: that of a guard, one of lt, le, gt, ge, eq, ne. */
int wgi_compare(unsigned which, double a, double b);
const char *wgi_comparison_name(unsigned which);

/* ---- array_entry.c
 * ----------------------------------------------------------------------------- */

/* Computes value and partials of an array entry from the values of all slots; x and the
 * partials have room for n numbers. */
double wgi_array_run(const wgi_core *c, const wgi_entry *e, double *x, double *partial);
/* Computes ht = H xt for an array entry; x and work have room for as many doubles as it has
 * operands. */
void wgi_array_second(const wgi_core *c, const wgi_entry *e, const double *xt, double *ht,
                      double *x, double *work);
const char *wgi_array_name(unsigned op);
/* How many numbers of an entry belong to the operation; its constants are the others. */
size_t wgi_array_numbers(const wgi_entry *e);
int wgi_array_linear(unsigned op);
/* Does the index choose an element? It is the last operand of operations that have one. */
int wgi_array_chooses(unsigned op, size_t n, const double *x);
/* In a replay: is the array operation defined at operands x? */
wg_status wgi_array_check(wgi_core *c, const wgi_entry *e, const double *x);

#endif
