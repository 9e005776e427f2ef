/* SPDX-License-Identifier: MIT */
/* specifiers.c - types change in their specifiers, token by token: `double` becomes wg_real, a
 * structure S that holds variables S_wg; declarators stay. */
#include <string.h>
#include "convert/specifiers.h"

static bool in_set(const char *s, const char *const *set, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (same(s, set[i])) return true;
    return false;
}
#define IN(s, ...)                                                                             \
    in_set(s, (const char *const[]){__VA_ARGS__},                                              \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static bool is_qualifier(const char *s) {
    return IN(s, "const", "volatile", "static", "extern", "register", "inline", "__inline",
              "__inline__", "restrict", "__restrict", "__restrict__", "auto", "typedef",
              "_Thread_local", "__thread", "_Noreturn", "__extension__", "__const");
}
static bool is_builtin(const char *s) {
    return IN(s, "void", "char", "short", "int", "long", "signed", "unsigned", "float",
              "double", "_Bool", "_Complex", "__signed__", "__float128", "__auto_type");
}
static bool is_typeof(const char *s) { return IN(s, "typeof", "__typeof", "__typeof__"); }
static bool has_parentheses(const char *s) {
    return is_typeof(s) ||
           IN(s, "__attribute__", "__attribute", "_Alignas", "__declspec", "__asm__");
}

const char *word_at(const file *f, size_t i) {
    const token *const t = &f->tokens.at[i];
    return copy_text(f->text + t->begin, t->end - t->begin);
}
bool sign_is(const file *f, size_t i, char s) {
    return i < f->tokens.n && f->tokens.at[i].kind == TOKEN_SIGN &&
           f->text[f->tokens.at[i].begin] == s;
}
size_t after_group(const file *f, size_t i) {
    size_t depth = 0;
    for (; i < f->tokens.n; i++) {
        if (sign_is(f, i, '(') || sign_is(f, i, '{') || sign_is(f, i, '[')) depth++;
        if (sign_is(f, i, ')') || sign_is(f, i, '}') || sign_is(f, i, ']'))
            if (--depth == 0) return i + 1;
    }
    return i;
}
size_t next_token(const file *f, size_t i) {
    return i + 1 < f->tokens.n ? token_from(&f->tokens, f->tokens.at[i].end) : f->tokens.n;
}

static decl *typedef_named(const writer *w, const char *name) {
    decl *found = NULL;
    for (size_t i = 0; i < w->a->program->typedefs.n; i++) {
        decl *const d = w->a->program->typedefs.at[i];
        if (!same(d->name, name)) continue;
        if (d->owner != NULL && w->v != NULL && d->owner == w->v->function) return d;
        if (d->owner == NULL) found = d;
    }
    return found;
}
static bool tag_holds(const writer *w, const char *tag) {
    for (size_t i = 0; i < w->a->program->records.n; i++) {
        const record *const r = w->a->program->records.at[i];
        if (r->tagged && same(r->name, tag) && record_holds(w->a, r)) return true;
    }
    return false;
}

/* Has a type variables in it, where all numbers in it are? */
static bool has_numbers(const writer *w, const type *t) {
    t = leaf_type(t);
    if (t->kind == TYPE_RECORD) return record_holds(w->a, t->record);
    if (t->kind == TYPE_FUNCTION) {
        if (has_numbers(w, t->of)) return true;
        for (size_t i = 0; i < t->parameters; i++)
            if (has_numbers(w, t->parameter[i])) return true;
        return false;
    }
    return t->kind == TYPE_REAL;
}

bool names_numbers(const writer *w, const decl *d) {
    return d->type->kind != TYPE_REAL && has_numbers(w, d->type);
}

static const char *typedef_name(writer *w, const char *name) {
    decl *const d = typedef_named(w, name);
    if (d == NULL) {
        /* a macro of a type's name, or a type of the system as double_t */
        const bool whole =
            IN(name, "size_t", "FILE", "ptrdiff_t") || strstr(name, "int") != NULL;
        return whole ? name : "wg_real";
    }
    if (d->type->kind == TYPE_REAL) return "wg_real";
    if (!has_numbers(w, d->type)) return name;
    if (!list_has(&w->typedefs, d)) push(&w->typedefs, d);
    return format("%s_wg", name);
}

void add_part(parts *to, size_t begin, size_t end, const char *s) {
    if (to->n == to->room) {
        part *const more = arena_get((to->room = 2 * to->room + 8) * sizeof *more);
        if (to->n != 0) memcpy(more, to->at, to->n * sizeof *more);
        to->at = more;
    }
    size_t i = to->n++;
    for (; i > 0 && to->at[i - 1].begin > begin; i--) to->at[i] = to->at[i - 1];
    to->at[i] = (part){begin, end, s};
}

/* Is the word at token i one that only decorates a type that follows? */
static bool is_decoration(const writer *w, const file *f, size_t i, size_t end) {
    const size_t next = next_token(f, i);
    if (next >= f->tokens.n || f->tokens.at[next].begin >= end ||
        f->tokens.at[next].kind != TOKEN_WORD)
        return false;
    const char *const s = word_at(f, next);
    return typedef_named(w, word_at(f, i)) == NULL &&
           (is_builtin(s) || is_qualifier(s) || IN(s, "struct", "union") ||
            typedef_named(w, s) != NULL);
}

/* The specifiers from `begin` on: what of them is replaced; the result is where they end. */
size_t scan_specifiers(writer *w, const file *f, size_t begin, size_t end, parts *to) {
    size_t i = token_from(&f->tokens, begin), last = begin;
    bool typed = false, real = false;
    parts longs = {NULL, 0, 0};
    while (i < f->tokens.n && f->tokens.at[i].begin < end &&
           f->tokens.at[i].kind == TOKEN_WORD) {
        const token *const t = &f->tokens.at[i];
        const char *const s = word_at(f, i);
        if (has_parentheses(s)) {
            typed |= is_typeof(s);
            i = after_group(f, next_token(f, i)) - 1;
        } else if (is_qualifier(s)) {
        } else if (IN(s, "struct", "union", "enum")) {
            size_t k = next_token(f, i);
            bool holds = false;
            if (f->tokens.at[k].kind == TOKEN_WORD) {
                const char *const tag = word_at(f, k);
                holds = !same(s, "enum") && tag_holds(w, tag);
                if (holds)
                    add_part(to, f->tokens.at[k].begin, f->tokens.at[k].end,
                             format("%s_wg", tag));
                i = k;
                k = next_token(f, i);
            }
            if (holds && sign_is(f, k, '{')) /* its fields stand where it is defined */
                add_part(to, f->tokens.at[i].end, f->tokens.at[after_group(f, k) - 1].end, "");
            if (sign_is(f, k, '{')) i = after_group(f, k) - 1;
            typed = true;
        } else if (is_builtin(s)) {
            if (same(s, "double") || same(s, "float")) {
                add_part(to, t->begin, t->end, "wg_real");
                real = true;
            }
            if (same(s, "long")) {
                const size_t next = next_token(f, i);
                add_part(&longs, t->begin,
                         next < f->tokens.n ? f->tokens.at[next].begin : t->end, "");
            }
            typed = true;
        } else if (typed) break;
        else if (!is_decoration(w, f, i, end)) {
            const char *const name = typedef_name(w, s);
            if (!same(name, s)) add_part(to, t->begin, t->end, name);
            typed = true;
        }
        last = f->tokens.at[i].end;
        i = next_token(f, i);
    }
    for (size_t k = 0; real && k < longs.n; k++)
        add_part(to, longs.at[k].begin, longs.at[k].end, "");
    return last;
}

size_t specifiers_end(const file *f, size_t begin, size_t end) {
    /* as above, without a question to the program: for what is not changed */
    size_t i = token_from(&f->tokens, begin), last = begin;
    bool typed = false;
    while (i < f->tokens.n && f->tokens.at[i].begin < end &&
           f->tokens.at[i].kind == TOKEN_WORD) {
        const char *const s = word_at(f, i);
        if (has_parentheses(s)) {
            typed |= is_typeof(s);
            i = after_group(f, next_token(f, i)) - 1;
        } else if (IN(s, "struct", "union", "enum")) {
            size_t k = next_token(f, i);
            if (f->tokens.at[k].kind == TOKEN_WORD) i = k, k = next_token(f, i);
            if (sign_is(f, k, '{')) i = after_group(f, k) - 1;
            typed = true;
        } else if (is_builtin(s)) typed = true;
        else if (!is_qualifier(s)) {
            if (typed) break;
            typed = true;
        }
        last = f->tokens.at[i].end;
        i = next_token(f, i);
    }
    return last;
}

/* The parameters of a pointer to a function, in a declarator: (*f)(double x) */
void scan_function(writer *w, const file *f, size_t begin, size_t end, parts *to) {
    size_t i = token_from(&f->tokens, begin);
    for (; i < f->tokens.n && f->tokens.at[i].begin < end; i = next_token(f, i)) {
        const size_t open = next_token(f, i);
        const bool pointer = sign_is(f, i, ')'), named = f->tokens.at[i].kind == TOKEN_WORD;
        if (!(pointer || named) || !sign_is(f, open, '(') || f->tokens.at[open].begin >= end)
            continue;
        const size_t close = after_group(f, open) - 1;
        size_t first = next_token(f, open);
        const bool none = first == close ||
                          (next_token(f, first) == close && same(word_at(f, first), "void"));
        if (none) {
            add_part(to, f->tokens.at[open].end, f->tokens.at[close].begin, "wg_tape *");
            return;
        }
        add_part(to, f->tokens.at[open].end, f->tokens.at[open].end, "wg_tape *, ");
        while (first < close) {
            size_t last = first;
            while (last < close && !sign_is(f, last, ','))
                last = sign_is(f, last, '(') || sign_is(f, last, '[')
                           ? token_from(&f->tokens, f->tokens.at[after_group(f, last) - 1].end)
                           : next_token(f, last);
            const size_t stop = f->tokens.at[last].begin;
            const size_t rest = scan_specifiers(w, f, f->tokens.at[first].begin, stop, to);
            scan_function(w, f, rest, stop, to);
            first = next_token(f, last);
        }
        return;
    }
}

const char *retyped_specifiers(writer *w, const file *f, size_t begin, size_t end,
                               size_t *rest) {
    parts p = {NULL, 0, 0};
    *rest = scan_specifiers(w, f, begin, end, &p);
    return replaced(f, begin, *rest, p.n, p.at);
}

const char *retyped(writer *w, const file *f, size_t begin, size_t end) {
    parts p = {NULL, 0, 0};
    const size_t rest = scan_specifiers(w, f, begin, end, &p);
    scan_function(w, f, rest, end, &p);
    return replaced(f, begin, end, p.n, p.at);
}
