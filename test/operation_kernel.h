/* SPDX-License-Identifier: MIT */
/* operation_kernel.h - functions of two variables that use operations of a user's, over taped
 * variables or duals; see wengert/generic.h. */
#include <wengert/generic.h>

static wg_real WG_NAME(use)(wg_tape *t, enum use which, const wg_real *x) {
    (void)t;
    switch (which) {
    case SOFTSIGN:
        return wg_let(t, WG_CALL1(softsign, x[0]));
    case ROOT:
        return wg_let(t, WG_CALL1(root, x[1]));
    case HILL:
        return wg_let(t, WG_CALL2(hill, x[0], x[1]));
    case HILL_OF_LITERAL:
        return wg_let(t, WG_CALL2(hill, x[0], 2));
    case HILL_OF_ITSELF:
        return wg_let(t, WG_CALL2(hill, x[0], wg_square(x[0])));
    case NESTED:
        return wg_let(t,
                      wg_mul(3, WG_CALL1(softsign, wg_add(WG_CALL2(hill, x[0], 2),
                                                          wg_mul(0.5, WG_CALL1(root, x[1]))))));
    case FACTOR_TIMES_ROOT:
        return wg_let(t, wg_mul(x[0], WG_CALL1(root, x[1])));
    case STEP_TIMES:
        return wg_let(t, wg_mul(WG_CALL1(halfstep, x[0]), wg_square(x[1])));
    case FIRST:
        return wg_let(t, WG_CALL2(first, wg_mul(2, x[0]), x[1]));
    case FOUR_OF_THEM:
        return wg_let(t, wg_add(wg_add(WG_CALL1(softsign, x[0]), WG_CALL1(softsign, x[1])),
                                wg_mul(WG_CALL2(first, x[1], x[0]), WG_CALL2(hill, 1, x[1]))));
    case OF_THREE:
        return wg_let(t, WG_CALL3(damped, x[0], wg_mul(0.5, x[1]), wg_mul(x[0], x[1])));
    case OF_FOUR:
        return wg_let(t, WG_CALL4(volume, x[0], x[1], wg_sin(x[0]), 2));
    case OF_THREE_AND_FOUR:
        return wg_let(t, WG_CALL4(volume, WG_CALL3(damped, x[0], 0.25, x[1]), x[1], x[0],
                                  WG_CALL3(damped, x[1], x[0], 1)));
    case THIRD:
        return wg_let(t, WG_CALL4(third, x[0], 3, wg_mul(x[0], x[1]), wg_log(x[1])));
    default:
        break;
    }
    return x[0];
}
