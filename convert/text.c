/* SPDX-License-Identifier: MIT */
/* text.c - memory, texts, lists and messages. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "convert/text.h"

enum { CHUNK = 1 << 18 };
typedef struct chunk {
    struct chunk *before;
    size_t used, size;
} chunk;
static chunk *last;

void *arena_get(size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (last == NULL || last->size - last->used < bytes) {
        const size_t size = (bytes > CHUNK ? bytes : CHUNK) + sizeof(chunk) + 16;
        chunk *const c = calloc(1, size);
        if (c == NULL) {
            fputs("wengert-convert: out of memory\n", stderr);
            exit(3);
        }
        c->before = last;
        c->used = (sizeof(chunk) + 15) / 16 * 16;
        c->size = size;
        last = c;
    }
    void *const p = (char *)last + last->used;
    last->used += bytes;
    return p;
}

void arena_free_all(void) {
    while (last != NULL) {
        chunk *const before = last->before;
        free(last);
        last = before;
    }
}

char *copy_text(const char *s, size_t n) {
    char *const c = arena_get(n + 1);
    if (n != 0) memcpy(c, s, n);
    return c;
}

static char *vformat(const char *how, va_list args) {
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, how, args);
    char *const s = arena_get((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, how, again);
    va_end(again);
    return s;
}

char *format(const char *how, ...) {
    va_list args;
    va_start(args, how);
    char *const s = vformat(how, args);
    va_end(args);
    return s;
}

void put_n(text *to, const char *s, size_t n) {
    if (to->n + n + 1 > to->room) {
        const size_t room = 2 * (to->n + n + 1) + 32;
        char *const more = arena_get(room);
        if (to->n != 0) memcpy(more, to->s, to->n);
        to->s = more;
        to->room = room;
    }
    if (n != 0) memcpy(to->s + to->n, s, n);
    to->n += n;
    to->s[to->n] = 0;
}
void put(text *to, const char *s) { put_n(to, s, strlen(s)); }
void putf(text *to, const char *how, ...) {
    va_list args;
    va_start(args, how);
    put(to, vformat(how, args));
    va_end(args);
}
const char *text_of(const text *t) { return t->s != NULL ? t->s : ""; }

void push(list *to, void *p) {
    if (to->n == to->room) {
        const size_t room = 2 * to->room + 8;
        void **const more = arena_get(room * sizeof *more);
        if (to->n != 0) memcpy(more, to->at, to->n * sizeof *more);
        to->at = more;
        to->room = room;
    }
    to->at[to->n++] = p;
}
bool list_has(const list *l, const void *p) {
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i] == p) return true;
    return false;
}

struct table {
    struct entry {
        const char *key;
        void *value;
    } * at;
    size_t n, room; /* a power of two, or 0 */
};
table *table_new(void) { return arena_get(sizeof(table)); }

static size_t place(const table *t, const char *key) {
    uint64_t h = 14695981039346656037u; /* Fowler, Noll, Vo */
    for (const char *c = key; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
    size_t i = (size_t)(h ^ h >> 32) & (t->room - 1);
    while (t->at[i].key != NULL && strcmp(t->at[i].key, key) != 0) i = (i + 1) & (t->room - 1);
    return i;
}
void *table_get(const table *t, const char *key) {
    return t->room == 0 ? NULL : t->at[place(t, key)].value;
}
void table_set(table *t, const char *key, void *value) {
    if (2 * (t->n + 1) > t->room) {
        const table before = *t;
        t->room = before.room == 0 ? 64 : 2 * before.room;
        t->at = arena_get(t->room * sizeof *t->at);
        t->n = 0;
        for (size_t i = 0; i < before.room; i++)
            if (before.at[i].key != NULL) table_set(t, before.at[i].key, before.at[i].value);
    }
    struct entry *const e = &t->at[place(t, key)];
    if (e->key == NULL) {
        e->key = copy_text(key, strlen(key));
        t->n++;
    }
    e->value = value;
}

bool starts_with(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}
bool same(const char *a, const char *b) { return strcmp(a, b) == 0; }

static size_t errors, errors_before; /* all; before messages were held */
static table *said, *said_before;
static text held;
static bool holding;
static void say(const char *where, const char *kind, const char *what) {
    char *const line = format("%s: %s: %s", where, kind, what);
    if (said == NULL) said = table_new();
    if (table_get(said, line) != NULL) return;
    table_set(said, line, line);
    if (holding) putf(&held, "%s\n", line);
    else fprintf(stderr, "%s\n", line);
}
void error_at(const char *where, const char *how, ...) {
    va_list args;
    va_start(args, how);
    say(where, "error", vformat(how, args));
    va_end(args);
    errors++;
}
void warn_at(const char *where, const char *how, ...) {
    va_list args;
    va_start(args, how);
    say(where, "warning", vformat(how, args));
    va_end(args);
}
size_t errors_said(void) { return errors; }

void hold_messages(void) {
    holding = true;
    errors_before = errors, said_before = said;
    said = NULL, held = (text){NULL, 0, 0};
}
void release_messages(bool say_them) {
    holding = false;
    if (say_them) fputs(text_of(&held), stderr);
    else errors = errors_before, said = said_before;
}
