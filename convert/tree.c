/* SPDX-License-Identifier: MIT */
/* tree.c - places and small questions of the tree. */
#include <string.h>
#include "convert/tree.h"

const char *place_in(const file *f, size_t offset) {
    size_t line = 1;
    if (f == NULL) return "(nowhere)";
    for (size_t i = 0; i < offset && i < f->n; i++) line += f->text[i] == '\n';
    return format("%s:%zu", f->name, line);
}
const char *place_of(const node *n) { return place_in(n->file, n->begin); }
const char *source(const node *n) {
    return copy_text(n->file->text + n->begin, n->end - n->begin);
}
bool is_expression(const node *n) { return n->kind <= NODE_OPAQUE; }

bool is_address(const node *n) {
    return n->type != NULL && (n->type->kind == TYPE_POINTER || n->type->kind == TYPE_ARRAY);
}

const node *bare(const node *n) {
    while (n->kind == NODE_PAREN && n->children == 1) n = n->child[0];
    return n;
}

const type *leaf_type(const type *t) {
    while (t != NULL && (t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY)) t = t->of;
    return t;
}

bool record_has(const record *r, type_kind kind) {
    for (size_t i = 0; i < r->fields.n; i++) {
        const type *t = ((const decl *)r->fields.at[i])->type;
        if (leaf_type(t)->kind == kind) return true;
        while (t->kind == TYPE_ARRAY) t = t->of;
        if (t->kind == TYPE_RECORD && record_has(t->record, kind)) return true;
    }
    return false;
}

decl *function_named(const program *p, const char *name) {
    for (size_t i = 0; i < p->functions.n; i++) {
        decl *const d = p->functions.at[i];
        if (same(d->name, name)) return d;
    }
    return NULL;
}

bool is_constant(const type *t) {
    for (; t->kind == TYPE_ARRAY; t = t->of)
        if (t->constant) return true;
    return t->constant;
}
