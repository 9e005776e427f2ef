/* SPDX-License-Identifier: MIT */
/* second_kernel.h - the functions of test/data/second_order.txt over taped variables or duals;
 * see wengert/generic.h. data: the `data` arrays of the case, one after the other. */
#include <wengert/generic.h>

/* sum 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2 */
static wg_real WG_NAME(rosenbrock)(wg_tape *t, size_t n, const wg_real *x, const double *data) {
    wg_real f = wg_constant(0);
    (void)t, (void)data;
    for (size_t i = 0; i + 1 < n; i++)
        f = wg_let(t,
                   wg_add(f, wg_add(wg_mul(100, wg_square(wg_sub(x[i + 1], wg_square(x[i])))),
                                    wg_square(wg_sub(1, x[i])))));
    return f;
}

static wg_real WG_NAME(speelpenning)(wg_tape *t, size_t n, const wg_real *x,
                                     const double *data) {
    wg_real f = x[0];
    (void)t, (void)data;
    for (size_t i = 1; i < n; i++) f = wg_let(t, wg_mul(f, x[i]));
    return f;
}

static wg_real WG_NAME(speelpenning_array)(wg_tape *t, size_t n, const wg_real *x,
                                           const double *data) {
    (void)t, (void)data;
    return wg_product(t, n, x);
}

/* Helmholtz energy of a mixture; s = b'x, A[i][j] = 1 / (i + j + 1). */
static wg_real WG_NAME(helmholtz)(wg_tape *t, size_t n, const wg_real *x, const double *data) {
    const double root2 = 1.41421356237309504880;
    wg_real s = wg_linear(t, n, data, x), entropy = wg_constant(0), xax = wg_constant(0);
    (void)t;
    for (size_t i = 0; i < n; i++) {
        wg_real row = wg_constant(0);
        for (size_t j = 0; j < n; j++)
            row = wg_let(t, wg_add(row, wg_div(x[j], (double)(i + j + 1))));
        xax = wg_let(t, wg_fma(x[i], row, xax));
        entropy = wg_let(t, wg_add(entropy, wg_mul(x[i], wg_log(wg_div(x[i], wg_sub(1, s))))));
    }
    return wg_let(t, wg_sub(entropy, wg_mul(wg_div(xax, wg_mul(sqrt(8.0), s)),
                                            wg_log(wg_div(wg_add(1, wg_mul(1 + root2, s)),
                                                          wg_add(1, wg_mul(1 - root2, s)))))));
}

/* A network of 2 inputs, 3 hidden units, 1 output; data: 5 points, then 5 targets. */
static wg_real WG_NAME(mlp)(wg_tape *t, size_t n, const wg_real *x, const double *data) {
    wg_real loss = wg_constant(0);
    (void)t, (void)n;
    for (size_t i = 0; i < 5; i++) {
        wg_real out = x[12];
        for (size_t k = 0; k < 3; k++)
            out = wg_let(
                t,
                wg_add(out, wg_mul(x[9 + k],
                                   wg_tanh(wg_add(wg_add(wg_mul(x[2 * k], data[2 * i]),
                                                         wg_mul(x[2 * k + 1], data[2 * i + 1])),
                                                  x[6 + k])))));
        loss = wg_let(t, wg_add(loss, wg_square(wg_sub(out, data[10 + i]))));
    }
    return wg_let(t, wg_div(loss, 5));
}

/* 25 steps of Runge-Kutta 4 of a damped pendulum. */
static wg_real WG_NAME(pendulum)(wg_tape *t, size_t n, const wg_real *x, const double *data) {
    const double step = 0.08;
    wg_real angle = x[0], speed = x[1];
    (void)t, (void)n, (void)data;
    for (int i = 0; i < 25; i++) {
        wg_real ka[4], ks[4];
        for (int k = 0; k < 4; k++) {
            const double h = k == 0 ? 0 : k == 3 ? step : step / 2;
            wg_real a = angle, s = speed;
            if (k != 0) {
                a = wg_let(t, wg_add(angle, wg_mul(h, ka[k - 1])));
                s = wg_let(t, wg_add(speed, wg_mul(h, ks[k - 1])));
            }
            ka[k] = s;
            ks[k] = wg_let(t, wg_sub(wg_neg(wg_mul(x[2], wg_sin(a))), wg_mul(0.1, s)));
        }
        angle =
            wg_let(t, wg_add(angle, wg_mul(step / 6, wg_add(wg_add(ka[0], wg_mul(2, ka[1])),
                                                            wg_add(wg_mul(2, ka[2]), ka[3])))));
        speed =
            wg_let(t, wg_add(speed, wg_mul(step / 6, wg_add(wg_add(ks[0], wg_mul(2, ks[1])),
                                                            wg_add(wg_mul(2, ks[2]), ks[3])))));
    }
    return wg_let(t, wg_add(wg_square(angle), wg_mul(0.5, wg_square(speed))));
}

/* Negative log likelihood of a Gaussian process, by a Cholesky factor of its own; data: 5
 * points, then 5 observations. */
static wg_real WG_NAME(gp)(wg_tape *t, size_t n, const wg_real *x, const double *data) {
    enum { M = 5 };
    wg_real l[M][M], z[M], f = wg_constant(0);
    (void)t, (void)n;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j <= i; j++) {
            const double d = data[i] - data[j];
            wg_real k =
                wg_let(t, wg_mul(wg_exp(wg_mul(2, x[1])),
                                 wg_exp(wg_div(-d * d, wg_mul(2, wg_exp(wg_mul(2, x[0])))))));
            if (i == j) k = wg_let(t, wg_add(k, wg_exp(wg_mul(2, x[2]))));
            for (size_t p = 0; p < j; p++) k = wg_let(t, wg_sub(k, wg_mul(l[i][p], l[j][p])));
            if (i == j) l[i][j] = wg_let(t, wg_sqrt(k));
            else l[i][j] = wg_let(t, wg_div(k, l[j][j]));
        }
    for (size_t i = 0; i < M; i++) {
        z[i] = wg_constant(data[M + i]);
        for (size_t p = 0; p < i; p++) z[i] = wg_let(t, wg_sub(z[i], wg_mul(l[i][p], z[p])));
        z[i] = wg_let(t, wg_div(z[i], l[i][i]));
        f = wg_let(t, wg_add(f, wg_add(wg_mul(0.5, wg_square(z[i])), wg_log(l[i][i]))));
    }
    return f;
}

static wg_real WG_NAME(spherical)(wg_tape *t, size_t n, const wg_real *x, const double *data) {
    (void)t, (void)n, (void)data;
    const wg_real a = wg_let(t, wg_mul(wg_mul(x[0], wg_sin(x[2])), wg_cos(x[1])));
    const wg_real b = wg_let(t, wg_mul(wg_mul(x[0], wg_sin(x[2])), wg_sin(x[1])));
    return wg_let(t, wg_add(wg_cube(a), wg_mul(wg_exp(wg_mul(x[0], wg_cos(x[2]))), b)));
}

static wg_real WG_NAME(bilinear)(wg_tape *t, size_t n, const wg_real *x, const double *data) {
    (void)t, (void)data;
    return wg_dot(t, n / 2, x, x + n / 2);
}
