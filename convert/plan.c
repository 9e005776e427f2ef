/* SPDX-License-Identifier: MIT */
/* plan.c - which old values are kept on the stack. A value is kept where it is overwritten
 * after it was used by a step whose derivative asks for it again (Hascoet, Naumann, Pascual,
 * "To be recorded" analysis in reverse-mode automatic differentiation, 2005). What a loop's
 * body computes of values that the body does not change is computed again instead, if that
 * is cheap. */
#include <string.h>
#include "convert/planner.h"

static void walk(planner *p, list *steps);

/* What a call asks for again, of the memory that it is led to: `like` is whose text it runs,
 * `v` what is known of this call. */
static void use_memory(planner *p, const version *like, const version *v, list *seen) {
    if (v == NULL || list_has(seen, v)) return;
    push(seen, (void *)v);
    for (size_t i = 0; i < v->function->nodes; i++) {
        cell *c = like->of_node[i], *of = v->of_node[i];
        for (int k = 0; k < 2 && c != NULL && of != NULL;
             k++) { /* routines of BLAS go behind a pointer */
            c = real_cell(c), of = real_cell(of);
            if (c->needed) use(p, of);
            c = c->target, of = of->target;
        }
        if (v->called[i] != NULL && like->called[i] != NULL)
            use_memory(p, v->called[i]->like, v->called[i], seen);
        const cell *const f = function_of_node(v, i); /* it may be called there */
        for (size_t k = 0; f != NULL && k < f->versions.n; k++) {
            const version *const w = f->versions.at[k];
            use_memory(p, w->like, w, seen);
        }
    }
}

static bool has_call(const node *n) {
    if (n == NULL || n->kind == NODE_CALL) return n != NULL;
    for (size_t i = 0; i < n->children; i++)
        if (has_call(n->child[i])) return true;
    return false;
}

/* From now on it has a way there and a way back, as functions with variables have. */
static void turn_round(planner *p, const version *v) {
    for (size_t i = 0; i < p->r->a->versions.n; i++) {
        version *const w = p->r->a->versions.at[i];
        if (w->like == v->like) w->touched = true;
    }
    *p->turned = true;
}

/* A call without variables is run as it stands, and must not change what is asked for again:
 * a function that does is turned round, too. */
static void check_plain(planner *p, const step *s) {
    if (p->marking || !has_call(s->e)) return;
    for (unsigned k = next_flag(&p->used, 1); k != 0; k = next_flag(&p->used, k + 1)) {
        const node *const call = step_changes(p, s, p->numbered->at[k - 1]);
        if (call == NULL) continue;
        const version *const v = p->r->v->called[call->number];
        if (v != NULL) {
            turn_round(p, v);
            continue;
        }
        error_at(
            place_of(s->e),
            "'%s' cannot be turned round: it changes numbers that derivatives ask for again",
            source(s->e));
        p->r->refused = true;
        return;
    }
}

static void enter_cell(planner *p, routine *into, const cell *c, cell *of) {
    if (!has_flag(&p->used, cell_number(p, of)) || !has_flag(&into->outside, c->number) ||
        has_flag(&into->entered, c->number))
        return;
    set_flag(&into->entered, c->number, true);
    p->grown = true;
}

/* What is needed again of the memory that a call is led to: the function must keep it. `like`
 * and `v` as above, and for what they call. */
static void enter_memory(planner *p, routine *into, const version *like, const version *v,
                         list *seen) {
    if (v == NULL || like == NULL || list_has(seen, v)) return;
    push(seen, (void *)v);
    for (size_t i = 0; i < v->function->nodes; i++) {
        enter_memory(p, into, like->called[i], v->called[i], seen);
        const cell *const f = function_of_node(v, i), *const g = function_of_node(like, i);
        for (size_t k = 0; f != NULL && g != NULL && k < f->versions.n && k < g->versions.n;
             k++)
            enter_memory(p, into, g->versions.at[k], f->versions.at[k], seen);
        cell *c = like->of_node[i], *of = v->of_node[i];
        for (int k = 0; k < 2 && c != NULL && of != NULL;
             k++) { /* memset goes behind a pointer */
            c = real_cell(c), of = real_cell(of);
            enter_cell(p, into, c, of);
            c = c->target, of = of->target;
        }
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
    const unsigned k = cell_number(p, real_cell(c));
    const bool result = s->to.name != NULL && same(s->to.name, "wgc_result");
    const bool whole =
        s->to.type != NULL && s->to.type->kind == TYPE_RECORD && !result; /* all fields */
    if (whole || (has_flag(&p->used, k) && !s->again && !is_fresh(p, s->to.n))) {
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
        set_flag(&p->used, k,
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
        if (has_flag(&probe.used, cell_number(p, real_cell(b->to.cell)))) continue;
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
    /* what is fresh at the head of the first turn need not be at that of the second: at
     * least two */
    const size_t fresh_before = p->fresh.n;
    size_t turns = 0;
    for (bool again = true; again || turns < 2; turns++) {
        const cell_flags before = copy_flags(&p->used);
        walk(p, &s->body);
        again = !has_all_flags(&before, &p->used);
        add_flags(&p->used, &before);
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
            if (!p->marking) enter(p, s->callee, s->called);
            use_memory(p, s->callee, s->called, &(list){NULL, 0, 0});
            if (s->to.name != NULL) walk_assign(p, s);
            break;
        case STEP_PLAIN:
            check_plain(p, s);
            break;
        case STEP_ARRAY:
            break;
        case STEP_CLEAR:
            if (!p->marking && s->to.cell != NULL)
                s->push |= has_flag(&p->used, cell_number(p, real_cell(s->to.cell))) ||
                           leaf_type(s->to.type)->kind == TYPE_RECORD;
            if (s->to.type->kind == TYPE_RECORD) s->push = true;
            break;
        case STEP_SORT:
            use_value(p, s->to.n);
            use_value(p, s->call->child[2]);
            use_value(p, s->call->child[3]);
            break;
        case STEP_ROUTINE:
            walk_routine(p, s);
            if (s->to.name != NULL) walk_assign(p, s);
            break;
        case STEP_COPY:
            use_value(p, s->to.n);
            if (s->e != NULL) use_value(p, s->e);
            use_value(p, s->call->child[3]);
            if (!p->marking && s->to.cell != NULL)
                s->push |= has_flag(&p->used, cell_number(p, real_cell(s->to.cell))) ||
                           leaf_type(s->to.type)->kind == TYPE_RECORD;
            break;
        case STEP_IF: {
            if (p->marking) {
                walk(p, &s->body), walk(p, &s->other);
                break;
            }
            const cell_flags before = copy_flags(&p->used);
            const size_t fresh_before = p->fresh.n;
            walk(p, &s->body);
            p->fresh.n = fresh_before;
            const cell_flags after = p->used;
            p->used = before;
            walk(p, &s->other);
            p->fresh.n = fresh_before;
            add_flags(&p->used, &after);
            break;
        }
        case STEP_COUNTED:
            use_value(p, s->from), use_value(p, s->bound);
            if (s->everywhere && !p->marking) {
                const unsigned k = cell_number(p, real_cell(s->to.cell));
                s->push |= has_flag(&p->used, k);
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
        if (has_flag(to, c->number)) return;
        set_flag(to, c->number, true);
    }
}

/* What others than the function reach: memory that parameters, fields, globals and statics lead
 * to. What only the function itself has is new for each call. */
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

/* Before the first step: what the callers need again; and what is remembered from call to
 * call. */
static void set_used(planner *p) {
    const routine *const r = p->r;
    p->fresh.n = 0;
    cell_flags may = copy_flags(&r->entered), kept = copy_flags(&r->entered);
    for (size_t i = 0; i < r->v->function->locals.n; i++) {
        const decl *const d = r->v->function->locals.at[i];
        if (d->is_static) add_outside(p->numbered, &may, r->v->of_decl[d->index]);
    }
    add_flags(&kept, p->needed);
    keep_flags(&may, &kept);
    p->used = may;
}

/* Before a piece, where nobody knows which pieces were run: whatever is needed. */
static void set_all_used(planner *p) {
    p->used = copy_flags(p->needed);
    p->fresh.n = 0;
    add_flags(&p->used, &p->r->entered);
}

/* Before a piece that is run once: what may be needed behind any of those before. */
static void walk_all(planner *p) {
    cell_flags seen = copy_flags(&p->used);
    for (size_t i = 0; i < p->r->stretches.n; i++) {
        stretch *const s = p->r->stretches.at[i];
        if (p->r->jumps && !p->marking) {
            p->used = copy_flags(&seen);
            p->fresh.n = 0;
            if (s->repeated) set_all_used(p);
        }
        walk(p, &s->steps);
        if (p->r->jumps && !p->marking) add_flags(&seen, &p->used);
    }
}

/* One routine: true, if it finds more than before. */
static bool plan_routine(const planner *all, routine *r) {
    planner p = *all;
    p.r = r;
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

bool plan(const list *routines) {
    list numbered = {NULL, 0, 0};
    cell_flags needed = {NULL, 0};
    bool turned = false;
    const planner all = {
        .routines = routines, .numbered = &numbered, .needed = &needed, .turned = &turned};
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
            planner p = all;
            p.r = routines->at[i], p.marking = true;
            walk_all(&p);
            more |= p.grown;
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < routines->n; i++) more |= plan_routine(&all, routines->at[i]);
    }
    for (size_t i = 0; turned && i < numbered.n; i++) {
        cell *const c = numbered.at[i];
        c->number = 0, c->needed = false;
    }
    return !turned;
}
