/* SPDX-License-Identifier: MIT */
/* Functions put together: joined, composed, cut down, with other flags. */
#include "finish.h"

#include <string.h>
#include <wengert/derive.h>

static int same_shape(const wg_argument *a, const wg_argument *b) {
    return a->rows == b->rows && a->cols == b->cols;
}

/* Adds the inputs of f, except those that are outputs of inner. An input whose name is there
 * already is the same input, and has to agree with it. */
static wg_status unite(wgi_builder *b, const wg_function *f, const wg_function *inner) {
    const char *const call = b->d.call;
    for (size_t i = 0; i < f->inputs && b->c->status == WG_OK; i++) {
        const wg_argument *const x = &f->input[i];
        if (inner != NULL &&
            wgi_argument_find(inner->outputs, inner->output, x->name) != inner->outputs)
            continue;
        const size_t at = wgi_argument_find(b->inputs, b->input, x->name);
        if (at == b->inputs) {
            (void)wgi_builder_input(b, "", x, x->flags);
            continue;
        }
        const wg_argument *const there = &b->input[at];
        if (!same_shape(x, there))
            return wgi_fail(b->c, WG_ESHAPE, "%s: two inputs %s, %zux%zu and %zux%zu", call,
                            x->name, there->rows, there->cols, x->rows, x->cols);
        if (x->flags != there->flags)
            return wgi_fail(b->c, WG_EARG, "%s: two inputs %s with flags %u and %u", call,
                            x->name, there->flags, x->flags);
    }
    return b->c->status;
}

/* Adds the nodes and outputs of f. Its inputs are inputs of the builder with the same name, or
 * results of inner, whose nodes are `map`. */
static void take_all(wgi_builder *b, const wg_function *f, const wg_function *inner,
                     const uint32_t *map) {
    uint32_t *const node = wgi_node_list(b->c, f->n);
    if (node == NULL) return;
    for (size_t i = 0, e = 0; i < f->inputs; i++) {
        const wg_argument *const x = &f->input[i];
        const size_t j =
            inner == NULL ? 0 : wgi_argument_find(inner->outputs, inner->output, x->name);
        const int links = inner != NULL && j < inner->outputs;
        const size_t first =
            links
                ? wgi_arguments_size(j, inner->output)
                : wgi_arguments_size(wgi_argument_find(b->inputs, b->input, x->name), b->input);
        for (size_t l = 0; l < wgi_argument_size(x); l++)
            node[e++] = links ? map[inner->result[first + l]] : (uint32_t)(first + l);
    }
    wgi_builder_outputs_of(b, f, wgi_builder_take(b, f, node));
}

/* ---- join ---- */

static wg_status join(wgi_builder *b, size_t count, const wg_function *const *f) {
    for (size_t i = 0; i < count; i++) {
        const wg_status s = unite(b, f[i], NULL);
        if (s != WG_OK) return s;
        for (size_t j = 0; j < f[i]->outputs; j++)
            for (size_t l = 0; l < i; l++)
                if (wgi_argument_find(f[l]->outputs, f[l]->output, f[i]->output[j].name) !=
                    f[l]->outputs)
                    return wgi_fail(b->c, WG_EARG, "%s: two outputs %s", b->d.call,
                                    f[i]->output[j].name);
    }
    for (size_t i = 0; i < count && b->c->status == WG_OK; i++) take_all(b, f[i], NULL, NULL);
    return b->c->status;
}

wg_status wg_function_join(wg_tape *t, size_t count, const wg_function *const *f,
                           wg_function **out) {
    wgi_builder b;
    int given = f != NULL || count == 0;
    for (size_t i = 0; given && i < count; i++) given = f[i] != NULL;
    wg_status s = wgi_builder_begin(&b, t, "wg_function_join", given, out);
    if (s == WG_OK) s = join(&b, count, f);
    return wgi_builder_end(&b, s, out);
}

/* ---- compose ---- */

static wg_status check_link(wgi_builder *b, const wg_function *outer,
                            const wg_function *inner) {
    size_t links = 0;
    for (size_t i = 0; i < outer->inputs; i++) {
        const wg_argument *const x = &outer->input[i];
        const size_t j = wgi_argument_find(inner->outputs, inner->output, x->name);
        if (j == inner->outputs) continue;
        const wg_argument *const y = &inner->output[j];
        if (!same_shape(x, y))
            return wgi_fail(b->c, WG_ESHAPE, "%s: the input %s is %zux%zu, the output %zux%zu",
                            b->d.call, x->name, x->rows, x->cols, y->rows, y->cols);
        links++;
    }
    if (links == 0)
        return wgi_fail(b->c, WG_EARG, "%s: no input has the name of an output", b->d.call);
    return WG_OK;
}

/* Flags an output as summed if sums over the points are among its entries, and no number of a
 * single point. */
static void flag_sums(wgi_builder *b) {
    for (size_t j = 0, e = 0; j < b->outputs && b->c->status == WG_OK; j++) {
        int after = 0, each = 0;
        for (size_t l = 0; l < wgi_argument_size(&b->output[j]); l++, e++) {
            after |= b->g.node[b->result[e]].when == WGI_AFTER;
            each |= b->g.node[b->result[e]].when == WGI_EACH;
        }
        if (after && !each) b->output[j].flags |= WG_SUMMED;
    }
}

static wg_status compose(wgi_builder *b, const wg_function *outer, const wg_function *inner) {
    wg_status s = check_link(b, outer, inner);
    if (s != WG_OK) return s;
    wgi_builder_inputs_of(b, inner);
    s = unite(b, outer, inner);
    if (s != WG_OK) return s;
    const uint32_t *const map = wgi_builder_take(b, inner, NULL);
    if (map != NULL) take_all(b, outer, inner, map);
    flag_sums(b);
    return b->c->status;
}

wg_status wg_function_compose(wg_tape *t, const wg_function *outer, const wg_function *inner,
                              wg_function **out) {
    wgi_builder b;
    const int given = outer != NULL && inner != NULL;
    wg_status s = wgi_builder_begin(&b, t, "wg_function_compose", given, out);
    if (s == WG_OK) s = compose(&b, outer, inner);
    return wgi_builder_end(&b, s, out);
}

/* ---- some outputs ---- */

static wg_status some(wgi_builder *b, const wg_function *f, size_t count,
                      const char *const *name) {
    const char *const call = b->d.call;
    if (name == NULL && count != 0) return wgi_fail(b->c, WG_ENULL, "%s: names are NULL", call);
    wgi_builder_inputs_of(b, f);
    const uint32_t *const map = wgi_builder_take(b, f, NULL);
    for (size_t i = 0; i < count && b->c->status == WG_OK; i++) {
        if (name[i] == NULL) return wgi_fail(b->c, WG_ENULL, "%s: name %zu is NULL", call, i);
        const size_t j = wgi_argument_find(f->outputs, f->output, name[i]);
        if (j == f->outputs) return wgi_fail(b->c, WG_EARG, "%s: no output %s", call, name[i]);
        if (wgi_argument_find(b->outputs, b->output, name[i]) != b->outputs)
            return wgi_fail(b->c, WG_EARG, "%s: %s twice", call, name[i]);
        wgi_builder_output(b, "", &f->output[j], f->output[j].flags);
        const uint32_t *const result = f->result + wgi_arguments_size(j, f->output);
        for (size_t l = 0; l < wgi_argument_size(&f->output[j]); l++)
            wgi_builder_result(b, map[result[l]]);
    }
    return b->c->status;
}

wg_status wg_function_select(wg_tape *t, const wg_function *f, size_t count,
                             const char *const *name, wg_function **out) {
    wgi_builder b;
    wg_status s = wgi_builder_begin(&b, t, "wg_function_select", f != NULL, out);
    if (s == WG_OK) s = some(&b, f, count, name);
    return wgi_builder_end(&b, s, out);
}

/* ---- flags ---- */

static wg_status flag(wgi_builder *b, const wg_function *f, const char *name, unsigned flags) {
    const char *const call = b->d.call;
    if (name == NULL) return wgi_fail(b->c, WG_ENULL, "%s: the name is NULL", call);
    const size_t input = wgi_argument_find(f->inputs, f->input, name);
    const size_t output = wgi_argument_find(f->outputs, f->output, name);
    if (input == f->inputs && output == f->outputs)
        return wgi_fail(b->c, WG_EARG, "%s: no input or output %s", call, name);
    const unsigned may = input < f->inputs ? WG_SHARED | WG_PASSIVE : WG_SUMMED;
    if (flags & ~may || (input == f->inputs && f->output[output].flags & ~flags))
        return wgi_fail(b->c, WG_EARG, "%s: flags %u of %s", call, flags, name);
    for (size_t i = 0; i < f->inputs; i++)
        (void)wgi_builder_input(b, "", &f->input[i], i == input ? flags : f->input[i].flags);
    wgi_builder_outputs_of(b, f, wgi_builder_take(b, f, NULL));
    if (b->c->status != WG_OK || input < f->inputs || flags == f->output[output].flags)
        return b->c->status;
    b->output[output].flags = flags;
    uint32_t *const result = b->result + wgi_arguments_size(output, f->output);
    for (size_t l = 0; l < wgi_argument_size(&f->output[output]); l++)
        result[l] = wgi_graph_sum(&b->g, result[l]);
    return b->c->status;
}

wg_status wg_function_flag(wg_tape *t, const wg_function *f, const char *name, unsigned flags,
                           wg_function **out) {
    wgi_builder b;
    wg_status s = wgi_builder_begin(&b, t, "wg_function_flag", f != NULL, out);
    if (s == WG_OK) s = flag(&b, f, name, flags);
    return wgi_builder_end(&b, s, out);
}
