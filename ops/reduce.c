/* SPDX-License-Identifier: MIT */
/* Reductions along lines: a line is a column, a row, or all elements.
 *
 * Letters: n elements x of a line in `pieces` runs of `len`, result y (a number, or n of them),
 * w its adjoint or tangent, g the slope dy/dx. An operation is functions of one line. Lines
 * whose elements lie next to each other are worked on in place, others through packed copies,
 * eight at a time: what lies in one cache line is read at once. */
#include "elementwise.h"
#include "expand.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/reduce.h>

enum { TOGETHER = 8, CHUNK = 256 };
enum { VALUE, VJP, JVP };

struct params {
    wg_axis axis;
    double p; /* of the norm; ddof; eps */
    const size_t *label;
};

struct line_op;
struct written;

struct line {
    const struct line_op *op;
    const struct params *p;
    const wgi_simd *simd;
    size_t n, pieces, len;
    size_t number; /* of the line */
    /* operands of that shape: run k begins at x[] + k stride[]; bar: adjoint, tangent, or NULL
     */
    double *x[2], *bar[2];
    size_t stride[2], bar_stride[2];
    double *y, *w; /* in the order of the line */
    double *saved;
    double *vector[2], *vector_bar[2]; /* operands as long as a line */
};

struct line_op {
    int operands;        /* of the shape of the first */
    int vectors;         /* as long as a line */
    int full;            /* the result has the shape of the first operand */
    size_t keep, keep_n; /* numbers kept per line: keep + keep_n n */
    void (*value)(const struct line *l);
    void (*vjp)(const struct line *l);
    void (*jvp)(const struct line *l);
    /* g of elements at .. at + m of the line; for vjp and jvp of results that are numbers */
    void (*slope)(const struct line *l, size_t at, size_t m, const double *x, double *g);
    void (*expand)(wg_tape *t, const struct written *l);
};

/* ---- lines of a matrix ---- */

struct steps {
    size_t next, line; /* from one element, and from one line to the next */
};

static struct steps steps_of(const wg_block_arg *a, size_t ld, wg_axis axis) {
    const size_t down = a->trans ? ld : 1, across = a->trans ? 1 : ld;
    const struct steps s = {axis == WG_EACH_ROW ? across : down,
                            axis == WG_EACH_ROW ? down : across};
    return s;
}

static size_t length(const wg_block_arg *a, wg_axis axis) {
    return axis == WG_ALL ? a->rows * a->cols : axis == WG_EACH_COL ? a->rows : a->cols;
}

static size_t lines(const wg_block_arg *a, wg_axis axis) {
    return axis == WG_ALL ? 1 : axis == WG_EACH_COL ? a->cols : a->rows;
}

/* g lines of n elements to and from packed room. */
static void pack(const double *x, struct steps s, size_t n, size_t g, double *room) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < g; l++) room[l * n + i] = x[i * s.next + l * s.line];
}
static void unpack(double *x, struct steps s, size_t n, size_t g, const double *room) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < g; l++) x[i * s.next + l * s.line] = room[l * n + i];
}
static void unpack_add(double *x, struct steps s, size_t n, size_t g, const double *room) {
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < g; l++) x[i * s.next + l * s.line] += room[l * n + i];
}

static void call(const struct line *l, int what) {
    (what == VALUE ? l->op->value : what == VJP ? l->op->vjp : l->op->jvp)(l);
}

/* One line of all elements: a run for every column as it is stored. */
static void all_elements(const wg_block *b, struct line *l, int what) {
    const int operands = l->op->operands;
    l->len = b->in->trans ? b->in->cols : b->in->rows;
    l->pieces = b->in->trans ? b->in->rows : b->in->cols;
    int gaps = 0;
    for (int k = 0; k < operands; k++) {
        l->x[k] = b->in[k].value;
        l->bar[k] = what == VALUE ? NULL : b->in[k].bar;
        l->stride[k] = b->in[k].ld;
        l->bar_stride[k] = b->in[k].bar_ld;
        gaps |= l->stride[k] != l->len || l->bar_stride[k] != l->len;
    }
    if (!gaps || l->n == 0) l->len = l->n, l->pieces = l->n != 0;
    l->y = b->out->value;
    l->w = b->out->bar;
    call(l, what);
}

/* Every column, or every row. */
static void each_line(const wg_block *b, struct line *l, size_t count, double *room, int what) {
    const struct line_op *const op = l->op;
    const wg_axis axis = l->p->axis;
    const size_t n = l->n, kept = op->keep + op->keep_n * n;
    const struct steps to = steps_of(b->out, b->out->ld, axis);
    struct steps from[2], bar[2];
    int together = n <= 1 || !op->full || to.next == 1;
    for (int k = 0; k < op->operands; k++) {
        from[k] = steps_of(&b->in[k], b->in[k].ld, axis);
        bar[k] = steps_of(&b->in[k], b->in[k].bar_ld, axis);
        together = together && (n <= 1 || (from[k].next == 1 && bar[k].next == 1));
    }
    l->len = n, l->pieces = n != 0;
    const size_t group = together ? 1 : TOGETHER;
    double *const y = room, *const w = y + group * n;
    for (size_t first = 0, g; first < count; first += g) {
        g = count - first < group ? count - first : group;
        double *x[2], *x_bar[2] = {NULL, NULL};
        for (int k = 0; k < op->operands; k++) {
            double *const value = b->in[k].value + first * from[k].line;
            double *const there = what == VALUE ? NULL : b->in[k].bar;
            x[k] = value;
            if (there != NULL) x_bar[k] = there + first * bar[k].line;
            if (together) continue;
            x[k] = w + (size_t)(1 + 2 * k) * group * n;
            pack(value, from[k], n, g, x[k]);
            if (there == NULL) continue;
            x_bar[k] = x[k] + group * n;
            if (what == JVP) pack(there + first * bar[k].line, bar[k], n, g, x_bar[k]);
            else memset(x_bar[k], 0, g * n * sizeof(double));
        }
        double *const value = b->out->value + first * (op->full ? to.line : 1);
        double *const adjoint =
            what == VALUE ? NULL : b->out->bar + first * (op->full ? to.line : 1);
        const int copied = op->full && !together;
        if (copied && what != VALUE) pack(value, to, n, g, y);
        if (copied && what == VJP) pack(adjoint, to, n, g, w);
        for (size_t i = 0; i < g; i++) {
            for (int k = 0; k < op->operands; k++) {
                l->x[k] = x[k] + i * n;
                l->bar[k] = x_bar[k] != NULL ? x_bar[k] + i * n : NULL;
            }
            l->y = copied ? y + i * n : value + i;
            l->w = copied ? w + i * n : what == VALUE ? NULL : adjoint + i;
            l->number = first + i;
            if (kept != 0) l->saved = (double *)b->saved + (first + i) * kept;
            call(l, what);
        }
        if (copied && what == VALUE) unpack(value, to, n, g, y);
        if (copied && what == JVP) unpack(adjoint, to, n, g, w);
        for (int k = 0; k < op->operands; k++)
            if (!together && what == VJP && x_bar[k] != NULL)
                unpack_add(b->in[k].bar + first * bar[k].line, bar[k], n, g, x_bar[k]);
    }
}

/* A vector either way, as a line. */
static struct steps along(const wg_block_arg *a, size_t ld) {
    const struct steps s = {(a->cols == 1) == !a->trans ? 1 : ld, 0};
    return s;
}

static wg_status run(wg_block *b, const struct line_op *op, int what) {
    const struct params *const p = b->params;
    struct line l;
    memset(&l, 0, sizeof l);
    l.op = op, l.p = p, l.simd = wgi_simd_best();
    l.n = length(b->in, p->axis);
    l.saved = b->saved;
    double *room = b->work;
    for (int k = 0; k < op->vectors; k++, room += 2 * l.n) {
        const wg_block_arg *const a = &b->in[op->operands + k];
        l.vector[k] = room;
        pack(a->value, along(a, a->ld), l.n, 1, l.vector[k]);
        if (what == VALUE || a->bar == NULL) continue;
        l.vector_bar[k] = room + l.n;
        if (what == JVP) pack(a->bar, along(a, a->bar_ld), l.n, 1, l.vector_bar[k]);
        else memset(l.vector_bar[k], 0, l.n * sizeof(double));
    }
    if (p->axis == WG_ALL) all_elements(b, &l, what);
    else each_line(b, &l, lines(b->in, p->axis), room, what);
    for (int k = 0; k < op->vectors; k++) {
        const wg_block_arg *const a = &b->in[op->operands + k];
        if (what == VJP && l.vector_bar[k] != NULL)
            unpack_add(a->bar, along(a, a->bar_ld), l.n, 1, l.vector_bar[k]);
    }
    return WG_OK;
}

static wg_status shape(wg_block *b, const struct line_op *op) {
    const struct params *const p = b->params;
    const wg_block_arg *const a = b->in;
    if (p->axis != WG_ALL && p->axis != WG_EACH_COL && p->axis != WG_EACH_ROW) {
        b->why = "no such axis";
        return WG_EARG;
    }
    const size_t n = length(a, p->axis), count = lines(a, p->axis);
    for (int k = 1; k < op->operands; k++)
        if (b->in[k].rows != a->rows || b->in[k].cols != a->cols) return WG_ESHAPE;
    for (int k = 0; k < op->vectors; k++) {
        const wg_block_arg *const v = &b->in[op->operands + k];
        if ((v->rows != 1 && v->cols != 1) || v->rows * v->cols != n) {
            b->why = "gain and bias are vectors as long as a line";
            return WG_ESHAPE;
        }
    }
    b->out->rows = op->full || p->axis == WG_EACH_ROW ? a->rows : 1;
    b->out->cols = op->full || p->axis == WG_EACH_COL ? a->cols : 1;
    size_t kept, per_line = (size_t)(2 * op->vectors);
    if (p->axis != WG_ALL) per_line += (size_t)(2 * op->operands + 2) * TOGETHER;
    if (__builtin_mul_overflow(n, op->keep_n * sizeof(double), &kept) ||
        __builtin_add_overflow(kept, op->keep * sizeof(double), &kept) ||
        __builtin_mul_overflow(kept, count, &b->saved_bytes) ||
        __builtin_mul_overflow(n, per_line * sizeof(double), &b->work_bytes))
        return WG_ENOMEM;
    return WG_OK;
}

/* The runs of a line, and what is at the same place of operand k. */
#define RUNS(l, r) for (size_t r = 0; r < (l)->pieces; r++)
static double *run_of(const struct line *l, int k, size_t r) {
    return l->x[k] + r * l->stride[k];
}
static double *bar_of(const struct line *l, int k, size_t r) {
    return l->bar[k] + r * l->bar_stride[k];
}
/* A run's first element in results, which have no gaps. */
static size_t place(const struct line *l, size_t r) { return r * l->len; }

/* Sum of products, each 0 where a factor is. */
static double inner(const wgi_simd *simd, size_t n, const double *x, const double *y) {
    double s = simd->dot(n, x, y);
    if (s == s) return s;
    s = 0;
    for (size_t i = 0; i < n; i++) s += wgi_times(x[i], y[i]);
    return s;
}

/* ---- results that are numbers: vjp and jvp from the slope ---- */

static void slope_vjp(const struct line *l) {
    double g[CHUNK];
    const double w = *l->w;
    if (w == 0) return;
    RUNS(l, r)
    for (size_t i = 0, m; i < l->len; i += m) {
        m = l->len - i < CHUNK ? l->len - i : CHUNK;
        l->op->slope(l, place(l, r) + i, m, run_of(l, 0, r) + i, g);
        l->simd->axpy(m, w, g, bar_of(l, 0, r) + i);
    }
}

static void slope_jvp(const struct line *l) {
    double g[CHUNK], t = 0;
    RUNS(l, r)
    for (size_t i = 0, m; i < l->len; i += m) {
        m = l->len - i < CHUNK ? l->len - i : CHUNK;
        l->op->slope(l, place(l, r) + i, m, run_of(l, 0, r) + i, g);
        t += inner(l->simd, m, g, bar_of(l, 0, r) + i);
    }
    *l->w = t;
}

/* ---- sum, mean ---- */

static double total(const struct line *l, double *(*of)(const struct line *, int, size_t)) {
    double s = 0;
    RUNS(l, r) s += l->simd->sum(l->len, of(l, 0, r));
    return s;
}
static void spread(const struct line *l, double w) {
    if (w == 0) return;
    RUNS(l, r) l->simd->add(l->len, w, bar_of(l, 0, r));
}
static void sum_value(const struct line *l) { *l->y = total(l, run_of); }
static void sum_vjp(const struct line *l) { spread(l, *l->w); }
static void sum_jvp(const struct line *l) { *l->w = total(l, bar_of); }
static void mean_value(const struct line *l) { *l->y = total(l, run_of) / (double)l->n; }
static void mean_vjp(const struct line *l) { spread(l, *l->w / (double)l->n); }
static void mean_jvp(const struct line *l) { *l->w = total(l, bar_of) / (double)l->n; }

/* ---- variance: saved m and e, the mean is m + e ---- */

static double squares(const struct line *l) {
    double s[2], sum[2] = {0, 0};
    if (l->n == 0) return NAN;
    const double c = *l->x[0];
    RUNS(l, r) {
        l->simd->moments(l->len, run_of(l, 0, r), c, s);
        sum[0] += s[0];
    }
    const double m = c + sum[0] / (double)l->n;
    sum[0] = 0;
    RUNS(l, r) {
        l->simd->moments(l->len, run_of(l, 0, r), m, s);
        sum[0] += s[0], sum[1] += s[1];
    }
    l->saved[0] = m;
    l->saved[1] = sum[0] / (double)l->n;
    return sum[1] - sum[0] * l->saved[1];
}

static double var_of(const struct line *l) {
    const double s = squares(l), of = (double)l->n - l->p->p;
    return of > 0 ? (s > 0 ? s : s == s ? 0.0 : s) / of : NAN;
}

static void var_value(const struct line *l) { *l->y = var_of(l); }
static void var_slope(const struct line *l, size_t at, size_t m, const double *x, double *g) {
    const double of = (double)l->n - l->p->p, c = of > 0 ? 2 / of : NAN;
    (void)at;
    for (size_t i = 0; i < m; i++) g[i] = c * ((x[i] - l->saved[0]) - l->saved[1]);
}

static void std_value(const struct line *l) { *l->y = sqrt(var_of(l)); }
static void std_slope(const struct line *l, size_t at, size_t m, const double *x, double *g) {
    const double of = (double)l->n - l->p->p, v = *l->y, c = of > 0 ? 1 / of : NAN;
    (void)at;
    for (size_t i = 0; i < m; i++)
        g[i] = v == 0 ? 0.0 : c * (((x[i] - l->saved[0]) - l->saved[1]) / v);
}

/* ---- product: saved are the products of what comes before ---- */

static void prod_value(const struct line *l) {
    double p = 1, *before = l->saved;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        *before++ = p;
        p *= run_of(l, 0, r)[i];
    }
    *l->y = p;
}
static void prod_vjp(const struct line *l) {
    double after = 1;
    const double w = *l->w, *before = l->saved + l->n;
    if (w == 0) return;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) {
            bar_of(l, 0, r)[i] += wgi_times(w, wgi_times(*--before, after));
            after = wgi_times(after, run_of(l, 0, r)[i]);
        }
}
static void prod_jvp(const struct line *l) {
    double after = 1, t = 0;
    const double *before = l->saved + l->n;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) {
            t += wgi_times(bar_of(l, 0, r)[i], wgi_times(*--before, after));
            after = wgi_times(after, run_of(l, 0, r)[i]);
        }
    *l->w = t;
}

/* ---- extrema: saved is the number of ties ---- */

static double ties(const struct line *l, double y) {
    size_t count = 0;
    RUNS(l, r) {
        const double *const x = run_of(l, 0, r);
        for (size_t i = 0; i < l->len; i++) count += x[i] == y;
    }
    return (double)count;
}

static double top(const struct line *l) {
    double m = -INFINITY;
    RUNS(l, r) {
        const double a = l->simd->largest(l->len, run_of(l, 0, r));
        if (a != a) return a;
        if (a > m) m = a;
    }
    return m;
}

static void max_value(const struct line *l) {
    *l->y = top(l);
    *l->saved = ties(l, *l->y);
}
static void min_value(const struct line *l) {
    double m = INFINITY;
    RUNS(l, r) {
        const double a = l->simd->smallest(l->len, run_of(l, 0, r));
        if (!(a >= m)) m = a;
        if (m != m) break;
    }
    *l->y = m;
    *l->saved = ties(l, m);
}
static void extremum_slope(const struct line *l, size_t at, size_t m, const double *x,
                           double *g) {
    const double y = *l->y, share = 1 / *l->saved;
    (void)at;
    for (size_t i = 0; i < m; i++) g[i] = y != y ? y : x[i] == y ? share : 0.0;
}

/* ---- norms: saved is the number of ties for p = infinity; otherwise m and the norm of x / m,
 * whose product may be subnormal and has few digits then ---- */

static double sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }

static double top_abs(const struct line *l) {
    double m = 0;
    RUNS(l, r) {
        const double a = l->simd->largest_abs(l->len, run_of(l, 0, r));
        if (a != a) return a;
        if (a > m) m = a;
    }
    return m;
}

static double norm_of(const struct line *l, double p) {
    double s = 0;
    if (p == 1) {
        RUNS(l, r) s += l->simd->sum_abs(l->len, run_of(l, 0, r));
        return s;
    }
    if (p == 2) {
        RUNS(l, r) s += l->simd->dot(l->len, run_of(l, 0, r), run_of(l, 0, r));
        if (s > 1e-280 && s < 1e290) {
            l->saved[0] = 1;
            return l->saved[1] = sqrt(s);
        }
    }
    const double m = top_abs(l);
    if (p == INFINITY) {
        size_t count = 0;
        RUNS(l, r)
        for (size_t i = 0; i < l->len; i++) count += fabs(run_of(l, 0, r)[i]) == m;
        *l->saved = (double)count;
        return m;
    }
    if (!(m > 0 && m < INFINITY)) {
        l->saved[0] = 1;
        return l->saved[1] = m;
    }
    s = 0;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        const double q = fabs(run_of(l, 0, r)[i]) / m;
        s += p == 2 ? q * q : pow(q, p);
    }
    l->saved[0] = m;
    l->saved[1] = p == 2 ? sqrt(s) : pow(s, 1 / p);
    return m * l->saved[1];
}

static void norm_value(const struct line *l) { *l->y = norm_of(l, l->p->p); }
static void norm_slope(const struct line *l, size_t at, size_t m, const double *x, double *g) {
    const double p = l->p->p, y = *l->y, share = p == INFINITY ? 1 / *l->saved : 1;
    (void)at;
    if (y == 0) memset(g, 0, m * sizeof(double));
    else if (y != y)
        for (size_t i = 0; i < m; i++) g[i] = y;
    else if (p == 1)
        for (size_t i = 0; i < m; i++) g[i] = sign(x[i]);
    else if (p == INFINITY)
        for (size_t i = 0; i < m; i++) g[i] = fabs(x[i]) == y ? share * sign(x[i]) : 0.0;
    else
        for (size_t i = 0; i < m; i++) {
            const double q = (l->saved[0] == 1 ? x[i] : x[i] / l->saved[0]) / l->saved[1];
            g[i] = p == 2 ? q : sign(q) * pow(fabs(q), p - 1);
        }
}

/* ---- cumulative ---- */

static void cumulate(const struct line *l, double *(*of)(const struct line *, int, size_t),
                     double *y) {
    double s = 0;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) *y++ = s += of(l, 0, r)[i];
}
static void cumsum_value(const struct line *l) { cumulate(l, run_of, l->y); }
static void cumsum_jvp(const struct line *l) { cumulate(l, bar_of, l->w); }
static void cumsum_vjp(const struct line *l) {
    double s = 0;
    const double *w = l->w + l->n;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) bar_of(l, 0, r)[i] += s += *--w;
}

static void cumprod_value(const struct line *l) {
    double p = 1, *y = l->y;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) *y++ = p *= run_of(l, 0, r)[i];
}
static void cumprod_vjp(const struct line *l) {
    double s = 0, next = 0;
    size_t k = l->n;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) {
            s = l->w[--k] + wgi_times(s, next);
            next = run_of(l, 0, r)[i];
            bar_of(l, 0, r)[i] += wgi_times(k != 0 ? l->y[k - 1] : 1.0, s);
        }
}
static void cumprod_jvp(const struct line *l) {
    double t = 0;
    size_t k = 0;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        t = wgi_times(t, run_of(l, 0, r)[i]) +
            wgi_times(k != 0 ? l->y[k - 1] : 1.0, bar_of(l, 0, r)[i]);
        l->w[k] = t;
    }
}

/* ---- softmax: m the largest x, e = exp(x - m) ---- */

/* e of the line, unless NULL; the sum of all e but that of the first largest, which is 1: with
 * it the logarithm of the sum is log1p, accurate also where it is small. Infinite largest x
 * share evenly. */
static double exponentials(const struct line *l, double m, double *e) {
    double rest = 0;
    int seen = 0;
    if (!(fabs(m) < INFINITY)) rest = m != m ? m : ties(l, m) - 1;
    RUNS(l, r) {
        const double *const x = run_of(l, 0, r);
        double *const to = e != NULL ? e + place(l, r) : NULL;
        if (!(fabs(m) < INFINITY)) {
            for (size_t i = 0; to != NULL && i < l->len; i++) to[i] = m != m ? m : x[i] == m;
            continue;
        }
        size_t i = 0;
        while (!seen && i < l->len && x[i] != m) i++;
        if (seen || i == l->len) {
            rest += l->simd->exp_sum(l->len, x, m, to);
            continue;
        }
        seen = 1;
        rest += l->simd->exp_sum(i, x, m, to);
        rest += l->simd->exp_sum(l->len - i - 1, x + i + 1, m, to != NULL ? to + i + 1 : NULL);
        if (to != NULL) to[i] = 1;
    }
    return rest;
}

/* m - x, also where both are infinite */
static double below(double m, double x) { return x == m ? 0.0 : m - x; }

static void scale(const wgi_simd *simd, size_t n, double c, double *y) {
    wg_block_arg a;
    memset(&a, 0, sizeof a);
    a.value = y;
    simd->row[WGI_ROW_scale].value(n, &a, &a, NULL, &c);
}

/* saved: m and the sum of e */
static void logsumexp_value(const struct line *l) {
    const double m = top(l), rest = l->n != 0 ? exponentials(l, m, NULL) : 0;
    l->saved[0] = m;
    l->saved[1] = 1 + rest;
    *l->y = fabs(m) < INFINITY ? m + log1p(rest) : m;
}
static void logsumexp_slope(const struct line *l, size_t at, size_t n, const double *x,
                            double *g) {
    const double m = l->saved[0], share = 1 / l->saved[1];
    (void)at;
    if (fabs(m) < INFINITY) (void)l->simd->exp_sum(n, x, m, g);
    else
        for (size_t i = 0; i < n; i++) g[i] = m != m ? m : x[i] == m;
    scale(l->simd, n, share, g);
}

static void softmax_value(const struct line *l) {
    if (l->n == 0) return;
    const double rest = exponentials(l, top(l), l->y);
    scale(l->simd, l->n, 1 / (1 + rest), l->y);
}

/* to_i += p_i (t_i - sum of p t). Of the one p above 1/2 the difference is summed up as
 * differences, which cancel nothing. t and to are given as run and step from run to run. */
static void add_centred(const struct line *l, const double *t, size_t t_step, double *to,
                        size_t to_step) {
    const double *const p = l->y;
    double s = 0;
    RUNS(l, r) s += inner(l->simd, l->len, p + place(l, r), t + r * t_step);
    RUNS(l, r) {
        const size_t i =
            l->simd->centred(l->len, p + place(l, r), t + r * t_step, s, to + r * to_step);
        if (i == l->len) continue;
        double lead = 0;
        RUNS(l, k)
        for (size_t j = 0; j < l->len; j++)
            lead += wgi_times(p[place(l, k) + j], t[r * t_step + i] - t[k * t_step + j]);
        to[r * to_step + i] += wgi_times(p[place(l, r) + i], lead);
    }
}
static void softmax_vjp(const struct line *l) {
    add_centred(l, l->w, l->len, l->bar[0], l->bar_stride[0]);
}
static void softmax_jvp(const struct line *l) {
    memset(l->w, 0, l->n * sizeof(double));
    add_centred(l, l->bar[0], l->bar_stride[0], l->w, l->len);
}

/* saved: p = softmax(x), for log-softmax and cross-entropies */

static double keep_softmax(const struct line *l, double *m) {
    *m = top(l);
    const double rest = exponentials(l, *m, l->saved);
    scale(l->simd, l->n, 1 / (1 + rest), l->saved);
    return rest;
}

static void log_softmax_value(const struct line *l) {
    double m;
    if (l->n == 0) return;
    const double log_sum = log1p(keep_softmax(l, &m));
    RUNS(l, r) {
        const double *const x = run_of(l, 0, r);
        double *const y = l->y + place(l, r);
        for (size_t i = 0; i < l->len; i++) y[i] = -below(m, x[i]) - log_sum;
    }
}
/* c - p s with s the sum of all c; of the one p above 1/2 without the difference that cancels:
 * c (1 - p) - p (s - c), each summed up over the others. */
static double less_share(const double *p, size_t n, size_t i, const double *c, double s) {
    if (!(p[i] > 0.5)) return c[i] - wgi_times(p[i], s);
    double others_p = 0, others_c = 0;
    for (size_t j = 0; j < n; j++)
        if (j != i) others_p += p[j], others_c += c[j];
    return wgi_times(c[i], others_p) - wgi_times(p[i], others_c);
}
static void log_softmax_vjp(const struct line *l) {
    const double s = l->simd->sum(l->n, l->w);
    RUNS(l, r) {
        double *const bar = bar_of(l, 0, r);
        const size_t at = place(l, r);
        for (size_t i = 0; i < l->len; i++)
            bar[i] += less_share(l->saved, l->n, at + i, l->w, s);
    }
}
static void log_softmax_jvp(const struct line *l) {
    double s = 0;
    RUNS(l, r) s += inner(l->simd, l->len, l->saved + place(l, r), bar_of(l, 0, r));
    RUNS(l, r) {
        const double *const t = bar_of(l, 0, r);
        for (size_t i = 0; i < l->len; i++) l->w[place(l, r) + i] = t[i] - s;
    }
}

/* ---- cross-entropies ---- */

/* saved: g = p, less 1 at the label as a sum over the others */
static void cross_entropy_value(const struct line *l) {
    const size_t label = l->p->label[l->number];
    const double x = run_of(l, 0, label / l->len)[label % l->len], m = top(l);
    const double rest = exponentials(l, m, l->saved), sum = 1 + rest;
    const double others = x == m ? rest : sum - l->saved[label];
    scale(l->simd, l->n, 1 / sum, l->saved);
    l->saved[label] = -others / sum;
    *l->y = below(m, x) + log1p(rest);
}
static void cross_entropy_slope(const struct line *l, size_t at, size_t n, const double *x,
                                double *g) {
    (void)x;
    memcpy(g, l->saved + at, n * sizeof(double));
}

/* saved: p, then m and the logarithm of the sum */
static void cross_entropy_soft_value(const struct line *l) {
    double m = 0, y = 0;
    const double log_sum = l->n != 0 ? log1p(keep_softmax(l, &m)) : 0;
    l->saved[l->n] = m;
    l->saved[l->n + 1] = log_sum;
    RUNS(l, r) {
        const double *const x = run_of(l, 0, r), *const q = run_of(l, 1, r);
        for (size_t i = 0; i < l->len; i++) y += wgi_times(q[i], below(m, x[i]) + log_sum);
    }
    *l->y = y;
}
static double soft_slope(const struct line *l, size_t r, size_t i, double sum_q) {
    const double *const p = l->saved, p_i = p[place(l, r) + i], q_i = run_of(l, 1, r)[i];
    if (!(p_i > 0.5)) return wgi_times(p_i, sum_q) - q_i;
    double others_p = 0, others_q = 0;
    RUNS(l, s)
    for (size_t j = 0; j < l->len; j++)
        if (s != r || j != i) others_p += p[place(l, s) + j], others_q += run_of(l, 1, s)[j];
    return wgi_times(p_i, others_q) - wgi_times(q_i, others_p);
}
static double sum_weights(const struct line *l) {
    double s = 0;
    RUNS(l, r) s += l->simd->sum(l->len, run_of(l, 1, r));
    return s;
}
static void cross_entropy_soft_vjp(const struct line *l) {
    const double w = *l->w, sum_q = sum_weights(l);
    const double m = l->saved[l->n], log_sum = l->saved[l->n + 1];
    if (w == 0) return;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        if (l->bar[0] != NULL) bar_of(l, 0, r)[i] += wgi_times(w, soft_slope(l, r, i, sum_q));
        if (l->bar[1] != NULL)
            bar_of(l, 1, r)[i] += wgi_times(w, below(m, run_of(l, 0, r)[i]) + log_sum);
    }
}
static void cross_entropy_soft_jvp(const struct line *l) {
    const double sum_q = sum_weights(l), m = l->saved[l->n], log_sum = l->saved[l->n + 1];
    double t = 0;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        if (l->bar[0] != NULL) t += wgi_times(bar_of(l, 0, r)[i], soft_slope(l, r, i, sum_q));
        if (l->bar[1] != NULL)
            t += wgi_times(bar_of(l, 1, r)[i], below(m, run_of(l, 0, r)[i]) + log_sum);
    }
    *l->w = t;
}

/* ---- layer norm: saved m and e, the mean is m + e, and 1 / sqrt(variance + eps) ---- */

static double standard(const struct line *l, double x) {
    return ((x - l->saved[0]) - l->saved[1]) * l->saved[2];
}
static void layer_norm_value(const struct line *l) {
    if (l->n == 0) return;
    const double s = squares(l) / (double)l->n;
    l->saved[2] = 1 / sqrt((s < 0 ? 0.0 : s) + l->p->p);
    size_t k = 0;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++)
        l->y[k] = standard(l, run_of(l, 0, r)[i]) * l->vector[0][k] + l->vector[1][k];
}
static void layer_norm_vjp(const struct line *l) {
    const double *const gain = l->vector[0], *const w = l->w;
    double mean_u = 0, mean_uz = 0;
    size_t k = 0;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        const double z = standard(l, run_of(l, 0, r)[i]), u = wgi_times(w[k], gain[k]);
        mean_u += u;
        mean_uz += wgi_times(u, z);
        if (l->vector_bar[0] != NULL) l->vector_bar[0][k] += wgi_times(w[k], z);
        if (l->vector_bar[1] != NULL) l->vector_bar[1][k] += w[k];
    }
    mean_u /= (double)l->n;
    mean_uz /= (double)l->n;
    k = 0;
    if (l->bar[0] != NULL) RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        const double z = standard(l, run_of(l, 0, r)[i]), u = wgi_times(w[k], gain[k]);
        bar_of(l, 0, r)[i] += wgi_times(l->saved[2], u - mean_u - wgi_times(z, mean_uz));
    }
}
static void layer_norm_jvp(const struct line *l) {
    double mean_t = 0, mean_tz = 0;
    size_t k = 0;
    if (l->bar[0] != NULL) RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        const double t = bar_of(l, 0, r)[i];
        mean_t += t;
        mean_tz += wgi_times(t, standard(l, run_of(l, 0, r)[i]));
    }
    mean_t /= (double)l->n;
    mean_tz /= (double)l->n;
    RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        const double z = standard(l, run_of(l, 0, r)[i]);
        double t = l->vector_bar[1] != NULL ? l->vector_bar[1][k] : 0.0;
        if (l->vector_bar[0] != NULL) t += wgi_times(l->vector_bar[0][k], z);
        if (l->bar[0] != NULL)
            t += wgi_times(l->vector[0][k], wgi_times(l->saved[2], bar_of(l, 0, r)[i] - mean_t -
                                                                       wgi_times(z, mean_tz)));
        l->w[k] = t;
    }
}

/* ---- written out, as a part of a function ---- */

/* A line of variables. */
struct written {
    const struct params *p;
    size_t n, number;
    const wg_real *x[2], *vector[2];
    wg_real *y, *room; /* room of n */
};

static void sum_expand(wg_tape *t, const struct written *l) {
    *l->y = wg_sum(t, l->n, l->x[0]);
}
static void mean_expand(wg_tape *t, const struct written *l) {
    *l->y = wg_mean(t, l->n, l->x[0]);
}
static void prod_expand(wg_tape *t, const struct written *l) {
    *l->y = wg_product(t, l->n, l->x[0]);
}
static void max_expand(wg_tape *t, const struct written *l) {
    *l->y = wg_maximum(t, l->n, l->x[0]);
}
static void min_expand(wg_tape *t, const struct written *l) {
    *l->y = wg_minimum(t, l->n, l->x[0]);
}
static void logsumexp_expand(wg_tape *t, const struct written *l) {
    *l->y = wg_logsumexp(t, l->n, l->x[0]);
}

/* room = what is left of x without its mean, which is taken off twice */
static void centre(wg_tape *t, const struct written *l) {
    const wg_real *x = l->x[0];
    for (int again = 0; again < 2; again++, x = l->room) {
        const wg_real mean = wg_mean(t, l->n, x);
        for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_sub(x[i], mean));
    }
}
static void var_expand(wg_tape *t, const struct written *l) {
    const double of = (double)l->n - l->p->p;
    *l->y = wg_constant(NAN);
    if (!(of > 0)) return;
    centre(t, l);
    *l->y = wg_let(t, wg_div(wg_squared_norm(t, l->n, l->room), of));
}
static void std_expand(wg_tape *t, const struct written *l) {
    const double of = (double)l->n - l->p->p;
    *l->y = wg_constant(NAN);
    if (!(of > 0)) return;
    centre(t, l);
    *l->y = wg_let(t, wg_div(wg_norm2(t, l->n, l->room), sqrt(of)));
}

/* Scaled by the power of two below the largest number: a step, without derivative. */
static void norm_expand(wg_tape *t, const struct written *l) {
    const double p = l->p->p;
    wg_real *const a = l->room;
    *l->y = wg_constant(0);
    if (l->n == 0) return;
    for (size_t i = 0; i < l->n && p != 2; i++) a[i] = wg_let(t, wg_fabs(l->x[0][i]));
    if (p == 1) *l->y = wg_sum(t, l->n, a);
    else if (p == 2) *l->y = wg_norm2(t, l->n, l->x[0]);
    else if (p == INFINITY) *l->y = wg_maximum(t, l->n, a);
    else {
        const wg_real largest = wg_maximum(t, l->n, a);
        const wg_real unit =
            wg_let(t, wg_exp2(wg_floor(wg_log2(wg_clamp(largest, DBL_MIN, 0x1p1023)))));
        for (size_t i = 0; i < l->n; i++) a[i] = wg_let(t, wg_pow(wg_div(a[i], unit), p));
        *l->y = wg_let(t, wg_mul(unit, wg_pow(wg_sum(t, l->n, a), 1 / p)));
    }
}

static void cumsum_expand(wg_tape *t, const struct written *l) {
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = i == 0 ? l->x[0][0] : wg_let(t, wg_add(l->y[i - 1], l->x[0][i]));
}
static void cumprod_expand(wg_tape *t, const struct written *l) {
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = i == 0 ? l->x[0][0] : wg_let(t, wg_mul(l->y[i - 1], l->x[0][i]));
}

/* room = x less the largest of them; infinite largest ones share */
static void shift(wg_tape *t, const struct written *l) {
    for (size_t i = 0; i < l->n; i++)
        l->room[i] = wg_let(t, wg_clamp(l->x[0][i], -INFINITY, DBL_MAX));
    const wg_real largest = wg_maximum(t, l->n, l->room), held = wgi_expand_held(t, largest);
    for (size_t i = 0; i < l->n; i++)
        l->room[i] = wg_let(t, wg_select_eq(largest, -INFINITY, 0, wg_sub(l->room[i], held)));
}
static void softmax_expand(wg_tape *t, const struct written *l) {
    if (l->n == 0) return;
    shift(t, l);
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_exp(l->room[i]));
    const wg_real sum = wg_sum(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) l->y[i] = wg_let(t, wg_div(l->room[i], sum));
}
static void log_softmax_expand(wg_tape *t, const struct written *l) {
    if (l->n == 0) return;
    shift(t, l);
    const wg_real log_sum = wg_logsumexp(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) l->y[i] = wg_let(t, wg_sub(l->room[i], log_sum));
}

/* Of differences with the label's: nothing cancels, in the slopes neither. */
static void cross_entropy_expand(wg_tape *t, const struct written *l) {
    const size_t label = l->p->label[l->number];
    for (size_t i = 0; i < l->n; i++)
        l->room[i] =
            i == label ? wg_constant(0) : wg_let(t, wg_sub(l->x[0][i], l->x[0][label]));
    *l->y = wg_logsumexp(t, l->n, l->room);
}
static void cross_entropy_soft_expand(wg_tape *t, const struct written *l) {
    *l->y = wg_constant(0);
    if (l->n == 0) return;
    shift(t, l);
    const wg_real log_sum = wg_logsumexp(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) {
        const wg_real q = l->x[1][i], loss = wg_let(t, wg_sub(log_sum, l->room[i]));
        /* 0 for a q of 0, beside an infinite loss too */
        *l->y = wg_let(t, wg_add(*l->y, wg_select_eq(q, 0, wg_mul(q, wg_fmin(loss, DBL_MAX)),
                                                     wg_mul(q, loss))));
    }
}

static void layer_norm_expand(wg_tape *t, const struct written *l) {
    if (l->n == 0) return;
    centre(t, l);
    const wg_real s = wg_squared_norm(t, l->n, l->room);
    const wg_real share = wg_let(t, wg_inv(wg_sqrt(wg_add(wg_div(s, (double)l->n), l->p->p))));
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = wg_let(
            t, wg_add(wg_mul(wg_mul(l->room[i], share), l->vector[0][i]), l->vector[1][i]));
}

/* The place of element i of a line in its matrix. */
static size_t of_line(const wg_block_arg *a, wg_axis axis, size_t line, size_t i) {
    return axis == WG_ALL ? i : axis == WG_EACH_COL ? i + line * a->rows : line + i * a->rows;
}

static wg_status write_lines(wg_tape *t, const wg_block *b, const struct line_op *op,
                             const wg_real *x, wg_real *y) {
    const struct params *const p = b->params;
    const size_t n = length(b->in, p->axis), count = lines(b->in, p->axis);
    wg_real *const room = wgi_expand_room(t, 4 * n);
    if (room == NULL) return wg_tape_status(t);
    struct written l = {p, n, 0, {room, room + n}, {NULL, NULL}, room + 2 * n, room + 3 * n};
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

/* ---- descriptors ---- */

static wg_status no_elements(wg_block *b) {
    const struct params *const p = b->params;
    if (length(b->in, p->axis) != 0 || b->out->rows * b->out->cols == 0) return WG_OK;
    b->why = "lines without elements";
    return WG_ESHAPE;
}
static wg_status norm_order(wg_block *b) {
    const struct params *const p = b->params;
    if (p->p >= 1) return WG_OK;
    b->why = "a norm of order less than 1";
    return WG_EARG;
}
static wg_status labels(wg_block *b) {
    const struct params *const p = b->params;
    const size_t n = length(b->in, p->axis), count = lines(b->in, p->axis);
    if (p->label == NULL && count != 0) return WG_ENULL;
    for (size_t i = 0; i < count; i++)
        if (p->label[i] >= n) {
            b->why = "a label is not less than the number of classes";
            return WG_EARG;
        }
    return WG_OK;
}
static wg_status anything(wg_block *b) {
    (void)b;
    return WG_OK;
}

/* Operations that look at elements in no order take transposed operands. */
#define OP(name, flags, operands, vectors, full, keep, keep_n, vjp, jvp, slope, check)         \
    static const struct line_op name##_lines = {                                               \
        operands, vectors, full, keep, keep_n, name##_value, vjp, jvp, slope, name##_expand};  \
    static wg_status name##_shape(wg_block *b) {                                               \
        const wg_status s = shape(b, &name##_lines);                                           \
        return s == WG_OK ? check(b) : s;                                                      \
    }                                                                                          \
    static wg_status name##_run_value(wg_block *b) { return run(b, &name##_lines, VALUE); }    \
    static wg_status name##_run_vjp(wg_block *b) { return run(b, &name##_lines, VJP); }        \
    static wg_status name##_run_jvp(wg_block *b) { return run(b, &name##_lines, JVP); }        \
    static wg_status name##_write(wg_tape *t, const wg_block *b, const wg_real *x,             \
                                  wg_real *y) {                                                \
        return write_lines(t, b, &name##_lines, x, y);                                         \
    }                                                                                          \
    static const wg_block_op op_##name = {"wg_mat_" #name, WG_OP_ZERO_RULE | (flags),          \
                                          name##_shape,    name##_run_value,                   \
                                          name##_run_vjp,  name##_run_jvp,                     \
                                          name##_write}
#define NUMBER(name, keep, keep_n, vjp, jvp, slope, check)                                     \
    OP(name, WG_OP_TRANS, 1, 0, 0, keep, keep_n, vjp, jvp, slope, check)

NUMBER(sum, 0, 0, sum_vjp, sum_jvp, NULL, anything);
NUMBER(mean, 0, 0, mean_vjp, mean_jvp, NULL, no_elements);
NUMBER(var, 2, 0, slope_vjp, slope_jvp, var_slope, no_elements);
NUMBER(std, 2, 0, slope_vjp, slope_jvp, std_slope, no_elements);
NUMBER(prod, 0, 1, prod_vjp, prod_jvp, NULL, anything);
NUMBER(max, 1, 0, slope_vjp, slope_jvp, extremum_slope, no_elements);
NUMBER(min, 1, 0, slope_vjp, slope_jvp, extremum_slope, no_elements);
NUMBER(norm, 2, 0, slope_vjp, slope_jvp, norm_slope, norm_order);
NUMBER(logsumexp, 2, 0, slope_vjp, slope_jvp, logsumexp_slope, anything);
OP(cross_entropy, 0, 1, 0, 0, 0, 1, slope_vjp, slope_jvp, cross_entropy_slope, labels);
OP(cross_entropy_soft, 0, 2, 0, 0, 2, 1, cross_entropy_soft_vjp, cross_entropy_soft_jvp, NULL,
   anything);
OP(cumsum, 0, 1, 0, 1, 0, 0, cumsum_vjp, cumsum_jvp, NULL, anything);
OP(cumprod, 0, 1, 0, 1, 0, 0, cumprod_vjp, cumprod_jvp, NULL, anything);
OP(softmax, 0, 1, 0, 1, 0, 0, softmax_vjp, softmax_jvp, NULL, anything);
OP(log_softmax, 0, 1, 0, 1, 0, 1, log_softmax_vjp, log_softmax_jvp, NULL, anything);
OP(layer_norm, 0, 1, 2, 1, 3, 0, layer_norm_vjp, layer_norm_jvp, NULL, anything);

static wg_mat apply(wg_tape *t, const wg_block_op *op, wg_axis axis, double p,
                    const size_t *label, size_t inputs, const wg_mat *in) {
    const struct params params = {axis, p, label};
    wg_mat y = wg_mat_failed(0, 0);
    (void)wg_apply(t, op, &params, sizeof params, inputs, in, 1, &y);
    return y;
}

#define REDUCTION(name)                                                                        \
    wg_real wg_mat_##name(wg_tape *t, wg_mat a) {                                              \
        return wg_mat_at(apply(t, &op_##name, WG_ALL, 0, NULL, 1, &a), 0, 0);                  \
    }                                                                                          \
    wg_mat wg_mat_##name##_axis(wg_tape *t, wg_mat a, wg_axis axis) {                          \
        return apply(t, &op_##name, axis, 0, NULL, 1, &a);                                     \
    }
#define REDUCTION_WITH(name, p)                                                                \
    wg_real wg_mat_##name(wg_tape *t, wg_mat a, double p) {                                    \
        return wg_mat_at(apply(t, &op_##name, WG_ALL, p, NULL, 1, &a), 0, 0);                  \
    }                                                                                          \
    wg_mat wg_mat_##name##_axis(wg_tape *t, wg_mat a, double p, wg_axis axis) {                \
        return apply(t, &op_##name, axis, p, NULL, 1, &a);                                     \
    }
#define ALONG(name)                                                                            \
    wg_mat wg_mat_##name(wg_tape *t, wg_mat a, wg_axis axis) {                                 \
        return apply(t, &op_##name, axis, 0, NULL, 1, &a);                                     \
    }
REDUCTION(sum)
REDUCTION(mean)
REDUCTION_WITH(var, ddof)
REDUCTION_WITH(std, ddof)
REDUCTION(prod)
REDUCTION(max)
REDUCTION(min)
REDUCTION_WITH(norm, p)
REDUCTION(logsumexp)
ALONG(cumsum)
ALONG(cumprod)
ALONG(softmax)
ALONG(log_softmax)

/* Of no elements the norm is 0, not an extremum of nothing. */
static wg_real largest_norm(wg_tape *t, wg_mat a, wg_axis axis) {
    if (a.rows == 0 || a.cols == 0) return wg_mat_norm(t, a, 1);
    return wg_mat_max(t, wg_mat_norm_axis(t, a, 1, axis));
}
wg_real wg_mat_norm_one(wg_tape *t, wg_mat a) { return largest_norm(t, a, WG_EACH_COL); }
wg_real wg_mat_norm_inf(wg_tape *t, wg_mat a) { return largest_norm(t, a, WG_EACH_ROW); }

wg_mat wg_mat_cross_entropy(wg_tape *t, wg_mat a, const size_t *label, wg_axis axis) {
    const size_t count = axis == WG_ALL ? 1 : axis == WG_EACH_COL ? a.cols : a.rows;
    const size_t *const kept =
        label != NULL ? wg_tape_keep(t, count * sizeof *label, label) : NULL;
    /* not kept: there are none, or the tape has failed and only looks at the shape */
    return apply(t, &op_cross_entropy, axis, 0, kept != NULL ? kept : label, 1, &a);
}

wg_mat wg_mat_cross_entropy_soft(wg_tape *t, wg_mat a, wg_mat q, wg_axis axis) {
    const wg_mat in[] = {a, q};
    return apply(t, &op_cross_entropy_soft, axis, 0, NULL, 2, in);
}

wg_mat wg_mat_layer_norm(wg_tape *t, wg_mat a, wg_mat gain, wg_mat bias, double eps,
                         wg_axis axis) {
    const wg_mat in[] = {a, gain, bias};
    return apply(t, &op_layer_norm, axis, eps, NULL, 3, in);
}
