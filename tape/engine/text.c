/* SPDX-License-Identifier: MIT */
/* Text on its way to a wg_write. */
#include "text.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wgi_text_open(wgi_text *o, const wgi_core *of, wg_write *write, void *ctx) {
    o->of = (wgi_core *)(uintptr_t)of;
    o->write = write;
    o->ctx = ctx;
    o->failed = o->sums = 0;
    o->sum = WGI_CHECKSUM_START;
    o->used = o->total = 0;
}

static int write_piece(wgi_text *o) {
    if (o->of == NULL) return o->write(o->ctx, o->piece, o->used) != 0;
    const wgi_silence before = wgi_tape_silence(o->of);
    const int failed = o->write(o->ctx, o->piece, o->used) != 0;
    wgi_tape_speak(o->of, before);
    return failed;
}

void wgi_text_flush(wgi_text *o) {
    if (o->sums) o->sum = wgi_checksum(o->sum, o->piece, o->used);
    if (o->used != 0 && !o->failed && o->write != NULL) o->failed = write_piece(o);
    o->used = 0;
}

wg_status wgi_text_close(wgi_text *o) {
    wgi_text_flush(o);
    return o->failed ? WG_EWRITE : WG_OK;
}

void wgi_text_bytes(wgi_text *o, const char *s, size_t bytes) {
    o->total += bytes;
    while (bytes != 0) {
        const size_t room = sizeof o->piece - o->used, n = bytes < room ? bytes : room;
        memcpy(o->piece + o->used, s, n);
        o->used += n, s += n, bytes -= n;
        if (o->used == sizeof o->piece) wgi_text_flush(o);
    }
}

void wgi_text_put(wgi_text *o, const char *s) { wgi_text_bytes(o, s, strlen(s)); }

void wgi_text_word(wgi_text *o, unsigned bytes, uint64_t x) {
    char p[8];
    for (unsigned i = 0; i < bytes; i++) p[i] = (char)(x >> 8 * i & 255);
    wgi_text_bytes(o, p, bytes);
}

void wgi_text_name(wgi_text *o, const char *s) {
    for (; *s != 0; s++) {
        if (*s == '"' || *s == '\\') wgi_text_put(o, "\\");
        wgi_text_bytes(o, (unsigned char)*s < ' ' ? " " : s, 1);
    }
}

/* What a directive asks for: *p is its first letter, then its last one. */
static void put_directive(wgi_text *o, const char **p, va_list *list) {
    char piece[24] = {**p};
    if (**p == 's') {
        wgi_text_put(o, va_arg(*list, const char *));
        return;
    }
    if (**p == 'c') piece[0] = (char)va_arg(*list, int);
    else if (**p == 'd') (void)snprintf(piece, sizeof piece, "%d", va_arg(*list, int));
    else if (**p == 'u') (void)snprintf(piece, sizeof piece, "%u", va_arg(*list, unsigned));
    else if (**p == 'z') {
        (void)snprintf(piece, sizeof piece, "%zu", va_arg(*list, size_t));
        ++*p;
    }
    wgi_text_put(o, piece);
}

void wgi_text_list(wgi_text *o, const char *name, const char *format, va_list list) {
    va_list rest;
    va_copy(rest, list);
    for (const char *p = format; *p != 0;) {
        const char *const from = p;
        while (*p != 0 && *p != '%' && (name == NULL || strncmp(p, "wgi_", 4) != 0)) p++;
        wgi_text_bytes(o, from, (size_t)(p - from));
        if (*p == '%') {
            p++;
            put_directive(o, &p, &rest);
            p++;
        } else if (*p != 0) {
            wgi_text_put(o, name);
            p += 3;
        }
    }
    va_end(rest);
}

void wgi_text_format(wgi_text *o, const char *format, ...) {
    va_list list;
    va_start(list, format);
    wgi_text_list(o, NULL, format, list);
    va_end(list);
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
const char *wgi_text_literal(char line[WGI_LITERAL], double x) {
    const int nearest = fegetround() == FE_TONEAREST;
    if (!isfinite(x)) return x != x ? "NAN" : x < 0 ? "-INFINITY" : "INFINITY";
    for (int digits = nearest ? 1 : 21; digits <= 21; digits++) {
        (void)snprintf(line, WGI_LITERAL, "%.*g", digits, x);
        if (nearest && (digits == 17 || strtod(line, NULL) == x)) break;
    }
    if (fabs(x) < 1e15 && x == floor(x)) (void)snprintf(line, WGI_LITERAL, "%.1f", x);
    wgi_text_plain(line);
    if (strpbrk(line, ".e") == NULL) (void)strcat(line, ".0");
    return line;
}

void wgi_text_number(wgi_text *o, double x) {
    char line[WGI_LITERAL];
    wgi_text_put(o, wgi_text_literal(line, x));
}

void wgi_text_quoted(wgi_text *o, const char *s) {
    wgi_text_put(o, "\"");
    for (; *s != 0; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?')
            wgi_text_format(o, "\\%d%d%d", c / 64, c / 8 % 8, c % 8);
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
