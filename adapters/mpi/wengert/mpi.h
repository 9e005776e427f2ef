/* SPDX-License-Identifier: MIT */
/* MPI: communication of variables. Each call is that of MPI with another name, and a record of
 * the tape: values are communicated at once, tangents of a forward tape with them, and adjoints
 * the other way in every sweep.
 *
 *     wg_mpi *m = wg_mpi_new(MPI_COMM_WORLD, 0);
 *     wg_mpi_sendrecv(t, x, n, right, 0, y, n, left, 0, m);      y: variables, of the left rank's x
 *     wg_mpi_allreduce(t, &part, &sum, 1, WG_MPI_SUM, m);
 *     wg_mpi_reverse(t, sum, rank == 0, m);                      the gradient of one sum
 *
 * Every rank has a tape of its own. What is received is a variable on every rank, whatever it
 * was where it came from. A sweep replays the communications of the tape in reverse, so all
 * ranks sweep together, and as often (wg_mpi_reverse, wg_mpi_reverse_lanes, drivers with a
 * callback that communicates): a rank without an output takes part with a constant. The sweep
 * gives each rank the derivative, by its own inputs, of the sum of what is seeded on all ranks.
 * It begins at the end of the tape, whatever the root; the marks of wg_sweep are to be the same
 * on all ranks. Drivers call as many times on every rank only if they have as many inputs and
 * outputs there.
 *
 * One-sided communication is not there, nor is MPI_Put, MPI_Get, MPI_Accumulate under another
 * name: where one rank writes into another's memory, that rank has no call to record, and
 * nothing on its tape to sweep. What would be put or got is sent and received.
 *
 * Second derivatives but wg_mpi_hvp and wg_mpi_hessian, functions, sparsity patterns,
 * preaccumulation of what communicates are refused by name, and so is what communicates in an
 * equation of wg_implicit, or in a step of wg_checkpoint whose region has not WG_REGION_ALWAYS:
 * with it all ranks call wg_checkpoint with as many steps, regions and stored states, and what
 * a step communicates is repeated in that order.
 *
 * Arrays x are read before y is written: they may be the same. A wg_mat is sent as its
 * elements, column after column; views, strided and transposed ones too. Numbers of one call:
 * at most INT_MAX / 64, over all ranks.
 *
 * Errors, of all calls: WG_ENULL; WG_EARG: a rank, tag, root or count; WG_ESHAPE: what comes
 * has another size; WG_ENOMEM; WG_ECALLBACK: another failure of MPI, whose text is in the
 * message; those of wg_apply. They are kept by the tape, and results are NaN. Of a sweep:
 * returned by it. With WG_MPI_CHECKED a failure on one rank, from whatever cause, becomes one
 * of every rank's next communications, and mistakes that would otherwise be a deadlock become
 * failures: another call, root, operation or size than on another rank (WG_EMISMATCH,
 * WG_ESHAPE), a sweep on some ranks only. Collective calls are agreed upon first, which costs a
 * message of 48 bytes from each rank to each; who waits for a message listens for failures, and
 * is told (WG_EMISMATCH) when the rank it waits for is in a collective call and has sent
 * nothing that is not received. Then wg_mpi_clear makes the communicator usable again. Without
 * it only wg_mpi_reverse, wg_mpi_reverse_lanes, wg_mpi_hvp and wg_mpi_hessian agree before they
 * begin, by an MPI_Allreduce of 40 bytes; a root that is refused, or no room for adjoints and
 * tangents, on one rank is known to all by then. What fails elsewhere on one rank leaves others
 * waiting, as in any program with MPI: room for a message, too, and for what the adjoint of
 * a product, or of ScaLAPACK's operations, records. Ranks that wait for messages of each
 * other, which were never sent, wait in either mode. */
#ifndef WENGERT_MPI_H
#define WENGERT_MPI_H

#include <mpi.h>
#include <wengert/function.h>
#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* ---- communicators ---------------------------------------------------------------------- */

/* Duplicates of a communicator, and what is pending on them. It lives as long as what was
 * recorded with it. One thread at a time, as of a tape; MPI_THREAD_FUNNELED is enough. */
typedef struct wg_mpi wg_mpi;

enum { WG_MPI_CHECKED = 1 };

/* wg_mpi_new - by all ranks of comm, with the same flags; a topology comes along. comm may be
 * freed then.
 * NULL: on every rank, when it could not be made on one; of MPI_COMM_NULL, of an
 * intercommunicator, before MPI_Init and after MPI_Finalize. */
WG_API wg_mpi *wg_mpi_new(MPI_Comm comm, unsigned flags);
/* wg_mpi_free - by all ranks, before MPI_Finalize. NULL is allowed. Errors: with
 * WG_MPI_CHECKED, what another rank was doing instead; WG_EMODE: after MPI_Finalize, when
 * only memory is left to be freed. */
WG_API wg_status wg_mpi_free(wg_mpi *m);
/* wg_mpi_clear - by all ranks after a failure: receives what is still under way, and forgets
 * the failure. Tapes are reset by their owners. Without WG_MPI_CHECKED: WG_EMODE. */
WG_API WG_MUST_CHECK wg_status wg_mpi_clear(wg_mpi *m);
/* wg_mpi_message - what failed last here; never NULL. Valid until the next call. */
WG_API const char *wg_mpi_message(const wg_mpi *m);
WG_API int wg_mpi_rank(const wg_mpi *m);
WG_API int wg_mpi_size(const wg_mpi *m);

/* ---- sweeps ----------------------------------------------------------------------------- */

/* wg_mpi_reverse - by all ranks: adjoints of the sum of w y over all ranks; y may be a
 * constant.
 * wg_mpi_reverse_lanes - k sweeps at once, with the seeds w[j k + l] on y[j]; the same k
 *          everywhere. All lanes of an adjoint travel in one message.
 * Errors:  as wg_reverse_seeds and wg_reverse_lanes, and on all ranks where one has failed
 *          before. */
WG_API WG_MUST_CHECK wg_status wg_mpi_reverse(wg_tape *t, wg_real y, double w, wg_mpi *m);
WG_API WG_MUST_CHECK wg_status wg_mpi_reverse_lanes(wg_tape *t, size_t k, size_t outputs,
                                                    const wg_real *y, const double *w,
                                                    wg_mpi *m);

/* wg_mpi_hvp - by all ranks: hv = H v, of the Hessian H of the sum of y over all ranks
 * (elsewhere y may be a constant) by the inputs of all, and of the directions v of all: the
 * part of this rank's x. Tapes with WG_KEEP_CODE. A sweep, tangents forward, and a sweep of
 * these.
 * Shapes:  x, v, hv of n, which may be another n on each rank.
 * Cost:    three times the communication of a sweep, of products (WG_MPI_PROD) five; otherwise
 *          as wg_tape_hvp.
 * Errors:  as wg_tape_hvp, and on all ranks where one has failed before; WG_EMODE: an operation
 *          whose second derivatives go by functions only. Room of the tape is made before
 *          anybody begins. */
WG_API WG_MUST_CHECK wg_status wg_mpi_hvp(wg_tape *t, wg_real y, size_t n, const wg_real *x,
                                          const double *v, double *hv, wg_mpi *m);

/* wg_mpi_hessian - by all ranks: the rows of that Hessian of this rank's x, h[i
 * ld + k] = d2 / dx[i] dx[k], k counting the inputs of all ranks, those of rank 0 first.
 * Shapes:  h of n rows of ld, at least as many as the inputs of all ranks.
 * Cost:    a wg_mpi_hvp, and a reduction of 40 bytes, for each input of all ranks; room for n
 *          times as many numbers.
 * Errors:  as wg_mpi_hvp; WG_ENOMEM; WG_ESHAPE: ld. Then h is as it was. */
WG_API WG_MUST_CHECK wg_status wg_mpi_hessian(wg_tape *t, wg_real y, size_t n, const wg_real *x,
                                              double *h, size_t ld, wg_mpi *m);

/* ---- point to point --------------------------------------------------------------------- */

/* wg_mpi_send, wg_mpi_recv, wg_mpi_sendrecv - x to dest, y from source, which may be
 * MPI_ANY_SOURCE, as its tag may be MPI_ANY_TAG. Of MPI_PROC_NULL nothing comes: y stays as it
 * is, matrices are 0.
 * wg_mpi_ssend - comes back when x is being received.
 * Shapes:  x, y of as many numbers as are given.
 * Adjoint: of y to the rank it came from, where it is added to that of x.
 * Cost:    one message each way, with a number more than the values have, and a copy. */
WG_API wg_status wg_mpi_send(wg_tape *t, const wg_real *x, size_t n, int dest, int tag,
                             wg_mpi *m);
WG_API wg_status wg_mpi_ssend(wg_tape *t, const wg_real *x, size_t n, int dest, int tag,
                              wg_mpi *m);
WG_API wg_status wg_mpi_recv(wg_tape *t, wg_real *y, size_t n, int source, int tag, wg_mpi *m);
WG_API wg_status wg_mpi_sendrecv(wg_tape *t, const wg_real *x, size_t n, int dest, int tag,
                                 wg_real *y, size_t k, int source, int from_tag, wg_mpi *m);
WG_API wg_status wg_mpi_mat_send(wg_tape *t, wg_mat x, int dest, int tag, wg_mpi *m);
WG_API wg_status wg_mpi_mat_ssend(wg_tape *t, wg_mat x, int dest, int tag, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_recv(wg_tape *t, size_t rows, size_t cols, int source, int tag,
                              wg_mpi *m);
WG_API wg_mat wg_mpi_mat_sendrecv(wg_tape *t, wg_mat x, int dest, int tag, size_t rows,
                                  size_t cols, int source, int from_tag, wg_mpi *m);

/* What was begun, and has to be waited for, on the same tape, before it is reset or swept. */
typedef struct wg_mpi_request {
    wg_mpi *m; /* NULL: nothing, as when it was waited for */
    uint64_t id;
    size_t rows, cols;
    int receives, peer, tag, key;
    wg_real *y;
    wg_mat result;    /* of wg_mpi_mat_irecv, when it was waited for */
    wg_mpi *kept;     /* of a persistent request; otherwise NULL */
    const wg_real *x; /* of one that sends */
} wg_mpi_request;

/* wg_mpi_isend, wg_mpi_irecv - begin; wg_mpi_wait, wg_mpi_waitall end, in any order. y is
 * written then. In a sweep what was ended is begun and what was begun is ended. wg_mpi_issend
 * has ended when x is being received.
 * Cost:    as of send and recv; x is copied, and not needed any more. */
WG_API wg_status wg_mpi_isend(wg_tape *t, const wg_real *x, size_t n, int dest, int tag,
                              wg_mpi *m, wg_mpi_request *r);
WG_API wg_status wg_mpi_issend(wg_tape *t, const wg_real *x, size_t n, int dest, int tag,
                               wg_mpi *m, wg_mpi_request *r);
WG_API wg_status wg_mpi_irecv(wg_tape *t, wg_real *y, size_t n, int source, int tag, wg_mpi *m,
                              wg_mpi_request *r);
WG_API wg_status wg_mpi_mat_isend(wg_tape *t, wg_mat x, int dest, int tag, wg_mpi *m,
                                  wg_mpi_request *r);
WG_API wg_status wg_mpi_mat_irecv(wg_tape *t, size_t rows, size_t cols, int source, int tag,
                                  wg_mpi *m, wg_mpi_request *r);
WG_API wg_status wg_mpi_wait(wg_tape *t, wg_mpi_request *r);
WG_API wg_status wg_mpi_waitall(wg_tape *t, size_t n, wg_mpi_request *r);

/* wg_mpi_waitany, wg_mpi_waitsome - wait until one has come or gone, and end it, or all that
 * have:
 * *index, the first *count of index, are theirs; MPI_UNDEFINED: there are none to wait for.
 * wg_mpi_test, wg_mpi_testany, wg_mpi_testall, wg_mpi_testsome - the same without
 * waiting: *flag and *count are 0 if there is nothing to be ended yet; wg_mpi_testall ends all
 * or none. What was ended, and in which order, is recorded as by wg_mpi_wait: a sweep, and a
 * replay, go by that order, whatever comes first then.
 * Cost:    as wg_mpi_wait; they look at every request, again and again. */
WG_API wg_status wg_mpi_waitany(wg_tape *t, size_t n, wg_mpi_request *r, int *index);
WG_API wg_status wg_mpi_waitsome(wg_tape *t, size_t n, wg_mpi_request *r, int *count,
                                 int *index);
WG_API wg_status wg_mpi_test(wg_tape *t, wg_mpi_request *r, int *flag);
WG_API wg_status wg_mpi_testany(wg_tape *t, size_t n, wg_mpi_request *r, int *index, int *flag);
WG_API wg_status wg_mpi_testall(wg_tape *t, size_t n, wg_mpi_request *r, int *flag);
WG_API wg_status wg_mpi_testsome(wg_tape *t, size_t n, wg_mpi_request *r, int *count,
                                 int *index);

/* wg_mpi_send_init, wg_mpi_recv_init - a persistent request: the arguments of wg_mpi_isend and
 * wg_mpi_irecv, kept. wg_mpi_start, wg_mpi_startall - these calls, with what stands in x then.
 * What ends other requests ends these, until the next start. wg_mpi_request_free - it is
 * nothing any more; it has been ended before.
 * Errors:  WG_EMODE: not a persistent request, or it was begun and not ended. */
WG_API wg_status wg_mpi_send_init(wg_tape *t, const wg_real *x, size_t n, int dest, int tag,
                                  wg_mpi *m, wg_mpi_request *r);
WG_API wg_status wg_mpi_recv_init(wg_tape *t, wg_real *y, size_t n, int source, int tag,
                                  wg_mpi *m, wg_mpi_request *r);
WG_API wg_status wg_mpi_start(wg_tape *t, wg_mpi_request *r);
WG_API wg_status wg_mpi_startall(wg_tape *t, size_t n, wg_mpi_request *r);
WG_API wg_status wg_mpi_request_free(wg_tape *t, wg_mpi_request *r);

/* wg_mpi_probe - waits for a message that wg_mpi_recv from `source` under `tag` would receive,
 * and says where it comes from (*status, which may be MPI_STATUS_IGNORE or NULL) and how many
 * numbers it has (*n).
 * wg_mpi_iprobe - the same without waiting: *flag is 0 if there is none yet. Nothing is
 * recorded.
 * Errors:  WG_ENULL, WG_EARG, WG_ECALLBACK; returned, and with WG_MPI_CHECKED kept. */
WG_API WG_MUST_CHECK wg_status wg_mpi_probe(int source, int tag, wg_mpi *m, MPI_Status *status,
                                            size_t *n);
WG_API WG_MUST_CHECK wg_status wg_mpi_iprobe(int source, int tag, wg_mpi *m, int *flag,
                                             MPI_Status *status, size_t *n);

/* wg_mpi_halo - with all neighbours on a Cartesian communicator of d dimensions at once.
 * Shapes:  out[2 i] goes to the lower neighbour of dimension i, out[2 i + 1] to the upper one;
 *          in[2 i] comes from the lower one, in the shape of out[2 i + 1], and in[2 i + 1] from
 *          the upper one, in that of out[2 i]; 0 where there is no neighbour.
 * Adjoint: the same exchange, the other way.
 * Cost:    one record; messages go from and to where values and adjoints stand: only strided
 *          ones are copied, and adjoints that come, to be added.
 * Errors:  WG_EARG: no Cartesian communicator of d dimensions. */
WG_API wg_status wg_mpi_halo(wg_tape *t, size_t d, const wg_mat *out, wg_mat *in, wg_mpi *m);

/* wg_mpi_graph_halo - the same on a graph, as MPI_Dist_graph_create_adjacent and
 * MPI_Dist_graph_create make it.
 * wg_mpi_neighbor_alltoall - of arrays, one part after the other; counts of NULL: n each.
 * Shapes:  out[k], to[k] numbers, goes to destination k, in the order of
 *          MPI_Dist_graph_neighbors; in[k], rows[k] by cols[k] or from[k] numbers, comes from
 *          source k. What goes to one rank several times comes there in that order.
 * Adjoint: the same exchange, the other way.
 * Cost:    as wg_mpi_halo.
 * Errors:  WG_EARG: no such communicator. */
WG_API wg_status wg_mpi_graph_halo(wg_tape *t, const wg_mat *out, const size_t *rows,
                                   const size_t *cols, wg_mat *in, wg_mpi *m);
WG_API wg_status wg_mpi_neighbor_alltoall(wg_tape *t, const wg_real *x, const size_t *to,
                                          wg_real *y, const size_t *from, size_t n, wg_mpi *m);

/* ---- collective calls ------------------------------------------------------------------- */

/* wg_mpi_barrier - nothing is recorded. */
WG_API wg_status wg_mpi_barrier(wg_mpi *m);

/* wg_mpi_bcast - x of the root everywhere; in place. x of the matrix form is looked at on the
 * root only.
 * Adjoint: the sum over all ranks. */
WG_API wg_status wg_mpi_bcast(wg_tape *t, wg_real *x, size_t n, int root, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_bcast(wg_tape *t, wg_mat x, size_t rows, size_t cols, int root,
                               wg_mpi *m);

/* wg_mpi_gather, wg_mpi_allgather - y: x of rank 0, of rank 1, ...; on the root, or everywhere.
 * wg_mpi_scatter - the other way: x of the root in parts. wg_mpi_alltoall - from each to each.
 * Shapes:  count[r] numbers of rank r, to rank r; NULL: as many as here, of all (in alltoall:
 *          n). Of matrices they are columns, and all have as many rows. For gather and scatter
 *          count is looked at on the root only, for allgather it is the same everywhere.
 * Adjoint: the call that brings them back; of allgather reduce_scatter. */
WG_API wg_status wg_mpi_gather(wg_tape *t, const wg_real *x, size_t n, wg_real *y,
                               const size_t *count, int root, wg_mpi *m);
WG_API wg_status wg_mpi_allgather(wg_tape *t, const wg_real *x, size_t n, wg_real *y,
                                  const size_t *count, wg_mpi *m);
WG_API wg_status wg_mpi_scatter(wg_tape *t, const wg_real *x, const size_t *count, wg_real *y,
                                size_t n, int root, wg_mpi *m);
WG_API wg_status wg_mpi_alltoall(wg_tape *t, const wg_real *x, const size_t *to, wg_real *y,
                                 const size_t *from, size_t n, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_gather(wg_tape *t, wg_mat x, const size_t *count, int root, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_allgather(wg_tape *t, wg_mat x, const size_t *count, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_scatter(wg_tape *t, wg_mat x, const size_t *count, size_t rows,
                                 size_t cols, int root, wg_mpi *m);

/* How numbers of all ranks become one. The derivative of a product is that of the others, also
 * where some are 0; of the largest and the least it is shared evenly by those that are equal. A
 * NaN makes each of them NaN. */
typedef enum wg_mpi_op { WG_MPI_SUM, WG_MPI_PROD, WG_MPI_MIN, WG_MPI_MAX } wg_mpi_op;

/* wg_mpi_reduce, wg_mpi_allreduce - y on the root (elsewhere it stays as it is, matrices are
 * 0-by-0), or everywhere.
 * wg_mpi_reduce_scatter - the sum, of which each rank gets its count[r] numbers, the same count
 * everywhere.  wg_mpi_scan, wg_mpi_exscan - the sum over ranks up to this one, or before it (on rank
 * 0: 0).
 * Cost:    that of MPI, backward once more; of a product three scans, of MIN and MAX two
 *          sums. */
WG_API wg_status wg_mpi_reduce(wg_tape *t, const wg_real *x, wg_real *y, size_t n, wg_mpi_op op,
                               int root, wg_mpi *m);
WG_API wg_status wg_mpi_allreduce(wg_tape *t, const wg_real *x, wg_real *y, size_t n,
                                  wg_mpi_op op, wg_mpi *m);
WG_API wg_status wg_mpi_reduce_scatter(wg_tape *t, const wg_real *x, wg_real *y,
                                       const size_t *count, wg_mpi *m);
WG_API wg_status wg_mpi_scan(wg_tape *t, const wg_real *x, wg_real *y, size_t n, wg_mpi *m);
WG_API wg_status wg_mpi_exscan(wg_tape *t, const wg_real *x, wg_real *y, size_t n, wg_mpi *m);
/* wg_mpi_reduce_loc, wg_mpi_allreduce_loc - MPI_MINLOC and MPI_MAXLOC, as op is WG_MPI_MIN or
 * WG_MPI_MAX: y[i] is the least or largest of all x[i], and at[i] the number index[i] that came
 * with it; of equal ones the least. The derivative is that of the rank it came from; of several
 * with that number it is shared evenly. A replay looks for it again, and does not write at.
 * Errors:  WG_EARG: another op, too. */
WG_API wg_status wg_mpi_reduce_loc(wg_tape *t, const wg_real *x, const int *index, wg_real *y,
                                   int *at, size_t n, wg_mpi_op op, int root, wg_mpi *m);
WG_API wg_status wg_mpi_allreduce_loc(wg_tape *t, const wg_real *x, const int *index,
                                      wg_real *y, int *at, size_t n, wg_mpi_op op, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_reduce(wg_tape *t, wg_mat x, wg_mpi_op op, int root, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_allreduce(wg_tape *t, wg_mat x, wg_mpi_op op, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_scan(wg_tape *t, wg_mat x, wg_mpi *m);
WG_API wg_mat wg_mpi_mat_exscan(wg_tape *t, wg_mat x, wg_mpi *m);

/* ---- functions -------------------------------------------------------------------------- */

/* wg_function_points_mpi - which of so many points are this rank's: *count, from *first on.
 * They are whole blocks (wg_function_block), shared out as evenly as that goes.
 * Errors:  WG_ENULL. */
WG_API WG_MUST_CHECK wg_status wg_function_points_mpi(const wg_function *f, size_t points,
                                                      const wg_mpi *m, size_t *first,
                                                      size_t *count);
/* wg_function_work_mpi - bytes of workspace on this rank; 64-byte aligned memory is best. */
WG_API size_t wg_function_work_mpi(const wg_function *f, size_t points,
                                   const wg_threads *threads, const wg_mpi *m);

/* wg_function_evaluate_mpi - wg_function_evaluate by all ranks, each with its threads: f, or a
 * derivative of it, at `points` points of all together. The same function, points and root
 * everywhere.
 * x:       of each point: those of this rank's points, its first one first; shared inputs are
 *          the root's, broadcast once, and not looked at elsewhere (data may be NULL there).
 * y:       of each point: those of this rank's points; sums on all ranks.
 * Bits:    those of wg_function_evaluate of all points in one process, whatever the number of
 *          ranks and threads, on processors with the same vectors and libm: blocks are added up
 *          in their order.
 * Cost:    beside the points of the rank: four reductions of a few numbers, a broadcast of the
 *          shared inputs, and of n sums a chain: a message of 8 n bytes from each rank to the
 *          next, in pieces, and a broadcast. Each rank keeps the n sums of each of its blocks
 *          until then.
 * guard:   the first point among all, on all ranks.
 * Errors:  as wg_function_evaluate; of the ranks' failures the gravest on all ranks that have
 *          none of their own; WG_ESHAPE: other points, shared inputs, blocks or sums on another
 *          rank; WG_EARG: the root. After WG_EGUARD all goes on, also with WG_MPI_CHECKED. */
WG_API WG_MUST_CHECK wg_status wg_function_evaluate_mpi(const wg_function *f, size_t points,
                                                        const wg_points *x, const wg_results *y,
                                                        int root, wg_threads *threads,
                                                        void *work, wg_function_guard *guard,
                                                        wg_mpi *m);

WG_END_DECLS

#endif
