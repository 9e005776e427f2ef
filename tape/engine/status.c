/* SPDX-License-Identifier: MIT */
/* Status codes and messages: the tape keeps its first failure until a reset or a rewind. */
#include "tape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(name, text) [WG_##name] = "WG_" #name ": " text,
static const char *const texts[] = {WG_STATUS_LIST(TEXT)};
#undef TEXT

const char *wg_status_text(wg_status s) {
    if ((unsigned)s >= sizeof texts / sizeof *texts) return "no status of Wengert";
    return texts[s];
}

wg_status wgi_fail(wgi_core *c, wg_status s, const char *format, ...) {
    if (c == NULL) return WG_ENULL;
    if (c->status != WG_OK) return c->status;
    c->status = s;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->message, sizeof c->message, format, args);
    va_end(args);
    wgi_limit_set(c);
    return s;
}

wg_status wgi_refuse(wgi_core *c, wg_status s, const char *format, ...) {
    if (c->status != WG_OK) return s;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->message, sizeof c->message, format, args);
    va_end(args);
    return s;
}

wg_status wgi_fail_foreign(wgi_core *c, const char *call) {
    if (c->status == WG_ETHREAD) return WG_ETHREAD;
    c->status = WG_OK; /* more than whatever was before */
    return wgi_fail(c, WG_ETHREAD,
                    "%s: the tape belongs to another thread: to hand it over, wg_tape_own",
                    call);
}

void wgi_fail_as(wgi_core *c, const char *call) {
    char said[sizeof c->message];
    const wg_status s = c->status;
    const size_t n = strlen(call);
    if (s == WG_OK ||
        (strncmp(c->message, call, n) == 0 && strchr(": ", c->message[n]) != NULL))
        return;
    memcpy(said, c->message, sizeof said);
    c->status = WG_OK;
    (void)wgi_fail(c, s, "%s: %s", call, said);
}

wg_status wgi_fail_returned(wgi_core *c, wg_status s, const char *format, ...) {
    char said[sizeof c->message], who[sizeof c->message], what[16];
    memcpy(said, c->message, sizeof said);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(who, sizeof who, format, args);
    va_end(args);
    (void)snprintf(what, sizeof what, "%d", (int)s);
    const int known = (unsigned)s < WG_STATUS_COUNT;
    return wgi_fail(c, known ? s : WG_ECALLBACK, "%s returned %s%s%s", who,
                    known ? wg_status_text(s) : what, said[0] != 0 ? "; said before: " : "",
                    said);
}

wg_status wg_tape_status(const wg_tape *t) {
    return t == NULL ? WG_ENULL : wgi_core_of_const(t)->status;
}

const char *wg_tape_message(const wg_tape *t) {
    return t == NULL ? "wg_tape_message: the tape is NULL" : wgi_core_of_const(t)->message;
}

wg_status wg_tape_refuse(wg_tape *t, wg_status s, const char *text) {
    char said[350]; /* a copy: it may be the message of before */
    if (t == NULL || s == WG_OK) return s;
    (void)snprintf(said, sizeof said, "%s", text != NULL ? text : wg_status_text(s));
    return wgi_refuse(wgi_core_of(t), s, "%s", said);
}

/* ---- text of messages ---- */

const char *wgi_number_text(char *buffer, double x) {
    if (x != x) return "nan";
    if (x - x != 0) return x > 0 ? "inf" : "-inf";
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(buffer, WGI_NUMBER_TEXT, "%.*g", digits, x);
        if (strtod(buffer, NULL) == x) break;
    }
    char *to = buffer;
    for (const char *from = buffer; *from != 0; from++) {
        const int point =
            strchr("+-0123456789e", *from) == NULL; /* of one byte, or of several */
        if (!point) *to++ = *from;
        else if (to[-1] != '.') *to++ = '.';
    }
    *to = 0;
    return buffer;
}

void wgi_message_add(wgi_core *c, const char *text) {
    const size_t at = strlen(c->message), n = strlen(text), left = sizeof c->message - 1 - at;
    memcpy(c->message + at, text, n < left ? n : left);
    c->message[at + (n < left ? n : left)] = 0;
}

void wgi_fail_where(wgi_core *c, const char *file, int line) {
    char number[16];
    if (file == NULL) return;
    (void)snprintf(number, sizeof number, ":%d)", line);
    wgi_message_add(c, " (");
    wgi_message_add(c, file);
    wgi_message_add(c, number);
}
