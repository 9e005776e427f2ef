/* SPDX-License-Identifier: MIT */
/* The adjoints of covariances as an operation of its own, with tangents, for second order.
 *
 * Operands: those of the covariances, then K and W, its adjoints; results the adjoints of X,
 * scale, the amplitudes, and Z. With h = e dK/dq and D as in covariance.c:
 *     ht = et dK/dq + e d2K/dq2 qt + e dK/dq 2 sigmat / sigma,  qt = 2 sum D Dt */
#include "covariance.h"

/* h = d2K/dq2 from q, K and dK/dq; where points coincide and it is infinite: 0, since D is, and
 * of pairs that are near, of half of dK/dr by r, over 2. */
static void bends(wg_kernel kernel, size_t n, const double *q, const double *k,
                  const double *slope, double *h) {
    switch (kernel) {
    case WG_SQUARED_EXPONENTIAL:
        for (size_t i = 0; i < n; i++) h[i] = 0.25 * k[i];
        break;
    case WG_MATERN_12:
        for (size_t i = 0; i < n; i++) {
            const double r = sqrt(q[i]);
            h[i] = -0.5 * slope[i] * (q[i] < WGI_PAIR_NEAR ? 1 : (1 + 1 / r) / r);
        }
        break;
    case WG_MATERN_32:
        for (size_t i = 0; i < n; i++)
            h[i] = q[i] > 0 ? -0.5 * slope[i] * wgi_root_3 / sqrt(q[i]) : 0;
        break;
    case WG_MATERN_52:
        for (size_t i = 0; i < n; i++) h[i] = -2.5 * slope[i] / (1 + wgi_root_5 * sqrt(q[i]));
        break;
    }
}

/* params: `lower`: W is symmetric, and only its lower triangle there; `points`: their adjoints
 * are wanted. */
struct back {
    wg_kernel kernel;
    int lower, points;
};

static wg_status back_shape(wg_block *b) {
    const size_t n = b->in[WGI_PAIR_POINTS].rows, d = b->in[WGI_PAIR_POINTS].cols;
    const size_t m = b->in[b->inputs - 1].cols;
    for (size_t i = 0; i < b->outputs; i++)
        b->out[i].rows = b->in[i].rows, b->out[i].cols = b->in[i].cols;
    b->work_bytes = 2 * (wgi_room_of(n * d) + wgi_room_of(m * d)) + 9 * wgi_room_of(n);
    return WG_OK;
}

struct pairs {
    struct back params;
    size_t n, m, d;
    int square, tangents;
    const wg_block_arg *scale, *k, *w;
    double *u, *v, *ut, *vt;                             /* scaled points */
    double *q, *qt, *e, *et, *f, *slope, *bend, *h, *ht; /* of a column */
    double sigma, sigma_t;
    double *to[WGI_PAIR_OTHERS + 1];         /* results: values, or tangents */
    double sum, sum_t, diagonal, diagonal_t; /* of e f; of W */
    int any_near;                            /* in this column */
};

static struct pairs pairs_in(const wg_block *b, int tangents) {
    const wg_block_arg *const x = &b->in[WGI_PAIR_POINTS], *const a =
                                                               &b->in[WGI_PAIR_AMPLITUDES];
    struct pairs s = {.params = *(const struct back *)b->params, .tangents = tangents};
    char *work = (char *)b->work;
    s.square = b->outputs == 3;
    s.k = &b->in[b->inputs - 2], s.w = &b->in[b->inputs - 1], s.scale = &b->in[WGI_PAIR_SCALE];
    s.n = x->rows, s.m = s.w->cols, s.d = x->cols;
    s.u = wgi_take(&work, s.n * s.d), s.ut = wgi_take(&work, s.n * s.d);
    s.v = wgi_take(&work, s.m * s.d), s.vt = wgi_take(&work, s.m * s.d);
    double **const column[] = {&s.q, &s.qt, &s.e, &s.et, &s.f, &s.slope, &s.bend, &s.h, &s.ht};
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        *column[i] = wgi_take(&work, s.n);
    wgi_pair_scaled(s.n, s.d, x, s.scale, s.u);
    if (s.square) s.v = s.u, s.vt = s.ut;
    else wgi_pair_scaled(s.m, s.d, &b->in[WGI_PAIR_OTHERS], s.scale, s.v);
    if (tangents) {
        wgi_pair_scaled_tangents(s.n, s.d, x, s.scale, s.u, s.ut);
        if (!s.square)
            wgi_pair_scaled_tangents(s.m, s.d, &b->in[WGI_PAIR_OTHERS], s.scale, s.v, s.vt);
    }
    s.sigma = a->value[0];
    s.sigma_t = tangents && a->bar != NULL ? a->bar[0] : 0;
    for (size_t i = 0; i < b->outputs; i++) {
        s.to[i] = tangents ? b->out[i].bar : b->out[i].value;
        memset(s.to[i], 0, b->out[i].rows * b->out[i].cols * sizeof(double));
    }
    return s;
}

/* The adjoints of pairs (i.., j), in a square matrix of both (i, j) and (j, i). */
static void pair_adjoints(const struct pairs *s, const double *w, size_t ld, size_t i, size_t j,
                          size_t n, double *e) {
    if (w == NULL) {
        memset(e, 0, n * sizeof *e);
        return;
    }
    const double *const column = w + i + j * ld;
    if (!s->square) memcpy(e, column, n * sizeof *e);
    else if (s->params.lower)
        for (size_t l = 0; l < n; l++) e[l] = 2 * column[l];
    else
        for (size_t l = 0; l < n; l++) e[l] = column[l] + w[j + (i + l) * ld];
}

/* h and ht of a column of pairs, and what it adds to the sums. */
static void pair_slopes(struct pairs *s, size_t i, size_t j, size_t n) {
    const wg_kernel kernel = s->params.kernel;
    const double square = s->sigma * s->sigma, inverse = 1 / square;
    const double twice = 2 * s->sigma * s->sigma_t;
    const double *const k = s->k->value + i + j * s->k->ld;
    pair_adjoints(s, s->w->value, s->w->ld, i, j, n, s->e);
    wgi_pair_distances(n, s->d, s->u + i, s->n, s->v + j, s->m, s->q);
    if (wgi_pair_is_tiny(s->sigma)) wgi_pair_covariances(kernel, n, 1, s->q, s->f);
    else
        for (size_t l = 0; l < n; l++) s->f[l] = k[l] * inverse;
    for (size_t l = 0; l < n; l++) s->h[l] = 1;
    wgi_pair_slopes(kernel, n, s->q, s->f, s->h, s->slope);
    for (size_t l = 0; l < n; l++) s->h[l] = s->e[l] * square * s->slope[l];
    s->sum += wgi_pair_dot(n, s->e, s->f);
    s->any_near = wgi_pair_any_near(kernel, n, s->q);
    if (!s->tangents) return;
    pair_adjoints(s, s->w->bar, s->w->bar_ld, i, j, n, s->et);
    memset(s->qt, 0, n * sizeof *s->qt);
    for (size_t c = 0; c < s->d; c++) {
        const double *const u = s->u + i + c * s->n, *const ut = s->ut + i + c * s->n;
        const double at = s->v[j + c * s->m], at_t = s->vt[j + c * s->m];
        for (size_t l = 0; l < n; l++) s->qt[l] += 2 * (u[l] - at) * (ut[l] - at_t);
    }
    for (size_t l = 0; s->any_near && l < n; l++)
        if (s->q[l] < WGI_PAIR_NEAR)
            s->qt[l] = 2 * wgi_pair_near_tangent(s->d, s->u + i + l, s->ut + i + l, s->n,
                                                 s->v + j, s->vt + j, s->m);
    bends(kernel, n, s->q, s->f, s->slope, s->bend);
    for (size_t l = 0; l < n; l++) {
        const double g = s->slope[l], bent = s->bend[l];
        const double curved = bent != 0 ? bent * s->qt[l] : 0;
        s->ht[l] = square * (s->et[l] * g + s->e[l] * curved) + twice * s->e[l] * g;
        s->qt[l] = g != 0 ? g * s->qt[l] : 0;
    }
    s->sum_t += wgi_pair_dot(n, s->et, s->f) + wgi_pair_dot(n, s->e, s->qt);
}

/* sum h (x - a) (xt - at) */
WGI_PAIR_SUM double dot_moving(size_t n, const double *h, const double *x, double a,
                               const double *xt, double at) {
    double part[WGI_PAIR_PARTS] = {0};
    size_t i = 0;
    for (; i + WGI_PAIR_PARTS <= n; i += WGI_PAIR_PARTS)
        for (size_t k = 0; k < WGI_PAIR_PARTS; k++)
            part[k] += h[i + k] * (x[i + k] - a) * (xt[i + k] - at);
    for (; i < n; i++) part[i % WGI_PAIR_PARTS] += h[i] * (x[i] - a) * (xt[i] - at);
    return wgi_pair_sum(part);
}

/* The same of the pair (i, j), which is near and has h and ht of the distance r. With the
 * direction P = D / r:   Pt = (Dt - P rt) / r,  rt = sum P Dt */
static void add_near(const struct pairs *s, size_t i, size_t j, double h, double ht) {
    double *const z = s->to[s->square ? WGI_PAIR_POINTS : WGI_PAIR_OTHERS];
    const wgi_near near = wgi_pair_near(s->d, s->u + i, s->n, s->v + j, s->m);
    const double rt = s->tangents ? wgi_pair_near_tangent(s->d, s->u + i, s->ut + i, s->n,
                                                          s->v + j, s->vt + j, s->m)
                                  : 0;
    if (near.distance == 0) return;
    for (size_t c = 0; c < s->d; c++) {
        const size_t which = s->scale->rows == 1 ? 0 : c, u = i + c * s->n, v = j + c * s->m;
        const double f = s->scale->value[which], *const scale_t = s->scale->bar;
        const double apart = s->u[u] - s->v[v], p = wgi_pair_direction(near, apart);
        double w = h * p, by_scale = w * apart;
        if (s->tangents) {
            const double moved = s->ut[u] - s->vt[v],
                         ft = scale_t != NULL ? scale_t[which] / f : 0;
            const double wt = ht * p + h * wgi_pair_over(near, moved - p * rt) - w * ft;
            by_scale = wt * apart + w * moved;
            w = wt;
        }
        s->to[WGI_PAIR_SCALE][which] -= 2 * by_scale / f;
        if (!s->params.points) continue;
        s->to[WGI_PAIR_POINTS][u] += 2 * w / f;
        z[v] -= 2 * w / f;
    }
}

/* Adds h D and h D^2, or their tangents, to the adjoints of points and scales. */
static void add_pairs(const struct pairs *s, size_t i, size_t j, size_t n) {
    double *const z = s->to[s->square ? WGI_PAIR_POINTS : WGI_PAIR_OTHERS];
    for (size_t l = 0; s->any_near && l < n; l++)
        if (s->q[l] < WGI_PAIR_NEAR) {
            add_near(s, i + l, j, s->h[l], s->tangents ? s->ht[l] : 0);
            s->h[l] = s->ht[l] = 0;
        }
    for (size_t c = 0; c < s->d; c++) {
        const size_t which = s->scale->rows == 1 ? 0 : c;
        const double f = s->scale->value[which], *const scale_t = s->scale->bar;
        const double ft = s->tangents && scale_t != NULL ? scale_t[which] / f : 0;
        const double *const u = s->u + i + c * s->n, *const ut = s->ut + i + c * s->n;
        const double a = s->v[j + c * s->m], at = s->tangents ? s->vt[j + c * s->m] : 0;
        double squares = wgi_pair_dot_apart(n, s->h, u, a, 1);
        if (s->tangents)
            squares = wgi_pair_dot_apart(n, s->ht, u, a, 1) +
                      2 * dot_moving(n, s->h, u, a, ut, at) - ft * squares;
        s->to[WGI_PAIR_SCALE][which] -= 2 * squares / f;
        double *const x = s->to[WGI_PAIR_POINTS] + i + c * s->n;
        for (size_t l = 0; s->params.points && l < n; l++) {
            double one = s->h[l] * (u[l] - a);
            if (s->tangents) one = s->ht[l] * (u[l] - a) + s->h[l] * (ut[l] - at) - one * ft;
            x[l] += 2 * one / f;
            z[j + c * s->m] -= 2 * one / f;
        }
    }
}

static wg_status back_run(wg_block *b, int tangents) {
    struct pairs s = pairs_in(b, tangents);
    for (size_t j = 0; j < s.m; j++) {
        const size_t i = s.square ? j + 1 : 0, n = s.n - i;
        if (s.square) {
            s.diagonal += s.w->value[j + j * s.w->ld];
            if (tangents && s.w->bar != NULL) s.diagonal_t += s.w->bar[j + j * s.w->bar_ld];
        }
        pair_slopes(&s, i, j, n);
        add_pairs(&s, i, j, n);
    }
    const double *const given = b->in[WGI_PAIR_AMPLITUDES].value, *const bar =
                                                                      b->in[WGI_PAIR_AMPLITUDES]
                                                                          .bar;
    double *const to = s.to[WGI_PAIR_AMPLITUDES];
    const double all = s.sum + s.diagonal;
    to[0] = tangents ? 2 * (s.sigma_t * all + s.sigma * (s.sum_t + s.diagonal_t))
                     : 2 * s.sigma * all;
    if (s.square)
        to[1] = tangents
                    ? 2 * ((bar != NULL ? bar[1] : 0) * s.diagonal + given[1] * s.diagonal_t)
                    : 2 * given[1] * s.diagonal;
    return WG_OK;
}
static wg_status back_value(wg_block *b) { return back_run(b, 0); }
static wg_status back_jvp(wg_block *b) { return back_run(b, 1); }

wg_status wgi_pair_adjoints(wg_tape *t, wg_kernel kernel, int lower, size_t inputs,
                            const wg_mat *in, wg_mat k, wg_mat w, wg_mat *back) {
    static const wg_block_op op = {"adjoint of wg_covariance",
                                   0,
                                   back_shape,
                                   back_value,
                                   NULL,
                                   back_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    wg_mat of[WGI_PAIR_OTHERS + 3];
    for (size_t i = 0; i < inputs; i++) of[i] = in[i];
    of[inputs] = k, of[inputs + 1] = w;
    const int points = in[WGI_PAIR_POINTS].at.slot != 0 ||
                       (inputs == WGI_PAIR_OTHERS + 1 && in[WGI_PAIR_OTHERS].at.slot != 0);
    const struct back p = {kernel, lower, points};
    return wg_apply(t, &op, &p, sizeof p, inputs + 2, of, inputs, back);
}
