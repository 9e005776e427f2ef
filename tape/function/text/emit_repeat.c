/* SPDX-License-Identifier: MIT */
/* Repeats as loops of the text.
 *
 *     NAME_body0     the body, a function of one point; where nothing is carried, of many
 *     got[i]         results: of what is carried all states, if they are wanted
 *     given[i]       operands that do not stand next to each other in an array as they are
 *     given0[i] ...  operands that are numbers
 *     terms[i]       of sums over the steps
 *     from, to       arguments of the body */
#include "emit_repeat.h"

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
        wgi_source s;
        if (wgi_source_open(&s, c, call, body, "wgi") != WG_OK) return 0;
        wgi_source_need_all(&s, 0);
        *beyond |= wgi_source_beyond_c99(&s);
        if (!wgi_emit_bodies_check(c, call, body, beyond)) return 0;
    }
    return c->status == WG_OK;
}

/* ---- layout ---- */

static const wgi_repeat *repeat_of(const wgi_source *s, uint32_t node) {
    return &s->f->repeat[s->f->node[node].part];
}

static struct wgi_repeat_layout *layout_of(wgi_source *s, uint32_t node) {
    const wgi_repeat *const r = repeat_of(s, node);
    const size_t outputs = r->body->outputs;
    wg_tape *const t = &s->c->head;
    struct wgi_repeat_layout *const l = wg_tape_keep(t, sizeof *l, NULL);
    if (l == NULL) return NULL;
    l->at = wg_tape_keep(t, (outputs + 1) * sizeof *l->at, NULL);
    l->part_at = wg_tape_keep(t, (outputs + 1) * sizeof *l->part_at, NULL);
    l->wanted = wg_tape_keep(t, outputs + 1, NULL);
    if (s->c->status != WG_OK) return NULL;
    memset(l->wanted, NOT_WANTED, outputs + 1);
    l->part_at[0] = 0;
    for (size_t j = 0; j < outputs; j++)
        l->part_at[j + 1] = l->part_at[j] + wgi_repeat_parts_of(r, j);
    return l;
}

/* All results of a node that is no repeat, one after the other. */
static struct wgi_repeat_layout *layout_of_all(wgi_source *s, uint32_t node) {
    struct wgi_repeat_layout *const l = wg_tape_keep(&s->c->head, sizeof *l, NULL);
    const wgi_node_shape shape = wgi_node_shape_of(&s->f->node[node], NULL);
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

void wgi_emit_repeat_slots(wgi_source *s) {
    const wg_function *const f = s->f;
    if (!wgi_function_has_wholes(f)) return;
    s->layout = wg_tape_keep(&s->c->head, (f->nodes + 1) * sizeof *s->layout, NULL);
    if (s->layout == NULL) return;
    for (uint32_t i = 0; i < f->nodes; i++) {
        s->layout[i] = NULL;
        if (wgi_node_has_parts(&f->node[i]) && s->unit[i] != WGI_NO_NODE)
            s->layout[i] =
                f->node[i].kind == WGI_NODE_REPEAT ? layout_of(s, i) : layout_of_all(s, i);
    }
    if (s->c->status != WG_OK) return;
    for (uint32_t i = 0; i < f->nodes; i++) { /* the parts that are there are wanted */
        const wgi_node *const n = &f->node[i];
        struct wgi_repeat_layout *const l =
            n->kind == WGI_NODE_PART ? s->layout[f->operand[n->first]] : NULL;
        if (l == NULL || l->at == NULL) continue;
        const wgi_repeat *const r = repeat_of(s, f->operand[n->first]);
        const size_t j = output_of(r, l, n->part);
        const unsigned char wanted = is_at_end(r, l, j, n->part) ? AT_END : ALL;
        if (wanted > l->wanted[j]) l->wanted[j] = wanted;
    }
    for (uint32_t i = 0; i < f->nodes; i++) {
        struct wgi_repeat_layout *const l = s->layout[i];
        if (l == NULL) continue;
        if (l->at != NULL) place(repeat_of(s, i), l);
        size_t *const slots =
            s->apart && f->node[i].when != WGI_EACH ? &s->uniforms : &s->slots;
        s->slot[i] = (uint32_t)*slots;
        *slots += l->size;
    }
    for (uint32_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t of = n->kind == WGI_NODE_PART ? f->operand[n->first] : 0;
        const struct wgi_repeat_layout *const l =
            n->kind == WGI_NODE_PART ? s->layout[of] : NULL;
        if (l == NULL) continue;
        if (l->at == NULL) {
            s->slot[i] = s->slot[of] + n->part;
            continue;
        }
        const wgi_repeat *const r = repeat_of(s, of);
        const size_t j = output_of(r, l, n->part);
        const size_t skipped =
            l->wanted[j] == AT_END ? r->steps * size_of(&r->body->output[j]) : 0;
        s->slot[i] = s->slot[of] + (uint32_t)(l->at[j] + n->part - l->part_at[j] - skipped);
    }
}

int wgi_emit_repeat_compares(const wgi_source *s, size_t first, size_t last) {
    for (size_t i = first; i < last; i++)
        if (s->f->node[s->list[i]].kind == WGI_NODE_REPEAT &&
            wgi_repeat_guards(repeat_of(s, s->list[i])->body) != 0)
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

static address address_of(const wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    const int uniform = s->apart && n->when != WGI_EACH;
    address a = {NOWHERE, "", 0, n->value};
    if (n->kind == WGI_NODE_NUMBER) a.kind = NUMBER;
    else if (n->kind == WGI_NODE_INPUT && !s->apart)
        a = (address){ARGUMENT, s->in[s->argument[node]], s->entry[node], 0};
    else if (s->slot[node] != WGI_NO_NODE && !s->folded[node])
        a = (address){s->apart && !uniform ? LANES : SLOTS,
                      uniform                     ? "u"
                      : n->kind == WGI_NODE_INPUT ? "x"
                                                  : "t",
                      s->slot[node], 0};
    return a;
}

/* How many of the `count` nodes from the first one stand one after the other, or are the same
 * number. */
static size_t run_of(const wgi_source *s, const uint32_t *node, size_t count, address *a) {
    *a = address_of(s, node[0]);
    size_t run = 1;
    for (; run < count && a->kind != NOWHERE; run++) {
        const address b = address_of(s, node[run]);
        if (b.kind != a->kind || strcmp(a->array, b.array) != 0) break;
        if (a->kind != NUMBER && b.at != a->at + run) break;
        if (a->kind == NUMBER && memcmp(&a->value, &b.value, sizeof a->value) != 0) break;
    }
    return run;
}

static int all_numbers(const wgi_source *s, const uint32_t *node, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (s->f->node[node[k]].kind != WGI_NODE_NUMBER) return 0;
    return count != 0;
}

static void begin(wgi_source *s, const char *indent) {
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "    ");
}

void wgi_emit_gather(wgi_source *s, const char *indent, const char *to, size_t at,
                     const uint32_t *node, size_t count) {
    enum { FEW = 4 };
    for (size_t k = 0, run; k < count; k += run) {
        address a;
        run = run_of(s, node + k, count - k, &a);
        if (run < FEW) {
            run = 1;
            begin(s, indent);
            wgi_text_format(&s->o, "%s[%zu] = ", to, at + k);
            wgi_source_operand(s, node[k], WGI_PLACE_SUM);
            wgi_text_put(&s->o, ";\n");
            continue;
        }
        begin(s, indent);
        if (a.kind == ARGUMENT || a.kind == SLOTS) {
            wgi_text_format(&s->o, "memcpy(%s + %zu, %s + %zu, ", to, at + k, a.array, a.at);
            wgi_text_format(&s->o, "%zu * sizeof(double));\n", run);
            continue;
        }
        wgi_text_format(&s->o, "for (size_t k = 0; k < %zu; k++) %s[%zu + k] = ", run, to,
                        at + k);
        if (a.kind == NUMBER) wgi_text_number(&s->o, a.value);
        else wgi_text_format(&s->o, "%s[%zu + k][l]", a.array, a.at);
        wgi_text_put(&s->o, ";\n");
    }
}

static void table(wgi_source *s, const char *indent, size_t input, const uint32_t *node,
                  size_t count) {
    begin(s, indent);
    wgi_text_format(&s->o, "static const double given%zu[] = {", input);
    for (size_t k = 0; k < count; k++) {
        if (k != 0) wgi_text_put(&s->o, k % 8 == 0 ? ",\n            " : ", ");
        wgi_text_number(&s->o, s->f->node[node[k]].value);
    }
    wgi_text_put(&s->o, "};\n");
}

/* ---- a repeat ---- */

typedef struct writing {
    wgi_source *s;
    const wgi_repeat *r;
    const wg_function *f;
    const struct wgi_repeat_layout *l;
    const uint32_t *operand;
    const char *indent;
    uint32_t node;
    size_t carried;
    address *from; /* of each input: where its operands stand; NOWHERE: in x */
    size_t *x_at;  /* of each input, in x; of each output, in y */
    size_t *y_at;
    size_t x, y;
} writing;

static void line(const writing *w) { begin(w->s, w->indent); }

static int open(writing *w, wgi_source *s, uint32_t node, const char *indent) {
    wg_tape *const t = &s->c->head;
    memset(w, 0, sizeof *w);
    w->s = s, w->node = node, w->indent = indent;
    w->r = repeat_of(s, node);
    w->f = w->r->body;
    w->l = s->layout[node];
    w->operand = s->f->operand + s->f->node[node].first;
    w->carried = wgi_repeat_carried(w->r);
    w->from = wg_tape_keep(t, (w->f->inputs + 1) * sizeof *w->from, NULL);
    w->x_at = wg_tape_keep(t, (w->f->inputs + 1) * sizeof *w->x_at, NULL);
    w->y_at = wg_tape_keep(t, (w->f->outputs + 1) * sizeof *w->y_at, NULL);
    return s->c->status == WG_OK;
}

static int is_common(const wg_argument *a) { return !wgi_is_carried(a) && !wgi_is_stepped(a); }

/* Where operands come from, and how much of them and of results has to be put somewhere. */
static void choose_places(writing *w) {
    const uint32_t *node = w->operand;
    for (size_t i = 0; i < w->f->inputs; i++) {
        const size_t count = wgi_repeat_operands_of(w->r, i);
        address *const a = &w->from[i];
        *a = (address){NOWHERE, "", 0, 0};
        w->x_at[i] = w->x;
        if (i < w->carried) { /* the state at the start, and one more, if not in r */
            if (w->l->wanted[i] != ALL) w->x += 2 * count;
        } else if (all_numbers(w->s, node, count)) a->kind = NUMBER;
        else if (count == 0 || run_of(w->s, node, count, a) != count ||
                 (a->kind != ARGUMENT && a->kind != SLOTS)) {
            a->kind = NOWHERE;
            w->x += count;
        }
        node += count;
    }
    for (size_t j = 0; j < w->f->outputs; j++) {
        const wg_argument *const o = &w->f->output[j];
        w->y_at[j] = w->y;
        if (w->carried != 0 && is_common(o) && w->l->wanted[j] != NOT_WANTED)
            w->y += size_of(o);
    }
}

static size_t first_place(const writing *w) { return w->r->backwards ? w->r->steps - 1 : 0; }

static void declare(writing *w) {
    wgi_source *const s = w->s;
    const uint32_t *node = w->operand;
    const int lanes = s->apart && s->f->node[w->node].when == WGI_EACH;
    const size_t r = w->l->size + (w->l->size == 0);
    for (size_t i = 0; i < w->f->inputs; i++) {
        const size_t count = wgi_repeat_operands_of(w->r, i);
        if (w->from[i].kind == NUMBER) table(s, w->indent, i, node, count);
        node += count;
    }
    line(w);
    if (lanes) wgi_text_format(&s->o, "double got[%zu];\n", r);
    else
        wgi_text_format(&s->o, "double *const got = %s + %u;\n", s->apart ? "u" : "t",
                        s->slot[w->node]);
    if (w->x != 0) {
        line(w);
        wgi_text_format(&s->o, "double given[%zu];\n", w->x);
    }
    if (w->y != 0) {
        line(w);
        wgi_text_format(&s->o, "double terms[%zu];\n", w->y);
    }
    line(w);
    wgi_text_format(&s->o, "const double *from[%zu];\n", w->f->inputs + (w->f->inputs == 0));
    line(w);
    wgi_text_format(&s->o, "double *to[%zu];\n", w->f->outputs + (w->f->outputs == 0));
    line(w);
    wgi_text_put(&s->o, "(void)got, (void)from, (void)to;\n");
}

static void gather_operands(writing *w) {
    const uint32_t *node = w->operand;
    for (size_t i = 0; i < w->f->inputs; i++) {
        const size_t count = wgi_repeat_operands_of(w->r, i);
        if (i < w->carried && w->l->wanted[i] == ALL)
            wgi_emit_gather(w->s, w->indent, "got", w->l->at[i] + first_place(w) * count, node,
                            count);
        else if (w->from[i].kind == NOWHERE)
            wgi_emit_gather(w->s, w->indent, "given", w->x_at[i], node, count);
        node += count;
    }
}

/* "in[2] = x + 7" */
static void put_input(const writing *w, size_t i) {
    wgi_source *const s = w->s;
    const address *const a = &w->from[i];
    line(w);
    wgi_text_format(&s->o, "from[%zu] = ", i);
    if (a->kind == NUMBER) wgi_text_format(&s->o, "given%zu", i);
    else if (a->kind == NOWHERE)
        wgi_text_format(&s->o, w->x != 0 ? "given + %zu" : "got", w->x_at[i]);
    else wgi_text_format(&s->o, "%s + %zu", a->array, a->at);
}

/* The first failure of all that are compared. */
static void put_call(const writing *w) {
    line(w);
    wgi_text_put(&w->s->o, wgi_repeat_guards(w->f) == 0 ? "(void)" : "const int now = ");
    wgi_text_format(&w->s->o, "%s_body%u", w->s->name, w->s->f->node[w->node].part);
}

static void note_failure(const writing *w) {
    wgi_source *const s = w->s;
    size_t base = s->f->guards;
    if (wgi_repeat_guards(w->f) == 0) return;
    for (uint32_t k = 0; k < s->f->node[w->node].part; k++)
        base += wgi_repeat_guards(s->f->repeat[k].body);
    const int lanes = s->apart && s->f->node[w->node].when == WGI_EACH;
    line(w);
    if (lanes)
        wgi_text_format(&s->o,
                        "if (now != 0 && (failed[l] == 0 || failed[l] > %zu + now)) "
                        "failed[l] = %zu + now;\n",
                        base, base);
    else
        wgi_text_format(&s->o,
                        "if (now != 0 && (inner == 0 || inner > %zu + now)) "
                        "inner = %zu + now;\n",
                        base, base);
}

/* Steps as the points of a batch. */
static void many(writing *w) {
    wgi_source *const s = w->s;
    for (size_t i = 0; i < w->f->inputs; i++) {
        put_input(w, i);
        wgi_text_put(&s->o, ";\n");
    }
    for (size_t j = 0; j < w->f->outputs; j++) {
        line(w);
        if (w->l->wanted[j] == NOT_WANTED) wgi_text_format(&s->o, "to[%zu] = NULL;\n", j);
        else wgi_text_format(&s->o, "to[%zu] = got + %zu;\n", j, w->l->at[j]);
    }
    line(w);
    wgi_text_put(&s->o, "static const ptrdiff_t from_step[] = {");
    for (size_t i = 0; i < w->f->inputs; i++)
        wgi_text_format(&s->o, "%zu, 1, ", size_of(&w->f->input[i]));
    wgi_text_put(&s->o, "0}, to_step[] = {");
    for (size_t j = 0; j < w->f->outputs; j++)
        wgi_text_format(&s->o, "%zu, 1, ", size_of(&w->f->output[j]));
    wgi_text_put(&s->o, "0};\n");
    put_call(w);
    wgi_text_format(&s->o, "_batch(%zu, from, from_step, to, to_step, NULL);\n", w->r->steps);
    note_failure(w);
}

/* The state that step i finds, and where it leaves the next one. */
static void put_state(const writing *w, size_t k) {
    wgi_source *const s = w->s;
    const size_t n = size_of(&w->f->input[k]);
    line(w);
    if (w->l->wanted[k] == ALL) {
        wgi_text_format(&s->o, "    from[%zu] = got + %zu + place * %zu;\n", k, w->l->at[k], n);
        line(w);
        wgi_text_format(&s->o, "    to[%zu] = got + %zu + (step == %zu ? %zu : ", k,
                        w->l->at[k], w->r->steps - 1, w->r->steps);
        wgi_text_format(&s->o, "place %c 1) * %zu;\n", w->r->backwards ? '-' : '+', n);
        return;
    }
    wgi_text_format(&s->o, "    from[%zu] = given + %zu + step %% 2 * %zu;\n", k, w->x_at[k],
                    n);
    line(w);
    wgi_text_format(&s->o, "    to[%zu] = ", k);
    if (w->l->wanted[k] == AT_END)
        wgi_text_format(&s->o, "step == %zu ? got + %zu : ", w->r->steps - 1, w->l->at[k]);
    wgi_text_format(&s->o, "given + %zu + (step + 1) %% 2 * %zu;\n", w->x_at[k], n);
}

static void put_output(const writing *w, size_t j) {
    wgi_source *const s = w->s;
    const wg_argument *const a = &w->f->output[j];
    line(w);
    wgi_text_format(&s->o, "    to[%zu] = ", j);
    if (w->l->wanted[j] == NOT_WANTED) wgi_text_put(&s->o, "NULL;\n");
    else if (wgi_is_stepped(a))
        wgi_text_format(&s->o, "got + %zu + place * %zu;\n", w->l->at[j], size_of(a));
    else wgi_text_format(&s->o, "terms + %zu;\n", w->y_at[j]);
}

/* One step after the other. */
static void in_steps(writing *w) {
    wgi_source *const s = w->s;
    for (size_t j = 0; j < w->f->outputs; j++) {
        if (!is_common(&w->f->output[j]) || w->l->wanted[j] == NOT_WANTED) continue;
        line(w);
        wgi_text_format(&s->o, "memset(got + %zu, 0, %zu * sizeof(double));\n", w->l->at[j],
                        size_of(&w->f->output[j]));
    }
    line(w);
    wgi_text_format(&s->o, "for (size_t step = 0; step < %zu; step++) {\n", w->r->steps);
    line(w);
    if (w->r->backwards)
        wgi_text_format(&s->o, "    const size_t place = %zu - step;\n", w->r->steps - 1);
    else wgi_text_put(&s->o, "    const size_t place = step;\n");
    line(w);
    wgi_text_put(&s->o, "    (void)place;\n");
    for (size_t k = 0; k < w->carried; k++) put_state(w, k);
    for (size_t i = w->carried; i < w->f->inputs; i++) {
        wgi_text_put(&s->o, "    ");
        put_input(w, i);
        if (wgi_is_stepped(&w->f->input[i]))
            wgi_text_format(&s->o, " + place * %zu", size_of(&w->f->input[i]));
        wgi_text_put(&s->o, ";\n");
    }
    for (size_t j = w->carried; j < w->f->outputs; j++) put_output(w, j);
    wgi_text_put(&s->o, "    ");
    put_call(w);
    wgi_text_put(&s->o, "(from, to);\n");
    if (wgi_repeat_guards(w->f) != 0) wgi_text_put(&s->o, "    ");
    note_failure(w);
    for (size_t j = 0; j < w->f->outputs; j++) {
        if (!is_common(&w->f->output[j]) || w->l->wanted[j] == NOT_WANTED) continue;
        line(w);
        wgi_text_format(&s->o, "    for (size_t k = 0; k < %zu; k++) got[%zu + k] += ",
                        size_of(&w->f->output[j]), w->l->at[j]);
        wgi_text_format(&s->o, "terms[%zu + k];\n", w->y_at[j]);
    }
    line(w);
    wgi_text_put(&s->o, "}\n");
}

void wgi_emit_repeat(wgi_source *s, uint32_t node, const char *indent) {
    writing w;
    if (s->c->status != WG_OK || !open(&w, s, node, indent)) return;
    choose_places(&w);
    wgi_text_put(&s->o, indent);
    wgi_text_format(&s->o, "{ /* %zu times, %s */\n", w.r->steps,
                    w.r->backwards ? "the last one first" : "one after the other");
    declare(&w);
    gather_operands(&w);
    if (w.carried == 0) many(&w);
    else in_steps(&w);
    if (s->apart && s->f->node[node].when == WGI_EACH && w.l->size != 0) {
        line(&w);
        wgi_text_format(&s->o, "for (size_t k = 0; k < %zu; k++) t[%u + k][l] = got[k];\n",
                        w.l->size, s->slot[node]);
    }
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "}\n");
}
