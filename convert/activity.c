/* SPDX-License-Identifier: MIT */
/* activity.c - from the program to cells and what is computed of what; then forwards from the inputs,
 * backwards from the outputs. */
#include <string.h>
#include "convert/activity.h"
#include "convert/known.h"

enum { MOST_VERSIONS = 4000 };

/* ---- cells ------------------------------------------------------------------------------ */

cell *real_cell(cell *c) {
    while (c->joined != NULL) {
        if (c->joined->joined != NULL) c->joined = c->joined->joined;
        c = c->joined;
    }
    return c;
}

static const type *element(const type *t) {
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    return t;
}

static cell *new_cell(analysis *a, const type *t) {
    cell *const c = arena_get(sizeof *c);
    c->type = element(t);
    a->cells++;
    return c;
}

/* What is called through a pointer has parameters and a result, whatever function it is. */
static void make_signature(analysis *a, cell *c) {
    if (c->result != NULL || c->type == NULL || c->type->kind != TYPE_FUNCTION) return;
    for (size_t i = 0; i < c->type->parameters; i++)
        push(&c->parameters, new_cell(a, c->type->parameter[i]));
    c->result = new_cell(a, c->type->of);
    push(&a->signatures, c);
}

static cell *target(analysis *a, cell *c) {
    c = real_cell(c);
    if (c->target == NULL) {
        const type *const t =
            c->type != NULL && c->type->kind == TYPE_POINTER ? c->type->of : NULL;
        c->target = new_cell(a, t != NULL && t->kind == TYPE_VOID ? NULL : t);
        make_signature(a, c->target);
    }
    return real_cell(c->target);
}

static void append(list *to, const list *from) {
    for (size_t i = 0; i < from->n; i++) push(to, from->at[i]);
}

static bool differ(const type *a, const type *b) {
    if (a->kind != b->kind) return true;
    if (a->kind == TYPE_REAL) return a->bits != b->bits;
    return a->kind == TYPE_RECORD && a->record != b->record;
}

/* Is a structure of numbers only looked at as an array of them? Then all of its fields are these. */
static bool is_walked(const type *record_type, const type *number) {
    if (record_type->kind != TYPE_RECORD || number->kind != TYPE_REAL) return false;
    const list *const fields = &record_type->record->fields;
    for (size_t i = 0; i < fields->n; i++) {
        const type *const t = element(((decl *)fields->at[i])->type);
        if (t->kind == TYPE_RECORD ? !is_walked(t, number)
                                   : t->kind != TYPE_REAL || t->bits != number->bits)
            return false;
    }
    return fields->n != 0;
}

static void join(analysis *a, cell *x, cell *y);
static cell *decl_cell(analysis *a, version *v, const decl *d);

/* What was found of memory that is used as two types: where, of which. */
typedef struct mixture {
    const node *n;
    cell *of;
    const type *type[2];
} mixture;

static const type *first_part(const type *t) {
    return t->kind == TYPE_RECORD && t->record->fields.n != 0
               ? element(((const decl *)t->record->fields.at[0])->type)
               : NULL;
}
/* Does a structure begin with one of the other's type, or both with one of a third? */
static bool begin_alike(const type *t, const type *u) {
    for (; t != NULL && t->kind == TYPE_RECORD; t = first_part(t))
        for (const type *w = u; w != NULL && w->kind == TYPE_RECORD; w = first_part(w))
            if (t->record == w->record) return true;
    return false;
}

/* The numbers of a structure are what is at `number`. */
static void join_numbers(analysis *a, const type *t, cell *number) {
    for (size_t i = 0; i < t->record->fields.n; i++) {
        const decl *const f = t->record->fields.at[i];
        const type *const e = element(f->type);
        if (e->kind == TYPE_RECORD) join_numbers(a, e, number);
        else if (e->kind == TYPE_REAL) join(a, decl_cell(a, NULL, f), number);
    }
}

/* A cell has two types. Structures that begin alike are told apart by who uses them; otherwise numbers may be
 * written as the one and read as the other. */
static void mix(analysis *a, cell *x, const type *t, const type *u) {
    if (begin_alike(t, u)) return;
    mixture *const m = arena_get(sizeof *m);
    *m = (mixture){a->at, x, {t, u}};
    push(&a->mixtures, m);
    if (t->kind == TYPE_RECORD && (u->kind == TYPE_RECORD || u->kind == TYPE_REAL)) {
        cell *const number = u->kind == TYPE_REAL ? x : new_cell(a, NULL);
        join_numbers(a, t, number);
        if (u->kind == TYPE_RECORD) join_numbers(a, u, number);
    } else if (t->kind == TYPE_REAL && u->kind == TYPE_RECORD) join_numbers(a, u, x);
}

static void join_fields(analysis *a, const type *t, cell *number) {
    for (size_t i = 0; i < t->record->fields.n; i++) {
        const decl *const f = t->record->fields.at[i];
        const type *const e = element(f->type);
        if (e->kind == TYPE_RECORD) join_fields(a, e, number);
        else join(a, decl_cell(a, NULL, f), number);
    }
}

static void join(analysis *a, cell *x, cell *y) {
    x = real_cell(x), y = real_cell(y);
    if (x == y) return;
    if (x->type != NULL && y->type != NULL &&
        (is_walked(x->type, y->type) || is_walked(y->type, x->type))) {
        join_fields(a, x->type->kind == TYPE_RECORD ? x->type : y->type,
                    x->type->kind == TYPE_RECORD ? y : x);
        return;
    }
    if (x->type == NULL) {
        cell *const z = x;
        x = y, y = z;
    }
    y->joined = x;
    append(&x->to, &y->to), append(&x->from, &y->from);
    x->forced |= y->forced;
    x->addressed |= y->addressed;
    if (x->declared == NULL) x->declared = y->declared;
    for (size_t i = 0; i < y->versions.n; i++)
        if (!list_has(&x->versions, y->versions.at[i])) push(&x->versions, y->versions.at[i]);
    cell *const tx = x->target, *const ty = y->target, *const rx = x->result,
                *const ry = y->result;
    const list px = x->parameters, py = y->parameters;
    if (tx == NULL) x->target = ty;
    if (rx == NULL) x->result = ry, x->parameters = py;
    if (tx != NULL && ty != NULL) join(a, tx, ty);
    if (rx != NULL && ry != NULL) join(a, rx, ry);
    if (rx != NULL && ry != NULL)
        for (size_t i = 0; i < px.n && i < py.n; i++) join(a, px.at[i], py.at[i]);
    if (x->type != NULL && y->type != NULL && differ(x->type, y->type))
        mix(a, x, x->type, y->type);
}

static void flow(cell *from, cell *to) {
    from = real_cell(from), to = real_cell(to);
    if (from == to) return;
    push(&from->to, to);
    push(&to->from, from);
}

cell *cell_of(const analysis *a, const version *v, const decl *d) {
    if (d->kind == DECL_FIELD || d->is_global)
        return a->of_decl[d->number] != NULL ? real_cell(a->of_decl[d->number]) : NULL;
    if (v != NULL && d->owner == v->function && v->of_decl[d->index] != NULL)
        return real_cell(v->of_decl[d->index]);
    return NULL;
}
cell *node_cell(const version *v, const node *n) {
    cell *const c = v->of_node[n->number];
    return c != NULL ? real_cell(c) : NULL;
}

static cell *decl_cell(analysis *a, version *v, const decl *d) {
    cell **to;
    if (d->kind == DECL_FIELD || d->is_global || d->owner == NULL) to = &a->of_decl[d->number];
    else if (v != NULL && d->owner == v->function) to = &v->of_decl[d->index];
    else to = &a->of_decl[d->number];
    if (*to == NULL) {
        *to = new_cell(a, d->type);
        (*to)->declared = d;
    }
    return real_cell(*to);
}

/* ---- expressions ------------------------------------------------------------------------ */

/* Something that is said if it turns out to have to do with variables. */
typedef struct remark {
    version *v;
    const node *n;
    const char *what;
} remark;
static void note(list *to, version *v, const node *n, const char *what) {
    remark *const r = arena_get(sizeof *r);
    *r = (remark){v, n, what};
    push(to, r);
}

/* n is an integer that becomes the pointer c. */
static void note_pointer(analysis *a, const node *n, cell *c) {
    mixture *const m = arena_get(sizeof *m);
    *m = (mixture){n, target(a, c), {NULL, NULL}};
    push(&a->from_integers, m);
}

static cell *evaluate(analysis *a, version *v, const node *n);
static void initialise(analysis *a, version *v, cell *to, const type *t, const node *n);

static cell *pointee(analysis *a, version *v, const node *n) {
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

static version *new_version(analysis *a, version *caller, decl *f);

/* The variable that a place is in, without following pointers. */
static decl *base_of(const node *n) {
    n = bare(n);
    if (n->kind == NODE_NAME) return n->decl;
    if (n->kind == NODE_MEMBER && !n->arrow && n->children != 0) return base_of(n->child[0]);
    if (n->kind == NODE_INDEX && n->child[0]->type != NULL &&
        n->child[0]->type->kind == TYPE_ARRAY)
        return base_of(n->child[0]);
    return NULL;
}

/* Marks local variables that are static and may be written to. */
static void mark_changed(const node *n) {
    if (n == NULL) return;
    const bool step =
        n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--") || same(n->op, "&"));
    if ((n->kind == NODE_ASSIGN || step) && n->children != 0) {
        decl *const d = base_of(n->child[0]);
        if (d != NULL) d->changed = true;
    }
    if (n->kind == NODE_NAME && n->decl->is_static && n->decl->type != NULL) {
        const node *p = n->parent;
        while (p != NULL && p->kind == NODE_PAREN) p = p->parent;
        const bool read = p != NULL && (p->kind == NODE_INDEX || p->kind == NODE_SIZEOF);
        if (n->by_macro || (n->decl->type->kind == TYPE_ARRAY && !read))
            n->decl->changed = true;
    }
    for (size_t i = 0; i < n->children; i++) mark_changed(n->child[i]);
    for (size_t i = 0; i < n->decls.n; i++) mark_changed(((decl *)n->decls.at[i])->init);
}

bool keeps_state(const decl *d) {
    return d->is_static && d->changed && !d->is_global && !is_constant(d->type);
}

/* Does a function remember something from one call to the next? Then it has one version only: what it
 * remembers is in one place. */
static bool remembers(decl *f) {
    if (!f->looked_at) mark_changed(f->body);
    f->looked_at = true;
    for (size_t i = 0; i < f->locals.n; i++)
        if (keeps_state(f->locals.at[i])) return true;
    return false;
}

static version *version_for(analysis *a, version *caller, decl *f) {
    for (version *v = caller; v != NULL; v = v->caller)
        if (v->function == f) return v; /* a recursion: one and the same */
    if (a->versions.n >= MOST_VERSIONS || remembers(f))
        for (size_t i = 0; i < a->versions.n; i++) {
            version *const v = a->versions.at[i];
            if (v->function == f) return v;
        }
    return new_version(a, caller, f);
}

static cell *function_cell(analysis *a, version *caller, decl *f) {
    cell *const c = new_cell(a, f->type);
    c->declared = f;
    if (f->body == NULL) {
        make_signature(a, c);
        for (size_t i = 0; i < c->parameters.n; i++) flow(c->parameters.at[i], c->result);
        return c;
    }
    version *const v = version_for(a, caller, f);
    for (size_t i = 0; i < f->parameters.n; i++)
        push(&c->parameters, decl_cell(a, v, f->parameters.at[i]));
    c->result = v->result != NULL ? v->result
                                  : new_cell(a, f->type->of); /* of what gives nothing, too */
    push(&c->versions, v);
    push(&a->signatures, c);
    return c;
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
        if (strstr(d->name, "longjmp") != NULL || strstr(d->name, "setjmp") != NULL)
            note(&a->never, v, n,
                 "a long jump leaves recordings where they are: return a status instead");
        for (size_t i = 0; i < args; i++) (void)evaluate(a, v, arg[i]);
        if (!accepted) note(&a->foreign, v, n, "is not among the files given");
        return new_cell(a, n->type);
    }
    cell *const callee = f->type != NULL && f->type->kind == TYPE_FUNCTION
                             ? real_cell(evaluate(a, v, f))
                             : pointee(a, v, f);
    make_signature(a, callee);
    if (f->kind == NODE_OPAQUE) note(&a->foreign, v, n, "is not known");
    for (size_t i = 0; i < args; i++)
        if (i < callee->parameters.n && callee->type != NULL && i < callee->type->parameters)
            assign(a, v, callee->parameters.at[i], callee->type->parameter[i], arg[i]);
        else (void)evaluate(a, v, arg[i]);
    return callee->result != NULL ? callee->result : new_cell(a, n->type);
}

static bool gives_real(const node *n) { return n->type != NULL && n->type->kind == TYPE_REAL; }
static bool is_address(const node *n) {
    return n->type != NULL && (n->type->kind == TYPE_POINTER || n->type->kind == TYPE_ARRAY);
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
    }
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

/* What integers that were pointers lead to, where some become pointers again. */
static void join_integers(analysis *a) {
    for (size_t i = 0; i < a->from_integers.n; i++) {
        const mixture *const m = a->from_integers.at[i], *const first = a->from_integers.at[0];
        for (size_t k = 0; i == 0 && k < a->to_integers.n; k++)
            join(a, m->of, a->to_integers.at[k]);
        join(a, first->of, m->of);
    }
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

static void run(analysis *a, version *v, const node *n);

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
    case NODE_INDEX: {
        const bool first = is_address(n->child[0]);
        (void)evaluate(a, v, n->child[first ? 1 : 0]);
        return pointee(a, v, n->child[first ? 0 : 1]);
    }
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

static cell *evaluate(analysis *a, version *v, const node *n) {
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

/* Element `at` of the list, and those behind it, initialise an object of type t: a list of its own,
 * an expression of that type, or as many as it has numbers (braces may be left out). */
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

static void initialise(analysis *a, version *v, cell *to, const type *t, const node *n) {
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

static void run(analysis *a, version *v, const node *n) {
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

static void number_locals(decl *f) {
    size_t k = 0;
    for (size_t i = 0; i < f->parameters.n; i++) ((decl *)f->parameters.at[i])->index = k++;
    for (size_t i = 0; i < f->locals.n; i++) ((decl *)f->locals.at[i])->index = k++;
}

static version *new_version(analysis *a, version *caller, decl *f) {
    version *const v = arena_get(sizeof *v);
    number_locals(f);
    v->function = f;
    v->caller = caller;
    v->number = (unsigned)a->versions.n;
    v->of_node =
        arena_get(2 * (f->nodes + 1) * sizeof *v->of_node); /* also for nodes that are made */
    v->called = arena_get(2 * (f->nodes + 1) * sizeof *v->called);
    v->of_decl = arena_get((f->parameters.n + f->locals.n + 1) * sizeof *v->of_decl);
    if (f->type->of->kind != TYPE_VOID) {
        v->result = new_cell(a, f->type->of);
        v->result->declared = f;
    }
    push(&a->versions, v);
    for (size_t i = 0; i < f->parameters.n; i++) (void)decl_cell(a, v, f->parameters.at[i]);
    run(a, v, f->body);
    return v;
}

/* Locals that keep their values, and functions that are seen twice, share them. */
static void join_statics(analysis *a) {
    table *const seen = table_new();
    for (size_t i = 0; i < a->versions.n; i++) {
        version *const v = a->versions.at[i];
        for (size_t k = 0; k < v->function->locals.n; k++) {
            const decl *const d = v->function->locals.at[k];
            if (!d->is_static || v->of_decl[d->index] == NULL) continue;
            const char *const key = format("%u", d->number);
            cell *const before = table_get(seen, key);
            if (before != NULL) join(a, before, v->of_decl[d->index]);
            else table_set(seen, key, v->of_decl[d->index]);
        }
    }
}

/* What globals are initialised with: addresses of others, functions. */
static void initialise_globals(analysis *a) {
    version *const v = arena_get(sizeof *v);
    decl *const nobody = arena_get(sizeof *nobody);
    nobody->nodes = a->program->nodes;
    v->function = nobody;
    v->of_node = arena_get((nobody->nodes + 1) * sizeof *v->of_node);
    v->called = arena_get((nobody->nodes + 1) * sizeof *v->called);
    a->outside = v;
    for (size_t i = 0; i < a->program->globals.n; i++) {
        decl *const d = a->program->globals.at[i];
        cell *const c = decl_cell(a, NULL, d);
        if (d->init != NULL && d->reached) initialise(a, v, c, d->type, d->init);
    }
}

/* Functions that are called through pointers have one form where one of them has: all their numbers
 * are variables. */
static void force_signatures(analysis *a) {
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < a->signatures.n; i++) {
            cell *const c = real_cell(a->signatures.at[i]);
            if (!holds_variables(c)) continue;
            for (size_t k = 0; k <= c->parameters.n; k++) {
                cell *p = k < c->parameters.n ? c->parameters.at[k] : c->result;
                if (p == NULL) continue;
                p = real_cell(p);
                while (p->target != NULL) p = real_cell(p->target);
                if (p->type != NULL && p->type->kind == TYPE_REAL && !p->forced)
                    p->forced = again = true;
            }
        }
    }
}

/* ---- inputs and outputs ----------------------------------------------------------------- */

static const char *trimmed(const char *s, size_t n) {
    while (n != 0 && (*s == ' ' || *s == '\n' || *s == '\t')) s++, n--;
    while (n != 0 && (s[n - 1] == ' ' || s[n - 1] == '\n' || s[n - 1] == '\t')) n--;
    return copy_text(s, n);
}

static void add_range(selection *c, const char *from, const char *end) {
    if (c->ranges < MOST_RANGES) c->from[c->ranges] = from, c->end[c->ranges] = end;
    c->ranges++;
}

/* The text between brackets, a[..], in ranges and, if it is one index, in the path; the names alone in
 * c->names. In the path, @ stands for the number of the range that follows it. */
static bool read_ranges(selection *c, const char *s) {
    text path = {NULL, 0, 0}, names = {NULL, 0, 0};
    for (const char *p = s; *p;) {
        if (*p != '[') {
            put_n(&path, p, 1), put_n(&names, p, 1);
            p++;
            continue;
        }
        const char *const close = strchr(p, ']'), *const colon = strchr(p, ':');
        if (close == NULL) {
            error_at("(options)", "'%s': a ] is missing", c->text);
            return false;
        }
        if (colon == NULL || colon > close) put_n(&path, p, (size_t)(close - p) + 1);
        else {
            const char *const from = trimmed(p + 1, (size_t)(colon - p - 1));
            putf(&path, "[@%zu]", c->ranges);
            add_range(c, *from ? from : "0", trimmed(colon + 1, (size_t)(close - colon - 1)));
        }
        c->brackets++;
        p = close + 1;
    }
    if (c->ranges > MOST_RANGES) {
        error_at("(options)", "'%s': at most %d ranges", c->text, MOST_RANGES);
        return false;
    }
    c->path = text_of(&path), c->names = text_of(&names);
    return true;
}

static bool add_selection(analysis *a, const decl *f, const char *s, list *to) {
    const char *const where = "(options)";
    selection *const c = arena_get(sizeof *c);
    c->text = s;
    const bool star = *s == '*';
    if (star) s = trimmed(s + 1, strlen(s + 1));
    if (!read_ranges(c, s)) return false;
    if (star && c->brackets++ == 0) {
        c->path = format("%s[@0]", c->path);
        add_range(c, "0", "1");
    }
    s = c->names;
    const tokens t = lex(s, strlen(s));
    const type *at = NULL;
    for (size_t i = 0; i < t.n; i++) {
        const char *const word = copy_text(s + t.at[i].begin, t.at[i].end - t.at[i].begin);
        if (t.at[i].kind != TOKEN_WORD) {
            if (same(word, ".") || same(word, "->")) continue;
            error_at(where, "'%s': '%s' is not understood", c->text, word);
            return false;
        }
        decl *found = NULL;
        if (at == NULL && same(word, "return")) {
            at = f->type->of;
            if (at->kind == TYPE_VOID) {
                error_at(where, "%s returns nothing", f->name);
                return false;
            }
            continue;
        }
        if (at == NULL) {
            for (size_t k = 0; k < f->parameters.n; k++) {
                decl *const p = f->parameters.at[k];
                if (same(p->name, word)) found = p;
            }
            for (size_t k = 0; k < a->program->globals.n && found == NULL; k++) {
                decl *const g = a->program->globals.at[k];
                if (same(g->name, word)) found = g;
            }
            if (found == NULL) {
                error_at(
                    where,
                    "'%s': %s has no parameter, and the files no global variable, of that name",
                    word, f->name);
                return false;
            }
            c->root = found;
        } else {
            while (at->kind == TYPE_POINTER || at->kind == TYPE_ARRAY) at = at->of;
            for (size_t k = 0; at->kind == TYPE_RECORD && k < at->record->fields.n; k++) {
                decl *const field = at->record->fields.at[k];
                if (same(field->name, word)) found = field;
            }
            if (found == NULL) {
                error_at(where, "'%s': %s has no field '%s'", c->text, at->spelling, word);
                return false;
            }
            push(&c->fields, found);
        }
        at = found->type;
    }
    if (at == NULL || leaf_type(at)->kind != TYPE_REAL) {
        error_at(where, "'%s' is %s: name numbers, of a structure its fields", c->text,
                 at != NULL ? at->spelling : "nothing");
        return false;
    }
    for (size_t i = 0; i < c->brackets && (at->kind == TYPE_ARRAY || at->kind == TYPE_POINTER);
         i++)
        at = at->of;
    c->type = at;
    push(to, c);
    return true;
}

bool parse_selections(analysis *a, const decl *f, const char *s, list *to) {
    bool good = true;
    size_t depth = 0;
    const char *begin = s;
    for (const char *p = s;; p++) {
        if (*p == '{' || *p == '[') depth++;
        if (*p == '}' || *p == ']') depth--;
        if (*p != 0 && !(*p == ',' && depth == 0)) continue;
        const char *const item = trimmed(begin, (size_t)(p - begin));
        const char *const open = strchr(item, '{');
        if (*item && open == NULL) good &= add_selection(a, f, item, to);
        else if (*item) {
            const char *const close = strchr(open, '}');
            if (close == NULL) {
                error_at("(options)", "'%s': a } is missing", item);
                return false;
            }
            const char *const before = copy_text(item, (size_t)(open - item));
            const size_t first = to->n;
            for (const char *q = open + 1, *r = q; r <= close; r++)
                if (*r == ',' || r == close) {
                    const char *const name = trimmed(q, (size_t)(r - q));
                    if (*name)
                        good &=
                            add_selection(a, f, format("%s%s%s", before, name, close + 1), to);
                    q = r + 1;
                }
            for (size_t i = first + 1; i < to->n; i++) {
                selection *const c = to->at[i];
                c->follows = strchr(before, ':') != NULL && c->type->kind == TYPE_REAL;
            }
        }
        if (*p == 0) break;
        begin = p + 1;
    }
    return good;
}

/* The numbers that a selection names. */
static cell *selected(analysis *a, version *v, const selection *s) {
    cell *c = s->root == NULL ? v->result : decl_cell(a, v, s->root);
    for (size_t i = 0; i < s->fields.n; i++) c = decl_cell(a, v, s->fields.at[i]);
    c = real_cell(c);
    while (c->type != NULL && c->type->kind == TYPE_POINTER) c = target(a, c);
    return real_cell(c);
}

/* ---- what is a variable ------------------------------------------------------------------ */

static void spread(cell *c, bool forwards) {
    list todo = {NULL, 0, 0};
    push(&todo, real_cell(c));
    while (todo.n != 0) {
        cell *const x = real_cell(todo.at[--todo.n]);
        if (forwards ? x->varied : x->useful) continue;
        if (forwards) x->varied = true;
        else x->useful = true;
        const list *const next = forwards ? &x->to : &x->from;
        for (size_t i = 0; i < next->n; i++) push(&todo, next->at[i]);
    }
}

bool is_variable(cell *c) {
    c = real_cell(c);
    return c->type != NULL && c->type->kind == TYPE_REAL &&
           ((c->varied && c->useful) || c->forced);
}

/* Records that hold variables are marked by what is asked of their number. */
static bool *converted; /* of an analysis at a time */

bool record_holds(const analysis *a, const record *r) {
    (void)a;
    return converted[r->number];
}

bool holds_variables(cell *c) {
    size_t steps = 0;
    c = real_cell(c);
    while (c->target != NULL && (c->type == NULL || c->type->kind == TYPE_POINTER) &&
           steps++ < 16)
        c = real_cell(c->target);
    if (c->type == NULL) return false;
    if (c->type->kind == TYPE_POINTER) { /* nothing was asked of what it leads to but fields */
        const type *const t = leaf_type(c->type);
        return t->kind == TYPE_RECORD && converted[t->record->number];
    }
    if (c->type->kind == TYPE_RECORD) return converted[c->type->record->number];
    if (c->type->kind == TYPE_FUNCTION) {
        for (size_t i = 0; i < c->parameters.n; i++)
            if (is_variable(c->parameters.at[i]) ||
                (real_cell(c->parameters.at[i])->target != NULL &&
                 holds_variables(real_cell(c->parameters.at[i])->target)))
                return true;
        for (size_t i = 0; i < c->versions.n; i++)
            if (((version *)c->versions.at[i])->touched) return true;
        return c->result != NULL && is_variable(c->result);
    }
    return is_variable(c);
}

static void mark_records(analysis *a) {
    const list *const all = &a->program->records;
    converted = arena_get((all->n + 1) * sizeof *converted);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < all->n; i++) {
            const record *const r = all->at[i];
            if (converted[r->number]) continue;
            for (size_t k = 0; k < r->fields.n; k++) {
                const decl *const f = r->fields.at[k];
                const type *const t = leaf_type(f->type);
                cell *const c = a->of_decl[f->number];
                if ((c != NULL && holds_variables(c)) ||
                    (t->kind == TYPE_RECORD && converted[t->record->number]))
                    converted[r->number] = again = true;
            }
        }
    }
}

static void mark_versions(analysis *a) {
    for (size_t i = 0; i < a->versions.n; i++) {
        version *const v = a->versions.at[i];
        const decl *const f = v->function;
        for (size_t k = 0; k < f->nodes && !v->touched; k++)
            v->touched = v->of_node[k] != NULL && holds_variables(v->of_node[k]);
        for (size_t k = 0; k < f->parameters.n + f->locals.n && !v->touched; k++)
            v->touched = v->of_decl[k] != NULL && holds_variables(v->of_decl[k]);
        if (v->result != NULL && holds_variables(v->result)) v->touched = true;
    }
    a->root->touched = true;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < a->versions.n; i++) {
            version *const v = a->versions.at[i];
            for (size_t k = 0; k < v->function->nodes && !v->touched; k++)
                if ((v->called[k] != NULL && v->called[k]->touched) ||
                    (v->of_node[k] != NULL && holds_variables(v->of_node[k])))
                    v->touched = again = true;
            /* who may be called in the place of one that is touched is touched, too */
            for (size_t k = 0; k < v->function->nodes; k++) {
                cell *const c = v->of_node[k] != NULL ? real_cell(v->of_node[k]) : NULL;
                if (c == NULL || c->type == NULL || c->type->kind != TYPE_FUNCTION ||
                    !holds_variables(c))
                    continue;
                for (size_t j = 0; j < c->versions.n; j++) {
                    version *const w = c->versions.at[j];
                    if (!w->touched) w->touched = again = true;
                }
            }
        }
    }
}

/* Versions of one function with the same variables in the same places, which call the same ones, have
 * one text. */
static void share_versions(analysis *a) {
    const size_t n = a->versions.n;
    size_t classes = 0;
    unsigned *const class = arena_get((n + 1) * sizeof *class);
    for (size_t round = 0; round < n + 2; round++) {
        table *const seen = table_new();
        unsigned *const next = arena_get((n + 1) * sizeof *next);
        size_t found = 0;
        for (size_t i = 0; i < n; i++) {
            version *const v = a->versions.at[i];
            text key = {NULL, 0, 0};
            putf(&key, "%p %d ", (void *)v->function, v->touched);
            for (size_t k = 0; k < v->function->parameters.n + v->function->locals.n; k++)
                put(&key, v->of_decl[k] != NULL && holds_variables(v->of_decl[k]) ? "1" : "0");
            for (size_t k = 0; k < v->function->nodes; k++)
                put(&key, v->of_node[k] != NULL && holds_variables(v->of_node[k]) ? "1" : "0");
            if (v->result != NULL) put(&key, holds_variables(v->result) ? "r" : "n");
            for (size_t k = 0; k < v->function->nodes; k++)
                if (v->called[k] != NULL) putf(&key, " %u", class[v->called[k]->number]);
            version *const first = table_get(seen, text_of(&key));
            if (first == NULL) {
                next[i] = (unsigned)++found;
                table_set(seen, text_of(&key), v);
                v->like = v;
            } else next[i] = next[first->number], v->like = first;
        }
        memcpy(class, next, n * sizeof *class);
        if (found == classes) break;
        classes = found;
    }
}

static void name_versions(analysis *a) {
    table *const used = table_new();
    for (size_t i = 0; i < a->versions.n; i++) {
        version *const v = a->versions.at[i];
        if (!v->touched || v->like != v) continue;
        size_t k = 1;
        const char *name = format("%s_wg", v->function->name);
        while (table_get(used, name) != NULL) name = format("%s_wg%zu", v->function->name, ++k);
        table_set(used, name, v);
        v->name = name;
    }
}

version *called_by(const version *v, const node *n) {
    version *const w = v->called[n->number];
    return w != NULL ? w->like : NULL;
}

/* ---- what cannot be --------------------------------------------------------------------- */

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
            bad |= m->type[k]->kind == TYPE_RECORD && converted[m->type[k]->record->number];
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

static void check(analysis *a) {
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
            /* what sorts numbers moves them within their memory */
            const bool sorts = same(source(bare(r->n->child[0])), "qsort");
            if ((sorts || !leads_to_varied(a, c)) && !holds_variables(c)) continue;
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
        if (!converted[r->number]) continue;
        if (in_function(a, r->definition))
            error_at(
                place_in(r->definition->file, r->definition->begin),
                "structure '%s' holds variables and is defined in a function: define it before that",
                r->tagged ? r->name : "(no name)");
        else if (r->is_union)
            error_at(place_in(r->definition->file, r->definition->begin),
                     "a field of union '%s' depends on the inputs: write a structure", r->name);
        else if (r->of_system)
            error_at(r->name, "a structure of the system would have to hold variables");
    }
}

/* What functions the root's parameters may be, as the user says. */
static void join_callees(analysis *a, const decl *f) {
    for (size_t i = 0; i < a->calls.n; i++) {
        const char *const s = a->calls.at[i], *const name = strchr(s, '=') + 1;
        decl *const callee = function_named(a->program, name), *parameter = NULL;
        for (size_t k = 0; k < f->parameters.n; k++) {
            decl *const p = f->parameters.at[k];
            const size_t n = (size_t)(name - 1 - s);
            if (strlen(p->name) == n && strncmp(p->name, s, n) == 0) parameter = p;
        }
        if (parameter == NULL || parameter->type->kind != TYPE_POINTER ||
            leaf_type(parameter->type)->kind != TYPE_FUNCTION)
            error_at("(options)",
                     "--calls %s: %s has no parameter of that name that is a function", s,
                     f->name);
        else if (callee == NULL)
            error_at("(options)", "--calls %s: no function '%s' is defined in the files given",
                     s, name);
        else {
            push(&a->callees, callee);
            join(a, target(a, decl_cell(a, a->root, parameter)),
                 function_cell(a, a->root, callee));
        }
    }
}

bool analyse(analysis *a, decl *f) {
    const size_t before = errors_said();
    a->of_decl = arena_get((a->program->decls + 1) * sizeof *a->of_decl);
    (void)remembers(f);
    a->root = new_version(a, NULL, f);
    join_callees(a, f);
    initialise_globals(a);
    join_statics(a);
    join_integers(a);
    for (size_t i = 0; i < a->inputs.n; i++) {
        selection *const s = a->inputs.at[i];
        s->cell = selected(a, a->root, s);
    }
    for (size_t i = 0; i < a->outputs.n; i++) {
        selection *const s = a->outputs.at[i];
        s->cell = selected(a, a->root, s);
    }
    for (size_t i = 0; i < a->inputs.n; i++) spread(((selection *)a->inputs.at[i])->cell, true);
    for (size_t i = 0; i < a->outputs.n; i++)
        spread(((selection *)a->outputs.at[i])->cell, false);
    for (size_t i = 0; i < a->inputs.n; i++)
        real_cell(((selection *)a->inputs.at[i])->cell)->forced = true;
    for (size_t i = 0; i < a->outputs.n; i++)
        real_cell(((selection *)a->outputs.at[i])->cell)->forced = true;
    mark_records(a);
    mark_versions(a);
    force_signatures(a);
    mark_records(a);
    mark_versions(a);
    check(a);
    share_versions(a);
    name_versions(a);
    return errors_said() == before;
}
