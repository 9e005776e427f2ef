/* SPDX-License-Identifier: MIT */
/* region.c - the statements of a region, one after the other; where it ends, and what is on
 * the tape then. */
#include <string.h>
#include "convert/known.h"
#include "convert/live.h"
#include "convert/output.h"
#include "convert/region.h"

/* A graph of more is left to the next region. */
enum { MOST_VERTICES = 800 };

bool has_jump(const node *n) {
    if (n == NULL || is_expression(n)) return false;
    if (n->kind == NODE_GOTO || n->kind == NODE_LABEL || n->kind == NODE_BREAK ||
        n->kind == NODE_CONTINUE || n->kind == NODE_RETURN || n->kind == NODE_SWITCH ||
        n->kind == NODE_CASE || n->kind == NODE_DEFAULT)
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (has_jump(n->child[i])) return true;
    return false;
}

/* ---- what has no variables --------------------------------------------------------------- */

/* Is it made of numbers alone, whatever macro it stands in? */
static bool is_literal(const node *n) {
    if (n->kind != NODE_NUMBER && n->kind != NODE_STRING && n->kind != NODE_PAREN &&
        n->kind != NODE_CAST && n->kind != NODE_UNARY && n->kind != NODE_BINARY)
        return false;
    for (size_t i = 0; i < n->children; i++)
        if (!is_literal(n->child[i])) return false;
    return true;
}

/* May it change what an index is made of? */
static bool changes(const node *n) {
    if (n == NULL) return false;
    if (n->kind == NODE_ASSIGN || n->kind == NODE_CALL ||
        (n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"))))
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (changes(n->child[i])) return true;
    return false;
}
static bool has_variable(const region *r, const node *n) {
    if (n == NULL) return false;
    if (is_active(r->w, n)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (has_variable(r, n->child[i])) return true;
    return false;
}
/* What is read behind a change within an expression would be read before it. */
static bool reads_behind(const region *r, const node *n) {
    const bool in_order = n->kind == NODE_CHOICE ||
                          (n->kind == NODE_BINARY &&
                           (same(n->op, "&&") || same(n->op, "||") || same(n->op, ",")));
    for (size_t i = 1; in_order && i < n->children; i++)
        if (changes(n->child[0]) && has_variable(r, n->child[i])) return true;
    bool changed = false;
    for (size_t i = 0; i < n->decls.n; i++) {
        const node *const e = ((const decl *)n->decls.at[i])->init;
        if (changed && has_variable(r, e)) return true;
        changed |= changes(e);
    }
    return false;
}

bool stands_as_it_is(const region *r, const node *n) {
    if (n == NULL) return true;
    if (reads_behind(r, n)) return false;
    if (n->by_macro && (is_literal(n) || *macro_number(n) != 0)) return true;
    if (n->by_macro || n->kind == NODE_STATEMENTS || n->kind == NODE_OPAQUE ||
        n->kind == NODE_OTHER)
        return false;
    const bool assigns = n->kind == NODE_ASSIGN ||
                         (n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--")));
    if (assigns) {
        cell *const to = r->w->v->of_node[n->child[0]->number];
        if (n->child[0]->type == NULL || (to != NULL && holds_variables(to))) return false;
        if (n->child[0]->type->kind != TYPE_WHOLE && n->child[0]->type->kind != TYPE_REAL)
            return false;
    }
    if (n->kind == NODE_CALL) {
        const node *const f = bare(n->child[0]);
        if (f->kind != NODE_NAME || f->decl->kind != DECL_FUNCTION) return false;
        const version *const v = r->w->v->called[n->number];
        if (v != NULL && v->touched) return false;
        for (size_t i = 1; i < n->children; i++) {
            const node *const e = n->child[i];
            const bool plain =
                e->type != NULL && (e->type->kind == TYPE_REAL || e->type->kind == TYPE_WHOLE);
            cell *const of = r->w->v->of_node[e->number];
            if (!plain && of != NULL && holds_variables(of)) return false;
            if (!plain && r->frame->caller != NULL) return false;
        }
    }
    for (size_t i = n->kind == NODE_CALL; i < n->children; i++)
        if (!stands_as_it_is(r, n->child[i])) return false;
    for (size_t i = 0; i < n->decls.n; i++)
        if (!stands_as_it_is(r, ((const decl *)n->decls.at[i])->init)) return false;
    return true;
}

static bool run_plain(region *r, const node *n) {
    if (!stands_as_it_is(r, n)) return false;
    const char *const s = write_statement(r->w, n);
    putf(&r->x.to, "%s%s;\n", r->x.indent, s);
    forget_assigned(r, n);
    return !r->failed;
}

/* ---- declarations ------------------------------------------------------------------------ */

static bool is_variable_scalar(const region *r, const decl *d) {
    cell *const c = cell_of(r->w->a, r->w->v, d);
    return d->type->kind == TYPE_REAL && c != NULL && is_variable(c);
}

static bool declare_variable(region *r, const decl *d) {
    cell *const c = cell_of(r->w->a, r->w->v, d);
    if (real_cell(c)->addressed) return false;
    const bool outer = r->frame->caller == NULL;
    if (outer && r->depth == 0) push(&r->declared, (void *)d);
    if (d->init == NULL) return true;
    const number x = number_of(r, d->init);
    if (r->failed) return false;
    place p = {.key = outer ? format("%s@%u", d->name, d->number)
                            : format("@%u_%s_%u", r->frame->number, d->name, d->number),
               .object = true,
               .local = true,
               .d = outer ? d : NULL,
               .cell = c};
    assign_place(r, &p, x);
    return true;
}

/* A whole number or number: under a name of its own, where it could meet another of its
 * name. */
static bool declare_number(region *r, const decl *d, bool outer) {
    const bool plain = d->type->kind == TYPE_WHOLE || d->type->kind == TYPE_REAL;
    if (!plain || (d->init != NULL && !stands_as_it_is(r, d->init))) return false;
    binding *const b = arena_get(sizeof *b);
    *b = (binding){.d = d, .name = outer ? d->name : chain_name(&r->x)};
    const char *const init =
        d->init != NULL ? format(" = %s", write_number(r->w, d->init)) : "";
    putf(&r->x.to, "%s%s%s;\n", r->x.indent, declared_as(d->type, b->name), init);
    forget_assigned(r, d->init);
    if (outer) forget_word(r, d->name); /* of another one, around */
    else push(&r->frame->bindings, b);
    return !r->failed;
}

/* A pointer that is never another one: what it leads to has one name. */
static bool name_pointer(region *r, const decl *d) {
    cell *const c = cell_of(r->w->a, r->w->v, d);
    if (d->type->kind != TYPE_POINTER || d->init == NULL || c == NULL || !holds_variables(c) ||
        !leads_alike(d->type, bare(d->init)->type) || assigns_to(d->owner->body, d))
        return true;
    binding *const b = arena_get(sizeof *b);
    address *const p = arena_get(sizeof *p);
    *b = (binding){.d = d, .pointer = p};
    if (find_pointer(r, d->init, p)) push(&r->frame->bindings, b);
    return !r->failed;
}

static bool run_declaration(region *r, const node *n) {
    size_t variables = 0;
    const bool outer = r->frame->caller == NULL && n->parent == r->block && r->depth == 0;
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        cell *const c = cell_of(r->w->a, r->w->v, d);
        if (d->is_static || d->kind != DECL_VARIABLE) return false;
        variables += is_variable_scalar(r, d);
        if (outer && c != NULL && holds_variables(c) && !is_variable_scalar(r, d) &&
            d->init != NULL && d->type->kind != TYPE_POINTER)
            return false;
    }
    if (outer && variables == 0) {
        if (!stands_as_it_is(r, n)) return false;
        const char *const s = write_declaration(r->w, n);
        putf(&r->x.to, "%s%s%s\n", r->x.indent, s,
             s[0] != 0 && s[strlen(s) - 1] == ';' ? "" : ";");
        for (size_t i = 0; i < n->decls.n && !r->failed; i++) {
            const decl *const d = n->decls.at[i];
            forget_assigned(r, d->init);
            forget_word(r, d->name); /* of another one, around */
            if (!name_pointer(r, d)) return false;
        }
        return !r->failed;
    }
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        cell *const c = cell_of(r->w->a, r->w->v, d);
        const bool whole = (d->type->kind == TYPE_ARRAY || d->type->kind == TYPE_RECORD) &&
                           d->init == NULL && !outer && c != NULL && holds_variables(c);
        if (whole) { /* its elements are numbers of the region */
            push(&r->own, (void *)d);
            continue;
        }
        if (d->type->kind == TYPE_POINTER && d->init != NULL && c != NULL &&
            holds_variables(c) && !outer) {
            if (!name_pointer(r, d) || bound(r, d) == NULL) return false;
            continue;
        }
        if (!(is_variable_scalar(r, d) ? declare_variable(r, d) : declare_number(r, d, outer)))
            return false;
    }
    return true;
}

/* ---- statements -------------------------------------------------------------------------- */

static bool run_loop(region *r, const node *n);

bool is_declared_here(const region *r, const decl *d) { return list_has(&r->declared, d); }
bool declared_in(const node *n, const decl *d) {
    if (n == NULL) return false;
    if (n->kind == NODE_DECLARE && list_has(&n->decls, d)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (declared_in(n->child[i], d)) return true;
    return false;
}

static bool node_cell_holds(const version *v, const node *n) {
    cell *const c = v->of_node[n->number];
    return c != NULL && holds_variables(c);
}

/* Does it return, and jump nowhere else? */
static bool only_returns(const node *n) {
    if (n == NULL || is_expression(n) || n->kind == NODE_RETURN) return true;
    if (n->kind == NODE_FOR || n->kind == NODE_WHILE || n->kind == NODE_DO) return !has_jump(n);
    if (n->kind != NODE_BLOCK && n->kind != NODE_IF) return !has_jump(n);
    for (size_t i = 0; i < n->children; i++)
        if (!only_returns(n->child[i])) return false;
    return true;
}

bool run_statements(region *r, const node *block, size_t from) {
    for (size_t i = from; i < block->children; i++) {
        const node *const c = block->child[i];
        const bool early = c->kind == NODE_IF && r->frame->caller != NULL && has_jump(c) &&
                           block == r->frame->v->function->body && only_returns(c) &&
                           r->depth == r->frame->depth;
        if (early) {
            r->frame->depth++;
            const bool good = run_early_return(r, c, block, i + 1);
            r->frame->depth--;
            return good;
        }
        if (!run_statement(r, c)) return false;
        if (r->frame->returned) return !r->failed;
    }
    return true;
}

bool run_statement(region *r, const node *n) {
    if (n == NULL || n->kind == NODE_EMPTY) return true;
    if (r->failed || n->by_macro || r->vertices > MOST_VERTICES) return false;
    if (is_expression(n)) {
        const node *const e = bare(n);
        if (e->kind == NODE_BINARY && same(e->op, ","))
            return run_statement(r, e->child[0]) && run_statement(r, e->child[1]);
        const version *const v = e->kind == NODE_CALL ? r->w->v->called[e->number] : NULL;
        if (v != NULL && v->touched) {
            (void)call_inline(r, e);
            return !r->failed;
        }
        if (is_active(r->w, e) &&
            (e->kind == NODE_ASSIGN || (e->kind == NODE_UNARY && !same(e->op, "*")))) {
            (void)number_of(r, e);
            return !r->failed;
        }
        return run_plain(r, n);
    }
    switch (n->kind) {
    case NODE_BLOCK:
        return run_statements(r, n, 0);
    case NODE_DECLARE:
        return run_declaration(r, n);
    case NODE_IF:
        if (leaves_turns(r, n)) return run_break(r, n);
        if (is_exit(r, n)) return run_exit(r, n);
        return !has_jump(n) && run_choice(r, n);
    case NODE_FOR:
    case NODE_WHILE:
    case NODE_DO:
        return run_loop(r, n);
    case NODE_RETURN:
        if (r->depth != 0 && (r->frame->caller == NULL || r->depth != r->frame->depth))
            return false;
        if (n->children != 0) {
            const version *const v = r->w->v;
            const node *const e = n->child[0];
            const bool variable = v->result != NULL && is_variable(v->result);
            if (variable) r->frame->result = number_of(r, e);
            else if (r->frame->caller != NULL || !stands_as_it_is(r, e) ||
                     node_cell_holds(v, e))
                return false;
            else r->frame->plain = write_number(r->w, e);
            r->records += (r->operands + 1) / 2, r->operands = 0;
        }
        r->frame->returned = true;
        return !r->failed;
    default:
        return false;
    }
}

/* for (i = 0; i < 3; i++) with few turns that are known. */
static bool run_unrolled(region *r, const node *n) {
    enum { MOST_TURNS = 8 };
    const node *const init = n->child[0],
                      *const cond = n->child[1] != NULL ? bare(n->child[1]) : NULL,
                      *const by = n->child[2] != NULL ? bare(n->child[2]) : NULL;
    if (init == NULL || cond == NULL || by == NULL || has_jump(n->child[3])) return false;
    const decl *d = NULL;
    const node *from = NULL;
    if (init->kind == NODE_DECLARE && init->decls.n == 1) {
        d = init->decls.at[0];
        from = d->init;
    } else if (init->kind == NODE_ASSIGN && same(init->op, "=") &&
               bare(init->child[0])->kind == NODE_NAME) {
        d = bare(init->child[0])->decl;
        from = init->child[1];
    }
    long i, end;
    if (d == NULL || from == NULL || d->type->kind != TYPE_WHOLE || d->owner == NULL ||
        d->is_static || !known_integer(r, from, &i))
        return false;
    if (cond->kind != NODE_BINARY || !(same(cond->op, "<") || same(cond->op, "<=")) ||
        bare(cond->child[0])->kind != NODE_NAME || bare(cond->child[0])->decl != d ||
        !known_integer(r, cond->child[1], &end))
        return false;
    if (by->kind != NODE_UNARY || !same(by->op, "++") ||
        bare(by->child[0])->kind != NODE_NAME || bare(by->child[0])->decl != d)
        return false;
    end += same(cond->op, "<=");
    cell *const c = cell_of(r->w->a, r->w->v, d);
    if (end - i > MOST_TURNS || (c != NULL && c->addressed)) return false;
    binding *const b = arena_get(sizeof *b);
    const size_t bindings = r->frame->bindings.n;
    *b = (binding){.d = d, .constant = true, .is = i};
    push(&r->frame->bindings, b);
    for (; b->is < end; b->is++) {
        b->name = known_text(d->type, b->is);
        if (!run_statement(r, n->child[3]) || r->frame->returned) return false;
    }
    r->frame->bindings.n = bindings;
    if (init->kind == NODE_DECLARE) return true;
    const binding *const own = bound(r, d);
    if (r->frame->caller != NULL && (own == NULL || own->name == NULL || own->constant))
        return false;
    const char *const name = own != NULL ? own->name : d->name;
    putf(&r->x.to, "%s%s = %ld;\n", r->x.indent, name, end > i ? end : i);
    forget_word(r, name);
    return !r->failed;
}

/* Is there a jump but the break of the loop itself, as a statement of its body? */
static bool jumps_otherwise(const node *body) {
    if (body->kind != NODE_BLOCK) return has_jump(body);
    for (size_t i = 0; i < body->children; i++) {
        const node *const c = body->child[i];
        const bool leaves = c->kind == NODE_IF && c->children == 2;
        if (has_jump(c) &&
            !(leaves && (c->child[1]->kind == NODE_BREAK ||
                         (c->child[1]->kind == NODE_BLOCK && c->child[1]->children == 1 &&
                          c->child[1]->child[0]->kind == NODE_BREAK))))
            return true;
    }
    return false;
}

static bool run_loop(region *r, const node *n) {
    const node *const body = n->kind == NODE_FOR  ? n->child[3]
                             : n->kind == NODE_DO ? n->child[0]
                                                  : n->child[1];
    const snapshot s = save_region(r);
    const text whole = r->x.to;
    const char *const indent = r->x.indent;
    if (n->kind == NODE_FOR && run_unrolled(r, n)) return true;
    r->x.to = whole;
    r->x.indent = indent;
    restore_region(r, &s);
    return !jumps_otherwise(body) && run_turns(r, n);
}
