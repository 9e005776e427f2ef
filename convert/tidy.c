/* SPDX-License-Identifier: MIT */
/* tidy.c - lines of a region that define or assign to a name of its own that is read nowhere
 * are left out; of those that do more than to give a number, that is left. */
#include <string.h>
#include "convert/known.h"
#include "convert/region.h"

static bool is_own(const char *s, const token *t) {
    return t->kind == TOKEN_WORD && t->end - t->begin > 4 &&
           strncmp(s + t->begin, "wgc_", 4) == 0;
}

typedef struct line {
    size_t begin, end; /* of its text; tokens of it: */
    size_t first, last;
    const char *defines; /* NULL: none */
    size_t named;        /* the token that is it */
    bool acts;           /* it does more than to give a number */
    bool gone;
} line;

/* Does it change something: a step, an assignment, or a call that may? */
static bool acts(const char *s, const token *t, bool called) {
    const char *const name = copy_text(s + t->begin, t->end - t->begin);
    if (t->kind == TOKEN_SIGN) {
        if (same(name, "++") || same(name, "--")) return true;
        const bool compares =
            same(name, "==") || same(name, "!=") || same(name, "<=") || same(name, ">=");
        return name[strlen(name) - 1] == '=' && !compares;
    }
    if (t->kind != TOKEN_WORD || !called) return false;
    return !starts_with(name, "wg_") && !starts_with(name, "wgi_") &&
           known_function(name, NULL)->kind != KNOWN_OPERATION;
}

/* What a line of the forms "const double NAME = ..;", "NAME = ..;" is for. */
static void find_name(const char *s, const tokens *t, line *l) {
    size_t k = l->first;
    while (k < l->last &&
           (token_is(s, &t->at[k], "const") || token_is(s, &t->at[k], "double") ||
            token_is(s, &t->at[k], "wg_real")))
        k++;
    if (k + 1 >= l->last || !is_own(s, &t->at[k]) || s[t->at[k + 1].begin] != '=' ||
        t->at[k + 1].end - t->at[k + 1].begin != 1 || s[l->end - 1] != ';')
        return;
    for (size_t i = k + 2; i < l->last; i++)
        l->acts |= acts(s, &t->at[i], i + 1 < l->last && s[t->at[i + 1].begin] == '(');
    l->named = k;
    l->defines = copy_text(s + t->at[k].begin, t->at[k].end - t->at[k].begin);
}

static void count(table *reads, const char *s, const tokens *t, const line *l, long by) {
    for (size_t k = l->first; k < l->last; k++) {
        if (!is_own(s, &t->at[k]) || (l->defines != NULL && k == l->named)) continue;
        const char *const name = copy_text(s + t->at[k].begin, t->at[k].end - t->at[k].begin);
        long *n = table_get(reads, name);
        if (n == NULL) table_set(reads, name, n = arena_get(sizeof *n));
        *n += by;
    }
}

const char *tidied(const char *s) {
    const tokens t = lex(s, strlen(s));
    table *const reads = table_new();
    size_t n = 1;
    for (const char *p = s; *p; p++) n += *p == '\n';
    line *const all = arena_get(n * sizeof *all);
    size_t at = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        line *const l = &all[i];
        l->begin = at;
        l->end = at + strcspn(s + at, "\n");
        l->first = k;
        while (k < t.n && t.at[k].begin < l->end) k++;
        l->last = k;
        find_name(s, &t, l);
        count(reads, s, &t, l, 1);
        at = l->end + (s[l->end] != 0);
    }
    for (bool again = true; again;) {
        again = false;
        for (size_t i = n; i-- > 0;) {
            line *const l = &all[i];
            const long *const uses = l->defines != NULL ? table_get(reads, l->defines) : NULL;
            if (l->gone || l->defines == NULL || (uses != NULL && *uses != 0)) continue;
            l->gone = true;
            if (l->acts) continue;
            again = true;
            count(reads, s, &t, l, -1);
        }
    }
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < n; i++) {
        const line *const l = &all[i];
        if (l->gone && !l->acts) continue;
        if (l->gone) { /* "..;" */
            const size_t from = t.at[l->named + 2].begin;
            put_n(&to, s + l->begin, t.at[l->first].begin - l->begin);
            putf(&to, "(void)(%s);%s", copy_text(s + from, l->end - 1 - from),
                 i + 1 < n ? "\n" : "");
            continue;
        }
        put_n(&to, s + l->begin, l->end - l->begin);
        if (i + 1 < n) put(&to, "\n");
    }
    return text_of(&to);
}
