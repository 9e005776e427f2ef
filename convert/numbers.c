/* SPDX-License-Identifier: MIT */
/* numbers.c - an expression within a region: the text of its value, and its vertex with its
 * partial derivatives. */
#include <string.h>
#include "convert/adjoint.h"
#include "convert/known.h"
#include "convert/region.h"

static number constant(const char *value) { return (number){value, NO_VERTEX, 0}; }

static const char *named(region *r, const char *value) {
    const char *const name = chain_name(&r->x);
    putf(&r->x.to, "%sconst double %s = %s;\n", r->x.indent, name, value);
    return name;
}

static bool assigns_something(const node *n) {
    if (n == NULL) return false;
    if (n->kind == NODE_ASSIGN ||
        (n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"))))
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (assigns_something(n->child[i])) return true;
    return false;
}

/* A number that is no variable, as it is now. */
static number plain_number(region *r, const node *n) {
    const node *const e = bare(n);
    if (e->kind == NODE_NUMBER && !e->by_macro && e->type != NULL) {
        const char *const s = source(e);
        if (e->type->kind == TYPE_REAL && e->type->bits == 64) return constant(s);
        if (e->type->kind == TYPE_WHOLE && strspn(s, "0123456789") == strlen(s) &&
            (*s != '0' || s[1] == 0))
            return constant(format("%s.0", s));
    }
    if (!stands_as_it_is(r, e) || assigns_something(e)) return fails(r);
    const char *const s = write_number(r->w, n);
    const number x =
        constant(named(r, e->kind == NODE_BINARY && same(e->op, ",") ? format("(%s)", s) : s));
    forget_assigned(r, e);
    return x;
}

/* Names of partials, and edges to what is a variable among the operands. */
static number operation_on(region *r, const char *value, size_t n, const number *x,
                           const edge *by) {
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= x[i].vertex != NO_VERTEX && (by[i].weight != NULL || by[i].unit != 0);
    if (!any) return constant(value);
    const number y = {value, chain_vertex(&r->level->chain, value), r->depth};
    r->vertices++;
    for (size_t i = 0; i < n; i++) {
        if (x[i].vertex == NO_VERTEX || (by[i].weight == NULL && by[i].unit == 0)) continue;
        edge e = by[i];
        e.from = here(r, x[i]).vertex;
        if (e.unit == 0 && strpbrk(e.weight, " (") != NULL) e.weight = named(r, e.weight);
        chain_edge(&r->level->chain, &r->x, y.vertex, e);
    }
    return y;
}

static bool is_literal(const char *s) {
    return *s >= '1' && *s <= '9' && strspn(s, "0123456789.") == strlen(s);
}

static number arithmetic(region *r, char op, number a, number b) {
    const char *const value = named(r, format("%s %c %s", a.value, op, b.value));
    edge by[2] = {{.unit = 1}, {.unit = 1}};
    if (op == '-') by[1].unit = -1;
    if (op == '*') by[0] = (edge){.weight = b.value}, by[1] = (edge){.weight = a.value};
    if (op == '/') {
        const bool safe = is_literal(b.value);
        by[0] = (edge){.weight = format("1 / %s", b.value), .singular = !safe};
        by[1] = (edge){.weight = format("-%s / %s", value, b.value), .singular = !safe};
    }
    return operation_on(r, value, 2, (number[]){a, b}, by);
}

static number negative(region *r, number a) {
    const edge by = {.unit = -1};
    return operation_on(r, named(r, format("-%s", a.value)), 1, &a, &by);
}

static number operation_named(region *r, const char *name, size_t n, const number *x) {
    static const char letters[] = "abcd";
    text args = {NULL, 0, 0};
    for (size_t i = 0; i < n; i++) putf(&args, "%s%s", i != 0 ? ", " : "", x[i].value);
    const char *const value = named(r, format("wgi_op_%s_v(%s)", name, text_of(&args)));
    edge by[4] = {{.weight = NULL}};
    for (size_t i = 0; i < n; i++) {
        const char *const p = partial_text(name, i);
        if (p == NULL) return fails(r);
        if (same(p, "0") || x[i].vertex == NO_VERTEX) continue;
        if (same(p, "1")) by[i].unit = 1;
        else if (same(p, "-1.0") || same(p, "-1")) by[i].unit = -1;
        else
            by[i] = (edge){.weight = format("wgi_op_%s_d%c(%s, %s)", name, letters[i],
                                            text_of(&args), value),
                           .singular = partial_is_singular(name)};
    }
    return operation_on(r, value, n, x, by);
}

static const known *known_of(const node *call) {
    const node *const f = bare(call->child[0]);
    if (f->kind != NODE_NAME || f->decl->kind != DECL_FUNCTION || f->decl->body != NULL)
        return known_function("", NULL);
    const char *const name = f->decl->name;
    return known_function(starts_with(name, "wgi_plain_") ? name + 10 : name, NULL);
}

static number evaluate_call(region *r, const node *n) {
    const known *const k = known_of(n);
    if (k->kind == KNOWN_NOTHING) return call_inline(r, n);
    if (k->kind != KNOWN_OPERATION || k->numbers > 4 || n->children != k->numbers + 1)
        return fails(r);
    number x[4];
    for (size_t i = 0; i < k->numbers; i++) x[i] = number_of(r, n->child[i + 1]);
    return r->failed ? fails(r) : operation_named(r, k->as + 3, k->numbers, x);
}

static number evaluate_assignment(region *r, const node *n) {
    place p;
    if (n->children != 2 || !find_place(r, n->child[0], &p)) return fails(r);
    number x;
    if (same(n->op, "=")) x = number_of(r, n->child[1]);
    else {
        const number before = read_place(r, &p), e = number_of(r, n->child[1]);
        if (r->failed) return fails(r);
        x = arithmetic(r, *n->op, here(r, before), here(r, e));
    }
    /* indices may have been found to be others by now */
    if (r->failed || !find_place(r, n->child[0], &p)) return fails(r);
    assign_place(r, &p, x);
    return x;
}

static number evaluate_step(region *r, const node *n) {
    place p;
    if (!find_place(r, n->child[0], &p)) return fails(r);
    const number before = read_place(r, &p);
    if (r->failed) return before;
    const number after = arithmetic(r, *n->op, before, constant("1.0"));
    assign_place(r, &p, after);
    return n->postfix ? before : after;
}

number number_of(region *r, const node *n) {
    if (r->failed || n->by_macro) return fails(r);
    if (!is_active(r->w, n)) return plain_number(r, n);
    place p;
    switch (n->kind) {
    case NODE_PAREN:
        return number_of(r, n->child[0]);
    case NODE_CAST:
        if (n->type->bits == 32 && n->child[0]->type->bits != 32)
            warn_at(place_of(n), "'%s' is not rounded to float: variables are double",
                    source(n));
        return number_of(r, n->child[0]);
    case NODE_NAME:
    case NODE_MEMBER:
    case NODE_INDEX:
        return find_place(r, n, &p) ? read_place(r, &p) : fails(r);
    case NODE_UNARY:
        if (same(n->op, "*")) return find_place(r, n, &p) ? read_place(r, &p) : fails(r);
        if (same(n->op, "++") || same(n->op, "--")) return evaluate_step(r, n);
        if (same(n->op, "+")) return number_of(r, n->child[0]);
        if (!same(n->op, "-")) return fails(r);
        {
            const number a = number_of(r, n->child[0]);
            return r->failed ? a : negative(r, a);
        }
    case NODE_BINARY: {
        if (same(n->op, ","))
            return run_statement(r, n->child[0]) ? number_of(r, n->child[1]) : fails(r);
        if (strchr("+-*/", *n->op) == NULL || n->op[1] != 0) return fails(r);
        const number a = number_of(r, n->child[0]);
        const number b = number_of(r, n->child[1]);
        return r->failed ? fails(r) : arithmetic(r, *n->op, a, b);
    }
    case NODE_ASSIGN:
        return evaluate_assignment(r, n);
    case NODE_CHOICE:
        return number_of_choice(r, n);
    case NODE_CALL:
        return evaluate_call(r, n);
    default:
        return fails(r);
    }
}
