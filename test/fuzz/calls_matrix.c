/* SPDX-License-Identifier: MIT */
/* calls_matrix.c - rows: matrices made, viewed, read and seeded; operations of a user's own. */
#include "calls.h"

/* ---- making ---- */

/* Numbers that stay as they are, for what is borrowed; strides run both ways from its
 * middle. */
static const double *steady(const char *name) {
    static double a[400];
    if (a[0] == 0)
        for (size_t i = 0; i < 400; i++) a[i] = 1 + 0.25 * cos((double)i);
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    named(name, "{numbers that stay}");
    return a + 200;
}
#define MADE(name, copies)                                                                     \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        const int huge = copies && one_in(12);                                                 \
        const size_t rows = huge ? draw_size("rows") : draw_dim("rows") % 12;                  \
        const size_t cols = huge ? draw_size("cols") : draw_dim("cols") % 12;                  \
        const size_t ld = one_in(6) ? below(4) : rows;                                         \
        named("ld", "%zu", ld);                                                                \
        const double *const a =                                                                \
            rows > 12 || cols > 12 ? draw_doubles("a", LONGEST) : steady("a");                 \
        GIVES_MAT(name(t, rows, cols, a, ld));                                                 \
    }
enum { LONGEST = 1 << 19 }; /* more is refused before it is read */
MADE(wg_mat_input, 1)
MADE(wg_mat_constant, 1)
MADE(wg_mat_input_borrowed, 0)
MADE(wg_mat_constant_borrowed, 0)
#define STRIDED(name)                                                                          \
    ROW(name) {                                                                                \
        TAPE(t);                                                                               \
        const size_t rows = draw_dim("rows") % 12, cols = draw_dim("cols") % 12;               \
        const double *const a = steady("a");                                                   \
        const ptrdiff_t down = (ptrdiff_t)below(7) - 3, across = (ptrdiff_t)below(7) - 3;      \
        named("down", "%td", down);                                                            \
        named("across", "%td", across);                                                        \
        GIVES_MAT(name(t, rows, cols, a, down, across));                                       \
    }
STRIDED(wg_mat_input_strided)
STRIDED(wg_mat_constant_strided)
ROW(wg_mat_fill) {
    TAPE(t);
    SIZE(rows);
    SIZE(cols);
    NUMBER(a);
    GIVES_MAT(wg_mat_fill(t, rows, cols, a));
}
ROW(wg_mat_identity) {
    TAPE(t);
    SIZE(n);
    GIVES_MAT(wg_mat_identity(t, n));
}
ROW(wg_mat_gather) {
    TAPE(t);
    const size_t rows = draw_dim("rows") % 6, cols = draw_dim("cols") % 6;
    REAL_ARRAY(x, rows * cols);
    GIVES_MAT(wg_mat_gather(t, rows, cols, x));
}
ROW(wg_mat_from_real) {
    TAPE(t);
    REAL(x);
    GIVES_MAT(wg_mat_from_real(t, x));
}

/* ---- views ---- */

ROW(wg_mat_at) {
    TAPE(t);
    DIM(m);
    MAT(a, m, 2);
    SIZE(i);
    SIZE(j);
    if (t == NULL || a.at.stamp != t->stamp) return; /* it reads where the value stands */
    GIVES_REAL(wg_mat_at(a, i, j));
}
ROW(wg_mat_row) {
    TAPE(t);
    (void)t;
    ANY_MAT(a);
    SIZE(i);
    GIVES_MAT(wg_mat_row(a, i));
}
ROW(wg_mat_col) {
    TAPE(t);
    (void)t;
    ANY_MAT(a);
    SIZE(j);
    GIVES_MAT(wg_mat_col(a, j));
}
ROW(wg_mat_block) {
    TAPE(t);
    (void)t;
    ANY_MAT(a);
    SIZE(i);
    SIZE(j);
    SIZE(rows);
    SIZE(cols);
    GIVES_MAT(wg_mat_block(a, i, j, rows, cols));
}
ROW(wg_mat_transpose) {
    TAPE(t);
    (void)t;
    ANY_MAT(a);
    GIVES_MAT(wg_mat_transpose(a));
}
ROW(wg_mat_diagonal) {
    TAPE(t);
    (void)t;
    ANY_MAT(a);
    if (a.trans) return; /* of one that is not transposed */
    GIVES_MAT(wg_mat_diagonal(a));
}
ROW(wg_mat_reshape) {
    TAPE(t);
    DIM(m);
    DIM(n);
    MAT(a, m, n);
    const int odd = one_in(8);
    const size_t rows = odd ? draw_size("rows") : n, cols = odd ? draw_size("cols") : m;
    GIVES_MAT(wg_mat_reshape(t, a, rows, cols));
}

/* ---- reading and seeding ---- */

#define OF_SHAPE                                                                               \
    TAPE(t);                                                                                   \
    ANY_MAT(a);                                                                                \
    const size_t ld = one_in(9) ? below(3) : a.rows;                                           \
    named("ld", "%zu", ld);                                                                    \
    const size_t n = (a.rows > ld ? a.rows : ld) * a.cols
ROW(wg_mat_value) {
    OF_SHAPE;
    RESULTS(out, n);
    GIVES_STATUS(wg_mat_value(t, a, out, ld));
}
ROW(wg_mat_adjoint) {
    OF_SHAPE;
    RESULTS(out, n);
    GIVES_STATUS(wg_mat_adjoint(t, a, out, ld));
}
ROW(wg_mat_adjoint_lane) {
    OF_SHAPE;
    SIZE(lane);
    RESULTS(out, n);
    GIVES_STATUS(wg_mat_adjoint_lane(t, a, lane, out, ld));
}
ROW(wg_mat_tangent) {
    OF_SHAPE;
    SIZE(lane);
    RESULTS(out, n);
    GIVES_STATUS(wg_mat_tangent(t, a, lane, out, ld));
}
ROW(wg_mat_reverse) {
    OF_SHAPE;
    DOUBLES(w, n);
    GIVES_STATUS(wg_mat_reverse(t, a, w, ld));
}
ROW(wg_mat_adjoint_seed) {
    OF_SHAPE;
    DOUBLES(w, n);
    GIVES_STATUS(wg_mat_adjoint_seed(t, a, w, ld));
}
ROW(wg_mat_tangent_seed) {
    OF_SHAPE;
    SIZE(lane);
    DOUBLES(v, n);
    GIVES_STATUS(wg_mat_tangent_seed(t, a, lane, v, ld));
}
ROW(wg_tape_keep) {
    TAPE(t);
    SIZE(bytes);
    const void *const data = bytes < 100 && one_in(2) ? results : NULL;
    named("data", data != NULL ? "{bytes}" : "NULL");
    say("", "wg_tape_keep(t, bytes, data)");
    unsigned char *const p = wg_tape_keep(t, bytes, data);
    if (p != NULL && bytes != 0) p[0] = p[bytes - 1] = 1;
}

/* Sizes that fit the name are small enough for the room. */
ROW(wg_block_value) {
    static const char *const known[] = {"wg_eigh", "wg_svd", "wg_qr", "wg_sylvester",
                                        "wg_nothing"};
    static _Alignas(64) double work[1 << 15];
    double x[80], y[80];
    const char *const name = one_in(10) ? NULL : known[below(5)];
    const size_t m = below(4), n = below(4), k = below(3);
    named("name", "%s", name != NULL ? name : "NULL");
    named("m", "%zu", m);
    named("n", "%zu", n);
    named("k", "%zu", k);
    for (size_t i = 0; i < 80; i++) x[i] = one_in(20) ? NAN : cos((double)(i * below(9)));
    const double *const given = one_in(20) ? NULL : x;
    named("x", given != NULL ? "{80 numbers}" : "NULL");
    say("", "wg_block_value(name, m, n, k, x, y, work)");
    wg_block_value(name, m, n, k, given, y, work);
}

/* ---- operations of a user's own ---- */

static wg_status number_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}
static wg_status same_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    b->saved_bytes = 8, b->work_bytes = 64;
    return WG_OK;
}
static wg_status jacobian_shape(wg_block *b) {
    (void)number_shape(b);
    b->work_bytes = wg_jacobian_work(b);
    return WG_OK;
}
static wg_status huge_shape(wg_block *b) {
    b->out[0].rows = SIZE_MAX, b->out[0].cols = 7;
    return WG_OK;
}
static wg_status hungry_shape(wg_block *b) {
    (void)number_shape(b);
    b->saved_bytes = (size_t)1 << 45;
    return WG_OK;
}
static wg_status no_shape(wg_block *b) { return (void)b, WG_ESHAPE; }
static wg_status sum_value(wg_block *b) {
    double sum = 0;
    for (size_t j = 0; j < b->in[0].cols; j++)
        for (size_t i = 0; i < b->in[0].rows; i++) {
            const double x = b->in[0].value[i + j * b->in[0].ld];
            sum += x * x;
        }
    b->out[0].value[0] = sum;
    return WG_OK;
}
static wg_status sum_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0];
    for (size_t j = 0; j < x->cols && x->bar != NULL; j++)
        for (size_t i = 0; i < x->rows; i++)
            x->bar[i + j * x->bar_ld] += 2 * b->out[0].bar[0] * x->value[i + j * x->ld];
    return WG_OK;
}
static wg_status sum_jacobian(wg_block *b, size_t out, size_t in, double *j) {
    (void)out, (void)in;
    size_t k = 0;
    for (size_t c = 0; c < b->in[0].cols; c++)
        for (size_t r = 0; r < b->in[0].rows; r++)
            j[k++] = 2 * b->in[0].value[r + c * b->in[0].ld];
    return WG_OK;
}
static wg_status by_vjp(wg_block *b) { return wg_vjp_by_jacobian(b, sum_jacobian); }
static wg_status by_jvp(wg_block *b) { return wg_jvp_by_jacobian(b, sum_jacobian); }
static wg_status sum_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    y[0] = wg_squared_norm(t, b->in[0].rows * b->in[0].cols, x);
    return WG_OK;
}
static wg_status twice_value(wg_block *b) {
    for (size_t j = 0; j < b->in[0].cols; j++)
        for (size_t i = 0; i < b->in[0].rows; i++)
            b->out[0].value[i + j * b->out[0].ld] = 2 * b->in[0].value[i + j * b->in[0].ld];
    return WG_OK;
}
static wg_status twice_vjp(wg_block *b) {
    for (size_t j = 0; j < b->in[0].cols && b->in[0].bar != NULL; j++)
        for (size_t i = 0; i < b->in[0].rows; i++)
            b->in[0].bar[i + j * b->in[0].bar_ld] +=
                2 * b->out[0].bar[i + j * b->out[0].bar_ld];
    return WG_OK;
}
static wg_status twice_jvp(wg_block *b) {
    for (size_t j = 0; j < b->in[0].cols; j++)
        for (size_t i = 0; i < b->in[0].rows; i++)
            b->out[0].bar[i + j * b->out[0].bar_ld] =
                b->in[0].bar != NULL ? 2 * b->in[0].bar[i + j * b->in[0].bar_ld] : 0;
    return WG_OK;
}
static wg_status singular(wg_block *b) { return b->info = 7, WG_ESINGULAR; }
static wg_status unknown(wg_block *b) { return b->why = "for no reason", (wg_status)77; }
static wg_status sweeps(wg_block *b) {
    (void)status(wg_reverse(world.room[0].tape, world.room[0].real[0]));
    (void)wg_input(world.room[0].tape, 1);
    return sum_vjp(b);
}
static wg_status resets(wg_block *b) {
    const wg_status s = sum_vjp(b);
    wg_tape_reset(world.room[0].tape);
    return s;
}
static wg_status rewinds(wg_block *b) {
    const wg_status s = sum_vjp(b);
    (void)status(wg_tape_rewind(world.room[0].tape, world.room[0].mark[0]));
    return s;
}
/* The members of an operation that meddle, by turns. */
static wg_status meddling_shape(wg_block *b) {
    meddle();
    return number_shape(b);
}
static wg_status meddling_value(wg_block *b) {
    meddle();
    return sum_value(b);
}
static wg_status meddling_vjp(wg_block *b) {
    meddle();
    return sum_vjp(b);
}
static wg_status sum_jvp(wg_block *b) {
    double sum = 0;
    for (size_t j = 0; j < b->in[0].cols && b->in[0].bar != NULL; j++)
        for (size_t i = 0; i < b->in[0].rows; i++)
            sum +=
                2 * b->in[0].value[i + j * b->in[0].ld] * b->in[0].bar[i + j * b->in[0].bar_ld];
    b->out[0].bar[0] = sum;
    return WG_OK;
}
static wg_status meddling_jvp(wg_block *b) {
    meddle();
    return sum_jvp(b);
}
static wg_status meddling_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    meddle();
    return sum_expand(t, b, x, y);
}
static wg_status sum_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    (void)b, (void)out;
    back[0] = wg_mat_scale(t, 2, wg_mat_mul(t, in[0], bar[0]));
    return wg_tape_status(t);
}
static wg_status meddling_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    meddle();
    return sum_adjoint(t, b, in, out, bar, back);
}
#define SQUARES(name, shape, value, vjp, jvp, expand, adjoint)                                 \
    { name, WG_OP_EXPANDS, shape, value, vjp, jvp, expand, adjoint, NULL }
static wg_status stale_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    (void)t, (void)b, (void)x;
    y[0] = world.room[1].real[0];
    return WG_OK;
}

static const wg_block_op ops[] = {
    {.name = "squares", .shape = number_shape, .value = sum_value, .vjp = sum_vjp},
    {"squares", 0, number_shape, sum_value, sum_vjp, NULL, sum_expand, NULL, NULL},
    {"twice", WG_OP_LINEAR | WG_OP_EACH, same_shape, twice_value, twice_vjp, twice_jvp, NULL,
     NULL, NULL},
    {.name = "by_jacobian",
     .shape = jacobian_shape,
     .value = sum_value,
     .vjp = by_vjp,
     .jvp = by_jvp},
    {.name = "twice_without_jvp", .shape = same_shape, .value = twice_value, .vjp = twice_vjp},
    /* as they should not be */
    {.name = "no shape", .shape = no_shape, .value = sum_value, .vjp = sum_vjp},
    {.name = "huge", .shape = huge_shape, .value = sum_value, .vjp = sum_vjp},
    {.name = "hungry", .shape = hungry_shape, .value = sum_value, .vjp = sum_vjp},
    {.name = "singular", .shape = number_shape, .value = singular, .vjp = sum_vjp},
    {.name = "unknown", .shape = number_shape, .value = unknown, .vjp = sum_vjp},
    {.name = "fails later", .shape = number_shape, .value = sum_value, .vjp = singular},
    {.name = "unknown later", .shape = number_shape, .value = sum_value, .vjp = unknown},
    {.name = "sweeps", .shape = number_shape, .value = sum_value, .vjp = sweeps},
    {.name = "resets", .shape = number_shape, .value = sum_value, .vjp = resets},
    {.name = "rewinds", .shape = number_shape, .value = sum_value, .vjp = rewinds},
    {"stale", 0, number_shape, sum_value, sum_vjp, NULL, stale_expand, NULL, NULL},
    SQUARES("shape", meddling_shape, sum_value, sum_vjp, sum_jvp, sum_expand, sum_adjoint),
    SQUARES("value", number_shape, meddling_value, sum_vjp, sum_jvp, sum_expand, sum_adjoint),
    SQUARES("vjp", number_shape, sum_value, meddling_vjp, sum_jvp, sum_expand, sum_adjoint),
    SQUARES("jvp", number_shape, sum_value, sum_vjp, meddling_jvp, sum_expand, sum_adjoint),
    SQUARES("expand", number_shape, sum_value, sum_vjp, sum_jvp, meddling_expand, NULL),
    SQUARES("adjoint", number_shape, sum_value, sum_vjp, sum_jvp, sum_expand, meddling_adjoint),
    SQUARES("rows", number_shape, sum_value, meddling_vjp, NULL, sum_expand, NULL),
    {.name = "no vjp", .shape = number_shape, .value = sum_value},
    {.name = "no value", .shape = number_shape, .vjp = sum_vjp},
    {.name = "no shape", .value = sum_value, .vjp = sum_vjp},
    {.name = NULL, .shape = number_shape, .value = sum_value, .vjp = sum_vjp},
};
enum { OPS = sizeof ops / sizeof *ops, HONEST_OPS = 5 };

static const wg_block_op *draw_op(const char *name) {
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    const wg_block_op *const op = &ops[one_in(4) ? below(OPS) : below(HONEST_OPS)];
    named(name, "\"%s\"", op->name != NULL ? op->name : "without a name");
    return op;
}
#define APPLIED                                                                                \
    TAPE(t);                                                                                   \
    const wg_block_op *const op = draw_op("op");                                               \
    const size_t bytes = one_in(4) ? below(40) : 0;                                            \
    const void *const params = bytes == 0 || one_in(20) ? NULL : results;                      \
    named("bytes", "%zu", bytes);                                                              \
    named("params", params != NULL ? "{bytes}" : "NULL");                                      \
    MAT(a, 2, 2);                                                                              \
    wg_mat in_[20];                                                                            \
    for (size_t i = 0; i < 20; i++) in_[i] = a;                                                \
    const size_t inputs = one_in(60) ? 20 : 1;                                                 \
    const wg_mat *const in = one_in(60) ? NULL : in_;                                          \
    named("inputs", "%zu", inputs);                                                            \
    named("in", in != NULL ? "&a" : "NULL")
ROW(wg_apply) {
    wg_mat room[20];
    APPLIED;
    wg_mat *const out = one_in(60) ? NULL : room;
    const size_t outputs = one_in(60) ? 20 : 1;
    named("outputs", "%zu", outputs);
    named("out", out != NULL ? "out" : "NULL");
    for (size_t i = 0; i < 20; i++) room[i] = wg_mat_failed(1, 1);
    GIVES_STATUS(wg_apply(t, op, params, bytes, inputs, in, outputs, out));
    keep_mat(room[0]);
}
ROW(wg_check_op) {
    APPLIED;
    const size_t outputs = 1;
    GIVES_STATUS(wg_check_op(t, op, params, bytes, inputs, in, outputs));
}
ROW(wg_jacobian_work) {
    say("", "by the operation by_jacobian");
    TAPE(t);
    MAT(a, 2, 2);
    wg_mat out = wg_mat_failed(1, 1);
    keep_status(wg_apply(t, &ops[3], NULL, 0, 1, &a, 1, &out));
    keep_status(wg_mat_reverse(t, out, NULL, 1));
    keep_mat(out);
}
ROW(wg_jvp_by_jacobian) {
    say("", "by the operation by_jacobian, on a forward tape");
    TAPE(t);
    if (t == NULL) return;
    wg_tape_reset(t);
    keep_status(wg_tape_forward(t, 2));
    const double at[] = {1, 2};
    const wg_mat a = wg_mat_input(t, 2, 1, at, 2);
    keep_status(wg_mat_tangent_seed(t, a, 0, at, 2));
    wg_mat out = wg_mat_failed(1, 1);
    keep_status(wg_apply(t, &ops[3], NULL, 0, 1, &a, 1, &out));
    keep_mat(out);
}

static const struct row list[] = {
    LISTED(wg_mat_input, 24),
    LISTED(wg_mat_constant, 8),
    LISTED(wg_mat_input_borrowed, 6),
    LISTED(wg_mat_constant_borrowed, 6),
    LISTED(wg_mat_input_strided, 6),
    LISTED(wg_mat_constant_strided, 6),
    LISTED(wg_mat_fill, 6),
    LISTED(wg_mat_identity, 6),
    LISTED(wg_mat_gather, 12),
    LISTED(wg_mat_from_real, 12),
    LISTED(wg_mat_at, 16),
    LISTED(wg_mat_row, 6),
    LISTED(wg_mat_col, 6),
    LISTED(wg_mat_block, 8),
    LISTED(wg_mat_transpose, 8),
    LISTED(wg_mat_diagonal, 6),
    LISTED(wg_mat_reshape, 8),
    LISTED(wg_mat_value, 6),
    LISTED(wg_mat_adjoint, 12),
    LISTED(wg_mat_adjoint_lane, 4),
    LISTED(wg_mat_tangent, 4),
    LISTED(wg_mat_reverse, 24),
    LISTED(wg_mat_adjoint_seed, 6),
    LISTED(wg_mat_tangent_seed, 6),
    LISTED(wg_tape_keep, 6),
    LISTED(wg_block_value, 2),
    LISTED(wg_apply, 16),
    LISTED(wg_check_op, 1),
    LISTED(wg_jacobian_work, 2),
    {"wg_vjp_by_jacobian", row_wg_jacobian_work, 2},
    LISTED(wg_jvp_by_jacobian, 2),
};
const struct rows calls_matrix = ROWS(list);
