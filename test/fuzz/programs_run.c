/* SPDX-License-Identifier: MIT */
/* programs_run.c - shapes of programs, and programs recorded on a tape. */
#include <string.h>
#include "programs_toys.h"

static size_t entries(struct program_shape a) { return a.rows * a.cols; }
static int same(struct program_shape a, struct program_shape b) {
    return a.rows == b.rows && a.cols == b.cols;
}
static int square(struct program_shape a) { return a.rows == a.cols && a.rows > 0; }
static struct program_shape turned(int turn, struct program_shape a) {
    const struct program_shape b = {a.cols, a.rows};
    return turn ? b : a;
}

static int stretched(size_t operands, const struct program_shape *in,
                     struct program_shape *out) {
    out->rows = out->cols = 1;
    for (size_t k = 0; k < operands; k++) {
        if (in[k].rows != 1) out->rows = in[k].rows;
        if (in[k].cols != 1) out->cols = in[k].cols;
    }
    for (size_t k = 0; k < operands; k++)
        if ((in[k].rows != 1 && in[k].rows != out->rows) ||
            (in[k].cols != 1 && in[k].cols != out->cols))
            return 0;
    return 1;
}

/* Operands of a loop against the inputs of its body. */
static int loop(const struct program_case *c, size_t self, const struct program_step *s,
                const struct program_shape *in, struct program_shape *out) {
    if (s->whole[0] < 0 || (size_t)s->whole[0] >= self) return 0;
    const struct program *const body = &c->program[s->whole[0]];
    const struct program_shape last = body->node[body->inputs + body->steps - 1];
    if (s->operands != body->inputs) return 0;
    for (size_t k = 1; k < s->operands; k++)
        if (!same(in[k], body->node[k])) return 0;
    *out = last;
    if (s->op->rule == R_MAP) {
        out->rows = entries(last);
        out->cols = in[0].cols;
        return in[0].rows == entries(body->node[0]) && in[0].cols > 0;
    }
    if (!same(in[0], body->node[0])) return 0;
    return s->op->rule == R_CALL || (same(last, in[0]) && s->whole[1] > 0 && s->operands <= 2);
}

static int fits(const struct program_case *c, size_t self, const struct program_step *s,
                const struct program_shape *in, struct program_shape *out) {
    const struct program_shape a = in[0], b = in[1], one = {1, 1};
    const size_t w = (size_t)(s->whole[0] < 0 ? 0 : s->whole[0]);
    const int bit0 = s->whole[0] & 1, bit1 = s->whole[0] >> 1 & 1;
    *out = a;
    switch (s->op->rule) {
    case R_EACH:
        return stretched(s->operands, in, out);
    case R_SAME:
        return 1;
    case R_SAME_ALL:
        return same(a, b);
    case R_ONE:
        *out = one;
        return entries(a) > 0;
    case R_AXIS:
        if (w != WG_EACH_ROW) out->rows = 1;
        if (w != WG_EACH_COL) out->cols = 1;
        return w <= WG_EACH_ROW && entries(a) > 0;
    case R_LINES:
        return w <= WG_EACH_ROW && entries(a) > 0;
    case R_NORM_LINES:
        return b.rows == a.rows && b.cols == 1 && same(b, in[2]) && entries(a) > 0;
    case R_PRODUCT:
        out->cols = b.cols;
        return a.cols == b.rows;
    case R_GEMM:
        *out = in[2];
        return turned(bit0, a).cols == turned(bit1, b).rows &&
               in[2].rows == turned(bit0, a).rows && in[2].cols == turned(bit1, b).cols;
    case R_GEMV:
        *out = in[2];
        return b.cols == 1 && in[2].cols == 1 && turned(bit0, a).cols == b.rows &&
               in[2].rows == turned(bit0, a).rows;
    case R_PAIR_ONE:
        *out = one;
        return same(a, b);
    case R_PAIR_COLS:
        out->rows = 1;
        return same(a, b) && entries(a) > 0;
    case R_SCALE:
        *out = b;
        return same(a, one);
    case R_GER:
        *out = in[2];
        return a.cols == 1 && b.cols == 1 && in[2].rows == a.rows && in[2].cols == b.rows;
    case R_OUTER:
        out->cols = b.rows;
        return a.cols == 1 && b.cols == 1;
    case R_KRON:
        out->rows *= b.rows;
        out->cols *= b.cols;
        return 1;
    case R_QUADFORM:
        *out = one;
        return square(a) && b.rows == a.rows && b.cols == 1;
    case R_SQUARE_ONE:
        *out = one;
        return square(a);
    case R_TRACE_PRODUCT:
        *out = one;
        return a.rows == b.cols && a.cols == b.rows;
    case R_SYRK:
        *out = b;
        return square(b) && turned(bit0, a).rows == b.rows;
    case R_SYMM:
        *out = b;
        return square(a) && same(b, in[2]) && (bit0 ? b.cols : b.rows) == a.rows;
    case R_TRIANGLE:
        *out = b;
        return square(a) && (bit0 ? b.cols : b.rows) == a.rows;
    case R_GRAM:
        out->cols = a.rows;
        return 1;
    case R_WIDE:
        out->rows = out->cols = w;
        return w > 0 && w * (a.rows > a.cols ? a.rows : a.cols) <= PROGRAM_ENTRIES;
    case R_SOLVE:
        *out = b;
        return square(a) && b.rows == a.rows;
    case R_SQUARE:
        return square(a);
    case R_BATCH:
        *out = b;
        return a.rows > 0 && b.rows == a.rows && a.cols > 0 && a.cols % a.rows == 0 &&
               b.cols % (a.cols / a.rows) == 0;
    case R_BANDED:
        *out = b;
        return a.rows == 3 && a.cols == b.rows && b.rows > 1;
    case R_TRIDIAGONAL:
        *out = in[3];
        return a.cols == 1 && b.cols == 1 && same(a, in[2]) && a.rows + 1 == b.rows &&
               in[3].rows == b.rows;
    case R_QR_Q:
        if (a.rows < a.cols) out->cols = a.rows;
        return 1;
    case R_QR_R:
        if (a.cols < a.rows) out->rows = a.cols;
        return 1;
    case R_LSTSQ:
        out->rows = a.cols;
        out->cols = b.cols;
        return a.rows == b.rows;
    case R_TRANSPOSED:
        *out = turned(1, a);
        return 1;
    case R_EIGENVALUES:
        out->cols = 1;
        return square(a) && (s->operands == 1 || same(a, b));
    case R_SINGULAR:
        out->rows = a.rows < a.cols ? a.rows : a.cols;
        out->cols = 1;
        return 1;
    case R_SYLVESTER:
        *out = in[2];
        return square(a) && square(b) && in[2].rows == a.rows && in[2].cols == b.rows;
    case R_SQUARES:
        return square(a) && same(a, b);
    case R_SCATTER:
        return entries(b) > 0 && entries(a) > 0;
    case R_ROW:
        out->rows = 1;
        return w < a.rows;
    case R_COLUMN:
        out->cols = 1;
        return w < a.cols;
    case R_DIAGONAL:
        out->rows = a.rows < a.cols ? a.rows : a.cols;
        out->cols = 1;
        return 1;
    case R_STACKED:
        out->rows = entries(a);
        out->cols = 1;
        return 1;
    case R_ROWS:
        out->rows += b.rows;
        return a.cols == b.cols;
    case R_COLS:
        out->cols += b.cols;
        return a.rows == b.rows;
    case R_DIAG:
        out->rows = out->cols = entries(a);
        return a.rows == 1 || a.cols == 1;
    case R_PAD:
        out->rows++;
        out->cols++;
        return 1;
    case R_REPEAT:
        out->rows *= 2;
        return 1;
    case R_MVN:
        *out = one;
        return square(in[2]) && a.rows == in[2].rows && b.rows == a.rows && b.cols == 1;
    case R_COVARIANCE:
        out->cols = a.rows;
        return b.cols == 1 && (b.rows == 1 || b.rows == a.cols) && same(in[2], one) &&
               same(in[3], one) && w <= WG_MATERN_52 && entries(a) > 0;
    default:
        return loop(c, self, s, in, out);
    }
}

int program_result(const struct program_case *c, size_t self, const struct program_step *s,
                   const struct program_shape *in, struct program_shape *out) {
    struct program_shape shape[PROGRAM_OPERANDS] = {{0, 0}};
    if (s->op->operands != 0 && s->operands != s->op->operands) return -1;
    for (size_t k = 0; k < s->operands; k++) shape[k] = turned(s->trans >> k & 1, in[k]);
    if (!fits(c, self, s, shape, out)) return -1;
    return entries(*out) > 0 && entries(*out) <= PROGRAM_ENTRIES ? 0 : -1;
}

int program_shapes(const struct program_case *c, size_t self, struct program *p) {
    p->n = 0;
    for (size_t i = 0; i < p->inputs; i++) p->n += entries(p->node[i]);
    for (size_t i = 0; i < p->steps; i++) {
        struct program_shape in[PROGRAM_OPERANDS];
        for (size_t k = 0; k < p->step[i].operands; k++) {
            if (p->step[i].from[k] >= p->inputs + i) return -1;
            in[k] = p->node[p->step[i].from[k]];
        }
        if (program_result(c, self, &p->step[i], in, &p->node[p->inputs + i]) != 0) return -1;
    }
    if (p->inputs == 0 || p->steps == 0 || p->n > PROGRAM_NUMBERS) return -1;
    p->m = entries(p->node[p->inputs + p->steps - 1]);
    if (p->m > PROGRAM_OUTPUTS) p->m = PROGRAM_OUTPUTS;
    return 0;
}

/* ---- recorded ---- */

/* A matrix times 1 and some units in the last place, of one's own for each entry. */
static wg_mat shaken(wg_tape *t, struct program_random *r, wg_mat a) {
    double f[PROGRAM_ENTRIES];
    if (wg_tape_status(t) != WG_OK || a.rows * a.cols == 0) return a;
    for (size_t i = 0; i < a.rows * a.cols; i++) f[i] = 1 + program_uniform(r, -4, 4) * 0x1p-53;
    return (wg_mat_mul)(t, a, wg_mat_constant(t, a.rows, a.cols, f, a.rows));
}

wg_status program_record(wg_tape *t, const struct program_case *c, size_t self, size_t n,
                         const wg_real *x, wg_mat *result) {
    const struct program *const p = &c->program[self];
    struct program_random r = {c->shaken + self, NULL};
    wg_mat node[PROGRAM_NODES];
    if (n != p->n) return WG_ESHAPE;
    for (size_t i = 0; i < p->inputs; i++) {
        node[i] = wg_mat_gather(t, p->node[i].rows, p->node[i].cols, x);
        x += entries(p->node[i]);
    }
    for (size_t i = 0; i < p->steps; i++) {
        const struct program_step *const s = &p->step[i];
        wg_mat in[PROGRAM_OPERANDS];
        for (size_t k = 0; k < s->operands; k++) {
            in[k] = s->trans >> k & 1 ? wg_mat_transpose(node[s->from[k]]) : node[s->from[k]];
            if (c->shaken != 0 && s->op->backward) in[k] = shaken(t, &r, in[k]);
        }
        node[p->inputs + i] = s->op->record(t, c, s, in);
        if (c->shaken != 0) node[p->inputs + i] = shaken(t, &r, node[p->inputs + i]);
        const wg_status status = wg_tape_status(t);
        if (status != WG_OK) return status;
    }
    *result = node[p->inputs + p->steps - 1];
    return WG_OK;
}

wg_status program_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const struct program_run *const run = data;
    wg_mat last;
    const wg_status s = program_record(t, run->c, run->self, n, x, &last);
    for (size_t j = 0; s == WG_OK && j < m; j++)
        y[j] = wg_mat_at(last, j % last.rows, j / last.rows);
    return s;
}

/* ---- bodies ---- */

/* Their first input has a value per point, the others are shared. */
static wg_status body_callable(struct program_case *c, size_t self, wg_tape *t) {
    struct program *const p = &c->program[self];
    struct program_run run = {c, self};
    wg_argument in[PROGRAM_INPUTS] = {{0}};
    const struct program_shape last = p->node[p->inputs + p->steps - 1];
    const wg_argument out = {"y", last.rows, last.cols, 0};
    wg_function *f = NULL;
    for (size_t k = 0; k < p->inputs; k++) {
        in[k].rows = p->node[k].rows;
        in[k].cols = p->node[k].cols;
        in[k].flags = k > 0 ? WG_SHARED : 0;
    }
    wg_status s =
        wg_function_record(t, program_callback, &run, p->inputs, in, p->at, 1, &out, &f);
    if (s == WG_OK) s = wg_callable_new(t, f, &p->call);
    wg_function_free(f);
    return s;
}

wg_status program_case_open(struct program_case *c, wg_tape *t) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < c->programs; i++) c->program[i].call = NULL;
    for (size_t i = 0; i + 1 < c->programs && s == WG_OK; i++) s = body_callable(c, i, t);
    return s;
}
void program_case_close(struct program_case *c) {
    for (size_t i = 0; i < c->programs; i++) {
        wg_callable_free(c->program[i].call);
        c->program[i].call = NULL;
    }
}
