/* SPDX-License-Identifier: MIT */
/* Parallel loops: statements that several threads record, each on a segment of its own, become
 * a part of one recording, and the sweep goes through the segments side by side.
 *
 *     wg_parallel_begin(p, t);
 *     for each segment k, in any thread, in any order:   (wg_parallel_run, WG_OPENMP_FOR)
 *         wg_tape *s = wg_parallel_tape(p, k);
 *         for (size_t i = wg_parallel_from(p, k, n); i < wg_parallel_from(p, k + 1, n); i++)
 *             v[i] = wg_let(s, ...);
 *     wg_parallel_join(p);
 *     wg_parallel_adopt(p, n, v);
 *
 * The threads are whoever's: of OpenMP (openmp.h has the loop as one line), of POSIX, of C11,
 * or of the pool (wg_parallel_run). What a segment is, is a matter of the loop: of which
 * iterations, and of how many segments. So the recording is the same, and so is every bit of
 * what is computed from it, for any number of threads.
 *
 * In a segment: variables of t from before the loop, as they are, and those of the segment
 * itself, in statements, in operations on arrays (array.h), in comparisons, and as inputs
 * (wg_input). Operations on matrices, wg_tape_keep and parallel loops fail by name (WG_EMODE),
 * and so do calls that do something else than to record; elements of matrices of t (wg_mat_at)
 * are variables. A variable of another segment is found, with WG_CHECKED at the statement,
 * otherwise at the join: WG_ESTALE.
 * Meanwhile t is closed: whatever uses it gives WG_EMODE. All modes of a tape go through the
 * loop: forward, paused, traced, checked, keeping code and places. Memory callbacks of the tape
 * that p was made on are called in the threads of the loop.
 *
 * Adjoints: in the sweep each segment adds to a variable from before as on one tape, where no
 * other uses it or one near it (of the same 64 slots). Where others do, the loop has rounds, 2
 * to 6 of them, the fewest with which such segments are in different ones: segment k is swept
 * in round k % rounds, and adds to what those of earlier rounds have left. So the adjoint is
 * that of the loop on one tape where segments stand in such an order that the sweep comes to
 * them round after round. Rounds have 4 segments at least, and do not count those that use what
 * more than 6 segments use, a parameter of all, say: of that each has an adjoint of its own,
 * which begins with that of the variable. If one segment has added to it, that is the adjoint,
 * as on one tape; if several have, it is that of the first of them, plus what the others have
 * added, from the last one on. Where there are no such rounds, it is so with all variables that
 * several use. A gradient differs from that of the loop on one tape in the order of these
 * additions, by rounding or where one of them overflows, and in nothing else: where each
 * variable is used by one segment, in no bit. Sweeps of one adjoint and of several go side by
 * side; second derivatives, replays and functions see one recording, and go through it as
 * through any other. */
#ifndef WENGERT_PARALLEL_H
#define WENGERT_PARALLEL_H

#include <wengert/tape.h>
#include <wengert/threads.h>

WG_BEGIN_DECLS

/* Segments, used by one loop after the other. */
typedef struct wg_parallel wg_parallel;

/* wg_parallel_new - `segments` of them, which is how much there is to share out: 16 to 64 for a
 * handful of threads. Their memory is of the budget of t; loops may be of any tape.
 * threads: join loops, and sweep what they have recorded, until that is reset; NULL: the caller
 *          does. Not freed before.
 * Cost:    a tape for each segment, whose memory is kept for the next loop; 8 bytes for each
 *          segment of each loop of a recording.
 * Errors:  WG_ENULL; WG_EARG: no segment, or more than 1024; WG_ENOMEM, WG_EBUDGET. *out is
 *          NULL then.
 * wg_parallel_free - not while a loop is open. Recordings stay as they are.
 *          Not while another thread uses the tape of the last loop.
 * Threads: p belongs to one thread, as a tape does. */
WG_API WG_MUST_CHECK wg_status wg_parallel_new(wg_tape *t, size_t segments, wg_threads *threads,
                                               wg_parallel **out);
WG_API void wg_parallel_free(wg_parallel *p);
/* How many; NULL: 0. */
WG_API size_t wg_parallel_segments(const wg_parallel *p);

/* wg_parallel_from - the first iteration of segment k of n iterations that are shared out
 * evenly, in their order; that of the next segment, k + 1, is where it ends. p NULL: n. */
WG_API size_t wg_parallel_from(const wg_parallel *p, size_t k, size_t n);

/* wg_parallel_begin - a loop on t begins: t is closed until the join. Not while another thread
 *          uses the tape of the last loop of p, which p leaves.
 * Errors:  kept by t; segments record nothing then, and variables are NaN: WG_ENULL; WG_EMODE:
 *          a loop is open on p, or t is a segment; WG_ESLOTS: t has 2^31 variables or more;
 *          WG_ESTALE: a variable of an earlier loop was used and not adopted; the tape's
 *          own. */
WG_API wg_status wg_parallel_begin(wg_parallel *p, wg_tape *t);

/* wg_parallel_tape - the tape of segment k, from now on that of the calling thread
 * (wg_tape_own). One thread uses it at a time. NULL: there is no such segment. A segment has at
 * least 2^30 / segments variables. */
WG_API wg_tape *wg_parallel_tape(wg_parallel *p, size_t k);

/* wg_parallel_run - calls f(ctx, k) for every segment k, in the threads of p, each of which
 * begins with a share of segments that stand side by side, the same in every loop. For who has
 * no threads of his own. After a failure no further ones are begun.
 * Errors:  WG_ENULL; what f returned, of the lowest k that was begun: the join is called all
 *          the same. */
WG_API WG_MUST_CHECK wg_status wg_parallel_run(wg_parallel *p, wg_task *f, void *ctx);

/* What segment k has recorded so far is looked at by the thread that has recorded it, while it
 * is in its cache; the join looks at the rest. p NULL, or no such segment: nothing. Gives 0. */
WGI_API int wgi_parallel_recorded(wg_parallel *p, size_t k);

/* wg_parallel_join - the loop has ended, in all threads: what segments have recorded becomes a
 * part of the tape, segment after segment. Recorded variables stay as they are until they are
 * adopted.
 * Cost:    each record is read and written once; and where the loop is not as that was that
 *          stood at the same position of the tape before a reset or rewind, as many records
 *          and variables in each segment, copied; nothing is allocated in a steady state.
 * Errors:  kept by the tape: what has failed in the first segment that has failed; WG_EMODE: no
 *          loop is open, the tape was reset, rewound or freed since, or a segment was left
 *          paused; WG_ESTALE: a variable of another segment, or of an earlier loop and not
 *          adopted; WG_ENOMEM, WG_EBUDGET, WG_ESLOTS. */
WG_API wg_status wg_parallel_join(wg_parallel *p);

/* wg_parallel_adopt - after the join, until the next loop begins or the tape is reset, rewound
 * or freed, as that of a driver's own may be when the driver returns: variables of segments
 * among v[0..n) become variables of the tape, in place; others, and constants, stay as they
 * are. Only what is used after the loop needs it. Used without it, a sweep, a driver or the
 * next loop finds it (WG_ESTALE), while the loops since have had less than 2^30 / segments
 * variables in a segment; with WG_CHECKED the statement does, always.
 * Errors:  WG_ENULL; WG_EMODE: no loop was joined, or its tape is freed; WG_ESTALE: one is of
 *          no segment of the last loop, nor of the tape: those before it are adopted; the
 *          tape's own: then all are NaN. */
WG_API WG_MUST_CHECK wg_status wg_parallel_adopt(wg_parallel *p, size_t n, wg_real *v);

/* How wg_parallel_reduce puts parts together. */
typedef enum wg_reduction {
    WG_REDUCE_SUM,     /* wg_sum */
    WG_REDUCE_PRODUCT, /* wg_product */
    WG_REDUCE_MINIMUM, /* wg_minimum; the derivative is split evenly over ties */
    WG_REDUCE_MAXIMUM
} wg_reduction;

/* wg_parallel_reduce - y[j] = the sum (or other) over k of part[k * n + j], what segment k has
 * made of its iterations, in the order of segments; to be called after the join. Parts are
 * adopted. A part that a segment has no iterations for is the neutral element, as
 * wg_constant(0) for sums.
 * Shapes:  part of segments * n, y of n.
 * Cost:    one statement for each j.
 * Errors:  those of wg_parallel_adopt; WG_EARG: no such reduction; what the statement gives.
 *          y is NaN then. */
WG_API wg_status wg_parallel_reduce(wg_parallel *p, wg_reduction how, size_t n, wg_real *part,
                                    wg_real *y);

WG_END_DECLS

#endif
