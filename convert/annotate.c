/* SPDX-License-Identifier: MIT */
/* annotate.c - comments that begin with `wengert:`. They are found among the tokens of a file,
 * before it is parsed (options) or beside the tree (what is passive). */
#include <stdio.h>
#include <string.h>
#include "convert/annotate.h"

static const char mark[] = "wengert:";

/* What a comment says behind the mark; NULL: it has none. */
static const char *said_by(const char *s, const token *t) {
    if (t->kind != TOKEN_COMMENT) return NULL;
    size_t n = t->end - t->begin;
    const char *const c = copy_text(s + t->begin, n);
    size_t at = 2;
    while (at < n && strchr(" \t\n*!", c[at]) != NULL) at++;
    if (!starts_with(c + at, mark)) return NULL;
    at += strlen(mark);
    if (n >= at + 2 && same(c + n - 2, "*/")) n -= 2; /* it may not end */
    return copy_text(c + at, n - at);
}

static const char *whole(const char *name) {
    FILE *const f = fopen(name, "rb");
    if (f == NULL) return "";
    text to = {NULL, 0, 0};
    char some[4096];
    for (size_t n; (n = fread(some, 1, sizeof some, f)) != 0;) put_n(&to, some, n);
    (void)fclose(f);
    return text_of(&to);
}

/* The words of a comment: stars at the beginnings of lines are none. */
static list words_of(const char *s) {
    list words = {NULL, 0, 0};
    while (*(s += strspn(s, " \t\r\n")) != 0) {
        const size_t n = strcspn(s, " \t\r\n");
        if (n != 1 || *s != '*' || words.n == 0) push(&words, copy_text(s, n));
        s += n;
    }
    return words;
}

static bool is_keyword(const char *s) {
    static const char *const all[] = {"function", "with-respect-to", "of",   "to",
                                      "passive",  "accept-integers", "calls"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (same(s, all[i])) return true;
    return false;
}

/* The words from `at` to the next keyword, as one text. */
static const char *value_of(const list *words, size_t *at) {
    text to = {NULL, 0, 0};
    for (; *at < words->n && !is_keyword(words->at[*at]); ++*at)
        putf(&to, "%s%s", to.n != 0 ? " " : "", (const char *)words->at[*at]);
    return text_of(&to);
}

static void read_annotation(annotation *a, const list *words) {
    for (size_t i = 0; i < words->n;) {
        const char *const key = words->at[i++];
        if (!is_keyword(key)) {
            error_at(a->where, "wengert: '%s' is no option here", key);
            return;
        }
        const char *const value = value_of(words, &i);
        if (same(key, "accept-integers")) a->accept_integers = true;
        else if (*value == 0) error_at(a->where, "wengert: '%s' needs a value", key);
        else if (same(key, "function")) a->function = value;
        else if (same(key, "with-respect-to")) a->inputs = value;
        else if (same(key, "of")) a->outputs = value;
        else if (same(key, "to")) a->to = value;
        else if (same(key, "passive")) push(&a->passive, (void *)value);
        else if (strchr(value, '=') == NULL)
            error_at(a->where, "wengert: calls needs PARAMETER=FUNCTION");
        else push(&a->calls, (void *)value);
    }
}

static bool says(const char *said, const char *what) {
    const list words = words_of(said);
    return words.n == 1 && same(words.at[0], what);
}
static bool says_passive(const char *said) { return says(said, "passive"); }

int said_of_loop(const file *f, const token *t) {
    const char *const said = said_by(f->text, t);
    if (said == NULL) return LOOP_PLAIN;
    return says(said, "map") ? LOOP_MAP : says(said, "scan") ? LOOP_SCAN : LOOP_PLAIN;
}

void annotations_in(const char *name, list *to) {
    const char *const s = whole(name);
    if (strstr(s, mark) == NULL) return;
    const tokens t = lex(s, strlen(s));
    const file f = {.name = name, .text = s, .n = strlen(s)};
    for (size_t i = 0; i < t.n; i++) {
        const char *const said = said_by(s, &t.at[i]);
        if (said == NULL || says_passive(said) || says(said, "map") || says(said, "scan")) continue;
        annotation *const a = arena_get(sizeof *a);
        a->where = place_in(&f, t.at[i].begin);
        const list words = words_of(said);
        read_annotation(a, &words);
        push(to, a);
    }
}

/* ---- what is passive --------------------------------------------------------------------- */

static void add_all(const list *from, const file *f, list *to) {
    for (size_t i = 0; i < from->n; i++) {
        decl *const d = from->at[i];
        if (d->file == f) push(to, d);
    }
}

/* All declarations of a file. */
static list declarations_of(const program *p, const file *f) {
    list all = {NULL, 0, 0};
    add_all(&f->declarations, f, &all);
    add_all(&p->globals, f, &all);
    for (size_t i = 0; i < p->functions.n; i++) {
        const decl *const d = p->functions.at[i];
        add_all(&d->parameters, f, &all);
        add_all(&d->locals, f, &all);
    }
    for (size_t i = 0; i < p->records.n; i++)
        add_all(&((const record *)p->records.at[i])->fields, f, &all);
    return all;
}

static void make_passive(analysis *a, decl *d) {
    if (d->kind == DECL_FUNCTION) {
        void *const by_usr = table_get(a->program->by_usr, d->usr);
        if (!list_has(&a->accepted, d)) push(&a->accepted, d);
        if (by_usr != NULL && !list_has(&a->accepted, by_usr)) push(&a->accepted, by_usr);
    } else if (d->type != NULL && leaf_type(d->type)->kind == TYPE_RECORD)
        error_at(place_in(d->file, d->at),
                 "'%s' is a structure, which is not passive as a whole: say it of its fields",
                 d->name);
    else d->passive = true;
}

/* Numbers in a union with integers: their bits are read and written, as when they become
 * integers. */
static void accept_bits(const analysis *a) {
    for (size_t i = 0; i < a->program->records.n; i++) {
        const record *const r = a->program->records.at[i];
        if (!r->is_union || !record_has(r, TYPE_WHOLE)) continue;
        for (size_t k = 0; k < r->fields.n; k++) {
            decl *const d = r->fields.at[k];
            if (leaf_type(d->type)->kind == TYPE_REAL) d->passive = true;
        }
    }
}

void mark_passive(analysis *a) {
    if (a->accept_integers) accept_bits(a);
    for (size_t i = 0; i < a->program->files.n; i++) {
        const file *const f = a->program->files.at[i];
        list all = {NULL, 0, 0};
        for (size_t k = 0; k < f->tokens.n; k++) {
            const token *const t = &f->tokens.at[k];
            const char *const said = said_by(f->text, t);
            if (said == NULL || !says_passive(said)) continue;
            if (all.n == 0) all = declarations_of(a->program, f);
            const size_t before = token_before(&f->tokens, t->begin),
                         behind = token_from(&f->tokens, t->end);
            bool found = false;
            for (size_t j = 0; j < all.n && !found; j++) {
                decl *const d = all.at[j];
                if (before == f->tokens.n || d->at != f->tokens.at[before].begin) continue;
                make_passive(a, d);
                found = true;
            }
            const bool named = found;
            for (size_t j = 0; j < all.n && !named; j++) {
                decl *const d = all.at[j];
                const size_t begin = d->group != NULL ? d->group->begin : d->begin;
                if (behind == f->tokens.n || begin != f->tokens.at[behind].begin) continue;
                make_passive(a, d);
                found = true;
            }
            if (!found)
                error_at(
                    place_in(f, t->begin),
                    "wengert: passive stands before a declaration, or behind the name in one");
        }
    }
}
