/* SPDX-License-Identifier: MIT */
/* steps.c - from the tree of a function to steps. */
#include <stdlib.h>
#include <string.h>
#include "convert/adjoint.h"
#include "convert/known.h"
#include "convert/steps.h"
#include "convert/writer.h"

bool is_free(const node *n) {
    const node *const f = bare(n->child[0]);
    return n->kind == NODE_CALL && f->kind == NODE_NAME && f->decl->body == NULL &&
           same(f->decl->name, "free") && n->children == 2;
}

static void refuse(routine *r, const node *n, const char *why) {
    error_at(place_of(n), "'%s' cannot be turned round: %s", source(n), why);
    r->refused = true;
}

/* ---- questions -------------------------------------------------------------------------- */

cell *cell_at(const routine *r, const node *n) {
    cell *const c = r->v->of_node[n->number];
    if (c == NULL && n->kind == NODE_NAME) return cell_of(r->a, r->v, n->decl); /* in a macro */
    return c != NULL ? real_cell(c) : NULL;
}
bool node_holds(const routine *r, const node *n) {
    cell *const c = cell_at(r, n);
    return c != NULL && holds_variables(c);
}
bool step_is_active(const routine *r, const node *n) {
    writer w = {.a = r->a, .v = r->v};
    return is_active(&w, n);
}
static version *touched_call(const routine *r, const node *n) {
    if (n->kind != NODE_CALL) return NULL;
    version *const v = called_by(r->v, n);
    return v != NULL && v->touched ? v : NULL;
}
static const known *known_call(const node *n) {
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

/* Does an expression do more than to give a value? A call of a function that is not of math.h does. */
static bool has_effects(const node *n) {
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

/* Does a statement leave the list that it stands in otherwise than at its end? */
static bool jumps(const node *n) {
    if (n == NULL || is_expression(n)) return false;
    switch (n->kind) {
    case NODE_GOTO:
    case NODE_LABEL:
    case NODE_BREAK:
    case NODE_CONTINUE:
    case NODE_RETURN:
    case NODE_SWITCH:
    case NODE_CASE:
    case NODE_DEFAULT:
        return true;
    default:
        break;
    }
    if ((n->kind == NODE_WHILE && has_effects(n->child[0])) ||
        (n->kind == NODE_DO && has_effects(n->child[1])) ||
        (n->kind == NODE_FOR && n->child[1] != NULL && has_effects(n->child[1])))
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (jumps(n->child[i])) return true;
    return false;
}

/* ---- variables -------------------------------------------------------------------------- */

static bool name_is_used(const routine *r, const char *name) {
    for (size_t i = 0; i < r->variables.n; i++)
        if (same(((variable *)r->variables.at[i])->name, name)) return true;
    for (size_t i = 0; i < r->v->function->parameters.n; i++)
        if (same(((decl *)r->v->function->parameters.at[i])->name, name)) return true;
    return false;
}

/* Made of numbers alone. */
static bool is_constant_list(const node *n) {
    if (n == NULL || n->kind == NODE_NUMBER || n->kind == NODE_STRING ||
        n->kind == NODE_SIZEOF || n->by_macro)
        return true;
    if (n->kind == NODE_NAME || n->kind == NODE_CALL)
        return n->kind == NODE_NAME && n->decl->kind == DECL_CONSTANT;
    for (size_t i = 0; i < n->children; i++)
        if (!is_constant_list(n->child[i])) return false;
    return true;
}

/* Tables, which keep their initialisers. */
static bool is_kept(const routine *r, const decl *d) {
    cell *const c = r->v->of_decl[d->index];
    const bool listed = d->init != NULL && d->type->kind == TYPE_ARRAY &&
                        (d->init->kind != NODE_LIST || d->init->children > 1) &&
                        is_constant_list(d->init);
    return d->is_static ||
           (listed && (c == NULL || (!holds_variables(c) && !version_changes(r->v, c))));
}

static const char *framed(const char *name) { return format("wgc_f->%s", name); }

static void add_local(routine *r, const decl *d) {
    variable *const x = arena_get(sizeof *x);
    const char *name = d->name;
    cell *const c = r->v->of_decl[d->index];
    const bool aggregate = d->type->kind == TYPE_ARRAY || d->type->kind == TYPE_RECORD;
    const bool in_frame =
        (aggregate || (c != NULL && real_cell(c)->addressed)) && !is_kept(r, d);
    if (d->is_static)
        name = format("%s_%s", r->v->name, d->name); /* at file scope, for both ways */
    const char *const base = name;
    for (unsigned k = 2; name_is_used(r, name) || name_is_used(r, framed(name)); k++)
        name = format("%s_%u", base, k);
    *x = (variable){.d = d,
                    .name = in_frame ? framed(name) : name,
                    .type = d->type,
                    .cell = c != NULL ? real_cell(c) : NULL};
    x->holds = c != NULL && holds_variables(c);
    x->framed = in_frame;
    if (in_frame && leaf_type(d->type)->kind == TYPE_RECORD &&
        strchr(leaf_type(d->type)->spelling, '(') != NULL) {
        error_at(place_in(d->file, d->at),
                 "'%s' is of a type without a name, which cannot be turned round: give it a tag",
                 d->name);
        r->refused = true;
    }
    if (x->holds && leaf_type(d->type)->kind == TYPE_FUNCTION) {
        error_at(place_in(d->file, d->at),
                 "'%s' is a pointer to functions with variables, which cannot be turned round",
                 d->name);
        r->refused = true;
    }
    push(&r->variables, x);
    table_set(r->names, format("%u", d->number), x);
}

/* A parameter that has an address is copied into the frame. */
static void add_parameter(routine *r, const decl *d) {
    cell *const c = r->v->of_decl[d->index];
    if (c == NULL || !(real_cell(c)->addressed || d->type->kind == TYPE_RECORD)) return;
    variable *const x = arena_get(sizeof *x);
    *x = (variable){.d = d,
                    .name = framed(d->name),
                    .type = d->type,
                    .cell = real_cell(c),
                    .holds = holds_variables(c),
                    .framed = true};
    push(&r->variables, x);
    table_set(r->names, format("%u", d->number), x);
}

/* A variable of our own, which holds variables where c does. */
static target new_name(routine *r, const type *t, cell *c) {
    variable *const x = arena_get(sizeof *x);
    cell *const own = arena_get(sizeof *own);
    const bool holds = c != NULL && holds_variables(c);
    own->type = t;
    own->forced = holds && t->kind == TYPE_REAL;
    own->target = c != NULL ? real_cell(c)->target : NULL;
    const bool in_frame = t->kind == TYPE_RECORD;
    const char *const name = format("wgc_%u", ++r->own);
    *x = (variable){.name = in_frame ? framed(name) : name,
                    .type = t,
                    .cell = own,
                    .holds = holds,
                    .framed = in_frame};
    push(&r->variables, x);
    return (target){NULL, x->name, t, own, NULL};
}

/* ---- text ------------------------------------------------------------------------------- */

static const char *local_name(const routine *r, const decl *d) {
    const variable *const x = table_get(r->names, format("%u", d->number));
    return x != NULL ? x->name : d->name;
}

const char *print(const routine *r, const node *n) {
    const char *const instead = r->instead[n->number];
    if (instead != NULL) return instead;
    if (n->made)
        return format("%s %s (%s)", print(r, n->child[0]), n->op, print(r, n->child[1]));
    if (n->by_macro) return source(n);
    if (n->kind == NODE_BINARY && same(n->op, ","))
        return print(r, n->child[1]); /* effects are steps already */
    if (n->kind == NODE_NAME)
        return n->decl->owner != NULL ? local_name(r, n->decl) : source(n);
    if (n->kind == NODE_SIZEOF && n->children != 0 && bare(n->child[0])->kind == NODE_NAME) {
        const decl *const d = bare(n->child[0])->decl;
        if (d->owner != NULL && d->kind == DECL_VARIABLE && d->type->kind == TYPE_ARRAY && d->type->count < 0)
            error_at(place_of(n),
                     "'%s' cannot be turned round: the length of '%s' is known when it runs: write n * sizeof(double)",
                     source(n), d->name);
    }
    part *const p = arena_get((n->children + 1) * sizeof *p);
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) {
        if (n->child[i] == NULL) continue;
        if (k != 0 && n->child[i]->begin < p[k - 1].end) {
            error_at(place_of(n), "'%s' cannot be turned round: write all three parts of it", source(n)); /* a ?: b */
            break;
        }
        p[k++] = (part){n->child[i]->begin, n->child[i]->end, print(r, n->child[i])};
    }
    return replaced(n->file, n->begin, n->end, k, p);
}

const char *print_shadow(const routine *r, const node *n) {
    const char *const instead = r->instead[n->number];
    if (r->place[n->number] != NULL) return print_shadow(r, r->place[n->number]);
    if (instead != NULL) return format("%s_b", instead);
    switch (n->kind) {
    case NODE_NAME:
        return format("%s_b", n->decl->owner != NULL ? local_name(r, n->decl) : n->decl->name);
    case NODE_PAREN:
        return format("(%s)", print_shadow(r, n->child[0]));
    case NODE_MEMBER:
        return format("%s%s%s", print_shadow(r, n->child[0]), n->arrow ? "->" : ".",
                      n->decl->name);
    case NODE_INDEX:
        return format("%s[%s]", print_shadow(r, n->child[0]), print(r, n->child[1]));
    case NODE_UNARY:
        return format("(%s%s)", n->op, print_shadow(r, n->child[0]));
    case NODE_CAST:
        return format("(%s)%s",
                      without_const(copy_text(n->file->text + n->begin + 1, n->type_end - n->begin - 1)),
                      print_shadow(r, n->child[0]));
    case NODE_BINARY: {
        const bool first =
            n->child[0]->type != NULL &&
            (n->child[0]->type->kind == TYPE_POINTER || n->child[0]->type->kind == TYPE_ARRAY);
        return first ? format("%s %s %s", print_shadow(r, n->child[0]), n->op,
                              print(r, n->child[1]))
                     : format("%s %s %s", print(r, n->child[0]), n->op,
                              print_shadow(r, n->child[1]));
    }
    case NODE_CHOICE:
        return format("(%s ? %s : %s)", print(r, n->child[0]), print_shadow(r, n->child[1]),
                      print_shadow(r, n->child[2]));
    default:
        /* a null pointer has no shadow */
        if (n->kind != NODE_NUMBER && !n->by_macro && n->kind != NODE_OPAQUE)
            error_at(place_of(n), "'%s' cannot be turned round: it has no name", source(n));
        return "NULL";
    }
}

const char *print_target(const routine *r, const target *t) {
    return t->name != NULL ? t->name : print(r, t->n);
}
const char *shadow_target(const routine *r, const target *t) {
    if (t->shadow != NULL) return t->shadow;
    return t->name != NULL ? format("%s_b", t->name) : print_shadow(r, t->n);
}

/* ---- expressions ------------------------------------------------------------------------ */

typedef struct builder {
    routine *r;
    list *to;         /* the steps so far of where it stands */
    const char *next; /* where `continue` leads to; NULL: to the head of the loop */
} builder;

static step *add_step(builder *b, step_kind kind) {
    step *const s = arena_get(sizeof *s);
    s->kind = kind;
    push(b->to, s);
    return s;
}

static target place(const routine *r, const node *n) {
    return (target){n, NULL, n->type, cell_at(r, n), NULL};
}

static void pure(builder *b, const node *n);

/* What an expression gives is kept under a name. */
static void name_it(builder *b, const node *n) {
    step *const s = add_step(b, STEP_ASSIGN);
    s->to = new_name(b->r, n->type, cell_at(b->r, n));
    s->e = n;
}

static bool is_plain_local(const routine *r, const node *n) {
    n = bare(n);
    if (n->kind != NODE_NAME || n->decl->owner == NULL || n->decl->is_static) return false;
    const cell *const c = cell_at(r, n);
    return c != NULL && !c->addressed;
}

static void check_record(routine *r, const type *t, const node *e);

static void call_step(builder *b, const node *n, version *v) {
    routine *const r = b->r;
    list args = {NULL, 0, 0};
    for (size_t i = 1; i < n->children; i++) {
        const node *const e = n->child[i];
        pure(b, e);
        argument *const g = arena_get(sizeof *g);
        const decl *const p =
            i - 1 < v->function->parameters.n ? v->function->parameters.at[i - 1] : NULL;
        if (p == NULL) {
            refuse(r, n, "it has any number of arguments");
            return;
        }
        cell *const c = v->of_decl[p->index] != NULL ? real_cell(v->of_decl[p->index]) : NULL;
        *g = (argument){.n = e, .type = p->type, .holds = c != NULL && holds_variables(c)};
        /* a number is as it was when it went in: so it is a variable that nothing changes meanwhile */
        const bool has_shadow = !g->holds || step_is_active(r, e);
        const bool alike = e->type != NULL && e->type->kind == TYPE_REAL && e->type->bits == p->type->bits;
        if (p->type->kind == TYPE_REAL && (!is_plain_local(r, e) || !has_shadow || !alike) &&
            (g->holds || e->kind != NODE_NUMBER)) {
            const target t = new_name(r, p->type, g->holds ? c : NULL);
            step *const s = add_step(b, STEP_ASSIGN);
            s->to = t, s->e = e;
            g->name = t.name;
        }
        check_record(r, p->type, e);
        push(&args, g);
    }
    step *const s = add_step(b, STEP_CALL);
    s->callee = v, s->call = n, s->args = args;
    if (n->type != NULL && n->type->kind != TYPE_VOID) {
        s->to = new_name(r, n->type, v->result != NULL ? real_cell(v->result) : NULL);
        r->instead[n->number] = s->to.name;
    }
}

/* malloc and the like, whose result goes straight to a pointer: with it goes its shadow's. */
static bool is_assigned_memory(const node *n) {
    if (n->kind != NODE_CALL || known_call(n)->kind != KNOWN_MEMORY) return false;
    const node *p = n->parent;
    while (p != NULL && (p->kind == NODE_PAREN || p->kind == NODE_CAST)) p = p->parent;
    return p != NULL &&
           ((p->kind == NODE_ASSIGN && same(p->op, "=")) || p->kind == NODE_DECLARE);
}

/* memcpy and memset of variables; false: it is not that. */
static bool copy_step(builder *b, const node *n, known_kind k) {
    routine *const r = b->r;
    if ((k != KNOWN_COPY && k != KNOWN_FILL) || n->children < 4 || !node_holds(r, n->child[1]))
        return false;
    const node *to = n->child[1], *from = n->child[2];
    while (to->kind == NODE_CAST || to->kind == NODE_PAREN) to = to->child[0];
    while (from->kind == NODE_CAST || from->kind == NODE_PAREN) from = from->child[0];
    const type *const t = leaf_type(to->type);
    const bool direct = to->type->of != NULL && leaf_type(to->type) == to->type->of;
    if (t->kind != TYPE_REAL || t->bits != 64 || !(direct || to->type->kind == TYPE_ARRAY)) {
        refuse(r, n,
               "memory of structures or pointers is moved as a whole: assign its elements");
        return true;
    }
    if (k == KNOWN_FILL && !(from->kind == NODE_NUMBER && same(source(from), "0"))) {
        refuse(r, n, "variables are filled with bytes that are not 0");
        return true;
    }
    step *const s = add_step(b, STEP_COPY);
    s->to = (target){to, NULL, to->type, NULL, NULL};
    cell *const c = cell_at(r, to);
    s->to.cell = to->type->kind == TYPE_ARRAY     ? c
                 : c != NULL && c->target != NULL ? real_cell(c->target)
                                                  : NULL;
    s->e = k == KNOWN_COPY ? from : NULL;
    s->text = print(r, n->child[3]);
    s->call = n;
    r->instead[n->number] = print(r, to);
    return true;
}

/* A number of which + 1 is undone by - 1: no _Bool. */
static bool is_integer(const type *t) {
    return t != NULL && t->kind == TYPE_WHOLE && strstr(t->spelling, "ool") == NULL;
}

static const char *plus_one(const node *n) { return same(n->op, "++") ? "+ 1" : "- 1"; }

static void assign_to(builder *b, const target *to, const node *e, const char *op);
static size_t uses(const node *n, const decl *d);

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

/* Structures are copied number by number: the way back knows no pointers in them, and reads no choice. */
static bool has_held_pointers(const routine *r, const type *t) {
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
static void check_record(routine *r, const type *t, const node *e) {
    if (t == NULL || t->kind != TYPE_RECORD || e == NULL || !record_holds(r->a, t->record)) return;
    const node_kind k = bare(e)->kind;
    if (has_held_pointers(r, t))
        refuse(r, e, "a structure with pointers to variables is copied: hand over its address, or assign its fields");
    else if (k == NODE_CHOICE || k == NODE_COMPOUND)
        refuse(r, e, "a structure without a name is copied: assign its fields");
}

/* Makes steps of all effects in n; what is left of it has none. */
static void pure(builder *b, const node *n) {
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
    if (n->kind == NODE_STATEMENTS) {
        refuse(r, n, "statements within an expression");
        return;
    }
    version *const v = touched_call(r, n);
    if (v != NULL) {
        call_step(b, n, v);
        return;
    }
    for (size_t i = 0; i < n->children; i++) pure(b, n->child[i]);
    if (is_assigned_memory(n) || (n->kind == NODE_CALL && is_pure_call(n))) return;
    if (n->kind == NODE_ASSIGN) {
        const target to = place(r, n->child[0]);
        assign_to(b, &to, n->child[1], n->op);
        r->instead[n->number] = NULL;
        /* its value is that of the place, which nothing changes before it is used */
        if (n->parent == NULL || is_expression(n->parent))
            r->instead[n->number] = print(r, n->child[0]), r->place[n->number] = n->child[0];
    } else if (n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"))) {
        const target to = place(r, n->child[0]);
        const char *const x = print(r, n->child[0]);
        const bool used = n->postfix && n->parent != NULL &&
                          (is_expression(n->parent) || n->parent->kind == NODE_DECLARE ||
                           n->parent->kind == NODE_RETURN);
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
        const node *const f = bare(n->child[0]);
        if (copy_step(b, n, k)) return;
        if (k == KNOWN_AGAIN && node_holds(r, n->child[1])) {
            refuse(r, n, "memory of variables that moves");
            return;
        }
        if (k == KNOWN_MEMORY && node_holds(r, n)) {
            refuse(r, n, "memory of variables that is not assigned to a pointer at once");
            return;
        }
        if (k == KNOWN_PARTS && step_is_active(r, n)) {
            refuse(r, n, "a function that gives a part by pointer");
            return;
        }
        if (f->kind != NODE_NAME && node_holds(r, f)) {
            refuse(r, n, "a function with variables that is called through a pointer");
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

static void assign_to(builder *b, const target *to, const node *e, const char *op) {
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
        const bool whole = is_integer(to->type) &&
                           e->type != NULL && e->type->kind == TYPE_WHOLE;
        if (whole && x != NULL && x->kind == NODE_NAME && is_plain_local(b->r, x) &&
            uses(e, x->decl) == 0 && (*op == '+' || *op == '-'))
            s->undo = format("%c (%s)", *op == '+' ? '-' : '+', print(b->r, e));
    }
}

/* ---- statements ------------------------------------------------------------------------- */

static bool assigned_in(const routine *r, const node *n, const decl *d) {
    if (n == NULL) return false;
    const bool counts = n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"));
    if ((n->kind == NODE_ASSIGN || counts) && bare(n->child[0])->kind == NODE_NAME &&
        bare(n->child[0])->decl == d)
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (assigned_in(r, n->child[i], d)) return true;
    for (size_t i = 0; i < n->decls.n; i++)
        if (((decl *)n->decls.at[i])->init != NULL &&
            assigned_in(r, ((decl *)n->decls.at[i])->init, d))
            return true;
    return false;
}

/* Only numbers and local variables that the loop does not change, which have no address. */
static bool stays(const routine *r, const node *n, const node *loop) {
    if (n->kind == NODE_NAME) {
        if (n->decl->kind == DECL_CONSTANT) return true;
        return is_plain_local(r, n) && !assigned_in(r, loop, n->decl);
    }
    if (n->by_macro && n->children == 0 && n->kind != NODE_NUMBER) return false;
    if (n->kind == NODE_CALL || n->kind == NODE_OPAQUE || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
        n->kind == NODE_ASSIGN || n->kind == NODE_STATEMENTS ||
        (n->kind == NODE_UNARY && (same(n->op, "*") || same(n->op, "++") || same(n->op, "--"))))
        return false;
    for (size_t i = 0; i < n->children; i++)
        if (!stays(r, n->child[i], loop)) return false;
    return true;
}

static size_t uses(const node *n, const decl *d) {
    if (n == NULL) return 0;
    size_t k = n->kind == NODE_NAME && n->decl == d;
    for (size_t i = 0; i < n->children; i++) k += uses(n->child[i], d);
    for (size_t i = 0; i < n->decls.n; i++) k += uses(((decl *)n->decls.at[i])->init, d);
    return k;
}

static const char *const comparisons[] = {"<", "<=", ">", ">="};

static const char *unqualified(const type *t) {
    return t->spelling + (starts_with(t->spelling, "const ") ? 6 : 0);
}
static bool is_signed(const type *t) {
    static const char *const all[] = {"int", "long", "long long", "short", "signed char", "ptrdiff_t", "ssize_t"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (same(unqualified(t), all[i])) return true;
    return false;
}
/* Are the counter d and the whole number n compared and converted without a change of sign? */
static bool is_like(const decl *d, const node *n) {
    return is_integer(n->type) &&
           (bare(n)->kind == NODE_NUMBER || same(unqualified(d->type), unqualified(n->type)) ||
            (is_signed(d->type) && is_signed(n->type)));
}

/* for (i = from; i < bound; i += by), if it is one. */
static bool is_counted(routine *r, const node *n, step *s, const decl **by_what) {
    const node *const init = n->child[0],
                      *const cond = n->child[1] != NULL ? bare(n->child[1]) : NULL,
                      *const by = n->child[2] != NULL ? bare(n->child[2]) : NULL,
                      *const body = n->child[3];
    const decl *d = NULL;
    if (init == NULL || cond == NULL || by == NULL || jumps(body)) return false;
    if (init->kind == NODE_ASSIGN && same(init->op, "=") &&
        bare(init->child[0])->kind == NODE_NAME) {
        d = bare(init->child[0])->decl;
        s->from = init->child[1];
    } else if (init->kind == NODE_DECLARE && init->decls.n == 1) {
        d = init->decls.at[0];
        s->from = d->init;
    }
    if (d == NULL || s->from == NULL || !is_integer(d->type) || d->owner == NULL ||
        d->is_static)
        return false;
    cell *const c = cell_of(r->a, r->v, d);
    if (c == NULL || c->addressed || assigned_in(r, body, d)) return false;
    bool compares = false;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        compares |= cond->kind == NODE_BINARY && same(cond->op, comparisons[i]);
    if (!compares || bare(cond->child[0])->kind != NODE_NAME || bare(cond->child[0])->decl != d)
        return false;
    s->bound = cond->child[1];
    s->compare = cond->op;
    if (by->kind == NODE_UNARY && bare(by->child[0])->kind == NODE_NAME &&
        bare(by->child[0])->decl == d)
        s->by = same(by->op, "++") ? 1 : same(by->op, "--") ? -1 : 0;
    else if (by->kind == NODE_ASSIGN && bare(by->child[0])->kind == NODE_NAME &&
             bare(by->child[0])->decl == d && by->child[1]->kind == NODE_NUMBER &&
             (same(by->op, "+=") || same(by->op, "-="))) {
        const char *const digits = source(by->child[1]);
        const size_t n_digits = strspn(digits, "0123456789");
        const bool decimal = *digits != '0' && n_digits < 9 && digits[n_digits] == 0;
        const long k = decimal ? strtol(digits, NULL, 10) : 0;
        s->by = same(by->op, "+=") ? k : -k;
    }
    if (s->by == 0 || (s->by > 0) != (*s->compare == '<')) return false;
    const bool from_number = s->by > 0 && bare(s->from)->kind == NODE_NUMBER && is_integer(s->from->type);
    if (!is_integer(s->bound->type) ||
        (!from_number && !(is_like(d, s->from) && is_like(d, s->bound))))
        return false;
    if (!stays(r, s->from, n) || !stays(r, s->bound, n)) return false;
    if (uses(s->from, d) != 0 || uses(s->bound, d) != 0) return false;
    s->to = (target){NULL, local_name(r, d), d->type, c, NULL};
    *by_what = d;
    return true;
}

/* Uses of d within loops that count by it. */
static size_t uses_in_loops(routine *r, const node *n, const decl *d) {
    if (n == NULL) return 0;
    step s = {.kind = STEP_COUNTED};
    const decl *by = NULL;
    if (n->kind == NODE_FOR && is_counted(r, n, &s, &by) && by == d) return uses(n, d);
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) k += uses_in_loops(r, n->child[i], d);
    return k;
}

static void initialise_local(builder *b, const decl *d);
static void statement(builder *b, const node *n);

static void declare_locals(builder *b, const node *n) {
    for (size_t i = 0; i < n->children; i++) pure(b, n->child[i]);
    for (size_t i = 0; i < n->decls.n; i++) initialise_local(b, n->decls.at[i]);
}

/* The elements of an initialiser, one by one, behind what made the whole 0. */
static void initialise_list(builder *b, const node *n, const type *t, cell *c, const char *name,
                            const char *shadow) {
    routine *const r = b->r;
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) {
        const node *e = n->child[i];
        const type *of = t->kind == TYPE_ARRAY ? t->of : NULL;
        const decl *f = NULL;
        if (e->kind == NODE_DESIGNATED) {
            f = e->decl;
            if (f == NULL || e->children == 0) {
                refuse(r, e, "a designator of an element: assign the elements");
                return;
            }
            e = e->child[e->children - 1];
        }
        if (t->kind == TYPE_RECORD) {
            const list *const fields = &t->record->fields;
            if (f == NULL && k < fields->n) f = fields->at[k];
            for (size_t j = 0; j < fields->n; j++)
                if (fields->at[j] == f) k = j + 1;
            if (f == NULL || t->record->is_union) {
                refuse(r, e, "an initialiser of a union");
                return;
            }
            of = f->type;
        }
        if (of == NULL) return;
        const char *const element = f != NULL ? format(".%s", f->name) : format("[%zu]", k++);
        const char *const x = format("%s%s", name, element), *const y = format("%s%s", shadow,
                                                                               element);
        cell *const own = f != NULL ? cell_of(r->a, r->v, f) : c;
        if (e->kind == NODE_LIST) {
            initialise_list(b, e, of, own, x, y);
            continue;
        }
        if (of->kind == TYPE_ARRAY ||
            (of->kind == TYPE_RECORD && (e->type == NULL || e->type->kind != TYPE_RECORD))) {
            refuse(r, e, "an initialiser without all of its braces");
            return;
        }
        pure(b, e);
        const target to = {NULL, x, of, own, y};
        assign_to(b, &to, e, "=");
    }
}

static void initialise_local(builder *b, const decl *d) {
    routine *const r = b->r;
    const char *const name = local_name(r, d);
    cell *const c = cell_of(r->a, r->v, d);
    const target t = {NULL, name, d->type, c, NULL};
    if (d->is_static) {
        if (c != NULL && holds_variables(c))
            refuse(r, d->group, "a static variable that depends on the inputs");
        return;
    }
    if (d->type->kind == TYPE_ARRAY && d->type->count < 0) {
        const type *const e = d->type->of;
        const file *const f = d->file;
        const char *const open = strchr(f->text + d->at, '[');
        if (e->kind == TYPE_ARRAY || open == NULL || d->init != NULL) {
            refuse(r, d->group, "an array of several dimensions that are known when it runs");
            return;
        }
        step *const s = add_step(b, STEP_ARRAY);
        s->to = t;
        for (size_t i = 0; i < d->group->children; i++) {
            const node *const size = d->group->child[i];
            if (f->text + size->begin > open && size->end <= d->end && s->text == NULL)
                s->text = print(r, size), s->e = size;
        }
        return;
    }
    if (d->init == NULL) return;
    if (d->type->kind == TYPE_ARRAY ||
        (d->type->kind == TYPE_RECORD && d->init->kind == NODE_LIST)) {
        if (is_kept(r, d)) return; /* it keeps its initialiser */
        if (d->init->kind != NODE_LIST) {
            refuse(r, d->group, "an array that a string initialises");
            return;
        }
        step *const s = add_step(b, STEP_CLEAR);
        s->to = t;
        initialise_list(b, d->init, d->type, c, name, format("%s_b", name));
        return;
    }
    pure(b, d->init);
    assign_to(b, &t, d->init, "=");
}

static void if_step(builder *b, const node *n) {
    pure(b, n->child[0]);
    step *const s = add_step(b, STEP_IF);
    s->e = n->child[0];
    builder yes = {b->r, &s->body, b->next}, no = {b->r, &s->other, b->next};
    statement(&yes, n->child[1]);
    if (n->children > 2) statement(&no, n->child[2]);
}

static void loop_step(builder *b, const node *n) {
    if (n->kind == NODE_FOR) {
        step counted = {.kind = STEP_COUNTED};
        const decl *d;
        if (is_counted(b->r, n, &counted, &d)) {
            const node *const body_of = b->r->v->function->body;
            counted.everywhere = n->child[0]->kind == NODE_ASSIGN &&
                                 uses(body_of, d) != uses_in_loops(b->r, body_of, d);
            step *const s = add_step(b, STEP_COUNTED);
            *s = counted;
            builder body = {b->r, &s->body, NULL};
            statement(&body, n->child[3]);
            return;
        }
        if (n->child[0] != NULL) statement(b, n->child[0]);
    }
    step *const s = add_step(b, STEP_LOOP);
    builder body = {b->r, &s->body, NULL};
    s->at_end = n->kind == NODE_DO;
    s->e = n->kind == NODE_FOR || n->kind == NODE_DO ? n->child[1] : n->child[0];
    statement(&body, n->kind == NODE_FOR  ? n->child[3]
                     : n->kind == NODE_DO ? n->child[0]
                                          : n->child[1]);
    if (n->kind == NODE_FOR && n->child[2] != NULL) statement(&body, n->child[2]);
}

/* A statement without jumps. */
static void statement(builder *b, const node *n) {
    if (n == NULL || n->kind == NODE_EMPTY) return;
    if (is_expression(n)) {
        const node *const e = bare(n);
        if (e->kind == NODE_BINARY && same(e->op, ",")) {
            statement(b, e->child[0]);
            statement(b, e->child[1]);
        } else if (e->kind == NODE_CAST && e->type->kind == TYPE_VOID)
            statement(b, e->child[0]);
        else if (has_effects(e)) pure(b, e);
        return;
    }
    switch (n->kind) {
    case NODE_BLOCK:
        for (size_t i = 0; i < n->children; i++) statement(b, n->child[i]);
        break;
    case NODE_DECLARE:
        declare_locals(b, n);
        break;
    case NODE_IF:
        if_step(b, n);
        break;
    case NODE_FOR:
    case NODE_WHILE:
    case NODE_DO:
        loop_step(b, n);
        break;
    default:
        refuse(b->r, n, "a statement that is not known");
    }
}

/* ---- code that jumps --------------------------------------------------------------------- */

static stretch *new_stretch(routine *r, const char *s) {
    stretch *const t = arena_get(sizeof *t);
    t->text = s;
    push(&r->stretches, t);
    return t;
}
static stretch *piece(routine *r) {
    stretch *const last = r->stretches.n != 0 ? r->stretches.at[r->stretches.n - 1] : NULL;
    return last != NULL && last->text == NULL ? last : new_stretch(r, NULL);
}
static builder here(routine *r, const char *next) {
    return (builder){r, &piece(r)->steps, next};
}

static void flow(routine *r, const node *n, const char *next);

static void flow_condition(routine *r, const node *cond, const char *how) {
    builder b = here(r, NULL);
    pure(&b, cond);
    new_stretch(r, format(how, print(r, cond)));
}

static void flow_loop(routine *r, const node *n) {
    const node *const cond = n->kind == NODE_WHILE ? n->child[0] : n->child[1];
    const node *const body = n->kind == NODE_FOR  ? n->child[3]
                             : n->kind == NODE_DO ? n->child[0]
                                                  : n->child[1];
    const char *const next = n->kind == NODE_WHILE ? NULL : format("wgc_next_%u", ++r->own);
    if (n->kind == NODE_FOR && n->child[0] != NULL) {
        builder b = here(r, NULL);
        statement(&b, n->child[0]);
    }
    new_stretch(r, "for (;;) {");
    if (n->kind != NODE_DO && cond != NULL) flow_condition(r, cond, "if (!(%s)) break;");
    flow(r, body, next);
    if (next != NULL) new_stretch(r, format("goto %s; %s:;", next, next));
    if (n->kind == NODE_FOR && n->child[2] != NULL) {
        builder b = here(r, NULL);
        statement(&b, n->child[2]);
    }
    if (n->kind == NODE_DO) flow_condition(r, cond, "if (!(%s)) break;");
    new_stretch(r, "}");
}

static void flow_return(routine *r, const node *n) {
    if (n->children != 0 && r->v->function->type->of->kind != TYPE_VOID) {
        builder b = here(r, NULL);
        pure(&b, n->child[0]);
        const target t = {NULL, "wgc_result", r->v->function->type->of,
                          r->v->result != NULL ? real_cell(r->v->result) : NULL, NULL};
        assign_to(&b, &t, n->child[0], "=");
    }
}

static void flow(routine *r, const node *n, const char *next) {
    if (n == NULL) return;
    if (!jumps(n)) {
        builder b = here(r, next);
        statement(&b, n);
        return;
    }
    switch (n->kind) {
    case NODE_BLOCK:
        for (size_t i = 0; i < n->children; i++) flow(r, n->child[i], next);
        break;
    case NODE_IF:
        flow_condition(r, n->child[0], "if (%s) {");
        flow(r, n->child[1], next);
        if (n->children > 2) {
            new_stretch(r, "} else {");
            flow(r, n->child[2], next);
        }
        new_stretch(r, "}");
        break;
    case NODE_FOR:
    case NODE_WHILE:
    case NODE_DO:
        flow_loop(r, n);
        break;
    case NODE_SWITCH:
        flow_condition(r, n->child[0], "switch (%s) {");
        flow(r, n->child[1], next);
        new_stretch(r, "}");
        break;
    case NODE_CASE:
        new_stretch(r, format("case %s:;", source(n->child[0])));
        flow(r, n->child[1], next);
        break;
    case NODE_DEFAULT:
        new_stretch(r, "default:;");
        flow(r, n->child[0], next);
        break;
    case NODE_LABEL: {
        const tokens *const t = &n->file->tokens;
        const token *const name = &t->at[token_from(t, n->begin)];
        new_stretch(
            r, format("%s:;", copy_text(n->file->text + name->begin, name->end - name->begin)));
        flow(r, n->child[n->children - 1], next);
        break;
    }
    case NODE_BREAK:
        new_stretch(r, "break;");
        break;
    case NODE_CONTINUE:
        new_stretch(r, next != NULL ? format("goto %s;", next) : "continue;");
        break;
    case NODE_GOTO:
        new_stretch(r, format("%s;", source(n)));
        break;
    case NODE_RETURN:
        flow_return(r, n);
        new_stretch(r, "goto wgc_end;");
        break;
    default:
        refuse(r, n, "a statement that is not known");
    }
}

routine *steps_of(analysis *a, version *v) {
    routine *const r = arena_get(sizeof *r);
    const decl *const f = v->function;
    r->a = a, r->v = v;
    r->names = table_new();
    r->place = arena_get(2 * (f->nodes + 1) * sizeof *r->place);
    r->instead = arena_get(2 * (f->nodes + 1) * sizeof *r->instead);
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (leaf_type(p->type)->kind == TYPE_FUNCTION && v->of_decl[p->index] != NULL &&
            holds_variables(v->of_decl[p->index])) {
            error_at(
                place_in(p->file, p->at),
                "'%s' is a pointer to functions with variables, which cannot be turned round",
                p->name);
            r->refused = true;
        }
        add_parameter(r, p);
    }
    for (size_t i = 0; i < f->locals.n; i++) add_local(r, f->locals.at[i]);
    /* a return at the very end is no jump */
    const node *const body = f->body;
    const size_t n = body->children;
    const bool last = n != 0 && body->child[n - 1]->kind == NODE_RETURN;
    if (v->result != NULL && holds_variables(v->result) && f->type->of->kind != TYPE_REAL) {
        error_at(
            place_in(f->file, f->at),
            "'%s' returns a structure or pointer of variables, which cannot be turned round: give it as an argument",
            f->name);
        r->refused = true;
    }
    if (f->file != a->root->function->file && f->file->given) {
        error_at(
            place_in(f->file, f->at),
            "'%s' stands in another file than '%s': an adjoint without a tape is of one file",
            f->name, a->root->function->name);
        r->refused = true;
    }
    for (size_t i = 0; i < n - last; i++) r->jumps |= jumps(body->child[i]);
    for (size_t i = 0; i < n - last; i++) flow(r, body->child[i], NULL);
    if (last) flow_return(r, body->child[n - 1]);
    unsigned k = 0;
    for (size_t i = 0; i < r->stretches.n; i++) {
        stretch *const s = r->stretches.at[i];
        if (s->text == NULL) s->number = ++k;
    }
    return r;
}
