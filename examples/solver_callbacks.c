/* SPDX-License-Identifier: MIT */
/* What solvers ask for, in the words of their headers: Ipopt, NLopt, GSL, SUNDIALS, cminpack,
 * L-BFGS. Each callback is a few lines over the same recordings. None of the solvers is needed
 * here: their types are written out, and every callback is called as its solver would, at
 * points whose derivatives are known by hand. PETSc's callbacks (TAO, SNES, TS) have the same
 * shapes over the arrays of its vectors.
 *
 * Each is told of a failure in its own way: false, NaN, a number of either sign. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

/* ---- a problem of Hock and Schittkowski (71) ---------------------------------------------
 * minimise x0 x3 (x0 + x1 + x2) + x2 where x0 x1 x2 x3 >= 25 and the squares of all add up to
 * 40. */

enum { N = 4, M = 2 };

static wg_status objective(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] =
        wg_let(t, wg_add(wg_mul(wg_mul(x[0], x[3]), wg_add(wg_add(x[0], x[1]), x[2])), x[2]));
    return WG_OK;
}

static wg_status constraints(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)m, (void)data;
    y[0] = wg_product(t, n, x);
    y[1] = wg_squared_norm(t, n, x);
    return WG_OK;
}

/* Objective and constraints: also the residuals of those who fit. */
static wg_status all(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *data) {
    const wg_status s = objective(t, n, x, 1, y, data);
    return s == WG_OK ? constraints(t, n, x, m - 1, y + 1, data) : s;
}

/* What a solver is given as its user data. */
struct problem {
    wg_tape *tape;
    wg_sparsity *jacobian, *hessian; /* of the constraints, of all: a lower triangle */
    wg_function *taylor;
    void *work;
};

/* ---- Ipopt: IpStdCInterface.h --------------------------------------------------------------
 */

static bool eval_f(int n, double *x, bool new_x, double *value, void *data) {
    const struct problem *p = data;
    (void)new_x;
    return wg_gradient(p->tape, objective, NULL, (size_t)n, x, value, NULL) == WG_OK;
}

static bool eval_grad_f(int n, double *x, bool new_x, double *g, void *data) {
    const struct problem *p = data;
    (void)new_x;
    return wg_gradient(p->tape, objective, NULL, (size_t)n, x, NULL, g) == WG_OK;
}

static bool eval_g(int n, double *x, bool new_x, int m, double *g, void *data) {
    const struct problem *p = data;
    (void)new_x;
    return wg_eval(p->tape, constraints, NULL, (size_t)n, x, (size_t)m, g) == WG_OK;
}

static void copy_places(const wg_sparsity *s, int *row, int *col) {
    const wg_pattern *const at = wg_sparsity_pattern(s);
    for (size_t k = 0; k < at->entries; k++) row[k] = (int)at->row[k], col[k] = (int)at->col[k];
}

/* Values NULL: where they will stand. */
static bool eval_jac_g(int n, double *x, bool new_x, int m, int entries, int *row, int *col,
                       double *values, void *data) {
    const struct problem *p = data;
    (void)n, (void)new_x, (void)m, (void)entries;
    if (values == NULL) {
        copy_places(p->jacobian, row, col);
        return true;
    }
    return wg_sparse_jacobian(p->tape, p->jacobian, constraints, NULL, x, NULL, values) ==
           WG_OK;
}

/* The Hessian of factor f + lambda g, entries that are always 0 left out. */
static bool eval_h(int n, double *x, bool new_x, double factor, int m, double *lambda,
                   bool new_lambda, int entries, int *row, int *col, double *values,
                   void *data) {
    const struct problem *p = data;
    double w[1 + M] = {factor};
    (void)n, (void)new_x, (void)new_lambda, (void)entries;
    if (values == NULL) {
        copy_places(p->hessian, row, col);
        return true;
    }
    memcpy(w + 1, lambda, (size_t)m * sizeof *w);
    return wg_sparse_hessian(p->tape, p->hessian, all, NULL, x, w, NULL, NULL, values) == WG_OK;
}

/* ---- NLopt: nlopt.h ------------------------------------------------------------------------
 */

static double nlopt_objective(unsigned n, const double *x, double *gradient, void *data) {
    const struct problem *p = data;
    double value;
    return wg_gradient(p->tape, objective, NULL, n, x, &value, gradient) == WG_OK ? value : NAN;
}

static void nlopt_constraints(unsigned m, double *result, unsigned n, const double *x,
                              double *gradient, void *data) {
    const struct problem *p = data;
    const wg_status s = gradient == NULL ? wg_eval(p->tape, constraints, NULL, n, x, m, result)
                                         : wg_jacobian(p->tape, constraints, NULL, n, x, m,
                                                       result, WG_ROW_MAJOR, gradient, n);
    for (unsigned j = 0; j < m && s != WG_OK; j++) result[j] = NAN;
}

/* A Hessian times a vector. */
static void nlopt_precondition(unsigned n, const double *x, const double *v, double *hv,
                               void *data) {
    const struct problem *p = data;
    if (wg_hvp(p->tape, objective, NULL, n, x, v, NULL, NULL, hv) != WG_OK)
        memcpy(hv, v, n * sizeof *hv);
}

/* ---- libLBFGS: lbfgs.h ---------------------------------------------------------------------
 */

static double lbfgs_evaluate(void *data, const double *x, double *g, const int n,
                             const double step) {
    (void)step;
    return nlopt_objective((unsigned)n, x, g, data);
}

/* ---- cminpack: cminpack.h ------------------------------------------------------------------
 */

static int lmder(void *data, int m, int n, const double *x, double *f, double *jac, int ld,
                 int flag) {
    const struct problem *p = data;
    const wg_status s = flag == 1 ? wg_eval(p->tape, all, NULL, (size_t)n, x, (size_t)m, f)
                                  : wg_jacobian(p->tape, all, NULL, (size_t)n, x, (size_t)m,
                                                NULL, WG_COL_MAJOR, jac, (size_t)ld);
    return s == WG_OK ? 0 : -1;
}

/* A row at a time: flag 2 is the first. */
static int lmstr(void *data, int m, int n, const double *x, double *f, double *row, int flag) {
    const struct problem *p = data;
    double w[1 + M] = {0};
    if (flag == 1) return lmder(data, m, n, x, f, NULL, 0, 1);
    w[flag - 2] = 1;
    return wg_vjp(p->tape, all, NULL, (size_t)n, x, (size_t)m, w, NULL, row) == WG_OK ? 0 : -1;
}

/* ---- GSL: gsl_multifit_nlinear.h; vectors and matrices without their headers ---------------
 */

typedef struct {
    size_t size;
    double *data;
} vector;
typedef struct {
    size_t size1, size2, tda; /* rows, columns, from one row to the next */
    double *data;
} matrix;

static int gsl_df(const vector *x, void *data, matrix *jac) {
    const struct problem *p = data;
    const wg_status s = wg_jacobian(p->tape, all, NULL, x->size, x->data, jac->size1, NULL,
                                    WG_ROW_MAJOR, jac->data, jac->tda);
    return s == WG_OK ? 0 : -1;
}

/* The second derivative along v: twice the coefficient of s^2 in f(x + s v). */
static int gsl_fvv(const vector *x, const vector *v, void *data, vector *fvv) {
    const struct problem *p = data;
    double c[3 * (1 + M)];
    const wg_points at[] = {{x->data, 0, 1}, {v->data, 0, 1}};
    const wg_results to = {c, 0, 1};
    if (wg_function_evaluate(p->taylor, 1, at, &to, NULL, p->work, NULL) != WG_OK) return -1;
    for (size_t j = 0; j < fvv->size; j++) fvv->data[j] = 2 * c[2 * fvv->size + j];
    return 0;
}

/* ---- ordinary differential equations: y0' = k y1, y1' = t^2 - k y0 -------------------------
 */

enum { EQUATIONS = 2 };

/* in: t, y0, y1, k */
static wg_status right_side(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[3], x[2]));
    y[1] = wg_let(t, wg_sub(wg_mul(x[0], x[0]), wg_mul(x[3], x[1])));
    return WG_OK;
}

struct flow {
    wg_tape *tape;
    double k;
};

/* GSL, gsl_odeiv2.h: df/dy row by row, and df/dt. */
static int odeiv_jacobian(double time, const double *y, double *dfdy, double *dfdt,
                          void *data) {
    const struct flow *f = data;
    const size_t size[] = {1, EQUATIONS, 1}, ld[] = {1, EQUATIONS, 1};
    const double *const x[] = {&time, y, &f->k};
    double *const jac[] = {dfdt, dfdy, NULL}; /* nobody asked for df/dk */
    const wg_status s = wg_jacobian_groups(f->tape, right_side, NULL, 3, size, x, EQUATIONS,
                                           NULL, WG_ROW_MAJOR, jac, ld);
    return s == WG_OK ? 0 : -1;
}

/* SUNDIALS: 0; positive where a shorter step may help, as after a NaN; negative. */
static int sundials(wg_status s, size_t n, const double *result) {
    for (size_t i = 0; s == WG_OK && i < n; i++)
        if (!isfinite(result[i])) s = WG_ENONFINITE;
    return s == WG_OK ? 0 : s == WG_ENONFINITE || s == WG_ESINGULAR ? 1 : -1;
}

/* CVODES, CVLsJacFn: J column by column, as SUNDenseMatrix has it. */
static int cvode_jacobian(double time, const double *y, double *jac, void *data) {
    const struct flow *f = data;
    const size_t size[] = {1, EQUATIONS, 1}, ld[] = {EQUATIONS, EQUATIONS, EQUATIONS};
    const double *const x[] = {&time, y, &f->k};
    double *const blocks[] = {NULL, jac, NULL};
    const wg_status s = wg_jacobian_groups(f->tape, right_side, NULL, 3, size, x, EQUATIONS,
                                           NULL, WG_COL_MAJOR, blocks, ld);
    return sundials(s, EQUATIONS * EQUATIONS, jac);
}

/* CVLsJacTimesVecFn. */
static int cvode_times(const double *v, double *jv, double time, const double *y, void *data) {
    const struct flow *f = data;
    const double x[] = {time, y[0], y[1], f->k}, xt[] = {0, v[0], v[1], 0};
    return sundials(wg_jvp(f->tape, right_side, NULL, 4, x, xt, EQUATIONS, NULL, jv), EQUATIONS,
                    jv);
}

/* CVSensRhs1Fn: the derivative of y' by k where that of y is s. */
static int cvode_sensitivity(double time, const double *y, const double *s, double *st,
                             void *data) {
    const struct flow *f = data;
    const double x[] = {time, y[0], y[1], f->k}, xt[] = {0, s[0], s[1], 1};
    return sundials(wg_jvp(f->tape, right_side, NULL, 4, x, xt, EQUATIONS, NULL, st), EQUATIONS,
                    st);
}

/* CVRhsFnB and CVQuadRhsFnB: -J' w, and w df/dk, in one sweep. */
static int cvode_backward(double time, const double *y, const double *w, double *wt, double *q,
                          void *data) {
    const struct flow *f = data;
    const double x[] = {time, y[0], y[1], f->k};
    double g[4];
    const wg_status s = wg_vjp(f->tape, right_side, NULL, 4, x, EQUATIONS, w, NULL, g);
    if (s == WG_OK) wt[0] = -g[1], wt[1] = -g[2], *q = g[3];
    return sundials(s, 4, g);
}

/* IDA, IDALsJacFn: dF/dy + c dF/dy' of F(t, y, y') = y' - f(t, y). */
static int ida_jacobian(double time, double c, const double *y, double *jac, void *data) {
    const int s = cvode_jacobian(time, y, jac, data);
    for (size_t i = 0; i < EQUATIONS * EQUATIONS; i++) jac[i] = -jac[i];
    for (size_t i = 0; i < EQUATIONS; i++) jac[i + i * EQUATIONS] += c;
    return s;
}

/* ---- as the solvers call them --------------------------------------------------------------
 */

static int wrong;
static void expect(const char *who, size_t n, const double *got, const double *want) {
    int differ = 0;
    for (size_t i = 0; i < n; i++) differ |= !(fabs(got[i] - want[i]) <= 1e-12);
    printf("%-34s %s\n", who, differ ? "WRONG" : "as by hand");
    wrong |= differ;
}

/* The patterns, which Ipopt wants first, and the function of those who want series. */
static wg_status prepare(struct problem *p, const double *x) {
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1 + M, 1, 0};
    wg_function *f = NULL;
    wg_status s =
        wg_jacobian_sparsity(p->tape, constraints, NULL, N, x, M, WG_ROW_MAJOR, &p->jacobian);
    if (s == WG_OK)
        s = wg_hessian_sparsity(p->tape, all, NULL, N, x, 1 + M, 'L', WG_COL_MAJOR,
                                &p->hessian);
    if (s == WG_OK) s = wg_function_record(p->tape, all, NULL, 1, &in, x, 1, &out, &f);
    if (s == WG_OK) s = wg_function_taylor(p->tape, f, 2, &p->taylor);
    wg_function_free(f);
    if (s != WG_OK) return s;
    p->work = malloc(wg_function_work(p->taylor, NULL));
    return p->work != NULL ? WG_OK : WG_ENOMEM;
}

static void optimisation(struct problem *p) {
    double x[] = {1, 5, 4, 2}, v[] = {1, 0, 0, 0}, f, g[N], y[1 + M], jac[N * 6], h[N * N];
    double lambda[] = {1, 10};
    int row[N * N], col[N * N];
    const int entries = (int)wg_sparsity_pattern(p->hessian)->entries;
    const double gradient[] = {22, 2, 3, 10}, value = 24;
    const double at[] = {40, 46}, rows[] = {40, 8, 10, 20, 2, 10, 8, 4};
    /* factor 1, the lower triangle column by column; all 10 of it are there */
    const double lagrangian[] = {24, 10, 12, 31, 20, 2, 5, 20, 6, 20};

    bool well = eval_f(N, x, true, &f, p) && eval_grad_f(N, x, false, g, p);
    well = well && eval_g(N, x, false, M, y, p) &&
           eval_jac_g(N, x, false, M, N * M, row, col, NULL, p) &&
           eval_jac_g(N, x, false, M, N * M, NULL, NULL, jac, p) &&
           eval_h(N, x, false, 1, M, lambda, true, entries, row, col, NULL, p) &&
           eval_h(N, x, false, 1, M, lambda, true, entries, NULL, NULL, h, p);
    wrong |= !well || entries != 10;
    expect("Ipopt eval_f", 1, &f, &value);
    expect("Ipopt eval_grad_f", N, g, gradient);
    expect("Ipopt eval_g", M, y, at);
    expect("Ipopt eval_jac_g", N * M, jac, rows);
    expect("Ipopt eval_h", 10, h, lagrangian);

    f = nlopt_objective(N, x, NULL, p);
    expect("NLopt nlopt_func without gradient", 1, &f, &value);
    f = nlopt_objective(N, x, g, p);
    expect("NLopt nlopt_func", N, g, gradient);
    nlopt_constraints(M, y, N, x, jac, p);
    expect("NLopt nlopt_mfunc", N * M, jac, rows);
    nlopt_precondition(N, x, v, g, p);
    expect("NLopt nlopt_precond", N, g, (const double[]){4, 2, 2, 11});
    f = lbfgs_evaluate(p, x, g, N, 1);
    expect("libLBFGS lbfgs_evaluate_t", N, g, gradient);

    enum { LD = 5 };
    wrong |= lmder(p, 1 + M, N, x, y, jac, LD, 1) != 0;
    expect("cminpack lmder, values", 1 + M, y, (const double[]){24, 40, 46});
    wrong |= lmder(p, 1 + M, N, x, y, jac, LD, 2) != 0;
    expect("cminpack lmder, first column", 1 + M, jac, (const double[]){22, 40, 2});
    wrong |= lmstr(p, 1 + M, N, x, y, g, 3) != 0;
    expect("cminpack lmstr, second row", N, g, rows);

    double fvv[1 + M];
    matrix j = {1 + M, N, 6, jac};
    wrong |= gsl_df(&(vector){N, x}, p, &j) != 0;
    expect("GSL df, second row", N, jac + j.tda, rows);
    wrong |= gsl_fvv(&(vector){N, x}, &(vector){N, v}, p, &(vector){1 + M, fvv}) != 0;
    expect("GSL fvv", 1 + M, fvv, (const double[]){4, 0, 2});
}

static void integration(wg_tape *t) {
    struct flow f = {t, 2};
    const double time = 3, y[] = {1, 2}, ones[] = {1, 1};
    double dfdy[4], dfdt[2], v[2], q;
    wrong |= odeiv_jacobian(time, y, dfdy, dfdt, &f) != 0;
    expect("GSL odeiv2 jacobian", 4, dfdy, (const double[]){0, 2, -2, 0});
    expect("GSL odeiv2 jacobian, by time", 2, dfdt, (const double[]){0, 6});
    wrong |= cvode_jacobian(time, y, dfdy, &f) != 0;
    expect("SUNDIALS CVLsJacFn", 4, dfdy, (const double[]){0, -2, 2, 0});
    wrong |= cvode_times(ones, v, time, y, &f) != 0;
    expect("SUNDIALS CVLsJacTimesVecFn", 2, v, (const double[]){2, -2});
    wrong |=
        cvode_times((const double[]){NAN, 1}, v, time, y, &f) <= 0; /* may be tried again */
    wrong |= cvode_sensitivity(time, y, ones, v, &f) != 0;
    expect("SUNDIALS CVSensRhs1Fn", 2, v, (const double[]){4, -3});
    wrong |= cvode_backward(time, y, ones, v, &q, &f) != 0;
    expect("SUNDIALS CVRhsFnB", 2, v, (const double[]){2, -2});
    expect("SUNDIALS CVQuadRhsFnB", 1, &q, (const double[]){1});
    wrong |= ida_jacobian(time, 10, y, dfdy, &f) != 0;
    expect("SUNDIALS IDALsJacFn", 4, dfdy, (const double[]){10, 2, -2, 10});
}

int main(void) {
    const wg_options keep = {.flags = WG_KEEP_CODE};
    const double x[N] = {1, 5, 5, 1};
    struct problem p = {.tape = wg_tape_new(&keep)};
    if (p.tape == NULL) return EXIT_FAILURE;
    if (prepare(&p, x) == WG_OK) {
        optimisation(&p);
        integration(p.tape);
    } else {
        fprintf(stderr, "%s\n", wg_tape_message(p.tape));
        wrong = 1;
    }
    free(p.work);
    wg_sparsity_free(p.jacobian), wg_sparsity_free(p.hessian);
    wg_function_free(p.taylor);
    wg_tape_free(p.tape);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
