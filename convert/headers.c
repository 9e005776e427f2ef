/* SPDX-License-Identifier: MIT */
/* headers.c - what is included beside a source's own headers, and what names that takes from
 * the source; the header that is written. */
#include <string.h>
#include "convert/known.h"
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
        put(to,
            "#ifdef __clang__\n#pragma clang diagnostic ignored \"-Wpass-failed\"\n#endif\n");
}

/* ---- which of the library's -------------------------------------------------------------- */

static const char all_of_it[] = "#include <wengert.h>\n";

/* Headers, from the least to those that include others. */
enum { TYPES, TAPE, SPECIAL, LET, SCALAR, ARRAY, GIVEN, BLAS_VJP, HEADERS };
static const char *const header_names[HEADERS] = {"types",  "tape",  "special", "let",
                                                  "scalar", "array", "given",   "blas_vjp"};

/* By a name, or how it begins (with a *); the first row that fits. Powers of two are written in
 * sources, too, that have no math.h, which comes with SPECIAL. */
static const struct {
    const char *name;
    int header;
} homes[] = {{"wg_let_given", GIVEN}, {"wg_terms*", GIVEN},     {"wg_chain", GIVEN},
             {"wg_let_*", LET},       {"wg_vjp_*", BLAS_VJP},   {"wg_let", SCALAR},
             {"wg_add", SCALAR},      {"wg_sub", SCALAR},       {"wg_mul", SCALAR},
             {"wg_div", SCALAR},      {"wg_neg", SCALAR},       {"wgi_op_*", SCALAR},
             {"wg_lt", ARRAY},        {"wg_le", ARRAY},         {"wg_gt", ARRAY},
             {"wg_ge", ARRAY},        {"wg_eq", ARRAY},         {"wg_ne", ARRAY},
             {"wg_tape", TAPE},       {"wg_real", TAPE},        {"wg_constant", TAPE},
             {"wg_value", TAPE},      {"wg_tape_refuse", TAPE}, {"wg_status", TYPES},
             {"WG_OK", TYPES},        {"WG_E*", TYPES},         {"wgi_*", SPECIAL},
             {"ldexp", SPECIAL}};

/* HEADERS: it is none of the library's; -1: of any header. */
static int home_of(const char *name) {
    for (size_t k = 0; k < sizeof homes / sizeof *homes; k++) {
        const char *const row = homes[k].name;
        const size_t n = strlen(row);
        if (row[n - 1] == '*' ? strncmp(name, row, n - 1) == 0 : same(name, row))
            return homes[k].header;
    }
    if (!starts_with(name, "wg_") && !starts_with(name, "wgi_") && !starts_with(name, "WG_") &&
        !starts_with(name, "WGI_"))
        return HEADERS;
    return starts_with(name, "wg_") &&
                   known_function(name + strlen("wg_"), NULL)->kind == KNOWN_OPERATION
               ? SCALAR
               : -1;
}

/* Marks the headers that the words of s, n characters, ask for. False: it may be any. */
static bool find_homes(const char *s, size_t n, bool *asked) {
    const tokens t = lex(s, n);
    for (size_t i = 0; i < t.n; i++) {
        const token *const x = &t.at[i];
        if (x->kind == TOKEN_DIRECTIVE) { /* what stands behind the # */
            if (!find_homes(s + x->begin + 1, x->end - x->begin - 1, asked)) return false;
            continue;
        }
        if (x->kind != TOKEN_WORD) continue;
        const int home = home_of(copy_text(s + x->begin, x->end - x->begin));
        if (home < 0) return false;
        if (home != HEADERS) asked[home] = true;
    }
    return true;
}

const char *with_few_headers(const char *s) {
    bool asked[HEADERS + 1] = {false};
    const char *const at = strstr(s, all_of_it);
    if (at == NULL || !find_homes(s, strlen(s), asked)) return s;
    text to = {NULL, 0, 0};
    put_n(&to, s, (size_t)(at - s));
    const bool statements = asked[SCALAR] || asked[ARRAY] || asked[GIVEN];
    asked[TAPE] &= !statements && !asked[LET];
    asked[SPECIAL] &= !asked[SCALAR];
    asked[TYPES] &= !statements && !asked[LET] && !asked[TAPE];
    for (int k = 0; k < HEADERS; k++)
        if (asked[k]) putf(&to, "#include <wengert/%s.h>\n", header_names[k]);
    put(&to, at + strlen(all_of_it));
    return text_of(&to);
}

/* ---- the header that is written ---------------------------------------------------------- */

/* Was this directive's file read? */
static bool is_included(const file *f, const token *t) {
    for (size_t i = 0; i < f->inclusions.n; i++) {
        const size_t at = ((const inclusion *)f->inclusions.at[i])->begin;
        if (t->begin <= at && at < t->end) return true;
    }
    return false;
}

/* The headers of the user's that a source includes, each once; in a condition, those that
 * were read. */
static void write_inclusions(const file *f, text *to) {
    list written = {NULL, 0, 0};
    size_t depth = 0;
    for (size_t i = 0; i < f->tokens.n; i++) {
        const token *const t = &f->tokens.at[i];
        if (t->kind != TOKEN_DIRECTIVE) continue;
        const char *const s = copy_text(f->text + t->begin, t->end - t->begin), *p = s + 1;
        p += strspn(p, " \t");
        if (starts_with(p, "if")) depth++;
        if (starts_with(p, "endif") && depth != 0) depth--;
        const char *const quote = starts_with(p, "include") ? strchr(p, '"') : NULL;
        if (quote == NULL || (depth != 0 && !is_included(f, t))) continue;
        const char *const name = copy_text(quote, strcspn(quote + 1, "\"") + 2);
        if (has_name(&written, name)) continue;
        push(&written, (void *)name);
        putf(to, "#include %s\n", name);
    }
}

const char *write_header(writer *w, const output *o, const char *declarations) {
    text to = {NULL, 0, 0};
    const char *const guard = guard_of(o->header), *const name = o->header;
    putf(
        &to,
        "/* %s\n * Written by wengert-convert. Do not edit: convert again. */\n#ifndef %s\n#define %s\n\n",
        name, guard, guard);
    putf(&to, "#ifndef %s_SOURCE /* which has included what it needs already */\n", guard);
    write_inclusions(w->a->root->function->file, &to);
    putf(&to,
         w->generic ? "#endif\n#include <wengert/generic.h>\n\n%s\n#endif\n"
                    : "#include <wengert.h>\n#endif\n\n%s\n#endif\n",
         declarations);
    return text_of(&to);
}
