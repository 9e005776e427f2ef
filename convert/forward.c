/* SPDX-License-Identifier: MIT */
/* forward.c - a function of few inputs as one statement for each output: its text is that of a
 * recording, over duals (wengert/generic.h), each with its derivatives by all inputs. So
 * whatever the function does between, loops, calls, jumps, the tape has a row of its
 * Jacobian for each output and nothing else. */
#include <stdlib.h>
#include <string.h>
#include "convert/callback.h"
#include "convert/cells.h"
#include "convert/forward.h"

static bool is_recorded(const analysis *a) {
    for (size_t i = 0; i < a->recorded.n; i++) {
        const remark *const r = a->recorded.at[i];
        for (size_t k = 1; r->v->touched && k < r->n->children; k++) {
            cell *const c = node_cell(r->v, r->n->child[k]);
            if (c != NULL && holds_variables(c)) return true;
        }
    }
    return false;
}

unsigned dual_width(const writer *w, unsigned most) {
    const char *const n = total_of(&w->a->inputs);
    if (strspn(n, "0123456789") != strlen(n) || strlen(n) > 2) return 0;
    const unsigned inputs = (unsigned)strtoul(n, NULL, 10);
    if (inputs == 0 || inputs > most || cannot_make(w) != NULL || w->a->callees.n != 0 ||
        is_recorded(w->a))
        return 0;
    unsigned width = 1;
    while (width < inputs) width *= 2;
    return width;
}

const char *names_of_duals(const writer *w) {
    return w->duals != 0 ? "#define WG_AS_DUAL\n#include <wengert/generic.h>\n" : "";
}
const char *names_of_variables(const writer *w) {
    return w->duals != 0 ? "#undef WG_AS_DUAL\n#include <wengert/generic.h>\n" : "";
}

const char *forward_callback(const writer *w) {
    const char *const name = w->a->root->name, *const n = total_of(&w->a->inputs),
                      *const m = total_of(&w->a->outputs);
    const char *const other = misfit(w, true, "other numbers of inputs or outputs");
    enum { FEW = 64 };
    const bool few = strspn(m, "0123456789") == strlen(m) && strlen(m) < 4 &&
                     strtoul(m, NULL, 10) <= FEW && !same(m, "0");
    text to = {NULL, 0, 0};
    putf(
        &to,
        "\n_Static_assert(sizeof(wg_dual) > %s * sizeof(double), \"another file has set the width of duals: compile this one by itself\");\n",
        n);
    putf(
        &to,
        "\nwg_status %s_callback(wg_tape *%s, size_t wgc_n, const wg_real *wgc_x,\n    size_t wgc_m, wg_real *wgc_y, void *wgc_data) {\n"
        "    wg_dual wgc_in[%s], ",
        name, w->tape, n);
    if (few)
        putf(&to, "wgc_out[%s];\n    if (wgc_n != %s || wgc_m != %s)\n        return %s;\n", m,
             n, m, other);
    else
        putf(
            &to,
            "*wgc_out;\n    if (wgc_n != %s)\n        return %s;\n    wgc_out = malloc((wgc_m + 1) * sizeof *wgc_out);\n"
            "    if (wgc_out == NULL) return WG_ENOMEM;\n",
            n, other);
    const unsigned long inputs = strtoul(n, NULL, 10);
    for (unsigned long i = 0; i < inputs; i++)
        putf(&to, "    wgc_in[%lu] = wg_dual_input(wg_value(wgc_x[%lu]), %lu);\n", i, i, i);
    putf(
        &to,
        "    const wg_status wgc_status = %s_duals(%s, %s, wgc_in, wgc_m, wgc_out, wgc_data);\n"
        "    for (size_t wgc_k = 0; wgc_status == WG_OK && wgc_k < wgc_m; wgc_k++) {\n"
        "        double wgc_row[%s];\n"
        "        memcpy(wgc_row, &wgc_out[wgc_k], sizeof wgc_row);\n"
        "        wgc_y[wgc_k] = wg_let_given(%s, wg_dual_value(wgc_out[wgc_k]), %s, wgc_x, wgc_row);\n    }\n",
        name, w->tape, n, n, w->tape, n);
    putf(&to, "%s    return wgc_status;\n}\n", few ? "" : "    free(wgc_out);\n");
    return text_of(&to);
}
