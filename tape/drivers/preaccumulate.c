/* SPDX-License-Identifier: MIT */
/* The local Jacobian of what was recorded since a mark, and what is made of it:
 * preaccumulation, implicit functions, fixed points.
 *
 * A sweep over that part of the recording needs adjoints only of the slots that it touches:
 * those recorded in it, and operands from before it, which are cleared one by one. */
#include "ops/matrix/implicit.h"
#include "tape/engine/tape.h"

#include <wengert/implicit.h>

#include <string.h>

enum { LANES = 8 };

/* ---- the operands of a region ------------------------------------------------------------ */

/* What is done with the rows of slots [slot, slot + n). If it gives anything but 0, that is the
 * result, and nothing more is done. */
typedef uint32_t touch(const wgi_core *c, uint32_t slot, uint32_t n, uint32_t below);

static uint32_t block_operands(const wgi_core *c, const wgi_block *b, touch *f,
                               uint32_t below) {
    uint32_t found = 0;
    const uint32_t *const slot = wgi_gather_slots(b);
    for (uint32_t i = 0; slot != NULL && i < b->outs && found == 0; i++)
        found = f(c, slot[i], 1, below);
    if (b->op == &wgi_small_op) {
        const wgi_small *const s = (const wgi_small *)(const void *)b;
        for (int i = 0; i < 2 && found == 0; i++) found = f(c, s->in[i], s->outs, below);
        return found;
    }
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        const uint32_t length = o->trans ? o->cols : o->rows,
                       columns = o->trans ? o->rows : o->cols;
        for (uint32_t j = 0; o->slot != 0 && j < columns && found == 0; j++)
            found = f(c, o->slot + j * o->ld, length, below);
    }
    return found;
}

static uint32_t each_operand(const wgi_core *c, uint64_t from, touch *f, uint32_t below) {
    const uint64_t to = c->chunks == 0 ? 0 : wgi_record_count(c);
    uint32_t found = 0;
    for (uint64_t number = from; number < to && found == 0; number++) {
        const wgi_block *const b = wgi_block_at(c, number);
        const wgi_record *const r = wgi_record_at(c, number);
        if (b != NULL) found = block_operands(c, b, f, below);
        else {
            found = f(c, r->in0, 1, below);
            if (found == 0) found = f(c, r->in1, 1, below);
        }
    }
    return found;
}

static uint32_t clear(const wgi_core *c, uint32_t slot, uint32_t n, uint32_t below) {
    if (slot < below)
        memset(wgi_adjoints(c) + (size_t)slot * c->lanes, 0, n * c->lanes * sizeof(double));
    return 0;
}

/* Gives the first slot from before the mark that has received an adjoint. */
static uint32_t reached(const wgi_core *c, uint32_t slot, uint32_t n, uint32_t below) {
    if (slot == 0 || slot >= below) return 0;
    /* a gather may have elements from both sides of the mark */
    if (n > below - slot) n = below - slot;
    const double *const rows = wgi_adjoints(c) + (size_t)slot * c->lanes;
    for (size_t i = 0; i < n * c->lanes; i++)
        if (rows[i] != 0) return slot + (uint32_t)(i / c->lanes);
    return 0;
}

/* ---- the local Jacobian -------------------------------------------------------------------
 */

/* jac[j n + i] = dy[j] / dx[i], over what was recorded since the mark. A variable that occurs
 * twice in x counts once, where it occurs first. */
static wg_status jacobian(wgi_core *c, const char *call, wg_mark start, size_t n,
                          const wg_real *x, size_t m, const wg_real *y, double *jac) {
    c->swept = 0;
    wg_status s = wgi_adjoints_need(c, c->head.slots, LANES);
    if (s == WG_OK) s = wgi_blocks_room(c, 0);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no memory for adjoints", call);
    c->lanes = c->asked = LANES;
    c->traced = 0;
    const uint64_t high = c->chunks == 0 ? 0 : wgi_record_count(c);
    for (size_t first = 0; first < m; first += LANES) {
        double *const adjoint = wgi_adjoints(c);
        each_operand(c, start.record, clear, start.slot);
        memset(adjoint + (size_t)start.slot * LANES, 0,
               (size_t)(c->head.slots - start.slot) * LANES * sizeof(double));
        memset(adjoint, 0, LANES * sizeof(double));
        for (size_t i = 0; i < n; i++)
            memset(adjoint + (size_t)x[i].at.slot * LANES, 0, LANES * sizeof(double));
        const size_t rows = m - first < LANES ? m - first : LANES;
        for (size_t l = 0; l < rows; l++)
            if (y[first + l].at.slot >= start.slot)
                adjoint[(size_t)y[first + l].at.slot * LANES + l] += 1;
        s = wgi_sweep(c, high, start.record);
        if (s != WG_OK) return s;
        for (size_t i = 0; i < n; i++) {
            double *const row = adjoint + (size_t)x[i].at.slot * LANES;
            for (size_t l = 0; l < rows; l++) {
                jac[(first + l) * n + i] = row[l];
                row[l] = 0;
            }
        }
        const uint32_t foreign = each_operand(c, start.record, reached, start.slot);
        if (foreign != 0)
            return wgi_refuse(c, WG_EARG,
                              "%s: depends on slot %u, which is not among the %zu inputs given",
                              call, foreign, n);
    }
    return WG_OK;
}

/* ---- preaccumulation ----------------------------------------------------------------------
 */

static wg_status compress(wgi_core *c, wg_mark start, size_t n, const wg_real *x, size_t m,
                          wg_real *y) {
    const char *const call = "wg_preaccumulate";
    if (n > SIZE_MAX / 64 / (m + 1)) return wgi_refuse(c, WG_ENOMEM, "%s: too large", call);
    const size_t bytes = m * n * sizeof(double) + n * sizeof(uint32_t);
    const uint64_t used = c->scratch_used;
    /* with the workspace for sweeps over blocks, so that nothing moves later */
    wg_status s = wgi_blocks_room(c, bytes + 64);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no room for %zux%zu derivatives", call, m, n);
    double *const jac = wgi_scratch(c, bytes);
    uint32_t *const slot = (uint32_t *)(void *)(jac + m * n);
    s = jacobian(c, call, start, n, x, m, y, jac);
    c->swept = 0;
    if (s == WG_OK) s = wg_tape_rewind(&c->head, start);
    for (size_t j = 0; j < m && s == WG_OK; j++) {
        if (y[j].at.slot < start.slot) continue;
        uint32_t any = 0;
        for (size_t i = 0; i < n; i++) {
            slot[i] = jac[j * n + i] != 0 ? x[i].at.slot : 0;
            any |= slot[i];
        }
        y[j] = any == 0 ? wg_constant(y[j].value)
                        : wgi_append(c, call, y[j].value, n, slot, jac + j * n);
        s = c->status;
    }
    c->scratch_used = used;
    return s;
}

wg_status wg_preaccumulate(wg_tape *t, wg_mark start, size_t n, const wg_real *x, size_t m,
                           wg_real *y) {
    const char *const call = "wg_preaccumulate";
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if ((n != 0 && x == NULL) || (m != 0 && y == NULL))
        return wgi_refuse(c, WG_ENULL, "%s: an array of %zu inputs or %zu outputs is NULL",
                          call, n, m);
    if (c->flags & WG_KEEP_CODE)
        return wgi_refuse(c, WG_EMODE, "%s: local derivatives have no code to keep", call);
    if (!wgi_mark_alive(c, start))
        return wgi_refuse(c, WG_EMARK,
                          "%s: a mark of another tape, or from before a reset or rewind", call);
    wg_status s = wgi_refuse_stale(c, call, n, x);
    if (s == WG_OK) s = wgi_refuse_stale(c, call, m, y);
    if (s != WG_OK || c->width != 0 || c->pauses != 0 || c->passive) return s;
    for (size_t i = 0; i < n; i++)
        if (x[i].at.slot >= start.slot)
            return wgi_refuse(c, WG_EARG, "%s: input %zu was recorded after the mark", call, i);
    return compress(c, start, n, x, m, y);
}

/* ---- implicit functions -------------------------------------------------------------------
 */

typedef struct implicit {
    const char *call;
    wg_callback *f;
    void *data;
    size_t n, np;
    int fixed_point;
    /* n + np inputs; n + 1 outputs, the last of which no function should write */
    wg_real *in, *out;
    double *value; /* the values of `in` */
    double *jac;   /* n-by-(n + np), row by row */
    int theirs;    /* the function failed the tape by a call of its own */
} implicit;

/* Is the tape not what F was called with? k->in and k->out, which are on it, may then be gone.
 */
static wg_status changed(wgi_core *c, const implicit *k, wg_mark inside, uint64_t generation,
                         unsigned pauses) {
    if (c->generation != generation)
        return wgi_fail(c, WG_ESTALE, "%s: the function has reset the tape", k->call);
    if (!wgi_mark_alive(c, inside))
        return wgi_fail(c, WG_EMARK, "%s: the function has rewound the tape to before its call",
                        k->call);
    if (c->pauses == pauses) return WG_OK;
    c->pauses = pauses;
    return wgi_fail(c, WG_EMODE, "%s: the function has left the tape paused", k->call);
}

/* Calls F with the variables in k->in. */
static wg_status call_f(wgi_core *c, implicit *k) {
    const wg_mark inside = wg_tape_mark(&c->head);
    const uint64_t generation = c->generation;
    const unsigned pauses = c->pauses;
    for (size_t j = 0; j < k->n; j++) k->out[j] = wgi_nan();
    k->out[k->n] = wgi_beyond();
    /* a driver would empty the tape, and with it what F has been given */
    const int driving = c->driving;
    c->driving = 1;
    const wg_status r = k->f(&c->head, k->n + k->np, k->in, k->n, k->out, k->data);
    c->driving = driving;
    k->theirs = c->status != WG_OK;
    if (k->theirs) return c->status;
    const wg_status s = changed(c, k, inside, generation, pauses);
    if (s != WG_OK) return s;
    if ((unsigned)r >= WG_STATUS_COUNT)
        return wgi_fail(c, WG_ECALLBACK, "%s: the function returned %d", k->call, (int)r);
    if (r != WG_OK)
        return wgi_fail(c, r, "%s: the function returned %s", k->call, wg_status_text(r));
    if (!wgi_is_beyond(k->out[k->n]))
        return wgi_fail(c, WG_ESHAPE, "%s: the function has written more than %zu output%s",
                        k->call, k->n, k->n == 1 ? "" : "s");
    char value[WGI_NUMBER_TEXT], at[WGI_NUMBER_TEXT];
    for (size_t j = 0; j < k->n; j++)
        if (!(k->out[j].value - k->out[j].value == 0))
            return wgi_fail(c, WG_ENONFINITE, "%s: output %zu is %s where x[%zu] is %s",
                            k->call, j, wgi_number_text(value, k->out[j].value), j,
                            wgi_number_text(at, k->value[j]));
    return wgi_check_handles(c, k->call, k->n, k->out);
}

/* The Jacobian of F by rows: one recording and several sweeps. */
static wg_status by_rows(wgi_core *c, implicit *k) {
    const size_t all = k->n + k->np;
    const wg_mark start = wg_tape_mark(&c->head);
    wg_status s = wg_inputs(&c->head, all, k->value, k->in);
    const wg_mark inside = wg_tape_mark(&c->head);
    if (s == WG_OK) s = call_f(c, k);
    if (s != WG_OK) return s;
    s = jacobian(c, k->call, inside, all, k->in, k->n, k->out, k->jac);
    c->swept = 0;
    if (s != WG_OK) {
        char why[sizeof c->message];
        memcpy(why, c->message, sizeof why);
        return wgi_fail(c, s, "%s", why);
    }
    for (size_t j = 0; j < k->n; j++) /* an equation may be an input itself */
        for (size_t i = 0; i < all; i++)
            if (k->out[j].at.slot != 0 && k->out[j].at.slot == k->in[i].at.slot)
                k->jac[j * all + i] = 1;
    return wg_tape_rewind(&c->head, start);
}

/* The same by columns, on a forward tape, with as many evaluations as that takes. */
static wg_status by_columns(wgi_core *c, implicit *k) {
    const size_t all = k->n + k->np;
    for (size_t first = 0; first < all; first += c->width) {
        const wg_mark start = wg_tape_mark(&c->head);
        const size_t lanes = all - first < c->width ? all - first : c->width;
        wg_status s = wg_inputs(&c->head, all, k->value, k->in);
        for (size_t l = 0; l < lanes && s == WG_OK; l++)
            s = wg_tangent_seed(&c->head, k->in[first + l], l, 1);
        const uint32_t outer = c->inside;
        c->inside = start.slot, c->foreign = 0;
        if (s == WG_OK) s = call_f(c, k);
        c->inside = outer;
        for (size_t j = 0; j < k->n && c->foreign == 0; j++)
            if (k->out[j].at.slot < start.slot) c->foreign = k->out[j].at.slot;
        if (s == WG_OK && c->foreign != 0)
            s = wgi_fail(c, WG_EARG,
                         "%s: depends on slot %u, which is not among the %zu inputs given",
                         k->call, c->foreign, all);
        for (size_t j = 0; j < k->n && s == WG_OK; j++)
            for (size_t l = 0; l < lanes; l++)
                k->jac[j * all + first + l] = wg_tangent(&c->head, k->out[j], l);
        if (s == WG_OK) s = wg_tape_rewind(&c->head, start);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}

/* Splits the Jacobian into F_x and F_p, and factors F_x. */
static wg_status factor(wgi_core *c, const implicit *k, const wgi_implicit *f) {
    const size_t all = k->n + k->np;
    for (size_t j = 0; j < k->n; j++) {
        const double *const row = k->jac + j * all;
        for (size_t i = 0; i < k->n; i++)
            f->lu[j * k->n + i] = row[i] - (k->fixed_point && i == j ? 1 : 0);
        for (size_t i = 0; i < k->np; i++) f->fp[j * k->np + i] = row[k->n + i];
    }
    const int info = wgi_implicit_factor(f);
    if (info == 0) return WG_OK;
    return wgi_fail(c, WG_ESINGULAR, "%s: the Jacobian of %zu equations is singular (info %d)",
                    k->call, k->n, info);
}

static void *keep(wgi_core *c, size_t bytes) {
    return wg_tape_keep(&c->head, bytes != 0 ? bytes : 1, NULL);
}

static wg_status attach(wgi_core *c, implicit *k, const double *x, const wg_real *p,
                        wg_real *y) {
    const size_t n = k->n, np = k->np, all = n + np;
    if (all > UINT32_MAX / 2 || n > SIZE_MAX / 64 / (all + 1))
        return wgi_fail(c, WG_ENOMEM, "%s: %zu equations, %zu parameters", k->call, n, np);
    wgi_implicit f = {n, np, NULL, NULL, NULL, NULL};
    double *const solution = keep(c, n * sizeof(double));
    f.lu = keep(c, n * n * sizeof(double));
    f.fp = keep(c, n * np * sizeof(double));
    f.pivot = keep(c, n * sizeof(int));
    if (c->status != WG_OK) return c->status;
    f.x = solution;
    char *const temporary = c->head.payload_top;
    const int chunk = c->payload_current;
    k->in = keep(c, all * sizeof(wg_real));
    /* one more than F has: no function should write it */
    k->out = keep(c, (n + 1) * sizeof(wg_real));
    k->value = keep(c, all * sizeof(double));
    k->jac = keep(c, n * all * sizeof(double));
    if (c->status != WG_OK) return c->status;
    for (size_t i = 0; i < n; i++) solution[i] = k->value[i] = x[i];
    for (size_t i = 0; i < np; i++) k->value[n + i] = p[i].value;
    wg_status s = c->width != 0 ? by_columns(c, k) : by_rows(c, k);
    if (s == WG_OK) s = factor(c, k, &f);
    if (s != WG_OK) return s;
    if (chunk == c->payload_current) c->head.payload_top = temporary;
    const wg_mat in = wg_mat_gather(&c->head, np, 1, p);
    wg_mat out;
    s = wg_apply(&c->head, k->fixed_point ? &wgi_op_fixed_point : &wgi_op_implicit, &f,
                 sizeof f, 1, &in, 1, &out);
    for (size_t i = 0; i < n; i++) y[i] = wg_mat_at(out, i, 0);
    return s;
}

static wg_status solution(wg_tape *t, implicit *k, const double *x, const wg_real *p,
                          wg_real *y) {
    if (t == NULL) {
        for (size_t i = 0; y != NULL && i < k->n; i++) y[i] = wgi_nan();
        return WG_ENULL;
    }
    wgi_core *const c = wgi_core_of(t);
    wg_status s = c->status;
    if (s == WG_OK &&
        (k->f == NULL || (k->n != 0 && (x == NULL || y == NULL)) || (k->np != 0 && p == NULL)))
        s = wgi_fail(c, WG_ENULL, "%s: the function, or an array of %zu or %zu entries is NULL",
                     k->call, k->n, k->np);
    if (s == WG_OK) s = wgi_check_handles(c, k->call, k->np, p);
    uint32_t any = 0;
    for (size_t i = 0; s == WG_OK && i < k->np; i++) any |= p[i].at.slot;
    const int constant = any == 0 || c->pauses != 0 || c->passive;
    if (s == WG_OK && !constant && (c->flags & WG_KEEP_CODE) != 0 && c->width == 0)
        s = wgi_fail(c, WG_EMODE, "%s: a code-keeping tape: its replay could not solve",
                     k->call);
    if (s == WG_OK && !constant) {
        s = attach(c, k, x, p, y);
        if (s != WG_OK && c->status == WG_OK) { /* of a call that only refuses */
            char why[sizeof c->message];
            memcpy(why, c->message, sizeof why);
            (void)wgi_fail(c, s, "%s: %s", k->call, why);
        }
        if (!k->theirs) wgi_fail_as(c, k->call);
    }
    for (size_t i = 0; y != NULL && i < k->n && (s != WG_OK || constant); i++)
        y[i] = s == WG_OK ? wg_constant(x[i]) : wgi_nan();
    return s;
}

wg_status wg_implicit(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                      size_t np, const wg_real *p, wg_real *y) {
    implicit k = {"wg_implicit", f, data, n, np, 0, NULL, NULL, NULL, NULL, 0};
    return solution(t, &k, x, p, y);
}

wg_status wg_fixed_point(wg_tape *t, wg_callback *g, void *data, size_t n, const double *x,
                         size_t np, const wg_real *p, wg_real *y) {
    implicit k = {"wg_fixed_point", g, data, n, np, 1, NULL, NULL, NULL, NULL, 0};
    return solution(t, &k, x, p, y);
}
