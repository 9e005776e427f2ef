/* SPDX-License-Identifier: MIT */
/* A recording becomes a function: the kept code is taken apart into operations, constants are
 * folded, what repeats is shared, what no output or comparison needs is dropped.
 *
 * While it is built a node has a number in the order of its making; finish() renumbers those
 * that are needed: inputs, constants, operations. Nothing is reassociated. */
#include "function.h"

#include <string.h>

typedef enum { INPUT, NUMBER, SCALAR, ARRAY } kind;

typedef struct draft {
    kind type;
    uint32_t first, count; /* operands */
    uint32_t needed, final;
    double value; /* of a NUMBER */
    const wg_scalar_op *op;
    const wgi_array_op *array;
    const double
        *number; /* of an array operation: `numbers` of them, in the code of the tape */
    size_t numbers;
} draft;

typedef struct builder {
    wgi_core *c;
    draft *node;
    size_t nodes;
    uint32_t *operand;
    size_t operands;
    uint32_t *of_slot; /* node of a slot */
    uint32_t *table;   /* nodes by content; 0: empty, else number + 1 */
    size_t mask;
    wgi_fn_guard *guard;
    size_t guards;
    wg_function_stats stats;
} builder;

/* ---- nodes by content ---- */

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t bits_of(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static uint64_t hash(const builder *b, const draft *d) {
    uint64_t h = mix((uint64_t)d->type, bits_of(d->value));
    h = mix(h, (uint64_t)(uintptr_t)d->op ^ (uint64_t)(uintptr_t)d->array);
    for (uint32_t k = 0; k < d->count; k++) h = mix(h, b->operand[d->first + k]);
    for (size_t k = 0; k < d->numbers; k++) h = mix(h, bits_of(d->number[k]));
    return h;
}

static int same(const builder *b, const draft *x, const draft *y) {
    return x->type == y->type && bits_of(x->value) == bits_of(y->value) && x->op == y->op &&
           x->array == y->array && x->count == y->count && x->numbers == y->numbers &&
           memcmp(b->operand + x->first, b->operand + y->first, x->count * sizeof(uint32_t)) ==
               0 &&
           (x->numbers == 0 || memcmp(x->number, y->number, x->numbers * sizeof(double)) == 0);
}

/* The node with this content: one that is there, or a new one. Operands of the draft are the
 * last in the list; they are given back when it is there. */
static uint32_t intern(builder *b, const draft *d) {
    size_t at = (size_t)hash(b, d) & b->mask;
    for (; b->table[at] != 0; at = (at + 1) & b->mask)
        if (same(b, d, &b->node[b->table[at] - 1])) {
            b->operands = d->first;
            if (d->type != NUMBER) b->stats.repeated++;
            return b->table[at] - 1;
        }
    b->node[b->nodes] = *d;
    b->table[at] = (uint32_t)++b->nodes;
    return (uint32_t)(b->nodes - 1);
}

static draft blank(const builder *b, kind type) {
    draft d;
    memset(&d, 0, sizeof d);
    d.type = type;
    d.first = (uint32_t)b->operands;
    return d;
}

static uint32_t number(builder *b, double value) {
    draft d = blank(b, NUMBER);
    d.value = value;
    return intern(b, &d);
}

static int all_numbers(const builder *b, const draft *d) {
    for (uint32_t k = 0; k < d->count; k++)
        if (b->node[b->operand[d->first + k]].type != NUMBER) return 0;
    return 1;
}

/* ---- from the code ---- */

/* A node of a statement whose operands stand at the end of the list. */
static uint32_t scalar(builder *b, const wg_scalar_op *op) {
    draft d = blank(b, SCALAR);
    d.op = op;
    d.count = op->arity;
    d.first = (uint32_t)(b->operands - d.count);
    if (!all_numbers(b, &d)) return intern(b, &d);
    double x[4];
    for (uint32_t k = 0; k < d.count; k++) x[k] = b->node[b->operand[d.first + k]].value;
    b->operands = d.first;
    b->stats.folded++;
    return number(b, op->value(x));
}

/* The node of a slot. An input that is none of the function's is a constant. */
#define NO_NODE UINT32_MAX
static uint32_t node_of(builder *b, uint32_t slot) {
    if (b->of_slot[slot] == NO_NODE) b->of_slot[slot] = number(b, wgi_values(b->c)[slot]);
    return b->of_slot[slot];
}

static uint32_t statement(builder *b, const wgi_entry *e) {
    wgi_program p;
    uint32_t at[WGI_MAX_NODES];
    wgi_program_of(e, &p);
    for (int i = 0; i < p.operands; i++) at[i] = node_of(b, e->slot[i]);
    for (int i = p.operands; i < p.nodes; i++) {
        const struct wgi_node *const n = &p.node[i];
        if (n->op == NULL) {
            at[i] = number(b, n->value);
            continue;
        }
        for (unsigned k = 0; k < n->op->arity; k++) b->operand[b->operands++] = at[n->arg[k]];
        b->stats.operations++;
        at[i] = scalar(b, n->op);
    }
    return at[p.nodes - 1];
}

static uint32_t array(builder *b, const wgi_entry *e) {
    size_t constants = 0;
    for (size_t i = 0; i < e->operands; i++) constants += e->slot[i] == 0;
    const double *value = e->number + (e->numbers - constants);
    const size_t first = b->operands;
    /* constants become nodes before the operands are listed: they list none themselves */
    for (size_t i = 0; i < e->operands; i++) {
        const uint32_t node = e->slot[i] != 0 ? node_of(b, e->slot[i]) : number(b, *value++);
        b->operand[b->operands++] = node;
    }
    draft d = blank(b, ARRAY);
    d.first = (uint32_t)first;
    d.count = (uint32_t)e->operands;
    d.array = &wgi_array_ops[e->op];
    d.number = e->number;
    d.numbers = e->numbers - constants;
    b->stats.operations++;
    return intern(b, &d);
}

static void guard(builder *b, const wgi_entry *e) {
    uint32_t side[2];
    for (int i = 0; i < 2; i++)
        side[i] = e->slot[i] != 0 ? node_of(b, e->slot[i]) : number(b, e->number[i]);
    if (b->node[side[0]].type == NUMBER && b->node[side[1]].type == NUMBER) return;
    b->guard[b->guards++] = (wgi_fn_guard){side[0], side[1], e->op / 2, (int)(e->op & 1)};
}

/* ---- from a recording to nodes ---- */

/* Counts what the code holds at most, and takes room for it. */
static wg_status open(builder *b, size_t n, size_t m) {
    wgi_core *const c = b->c;
    size_t nodes = n + m + c->inputs, operands = 0, guards = 0;
    wgi_entry e;
    wgi_program p;
    for (uint64_t w = 0; w < c->code_words;) {
        w = wgi_code_read(c, w, &e);
        if (e.type == WGI_ENTRY_GUARD) {
            guards++;
            nodes += 2;
        } else if (e.type == WGI_ENTRY_ARRAY) {
            nodes += 1 + e.numbers;
            operands += e.operands;
        } else {
            wgi_program_of(&e, &p);
            nodes += (size_t)(p.nodes - p.operands);
            operands += 4 * (size_t)(p.nodes - p.operands);
        }
    }
    if (nodes > UINT32_MAX / 4)
        return wgi_fail(c, WG_ENOMEM, "wg_function_record: %zu operations", nodes);
    size_t size = 64;
    while (size < 2 * nodes) size *= 2;
    b->mask = size - 1;
    b->node = wg_tape_keep(&c->head, (nodes + 1) * sizeof *b->node, NULL);
    b->operand = wg_tape_keep(&c->head, (operands + 4) * sizeof *b->operand, NULL);
    b->of_slot = wg_tape_keep(&c->head, (size_t)c->head.slots * sizeof *b->of_slot, NULL);
    b->table = wg_tape_keep(&c->head, size * sizeof *b->table, NULL);
    b->guard = wg_tape_keep(&c->head, (guards + 1) * sizeof *b->guard, NULL);
    if (c->status != WG_OK) return c->status;
    memset(b->table, 0, size * sizeof *b->table);
    return WG_OK;
}

static void take_apart(builder *b, size_t n) {
    wgi_core *const c = b->c;
    for (uint32_t slot = 0; slot < c->head.slots; slot++) b->of_slot[slot] = NO_NODE;
    for (size_t i = 0; i < n; i++) {
        b->of_slot[i + 1] = (uint32_t)i;
        b->node[b->nodes++] = blank(b, INPUT);
    }
    wgi_entry e;
    for (uint64_t w = 0; w < c->code_words;) {
        w = wgi_code_read(c, w, &e);
        if (e.type == WGI_ENTRY_GUARD) guard(b, &e);
        else {
            b->of_slot[e.out] = e.type == WGI_ENTRY_ARRAY ? array(b, &e) : statement(b, &e);
            b->stats.statements++;
        }
    }
}

static void need(builder *b, const uint32_t *output, size_t m) {
    for (size_t j = 0; j < m; j++) b->node[output[j]].needed = 1;
    for (size_t k = 0; k < b->guards; k++)
        b->node[b->guard[k].a].needed = b->node[b->guard[k].b].needed = 1;
    for (size_t i = b->nodes; i-- > 0;)
        for (uint32_t k = 0; b->node[i].needed && k < b->node[i].count; k++)
            b->node[b->operand[b->node[i].first + k]].needed = 1;
}

/* ---- into memory of its own ---- */

/* Pieces of one block: with base NULL they are only counted. */
typedef struct pieces {
    char *base;
    size_t used;
} pieces;

static void *piece(pieces *p, size_t bytes) {
    const size_t at = p->used;
    p->used += (bytes + 63) / 64 * 64;
    return p->base == NULL ? NULL : p->base + at;
}

static size_t array_params(const draft *d) {
    return sizeof(wgi_array_columns) + d->numbers * sizeof(double);
}

static void lay_out(const builder *b, wg_function *f, pieces *p, size_t operands) {
    f->constant = piece(p, f->constants * sizeof *f->constant);
    f->node = piece(p, f->operations * sizeof *f->node);
    f->operand = piece(p, operands * sizeof *f->operand);
    f->output = piece(p, f->m * sizeof *f->output);
    f->guard = piece(p, f->guards * sizeof *f->guard);
    if (p->base != NULL && f->operations != 0)
        memset(f->node, 0, f->operations * sizeof *f->node);
    for (size_t i = 0; i < b->nodes; i++) { /* in this order, once counted and once filled */
        const draft *const d = &b->node[i];
        if (!d->needed || d->type != ARRAY) continue;
        wgi_array_columns *const a = piece(p, array_params(d));
        if (a == NULL) continue;
        double *const copy = (double *)(void *)(a + 1);
        if (d->numbers != 0) memcpy(copy, d->number, d->numbers * sizeof(double));
        *a = (wgi_array_columns){d->array, d->count, copy};
        f->node[d->final - f->n - f->constants].params = a;
    }
}

static void fill(const builder *b, wg_function *f) {
    uint32_t operands = 0;
    for (size_t i = 0; i < b->nodes; i++) {
        const draft *const d = &b->node[i];
        if (!d->needed || d->type == INPUT) continue;
        if (d->type == NUMBER) {
            f->constant[d->final - f->n] = d->value;
            continue;
        }
        wgi_fn_node *const to = &f->node[d->final - f->n - f->constants];
        if (d->type == ARRAY) to->kernel = wgi_array_column_kernels;
        else to->kernel = wgi_column_kernels(d->op, &to->params);
        to->first = operands;
        to->count = d->count;
        for (uint32_t k = 0; k < d->count; k++)
            f->operand[operands++] = b->node[b->operand[d->first + k]].final;
        to->saved = f->saved;
        if (d->type == ARRAY) f->saved += 2 * (size_t)d->count;
        else if (wgi_column_saves(d->op)) f->saved += WGI_RUN;
        f->args += d->count + 1;
    }
    for (size_t k = 0; k < f->guards; k++) {
        f->guard[k] = b->guard[k];
        f->guard[k].a = b->node[b->guard[k].a].final;
        f->guard[k].b = b->node[b->guard[k].b].final;
    }
}

static wg_status finish(builder *b, size_t n, size_t m, const uint32_t *output,
                        wg_function **out) {
    wg_function start;
    memset(&start, 0, sizeof start);
    size_t operands = 0, number_at = n, drafts = 0;
    start.memory = b->c->memory;
    start.n = n, start.m = m, start.guards = b->guards;
    for (size_t i = 0; i < b->nodes; i++) {
        draft *const d = &b->node[i];
        const int operation = d->type == SCALAR || d->type == ARRAY;
        drafts += operation != 0;
        if (d->type == INPUT) d->final = (uint32_t)i;
        if (!d->needed) continue;
        if (d->type == NUMBER) d->final = (uint32_t)number_at++, start.constants++;
        if (operation) start.operations++, operands += d->count;
    }
    size_t operation_at = number_at;
    for (size_t i = 0; i < b->nodes; i++) {
        draft *const d = &b->node[i];
        if (d->needed && (d->type == SCALAR || d->type == ARRAY))
            d->final = (uint32_t)operation_at++;
    }
    b->stats.dead = drafts - start.operations;
    b->stats.nodes = operation_at;
    b->stats.guards = b->guards;
    start.stats = b->stats;
    pieces p = {NULL, 0};
    (void)piece(&p, sizeof start);
    lay_out(b, &start, &p, operands);
    start.bytes = (p.used + 4095) / 4096 * 4096;
    const wg_memory *const memory = &start.memory;
    char *const base = memory->reserve(memory->ctx, start.bytes);
    if (base == NULL || memory->commit(memory->ctx, base, start.bytes) != 0) {
        if (base != NULL) memory->release(memory->ctx, base, start.bytes);
        return wgi_fail(b->c, WG_ENOMEM, "wg_function_record: no memory for %zu bytes",
                        start.bytes);
    }
    wg_function *const f = (wg_function *)(void *)base;
    *f = start;
    p = (pieces){base, 0};
    (void)piece(&p, sizeof *f);
    lay_out(b, f, &p, operands);
    fill(b, f);
    for (size_t j = 0; j < m; j++) f->output[j] = b->node[output[j]].final;
    *out = f;
    return WG_OK;
}

static wg_status build(wgi_drive *d, wg_function **out) {
    wgi_core *const c = d->c;
    if (c->head.last_block != NULL)
        return wgi_fail(c, WG_EMODE, "wg_function_record: %s cannot be part of a function yet",
                        c->head.last_block->op->name);
    builder b;
    memset(&b, 0, sizeof b);
    b.c = c;
    wg_status s = open(&b, d->n, d->m);
    if (s != WG_OK) return s;
    uint32_t *const output = wg_tape_keep(&c->head, (d->m + 1) * sizeof *output, NULL);
    if (output == NULL) return c->status;
    take_apart(&b, d->n);
    for (size_t j = 0; j < d->m; j++)
        output[j] =
            d->y[j].at.slot != 0 ? node_of(&b, d->y[j].at.slot) : number(&b, d->y[j].value);
    need(&b, output, d->m);
    return finish(&b, d->n, d->m, output, out);
}

wg_status wg_function_record(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                             size_t m, wg_function **out) {
    wgi_drive d;
    if (out == NULL) return WG_ENULL;
    *out = NULL;
    wg_status s = wgi_drive_open(&d, t, "wg_function_record", f, data, n, m, 0);
    if (s == WG_OK && !(d.c->flags & WG_KEEP_CODE))
        s = wgi_fail(d.c, WG_EMODE,
                     "wg_function_record: the tape was not opened with WG_KEEP_CODE");
    if (s == WG_OK) s = wgi_drive_run(&d, 0, x);
    if (s == WG_OK) s = build(&d, out);
    return wgi_drive_close(&d, s);
}

void wg_function_free(wg_function *f) {
    if (f == NULL) return;
    const wg_memory memory = f->memory;
    memory.release(memory.ctx, f, f->bytes);
}

size_t wg_function_inputs(const wg_function *f) { return f == NULL ? 0 : f->n; }
size_t wg_function_outputs(const wg_function *f) { return f == NULL ? 0 : f->m; }

wg_status wg_function_statistics(const wg_function *f, wg_function_stats *out) {
    if (f == NULL || out == NULL) return WG_ENULL;
    *out = f->stats;
    return WG_OK;
}
