// SPDX-License-Identifier: MIT
// active_constant.cpp - wg::active in constant expressions: what double has there, in C++11 and,
// with assignments and loops, in C++14 and later; and that what was made there, and every number
// among variables, is recorded as any number is. Prints what fails.
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

#ifdef __cpp_lib_three_way_comparison
static_assert((two <=> three) < 0 && (seven <=> 2) > 0 && (product <=> product) == 0, "in one");
static_assert((two <=> std::numeric_limits<double>::quiet_NaN()) == std::partial_ordering::unordered, "a NaN");
struct pair {
    active first, second;
    auto operator<=>(const pair &) const = default;
};
static_assert(pair{two, three} < pair{two, seven} && pair{two, two} == pair{2, 2}, "of what holds them");
#endif
#ifdef __cpp_lib_math_constants
static_assert(std::numbers::pi_v<active> * 2 == 2 * std::numbers::pi && std::numbers::e_v<active> < 3, "constants");
#endif

/* A statement by its number, some of whose operands are numbers. Arms of ? : stand for fewer
 * operands than their common type has. */
active statement(int which, const active *x) {
    switch (which) {
    case 0: return x[0] * x[1];
    case 1: return x[0] * x[1] + x[2] / x[3];
    case 2: return (x[0] < x[1] ? x[0] * x[1] : x[2] + 1) * x[3];
    case 3: return (x[0] < x[1] ? x[2] : sin(x[0] * x[1]) + x[2] * 3) / x[4] + x[5];
    case 4: return x[0] * x[1] + x[0] * x[1] + x[2];
    case 5: return x[0] * x[1] - x[2] * x[3] + x[4] * x[5];
    case 6: return pow(x[0], x[1]) * x[2] * x[3] + sqrt(x[4]) * x[5] * x[0];
    default: return x[0] * x[1] * x[2] * x[3] + x[0] * x[1] * x[4] * x[5];
    }
}
enum { STATEMENTS = 8, OPERANDS = 6 };
struct outcome {
    double value, gradient[OPERANDS];
};
outcome outcome_of(unsigned flags, int which, unsigned variables, const double *a) {
    wg::tape t(flags);
    const wg::scope here(t);
    active x[OPERANDS];
    for (int i = 0; i < OPERANDS; i++)
        x[i] = variables >> i & 1 ? active(t.input(a[i])) : active(a[i]);
    const active y = statement(which, x);
    outcome is = {wg::value(y), {0}};
    if (y.at.slot == 0) return is;
    t.reverse(y);
    for (int i = 0; i < OPERANDS; i++)
        if (variables >> i & 1) is.gradient[i] = t.adjoint(x[i]);
    return is;
}
bool same(double a, double b) { return a == b || (a != a && b != b); }
/* On the path that leaves numbers out, and as a tape has it that looks at every statement. */
int numbers_are_left_out_as_in_general() {
    const double inf = std::numeric_limits<double>::infinity();
    const double at[][OPERANDS] = {
        {0.75, 1.25, 2.5, 0.5, 1.0625, -3}, {2, -1, 0, inf, 0, 1}, {0, inf, -inf, 0, inf, 0}};
    int failures = 0;
    for (const double *a : at)
        for (int which = 0; which < STATEMENTS; which++)
            for (unsigned variables = 0; variables < 1u << OPERANDS; variables++) {
                const outcome want = outcome_of(WG_CHECKED, which, variables, a);
                for (unsigned flags : {0u, unsigned(WG_KEEP_CODE)}) {
                    const outcome got = outcome_of(flags, which, variables, a);
                    bool is = same(got.value, want.value);
                    for (int i = 0; i < OPERANDS; i++)
                        is = is && same(got.gradient[i], want.gradient[i]);
                    if (is) continue;
                    std::fprintf(stderr, "active_constant.cpp: statement %d of variables %x, %u\n",
                                 which, variables, flags);
                    failures++;
                }
            }
    return failures;
}

} // namespace

int main() {
    static_assert(sized<static_cast<int>(seven)>::size == 7, "a size");
    int failures = numbers_are_left_out_as_in_general();
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
