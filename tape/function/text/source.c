/* SPDX-License-Identifier: MIT */
/* Functions as C text: names, definitions, expressions. */
#include "source.h"

#include "ops/scalar/array.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- words of a text ---- */

static int in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}
static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* The next word from p on that is no number; *length is 0 at the end. */
static const char *word(const char *p, size_t *length) {
    *length = 0;
    while (*p != 0) {
        if (is_digit(*p) || (*p == '.' && is_digit(p[1]))) { /* a number with its suffix */
            while (in_word(*p) || *p == '.' ||
                   ((*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E')))
                p++;
            continue;
        }
        if (in_word(*p)) {
            while (in_word(p[*length])) ++*length;
            return p;
        }
        p++;
    }
    return p;
}

static int is(const char *p, size_t length, const char *name) {
    return strncmp(p, name, length) == 0 && name[length] == 0;
}

unsigned wgi_source_letters(const char *text, char letter) {
    unsigned n = 0;
    size_t length;
    for (const char *p = word(text, &length); length != 0; p = word(p + length, &length))
        n += length == 1 && *p == letter;
    return n;
}

/* ---- definitions ---- */

static const struct {
    const char *name, *text;
    short needs[24];
} specials[] = {
#define TEXT(name, text, ...) {name, text, __VA_ARGS__},
#include "ops/scalar/special_text.h"
#undef TEXT
};
enum { SPECIALS = sizeof specials / sizeof *specials };

static void need(wgi_source *s, size_t i) {
    if (s->special[i]) return;
    s->special[i] = 1;
    for (const short *k = specials[i].needs; *k >= 0; k++) need(s, (size_t)*k);
}

static size_t special_named(const char *p, size_t length) {
    size_t i = 0;
    while (i < SPECIALS && !is(p, length, specials[i].name)) i++;
    return i;
}

void wgi_source_need(wgi_source *s, const char *text) {
    size_t length;
    for (const char *p = word(text, &length); length != 0; p = word(p + length, &length)) {
        const size_t i = special_named(p, length);
        if (i < SPECIALS) need(s, i);
    }
}

static const char *const array_function[WGI_ARRAY_COUNT] = {
    [WGI_ARRAY_norm2] = "wgi_array_norm2_value",
    [WGI_ARRAY_logsumexp] = "wgi_array_logsumexp_value",
    [WGI_ARRAY_maximum] = "wgi_array_maximum_value",
    [WGI_ARRAY_minimum] = "wgi_array_minimum_value",
    [WGI_ARRAY_lookup] = "wgi_array_lookup_value"};

void wgi_source_need_all(wgi_source *s, int all_values) {
    const wg_scalar_op *before = NULL;
    for (size_t i = 0; i < s->f->nodes; i++) {
        const wgi_node *const n = &s->f->node[i];
        if (n->kind == WGI_NODE_ARRAY) wgi_source_need(s, array_function[n->array]);
        if (wgi_node_row(n)->text != NULL) wgi_source_need(s, wgi_node_row(n)->text);
        if (n->op == NULL || (n->op == before && n->kind == WGI_NODE_OP)) continue;
        if (n->kind == WGI_NODE_OP) before = n->op;
        wgi_source_need(s, wgi_source_text(n));
        if (all_values || wgi_source_needs_v(s, (uint32_t)i))
            wgi_source_need(s, n->op->text[0]);
    }
}

/* After those that it needs. */
static void define(wgi_source *s, size_t i) {
    if (s->special[i] != 1) return;
    s->special[i] = 2;
    for (const short *k = specials[i].needs; *k >= 0; k++) define(s, (size_t)*k);
    wgi_source_named(s, specials[i].text);
    wgi_text_put(&s->o, "\n");
}

void wgi_source_definitions(wgi_source *s) {
    for (size_t i = 0; i < SPECIALS; i++) define(s, i);
    for (size_t i = 0; i < SPECIALS; i++) s->special[i] = s->special[i] != 0;
}

int wgi_source_defines(const wgi_source *s, const char *name) {
    const size_t i = special_named(name, strlen(name));
    return i < SPECIALS && s->special[i];
}

int wgi_source_beyond_c99(const wgi_source *s) {
    static const char *const beyond[] = {"lgamma_r", "j0", "j1", "y0", "y1"};
    for (size_t i = 0; i < SPECIALS; i++) {
        size_t length;
        const char *const text = s->special[i] ? specials[i].text : "";
        for (const char *p = word(text, &length); length != 0; p = word(p + length, &length))
            for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++)
                if (is(p, length, beyond[k])) return 1;
    }
    return 0;
}

void wgi_source_named(wgi_source *s, const char *text) {
    for (const char *p = text; *p != 0;) {
        const char *next = strstr(p, "wgi_");
        if (next == NULL) next = p + strlen(p);
        wgi_text_bytes(&s->o, p, (size_t)(next - p));
        if (*next == 0) return;
        wgi_text_put(&s->o, s->name);
        p = next + 3;
    }
}

/* ---- names ---- */

/* Functions of <math.h> from double to double. */
static const char *const functions[] = {
    "acos",     "acosh",     "asin",  "asinh", "atan",     "atan2",  "atanh",     "cbrt",
    "ceil",     "cos",       "cosh",  "erf",   "erfc",     "exp",    "exp2",      "expm1",
    "fabs",     "fdim",      "floor", "fma",   "fmax",     "fmin",   "fmod",      "hypot",
    "log",      "log10",     "log1p", "log2",  "pow",      "rint",   "remainder", "round",
    "sin",      "sinh",      "sqrt",  "tan",   "tanh",     "trunc",  "lgamma",    "tgamma",
    "copysign", "nearbyint", "isnan", "isinf", "isfinite", "signbit"};

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
        if (is(p, length, list[i])) return 1;
    return 0;
}
#define AMONG(p, length, list) is_among(p, length, list, sizeof(list) / sizeof *(list))

static int begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

static int begins_like_macros(const char *name) {
    return begins(name, "M_") || begins(name, "FP_") || begins(name, "HUGE_") ||
           begins(name, "MATH_") || begins(name, "SNAN");
}

/* Is it a word or a macro of C, or of the headers? */
static int is_known(const char *name) {
    const size_t length = strlen(name);
    return AMONG(name, length, reserved) || AMONG(name, length, functions) ||
           begins_like_macros(name);
}

int wgi_source_is_known(const char *name) {
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
           (AMONG(name, length - 1, functions) || AMONG(name, length - 1, more));
}

/* Macros of the headers of BLAS and LAPACK, and of those that they include. */
static const char *const blas_macros[] = {"I",     "complex", "imaginary", "xdouble",
                                          "stdin", "stdout",  "stderr",    "sched_priority"};

/* Is it one of these, or like the others of them? */
static int is_like_macros_of_blas(const char *name) {
    const int upper = name[0] >= 'A' && name[0] <= 'Z';
    return AMONG(name, strlen(name), blas_macros) || begins(name, "lapack_") ||
           (upper && ((name[1] >= 'A' && name[1] <= 'Z') || name[1] == '_'));
}

int wgi_source_is_of_blas(const char *name) {
    static const char *const more[] = {
        "abort", "abs",  "carg",   "cimag",  "conj",   "cproj",  "creal",  "div",   "exit",
        "free",  "rand", "random", "remove", "rename", "rewind", "select", "system"};
    static const char *const with[] = {"lapack_", "LAPACK",    "cblas_",  "CBLAS",
                                       "Cblas",   "openblas_", "OPENBLAS"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (begins(name, with[i])) return 1;
    return AMONG(name, length, blas_macros) || AMONG(name, length, more) ||
           (*name == 'c' && AMONG(name + 1, length - 1, functions)); /* csin */
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
           (begins(name, "given") && strspn(name + 5, "0123456789") == strlen(name + 5));
}

/* Is it a name that no argument may have, whatever the others are called? */
static int is_refused(const wgi_source *s, const char *name) {
    return is_reserved(name) || strcmp(name, s->name) == 0 ||
           (is_of_repeats(name) && wgi_function_has_wholes(s->f));
}

enum { LONGEST = 40, SUFFIX = 16 };

/* Letters, digits and underscores; a letter first; not like a macro, or a function of the text.
 * Gives the length. */
static size_t spell(const wgi_source *s, const char *name, char *to) {
    size_t n = 0;
    if (is_digit(*name) || *name == '_') to[n++] = 'a';
    for (; *name != 0 && n < LONGEST; name++) to[n++] = in_word(*name) ? *name : '_';
    to[n] = 0;
    if (begins_like_macros(to) || (s->blas && is_like_macros_of_blas(to)) ||
        (begins(to, s->name) && to[strlen(s->name)] == '_')) { /* as functions */
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

static const char *identifier(const wgi_source *s, const identifiers *all, const char *name) {
    char *const to = wg_tape_keep(&s->c->head, LONGEST + SUFFIX, NULL);
    if (to == NULL) return "";
    const size_t n = spell(s, name, to);
    struct given *place = place_of(all, to), *const spelling = place;
    /* a refused spelling is kept for its suffix alone */
    if (place->name == NULL && is_refused(s, to)) {
        place->name = wg_tape_keep(&s->c->head, n + 1, to);
        place->suffix = 2;
        if (place->name == NULL) return "";
    }
    while (place->name != NULL || is_refused(s, to)) {
        (void)snprintf(to + n, SUFFIX, "_%u", spelling->suffix++);
        place = place_of(all, to);
    }
    place->name = to;
    place->suffix = 2;
    return to;
}

static void name_arguments(wgi_source *s) {
    const wg_function *const f = s->f;
    identifiers all = {NULL, 4};
    /* an identifier of each argument, and the spelling of a refused one */
    while (all.places < 4 * (f->inputs + f->outputs)) all.places *= 2;
    all.at = wg_tape_keep(&s->c->head, all.places * sizeof *all.at, NULL);
    if (all.at == NULL) return;
    for (size_t i = 0; i < all.places; i++) all.at[i].name = NULL;
    for (size_t k = 0, e = 0; k < f->inputs && s->c->status == WG_OK; k++) {
        s->in[k] = identifier(s, &all, f->input[k].name);
        for (size_t l = 0; l < wgi_argument_size(&f->input[k]); l++, e++)
            s->argument[e] = (uint32_t)k, s->entry[e] = (uint32_t)l;
    }
    for (size_t k = 0; k < f->outputs && s->c->status == WG_OK; k++)
        s->out[k] = identifier(s, &all, f->output[k].name);
}

wg_status wgi_source_use_blas(wgi_source *s) {
    s->blas = 1;
    name_arguments(s);
    return s->c->status;
}

/* ---- texts of operations ---- */

const char *wgi_source_text(const wgi_node *n) {
    if (n->op == NULL) return wgi_node_row(n)->text;
    if (n->kind == WGI_NODE_OP) return n->op->text[0];
    return n->op->text[n->part + 1 + (n->kind == WGI_NODE_SECOND ? n->op->arity : 0)];
}

int wgi_source_calls(const char *text) {
    size_t length;
    for (const char *p = word(text, &length); length != 0; p = word(p + length, &length))
        if (p[length] == '(' && !is(p, length, "fabs") && !is(p, length, "copysign")) return 1;
    return 0;
}

/* An expression over the letters, numbers, and functions that the text can have. */
static int can_be_written(const char *text, unsigned arity) {
    static const char *const more[] = {"INFINITY", "NAN"};
    size_t length;
    if (text == NULL) return 0;
    for (const char *p = text; *p != 0; p++)
        if (!in_word(*p) && strchr(" +-*/()<>=!?:,.&|", *p) == NULL) return 0;
    for (const char *p = word(text, &length); length != 0; p = word(p + length, &length)) {
        int known = length == 1 && (*p == 'v' || (*p >= 'a' && (unsigned)(*p - 'a') < arity));
        known |= AMONG(p, length, more);
        if (p[length] == '(')
            known |= special_named(p, length) < SPECIALS || AMONG(p, length, functions);
        if (!known) return 0;
    }
    return 1;
}

static wg_status check_operations(wgi_source *s) {
    for (size_t i = 0; i < s->f->nodes; i++) {
        const wgi_node *const n = &s->f->node[i];
        if (n->op == NULL || !wgi_is_users(n->op)) continue;
        if (!can_be_written(wgi_source_text(n), n->op->arity) ||
            !can_be_written(n->op->text[0], n->op->arity))
            return wgi_fail(s->c, WG_EMODE, "%s: the operation %s cannot be written as C",
                            s->call, n->op->name);
    }
    return WG_OK;
}

/* ---- where the value of an operation is ---- */

static size_t hash(const wg_function *f, const wgi_node *n) {
    uint64_t h = (uint64_t)(uintptr_t)n->op;
    for (uint32_t k = 0; k < n->count; k++)
        h = (h ^ f->operand[n->first + k]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return (size_t)h;
}

static void find_values(wgi_source *s) {
    const wg_function *const f = s->f;
    size_t slots = 16;
    while (slots < 2 * f->nodes) slots *= 2;
    uint32_t *const table = wg_tape_keep(&s->c->head, slots * sizeof *table, NULL);
    if (table == NULL) return;
    for (size_t i = 0; i < slots; i++) table[i] = WGI_NO_NODE;
    for (uint32_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        s->same[i] = s->twin[i] = WGI_NO_NODE;
        if (n->op == NULL) continue;
        size_t at = hash(f, n) & (slots - 1);
        for (; table[at] != WGI_NO_NODE; at = (at + 1) & (slots - 1)) {
            const wgi_node *const other = &f->node[table[at]];
            if (other->op == n->op && memcmp(f->operand + other->first, f->operand + n->first,
                                             n->count * sizeof *f->operand) == 0)
                break;
        }
        if (n->kind == WGI_NODE_OP) {
            table[at] = i;
        } else if (wgi_source_letters(wgi_source_text(n), 'v') != 0) {
            if (table[at] == WGI_NO_NODE) table[at] = i;
            if (f->node[table[at]].kind == WGI_NODE_OP) s->same[i] = table[at];
            else s->twin[i] = table[at];
        }
    }
}

int wgi_source_needs_v(const wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    return wgi_node_is_partial(n) && s->same[node] == WGI_NO_NODE &&
           wgi_source_letters(wgi_source_text(n), 'v') != 0;
}

wg_status wgi_source_open(wgi_source *s, wgi_core *c, const char *call, const wg_function *f,
                          const char *name) {
    memset(s, 0, sizeof *s);
    s->c = c, s->call = call, s->f = f, s->name = name;
    s->scope = "";
    wg_tape *const t = &c->head;
    const size_t nodes = (f->nodes + 1) * sizeof(uint32_t);
    s->in = wg_tape_keep(t, (f->inputs + 1) * sizeof *s->in, NULL);
    s->out = wg_tape_keep(t, (f->outputs + 1) * sizeof *s->out, NULL);
    s->argument = wg_tape_keep(t, (f->n + 1) * sizeof *s->argument, NULL);
    s->entry = wg_tape_keep(t, (f->n + 1) * sizeof *s->entry, NULL);
    s->special = wg_tape_keep(t, SPECIALS, NULL);
    s->is_result = wg_tape_keep(t, f->nodes + 1, NULL);
    s->folded = wg_tape_keep(t, f->nodes + 1, NULL);
    uint32_t **const lists[] = {&s->same, &s->twin,   &s->list, &s->unit, &s->slot,
                                &s->uses, &s->length, &s->last, &s->spare};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = wg_tape_keep(t, nodes, NULL);
    if (c->status != WG_OK) return c->status;
    memset(s->special, 0, SPECIALS);
    memset(s->is_result, 0, f->nodes + 1);
    for (size_t j = 0; j < f->m; j++) s->is_result[f->result[j]] = 1;
    name_arguments(s);
    if (check_operations(s) == WG_OK) find_values(s);
    return c->status;
}

/* ---- plans ---- */

static int listed(const wgi_source *s, uint32_t node) { return s->unit[node] != WGI_NO_NODE; }

/* Operand k, or after the last one the value that a partial is computed from; WGI_NO_NODE: that
 * is all. */
static uint32_t needed(const wgi_source *s, uint32_t node, uint32_t k) {
    const wgi_node *const n = &s->f->node[node];
    if (k < n->count) return s->f->operand[n->first + k];
    return k == n->count ? s->same[node] : WGI_NO_NODE;
}

void wgi_source_count(wgi_source *s) {
    const wg_function *const f = s->f;
    memset(s->uses, 0, f->nodes * sizeof *s->uses);
    memset(s->folded, 0, f->nodes);
    for (size_t i = 0; i < f->nodes; i++) s->slot[i] = WGI_NO_NODE;
    for (size_t i = 0; i < s->listed; i++) {
        for (uint32_t k = 0, o; (o = needed(s, s->list[i], k)) != WGI_NO_NODE; k++)
            s->uses[o]++;
    }
    for (size_t j = 0; j < f->m; j++) s->uses[f->result[j]]++;
    for (size_t k = 0; k < f->guards; k++)
        s->uses[f->guard[k].a] += 2, s->uses[f->guard[k].b] += 2;
}

static int is_cheap(const wgi_node *n) {
    switch (wgi_node_op(n)) {
    case WGI_ROW_neg:
    case WGI_ROW_add:
    case WGI_ROW_sub:
    case WGI_ROW_mul:
    case WGI_ROW_div:
    case WGI_ROW_fabs:
    case WGI_ROW_sqrt:
        return 1;
    default:
        return n->kind == WGI_NODE_TIMES;
    }
}

static size_t leaf_length(const wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    if (n->kind == WGI_NODE_INPUT) return strlen(s->in[s->argument[node]]) + 4;
    return n->kind == WGI_NODE_NUMBER ? 8 : 4;
}

void wgi_source_fold(wgi_source *s, size_t most) {
    for (size_t i = 0; i < s->listed; i++) {
        const uint32_t node = s->list[i];
        const wgi_node *const n = &s->f->node[node];
        const char *const text = wgi_source_text(n);
        size_t total = text != NULL ? strlen(text) : 8;
        for (uint32_t k = 0; k < n->count; k++)
            total += leaf_length(s, s->f->operand[n->first + k]);
        for (uint32_t k = 0; k < n->count; k++) {
            const uint32_t o = s->f->operand[n->first + k];
            if (!listed(s, o) || s->unit[o] != s->unit[node] || s->uses[o] != 1 ||
                s->is_result[o] || !is_cheap(&s->f->node[o]) ||
                (text != NULL && wgi_source_letters(text, (char)('a' + k)) != 1) ||
                wgi_source_needs_v(s, node))
                continue;
            const size_t with = total - 4 + s->length[o] + 2;
            if (with > most) continue;
            s->folded[o] = 1;
            total = with;
        }
        s->length[node] = (uint32_t)total;
    }
}

int wgi_source_at_result(const wgi_source *s, uint32_t node) {
    return s->f->node[node].kind != WGI_NODE_PART && s->uses[node] == 1 && s->is_result[node] &&
           !wgi_source_needs_v(s, node);
}

void wgi_source_slots(wgi_source *s) {
    const wg_function *const f = s->f;
    size_t spares = 0, ending = 0;
    uint32_t *const end = s->length; /* nodes with slots, by the unit of their last use */
    for (size_t i = 0; i < f->nodes; i++) s->last[i] = s->unit[i];
    for (size_t i = 0; i < s->listed; i++) {
        const uint32_t node = s->list[i];
        for (uint32_t k = 0, o; (o = needed(s, node, k)) != WGI_NO_NODE; k++)
            if (listed(s, o) && s->unit[node] > s->last[o]) s->last[o] = s->unit[node];
    }
    for (size_t k = 0; k < f->guards; k++) { /* where both are known */
        const uint32_t a = f->guard[k].a, b = f->guard[k].b;
        if (s->apart && listed(s, a)) s->last[a]++; /* looked at lane by lane */
        if (s->apart && listed(s, b)) s->last[b]++;
        if (!listed(s, a) || !listed(s, b)) continue;
        if (s->unit[b] > s->last[a]) s->last[a] = s->unit[b];
        if (s->unit[a] > s->last[b]) s->last[b] = s->unit[a];
    }
    s->slots = 0;
    uint32_t now = 0;
    for (size_t i = 0; i < s->listed; i++) {
        const uint32_t node = s->list[i];
        if (s->unit[node] != now) { /* slots whose last use is before this unit */
            now = s->unit[node];
            size_t kept = 0;
            for (size_t k = 0; k < ending; k++)
                if (s->last[end[k]] < now) s->spare[spares++] = s->slot[end[k]];
                else end[kept++] = end[k];
            ending = kept;
        }
        if (s->last[node] == s->unit[node]) continue;
        /* those of repeats are put apart */
        if (wgi_node_has_parts(&s->f->node[node]) || s->f->node[node].kind == WGI_NODE_PART)
            continue;
        if (s->apart && s->f->node[node].when != WGI_EACH) {
            s->slot[node] = (uint32_t)s->uniforms++;
            continue;
        }
        s->slot[node] = spares != 0 ? s->spare[--spares] : (uint32_t)s->slots++;
        end[ending++] = node;
    }
}

int wgi_source_checks(const wgi_source *s, unsigned char *check) {
    const wg_function *const f = s->f;
    unsigned char *const stems =
        wg_tape_keep(&s->c->head, f->nodes + 1, NULL); /* from products */
    int any = 0;
    memset(check, 0, f->nodes + 1);
    if (stems == NULL) return 0;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        stems[i] = n->kind == WGI_NODE_TIMES && n->when == WGI_EACH;
        any |= stems[i];
        /* a repeat is done with care: what goes into it is looked at */
        for (uint32_t k = 0; !wgi_node_has_parts(n) && k < n->count; k++)
            stems[i] |= stems[f->operand[n->first + k]];
        for (uint32_t k = 0; k < n->count; k++)
            if (!wgi_node_shows_nan(n)) check[f->operand[n->first + k]] = 1;
    }
    for (size_t j = 0; j < f->m; j++) check[f->result[j]] = 1;
    for (size_t k = 0; k < f->guards; k++) check[f->guard[k].a] = check[f->guard[k].b] = 1;
    for (size_t i = 0; i < f->nodes; i++) check[i] &= stems[i] & (f->node[i].when == WGI_EACH);
    /* what shows in a node that is looked at need not be looked at itself */
    unsigned char *const shown = stems;
    memset(shown, 0, f->nodes);
    for (size_t i = f->nodes; i-- > 0;) {
        const wgi_node *const n = &f->node[i];
        if (shown[i]) check[i] = 0;
        if ((!shown[i] && !check[i]) || n->when != WGI_EACH || !wgi_node_shows_nan(n)) continue;
        for (uint32_t k = 0; k < n->count; k++) shown[f->operand[n->first + k]] = 1;
    }
    return any;
}

/* ---- expressions ---- */

static int strength(const wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    if (n->kind == WGI_NODE_NUMBER)
        return signbit(n->value) ? WGI_PLACE_SIGNED : WGI_PLACE_ATOM;
    if (!s->folded[node]) return WGI_PLACE_ATOM;
    if (n->kind == WGI_NODE_TIMES && s->times == NULL) return WGI_PLACE_PRODUCT;
    switch (wgi_node_op(n)) {
    case WGI_ROW_add:
    case WGI_ROW_sub:
        return WGI_PLACE_SUM;
    case WGI_ROW_mul:
    case WGI_ROW_div:
        return WGI_PLACE_PRODUCT;
    case WGI_ROW_neg:
        return WGI_PLACE_SIGNED;
    default:
        return WGI_PLACE_ATOM;
    }
}

void wgi_source_operand(wgi_source *s, uint32_t node, int place) {
    const wgi_node *const n = &s->f->node[node];
    const int bare = strength(s, node) >= place;
    if (!bare) wgi_text_put(&s->o, "(");
    if (n->kind == WGI_NODE_NUMBER) wgi_text_number(&s->o, n->value);
    else if (s->folded[node]) wgi_source_expression(s, node, NULL);
    else s->leaf(s, node);
    if (!bare) wgi_text_put(&s->o, ")");
}

void wgi_source_row(wgi_source *s, const char *text, uint32_t node, const char *v) {
    const wgi_node *const n = &s->f->node[node];
    size_t length;
    const char *p = text;
    for (const char *w = word(p, &length); length != 0; w = word(p, &length)) {
        wgi_text_bytes(&s->o, p, (size_t)(w - p));
        p = w + length;
        const size_t k = (size_t)(*w - 'a');
        if (length == 1 && *w == 'v') {
            if (v != NULL) wgi_text_put(&s->o, v);
            else wgi_source_operand(s, s->same[node], WGI_PLACE_ATOM);
        } else if (length == 1 && k < n->count) {
            const int alone =
                w > text && (w[-1] == '(' || (w - text >= 2 && w[-1] == ' ' && w[-2] == ',')) &&
                (*p == ')' || *p == ',');
            wgi_source_operand(s, s->f->operand[n->first + k],
                               alone ? WGI_PLACE_SUM : WGI_PLACE_ATOM);
        } else if (strncmp(w, "wgi_", 4) == 0) {
            wgi_text_put(&s->o, s->name);
            wgi_text_bytes(&s->o, w + 3, length - 3);
        } else {
            wgi_text_bytes(&s->o, w, length);
        }
    }
    wgi_text_put(&s->o, p);
}

static void two(wgi_source *s, const wgi_node *n, int first, const char *between, int second) {
    wgi_source_operand(s, s->f->operand[n->first], first);
    wgi_text_put(&s->o, between);
    wgi_source_operand(s, s->f->operand[n->first + 1], second);
}

static void array(wgi_source *s, const wgi_node *n) {
    wgi_source_named(s, array_function[n->array]);
    wgi_text_format(&s->o, "(%u, (const double[]){", (unsigned)n->count);
    for (uint32_t k = 0; k < n->count; k++) {
        if (k != 0) wgi_text_put(&s->o, k % 8 == 0 ? ",\n            " : ", ");
        wgi_source_operand(s, s->f->operand[n->first + k], WGI_PLACE_SUM);
    }
    wgi_text_put(&s->o, n->count == 0 ? "0.0}, NULL)" : "}, NULL)");
}

void wgi_source_expression(wgi_source *s, uint32_t node, const char *v) {
    const wgi_node *const n = &s->f->node[node];
    switch (n->kind) {
    case WGI_NODE_TIMES:
        if (s->times == NULL) {
            two(s, n, WGI_PLACE_PRODUCT, " * ", WGI_PLACE_SIGNED);
            return;
        }
        wgi_source_named(s, s->times);
        two(s, n, WGI_PLACE_SUM, ", ", WGI_PLACE_SUM);
        wgi_text_put(&s->o, ")");
        return;
    case WGI_NODE_ARRAY:
        array(s, n);
        return;
    case WGI_NODE_SUM:
        wgi_source_operand(s, s->f->operand[n->first], WGI_PLACE_SUM);
        return;
    default:
        break;
    }
    switch (wgi_node_op(n)) {
    case WGI_ROW_add:
        two(s, n, WGI_PLACE_SUM, " + ", WGI_PLACE_PRODUCT);
        return;
    case WGI_ROW_sub:
        two(s, n, WGI_PLACE_SUM, " - ", WGI_PLACE_PRODUCT);
        return;
    case WGI_ROW_mul:
        two(s, n, WGI_PLACE_PRODUCT, " * ", WGI_PLACE_SIGNED);
        return;
    case WGI_ROW_div:
        two(s, n, WGI_PLACE_PRODUCT, " / ", WGI_PLACE_SIGNED);
        return;
    default:
        wgi_source_row(s, wgi_source_text(n), node, v);
    }
}
