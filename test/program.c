/* SPDX-License-Identifier: MIT */
/* program.c - see program.h. The three runs are program_kernel.h over three types. */
#include "program.h"
#include "sanitized.h"
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              copysign(2.0, -a) / ((1 + fabs(a)) * (1 + fabs(a)) * (1 + fabs(a))), GUARD,
              "Bergstra 2009")
WG_OPERATION2(blend, a *exp(-b *b), exp(-b *b), -2 * b * v, 0, -2 * b * exp(-b * b),
              (4 * b * b - 2) * v, GUARD, "a test")

enum {
#define FUSED(name, n, e) FUSED_##name,
#include "fused.def"
#undef FUSED
    FUSED_COUNT
};

static const double program_coefficient[STEP_OPERANDS] = {1.5, -2, 0.25, 3, -0.75, 0, 1, -1.25};

#include "program_kernel.h"

#define WG_AS_DOUBLE
#include "program_kernel.h"
#undef WG_AS_DOUBLE

#define WG_AS_DUAL
#include "program_kernel.h"
#undef WG_AS_DUAL
#include <wengert/generic.h>

void program_real(wg_tape *t, const struct program *p, wg_real *node) { run_real(t, p, node); }
void program_double(const struct program *p, double *node) { run_double(NULL, p, node); }
void program_dual(const struct program *p, wg_dual *node) { run_dual(NULL, p, node); }

/* ---- the operations by number and by name ---- */

static const struct {
    const char *name;
    unsigned arity;
} rows[] =
    {
#define OP1(name, ...) {#name, 1},
#define OP2(name, ...) {#name, 2},
#define OP3(name, ...) {#name, 3},
#define OP4(name, ...) {#name, 4},
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
},
  others[] = {
      {"copy", 1},   {"sum", 0},        {"product", 0},      {"dot", 0},
      {"linear", 0}, {"polynomial", 0}, {"squared_norm", 0}, {"mean", 0},
#define FUSED(name, n, e) {#name, n},
#include "fused.def"
#undef FUSED
};

enum { ROWS = sizeof rows / sizeof *rows, OTHERS = sizeof others / sizeof *others };
_Static_assert((int)ROWS <= (int)STEP_COPY, "more rows than program.h has numbers for");
_Static_assert((int)OTHERS == (int)STEP_FUSED - (int)STEP_COPY + (int)FUSED_COUNT,
               "an operation without a name");

const unsigned program_rows = ROWS, program_draws = ROWS + OTHERS;

unsigned program_draw(unsigned i) { return i < ROWS ? i : STEP_COPY + (i - ROWS); }

unsigned program_arity(unsigned op) {
    return op < ROWS ? rows[op].arity : others[op - STEP_COPY].arity;
}

const char *program_name(unsigned op) {
    return op < ROWS ? rows[op].name : others[op - STEP_COPY].name;
}

int program_find(const char *name) {
    for (unsigned i = 0; i < program_draws; i++)
        if (strcmp(program_name(program_draw(i)), name) == 0) return (int)program_draw(i);
    return -1;
}

void program_print(const struct program *p, const double *x, FILE *out) {
    const size_t nodes = p->inputs + p->steps;
    double *const value = calloc(nodes, sizeof *value);
    char *const live = calloc(nodes, 1);
    if (value != NULL && live != NULL) {
        memcpy(value, x, p->inputs * sizeof *x);
        program_double(p, value);
        for (size_t j = 0; j < p->outputs; j++) live[p->output[j]] = 1;
        for (size_t i = p->steps; i-- > 0;)
            for (size_t k = 0; live[p->inputs + i] && k < p->step[i].operands; k++)
                if (p->step[i].from[k] >= 0) live[p->step[i].from[k]] = 1;
        for (size_t i = 0; i < p->inputs; i++) fprintf(out, "n%zu = %.17g\n", i, x[i]);
        for (size_t i = 0; i < p->steps; i++) {
            const struct step *const s = &p->step[i];
            if (!live[p->inputs + i]) continue;
            fprintf(out, "n%zu = %s", p->inputs + i, program_name(s->op));
            for (size_t k = 0; k < s->operands; k++)
                if (s->from[k] >= 0) fprintf(out, " n%d", s->from[k]);
                else fprintf(out, " %s%.17g", s->literals >> k & 1 ? "#" : "", s->number[k]);
            fprintf(out, "%s = %.17g\n",
                    s->shape == STEP_INNER   ? " (inner)"
                    : s->shape == STEP_OUTER ? " (outer)"
                                             : "",
                    value[p->inputs + i]);
        }
        for (size_t j = 0; j < p->outputs; j++) fprintf(out, "output n%zu\n", p->output[j]);
    }
    free(value);
    free(live);
}

/* ---- programs from bytes ---- */

struct bytes {
    const uint8_t *at, *end;
};

static unsigned take(struct bytes *b) { return b->at < b->end ? *b->at++ : 0; }

/* Mostly ordinary numbers; a few that break formulas. */
static double number_of(unsigned byte) {
    static const double odd[16] = {0,        -0.0,      1,      -1,   2,      -2,
                                   0.5,      -0.5,      1e-300, 1e30, 5e-324, -1e150,
                                   INFINITY, -INFINITY, NAN,    1e308};
    return byte < 240 ? ((double)byte - 119.5) / 32 : odd[byte - 240];
}

static void draw_operands(struct bytes *b, struct step *s, size_t nodes) {
    for (unsigned k = 0; k < s->operands; k++) {
        const unsigned byte = take(b);
        if (byte < 216) { /* near or far, often the same again */
            const size_t reach = byte & 1 ? nodes : nodes < 8 ? nodes : 8;
            s->from[k] = (int)(nodes - 1 - byte / 2 % reach);
        } else {
            s->from[k] = -1;
            s->number[k] = number_of(take(b));
            if (byte & 1 && s->shape == STEP_PLAIN) s->literals |= 1u << k;
        }
    }
}

/* Is a step as it was drawn one that runs? A statement of several arithmetic operations follows
 * the zero rule where its operands are finite, and only there; the sign of a NaN, which
 * copysign reads, is not the same from compiler to compiler. */
static int sound(const struct step *s, const double *node, size_t inputs) {
    for (unsigned k = 0; k < s->operands && s->op >= STEP_FUSED; k++)
        if (!(fabs(s->from[k] < 0 ? s->number[k] : node[s->from[k]]) < 1e30)) return 0;
    return s->op != WGI_OP_copysign || s->from[1] < (int)inputs;
}

/* Something that runs wherever its operand is. */
static void tame(struct step *s) {
    const int from = s->from[0] < 0 ? 0 : s->from[0];
    memset(s, 0, sizeof *s);
    s->op = WGI_OP_atan;
    s->operands = 1;
    s->from[0] = from;
}

void program_from_bytes(const uint8_t *bytes, size_t n, struct program_room *room) {
    struct bytes b = {bytes, bytes + n};
    struct program *const p = &room->program;
    double here[PROGRAM_INPUTS + PROGRAM_STEPS], there[PROGRAM_INPUTS + PROGRAM_STEPS];
    memset(room, 0, sizeof *room);
    p->step = room->step;
    p->output = room->output;
    p->inputs = 1 + take(&b) % PROGRAM_INPUTS;
    p->outputs = 1 + take(&b) % PROGRAM_OUTPUTS;
    for (size_t i = 0; i < p->inputs; i++) {
        here[i] = room->x[i] = number_of(take(&b));
        there[i] = room->other[i] = number_of(take(&b) % 240);
    }
    while (b.at < b.end && p->steps < PROGRAM_STEPS) {
        struct step *const s = &room->step[p->steps];
        const size_t nodes = p->inputs + p->steps;
        const struct program one = {nodes, 1, 0, s, NULL};
        const unsigned how = take(&b), which = take(&b) | (how & 1) << 8;
        /* a quarter of the steps are arithmetic, the others anything */
        s->op =
            (how & 3) == 2 ? which % (WGI_OP_cube + 1) : program_draw(which % program_draws);
        s->shape = (how >> 2 & 3) < STEP_SHAPES ? how >> 2 & 3 : STEP_PLAIN;
        s->operands = program_arity(s->op);
        if (s->operands == 0) s->operands = 2 * (1 + (how >> 4 & 3));
        draw_operands(&b, s, nodes);
        if (!sound(s, here, p->inputs) || !sound(s, there, p->inputs)) tame(s);
        run_double(NULL, &one, here);
        run_double(NULL, &one, there);
        /* three times of four where a value leaves the ordinary */
        if ((how & 0xc0) != 0 && !(fabs(here[nodes]) < 1e6 && fabs(there[nodes]) < 1e6)) {
            tame(s);
            run_double(NULL, &one, here);
            run_double(NULL, &one, there);
        }
        p->steps++;
    }
    for (size_t i = 0; i < p->outputs; i++) {
        const size_t nodes = p->inputs + p->steps;
        p->output[i] = nodes - 1 - (i < n && i > 0 ? bytes[n - i] % nodes : 0);
    }
}
