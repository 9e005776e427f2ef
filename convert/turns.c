/* SPDX-License-Identifier: MIT */
/* turns.c - a loop within a region, forwards: what goes from turn to turn is carried with its
 * derivatives by what there was before the loop, d(x, l), and a turn with local derivatives w
 * gives d(x, l) = sum w(x, y) d(y, l) + w(x, l).
 *
 * Which numbers are carried, and on what they depend, is known when a turn has been run: it is
 * run again until nothing is added. */
#include <string.h>
#include "convert/region.h"

/* What a leaf of a turn's graph stands for, where that is no vertex of the graph around:
 * carried number k is -2 - k,
 * and stream k FIRST_STREAM - k. */
enum { FIRST_STREAM = -1000 };
static bool is_stream(int outer) { return outer <= FIRST_STREAM; }
static bool is_carried(int outer) { return outer < NO_VERTEX && !is_stream(outer); }

enum { MOST_CARRIED = 16, MOST_CARRIED_DERIVATIVES = 32, MOST_PASSES = 8, MOST_NESTED = 3 };

/* A derivative by a vertex of the graph around. */
typedef struct by {
    int outer;
    const char *name;
} by;

typedef struct carried {
    place p;
    const char *value; /* the name that holds it */
    number entry;
    by on[MOST_CARRIED_DERIVATIVES];
    size_t n;
    int leaf; /* in the graph of a turn */
    bool
        sums; /* a sum: what differs from turn to turn is added to it, and goes to the tape in each */
} carried;

struct turns {
    const node *n;
    struct turns *outer;
    carried *at[MOST_CARRIED];
    size_t n_carried, derivatives;
    list loads;        /* place: what is read in a turn, and before the loop instead */
    list streams;      /* const char: variables that differ from turn to turn */
    const char *terms; /* what collects them */
    bool grown, singular;
    bool broken; /* what follows in the turn may not be reached */
    unsigned depth, nested, names;
    frame *frame;
};

static bool is_break(const node *n) {
    if (n == NULL) return false;
    if (n->kind == NODE_BLOCK && n->children == 1) return is_break(n->child[0]);
    return n->kind == NODE_BREAK;
}

bool leaves_turns(const region *r, const node *n) {
    return r->turns != NULL && r->depth == r->turns->depth && n->children == 2 &&
           is_break(n->child[1]);
}

static carried *carried_place(const struct turns *t, const char *key) {
    for (size_t i = 0; i < t->n_carried; i++)
        if (same(t->at[i]->p.key, key)) return t->at[i];
    return NULL;
}

static by *derivative_by(const carried *c, int outer) {
    for (size_t i = 0; i < c->n; i++)
        if (c->on[i].outer == outer) return (by *)&c->on[i];
    return NULL;
}

static bool depends(region *r, carried *c, int outer) {
    struct turns *const t = r->turns;
    if (derivative_by(c, outer) != NULL) return true;
    if (t->derivatives == MOST_CARRIED_DERIVATIVES) return false;
    c->on[c->n++] = (by){outer, chain_name(&r->x)};
    t->derivatives++, t->grown = true;
    return true;
}

/* ---- at the end of a turn ---------------------------------------------------------------- */

chain copy_chain(const chain *c) {
    chain to = {arena_get((c->n + 1) * sizeof *to.at), c->n, c->n};
    for (size_t i = 0; i < c->n; i++) {
        to.at[i] = c->at[i];
        vertex *const v = &to.at[i];
        v->in = arena_get((v->n + 1) * sizeof *v->in);
        v->room = v->n;
        if (v->n != 0) memcpy(v->in, c->at[i].in, v->n * sizeof *v->in);
    }
    return to;
}

/* Places that were assigned to in the turn are carried. */
static bool find_carried(region *r, const place *before, size_t n_before) {
    struct turns *const t = r->turns;
    for (size_t i = 0; i < r->n; i++) {
        const place *const p = &r->at[i];
        if (!p->dirty || p->order <= r->turns_began || carried_place(t, p->key) != NULL)
            continue;
        const place *old = NULL;
        for (size_t k = 0; k < n_before; k++)
            if (same(before[k].key, p->key)) old = &before[k];
        if (old == NULL && p->d != NULL && declared_in(t->n, p->d)) continue;
        if (t->n_carried == MOST_CARRIED) return false;
        carried *const c = arena_get(sizeof *c);
        *c = (carried){.p = *p, .value = chain_name(&r->x)};
        t->at[t->n_carried++] = c;
        t->grown = true;
    }
    return true;
}

static const char *term(const edge *e, const char *d, bool careful) {
    if (e->unit == 1) return d;
    if (e->unit == -1) return format("-%s", d);
    return format(careful ? "wg_chain(%s, %s)" : "%s * %s", e->weight, d);
}

/* The number of a turn's end, as the graph of the turn has it. */
static const place *place_now(const region *r, const char *key) {
    for (size_t i = 0; i < r->n; i++)
        if (same(r->at[i].key, key)) return &r->at[i];
    return NULL;
}

/* Assigns to what is carried, as places are now. */
static bool put_updates(region *r) {
    struct turns *const t = r->turns;
    chain c = copy_chain(&r->level->chain);
    for (size_t v = 0; v < c.n; v++) c.at[v].kept = false;
    int end[MOST_CARRIED];
    const char *value[MOST_CARRIED];
    for (size_t i = 0; i < t->n_carried; i++) {
        const place *const p = place_now(r, t->at[i]->p.key);
        end[i] = NO_VERTEX, value[i] = NULL;
        if (p == NULL || p->now.value == NULL) continue; /* not in this pass */
        const number x = here(r, p->now);
        value[i] = x.value;
        if (x.vertex == NO_VERTEX) continue;
        if ((size_t)x.vertex >= c.n) return false;
        end[i] = chain_vertex(&c, x.value);
        chain_edge(&c, &r->x, end[i], (edge){.from = x.vertex, .unit = 1});
        c.at[end[i]].kept = true;
    }
    chain_eliminate(&c, &r->x, true);
    for (bool more = true; more;) { /* on what each depends */
        const size_t before = t->derivatives;
        for (size_t i = 0; i < t->n_carried; i++)
            for (size_t k = 0; end[i] != NO_VERTEX && k < c.at[end[i]].n; k++) {
                const edge *const e = &c.at[end[i]].in[k];
                const int outer = c.at[e->from].outer;
                t->singular |= e->singular;
                if (outer >= 0 && !depends(r, t->at[i], outer)) return false;
                if (is_stream(outer) && !t->at[i]->sums) {
                    for (size_t m = 0; m < t->n_carried; m++)
                        if (t->at[m]->sums) return false; /* one at a time */
                    t->at[i]->sums = t->grown = true;
                }
                const carried *const y = is_carried(outer) ? t->at[-2 - outer] : NULL;
                if (y != NULL && y->sums && (y != t->at[i] || e->unit != 1)) return false;
                if (y == t->at[i] && y->sums) continue;
                for (size_t m = 0; y != NULL && m < y->n; m++)
                    if (!depends(r, t->at[i], y->on[m].outer)) return false;
            }
        more = t->derivatives != before;
    }
    for (size_t i = 0; i < t->n_carried && !t->grown; i++) {
        bool goes_on = !t->at[i]->sums; /* each turn adds to what the turn before has left */
        for (size_t k = 0; end[i] != NO_VERTEX && k < c.at[end[i]].n; k++) {
            const edge *const e = &c.at[end[i]].in[k];
            goes_on |= c.at[e->from].outer == -2 - (int)i && e->unit == 1;
        }
        if (!goes_on) return false;
    }
    text assignments = {NULL, 0, 0};
    for (size_t i = 0; i < t->n_carried; i++) {
        const carried *const x = t->at[i];
        if (value[i] == NULL || same(value[i], x->value)) continue;
        for (size_t k = 0; k < t->n_carried; k++)
            if (same(value[i], t->at[k]->value)) { /* as it is before any is assigned to */
                value[i] = chain_name(&r->x);
                putf(&r->x.to, "%sconst double %s = %s;\n", r->x.indent, value[i],
                     t->at[k]->value);
                break;
            }
        putf(&assignments, "%s%s = %s;\n", r->x.indent, x->value, value[i]);
        for (size_t k = 0; end[i] != NO_VERTEX && k < c.at[end[i]].n; k++) {
            const edge *const e = &c.at[end[i]].in[k];
            const int outer = c.at[e->from].outer;
            if (is_stream(outer))
                putf(&r->x.to, "%swg_terms_add(&%s, %s, %s);\n", r->x.indent, t->terms,
                     (const char *)t->streams.at[FIRST_STREAM - outer],
                     e->unit == 0  ? e->weight
                     : e->unit > 0 ? "1"
                                   : "-1");
        }
        for (size_t l = 0; l < x->n; l++) {
            text sum = {NULL, 0, 0};
            for (size_t k = 0; end[i] != NO_VERTEX && k < c.at[end[i]].n; k++) {
                const edge *const e = &c.at[end[i]].in[k];
                const int outer = c.at[e->from].outer;
                const char *add = NULL;
                if (outer == x->on[l].outer)
                    add = e->unit == 0 ? e->weight : e->unit > 0 ? "1" : "-1";
                if (is_carried(outer)) {
                    const by *const d = derivative_by(t->at[-2 - outer], x->on[l].outer);
                    if (d != NULL) add = term(e, d->name, t->singular);
                }
                if (add != NULL) putf(&sum, "%s%s", sum.n != 0 ? " + " : "", add);
            }
            const char *const s = sum.n != 0 ? text_of(&sum) : "0";
            if (same(s, x->on[l].name)) continue;
            const char *const name = chain_name(&r->x);
            putf(&r->x.to, "%sconst double %s = %s;\n", r->x.indent, name, s);
            putf(&assignments, "%s%s = %s;\n", r->x.indent, x->on[l].name, name);
        }
    }
    put(&r->x.to, text_of(&assignments));
    return !r->failed;
}

/* Is it another place in each turn? */
static bool varies(region *r, const struct turns *t, const place *p) {
    place one = *p;
    region alone = *r;
    alone.at = &one, alone.n = 1, alone.failed = false, alone.frame = t->frame,
    alone.asks = true;
    one.dirty = false;
    r->w->v = t->frame->v;
    forget_assigned(&alone, t->n);
    r->w->v = r->frame->v;
    if (alone.n == 0 || alone.failed) return true;
    const char *s =
        *p->key == '@' || p->local ? "" : p->key; /* an index that is declared in the loop */
    while ((s = strstr(s, "wgc_")) != NULL) {
        unsigned k = 0;
        for (s += 4; *s >= '0' && *s <= '9'; s++) k = 10 * k + (unsigned)(*s - '0');
        if (k > t->names) return true;
    }
    return false;
}

bool read_in_turn(region *r, const place *p, number *x) {
    struct turns *const t = r->turns;
    if (t == NULL || t->outer != NULL || !varies(r, t, p)) return false;
    const char *const name = chain_name(&r->x);
    if (r->depth == t->depth)
        putf(&r->x.to, "%sconst wg_real %s = %s;\n", r->x.indent, name, p->key);
    else {
        putf(&r->before, "%swg_real %s = wg_constant(0);\n", r->indent, name);
        putf(&r->x.to, "%s%s = %s;\n", r->x.indent, name, p->key);
    }
    level *l = r->level;
    for (unsigned k = r->depth; k > t->depth; k--) l = l->outer;
    *x = (number){format("%s.value", name), NO_VERTEX, t->depth};
    x->vertex = chain_leaf(&l->chain, NULL, x->value, FIRST_STREAM - (int)t->streams.n);
    push(&t->streams, (void *)name);
    r->vertices++;
    *x = here(r, *x);
    return true;
}

bool load_before_turns(region *r, const place *p) {
    struct turns *const t = r->turns;
    if (t == NULL) return true;
    if (varies(r, t, p)) return false;
    if (!p->local && (r->depth != t->depth || t->broken)) return false;
    place *const own = arena_get(sizeof *own);
    *own = *p;
    push(&t->loads, own);
    t->grown = true;
    return true;
}

/* if (..) break; */
bool run_break(region *r, const node *n) {
    if (!stands_as_it_is(r, n->child[0])) return false;
    const char *const cond = write_number(r->w, n->child[0]), *const indent = r->x.indent;
    forget_assigned(r, n->child[0]);
    if (r->failed || !find_carried(r, r->turns_before, r->turns_n)) return false;
    putf(&r->x.to, "%sif (%s) {\n", indent, cond);
    r->x.indent = format("%s    ", indent);
    r->turns->broken = true;
    const bool good = put_updates(r);
    putf(&r->x.to, "%sbreak;\n%s}\n", r->x.indent, indent);
    r->x.indent = indent;
    return good;
}

/* ---- a loop ------------------------------------------------------------------------------ */

/* What stands at the place before the loop; `cond`: whether there is a turn at all. */
static bool enter(region *r, const place *p, const char *cond, number *entry) {
    const place *const old = place_now(r, p->key);
    if (old != NULL) {
        *entry = old->now;
        return !old->stale && old->now.value != NULL;
    }
    if (*p->key == '@' || (p->d != NULL && is_declared_here(r, p->d))) { /* nothing yet */
        *entry = (number){"0", NO_VERTEX, r->depth};
        return true;
    }
    if (!p->local && cond == NULL) return false;
    /* where the loop does not turn, memory is left alone */
    if (!p->local && *cond != 0) r->guarded = cond;
    *entry = read_place(r, p);
    r->guarded = NULL;
    return !r->failed;
}

/* A condition, as it is before the first turn; "": there is none; NULL: it does more than to
 * ask. */
static const char *condition_before(region *r, const node *n) {
    const node *const test = n->kind == NODE_WHILE ? n->child[0]
                             : n->kind == NODE_DO  ? NULL
                                                   : n->child[1];
    if (test == NULL) return "";
    if (!stands_as_it_is(r, test)) return NULL;
    const char *const s = write_number(r->w, test);
    return strstr(s, "++") != NULL || strstr(s, "--") != NULL || strchr(s, '=') != NULL ? NULL
                                                                                        : s;
}

/* Has nothing been assigned to that is another place in the next turn? */
static bool places_stay(region *r, const struct turns *t) {
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i].dirty && !r->at[i].local && varies(r, t, &r->at[i])) return false;
    return !r->failed;
}

static bool one_turn(region *r, const node *n, text *head, text *body, const char **cond) {
    const node *const test = n->kind == NODE_WHILE ? n->child[0] : n->child[1],
                      *const inner = n->kind == NODE_FOR  ? n->child[3]
                                     : n->kind == NODE_DO ? n->child[0]
                                                          : n->child[1];
    r->x.to = (text){NULL, 0, 0};
    *cond = "";
    if (test != NULL) {
        if (!stands_as_it_is(r, test)) return false;
        *cond = write_number(r->w, test);
    }
    *head = r->x.to;
    r->x.to = (text){NULL, 0, 0};
    if (r->failed || !run_statement(r, inner)) return false;
    if (n->kind == NODE_FOR && n->child[2] != NULL && !run_statement(r, n->child[2]))
        return false;
    if (!find_carried(r, r->turns_before, r->turns_n) || !put_updates(r)) return false;
    *body = r->x.to;
    return true;
}

/* What was collected is a variable, of which a carried number is the sum with others. */
static void add_sum(region *r, const struct turns *t, int sum) {
    const char *const name = chain_name(&r->x);
    if (r->depth == 0)
        putf(&r->x.to, "%sconst wg_real %s = wg_terms_close(&%s, 0);\n", r->x.indent, name,
             t->terms);
    else {
        putf(&r->before, "%swg_real %s = wg_constant(0);\n", r->indent, name);
        putf(&r->x.to, "%s%s = wg_terms_close(&%s, 0);\n", r->x.indent, name, t->terms);
    }
    level *outermost = r->level;
    while (outermost->outer != NULL) outermost = outermost->outer;
    const number x = {"0", chain_leaf(&outermost->chain, name, "0", NO_VERTEX), 0};
    chain_edge(&r->level->chain, &r->x, sum, (edge){.from = here(r, x).vertex, .unit = 1});
}

/* Every turn writes to what is carried. False: two of these may be one place. */
static bool outdate_by_turns(region *r, const struct turns *t) {
    for (size_t i = 0; i < t->n_carried; i++) outdate_others(r, &t->at[i]->p);
    for (size_t i = 0; i < t->n_carried; i++)
        if (place_now(r, t->at[i]->p.key)->stale) return false;
    return true;
}

bool run_turns(region *r, const node *n) {
    struct turns t = {.n = n,
                      .outer = r->turns,
                      .depth = r->depth + 1,
                      .nested = r->turns != NULL ? r->turns->nested + 1 : 0};
    const char *const indent = r->x.indent;
    if (t.nested >= MOST_NESTED || r->depth >= 6) return false;
    if (n->kind == NODE_FOR && n->child[0] != NULL && !run_statement(r, n->child[0]))
        return false;
    forget_assigned(r, n);
    if (r->failed) return false;
    const snapshot start = save_region(r);
    const char *cond = "";
    for (unsigned pass = 0; pass < MOST_PASSES; pass++) {
        restore_region(r, &start);
        const char *const is_run = condition_before(r, n);
        if (r->failed) return false;
        const size_t loads = t.loads.n, n_carried = t.n_carried;
        t.grown = t.broken = false;
        t.streams.n = 0;
        t.terms = chain_name(&r->x);
        for (size_t i = 0; i < t.loads.n; i++) {
            number x;
            if (carried_place(&t, ((place *)t.loads.at[i])->key) == NULL &&
                !enter(r, t.loads.at[i], is_run, &x))
                return false;
        }
        for (size_t i = 0; i < t.n_carried; i++) {
            carried *const c = t.at[i];
            if (!enter(r, &c->p, is_run, &c->entry)) return false;
            c->entry = here(r, c->entry);
            r->turns = &t;
            const bool good = c->entry.vertex == NO_VERTEX || depends(r, c, c->entry.vertex);
            r->turns = t.outer;
            if (!good) return false;
        }
        /* a leaf that the turn made in the graph around would be gone behind it */
        for (size_t i = 0; i < r->n; i++)
            if (!r->at[i].stale && r->at[i].now.value != NULL) (void)here(r, r->at[i].now);
        const text before = r->x.to;
        const snapshot entered = save_region(r);
        const place *const turns_before = r->turns_before;
        const size_t turns_n = r->turns_n;
        const unsigned began = r->turns_began;
        t.names = *r->x.names, t.frame = r->frame;
        level turn = {.outer = r->level};
        r->level = &turn, r->depth++, r->turns = &t;
        r->turns_before = entered.at, r->turns_n = entered.n, r->turns_began = r->order;
        r->x.indent = format("%s    ", indent);
        for (size_t i = 0; i < t.n_carried; i++) {
            carried *const c = t.at[i];
            c->leaf = chain_leaf(&turn.chain, NULL, c->value, -2 - (int)i);
            place p = c->p;
            p.now = (number){c->value, c->leaf, r->depth};
            p.dirty = true, p.stale = false, p.order = 0;
            replace_place(r, &p);
        }
        const bool apart = outdate_by_turns(r, &t);
        text head, body;
        const bool good = apart && one_turn(r, n, &head, &body, &cond) && places_stay(r, &t);
        unsigned order = r->order;
        r->level = turn.outer, r->depth--, r->turns = t.outer;
        r->turns_before = turns_before, r->turns_n = turns_n, r->turns_began = began;
        r->x.indent = indent;
        r->x.to = before;
        if (!good) return false;
        if (t.loads.n != loads ||
            t.n_carried != n_carried) { /* vertices have other numbers next time */
            for (size_t i = 0; i < t.n_carried; i++) t.at[i]->n = 0;
            t.derivatives = 0;
        }
        if (t.grown) continue;
        const size_t records = r->records;
        const char *const declared =
            copy_text(r->before.s + entered.before, r->before.n - entered.before);
        restore_region(r, &entered);
        r->records = records;
        put(&r->before, declared);
        for (size_t i = 0; i < t.n_carried; i++) {
            carried *const c = t.at[i];
            putf(&r->x.to, "%sdouble %s = %s;\n", indent, c->value, c->entry.value);
            for (size_t l = 0; l < c->n; l++)
                putf(&r->x.to, "%sdouble %s = %s;\n", indent, c->on[l].name,
                     c->on[l].outer == c->entry.vertex ? "1" : "0");
        }
        bool sums = false;
        for (size_t i = 0; i < t.n_carried; i++) sums |= t.at[i]->sums;
        if (sums)
            putf(&r->x.to, "%swg_terms %s = wg_terms_open(%s);\n", indent, t.terms, r->w->tape);
        putf(&r->x.to, "%sfor (;;) {\n", indent);
        const char *const test =
            *cond != 0 ? format("%s    if (!(%s)) break;\n", indent, cond) : "";
        if (n->kind == NODE_DO) putf(&r->x.to, "%s%s%s", text_of(&body), text_of(&head), test);
        else putf(&r->x.to, "%s%s%s", text_of(&head), test, text_of(&body));
        putf(&r->x.to, "%s}\n", indent);
        for (size_t i = 0; i < t.n_carried; i++) {
            carried *const c = t.at[i];
            number x = {c->value, NO_VERTEX, r->depth};
            if (c->n != 0 || c->sums) x.vertex = chain_vertex(&r->level->chain, c->value);
            for (size_t l = 0; l < c->n; l++)
                chain_edge(&r->level->chain, &r->x, x.vertex,
                           (edge){.from = c->on[l].outer,
                                  .weight = c->on[l].name,
                                  .singular = t.singular});
            if (c->sums) add_sum(r, &t, x.vertex);
            place p = c->p;
            p.now = x, p.dirty = true, p.stale = false, p.order = ++order;
            replace_place(r, &p);
            r->vertices++;
        }
        (void)outdate_by_turns(r, &t);
        r->order = order;
        forget_assigned(r, n);
        return !r->failed;
    }
    return false;
}
