/* SPDX-License-Identifier: MIT */
/* machine_code.c - loops whose machine code is looked at by test/machine_code.sh: one function,
 * one loop, one statement each. The name ends in the number of stores to the stack that the
 * loop may make (see the script); `bad_` ones must be found wanting. */
#include <wengert.h>

#define HOT(name)                                                                              \
    void name(wg_tape *t, size_t n, double c, const wg_real *q, wg_real *r);                   \
    void name(wg_tape *t, size_t n, double c, const wg_real *q, wg_real *r)

/* Lax-Wendroff, Hogan 2014: pairs that repeat. */
HOT(hot_lax_wendroff_flux_0) {
    for (size_t i = 0; i + 1 < n; i++)
        r[i] = wg_let(t, wg_mul(0.5 * c, wg_add(wg_add(q[i], q[i + 1]),
                                                wg_mul(c, wg_sub(q[i], q[i + 1])))));
}

HOT(hot_lax_wendroff_update_0) {
    (void)c;
    for (size_t i = 1; i + 1 < n; i++) r[i] = wg_let(t, wg_add(r[i], wg_sub(q[i - 1], q[i])));
}

/* Toon: libm, a quotient, three pairs. Whatever lives across a call of libm is on the stack. */
HOT(hot_toon_flux_12) {
    for (size_t i = 0; i + 1 < n; i++)
        r[i] = wg_let(
            t,
            wg_div(wg_mul(wg_mul(wg_sub(wg_exp(wg_mul(c, wg_log(wg_div(q[i], q[i + 1])))), 1.0),
                                 q[i]),
                          q[i + 1]),
                   wg_sub(q[i], q[i + 1])));
}

/* Rosenbrock: where its pairs are the same, sums and differences of products stand side by
 * side. */
HOT(hot_rosenbrock_0) {
    wg_real f = r[0];
    for (size_t i = 0; i + 1 < n; i++)
        f = wg_let(t, wg_add(f, wg_add(wg_mul(c, wg_square(wg_sub(q[i + 1], wg_square(q[i])))),
                                       wg_square(wg_sub(1.0, q[i])))));
    r[0] = f;
}

/* One operation at a time: the least a statement can be. */
HOT(hot_product_0) {
    (void)c;
    for (size_t i = 0; i + 1 < n; i++) r[i] = wg_let(t, wg_mul(q[i], q[i + 1]));
}

HOT(hot_chain_0) {
    wg_real y = q[0];
    for (size_t i = 0; i < n; i++) y = wg_let(t, wg_mul(y, c));
    r[0] = y;
}

HOT(hot_eight_operands_4) {
    (void)c;
    for (size_t i = 0; i + 7 < n; i++)
        r[i] =
            wg_let(t, wg_add(wg_mul(wg_mul(q[i], q[i + 1]), wg_add(q[i + 2], q[i + 3])),
                             wg_add(wg_mul(q[i + 4], q[i + 5]), wg_mul(q[i + 6], q[i + 7]))));
}

/* Numbers are wanted on the cold path alone. As many of them as fit a vector register are what
 * a compiler likes to copy as a whole, through memory. */
HOT(hot_two_numbers_0) {
    (void)c;
    for (size_t i = 0; i < n; i++) r[i] = wg_let(t, wg_mul(wg_add(q[i], 2.0), 3.0));
}

HOT(hot_four_numbers_0) {
    for (size_t i = 0; i < n; i++)
        r[i] = wg_let(t, wg_mul(wg_sub(5.0, wg_mul(c, wg_add(q[i], 2.0))), 3.0));
}

HOT(hot_eight_numbers_0) {
    for (size_t i = 0; i + 1 < n; i++)
        r[i] = wg_let(
            t, wg_add(wg_add(wg_mul(2.0, wg_add(q[i], 3.0)), wg_mul(wg_sub(q[i], 5.0), c)),
                      wg_add(wg_mul(7.0, wg_sub(11.0, q[i + 1])),
                             wg_mul(13.0, wg_sub(q[i + 1], 17.0)))));
}

/* Operations whose partials may be infinite: products of partials are looked at. */
HOT(hot_guards_3) {
    for (size_t i = 0; i + 1 < n; i++)
        r[i] = wg_let(t, wg_div(wg_sqrt(wg_mul(q[i], c)), wg_add(q[i + 1], wg_sqrt(q[i]))));
}

HOT(hot_exponential_2) {
    for (size_t i = 0; i + 1 < n; i++)
        r[i] = wg_let(t, wg_div(wg_exp(wg_mul(q[i], c)), wg_add(1.0, q[i + 1])));
}

HOT(hot_select_0) {
    for (size_t i = 0; i + 1 < n; i++)
        r[i] = wg_let(t, wg_select_lt(q[i], c, wg_mul(q[i], q[i]), wg_fabs(q[i + 1])));
}

/* What must not happen: a product that is not rounded. */
HOT(bad_contraction_0) {
    (void)c;
    for (size_t i = 0; i + 1 < n; i++) {
        const double z = __builtin_fma(wg_value(q[i]), wg_value(q[i + 1]), 1.0);
        r[i] = wg_let(t, wg_mul(q[i], z));
    }
}

/* What must not happen: the expression as a structure in memory. */
HOT(bad_expression_in_memory_0) {
    for (size_t i = 0; i + 1 < n; i++) {
        const __auto_type e = wg_add(wg_mul(q[i], q[i + 1]), wg_mul(c, wg_sub(q[i], q[i + 1])));
        __asm__ volatile("" : : "r"(&e) : "memory");
        r[i] = wg_let(t, e);
    }
}

HOT(bad_call_0) {
    (void)c;
    for (size_t i = 0; i < n; i++) {
        const double one = 1;
        wg_real x;
        if (wg_inputs(t, 1, &one, &x) == WG_OK) r[i] = wg_let(t, wg_mul(q[i], x));
    }
}
