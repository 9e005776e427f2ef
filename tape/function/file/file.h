/* SPDX-License-Identifier: MIT */
/* file.h - functions as files, from inside. Internal.
 *
 * Whole numbers are little-endian, doubles their bits as such a number:
 *
 *     8 bytes    89 W G F 0d 0a 1a 0a: neither text nor cut to 7 bits
 *     4 and 4    version; 1 if an operation of the user's has a name that one of the library's
 *                had once, otherwise 0
 *     14 of 8    bytes in all; inputs, outputs, bytes of their names, nodes, operands,
 *                entries of the outputs, guards;
 *                statements, operations, folded, repeated, simplified, dead
 *     8          repeats; from version 2 on
 *     arguments  inputs, outputs: rows 8, columns 8, flags 4, bytes of the name 4, the name
 *     repeats    steps 8, direction 1 (1: backwards, 2: it solves); the body: 8 of 8: inputs,
 *                outputs, bytes of their names, nodes, operands, entries, guards, repeats; then
 *                its arguments, repeats, nodes, entries, guards
 *     nodes      code 1; then what kinds.def says that the kind holds: the name of an
 *                operation (its length 1 before it); of an operation of dense.def its kind 1,
 *                flags 1 and three sizes, 4 each; of one of whole.h three sizes, 4 each, behind
 *                its name; part 4. Then, if it has operands, how many 4, and which, 4 each;
 *                of a number its value 8
 *     entries    of the outputs: nodes, 4 each
 *     guards     two nodes 4 each, comparison 1, outcome 1
 *     8 bytes    FNV-1a of all before
 *
 * Nodes stand in the order of graph.h. When each of them is done is not in the file: it follows
 * from their operands. A file has the first version that knows all that is in it: 1, with
 * repeats or operations of dense.def 2, with operations of whole.h 3. Flags of the arguments of
 * bodies are those of repeat.h; kinds, flags and sizes of operations on matrices are those of
 * dense_values.h and whole.h, and sizes that a kind does not have are 0. The parts of a node
 * that are in the file ascend. No two nodes are the sum of the same node. */
#ifndef WGI_TAPE_FUNCTION_FILE_FILE_H
#define WGI_TAPE_FUNCTION_FILE_FILE_H

#include "tape/engine/text.h"
#include "tape/function/graph/graph.h"
#include "tape/function/graph/words.h"

/* the version of files without nodes that have parts, the first of those with them, the
 * newest */
enum { WGI_FILE_SCALARS = 1, WGI_FILE_PARTS = 2, WGI_FILE_VERSION = 3 };
enum { WGI_FILE_MAGIC = 8, WGI_FILE_LONGEST_NAME = 255 };
enum { WGI_FILE_DEEPEST = 16 }; /* how deep bodies may be nested in bodies */
/* Rows and columns of an argument have to be fewer, each of them, even where the other is 0. */
enum { WGI_FILE_MOST = UINT32_MAX / 4 };
extern const unsigned char wgi_file_magic[WGI_FILE_MAGIC];

/* The bit of a node's code that says that its operation is a user's. Codes are listed in
 * kinds.def. */
enum { WGI_FILE_USER = 0x80 };

/* What an operation of the library's, or of the user's among which it has some of its own, is
 * called today that had this name once; NULL: none had. */
const char *wgi_file_name_today(int user, const char *name, size_t bytes);
/* The first version that has all kinds of nodes that the function has. */
unsigned wgi_file_version(const wg_function *f);

/* ---- reading: file_read.c, file_nodes.c ---- */

/* The counts of a function. Those from statements to dead are only in the head of a file, not
 * in that of a body; the last one is there from version 2 on. */
enum {
    WGI_FILE_INPUTS,
    WGI_FILE_OUTPUTS,
    WGI_FILE_NAMES,
    WGI_FILE_NODES,
    WGI_FILE_OPERANDS,
    WGI_FILE_RESULTS,
    WGI_FILE_GUARDS,
    WGI_FILE_STATISTICS,
    WGI_FILE_REPEATS = WGI_FILE_STATISTICS + 6,
    WGI_FILE_WORDS
};

typedef struct wgi_file_reader {
    wgi_core *c;
    const char *call;
    const wg_scalar_op *const *user;
    size_t user_count;
    const unsigned char *base;
    size_t at, end; /* where the checksum begins */
    uint64_t version;
    uint64_t claims; /* names that the library's operations had once are the user's */
    int claimed;     /* there is one */
    /* a hash table of built-in operations by name: 0, an empty place, or a row plus 1 */
    unsigned char by_name[256];
    /* what follows is about the function being read, which is a body if the depth is not 0 */
    size_t depth;
    uint64_t word[WGI_FILE_WORDS];
    size_t word_at[WGI_FILE_WORDS];
    size_t names, operands; /* bytes and entries that have been used */
    char *name;             /* memory for names */
    unsigned char *used;    /* for each node: what it has been used for */
    uint32_t *next;         /* for each node with parts: the lowest part that may still come */
    struct {                /* for each repeat */
        wgi_node_shape of;
        int used;
    } * shape;
} wgi_file_reader;

/* Refuses the file; the message says where in it. */
wg_status wgi_file_bad(const wgi_file_reader *r, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
wg_status wgi_file_ends(const wgi_file_reader *r, const char *what, uint64_t number);
/* The file, from that byte on: what is wrong stands there. */
static inline wgi_file_reader *wgi_file_at(wgi_file_reader *r, size_t at) {
    r->at = at;
    return r;
}

/* How many bytes are left before the checksum. Whoever takes bytes asks first. */
static inline size_t wgi_file_left(const wgi_file_reader *r) { return r->end - r->at; }
static inline uint64_t wgi_file_get(wgi_file_reader *r, unsigned size) {
    uint64_t x = 0;
    for (unsigned i = 0; i < size; i++) x |= (uint64_t)r->base[r->at + i] << 8 * i;
    r->at += size;
    return x;
}

enum { WGI_FILE_GUARD_BYTES = 10 };

/* To be called once, before any nodes are read. */
void wgi_file_list_builtins(wgi_file_reader *r);
/* Reads what a function does, once arguments and repeats are read: nodes, entries of the
 * outputs, comparisons. */
wg_status wgi_file_nodes(wgi_file_reader *r, wg_function *f);

#endif
