/* SPDX-License-Identifier: MIT */
/* Sums of products of two operands by the names of their dimensions, recorded as permutations
 * and a batch of products.
 *
 * A dimension is one letter. Of both operands and the result: a batch; of both operands alone:
 * summed in the products; of one operand alone: summed before; of one and the result: rows or
 * columns of the products. Derivatives are those of what is recorded. */
#include <string.h>
#include <wengert/data.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include "call.h"
#include "point.h"

enum { DIMS = 4, LETTERS = 2 * DIMS };

/* Letters of a matrix, the first of which makes its rows, with their sizes. */
typedef struct named {
    char letter[LETTERS + 1];
    size_t size[LETTERS], count;
} named;

static int place_of(const named *a, char letter) {
    for (size_t i = 0; i < a->count; i++)
        if (a->letter[i] == letter) return (int)i;
    return -1;
}
static int has(const named *a, char letter) { return place_of(a, letter) >= 0; }
static void append(named *a, char letter, size_t size) {
    a->letter[a->count] = letter, a->size[a->count++] = size;
}

/* Reads letters up to `end`. NULL: all is well; else what is wrong. */
static const char *letters(const char **text, char end, named *a) {
    for (; **text != end; (*text)++) {
        const char c = **text;
        if (c == 0 || c == ',' || c == '-') return "the text is not of the form \"ij,jk->ik\"";
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
            return "dimensions have one letter each";
        if (has(a, c)) return "a dimension stands twice in one operand or in the result";
        if (a->count == DIMS) return "more than four dimensions";
        append(a, c, 0);
    }
    return NULL;
}

/* The sizes of the dimensions of an operand: its rows and columns, or those that are said. */
static const char *sizes(named *a, const named *all, const size_t *size, wg_mat of) {
    size_t rows = 1, cols = 1;
    if (size == NULL && a->count > 2) return "operands of more than two dimensions need sizes";
    for (size_t i = 0; i < a->count; i++) {
        size_t *const to = i == 0 ? &rows : &cols;
        a->size[i] = size != NULL ? size[place_of(all, a->letter[i])]
                     : i == 0     ? of.rows
                                  : of.cols;
        if (a->size[i] != 0 && *to > SIZE_MAX / a->size[i])
            return "dimensions beyond all memory";
        *to *= a->size[i];
    }
    return rows == of.rows && cols == of.cols ? NULL : "the sizes are not those of an operand";
}

/* ---- what refuses ---- */

struct refusal {
    wg_status status;
    const char *why;
};
static wg_status refusal_shape(wg_block *b) {
    const struct refusal *const r = b->params;
    return wgi_block_refuse(b, r->status, r->why);
}
static wg_status nothing(wg_block *b) {
    (void)b;
    return WG_OK;
}
static wg_mat refuse(wg_tape *t, wg_status s, const char *why, const wg_mat *in) {
    static const wg_block_op op = {"wg_einsum", WG_OP_TRANS, refusal_shape, nothing, nothing,
                                   NULL,        NULL,        NULL,          NULL};
    const struct refusal r = {s, why};
    return wgi_apply_one(t, &op, &r, sizeof r, 2, in);
}

/* ---- recording ---- */

/* The dimensions of x in the order of `to`, of which the first `rows` make the rows. */
static wg_mat permuted(wg_tape *t, wg_mat x, const named *from, const named *to, size_t rows) {
    size_t perm[LETTERS];
    for (size_t i = 0; i < to->count; i++) perm[i] = (size_t)place_of(from, to->letter[i]);
    return wg_permute(t, x, from->count, from->size, perm, rows);
}

/* Of dimensions [from, to), 1 of none. */
static size_t elements(const named *a, size_t from, size_t to) {
    size_t n = 1;
    for (size_t i = from; i < to; i++) n *= a->size[i];
    return n;
}

/* x without the dimensions that are in none of the two. */
static wg_mat summed(wg_tape *t, wg_mat x, named *a, const named *other, const named *out) {
    named kept = {.count = 0}, order;
    for (size_t i = 0; i < a->count; i++)
        if (has(other, a->letter[i]) || has(out, a->letter[i]))
            append(&kept, a->letter[i], a->size[i]);
    if (kept.count == a->count) return x;
    order = kept;
    for (size_t i = 0; i < a->count; i++)
        if (!has(&kept, a->letter[i])) append(&order, a->letter[i], a->size[i]);
    const wg_mat lines = permuted(t, x, a, &order, kept.count);
    *a = kept;
    return wg_mat_sum_axis(t, lines, WG_EACH_ROW); /* one column */
}

static void choose(named *to, const named *from, const named *other, int in_other,
                   const named *out, int in_out) {
    for (size_t i = 0; i < from->count; i++)
        if (has(other, from->letter[i]) == in_other && has(out, from->letter[i]) == in_out)
            append(to, from->letter[i], from->size[i]);
}

static wg_mat product(wg_tape *t, wg_mat x, wg_mat z, named a, named b, named out) {
    named left = {.count = 0}, right = {.count = 0}, made = {.count = 0};
    if (elements(&a, 0, a.count) == 0 || elements(&b, 0, b.count) == 0)
        return wg_mat_fill(t, out.count != 0 ? out.size[0] : 1, elements(&out, 1, out.count),
                           0);
    x = summed(t, x, &a, &b, &out);
    z = summed(t, z, &b, &a, &out);
    choose(&left, &a, &b, 0, &out, 1);
    choose(&made, &a, &b, 0, &out, 1);
    const size_t rows = left.count;
    choose(&left, &a, &b, 1, &out, 0);
    choose(&right, &a, &b, 1, &out, 0);
    const size_t inner = right.count;
    choose(&right, &b, &a, 0, &out, 1);
    choose(&made, &b, &a, 0, &out, 1);
    choose(&left, &a, &b, 1, &out, 1);
    choose(&right, &a, &b, 1, &out, 1);
    const size_t columns = made.count;
    choose(&made, &a, &b, 1, &out, 1);
    const size_t count = elements(&made, columns, made.count);
    const wg_mat y = wg_gemm_batch(t, count, 'N', 'N', 1, permuted(t, x, &a, &left, rows),
                                   permuted(t, z, &b, &right, inner));
    return permuted(t, y, &made, &out, out.count != 0);
}

wg_mat wg_einsum(wg_tape *t, const char *text, const size_t *size, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    named x = {.count = 0}, z = {.count = 0}, out = {.count = 0}, all;
    const char *why;
    if (text == NULL) return refuse(t, WG_ENULL, "no text", in);
    if ((why = letters(&text, ',', &x)) != NULL ||
        (text++, why = letters(&text, '-', &z)) != NULL)
        return refuse(t, WG_EARG, why, in);
    if (*++text != '>')
        return refuse(t, WG_EARG, "the text is not of the form \"ij,jk->ik\"", in);
    text++;
    if ((why = letters(&text, 0, &out)) != NULL) return refuse(t, WG_EARG, why, in);
    all = x;
    for (size_t i = 0; i < z.count; i++)
        if (!has(&all, z.letter[i])) append(&all, z.letter[i], 0);
    for (size_t i = 0; i < out.count; i++)
        if (!has(&all, out.letter[i]))
            return refuse(t, WG_EARG, "a dimension of the result is in no operand", in);
    if ((why = sizes(&x, &all, size, a)) != NULL || (why = sizes(&z, &all, size, b)) != NULL)
        return refuse(t, WG_ESHAPE, why, in);
    for (size_t i = 0; i < z.count; i++)
        if (has(&x, z.letter[i]) && x.size[place_of(&x, z.letter[i])] != z.size[i])
            return refuse(t, WG_ESHAPE, "a dimension has two sizes", in);
    for (size_t i = 0; i < out.count; i++) {
        const int first = place_of(&x, out.letter[i]);
        out.size[i] = first >= 0 ? x.size[first] : z.size[place_of(&z, out.letter[i])];
    }
    if (wgi_is_readable(t, &a) && wgi_is_readable(t, &b)) return product(t, a, b, x, z, out);
    (void)refuse(t, WG_ESHAPE, NULL, in);
    return wg_mat_failed(out.count != 0 ? out.size[0] : 1, elements(&out, 1, out.count));
}
