/* SPDX-License-Identifier: MIT */
/* A loop of C as one record: its body is run for the first two turns only (WG_TURNS_EACH: for
 * all of them), of which its function is made, and where the operands of each turn stand; that
 * is evaluated at all turns (wg_map, wg_scan of map.h). wengert-convert writes these calls for
 * loops that a comment names (doc/CONVERT.md).
 *
 *     static const char site;
 *     wg_turns *const r = wg_turns_begin(t, &site, "file.c:12", 0);
 *     for (int i = 0; i < n; i++)
 *         if (wg_turns_next(r)) {
 *             wg_real e = wg_let(r->tape, wg_sub(wg_turns_load_number(r, &y[i]),
 *                                                wg_turns_load(r, &a)));
 *             wg_turns_add(r, &s, wg_let(r->tape, wg_square(e)));
 *         }
 *     if (wg_turns_end(r) != WG_OK) ...
 *
 * What a turn reads and writes of memory goes through these calls; between them it computes on
 * r->tape. All turns have to take the same way, and addresses and whole numbers have to grow by
 * the same amount from each turn to the next: who writes the loop knows that, and of what
 * differs between the first two turns it is found. What does neither, as x[index[i]], goes
 * through calls .._each. What memory turns share is checked for all of them. */
#ifndef WENGERT_TURNS_H
#define WENGERT_TURNS_H

#include <wengert/statement.h>

WG_BEGIN_DECLS

/* A loop that is being recorded; of the tape, which has one at a time. `tape` is for the
 * body only. */
typedef struct wg_turns {
    wg_tape *tape;
} wg_turns;

/* Flags.
 * WG_TURNS_CARRIED: numbers that a turn leaves and the next one reads, or, of elements as in
 *          y[i] = y[i - 2], one of the 64 turns behind it, are the state of a scan. Otherwise
 *          they are refused.
 * WG_TURNS_EACH: the body is run for all turns, for calls .._each, and so that whole numbers
 *          are right that it counts. Its function is still that of the first one: the others
 *          compute with numbers that mean nothing, and take down where they are. */
enum { WG_TURNS_CARRIED = 1, WG_TURNS_EACH = 2 };

/* wg_turns_begin - opens a loop.
 * site:    an address that is this loop's, as long as the tape lives: functions are kept by it,
 *          with the tape, and found again where all turns take the way that they took then.
 * where:   what messages call the loop; stays as it is until the end.
 * Cost:    none yet. The function is made at the end of the first call: its derivatives, too.
 * Errors:  (NULL, which all calls here take; the tape keeps the status)  WG_ENULL; WG_EMODE:
 *          another loop is open (a reset closes it), or t is a segment of a parallel loop;
 *          WG_ENOMEM, WG_EBUDGET. */
WG_API wg_turns *wg_turns_begin(wg_tape *t, const void *site, const char *where,
                                unsigned flags);
/* wg_turns_next - begins a turn: is its body to be run? Counts. NULL: 0. */
WG_API int wg_turns_next(wg_turns *r);

/* wg_turns_load, wg_turns_load_number - what stands there: what this turn has stored, or, of
 * before the loop, an operand: with derivative, if it is a variable of the loop's tape, without
 * if it is a number.
 * wg_turns_store, .._number - assigns to it. After the loop *p is what its last turn left.
 * wg_turns_add, .._number - adds to it: what no turn reads is the sum over all turns, which
 *          begins with what stands there. Sums are added in blocks of turns: their last bits
 *          are others than a loop's. A number gets the value of what is assigned or added to
 *          it: its derivative is 0, for what reads it in a turn, too. */
WG_API wg_real wg_turns_load(wg_turns *r, const wg_real *p);
WG_API wg_real wg_turns_load_number(wg_turns *r, const double *p);
WG_API void wg_turns_store(wg_turns *r, wg_real *p, wg_real x);
WG_API void wg_turns_store_number(wg_turns *r, double *p, wg_real x);
WG_API void wg_turns_add(wg_turns *r, wg_real *p, wg_real x);
WG_API void wg_turns_add_number(wg_turns *r, double *p, wg_real x);
/* wg_turns_local - memory of the turn: a variable or an array that begins here, with constants
 * in it, the same in each turn (otherwise WG_EARG, at the end). It has no more to do with what
 * stood there before. */
WG_API void wg_turns_local(wg_turns *r, const void *p, size_t bytes);
/* wg_turns_private - memory that was there before, but is of the turn: it reads nothing there
 * that it has not written (otherwise WG_EARG, at the end), and after the loop nobody reads
 * it: it stays as it was. */
WG_API void wg_turns_private(wg_turns *r, const void *p, size_t bytes);
/* wg_turns_whole - a whole number as a number, which may be another one in each turn. */
WG_API wg_real wg_turns_whole(wg_turns *r, double x);
/* wg_turns_load_each, wg_turns_load_number_each, wg_turns_whole_each - likewise, but anywhere
 * in each turn, and any number: x[index[i]], rows[i][k], a float.
 * wg_turns_add_each - adds to a variable that is anywhere in each turn; several turns, and
 *          several such calls, may add to one.
 * What other calls of the loop write, or these add to, is not read so, and they add to nothing
 * that is read or assigned to, nor is any of it memory of a turn (WG_EARG, here or at the
 * end).
 * Cost:    8 to 16 bytes per turn and call, kept for the next loop or until their room is
 *          needed; some 10 ns for each; a statement per addition.
 * Errors:  (the tape keeps the status)  WG_EMODE: the loop is without WG_TURNS_EACH. */
WG_API wg_real wg_turns_load_each(wg_turns *r, const wg_real *p);
WG_API wg_real wg_turns_load_number_each(wg_turns *r, const double *p);
WG_API wg_real wg_turns_whole_each(wg_turns *r, double x);
WG_API void wg_turns_add_each(wg_turns *r, wg_real *p, wg_real x);
/* wg_turns_way - what a branch depends on: gives it back. It has to be the same in both
 * turns. */
WG_API long long wg_turns_way(wg_turns *r, long long way);

/* wg_turns_end - makes the record, and assigns what it gives.
 * Cost:    one record of a map or scan, a gather of each kind of variables that turns read, and
 *          8 bytes per turn and number that is no variable: those are copied. Where the way and
 *          what is read are as in a loop before at this site, its function is used, otherwise
 *          one is made: kept until the tape is freed, or, of many, or where their room in the
 *          budget is needed, until resets after the last use.
 * Errors:  (the tape keeps the status, what the loop has assigned to so far is NaN)  WG_EARG:
 *          turns that were run differ, also in which places are one and the same, or one turn
 *          reads or overwrites what another one writes, beside WG_TURNS_CARRIED; those of
 *          wg_function_extract, wg_callable_new, wg_map and wg_scan. WG_ENULL, and nothing
 *          is kept: r is NULL. WG_ESTALE: the tape was reset since wg_turns_begin. */
WG_API wg_status wg_turns_end(wg_turns *r);

WG_END_DECLS

#endif
