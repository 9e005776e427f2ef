/* SPDX-License-Identifier: MIT */
/* test_tape_check_programs.c - wg_check_gradient on random programs: it takes those that are
 * right, and finds a wrong derivative in the others where differences can see it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>
#include <wengert/operation.h>
#include "tolerance.h"
#include "walk.h"

enum { PROGRAMS = 4000, INPUTS = 4, STEPS = 14, OPERANDS = 4 };
/* Values and partials of a program: between 1 / LARGEST and LARGEST; what is larger or smaller
 * loses more digits to rounding than a difference has. */
#define LARGEST 1e3
/* An error of a derivative: relative to it, and over the input to the value. */
#define WRONG 1e-6

/* Without kinks, of which differences are no judge. */
static const char *const smooth[] = {
    "add",  "sub",  "mul",   "div",        "neg",         "square",   "cube",  "sqrt",
    "exp",  "log",  "sin",   "cos",        "tan",         "tanh",     "sinh",  "cosh",
    "asin", "acos", "atan",  "asinh",      "log1p",       "expm1",    "exp2",  "erf",
    "erfc", "pow",  "rsqrt", "reciprocal", "log_sigmoid", "softplus", "hypot", "atan2",
    "cbrt", "fma",  "xlogy", "lgamma",     "digamma",     "j0",       "sinpi", "log_add_exp"};
enum { SMOOTH = sizeof smooth / sizeof *smooth };
static const wg_scalar_op *operation[SMOOTH];

static void find_operations(void) {
    for (size_t i = 0; i < SMOOTH; i++) {
        for (size_t k = 0; k < wgi_scalar_op_count; k++) {
            const char *const name = wgi_scalar_ops[k].name;
            if (strcmp(strncmp(name, "wg_", 3) == 0 ? name + 3 : name, smooth[i]) == 0)
                operation[i] = &wgi_scalar_ops[k];
        }
        if (operation[i] == NULL) fail_msg("there is no %s", smooth[i]);
    }
}

/* One step is an operation of nodes (inputs, then steps) or numbers; step `wrong` has its
 * derivative times 1 + error. */
struct program {
    size_t n, steps, wrong;
    double error;
    struct step {
        const wg_scalar_op *op;
        int from[OPERANDS]; /* -1: the number */
        double number[OPERANDS];
    } step[STEPS];
};

static wg_status run(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *data) {
    const struct program *const p = data;
    wg_real v[INPUTS + STEPS], in[OPERANDS];
    (void)m;
    memcpy(v, x, n * sizeof *v);
    for (size_t s = 0; s < p->steps; s++) {
        for (size_t k = 0; k < p->step[s].op->arity; k++)
            in[k] = p->step[s].from[k] < 0 ? wg_constant(p->step[s].number[k])
                                           : v[p->step[s].from[k]];
        wg_real z = wg_apply_scalar(t, p->step[s].op, in);
        const double a = wg_value(z);
        if (s == p->wrong) z = wg_let(t, wg_add(a, wg_mul(1 + p->error, wg_sub(z, a))));
        v[n + s] = z;
    }
    y[0] = v[n + p->steps - 1];
    return WG_OK;
}

static size_t below(uint64_t *seed, size_t n) {
    return (size_t)(fabs(walk_number(seed)) * 0x1p20) % n;
}

/* 0: it has values or partials that are too large or too small. */
static int draw(uint64_t *seed, struct program *p, double *x) {
    double v[INPUTS + STEPS];
    memset(p, 0, sizeof *p);
    p->n = 1 + below(seed, INPUTS);
    p->steps = p->wrong = 2 + below(seed, STEPS - 2);
    for (size_t i = 0; i < p->n; i++) v[i] = x[i] = 2 * walk_number(seed);
    for (size_t s = 0; s < p->steps; s++) {
        struct step *const at = &p->step[s];
        double in[OPERANDS], d[OPERANDS];
        at->op = operation[below(seed, SMOOTH)];
        for (size_t k = 0; k < at->op->arity; k++) {
            at->number[k] = 2 * walk_number(seed);
            at->from[k] = below(seed, 5) == 0 ? -1 : (int)below(seed, p->n + s);
            if (s > 0 && below(seed, 3) == 0) at->from[k] = (int)(p->n + s) - 1;
            in[k] = at->from[k] < 0 ? at->number[k] : v[at->from[k]];
        }
        const double value = v[p->n + s] = at->op->value(in);
        at->op->first(in, value, d);
        if (!(fabs(value) < LARGEST && fabs(value) > 1 / LARGEST)) return 0;
        for (size_t k = 0; k < at->op->arity; k++)
            if (!(fabs(d[k]) < LARGEST)) return 0;
    }
    return 1;
}

static void right_programs_pass_and_wrong_ones_do_not(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 31;
    size_t wrong = 0;
    find_operations();
    for (size_t k = 0; k < PROGRAMS;) {
        struct program p;
        double x[INPUTS], y, g[INPUTS], h[INPUTS];
        if (!draw(&seed, &p, x)) continue;
        k++;
        if (wg_check_gradient(t, run, &p, p.n, x, 1, NULL) != WG_OK)
            fail_msg("program %zu: %s", k, wg_tape_message(t));
        assert_int_equal(wg_gradient(t, run, &p, p.n, x, &y, g), WG_OK);
        p.wrong = below(&seed, p.steps);
        p.error = pow(10, -2.75 + 2.75 * walk_number(&seed));
        assert_int_equal(wg_gradient(t, run, &p, p.n, x, &y, h), WG_OK);
        int seen = 0;
        for (size_t i = 0; i < p.n; i++) {
            const double e = fabs(h[i] - g[i]);
            seen |= e > WRONG * fabs(g[i]) && e * fmax(fabs(x[i]), 0.015625) > WRONG * fabs(y);
        }
        if (!seen) continue;
        wrong++;
        if (wg_check_gradient(t, run, &p, p.n, x, 1, NULL) != WG_EMISMATCH)
            fail_msg("program %zu: an error of %g in step %zu passes", k, p.error, p.wrong);
    }
    assert_true(wrong > PROGRAMS / 4);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_programs_pass_and_wrong_ones_do_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
