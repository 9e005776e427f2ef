/* SPDX-License-Identifier: MIT */
/* Repeats: what they take and give, what they cost, and whether two are the same. */
#include "repeat.h"

#include <string.h>

/* ---- sizes ---- */

static const size_t most = SIZE_MAX / 64;

static size_t plus_size(size_t a, size_t b) { return a > most - b ? most : a + b; }
static size_t times_size(size_t a, size_t b) { return b != 0 && a > most / b ? most : a * b; }

size_t wgi_repeat_operands_of(const wgi_repeat *r, size_t input) {
    const wg_argument *const a = &r->body->input[input];
    const size_t n = wgi_argument_size(a);
    return wgi_is_stepped(a) ? times_size(n, r->steps) : n;
}

size_t wgi_repeat_parts_of(const wgi_repeat *r, size_t output) {
    const wg_argument *const a = &r->body->output[output];
    const size_t n = wgi_argument_size(a);
    if (wgi_is_carried(a)) return plus_size(times_size(n, r->steps), n);
    return wgi_is_stepped(a) ? times_size(n, r->steps) : n;
}

size_t wgi_repeat_operands(const wgi_repeat *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->body->inputs; i++) n = plus_size(n, wgi_repeat_operands_of(r, i));
    return n;
}

size_t wgi_repeat_parts(const wgi_repeat *r) {
    size_t n = 0;
    for (size_t j = 0; j < r->body->outputs; j++) n = plus_size(n, wgi_repeat_parts_of(r, j));
    return n;
}

void wgi_repeat_starts(const wgi_repeat *r, size_t *operand_at, size_t *part_at) {
    size_t n = 0, m = 0;
    for (size_t i = 0; operand_at != NULL && i <= r->body->inputs; i++) {
        operand_at[i] = n;
        if (i < r->body->inputs) n += wgi_repeat_operands_of(r, i);
    }
    for (size_t j = 0; part_at != NULL && j <= r->body->outputs; j++) {
        part_at[j] = m;
        if (j < r->body->outputs) m += wgi_repeat_parts_of(r, j);
    }
}

int wgi_repeat_fits(const wgi_repeat *r) {
    return r->steps < WGI_REPEAT_MOST && wgi_repeat_operands(r) < WGI_REPEAT_MOST &&
           wgi_repeat_parts(r) < WGI_REPEAT_MOST;
}

size_t wgi_repeat_guards_before(const wg_function *f, size_t k) {
    size_t guards = f->guards;
    while (k-- > 0) guards += wgi_repeat_guards(f->repeat[k].body);
    return guards;
}
size_t wgi_repeat_guards(const wg_function *f) {
    return wgi_repeat_guards_before(f, f->repeats);
}

int wgi_repeat_is_solver(const wgi_repeat *r) {
    const wg_function *const f = r->body;
    if (r->backwards || f->outputs != 1 || f->inputs == 0 || !wgi_is_carried(&f->output[0]) ||
        wgi_body_carried(r->body) != 1)
        return 0;
    for (size_t i = 1; i < f->inputs; i++)
        if (wgi_is_stepped(&f->input[i])) return 0;
    return 1;
}

int wgi_repeat_any_solves(const wg_function *f) {
    int any = 0;
    for (size_t k = 0; k < f->repeats; k++)
        any |= f->repeat[k].solves || wgi_repeat_any_solves(f->repeat[k].body);
    return any;
}

/* ---- what kinds.def asks for ---- */

wgi_node_shape wgi_repeat_shape(const wgi_node *n, const wgi_repeat *r) {
    (void)n;
    return (wgi_node_shape){wgi_repeat_operands(r), wgi_repeat_parts(r)};
}

size_t wgi_repeat_cost(const wgi_node *n, const wgi_repeat *r) {
    (void)n;
    return times_size(r->steps, r->body->work);
}

uint32_t wgi_repeat_again(wgi_graph *g, const wgi_node *n, const wgi_repeat *r,
                          const uint32_t *x) {
    (void)n;
    return wgi_graph_repeat(g, r, x);
}

size_t wgi_repeat_work(const wg_function *f) {
    size_t work = f->each;
    for (size_t i = 0; f->repeats != 0 && i < f->nodes; i++) {
        const wgi_repeat *const r = wgi_repeat_of(f, &f->node[i]);
        if (r == NULL || f->node[i].when != WGI_EACH) continue;
        work = plus_size(work, wgi_repeat_cost(&f->node[i], r));
    }
    return work;
}

/* ---- sameness ---- */

static int same_arguments(size_t count, const wg_argument *a, const wg_argument *b) {
    for (size_t k = 0; k < count; k++)
        if (a[k].rows != b[k].rows || a[k].cols != b[k].cols || a[k].flags != b[k].flags)
            return 0;
    return 1;
}

static int same_nodes(const wg_function *a, const wg_function *b) {
    for (size_t i = 0; i < a->nodes; i++) {
        const wgi_node *const x = &a->node[i], *const y = &b->node[i];
        if (x->kind != y->kind || x->array != y->array || x->part != y->part ||
            x->first != y->first || x->count != y->count ||
            memcmp(&x->value, &y->value, sizeof x->value) != 0)
            return 0;
    }
    return 1;
}

static int same_functions(const wg_function *a, const wg_function *b) {
    if (a == b) return 1;
    if (a->inputs != b->inputs || a->outputs != b->outputs || a->nodes != b->nodes ||
        a->operands != b->operands || a->guards != b->guards || a->repeats != b->repeats ||
        a->n != b->n || a->m != b->m || !same_arguments(a->inputs, a->input, b->input) ||
        !same_arguments(a->outputs, a->output, b->output) || !same_nodes(a, b))
        return 0;
    if (memcmp(a->operand, b->operand, a->operands * sizeof *a->operand) != 0 ||
        memcmp(a->result, b->result, a->m * sizeof *a->result) != 0 ||
        memcmp(a->guard, b->guard, a->guards * sizeof *a->guard) != 0)
        return 0;
    for (size_t k = 0; k < a->repeats; k++)
        if (!wgi_repeat_same(&a->repeat[k], &b->repeat[k])) return 0;
    return 1;
}

int wgi_repeat_same(const wgi_repeat *a, const wgi_repeat *b) {
    return a->steps == b->steps && a->backwards == b->backwards && a->solves == b->solves &&
           same_functions(a->body, b->body);
}
