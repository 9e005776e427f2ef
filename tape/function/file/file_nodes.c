/* SPDX-License-Identifier: MIT */
/* What functions in files do: their nodes, and what these are for. */
#include "tape/function/graph/whole_node.h"
#include "tape/function/graph/dense_node.h"
#include "file.h"
#include "tape/function/graph/repeat.h"

#include "ops/scalar/array.h"
#include "ops/matrix/expand.h"

#include <string.h>

enum { MATRICES_BYTES = 2 + 3 * 4, BLOCK_BYTES = 3 * 4 };
enum { ORDER = 1 << 16, MOST = UINT32_MAX / 8 }; /* of matrices, and of their elements */
enum { NEEDED = 1, SUMMED = 2 };                 /* what a node has been used for */
_Static_assert(WGI_OP_COUNT < 128, "the table of names has room");

/* ---- operations by name ---- */

static size_t place_of(const char *name, size_t bytes) {
    return (size_t)wgi_checksum(WGI_CHECKSUM_START, name, bytes) & 255;
}

void wgi_file_list_builtins(wgi_file_reader *r) {
    memset(r->by_name, 0, sizeof r->by_name);
    for (size_t i = 0; i < wgi_scalar_op_count; i++) {
        const char *const name = wgi_scalar_ops[i].name;
        size_t at = place_of(name, strlen(name));
        while (r->by_name[at] != 0) at = (at + 1) & 255;
        r->by_name[at] = (unsigned char)(i + 1);
    }
}

static const wg_scalar_op *op_named(const wgi_file_reader *r, int user, const char *name,
                                    size_t bytes) {
    for (size_t i = 0; user && i < r->user_count; i++)
        if (wgi_word_is(name, bytes, r->user[i]->name)) return r->user[i];
    for (size_t i = 0; user && wgi_expand_row(i) != NULL; i++)
        if (wgi_word_is(name, bytes, wgi_expand_row(i)->name)) return wgi_expand_row(i);
    for (size_t at = place_of(name, bytes); !user && r->by_name[at] != 0; at = (at + 1) & 255)
        if (wgi_word_is(name, bytes, wgi_scalar_ops[r->by_name[at] - 1].name))
            return &wgi_scalar_ops[r->by_name[at] - 1];
    return NULL;
}

const char *wgi_file_name_today(int user, const char *name, size_t bytes) {
    static const struct {
        int user;
        const char *then, *now;
    } former[] = {{0, "inv", "reciprocal"},
                  {0, "log_sum_exp", "log_add_exp"},
                  {1, "times", "wgi_times"},
                  {1, "held", "wgi_held"},
                  {1, "half_of_each", "wgi_half_of_each"},
                  {1, "matern_32", "wgi_matern_32"},
                  {1, "matern_52", "wgi_matern_52"}};
    for (size_t i = 0; i < sizeof former / sizeof *former; i++)
        if (former[i].user == user && wgi_word_is(name, bytes, former[i].then))
            return former[i].now;
    return NULL;
}

/* Finds an operation by its name. Older files have former names of some. */
static const wg_scalar_op *find_op(wgi_file_reader *r, int user, const char *name,
                                   size_t bytes) {
    const wg_scalar_op *const op = op_named(r, user, name, bytes);
    const char *const today = wgi_file_name_today(user, name, bytes);
    if (user && today != NULL) r->claimed = 1;
    if (op != NULL || today == NULL || (user && r->claims)) return op;
    return op_named(r, user, today, strlen(today));
}

/* Finds an operation on arrays that is a node. */
static int find_array(const char *name, size_t bytes, unsigned char *array) {
    for (unsigned op = 0; op < WGI_ARRAY_COUNT; op++) {
        if (!wgi_array_is_node(op) || !wgi_word_is(name, bytes, wgi_array_ops[op].name))
            continue;
        *array = (unsigned char)op;
        return 1;
    }
    return 0;
}

/* ---- nodes ---- */

static wg_status node_name(wgi_file_reader *r, size_t i, int user, wgi_node *n) {
    if (wgi_file_left(r) < 1) return wgi_file_ends(r, "node", i);
    const size_t bytes = (size_t)wgi_file_get(r, 1);
    if (wgi_file_left(r) < bytes) return wgi_file_ends(r, "node", i);
    const char *const name = (const char *)r->base + r->at;
    if (!wgi_is_word(name, bytes))
        return wgi_file_bad(r, WG_EARG, "the name of the operation of node %zu is no word", i);
    if (wgi_node_row(n)->holds & WGI_HOLDS_WHOLE) {
        const size_t place = wgi_whole_named(name, bytes);
        if (place == wgi_whole_count)
            return wgi_file_bad(r, WG_EMODE,
                                "node %zu is the operation on matrices %.*s, which is unknown",
                                i, (int)bytes, name);
        n->array = (unsigned char)place;
    } else if (wgi_node_row(n)->holds & WGI_HOLDS_ARRAY) {
        if (!find_array(name, bytes, &n->array))
            return wgi_file_bad(r, WG_EMODE,
                                "node %zu is the array operation %.*s, which is unknown", i,
                                (int)bytes, name);
    } else {
        n->op = find_op(r, user, name, bytes);
        if (n->op == NULL)
            return wgi_file_bad(
                r, WG_EMODE,
                user ? "node %zu is the user's operation %.*s, which is not given"
                     : "node %zu is the operation %.*s, which is unknown",
                i, (int)bytes, name);
    }
    r->at += bytes;
    return WG_OK;
}

/* Reads kind, flags and sizes of an operation on matrices. No size may be so large that a count
 * of elements overflows, and operands and results have to be few enough for nodes to be
 * numbered. */
static wg_status of_matrices(wgi_file_reader *r, size_t i, wgi_node *n) {
    wgi_dense_op op;
    op.kind = (unsigned)wgi_file_get(r, 1);
    op.flags = (unsigned)wgi_file_get(r, 1);
    for (int k = 0; k < 3; k++) op.size[k] = (size_t)wgi_file_get(r, 4);
    if (op.kind >= WGI_DENSE_KINDS ||
        (op.flags & ~(unsigned)wgi_dense_rows[op.kind].flags) != 0)
        return wgi_file_bad(wgi_file_at(r, r->at - MATRICES_BYTES), WG_EARG,
                            "node %zu is the operation on matrices %u with flags %u", i,
                            op.kind, op.flags);
    int fit = op.kind == WGI_DENSE_PRODUCT || op.size[0] < ORDER;
    for (unsigned k = 0; k < 3; k++)
        fit &= k < wgi_dense_rows[op.kind].sizes ? op.size[k] != 0 && op.size[k] < MOST
                                                 : op.size[k] == 0;
    if (!fit || wgi_dense_operands(&op) >= MOST || wgi_dense_results(&op) >= MOST)
        return wgi_file_bad(wgi_file_at(r, r->at - 3 * 4), WG_EARG,
                            "node %zu: matrices of sizes %zu, %zu and %zu", i, op.size[0],
                            op.size[1], op.size[2]);
    *n = wgi_dense_node(&op);
    return WG_OK;
}

/* Reads the sizes of one whose name is known; they are bounded likewise. */
static wg_status of_block(wgi_file_reader *r, size_t i, wgi_node *n) {
    wgi_whole_op op = {wgi_wholes[n->array], {0, 0, 0}};
    int fit = 1;
    for (int k = 0; k < 3; k++) {
        op.size[k] = (size_t)wgi_file_get(r, 4);
        fit &= op.size[k] < MOST && (k == 2 || op.size[k] < ORDER);
    }
    if (!fit || !wgi_whole_fits(&op) || wgi_whole_operands(&op) >= MOST ||
        wgi_whole_results(&op) >= MOST)
        return wgi_file_bad(wgi_file_at(r, r->at - 3 * 4), WG_EARG,
                            "node %zu: %s of sizes %zu, %zu and %zu", i, op.row->op->name,
                            op.size[0], op.size[1], op.size[2]);
    *n = wgi_whole_node(&op);
    return WG_OK;
}

/* Its parameters have to be numbers. */
static wg_status parameters(const wgi_file_reader *r, const wg_function *f, size_t i,
                            const wgi_node *n) {
    const unsigned count = wgi_whole_of(n).row->numbers;
    for (uint32_t k = n->count - count; k < n->count; k++)
        if (f->node[f->operand[n->first + k]].kind != WGI_NODE_NUMBER)
            return wgi_file_bad(r, WG_EARG,
                                "operand %u of node %zu is a parameter, and no number", k, i);
    return WG_OK;
}

/* How many operands and parts a node with parts has. */
static wgi_node_shape shape_of(const wgi_file_reader *r, const wgi_node *n) {
    return n->kind == WGI_NODE_REPEAT ? r->shape[n->part].of : wgi_node_shape_of(n, NULL);
}

/* Do part and number of operands fit the operation? */
static wg_status fits(const wgi_file_reader *r, const wg_function *f, size_t i,
                      const wgi_node *n) {
    const unsigned arity = wgi_node_scalar(n) != NULL ? n->op->arity : 0;
    const unsigned operands = wgi_node_row(n)->operands;
    if (n->kind == WGI_NODE_REPEAT) {
        if (n->part >= f->repeats)
            return wgi_file_bad(r, WG_EARG, "node %zu is repeat %u of %zu", i, n->part,
                                f->repeats);
        r->shape[n->part].used = 1;
    }
    const size_t wanted = operands == WGI_OPERANDS_OF_OP ? arity
                          : operands == WGI_OPERANDS_OWN ? shape_of(r, n).operands
                          : operands == WGI_OPERANDS_ANY ? n->count
                                                         : operands;
    if (n->count != wanted || (n->count == 0 && operands != WGI_OPERANDS_OWN))
        return wgi_file_bad(r, WG_EARG, "node %zu has %u operands, and its operation %zu", i,
                            n->count, wanted);
    if (n->kind == WGI_NODE_ARRAY && n->array == WGI_ARRAY_lookup && n->count < 2)
        return wgi_file_bad(r, WG_EARG, "node %zu is a lookup without elements", i);
    if (!wgi_node_is_partial(n)) return WG_OK;
    const int first = n->kind == WGI_NODE_FIRST;
    const uint32_t parts = first ? arity : arity * (arity + 1) / 2;
    if (n->part >= parts)
        return wgi_file_bad(r, WG_EARG, "node %zu is partial %u of %u", i, n->part, parts);
    if (first ? n->op->first == NULL : n->op->second == NULL)
        return wgi_file_bad(r, WG_EMODE, "node %zu is a partial that %s does not have", i,
                            n->op->name);
    return WG_OK;
}

/* Is it a part that its operand has, and higher than those that came before? */
static wg_status part(wgi_file_reader *r, const wg_function *f, size_t i, const wgi_node *n) {
    const uint32_t of = f->operand[n->first];
    const size_t parts = shape_of(r, &f->node[of]).parts;
    if (n->part >= parts)
        return wgi_file_bad(r, WG_EARG, "node %zu is result %u of %zu", i, n->part, parts);
    if (n->part < r->next[of])
        return wgi_file_bad(r, WG_EARG, "node %zu is result %u, after result %u", i, n->part,
                            r->next[of] - 1);
    r->next[of] = n->part + 1;
    return WG_OK;
}

/* What messages call a node whose parts are the numbers. */
static const char *with_parts(const wgi_node *n) { return wgi_node_row(n)->word; }

/* Reads the operands, all of which have to come before the node, and finds when it is computed.
 */
static wg_status node_operands(wgi_file_reader *r, wg_function *f, size_t i, wgi_node *n) {
    unsigned seen = 0;
    n->first = (uint32_t)r->operands;
    if (wgi_file_left(r) / 4 < n->count || r->word[WGI_FILE_OPERANDS] - r->operands < n->count)
        return wgi_file_ends(r, "node", i);
    for (uint32_t k = 0; k < n->count; k++) {
        const uint32_t x = (uint32_t)wgi_file_get(r, 4);
        if (x >= i)
            return wgi_file_bad(wgi_file_at(r, r->at - 4), WG_EARG,
                                "operand %u of node %zu is node %u, which is not before it", k,
                                i, x);
        if (wgi_node_has_parts(&f->node[x]) != (n->kind == WGI_NODE_PART))
            return wgi_file_bad(wgi_file_at(r, r->at - 4), WG_EARG,
                                "operand %u of node %zu is node %u, which is %s", k, i, x,
                                n->kind == WGI_NODE_PART ? "a number: it has no parts"
                                                         : with_parts(&f->node[x]));
        seen |= 1u << f->node[x].when;
        if (n->kind == WGI_NODE_SUM && (r->used[x] & SUMMED))
            return wgi_file_bad(wgi_file_at(r, r->at - 4), WG_EARG,
                                "node %zu is the sum of node %u once more", i, x);
        r->used[x] |= n->kind == WGI_NODE_SUM ? NEEDED | SUMMED : NEEDED;
        f->operand[r->operands++] = x;
    }
    if ((seen >> WGI_AFTER & 1) && ((seen >> WGI_EACH & 1) || n->kind == WGI_NODE_SUM))
        return wgi_file_bad(r, WG_EARG, "node %zu uses a sum over the points at the points", i);
    n->when = wgi_when_of(seen, n->kind);
    return WG_OK;
}

/* The place of a node in the order of kinds: inputs, numbers, then operations by when they are
 * computed. */
static unsigned rank(const wgi_node *n) {
    if (n->kind == WGI_NODE_INPUT) return 0;
    return n->kind == WGI_NODE_NUMBER ? 1 : 2u + n->when;
}

static wg_status node(wgi_file_reader *r, wg_function *f, size_t i) {
    wgi_node *const n = &f->node[i];
    memset(n, 0, sizeof *n);
    if (wgi_file_left(r) < 1) return wgi_file_ends(r, "node", i);
    const size_t start = r->at;
    const unsigned code = (unsigned)wgi_file_get(r, 1);
    while (n->kind < WGI_NODE_KINDS &&
           wgi_node_row(n)->code != (code & ~(unsigned)WGI_FILE_USER))
        n->kind++;
    const wgi_node_kind_row *const row = wgi_node_row(n);
    if (n->kind == WGI_NODE_KINDS || row->since > r->version ||
        ((code & WGI_FILE_USER) != 0 && (row->holds & WGI_HOLDS_SCALAR) == 0))
        return wgi_file_bad(wgi_file_at(r, start), WG_EARG,
                            "node %zu has the code %u, which is unknown", i, code);
    wg_status s = row->holds & (WGI_HOLDS_SCALAR | WGI_HOLDS_ARRAY | WGI_HOLDS_WHOLE)
                      ? node_name(r, i, (code & WGI_FILE_USER) != 0, n)
                      : WG_OK;
    const unsigned more = (row->holds & WGI_HOLDS_PART ? 4u : 0) +
                          (row->operands != 0 ? 4u : 0) +
                          (row->holds & WGI_HOLDS_MATRICES ? (unsigned)MATRICES_BYTES : 0) +
                          (row->holds & WGI_HOLDS_WHOLE ? (unsigned)BLOCK_BYTES : 0) +
                          (row->holds & WGI_HOLDS_VALUE ? 8u : 0);
    if (s != WG_OK) return s;
    if (wgi_file_left(r) < more) return wgi_file_ends(r, "node", i);
    if (row->holds & WGI_HOLDS_MATRICES) s = of_matrices(r, i, n);
    if (row->holds & WGI_HOLDS_WHOLE) s = of_block(r, i, n);
    if (s != WG_OK) return s;
    if (row->holds & WGI_HOLDS_PART) n->part = (uint32_t)wgi_file_get(r, 4);
    if (row->operands != 0) {
        n->count = (uint32_t)wgi_file_get(r, 4);
        s = fits(r, f, i, n);
        if (s == WG_OK) s = node_operands(r, f, i, n);
        if (s == WG_OK && n->kind == WGI_NODE_PART) s = part(r, f, i, n);
        if (s == WG_OK && n->kind == WGI_NODE_WHOLE) s = parameters(r, f, i, n);
        if (s != WG_OK) return s;
    }
    if (row->holds & WGI_HOLDS_VALUE) {
        const uint64_t bits = wgi_file_get(r, 8);
        memcpy(&n->value, &bits, sizeof bits);
    }
    if (n->kind == WGI_NODE_INPUT) n->part = (uint32_t)i;
    if ((n->kind == WGI_NODE_INPUT) != (i < f->n) || (i > 0 && rank(n) < rank(n - 1)))
        return wgi_file_bad(wgi_file_at(r, start), WG_EARG, "node %zu is out of its order", i);
    return WG_OK;
}

static wg_status nodes(wgi_file_reader *r, wg_function *f) {
    wg_status s = WG_OK;
    size_t i = 0;
    for (size_t k = 0; k < f->inputs && s == WG_OK; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->input[k]) && s == WG_OK; e++, i++) {
            s = node(r, f, i);
            f->node[i].when = f->input[k].flags & WG_SHARED ? WGI_ONCE : WGI_EACH;
        }
    for (; i < f->nodes && s == WG_OK; i++) s = node(r, f, i);
    if (s == WG_OK && r->operands != f->operands)
        s = wgi_file_bad(r, WG_EARG, "the nodes have %zu operands, not %zu", r->operands,
                         f->operands);
    if (s != WG_OK) return s;
    for (i = f->n; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        if (n->kind == WGI_NODE_NUMBER) f->numbers++;
        else if (n->when == WGI_ONCE) f->once++;
        else if (n->when == WGI_EACH) f->each++;
        else f->after++;
    }
    for (size_t k = 0; k < f->repeats; k++)
        if (!r->shape[k].used) return wgi_file_bad(r, WG_EARG, "no node is repeat %zu", k);
    if (r->depth == 0 && r->version > wgi_file_version(f))
        return wgi_file_bad(r, WG_EARG, "version %llu, and nothing in it that needs that",
                            (unsigned long long)r->version);
    if (r->depth == 0 && r->claims && !r->claimed)
        return wgi_file_bad(r, WG_EARG,
                            "no operation has a former name of one of the library's");
    return WG_OK;
}

/* ---- what the nodes are for ---- */

/* Checks sums in a body: if its steps are points, outputs that are common to all steps are
 * sums; otherwise there are none. */
static wg_status sums(const wgi_file_reader *r, const wg_function *f) {
    if (f->after != 0 && wgi_body_carried(f) != 0)
        return wgi_file_bad(r, WG_EARG,
                            "node %zu is a sum over points, of one step after the other",
                            f->nodes - f->after);
    const uint32_t *x = f->result;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, x++) {
            const wgi_node *const n = &f->node[*x];
            if ((f->output[k].flags & WG_SUMMED) == 0 || n->when == WGI_AFTER ||
                wgi_node_is_zero(n))
                continue;
            return wgi_file_bad(r, WG_EARG, "entry %zu of output %zu is no sum", e, k);
        }
    return WG_OK;
}

static wg_status results(wgi_file_reader *r, wg_function *f) {
    if (wgi_file_left(r) / 4 < f->m) return wgi_file_ends(r, "the outputs: entries", f->m);
    size_t j = 0;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, j++) {
            const uint32_t x = f->result[j] = (uint32_t)wgi_file_get(r, 4);
            const int summed = (f->output[k].flags & WG_SUMMED) != 0;
            if (x < f->nodes && !wgi_node_has_parts(&f->node[x]) &&
                f->node[x].when != (summed ? WGI_EACH : WGI_AFTER)) {
                r->used[x] |= NEEDED;
                continue;
            }
            r->at -= 4;
            if (x >= f->nodes)
                return wgi_file_bad(r, WG_EARG, "entry %zu of output %zu is node %u", e, k, x);
            if (wgi_node_has_parts(&f->node[x]))
                return wgi_file_bad(r, WG_EARG, "entry %zu of output %zu is %s", e, k,
                                    with_parts(&f->node[x]));
            return wgi_file_bad(r, WG_EARG, "entry %zu of output %zu is %s", e, k,
                                summed ? "one per point, not summed" : "a sum over the points");
        }
    return WG_OK;
}

static wg_status guards(wgi_file_reader *r, wg_function *f) {
    if (r->depth == 0 ? wgi_file_left(r) != f->guards * WGI_FILE_GUARD_BYTES
                      : wgi_file_left(r) < f->guards * WGI_FILE_GUARD_BYTES)
        return wgi_file_bad(r, WG_EARG, "%zu bytes for %zu comparisons", wgi_file_left(r),
                            f->guards);
    for (size_t k = 0; k < f->guards; k++) {
        wgi_graph_guard *const g = &f->guard[k];
        g->a = (uint32_t)wgi_file_get(r, 4);
        g->b = (uint32_t)wgi_file_get(r, 4);
        g->comparison = (unsigned)wgi_file_get(r, 1);
        g->outcome = (int)wgi_file_get(r, 1);
        if (g->a >= f->nodes || g->b >= f->nodes || g->comparison > 5 || g->outcome > 1)
            return wgi_file_bad(wgi_file_at(r, r->at - WGI_FILE_GUARD_BYTES), WG_EARG,
                                "comparison %zu: kind %u of nodes %u and %u was %d", k,
                                g->comparison, g->a, g->b, g->outcome);
        const int first = wgi_node_has_parts(&f->node[g->a]);
        if (first || wgi_node_has_parts(&f->node[g->b]))
            return wgi_file_bad(wgi_file_at(r, r->at - WGI_FILE_GUARD_BYTES), WG_EARG,
                                "comparison %zu: of %s", k,
                                with_parts(&f->node[first ? g->a : g->b]));
        const unsigned x = f->node[g->a].when, y = f->node[g->b].when;
        if (r->depth != 0 && (x == WGI_AFTER || y == WGI_AFTER))
            return wgi_file_bad(wgi_file_at(r, r->at - WGI_FILE_GUARD_BYTES), WG_EARG,
                                "comparison %zu: of a sum", k);
        if ((x == WGI_EACH && y == WGI_AFTER) || (x == WGI_AFTER && y == WGI_EACH))
            return wgi_file_bad(wgi_file_at(r, r->at - WGI_FILE_GUARD_BYTES), WG_EARG,
                                "comparison %zu: a sum over the points at the points", k);
        r->used[g->a] |= NEEDED, r->used[g->b] |= NEEDED;
    }
    for (size_t i = f->n; i < f->nodes; i++)
        if (r->used[i] == 0) return wgi_file_bad(r, WG_EARG, "nothing needs node %zu", i);
    return WG_OK;
}

wg_status wgi_file_nodes(wgi_file_reader *r, wg_function *f) {
    wg_status s = nodes(r, f);
    if (s == WG_OK) s = results(r, f);
    if (s == WG_OK && r->depth != 0) s = sums(r, f);
    return s == WG_OK ? guards(r, f) : s;
}
