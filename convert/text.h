/* SPDX-License-Identifier: MIT */
/* Memory, texts, lists and messages of the converter. All memory is of one arena, which is
 * given back at the end; who runs out of it ends the program with a message. */
#ifndef CONVERT_TEXT_H
#define CONVERT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory, and texts in it. */
void *arena_get(size_t bytes);
void arena_free_all(void);
char *copy_text(const char *s, size_t n);
__attribute__((format(printf, 1, 2))) char *format(const char *how, ...);

/* A text that grows. */
typedef struct text {
    char *s; /* ends with 0; never NULL once something was put */
    size_t n, room;
} text;
void put(text *to, const char *s);
void put_n(text *to, const char *s, size_t n);
__attribute__((format(printf, 2, 3))) void putf(text *to, const char *how, ...);
const char *text_of(const text *t);

/* A list of pointers. */
typedef struct list {
    void **at;
    size_t n, room;
} list;
void push(list *to, void *p);
bool list_has(const list *l, const void *p);

/* A table of pointers by text. */
typedef struct table table;
table *table_new(void);
void *table_get(const table *t, const char *key);
void table_set(table *t, const char *key, void *value);

bool starts_with(const char *s, const char *with);
bool same(const char *a, const char *b);

/* Messages, as compilers write them: `where` is file:line. An error is counted, and said
 * once. */
__attribute__((format(printf, 2, 3))) void error_at(const char *where, const char *how, ...);
__attribute__((format(printf, 2, 3))) void warn_at(const char *where, const char *how, ...);
size_t errors_said(void);
/* From hold_messages on they are kept back, until they are said after all, or dropped with
 * the errors that they were. */
void hold_messages(void);
void release_messages(bool say_them);

#endif
