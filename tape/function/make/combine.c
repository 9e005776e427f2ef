/* SPDX-License-Identifier: MIT */
/* Functions put together: joined, composed, cut down, with other flags. */
#include "making.h"

#include <string.h>
#include <wengert/derive.h>

/* The first node of an input. */
static size_t first_node(const wgi_making *k, size_t input) {
    size_t at = 0;
    for (size_t i = 0; i < input; i++) at += wgi_argument_size(&k->input[i]);
    return at;
}

static int same_shape(const wg_argument *a, const wg_argument *b) {
    return a->rows == b->rows && a->cols == b->cols;
}

/* Inputs of f that are no output of inner. Those whose name is there have to agree with it. */
static wg_status unite(wgi_making *k, const wg_function *f, const wg_function *inner) {
    for (size_t i = 0; i < f->inputs && k->c->status == WG_OK; i++) {
        const wg_argument *const a = &f->input[i];
        if (inner != NULL &&
            wgi_argument_find(inner->outputs, inner->output, a->name) != inner->outputs)
            continue;
        const size_t at = wgi_argument_find(k->inputs, k->input, a->name);
        if (at == k->inputs) {
            wgi_making_input(k, a->name, a, a->flags);
            continue;
        }
        const wg_argument *const b = &k->input[at];
        if (!same_shape(a, b))
            return wgi_fail(k->c, WG_ESHAPE, "%s: two inputs %s, %zux%zu and %zux%zu", k->call,
                            a->name, b->rows, b->cols, a->rows, a->cols);
        if (a->flags != b->flags)
            return wgi_fail(k->c, WG_EARG, "%s: two inputs %s with flags %u and %u", k->call,
                            a->name, b->flags, a->flags);
    }
    return k->c->status;
}

/* Nodes of the inputs of f: inputs in the making, or results of inner, whose nodes are `map`.
 */
static uint32_t *inputs_of(wgi_making *k, const wg_function *f, const wg_function *inner,
                           const uint32_t *map) {
    uint32_t *const node = wgi_making_list(k, f->n);
    if (node == NULL) return NULL;
    for (size_t i = 0, e = 0; i < f->inputs; i++) {
        const wg_argument *const a = &f->input[i];
        const size_t size = wgi_argument_size(a);
        size_t j = 0, row = 0;
        while (inner != NULL && j < inner->outputs &&
               strcmp(inner->output[j].name, a->name) != 0)
            row += wgi_argument_size(&inner->output[j++]);
        if (inner != NULL && j < inner->outputs) {
            for (size_t l = 0; l < size; l++) node[e++] = map[inner->result[row + l]];
            continue;
        }
        const size_t first = first_node(k, wgi_argument_find(k->inputs, k->input, a->name));
        for (size_t l = 0; l < size; l++) node[e++] = (uint32_t)(first + l);
    }
    return node;
}

static void outputs_of(wgi_making *k, const wg_function *f, const uint32_t *map) {
    for (size_t j = 0; j < f->outputs; j++)
        wgi_making_output(k, f->output[j].name, f->output[j].rows, f->output[j].cols,
                          f->output[j].flags);
    for (size_t j = 0; map != NULL && j < f->m; j++) wgi_making_put(k, map[f->result[j]]);
}

/* ---- join ---- */

static wg_status join(wgi_making *k, size_t count, const wg_function *const *f) {
    size_t m = 0;
    for (size_t i = 0; i < count; i++) {
        const wg_status s = unite(k, f[i], NULL);
        if (s != WG_OK) return s;
        m += f[i]->m;
        for (size_t j = 0; j < f[i]->outputs; j++)
            for (size_t l = 0; l < i; l++)
                if (wgi_argument_find(f[l]->outputs, f[l]->output, f[i]->output[j].name) !=
                    f[l]->outputs)
                    return wgi_fail(k->c, WG_EARG, "%s: two outputs %s", k->call,
                                    f[i]->output[j].name);
    }
    wgi_making_room(k, m);
    for (size_t i = 0; i < count && k->c->status == WG_OK; i++) {
        const uint32_t *const input = inputs_of(k, f[i], NULL, NULL);
        if (input != NULL) outputs_of(k, f[i], wgi_making_take(k, f[i], input));
    }
    return k->c->status;
}

wg_status wg_function_join(wg_tape *t, size_t count, const wg_function *const *f,
                           wg_function **out) {
    wgi_making k;
    size_t arguments = 0;
    int given = f != NULL;
    for (size_t i = 0; given && i < count; i++) {
        given = f[i] != NULL;
        if (given) arguments += f[i]->inputs + f[i]->outputs;
    }
    wg_status s =
        wgi_making_begin(&k, t, "wg_function_join", given || count == 0, arguments, out);
    if (s == WG_OK) s = join(&k, count, f);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* ---- compose ---- */

static wg_status check_link(wgi_making *k, const wg_function *outer, const wg_function *inner) {
    size_t links = 0;
    for (size_t i = 0; i < outer->inputs; i++) {
        const wg_argument *const a = &outer->input[i];
        const size_t j = wgi_argument_find(inner->outputs, inner->output, a->name);
        if (j == inner->outputs) continue;
        const wg_argument *const b = &inner->output[j];
        if (!same_shape(a, b))
            return wgi_fail(k->c, WG_ESHAPE, "%s: the input %s is %zux%zu, the output %zux%zu",
                            k->call, a->name, a->rows, a->cols, b->rows, b->cols);
        links++;
    }
    if (links == 0)
        return wgi_fail(k->c, WG_EARG, "%s: no input has the name of an output", k->call);
    return WG_OK;
}

/* Results that have become one for all points make their output such a one. */
static void flag_sums(wgi_making *k) {
    for (size_t j = 0, e = 0; j < k->outputs && k->c->status == WG_OK; j++) {
        int after = 0, each = 0;
        for (size_t l = 0; l < wgi_argument_size(&k->output[j]); l++, e++) {
            after |= k->g.node[k->result[e]].when == WGI_AFTER;
            each |= k->g.node[k->result[e]].when == WGI_EACH;
        }
        if (after && !each) k->output[j].flags |= WG_SUMMED;
    }
}

static wg_status compose(wgi_making *k, const wg_function *outer, const wg_function *inner) {
    wg_status s = check_link(k, outer, inner);
    if (s != WG_OK) return s;
    wgi_making_inputs_of(k, inner);
    s = unite(k, outer, inner);
    if (s != WG_OK) return s;
    const uint32_t *const map = wgi_making_take(k, inner, NULL);
    wgi_making_room(k, outer->m);
    if (k->c->status != WG_OK) return k->c->status;
    const uint32_t *const input = inputs_of(k, outer, inner, map);
    if (input != NULL) outputs_of(k, outer, wgi_making_take(k, outer, input));
    flag_sums(k);
    return k->c->status;
}

wg_status wg_function_compose(wg_tape *t, const wg_function *outer, const wg_function *inner,
                              wg_function **out) {
    wgi_making k;
    const int given = outer != NULL && inner != NULL;
    wg_status s =
        wgi_making_begin(&k, t, "wg_function_compose", given,
                         given ? outer->inputs + inner->inputs + outer->outputs : 0, out);
    if (s == WG_OK) s = compose(&k, outer, inner);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* ---- some outputs ---- */

static wg_status some(wgi_making *k, const wg_function *f, size_t count,
                      const char *const *name) {
    wgi_making_inputs_of(k, f);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    wgi_making_room(k, f->m);
    if (k->c->status != WG_OK) return k->c->status;
    for (size_t i = 0; i < count; i++) {
        const char *const wanted = name[i];
        if (wanted == NULL) return wgi_fail(k->c, WG_ENULL, "%s: name %zu is NULL", k->call, i);
        size_t j = 0, row = 0;
        while (j < f->outputs && strcmp(f->output[j].name, wanted) != 0)
            row += wgi_argument_size(&f->output[j++]);
        if (j == f->outputs)
            return wgi_fail(k->c, WG_EARG, "%s: no output %s", k->call, wanted);
        if (wgi_argument_find(k->outputs, k->output, wanted) != k->outputs)
            return wgi_fail(k->c, WG_EARG, "%s: %s twice", k->call, wanted);
        wgi_making_output(k, f->output[j].name, f->output[j].rows, f->output[j].cols,
                          f->output[j].flags);
        for (size_t l = 0; l < wgi_argument_size(&f->output[j]); l++)
            wgi_making_put(k, map[f->result[row + l]]);
    }
    return k->c->status;
}

wg_status wg_function_select(wg_tape *t, const wg_function *f, size_t count,
                             const char *const *name, wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_select", f != NULL,
                                   f == NULL ? 0 : f->inputs + f->outputs, out);
    if (s == WG_OK && name == NULL && count != 0)
        s = wgi_fail(k.c, WG_ENULL, "%s: names are NULL", k.call);
    if (s == WG_OK) s = some(&k, f, count, name);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* ---- flags ---- */

static wg_status flag(wgi_making *k, const wg_function *f, const char *name, unsigned flags) {
    const size_t input = wgi_argument_find(f->inputs, f->input, name);
    const size_t output = wgi_argument_find(f->outputs, f->output, name);
    if (input == f->inputs && output == f->outputs)
        return wgi_fail(k->c, WG_EARG, "%s: no input or output %s", k->call, name);
    const unsigned may = input < f->inputs ? WG_SHARED | WG_PASSIVE : WG_SUMMED;
    if (flags & ~may || (input == f->inputs && f->output[output].flags & ~flags))
        return wgi_fail(k->c, WG_EARG, "%s: flags %u of %s", k->call, flags, name);
    for (size_t i = 0; i < f->inputs && k->c->status == WG_OK; i++)
        wgi_making_input(k, f->input[i].name, &f->input[i],
                         i == input ? flags : f->input[i].flags);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    wgi_making_room(k, f->m);
    if (k->c->status != WG_OK) return k->c->status;
    outputs_of(k, f, map);
    if (input < f->inputs || flags == f->output[output].flags) return k->c->status;
    k->output[output].flags = flags;
    size_t row = 0;
    for (size_t j = 0; j < output; j++) row += wgi_argument_size(&f->output[j]);
    for (size_t l = 0; l < wgi_argument_size(&f->output[output]); l++)
        k->result[row + l] = wgi_graph_sum(&k->g, k->result[row + l]);
    return k->c->status;
}

wg_status wg_function_flag(wg_tape *t, const wg_function *f, const char *name, unsigned flags,
                           wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_flag", f != NULL,
                                   f == NULL ? 0 : f->inputs + f->outputs, out);
    if (s == WG_OK && name == NULL) s = wgi_fail(k.c, WG_ENULL, "%s: the name is NULL", k.call);
    if (s == WG_OK) s = flag(&k, f, name, flags);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}
