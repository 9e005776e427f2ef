/* SPDX-License-Identifier: MIT */
/* drive.h - a callback evaluated on an emptied tape: what every driver starts from. Internal.
 *
 * A driver opens, takes room, evaluates (begin, inputs, call) once or more often, and closes.
 */
#ifndef WGI_TAPE_ENGINE_DRIVE_H
#define WGI_TAPE_ENGINE_DRIVE_H

#include "tape.h"

typedef struct wgi_drive {
    wgi_core *c;
    const char *call; /* for messages */
    wg_callback *f;
    void *data;
    size_t n, m;
    wg_real *x, *y; /* of the function; y is checked by wgi_drive_call */
    size_t width;   /* of the tape before, restored afterwards */
    size_t used;    /* bytes taken of the extent */
    /* the function failed the tape by a call of its own, whose name the message has */
    int theirs;
} wgi_drive;

/* Resets the tape and takes room for x, y and `doubles` numbers. After a failure: close. */
wg_status wgi_drive_open(wgi_drive *d, wg_tape *t, const char *call, wg_callback *f, void *data,
                         size_t n, size_t m, size_t doubles);
/* The same for a call that evaluates no function. */
wg_status wgi_drive_open_alone(wgi_drive *d, wg_tape *t, const char *call);
/* Takes the next numbers of that room. */
double *wgi_drive_room(wgi_drive *d, size_t doubles);
/* Room for numbers whose count is known only after the evaluation. NULL: there is none, and the
 * tape has failed. */
double *wgi_drive_late_room(wgi_drive *d, size_t doubles);
/* Can a sweep be refused although the tape has not failed and there is memory? After a rewind
 * there may be records of forgotten variables, after a parallel loop of variables of its
 * segments; and an operation on matrices may refuse. */
static inline int wgi_may_refuse(const wgi_core *c) {
    return c->branch_count > 1 || c->loops || c->head.last_block != NULL;
}
/* The derivative of a constant: 0; but NaN if it is NaN, as an output that was not set is. */
static inline double wgi_of_constant(wg_real y) { return y.value == y.value ? 0 : y.value; }
/* Empties the tape for an evaluation: without recording if `passive`; otherwise with `width`
 * tangents, or, for 0, recording. */
void wgi_drive_begin(wgi_drive *d, int passive, size_t width);
/* Calls the function and checks what it left. */
wg_status wgi_drive_call(wgi_drive *d);
/* Does begin, inputs with the values a, and call; the other one with one tangent, of seeds v.
 */
wg_status wgi_drive_run(wgi_drive *d, int passive, const double *a);
wg_status wgi_drive_tangent(wgi_drive *d, const double *a, const double *v);
/* g = J' w, after wgi_drive_run. */
wg_status wgi_drive_reverse(wgi_drive *d, const double *w, double *g);
/* Gives WG_ENULL: an argument of so many entries is NULL. */
wg_status wgi_drive_null_argument(const wgi_drive *d, const char *name, size_t n);
/* Lane l of the adjoint of input i, after a sweep. */
static inline double wgi_drive_input_adjoint(const wgi_core *c, size_t i, size_t l) {
    return i + 1 < c->swept ? wgi_adjoints(c)[(i + 1) * c->lanes + l] : 0;
}
/* Lane l of the tangent of input i. */
static inline void wgi_drive_seed_input(wgi_core *c, size_t i, size_t l, double v) {
    ((double *)(void *)c->tangents.base)[(i + 1) * c->width + l] = v;
}
/* Gives WG_EMODE if the tape keeps no code. */
wg_status wgi_drive_needs_code(wgi_drive *d);
/* Resets the tape and restores its mode; a failure stays, with its message. Gives the status.
 */
wg_status wgi_drive_close(wgi_drive *d, wg_status s);

#endif
