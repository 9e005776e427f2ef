/* SPDX-License-Identifier: MIT */
/* calls_spill.c - rows: memory that goes on in a file. Each has one of its own, of a few pages,
 * which is gone when the row is over; no other tape is in it, for a sequence is not to be
 * one of how full a disk is. */
#define _DEFAULT_SOURCE /* P_tmpdir */
#include "calls.h"

enum { PAGE = 4096 };

/* The file, and a tape in it; NULL: there is none. */
struct spilled {
    wg_spill *spill;
    wg_tape *t;
    size_t bytes;
};

/* Where, and how large: what no file can have is refused before one is made. */
static wg_status draw_spill(struct spilled *f) {
    static const size_t sizes[] = {1, PAGE, 16 * PAGE, 128 * PAGE},
                        none[] = {0, SIZE_MAX, (size_t)INT64_MAX + 1, SIZE_MAX - PAGE + 2},
                        residents[] = {0, 0, 1, PAGE, 8 * PAGE, SIZE_MAX};
    const char *unset = NULL, **const why = one_in(6) ? NULL : &unset;
    const char *const directory = one_in(30)   ? NULL
                                  : one_in(30) ? "/nowhere/at/all"
                                  : one_in(30) ? ""
                                  : one_in(30) ? "/dev/null"
                                               : P_tmpdir;
    const size_t resident = residents[below(6)],
                 bytes = one_in(8) ? none[below(4)] : sizes[below(4)];
    wg_spill **const out = one_in(60) ? NULL : &f->spill;
    *f = (struct spilled){NULL, NULL, (bytes + PAGE - 1) / PAGE * PAGE};
    named("directory", "%s", directory != NULL ? directory : "NULL");
    named("resident", "%zu", resident);
    named("bytes", "%zu", bytes);
    say("", "wg_spill_new(directory, resident, bytes, out, why)");
    const wg_status s = status(wg_spill_new(directory, resident, bytes, out, why));
    if ((s == WG_OK) != (f->spill != NULL)) finding("a file and a status that disagree");
    if (why != NULL && (unset == NULL || (s == WG_OK && unset[0] != 0)))
        finding("a reason and a status that disagree");
    return s;
}

static void look(const struct spilled *f, int empty) {
    const size_t used = wg_spill_used(f->spill);
    if (used > f->bytes || used % PAGE != 0 || (empty && used != 0))
        finding("what is in use of a file");
}

/* Records and sweeps as far as there is room: y = x + x + ... */
static void record(struct spilled *f) {
    const wg_options o = {.flags = one_in(2) ? WG_KEEP_CODE : 0,
                          .reserve = one_in(2) ? 0 : 1 << 20,
                          .memory = wg_spill_memory(f->spill)};
    const size_t statements = below(one_in(10) ? 20000 : 200);
    f->t = wg_tape_new(&o);
    look(f, 0);
    if (f->t == NULL) return;
    const wg_real x = wg_input(f->t, 1);
    wg_real y = x;
    for (size_t i = 0; i < statements; i++) y = wg_let(f->t, wg_add(y, x));
    look(f, 0);
    if (status(wg_reverse(f->t, y)) == WG_OK &&
        (y.value != (double)statements + 1 || wg_adjoint(f->t, x) != (double)statements + 1))
        finding("numbers in a file");
    if (one_in(2)) wg_tape_reset(f->t);
}

static void close_spill(struct spilled *f) {
    wg_tape_free(f->t);
    look(f, 1);
    wg_spill_free(f->spill);
}

#define SPILL(name)                                                                            \
    ROW(name) {                                                                                \
        struct spilled f;                                                                      \
        if (draw_spill(&f) == WG_OK) record(&f);                                               \
        close_spill(&f);                                                                       \
    }
SPILL(wg_spill_new)
SPILL(wg_spill_memory)
ROW(wg_spill_used) {
    GIVES_NUMBER(wg_spill_used(NULL));
    if (wg_spill_used(NULL) != 0) finding("no file is in use");
}
ROW(wg_spill_free) {
    struct spilled f;
    if (draw_spill(&f) == WG_OK && one_in(2)) look(&f, 1);
    wg_spill_free(f.spill);
    wg_spill_free(NULL);
}

static const struct row list[] = {
    LISTED(wg_spill_new, 1),
    LISTED(wg_spill_memory, 1),
    LISTED(wg_spill_used, 1),
    LISTED(wg_spill_free, 1),
};
const struct rows calls_spill = ROWS(list);
