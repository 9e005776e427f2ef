/* SPDX-License-Identifier: MIT */
/* The table of kinds, and what its columns say of a node. */
#include "repeat.h"

#include "ops/scalar/array.h"

/* The columns as kinds.def spells them. */
enum {
    VALUE = WGI_HOLDS_VALUE,
    SCALAR = WGI_HOLDS_SCALAR,
    ARRAY = WGI_HOLDS_ARRAY,
    MATRICES = WGI_HOLDS_MATRICES,
    PART = WGI_HOLDS_PART,
    WHOLE = WGI_HOLDS_WHOLE
};
enum { OF_OP = WGI_OPERANDS_OF_OP, ANY = WGI_OPERANDS_ANY, OWN = WGI_OPERANDS_OWN };

#define ROW(FORM, NAME, stem, word, code, since, holds, operands, nan, order, cost, text)      \
    [WGI_NODE_##NAME] = {#stem,          word,  text,     FORM,          code,                 \
                         since,          holds, operands, WGI_NAN_##nan, WGI_ORDER_##order,    \
                         WGI_COST_##cost},
#define KIND_BASE(...) ROW(WGI_FORM_BASE, __VA_ARGS__)
#define KIND_NODE(...) ROW(WGI_FORM_NODE, __VA_ARGS__)
#define KIND_WHOLE(...) ROW(WGI_FORM_WHOLE, __VA_ARGS__)
const wgi_node_kind_row wgi_node_kinds[WGI_NODE_KINDS] = {
#include "kinds.def"
};

int wgi_node_shows_nan(const wgi_node *n) {
    const unsigned nan = wgi_node_row(n)->nan;
    if (nan != WGI_NAN_BY_OP) return nan == WGI_NAN_SHOWS;
    /* an element that a lookup does not choose may be NaN */
    if (wgi_node_scalar(n) == NULL) return n->array != WGI_ARRAY_lookup;
    switch (wgi_node_op(n)) {
    case -1:
        return 0;
    case WGI_ROW_add:
    case WGI_ROW_sub:
    case WGI_ROW_mul:
    case WGI_ROW_div:
    case WGI_ROW_fma:
        return 1;
    default:
        return n->count == 1;
    }
}

/* ---- values and partials of one operation ---- */

size_t wgi_scalar_hash(const wgi_node *n, const uint32_t *operand) {
    uint64_t h = (uint64_t)(uintptr_t)n->op;
    for (uint32_t k = 0; k < n->count; k++) {
        h = (h ^ operand[n->first + k]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (size_t)h;
}

int wgi_scalar_same(const wgi_node *a, const wgi_node *b, const uint32_t *operand) {
    return a->op == b->op &&
           memcmp(operand + a->first, operand + b->first, b->count * sizeof *operand) == 0;
}

/* ---- values ---- */

double wgi_scalar_value(const wgi_node *n, const double *x) { return n->op->value(x); }

double wgi_first_value(const wgi_node *n, const double *x) {
    double d[4];
    n->op->first(x, n->op->value(x), d);
    return d[n->part];
}

double wgi_second_value(const wgi_node *n, const double *x) {
    double d[4], h[10];
    (void)n->op->second(x, d, h);
    return h[n->part];
}

double wgi_times_value(const wgi_node *n, const double *x) {
    (void)n;
    return wgi_times(x[0], x[1]);
}

double wgi_array_value(const wgi_node *n, const double *x) {
    return wgi_array_ops[n->array].value(n->count, x, NULL);
}

double wgi_node_value(const wgi_node *n, const double *x) {
    switch (n->kind) {
#define KIND_NODE(NAME, stem, ...)                                                             \
    case WGI_NODE_##NAME:                                                                      \
        return wgi_##stem##_value(n, x);
#include "kinds.def"
    default:
        return n->value;
    }
}

wgi_node_shape wgi_node_shape_of(const wgi_node *n, const wgi_repeat *r) {
    switch (n->kind) {
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        return wgi_##stem##_shape(n, r);
#include "kinds.def"
    default:
        return (wgi_node_shape){n->count, 0};
    }
}

int wgi_function_has_wholes(const wg_function *f) {
    for (size_t i = 0; i < f->nodes; i++)
        if (wgi_node_has_parts(&f->node[i])) return 1;
    return 0;
}

/* ---- costs ---- */

size_t wgi_node_cost(const wgi_node *n, const wgi_repeat *r) {
    enum { DIVISION = 8, FUNCTION = 24 };
    switch (wgi_node_row(n)->cost) {
    case WGI_COST_NOTHING:
        return 0;
    case WGI_COST_ADDITION:
        return 1;
    case WGI_COST_OWN:
        break;
    default: /* a call, or an operation that the compiler may turn into one */
        switch (wgi_node_op(n)) {
        case WGI_ROW_add:
        case WGI_ROW_sub:
        case WGI_ROW_mul:
        case WGI_ROW_neg:
            return 1;
        case WGI_ROW_div:
        case WGI_ROW_sqrt:
            return DIVISION;
        default:
            return FUNCTION + n->count;
        }
    }
    switch (n->kind) {
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        return wgi_##stem##_cost(n, r);
#include "kinds.def"
    default:
        return 0;
    }
}

static size_t cost(const wg_function *f, int all) {
    const size_t first = f->n + f->numbers + f->once;
    size_t sum = 0;
    for (size_t i = first; i < first + f->each; i++)
        if (all || wgi_node_has_parts(&f->node[i]))
            sum += wgi_node_cost(&f->node[i], wgi_repeat_of(f, &f->node[i]));
    return sum;
}

size_t wgi_function_cost(const wg_function *f) { return cost(f, 1); }
size_t wgi_function_cost_of_wholes(const wg_function *f) { return cost(f, 0); }
