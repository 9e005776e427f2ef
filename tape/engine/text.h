/* SPDX-License-Identifier: MIT */
/* text.h - text on its way to a wg_write, in pieces. Internal. */
#ifndef WGI_TAPE_ENGINE_TEXT_H
#define WGI_TAPE_ENGINE_TEXT_H

#include "tape.h"

#include <stdarg.h>

/* FNV-1a of bytes, and of what went before. */
#define WGI_CHECKSUM_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t wgi_checksum(uint64_t h, const void *data, size_t bytes) {
    const unsigned char *const p = data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

typedef struct wgi_text {
    wg_write *write; /* NULL: bytes are only counted */
    void *ctx;
    wgi_core *of; /* a tape that what is written stands on, closed while `write` has the word;
                   * or NULL */
    int failed;
    int sums; /* is `sum` wanted, a checksum of all pieces that are on their way? */
    uint64_t sum;
    size_t used, total; /* total: bytes so far */
    char piece[1024];
} wgi_text;

void wgi_text_open(wgi_text *o, const wgi_core *of, wg_write *write, void *ctx);
wg_status wgi_text_close(wgi_text *o);
/* Sends what has been put on its way. */
void wgi_text_flush(wgi_text *o);
void wgi_text_bytes(wgi_text *o, const char *s, size_t bytes);
void wgi_text_put(wgi_text *o, const char *s);
/* A whole number of so many bytes, little-endian. */
void wgi_text_word(wgi_text *o, unsigned bytes, uint64_t x);
/* For people, and inside the quotation marks of Graphviz: control characters are spaces. */
void wgi_text_name(wgi_text *o, const char *s);
/* Of printf's directives those that the library's texts have: %s %c %d %u %zu %%. Any
 * length. */
void wgi_text_format(wgi_text *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, where names of the format that begin with wgi_ begin with `name`, if that is not
 * NULL; what is put in keeps its names. */
void wgi_text_list(wgi_text *o, const char *name, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));
/* As C: a literal of type double that is read back to the last bit. */
enum { WGI_LITERAL = 40 };
const char *wgi_text_literal(char line[WGI_LITERAL], double x);
void wgi_text_number(wgi_text *o, double x);
/* A number as the locale writes it, as C has it: in place. */
void wgi_text_plain(char *line);
/* As C: a string literal, whatever the bytes. */
void wgi_text_quoted(wgi_text *o, const char *s);

/* A wg_write into a buffer, as snprintf writes: text may be NULL if room is 0. */
typedef struct wgi_buffer_text {
    char *text;
    size_t room, at;
} wgi_buffer_text;
int wgi_text_to_buffer(void *ctx, const char *s, size_t bytes);

#endif
