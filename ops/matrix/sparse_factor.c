/* SPDX-License-Identifier: MIT */
/* Factors of sparse matrices, by SuiteSparse where the build has it (WG_HAVE_SUITESPARSE).
 *
 * SuiteSparse factors; the factors are copied to the tape and its own objects freed at once, so
 * that nothing outlives a call. What is done with the factors is done in sparse_solve.c and
 * sparse_logdet.c. */
#include "sparse_factor.h"

#include <string.h>

#ifdef WG_HAVE_SUITESPARSE
#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>
#endif

wgi_sparse_solving wgi_sparse_system(const wg_tape *t, int spd, char trans, const wg_csr *s) {
    wgi_sparse_solving p;
    memset(&p, 0, sizeof p);
    p.spd = spd;
    p.trans = wgi_sparse_turned(trans);
    p.status = wgi_sparse_check(t, trans, s, &p.why);
    if (s != NULL) p.s = *s;
    return p;
}

static wg_status nothing(wg_block *b) {
    (void)b;
    return WG_OK;
}

#ifdef WG_HAVE_SUITESPARSE

/* What SuiteSparse has made and is to be freed. */
typedef struct wgi_sparse_handle {
    void *numeric; /* of UMFPACK */
    cholmod_factor *factor;
    cholmod_common common;
    size_t l_size, u_size;
} handle;

static void handle_free(handle *h, int spd) {
    if (spd) {
        (void)cholmod_free_factor(&h->factor, &h->common);
        (void)cholmod_finish(&h->common);
    } else if (h->numeric != NULL) umfpack_di_free_numeric(&h->numeric);
}

/* Workspace of a factorisation: the entries as triplets, and by columns. */
struct room {
    int *row, *col, *start, *index;
    double *value, *sorted;
};
static size_t factor_bytes(const wg_csr *s) {
    return (2 * s->nnz + 2) * sizeof(double) + (3 * s->nnz + s->rows + 4) * sizeof(int);
}
static struct room room_of(const wg_block *b, const wg_csr *s) {
    struct room m;
    m.value = (double *)b->work;
    m.sorted = m.value + s->nnz + 1;
    m.row = (int *)(void *)(m.sorted + s->nnz + 1);
    m.col = m.row + s->nnz + 1;
    m.index = m.col + s->nnz + 1;
    m.start = m.index + s->nnz + 1;
    return m;
}

static wg_status factor_lu(wg_block *b, const wg_csr *s, const struct room *m, handle *h) {
    const int n = (int)s->rows;
    int l = 0, u = 0, rows, cols, diagonal;
    void *symbolic = NULL;
    int e = umfpack_di_triplet_to_col(n, n, (int)s->nnz, m->row, m->col, m->value, m->start,
                                      m->index, m->sorted, NULL);
    if (e == UMFPACK_OK)
        e = umfpack_di_symbolic(n, n, m->start, m->index, m->sorted, &symbolic, NULL, NULL);
    if (e == UMFPACK_OK)
        e = umfpack_di_numeric(m->start, m->index, m->sorted, symbolic, &h->numeric, NULL,
                               NULL);
    if (symbolic != NULL) umfpack_di_free_symbolic(&symbolic);
    if (e == UMFPACK_OK) e = umfpack_di_get_lunz(&l, &u, &rows, &cols, &diagonal, h->numeric);
    h->l_size = (size_t)l, h->u_size = (size_t)u;
    if (e == UMFPACK_OK) return WG_OK;
    if (e == UMFPACK_WARNING_singular_matrix || e == UMFPACK_ERROR_different_pattern)
        return wgi_block_refuse(b, WG_ESINGULAR, "the matrix is singular");
    b->info = e;
    return wgi_block_refuse(b, e == UMFPACK_ERROR_out_of_memory ? WG_ENOMEM : WG_EARG,
                            "UMFPACK");
}

/* The triplets are of the lower triangle already. */
static wg_status factor_spd(wg_block *b, const wg_csr *s, const struct room *m, handle *h) {
    cholmod_common *const c = &h->common;
    cholmod_triplet t;
    memset(&t, 0, sizeof t);
    t.nrow = t.ncol = s->rows;
    t.nzmax = t.nnz = s->nnz;
    t.i = m->row, t.j = m->col, t.x = m->value;
    t.stype = -1;
    t.itype = CHOLMOD_INT, t.xtype = CHOLMOD_REAL, t.dtype = CHOLMOD_DOUBLE;
    c->print = 0;
    c->try_catch = 1;
    c->nmethods = 1;
    c->method[0].ordering = CHOLMOD_AMD;
    c->supernodal = CHOLMOD_SIMPLICIAL;
    c->final_ll = 1;
    cholmod_sparse *lower = cholmod_triplet_to_sparse(&t, s->nnz, c);
    if (lower != NULL) h->factor = cholmod_analyze(lower, c);
    if (h->factor != NULL) (void)cholmod_factorize(lower, h->factor, c);
    (void)cholmod_free_sparse(&lower, c);
    if (c->status == CHOLMOD_OUT_OF_MEMORY || h->factor == NULL)
        return wgi_block_refuse(b, WG_ENOMEM, "CHOLMOD");
    if (c->status == CHOLMOD_NOT_POSDEF || h->factor->minor < s->rows) {
        b->info = (int)h->factor->minor + 1;
        return wgi_block_refuse(b, WG_ESINGULAR, "the matrix is not positive definite");
    }
    h->l_size = s->rows == 0 ? 0 : (size_t)((const int *)h->factor->p)[s->rows];
    return WG_OK;
}

/* Factors of the values of operand 0. */
static wg_status factorise(wg_block *b, handle *h) {
    const wg_csr *const s = &wgi_sparse_solving_of(b)->s;
    const int spd = wgi_sparse_solving_of(b)->spd;
    const struct room m = room_of(b, s);
    const wgi_view v = wgi_sparse_values(b);
    const size_t step = wgi_view_down(v);
    for (size_t i = 0; i < s->rows; i++)
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            const size_t j = s->col[k];
            const int below = !spd || i >= j;
            m.row[k] = (int)(below ? i : j), m.col[k] = (int)(below ? j : i);
            m.value[k] = spd && i != j ? 0.5 * v.p[k * step] : v.p[k * step];
        }
    memset(h, 0, sizeof *h);
    if (spd) (void)cholmod_start(&h->common);
    const wg_status e = spd ? factor_spd(b, s, &m, h) : factor_lu(b, s, &m, h);
    if (e != WG_OK) handle_free(h, spd);
    return e;
}

/* Copies the factors and frees the handle. */
static int extract(handle *h, wgi_sparse_factors *f) {
    int good = h->l_size <= f->l_room && h->u_size <= f->u_room, reciprocal = 0;
    if (good && f->spd) {
        memcpy(f->lp, h->factor->p, (f->n + 1) * sizeof *f->lp);
        memcpy(f->li, h->factor->i, h->l_size * sizeof *f->li);
        memcpy(f->lx, h->factor->x, h->l_size * sizeof *f->lx);
        memcpy(f->p, h->factor->Perm, f->n * sizeof *f->p);
    } else if (good) {
        good = umfpack_di_get_numeric(f->lp, f->li, f->lx, f->up, f->ui, f->ux, f->p, f->q,
                                      NULL, &reciprocal, f->r, h->numeric) == UMFPACK_OK;
        for (size_t i = 0; i < f->n && !reciprocal; i++) f->r[i] = 1 / f->r[i];
    }
    handle_free(h, f->spd);
    return good;
}

wg_status wgi_sparse_factor_shape(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    if (p->status != WG_OK) return wgi_block_refuse(b, p->status, p->why);
    if (p->s.rows != p->s.cols)
        return wgi_block_refuse(b, WG_ESHAPE, "the sparse matrix is not square");
    if (wgi_length(&b->in[0]) != p->s.nnz || (p->s.nnz != 0 && !wgi_is_vector(&b->in[0])))
        return wgi_block_refuse(b, WG_ESHAPE,
                                "the values are not a vector of the pattern's entries");
    if (b->inputs > 1 && b->in[1].rows != p->s.rows)
        return wgi_block_refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->work_bytes = factor_bytes(&p->s);
    return WG_OK;
}

wg_status wgi_sparse_factor_again(wg_block *b) {
    wgi_sparse_factors *const f = wgi_sparse_solving_of(b)->factors;
    handle h;
    const int fresh = f->fresh;
    f->fresh = 0;
    if (fresh) return WG_OK;
    const wg_status e = factorise(b, &h);
    if (e != WG_OK) return e;
    return extract(&h, f) ? WG_OK
                          : wgi_block_refuse(b, WG_ENOMEM, "the factors outgrew their room");
}

/* Hands over what it has made. */
static wg_status factor_value(wg_block *b) {
    return factorise(b, wgi_sparse_solving_of(b)->handle);
}

/* Room on the tape for factors like those of h, and a quarter more; NULL: there is none. */
static wgi_sparse_factors *factors_keep(wg_tape *t, const wgi_sparse_solving *p,
                                        const handle *h) {
    wgi_sparse_factors f;
    memset(&f, 0, sizeof f);
    f.spd = p->spd, f.fresh = 1;
    f.n = p->s.rows;
    f.l_room = h->l_size + h->l_size / 4 + 1;
    f.u_room = p->spd ? 0 : h->u_size + h->u_size / 4 + 1;
    const size_t ints = f.l_room + f.u_room + 4 * (f.n + 1),
                 doubles = f.l_room + f.u_room + f.n + 1;
    double *const x = (double *)wg_tape_keep(t, doubles * sizeof *x, NULL);
    int *const i = (int *)wg_tape_keep(t, ints * sizeof *i, NULL);
    if (x == NULL || i == NULL) return NULL;
    f.lx = x, f.ux = x + f.l_room, f.r = f.ux + f.u_room;
    f.lp = i, f.up = f.lp + f.n + 1, f.p = f.up + f.n + 1, f.q = f.p + f.n + 1;
    f.li = f.q + f.n + 1, f.ui = f.li + f.l_room;
    return (wgi_sparse_factors *)wg_tape_keep(t, sizeof f, &f);
}

/* Of the factorisation before an operation: without results. */
#define BEFORE(name)                                                                           \
    {                                                                                          \
        name, WG_OP_TRANS, wgi_sparse_factor_shape, factor_value, nothing, NULL, NULL, NULL,   \
            NULL                                                                               \
    }
static const wg_block_op factor_op[] = {
    BEFORE("wg_sparse_solve"), BEFORE("wg_sparse_spd_solve"), BEFORE("wg_sparse_spd_logdet")};

wg_status wgi_sparse_factor(wg_tape *t, wgi_sparse_user user, wgi_sparse_solving *p,
                            size_t inputs, const wg_mat *in) {
    handle h;
    memset(&h, 0, sizeof h);
    p->handle = &h;
    if (p->s.rows != 0 || p->status != WG_OK) {
        const wg_status s = wg_apply(t, &factor_op[user], p, sizeof *p, inputs, in, 0, NULL);
        if (s != WG_OK) return s;
        p->factors = factors_keep(t, p, &h);
        if (p->factors == NULL) handle_free(&h, p->spd);
        else (void)extract(&h, p->factors);
    } else {
        /* 0-by-0: nothing to factor, and SuiteSparse takes no such matrix. */
        const wgi_sparse_factors none = {.spd = p->spd, .fresh = 1};
        p->factors = (wgi_sparse_factors *)wg_tape_keep(t, sizeof none, &none);
    }
    return p->factors != NULL ? WG_OK : t == NULL ? WG_ENULL : wg_tape_status(t);
}

#else

static wg_status absent_shape(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    if (p->status != WG_OK) return wgi_block_refuse(b, p->status, p->why);
    return wgi_block_refuse(b, WG_EMODE, "the library was built without SuiteSparse");
}
wg_status wgi_sparse_factor_shape(wg_block *b) { return absent_shape(b); }
wg_status wgi_sparse_factor_again(wg_block *b) { return absent_shape(b); }

#define ABSENT(name)                                                                           \
    { name, WG_OP_TRANS, absent_shape, nothing, nothing, NULL, NULL, NULL, NULL }
static const wg_block_op factor_op[] = {
    ABSENT("wg_sparse_solve"), ABSENT("wg_sparse_spd_solve"), ABSENT("wg_sparse_spd_logdet")};

wg_status wgi_sparse_factor(wg_tape *t, wgi_sparse_user user, wgi_sparse_solving *p,
                            size_t inputs, const wg_mat *in) {
    return wg_apply(t, &factor_op[user], p, sizeof *p, inputs, in, 0, NULL);
}

#endif
