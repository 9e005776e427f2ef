/* SPDX-License-Identifier: MIT */
/* Inputs and outputs of functions. */
#include "arguments.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

size_t wgi_argument_size(const wg_argument *a) { return a->rows * a->cols; }

size_t wgi_arguments_size(size_t count, const wg_argument *a) {
    const size_t most = SIZE_MAX / 64;
    size_t n = 0;
    for (size_t k = 0; a != NULL && k < count; k++) {
        if (a[k].cols != 0 && a[k].rows > most / a[k].cols) return most;
        n += wgi_argument_size(&a[k]);
        if (n > most) return most;
    }
    return n;
}

const char *wgi_argument_name(wgi_core *c, const char *a, const char *b, const char *d) {
    const size_t bytes = strlen(a) + strlen(b) + strlen(d) + 1;
    char *const name = wg_tape_keep(&c->head, bytes, NULL);
    if (name != NULL) (void)snprintf(name, bytes, "%s%s%s", a, b, d);
    return name;
}

size_t wgi_argument_find(size_t count, const wg_argument *a, const char *name) {
    size_t k = 0;
    while (k < count && strcmp(a[k].name, name) != 0) k++;
    return k;
}

wg_status wgi_arguments_copy(wgi_core *c, const char *call, size_t count, const wg_argument *a,
                             char letter, unsigned flags, wg_argument **out) {
    const char *const what = letter == 'x' ? "input" : "output";
    wg_argument *const copy = wg_tape_keep(&c->head, (count + 1) * sizeof *copy, NULL);
    for (size_t k = 0; k < count && c->status == WG_OK; k++) {
        char place[24];
        copy[k] = a[k];
        (void)snprintf(place, sizeof place, "%zu", k);
        copy[k].name = wgi_argument_name(c, a[k].name == NULL ? (char[]){letter, 0} : a[k].name,
                                         a[k].name == NULL ? place : "", "");
        if (copy[k].name == NULL) break;
        if (!wgi_is_word(copy[k].name, strlen(copy[k].name)))
            return wgi_fail(c, WG_EARG, "%s: the name of %s %zu is no word: '%s'", call, what,
                            k, copy[k].name);
        if (wgi_argument_find(k, copy, copy[k].name) != k)
            return wgi_fail(c, WG_EARG, "%s: two %ss have the name %s", call, what,
                            copy[k].name);
        if ((a[k].flags & ~flags) != 0)
            return wgi_fail(c, WG_EARG, "%s: flags %u of %s %s", call, a[k].flags, what,
                            copy[k].name);
    }
    *out = copy;
    return c->status;
}
