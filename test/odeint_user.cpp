// SPDX-License-Identifier: MIT
// odeint_user.cpp - wg::active as the values of Boost's odeint: a Lorenz system by the method of Dormand and
// Prince, with steps of one and of several lengths, against the same over doubles. Prints what fails,
// and succeeds when nothing does.
#include <array>
#include <boost/numeric/odeint/integrate/integrate_const.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <cmath>
#include <cstdio>
#include <wengert/active.hpp>

namespace {

namespace odeint = boost::numeric::odeint;

template <class T> using state = std::array<T, 3>;

template <class T> struct lorenz {
    T sigma, rho, beta;
    void operator()(const state<T> &x, state<T> &dxdt, T) const {
        dxdt[0] = sigma * (x[1] - x[0]);
        dxdt[1] = x[0] * (rho - x[2]) - x[1];
        dxdt[2] = x[0] * x[1] - beta * x[2];
    }
};

// The sum of the state after some time; how: 0 steps of one length, 1 of several.
template <class T> T after(int how, const T *p) {
    state<T> x = {{p[0], p[1], p[2]}};
    const lorenz<T> system = {p[3], p[4], p[5]};
    using stepper = odeint::runge_kutta_dopri5<state<T>, T, state<T>, T>;
    if (how == 0) {
        odeint::integrate_const(stepper(), system, x, T(0), T(1), T(0.01));
    } else {
        // Lengths of steps are chosen by values: they are numbers.
        stepper s;
        const double lengths[] = {0.01, 0.02, 0.015, 0.01, 0.005};
        T t = 0;
        for (int k = 0; k < 50; k++) {
            s.do_step(system, x, t, T(lengths[k % 5]));
            t += lengths[k % 5];
        }
    }
    return x[0] + x[1] * x[2];
}

} // namespace

int main() {
    const double at[6] = {1, 2, 3, 10, 28, 8.0 / 3};
    int failures = 0;
    for (int how = 0; how < 2; how++) {
        wg::tape t;
        const wg::scope here(t);
        wg::active p[6];
        for (int i = 0; i < 6; i++) p[i] = t.input(at[i]);
        const wg::active y = after(how, p);
        t.reverse(y);
        if (!(std::fabs(wg::value(y) - after(how, at)) <= 1e-9 * std::fabs(wg::value(y)))) failures++;
        for (int i = 0; i < 6; i++) {
            double side[4];
            const double h = 1e-4, steps[4] = {h, -h, 2 * h, -2 * h};
            for (int k = 0; k < 4; k++) {
                double q[6];
                for (int j = 0; j < 6; j++) q[j] = at[j] + (j == i ? steps[k] : 0);
                side[k] = after(how, q);
            }
            const double judge = (8 * (side[0] - side[1]) - (side[2] - side[3])) / (12 * h);
            if (std::fabs(t.adjoint(p[i]) - judge) <= 1e-6 * (1 + std::fabs(judge))) continue;
            std::fprintf(stderr, "odeint_user.cpp: %d: input %d: %.12g, differences %.12g\n", how, i,
                         t.adjoint(p[i]), judge);
            failures++;
        }
    }
    return failures != 0;
}
