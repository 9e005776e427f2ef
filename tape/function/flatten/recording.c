/* SPDX-License-Identifier: MIT */
/* A recording becomes a function: its code as nodes (graph/taking.c), between inputs and
 * outputs. */
#include "recording.h"
#include "tape/engine/value_branches.h"
#include "tape/function/graph/arguments.h"
#include "tape/function/graph/taking.h"
#include "tape/function/make/finish.h"

#include <string.h>

/* ---- any recording ---- */

/* Makes a function of results y of the recording on `from`, in the arena of c. */
static wg_status build(wgi_core *c, const char *call, wgi_core *from, size_t inputs,
                       const wg_argument *input, const wg_real *x, size_t outputs,
                       const wg_argument *output, const wg_real *y, wg_function **out) {
    const size_t n = wgi_arguments_size(inputs, input), m = wgi_arguments_size(outputs, output);
    wgi_graph g;
    wgi_graph_open(&g, c, call);
    uint32_t *const node = wgi_node_list(c, n), *const result = wgi_node_list(c, m);
    if (c->status != WG_OK) return c->status;
    for (size_t k = 0, i = 0; k < inputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&input[k]); e++)
            node[i++] = wgi_graph_input(&g, input[k].flags & WG_SHARED ? WGI_ONCE : WGI_EACH);
    const wg_status s = wgi_taking_all(&g, from, 0, n, x, node, m, y, result);
    if (s != WG_OK) return s;
    for (size_t k = 0, j = 0; k < outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&output[k]); e++, j++)
            if (output[k].flags & WG_SUMMED) result[j] = wgi_graph_sum(&g, result[j]);
    if (c->status != WG_OK) return c->status;
    return wgi_function_finish(&g, inputs, input, outputs, output, result, out);
}

/* ---- of a callback ---- */

static wg_status name_arguments(wgi_core *c, const char *call, size_t inputs,
                                const wg_argument *input, size_t outputs,
                                const wg_argument *output, wg_argument **in,
                                wg_argument **out) {
    const wg_status s =
        wgi_arguments_copy(c, call, inputs, input, 'x', WG_SHARED | WG_PASSIVE, in);
    return s != WG_OK ? s : wgi_arguments_copy(c, call, outputs, output, 'y', WG_SUMMED, out);
}

static wg_status missing_arguments(wgi_core *c, const char *call, int inputs) {
    return wgi_fail(c, WG_ENULL, "%s: the %s are NULL", call, inputs ? "inputs" : "outputs");
}

static int no_list(size_t count, const wg_argument *a) { return count != 0 && a == NULL; }

wg_status wg_function_record(wg_tape *t, wg_callback *f, void *data, size_t inputs,
                             const wg_argument *input, const double *x, size_t outputs,
                             const wg_argument *output, wg_function **out) {
    static const char call[] = "wg_function_record";
    wgi_drive d;
    wg_argument *in = NULL, *named = NULL;
    if (out != NULL) *out = NULL;
    wg_status s = wgi_drive_open(&d, t, call, f, data, wgi_arguments_size(inputs, input),
                                 wgi_arguments_size(outputs, output), 0);
    if (s == WG_OK) s = wgi_drive_needs_code(&d);
    if (s == WG_OK && out == NULL) s = wgi_fail(d.c, WG_ENULL, "%s: out is NULL", call);
    if (s == WG_OK && (no_list(inputs, input) || no_list(outputs, output)))
        s = missing_arguments(d.c, call, no_list(inputs, input));
    if (s == WG_OK) s = wgi_drive_record(&d, x);
    if (s == WG_OK) s = name_arguments(d.c, call, inputs, input, outputs, output, &in, &named);
    if (s == WG_OK) s = build(d.c, call, d.c, inputs, in, d.x, outputs, named, d.y, out);
    return wgi_drive_close(&d, s);
}

/* ---- of a piece of tape ---- */

/* Checks that these are variables of the recording, or also constants where those may be; no
 * input may occur twice. */
static wg_status check_variables(wgi_core *c, const char *call, size_t n, const wg_real *x,
                                 int inputs, unsigned char *seen) {
    for (size_t i = 0; i < n; i++) {
        if (x[i].at.slot == 0 && !inputs) continue;
        if (!wgi_alive(c, x[i].at))
            return wgi_refuse(c, WG_ESTALE, "%s: %s %zu is no variable of this recording", call,
                              inputs ? "input" : "output", i);
        if (inputs && seen[x[i].at.slot]++ != 0)
            return wgi_refuse(c, WG_EARG, "%s: input %zu is there twice", call, i);
    }
    return WG_OK;
}

wg_status wg_function_extract(wg_tape *t, size_t inputs, const wg_argument *input,
                              const wg_real *x, size_t outputs, const wg_argument *output,
                              const wg_real *y, wg_function **out) {
    return wgi_function_extract(t, "wg_function_extract", inputs, input, x, outputs, output, y,
                                out);
}

wg_status wgi_function_extract(wg_tape *t, const char *call, size_t inputs,
                               const wg_argument *input, const wg_real *x, size_t outputs,
                               const wg_argument *output, const wg_real *y, wg_function **out) {
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const from = wgi_core_of(t);
    if (from->status != WG_OK) return from->status;
    if (out == NULL) return wgi_refuse(from, WG_ENULL, "%s: out is NULL", call);
    if (!(from->flags & WG_KEEP_CODE) || from->width != 0)
        return wgi_refuse(from, WG_EMODE, "%s: the tape does not keep its code", call);
    if (no_list(inputs, input) || no_list(outputs, output))
        return wgi_refuse(from, WG_ENULL, "%s: inputs or outputs are NULL", call);
    const size_t n = wgi_arguments_size(inputs, input), m = wgi_arguments_size(outputs, output);
    if (n >= SIZE_MAX / 64 || m >= SIZE_MAX / 64)
        return wgi_refuse(from, WG_ENOMEM, "%s: more entries than memory has", call);
    if ((n != 0 && x == NULL) || (m != 0 && y == NULL))
        return wgi_refuse(from, WG_ENULL, "%s: variables are NULL", call);
    const wg_options options = {.loops_over = from->loops_over};
    wg_tape *work;
    wg_status s = wgi_tape_beside(from, &options, &work);
    if (s != WG_OK) return wgi_refuse(from, s, "%s: no workspace", call);
    wgi_core *const c = wgi_core_of(work);
    wg_argument *in = NULL, *named = NULL;
    unsigned char *const seen = wg_tape_keep(work, from->head.slots, NULL);
    s = c->status;
    if (s == WG_OK) {
        memset(seen, 0, from->head.slots);
        s = check_variables(from, call, n, x, 1, seen);
        if (s == WG_OK) s = check_variables(from, call, m, y, 0, seen);
    }
    if (s == WG_OK) s = name_arguments(c, call, inputs, input, outputs, output, &in, &named);
    if (s == WG_OK) s = build(c, call, from, inputs, in, x, outputs, named, y, out);
    wgi_fail_as(c, call);
    if (c->status != WG_OK) s = wgi_refuse(from, s, "%s", c->message);
    wg_tape_free(work);
    return s;
}
