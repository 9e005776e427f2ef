// SPDX-License-Identifier: MIT
// cxx_user.cpp - a user in C++17: what is recorded is what C records, in every bit; the kernels
// of generic_kernel.h as three types; operators. Prints what fails, and succeeds when nothing
// does.
#include "generic_kernel_c.h"
#include <cstdio>
#include <cstring>
#include <vector>
#include <wengert.h>
#include <wengert/active.hpp>

#define WG_AS_DOUBLE
#include "generic_kernel.h"
#undef WG_AS_DOUBLE
#define WG_AS_DUAL
#include "generic_kernel.h"
#undef WG_AS_DUAL
#include "generic_kernel.h"

namespace {

int failures = 0;

void check(bool good, const char *what, int line) {
    if (good) return;
    std::fprintf(stderr, "cxx_user.cpp:%d: %s\n", line, what);
    failures++;
}
#define CHECK(c) check((c), #c, __LINE__)

struct tape {
    wg_tape *t;
    explicit tape(unsigned flags = 0) {
        wg_options o = wg_options();
        o.flags = flags;
        t = wg_tape_new(&o);
    }
    tape(const tape &) = delete;
    tape &operator=(const tape &) = delete;
    ~tape() { wg_tape_free(t); }
    operator wg_tape *() { return t; }
};

wg_real wide_real(wg_tape *t, const wg_real *x) {
    const wg_real a = x[0], b = x[1], c = x[2], d = x[3];
    const wg_real pairs = wg_let(
        t, wg_add(wg_mul(wg_mul(a, b), wg_mul(a, b)), wg_div(wg_mul(a, b), wg_hypot(a, b))));
    const wg_real five = wg_let(t, wg_fma(wg_mul(a, b), wg_sub(a, b), wg_sin(c)));
    const wg_real eight =
        wg_let(t, wg_sub(wg_mul(wg_mul(a, 2), wg_mul(b, c)),
                         wg_mul(wg_sqrt(d), wg_mul(wg_mul(d, c), wg_pow(wg_exp(b), a)))));
    const wg_real none = wg_let(t, wg_mul(wg_floor(2.5), 3));
    return wg_let(t, wg_add(wg_add(pairs, five), wg_mul(eight, none)));
}

// The same with the operators and functions of wg::active.
wg_real wide_operators(wg_tape *t, const wg_real *x) {
    const wg::scope here(t);
    const wg::active a = x[0], b = x[1], c = x[2], d = x[3];
    const wg::active pairs = a * b * (a * b) + a * b / hypot(a, b);
    const wg::active five = fma(a * b, a - b, sin(c));
    const wg::active eight = a * 2 * (b * c) - sqrt(d) * (d * c * pow(exp(b), a));
    const wg::active none = floor(wg::active(2.5)) * 3;
    return wg_let(t, pairs + five + eight * none);
}

using kernel = wg_real(wg_tape *t, const wg_real *x);

// f and g leave the same records, and on a tape that keeps code the same code and Hessian.
void record_alike(kernel *f, kernel *g, const double *a, const char *name) {
    for (const unsigned flags : {0u, unsigned(WG_KEEP_CODE)}) {
        tape one(flags), two(flags);
        wg_real x[KERNEL_INPUTS], y[KERNEL_INPUTS];
        wg_stats s = wg_stats(), u = wg_stats();
        CHECK(wg_inputs(one, KERNEL_INPUTS, a, x) == WG_OK);
        CHECK(wg_inputs(two, KERNEL_INPUTS, a, y) == WG_OK);
        const wg_real v = f(one, x), w = g(two, y);
        CHECK(wg_tape_status(one) == WG_OK && wg_tape_status(two) == WG_OK);
        CHECK(std::memcmp(&v.value, &w.value, sizeof v.value) == 0);
        CHECK(wg_tape_stats(one, &s) == WG_OK && wg_tape_stats(two, &u) == WG_OK);
        CHECK(s.records == u.records && s.slots == u.slots && s.code_bytes == u.code_bytes);
        const wgi_record *p = one.t->top - s.records, *q = two.t->top - s.records;
        check(std::memcmp(p, q, s.records * sizeof *p) == 0, name, __LINE__);
        if (flags == 0) continue;
        double h[KERNEL_INPUTS * KERNEL_INPUTS], k[KERNEL_INPUTS * KERNEL_INPUTS];
        CHECK(wg_tape_verify(two) == WG_OK);
        CHECK(wg_tape_hessian(one, v, KERNEL_INPUTS, x, h, KERNEL_INPUTS) == WG_OK);
        CHECK(wg_tape_hessian(two, w, KERNEL_INPUTS, y, k, KERNEL_INPUTS) == WG_OK);
        CHECK(std::memcmp(h, k, sizeof h) == 0);
    }
}

void statements_record_what_c_records() {
    static const double points[][KERNEL_INPUTS] = {
        {0.5, 1.5, -0.75, 2}, {-1, 0.25, 0.125, 0.75}, {3, -2, 1, 0.1}};
    for (const auto &a : points) {
        record_alike(smooth_real, smooth_in_c, a, "smooth");
        record_alike(exact_real, exact_in_c, a, "exact");
        record_alike(branches_real, branches_in_c, a, "branches");
        record_alike(own_operations_real, own_operations_in_c, a, "operations of the user");
        record_alike(wide_real, wide_in_c, a, "wide");
        record_alike(wide_operators, wide_in_c, a, "wide, with operators");
    }
}

void a_kernel_has_three_types() {
    static const double a[KERNEL_INPUTS] = {5, -3, 0.5, 12};
    tape t;
    wg_real x[KERNEL_INPUTS];
    CHECK(wg_inputs(t, KERNEL_INPUTS, a, x) == WG_OK);
    const wg_real y = exact_real(t, x);
    CHECK(wg_reverse(t, y) == WG_OK);
    CHECK(exact_double(nullptr, a) == wg_value(y));
    for (size_t i = 0; i < KERNEL_INPUTS; i++) {
        wg_dual u[KERNEL_INPUTS];
        for (size_t k = 0; k < KERNEL_INPUTS; k++)
            u[k] = k == i ? wg_dual_input(a[k], 0) : wg_dual_constant(a[k]);
        const wg_dual z = exact_dual(nullptr, u);
        CHECK(wg_dual_value(z) == wg_value(y));
        CHECK(wg_dual_tangent(z, 0) == wg_adjoint(t, x[i]));
        CHECK(wg_dual_value(smooth_dual(nullptr, u)) == smooth_double(nullptr, a));
        CHECK(wg_dual_value(own_operations_dual(nullptr, u)) ==
              own_operations_double(nullptr, a));
        CHECK(wg_dual_value(branches_dual(nullptr, u)) == branches_double(nullptr, a));
    }
    double plain[KERNEL_ARRAYS];
    wg_real taped[KERNEL_ARRAYS];
    arrays_double(nullptr, KERNEL_INPUTS, a, a, a, plain);
    arrays_real(t, KERNEL_INPUTS, x, x, a, taped);
    for (size_t k = 0; k < KERNEL_ARRAYS; k++) CHECK(plain[k] == wg_value(taped[k]));
}

void duals_have_operators() {
    using namespace wg;
    const dual x = wg_dual_input(3, 0), y = wg_dual_constant(4);
    const dual r = sqrt(x * x + y * y) / 5 - 2 * -x + 1.0f;
    CHECK(wg_dual_value(r) == 8 && wg_dual_tangent(r, 0) == 3.0 / 5 / 5 + 2);
    CHECK(wg_dual_tangent(fma(x, 2, select_lt(x, y, 1, x)), 0) == 2);
}

void numbers_and_variables_alone_record_nothing() {
    tape t;
    const wg_real x = wg_input(t, 2);
    const wg_real same = wg_let(t, x), three = wg_let(t, 3), also = wg_let(t, 2.5f);
    wg_stats s = wg_stats();
    CHECK(same.at.slot == x.at.slot && same.at.stamp == x.at.stamp);
    CHECK(three.at.slot == 0 && wg_value(three) == 3 && wg_value(also) == 2.5);
    CHECK(wg_tape_stats(t, &s) == WG_OK && s.records == 0);
    const wg_real y = wg_let(t, wg_mul(three, wg_add(x, three)));
    CHECK(wg_reverse(t, y) == WG_OK && wg_adjoint(t, x) == 3);
}

void the_zero_rule_holds_inside_a_statement() {
    tape t;
    const wg_real x = wg_input(t, 0), y = wg_input(t, 0);
    const wg_real z = wg_let(t, wg_mul(x, wg_sqrt(y)));
    CHECK(wg_reverse(t, z) == WG_OK && wg_adjoint(t, x) == 0 && wg_adjoint(t, y) == 0);
}

void mistakes_have_a_place() {
    tape t, other;
    const wg_real x = wg_input(other, 2);
    const wg_real y = wg_let(t, wg_sin(x));
    CHECK(wg_value(y) != wg_value(y) && wg_tape_status(t) == WG_ESTALE);
    CHECK(std::strstr(wg_tape_message(t), "cxx_user.cpp") != nullptr);
    const wg_real none = wg_let(nullptr, wg_sin(x));
    CHECK(wg_value(none) != wg_value(none));
}

void operations_on_matrices_take_scalars() {
    tape t;
    const double a[] = {1, 2, 3, 4};
    const wg_real x = wg_input(t, 2);
    const wg::active r = x;
    const wg_mat m = wg_mat_input(t, 2, 2, a, 2), half = wg_mat_div(t, x, 2.0f);
    const wg_mat y = wg_mat_mul(t, wg_mat_add(t, wg_mat_mul(t, r, m), 1), half);
    CHECK(wg_value(wg_mat_at(y, 1, 1)) == 9);
    CHECK(wg_value(wg_mat_at(wg_mat_pow(t, y, 2ULL), 1, 1)) == 81);
    CHECK(wg_reverse(t, wg_mat_sum(t, y)) == WG_OK && wg_adjoint(t, x) == 22); // (2 x m + 1)/2
}

void long_recordings_grow() {
    tape t;
    const wg_real x = wg_input(t, 1);
    wg_real y = x;
    for (int i = 0; i < 1000000; i++) y = wg_let(t, wg_add(y, wg_mul(0.5, x)));
    CHECK(wg_value(y) == 500001 && wg_reverse(t, y) == WG_OK && wg_adjoint(t, x) == 500001);
}

} // namespace

int main() {
    statements_record_what_c_records();
    a_kernel_has_three_types();
    duals_have_operators();
    operations_on_matrices_take_scalars();
    numbers_and_variables_alone_record_nothing();
    the_zero_rule_holds_inside_a_statement();
    mistakes_have_a_place();
    long_recordings_grow();
    return failures != 0;
}
