/* SPDX-License-Identifier: MIT */
/* Long statements: of more than 8 operands, 8 numbers or 128 bits of code.
 *
 * On most tapes they are one statement as any other: one slot, and one record for two
 * variables, where of more than 8 operands each variable counts once. Kept code has no room for
 * them: a tape that keeps its code gets them in pieces, each a statement of its own. */
#include "tape.h"

/* ---- as one statement ---- */

/* Variables that come again are added to where they came first, except in a statement that the
 * fast path takes, too, where there is room: its records are the same either way. Constants
 * have no place. Gives how many operands are left. */
static size_t gather(size_t n, const uint64_t *handle, const double *p, uint32_t *slot,
                     double *partial) {
    const int each_once = n > WGI_MAX_OPERANDS;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = wgi_slot(handle[i]);
        if (at == 0) continue;
        size_t j = each_once ? 0 : k;
        while (j < k && slot[j] != at) j++;
        if (j == k) slot[k] = at, partial[k++] = p[i];
        else partial[j] += p[i];
    }
    return k;
}

static wg_real as_one(wgi_core *c, const wgi_statement *s) {
    wgi_statement once = *s;
    uint32_t slot[WGI_MOST_OPERANDS];
    once.operands = (unsigned)gather(s->operands, s->handle, s->partial, slot, once.partial);
    return wgi_let_append(c, &once, slot);
}

/* ---- in pieces ---- */

/* A statement being cut: its tree, what is known of each node, and the piece being put
 * together. */
typedef struct cut {
    wgi_core *c;
    const wgi_statement *s;
    wgi_statement_code tree;
    struct size {
        unsigned operands, numbers, bits;
    } size[WGI_MOST_NODES];
    /* a node that has become a variable of its own, or a constant; otherwise the value is
     * not set */
    wg_real variable[WGI_MOST_NODES];
    uint8_t is_cut[WGI_MOST_NODES];
} cut;

static void put_bits(wgi_statement *piece, unsigned code, unsigned bits) {
    piece->code |= (wgi_bits)code << piece->bits;
    piece->bits += bits;
}

static void put_number(wgi_statement *piece, double number) {
    piece->number[piece->numbers++] = number;
}

static void put_operand(wgi_statement *piece, uint32_t *slot, uint64_t handle, double x) {
    const unsigned i = piece->operands++;
    piece->handle[i] = handle;
    piece->x[i] = x;
    slot[i] = wgi_slot(handle);
    put_bits(piece, 0, 2);
}

/* Adds node i, and what is below it, to the piece. */
static void put_node(const cut *q, int i, wgi_statement *piece, uint32_t *slot) {
    const struct wgi_step *const n = &q->tree.node[i];
    if (q->is_cut[i]) {
        const wg_handle at = q->variable[i].at;
        put_operand(piece, slot, (uint64_t)at.stamp << 32 | at.slot, q->variable[i].value);
    } else if (i < q->tree.operands) {
        put_operand(piece, slot, q->s->handle[i], q->s->x[i]);
    } else if (n->op == NULL) {
        put_number(piece, n->value);
        put_bits(piece, 1, 2);
    } else {
        for (unsigned k = 0; k < n->op->arity; k++) put_node(q, n->arg[k], piece, slot);
        unsigned op = WGI_OP_USER;
        if (wgi_is_users(n->op)) {
            const uint64_t address = (uint64_t)(uintptr_t)n->op;
            double number;
            memcpy(&number, &address, sizeof number);
            put_number(piece, number);
        } else {
            op = (unsigned)(n->op - wgi_scalar_ops);
        }
        put_bits(piece, WGI_CODE(op), WGI_WIDTH(op));
    }
}

/* Records node i as a statement of its own. */
static wg_real append_piece(cut *q, int i, double value) {
    wgi_statement piece;
    uint32_t slot[WGI_MOST_OPERANDS], active = 0;
    piece.code = 0;
    piece.words = NULL;
    piece.value = value;
    piece.file = q->s->file;
    piece.line = q->s->line;
    piece.operands = piece.numbers = piece.bits = 0;
    put_node(q, i, &piece, slot);
    for (unsigned k = 0; k < piece.operands; k++) active |= slot[k];
    if (active == 0) return wg_constant(value);
    wgi_zero_rule(&piece);
    return wgi_let_append(q->c, &piece, slot);
}

/* The size of node i as a part of a piece. */
static struct size size_of(const cut *q, int i) {
    const struct wgi_step *const n = &q->tree.node[i];
    if (q->is_cut[i] || i < q->tree.operands) return (struct size){1, 0, 2};
    if (n->op == NULL) return (struct size){0, 1, 2};
    return q->size[i];
}

/* The size of an operation in one piece with its arguments. */
static struct size size_with(const cut *q, const struct wgi_step *n) {
    const int users = wgi_is_users(n->op);
    const unsigned op = users ? WGI_OP_USER : (unsigned)(n->op - wgi_scalar_ops);
    struct size sum = {0, (unsigned)users, WGI_WIDTH(op)};
    for (unsigned k = 0; k < n->op->arity; k++) {
        const struct size a = size_of(q, n->arg[k]);
        sum.operands += a.operands, sum.numbers += a.numbers, sum.bits += a.bits;
    }
    return sum;
}

static int fits(struct size a) {
    return a.operands <= WGI_MAX_OPERANDS && a.numbers <= WGI_MAX_NUMBERS &&
           a.bits <= WGI_MAX_CODE;
}

/* Operation i fits into one piece with its arguments once the longest of them are recorded. */
static wg_status shorten(cut *q, int i) {
    const struct wgi_step *const n = &q->tree.node[i];
    for (;;) {
        q->size[i] = size_with(q, n);
        if (fits(q->size[i])) return WG_OK;
        int longest = n->arg[0];
        for (unsigned k = 1; k < n->op->arity; k++)
            if (size_of(q, n->arg[k]).bits > size_of(q, longest).bits) longest = n->arg[k];
        const wg_real y = append_piece(q, longest, q->tree.node[longest].value);
        if (q->c->status != WG_OK) return q->c->status;
        q->variable[longest] = y;
        q->is_cut[longest] = 1;
    }
}

static wg_real in_pieces(wgi_core *c, const wgi_statement *s) {
    cut q;
    q.c = c, q.s = s;
    wgi_statement_code_of_new(s, &q.tree);
    (void)wgi_statement_code_run(&q.tree, s->x);
    memset(q.is_cut, 0, sizeof q.is_cut);
    for (int i = q.tree.operands; i < q.tree.nodes; i++)
        if (q.tree.node[i].op != NULL && shorten(&q, i) != WG_OK) return wgi_nan();
    return append_piece(&q, q.tree.nodes - 1, s->value);
}

wg_real wgi_long_append(wgi_core *c, const wgi_statement *s) {
    const int kept = (c->flags & WG_KEEP_CODE) != 0 && c->width == 0;
    return kept ? in_pieces(c, s) : as_one(c, s);
}

/* ---- from wg_let ---- */

/* Are all operands variables of the tape or constants, and all partials numbers? */
static int plain(const wg_tape *t, const wgi_many *s, size_t n) {
    const uint64_t stamp = (uint64_t)t->stamp << 32;
    int known = 1;
    for (size_t i = 0; i < n; i++)
        known &= (s->h[i] == 0 || s->h[i] - stamp < t->slots) && s->p[i] == s->p[i];
    return known;
}

wg_real wgi_let_long(wg_tape *t, double value, const wgi_many *list, const double *number,
                     const wgi_words *code, uint64_t head, const char *file) {
    const size_t n = head >> 48 & 255;
    if (t != NULL && t->top < t->limit && plain(t, list, n)) {
        uint32_t slot[WGI_MOST_OPERANDS];
        double partial[WGI_MOST_OPERANDS];
        const size_t k = gather(n, list->h, list->p, slot, partial);
        if (k == 0) return wg_constant(value);
        const wg_real y = wgi_append(wgi_core_of(t), "wg_let", value, k, slot, partial);
        if (y.at.slot == 0) wgi_fail_where(wgi_core_of(t), file, (int)(head & UINT32_MAX));
        return y;
    }
    wgi_statement s;
    s.words = code;
    s.value = value;
    s.file = file;
    s.line = (int)(head & UINT32_MAX);
    s.bits = head >> 36 & 4095;
    s.operands = (unsigned)n;
    s.numbers = (unsigned)(head >> 56);
    const size_t bytes = n * sizeof(double);
    memcpy(s.partial, list->p, bytes);
    memcpy(s.x, list->x, bytes);
    memcpy(s.handle, list->h, bytes);
    memcpy(s.number, number, s.numbers * sizeof(double));
    for (unsigned i = 0; i < s.operands; i++)
        if (s.partial[i] != s.partial[i]) { /* made of plain products */
            wgi_zero_rule(&s);
            break;
        }
    return wgi_let(t, &s);
}
