/* SPDX-License-Identifier: MIT */
/* Files of wg_ode_solve. One function goes through all that there is, and reads or writes
 * it. */
#define _POSIX_C_SOURCE 200809L
#include "ode_file.h"

#include "tape/engine/tape.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Saving is to take no more than a part of the time. */
enum { PART = 20 };

typedef enum {
    SEQUENCE,
    BYTES,
    STAGE,
    SEEDS,
    COLUMNS, /* of the results that were reached */
    USED,
    STRIDE,
    STEPS,
    HELD, /* checkpoints, with those of the way back */
    LEFT,
    TOP,
    TAKEN, /* the report: steps, rejected, evaluations, reached */
    START = TAKEN + 4,
    WORDS
} wgi_ode_word;

/* ---- numbers, one after the other ---- */

typedef struct stream {
    wgi_run_file *file;
    size_t at;
    uint64_t hash;
    int writes;
    wg_status status;
} stream;

/* A hash of words. */
static uint64_t hash_words(uint64_t h, const void *data, size_t bytes) {
    const char *const p = data;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word;
        memcpy(&word, p + i, 8);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

static void pass(stream *s, void *data, size_t bytes) {
    if (s->status != WG_OK || bytes == 0) return;
    if (s->writes) {
        s->hash = hash_words(s->hash, data, bytes);
        s->status = wgi_run_file_put(s->file, data, bytes, s->at);
    } else {
        s->status = wgi_run_file_get(s->file, data, bytes, s->at);
    }
    s->at += bytes;
}
static void pass_doubles(stream *s, double *x, size_t n) { pass(s, x, n * sizeof *x); }

/* ---- all there is ---- */

static size_t offset_of(const wgi_ode_file *f, uint64_t sequence) {
    return WGI_RUN_PAGE + (sequence % 2) * f->half;
}

static size_t numbers_of(const wgi_ode_file *f, size_t columns, size_t held, int back) {
    const wgi_ode_call *const call = f->r->call;
    const size_t n = f->c->states, position = sizeof(wgi_ode_position) / 8;
    return WORDS + position + n + columns * (call->k->n + call->k->integrals) +
           held * (position + n) + (back ? n + call->columns * f->r->flow->params : 0) + 1;
}

/* Behind the words. */
static void pass_all(stream *s, const wgi_ode_file *f, const uint64_t *word,
                     wgi_ode_position *at, wgi_ode_adjoint *a) {
    const wg_block *const b = f->r->b;
    const size_t n = f->c->states;
    pass(s, at, sizeof *at);
    pass_doubles(s, f->r->y, n);
    for (size_t i = 0; i < b->outputs; i++)
        for (size_t k = 0; k < word[COLUMNS]; k++)
            pass_doubles(s, b->out[i].value + k * b->out[i].ld, b->out[i].rows);
    pass(s, f->c->position, (size_t)word[HELD] * sizeof *f->c->position);
    pass_doubles(s, f->c->state, (size_t)word[HELD] * n);
    if (a == NULL) return;
    pass_doubles(s, a->bar, n);
    pass_doubles(s, a->params, f->r->call->columns * f->r->flow->params);
}

wg_status wgi_ode_file_write(wgi_ode_file *f, const wgi_ode_position *at,
                             const wgi_ode_back_at *back) {
    const wgi_ode_call *const call = f->r->call;
    const double began = wgi_seconds();
    wgi_ode_position position = *at;
    uint64_t word[WORDS] = {0};
    f->stage = back != NULL              ? WGI_ODE_BACK
               : at->next == call->times ? WGI_ODE_SOLVED
                                         : WGI_ODE_FORWARD;
    word[SEQUENCE] = ++f->sequence;
    word[STAGE] = f->stage;
    word[SEEDS] = back != NULL ? f->seeds : 0;
    word[COLUMNS] = at->next;
    word[USED] = *f->c->used, word[STRIDE] = *f->c->stride, word[STEPS] = *f->c->steps;
    word[HELD] = back != NULL && back->top >= word[USED] ? back->top + 1 : word[USED];
    word[BYTES] = numbers_of(f, at->next, (size_t)word[HELD], back != NULL) * 8;
    word[TAKEN] = call->report.steps, word[TAKEN + 1] = call->report.rejected;
    word[TAKEN + 2] = call->report.evaluations;
    memcpy(&word[TAKEN + 3], &call->report.reached, 8);
    if (back != NULL) {
        word[LEFT] = back->left, word[TOP] = back->top;
        memcpy(&word[START], &back->a->start, 8);
    }
    stream s = {&f->file, offset_of(f, f->sequence), WGI_CHECKSUM_START, 1, WG_OK};
    pass(&s, word, sizeof word);
    pass_all(&s, f, word, &position, back != NULL ? back->a : NULL);
    const uint64_t check = s.hash;
    if (s.status == WG_OK) s.status = wgi_run_file_put(&f->file, &check, 8, s.at);
    if (s.status == WG_OK) s.status = wgi_run_file_flush(&f->file);
    f->saved = wgi_seconds();
    f->took = f->saved - began;
    return s.status;
}

/* The words of a place, if what stands there is whole; SEQUENCE 0: it is not. */
static wg_status look(wgi_ode_file *f, size_t from, uint64_t word[WORDS]) {
    char page[WGI_RUN_PAGE];
    wg_status s = wgi_run_file_get(&f->file, word, WORDS * 8, from);
    const size_t bytes = (size_t)word[BYTES], sequence = (size_t)word[SEQUENCE];
    const wgi_ode_call *const call = f->r->call;
    word[SEQUENCE] = 0;
    if (s != WG_OK || word[COLUMNS] > call->times || word[HELD] > f->c->stored ||
        word[USED] == 0 || word[USED] > word[HELD] || word[STRIDE] == 0 ||
        word[LEFT] > word[STEPS] || word[STAGE] < WGI_ODE_FORWARD ||
        word[STAGE] > WGI_ODE_BACK ||
        (word[STAGE] == WGI_ODE_BACK && word[TOP] >= word[HELD]) ||
        bytes != numbers_of(f, (size_t)word[COLUMNS], (size_t)word[HELD],
                            word[STAGE] == WGI_ODE_BACK) *
                     8)
        return s;
    uint64_t hash = WGI_CHECKSUM_START, check;
    for (size_t at = 0, some; at < bytes - 8 && s == WG_OK; at += some) {
        some = bytes - 8 - at < sizeof page ? bytes - 8 - at : sizeof page;
        s = wgi_run_file_get(&f->file, page, some, from + at);
        hash = hash_words(hash, page, some);
    }
    if (s == WG_OK) s = wgi_run_file_get(&f->file, &check, 8, from + bytes - 8);
    if (s == WG_OK && hash == check) word[SEQUENCE] = sequence;
    return s;
}

/* Of the places the one that holds. */
static wg_status look_at_both(wgi_ode_file *f, uint64_t word[WORDS]) {
    memset(word, 0, WORDS * 8);
    for (uint64_t half = 0; half < 2; half++) {
        uint64_t of[WORDS];
        const wg_status s = look(f, offset_of(f, half), of);
        if (s != WG_OK) return s;
        if (of[SEQUENCE] % 2 == half && of[SEQUENCE] > word[SEQUENCE])
            memcpy(word, of, sizeof of);
    }
    return WG_OK;
}

/* Do the checkpoints follow each other from the start, and is all of it within the times? What
 * was written is; who writes such a file by hand may get anything in it past the check. */
static int is_sound(const wgi_ode_file *f, const uint64_t *word, const wgi_ode_position *at) {
    const wgi_ode_position *const p = f->c->position;
    int sound = at->next == word[COLUMNS] && p[0].steps == 0;
    for (size_t k = 0; k < word[HELD]; k++)
        sound &= p[k].next <= f->r->call->times && (k == 0 || p[k].steps > p[k - 1].steps);
    return sound;
}

wg_status wgi_ode_file_read(wgi_ode_file *f, wgi_ode_position *at, wgi_ode_back_at *back) {
    uint64_t word[WORDS];
    wgi_ode_call *const call = f->r->call;
    wg_status s = look_at_both(f, word);
    if (s != WG_OK) return s;
    *f->c->used = (size_t)word[USED], *f->c->stride = (size_t)word[STRIDE];
    *f->c->steps = (size_t)word[STEPS];
    call->report.steps = (size_t)word[TAKEN], call->report.rejected = (size_t)word[TAKEN + 1];
    call->report.evaluations = (size_t)word[TAKEN + 2];
    memcpy(&call->report.reached, &word[TAKEN + 3], 8);
    if (back != NULL) {
        back->left = (size_t)word[LEFT], back->top = (size_t)word[TOP];
        memcpy(&back->a->start, &word[START], 8);
    }
    stream in = {&f->file, offset_of(f, word[SEQUENCE]) + sizeof word, 0, 0, WG_OK};
    pass_all(&in, f, word, at, back != NULL ? back->a : NULL);
    if (in.status != WG_OK || is_sound(f, word, at)) return in.status;
    (void)snprintf(f->file.why, sizeof f->file.why, "the file is not what was written");
    return WG_EARG;
}

/* ---- opened and closed ---- */

static uint64_t key_of(const wgi_ode_run *r) {
    const wgi_ode_call *const call = r->call;
    const wg_ode_options *const o = &call->o;
    const uint64_t sizes[] = {
        call->k->n,    call->k->params,     call->k->integrals,        call->times,
        call->columns, (uint64_t)o->method, (uint64_t)o->stop_at_times};
    const double steps[] = {o->rtol, o->atol, o->step, o->min_step, o->max_step};
    uint64_t h = wgi_checksum(WGI_CHECKSUM_START, sizes, sizeof sizes);
    h = wgi_checksum(h, steps, sizeof steps);
    h = wgi_checksum(h, call->time, call->times * sizeof *call->time);
    if (call->atols != NULL) h = wgi_checksum(h, call->atols, call->k->n * sizeof *call->atols);
    h = wgi_checksum(h, r->y, r->flow->states * sizeof *r->y);
    h = wgi_checksum(h, r->param, call->columns * r->flow->params * sizeof *r->param);
    return o->tag != NULL ? wgi_checksum(h, o->tag, strlen(o->tag)) : h;
}

/* Of a replay with other numbers the file is made anew. */
static void leave_other(const wgi_ode_file *f, uint64_t key) {
    wgi_run_file old = f->file;
    old.key = f->r->call->key;
    if (old.key == 0 || old.key == key || access(old.path, F_OK) != 0) return;
    const wg_status s = wgi_run_file_open(&old);
    wgi_run_file_close(&old, s == WG_OK);
}

wg_status wgi_ode_file_open(wgi_ode_file *f, wgi_ode_run *r, wgi_ode_checkpoints *c) {
    uint64_t word[WORDS];
    memset(f, 0, sizeof *f);
    f->r = r, f->c = c;
    f->half = wgi_run_pages(numbers_of(f, r->call->times, c->stored, 1) * 8);
    f->file = (wgi_run_file){.path = r->call->o.file,
                             .call = "wg_ode_solve",
                             .kind = "wg ode\n ",
                             .size = {c->states, c->stored, f->half},
                             .bytes = WGI_RUN_PAGE + 2 * f->half};
    const uint64_t key = key_of(r);
    leave_other(f, key);
    f->file.key = key;
    wg_status s = wgi_run_file_open(&f->file);
    if (s == WG_OK) s = look_at_both(f, word);
    if (s == WG_OK) {
        f->sequence = word[SEQUENCE];
        f->stage = word[SEQUENCE] == 0 ? WGI_ODE_BLANK : (wgi_ode_stage)word[STAGE];
        f->seeds = word[SEEDS];
        r->call->key = key;
    }
    f->saved = wgi_seconds();
    return s;
}

int wgi_ode_file_due(const wgi_ode_file *f) {
    const double every = f->r->call->o.seconds, passed = wgi_seconds() - f->saved;
    return every > 0 && passed >= every && passed >= PART * f->took;
}

void wgi_ode_file_close(wgi_ode_file *f) { wgi_run_file_close(&f->file, 0); }

void wgi_ode_file_drop(wgi_ode_call *call) {
    if (call->o.file != NULL && call->key != 0) (void)unlink(call->o.file);
    call->o.file = NULL;
}
