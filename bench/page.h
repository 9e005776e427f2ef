/* SPDX-License-Identifier: MIT */
/* page.h - results of several benches, arranged for tables and plots. */
#ifndef WENGERT_BENCH_PAGE_H
#define WENGERT_BENCH_PAGE_H

#include "report.h"

/* A quantity with a comma is a part or a variant of another one: in the tables only. */
int page_detail(const struct bench_row *row);

enum { PAGE_TOOLS = 24, PAGE_NAME = 64, PAGE_PLOTS = 48 };

/* Everything that was read, in one list. Tools have their colours by their place. */
struct page {
    struct bench_report *file;
    size_t files;
    const struct bench_row **row; /* of all files */
    size_t rows;
    const char *tool[PAGE_TOOLS];
    size_t tools;
    struct plot {
        char name[PAGE_NAME];
        const char *group, *caption;
    } plot[PAGE_PLOTS];
    size_t plots;
};

/* Its place, or PAGE_TOOLS. */
size_t page_tool(const struct page *p, const char *name);
/* The row of the largest size among those of the same name, tool and quantity? */
int page_largest(const struct page *p, const struct bench_row *row);

/* page_plot.c: writes NAME.gp into the working directory for each plot there are numbers for,
 * and has gnuplot make NAME.svg and NAME.png of it. 0; 1: there is no gnuplot; -1: a line on
 * stderr. */
int page_plots(struct page *p);

#endif
