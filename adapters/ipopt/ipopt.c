/* SPDX-License-Identifier: MIT */
/* ipopt.c - Ipopt's callbacks over three problems: the objective, the constraints, and both as
 * outputs of one, which has the Hessian of the Lagrangian.
 *
 * Ipopt's numbers are double and its indices int, in all versions (unless 3.14 was built
 * otherwise, which the compiler then says); their names are not the same in all. Ipopt says
 * with new_x when it has moved. What has been computed at a point is kept until then: it may
 * ask twice. */
#include "wengert/ipopt.h"
#include <wengert/derive.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What is known at the present point. */
enum { VALUE = 1, GRADIENT = 2, CONSTRAINTS = 4, JACOBIAN = 8 };

struct wg_ipopt {
    size_t n, m;
    wg_callback *objective_callback, *constraints_callback, *callback;
    wg_real *outputs; /* of the callback: 1 + m */
    void *data;
    wg_function *objective_function, *constraints_function; /* of a given function */
    wg_problem *objective, *constraints, *both;
    const wg_pattern *jacobian, *hessian;
    IpoptProblem handle;
    unsigned known;
    double value, *gradient, *constraint, *entries; /* what is known */
    double *weights;                                /* 1 + m */
    wg_problem *failed;                             /* which of the three failed last */
    wg_status status;                               /* of none of them */
    const char *message;
};

/* ---- failures ---- */

static wg_status refuse(wg_ipopt *s, wg_status status, const char *message) {
    s->status = status;
    s->message = message;
    return status;
}

/* As Ipopt wants it; the failure is kept, as a problem keeps it. */
static Bool well(wg_ipopt *s, wg_problem *p, wg_status status) {
    if (status == WG_OK) return TRUE;
    if (status == WG_ENONFINITE && s->status != WG_OK && s->status != status) return FALSE;
    s->failed = p;
    s->status = status;
    return FALSE;
}

wg_status wg_ipopt_status(const wg_ipopt *s) { return s == NULL ? WG_ENOMEM : s->status; }
const char *wg_ipopt_message(const wg_ipopt *s) {
    if (s == NULL) return "out of memory";
    return s->failed != NULL ? wg_problem_message(s->failed) : s->message;
}
void *wg_ipopt_data(const wg_ipopt *s) { return s == NULL ? NULL : s->data; }
IpoptProblem wg_ipopt_handle(const wg_ipopt *s) { return s == NULL ? NULL : s->handle; }

/* ---- what Ipopt calls -------------------------------------------------------------------- */

/* Is it to be computed? */
static int unknown(wg_ipopt *s, Bool new_x, unsigned what) {
    if (new_x) s->known = 0;
    return !(s->known & what);
}

static Bool eval_f(int n, double *x, Bool new_x, double *value, UserDataPtr data) {
    wg_ipopt *const s = data;
    (void)n;
    if (unknown(s, new_x, VALUE)) {
        if (!well(s, s->objective, wg_problem_value(s->objective, x, &s->value))) return FALSE;
        s->known |= VALUE;
    }
    *value = s->value;
    return TRUE;
}

static Bool eval_grad_f(int n, double *x, Bool new_x, double *g, UserDataPtr data) {
    wg_ipopt *const s = data;
    if (unknown(s, new_x, GRADIENT)) {
        if (!well(s, s->objective,
                  wg_problem_gradient(s->objective, x, &s->value, s->gradient)))
            return FALSE;
        s->known |= VALUE | GRADIENT;
    }
    memcpy(g, s->gradient, (size_t)n * sizeof *g);
    return TRUE;
}

static Bool eval_g(int n, double *x, Bool new_x, int m, double *g, UserDataPtr data) {
    wg_ipopt *const s = data;
    (void)n;
    if (unknown(s, new_x, CONSTRAINTS) && m != 0) {
        if (!well(s, s->constraints, wg_problem_value(s->constraints, x, s->constraint)))
            return FALSE;
        s->known |= CONSTRAINTS;
    }
    if (m != 0) memcpy(g, s->constraint, (size_t)m * sizeof *g);
    return TRUE;
}

static void copy_places(const wg_pattern *at, int *row, int *col) {
    for (size_t k = 0; k < at->entries; k++) row[k] = (int)at->row[k], col[k] = (int)at->col[k];
}

/* Values NULL: where they will stand. */
static Bool eval_jac_g(int n, double *x, Bool new_x, int m, int entries, int *row, int *col,
                       double *values, UserDataPtr data) {
    wg_ipopt *const s = data;
    (void)n;
    if (m != 0 && values == NULL) {
        copy_places(s->jacobian, row, col);
        return TRUE;
    }
    if (unknown(s, new_x, JACOBIAN) && m != 0) {
        if (!well(s, s->constraints,
                  wg_problem_sparse_jacobian(s->constraints, x, NULL, s->entries)))
            return FALSE;
        s->known |= JACOBIAN;
    }
    if (m != 0) memcpy(values, s->entries, (size_t)entries * sizeof *values);
    return TRUE;
}

/* The Hessian of factor f + lambda g. */
static Bool eval_h(int n, double *x, Bool new_x, double factor, int m, double *lambda,
                   Bool new_lambda, int entries, int *row, int *col, double *values,
                   UserDataPtr data) {
    wg_ipopt *const s = data;
    (void)n, (void)new_lambda, (void)entries;
    if (values == NULL) {
        copy_places(s->hessian, row, col);
        return TRUE;
    }
    if (new_x) s->known = 0;
    s->weights[0] = factor;
    if (m != 0) memcpy(s->weights + 1, lambda, (size_t)m * sizeof *lambda);
    return well(s, s->both, wg_problem_sparse_hessian(s->both, x, s->weights, values));
}

/* ---- life -------------------------------------------------------------------------------- */

static wg_status both(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const wg_ipopt *const s = data;
    const wg_status status = s->objective_callback(t, n, x, 1, y, s->data);
    return status != WG_OK || m == 1 ? status
                                     : s->constraints_callback(t, n, x, m - 1, y + 1, s->data);
}

/* Some outputs of a callback that has all, from `first` on; none is written yet, as y is
 * not. */
static wg_status outputs(wg_tape *t, size_t n, const wg_real *x, size_t first, size_t m,
                         wg_real *y, wg_ipopt *s) {
    for (size_t j = 0; j <= s->m; j++) s->outputs[j] = y[0];
    const wg_status status = s->callback(t, n, x, 1 + s->m, s->outputs, s->data);
    memcpy(y, s->outputs + first, m * sizeof *y);
    return status;
}
static wg_status its_objective(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    return outputs(t, n, x, 0, m, y, data);
}
static wg_status its_constraints(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    return outputs(t, n, x, 1, m, y, data);
}

/* Objective and constraints of a given function, apart. */
static wg_status take_apart(wg_ipopt *s, const wg_function *f) {
    const char *name[16];
    const size_t outputs = wg_function_outputs(f);
    const wg_argument *const first = wg_function_output(f, 0);
    if (outputs > sizeof name / sizeof *name || first == NULL || first->rows * first->cols != 1)
        return refuse(s, WG_ESHAPE,
                      "wg_ipopt_new: the function's outputs are not an objective of "
                      "one entry and constraints");
    wg_tape *const t = wg_tape_new(NULL);
    if (t == NULL) return refuse(s, WG_ENOMEM, "out of memory");
    for (size_t k = 0; k < outputs; k++) name[k] = wg_function_output(f, k)->name;
    wg_status status = wg_function_select(t, f, 1, name, &s->objective_function);
    if (status == WG_OK && outputs > 1)
        status = wg_function_select(t, f, outputs - 1, name + 1, &s->constraints_function);
    wg_tape_free(t);
    return status == WG_OK ? WG_OK : refuse(s, status, wg_status_text(status));
}

static int make(wg_ipopt *s, const wg_ipopt_problem *p, wg_problem **out, size_t m,
                wg_callback *callback, void *data, const wg_function *function) {
    const wg_computation c = {.n = p->n,
                              .m = m,
                              .callback = function == NULL ? callback : NULL,
                              .data = data,
                              .function = function,
                              .x = p->start,
                              .flags = p->flags,
                              .parameters = p->parameters,
                              .parameter = p->parameter};
    *out = wg_problem_new(&c);
    return well(s, *out, wg_problem_status(*out));
}

static wg_status make_problems(wg_ipopt *s, const wg_ipopt_problem *p) {
    const int one = p->callback != NULL;
    if (p->function != NULL && take_apart(s, p->function) != WG_OK) return s->status;
    if (!make(s, p, &s->objective, 1, one ? its_objective : p->objective, one ? s : p->data,
              s->objective_function) ||
        !make(s, p, &s->both, 1 + p->m, one ? p->callback : both, one ? p->data : s,
              p->function) ||
        !well(s, s->both, wg_problem_hessian_pattern(s->both, p->start, &s->hessian)))
        return s->status;
    if (p->m != 0 && make(s, p, &s->constraints, p->m, one ? its_constraints : p->constraints,
                          one ? s : p->data, s->constraints_function))
        well(s, s->constraints,
             wg_problem_jacobian_pattern(s->constraints, 0, p->start, WG_ROW_MAJOR,
                                         &s->jacobian));
    return s->status;
}

/* A copy of v, or of so many times `without`. Ipopt takes arrays that are not const. */
static double *copied(const double *v, size_t n, double without) {
    double *const to = malloc((n + 1) * sizeof *to);
    for (size_t i = 0; i < n && to != NULL; i++) to[i] = v != NULL ? v[i] : without;
    return to;
}

static wg_status scale(wg_ipopt *s, const wg_ipopt_problem *p) {
    if (p->objective_scaling == 0 && p->scaling == NULL && p->constraint_scaling == NULL)
        return WG_OK;
    char option[] = "nlp_scaling_method", method[] = "user-scaling";
    double *const x = copied(p->scaling, p->n, 1), *const g =
                                                       copied(p->constraint_scaling, p->m, 1);
    const double f = p->objective_scaling == 0 ? 1 : p->objective_scaling;
    const int fine = x != NULL && g != NULL && SetIpoptProblemScaling(s->handle, f, x, g) &&
                     AddIpoptStrOption(s->handle, option, method);
    free(x), free(g);
    return fine ? WG_OK : refuse(s, WG_EARG, "wg_ipopt_new: Ipopt takes no such scaling");
}

static wg_status make_handle(wg_ipopt *s, const wg_ipopt_problem *p) {
    const double none = 1e20; /* beyond nlp_upper_bound_inf */
    double *const xl = copied(p->lower, p->n, -none), *const xu = copied(p->upper, p->n, none);
    double *const gl = copied(p->constraint_lower, p->m, -none);
    double *const gu = copied(p->constraint_upper, p->m, none);
    const size_t entries = s->jacobian == NULL ? 0 : s->jacobian->entries;
    if (entries > INT_MAX || s->hessian->entries > INT_MAX)
        refuse(s, WG_EARG, "wg_ipopt_new: more entries than int can count");
    else if (xl != NULL && xu != NULL && gl != NULL && gu != NULL)
        s->handle = CreateIpoptProblem((int)p->n, xl, xu, (int)p->m, gl, gu, (int)entries,
                                       (int)s->hessian->entries, 0, eval_f, eval_g, eval_grad_f,
                                       eval_jac_g, eval_h);
    free(xl), free(xu), free(gl), free(gu);
    if (s->handle == NULL && s->status == WG_OK)
        refuse(s, WG_EARG, "wg_ipopt_new: Ipopt refuses the problem");
    return s->status == WG_OK ? scale(s, p) : s->status;
}

static wg_status begin(wg_ipopt *s, const wg_ipopt_problem *p) {
    const int callbacks = p->objective != NULL && (p->constraints != NULL || p->m == 0);
    const int any = p->objective != NULL || p->constraints != NULL;
    const int whole = (p->function != NULL) + (p->callback != NULL);
    if (whole == 0 ? !callbacks : whole == 2 || any)
        return refuse(
            s, whole == 0 ? WG_ENULL : WG_EARG,
            "wg_ipopt_new: a function, a callback, or objective and constraints have to "
            "be there");
    if (p->start == NULL && p->n != 0)
        return refuse(s, WG_ENULL, "wg_ipopt_new: start is NULL");
    if (p->n == 0 || p->n > INT_MAX || p->m > INT_MAX)
        return refuse(s, WG_EARG, "wg_ipopt_new: no variable, or more than int can count");
    s->n = p->n, s->m = p->m;
    s->objective_callback = p->objective, s->constraints_callback = p->constraints;
    s->callback = p->callback;
    s->data = p->data;
    s->outputs = calloc(1 + s->m, sizeof *s->outputs);
    if (s->outputs == NULL) return refuse(s, WG_ENOMEM, "out of memory");
    if (make_problems(s, p) != WG_OK) return s->status;
    const size_t entries = s->jacobian == NULL ? 0 : s->jacobian->entries;
    s->gradient = malloc((s->n + 2 * s->m + entries + 1) * sizeof *s->gradient);
    if (s->gradient == NULL) return refuse(s, WG_ENOMEM, "out of memory");
    s->constraint = s->gradient + s->n;
    s->weights = s->constraint + s->m;
    s->entries = s->weights + 1 + s->m;
    return make_handle(s, p);
}

wg_ipopt *wg_ipopt_new(const wg_ipopt_problem *p) {
    wg_ipopt *const s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->message = "";
    if (p == NULL) refuse(s, WG_ENULL, "wg_ipopt_new: no problem");
    else if (begin(s, p) != WG_OK && s->handle != NULL) {
        FreeIpoptProblem(s->handle);
        s->handle = NULL;
    }
    return s;
}

void wg_ipopt_free(wg_ipopt *s) {
    if (s == NULL) return;
    if (s->handle != NULL) FreeIpoptProblem(s->handle);
    wg_problem_free(s->objective), wg_problem_free(s->constraints), wg_problem_free(s->both);
    wg_function_free(s->objective_function), wg_function_free(s->constraints_function);
    free(s->gradient), free(s->outputs);
    free(s);
}

enum ApplicationReturnStatus wg_ipopt_solve(wg_ipopt *s, double *x, double *value,
                                            double *multipliers) {
    if (s == NULL || s->handle == NULL || x == NULL) return Invalid_Problem_Definition;
    s->status = WG_OK, s->message = "", s->failed = NULL;
    wg_problem_clear(s->objective), wg_problem_clear(s->constraints), wg_problem_clear(s->both);
    s->known = 0;
    return IpoptSolve(s->handle, x, NULL, value, multipliers, NULL, NULL, s);
}
