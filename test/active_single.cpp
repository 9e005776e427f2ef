// SPDX-License-Identifier: MIT
// active_single.cpp - wg::active with WG_NO_EXPRESSIONS: operations give objects, so that templates
// that deduce a type from an operation, or from what they assign it to, take them. Prints what
// fails.
#define WG_NO_EXPRESSIONS
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <wengert/active.hpp>

using wg::active;

namespace {

int failures;
bool near(double a, double b) { return std::fabs(a - b) <= 8 * DBL_EPSILON * (1 + std::fabs(b)); }
void check(bool good, const char *what) {
    if (good) return;
    std::printf("active_single.cpp: %s\n", what);
    failures++;
}

// As people write them: one type for two arguments, and what is made of it changed.
template <class T> T norm(T x, T y) {
    auto square = x * x;
    square += y * y;
    return sqrt(square);
}
template <class T> T folded(const T &x) {
    const auto part = [](const T &a) {
        if (a < 1) return a;
        return a * a;
    };
    return part(x) + std::max(x, 2 * x) + std::clamp(x, 0 * x, 3 * x);
}
template <class T> T erf(const T &x) { return x * 100; }

static_assert(std::is_same<decltype(active() * 2 + sin(active())), active>::value, "an object");
constexpr active seven = active(2) * 3 + 1;
static_assert(wg::value(-seven / 2) == -3.5 && seven > active(2) * 3, "constant expressions");

} // namespace

int main() {
    for (const unsigned flags : {0u, unsigned(WG_KEEP_CODE)}) {
        wg::tape t(flags);
        const wg::scope here(t);
        const active x = t.input(1.5), y = t.input(4);
        const active z = norm(2 * x, y) + folded(x * y) + erf(x + y) + (x < y ? x * y : 0.0);
        check(near(wg::value(z), 5 + (36 + 12 + 6) + 550 + 6), "value");
        t.reverse(z);
        check(near(t.adjoint(x), 1.2 + 4 * (12 + 2 + 1) + 100 + 4), "derivative by x");
        check(near(t.adjoint(y), 0.8 + 1.5 * (12 + 2 + 1) + 100 + 1.5), "derivative by y");
        const size_t slots = t.mark().slot;
        const active number = norm(active(3) * 1, active(4)) + 1;
        check(number == 6 && t.mark().slot == slots, "what is made of numbers is recorded");
    }
    return failures != 0;
}
