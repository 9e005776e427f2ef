/* SPDX-License-Identifier: MIT */
/* point.c - messages from rank to rank.
 *
 * With its values a message carries a number, the key, which its sender has not given to any
 * other on the way: the tag under which tangents follow and the adjoint comes back. So these
 * find each other in whatever order messages were begun, waited for and matched. */
#include "internal.h"

/* From whom a message came, and its key: what a receive leaves for tangents and adjoints. */
typedef struct origin {
    int source, key;
} origin;

/* ---- parts of operations ---------------------------------------------------------------- */

static wg_status begin_values(wg_mpi *m, const wg_block_arg *x, const wgi_mpi_params *p) {
    const size_t n = wgi_mpi_size(x);
    wgi_message *const a = wgi_mpi_message_new(m, WGI_VALUES, p->id, n + 1);
    const double *const from = wgi_mpi_flat(m, x, 0, 1, 0);
    for (size_t i = 0; a != NULL && from != NULL && i < n; i++) a->data[i] = from[i];
    if (a != NULL) a->data[n] = p->key, a->synchronous = p->synchronous;
    return wgi_mpi_begin_send(m, from != NULL ? a : NULL, n + 1, p->peer, p->tag);
}

/* With adjoints goes the number of the sweep: what an earlier sweep, which failed, has left on
 * the way is not taken for what a later one sends. */
static size_t bars(wgi_phase phase, size_t n) { return n + (phase == WGI_ADJOINTS); }

static wg_status begin_bars(wg_mpi *m, wgi_phase phase, uint64_t id, const wg_block_arg *x,
                            size_t lanes, int dest, int key) {
    const size_t n = wgi_mpi_size(x) * lanes;
    wgi_message *const a = wgi_mpi_message_new(m, phase, id, n + 1);
    const double *const from = wgi_mpi_flat(m, x, 1, lanes, 0);
    for (size_t i = 0; a != NULL && from != NULL && i < n; i++) a->data[i] = from[i];
    if (a != NULL) a->data[n] = (double)m->sweeps;
    return wgi_mpi_begin_send(m, from != NULL ? a : NULL, bars(phase, n), dest, key);
}

/* Of results, which have their numbers side by side. */
static void copy(const double *from, size_t n, double *to) {
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

static wg_status finish_values(wg_mpi *m, uint64_t id, const wg_block_arg *y, origin *o) {
    const size_t n = wgi_mpi_size(y);
    wgi_message *const a = wgi_mpi_message_of(m, WGI_VALUES, id);
    const wg_status s = wgi_mpi_finish(m, a, n + 1);
    if (s != WG_OK) return s;
    const int some = a->got.MPI_SOURCE != MPI_PROC_NULL;
    for (size_t i = 0; !some && i < n; i++) a->data[i] = 0;
    copy(a->data, n, y->value);
    *o = (origin){a->got.MPI_SOURCE, some ? (int)a->data[n] : 0};
    wgi_mpi_message_done(a);
    return WG_OK;
}

static wg_status finish_tangents(wg_mpi *m, uint64_t id, const wg_block_arg *y, size_t lanes,
                                 const origin *o) {
    const size_t n = wgi_mpi_size(y) * lanes;
    wgi_message *const a = wgi_mpi_message_of(m, WGI_TANGENTS, id);
    const wg_status s = wgi_mpi_finish(m, a, n);
    if (s != WG_OK) return s;
    for (size_t i = 0; o->source == MPI_PROC_NULL && i < n; i++) a->data[i] = 0;
    copy(a->data, n, y->bar);
    wgi_mpi_message_done(a);
    return WG_OK;
}

/* Adds the adjoint that has come back to that of x. */
static wg_status finish_adjoints(wg_mpi *m, uint64_t id, const wg_block_arg *x, size_t lanes) {
    const size_t n = wgi_mpi_size(x) * lanes;
    wgi_message *const a = wgi_mpi_message_of(m, WGI_ADJOINTS, id);
    const wg_status s = wgi_mpi_finish(m, a, bars(WGI_ADJOINTS, n));
    if (s != WG_OK) return s;
    const int some = a->got.MPI_SOURCE != MPI_PROC_NULL;
    wgi_mpi_message_done(a);
    if (some && a->data[n] != (double)m->sweeps)
        return wgi_mpi_fail(m, WG_EMISMATCH,
                            "an adjoint came from rank %d that belongs to another sweep",
                            a->got.MPI_SOURCE);
    if (some) wgi_mpi_add(x, a->data, lanes);
    return WG_OK;
}

/* With room for one more: not every MPI says that a message from itself was too long. */
static wg_status begin_receive(wg_mpi *m, wgi_phase phase, uint64_t id, size_t n, int source,
                               int tag) {
    const size_t room = bars(phase, n) + 1;
    return wgi_mpi_begin_receive(m, wgi_mpi_message_new(m, phase, id, room), room, source, tag);
}

/* What was sent has gone. */
static wg_status finish_send(wg_mpi *m, wgi_phase phase, uint64_t id) {
    wgi_message *const a = wgi_mpi_message_of(m, phase, id);
    const wg_status s = wgi_mpi_finish(m, a, 0);
    if (s == WG_OK) wgi_mpi_message_done(a);
    return s;
}

/* Tangents are copied, and their receive may be begun after what is waited for here, as where
 * values are received by wg_mpi_irecv: nobody waits until they have gone. */
static wg_status leave_tangents(wg_mpi *m, wg_status s, uint64_t id) {
    wgi_message *const a = wgi_mpi_message_find(m, WGI_TANGENTS, id);
    if (a != NULL) wgi_mpi_message_leave(a);
    return s;
}

/* The same after a failure: others may still receive it, unless they have failed as well. */
static wg_status also_send(wg_mpi *m, wg_status s, wgi_phase phase, uint64_t id) {
    if (s == WG_OK) return finish_send(m, phase, id);
    if (!m->checked && wgi_mpi_message_find(m, phase, id) != NULL)
        (void)finish_send(m, phase, id);
    return s;
}

/* A failure of before, here or elsewhere, is one of this call. */
static wg_status enter(wg_mpi *m) {
    m->inside = 1;
    return m->checked ? m->failed : WG_OK;
}

static wg_status too_many(wg_block *b, size_t rows, size_t cols) {
    if (cols == 0 || rows <= (size_t)INT32_MAX / 64 / cols) return WG_OK;
    b->why = "more numbers than a message may have";
    return WG_ESHAPE;
}

/* ---- send, receive, both ---------------------------------------------------------------- */

/* The operand, if there is one, goes to `peer`; the first of two results comes from `source`.
 * The two messages of one id differ in what they are: it has the next number, too. */
static int receives(const wg_block *b) { return b->outputs == 2; }

static wg_status exchange_shape(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = WG_OK;
    if (receives(b)) {
        b->out[0].rows = p->rows, b->out[0].cols = p->cols;
        b->saved_bytes = sizeof(origin);
        s = too_many(b, p->rows, p->cols);
    }
    wgi_mpi_token_shape(b);
    return s == WG_OK && b->inputs != 0 ? too_many(b, b->in[0].rows, b->in[0].cols) : s;
}

static wg_status exchange_value(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    wg_status s = enter(m);
    if (s == WG_OK && receives(b))
        s = begin_receive(m, WGI_VALUES, p->id + 1, wgi_mpi_size(&b->out[0]) + 1, p->source,
                          p->from_tag);
    if (s == WG_OK && b->inputs != 0) s = begin_values(m, &b->in[0], p);
    if (s == WG_OK && receives(b)) s = finish_values(m, p->id + 1, &b->out[0], b->saved);
    if (b->inputs != 0) s = also_send(m, s, WGI_VALUES, p->id);
    wgi_mpi_token_value(b);
    return wgi_mpi_done(m, b, s);
}

static wg_status exchange_jvp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const origin *const o = b->saved;
    wg_status s = enter(m);
    if (s == WG_OK && receives(b))
        s = begin_receive(m, WGI_TANGENTS, p->id + 1, wgi_mpi_size(&b->out[0]) * b->lanes,
                          o->source, o->key);
    if (s == WG_OK && b->inputs != 0)
        s = begin_bars(m, WGI_TANGENTS, p->id, &b->in[0], b->lanes, p->peer, p->key);
    if (s == WG_OK && receives(b)) s = finish_tangents(m, p->id + 1, &b->out[0], b->lanes, o);
    if (b->inputs != 0) s = leave_tangents(m, s, p->id);
    return wgi_mpi_done(m, b, s);
}

static wg_status exchange_vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_mpi *const m = p->m;
    const origin *const o = b->saved;
    wg_status s = enter(m);
    if (s == WG_OK && b->inputs != 0)
        s = begin_receive(m, WGI_ADJOINTS, p->id, wgi_mpi_size(&b->in[0]) * b->lanes, p->peer,
                          p->key);
    if (s == WG_OK && receives(b))
        s = begin_bars(m, WGI_ADJOINTS, p->id + 1, &b->out[0], b->lanes, o->source, o->key);
    if (s == WG_OK && b->inputs != 0) s = finish_adjoints(m, p->id, &b->in[0], b->lanes);
    if (receives(b)) s = also_send(m, s, WGI_ADJOINTS, p->id + 1);
    return wgi_mpi_done(m, b, s);
}

#define POINT(NAME, FUNCTION)                                                                  \
    {                                                                                          \
        .name = NAME, .flags = WGI_MPI_LINEAR, .shape = FUNCTION##_shape,                      \
        .value = FUNCTION##_value, .vjp = FUNCTION##_vjp, .jvp = FUNCTION##_jvp                \
    }
static const wg_block_op send_op = POINT("wg_mpi_send", exchange),
                         ssend_op = POINT("wg_mpi_ssend", exchange),
                         recv_op = POINT("wg_mpi_recv", exchange),
                         sendrecv_op = POINT("wg_mpi_sendrecv", exchange);

static int next_key(wg_mpi *m) { return (int)(m->keys++ % (uint64_t)m->tags); }
static uint64_t next_id(wg_mpi *m) { return m->ids += 2; }

static wg_status exchange(wg_tape *t, const wg_block_op *op, const wg_mat *x, int dest, int tag,
                          wg_mat *y, size_t rows, size_t cols, int source, int from_tag,
                          wg_mpi *m) {
    wg_mat out[2] = {wg_mat_failed(rows, cols), wg_mat_failed(1, 1)};
    if (m == NULL) return wgi_mpi_refuse(t, m, WG_ENULL, op->name, "no communicator", 0);
    const wgi_mpi_params p = {.m = m,
                              .peer = dest,
                              .tag = tag,
                              .key = x != NULL ? next_key(m) : 0,
                              .synchronous = op == &ssend_op,
                              .source = source,
                              .from_tag = from_tag,
                              .rows = rows,
                              .cols = cols,
                              .id = next_id(m)};
    const size_t outputs = y != NULL ? 2 : 1;
    const wg_status s =
        wgi_mpi_apply(t, op, &p, sizeof p, WGI_MPI_NONE, x != NULL, x, outputs, out);
    if (y != NULL) *y = out[0];
    return s;
}

wg_status wg_mpi_mat_send(wg_tape *t, wg_mat x, int dest, int tag, wg_mpi *m) {
    return exchange(t, &send_op, &x, dest, tag, NULL, 0, 0, MPI_PROC_NULL, 0, m);
}

wg_status wg_mpi_mat_ssend(wg_tape *t, wg_mat x, int dest, int tag, wg_mpi *m) {
    return exchange(t, &ssend_op, &x, dest, tag, NULL, 0, 0, MPI_PROC_NULL, 0, m);
}

wg_mat wg_mpi_mat_recv(wg_tape *t, size_t rows, size_t cols, int source, int tag, wg_mpi *m) {
    wg_mat y = wg_mat_failed(rows, cols);
    (void)exchange(t, &recv_op, NULL, MPI_PROC_NULL, 0, &y, rows, cols, source, tag, m);
    return y;
}

wg_mat wg_mpi_mat_sendrecv(wg_tape *t, wg_mat x, int dest, int tag, size_t rows, size_t cols,
                           int source, int from_tag, wg_mpi *m) {
    wg_mat y = wg_mat_failed(rows, cols);
    (void)exchange(t, &sendrecv_op, &x, dest, tag, &y, rows, cols, source, from_tag, m);
    return y;
}

wg_status wg_mpi_send(wg_tape *t, const wg_real *x, size_t n, int dest, int tag, wg_mpi *m) {
    return wg_mpi_mat_send(t, wgi_mpi_row(t, n, x), dest, tag, m);
}

wg_status wg_mpi_ssend(wg_tape *t, const wg_real *x, size_t n, int dest, int tag, wg_mpi *m) {
    return wg_mpi_mat_ssend(t, wgi_mpi_row(t, n, x), dest, tag, m);
}

wg_status wg_mpi_recv(wg_tape *t, wg_real *y, size_t n, int source, int tag, wg_mpi *m) {
    wg_mat got = wg_mat_failed(1, n);
    const wg_status s =
        exchange(t, &recv_op, NULL, MPI_PROC_NULL, 0, &got, 1, n, source, tag, m);
    if (source == MPI_PROC_NULL && s == WG_OK) return s;
    return wgi_mpi_write(t, m, recv_op.name, s, got, n, y);
}

wg_status wg_mpi_sendrecv(wg_tape *t, const wg_real *x, size_t n, int dest, int tag, wg_real *y,
                          size_t k, int source, int from_tag, wg_mpi *m) {
    const wg_mat row = wgi_mpi_row(t, n, x);
    wg_mat got = wg_mat_failed(1, k);
    const wg_status s =
        exchange(t, &sendrecv_op, &row, dest, tag, &got, 1, k, source, from_tag, m);
    if (source == MPI_PROC_NULL && s == WG_OK) return s;
    return wgi_mpi_write(t, m, sendrecv_op.name, s, got, k, y);
}

/* ---- begun and waited for --------------------------------------------------------------- */

static wg_status isend_shape(wg_block *b) {
    wgi_mpi_token_shape(b);
    return too_many(b, b->in[0].rows, b->in[0].cols);
}
static wg_status isend_value(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK) s = begin_values(p->m, &b->in[0], p);
    wgi_mpi_token_value(b);
    return wgi_mpi_done(p->m, b, s);
}
static wg_status isend_jvp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK)
        s = begin_bars(p->m, WGI_TANGENTS, p->id, &b->in[0], b->lanes, p->peer, p->key);
    return wgi_mpi_done(p->m, b, leave_tangents(p->m, s, p->id));
}
static wg_status isend_vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK) s = finish_adjoints(p->m, p->id, &b->in[0], b->lanes);
    return wgi_mpi_done(p->m, b, s);
}

static wg_status irecv_shape(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wgi_mpi_token_shape(b);
    return too_many(b, p->rows, p->cols);
}
static wg_status irecv_value(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK)
        s = begin_receive(p->m, WGI_VALUES, p->id, p->rows * p->cols + 1, p->source,
                          p->from_tag);
    wgi_mpi_token_value(b);
    return wgi_mpi_done(p->m, b, s);
}
/* From whom it comes is known when it was waited for. */
static wg_status irecv_jvp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    return wgi_mpi_done(p->m, b, enter(p->m));
}
static wg_status irecv_vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK) s = finish_send(p->m, WGI_ADJOINTS, p->id);
    return wgi_mpi_done(p->m, b, s);
}

static wg_status sent_shape(wg_block *b) {
    wgi_mpi_token_shape(b);
    return WG_OK;
}
static wg_status sent_value(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK) s = finish_send(p->m, WGI_VALUES, p->id);
    wgi_mpi_token_value(b);
    return wgi_mpi_done(p->m, b, s);
}
static wg_status sent_jvp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    return wgi_mpi_done(p->m, b, enter(p->m));
}
static wg_status sent_vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK)
        s = begin_receive(p->m, WGI_ADJOINTS, p->id, p->rows * p->cols * b->lanes, p->peer,
                          p->key);
    return wgi_mpi_done(p->m, b, s);
}

static wg_status received_shape(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    b->out[0].rows = p->rows, b->out[0].cols = p->cols;
    b->saved_bytes = sizeof(origin);
    wgi_mpi_token_shape(b);
    return WG_OK;
}
static wg_status received_value(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    wg_status s = enter(p->m);
    if (s == WG_OK) s = finish_values(p->m, p->id, &b->out[0], b->saved);
    wgi_mpi_token_value(b);
    return wgi_mpi_done(p->m, b, s);
}
static wg_status received_jvp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    const origin *const o = b->saved;
    wg_status s = enter(p->m);
    if (s == WG_OK)
        s = begin_receive(p->m, WGI_TANGENTS, p->id, wgi_mpi_size(&b->out[0]) * b->lanes,
                          o->source, o->key);
    if (s == WG_OK) s = finish_tangents(p->m, p->id, &b->out[0], b->lanes, o);
    return wgi_mpi_done(p->m, b, s);
}
static wg_status received_vjp(wg_block *b) {
    const wgi_mpi_params *const p = b->params;
    const origin *const o = b->saved;
    wg_status s = enter(p->m);
    if (s == WG_OK)
        s = begin_bars(p->m, WGI_ADJOINTS, p->id, &b->out[0], b->lanes, o->source, o->key);
    return wgi_mpi_done(p->m, b, s);
}

static const wg_block_op isend_op = POINT("wg_mpi_isend", isend),
                         issend_op = POINT("wg_mpi_issend", isend),
                         irecv_op = POINT("wg_mpi_irecv", irecv),
                         sent_op = POINT("wg_mpi_wait", sent),
                         received_op = POINT("wg_mpi_wait", received);

static wg_status begun(wg_tape *t, const wg_block_op *op, const wg_mat *x, wg_mpi_request *r,
                       wg_mpi *m, int peer, int tag) {
    wg_mat token;
    if (r == NULL || m == NULL)
        return wgi_mpi_refuse(t, m, WG_ENULL, op->name, "no communicator or no request", 0);
    r->id = next_id(m);
    r->key = x != NULL ? next_key(m) : 0;
    const wgi_mpi_params p = {.m = m,
                              .peer = peer,
                              .tag = tag,
                              .key = r->key,
                              .synchronous = op == &issend_op,
                              .source = peer,
                              .from_tag = tag,
                              .rows = r->rows,
                              .cols = r->cols,
                              .id = r->id};
    const wg_status s =
        wgi_mpi_apply(t, op, &p, sizeof p, WGI_MPI_NONE, x != NULL, x, 1, &token);
    r->receives = x == NULL;
    r->peer = peer, r->tag = tag;
    if (s == WG_OK) r->m = m;
    return s;
}

wg_status wg_mpi_mat_isend(wg_tape *t, wg_mat x, int dest, int tag, wg_mpi *m,
                           wg_mpi_request *r) {
    if (r != NULL) *r = (wg_mpi_request){.rows = x.rows, .cols = x.cols};
    return begun(t, &isend_op, &x, r, m, dest, tag);
}

wg_status wg_mpi_mat_irecv(wg_tape *t, size_t rows, size_t cols, int source, int tag, wg_mpi *m,
                           wg_mpi_request *r) {
    if (r != NULL)
        *r = (wg_mpi_request){.rows = rows, .cols = cols, .result = wg_mat_failed(rows, cols)};
    return begun(t, &irecv_op, NULL, r, m, source, tag);
}

wg_status wg_mpi_isend(wg_tape *t, const wg_real *x, size_t n, int dest, int tag, wg_mpi *m,
                       wg_mpi_request *r) {
    return wg_mpi_mat_isend(t, wgi_mpi_row(t, n, x), dest, tag, m, r);
}

wg_status wg_mpi_issend(wg_tape *t, const wg_real *x, size_t n, int dest, int tag, wg_mpi *m,
                        wg_mpi_request *r) {
    if (r != NULL) *r = (wg_mpi_request){.rows = 1, .cols = n};
    const wg_mat row = wgi_mpi_row(t, n, x);
    return begun(t, &issend_op, &row, r, m, dest, tag);
}

wg_status wg_mpi_irecv(wg_tape *t, wg_real *y, size_t n, int source, int tag, wg_mpi *m,
                       wg_mpi_request *r) {
    if (r != NULL && n != 0 && y == NULL) {
        *r = (wg_mpi_request){.rows = 1, .cols = n, .result = wg_mat_failed(1, n)};
        return wgi_mpi_refuse(t, m, WG_ENULL, irecv_op.name, "no array to write to", 0);
    }
    const wg_status s = wg_mpi_mat_irecv(t, 1, n, source, tag, m, r);
    if (r != NULL) r->y = y;
    return s;
}

wg_status wg_mpi_wait(wg_tape *t, wg_mpi_request *r) {
    if (r == NULL) return wgi_mpi_refuse(t, NULL, WG_ENULL, "wg_mpi_wait", "no request", 0);
    if (r->m == NULL) return t != NULL ? wg_tape_status(t) : WG_ENULL;
    const wgi_mpi_params p = {.m = r->m,
                              .peer = r->peer,
                              .key = r->key,
                              .rows = r->rows,
                              .cols = r->cols,
                              .id = r->id};
    wg_mat out[2];
    const wg_status s = wgi_mpi_apply(t, r->receives ? &received_op : &sent_op, &p, sizeof p,
                                      WGI_MPI_NONE, 0, NULL, r->receives ? 2 : 1, out);
    wg_mpi *const m = r->m;
    r->m = NULL;
    if (!r->receives) return s;
    r->result = out[0];
    if (r->y == NULL || (r->peer == MPI_PROC_NULL && s == WG_OK)) return s;
    return wgi_mpi_write(t, m, received_op.name, s, out[0], r->cols, r->y);
}

wg_status wg_mpi_waitall(wg_tape *t, size_t n, wg_mpi_request *r) {
    wg_status s = t != NULL ? wg_tape_status(t) : WG_ENULL;
    for (size_t i = 0; i < n; i++) {
        const wg_status one = wg_mpi_wait(t, r != NULL ? &r[i] : NULL);
        if (s == WG_OK) s = one;
    }
    return s;
}
