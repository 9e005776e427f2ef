/* SPDX-License-Identifier: MIT */
/* programs_functions.c - a program as a function, recorded at one point and evaluated at all
 * others: its derivatives to third order; mapped, called, saved and loaded, compiled, as C. */
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wengert/emit.h>
#include <wengert/file.h>
#include "programs_check.h"
#include "programs_toys.h"

enum { MOST = PROGRAM_NUMBERS * PROGRAM_NUMBERS, MORE = 7 };

/* A function at points: the first input is x, others are given for all; of its outputs only
 * the first is looked at. */
struct work {
    double x[PROGRAM_FAR * PROGRAM_NUMBERS], more[MORE][PROGRAM_FAR * PROGRAM_NUMBERS];
    double *y;
    size_t size; /* of the output at a point */
};

static int evaluate(struct check *r, const wg_function *f, size_t first, size_t points,
                    struct work *w) {
    wg_points in[1 + MORE];
    wg_results out[1];
    const wg_argument *const of = wg_function_output(f, 0);
    void *const room = malloc(wg_function_work(f, NULL) + 1);
    w->size = of->rows * of->cols;
    for (size_t k = 0; k < wg_function_inputs(f); k++) {
        const wg_argument *const a = wg_function_input(f, k);
        const size_t n = a->rows * a->cols;
        const double *const data = k == 0 ? w->x : w->more[k - 1];
        in[k] = (wg_points){data + first * n, (ptrdiff_t)n, 1};
    }
    out[0] = (wg_results){w->y + first * w->size, (ptrdiff_t)w->size, 1};
    const wg_status s = wg_function_evaluate(f, points, in, out, NULL, room, NULL);
    free(room);
    return check_status(r, s);
}

/* At all points at once; where one has another branch, each by itself. ok: at which points. */
static void everywhere(struct check *r, const wg_function *f, struct work *w, int *ok) {
    int all = evaluate(r, f, 0, r->points, w);
    for (size_t p = 0; p < r->points; p++) ok[p] = all || evaluate(r, f, p, 1, w);
}

static void each_input(struct check *r, struct work *w) {
    for (size_t p = 0; p < r->points; p++)
        memcpy(w->x + p * r->p->n, r->truth[p].x, r->p->n * sizeof *w->x);
}
static void fill(struct check *r, double *to, const double *from, size_t n) {
    for (size_t p = 0; p < r->points; p++) memcpy(to + p * n, from, n * sizeof *to);
}
static void fill_across(struct check *r, double *to) {
    for (size_t p = 0; p < r->points; p++)
        memcpy(to + p * r->p->n, r->truth[p].across, r->p->n * sizeof *to);
}

/* ---- orders ---- */

static void values(struct check *r, const char *mode, const wg_function *f, struct work *w) {
    int ok[PROGRAM_FAR];
    everywhere(r, f, w, ok);
    for (r->at = 0; r->at < r->points; r->at++)
        if (ok[r->at]) check_values(r, mode, w->y + r->at * w->size);
}
static void first(struct check *r, const char *mode, const wg_function *f, struct work *w) {
    const size_t n = r->p->n, m = r->p->m;
    int ok[PROGRAM_FAR];
    double rows[PROGRAM_OUTPUTS * PROGRAM_NUMBERS];
    everywhere(r, f, w, ok);
    for (r->at = 0; r->at < r->points; r->at++) {
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < n; i++) rows[j * n + i] = w->y[r->at * w->size + i + j * n];
        if (ok[r->at]) check_jacobian(r, mode, rows);
    }
}
/* A Jacobian's columns are gradients, n by m: the same memory. */
static void second(struct check *r, const char *mode, const wg_function *f, struct work *w) {
    int ok[PROGRAM_FAR];
    if (r->p->m > 1) fill(r, w->more[0], program_weights, r->p->m);
    everywhere(r, f, w, ok);
    for (r->at = 0; r->at < r->points; r->at++)
        if (ok[r->at]) check_hessian(r, mode, w->y + r->at * w->size);
}
/* Series along the direction across. */
static void series(struct check *r, const char *mode, const wg_function *f, struct work *w) {
    const size_t m = r->p->m;
    static const double factorial[] = {1, 1, 2, 6};
    int ok[PROGRAM_FAR];
    fill_across(r, w->more[0]);
    everywhere(r, f, w, ok);
    for (r->at = 0; r->at < r->points; r->at++)
        for (size_t j = 0; ok[r->at] && j < m; j++)
            for (int o = 0; o < TOY_TERMS; o++)
                check_number(r, mode, r->p->n, j, o,
                             factorial[o] * w->y[r->at * w->size + j + (size_t)o * m]);
}

/* One derivation, judged; or, it is refused. */
typedef wg_status derivation(wg_tape *t, const wg_function *f, wg_function **out);
static wg_function *derived(struct check *r, derivation *d, const wg_function *f) {
    wg_function *g = NULL;
    (void)check_status(r, d(r->k->code, f, &g));
    return g;
}

/* Tangents of tangents: x, its tangent v, then tangents of these, v and 0, and so on: J v, the
 * second and the third derivative along v. */
static void tangents(struct check *r, const wg_function *f, struct work *w) {
    static const char *const mode[] = {"jvp", "jvp of jvp", "jvp of jvp of jvp"};
    const wg_function *of = f;
    wg_function *made[3] = {NULL};
    int ok[PROGRAM_FAR];
    memset(w->more, 0, sizeof w->more);
    for (size_t k = 0; k < 3 && of != NULL; of = made[k++]) {
        made[k] = derived(r, wg_function_jvp, of);
        if (made[k] == NULL || wg_function_inputs(made[k]) != (size_t)2 << k) continue;
        fill_across(r, w->more[((size_t)1 << k) - 1]);
        everywhere(r, made[k], w, ok);
        for (r->at = 0; r->at < r->points; r->at++)
            for (size_t j = 0; ok[r->at] && j < r->p->m; j++)
                check_number(r, mode[k], r->p->n, j, (int)k + 1, w->y[r->at * w->size + j]);
    }
    for (size_t k = 0; k < 3; k++) wg_function_free(made[k]);
}

/* <v, H v>, and of its tangent along v the third derivative. Where digits are lost in the sum
 * it is not looked at. */
static void along(struct check *r, const char *mode, int order, const wg_function *f,
                  struct work *w) {
    const size_t n = r->p->n, m = r->p->m;
    int ok[PROGRAM_FAR];
    everywhere(r, f, w, ok);
    for (r->at = 0; r->at < r->points; r->at++) {
        const double *const v = r->truth[r->at].across, *const hv = w->y + r->at * w->size;
        double sum = 0, size = 0;
        for (size_t i = 0; i < n; i++) sum += v[i] * hv[i], size += fabs(v[i] * hv[i]);
        if (ok[r->at] && size <= 100 * fabs(sum)) check_number(r, mode, n, m, order, sum);
    }
}
static void products(struct check *r, const wg_function *f, struct work *w) {
    const size_t m = r->p->m, weights = m > 1;
    wg_function *const hvp = derived(r, wg_function_hvp, f), *const third =
                                                                 hvp != NULL
                                                                     ? derived(r,
                                                                               wg_function_jvp,
                                                                               hvp)
                                                                     : NULL;
    memset(w->more, 0, sizeof w->more);
    if (weights) fill(r, w->more[0], program_weights, m);
    fill_across(r, w->more[weights]);
    if (hvp != NULL) along(r, "hvp", 2, hvp, w);
    if (third != NULL) {
        fill_across(r, w->more[weights + 1]);
        along(r, "jvp of hvp", 3, third, w);
    }
    wg_function_free(hvp);
    wg_function_free(third);
}

/* ---- the same bits ---- */

static void alike(struct check *r, const char *mode, const wg_function *f, const wg_function *g,
                  struct work *w) {
    static double kept[PROGRAM_FAR * MOST];
    int ok[PROGRAM_FAR], ok2[PROGRAM_FAR];
    everywhere(r, f, w, ok);
    memcpy(kept, w->y, r->points * w->size * sizeof *kept);
    everywhere(r, g, w, ok2);
    for (r->at = 0; r->at < r->points; r->at++) {
        if (ok[r->at] != ok2[r->at]) check_finding(r, mode, "status", "another comparison");
        else if (ok[r->at])
            check_bits(r, mode, "bits", w->size, w->y + r->at * w->size,
                       kept + r->at * w->size);
    }
}
static void loaded(struct check *r, const wg_function *f, struct work *w) {
    size_t bytes = 0;
    wg_function *g = NULL;
    if (wg_function_save(f, NULL, 0, &bytes) != WG_OK && bytes == 0) return;
    void *const file = malloc(bytes);
    if (check_status(r, wg_function_save(f, file, bytes, &bytes))) {
        if (wg_function_load(r->k->code, file, bytes, program_user_operations,
                             PROGRAM_USER_OPERATIONS, &g) != WG_OK)
            check_finding(r, "loaded", "status", "%s", wg_tape_message(r->k->code));
        else alike(r, "loaded", f, g, w);
    }
    wg_function_free(g);
    free(file);
}
static void compiled(struct check *r, const wg_function *f, struct work *w) {
    static const char *const flags[] = {"-O1", NULL};
    const wg_compile_options o = {NULL, flags, r->k->directory};
    wg_function *g = NULL;
    wg_compiled how;
    if (!check_status(r, wg_function_compile(r->k->code, f, &o, &g, &how))) return;
    if (how.native) alike(r, "compiled", f, g, w);
    wg_function_free(g);
}

/* ---- as C ---- */

typedef int point_function(const double *const *arg, double *const *res);

/* Judged as others are: libm's functions have other bits. */
static void emitted(struct check *r, const char *mode, const wg_function *f, struct work *w,
                    void judge(struct check *r, const char *mode, const double *y)) {
    const wg_emit_options o = {.name = "fuzzed"};
    const char *const cc = getenv("CC");
    char path[128], line[512];
    point_function *call = NULL;
    (void)snprintf(path, sizeof path, "%s/fuzzed.c", r->k->directory);
    FILE *const out = fopen(path, "w");
    if (out == NULL) return;
    const wg_status s = wg_function_emit(r->k->code, f, &o, wg_write_file, out);
    if (fclose(out) != 0 || !check_status(r, s)) return;
    (void)snprintf(line, sizeof line,
                   "cd %s && %s -std=c99 -O1 -w -ffp-contract=off -fPIC -shared -o fuzzed.so "
                   "fuzzed.c -lm",
                   r->k->directory, cc != NULL ? cc : "cc");
    if (system(line) != 0) {
        check_finding(r, mode, "status", "the text does not compile");
        return;
    }
    (void)snprintf(path, sizeof path, "%s/fuzzed.so", r->k->directory);
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *const symbol =
                                                                   library != NULL
                                                                       ? dlsym(library,
                                                                               "fuzzed")
                                                                       : NULL;
    if (symbol != NULL) memcpy(&call, &symbol, sizeof call);
    for (r->at = 0; call != NULL && r->at < r->points; r->at++) {
        const double *const arg[] = {w->x + r->at * r->p->n};
        double *const res[] = {w->y};
        if (call(arg, res) == 0) judge(r, mode, w->y);
    }
    if (library != NULL) (void)dlclose(library);
    (void)unlink(path);
}

/* ---- in a recording again ---- */

/* Mapped over the points: the adjoint of point p is J_p' w. */
static void mapped(struct check *r, const wg_function *f, struct work *w) {
    const size_t n = r->p->n, m = r->p->m;
    wg_callable *k = NULL;
    wg_tape *const t = r->k->plain;
    double adjoint[PROGRAM_FAR * PROGRAM_NUMBERS];
    if (!check_status(r, wg_callable_new(r->k->code, f, &k))) return;
    for (size_t j = 0; j < m; j++) {
        double seed[PROGRAM_FAR * PROGRAM_OUTPUTS] = {0};
        wg_mat y;
        wg_tape_reset(t);
        const wg_mat x = wg_mat_input(t, n, r->points, w->x, n);
        const wg_source source = wg_from_matrix(x);
        for (size_t p = 0; p < r->points; p++) seed[p * m + j] = 1;
        if (!check_status(r, wg_map(t, k, r->points, &source, NULL, &y))) break;
        if (y.at.slot == 0) break;
        if (!check_status(r, wg_mat_reverse(t, y, seed, m))) break;
        if (wg_mat_adjoint(t, x, adjoint, n) != WG_OK) break;
        for (r->at = 0; r->at < r->points; r->at++) {
            check_number(r, "map", n, j, 0, y.value[r->at * m + j]);
            for (size_t i = 0; i < n; i++)
                check_number(r, "map", i, j, 1, adjoint[r->at * n + i]);
        }
    }
    wg_callable_free(k);
}

static void judge_jacobian(struct check *r, const char *mode, const double *y) {
    check_jacobian(r, mode, y);
}

static wg_status taylor(wg_tape *t, const wg_function *f, wg_function **out) {
    return wg_function_taylor(t, f, TOY_TERMS - 1, out);
}

static void check_all(struct check *r, wg_tape *t, const char *const *mode, struct work *w,
                      int compile) {
    const wg_argument in = {"x", r->p->n, 1, 0}, out = {"y", r->p->m, 1, 0};
    wg_function *f = NULL;
    if (!check_status(
            r, wg_function_record(t, program_callback, &r->run, 1, &in, r->p->at, 1, &out, &f)))
        return;
    wg_function *const j = derived(r, wg_function_jacobian, f),
                       *const h = derived(r, wg_function_hessian, f),
                       *const s = derived(r, taylor, f);
    values(r, mode[0], f, w);
    if (j != NULL) first(r, mode[0], j, w);
    if (h != NULL) second(r, mode[0], h, w);
    if (s != NULL) series(r, mode[1], s, w);
    tangents(r, f, w);
    products(r, f, w);
    mapped(r, f, w);
    if (j != NULL) loaded(r, j, w);
    if (compile && r->k->directory != NULL) {
        compiled(r, f, w);
        if (j != NULL) compiled(r, j, w);
        if (h != NULL && r->p->m == 1) compiled(r, h, w);
        emitted(r, "emitted", f, w, check_values);
        if (j != NULL) emitted(r, "emitted", j, w, judge_jacobian);
    }
    wg_function_free(f);
    wg_function_free(j);
    wg_function_free(h);
    wg_function_free(s);
}

void check_functions(struct check *r, int compile) {
    static const char *const plain[] = {"function", "taylor"}, *const loops[] = {
                                                                   "function of loops",
                                                                   "taylor of loops"};
    static double y[PROGRAM_FAR * MOST];
    static struct work w;
    w.y = y;
    each_input(r, &w);
    check_all(r, r->k->code, plain, &w, compile);
    if (r->c->programs > 1) check_all(r, r->k->loops, loops, &w, compile);
}
