/* SPDX-License-Identifier: MIT */
/* The NIST StRD problems of nonlinear regression, fitted with Jacobians from the tape.
 *
 * Seventeen problems, each from both published starting points. Parameters, their standard
 * deviations, the residual sum of squares and the residual standard deviation are compared with
 * the certified values. The exit status is 0 when everything agrees.
 *
 *     nist                   the table
 *     nist Thurber BoxBOD    these problems only, with every number beside the certified one */
#define _POSIX_C_SOURCE 200809L /* isatty */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wengert.h>

#include "nist_data.h"

/* Digits published for a certified value. */
#define PUBLISHED 11
/* Digits that have to agree: one less than published for the rounding of the certified value,
 * where a unit of the last digit can be 1e-10 of it, one for the rounding of libm and LAPACK,
 * which differs between machines. */
#define DEMANDED 9.0

/* A tape, and what is fitted on it. */
struct context {
    wg_tape *tape;
    struct nist_problem problem;
};

/* A fit, and in how many digits it agrees. */
struct outcome {
    wg_status status;
    wg_minimise_result result;
    double b[NIST_MAX_PARAMETERS], deviation[NIST_MAX_PARAMETERS], residual_deviation;
    double digits_b, digits_deviation, digits_rss, digits_residual; /* the worst of each kind */
};

/* The number of digits in which a value agrees with the certified one: the logarithm of the
 * relative error, and all of the published ones when it rounds to them. */
static double digits(double value, double certified) {
    char text[32];
    snprintf(text, sizeof text, "%.*E", PUBLISHED - 1, value);
    const double rounded = strtod(text, NULL);
    if (rounded == certified) return PUBLISHED;
    const double agreeing = -log10(fabs(rounded - certified) / fabs(certified));
    return agreeing > 0 ? fmin(agreeing, PUBLISHED) : 0; /* NaN: none */
}

static double worst(const struct outcome *o) {
    return fmin(fmin(o->digits_b, o->digits_deviation),
                fmin(o->digits_rss, o->digits_residual));
}

static int agrees(const struct outcome *o) {
    return o->result.converged && worst(o) >= DEMANDED;
}

static struct outcome fit(struct context *c, const double *start) {
    struct nist_problem *p = &c->problem;
    struct outcome o = {.digits_b = PUBLISHED, .digits_deviation = PUBLISHED};
    memcpy(o.b, start, sizeof o.b);
    for (size_t j = 0; j < NIST_MAX_PARAMETERS; j++) o.deviation[j] = (double)NAN;
    o.status = wg_fit(c->tape, p->model, p, p->observations, p->parameters, o.b, NULL,
                      &o.result, o.deviation);
    o.residual_deviation = sqrt(o.result.value / (double)(p->observations - p->parameters));
    for (size_t j = 0; j < p->parameters; j++) {
        o.digits_b = fmin(o.digits_b, digits(o.b[j], p->certified[j]));
        o.digits_deviation = fmin(o.digits_deviation, digits(o.deviation[j], p->deviation[j]));
    }
    o.digits_rss = digits(o.result.value, p->rss);
    o.digits_residual = digits(o.residual_deviation, p->residual_deviation);
    return o;
}

static void print_value(const char *name, double value, double certified) {
    printf("    %-12s %18.*E %18.*E %6.1f\n", name, PUBLISHED - 1, value, PUBLISHED - 1,
           certified, digits(value, certified));
}

/* Every number of a fit beside the certified one. */
static void print_values(const struct nist_problem *p, const struct outcome *o) {
    printf("    %-12s %18s %18s %6s\n", "", "fitted", "certified", "digits");
    char name[40];
    for (size_t j = 0; j < p->parameters; j++) {
        snprintf(name, sizeof name, "b%zu", j + 1);
        print_value(name, o->b[j], p->certified[j]);
    }
    for (size_t j = 0; j < p->parameters; j++) {
        snprintf(name, sizeof name, "sd of b%zu", j + 1);
        print_value(name, o->deviation[j], p->deviation[j]);
    }
    print_value("rss", o->result.value, p->rss);
    print_value("residual sd", o->residual_deviation, p->residual_deviation);
}

static void print_head(void) {
    printf("%43s--------- digits that agree ---------\n", "");
    printf("%-9s %4s %4s %5s %6s %7s    %10s %10s %6s %8s\n", "problem", "obs", "par", "start",
           "steps", "tries", "parameters", "deviations", "RSS", "resid sd");
}

static void print_row(const struct nist_problem *p, size_t start, const struct outcome *o) {
    printf("%-9s %4zu %4zu %5zu %6zu %7zu    %10.1f %10.1f %6.1f %8.1f   %s\n", p->name,
           p->observations, p->parameters, start + 1, o->result.steps, o->result.evaluations,
           o->digits_b, o->digits_deviation, o->digits_rss, o->digits_residual,
           agrees(o) ? "ok" : "FAILS");
    if (!o->result.converged) printf("    %s\n", wg_stop_text(o->result.why));
}

/* Is the problem among the names? No names: all are. */
static int is_wanted(const struct nist_problem *p, int names, char **name) {
    for (int i = 0; i < names; i++)
        if (strcmp(name[i], p->name) == 0) return 1;
    return names == 0;
}

static int is_known(const char *name) {
    for (size_t i = 0; i < nist_problem_count; i++)
        if (strcmp(name, nist_problems[i].name) == 0) return 1;
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!is_known(argv[i])) {
            fprintf(stderr, "nist: no problem is called %s\n", argv[i]);
            return EXIT_FAILURE;
        }
    struct context c = {.tape = wg_tape_new(NULL)};
    if (c.tape == NULL) {
        fprintf(stderr, "nist: out of memory\n");
        return EXIT_FAILURE;
    }
    const int progress = isatty(STDERR_FILENO);
    size_t fits = 0, agreeing = 0, complete = 0;
    double least = PUBLISHED;

    printf("NIST StRD nonlinear regression: Jacobians from the tape, Levenberg-Marquardt\n\n");
    print_head();
    fflush(stdout);
    for (size_t i = 0; i < nist_problem_count; i++) {
        c.problem = nist_problems[i];
        if (!is_wanted(&c.problem, argc - 1, argv + 1)) continue;
        for (size_t k = 0; k < NIST_STARTS; k++) {
            if (progress) fprintf(stderr, "fitting %-9s start %zu ...", c.problem.name, k + 1);
            const struct outcome o = fit(&c, c.problem.start[k]);
            if (progress) fprintf(stderr, "\r%40s\r", "");
            print_row(&c.problem, k, &o);
            if (argc > 1 || !agrees(&o)) print_values(&c.problem, &o);
            if (wg_tape_status(c.tape) != WG_OK)
                printf("    tape: %s\n", wg_tape_message(c.tape));
            fflush(stdout); /* before the next line of progress */
            fits++;
            agreeing += agrees(&o) != 0;
            complete += worst(&o) >= PUBLISHED;
            least = fmin(least, worst(&o));
        }
    }
    printf("\n%zu of %zu fits agree with the certified values in at least %.0f digits;\n"
           "%zu in all of the %d published ones; the fewest are %.1f.\n",
           agreeing, fits, DEMANDED, complete, PUBLISHED, least);
    wg_tape_free(c.tape);
    return agreeing == fits ? EXIT_SUCCESS : EXIT_FAILURE;
}
