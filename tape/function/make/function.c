/* SPDX-License-Identifier: MIT */
/* What a function is, and its end. */
#include "tape/function/run/bytecode.h"
#include "tape/sparsity/sparsity.h"
#include "tape/function/graph/builder.h"

#include <string.h>

void wg_function_free(wg_function *f) {
    if (f == NULL) return;
    if (f->native != NULL) f->native->close(f);
    wgi_bytecode_free(f);
    for (size_t k = 0; k < f->repeats; k++) wg_function_free(f->repeat[k].body);
    wgi_home_release(&f->home, f);
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

int wg_function_is_zero(const wg_function *f, size_t output, size_t entry) {
    if (f == NULL || output >= f->outputs || entry >= wgi_argument_size(&f->output[output]))
        return 0;
    return wgi_node_is_zero(&f->node[f->result[wgi_arguments_size(output, f->output) + entry]]);
}

/* What the callback of wg_function_sparsity works on. */
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

static wg_status sparsity(wgi_builder *b, coordinates *k, wg_layout layout, wg_sparsity **out) {
    const char *const call = b->d.call;
    const wg_function *const f = k->f;
    if (out == NULL) return wgi_fail(b->c, WG_ENULL, "%s: out is NULL", call);
    if (k->output >= f->outputs)
        return wgi_fail(b->c, WG_EARG, "%s: output %zu of %zu", call, k->output, f->outputs);
    const wg_argument *const y = &f->output[k->output];
    if (y->rows >= UINT32_MAX || y->cols >= UINT32_MAX)
        return wgi_fail(b->c, WG_ENOMEM, "%s: output %zu is too large", call, k->output);
    const size_t count = put_coordinates(k);
    k->row = wgi_node_list(b->c, count);
    k->col = wgi_node_list(b->c, count);
    if (b->c->status != WG_OK) return b->c->status;
    (void)put_coordinates(k);
    return wgi_sparsity_given(b->c, call, y->rows, y->cols, count, k->row, k->col, layout, out);
}

wg_status wg_function_sparsity(wg_tape *t, const wg_function *f, size_t output,
                               wg_layout layout, wg_sparsity **out) {
    coordinates k = {f, output, NULL, NULL};
    wgi_builder b;
    wg_function *none = NULL;
    if (out != NULL) *out = NULL;
    wg_status s = wgi_builder_begin(&b, t, "wg_function_sparsity", f != NULL, &none);
    if (s == WG_OK) s = sparsity(&b, &k, layout, out);
    return wgi_drive_close(&b.d, s);
}

static wg_status depends_on(wgi_builder *b, const wg_function *f, size_t output,
                            unsigned char *depends) {
    const char *const call = b->d.call;
    if (depends == NULL) return wgi_fail(b->c, WG_ENULL, "%s: depends is NULL", call);
    if (output >= f->outputs)
        return wgi_fail(b->c, WG_EARG, "%s: output %zu of %zu", call, output, f->outputs);
    unsigned char *const needed = wgi_node_marks(b->c, f->nodes);
    if (needed == NULL) return b->c->status;
    const uint32_t *const result = f->result + wgi_arguments_size(output, f->output);
    for (size_t e = 0; e < wgi_argument_size(&f->output[output]); e++) needed[result[e]] = 1;
    wgi_mark_needed(f->nodes, f->node, f->operand, needed);
    for (size_t i = 0, e = 0; i < f->inputs; i++) {
        depends[i] = 0;
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++) depends[i] |= needed[e++];
    }
    return WG_OK;
}

wg_status wg_function_depends(wg_tape *t, const wg_function *f, size_t output,
                              unsigned char *depends) {
    wgi_builder b;
    wg_function *none = NULL;
    wg_status s = wgi_builder_begin(&b, t, "wg_function_depends", f != NULL, &none);
    if (s == WG_OK) s = depends_on(&b, f, output, depends);
    return wgi_drive_close(&b.d, s);
}
