/* SPDX-License-Identifier: MIT */
/* internal.h - a communicator from inside. Values, tangents and adjoints travel on duplicates
 * of their own, so that a message of one kind is never taken for another's. */
#ifndef WENGERT_MPI_INTERNAL_H
#define WENGERT_MPI_INTERNAL_H

#include "wengert/mpi.h"
#include <wengert/tape.h>
#include <stdint.h>

typedef enum wgi_phase {
    WGI_VALUES,
    WGI_TANGENTS,
    WGI_ADJOINTS,
    WGI_CONTROL,
    WGI_COMMS
} wgi_phase;

/* The calls that all ranks make together. */
#define WGI_MPI_CALLS(X)                                                                       \
    X(reverse)                                                                                 \
    X(reverse_lanes)                                                                           \
    X(hvp)                                                                                     \
    X(hessian)                                                                                 \
    X(barrier)                                                                                 \
    X(bcast)                                                                                   \
    X(gather)                                                                                  \
    X(allgather)                                                                               \
    X(scatter)                                                                                 \
    X(alltoall)                                                                                \
    X(reduce)                                                                                  \
    X(allreduce)                                                                               \
    X(reduce_scatter)                                                                          \
    X(scan)                                                                                    \
    X(exscan)                                                                                  \
    X(halo)                                                                                    \
    X(graph_halo)                                                                              \
    X(neighbor_alltoall)                                                                       \
    X(clear)                                                                                   \
    X(free)
#define WGI_MPI_ENUM(name) WGI_MPI_##name,
typedef enum wgi_mpi_call {
    WGI_MPI_NONE,
    WGI_MPI_CALLS(WGI_MPI_ENUM) WGI_MPI_evaluate, /* wg_function_evaluate_mpi */
    WGI_MPI_CALL_COUNT
} wgi_mpi_call;
#undef WGI_MPI_ENUM

/* A message under way. Its memory is its own: it outlives a failure, and the tape. */
typedef struct wgi_message {
    struct wgi_message *next;
    MPI_Request request; /* MPI_REQUEST_NULL, and busy 0: free for another one */
    MPI_Status got;
    double *data;
    size_t room; /* numbers */
    int busy, receives, synchronous;
    int source, dest; /* MPI_PROC_NULL: it is no receive, or no send */
    int left;         /* it goes by itself, and is free when it has gone */
    wgi_phase phase;
    uint64_t id; /* of the call that will ask for it */
} wgi_message;

enum { WGI_ROOMS = 3 };

/* The neighbours of a Cartesian communicator, those below and above in each dimension, or of a
 * graph: numbers out[k] go to rank to[k] under a tag, numbers in[k] come from rank from[k];
 * MPI_PROC_NULL: there is none. Behind that, room for an exchange with all. */
typedef struct wgi_neighbours {
    int kind; /* MPI_CART, MPI_DIST_GRAPH or MPI_UNDEFINED */
    size_t ins, outs;
    int *from, *from_tag, *to, *to_tag;
    int *in, *out; /* how many numbers */
    const double **out_at;
    double **in_at;
    MPI_Request *request;
    MPI_Status *got;
    wg_mat *in_mat, *out_mat;
    struct wgi_mpi_params *params;
} wgi_neighbours;

struct wg_mpi {
    MPI_Comm comm[WGI_COMMS];
    MPI_Comm reversed; /* its ranks the other way round */
    MPI_Op largest, least, largest_at, least_at,
        products; /* the last one of numbers with tangents */
    int rank, size, checked, tags;
    uint64_t keys, ids;
    uint64_t sweeps; /* that all ranks have agreed upon */
    wgi_message *messages;
    double *room[WGI_ROOMS];
    size_t room_size[WGI_ROOMS];
    int *count; /* 4 lists, a number for each rank */
    wgi_neighbours near;
    uint64_t *
        traffic; /* messages to each rank so far, and from it, and how many are on the way from it */
    MPI_Request *notice; /* that this rank has failed */
    struct wgi_entry *entry,
        *entering; /* of a checked communicator: what ranks have said, and are told */
    MPI_Request *entered;
    int told, agreed; /* have the others been told; have all agreed that there was a failure? */
    int inside;       /* did the value of the operation begin? */
    wg_status failed;
    int code; /* of it, as it is sent */
    char message[512];
};

/* Of operations whose Jacobian does not change with the operands: second derivatives go by vjp
 * and jvp. That of the largest and the least does not, as long as it is the same rank's. */
enum { WGI_MPI_LINEAR = WG_OP_ALWAYS | WG_OP_LINEAR | WG_OP_EXPANDS };

/* What an operation is given. count: of each rank; as many lists as it has. */
typedef struct wgi_mpi_params {
    wg_mpi *m;
    int peer, tag, key;   /* of what is sent; peer is also a root */
    int synchronous;      /* it has gone when it is received */
    int source, from_tag; /* of what is received */
    int op, counted;
    size_t rows, cols; /* of what is received */
    uint64_t id;
    int count[];
} wgi_mpi_params;

/* A number and what came with it, as MPI_DOUBLE_INT. */
typedef struct wgi_located {
    double value;
    int at;
} wgi_located;

/* Keeps the first failure, and on a checked communicator tells all others. */
wg_status wgi_mpi_fail(wg_mpi *m, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* The same without a notice: all others know. */
wg_status wgi_mpi_know(wg_mpi *m, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* The same of what MPI has returned; WG_OK of MPI_SUCCESS. */
wg_status wgi_mpi_error(wg_mpi *m, int error);
/* Has another rank failed? Then that is kept here. */
wg_status wgi_mpi_listen(wg_mpi *m);
/* All ranks: is every status WG_OK, are all in this call, with this detail? */
wg_status wgi_mpi_agree(wg_mpi *m, wg_status s, wgi_mpi_call call, uint64_t detail);
/* The same before a collective operation, on a checked communicator; otherwise WG_OK. */
wg_status wgi_mpi_enter(wg_mpi *m, wgi_mpi_call call, wgi_phase phase, uint64_t detail);
/* What agreements of a checked communicator need; 0: no memory. */
int wgi_mpi_entries_make(wg_mpi *m);
void wgi_mpi_entries_forget(wg_mpi *m);
/* A checked communicator: is it for nothing that this rank waits for a message from `source`,
 * or until what it has sent to `dest` (MPI_PROC_NULL: not that) has gone, since the other is in
 * a collective call, and will wait there for this one? */
int wgi_mpi_is_vain(wg_mpi *m, int source, int dest);
/* The failure of a wait that is. */
wg_status wgi_mpi_vain(wg_mpi *m, int peer);
/* The next word of a detail. */
static inline uint64_t wgi_mpi_mix(uint64_t detail, uint64_t word) {
    detail = (detail ^ word) * 0x9e3779b97f4a7c15;
    return detail ^ detail >> 29;
}
/* The end of a function of an operation: its failure is the block's. */
static inline wg_status wgi_mpi_done(const wg_mpi *m, wg_block *b, wg_status s) {
    if (s != WG_OK) b->why = m->message;
    return s;
}
/* wg_apply; after a failure, its own or one of before, others are told, and an agreement is
 * joined.
 */
wg_status wgi_mpi_apply(wg_tape *t, const wg_block_op *op, const wgi_mpi_params *p,
                        size_t bytes, wgi_mpi_call call, size_t inputs, const wg_mat *in,
                        size_t outputs, wg_mat *out);
/* What is wrong with the arguments of a call that has not come to wg_apply: the tape keeps
 * it. */
wg_status wgi_mpi_refuse(wg_tape *t, wg_mpi *m, wg_status s, const char *name, const char *why,
                         wgi_mpi_call call);

/* neighbours.c: what a topology says; 0: no memory, or a failure of MPI. */
int wgi_mpi_neighbours_find(wg_mpi *m);
void wgi_mpi_neighbours_forget(wg_mpi *m);

/* Room for n numbers, until it is asked for again; NULL: the failure is kept. */
double *wgi_mpi_room(wg_mpi *m, int which, size_t n);

/* Numbers of a matrix in lanes, side by side: where they stand if they do, or a copy in a room.
 * bar: of derivatives; without any they are 0. */
const double *wgi_mpi_flat(wg_mpi *m, const wg_block_arg *a, int bar, size_t lanes, int which);
/* bar += x, and the same times p, a number for each element. */
void wgi_mpi_add(const wg_block_arg *a, const double *x, size_t lanes);
void wgi_mpi_add_product(const wg_block_arg *a, const double *p, const double *x, size_t lanes);
/* y *= x of n numbers, each with its tangents behind it, `each` together: exact with zeros. */
void wgi_mpi_multiply(const double *x, double *y, size_t n, size_t each);
static inline size_t wgi_mpi_size(const wg_block_arg *a) { return a->rows * a->cols; }

/* wg_block_op: one more result, a 0, so that what receives nothing is a record, too. */
static inline void wgi_mpi_token_shape(wg_block *b) {
    b->out[b->outputs - 1].rows = b->out[b->outputs - 1].cols = 1;
}
static inline void wgi_mpi_token_value(wg_block *b) { b->out[b->outputs - 1].value[0] = 0; }

/* Arrays of variables as a matrix of one row, and back: the end of a call that gave s. */
wg_mat wgi_mpi_row(wg_tape *t, size_t n, const wg_real *x);
wg_status wgi_mpi_write(wg_tape *t, wg_mpi *m, const char *name, wg_status s, wg_mat a,
                        size_t n, wg_real *y);

/* ---- messages -------------------------------------------------------------------------- */

wgi_message *wgi_mpi_message_new(wg_mpi *m, wgi_phase phase, uint64_t id, size_t n);
wgi_message *wgi_mpi_message_find(wg_mpi *m, wgi_phase phase, uint64_t id); /* NULL: none */
wgi_message *wgi_mpi_message_of(wg_mpi *m, wgi_phase phase, uint64_t id);
/* Begin; n: numbers. NULL message: nothing, its failure stands. */
wg_status wgi_mpi_begin_send(wg_mpi *m, wgi_message *a, size_t n, int dest, int tag);
wg_status wgi_mpi_begin_receive(wg_mpi *m, wgi_message *a, size_t n, int source, int tag);
/* Has it come, or gone? After a failure, and where there is none, it has. */
int wgi_mpi_is_done(wg_mpi *m, const wgi_message *a);
/* A checked communicator: will it never come or go, unless this rank goes on? */
int wgi_mpi_is_stuck(wg_mpi *m, const wgi_message *a);
/* Waits; a receive of another size than n fails. */
wg_status wgi_mpi_finish(wg_mpi *m, wgi_message *a, size_t n);
static inline void wgi_mpi_message_done(wgi_message *a) { a->busy = 0; }
/* What was sent is not waited for. */
static inline void wgi_mpi_message_leave(wgi_message *a) { a->left = 1; }

#endif
