/* SPDX-License-Identifier: MIT */
/* evaluate.c - what expressions and statements of a version compute of what. */
#include <string.h>
#include "convert/cells.h"
#include "convert/known.h"
#include "convert/routines.h"

/* ---- expressions ------------------------------------------------------------------------ */

cell *pointee(analysis *a, version *v, const node *n) {
    cell *const c = evaluate(a, v, n);
    if (n->type != NULL && (n->type->kind == TYPE_ARRAY || n->type->kind == TYPE_FUNCTION))
        return real_cell(c);
    return target(a, c);
}

static void assign(analysis *a, version *v, cell *to, const type *t, const node *n) {
    t = element(t);
    if (t == NULL || n->type == NULL) {
        (void)evaluate(a, v, n);
        return;
    }
    switch (t->kind) {
    case TYPE_REAL:
        flow(evaluate(a, v, n), to);
        break;
    case TYPE_POINTER:
        if (n->type->kind == TYPE_POINTER || n->type->kind == TYPE_ARRAY ||
            n->type->kind == TYPE_FUNCTION)
            join(a, target(a, to), pointee(a, v, n));
        else {
            (void)evaluate(a, v, n);
            if (bare(n)->kind != NODE_NUMBER) note_pointer(a, n, to);
        }
        break;
    case TYPE_WHOLE:
        (void)evaluate(a, v, n);
        if (n->type->kind == TYPE_REAL) note(&a->losses, v, n, "an integer");
        if (n->type->kind == TYPE_POINTER || n->type->kind == TYPE_ARRAY)
            push(&a->to_integers, pointee(a, v, n));
        break;
    case TYPE_COMPLEX:
        (void)evaluate(a, v, n);
        note(&a->losses, v, n, "a complex number");
        break;
    case TYPE_OTHER:
        (void)evaluate(a, v, n);
        if (n->type->kind == TYPE_REAL) note(&a->losses, v, n, "part of a vector");
        for (size_t i = 0; i < n->children; i++) /* the elements of a vector */
            if (n->child[i] != NULL && n->child[i]->type != NULL &&
                n->child[i]->type->kind == TYPE_REAL)
                note(&a->losses, v, n->child[i], "part of a vector");
        break;
    default:
        (void)evaluate(a, v, n);
    }
}

static cell *call_known(analysis *a, version *v, const node *n, const known *k) {
    cell *const out = new_cell(a, n->type);
    const size_t args = n->children - 1;
    node *const *const arg = n->child + 1;
    if (k->kind == KNOWN_COPY && args >= 2) {
        cell *const to = pointee(a, v, arg[0]);
        join(a, to, pointee(a, v, arg[1]));
        join(a, target(a, out), to);
        for (size_t i = 2; i < args; i++) (void)evaluate(a, v, arg[i]);
        return out;
    }
    if (k->kind == KNOWN_SORT && args == 4) {
        cell *const sorted = pointee(a, v, arg[0]), *const order = pointee(a, v, arg[3]);
        make_signature(a, order);
        for (size_t i = 0; i < order->parameters.n; i++)
            join(a, target(a, order->parameters.at[i]), sorted);
        for (size_t i = 1; i < 3; i++) (void)evaluate(a, v, arg[i]);
        note(&a->recorded, v, n, "it sorts variables");
        return out;
    }
    for (size_t i = 0; i < args; i++) {
        cell *const c = evaluate(a, v, arg[i]);
        if (arg[i]->type == NULL || arg[i]->type->kind != TYPE_REAL) continue;
        const bool exponent = k->kind == KNOWN_SCALED && i == 1;
        if (k->kind == KNOWN_OPERATION || (k->kind == KNOWN_SCALED && !exponent) ||
            k->kind == KNOWN_PARTS)
            flow(c, out);
        if (k->kind == KNOWN_ROUNDING || exponent) note(&a->losses, v, arg[i], "an integer");
    }
    if ((k->kind == KNOWN_AGAIN || k->kind == KNOWN_FILL) && args >= 1)
        join(a, target(a, out), pointee(a, v, arg[0]));
    return out;
}

static cell *call(analysis *a, version *v, const node *n) {
    const node *const f = bare(n->child[0]);
    node *const *const arg = n->child + 1;
    const size_t args = n->children - 1;
    if (f->kind == NODE_NAME && f->decl->kind == DECL_FUNCTION) {
        decl *const d = f->decl;
        const bool accepted = list_has(&a->accepted, table_get(a->program->by_usr, d->usr));
        if (d->body != NULL && !accepted) {
            version *const w = version_for(a, v, d);
            v->called[n->number] = w;
            for (size_t i = 0; i < args; i++)
                if (i < d->parameters.n) {
                    decl *const p = d->parameters.at[i];
                    assign(a, v, decl_cell(a, w, p), p->type, arg[i]);
                } else {
                    (void)evaluate(a, v, arg[i]);
                    note(&a->foreign, v, n, "takes any number of arguments");
                }
            return w->result != NULL ? w->result : new_cell(a, n->type);
        }
        unsigned bits;
        const char *const name = starts_with(d->name, "wgi_plain_") ? d->name + 10 : d->name;
        const known *const k = known_function(name, &bits);
        if (k->kind != KNOWN_NOTHING && !accepted) return call_known(a, v, n, k);
        bool fortran;
        const routine_row *const routine = accepted ? NULL : routine_called(n, &fortran);
        if (routine != NULL) return call_routine(a, v, n, routine, fortran);
        if (strstr(d->name, "longjmp") != NULL || strstr(d->name, "setjmp") != NULL)
            note(&a->never, v, n,
                 "a long jump leaves recordings where they are: return a status instead");
        for (size_t i = 0; i < args; i++) (void)evaluate(a, v, arg[i]);
        if (accepted) note(&a->lent, v, n, "");
        else
            note(
                &a->foreign, v, n,
                is_routine_name(d->name)
                    ? "is a routine of BLAS or LAPACK that is not converted: write it with others (doc/CONVERT.md) or in loops"
                    : "is not among the files given");
        return new_cell(a, n->type);
    }
    cell *const callee = f->type != NULL && f->type->kind == TYPE_FUNCTION
                             ? real_cell(evaluate(a, v, f))
                             : pointee(a, v, f);
    make_signature(a, callee);
    note(&a->through, v, n, "");
    if (f->kind == NODE_OPAQUE) note(&a->foreign, v, n, "is not known");
    for (size_t i = 0; i < args; i++)
        if (i < callee->parameters.n && callee->type != NULL && i < callee->type->parameters)
            assign(a, v, callee->parameters.at[i], callee->type->parameter[i], arg[i]);
        else (void)evaluate(a, v, arg[i]);
    return callee->result != NULL ? callee->result : new_cell(a, n->type);
}

bool gives_real(const node *n) { return n->type != NULL && n->type->kind == TYPE_REAL; }
static bool is_of_function(const node *n) {
    const type *t = n->type;
    if (t != NULL && t->kind == TYPE_POINTER) t = t->of;
    return t != NULL && t->kind == TYPE_FUNCTION;
}

static cell *binary(analysis *a, version *v, const node *n) {
    cell *const x = evaluate(a, v, n->child[0]), *const y = evaluate(a, v, n->child[1]);
    if (same(n->op, ",")) return y;
    cell *const out = new_cell(a, n->type);
    if (n->type != NULL && n->type->kind == TYPE_COMPLEX)
        for (size_t i = 0; i < 2; i++)
            if (gives_real(n->child[i])) note(&a->losses, v, n->child[i], "a complex number");
    if (gives_real(n)) {
        if (gives_real(n->child[0])) flow(x, out);
        if (gives_real(n->child[1])) flow(y, out);
    } else if (n->type != NULL && n->type->kind == TYPE_POINTER) {
        const node *const p = is_address(n->child[0]) ? n->child[0] : n->child[1];
        join(a, target(a, out), pointee(a, v, p));
    } else if (is_of_function(n->child[0]) && is_of_function(n->child[1]))
        join(a, pointee(a, v, n->child[0]), pointee(a, v, n->child[1])); /* of one form */
    return out;
}

static cell *choice(analysis *a, version *v, const node *n) {
    cell *const out = new_cell(a, n->type);
    (void)evaluate(a, v, n->child[0]);
    for (size_t i = n->children == 2 ? 0 : 1; i < n->children; i++) {
        const node *const c = n->child[i];
        if (n->type != NULL && n->type->kind == TYPE_COMPLEX && gives_real(c))
            note(&a->losses, v, c, "a complex number");
        if (gives_real(n)) {
            cell *const x = evaluate(a, v, c);
            if (gives_real(c)) flow(x, out);
        } else if (n->type != NULL && n->type->kind == TYPE_POINTER &&
                   (is_address(c) || c->type->kind == TYPE_FUNCTION))
            join(a, target(a, out), pointee(a, v, c));
        else (void)evaluate(a, v, c);
    }
    return out;
}

static cell *cast(analysis *a, version *v, const node *n) {
    const node *const c = n->child[0];
    cell *const x = evaluate(a, v, c), *const out = new_cell(a, n->type);
    if (gives_real(n) && gives_real(c)) flow(x, out);
    else if (n->type->kind == TYPE_WHOLE && gives_real(c)) note(&a->losses, v, c, "an integer");
    else if (n->type->kind == TYPE_COMPLEX) note(&a->losses, v, c, "a complex number");
    else if (n->type->kind == TYPE_POINTER &&
             (is_address(c) || (c->type != NULL && c->type->kind == TYPE_FUNCTION)))
        join(a, target(a, out), pointee(a, v, c));
    else if (n->type->kind == TYPE_WHOLE && is_address(c))
        push(&a->to_integers, pointee(a, v, c));
    else if (n->type->kind == TYPE_POINTER && bare(c)->kind != NODE_NUMBER)
        note_pointer(a, n, out);
    return out;
}

/* Of a complex number, which may be a real one: __real__ z, __imag__ z */
static bool is_part(const node *n) {
    return n->kind == NODE_UNARY &&
           (starts_with(n->op, "__real") || starts_with(n->op, "__imag"));
}

static cell *unary(analysis *a, version *v, const node *n) {
    const node *const c = n->child[0];
    if (same(n->op, "*")) return pointee(a, v, c);
    cell *const x = evaluate(a, v, c);
    if (same(n->op, "&")) {
        x->addressed = true;
        cell *const out = new_cell(a, n->type);
        if (n->type->kind == TYPE_POINTER) join(a, target(a, out), x);
        return out;
    }
    if (same(n->op, "++") || same(n->op, "--") || same(n->op, "__extension__")) return x;
    if (is_part(n) && gives_real(c)) note(&a->losses, v, c, "a complex number");
    cell *const out = new_cell(a, n->type);
    if (gives_real(n) && gives_real(c)) flow(x, out);
    return out;
}

static cell *evaluate_new(analysis *a, version *v, const node *n) {
    switch (n->kind) {
    case NODE_NAME:
        if (n->decl->kind == DECL_FUNCTION) {
            if (n->decl->body == NULL) note(&a->named, v, n, "");
            return function_cell(a, v, n->decl);
        }
        if (n->decl->kind == DECL_CONSTANT) return new_cell(a, n->type);
        return decl_cell(a, v, n->decl);
    case NODE_MEMBER:
        if (n->children != 0) (void)evaluate(a, v, n->child[0]);
        return decl_cell(a, v, n->decl);
    case NODE_CALL:
        return call(a, v, n);
    case NODE_PAREN:
        return evaluate(a, v, n->child[0]);
    case NODE_UNARY:
        return unary(a, v, n);
    case NODE_INDEX:
        (void)evaluate(a, v, n->child[1]);
        return pointee(a, v, n->child[0]);
    case NODE_BINARY:
        return binary(a, v, n);
    case NODE_ASSIGN: {
        cell *const to = evaluate(a, v, n->child[0]);
        if (same(n->op, "=")) assign(a, v, to, n->child[0]->type, n->child[1]);
        else {
            cell *const x = evaluate(a, v, n->child[1]);
            const bool whole =
                n->child[0]->type != NULL && n->child[0]->type->kind == TYPE_WHOLE;
            if (gives_real(n->child[0]) && gives_real(n->child[1])) flow(x, to);
            else if (gives_real(n->child[1]))
                note(&a->losses, v, n->child[1], whole ? "an integer" : "a complex number");
        }
        if (is_part(bare(n->child[0]))) note(&a->losses, v, n->child[1], "a complex number");
        return to;
    }
    case NODE_CHOICE:
        return choice(a, v, n);
    case NODE_CAST:
        return cast(a, v, n);
    case NODE_COMPOUND: {
        cell *const to = new_cell(a, n->type);
        if (n->children != 0) initialise(a, v, to, n->type, n->child[n->children - 1]);
        return to;
    }
    case NODE_STATEMENTS: {
        if (n->children == 0) return new_cell(a, n->type);
        const node *const block = n->child[0];
        run(a, v, block);
        const node *const last =
            block->children != 0 ? block->child[block->children - 1] : NULL;
        return last != NULL && is_expression(last) ? evaluate(a, v, last)
                                                   : new_cell(a, n->type);
    }
    case NODE_SIZEOF:
        if (n->children != 0) (void)evaluate(a, v, n->child[0]);
        return new_cell(a, n->type);
    default:
        if (!n->by_macro)
            for (size_t i = 0; i < n->children; i++)
                if (n->child[i] != NULL && is_expression(n->child[i])) {
                    (void)evaluate(a, v, n->child[i]);
                    if (n->kind == NODE_OPAQUE) note(&a->unknown, v, n->child[i], source(n));
                }
        return new_cell(a, n->type);
    }
}

cell *evaluate(analysis *a, version *v, const node *n) {
    cell **const to = &v->of_node[n->number];
    if (*to == NULL) {
        const node *const before = a->at;
        a->at = n;
        cell *const c = evaluate_new(a, v, n);
        *to = c;
        a->at = before;
    }
    return real_cell(*to);
}

/* ---- initialisers ----------------------------------------------------------------------- */

static bool is_list(const node *n) { return n->kind == NODE_LIST; }

/* Element `at` of the list, and those behind it, initialise an object of type t: a list of its
 * own, an expression of that type, or as many as it has numbers (braces may be left out). */
static void initialise_next(analysis *a, version *v, cell *to, const type *t, const node *l,
                            size_t *at);

static void initialise_fields(analysis *a, version *v, const type *t, const node *l, size_t *at,
                              bool own) {
    const list *const fields = &t->record->fields;
    size_t k = 0;
    while (*at < l->children && (own || k < fields->n)) {
        const node *const n = l->child[*at];
        if (n->kind == NODE_DESIGNATED) {
            if (!own) return;
            if (n->decl != NULL && n->children != 0)
                initialise(a, v, decl_cell(a, v, n->decl), n->decl->type,
                           n->child[n->children - 1]);
            for (size_t i = 0; i < fields->n; i++)
                if (fields->at[i] == n->decl) k = i + 1;
            ++*at;
            continue;
        }
        if (k >= fields->n) return;
        decl *const f = fields->at[k++];
        initialise_next(a, v, decl_cell(a, v, f), f->type, l, at);
        if (t->record->is_union) return;
    }
}

static void initialise_next(analysis *a, version *v, cell *to, const type *t, const node *l,
                            size_t *at) {
    const node *const n = l->child[*at];
    if (is_list(n) || n->kind == NODE_STRING ||
        (t->kind != TYPE_ARRAY && t->kind != TYPE_RECORD) ||
        (t->kind == TYPE_RECORD && n->type != NULL && n->type->kind == TYPE_RECORD)) {
        initialise(a, v, to, t, n);
        ++*at;
    } else if (t->kind == TYPE_ARRAY) {
        for (long long k = 0; *at < l->children && (t->count < 0 || k < t->count); k++)
            initialise_next(a, v, to, t->of, l, at);
    } else initialise_fields(a, v, t, l, at, false);
}

void initialise(analysis *a, version *v, cell *to, const type *t, const node *n) {
    if (!is_list(n)) {
        if (n->kind == NODE_DESIGNATED && n->children != 0)
            initialise(a, v, to, t, n->child[n->children - 1]);
        else assign(a, v, to, t, n);
        return;
    }
    size_t at = 0;
    if (t->kind == TYPE_RECORD) initialise_fields(a, v, t, n, &at, true);
    else if (t->kind == TYPE_ARRAY)
        while (at < n->children) {
            const node *const e = n->child[at];
            if (e->kind == NODE_DESIGNATED) {
                if (e->children != 0) initialise(a, v, to, t->of, e->child[e->children - 1]);
                at++;
            } else initialise_next(a, v, to, t->of, n, &at);
        }
    else
        for (size_t i = 0; i < n->children && (i == 0 || t->kind == TYPE_OTHER); i++)
            assign(a, v, to, t, n->child[i]);
    v->of_node[n->number] = to;
}

/* ---- statements ------------------------------------------------------------------------- */

void run(analysis *a, version *v, const node *n) {
    if (n == NULL) return;
    if (is_expression(n)) {
        (void)evaluate(a, v, n);
        return;
    }
    if (n->kind == NODE_RETURN) {
        if (n->children != 0 && v->result != NULL)
            assign(a, v, v->result, v->function->type->of, n->child[0]);
        return;
    }
    if (n->kind == NODE_OTHER && strstr(source(n), "asm") != NULL)
        note(
            &a->never, v, n,
            "what assembly does is not known: write it in C, or register an operation of your own");
    for (size_t i = 0; i < n->children; i++) run(a, v, n->child[i]);
    for (size_t i = 0; i < n->decls.n; i++) {
        decl *const d = n->decls.at[i];
        cell *const c = decl_cell(a, v, d);
        if (d->init != NULL) initialise(a, v, c, d->type, d->init);
    }
}
