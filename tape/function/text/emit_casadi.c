/* SPDX-License-Identifier: MIT */
/* Functions as C text: CasADi's calling convention. */
#include "emit.h"

static void numbers(wgi_writer *w, size_t *on_line, size_t x) {
    wgi_put(w, *on_line == 0 ? "" : *on_line % 16 == 0 ? ",\n    " : ", ");
    wgi_put(w, "%zu", x);
    ++*on_line;
}

/* Rows, columns, where each column begins, and the row of each entry. first: of the results;
 * SIZE_MAX: dense. */
static void sparsity(wgi_writer *w, const char *what, size_t k, const wg_argument *a,
                     size_t first) {
    size_t on_line = 0, entries = 0;
    wgi_put(w, "static const long long wgi_%s%zu[] = {", what, k);
    numbers(w, &on_line, a->rows);
    numbers(w, &on_line, a->cols);
    numbers(w, &on_line, 0);
    for (size_t c = 0; c < a->cols; c++) {
        for (size_t r = 0; r < a->rows; r++)
            entries +=
                first == SIZE_MAX || !wgi_emit_is_left_out(w, first + c * a->rows + r, 1);
        numbers(w, &on_line, entries);
    }
    for (size_t c = 0; c < a->cols; c++)
        for (size_t r = 0; r < a->rows; r++)
            if (first == SIZE_MAX || !wgi_emit_is_left_out(w, first + c * a->rows + r, 1))
                numbers(w, &on_line, r);
    wgi_put(w, "};\n");
}

static void query(wgi_writer *w, const char *type, const char *name, size_t count,
                  const wg_argument *a, const char *table) {
    wgi_put(w, "%swgi_%s(long long i) {\n    switch (i) {\n", type, name);
    for (size_t k = 0; k < count; k++) {
        wgi_put(w, "    case %zu:\n        return ", k);
        if (table == NULL) wgi_text_quoted(&w->o, a[k].name);
        else wgi_put(w, "wgi_%s%zu", table, k);
        wgi_put(w, ";\n");
    }
    wgi_put(w, "    default:\n        return NULL;\n    }\n}\n\n");
}

void wgi_emit_casadi_prototypes(wgi_writer *w) {
    wgi_put(w,
            "int %s(const double **arg, double **res, long long *iw, double *w, int mem);\n"
            "int wgi_work(long long *sz_arg, long long *sz_res, long long *sz_iw,\n"
            "    long long *sz_w);\n"
            "long long wgi_n_in(void);\n"
            "long long wgi_n_out(void);\n"
            "void wgi_incref(void);\n"
            "void wgi_decref(void);\n"
            "const char *wgi_name_in(long long i);\n"
            "const char *wgi_name_out(long long i);\n"
            "const long long *wgi_sparsity_in(long long i);\n"
            "const long long *wgi_sparsity_out(long long i);\n",
            w->name);
}

void wgi_emit_casadi(wgi_writer *w) {
    const wg_function *const f = w->f;
    wgi_emit_point(w, "_nonzeros", 1, 1);
    wgi_put(w,
            "int %s(const double **arg, double **res, long long *iw, double *w, int mem) {\n"
            "    (void)iw, (void)mem;\n"
            "    return wgi_nonzeros((const double *const *)arg, (double *const *)res, w);\n"
            "}\n\n",
            w->name);
    wgi_put(w,
            "int wgi_work(long long *sz_arg, long long *sz_res, long long *sz_iw, "
            "long long *sz_w) {\n"
            "    if (sz_arg != NULL) *sz_arg = %zu;\n    if (sz_res != NULL) *sz_res = %zu;\n"
            "    if (sz_iw != NULL) *sz_iw = 0;\n    if (sz_w != NULL) *sz_w = %zu;\n"
            "    return 0;\n}\n\n",
            f->inputs, f->outputs, w->slots);
    wgi_put(w,
            "long long wgi_n_in(void) { return %zu; }\n"
            "long long wgi_n_out(void) { return %zu; }\n"
            "void wgi_incref(void) {}\nvoid wgi_decref(void) {}\n\n",
            f->inputs, f->outputs);
    query(w, "const char *", "name_in", f->inputs, f->input, NULL);
    query(w, "const char *", "name_out", f->outputs, f->output, NULL);
    for (size_t k = 0; k < f->inputs; k++) sparsity(w, "in", k, &f->input[k], SIZE_MAX);
    for (size_t k = 0, j = 0; k < f->outputs; j += wgi_argument_size(&f->output[k++]))
        sparsity(w, "out", k, &f->output[k], j);
    wgi_put(w, "\n");
    query(w, "const long long *", "sparsity_in", f->inputs, f->input, "in");
    query(w, "const long long *", "sparsity_out", f->outputs, f->output, "out");
}
