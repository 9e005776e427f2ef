/* SPDX-License-Identifier: MIT */
/* Sparse systems in scalar statements: elimination in the order of the recorded factors. */
#include "expand.h"
#include "sparse_factor.h"

#include <math.h>

/* Row k of U: its diagonal, what follows at columns col, and the largest of both. */
struct row {
    size_t count, *col;
    wg_real diagonal, *u, largest;
};

/* The entries of op(S) in each row, as lists: from first[i] on to next[e]; 0 ends one, entry e
 * is e + 1 there. `turned`: of the transpose. */
struct lists {
    size_t *first, *next;
    int turned;
};

static int list_rows(wg_tape *t, const wg_csr *s, int turned, struct lists *l) {
    l->first = (size_t *)wg_tape_keep(t, (s->rows + s->nnz + 1) * sizeof *l->first, NULL);
    if (l->first == NULL) return 0;
    l->next = l->first + s->rows;
    l->turned = turned;
    for (size_t i = 0; i < s->rows; i++) l->first[i] = 0;
    for (size_t i = s->rows; i-- > 0;)
        for (size_t e = s->start[i + 1]; e-- > s->start[i];) {
            size_t *const first = &l->first[turned ? s->col[e] : i];
            l->next[e] = *first, *first = e + 1;
        }
    return 1;
}

/* The row of an entry. */
static size_t row_of(const wg_csr *s, size_t e) {
    size_t low = 0, high = s->rows;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (s->start[middle] <= e) low = middle;
        else high = middle;
    }
    return low;
}

/* w += f times row i of op(S), element j at place[j]. */
static void add_row(wg_tape *t, const wg_csr *s, const struct lists *l, size_t i, double f,
                    const wg_real *value, const size_t *place, wg_real *w) {
    for (size_t e = l->first[i]; e != 0; e = l->next[e - 1]) {
        const size_t j = place[l->turned ? row_of(s, e - 1) : s->col[e - 1]];
        w[j] = wgi_expand_plus(t, w[j], wgi_expand_scaled(t, f, value[e - 1]));
    }
}

/* The largest of the first n of w, without derivatives. */
static wg_real largest_of(wg_tape *t, size_t n, const wg_real *w) {
    wg_real most = wg_constant(0);
    for (size_t j = 0; j < n; j++)
        if (!wgi_expand_is_nothing(w[j])) most = wg_let(t, wg_fmax(most, wg_fabs(w[j])));
    return wgi_expand_held(t, most);
}

/* The order of rows and columns is that of the recording. It serves as long as nothing that is
 * subtracted from a row is much larger than the row itself: that is compared at every point. */
static int order_serves(wg_tape *t, wg_real row, wg_real subtracted) {
    enum { ENOUGH = 1024, SPARE = 8 };
    if (wgi_expand_is_nothing(subtracted)) return 1;
    const double recorded = SPARE * subtracted.value / row.value;
    const double most = recorded > ENOUGH ? recorded : ENOUGH;
    return wg_le(t, subtracted, wg_let(t, wg_mul(most, row)));
}

/* Row k of U from w, in which those before it are eliminated. A matrix without that pivot is
 * singular, or not positive definite. */
static int keep_row(wg_tape *t, int spd, size_t n, size_t k, const wg_real *w, struct row *r) {
    r->count = 0;
    r->diagonal =
        spd ? wg_let(t, wg_mul(w[k], wgi_expand_good(t, w[k]))) : wgi_expand_pivot(t, w[k]);
    r->largest = spd ? wg_constant(0) : largest_of(t, n - k, w + k);
    for (size_t j = k + 1; j < n; j++) r->count += !wgi_expand_is_nothing(w[j]);
    r->u = wgi_expand_room(t, r->count);
    r->col = (size_t *)wg_tape_keep(t, (r->count + 1) * sizeof *r->col, NULL);
    if (r->u == NULL || r->col == NULL) return 0;
    size_t at = 0;
    for (size_t j = k + 1; j < n; j++)
        if (!wgi_expand_is_nothing(w[j])) r->col[at] = j, r->u[at++] = w[j];
    return 1;
}

/* The rows of U, and z, n by `columns`, the right sides made alike; NULL: `status`. */
static struct row *eliminate(wg_tape *t, const wg_block *b, const wg_real *x, wgi_reals right,
                             wg_real *z, wg_status *status) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const wgi_sparse_factors *const f = p->factors;
    const size_t n = f->n, columns = right.cols;
    const int turned = p->trans && !p->spd, both = p->spd;
    const int *const rows = turned ? f->q : f->p, *const cols = both || turned ? f->p : f->q;
    struct lists l[2];
    struct row *const r = (struct row *)wg_tape_keep(t, (n + 1) * sizeof *r, NULL);
    size_t *const place = (size_t *)wg_tape_keep(t, (n + 1) * sizeof *place, NULL);
    wg_real *const w = wgi_expand_room(t, n);
    *status = wg_tape_status(t);
    if (r == NULL || place == NULL || w == NULL) return NULL;
    for (int k = 0; k <= both; k++)
        if (!list_rows(t, &p->s, k == 0 ? turned : !turned, &l[k])) {
            *status = wg_tape_status(t);
            return NULL;
        }
    for (size_t k = 0; k < n; k++) place[cols[k]] = k;
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < n; j++) w[j] = wg_constant(0);
        for (int m = 0; m <= both; m++)
            add_row(t, &p->s, &l[m], (size_t)rows[k], both ? 0.5 : 1, x, place, w);
        for (size_t c = 0; c < columns; c++)
            z[k + c * n] = wgi_reals_at(right, (size_t)rows[k], c);
        const wg_real row = both ? wg_constant(0) : largest_of(t, n, w);
        wg_real subtracted = wg_constant(0);
        for (size_t i = 0; i < k; i++) {
            if (wgi_expand_is_nothing(w[i])) continue;
            const wg_real m = wg_let(t, wg_div(w[i], r[i].diagonal));
            if (!both) /* a sum: of a maximum NaN would be left out */
                subtracted = wgi_expand_plus(
                    t, subtracted,
                    wg_let(t, wg_mul(wg_fabs(wgi_expand_held(t, m)), r[i].largest)));
            for (size_t e = 0; e < r[i].count; e++)
                w[r[i].col[e]] = wgi_expand_less(t, w[r[i].col[e]], m, r[i].u[e]);
            for (size_t c = 0; c < columns; c++)
                z[k + c * n] = wgi_expand_less(t, z[k + c * n], m, z[i + c * n]);
        }
        *status = WG_ESINGULAR;
        if (!both && !order_serves(t, row, subtracted)) return NULL;
        *status = wg_tape_status(t);
        if (!keep_row(t, both, n, k, w, &r[k])) return NULL;
    }
    return r;
}

static wg_real finite_values(wg_tape *t, const wg_block *b, const wg_real *x) {
    return wgi_expand_finite(t, b->in[0].rows * b->in[0].cols, x);
}

wg_status wgi_sparse_solve_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const wgi_sparse_factors *const f = p->factors;
    const size_t n = f->n, columns = b->in[1].cols;
    const int *const cols = p->spd || p->trans ? f->p : f->q;
    wg_real *const z = wgi_expand_room(t, n * columns);
    wg_status s;
    if (z == NULL) return wg_tape_status(t);
    const struct row *const r = eliminate(t, b, x, wgi_reals_operand(b, x, 1), z, &s);
    if (r == NULL) return s;
    for (size_t c = 0; c < columns; c++)
        for (size_t k = n; k-- > 0;) {
            wg_real *const to = &z[k + c * n];
            for (size_t e = 0; e < r[k].count; e++)
                *to = wgi_expand_less(t, *to, r[k].u[e], z[r[k].col[e] + c * n]);
            *to = wg_let(t, wg_div(*to, r[k].diagonal));
            y[(size_t)cols[k] + c * n] = *to;
        }
    wgi_expand_spoil(t, finite_values(t, b, x), n * columns, y);
    return WG_OK;
}

wg_status wgi_sparse_logdet_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                   wg_real *y) {
    const wgi_reals none = {NULL, 0, 0, 0, 0};
    const size_t n = wgi_sparse_solving_of(b)->factors->n;
    wg_status s;
    const struct row *const r = eliminate(t, b, x, none, NULL, &s);
    if (r == NULL) return s;
    *y = wg_constant(0);
    for (size_t k = 0; k < n; k++)
        *y = wgi_expand_plus(t, *y, wg_let(t, wg_log(r[k].diagonal)));
    wgi_expand_spoil(t, finite_values(t, b, x), 1, y);
    return WG_OK;
}
