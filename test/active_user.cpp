// SPDX-License-Identifier: MIT
// active_user.cpp - wg::active where code says double: statements of any length, arms of ?:, every
// function of <cmath>, limits, streams, printf, complex numbers, scopes, tapes that keep their code. Prints
// what fails, and succeeds when nothing does.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <vector>
#include <wengert.h>
#include <wengert/active.hpp>

namespace {

int failures = 0;

void check(bool good, const char *what, int line) {
    if (good) return;
    std::fprintf(stderr, "active_user.cpp:%d: %s\n", line, what);
    failures++;
}
#define CHECK(c) check((c), #c, __LINE__)

bool same(double a, double b) { return a == b || (a != a && b != b); }
bool near(double a, double b) {
    return same(a, b) || std::fabs(a - b) <= 8 * DBL_EPSILON * (1 + std::fabs(b));
}
wg_stats stats(const wg::tape &t) {
    wg_stats s = wg_stats();
    CHECK(wg_tape_stats(t, &s) == WG_OK);
    return s;
}

using wg::active;

static_assert(std::is_trivially_copyable<active>::value && sizeof(active) == 16, "copied as it is");
static_assert(std::is_trivial<active>::value && std::is_standard_layout<active>::value, "like a double");
static_assert(std::is_convertible<int, active>::value && std::is_convertible<float, active>::value &&
                  std::is_convertible<long double, active>::value, "numbers of every kind");
static_assert(!std::is_convertible<active, double>::value && !std::is_constructible<double, active>::value,
              "to a number by wg::value alone");
static_assert(!std::is_convertible<active, int>::value && std::is_constructible<int, active>::value,
              "to integers explicitly");
constexpr active two = 2;
static_assert(std::numeric_limits<active>::is_specialized && std::numeric_limits<active>::digits == 53, "");

// ---- statements ----

void statements_have_no_limits() {
    wg::tape t;
    const wg::scope here(t);
    active x[20], y;
    for (int i = 0; i < 20; i++) x[i] = t.input(1 + 0.125 * i);
    y = x[0] * x[1] + x[2] * x[3] + x[4] * x[5] + x[6] * x[7] + x[8] * x[9] + x[10] * x[11] +
        x[12] * x[13] + x[14] * x[15] + x[16] * x[17] + x[18] * x[19];
    t.reverse(y);
    double sum = 0;
    for (int i = 0; i < 20; i++) {
        CHECK(t.adjoint(x[i]) == wg::value(x[i ^ 1]));
        if (i % 2 == 0) sum += wg::value(x[i] * x[i + 1]);
    }
    CHECK(wg::value(y) == sum);
    y = (x[0] + 1) * (x[0] + 2) * (x[0] + 3) * (x[0] + 4) * (x[0] + 5) * (x[0] + 6) *
        (x[0] + 7) * (x[0] + 8) * (x[0] + 9) * (x[0] + 10);
    t.reverse(y);
    double slope = 0;
    for (int i = 1; i <= 10; i++) slope += wg::value(y) / (1 + i);
    CHECK(near(wg::value(y), 39916800) && near(t.adjoint(x[0]), slope));
    y = sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(x[3]))))))))))))))))));
    t.reverse(y);
    double v = wg::value(x[3]), d = 1;
    for (int i = 0; i < 18; i++) d *= std::cos(v), v = std::sin(v);
    CHECK(wg::value(y) == v && near(t.adjoint(x[3]), d));
    CHECK(wg_tape_status(t) == WG_OK);
}

// The same on a tape that keeps its code: what is kept computes the same again.
void long_statements_keep_their_code() {
    wg::tape t(WG_KEEP_CODE);
    const wg::scope here(t);
    const double at[3] = {1.5, 0.25, 2}, to[3] = {0.75, 1.25, -0.5};
    wg_real in[3];
    CHECK(wg_inputs(t, 3, at, in) == WG_OK);
    const active a = in[0], b = in[1], c = in[2];
    const active y = a * b + b * c + c * a + exp(a * b * c) + sin(a + 1) * cos(b + 2) * (c + 3) * (a + 4) *
                         (b + 5) * (c + 6) * (a + 7) * (b + 8) * (c + 9) * (a + 10);
    const active z = exp(sin(cos(exp(sin(cos(exp(sin(cos(exp(sin(cos(exp(sin(cos(exp(a * b))))))))))))))));
    CHECK(wg_tape_verify(t) == WG_OK);
    const active sum = y * z;
    CHECK(wg_tape_replay(t, 3, in, to) == WG_OK);
    const double p = to[0], q = to[1], r = to[2];
    const double u = p * q + q * r + r * p + std::exp(p * q * r) +
                     std::sin(p + 1) * std::cos(q + 2) * (r + 3) * (p + 4) * (q + 5) * (r + 6) * (p + 7) *
                         (q + 8) * (r + 9) * (p + 10);
    double v = p * q;
    for (int i = 0; i < 16; i++) v = i % 3 == 0 ? std::exp(v) : i % 3 == 1 ? std::cos(v) : std::sin(v);
    CHECK(near(wg_tape_value(t, sum), u * v));
}

void arms_of_a_question_may_be_any() {
    for (const unsigned flags : {0u, unsigned(WG_KEEP_CODE)}) {
        wg::tape t(flags);
        const wg::scope here(t);
        const double at[2] = {3, 4}, to[2] = {2, 5};
        wg_real in[2];
        CHECK(wg_inputs(t, 2, at, in) == WG_OK);
        const active x = in[0], y = in[1];
        const active a = x > 1 ? x * x : 0.0, b = x > 5 ? 1.0 : x * y + sin(x);
        const active c = x > 5 ? x * y * x * y : x + 1, d = x > 1 ? -x : x;
        const active e = (x > 1 ? x * y : x * x * 3 + y) * (x > 5 ? 2.0 : y * y) - (x > 1 ? 7 : x * y);
        const active f = x < y ? x : 2, g = x > y ? x * y : x + y, h = 2 * (x > y ? 1 : x * y * 2);
        const active s = a + b + c + d + e + f + g + h;
        for (int again = 0; again < 2; again++) {
            const double p = again ? to[0] : at[0], q = again ? to[1] : at[1];
            const double want = p * p + (p * q + std::sin(p)) + (p + 1) - p + (p * q * q * q - 7) + p + (p + q) +
                                4 * p * q;
            CHECK(near(again ? wg_tape_value(t, s) : wg::value(s), want));
            t.reverse(s);
            CHECK(near(t.adjoint(x), 2 * p + q + std::cos(p) + q * q * q + 2 + 4 * q));
            CHECK(near(t.adjoint(y), p + 3 * p * q * q + 1 + 4 * p));
            if (flags == 0) break;
            if (again == 0) CHECK(wg_tape_verify(t) == WG_OK);
            if (again == 0) CHECK(wg_tape_replay(t, 2, in, to) == WG_OK);
        }
    }
}

void an_expression_is_what_it_was() {
    wg::tape t;
    const wg::scope here(t);
    active x = t.input(3);
    const active first = x;
    const auto e = x * x;
    x = 100;
    const active y = e;
    t.reverse(y);
    CHECK(wg::value(y) == 9 && t.adjoint(first) == 6);
}

void assignments_and_increments() {
    wg::tape t;
    const wg::scope here(t);
    const active x = t.input(3), y = t.input(4);
    active z = x;
    z += y * 2, z -= 1, z *= x, z /= y; // (x + 2 y - 1) x / y
    t.reverse(z);
    CHECK(wg::value(z) == 7.5 && t.adjoint(x) == 13.0 / 4 && near(t.adjoint(y), 6.0 / 4 - 30.0 / 16));
    active u = x;
    CHECK(wg::value(u++) == 3 && wg::value(++u) == 5 && wg::value(u--) == 5 && wg::value(--u) == 3);
    u += u, u *= u;
    t.reverse(u + (+x));
    CHECK(t.adjoint(x) == 8 * 3 + 1);
    using std::swap;
    swap(z, u);
    CHECK(wg::value(z) == 36 && wg::value(u) == 7.5);
}

void numbers_record_nothing() {
    wg::tape t;
    const wg::scope here(t);
    active a = 2, b = 3.5f, c = 4u, z = 0;
    for (int i = 0; i < 100; i++) z += a * b + sin(c) * i, a = b / c, b += 1;
    static active table[4];
    CHECK(stats(t).records == 0 && z.at.slot == 0 && wg::value(table[2]) == 0 && wg::value(two) == 2);
    const active x = t.input(2), y = a * x + b * (c + table[1]);
#ifdef WG_NO_EXPRESSIONS
    CHECK(stats(t).records == 2);
#else
    CHECK(stats(t).records == 1);
#endif
    t.reverse(y);
    CHECK(t.adjoint(x) == wg::value(a) && t.adjoint(a) == 0);
    enum { N = 4 };
    const active mean = x / N + (wg::value(x) > 3 ? x : N) - N;
    t.reverse(mean);
    CHECK(t.adjoint(x) == 0.25 && wg::value(mean) == 0.5 && mean < N && active(N) == 4);
}

// ---- comparisons ----

void comparisons_are_those_of_doubles() {
    const double points[] = {0, -0.0, 1, -1, 2.5, INFINITY, -INFINITY, NAN};
    for (const double a : points)
        for (const double b : points) {
            const active x = a, y = b;
            CHECK((x < y) == (a < b) && (x <= y) == (a <= b) && (x > y) == (a > b) && (x >= y) == (a >= b));
            CHECK((x == y) == (a == b) && (x != y) == (a != b) && (x < b) == (a < b) && (a < y) == (a < b));
            CHECK((x + 1 < y * 2) == (a + 1 < b * 2) && !x == (a == 0) && (x ? 1 : 0) == (a != 0));
            CHECK(isgreater(x, y) == (a > b) && isless(x, b) == (a < b) && islessequal(x, y) == (a <= b));
            CHECK(isgreaterequal(a, y) == (a >= b) && islessgreater(x, y) == (a < b || a > b));
            CHECK(isunordered(x, y) == (a != a || b != b));
            CHECK((x && y) == (a != 0 && b != 0));
        }
}

wg_status branching(wg_tape *t, size_t, const wg_real *in, size_t, wg_real *out, void *) {
    const wg::scope here(t);
    const active x = in[0];
    active y = x * x > 2 ? 3 * x : x;
    y *= static_cast<int>(x * 10);
    int exponent;
    y += frexp(x, &exponent) * exponent;
    if (x) y += 1;
    out[0] = y;
    return WG_OK;
}
double branching(double x) {
    double y = x * x > 2 ? 3 * x : x;
    y *= static_cast<int>(x * 10);
    int exponent;
    y += std::frexp(x, &exponent) * exponent;
    return x != 0 ? y + 1 : y;
}

void functions_hold_where_comparisons_come_out_alike() {
    wg::tape t(WG_KEEP_CODE), checked(WG_KEEP_CODE | WG_CHECKED, wg::on_failure::returns);
    const double at = 1.52;
    const wg_argument one = {"x", 1, 1, 0}, result = {"y", 1, 1, 0};
    wg::function f;
    double x = 0, y = 0;
    CHECK(wg_function_record(t, branching, nullptr, 1, &one, &at, 1, &result, f.out()) == WG_OK);
    CHECK(wg_check_branches(checked, branching, nullptr, 1, &at, 1, 0, nullptr) == WG_OK);
    const wg_points in = {&x, 1, 1};
    const wg_results out = {&y, 1, 1};
    std::vector<double> work(wg_function_work(f, nullptr) / sizeof(double) + 1);
    for (const double at_x : {1.52, 1.55, 1.599, 1.6, 1.4, 2.0, 0.3, -1.52, 0.0}) {
        x = at_x;
        const wg_status s = wg_function_evaluate(f, 1, &in, &out, nullptr, work.data(), nullptr);
        if (s == WG_OK) CHECK(near(y, branching(x)));
        else CHECK(s == WG_EGUARD);
        CHECK((s == WG_OK) == (x >= 1.5 && x < 1.6));
    }
}

// Recorded at x, and asked at another point: the branch that was taken is told, or the value is right.
template <class F> void holds_or_says_so(const char *name, double at, double to, F f) {
    wg::tape t(WG_KEEP_CODE);
    const auto g = [f](const std::vector<active> &x) { return std::vector<active>{f(x[0])}; };
    wg::function fun;
    CHECK(t.record(g, {at}, 1, fun) == WG_OK);
    double y = 0;
    const wg_points in = {&to, 1, 1};
    const wg_results out = {&y, 1, 1};
    std::vector<double> work(wg_function_work(fun, nullptr) / sizeof(double) + 1);
    const wg_status s = wg_function_evaluate(fun, 1, &in, &out, nullptr, work.data(), nullptr);
    const double v = wg::value(f(active(to)));
    if (s == WG_EGUARD || (s == WG_OK && same(y, v))) return;
    std::fprintf(stderr, "%s from %g at %g: status %d, %.17g, not %.17g\n", name, at, to, s, y, v);
    failures++;
}

void what_takes_a_number_apart_leaves_guards() {
    const double all[] = {-2, 3, 0, 4.1, 8.1, 10, 10.5, 1024, 1, 1e-310, INFINITY, NAN, -0.0, -INFINITY, DBL_MAX, 1e308};
    for (const double at : all)
        for (const double to : all) {
            holds_or_says_so("signbit", at, to, [](active x) -> active { return signbit(x) ? 1 - x : x; });
            holds_or_says_so("remquo", at, to, [](active x) {
                int q = 0;
                const active r = remquo(x, 2, &q);
                return active(r + 10 * (q & 7));
            });
            holds_or_says_so("frexp", at, to, [](active x) {
                int q = 0;
                const active r = frexp(x, &q);
                return active(r + 10 * (x == x && !isinf(x) ? q : 0));
            });
            holds_or_says_so("ilogb", at, to, [](active x) -> active { return ilogb(x) < 0 ? x + 100 : ilogb(x) > 2000 ? 7 : x; });
            holds_or_says_so("logb", at, to, [](active x) -> active { return x * 0 + logb(x); });
            holds_or_says_so("fpclassify", at, to, [](active x) -> active {
                return fpclassify(x) == FP_ZERO ? 1 : fpclassify(x) == FP_SUBNORMAL ? x * 3 : 2 * x;
            });
            holds_or_says_so("nextafter", at, to, [](active x) { return active(nextafter(x, 10) - x); });
            holds_or_says_so("nextafter, upwards", at, to, [](active x) { return active(nextafter(x, INFINITY)); });
            holds_or_says_so("nextafter, to", at, to, [](active x) { return active(nextafter(active(8.1), x)); });
            holds_or_says_so("modf", at, to, [](active x) {
                active whole;
                const active part = modf(x, &whole);
                return active(whole + copysign(3, part) * (part + 1));
            });
            holds_or_says_so("lround", at, to, [](active x) { return active(x * 0 + double(lround(x))); });
            holds_or_says_so("to int", at, to, [](active x) { return active(x * 0 + double(int(x))); });
        }
}

// Functions of a user's that have names of ours beyond those of <math.h>.
namespace user {
active sign(active x) { return x >= 0 ? 1 : -1; }
active square(active side) { return 4 * side; }
active value(active spot) { return spot * spot; }
active Phi(active x) { return 3 * x; }
template <class X> X max(X x, X y) { return x > y ? 2 * x : 2 * y; }
template <class X> X ldexp(const X &x, int) { return x * 11; }
template <class X> X hypot(const X &x, const X &, const X &) { return x * 12; }
template <class X> X frexp(const X &x, int *) { return x * 13; }
template <class X> X modf(const X &x, X *) { return x * 14; }
template <class X> X remquo(const X &x, const X &, int *) { return x * 15; }
template <class X> X nextafter(const X &x, const X &) { return x * 16; }
template <class X> X nearbyint(const X &x) { return x * 17; }
template <class X> X norm(const X &x) { return x * 18; }
template <class X> X real(const X &x) { return x * 19; }
template <class X> bool isless(const X &, const X &) { return true; }
template <class X> bool isunordered(const X &, const X &) { return true; }
template <class X> bool isnan(const X &) { return true; }
template <class X> long lround(const X &) { return 20; }
active templates(active x) {
    int q = 0;
    active w = x;
    CHECK(isless(x, x) && isunordered(x, x) && isnan(x) && lround(x) == 20);
    return ldexp(x, 1) + hypot(x, x, x) + frexp(x, &q) + modf(x, &w) + remquo(x, x, &q) + nextafter(x, x) +
           nearbyint(x) + norm(x) + real(x);
}
active run(active x, active y) {
    return sign(x - y) + Phi(x * 1) + square(x * 1) + square(x) + value(x * y) + max(x, y);
}
} // namespace user

void functions_of_the_users_are_his_own() {
    wg::tape t;
    const wg::scope here(t);
    const active x = t.input(2), y = user::run(x, t.input(2));
    t.reverse(y);
    CHECK(wg::value(y) == 1 + 6 + 8 + 8 + 16 + 4 && t.adjoint(x) == 3 + 4 + 4 + 16 + 0);
    CHECK(wg::value(user::templates(1)) == 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19);
    CHECK(wg::value(wg::sign(x - 3)) == -1 && wg::value(wg::square(x * 1)) == 4);
}

// ---- <cmath> ----

const double points[] = {0.0,    -0.0,   0.25,  -0.25,   0.75, -0.75,   1,      -1,      1.5,       -1.5,
                         2.5,    -2.5,   3,     10.125,  -20,  1e-300,  -1e300, 1e300,   DBL_MAX,   DBL_MIN,
                         5e-324, 1e-310, 1e16,  -4.5e15, 0.5,  INFINITY, NAN,   -INFINITY, 123456.5, 7e-5};

template <class F, class G> void value_is(const char *name, F f, G g) {
    for (const double a : points) {
        const active x = a;
        const double v = wg::value(active(f(x))), w = g(a), of = wg::value(active(f(x * 1)));
        if (!same(v, w) || !same(of, w) || std::signbit(v) != std::signbit(w)) {
            if ((v != v && w != w) || (v != 0 && near(v, w) && near(of, w))) continue; // tanh has a formula
            std::fprintf(stderr, "%s(%g) is %.17g, not %.17g\n", name, a, v, w);
            failures++;
        }
    }
}
template <class F, class G> void value_is_2(const char *name, F f, G g) {
    for (const double a : points)
        for (const double b : points) {
            const double w = g(a, b), v = wg::value(active(f(active(a), active(b))));
            const double left = wg::value(active(f(active(a), b))), right = wg::value(active(f(a, active(b))));
            if (same(v, w) && same(left, w) && same(right, w)) continue;
            std::fprintf(stderr, "%s(%g, %g) is %.17g, not %.17g\n", name, a, b, v, w);
            failures++;
        }
}
#define ONE(name)                                                                              \
    value_is(#name, [](auto_operand x) { return name(x); }, [](double x) { return std::name(x); });
#define TWO(name)                                                                              \
    value_is_2(#name, two_##name(), [](double x, double y) { return std::name(x, y); });
using auto_operand = active;
#define TWO_OF(name)                                                                           \
    struct two_##name {                                                                        \
        template <class X, class Y> active operator()(const X &x, const Y &y) const {          \
            return name(x, y);                                                                 \
        }                                                                                      \
    };
TWO_OF(pow)
TWO_OF(atan2)
TWO_OF(fmod)
TWO_OF(remainder)
TWO_OF(hypot)
TWO_OF(fdim)
TWO_OF(fmax)
TWO_OF(fmin)
TWO_OF(copysign)
TWO_OF(nextafter)

void every_function_has_the_value_of_a_double() {
    ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh)
    ONE(acosh) ONE(atanh) ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(sqrt)
    ONE(cbrt) ONE(erf) ONE(erfc) ONE(tgamma) ONE(lgamma) ONE(fabs) ONE(abs) ONE(floor) ONE(ceil) ONE(trunc)
    ONE(round) ONE(rint) ONE(nearbyint) ONE(logb)
    TWO(pow) TWO(atan2) TWO(fmod) TWO(remainder) TWO(hypot) TWO(fdim) TWO(fmax) TWO(fmin) TWO(copysign)
    TWO(nextafter)
    for (const double a : points) {
        const active x = a;
        int k = 0, l = 0;
        active whole;
        double also;
        CHECK(same(wg::value(frexp(x, &k)), std::frexp(a, &l)) && (!std::isfinite(a) || k == l));
        CHECK(same(wg::value(modf(x, &whole)), std::modf(a, &also)) && same(wg::value(whole), also));
        CHECK(ilogb(x) == std::ilogb(a));
        CHECK(isnan(x) == std::isnan(a) && isinf(x) == std::isinf(a) && isfinite(x) == std::isfinite(a));
        CHECK(isnormal(x) == std::isnormal(a) && signbit(x) == std::signbit(a));
        CHECK(fpclassify(x) == std::fpclassify(a));
        CHECK(same(wg::value(fma(x, x, 1)), std::fma(a, a, 1.0)));
        CHECK(same(wg::value(nexttoward(x, 1.0L)), std::nexttoward(a, 1.0L)));
        if (std::fabs(a) < 1e9) {
            CHECK(lround(x) == std::lround(a) && llround(x) == std::llround(a));
            CHECK(lrint(x) == std::lrint(a) && llrint(x) == std::llrint(a));
        }
        for (const int n : {0, 1, -1, 52, -60, 1000, -1000, 1023, -1074, 1500, -1500, 2000, -2098, 5000, -5000,
                            INT32_MAX, INT32_MIN}) {
            CHECK(same(wg::value(ldexp(x, n)), std::ldexp(a, n)));
            CHECK(same(wg::value(scalbn(x, n)), std::scalbn(a, n)));
            CHECK(same(wg::value(scalbln(x, static_cast<long>(n))), std::scalbln(a, static_cast<long>(n))));
        }
        for (const double b : points) {
            CHECK(same(wg::value(remquo(x, b, &k)), std::remquo(a, b, &l)));
            CHECK(a != a || b != b || b == 0 || std::isinf(a) || (k & 7) == (l & 7));
        }
    }
    // Qualified, as code that exists has it.
    const active x = 0.5, y = 2;
    CHECK(wg::value(std::sin(x) + std::pow(x, 2) + std::fabs(-x * y) + std::atan2(x, y)) ==
          std::sin(0.5) + std::pow(0.5, 2) + 1 + std::atan2(0.5, 2.0));
    CHECK(std::isfinite(x) && !std::isnan(x * y) && std::abs(x - 1) == 0.5);
}

void derivatives_of_what_takes_numbers_apart() {
    wg::tape t;
    const wg::scope here(t);
    const active x = t.input(-13.375);
    int k;
    active whole, y = frexp(x, &k);
    t.reverse(y);
    CHECK(k == 4 && t.adjoint(x) == 0.0625);
    t.reverse(y = modf(x * 3, &whole));
    CHECK(t.adjoint(x) == 3 && wg::value(whole) == -40);
    t.reverse(y = ldexp(x, 70));
    CHECK(t.adjoint(x) == std::ldexp(1.0, 70));
    t.reverse(y = remquo(x, active(4), &k));
    CHECK(t.adjoint(x) == 1);
    t.reverse(y = nextafter(x, 0.0) * 2);
    CHECK(t.adjoint(x) == 2);
    t.reverse(y = hypot(x, 3, 4 * x));
    CHECK(near(t.adjoint(x), 17 * -13.375 / std::sqrt(17 * 13.375 * 13.375 + 9)));
    t.reverse(y = max(x, -20) * min(x * x, 1000) + abs(x));
    CHECK(near(t.adjoint(x), 3 * 13.375 * 13.375 - 1));
    t.reverse(y = std::max(x, active(-20)) + std::min<active>(x, 3));
    CHECK(t.adjoint(x) == 2);
    t.reverse(y = std::max(x * x, 0) * std::min(2.0, 1 - x) + std::max(x, x + 1));
    CHECK(near(t.adjoint(x), 4 * -13.375 + 1) && wg::value(y) == 2 * 13.375 * 13.375 - 12.375);
    for (const double a : {1.0, -1.0, 0.0, double(NAN)})
        for (const double b : {1.0, -1.0, double(NAN)}) {
            CHECK(same(wg::value(max(active(a), b)), std::max(a, b)));
            CHECK(same(wg::value(min(a, active(b))), std::min(a, b)));
        }
    t.reverse(y = lerp(x, x * x, 0.25));
    CHECK(near(t.adjoint(x), 0.75 + 0.5 * -13.375));
    active zero = t.input(0);
    t.reverse(y = frexp(zero, &k) + sqrt(zero * zero) * 0);
    CHECK(t.adjoint(zero) == 1 && k == 0);
}

// ---- the standard library ----

void limits_streams_and_text() {
    using limits = std::numeric_limits<active>;
    CHECK(wg::value(limits::epsilon()) == DBL_EPSILON && wg::value(limits::max()) == DBL_MAX);
    CHECK(wg::value(limits::lowest()) == -DBL_MAX && isinf(limits::infinity()) && isnan(limits::quiet_NaN()));
    wg::tape t;
    const wg::scope here(t);
    active x = t.input(1.25), y = t.input(2);
    std::ostringstream to;
    to << x << ' ' << x * y << ' ' << active(7);
    CHECK(to.str() == "1.25 2.5 7");
    CHECK(std::to_string(x) == "1.250000" && to_string(x * y) == "2.500000");
    std::istringstream from("4.5 x");
    from >> x;
    CHECK(wg::value(x) == 4.5 && x.at.slot == 0);
    CHECK(!(from >> y) && !from.good());
    char text[64];
    CHECK(std::snprintf(text, sizeof text, "%d %g %s %.2f", 3, x, "and", x * y) == 14);
    CHECK(std::strcmp(text, "3 4.5 and 0.00") == 0); // what cannot be read is 0
    int n = 0;
    y = t.input(1);
    CHECK(sscanf("12 0.5", "%d %lf", &n, &y) == 2 && n == 12 && wg::value(y) == 0.5 && y.at.slot == 0);
}

void complex_numbers() {
    using complex = std::complex<active>;
    wg::tape t;
    const wg::scope here(t);
    const active a = t.input(0.75), b = t.input(-1.25);
    const complex z(a, b);
    const complex w = std::exp(z) * z / (z + 1.0) + std::sqrt(z) + std::pow(z, 2.0) + 3 * z - z * (a * b) +
                      std::log(z) * std::sin(z) + std::polar<active>(abs(a), b) + std::conj(z) / 2;
    const complex q = std::pow(2.0, z) + std::pow(a * a, z) + std::pow(z, a * b) + std::pow(z, 3u) + std::polar(1.0, a) +
                      std::polar(a * a, b) + std::polar(a, a * b) + std::polar(a * b, b * a) + std::conj(a * b);
    CHECK(z != 1.0 && !(0.75 == z) && z != a * b && z == complex(a, -1.25));
    const active real = std::real(q) * std::imag(q) + std::real(a * b) + std::imag(a) + std::norm(a + 1) + std::arg(b);
    const active y = std::abs(w) + std::arg(w) + std::norm(z) + w.real() * w.imag() + real;
    t.reverse(y);
    const double g[2] = {t.adjoint(a), t.adjoint(b)};
    struct plain {
        static double of(double p, double q) {
            const std::complex<double> u(p, q);
            const std::complex<double> v = std::exp(u) * u / (u + 1.0) + std::sqrt(u) + std::pow(u, 2.0) +
                                           3.0 * u - u * (p * q) + std::log(u) * std::sin(u) +
                                           std::polar(std::fabs(p), q) + std::conj(u) / 2.0;
            const std::complex<double> r = std::pow(2.0, u) + std::pow(p * p, u) + std::pow(u, p * q) + std::pow(u, 3u) +
                                           std::polar(1.0, p) + std::polar(p * p, q) + std::polar(p, p * q) +
                                           std::polar(p * q, q * p) + std::conj(p * q);
            return std::abs(v) + std::arg(v) + std::norm(u) + v.real() * v.imag() + r.real() * r.imag() +
                   std::real(p * q) + std::imag(p) + std::norm(p + 1) + std::arg(q);
        }
    };
    CHECK(near(wg::value(y), plain::of(0.75, -1.25)));
    const double h = 1e-5; // a difference as the judge of a derivative
    CHECK(std::fabs(g[0] - (plain::of(0.75 + h, -1.25) - plain::of(0.75 - h, -1.25)) / (2 * h)) < 1e-7);
    CHECK(std::fabs(g[1] - (plain::of(0.75, -1.25 + h) - plain::of(0.75, -1.25 - h)) / (2 * h)) < 1e-7);
}

// The derivative d of a complex function, by both parts of its argument.
void check_derivative(std::complex<double> at, std::complex<active> (*f)(const std::complex<active> &), std::complex<double> d) {
    wg::tape t;
    const wg::scope here(t);
    const active x = t.input(at.real()), y = t.input(at.imag());
    const std::complex<active> w = f(std::complex<active>(x, y));
    t.reverse(w.real());
    CHECK(std::fabs(t.adjoint(x) - d.real()) < 1e-13 && std::fabs(t.adjoint(y) + d.imag()) < 1e-13);
    t.reverse(w.imag());
    CHECK(std::fabs(t.adjoint(x) - d.imag()) < 1e-13 && std::fabs(t.adjoint(y) - d.real()) < 1e-13);
}

void complex_parts_that_are_zero_move() {
    using complex = std::complex<active>;
    using numbers = std::complex<double>;
    const numbers one = 1, half = 0.5;
    for (const numbers z : {numbers(0, 2), numbers(0, -2), numbers(4, 0), numbers(-3, 1), numbers(2, -1)}) {
        check_derivative(z, [](const complex &u) { return std::sqrt(u); }, half / std::sqrt(z));
        check_derivative(z, [](const complex &u) { return std::pow(u, 1.5); }, 1.5 * std::sqrt(z));
        check_derivative(z, [](const complex &u) { return std::pow(u, 3); }, 3.0 * z * z);
        check_derivative(z, [](const complex &u) { return std::pow(u, -1); }, -one / (z * z));
    }
    check_derivative(numbers(-4, 0), [](const complex &u) { return std::sqrt(u); }, numbers(0, -0.25));
    const numbers turn(0.75, 1.25), edge(1, 2), other(-1, 2);
    check_derivative(turn, [](const complex &u) { return std::asinh(u); }, one / std::sqrt(one + turn * turn));
    for (const numbers z : {edge, other})
        check_derivative(z, [](const complex &u) { return std::acosh(u); }, one / (std::sqrt(z - one) * std::sqrt(z + one)));
    // numbers alone are what they were
    CHECK(std::sqrt(complex(0, -8)) == complex(2, -2) && std::sqrt(complex(-9, -0.0)) == complex(0, 3));
    CHECK(std::sqrt(complex(0, 0)) == complex(0, 0) && std::pow(complex(2, 0), active(3)) == complex(8, 0));
    CHECK(std::pow(complex(0, 2), 0) == complex(1, 0) && std::pow(complex(0, 2), 5) == complex(0, 32));
}

// ---- scopes, tapes, drivers ----

void scopes_nest_and_end() {
    wg::tape one, other;
    active x, y, outside;
    {
        const wg::scope first(one);
        x = one.input(2);
        {
            const wg::scope second(other);
            const active u = other.input(3);
            const active v = u * u;
            other.reverse(v);
            CHECK(other.adjoint(u) == 6);
            {
                const wg::scope none(nullptr);
                const active plain = v * u;
                CHECK(plain.at.slot == 0 && wg::value(plain) == 27);
            }
        }
        y = x * x * x;
    }
    one.reverse(y);
    CHECK(one.adjoint(x) == 12 && stats(other).records == 1);
    // Outside of every scope: a value, which no tape takes for a constant.
    outside = y * y;
    outside += 1;
    CHECK(wg::value(outside) == 65 && outside > 64 && sqrt(outside - 1) == 8);
    CHECK(active(active(3) * active(2)).at.slot == 0);
    {
        const wg::scope again(one);
        const active back = outside * x;
        CHECK(wg_tape_status(one) == WG_ESTALE && wg::value(back) != wg::value(back));
        CHECK(std::strstr(wg_tape_message(one), "outside of every wg::scope") != nullptr);
    }
    one.reset();
    {
        const wg::scope again(one);
        x = one.input(2);
        const active detached = wg::value(outside) * x;
        one.reverse(detached);
        CHECK(one.adjoint(x) == 65);
    }
    // More than a statement holds, without a tape: nothing silent where it then goes to one.
    const wg_real r = wg_let(one, x * x * x * x * x * x * x * x * x * x);
    CHECK(wg_tape_status(one) == WG_ESTALE && r.value != r.value);
    one.reset();
}

void what_fails_is_thrown_or_returned() {
    wg::tape quiet(0, wg::on_failure::returns), loud;
    CHECK(quiet.reverse(3) == WG_ESEED);
#ifdef __cpp_exceptions
    wg_status caught = WG_OK;
    try {
        loud.reverse(3);
    } catch (const wg::error &e) {
        caught = e.status();
        CHECK(std::strlen(e.what()) > 0);
    }
    CHECK(caught == WG_ESEED);
    struct own {};
    bool thrown = false;
    try {
        loud.gradient([](const std::vector<active> &x) -> active { return x.size() ? throw own() : x[0]; }, {1});
    } catch (const own &) {
        thrown = true;
    }
    CHECK(thrown && wg::detail::is_outside());
#endif
    wg::tape moved(std::move(loud));
    CHECK(static_cast<wg_tape *>(loud) == nullptr && static_cast<wg_tape *>(moved) != nullptr);
    loud = std::move(moved);
    CHECK(static_cast<wg_tape *>(loud) != nullptr);
}

void drivers_take_anything_that_can_be_called() {
    wg::tape t(WG_KEEP_CODE);
    const std::vector<double> at = {2, 3};
    const double factor = 5;
    const auto f = [factor](const std::vector<active> &x) { return factor * x[0] * x[0] * x[1]; };
    std::vector<double> g, h, y, jac;
    double value = 0;
    CHECK(t.gradient(f, at, &value, g) == WG_OK && value == 60 && g[0] == 60 && g[1] == 20);
    CHECK(t.hessian(f, at, h) == WG_OK && h[0] == 30 && h[1] == 20 && h[2] == 20 && h[3] == 0);
    const auto many = [](const std::vector<active> &x) {
        return std::vector<active>{x[0] * x[1], sin(x[0]), 3};
    };
    CHECK(t.jacobian(many, at, y, jac) == WG_OK && y.size() == 3 && y[0] == 6 && y[2] == 3);
    CHECK(jac[0] == 3 && jac[1] == 2 && jac[2] == std::cos(2.0) && jac[3] == 0 && jac[4] == 0 && jac[5] == 0);
    wg::function fun;
    CHECK(t.record(many, at, 3, fun) == WG_OK && wg_function_inputs(fun) == 1);
    wg::tape quiet(WG_KEEP_CODE, wg::on_failure::returns);
    CHECK(quiet.record(many, at, 2, fun) == WG_ESHAPE && static_cast<const wg_function *>(fun) == nullptr);
}

void memory_from_malloc_and_arrays() {
    wg::tape t;
    const wg::scope here(t);
    active *const a = static_cast<active *>(std::calloc(8, sizeof(active)));
    union {
        active x;
        char bytes[sizeof(active)];
    } u;
    a[1] = t.input(3);
    a[2] = a[1] * a[1] + a[5];
    u.x = a[2];
    std::memcpy(&a[3], &u, sizeof(active));
    t.reverse(a[3]);
    CHECK(t.adjoint(a[1]) == 6);
    std::memset(a, 0, 8 * sizeof(active));
    CHECK(wg::value(a[3]) == 0 && a[3].at.slot == 0);
    std::free(a);
    std::vector<active> v(5, 2);
    v[3] = t.input(-1), v[1] = t.input(7);
    std::sort(v.begin(), v.end());
    CHECK(wg::value(v[0]) == -1 && wg::value(v[4]) == 7 && v[4].at.slot != 0);
}

} // namespace

int main() {
    statements_have_no_limits();
    long_statements_keep_their_code();
    arms_of_a_question_may_be_any();
    an_expression_is_what_it_was();
    assignments_and_increments();
    numbers_record_nothing();
    comparisons_are_those_of_doubles();
    functions_hold_where_comparisons_come_out_alike();
    what_takes_a_number_apart_leaves_guards();
    functions_of_the_users_are_his_own();
    every_function_has_the_value_of_a_double();
    derivatives_of_what_takes_numbers_apart();
    limits_streams_and_text();
    complex_numbers();
    complex_parts_that_are_zero_move();
    scopes_nest_and_end();
    what_fails_is_thrown_or_returned();
    drivers_take_anything_that_can_be_called();
    memory_from_malloc_and_arrays();
    return failures != 0;
}
