/* SPDX-License-Identifier: MIT */
/* array_kernel.h - an array operation by number, over taped variables or duals; see
 * wengert/generic.h. dot: the operands are x, then y; polynomial: the argument is the last;
 * lookup: the index is. */
#include <wengert/generic.h>

static wg_real WG_NAME(array)(wg_tape *t, enum array_op op, size_t n, const wg_real *x,
                              const double *c) {
    (void)t, (void)c;
    switch (op) {
    case SUM:
        return wg_sum(t, n, x);
    case PRODUCT:
        return wg_product(t, n, x);
    case DOT:
        return wg_dot(t, n / 2, x, n != 0 ? x + n / 2 : x);
    case LINEAR:
        return wg_linear(t, n, c, x);
    case POLYNOMIAL:
        return wg_polynomial(t, n - 1, x, x[n - 1]);
    case NORM2:
        return wg_norm2(t, n, x);
    case SQUARED_NORM:
        return wg_squared_norm(t, n, x);
    case LOGSUMEXP:
        return wg_logsumexp(t, n, x);
    case MAXIMUM:
        return wg_maximum(t, n, x);
    case MINIMUM:
        return wg_minimum(t, n, x);
    case MEAN:
        return wg_mean(t, n, x);
    case LOOKUP:
        return wg_lookup(t, x[n - 1], n - 1, x);
    default:
        break;
    }
    return wg_constant(0);
}
