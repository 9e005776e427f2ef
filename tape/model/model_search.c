/* SPDX-License-Identifier: MIT */
/* What a node depends on: a walk backwards over the slots of the recording. And the nodes as
 * text and as a graph. */
#include "model.h"
#include "tape/engine/text.h"

#include <stdio.h>
#include <string.h>

/* ---- slots ---- */

/* Columns as they are stored: their length, and how many there are. */
static size_t length_of(const wg_mat *a) { return a->trans ? a->cols : a->rows; }
static size_t columns_of(const wg_mat *a) { return a->trans ? a->rows : a->cols; }

/* For every slot of a matrix, one run per column. */
#define EACH_SLOT(slot, first, length, columns, ld)                                            \
    for (size_t column_ = 0; column_ < (columns); column_++)                                   \
        for (size_t slot = (first) + column_ * (ld), end_ = slot + (length); slot < end_;      \
             slot++)

wg_status wgi_slots_open(wg_model *m, const char *call, wgi_slots *s) {
    const wgi_core *const c = m->c;
    wg_status status = wgi_model_ready(m, call);
    if (status != WG_OK) return status;
    const size_t slots = c->head.slots;
    memset(s, 0, sizeof *s);
    s->m = m;
    s->word = wgi_model_scratch(m, call, slots * sizeof *s->word);
    s->node =
        s->word == NULL ? NULL : wgi_model_scratch(m, call, slots * sizeof(wgi_node_of *));
    s->mark = s->node == NULL ? NULL : wgi_model_scratch(m, call, slots);
    if (s->mark == NULL) return wg_tape_status(m->scratch);
    for (size_t k = 0; k < slots; k++) s->word[k] = 0, s->node[k] = NULL;
    wgi_entry e;
    for (uint64_t w = 0; w < c->head.code_words;) {
        const uint64_t at = w;
        w = wgi_code_read(c, w, &e);
        if (e.type != WGI_ENTRY_GUARD) s->word[e.out] = at + 1;
    }
    for (wgi_node_of *n = m->first; n != NULL; n = n->next) {
        if (n->mat.at.slot == 0) continue;
        if (wgi_mat_stale(c, &n->mat))
            return wgi_refuse(m->c, WG_ESTALE, "%s: the tape was rewound to before %s", call,
                              n->name);
        EACH_SLOT(k, n->mat.at.slot, length_of(&n->mat), columns_of(&n->mat), n->mat.ld)
        if (s->node[k] == NULL) s->node[k] = n;
    }
    return WG_OK;
}

static void mark_node(wgi_slots *s, const wgi_node_of *n) {
    if (n->mat.at.slot == 0) return;
    EACH_SLOT(k, n->mat.at.slot, length_of(&n->mat), columns_of(&n->mat), n->mat.ld)
    s->mark[k] = 1;
}

int wgi_slots_marked(const wgi_slots *s, const wgi_node_of *n) {
    if (n->mat.at.slot == 0) return 0;
    EACH_SLOT(k, n->mat.at.slot, length_of(&n->mat), columns_of(&n->mat), n->mat.ld)
    if (s->mark[k]) return 1;
    return 0;
}

/* Does the walk go on from a slot that is marked? 2: yes, to what its node was derived from. */
static int goes_on(const wgi_slots *s, uint32_t slot, size_t count, wgi_node_of *const *from,
                   wgi_reach_to to) {
    const wgi_node_of *const n = s->node[slot];
    if (n == NULL || (n->kind & (WG_PLACEHOLDER | WG_VARIABLE))) return n == NULL;
    if (to == WGI_REACH_NODES) {
        size_t k = 0;
        while (k < count && from[k] != n) k++;
        if (k == count) return 0;
    }
    if (!(n->kind & WGI_DERIVED)) return 1;
    return to == WGI_REACH_DERIVED ? 0 : 2;
}

static void mark_operands(wgi_slots *s, const wgi_block *b) {
    for (uint32_t k = 0; k < b->inputs; k++) {
        const wgi_operand *const o = &b->operand[k];
        if (o->slot == 0) continue;
        EACH_SLOT(i, o->slot, o->trans ? o->cols : o->rows, o->trans ? o->rows : o->cols, o->ld)
        s->mark[i] = 1;
    }
}

static void mark_statement(wgi_slots *s, uint64_t word) {
    wgi_entry e;
    (void)wgi_code_read(s->m->c, word, &e);
    for (size_t k = 0; k < e.operands; k++) s->mark[e.slot[k]] = 1;
}

void wgi_slots_walk(wgi_slots *s, size_t count, wgi_node_of *const *from, wgi_reach_to to) {
    const wgi_core *const c = s->m->c;
    const wgi_block *b = c->head.last_block;
    memset(s->mark, 0, c->head.slots);
    for (size_t k = 0; k < count; k++) mark_node(s, from[k]);
    for (uint32_t slot = c->head.slots; slot-- > 1;) {
        while (b != NULL && (b->outs == 0 || b->out > slot)) b = b->prev;
        if (!s->mark[slot]) continue;
        const int on = goes_on(s, slot, count, from, to);
        if (on == 2) mark_node(s, s->node[slot]->from[0]);
        if (on != 1) continue;
        if (b != NULL && slot - b->out < b->outs) {
            const uint32_t *const gathered = wgi_gather_slots(b);
            if (gathered != NULL) s->mark[gathered[slot - b->out]] = 1;
            else mark_operands(s, b);
        } else if (s->word[slot] != 0) mark_statement(s, s->word[slot] - 1);
    }
}

/* ---- search ---- */

static int has_tag(const wgi_node_of *n, const char *tag) {
    for (const wgi_tag *t = n->tag; t != NULL; t = t->next)
        if (strcmp(t->text, tag) == 0) return 1;
    return 0;
}

size_t wg_model_find(wg_model *m, unsigned kinds, const char *name, const char *tag,
                     const wg_mat *y, size_t room, wg_mat *out) {
    static const char call[] = "wg_model_find";
    size_t found = 0;
    wgi_slots s;
    wgi_node_of *of = NULL;
    if (m == NULL) return 0;
    if (room != 0 && out == NULL) {
        (void)WGI_MODEL_REFUSE(m, WG_ENULL, "%s: out is NULL, with room %zu", call, room);
        return 0;
    }
    if (y != NULL) {
        of = wgi_model_node_of(m, y);
        if (of == NULL) (void)WGI_MODEL_REFUSE(m, WG_EARG, "%s: y is no node", call);
        const int opened = of != NULL && wgi_slots_open(m, call, &s) == WG_OK;
        if (opened) wgi_slots_walk(&s, 1, &of, WGI_REACH_LEAVES);
        else of = NULL;
        if (of == NULL) {
            wg_tape_reset(m->scratch);
            return 0;
        }
    }
    for (const wgi_node_of *n = m->first; n != NULL; n = n->next) {
        if ((n->kind & kinds) == 0 || n == of) continue;
        if (name != NULL && strcmp(n->name, name) != 0) continue;
        if (tag != NULL && !has_tag(n, tag)) continue;
        if (of != NULL && !wgi_slots_marked(&s, n)) continue;
        if (found < room) out[found] = n->mat;
        found++;
    }
    wg_tape_reset(m->scratch);
    return found;
}

/* ---- as text ---- */

static void put_dim(wgi_text *o, const wg_dim *d) {
    if (d->name != NULL) {
        wgi_text_name(o, d->name);
        wgi_text_put(o, " ");
    }
    wgi_text_format(o, "%zu", d->size);
}

static void put_dims(wgi_text *o, const wgi_node_of *n) {
    wgi_text_put(o, "[");
    put_dim(o, &n->dim[0]);
    wgi_text_put(o, ", ");
    put_dim(o, &n->dim[1]);
    wgi_text_put(o, "]");
}

static void put_operation(wgi_text *o, const wgi_node_of *n) {
    if (n->kind & WG_PLACEHOLDER) wgi_text_put(o, "placeholder");
    if (n->kind & WG_VARIABLE) wgi_text_put(o, "variable");
    if (n->kind & WG_CONSTANT) wgi_text_put(o, "constant");
    if (n->kind & WG_OPERATION)
        wgi_text_name(o, n->operation[0] != 0 ? n->operation : "statements");
    if ((n->kind & WG_PLACEHOLDER) && (n->flags & WG_SHARED)) wgi_text_put(o, " shared");
    if ((n->kind & WG_PLACEHOLDER) && (n->flags & WG_PASSIVE)) wgi_text_put(o, " passive");
}

/* Called for each node that a node was made from: operands in their order, or whichever is met
 * first. */
typedef void each_operand(wgi_text *o, const wgi_node_of *operand, const wgi_node_of *n,
                          int first);

static void operands_of(wgi_slots *s, wgi_text *o, wgi_node_of *n, each_operand *put) {
    int first = 1;
    if (!(n->kind & WG_OPERATION)) return;
    if (n->from[0] != NULL) {
        for (int k = 0; n->from[k] != NULL; k++) put(o, n->from[k], n, k == 0);
        return;
    }
    wgi_slots_walk(s, 1, &n, WGI_REACH_NODES);
    for (const wgi_node_of *i = s->m->first; i != NULL; i = i->next)
        if (i != n && wgi_slots_marked(s, i)) {
            put(o, i, n, first);
            first = 0;
        }
}

static void name_operand(wgi_text *o, const wgi_node_of *operand, const wgi_node_of *n,
                         int first) {
    wgi_text_put(o, first ? " of " : n->kind & WGI_DERIVED ? " by " : ", ");
    wgi_text_name(o, operand->name);
}

static void edge(wgi_text *o, const wgi_node_of *operand, const wgi_node_of *n, int first) {
    (void)first;
    wgi_text_put(o, "    \"");
    wgi_text_name(o, operand->name);
    wgi_text_put(o, "\" -> \"");
    wgi_text_name(o, n->name);
    wgi_text_put(o, "\";\n");
}

static void put_tags(wgi_text *o, const wgi_node_of *n) {
    for (const wgi_tag *t = n->tag; t != NULL; t = t->next) {
        wgi_text_put(o, " #");
        wgi_text_name(o, t->text);
    }
}

static void put_place(wgi_text *o, const wgi_node_of *n) {
    wgi_text_name(o, n->file);
    wgi_text_format(o, ":%d", n->line);
}

static void line(wgi_slots *s, wgi_text *o, wgi_node_of *n) {
    wgi_text_name(o, n->name);
    wgi_text_put(o, " = ");
    put_operation(o, n);
    operands_of(s, o, n, name_operand);
    wgi_text_put(o, " ");
    put_dims(o, n);
    put_tags(o, n);
    wgi_text_put(o, "  ; ");
    put_place(o, n);
    wgi_text_put(o, "\n");
    if (n->updates == NULL) return;
    wgi_text_name(o, n->updates->name);
    wgi_text_put(o, " <- ");
    wgi_text_name(o, n->name);
    wgi_text_put(o, "\n");
}

static void dot_node(wgi_slots *s, wgi_text *o, wgi_node_of *n) {
    wgi_text_put(o, "    \"");
    wgi_text_name(o, n->name);
    wgi_text_put(o, n->kind & WG_OPERATION ? "\" [label=\"" : "\" [shape=box, label=\"");
    wgi_text_name(o, n->name);
    wgi_text_put(o, "\\n");
    put_operation(o, n);
    wgi_text_put(o, "\\n");
    put_dims(o, n);
    put_tags(o, n);
    wgi_text_put(o, "\", tooltip=\"");
    put_place(o, n);
    wgi_text_put(o, "\"];\n");
    operands_of(s, o, n, edge);
    if (n->updates == NULL) return;
    wgi_text_put(o, "    \"");
    wgi_text_name(o, n->name);
    wgi_text_put(o, "\" -> \"");
    wgi_text_name(o, n->updates->name);
    wgi_text_put(o, "\" [style=dashed];\n");
}

static wg_status draw(wg_model *m, const char *call, wg_write *write, void *ctx,
                      const char *head, void (*put)(wgi_slots *, wgi_text *, wgi_node_of *),
                      const char *foot) {
    if (m == NULL) return WG_ENULL;
    if (write == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: write is NULL", call);
    wgi_slots s;
    wgi_text o;
    wg_status status = wgi_slots_open(m, call, &s);
    if (status == WG_OK) {
        wgi_text_open(&o, m->c, write, ctx);
        wgi_text_put(&o, head);
        for (wgi_node_of *n = m->first; n != NULL && !o.failed; n = n->next) put(&s, &o, n);
        wgi_text_put(&o, foot);
        status = wgi_text_close(&o);
        if (status != WG_OK)
            (void)WGI_MODEL_REFUSE(m, status, "%s: write gave a failure", call);
    }
    wg_tape_reset(m->scratch);
    return status;
}

wg_status wg_model_print(wg_model *m, wg_write *write, void *ctx) {
    return draw(m, "wg_model_print", write, ctx, "", line, "");
}

wg_status wg_model_dot(wg_model *m, wg_write *write, void *ctx) {
    return draw(m, "wg_model_dot", write, ctx, "digraph model {\n", dot_node, "}\n");
}
