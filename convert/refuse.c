/* SPDX-License-Identifier: MIT */
/* refuse.c - what cannot be, said when it is known what is a variable. */
#include "convert/cells.h"
#include "convert/known.h"
#include "convert/routines.h"

enum { MOST_STEPS = 16 }; /* from pointer to pointer, structure to structure */

/* Can who has an object of type t, in this cell, read a number that depends on the inputs? */
static bool reads_varied(const analysis *a, cell *c, const type *t, size_t steps) {
    if (c != NULL) c = real_cell(c);
    for (; c != NULL && c->target != NULL && steps < MOST_STEPS; steps++) {
        c = real_cell(c->target);
        t = c->type;
    }
    if (t == NULL || steps >= MOST_STEPS) return false;
    if (t->kind == TYPE_REAL) return c != NULL && c->varied;
    if (t->kind != TYPE_RECORD) return false;
    for (size_t i = 0; i < t->record->fields.n; i++) {
        const decl *const f = t->record->fields.at[i];
        if (reads_varied(a, a->of_decl[f->number], element(f->type), steps + 4)) return true;
    }
    return false;
}
static bool leads_to_varied(const analysis *a, cell *c) {
    return reads_varied(a, c, real_cell(c)->type, 0);
}

static bool is_number_or_record(const type *t) {
    return t->kind == TYPE_REAL || t->kind == TYPE_RECORD;
}

static void check_mixtures(const analysis *a) {
    for (size_t i = 0; i < a->from_integers.n; i++) {
        const mixture *const m = a->from_integers.at[i];
        if (holds_variables(m->of))
            error_at(place_of(m->n),
                     "'%s': an integer becomes a pointer to variables: keep the pointer",
                     source(m->n));
    }
    table *const said = table_new();
    for (size_t i = 0; i < a->mixtures.n; i++) {
        const mixture *const m = a->mixtures.at[i];
        const type *const t = m->type[0], *const u = m->type[1];
        cell *const c = real_cell(m->of);
        bool bad = (c->varied && c->useful) || c->forced || holds_variables(c);
        for (size_t k = 0; k < 2; k++)
            bad |= m->type[k]->kind == TYPE_RECORD && record_holds(a, m->type[k]->record);
        if (is_number_or_record(t) != is_number_or_record(u)) /* bytes are read */
            bad |= c->varied || reads_varied(a, NULL, t, 0) || reads_varied(a, NULL, u, 0);
        if (!bad) continue;
        const decl *const d = c->declared;
        const char *const where = d != NULL      ? place_in(d->file, d->at)
                                  : m->n != NULL ? place_of(m->n)
                                                 : "(options)";
        if (table_get(said, where) != NULL) continue;
        table_set(said, where, c);
        error_at(
            where,
            "'%s' holds variables and is used as two types, through a cast, a union or memory that is "
            "given out anew: give each type memory of its own",
            d != NULL      ? d->name
            : m->n != NULL ? source(m->n)
                           : "memory");
    }
}

static bool in_function(const analysis *a, const decl *d) {
    for (size_t i = 0; d != NULL && i < a->program->functions.n; i++) {
        const decl *const f = a->program->functions.at[i];
        if (f->file == d->file && f->begin <= d->begin && d->end <= f->end) return true;
    }
    return false;
}

/* What is said to be passive is no input or output, and no memory of something else. */
static void check_passive(const analysis *a) {
    for (size_t i = 0; i < a->passive.n; i++) {
        cell *const c = real_cell(a->passive.at[i]);
        const decl *const d = c->passive;
        if (c->forced)
            error_at(
                place_in(d->file, d->at),
                "'%s' is said to be passive, and is an input or output or a parameter of a function with variables that is called through a pointer",
                d->name);
        else if (c->open != NULL)
            error_at(
                place_in(d->file, d->at),
                "'%s' is said to be passive, and may be the same memory as '%s', which is not",
                d->name, c->open->name);
    }
}

/* A function that is none of those given has no derivative here. */
static void check_pointers(const analysis *a) {
    for (size_t i = 0; i < a->through.n; i++) {
        const remark *const r = a->through.at[i];
        const cell *const f = called_through(r->v, r->n);
        if (f == NULL || f->versions.n != 0 ||
            (f->declared != NULL && f->declared->kind == DECL_FUNCTION))
            continue; /* by its name more is said */
        for (size_t k = 1; k < r->n->children; k++) {
            const node *const arg = r->n->child[k];
            cell *const c = node_cell(r->v, arg);
            if (c == NULL || !(leads_to_varied(a, c) || holds_variables(c))) continue;
            error_at(
                place_of(r->n),
                "'%s' is called through a pointer, with '%s', which depends on the inputs, and may be any function: "
                "say which by --calls PARAMETER=FUNCTION, or write a call of it",
                source(r->n->child[0]), source(arg));
            break;
        }
    }
}

void refuse_uses(analysis *a) {
    check_passive(a);
    check_pointers(a);
    for (size_t i = 0; i < a->never.n; i++) {
        const remark *const r = a->never.at[i];
        if (r->v->touched) error_at(place_of(r->n), "'%s': %s", source(r->n), r->what);
    }
    for (size_t i = 0; i < a->losses.n; i++) {
        const remark *const r = a->losses.at[i];
        cell *const c = node_cell(r->v, r->n);
        if (c == NULL || !c->varied || (a->accept_integers && same(r->what, "an integer")))
            continue;
        error_at(place_of(r->n),
                 "'%s' depends on the inputs and becomes %s, which has no derivative: %s",
                 source(r->n), r->what,
                 same(r->what, "an integer")
                     ? "say --accept-integers if its derivative is to be 0"
                     : "write its parts as real numbers");
    }
    for (size_t i = 0; i < a->foreign.n; i++) {
        const remark *const r = a->foreign.at[i];
        for (size_t k = 1; k < r->n->children; k++) {
            const node *const arg = r->n->child[k];
            cell *const c = node_cell(r->v, arg);
            if (c == NULL) continue;
            if (!leads_to_varied(a, c) && !holds_variables(c)) continue;
            error_at(
                place_of(r->n),
                "'%s' gets '%s', which depends on the inputs, and %s: give the file that defines it, register "
                "an operation of your own, or say --passive %s if that has no derivative",
                source(bare(r->n->child[0])), source(arg), r->what,
                source(bare(r->n->child[0])));
        }
    }
    table *const said = table_new();
    for (size_t i = 0; i < a->unknown.n; i++) {
        const remark *const r = a->unknown.at[i];
        cell *const c = node_cell(r->v, r->n);
        const char *const key = format("%s %s", place_of(r->n), r->what);
        if (c == NULL || !(gives_real(r->n) ? c->varied : holds_variables(c)) ||
            table_get(said, key) != NULL)
            continue;
        table_set(said, key, c);
        error_at(
            place_of(r->n),
            "'%s': '%s' depends on the inputs, and the converter does not know this kind of "
            "expression: write operators and calls",
            r->what, source(r->n));
    }
    for (size_t i = 0; i < a->named.n; i++) {
        const remark *const r = a->named.at[i];
        cell *const c = node_cell(r->v, r->n);
        bool bad = holds_variables(c);
        for (size_t k = 0; k < c->parameters.n; k++)
            bad |= leads_to_varied(a, c->parameters.at[k]);
        if (bad)
            error_at(
                place_of(r->n),
                "'%s' is called through a pointer, with what depends on the inputs, and is not "
                "among the files given: write a function that calls it",
                source(r->n));
    }
    check_mixtures(a);
    for (size_t i = 0; i < a->program->records.n; i++) {
        const record *const r = a->program->records.at[i];
        const type t = {.kind = TYPE_RECORD, .record = (record *)r};
        const bool bits = r->is_union &&
                          (record_has(r, TYPE_WHOLE) || record_has(r, TYPE_COMPLEX) ||
                           record_has(r, TYPE_OTHER)) &&
                          reads_varied(a, NULL, &t, 0);
        if (!record_holds(a, r) && !bits) continue;
        if (r->is_union)
            error_at(
                place_in(r->definition->file, r->definition->begin),
                "a field of union '%s' depends on the inputs: write a structure, or say --accept-integers if "
                "its bits are meant and the derivative through them is to be 0",
                r->name);
        else if (in_function(a, r->definition))
            error_at(
                place_in(r->definition->file, r->definition->begin),
                "structure '%s' holds variables and is defined in a function: define it before that",
                r->tagged ? r->name : "(no name)");
        else if (r->of_system)
            error_at(r->name, "a structure of the system would have to hold variables");
    }
}

/* A global or static of which each thread has its own in an adjoint. */
static bool is_own(const analysis *a, const version *v, const decl *d) {
    if (d->kind != DECL_VARIABLE || d->is_global || !d->is_static) return is_own_global(a, d);
    cell *const c = cell_of(a, v, d);
    return c != NULL && holds_variables(c);
}
static const decl *own_in(const analysis *a, const version *v, const node *n) {
    if (n == NULL) return NULL;
    if (n->kind == NODE_NAME && is_own(a, v, n->decl)) return n->decl;
    const decl *found = NULL;
    for (size_t i = 0; i < n->children && found == NULL; i++) found = own_in(a, v, n->child[i]);
    for (size_t i = 0; i < n->decls.n && found == NULL; i++)
        found = own_in(a, v, ((decl *)n->decls.at[i])->init);
    return found;
}

/* What says the order is called as it stands, and would read what the program itself has. */
static void refuse_order(const analysis *a, const remark *r) {
    list reached = {NULL, 0, 0};
    const cell *const f = function_of_node(r->v, r->n->child[4]->number);
    for (size_t i = 0; f != NULL && i < f->versions.n; i++) {
        const version *const v = f->versions.at[i];
        push(&reached, (void *)v);
        find_reached(v, v->function->body, &reached);
    }
    const decl *g = NULL;
    for (size_t i = 0; i < reached.n && g == NULL; i++)
        g = own_in(a, reached.at[i], ((version *)reached.at[i])->function->body);
    if (g != NULL)
        error_at(
            place_of(r->n),
            "'%s' cannot be turned round: the order is said by '%s', which is %s and depends on the inputs: sort what has a field for it",
            source(r->n), g->name, g->is_global ? "global" : "static");
}

void refuse_recorded(const analysis *a) {
    for (size_t i = 0; i < a->recorded.n; i++) {
        const remark *const r = a->recorded.at[i];
        const node *const f = bare(r->n->child[0]);
        if (f->kind == NODE_NAME && known_function(f->decl->name, NULL)->kind == KNOWN_SORT) {
            if (r->n->children == 5) refuse_order(a, r);
            continue;
        }
        bool holds = false, fortran;
        const routine_row *const routine = routine_called(r->n, &fortran);
        if (routine != NULL && (routine->back != 0 || routine->result == 'i')) continue;
        for (size_t k = 1; k < r->n->children; k++) {
            cell *const c = node_cell(r->v, r->n->child[k]);
            holds |= c != NULL && holds_variables(c);
        }
        if (r->v->touched && holds)
            error_at(place_of(r->n), "'%s' cannot be turned round: %s, which --to tape has",
                     source(r->n), r->what);
    }
}

/* A pointer to variables, or a structure of them. */
static bool is_memory(const remark *r, const node *n) {
    cell *const c = node_cell(r->v, n);
    if (n->type == NULL || c == NULL || !holds_variables(c)) return false;
    const type_kind of = leaf_type(n->type)->kind;
    return n->type->kind == TYPE_RECORD ||
           ((n->type->kind == TYPE_POINTER || n->type->kind == TYPE_ARRAY) &&
            (of == TYPE_REAL || of == TYPE_RECORD));
}

void refuse_lent(const analysis *a) {
    for (size_t i = 0; i < a->lent.n; i++) {
        const remark *const r = a->lent.at[i];
        const char *const name = source(bare(r->n->child[0]));
        if (!r->v->touched || r->v->like != r->v) continue;
        for (size_t k = 1; k < r->n->children; k++)
            if (is_memory(r, r->n->child[k]))
                error_at(
                    place_of(r->n),
                    "'%s' is said to be passive and gets '%s', which leads to variables: give it numbers, or "
                    "the file that defines it",
                    name, source(r->n->child[k]));
        if (is_memory(r, r->n))
            error_at(
                place_of(r->n),
                "'%s' is said to be passive and gives what leads to variables: give the file that defines it",
                name);
    }
}

/* ---- names ------------------------------------------------------------------------------- */

enum { MOST_NAMES = 8 }; /* that are said */

/* Variables of what is written begin with wgc_. Functions of the C library have a name that begins so while files are read. */
static bool is_ours(const char *s) {
    static const char *const begin[] = {"wg_", "wgi_", "wgc_", "WG_", "WGI_", "WGC_"};
    if (starts_with(s, "wgi_plain_")) return false;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (starts_with(s, begin[i])) return true;
    return false;
}

void refuse_names(const program *p) {
    table *const said = table_new();
    size_t left = MOST_NAMES;
    for (size_t i = 0; i < p->files.n; i++) {
        const file *const f = p->files.at[i];
        for (size_t k = 0; !f->of_system && left != 0 && k < f->tokens.n; k++) {
            const token *const t = &f->tokens.at[k];
            if (t->kind != TOKEN_WORD) continue;
            const char *const name = copy_text(f->text + t->begin, t->end - t->begin);
            if (!is_ours(name) || table_get(said, name) != NULL) continue;
            table_set(said, name, (void *)f);
            left--;
            error_at(place_in(f, t->begin),
                     "'%s' is the name of something else in what is written: rename it", name);
        }
    }
}
