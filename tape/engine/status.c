/* SPDX-License-Identifier: MIT */
/* Status codes and messages: the tape keeps its first failure until a reset or a rewind. */
#include "tape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT(name, text) [WG_##name] = "WG_" #name ": " text,
static const char *const texts[] = {WG_STATUS_LIST(TEXT)};
#undef TEXT

const char *wg_status_text(wg_status s) {
    if ((unsigned)s >= sizeof texts / sizeof *texts) return "no status of Wengert";
    return texts[s];
}

wg_status wgi_fail(wgi_core *c, wg_status s, const char *format, ...) {
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

wg_status wg_tape_status(const wg_tape *t) {
    return t == NULL ? WG_ENULL : wgi_core_of_const(t)->status;
}

const char *wg_tape_message(const wg_tape *t) {
    return t == NULL ? "wg_tape_message: the tape is NULL" : wgi_core_of_const(t)->message;
}
