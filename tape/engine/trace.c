/* SPDX-License-Identifier: MIT */
/* Traced tapes (WG_TRACE): which operation of a statement produced a NaN or an infinity, and
 * which record made an adjoint NaN. */
#include "tape.h"

#include <stdio.h>

static int finite(double x) { return x - x == 0; }

/* Which node is to blame for the value of node i: itself, if its operands are finite or if it
 * makes a NaN of infinities that it was given; otherwise the one to blame for an operand, a NaN
 * rather than an infinity. All nodes before it are known. */
static int blame(const wgi_statement_code *p, const uint8_t *blamed, int i) {
    const struct wgi_step *const n = &p->node[i];
    if (n->op == NULL) return i;
    int from = -1;
    for (unsigned k = 0; k < n->op->arity; k++) {
        const double a = p->node[n->arg[k]].value;
        if (!finite(a) && (from < 0 || (a != a && p->node[from].value == p->node[from].value)))
            from = n->arg[k];
    }
    if (from < 0) return i;
    const int given = p->node[blamed[from]].op == NULL;
    const int turned = n->value != n->value && p->node[from].value == p->node[from].value;
    return given && turned ? i : blamed[from];
}

/* "0", or "radius = 0" for a variable with a label. */
static void add_value(wgi_core *c, const wgi_statement *s, int node, double value) {
    char buffer[WGI_NUMBER_TEXT];
    const char *label =
        node < (int)s->operands ? wgi_label_of(c, wgi_slot(s->handle[node])) : NULL;
    if (label != NULL) {
        wgi_message_add(c, label);
        wgi_message_add(c, " = ");
    }
    wgi_message_add(c, wgi_number_text(buffer, value));
}

/* "slot 3", or "slot 3 (radius)". */
static void add_slot(wgi_core *c, uint32_t slot) {
    char text[24];
    const char *const label = wgi_label_of(c, slot);
    (void)snprintf(text, sizeof text, "slot %u", slot);
    wgi_message_add(c, text);
    if (label == NULL) return;
    wgi_message_add(c, " (");
    wgi_message_add(c, label);
    wgi_message_add(c, ")");
}

wg_status wgi_refuse_trace(wgi_core *c, const wgi_record *r, double w) {
    const double *const adjoint = wgi_adjoints(c);
    const uint32_t to = adjoint[r->in0] == adjoint[r->in0] ? r->in1 : r->in0;
    const wgi_place *const place = wgi_place_of(c, r->out);
    char buffer[WGI_NUMBER_TEXT];
    (void)wgi_refuse(c, WG_ENONFINITE, "a sweep: the adjoint of ");
    add_slot(c, to);
    wgi_message_add(c, " becomes nan: that of ");
    add_slot(c, r->out);
    wgi_message_add(c, " is ");
    wgi_message_add(c, wgi_number_text(buffer, w));
    wgi_message_add(c, r->in1 != 0 ? ", its local derivatives " : ", its local derivative ");
    wgi_message_add(c, wgi_number_text(buffer, r->jac0));
    if (r->in1 != 0) {
        wgi_message_add(c, " and ");
        wgi_message_add(c, wgi_number_text(buffer, r->jac1));
    }
    if (place != NULL) wgi_fail_where(c, place->file, (int)place->line);
    c->swept = 0;
    return WG_ENONFINITE;
}

void wgi_fail_trace(wgi_core *c, const wgi_statement *s) {
    wgi_statement_code p;
    uint8_t blamed[WGI_MOST_NODES] = {0};
    wgi_statement_code_of_new(s, &p);
    (void)wgi_statement_code_run(&p, s->x);
    for (int i = 0; i < p.nodes; i++) blamed[i] = (uint8_t)blame(&p, blamed, i);
    const int i = blamed[p.nodes - 1];
    const struct wgi_step *const n = &p.node[i];
    char buffer[WGI_NUMBER_TEXT];
    const char *const value = wgi_number_text(buffer, n->value);
    if (n->op == NULL) {
        (void)wgi_fail(c, WG_ENONFINITE, "an operand of wg_let is ");
        add_value(c, s, i, n->value);
    } else {
        (void)wgi_fail(c, WG_ENONFINITE, "%s gave %s from ", n->op->name, value);
        for (unsigned k = 0; k < n->op->arity; k++) {
            if (k > 0) wgi_message_add(c, ", ");
            add_value(c, s, n->arg[k], p.node[n->arg[k]].value);
        }
        wgi_message_add(c, " in wg_let");
    }
    wgi_fail_where(c, s->file, s->line);
}
