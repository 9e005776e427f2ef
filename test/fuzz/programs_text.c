/* SPDX-License-Identifier: MIT */
/* programs_text.c - cases as text; see programs.h. */
#include <stdlib.h>
#include <string.h>
#include "programs.h"

static void write_numbers(FILE *out, const char *word, size_t n, const double *a) {
    fputs(word, out);
    for (size_t i = 0; i < n; i++) {
        char text[32];
        for (int digits = 1; digits <= 17; digits++) {
            (void)snprintf(text, sizeof text, "%.*g", digits, a[i]);
            if (strtod(text, NULL) == a[i]) break;
        }
        fprintf(out, " %s", text);
    }
    fputc('\n', out);
}

void program_write(const struct program_case *c, FILE *out) {
    for (size_t q = 0; q < c->programs; q++) {
        const struct program *const p = &c->program[q];
        fputs("program\n", out);
        for (size_t i = 0; i < p->inputs; i++)
            fprintf(out, "input %zux%zu\n", p->node[i].rows, p->node[i].cols);
        for (size_t i = 0; i < p->steps; i++) {
            const struct program_step *const s = &p->step[i];
            fprintf(out, "n%zu = %s", p->inputs + i, s->op->name);
            for (size_t k = 0; k < s->operands; k++)
                fprintf(out, " n%zu%s", s->from[k], s->trans >> k & 1 ? "'" : "");
            if (s->op->wholes > 0) fprintf(out, " whole");
            for (size_t k = 0; k < s->op->wholes; k++) fprintf(out, " %d", s->whole[k]);
            if (s->op->numbers > 0) write_numbers(out, " number", s->op->numbers, s->number);
            else fputc('\n', out);
        }
        write_numbers(out, "at", p->n, p->at);
    }
    write_numbers(out, "far", c->program[c->programs - 1].n, c->far);
}

/* ---- read ---- */

static int numbers(const char *text, size_t most, double *a) {
    size_t n = 0;
    for (char *end; n < most; text = end) {
        const double v = strtod(text, &end);
        if (end == text) break;
        a[n++] = v;
    }
    return text[strspn(text, " ")] == 0 ? (int)n : -1;
}

/* "n4 = name n1 n2' whole 1 number 2.5" */
static int read_step(struct program *p, const char *line) {
    struct program_step *const s = &p->step[p->steps];
    char name[64];
    unsigned number;
    int used = 0;
    memset(s, 0, sizeof *s);
    if (p->steps == PROGRAM_STEPS || sscanf(line, "n%u = %63s%n", &number, name, &used) != 2)
        return -1;
    s->op = program_op_named(name);
    if (s->op == NULL || number != p->inputs + p->steps) return -1;
    line += used;
    for (; sscanf(line, " n%u%n", &number, &used) == 1 && s->operands < PROGRAM_OPERANDS;
         s->operands++) {
        s->from[s->operands] = number;
        line += used;
        if (*line == '\'') s->trans |= 1u << s->operands, line++;
    }
    if (strncmp(line, " whole", 6) == 0) {
        line += 6;
        for (size_t k = 0; k < s->op->wholes && k < 2; k++, line += used)
            if (sscanf(line, " %d%n", &s->whole[k], &used) != 1) return -1;
    }
    if (strncmp(line, " number", 7) == 0) {
        if (numbers(line + 7, 2, s->number) != (int)s->op->numbers) return -1;
        line = "";
    }
    p->steps++;
    return line[strspn(line, " ")] == 0 ? 0 : -1;
}

static int read_line(struct program_case *c, const char *line) {
    struct program *const p = c->programs > 0 ? &c->program[c->programs - 1] : NULL;
    if (*line == 0 || *line == '#') return 0;
    if (strcmp(line, "program") == 0) return c->programs++ < PROGRAMS ? 0 : -1;
    if (p == NULL) return -1;
    if (strncmp(line, "input ", 6) == 0) {
        struct program_shape *const a = &p->node[p->inputs];
        if (p->inputs == PROGRAM_INPUTS || p->steps > 0) return -1;
        p->inputs++;
        return sscanf(line + 6, "%zux%zu", &a->rows, &a->cols) == 2 ? 0 : -1;
    }
    if (strncmp(line, "at", 2) == 0) {
        if (program_shapes(c, c->programs - 1, p) != 0) return -1;
        return numbers(line + 2, PROGRAM_NUMBERS, p->at) == (int)p->n ? 0 : -1;
    }
    if (strncmp(line, "far", 3) == 0)
        return numbers(line + 3, PROGRAM_NUMBERS, c->far) == (int)p->n ? 0 : -1;
    return read_step(p, line);
}

int program_read(struct program_case *c, const char *text) {
    char line[4096];
    int at = 0;
    wg_tape *const work = c->work;
    memset(c, 0, sizeof *c);
    c->work = work;
    while (*text != 0) {
        const size_t n = strcspn(text, "\n");
        at++;
        if (n >= sizeof line) return at;
        memcpy(line, text, n);
        line[n] = 0;
        text += n + (text[n] == '\n');
        if (read_line(c, line) != 0) return at;
    }
    return c->programs > 0 && c->program[c->programs - 1].m > 0 ? 0 : at + 1;
}
