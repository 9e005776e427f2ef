/* SPDX-License-Identifier: MIT */
/* page - one page about one or several files of results: environment, ratios, plots.
 *
 *     page DIRECTORY FILE...
 *
 * writes index.html into the directory, which needs no other file, and the plots beside it, as
 * gnuplot scripts, SVG and PNG. Without gnuplot the page has tables only. */
#define _POSIX_C_SOURCE 200809L /* chdir */
#include "page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char wengert[] = "Wengert";

int page_detail(const struct bench_row *row) { return strchr(row->quantity, ',') != NULL; }

size_t page_tool(const struct page *p, const char *name) {
    for (size_t t = 0; t < p->tools; t++)
        if (strcmp(p->tool[t], name) == 0) return t;
    return PAGE_TOOLS;
}

static int same(const struct bench_row *a, const struct bench_row *b) {
    return strcmp(a->group, b->group) == 0 && strcmp(a->workload, b->workload) == 0 &&
           strcmp(a->quantity, b->quantity) == 0;
}

int page_largest(const struct page *p, const struct bench_row *row) {
    for (size_t i = 0; i < p->rows; i++)
        if (same(p->row[i], row) && strcmp(p->row[i]->tool, row->tool) == 0 &&
            p->row[i]->size > row->size)
            return 0;
    return 1;
}

/* ---- text -------------------------------------------------------------------------------- */

static void text(FILE *f, const char *s) {
    for (; *s; s++) {
        if (*s == '<') fputs("&lt;", f);
        else if (*s == '>') fputs("&gt;", f);
        else if (*s == '&') fputs("&amp;", f);
        else if (*s == '"') fputs("&quot;", f);
        else fputc(*s, f);
    }
}

static void time_text(FILE *f, double seconds) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
    size_t k = 0;
    while (k < 3 && seconds < units[k].unit) k++;
    fprintf(f, "%.3g&nbsp;%s", seconds / units[k].unit, units[k].name);
}

/* An SVG as part of the page. 0, or -1: cannot be read. */
static int embed(FILE *f, const char *path) {
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char in[3];
    size_t n;
    FILE *svg = fopen(path, "rb");
    if (!svg) return -1;
    fputs("data:image/svg+xml;base64,", f);
    while ((n = fread(in, 1, 3, svg)) > 0) {
        if (n < 3) memset(in + n, 0, 3 - n);
        fputc(digit[in[0] >> 2], f);
        fputc(digit[(in[0] & 3) << 4 | in[1] >> 4], f);
        fputc(n > 1 ? digit[(in[1] & 15) << 2 | in[2] >> 6] : '=', f);
        fputc(n > 2 ? digit[in[2] & 63] : '=', f);
    }
    fclose(svg);
    return 0;
}

/* ---- sections ---------------------------------------------------------------------------- */

static void head(FILE *f) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<title>Wengert: what derivatives cost</title>\n<style>\n"
          "body { font: 15px/1.5 system-ui, sans-serif; max-width: 1200px; margin: 2em auto; "
          "padding: 0 1em; color: #222; background: #fff; }\n"
          "h1 { font-size: 1.9em; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }\n"
          "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
          "th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #eee; }\n"
          "th { border-bottom: 1px solid #888; }\n"
          "td:first-child, th:first-child, td.text { text-align: left; }\n"
          "td.own { background: #eef5fb; } small { color: #777; }\n"
          "figure { margin: 1.5em 0; } img { max-width: 100%; }\n"
          "figcaption { color: #555; } li { margin: .2em 0; }\n"
          "</style>\n</head>\n<body>\n<h1>Wengert: what derivatives cost</h1>\n",
          f);
}

/* What all files say once, what they disagree on by bench. */
static void environment(FILE *f, const struct page *p) {
    fputs("<h2>Environment</h2>\n<table>\n", f);
    for (size_t i = 0; i < p->files; i++)
        for (size_t k = 0; k < p->file[i].facts; k++) {
            const struct bench_fact *fact = &p->file[i].fact[k];
            const char *bench = bench_report_find(&p->file[i], "bench");
            int known = strcmp(fact->key, "bench") == 0, alone = 1;
            for (size_t j = 0; j < p->files; j++) {
                const char *theirs = bench_report_find(&p->file[j], fact->key);
                if (theirs && strcmp(theirs, fact->value) != 0) alone = 0;
                else if (theirs && j < i) known = 1;
            }
            if (known) continue;
            fputs("<tr><td>", f);
            text(f, fact->key);
            if (!alone && bench) {
                fputs(" <small>", f);
                text(f, bench);
                fputs("</small>", f);
            }
            fputs("</td><td class=\"text\">", f);
            text(f, fact->value);
            fputs("</td></tr>\n", f);
        }
    fputs("</table>\n", f);
}

/* A tool's time over Wengert's, in the geometric mean of what both have. */
static void means(FILE *f, const struct page *p, const char *group) {
    int open = 0;
    for (size_t t = 0; t < p->tools; t++) {
        double logs = 0;
        int n = 0;
        if (strcmp(p->tool[t], wengert) == 0) continue;
        for (size_t i = 0; i < p->rows; i++) {
            const struct bench_row *a = p->row[i];
            if (strcmp(a->group, group) != 0 || strcmp(a->tool, p->tool[t]) != 0 ||
                page_detail(a))
                continue;
            for (size_t j = 0; j < p->rows; j++) {
                const struct bench_row *b = p->row[j];
                if (!same(a, b) || strcmp(b->tool, wengert) != 0 ||
                    strcmp(a->shape, b->shape) != 0 || a->size != b->size)
                    continue;
                logs += log(a->seconds.median / b->seconds.median);
                n++;
                break;
            }
        }
        if (n == 0) continue;
        if (!open++) fputs("<ul>\n", f);
        fputs("<li>", f);
        text(f, p->tool[t]);
        fprintf(f,
                ": <b>%.3g</b> times the time of Wengert <small>(geometric mean of %d)"
                "</small></li>\n",
                exp(logs / n), n);
    }
    if (open) fputs("</ul>\n", f);
}

static int same_size(const struct bench_row *a, const struct bench_row *b) {
    return strcmp(a->group, b->group) == 0 && strcmp(a->workload, b->workload) == 0 &&
           strcmp(a->shape, b->shape) == 0 && a->size == b->size;
}

/* Does it stand in the lines of those that it is the base of? */
static int stands_in(const struct bench_row *r, const struct bench_row *line) {
    return same_size(r, line) && isnan(r->ratio) && !isnan(line->ratio) &&
           strcmp(r->quantity, line->over) == 0;
}

/* Is it the first row of a line of the table? */
static int starts_line(const struct page *p, size_t i) {
    const struct bench_row *r = p->row[i];
    for (size_t k = 0; k < p->rows; k++)
        if ((k < i && same_size(p->row[k], r) && same(p->row[k], r)) || stands_in(r, p->row[k]))
            return 0;
    return 1;
}

static int uses(const struct page *p, const char *group, const char *tool) {
    for (size_t i = 0; i < p->rows; i++)
        if (strcmp(p->row[i]->group, group) == 0 && strcmp(p->row[i]->tool, tool) == 0)
            return 1;
    return 0;
}

static void table(FILE *f, const struct page *p, const char *group) {
    fputs("<table>\n<tr><th>workload</th><th>size</th><th>quantity</th>", f);
    for (size_t t = 0; t < p->tools; t++) {
        if (!uses(p, group, p->tool[t])) continue;
        fputs("<th>", f);
        text(f, p->tool[t]);
        fputs("</th>", f);
    }
    fputs("</tr>\n", f);
    for (size_t i = 0; i < p->rows; i++) {
        const struct bench_row *line = p->row[i];
        if (strcmp(line->group, group) != 0 || !starts_line(p, i)) continue;
        fputs("<tr><td>", f);
        text(f, line->workload);
        fputs("</td><td>", f);
        if (*line->shape) text(f, line->shape);
        else fprintf(f, "%.6g", line->size);
        fputs("</td><td class=\"text\">", f);
        text(f, line->quantity);
        fputs("</td>", f);
        for (size_t t = 0; t < p->tools; t++) {
            if (!uses(p, group, p->tool[t])) continue;
            fputs(strcmp(p->tool[t], wengert) == 0 ? "<td class=\"own\">" : "<td>", f);
            for (size_t k = 0; k < p->rows; k++) {
                const struct bench_row *r = p->row[k];
                if (strcmp(r->tool, p->tool[t]) != 0 ||
                    !((same_size(r, line) && same(r, line)) || stands_in(r, line)))
                    continue;
                time_text(f, r->seconds.median);
                if (!isnan(r->ratio)) fprintf(f, " <small>%.3g×</small>", r->ratio);
                break;
            }
            fputs("</td>", f);
        }
        fputs("</tr>\n", f);
    }
    fputs("</table>\n", f);
}

/* 0, or -1: a plot is missing. */
static int figures(FILE *f, const struct page *p, const char *group) {
    char path[PAGE_NAME + 4];
    for (size_t i = 0; i < p->plots; i++) {
        const struct plot *plot = &p->plot[i];
        if (strcmp(plot->group, group) != 0) continue;
        snprintf(path, sizeof path, "%s.svg", plot->name);
        fprintf(f, "<figure><img alt=\"%s\" src=\"", plot->name);
        if (embed(f, path)) return -1;
        fprintf(f, "\">\n<figcaption>%s</figcaption></figure>\n", plot->caption);
    }
    return 0;
}

/* 0, or -1. */
static int write_page(const struct page *p, int plotted) {
    FILE *f = fopen("index.html", "w");
    int failed = !f;
    if (!f) return -1;
    head(f);
    fputs(
        "<p>Medians; <small>×</small> is the time over that of the base: the function alone, in "
        "plain C or LAPACK.</p>\n",
        f);
    environment(f, p);
    for (size_t i = 0; i < p->rows; i++) {
        const char *group = p->row[i]->group;
        size_t before = 0;
        while (strcmp(p->row[before]->group, group) != 0) before++;
        if (before != i) continue;
        fputs("<h2>", f);
        text(f, group);
        fputs("</h2>\n", f);
        means(f, p, group);
        if (plotted) failed |= figures(f, p, group);
        table(f, p, group);
    }
    fputs("</body>\n</html>\n", f);
    return fclose(f) == EOF || failed ? -1 : 0;
}

/* ---- all --------------------------------------------------------------------------------- */

/* 0, or -1 with a line on stderr. */
static int read_files(struct page *p, int n, char **path) {
    struct bench_complaint why;
    size_t rows = 0;
    p->file = calloc((size_t)n, sizeof *p->file);
    for (int i = 0; p->file && i < n; i++) {
        p->files++;
        if (bench_report_read(&p->file[i], path[i], &why)) {
            fprintf(stderr, "page: %s\n", why.text);
            return -1;
        }
        rows += p->file[i].rows;
    }
    p->row = calloc(rows + 1, sizeof *p->row);
    if (!p->file || !p->row) {
        fputs("page: no memory\n", stderr);
        return -1;
    }
    for (size_t i = 0; i < p->files; i++)
        for (size_t k = 0; k < p->file[i].rows; k++) {
            const struct bench_row *r = p->row[p->rows++] = &p->file[i].row[k];
            if (page_tool(p, r->tool) == PAGE_TOOLS && p->tools < PAGE_TOOLS)
                p->tool[p->tools++] = r->tool;
        }
    return 0;
}

int main(int argc, char **argv) {
    struct page p;
    int failed;
    memset(&p, 0, sizeof p);
    if (argc < 3) {
        fputs("page DIRECTORY FILE...\n", stderr);
        return 2;
    }
    failed = read_files(&p, argc - 2, argv + 2);
    if (!failed && chdir(argv[1])) {
        fprintf(stderr, "page: no directory %s\n", argv[1]);
        failed = -1;
    }
    if (!failed) {
        const int plots = page_plots(&p);
        if (plots > 0) puts("page: no gnuplot, hence no plots (Debian: gnuplot-nox)");
        failed = plots < 0 || write_page(&p, plots == 0);
        if (failed) fputs("page: not written\n", stderr);
        else
            printf("%s/index.html: %zu results, %zu plots\n", argv[1], p.rows,
                   plots == 0 ? p.plots : 0);
    }
    for (size_t i = 0; i < p.files; i++) bench_report_close(&p.file[i]);
    free(p.file);
    free(p.row);
    return failed ? 2 : 0;
}
