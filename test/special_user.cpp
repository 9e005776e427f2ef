// SPDX-License-Identifier: MIT
// special_user.cpp - the special functions of C++17, of wg::active: values are those of double, first and second
// derivatives those of differences of double, or closed forms. Prints what fails, and succeeds when nothing does.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>
#include <wengert.h>
#include <wengert/active.hpp>

namespace {

int failures = 0;
void fail(const char *what, double x, double got, double expected) {
    std::fprintf(stderr, "special_user.cpp: %s at %g: %.17g, not %.17g\n", what, x, got, expected);
    failures++;
}
void near(const char *what, double x, double got, double expected, double within) {
    if (!(std::fabs(got - expected) <= within * (1 + std::fabs(expected)))) fail(what, x, got, expected);
}

// Differences of fourth order, of an error of 1e-12 beside that of the rounding, 1e-16 / e and 1e-16 / e^2.
const double VALUE = 1e-14, FIRST = 1e-10, SECOND = 1e-6;

struct found {
    double value, first, second;
};
template <class F> found derivatives(F f, double x) {
    wg::tape t(WG_KEEP_CODE);
    const auto of = [&](const std::vector<wg::active> &a) { return wg::active(f(a[0])); };
    std::vector<double> g, h;
    found r = {0, 0, 0};
    t.gradient(of, {x}, &r.value, g);
    t.hessian(of, {x}, h);
    r.first = g[0], r.second = h[0];
    return r;
}
template <class F> void compare(const char *what, F f, double x) {
    const double e = 2e-4, d[5] = {f(x - 2 * e), f(x - e), f(x), f(x + e), f(x + 2 * e)};
    const found r = derivatives(f, x);
    near(what, x, r.value, d[2], VALUE);
    near(what, x, r.first, (d[0] - 8 * d[1] + 8 * d[3] - d[4]) / (12 * e), FIRST);
    near(what, x, r.second, (-d[0] + 16 * d[1] - 30 * d[2] + 16 * d[3] - d[4]) / (12 * e * e), SECOND);
}
#define COMPARE(e, at) compare(#e, [](auto x) { return e; }, at)

void as_differences() {
    for (const double at : {0.3, -0.7}) {
        COMPARE(std::legendre(5, x), at);
        COMPARE(std::assoc_legendre(5, 3, x), at);
        COMPARE(std::assoc_legendre(4, 1, x), at);
        COMPARE(std::assoc_legendre(2, 3, x), at);
        COMPARE(std::hermite(6, x), at);
        COMPARE(std::comp_ellint_1(x), at);
        COMPARE(std::comp_ellint_2(x), at);
    }
    for (const double at : {0.9, 3.7}) {
        COMPARE(std::laguerre(4, x), at);
        COMPARE(std::assoc_laguerre(4, 2, x), at);
        COMPARE(std::expint(x), at);
        COMPARE(std::cyl_bessel_j(0, x), at);
        COMPARE(std::cyl_bessel_j(1.5, x), at);
        COMPARE(std::cyl_neumann(1, x), at);
        COMPARE(std::cyl_bessel_i(2.5, x), at);
        COMPARE(std::cyl_bessel_k(0.5, x), at);
        COMPARE(std::sph_bessel(0, x), at);
        COMPARE(std::sph_bessel(2, x), at);
        COMPARE(std::sph_neumann(2, x), at);
        COMPARE(std::beta(x, 2.5), at);
        COMPARE(std::beta(x, x + 1), at);
    }
    COMPARE(std::expint(x), -1.2);
    COMPARE(std::beta(x, 2.75), -1.3);
    for (unsigned m = 0; m < 5; m++)
        for (const double at : {0.9, -0.4, 3.5}) // at angles of either side, too
            compare("sph_legendre", [m](auto x) { return std::sph_legendre(3, m, x); }, at);
}

// Where the functions that it is defined by are beyond the range of numbers.
void spherical_functions_of_large_orders() {
    const double x = 1.4, at[2] = {std::sph_legendre(200, 150, x), std::sph_legendre(200, 151, x)};
    const found y = derivatives([](auto a) { return std::sph_legendre(200, 150, a); }, x);
    near("sph_legendre", x, y.value, at[0], 1e-12);
    // dY/dx = m cot x Y + sqrt((l - m)(l + m + 1)) Y of the next order
    near("sph_legendre'", x, y.first, 150 / std::tan(x) * at[0] + std::sqrt(50.0 * 351) * at[1], 1e-11);
}

// Where differences reach over the pole: dK/dk = E / (k k'^2) - K / k, dE/dk = (E - K) / k.
void elliptic_integrals_next_to_their_pole() {
    for (const double k : {0.999, -0.9999}) {
        const double K = std::comp_ellint_1(k), E = std::comp_ellint_2(k);
        const found first = derivatives([](auto x) { return std::comp_ellint_1(x); }, k),
                    second = derivatives([](auto x) { return std::comp_ellint_2(x); }, k);
        near("K", k, first.value, K, 100 * VALUE); // 1 - k^2 is rounded in the other one
        near("E", k, second.value, E, 100 * VALUE); // K times a small difference
        near("K'", k, first.first, E / (k * (1 - k) * (1 + k)) - K / k, 1e-12);
        near("E'", k, second.first, (E - K) / k, 1e-12);
    }
    const found first = derivatives([](auto x) { return std::comp_ellint_1(x); }, 1),
                second = derivatives([](auto x) { return std::comp_ellint_2(x); }, 1);
    const double infinite = std::numeric_limits<double>::infinity();
    if (first.value != infinite || first.first != infinite) fail("K", 1, first.first, infinite);
    if (second.value != 1 || second.first != -infinite) fail("E", 1, second.first, -infinite);
}

// Numbers stay numbers; ADL finds them, too.
void numbers_record_nothing() {
    wg::tape t;
    const wg::scope here(t);
    const wg::active x = 0.4;
    const wg::active sum = legendre(3, x) + cyl_bessel_j(2, x) + beta(x, 2) + expint(2 * x) +
                           hermite(3, x) + comp_ellint_1(x) + sph_bessel(1, x) + 0 * x;
    wg_stats s = wg_stats();
    if (wg_tape_stats(t, &s) != WG_OK || s.slots != 0) fail("slots", 0.4, static_cast<double>(s.slots), 0);
    near("a sum of numbers", 0.4, wg::value(sum),
         std::legendre(3, 0.4) + std::cyl_bessel_j(2, 0.4) + std::beta(0.4, 2) + std::expint(0.8) +
             std::hermite(3, 0.4) + std::comp_ellint_1(0.4) + std::sph_bessel(1, 0.4),
         VALUE);
}

// The sign of Gamma is another one behind a pole.
void the_sign_of_beta_is_guarded() {
    wg::tape t(WG_KEEP_CODE);
    const wg::scope here(t);
    const wg::active x = t.input(-1.3), y = std::beta(x, 2.75);
    (void)y;
    const double same = -1.6, other = -0.4;
    if (wg_tape_replay(t, 1, &x, &same) != WG_OK) fail("beta between the same poles", same, 0, 0);
    if (wg_tape_replay(t, 1, &x, &other) != WG_EGUARD) fail("beta behind a pole", other, 0, 0);
}

// Functions of them, and their derivatives, are evaluated by calls.
void functions_have_values_and_derivatives() {
    wg::tape t(WG_KEEP_CODE);
    wg::function f, g;
    const auto bessel = [](const std::vector<wg::active> &x) {
        return std::vector<wg::active>(1, std::cyl_bessel_j(1, x[0]) * std::expint(x[0]));
    };
    t.record(bessel, {0.7}, 1, f);
    t.check(wg_function_gradient(t, f, g.out()));
    const double x = 1.3;
    double y = 0, slope = 0;
    const wg_points from = {&x, 0, 1};
    const wg_results value = {&y, 0, 1}, first = {&slope, 0, 1};
    std::vector<double> work((wg_function_work(f, nullptr) + wg_function_work(g, nullptr)) / sizeof(double) + 1);
    t.check(wg_function_evaluate(f, 1, &from, &value, nullptr, work.data(), nullptr));
    t.check(wg_function_evaluate(g, 1, &from, &first, nullptr, work.data(), nullptr));
    near("a function", x, y, std::cyl_bessel_j(1, x) * std::expint(x), VALUE);
    near("its gradient", x, slope,
         (std::cyl_bessel_j(1, x) / x - std::cyl_bessel_j(2, x)) * std::expint(x) +
             std::cyl_bessel_j(1, x) * std::exp(x) / x,
         VALUE);
}

} // namespace

int main() {
    as_differences();
    spherical_functions_of_large_orders();
    elliptic_integrals_next_to_their_pole();
    numbers_record_nothing();
    the_sign_of_beta_is_guarded();
    functions_have_values_and_derivatives();
    return failures != 0;
}
