/* SPDX-License-Identifier: MIT */
/* small_kernel.h - statements that are compiled twice, as always and with WG_SMALL_CODE: one
 * function for each number of operands, its name given by KERNEL. */
enum { KERNEL_MOST = 8, KERNEL_WAYS = 3 };

wg_real KERNEL(wg_tape *t, size_t n, int way, const wg_real *x);
wg_real KERNEL(wg_tape *t, size_t n, int way, const wg_real *x) {
    switch (n * KERNEL_WAYS + (size_t)way) {
    case 0:
        return wg_let(t, 2.5);
    case 1:
        return wg_let(t, wg_mul(2, wg_exp(0.5)));
    case 2:
        return wg_let(t, x[0]);
    case 3:
        return wg_let(t, wg_sin(x[0]));
    case 4:
        return wg_let(t, wg_mul(wg_sin(x[0]), 2));
    case 5:
        return wg_let(t, wg_sqrt(wg_mul(0, x[0])));
    case 6:
        return wg_let(t, wg_mul(wg_mul(x[0], 3), wg_exp(x[1])));
    case 7:
        return wg_let(t, wg_sub(1, wg_div(x[0], wg_add(x[1], 7.5))));
    case 8:
        return wg_let(t, wg_pow(x[0], x[1]));
    case 9:
        return wg_let(t, wg_fma(x[0], wg_sin(x[1]), x[2]));
    case 10:
        return wg_let(t, wg_select_lt(x[0], 0.5, x[1], wg_mul(x[2], x[2])));
    case 11:
        return wg_let(t, wg_hypot(wg_add(x[0], 1), wg_mul(x[1], x[2])));
    case 12:
        return wg_let(t, wg_sub(wg_mul(x[0], x[1]), wg_div(x[2], x[3])));
    case 13:
        return wg_let(
            t, wg_mul(0.5, wg_add(wg_add(x[0], x[1]), wg_mul(0.25, wg_sub(x[2], x[3])))));
    case 14:
        return wg_let(t, wg_atan2(wg_mul(x[0], x[1]), wg_log(wg_mul(x[2], x[3]))));
    case 15:
        return wg_let(t, wg_fma(wg_mul(x[0], x[1]), wg_mul(x[2], x[3]), wg_cos(x[4])));
    case 16: /* a long one, of variables that come again */
        return wg_let(t,
                      wg_add(wg_mul(wg_add(wg_mul(0.1, x[0]), wg_mul(0.7, x[1])),
                                    wg_add(wg_mul(0.3, x[2]), wg_mul(1.1, x[0]))),
                             wg_sub(wg_mul(wg_add(0.9, x[3]), wg_mul(1.3, x[0])),
                                    wg_mul(wg_mul(1.7, x[4]), wg_mul(1.9, wg_mul(2.3, x[1]))))));
    case 17: /* of pairs that come again */
        return wg_let(t, wg_add(wg_mul(wg_add(0.1, wg_mul(0.7, x[0])), wg_add(0.3, x[1])),
                                wg_add(wg_mul(wg_mul(1.1, x[0]), wg_mul(1.3, x[1])),
                                       wg_add(wg_mul(wg_mul(1.7, x[0]), wg_mul(1.9, x[1])),
                                              wg_mul(2.3, wg_mul(2.9, x[4]))))));
    case 18:
        return wg_let(t, wg_sub(wg_fma(x[0], x[1], x[2]), wg_fma(x[3], x[4], x[5])));
    case 21:
        return wg_let(t,
                      wg_fma(wg_fma(x[0], x[1], x[2]), wg_mul(x[3], x[4]), wg_mul(x[5], x[6])));
    case 24:
        return wg_let(t, wg_div(wg_fma(wg_mul(x[0], x[1]), x[2], wg_mul(x[3], x[4])),
                                wg_fma(x[5], x[6], x[7])));
    case 25: /* numbers enough for a long one */
        return wg_let(t,
                      wg_add(wg_add(wg_mul(1, x[0]), wg_add(wg_mul(2, x[1]), wg_mul(3, x[2]))),
                             wg_add(wg_add(wg_mul(4, x[3]), wg_mul(5, x[4])),
                                    wg_add(wg_add(6, wg_mul(7, x[5])),
                                           wg_add(wg_mul(8, x[6]), wg_mul(9, x[7]))))));
    default:
        return wg_let(t, wg_add(wg_mul(x[0], n > 1 ? x[1] : x[0]), way));
    }
}
