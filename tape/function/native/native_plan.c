/* SPDX-License-Identifier: MIT */
/* What of a function is written into which C function of native code, and in which order. */
#include "native.h"

#include <string.h>

/* Operations up to which their order is looked at. */
enum { SCHEDULED = 1000 };

unsigned wgi_native_width(const wgi_bytecode *p) { return (unsigned)p->machine->width; }

/* Is it a call of a function that takes long, and uses all registers? */
static int is_call(const wgi_node *n) {
    static const char *const quick[] = {"sqrt", "rsqrt", "fma", "floor",
                                        "ceil", "trunc", "rint"};
    const char *const text = wgi_text_of(n);
    if (n->kind == WGI_NODE_ARRAY) return 1;
    if (text == NULL || !wgi_text_calls(text)) return 0;
    for (size_t i = 0; i < sizeof quick / sizeof *quick && n->kind == WGI_NODE_OP; i++)
        if (strcmp(n->op->name, quick[i]) == 0) return 0;
    return 1;
}

int wgi_native_takes_long(const wgi_node *n) {
    const char *const text = wgi_text_of(n);
    if (is_call(n)) return 1;
    return text != NULL && n->kind != WGI_NODE_OP && wgi_text_letters(text, 'v') != 0 &&
           wgi_text_calls(n->op->text[0]);
}

/* The nodes that calls need, where few of them are used after, and there is something to do
 * after: a unit of their own, so that the calls of several vectors overlap. Gives how many they
 * are; they are listed first. */
static size_t calls_first(wgi_writer *w, size_t first) {
    enum { FEW = 8 };
    const wg_function *const f = w->f;
    uint32_t *const before = w->spare; /* is it needed by a call? */
    size_t count = 0, across = 0;
    memset(before, 0, f->nodes * sizeof *before);
    for (size_t i = first + f->each; i-- > first;) {
        if (is_call(&f->node[i])) before[i] = 1;
        if (!before[i]) continue;
        count++;
        for (uint32_t k = 0, o; (o = wgi_plan_needed(w, (uint32_t)i, k)) != WGI_NO_NODE; k++)
            before[o] = 1;
    }
    for (size_t i = first; i < first + f->each; i++) { /* 2: used after */
        if (before[i]) continue;
        for (uint32_t k = 0, o; (o = wgi_plan_needed(w, (uint32_t)i, k)) != WGI_NO_NODE; k++) {
            if (o < first || before[o] != 1) continue;
            before[o] = 2;
            across++;
        }
    }
    if (count == 0 || count + FEW >= f->each || across > FEW) return 0;
    size_t at[2] = {0, count};
    for (size_t i = 0; i < f->each; i++)
        w->list[at[!before[first + i]]++] = (uint32_t)(first + i);
    return count;
}

size_t wgi_native_weight(const wgi_node *n) {
    return n->kind == WGI_NODE_ARRAY ? 1 + n->count : 1;
}

size_t wgi_native_room(const wg_function *f) {
    size_t most = 0;
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].kind == WGI_NODE_ARRAY && f->node[i].when == WGI_EACH &&
            f->node[i].count > most)
            most = f->node[i].count;
    return most;
}

/* The nodes list[first ... end): units of about the same weight. */
static void cut(wgi_writer *w, size_t first, size_t end, size_t unit) {
    size_t all = 0, filled = 0;
    for (size_t k = first; k < end; k++) all += wgi_native_weight(&w->f->node[w->list[k]]);
    const size_t units = all <= 2 * unit ? 1 : all / unit, most = (all + units - 1) / units;
    for (size_t k = first; k < end; k++) {
        if (k == first || filled >= most) w->units++, filled = 0;
        w->unit[w->list[k]] = (uint32_t)w->units - 1;
        filled += wgi_native_weight(&w->f->node[w->list[k]]);
    }
}

wg_status wgi_native_plan(wgi_writer *w, const wgi_native_form *form) {
    const wg_function *const f = w->f;
    const wgi_bytecode *const p = f->bytecode;
    const size_t first = f->n + f->numbers + f->once;
    for (size_t i = 0; i < f->nodes; i++) w->unit[i] = WGI_NO_NODE;
    for (size_t i = 0; i < f->each; i++) w->list[i] = (uint32_t)(first + i);
    w->listed = f->each;
    w->units = 0;
    for (size_t i = 0, end = calls_first(w, first); i < f->each; i = end, end = f->each) {
        if (end == 0) end = f->each;
        cut(w, i, end, form->unit);
    }
    w->apart = 0;
    wgi_plan_count(w, 0, 0, WGI_NO_NODE);
    wgi_plan_slots(w);
    const size_t room = w->slots + wgi_native_room(f);
    if (room * form->width * sizeof(double) > 4 * form->slot_room)
        return wgi_refuse(w->c, WG_EMODE, "%s: %zu numbers are alive at a time", w->call, room);
    if (f->each <= SCHEDULED) wgi_native_schedule(w);
    for (size_t u = 0; u < p->uniforms; u++)
        if (p->uniform_node[u] != WGI_NO_NODE) w->slot[p->uniform_node[u]] = (uint32_t)u;
    for (size_t i = 0; i < p->native_inputs; i++) w->slot[p->input_node[i]] = (uint32_t)i;
    wgi_need_all(w, 1);
    wgi_native_need(w);
    return WG_OK;
}
