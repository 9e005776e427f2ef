/* SPDX-License-Identifier: MIT */
/* signature.c - the parameters of the two functions of a version: those of the original, their
 * shadows, what the result is to get. */
#include <string.h>
#include "convert/sweeps.h"

const char *without_const(const char *s) {
    text to = {NULL, 0, 0};
    const tokens t = lex(s, strlen(s));
    size_t at = 0;
    for (size_t i = 0; i < t.n; i++) {
        if (!token_is(s, &t.at[i], "const")) continue;
        put_n(&to, s + at, t.at[i].begin - at);
        at = t.at[i].end;
        while (s[at] == ' ') at++;
    }
    put(&to, s + at);
    return text_of(&to);
}
const char *assignable(const type *t, const char *name) {
    const char *const s = declared_as(t, name);
    while (t->kind == TYPE_ARRAY) t = t->of;
    /* const of a name of a pointer type is the pointer's own */
    if (t->kind != TYPE_POINTER || strchr(s, '*') == NULL) return without_const(s);
    const tokens k = lex(s, strlen(s));
    for (size_t i = 1; i < k.n; i++) {
        if (!token_is(s, &k.at[i], name)) continue;
        size_t first = i;
        while (first > 0 && (token_is(s, &k.at[first - 1], "const") ||
                             token_is(s, &k.at[first - 1], "restrict")))
            first--;
        return format("%s%s", copy_text(s, k.at[first].begin), s + k.at[i].begin);
    }
    return s;
}
const char *shadow_type(const type *t, const char *name) {
    return without_const(declared_as(t, name));
}

bool param_holds(const routine *r, const decl *p) {
    cell *const c = r->v->of_decl[p->index];
    return c != NULL && holds_variables(c);
}
bool is_value(const analysis *a, const type *t) {
    return t->kind == TYPE_REAL || (t->kind == TYPE_RECORD && !is_handle(a, t));
}

static bool gives_structure(const routine *r) {
    return r->v->function->type->of->kind == TYPE_RECORD && r->v->result != NULL &&
           holds_variables(r->v->result);
}

bool gives_pointer(const version *v) {
    return v->function->type->of->kind == TYPE_POINTER && v->result != NULL &&
           holds_variables(v->result);
}

/* A declaration of a pointer with restrict. */
static const char *restricted(const char *s, const char *name) {
    const tokens t = lex(s, strlen(s));
    size_t i = t.n - 1;
    while (i > 0 && !token_is(s, &t.at[i], name)) i--;
    if (i > 0 && token_is(s, &t.at[i - 1], "restrict")) return s; /* it says so itself */
    return format("%srestrict %s", copy_text(s, t.at[i].begin), s + t.at[i].begin);
}

static void add_reached(list *to, cell *c) {
    for (; c != NULL && !list_has(to, real_cell(c)); c = real_cell(c)->target)
        push(to, real_cell(c));
}

/* Does nothing else than a parameter, and what is computed of it, lead to the numbers that
 * it leads to? */
static bool is_apart(const routine *r, const decl *p) {
    const program *const all = r->a->program;
    cell *const c = r->v->of_decl[p->index];
    const type_kind of = p->type->kind == TYPE_POINTER ? p->type->of->kind : TYPE_OTHER;
    if (r->keeps_pointers || (of != TYPE_REAL && of != TYPE_WHOLE) || c == NULL ||
        real_cell(c)->target == NULL)
        return false;
    list others = {NULL, 0, 0};
    for (size_t i = 0; i < r->v->function->parameters.n; i++) {
        const decl *const d = r->v->function->parameters.at[i];
        if (d != p && r->v->of_decl[d->index] != NULL)
            add_reached(&others, real_cell(r->v->of_decl[d->index])->target);
    }
    for (size_t i = 0; i < all->globals.n; i++)
        add_reached(&others, r->a->of_decl[((decl *)all->globals.at[i])->number]);
    for (size_t i = 0; i < all->records.n; i++) {
        const list *const fields = &((record *)all->records.at[i])->fields;
        for (size_t k = 0; k < fields->n; k++)
            add_reached(&others, r->a->of_decl[((decl *)fields->at[k])->number]);
    }
    return !list_has(&others, real_cell(real_cell(c)->target));
}

const char *signature(const routine *r, bool back) {
    const decl *const f = r->v->function;
    const type *const result = f->type->of;
    text to = {NULL, 0, 0};
    putf(&to, "%s_%s(", r->v->name, back ? "backward" : "forward");
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const char *const s = assignable(p->type, p->name);
        putf(&to, "%s, ", is_apart(r, p) ? restricted(s, p->name) : s);
    }
    for (size_t i = 0; i < f->parameters.n && (back || r->shadows); i++) {
        const decl *const p = f->parameters.at[i];
        if (!param_holds(r, p)) continue;
        const char *const b = format("%s_b", p->name), *const s = shadow_type(p->type, b);
        if (!is_value(r->a, p->type)) putf(&to, "%s, ", is_apart(r, p) ? restricted(s, b) : s);
        else if (back) putf(&to, "%s, ", shadow_type(p->type, format("*wgc_%s_b", p->name)));
    }
    if (!back && gives_pointer(r->v)) putf(&to, "%s, ", shadow_type(result, "*wgc_result_to"));
    if (back && r->v->result != NULL && is_variable(r->v->result))
        put(&to, "double wgc_result_b, ");
    else if (back && gives_structure(r))
        putf(&to, "%s, ", shadow_type(f->type->of, "*wgc_result_b"));
    if (!r->lends) put(&to, "wgc_stack *wgc_s, ");
    else if (r->frame.n != 0)
        putf(&to, r->keeps_pointers ? "%s *wgc_f, " : "%s *restrict wgc_f, ", r->frame.type);
    const bool none = to.s[to.n - 1] == '(';
    const char *const s =
        format("%s%s)", none ? text_of(&to) : copy_text(to.s, to.n - 2), none ? "void" : "");
    return format("%s%s",
                  r->shared  ? ""
                  : r->lends ? "static inline "
                             : "static ",
                  back ? format("void %s", s) : declared_as(result, s));
}
