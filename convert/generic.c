/* SPDX-License-Identifier: MIT */
/* generic.c - a file that is read three times, for taped variables, doubles and duals. Names
 * that the converter made are macros then, NAME_wg being WG_NAME(NAME_wg), so that the text
 * is that of one type. */
#include <string.h>
#include "convert/callback.h"
#include "convert/generic.h"

static const char initial_text[] =
    "#ifdef WG_AS_DOUBLE\n#define WGC_INITIAL(x) (x)\n#else\n#define WGC_INITIAL(x) {.value = x}\n#endif\n";

/* A number as an operand of wg_let_NAME. */
static const char number_text[] =
    "#if defined(WG_AS_DOUBLE) || defined(WG_AS_DUAL)\n#define WGC_NUMBER(x) (x)\n#else\n#define WGC_NUMBER(x) wg_constant(x)\n#endif\n";

static const char *rounds_name(const char *in) { return format("%s_ROUNDS", guard_of(in)); }

void put_once(text *to, const writer *w, const char *in, const char *s, bool line) {
    if (!w->generic || *s == 0) {
        put(to, s);
        return;
    }
    if (to->n != 0 && to->s[to->n - 1] != '\n') put(to, "\n");
    putf(to, "#ifndef %s\n%s\n#endif%s", rounds_name(in), s, line ? "" : "\n");
}

static const char *directive_at(const file *f, const token *t) {
    const char *s = copy_text(f->text + t->begin + 1, t->end - t->begin - 1);
    return s + strspn(s, " \t");
}

/* The name behind `#define` or `#undef`; NULL for other directives. */
static const char *macro_named(const char *s) {
    const size_t n = starts_with(s, "define") ? 6 : starts_with(s, "undef") ? 5 : 0;
    if (n == 0) return NULL;
    s += n;
    s += strspn(s, " \t");
    size_t k = 0;
    while (strchr(" \t\n(", s[k]) == NULL) k++;
    return copy_text(s, k);
}

/* Is a macro made anew within the file? Then a round does not begin with what the one before
 * it left. */
static bool is_made_anew(const file *f, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < f->tokens.n; i++) {
        if (f->tokens.at[i].kind != TOKEN_DIRECTIVE) continue;
        const char *const named = macro_named(directive_at(f, &f->tokens.at[i]));
        n += named != NULL && same(named, name);
    }
    return n > 1;
}

const char *between(const writer *w, const file *f, const char *in, size_t begin, size_t end) {
    if (!w->generic) return copy_text(f->text + begin, end - begin);
    text to = {NULL, 0, 0};
    size_t at = begin;
    for (size_t i = 0; i < f->tokens.n && f->tokens.at[i].begin < end; i++) {
        const token *const t = &f->tokens.at[i];
        if (t->kind != TOKEN_DIRECTIVE || t->begin < begin) continue;
        const char *const s = directive_at(f, t), *const name = macro_named(s);
        put_n(&to, f->text + at, t->begin - at);
        at = t->end;
        const char *const own = copy_text(f->text + t->begin, t->end - t->begin);
        if (starts_with(s, "include")) put_once(&to, w, in, own, true);
        else if (starts_with(s, "define") && name != NULL && is_made_anew(f, name))
            putf(&to, "#undef %s\n%s", name, own);
        else put(&to, own);
    }
    put_n(&to, f->text + at, end - at);
    return text_of(&to);
}

/* Is it a name of what there is for each type? */
static bool is_of_a_type(const writer *w, const char *s) {
    const size_t n = strlen(s), root = strlen(w->a->root->name);
    if (starts_with(s, "wgc_copy_")) return true;
    if (starts_with(s, w->a->root->name) &&
        (same(s + root, "_callback") || starts_with(s + root, "_begin")))
        return true;
    size_t digits = 0;
    while (digits < n && s[n - 1 - digits] >= '0' && s[n - 1 - digits] <= '9') digits++;
    if (n - digits < 4 || strncmp(s + n - digits - 3, "_wg", 3) != 0) return false;
    for (size_t i = 0; i < w->a->program->files.n; i++) { /* a name of the source's own */
        const file *const f = w->a->program->files.at[i];
        for (size_t k = 0; k < f->tokens.n; k++)
            if (token_is(f->text, &f->tokens.at[k], s)) return false;
    }
    return true;
}

const char *in_rounds(const writer *w, const char *in, const char *body) {
    if (!w->generic) return body;
    const tokens t = lex(body, strlen(body));
    table *const seen = table_new();
    text names = {NULL, 0, 0}, end = {NULL, 0, 0}, to = {NULL, 0, 0};
    for (size_t i = 0; i < t.n; i++) {
        if (t.at[i].kind != TOKEN_WORD) continue;
        char *const s = copy_text(body + t.at[i].begin, t.at[i].end - t.at[i].begin);
        if (table_get(seen, s) != NULL) continue;
        table_set(seen, s, s);
        if (!is_of_a_type(w, s)) continue;
        putf(&names, "#define %s WG_NAME(%s)\n", s, s);
        putf(&end, "#undef %s\n", s);
    }
    if (strstr(body, "WGC_INITIAL") != NULL) {
        put(&names, initial_text);
        put(&end, "#undef WGC_INITIAL\n");
    }
    if (strstr(body, "WGC_NUMBER") != NULL) {
        put(&names, number_text);
        put(&end, "#undef WGC_NUMBER\n");
    }
    const char *const rounds = rounds_name(in);
    putf(
        &to,
        "/* For three types: names that end with _wg go on with _real, _double and _dual. */\n%s%s%s",
        text_of(&names), body, text_of(&end));
    putf(
        &to,
        "\n/* The same text over doubles and over duals. */\n#ifndef %s\n#define %s\n#define WG_AS_DOUBLE\n#include \"%s\"\n#undef WG_AS_DOUBLE\n"
        "#define WG_AS_DUAL\n#include \"%s\"\n#undef WG_AS_DUAL\n#include <wengert/generic.h>\n#endif\n",
        rounds, rounds, in, in);
    return text_of(&to);
}

const char *generic_declaration(writer *w, const char *arguments) {
    const decl *const f = w->a->root->function;
    const char *const name = w->a->root->name;
    static const char *const each[][2] = {
        {"real", "wg_real"}, {"double", "double"}, {"dual", "wg_dual"}};
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (is_function(p) && root_holds(w, p))
            error_at(
                place_in(p->file, p->at),
                "'%s' is a function that is given as an argument, which would be three: write a function "
                "that calls %s with one of them",
                p->name, f->name);
    }
    putf(
        &to,
        "%s/* %s_callback_real - %s as drivers call it, wg_jacobian among them; _double: over numbers, _dual: over duals,\n"
        " * with a tape that is not used and may be NULL. WG_DUAL_WIDTH is the same as where it is defined.\n"
        " * x: %s\n * y: %s\n * Errors: WG_ENULL, WG_ESHAPE, WG_ENOMEM. */\n"
        "#define %s_callback_dual WGC_OF_WIDTH(%s_callback_dual, WG_DUAL_WIDTH)\n"
        "#ifndef WGC_OF_WIDTH\n#define WGC_OF_WIDTH(name, width) WGC_JOINED(name, width)\n#define WGC_JOINED(name, width) name##_##width\n#endif\n",
        arguments, name, f->name, selections_text(&w->a->inputs),
        selections_text(&w->a->outputs), name, name);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        putf(
            &to,
            "wg_status %s_callback_%s(wg_tape *tape, size_t n, const %s *x, size_t m, %s *y,\n    void *data);\n",
            name, each[i][0], each[i][1], each[i][1]);
    return text_of(&to);
}
