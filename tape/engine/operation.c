/* SPDX-License-Identifier: MIT */
/* A statement of one operation that is known by its descriptor. */
#include "tape.h"

#include <string.h>

wg_real wg_apply_scalar(wg_tape *t, const wg_scalar_op *op, const wg_real *x) {
    if (t == NULL) return wgi_nan();
    wgi_core *const c = wgi_core_of(t);
    if (op == NULL || x == NULL) {
        (void)wgi_fail(c, WG_ENULL, "wg_apply_scalar: the operation or its operands are NULL");
        return wgi_nan();
    }
    if (op->name == NULL || op->value == NULL || op->first == NULL) {
        (void)wgi_fail(c, WG_ENULL, "wg_apply_scalar: the %s of the operation is NULL",
                       op->name == NULL    ? "name"
                       : op->value == NULL ? "value"
                                           : "first");
        return wgi_nan();
    }
    if (op->arity == 0 || op->arity > 4) {
        (void)wgi_fail(c, WG_EARG, "wg_apply_scalar: %s has %u operands, not 1 to 4", op->name,
                       op->arity);
        return wgi_nan();
    }
    wgi_statement s;
    s.words = NULL;
    s.file = NULL;
    s.line = 0;
    s.numbers = 0;
    s.operands = op->arity;
    for (unsigned k = 0; k < op->arity; k++) {
        s.x[k] = x[k].value;
        s.handle[k] = (uint64_t)x[k].at.slot | (uint64_t)x[k].at.stamp << 32;
    }
    s.value = op->value(s.x);
    op->first(s.x, s.value, s.partial);
    unsigned number = WGI_OP_USER;
    if (!wgi_is_users(op)) {
        number = (unsigned)(op - wgi_scalar_ops);
    } else {
        const uint64_t address = (uint64_t)(uintptr_t)op;
        s.numbers = 1;
        memcpy(&s.number[0], &address, sizeof address);
    }
    s.code = WGI_CODE(number) << (2 * op->arity);
    s.bits = 2 * op->arity + WGI_WIDTH(number);
    return wgi_let(t, &s);
}
