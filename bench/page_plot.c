/* SPDX-License-Identifier: MIT */
/* page_plot.c - plots of results by gnuplot: time against size, ratio per workload, memory.
 * Each is a script with its numbers in it, which makes an SVG and a PNG. */
#define _POSIX_C_SOURCE 200809L /* posix_spawnp */
#include "page.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

enum { COLUMNS = 4, MOST = 48 }; /* panels beside each other; workloads of a group */

/* Okabe and Ito 2008: told apart by all eyes. Then some of Tol's (2021) for what is more. */
static const char *const colours[] = {"#999999", "#000000", "#0072b2", "#d55e00", "#009e73",
                                      "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#882255",
                                      "#332288", "#999933", "#44aa99", "#661100", "#aa4499"};
enum { COLOURS = sizeof colours / sizeof *colours };

static const char *colour(size_t tool) { return colours[tool % COLOURS]; }

/* ---- what stands at one place of a plot ---------------------------------------------------
 */

/* A quantity of a workload, by one of its rows. */
struct place {
    const struct bench_row *row;
    int several; /* of the workload have a place: the quantity is named as well */
};

static int together(const struct bench_row *a, const struct bench_row *b) {
    return strcmp(a->group, b->group) == 0 && strcmp(a->workload, b->workload) == 0;
}

/* Those of a group that have a base, in the order of the rows. */
static size_t places(const struct page *p, const char *group, struct place *to) {
    size_t n = 0;
    for (size_t i = 0; i < p->rows && n < MOST; i++) {
        const struct bench_row *r = p->row[i];
        size_t k = 0;
        if (strcmp(r->group, group) != 0 || isnan(r->ratio) || page_detail(r)) continue;
        while (k < n &&
               !(together(to[k].row, r) && strcmp(to[k].row->quantity, r->quantity) == 0))
            k++;
        if (k < n) continue;
        to[n] = (struct place){r, 0};
        for (k = 0; k < n; k++)
            if (together(to[k].row, r)) to[k].several = to[n].several = 1;
        n++;
    }
    return n;
}

/* The row of that place, or of its base, by that tool, from `from` on; NULL: there is none. */
static const struct bench_row *find(const struct page *p, const struct bench_row *of,
                                    const char *tool, size_t *from) {
    for (size_t i = *from; i < p->rows; i++) {
        const struct bench_row *r = p->row[i];
        const int base = isnan(r->ratio) && strcmp(r->quantity, of->over) == 0;
        *from = i + 1;
        if (together(r, of) && strcmp(r->tool, tool) == 0 &&
            (base || strcmp(r->quantity, of->quantity) == 0))
            return r;
    }
    return NULL;
}

static int has(const struct page *p, const struct bench_row *of, const char *tool) {
    size_t from = 0;
    return find(p, of, tool, &from) != NULL;
}

/* Is the tool at one of the places? */
static int shown(const struct page *p, const struct place *at, size_t n, const char *tool) {
    for (size_t k = 0; k < n; k++)
        if (has(p, at[k].row, tool)) return 1;
    return 0;
}

/* ---- scripts ----------------------------------------------------------------------------- */

/* NULL: cannot be written. */
static FILE *begin(struct page *p, const char *kind, const char *group, const char *caption,
                   size_t width, size_t height) {
    char path[PAGE_NAME + 4];
    if (p->plots == PAGE_PLOTS) return NULL;
    struct plot *plot = &p->plot[p->plots++];
    snprintf(plot->name, sizeof plot->name, "%.20s-%.30s", kind, group);
    for (char *c = plot->name; *c; c++)
        if (*c == ' ' || *c == '/') *c = '-';
    plot->group = group;
    plot->caption = caption;
    snprintf(path, sizeof path, "%s.gp", plot->name);
    FILE *f = fopen(path, "w");
    if (f)
        fprintf(f,
                "# gnuplot -e \"kind='svg'\" %s\n"
                "if (kind eq 'svg') { set terminal svg size %zu,%zu noenhanced background "
                "'white' font 'sans,13' }\n"
                "else { set terminal pngcairo size %zu,%zu noenhanced font 'sans,10' }\n"
                "set output '%s.'.kind\n"
                "set grid lt 1 lw 0.5 lc rgb '#dddddd'\nset tics nomirror\nset border 3\n",
                path, width, height, width, height, plot->name);
    return f;
}

static int end(FILE *f) { return fclose(f) == EOF ? -1 : 0; }

/* Text in gnuplot's double quotes. */
static void quoted(FILE *f, const char *text) {
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', f);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
    }
    fputc('"', f);
}

static void name(FILE *f, const struct place *at) {
    char text[96];
    snprintf(text, sizeof text, "%s%s%s", at->row->workload, at->several ? ", " : "",
             at->several ? at->row->quantity : "");
    quoted(f, text);
}

/* A panel: what a workload takes, a line for each tool. */
static void panel(FILE *f, const struct page *p, const struct place *at, size_t number) {
    int lines = 0;
    for (size_t t = 0; t < p->tools; t++) {
        size_t from = 0;
        if (!has(p, at->row, p->tool[t])) continue;
        fprintf(f, "$line%zu_%zu << e\n", number, t);
        for (const struct bench_row *r; (r = find(p, at->row, p->tool[t], &from));)
            fprintf(f, "%.9g %.9g\n", r->size, r->seconds.median);
        fputs("e\n", f);
    }
    fputs("set title ", f);
    name(f, at);
    for (size_t t = 0; t < p->tools; t++)
        if (has(p, at->row, p->tool[t]))
            fprintf(f, "%s $line%zu_%zu with linespoints pt 7 ps 0.5 lw 2 lc rgb '%s'",
                    lines++ ? "," : "\nplot", number, t, colour(t));
    fputc('\n', f);
}

/* What the colours are, in a panel of its own. */
static void legend(FILE *f, const struct page *p, const struct place *at, size_t n) {
    int lines = 0;
    fputs(
        "unset title\nunset border\nunset tics\nunset logscale\nunset offsets\nset key at graph 1,1\n"
        "set xrange [0:1]\nset yrange [0:1]\nplot",
        f);
    for (size_t t = 0; t < p->tools; t++) {
        if (!shown(p, at, n, p->tool[t])) continue;
        fprintf(f, "%s 2 with lines lw 3 lc rgb '%s' title ", lines++ ? "," : "", colour(t));
        quoted(f, p->tool[t]);
    }
    fputc('\n', f);
}

static int scaling(struct page *p, const char *group) {
    struct place at[MOST];
    size_t n = places(p, group, at), panels = 0;
    for (size_t k = 0; k < n; k++)
        if (!page_largest(p, at[k].row)) at[panels++] = at[k];
    if (panels == 0) return 0;
    const size_t rows = (panels + COLUMNS) / COLUMNS; /* one is the legend's */
    FILE *f = begin(p, "time", group, "Seconds against size, logarithmic.", COLUMNS * 290,
                    rows * 230);
    if (!f) return -1;
    fprintf(
        f,
        "set logscale xy\nset format xy '%%.0e'\nset tics font ',9'\nset key off\n"
        "set offsets graph 0.05,graph 0.05,graph 0.05,graph 0.05\nset multiplot layout %zu,%d\n",
        rows, COLUMNS);
    for (size_t k = 0; k < panels; k++) panel(f, p, &at[k], k);
    legend(f, p, at, panels);
    fputs("unset multiplot\n", f);
    return end(f);
}

/* Bars side by side, a colour for each tool, at the largest sizes. */
static int ratios(struct page *p, const char *group) {
    struct place at[MOST];
    const size_t n = places(p, group, at);
    int bars = 0;
    if (n == 0) return 0;
    FILE *f = begin(p, "ratio", group, "Time over that of the base, at the largest size.",
                    COLUMNS * 290, 480);
    if (!f) return -1;
    fputs("$bars << e\n", f);
    for (size_t k = 0; k < n; k++) {
        name(f, &at[k]);
        for (size_t t = 0; t < p->tools; t++) {
            const struct bench_row *r;
            size_t from = 0;
            while ((r = find(p, at[k].row, p->tool[t], &from)) &&
                   (isnan(r->ratio) || !page_largest(p, r)))
                continue;
            if (r) fprintf(f, " %.6g", r->ratio);
            else fputs(" ?", f);
        }
        fputc('\n', f);
    }
    fputs(
        "e\nset datafile missing '?'\nset logscale y\nset style data histogram\n"
        "set style histogram clustered gap 1\nset style fill solid border rgb 'white'\n"
        "set xtics rotate by -30\nset rmargin 14\nset key outside top center horizontal\n"
        "set ylabel 'times the base'\nset yrange [*<0.5:*]\nset format y '%g'\nset arrow from graph 0,first 1 to graph 1,"
        "first 1 nohead lc rgb 'black' dt 2\n",
        f);
    for (size_t t = 0; t < p->tools; t++) {
        int used = 0;
        for (size_t i = 0; i < p->rows && !used; i++) {
            const struct bench_row *r = p->row[i];
            used = strcmp(r->group, group) == 0 && strcmp(r->tool, p->tool[t]) == 0 &&
                   !isnan(r->ratio) && !page_detail(r);
        }
        if (!used) continue;
        fprintf(f, "%s $bars using %zu:xtic(1) lc rgb '%s' title ", bars++ ? "," : "plot",
                t + 2, colour(t));
        quoted(f, p->tool[t]);
    }
    fputc('\n', f);
    return end(f);
}

/* A derivative of ours, of a group, at its largest size, with its bytes and statements? */
static int is_weighed(const struct page *p, const struct bench_row *r, const char *group) {
    return strcmp(r->group, group) == 0 && strcmp(r->tool, "Wengert") == 0 &&
           !isnan(r->bytes) && !isnan(r->ns_per_statement) && !isnan(r->ratio) &&
           !page_detail(r) && page_largest(p, r);
}

/* All bytes at the largest sizes, and how many of them a statement takes. */
static int memory(struct page *p, const char *group) {
    size_t n = 0;
    for (size_t i = 0; i < p->rows; i++) n += (size_t)is_weighed(p, p->row[i], group);
    if (n == 0) return 0;
    FILE *f =
        begin(p, "memory", group, "Memory of a derivative by Wengert, at the largest size.",
              COLUMNS * 290, 400);
    if (!f) return -1;
    fputs("$bars << e\n", f);
    for (size_t i = 0; i < p->rows; i++) {
        const struct bench_row *r = p->row[i];
        if (!is_weighed(p, r, group)) continue;
        const struct place at = {r, 0};
        name(f, &at);
        fprintf(f, " %.9g %.6g\n", r->bytes / 1e6,
                r->bytes * r->ns_per_statement / (1e9 * r->seconds.median));
    }
    fputs("e\nset style data histogram\nset style histogram clustered gap 1\n"
          "set style fill solid border rgb 'white'\nset xtics rotate by -30\nset rmargin 10\n"
          "set key off\nset format y '%g'\nset multiplot layout 1,2\n"
          "set logscale y\nset title 'MB'\nplot $bars using 2:xtic(1) lc rgb '#0072b2'\n"
          "unset logscale\nset yrange [0:*]\nset title 'bytes per statement'\n"
          "plot $bars using 3:xtic(1) lc rgb '#0072b2'\nunset multiplot\n",
          f);
    return end(f);
}

/* ---- gnuplot ----------------------------------------------------------------------------- */

/* 0; 1: there is none; -1. */
static int gnuplot(const char *script, const char *kind) {
    char define[24], path[PAGE_NAME + 4], program[] = "gnuplot", option[] = "-e";
    char *const argv[] = {program, option, define, path, NULL};
    pid_t child;
    int status;
    snprintf(define, sizeof define, "kind='%s'", kind);
    snprintf(path, sizeof path, "%s.gp", script);
    const int failed = posix_spawnp(&child, program, NULL, NULL, argv, environ);
    if (failed == ENOENT) return 1;
    if (failed || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "page: gnuplot cannot plot %s\n", path);
        return -1;
    }
    return 0;
}

int page_plots(struct page *p) {
    for (size_t i = 0; i < p->rows; i++) {
        const char *group = p->row[i]->group;
        size_t before = 0;
        while (strcmp(p->row[before]->group, group) != 0) before++;
        if (before == i && (ratios(p, group) || scaling(p, group) || memory(p, group))) {
            fputs("page: cannot write the plots\n", stderr);
            return -1;
        }
    }
    for (size_t i = 0; i < p->plots; i++) {
        const int svg = gnuplot(p->plot[i].name, "svg");
        const int png = svg ? svg : gnuplot(p->plot[i].name, "png");
        if (png) return png;
    }
    return 0;
}
