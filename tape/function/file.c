/* SPDX-License-Identifier: MIT */
/* Functions as files. Whole numbers are little-endian, doubles their bits as such a number:
 *
 *     8 bytes    89 W G F 0d 0a 1a 0a: neither text nor cut to 7 bits
 *     4 and 4    version, 0
 *     14 of 8    bytes in all; inputs, outputs, bytes of their names, nodes, operands,
 *                entries of the outputs, guards;
 *                statements, operations, folded, repeated, simplified, dead
 *     8          repeats; version 2 only
 *     arguments  inputs, outputs: rows 8, columns 8, flags 4, bytes of the name 4, the name
 *     repeats    steps 8, backwards 1; the body: 8 of 8: inputs, outputs, bytes of their names,
 *                nodes, operands, entries, guards, repeats; then its arguments, repeats, nodes,
 *                entries, guards
 *     nodes      code 1; then, as CODES tells: name of the operation (its length 1 before it),
 *                of one on matrices its kind 1, flags 1 and three sizes, 4 each,
 *                part 4, count of operands 4 and they 4 each; a number: 8
 *     entries    of the outputs: nodes, 4 each
 *     guards     two nodes 4 each, comparison 1, outcome 1
 *     8 bytes    FNV-1a of all before
 *
 * Nodes stand in the order of graph.h. When each is done is not in the file but follows. Files
 * of functions with repeats or operations on whole matrices are of version 2, others of version
 * 1, as they always were. Flags of the arguments of bodies are those of repeat.h; kinds, flags
 * and sizes of operations on matrices those of dense_values.h, sizes that a kind does not have
 * are 0; the parts of a repeat or of such an operation that are there ascend. */
#include "dense_node.h"
#include "pieces.h"
#include "repeat.h"

#include "../../ops/array.h"
#include "../../ops/expand.h"

#include <wengert/file.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SCALARS = 1, VERSION = 2 }; /* no nodes that have parts; with them */
enum { LONGEST_NAME = 255, USER = 0x80 };
enum { DEEPEST = 16 }; /* bodies in bodies */
enum { LENGTH_AT = 16, START = 24, HEADER = 128, CHECKSUM = 8 };
enum { ARGUMENT = 24, GUARD = 10, REPEAT = 9 + 8 * 8, MATRICES_BYTES = 2 + 3 * 4 };
/* Counts. Those between are of a whole file, not of a body; the last one is of version 2. */
enum { INPUTS, OUTPUTS, NAMES, NODES, OPERANDS, RESULTS, GUARDS, STATISTICS };
enum { REPEATS = (HEADER - START) / 8, WORDS };
static const unsigned char magic[8] = {0x89, 'W', 'G', 'F', '\r', '\n', 0x1a, '\n'};

/* kind, code, what stands after it. Codes are never used again for something else; that of a
 * user's operation has the bit USER. */
enum { NAMED = 1, PART = 2, COUNTED = 4, MATRICES = 8 };
#define CODES(X)                                                                               \
    X(WGI_NODE_INPUT, 1, 0)                                                                    \
    X(WGI_NODE_NUMBER, 2, 0)                                                                   \
    X(WGI_NODE_OP, 3, NAMED | COUNTED)                                                         \
    X(WGI_NODE_FIRST, 4, NAMED | PART | COUNTED)                                               \
    X(WGI_NODE_SECOND, 5, NAMED | PART | COUNTED)                                              \
    X(WGI_NODE_TIMES, 6, COUNTED)                                                              \
    X(WGI_NODE_ARRAY, 7, NAMED | COUNTED)                                                      \
    X(WGI_NODE_SUM, 8, COUNTED)                                                                \
    X(WGI_NODE_REPEAT, 9, PART | COUNTED) /* of version 2 */                                   \
    X(WGI_NODE_PART, 10, PART | COUNTED)                                                       \
    X(WGI_NODE_DENSE, 11, MATRICES | COUNTED)
#define CODE(kind, code, fields) [kind] = {code, fields},
static const struct { unsigned char code, fields; } by_kind[] = {CODES(CODE)};
#undef CODE
enum { KINDS = sizeof by_kind / sizeof *by_kind };
#define ONE(kind, code, fields) +1
_Static_assert(KINDS == 0 CODES(ONE), "each kind has its code");
#undef ONE

/* Of one word, that any text can hold. */
static int is_word(const char *name, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '"' || name[i] == '\\') return 0;
    return bytes != 0;
}

/* What kinds of operations on matrices have: sizes, flags. */
static const struct {
    unsigned char sizes, flags;
} matrices[WGI_DENSE_KINDS] = {[WGI_DENSE_PRODUCT] = {3, WGI_DENSE_RULE},
                               [WGI_DENSE_TRIANGLE] = {2, WGI_DENSE_RULE},
                               [WGI_DENSE_CHOLESKY] = {1, 0},
                               [WGI_DENSE_POTRF_BAR] = {1, WGI_DENSE_RULE},
                               [WGI_DENSE_LU] = {1, 0},
                               [WGI_DENSE_SOLVE] = {2, WGI_DENSE_RULE | WGI_DENSE_TURNED},
                               [WGI_DENSE_LOGDET] = {1, 0}};

static int is_builtin(const wg_scalar_op *op) {
    return op >= wgi_scalar_ops && op < wgi_scalar_ops + wgi_scalar_op_count;
}

#define CHECKSUM_START 0xcbf29ce484222325u
static uint64_t checksum(uint64_t h, const unsigned char *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* ---- writing ---- */

typedef struct sink {
    wg_write *write; /* NULL: bytes are counted */
    void *ctx;
    wg_status status;
    uint64_t bytes, sum;
    size_t used, depth;
    unsigned char piece[1024];
} sink;

static void flush(sink *o) {
    if (o->used != 0 && o->write != NULL && o->status == WG_OK) {
        o->sum = checksum(o->sum, o->piece, o->used);
        if (o->write(o->ctx, (const char *)o->piece, o->used) != 0) o->status = WG_EWRITE;
    }
    o->used = 0;
}

static void put_bytes(sink *o, const void *from, size_t bytes) {
    const unsigned char *p = from;
    o->bytes += bytes;
    while (bytes > 0) {
        if (o->used == sizeof o->piece) flush(o);
        const size_t room = sizeof o->piece - o->used, n = bytes < room ? bytes : room;
        memcpy(o->piece + o->used, p, n);
        o->used += n;
        p += n;
        bytes -= n;
    }
}

static void put(sink *o, unsigned size, uint64_t x) {
    unsigned char p[8];
    for (unsigned i = 0; i < size; i++) p[i] = (unsigned char)(x >> 8 * i);
    put_bytes(o, p, size);
}

static uint64_t name_bytes(size_t count, const wg_argument *a) {
    uint64_t n = 0;
    for (size_t k = 0; k < count; k++) n += strlen(a[k].name);
    return n;
}

static void put_arguments(sink *o, size_t count, const wg_argument *a) {
    for (size_t k = 0; k < count; k++) {
        const size_t n = strlen(a[k].name);
        put(o, 8, a[k].rows);
        put(o, 8, a[k].cols);
        put(o, 4, a[k].flags);
        put(o, 4, n);
        put_bytes(o, a[k].name, n);
    }
}

static void put_node(sink *o, const wg_function *f, const wgi_node *n) {
    const unsigned fields = by_kind[n->kind].fields;
    const int user = n->op != NULL && !is_builtin(n->op);
    put(o, 1, by_kind[n->kind].code | (user ? (unsigned)USER : 0));
    if (n->kind == WGI_NODE_NUMBER) {
        uint64_t bits;
        memcpy(&bits, &n->value, sizeof bits);
        put(o, 8, bits);
    }
    if (fields & NAMED) {
        const char *const name = n->op != NULL ? n->op->name : wgi_array_ops[n->array].name;
        const size_t bytes = strlen(name);
        if (bytes > LONGEST_NAME || !is_word(name, bytes)) o->status = WG_EARG;
        put(o, 1, bytes);
        put_bytes(o, name, bytes);
    }
    if (fields & MATRICES) {
        const wgi_dense_op op = wgi_dense_of(n);
        put(o, 1, op.kind);
        put(o, 1, op.flags);
        for (int k = 0; k < 3; k++) put(o, 4, op.size[k]);
    }
    if (fields & PART) put(o, 4, n->part);
    if (fields & COUNTED) put(o, 4, n->count);
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
    if (f->repeats != 0 && ++o->depth > DEEPEST) o->status = WG_EARG;
    for (size_t k = 0; k < f->repeats && o->status == WG_OK; k++) {
        put(o, 8, f->repeat[k].steps);
        put(o, 1, f->repeat[k].backwards != 0);
        put_counts(o, f->repeat[k].body);
        put(o, 8, f->repeat[k].body->repeats);
        put_contents(o, f->repeat[k].body);
    }
    o->depth -= f->repeats != 0;
    for (size_t i = 0; i < f->nodes && o->status == WG_OK; i++) put_node(o, f, &f->node[i]);
    for (size_t j = 0; j < f->m; j++) put(o, 4, f->result[j]);
    for (size_t k = 0; k < f->guards; k++) {
        put(o, 4, f->guard[k].a);
        put(o, 4, f->guard[k].b);
        put(o, 1, f->guard[k].comparison);
        put(o, 1, f->guard[k].outcome != 0);
    }
}

static void put_function(sink *o, const wg_function *f, uint64_t bytes) {
    const wg_function_stats *const s = &f->stats;
    put_bytes(o, magic, sizeof magic);
    const int version = f->repeats == 0 && !wgi_dense_is_in(f) ? SCALARS : VERSION;
    put(o, 4, (uint64_t)version);
    put(o, 4, 0);
    put(o, 8, bytes);
    put_counts(o, f);
    put(o, 8, s->statements);
    put(o, 8, s->operations);
    put(o, 8, s->folded);
    put(o, 8, s->repeated);
    put(o, 8, s->simplified);
    put(o, 8, s->dead);
    if (version == VERSION) put(o, 8, f->repeats);
    put_contents(o, f);
    flush(o);
    put(o, 8, o->sum);
    flush(o);
}

static sink sink_of(wg_write *write, void *ctx) {
    sink o = {.write = write, .ctx = ctx, .sum = CHECKSUM_START};
    return o;
}

static wg_status measure(const wg_function *f, uint64_t *bytes) {
    sink o = sink_of(NULL, NULL);
    put_function(&o, f, 0);
    *bytes = o.bytes;
    return o.status;
}

static wg_status write_all(const wg_function *f, uint64_t bytes, wg_write *write, void *ctx) {
    sink o = sink_of(write, ctx);
    put_function(&o, f, bytes);
    return o.status;
}

wg_status wg_function_write(const wg_function *f, wg_write *write, void *ctx) {
    uint64_t bytes;
    if (f == NULL || write == NULL) return WG_ENULL;
    const wg_status s = measure(f, &bytes);
    return s == WG_OK ? write_all(f, bytes, write, ctx) : s;
}

static int into_memory(void *ctx, const char *text, size_t bytes) {
    char **const to = ctx;
    memcpy(*to, text, bytes);
    *to += bytes;
    return 0;
}

wg_status wg_function_save(const wg_function *f, void *buffer, size_t bytes, size_t *needed) {
    uint64_t size = 0;
    const wg_status s = f == NULL ? WG_ENULL : measure(f, &size);
    if (needed != NULL) *needed = s == WG_OK ? (size_t)size : 0;
    if (s != WG_OK || buffer == NULL) return s;
    if (bytes < size) return WG_ESHAPE;
    char *to = buffer;
    return write_all(f, size, into_memory, &to);
}

/* ---- reading ---- */

typedef struct source {
    wgi_core *c;
    const char *call;
    const wg_scalar_op *const *user;
    size_t user_count;
    const unsigned char *base;
    size_t at, end; /* end: where the checksum stands */
    uint64_t version;
    unsigned char by_name[256]; /* built-in operations, number + 1; 0: empty */
    /* of the function under way, a body if the depth is not 0 */
    size_t depth;
    uint64_t word[WORDS];
    size_t word_at[WORDS];
    size_t names, operands; /* bytes and entries taken so far */
    char *name;             /* room for names */
    unsigned char *used;    /* by node: has anything needed it? */
    uint32_t *next;         /* by node that has parts: the least that may come */
    struct {                /* by repeat */
        size_t operands, parts;
        int used;
    } * shape;
} source;
_Static_assert(WGI_OP_COUNT < 128, "the table of names has room");

static wg_status bad(const source *r, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
static wg_status bad(const source *r, wg_status s, const char *format, ...) {
    char what[384];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return wgi_fail(r->c, s, "%s: at byte %zu: %s%s", r->call, r->at,
                    r->depth != 0 ? "in a body: " : "", what);
}

/* The bytes that are left before the checksum; their users look first. */
static size_t left(const source *r) { return r->end - r->at; }

static uint64_t get(source *r, unsigned size) {
    uint64_t x = 0;
    for (unsigned i = 0; i < size; i++) x |= (uint64_t)r->base[r->at + i] << 8 * i;
    r->at += size;
    return x;
}

static wg_status ends(const source *r, const char *what, uint64_t number) {
    return bad(r, WG_EARG, "%s %llu does not fit into what is left", what,
               (unsigned long long)number);
}

/* Magic, version and length, of which only START bytes need be there. */
static wg_status preamble(source *r, size_t bytes, uint64_t *length) {
    const size_t common = bytes < sizeof magic ? bytes : sizeof magic;
    if (memcmp(r->base, magic, common) != 0)
        return bad(r, WG_EARG, "these %zu bytes are no function", bytes);
    if (bytes < START) return bad(r, WG_EARG, "cut short: %zu bytes", bytes);
    r->at = sizeof magic;
    const uint64_t zero = (r->version = get(r, 4), get(r, 4));
    if (r->version < SCALARS || r->version > VERSION || zero != 0) {
        r->at = sizeof magic;
        return bad(r, WG_EARG, "version %llu.%llu; this library reads %d to %d",
                   (unsigned long long)r->version, (unsigned long long)zero, SCALARS, VERSION);
    }
    *length = get(r, 8);
    if (*length < HEADER + (r->version > SCALARS ? 8u : 0) + CHECKSUM) {
        r->at = LENGTH_AT;
        return bad(r, WG_EARG, "%llu bytes in all are too few", (unsigned long long)*length);
    }
    return WG_OK;
}

static void words(source *r, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
        r->word_at[i] = r->at;
        r->word[i] = get(r, 8);
    }
}

/* Are these counts that the bytes can hold? */
static wg_status counts(source *r) {
    static const unsigned char unit[WORDS] = {ARGUMENT, ARGUMENT, 1,     1,
                                              4,        4,        GUARD, [REPEATS] = REPEAT};
    uint64_t room = left(r);
    for (size_t i = 0; i < WORDS; i++) {
        if (unit[i] == 0) continue;
        if (r->word[i] > room / unit[i]) {
            r->at = r->word_at[i];
            return ends(r, "a count of", r->word[i]);
        }
        room -= r->word[i] * unit[i];
    }
    for (size_t i = 0; i < WORDS; i++)
        if (r->word[i] > SIZE_MAX / 64) {
            r->at = r->word_at[i];
            return bad(r, WG_EARG, "a count of %llu", (unsigned long long)r->word[i]);
        }
    if (r->word[NODES] >= UINT32_MAX / 4 || r->word[OPERANDS] >= UINT32_MAX / 2)
        return bad(r, WG_EARG, "%zu nodes with %zu operands", (size_t)r->word[NODES],
                   (size_t)r->word[OPERANDS]);
    return WG_OK;
}

/* Length and checksum, and counts. */
static wg_status header(source *r, size_t bytes) {
    uint64_t length;
    const wg_status s = preamble(r, bytes, &length);
    if (s != WG_OK) return s;
    if (length != bytes) {
        r->at = LENGTH_AT;
        return bad(r, WG_EARG, "%llu bytes in all, and %zu are there",
                   (unsigned long long)length, bytes);
    }
    r->at = r->end = bytes - CHECKSUM;
    const uint64_t sum = checksum(CHECKSUM_START, r->base, r->end), told = get(r, CHECKSUM);
    r->at = r->end;
    if (sum != told)
        return bad(r, WG_EARG, "the checksum is %016llx, that of the bytes %016llx: damaged",
                   (unsigned long long)told, (unsigned long long)sum);
    r->at = START;
    words(r, 0, r->version > SCALARS ? WORDS : REPEATS);
    return counts(r);
}

/* ---- inputs and outputs ---- */

static wg_status argument(source *r, const char *what, size_t k, unsigned flags, wg_argument *a,
                          size_t *entries, uint64_t most) {
    if (left(r) < ARGUMENT) return ends(r, what, k);
    const uint64_t rows = get(r, 8), cols = get(r, 8);
    a->flags = (unsigned)get(r, 4);
    const size_t bytes = (size_t)get(r, 4);
    if (bytes > left(r) || bytes > r->word[NAMES] - r->names) return ends(r, what, k);
    const char *const name = (const char *)r->base + r->at;
    if (!is_word(name, bytes)) return bad(r, WG_EARG, "the name of %s %zu is no word", what, k);
    memcpy(r->name, name, bytes);
    r->name[bytes] = 0;
    a->name = r->name;
    r->name += bytes + 1;
    r->names += bytes;
    r->at += bytes;
    if (rows > SIZE_MAX / 64 || cols > SIZE_MAX / 64 ||
        (cols != 0 && rows > (most - *entries) / cols))
        return bad(r, WG_EARG, "%s %zu is %llu by %llu, and all entries are %llu", what, k,
                   (unsigned long long)rows, (unsigned long long)cols,
                   (unsigned long long)most);
    a->rows = (size_t)rows;
    a->cols = (size_t)cols;
    *entries += a->rows * a->cols;
    if ((a->flags & ~flags) != 0)
        return bad(r, WG_EARG, "flags %u of %s %zu", a->flags, what, k);
    return WG_OK;
}

static void sift_down(const char **name, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && strcmp(name[child], name[child + 1]) < 0) child++;
        if (strcmp(name[at], name[child]) >= 0) return;
        const char *const swap = name[at];
        name[at] = name[child];
        name[child] = swap;
    }
}

/* No name twice; sorted for it, since a file may hold very many. */
static wg_status unique(source *r, const char *what, size_t count, const wg_argument *a) {
    const char **const name = wg_tape_keep(&r->c->head, (count + 1) * sizeof *name, NULL);
    if (name == NULL) return r->c->status;
    for (size_t k = 0; k < count; k++) name[k] = a[k].name;
    for (size_t k = count / 2; k-- > 0;) sift_down(name, k, count);
    for (size_t n = count; n-- > 1;) {
        const char *const largest = name[0];
        name[0] = name[n];
        name[n] = largest;
        sift_down(name, 0, n);
        if (n + 1 < count && strcmp(name[n], name[n + 1]) == 0)
            return bad(r, WG_EARG, "two %ss have the name %.255s", what, name[n]);
    }
    if (count > 1 && strcmp(name[0], name[1]) == 0)
        return bad(r, WG_EARG, "two %ss have the name %.255s", what, name[0]);
    return WG_OK;
}

static wg_status arguments(source *r, wg_function *f) {
    enum { ROLES = WGI_CARRIED | WGI_STEPPED };
    const unsigned in = r->depth != 0 ? WG_SHARED | (unsigned)ROLES : WG_SHARED | WG_PASSIVE;
    const unsigned out = r->depth != 0 ? WG_SUMMED | (unsigned)ROLES : WG_SUMMED;
    wg_status s = WG_OK;
    for (size_t k = 0; k < f->inputs && s == WG_OK; k++)
        s = argument(r, "input", k, in, &f->input[k], &f->n, r->word[NODES]);
    for (size_t k = 0; k < f->outputs && s == WG_OK; k++)
        s = argument(r, "output", k, out, &f->output[k], &f->m, r->word[RESULTS]);
    if (s == WG_OK && f->m != r->word[RESULTS])
        s = bad(r, WG_EARG, "the outputs have %zu entries, not %zu", f->m,
                (size_t)r->word[RESULTS]);
    if (s == WG_OK && r->names != r->word[NAMES])
        s = bad(r, WG_EARG, "the names have %zu bytes, not %zu", r->names,
                (size_t)r->word[NAMES]);
    if (s == WG_OK) s = unique(r, "input", f->inputs, f->input);
    return s == WG_OK ? unique(r, "output", f->outputs, f->output) : s;
}

/* What the arguments of a body are. */
static wg_status roles(const source *r, const wg_function *f) {
    const size_t carried = wgi_body_carried(f);
    const unsigned shared = carried == 0 ? WG_SHARED : 0, summed = carried == 0 ? WG_SUMMED : 0;
    for (size_t k = 0; k < f->inputs; k++) {
        const unsigned flags = f->input[k].flags;
        if (k < carried ? flags != WGI_CARRIED : flags != WGI_STEPPED && flags != shared)
            return bad(r, WG_EARG, "flags %u of input %zu, after %zu states", flags, k,
                       carried);
    }
    if (carried > f->outputs)
        return bad(r, WG_EARG, "%zu states and %zu outputs", carried, f->outputs);
    for (size_t k = 0; k < f->outputs; k++) {
        const wg_argument *const a = &f->output[k];
        if (k < carried ? a->flags != WGI_CARRIED
                        : a->flags != WGI_STEPPED && a->flags != summed)
            return bad(r, WG_EARG, "flags %u of output %zu, after %zu states", a->flags, k,
                       carried);
        if (k < carried && (a->rows != f->input[k].rows || a->cols != f->input[k].cols))
            return bad(r, WG_EARG, "state %zu is %zu by %zu, and %zu by %zu after a step", k,
                       f->input[k].rows, f->input[k].cols, a->rows, a->cols);
    }
    return WG_OK;
}

/* ---- repeats ---- */

static wg_status build(source *r, wg_function **out);

/* Bodies are functions of their own, of which all but the place in the file is forgotten. */
static wg_status repeat(source *r, size_t k, wgi_repeat *to) {
    if (r->depth == DEEPEST) return bad(r, WG_EARG, "more than %d bodies in bodies", DEEPEST);
    if (left(r) < REPEAT) return ends(r, "repeat", k);
    const uint64_t steps = get(r, 8), backwards = get(r, 1);
    if (steps < 1 || steps >= WGI_REPEAT_MOST || backwards > 1)
        return bad(r, WG_EARG, "repeat %zu: %llu steps, backwards %llu", k,
                   (unsigned long long)steps, (unsigned long long)backwards);
    source in = *r;
    in.depth++;
    in.names = in.operands = 0;
    memset(in.word, 0, sizeof in.word);
    words(&in, 0, STATISTICS);
    words(&in, REPEATS, WORDS);
    wg_status s = counts(&in);
    if (s == WG_OK) s = build(&in, &to->body);
    if (s != WG_OK) return s;
    r->at = in.at;
    to->steps = (size_t)steps;
    to->backwards = (int)backwards;
    if (!wgi_repeat_fits(to))
        return bad(r, WG_EARG, "repeat %zu: %zu steps: more than %d numbers", k, to->steps,
                   WGI_REPEAT_MOST);
    r->shape[k].operands = wgi_repeat_operands(to);
    r->shape[k].parts = wgi_repeat_parts(to);
    r->shape[k].used = 0;
    return WG_OK;
}

static wg_status repeats(source *r, wg_function *f) {
    wg_tape *const t = &r->c->head;
    wg_status s = WG_OK;
    if (r->version == SCALARS) return s;
    r->shape = wg_tape_keep(t, (f->repeats + 1) * sizeof *r->shape, NULL);
    r->next = wg_tape_keep(t, (f->nodes + 1) * sizeof *r->next, NULL);
    if (r->c->status != WG_OK) return r->c->status;
    memset(r->next, 0, f->nodes * sizeof *r->next);
    for (size_t k = 0; k < f->repeats && s == WG_OK; k++) s = repeat(r, k, &f->repeat[k]);
    return s;
}

/* ---- operations by name ---- */

static size_t place_of(const char *name, size_t bytes) {
    return (size_t)checksum(CHECKSUM_START, (const unsigned char *)name, bytes) & 255;
}

static int is_name(const char *name, const char *text, size_t bytes) {
    return strncmp(name, text, bytes) == 0 && name[bytes] == 0;
}

static void list_builtins(source *r) {
    memset(r->by_name, 0, sizeof r->by_name);
    for (size_t i = 0; i < wgi_scalar_op_count; i++) {
        const char *const name = wgi_scalar_ops[i].name;
        size_t at = place_of(name, strlen(name));
        while (r->by_name[at] != 0) at = (at + 1) & 255;
        r->by_name[at] = (unsigned char)(i + 1);
    }
}

static const wg_scalar_op *find_op(const source *r, int user, const char *name, size_t bytes) {
    for (size_t i = 0; user && i < r->user_count; i++)
        if (is_name(r->user[i]->name, name, bytes)) return r->user[i];
    for (size_t i = 0; user && wgi_expand_row(i) != NULL; i++)
        if (is_name(wgi_expand_row(i)->name, name, bytes)) return wgi_expand_row(i);
    for (size_t at = place_of(name, bytes); !user && r->by_name[at] != 0; at = (at + 1) & 255)
        if (is_name(wgi_scalar_ops[r->by_name[at] - 1].name, name, bytes))
            return &wgi_scalar_ops[r->by_name[at] - 1];
    return NULL;
}

/* Those that recording.c leaves as one node. */
static int find_array(const char *name, size_t bytes, unsigned char *array) {
    static const unsigned char some[] = {WGI_ARRAY_norm2, WGI_ARRAY_logsumexp,
                                         WGI_ARRAY_maximum, WGI_ARRAY_minimum,
                                         WGI_ARRAY_lookup};
    for (size_t i = 0; i < sizeof some; i++) {
        if (!is_name(wgi_array_ops[some[i]].name, name, bytes)) continue;
        *array = some[i];
        return 1;
    }
    return 0;
}

/* ---- nodes ---- */

static wg_status node_name(source *r, size_t i, int user, wgi_node *n) {
    if (left(r) < 1) return ends(r, "node", i);
    const size_t bytes = (size_t)get(r, 1);
    if (left(r) < bytes) return ends(r, "node", i);
    const char *const name = (const char *)r->base + r->at;
    if (!is_word(name, bytes))
        return bad(r, WG_EARG, "the name of the operation of node %zu is no word", i);
    if (n->kind == WGI_NODE_ARRAY) {
        if (!find_array(name, bytes, &n->array))
            return bad(r, WG_EMODE, "node %zu is the array operation %.*s, which is unknown", i,
                       (int)bytes, name);
    } else {
        n->op = find_op(r, user, name, bytes);
        if (n->op == NULL)
            return bad(r, WG_EMODE,
                       user ? "node %zu is the user's operation %.*s, which is not given"
                            : "node %zu is the operation %.*s, which is unknown",
                       i, (int)bytes, name);
    }
    r->at += bytes;
    return WG_OK;
}

/* Kind, flags and sizes: none so large that a count of elements overflows, all operands and
 * results so few that nodes can be numbered. */
static wg_status of_matrices(source *r, size_t i, wgi_node *n) {
    enum { ORDER = 1 << 16, MOST = UINT32_MAX / 8 };
    wgi_dense_op op;
    op.kind = (unsigned)get(r, 1);
    op.flags = (unsigned)get(r, 1);
    for (int k = 0; k < 3; k++) op.size[k] = (size_t)get(r, 4);
    if (op.kind >= WGI_DENSE_KINDS || (op.flags & ~(unsigned)matrices[op.kind].flags) != 0) {
        r->at -= MATRICES_BYTES;
        return bad(r, WG_EARG, "node %zu is the operation on matrices %u with flags %u", i,
                   op.kind, op.flags);
    }
    int fit = op.kind == WGI_DENSE_PRODUCT || op.size[0] < ORDER;
    for (unsigned k = 0; k < 3; k++)
        fit &= k < matrices[op.kind].sizes ? op.size[k] != 0 && op.size[k] < MOST
                                           : op.size[k] == 0;
    if (!fit || wgi_dense_operands(&op) >= MOST || wgi_dense_results(&op) >= MOST) {
        r->at -= 3 * 4;
        return bad(r, WG_EARG, "node %zu: matrices of sizes %zu, %zu and %zu", i, op.size[0],
                   op.size[1], op.size[2]);
    }
    *n = wgi_dense_node(&op);
    return WG_OK;
}

/* Part and count against what the operation has. */
static wg_status fits(const source *r, const wg_function *f, size_t i, const wgi_node *n) {
    const unsigned arity = n->op != NULL ? n->op->arity : 0;
    if (n->kind == WGI_NODE_REPEAT) {
        if (n->part >= f->repeats)
            return bad(r, WG_EARG, "node %zu is repeat %u of %zu", i, n->part, f->repeats);
        r->shape[n->part].used = 1;
        if (n->count == r->shape[n->part].operands) return WG_OK;
        return bad(r, WG_EARG, "node %zu has %u operands, and its repeat %zu", i, n->count,
                   r->shape[n->part].operands);
    }
    if (n->kind == WGI_NODE_DENSE) {
        const wgi_dense_op op = wgi_dense_of(n);
        if (n->count == wgi_dense_operands(&op)) return WG_OK;
        return bad(r, WG_EARG, "node %zu has %u operands, and its matrices %zu elements", i,
                   n->count, wgi_dense_operands(&op));
    }
    const uint32_t wanted = n->op != NULL               ? arity
                            : n->kind == WGI_NODE_TIMES ? 2
                            : n->kind == WGI_NODE_ARRAY ? n->count
                                                        : 1;
    const uint32_t parts = n->kind == WGI_NODE_FIRST    ? arity
                           : n->kind == WGI_NODE_SECOND ? arity * (arity + 1) / 2
                                                        : 1;
    if (n->count != wanted || n->count == 0)
        return bad(r, WG_EARG, "node %zu has %u operands, and its operation %u", i, n->count,
                   wanted);
    if (n->kind == WGI_NODE_ARRAY && n->array == WGI_ARRAY_lookup && n->count < 2)
        return bad(r, WG_EARG, "node %zu is a lookup without elements", i);
    if (n->part >= parts && n->kind != WGI_NODE_PART)
        return bad(r, WG_EARG, "node %zu is partial %u of %u", i, n->part, parts);
    if ((n->kind == WGI_NODE_FIRST && n->op->first == NULL) ||
        (n->kind == WGI_NODE_SECOND && n->op->second == NULL))
        return bad(r, WG_EMODE, "node %zu is a partial that %s does not have", i, n->op->name);
    return WG_OK;
}

/* Is it a result that its operand has, after those that are there? */
static wg_status part(source *r, const wg_function *f, size_t i, const wgi_node *n) {
    const uint32_t of = f->operand[n->first];
    const wgi_node *const whole = &f->node[of];
    const wgi_dense_op op = wgi_dense_of(whole);
    const size_t parts =
        whole->kind == WGI_NODE_DENSE ? wgi_dense_results(&op) : r->shape[whole->part].parts;
    if (n->part >= parts)
        return bad(r, WG_EARG, "node %zu is result %u of %zu", i, n->part, parts);
    if (n->part < r->next[of])
        return bad(r, WG_EARG, "node %zu is result %u, after result %u", i, n->part,
                   r->next[of] - 1);
    r->next[of] = n->part + 1;
    return WG_OK;
}

/* What is no number, but has parts that are. */
static const char *with_parts(const wgi_node *n) {
    return n->kind == WGI_NODE_REPEAT ? "a repeat" : "an operation on matrices";
}

/* Operands, all of them before the node, and when it can be done. */
static wg_status node_operands(source *r, wg_function *f, size_t i, wgi_node *n) {
    int seen[3] = {0, 0, 0};
    n->first = (uint32_t)r->operands;
    if (left(r) / 4 < n->count || r->word[OPERANDS] - r->operands < n->count)
        return ends(r, "node", i);
    for (uint32_t k = 0; k < n->count; k++) {
        const uint32_t x = (uint32_t)get(r, 4);
        if (x >= i) {
            r->at -= 4;
            return bad(r, WG_EARG, "operand %u of node %zu is node %u, which is not before it",
                       k, i, x);
        }
        if (wgi_node_has_parts(&f->node[x]) != (n->kind == WGI_NODE_PART)) {
            r->at -= 4;
            return bad(r, WG_EARG, "operand %u of node %zu is node %u, which is %s", k, i, x,
                       n->kind == WGI_NODE_PART ? "no repeat or operation on matrices"
                                                : with_parts(&f->node[x]));
        }
        seen[f->node[x].when] = 1;
        r->used[x] = 1;
        f->operand[r->operands++] = x;
    }
    if (seen[WGI_AFTER] && (seen[WGI_EACH] || n->kind == WGI_NODE_SUM))
        return bad(r, WG_EARG, "node %zu uses a sum over the points at the points", i);
    n->when = (unsigned char)(seen[WGI_AFTER] || n->kind == WGI_NODE_SUM ? WGI_AFTER
                              : seen[WGI_EACH]                           ? WGI_EACH
                                                                         : WGI_ONCE);
    return WG_OK;
}

/* Where a node stands: inputs, numbers, and operations by when they are done. */
static unsigned rank(const wgi_node *n) {
    if (n->kind == WGI_NODE_INPUT) return 0;
    return n->kind == WGI_NODE_NUMBER ? 1 : 2u + n->when;
}

static wg_status node(source *r, wg_function *f, size_t i) {
    wgi_node *const n = &f->node[i];
    memset(n, 0, sizeof *n);
    if (left(r) < 1) return ends(r, "node", i);
    const size_t start = r->at;
    const unsigned code = (unsigned)get(r, 1);
    while (n->kind < KINDS && by_kind[n->kind].code != (code & ~(unsigned)USER)) n->kind++;
    const unsigned fields = n->kind < KINDS ? by_kind[n->kind].fields : 0;
    const int can_be_user =
        n->kind == WGI_NODE_OP || n->kind == WGI_NODE_FIRST || n->kind == WGI_NODE_SECOND;
    const int later =
        r->version == SCALARS && (wgi_node_has_parts(n) || n->kind == WGI_NODE_PART);
    if (n->kind == KINDS || later || ((code & USER) != 0 && !can_be_user)) {
        r->at = start;
        return bad(r, WG_EARG, "node %zu has the code %u, which is unknown", i, code);
    }
    wg_status s = fields & NAMED ? node_name(r, i, (code & USER) != 0, n) : WG_OK;
    const unsigned more = (fields & PART ? 4u : 0) + (fields & COUNTED ? 4u : 0) +
                          (fields & MATRICES ? (unsigned)MATRICES_BYTES : 0) +
                          (n->kind == WGI_NODE_NUMBER ? 8u : 0);
    if (s != WG_OK) return s;
    if (left(r) < more) return ends(r, "node", i);
    if (fields & MATRICES) s = of_matrices(r, i, n);
    if (s != WG_OK) return s;
    if (fields & PART) n->part = (uint32_t)get(r, 4);
    if (fields & COUNTED) {
        n->count = (uint32_t)get(r, 4);
        s = fits(r, f, i, n);
        if (s == WG_OK) s = node_operands(r, f, i, n);
        if (s == WG_OK && n->kind == WGI_NODE_PART) s = part(r, f, i, n);
        if (s != WG_OK) return s;
    }
    if (n->kind == WGI_NODE_NUMBER) {
        const uint64_t bits = get(r, 8);
        memcpy(&n->value, &bits, sizeof bits);
    }
    if (n->kind == WGI_NODE_INPUT) n->part = (uint32_t)i;
    if ((n->kind == WGI_NODE_INPUT) != (i < f->n) || (i > 0 && rank(n) < rank(n - 1))) {
        r->at = start;
        return bad(r, WG_EARG, "node %zu is out of its order", i);
    }
    return WG_OK;
}

static wg_status nodes(source *r, wg_function *f) {
    wg_status s = WG_OK;
    size_t i = 0;
    for (size_t k = 0; k < f->inputs && s == WG_OK; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->input[k]) && s == WG_OK; e++, i++) {
            s = node(r, f, i);
            f->node[i].when = f->input[k].flags & WG_SHARED ? WGI_ONCE : WGI_EACH;
        }
    for (; i < f->nodes && s == WG_OK; i++) s = node(r, f, i);
    if (s == WG_OK && r->operands != f->operands)
        s = bad(r, WG_EARG, "the nodes have %zu operands, not %zu", r->operands, f->operands);
    if (s != WG_OK) return s;
    for (i = f->n; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        if (n->kind == WGI_NODE_NUMBER) f->numbers++;
        else if (n->when == WGI_ONCE) f->once++;
        else if (n->when == WGI_EACH) f->each++;
        else f->after++;
    }
    for (size_t k = 0; k < f->repeats; k++)
        if (!r->shape[k].used) return bad(r, WG_EARG, "no node is repeat %zu", k);
    if (r->depth == 0 && r->version != SCALARS && f->repeats == 0 && !wgi_dense_is_in(f))
        return bad(r, WG_EARG, "version %llu, and neither repeats nor operations on matrices",
                   (unsigned long long)r->version);
    return WG_OK;
}

/* ---- what the nodes are for ---- */

/* Sums in a body are over its steps, where these are points; otherwise there are none. What is
 * common to all steps is such a sum. */
static wg_status sums(const source *r, const wg_function *f) {
    if (f->after != 0 && wgi_body_carried(f) != 0)
        return bad(r, WG_EARG, "node %zu is a sum over points, of one step after the other",
                   f->nodes - f->after);
    const uint32_t *x = f->result;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, x++) {
            const wgi_node *const n = &f->node[*x];
            if ((f->output[k].flags & WG_SUMMED) == 0 || n->when == WGI_AFTER ||
                (n->kind == WGI_NODE_NUMBER && n->value == 0))
                continue;
            return bad(r, WG_EARG, "entry %zu of output %zu is no sum", e, k);
        }
    return WG_OK;
}

static wg_status results(source *r, wg_function *f) {
    if (left(r) / 4 < f->m) return ends(r, "the outputs: entries", f->m);
    size_t j = 0;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, j++) {
            const uint32_t x = f->result[j] = (uint32_t)get(r, 4);
            const int summed = (f->output[k].flags & WG_SUMMED) != 0;
            if (x < f->nodes && !wgi_node_has_parts(&f->node[x]) &&
                f->node[x].when != (summed ? WGI_EACH : WGI_AFTER)) {
                r->used[x] = 1;
                continue;
            }
            r->at -= 4;
            if (x >= f->nodes)
                return bad(r, WG_EARG, "entry %zu of output %zu is node %u", e, k, x);
            if (wgi_node_has_parts(&f->node[x]))
                return bad(r, WG_EARG, "entry %zu of output %zu is %s", e, k,
                           with_parts(&f->node[x]));
            return bad(r, WG_EARG, "entry %zu of output %zu is %s", e, k,
                       summed ? "one per point, not summed" : "a sum over the points");
        }
    return WG_OK;
}

static wg_status guards(source *r, wg_function *f) {
    if (r->depth == 0 ? left(r) != f->guards * GUARD : left(r) < f->guards * GUARD)
        return bad(r, WG_EARG, "%zu bytes for %zu comparisons", left(r), f->guards);
    for (size_t k = 0; k < f->guards; k++) {
        wgi_graph_guard *const g = &f->guard[k];
        g->a = (uint32_t)get(r, 4);
        g->b = (uint32_t)get(r, 4);
        g->comparison = (unsigned)get(r, 1);
        g->outcome = (int)get(r, 1);
        if (g->a >= f->nodes || g->b >= f->nodes || g->comparison > 5 || g->outcome > 1) {
            r->at -= GUARD;
            return bad(r, WG_EARG, "comparison %zu: kind %u of nodes %u and %u was %d", k,
                       g->comparison, g->a, g->b, g->outcome);
        }
        const int first = wgi_node_has_parts(&f->node[g->a]);
        if (first || wgi_node_has_parts(&f->node[g->b])) {
            r->at -= GUARD;
            return bad(r, WG_EARG, "comparison %zu: of %s", k,
                       with_parts(&f->node[first ? g->a : g->b]));
        }
        const unsigned x = f->node[g->a].when, y = f->node[g->b].when;
        if (r->depth != 0 && (x == WGI_AFTER || y == WGI_AFTER)) {
            r->at -= GUARD;
            return bad(r, WG_EARG, "comparison %zu: of a sum", k);
        }
        if ((x == WGI_EACH && y == WGI_AFTER) || (x == WGI_AFTER && y == WGI_EACH)) {
            r->at -= GUARD;
            return bad(r, WG_EARG, "comparison %zu: a sum over the points at the points", k);
        }
        r->used[g->a] = r->used[g->b] = 1;
    }
    for (size_t i = f->n; i < f->nodes; i++)
        if (!r->used[i]) return bad(r, WG_EARG, "nothing needs node %zu", i);
    return WG_OK;
}

/* ---- a function of its own ---- */

static void lay_out(wg_function *f, wgi_pieces *p, source *r) {
    f->input = wgi_piece(p, f->inputs * sizeof *f->input);
    f->output = wgi_piece(p, f->outputs * sizeof *f->output);
    f->node = wgi_piece(p, f->nodes * sizeof *f->node);
    f->operand = wgi_piece(p, f->operands * sizeof *f->operand);
    f->result = wgi_piece(p, (size_t)r->word[RESULTS] * sizeof *f->result);
    f->guard = wgi_piece(p, f->guards * sizeof *f->guard);
    f->repeat = wgi_piece(p, f->repeats * sizeof *f->repeat);
    r->name = wgi_piece(p, (size_t)r->word[NAMES] + f->inputs + f->outputs);
}

static wg_status fill(source *r, wg_function *f) {
    wg_status s = arguments(r, f);
    if (s == WG_OK && r->depth != 0) s = roles(r, f);
    if (s == WG_OK) s = repeats(r, f);
    if (s == WG_OK) s = nodes(r, f);
    if (s == WG_OK) s = results(r, f);
    if (s == WG_OK && r->depth != 0) s = sums(r, f);
    if (s == WG_OK) s = guards(r, f);
    if (s != WG_OK) return s;
    f->work = wgi_repeat_work(f);
    f->stats.once = f->once, f->stats.each = f->each, f->stats.after = f->after;
    f->stats.numbers = f->numbers, f->stats.guards = wgi_repeat_guards(f);
    return wgi_fn_program_new(r->c, f);
}

static wg_status build(source *r, wg_function **out) {
    const uint64_t *const statistics = r->word + STATISTICS;
    wg_function start;
    memset(&start, 0, sizeof start);
    start.memory = r->c->memory;
    start.inputs = (size_t)r->word[INPUTS], start.outputs = (size_t)r->word[OUTPUTS];
    start.nodes = (size_t)r->word[NODES], start.operands = (size_t)r->word[OPERANDS];
    start.guards = (size_t)r->word[GUARDS], start.repeats = (size_t)r->word[REPEATS];
    start.stats = (wg_function_stats){.statements = (size_t)statistics[0],
                                      .operations = (size_t)statistics[1],
                                      .folded = (size_t)statistics[2],
                                      .repeated = (size_t)statistics[3],
                                      .simplified = (size_t)statistics[4],
                                      .dead = (size_t)statistics[5]};
    r->used = wg_tape_keep(&r->c->head, start.nodes + 1, NULL);
    if (r->used == NULL) return r->c->status;
    memset(r->used, 0, start.nodes + 1);
    wgi_pieces p = {NULL, 0};
    (void)wgi_piece(&p, sizeof start);
    lay_out(&start, &p, r);
    start.bytes = (p.used + 4095) / 4096 * 4096;
    const wg_memory *const memory = &start.memory;
    char *const base = memory->reserve(memory->ctx, start.bytes);
    if (base == NULL || memory->commit(memory->ctx, base, start.bytes) != 0) {
        if (base != NULL) memory->release(memory->ctx, base, start.bytes);
        return wgi_fail(r->c, WG_ENOMEM, "%s: no memory for %zu bytes", r->call, start.bytes);
    }
    wg_function *const f = (wg_function *)(void *)base;
    *f = start;
    p = (wgi_pieces){base, 0};
    (void)wgi_piece(&p, sizeof *f);
    lay_out(f, &p, r);
    for (size_t k = 0; k < f->repeats; k++) f->repeat[k] = (wgi_repeat){.body = NULL};
    const wg_status s = fill(r, f);
    if (s == WG_OK) *out = f;
    else wg_function_free(f);
    return s;
}

/* ---- calls ---- */

/* Loading calls no function of the user's. */
static wg_status nothing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

static wg_status open(wgi_drive *d, source *r, wg_tape *t, const char *call,
                      const wg_scalar_op *const *user, size_t user_count) {
    memset(r, 0, sizeof *r);
    wg_status s = wgi_drive_open(d, t, call, nothing, NULL, 0, 0, 0);
    if (s != WG_OK) return s;
    r->c = d->c, r->call = call, r->user = user, r->user_count = user_count;
    if (user == NULL && user_count != 0)
        s = wgi_fail(r->c, WG_ENULL, "%s: the operations are NULL", call);
    for (size_t i = 0; i < user_count && s == WG_OK; i++) {
        if (user[i] == NULL || user[i]->name == NULL || user[i]->value == NULL)
            s = wgi_fail(r->c, WG_ENULL, "%s: operation %zu, its name or value is NULL", call,
                         i);
        else if (user[i]->arity < 1 || user[i]->arity > 4)
            s = wgi_fail(r->c, WG_EARG, "%s: operation %s has %u operands", call, user[i]->name,
                         user[i]->arity);
    }
    list_builtins(r);
    return s;
}

static wg_status load(source *r, size_t bytes, wg_function **out) {
    const wg_status s = header(r, bytes);
    return s == WG_OK ? build(r, out) : s;
}

wg_status wg_function_load(wg_tape *t, const void *data, size_t bytes,
                           const wg_scalar_op *const *user, size_t user_count,
                           wg_function **out) {
    static const char call[] = "wg_function_load";
    wgi_drive d;
    source r;
    if (out != NULL) *out = NULL;
    wg_status s = open(&d, &r, t, call, user, user_count);
    if (s == WG_OK && out == NULL) s = wgi_fail(d.c, WG_ENULL, "%s: out is NULL", call);
    if (s == WG_OK && data == NULL) s = wgi_fail(d.c, WG_ENULL, "%s: data is NULL", call);
    r.base = data;
    if (s == WG_OK) s = load(&r, bytes, out);
    return wgi_drive_close(&d, s);
}

/* The bytes of one function, in the room of the running driver: as much room as there are
 * bytes, whatever the header says. */
static wg_status collect(source *r, wg_read *read, void *ctx, size_t *got) {
    wgi_region *const room = &r->c->drive;
    uint64_t length = START;
    size_t held = 0, wanted = START;
    for (*got = 0;;) {
        const wg_status s = wgi_region_need(r->c, room, wanted, *got);
        if (s != WG_OK) return wgi_fail(r->c, s, "%s: no room for %zu bytes", r->call, wanted);
        held = read(ctx, room->base + *got, wanted - *got);
        r->base = (const unsigned char *)room->base;
        if (held > wanted - *got)
            return wgi_fail(r->c, WG_ECALLBACK, "%s: the reader gave %zu bytes of %zu", r->call,
                            held, wanted - *got);
        *got += held;
        if (*got < wanted) return WG_OK; /* cut short: load says so */
        if (wanted == START) {
            const wg_status p = preamble(r, *got, &length);
            r->at = 0;
            if (p != WG_OK) return p;
        }
        if (*got == length) return WG_OK;
        const size_t step = *got < 1 << 16 ? 1 << 16 : *got;
        wanted = length - *got < step ? (size_t)length : *got + step;
    }
}

wg_status wg_function_read(wg_tape *t, wg_read *read, void *ctx,
                           const wg_scalar_op *const *user, size_t user_count,
                           wg_function **out) {
    static const char call[] = "wg_function_read";
    wgi_drive d;
    source r;
    size_t bytes = 0;
    if (out != NULL) *out = NULL;
    wg_status s = open(&d, &r, t, call, user, user_count);
    if (s == WG_OK && out == NULL) s = wgi_fail(d.c, WG_ENULL, "%s: out is NULL", call);
    if (s == WG_OK && read == NULL) s = wgi_fail(d.c, WG_ENULL, "%s: read is NULL", call);
    if (s == WG_OK) s = collect(&r, read, ctx, &bytes);
    if (s == WG_OK) s = load(&r, bytes, out);
    return wgi_drive_close(&d, s);
}

size_t wg_read_file(void *file, void *data, size_t bytes) {
    return file == NULL || data == NULL ? 0 : fread(data, 1, bytes, (FILE *)file);
}
