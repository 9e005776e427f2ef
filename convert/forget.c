/* SPDX-License-Identifier: MIT */
/* forget.c - what a region knew of places and pointers, and what is not true any more when a
 * number that they are written with is another one. */
#include <string.h>
#include "convert/known.h"
#include "convert/region.h"

static bool has_word(const char *s, const char *word) {
    const tokens t = lex(s, strlen(s));
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].kind == TOKEN_WORD && token_is(s, &t.at[i], word)) return true;
    return false;
}

/* Has it an index that is in memory? */
static bool indexed_by_memory(const char *s) {
    size_t depth = 0;
    for (; s != NULL && *s; s++) {
        if (depth != 0 && strchr("[.>*", *s) != NULL) return true;
        depth += *s == '[', depth -= *s == ']';
    }
    return false;
}

static bool is_in_memory(const char *symbol) {
    return symbol != NULL && strpbrk(symbol, "[.>*") != NULL;
}

static bool leads_elsewhere(const address *p, const char *word) {
    if (word == NULL)
        return is_in_memory(p->symbol) || indexed_by_memory(p->text) ||
               indexed_by_memory(p->object);
    return (p->symbol != NULL && has_word(p->symbol, word)) ||
           (p->text != NULL && has_word(p->text, word)) ||
           (p->object != NULL && has_word(p->object, word));
}

static void forget(region *r, const char *word) {
    for (const frame *f = r->asks ? NULL : r->frame; f != NULL; f = f->caller)
        for (size_t i = 0; i < f->bindings.n; i++) {
            address *const p = ((binding *)f->bindings.at[i])->pointer;
            if (p != NULL && leads_elsewhere(p, word)) p->gone = true;
        }
    size_t k = 0;
    for (size_t i = 0; i < r->n; i++) {
        const place *const p = &r->at[i];
        const bool gone = word != NULL ? !p->local && has_word(p->key, word)
                                       : is_in_memory(p->symbol) || indexed_by_memory(p->key);
        if (gone && p->dirty) r->failed = true;
        if (!gone) r->at[k++] = *p;
    }
    r->n = k;
}
void forget_word(region *r, const char *word) { forget(r, word); }
/* Whole numbers in memory have changed, which may be a part of an index. */
void forget_memory(region *r) {
    forget(r, NULL);
    for (size_t i = 0; i < r->shared.n; i++) forget(r, r->shared.at[i]);
}

/* What was assigned to in n is another number now. */
void forget_assigned(region *r, const node *n) {
    if (n == NULL) return;
    const bool assigns = n->kind == NODE_ASSIGN || (n->kind == NODE_UNARY && n->op != NULL &&
                                                    (same(n->op, "++") || same(n->op, "--")));
    if (assigns && !is_active(r->w, n->child[0])) {
        const node *const to = bare(n->child[0]);
        if (to->kind == NODE_NAME) {
            const binding *const b = bound(r, to->decl);
            if (b != NULL && b->constant) r->failed = true;
            forget_word(r, b != NULL && b->name != NULL ? b->name : to->decl->name);
            if (to->decl->owner == NULL || to->decl->is_static) forget_memory(r);
        } else forget_memory(r);
    }
    if (n->kind == NODE_CALL) {
        const node *const f = bare(n->child[0]);
        const bool of_library = f->kind == NODE_NAME && f->decl->body == NULL &&
                                known_function(f->decl->name, NULL)->kind != KNOWN_NOTHING;
        if (!of_library) forget_memory(r);
    }
    for (size_t i = 0; i < n->children; i++) forget_assigned(r, n->child[i]);
}
