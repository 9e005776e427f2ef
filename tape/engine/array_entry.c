/* SPDX-License-Identifier: MIT */
/* Array operations in kept code: their values, partials and second derivatives. */
#include "ops/scalar/array.h"
#include "tape.h"

const char *wgi_array_name(unsigned op) {
    return op < WGI_ARRAY_COUNT ? wgi_array_ops[op].name : "array operation";
}

/* The constants among the operands of an entry. */
static size_t constants(const wgi_entry *e) {
    size_t n = 0;
    for (size_t i = 0; i < e->operands; i++) n += e->slot[i] == 0;
    return n;
}

size_t wgi_array_numbers(const wgi_entry *e) { return e->numbers - constants(e); }

int wgi_array_linear(unsigned op) { return wgi_array_ops[op].second == NULL; }

/* Values of the operands of an entry: of its slots, and its constants in order. */
static const double *operand_values(const wgi_core *c, const wgi_entry *e, double *x) {
    const double *constant = e->number + wgi_array_numbers(e);
    for (size_t i = 0; i < e->operands; i++)
        x[i] = e->slot[i] != 0 ? wgi_values(c)[e->slot[i]] : *constant++;
    return e->number;
}

double wgi_array_run(const wgi_core *c, const wgi_entry *e, double *x, double *partial) {
    const wgi_array_op *op = &wgi_array_ops[e->op];
    const double *number = operand_values(c, e, x);
    const double v = op->value(e->operands, x, number);
    op->first(e->operands, x, number, v, partial);
    return v;
}

void wgi_array_second(const wgi_core *c, const wgi_entry *e, const double *xt, double *ht,
                      double *x, double *work) {
    const double *number = operand_values(c, e, x);
    wgi_array_ops[e->op].second(e->operands, x, number, wgi_values(c)[e->out], xt, ht, work);
}

/* Does the index, the last operand where the operation has one, choose an element? */
int wgi_array_chooses(unsigned op, size_t n, const double *x) {
    return !wgi_array_ops[op].indexed || wgi_array_index(n - 1, x[n - 1]) < n - 1;
}

wg_status wgi_array_check(wgi_core *c, const wgi_entry *e, const double *x) {
    char text[WGI_NUMBER_TEXT];
    const size_t n = e->operands;
    if (wgi_array_chooses(e->op, n, x)) return WG_OK;
    return wgi_fail(c, WG_EARG, "wg_tape_replay: %s of slot %u: index %s of %zu elements",
                    wgi_array_ops[e->op].call, e->out, wgi_number_text(text, x[n - 1]), n - 1);
}
