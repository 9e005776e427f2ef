/* SPDX-License-Identifier: MIT */
/* The lines of a matrix, for operations that are functions of one line: forward, backward, and
 * as variables. The letters are those of lines.h.
 *
 * Lines whose elements lie next to each other are worked on in place, others through packed
 * copies, eight at a time: what lies in one cache line is read at once. */
#include "lines.h"

#include "traits.h"

#include <math.h>
#include <string.h>

enum { TOGETHER = 8, CHUNK = 256 };

/* ---- lines of a matrix ---- */

struct strides {
    size_t next, line; /* from one element, and from one line to the next */
};

static struct strides strides_of(const wg_block_arg *a, size_t ld, wg_axis axis) {
    const size_t down = a->trans ? ld : 1, across = a->trans ? 1 : ld;
    const struct strides s = {axis == WG_EACH_ROW ? across : down,
                              axis == WG_EACH_ROW ? down : across};
    return s;
}

/* g lines of n elements to and from packed room. */
static void pack(const double *x, struct strides s, size_t n, size_t g, double *room) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < g; l++) room[l * n + i] = x[i * s.next + l * s.line];
}
static void unpack(double *x, struct strides s, size_t n, size_t g, const double *room) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < g; l++) x[i * s.next + l * s.line] = room[l * n + i];
}
static void unpack_add(double *x, struct strides s, size_t n, size_t g, const double *room) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < g; l++) x[i * s.next + l * s.line] += room[l * n + i];
}

static void call(const wgi_line *l, int what) {
    (what == WGI_LINE_VALUE ? l->op->value : what == WGI_LINE_VJP ? l->op->vjp : l->op->jvp)(l);
}

/* One line of all elements: a run for every column as it is stored. */
static void all_elements(const wg_block *b, wgi_line *l, int what) {
    const int operands = l->op->operands;
    l->len = b->in->trans ? b->in->cols : b->in->rows;
    l->pieces = b->in->trans ? b->in->rows : b->in->cols;
    int gaps = 0;
    for (int k = 0; k < operands; k++) {
        l->x[k] = b->in[k].value;
        l->bar[k] = what == WGI_LINE_VALUE ? NULL : b->in[k].bar;
        l->stride[k] = b->in[k].ld;
        l->bar_stride[k] = b->in[k].bar_ld;
        gaps |= l->stride[k] != l->len || l->bar_stride[k] != l->len;
    }
    if (!gaps || l->n == 0) l->len = l->n, l->pieces = l->n != 0;
    l->y = b->out->value;
    l->w = b->out->bar;
    call(l, what);
}

/* Where the lines are, and whether each can be worked on in place. */
struct layout {
    struct strides from[2], bar[2], to;
    int together;
};

static struct layout layout_of(const wg_block *b, const wgi_line *l) {
    const wg_axis axis = l->p->axis;
    struct layout y = {.to = strides_of(b->out, b->out->ld, axis)};
    y.together = l->n <= 1 || !l->op->full || y.to.next == 1;
    for (int k = 0; k < l->op->operands; k++) {
        y.from[k] = strides_of(&b->in[k], b->in[k].ld, axis);
        y.bar[k] = strides_of(&b->in[k], b->in[k].bar_ld, axis);
        y.together = y.together && (l->n <= 1 || (y.from[k].next == 1 && y.bar[k].next == 1));
    }
    return y;
}

/* g lines of operand k from the first one on, and their bars (NULL: none), in place or packed
 * in room for twice as many. */
static inline void open_lines(const wg_block *b, const struct layout *y, int k, size_t n,
                              size_t first, size_t g, int what, double *room, double **x,
                              double **x_bar) {
    double *const value = b->in[k].value + first * y->from[k].line;
    double *const bar = what == WGI_LINE_VALUE ? NULL : b->in[k].bar;
    *x = value;
    *x_bar = bar != NULL ? bar + first * y->bar[k].line : NULL;
    if (y->together) return;
    *x = room;
    pack(value, y->from[k], n, g, *x);
    if (bar == NULL) return;
    *x_bar = room + TOGETHER * n;
    if (what == WGI_LINE_JVP) pack(bar + first * y->bar[k].line, y->bar[k], n, g, *x_bar);
    else memset(*x_bar, 0, g * n * sizeof(double));
}

/* Every column, or every row. */
static void each_line(const wg_block *b, wgi_line *l, size_t count, double *room, int what) {
    const wgi_line_op *const op = l->op;
    const size_t n = l->n, residuals = op->keep + op->keep_n * n;
    const struct layout y = layout_of(b, l);
    const int copied = op->full && !y.together;
    const int at_once = what == WGI_LINE_VALUE && op->values != NULL && n != 0 &&
                        n <= WGI_LINE_SHORT && (!y.together || y.from[0].line == n);
    const size_t group = !y.together ? TOGETHER : at_once ? WGI_LINES_TOGETHER : 1;
    const size_t next = op->full ? y.to.line : 1;
    const size_t packed_n =
        y.together ? 0 : group * n; /* results, adjoints, operands with theirs */
    double *const packed = room, *const packed_bar = packed + packed_n;
    double *const operands = packed_bar + packed_n;
    l->len = n, l->pieces = n != 0;
    for (size_t first = 0, g; first < count; first += g) {
        g = count - first < group ? count - first : group;
        double *x[2], *x_bar[2];
        for (int k = 0; k < op->operands; k++)
            open_lines(b, &y, k, n, first, g, what, operands + (size_t)(2 * k) * packed_n,
                       &x[k], &x_bar[k]);
        double *const value = b->out->value + first * next;
        double *const bar = what == WGI_LINE_VALUE ? NULL : b->out->bar + first * next;
        if (copied && what != WGI_LINE_VALUE) pack(value, y.to, n, g, packed);
        if (copied && what == WGI_LINE_VJP) pack(bar, y.to, n, g, packed_bar);
        for (size_t i = 0; i < g; i += at_once ? g : 1) {
            for (int k = 0; k < op->operands; k++) {
                l->x[k] = x[k] + i * n;
                l->bar[k] = x_bar[k] != NULL ? x_bar[k] + i * n : NULL;
            }
            l->y = copied ? packed + i * n : value + i;
            l->w = copied ? packed_bar + i * n : what == WGI_LINE_VALUE ? NULL : bar + i;
            l->number = first + i;
            if (residuals != 0) l->saved = (double *)b->saved + (first + i) * residuals;
            if (at_once) op->values(l, g);
            else call(l, what);
        }
        if (copied && what == WGI_LINE_VALUE) unpack(value, y.to, n, g, packed);
        if (copied && what == WGI_LINE_JVP) unpack(bar, y.to, n, g, packed_bar);
        for (int k = 0; k < op->operands; k++)
            if (!y.together && what == WGI_LINE_VJP && x_bar[k] != NULL)
                unpack_add(b->in[k].bar + first * y.bar[k].line, y.bar[k], n, g, x_bar[k]);
    }
}

/* A vector either way, as a line. */
static struct strides along(const wg_block_arg *a, size_t ld) {
    const struct strides s = {(a->cols == 1) == !a->trans ? 1 : ld, 0};
    return s;
}

wg_status wgi_line_run(wg_block *b, const wgi_line_op *op, int what) {
    const wgi_line_params *const p = b->params;
    wgi_line l; /* what is not set here is set with each line */
    l.op = op, l.p = p, l.simd = wgi_simd_best();
    l.n = wgi_line_length(b->in, p->axis);
    l.number = 0;
    l.saved = b->saved;
    for (int k = 0; k < 2; k++) {
        l.vector[k] = l.vector_bar[k] = NULL;
        l.stride[k] = l.bar_stride[k] = 0;
    }
    double *room = b->work;
    for (int k = 0; k < op->vectors; k++, room += 2 * l.n) {
        const wg_block_arg *const a = &b->in[op->operands + k];
        l.vector[k] = room;
        pack(a->value, along(a, a->ld), l.n, 1, l.vector[k]);
        if (what == WGI_LINE_VALUE || a->bar == NULL) continue;
        l.vector_bar[k] = room + l.n;
        if (what == WGI_LINE_JVP) pack(a->bar, along(a, a->bar_ld), l.n, 1, l.vector_bar[k]);
        else memset(l.vector_bar[k], 0, l.n * sizeof(double));
    }
    if (p->axis == WG_ALL) all_elements(b, &l, what);
    else each_line(b, &l, wgi_line_count(b->in, p->axis), room, what);
    for (int k = 0; k < op->vectors; k++) {
        const wg_block_arg *const a = &b->in[op->operands + k];
        if (what == WGI_LINE_VJP && l.vector_bar[k] != NULL)
            unpack_add(a->bar, along(a, a->bar_ld), l.n, 1, l.vector_bar[k]);
    }
    return WG_OK;
}

wg_status wgi_line_shape(wg_block *b, const wgi_line_op *op) {
    const wgi_line_params *const p = b->params;
    const wg_block_arg *const a = b->in;
    if (p->axis != WG_ALL && p->axis != WG_EACH_COL && p->axis != WG_EACH_ROW)
        return wgi_block_refuse(b, WG_EARG, "no such axis");
    const size_t n = wgi_line_length(a, p->axis), count = wgi_line_count(a, p->axis);
    for (int k = 1; k < op->operands; k++)
        if (b->in[k].rows != a->rows || b->in[k].cols != a->cols)
            return wgi_block_refuse(b, WG_ESHAPE, "the operands are of different shapes");
    for (int k = 0; k < op->vectors; k++) {
        const wg_block_arg *const v = &b->in[op->operands + k];
        if ((v->rows != 1 && v->cols != 1) || v->rows * v->cols != n)
            return wgi_block_refuse(b, WG_ESHAPE,
                                    "gain and bias are vectors as long as a line");
    }
    b->out->rows = op->full || p->axis == WG_EACH_ROW ? a->rows : 1;
    b->out->cols = op->full || p->axis == WG_EACH_COL ? a->cols : 1;
    size_t residuals, per_line = (size_t)(2 * op->vectors);
    if (p->axis != WG_ALL) per_line += (size_t)(2 * op->operands + 2) * TOGETHER;
    if (__builtin_mul_overflow(n, op->keep_n * sizeof(double), &residuals) ||
        __builtin_add_overflow(residuals, op->keep * sizeof(double), &residuals) ||
        __builtin_mul_overflow(residuals, count, &b->saved_bytes) ||
        __builtin_mul_overflow(n, per_line * sizeof(double), &b->work_bytes))
        return WG_ENOMEM;
    return WG_OK;
}

static void line_parts(const void *params, wgi_parts *p) {
    const wg_axis axis = ((const wgi_line_params *)params)->axis;
    if (axis != WG_ALL) p->part[0] = axis == WG_EACH_ROW ? WGI_ITS_ROW : WGI_ITS_COLUMN;
}

const wgi_traits wgi_line_traits = {.parts = line_parts};

/* ---- of one line ---- */

double wgi_line_inner(const wgi_simd *simd, size_t n, const double *x, const double *y) {
    double s = simd->dot(n, x, y);
    if (s == s) return s;
    s = 0;
    for (size_t i = 0; i < n; i++) s += wgi_times(x[i], y[i]);
    return s;
}

double wgi_line_ties(const wgi_line *l, double y) {
    size_t count = 0;
    WGI_RUNS(l, r) {
        const double *const x = wgi_line_of(l, 0, r);
        for (size_t i = 0; i < l->len; i++) count += x[i] == y;
    }
    return (double)count;
}

double wgi_line_top(const wgi_line *l) {
    double m = -INFINITY;
    WGI_RUNS(l, r) {
        const double a = l->simd->largest(l->len, wgi_line_of(l, 0, r));
        if (a != a) return a;
        if (a > m) m = a;
    }
    return m;
}

/* ---- results that are numbers: vjp and jvp from the slope ---- */

void wgi_line_slope_vjp(const wgi_line *l) {
    double g[CHUNK];
    const double w = *l->w;
    if (w == 0) return;
    WGI_RUNS(l, r)
    for (size_t i = 0, m; i < l->len; i += m) {
        m = l->len - i < CHUNK ? l->len - i : CHUNK;
        l->op->slope(l, wgi_line_start(l, r) + i, m, wgi_line_of(l, 0, r) + i, g);
        l->simd->axpy(m, w, g, wgi_line_bar(l, 0, r) + i);
    }
}

void wgi_line_slope_jvp(const wgi_line *l) {
    double g[CHUNK], t = 0;
    WGI_RUNS(l, r)
    for (size_t i = 0, m; i < l->len; i += m) {
        m = l->len - i < CHUNK ? l->len - i : CHUNK;
        l->op->slope(l, wgi_line_start(l, r) + i, m, wgi_line_of(l, 0, r) + i, g);
        t += wgi_line_inner(l->simd, m, g, wgi_line_bar(l, 0, r) + i);
    }
    *l->w = t;
}

/* ---- written out, as a part of a function ---- */

/* The place of element i of a line in its matrix. */
static size_t of_line(const wg_block_arg *a, wg_axis axis, size_t line, size_t i) {
    return axis == WG_ALL ? i : axis == WG_EACH_COL ? i + line * a->rows : line + i * a->rows;
}

wg_status wgi_line_write(wg_tape *t, const wg_block *b, const wgi_line_op *op, const wg_real *x,
                         wg_real *y) {
    const wgi_line_params *const p = b->params;
    const size_t n = wgi_line_length(b->in, p->axis), count = wgi_line_count(b->in, p->axis);
    wg_real *const room = wgi_expand_room(t, 4 * n);
    if (room == NULL) return wg_tape_status(t);
    wgi_written l = {p, n, 0, {room, room + n}, {NULL, NULL}, room + 2 * n, room + 3 * n};
    for (int k = 0; k < op->vectors; k++)
        l.vector[k] = wgi_reals_operand(b, x, (size_t)(op->operands + k)).p;
    for (; l.number < count; l.number++) {
        for (int k = 0; k < op->operands; k++)
            for (size_t i = 0; i < n; i++)
                room[(size_t)k * n + i] =
                    wgi_reals_operand(b, x, (size_t)k).p[of_line(b->in, p->axis, l.number, i)];
        if (!op->full) l.y = &y[l.number];
        op->expand(t, &l);
        for (size_t i = 0; op->full && i < n; i++)
            y[of_line(b->in, p->axis, l.number, i)] = l.y[i];
    }
    return WG_OK;
}

/* ---- adjoints in operations on matrices ---- */

wg_mat wgi_line_columns(wg_tape *t, wg_mat a, wg_axis axis) {
    if (axis == WG_EACH_COL) return a;
    return axis == WG_EACH_ROW ? wg_mat_transpose(a) : wg_mat_reshape(t, a, a.rows * a.cols, 1);
}

wg_mat wgi_line_numbers(wg_mat y, wg_axis axis) {
    return axis == WG_EACH_ROW ? wg_mat_transpose(y) : y;
}

wg_mat wgi_line_uncolumned(wg_tape *t, wg_mat columns, const wg_mat *like, wg_axis axis) {
    if (axis == WG_EACH_COL) return columns;
    return axis == WG_EACH_ROW ? wg_mat_transpose(columns)
                               : wg_mat_reshape(t, columns, like->rows, like->cols);
}

wg_mat wgi_line_residual(wg_tape *t, const wg_block *b, size_t count, size_t k, size_t step) {
    return wg_mat_constant_strided(t, 1, count, (const double *)b->saved + k, 0,
                                   (ptrdiff_t)step);
}

/* ---- descriptors ---- */

wg_status wgi_line_no_elements(wg_block *b) {
    const wgi_line_params *const p = b->params;
    if (wgi_line_length(b->in, p->axis) != 0 || b->out->rows * b->out->cols == 0) return WG_OK;
    return wgi_block_refuse(b, WG_ESHAPE, "lines without elements");
}
