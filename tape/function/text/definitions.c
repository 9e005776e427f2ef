/* SPDX-License-Identifier: MIT */
/* Functions of the text: those of special.h and array.h that its operations call. */
#include "writer.h"
#include "tape/function/graph/words.h"

#include "ops/scalar/array.h"

static const struct {
    const char *name, *text;
    short needs[24];
} specials[] = {
#define TEXT(name, text, ...) {name, text, __VA_ARGS__},
#include "ops/scalar/special_text.h"
#undef TEXT
};
enum { SPECIALS = sizeof specials / sizeof *specials };

static void need(wgi_writer *w, size_t i) {
    if (w->special[i]) return;
    w->special[i] = 1;
    for (const short *k = specials[i].needs; *k >= 0; k++) need(w, (size_t)*k);
}

static size_t special_named(const char *p, size_t length) {
    size_t i = 0;
    while (i < SPECIALS && !wgi_word_is(p, length, specials[i].name)) i++;
    return i;
}

int wgi_definition_is(const char *name, size_t length) {
    return special_named(name, length) < SPECIALS;
}

size_t wgi_definitions(void) { return SPECIALS; }

void wgi_need(wgi_writer *w, const char *text) {
    size_t length;
    WGI_EACH_WORD(p, length, text) {
        const size_t i = special_named(p, length);
        if (i < SPECIALS) need(w, i);
    }
}

const char *wgi_array_function(const wgi_node *n) {
    static const char *const function[WGI_ARRAY_COUNT] = {
        [WGI_ARRAY_norm2] = "wgi_array_norm2_value",
        [WGI_ARRAY_logsumexp] = "wgi_array_logsumexp_value",
        [WGI_ARRAY_maximum] = "wgi_array_maximum_value",
        [WGI_ARRAY_minimum] = "wgi_array_minimum_value",
        [WGI_ARRAY_lookup] = "wgi_array_lookup_value"};
    return function[n->array];
}

void wgi_need_all(wgi_writer *w, int all_values) {
    const wg_scalar_op *before = NULL;
    for (size_t i = 0; i < w->f->nodes; i++) {
        const wgi_node *const n = &w->f->node[i];
        if (n->kind == WGI_NODE_ARRAY) wgi_need(w, wgi_array_function(n));
        if (wgi_node_row(n)->text != NULL) wgi_need(w, wgi_node_row(n)->text);
        if (wgi_node_scalar(n) == NULL || (n->op == before && n->kind == WGI_NODE_OP)) continue;
        if (n->kind == WGI_NODE_OP) before = n->op;
        wgi_need(w, wgi_text_of(n));
        if (all_values || wgi_text_needs_v(w, (uint32_t)i)) wgi_need(w, n->op->text[0]);
    }
}

/* After those that it needs. */
static void define(wgi_writer *w, size_t i) {
    if (w->special[i] != 1) return;
    w->special[i] = 2;
    for (const short *k = specials[i].needs; *k >= 0; k++) define(w, (size_t)*k);
    wgi_put_named(w, specials[i].text);
    wgi_put(w, "\n");
}

void wgi_write_definitions(wgi_writer *w) {
    for (size_t i = 0; i < SPECIALS; i++) define(w, i);
    for (size_t i = 0; i < SPECIALS; i++) w->special[i] = w->special[i] != 0;
}

int wgi_needs(const wgi_writer *w, const char *name) {
    const size_t i = special_named(name, strlen(name));
    return i < SPECIALS && w->special[i];
}

int wgi_needs_beyond_c99(const wgi_writer *w) {
    static const char *const beyond[] = {"lgamma_r", "j0", "j1", "y0", "y1"};
    for (size_t i = 0; i < SPECIALS; i++) {
        size_t length;
        const char *const text = w->special[i] ? specials[i].text : "";
        WGI_EACH_WORD(p, length, text)
        for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++)
            if (wgi_word_is(p, length, beyond[k])) return 1;
    }
    return 0;
}
