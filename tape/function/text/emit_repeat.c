/* SPDX-License-Identifier: MIT */
/* Repeats as loops of the text.
 *
 *     NAME_body0     the body, a function of one point; where nothing is carried, of many
 *     got[i]         results: of what is carried all states, if they are wanted
 *     given[i]       operands that do not stand next to each other in an array as they are
 *     given0[i] ...  operands that are numbers
 *     terms[i]       of sums over the steps
 *     from, to       arguments of the body */
#include "emit.h"

#include <stdio.h>
#include <string.h>

/* What becomes of an output. */
enum { NOT_WANTED, AT_END, ALL };

struct wgi_repeat_layout {
    size_t size;           /* of r */
    size_t *at;            /* of each output, its first place in r; NULL: no repeat */
    unsigned char *wanted; /* of each output */
    size_t *part_at;       /* of each output, its first part */
};

static size_t size_of(const wg_argument *a) { return wgi_argument_size(a); }

int wgi_emit_bodies_check(wgi_core *c, const char *call, const wg_function *f, int *beyond) {
    for (size_t k = 0; k < f->repeats; k++) {
        const wg_function *const body = f->repeat[k].body;
        wgi_writer s;
        if (wgi_writer_open(&s, c, call, body, "wgi") != WG_OK) return 0;
        wgi_need_all(&s, 0);
        *beyond |= wgi_needs_beyond_c99(&s);
        if (!wgi_emit_bodies_check(c, call, body, beyond)) return 0;
    }
    return c->status == WG_OK;
}

/* ---- layout ---- */

static const wgi_repeat *repeat_of(const wgi_writer *w, uint32_t node) {
    return &w->f->repeat[w->f->node[node].part];
}

static struct wgi_repeat_layout *layout_of(wgi_writer *w, uint32_t node) {
    const wgi_repeat *const r = repeat_of(w, node);
    const size_t outputs = r->body->outputs;
    wg_tape *const t = &w->c->head;
    struct wgi_repeat_layout *const l = wg_tape_keep(t, sizeof *l, NULL);
    if (l == NULL) return NULL;
    l->at = wg_tape_keep(t, (outputs + 1) * sizeof *l->at, NULL);
    l->part_at = wg_tape_keep(t, (outputs + 1) * sizeof *l->part_at, NULL);
    l->wanted = wg_tape_keep(t, outputs + 1, NULL);
    if (w->c->status != WG_OK) return NULL;
    memset(l->wanted, NOT_WANTED, outputs + 1);
    wgi_repeat_starts(r, NULL, l->part_at);
    return l;
}

/* All results of a node that is no repeat, one after the other. */
static struct wgi_repeat_layout *layout_of_all(wgi_writer *w, uint32_t node) {
    struct wgi_repeat_layout *const l = wg_tape_keep(&w->c->head, sizeof *l, NULL);
    const wgi_node_shape shape = wgi_node_shape_of(&w->f->node[node], NULL);
    if (l != NULL) *l = (struct wgi_repeat_layout){shape.parts, NULL, NULL, NULL};
    return l;
}

/* The output that a part is of. */
static size_t output_of(const wgi_repeat *r, const struct wgi_repeat_layout *l, uint32_t part) {
    size_t low = 0, high = r->body->outputs;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (l->part_at[middle] <= part) low = middle;
        else high = middle;
    }
    while (l->part_at[low + 1] <= part) low++; /* beyond empty ones */
    return low;
}

static int is_at_end(const wgi_repeat *r, const struct wgi_repeat_layout *l, size_t output,
                     uint32_t part) {
    const wg_argument *const a = &r->body->output[output];
    return wgi_is_carried(a) && part - l->part_at[output] >= r->steps * size_of(a);
}

static void place(const wgi_repeat *r, struct wgi_repeat_layout *l) {
    l->size = 0;
    for (size_t j = 0; j < r->body->outputs; j++) {
        const size_t n = size_of(&r->body->output[j]);
        const size_t all = wgi_repeat_parts_of(r, j);
        l->at[j] = l->size;
        l->size += l->wanted[j] == ALL ? all : l->wanted[j] == AT_END ? n : 0;
    }
}

void wgi_emit_repeat_slots(wgi_writer *w) {
    const wg_function *const f = w->f;
    if (!wgi_function_has_wholes(f)) return;
    w->layout = wg_tape_keep(&w->c->head, (f->nodes + 1) * sizeof *w->layout, NULL);
    if (w->layout == NULL) return;
    for (uint32_t i = 0; i < f->nodes; i++) {
        w->layout[i] = NULL;
        if (wgi_node_has_parts(&f->node[i]) && w->unit[i] != WGI_NO_NODE)
            w->layout[i] =
                f->node[i].kind == WGI_NODE_REPEAT ? layout_of(w, i) : layout_of_all(w, i);
    }
    if (w->c->status != WG_OK) return;
    for (uint32_t i = 0; i < f->nodes; i++) { /* the parts that are there are wanted */
        const wgi_node *const n = &f->node[i];
        struct wgi_repeat_layout *const l =
            n->kind == WGI_NODE_PART ? w->layout[f->operand[n->first]] : NULL;
        if (l == NULL || l->at == NULL) continue;
        const wgi_repeat *const r = repeat_of(w, f->operand[n->first]);
        const size_t j = output_of(r, l, n->part);
        const unsigned char wanted = is_at_end(r, l, j, n->part) ? AT_END : ALL;
        if (wanted > l->wanted[j]) l->wanted[j] = wanted;
    }
    for (uint32_t i = 0; i < f->nodes; i++) {
        struct wgi_repeat_layout *const l = w->layout[i];
        if (l == NULL) continue;
        if (l->at != NULL) place(repeat_of(w, i), l);
        size_t *const slots =
            w->apart && f->node[i].when != WGI_EACH ? &w->uniforms : &w->slots;
        w->slot[i] = (uint32_t)*slots;
        *slots += l->size;
    }
    for (uint32_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t of = n->kind == WGI_NODE_PART ? f->operand[n->first] : 0;
        const struct wgi_repeat_layout *const l =
            n->kind == WGI_NODE_PART ? w->layout[of] : NULL;
        if (l == NULL) continue;
        if (l->at == NULL) {
            w->slot[i] = w->slot[of] + n->part;
            continue;
        }
        const wgi_repeat *const r = repeat_of(w, of);
        const size_t j = output_of(r, l, n->part);
        const size_t skipped =
            l->wanted[j] == AT_END ? r->steps * size_of(&r->body->output[j]) : 0;
        w->slot[i] = w->slot[of] + (uint32_t)(l->at[j] + n->part - l->part_at[j] - skipped);
    }
}

int wgi_emit_repeat_compares(const wgi_writer *w, uint32_t unit) {
    for (size_t i = w->start[unit]; i < w->start[unit + 1]; i++)
        if (w->f->node[w->list[i]].kind == WGI_NODE_REPEAT &&
            wgi_repeat_guards(repeat_of(w, w->list[i])->body) != 0)
            return 1;
    return 0;
}

/* ---- operands ---- */

/* Where a node stands, if it is an element of an array. */
typedef struct address {
    enum { NOWHERE, NUMBER, ARGUMENT, LANES, SLOTS } kind;
    const char *array;
    size_t at;
    double value;
} address;

static address address_of(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const int uniform = w->apart && n->when != WGI_EACH;
    address a = {NOWHERE, "", 0, n->value};
    if (n->kind == WGI_NODE_NUMBER) a.kind = NUMBER;
    else if (n->kind == WGI_NODE_INPUT && !w->apart)
        a = (address){ARGUMENT, w->in[w->argument[node]], w->entry[node], 0};
    else if (w->slot[node] != WGI_NO_NODE && !w->folded[node])
        a = (address){w->apart && !uniform ? LANES : SLOTS,
                      uniform                     ? "u"
                      : n->kind == WGI_NODE_INPUT ? "x"
                                                  : "t",
                      w->slot[node], 0};
    return a;
}

wgi_spelling wgi_emit_leaf(const wgi_writer *w, uint32_t node) {
    const address a = address_of(w, node);
    if (a.kind == NOWHERE) return wgi_spell("t%u", wgi_number_of(w, node));
    return wgi_spell(a.kind == LANES ? "%s[%zu][l]" : "%s[%zu]", a.array, a.at);
}

/* How many of the `count` nodes from the first one stand one after the other, or are the same
 * number. */
static size_t run_of(const wgi_writer *w, const uint32_t *node, size_t count, address *a) {
    *a = address_of(w, node[0]);
    size_t run = 1;
    for (; run < count && a->kind != NOWHERE; run++) {
        const address b = address_of(w, node[run]);
        if (b.kind != a->kind || strcmp(a->array, b.array) != 0) break;
        if (a->kind != NUMBER && b.at != a->at + run) break;
        if (a->kind == NUMBER && memcmp(&a->value, &b.value, sizeof a->value) != 0) break;
    }
    return run;
}

static int all_numbers(const wgi_writer *w, const uint32_t *node, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (w->f->node[node[k]].kind != WGI_NODE_NUMBER) return 0;
    return count != 0;
}

void wgi_emit_gather(wgi_writer *w, const char *to, size_t at, const uint32_t *node,
                     size_t count) {
    enum { FEW = 4 };
    for (size_t k = 0, run; k < count; k += run) {
        address a;
        run = run_of(w, node + k, count - k, &a);
        if (run < FEW) {
            run = 1;
            wgi_line(w, 1, "%s[%zu] = ", to, at + k);
            wgi_write_operand(w, node[k], WGI_PLACE_SUM);
            wgi_put(w, ";\n");
        } else if (a.kind == ARGUMENT || a.kind == SLOTS) {
            wgi_line(w, 1, "memcpy(%s + %zu, %s + %zu, %zu * sizeof(double));\n", to, at + k,
                     a.array, a.at, run);
        } else {
            wgi_line(w, 1, "for (size_t k = 0; k < %zu; k++) %s[%zu + k] = ", run, to, at + k);
            if (a.kind == NUMBER) wgi_text_number(&w->o, a.value);
            else wgi_put(w, "%s[%zu + k][l]", a.array, a.at);
            wgi_put(w, ";\n");
        }
    }
}

static void table(wgi_writer *w, size_t input, const uint32_t *node, size_t count) {
    wgi_line(w, 1, "static const double given%zu[] = {", input);
    for (size_t k = 0; k < count; k++) {
        if (k != 0) wgi_put(w, k % 8 == 0 ? ",\n            " : ", ");
        wgi_text_number(&w->o, w->f->node[node[k]].value);
    }
    wgi_put(w, "};\n");
}

/* ---- results ---- */

int wgi_emit_is_laned(const wgi_writer *w, uint32_t node) {
    return w->apart && w->f->node[node].when == WGI_EACH;
}

const char *wgi_emit_results(const wgi_writer *w, uint32_t node) {
    return w->apart && !wgi_emit_is_laned(w, node) ? "u" : "t";
}

void wgi_emit_spread(wgi_writer *w, uint32_t node, size_t count) {
    if (wgi_emit_is_laned(w, node))
        wgi_line(w, 1, "for (size_t k = 0; k < %zu; k++) t[%u + k][l] = got[k];\n", count,
                 w->slot[node]);
    else
        wgi_line(w, 1, "memcpy(%s + %u, got, %zu * sizeof(double));\n",
                 wgi_emit_results(w, node), w->slot[node], count);
}

/* ---- a repeat ---- */

typedef struct loop {
    wgi_writer *w;
    const wgi_repeat *r;
    const wg_function *f; /* the body */
    const struct wgi_repeat_layout *l;
    const uint32_t *operand;
    uint32_t node;
    size_t carried;
    address *from;    /* of each input: where its operands stand; NOWHERE: in `given` */
    size_t *given_at; /* of each input, in `given` */
    size_t *terms_at; /* of each output, in `terms` */
    size_t given, terms;
} loop;

static int open(loop *q, wgi_writer *w, uint32_t node) {
    wg_tape *const t = &w->c->head;
    memset(q, 0, sizeof *q);
    q->w = w, q->node = node;
    q->r = repeat_of(w, node);
    q->f = q->r->body;
    q->l = w->layout[node];
    q->operand = w->f->operand + w->f->node[node].first;
    q->carried = wgi_body_carried(q->r->body);
    q->from = wg_tape_keep(t, (q->f->inputs + 1) * sizeof *q->from, NULL);
    q->given_at = wg_tape_keep(t, (q->f->inputs + 1) * sizeof *q->given_at, NULL);
    q->terms_at = wg_tape_keep(t, (q->f->outputs + 1) * sizeof *q->terms_at, NULL);
    return w->c->status == WG_OK;
}

/* Is it a sum over the steps that somebody wants? */
static int is_summed(const loop *q, size_t j) {
    const wg_argument *const a = &q->f->output[j];
    return !wgi_is_carried(a) && !wgi_is_stepped(a) && q->l->wanted[j] != NOT_WANTED;
}

/* Where operands come from, and how much of them and of results has to be put somewhere. */
static void choose_places(loop *q) {
    const uint32_t *node = q->operand;
    for (size_t i = 0; i < q->f->inputs; i++) {
        const size_t count = wgi_repeat_operands_of(q->r, i);
        address *const a = &q->from[i];
        *a = (address){NOWHERE, "", 0, 0};
        q->given_at[i] = q->given;
        if (i < q->carried) { /* the state at the start, and one more, if not in `got` */
            if (q->l->wanted[i] != ALL) q->given += 2 * count;
        } else if (all_numbers(q->w, node, count)) a->kind = NUMBER;
        else if (count == 0 || run_of(q->w, node, count, a) != count ||
                 (a->kind != ARGUMENT && a->kind != SLOTS)) {
            a->kind = NOWHERE;
            q->given += count;
        }
        node += count;
    }
    for (size_t j = 0; j < q->f->outputs; j++) {
        q->terms_at[j] = q->terms;
        if (q->carried != 0 && is_summed(q, j)) q->terms += size_of(&q->f->output[j]);
    }
}

static void declare(loop *q) {
    wgi_writer *const w = q->w;
    const uint32_t *node = q->operand;
    for (size_t i = 0; i < q->f->inputs; i++) {
        const size_t count = wgi_repeat_operands_of(q->r, i);
        if (q->from[i].kind == NUMBER) table(w, i, node, count);
        node += count;
    }
    if (wgi_emit_is_laned(w, q->node))
        wgi_line(w, 1, "double got[%zu];\n", q->l->size + (q->l->size == 0));
    else
        wgi_line(w, 1, "double *const got = %s + %u;\n", wgi_emit_results(w, q->node),
                 w->slot[q->node]);
    if (q->given != 0) wgi_line(w, 1, "double given[%zu];\n", q->given);
    if (q->terms != 0) wgi_line(w, 1, "double terms[%zu];\n", q->terms);
    wgi_line(w, 1, "const double *from[%zu];\n", q->f->inputs + (q->f->inputs == 0));
    wgi_line(w, 1, "double *to[%zu];\n", q->f->outputs + (q->f->outputs == 0));
    wgi_line(w, 1, "(void)got, (void)from, (void)to;\n");
}

static void gather_operands(loop *q) {
    const uint32_t *node = q->operand;
    const size_t first = q->r->backwards ? q->r->steps - 1 : 0;
    for (size_t i = 0; i < q->f->inputs; i++) {
        const size_t count = wgi_repeat_operands_of(q->r, i);
        if (i < q->carried && q->l->wanted[i] == ALL)
            wgi_emit_gather(q->w, "got", q->l->at[i] + first * count, node, count);
        else if (q->from[i].kind == NOWHERE)
            wgi_emit_gather(q->w, "given", q->given_at[i], node, count);
        node += count;
    }
}

/* "from[2] = given + 7" */
static void put_input(const loop *q, int inside, size_t i) {
    wgi_writer *const w = q->w;
    const address *const a = &q->from[i];
    wgi_line(w, inside, "from[%zu] = ", i);
    if (a->kind == NUMBER) wgi_put(w, "given%zu", i);
    else if (a->kind != NOWHERE) wgi_put(w, "%s + %zu", a->array, a->at);
    else if (q->given != 0) wgi_put(w, "given + %zu", q->given_at[i]);
    else wgi_put(w, "got");
}

/* Its failure is the first of all that are compared. */
static void put_call(const loop *q, int inside, const char *arguments) {
    wgi_writer *const w = q->w;
    const wg_function *const f = w->f;
    const int lanes = wgi_emit_is_laned(w, q->node);
    const uint32_t part = f->node[q->node].part;
    const char *const note = lanes ? "failed[l]" : "inner";
    const int compares = wgi_repeat_guards(q->f) != 0;
    const size_t base = wgi_repeat_guards_before(f, part);
    wgi_line(w, inside, "%swgi_body%u%s;\n", compares ? "const int now = " : "(void)", part,
             arguments);
    if (compares)
        wgi_line(w, inside, "if (now != 0 && (%s == 0 || %s > %zu + now)) %s = %zu + now;\n",
                 note, note, base, note, base);
}

/* Steps as the points of a batch. */
static void many(loop *q) {
    wgi_writer *const w = q->w;
    for (size_t i = 0; i < q->f->inputs; i++) {
        put_input(q, 1, i);
        wgi_put(w, ";\n");
    }
    for (size_t j = 0; j < q->f->outputs; j++)
        if (q->l->wanted[j] == NOT_WANTED) wgi_line(w, 1, "to[%zu] = NULL;\n", j);
        else wgi_line(w, 1, "to[%zu] = got + %zu;\n", j, q->l->at[j]);
    wgi_line(w, 1, "static const ptrdiff_t from_step[] = {");
    for (size_t i = 0; i < q->f->inputs; i++) wgi_put(w, "%zu, 1, ", size_of(&q->f->input[i]));
    wgi_put(w, "0}, to_step[] = {");
    for (size_t j = 0; j < q->f->outputs; j++)
        wgi_put(w, "%zu, 1, ", size_of(&q->f->output[j]));
    wgi_put(w, "0};\n");
    char arguments[80];
    (void)snprintf(arguments, sizeof arguments,
                   "_batch(%zu, from, from_step, to, to_step, NULL)", q->r->steps);
    put_call(q, 1, arguments);
}

/* The state that step i finds, and where it leaves the next one. */
static void put_state(const loop *q, size_t k) {
    wgi_writer *const w = q->w;
    const size_t n = size_of(&q->f->input[k]), steps = q->r->steps;
    if (q->l->wanted[k] == ALL) {
        wgi_line(w, 2, "from[%zu] = got + %zu + place * %zu;\n", k, q->l->at[k], n);
        wgi_line(w, 2, "to[%zu] = got + %zu + (step == %zu ? %zu : place %c 1) * %zu;\n", k,
                 q->l->at[k], steps - 1, steps, q->r->backwards ? '-' : '+', n);
        return;
    }
    wgi_line(w, 2, "from[%zu] = given + %zu + step %% 2 * %zu;\n", k, q->given_at[k], n);
    wgi_line(w, 2, "to[%zu] = ", k);
    if (q->l->wanted[k] == AT_END)
        wgi_put(w, "step == %zu ? got + %zu : ", steps - 1, q->l->at[k]);
    wgi_put(w, "given + %zu + (step + 1) %% 2 * %zu;\n", q->given_at[k], n);
}

static void put_output(const loop *q, size_t j) {
    wgi_writer *const w = q->w;
    const wg_argument *const a = &q->f->output[j];
    wgi_line(w, 2, "to[%zu] = ", j);
    if (q->l->wanted[j] == NOT_WANTED) wgi_put(w, "NULL;\n");
    else if (wgi_is_stepped(a))
        wgi_put(w, "got + %zu + place * %zu;\n", q->l->at[j], size_of(a));
    else wgi_put(w, "terms + %zu;\n", q->terms_at[j]);
}

/* One step after the other. */
static void in_steps(loop *q) {
    wgi_writer *const w = q->w;
    const size_t steps = q->r->steps;
    for (size_t j = 0; j < q->f->outputs; j++)
        if (is_summed(q, j))
            wgi_line(w, 1, "memset(got + %zu, 0, %zu * sizeof(double));\n", q->l->at[j],
                     size_of(&q->f->output[j]));
    wgi_line(w, 1, "for (size_t step = 0; step < %zu; step++) {\n", steps);
    if (q->r->backwards) wgi_line(w, 2, "const size_t place = %zu - step;\n", steps - 1);
    else wgi_line(w, 2, "const size_t place = step;\n");
    wgi_line(w, 2, "(void)place;\n");
    for (size_t k = 0; k < q->carried; k++) put_state(q, k);
    for (size_t i = q->carried; i < q->f->inputs; i++) {
        put_input(q, 2, i);
        if (wgi_is_stepped(&q->f->input[i]))
            wgi_put(w, " + place * %zu", size_of(&q->f->input[i]));
        wgi_put(w, ";\n");
    }
    for (size_t j = q->carried; j < q->f->outputs; j++) put_output(q, j);
    put_call(q, 2, "(from, to)");
    for (size_t j = 0; j < q->f->outputs; j++)
        if (is_summed(q, j))
            wgi_line(w, 2, "for (size_t k = 0; k < %zu; k++) got[%zu + k] += terms[%zu + k];\n",
                     size_of(&q->f->output[j]), q->l->at[j], q->terms_at[j]);
    wgi_line(w, 1, "}\n");
}

void wgi_emit_repeat(wgi_writer *w, uint32_t node) {
    loop q;
    if (w->c->status != WG_OK || !open(&q, w, node)) return;
    choose_places(&q);
    wgi_line(w, 0, "{ /* %zu times, %s */\n", q.r->steps,
             q.r->backwards ? "the last one first" : "one after the other");
    declare(&q);
    gather_operands(&q);
    if (q.carried == 0) many(&q);
    else in_steps(&q);
    if (wgi_emit_is_laned(w, node) && q.l->size != 0) wgi_emit_spread(w, node, q.l->size);
    wgi_line(w, 0, "}\n");
}
