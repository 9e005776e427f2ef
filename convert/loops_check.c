/* SPDX-License-Identifier: MIT */
/* loops_check.c - may a loop be a map or scan? Numbers, calls, branches and statements of its
 * body, and of what it calls. */
#include <string.h>
#include "convert/loops.h"
#include "convert/region.h"

enum { MOST_CALLS = 24 };

static bool refuse(turn *t, const node *n, const char *why) {
    if (!t->failed)
        error_at(place_of(n), "'%s' cannot be in a loop that is one record: %s", source(n),
                 why);
    for (turn *c = t; c != NULL; c = c->caller) c->failed = true;
    return false;
}

/* All turns have to be run. */
static bool run_each(turn *t) {
    while (t->caller != NULL) t = t->caller;
    return t->each = true;
}

bool is_variable_of(turn *t, const node *n) {
    version *const before = t->w->v;
    t->w->v = t->v;
    const bool is = is_active(t->w, n);
    t->w->v = before;
    return is;
}

static bool is_real(const node *n) { return n->type != NULL && n->type->kind == TYPE_REAL; }
static bool is_scalar(const type *t) {
    return t->kind == TYPE_WHOLE || t->kind == TYPE_POINTER || t->kind == TYPE_REAL;
}

bool is_number_literal(const node *n) {
    if (n->by_macro) { /* of a macro that stands for numbers */
        if (n->kind == NODE_NAME) return n->decl->kind == DECL_CONSTANT;
    } else if (n->kind != NODE_NUMBER && n->kind != NODE_PAREN && n->kind != NODE_CAST &&
               n->kind != NODE_UNARY && n->kind != NODE_BINARY)
        return n->kind == NODE_NAME && n->decl->kind == DECL_CONSTANT;
    if (n->kind == NODE_OPAQUE || n->kind == NODE_CALL || n->kind == NODE_MEMBER) return false;
    if (n->kind == NODE_UNARY && !same(n->op, "-") && !same(n->op, "+")) return false;
    for (size_t i = 0; i < n->children; i++)
        if (n->child[i] == NULL || !is_number_literal(n->child[i])) return false;
    return n->kind == NODE_NUMBER || n->children != 0 || n->kind == NODE_NAME;
}

static bool takes_address(const node *n, const decl *d) {
    if (n == NULL) return false;
    if (n->kind == NODE_UNARY && n->op != NULL && same(n->op, "&") &&
        bare(n->child[0])->kind == NODE_NAME && bare(n->child[0])->decl == d)
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (takes_address(n->child[i], d)) return true;
    for (size_t i = 0; i < n->decls.n; i++)
        if (takes_address(((const decl *)n->decls.at[i])->init, d)) return true;
    return false;
}

bool is_of_turn(const turn *t, const decl *d) {
    if (d->is_static || d->is_global || d->owner != t->v->function) return false;
    return t->loop == NULL || declared_in(t->loop->child[3], d);
}

bool is_own(const turn *t, const decl *d) {
    return d->type != NULL && d->type->kind == TYPE_REAL && is_of_turn(t, d) &&
           !takes_address(t->v->function->body, d);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static bool check_number(turn *t, const node *n);

bool is_selected(const turn *t, const node *n) {
    (void)t;
    n = bare(n);
    if (is_real(n)) return true;
    if (n->kind == NODE_BINARY || n->kind == NODE_UNARY)
        for (size_t i = 0; i < n->children; i++)
            if (is_selected(t, n->child[i])) return true;
    return false;
}

/* Is a place read where this text is evaluated? */
static bool mentions(const char *s, const char *what) {
    for (const char *p = s; (p = strstr(p, what)) != NULL; p++)
        if (p == s || (strchr("_.>)]", p[-1]) == NULL && !(p[-1] >= '0' && p[-1] <= '9') &&
                       !((p[-1] | 32) >= 'a' && (p[-1] | 32) <= 'z')))
            return true;
    return false;
}

/* What selects: comparisons of numbers, and what is made of these. */
static bool check_selection(turn *t, const node *n) {
    n = bare(n);
    if (n->kind == NODE_BINARY && (same(n->op, "&&") || same(n->op, "||"))) {
        const char *const before = t->masked;
        if (!check_selection(t, n->child[0])) return false;
        t->masked = source(n->child[0]);
        const bool good = check_selection(t, n->child[1]);
        t->masked = before;
        return good;
    }
    if (n->kind == NODE_UNARY && same(n->op, "!")) return check_selection(t, n->child[0]);
    const bool compares = n->kind == NODE_BINARY && strchr("<>=!", *n->op) != NULL &&
                          !same(n->op, "<<") && !same(n->op, ">>");
    if (compares && (is_real(bare(n->child[0])) || is_real(bare(n->child[1]))))
        return check_number(t, n->child[0]) && check_number(t, n->child[1]);
    if (n->type != NULL && n->type->kind == TYPE_WHOLE && course_of(t, n) == SAME) return true;
    return refuse(t, n,
                  "turns would not take the same way, and it is no comparison of numbers");
}

static bool check_masked(turn *t, const node *condition, size_t n, const node *const *parts) {
    if (!check_selection(t, condition)) return false;
    const char *const before = t->masked;
    t->masked = source(condition);
    bool good = true;
    for (size_t i = 0; i < n && good; i++) good = check_number(t, parts[i]);
    t->masked = before;
    return good;
}

version *turn_called(const turn *t, const node *call) {
    const node *const f = bare(call->child[0]);
    if (f->kind != NODE_NAME || f->decl->kind != DECL_FUNCTION || f->decl->body == NULL)
        return NULL;
    return called_by(t->v, call);
}

bool is_any_place(turn *t, const node *n) {
    return address_of(t, n) == ANY || (n->type->bits != 64 && !is_variable_of(t, n));
}

static bool check_place(turn *t, const node *n) {
    n = bare(n);
    if (n->by_macro) return refuse(t, n, "it is a macro's: write what that stands for");
    if (n->kind == NODE_NAME && is_own(t, n->decl)) return true;
    if (n->kind == NODE_NAME && takes_address(t->v->function->body, n->decl) &&
        n->decl->kind == DECL_PARAMETER && t->loop == NULL)
        return refuse(t, n, "a parameter whose address is taken: write a variable");
    if (address_of(t, n) == UNKNOWN)
        return refuse(t, n, "where it is depends on numbers, or on what is not known");
    if (is_any_place(t, n)) (void)run_each(t);
    if (t->masked != NULL && n->kind != NODE_NAME && !mentions(t->masked, source(n)))
        return refuse(
            t, n,
            "it is read by some turns only, and may not be there for others: read it before");
    return true;
}

static bool check_call(turn *t, const node *n);

bool is_any_whole(turn *t, const node *n) {
    const course c = course_of(t, n);
    const node *const e = bare(n);
    const bool counts = e->kind == NODE_NAME && e->decl == t->counter;
    return c == ANY || (c == GROWS && !counts && is_unsigned(n->type));
}

static bool check_whole(turn *t, const node *n) {
    if (course_of(t, n) == UNKNOWN)
        return refuse(t, n, "this whole number depends on numbers, or on what is not known");
    return !is_any_whole(t, n) || run_each(t);
}

static bool check_number(turn *t, const node *n) {
    if (t->failed) return false;
    if (is_number_literal(n)) return true;
    if (n->type == NULL || (n->type->kind != TYPE_REAL && n->type->kind != TYPE_WHOLE))
        return refuse(t, n, "it is no number");
    if (n->type->kind == TYPE_WHOLE) return check_whole(t, n);
    if (n->by_macro) return refuse(t, n, "it is a macro's: write what that stands for");
    if (is_place(n)) return check_place(t, n);
    switch (n->kind) {
    case NODE_CAST:
        if (is_real(n->child[0]) && n->type->bits < n->child[0]->type->bits)
            return refuse(t, n, "it is rounded");
        return check_number(t, n->child[0]);
    case NODE_PAREN:
        return check_number(t, n->child[0]);
    case NODE_UNARY:
        if (!same(n->op, "-") && !same(n->op, "+")) break;
        return check_number(t, n->child[0]);
    case NODE_BINARY:
        if (same(n->op, ",")) break;
        return check_number(t, n->child[0]) && check_number(t, n->child[1]);
    case NODE_CHOICE:
        if (n->children != 3) break;
        if (is_selected(t, n->child[0]))
            return check_masked(t, n->child[0], 2, (const node *const *)n->child + 1);
        if (course_of(t, n->child[0]) != SAME)
            return refuse(t, n->child[0], "turns would not take the same way");
        return check_number(t, n->child[1]) && check_number(t, n->child[2]);
    case NODE_CALL:
        return check_call(t, n);
    default:
        break;
    }
    return refuse(t, n, "a statement of its own is needed for it, or it is not known");
}

/* ---- calls ------------------------------------------------------------------------------- */

static bool check_function(turn *t, const node *call, version *v) {
    const decl *const f = v->function;
    if (t->depth == MOST_CALLS)
        return refuse(t, call, "calls are nested too deep, or a recursion");
    if (f->file != t->w->a->root->function->file && f->file->given)
        return refuse(t, call, "it is a function of another file");
    turn in = {.w = t->w, .v = v, .caller = t, .depth = t->depth + 1};
    in.course = arena_get(f->parameters.n + f->locals.n + 1);
    if (f->parameters.n != call->children - 1)
        return refuse(t, call, "it has other arguments than parameters");
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const node *const e = call->child[i + 1];
        if (p->type->kind == TYPE_REAL) {
            if (!check_number(t, e)) return false;
            continue;
        }
        if (!is_scalar(p->type) && p->type->kind != TYPE_ARRAY)
            return refuse(t, e, "a structure by value");
        if (t->masked != NULL && p->type->kind != TYPE_WHOLE)
            return refuse(t, call, "some turns only would call it, and it has a pointer");
        const course c = argument_course(t, p, e);
        if (c == UNKNOWN)
            return refuse(t, e, "where it is depends on numbers, or on what is not known");
        in.course[p->index] = (unsigned char)c;
    }
    in.masked = t->masked != NULL ? "" : NULL;
    return check_turn(&in, f->body) && !t->failed;
}

static bool check_call(turn *t, const node *n) {
    const known *const k = known_of(n, NULL);
    if (k->kind == KNOWN_OPERATION) {
        for (size_t i = 1; i < n->children; i++)
            if (!check_number(t, n->child[i])) return false;
        return true;
    }
    version *const v = turn_called(t, n);
    if (v == NULL) return refuse(t, n, "it is not known what this call does");
    return check_function(t, n, v);
}

/* ---- statements -------------------------------------------------------------------------- */

static bool check_statement(turn *t, const node *n);

static bool check_condition(turn *t, const node *n) {
    if (n == NULL || course_of(t, n) == SAME) return true;
    return refuse(t, n, "turns would not take the same way");
}

bool is_sum(const turn *t, const node *n) {
    (void)t;
    const node *const e = n->children == 2 ? bare(n->child[1]) : NULL;
    return n->kind == NODE_ASSIGN && same(n->op, "=") && e->kind == NODE_BINARY &&
           (same(e->op, "+") || same(e->op, "-")) &&
           same(source(bare(e->child[0])), source(bare(n->child[0])));
}

/* May a whole number or pointer be assigned to? It is the turn's, or begins anew in each. */
static bool check_own_whole(turn *t, const node *n) {
    const node *const to = bare(n->child[0]);
    if (to->kind != NODE_NAME || !is_tracked(t, to->decl) || to->decl->is_static ||
        takes_address(t->v->function->body, to->decl) || t->masked != NULL)
        return refuse(t, n, "a whole number or pointer in memory, or of all turns, is changed");
    if (to->decl == t->counter) return refuse(t, n, "the loop's own counter is changed");
    if (t->loop == NULL || is_of_turn(t, to->decl)) return true;
    return (first_use(t->loop->child[3], to->decl) == FIRST &&
            t->course[to->decl->index] == SAME) ||
           run_each(t);
}

static bool check_assignment(turn *t, const node *n) {
    const node *const to = bare(n->child[0]);
    if (to->type == NULL || to->type->kind != TYPE_REAL) {
        if (n->children > 1 && (to->type == NULL || !is_scalar(to->type)))
            return refuse(t, n, "structures are assigned");
        return check_own_whole(t, n) &&
               (n->children < 2 || course_of(t, n->child[1]) != UNKNOWN ||
                refuse(t, n, "it depends on numbers, or on what is not known"));
    }
    if (!is_place(to)) return refuse(t, n, "it is not known where this is assigned to");
    const bool own = to->kind == NODE_NAME && is_own(t, to->decl);
    if (t->masked != NULL && *t->masked == 0 && !own)
        return refuse(t, n, "some turns only would assign to it");
    const char *const masked = t->masked;
    if (masked != NULL && !own && to->kind != NODE_NAME && !mentions(masked, source(to)))
        return refuse(t, n, "some turns only would assign to it");
    if (!check_place(t, to)) return false;
    const bool adds = same(n->op, "+=") || same(n->op, "-=") || n->children < 2 || is_sum(t, n);
    if (!own && is_any_place(t, to) && (!adds || masked != NULL || !is_variable_of(t, to)))
        return refuse(t, n,
                      address_of(t, to) != ANY
                          ? "numbers that are no double are changed"
                          : "from turn to turn it does not move by the same amount: only sums "
                            "of variables may");
    const node *const loop = t->loop;
    if (loop != NULL && loop->loop == LOOP_MAP && to->kind == NODE_NAME && !own &&
        !is_of_turn(t, to->decl) && !adds && first_use(loop->child[3], to->decl) == READ)
        return refuse(
            t, n,
            "it is carried from turn to turn: 'wengert: scan' before the loop makes it a state");
    return n->children < 2 || check_number(t, n->child[1]);
}

static bool check_declaration(turn *t, const node *n) {
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        const type *const leaf = leaf_type(d->type);
        if (d->kind != DECL_VARIABLE) return refuse(t, n, "types are declared in it");
        if (d->is_static) {
            if (keeps_state(d)) return refuse(t, n, "it is remembered from call to call");
            continue;
        }
        if (n->parent != NULL && n->parent->kind == NODE_FOR && d->type->kind != TYPE_WHOLE &&
            d->type->kind != TYPE_POINTER)
            return refuse(t, n, "declare numbers before the loop's head");
        if (d->type->kind == TYPE_REAL) {
            if (d->type->bits != 64 && !is_own(t, d))
                return refuse(t, n, "something points to it, and it is no double");
            if (d->init != NULL && !check_number(t, d->init)) return false;
            continue;
        }
        if (d->type->kind == TYPE_WHOLE || d->type->kind == TYPE_POINTER) {
            if (d->init != NULL && course_of(t, d->init) == UNKNOWN)
                return refuse(t, d->init, "it depends on numbers, or on what is not known");
            continue;
        }
        if (d->type->kind != TYPE_ARRAY || leaf->kind != TYPE_REAL || leaf->bits != 64)
            return refuse(t, n, "turns may have numbers, pointers and arrays of double");
        if (d->init != NULL)
            for (size_t k = 0; k < d->init->children; k++)
                if (!is_number_literal(d->init->child[k]))
                    return refuse(t, d->init, "assign to its elements");
        for (const type *a = d->type; a->kind == TYPE_ARRAY; a = a->of)
            if (a->count < 0 && t->loop == NULL)
                return refuse(t, n, "its size is known when it runs only");
    }
    return true;
}

/* if (numbers compared) x = e; what it assigns is selected. */
static bool check_choice(turn *t, const node *n) {
    if (!check_selection(t, n->child[0])) return false;
    const char *const before = t->masked;
    if (before != NULL)
        return refuse(t, n, "choices by numbers are nested: write them one by one");
    t->masked = source(n->child[0]);
    bool good = true;
    for (size_t i = 1; i < n->children && good; i++) {
        const node *const b = n->child[i];
        const size_t count = b == NULL ? 0 : b->kind == NODE_BLOCK ? b->children : 1;
        for (size_t k = 0; k < count && good; k++) {
            const node *const s = b->kind == NODE_BLOCK ? b->child[k] : b;
            if (s->kind == NODE_EMPTY) continue;
            good =
                s->kind == NODE_ASSIGN && is_real(bare(s->child[0]))
                    ? check_assignment(t, s)
                    : refuse(
                          t, s,
                          "turns would not take the same way: only numbers can be assigned here");
        }
    }
    t->masked = before;
    return good;
}

static bool check_all(turn *t, const node *n) {
    for (size_t i = 0; i < n->children; i++)
        if (n->child[i] != NULL && !check_statement(t, n->child[i])) return false;
    return true;
}

/* The break that leaves the loop whose body this is; NULL: there is none. */
static const node *break_of(const node *n) {
    if (n == NULL || n->kind == NODE_FOR || n->kind == NODE_WHILE || n->kind == NODE_DO)
        return NULL;
    if (n->kind == NODE_BREAK) return n;
    const node *found = NULL;
    for (size_t i = 0; i < n->children && found == NULL; i++) found = break_of(n->child[i]);
    return found;
}

static bool check_statement(turn *t, const node *n) {
    if (t->failed) return false;
    if (n->by_macro) return refuse(t, n, "it is a macro's: write what that stands for");
    if (is_expression(n)) {
        const node *const e = bare(n);
        if (e->kind == NODE_ASSIGN) return check_assignment(t, e);
        if (e->kind == NODE_UNARY && e->op != NULL && (same(e->op, "++") || same(e->op, "--")))
            return check_assignment(t, e);
        if (e->kind == NODE_CALL && turn_called(t, e) != NULL) return check_call(t, e);
        return refuse(t, n, "it is no assignment, and no call of a function of the files");
    }
    switch (n->kind) {
    case NODE_EMPTY:
    case NODE_BREAK:
    case NODE_CONTINUE:
        return true;
    case NODE_BLOCK:
        return check_all(t, n);
    case NODE_DECLARE:
        return check_declaration(t, n);
    case NODE_IF:
        if (is_selected(t, n->child[0])) return check_choice(t, n);
        if (!check_condition(t, n->child[0])) return false;
        for (size_t i = 1; i < n->children; i++)
            if (n->child[i] != NULL && !check_statement(t, n->child[i])) return false;
        return true;
    case NODE_FOR:
        return (n->child[0] == NULL || check_statement(t, n->child[0])) &&
               check_condition(t, n->child[1]) &&
               (n->child[2] == NULL || check_statement(t, n->child[2])) &&
               check_statement(t, n->child[3]);
    case NODE_WHILE:
        return check_condition(t, n->child[0]) && check_statement(t, n->child[1]);
    case NODE_DO:
        return check_condition(t, n->child[1]) && check_statement(t, n->child[0]);
    case NODE_RETURN:
        if (t->loop != NULL) return refuse(t, n, "it leaves the loop");
        if (n->children == 0) return true;
        if (!is_real(n->child[0]) && n->child[0]->type != NULL &&
            n->child[0]->type->kind != TYPE_WHOLE)
            return refuse(t, n, "it gives no number");
        return check_number(t, n->child[0]);
    default:
        return refuse(t, n, "this statement is not one of those that can be followed");
    }
}

bool check_turn(turn *t, const node *body) {
    const decl *const f = t->v->function;
    if (t->loop == NULL && f->type->of->kind != TYPE_VOID && f->type->of->kind != TYPE_REAL)
        return refuse(t->caller, body, "the function gives no number");
    const node *const leaves = t->loop != NULL ? break_of(body) : NULL;
    if (leaves != NULL) return refuse(t, leaves, "it leaves the loop");
    while (follow(t, body)) {
    }
    return check_statement(t, body);
}
