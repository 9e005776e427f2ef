/* SPDX-License-Identifier: MIT */
/* test_tape_programs.c - whole programs: those of test/data/expr_fuzz.txt, whose values,
 * Jacobians and Hessians were computed with 50 digits; and programs built from bytes, on which
 * all modes and the toy agree. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "check_tapes.h"
#include "oracle_text.h"
#include "sanitized.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

/* ---- reference programs ---- */

enum { REFERENCES = 120, STEPS = 600 };
static struct step step[STEPS];
static size_t output[16];
static struct oracle_case oracle;

/* "op add 3 #0.5": nodes and numbers. */
static void read_step(char *line, struct step *s) {
    char *word = strtok(line, " ");
    assert_string_equal(word, "op");
    word = strtok(NULL, " ");
    assert_non_null(word);
    const int op = program_find(strcmp(word, "const") == 0 ? "copy" : word);
    if (op < 0) print_error("no operation %s\n", word);
    assert_true(op >= 0);
    memset(s, 0, sizeof *s);
    s->op = (unsigned)op;
    for (word = strtok(NULL, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(s->operands < STEP_OPERANDS);
        if (*word == '#') {
            s->from[s->operands] = -1;
            s->number[s->operands] = strtod(word + 1, NULL);
            s->literals |= 1u << s->operands;
        } else {
            s->from[s->operands] = atoi(word);
        }
        s->operands++;
    }
    assert_int_equal(s->operands, program_arity(s->op));
}

static void read_program(struct program *p) {
    const struct oracle_array *const x = oracle_case_array(&oracle, "in", "x");
    const struct oracle_array *const y = oracle_case_array(&oracle, "ref", "outputs");
    assert_non_null(x);
    assert_non_null(y);
    assert_in_range(y->count, 1, sizeof output / sizeof *output);
    *p = (struct program){x->count, 0, y->count, step, output};
    for (size_t i = 0; i < oracle.lines; i++) {
        if (strncmp(oracle.line[i], "op ", 3) != 0) continue;
        assert_true(p->steps < STEPS);
        read_step(oracle.line[i], &step[p->steps++]);
    }
    for (size_t j = 0; j < y->count; j++) output[j] = (size_t)y->v[j];
}

static const double *reference(const char *role, const char *key, size_t count) {
    const struct oracle_array *const a = oracle_case_array(&oracle, role, key);
    assert_non_null(a);
    assert_int_equal(a->count, count);
    return a->v;
}

/* What the roundings of a program may do to its values: each operation gives a value within
 * TOL_VALUE_ULP and passes on the errors of its operands. */
static void value_errors(const struct toy *t, double *error) {
    for (size_t i = 0; i < t->n; i++) {
        const struct toy_node *const node = &t->node[i];
        error[i] = 0;
        if (node->op == NULL) continue;
        for (size_t k = 0; k < 4; k++)
            if (node->p[k] != 0) error[i] += fabs(node->p[k]) * error[node->from[k]];
        error[i] += TOL_VALUE_ULP * DBL_EPSILON * fabs(node->v);
    }
}

static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const struct program *const p = data;
    wg_real node[STEPS + 64];
    memcpy(node, x, n * sizeof *x);
    program_real(t, p, node);
    for (size_t j = 0; j < m; j++) y[j] = node[p->output[j]];
    return WG_OK;
}

static void call_dual(void *data, const wg_dual *x, wg_dual *y) {
    static wg_dual node[STEPS + 64];
    const struct program *const p = data;
    memcpy(node, x, p->inputs * sizeof *x);
    program_dual(p, node);
    for (size_t j = 0; j < p->outputs; j++) y[j] = node[p->output[j]];
}

/* The oracle's numbers within what check_toy allows, against which each mode is held. */
static int check_reference(struct program *p) {
    const size_t n = p->inputs, m = p->outputs, nodes = n + p->steps;
    const double *const x = reference("in", "x", n), *const w = reference("adj", "w", m);
    const double *const value = reference("ref", "nodes", nodes);
    static double error[64 * STEPS], jacobian[1024], allowed[1024], h[1024], h_allowed[1024];
    static size_t at[STEPS + 64], out[16];
    double y_error[16], v[64], other[64];
    struct toy toy = {0};
    int bad = 0;
    assert_true(m * n <= 1024 && n * n <= 1024 && n <= 64);
    program_toy(p, x, &toy, at);
    assert_true(toy.n <= 64 * STEPS);
    value_errors(&toy, error);
    for (size_t i = 0; i < nodes; i++) {
        const double got = toy.node[at[i]].v;
        if (got == value[i] || fabs(got - value[i]) <= error[at[i]]) continue;
        print_error("%s: node %zu (%s) is %.17g, reference %.17g, allowed error %.3g\n",
                    oracle.name, i, i < n ? "input" : program_name(step[i - n].op), got,
                    value[i], error[at[i]]);
        bad++;
    }
    for (size_t j = 0; j < m; j++) out[j] = at[p->output[j]], y_error[j] = error[out[j]];
    check_toy(&toy, n, m, at, out, w, jacobian, allowed, h, h_allowed);
    for (size_t i = 0; i < m * n; i++) allowed[i] += TOL_ORACLE_ZERO;
    for (size_t i = 0; i < n * n; i++) h_allowed[i] += TOL_ORACLE_ZERO;
    for (size_t i = 0; i < n; i++)
        v[i] = check_direction[i % CHECK_WEIGHTS], other[i] = x[i] * 0.875 + 0.0625;
    const struct check_function f = {call,
                                     call_dual,
                                     p,
                                     n,
                                     m,
                                     x,
                                     other,
                                     w,
                                     v,
                                     {reference("ref", "y", m), y_error},
                                     {reference("ref", "J", m * n), allowed},
                                     {reference("ref", "H", n * n), h_allowed}};
    if (check_modes(&check, &f) != 0) {
        print_error("%s %s: %s\n", oracle.name, oracle.variant, check.why);
        bad++;
    }
    if (check_program(&check, p, x, other) != 0) {
        print_error("%s %s: against the toy: %s\n", oracle.name, oracle.variant, check.why);
        bad++;
    }
    toy_free(&toy);
    return bad;
}

static void
reference_programs_have_their_values_jacobians_and_hessians_in_every_mode(void **state) {
    FILE *in = fopen(TEST_DATA "expr_fuzz.txt", "r");
    int bad = 0, programs = 0, got;
    (void)state;
    assert_non_null(in);
    check.compared = check.skipped = 0;
    while ((got = oracle_case_read(in, &oracle)) == 1) {
        struct program p;
        read_program(&p);
        bad += check_reference(&p);
        programs++;
        oracle_case_free(&oracle);
    }
    fclose(in);
    assert_int_equal(got, 0);
    assert_int_equal(programs, REFERENCES);
    assert_int_equal(bad, 0);
    assert_true(check.skipped < check.compared / 20);
}

/* ---- programs from bytes ---- */

static uint8_t next_byte(uint64_t *state) {
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return (uint8_t)((*state * UINT64_C(2685821657736338717)) >> 56);
}

static void programs_from_bytes_agree_in_every_mode_and_with_the_toy(void **state) {
    enum { PROGRAMS = SANITIZED ? 700 : 2500, LONGEST = 700 };
    static struct program_room room;
    uint64_t random = 20260101;
    int bad = 0;
    (void)state;
    check.compared = check.skipped = 0;
    for (size_t i = 0; i < PROGRAMS; i++) {
        uint8_t bytes[LONGEST];
        const size_t n = i % LONGEST;
        for (size_t k = 0; k < n; k++) bytes[k] = next_byte(&random);
        program_from_bytes(bytes, n, &room);
        if (check_program(&check, &room.program, room.x, room.other) == 0) continue;
        print_error("program %zu: %s\n", i, check.why);
        if (bad++ == 0) program_print(&room.program, room.x, stderr);
    }
    assert_int_equal(bad, 0);
    assert_true(check.compared > PROGRAMS * 400);
    assert_true(check.skipped < check.compared / 20);
}

/* Every operation is drawn, or the test before tells less than it seems to. */
static void bytes_reach_every_operation_and_spelling(void **state) {
    static struct program_room room;
    static size_t seen[STEP_FUSED + 256][STEP_SHAPES];
    uint64_t random = 7;
    (void)state;
    for (size_t i = 0; i < 400; i++) {
        uint8_t bytes[512];
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = next_byte(&random);
        program_from_bytes(bytes, sizeof bytes, &room);
        for (size_t s = 0; s < room.program.steps; s++)
            seen[room.step[s].op][room.step[s].shape]++;
    }
    for (unsigned i = 0; i < program_draws; i++) {
        const unsigned op = program_draw(i);
        for (unsigned shape = 0; shape < STEP_SHAPES; shape++) {
            if (seen[op][shape] == 0) print_error("%s never drawn\n", program_name(op));
            assert_true(seen[op][shape] > 0);
        }
    }
}

/* ---- statements of several operations ---- */

static void statements_of_several_operations_agree_with_their_parts(void **state) {
    static const double points[] = {0.3, -1.25, 0, 2.5, -0.0, 1, 1e-8, -7, 1e5, -1};
    enum { POINTS = sizeof points / sizeof *points, TRIALS = 60 };
    int bad = 0, statements = 0;
    uint64_t random = 3;
    (void)state;
    for (unsigned i = 0; i < program_draws; i++) {
        const unsigned op = program_draw(i);
        if (op < STEP_FUSED) continue;
        statements++;
        for (int trial = 0; trial < TRIALS; trial++) {
            double x[STEP_OPERANDS], other[STEP_OPERANDS];
            struct step s = {.op = op, .operands = program_arity(op)};
            size_t root = STEP_OPERANDS;
            const struct program p = {STEP_OPERANDS, 1, 1, &s, &root};
            for (size_t k = 0; k < STEP_OPERANDS; k++) {
                x[k] = points[next_byte(&random) % POINTS];
                other[k] = points[next_byte(&random) % POINTS];
                /* each operand its own variable, or two to choose from, or one a constant */
                s.from[k] = trial % 3 == 0 ? (int)k : next_byte(&random) % 2;
                if (trial % 5 == 4 && next_byte(&random) < 64) s.from[k] = -1;
                s.number[k] = points[next_byte(&random) % POINTS];
            }
            if (check_program(&check, &p, x, other) == 0) continue;
            if (bad++ == 0) {
                print_error("%s: %s\n", program_name(op), check.why);
                program_print(&p, x, stderr);
            }
        }
    }
    assert_true(statements >= 30);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            reference_programs_have_their_values_jacobians_and_hessians_in_every_mode),
        cmocka_unit_test(programs_from_bytes_agree_in_every_mode_and_with_the_toy),
        cmocka_unit_test(bytes_reach_every_operation_and_spelling),
        cmocka_unit_test(statements_of_several_operations_agree_with_their_parts),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
