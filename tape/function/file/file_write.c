/* SPDX-License-Identifier: MIT */
/* Writes functions as files, in the format that file.h describes. */
#include "tape/function/graph/whole_node.h"
#include "tape/function/graph/dense_node.h"
#include "file.h"
#include "tape/function/graph/repeat.h"

#include "ops/scalar/array.h"

#include <wengert/file.h>

#include <string.h>

const unsigned char wgi_file_magic[WGI_FILE_MAGIC] = {0x89, 'W',  'G',  'F',
                                                      '\r', '\n', 0x1a, '\n'};

enum { OPERATIONS = 256 }; /* of the user's in one file */

typedef struct sink {
    wgi_text text;
    wg_status status;
    size_t depth;
    const wg_scalar_op *user[OPERATIONS]; /* so many, of different names */
    size_t users;
    unsigned claims; /* one of them has a name that one of the library's had once */
} sink;

/* What stands in front of a file and is known at its end: how many bytes it has. */
typedef struct totals {
    uint64_t bytes;
    unsigned claims;
} totals;

static void put(sink *o, unsigned size, uint64_t x) { wgi_text_word(&o->text, size, x); }

static int goes_on(const sink *o) { return o->status == WG_OK && !o->text.failed; }

static uint64_t name_bytes(size_t count, const wg_argument *a) {
    uint64_t n = 0;
    for (size_t k = 0; k < count; k++) n += strlen(a[k].name);
    return n;
}

static void put_arguments(sink *o, size_t count, const wg_argument *a) {
    for (size_t k = 0; k < count; k++) {
        const size_t n = strlen(a[k].name);
        if (a[k].rows >= WGI_FILE_MOST || a[k].cols >= WGI_FILE_MOST) o->status = WG_EARG;
        put(o, 8, a[k].rows);
        put(o, 8, a[k].cols);
        put(o, 4, a[k].flags);
        put(o, 4, n);
        wgi_text_bytes(&o->text, a[k].name, n);
    }
}

static const char *name_of(const wgi_node *n) {
    if (n->kind == WGI_NODE_WHOLE) return wgi_whole_of(n).row->op->name;
    const wg_scalar_op *const op = wgi_node_scalar(n);
    return op != NULL ? op->name : wgi_array_ops[n->array].name;
}

/* The same operation, of two files that have its row? Without texts it is known by its
 * functions. */
static int is_the_same(const wg_scalar_op *a, const wg_scalar_op *b) {
    const unsigned n = a->arity, texts = 1 + n + n * (n + 1) / 2;
    int same = n == b->arity && a->zero_first == b->zero_first &&
               a->zero_second == b->zero_second && (a->second == NULL) == (b->second == NULL);
    for (unsigned i = 0; i < texts && same; i++)
        same = a->text[i] != NULL && b->text[i] != NULL
                   ? strcmp(a->text[i], b->text[i]) == 0
                   : a->text[i] == b->text[i] && a->value == b->value && a->first == b->first &&
                         a->second == b->second;
    return same;
}

/* An operation of the user's is read by its name: no other one of the file has it. */
static void note_user(sink *o, const wg_scalar_op *op) {
    for (size_t i = 0; i < o->users; i++) {
        if (o->user[i] == op) return;
        if (strcmp(o->user[i]->name, op->name) != 0) continue;
        if (!is_the_same(o->user[i], op)) o->status = WG_EARG;
        return;
    }
    if (wgi_file_name_today(1, op->name, strlen(op->name)) != NULL) o->claims = 1;
    if (o->users == OPERATIONS) o->status = WG_EARG;
    else o->user[o->users++] = op;
}

static void put_node(sink *o, const wg_function *f, const wgi_node *n) {
    const wgi_node_kind_row *const row = wgi_node_row(n);
    const int user = wgi_node_scalar(n) != NULL && wgi_is_users(n->op);
    if (user) note_user(o, n->op);
    put(o, 1, row->code | (user ? (unsigned)WGI_FILE_USER : 0));
    if (row->holds & WGI_HOLDS_VALUE) {
        uint64_t bits;
        memcpy(&bits, &n->value, sizeof bits);
        put(o, 8, bits);
    }
    if (row->holds & (WGI_HOLDS_SCALAR | WGI_HOLDS_ARRAY | WGI_HOLDS_WHOLE)) {
        const char *const name = name_of(n);
        const size_t bytes = strlen(name);
        if (bytes > WGI_FILE_LONGEST_NAME || !wgi_is_word(name, bytes)) o->status = WG_EARG;
        put(o, 1, bytes);
        wgi_text_bytes(&o->text, name, bytes);
    }
    if (row->holds & WGI_HOLDS_MATRICES) {
        const wgi_dense_op op = wgi_dense_of(n);
        put(o, 1, op.kind);
        put(o, 1, op.flags);
        for (int k = 0; k < 3; k++) put(o, 4, op.size[k]);
    }
    if (row->holds & WGI_HOLDS_WHOLE) {
        const wgi_whole_op op = wgi_whole_of(n);
        if (wgi_whole_is_own(op.row)) o->status = WG_EMODE;
        for (int k = 0; k < 3; k++) put(o, 4, op.size[k]);
    }
    if (row->holds & WGI_HOLDS_PART) put(o, 4, n->part);
    if (row->operands != 0) put(o, 4, n->count);
    for (uint32_t k = 0; k < n->count; k++) put(o, 4, f->operand[n->first + k]);
}

static void put_counts(sink *o, const wg_function *f) {
    put(o, 8, f->inputs);
    put(o, 8, f->outputs);
    put(o, 8, name_bytes(f->inputs, f->input) + name_bytes(f->outputs, f->output));
    put(o, 8, f->nodes);
    put(o, 8, f->operands);
    put(o, 8, f->m);
    put(o, 8, f->guards);
}

static void put_contents(sink *o, const wg_function *f) {
    put_arguments(o, f->inputs, f->input);
    put_arguments(o, f->outputs, f->output);
    if (f->repeats != 0 && ++o->depth > WGI_FILE_DEEPEST) o->status = WG_EARG;
    for (size_t k = 0; k < f->repeats && goes_on(o); k++) {
        put(o, 8, f->repeat[k].steps);
        put(o, 1, f->repeat[k].solves ? 2 : f->repeat[k].backwards != 0);
        put_counts(o, f->repeat[k].body);
        put(o, 8, f->repeat[k].body->repeats);
        put_contents(o, f->repeat[k].body);
    }
    o->depth -= f->repeats != 0;
    for (size_t i = 0; i < f->nodes && goes_on(o); i++) put_node(o, f, &f->node[i]);
    for (size_t j = 0; j < f->m; j++) put(o, 4, f->result[j]);
    for (size_t k = 0; k < f->guards; k++) {
        put(o, 4, f->guard[k].a);
        put(o, 4, f->guard[k].b);
        put(o, 1, f->guard[k].comparison);
        put(o, 1, f->guard[k].outcome != 0);
    }
}

unsigned wgi_file_version(const wg_function *f) {
    unsigned version = f->repeats == 0 ? WGI_FILE_SCALARS : WGI_FILE_PARTS;
    for (size_t i = 0; i < f->nodes && version < WGI_FILE_VERSION; i++)
        if (wgi_node_row(&f->node[i])->since > version)
            version = wgi_node_row(&f->node[i])->since;
    for (size_t k = 0; k < f->repeats && version < WGI_FILE_VERSION; k++) {
        const unsigned body = wgi_file_version(f->repeat[k].body);
        if (body > version) version = body;
    }
    return version;
}

static void put_function(sink *o, const wg_function *f, const totals *all) {
    const wg_function_stats *const s = &f->stats;
    wgi_text_bytes(&o->text, (const char *)wgi_file_magic, sizeof wgi_file_magic);
    const unsigned version = wgi_file_version(f);
    put(o, 4, version);
    put(o, 4, all->claims);
    put(o, 8, all->bytes);
    put_counts(o, f);
    put(o, 8, s->statements);
    put(o, 8, s->operations);
    put(o, 8, s->folded);
    put(o, 8, s->repeated);
    put(o, 8, s->simplified);
    put(o, 8, s->dead);
    if (version >= WGI_FILE_PARTS) put(o, 8, f->repeats);
    put_contents(o, f);
    wgi_text_flush(&o->text);
    put(o, 8, o->text.sum);
}

/* write NULL: only counts. *all: what the file says of itself, as counted before. */
static wg_status put_all(const wg_function *f, totals *all, wg_write *write, void *ctx) {
    sink o = {.status = WG_OK};
    wgi_text_open(&o.text, NULL, write, ctx);
    o.text.sums = write != NULL;
    put_function(&o, f, all);
    const wg_status s = wgi_text_close(&o.text);
    *all = (totals){o.text.total, o.claims};
    return o.status != WG_OK ? o.status : s;
}

wg_status wg_function_write(const wg_function *f, wg_write *write, void *ctx) {
    totals all = {0, 0};
    if (f == NULL || write == NULL) return WG_ENULL;
    const wg_status s = put_all(f, &all, NULL, NULL);
    return s == WG_OK ? put_all(f, &all, write, ctx) : s;
}

static int into_memory(void *ctx, const char *text, size_t bytes) {
    char **const to = ctx;
    memcpy(*to, text, bytes);
    *to += bytes;
    return 0;
}

wg_status wg_function_save(const wg_function *f, void *buffer, size_t bytes, size_t *needed) {
    totals all = {0, 0};
    const wg_status s = f == NULL ? WG_ENULL : put_all(f, &all, NULL, NULL);
    if (needed != NULL) *needed = s == WG_OK ? (size_t)all.bytes : 0;
    if (s != WG_OK || buffer == NULL) return s;
    if (bytes < all.bytes) return WG_ESHAPE;
    char *to = buffer;
    return put_all(f, &all, into_memory, &to);
}
