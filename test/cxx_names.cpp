// SPDX-License-Identifier: MIT
// cxx_names.cpp - operations of a user's own in C++17 that have the names of built-in ones, as they
// may get with a later version: called by WG_CALL1 to WG_CALL4, by a macro, by a function. Prints
// what fails, and succeeds when nothing does.
#include <cmath>

#define cube(x) WG_CALL1(cube, x) // a name that the headers declare, before they do

#include <cstdio>
#include <wengert.h>
#include <wengert/active.hpp>

#define OP1(name, ...) WG_OPERATION1(name, 5 - 2 * a, -2, 0, ARITH, "test")
#define OP2(name, ...) WG_OPERATION2(name, 7 + 3 * a - b, 3, -1, 0, 0, 0, ARITH, "test")
#define OP3(name, ...)                                                                         \
    WG_OPERATION3(name, 9 + a - 2 * b + 4 * c, 1, -2, 4, 0, 0, 0, 0, 0, 0, ARITH, "test")
#define OP4(name, ...)                                                                         \
    WG_OPERATION4(name, 11 + a + 2 * b + 3 * c + 4 * d, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
                  0, ARITH, "test")
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

namespace {

int failures = 0;

void check(bool good, const char *name, const char *what) {
    if (good) return;
    std::fprintf(stderr, "cxx_names.cpp: %s: %s\n", name, what);
    failures++;
}

const double point[] = {0.25, 0.125, 0.5, 0.75};

// y has that value and that slope by x[0]; z is what the library computes.
void compare(wg_tape *t, wg_real x, const wg_scalar_op *op, wg_real y, wg_real z, double value,
             double slope) {
    const double v = op->value(point);
    check(wg_value(y) == value, op->name, "the value of the user's");
    check(wg_reverse(t, y) == WG_OK && wg_adjoint(t, x) == slope, op->name, "its slope");
    check(wg_value(z) == v || v != v, op->name, "the value of the library's");
}

void every_name_may_be_a_users_too(wg_tape *t) {
    wg_real x[4];
    const wg_scalar_op *op = wgi_scalar_ops;
    check(wg_inputs(t, 4, point, x) == WG_OK, "inputs", wg_tape_message(t));
#define OP1(name, ...)                                                                         \
    compare(t, x[0], op++, wg_let(t, WG_CALL1(name, x[0])), wg_let(t, wg_##name(x[0])), 4.5,   \
            -2);
#define OP2(name, ...)                                                                         \
    compare(t, x[0], op++, wg_let(t, WG_CALL2(name, x[0], x[1])),                              \
            wg_let(t, wg_##name(x[0], x[1])), 7.625, 3);
#define OP3(name, ...)                                                                         \
    compare(t, x[0], op++, wg_let(t, WG_CALL3(name, x[0], x[1], x[2])),                        \
            wg_let(t, wg_##name(x[0], x[1], x[2])), 11, 1);
#define OP4(name, ...)                                                                         \
    compare(t, x[0], op++, wg_let(t, WG_CALL4(name, x[0], x[1], x[2], x[3])),                  \
            wg_let(t, wg_##name(x[0], x[1], x[2], x[3])), 16, 1);
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
    check(op == wgi_scalar_ops + wgi_scalar_op_count, "rows", "some are missing");
}

// Functions of the user's with the names of operations, beside all names of namespace wg.
using namespace wg;
template <class X> auto relu(const X &x) { return WG_CALL1(relu, x); }
template <class X, class Y> auto xlogy(const X &x, const Y &y) { return WG_CALL2(xlogy, x, y); }
wg_dual sigmoid(wg_dual) { return wg_dual_constant(77); }

void the_users_own_is_found_first(wg_tape *t) {
    const wg::scope here(t);
    const active x = wg_input(t, 0.25);
    check(wg::value(relu(x)) == 4.5, "relu", "of a variable");
    check(wg::value(relu(x * x)) == 5 - 2 * 0.0625, "relu", "of an expression");
    check(wg::value(xlogy(x + x, 0.125)) == 8.375, "xlogy", "of an expression");
    check(wg::value(cube(x)) == 4.5, "cube", "a macro");
    check(wg::value(wg::xlogy(x, 1)) == 0, "xlogy", "that of the library");
    check(wg_dual_value(sigmoid(wg_dual_input(1, 0))) == 77, "sigmoid", "of a dual");
    check(wg::value(sqrt(x) * sin(0 * x)) == 0, "sqrt", "that of the library, unnamed");
}

} // namespace

int main() {
    wg_tape *const t = wg_tape_new(nullptr);
    every_name_may_be_a_users_too(t);
    the_users_own_is_found_first(t);
    wg_tape_free(t);
    return failures != 0;
}
