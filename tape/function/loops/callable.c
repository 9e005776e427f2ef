/* SPDX-License-Identifier: MIT */
/* A function with its adjoint and tangent, and, where it is compiled, both cut at their
 * residuals. */
#include "tape/function/make/residuals.h"
#include "stencil.h"

#include <wengert/derive.h>
#include <wengert/emit.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- sums over parts of the points ------------------------------------------------------ */

/* Is a node on sums linear in these, without a constant? Then its values for parts of the
 * points add up to that for all. sums: for each node, whether it is one that adds up. */
static int adds_up(const wg_function *f, const wgi_node *n, const unsigned char *sums) {
    const uint32_t *const x = &f->operand[n->first];
    if (n->kind == WGI_NODE_SUM) return 1;
    const int op = wgi_node_op(n);
    if (op == WGI_ROW_add || op == WGI_ROW_sub) return sums[x[0]] && sums[x[1]];
    if (op == WGI_ROW_neg) return sums[x[0]];
    if (n->kind == WGI_NODE_TIMES || op == WGI_ROW_mul)
        return (sums[x[0]] && f->node[x[1]].when == WGI_ONCE) ||
               (sums[x[1]] && f->node[x[0]].when == WGI_ONCE);
    return op == WGI_ROW_div && sums[x[0]] && f->node[x[1]].when == WGI_ONCE;
}

int wgi_results_add_up(wg_tape *t, const wg_function *f, int *out) {
    unsigned char *const sums = wg_tape_keep(t, f->nodes + 1, NULL);
    if (sums == NULL) return 0;
    for (size_t i = 0; i < f->nodes; i++)
        sums[i] = f->node[i].when == WGI_AFTER && adds_up(f, &f->node[i], sums);
    for (size_t k = 0, j = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, j++) {
            const wgi_node *const n = &f->node[f->result[j]];
            if (wgi_argument_summed(&f->output[k]) && !wgi_node_is_zero(n) &&
                !sums[f->result[j]])
                *out = 0;
        }
    return 1;
}

/* ---- life ------------------------------------------------------------------------------- */

static void note_reads(const wg_function *f, const wg_function *vjp, unsigned char *reads) {
    for (size_t i = 0, e = 0; i < f->inputs; e += wgi_argument_size(&f->input[i++])) {
        const size_t end = e + wgi_argument_size(&f->input[i]);
        reads[i] = 0;
        for (size_t o = 0; o < vjp->operands; o++)
            reads[i] |= vjp->operand[o] >= e && vjp->operand[o] < end;
        for (size_t o = 0; o < vjp->m; o++)
            reads[i] |= vjp->result[o] >= e && vjp->result[o] < end;
        for (size_t g = 0; g < vjp->guards; g++)
            reads[i] |= (vjp->guard[g].a >= e && vjp->guard[g].a < end) ||
                        (vjp->guard[g].b >= e && vjp->guard[g].b < end);
    }
}

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* A callable for a function with the inputs of f, without functions. */
static wg_status obtain(wgi_core *c, const char *call, const wg_function *f,
                        wg_callable **out) {
    wgi_home home;
    void *base;
    const wg_status s = wgi_home_obtain(
        c, sizeof(wg_callable) + f->inputs * (sizeof(wgi_feed) + 1), &home, &base);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no memory for %zu inputs", call, f->inputs);
    wg_callable *const k = *out = base;
    memset(k, 0, sizeof *k);
    k->home = home;
    k->parts = 1;
    k->feed = (wgi_feed *)(void *)(k + 1);
    k->reads = (unsigned char *)(k->feed + f->inputs);
    for (uint32_t i = 0; i < f->inputs; i++)
        k->feed[i] = (wgi_feed){.kind = WGI_FROM_MATRIX, .operand = i};
    return WG_OK;
}

static wg_status complete(wg_tape *t, wg_callable *k) {
    wg_status s = wg_function_vjp(t, k->f, &k->vjp);
    if (s == WG_OK) s = wg_function_jvp(t, k->f, &k->jvp);
    if (s != WG_OK) return s;
    if (!wgi_results_add_up(t, k->f, &k->parts) || !wgi_results_add_up(t, k->vjp, &k->parts) ||
        !wgi_results_add_up(t, k->jvp, &k->parts))
        return wg_tape_status(t);
    note_reads(k->f, k->vjp, k->reads);
    k->inputs_most = most(k->vjp->inputs, k->jvp->inputs);
    k->outputs_most = most(k->vjp->outputs, k->jvp->outputs);
    wg_tape_reset(t);
    return WG_OK;
}

wg_status wg_callable_new(wg_tape *t, const wg_function *f, wg_callable **out) {
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (out == NULL) return wgi_refuse(c, WG_ENULL, "wg_callable_new: out is NULL");
    if (f == NULL) return wgi_refuse(c, WG_ENULL, "wg_callable_new: the function is NULL");
    wg_function *copy = NULL;
    wg_status s = wg_function_join(t, 1, &f, &copy);
    if (s != WG_OK) return s;
    wg_callable *k;
    s = obtain(c, "wg_callable_new", copy, &k);
    if (s != WG_OK) {
        wg_function_free(copy);
        return s;
    }
    k->f = copy;
    s = complete(t, k);
    if (s == WG_OK) *out = k;
    else wg_callable_free(k);
    return s;
}

/* Compiles all three. Where nothing is done at each point there is nothing to compile, and no
 * reason to give. */
static wg_status compile(wg_tape *t, const wg_callable *k, const wg_compile_options *options,
                         wg_callable *made, wg_compiled *compiled) {
    const wg_function *const from[] = {k->f, k->vjp, k->jvp};
    wg_function **const to[] = {&made->f, &made->vjp, &made->jvp};
    size_t native = 0, busy = 0, cached = 0;
    for (size_t i = 0; i < 3; i++) {
        wg_compiled one;
        const wg_status s = wg_function_compile(t, from[i], options, to[i], &one);
        if (s != WG_OK) return s;
        busy += from[i]->each != 0;
        native += one.native != 0;
        cached += one.cached != 0;
        if (!one.native && (compiled->why[0] == 0 || from[i]->each != 0))
            memcpy(compiled->why, one.why, sizeof one.why);
    }
    compiled->native = busy != 0 && native == busy;
    compiled->cached = compiled->native && cached == busy;
    if (compiled->native) compiled->why[0] = 0;
    return WG_OK;
}

/* Where both are compiled, compiles f and vjp cut at their residuals. */
static wg_status compile_residuals(wg_tape *t, const wg_callable *k,
                                   const wg_compile_options *options, wg_callable *made,
                                   wg_compiled *compiled) {
    wg_function *from[2] = {NULL, NULL}, **const to[] = {&made->forward, &made->backward};
    wg_compiled one = {.native = compiled->native && k->stencil == NULL};
    wg_status s = one.native ? wgi_residuals_new(t, k->f, k->vjp, &from[0], &from[1]) : WG_OK;
    for (size_t i = 0; i < 2 && s == WG_OK && one.native && from[i] != NULL; i++) {
        s = wg_function_compile(t, from[i], options, to[i], &one);
        compiled->cached = compiled->cached && one.cached;
    }
    for (size_t i = 0; i < 2; i++) wg_function_free(from[i]);
    if (s == WG_OK && one.native) return s;
    for (size_t i = 0; i < 2; i++) {
        wg_function_free(*to[i]);
        *to[i] = NULL;
    }
    return s;
}

wg_status wg_callable_compile(wg_tape *t, const wg_callable *k,
                              const wg_compile_options *options, wg_callable **out,
                              wg_compiled *compiled) {
    wg_compiled here;
    if (compiled == NULL) compiled = &here;
    memset(compiled, 0, sizeof *compiled);
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (out == NULL) return wgi_refuse(c, WG_ENULL, "wg_callable_compile: out is NULL");
    if (k == NULL) return wgi_refuse(c, WG_ENULL, "wg_callable_compile: the callable is NULL");
    wg_callable *made;
    wg_status s = obtain(c, "wg_callable_compile", k->f, &made);
    if (s != WG_OK) return s;
    made->parts = k->parts;
    made->inputs_most = k->inputs_most;
    made->outputs_most = k->outputs_most;
    memcpy(made->reads, k->reads, k->f->inputs);
    s = compile(t, k, options, made, compiled);
    if (s == WG_OK) s = compile_residuals(t, k, options, made, compiled);
    if (s == WG_OK) s = wgi_stencil_compile(t, k, options, &made->stencil, compiled);
    if (s == WG_OK) *out = made;
    else wg_callable_free(made);
    return s;
}

void wg_callable_free(wg_callable *k) {
    if (k == NULL) return;
    wg_function_free(k->f);
    wg_function_free(k->vjp);
    wg_function_free(k->jvp);
    wgi_stencil_free(k->stencil);
    wg_function_free(k->forward);
    wg_function_free(k->backward);
    wgi_home_release(&k->home, k);
}

const wg_function *wg_callable_function(const wg_callable *k) {
    return k == NULL ? NULL : k->f;
}

size_t wgi_callable_work(const wg_callable *k, const wg_threads *threads) {
    const size_t three =
        most(wg_function_work(k->f, threads),
             most(wg_function_work(k->vjp, threads), wg_function_work(k->jvp, threads)));
    return k->stencil == NULL ? three
                              : most(three, wg_function_work(k->stencil->gather, threads));
}

/* ---- failures --------------------------------------------------------------------------- */

void wgi_why(wg_block *b, char *room, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(room, WGI_WHY, format, args);
    va_end(args);
    b->why = room;
}

void wgi_results_fail(size_t count, wg_mat *y) {
    for (size_t k = 0; y != NULL && k < count; k++) y[k] = wg_mat_failed(0, 0);
}
