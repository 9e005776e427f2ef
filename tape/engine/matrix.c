/* SPDX-License-Identifier: MIT */
/* Matrix variables: making them from numbers and from scalars, views, reading and seeding.
 *
 * Element (i, j) of a matrix has its value at value[i + j ld] and its slot at slot + i + j ld;
 * in a transposed view i and j change places. */
#include "ops/scalar/copy.h"
#include "tape.h"

#include <limits.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------------------ */

/* Room for n values; at least one, since on a checked tape a constant without elements is also
 * known by where it stands. */
static double *room(wgi_core *c, const char *call, size_t rows, size_t cols, size_t n) {
    const size_t bytes = (n != 0 ? n : 1) * sizeof(double);
    const wg_status s = wgi_payload_need(c, bytes);
    if (s == WG_OK) return wgi_payload_take(c, bytes);
    (void)wgi_fail(c, s, "%s: no room for %zux%zu values", call, rows, cols);
    return NULL;
}

/* A constant matrix in the arena, whose values are still to be set. values NULL: it failed. */
static wg_mat blank(wgi_core *c, const char *call, size_t rows, size_t cols) {
    wg_mat m = wg_mat_failed(rows, cols);
    if (c->status != WG_OK) return m;
    if (rows > INT_MAX || cols > INT_MAX || rows * cols > SIZE_MAX / 64) {
        (void)wgi_fail(c, WG_ESHAPE, "%s: %zux%zu is more than BLAS can take", call, rows,
                       cols);
        return m;
    }
    m.value = room(c, call, rows, cols, rows * cols);
    if (m.value != NULL) m.at.stamp = c->head.stamp;
    return m;
}

static double *values_of(const wg_mat *m) { return (double *)(uintptr_t)m->value; }

static wg_mat constant(wg_tape *t, const char *call, size_t rows, size_t cols, const double *a,
                       ptrdiff_t down, ptrdiff_t across) {
    if (t == NULL) return wg_mat_failed(rows, cols);
    wgi_core *const c = wgi_core_of(t);
    if (a == NULL && rows != 0 && cols != 0) {
        (void)wgi_fail(c, WG_ENULL, "%s: the values of %zux%zu are NULL", call, rows, cols);
        return wg_mat_failed(rows, cols);
    }
    const wg_mat m = blank(c, call, rows, cols);
    if (m.value == NULL) return m;
    double *to = values_of(&m);
    if (down == 1 && across == (ptrdiff_t)rows && rows != 0) rows *= cols, cols = cols != 0;
    for (size_t j = 0; j < cols && rows != 0; j++) {
        const double *const from = a + (ptrdiff_t)j * across;
        if (down == 1) memcpy(to, from, rows * sizeof(double));
        else
            for (size_t i = 0; i < rows; i++) to[i] = from[(ptrdiff_t)i * down];
        to += rows;
    }
    return m;
}

static int short_ld(wg_tape *t, const char *call, size_t rows, size_t cols, size_t ld) {
    if (ld >= rows) return 0;
    if (t != NULL)
        (void)wgi_fail(wgi_core_of(t), WG_ESHAPE, "%s: ld %zu is less than the rows of %zux%zu",
                       call, ld, rows, cols);
    return 1;
}

/* Makes an independent variable of a constant matrix. */
static wg_mat input(wg_tape *t, const char *call, wg_mat m) {
    if (t == NULL || m.value == NULL || m.rows == 0 || m.cols == 0) return m;
    wgi_core *const c = wgi_core_of(t);
    if (c->passive) return m;
    const size_t n = m.rows * m.cols;
    const wg_mat failed = wg_mat_failed(m.rows, m.cols);
    if (wgi_slots_need(c, call, n) != WG_OK) return failed;
    if (c->chunks == 0 && c->width == 0) {
        const wg_status s = wgi_records_need(c, 1);
        if (s != WG_OK) {
            (void)wgi_fail(c, s, "%s: no room for records", call);
            return failed;
        }
    }
    m.at = (wg_handle){c->head.slots, c->head.stamp};
    if (c->width != 0)
        memset((double *)(void *)c->tangents.base + (size_t)m.at.slot * c->width, 0,
               n * c->width * sizeof(double));
    if ((c->flags & WG_KEEP_CODE) != 0 && c->width == 0 && wgi_input_append(c, &m) != WG_OK)
        return failed;
    if (c->flags & WG_KEEP_CODE) memcpy(wgi_values(c) + m.at.slot, m.value, n * sizeof(double));
    c->head.slots += (uint32_t)n;
    c->inputs += (uint32_t)n;
    wgi_limit_set(c);
    return m;
}

wg_mat wg_mat_constant(wg_tape *t, size_t rows, size_t cols, const double *a, size_t ld) {
    if (short_ld(t, "wg_mat_constant", rows, cols, ld)) return wg_mat_failed(rows, cols);
    return constant(t, "wg_mat_constant", rows, cols, a, 1, (ptrdiff_t)ld);
}

wg_mat wg_mat_constant_strided(wg_tape *t, size_t rows, size_t cols, const double *a,
                               ptrdiff_t row_stride, ptrdiff_t col_stride) {
    return constant(t, "wg_mat_constant_strided", rows, cols, a, row_stride, col_stride);
}

wg_mat wg_mat_input(wg_tape *t, size_t rows, size_t cols, const double *a, size_t ld) {
    const char *const call = "wg_mat_input";
    if (short_ld(t, call, rows, cols, ld)) return wg_mat_failed(rows, cols);
    return input(t, call, constant(t, call, rows, cols, a, 1, (ptrdiff_t)ld));
}

wg_mat wg_mat_input_strided(wg_tape *t, size_t rows, size_t cols, const double *a,
                            ptrdiff_t row_stride, ptrdiff_t col_stride) {
    const char *const call = "wg_mat_input_strided";
    return input(t, call, constant(t, call, rows, cols, a, row_stride, col_stride));
}

static wg_mat borrowed(wg_tape *t, const char *call, size_t rows, size_t cols, const double *a,
                       size_t ld) {
    if (t == NULL || short_ld(t, call, rows, cols, ld)) return wg_mat_failed(rows, cols);
    if (a == NULL || rows == 0 || cols == 0 || rows > INT_MAX || cols > INT_MAX)
        /* there is nothing to borrow */
        return constant(t, call, rows, cols, a, 1, (ptrdiff_t)ld);
    wgi_core *const c = wgi_core_of(t);
    wg_mat m = wg_mat_failed(rows, cols);
    if (c->status != WG_OK) return m;
    /* a checked tape keeps something for it, and a segment of a loop refuses */
    if (((c->flags & WG_CHECKED) != 0 || c->outer != NULL) &&
        room(c, call, rows, cols, 0) == NULL)
        return m;
    m.value = a;
    m.ld = ld;
    m.at.stamp = c->head.stamp;
    return m;
}

wg_mat wg_mat_constant_borrowed(wg_tape *t, size_t rows, size_t cols, const double *a,
                                size_t ld) {
    return borrowed(t, "wg_mat_constant_borrowed", rows, cols, a, ld);
}

wg_mat wg_mat_input_borrowed(wg_tape *t, size_t rows, size_t cols, const double *a, size_t ld) {
    const char *const call = "wg_mat_input_borrowed";
    if (t != NULL && ld == rows && (wgi_core_of(t)->flags & WG_KEEP_CODE) == 0)
        return input(t, call, borrowed(t, call, rows, cols, a, ld));
    if (short_ld(t, call, rows, cols, ld)) return wg_mat_failed(rows, cols);
    return input(t, call, constant(t, call, rows, cols, a, 1, (ptrdiff_t)ld));
}

wg_mat wg_mat_fill(wg_tape *t, size_t rows, size_t cols, double a) {
    return constant(t, "wg_mat_fill", rows, cols, &a, 0, 0);
}

wg_mat wg_mat_identity(wg_tape *t, size_t n) {
    const double zero = 0;
    const wg_mat m = constant(t, "wg_mat_identity", n, n, &zero, 0, 0);
    for (size_t i = 0; m.value != NULL && i < n; i++) values_of(&m)[i * n + i] = 1;
    return m;
}

wg_mat wg_mat_gather(wg_tape *t, size_t rows, size_t cols, const wg_real *x) {
    const wg_mat failed = wg_mat_failed(rows, cols);
    if (t == NULL) return failed;
    wgi_core *const c = wgi_core_of(t);
    wg_mat m = blank(c, "wg_mat_gather", rows, cols);
    if (m.value == NULL || rows == 0 || cols == 0) return m;
    if (x == NULL) {
        (void)wgi_fail(c, WG_ENULL, "wg_mat_gather: the variables of %zux%zu are NULL", rows,
                       cols);
        return failed;
    }
    if (wgi_check_handles(c, "wg_mat_gather", rows * cols, x) != WG_OK) return failed;
    return wgi_gather_append(c, &m, rows * cols, x) == WG_OK ? m : failed;
}

/* ---- views ------------------------------------------------------------------------------- */

/* The slot is there; only the value has to stand somewhere. A replay finds the new one by the
 * slot (wgi_block_replay). */
wg_mat wg_mat_from_real(wg_tape *t, wg_real x) {
    const wg_mat failed = wg_mat_failed(1, 1);
    if (t == NULL) return failed;
    wgi_core *const c = wgi_core_of(t);
    if (wgi_check_thread(c, "wg_mat_from_real") != WG_OK) return failed;
    wg_mat m = blank(c, "wg_mat_from_real", 1, 1);
    if (m.value == NULL) return failed;
    *values_of(&m) = x.value;
    if (x.at.slot != 0) m.at = x.at;
    return m;
}

wg_mat wg_mat_block(wg_mat a, size_t i, size_t j, size_t rows, size_t cols) {
    if (a.value == NULL || i > a.rows || j > a.cols || rows > a.rows - i || cols > a.cols - j)
        return wg_mat_failed(rows, cols);
    if (rows != 0 && cols != 0) {
        const size_t skip = a.trans ? j + i * a.ld : i + j * a.ld;
        a.value += skip;
        if (a.at.slot != 0) a.at.slot += (uint32_t)skip;
    }
    a.rows = rows, a.cols = cols;
    return a;
}

wg_mat wg_mat_row(wg_mat a, size_t i) { return wg_mat_block(a, i, 0, 1, a.cols); }
wg_mat wg_mat_col(wg_mat a, size_t j) { return wg_mat_block(a, 0, j, a.rows, 1); }

wg_mat wg_mat_transpose(wg_mat a) {
    const size_t rows = a.rows;
    a.rows = a.cols, a.cols = rows;
    a.trans = !a.trans;
    return a;
}

wg_mat wg_mat_reshape(wg_tape *t, wg_mat a, size_t rows, size_t cols) {
    const int contiguous = !a.trans && (a.ld == a.rows || a.cols <= 1);
    const int same = cols == 0 || rows <= SIZE_MAX / cols ? rows * cols == a.rows * a.cols : 0;
    if (same && contiguous && a.value != NULL) {
        a.rows = rows, a.cols = cols;
        a.ld = rows != 0 ? rows : 1;
        return a;
    }
    const size_t to[2] = {rows, cols};
    wg_mat y = wg_mat_failed(rows, cols);
    if (wg_apply(t, &wgi_op_reshape, to, sizeof to, 1, &a, 1, &y) != WG_OK)
        return wg_mat_failed(rows, cols);
    return y;
}

/* ---- reading ----------------------------------------------------------------------------- */

static void fill(size_t rows, size_t cols, double *out, size_t ld, double value) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) out[i + j * ld] = value;
}

static size_t offset_of(const wg_mat *a, size_t i, size_t j) {
    return a->trans ? j + i * a->ld : i + j * a->ld;
}

/* Column by column, where columns are contiguous. */
static void copy_columns(const wg_mat *a, const double *from, double *out, size_t ld) {
    const int together = a->ld == a->rows && ld == a->rows; /* one column of all */
    const size_t rows = together ? a->rows * a->cols : a->rows, cols = together ? 1 : a->cols;
    for (size_t j = 0; j < cols && rows != 0; j++)
        memcpy(out + j * ld, from + j * a->ld, rows * sizeof(double));
}

/* The last slot of a variable with elements; 0: there is none. */
static uint32_t last_slot(const wg_mat *a) {
    if (a->at.slot == 0 || a->rows == 0 || a->cols == 0) return 0;
    return a->at.slot + (uint32_t)offset_of(a, a->rows - 1, a->cols - 1);
}

static int is_scalar(const wg_mat *a) {
    return a->at.slot != 0 && a->rows == 1 && a->cols == 1;
}

/* Checks that every call that reads a matrix makes. */
static wg_status readable(const wg_tape *t, const wg_mat *a, const double *out, size_t ld) {
    if (t == NULL || (out == NULL && a->rows != 0 && a->cols != 0)) return WG_ENULL;
    if (ld < a->rows) return WG_ESHAPE;
    /* a failed matrix may have sizes that no array has: it is not filled with NaN */
    const size_t most = PTRDIFF_MAX / sizeof(double);
    if (a->cols > 0 && a->rows > most) return WG_ESHAPE;
    if (a->cols > 1 && ld > most / (a->cols - 1)) return WG_ESHAPE;
    return WG_OK;
}

wg_status wg_mat_value(const wg_tape *t, wg_mat a, double *out, size_t ld) {
    wg_status s = readable(t, &a, out, ld);
    if (s != WG_OK) return s;
    const wgi_core *const c = wgi_core_of_const(t);
    if (a.value == NULL) {
        fill(a.rows, a.cols, out, ld, __builtin_nan(""));
        return c->status != WG_OK ? c->status : WG_ESHAPE;
    }
    if (wgi_mat_stale(c, &a)) return WG_ESTALE;
    /* it may be a scalar variable that has been replayed */
    if (is_scalar(&a) && (c->flags & WG_KEEP_CODE) != 0) {
        *out = wgi_values(a.at.slot < c->origin ? c->outer : c)[a.at.slot];
        return WG_OK;
    }
    if (!a.trans) {
        copy_columns(&a, a.value, out, ld);
        return WG_OK;
    }
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) out[i + j * ld] = a.value[offset_of(&a, i, j)];
    return WG_OK;
}

/* Reads a lane of rows, for slots below `below`; 0 for other slots and for constants. */
static void read_rows(const wg_mat *a, const double *rows, uint64_t below, size_t lanes,
                      size_t lane, double *out, size_t ld) {
    const size_t last = last_slot(a);
    if (last == 0) {
        fill(a->rows, a->cols, out, ld, 0);
        return;
    }
    if (lanes == 1 && !a->trans && last < below) {
        copy_columns(a, rows + a->at.slot, out, ld);
        return;
    }
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) {
            const size_t slot = a->at.slot + offset_of(a, i, j);
            out[i + j * ld] = slot < below ? rows[slot * lanes + lane] : 0;
        }
}

/* Sets the results to NaN if the tape or the matrix has failed. */
static wg_status usable(const wgi_core *c, const wg_mat *a, double *out, size_t ld) {
    if (c->status != WG_OK || a->value == NULL) {
        fill(a->rows, a->cols, out, ld, __builtin_nan(""));
        return c->status != WG_OK ? c->status : WG_ESHAPE;
    }
    return wgi_mat_stale(c, a) ? WG_ESTALE : WG_OK;
}

wg_status wg_mat_adjoint_lane(const wg_tape *t, wg_mat a, size_t lane, double *out, size_t ld) {
    wg_status s = readable(t, &a, out, ld);
    if (s != WG_OK) return s;
    const wgi_core *const c = wgi_core_of_const(t);
    s = usable(c, &a, out, ld);
    if (s != WG_OK) return s;
    if (c->swept == 0) return WG_ESEED;
    if (lane >= c->asked) return WG_EARG;
    read_rows(&a, wgi_adjoints(c), c->swept, c->lanes, lane, out, ld);
    return WG_OK;
}

wg_status wg_mat_adjoint(const wg_tape *t, wg_mat a, double *out, size_t ld) {
    return wg_mat_adjoint_lane(t, a, 0, out, ld);
}

wg_status wg_mat_tangent(const wg_tape *t, wg_mat a, size_t lane, double *out, size_t ld) {
    wg_status s = readable(t, &a, out, ld);
    if (s != WG_OK) return s;
    const wgi_core *const c = wgi_core_of_const(t);
    s = usable(c, &a, out, ld);
    if (s != WG_OK) return s;
    if (c->width == 0) return WG_EMODE;
    if (lane >= c->width) return WG_EARG;
    /* in a segment of a loop, one of the tape of the loop, or a scalar of the segment's own */
    const wgi_core *const of = a.at.slot < c->origin ? c->outer : c;
    const size_t before = of->origin * of->width * sizeof(double);
    read_rows(&a, (const double *)((uintptr_t)wgi_tangents(of) - before), of->head.slots,
              of->width, lane, out, ld);
    return WG_OK;
}

/* ---- seeding ----------------------------------------------------------------------------- */

/* Is it a matrix of this tape, or a constant, and are w and ld those of its seeds? */
static wg_status fitting(wgi_core *c, const char *call, const wg_mat *a, const double *w,
                         size_t ld) {
    if (c->status != WG_OK) return c->status;
    if (wgi_refuse_segment(c, call) != WG_OK) return WG_EMODE;
    if (a->value == NULL)
        return wgi_refuse(c, WG_ESHAPE, "%s: a failed matrix, or a view out of range", call);
    if (w != NULL && ld < a->rows)
        return wgi_refuse(c, WG_ESHAPE, "%s: ld %zu is less than the rows of %zux%zu", call, ld,
                          a->rows, a->cols);
    if (wgi_mat_stale(c, a))
        return wgi_refuse(c, WG_ESTALE,
                          "%s: a matrix of another tape, or from before a reset or rewind",
                          call);
    return WG_OK;
}

static wg_status refuse_constant(wgi_core *c, const char *call, const wg_mat *a) {
    return wgi_refuse(c, WG_ESEED, "%s: %zux%zu, a constant", call, a->rows, a->cols);
}

/* Is it one that can be seeded? */
static wg_status seedable(wgi_core *c, const char *call, const wg_mat *a, const double *w,
                          size_t ld) {
    const wg_status s = fitting(c, call, a, w, ld);
    return s == WG_OK && last_slot(a) == 0 ? refuse_constant(c, call, a) : s;
}

/* Sets a lane of the rows of a to w, or adds it; w NULL stands for ones. */
static void seed(const wg_mat *a, double *rows, size_t lanes, size_t lane, const double *w,
                 size_t ld, int add) {
    const size_t down = (a->trans ? a->ld : 1) * lanes, across = (a->trans ? 1 : a->ld) * lanes;
    double *to = rows + (size_t)a->at.slot * lanes + lane;
    for (size_t j = 0; j < a->cols; j++, to += across) {
        const double *const from = w != NULL ? w + j * ld : NULL;
        if (down == 1 && add && from != NULL)
            for (size_t i = 0; i < a->rows; i++) to[i] += from[i];
        else
            for (size_t i = 0; i < a->rows; i++)
                to[i * down] = (add ? to[i * down] : 0) + (from != NULL ? from[i] : 1);
    }
}

static void seed_adjoints(wgi_core *c, const wg_mat *y, const double *w, size_t ld) {
    wgi_adjoints_mark(c, y->at.slot, last_slot(y) - y->at.slot + 1);
    seed(y, wgi_adjoints(c), 1, 0, w, ld, 1);
}

wg_status wg_mat_reverse(wg_tape *t, wg_mat y, const double *w, size_t ld) {
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status == WG_OK && c->width != 0)
        return wgi_refuse(c, WG_EMODE, "wg_mat_reverse: a forward tape keeps no records");
    wg_status s = fitting(c, "wg_mat_reverse", &y, w, ld);
    if (s != WG_OK) return s;
    const uint32_t root = wgi_sweep_from(c, last_slot(&y));
    if (root == 0) {
        c->swept = 0; /* as wg_reverse */
        return refuse_constant(c, "wg_mat_reverse", &y);
    }
    const uint64_t reach = wgi_reach(c, root);
    s = wgi_adjoints_open(c, reach + 1, 1, 0);
    if (s != WG_OK)
        return wgi_refuse(c, s, "wg_mat_reverse: no memory for adjoints of %llu slots",
                          (unsigned long long)reach);
    if (last_slot(&y) != 0) seed_adjoints(c, &y, w, ld);
    return wgi_sweep(c, wgi_record_after(c, root), 0);
}

wg_status wg_mat_adjoint_seed(wg_tape *t, wg_mat y, const double *w, size_t ld) {
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (y.value != NULL && (y.rows == 0 || y.cols == 0)) return c->status;
    const wg_status s = seedable(c, "wg_mat_adjoint_seed", &y, w, ld);
    if (s != WG_OK) return s;
    if (c->lanes != 1 || last_slot(&y) >= c->swept)
        return wgi_refuse(c, WG_EMODE, "wg_mat_adjoint_seed: wg_adjoints_clear comes first");
    seed_adjoints(c, &y, w, ld);
    c->seeded = 0;
    return WG_OK;
}

wg_status wg_mat_tangent_seed(wg_tape *t, wg_mat x, size_t lane, const double *v, size_t ld) {
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (x.value != NULL && (x.rows == 0 || x.cols == 0)) return c->status;
    const wg_status s = seedable(c, "wg_mat_tangent_seed", &x, v, ld);
    if (s != WG_OK) return s;
    if (c->width == 0)
        return wgi_refuse(c, WG_EMODE, "wg_mat_tangent_seed: the tape is not a forward one");
    if (lane >= c->width)
        return wgi_refuse(c, WG_EARG, "wg_mat_tangent_seed: lane %zu of %zu", lane, c->width);
    seed(&x, (double *)(void *)c->tangents.base, c->width, lane, v, ld, 0);
    return WG_OK;
}
