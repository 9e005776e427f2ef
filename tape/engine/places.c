/* SPDX-License-Identifier: MIT */
/* Places and labels: where a statement was written, how the user calls a variable, and messages
 * that say so. Both lists are sorted by slot: places because slots only grow, labels because
 * they are put in order. */
#include "tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the lists ---- */

wg_status wgi_place_keep(wgi_core *c, const char *call, uint32_t slot, const char *file,
                         int line) {
    const size_t used = (size_t)c->place_count * sizeof(wgi_place);
    const wg_status s = wgi_region_need(c, &c->places, used + sizeof(wgi_place), used);
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for the place of slot %u", call, slot);
    wgi_places(c)[c->place_count++] = (wgi_place){file, line > 0 ? (uint32_t)line : 0, slot};
    return WG_OK;
}

const wgi_place *wgi_place_of(const wgi_core *c, uint32_t slot) {
    const wgi_place *const all = wgi_places(c);
    uint64_t low = 0, high = c->place_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (all[middle].slot < slot) low = middle + 1;
        else high = middle;
    }
    return low < c->place_count && all[low].slot == slot ? &all[low] : NULL;
}

/* The first label whose slot is not below. */
static uint64_t label_from(const wgi_core *c, uint32_t slot) {
    uint64_t low = 0, high = c->label_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (wgi_labels(c)[middle].slot < slot) low = middle + 1;
        else high = middle;
    }
    return low;
}

const char *wgi_label_of(const wgi_core *c, uint32_t slot) {
    const uint64_t i = label_from(c, slot);
    return i < c->label_count && wgi_labels(c)[i].slot == slot ? wgi_labels(c)[i].text : NULL;
}

wg_status wg_label(wg_tape *t, wg_real x, const char *name) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (name == NULL) return wgi_refuse(c, WG_ENULL, "wg_label: the name is NULL");
    if (c->status != WG_OK) return c->status;
    if (x.at.slot == 0) return WG_OK; /* a constant: also what a paused tape gives */
    wg_status s = wgi_refuse_stale(c, "wg_label", 1, &x);
    if (s != WG_OK) return s;
    const size_t used = (size_t)c->label_count * sizeof(wgi_label);
    const uint64_t i = label_from(c, x.at.slot);
    if (i == c->label_count || wgi_labels(c)[i].slot != x.at.slot) {
        s = wgi_region_need(c, &c->labels, used + sizeof(wgi_label), used);
        if (s != WG_OK)
            return wgi_refuse(c, s, "wg_label: no memory for the label of slot %u", x.at.slot);
        wgi_label *const at = wgi_labels(c) + i;
        memmove(at + 1, at, (size_t)(c->label_count - i) * sizeof *at);
        c->label_count++;
    }
    wgi_label *const label = wgi_labels(c) + i;
    size_t n = strlen(name);
    if (n >= sizeof label->text) { /* not in the middle of a character of UTF-8 */
        n = sizeof label->text - 1;
        while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80) n--;
    }
    label->slot = x.at.slot;
    memcpy(label->text, name, n);
    label->text[n] = 0;
    return WG_OK;
}

/* ---- text ---- */

const char *wgi_number_text(char *buffer, double x) {
    if (x != x) return "nan";
    if (x - x != 0) return x > 0 ? "inf" : "-inf";
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(buffer, WGI_NUMBER_TEXT, "%.*g", digits, x);
        if (strtod(buffer, NULL) == x) break;
    }
    char *to = buffer;
    for (const char *from = buffer; *from != 0; from++) {
        const int point =
            strchr("+-0123456789e", *from) == NULL; /* of one byte, or of several */
        if (!point) *to++ = *from;
        else if (to[-1] != '.') *to++ = '.';
    }
    *to = 0;
    return buffer;
}

static void add(wgi_core *c, const char *text) {
    const size_t at = strlen(c->message), n = strlen(text), left = sizeof c->message - 1 - at;
    memcpy(c->message + at, text, n < left ? n : left);
    c->message[at + (n < left ? n : left)] = 0;
}

void wgi_fail_where(wgi_core *c, const char *file, int line) {
    char number[16];
    if (file == NULL) return;
    (void)snprintf(number, sizeof number, ":%d)", line);
    add(c, " (");
    add(c, file);
    add(c, number);
}

/* ---- the operation that produced a NaN or an infinity ---- */

static int finite(double x) { return x - x == 0; }

/* The node to blame for the value of node i, all nodes before it known: itself when its
 * operands are finite, or when it makes a NaN of infinities that were given; otherwise who is
 * to blame for its operand, a NaN before an infinity. */
static int blame(const wgi_program *p, const uint8_t *blamed, int i) {
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
static void add_value(wgi_core *c, const wgi_entry *e, int node, double value) {
    char buffer[WGI_NUMBER_TEXT];
    const char *label = node < (int)e->operands ? wgi_label_of(c, e->slot[node]) : NULL;
    if (label != NULL) {
        add(c, label);
        add(c, " = ");
    }
    add(c, wgi_number_text(buffer, value));
}

/* "slot 3", or "slot 3 (radius)". */
static void add_slot(wgi_core *c, uint32_t slot) {
    char text[24];
    const char *const label = wgi_label_of(c, slot);
    (void)snprintf(text, sizeof text, "slot %u", slot);
    add(c, text);
    if (label == NULL) return;
    add(c, " (");
    add(c, label);
    add(c, ")");
}

wg_status wgi_refuse_trace(wgi_core *c, const wgi_record *r, double w) {
    const double *const adjoint = wgi_adjoints(c);
    const uint32_t to = adjoint[r->in0] == adjoint[r->in0] ? r->in1 : r->in0;
    const wgi_place *const place = wgi_place_of(c, r->out);
    char buffer[WGI_NUMBER_TEXT];
    (void)wgi_refuse(c, WG_ENONFINITE, "a sweep: the adjoint of ");
    add_slot(c, to);
    add(c, " becomes nan: that of ");
    add_slot(c, r->out);
    add(c, " is ");
    add(c, wgi_number_text(buffer, w));
    add(c, r->in1 != 0 ? ", its local derivatives " : ", its local derivative ");
    add(c, wgi_number_text(buffer, r->jac0));
    if (r->in1 != 0) {
        add(c, " and ");
        add(c, wgi_number_text(buffer, r->jac1));
    }
    if (place != NULL) wgi_fail_where(c, place->file, (int)place->line);
    c->swept = 0;
    return WG_ENONFINITE;
}

void wgi_fail_trace(wgi_core *c, const wgi_statement *s) {
    uint32_t slot[WGI_MAX_OPERANDS];
    for (unsigned i = 0; i < s->operands; i++) slot[i] = (uint32_t)s->handle[i];
    const wgi_entry e = {.type = WGI_ENTRY_STATEMENT,
                         .bits = s->bits,
                         .code = s->code,
                         .operands = s->operands,
                         .numbers = s->numbers,
                         .slot = slot,
                         .number = s->number};
    wgi_program p;
    uint8_t blamed[WGI_MAX_NODES] = {0};
    wgi_program_of(&e, &p);
    (void)wgi_program_run(&p, s->x);
    for (int i = 0; i < p.nodes; i++) blamed[i] = (uint8_t)blame(&p, blamed, i);
    const int i = blamed[p.nodes - 1];
    const struct wgi_step *const n = &p.node[i];
    char buffer[WGI_NUMBER_TEXT];
    const char *const value = wgi_number_text(buffer, n->value);
    if (n->op == NULL) {
        (void)wgi_fail(c, WG_ENONFINITE, "an operand of wg_let is ");
        add_value(c, &e, i, n->value);
    } else {
        (void)wgi_fail(c, WG_ENONFINITE, "%s gave %s from ", n->op->name, value);
        for (unsigned k = 0; k < n->op->arity; k++) {
            if (k > 0) add(c, ", ");
            add_value(c, &e, n->arg[k], p.node[n->arg[k]].value);
        }
        add(c, " in wg_let");
    }
    wgi_fail_where(c, s->file, s->line);
}
