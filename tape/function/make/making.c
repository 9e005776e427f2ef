/* SPDX-License-Identifier: MIT */
/* What all functions made from functions have in common. */
#include "finish.h"
#include "making.h"

#include <stdio.h>
#include <string.h>

static wg_status no_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

wg_status wgi_making_begin(wgi_making *k, wg_tape *t, const char *call, int given,
                           size_t arguments, wg_function **out) {
    memset(k, 0, sizeof *k);
    if (out != NULL) *out = NULL;
    wg_status s = wgi_drive_open(&k->d, t, call, no_callback, NULL, 0, 0, 0);
    k->c = k->d.c;
    k->call = call;
    if (s != WG_OK) return s;
    if (out == NULL) return wgi_fail(k->c, WG_ENULL, "%s: out is NULL", call);
    if (!given) return wgi_fail(k->c, WG_ENULL, "%s: a function is NULL", call);
    wgi_graph_open(&k->g, k->c, call);
    k->input = wg_tape_keep(t, (arguments + 1) * sizeof *k->input, NULL);
    k->output = wg_tape_keep(t, (arguments + 1) * sizeof *k->output, NULL);
    return k->c->status;
}

wg_status wgi_making_end(wgi_making *k, wg_status s, wg_function **out) {
    if (s == WG_OK) s = k->c->status;
    if (s == WG_OK)
        s = wgi_function_finish(&k->g, k->inputs, k->input, k->outputs, k->output, k->result,
                                out);
    return wgi_drive_close(&k->d, s);
}

/* ---- arguments ---- */

uint32_t *wgi_making_list(wgi_making *k, size_t count) {
    return wg_tape_keep(&k->c->head, (count + 1) * sizeof(uint32_t), NULL);
}

const char *wgi_making_name(wgi_making *k, size_t count, const wg_argument *taken,
                            const char *a, const char *b) {
    const char *const plain = wgi_argument_name(k->c, a, b, "");
    const char *name = plain;
    for (size_t i = 2; name != NULL && wgi_argument_find(count, taken, name) != count; i++) {
        char place[24];
        (void)snprintf(place, sizeof place, "_%zu", i);
        name = wgi_argument_name(k->c, plain, place, "");
    }
    return name;
}

void wgi_making_input(wgi_making *k, const char *name, const wg_argument *like,
                      unsigned flags) {
    k->input[k->inputs] = *like;
    k->input[k->inputs].name = name;
    k->input[k->inputs++].flags = flags;
    for (size_t e = 0; e < wgi_argument_size(like); e++)
        (void)wgi_graph_input(&k->g, flags & WG_SHARED ? WGI_ONCE : WGI_EACH);
}

void wgi_making_output(wgi_making *k, const char *name, size_t rows, size_t cols,
                       unsigned flags) {
    k->output[k->outputs++] = (wg_argument){name, rows, cols, flags};
}

void wgi_making_room(wgi_making *k, size_t results) { k->result = wgi_making_list(k, results); }
void wgi_making_put(wgi_making *k, uint32_t node) {
    if (k->c->status == WG_OK) k->result[k->results++] = node;
}
void wgi_making_put_or_zero(wgi_making *k, uint32_t node) {
    wgi_making_put(k, node != WGI_NO_NODE ? node : wgi_graph_number(&k->g, 0));
}

void wgi_making_inputs_of(wgi_making *k, const wg_function *f) {
    for (size_t i = 0; i < f->inputs && k->c->status == WG_OK; i++)
        wgi_making_input(k, f->input[i].name, &f->input[i], f->input[i].flags);
}

uint32_t *wgi_making_take(wgi_making *k, const wg_function *f, const uint32_t *input) {
    uint32_t *const map = wgi_making_list(k, f->nodes);
    uint32_t *const first = wgi_making_list(k, f->n);
    if (k->c->status != WG_OK) return NULL;
    for (size_t i = 0; i < f->n; i++) first[i] = (uint32_t)i;
    wgi_graph_take(&k->g, f, input != NULL ? input : first, map);
    k->g.stats.operations += f->once + f->each + f->after;
    return map;
}
