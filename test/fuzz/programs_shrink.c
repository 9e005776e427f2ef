/* SPDX-License-Identifier: MIT */
/* programs_shrink.c - a case made smaller as long as it has a finding of the same kind: steps
 * are taken out, inputs are left out, numbers become plain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "programs.h"

struct shrinking {
    struct program_checker *k;
    struct program_case *best, try;
    char kind[48];
    int compile;
};

/* Does the case that is tried still fit, and have the finding? Then it is the best one. */
static int better(struct shrinking *s) {
    struct program_case *const c = &s->try;
    double far[1][PROGRAM_NUMBERS];
    size_t wrong;
    for (size_t q = 0; q < c->programs; q++)
        if (program_shapes(c, q, &c->program[q]) != 0) return 0;
    memcpy(far[0], c->far, sizeof far[0]);
    if (!program_check(s->k, c, 1, far, s->compile, &wrong)) return 0;
    *s->best = *c;
    return 1;
}
static struct program_case *trial(struct shrinking *s) {
    s->try = *s->best;
    return &s->try;
}

/* Step i is gone; what took it takes `instead`. */
static void take_out(struct program *p, size_t i, size_t instead) {
    const size_t node = p->inputs + i;
    for (size_t j = i + 1; j < p->steps; j++) {
        struct program_step *const s = &p->step[j];
        for (size_t k = 0; k < s->operands; k++) {
            if (s->from[k] == node) s->from[k] = instead;
            else if (s->from[k] > node) s->from[k]--;
        }
        p->step[j - 1] = *s;
    }
    p->steps--;
}
static int fewer_steps(struct shrinking *s) {
    for (size_t q = s->best->programs; q-- > 0;)
        for (size_t i = s->best->program[q].steps; i-- > 0;) {
            if (s->best->program[q].steps == 1) break;
            for (size_t instead = s->best->program[q].inputs + i; instead-- > 0;) {
                take_out(&trial(s)->program[q], i, instead);
                if (better(s)) return 1;
            }
        }
    return 0;
}

/* A body that nothing repeats. */
static int fewer_bodies(struct shrinking *s) {
    for (size_t q = 0; q + 1 < s->best->programs; q++) {
        struct program_case *const c = trial(s);
        memmove(&c->program[q], &c->program[q + 1],
                (c->programs - q - 1) * sizeof c->program[0]);
        c->programs--;
        int used = 0;
        for (size_t l = 0; l < c->programs; l++)
            for (size_t i = 0; i < c->program[l].steps; i++) {
                struct program_step *const t = &c->program[l].step[i];
                if (strcmp(t->op->name, "call") != 0 && strcmp(t->op->name, "map") != 0 &&
                    strcmp(t->op->name, "scan") != 0 && strcmp(t->op->name, "checkpoint") != 0)
                    continue;
                used |= t->whole[0] == (int)q;
                if (t->whole[0] > (int)q) t->whole[0]--;
            }
        if (!used && better(s)) return 1;
    }
    return 0;
}

/* An input that no step takes. */
static int fewer_inputs(struct shrinking *s) {
    const size_t q = s->best->programs - 1;
    for (size_t k = 0; k < s->best->program[q].inputs; k++) {
        struct program_case *const c = trial(s);
        struct program *const p = &c->program[q];
        size_t first = 0, n = p->node[k].rows * p->node[k].cols;
        int used = p->inputs == 1;
        for (size_t l = 0; l < k; l++) first += p->node[l].rows * p->node[l].cols;
        for (size_t i = 0; i < p->steps; i++)
            for (size_t l = 0; l < p->step[i].operands; l++) {
                used |= p->step[i].from[l] == k;
                if (p->step[i].from[l] > k) p->step[i].from[l]--;
            }
        if (used) continue;
        memmove(p->node + k, p->node + k + 1, (PROGRAM_NODES - k - 1) * sizeof *p->node);
        p->inputs--;
        memmove(p->at + first, p->at + first + n, (p->n - first - n) * sizeof *p->at);
        memmove(c->far + first, c->far + first + n, (p->n - first - n) * sizeof *c->far);
        if (better(s)) return 1;
    }
    return 0;
}

/* Views, ways of recording and steps of loops. */
static int plainer_steps(struct shrinking *s) {
    for (size_t q = 0; q < s->best->programs; q++)
        for (size_t i = 0; i < s->best->program[q].steps; i++) {
            const struct program_step *const was = &s->best->program[q].step[i];
            if (was->trans != 0) {
                trial(s)->program[q].step[i].trans = 0;
                if (better(s)) return 1;
            }
            if (was->op->wholes > 1 && was->whole[1] > 1) {
                trial(s)->program[q].step[i].whole[1] = 1;
                if (better(s)) return 1;
            }
            if (was->op->wholes > 0 && was->whole[0] > 0) {
                trial(s)->program[q].step[i].whole[0]--;
                if (better(s)) return 1;
            }
        }
    return 0;
}

/* One number of a list becomes plainer. */
static int plainer(struct shrinking *s, double *(*list)(struct program_case *), size_t n) {
    static const double plain[] = {0, 1, -1, 2, 0.5};
    int done = 0;
    for (size_t i = 0; i < n; i++) {
        const double was = list(s->best)[i];
        double tries[7];
        size_t count = 0;
        for (size_t k = 0; k < 5 && plain[k] != was; k++) tries[count++] = plain[k];
        if (count == 5 && round(was) != was) tries[count++] = round(was);
        if (count >= 5 && round(was * 10) / 10 != was) tries[count++] = round(was * 10) / 10;
        for (size_t k = 0; k < count; k++) {
            list(trial(s))[i] = tries[k];
            if (better(s)) {
                done = 1;
                break;
            }
        }
    }
    return done;
}
static double *far_of(struct program_case *c) { return c->far; }
static double *at_of(struct program_case *c) { return c->program[c->programs - 1].at; }

void program_shrink(struct program_checker *k, struct program_case *c) {
    struct shrinking *const s = calloc(1, sizeof *s);
    enum { ROUNDS = 400 };
    if (s == NULL) return;
    s->k = k;
    s->best = c;
    memcpy(s->kind, k->kind, sizeof s->kind);
    s->compile = strstr(s->kind, "compiled") != NULL || strstr(s->kind, "emitted") != NULL;
    k->only = s->kind;
    for (int round = 0; round < ROUNDS; round++) {
        if (fewer_steps(s) || fewer_bodies(s) || fewer_inputs(s) || plainer_steps(s)) continue;
        const size_t n = c->program[c->programs - 1].n;
        const int far = plainer(s, far_of, n), at = plainer(s, at_of, n);
        if (!far && !at) break;
    }
    *trial(s) = *c;
    (void)better(s); /* the words of the finding as it is now */
    k->only = NULL;
    free(s);
}
