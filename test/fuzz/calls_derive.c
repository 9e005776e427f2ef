/* SPDX-License-Identifier: MIT */
/* calls_derive.c - rows: functions from functions. */
#include "calls.h"

#define DERIVED(name)                                                                          \
    ROW(name) {                                                                                \
        DRIVER_TAPE(t);                                                                        \
        FUNCTION(f);                                                                           \
        GIVES_FUNCTION(out, name(t, f, &out));                                                 \
    }
DERIVED(wg_function_gradient)
DERIVED(wg_function_jacobian)
DERIVED(wg_function_jvp)
DERIVED(wg_function_vjp)
DERIVED(wg_function_hvp)
DERIVED(wg_function_hessian)
ROW(wg_function_taylor) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    const size_t order = one_in(30) ? (one_in(2) ? SIZE_MAX : 64) : below(3);
    named("order", "%zu", order);
    GIVES_FUNCTION(out, wg_function_taylor(t, f, order, &out));
}
ROW(wg_function_join) {
    DRIVER_TAPE(t);
    const wg_function *list_[3];
    const size_t count = one_in(20) ? 0 : 1 + below(3);
    for (size_t i = 0; i < 3; i++) list_[i] = draw_function("f");
    const wg_function *const *const f = one_in(60) ? NULL : list_;
    named("count", "%zu", count);
    GIVES_FUNCTION(out, wg_function_join(t, count, f, &out));
}
ROW(wg_function_compose) {
    DRIVER_TAPE(t);
    const int house = one_in(2); /* whose step goes with itself */
    const wg_function *const outer = house ? house_function[1] : draw_function("outer");
    const wg_function *const inner = house ? house_function[1] : draw_function("inner");
    GIVES_FUNCTION(out, wg_function_compose(t, outer, inner, &out));
}
static const char *a_name(const wg_function *f) {
    const size_t n = wg_function_outputs(f), m = wg_function_inputs(f);
    if (one_in(12)) return one_in(4) ? NULL : "nobody";
    if (one_in(4) && m != 0) return wg_function_input(f, below(m))->name;
    return n != 0 ? wg_function_output(f, below(n))->name : "y";
}
ROW(wg_function_select) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    const char *names[3];
    const size_t count = one_in(20) ? 0 : 1 + (one_in(3) ? below(3) : 0);
    for (size_t i = 0; i < 3; i++) names[i] = a_name(f);
    const char *const *const name = one_in(60) ? NULL : names;
    named("count", "%zu", count);
    GIVES_FUNCTION(out, wg_function_select(t, f, count, name, &out));
}
ROW(wg_function_flag) {
    DRIVER_TAPE(t);
    FUNCTION(f);
    const char *const name = a_name(f);
    const unsigned flags = one_in(20) ? 99 : (unsigned)below(8);
    named("flags", "%u", flags);
    named("name", "%s", name != NULL ? name : "NULL");
    GIVES_FUNCTION(out, wg_function_flag(t, f, name, flags, &out));
}

static const struct row list[] = {
    LISTED(wg_function_gradient, 6), LISTED(wg_function_jacobian, 6),
    LISTED(wg_function_jvp, 6),      LISTED(wg_function_vjp, 6),
    LISTED(wg_function_hvp, 4),      LISTED(wg_function_hessian, 4),
    LISTED(wg_function_taylor, 3),   LISTED(wg_function_join, 6),
    LISTED(wg_function_compose, 6),  LISTED(wg_function_select, 6),
    LISTED(wg_function_flag, 6),
};
const struct rows calls_derive = ROWS(list);
