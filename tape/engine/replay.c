/* SPDX-License-Identifier: MIT */
/* Kept code run again: at the recorded point, to verify the recording, and at another one. */
#include "tape.h"
#include "numbers.h"

#include <string.h>

static double run_statement(const wgi_core *c, const wgi_entry *e, wgi_statement_code *p) {
    double x[WGI_MAX_OPERANDS];
    for (size_t i = 0; i < e->operands; i++) x[i] = wgi_values(c)[e->slot[i]];
    wgi_statement_code_of(e, p);
    return wgi_statement_code_run(p, x);
}

/* Two arrays of doubles as long as the longest array operation on the tape. */
static wg_status array_room(wgi_core *c, const char *call, double **x, double **partial) {
    size_t most = WGI_MAX_OPERANDS;
    wgi_entry e;
    for (uint64_t w = 0; w < c->head.code_words;) {
        w = wgi_code_read(c, w, &e);
        if (e.type == WGI_ENTRY_ARRAY && e.operands > most) most = e.operands;
    }
    const size_t bytes = (most + 8) * sizeof(double);
    /* blocks take workspace between these; it is all taken now, so that nothing moves */
    const wg_status s = wgi_scratch_need(c, 2 * (bytes + 64) + c->work_bytes);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no workspace for %zu operands", call, most);
    *x = wgi_scratch(c, bytes);
    *partial = wgi_scratch(c, bytes);
    return WG_OK;
}

static wg_status guard_holds(wgi_core *c, const wgi_entry *e) {
    double side[2];
    for (int i = 0; i < 2; i++)
        side[i] = e->slot[i] != 0 ? wgi_values(c)[e->slot[i]] : e->number[i];
    const int now = wgi_compare(e->op / 2, side[0], side[1]);
    if (now == (int)(e->op & 1)) return WG_OK;
    char a[WGI_NUMBER_TEXT], b[WGI_NUMBER_TEXT];
    return wgi_fail(c, WG_EGUARD, "wg_tape_replay: %s(%s, %s) before slot %u was %s",
                    wgi_comparison_name(e->op / 2), wgi_number_text(a, side[0]),
                    wgi_number_text(b, side[1]), e->out, e->op & 1 ? "true" : "false");
}

wg_status wg_tape_verify(wg_tape *t) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (wgi_refuse_segment(c, "wg_tape_verify") != WG_OK) return WG_EMODE;
    if (!(c->flags & WG_KEEP_CODE) || c->width != 0)
        return wgi_refuse(c, WG_EMODE, "wg_tape_verify: the tape keeps no code");
    if (wgi_records_ordered(c) != WG_OK) return c->status;
    const uint64_t used = c->scratch_used;
    double *x = NULL, *partial = NULL;
    char was[WGI_NUMBER_TEXT], now[WGI_NUMBER_TEXT];
    wg_status s = array_room(c, "wg_tape_verify", &x, &partial);
    wgi_entry e;
    wgi_statement_code p;
    for (uint64_t w = 0; w < c->head.code_words && s == WG_OK;) {
        w = wgi_code_read(c, w, &e);
        if (e.type == WGI_ENTRY_GUARD) continue;
        const double v = e.type == WGI_ENTRY_ARRAY ? wgi_array_run(c, &e, x, partial)
                                                   : run_statement(c, &e, &p);
        if (!wgi_same_number(v, wgi_values(c)[e.out]))
            s = wgi_refuse(c, WG_EMISMATCH, "wg_tape_verify: slot %u was %s, recomputed %s",
                           e.out, wgi_number_text(was, wgi_values(c)[e.out]),
                           wgi_number_text(now, v));
    }
    c->scratch_used = used;
    return s;
}

/* Replays the blocks that were recorded before the statement of a slot; each has one record. */
static wg_status replay_blocks(wgi_core *c, uint64_t slot, uint64_t *record) {
    const uint64_t count = c->chunks == 0 ? 0 : wgi_record_count(c);
    for (; *record < count; ++*record) {
        wgi_block *const b = wgi_block_at(c, *record);
        if (b == NULL || b->out >= slot) break;
        const wg_status s = wgi_block_replay(c, b);
        if (s != WG_OK) return s;
    }
    return WG_OK;
}

/* Is the value of a slot that of a statement, or of a matrix operation? */
static int computed(const wgi_core *c, uint32_t slot) {
    if (wgi_block_of(c, slot) != NULL) return 1;
    for (uint64_t r = wgi_record_after(c, slot); r > 0; r--) {
        if (wgi_record_at(c, r - 1)->out != slot) return 0;
        if (wgi_block_at(c, r - 1) == NULL) return 1;
    }
    return 0;
}

/* Refuses new values for what was computed: only inputs take them. */
static wg_status refuse_computed(wgi_core *c, size_t n, const wg_real *x) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = x[i].at.slot;
        if (slot == 0)
            return wgi_refuse(c, WG_EARG, "wg_tape_replay: variable %zu is a constant", i);
        if (!computed(c, slot)) continue;
        const char *const label = wgi_label_of(c, slot);
        return wgi_refuse(c, WG_EARG, "wg_tape_replay: variable %zu (slot %u%s%s) is no input",
                          i, slot, label != NULL ? ", " : "", label != NULL ? label : "");
    }
    return WG_OK;
}

wg_status wg_tape_replay(wg_tape *t, size_t n, const wg_real *x, const double *a) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (n != 0 && (x == NULL || a == NULL))
        return wgi_refuse(c, WG_ENULL, "wg_tape_replay: an array of %zu entries is NULL", n);
    if (c->status != WG_OK) return c->status;
    if (c->held != 0) {
        c->held = 2;
        return WG_EMODE;
    }
    if (wgi_refuse_segment(c, "wg_tape_replay") != WG_OK) return WG_EMODE;
    if (!(c->flags & WG_KEEP_CODE) || c->width != 0)
        return wgi_refuse(c, WG_EMODE, "wg_tape_replay: the tape keeps no code");
    if (wgi_records_ordered(c) != WG_OK) return c->status;
    wg_status s = wgi_refuse_stale(c, "wg_tape_replay", n, x);
    if (s == WG_OK) s = refuse_computed(c, n, x);
    if (s != WG_OK) return s;
    const uint64_t used = c->scratch_used;
    double *operand = NULL, *partial = NULL;
    s = array_room(c, "wg_tape_replay", &operand, &partial);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i++) wgi_values(c)[x[i].at.slot] = a[i];
    c->swept = 0;
    c->second_words = 0;
    (void)wgi_derived_drop(c);
    uint64_t record = 0;
    wgi_entry e;
    wgi_statement_code p;
    for (uint64_t w = 0; w < c->head.code_words && s == WG_OK;) {
        w = wgi_code_read(c, w, &e);
        s = replay_blocks(c, e.out, &record);
        if (s != WG_OK) break;
        if (e.type == WGI_ENTRY_GUARD) {
            s = guard_holds(c, &e);
            continue;
        }
        if (e.type == WGI_ENTRY_ARRAY) {
            wgi_values(c)[e.out] = wgi_array_run(c, &e, operand, partial);
            s = wgi_array_check(c, &e, operand);
        } else {
            wgi_values(c)[e.out] = run_statement(c, &e, &p);
            wgi_statement_code_partials(&p, partial);
        }
        record += wgi_rewrite(c, record, &e, partial);
    }
    if (s == WG_OK) s = replay_blocks(c, UINT64_MAX, &record);
    c->scratch_used = used;
    c->half_replayed = s != WG_OK;
    return s;
}

double wg_tape_value(const wg_tape *t, wg_real x) {
    if (t == NULL) return __builtin_nan("");
    const wgi_core *c = wgi_core_of_const(t);
    if (x.at.slot == 0) return x.value;
    if (!(c->flags & WG_KEEP_CODE) || !wgi_alive(c, x.at)) return __builtin_nan("");
    return wgi_values(x.at.slot < c->origin ? c->outer : c)[x.at.slot];
}
