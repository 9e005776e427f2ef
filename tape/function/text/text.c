/* SPDX-License-Identifier: MIT */
/* Text on its way to a wg_write. */
#include "text.h"

#include <fenv.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wgi_text_open(wgi_text *o, wg_write *write, void *ctx) {
    o->write = write;
    o->ctx = ctx;
    o->failed = 0;
    o->used = o->total = 0;
}

static void flush(wgi_text *o) {
    if (o->used != 0 && !o->failed) o->failed = o->write(o->ctx, o->piece, o->used) != 0;
    o->used = 0;
}

wg_status wgi_text_close(wgi_text *o) {
    flush(o);
    return o->failed ? WG_EWRITE : WG_OK;
}

void wgi_text_bytes(wgi_text *o, const char *s, size_t bytes) {
    o->total += bytes;
    while (bytes != 0) {
        const size_t room = sizeof o->piece - o->used, n = bytes < room ? bytes : room;
        memcpy(o->piece + o->used, s, n);
        o->used += n, s += n, bytes -= n;
        if (o->used == sizeof o->piece) flush(o);
    }
}

void wgi_text_put(wgi_text *o, const char *s) { wgi_text_bytes(o, s, strlen(s)); }

void wgi_text_format(wgi_text *o, const char *format, ...) {
    char line[1024];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    wgi_text_put(o, line);
}

void wgi_text_plain(char *line) {
    char *to = line;
    for (const char *p = line; *p != 0;) {
        const size_t n = strspn(p, "+-0123456789e");
        memmove(to, p, n);
        to += n, p += n;
        if (*p == 0) break;
        *to++ = '.'; /* of a locale, of any length */
        p += strcspn(p, "+-0123456789e");
    }
    *to = 0;
}

/* The shortest that is read back as x by a compiler, which rounds to nearest; where the program
 * rounds otherwise its own reading tells nothing, and 17 digits are not enough. */
void wgi_text_number(wgi_text *o, double x) {
    char line[40];
    const int nearest = fegetround() == FE_TONEAREST;
    if (!isfinite(x)) {
        wgi_text_put(o, x != x ? "NAN" : x < 0 ? "-INFINITY" : "INFINITY");
        return;
    }
    for (int digits = nearest ? 1 : 21; digits <= 21; digits++) {
        (void)snprintf(line, sizeof line, "%.*g", digits, x);
        if (nearest && (digits == 17 || strtod(line, NULL) == x)) break;
    }
    if (fabs(x) < 1e15 && x == floor(x)) (void)snprintf(line, sizeof line, "%.1f", x);
    wgi_text_plain(line);
    if (strpbrk(line, ".e") == NULL) (void)strcat(line, ".0");
    wgi_text_put(o, line);
}

void wgi_text_quoted(wgi_text *o, const char *s) {
    wgi_text_put(o, "\"");
    for (; *s != 0; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?')
            wgi_text_format(o, "\\%03o", c);
        else wgi_text_bytes(o, s, 1);
    }
    wgi_text_put(o, "\"");
}

int wgi_text_to_buffer(void *ctx, const char *s, size_t bytes) {
    wgi_buffer_text *const b = ctx;
    if (b->at < b->room) {
        const size_t room = b->room - b->at - 1, n = bytes < room ? bytes : room;
        memcpy(b->text + b->at, s, n);
        b->text[b->at + n] = 0;
    }
    b->at += bytes;
    return 0;
}
