/* SPDX-License-Identifier: MIT */
/* The texts of partials, parsed. They are C expressions: + - * / and a sign, comparisons that
 * choose (c ? x : y), numbers, the letters of operands and of the value, functions of libm and
 * wgi_ names of rows.
 *
 * Functions have the same few texts a million times: a text becomes a recipe, a list of
 * operations on numbered places, which is followed wherever the partial is asked for. */
#include "recipe.h"
#include "signed.h"
#include "words.h"

#include "ops/scalar/elementwise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ---- */

typedef struct parser {
    wgi_recipe_step *step;
    size_t steps;
    const char *at;
    size_t operands;
    int users;  /* the text is that of a user's operation */
    int failed; /* the text has something that is not understood */
} parser;

/* A part of the text: the place of its value. `whole`: it has whole numbers only, which C would
 * divide as integers. */
typedef struct part {
    uint32_t place;
    int whole;
} part;

static part choice(parser *p);

static void blanks(parser *p) {
    while (*p->at == ' ' || *p->at == '\n' || *p->at == '\t') p->at++;
}

static int take(parser *p, const char *token) {
    blanks(p);
    const char *at = p->at;
    for (; *token != 0; token++, at++)
        if (*at != *token) return 0;
    p->at = at;
    return 1;
}

static part none(parser *p) {
    p->failed = 1;
    return (part){0, 0};
}

static uint32_t add(parser *p, wgi_recipe_step s) {
    if (p->steps == WGI_RECIPE_STEPS) p->failed = 1;
    else p->step[p->steps++] = s;
    return WGI_RECIPE_FIRST + (uint32_t)p->steps - 1;
}
static uint32_t operation(parser *p, unsigned row, uint32_t a, uint32_t b) {
    return add(p, (wgi_recipe_step){.op = &wgi_scalar_ops[row], .x = {a, b}});
}

static const wg_scalar_op *row_named(const char *name, size_t length) {
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        if (*wgi_scalar_ops[i].name == *name &&
            strncmp(wgi_scalar_ops[i].name, name, length) == 0 &&
            wgi_scalar_ops[i].name[length] == 0)
            return &wgi_scalar_ops[i];
    return NULL;
}

int wgi_is_function_of_c(const char *p, size_t length) {
    static const char *const functions[] = {
        "acos",     "acosh",     "asin",  "asinh", "atan",     "atan2",  "atanh",     "cbrt",
        "ceil",     "cos",       "cosh",  "erf",   "erfc",     "exp",    "exp2",      "expm1",
        "fabs",     "fdim",      "floor", "fma",   "fmax",     "fmin",   "fmod",      "hypot",
        "log",      "log10",     "log1p", "log2",  "pow",      "rint",   "remainder", "round",
        "sin",      "sinh",      "sqrt",  "tan",   "tanh",     "trunc",  "lgamma",    "tgamma",
        "copysign", "nearbyint", "isnan", "isinf", "isfinite", "signbit"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (wgi_word_is(p, length, functions[i])) return 1;
    return 0;
}

static part call(parser *p, const char *name, size_t length) {
    const int ours = length > 4 && strncmp(name, "wgi_", 4) == 0;
    if (ours) name += 4, length -= 4;
    const wg_scalar_op *const op = row_named(name, length);
    wgi_recipe_step s = {.op = op};
    if (op == NULL || op->arity > 4) return none(p);
    /* in the text of a user's operation other names are functions of the user's, even where a
     * row has that name */
    if (p->users && !ours && !wgi_is_function_of_c(name, length)) return none(p);
    for (unsigned k = 0; k < op->arity; k++) {
        if (k != 0 && !take(p, ",")) return none(p);
        s.x[k] = choice(p).place;
        if (p->failed) return none(p);
    }
    return take(p, ")") ? (part){add(p, s), 0} : none(p);
}

static part name(parser *p) {
    const char *const start = p->at;
    while (wgi_in_word(*p->at)) p->at++;
    const size_t length = (size_t)(p->at - start);
    if (take(p, "(")) return call(p, start, length);
    if (length != 1) return none(p);
    if (*start == 'v') return (part){WGI_RECIPE_VALUE, 0};
    const size_t k = (size_t)(*start - 'a');
    return *start >= 'a' && k < p->operands ? (part){(uint32_t)k, 0} : none(p);
}

/* The digits over a power of ten, both of which are numbers: the nearest one to the quotient,
 * as strtod has it, at once. 0: there are too many of them. */
static int is_short(const char *digits, size_t n, size_t places, double *x) {
    enum { EXACT = 15 }; /* of 2^53 */
    double whole = 0, ten = 1;
    if (n > EXACT) return 0;
    for (size_t i = 0; i < n; i++) whole = 10 * whole + (digits[i] - '0');
    for (size_t i = 0; i < places; i++) ten *= 10;
    *x = whole / ten;
    return 1;
}

/* The number at the beginning of the text; *end: what follows it. Its point is left out and
 * counted in the exponent: which bytes strtod takes for one is a matter of the locale. */
static double read_number(const char *text, const char **end) {
    enum { LONGEST = 64 };
    char digits[LONGEST], token[LONGEST + 32], *stop;
    if (*text >= '0' && *text <= '9' && !wgi_in_word(text[1]) &&
        text[1] != '.') { /* as most are */
        *end = text + 1;
        return *text - '0';
    }
    const size_t whole = strspn(text, "0123456789");
    const size_t point = text[whole] == '.';
    const size_t places = point ? strspn(text + whole + 1, "0123456789") : 0;
    size_t n = whole + point + places;
    long exponent = 0;
    *end = text;
    if (whole + places == 0 || n >= LONGEST) return 0;
    if (text[n] == 'e' || text[n] == 'E') {
        const size_t sign = text[n + 1] == '-' || text[n + 1] == '+';
        const size_t length = strspn(text + n + 1 + sign, "0123456789");
        if (length == 0 || length > 6) return 0;
        exponent = strtol(text + n + 1, NULL, 10);
        n += 1 + sign + length;
    }
    memcpy(digits, text, whole);
    if (places != 0) memcpy(digits + whole, text + whole + 1, places);
    digits[whole + places] = 0;
    double x;
    if (exponent == 0 && is_short(digits, whole + places, places, &x)) {
        *end = text + n;
        return x;
    }
    (void)snprintf(token, sizeof token, "%se%ld", digits, exponent - (long)places);
    x = strtod(token, &stop);
    if (*stop == 0) *end = text + n;
    return x;
}

static part number(parser *p) {
    const char *end;
    const double x = read_number(p->at, &end);
    const char *const start = p->at;
    if (end == p->at || wgi_in_word(*end)) return none(p);
    p->at = end;
    const int whole = end == start + 1 || strspn(start, "0123456789") == (size_t)(end - start);
    return (part){add(p, (wgi_recipe_step){.number = x}), whole};
}

static part primary(parser *p) {
    if (p->failed) return none(p);
    blanks(p);
    if (take(p, "(")) {
        const part inner = choice(p);
        return take(p, ")") ? inner : none(p);
    }
    if (take(p, "-")) {
        const part of = primary(p);
        return p->failed ? of : (part){operation(p, WGI_ROW_neg, of.place, of.place), of.whole};
    }
    if (wgi_is_digit(*p->at) || *p->at == '.') return number(p);
    return wgi_in_word(*p->at) ? name(p) : none(p);
}

static part factors(parser *p) {
    part x = primary(p);
    while (!p->failed) {
        const int times = take(p, "*");
        if (!times && !take(p, "/")) break;
        const part y = primary(p);
        if (p->failed || (!times && x.whole && y.whole)) return none(p);
        x.place = operation(p, times ? WGI_ROW_mul : WGI_ROW_div, x.place, y.place);
        x.whole = x.whole && y.whole;
    }
    return x;
}

static part terms(parser *p) {
    part x = factors(p);
    while (!p->failed) {
        const int plus = take(p, "+");
        if (!plus && !take(p, "-")) break;
        const part y = factors(p);
        if (p->failed) return y;
        x.place = operation(p, plus ? WGI_ROW_add : WGI_ROW_sub, x.place, y.place);
        x.whole = x.whole && y.whole;
    }
    return x;
}

static part choice(parser *p) {
    static const char *const comparison[] = {"<=", ">=", "==", "!=", "<", ">"};
    static const unsigned select[] = {WGI_ROW_select_le, WGI_ROW_select_ge, WGI_ROW_select_eq,
                                      WGI_ROW_select_ne, WGI_ROW_select_lt, WGI_ROW_select_gt};
    const part x = terms(p);
    size_t k = 0;
    while (k < 6 && !take(p, comparison[k])) k++;
    if (p->failed || k == 6) return x;
    const part y = terms(p);
    if (p->failed || !take(p, "?")) return none(p);
    const part yes = choice(p);
    if (p->failed || !take(p, ":")) return none(p);
    const part no = choice(p);
    if (p->failed) return no;
    return (part){add(p, (wgi_recipe_step){.op = &wgi_scalar_ops[select[k]],
                                           .x = {x.place, y.place, yes.place, no.place}}),
                  0};
}

int wgi_text_is_number(const char *text) {
    const char *end;
    if (*text == '-') text++;
    (void)read_number(text, &end);
    return end != text && *end == 0;
}

/* ---- recipes ---- */

const wgi_recipe *wgi_recipe_of(wgi_graph *g, const wg_scalar_op *op, const char *text) {
    wgi_recipe_step step[WGI_RECIPE_STEPS];
    parser p = {step, 0, text, op->arity, wgi_is_users(op), text == NULL};
    part whole = {0, 0};
    if (!p.failed) {
        whole = choice(&p);
        blanks(&p);
    }
    const int understood = !p.failed && *p.at == 0;
    const size_t steps = understood ? p.steps : 0;
    wgi_recipe *const r = wg_tape_keep(&g->c->head, sizeof *r + steps * sizeof *step, NULL);
    if (r == NULL) return NULL;
    const int one = steps == 1 && step->op == NULL && step->number == 1;
    *r = (wgi_recipe){understood, one, (uint32_t)steps, whole.place};
    memcpy(r->step, step, steps * sizeof *step);
    return r;
}

uint32_t wgi_recipe_follow_signed(wgi_graph *g, const wgi_recipe *r, const uint32_t *x,
                                  uint32_t value) {
    uint32_t node[WGI_RECIPE_FIRST + WGI_RECIPE_STEPS];
    if (r == NULL || !r->understood) return WGI_NO_NODE;
    for (uint32_t k = 0; k < WGI_RECIPE_VALUE; k++) node[k] = x[k];
    node[WGI_RECIPE_VALUE] = value;
    for (uint32_t k = 0; k < r->steps; k++) {
        const wgi_recipe_step *const s = &r->step[k];
        const uint32_t of[4] = {node[s->x[0]], node[s->x[1]], node[s->x[2]], node[s->x[3]]};
        node[WGI_RECIPE_FIRST + k] =
            s->op == NULL ? wgi_graph_number(g, s->number) : wgi_signed_op(g, s->op, of);
    }
    return node[r->result];
}

uint32_t wgi_recipe_follow(wgi_graph *g, const wgi_recipe *r, const uint32_t *x,
                           uint32_t value) {
    return wgi_signed_node(g, wgi_recipe_follow_signed(g, r, x, value));
}
