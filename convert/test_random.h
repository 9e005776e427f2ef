/* SPDX-License-Identifier: MIT */
/* test_random.h - a C program by a number: functions with branches, loops, pointers, arrays,
 * structures, macros, statics, globals, calls with variables and with numbers, recursion.
 * Program k is of the function p<k>_f(x, y), x[3] its inputs, the result and y[2] its outputs.
 * Every value is kept small by bounded functions, and every division is by a number that is not
 * small. The functions it calls are to be declared before it. */
#ifndef CONVERT_TEST_RANDOM_H
#define CONVERT_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RANDOM_INPUTS = 3, RANDOM_OUTPUTS = 3 };

typedef struct maker {
    FILE *to;
    unsigned k;          /* the program */
    uint64_t state;      /* of the random numbers */
    unsigned names;      /* counters and labels that were given out */
    unsigned loops;      /* around what is written now */
    unsigned counter[4]; /* of those loops: i<n> */
    bool in_main;        /* not in a function that it calls */
} maker;

static inline unsigned pick(maker *m, unsigned n) {
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((m->state >> 33) % n);
}

/* An index below 4. */
static inline void put_index(maker *m) {
    if (m->loops != 0 && pick(m, 3) != 0)
        fprintf(m->to, "(i%u + %u) & 3", m->counter[pick(m, m->loops)], pick(m, 4));
    else fprintf(m->to, "%u", pick(m, 4));
}

/* A place that holds a variable. */
static inline void put_place(maker *m) {
    static const char *const names[] = {"a",      "b",      "c",      "s.a", "s.in.p",
                                        "s.in.q", "s.v[1]", "t.v[0]", "*q",  "q[1]"};
    if (pick(m, 4) == 0) {
        fputs("w[", m->to);
        put_index(m);
        fputs("]", m->to);
    } else if (m->in_main) fputs(names[pick(m, sizeof names / sizeof *names)], m->to);
    else fputs(names[pick(m, 3)], m->to);
}

static inline void put_leaf(maker *m) {
    static const char *const numbers[] = {"0.5", "1.25", "2.0", "(-0.75)", "r"};
    switch (pick(m, 6)) {
    case 0:
        fputs(numbers[pick(m, m->in_main ? 5 : 4)], m->to);
        break;
    case 1:
        if (m->in_main) fprintf(m->to, "x[%u]", pick(m, 3));
        else fprintf(m->to, "p%u_table[%u]", m->k, pick(m, 3));
        break;
    case 2:
        if (m->in_main) {
            fprintf(m->to, "p%u_state[%u]", m->k, pick(m, 2));
            break;
        } /* fall through */
    default:
        put_place(m);
    }
}

static inline void put_expression(maker *m, unsigned depth);

static inline void put_condition(maker *m) {
    static const char *const signs[] = {" > ", " < ", " >= ", " <= ", " != "};
    const bool both = pick(m, 4) == 0;
    if (both) fputs("(", m->to);
    put_expression(m, 1);
    fputs(signs[pick(m, 5)], m->to);
    put_leaf(m);
    if (both) {
        fputs(pick(m, 2) != 0 ? " && " : " || ", m->to);
        put_leaf(m);
        fputs(" > 0.125)", m->to);
    }
}

static inline void put_expression(maker *m, unsigned depth) {
    static const char *const functions[] = {
        "sin(", "cos(", "sin(", "atan(", "sqrt(1 + fabs(", "log(2 + fabs(", "exp(-fabs("};
    static const char *const signs[] = {" + ", " - ", " * "};
    if (depth == 0) {
        put_leaf(m);
        return;
    }
    const unsigned kind = pick(m, 12), f = pick(m, 7);
    switch (kind) {
    case 0:
    case 1:
    case 2:
        fputs("(", m->to);
        put_expression(m, depth - 1);
        fputs(signs[pick(m, 3)], m->to);
        put_expression(m, depth - 1);
        break;
    case 3:
    case 4:
        fputs(functions[f], m->to);
        put_expression(m, depth - 1);
        if (f >= 4) fputs(")", m->to);
        break;
    case 5:
        put_leaf(m);
        fprintf(m->to, " / (1.5 + p%u_SQUARE(", m->k);
        put_expression(m, depth - 1);
        fputs(")", m->to);
        break;
    case 6:
        fputs("(", m->to);
        put_condition(m);
        fputs(" ? ", m->to);
        put_expression(m, depth - 1);
        fputs(" : ", m->to);
        put_expression(m, depth - 1);
        break;
    case 7:
        fprintf(m->to, "p%u_MIXED(", m->k);
        put_expression(m, depth - 1);
        fputs(", ", m->to);
        put_leaf(m);
        break;
    case 8:
        if (!m->in_main) {
            fputs("(-", m->to);
            put_leaf(m);
            break;
        }
        fprintf(m->to, "p%u_%s(", m->k, pick(m, 2) != 0 ? "two" : "other");
        put_expression(m, depth - 1);
        fputs(", ", m->to);
        put_leaf(m);
        break;
    case 9:
        fprintf(m->to, "%s(", m->in_main && pick(m, 2) != 0 ? "(double)" : "-");
        put_expression(m, depth - 1);
        break;
    default:
        fputs("(", m->to);
        put_leaf(m);
    }
    fputs(")", m->to);
}

/* An expression between -1.6 and 1.6. */
static inline void put_bounded(maker *m, unsigned depth) {
    static const char *const functions[] = {"sin(", "cos(", "atan("};
    fputs(functions[pick(m, 3)], m->to);
    put_expression(m, depth);
    fputs(")", m->to);
}

static inline void indent(const maker *m, unsigned depth) {
    fprintf(m->to, "%*s", (int)(4 * depth), "");
}

static inline void put_statements(maker *m, unsigned n, unsigned depth);

static inline void put_block(maker *m, unsigned depth) {
    fputs("{\n", m->to);
    put_statements(m, 1 + (pick(m, 3) == 0), depth + 1);
    indent(m, depth);
    fputs("}", m->to);
}

static inline void put_loop(maker *m, unsigned depth) {
    const unsigned name = m->names++, times = 2 + pick(m, 3);
    switch (pick(m, 8)) {
    case 3: /* down */
        fprintf(m->to, "for (int i%u = %u; i%u > 0; i%u--) ", name, times, name, name);
        break;
    case 4: /* steps of two */
        fprintf(m->to, "for (unsigned i%u = 1; i%u <= %u; i%u += 2) ", name, name, times, name);
        break;
    case 5: /* a bound that is no whole number */
        fprintf(m->to, "for (int i%u = 0; i%u < 0.75 * %u; i%u++) ", name, name, times, name);
        break;
    case 0: /* while */
        fprintf(m->to, "int i%u = %u;\n", name, times);
        indent(m, depth);
        fprintf(m->to, "while (i%u-- > 0) ", name);
        break;
    case 1: /* until a variable is large */
        fprintf(m->to, "for (int i%u = 0; i%u < %u && ", name, name, times);
        put_condition(m);
        fprintf(m->to, "; i%u++) ", name);
        break;
    default:
        fprintf(m->to, "for (int i%u = 0; i%u < %u; i%u++) ", name, name, times, name);
    }
    m->counter[m->loops++] = name;
    put_block(m, depth);
    m->loops--;
}

static inline void put_switch(maker *m, unsigned depth) {
    fputs("switch ((k + 4) % 3) {\n", m->to);
    for (unsigned i = 0; i < 3; i++) {
        indent(m, depth);
        if (i < 2) fprintf(m->to, "case %u: ", i);
        else fputs("default: ", m->to);
        put_block(m, depth);
        fputs(" break;\n", m->to);
    }
    indent(m, depth);
    fputs("}", m->to);
}

/* Some of what is assigned has the value that it overwrites in it, more than once. */
static inline void put_assignment(maker *m) {
    static const char *const signs[] = {" = ", " += ", " -= ", " *= "};
    maker again = *m;
    put_place(m);
    fputs(signs[pick(m, 3) == 0 ? pick(m, 4) : 0], m->to);
    put_bounded(m, 1 + (pick(m, 4) == 0));
    if (pick(m, 4) == 0) {
        maker once_more = again;
        fputs(" * cos(", m->to), put_place(&again), fputs(") * sin(", m->to),
            put_place(&once_more), fputs(")", m->to);
    }
    fputs(";", m->to);
}

/* What only the function itself has. */
static inline void put_special(maker *m, unsigned depth) {
    const unsigned name = m->names++;
    switch (pick(m, 17)) {
    case 12:
        fprintf(
            m->to,
            "{ const int j[2] = {k & 3, (k + 1) & 3}; w[j[0]] += sin(w[j[1]] * w[j[0]]); }");
        break;
    case 13:
        fprintf(
            m->to,
            "{ int by = 1 + (k & 1); w[k & 3] *= cos(w[k & 3]), k += by, by = 3, k -= by; }");
        break;
    case 14:
        fprintf(m->to, "{ double v[2 + (k & 1)]; v[0] = "), put_bounded(m, 1),
            fprintf(m->to, ", v[1] = v[0] * v[0], a = v[1] * cos(v[0]); }");
        break;
    case 15:
        fprintf(m->to, "{ int n = 3; memmove(%s, (size_t)n * sizeof(double)), n = 1; }",
                pick(m, 2) != 0 ? "w, w + 1" : "w + 1, w");
        break;
    case 16:
        fprintf(m->to,
                "{ struct p%u_s *z = k & 1 ? &s : &t; z->a *= sin(z->v[1] * z->a), *z = s; }",
                m->k);
        break;
    case 0:
        fprintf(m->to, "p%u_update(&%s, w, ", m->k, pick(m, 2) != 0 ? "s" : "t"),
            put_bounded(m, 1), fputs(");", m->to);
        break;
    case 1:
        fputs("t = s;", m->to);
        break;
    case 2:
        fputs("s.in = t.in, q = &w[k & 1];", m->to);
        break;
    case 3:
        fputs("memcpy(u, w, sizeof w), w[1] = u[2] * 0.5;", m->to);
        break;
    case 4:
        fputs("a = (b = ", m->to), put_bounded(m, 1), fputs(", b * 0.5);", m->to);
        break;
    case 5:
        fputs("c = a = ", m->to), put_bounded(m, 2), fputs(";", m->to);
        break;
    case 6:
        fputs("k += ", m->to), put_condition(m), fputs(";", m->to);
        break;
    case 7:
        fprintf(m->to, "*q++ = a, q--, a = p%u_again(%u, ", m->k, pick(m, 4)),
            put_bounded(m, 1), fputs(");", m->to);
        break;
    case 8:
        fprintf(m->to, "p%u_function *const g%u = ", m->k, name), put_condition(m);
        fprintf(m->to, " ? p%u_two : p%u_other;\n", m->k, m->k);
        indent(m, depth);
        fprintf(m->to, "b = g%u(a, ", name), put_leaf(m), fputs(");", m->to);
        break;
    case 9:
        fprintf(m->to, "int n%u = 0;\n", name);
        indent(m, depth - 1);
        fprintf(m->to, "again%u:\n", name);
        indent(m, depth), put_assignment(m), fputs("\n", m->to), indent(m, depth);
        fprintf(m->to, "if (n%u++ < 2) goto again%u;", name, name);
        break;
    case 10:
        fprintf(m->to, "p%u_state[k & 1] = ", m->k), put_bounded(m, 1), fputs(";", m->to);
        break;
    default:
        fputs("do ", m->to);
        put_block(m, depth);
        fputs(" while (k++ < 2);", m->to);
    }
}

static inline void put_statement(maker *m, unsigned depth) {
    const unsigned kind = pick(m, 10);
    indent(m, depth);
    if (kind < 4 || depth > 2) put_assignment(m);
    else if (kind < 5) fprintf(m->to, "%s", pick(m, 2) != 0 ? "a++;" : "--b;");
    else if (kind < 6) {
        fputs("if (", m->to), put_condition(m), fputs(") ", m->to);
        put_block(m, depth);
        if (pick(m, 2) != 0) fputs(" else ", m->to), put_block(m, depth);
    } else if (kind < 7 && m->loops < 2) put_loop(m, depth);
    else if (m->in_main && kind < 8) put_switch(m, depth);
    else if (m->in_main) put_special(m, depth);
    else put_assignment(m);
    fputs("\n", m->to);
}

static inline void put_statements(maker *m, unsigned n, unsigned depth) {
    for (unsigned i = 0; i < n; i++) put_statement(m, depth);
}

/* Program k. */
static inline void put_program(FILE *to, unsigned k) {
    maker m = {.to = to, .k = k, .state = 20240229u + 7919u * (uint64_t)k};
    const bool remembers = k % 2 == 0;
    (void)pick(&m, 2);
    fprintf(
        to,
        "#define p%u_SQUARE(v) ((v) * (v))\n#define p%u_MIXED(v, by) ((by) + 0.5 * p%u_SQUARE(v))\n\n"
        "struct p%u_inner {\n    double p, q;\n};\n"
        "struct p%u_s {\n    double a;\n    int n;\n    struct p%u_inner in;\n    double v[2];\n};\n"
        "typedef double p%u_function(double, double);\n"
        "static const double p%u_table[3] = {0.5, -1.5, 0.25};\n",
        k, k, k, k, k, k, k, k);
    /* every second one keeps numbers between calls, in a global and a static variable */
    fprintf(to, remembers ? "static double p%u_state[2];\n\n" : "#define p%u_state u\n\n", k);
    for (unsigned i = 0; i < 2; i++) {
        fprintf(
            to,
            "static double p%u_%s(double a, double b) {\n    double c = a * b, w[4] = {a, b, c, 0.5};\n",
            k, i == 0 ? "two" : "other");
        put_statements(&m, 1, 1);
        fputs("    return a + c * w[1];\n}\n\n", to);
    }
    fprintf(
        to,
        "static double p%u_again(int n, double v) { return n <= 0 ? v : sin(v + p%u_again(n - 1, v * 0.5)) + n; }\n\n",
        k, k);
    fprintf(
        to,
        "static void p%u_update(struct p%u_s *s, double *w, double v) {\n    %sdouble before = 0.25;\n    double a = s->a, b = w[1], c = v;\n    if (s->n == 7) before = 0.25;\n",
        k, k, remembers ? "static " : "");
    put_statements(&m, pick(&m, 2), 1);
    fputs(
        "    s->a = cos(a + before * v);\n    s->v[s->n & 1] = b;\n    before = c * 0.5;\n    w[0] += cos(c);\n}\n\n",
        to);
    m.in_main = true;
    fprintf(
        to,
        "double p%u_f(const double *x, double *y) {\n    double a = x[0], b = x[1], c = x[2] * 0.5, w[4] = {x[0], 1, x[1], 0.25}, u[4] = {0};\n"
        "    const double r = p%u_two(0.25, 1.5);\n    struct p%u_s s = {.a = x[1], .n = 7, .in = {x[0], 2}, .v = {0.5, x[2]}}, t = s;\n"
        "    double *q = w + 1;\n    int k = %u;\n    p%u_state[0] = x[2], p%u_state[1] = r;\n    p%u_update(&t, w, 0.5);\n    s.n = 2;\n",
        k, k, k, pick(&m, 5), k, k, k);
    put_statements(&m, 3 + pick(&m, 2), 1);
    fprintf(
        to,
        "    y[0] = a + b + w[0] * *q;\n    y[1] = s.in.p - w[3] * t.v[0];\n    y[1] += u[1] + p%u_state[1];\n"
        "    c += w[2] * t.a;\n    return c + s.v[0] + k + p%u_again(1, s.a) + p%u_other(a, r);\n}\n",
        k, k, k);
}

#endif
