/* SPDX-License-Identifier: MIT */
/* programs_check.c - the truth at a point, and numbers judged by it.
 *
 * The truth is the toy's, which see; how far a computation in double may be from it is measured
 * by runs of the toy with noise. A number is wrong where it is finite or not and the truth is
 * known, farther from it than that. Where the noise leaves no three digits a number is not
 * judged, nor is NaN where it leaves none; where numbers leave the range in which double and
 * long double go alike, one is wrong only where a plain tape is right. */
#define _DEFAULT_SOURCE
#include "programs_check.h"
#include "programs_toys.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What the noise of a few runs may have missed; the noise itself is some units in the last
 * place of each operation. */
#define TOL_SPREAD 64.0L
/* Adjoints of BLAS and LAPACK one after the other: each is rounded beside its largest entry,
 * which the forward runs of the toy do not do in their order. */
#define TOL_SPREAD_BLAS 2048.0L
/* Of every number, for operations that the noise does not reach. */
#define TOL_RELATIVE 1e-11L
/* Three digits are left. */
#define TOL_DIGITS 1e-3L
/* Times TOL_RELATIVE: 4 DBL_EPSILON. */
#define TOL_BLAS 1e-4L
/* Ten digits, of a value. */
#define TOL_STEADY 1e-12L
enum { RUNS = 2, RUNS_TO_BE_SURE = 32, TEARS = 8 };

const double program_weights[PROGRAM_OUTPUTS] = {1, -0.75, 1.5, 0.625};

/* ---- findings ---- */

void check_finding(struct check *r, const char *mode, const char *what, const char *format,
                   ...) {
    char kind[sizeof r->k->kind];
    va_list args;
    (void)snprintf(kind, sizeof kind, "%s, %s", mode, what);
    if (r->moving || (r->k->only != NULL && strcmp(kind, r->k->only) != 0)) return;
    if (r->bad++ > 0) return;
    memcpy(r->k->kind, kind, sizeof kind);
    va_start(args, format);
    vsnprintf(r->k->why, sizeof r->k->why, format, args);
    va_end(args);
    r->wrong = r->at;
}

int check_status(struct check *r, wg_status s) {
    if (s == WG_OK || r->moving) return s == WG_OK;
    if (s == WG_EGUARD) r->k->count.guarded++;
    else r->k->count.refused++;
    r->k->count.refusals[s < WG_STATUS_COUNT ? s : 0]++;
    return 0;
}

static int same(double a, double b) {
    return (a != a && b != b) || (a == b && !signbit(a) == !signbit(b));
}
void check_bits(struct check *r, const char *mode, const char *what, size_t n,
                const double *got, const double *want) {
    if (r->moving) return;
    r->k->count.bits += n;
    for (size_t i = 0; i < n; i++)
        if (!same(got[i], want[i])) {
            check_finding(r, mode, what, "number %zu is %.17g, not the same bits as %.17g", i,
                          got[i], want[i]);
            return;
        }
}

/* ---- the truth ---- */

enum how { EXACT, NOISY, TORN };

static void toy_along(struct check *r, size_t direction, enum how how,
                      struct toy_series y[PROGRAM_OUTPUTS + 1]) {
    struct truth *const at = &r->truth[r->at];
    const size_t m = r->p->m;
    struct toy_series x[PROGRAM_NUMBERS];
    toy_run.noise = at->noise;
    for (size_t i = 0; i < r->p->n; i++) {
        x[i] = toy_number(at->x[i]);
        x[i].c[1] = direction < r->p->n ? i == direction : at->across[i];
    }
    toy_run.noisy = how == NOISY;
    toy_run.torn = how == TORN;
    toy_program(r->c, r->run.self, x, y);
    /* which spreads in the adjoints of BLAS, as the manual says */
    if (toy_run.infinite && !r->exact) toy_run.known = 0;
    if (toy_run.zero_sign && !r->scalar) toy_run.known = 0;
    if (toy_run.zero_sign_from < toy_run.terms && !r->scalar)
        toy_run.terms = toy_run.zero_sign_from;
    y[m] = toy_number(0);
    for (size_t j = 0; j < m; j++) {
        struct toy_series part = toy_scale(program_weights[j], y[j]);
        struct toy_matrix as_matrix = {1, 1, &part};
        toy_tear(&as_matrix);
        y[m] = toy_add(y[m], part);
    }
    at->noise = toy_run.noise;
}

/* So many runs with noise along a direction. */
static void disturb(struct check *r, size_t direction, size_t runs) {
    struct truth *const at = &r->truth[r->at];
    for (size_t k = 0; k < runs && at->known; k++) {
        struct toy_series y[PROGRAM_OUTPUTS + 1];
        toy_along(r, direction, NOISY, y);
        if (!toy_run.known) at->known = 0;
        for (size_t j = 0; j <= r->p->m; j++)
            for (int o = 0; o < TOY_TERMS; o++) {
                const long double d = fabsl(y[j].c[o] - at->ref[direction][j][o]);
                long double *const most = &at->spread[direction][j][o];
                if (!(d <= *most)) *most = d == d ? d : INFINITY;
            }
    }
}

/* How large the terms are that a derivative is the sum of, in the order of any method: where
 * they cancel, as in second derivatives of x'x - 2 x'y + y'y at y = x, the sum has the rounding
 * of these. Along each operand of each step derivatives take another sign, and do not cancel. */
static long double terms_of(struct check *r, size_t direction, size_t j, int order) {
    long double most = 0;
    for (int k = 0; k < TEARS && order > 0; k++) {
        struct toy_series y[PROGRAM_OUTPUTS + 1];
        toy_along(r, direction, TORN, y);
        const long double size = fabsl(y[j].c[order]);
        if (size > most && size <= LDBL_MAX) most = size;
    }
    return most;
}

/* What is random at a point comes of its numbers: what is found there is found again, by
 * itself, too. */
static struct program_random noise_of(const double *x, size_t n) {
    struct program_random noise = {1, NULL};
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        noise.state = (noise.state ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        noise.state ^= noise.state >> 29;
    }
    noise.state |= 1; /* it is never 0 */
    return noise;
}

static void find_truth(struct check *r) {
    struct truth *const at = &r->truth[r->at];
    at->noise = noise_of(at->x, r->p->n);
    at->known = 1;
    at->exact = r->exact;
    at->directions = r->p->n + 1;
    at->terms = at->nan_from = TOY_TERMS;
    at->extreme = at->infinite = at->power_of_0 = 0;
    at->condition = 1;
    memset(at->spread, 0, sizeof at->spread);
    for (size_t i = 0; i < r->p->n; i++) at->across[i] = program_uniform(&at->noise, -1, 1);
    for (size_t d = 0; d <= r->p->n && at->known; d++) {
        struct toy_series y[PROGRAM_OUTPUTS + 1];
        toy_along(r, d, EXACT, y);
        at->known = toy_run.known;
        at->extreme |= toy_run.extreme;
        at->infinite |= toy_run.infinite | toy_run.no_number;
        at->power_of_0 |= toy_run.power_of_0;
        if (toy_run.terms < at->terms) at->terms = toy_run.terms;
        if (toy_run.nan_from < at->nan_from) at->nan_from = toy_run.nan_from;
        if (toy_run.condition > at->condition) at->condition = toy_run.condition;
        for (size_t j = 0; j <= r->p->m && at->known; j++)
            memcpy(at->ref[d][j], y[j].c, sizeof at->ref[d][j]);
        disturb(r, d, RUNS);
    }
}

/* ---- judging ---- */

static long double spread_of(const struct truth *at, size_t d, size_t j, int order) {
    return (at->exact ? TOL_SPREAD : TOL_SPREAD_BLAS) * at->spread[d][j][order];
}
static long double largest(const struct truth *at, size_t j, int order) {
    long double most = 0;
    for (size_t k = 0; k < at->directions; k++)
        if (fabsl(at->ref[k][j][order]) > most) most = fabsl(at->ref[k][j][order]);
    return most;
}

/* Second and third derivatives lose to cancellation what is small beside those along other
 * directions; first ones of BLAS and LAPACK some units in the last place of these. */
static int near(const struct truth *at, size_t d, size_t j, int order, long double f,
                double got) {
    const long double ref = f * at->ref[d][j][order];
    long double size = f * largest(at, j, order);
    if (order == 0) size = fabsl(ref);
    if (order == 1) size = fabsl(ref) + TOL_BLAS * (at->exact ? 0 : size);
    const long double allowed = spread_of(at, d, j, order) * f + TOL_RELATIVE * size + DBL_MIN;
    return fabsl(got - ref) <= allowed;
}

/* Does the noise leave three digits of the largest number, along any direction? Beside larger
 * ones a number may have no digit of its own: then it may be NaN. */
static int has_digits(const struct truth *at, size_t d, size_t j, int order, double got) {
    const long double spread = spread_of(at, d, j, order);
    return spread <= TOL_DIGITS * largest(at, j, order) &&
           (got == got || spread <= fabsl(at->ref[d][j][order]));
}

/* Have the values at least ten digits? Where they have not, second derivatives may have
 * none. */
static int steady(const struct truth *at, size_t d, size_t m) {
    long double most = 0, spread = 0;
    for (size_t j = 0; j < m; j++) {
        if (fabsl(at->ref[d][j][0]) > most) most = fabsl(at->ref[d][j][0]);
        if (!(at->spread[d][j][0] <= spread)) spread = at->spread[d][j][0];
    }
    return spread <= TOL_STEADY * most;
}

/* Has output j a value, 0 or one with a digit (j = m: have all)? Where BLAS leaves none, nor
 * may its slopes have one: what was made of it was made of rounding. */
static int has_value(const struct truth *at, size_t d, size_t m, size_t j) {
    for (size_t k = j < m ? j : 0; k < m && (k == j || j == m); k++) {
        const long double size = fabsl(at->ref[d][k][0]);
        if (size > 0 && !(at->spread[d][k][0] < size / 2)) return 0;
    }
    return 1;
}

static const char *const what[] = {"value", "first order", "second order", "third order"};
static const int factorial[] = {1, 1, 2, 6};

static void find(struct check *r, const char *mode, size_t d, size_t j, int order, double got) {
    const struct truth *const at = &r->truth[r->at];
    const long double f = factorial[order];
    check_finding(r, mode, what[order], "output %zu, direction %zu: %.17g, not %.17Lg +- %.2Lg",
                  j, d, got, f * at->ref[d][j][order], f * spread_of(at, d, j, order));
}

/* ---- at the mercy of rounding ----
 * A derivative that is the sum of larger terms has their rounding, whatever the program. And
 * what a method goes through may be larger than what it takes and gives, as in a pseudoinverse
 * of columns of different size; noise of these does not say so. What it makes of points and
 * steps that are the same but for rounding does. It is no excuse for more than rounding beside
 * the largest derivative of any output, or the terms, times the conditions of what is on the
 * way: a method that is not stable is found. */

#define TOL_MOVED 8.0L
enum { MOVES = 12 };

static void look_at(struct check *r, const char *mode, size_t d, size_t j, int order,
                    double got) {
    for (size_t i = 0; i < r->suspects; i++) {
        struct suspect *const s = &r->suspect[i];
        if (s->at != r->looks_at || s->direction != d || s->output != j || s->order != order ||
            strcmp(s->mode, mode) != 0)
            continue;
        const long double by = fabsl((long double)got - s->got);
        if (by > s->moved) s->moved = by;
    }
}
static int may_be_rounding(const struct truth *at, size_t outputs, size_t d, size_t j,
                           int order, double got, long double terms) {
    long double most = terms / factorial[order];
    for (size_t i = 0; i < outputs; i++)
        if (largest(at, i, order) > most) most = largest(at, i, order);
    return fabsl(got - factorial[order] * at->ref[d][j][order]) <=
           TOL_SPREAD_BLAS * 0x1p-51L * at->condition * factorial[order] * most;
}
static void suspect(struct check *r, const char *mode, size_t d, size_t j, int order,
                    double got) {
    const struct truth *const at = &r->truth[r->at];
    const long double f = factorial[order], terms = f * terms_of(r, d, j, order),
                      unit = (r->exact ? TOL_SPREAD : TOL_SPREAD_BLAS) * 0x1p-51L;
    if (fabsl(got - f * at->ref[d][j][order]) <= unit * terms) {
        r->k->count.moved++;
        return;
    }
    if (r->exact || strlen(mode) >= CHECK_MODE ||
        !may_be_rounding(at, r->p->m + 1, d, j, order, got, terms)) {
        find(r, mode, d, j, order, got);
        return;
    }
    if (r->suspects == CHECK_SUSPECTS) {
        r->k->count.unjudged++;
        return;
    }
    struct suspect *const s = &r->suspect[r->suspects++];
    *s = (struct suspect){
        .at = r->at, .direction = d, .output = j, .order = order, .got = got, .moved = 0};
    memcpy(s->mode, mode, strlen(mode) + 1);
}

void check_number(struct check *r, const char *mode, size_t d, size_t j, int order,
                  double got) {
    struct truth *const at = &r->truth[r->at];
    if (r->moving) {
        look_at(r, mode, d, j, order, got);
        return;
    }
    if (!at->known || order >= at->terms || r->bad > 0) return;
    const long double f = factorial[order], ref = f * at->ref[d][j][order];
    if (!(fabsl(at->ref[d][j][0]) <= LDBL_MAX) || !(fabsl(ref) <= LDBL_MAX) ||
        at->spread[d][j][order] == INFINITY) {
        r->k->count.unjudged++;
        return;
    }
    /* infinite adjoints that cancel, where tangents along this direction were 0 before:
     * tangents, statement by statement, are those of the series */
    const int tangents = strcmp(mode, "duals") == 0 || strcmp(mode, "forward") == 0;
    if (order > 0 && at->infinite && got != got && !(tangents && r->scalar)) {
        r->k->count.unjudged++;
        return;
    }
    /* as the manual of wg_function_taylor says */
    if (order > 0 && at->power_of_0 && got != got && strncmp(mode, "taylor", 6) == 0) {
        r->k->count.refused++;
        return;
    }
    if (order > 1 && !steady(at, d, r->p->m)) {
        r->k->count.unjudged++;
        return;
    }
    if (order == 1 && !r->exact && !has_value(at, d, r->p->m, j)) {
        r->k->count.unjudged++;
        return;
    }
    /* what is scaled has adjoints times its scale on the way, which are no normal numbers */
    const long double share = d < r->p->n ? fabsl(ref * at->x[d]) : 1;
    if (order > 0 && at->extreme && share > 0 && share < DBL_MIN) {
        r->k->count.unjudged++;
        return;
    }
    if (!has_digits(at, d, j, order, got)) {
        r->k->count.unjudged++;
        return;
    }
    /* where the tape refuses, NaN is the answer of what has no status for each point */
    const wg_status tape_says = order == 0 ? at->recorded : at->status;
    if (got != got &&
        (tape_says == WG_ESINGULAR || tape_says == WG_EDEGENERATE || order >= at->nan_from)) {
        r->k->count.refused++;
        return;
    }
    r->k->count.judged++;
    if (near(at, d, j, order, f, got)) return;
    if (at->extreme) { /* a plain tape knows values and first derivatives */
        const double tape = j == r->p->m || order > 1 ? NAN
                            : order == 0              ? at->value[j]
                            : d < r->p->n             ? at->jacobian[j * r->p->n + d]
                                                      : NAN;
        if (at->status != WG_OK || !near(at, d, j, order, f, tape)) return;
    }
    disturb(r, d, RUNS_TO_BE_SURE);
    if (!at->known) return;
    if (!has_digits(at, d, j, order, got) || near(at, d, j, order, f, got)) return;
    suspect(r, mode, d, j, order, got);
}

void check_values(struct check *r, const char *mode, const double *value) {
    for (size_t j = 0; j < r->p->m; j++) check_number(r, mode, r->p->n, j, 0, value[j]);
}
void check_jacobian(struct check *r, const char *mode, const double *jacobian) {
    for (size_t j = 0; j < r->p->m; j++)
        for (size_t i = 0; i < r->p->n; i++)
            check_number(r, mode, i, j, 1, jacobian[j * r->p->n + i]);
}
void check_hessian(struct check *r, const char *mode, const double *h) {
    const struct truth *const at = &r->truth[r->at];
    const size_t n = r->p->n, m = r->p->m;
    double across = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        check_number(r, mode, i, m, 2, h[i + i * n]);
        for (size_t k = 0; k < n; k++) {
            const double term = at->across[i] * h[i + k * n] * at->across[k];
            across += term;
            size += fabs(term);
        }
    }
    /* digits lost in that sum are nobody's fault */
    if (size <= 100 * fabs(across)) check_number(r, mode, n, m, 2, across);
}

/* ---- a case ---- */

/* Statement by statement, or, as an operation on matrices, of one operand, element by
 * element. */
static int adds_once(const struct program_step *s) {
    if (s->op->rule != R_EACH) return 0;
    return s->op->operands == 1 || s->op->wholes == 0 || s->whole[0] == 1;
}

/* The suspects of a point, where it is moved by rounding. */
static void move(struct check *r, size_t point, int compile) {
    static struct truth moved[1];
    struct check there = *r;
    there.moving = 1;
    there.points = 1;
    there.truth = moved;
    there.looks_at = point;
    for (uint64_t k = 0; k < MOVES; k++) {
        moved[0] = r->truth[point];
        for (size_t i = 0; i < r->p->n; i++)
            moved[0].x[i] *= 1 + program_uniform(&r->truth[point].noise, -4, 4) * 0x1p-53;
        program_case_close(r->c);
        r->c->shaken = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
        if (program_case_open(r->c, r->k->loops) != WG_OK) continue;
        there.at = 0;
        check_tapes(&there);
        check_duals(&there);
        there.at = 0;
        check_functions(&there, compile);
    }
    r->c->shaken = 0;
    memcpy(r->suspect, there.suspect, sizeof r->suspect);
}
static void settle(struct check *r, int compile) {
    for (size_t point = 0; point < r->points; point++) {
        size_t count = 0;
        for (size_t i = 0; i < r->suspects; i++) count += r->suspect[i].at == point;
        if (count > 0) move(r, point, compile);
    }
    for (size_t i = 0; i < r->suspects; i++) {
        const struct suspect *const s = &r->suspect[i];
        const long double by =
            fabsl(s->got -
                  factorial[s->order] * r->truth[s->at].ref[s->direction][s->output][s->order]);
        r->at = s->at;
        if (by <= TOL_MOVED * s->moved) r->k->count.moved++;
        else find(r, s->mode, s->direction, s->output, s->order, s->got);
    }
}

int program_check(struct program_checker *k, struct program_case *c, size_t points,
                  double (*far)[PROGRAM_NUMBERS], int compile, size_t *wrong) {
    static struct truth truth[PROGRAM_FAR];
    struct check r = {
        .k = k, .c = c, .p = &c->program[c->programs - 1], .points = points, .truth = truth};
    r.run.c = c;
    r.run.self = c->programs - 1;
    c->work = k->work;
    k->kind[0] = k->why[0] = 0;
    r.exact = r.scalar = 1;
    for (size_t q = 0; q < c->programs; q++)
        for (size_t i = 0; i < c->program[q].steps; i++) {
            const struct program_step *const step = &c->program[q].step[i];
            if (step->op->backward || step->op->operands == 0) r.exact = 0;
            if (!adds_once(step)) r.scalar = 0;
        }
    if (!check_status(&r, program_case_open(c, k->loops))) {
        program_case_close(c);
        return 0;
    }
    k->count.programs++;
    for (r.at = 0; r.at < points; r.at++) {
        memcpy(truth[r.at].x, far[r.at], sizeof truth[r.at].x);
        find_truth(&r);
        check_tapes(&r);
        check_duals(&r);
        k->count.points++;
    }
    r.at = 0;
    check_functions(&r, compile);
    settle(&r, compile);
    program_case_close(c);
    *wrong = r.wrong;
    return r.bad > 0;
}

void program_plant(const struct program_op *op) { toy_run.planted = op; }

/* ---- memory ----
 * Ranges that were given back are given out again: to ask the system for those of thousands of
 * functions takes longer than to make them. */

enum { RANGES = 512, LARGEST = 1 << 28 };
static struct range {
    void *p;
    size_t bytes;
} idle[RANGES];

static void *range_reserve(void *ctx, size_t bytes) {
    (void)ctx;
    for (size_t i = 0; i < RANGES; i++)
        if (idle[i].p != NULL && idle[i].bytes == bytes) {
            void *const p = idle[i].p;
            idle[i].p = NULL;
            return p;
        }
    void *const p = bytes > LARGEST ? MAP_FAILED
                                    : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}
static int range_commit(void *ctx, void *p, size_t bytes) {
    (void)ctx, (void)p, (void)bytes;
    return 0;
}
static void range_release(void *ctx, void *p, size_t bytes) {
    (void)ctx;
    for (size_t i = 0; i < RANGES; i++)
        if (idle[i].p == NULL) {
            idle[i] = (struct range){p, bytes};
            return;
        }
    (void)munmap(p, bytes);
}

int program_checker_open(struct program_checker *k) {
    const wg_memory memory = {range_reserve, range_commit, range_release, NULL};
    const wg_options none = {.memory = memory},
                     code = {.flags = WG_KEEP_CODE, .memory = memory},
                     checked = {.flags = WG_CHECKED, .memory = memory},
                     loops = {.flags = WG_KEEP_CODE, .loops_over = 24, .memory = memory};
    memset(k, 0, sizeof *k);
    k->plain = wg_tape_new(&none);
    k->checked = wg_tape_new(&checked);
    k->code = wg_tape_new(&code);
    k->fresh = wg_tape_new(&code);
    k->forward = wg_tape_new(&none);
    k->work = wg_tape_new(&code);
    k->loops = wg_tape_new(&loops);
    return k->plain && k->checked && k->code && k->fresh && k->forward && k->work && k->loops
               ? 0
               : -1;
}
void program_checker_close(struct program_checker *k) {
    wg_tape_free(k->plain);
    wg_tape_free(k->checked);
    wg_tape_free(k->code);
    wg_tape_free(k->fresh);
    wg_tape_free(k->forward);
    wg_tape_free(k->work);
    wg_tape_free(k->loops);
}
