/* SPDX-License-Identifier: MIT */
/* What operations on matrices add in the last pass of second order: with w the adjoints of
 * results, vt the tangents, and wt the adjoints of the tangent sweep, to the operands' wt
 *     J' wt  +  d/dx (J(x)' w) vt.
 * Of an operation that is linear the second term is 0, and vjp gives the first. Of one that is
 * bilinear, vjp gives the second, too, with tangents in the place of operands and w in that of
 * adjoints. Elementwise ones have the partials of their row of the scalar table. All others say
 * their vjp in operations on matrices (adjoint of wg_block_op): this is recorded on a forward
 * tape beside this one, where operands and results have the tangents vt, and adjoints w have
 * wt; the tangents of what it gives are both terms together. */
#include "ops/matrix/traits.h"
#include "ops/scalar/scalar_lanes.h"
#include "second_order.h"
#include "tape/engine/numbers.h"

#include <string.h>

enum { POINTS = WGI_POINTS, ARITY = 4, PAIRS = ARITY * (ARITY + 1) / 2 };

static int is_input(const wgi_block *b) {
    return b->op->value == NULL && b->op != &wgi_small_op && wgi_gather_slots(b) == NULL;
}

/* Can its vjp be called with other adjoints, wherever these come from? Not one that may be of
 * its own, as of a clipped or reversed gradient. */
static int is_linear(const wg_block_op *op) {
    return (op->flags & (WG_OP_LINEAR | WG_OP_MOVES)) != 0 &&
           (op->flags & WG_OP_EXPANDS) != 0 && op->vjp != NULL;
}

int wgi_second_knows(const wgi_block *b) {
    const wg_block_op *const op = b->op;
    const wgi_traits traits = wgi_traits_of(op);
    const wg_scalar_op *const row = wgi_row_of(op, b->params);
    if (op->flags & WG_OP_ALWAYS) return is_linear(op) || op->adjoint != NULL;
    return op == &wgi_small_op || op->value == NULL || is_linear(op) || op->adjoint != NULL ||
           row != NULL || traits.bilinear != 0;
}

static size_t length_of(const wgi_operand *o) { return o->trans ? o->cols : o->rows; }
static size_t columns_of(const wgi_operand *o) { return o->trans ? o->rows : o->cols; }
static size_t size_of(const wgi_operand *o) { return (size_t)o->rows * o->cols; }
static int active(const wgi_operand *o) { return o->slot != 0 && size_of(o) != 0; }
/* Slots from its first element to its last one. */
static size_t span_of(const wgi_operand *o) {
    return (columns_of(o) - 1) * o->ld + length_of(o);
}

/* The same of one lane of rows. */
static int zero_in(const double *x, size_t n, size_t lanes, size_t lane) {
    for (size_t i = 0; i < n; i++)
        if (x[i * lanes + lane] != 0) return 0;
    return 1;
}

static double *room(char **free, const wgi_operand *o) {
    double *const x = (double *)(void *)*free;
    *free += wgi_payload_round(size_of(o) * sizeof(double));
    return x;
}

/* ---- by vjp ---- */

/* Where one lane of an operand's rows is, without others between; they are copied if there are
 * several. */
static double *lane_of(const wgi_operand *o, const double *rows, size_t lanes, size_t lane,
                       char **free, size_t *ld) {
    if (lanes == 1) {
        *ld = o->ld;
        return (double *)(uintptr_t)(rows + o->slot);
    }
    double *const to = room(free, o), *x = to;
    *ld = length_of(o);
    for (size_t j = 0; j < columns_of(o); j++)
        for (size_t i = 0; i < length_of(o); i++)
            *x++ = rows[((size_t)o->slot + j * o->ld + i) * lanes + lane];
    return to;
}

/* vjp for one lane, which adds to that lane of wt. of: the adjoints of results, rows of so many
 * lanes; `by` NULL: operands as they are, of all operands; otherwise their tangents in their
 * place, and only of those with a bit in `which`. */
static wg_status lane_by_vjp(const wgi_passes *p, const wgi_block *b, size_t lane,
                             const double *of, size_t lanes_of, const double *by,
                             unsigned which) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wgi_core *const c = p->c;
    const uint64_t used = c->scratch_used;
    wg_block call;
    wgi_block_call(&call, b, arg, wgi_scratch(c, b->work_bytes));
    char *free = wgi_scratch(c, 2 * c->lane_bytes + WGI_PAYLOAD_UNIT);
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        if (!active(o) || !(which >> i & 1)) continue;
        if (by != NULL)
            call.in[i].value = lane_of(o, by, p->lanes, lane, &free, &call.in[i].ld);
        if (p->lanes == 1) {
            call.in[i].bar = p->wt + o->slot;
            continue;
        }
        call.in[i].bar = memset(room(&free, o), 0, size_of(o) * sizeof(double));
        call.in[i].bar_ld = length_of(o);
    }
    for (uint32_t k = 0; k < b->outputs; k++)
        call.out[k].bar = lane_of(&b->operand[b->inputs + k], of, lanes_of,
                                  lanes_of == 1 ? 0 : lane, &free, &call.out[k].bar_ld);
    const wg_status s = wgi_block_vjp(c, b, &call);
    for (uint32_t i = 0; s == WG_OK && p->lanes != 1 && i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        const double *x = call.in[i].bar;
        for (size_t j = 0; x != NULL && j < columns_of(o); j++)
            for (size_t k = 0; k < length_of(o); k++)
                p->wt[((size_t)o->slot + j * o->ld + k) * p->lanes + lane] += *x++;
    }
    c->scratch_used = used;
    return s;
}

/* Are the operands of a product, or one of them, constants? Then it is linear. */
static int has_constant(const wgi_block *b, unsigned which) {
    for (uint32_t i = 0; i < b->inputs; i++)
        if ((which >> i & 1) && !active(&b->operand[i])) return 1;
    return 0;
}

/* As in a sweep, nothing is multiplied by adjoints that are all 0. */
static wg_status by_vjp(const wgi_passes *p, const wgi_block *b, unsigned bilinear) {
    const int curved =
        bilinear != 0 && !has_constant(b, bilinear) && !wgi_all_zero(p->w + b->out, b->outs);
    const double *const wt = p->wt + (size_t)b->out * p->lanes;
    wg_status s = WG_OK;
    for (size_t l = 0; l < p->lanes && s == WG_OK; l++) {
        if (!zero_in(wt, b->outs, p->lanes, l))
            s = lane_by_vjp(p, b, l, p->wt, p->lanes, NULL, ~0u);
        if (s == WG_OK && curved) s = lane_by_vjp(p, b, l, p->w, 1, p->vt, bilinear);
    }
    return s;
}

/* Of a WG_OP_ALWAYS: all lanes at once, whatever they are. */
static wg_status beyond(const wgi_passes *p, const wgi_block *b) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wgi_core *const c = p->c;
    const uint64_t used = c->scratch_used;
    wg_block call;
    wgi_block_call(&call, b, arg, wgi_scratch(c, b->work_bytes));
    call.lanes = p->lanes;
    for (uint32_t i = 0; i < b->inputs; i++)
        if (active(&b->operand[i]))
            call.in[i].bar = p->wt + (size_t)b->operand[i].slot * p->lanes;
    for (uint32_t k = 0; k < b->outputs; k++)
        call.out[k].bar = p->wt + (size_t)b->operand[b->inputs + k].slot * p->lanes;
    const wg_status s = wgi_block_vjp(c, b, &call);
    c->scratch_used = used;
    return s;
}

/* ---- elementwise ---- */

/* Second partials h, and where v is not known that and the first ones d, at POINTS points. */
static void lanes_of_users(const wg_scalar_op *op, const double *const *x, double *v,
                           wgi_lane_row *d, wgi_lane_row *h) {
    const unsigned pairs = op->arity * (op->arity + 1) / 2;
    for (int l = 0; l < POINTS; l++) {
        double at[ARITY], first[ARITY], second[PAIRS];
        for (unsigned k = 0; k < op->arity; k++) at[k] = x[k][l];
        const double value = op->second(at, first, second);
        for (unsigned k = 0; k < pairs; k++) h[k][l] = second[k];
        if (d == NULL) continue;
        v[l] = value;
        for (unsigned k = 0; k < op->arity; k++) d[k][l] = first[k];
    }
}
static void curves_lanes(const wg_scalar_op *op, const double *const *x, const double *v,
                         wgi_lane_row *h) {
    if (wgi_is_users(op)) lanes_of_users(op, x, NULL, NULL, h);
    else wgi_scalar_curves_lanes[op - wgi_scalar_ops](x, v, h);
}
static void second_lanes(const wg_scalar_op *op, const double *const *x, double *v,
                         wgi_lane_row *d, wgi_lane_row *h) {
    if (wgi_is_users(op)) lanes_of_users(op, x, v, d, h);
    else wgi_scalar_second_lanes[op - wgi_scalar_ops](x, v, d, h);
}

/* An operand of an elementwise operation: a single row or column is stretched. */
typedef struct wgi_element {
    const double *value;
    size_t slot, down, across; /* slot 0: a constant */
} wgi_element;

/* What the second partials h add to each operand for one direction: sum[k] += w h t. */
static inline void add_curves(const wg_scalar_op *op, const double *w, wgi_lane_row *h,
                              const double *const *t, wgi_lane_row *sum) {
    for (unsigned k = 0, pair = 0; k < op->arity; k++)
        for (unsigned m = k; m < op->arity; m++, pair++) {
            if (op->zero_second >> pair & 1) continue;
            for (int l = 0; l < POINTS; l++) {
                const double by = w[l] * h[pair][l];
                sum[k][l] += by * t[m][l];
                if (m != k) sum[m][l] += by * t[k][l];
            }
        }
}

/* Is none of them NaN? One may be wrong. */
static inline int all_numbers(unsigned arity, wgi_lane_row *sum) {
    wgi_lane_row all = {0};
    for (unsigned k = 0; k < arity; k++)
        for (int l = 0; l < POINTS; l++) all[l] += sum[k][l] * 0;
    for (int l = 0; l < POINTS; l++)
        if (all[l] != 0) return 0;
    return 1;
}

/* The same for a single direction, unless a NaN comes out. d: NULL: without J' wt. */
static int add_single(const wgi_passes *p, const wg_scalar_op *op, const wgi_element *x,
                      size_t out, int count, size_t at[][POINTS], wgi_lane_row *d,
                      wgi_lane_row *h) {
    wgi_lane_row t[ARITY], sum[ARITY] = {{0}}, w, from;
    const double *tangent[ARITY];
    for (int l = 0; l < POINTS; l++) {
        const size_t e = out + (size_t)(l < count ? l : 0);
        w[l] = p->w[e], from[l] = p->wt[e];
    }
    for (unsigned k = 0; k < op->arity; k++) {
        tangent[k] = t[k];
        for (int l = 0; l < POINTS; l++) {
            t[k][l] = x[k].slot != 0 ? p->vt[x[k].slot + at[k][l < count ? l : 0]] : 0;
            if (d != NULL && !(op->zero_first >> k & 1)) sum[k][l] = from[l] * d[k][l];
        }
    }
    add_curves(op, w, h, tangent, sum);
    if (!all_numbers(op->arity, sum)) return 0;
    for (unsigned k = 0; k < op->arity; k++)
        for (int l = 0; l < count && x[k].slot != 0; l++)
            p->wt[x[k].slot + at[k][l]] += sum[k][l];
    return 1;
}

/* And where operands stand as the results do, at POINTS elements from e on, whose values are
 * y. */
static int add_run(const wgi_passes *p, const wg_scalar_op *op, const wgi_element *x,
                   size_t out, size_t e, const double *y) {
    static const wgi_lane_row none = {0};
    wgi_lane_row h[PAIRS], sum[ARITY] = {{0}};
    const double *operand[ARITY], *t[ARITY];
    for (unsigned k = 0; k < op->arity; k++) {
        operand[k] = x[k].value + e;
        t[k] = x[k].slot != 0 ? p->vt + x[k].slot + e : none;
    }
    curves_lanes(op, operand, y + e, h);
    add_curves(op, p->w + out + e, h, t, sum);
    if (!all_numbers(op->arity, sum)) return 0;
    for (unsigned k = 0; k < op->arity; k++)
        for (int l = 0; l < POINTS && x[k].slot != 0; l++)
            p->wt[x[k].slot + e + (size_t)l] += sum[k][l];
    return 1;
}

/* What `count` elements of a result add to their operands; at[k][l]: where element l of operand
 * k stands behind its first. y: their values, where J' wt is added already; or NULL. */
static void add_elements(const wgi_passes *p, const wg_scalar_op *op, const wgi_element *x,
                         size_t out, int count, size_t at[][POINTS], const double *y) {
    wgi_lane_row value[ARITY], v, d[ARITY], h[PAIRS];
    const double *operand[ARITY];
    const size_t lanes = p->lanes;
    for (unsigned k = 0; k < op->arity; k++) {
        for (int l = 0; l < POINTS; l++) value[k][l] = x[k].value[at[k][l < count ? l : 0]];
        operand[k] = value[k];
    }
    for (int l = 0; l < POINTS && y != NULL; l++) v[l] = y[l < count ? l : 0];
    if (y != NULL) curves_lanes(op, operand, v, h);
    else second_lanes(op, operand, v, d, h);
    if (lanes == 1 && add_single(p, op, x, out, count, at, y != NULL ? NULL : d, h)) return;
    for (int e = 0; e < count; e++) {
        const double *const from = p->wt + (out + (size_t)e) * lanes;
        const double w = p->w[out + (size_t)e];
        for (unsigned k = 0, pair = 0; k < op->arity; k++) {
            const size_t to = (x[k].slot + at[k][e]) * lanes;
            const int first = y == NULL && x[k].slot != 0 && !(op->zero_first >> k & 1);
            for (size_t l = 0; first && l < lanes; l++)
                p->wt[to + l] += wgi_product(from[l], d[k][e]);
            for (unsigned m = k; m < op->arity; m++, pair++) {
                if (w == 0 || op->second == NULL || (op->zero_second >> pair & 1) ||
                    x[k].slot == 0 || x[m].slot == 0)
                    continue;
                const double by = wgi_product(w, h[pair][e]);
                const size_t other = (x[m].slot + at[m][e]) * lanes;
                for (size_t l = 0; l < lanes; l++) {
                    p->wt[to + l] += wgi_product(by, p->vt[other + l]);
                    if (m != k) p->wt[other + l] += wgi_product(by, p->vt[to + l]);
                }
            }
        }
    }
}

static void by_row(const wgi_passes *p, const wg_scalar_op *op, const wgi_element *x,
                   size_t out, size_t rows, size_t cols, const double *y) {
    size_t at[ARITY][POINTS];
    int alike = y != NULL;
    for (unsigned k = 0; k < op->arity; k++)
        alike &= x[k].down == 1 && (cols == 1 || x[k].across == rows);
    for (size_t e = 0, n = rows * cols; e < n; e += POINTS) {
        const int count = n - e < POINTS ? (int)(n - e) : POINTS;
        if (alike && count == POINTS && add_run(p, op, x, out, e, y)) continue;
        for (size_t l = 0, i = e % rows, j = e / rows; l < (size_t)count; l++) {
            for (unsigned k = 0; k < op->arity; k++) at[k][l] = i * x[k].down + j * x[k].across;
            if (++i == rows) i = 0, j++;
        }
        add_elements(p, op, x, out + e, count, at, y != NULL ? y + e : NULL);
    }
}

/* Of a single direction J' wt comes by vjp, at its speed, and the second partials of the values
 * that are there. */
static wg_status of_elements(const wgi_passes *p, const wgi_block *b, const wg_scalar_op *op) {
    const wgi_operand *const y = &b->operand[b->inputs];
    const int single = p->lanes == 1;
    wgi_element x[ARITY];
    const wg_status s = single ? by_vjp(p, b, 0) : WG_OK;
    if (s != WG_OK || (single && wgi_all_zero(p->w + b->out, b->outs))) return s;
    for (uint32_t k = 0; k < b->inputs; k++) {
        const wgi_operand *const o = &b->operand[k];
        x[k] = (wgi_element){o->value, o->slot,
                             o->rows == 1 ? 0
                             : o->trans   ? o->ld
                                          : 1,
                             o->cols == 1 ? 0
                             : o->trans   ? 1
                                          : o->ld};
    }
    by_row(p, op, x, b->out, y->rows, y->cols, single ? y->value : NULL);
    return WG_OK;
}

static void of_small(const wgi_passes *p, const wgi_small *s) {
    const wgi_element x[ARITY] = {{s->a, s->in[0], 1, 0}, {s->b, s->in[1], 1, 0}};
    by_row(p, wgi_small_row(s), x, s->out, s->outs, 1, NULL);
}

/* ---- by its adjoint in operations on matrices ---- */

/* A matrix of the tape beside: with the tangents in these rows, those of `slot` first. */
static wg_mat variable(const wgi_passes *p, const wgi_operand *o, const double *value,
                       const double *rows) {
    wgi_core *const beside = wgi_core_of(p->beside);
    wg_mat a = {value, o->rows, o->cols, o->ld, {0, beside->head.stamp}, o->trans};
    if (!active(o)) return a;
    const size_t n = span_of(o);
    if (wgi_slots_need(beside, "adjoint", n) != WG_OK) return a;
    a.at.slot = beside->head.slots;
    memcpy(wgi_tangents_of(beside, a.at.slot), rows + (size_t)o->slot * p->lanes,
           n * p->lanes * sizeof(double));
    beside->head.slots += (uint32_t)n;
    return a;
}

/* wt of an operand += tangents of what its adjoint was found to be. */
static void add_tangents(const wgi_passes *p, const wgi_operand *o, const wg_mat *back) {
    const wgi_core *const beside = wgi_core_of_const(p->beside);
    const size_t lanes = p->lanes;
    if (back->at.slot == 0) return;
    const int alike = back->trans == o->trans;
    for (size_t j = 0; j < columns_of(o); j++)
        for (size_t i = 0; i < length_of(o); i++) {
            const size_t at = alike ? i + j * back->ld : j + i * back->ld;
            const double *const from = wgi_tangents_of(beside, back->at.slot + (uint32_t)at);
            double *const to = p->wt + ((size_t)o->slot + j * o->ld + i) * lanes;
            for (size_t l = 0; l < lanes; l++) to[l] += from[l];
        }
}

static wg_status open_beside(wgi_passes *p) {
    const wg_status s = wgi_beside_open(p->c, 0, &p->beside);
    return s == WG_OK ? wg_tape_forward(p->beside, p->lanes) : s;
}

static wg_status explain(const wgi_passes *p, const wgi_block *b, wg_status s, wg_block *call) {
    if (wg_tape_status(p->beside) != WG_OK)
        return wgi_refuse(p->c, s, "%s: the adjoint of %s: %s", p->call, b->op->name,
                          wg_tape_message(p->beside));
    return wgi_refuse_call(p->c, p->call, b->op, s, call);
}

static wg_status by_adjoint(wgi_passes *p, const wgi_block *b) {
    wg_mat in[WGI_MAX_ARGS], out[WGI_MAX_ARGS], bar[WGI_MAX_ARGS], back[WGI_MAX_ARGS];
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wg_block call;
    const uint64_t used = p->c->scratch_used;
    wg_status s = open_beside(p);
    if (s != WG_OK)
        return wgi_refuse(p->c, s, "%s: no tape for the adjoint of %s", p->call, b->op->name);
    wgi_block_call(&call, b, arg, wgi_scratch(p->c, b->work_bytes));
    for (uint32_t i = 0; i < b->inputs; i++) {
        in[i] = variable(p, &b->operand[i], b->operand[i].value, p->vt);
        back[i] = (wg_mat){.at = {0, 0}};
    }
    for (uint32_t k = 0; k < b->outputs; k++) {
        const wgi_operand *const o = &b->operand[b->inputs + k];
        out[k] = variable(p, o, o->value, p->vt);
        bar[k] = variable(p, o, p->w + o->slot, p->wt);
    }
    s = wg_tape_status(p->beside);
    if (s == WG_OK) s = wgi_block_adjoint(p->c, b, &call, p->beside, in, out, bar, back);
    if (s == WG_OK) s = wg_tape_status(p->beside);
    for (uint32_t i = 0; s == WG_OK && i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        if (!active(o) || (back[i].value == NULL && back[i].rows == 0)) continue;
        if (back[i].value == NULL) s = WG_EMODE;
        else if (back[i].rows != o->rows || back[i].cols != o->cols) {
            s = WG_ESHAPE;
            call.why = "its adjoint is not of the shape of an operand";
        } else if (wgi_mat_stale(wgi_core_of(p->beside), &back[i])) {
            s = WG_ESTALE;
            call.why = "its adjoint is a matrix of another tape, or of none";
        } else add_tangents(p, o, &back[i]);
    }
    p->c->scratch_used = used;
    return s == WG_OK ? s : explain(p, b, s, &call);
}

/* ---- */

static void of_gather(const wgi_passes *p, const wgi_block *b, const uint32_t *slot) {
    for (size_t i = 0; i < b->outs; i++)
        for (size_t l = 0; slot[i] != 0 && l < p->lanes; l++)
            p->wt[(size_t)slot[i] * p->lanes + l] += p->wt[((size_t)b->out + i) * p->lanes + l];
}

wg_status wgi_second_block(wgi_passes *p, const wgi_block *b) {
    const uint32_t *const gathered = wgi_gather_slots(b);
    const wgi_traits traits = wgi_traits_of(b->op);
    const wg_scalar_op *const row = wgi_row_of(b->op, b->params);
    if (is_input(b)) return WG_OK;
    if (gathered != NULL) {
        of_gather(p, b, gathered);
        return WG_OK;
    }
    if (b->op->flags & WG_OP_ALWAYS) return is_linear(b->op) ? beyond(p, b) : by_adjoint(p, b);
    if (wgi_all_zero(p->w + b->out, b->outs) &&
        wgi_all_zero(p->wt + (size_t)b->out * p->lanes, b->outs * p->lanes))
        return WG_OK;
    if (b->op == &wgi_small_op) of_small(p, (const wgi_small *)(const void *)b);
    else if (is_linear(b->op)) return by_vjp(p, b, 0);
    else if (traits.bilinear != 0) return by_vjp(p, b, traits.bilinear);
    else if (row != NULL && row->second == NULL) return by_vjp(p, b, 0);
    else if (row != NULL) return of_elements(p, b, row);
    else return by_adjoint(p, b);
    return WG_OK;
}

static void note_last(const wgi_operand *o, uint32_t *last) {
    if (active(o) && o->slot + (span_of(o) - 1) > *last)
        *last = o->slot + (uint32_t)(span_of(o) - 1);
}

uint32_t wgi_second_reads(const wgi_block *b) {
    const wgi_traits traits = wgi_traits_of(b->op);
    const wg_scalar_op *const row = wgi_row_of(b->op, b->params);
    uint32_t last = 0;
    if (b->op == &wgi_small_op) {
        const wgi_small *const s = (const wgi_small *)(const void *)b;
        for (int k = 0; k < 2 && wgi_small_row(s)->second != NULL; k++)
            if (s->in[k] != 0 && s->in[k] + (s->outs - 1) > last)
                last = s->in[k] + (uint32_t)(s->outs - 1);
        return last;
    }
    if (is_input(b) || wgi_gather_slots(b) != NULL || is_linear(b->op) ||
        (row != NULL && row->second == NULL))
        return 0;
    for (uint32_t i = 0; i < b->inputs; i++) note_last(&b->operand[i], &last);
    const int adjoint = traits.bilinear == 0 && row == NULL;
    for (uint32_t k = 0; k < b->outputs && adjoint && !traits.apart; k++)
        note_last(&b->operand[b->inputs + k], &last);
    return last;
}
