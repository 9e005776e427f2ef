/* SPDX-License-Identifier: MIT */
/* Derivatives of operations on whole matrices, as more of them.
 *
 * Letters: X_ the adjoint of X, Xt its tangent; tri(X) its lower triangle, phi(X) that with
 * half the diagonal.
 *     C = A B:        A_ = C_ B', B_ = A' C_                     Ct = At B + A Bt
 *     X = L^-1 B:     B_ = L^-T X_, L_ = -tri(B_ X')             Xt = L^-1 (Bt - Lt X)
 *     X = A^-1 B:     B_ = A^-T X_, A_ = -B_ X'                  Xt = A^-1 (Bt - At X)
 *     log |det A|:    A_ = w A^-T                                sum of A^-T o At
 *     L of A = L L':  POTRF_BAR                                  Lt = L phi(L^-1 At L^-T)
 *     POTRF_BAR:      S = L^-T (phi(L' W) + phi(L' W)') L^-1 / 2 for the adjoint W of L;
 *                     with F = phi(L^-1 S_ L^-T):
 *                     W_ = tri(L F), L_ = tri(W F' - 2 S S_ L^-T)
 *                     St = Y + Y', Y = (L^-T phi(Lt' W + L' Wt) / 2 - S Lt) L^-1
 *     d = det A:      A_ = d_ C for the cofactors C              sum of C o At
 *     C:              A_ = COFACTOR_BAR of C_                    Ct = COFACTOR_BAR of At
 *     COFACTOR_BAR is linear in W and symmetric; by A it is a third derivative.
 * Sources: Giles 2008; Murray 2016, arXiv:1602.07527. */
#include "dense_node.h"

#include "repeat.h"

size_t wgi_dense_elements(const wg_function *f) {
    size_t elements = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        if ((n->kind != WGI_NODE_DENSE && n->kind != WGI_NODE_WHOLE) || n->when != WGI_EACH)
            continue;
        const wgi_node_shape shape = wgi_node_shape_of(n, NULL);
        elements += shape.operands + shape.parts;
    }
    return elements;
}

/* ---- what kinds.def asks for ---- */

wgi_node_shape wgi_dense_shape(const wgi_node *n, const wgi_repeat *r) {
    const wgi_dense_op op = wgi_dense_of(n);
    (void)r;
    return (wgi_node_shape){wgi_dense_operands(&op), wgi_dense_results(&op)};
}

/* Sixteen operations of BLAS or LAPACK take about as long as one addition of the interpreter.
 */
size_t wgi_dense_cost(const wgi_node *n, const wgi_repeat *r) {
    const wgi_dense_op op = wgi_dense_of(n);
    (void)r;
    return wgi_dense_flops(&op) / 16 + n->count;
}

uint32_t wgi_dense_again(wgi_graph *g, const wgi_node *n, const wgi_repeat *r,
                         const uint32_t *x) {
    (void)r;
    return wgi_graph_matrices(g, n, x);
}

/* ---- matrices of nodes ---- */

/* A matrix of nodes: element (i, j) is p[i down + j across]; WGI_NO_NODE: 0. p NULL: there was
 * a failure. */
typedef struct matrix {
    uint32_t *p;
    size_t rows, cols;
    ptrdiff_t down, across;
} matrix;

static uint32_t *at(matrix a, size_t i, size_t j) {
    return a.p + (ptrdiff_t)i * a.down + (ptrdiff_t)j * a.across;
}

static matrix packed(uint32_t *p, size_t rows, size_t cols) {
    return (matrix){p, rows, cols, 1, (ptrdiff_t)rows};
}

static matrix turned(matrix a) { return (matrix){a.p, a.cols, a.rows, a.across, a.down}; }

/* With the rows in the opposite order. */
static matrix upside_down(matrix a) {
    if (a.p != NULL && a.rows != 0) a.p = at(a, a.rows - 1, 0);
    a.down = -a.down;
    return a;
}

static matrix nothing(wgi_graph *g, size_t rows, size_t cols) {
    return packed(wgi_no_nodes(g->c, rows * cols), rows, cols);
}

/* A lower triangle that is packed in x; with `both`, the symmetric matrix of it. */
static matrix unpacked(wgi_graph *g, size_t n, const uint32_t *x, int both) {
    const matrix a = nothing(g, n, n);
    for (size_t j = 0; a.p != NULL && j < n; j++)
        for (size_t i = j; i < n; i++) {
            *at(a, i, j) = *x++;
            if (both) *at(a, j, i) = *at(a, i, j);
        }
    return a;
}

static int is_zero(const wgi_graph *g, uint32_t x) {
    return x == WGI_NO_NODE || wgi_graph_is(g, x, 0);
}
static uint32_t minus(wgi_graph *g, uint32_t a, uint32_t b) {
    return b == WGI_NO_NODE ? a : wgi_graph_plus(g, a, WGI_GRAPH1(g, neg, b));
}
static uint32_t scaled(wgi_graph *g, double f, uint32_t a) {
    return a == WGI_NO_NODE ? a : WGI_GRAPH2(g, mul, wgi_graph_number(g, f), a);
}
static uint32_t product_of(wgi_graph *g, uint32_t a, uint32_t b) {
    return is_zero(g, a) || is_zero(g, b) ? WGI_NO_NODE : wgi_graph_times(g, a, b);
}

/* Adds f b to a, where f is 1 or -1. */
static void add(wgi_graph *g, matrix a, int f, matrix b) {
    for (size_t j = 0; a.p != NULL && b.p != NULL && j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) {
            uint32_t *const to = at(a, i, j);
            *to = f > 0 ? wgi_graph_plus(g, *to, *at(b, i, j)) : minus(g, *to, *at(b, i, j));
        }
}

/* ---- operations ---- */

/* The rows that are not all 0, and how many they are; NULL: a failure. */
static size_t *rows_of(wgi_graph *g, matrix a, size_t *count) {
    size_t *const row = wg_tape_keep(&g->c->head, (a.rows + 1) * sizeof *row, NULL);
    *count = 0;
    for (size_t i = 0; row != NULL && a.p != NULL && i < a.rows; i++)
        for (size_t j = 0; j < a.cols; j++)
            if (!is_zero(g, *at(a, i, j))) {
                row[(*count)++] = i;
                break;
            }
    return row;
}

/* Elements [from, rows) of the columns `col` of a, behind what *to points to. */
static void put_columns(wgi_graph *g, matrix a, size_t from, size_t cols, const size_t *col,
                        uint32_t **to) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = from; i < a.rows; i++)
            *(*to)++ = wgi_graph_or_zero(g, *at(a, i, col[j]));
}
/* Sets these elements to nodes one after the other. */
static void number_columns(matrix a, size_t from, size_t cols, const size_t *col,
                           uint32_t part) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = from; i < a.rows; i++) *at(a, i, col[j]) = part++;
}

/* The product a b by the zero rule. */
static matrix product(wgi_graph *g, matrix a, matrix b) {
    const matrix c = nothing(g, a.rows, b.cols);
    size_t m, n, k, inner, l = 0;
    const size_t *const row = rows_of(g, a, &m), *const col = rows_of(g, turned(b), &n);
    const size_t *const left = rows_of(g, turned(a), &inner);
    size_t *const mid = rows_of(g, b, &k);
    if (g->c->status != WG_OK) return c;
    for (size_t i = 0, j = 0; i < k && j < inner;) { /* columns of a that are also rows of b */
        if (mid[i] < left[j]) i++;
        else if (mid[i] > left[j]) j++;
        else mid[l++] = mid[i++], j++;
    }
    k = l;
    if (m == 0 || n == 0 || k == 0) return c;
    const wgi_dense_op op = {WGI_DENSE_PRODUCT, WGI_DENSE_RULE, {m, n, k}};
    if (wgi_dense_flops(&op) <= WGI_DENSE_LEAST) {
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < m; i++)
                for (size_t e = 0; e < k; e++) {
                    uint32_t *const to = at(c, row[i], col[j]);
                    *to = wgi_graph_plus(
                        g, *to, product_of(g, *at(a, row[i], mid[e]), *at(b, mid[e], col[j])));
                }
        return c;
    }
    uint32_t *const x = wgi_node_list(g->c, (m + n) * k), *to = x;
    if (x == NULL) return c;
    for (size_t e = 0; e < k; e++)
        for (size_t i = 0; i < m; i++) *to++ = wgi_graph_or_zero(g, *at(a, row[i], mid[e]));
    for (size_t j = 0; j < n; j++)
        for (size_t e = 0; e < k; e++) *to++ = wgi_graph_or_zero(g, *at(b, mid[e], col[j]));
    uint32_t part = wgi_graph_dense(g, &op, x) + 1;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) *at(c, row[i], col[j]) = part++;
    return c;
}

/* The solution of l x = b for a lower triangle l. */
static matrix solve_lower(wgi_graph *g, matrix l, matrix b) {
    const matrix x = nothing(g, b.rows, b.cols);
    size_t rows, k;
    const size_t *const row = rows_of(g, b, &rows), *const col = rows_of(g, turned(b), &k);
    if (g->c->status != WG_OK || rows == 0) return x;
    const size_t first = row[0], n = b.rows - first;
    const wgi_dense_op op = {WGI_DENSE_TRIANGLE, WGI_DENSE_RULE, {n, k, 0}};
    uint32_t *const operand = wgi_node_list(g->c, wgi_dense_operands(&op)), *to = operand;
    if (operand == NULL) return x;
    for (size_t j = first; j < b.rows; j++)
        for (size_t i = j; i < b.rows; i++) *to++ = wgi_graph_or_zero(g, *at(l, i, j));
    put_columns(g, b, first, k, col, &to);
    number_columns(x, first, k, col, wgi_graph_dense(g, &op, operand) + 1);
    return x;
}

/* The solution of l' x = b: with rows and columns in the opposite order l' is a lower triangle.
 */
static matrix solve_upper(wgi_graph *g, matrix l, matrix b) {
    const matrix u = turned(upside_down(turned(upside_down(turned(l)))));
    return upside_down(solve_lower(g, u, upside_down(b)));
}

/* A^-1 b, or A'^-1 b. x: factors and A, as they are operands of any node that solves. */
static matrix solve_factored(wgi_graph *g, size_t n, const uint32_t *x, unsigned flags,
                             matrix b) {
    const matrix y = nothing(g, n, b.cols);
    size_t k;
    const size_t *const col = rows_of(g, turned(b), &k);
    if (g->c->status != WG_OK || k == 0) return y;
    const wgi_dense_op op = {WGI_DENSE_SOLVE, flags, {n, k, 0}};
    const size_t before = 2 * n * n + n;
    uint32_t *const operand = wgi_node_list(g->c, wgi_dense_operands(&op));
    if (operand == NULL) return y;
    memcpy(operand, x, before * sizeof *x);
    uint32_t *to = operand + before;
    put_columns(g, b, 0, k, col, &to);
    number_columns(y, 0, k, col, wgi_graph_dense(g, &op, operand) + 1);
    return y;
}

static matrix inverse(wgi_graph *g, size_t n, const uint32_t *x) {
    const matrix one = nothing(g, n, n);
    for (size_t i = 0; one.p != NULL && i < n; i++) *at(one, i, i) = wgi_graph_number(g, 1);
    return solve_factored(g, n, x, 0, one);
}

/* l^-1 s l'^-1 for a symmetric s. */
static matrix between(wgi_graph *g, matrix l, matrix s) {
    return solve_lower(g, l, turned(solve_lower(g, l, s)));
}

/* phi(a), in the place of a. */
static matrix phi(wgi_graph *g, matrix a) {
    for (size_t j = 0; a.p != NULL && j < a.cols; j++) {
        for (size_t i = 0; i < j; i++) *at(a, i, j) = WGI_NO_NODE;
        *at(a, j, j) = scaled(g, 0.5, *at(a, j, j));
    }
    return a;
}

/* ---- one derivative under way ---- */

typedef struct node {
    wgi_graph *g;
    wgi_dense_op op;
    uint32_t first;   /* the first of its parts */
    uint32_t *x, *xt; /* operands, and the tangents of these */
    size_t operands, parts;
    const unsigned char *wanted; /* which nodes depend on what is differentiated */
    uint32_t *to;
} node;

static int open(node *d, wgi_graph *g, uint32_t number) {
    const wgi_node n = g->node[number];
    memset(d, 0, sizeof *d);
    d->g = g;
    d->op = wgi_dense_of(&n);
    d->first = number + 1;
    d->operands = n.count, d->parts = wgi_dense_results(&d->op);
    d->x = wgi_node_list(g->c, n.count);
    if (d->x == NULL) return 0;
    memcpy(d->x, g->operand + n.first, n.count * sizeof *d->x);
    return 1;
}

/* The first rows * cols results, as a matrix. */
static matrix results(const node *d, size_t rows, size_t cols) {
    const matrix a = nothing(d->g, rows, cols);
    for (size_t e = 0; a.p != NULL && e < rows * cols; e++) a.p[e] = d->first + (uint32_t)e;
    return a;
}

/* The same for a lower triangle; with `both`, the symmetric matrix of it. */
static matrix triangle_of_results(const node *d, size_t n, int both) {
    const matrix all = results(d, wgi_dense_triangle(n), 1);
    return all.p == NULL ? all : unpacked(d->g, n, all.p, both);
}

static int is_wanted(const node *d, size_t from, size_t count) {
    for (size_t e = from; e < from + count; e++)
        if (d->wanted[d->x[e]]) return 1;
    return 0;
}

/* The rows of a in which something of x is wanted; all others are 0. */
static matrix wanted_rows(const node *d, matrix a, matrix x) {
    const matrix b = nothing(d->g, a.rows, a.cols);
    for (size_t i = 0; b.p != NULL && a.p != NULL && i < a.rows; i++) {
        int on = 0;
        for (size_t j = 0; !on && j < x.cols; j++) on = d->wanted[*at(x, i, j)];
        for (size_t j = 0; on && j < a.cols; j++) *at(b, i, j) = *at(a, i, j);
    }
    return b;
}

/* Adds f times node a, f being 1 or -1, to the adjoint of an operand. */
static void share(const node *d, size_t operand, int f, uint32_t a) {
    const uint32_t x = d->x[operand];
    if (a == WGI_NO_NODE || !d->wanted[x] || d->g->c->status != WG_OK) return;
    d->to[x] = f > 0 ? wgi_graph_plus(d->g, d->to[x], a) : minus(d->g, d->to[x], a);
}

/* The same for all of a, or its lower triangle, and operands from `operand` on. */
typedef enum { MATRIX, TRIANGLE } form;
static void share_all(const node *d, form what, size_t operand, int f, matrix a) {
    for (size_t j = 0; a.p != NULL && j < a.cols; j++)
        for (size_t i = what == TRIANGLE ? j : 0; i < a.rows; i++)
            share(d, operand++, f, *at(a, i, j));
}

/* ---- in reverse ---- */

/* The adjoints of its results, as a matrix. */
static matrix adjoint(const node *d, const uint32_t *bar, size_t rows, size_t cols) {
    const matrix w = nothing(d->g, rows, cols);
    if (w.p != NULL && rows * cols != 0) memcpy(w.p, bar, rows * cols * sizeof *bar);
    return w;
}

static void product_reverse(const node *d, const uint32_t *bar) {
    const size_t m = d->op.size[0], n = d->op.size[1], k = d->op.size[2];
    const matrix w = adjoint(d, bar, m, n);
    const matrix a = packed(d->x, m, k), b = packed(d->x + m * k, k, n);
    if (is_wanted(d, 0, m * k))
        share_all(d, MATRIX, 0, 1,
                  product(d->g, wanted_rows(d, w, a), turned(wanted_rows(d, b, turned(a)))));
    if (is_wanted(d, m * k, k * n))
        share_all(d, MATRIX, m * k, 1,
                  product(d->g, wanted_rows(d, turned(a), b),
                          turned(wanted_rows(d, turned(w), turned(b)))));
}

static void triangle_reverse(const node *d, const uint32_t *bar) {
    const size_t n = d->op.size[0], k = d->op.size[1], elements = wgi_dense_triangle(n);
    const matrix l = unpacked(d->g, n, d->x, 0), x = results(d, n, k);
    const matrix b = solve_upper(d->g, l, adjoint(d, bar, n, k));
    share_all(d, MATRIX, elements, 1, b);
    if (is_wanted(d, 0, elements)) share_all(d, TRIANGLE, 0, -1, product(d->g, b, turned(x)));
}

static void cholesky_reverse(const node *d, const uint32_t *bar) {
    const size_t n = d->op.size[0];
    size_t order = 0; /* rows of the results from here on have adjoint 0 */
    for (size_t j = 0, e = 0; j < n; j++)
        for (size_t i = j; i < n; i++, e++)
            if (bar[e] != WGI_NO_NODE && i >= order) order = i + 1;
    const wgi_dense_op op = {WGI_DENSE_POTRF_BAR, WGI_DENSE_RULE, {order, 0, 0}};
    uint32_t *const x = wgi_node_list(d->g->c, wgi_dense_operands(&op)), *to = x;
    for (int which = 0; x != NULL && which < 2; which++)
        for (size_t j = 0; j < order; j++)
            for (size_t i = j; i < order; i++) {
                const size_t e = wgi_dense_packed(n, i, j);
                *to++ = which ? wgi_graph_or_zero(d->g, bar[e]) : d->first + (uint32_t)e;
            }
    uint32_t part = x == NULL ? 0 : wgi_graph_dense(d->g, &op, x) + 1;
    for (size_t j = 0; x != NULL && j < order; j++)
        for (size_t i = j; i < order; i++) share(d, wgi_dense_packed(n, i, j), 1, part++);
}

/* Twice the symmetric matrix S of its results, which are a triangle: the diagonal of S, and
 * twice what is below it. */
static matrix twice_symmetric(const node *d, size_t n) {
    const matrix s = triangle_of_results(d, n, 1);
    for (size_t i = 0; s.p != NULL && i < n; i++) *at(s, i, i) = scaled(d->g, 2, *at(s, i, i));
    return s;
}

static void cholesky_bar_reverse(const node *d, const uint32_t *bar) {
    wgi_graph *const g = d->g;
    const size_t n = d->op.size[0], elements = wgi_dense_triangle(n);
    const matrix l = unpacked(g, n, d->x, 0), w = unpacked(g, n, d->x + elements, 0);
    const matrix z = unpacked(g, n, bar, 1), s = twice_symmetric(d, n);
    if (g->c->status != WG_OK) return;
    const matrix f = phi(g, between(g, l, z));
    if (is_wanted(d, elements, elements)) share_all(d, TRIANGLE, elements, 1, product(g, l, f));
    if (!is_wanted(d, 0, elements)) return;
    share_all(d, TRIANGLE, 0, 1, product(g, w, turned(f)));
    const matrix sz = product(g, s, z);
    if (g->c->status == WG_OK)
        share_all(d, TRIANGLE, 0, -1, turned(solve_lower(g, l, turned(sz))));
}

static void solve_reverse(const node *d, const uint32_t *bar) {
    const size_t n = d->op.size[0], k = d->op.size[1], a_at = n * n + n;
    const int turn = (d->op.flags & WGI_DENSE_TURNED) != 0;
    const unsigned flags = WGI_DENSE_RULE | (turn ? 0 : WGI_DENSE_TURNED);
    const matrix b = solve_factored(d->g, n, d->x, flags, adjoint(d, bar, n, k));
    share_all(d, MATRIX, a_at + n * n, 1, b);
    if (!is_wanted(d, a_at, n * n)) return;
    const matrix x = results(d, n, k);
    share_all(d, MATRIX, a_at, -1,
              turn ? product(d->g, x, turned(b)) : product(d->g, b, turned(x)));
}

/* Nothing to do: only solves and the like read factors, and they have A as an operand for its
 * adjoint. */
static void lu_reverse(const node *d, const uint32_t *bar) { (void)d, (void)bar; }

static void logdet_reverse(const node *d, const uint32_t *bar) {
    const size_t n = d->op.size[0], a_at = n * n + n;
    if (!is_wanted(d, a_at, n * n)) return;
    const matrix c = turned(inverse(d->g, n, d->x));
    for (size_t e = 0; c.p != NULL && e < n * n; e++)
        if (d->wanted[d->x[a_at + e]])
            share(d, a_at + e, 1, product_of(d->g, *bar, *at(c, e % n, e / n)));
}

static matrix cofactors(const node *d, const uint32_t *x, const uint32_t *w) {
    const size_t n = d->op.size[0], nn = n * n;
    const wgi_dense_op op = {w == NULL ? WGI_DENSE_COFACTOR : WGI_DENSE_COFACTOR_BAR,
                             w == NULL ? 0 : WGI_DENSE_RULE,
                             {n, 0, 0}};
    const matrix c = nothing(d->g, n, n);
    uint32_t *const operand = wgi_node_list(d->g->c, 2 * nn);
    if (c.p == NULL || operand == NULL) return c;
    memcpy(operand, x, nn * sizeof *x);
    for (size_t e = 0; w != NULL && e < nn; e++)
        operand[nn + e] = wgi_graph_or_zero(d->g, w[e]);
    const uint32_t part = wgi_graph_dense(d->g, &op, operand) + 1;
    for (size_t e = 0; e < nn; e++) c.p[e] = part + (uint32_t)e;
    return c;
}

static void det_reverse(const node *d, const uint32_t *bar) {
    const size_t n = d->op.size[0];
    const matrix c = cofactors(d, d->x, NULL);
    for (size_t e = 0; c.p != NULL && e < n * n; e++)
        if (d->wanted[d->x[e]]) share(d, e, 1, product_of(d->g, *bar, c.p[e]));
}

static void cofactor_reverse(const node *d, const uint32_t *bar) {
    share_all(d, MATRIX, 0, 1, cofactors(d, d->x, bar));
}

static void no_third(const node *d) {
    (void)wgi_fail(d->g->c, WG_EMODE,
                   "%s: third derivatives of a determinant of order %zu, which is done as a "
                   "whole",
                   d->g->call, d->op.size[0]);
}

static void cofactor_bar_reverse(const node *d, const uint32_t *bar) {
    const size_t n = d->op.size[0];
    if (is_wanted(d, 0, n * n)) no_third(d);
    else share_all(d, MATRIX, n * n, 1, cofactors(d, d->x, bar));
}

void wgi_dense_reverse(wgi_graph *g, uint32_t number, const uint32_t *bar,
                       const unsigned char *wanted, uint32_t *to) {
    node d;
    int any = 0;
    if (g->c->status != WG_OK || !open(&d, g, number)) return;
    d.wanted = wanted, d.to = to;
    for (size_t e = 0; e < d.parts; e++) any |= bar[e] != WGI_NO_NODE;
    if (!any) return;
    switch (d.op.kind) {
#define DENSE(NAME, stem, ...)                                                                 \
    case WGI_DENSE_##NAME:                                                                     \
        stem##_reverse(&d, bar);                                                               \
        break;
#include "ops/matrix/dense.def"
#undef DENSE
    default:
        break;
    }
}

/* ---- forward ---- */

static void set(const node *d, form what, uint32_t *tangent, matrix a) {
    uint32_t part = d->first;
    for (size_t j = 0; a.p != NULL && j < a.cols; j++)
        for (size_t i = what == TRIANGLE ? j : 0; i < a.rows; i++)
            tangent[part++] = *at(a, i, j);
}

static void product_forward(const node *d, uint32_t *tangent) {
    const size_t m = d->op.size[0], n = d->op.size[1], k = d->op.size[2];
    const matrix c = product(d->g, packed(d->xt, m, k), packed(d->x + m * k, k, n));
    add(d->g, c, 1, product(d->g, packed(d->x, m, k), packed(d->xt + m * k, k, n)));
    set(d, MATRIX, tangent, c);
}

static void triangle_forward(const node *d, uint32_t *tangent) {
    const size_t n = d->op.size[0], k = d->op.size[1], elements = wgi_dense_triangle(n);
    const matrix l = unpacked(d->g, n, d->x, 0), lt = unpacked(d->g, n, d->xt, 0);
    const matrix r = packed(d->xt + elements, n, k), x = results(d, n, k);
    if (d->g->c->status != WG_OK) return;
    add(d->g, r, -1, product(d->g, lt, x));
    set(d, MATRIX, tangent, solve_lower(d->g, l, r));
}

static void cholesky_forward(const node *d, uint32_t *tangent) {
    const size_t n = d->op.size[0];
    const matrix l = triangle_of_results(d, n, 0), at_ = unpacked(d->g, n, d->xt, 1);
    if (d->g->c->status != WG_OK) return;
    set(d, TRIANGLE, tangent, product(d->g, l, phi(d->g, between(d->g, l, at_))));
}

static void cholesky_bar_forward(const node *d, uint32_t *tangent) {
    wgi_graph *const g = d->g;
    const size_t n = d->op.size[0], elements = wgi_dense_triangle(n);
    const matrix l = unpacked(g, n, d->x, 0), w = unpacked(g, n, d->x + elements, 0);
    const matrix lt = unpacked(g, n, d->xt, 0), wt = unpacked(g, n, d->xt + elements, 0);
    const matrix s = twice_symmetric(d, n);
    if (g->c->status != WG_OK) return;
    matrix p = product(g, turned(lt), w);
    add(g, p, 1, product(g, turned(l), wt));
    /* twice Y */
    const matrix h = solve_upper(g, l, phi(g, p));
    add(g, h, -1, product(g, s, lt));
    const matrix y = turned(solve_upper(g, l, turned(h)));
    for (size_t j = 0; g->c->status == WG_OK && j < n; j++)
        for (size_t i = j + 1; i < n; i++)
            *at(y, i, j) = wgi_graph_plus(g, *at(y, i, j), *at(y, j, i));
    set(d, TRIANGLE, tangent, y);
}

static void lu_forward(const node *d, uint32_t *tangent) { (void)d, (void)tangent; }

static void solve_forward(const node *d, uint32_t *tangent) {
    const size_t n = d->op.size[0], k = d->op.size[1], a_at = n * n + n;
    const int turn = (d->op.flags & WGI_DENSE_TURNED) != 0;
    const matrix a = packed(d->xt + a_at, n, n), r = packed(d->xt + a_at + n * n, n, k);
    add(d->g, r, -1, product(d->g, turn ? turned(a) : a, results(d, n, k)));
    set(d, MATRIX, tangent, solve_factored(d->g, n, d->x, d->op.flags | WGI_DENSE_RULE, r));
}

static void logdet_forward(const node *d, uint32_t *tangent) {
    const size_t n = d->op.size[0];
    const matrix c = inverse(d->g, n, d->x), row = nothing(d->g, 1, n * n);
    if (d->g->c->status != WG_OK) return;
    for (size_t e = 0; e < n * n; e++) row.p[e] = *at(c, e / n, e % n);
    set(d, MATRIX, tangent, product(d->g, row, packed(d->xt + n * n + n, n * n, 1)));
}

static void det_forward(const node *d, uint32_t *tangent) {
    const size_t nn = d->op.size[0] * d->op.size[0];
    const matrix c = cofactors(d, d->x, NULL);
    if (d->g->c->status != WG_OK) return;
    set(d, MATRIX, tangent, product(d->g, packed(c.p, 1, nn), packed(d->xt, nn, 1)));
}

static void cofactor_forward(const node *d, uint32_t *tangent) {
    set(d, MATRIX, tangent, cofactors(d, d->x, d->xt));
}

static void cofactor_bar_forward(const node *d, uint32_t *tangent) {
    const size_t nn = d->op.size[0] * d->op.size[0];
    int any = 0;
    for (size_t e = 0; e < nn; e++) any |= d->xt[e] != WGI_NO_NODE;
    if (any) no_third(d);
    else set(d, MATRIX, tangent, cofactors(d, d->x, d->xt + nn));
}

void wgi_dense_forward(wgi_graph *g, uint32_t number, uint32_t *tangent) {
    node d;
    int any = 0;
    if (g->c->status != WG_OK || !open(&d, g, number)) return;
    for (size_t e = 0; e < d.parts; e++) tangent[d.first + e] = WGI_NO_NODE;
    d.xt = wgi_node_list(g->c, d.operands);
    if (d.xt == NULL) return;
    for (size_t e = 0; e < d.operands; e++) {
        d.xt[e] = tangent[d.x[e]];
        any |= d.xt[e] != WGI_NO_NODE;
    }
    if (!any) return;
    switch (d.op.kind) {
#define DENSE(NAME, stem, ...)                                                                 \
    case WGI_DENSE_##NAME:                                                                     \
        stem##_forward(&d, tangent);                                                           \
        break;
#include "ops/matrix/dense.def"
#undef DENSE
    default:
        break;
    }
}
