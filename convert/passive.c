/* SPDX-License-Identifier: MIT */
/* passive.c - expressions whose values are numbers, or no numbers at all: comparisons,
 * choices, casts, sizes. */
#include <string.h>
#include "convert/called.h"
#include "convert/expression.h"
#include "convert/specifiers.h"
#include "convert/region.h"

static const char *value_of(const char *s) { return format("wg_value(%s)", s); }

static const char *comparison(const char *op) {
    static const char *const names[][2] = {{"<", "wg_lt"},  {"<=", "wg_le"}, {">", "wg_gt"},
                                           {">=", "wg_ge"}, {"==", "wg_eq"}, {"!=", "wg_ne"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same(op, names[i][0])) return names[i][1];
    return NULL;
}

/* Node n, as the tape compares a variable, or a number, with another one: their functions take
 * variables, the macros of the same names numbers, too, and other types in a kernel for three. */
static const char *compare(writer *w, const node *n, const char *name, const char *x,
                           bool x_varies, const char *y, bool y_varies) {
    if (w->generic || !by_calls(w, n)) return format("%s(%s, %s, %s)", name, w->tape, x, y);
    return format("(%s)(%s, %s, %s)", name, w->tape,
                  x_varies ? x : format("wg_constant(%s)", x),
                  y_varies ? y : format("wg_constant(%s)", y));
}

static const char *write_comparison(writer *w, const node *n, const char *name) {
    const bool x = is_active(w, n->child[0]), y = is_active(w, n->child[1]);
    const char *const s = x ? write_variable(w, n->child[0]) : number_argument(w, n->child[0]);
    return compare(w, n, name, s, x,
                   y ? write_variable(w, n->child[1]) : number_argument(w, n->child[1]), y);
}

static const char *with_zero(writer *w, const node *n, const char *name, const node *x) {
    return compare(w, n, name, write_variable(w, x), true, "0", false);
}

static const char *write_binary_number(writer *w, const node *n) {
    const node *const x = n->child[0], *const y = n->child[1];
    const char *const compares = comparison(n->op);
    if (compares != NULL && w->region == NULL && (is_active(w, x) || is_active(w, y)))
        return write_comparison(w, n, compares);
    if (same(n->op, "&&") || same(n->op, "||")) {
        const char *const first = write_condition(w, x);
        region_perhaps(w->region, 1);
        const char *const second = write_condition(w, y);
        region_perhaps(w->region, -1);
        return replaced(n->file, n->begin, n->end, 2,
                        (part[]){{x->begin, x->end, first}, {y->begin, y->end, second}});
    }
    return with_children(w, n);
}

const char *write_condition(writer *w, const node *n) {
    if (w->region != NULL || !is_active(w, n)) return write_number(w, n);
    return with_zero(w, n, "wg_ne", n);
}

static const char *write_choice_number(writer *w, const node *n) {
    part p[3];
    for (size_t i = 0; i < n->children; i++) {
        region_perhaps(w->region, i != 0);
        p[i] = (part){n->child[i]->begin, n->child[i]->end,
                      i == 0 && n->children == 3 ? write_condition(w, n->child[i])
                                                 : write_number(w, n->child[i])};
        region_perhaps(w->region, -(i != 0));
    }
    return replaced(n->file, n->begin, n->end, n->children, p);
}

static const char *type_name(writer *w, const node *n) {
    const file *const f = n->file;
    const size_t open = f->tokens.at[token_from(&f->tokens, n->begin)].end;
    return retyped(w, f, open, n->type_end);
}

static const char *write_cast_number(writer *w, const node *n) {
    const node *const c = n->child[0];
    part p[2];
    size_t k = 0;
    if (expression_holds(w, n) && n->type->kind == TYPE_POINTER) {
        const file *const f = n->file;
        p[k++] = (part){f->tokens.at[token_from(&f->tokens, n->begin)].end, n->type_end,
                        type_name(w, n)};
    }
    p[k++] = (part){c->begin, c->end, write_number(w, c)};
    return replaced(n->file, n->begin, n->end, k, p);
}

static const type *element(const type *t) {
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    return t;
}

/* Is it one of the sizes of sizeof a / sizeof a[0]? How many elements an array has stays. */
static bool counts_elements(const node *n) {
    const node *p = n->parent;
    while (p != NULL && p->kind == NODE_PAREN) p = p->parent;
    if (p == NULL || p->kind != NODE_BINARY || !same(p->op, "/")) return false;
    const node *const x = bare(p->child[0]), *const y = bare(p->child[1]);
    if (x->kind != NODE_SIZEOF || y->kind != NODE_SIZEOF || x->children == 0 ||
        y->children == 0 || x->child[0]->type == NULL || y->child[0]->type == NULL ||
        x->child[0]->type->kind != TYPE_ARRAY)
        return false;
    const type *const t = element(x->child[0]->type), *const u = element(y->child[0]->type);
    return t->kind == u->kind && (t->kind != TYPE_RECORD || t->record == u->record);
}

/* The size of an expression: of memory that is obtained or moved, as it is written; otherwise a
 * number, that of the original. */
static const char *write_size(writer *w, const node *n) {
    const node *const c = n->child[0];
    const type *const t = c->type, *const e = element(t);
    if (e == NULL || (e->kind != TYPE_REAL && e->kind != TYPE_RECORD) ||
        !expression_holds(w, c))
        return with_children(w, n);
    const char *const written = is_place(c) ? write_place(w, c) : source(c);
    const char *const s =
        replaced(n->file, n->begin, n->end, 1, (part[]){{c->begin, c->end, written}});
    if (w->bytes || counts_elements(n)) return s;
    bool fixed = strchr(e->spelling, '(') == NULL;
    for (const type *u = t; u->kind == TYPE_ARRAY; u = u->of) fixed &= u->count >= 0;
    if (fixed) return format("sizeof(%s)", t->spelling);
    if (e->kind != TYPE_REAL)
        error_at(place_of(n),
                 "'%s' is the size of variables, and used as a number: write its type",
                 source(n));
    return format("(%s / sizeof(wg_real) * sizeof(%s))", s, e->spelling);
}

static const char *write_sizeof(writer *w, const node *n) {
    if (n->children != 0 && n->type_end == 0) return write_size(w, n);
    if (!w->bytes) {
        for (size_t i = 0; i < n->children; i++)
            if (expression_holds(w, n->child[i]))
                error_at(place_of(n),
                         "'%s' is the size of variables, and used as a number: write its type",
                         source(n));
        return with_children(w, n);
    }
    const file *const f = n->file;
    const size_t open =
        token_from(&f->tokens, token_from(&f->tokens, n->begin) < f->tokens.n
                                   ? f->tokens.at[token_from(&f->tokens, n->begin)].end
                                   : n->begin);
    const size_t begin = f->tokens.at[open].end, end = n->end - 1;
    return replaced(f, n->begin, n->end, 1, (part[]){{begin, end, retyped(w, f, begin, end)}});
}

const char *write_compound(writer *w, const node *n) {
    const node *const l = n->children != 0 ? n->child[n->children - 1] : NULL;
    const file *const f = n->file;
    const size_t next = token_from(&f->tokens, n->end);
    const char *s;
    if (l == NULL || !expression_holds(w, n)) s = with_children(w, n);
    else
        s = replaced(
            f, n->begin, n->end, 2,
            (part[]){{f->tokens.at[token_from(&f->tokens, n->begin)].end, n->type_end,
                      type_name(w, n)},
                     {l->begin, l->end,
                      write_initialiser(w, l, n->type, w->v->of_node[n->number], false)}});
    /* its commas are none of a macro's */
    return sign_is(f, next, '[') || sign_is(f, next, '.') ? format("(%s)", s) : s;
}

static const char *write_assignment_number(writer *w, const node *n) {
    if (n->by_macro || n->children != 2) return source(n);
    return with_children(w, n);
}

const char *write_number(writer *w, const node *n) {
    if (n->by_macro) return source(n);
    if (w->region != NULL) {
        const char *const s = region_number(w->region, n);
        if (s != NULL) return s;
        if (is_active(w, n)) return with_children(w, n);
    }
    if (is_active(w, n)) {
        if (is_place(n)) return value_of(write_place(w, n));
        switch (n->kind) {
        case NODE_ASSIGN:
            return value_of(write_assignment(w, n));
        case NODE_STATEMENTS:
            return value_of(write_variable(w, n));
        case NODE_CALL:
            if (known_of(n, NULL)->kind == KNOWN_NOTHING) return value_of(write_call(w, n));
            return with_children(w, n);
        case NODE_UNARY:
            if (same(n->op, "++") || same(n->op, "--")) return value_of(write_step(w, n, true));
            return with_children(w, n);
        case NODE_CHOICE:
            return write_choice_number(w, n);
        default:
            return with_children(w, n);
        }
    }
    switch (n->kind) {
    case NODE_NAME:
        return written_name(w, n);
    case NODE_MEMBER:
        return write_place(w, n);
    case NODE_CALL:
        return write_call(w, n);
    case NODE_BINARY:
        return write_binary_number(w, n);
    case NODE_CHOICE:
        return write_choice_number(w, n);
    case NODE_CAST:
        return write_cast_number(w, n);
    case NODE_SIZEOF:
        return write_sizeof(w, n);
    case NODE_COMPOUND:
        return write_compound(w, n);
    case NODE_ASSIGN:
        return write_assignment_number(w, n);
    case NODE_UNARY:
        if (n->op != NULL && same(n->op, "!") && w->region == NULL && is_active(w, n->child[0]))
            return with_zero(w, n, "wg_eq", n->child[0]);
        if (n->op != NULL && same(n->op, "&"))
            return replaced(
                n->file, n->begin, n->end, 1,
                (part[]){{n->child[0]->begin, n->child[0]->end, write_place(w, n->child[0])}});
        return with_children(w, n);
    case NODE_STATEMENTS:
        return n->children != 0 ? replaced(n->file, n->begin, n->end, 1,
                                           (part[]){{n->child[0]->begin, n->child[0]->end,
                                                     write_statement(w, n->child[0])}})
                                : source(n);
    default:
        return with_children(w, n);
    }
}

/* ---- initialisers ----------------------------------------------------------------------- */
