/* SPDX-License-Identifier: MIT */
/* loops_write.c - the body of a loop that is one record, and the functions that it calls: what
 * is read of memory and written to it goes through wengert/turns.h, everything else stays as
 * it is. */
#include <string.h>
#include "convert/loops.h"

#define TURNS "wgc_turns"

static const char *value(turn *t, const node *n);
static bool is_real(const node *n) { return n->type != NULL && n->type->kind == TYPE_REAL; }

/* The address of a place of memory. */
static const char *address(turn *t, const node *n) {
    return format("&%s", is_active(t->w, n) ? write_place(t->w, n) : write_number(t->w, n));
}
static const char *suffix(const turn *t, const node *n) {
    return is_active(t->w, n) ? "" : "_number";
}
static bool is_own_place(const turn *t, const node *n) {
    return n->kind == NODE_NAME && is_own(t, n->decl);
}

static const char *place_value(turn *t, const node *n) {
    n = bare(n);
    if (is_own_place(t, n)) return n->decl->name;
    if (n->type->bits != 64 && !is_active(t->w, n))
        return format("wg_turns_whole_each(" TURNS ", %s)", write_number(t->w, n));
    return format("wg_turns_load%s%s(" TURNS ", %s)", suffix(t, n),
                  is_any_place(t, n) ? "_each" : "", address(t, n));
}

static const char *let(const char *name, const char *x, const char *y) {
    return y == NULL ? format("wg_let(" TURNS "->tape, %s(%s))", name, x)
                     : format("wg_let(" TURNS "->tape, %s(%s, %s))", name, x, y);
}

/* ---- what is selected -------------------------------------------------------------------- */

static const char *selected(turn *t, const node *n, const char *yes, const char *no);

/* 1 or 0. */
static const char *mask(turn *t, const node *n) { return selected(t, n, "1.0", "0.0"); }

static const char *selected(turn *t, const node *n, const char *yes, const char *no) {
    static const char *const names[][2] = {{"<", "lt"},  {"<=", "le"}, {">", "gt"},
                                           {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}};
    n = bare(n);
    if (n->kind == NODE_UNARY && same(n->op, "!")) return selected(t, n->child[0], no, yes);
    for (size_t i = 0; n->kind == NODE_BINARY && i < sizeof names / sizeof *names; i++)
        if (same(n->op, names[i][0]) &&
            (is_real(bare(n->child[0])) || is_real(bare(n->child[1]))))
            return format("wg_let(" TURNS "->tape, wg_select_%s(%s, %s, %s, %s))", names[i][1],
                          value(t, n->child[0]), value(t, n->child[1]), yes, no);
    const char *m;
    if (n->kind == NODE_BINARY && (same(n->op, "&&") || same(n->op, "||")))
        m = let(same(n->op, "&&") ? "wg_mul" : "wg_fmax", mask(t, n->child[0]),
                mask(t, n->child[1]));
    else m = format("wg_constant(wg_turns_way(" TURNS ", (%s) != 0))", write_number(t->w, n));
    return format("wg_let(" TURNS "->tape, wg_select_ne(%s, 0.0, %s, %s))", m, yes, no);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static const char *way(turn *t, const node *n) {
    return format("wg_turns_way(" TURNS ", (%s) != 0)", write_number(t->w, n));
}

static const char *call(turn *t, const node *n) {
    const known *const k = known_of(n, NULL);
    version *const v = turn_called(t, n);
    text to = {NULL, 0, 0};
    if (k->kind == KNOWN_OPERATION) putf(&to, "wg_let(" TURNS "->tape, %s(", k->as);
    else putf(&to, "%s(" TURNS, turn_function_name(t, v, n));
    for (size_t i = 1; i < n->children; i++) {
        const bool number =
            k->kind == KNOWN_OPERATION ||
            ((const decl *)v->function->parameters.at[i - 1])->type->kind == TYPE_REAL;
        putf(&to, "%s%s", k->kind == KNOWN_OPERATION && i == 1 ? "" : ", ",
             number ? value(t, n->child[i]) : write_number(t->w, n->child[i]));
    }
    put(&to, k->kind == KNOWN_OPERATION ? "))" : ")");
    return text_of(&to);
}

static const char *value(turn *t, const node *n) {
    if (is_number_literal(n)) return format("wg_constant(%s)", source(n));
    if (n->type->kind == TYPE_WHOLE)
        return format("wg_turns_whole%s(" TURNS ", %s)", is_any_whole(t, n) ? "_each" : "",
                      write_number(t->w, n));
    if (is_place(n)) return place_value(t, n);
    switch (n->kind) {
    case NODE_UNARY:
        return same(n->op, "-") ? let("wg_neg", value(t, n->child[0]), NULL)
                                : value(t, n->child[0]);
    case NODE_BINARY:
        return let(operation(n->op), value(t, n->child[0]), value(t, n->child[1]));
    case NODE_CHOICE:
        if (is_selected(t, n->child[0]))
            return selected(t, n->child[0], value(t, n->child[1]), value(t, n->child[2]));
        return format("(%s ? %s : %s)", way(t, n->child[0]), value(t, n->child[1]),
                      value(t, n->child[2]));
    case NODE_CALL:
        return call(t, n);
    default: /* in parentheses, or a cast to double */
        return value(t, n->child[0]);
    }
}

/* ---- statements -------------------------------------------------------------------------- */

static const char *assigned(turn *t, const node *to, const char *x) {
    if (is_own_place(t, to)) return format("%s = %s", to->decl->name, x);
    return format("wg_turns_store%s(" TURNS ", %s, %s)", suffix(t, to), address(t, to), x);
}

/* x = e, x += e, x++; `condition`: only where it holds. */
static const char *assignment(turn *t, const node *n, const node *condition) {
    const node *const to = bare(n->child[0]);
    const bool own = is_own_place(t, to), sum = is_sum(t, n) && !own;
    const char *const x = n->children < 2 ? "wg_constant(1)" : NULL, *e;
    if (x != NULL) e = x;
    else if (sum) e = value(t, bare(n->child[1])->child[1]);
    else e = value(t, n->child[1]);
    const bool plain = same(n->op, "=") && !sum;
    const char op = sum ? *bare(n->child[1])->op : *n->op;
    if (!own && is_any_place(t, to))
        return format("wg_turns_add_each(" TURNS ", %s, %s)", address(t, to),
                      op == '-' ? let("wg_neg", e, NULL) : e);
    if (!plain && !own && (op == '+' || op == '-') && condition == NULL &&
        course_of(t, &(node){.kind = NODE_UNARY,
                             .op = "&",
                             .child = (node *[]){n->child[0]},
                             .children = 1}) == SAME)
        return format("wg_turns_add%s(" TURNS ", %s, %s)", suffix(t, to), address(t, to),
                      op == '-' ? let("wg_neg", e, NULL) : e);
    if (!plain) e = let(operation((const char[]){op, 0}), place_value(t, to), e);
    if (condition != NULL) e = selected(t, condition, e, place_value(t, to));
    return assigned(t, to, e);
}

static size_t statements_of(const node *b) {
    return b == NULL ? 0 : b->kind == NODE_BLOCK ? b->children : 1;
}
static const node *statement_of(const node *b, size_t k) {
    return b->kind == NODE_BLOCK ? b->child[k] : b;
}
/* The only statement, if it is x = e. */
static const node *only_assignment(const node *b) {
    const node *const s = statements_of(b) == 1 ? statement_of(b, 0) : NULL;
    return s != NULL && s->kind == NODE_ASSIGN && same(s->op, "=") ? s : NULL;
}

/* What a choice by numbers assigns. */
static const char *choice(turn *t, const node *n) {
    text to = {NULL, 0, 0};
    const node *const second = n->children > 2 ? n->child[2] : NULL;
    const node *const yes = only_assignment(n->child[1]), *const no = only_assignment(second);
    if (yes != NULL && no != NULL && same(source(yes->child[0]), source(no->child[0])))
        return format("%s;", assigned(t, bare(yes->child[0]),
                                      selected(t, n->child[0], value(t, yes->child[1]),
                                               value(t, no->child[1]))));
    put(&to, "{");
    const size_t assigns = statements_of(n->child[1]) + statements_of(second);
    const char *m = NULL;
    if (assigns > 1) { /* what is compared may be assigned to */
        putf(&to, " const wg_real wgc_is = %s;", mask(t, n->child[0]));
        m = "wgc_is";
    }
    for (size_t i = 1; i < n->children; i++) {
        const node *const b = n->child[i];
        for (size_t k = 0; k < statements_of(b); k++) {
            const node *const s = statement_of(b, k);
            if (s->kind == NODE_EMPTY) continue;
            const node *const at = bare(s->child[0]);
            if (m == NULL) {
                putf(&to, " %s;", assignment(t, s, n->child[0]));
                continue;
            }
            const bool plain = same(s->op, "=");
            const char *const x = place_value(t, at), *e = value(t, s->child[1]);
            if (!plain) e = let(operation(s->op), x, e);
            putf(&to, " %s;",
                 assigned(t, at,
                          format("wg_let(" TURNS "->tape, wg_select_ne(%s, 0.0, %s, %s))", m,
                                 i == 1 ? e : x, i == 1 ? x : e)));
        }
    }
    put(&to, " }");
    return text_of(&to);
}

/* One declaration: numbers are C variables; what stands in memory is the turn's from here
 * on. */
static const char *declared(turn *t, const node *n, size_t i) {
    const decl *const d = n->decls.at[i];
    writer *const w = t->w;
    const char *const x = d->name;
    if (is_own(t, d))
        return format("wg_real %s = %s", x,
                      d->init != NULL ? value(t, d->init) : "wg_constant(0)");
    if (d->is_static || d->type->kind == TYPE_WHOLE || d->type->kind == TYPE_POINTER)
        return write_one_declaration(w, n, i);
    if (d->type->kind != TYPE_REAL)
        return format("%s; wg_turns_local(" TURNS ", %s, sizeof %s)",
                      write_one_declaration(w, n, i),
                      d->init == NULL ? format("memset(%s, 0, sizeof %s)", x, x) : x, x);
    cell *const c = cell_of(w->a, t->v, d);
    const bool variable = c != NULL && holds_variables(c);
    const char *const s =
        format("%s %s = %s; wg_turns_local(" TURNS ", &%s, sizeof %s)",
               variable ? "wg_real" : "double", x, variable ? "wg_constant(0)" : "0", x, x);
    return d->init == NULL ? s
                           : format("%s; wg_turns_store%s(" TURNS ", &%s, %s)", s,
                                    variable ? "" : "_number", x, value(t, d->init));
}

static const char *declaration(turn *t, const node *n) {
    if (n->parent != NULL && n->parent->kind == NODE_FOR) return write_declaration(t->w, n);
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < n->decls.n; i++)
        putf(&to, "%s%s", i != 0 ? "; " : "", declared(t, n, i));
    return n->file->text[n->end - 1] == ';' ? format("%s;", text_of(&to)) : text_of(&to);
}

const char *write_turn(turn *t, const node *n) {
    if (is_expression(n)) {
        const node *const e = bare(n);
        const bool number = e->children != 0 && is_real(bare(e->child[0]));
        if ((e->kind == NODE_ASSIGN || e->kind == NODE_UNARY) && number)
            return assignment(t, e, NULL);
        return e->kind == NODE_CALL ? call(t, e) : write_number(t->w, n);
    }
    if (n->kind == NODE_DECLARE) return declaration(t, n);
    if (n->kind == NODE_IF && is_selected(t, n->child[0])) return choice(t, n);
    part *const p = arena_get((n->children + 1) * sizeof *p);
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) {
        const node *const c = n->child[i];
        if (c == NULL) continue;
        const bool decides = ((n->kind == NODE_IF || n->kind == NODE_WHILE) && i == 0) ||
                             ((n->kind == NODE_DO || n->kind == NODE_FOR) && i == 1);
        const char *s;
        if (decides) s = way(t, c);
        else if (n->kind == NODE_RETURN)
            s = format("%s%s", c->begin > 0 && n->file->text[c->begin - 1] == 'n' ? " " : "",
                       value(t, c));
        else s = write_turn(t, c);
        p[k++] = (part){c->begin, c->end, s};
    }
    return replaced(n->file, n->begin, n->end, k, p);
}
