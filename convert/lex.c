/* SPDX-License-Identifier: MIT */
/* lex.c - the tokens of a C text. */
#include <ctype.h>
#include <string.h>
#include "convert/lex.h"

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* The end of a line, past those that are continued by a backslash. */
static size_t line_end(const char *s, size_t n, size_t i) {
    while (i < n && s[i] != '\n') {
        if (s[i] == '\\' && i + 1 < n && s[i + 1] == '\n') i++;
        else if (s[i] == '/' && i + 1 < n && s[i + 1] == '*') {
            i += 2;
            while (i + 1 < n && !(s[i] == '*' && s[i + 1] == '/')) i++;
            i++;
        } else if (s[i] == '/' && i + 1 < n && s[i + 1] == '/') {
            while (i < n && s[i] != '\n') i++;
            return i;
        }
        i++;
    }
    return i < n ? i : n;
}

static size_t quoted_end(const char *s, size_t n, size_t i) {
    const char q = s[i++];
    while (i < n && s[i] != q && s[i] != '\n') i += s[i] == '\\' && i + 1 < n ? 2 : 1;
    return i < n ? i + 1 : n;
}

static size_t sign_end(const char *s, size_t n, size_t i) {
    static const char *const long_ones[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                            "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                            "*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};
    for (size_t k = 0; k < sizeof long_ones / sizeof *long_ones; k++) {
        const size_t m = strlen(long_ones[k]);
        if (i + m <= n && memcmp(s + i, long_ones[k], m) == 0) return i + m;
    }
    return i + 1;
}

tokens lex(const char *s, size_t n) {
    tokens t = {NULL, 0};
    size_t room = 0;
    bool line_begins = true;
    for (size_t i = 0; i < n;) {
        token k = {TOKEN_SIGN, i, i};
        if (s[i] == '\n') {
            line_begins = true, i++;
            continue;
        }
        if (isspace((unsigned char)s[i]) || (s[i] == '\\' && i + 1 < n && s[i + 1] == '\n')) {
            i += s[i] == '\\' ? 2 : 1;
            continue;
        }
        if (s[i] == '/' && i + 1 < n && s[i + 1] == '*') {
            k.kind = TOKEN_COMMENT;
            i += 2;
            while (i + 1 < n && !(s[i] == '*' && s[i + 1] == '/')) i++;
            i = i + 2 < n ? i + 2 : n;
        } else if (s[i] == '/' && i + 1 < n && s[i + 1] == '/') {
            k.kind = TOKEN_COMMENT;
            i = line_end(s, n, i);
        } else if (s[i] == '#' && line_begins) {
            k.kind = TOKEN_DIRECTIVE;
            i = line_end(s, n, i);
        } else if (isdigit((unsigned char)s[i]) ||
                   (s[i] == '.' && i + 1 < n && isdigit((unsigned char)s[i + 1]))) {
            k.kind = TOKEN_NUMBER;
            while (i < n && (in_word(s[i]) || s[i] == '.' ||
                             ((s[i] == '+' || s[i] == '-') && strchr("eEpP", s[i - 1]))))
                i++;
        } else if (in_word(s[i])) {
            k.kind = TOKEN_WORD;
            while (i < n && in_word(s[i])) i++;
            if (i < n && (s[i] == '"' || s[i] == '\'') && i - k.begin <= 2) {
                k.kind = TOKEN_STRING;
                i = quoted_end(s, n, i);
            }
        } else if (s[i] == '"' || s[i] == '\'') {
            k.kind = TOKEN_STRING;
            i = quoted_end(s, n, i);
        } else i = sign_end(s, n, i);
        k.end = i;
        if (k.kind != TOKEN_COMMENT) line_begins = false;
        if (t.n == room) {
            token *const more = arena_get((room = 2 * room + 256) * sizeof *more);
            if (t.n != 0) memcpy(more, t.at, t.n * sizeof *more);
            t.at = more;
        }
        t.at[t.n++] = k;
    }
    return t;
}

static bool counts(const token *t) {
    return t->kind != TOKEN_COMMENT && t->kind != TOKEN_DIRECTIVE;
}

size_t token_from(const tokens *t, size_t offset) {
    size_t low = 0, high = t->n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (t->at[mid].begin < offset) low = mid + 1;
        else high = mid;
    }
    while (low < t->n && !counts(&t->at[low])) low++;
    return low;
}

size_t token_before(const tokens *t, size_t offset) {
    size_t low = 0, high = t->n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (t->at[mid].end <= offset) low = mid + 1;
        else high = mid;
    }
    while (low > 0)
        if (counts(&t->at[--low])) return low;
    return t->n;
}

bool token_is(const char *s, const token *t, const char *what) {
    const size_t n = strlen(what);
    return t->end - t->begin == n && memcmp(s + t->begin, what, n) == 0;
}
