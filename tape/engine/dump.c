/* SPDX-License-Identifier: MIT */
/* Looking into a tape: as text, one line per slot, and as a graph. */
#include "slot_walk.h"

#include <stdio.h>
#include <string.h>

/* ---- text, in pieces ---- */

typedef struct text {
    wg_write *write;
    void *ctx;
    int failed;
    size_t used;
    char piece[512];
} text;

static void flush(text *o) {
    if (o->used != 0 && !o->failed) o->failed = o->write(o->ctx, o->piece, o->used) != 0;
    o->used = 0;
}

static void put_bytes(text *o, const char *s, size_t n) {
    while (n > 0) {
        if (o->used == sizeof o->piece) flush(o);
        const size_t room = sizeof o->piece - o->used, m = n < room ? n : room;
        memcpy(o->piece + o->used, s, m);
        o->used += m;
        s += m;
        n -= m;
    }
}

static void put(text *o, const char *s) { put_bytes(o, s, strlen(s)); }

static void put_number(text *o, double x) {
    char buffer[WGI_NUMBER_TEXT];
    put(o, wgi_number_text(buffer, x));
}

static void put_count(text *o, const char *before, uint64_t n) {
    char buffer[24];
    (void)snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)n);
    put(o, before);
    put(o, buffer);
}

/* Puts a text in quotation marks, for people and for Graphviz. */
static void put_quoted(text *o, const char *s) {
    for (; *s != 0; s++) {
        if (*s == '"' || *s == '\\') put(o, "\\");
        put_bytes(o, *s == '\n' ? " " : s, 1);
    }
}

static void put_label(text *o, const wgi_core *c, uint32_t slot) {
    const char *const label = wgi_label_of(c, slot);
    if (label == NULL) return;
    put(o, " \"");
    put_quoted(o, label);
    put(o, "\"");
}

static void put_place(text *o, const char *before, const wgi_core *c, uint32_t slot,
                      const char *after) {
    const wgi_place *const place = wgi_place_of(c, slot);
    if (place == NULL) return;
    put(o, before);
    put_quoted(o, place->file);
    put_count(o, ":", place->line);
    put(o, after);
}

static void put_tangents(text *o, const wgi_core *c, uint32_t slot) {
    const double *const row = (const double *)(const void *)c->tangents.base;
    for (size_t l = 0; l < c->width; l++) {
        put(o, " ");
        put_number(o, row[(size_t)slot * c->width + l]);
    }
}

static void put_code(text *o, const wgi_entry *e) {
    char buffer[1024];
    if (wgi_code_text(e, buffer, sizeof buffer) >= sizeof buffer)
        memcpy(buffer + sizeof buffer - 4, "...", 4);
    put(o, buffer);
}

static wg_status finish(text *o) {
    flush(o);
    return o->failed ? WG_EWRITE : WG_OK;
}

/* ---- one line per slot ---- */

static void put_shape(text *o, const char *before, uint64_t rows, uint64_t cols) {
    put_count(o, before, rows);
    put_count(o, "x", cols);
}

/* The operands of a block: their first slots and shapes. */
static size_t block_operands(const wgi_block *b, uint32_t *slot, uint32_t *rows,
                             uint32_t *cols) {
    if (b->op == &wgi_small_op) {
        const wgi_small *const s = (const wgi_small *)(const void *)b;
        for (size_t i = 0; i < 2; i++) slot[i] = s->in[i], rows[i] = s->outs, cols[i] = 1;
        return 2;
    }
    for (uint32_t i = 0; i < b->inputs; i++) {
        slot[i] = b->operand[i].slot;
        rows[i] = b->operand[i].rows, cols[i] = b->operand[i].cols;
    }
    return b->inputs;
}

/* " to s9: wg_gemm of s1 2x3, 3x1 (constant)" */
static void put_block(text *o, const wgi_block *b) {
    uint32_t slot[WGI_MAX_ARGS], rows[WGI_MAX_ARGS], cols[WGI_MAX_ARGS];
    const size_t n = block_operands(b, slot, rows, cols);
    if (b->outs > 1) put_count(o, " to s", (uint64_t)b->out + b->outs - 1);
    put(o, ": ");
    put(o, b->op->name);
    for (size_t i = 0; i < n; i++) {
        put(o, i == 0 ? " of " : ", ");
        if (slot[i] != 0) put_count(o, "s", slot[i]);
        else put(o, "constant");
        put_shape(o, " ", rows[i], cols[i]);
    }
    const uint32_t *const gathered = wgi_gather_slots(b);
    for (uint32_t i = 0; gathered != NULL && i < b->outs; i++) {
        put(o, i == 0 ? " of " : ", ");
        if (gathered[i] != 0) put_count(o, "s", gathered[i]);
        else put(o, "constant");
    }
    put(o, "\n");
}

static void put_operand(text *o, uint32_t slot, double partial, int *more) {
    if (slot == 0) return;
    put(o, *more ? ", " : " ");
    put_number(o, partial);
    put_count(o, " s", slot);
    *more = 1;
}

wg_status wg_tape_dump(const wg_tape *t, wg_write *write, void *ctx) {
    if (t == NULL || write == NULL) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->outer != NULL) return WG_EMODE;
    text o = {write, ctx, 0, 0, ""};
    if (c->status != WG_OK) {
        put(&o, "failed: ");
        put(&o, c->message);
        put(&o, "\n");
    }
    for (wgi_slot_walk w = wgi_slot_walk_of(c); wgi_slot_step(&w) && !o.failed;) {
        if (w.slot == 0) {
            put(&o, "guard: ");
            put_code(&o, &w.entry);
            put(&o, "\n");
            continue;
        }
        put_count(&o, "s", w.slot);
        put_label(&o, c, w.slot);
        if (w.block != NULL) {
            put_block(&o, w.block);
            continue;
        }
        if (c->flags & WG_KEEP_CODE) {
            put(&o, " = ");
            put_number(&o, wgi_values(c)[w.slot]);
        }
        put(&o, ":");
        if (c->width != 0) {
            put_tangents(&o, c, w.slot);
        } else if (w.record == w.last && !w.coded) {
            put(&o, " input");
        } else {
            int more = 0;
            for (uint64_t i = w.record; i < w.last; i++) {
                const wgi_record *const r = wgi_record_at(c, i);
                put_operand(&o, r->in0, r->jac0, &more);
                put_operand(&o, r->in1, r->jac1, &more);
            }
        }
        if (w.coded) {
            put(&o, "; ");
            put_code(&o, &w.entry);
        }
        put_place(&o, "; ", c, w.slot, "");
        put(&o, "\n");
    }
    return finish(&o);
}

/* ---- a graph: an edge per operand, with its local derivative ---- */

static void put_edge(text *o, uint32_t from, uint32_t to, double partial) {
    if (from == 0) return;
    put_count(o, "    s", from);
    put_count(o, " -> s", to);
    put(o, " [label=\"");
    put_number(o, partial);
    put(o, "\"];\n");
}

/* The node in which a slot is drawn: a block is one node, named by its first slot. */
static uint32_t node_of(const wgi_core *c, uint32_t slot) {
    const wgi_block *const b = slot == 0 ? NULL : wgi_block_of(c, slot);
    return b == NULL ? slot : b->out;
}

static void dot_block(text *o, const wgi_core *c, const wgi_block *b) {
    uint32_t slot[WGI_MAX_ARGS], rows[WGI_MAX_ARGS], cols[WGI_MAX_ARGS];
    const size_t n = block_operands(b, slot, rows, cols);
    put_count(o, "    s", b->out);
    put(o, " [shape=box3d, label=\"");
    put_count(o, "s", b->out);
    if (b->outs > 1) put_count(o, " to s", (uint64_t)b->out + b->outs - 1);
    put(o, "\\n");
    put(o, b->op->name);
    put(o, "\"];\n");
    for (size_t i = 0; i < n; i++) {
        if (slot[i] == 0) continue;
        put_count(o, "    s", node_of(c, slot[i]));
        put_count(o, " -> s", b->out);
        put_shape(o, " [label=\"", rows[i], cols[i]);
        put(o, "\"];\n");
    }
    const uint32_t *const gathered = wgi_gather_slots(b);
    for (uint32_t i = 0; gathered != NULL && i < b->outs; i++) {
        if (gathered[i] == 0) continue;
        put_count(o, "    s", node_of(c, gathered[i]));
        put_count(o, " -> s", b->out);
        put(o, ";\n");
    }
}

wg_status wg_tape_dot(const wg_tape *t, wg_write *write, void *ctx) {
    if (t == NULL || write == NULL) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->outer != NULL) return WG_EMODE;
    text o = {write, ctx, 0, 0, ""};
    put(&o, "digraph tape {\n");
    for (wgi_slot_walk w = wgi_slot_walk_of(c); wgi_slot_step(&w) && !o.failed;) {
        if (w.slot == 0) continue;
        if (w.block != NULL) {
            dot_block(&o, c, w.block);
            continue;
        }
        const char *const label = wgi_label_of(c, w.slot);
        put_count(&o, "    s", w.slot);
        put(&o, w.record == w.last && !w.coded ? " [shape=box, label=\"" : " [label=\"");
        if (label != NULL) put_quoted(&o, label);
        else put_count(&o, "s", w.slot);
        if (c->flags & WG_KEEP_CODE) {
            put(&o, " = ");
            put_number(&o, wgi_values(c)[w.slot]);
        }
        if (w.coded) {
            put(&o, "\\n");
            put_code(&o, &w.entry);
        }
        put_place(&o, "\\n", c, w.slot, "");
        put(&o, "\"];\n");
        for (uint64_t i = w.record; i < w.last; i++) {
            const wgi_record *const r = wgi_record_at(c, i);
            put_edge(&o, node_of(c, r->in0), r->out, r->jac0);
            put_edge(&o, node_of(c, r->in1), r->out, r->jac1);
        }
    }
    put(&o, "}\n");
    return finish(&o);
}

/* ---- one variable ---- */

wg_status wg_print(const wg_tape *t, wg_real x, wg_write *write, void *ctx) {
    if (t == NULL || write == NULL) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->outer != NULL) return WG_EMODE;
    text o = {write, ctx, 0, 0, ""};
    put_number(&o, x.value);
    if (x.at.slot == 0) {
        put(&o, ", constant");
    } else if (!wgi_alive(c, x.at)) {
        put_count(&o, ", slot ", x.at.slot);
        put(&o, " of another tape, or forgotten");
    } else {
        put_count(&o, ", slot ", x.at.slot);
        put_label(&o, c, x.at.slot);
        if (c->width != 0) {
            put(&o, ", tangent");
            put_tangents(&o, c, x.at.slot);
        }
        for (size_t l = 0; c->swept != 0 && l < c->asked; l++) {
            put(&o, l == 0 ? ", adjoint " : " ");
            put_number(&o, wg_adjoint_lane(t, x, l));
        }
        put_place(&o, " (", c, x.at.slot, ")");
    }
    put(&o, "\n");
    return finish(&o);
}

int wg_write_file(void *file, const char *line, size_t bytes) {
    if (file == NULL || (line == NULL && bytes != 0)) return 1;
    return bytes != 0 && fwrite(line, 1, bytes, (FILE *)file) != bytes;
}
