/* SPDX-License-Identifier: MIT */
/* The checks of operations. A block: its operands become the inputs of a function, its results
 * the outputs, and that function goes through wg_check_gradient on a tape of its own; where
 * that finds a mistake, halves of inputs and outputs do, until the element is known. Then the
 * same function as `expand` writes it out, and what the flags of the operation say of its
 * Jacobian. A scalar operation goes through wg_check_gradient and wg_check_hessian, one partial
 * at a time.
 *
 * Letters: x the n elements of all operands that are variables, y the m of all results, w
 * weights of y, g = J' w. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wengert/operation.h>
#include <wengert/sparsity.h>

typedef struct checked_op {
    const wg_block_op *op;
    const void *params;
    size_t bytes, inputs, outputs;
    const wg_mat *in;
    wgi_core *c;      /* the user's tape, which callbacks of the operation may reset */
    wg_tape *scratch; /* keeps what the check computes with */
    int all;          /* every operand is a variable, since none was */
    char call[128]; /* for messages */
    /* the call as expand sees it: operands without gaps, none of them transposed */
    wg_block b;
    wg_block_arg arg[2 * WGI_MAX_ARGS];
} checked_op;

static size_t length_of(const wg_mat *a) { return a->trans ? a->cols : a->rows; }
static size_t columns_of(const wg_mat *a) { return a->trans ? a->rows : a->cols; }
static int is_variable(const checked_op *k, size_t i) {
    return k->all || k->in[i].at.slot != 0;
}

/* y = op(x), elements column after column; operands that are constants are not in x. */
static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const checked_op *const k = data;
    wg_mat in[WGI_MAX_ARGS], out[WGI_MAX_ARGS];
    const wg_real *const end = x + n;
    for (size_t i = 0; i < k->inputs; i++) {
        const wg_mat *const a = &k->in[i];
        if (wgi_mat_stale(k->c, a))
            return wgi_fail(wgi_core_of(t), WG_ESTALE,
                            "%s: the operation has reset or rewound the tape of operand %zu",
                            k->call, i);
        const size_t length = length_of(a), columns = columns_of(a);
        if (is_variable(k, i)) {
            if ((size_t)(end - x) < length * columns) return WG_ESHAPE;
            in[i] = wg_mat_gather(t, length, columns, x);
            x += length * columns;
        } else {
            in[i] = wg_mat_constant(t, length, columns, a->value, a->ld);
        }
        if (a->trans) in[i] = wg_mat_transpose(in[i]);
    }
    const wg_status s = wg_apply(t, k->op, k->params, k->bytes, k->inputs, in, k->outputs, out);
    if (s != WG_OK) return s;
    size_t e = 0;
    for (size_t o = 0; o < k->outputs; o++)
        for (size_t j = 0; j < out[o].cols; j++)
            for (size_t i = 0; i < out[o].rows && e < m; i++) y[e++] = wg_mat_at(out[o], i, j);
    return WG_OK;
}

/* The same, as the operation expands itself. */
static wg_status expanded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    const checked_op *const k = data;
    size_t operands = 0;
    (void)n, (void)m;
    for (size_t i = 0; i < k->inputs; i++) operands += k->in[i].rows * k->in[i].cols;
    wg_real *const all = wg_tape_keep(t, (operands + 1) * sizeof *all, NULL);
    if (all == NULL) return wg_tape_status(t);
    wg_real *to = all;
    for (size_t i = 0; i < k->inputs; i++) {
        const wg_mat *const a = &k->in[i];
        const size_t count = a->rows * a->cols;
        for (size_t e = 0; e < count; e++)
            to[e] = !is_variable(k, i) ? wg_constant(k->b.in[i].value[e])
                    : a->trans         ? x[e / a->rows + e % a->rows * a->cols]
                                       : x[e];
        to += count;
        if (is_variable(k, i)) x += count;
    }
    return k->op->expand(t, &k->b, all, y);
}

/* A failure on the tape of the check becomes the refusal of the call. */
static wg_status passed_on(wgi_core *c, wg_status s, const char *call, const wg_tape *own) {
    const char *const said = wg_tape_message(own);
    if (c->status != WG_OK) return c->status;
    if (strncmp(said, call, strlen(call)) == 0) return wgi_refuse(c, s, "%s", said);
    return wgi_refuse(c, s, "%s: %s", call, said);
}

/* So many numbers that last until the check ends, whatever is done with the user's tape. */
static wg_status keep(wgi_core *c, const checked_op *k, size_t count, double **out) {
    *out = wg_tape_keep(k->scratch, (count + 1) * sizeof **out, NULL);
    return *out != NULL ? WG_OK
                        : passed_on(c, wg_tape_status(k->scratch), k->call, k->scratch);
}

/* ---- where a mistake is ---- */

enum { NAME = 96 };

/* "operand 1, element (2, 0)": so many elements of x, or of y, from the first on. */
static void name_elements(const checked_op *k, int results, size_t first, size_t count,
                          char *name) {
    const char *const what = results ? "result" : "operand";
    for (size_t o = 0; o < (results ? k->outputs : k->inputs); o++) {
        const wg_block_arg *const a = results ? &k->b.out[o] : &k->b.in[o];
        const size_t elements = results || is_variable(k, o) ? a->rows * a->cols : 0;
        if (first >= elements) {
            first -= elements;
            continue;
        }
        const int turned = !results && k->in[o].trans;
        const size_t length = turned ? a->cols : a->rows;
        const size_t i = first % length, j = first / length;
        if (count == 1)
            (void)snprintf(name, NAME, "%s %zu, element (%zu, %zu)", what, o, turned ? j : i,
                           turned ? i : j);
        else if (count <= elements - first) (void)snprintf(name, NAME, "%s %zu", what, o);
        else (void)snprintf(name, NAME, "%ss from %zu on", what, o);
        return;
    }
    (void)snprintf(name, NAME, "no %s", what);
}

/* From a part with a mistake to an element of it, by halves. */
static wg_status find_mistake(wg_tape *own, checked_op *k, size_t n, const double *x, size_t m,
                              wgi_checked_part *p, wgi_checked *r) {
    for (;;) {
        if (r->verdict == WGI_DIFFERENCES) {
            p->output = r->found.output, p->outputs = 1;
            if (p->inputs <= WGI_DIRECTIONS) {
                p->input += r->found.direction, p->inputs = 1;
                return WG_OK;
            }
        }
        if (p->inputs == 1 && p->outputs == 1) return WG_OK;
        wgi_checked_part half[2] = {*p, *p};
        if (p->inputs > 1) {
            half[1].input += half[0].inputs /= 2;
            half[1].inputs -= half[0].inputs;
        } else {
            half[1].output += half[0].outputs /= 2;
            half[1].outputs -= half[0].outputs;
        }
        int found = 0;
        for (int h = 0; h < 2 && !found; h++) {
            wgi_checked q;
            const wg_status s =
                wgi_check(own, k->call, 1, call, k, n, x, m, &half[h], NULL, &q);
            found = q.verdict == WGI_DIFFERENCES || q.verdict == WGI_PRODUCTS;
            if (found) *p = half[h], *r = q;
            else if (s != WG_OK && s != WG_ENONFINITE) return s;
        }
        if (!found) return WG_OK; /* they show it together only */
    }
}

static wg_status check_derivatives(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                                   const double *x, size_t m) {
    wgi_checked_part p = {0, n, 0, m, 0, 0};
    wgi_checked r;
    wg_status s = wgi_check(own, k->call, 1, call, k, n, x, m, &p, NULL, &r);
    if (r.verdict == WGI_DIFFERENCES || r.verdict == WGI_PRODUCTS)
        s = find_mistake(own, k, n, x, m, &p, &r);
    else if (s == WG_OK) return WG_OK;
    if (s != WG_OK) return passed_on(c, s, k->call, own);
    char result[NAME], operand[NAME];
    name_elements(k, 1, p.output, p.outputs, result);
    name_elements(k, 0, p.input, p.inputs, operand);
    const char *const along = p.inputs == 1 && p.outputs == 1 ? "" : ", along a direction";
    if (r.verdict == WGI_DIFFERENCES)
        return wgi_refuse(c, WG_EMISMATCH,
                          "%s: %s, by %s%s: %.12g by %s, %.12g by finite differences, good to "
                          "%.2g",
                          k->call, result, operand, along, r.derivative,
                          k->op->jvp != NULL ? "jvp" : "vjp", r.difference, r.good_to);
    return wgi_refuse(c, WG_EMISMATCH, "%s: %s, by %s%s: %.12g by vjp, %.12g by %s", k->call,
                      result, operand, along, r.backward, r.forward,
                      k->op->jvp != NULL ? "jvp" : "vjp for one element of the results");
}

/* ---- adjoint ---- */

/* What is recorded of the adjoint has the tangents of vjp: second derivatives go by them. */
static wg_status check_adjoint(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                               const double *x, size_t m) {
    const wgi_checked_part p = {0, n, 0, m, 0, 0};
    wgi_checked r;
    const wg_status s = wgi_check(own, k->call, 2, call, k, n, x, m, &p, NULL, &r);
    if (r.verdict == WGI_DIFFERENCES)
        return wgi_refuse(c, WG_EMISMATCH,
                          "%s: a second derivative: %.12g by adjoint, %.12g by finite "
                          "differences of tangents, good to %.2g",
                          k->call, r.derivative, r.difference, r.good_to);
    if (r.verdict == WGI_PRODUCTS)
        return wgi_refuse(c, WG_EMISMATCH,
                          "%s: the second derivatives by adjoint are not symmetric: %.12g and "
                          "%.12g",
                          k->call, r.backward, r.forward);
    return s == WG_OK ? s : passed_on(c, s, k->call, own);
}

/* ---- expand ---- */

/* Two ways to the same numbers: but for rounding, */
#define ROUNDING 0x1p-26
/* and where these cancelled, for that of their terms: of derivatives over the size of the
 * operand, at least WGI_SMALL_INPUT. */
#define CANCELLED 0x1p-40

static double weight(size_t i) { return 0.5 + (double)(i * 7919 % 1009) / 1009; }

static double largest_of(size_t n, const double *a) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(a[i]));
    return largest;
}

/* The element where a and b are farthest apart; n: they are nowhere by more than is allowed. */
static size_t farthest(size_t n, const double *a, const double *b, double allowed) {
    size_t at = n;
    for (size_t i = 0; i < n; i++) {
        const double e = fabs(a[i] - b[i]);
        if (e <= allowed) continue;
        at = i;
        if (e != e) break;
        allowed = e;
    }
    return at;
}

/* Values, and products of the Jacobian with weights: of the operation, and as it expands. */
typedef struct both {
    double *w, *y[2], *g[2];
} both;

static wg_status evaluate_both(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                               const double *x, size_t m, const both *a) {
    wg_callback *const way[] = {call, expanded};
    for (int i = 0; i < 2; i++) {
        const wg_status s = wg_vjp(own, way[i], k, n, x, m, a->w, a->y[i], a->g[i]);
        if (s != WG_OK) return passed_on(c, s, k->call, own);
    }
    return WG_OK;
}

/* The same for so many elements of y alone, weighed, or for a single one as it is. */
static wg_status evaluate_some(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                               const double *x, size_t m, size_t first, size_t count,
                               const both *a) {
    for (size_t j = 0; j < m; j++)
        a->w[j] = j - first >= count ? 0 : count == 1 ? 1 : weight(j);
    return evaluate_both(c, own, k, n, x, m, a);
}

/* The derivative by x[i] is another one: of which element of y? Of two halves one is at least
 * half as far apart as both together. */
static wg_status name_derivative(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                                 const double *x, size_t m, size_t i, const both *a) {
    size_t first = 0, count = m;
    while (count > 1) {
        const size_t half = count / 2;
        double apart[2];
        for (size_t h = 0; h < 2; h++) {
            const wg_status s = evaluate_some(c, own, k, n, x, m, h == 0 ? first : first + half,
                                              h == 0 ? half : count - half, a);
            if (s != WG_OK) return s;
            apart[h] = fabs(a->g[0][i] - a->g[1][i]);
        }
        const int second = apart[0] == apart[0] && !(apart[1] <= apart[0]);
        first += second ? half : 0;
        count = second ? count - half : half;
    }
    const wg_status s = evaluate_some(c, own, k, n, x, m, first, count, a);
    if (s != WG_OK) return s;
    char result[NAME], operand[NAME];
    name_elements(k, 1, first, 1, result);
    name_elements(k, 0, i, 1, operand);
    return wgi_refuse(c, WG_EMISMATCH, "%s: %s, by %s: %.12g by vjp, %.12g by expand", k->call,
                      result, operand, a->g[0][i], a->g[1][i]);
}

static wg_status check_expand(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                              const double *x, size_t m) {
    both a;
    wg_status s = keep(c, k, 3 * m + 2 * n, &a.w);
    if (s != WG_OK) return s;
    a.y[0] = a.w + m, a.y[1] = a.y[0] + m;
    a.g[0] = a.y[1] + m, a.g[1] = a.g[0] + n;
    for (size_t j = 0; j < m; j++) a.w[j] = weight(j);
    double *value = a.y[0];
    for (size_t o = 0; o < k->outputs; o++) {
        k->b.out[o].value = value;
        value += k->b.out[o].rows * k->b.out[o].cols;
    }
    s = evaluate_both(c, own, k, n, x, m, &a);
    if (s != WG_OK) return s;
    double terms = 0; /* of what is w' y to first order */
    for (size_t j = 0; j < m; j++) terms += fabs(a.w[j] * a.y[0][j]);
    for (size_t i = 0; i < n; i++) terms += fabs(wgi_product(a.g[0][i], x[i]));
    for (size_t o = 0, e = 0; o < k->outputs; o++) {
        const size_t count = k->b.out[o].rows * k->b.out[o].cols;
        const double allowed = ROUNDING * largest_of(count, a.y[0] + e) + CANCELLED * terms;
        const size_t at = farthest(count, a.y[0] + e, a.y[1] + e, allowed);
        if (at < count) {
            char result[NAME];
            name_elements(k, 1, e + at, 1, result);
            return wgi_refuse(c, WG_EMISMATCH, "%s: %s: %.12g by value, %.12g by expand",
                              k->call, result, a.y[0][e + at], a.y[1][e + at]);
        }
        e += count;
    }
    for (size_t o = 0, e = 0; o < k->inputs; o++) {
        const size_t count = is_variable(k, o) ? k->in[o].rows * k->in[o].cols : 0;
        const double size = largest_of(count, x + e);
        const double allowed = ROUNDING * largest_of(count, a.g[0] + e) +
                               CANCELLED * terms / fmax(size, WGI_SMALL_INPUT);
        const size_t at = farthest(count, a.g[0] + e, a.g[1] + e, allowed);
        if (at < count) return name_derivative(c, own, k, n, x, m, e + at, &a);
        e += count;
    }
    return WG_OK;
}

/* ---- flags ---- */

/* Are two products of Jacobians with a direction the same but for rounding? */
static int same(size_t m, const double *a, const double *b) {
    return farthest(m, a, b, ROUNDING * largest_of(m, a)) == m;
}

static wg_status not_as_said(wgi_core *c, const checked_op *k, const char *what) {
    return wgi_refuse(c, WG_EMISMATCH, "%s: its flags (0x%x) say that %s", k->call,
                      k->op->flags, what);
}

/* jw = the Jacobian that patterns are made from, times v. */
static wg_status sparse_product(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                                const double *x, size_t m, const double *v, double *jw) {
    wg_sparsity *s;
    wg_status r = wg_jacobian_sparsity(own, call, k, n, x, m, WG_ROW_MAJOR, &s);
    if (r != WG_OK) return r;
    const wg_pattern *const p = wg_sparsity_pattern(s);
    double *values;
    r = keep(c, k, p->entries, &values);
    if (r == WG_OK) r = wg_sparse_jacobian(own, s, call, k, x, NULL, values);
    for (size_t j = 0; r == WG_OK && j < m; j++) {
        jw[j] = 0;
        for (size_t e = p->start[j]; e < p->start[j + 1]; e++)
            jw[j] += values[e] * v[p->col[e]];
    }
    wg_sparsity_free(s);
    return r;
}

/* Along one direction: the derivative at x against that at another point, and against that of
 * the pattern. */
static wg_status check_flags(wgi_core *c, wg_tape *own, checked_op *k, size_t n,
                             const double *x, size_t m) {
    const unsigned linear = WG_OP_LINEAR | WG_OP_MOVES, sparse = WG_OP_EACH | WG_OP_MOVES;
    double *v;
    wg_status s = keep(c, k, 2 * n + 2 * m, &v);
    if (s != WG_OK) return s;
    double *const other = v + n, *const jv = other + n, *const jw = jv + m;
    for (size_t i = 0; i < n; i++) {
        v[i] = weight(i);
        other[i] = 1.25 * x[i] + 0.125 * v[i];
    }
    s = wg_jvp(own, call, k, n, x, v, m, NULL, jv);
    if (s == WG_OK && (k->op->flags & linear) != 0) {
        s = wg_jvp(own, call, k, n, other, v, m, NULL, jw);
        if (s == WG_OK && !same(m, jv, jw))
            return not_as_said(c, k, "results are linear, and derivatives are not constant");
    }
    if (s == WG_OK && (k->op->flags & sparse) != 0) {
        s = sparse_product(c, own, k, n, x, m, v, jw);
        if (s == WG_OK && !same(m, jv, jw))
            return not_as_said(c, k, "results depend on fewer elements than they do");
    }
    return s == WG_OK ? s : passed_on(c, s, k->call, own);
}

/* ---- all of it ---- */

/* x, and the call with the values of its operands and the shapes of its results. */
static wg_status open_call(wgi_core *c, checked_op *k, size_t *n, double **x, size_t *m) {
    size_t operands = 0;
    *n = *m = 0;
    for (size_t i = 0; i < k->inputs; i++) {
        operands += k->in[i].rows * k->in[i].cols;
        if (is_variable(k, i)) *n += k->in[i].rows * k->in[i].cols;
    }
    wg_status s = keep(c, k, *n + operands, x);
    if (s != WG_OK) return s;
    double *to = *x, *value = *x + *n;
    memset(&k->b, 0, sizeof k->b);
    memset(k->arg, 0, sizeof k->arg);
    for (size_t i = 0; i < k->inputs; i++) {
        const wg_mat *const a = &k->in[i];
        for (size_t j = 0; is_variable(k, i) && j < columns_of(a); j++)
            for (size_t l = 0; l < length_of(a); l++) *to++ = a->value[l + j * a->ld];
        k->arg[i].rows = a->rows, k->arg[i].cols = a->cols;
        k->arg[i].ld = k->arg[i].bar_ld = a->rows != 0 ? a->rows : 1;
        k->arg[i].value = value;
        for (size_t j = 0; j < a->cols; j++)
            for (size_t l = 0; l < a->rows; l++)
                *value++ = a->value[a->trans ? j + l * a->ld : l + j * a->ld];
    }
    k->b.params = k->params;
    k->b.inputs = k->inputs, k->b.outputs = k->outputs;
    k->b.in = k->arg, k->b.out = k->arg + k->inputs;
    s = k->op->shape(&k->b);
    if (s != WG_OK) return wgi_refuse_call(c, "wg_check_op", k->op, s, &k->b);
    for (size_t o = 0; o < k->outputs; o++) {
        wg_block_arg *const a = &k->b.out[o];
        a->ld = a->bar_ld = a->rows != 0 ? a->rows : 1;
        *m += a->rows * a->cols;
    }
    return WG_OK;
}

static wg_status check(wgi_core *c, wg_tape *own, checked_op *k) {
    size_t n, m;
    double *x;
    wg_status s = open_call(c, k, &n, &x, &m);
    if (s == WG_OK) s = check_derivatives(c, own, k, n, x, m);
    if (s == WG_OK && k->op->expand != NULL) s = check_expand(c, own, k, n, x, m);
    if (s == WG_OK && k->op->adjoint != NULL) s = check_adjoint(c, own, k, n, x, m);
    const unsigned says = WG_OP_LINEAR | WG_OP_EACH | WG_OP_MOVES;
    if (s == WG_OK && (k->op->flags & says) != 0) s = check_flags(c, own, k, n, x, m);
    return s;
}

/* A tape for the check, with the memory of the user's. */
static wg_status open_own(wgi_core *c, const char *call, unsigned flags, wg_tape **own) {
    const wg_options o = {.flags = flags};
    const wg_status s = wgi_tape_beside(c, &o, own);
    return s == WG_OK ? s : wgi_refuse(c, s, "%s: no memory for a tape", call);
}

wg_status wg_check_op(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                      size_t inputs, const wg_mat *in, size_t outputs) {
    if (t == NULL || op == NULL || (inputs != 0 && in == NULL)) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (inputs > WGI_MAX_ARGS || outputs > WGI_MAX_ARGS)
        return wgi_refuse(c, WG_EARG, "wg_check_op: %zu operands and %zu results, not up to %d",
                          inputs, outputs, WGI_MAX_ARGS);
    checked_op k = {.op = op,
                    .params = params,
                    .bytes = bytes,
                    .inputs = inputs,
                    .outputs = outputs,
                    .in = in,
                    .c = c,
                    .all = 1};
    if (op->name == NULL) return wgi_refuse(c, WG_ENULL, "wg_check_op: the name is NULL");
    (void)snprintf(k.call, sizeof k.call, "wg_check_op: %s", op->name);
    if (op->shape == NULL || op->value == NULL || op->vjp == NULL)
        return wgi_refuse(c, WG_ENULL, "%s: no shape, no value, or no vjp", k.call);
    for (size_t i = 0; i < inputs; i++) {
        if (in[i].value == NULL)
            return wgi_refuse(c, WG_ESHAPE, "wg_check_op: operand %zu is a failed matrix", i);
        if (wgi_mat_stale(c, &in[i]))
            return wgi_refuse(c, WG_ESTALE,
                              "wg_check_op: operand %zu is of another tape, or old", i);
        if (in[i].at.slot != 0) k.all = 0;
    }
    /* what expands, or says its adjoint, does it where code is kept */
    const int second = op->expand != NULL || op->adjoint != NULL;
    wg_tape *own = NULL;
    wg_status s = open_own(c, k.call, second ? WG_KEEP_CODE : 0, &own);
    if (s == WG_OK) s = open_own(c, k.call, 0, &k.scratch);
    if (s == WG_OK) s = check(c, own, &k);
    wg_tape_free(k.scratch);
    wg_tape_free(own);
    return s;
}

/* ---- scalar operations ---- */

enum { OPERANDS = 4, SECOND = OPERANDS * (OPERANDS + 1) / 2 };
/* Two ways to a value are so many times its measured noise apart at most. */
#define NOISE 16

static wg_status apply(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    const wg_scalar_op *const *const op = data;
    (void)n, (void)m;
    y[0] = wg_apply_scalar(t, *op, x);
    return WG_OK;
}

/* `second` has a value and first partials of its own, the same but for rounding, and for the
 * noise that is in them. */
static wg_status check_repeated(wgi_core *c, const wg_scalar_op *op, const double *x,
                                double noise, const double *noise_of, const char *call) {
    double first[OPERANDS] = {0}, again[OPERANDS] = {0}, h[SECOND];
    const double v = op->value(x), w = op->second(x, again, h);
    op->first(x, v, first);
    if (!(fabs(v - w) <= ROUNDING * fabs(v) + NOISE * noise))
        return wgi_refuse(c, WG_EMISMATCH, "%s: %.12g by value, %.12g by second", call, v, w);
    for (unsigned i = 0; i < op->arity; i++)
        if (!(fabs(first[i] - again[i]) <= ROUNDING * fabs(first[i]) + NOISE * noise_of[i]))
            return wgi_refuse(c, WG_EMISMATCH,
                              "%s: first partial %c: %.12g by first, %.12g by second", call,
                              "abcd"[i], first[i], again[i]);
    return WG_OK;
}

/* The partial by operand i, or by i and j; j = arity: none. The noise of what it is a
 * derivative of, the largest so far. */
static wg_status check_partial(wgi_core *c, wg_tape *own, const wg_scalar_op *op,
                               const double *x, unsigned i, unsigned j, double *noise,
                               const char *call) {
    const int order = j < op->arity ? 2 : 1;
    const wgi_checked_part p = {j < op->arity ? j : i, 1, 0, 1, i, 1};
    wgi_checked r;
    const wg_status s = wgi_check(own, call, order, apply, &op, op->arity, x, 1, &p, NULL, &r);
    *noise = fmax(*noise, r.noise);
    if (s == WG_OK) return s;
    if (r.verdict != WGI_DIFFERENCES) return passed_on(c, s, call, own);
    const char letters[] = {"abcd"[i], order == 2 ? "abcd"[j] : 0, 0};
    return wgi_refuse(
        c, WG_EMISMATCH, "%s: %s partial %s: %.12g, by finite differences %.12g, good to %.2g",
        call, order == 2 ? "second" : "first", letters, r.derivative, r.difference, r.good_to);
}

wg_status wg_check_scalar_op(wg_tape *t, const wg_scalar_op *op, const double *x) {
    if (t == NULL || op == NULL || x == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (op->arity < 1 || op->arity > OPERANDS)
        return wgi_refuse(c, WG_EARG, "wg_check_scalar_op: %u operands, not 1 to %d", op->arity,
                          OPERANDS);
    if (op->value == NULL || op->first == NULL)
        return wgi_refuse(c, WG_ENULL, "wg_check_scalar_op: no value, or no first partials");
    char call[128];
    if (op->name == NULL)
        return wgi_refuse(c, WG_ENULL, "wg_check_scalar_op: the name is NULL");
    (void)snprintf(call, sizeof call, "wg_check_scalar_op: %s", op->name);
    wg_tape *own;
    wg_status s = open_own(c, call, WG_KEEP_CODE, &own);
    if (s != WG_OK) return s;
    double noise = 0, noise_of[OPERANDS] = {0};
    for (unsigned i = 0; i < op->arity && s == WG_OK; i++)
        s = check_partial(c, own, op, x, i, op->arity, &noise, call);
    for (unsigned i = 0; i < op->arity; i++)
        for (unsigned j = i; j < op->arity && s == WG_OK; j++)
            s = check_partial(c, own, op, x, i, j, &noise_of[i], call);
    if (s == WG_OK && op->second != NULL) s = check_repeated(c, op, x, noise, noise_of, call);
    wg_tape_free(own);
    return s;
}
