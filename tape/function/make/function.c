/* SPDX-License-Identifier: MIT */
/* What a function is, and its end. */
#include "tape/function/run/program.h"
#include "tape/sparsity/sparsity.h"
#include "making.h"
#include "tape/function/graph/repeat.h"

#include <string.h>

void wg_function_free(wg_function *f) {
    if (f == NULL) return;
    if (f->native != NULL) f->native->close(f);
    wgi_fn_program_free(f);
    for (size_t k = 0; k < f->repeats; k++) wg_function_free(f->repeat[k].body);
    const wg_memory memory = f->memory;
    memory.release(memory.ctx, f, f->bytes);
}

size_t wg_function_inputs(const wg_function *f) { return f == NULL ? 0 : f->inputs; }
size_t wg_function_outputs(const wg_function *f) { return f == NULL ? 0 : f->outputs; }

const wg_argument *wg_function_input(const wg_function *f, size_t k) {
    return f == NULL || k >= f->inputs ? NULL : &f->input[k];
}
const wg_argument *wg_function_output(const wg_function *f, size_t k) {
    return f == NULL || k >= f->outputs ? NULL : &f->output[k];
}

wg_status wg_function_statistics(const wg_function *f, wg_function_stats *out) {
    if (f == NULL || out == NULL) return WG_ENULL;
    *out = f->stats;
    return WG_OK;
}

/* ---- structure ---- */

static size_t first_entry(const wg_argument *a, size_t k) {
    size_t first = 0;
    for (size_t i = 0; i < k; i++) first += wgi_argument_size(&a[i]);
    return first;
}

int wg_function_is_zero(const wg_function *f, size_t output, size_t entry) {
    if (f == NULL || output >= f->outputs || entry >= wgi_argument_size(&f->output[output]))
        return 0;
    const wgi_node *const n = &f->node[f->result[first_entry(f->output, output) + entry]];
    return n->kind == WGI_NODE_NUMBER && n->value == 0;
}

/* What wg_function_sparsity works on. */
typedef struct coordinates {
    const wg_function *f;
    size_t output;
    uint32_t *row, *col;
} coordinates;

static size_t put_coordinates(const coordinates *k) {
    const wg_argument *const a = &k->f->output[k->output];
    size_t count = 0;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) {
            if (wg_function_is_zero(k->f, k->output, i + j * a->rows)) continue;
            if (k->row != NULL) k->row[count] = (uint32_t)i, k->col[count] = (uint32_t)j;
            count++;
        }
    return count;
}

wg_status wg_function_sparsity(wg_tape *t, const wg_function *f, size_t output,
                               wg_layout layout, wg_sparsity **out) {
    const char *const call = "wg_function_sparsity";
    coordinates k = {f, output, NULL, NULL};
    wgi_making m;
    wg_function *none = NULL;
    if (out != NULL) *out = NULL;
    wg_status s = wgi_making_begin(&m, t, call, f != NULL, 0, &none);
    if (s == WG_OK && out == NULL) s = wgi_fail(m.c, WG_ENULL, "%s: out is NULL", call);
    if (s == WG_OK && output >= f->outputs)
        s = wgi_fail(m.c, WG_EARG, "%s: output %zu of %zu", call, output, f->outputs);
    if (s == WG_OK &&
        (f->output[output].rows >= UINT32_MAX || f->output[output].cols >= UINT32_MAX))
        s = wgi_fail(m.c, WG_ENOMEM, "%s: output %zu is too large", call, output);
    if (s == WG_OK) {
        const size_t count = put_coordinates(&k);
        k.row = wgi_making_list(&m, count);
        k.col = wgi_making_list(&m, count);
        s = m.c->status;
        if (s == WG_OK) {
            (void)put_coordinates(&k);
            s = wgi_sparsity_given(m.c, call, f->output[output].rows, f->output[output].cols,
                                   count, k.row, k.col, layout, out);
        }
    }
    return m.c == NULL ? s : wgi_drive_close(&m.d, s);
}

static wg_status mark(wgi_making *k, const wg_function *f, size_t output,
                      unsigned char *depends) {
    if (depends == NULL) return wgi_fail(k->c, WG_ENULL, "%s: depends is NULL", k->call);
    if (output >= f->outputs)
        return wgi_fail(k->c, WG_EARG, "%s: output %zu of %zu", k->call, output, f->outputs);
    unsigned char *const needed = wg_tape_keep(&k->c->head, f->nodes + 1, NULL);
    if (needed == NULL) return k->c->status;
    memset(needed, 0, f->nodes);
    const size_t first = first_entry(f->output, output);
    for (size_t e = 0; e < wgi_argument_size(&f->output[output]); e++)
        needed[f->result[first + e]] = 1;
    for (size_t i = f->nodes; i-- > 0;)
        for (uint32_t l = 0; needed[i] && l < f->node[i].count; l++)
            needed[f->operand[f->node[i].first + l]] = 1;
    for (size_t i = 0, e = 0; i < f->inputs; i++) {
        depends[i] = 0;
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++) depends[i] |= needed[e++];
    }
    return WG_OK;
}

wg_status wg_function_depends(wg_tape *t, const wg_function *f, size_t output,
                              unsigned char *depends) {
    wgi_making k;
    wg_function *none = NULL;
    wg_status s = wgi_making_begin(&k, t, "wg_function_depends", f != NULL, 0, &none);
    if (s == WG_OK) s = mark(&k, f, output, depends);
    return k.c == NULL ? s : wgi_drive_close(&k.d, s);
}
