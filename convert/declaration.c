/* SPDX-License-Identifier: MIT */
/* declaration.c - declarations of variables, structures and functions, and the statements
 * around them. */
#include <string.h>
#include "convert/known.h"
#include "convert/loops.h"
#include "convert/region.h"
#include "convert/specifiers.h"

/* ---- declarations in functions ---------------------------------------------------------- */

static bool decl_holds(const writer *w, const decl *d) {
    cell *const c = cell_of(w->a, w->v, d);
    return c != NULL && holds_variables(c);
}

static bool is_aggregate(const decl *d) {
    return d->type->kind == TYPE_ARRAY || d->type->kind == TYPE_RECORD;
}

static const char *written_init(writer *w, const decl *d, bool constant) {
    cell *const c = cell_of(w->a, w->v, d);
    if (!decl_holds(w, d) || (!is_aggregate(d) && d->type->kind != TYPE_REAL))
        return write_number(w, d->init);
    return write_initialiser(w, d->init, d->type, c, constant);
}

/* The declarator [begin, d->end), with what it is initialised with. */
static const char *declarator(writer *w, const decl *d, size_t begin, bool constant,
                              const char *name) {
    parts p = {NULL, 0, 0};
    if (name != NULL) add_part(&p, d->at, d->at + strlen(d->name), name);
    const size_t end = d->init != NULL ? d->init->begin : d->end;
    if (decl_holds(w, d)) scan_function(w, d->file, begin, end, &p);
    if (d->init != NULL)
        add_part(&p, d->init->begin, d->init->end, written_init(w, d, constant));
    return replaced(d->file, begin, d->end, p.n, p.at);
}

/* Between specifiers and a declarator that has had a comma before it. */
static void put_space(text *to, const file *f, size_t at) {
    if (f->text[at] != ' ' && f->text[at] != '\n' && f->text[at] != '\t') put(to, " ");
}

/* Local variables that are remembered from call to call begin anew with each recording: what
 * they hold is of the tape as it was before. */
static void write_reset(writer *w, const decl *d, text *to) {
    const char *const x = d->name, *const run = format("%s_run", w->a->root->name);
    putf(to, " static unsigned long wgc_run_%s;", x);
    if (d->init != NULL)
        putf(to, " static const __typeof__(%s) wgc_first_%s = %s;", x, x,
             written_init(w, d, true));
    putf(to, " if (wgc_run_%s != %s) wgc_run_%s = %s, mem%s(&%s, %s%s, sizeof %s);", x, run, x,
         run, d->init != NULL ? "cpy" : "set", x, d->init != NULL ? "&wgc_first_" : "0",
         d->init != NULL ? x : "", x);
}

static const char *write_record(writer *w, const file *f, size_t begin, size_t end);

/* Names of types that a function declares, which variables may leave unused; those of arrays,
 * pointers and functions of numbers also by another name. */
static const char *write_local_types(writer *w, const node *n) {
    static const char unused[] = "__attribute__((unused)) ";
    const list *const all = &w->a->program->typedefs;
    for (size_t i = 0; i < all->n; i++) {
        const decl *const d = all->at[i];
        if (d->owner == NULL || d->file != n->file || d->begin < n->begin || d->end > n->end)
            continue;
        if (d->type->kind == TYPE_REAL) return format("%s%s", unused, source(n));
        if (names_numbers(w, d))
            return format("%s%s %s%s", unused, source(n), unused,
                          write_record(w, n->file, n->begin, n->end));
    }
    return source(n);
}

const char *write_declaration(writer *w, const node *n) {
    const file *const f = n->file;
    if (n->decls.n == 0) return write_local_types(w, n);
    const decl *const first = n->decls.at[0];
    text to = {NULL, 0, 0};
    size_t rest = specifiers_end(f, n->begin, n->end), at = rest;
    bool now = false;
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        const bool holds = decl_holds(w, d);
        if (i != 0)
            at = f->tokens.at[token_from(&f->tokens, ((const decl *)n->decls.at[i - 1])->end)]
                     .end;
        if (i == 0 || holds != now) {
            size_t end;
            if (i != 0) put(&to, "; ");
            put(&to, holds ? retyped_specifiers(w, f, n->begin, n->end, &end)
                           : copy_text(f->text + n->begin, rest - n->begin));
            if (i != 0 && n->parent != NULL && n->parent->kind == NODE_FOR &&
                n->parent->child[0] == n)
                error_at(place_of(n),
                         "'%s' declares numbers and variables at once: declare them apart",
                         source(n));
        } else put(&to, ",");
        if (i != 0 && holds != now) put_space(&to, f, at);
        put(&to, declarator(w, d, at, d->is_static, NULL));
        now = holds;
    }
    const decl *const last = n->decls.at[n->decls.n - 1];
    if (first->file == f) put_n(&to, f->text + last->end, n->end - last->end);
    for (size_t i = 0; i < n->decls.n; i++)
        if (keeps_state(n->decls.at[i])) write_reset(w, n->decls.at[i], &to);
    return text_of(&to);
}

const char *write_one_declaration(writer *w, const node *n, size_t i) {
    const file *const f = n->file;
    const decl *const d = n->decls.at[i];
    const size_t rest = specifiers_end(f, n->begin, n->end);
    size_t at = rest, end;
    if (i != 0)
        at = f->tokens.at[token_from(&f->tokens, ((const decl *)n->decls.at[i - 1])->end)].end;
    const char *const s = decl_holds(w, d) ? retyped_specifiers(w, f, n->begin, n->end, &end)
                                           : copy_text(f->text + n->begin, rest - n->begin);
    return format("%s%s%s", s, i != 0 ? " " : "", declarator(w, d, at, d->is_static, NULL));
}

/* ---- statements ------------------------------------------------------------------------- */

static const char *write_effect(writer *w, const node *n) {
    const node *const e = bare(n);
    if (is_active(w, e) && (e->kind == NODE_ASSIGN || e->kind == NODE_CALL)) {
        unsigned bits;
        if (e->kind == NODE_CALL && bare(e->child[0])->kind == NODE_NAME &&
            bare(e->child[0])->decl->body == NULL &&
            known_function(bare(e->child[0])->decl->name, &bits)->kind == KNOWN_OPERATION)
            return write_number(w, e);
        return write_variable(w, e);
    }
    if (is_active(w, e) && e->kind == NODE_UNARY && (same(e->op, "++") || same(e->op, "--")))
        return write_step(w, e, false);
    if (e->kind == NODE_BINARY && e->op != NULL && same(e->op, ","))
        return replaced(
            e->file, e->begin, e->end, 2,
            (part[]){{e->child[0]->begin, e->child[0]->end, write_effect(w, e->child[0])},
                     {e->child[1]->begin, e->child[1]->end, write_effect(w, e->child[1])}});
    return write_number(w, n);
}

static bool is_condition(const node *n, size_t i) {
    return ((n->kind == NODE_IF || n->kind == NODE_WHILE) && i == 0) ||
           (n->kind == NODE_DO && i == 1) || (n->kind == NODE_FOR && i == 1);
}

const char *write_statement(writer *w, const node *n) {
    if (n->by_macro) return source(n);
    if (is_expression(n)) return write_effect(w, n);
    if (n->kind == NODE_DECLARE) return write_declaration(w, n);
    part *const p = arena_get((n->children + 1) * sizeof *p);
    size_t k = 0;
    for (size_t i = 0, count; i < n->children; i++) {
        const node *const c = n->child[i];
        if (c == NULL) continue;
        const char *s;
        if (w->blocks && n->kind == NODE_BLOCK && (s = write_region(w, n, i, &count)) != NULL) {
            i += count - 1;
            p[k++] = (part){c->begin, n->child[i]->end, s};
            continue;
        }
        if (is_recorded_loop(w, c)) s = write_loop(w, c);
        else if (is_condition(n, i)) s = write_condition(w, c);
        else if (n->kind == NODE_RETURN)
            s = format("%s%s", c->begin > 0 && n->file->text[c->begin - 1] == 'n' ? " " : "",
                       w->v->result != NULL && is_variable(w->v->result) ? write_variable(w, c)
                                                                         : write_number(w, c));
        else if (n->kind == NODE_SWITCH && i == 0) s = write_number(w, c);
        else if (n->kind == NODE_CASE && i == 0) s = source(c);
        else s = write_statement(w, c);
        p[k++] = (part){c->begin, c->end, s};
    }
    return replaced(n->file, n->begin, n->end, k, p);
}

/* ---- functions -------------------------------------------------------------------------- */

/* Where the name of a function stands, which may be a macro's. */
static size_t name_end(const decl *d) {
    const token *const t = &d->file->tokens.at[token_from(&d->file->tokens, d->at)];
    for (size_t i = 0; i < d->file->invocations.n; i++) {
        const invocation *const v = d->file->invocations.at[i];
        if (v->begin <= d->at && d->at < v->end) return v->end;
    }
    return t->end;
}

/* One declarator of a declaration, with its specifiers, which may be those of several. */
static const char *alone(writer *w, const decl *d, bool as_variable) {
    const file *const f = d->file;
    size_t rest = specifiers_end(f, d->begin, d->end), at = rest, depth = 0, end;
    for (size_t i = token_from(&f->tokens, rest);
         i < f->tokens.n && f->tokens.at[i].begin < d->at; i = next_token(f, i)) {
        if (sign_is(f, i, '{') || sign_is(f, i, '(') || sign_is(f, i, '[')) depth++;
        if (sign_is(f, i, '}') || sign_is(f, i, ')') || sign_is(f, i, ']')) depth--;
        if (sign_is(f, i, ',') && depth == 0) at = f->tokens.at[i].end;
    }
    const char *const s = as_variable ? retyped_specifiers(w, f, d->begin, d->end, &end)
                                      : copy_text(f->text + d->begin, rest - d->begin);
    parts p = {NULL, 0, 0};
    if (as_variable) scan_function(w, f, at, d->end, &p);
    return format("%s %s", s, replaced(f, at, d->end, p.n, p.at));
}

const char *write_signature(writer *w, const version *v, bool as_prototype) {
    const decl *const d = v->function;
    const file *const f = d->file;
    parts p = {NULL, 0, 0};
    if (v->result != NULL && holds_variables(v->result))
        (void)scan_specifiers(w, f, d->begin, d->at, &p);
    add_part(&p, d->at, name_end(d), v->name);
    const size_t open = token_from(&f->tokens, name_end(d)), close = after_group(f, open) - 1;
    const size_t inside = f->tokens.at[open].end, end = f->tokens.at[close].begin;
    const size_t stop = as_prototype ? f->tokens.at[close].end : d->body->begin;
    const decl *const first = d->parameters.n != 0 ? d->parameters.at[0] : NULL;
    if (first == NULL) add_part(&p, inside, end, format("wg_tape *%s", w->tape));
    else if (first->begin > end) {
        /* parameters are declared behind the parentheses, as they were before 1989 */
        text all = {NULL, 0, 0};
        putf(&all, "wg_tape *%s", w->tape);
        for (size_t i = 0; i < d->parameters.n; i++) {
            const decl *const q = d->parameters.at[i];
            putf(&all, ", %s",
                 alone(w, q,
                       v->of_decl[q->index] != NULL && holds_variables(v->of_decl[q->index])));
        }
        add_part(&p, inside, end, text_of(&all));
        if (!as_prototype) add_part(&p, f->tokens.at[close].end, stop, " ");
    } else {
        add_part(&p, inside, inside, format("wg_tape *%s, ", w->tape));
        for (size_t i = 0; i < d->parameters.n; i++) {
            const decl *const q = d->parameters.at[i];
            if (v->of_decl[q->index] == NULL || !holds_variables(v->of_decl[q->index]))
                continue;
            const size_t rest = scan_specifiers(w, f, q->begin, q->end, &p);
            scan_function(w, f, rest, q->end, &p);
        }
    }
    return replaced(f, d->begin, stop, p.n, p.at);
}

static bool uses_tape(const writer *w, const char *body) {
    const tokens t = lex(body, strlen(body));
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].kind == TOKEN_WORD && token_is(body, &t.at[i], w->tape)) return true;
    return false;
}

const char *write_function(writer *w, version *v) {
    version *const before = w->v;
    w->v = v;
    const char *const body = write_statement(w, v->function->body);
    const char *const used = uses_tape(w, body) ? "" : format(" (void)%s;", w->tape);
    const char *const s =
        format("%s{%s%s", write_signature(w, v, false), used, *body == '{' ? body + 1 : body);
    w->v = before;
    return s;
}

/* ---- structures, types and globals ------------------------------------------------------- */

/* Enumerators are declared once: a field that declares some has the type of the original's
 * field. */
static void write_enumeration(const file *f, const record *r, const decl *d, parts *to) {
    size_t i = token_from(&f->tokens, d->begin);
    while (i < f->tokens.n && f->tokens.at[i].begin < d->at && !same(word_at(f, i), "enum"))
        i = next_token(f, i);
    if (i >= f->tokens.n || f->tokens.at[i].begin >= d->at) return;
    size_t open = next_token(f, i);
    if (f->tokens.at[open].kind == TOKEN_WORD) open = next_token(f, open);
    if (!sign_is(f, open, '{')) return;
    add_part(to, f->tokens.at[i].begin, f->tokens.at[after_group(f, open) - 1].end,
             format("__typeof__(((%s%s *)0)->%s)",
                    r->tagged ? r->is_union ? "union " : "struct " : "", r->name, d->name));
}

/* The fields of a record, which stand in groups with one specifier. */
static void write_fields(writer *w, const file *f, const record *r, parts *to) {
    for (size_t i = 0; i < r->fields.n;) {
        const decl *const first = r->fields.at[i];
        size_t n = 1, holding = 0;
        while (i + n < r->fields.n &&
               ((const decl *)r->fields.at[i + n])->begin == first->begin)
            n++;
        for (size_t k = 0; k < n; k++) {
            const decl *const d = r->fields.at[i + k];
            const type *const t = leaf_type(d->type);
            holding +=
                decl_holds(w, d) || (t->kind == TYPE_RECORD && record_holds(w->a, t->record));
        }
        const decl *const last = r->fields.at[i + n - 1];
        const type *const t = leaf_type(first->type);
        const bool within = t->kind == TYPE_RECORD && t->record->definition != NULL &&
                            t->record->definition->file == f &&
                            t->record->definition->begin >= first->begin &&
                            t->record->definition->end <= first->end;
        if (t->kind == TYPE_WHOLE && first->at > first->begin)
            write_enumeration(f, r, first, to);
        if (holding == n && !within) {
            const size_t rest = scan_specifiers(w, f, first->begin, last->end, to);
            scan_function(w, f, rest, last->end, to);
        } else if (holding != 0 && !within) {
            const size_t rest = specifiers_end(f, first->begin, first->end);
            text s = {NULL, 0, 0};
            for (size_t k = 0; k < n; k++) {
                const decl *const d = r->fields.at[i + k];
                size_t end;
                const size_t at =
                    k == 0 ? rest
                           : f->tokens
                                 .at[token_from(&f->tokens,
                                                ((const decl *)r->fields.at[i + k - 1])->end)]
                                 .end;
                putf(&s, "%s%s", k != 0 ? "; " : "",
                     decl_holds(w, d) ? retyped_specifiers(w, f, first->begin, first->end, &end)
                                      : copy_text(f->text + first->begin, rest - first->begin));
                put_space(&s, f, at);
                put_n(&s, f->text + at, d->end - at);
            }
            add_part(to, first->begin, last->end, text_of(&s));
        }
        i += n;
    }
}

/* A declaration of types [begin, end): those that hold variables, by other names. */
static const char *write_record(writer *w, const file *f, size_t begin, size_t end) {
    parts p = {NULL, 0, 0};
    const list *const records = &w->a->program->records, *const typedefs =
                                                             &w->a->program->typedefs;
    for (size_t i = 0; i < records->n; i++) {
        const record *const r = records->at[i];
        const decl *const d = r->definition;
        if (d == NULL || d->file != f || d->begin < begin || d->end > end ||
            !record_holds(w->a, r))
            continue;
        if (r->tagged) add_part(&p, d->at, d->at + strlen(r->name), format("%s_wg", r->name));
        write_fields(w, f, r, &p);
    }
    bool defines = p.n != 0;
    for (size_t i = 0; i < typedefs->n; i++) {
        const decl *const d = typedefs->at[i];
        if (d->file != f || d->begin < begin || d->end > end) continue;
        if (!defines) {
            const size_t rest = scan_specifiers(w, f, d->begin, d->end, &p);
            scan_function(w, f, rest, d->end, &p);
        }
        add_part(&p, d->at, d->at + strlen(d->name), format("%s_wg", d->name));
    }
    return replaced(f, begin, end, p.n, p.at);
}

const char *write_types(writer *w, const file *f, const list *decls, size_t begin, size_t end) {
    bool variables = false;
    for (size_t i = 0; i < decls->n; i++)
        variables |= ((decl *)decls->at[i])->kind == DECL_VARIABLE;
    if (!variables) return write_record(w, f, begin, end);
    const decl *whole = NULL;
    for (size_t i = 0; i < w->a->program->records.n; i++) {
        const decl *const r = ((record *)w->a->program->records.at[i])->definition;
        if (r != NULL && r->file == f && r->begin >= begin && r->end <= end &&
            (whole == NULL || r->begin < whole->begin))
            whole = r;
    }
    return whole != NULL ? format("%s;", write_record(w, f, whole->begin, whole->end)) : "";
}

const char *write_global(writer *w, const decl *d, const char *with) {
    const file *const f = d->file;
    const type *const of = leaf_type(d->type);
    const decl *const defined = of->kind == TYPE_RECORD ? of->record->definition : NULL;
    if (defined != NULL && !of->record->tagged && defined->file == f &&
        defined->begin >= d->begin && defined->end <= d->at)
        error_at(place_in(f, d->at),
                 "'%s' holds variables and is a structure without a name: give that a tag",
                 d->name);
    const size_t rest = specifiers_end(f, d->begin, d->end);
    size_t end, at = rest;
    /* of several declarators, the one with this name: behind the last comma outside of
     * braces */
    size_t depth = 0;
    for (size_t i = token_from(&f->tokens, rest);
         i < f->tokens.n && f->tokens.at[i].begin < d->at; i = next_token(f, i)) {
        if (sign_is(f, i, '{') || sign_is(f, i, '(') || sign_is(f, i, '[')) depth++;
        if (sign_is(f, i, '}') || sign_is(f, i, ')') || sign_is(f, i, ']')) depth--;
        if (sign_is(f, i, ',') && depth == 0) at = f->tokens.at[i].end;
    }
    const char *specifiers = retyped_specifiers(w, f, d->begin, d->end, &end);
    if (starts_with(specifiers, "extern ")) specifiers += 7;
    if (*with && starts_with(specifiers, "static ")) specifiers += 7;
    if (starts_with(with, "extern")) { /* without what it is initialised with */
        decl bare_one = *d;
        if (d->init != NULL) bare_one.init = NULL, bare_one.end = d->at + strlen(d->name);
        for (size_t i = token_from(&f->tokens, bare_one.end); sign_is(f, i, '[');
             i = next_token(f, after_group(f, i) - 1))
            bare_one.end = f->tokens.at[after_group(f, i) - 1].end;
        return format("%s%s%s;", with, specifiers,
                      declarator(w, &bare_one, at, true, format("%s_wg", d->name)));
    }
    return format("%s%s%s;", with, specifiers,
                  declarator(w, d, at, true, format("%s_wg", d->name)));
}
