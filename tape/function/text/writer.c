/* SPDX-License-Identifier: MIT */
/* A function on its way to text: what all of its texts share. */
#include "writer.h"
#include "tape/function/graph/words.h"

#include <stdio.h>

/* ---- pieces of text ---- */

void wgi_put(wgi_writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    wgi_text_list(&w->o, w->name, format, list);
    va_end(list);
}

void wgi_line(wgi_writer *w, int inside, const char *format, ...) {
    va_list list;
    wgi_text_put(&w->o, w->target->indent);
    for (; inside > 0; inside--) wgi_text_put(&w->o, "    ");
    va_start(list, format);
    wgi_text_list(&w->o, w->name, format, list);
    va_end(list);
}

void wgi_put_named(wgi_writer *w, const char *text) {
    for (const char *p = text; *p != 0;) {
        const char *next = strstr(p, "wgi_");
        if (next == NULL) next = p + strlen(p);
        wgi_text_bytes(&w->o, p, (size_t)(next - p));
        if (*next == 0) return;
        wgi_text_put(&w->o, w->name);
        p = next + 3;
    }
}

wgi_spelling wgi_spell(const char *format, ...) {
    wgi_spelling s;
    va_list list;
    va_start(list, format);
    (void)vsnprintf(s.text, sizeof s.text, format, list);
    va_end(list);
    return s;
}

/* ---- what can be written ---- */

/* An expression over the letters, numbers, and functions that the text can have. */
static int can_be_written(const char *text, unsigned arity) {
    size_t length;
    if (text == NULL) return 0;
    for (const char *p = text; *p != 0; p++)
        if (!wgi_in_word(*p) && strchr(" +-*/()<>=!?:,.&|", *p) == NULL) return 0;
    WGI_EACH_WORD(p, length, text) {
        int known = length == 1 && (*p == 'v' || (*p >= 'a' && (unsigned)(*p - 'a') < arity));
        known |= wgi_word_is(p, length, "INFINITY") || wgi_word_is(p, length, "NAN");
        if (p[length] == '(')
            known |= wgi_definition_is(p, length) || wgi_is_function_of_c(p, length);
        if (!known) return 0;
    }
    return 1;
}

static wg_status check_operations(wgi_writer *w) {
    for (size_t i = 0; i < w->f->nodes; i++) {
        const wgi_node *const n = &w->f->node[i];
        if (wgi_node_scalar(n) == NULL || !wgi_is_users(n->op)) continue;
        if (!can_be_written(wgi_text_of(n), n->op->arity) ||
            !can_be_written(n->op->text[0], n->op->arity))
            return wgi_fail(w->c, WG_EMODE, "%s: the operation %s cannot be written as C",
                            w->call, n->op->name);
    }
    return WG_OK;
}

/* ---- where the value of an operation is ---- */

static void find_values(wgi_writer *w) {
    const wg_function *const f = w->f;
    size_t slots = 16;
    while (slots < 2 * f->nodes) slots *= 2;
    uint32_t *const table = wgi_no_nodes(w->c, slots);
    if (table == NULL) return;
    for (uint32_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        w->same[i] = w->twin[i] = WGI_NO_NODE;
        if (wgi_node_scalar(n) == NULL) continue;
        size_t at = wgi_scalar_hash(n, f->operand) & (slots - 1);
        while (table[at] != WGI_NO_NODE && !wgi_scalar_same(&f->node[table[at]], n, f->operand))
            at = (at + 1) & (slots - 1);
        if (n->kind == WGI_NODE_OP) {
            table[at] = i;
        } else if (wgi_text_letters(wgi_text_of(n), 'v') != 0) {
            if (table[at] == WGI_NO_NODE) table[at] = i;
            if (f->node[table[at]].kind == WGI_NODE_OP) w->same[i] = table[at];
            else w->twin[i] = table[at];
        }
    }
}

wg_status wgi_writer_open(wgi_writer *w, wgi_core *c, const char *call, const wg_function *f,
                          const char *name) {
    memset(w, 0, sizeof *w);
    w->c = c, w->call = call, w->f = f, w->name = name;
    w->scope = "";
    wg_tape *const t = &c->head;
    w->in = wg_tape_keep(t, (f->inputs + 1) * sizeof *w->in, NULL);
    w->out = wg_tape_keep(t, (f->outputs + 1) * sizeof *w->out, NULL);
    w->argument = wg_tape_keep(t, (f->n + 1) * sizeof *w->argument, NULL);
    w->entry = wg_tape_keep(t, (f->n + 1) * sizeof *w->entry, NULL);
    w->special = wgi_node_marks(c, wgi_definitions());
    w->is_result = wgi_node_marks(c, f->nodes);
    w->folded = wg_tape_keep(t, f->nodes + 1, NULL);
    w->start = wg_tape_keep(t, (f->nodes + 4) * sizeof *w->start, NULL);
    w->guard_unit = wg_tape_keep(t, (f->guards + 1) * sizeof *w->guard_unit, NULL);
    uint32_t **const lists[] = {&w->same, &w->twin,   &w->list, &w->unit, &w->slot,
                                &w->uses, &w->length, &w->end,  &w->spare};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = wgi_node_list(c, f->nodes);
    if (c->status != WG_OK) return c->status;
    for (size_t j = 0; j < f->m; j++) w->is_result[f->result[j]] = 1;
    (void)wgi_name_arguments(w);
    if (check_operations(w) == WG_OK) find_values(w);
    return c->status;
}
