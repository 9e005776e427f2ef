/* SPDX-License-Identifier: MIT */
/* selection.c - what the user names as inputs and outputs. */
#include <string.h>
#include "convert/cells.h"

static const char *trimmed(const char *s, size_t n) {
    while (n != 0 && (*s == ' ' || *s == '\n' || *s == '\t')) s++, n--;
    while (n != 0 && (s[n - 1] == ' ' || s[n - 1] == '\n' || s[n - 1] == '\t')) n--;
    return copy_text(s, n);
}

static void add_range(selection *c, const char *from, const char *end) {
    if (c->ranges < MOST_RANGES) c->from[c->ranges] = from, c->end[c->ranges] = end;
    c->ranges++;
}

/* The text between brackets, a[..], in ranges and, if it is one index, in the path; the names
 * alone in c->names. In the path, @ stands for the number of the range that follows it. */
static bool read_ranges(selection *c, const char *s) {
    text path = {NULL, 0, 0}, names = {NULL, 0, 0};
    for (const char *p = s; *p;) {
        if (*p != '[') {
            put_n(&path, p, 1), put_n(&names, p, 1);
            p++;
            continue;
        }
        const char *const close = strchr(p, ']'), *const colon = strchr(p, ':');
        if (close == NULL) {
            error_at("(options)", "'%s': a ] is missing", c->text);
            return false;
        }
        if (colon == NULL || colon > close) put_n(&path, p, (size_t)(close - p) + 1);
        else {
            const char *const from = trimmed(p + 1, (size_t)(colon - p - 1));
            putf(&path, "[@%zu]", c->ranges);
            add_range(c, *from ? from : "0", trimmed(colon + 1, (size_t)(close - colon - 1)));
        }
        c->brackets++;
        p = close + 1;
    }
    if (c->ranges > MOST_RANGES) {
        error_at("(options)", "'%s': at most %d ranges", c->text, MOST_RANGES);
        return false;
    }
    c->path = text_of(&path), c->names = text_of(&names);
    return true;
}

/* Also one of a structure without a name in it. */
static decl *field_named(const record *r, const char *name) {
    for (size_t i = 0; i < r->fields.n; i++) {
        decl *const f = r->fields.at[i];
        if (same(f->name, name)) return f;
        const bool unnamed = *f->name == 0 && f->type->kind == TYPE_RECORD;
        decl *const inner = unnamed ? field_named(f->type->record, name) : NULL;
        if (inner != NULL) return inner;
    }
    return NULL;
}

/* A pointer that a selection goes through, and that callbacks have no copy for: in a global, in
 * an array of pointers, in a field of what is a field already. NULL: there is none. */
static const decl *not_copied(const selection *c) {
    const decl *const p = c->root;
    if (p != NULL && p->is_global && p->type->kind == TYPE_POINTER) return p;
    for (size_t i = 0; i < c->fields.n; i++) {
        const decl *const d = c->fields.at[i];
        const type *t = d->type;
        while (t->kind == TYPE_ARRAY) t = t->of;
        if (t->kind == TYPE_POINTER &&
            (i != 0 || p == NULL || p->is_global || d->type->kind != TYPE_POINTER))
            return d;
    }
    return NULL;
}

static bool add_selection(analysis *a, const decl *f, const char *s, list *to) {
    const char *const where = "(options)";
    selection *const c = arena_get(sizeof *c);
    c->text = s;
    const bool star = *s == '*';
    if (star) s = trimmed(s + 1, strlen(s + 1));
    if (!read_ranges(c, s)) return false;
    if (star && c->brackets++ == 0) {
        c->path = format("%s[@0]", c->path);
        add_range(c, "0", "1");
    }
    s = c->names;
    const tokens t = lex(s, strlen(s));
    const type *at = NULL;
    for (size_t i = 0; i < t.n; i++) {
        const char *const word = copy_text(s + t.at[i].begin, t.at[i].end - t.at[i].begin);
        if (t.at[i].kind != TOKEN_WORD) {
            if (same(word, ".") || same(word, "->")) continue;
            error_at(where, "'%s': '%s' is not understood", c->text, word);
            return false;
        }
        decl *found = NULL;
        if (at == NULL && same(word, "return")) {
            at = f->type->of;
            if (at->kind == TYPE_VOID) {
                error_at(where, "%s returns nothing", f->name);
                return false;
            }
            continue;
        }
        if (at == NULL) {
            for (size_t k = 0; k < f->parameters.n; k++) {
                decl *const p = f->parameters.at[k];
                if (same(p->name, word)) found = p;
            }
            for (size_t k = 0; k < a->program->globals.n && found == NULL; k++) {
                decl *const g = a->program->globals.at[k];
                if (same(g->name, word)) found = g;
            }
            if (found == NULL) {
                error_at(
                    where,
                    "'%s': %s has no parameter, and the files no global variable, of that name",
                    word, f->name);
                return false;
            }
            c->root = found;
        } else {
            while (at->kind == TYPE_POINTER || at->kind == TYPE_ARRAY) at = at->of;
            if (at->kind == TYPE_RECORD) found = field_named(at->record, word);
            if (found != NULL && found->record != at->record) {
                error_at(where, "'%s': '%s' is in a structure without a name: name that",
                         c->text, word);
                return false;
            }
            if (found == NULL) {
                error_at(where, "'%s': %s has no field '%s'", c->text, at->spelling, word);
                return false;
            }
            push(&c->fields, found);
        }
        at = found->type;
    }
    if (at == NULL || leaf_type(at)->kind != TYPE_REAL) {
        error_at(where, "'%s' is %s: name numbers, of a structure its fields", c->text,
                 at != NULL ? at->spelling : "nothing");
        return false;
    }
    const decl *const through = not_copied(c);
    if (through != NULL) {
        error_at(where,
                 "'%s' leads through '%s', a pointer that is not copied: make it a parameter",
                 c->text, through->name);
        return false;
    }
    size_t brackets = 0; /* behind the last name */
    for (const char *p = c->path; *p; p++)
        brackets = *p == '.' || *p == '>' ? 0 : brackets + (*p == '[');
    if (star && c->brackets > 1) brackets++;
    for (size_t i = 0; i < brackets && (at->kind == TYPE_ARRAY || at->kind == TYPE_POINTER);
         i++)
        at = at->of;
    const bool flat = at->kind == TYPE_ARRAY && c->ranges == 1 && brackets != 0;
    if (c->ranges != 0 && at->kind != TYPE_REAL && !flat) {
        error_at(where, "'%s' is %s for each element: name its numbers, as in [0:3]", c->text,
                 at->spelling);
        return false;
    }
    c->type = at;
    push(to, c);
    return true;
}

bool parse_selections(analysis *a, const decl *f, const char *s, list *to) {
    bool good = true;
    size_t depth = 0;
    const char *begin = s;
    for (const char *p = s;; p++) {
        if (*p == '{' || *p == '[') depth++;
        if (*p == '}' || *p == ']') depth--;
        if (*p != 0 && !(*p == ',' && depth == 0)) continue;
        const char *const item = trimmed(begin, (size_t)(p - begin));
        const char *const open = strchr(item, '{');
        if (*item && open == NULL) good &= add_selection(a, f, item, to);
        else if (*item) {
            const char *const close = strchr(open, '}');
            if (close == NULL) {
                error_at("(options)", "'%s': a } is missing", item);
                return false;
            }
            const char *const before = copy_text(item, (size_t)(open - item));
            const size_t first = to->n;
            for (const char *q = open + 1, *r = q; r <= close; r++)
                if (*r == ',' || r == close) {
                    const char *const name = trimmed(q, (size_t)(r - q));
                    if (*name)
                        good &=
                            add_selection(a, f, format("%s%s%s", before, name, close + 1), to);
                    q = r + 1;
                }
            for (size_t i = first + 1; i < to->n; i++) {
                selection *const c = to->at[i];
                c->follows = strchr(before, ':') != NULL && c->type->kind == TYPE_REAL;
            }
        }
        if (*p == 0) break;
        begin = p + 1;
    }
    return good;
}

/* The numbers that a selection names. */
cell *selected(analysis *a, version *v, const selection *s) {
    cell *c = s->root == NULL ? v->result : decl_cell(a, v, s->root);
    for (size_t i = 0; i < s->fields.n; i++) c = decl_cell(a, v, s->fields.at[i]);
    c = real_cell(c);
    while (c->type != NULL && c->type->kind == TYPE_POINTER) c = target(a, c);
    return real_cell(c);
}
