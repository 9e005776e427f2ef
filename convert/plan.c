/* SPDX-License-Identifier: MIT */
/* plan.c - which old values are kept on the stack. A value is kept where it is overwritten after it was
 * used by a step whose derivative asks for it again (Hascoet, Naumann, Pascual, "To be recorded"
 * analysis in reverse-mode automatic differentiation, 2005). What a loop's body computes of values that
 * the body does not change is computed again instead, if that is cheap. */
#include <string.h>
#include "convert/planner.h"

static void number_one(list *numbered, cell *c) {
    if (c->number != 0) return;
    push(numbered, c);
    c->number = (unsigned)numbered->n;
}
static unsigned number_of(planner *p, cell *c) {
    p->grown |= c->number == 0; /* what was known of all lacks it */
    number_one(p->numbered, c);
    return c->number;
}
static bool has(const cell_flags *f, unsigned k) { return k < f->room && f->at[k]; }
static void set(cell_flags *f, unsigned k, bool to) {
    if (k >= f->room) {
        const cell_flags before = *f;
        f->room = 2 * (size_t)k + 64;
        f->at = arena_get(f->room * sizeof *f->at);
        if (before.room != 0) memcpy(f->at, before.at, before.room * sizeof *f->at);
    }
    f->at[k] = to;
}
static cell_flags copy_of(const planner *p, const cell_flags *f) {
    cell_flags c = {NULL, 0};
    for (unsigned k = 1; k <= p->numbered->n; k++)
        if (has(f, k)) set(&c, k, true);
    return c;
}
static void add(const planner *p, cell_flags *to, const cell_flags *more) {
    for (unsigned k = 1; k <= p->numbered->n; k++)
        if (has(more, k)) set(to, k, true);
}

cell *variable_cell(const planner *p, const char *name) {
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
    } else set(&p->used, number_of(p, c), true);
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
        (c == NULL || c->addressed || !has_one_value(x->decl) || version_changes(p->r->v, c)))
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

static void use_address(planner *p, const node *n);

/* All that the value of n is computed of. */
static void use_value(planner *p, const node *n) {
    if (n == NULL || n->kind == NODE_SIZEOF) return;
    const char *const instead = p->r->instead[n->number];
    const kept_call *const kept = p->r->results[n->number];
    if (kept != NULL && !kept->partial) return;
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
    if (n->kind == NODE_UNARY && same(n->op, "&")) {
        use_address(p, n->child[0]);
        return;
    }
    if (n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
        (n->kind == NODE_UNARY && same(n->op, "*"))) {
        if (n->type != NULL &&
            n->type->kind == TYPE_ARRAY) { /* the address of its first element */
            use_address(p, n);
            return;
        }
        use(p, cell_at(p->r, n));
    }
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
    if (n->kind == NODE_CHOICE) {
        use_value(p, n->child[0]);
        for (size_t i = n->children == 3; i < n->children; i++) use_partials(p, n->child[i]);
        return;
    }
    const char *const name = operation_of(r, n);
    if (name == NULL) {
        if (is_scaled(n)) {
            use_partials(p, n->child[1]);
            use_value(p, n->child[2]);
        } else if (n->kind == NODE_UNARY && same(n->op, "+")) use_partials(p, n->child[0]);
        else use_address(p, n);
        return;
    }
    const node *arg[4];
    const size_t k = operands_of(n, arg);
    const kept_call *const kept = r->results[n->number];
    for (size_t i = 0; i < k; i++) {
        if (!step_is_active(r, arg[i])) continue;
        use_partials(p, arg[i]);
        if (kept != NULL && kept->partial) continue;
        const char *const s = partial_text(name, i);
        for (size_t j = 0; j < k; j++)
            if (mentions_letter(s, (char)('a' + (int)j)) ||
                (kept == NULL && mentions_letter(s, 'v')))
                use_value(p, arg[j]);
    }
}

bool is_local(const planner *p, const target *t) {
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

/* A call without variables is not turned round: it must not change what is asked for again. */
static void check_plain(planner *p, const step *s) {
    if (p->marking || s->e == NULL) return;
    for (size_t i = 0; i < p->numbered->n; i++) {
        cell *const c = p->numbered->at[i];
        if (!has(&p->used, c->number) || !step_changes(p, s, c)) continue;
        error_at(
            place_of(s->e),
            "'%s' cannot be turned round: it changes numbers that derivatives ask for again",
            source(s->e));
        p->r->refused = true;
        return;
    }
}

/* What is needed again of the memory that a call is led to: the function must keep it. `like` and `v` as above,
 * and for what they call. */
static void enter_memory(planner *p, routine *into, const version *like, const version *v,
                         list *seen) {
    if (v == NULL || like == NULL || list_has(seen, v)) return;
    push(seen, (void *)v);
    for (size_t i = 0; i < v->function->nodes; i++) {
        enter_memory(p, into, like->called[i], v->called[i], seen);
        if (v->of_node[i] == NULL || like->of_node[i] == NULL) continue;
        cell *const c = real_cell(like->of_node[i]);
        if (!has(&p->used, number_of(p, real_cell(v->of_node[i]))) ||
            !has(&into->outside, c->number) || has(&into->entered, c->number))
            continue;
        set(&into->entered, c->number, true);
        p->grown = true;
    }
}
static void enter(planner *p, const version *like, const version *v) {
    for (size_t i = 0; i < p->routines->n; i++) {
        routine *const r = p->routines->at[i];
        if (r->v == like) enter_memory(p, r, like, v, &(list){NULL, 0, 0});
    }
}

static void walk_assign(planner *p, step *s) {
    if (s->text == NULL && s->e != NULL && !p->r->refused) check_plain(p, s);
    if (s->again) use_value(p, s->e);
    if (s->to.type != NULL && s->to.type->kind == TYPE_RECORD && s->text == NULL) {
        use_address(p, s->e); /* where their shadows are */
        if (s->to.n != NULL) use_address(p, s->to.n);
    }
    const bool active = s->to.type != NULL && s->to.type->kind == TYPE_REAL &&
                        s->to.cell != NULL && is_variable(s->to.cell);
    for (size_t i = 0; i < s->factors.n; i++) {
        const factor *const x = s->factors.at[i];
        if (!same(x->how, "%s")) use(p, x->of.cell);
    }
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
    const bool result = s->to.name != NULL && same(s->to.name, "wgc_result");
    const bool whole =
        s->to.type != NULL && s->to.type->kind == TYPE_RECORD && !result; /* all fields */
    if (whole || (has(&p->used, k) && !s->again && !is_fresh(p, s->to.n))) {
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
        set(&p->used, k,
            s->undo != NULL && s->push); /* what is undone is undone from the new value */
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
        probe.used = (cell_flags){NULL, 0};
        probe.fresh = one;
        for (size_t k = 0; k < s->body.n; k++) {
            list single = {&((void **)s->body.at)[k], 1, 1};
            step *const t = s->body.at[k];
            const bool push_before = t->push;
            walk(&probe, &single);
            t->push = push_before;
        }
        p->grown |= probe.grown;
        if (has(&probe.used, number_of(p, real_cell(b->to.cell)))) continue;
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
        const cell_flags before = copy_of(p, &p->used);
        walk(p, &s->body);
        again = false;
        for (unsigned k = 1; k <= p->numbered->n; k++)
            again |= has(&p->used, k) && !has(&before, k);
        add(p, &p->used, &before);
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
            if (!p->marking) enter(p, s->callee, p->r->v->called[s->call->number]);
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
                s->push |= has(&p->used, number_of(p, real_cell(s->to.cell))) ||
                           leaf_type(s->to.type)->kind == TYPE_RECORD;
            if (s->to.type->kind == TYPE_RECORD) s->push = true;
            break;
        case STEP_COPY:
            use_value(p, s->to.n);
            if (s->e != NULL) use_value(p, s->e);
            use_value(p, s->call->child[3]);
            if (!p->marking && s->to.cell != NULL)
                s->push |= has(&p->used, number_of(p, real_cell(s->to.cell))) ||
                           leaf_type(s->to.type)->kind == TYPE_RECORD;
            break;
        case STEP_IF: {
            if (p->marking) {
                walk(p, &s->body), walk(p, &s->other);
                break;
            }
            const cell_flags before = copy_of(p, &p->used);
            const size_t fresh_before = p->fresh.n;
            walk(p, &s->body);
            p->fresh.n = fresh_before;
            const cell_flags after = p->used;
            p->used = before;
            walk(p, &s->other);
            p->fresh.n = fresh_before;
            add(p, &p->used, &after);
            break;
        }
        case STEP_COUNTED:
            use_value(p, s->from), use_value(p, s->bound);
            if (s->everywhere && !p->marking) {
                const unsigned k = number_of(p, real_cell(s->to.cell));
                s->push |= has(&p->used, k);
            }
            walk_counted(p, s);
            break;
        case STEP_LOOP:
            walk_loop(p, s);
            break;
        }
    }
}

/* The memory that a cell is, or leads to. */
static void add_outside(list *numbered, cell_flags *to, cell *c) {
    for (; c != NULL; c = c->target) {
        c = real_cell(c);
        number_one(numbered, c);
        if (has(to, c->number)) return;
        set(to, c->number, true);
    }
}

/* What others than the function reach: memory that parameters, fields, globals and statics lead to. What only
 * the function itself has is new for each call. */
static void find_outside(routine *r, list *numbered) {
    const program *const all = r->a->program;
    for (size_t i = 0; i < r->v->function->parameters.n; i++) {
        const decl *const d = r->v->function->parameters.at[i];
        cell *const c = r->v->of_decl[d->index];
        if (c != NULL) add_outside(numbered, &r->outside, real_cell(c)->target);
    }
    if (r->v->result != NULL)
        add_outside(numbered, &r->outside, real_cell(r->v->result)->target);
    for (size_t i = 0; i < r->v->function->locals.n; i++) {
        const decl *const d = r->v->function->locals.at[i];
        if (d->is_static) add_outside(numbered, &r->outside, r->v->of_decl[d->index]);
    }
    for (size_t i = 0; i < all->globals.n; i++)
        add_outside(numbered, &r->outside, r->a->of_decl[((decl *)all->globals.at[i])->number]);
    for (size_t i = 0; i < all->records.n; i++) {
        const record *const of = all->records.at[i];
        for (size_t k = 0; k < of->fields.n; k++)
            add_outside(numbered, &r->outside,
                        r->a->of_decl[((decl *)of->fields.at[k])->number]);
    }
}

/* Before the first step: what the callers need again; and what is remembered from call to call. */
static void set_used(planner *p) {
    const routine *const r = p->r;
    p->used = (cell_flags){NULL, 0};
    p->fresh.n = 0;
    cell_flags may = copy_of(p, &r->entered);
    for (size_t i = 0; i < r->v->function->locals.n; i++) {
        const decl *const d = r->v->function->locals.at[i];
        if (d->is_static) add_outside(p->numbered, &may, r->v->of_decl[d->index]);
    }
    for (unsigned k = 1; k <= p->numbered->n; k++)
        if (has(&may, k))
            set(&p->used, k, has(&r->entered, k) || ((cell *)p->numbered->at[k - 1])->needed);
}

/* Before a piece, where nobody knows which pieces were run: whatever is needed. */
static void set_all_used(planner *p) {
    p->used = (cell_flags){NULL, 0};
    p->fresh.n = 0;
    for (size_t i = 0; i < p->numbered->n; i++) {
        cell *const c = p->numbered->at[i];
        set(&p->used, c->number, c->needed || has(&p->r->entered, c->number));
    }
}

/* Before a piece that is run once: what may be needed behind any of those before. */
static void walk_all(planner *p) {
    cell_flags seen = copy_of(p, &p->used);
    for (size_t i = 0; i < p->r->stretches.n; i++) {
        stretch *const s = p->r->stretches.at[i];
        if (p->r->jumps && !p->marking) {
            p->used = copy_of(p, &seen);
            p->fresh.n = 0;
            if (s->repeated) set_all_used(p);
        }
        walk(p, &s->steps);
        if (p->r->jumps && !p->marking) add(p, &seen, &p->used);
    }
}

/* One routine: true, if it finds more than before. */
static bool plan_routine(const list *routines, list *numbered, routine *r) {
    planner p = {.r = r, .routines = routines, .numbered = numbered};
    list whole = {NULL, 0, 0};
    for (size_t i = 0; i < r->stretches.n; i++) {
        const stretch *const s = r->stretches.at[i];
        for (size_t k = 0; k < s->steps.n; k++) push(&whole, s->steps.at[k]);
    }
    for (size_t i = 0; i < r->stretches.n; i++)
        all_again(&p, &((stretch *)r->stretches.at[i])->steps, &whole, false);
    bool found = false;
    do {
        found |= p.grown;
        p.grown = false;
        p.marking = true;
        walk_all(&p);
        p.marking = false;
        set_used(&p);
        walk_all(&p);
    } while (p.grown);
    return found;
}

void plan(const list *routines) {
    list numbered = {NULL, 0, 0};
    for (size_t i = 0; i < routines->n; i++) {
        routine *const r = routines->at[i];
        find_outside(r, &numbered);
        for (size_t k = 0; k < r->variables.n; k++) {
            cell *const c = ((variable *)r->variables.at[k])->cell;
            if (c != NULL) number_one(&numbered, real_cell(c));
        }
        for (size_t k = 0; k < r->v->function->nodes; k++)
            if (r->v->of_node[k] != NULL) number_one(&numbered, real_cell(r->v->of_node[k]));
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < routines->n; i++) {
            planner p = {.r = routines->at[i],
                         .routines = routines,
                         .numbered = &numbered,
                         .marking = true};
            walk_all(&p);
            more |= p.grown;
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < routines->n; i++)
            more |= plan_routine(routines, &numbered, routines->at[i]);
    }
}
