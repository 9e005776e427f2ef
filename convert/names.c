/* SPDX-License-Identifier: MIT */
/* names.c - the variables of the functions that are written, and expressions as C with these
 * names. */
#include <string.h>
#include "convert/builder.h"
#include "convert/writer.h"

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
/* ---- variables -------------------------------------------------------------------------- */

static const char *framed(const char *name) { return format("wgc_f->%s", name); }

static bool name_is_used(const routine *r, const char *name) {
    for (size_t i = 0; i < r->variables.n; i++)
        if (same(((variable *)r->variables.at[i])->name, name)) return true;
    for (size_t i = 0; i < r->v->function->parameters.n; i++)
        if (same(((decl *)r->v->function->parameters.at[i])->name, name)) return true;
    return false;
}

/* Is one of these names that of the other's shadow? */
static bool are_shadows(const char *a, const char *b) {
    return same(a, format("%s_b", b)) || same(b, format("%s_b", a));
}
static bool has_shadow(const routine *r, const char *name) {
    for (size_t i = 0; i < r->variables.n; i++) {
        const char *const other = ((variable *)r->variables.at[i])->name;
        if (are_shadows(other, name) || are_shadows(other, framed(name))) return true;
    }
    for (size_t i = 0; i < r->v->function->parameters.n; i++)
        if (are_shadows(((decl *)r->v->function->parameters.at[i])->name, name)) return true;
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
bool is_kept(const routine *r, const decl *d) {
    cell *const c = r->v->of_decl[d->index];
    const bool listed = d->init != NULL && d->type->kind == TYPE_ARRAY &&
                        (d->init->kind != NODE_LIST || d->init->children > 1) &&
                        is_constant_list(d->init);
    return d->is_static ||
           (listed && (c == NULL || (!holds_variables(c) && !version_changes(r->v, c))));
}

void add_local(routine *r, const decl *d) {
    variable *const x = arena_get(sizeof *x);
    const char *name = d->name;
    cell *const c = r->v->of_decl[d->index];
    const bool aggregate = d->type->kind == TYPE_ARRAY || d->type->kind == TYPE_RECORD;
    const bool in_frame =
        (aggregate || (c != NULL && real_cell(c)->addressed)) && !is_kept(r, d);
    if (d->is_static)
        name = format("%s_%s", r->v->name, d->name); /* at file scope, for both ways */
    const char *const base = name;
    for (unsigned k = 2;
         name_is_used(r, name) || name_is_used(r, framed(name)) || has_shadow(r, name); k++)
        name = format("%s_%u", base, k);
    *x = (variable){.d = d,
                    .name = in_frame ? framed(name) : name,
                    .type = d->type,
                    .cell = c != NULL ? real_cell(c) : NULL};
    x->holds = c != NULL && holds_variables(c);
    x->framed = in_frame;
    if (in_frame && leaf_type(d->type)->kind == TYPE_RECORD &&
        strchr(leaf_type(d->type)->spelling, '(') != NULL) {
        error_at(
            place_in(d->file, d->at),
            "'%s' is of a type without a name, which cannot be turned round: give it a tag",
            d->name);
        r->refused = true;
    }
    push(&r->variables, x);
    table_set(r->names, format("%u", d->number), x);
}

/* A parameter that has an address is copied into the frame. */
void add_parameter(routine *r, const decl *d) {
    cell *const c = r->v->of_decl[d->index];
    const char *const shadow = format("%s_b", d->name);
    for (size_t i = 0; i < r->v->function->parameters.n; i++) {
        const decl *const p = r->v->function->parameters.at[i];
        if (c == NULL || !holds_variables(c) || !same(p->name, shadow)) continue;
        error_at(
            place_in(p->file, p->at),
            "'%s' cannot be turned round: the adjoint of '%s' has this name: give it another",
            p->name, d->name);
        r->refused = true;
    }
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

target new_name(routine *r, const type *t, cell *c) {
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

const char *local_name(const routine *r, const decl *d) {
    const variable *const x = table_get(r->names, format("%u", d->number));
    return x != NULL ? x->name : d->name;
}

/* A global that holds variables has another one, of each thread, and its shadow. */
bool is_own_global(const analysis *a, const decl *d) {
    return d->kind == DECL_VARIABLE && d->is_global && a->of_decl[d->number] != NULL &&
           holds_variables(a->of_decl[d->number]);
}
const char *own_global(const decl *d) { return format("%s_wg", d->name); }

const char *print(const routine *r, const node *n) {
    const char *const instead = r->instead[n->number];
    if (instead != NULL) return instead;
    if (n->made)
        return format("%s %s (%s)", print(r, n->child[0]), n->op, print(r, n->child[1]));
    if (n->by_macro) return source(n);
    if (n->kind == NODE_BINARY && same(n->op, ","))
        return print(r, n->child[1]); /* effects are steps already */
    if (n->kind == NODE_NAME)
        return n->decl->owner != NULL         ? local_name(r, n->decl)
               : is_own_global(r->a, n->decl) ? own_global(n->decl)
                                              : source(n);
    if (n->kind == NODE_SIZEOF && n->children != 0 && bare(n->child[0])->kind == NODE_NAME) {
        const decl *const d = bare(n->child[0])->decl;
        if (d->owner != NULL && d->kind == DECL_VARIABLE && d->type->kind == TYPE_ARRAY &&
            d->type->count < 0)
            error_at(
                place_of(n),
                "'%s' cannot be turned round: the length of '%s' is known when it runs: write n * sizeof(double)",
                source(n), d->name);
    }
    part *const p = arena_get((n->children + 1) * sizeof *p);
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) {
        if (n->child[i] == NULL) continue;
        if (n->kind == NODE_CHOICE && k != 0 && n->child[i]->begin < p[k - 1].end) {
            error_at(place_of(n), "'%s' cannot be turned round: write all three parts of it",
                     source(n)); /* a ?: b */
            break;
        }
        p[k++] = (part){n->child[i]->begin, n->child[i]->end, print(r, n->child[i])};
    }
    in_text_order(k, p);
    return replaced(n->file, n->begin, n->end, k, p);
}

/* Shadows of what stands in the frame stand beside it, or are local variables of the way
 * back. */
static const char *placed(const routine *r, const char *shadow) {
    return !r->shadows && starts_with(shadow, framed("")) ? shadow + strlen(framed(""))
                                                          : shadow;
}
const char *shadow_name(const routine *r, const char *name) {
    if (same(name, "wgc_result") && r->v->function->type->of->kind == TYPE_RECORD)
        return "(*wgc_result_b)"; /* the caller's */
    const variable *x = NULL;
    for (size_t i = 0; i < r->variables.n; i++)
        if (same(((variable *)r->variables.at[i])->name, name)) x = r->variables.at[i];
    const bool sized = x != NULL && x->type->kind == TYPE_ARRAY && x->type->count < 0;
    return sized ? format("%s_b", name) : placed(r, format("%s_b", name));
}

static bool leads_to_const(const type *t) {
    return t != NULL && t->kind == TYPE_POINTER && t->of->constant;
}
/* Is it computed of a field that leads to const numbers? The shadow of a structure has its
 * fields' types. */
static bool is_of_const_field(const routine *r, const node *n) {
    if (n == NULL || r->instead[n->number] != NULL) return false;
    const type *t = n->kind == NODE_MEMBER ? n->type : NULL;
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    if (leads_to_const(t)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (is_of_const_field(r, n->child[i])) return true;
    return false;
}
/* The shadow of a pointer, through which something is added to it. */
static const char *through(const routine *r, const node *n) {
    const char *const s = print_shadow(r, n);
    return leads_to_const(n->type) && is_of_const_field(r, n)
               ? format("((%s)wgc_pointer(%s))", without_const(declared_as(n->type, "")), s)
               : s;
}
const char *print_shadow(const routine *r, const node *n) {
    const char *const instead = r->instead[n->number];
    if (r->place[n->number] != NULL) return print_shadow(r, r->place[n->number]);
    if (instead != NULL) return shadow_name(r, instead);
    switch (n->kind) {
    case NODE_NAME:
        return n->decl->owner != NULL ? shadow_name(r, local_name(r, n->decl))
                                      : format("%s_b", own_global(n->decl));
    case NODE_PAREN:
        return format("(%s)", print_shadow(r, n->child[0]));
    case NODE_MEMBER:
        return format("%s%s%s", through(r, n->child[0]), n->arrow ? "->" : ".", n->decl->name);
    case NODE_INDEX:
        return format("%s[%s]", through(r, n->child[0]), print(r, n->child[1]));
    case NODE_UNARY:
        return format("(%s%s)", n->op,
                      same(n->op, "*") ? through(r, n->child[0])
                                       : print_shadow(r, n->child[0]));
    case NODE_CAST:
        return format(
            "(%s)%s",
            without_const(copy_text(n->file->text + n->begin + 1, n->type_end - n->begin - 1)),
            print_shadow(r, n->child[0]));
    case NODE_BINARY: {
        if (same(n->op, ",")) return print_shadow(r, n->child[1]); /* as in print */
        const bool first = is_address(n->child[0]);
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

const char *shadow_pointer(const routine *r, const node *n) {
    const char *const s = print_shadow(r, n);
    return leads_to_const(n->type) && is_of_const_field(r, n) ? format("wgc_pointer(%s)", s)
                                                              : s;
}

const char *print_target(const routine *r, const target *t) {
    return t->name != NULL ? t->name : print(r, t->n);
}
const char *shadow_target(const routine *r, const target *t) {
    if (t->shadow != NULL) return placed(r, t->shadow);
    return t->name != NULL ? shadow_name(r, t->name) : print_shadow(r, t->n);
}
