/* SPDX-License-Identifier: MIT */
/* The tokens of a C text, with comments and directives among them. */
#ifndef CONVERT_LEX_H
#define CONVERT_LEX_H

#include "convert/text.h"

typedef enum token_kind {
    TOKEN_WORD,   /* identifiers and keywords */
    TOKEN_NUMBER, /* a preprocessing number */
    TOKEN_STRING, /* also characters, with prefix */
    TOKEN_SIGN,   /* a punctuator, the longest possible */
    TOKEN_COMMENT,
    TOKEN_DIRECTIVE /* from # to the end of its line, with what was continued */
} token_kind;

typedef struct token {
    token_kind kind;
    size_t begin, end; /* offsets in the text */
} token;

typedef struct tokens {
    token *at;
    size_t n;
} tokens;

tokens lex(const char *s, size_t n);

/* The first token that is neither comment nor directive and begins at `offset` or behind it; n
 * if there is none. And the last one that ends at `offset` or before; n if there is none. */
size_t token_from(const tokens *t, size_t offset);
size_t token_before(const tokens *t, size_t offset);
bool token_is(const char *s, const token *t, const char *what);

#endif
