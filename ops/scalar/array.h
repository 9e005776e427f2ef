/* SPDX-License-Identifier: MIT */
/* Operations on n operands at once, as mathematics on plain arrays. Internal.
 *
 *   x operands (n of them), number constants of the call, v the value, d first partials,
 *   xt tangents of the operands, ht = H xt, work: n doubles of room. */
#ifndef WGI_OPS_SCALAR_ARRAY_H
#define WGI_OPS_SCALAR_ARRAY_H

#include <stddef.h>

/* Which pairs of operands have a second partial that is not identically 0. */
enum wgi_array_near {
    WGI_NEAR_NONE,   /* none: linear */
    WGI_NEAR_ITSELF, /* each operand with itself */
    WGI_NEAR_PAIR,   /* operands 0 and 1, 2 and 3, ... with each other */
    WGI_NEAR_LAST,   /* the last with itself and all but the first, where there are such */
    WGI_NEAR_ALL     /* all with all */
};

typedef struct wgi_array_op {
    const char *name, *call; /* as users call it */
    enum wgi_array_near near;
    int indexed; /* the last operand is an index, which must choose one of the others */
    double (*value)(size_t n, const double *x, const double *number);
    void (*first)(size_t n, const double *x, const double *number, double v, double *d);
    /* NULL: linear in the operands */
    void (*second)(size_t n, const double *x, const double *number, double v, const double *xt,
                   double *ht, double *work);
} wgi_array_op;

enum {
    WGI_ARRAY_sum,
    WGI_ARRAY_product,
    WGI_ARRAY_dot,        /* operands x0 y0 x1 y1 ... */
    WGI_ARRAY_linear,     /* numbers: the coefficients */
    WGI_ARRAY_polynomial, /* operands c0 .. c(n-2) and the argument last */
    WGI_ARRAY_norm2,
    WGI_ARRAY_squared_norm,
    WGI_ARRAY_logsumexp,
    WGI_ARRAY_maximum,
    WGI_ARRAY_minimum,
    WGI_ARRAY_mean,
    WGI_ARRAY_lookup, /* operands x0 .. x(n-2) and the index last */
    WGI_ARRAY_COUNT
};

extern const wgi_array_op wgi_array_ops[WGI_ARRAY_COUNT];

/* Which of n elements an index chooses: that of its whole part; n: none. */
static inline size_t wgi_array_index(size_t n, double index) {
    return index >= 0 && index < (double)n ? (size_t)index : n;
}

#endif
