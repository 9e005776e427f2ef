/* SPDX-License-Identifier: MIT */
/* effects.c - expressions: their effects become steps, in the order in which C has them. */
#include <string.h>
#include "convert/builder.h"

/* ---- questions -------------------------------------------------------------------------- */

bool is_free(const node *n) {
    const node *const f = bare(n->child[0]);
    return n->kind == NODE_CALL && f->kind == NODE_NAME && f->decl->body == NULL &&
           same(f->decl->name, "free") && n->children == 2;
}
version *touched_call(const routine *r, const node *n) {
    if (n->kind != NODE_CALL) return NULL;
    version *const v = called_by(r->v, n);
    return v != NULL && v->touched ? v : NULL;
}
const known *known_call(const node *n) {
    const node *const f = bare(n->child[0]);
    if (f->kind != NODE_NAME || f->decl->kind != DECL_FUNCTION || f->decl->body != NULL)
        return known_function("", NULL);
    const char *const name = f->decl->name;
    return known_function(starts_with(name, "wgi_plain_") ? name + 10 : name, NULL);
}
static bool is_pure_call(const node *n) {
    const known_kind k = known_call(n)->kind;
    return k == KNOWN_OPERATION || k == KNOWN_SCALED || k == KNOWN_QUESTION ||
           k == KNOWN_ROUNDING;
}

/* Does an expression do more than to give a value? A call of a function that is not of
 * math.h does. */
bool has_effects(const node *n) {
    if (n == NULL || n->by_macro || n->kind == NODE_SIZEOF) return false;
    if (n->kind == NODE_ASSIGN || n->kind == NODE_STATEMENTS) return true;
    if (n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"))) return true;
    if (n->kind == NODE_CALL) {
        if (!is_pure_call(n)) return true;
    }
    for (size_t i = 0; i < n->children; i++)
        if (has_effects(n->child[i])) return true;
    return false;
}

/* ---- steps ------------------------------------------------------------------------------ */

static target place(const routine *r, const node *n) {
    return (target){n, NULL, n->type, cell_at(r, n), NULL};
}

/* What an expression gives is kept under a name. */
static void name_it(builder *b, const node *n) {
    step *const s = add_step(b, STEP_ASSIGN);
    s->to = new_name(b->r, n->type, cell_at(b->r, n));
    s->e = n;
}

bool is_plain_local(const routine *r, const node *n) {
    n = bare(n);
    if (n->kind != NODE_NAME || n->decl->owner == NULL || n->decl->is_static) return false;
    const cell *const c = cell_at(r, n);
    return c != NULL && !c->addressed;
}

/* malloc and the like, whose result goes straight to a pointer: with it goes its shadow's. */
static bool is_assigned_memory(const node *n) {
    if (n->kind != NODE_CALL || known_call(n)->kind != KNOWN_MEMORY) return false;
    const node *p = n->parent;
    while (p != NULL && (p->kind == NODE_PAREN || p->kind == NODE_CAST)) p = p->parent;
    return p != NULL && ((p->kind == NODE_ASSIGN && same(p->op, "=")) ||
                         p->kind == NODE_DECLARE || p->kind == NODE_RETURN);
}

/* A step that assigns text, with its derivatives. */
static step *text_step(builder *b, target to, const node *at, const char *s) {
    step *const x = add_step(b, STEP_ASSIGN);
    x->to = to, x->e = at, x->text = s, x->parts = true;
    return x;
}

/* modf, frexp, remquo: the part that is given by pointer has no derivative. */
static void parts_step(builder *b, const node *n, const char *name) {
    routine *const r = b->r;
    const size_t numbers = same(name, "remquo") ? 2 : 1;
    const node *given = n->child[numbers + 1];
    while (given->kind == NODE_PAREN || given->kind == NODE_CAST) given = given->child[0];
    if (given->kind != NODE_UNARY || !same(given->op, "&") || n->type->bits != 64) {
        refuse_node(
            r, n,
            "a function that gives a part by pointer: give it the address of a variable, in double");
        return;
    }
    factor *x[2];
    const char *args = "";
    for (size_t i = 0; i < numbers; i++) {
        name_it(b, n->child[i + 1]);
        x[i] = arena_get(sizeof *x[i]);
        x[i]->of = ((step *)b->to->at[b->to->n - 1])->to;
        args = format(i == 0 ? "%s%s" : "%s, %s", args, x[i]->of.name);
    }
    const char *const a = x[0]->of.name;
    (void)text_step(b, place(r, given->child[0]), n, format("wgc_%s_part(%s)", name, args));
    const target to = new_name(r, n->type, cell_at(r, n));
    step *const s = text_step(b, to, n, format("wgc_%s(%s)", name, args));
    x[0]->how = same(name, "frexp") ? format("ldexp(%%s, -wgc_frexp_part(%s))", a) : "%s";
    for (size_t i = 0; i < numbers; i++)
        if (step_is_active(r, n->child[i + 1])) push(&s->factors, x[i]);
    if (numbers == 2) x[1]->how = format("wgc_times(%%s, wgc_remquo_d(%s))", args);
    r->instead[n->number] = to.name;
}

/* A number of which + 1 is undone by - 1: no _Bool. */
bool is_integer(const type *t) {
    return t != NULL && t->kind == TYPE_WHOLE && strstr(t->spelling, "ool") == NULL;
}

static const char *plus_one(const node *n) { return same(n->op, "++") ? "+ 1" : "- 1"; }

/* a && b, a || b, a ? b : c where what comes second has effects */
static void branch_value(builder *b, const node *n) {
    routine *const r = b->r;
    const bool choice = n->kind == NODE_CHOICE;
    pure(b, n->child[0]);
    const target t = new_name(r, n->type, cell_at(r, n));
    step *const s = add_step(b, STEP_IF);
    s->e = n->child[0];
    builder yes = {r, &s->body, b->next}, no = {r, &s->other, b->next};
    builder *const second = choice || same(n->op, "&&") ? &yes : &no, *const rest =
                                                                          second == &yes ? &no
                                                                                         : &yes;
    pure(second, n->child[1]);
    if (choice) {
        pure(rest, n->child[2]);
        assign_to(second, &t, n->child[1], "=");
        assign_to(rest, &t, n->child[2], "=");
    } else {
        step *x = add_step(second, STEP_ASSIGN);
        x->to = t, x->e = n, x->text = format("(%s) != 0", print(r, n->child[1]));
        x = add_step(rest, STEP_ASSIGN);
        x->to = t, x->e = n, x->text = same(n->op, "&&") ? "0" : "1";
    }
    r->instead[n->number] = t.name;
}

/* Structures are copied number by number: the way back knows no pointers in them, and reads
 * no choice. */
bool has_held_pointers(const routine *r, const type *t) {
    while (t->kind == TYPE_ARRAY) t = t->of;
    if (t->kind != TYPE_RECORD) return false;
    for (size_t i = 0; i < t->record->fields.n; i++) {
        const decl *const f = t->record->fields.at[i];
        cell *const c = cell_of(r->a, r->v, f);
        if (c == NULL || !holds_variables(c)) continue;
        if (f->type->kind == TYPE_POINTER || has_held_pointers(r, f->type)) return true;
    }
    return false;
}
bool is_handle(const analysis *a, const type *t) {
    if (t->kind != TYPE_RECORD) return false;
    bool holds = false;
    for (size_t i = 0; i < t->record->fields.n; i++) {
        const decl *const f = t->record->fields.at[i];
        cell *const c = a->of_decl[f->number];
        if (c == NULL || !holds_variables(c)) continue;
        if (f->type->kind != TYPE_POINTER) return false;
        holds = true;
    }
    return holds;
}
bool leads_to_variables(const routine *r, const type *t) {
    while (t->kind == TYPE_ARRAY) t = t->of;
    return t->kind == TYPE_POINTER || has_held_pointers(r, t);
}

/* A structure that is written out gets a name. */
void name_literal(builder *b, const node *e) {
    routine *const r = b->r;
    const node *const n = bare(e);
    if (n->kind != NODE_COMPOUND || n->type == NULL || n->type->kind != TYPE_RECORD ||
        !record_holds(r->a, n->type->record) || n->children == 0 ||
        r->instead[n->number] != NULL)
        return;
    const target to = new_name(r, n->type, cell_at(r, n));
    add_step(b, STEP_CLEAR)->to = to;
    initialise_list(b, n->child[n->children - 1], n->type, to.cell, to.name,
                    format("%s_b", to.name));
    r->instead[n->number] = r->instead[e->number] = to.name;
}

void check_record(routine *r, const type *t, const node *e) {
    if (t == NULL || t->kind != TYPE_RECORD || e == NULL || !record_holds(r->a, t->record))
        return;
    const node_kind k = r->instead[bare(e)->number] != NULL ? NODE_NAME : bare(e)->kind;
    if (has_held_pointers(r, t))
        refuse_node(
            r, e,
            "a structure with pointers to variables is copied: hand over its address, or assign its fields");
    else if (k == NODE_CHOICE || k == NODE_COMPOUND)
        refuse_node(r, e, "a structure without a name is copied: assign its fields");
}

static bool is_same_element(const type *a, const type *b) {
    return a->kind == b->kind &&
           (a->kind == TYPE_RECORD ? a->record == b->record : a->bits == b->bits);
}

const node *behind_casts(const node *n) {
    while (n->kind == NODE_PAREN || n->kind == NODE_CAST) n = n->child[0];
    return n;
}

/* What stands where an array is, or a pointer leads to: numbers, or structures without pointers
 * to variables; NULL: something else. */
static const type *moved_element(const routine *r, const type *t) {
    const type *e = t->kind == TYPE_POINTER ? t->of : t;
    while (t->kind == TYPE_ARRAY && e->kind == TYPE_ARRAY) e = e->of;
    const bool number = e->kind == TYPE_REAL && e->bits == 64,
               structure = e->kind == TYPE_RECORD && !e->record->is_union;
    return number || (structure && !has_held_pointers(r, e)) ? e : NULL;
}
static bool is_other_real(const type *t) {
    const type *const l = leaf_type(t);
    return l->kind == TYPE_REAL && l->bits != 64;
}
static target memory_target(const routine *r, const node *to) {
    cell *const c = cell_at(r, to);
    cell *const of = to->type->kind == TYPE_ARRAY     ? c
                     : c != NULL && c->target != NULL ? real_cell(c->target)
                                                      : NULL;
    return (target){to, NULL, to->type, of, NULL};
}

/* memcpy and memset of variables; false: it is not that. */
static bool copy_step(builder *b, const node *n, known_kind k) {
    routine *const r = b->r;
    if ((k != KNOWN_COPY && k != KNOWN_FILL) || n->children < 4 || !node_holds(r, n->child[1]))
        return false;
    const node *const to = behind_casts(n->child[1]), *const from = behind_casts(n->child[2]);
    const type *const t = moved_element(r, to->type);
    if (t == NULL || (k == KNOWN_COPY && !is_same_element(leaf_type(from->type), t))) {
        refuse_node(r, n,
                    is_other_real(to->type)
                        ? "numbers that are no double are moved as a whole: assign them"
                        : "memory of pointers is moved as a whole: assign its elements");
        return true;
    }
    if (k == KNOWN_FILL && !(from->kind == NODE_NUMBER && same(source(from), "0"))) {
        refuse_node(r, n, "variables are filled with bytes that are not 0");
        return true;
    }
    step *const s = add_step(b, STEP_COPY);
    s->to = memory_target(r, to);
    s->e = k == KNOWN_COPY ? from : NULL;
    s->text = print(r, n->child[3]);
    s->call = n;
    r->instead[n->number] = print(r, to);
    return true;
}

/* qsort of variables; false: it is not that. */
static bool sort_step(builder *b, const node *n, known_kind k) {
    routine *const r = b->r;
    if (k != KNOWN_SORT || n->children != 5 || !node_holds(r, behind_casts(n->child[1])))
        return false;
    const node *const to = behind_casts(n->child[1]);
    if (moved_element(r, to->type) == NULL) {
        refuse_node(r, n,
                    is_other_real(to->type) ? "numbers that are no double are sorted"
                                            : "memory of pointers is sorted");
        return true;
    }
    step *const s = add_step(b, STEP_SORT);
    s->to = memory_target(r, to);
    s->text = format("%s, %s", print(r, n->child[2]), print(r, n->child[3]));
    s->call = n;
    s->push = true;
    return true;
}

/* Is the value of an expression asked for? It is no statement, nor the first or last part of
 * a `for`. */
static bool gives_value(const node *n) {
    const node *const p = n->parent;
    if (p == NULL || is_expression(p)) return true;
    switch (p->kind) {
    case NODE_DECLARE:
    case NODE_RETURN:
        return true;
    case NODE_IF:
    case NODE_WHILE:
    case NODE_SWITCH:
        return p->child[0] == n;
    case NODE_DO:
    case NODE_FOR:
        return p->child[1] == n;
    default:
        return false;
    }
}

/* Makes steps of all effects in n; what is left of it has none. */
void pure(builder *b, const node *n) {
    routine *const r = b->r;
    if (n == NULL || !has_effects(n)) return;
    const bool lazy = (n->kind == NODE_BINARY && (same(n->op, "&&") || same(n->op, "||")) &&
                       has_effects(n->child[1])) ||
                      (n->kind == NODE_CHOICE && n->children == 3 &&
                       (has_effects(n->child[1]) || has_effects(n->child[2])));
    if (lazy) {
        branch_value(b, n);
        return;
    }
    if (n->kind == NODE_CHOICE && n->children == 2 && has_effects(n->child[1])) {
        refuse_node(r, n, "write all three parts of it");
        return;
    }
    if (n->kind == NODE_STATEMENTS) {
        refuse_node(r, n, "statements within an expression");
        return;
    }
    version *const v = touched_call(r, n);
    if (v != NULL) {
        call_step(b, n, v);
        return;
    }
    cell *const through = n->kind == NODE_CALL ? called_through(r->v, n) : NULL;
    if (through != NULL && function_varies(through)) {
        through_step(b, n, through);
        return;
    }
    for (size_t i = 0; i < n->children; i++) pure(b, n->child[i]);
    if (is_assigned_memory(n) || (n->kind == NODE_CALL && is_pure_call(n))) return;
    if (n->kind == NODE_ASSIGN) {
        const target to = place(r, n->child[0]);
        assign_to(b, &to, n->child[1], n->op);
        r->instead[n->number] = NULL;
        /* its value is that of the place, which nothing changes before it is used */
        if (gives_value(n))
            r->instead[n->number] = print(r, n->child[0]), r->place[n->number] = n->child[0];
    } else if (n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"))) {
        const target to = place(r, n->child[0]);
        const char *const x = print(r, n->child[0]);
        const bool used = n->postfix && gives_value(n);
        if (used) {
            step *const s = add_step(b, STEP_ASSIGN);
            s->to = new_name(r, n->type, to.cell);
            s->e = n->child[0];
            r->instead[n->number] = s->to.name;
        }
        step *const s = add_step(b, STEP_ASSIGN);
        s->to = to, s->e = n;
        if (n->type->kind == TYPE_REAL) s->add = same(n->op, "++") ? 1 : -1, s->text = "1";
        else {
            s->text = format("%s %s", x, plus_one(n));
            if (is_integer(n->type)) s->undo = same(n->op, "++") ? "- 1" : "+ 1";
        }
        if (!used) r->instead[n->number] = x, r->place[n->number] = n->child[0];
    } else if (n->kind == NODE_CALL) {
        const known_kind k = known_call(n)->kind;
        if (copy_step(b, n, k) || sort_step(b, n, k) || routine_step(b, n)) return;
        if (k == KNOWN_AGAIN && node_holds(r, n->child[1])) {
            refuse_node(r, n, "memory of variables that moves");
            return;
        }
        if (k == KNOWN_MEMORY && node_holds(r, n)) {
            refuse_node(r, n, "memory of variables that is not assigned to a pointer at once");
            return;
        }
        if (k == KNOWN_PARTS && step_is_active(r, n)) {
            parts_step(b, n, known_call(n)->name);
            return;
        }
        if (n->type == NULL || n->type->kind == TYPE_VOID || k == KNOWN_PRINT) {
            step *const s = add_step(b, STEP_PLAIN);
            s->e = n;
        } else
            name_it(b, n), r->instead[n->number] = ((step *)b->to->at[b->to->n - 1])->to.name;
    }
}

/* x * e, of x *= e. */
static const node *made_binary(routine *r, const target *to, const node *e, const char *op) {
    node *const n = arena_get(sizeof *n);
    node **const child = arena_get(2 * sizeof *child);
    node *const parent = e->parent; /* the assignment */
    *n = (node){.kind = NODE_BINARY,
                .file = e->file,
                .begin = e->begin,
                .end = e->end,
                .type = to->type,
                .made = true,
                .op = copy_text(op, strlen(op) - 1),
                .child = child,
                .children = 2,
                .owner = e->owner};
    child[0] = parent->child[0], child[1] = parent->child[1];
    n->number = r->v->function->nodes + 1 + parent->number;
    r->v->of_node[n->number] = to->cell;
    return n;
}

void assign_to(builder *b, const target *to, const node *e, const char *op) {
    name_literal(b, e);
    step *const s = add_step(b, STEP_ASSIGN);
    s->to = *to;
    s->e = e;
    const bool real = to->type != NULL && to->type->kind == TYPE_REAL;
    check_record(b->r, to->type, e);
    if (same(op, "=")) {
        /* x = x + e is x += e, where x has no effects */
        const node *const sum = bare(e);
        if (real && to->n != NULL && sum->kind == NODE_BINARY &&
            (same(sum->op, "+") || same(sum->op, "-")) && to->type->bits == 64 &&
            same(print(b->r, bare(sum->child[0])), print_target(b->r, to)) &&
            !has_effects(to->n)) {
            s->add = same(sum->op, "+") ? 1 : -1;
            s->e = sum->child[1];
            s->sum = true;
        }
        return;
    }
    if (real && same(op, "+=")) s->add = 1;
    else if (real && same(op, "-=")) s->add = -1;
    else if (real) s->e = made_binary(b->r, to, e, op);
    else {
        s->text = format("%s %.*s (%s)", print_target(b->r, to), (int)strlen(op) - 1, op,
                         print(b->r, e));
        const node *const x = to->n != NULL ? bare(to->n) : NULL;
        const bool whole =
            is_integer(to->type) && e->type != NULL && e->type->kind == TYPE_WHOLE;
        if (whole && x != NULL && x->kind == NODE_NAME && is_plain_local(b->r, x) &&
            uses(e, x->decl) == 0 && (*op == '+' || *op == '-'))
            s->undo = format("%c (%s)", *op == '+' ? '-' : '+', print(b->r, e));
    }
}
