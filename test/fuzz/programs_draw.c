/* SPDX-License-Identifier: MIT */
/* programs_draw.c - programs and points, drawn. */
#include <math.h>
#include <string.h>
#include "programs_toys.h"

/* xorshift64* (Vigna 2016). */
static uint64_t next(struct program_random *r) {
    r->state ^= r->state >> 12, r->state ^= r->state << 25, r->state ^= r->state >> 27;
    return r->state * UINT64_C(2685821657736338717);
}
uint64_t program_below(struct program_random *r, uint64_t n) { return (next(r) >> 11) % n; }
double program_uniform(struct program_random *r, double low, double high) {
    return low + (high - low) * ((double)(next(r) >> 11) * 0x1p-53);
}
static int chance(struct program_random *r, unsigned percent) {
    return program_below(r, 100) < percent;
}

/* ---- points ---- */

static double short_number(struct program_random *r, double size) {
    return round(program_uniform(r, -100, 100)) * size / 100;
}
static double edge(struct program_random *r) {
    static const double list[] = {0,     -0.0,   1,      -1,    2,     0.5,  1e-9,
                                  1e-12, -1e-16, 1e9,    1e-30, 1e30,  -1e5, 1e-300,
                                  1e300, 1e-160, 5e-324, 1e160, -1e-9, 0,    0};
    if (chance(r, 4)) return chance(r, 40) ? NAN : chance(r, 50) ? INFINITY : -INFINITY;
    return list[program_below(r, sizeof list / sizeof *list)];
}

/* A matrix of low rank, of zeros off the diagonal, of equal rows, or a permutation. */
static void special_matrix(struct program_random *r, struct program_shape s, double *a) {
    const uint64_t kind = program_below(r, 4);
    double u[PROGRAM_NUMBERS], v[PROGRAM_NUMBERS];
    for (size_t i = 0; i < s.rows + s.cols; i++) {
        u[i] = short_number(r, 2);
        v[i] = (double)program_below(r, 5) - 2;
    }
    for (size_t j = 0; j < s.cols; j++)
        for (size_t i = 0; i < s.rows; i++)
            a[i + j * s.rows] = kind == 0   ? v[i] * v[s.rows + j]
                                : kind == 1 ? (i == j ? u[i] : 0)
                                : kind == 2 ? u[j]
                                            : (double)((i + 1) % s.cols == j);
}

static void draw_point(struct program_random *r, const struct program *p, double *x, int far) {
    const uint64_t kind = program_below(r, far ? 10 : 14);
    const double equal = short_number(r, 2), scale = chance(r, 50) ? 1e-5 : 1e5;
    double *at = x;
    for (size_t i = 0; i < p->n; i++)
        x[i] = kind == 0          ? short_number(r, 20)
               : kind == 1        ? (double)program_below(r, 5) - 2
               : kind == 2        ? equal
               : kind == 3        ? short_number(r, 2 * scale)
               : kind == 4        ? (chance(r, 30) ? 0 : short_number(r, 2))
               : kind == 5 && far ? (chance(r, 50) ? edge(r) : short_number(r, 2))
               : kind == 6 && far ? (chance(r, 15) ? edge(r) : short_number(r, 2))
                                  : short_number(r, 2);
    for (size_t k = 0; kind == 7 && k < p->inputs; at += p->node[k].rows * p->node[k].cols, k++)
        special_matrix(r, p->node[k], at);
}

void program_draw_far(struct program_random *r, struct program_case *c) {
    draw_point(r, &c->program[c->programs - 1], c->far, 1);
}

/* ---- programs ---- */

static int named(const struct program_op *op, const char *list) {
    const size_t n = strlen(op->name);
    for (const char *at = list; at != NULL && *at != 0; at = strchr(at, ' ')) {
        if (*at == ' ') at++;
        if (strncmp(at, op->name, n) == 0 && (at[n] == ' ' || at[n] == 0)) return 1;
    }
    return 0;
}
static int wants_definite(const struct program_op *op) {
    return named(op, "solve_spd inverse_spd logdet_spd cholesky symmetric_log symmetric_sqrt "
                     "symmetric_inverse_sqrt sqrtm logm");
}

static void draw_parameters(struct program_random *r, struct program_step *s, size_t self) {
    static const double factors[] = {1, 1, -1, 2, 0.5, 0, 1.25, -0.75};
    const struct program_op *const op = s->op;
    for (size_t k = 0; k < 2; k++)
        s->number[k] = factors[program_below(r, sizeof factors / sizeof *factors)];
    s->whole[0] = (int)program_below(r, 16);
    if (op->rule == R_AXIS || op->rule == R_LINES) s->whole[0] = (int)program_below(r, 3);
    if (op->rule == R_EACH) s->whole[0] = (int)program_below(r, 2);
    if (op->rule == R_ROW || op->rule == R_COLUMN) s->whole[0] = (int)program_below(r, 3);
    if (op->rule == R_COVARIANCE) s->whole[0] = (int)program_below(r, 4);
    if (op->rule == R_WIDE)
        s->whole[0] = (int[]){6, 8, 14, 18, 19, 20, 24}[program_below(r, 7)];
    if (named(op, "powm")) s->whole[0] = (int)program_below(r, 9) - 4;
    if (named(op, "tril triu")) s->whole[0] = (int)program_below(r, 3) - 1;
    if (named(op, "var std")) s->number[0] = (double)program_below(r, 2);
    if (named(op, "norm_entries"))
        s->number[0] = (double[]){1, 2, 3, INFINITY}[program_below(r, 4)];
    if (named(op, "layer_norm gram"))
        s->number[0] = (double[]){1e-5, 1, 0.5}[program_below(r, 3)];
    if (named(op, "pinv")) s->number[0] = (double[]){-1, 1e-6, 0.1}[program_below(r, 3)];
    if (op->rule == R_CALL || op->rule == R_MAP || op->rule == R_SCAN) {
        s->whole[0] = (int)program_below(r, self);
        s->whole[1] = (int)program_below(r, 6) + 1;
    }
}

/* Bodies stay small, and matrices of high order meet only what the toy does quickly. */
static int affordable(const struct program_op *op, const struct program_shape *in,
                      struct program_shape out) {
    const size_t most = op->rule == R_SYLVESTER || op->rule == R_SQUARES ? 4 : 6;
    const int quick =
        op->rule <= R_WIDE || named(op, "solve inverse det logabsdet factor_solve "
                                        "factor_logdet factor_det factor_inverse "
                                        "logdet_spd cholesky solve_spd trsm "
                                        "inverse_spd copy column row diagonal tril");
    if (out.rows * out.cols > 64 && !quick) return 0;
    return quick || (in[0].rows <= most && in[0].cols <= most);
}

static int add_step(struct program_random *r, const struct program_case *c, size_t self,
                    struct program *p, const struct program_op *op) {
    enum { TRIES = 30 };
    struct program_step *const s = &p->step[p->steps];
    const size_t nodes = p->inputs + p->steps;
    if (p->steps == PROGRAM_STEPS) return -1;
    for (int k = 0; k < TRIES; k++) {
        struct program_shape in[PROGRAM_OPERANDS], out;
        memset(s, 0, sizeof *s);
        s->op = op;
        draw_parameters(r, s, self);
        s->operands = op->operands != 0 ? op->operands : c->program[s->whole[0]].inputs;
        for (size_t i = 0; i < s->operands; i++) {
            const size_t back = chance(r, 60) ? program_below(r, nodes < 3 ? nodes : 3)
                                              : program_below(r, nodes);
            s->from[i] = nodes - 1 - back;
            if (chance(r, 12)) s->trans |= 1u << i;
            in[i] = p->node[s->from[i]];
        }
        if (program_result(c, self, s, in, &out) != 0 || !affordable(op, in, out)) continue;
        p->node[nodes] = out;
        p->steps++;
        return 0;
    }
    return -1;
}

static void add_definite(struct program_random *r, const struct program_case *c, size_t self,
                         struct program *p) {
    if (chance(r, 85)) (void)add_step(r, c, self, p, program_op_named("gram"));
}

static void add_any(struct program_random *r, const struct program_case *c, size_t self,
                    struct program *p, unsigned scalars) {
    const size_t rows = wgi_scalar_op_count;
    const size_t at = chance(r, scalars) ? program_below(r, rows)
                                         : rows + program_below(r, program_op_count - rows);
    const struct program_op *const op = &program_ops[at];
    const int loop = op->rule == R_CALL || op->rule == R_MAP || op->rule == R_SCAN;
    if (named(op, r->without)) return;
    if ((loop && self == 0) || (op->rule == R_WIDE && chance(r, 70))) return;
    if (wants_definite(op)) add_definite(r, c, self, p);
    (void)add_step(r, c, self, p, op);
}

static void draw_inputs(struct program_random *r, struct program *p) {
    static const struct program_shape shapes[] = {{1, 1}, {1, 1}, {2, 2}, {2, 2},
                                                  {3, 3}, {3, 1}, {2, 3}, {3, 2},
                                                  {2, 1}, {1, 3}, {4, 1}, {4, 4}};
    p->inputs = 1 + program_below(r, PROGRAM_INPUTS);
    for (size_t k = 0; k < p->inputs; k++)
        p->node[k] = shapes[program_below(r, sizeof shapes / sizeof *shapes)];
}

/* A body: of scalar operations mostly; what is to be repeated gives what it takes. */
static int draw_body(struct program_random *r, struct program_case *c, size_t self) {
    struct program *const p = &c->program[self];
    const size_t steps = 1 + program_below(r, 4);
    draw_inputs(r, p);
    if (p->inputs > 2) p->inputs = 2;
    for (size_t k = 0; k < steps; k++) add_any(r, c, self, p, 60);
    const struct program_shape last = p->node[p->inputs + p->steps - 1];
    if (p->steps > 0 && (last.rows != p->node[0].rows || last.cols != p->node[0].cols) &&
        last.rows * last.cols == 1) { /* spread over the state */
        struct program_step *const s = &p->step[p->steps];
        memset(s, 0, sizeof *s);
        s->op = program_op_named("mul");
        s->operands = 2;
        s->from[1] = p->inputs + p->steps++ - 1;
    }
    if (p->steps == 0 || program_shapes(c, self, p) != 0 || p->n > 16) return -1;
    draw_point(r, p, p->at, 0);
    return 0;
}

static void call_a_body(struct program_random *r, struct program_case *c, size_t self) {
    static const char *const names[] = {"call", "map", "scan", "checkpoint"};
    struct program *const p = &c->program[self];
    const struct program *const body = &c->program[self - 1];
    if (chance(r, 70)) /* inputs that fit */
        for (size_t k = 0; k < body->inputs; k++) p->node[k] = body->node[k];
    if (p->inputs < body->inputs) p->inputs = body->inputs;
    (void)add_step(r, c, self, p, program_op_named(names[program_below(r, 4)]));
}

int program_draw_case(struct program_random *r, struct program_case *c) {
    wg_tape *const work = c->work;
    memset(c, 0, sizeof *c);
    c->work = work;
    const size_t bodies = chance(r, 65) ? 0 : chance(r, 75) ? 1 : 2;
    for (; c->programs < bodies; c->programs++)
        if (draw_body(r, c, c->programs) != 0) return -1;
    struct program *const p = &c->program[c->programs++];
    const size_t self = c->programs - 1, steps = 1 + program_below(r, chance(r, 80) ? 5 : 12);
    const unsigned scalars = chance(r, 30) ? 85 : 30;
    draw_inputs(r, p);
    if (chance(r, 30))
        for (size_t k = 0; k < p->inputs; k++) p->node[k] = (struct program_shape){1, 1};
    if (bodies > 0) call_a_body(r, c, self);
    for (size_t k = 0; k < steps; k++) add_any(r, c, self, p, scalars);
    if (p->steps == 0 || program_shapes(c, self, p) != 0 || p->n > 24) return -1;
    draw_point(r, p, p->at, 0);
    return 0;
}
