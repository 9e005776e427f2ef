/* SPDX-License-Identifier: MIT */
/* plan.c - which old values are kept on the stack. A value is kept where it is overwritten after it was
 * used by a step whose derivative asks for it again (Hascoet, Naumann, Pascual, "To be recorded"
 * analysis in reverse-mode automatic differentiation, 2005). What a loop's body computes of values that
 * the body does not change is computed again instead, if that is cheap. */
#include <string.h>
#include "convert/adjoint.h"
#include "convert/known.h"

/* Elements [0, bound) of an array that were all assigned, and whose values nothing has asked for since: to
 * overwrite them again loses nothing. */
typedef struct fresh {
    const decl *array;
    cell *cell;
    const char *bound;
} fresh;

/* A loop that is being walked: its variable goes from 0, or what is no less, to below `bound`. */
typedef struct range {
    const cell *variable;
    const char *bound;
    struct range *outer;
} range;

typedef struct planner {
    routine *r;
    bool *used;   /* by number of the cell: its present value is needed */
    size_t cells; /* numbers so far */
    list numbered; /* the cells that have them */
    bool marking; /* finds what is needed at all */
    bool grown;   /* something is needed or kept that was not before */
    list fresh;   /* struct fresh */
    range *ranges;
} planner;

static unsigned number_of(planner *p, cell *c) {
    if (c->number == 0) {
        c->number = (unsigned)++p->cells;
        push(&p->numbered, c);
    }
    return c->number;
}

static cell *variable_cell(const planner *p, const char *name) {
    for (size_t i = 0; i < p->r->variables.n; i++) {
        const variable *const v = p->r->variables.at[i];
        if (same(v->name, name)) return v->cell;
    }
    return NULL;
}

static void use(planner *p, cell *c) {
    if (c == NULL) return;
    c = real_cell(c);
    if (p->marking) {
        p->grown |= !c->needed;
        c->needed = true;
    } else p->used[number_of(p, c)] = true;
    if (!p->marking)
        for (size_t i = 0; i < p->fresh.n; i++)
            if (((fresh *)p->fresh.at[i])->cell == c) ((fresh *)p->fresh.at[i])->cell = NULL;
}

static const range *range_of(const planner *p, const node *index) {
    cell *const c = bare(index)->kind == NODE_NAME ? cell_at(p->r, bare(index)) : NULL;
    for (const range *g = p->ranges; g != NULL && c != NULL; g = g->outer)
        if (g->variable == c) return g;
    return NULL;
}

/* Does a local variable or parameter that is never assigned to have one value, not one for each turn? */
static bool has_one_value(const decl *d) {
    for (const node *n = d->kind == DECL_PARAMETER ? NULL : d->group; n != NULL; n = n->parent)
        if (n->kind == NODE_FOR || n->kind == NODE_WHILE || n->kind == NODE_DO) return false;
    return d->owner != NULL && (d->kind == DECL_PARAMETER || d->group != NULL);
}

/* The array of x[i], where x is a local pointer, parameter or array that stays the same. */
static const decl *array_of(const planner *p, const node *n) {
    const node *const x =
        n != NULL && bare(n)->kind == NODE_INDEX ? bare(bare(n)->child[0]) : NULL;
    if (x == NULL || x->kind != NODE_NAME || x->decl->owner == NULL) return NULL;
    cell *const c = cell_at(p->r, x);
    if (x->type->kind == TYPE_POINTER &&
        (c == NULL || c->addressed || !has_one_value(x->decl) ||
         version_changes(p->r->v, c)))
        return NULL;
    return x->decl;
}

static bool is_fresh(const planner *p, const node *n) {
    const decl *const d = array_of(p, n);
    if (d == NULL) return false;
    const range *const g = range_of(p, bare(n)->child[1]);
    for (size_t i = 0; g != NULL && i < p->fresh.n; i++) {
        const fresh *const f = p->fresh.at[i];
        if (f->array == d && f->cell != NULL && same(f->bound, g->bound)) return true;
    }
    return false;
}

/* All that the value of n is computed of. */
static void use_value(planner *p, const node *n) {
    if (n == NULL || n->kind == NODE_SIZEOF) return;
    const char *const instead = p->r->instead[n->number];
    if (p->r->place[n->number] != NULL) {
        use_value(p, p->r->place[n->number]);
        return;
    }
    if (instead != NULL) {
        cell *const c = variable_cell(p, instead);
        if (c != NULL) {
            use(p, c);
            return;
        }
    }
    if (n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
        (n->kind == NODE_UNARY && same(n->op, "*")))
        use(p, cell_at(p->r, n));
    for (size_t i = n->kind == NODE_CALL; i < n->children; i++) use_value(p, n->child[i]);
}

/* What the address of a place is computed of. */
static void use_address(planner *p, const node *n) {
    if (n == NULL || p->r->instead[n->number] != NULL) return;
    switch (n->kind) {
    case NODE_PAREN:
        use_address(p, n->child[0]);
        break;
    case NODE_MEMBER:
        if (n->arrow) use_value(p, n->child[0]);
        else if (n->children != 0) use_address(p, n->child[0]);
        break;
    case NODE_INDEX:
        for (size_t i = 0; i < 2; i++)
            if (n->child[i]->type != NULL && n->child[i]->type->kind == TYPE_ARRAY)
                use_address(p, n->child[i]);
            else use_value(p, n->child[i]);
        break;
    case NODE_UNARY:
        use_value(p, n->child[0]);
        break;
    default:
        break;
    }
}

static bool mentions_letter(const char *s, char letter) {
    const tokens t = lex(s, strlen(s));
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].kind == TOKEN_WORD && t.at[i].end == t.at[i].begin + 1 &&
            s[t.at[i].begin] == letter)
            return true;
    return false;
}

/* What the adjoint of an expression asks for. */
static void use_partials(planner *p, const node *n) {
    const routine *const r = p->r;
    if (!step_is_active(r, n)) return;
    if (r->place[n->number] != NULL) use_address(p, r->place[n->number]);
    if (r->instead[n->number] != NULL) return;
    if (n->kind == NODE_PAREN || n->kind == NODE_CAST) {
        use_partials(p, n->child[0]);
        return;
    }
    if (n->kind == NODE_BINARY && same(n->op, ",")) {
        use_partials(p, n->child[1]);
        return;
    }
    if (n->kind == NODE_CHOICE && n->children == 3) {
        use_value(p, n->child[0]);
        use_partials(p, n->child[1]);
        use_partials(p, n->child[2]);
        return;
    }
    const char *const name = operation_of(r, n);
    if (name == NULL) {
        if (n->kind == NODE_UNARY && same(n->op, "+")) use_partials(p, n->child[0]);
        else use_address(p, n);
        return;
    }
    const node *arg[4];
    const size_t k = operands_of(n, arg);
    for (size_t i = 0; i < k; i++) {
        if (!step_is_active(r, arg[i])) continue;
        use_partials(p, arg[i]);
        const char *const s = partial_text(name, i);
        for (size_t j = 0; j < k; j++)
            if (mentions_letter(s, (char)('a' + (int)j)) || mentions_letter(s, 'v'))
                use_value(p, arg[j]);
    }
}

static bool is_local(const planner *p, const target *t) {
    const cell *const c = t->cell;
    if (c == NULL || c->addressed || t->type == NULL) return false;
    if (t->type->kind == TYPE_ARRAY || t->type->kind == TYPE_RECORD) return false;
    if (t->shadow != NULL) return false; /* an element */
    if (t->name != NULL) return true;
    const node *const n = bare(t->n);
    (void)p;
    return n->kind == NODE_NAME && n->decl->owner != NULL && !n->decl->is_static;
}

static void walk(planner *p, list *steps);

static bool *copy_used(const planner *p) {
    bool *const c = arena_get((p->cells + 4096) * sizeof *c);
    memcpy(c, p->used, (p->cells + 1) * sizeof *c);
    return c;
}
static bool add_used(planner *p, const bool *more) {
    bool grown = false;
    for (size_t i = 0; i <= p->cells; i++)
        if (more[i] && !p->used[i]) p->used[i] = grown = true;
    return grown;
}

/* What a call asks for again, of the memory that it is led to: `like` is whose text it runs, `v` what is
 * known of this call. */
static void use_memory(planner *p, const version *like, const version *v, list *seen) {
    if (v == NULL || list_has(seen, v)) return;
    push(seen, (void *)v);
    for (size_t i = 0; i < v->function->nodes; i++) {
        if (v->of_node[i] != NULL && like->of_node[i] != NULL &&
            real_cell(like->of_node[i])->needed)
            use(p, v->of_node[i]);
        if (v->called[i] != NULL && like->called[i] != NULL)
            use_memory(p, v->called[i]->like, v->called[i], seen);
    }
}

static bool step_changes(const planner *p, const step *s, cell *c);

/* A call without variables is not turned round: it must not change what is asked for again. */
static void check_plain(planner *p, const step *s) {
    if (p->marking || s->e == NULL) return;
    for (size_t i = 0; i < p->numbered.n; i++) {
        cell *const c = p->numbered.at[i];
        if (!p->used[c->number] || !step_changes(p, s, c)) continue;
        error_at(place_of(s->e),
                 "'%s' cannot be turned round: it changes numbers that derivatives ask for again",
                 source(s->e));
        p->r->refused = true;
        return;
    }
}

static void walk_assign(planner *p, step *s) {
    if (s->text == NULL && s->e != NULL && !p->r->refused) check_plain(p, s);
    const bool active = s->to.type != NULL && s->to.type->kind == TYPE_REAL &&
                        s->to.cell != NULL && is_variable(s->to.cell);
    if (active) {
        if (s->to.n != NULL) use_address(p, s->to.n);
        if (s->text == NULL && s->e != NULL) {
            /* what gets its name here has none yet */
            const char **const instead = &p->r->instead[s->e->number], *const name = *instead;
            const bool own = name != NULL && s->to.name != NULL && same(name, s->to.name);
            if (own) *instead = NULL;
            use_partials(p, s->e);
            *instead = name;
        }
    }
    cell *const c = s->to.cell;
    if (c == NULL) return;
    if (p->marking) return;
    const unsigned k = number_of(p, real_cell(c));
    const bool whole = s->to.type != NULL && s->to.type->kind == TYPE_RECORD; /* all fields */
    if (whole || (p->used[k] && !s->again && !is_fresh(p, s->to.n))) {
        p->grown |= !s->push;
        s->push = true;
        /* where it is kept has to be found again */
        for (int pass = 0; pass < 2; pass++) {
            p->marking = pass == 0;
            if (s->to.n != NULL) use_address(p, s->to.n);
            if (s->undo != NULL) use_value(p, s->e); /* it is undone by the same amount */
        }
    }
    if (is_local(p, &s->to))
        p->used[k] =
            s->undo != NULL && s->push; /* what is undone is undone from the new value */
}

/* Made of numbers and local variables that the function never changes. */
static bool is_fixed(const planner *p, const node *n) {
    n = bare(n);
    if (n->kind == NODE_NUMBER) return true;
    if (n->kind == NODE_NAME) {
        if (n->decl->kind == DECL_CONSTANT) return true;
        cell *const c = cell_at(p->r, n);
        return n->decl->owner != NULL && has_one_value(n->decl) && c != NULL && !c->addressed &&
               !version_changes(p->r->v, c);
    }
    return n->kind == NODE_BINARY && !same(n->op, ",") && is_fixed(p, n->child[0]) &&
           is_fixed(p, n->child[1]);
}

/* No less than 0: a number, or the variable of such a loop, or a sum of these. */
static bool not_negative(const planner *p, const node *n) {
    n = bare(n);
    if (n->kind == NODE_NUMBER) return true;
    if (n->kind == NODE_NAME) return range_of(p, n) != NULL;
    return n->kind == NODE_BINARY && (same(n->op, "+") || same(n->op, "*")) &&
           not_negative(p, n->child[0]) && not_negative(p, n->child[1]);
}

static bool is_zero(const node *n) {
    return bare(n)->kind == NODE_NUMBER && same(source(bare(n)), "0");
}

/* After for (i = 0; i < n; i++) { .. x[i] = ..; .. } the elements of x are fresh. */
static void note_fresh(planner *p, const step *s) {
    if (!is_zero(s->from) || s->by != 1 || !same(s->compare, "<") || !is_fixed(p, s->bound))
        return;
    for (size_t i = 0; i < s->body.n; i++) {
        const step *const b = s->body.at[i];
        if (b->kind != STEP_ASSIGN || b->add != 0 || b->to.n == NULL) continue;
        const decl *const d = array_of(p, b->to.n);
        if (d == NULL ||
            cell_at(p->r, bare(bare(b->to.n)->child[1])) != real_cell(s->to.cell) ||
            bare(bare(b->to.n)->child[1])->kind != NODE_NAME)
            continue;
        /* what the loop itself asks for, of this array, it may ask for behind the assignment */
        list one = {NULL, 0, 0};
        planner probe = *p;
        probe.used = arena_get((p->cells + 4096) * sizeof(bool));
        probe.fresh = one;
        for (size_t k = 0; k < s->body.n; k++) {
            list single = {&((void **)s->body.at)[k], 1, 1};
            step *const t = s->body.at[k];
            const bool push_before = t->push;
            walk(&probe, &single);
            t->push = push_before;
        }
        p->cells = probe.cells, p->numbered = probe.numbered;
        if (probe.used[number_of(p, real_cell(b->to.cell))]) continue;
        fresh *const f = arena_get(sizeof *f);
        *f = (fresh){d, real_cell(b->to.cell), print(p->r, s->bound)};
        push(&p->fresh, f);
    }
}

static void walk_loop(planner *p, step *s);

static void walk_counted(planner *p, step *s) {
    range g = {s->to.cell != NULL ? real_cell(s->to.cell) : NULL, print(p->r, s->bound),
               p->ranges};
    const bool ranged =
        s->by > 0 && same(s->compare, "<") && not_negative(p, s->from) && is_fixed(p, s->bound);
    if (ranged) p->ranges = &g;
    walk_loop(p, s);
    p->ranges = g.outer;
    if (!p->marking) note_fresh(p, s);
}

static void walk_loop(planner *p, step *s) {
    if (p->marking) {
        walk(p, &s->body);
        return;
    }
    /* what is fresh at the head of the first turn need not be at that of the second: at least two */
    const size_t fresh_before = p->fresh.n;
    size_t turns = 0;
    for (bool again = true; again || turns < 2; turns++) {
        bool *const before = copy_used(p);
        walk(p, &s->body);
        again = false;
        for (size_t i = 0; i <= p->cells; i++) again |= p->used[i] && !before[i];
        (void)add_used(p, before);
    }
    p->fresh.n = fresh_before; /* it may not have turned at all */
}

static void walk(planner *p, list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        step *const s = steps->at[i];
        switch (s->kind) {
        case STEP_ASSIGN:
            walk_assign(p, s);
            break;
        case STEP_CALL:
            for (size_t k = 0; k < s->args.n; k++) {
                const argument *const g = s->args.at[k];
                if (g->name != NULL) use(p, variable_cell(p, g->name));
                else use_value(p, g->n);
            }
            use_memory(p, s->callee, p->r->v->called[s->call->number], &(list){NULL, 0, 0});
            if (s->to.name != NULL) walk_assign(p, s);
            break;
        case STEP_PLAIN:
            check_plain(p, s);
            break;
        case STEP_ARRAY:
            break;
        case STEP_CLEAR:
            if (!p->marking && s->to.cell != NULL)
                s->push |= p->used[number_of(p, real_cell(s->to.cell))] ||
                           leaf_type(s->to.type)->kind == TYPE_RECORD;
            if (s->to.type->kind == TYPE_RECORD) s->push = true;
            break;
        case STEP_COPY:
            use_value(p, s->to.n);
            if (s->e != NULL) use_value(p, s->e);
            use_value(p, s->call->child[3]);
            if (!p->marking && s->to.cell != NULL)
                s->push |= p->used[number_of(p, real_cell(s->to.cell))];
            break;
        case STEP_IF: {
            if (p->marking) {
                walk(p, &s->body), walk(p, &s->other);
                break;
            }
            bool *const before = copy_used(p);
            const size_t fresh_before = p->fresh.n;
            walk(p, &s->body);
            p->fresh.n = fresh_before;
            bool *const after = copy_used(p);
            memcpy(p->used, before, (p->cells + 1) * sizeof *before);
            walk(p, &s->other);
            p->fresh.n = fresh_before;
            (void)add_used(p, after);
            break;
        }
        case STEP_COUNTED:
            use_value(p, s->from), use_value(p, s->bound);
            if (s->everywhere && !p->marking) {
                const unsigned k = number_of(p, real_cell(s->to.cell));
                s->push |= p->used[k];
            }
            walk_counted(p, s);
            break;
        case STEP_LOOP:
            walk_loop(p, s);
            break;
        }
    }
}

/* ---- what is computed again -------------------------------------------------------------- */

/* Is c a field, which is overwritten with a structure as a whole? */
static bool is_part(const type *t, const cell *c) {
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    return t != NULL && t->kind == TYPE_RECORD && c->declared != NULL &&
           c->declared->kind == DECL_FIELD;
}

static size_t assignments(const list *steps, const cell *c) {
    size_t n = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if ((s->to.cell != NULL && real_cell(s->to.cell) == c) || is_part(s->to.type, c)) n++;
        n += assignments(&s->body, c) + assignments(&s->other, c);
    }
    return n;
}

static size_t mentions_in(planner *p, const node *n, const cell *c) {
    if (n == NULL) return 0;
    const char *const instead = p->r->instead[n->number];
    cell *const own = instead != NULL ? variable_cell(p, instead) : NULL;
    if (own != NULL) return real_cell(own) == c;
    size_t k = n->kind == NODE_NAME && cell_at(p->r, n) == c;
    for (size_t i = 0; i < n->children; i++) k += mentions_in(p, n->child[i], c);
    return k;
}
static size_t mentions(planner *p, const list *steps, const cell *c) {
    size_t n = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        n += mentions_in(p, s->e, c) + mentions_in(p, s->from, c) +
             mentions_in(p, s->bound, c) + mentions_in(p, s->to.n, c);
        for (size_t k = 0; k < s->args.n; k++) {
            const argument *const g = s->args.at[k];
            if (g->name != NULL)
                n += variable_cell(p, g->name) != NULL &&
                     real_cell(variable_cell(p, g->name)) == c;
            else n += mentions_in(p, g->n, c);
        }
        n += mentions(p, &s->body, c) + mentions(p, &s->other, c);
    }
    return n;
}

static bool is_cheap(const node *n) {
    if (n == NULL) return true;
    if (n->kind == NODE_CALL) {
        const node *const f = bare(n->child[0]);
        return f->kind == NODE_NAME &&
               (same(f->decl->name, "fabs") || same(f->decl->name, "sqrt"));
    }
    for (size_t i = 0; i < n->children; i++)
        if (!is_cheap(n->child[i])) return false;
    return true;
}

static bool changes_in(const version *v, const node *n, cell *c, list *seen);
/* May a call of this version change c? */
static bool changes(const version *v, cell *c, list *seen) {
    if (list_has(seen, v)) return false;
    push(seen, (void *)v);
    return changes_in(v, v->function->body, c, seen);
}
/* May this call change c: memcpy and the like what their pointers lead to? */
static bool call_changes(const version *v, const node *n, cell *c, list *seen) {
    const version *const w = v->called[n->number];
    if (w != NULL) return changes(w, c, seen);
    const node *const f = bare(n->child[0]);
    const known_kind k = f->kind == NODE_NAME && f->decl->kind == DECL_FUNCTION
                             ? known_function(f->decl->name, NULL)->kind
                             : KNOWN_NOTHING;
    if (k == KNOWN_PRINT && f->decl->name[0] != 's') return false;
    const size_t end = k == KNOWN_COPY || k == KNOWN_FILL ? 2 : n->children;
    for (size_t i = 1; i < end; i++) {
        const node *x = n->child[i];
        while (x->kind == NODE_CAST || x->kind == NODE_PAREN) x = x->child[0];
        cell *const a = node_cell(v, x);
        if (x->type == NULL || x->type->kind == TYPE_REAL || x->type->kind == TYPE_WHOLE)
            continue;
        if (is_part(leaf_type(x->type), c)) return true;
        if (a != NULL && ((a->target != NULL && real_cell(a->target) == c) || a == c))
            return true;
    }
    return false;
}
static bool changes_in(const version *v, const node *n, cell *c, list *seen) {
    if (n == NULL) return false;
    const bool counts = n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"));
    if ((n->kind == NODE_ASSIGN || counts) &&
        (node_cell(v, n->child[0]) == c || is_part(n->child[0]->type, c)))
        return true;
    if (n->kind == NODE_CALL && call_changes(v, n, c, seen)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (changes_in(v, n->child[i], c, seen)) return true;
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const d = n->decls.at[i];
        if (d->init != NULL && changes_in(v, d->init, c, seen)) return true;
    }
    return false;
}
bool version_changes(const version *v, cell *c) {
    list seen = {NULL, 0, 0};
    return changes(v, real_cell(c), &seen);
}

/* May a call in n, which is run as it stands, change c? What has a name here is run by steps of its own. */
static bool plain_changes(const planner *p, const node *n, const node *top, cell *c) {
    if (n == NULL || (n != top && p->r->instead[n->number] != NULL)) return false;
    list seen = {NULL, 0, 0};
    if (n->kind == NODE_CALL && !is_free(n) && call_changes(p->r->v, n, c, &seen)) return true;
    for (size_t i = 0; i < n->children; i++)
        if (plain_changes(p, n->child[i], top, c)) return true;
    return false;
}

/* By a call that is no step of its own. */
static bool step_changes(const planner *p, const step *s, cell *c) {
    if (s->e == NULL || s->text != NULL) return false;
    const char *const name = p->r->instead[s->e->number];
    const bool own = s->kind == STEP_PLAIN ||
                     (name != NULL && s->to.name != NULL && same(name, s->to.name));
    return plain_changes(p, s->e, own ? s->e : NULL, c);
}

static bool changed_by_calls(const planner *p, const list *steps, cell *c) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        list seen = {NULL, 0, 0};
        if (s->kind == STEP_CALL && call_changes(p->r->v, s->call, c, &seen)) return true;
        if (s->kind == STEP_COPY && s->to.cell != NULL && real_cell(s->to.cell) == c)
            return true;
        if ((s->kind == STEP_PLAIN || s->kind == STEP_ASSIGN) && step_changes(p, s, c))
            return true;
        if (changed_by_calls(p, &s->body, c) || changed_by_calls(p, &s->other, c)) return true;
    }
    return false;
}

/* Is all that n is computed of left alone by the body, or computed again in it? */
static bool is_unchanged(planner *p, const node *n, const list *body, const list *again) {
    if (n == NULL || n->kind == NODE_SIZEOF) return true;
    const char *const instead = p->r->instead[n->number];
    cell *c = instead != NULL ? variable_cell(p, instead) : NULL;
    if (c == NULL && (n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
                      (n->kind == NODE_UNARY && same(n->op, "*"))))
        c = cell_at(p->r, n);
    if (c != NULL) {
        c = real_cell(c);
        if (!list_has(again, c) && (assignments(body, c) != 0 || changed_by_calls(p, body, c)))
            return false;
        if (instead != NULL) return true;
    }
    for (size_t i = n->kind == NODE_CALL; i < n->children; i++)
        if (!is_unchanged(p, n->child[i], body, again)) return false;
    return true;
}

static void again_in(planner *p, list *body, const list *whole) {
    list again = {NULL, 0, 0};
    for (size_t i = 0; i < body->n; i++) {
        step *const s = body->at[i];
        again_in(p, &s->body, whole);
        again_in(p, &s->other, whole);
        if (s->kind != STEP_ASSIGN || s->text != NULL || s->add != 0 || s->e == NULL ||
            !is_local(p, &s->to))
            continue;
        cell *const c = real_cell(s->to.cell);
        if (s->to.type->kind != TYPE_REAL && s->to.type->kind != TYPE_WHOLE) continue;
        if (!c->needed || !is_cheap(s->e) || assignments(whole, c) != 1) continue;
        if (mentions(p, whole, c) != mentions(p, body, c)) continue;
        const list earlier = {body->at, i, i}; /* the value of the turn before is asked for there */
        if (mentions(p, &earlier, c) != 0) continue;
        if (!is_unchanged(p, s->e, body, &again)) continue;
        s->again = true;
        push(&again, c);
    }
}

static void all_again(planner *p, list *steps, const list *whole) {
    for (size_t i = 0; i < steps->n; i++) {
        step *const s = steps->at[i];
        if (s->kind == STEP_COUNTED || s->kind == STEP_LOOP) again_in(p, &s->body, whole);
        else all_again(p, &s->body, whole), all_again(p, &s->other, whole);
    }
}

/* Before the first step: what is needed of the memory that others hand in, and of local variables, may
 * have been used. */
static void set_used(planner *p, bool memory, bool locals) {
    const routine *const r = p->r;
    memset(p->used, 0, (p->cells + 1) * sizeof *p->used);
    p->fresh.n = 0;
    for (size_t i = 0; memory && i < r->v->function->nodes; i++) {
        cell *const c = r->v->of_node[i] != NULL ? real_cell(r->v->of_node[i]) : NULL;
        if (c != NULL && c->needed) p->used[number_of(p, c)] = true;
    }
    for (size_t i = 0; i < r->variables.n; i++) {
        cell *const c = ((variable *)r->variables.at[i])->cell;
        if (c != NULL && !real_cell(c)->addressed)
            p->used[number_of(p, real_cell(c))] = locals && real_cell(c)->needed;
    }
    const list *const globals = &r->a->program->globals;
    for (size_t i = 0; i < globals->n; i++) {
        cell *const c = r->a->of_decl[((decl *)globals->at[i])->number];
        if (c != NULL && real_cell(c)->needed) p->used[number_of(p, real_cell(c))] = memory;
    }
}

bool mark_needed(routine *r) {
    planner p = {.r = r, .marking = true};
    for (size_t i = 0; i < r->stretches.n; i++)
        walk(&p, &((stretch *)r->stretches.at[i])->steps);
    return p.grown;
}

bool plan(routine *r, bool root) {
    planner p = {.r = r, .used = arena_get((r->a->cells + r->own + 4096) * sizeof(bool))};
    list whole = {NULL, 0, 0};
    for (size_t i = 0; i < r->stretches.n; i++) {
        const stretch *const s = r->stretches.at[i];
        for (size_t k = 0; k < s->steps.n; k++) push(&whole, s->steps.at[k]);
    }
    all_again(&p, &whole, &whole);
    for (bool more = true; more;) {
        const bool before = p.grown;
        p.grown = false;
        p.marking = true;
        for (size_t i = 0; i < r->stretches.n; i++)
            walk(&p, &((stretch *)r->stretches.at[i])->steps);
        p.marking = false;
        if (r->jumps) {
            /* whatever is needed may have been used before a piece is run */
            for (size_t i = 0; i < r->stretches.n; i++) {
                set_used(&p, true, true);
                walk(&p, &((stretch *)r->stretches.at[i])->steps);
            }
        } else {
            set_used(&p, !root, false);
            for (size_t i = 0; i < r->stretches.n; i++)
                walk(&p, &((stretch *)r->stretches.at[i])->steps);
        }
        more = p.grown;
        p.grown |= before;
    }
    /* cells are shared by functions: others number them anew */
    for (size_t i = 0; i < p.numbered.n; i++) ((cell *)p.numbered.at[i])->number = 0;
    return p.grown;
}
