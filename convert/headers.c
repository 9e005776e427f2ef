/* SPDX-License-Identifier: MIT */
/* headers.c - what is included beside a source's own headers, and what names that takes from
 * the source. */
#include <string.h>
#include "convert/output.h"

/* Names that math.h, which wengert.h includes, has as macros: a file without it may use them
 * otherwise. */
static void without_math(const file *f, text *to) {
    static const char *const names[] = {
        "isnan",    "isinf", "isfinite", "isnormal", "signbit", "fpclassify", "INFINITY", "NAN",
        "HUGE_VAL", "M_PI",  "M_PI_2",   "M_PI_4",   "M_E",     "M_LN2",      "M_SQRT2"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strstr(f->text, names[k]) != NULL) putf(to, "#undef %s\n", names[k]);
}

/* A name of the implementation's. */
static bool is_reserved(const char *s) {
    return s[0] == '_' && (s[1] == '_' || (s[1] >= 'A' && s[1] <= 'Z'));
}

void put_headers(const program *p, const file *f, const char *headers, text *to) {
    list own = {NULL, 0, 0};
    for (size_t i = 0; i < p->files.n && !f->has_math; i++) {
        const file *const g = p->files.at[i];
        if (g->of_system || (g != f && !list_has(&g->readers, f))) continue;
        for (size_t k = 0; k < g->declarations.n; k++) {
            const decl *const d = g->declarations.at[k];
            if ((d->kind == DECL_VARIABLE || d->kind == DECL_FUNCTION) &&
                is_reserved(d->name) && !has_name(&own, d->name))
                push(&own, (void *)d->name);
        }
    }
    for (size_t i = 0; i < own.n; i++)
        putf(to, "#define %s wgc_system%s\n", (const char *)own.at[i], (const char *)own.at[i]);
    put(to, headers);
    for (size_t i = 0; i < own.n; i++) putf(to, "#undef %s\n", (const char *)own.at[i]);
    if (!f->has_math) without_math(f, to);
    /* what loops are asked to become, they no longer can */
    if (strstr(f->text, "clang loop") != NULL || strstr(f->text, "omp simd") != NULL)
        put(to, "#ifdef __clang__\n#pragma clang diagnostic ignored \"-Wpass-failed\"\n#endif\n");
}
