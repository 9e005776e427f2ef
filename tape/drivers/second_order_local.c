/* SPDX-License-Identifier: MIT */
/* The local second derivatives of a recording, from its kept code.
 *
 * They depend only on the values on the tape, so they may be computed in any order: statements
 * with the same code are done WGI_POINTS at a time. What has to be computed for a code is
 * planned once, as a list of steps. When a statement is read it gets its place among the
 * entries, one entry for each pair of operands that may have a second derivative; it then waits
 * for others of its code, and the steps are done for all that wait.
 *
 * Letters: g[i], the partial of a node by an operand i below it; h[i][j], the second one, for i
 * <= j; d and s, first and second partials of a node by its arguments. An operand is below one
 * argument only, so that g and h of an argument become those of the node in their places:
 *     h[i][j] = d_k h[i][j] + s_km g[i] g[j],   g[i] = d_k g[i]. */
#include "second_order.h"

#include <string.h>

#include "ops/scalar/scalar_lanes.h"

enum {
    POINTS = WGI_POINTS,
    OPERANDS = WGI_MAX_OPERANDS,
    PAIRS = OPERANDS * (OPERANDS + 1) / 2
};

/* ---- the plan of a code ---- */

/* What a step does, for all points. Those named FIRST take the number before as 1 (slopes) or 0
 * (bends). */
enum {
    LOAD,        /* value[to] = operand `by` */
    NUMBER,      /* value[to] = number `by` */
    NODE,        /* value[to], and the partials d and s, of a node */
    STRETCH,     /* h[to] *= d[by] */
    BEND,        /* h[to] += s[by] g[i] g[j]; an index NONE stands for a g of 1 */
    BEND_FIRST,  /* h[to] = s[by] g[i] g[j] */
    SLOPE,       /* g[to] *= d[by] */
    SLOPE_FIRST, /* g[to] = d[by] */
};
enum { NONE = 255 };
struct step {
    uint8_t what, to, by, i, j;
};
static uint8_t at(int i, int j) { return (uint8_t)(i * OPERANDS + j); }

/* From each node an operand gets at most one slope, and a pair at most a stretch and a bend;
 * and 128 bits of code hold fewer than 32 nodes that have operands below them. */
enum { MOST_STEPS = WGI_MAX_NODES + 32 * (2 * PAIRS + OPERANDS) };

/* A statement that waits for others of its code. */
struct waiting {
    uint64_t place; /* where its first entry stands */
    const uint32_t *slot;
    const double *number;
    uint32_t out;
};

/* The plan for a code, and the statements that wait for it. */
struct lately {
    wgi_bits code;
    unsigned bits; /* how many bits the code has; 0: there is no plan here */
    wgi_statement_code program;
    uint8_t pairs, i[PAIRS], j[PAIRS]; /* the pairs of operands that have entries, i <= j */
    int users;                         /* some of its operations are a user's */
    int steps;
    struct step step[MOST_STEPS];
    int waiting;
    struct waiting statement[POINTS];
};

/* Is first partial k of an operation always 0? Is it always exactly 1? */
static int is_zero(const wg_scalar_op *op, unsigned k) { return op->zero_first >> k & 1; }
static int is_one(const wg_scalar_op *op, unsigned k) {
    const char *const text = op->text[1 + k];
    return text != NULL && text[0] == '1' && text[1] == 0;
}

/* What is known of g and h at a point of the plan. */
struct known {
    enum { ONE, ZERO, ROW } g[OPERANDS];
    unsigned char h[OPERANDS * OPERANDS]; /* is it other than 0? */
};

static void add(struct lately *l, int what, int to, unsigned by, int i, int j) {
    l->step[l->steps++] =
        (struct step){(uint8_t)what, (uint8_t)to, (uint8_t)by, (uint8_t)i, (uint8_t)j};
}

static void plan_stretch(struct lately *l, struct known *q, const struct wgi_step *u,
                         const wg_scalar_op *op, unsigned k) {
    if (is_one(op, k)) return;
    for (int i = u->first; i < u->last; i++)
        for (int j = i; j < u->last; j++) {
            if (is_zero(op, k)) q->h[at(i, j)] = 0;
            if (q->h[at(i, j)]) add(l, STRETCH, at(i, j), k, NONE, NONE);
        }
}

static void plan_bend(struct lately *l, struct known *q, const struct wgi_step *u,
                      const struct wgi_step *v, unsigned pair) {
    for (int i = u->first; i < u->last; i++)
        for (int j = u == v ? i : v->first; j < v->last; j++) {
            if (q->g[i] == ZERO || q->g[j] == ZERO) continue;
            add(l, q->h[at(i, j)] ? BEND : BEND_FIRST, at(i, j), pair,
                q->g[i] == ONE ? NONE : i, q->g[j] == ONE ? NONE : j);
            q->h[at(i, j)] = 1;
        }
}

static void plan_slope(struct lately *l, struct known *q, const struct wgi_step *u,
                       const wg_scalar_op *op, unsigned k) {
    if (is_one(op, k)) return;
    for (int i = u->first; i < u->last; i++) {
        if (is_zero(op, k)) q->g[i] = ZERO;
        if (q->g[i] == ZERO) continue;
        add(l, q->g[i] == ONE ? SLOPE_FIRST : SLOPE, i, k, NONE, NONE);
        q->g[i] = ROW;
    }
}

/* Removes steps whose results nothing needs, from the last step backwards. */
static void plan_needed(struct lately *l, const struct known *q) {
    unsigned char value[WGI_MAX_NODES] = {0}, g[OPERANDS] = {0}, h[OPERANDS * OPERANDS];
    int partials = 0, left = l->steps; /* partials: are d and s of the previous node needed? */
    memcpy(h, q->h, sizeof h);
    for (int k = l->steps; k-- > 0;) {
        const struct step *const s = &l->step[k];
        int needed = 0;
        switch (s->what) {
        case LOAD:
        case NUMBER:
            needed = value[s->to];
            break;
        case NODE:
            needed = value[s->to] || partials;
            for (unsigned m = 0; needed && m < l->program.node[s->to].op->arity; m++)
                value[l->program.node[s->to].arg[m]] = 1;
            partials = 0;
            break;
        case STRETCH:
            needed = h[s->to];
            break;
        case BEND:
        case BEND_FIRST:
            needed = h[s->to];
            if (needed && s->i != NONE) g[s->i] = 1;
            if (needed && s->j != NONE) g[s->j] = 1;
            if (s->what == BEND_FIRST) h[s->to] = 0;
            break;
        default:
            needed = g[s->to];
            if (s->what == SLOPE_FIRST) g[s->to] = 0;
        }
        if (needed && s->what > NODE) partials = 1;
        if (needed) l->step[--left] = *s;
    }
    l->steps -= left;
    memmove(l->step, l->step + left, (size_t)l->steps * sizeof *l->step);
}

static void plan(struct lately *l, const wgi_entry *e) {
    const wgi_statement_code *const p = &l->program;
    struct known q = {0};
    unsigned number = 0;
    l->code = e->code;
    l->bits = e->bits;
    wgi_statement_code_of(e, &l->program);
    l->steps = l->users = l->pairs = 0;
    for (int i = 0; i < p->operands; i++) add(l, LOAD, i, (unsigned)i, NONE, NONE);
    for (int i = p->operands; i < p->nodes; i++) {
        const struct wgi_step *const n = &p->node[i];
        const wg_scalar_op *const op = n->op;
        if (op == NULL) {
            add(l, NUMBER, i, number++, NONE, NONE);
            continue;
        }
        number += (unsigned)wgi_is_users(op);
        l->users += wgi_is_users(op);
        add(l, NODE, i, 0, NONE, NONE);
        for (unsigned k = 0; k < op->arity; k++)
            plan_stretch(l, &q, &p->node[n->arg[k]], op, k);
        for (unsigned k = 0, pair = 0; op->second != NULL && k < op->arity; k++)
            for (unsigned m = k; m < op->arity; m++, pair++)
                if (!(op->zero_second >> pair & 1))
                    plan_bend(l, &q, &p->node[n->arg[k]], &p->node[n->arg[m]], pair);
        for (unsigned k = 0; k < op->arity; k++) plan_slope(l, &q, &p->node[n->arg[k]], op, k);
    }
    for (uint8_t i = 0; i < p->operands; i++)
        for (uint8_t j = i; j < p->operands; j++)
            if (q.h[at(i, j)]) l->i[l->pairs] = i, l->j[l->pairs++] = j;
    plan_needed(l, &q);
}

/* ---- its steps ---- */

typedef struct work {
    wgi_lane_row value[WGI_MAX_NODES], g[OPERANDS], h[OPERANDS * OPERANDS], d[4], s[10];
} work;

/* to = d p, by the zero rule. */
typedef double pair_of_doubles __attribute__((vector_size(16), aligned(8), may_alias));
_Static_assert(POINTS == 8, "a row is four pairs");
static inline void product(const double *d, const double *p, double *to) {
    const pair_of_doubles *const a = (const void *)d, *const b = (const void *)p;
    const pair_of_doubles v0 = a[0] * b[0], v1 = a[1] * b[1], v2 = a[2] * b[2],
                          v3 = a[3] * b[3];
    const __typeof__(v0 != v0) odd = (v0 != v0) | (v1 != v1) | (v2 != v2) | (v3 != v3);
    if (__builtin_expect((odd[0] | odd[1]) != 0, 0)) {
        for (int l = 0; l < POINTS; l++) to[l] = wgi_product(d[l], p[l]);
        return;
    }
    pair_of_doubles *const v = (void *)to;
    v[0] = v0, v[1] = v1, v[2] = v2, v[3] = v3;
}

/* Computes d and s of an operation of the user's, and its value, point by point. */
static void differentiate(const wg_scalar_op *op, const double *const *x, double *v,
                          wgi_lane_row *d, wgi_lane_row *s) {
    for (int l = 0; l < POINTS; l++) {
        double a[4], first[4], second[10];
        for (unsigned k = 0; k < op->arity; k++) a[k] = x[k][l];
        if (op->second != NULL) {
            v[l] = op->second(a, first, second);
        } else {
            v[l] = op->value(a);
            op->first(a, v[l], first);
        }
        for (unsigned k = 0, pair = 0; k < op->arity; k++) {
            d[k][l] = first[k];
            for (unsigned m = k; m < op->arity && op->second != NULL; m++, pair++)
                s[pair][l] = second[pair];
        }
    }
}

static void evaluate(work *w, const struct wgi_step *n, double *v) {
    const double *x[4];
    for (unsigned k = 0; k < n->op->arity; k++) x[k] = w->value[n->arg[k]];
    if (wgi_is_users(n->op)) differentiate(n->op, x, v, w->d, w->s);
    else wgi_scalar_second_lanes[n->op - wgi_scalar_ops](x, v, w->d, w->s);
}

static inline void bend(work *w, const struct step *s) {
    double *const h = w->h[s->to];
    const double *by = w->s[s->by];
    wgi_lane_row add;
    if (s->i != NONE && s->j != NONE) {
        product(w->g[s->i], w->g[s->j], add);
        product(by, add, add);
        by = add;
    } else if (s->i != NONE || s->j != NONE) {
        product(by, w->g[s->i != NONE ? s->i : s->j], add);
        by = add;
    }
    if (s->what == BEND_FIRST) memcpy(h, by, sizeof add);
    else
        for (int l = 0; l < POINTS; l++) h[l] += by[l];
}

/* Stores entry k of a statement: d2 out / d i d j. */
static inline void store(wgi_record *entries, const struct waiting *s, int k, int i, int j,
                         double h) {
    wgi_record *const e = &entries[s->place + (uint64_t)k];
    e->in0 = s->slot[i], e->out = s->out, e->in1 = s->slot[j];
    e->kind = WGI_SECOND_LOCAL;
    e->jac0 = h;
}

/* Computes and stores the entries of all statements that wait for this plan. */
static void settle(wgi_core *c, struct lately *all) {
    const int count = all->waiting;
    work w;
    if (count == 0) return;
    for (int l = count; l < POINTS; l++) all->statement[l] = all->statement[0];
    for (const struct step *s = all->step; s < all->step + all->steps; s++) switch (s->what) {
        case LOAD:
            for (int l = 0; l < POINTS; l++)
                w.value[s->to][l] = wgi_values(c)[all->statement[l].slot[s->by]];
            break;
        case NUMBER:
            for (int l = 0; l < POINTS; l++)
                w.value[s->to][l] = all->statement[l].number[s->by];
            break;
        case NODE:
            evaluate(&w, &all->program.node[s->to], w.value[s->to]);
            break;
        case STRETCH:
            product(w.d[s->by], w.h[s->to], w.h[s->to]);
            break;
        case BEND:
        case BEND_FIRST:
            bend(&w, s);
            break;
        case SLOPE:
            product(w.d[s->by], w.g[s->to], w.g[s->to]);
            break;
        default:
            memcpy(w.g[s->to], w.d[s->by], sizeof w.g[0]);
        }
    wgi_record *const entries = (wgi_record *)(void *)c->second.base;
    for (int k = 0; k < all->pairs; k++) {
        const int i = all->i[k], j = all->j[k];
        const double *const h = w.h[at(i, j)];
        if (i == j)
            for (int l = 0; l < count; l++) store(entries, &all->statement[l], k, i, j, h[l]);
        else /* the same variable twice: the second derivative counts once for either order */
            for (int l = 0; l < count; l++) {
                const uint32_t *const slot = all->statement[l].slot;
                store(entries, &all->statement[l], k, i, j,
                      slot[i] == slot[j] ? 2 * h[l] : h[l]);
            }
    }
    all->waiting = 0;
}

/* ---- the recording ---- */

/* Is that the plan for the entry? A user's operations have to be the same, too. */
static int is_plan_of(const struct lately *l, const wgi_entry *e) {
    const wgi_statement_code *const p = &l->program;
    if (l->bits != e->bits || l->code != e->code) return 0;
    if (l->users == 0) return 1;
    size_t number = 0;
    for (int i = p->operands; i < p->nodes; i++) {
        const wg_scalar_op *const op = p->node[i].op;
        if (op != NULL && !wgi_is_users(op)) continue;
        if (op != NULL && memcmp(&op, &e->number[number], sizeof op) != 0) return 0;
        number++;
    }
    return 1;
}

static wg_status need(wgi_core *c, size_t entries) {
    const size_t used = (size_t)c->second_records * sizeof(wgi_record);
    const size_t bytes = used + entries * sizeof(wgi_record);
    return wgi_extent_need(c, &c->second, bytes, used);
}

/* Plans for the codes that came last, each in its own place or one of the next WAYS: in a loop
 * several statements take turns. */
enum { LATELY_BITS = 4, LATELY = 1 << LATELY_BITS, WAYS = 3 };

static wg_status take_statement(wgi_core *c, const wgi_entry *e, struct lately *lately) {
    const uint64_t mixed = (uint64_t)(e->code >> 64 ^ e->code) * UINT64_C(0x9e3779b97f4a7c15);
    const size_t own = (size_t)(mixed >> (64 - LATELY_BITS));
    struct lately *l = &lately[own];
    for (size_t k = 0; !is_plan_of(l, e); l = &lately[(own + ++k) % LATELY])
        if (l->bits == 0 || k == WAYS) {
            settle(c, l);
            plan(l, e);
            break;
        }
    if (l->pairs == 0) return WG_OK;
    const wg_status s = need(c, l->pairs);
    if (s != WG_OK) return s;
    l->statement[l->waiting].place = c->second_records;
    l->statement[l->waiting].slot = e->slot;
    l->statement[l->waiting].number = e->number;
    l->statement[l->waiting].out = e->out;
    c->second_records += l->pairs;
    if (++l->waiting == POINTS) settle(c, l);
    return WG_OK;
}

static wg_status take_array(wgi_core *c, const wgi_entry *e, uint64_t word) {
    if (e->operands > c->second_longest) c->second_longest = e->operands;
    if (wgi_array_linear(e->op)) return WG_OK;
    const wg_status s = need(c, 1);
    if (s != WG_OK) return s;
    wgi_record *const entries = (wgi_record *)(void *)c->second.base;
    entries[c->second_records++] =
        (wgi_record){.out = e->out, .kind = WGI_SECOND_WHOLE, .jac0 = (double)word};
    return WG_OK;
}

wg_status wgi_second_prepare(wgi_core *c) {
    if (c->second_words == c->head.code_words && c->head.code_words != 0) return WG_OK;
    c->second_words = c->second_records = c->second_longest = 0;
    const uint64_t used = c->scratch_used;
    wg_status s = wgi_extent_need(c, &c->second, 0, 0);
    if (s == WG_OK) s = wgi_scratch_need(c, LATELY * sizeof(struct lately) + 64);
    if (s != WG_OK) return s;
    struct lately *const lately = wgi_scratch(c, LATELY * sizeof *lately);
    for (size_t k = 0; k < LATELY; k++) lately[k].bits = 0, lately[k].waiting = 0;
    wgi_entry e;
    for (uint64_t word = 0, next; word < c->head.code_words && s == WG_OK; word = next) {
        next = wgi_code_read(c, word, &e);
        if (e.type == WGI_ENTRY_STATEMENT) s = take_statement(c, &e, lately);
        else if (e.type == WGI_ENTRY_ARRAY) s = take_array(c, &e, word);
    }
    for (size_t k = 0; k < LATELY && s == WG_OK; k++) settle(c, &lately[k]);
    c->scratch_used = used;
    if (s == WG_OK) c->second_words = c->head.code_words;
    return s;
}
