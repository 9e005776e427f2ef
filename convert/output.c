/* SPDX-License-Identifier: MIT */
/* output.c - the converted file. In the order of the source: converted functions stand where the
 * originals stood; functions and tables that are as before stay, if something needs them (weak, so
 * that they are those of the original where that is linked, too); the rest is left out. */
#include <string.h>
#include "convert/output.h"

/* ---- what is needed ---------------------------------------------------------------------- */

typedef struct needs {
    list functions, globals; /* decl, as they were */
} needs;

static void need_function(const writer *w, needs *to, decl *d);
static void need_in(const writer *w, needs *to, const version *v, const node *n) {
    if (n == NULL) return;
    if (n->kind == NODE_NAME && n->decl != NULL) {
        decl *const d = n->decl;
        cell *const c = v != NULL ? v->of_node[n->number] : NULL;
        if (d->kind == DECL_FUNCTION) {
            const version *const called =
                v != NULL && n->parent != NULL && n->parent->kind == NODE_CALL ? called_by(v, n->parent) : NULL;
            if (!(called != NULL && called->touched && n->parent->child[0] == n) && !(c != NULL && holds_variables(c)))
                need_function(w, to, d);
        } else if (d->is_global && !d->of_system) {
            cell *const g = w->a->of_decl[d->number];
            if (!(v != NULL && g != NULL && holds_variables(g)) && !list_has(&to->globals, d)) {
                push(&to->globals, d);
                if (d->init != NULL) need_in(w, to, NULL, d->init);
            }
        }
    }
    for (size_t i = 0; i < n->children; i++) need_in(w, to, v, n->child[i]);
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        if (d->init != NULL) need_in(w, to, v, d->init);
    }
}
static void need_function(const writer *w, needs *to, decl *d) {
    if (d->body == NULL || d->of_system || list_has(&to->functions, d)) return;
    push(&to->functions, d);
    need_in(w, to, NULL, d->body);
}

static bool is_written(const version *v) { return v->touched && v->like == v; }

static needs find_needs(const writer *w) {
    needs n = {{NULL, 0, 0}, {NULL, 0, 0}};
    for (size_t i = 0; i < w->a->versions.n; i++) {
        const version *const v = w->a->versions.at[i];
        if (is_written(v)) need_in(w, &n, v, v->function->body);
    }
    for (size_t i = 0; i < w->a->program->globals.n; i++) {
        const decl *const d = w->a->program->globals.at[i];
        cell *const c = w->a->of_decl[d->number];
        if (c != NULL && holds_variables(c) && d->init != NULL) need_in(w, &n, w->a->outside, d->init);
    }
    return n;
}

static bool has_versions(const writer *w, const decl *d) {
    for (size_t i = 0; i < w->a->versions.n; i++) {
        const version *const v = w->a->versions.at[i];
        if (is_written(v) && same(v->function->usr, d->usr)) return true;
    }
    return false;
}

static bool global_holds(const writer *w, const decl *d) {
    cell *const c = w->a->of_decl[d->number];
    return c != NULL && holds_variables(c);
}

/* ---- the parts of a file ----------------------------------------------------------------- */

/* Declarations that one text gives: those of a group overlap. */
typedef struct group {
    size_t begin, end;
    list decls;
} group;

static size_t semicolon_behind(const file *f, size_t end) {
    const size_t i = token_from(&f->tokens, end);
    return i < f->tokens.n && token_is(f->text, &f->tokens.at[i], ";") ? f->tokens.at[i].end : end;
}

static list groups_of(const file *f) {
    list all = {NULL, 0, 0};
    list sorted = {NULL, 0, 0};
    for (size_t i = 0; i < f->declarations.n; i++) {
        push(&sorted, f->declarations.at[i]);
        for (size_t k = sorted.n - 1; k > 0 && ((decl *)sorted.at[k - 1])->begin > ((decl *)sorted.at[k])->begin; k--) {
            void *const x = sorted.at[k];
            sorted.at[k] = sorted.at[k - 1], sorted.at[k - 1] = x;
        }
    }
    group *last = NULL;
    for (size_t i = 0; i < sorted.n; i++) {
        decl *const d = sorted.at[i];
        if (last == NULL || d->begin >= last->end) {
            last = arena_get(sizeof *last);
            last->begin = d->begin;
            push(&all, last);
        }
        if (d->end > last->end) last->end = d->end;
        push(&last->decls, d);
        if (d->kind != DECL_FUNCTION || d->body == NULL || d->redeclared) last->end = semicolon_behind(f, last->end);
    }
    return all;
}

/* Where the comment begins that stands directly above `begin`, and belongs to what is there. */
static size_t with_comment(const file *f, size_t begin, size_t from) {
    size_t i = f->tokens.n;
    while (i > 0 && f->tokens.at[i - 1].end > begin) i--;
    while (i > 0 && f->tokens.at[i - 1].kind == TOKEN_COMMENT && f->tokens.at[i - 1].begin >= from) {
        size_t lines = 0;
        for (size_t k = f->tokens.at[i - 1].end; k < begin; k++) lines += f->text[k] == '\n';
        if (lines > 1) break;
        begin = f->tokens.at[--i].begin;
    }
    return begin;
}

static const char *prototype(writer *w, const version *v, bool is_static) {
    const char *s = write_signature(w, v);
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n')) n--;
    return format("%s%s;\n", is_static && !starts_with(s, "static ") ? "static " : "", copy_text(s, n));
}

static bool is_private(const writer *w, const version *v, const output *o) {
    return v != w->a->root && (o->alone || v->function->is_static);
}

static void write_versions(writer *w, const decl *d, const output *o, text *to) {
    size_t n = 0;
    for (size_t i = 0; i < w->a->versions.n; i++) {
        version *const v = w->a->versions.at[i];
        if (!is_written(v) || v->function != d) continue;
        const char *s = write_function(w, v);
        if (n++ != 0) put(to, "\n\n");
        if (v == w->a->root && starts_with(s, "static ")) s += 7;
        if (is_private(w, v, o) && !starts_with(s, "static ")) put(to, "static ");
        put(to, s);
    }
}

static const char *slice(const file *f, size_t begin, size_t end) { return copy_text(f->text + begin, end - begin); }

static void write_variables(writer *w, const file *f, const group *g, const needs *n, const output *o, text *to) {
    bool kept = false;
    for (size_t i = 0; i < g->decls.n; i++) {
        decl *const d = g->decls.at[i];
        if (d->kind == DECL_VARIABLE && !kept && (list_has(&n->globals, d) || d->redeclared || !d->is_static)) {
            bool used = false;
            for (size_t k = 0; k < n->globals.n; k++) used |= same(((decl *)n->globals.at[k])->usr, d->usr);
            if (!used) continue;
            const bool weak = !d->is_static && d->defined && !d->redeclared && !d->is_extern;
            putf(to, "%s%s", weak ? "__attribute__((weak)) " : "", slice(f, g->begin, g->end));
            kept = true;
        }
    }
    for (size_t i = 0; i < g->decls.n; i++) {
        const decl *const d = g->decls.at[i];
        if (d->kind != DECL_VARIABLE || !global_holds(w, d)) continue;
        version *const before = w->v;
        w->v = w->a->outside;
        if (d->redeclared && d->is_extern) {
        } else
            putf(to, "%s%s", to->n != 0 && to->s[to->n - 1] == ';' ? "\n" : "",
                 write_global(w, d, o->alone ? "static " : ""));
        w->v = before;
    }
}

/* Of a group of types: are some of them to be had with variables, too? */
static bool types_hold(writer *w, const file *f, const group *g) {
    for (size_t i = 0; i < w->a->program->records.n; i++) {
        const record *const r = w->a->program->records.at[i];
        const decl *const d = r->definition;
        if (d != NULL && d->file == f && d->begin >= g->begin && d->end <= g->end && record_holds(w->a, r)) return true;
    }
    for (size_t i = 0; i < g->decls.n; i++) {
        const decl *const d = g->decls.at[i];
        if (d->kind != DECL_TYPEDEF) continue;
        const type *const t = leaf_type(d->type);
        if (t->kind == TYPE_RECORD && record_holds(w->a, t->record)) return true;
        for (size_t k = 0; k < w->typedefs.n; k++)
            if (same(((decl *)w->typedefs.at[k])->usr, d->usr)) return true;
    }
    return false;
}

static const char *types_of(writer *w, const file *f, const group *g) { return write_record(w, f, g->begin, g->end); }

/* What headers that were not given define, and has to be had with variables. */
static void write_from_headers(writer *w, const output *o, text *to) {
    for (size_t i = 0; i < w->a->program->files.n; i++) {
        const file *const f = w->a->program->files.at[i];
        if (f->given || f->of_system) continue;
        const list groups = groups_of(f);
        for (size_t k = 0; k < groups.n; k++) {
            const group *const g = groups.at[k];
            const decl *const d = g->decls.at[0];
            if (types_hold(w, f, g)) putf(to, "\n%s\n", types_of(w, f, g));
            if (d->kind == DECL_FUNCTION && d->body != NULL && !d->redeclared && has_versions(w, d)) {
                put(to, "\n");
                write_versions(w, d, o, to);
                put(to, "\n");
            }
            for (size_t j = 0; j < g->decls.n; j++) {
                const decl *const v = g->decls.at[j];
                if (v->kind == DECL_VARIABLE && global_holds(w, v) && v->defined && !v->redeclared) {
                    version *const before = w->v;
                    w->v = w->a->outside;
                    putf(to, "\n%s\n", write_global(w, v, "static "));
                    w->v = before;
                }
            }
        }
    }
}

/* Is this version called, or its address taken, in file f? */
static bool is_used_in(const writer *w, const version *v, const file *f) {
    for (size_t i = 0; i < w->a->versions.n; i++) {
        const version *const u = w->a->versions.at[i];
        if (!is_written(u) || u->function->file != f) continue;
        for (size_t k = 0; k < u->function->nodes; k++) {
            if (u->called[k] != NULL && u->called[k]->like == v) return true;
            cell *const c = u->of_node[k] != NULL ? real_cell(u->of_node[k]) : NULL;
            if (c != NULL && c->type != NULL && c->type->kind == TYPE_FUNCTION)
                for (size_t m = 0; m < c->versions.n; m++)
                    if (((version *)c->versions.at[m])->like == v) return true;
        }
    }
    return false;
}

static void write_prototypes(writer *w, const file *f, const output *o, text *to) {
    for (size_t i = 0; i < w->a->versions.n; i++) {
        const version *const v = w->a->versions.at[i];
        if (is_written(v) && v != w->a->root && (v->function->file == f || is_used_in(w, v, f)))
            put(to, prototype(w, v, is_private(w, v, o)));
    }
}

/* The end of the last #include that stands before the first function. */
static size_t includes_end(const file *f, const list *groups) {
    size_t before = f->n, end = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const group *const g = groups->at[i];
        const decl *const d = g->decls.at[0];
        if (d->kind == DECL_FUNCTION && d->body != NULL && !d->redeclared) {
            before = g->begin;
            break;
        }
    }
    size_t depth = 0;
    for (size_t i = 0; i < f->tokens.n && f->tokens.at[i].begin < before; i++) {
        if (f->tokens.at[i].kind != TOKEN_DIRECTIVE) continue;
        const char *s = slice(f, f->tokens.at[i].begin, f->tokens.at[i].end) + 1;
        while (*s == ' ' || *s == '\t') s++;
        if (starts_with(s, "if")) depth++;
        if (starts_with(s, "include") || (starts_with(s, "endif") && depth != 0 && --depth == 0 && end != 0)) {
            if (depth == 0) end = f->tokens.at[i].end;
        }
    }
    return end;
}

static const char *guard_of(const char *name) {
    text to = {NULL, 0, 0};
    for (const char *p = name; *p; p++) {
        const char c = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
        put_n(&to, (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? &c : "_", 1);
    }
    return text_of(&to);
}

const char *write_file(writer *w, const file *f, const output *o) {
    const needs n = find_needs(w);
    const list groups = groups_of(f);
    text body = {NULL, 0, 0};
    /* functions first, so that it is known which types they use */
    text *const of = arena_get((groups.n + 1) * sizeof *of);
    for (size_t i = 0; i < groups.n; i++) {
        const group *const g = groups.at[i];
        decl *const d = g->decls.at[0];
        if (d->kind != DECL_FUNCTION || d->redeclared || d->body == NULL) continue;
        if (list_has(&n.functions, d))
            putf(&of[i], "%s%s", d->is_static || d->is_inline ? "" : "__attribute__((weak)) ", slice(f, g->begin, g->end));
        if (of[i].n != 0 && has_versions(w, d)) put(&of[i], "\n\n");
        write_versions(w, d, o, &of[i]);
    }
    text prototypes = {NULL, 0, 0}, headers = {NULL, 0, 0};
    write_prototypes(w, f, o, &prototypes);
    const bool with_headers = w->a->root->function->file == f;
    text globals = {NULL, 0, 0};
    for (size_t i = 0; i < groups.n; i++) {
        const group *const g = groups.at[i];
        const decl *const d = g->decls.at[0];
        bool variables = false;
        for (size_t k = 0; k < g->decls.n; k++) variables |= ((decl *)g->decls.at[k])->kind == DECL_VARIABLE;
        if (variables) write_variables(w, f, g, &n, o, &of[i]);
        (void)d;
    }
    if (with_headers) write_from_headers(w, o, &headers);
    if (with_headers) write_from_headers(w, o, &globals), globals.n = 0; /* types that types need */

    const size_t after = includes_end(f, &groups);
    size_t at = 0;
    bool opened = false, declared = false;
    for (size_t i = 0; i <= groups.n; i++) {
        const group *const g = i < groups.n ? groups.at[i] : NULL;
        const size_t begin = g != NULL ? g->begin : f->n;
        size_t until = begin;
        const decl *const d = g != NULL ? g->decls.at[0] : NULL;
        bool variables = false;
        for (size_t k = 0; g != NULL && k < g->decls.n; k++) variables |= ((decl *)g->decls.at[k])->kind == DECL_VARIABLE;
        const bool types = g != NULL && d->kind != DECL_FUNCTION && !variables;
        const bool definition = d != NULL && d->kind == DECL_FUNCTION && !d->redeclared && d->body != NULL;
        const bool stays = g == NULL || types || of[i].n != 0 || (d->kind == DECL_FUNCTION && !definition && !d->is_static && !has_versions(w, d));
        if (!stays) until = with_comment(f, begin, at);
        if (!opened && begin >= after) {
            if (after > at) put_n(&body, f->text + at, after - at);
            if (at < after) at = after;
            putf(&body, "\n#include <wengert.h>\n#define %s_SOURCE\n#include \"%s\"\n", guard_of(o->header), o->header);
            put(&body, text_of(&headers));
            opened = true;
            if (until < at) until = at;
        }
        if (until > at) put_n(&body, f->text + at, until - at);
        if (g == NULL) break;
        at = g->end;
        if (!stays) continue;
        if (!declared && (of[i].n != 0) && (definition || variables) && prototypes.n != 0) {
            putf(&body, "%s\n", text_of(&prototypes));
            declared = true;
        }
        if (types) {
            put(&body, slice(f, g->begin, g->end));
            if (types_hold(w, f, g)) putf(&body, "\n%s", types_of(w, f, g));
        } else if (of[i].n != 0) put(&body, text_of(&of[i]));
        else put(&body, slice(f, g->begin, g->end));
    }
    return text_of(&body);
}

const char *write_header(writer *w, const output *o) {
    text to = {NULL, 0, 0};
    const char *const guard = guard_of(o->header), *const name = o->header;
    putf(&to, "/* %s\n * Written by wengert-convert. Do not edit: convert again. */\n#ifndef %s\n#define %s\n\n", name,
         guard, guard);
    putf(&to, "#ifndef %s_SOURCE /* which has included these already */\n", guard);
    const file *const f = w->a->root->function->file;
    for (size_t i = 0; i < f->tokens.n; i++) {
        if (f->tokens.at[i].kind != TOKEN_DIRECTIVE) continue;
        const char *const s = slice(f, f->tokens.at[i].begin, f->tokens.at[i].end);
        const char *p = s + 1;
        while (*p == ' ' || *p == '\t') p++;
        if (starts_with(p, "include") && strchr(p, '"') != NULL) putf(&to, "%s\n", s);
    }
    putf(&to, "#endif\n#include <wengert.h>\n\n%s\n#endif\n", callback_declaration(w));
    return text_of(&to);
}
