/* SPDX-License-Identifier: MIT */
/* generate_text - the text of functions, for programs that write C.
 *
 *   generate special_text > ops/scalar/special_text.h
 *   generate dense_text   > ops/matrix/dense_text.h
 *
 * The definitions of special.h, special_*.c and array.[hc] become strings, each with the names of
 * the others that it needs, and the vector functions of vectors.h as they stand. Names
 * that are local to a file get the name of the file before them, numbers that are macros are
 * put in. A host program, a part of generate.c: run from the top of the source tree. */
#include "generate_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, TEXT = 1 << 20, NAME = 64 };

typedef struct item {
    char name[NAME], *text;
    const char *stem;  /* of its file */
    int local, number; /* number: a macro without arguments */
    size_t needs[64], need_count;
} item;

static item items[MOST];
static size_t count;

static const struct {
    const char *path, *stem;
} sources[] = {{"include/wengert/special.h", "special"},
               {"ops/scalar/special_second.h", "special"},
               {"ops/scalar/special_poly.h", "poly"},
               {"ops/scalar/special.c", "special"},
               {"ops/scalar/special_normal.c", "normal"},
               {"ops/scalar/special_gamma.c", "gamma"},
               {"ops/scalar/special_bessel.c", "bessel"},
               {"ops/scalar/special_lambert.c", "lambert"},
               {"ops/scalar/array.h", "array"},
               {"ops/scalar/array.c", "array"}};

/* What the limits of <float.h> are, libm's exp under another name, and what C99 calls it. */
static const struct {
    const char *name, *text;
} known[] = {{"DBL_MAX", "1.7976931348623157e308"},
             {"DBL_MIN", "2.2250738585072014e-308"},
             {"DBL_EPSILON", "2.220446049250313e-16"},
             {"wgi_exp", "exp"},
             {"WGI_NAN", "NAN"}};

static void fail(const char *what, const char *where) {
    fprintf(stderr, "generate: %s: %s\n", what, where);
    exit(1);
}

static void *room(size_t bytes) {
    void *const p = calloc(1, bytes);
    if (p == NULL) fail("no memory", "");
    return p;
}

static char *contents(const char *path) {
    char *const text = room(TEXT);
    FILE *const f = fopen(path, "r");
    if (f == NULL) fail("cannot read", path);
    const size_t n = fread(text, 1, TEXT - 1, f);
    (void)fclose(f);
    if (n == 0 || n == TEXT - 1) fail("cannot read", path);
    return text;
}

static int in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Comments go; a line that is blank then goes too. */
static char *without_comments(const char *s) {
    char *const out = room(strlen(s) + 1);
    size_t n = 0;
    while (*s != 0) {
        if (s[0] != '/' || s[1] != '*') {
            out[n++] = *s++;
            continue;
        }
        s = strstr(s, "*/");
        if (s == NULL) fail("comment without end", "");
        s += 2;
        while (n > 0 && out[n - 1] == ' ') n--;
        if ((n == 0 || out[n - 1] == '\n') && *s == '\n') s++;
    }
    return out;
}

static int starts(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

/* One definition up to its end: a brace closed at the outer level, or a semicolon. */
static const char *definition_end(const char *s) {
    int depth = 0, is_table = 0;
    for (;; s++) {
        if (*s == 0) fail("definition without end", "");
        if (*s == '=' && depth == 0) is_table = 1;
        if (*s == '{' || *s == '(') depth++;
        if (*s == '}' || *s == ')') depth--;
        if (depth != 0) continue;
        if (*s == ';') return s + 1;
        if (*s == '}' && !is_table && s[1] != ';') return s + 1;
    }
}

static item *add(const char *name, size_t length, const char *text, size_t bytes,
                 const char *stem) {
    if (count == MOST || length >= NAME) fail("too many or too long", name);
    item *const d = &items[count++];
    memcpy(d->name, name, length);
    d->text = room(bytes + 32);
    memcpy(d->text, text, bytes);
    d->stem = stem;
    d->local = !starts(d->name, "wgi_");
    return d;
}

/* The name that a definition gives: that before the first parenthesis, bracket or brace. */
static void take_definition(const char *s, const char *end, const char *stem) {
    const char *stop = s + strcspn(s, "([{");
    while (stop > s && !in_name(stop[-1])) stop--;
    const char *name = stop;
    while (name > s && in_name(name[-1])) name--;
    item *const d = add(name, (size_t)(stop - name), s, (size_t)(end - s), stem);
    if (!starts(s, "static") && !starts(s, "struct")) {
        memmove(d->text + 7, d->text, strlen(d->text) + 1);
        memcpy(d->text, "static ", 7);
    }
    strcat(d->text, "\n");
}

static const char *take_macro(const char *s, const char *stem) {
    const char *end = s;
    while (*end != '\n' || end[-1] == '\\') end++;
    const char *const name = s + strlen("#define ");
    size_t length = 0;
    while (in_name(name[length])) length++;
    const char *body = name + length;
    const int number = *body == ' ';
    if (number) {
        while (*body == ' ') body++;
        item *const d = add(name, length, body, (size_t)(end - body), stem);
        d->number = 1;
    } else {
        item *const d = add(name, length, s, (size_t)(end + 1 - s), stem);
        (void)d;
    }
    return end + 1;
}

static void take_file(const char *path, const char *stem) {
    const char *s = without_comments(contents(path));
    while (*s != 0) {
        const char *const line = s + strcspn(s, "\n");
        if (*s == '\n' || *s == ' ') s++;
        else if (starts(s, "#define ") && memchr(s, ' ', (size_t)(line - s)) != NULL &&
                 !starts(s, "#define _") && !starts(s, "#define W"))
            s = take_macro(s, stem);
        else if (*s == '#' || starts(s, "WG_BEGIN") || starts(s, "WG_END")) s = line;
        else {
            const char *const end = definition_end(s);
            if (end[-1] != ';' || starts(s, "static") || starts(s, "struct"))
                take_definition(s, end, stem);
            s = end;
        }
    }
}

/* The definition that a name in a file means, or count. Those of poly are known in all files.
 */
static size_t meaning(const char *name, size_t length, const char *stem) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(items[i].name, name, length) == 0 && items[i].name[length] == 0 &&
            (!items[i].local || strcmp(items[i].stem, stem) == 0 ||
             strcmp(items[i].stem, "poly") == 0))
            return i;
    return count;
}

static void need(item *d, size_t i) {
    for (size_t k = 0; k < d->need_count; k++)
        if (d->needs[k] == i) return;
    if (d->need_count == 64) fail("too many needs", d->name);
    d->needs[d->need_count++] = i;
}

/* Names resolved. */
static void resolve(item *d) {
    char *const out = room(4 * strlen(d->text) + NAME);
    size_t n = 0;
    for (const char *s = d->text; *s != 0;) {
        if (!in_name(*s) || (s > d->text && in_name(s[-1]))) {
            out[n++] = *s++;
            continue;
        }
        size_t length = 0, k = 0;
        while (in_name(s[length])) length++;
        while (k < sizeof known / sizeof *known &&
               (strlen(known[k].name) != length || !starts(s, known[k].name)))
            k++;
        const size_t i = meaning(s, length, d->stem);
        if (k < sizeof known / sizeof *known) {
            n += (size_t)sprintf(out + n, "%s", known[k].text);
        } else if (i < count && items[i].number) {
            n += (size_t)sprintf(out + n, "%s", items[i].text);
        } else if (i < count && items[i].local) {
            n += (size_t)sprintf(out + n, "wgi_%s_%s", items[i].stem, items[i].name);
        } else {
            memcpy(out + n, s, length);
            n += length;
        }
        if (i < count && &items[i] != d && !items[i].number) need(d, i);
        s += length;
    }
    d->text = out;
}

static int wanted(const item *d) {
    static const char *const arrays[] = {"norm2_value", "logsumexp_value", "maximum_value",
                                         "minimum_value", "lookup_value"};
    if (d->number) return 0;
    if (!d->local) return 1;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (strcmp(d->name, arrays[i]) == 0) return 1;
    return 0;
}

static void put_string(const char *s) {
    fputs("\"", stdout);
    for (; *s != 0; s++) {
        if (*s == '\n') fputs(s[1] != 0 ? "\\n\"\n     \"" : "\\n", stdout);
        else if (*s == '"' || *s == '\\') printf("\\%c", *s);
        else putchar(*s);
    }
    fputs("\"", stdout);
}

/* From the first line on that begins with `from`, up to that with `to`, without comments. */
static void put_lines(const char *path, const char *from, const char *to) {
    const char *s = strstr(contents(path), from), *const end = s == NULL ? s : strstr(s, to);
    if (end == NULL) fail("not as expected", path);
    char *const piece = room((size_t)(end - s) + 1);
    memcpy(piece, s, (size_t)(end - s));
    for (s = without_comments(piece); *s != 0;) {
        const char *stop = s;
        while (*stop != '\n' || (stop > s && stop[-1] == '\\')) stop++;
        if (stop != s) {
            char *const line = room((size_t)(stop - s) + 2);
            memcpy(line, s, (size_t)(stop - s) + 1);
            fputs("    ", stdout);
            put_string(line);
            puts(",");
        }
        s = stop + 1;
    }
}

void write_special_text(void) {
    unsigned char used[MOST] = {0};
    size_t place[MOST] = {0}, places = 0;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        take_file(sources[i].path, sources[i].stem);
    for (int again = 0; again < 2; again++) /* macros may hold macros */
        for (size_t i = 0; i < count; i++)
            if (items[i].number) resolve(&items[i]);
    for (size_t i = 0; i < count; i++)
        if (!items[i].number) resolve(&items[i]);
    for (size_t i = 0; i < count; i++) used[i] = (unsigned char)wanted(&items[i]);
    for (int more = 1; more;) {
        more = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; used[i] && k < items[i].need_count; k++)
                if (!used[items[i].needs[k]]) more = used[items[i].needs[k]] = 1;
    }
    for (size_t i = 0; i < count; i++)
        if (used[i]) place[i] = places++;
    puts("/* SPDX-License-Identifier: MIT */");
    puts(
        "/* Generated from the special functions by ops/scalar/generate_text.c: `make generate`. Do not");
    puts(" * edit.");
    puts(" *");
    puts(" * TEXT(name, text, needs): a definition as C, and which others it needs, by their");
    puts(" * places in this list; -1 ends them. Then the vector functions, line by line. */");
    puts("#ifdef TEXT");
    for (size_t i = 0; i < count; i++) {
        const item *const d = &items[i];
        if (!used[i]) continue;
        printf("TEXT(\"%s%s%s%s\",\n     ", d->local ? "wgi_" : "", d->local ? d->stem : "",
               d->local ? "_" : "", d->name);
        put_string(d->text);
        fputs(",\n     {", stdout);
        for (size_t k = 0; k < d->need_count; k++) printf("%zu, ", place[d->needs[k]]);
        puts("-1})");
    }
    puts("#endif");
    puts("#ifdef VECTOR_TEXT");
    puts("static const char *const VECTOR_TEXT[] = {");
    put_lines("ops/scalar/vectors.h", "#if defined(__x86_64__)", "/* ---- the end ---- */");
    puts("};");
    puts("#endif");
}

/* The definitions between the marks of a file, which blank lines part, with their comments. */
static void put_definitions(const char *path) {
    const char *s = strstr(contents(path), "/* ---- text ---- */\n\n");
    if (s == NULL) fail("not as expected", path);
    s += strlen("/* ---- text ---- */\n\n");
    while (!starts(s, "/* ---- end")) {
        const char *const end = strstr(s, "\n\n"), *const head = strstr(s, "static ");
        if (end == NULL || head == NULL || head > end) fail("not as expected", path);
        const char *const stop = head + strcspn(head, "("), *name = stop;
        while (in_name(name[-1])) name--;
        char *const text = room((size_t)(end - s) + 3);
        memcpy(text, s, (size_t)(end - s) + 2);
        printf("TEXT(\"%.*s(\",\n     ", (int)(stop - name), name);
        put_string(text);
        puts(")");
        s = end + 2;
    }
}

void write_dense_text(void) {
    puts("/* SPDX-License-Identifier: MIT */");
    puts("/* Generated from dense_blas.h and dense_loops.h by ops/scalar/generate_text.c: `make");
    puts(" * generate`. Do not edit.");
    puts(" *");
    puts(" * TEXT(name, text): a definition as C, after all those that it calls. */");
    put_definitions("ops/matrix/dense_blas.h");
    put_definitions("ops/matrix/dense_loops.h");
}
