/* SPDX-License-Identifier: MIT */
/* The tape: its life, positions, status, sweeps, and what can be read from it.
 *
 * One thread uses a tape at a time; there is no global state. Recording calls keep the first
 * failure as the status of the tape (sticky) until a reset, or a rewind to before it. */
#ifndef WENGERT_TAPE_H
#define WENGERT_TAPE_H

#include <wengert/types.h>

WG_BEGIN_DECLS

/* One record, 32 bytes: adj[in0] += jac0 adj[out]; adj[in1] += jac1 adj[out]. */
typedef struct wgi_record {
    uint32_t in0, out, in1, kind;
    double jac0, jac1;
} wgi_record;

/* A word of kept code that is two numbers: the head of an entry, two slots. */
typedef struct wgi_halves {
    uint32_t first, second;
} wgi_halves;

/* The part of the tape that the recorders in statement.h and small.h touch. */
struct wg_tape {
    wgi_record *top;    /* the next record */
    wgi_record *limit;  /* the fast path ends where top >= limit */
    /* Read as one word, the stamp in its high half. */
    uint32_t below_stamp; /* 0 */
    uint32_t stamp;       /* of handles of this tape and generation; never 0 */
    uint32_t slots;       /* the next slot; in a word of its own, for store forwarding */
    /* 0: a statement of constants alone is a constant, without more ado. Not 0 on a tape in
     * failure, and on one that looks at every statement. */
    uint64_t watches;
    struct wgi_block *last_block;
    char *payload_top, *payload_end; /* room for values of matrices; a multiple of 32 bytes */
    uint64_t record_origin;          /* the address that record number 0 would have */
    /* as limit, for a tape that keeps its code; then code, values and code_words are set, too:
     */
    wgi_record *kept_limit;
    uint64_t *code;                  /* word number 0 of the code */
    double *values;                  /* the values of all slots */
    uint64_t code_words;             /* where the next entry of the code goes */
};

/* ---- life ------------------------------------------------------------------------------ */

/* wg_tape_new - a tape. NULL options: defaults. Result: NULL when out of memory, or when the
 * budget or the caller's buffer is too small to hold a tape, or a flag does not exist. */
WG_API wg_tape *wg_tape_new(const wg_options *opt);

/* wg_tape_free - gives everything back. NULL is allowed. */
WG_API void wg_tape_free(wg_tape *t);

/* wg_tape_reset - forgets all variables and clears the status; memory is kept, unless there was
 * too little of it: then all is given back, and the next recording finds room.
 * It does nothing in a function of the user's that works for this tape: that of an operation,
 * or one that gives numbers to it or is told of progress.
 * Cost: O(1), whatever was recorded before. */
WG_API void wg_tape_reset(wg_tape *t);

/* wg_tape_mark - the current position. */
WG_API wg_mark wg_tape_mark(const wg_tape *t);

/* wg_tape_rewind - goes back to a position: what was recorded since is forgotten, and a failure
 * since then is cleared. The depth of pauses stays. A variable from after the mark must not be
 * used again: a sweep that gets there finds it while its slot is not in use, a tape with
 * WG_CHECKED always.
 * Errors: WG_ENULL, WG_EMARK; WG_EGUARD, or the status of a lookup or a matrix operation: a
 * replay was stopped by it, only a reset helps; WG_ENOMEM, WG_EBUDGET: no room for the note
 * that a further branch begins; WG_EMODE: where a reset does nothing, and on the tape of a
 * segment. */
WG_API WG_MUST_CHECK wg_status wg_tape_rewind(wg_tape *t, wg_mark m);

/* wg_tape_pause, wg_tape_resume - while paused, statements are evaluated and not recorded:
 * their results are constants. Pauses nest.  Errors: WG_ENULL; WG_EMODE: not paused. */
WG_API wg_status wg_tape_pause(wg_tape *t);
WG_API wg_status wg_tape_resume(wg_tape *t);

/* wg_tape_own - from now on the tape is used by the calling thread, which nobody else may do at
 * the same time. Only tapes with WG_CHECKED look: there whoever records, sweeps, resets or
 * rewinds in another thread than the one that made or last owned the tape gets WG_ETHREAD, and
 * so does the tape, until its owner resets it.   Errors: WG_ENULL. */
WG_API wg_status wg_tape_own(wg_tape *t);

/* wg_tape_progress - whom long calls on this tape tell how far they are, from now on and across
 * resets; it is copied. NULL: nobody, as at first. These calls are: maps, scans and
 * checkpointed loops, as they are recorded, swept or replayed; making functions and callables;
 * compiling them; wg_branches_evaluate; wg_model_run of models on this tape.
 * Stopped: WG_ESTOPPED, and all is as after any other failure of the same call. What was being
 *          recorded keeps the status until a reset, or a rewind to before it. A sweep leaves
 *          the recording as good as before, and no adjoints; a replay can only be reset. There
 *          is no function then, no process of a compiler, and no file of it. Results that were
 *          to be written, of wg_branches_evaluate and wg_model_run, are in part the new ones;
 *          variables of a model are as before.
 * The callback does not use the tape: calls on it are refused meanwhile (WG_EMODE), a reset
 * does nothing. It does not free it, and it returns: the tape stays closed after a longjmp.
 * Errors: WG_ENULL. */
WG_API wg_status wg_tape_progress(wg_tape *t, const wg_progress *progress);

/* wg_tape_forward - an empty tape (new or reset) becomes a forward one with `width` tangents
 * per variable and no records; 0 makes it an ordinary one again. Seed with wg_tangent_seed.
 * Errors: WG_ENULL; WG_EARG: width over 64; WG_EMODE: the tape is not empty; WG_ENOMEM. */
WG_API WG_MUST_CHECK wg_status wg_tape_forward(wg_tape *t, size_t width);

/* wg_tape_status - the first failure since the last reset, or WG_OK. NULL: WG_ENULL. */
WG_API wg_status wg_tape_status(const wg_tape *t);
/* wg_tape_message - what failed last, and where: the failure of the tape, or of a call that
 * could not do its work and left the recording as it was (a sweep without a seed, a variable of
 * another tape). Calls that only read, of a const tape, leave none: their status is all. Empty
 * when nothing did. Valid until the next call. */
WG_API const char *wg_tape_message(const wg_tape *t);

/* wg_tape_refuse - a callback of the user's says why it returns s: the text, of which 349 bytes
 * are copied, becomes the message, to which the call that made the callback adds its name and
 * the text of s. The recording is as good as before; a tape that has failed keeps its message.
 *
 *     if (rate == NULL) return wg_tape_refuse(t, WG_ENULL, "growth: no rate");
 *
 * Result: s. WG_OK, or t NULL: nothing is said; text NULL: the text of s. An operation of the
 * user's says it by wg_block.why. */
WG_API wg_status wg_tape_refuse(wg_tape *t, wg_status s, const char *text);

/* wg_tape_stats - counts and bytes.  Errors: WG_ENULL. */
WG_API wg_status wg_tape_stats(const wg_tape *t, wg_stats *out);

/* ---- variables -------------------------------------------------------------------------- */

/* wg_input - an independent variable. On failure: a passive NaN, and the tape's status. */
WG_API wg_real wg_input(wg_tape *t, double value);
/* wg_inputs - n of them, x[i] with value a[i], in consecutive slots. */
WG_API wg_status wg_inputs(wg_tape *t, size_t n, const double *a, wg_real *x);

static inline wg_real wg_constant(double value) {
    wg_real x = {value, {0, 0}};
    return x;
}

/* wg_value - the number of a variable. What follows from it, also the way an `if` on it goes,
 * is invisible to the tape: a replay or a function cannot know (wg_lt(t, x, y) can, and
 * wg_select_lt need not). Compiled with -DWG_FIND_VALUES every use is a warning, and WG_CHECKED
 * looks at callbacks (wg_check_branches): ways to find such branches. */
#ifdef WG_FIND_VALUES
__attribute__((deprecated("what follows from this number is invisible to the tape: for a branch "
                          "see wg_lt(t, x, y) and wg_select_lt")))
#endif
static inline double wg_value(wg_real x) { return x.value; }

/* wg_label - a name for a variable in dumps and messages. The text is copied.
 * Errors: WG_ENULL, WG_ESTALE, WG_ENOMEM. */
WG_API wg_status wg_label(wg_tape *t, wg_real x, const char *name);

/* ---- backward ---------------------------------------------------------------------------
 * Adjoints live in the slots of the tape. A sweep never clears what it has passed: the adjoint
 * of every intermediate can be read afterwards, the seeds of the outputs among them. A failure
 * of the tape makes every adjoint read NaN. */

/* wg_reverse - clears all adjoints, gives y the adjoint 1, sweeps back to the inputs. Asked
 * twice, it gives the same answer twice.
 * Cost: in proportion to what y depends on, and to what the sweep before had reached, whatever
 *       else was recorded; up to pages of 512 variables.
 * Errors: WG_ENULL, WG_ESTALE, WG_ENOMEM; WG_ESEED: y is
 * a constant; the tape's own status. Of every
 *         sweep: WG_ENONFINITE (traced tapes); WG_EMODE: an operation's vjp calls it, or would
 *         reset or rewind the tape, which is refused. */
WG_API WG_MUST_CHECK wg_status wg_reverse(wg_tape *t, wg_real y);

/* wg_reverse_seeds - the same for m outputs with seeds w: adjoints of sum_j w[j] y[j]. An
 * output named twice counts twice; constants among y are skipped, all of them constants:
 * WG_ESEED. */
WG_API WG_MUST_CHECK wg_status wg_reverse_seeds(wg_tape *t, size_t m, const wg_real *y,
                                                const double *w);

/* wg_reverse_lanes - k sweeps at once: lane l has the seeds w[j * k + l] on y[j].
 * Shapes: w m-by-k row-major; 1 <= k <= 64. Read with wg_adjoint_lane.
 * Of scalar operations each lane has the bits of a sweep of its own. What an operation on
 * matrices adds to an adjoint in several parts is summed up first here, and there part by part:
 * the last bits may differ where the adjoint had got something before. */
WG_API WG_MUST_CHECK wg_status wg_reverse_lanes(wg_tape *t, size_t k, size_t m,
                                                const wg_real *y, const double *w);

/* wg_reverse_check - would wg_reverse_lanes begin, or for k = 1 wg_reverse and
 * wg_reverse_seeds? It makes the room for that: after it what may fail is an operation.
 * Adjoints of k lanes are 0 then.
 * Errors: theirs; after WG_ESEED they are 0, too. */
WG_API WG_MUST_CHECK wg_status wg_reverse_check(wg_tape *t, size_t k, size_t m,
                                                const wg_real *y);

/* The sweep in parts: clear, seed (adds), sweep from the later mark down to the earlier one.
 * wg_sweep leaves the adjoints of all slots below `low` complete with what flows into them.
 * Errors: WG_ENULL, WG_ENOMEM, WG_EBUDGET; WG_ESTALE; WG_ESEED: y is a constant; WG_EMARK, also
 *         of marks in the wrong order; WG_EMODE: a forward tape, or no wg_adjoints_clear since
 *         y or `high` was recorded; those of every sweep. */
WG_API WG_MUST_CHECK wg_status wg_adjoints_clear(wg_tape *t);
WG_API WG_MUST_CHECK wg_status wg_adjoint_seed(wg_tape *t, wg_real y, double w);
WG_API WG_MUST_CHECK wg_status wg_sweep(wg_tape *t, wg_mark high, wg_mark low);

/* wg_adjoint - of any variable, after a sweep. Constants and variables recorded after the swept
 * root: 0. NaN: no sweep yet, a stale variable, or a tape in failure. */
WG_API double wg_adjoint(const wg_tape *t, wg_real x);
WG_API double wg_adjoint_lane(const wg_tape *t, wg_real x, size_t lane);

/* wg_adjoints_lanes - g[l * ld + i] = lane l of the adjoint of x[i], for the first k lanes.
 * Shapes: x of n, g k-by-n row-major, ld >= n.
 * Errors: WG_ENULL, WG_ESTALE, WG_ESEED; WG_EARG: more lanes than were swept; WG_ESHAPE. */
WG_API WG_MUST_CHECK wg_status wg_adjoints_lanes(const wg_tape *t, size_t n, const wg_real *x,
                                                 size_t k, double *g, size_t ld);
/* wg_adjoints - g[i] = adjoint of x[i];  wg_adjoints_add - g[i] += adjoint of x[i].
 * Shapes: x, g of n.   Errors: WG_ENULL, WG_ESEED; WG_ESTALE: wg_adjoints may have written the
 * elements before the stale one, wg_adjoints_add none. */
WG_API WG_MUST_CHECK wg_status wg_adjoints(const wg_tape *t, size_t n, const wg_real *x,
                                           double *g);
WG_API WG_MUST_CHECK wg_status wg_adjoints_add(const wg_tape *t, size_t n, const wg_real *x,
                                               double *g);

/* ---- forward ---------------------------------------------------------------------------- */

/* On a forward tape, lane l of a tangent. wg_tangent_seed - sets that of an input, before it is
 * used.   Errors: WG_ENULL, WG_ESTALE; WG_EMODE: the tape is not a forward one;
 * WG_EARG: the lane; WG_ESEED: a constant.
 * wg_tangent - of any variable; of a constant 0. NaN: a stale variable, no such lane, a tape in
 * failure. */
WG_API WG_MUST_CHECK wg_status wg_tangent_seed(wg_tape *t, wg_real x, size_t lane, double v);
WG_API double wg_tangent(const wg_tape *t, wg_real x, size_t lane);

/* ---- second order, on a tape opened with WG_KEEP_CODE ------------------------------------ */

/* wg_tape_hvp - hv = (d2 y / dx2) v for the inputs x, at the recorded point, from the tape
 * alone. Sweeps: the adjoints of y can be read afterwards. The local second derivatives are
 * computed once and kept until something is recorded. Operations on matrices go by vjp, jvp and
 * `adjoint` of their wg_block_op.
 * Shapes: x, v, hv of n.
 * Errors: WG_ENULL, WG_ESTALE, WG_ESEED, WG_ENOMEM, WG_EBUDGET; WG_EMODE: the tape keeps no
 *         code, or an operation has no second derivatives; what an operation returns, as
 *         WG_EDEGENERATE. Then hv is as it was.
 * Where a WG_OP_ALWAYS is on the tape y may be a constant, and the other ends take the same
 * passes.
 * wg_tape_hvp_check - would wg_tape_hvp begin? It makes the room for that, the local second
 *         derivatives too: after it what may fail is an operation, or memory for what an
 *         `adjoint` records. Adjoints of before may be gone. */
WG_API WG_MUST_CHECK wg_status wg_tape_hvp_check(wg_tape *t, wg_real y, size_t n,
                                                 const wg_real *x);
WG_API WG_MUST_CHECK wg_status wg_tape_hvp(wg_tape *t, wg_real y, size_t n, const wg_real *x,
                                           const double *v, double *hv);
/* wg_tape_hessian - the whole matrix H, n-by-n, both triangles (equal to the last bit),
 * column-major, ld >= n. Several directions are swept at once. */
WG_API WG_MUST_CHECK wg_status wg_tape_hessian(wg_tape *t, wg_real y, size_t n,
                                               const wg_real *x, double *h, size_t ld);

/* wg_tape_verify - decodes every kept statement, recomputes its value from the values of its
 * operands and compares bit for bit.
 * Errors: WG_ENULL, WG_EMODE; WG_EMISMATCH: the message names the statement. */
WG_API WG_MUST_CHECK wg_status wg_tape_verify(wg_tape *t);

/* wg_tape_replay - new values for the inputs x (n of them, in the order of their creation), all
 * values and local derivatives recomputed. A recorded comparison that comes out differently:
 * WG_EGUARD, and the tape has to be recorded anew. Variables keep their slots; read new values
 * with wg_tape_value, and set x.value to it before recording more with an old handle. A replay
 * is not traced. */
WG_API WG_MUST_CHECK wg_status wg_tape_replay(wg_tape *t, size_t n, const wg_real *x,
                                              const double *a);
/* wg_tape_value - the value a slot holds now. NaN: no code kept, or stale. */
WG_API double wg_tape_value(const wg_tape *t, wg_real x);

/* ---- looking into the tape -------------------------------------------------------------- */

/* wg_tape_dump - one line per statement: slot, value, operands with their local derivatives,
 * and the operations, place and label where they are kept.
 * wg_tape_dot  - the same as a Graphviz digraph.   Errors: WG_ENULL, WG_EWRITE. */
WG_API WG_MUST_CHECK wg_status wg_tape_dump(const wg_tape *t, wg_write *write, void *ctx);
WG_API WG_MUST_CHECK wg_status wg_tape_dot(const wg_tape *t, wg_write *write, void *ctx);

/* wg_print - a variable: value, adjoint, slot, label and place, on one line. */
WG_API wg_status wg_print(const wg_tape *t, wg_real x, wg_write *write, void *ctx);

/* wg_write_file - a wg_write for a FILE *, given as ctx. */
WG_API int wg_write_file(void *file, const char *text, size_t bytes);

WG_END_DECLS

#endif
