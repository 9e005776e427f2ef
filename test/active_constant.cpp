// SPDX-License-Identifier: MIT
// active_constant.cpp - wg::active in constant expressions: what double has there, in C++11 and, with assignments and
// loops, in C++14 and later; and that what was made there is recorded as any number is. Prints what fails.
#include <cstdio>
#include <limits>
#include <wengert/active.hpp>

using wg::active;

namespace {

constexpr active two = 2.0, three = 3;
constexpr active seven = two * three + 1;
constexpr auto product = two * three; // an expression, in which both numbers are
static_assert(wg::value(seven) == 7 && wg::value(product / 4 - -two) == 3.5, "arithmetic");
static_assert(seven == 7 && seven != two && two < three && two <= 2 && seven > product && 7.0 >= seven, "comparisons");
static_assert(static_cast<int>(seven / 2) == 3 && static_cast<bool>(two) && !active(0) && +two == 2, "conversions");
static_assert(std::numeric_limits<active>::max() * 0.5 > 1e307, "limits");
template <int N> struct sized {
    static constexpr int size = N;
};

#if __cplusplus >= 201402L
constexpr active polynomial(active x) {
    active sum = 0;
    for (int k = 0; k < 4; k++) {
        sum *= x;
        sum += k;
    }
    sum -= 1;
    sum /= 2;
    ++sum, sum--;
    return sum;
}
static_assert(polynomial(2) == 5, "assignments");
constexpr active table[] = {polynomial(1), polynomial(2)};
#endif

} // namespace

int main() {
    static_assert(sized<static_cast<int>(seven)>::size == 7, "a size");
    int failures = 0;
    for (unsigned flags : {0u, unsigned(WG_KEEP_CODE), unsigned(WG_CHECKED), unsigned(WG_TRACE)}) {
        wg::tape t(flags);
        const wg::scope here(t);
        const active x = t.input(2), y = product * x * x + seven;
        active number = product;
        number += 1; // is one still
        t.reverse(y);
        if (wg::value(y) != 31 || t.adjoint(x) != 24 || number != 7 || number.at.slot != 0) {
            std::fprintf(stderr, "active_constant.cpp: flags %u: %g %g\n", flags, wg::value(y), t.adjoint(x));
            failures++;
        }
#if __cplusplus >= 201402L
        const active z = table[1] * x;
        t.reverse(z);
        if (wg::value(z) != 10 || t.adjoint(x) != 5) failures++;
#endif
    }
    return failures != 0;
}
