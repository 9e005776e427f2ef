/* SPDX-License-Identifier: MIT */
/* Nodes as expressions. */
#include "writer.h"
#include "tape/function/graph/words.h"

#include "ops/scalar/array.h"

#include <math.h>

/* ---- texts of rows ---- */

const char *wgi_text_of(const wgi_node *n) {
    if (wgi_node_scalar(n) == NULL) return wgi_node_row(n)->text;
    if (n->kind == WGI_NODE_OP) return n->op->text[0];
    return n->op->text[n->part + 1 + (n->kind == WGI_NODE_SECOND ? n->op->arity : 0)];
}

int wgi_text_calls(const char *text) {
    size_t length;
    WGI_EACH_WORD(p, length, text)
    if (p[length] == '(' && !wgi_word_is(p, length, "fabs") &&
        !wgi_word_is(p, length, "copysign"))
        return 1;
    return 0;
}

unsigned wgi_text_letters(const char *text, char letter) {
    unsigned n = 0;
    size_t length;
    WGI_EACH_WORD(p, length, text)
    n += length == 1 && *p == letter;
    return n;
}

int wgi_text_needs_v(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    return wgi_node_is_partial(n) && w->same[node] == WGI_NO_NODE &&
           wgi_text_letters(wgi_text_of(n), 'v') != 0;
}

/* ---- expressions ---- */

/* Operations between their operands: what the whole is, and what these may be. */
static const struct infix {
    int row, place;
    const char *between;
    int first, second;
} infixes[] = {{WGI_ROW_add, WGI_PLACE_SUM, " + ", WGI_PLACE_SUM, WGI_PLACE_PRODUCT},
               {WGI_ROW_sub, WGI_PLACE_SUM, " - ", WGI_PLACE_SUM, WGI_PLACE_PRODUCT},
               {WGI_ROW_mul, WGI_PLACE_PRODUCT, " * ", WGI_PLACE_PRODUCT, WGI_PLACE_SIGNED},
               {WGI_ROW_div, WGI_PLACE_PRODUCT, " / ", WGI_PLACE_PRODUCT, WGI_PLACE_SIGNED}};

static const struct infix *infix_of(const wgi_writer *w, const wgi_node *n) {
    const int plain = n->kind == WGI_NODE_TIMES && w->target->times == NULL;
    const int row = plain ? WGI_ROW_mul : wgi_node_op(n);
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (infixes[i].row == row) return &infixes[i];
    return NULL;
}

int wgi_is_arithmetic(const wgi_node *n) {
    const int row = wgi_node_op(n);
    int is = n->kind == WGI_NODE_TIMES || row == WGI_ROW_neg;
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++) is |= infixes[i].row == row;
    return is;
}

static int strength(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    if (n->kind == WGI_NODE_NUMBER)
        return !w->target->has_numbers && signbit(n->value) ? WGI_PLACE_SIGNED : WGI_PLACE_ATOM;
    if (!w->folded[node]) return WGI_PLACE_ATOM;
    const struct infix *const between = infix_of(w, n);
    if (between != NULL) return between->place;
    return wgi_node_op(n) == WGI_ROW_neg ? WGI_PLACE_SIGNED : WGI_PLACE_ATOM;
}

void wgi_write_operand(wgi_writer *w, uint32_t node, int place) {
    const wgi_node *const n = &w->f->node[node];
    const int bare = strength(w, node) >= place;
    if (!bare) wgi_put(w, "(");
    if (n->kind == WGI_NODE_NUMBER && !w->target->has_numbers) wgi_text_number(&w->o, n->value);
    else if (w->folded[node]) wgi_write_expression(w, node, NULL);
    else wgi_put(w, "%s", WGI_LEAF(w, node));
    if (!bare) wgi_put(w, ")");
}

static void put_function(wgi_writer *w, const char *name, size_t length) {
    if (w->target->call != NULL && name[length] == '(') {
        w->target->call(w, name, length);
        return;
    }
    const size_t own = strncmp(name, "wgi_", 4) == 0 ? 3 : 0;
    if (own != 0) wgi_text_put(&w->o, w->name);
    wgi_text_bytes(&w->o, name + own, length - own);
}

void wgi_write_row(wgi_writer *w, const char *text, uint32_t node, const char *v) {
    const wgi_node *const n = &w->f->node[node];
    size_t length;
    const char *done = text;
    WGI_EACH_WORD(p, length, text) {
        wgi_text_bytes(&w->o, done, (size_t)(p - done));
        done = p + length;
        const size_t k = (size_t)(*p - 'a');
        if (length == 1 && *p == 'v') {
            if (v != NULL) wgi_text_put(&w->o, v);
            else wgi_write_operand(w, w->same[node], WGI_PLACE_ATOM);
        } else if (length == 1 && k < n->count) {
            const int alone =
                p > text && (p[-1] == '(' || (p - text >= 2 && p[-1] == ' ' && p[-2] == ',')) &&
                (*done == ')' || *done == ',');
            wgi_write_operand(w, w->f->operand[n->first + k],
                              alone ? WGI_PLACE_SUM : WGI_PLACE_ATOM);
        } else put_function(w, p, length);
    }
    wgi_text_put(&w->o, done);
}

static void two(wgi_writer *w, const wgi_node *n, int first, const char *between, int second) {
    wgi_write_operand(w, w->f->operand[n->first], first);
    wgi_text_put(&w->o, between);
    wgi_write_operand(w, w->f->operand[n->first + 1], second);
}

void wgi_write_array(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    wgi_put_named(w, wgi_array_function(n));
    wgi_put(w, "(%u, (const double[]){", n->count);
    for (uint32_t k = 0; k < n->count; k++) {
        if (k != 0) wgi_put(w, k % 8 == 0 ? ",\n            " : ", ");
        wgi_write_operand(w, w->f->operand[n->first + k], WGI_PLACE_SUM);
    }
    wgi_put(w, n->count == 0 ? "0.0}, NULL)" : "}, NULL)");
}

void wgi_write_expression(wgi_writer *w, uint32_t node, const char *v) {
    const wgi_node *const n = &w->f->node[node];
    const struct infix *const between = infix_of(w, n);
    if (between != NULL) {
        two(w, n, between->first, between->between, between->second);
    } else if (n->kind == WGI_NODE_TIMES) {
        wgi_put_named(w, w->target->times);
        two(w, n, WGI_PLACE_SUM, ", ", WGI_PLACE_SUM);
        wgi_put(w, ")");
    } else if (n->kind == WGI_NODE_ARRAY) w->target->array(w, node);
    else if (n->kind == WGI_NODE_SUM)
        wgi_write_operand(w, w->f->operand[n->first], WGI_PLACE_SUM);
    else wgi_write_row(w, wgi_text_of(n), node, v);
}
