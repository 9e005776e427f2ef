/* SPDX-License-Identifier: MIT */
/* words.h - words of a text of C. Internal. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_WORDS_H
#define WGI_TAPE_FUNCTION_GRAPH_WORDS_H

#include <stddef.h>
#include <string.h>

static inline int wgi_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline int wgi_in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || wgi_is_digit(c) || c == '_';
}

/* Is it one word, of characters that any text can hold and drawings can quote? */
static inline int wgi_is_word(const char *name, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '"' || name[i] == '\\') return 0;
    return bytes != 0;
}
/* The next word from p on that is no number; *length is 0 at the end. */
static inline const char *wgi_next_word(const char *p, size_t *length) {
    *length = 0;
    while (*p != 0) {
        if (wgi_is_digit(*p) || (*p == '.' && wgi_is_digit(p[1]))) { /* with its suffix */
            while (wgi_in_word(*p) || *p == '.' ||
                   ((*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E')))
                p++;
            continue;
        }
        if (wgi_in_word(*p)) {
            while (wgi_in_word(p[*length])) ++*length;
            return p;
        }
        p++;
    }
    return p;
}

/* Through all words of a text: for each p of so many letters. */
#define WGI_EACH_WORD(p, length, text)                                                         \
    for (const char *p = wgi_next_word(text, &(length)); (length) != 0;                        \
         p = wgi_next_word(p + (length), &(length)))

static inline int wgi_word_is(const char *p, size_t length, const char *name) {
    return strncmp(p, name, length) == 0 && name[length] == 0;
}
/* Is it a name of <math.h> that texts may call with doubles: sin, fma, isnan? (recipe.c) */
int wgi_is_function_of_c(const char *p, size_t length);
static inline int wgi_word_begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

#endif
