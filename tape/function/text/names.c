/* SPDX-License-Identifier: MIT */
/* Names in C text: words that no function may have, and identifiers for arguments. */
#include "writer.h"
#include "tape/function/graph/words.h"

#include <stdio.h>

static const char *const reserved[] = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "union", "unsigned", "void", "volatile", "while",
    /* of C11 and C++ */
    "alignas", "alignof", "and", "asm", "bool", "catch", "class", "constexpr", "delete",
    "explicit", "export", "false", "friend", "mutable", "namespace", "new", "not", "nullptr",
    "operator", "or", "private", "protected", "public", "template", "this", "throw", "true",
    "try", "typename", "typeof", "using", "virtual", "xor", "thread_local", "static_assert",
    "concept", "requires",
    /* of <math.h>, <stddef.h> and <string.h>, and what comes with them */
    "MAXFLOAT", "DOMAIN", "SING", "OVERFLOW", "UNDERFLOW", "PLOSS", "TLOSS", "HUGE", "X_TLOSS",
    "unreachable", "max_align_t", "nullptr_t", "iseqsig", "issignaling", "issubnormal",
    "iszero", "iscanonical", "frexp", "ilogb", "isnormal", "ldexp", "lgamma_r", "llrint",
    "llround", "logb", "lrint", "lround", "modf", "nan", "nextafter", "remquo", "scalbn",
    "double_t", "float_t", "fpclassify", "isgreater", "isless", "INFINITY", "NAN", "NULL",
    "HUGE_VAL", "size_t", "ptrdiff_t", "wchar_t", "offsetof", "memcpy", "memset", "memmove",
    "memcmp", "strlen", "math_errhandling", "errno", "main", "linux", "unix"};

static int is_among(const char *p, size_t length, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (wgi_word_is(p, length, list[i])) return 1;
    return 0;
}
#define AMONG(p, length, list) is_among(p, length, list, sizeof(list) / sizeof *(list))

static int begins_like_macros(const char *name) {
    return wgi_word_begins(name, "M_") || wgi_word_begins(name, "FP_") ||
           wgi_word_begins(name, "HUGE_") || wgi_word_begins(name, "MATH_") ||
           wgi_word_begins(name, "SNAN");
}

/* Is it a word or a macro of C, or of the headers? */
static int is_known(const char *name) {
    const size_t length = strlen(name);
    return AMONG(name, length, reserved) || wgi_is_function_of_c(name, length) ||
           begins_like_macros(name);
}

int wgi_name_is_known(const char *name) {
    /* functions of the headers that no text calls */
    static const char *const more[] = {
        "y0",        "y1",          "yn",         "j0",         "j1",          "jn",
        "gamma",     "drem",        "finite",     "scalb",      "exp10",       "pow10",
        "scalbn",    "scalbln",     "sincos",     "signgam",    "nexttoward",  "nextup",
        "nextdown",  "significand", "roundeven",  "index",      "rindex",      "bcmp",
        "bcopy",     "bzero",       "ffs",        "ffsl",       "ffsll",       "basename",
        "memccpy",   "memchr",      "memfrob",    "memmem",     "mempcpy",     "memrchr",
        "stpcpy",    "stpncpy",     "strcasecmp", "strcasestr", "strcat",      "strchr",
        "strchrnul", "strcmp",      "strcoll",    "strcpy",     "strcspn",     "strdup",
        "strerror",  "strfry",      "strlcat",    "strlcpy",    "strncasecmp", "strncat",
        "strncmp",   "strncpy",     "strndup",    "strnlen",    "strpbrk",     "strrchr",
        "strsep",    "strsignal",   "strspn",     "strstr",     "strtok",      "strverscmp",
        "strxfrm"};
    const size_t length = strlen(name);
    if (is_known(name) || AMONG(name, length, more)) return 1;
    if (*name == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'))) return 1;
    /* sinf, sinl */
    return length > 1 && (name[length - 1] == 'f' || name[length - 1] == 'l') &&
           (wgi_is_function_of_c(name, length - 1) || AMONG(name, length - 1, more));
}

/* Macros of the headers of BLAS and LAPACK, and of those that they include. */
static const char *const blas_macros[] = {"I",     "complex", "imaginary", "xdouble",
                                          "stdin", "stdout",  "stderr",    "sched_priority"};

/* Is it one of these, or like the others of them? */
static int is_like_macros_of_blas(const char *name) {
    const int upper = name[0] >= 'A' && name[0] <= 'Z';
    return AMONG(name, strlen(name), blas_macros) || wgi_word_begins(name, "lapack_") ||
           (upper && ((name[1] >= 'A' && name[1] <= 'Z') || name[1] == '_'));
}

int wgi_name_is_of_blas(const char *name) {
    static const char *const more[] = {
        "abort", "abs",  "carg",   "cimag",  "conj",   "cproj",  "creal",  "div",   "exit",
        "free",  "rand", "random", "remove", "rename", "rewind", "select", "system"};
    static const char *const with[] = {"lapack_", "LAPACK",    "cblas_",  "CBLAS",
                                       "Cblas",   "openblas_", "OPENBLAS"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (wgi_word_begins(name, with[i])) return 1;
    return AMONG(name, length, blas_macros) || AMONG(name, length, more) ||
           (*name == 'c' && wgi_is_function_of_c(name + 1, length - 1)); /* csin */
}

static int is_reserved(const char *name) {
    static const char *const own[] = {"arg",     "res",   "arg_step", "res_step", "points",
                                      "where",   "first", "failed",   "valid",    "total",
                                      "careful", "iw",    "mem",      "w",        "l"};
    if (is_known(name) || AMONG(name, strlen(name), own)) return 1;
    /* t1, u, x[0], s[2]: names of numbers in the text */
    return strchr("tuvs", name[0]) != NULL &&
           strspn(name + 1, "0123456789") == strlen(name + 1);
}

/* Names of a text with repeats, or operations on whole matrices. */
static int is_of_repeats(const char *name) {
    static const char *const own[] = {"got",       "given",   "terms", "from",  "to",
                                      "from_step", "to_step", "step",  "place", "k",
                                      "now",       "inner",   "work",  "pivot"};
    return AMONG(name, strlen(name), own) ||
           (wgi_word_begins(name, "given") &&
            strspn(name + 5, "0123456789") == strlen(name + 5));
}

/* Is it a name that no argument may have, whatever the others are called? */
static int is_refused(const wgi_writer *w, const char *name) {
    return is_reserved(name) || strcmp(name, w->name) == 0 ||
           (is_of_repeats(name) && wgi_function_has_wholes(w->f));
}

enum { LONGEST = 40, SUFFIX = 16 };

/* Letters, digits and underscores; a letter first; not like a macro, or a function of the text.
 * Gives the length. */
static size_t spell(const wgi_writer *w, const char *name, char *to) {
    size_t n = 0;
    if (wgi_is_digit(*name) || *name == '_') to[n++] = 'a';
    for (; *name != 0 && n < LONGEST; name++) to[n++] = wgi_in_word(*name) ? *name : '_';
    to[n] = 0;
    if (begins_like_macros(to) || (w->blas && is_like_macros_of_blas(to)) ||
        (wgi_word_begins(to, w->name) && to[strlen(w->name)] == '_')) { /* as functions */
        memmove(to + 2, to, n <= LONGEST - 2 ? n + 1 : LONGEST - 1);
        to[0] = 'a', to[1] = '_';
        to[LONGEST] = 0;
        n = strlen(to);
    }
    return n;
}

struct given {
    const char *name; /* NULL: free */
    unsigned suffix;  /* none below is free for this spelling */
};

/* The identifiers given, by hash. Those of one spelling are told apart by a suffix: the search
 * for one begins where that for the one before has ended, as what is given stays given. */
typedef struct identifiers {
    struct given *at;
    size_t places; /* a power of two, more than are ever filled */
} identifiers;

/* The place of a name: its own, or the free one for it. */
static struct given *place_of(const identifiers *all, const char *name) {
    uint64_t h = 0;
    for (const char *p = name; *p != 0; p++) h = (h ^ (unsigned char)*p) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h ^ h >> 32) & (all->places - 1);
    while (all->at[i].name != NULL && strcmp(all->at[i].name, name) != 0)
        i = (i + 1) & (all->places - 1);
    return &all->at[i];
}

static const char *identifier(const wgi_writer *w, const identifiers *all, const char *name) {
    char *const to = wg_tape_keep(&w->c->head, LONGEST + SUFFIX, NULL);
    if (to == NULL) return "";
    const size_t n = spell(w, name, to);
    struct given *place = place_of(all, to), *const spelling = place;
    /* a refused spelling is kept for its suffix alone */
    if (place->name == NULL && is_refused(w, to)) {
        place->name = wg_tape_keep(&w->c->head, n + 1, to);
        place->suffix = 2;
        if (place->name == NULL) return "";
    }
    while (place->name != NULL || is_refused(w, to)) {
        (void)snprintf(to + n, SUFFIX, "_%u", spelling->suffix++);
        place = place_of(all, to);
    }
    place->name = to;
    place->suffix = 2;
    return to;
}

wg_status wgi_name_arguments(wgi_writer *w) {
    const wg_function *const f = w->f;
    identifiers all = {NULL, 4};
    /* an identifier of each argument, and the spelling of a refused one */
    while (all.places < 4 * (f->inputs + f->outputs)) all.places *= 2;
    all.at = wg_tape_keep(&w->c->head, all.places * sizeof *all.at, NULL);
    if (all.at == NULL) return w->c->status;
    for (size_t i = 0; i < all.places; i++) all.at[i].name = NULL;
    for (size_t k = 0, e = 0; k < f->inputs && w->c->status == WG_OK; k++) {
        w->in[k] = identifier(w, &all, f->input[k].name);
        for (size_t l = 0; l < wgi_argument_size(&f->input[k]); l++, e++)
            w->argument[e] = (uint32_t)k, w->entry[e] = (uint32_t)l;
    }
    for (size_t k = 0; k < f->outputs && w->c->status == WG_OK; k++)
        w->out[k] = identifier(w, &all, f->output[k].name);
    return w->c->status;
}
