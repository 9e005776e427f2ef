/* SPDX-License-Identifier: MIT */
/* Coefficients where the partials of a node have no series, though it may have one: a power of
 * 0 whose exponent begins with an e above 0, powers that underflow, though their derivatives may
 * not, and powers, hypot and norms that are infinite.
 *
 * Where a begins with a_q s^q, v begins with a_q^e s^(q e): v_k = 0 for k < q e, and a_q^e for k
 * = q e. Its adjoint goes by p = e a^(e-1): p_k = 0 for k < q (e - 1); to an exponent that
 * moves, by v log a: 0 for k < q e. Then a_q is above 0, or there is no v. A 0 that does not
 * move up to the order counts as one that stays. Elsewhere v_1 goes by the slopes of the tape.
 * What comes behind is NaN, or, of a power that underflows, 0 where that would underflow, too. */
#include "taylor_plan.h"

#include "ops/scalar/array.h"

#include <math.h>

static const double *operand(const wgi_taylor_plan *p, uint32_t node, uint32_t k) {
    return p->row[wgi_series_operand(&p->s, node, k)];
}

static int is_power(const wgi_taylor_plan *p, uint32_t node) {
    return wgi_node_op(&p->g.node[node]) == WGI_ROW_pow;
}

/* The q of a power of 0; infinity: the 0 stays. */
static double first_power(const wgi_taylor_plan *p, uint32_t node) {
    const double *const a = operand(p, node, 0);
    const size_t n = p->s.need[node] - (size_t)p->adjoint + 1;
    for (size_t k = 1; k < n; k++)
        if (a[k] != 0) return (double)k;
    return INFINITY;
}

static int is_power_of_zero(const wgi_taylor_plan *p, uint32_t node) {
    if (!is_power(p, node) || *operand(p, node, 0) != 0 || !(*operand(p, node, 1) > 0))
        return 0;
    if (!p->s.moves[wgi_series_operand(&p->s, node, 1)]) return 1;
    const double q = first_power(p, node);
    return q == INFINITY || operand(p, node, 0)[(size_t)q] > 0;
}

/* Is a power without digits, or 0, by underflow? Its partials are made of it. */
static int is_power_below(const wgi_taylor_plan *p, uint32_t node) {
    if (!is_power(p, node) || !(fabs(p->row[node][0]) < DBL_MIN)) return 0;
    const double a = fabs(*operand(p, node, 0));
    return a > 0 && a < 1 && p->s.moves[wgi_series_operand(&p->s, node, 0)];
}

/* Does coefficient k of a^e underflow? With a = a_0 (1 + u) and S the largest root |u_j|^(1/j)
 * it is below |a_0|^e (2 (1 + |e|) S)^k, which has one such term for each way to write k as a
 * sum. */
static int is_below(const wgi_taylor_plan *p, uint32_t node, double e, size_t k) {
    const double *const a = operand(p, node, 0), log_a = log(fabs(a[0]));
    double most = -INFINITY;
    if (p->s.moves[wgi_series_operand(&p->s, node, 1)]) return 0;
    for (size_t j = 1; j <= k; j++)
        if (a[j] != 0) most = fmax(most, (log(fabs(a[j])) - log_a) / (double)j);
    return e * log_a + (double)k * (log(2 + 2 * fabs(e)) + most) < log(DBL_MIN);
}

int wgi_taylor_may_be_singular(const wgi_taylor_plan *p, uint32_t node) {
    const wgi_node *const n = &p->g.node[node];
    return is_power(p, node) || wgi_node_op(n) == WGI_ROW_hypot ||
           (n->kind == WGI_NODE_ARRAY && n->array == WGI_ARRAY_norm2);
}

int wgi_taylor_is_singular(const wgi_taylor_plan *p, uint32_t node) {
    return is_power_of_zero(p, node) || is_power_below(p, node) ||
           fabs(p->row[node][0]) > DBL_MAX;
}

/* The slopes of the tape, in the second half of p->at. */
static const double *slopes(const wgi_taylor_plan *p, uint32_t node) {
    const wgi_node *const n = &p->g.node[node];
    double *const d = p->at + n->count, v = p->row[node][0];
    for (uint32_t i = 0; i < n->count; i++) p->at[i] = *operand(p, node, i);
    if (n->kind == WGI_NODE_OP) n->op->first(p->at, v, d);
    else wgi_array_ops[n->array].first(n->count, p->at, NULL, v, d);
    return d;
}

double wgi_taylor_singular(const wgi_taylor_plan *p, uint32_t node, size_t k) {
    double sum = 0;
    if (is_power_of_zero(p, node)) {
        const double q = first_power(p, node), e = *operand(p, node, 1);
        if ((double)k < q * e) return 0;
        if ((double)k == q * e) return pow(operand(p, node, 0)[(size_t)q], e);
    }
    if (k != 1 && is_power_below(p, node) && is_below(p, node, *operand(p, node, 1), k))
        return 0;
    if (k != 1) return NAN;
    const double *const d = slopes(p, node);
    for (uint32_t i = 0; i < p->g.node[node].count; i++)
        sum += wgi_product(d[i], operand(p, node, i)[1]);
    return sum;
}

void wgi_taylor_singular_back(const wgi_taylor_plan *p, uint32_t node, double w, size_t k) {
    const double *const d = slopes(p, node);
    const double q = is_power_of_zero(p, node) ? first_power(p, node) : 0;
    const int below = is_power_below(p, node);
    for (uint32_t i = 0; i < p->g.node[node].count; i++) {
        const double smooth = q == 0 ? 0 : q * (*operand(p, node, 1) - (i == 0));
        const uint32_t x = wgi_series_operand(&p->s, node, i);
        if (!p->s.moves[x]) continue;
        for (size_t j = 0; j < k; j++)
            if (!((double)(k - j) < smooth) &&
                !(below && is_below(p, node, *operand(p, node, 1) - 1, k - j)))
                p->bar[x][j] = NAN;
        p->bar[x][k] += k < 2 || smooth > 0 || below ? wgi_product(w, d[i]) : NAN;
    }
}
