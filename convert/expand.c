/* SPDX-License-Identifier: MIT */
/* expand.c - macros, as ISO C 6.10.3 has them: arguments are expanded first, but beside # and
 * ##; what results is looked at again, the macro itself excluded. Macros of the system
 * without arguments stay. Also written out: what is included within a function, and the type of
 * numbers that are declared by typeof. */
#include <string.h>
#include "convert/expand.h"

/* Questions of numbers that the system has as macros: in the text they become functions. */
static const char *const plain[] = {"isnan",   "isinf",      "isfinite", "isnormal",
                                    "signbit", "fpclassify", "assert"};
const char *const plain_name = "/wengert-convert/plain.h";
const char *const plain_header =
    "int wgi_plain_isnan(double);\nint wgi_plain_isinf(double);\nint wgi_plain_isfinite(double);\n"
    "int wgi_plain_isnormal(double);\nint wgi_plain_signbit(double);\nint wgi_plain_fpclassify(double);\n"
    "void wgi_plain_assert(int);\n";

static bool is_plain(const char *name) {
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (same(name, plain[i])) return true;
    return false;
}

const char *without_plain(const char *s) {
    static const char mark[] = "wgi_plain_";
    text to = {NULL, 0, 0};
    for (const char *p; (p = strstr(s, mark)) != NULL; s = p + strlen(mark))
        put_n(&to, s, (size_t)(p - s));
    put(&to, s);
    return text_of(&to);
}

/* Macros whose expansions have their own names in them (#define q s->q): in a text that is read
 * again they would be expanded again. So all their uses are expanded, and the definition is
 * left out. */
static list own_names;
static bool is_own(const char *name) {
    for (size_t i = 0; i < own_names.n; i++)
        if (same(own_names.at[i], name)) return true;
    return false;
}

typedef struct hidden {
    const char *name;
    const struct hidden *next;
} hidden;
static bool is_hidden(const hidden *h, const char *name) {
    for (; h != NULL; h = h->next)
        if (same(h->name, name)) return true;
    return false;
}

static const char *expand(const char *s, const table *macros, const macro *first,
                          const hidden *h);

static const char *piece(const char *s, const token *t) {
    return copy_text(s + t->begin, t->end - t->begin);
}

/* The arguments behind the parenthesis that token `open` is; *close is the one that closes. */
static list arguments(const char *s, const tokens *t, size_t open, size_t *close) {
    list args = {NULL, 0, 0};
    size_t depth = 0, begin = t->at[open].end;
    for (size_t i = open; i < t->n; i++) {
        const char c = t->at[i].kind == TOKEN_SIGN ? s[t->at[i].begin] : 0;
        if (c == '(') depth++;
        if (c == ')') depth--;
        if ((c == ',' && depth == 1) || (c == ')' && depth == 0)) {
            const char *a = copy_text(s + begin, t->at[i].begin - begin);
            while (*a == ' ' || *a == '\n' || *a == '\t') a++;
            push(&args, copy_text(a, strlen(a)));
            begin = t->at[i].end;
        }
        if (c == ')' && depth == 0) {
            *close = i;
            return args;
        }
    }
    *close = t->n;
    return args;
}

static size_t parameter_of(const macro *m, const char *word) {
    for (size_t i = 0; i < m->parameters.n; i++)
        if (same(m->parameters.at[i], word)) return i;
    return m->parameters.n;
}

static const char *argument_at(const macro *m, const list *args, size_t i) {
    if (i >= args->n) return "";
    if (!(m->variadic && i + 1 == m->parameters.n)) return args->at[i];
    text rest = {NULL, 0, 0};
    for (size_t k = i; k < args->n; k++)
        putf(&rest, "%s%s", k != i ? ", " : "", (const char *)args->at[k]);
    return text_of(&rest);
}

static const char *substituted(const macro *m, const list *args, const table *macros,
                               const hidden *h) {
    const tokens t = lex(m->body, strlen(m->body));
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < t.n; i++) {
        const token *const k = &t.at[i];
        if (k->kind == TOKEN_COMMENT) continue;
        const char *const s = piece(m->body, k);
        const bool glued = i > 0 && token_is(m->body, &t.at[i - 1], "##");
        const bool glues = i + 1 < t.n && token_is(m->body, &t.at[i + 1], "##");
        if (same(s, "##")) continue;
        if (i > 0 && !glued && t.at[i - 1].end < k->begin) put(&to, " ");
        if (m->with_arguments && (same(s, "#") || k->kind == TOKEN_DIRECTIVE)) {
            const char *const name = k->kind == TOKEN_DIRECTIVE ? s + 1
                                     : i + 1 < t.n              ? piece(m->body, &t.at[i + 1])
                                                                : "";
            putf(&to, "\"%s\"", argument_at(m, args, parameter_of(m, name)));
            if (k->kind != TOKEN_DIRECTIVE) i++;
            continue;
        }
        const size_t p = k->kind == TOKEN_WORD ? parameter_of(m, s) : m->parameters.n;
        if (p == m->parameters.n) put(&to, s);
        else if (glued || glues) put(&to, argument_at(m, args, p));
        else put(&to, expand(argument_at(m, args, p), macros, NULL, h));
    }
    return text_of(&to);
}

/* `first` is the definition of the first macro, where that is known: later ones may have its
 * name. */
static const char *expand(const char *s, const table *macros, const macro *first,
                          const hidden *h) {
    const tokens t = lex(s, strlen(s));
    text to = {NULL, 0, 0};
    size_t at = 0;
    for (size_t i = 0; i < t.n; i++) {
        const token *const k = &t.at[i];
        if (k->kind != TOKEN_WORD) continue;
        const char *const name = piece(s, k);
        const macro *const m = first != NULL ? first : table_get(macros, name);
        const bool sure = first != NULL || m == NULL || !m->several;
        first = NULL;
        if (m == NULL || (m->of_system && !m->with_arguments)) continue;
        if (is_hidden(h, name)) {
            if (!is_own(name)) push(&own_names, copy_text(name, strlen(name)));
            continue;
        }
        if (!sure) continue; /* where it stands then, the next reading knows which it is */
        size_t open = i + 1, close = i;
        while (open < t.n && t.at[open].kind == TOKEN_COMMENT) open++;
        list args = {NULL, 0, 0};
        if (m->with_arguments) {
            if (open >= t.n || !token_is(s, &t.at[open], "(")) continue;
            args = arguments(s, &t, open, &close);
            if (close >= t.n) continue;
        }
        put_n(&to, s + at, k->begin - at);
        if (m->of_system && is_plain(name)) {
            putf(&to, "wgi_plain_%s(%s)", name,
                 expand(args.n != 0 ? args.at[0] : "", macros, NULL, h));
        } else {
            const hidden more = {name, h};
            put(&to, expand(substituted(m, &args, macros, h), macros, NULL, &more));
        }
        at = t.at[close].end;
        i = close;
    }
    put(&to, s + at);
    return text_of(&to);
}

static bool within(const file *f, size_t offset, const list *functions) {
    for (size_t i = 0; i < functions->n; i++) {
        const decl *const d = functions->at[i];
        if (d->file == f && d->begin <= offset && offset < d->end) return true;
    }
    return false;
}

static bool has_word(const char *s, const char *word) {
    const tokens t = lex(s, strlen(s));
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].kind == TOKEN_WORD && token_is(s, &t.at[i], word)) return true;
    return false;
}

/* Does a macro without arguments stand for fields of this type? */
static bool has_field_in(const record *r, const file *f, const invocation *v) {
    for (size_t i = 0; r != NULL && i < r->fields.n; i++) {
        const decl *const d = r->fields.at[i];
        if (d->file == f && v->begin <= d->at && d->at < v->end) return true;
        const type *t = d->type;
        while (t->kind == TYPE_ARRAY) t = t->of;
        if (t->kind == TYPE_RECORD && has_field_in(t->record, f, v)) return true;
    }
    return false;
}

/* Does it make a declaration at the top of a file: fields of a type, or a declaration from its
 * begin on, or that it is static? */
static bool declares(const file *f, const invocation *v) {
    if (v->of_system) return false;
    for (size_t i = 0; i < f->declarations.n; i++) {
        const decl *const d = f->declarations.at[i];
        const bool of_type = d->kind == DECL_RECORD || d->kind == DECL_TYPEDEF;
        if (of_type && d->begin <= v->begin && v->end <= d->end &&
            (v->with_arguments || has_field_in(leaf_type(d->type)->record, f, v)))
            return true;
        if (v->with_arguments && d->begin == v->begin) return true;
        if (d->kind == DECL_FUNCTION && d->begin <= v->begin && v->begin < d->at &&
            v->macro != NULL && has_word(v->macro->body, "static"))
            return true;
    }
    return false;
}

static size_t lines_in(const char *s) {
    size_t n = 0;
    for (; *s; s++) n += *s == '\n';
    return n;
}

/* The definition that has offset `at` in it becomes empty lines. */
static void leave_out(const file *f, size_t at, list *edits) {
    for (size_t i = 0; i < f->tokens.n; i++) {
        const token *const t = &f->tokens.at[i];
        if (t->kind != TOKEN_DIRECTIVE || at < t->begin || at >= t->end) continue;
        edit *const e = arena_get(sizeof *e);
        *e = (edit){t->begin, t->end, ""};
        push(edits, e);
    }
}

/* What is included within a function stands in its text. */
static void include(const file *f, const inclusion *v, list *edits) {
    for (size_t i = 0; i < f->tokens.n; i++) {
        const token *const t = &f->tokens.at[i];
        if (t->kind != TOKEN_DIRECTIVE || v->begin < t->begin || v->begin >= t->end) continue;
        edit *const e = arena_get(sizeof *e);
        *e = (edit){t->begin, t->end, v->of->text};
        push(edits, e);
        return;
    }
}

/* Does a macro stand for the same at the end of all files? */
static bool lasts(const char *name, const macro *m, const table *macros, const table *undone,
                  const hidden *h) {
    if (m == NULL || m->of_system || is_hidden(h, name)) return true;
    if (table_get(undone, name) != NULL) return false;
    const hidden more = {name, h};
    const tokens t = lex(m->body, strlen(m->body));
    for (size_t i = 0; i < t.n; i++) {
        if (t.at[i].kind != TOKEN_WORD) continue;
        const char *const inner = piece(m->body, &t.at[i]);
        if (!lasts(inner, table_get(macros, inner), macros, undone, &more)) return false;
    }
    return true;
}

static void sort_edits(list *l) {
    for (size_t i = 1; i < l->n; i++)
        for (size_t k = i; k > 0 && ((edit *)l->at[k - 1])->begin > ((edit *)l->at[k])->begin;
             k--) {
            void *const x = l->at[k];
            l->at[k] = l->at[k - 1], l->at[k - 1] = x;
        }
}

const char *expanded_file(const file *f, const list *functions, const table *macros,
                          const table *undone) {
    list edits = {NULL, 0, 0};
    for (size_t i = 0; i < f->invocations.n; i++) {
        const invocation *const v = f->invocations.at[i];
        const bool stays =
            !v->variables && (undone == NULL || lasts(v->name, v->macro, macros, undone, NULL));
        if ((stays || !within(f, v->begin, functions)) && !is_own(v->name) && !declares(f, v))
            continue;
        const char *const s = copy_text(f->text + v->begin, v->end - v->begin);
        edit *const e = arena_get(sizeof *e);
        *e = (edit){v->begin, v->end, expand(s, macros, v->macro, NULL)};
        if (!same(e->s, s)) push(&edits, e);
    }
    for (size_t i = 0; i < f->inclusions.n; i++) {
        const inclusion *const v = f->inclusions.at[i];
        if (within(f, v->begin, functions)) include(f, v, &edits);
    }
    for (size_t i = 0; i < f->typeofs.n; i++)
        if (within(f, ((edit *)f->typeofs.at[i])->begin, functions))
            push(&edits, f->typeofs.at[i]);
    for (size_t i = 0; i < own_names.n; i++) {
        const macro *const m = table_get(macros, own_names.at[i]);
        if (m != NULL && m->file == f) leave_out(f, m->at, &edits);
    }
    if (edits.n == 0) return NULL;
    sort_edits(&edits);
    text to = {NULL, 0, 0};
    size_t at = 0;
    for (size_t i = 0; i < edits.n; i++) {
        const edit *const e = edits.at[i];
        const char *const s = copy_text(f->text + e->begin, e->end - e->begin);
        put_n(&to, f->text + at, e->begin - at);
        put(&to, e->s);
        for (size_t n = lines_in(s), k = lines_in(e->s); k < n; k++)
            put(&to, "\n"); /* lines keep their numbers */
        at = e->end;
    }
    put(&to, f->text + at);
    return text_of(&to);
}
