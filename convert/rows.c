/* SPDX-License-Identifier: MIT */
/* rows.c - a function of few outputs as one statement for each of them: the function runs
 * forwards and back, without a tape (vjp.c), once for each output, and the tape has its row
 * of the Jacobian and nothing else. */
#include <stdlib.h>
#include <string.h>
#include "convert/adjoint.h"
#include "convert/callback.h"
#include "convert/rows.h"

/* At most `most`, and a number. */
static bool is_few(const char *n, unsigned most) {
    return strspn(n, "0123456789") == strlen(n) && strlen(n) < 4 &&
           strtoul(n, NULL, 10) <= most;
}

bool has_few_rows(const analysis *a, unsigned directions, unsigned rows) {
    return is_few(total_of(&a->outputs), rows) && !is_few(total_of(&a->inputs), directions);
}

bool can_have_rows(const writer *w) {
    return cannot_make(w) == NULL && !has_deep_pointers(w) && w->a->callees.n == 0;
}

const char *rows_definition(writer *w) {
    const char *const name = w->a->root->name, *const n = total_of(&w->a->inputs),
                      *const m = total_of(&w->a->outputs);
    text to = {NULL, 0, 0};
    putf(&to, "%s\n/* ---- for drivers */\n\n", vjp_definition(w));
    enum { FEW = 64 };
    const bool counted = is_few(n, 999), small = is_few(n, FEW);
    putf(
        &to,
        "wg_status %s_callback(wg_tape *tape, size_t wgc_n, const wg_real *wgc_x,\n    size_t wgc_m, wg_real *wgc_y, void *wgc_data) {\n"
        "    enum { wgc_rows = %s };\n    wg_status wgc_status = WG_OK;\n    double wgc_w[wgc_rows], wgc_v[wgc_rows]",
        name, m);
    putf(&to, small ? ", wgc_in[%s], wgc_g[wgc_rows * %s];\n" : ", *wgc_in, *wgc_g;\n", n, n);
    put(&to, "    if (wgc_data == NULL) return WG_ENULL;\n");
    putf(&to, "    if (%swgc_m != wgc_rows)\n        return %s;\n",
         counted ? format("wgc_n != %s || ", n) : "",
         misfit(w, true, "other numbers of inputs or outputs"));
    if (!small)
        put(&to,
            "    wgc_in = malloc((wgc_rows + 1) * wgc_n * sizeof *wgc_in + 1), wgc_g = wgc_in + wgc_n;\n"
            "    if (wgc_in == NULL) return WG_ENOMEM;\n");
    putf(
        &to,
        "    for (size_t wgc_k = 0; wgc_k < wgc_n; wgc_k++) wgc_in[wgc_k] = wg_value(wgc_x[wgc_k]);\n"
        "    for (size_t wgc_k = 0; wgc_status == WG_OK && wgc_k < wgc_rows; wgc_k++) {\n"
        "        for (size_t wgc_i = 0; wgc_i < wgc_rows; wgc_i++) wgc_w[wgc_i] = wgc_i == wgc_k;\n"
        "        wgc_status = %s_vjp(wgc_n, wgc_in, wgc_rows, wgc_v, wgc_w, wgc_g + wgc_k * wgc_n, wgc_data);\n    }\n"
        "    for (size_t wgc_k = 0; wgc_status == WG_OK && wgc_k < wgc_rows; wgc_k++)\n"
        "        wgc_y[wgc_k] = wg_let_given(tape, wgc_v[wgc_k], wgc_n, wgc_x, wgc_g + wgc_k * wgc_n);\n",
        name);
    if (!small) put(&to, "    free(wgc_in);\n");
    text counts = {NULL, 0, 0};
    check_counts(w, false, &counts), check_rows(w, false, "%s", &counts);
    if (!counted || counts.n != 0)
        putf(
            &to, "    if (wgc_status == WG_ESHAPE)\n        return %s;\n",
            misfit(
                w, true,
                "another number of inputs, or a count that is missing, or less than what is asked for"));
    put(&to, "    return wgc_status;\n}\n");
    return text_of(&to);
}
