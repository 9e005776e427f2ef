/* SPDX-License-Identifier: MIT */
/* Operations on whole matrices in emitted text: as calls of CBLAS and LAPACKE, whose bits are
 * those of evaluation, and as loops.
 *
 * All texts stand in one file, which each compiler compiles once. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "dense_walk.h"
#include "driver_cases.h"
#include "emitted.h"

#include <math.h>

#include "tape/function/graph/dense_node.h"

/* Sums of up to 70 terms in another order, and systems of condition 10 or so, differentiated
 * twice: of the largest result. */
#define TOL_LOOPS (512 * DBL_EPSILON)

enum {
    ALL = WG_EMIT_POINT | WG_EMIT_BATCH | WG_EMIT_CASADI,
    MOST = 8192,
    SAME = 3,
    MOST_ARGUMENTS = 16,
    UNIT = 200 /* gcc takes long for long functions */
};

typedef int point_fn(const double *const *, double *const *);
typedef int batch_fn(size_t, const double *const *, const ptrdiff_t *, double *const *,
                     const ptrdiff_t *, size_t *);
typedef int casadi_fn(const double **, double **, long long *, double *, int);
typedef int work_fn(long long *, long long *, long long *, long long *);
typedef const long long *sparsity_fn(long long);

/* ---- texts ------------------------------------------------------------------------------- */

typedef struct written {
    const wg_function *f;
    char calls[16], loops[16]; /* names in the text */
    unsigned entries;
    int in_loops;
} written;

static emitted made;
static FILE *file;
static void *library[2];
static size_t libraries;

static void must(wg_status s, const wg_tape *t) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
}

static void put(written *w, const wg_function *f, unsigned entries, size_t unit, int loops) {
    static unsigned count;
    w->f = f;
    w->entries = entries;
    (void)snprintf(w->calls, sizeof w->calls, "calls%u", count);
    (void)snprintf(w->loops, sizeof w->loops, "loops%u", count++);
    w->in_loops = loops;
    wg_emit_options o = {.name = w->loops, .entries = entries, .unit = unit};
    if (loops) must(wg_function_emit(coded, f, &o, wg_write_file, file), coded);
    o.name = w->calls, o.blas = 1;
    must(wg_function_emit(coded, f, &o, wg_write_file, file), coded);
}

/* As strict C99 without a warning. The program has BLAS in it, the one that evaluates; what
 * else MATH_LIBS names is not loaded, for to unload it may leak. */
static void compile_texts(void) {
    const char *const cflags = getenv("MATH_CFLAGS"), *const libs = getenv("MATH_LIBS");
    char line[4096];
    if (cflags == NULL || libs == NULL) fail_msg("MATH_CFLAGS or MATH_LIBS is not set");
    assert_int_equal(fclose(file), 0);
    for (size_t c = 0; c < 2; c++) {
        const char *const compiler = emitted_compilers[c];
        if (!has_compiler(compiler)) {
            print_message("nothing by %s: it is not there, or compiles no tests here\n",
                          compiler);
            continue;
        }
        (void)snprintf(
            line, sizeof line,
            "%s -std=c99 -Wall -Wextra -Wpedantic -Werror -O0 -ffp-contract=off "
            "-fno-builtin-pow %s -shared -fPIC -o %s/%zu.so %s/e.c -Wl,--as-needed %s -lm",
            compiler, cflags, made.directory, c, made.directory, libs);
        assert_int_equal(system(line), 0);
        (void)snprintf(line, sizeof line, "%s/%zu.so", made.directory, c);
        library[libraries] = dlopen(line, RTLD_NOW | RTLD_LOCAL);
        if (library[libraries] == NULL) fail_msg("%s", dlerror());
        (void)unlink(line);
        libraries++;
    }
    assert_true(libraries > 0);
    emitted_remove(&made);
}

/* ---- comparisons ------------------------------------------------------------------------- */

typedef struct arguments {
    const double *in[MOST_ARGUMENTS];
    double *out[MOST_ARGUMENTS];
    ptrdiff_t in_step[2 * MOST_ARGUMENTS], out_step[2 * MOST_ARGUMENTS];
} arguments;

/* Entries one after the other, points likewise. */
static void point_to(const wg_function *f, const double *x, double *y, arguments *a) {
    for (size_t k = 0; k < f->inputs; x += wgi_argument_size(&f->input[k++])) {
        a->in[k] = x;
        a->in_step[2 * k] = f->input[k].flags & WG_SHARED ? 0 : (ptrdiff_t)f->n;
        a->in_step[2 * k + 1] = 1;
    }
    for (size_t k = 0; k < f->outputs; y += wgi_argument_size(&f->output[k++])) {
        a->out[k] = y;
        a->out_step[2 * k] = (ptrdiff_t)f->m, a->out_step[2 * k + 1] = 1;
    }
}

static void evaluate(const wg_function *f, size_t points, const double *x, double *y) {
    arguments a;
    wg_points from[MOST_ARGUMENTS];
    wg_results to[MOST_ARGUMENTS];
    point_to(f, x, y, &a);
    for (size_t k = 0; k < f->inputs; k++)
        from[k] = (wg_points){a.in[k], a.in_step[2 * k], a.in_step[2 * k + 1]};
    for (size_t k = 0; k < f->outputs; k++)
        to[k] = (wg_results){a.out[k], a.out_step[2 * k], a.out_step[2 * k + 1]};
    void *const work = malloc(wg_function_work(f, NULL) + 64);
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, points, from, to, NULL, work, NULL), WG_OK);
    free(work);
}

/* The same bits, but for the sign of 0, which the rule of products by 0 may take away. */
static void compare(const char *name, const char *entry, int bits, size_t m, const double *got,
                    const double *want) {
    double most = 1;
    for (size_t j = 0; j < m; j++)
        if (isfinite(want[j])) most = fmax(most, fabs(want[j]));
    for (size_t j = 0; j < m; j++) {
        const double bound = bits ? 0 : TOL_LOOPS * most;
        const int close =
            isfinite(want[j]) ? fabs(got[j] - want[j]) <= bound : same_bits(got[j], want[j]);
        if (!close)
            fail_msg("%s%s, result %zu: %.17g, not %.17g", name, entry, j, got[j], want[j]);
    }
}

/* Sums of points are in another order. */
static void compare_points(const wg_function *f, const char *name, int bits, size_t points,
                           const double *got, const double *want) {
    for (size_t k = 0, j = 0; k < f->outputs; j += wgi_argument_size(&f->output[k++])) {
        const int summed = (f->output[k].flags & WG_SUMMED) != 0;
        for (size_t p = 0; p < (summed ? 1 : points); p++)
            compare(name, " of many", bits && !summed, wgi_argument_size(&f->output[k]),
                    got + p * f->m + j, want + p * f->m + j);
    }
}

static void check_casadi(const emitted *e, const wg_function *f, const char *name, int bits,
                         const double *x, const double *want) {
    static double y[MOST], all[MOST];
    arguments a;
    casadi_fn *run;
    work_fn *sizes;
    sparsity_fn *sparsity;
    long long room[4];
    EMITTED(e, name, "", run);
    EMITTED(e, name, "_work", sizes);
    EMITTED(e, name, "_sparsity_out", sparsity);
    assert_int_equal(sizes(&room[0], &room[1], &room[2], &room[3]), 0);
    double *const w = malloc(((size_t)room[3] + 1) * sizeof *w);
    assert_non_null(w);
    point_to(f, x, y, &a);
    assert_int_equal(run(a.in, a.out, NULL, w, 0), 0);
    free(w);
    memset(all, 0, f->m * sizeof *all);
    for (size_t k = 0, first = 0; k < f->outputs; k++) {
        const long long *const s = sparsity((long long)k), *const row = s + 3 + s[1];
        for (long long c = 0; c < s[1]; c++)
            for (long long i = s[2 + c]; i < s[3 + c]; i++)
                all[first + (size_t)(row[i] + c * s[0])] = a.out[k][i];
        first += wgi_argument_size(&f->output[k]);
    }
    compare(name, " of CasADi", bits, f->m, all, want);
}

static void check_name(const written *w, const char *name, int bits, size_t points,
                       const double *x, const double *one, const double *all) {
    static double y[SAME * MOST];
    const wg_function *const f = w->f;
    arguments a;
    for (size_t c = 0; c < libraries; c++) {
        const emitted e = {.library = library[c]};
        if (w->entries & WG_EMIT_POINT) {
            point_fn *point;
            EMITTED(&e, name, w->entries & WG_EMIT_CASADI ? "_point" : "", point);
            memset(y, 0x7f, sizeof y);
            point_to(f, x, y, &a);
            assert_int_equal(point(a.in, a.out), 0);
            compare(name, "", bits, f->m, y, one);
        }
        if (w->entries & WG_EMIT_BATCH) {
            batch_fn *batch;
            EMITTED(&e, name, "_batch", batch);
            memset(y, 0x7f, sizeof y);
            point_to(f, x, y, &a);
            assert_int_equal(batch(points, a.in, a.in_step, a.out, a.out_step, NULL), 0);
            compare_points(f, name, bits, points, y, all);
        }
        if (w->entries & WG_EMIT_CASADI) check_casadi(&e, f, name, bits, x, one);
    }
}

/* The texts against evaluation, bit by bit; loops, if wanted, roughly. */
static void check(const written *w, size_t points, const double *x, int loops) {
    static double one[MOST], all[SAME * MOST];
    assert_true(points <= SAME && w->f->m <= MOST && w->f->n <= MOST);
    evaluate(w->f, 1, x, one);
    evaluate(w->f, points, x, all);
    check_name(w, w->calls, 1, points, x, one, all);
    if (loops && w->in_loops) check_name(w, w->loops, 0, points, x, one, all);
}

/* ---- operations by themselves ------------------------------------------------------------ */

/* Products of all shapes for which BLAS has another call, and one that has none; blocks of
 * columns, of which there are three; empty ones. */
static const wgi_dense_op ops[] = {
    {WGI_DENSE_PRODUCT, 0, {5, 4, 7}},
    {WGI_DENSE_PRODUCT, WGI_DENSE_RULE, {12, 1, 11}},
    {WGI_DENSE_PRODUCT, WGI_DENSE_RULE, {1, 12, 11}},
    {WGI_DENSE_PRODUCT, WGI_DENSE_RULE, {13, 10, 1}},
    {WGI_DENSE_PRODUCT, 0, {3, 2, 4}},
    {WGI_DENSE_PRODUCT, 0, {4, 3, 0}},
    {WGI_DENSE_TRIANGLE, WGI_DENSE_RULE, {6, 1, 0}},
    {WGI_DENSE_TRIANGLE, 0, {7, 5, 0}},
    {WGI_DENSE_TRIANGLE, 0, {5, 0, 0}},
    {WGI_DENSE_CHOLESKY, 0, {9, 0, 0}},
    {WGI_DENSE_CHOLESKY, 0, {0, 0, 0}},
    {WGI_DENSE_POTRF_BAR, WGI_DENSE_RULE, {70, 0, 0}},
    {WGI_DENSE_POTRF_BAR, 0, {1, 0, 0}},
    {WGI_DENSE_LU, 0, {8, 0, 0}},
    {WGI_DENSE_LU, 0, {0, 0, 0}},
    {WGI_DENSE_SOLVE, 0, {6, 3, 0}},
    {WGI_DENSE_SOLVE, WGI_DENSE_RULE | WGI_DENSE_TURNED, {7, 1, 0}},
    {WGI_DENSE_LOGDET, 0, {6, 0, 0}},
    {WGI_DENSE_LOGDET, 0, {0, 0, 0}},
    {WGI_DENSE_DET, 0, {7, 0, 0}},
    {WGI_DENSE_DET, 0, {0, 0, 0}},
    {WGI_DENSE_COFACTOR, 0, {6, 0, 0}},
    {WGI_DENSE_COFACTOR, 0, {1, 0, 0}},
    {WGI_DENSE_COFACTOR_BAR, WGI_DENSE_RULE, {6, 0, 0}},
    {WGI_DENSE_COFACTOR_BAR, 0, {2, 0, 0}},
};
enum { OPS = sizeof ops / sizeof *ops };
static hand alone[OPS];
static written alone_text[OPS];

/* The results of one operation of inputs, of many some, and an input beside it. */
static void write_operation(size_t i) {
    hand *const h = &alone[i];
    uint32_t x[MOST], y[MOST];
    const size_t operands = wgi_dense_operands(&ops[i]), all = wgi_dense_results(&ops[i]);
    const size_t every = all > 200 ? 13 : 1;
    size_t results = 0;
    hand_open(h);
    const uint32_t first = hand_input(h, "x", operands + 1, 1, 0);
    for (size_t k = 0; k < operands; k++) x[k] = first + (uint32_t)k;
    const uint32_t node = wgi_graph_dense(&h->g, &ops[i], x);
    for (size_t k = 0; k < all; k += every) y[results++] = node + 1 + (uint32_t)k;
    y[results] = first + (uint32_t)operands;
    hand_output(h, "y", results + 1, 1, 0, y);
    hand_finish(h);
    put(&alone_text[i], h->f, all > 200 ? WG_EMIT_POINT | WG_EMIT_BATCH : ALL, UNIT, 1);
}

typedef enum { REGULAR, SINGULAR, NOT_FINITE, NOTHING } how;

static void draw(size_t n, double *x) {
    for (size_t i = 0; i < n; i++) x[i] = uniform(-1, 1);
}

/* With rows to be exchanged. */
static void draw_square(size_t n, how what, double *a) {
    draw(n * n, a);
    for (size_t i = 0; i < n; i++) a[i + (n - 1 - i) * n] += 6;
    if (what == SINGULAR && n > 2) memset(a + 2 * n, 0, n * sizeof *a);
    if (what == NOT_FINITE && n > 1) a[1] = INFINITY;
}

static void draw_triangle(size_t n, double heavy, how what, double *x) {
    draw(wgi_dense_triangle(n), x);
    for (size_t i = 0; i < n; i++) x[wgi_dense_packed(n, i, i)] += heavy;
    if (n < 3) return;
    if (what == SINGULAR) x[wgi_dense_packed(n, 2, 2)] = 0;
    if (what == NOT_FINITE) x[wgi_dense_packed(n, 2, 1)] = NAN;
}

/* The packed factors and pivots of one. */
static void draw_factors(size_t n, how what, double *x) {
    enum { ORDER = 16 };
    const wgi_dense_op op = {WGI_DENSE_LU, 0, {n, 0, 0}};
    double a[ORDER * ORDER], y[ORDER * ORDER + ORDER + 1];
    void *const work = calloc(1, wgi_dense_work(&op) + 64);
    assert_true(n <= ORDER && work != NULL);
    draw_square(n, what, a);
    wgi_dense_value(&op, a, y, work);
    memcpy(x, y, (n * n + n) * sizeof *x);
    free(work);
}

static void draw_operands(const wgi_dense_op *op, how what, double *x) {
    const size_t n = op->size[0], all = wgi_dense_operands(op);
    size_t first = wgi_dense_triangle(n); /* of the last operand */
    draw(all, x);
    if (op->kind == WGI_DENSE_LU || op->kind >= WGI_DENSE_DET) {
        draw_square(n, what, x);
        if (op->kind != WGI_DENSE_LU) first = n * n;
    } else if (op->kind == WGI_DENSE_PRODUCT) {
        first = n * op->size[2];
        if (what == NOT_FINITE && all != 0) x[all - 1] = -INFINITY;
    } else if (op->kind < WGI_DENSE_LU) draw_triangle(n, (double)n, what, x);
    else {
        draw_factors(n, what, x);
        first = 2 * n * n + n;
        for (size_t e = n * n + n; e < first; e++) x[e] = NAN; /* nobody reads A */
    }
    if (what != NOTHING || first >= all) return;
    memset(x + first, 0, (all - first) * sizeof *x);
    x[0] = NAN;
}

static void operations_by_themselves_have_the_bits_of_evaluation(void **state) {
    (void)state;
    static double x[SAME * MOST];
    for (size_t i = 0; i < OPS; i++) {
        const size_t n = alone[i].f->n;
        for (how what = REGULAR; what <= NOTHING; what++) {
            for (size_t p = 0; p < SAME; p++) {
                draw_operands(&ops[i], p == 1 ? REGULAR : what, x + p * n);
                x[(p + 1) * n - 1] = (double)p;
            }
            /* how far infinities go is a matter of order */
            check(&alone_text[i], SAME, x,
                  what == REGULAR || (what == SINGULAR && ops[i].kind != WGI_DENSE_POTRF_BAR));
        }
    }
}

static void what_cannot_be_done_is_nan_everywhere(void **state) {
    (void)state;
    static double x[MOST], y[MOST];
    for (size_t i = 0; i < OPS; i++) {
        const size_t n = alone[i].f->n, m = alone[i].f->m;
        if (ops[i].kind == WGI_DENSE_PRODUCT || ops[i].kind == WGI_DENSE_POTRF_BAR ||
            ops[i].kind >= WGI_DENSE_DET || ops[i].size[0] < 3) /* these can always be done */
            continue;
        draw_operands(&ops[i], SINGULAR, x);
        x[n - 1] = 1;
        evaluate(alone[i].f, 1, x, y);
        /* a determinant can be computed, and so can its derivatives */
        const int is_number = ops[i].kind >= WGI_DENSE_DET;
        for (size_t j = 0; j + 1 < m; j++)
            assert_true(is_number ? isfinite(y[j]) : isnan(y[j]));
        if (ops[i].kind == WGI_DENSE_DET) assert_true(y[0] == 0);
        check(&alone_text[i], 1, x, 1);
    }
}

/* ---- as they are recorded ---------------------------------------------------------------- */

typedef enum { GEMM, TRSM, CHOLESKY, SOLVE, LOGDET, SPD, KINDS } kind;
enum { LARGEST = 19 };
static const struct {
    size_t order, cols; /* of a, square; of b */
    unsigned flags_a, flags_b;
} shape[KINDS] = {
    [GEMM] = {11, 10, 0, WG_SHARED}, [TRSM] = {17, 8, 0, 0},   [CHOLESKY] = {19, 0, 0, 0},
    [SOLVE] = {16, 5, WG_SHARED, 0}, [LOGDET] = {16, 0, 0, 0}, [SPD] = {19, 6, 0, 0}};
/* How many are written: SPD is made of others, and the text of its second derivatives is long.
 */
static int orders_of(kind what) { return what == SPD ? 2 : 3; }
static wg_function *recorded[KINDS][3];
static written recorded_text[KINDS][3];

static wg_status operation(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    const kind what = *(const kind *)user;
    const size_t order = shape[what].order;
    const wg_mat a = wg_mat_gather(t, order, order, x);
    wg_mat b = a;
    (void)n;
    if (shape[what].cols != 0) b = wg_mat_gather(t, order, shape[what].cols, x + order * order);
    if (what == LOGDET) {
        *y = wg_logabsdet(t, a, NULL);
        return WG_OK;
    }
    const wg_mat r = what == GEMM       ? wg_gemm(t, 'T', 'N', 1, a, b, 0, b)
                     : what == TRSM     ? wg_trsm(t, 'L', 'L', 'N', 'N', 1, a, b)
                     : what == CHOLESKY ? wg_cholesky(t, a)
                     : what == SOLVE    ? wg_solve(t, a, b)
                                        : wg_solve_spd(t, a, b);
    for (size_t e = 0; e < m; e++) y[e] = wg_mat_at(r, e % order, e / order);
    return WG_OK;
}

/* a, b, and whatever comes after them. */
static void draw_recorded(kind what, const wg_function *f, double *x) {
    const size_t n = shape[what].order;
    draw(f->n, x);
    if (what == SOLVE || what == LOGDET) draw_square(n, REGULAR, x);
    else if (what != GEMM)
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < i; j++) x[j + i * n] = x[i + j * n];
            x[i * (n + 1)] += (double)n;
        }
}

/* The function, its adjoint, a product with second derivatives. */
static void write_recorded(kind what) {
    double x[2 * LARGEST * LARGEST];
    const size_t n = shape[what].order, k = shape[what].cols;
    const size_t m = what == LOGDET ? 1 : n, cols = k != 0 ? k : what == LOGDET ? 1 : n;
    const wg_argument in[] = {{"a", n, n, shape[what].flags_a},
                              {"b", n, k, shape[what].flags_b}};
    const wg_argument out = {"y", m, cols, 0};
    const wg_function like = {.n = n * (n + k)};
    wg_function **const f = recorded[what];
    draw_recorded(what, &like, x);
    must(wg_function_record(coded, operation, &what, 1 + (k != 0), in, x, 1, &out, &f[0]),
         coded);
    must(wg_function_vjp(coded, f[0], &f[1]), coded);
    must(wg_function_hvp(coded, f[0], &f[2]), coded);
    for (int i = 0; i < orders_of(what); i++) {
        assert_true(dense_is_in(f[i]));
        /* one of all is enough */
        put(&recorded_text[what][i], f[i], what == SOLVE && i < 2 ? ALL : WG_EMIT_POINT, UNIT,
            what == SOLVE);
    }
}

static void derivatives_have_the_bits_of_evaluation(void **state) {
    (void)state;
    static double x[SAME * MOST];
    for (kind what = GEMM; what < KINDS; what++)
        for (int i = 0; i < orders_of(what); i++) {
            const wg_function *const f = recorded[what][i];
            for (size_t p = 0; p < SAME; p++) draw_recorded(what, f, x + p * f->n);
            check(&recorded_text[what][i], SAME, x, 1);
        }
}

static void adjoints_that_nobody_asks_for_are_zero_where_nothing_can_be_done(void **state) {
    (void)state;
    static double x[MOST], y[MOST];
    for (kind what = TRSM; what < KINDS; what++) {
        const wg_function *const f = recorded[what][1];
        const size_t n = shape[what].order, w = n * (n + shape[what].cols);
        draw_recorded(what, f, x);
        for (size_t i = 0; i < n; i++) x[3 + i * n] = x[3 * n + i] = 0;
        evaluate(f, 1, x, y);
        assert_nan(y[0]);
        check(&recorded_text[what][1], 1, x, 0);
        memset(x + w, 0, (f->n - w) * sizeof *x);
        evaluate(f, 1, x, y);
        for (size_t j = 0; j < f->m; j++) assert_true(y[j] == 0);
        check(&recorded_text[what][1], 1, x, 1);
    }
}

/* ---- in the steps of a loop -------------------------------------------------------------- */

enum { SIDE = 11, STATE = SIDE * SIDE, STEPS = 4 };
static wg_function *looping[2];
static written looping_text[2];

/* A matrix, and one that all steps share. Nothing but + and *. */
static wg_status step(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)user;
    const wg_mat r =
        wg_matmul(t, wg_mat_gather(t, SIDE, SIDE, x), wg_mat_gather(t, SIDE, SIDE, x + STATE));
    for (size_t e = 0; e < m; e++)
        y[e] = wg_let(t, wg_add(wg_mul(0.2, wg_mat_at(r, e % SIDE, e / SIDE)), 0.1));
    return WG_OK;
}

static wg_status steps(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    const wg_source from[] = {wg_from_state("s"),
                              wg_from_matrix(wg_mat_gather(t, STATE, 1, x + STATE))};
    const wg_stage stage = {user, from};
    const wg_state start = {"s", wg_mat_gather(t, STATE, 1, x)};
    wg_mat end;
    const wg_status s = wg_scan(t, STEPS, 1, &stage, 1, &start, NULL, &end);
    (void)n, (void)m;
    y[0] = wg_constant(0);
    for (size_t e = 0; s == WG_OK && e < STATE; e++)
        y[0] = wg_let(t, wg_add(y[0], wg_square(wg_mat_at(end, e, 0))));
    return s;
}

static void write_loops(void) {
    static const wg_argument of_step[] = {{"s", STATE, 1, 0}, {"w", STATE, 1, WG_SHARED}};
    static const wg_argument after = {"s", STATE, 1, 0}, all = {"x", 2 * STATE, 1, 0};
    static const wg_argument sum = {"y", 1, 1, 0};
    static double x[2 * STATE];
    const wg_options options = {.flags = WG_KEEP_CODE, .loops_over = 1};
    wg_tape *const t = wg_tape_new(&options);
    wg_function *one = NULL;
    wg_callable *k = NULL;
    must(wg_function_record(t, step, NULL, 2, of_step, x, 1, &after, &one), t);
    must(wg_callable_new(t, one, &k), t);
    must(wg_function_record(t, steps, k, 1, &all, x, 1, &sum, &looping[0]), t);
    must(wg_function_gradient(t, looping[0], &looping[1]), t);
    for (int i = 0; i < 2; i++) {
        assert_true(looping[i]->repeats > 0 && dense_is_in(looping[i]));
        put(&looping_text[i], looping[i], ALL, UNIT, 0);
    }
    wg_callable_free(k);
    wg_function_free(one);
    wg_tape_free(t);
}

static void steps_of_loops_have_the_bits_of_evaluation(void **state) {
    (void)state;
    static double x[SAME * MOST];
    draw(SAME * 2 * STATE, x);
    for (int i = 0; i < 2; i++) check(&looping_text[i], SAME, x, 1);
}

/* ---- what the text is like --------------------------------------------------------------- */

/* Names that the headers have, and those of the text itself. */
static const char *const names[] = {"I",          "complex",          "EOF",
                                    "lapack_int", "LAPACK_ROW_MAJOR", "work",
                                    "pivot",      "stdout",           "dgemm_"};
enum { NAMES = sizeof names / sizeof *names };
static hand named, apart;
static written named_text, apart_text;

static void write_named(void) {
    const wgi_dense_op op = {WGI_DENSE_LU, 0, {3, 0, 0}};
    uint32_t x[NAMES], y[13];
    hand_open(&named);
    for (size_t k = 0; k < NAMES; k++) x[k] = hand_input(&named, names[k], 1, 1, 0);
    const uint32_t node = wgi_graph_dense(&named.g, &op, x);
    for (uint32_t k = 0; k < 13; k++) y[k] = node + 1 + k;
    for (size_t k = 0; k < NAMES; k++)
        hand_output(&named, names[NAMES - 1 - k], 1, 1, 0, &y[k]);
    hand_output(&named, "more", 4, 1, 0, y + NAMES);
    hand_finish(&named);
}

/* Each operation and each part of it in a unit of its own: one has no use for A, another one
 * none for c, a factor of a product whose derivative by c it has. */
static void write_apart(void) {
    const wgi_dense_op lu = {WGI_DENSE_LU, 0, {2, 0, 0}},
                       solve = {WGI_DENSE_SOLVE, 0, {2, 1, 0}};
    uint32_t x[12], y[3];
    hand_open(&apart);
    const uint32_t a = hand_input(&apart, "a", 2, 2, 0), b = hand_input(&apart, "b", 2, 1, 0);
    const uint32_t factor[] = {hand_input(&apart, "c", 1, 1, 0), b};
    for (uint32_t k = 0; k < 4; k++) x[k] = x[6 + k] = a + k;
    const uint32_t factors = wgi_graph_dense(&apart.g, &lu, x) + 1;
    for (uint32_t k = 0; k < 6; k++) x[k] = factors + k;
    x[10] = b, x[11] = b + 1;
    const uint32_t node = wgi_graph_dense(&apart.g, &solve, x);
    y[0] = node + 1, y[1] = node + 2;
    y[2] = hand_partial(&apart, op_named("mul"), WGI_NODE_FIRST, 0, factor);
    hand_output(&apart, "y", 3, 1, 0, y);
    hand_finish(&apart);
}

static void any_name_and_any_unit_will_do(void **state) {
    (void)state;
    static const double x[] = {1, 5, 2, 3, 4, 8, 9, 7, 6};
    check(&named_text, 1, x, 1);
    check(&apart_text, 1, x, 1);
}

static char *text_of(const wg_function *f, const wg_emit_options *o) {
    size_t n, again;
    must(wg_function_text(coded, f, o, NULL, 0, &n), coded);
    char *const text = malloc(n + 1);
    assert_non_null(text);
    must(wg_function_text(coded, f, o, text, n + 1, &again), coded);
    return text;
}

static size_t times_in(const char *text, const char *word) {
    size_t count = 0;
    for (const char *p = text; (p = strstr(p, word)) != NULL; p++) count++;
    return count;
}

static void headers_are_included_where_they_are_needed(void **state) {
    (void)state;
    static const wg_emit_options loops = {.entries = ALL}, calls = {.entries = ALL, .blas = 1};
    static const struct {
        kind what;
        size_t cblas, lapacke;
    } cases[] = {{GEMM, 1, 0}, {LOGDET, 0, 1}, {SPD, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *const a = text_of(recorded[cases[i].what][0], &loops);
        char *const b = text_of(recorded[cases[i].what][0], &calls);
        assert_int_equal(times_in(a, "cblas") + times_in(a, "lapack") + times_in(a, "LAPACK"),
                         0);
        assert_int_equal(times_in(b, "#include <cblas.h>"), cases[i].cblas);
        assert_int_equal(times_in(b, "#include <lapacke.h>"), cases[i].lapacke);
        /* what neither allocates nor looks for NaN */
        assert_int_equal(times_in(b, "LAPACKE_"), times_in(b, "_work(LAPACK_COL_MAJOR"));
        free(a), free(b);
    }
    char *const a = text_of(looping[1], &calls); /* in bodies only */
    assert_int_equal(times_in(a, "#include <cblas.h>"), 1);
    free(a);
    hand plain;
    hand_open(&plain);
    hand_draw(&plain, 3, 20, 1, 1);
    char *const b = text_of(plain.f, &loops), *const c = text_of(plain.f, &calls);
    assert_string_equal(b, c);
    free(b), free(c);
    hand_close(&plain);
}

static void what_cannot_be_asked_for_is_a_status(void **state) {
    (void)state;
    static const char *const taken[] = {"cblas_dgemm", "LAPACKE_x", "lapack_int", "complex",
                                        "csin",        "conj",      "free",       "I"};
    const wg_function *const f = recorded[GEMM][0];
    wg_emit_options o = {.blas = 2};
    size_t needed;
    assert_int_equal(wg_function_text(coded, f, &o, NULL, 0, &needed), WG_EARG);
    assert_message(coded, "blas 2");
    o.blas = -1;
    assert_int_equal(wg_function_text(coded, f, &o, NULL, 0, &needed), WG_EARG);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        o.name = taken[i];
        o.blas = 1;
        assert_int_equal(wg_function_text(coded, f, &o, NULL, 0, &needed), WG_EARG);
        assert_message(coded, taken[i]);
        o.blas = 0;
        assert_int_equal(wg_function_text(coded, f, &o, NULL, 0, &needed), WG_OK);
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

static int write_all(void **state) {
    if (open_tapes(state) != 0) return -1;
    file = emitted_text(&made);
    write_named(); /* its loops before any header of BLAS */
    put(&named_text, named.f, ALL, 0, 1);
    for (size_t i = 0; i < OPS; i++) write_operation(i);
    for (kind what = GEMM; what < KINDS; what++) write_recorded(what);
    write_loops();
    write_apart();
    put(&apart_text, apart.f, ALL, 1, 1);
    compile_texts();
    return 0;
}

static int free_all(void **state) {
    for (size_t c = 0; c < libraries; c++) (void)dlclose(library[c]);
    for (size_t i = 0; i < OPS; i++) hand_close(&alone[i]);
    for (kind what = GEMM; what < KINDS; what++)
        for (int i = 0; i < 3; i++) wg_function_free(recorded[what][i]);
    for (int i = 0; i < 2; i++) wg_function_free(looping[i]);
    hand_close(&named);
    hand_close(&apart);
    return close_tapes(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_by_themselves_have_the_bits_of_evaluation),
        cmocka_unit_test(what_cannot_be_done_is_nan_everywhere),
        cmocka_unit_test(derivatives_have_the_bits_of_evaluation),
        cmocka_unit_test(adjoints_that_nobody_asks_for_are_zero_where_nothing_can_be_done),
        cmocka_unit_test(steps_of_loops_have_the_bits_of_evaluation),
        cmocka_unit_test(any_name_and_any_unit_will_do),
        cmocka_unit_test(headers_are_included_where_they_are_needed),
        cmocka_unit_test(what_cannot_be_asked_for_is_a_status),
    };
    return cmocka_run_group_tests(tests, write_all, free_all);
}
