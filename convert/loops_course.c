/* SPDX-License-Identifier: MIT */
/* loops_course.c - whole numbers and pointers of a loop's body, from turn to turn: the same, or
 * growing by the same amount, or neither; and which names are assigned to before they are
 * read. */
#include <string.h>
#include "convert/loops.h"
#include "convert/region.h"

static bool is_real(const node *n) { return n->type != NULL && n->type->kind == TYPE_REAL; }

/* ---- whole numbers and pointers ---------------------------------------------------------- */

static const char *without_const(const type *t) {
    return t->spelling + (starts_with(t->spelling, "const ") ? strlen("const ") : 0);
}

/* A type that grows steadily as long as its number is one at all: signed ones, and those as
 * wide as pointers. */
bool is_steady(const type *t) {
    static const char *const all[] = {
        "int",     "long",          "long long",          "size_t",
        "ssize_t", "unsigned long", "unsigned long long", "ptrdiff_t",
        "int32_t", "int64_t",       "uint64_t",           "intptr_t"};
    if (t == NULL) return false;
    if (t->kind == TYPE_POINTER) return true;
    const char *const s = without_const(t);
    for (size_t i = 0; t->kind == TYPE_WHOLE && i < sizeof all / sizeof *all; i++)
        if (same(s, all[i])) return true;
    return false;
}
bool is_unsigned(const type *t) {
    const char *const s = without_const(t);
    return strstr(s, "unsigned") != NULL || strstr(s, "uint") != NULL || same(s, "size_t");
}
static bool is_int(const type *t) {
    const char *const s = without_const(t);
    return same(s, "int") || same(s, "int32_t");
}

static course worse(course a, course b) { return a > b ? a : b; }

/* What is loaded from there. */
static course loaded(turn *t, const node *n) {
    if (n->type != NULL && n->type->kind == TYPE_ARRAY) return address_of(t, n);
    const course c = address_of(t, n);
    return c == GROWS ? ANY : c;
}

/* Where a place is. */
course address_of(turn *t, const node *n) {
    n = bare(n);
    switch (n->kind) {
    case NODE_NAME:
        return n->decl->kind == DECL_VARIABLE || n->decl->kind == DECL_PARAMETER ? SAME
                                                                                 : UNKNOWN;
    case NODE_INDEX:
        return worse(course_of(t, n->child[0]), course_of(t, n->child[1]));
    case NODE_MEMBER:
        return n->arrow ? course_of(t, n->child[0]) : address_of(t, n->child[0]);
    case NODE_UNARY:
        return same(n->op, "*") ? course_of(t, n->child[0]) : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

static course of_binary(turn *t, const node *n) {
    const course a = course_of(t, n->child[0]), b = course_of(t, n->child[1]), c = worse(a, b);
    if (c != GROWS) return c;
    if (!is_steady(n->type)) return ANY;
    if (same(n->op, "+") || same(n->op, "-")) return GROWS;
    return same(n->op, "*") && (a == SAME || b == SAME) ? GROWS : ANY;
}

course course_of(turn *t, const node *n) {
    if (n == NULL) return SAME;
    if (n->by_macro) return is_number_literal(n) || *macro_number(n) != 0 ? SAME : UNKNOWN;
    if (is_real(n)) return UNKNOWN;
    switch (n->kind) {
    case NODE_NUMBER:
        return SAME;
    case NODE_SIZEOF:
        return n->children == 0 ? SAME : UNKNOWN;
    case NODE_PAREN:
        return course_of(t, n->child[0]);
    case NODE_NAME: {
        const decl *const d = n->decl;
        if (d->kind == DECL_CONSTANT) return SAME;
        if (d->kind != DECL_VARIABLE && d->kind != DECL_PARAMETER) return UNKNOWN;
        if (d->type->kind == TYPE_ARRAY || d->owner != t->v->function || d->is_static)
            return SAME;
        return (course)t->course[d->index];
    }
    case NODE_MEMBER:
    case NODE_INDEX:
        return loaded(t, n);
    case NODE_UNARY:
        if (same(n->op, "&")) return address_of(t, n->child[0]);
        if (same(n->op, "*")) return loaded(t, n);
        if (same(n->op, "+") || same(n->op, "-"))
            return worse(course_of(t, n->child[0]),
                         is_steady(n->type) || course_of(t, n->child[0]) == SAME ? SAME : ANY);
        if (same(n->op, "++") || same(n->op, "--")) return UNKNOWN;
        return course_of(t, n->child[0]) == SAME ? SAME : worse(ANY, course_of(t, n->child[0]));
    case NODE_BINARY:
        return same(n->op, ",") ? UNKNOWN : of_binary(t, n);
    case NODE_CHOICE:
        if (n->children != 3) return UNKNOWN;
        return worse(course_of(t, n->child[0]) == SAME ? SAME
                                                       : worse(ANY, course_of(t, n->child[0])),
                     worse(course_of(t, n->child[1]), course_of(t, n->child[2])));
    case NODE_CAST: {
        const course c = course_of(t, n->child[0]);
        if (c != GROWS) return c;
        return is_steady(n->type) && (!is_int(n->type) || is_int(n->child[0]->type)) ? GROWS
                                                                                     : ANY;
    }
    default:
        return UNKNOWN;
    }
}

course argument_course(turn *t, const decl *p, const node *n) {
    if (p->type->kind == TYPE_REAL) return SAME;
    const course c = course_of(t, n);
    return c == GROWS && !is_steady(p->type) && p->type->kind != TYPE_ARRAY ? ANY : c;
}

/* What d is assigned: is it so much at least? */
static bool grows_into(turn *t, const decl *d, course c, const type *from) {
    if (c == GROWS &&
        (!is_steady(d->type) || (is_int(d->type) && from != NULL && !is_int(from))))
        c = ANY;
    const course before = (course)t->course[d->index];
    t->course[d->index] = (unsigned char)worse(before, c);
    return t->course[d->index] != before;
}

bool is_tracked(const turn *t, const decl *d) {
    return d->owner == t->v->function && d->type != NULL &&
           (d->type->kind == TYPE_WHOLE || d->type->kind == TYPE_POINTER);
}

/* One pass over all assignments; true: something has become worse. */
bool follow(turn *t, const node *n) {
    bool more = false;
    if (n == NULL) return false;
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        if (d->init == NULL) continue;
        more |= follow(t, d->init);
        if (is_tracked(t, d) && !d->is_static)
            more |= grows_into(t, d, course_of(t, d->init), d->init->type);
    }
    for (size_t i = 0; i < n->children; i++) more |= follow(t, n->child[i]);
    const bool step =
        n->kind == NODE_UNARY && n->op != NULL && (same(n->op, "++") || same(n->op, "--"));
    if ((n->kind != NODE_ASSIGN && !step) || bare(n->child[0])->kind != NODE_NAME) return more;
    const decl *const d = bare(n->child[0])->decl;
    if (!is_tracked(t, d) || d == t->counter) return more;
    const bool carried =
        t->loop != NULL && !is_of_turn(t, d) && first_use(t->loop->child[3], d) != FIRST;
    if (step) return more | (carried && grows_into(t, d, ANY, NULL));
    course c = course_of(t, n->child[1]);
    if (carried || (!same(n->op, "=") && !same(n->op, "+=") && !same(n->op, "-=") &&
                    worse(c, (course)t->course[d->index]) != SAME))
        c = worse(ANY, c);
    return more | grows_into(t, d, c, n->child[1]->type);
}

/* ---- who is assigned to before it is read ------------------------------------------------ */

static int first_of(size_t n, const node *const *c, const decl *d) {
    for (size_t i = 0; i < n; i++) {
        const int u = first_use(c[i], d);
        if (u != NOT_THERE) return u;
    }
    return NOT_THERE;
}
static int perhaps(int u) { return u == FIRST ? PERHAPS : u; } /* what need not be done */

int first_use(const node *n, const decl *d) {
    if (n == NULL) return NOT_THERE;
    if (n->kind == NODE_NAME) return n->decl == d ? READ : NOT_THERE;
    for (size_t i = 0; i < n->decls.n; i++) {
        const int u = first_use(((const decl *)n->decls.at[i])->init, d);
        if (u != NOT_THERE) return u;
    }
    if (n->kind == NODE_ASSIGN && same(n->op, "=") && bare(n->child[0])->kind == NODE_NAME &&
        bare(n->child[0])->decl == d)
        return first_use(n->child[1], d) == NOT_THERE ? FIRST : READ;
    if (n->kind == NODE_FOR) {
        const int u = first_of(2, (const node *const *)n->child, d);
        return u != NOT_THERE
                   ? u
                   : perhaps(first_of(2, (const node *const[]){n->child[3], n->child[2]}, d));
    }
    if (n->kind == NODE_IF) {
        const int u = first_use(n->child[0], d), yes = first_use(n->child[1], d),
                  no = n->children > 2 ? first_use(n->child[2], d) : NOT_THERE;
        if (u != NOT_THERE) return u;
        if (yes == no) return yes;
        return yes == READ || no == READ ? READ : PERHAPS;
    }
    if (n->kind == NODE_BLOCK || n->kind == NODE_PAREN || n->kind == NODE_ASSIGN ||
        n->kind == NODE_DECLARE)
        return first_of(n->children, (const node *const *)n->child, d);
    return perhaps(first_of(n->children, (const node *const *)n->child, d));
}
