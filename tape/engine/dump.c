/* SPDX-License-Identifier: MIT */
/* Looking into a tape: as text, one line per slot, and as a graph. */
#include "slot_walk.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

#define put wgi_text_format

static void put_number(wgi_text *o, double x) {
    char buffer[WGI_NUMBER_TEXT];
    wgi_text_put(o, wgi_number_text(buffer, x));
}

static void put_label(wgi_text *o, const wgi_core *c, uint32_t slot) {
    const char *const label = wgi_label_of(c, slot);
    if (label == NULL) return;
    put(o, " \"");
    wgi_text_name(o, label);
    put(o, "\"");
}

static void put_place(wgi_text *o, const char *before, const wgi_core *c, uint32_t slot,
                      const char *after) {
    const wgi_place *const place = wgi_place_of(c, slot);
    if (place == NULL) return;
    wgi_text_put(o, before);
    wgi_text_name(o, place->file);
    put(o, ":%d%s", place->line, after);
}

static void put_tangents(wgi_text *o, const wgi_core *c, uint32_t slot) {
    const double *const row = (const double *)(const void *)c->tangents.base;
    for (size_t l = 0; l < c->width; l++) {
        put(o, " ");
        put_number(o, row[(size_t)slot * c->width + l]);
    }
}

static void put_value(wgi_text *o, const wgi_core *c, uint32_t slot) {
    if ((c->flags & WG_KEEP_CODE) == 0) return;
    put(o, " = ");
    put_number(o, wgi_values(c)[slot]);
}

static void put_code(wgi_text *o, const wgi_entry *e) {
    char buffer[1024];
    if (wgi_code_text(e, buffer, sizeof buffer) >= sizeof buffer)
        memcpy(buffer + sizeof buffer - 4, "...", 4);
    wgi_text_put(o, buffer);
}

/* ---- one line per slot ---- */

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

/* " to s9", of a block of several slots */
static void put_last(wgi_text *o, const wgi_block *b) {
    if (b->outs > 1) put(o, " to s%u", b->out + b->outs - 1);
}

/* An operand of several: " of s1", ", constant" */
static void put_slot(wgi_text *o, size_t i, uint32_t slot) {
    wgi_text_put(o, i == 0 ? " of " : ", ");
    if (slot != 0) put(o, "s%u", slot);
    else put(o, "constant");
}

/* " to s9: wg_gemm of s1 2x3, constant 3x1" */
static void put_block(wgi_text *o, const wgi_block *b) {
    uint32_t slot[WGI_MAX_ARGS], rows[WGI_MAX_ARGS], cols[WGI_MAX_ARGS];
    const size_t n = block_operands(b, slot, rows, cols);
    put_last(o, b);
    put(o, ": %s", b->op->name);
    for (size_t i = 0; i < n; i++) {
        put_slot(o, i, slot[i]);
        put(o, " %ux%u", rows[i], cols[i]);
    }
    const uint32_t *const gathered = wgi_gather_slots(b);
    for (uint32_t i = 0; gathered != NULL && i < b->outs; i++) put_slot(o, i, gathered[i]);
    put(o, "\n");
}

static void put_operand(wgi_text *o, uint32_t slot, double partial, int *more) {
    if (slot == 0) return;
    wgi_text_put(o, *more ? ", " : " ");
    put_number(o, partial);
    put(o, " s%u", slot);
    *more = 1;
}

wg_status wg_tape_dump(const wg_tape *t, wg_write *write, void *ctx) {
    if (t == NULL || write == NULL) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->outer != NULL) return WG_EMODE;
    wgi_text o;
    wgi_text_open(&o, c, write, ctx);
    if (c->status != WG_OK) put(&o, "failed: %s\n", c->message);
    for (wgi_slot_walk w = wgi_slot_walk_of(c); wgi_slot_step(&w) && !o.failed;) {
        if (w.slot == 0) {
            put(&o, "guard: ");
            put_code(&o, &w.entry);
            put(&o, "\n");
            continue;
        }
        put(&o, "s%u", w.slot);
        put_label(&o, c, w.slot);
        if (w.block != NULL) {
            put_block(&o, w.block);
            continue;
        }
        put_value(&o, c, w.slot);
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
    return wgi_text_close(&o);
}

/* ---- a graph: an edge per operand, with its local derivative ---- */

static void put_edge(wgi_text *o, uint32_t from, uint32_t to, double partial) {
    if (from == 0) return;
    put(o, "    s%u -> s%u [label=\"", from, to);
    put_number(o, partial);
    put(o, "\"];\n");
}

/* The node in which a slot is drawn: a block is one node, named by its first slot. */
static uint32_t node_of(const wgi_core *c, uint32_t slot) {
    const wgi_block *const b = slot == 0 ? NULL : wgi_block_of(c, slot);
    return b == NULL ? slot : b->out;
}

static void dot_block(wgi_text *o, const wgi_core *c, const wgi_block *b) {
    uint32_t slot[WGI_MAX_ARGS], rows[WGI_MAX_ARGS], cols[WGI_MAX_ARGS];
    const size_t n = block_operands(b, slot, rows, cols);
    put(o, "    s%u [shape=box3d, label=\"s%u", b->out, b->out);
    put_last(o, b);
    put(o, "\\n%s\"];\n", b->op->name);
    for (size_t i = 0; i < n; i++) {
        if (slot[i] == 0) continue;
        put(o, "    s%u -> s%u [label=\"%ux%u\"];\n", node_of(c, slot[i]), b->out, rows[i],
            cols[i]);
    }
    const uint32_t *const gathered = wgi_gather_slots(b);
    for (uint32_t i = 0; gathered != NULL && i < b->outs; i++) {
        if (gathered[i] == 0) continue;
        put(o, "    s%u -> s%u;\n", node_of(c, gathered[i]), b->out);
    }
}

wg_status wg_tape_dot(const wg_tape *t, wg_write *write, void *ctx) {
    if (t == NULL || write == NULL) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->outer != NULL) return WG_EMODE;
    wgi_text o;
    wgi_text_open(&o, c, write, ctx);
    put(&o, "digraph tape {\n");
    for (wgi_slot_walk w = wgi_slot_walk_of(c); wgi_slot_step(&w) && !o.failed;) {
        if (w.slot == 0) continue;
        if (w.block != NULL) {
            dot_block(&o, c, w.block);
            continue;
        }
        const char *const label = wgi_label_of(c, w.slot);
        put(&o, "    s%u [%slabel=\"", w.slot,
            w.record == w.last && !w.coded ? "shape=box, " : "");
        if (label != NULL) wgi_text_name(&o, label);
        else put(&o, "s%u", w.slot);
        put_value(&o, c, w.slot);
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
    return wgi_text_close(&o);
}

/* ---- one variable ---- */

wg_status wg_print(const wg_tape *t, wg_real x, wg_write *write, void *ctx) {
    if (t == NULL || write == NULL) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->outer != NULL) return WG_EMODE;
    wgi_text o;
    wgi_text_open(&o, c, write, ctx);
    put_number(&o, x.value);
    if (x.at.slot == 0) {
        put(&o, ", constant");
    } else if (!wgi_alive(c, x.at)) {
        put(&o, ", slot %u of another tape, or forgotten", x.at.slot);
    } else {
        put(&o, ", slot %u", x.at.slot);
        put_label(&o, c, x.at.slot);
        if (c->width != 0) {
            put(&o, ", tangent");
            put_tangents(&o, c, x.at.slot);
        }
        for (size_t l = 0; c->swept != 0 && l < c->asked; l++) {
            wgi_text_put(&o, l == 0 ? ", adjoint " : " ");
            put_number(&o, wg_adjoint_lane(t, x, l));
        }
        put_place(&o, " (", c, x.at.slot, ")");
    }
    put(&o, "\n");
    return wgi_text_close(&o);
}

int wg_write_file(void *file, const char *line, size_t bytes) {
    if (file == NULL || (line == NULL && bytes != 0)) return 1;
    return bytes != 0 && fwrite(line, 1, bytes, (FILE *)file) != bytes;
}
