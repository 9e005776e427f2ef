/* SPDX-License-Identifier: MIT */
/* Drivers for functions of matrices: the user's function is evaluated on an emptied tape, as
 * those of drivers.c do it, with matrices for its inputs and outputs.
 *
 * Inputs by which somebody wants a derivative are the first variables of the tape, in their
 * order and column after column; the others are constants. Letters: n inputs, m outputs, N and
 * M elements of the inputs that are variables and of all outputs. Second order and Jacobians go
 * by elements, N of them side by side; the others by matrices where they stand. Outputs are
 * written when nothing can fail any more. */
#include <wengert/matrix_drivers.h>
#include <wengert/products.h>
#include <wengert/scalar.h>
#include <wengert/statement.h>
#include "jacobian.h"
#include "second_order.h"

#include <string.h>

enum { LANES = WGI_JACOBIAN_LANES };

/* One run of a driver. */
typedef struct run {
    wgi_drive d;
    wg_mat_callback *f;
    void *data;
    size_t n, m;
    const wg_mat_values *x;
    wg_mat *in, *out;     /* of the function; one more behind the outputs */
    unsigned char *moves; /* of input i: it is a variable */
    double *numbers;      /* room for as many as were asked for */
} run;

/* ---- sizes ---- */

static size_t times(size_t a, size_t b) {
    return a != 0 && b > SIZE_MAX / a ? SIZE_MAX : a * b;
}
static size_t plus(size_t a, size_t b) { return b > SIZE_MAX - a ? SIZE_MAX : a + b; }
static size_t ld_of(size_t rows, size_t ld) { return ld != 0 ? ld : rows; }
static size_t elements(const run *r, size_t i) { return times(r->x[i].rows, r->x[i].cols); }

/* Element k of a matrix, column after column. */
static wg_real element(const wg_mat *a, size_t k) {
    return wg_mat_at(*a, k % a->rows, k / a->rows);
}
static size_t count(const wg_mat *a) { return a->rows * a->cols; }

static int wanted(const wg_mat_result *a, size_t i) { return a != NULL && a[i].value != NULL; }
static int any_wanted(const wg_mat_result *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (wanted(a, i)) return 1;
    return 0;
}

/* ---- opening ---- */

static wg_status call_function(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *data) {
    run *const r = data;
    (void)n, (void)x, (void)m, (void)y;
    for (size_t j = 0; j < r->m; j++) r->out[j] = wg_mat_failed(0, 0);
    r->out[r->m] = wg_mat_failed(SIZE_MAX, SIZE_MAX); /* left by f */
    return r->f(t, r->n, r->in, r->m, r->out, r->data);
}

static wg_status check_ld(const run *r, const char *name, size_t i, size_t rows, size_t cols,
                          size_t ld) {
    if (ld_of(rows, ld) >= rows) return WG_OK;
    return wgi_fail(r->d.c, WG_ESHAPE,
                    "%s: %s[%zu] is %zux%zu, its leading dimension %zu is less than %zu",
                    r->d.call, name, i, rows, cols, ld, rows);
}

/* Is what the caller has for input or output i in its shape? */
static wg_status check_shape(const run *r, int outputs, const char *name, size_t i, size_t rows,
                             size_t cols, size_t ld) {
    const size_t of_rows = outputs ? r->out[i].rows : r->x[i].rows;
    const size_t of_cols = outputs ? r->out[i].cols : r->x[i].cols;
    if (rows != of_rows || cols != of_cols)
        return wgi_fail(r->d.c, WG_ESHAPE, "%s: %s[%zu] is %zux%zu, %s %zu is %zux%zu",
                        r->d.call, name, i, rows, cols, outputs ? "output" : "input", i,
                        of_rows, of_cols);
    return check_ld(r, name, i, rows, cols, ld);
}

/* What is wanted, or given, of the inputs, or, once the function has set them, of the outputs;
 * entries that are NULL are not looked at. */
static wg_status check_results(const run *r, int outputs, const char *name,
                               const wg_mat_result *a) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < (outputs ? r->m : r->n) && s == WG_OK; i++)
        if (wanted(a, i)) s = check_shape(r, outputs, name, i, a[i].rows, a[i].cols, a[i].ld);
    return s;
}
static wg_status check_values(const run *r, int outputs, const char *name,
                              const wg_mat_values *a) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < (outputs ? r->m : r->n) && a != NULL && s == WG_OK; i++)
        if (a[i].value != NULL)
            s = check_shape(r, outputs, name, i, a[i].rows, a[i].cols, a[i].ld);
    return s;
}

/* Takes room for the matrices and for numbers beside. */
static wg_status take_room(run *r, size_t matrices, size_t flags, size_t numbers) {
    wgi_drive *const d = &r->d;
    const size_t start = d->used;
    (void)wgi_drive_room(d, matrices + flags);
    if (numbers > SIZE_MAX / 32)
        return wgi_fail(d->c, WG_ENOMEM, "%s: no room for %zu derivatives", d->call, numbers);
    r->numbers = wgi_drive_late_room(d, numbers);
    if (r->numbers == NULL) return d->c->status;
    double *const room = (double *)(void *)(d->c->drive.base + start);
    r->in = (wg_mat *)(void *)room;
    r->out = r->in + r->n;
    r->moves = (unsigned char *)(room + matrices);
    memset(r->moves, 0, r->n);
    return WG_OK;
}

/* Resets the tape, takes room for matrices, for so many variables and scalar outputs, and for
 * numbers beside; and looks at the inputs. After a failure: close. */
static wg_status open(run *r, wg_tape *t, const char *call, wg_mat_callback *f, void *data,
                      size_t n, const wg_mat_values *x, size_t m, size_t variables,
                      size_t scalars, size_t numbers) {
    const size_t matrices = times(plus(plus(n, m), 1), sizeof(wg_mat) / sizeof(double));
    const size_t flags = n / sizeof(double) + 1;
    *r = (run){.f = f, .data = data, .n = n, .m = m, .x = x};
    wg_status s = wgi_drive_open(&r->d, t, call, f != NULL ? call_function : NULL, r, variables,
                                 scalars, plus(matrices, flags));
    if (s == WG_OK) s = take_room(r, matrices, flags, numbers);
    if (s == WG_OK && x == NULL && n != 0) s = wgi_drive_null_argument(&r->d, "x", n);
    for (size_t i = 0; i < n && s == WG_OK; i++) {
        if (x[i].value == NULL && elements(r, i) != 0)
            s = wgi_fail(r->d.c, WG_ENULL, "%s: x[%zu] is NULL, with %zux%zu elements", call, i,
                         x[i].rows, x[i].cols);
        else s = check_ld(r, "x", i, x[i].rows, x[i].cols, x[i].ld);
    }
    return s;
}

static wg_status null_weights(run *r) { return wgi_drive_null_argument(&r->d, "w", r->m); }

/* ---- evaluating ---- */

/* The function has come back: what are its outputs? */
static wg_status check_set(const run *r) {
    wgi_core *const c = r->d.c;
    const wg_mat *const behind = &r->out[r->m];
    if (behind->value != NULL || behind->rows != SIZE_MAX || behind->cols != SIZE_MAX)
        return wgi_fail(c, WG_ESHAPE, "%s: the function has written more than %zu output%s",
                        r->d.call, r->m, r->m == 1 ? "" : "s");
    for (size_t j = 0; j < r->m; j++) {
        if (r->out[j].value == NULL)
            return wgi_fail(c, WG_ESHAPE,
                            "%s: output %zu was not set by the function, or is a failed matrix",
                            r->d.call, j);
        if (wgi_mat_stale(c, &r->out[j]))
            return wgi_fail(
                c, WG_ESTALE,
                "%s: output %zu is a matrix of another tape, or from before a reset "
                "or rewind",
                r->d.call, j);
    }
    return WG_OK;
}

/* Makes the inputs and calls the function: without recording if nothing moves, otherwise with
 * `width` tangents, or, for 0, recording. Tangents are those of v, or, for v NULL, lane l is 1
 * at the element `first` + l of those that move. */
static wg_status evaluate(run *r, size_t width, const wg_mat_values *v, size_t first) {
    wgi_core *const c = r->d.c;
    wg_tape *const t = &c->head;
    const int passive = memchr(r->moves, 1, r->n) == NULL;
    wg_status s = WG_OK;
    wgi_drive_begin(&r->d, passive, passive ? 0 : width);
    for (size_t i = 0; i < r->n; i++) {
        const wg_mat_values *const x = &r->x[i];
        r->in[i] = (r->moves[i] ? wg_mat_input : wg_mat_constant)(t, x->rows, x->cols, x->value,
                                                                  ld_of(x->rows, x->ld));
        if (c->status != WG_OK) return c->status;
        if (width != 0 && v != NULL && r->moves[i])
            s = wg_mat_tangent_seed(t, r->in[i], 0, v[i].value, ld_of(v[i].rows, v[i].ld));
        if (s != WG_OK) return s;
    }
    for (size_t l = 0; !passive && v == NULL && l < width; l++)
        wgi_drive_seed_input(c, first + l, l, 1);
    s = wgi_drive_call(&r->d);
    return s == WG_OK ? check_set(r) : s;
}

/* ---- writing ---- */

static void fill(const wg_mat_result *to, double value) {
    for (size_t j = 0; j < to->cols; j++)
        for (size_t i = 0; i < to->rows; i++)
            to->value[i + j * ld_of(to->rows, to->ld)] = value;
}

/* From numbers side by side, `down` from element to element, to a matrix; and back. */
static void scatter(const wg_mat_result *to, const double *from, size_t down, size_t across) {
    for (size_t j = 0; j < to->cols; j++)
        for (size_t i = 0; i < to->rows; i++)
            to->value[i + j * ld_of(to->rows, to->ld)] = from[i * down + j * across];
}
static void pack(const wg_mat_values *from, double *to) {
    for (size_t j = 0; j < from->cols; j++)
        for (size_t i = 0; i < from->rows; i++)
            *to++ = from->value[i + j * ld_of(from->rows, from->ld)];
}

static wg_status values(const run *r, const wg_mat_result *y) {
    wg_status s = WG_OK;
    for (size_t j = 0; j < r->m && s == WG_OK; j++)
        if (wanted(y, j))
            s = wg_mat_value(&r->d.c->head, r->out[j], y[j].value, ld_of(y[j].rows, y[j].ld));
    return s;
}

/* ---- values and first derivatives ---- */

wg_status wg_mat_eval(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                      const wg_mat_values *x, size_t m, const wg_mat_result *y) {
    run r;
    wg_status s = open(&r, t, "wg_mat_eval", f, data, n, x, m, 0, 0, 0);
    if (s == WG_OK) s = evaluate(&r, 0, NULL, 0);
    if (s == WG_OK) s = check_results(&r, 1, "y", y);
    if (s == WG_OK) s = values(&r, y);
    return wgi_drive_close(&r.d, s);
}

/* What outputs that are constants contribute: 0, but NaN where one that has a weight is NaN. */
static double of_constants(const run *r, const wg_mat_values *w) {
    double sum = 0;
    for (size_t j = 0; j < r->m; j++) {
        if (w[j].value == NULL || r->out[j].at.slot != 0) continue;
        for (size_t k = 0; k < count(&r->out[j]); k++) {
            const size_t i = k % w[j].rows + k / w[j].rows * ld_of(w[j].rows, w[j].ld);
            sum += wgi_product(w[j].value[i], wgi_of_constant(element(&r->out[j], k)));
        }
    }
    return sum;
}

/* Sweeps from all outputs that have a weight, and sets *swept if there is a variable among
 * them. */
static wg_status sweep(const run *r, const wg_mat_values *w, int *swept) {
    wgi_core *const c = r->d.c;
    uint32_t root = 0;
    wg_status s = WG_OK;
    for (size_t j = 0; j < r->m; j++) {
        const wg_mat *const y = &r->out[j];
        if (w[j].value == NULL || y->at.slot == 0 || count(y) == 0) continue;
        const uint32_t last = element(y, count(y) - 1).at.slot;
        if (last > root) root = last;
    }
    root = wgi_sweep_from(c, root);
    *swept = root != 0;
    if (root == 0) return WG_OK;
    const uint64_t reach = wgi_reach(c, root);
    s = wgi_adjoints_open(c, reach + 1, 1, 0);
    if (s != WG_OK)
        return wgi_fail(c, s, "%s: no memory for adjoints of %llu slots", r->d.call,
                        (unsigned long long)reach);
    for (size_t j = 0; j < r->m && s == WG_OK; j++)
        if (w[j].value != NULL && r->out[j].at.slot != 0)
            s = wg_mat_adjoint_seed(&c->head, r->out[j], w[j].value, ld_of(w[j].rows, w[j].ld));
    return s == WG_OK ? wgi_sweep(c, wgi_record_after(c, root), 0) : s;
}

/* g = J' w, after an evaluation. Everything that can fail has its turn before `y` is
 * written. */
static wg_status reverse(run *r, const wg_mat_values *w, const wg_mat_result *y,
                         const wg_mat_result *g) {
    const double nan = w != NULL ? of_constants(r, w) : 0;
    int swept = 0;
    wg_status s = any_wanted(g, r->n) ? sweep(r, w, &swept) : WG_OK;
    if (s == WG_OK) s = values(r, y);
    for (size_t i = 0; i < r->n && s == WG_OK; i++) {
        if (!wanted(g, i)) continue;
        if (swept && nan == nan)
            s = wg_mat_adjoint(&r->d.c->head, r->in[i], g[i].value, ld_of(g[i].rows, g[i].ld));
        else fill(&g[i], nan);
    }
    return s;
}

static wg_status check_scalar(const run *r) {
    const wg_mat *const y = r->out;
    if (y->rows == 1 && y->cols == 1) return WG_OK;
    return wgi_fail(r->d.c, WG_ESHAPE, "%s: the output is %zux%zu, not 1x1", r->d.call, y->rows,
                    y->cols);
}

wg_status wg_mat_gradient(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                          const wg_mat_values *x, double *value, const wg_mat_result *g) {
    const double one = 1;
    const wg_mat_values w = {&one, 1, 1, 1};
    const wg_mat_result y = {value, 1, 1, 1};
    run r;
    wg_status s = open(&r, t, "wg_mat_gradient", f, data, n, x, 1, 0, 0, 0);
    if (s == WG_OK) s = check_results(&r, 0, "g", g);
    for (size_t i = 0; i < n && s == WG_OK; i++) r.moves[i] = (unsigned char)wanted(g, i);
    if (s == WG_OK) s = evaluate(&r, 0, NULL, 0);
    if (s == WG_OK) s = check_scalar(&r);
    if (s == WG_OK) s = reverse(&r, &w, &y, g);
    return wgi_drive_close(&r.d, s);
}

wg_status wg_mat_vjp(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                     const wg_mat_values *x, size_t m, const wg_mat_values *w,
                     const wg_mat_result *y, const wg_mat_result *g) {
    run r;
    wg_status s = open(&r, t, "wg_mat_vjp", f, data, n, x, m, 0, 0, 0);
    if (s == WG_OK) s = check_results(&r, 0, "g", g);
    if (s == WG_OK && w == NULL && m != 0 && any_wanted(g, n)) s = null_weights(&r);
    for (size_t i = 0; i < n && s == WG_OK; i++) r.moves[i] = (unsigned char)wanted(g, i);
    if (s == WG_OK) s = evaluate(&r, 0, NULL, 0);
    if (s == WG_OK) s = check_results(&r, 1, "y", y);
    if (s == WG_OK) s = check_values(&r, 1, "w", w);
    if (s == WG_OK) s = reverse(&r, w, y, g);
    return wgi_drive_close(&r.d, s);
}

/* A lane of the tangent of an output, its elements `ld` from column to column. */
static wg_status tangent(const run *r, size_t j, size_t lane, double *to, size_t ld) {
    const wg_mat *const y = &r->out[j];
    if (y->at.slot != 0) return wg_mat_tangent(&r->d.c->head, *y, lane, to, ld);
    for (size_t k = 0; k < count(y); k++)
        to[k % y->rows + k / y->rows * ld] = wgi_of_constant(element(y, k));
    return WG_OK;
}

wg_status wg_mat_jvp(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                     const wg_mat_values *x, const wg_mat_values *v, size_t m,
                     const wg_mat_result *y, const wg_mat_result *jv) {
    run r;
    wg_status s = open(&r, t, "wg_mat_jvp", f, data, n, x, m, 0, 0, 0);
    const int moved = any_wanted(jv, m);
    if (s == WG_OK && v == NULL && n != 0 && moved) s = wgi_drive_null_argument(&r.d, "v", n);
    if (s == WG_OK) s = check_values(&r, 0, "v", v);
    for (size_t i = 0; i < n && s == WG_OK && moved; i++) r.moves[i] = v[i].value != NULL;
    if (s == WG_OK) s = evaluate(&r, 1, v, 0);
    if (s == WG_OK) s = check_results(&r, 1, "y", y);
    if (s == WG_OK) s = check_results(&r, 1, "jv", jv);
    if (s == WG_OK) s = values(&r, y);
    for (size_t j = 0; j < m && s == WG_OK; j++)
        if (wanted(jv, j)) s = tangent(&r, j, 0, jv[j].value, ld_of(jv[j].rows, jv[j].ld));
    return wgi_drive_close(&r.d, s);
}

/* ---- by elements: Jacobians and second order ---- */

/* Marks the inputs that have a block that is wanted, of `rows` rows of n blocks, and gives how
 * many elements these have. moves NULL: gives that only. */
static size_t columns(size_t n, const wg_mat_values *x, size_t rows, const wg_mat_result *block,
                      unsigned char *moves) {
    size_t sum = 0;
    for (size_t i = 0; i < n && x != NULL; i++) {
        int any = 0;
        for (size_t j = 0; j < rows && block != NULL; j++) any |= wanted(block, j * n + i);
        if (moves != NULL) moves[i] = (unsigned char)any;
        if (any) sum = plus(sum, times(x[i].rows, x[i].cols));
    }
    return sum;
}

/* Is the block at (j, i) as large as the elements say? */
static wg_status check_block(const run *r, const char *name, size_t at, const wg_mat_result *b,
                             size_t rows, size_t cols) {
    if (b->value == NULL) return WG_OK;
    if (b->rows != rows || b->cols != cols)
        return wgi_fail(r->d.c, WG_ESHAPE, "%s: %s[%zu] is %zux%zu, of %zu by %zu elements",
                        r->d.call, name, at, b->rows, b->cols, rows, cols);
    return check_ld(r, name, at, b->rows, b->cols, b->ld);
}

/* Evaluates the function, whose outputs are to have the shapes of y. */
static wg_status evaluate_as(run *r, size_t width, size_t first, const wg_mat_result *y) {
    wg_status s = evaluate(r, width, NULL, first);
    for (size_t j = 0; j < r->m && s == WG_OK; j++)
        s = check_shape(r, 1, "y", j, y[j].rows, y[j].cols, wanted(y, j) ? y[j].ld : 0);
    return s;
}

/* Rows of the Jacobian, 8 by each sweep, N numbers each. */
static wg_status reverse_rows(run *r, const wg_mat_result *out, size_t m, size_t n,
                              double *rows) {
    wg_tape *const t = &r->d.c->head;
    size_t j = 0, k = 0; /* element k of output j */
    wg_status s = evaluate_as(r, 0, 0, out);
    for (size_t first = 0; first < m && s == WG_OK; first += LANES) {
        const size_t width = m - first < LANES ? m - first : LANES;
        wg_real y[LANES];
        double w[LANES * LANES] = {0};
        for (size_t l = 0; l < width; l++, k++) {
            for (; k == count(&r->out[j]); j++) k = 0;
            y[l] = element(&r->out[j], k);
            w[l * width + l] = 1;
        }
        s = wg_reverse_lanes(t, width, width, y, w);
        if (s == WG_ESEED) s = WG_OK; /* these are constants */
        for (size_t l = 0; l < width; l++)
            for (size_t i = 0; i < n && s == WG_OK; i++)
                rows[(first + l) * n + i] = y[l].at.slot == 0
                                                ? wgi_of_constant(y[l])
                                                : wgi_drive_input_adjoint(r->d.c, i, l);
    }
    return s;
}

/* Columns of it, 8 by each evaluation, M numbers each. */
static wg_status forward_columns(run *r, const wg_mat_result *out, size_t m, size_t n,
                                 double *cols) {
    wg_status s = WG_OK;
    for (size_t first = 0; first < n && s == WG_OK; first += LANES) {
        const size_t width = n - first < LANES ? n - first : LANES;
        s = evaluate_as(r, width, first, out);
        for (size_t l = 0; l < width; l++) {
            double *to = cols + (first + l) * m;
            for (size_t j = 0; j < r->m && s == WG_OK; to += count(&r->out[j++]))
                s = tangent(r, j, l, to, r->out[j].rows);
        }
    }
    return s;
}

wg_status wg_mat_jacobian(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                          const wg_mat_values *x, size_t m, const wg_mat_result *y,
                          const wg_mat_result *jac) {
    size_t rows = 0;
    for (size_t j = 0; j < m && y != NULL; j++) rows = plus(rows, times(y[j].rows, y[j].cols));
    const size_t cols = columns(n, x, m, jac, NULL);
    const int forward = wgi_jacobian_forward(cols, rows);
    const size_t down = forward ? 1 : cols, across = forward ? rows : 1; /* of the numbers */
    run r;
    wg_status s = open(&r, t, "wg_mat_jacobian", f, data, n, x, m, 0, 0, times(rows, cols));
    if (s == WG_OK && y == NULL && m != 0) s = wgi_drive_null_argument(&r.d, "y", m);
    for (size_t b = 0; jac != NULL && b < n * m && s == WG_OK; b++)
        s = check_block(&r, "jac", b, &jac[b], times(y[b / n].rows, y[b / n].cols),
                        elements(&r, b % n));
    if (s == WG_OK) {
        (void)columns(n, x, m, jac, r.moves);
        if (rows == 0 || cols == 0) s = evaluate_as(&r, 0, 0, y);
        else if (forward) s = forward_columns(&r, y, rows, cols, r.numbers);
        else s = reverse_rows(&r, y, rows, cols, r.numbers);
    }
    if (s == WG_OK) s = values(&r, y);
    const double *from = r.numbers;
    for (size_t j = 0; j < m && jac != NULL && s == WG_OK; j++) {
        const double *block = from;
        for (size_t i = 0; i < n; i++) {
            if (wanted(jac, j * n + i)) scatter(&jac[j * n + i], block, down, across);
            if (r.moves[i]) block += elements(&r, i) * across;
        }
        from += count(&r.out[j]) * down;
    }
    return wgi_drive_close(&r.d, s);
}

/* sum_j <w[j], y[j]> over the outputs that are variables, recorded. */
static wg_real weighted(const run *r, const wg_mat_values *w) {
    wg_tape *const t = &r->d.c->head;
    wg_real sum = wg_constant(0);
    if (w == NULL && r->m != 0) return wg_mat_at(r->out[0], 0, 0);
    for (size_t j = 0; j < r->m; j++) {
        if (w[j].value == NULL || r->out[j].at.slot == 0) continue;
        const wg_mat by =
            wg_mat_constant(t, w[j].rows, w[j].cols, w[j].value, ld_of(w[j].rows, w[j].ld));
        sum = wg_let(t, wg_add(sum, wg_mat_dot(t, r->out[j], by)));
    }
    return sum;
}

/* What hvp and Hessian want. Numbers of the inputs that move stand side by side in x, and so do
 * their derivatives. */
typedef struct second {
    const char *call;
    const wg_mat_values *v, *w;
    const wg_mat_result *y, *g, *hv, *h;
} second;

/* Derivatives of s in g, and in hv or h, both NULL if they are not wanted. */
static wg_status derive(run *r, const second *q, double *g, const double *v, double *hv,
                        double *h) {
    wgi_drive *const d = &r->d;
    const double one = 1;
    for (size_t i = 0, k = 0; i < r->n; i++)
        for (size_t e = 0; r->moves[i] && e < count(&r->in[i]); e++)
            d->x[k++] = element(&r->in[i], e);
    const double nan = q->w != NULL ? of_constants(r, q->w) : 0;
    d->y[0] = weighted(r, q->w);
    if (d->c->status != WG_OK) return d->c->status;
    if (nan != nan) d->y[0] = wg_constant(nan);
    wg_status s = wgi_drive_reverse(d, &one, g);
    if (s == WG_OK && (hv != NULL || h != NULL)) s = wgi_drive_second(d, 0, v, hv, h, d->n);
    return s;
}

static wg_status check_second(run *r, const second *q, int directed) {
    wg_status s = wgi_drive_needs_code(&r->d);
    if (s == WG_OK && q->w == NULL && r->m > 1) s = null_weights(r);
    if (s == WG_OK && directed && q->v == NULL && r->n != 0)
        s = wgi_drive_null_argument(&r->d, "v", r->n);
    if (s == WG_OK) s = check_values(r, 0, "v", q->v);
    if (s == WG_OK) s = check_results(r, 0, "g", q->g);
    if (s == WG_OK) s = check_results(r, 0, "hv", q->hv);
    for (size_t b = 0; q->h != NULL && b < r->n * r->n && s == WG_OK; b++)
        s = check_block(r, "h", b, &q->h[b], elements(r, b / r->n), elements(r, b % r->n));
    return s;
}

/* Which inputs move: those whose derivatives are wanted, and those that a direction moves. */
static size_t movers(size_t n, const wg_mat_values *x, const second *q, int directed,
                     unsigned char *moves) {
    size_t sum = 0;
    for (size_t i = 0; i < n && x != NULL; i++) {
        int any = wanted(q->g, i) || wanted(q->hv, i) ||
                  (directed && q->v != NULL && q->v[i].value != NULL);
        for (size_t k = 0; k < n && q->h != NULL; k++)
            any |= wanted(q->h, i * n + k) || wanted(q->h, k * n + i);
        if (moves != NULL) moves[i] = (unsigned char)any;
        if (any) sum = plus(sum, times(x[i].rows, x[i].cols));
    }
    return sum;
}

/* Writes g, and what is wanted of hv or of the whole H. */
static void write_second(const run *r, const second *q, const double *g, const double *hv,
                         const double *h) {
    const size_t n = r->n, k = r->d.n;
    for (size_t i = 0, at = 0; i < n; at += r->moves[i] ? elements(r, i) : 0, i++) {
        if (wanted(q->g, i)) scatter(&q->g[i], g + at, 1, r->x[i].rows);
        if (wanted(q->hv, i)) scatter(&q->hv[i], hv + at, 1, r->x[i].rows);
        for (size_t j = 0, to = 0; j < n; to += r->moves[j] ? elements(r, j) : 0, j++)
            if (wanted(q->h, i * n + j)) scatter(&q->h[i * n + j], h + to * k + at, 1, k);
    }
}

static wg_status second_order(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                              const wg_mat_values *x, size_t m, const second *q) {
    const int directed = any_wanted(q->hv, n), whole = any_wanted(q->h, n * n);
    const size_t k = movers(n, x, q, directed, NULL);
    run r;
    wg_status s = open(&r, t, q->call, f, data, n, x, m, k, 1,
                       plus(times(k, 3), whole ? times(k, k) : 0));
    if (s == WG_OK) s = check_second(&r, q, directed);
    if (s != WG_OK) return wgi_drive_close(&r.d, s);
    double *const g = r.numbers, *const v = g + k, *const hv = v + k, *const h = hv + k;
    (void)movers(n, x, q, directed, r.moves);
    for (size_t i = 0, at = 0; i < n; at += r.moves[i] ? elements(&r, i) : 0, i++) {
        if (!directed || !r.moves[i]) continue;
        if (q->v[i].value != NULL) pack(&q->v[i], v + at);
        else memset(v + at, 0, elements(&r, i) * sizeof *v);
    }
    s = evaluate(&r, 0, NULL, 0);
    if (s == WG_OK && q->w == NULL && m != 0) s = check_scalar(&r);
    if (s == WG_OK) s = check_values(&r, 1, "w", q->w);
    if (s == WG_OK) s = check_results(&r, 1, "y", q->y);
    if (s == WG_OK && k != 0) s = derive(&r, q, g, v, directed ? hv : NULL, whole ? h : NULL);
    if (s == WG_OK) s = values(&r, q->y);
    if (s == WG_OK) write_second(&r, q, g, hv, h);
    return wgi_drive_close(&r.d, s);
}

wg_status wg_mat_hvp(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                     const wg_mat_values *x, const wg_mat_values *v, size_t m,
                     const wg_mat_values *w, const wg_mat_result *y, const wg_mat_result *g,
                     const wg_mat_result *hv) {
    const second q = {"wg_mat_hvp", v, w, y, g, hv, NULL};
    return second_order(t, f, data, n, x, m, &q);
}

wg_status wg_mat_hessian(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                         const wg_mat_values *x, size_t m, const wg_mat_values *w,
                         const wg_mat_result *y, const wg_mat_result *g,
                         const wg_mat_result *h) {
    const second q = {"wg_mat_hessian", NULL, w, y, g, NULL, h};
    return second_order(t, f, data, n, x, m, &q);
}
