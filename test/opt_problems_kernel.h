/* SPDX-License-Identifier: MIT */
/* opt_problems_kernel.h - the problems of opt_problems.c for the type of <wengert/generic.h>.
 *
 * Per problem either residuals r (f = sum r_i^2) or constraints, and for some an objective; n
 * variables, m residuals. */
#include <wengert/generic.h>

#define RES(name)                                                                              \
    static void WG_NAME(name)(wg_tape * t, int n, int m, const wg_real *x, wg_real *r)
#define OBJ(name) static wg_real WG_NAME(name)(wg_tape * t, int n, const wg_real *x)
#define UNUSED (void)t, (void)n, (void)m

/* ---- sums of squares ---- */

RES(rosenbrock) {
    UNUSED;
    r[0] = wg_let(t, wg_mul(10, wg_sub(x[1], wg_square(x[0]))));
    r[1] = wg_let(t, wg_sub(1, x[0]));
}
RES(freudenstein_roth) {
    UNUSED;
    r[0] = wg_let(
        t, wg_add(wg_add(-13, x[0]), wg_mul(wg_sub(wg_mul(wg_sub(5, x[1]), x[1]), 2), x[1])));
    r[1] = wg_let(
        t, wg_add(wg_add(-29, x[0]), wg_mul(wg_sub(wg_mul(wg_add(x[1], 1), x[1]), 14), x[1])));
}
RES(powell_badly_scaled) {
    UNUSED;
    r[0] = wg_let(t, wg_sub(wg_mul(wg_mul(1e4, x[0]), x[1]), 1));
    r[1] = wg_let(t, wg_sub(wg_add(wg_exp(wg_neg(x[0])), wg_exp(wg_neg(x[1]))), 1.0001));
}
RES(brown_badly_scaled) {
    UNUSED;
    r[0] = wg_let(t, wg_sub(x[0], 1e6));
    r[1] = wg_let(t, wg_sub(x[1], 2e-6));
    r[2] = wg_let(t, wg_sub(wg_mul(x[0], x[1]), 2));
}
RES(beale) {
    UNUSED;
    r[0] = wg_let(t, wg_sub(1.5, wg_mul(x[0], wg_sub(1, x[1]))));
    r[1] = wg_let(t, wg_sub(2.25, wg_mul(x[0], wg_sub(1, wg_square(x[1])))));
    r[2] = wg_let(t, wg_sub(2.625, wg_mul(x[0], wg_sub(1, wg_cube(x[1])))));
}
RES(jennrich_sampson) {
    UNUSED;
    for (int i = 1; i <= m; i++)
        r[i - 1] = wg_let(
            t, wg_sub(2 + 2 * i, wg_add(wg_exp(wg_mul(i, x[0])), wg_exp(wg_mul(i, x[1])))));
}
RES(helical_valley) {
    UNUSED;
    wg_real th = wg_let(t, wg_div(wg_atan(wg_div(x[1], x[0])), 2 * OPT_PI));
    if (wg_lt(t, x[0], wg_constant(0))) th = wg_let(t, wg_add(th, 0.5));
    r[0] = wg_let(t, wg_mul(10, wg_sub(x[2], wg_mul(10, th))));
    r[1] = wg_let(t, wg_mul(10, wg_sub(wg_sqrt(wg_add(wg_square(x[0]), wg_square(x[1]))), 1)));
    r[2] = x[2];
}
RES(bard) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const int u = i, v = 16 - i, w = u < v ? u : v;
        r[i - 1] = wg_let(
            t, wg_sub(OPT_BARD[i - 1],
                      wg_add(x[0], wg_div(u, wg_add(wg_mul(v, x[1]), wg_mul(w, x[2]))))));
    }
}
RES(gaussian) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const double s = (8 - i) / 2.0;
        r[i - 1] = wg_let(
            t,
            wg_sub(wg_mul(x[0],
                          wg_exp(wg_div(wg_mul(wg_neg(x[1]), wg_square(wg_sub(s, x[2]))), 2))),
                   OPT_GAUSSIAN[i - 1]));
    }
}
RES(meyer) {
    UNUSED;
    for (int i = 1; i <= m; i++)
        r[i - 1] =
            wg_let(t, wg_sub(wg_mul(x[0], wg_exp(wg_div(x[1], wg_add(45 + 5 * i, x[2])))),
                             OPT_MEYER[i - 1]));
}
RES(gulf_research) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const double s = i / 100.0, y = 25 + pow(-50 * log(s), 2.0 / 3.0);
        r[i - 1] = wg_let(
            t, wg_sub(wg_exp(wg_div(wg_neg(wg_pow(wg_fabs(wg_sub(y, x[1])), x[2])), x[0])), s));
    }
}
RES(box3d) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const double s = i / 10.0;
        r[i - 1] = wg_let(t, wg_sub(wg_sub(wg_exp(wg_mul(-s, x[0])), wg_exp(wg_mul(-s, x[1]))),
                                    wg_mul(x[2], exp(-s) - exp(-10 * s))));
    }
}
RES(ext_powell) {
    UNUSED;
    for (int i = 0; i < n; i += 4) {
        r[i] = wg_let(t, wg_add(x[i], wg_mul(10, x[i + 1])));
        r[i + 1] = wg_let(t, wg_mul(sqrt(5.0), wg_sub(x[i + 2], x[i + 3])));
        r[i + 2] = wg_let(t, wg_square(wg_sub(x[i + 1], wg_mul(2, x[i + 2]))));
        r[i + 3] = wg_let(t, wg_mul(sqrt(10.0), wg_square(wg_sub(x[i], x[i + 3]))));
    }
}
RES(wood) {
    UNUSED;
    r[0] = wg_let(t, wg_mul(10, wg_sub(x[1], wg_square(x[0]))));
    r[1] = wg_let(t, wg_sub(1, x[0]));
    r[2] = wg_let(t, wg_mul(sqrt(90.0), wg_sub(x[3], wg_square(x[2]))));
    r[3] = wg_let(t, wg_sub(1, x[2]));
    r[4] = wg_let(t, wg_mul(sqrt(10.0), wg_sub(wg_add(x[1], x[3]), 2)));
    r[5] = wg_let(t, wg_div(wg_sub(x[1], x[3]), sqrt(10.0)));
}
RES(kowalik_osborne) {
    UNUSED;
    for (int i = 0; i < m; i++) {
        const double u = OPT_KOWALIK_U[i];
        r[i] = wg_let(
            t, wg_sub(OPT_KOWALIK[i], wg_div(wg_mul(x[0], wg_add(u * u, wg_mul(u, x[1]))),
                                             wg_add(wg_add(u * u, wg_mul(u, x[2])), x[3]))));
    }
}
RES(brown_dennis) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const double s = i / 5.0;
        r[i - 1] =
            wg_let(t, wg_add(wg_square(wg_sub(wg_add(x[0], wg_mul(s, x[1])), exp(s))),
                             wg_square(wg_sub(wg_add(x[2], wg_mul(x[3], sin(s))), cos(s)))));
    }
}
RES(osborne1) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const double s = 10.0 * (i - 1);
        r[i - 1] = wg_let(t, wg_sub(OPT_OSBORNE1[i - 1],
                                    wg_add(wg_add(x[0], wg_mul(x[1], wg_exp(wg_mul(-s, x[3])))),
                                           wg_mul(x[2], wg_exp(wg_mul(-s, x[4]))))));
    }
}
RES(biggs_exp6) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const double s = i / 10.0, y = exp(-s) - 5 * exp(-10 * s) + 3 * exp(-4 * s);
        r[i - 1] = wg_let(t, wg_sub(wg_add(wg_sub(wg_mul(x[2], wg_exp(wg_mul(-s, x[0]))),
                                                  wg_mul(x[3], wg_exp(wg_mul(-s, x[1])))),
                                           wg_mul(x[5], wg_exp(wg_mul(-s, x[4])))),
                                    y));
    }
}
RES(osborne2) {
    UNUSED;
    for (int i = 1; i <= m; i++) {
        const double s = (i - 1) / 10.0;
        wg_real sum = wg_let(t, wg_mul(x[0], wg_exp(wg_mul(-s, x[4]))));
        for (int k = 1; k < 4; k++)
            sum = wg_let(
                t,
                wg_add(sum, wg_mul(x[k], wg_exp(wg_mul(wg_neg(wg_square(wg_sub(s, x[7 + k]))),
                                                       x[4 + k])))));
        r[i - 1] = wg_let(t, wg_sub(OPT_OSBORNE2[i - 1], sum));
    }
}
RES(watson) {
    UNUSED;
    for (int i = 1; i <= 29; i++) {
        const double s = i / 29.0;
        wg_real a = wg_constant(0), b = wg_constant(0);
        double p = 1;
        for (int j = 1; j < n; j++, p *= s) a = wg_let(t, wg_add(a, wg_mul(j * p, x[j])));
        p = 1;
        for (int j = 0; j < n; j++, p *= s) b = wg_let(t, wg_add(b, wg_mul(p, x[j])));
        r[i - 1] = wg_let(t, wg_sub(wg_sub(a, wg_square(b)), 1));
    }
    r[29] = x[0];
    r[30] = wg_let(t, wg_sub(wg_sub(x[1], wg_square(x[0])), 1));
}
RES(ext_rosenbrock) {
    UNUSED;
    for (int i = 0; i < n; i += 2) WG_NAME(rosenbrock)(t, 2, 2, x + i, r + i);
}
RES(penalty1) {
    UNUSED;
    wg_real s = wg_constant(-0.25);
    for (int i = 0; i < n; i++) {
        r[i] = wg_let(t, wg_mul(sqrt(1e-5), wg_sub(x[i], 1)));
        s = wg_let(t, wg_add(s, wg_square(x[i])));
    }
    r[n] = s;
}
RES(penalty2) {
    UNUSED;
    const double a = sqrt(1e-5);
    wg_real s = wg_constant(-1);
    r[0] = wg_let(t, wg_sub(x[0], 0.2));
    for (int i = 2; i <= n; i++)
        r[i - 1] = wg_let(t, wg_mul(a, wg_sub(wg_add(wg_exp(wg_div(x[i - 1], 10)),
                                                     wg_exp(wg_div(x[i - 2], 10))),
                                              exp(i / 10.0) + exp((i - 1) / 10.0))));
    for (int i = n + 1; i < 2 * n; i++)
        r[i - 1] = wg_let(t, wg_mul(a, wg_sub(wg_exp(wg_div(x[i - n], 10)), exp(-0.1))));
    for (int j = 0; j < n; j++) s = wg_let(t, wg_add(s, wg_mul(n - j, wg_square(x[j]))));
    r[2 * n - 1] = s;
}
RES(variably_dimensioned) {
    UNUSED;
    wg_real s = wg_constant(0);
    for (int j = 0; j < n; j++) {
        r[j] = wg_let(t, wg_sub(x[j], 1));
        s = wg_let(t, wg_add(s, wg_mul(j + 1, r[j])));
    }
    r[n] = s;
    r[n + 1] = wg_let(t, wg_square(s));
}
RES(trigonometric) {
    UNUSED;
    wg_real s = wg_constant(0);
    for (int j = 0; j < n; j++) s = wg_let(t, wg_add(s, wg_cos(x[j])));
    for (int i = 0; i < n; i++)
        r[i] = wg_let(t, wg_sub(wg_add(wg_sub(n, s), wg_mul(i + 1, wg_sub(1, wg_cos(x[i])))),
                                wg_sin(x[i])));
}
RES(brown_almost_linear) {
    UNUSED;
    const wg_real s = wg_sum(t, (size_t)n, x), p = wg_product(t, (size_t)n, x);
    for (int i = 0; i < n - 1; i++) r[i] = wg_let(t, wg_sub(wg_add(x[i], s), n + 1));
    r[n - 1] = wg_let(t, wg_sub(p, 1));
}
RES(discrete_boundary) {
    UNUSED;
    const double h = 1.0 / (n + 1);
    for (int i = 0; i < n; i++) {
        wg_real v = wg_let(t, wg_mul(2, x[i]));
        if (i > 0) v = wg_let(t, wg_sub(v, x[i - 1]));
        if (i < n - 1) v = wg_let(t, wg_sub(v, x[i + 1]));
        r[i] = wg_let(
            t, wg_add(v, wg_mul(h * h / 2, wg_cube(wg_add(wg_add(x[i], (i + 1) * h), 1)))));
    }
}
RES(discrete_integral) {
    UNUSED;
    const double h = 1.0 / (n + 1);
    for (int i = 0; i < n; i++) {
        const double ti = (i + 1) * h;
        wg_real a = wg_constant(0), b = wg_constant(0);
        for (int j = 0; j < n; j++) {
            const double tj = (j + 1) * h;
            const wg_real c = wg_let(t, wg_cube(wg_add(wg_add(x[j], tj), 1)));
            if (j <= i) a = wg_let(t, wg_add(a, wg_mul(tj, c)));
            else b = wg_let(t, wg_add(b, wg_mul(1 - tj, c)));
        }
        r[i] = wg_let(t, wg_add(x[i], wg_mul(h / 2, wg_add(wg_mul(1 - ti, a), wg_mul(ti, b)))));
    }
}
RES(broyden_tridiagonal) {
    UNUSED;
    for (int i = 0; i < n; i++) {
        wg_real v = wg_let(t, wg_add(wg_mul(wg_sub(3, wg_mul(2, x[i])), x[i]), 1));
        if (i > 0) v = wg_let(t, wg_sub(v, x[i - 1]));
        if (i < n - 1) v = wg_let(t, wg_sub(v, wg_mul(2, x[i + 1])));
        r[i] = v;
    }
}
RES(broyden_banded) {
    UNUSED;
    for (int i = 0; i < n; i++) {
        wg_real v = wg_let(t, wg_add(wg_mul(x[i], wg_add(2, wg_mul(5, wg_square(x[i])))), 1));
        for (int j = i < 5 ? 0 : i - 5; j <= i + 1 && j < n; j++)
            if (j != i) v = wg_let(t, wg_sub(v, wg_mul(x[j], wg_add(1, x[j]))));
        r[i] = v;
    }
}
RES(chebyquad) {
    UNUSED;
    for (int i = 0; i < m; i++) r[i] = wg_constant(0);
    for (int j = 0; j < n; j++) {
        wg_real a = wg_constant(1), b = wg_let(t, wg_sub(wg_mul(2, x[j]), 1));
        const wg_real s = wg_let(t, wg_mul(2, b));
        for (int i = 0; i < m; i++) {
            r[i] = wg_let(t, wg_add(r[i], b));
            const wg_real c = wg_let(t, wg_sub(wg_mul(s, b), a));
            a = b;
            b = c;
        }
    }
    for (int i = 0; i < m; i++) {
        const double shift = (i + 1) % 2 == 0 ? 1.0 / ((i + 1.0) * (i + 1.0) - 1) : 0;
        r[i] = wg_let(t, wg_add(wg_div(r[i], n), shift));
    }
}

/* ---- objectives with constraints ---- */

OBJ(hs26) {
    (void)t, (void)n;
    return wg_let(
        t, wg_add(wg_square(wg_sub(x[0], x[1])), wg_square(wg_square(wg_sub(x[1], x[2])))));
}
OBJ(hs71) {
    (void)t, (void)n;
    return wg_let(t,
                  wg_add(wg_mul(wg_mul(x[0], x[3]), wg_add(wg_add(x[0], x[1]), x[2])), x[2]));
}
RES(hs71_c) {
    UNUSED;
    r[0] = wg_let(t, wg_mul(wg_mul(wg_mul(x[0], x[1]), x[2]), x[3]));
    r[1] = wg_squared_norm(t, (size_t)n, x);
}
OBJ(hs78) {
    (void)t, (void)n;
    return wg_let(t, wg_mul(wg_mul(wg_mul(wg_mul(x[0], x[1]), x[2]), x[3]), x[4]));
}
RES(hs78_c) {
    UNUSED;
    r[0] = wg_let(t, wg_sub(wg_squared_norm(t, (size_t)n, x), 10));
    r[1] = wg_let(t, wg_sub(wg_mul(x[1], x[2]), wg_mul(wg_mul(5, x[3]), x[4])));
    r[2] = wg_let(t, wg_add(wg_add(wg_cube(x[0]), wg_cube(x[1])), 1));
}
OBJ(hs100) {
    (void)t, (void)n;
    const wg_real a = wg_let(
        t, wg_add(wg_add(wg_square(wg_sub(x[0], 10)), wg_mul(5, wg_square(wg_sub(x[1], 12)))),
                  wg_add(wg_pow(x[2], 4), wg_mul(3, wg_square(wg_sub(x[3], 11))))));
    const wg_real b = wg_let(t, wg_add(wg_mul(10, wg_pow(x[4], 6)),
                                       wg_add(wg_mul(7, wg_square(x[5])), wg_pow(x[6], 4))));
    const wg_real c = wg_let(
        t, wg_add(wg_mul(wg_mul(4, x[5]), x[6]), wg_add(wg_mul(10, x[5]), wg_mul(8, x[6]))));
    return wg_let(t, wg_sub(wg_add(a, b), c));
}
RES(hs100_c) {
    UNUSED;
    r[0] = wg_let(
        t, wg_sub(wg_sub(wg_sub(127, wg_mul(2, wg_square(x[0]))), wg_mul(3, wg_pow(x[1], 4))),
                  wg_add(wg_add(x[2], wg_mul(4, wg_square(x[3]))), wg_mul(5, x[4]))));
    r[1] = wg_let(t, wg_sub(wg_sub(wg_sub(282, wg_mul(7, x[0])), wg_mul(3, x[1])),
                            wg_sub(wg_add(wg_mul(10, wg_square(x[2])), x[3]), x[4])));
    r[2] = wg_let(t, wg_sub(wg_sub(wg_sub(196, wg_mul(23, x[0])), wg_square(x[1])),
                            wg_sub(wg_mul(6, wg_square(x[5])), wg_mul(8, x[6]))));
    const wg_real a = wg_let(t, wg_sub(wg_mul(wg_mul(3, x[0]), x[1]),
                                       wg_add(wg_mul(4, wg_square(x[0])), wg_square(x[1]))));
    r[3] = wg_let(t, wg_add(a, wg_sub(wg_mul(11, x[6]),
                                      wg_add(wg_mul(2, wg_square(x[2])), wg_mul(5, x[5])))));
}
OBJ(hs110) {
    (void)t;
    wg_real s = wg_constant(0);
    for (int i = 0; i < n; i++)
        s = wg_let(t, wg_add(s, wg_add(wg_square(wg_log(wg_sub(x[i], 2))),
                                       wg_square(wg_log(wg_sub(10, x[i]))))));
    return wg_let(t, wg_sub(s, wg_pow(wg_product(t, (size_t)n, x), 0.2)));
}
OBJ(hs111) {
    (void)t;
    const wg_real s = wg_logsumexp(t, (size_t)n, x);
    wg_real f = wg_constant(0);
    for (int i = 0; i < n; i++)
        f = wg_let(t,
                   wg_add(f, wg_mul(wg_exp(x[i]), wg_sub(wg_add(OPT_CHEMICAL[i], x[i]), s))));
    return f;
}
RES(hs111_c) {
    UNUSED;
    r[0] = wg_let(t, wg_sub(wg_add(wg_add(wg_add(wg_exp(x[0]), wg_mul(2, wg_exp(x[1]))),
                                          wg_mul(2, wg_exp(x[2]))),
                                   wg_add(wg_exp(x[5]), wg_exp(x[9]))),
                            2));
    r[1] = wg_let(t, wg_sub(wg_add(wg_add(wg_exp(x[3]), wg_mul(2, wg_exp(x[4]))),
                                   wg_add(wg_exp(x[5]), wg_exp(x[6]))),
                            1));
    r[2] = wg_let(
        t, wg_sub(wg_add(wg_add(wg_exp(x[2]), wg_exp(x[6])),
                         wg_add(wg_add(wg_exp(x[7]), wg_mul(2, wg_exp(x[8]))), wg_exp(x[9]))),
                  1));
}
OBJ(hs112) {
    (void)t;
    const wg_real s = wg_sum(t, (size_t)n, x);
    wg_real f = wg_constant(0);
    for (int i = 0; i < n; i++)
        f = wg_let(t,
                   wg_add(f, wg_mul(x[i], wg_add(OPT_CHEMICAL[i], wg_log(wg_div(x[i], s))))));
    return f;
}
/* out: R, Q, S of the trajectory. */
static void WG_NAME(hs99_loop)(wg_tape *t, const wg_real *x, wg_real *out) {
    (void)t;
    for (int k = 0; k < 3; k++) out[k] = wg_constant(0);
    for (int i = 1; i < 8; i++) {
        const double d = OPT_HS99_T[i] - OPT_HS99_T[i - 1], a = OPT_HS99_A[i];
        const wg_real u = wg_let(t, wg_sub(wg_mul(a, wg_sin(x[i - 1])), 32));
        out[0] = wg_let(t, wg_add(out[0], wg_mul(a * d, wg_cos(x[i - 1]))));
        out[1] = wg_let(t, wg_add(out[1], wg_add(wg_mul(d * d / 2, u), wg_mul(d, out[2]))));
        out[2] = wg_let(t, wg_add(out[2], wg_mul(d, u)));
    }
}
OBJ(hs99) {
    wg_real out[3];
    (void)n;
    WG_NAME(hs99_loop)(t, x, out);
    return wg_let(t, wg_neg(wg_square(out[0])));
}
RES(hs99_c) {
    wg_real out[3];
    UNUSED;
    WG_NAME(hs99_loop)(t, x, out);
    r[0] = wg_let(t, wg_sub(out[1], 1e5));
    r[1] = wg_let(t, wg_sub(out[2], 1e3));
}

/* ---- by number, as in opt_problems[] ---- */

static const struct {
    void (*res)(wg_tape *t, int n, int m, const wg_real *x, wg_real *r);
    wg_real (*obj)(wg_tape *t, int n, const wg_real *x);
} WG_NAME(opt_kernels)[] = {
    {WG_NAME(rosenbrock), NULL},
    {WG_NAME(freudenstein_roth), NULL},
    {WG_NAME(powell_badly_scaled), NULL},
    {WG_NAME(brown_badly_scaled), NULL},
    {WG_NAME(beale), NULL},
    {WG_NAME(jennrich_sampson), NULL},
    {WG_NAME(helical_valley), NULL},
    {WG_NAME(bard), NULL},
    {WG_NAME(gaussian), NULL},
    {WG_NAME(meyer), NULL},
    {WG_NAME(gulf_research), NULL},
    {WG_NAME(box3d), NULL},
    {WG_NAME(ext_powell), NULL},
    {WG_NAME(wood), NULL},
    {WG_NAME(kowalik_osborne), NULL},
    {WG_NAME(brown_dennis), NULL},
    {WG_NAME(osborne1), NULL},
    {WG_NAME(biggs_exp6), NULL},
    {WG_NAME(osborne2), NULL},
    {WG_NAME(watson), NULL},
    {WG_NAME(watson), NULL},
    {WG_NAME(ext_rosenbrock), NULL},
    {WG_NAME(ext_powell), NULL},
    {WG_NAME(penalty1), NULL},
    {WG_NAME(penalty2), NULL},
    {WG_NAME(variably_dimensioned), NULL},
    {WG_NAME(trigonometric), NULL},
    {WG_NAME(brown_almost_linear), NULL},
    {WG_NAME(discrete_boundary), NULL},
    {WG_NAME(discrete_integral), NULL},
    {WG_NAME(broyden_tridiagonal), NULL},
    {WG_NAME(broyden_banded), NULL},
    {WG_NAME(chebyquad), NULL},
    {NULL, WG_NAME(hs26)},
    {WG_NAME(hs71_c), WG_NAME(hs71)},
    {WG_NAME(hs78_c), WG_NAME(hs78)},
    {WG_NAME(hs100_c), WG_NAME(hs100)},
    {NULL, WG_NAME(hs110)},
    {WG_NAME(hs111_c), WG_NAME(hs111)},
    {NULL, WG_NAME(hs112)},
    {WG_NAME(hs99_c), WG_NAME(hs99)},
};

void WG_NAME(opt_problem)(wg_tape *t, int number, int n, int m, const wg_real *x, wg_real *f,
                          wg_real *r) {
    if (WG_NAME(opt_kernels)[number].res != NULL && r != NULL)
        WG_NAME(opt_kernels)[number].res(t, n, m, x, r);
    if (f == NULL) return;
    if (WG_NAME(opt_kernels)[number].obj != NULL)
        *f = WG_NAME(opt_kernels)[number].obj(t, n, x);
    else *f = wg_squared_norm(t, (size_t)m, r);
}

#undef RES
#undef OBJ
#undef UNUSED
