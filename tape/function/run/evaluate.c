/* SPDX-License-Identifier: MIT */
/* Functions are evaluated: bytecode.h says what runs.
 *
 * Points are divided into blocks of a fixed size, which threads take one after the other; those
 * of a block are done in runs. Sums are added up apart in each block, lane by lane, then the
 * lanes in a fixed order, then the blocks in theirs: no bit depends on the number of threads.
 * A block that is done before its turn waits in a ring.
 *
 * Products by the zero rule are first done as plain ones. Where no result, nothing summed and
 * nothing that could hide a NaN is NaN, the rule had nothing to say; otherwise a stretch of
 * points, a run or, where there are sums, a block, is done again by the rule. */
#include "bytecode.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- what interpreters call ---- */

#define COLUMN(offset) wgi_fn_column(r, offset)

void wgi_fn_guard_note(wgi_fn_run *r, size_t point, size_t guard) {
    if (r->failed &&
        (r->guard.point < point || (r->guard.point == point && r->guard.guard <= guard)))
        return;
    r->failed = 1;
    r->guard = (wg_function_guard){point, guard};
}

void wgi_fn_guard_run(wgi_fn_run *r, const wgi_fn_code *code) {
    const double *const a = COLUMN(code->a), *const b = COLUMN(code->b);
    const wgi_graph_guard *const g = &r->function->guard[code->c];
    for (size_t p = 0; p < r->rows; p++)
        if (wgi_compare(g->comparison, a[p], b[p]) != g->outcome) {
            wgi_fn_guard_note(r, r->first + p, code->c);
            return;
        }
}

/* Lanes beyond the points are as the last one. */
static void fill(const wgi_fn_run *r, double *column) {
    for (size_t p = r->rows; p < r->lanes; p++) column[p] = column[r->rows - 1];
}

void wgi_fn_array_row(wgi_fn_run *r, const wgi_fn_call *call, size_t p) {
    const uint32_t *const list = r->bytecode->list + call->list;
    double *const x = r->operand;
    for (uint32_t k = 0; k < call->operands; k++) x[k] = COLUMN(list[k])[p];
    COLUMN(list[call->operands])[p] = wgi_array_ops[call->array].value(call->operands, x, NULL);
}

static void by_rows(const wgi_fn_run *r, const wgi_fn_call *call) {
    enum { ARITY = 4, FIRSTS = 4, SECONDS = 10 };
    const uint32_t *const x_at = r->bytecode->list + call->list;
    const uint32_t *const y_at = x_at + call->operands, *const part = y_at + call->results;
    double few[ARITY], d[FIRSTS], h[SECONDS];
    double *const x = call->operands <= ARITY ? few : r->operand;
    for (size_t p = 0; p < r->rows; p++) {
        for (uint32_t k = 0; k < call->operands; k++) x[k] = COLUMN(x_at[k])[p];
        if (call->how == WGI_FN_ROWS) {
            COLUMN(y_at[0])
            [p] = call->op != NULL ? call->op->value(x)
                                   : wgi_node_value(&r->function->node[call->node], x);
            continue;
        }
        if (call->how == WGI_FN_FIRSTS) call->op->first(x, call->op->value(x), d);
        else (void)call->op->second(x, d, h);
        for (uint32_t k = 0; k < call->results; k++) COLUMN(y_at[k])
        [p] = call->how == WGI_FN_FIRSTS    ? d[part[k]]
              : part[k] < WGI_FN_PART_FIRST ? h[part[k]]
                                            : d[part[k] - WGI_FN_PART_FIRST];
    }
    for (uint32_t k = 0; k < call->results; k++) fill(r, COLUMN(y_at[k]));
}

static void whole(wgi_fn_run *r, const wgi_fn_call *call) {
    switch (r->function->node[call->node].kind) {
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        wgi_fn_##stem##_run(r, call);                                                          \
        break;
#include "tape/function/graph/kinds.def"
    default:
        break;
    }
}

void wgi_fn_call_run(wgi_fn_run *r, const wgi_fn_call *call) {
    const uint32_t *const x_at = r->bytecode->list + call->list;
    const uint32_t *const y_at = x_at + call->operands;
    double *const scratch = COLUMN(wgi_fn_offset(WGI_FN_SCRATCH));
    double *const kept = COLUMN(wgi_fn_offset(WGI_FN_SCRATCH2));
    wg_block_arg in[4], out;
    if (call->how >= WGI_FN_ROWS) {
        if (call->how == WGI_FN_ARRAY) r->machine->array(r, call);
        else if (call->how == WGI_FN_WHOLE) whole(r, call);
        else by_rows(r, call);
        return;
    }
    for (uint32_t k = 0; k < call->operands; k++) {
        in[k].value = COLUMN(x_at[k]);
        in[k].bar = NULL;
    }
    out.value = COLUMN(y_at[0]);
    out.bar = NULL;
    if (call->how == WGI_FN_VALUE) call->kernel(r->lanes, in, &out, kept, call->op);
    else if (call->how == WGI_FN_SLOPE)
        call->kernel(r->lanes, in, &out, COLUMN(y_at[1]), call->op);
    else {
        /* -0 + d is d, to the sign of zero */
        double *const d = out.value;
        for (size_t p = 0; p < r->lanes; p++) d[p] = -0.0;
        out.value = call->value != WGI_NO_NODE ? COLUMN(call->value) : scratch;
        if (call->value == WGI_NO_NODE) call->kernel(r->lanes, in, &out, kept, call->op);
        out.bar = COLUMN(wgi_fn_offset(WGI_FN_ONES));
        in[call->part].bar = d;
        call->adjoint(r->lanes, in, &out, kept, call->op);
    }
}

/* ---- workspace ---- */

typedef struct call_state call_state;
typedef struct worker worker;
struct worker {
    call_state *s;
    wgi_fn_run r;
    /* of native code: columns, and those of inputs and results */
    char *native_column;
    double **native;
    int careful; /* start so */
    int failed;
    wg_function_guard guard;
};

struct call_state {
    const wg_function *f;
    const wgi_bytecode *p;
    size_t points, blocks;
    const wg_points *x;
    const wg_results *y;
    double *uniform;
    char *workers;
    atomic_size_t next;
    int alone;               /* only the caller's thread: nothing is locked */
    int failed;              /* a comparison in what is done once or on sums, */
    wg_function_guard guard; /* the first of them */
    /* sums of blocks [committed, committed + ring), those before are added up */
    double *ring_sum;
    unsigned char *ring_done;
    size_t ring, committed;
    pthread_mutex_t lock;
    pthread_cond_t moved;
};

enum { RING = 4, LINE = 64, NATIVE_LANES = 8 };

static size_t round_up(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static size_t lanes_of_sum(const wgi_bytecode *p) {
    return p->machine->width > NATIVE_LANES ? p->machine->width : NATIVE_LANES;
}

static size_t column_bytes(const wgi_bytecode *p) {
    const size_t line = WGI_FN_FEWEST * sizeof(double);
    size_t most = p->part[WGI_EACH].slots * p->lanes * sizeof(double);
    if (p->part[WGI_ONCE].slots * line > most) most = p->part[WGI_ONCE].slots * line;
    if (p->part[WGI_AFTER].slots * line > most) most = p->part[WGI_AFTER].slots * line;
    return round_up(most);
}

/* One column is never read. */
static size_t native_bytes(const wgi_bytecode *p) {
    return round_up((1 + p->native_inputs + p->native_results + p->native_constants) *
                    p->native_points * sizeof(double));
}

static size_t thread_bytes(const wgi_bytecode *p) {
    return round_up(sizeof(worker)) + column_bytes(p) + native_bytes(p) +
           round_up((p->native_inputs + p->native_results) * sizeof(double *)) +
           round_up(p->sums * lanes_of_sum(p) * sizeof(double)) +
           round_up(p->operands * sizeof(double)) + round_up(p->repeat_bytes);
}

size_t wg_function_work(const wg_function *f, const wg_threads *threads) {
    if (f == NULL) return 0;
    const wgi_bytecode *const p = f->bytecode;
    const size_t count = wg_threads_count(threads);
    return LINE + round_up(p->uniforms * sizeof(double)) +
           round_up(RING * count * p->sums * sizeof(double)) + round_up(RING * count) +
           count * thread_bytes(p);
}

static void *piece(char **at, size_t bytes) {
    void *const p = *at;
    *at += round_up(bytes);
    return p;
}

static worker *worker_at(const call_state *s, size_t k) {
    return (worker *)(void *)(s->workers + k * thread_bytes(s->p));
}

static worker *new_worker(call_state *s, size_t k) {
    const wgi_bytecode *const p = s->p;
    char *at = s->workers + k * thread_bytes(p);
    worker *const w = piece(&at, sizeof *w);
    memset(w, 0, sizeof *w);
    w->s = s;
    w->r.column = piece(&at, column_bytes(p));
    w->native_column = piece(&at, native_bytes(p));
    w->native = piece(&at, (p->native_inputs + p->native_results) * sizeof(double *));
    w->r.function = s->f;
    w->r.bytecode = p;
    w->r.uniform = s->uniform;
    w->r.sum = piece(&at, p->sums * lanes_of_sum(p) * sizeof(double));
    w->r.operand = piece(&at, p->operands * sizeof(double));
    w->r.repeat = piece(&at, p->repeat_bytes);
    w->r.points = s->points;
    w->r.x = s->x;
    w->r.y = s->y;
    return w;
}

/* ---- runs ---- */

/* Few lanes go through short vectors, which are sooner read again after they are written. */
static void run(wgi_fn_run *r, const wgi_fn_code *code) {
    const wgi_fn_machine *const own = r->bytecode->machine;
    r->machine = own;
    if (r->lanes < own->width)
        r->machine =
            r->lanes == WGI_FN_FEWEST || wgi_fn_avx2 == NULL ? wgi_fn_base : wgi_fn_avx2;
    size_t which = 0;
    while ((r->machine->width << which) < r->lanes) which++;
    r->machine->run[which](code, r);
}

/* Columns for so many lanes, with those of a part that are the same for all runs. */
static void fixed_columns(wgi_fn_run *r, size_t lanes) {
    r->lanes = lanes;
    for (r->shift = 0; (size_t)WGI_FN_FEWEST << r->shift < lanes;) r->shift++;
    r->dump = wgi_fn_offset(WGI_FN_DUMP);
    for (size_t i = 0; i < lanes; i++) COLUMN(wgi_fn_offset(WGI_FN_ONES))[i] = 1;
}

/* Once for all points, or on sums. */
static void run_alone(wgi_fn_run *r, wgi_when when) {
    r->first = 0;
    r->rows = 1;
    r->laid = 0;
    r->careful = 1;
    fixed_columns(r, WGI_FN_FEWEST);
    run(r, r->bytecode->part[when].code);
}

/* The same, of a call: its repeats may compare. */
static void part_alone(call_state *s, wgi_fn_run *r, wgi_when when) {
    r->failed = s->failed, r->guard = s->guard;
    run_alone(r, when);
    s->failed = r->failed, s->guard = r->guard;
}

size_t wgi_fn_once_work(const wg_function *f) {
    return column_bytes(f->bytecode) + round_up(f->bytecode->operands * sizeof(double)) +
           f->bytecode->repeat_bytes;
}

void wgi_fn_once(const wg_function *f, double *uniform, void *work) {
    wgi_fn_run r;
    memset(&r, 0, sizeof r);
    r.function = f;
    r.bytecode = f->bytecode;
    r.uniform = uniform;
    r.column = work;
    r.operand = (double *)(void *)((char *)work + column_bytes(f->bytecode));
    r.repeat = (char *)r.operand + round_up(f->bytecode->operands * sizeof(double));
    run_alone(&r, WGI_ONCE);
}

/* Columns that are uniforms. */
static void constants(const wgi_fn_run *r, size_t count, const wgi_fn_constant *c) {
    for (size_t k = 0; k < count; k++) {
        double *const to = COLUMN(c[k].column);
        for (size_t i = 0; i < r->lanes; i++) to[i] = r->uniform[c[k].uniform];
    }
}

/* A run of native code, of so many lanes. */
static wgi_fn_run native_run(const worker *w, size_t lanes) {
    wgi_fn_run r = w->r;
    r.column = w->native_column;
    r.lanes = lanes;
    r.shift = 0;
    r.dump = 0;
    return r;
}

static void prepare(worker *w) {
    const wgi_bytecode *const p = w->s->p;
    if (p->native == NULL) return;
    const wgi_fn_run r = native_run(w, p->native_points);
    constants(&r, p->native_constants, p->native_constant);
    for (size_t k = 0; k < p->native_inputs + p->native_results; k++)
        w->native[k] = (double *)(void *)w->native_column + (1 + k) * p->native_points;
}

static void run_points(wgi_fn_run *r, size_t first, size_t end) {
    const wgi_bytecode *const bytecode = r->bytecode;
    r->first = first;
    r->rows = end - first < bytecode->lanes ? end - first : bytecode->lanes;
    size_t lanes = WGI_FN_FEWEST;
    while (lanes < r->rows) lanes *= 2;
    if (lanes != r->laid) { /* the last points of a call, or none before */
        fixed_columns(r, lanes);
        constants(r, bytecode->constants, bytecode->constant);
        r->laid = lanes;
    }
    for (size_t p = 0; r->rows < r->lanes && p < r->lanes; p++)
        r->valid[p] = p < r->rows ? -1 : 0;
    run(r, bytecode->part[WGI_EACH].code);
}

/* By native code; gives what it gave. */
static int run_native(worker *w, size_t first, size_t end) {
    const wgi_bytecode *const p = w->s->p;
    const size_t rows = end - first < p->native_points ? end - first : p->native_points;
    wgi_fn_run r = native_run(w, (rows + NATIVE_LANES - 1) / NATIVE_LANES * NATIVE_LANES);
    r.first = first;
    r.rows = rows;
    p->machine->load(&r, p->load, p->loads, 1);
    const int said = p->native(r.uniform, (const double *const *)w->native,
                               w->native + p->native_inputs, r.sum, r.lanes, r.rows);
    if (said == 0) p->machine->store(&r, p->store, p->stores, 1);
    return said;
}

/* Points [first, end) in one way; gives 0 if they have to be done again with care. */
typedef enum { NATIVE, PLAIN, CAREFUL } way;
static int done(worker *w, way how, size_t first, size_t end) {
    const wgi_bytecode *const p = w->s->p;
    wgi_fn_run *const r = &w->r;
    const size_t lanes = how == NATIVE ? NATIVE_LANES : p->machine->width;
    r->careful = how == CAREFUL;
    r->nan = r->rescued = r->failed = 0;
    if (p->sums != 0) memset(r->sum, 0, p->sums * lanes * sizeof(double));
    for (size_t at = first; at < end; at += how == NATIVE ? p->native_points : p->lanes) {
        if (how == NATIVE) r->nan = run_native(w, at, end);
        else run_points(r, at, end);
        if (r->nan && how != CAREFUL) return 0;
    }
    if (how != PLAIN || !p->check_sums) return 1;
    return !p->machine->any_nan(r->sum, p->sums * lanes);
}

/* Lanes to one number: halves are added as long as there are two. */
static double across(const double *t, size_t lanes) {
    if (lanes == 2) return t[0] + t[1];
    if (lanes == 4) return (t[0] + t[2]) + (t[1] + t[3]);
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

static void stretch(worker *w, size_t first, size_t end, double *sum) {
    const wgi_bytecode *const p = w->s->p;
    wgi_fn_run *const r = &w->r;
    way how = p->native != NULL ? NATIVE : w->careful ? CAREFUL : PLAIN;
    if (!done(w, how, first, end)) {
        how = CAREFUL;
        (void)done(w, how, first, end);
    }
    /* where the rule was of use it may be so again */
    w->careful = how == CAREFUL && r->rescued;
    if (r->failed && (!w->failed || r->guard.point < w->guard.point)) {
        w->failed = 1;
        w->guard = r->guard;
    }
    const size_t lanes = how == NATIVE ? NATIVE_LANES : p->machine->width;
    for (size_t s = 0; s < p->sums; s++) sum[s] = across(r->sum + s * lanes, lanes);
}

/* ---- blocks ---- */

/* The next block, when there is a place for its sums; or one that is not there. */
static size_t next_block(call_state *s) {
    if (s->alone) {
        const size_t block = atomic_load_explicit(&s->next, memory_order_relaxed);
        atomic_store_explicit(&s->next, block + 1, memory_order_relaxed);
        return block;
    }
    const size_t block = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
    if (block >= s->blocks || s->p->sums == 0) return block;
    (void)pthread_mutex_lock(&s->lock);
    while (block >= s->committed + s->ring) (void)pthread_cond_wait(&s->moved, &s->lock);
    (void)pthread_mutex_unlock(&s->lock);
    return block;
}

static double *sum_of(const call_state *s, size_t block) {
    return s->ring_sum + block % s->ring * s->p->sums;
}

/* Adds the sums of the next block to those before. */
static void add_up(call_state *s) {
    const wgi_bytecode *const p = s->p;
    const double *const sum = sum_of(s, s->committed);
    for (size_t k = 0; k < p->sums; k++) s->uniform[p->sum_at + k] += sum[k];
    s->ring_done[s->committed % s->ring] = 0;
    s->committed++;
}

/* The sums of a block are there: adds up what has its turn. */
static void commit(call_state *s, size_t block) {
    if (s->p->sums == 0) return;
    if (s->alone) {
        add_up(s);
        return;
    }
    (void)pthread_mutex_lock(&s->lock);
    s->ring_done[block % s->ring] = 1;
    while (s->committed < s->blocks && s->ring_done[s->committed % s->ring]) add_up(s);
    (void)pthread_cond_broadcast(&s->moved);
    (void)pthread_mutex_unlock(&s->lock);
}

static void work_on_blocks(worker *w) {
    call_state *const s = w->s;
    const wgi_bytecode *const p = s->p;
    int prepared = 0;
    for (size_t block; (block = next_block(s)) < s->blocks; commit(s, block)) {
        if (!prepared) prepare(w);
        prepared = 1;
        const size_t first = block * p->block;
        const size_t end = s->points - first < p->block ? s->points : first + p->block;
        const size_t step = p->sums != 0        ? p->block
                            : p->native != NULL ? p->native_points
                                                : p->lanes;
        for (size_t at = first; at < end; at += step)
            stretch(w, at, end - at < step ? end : at + step, sum_of(s, block));
    }
}

/* ---- a call ---- */

static void shared_inputs(const call_state *s) {
    const wg_function *const f = s->f;
    const wgi_bytecode *const p = s->p;
    double *to = s->uniform;
    *to++ = (double)s->points;
    for (size_t k = 0; k < p->numbers; k++) *to++ = p->number[k];
    for (size_t k = 0; k < f->inputs; k++) {
        const wg_points *const x = &s->x[k];
        if (!(f->input[k].flags & WG_SHARED)) continue;
        const size_t entries = wgi_argument_size(&f->input[k]);
        for (size_t e = 0; e < entries; e++)
            *to++ = x->data == NULL ? 0 : x->data[(ptrdiff_t)e * x->entry];
    }
    memset(s->uniform + p->sum_at, 0, p->sums * sizeof(double));
}

static void summed_outputs(const call_state *s) {
    const wg_function *const f = s->f;
    const uint32_t *from = s->p->result_uniform;
    for (size_t k = 0; k < f->outputs; k++) {
        const wg_results *const y = &s->y[k];
        const size_t entries = wgi_argument_size(&f->output[k]);
        for (size_t e = 0; (f->output[k].flags & WG_SUMMED) && y->data != NULL && e < entries;
             e++)
            y->data[(ptrdiff_t)e * y->entry] = s->uniform[from[e]];
        from += entries;
    }
}

/* Comparisons of what is the same at all points: they fail at the first. */
static void compare_uniforms(const call_state *s, wgi_fn_run *r) {
    const wg_function *const f = s->f;
    for (size_t k = 0; k < f->guards; k++) {
        const uint32_t a = s->p->guard_uniform[2 * k], b = s->p->guard_uniform[2 * k + 1];
        if (a == WGI_NO_NODE || b == WGI_NO_NODE) continue;
        if (wgi_compare(f->guard[k].comparison, s->uniform[a], s->uniform[b]) !=
            f->guard[k].outcome)
            wgi_fn_guard_note(r, 0, k);
    }
}

/* One worker each. */
static wg_status task(void *ctx, size_t k) {
    work_on_blocks(worker_at(ctx, k));
    return WG_OK;
}

static wg_status with_threads(call_state *s, wg_threads *threads, size_t tasks) {
    worker *const own = worker_at(s, 0);
    for (size_t k = 1; k < tasks; k++) (void)new_worker(s, k);
    const wg_status status = wg_threads_run(threads, tasks, task, s);
    for (size_t k = 1; k < tasks; k++) {
        const worker *const w = worker_at(s, k);
        if (!w->failed) continue;
        if (!own->failed || w->guard.point < own->guard.point) own->guard = w->guard;
        own->failed = 1;
    }
    return status;
}

static int open_lock(call_state *s) {
    if (pthread_mutex_init(&s->lock, NULL) != 0) return 0;
    if (pthread_cond_init(&s->moved, NULL) == 0) return 1;
    (void)pthread_mutex_destroy(&s->lock);
    return 0;
}

static wg_status at_the_points(call_state *s, wg_threads *threads) {
    const size_t count = wg_threads_count(threads);
    s->alone = count <= 1 || s->blocks <= 1 || !open_lock(s);
    if (s->alone) {
        work_on_blocks(worker_at(s, 0));
        return WG_OK;
    }
    const wg_status status = with_threads(s, threads, count < s->blocks ? count : s->blocks);
    (void)pthread_cond_destroy(&s->moved);
    (void)pthread_mutex_destroy(&s->lock);
    return status;
}

/* All that is done before the points. Gives the caller's worker. */
static worker *begin(call_state *s, const wg_function *f, size_t points, const wg_points *x,
                     const wg_results *y, size_t threads, char *at) {
    const wgi_bytecode *const p = f->bytecode;
    memset(s, 0, sizeof *s);
    s->f = f, s->p = p, s->x = x, s->y = y;
    s->points = points;
    s->blocks = points / p->block + (points % p->block != 0);
    s->ring = RING * threads;
    s->uniform = piece(&at, p->uniforms * sizeof(double));
    s->ring_sum = piece(&at, s->ring * p->sums * sizeof(double));
    s->ring_done = piece(&at, s->ring);
    memset(s->ring_done, 0, s->ring);
    s->workers = at;
    worker *const own = new_worker(s, 0);
    shared_inputs(s);
    if (f->once != 0) part_alone(s, &own->r, WGI_ONCE);
    return own;
}

/* Which comparison failed first. */
static wg_status outcome(const call_state *s, worker *own, wg_function_guard *guard) {
    own->r.failed = own->failed;
    own->r.guard = own->guard;
    if (s->points != 0) compare_uniforms(s, &own->r);
    if (s->points != 0 && s->failed) wgi_fn_guard_note(&own->r, 0, s->guard.guard);
    if (!own->r.failed) return WG_OK;
    if (guard != NULL) *guard = own->r.guard;
    return WG_EGUARD;
}

static char *aligned(void *work) { return (char *)work + (-(uintptr_t)work & (LINE - 1)); }

wg_status wg_function_evaluate(const wg_function *f, size_t points, const wg_points *x,
                               const wg_results *y, wg_threads *threads, void *work,
                               wg_function_guard *guard) {
    if (f == NULL || work == NULL || (x == NULL && f->inputs != 0) ||
        (y == NULL && f->outputs != 0))
        return WG_ENULL;
    call_state s;
    worker *const own = begin(&s, f, points, x, y, wg_threads_count(threads), aligned(work));
    const wg_status status = at_the_points(&s, threads);
    if (status != WG_OK) return status;
    if (f->after != 0) part_alone(&s, &own->r, WGI_AFTER);
    summed_outputs(&s);
    return outcome(&s, own, guard);
}

/* ---- again and again, without sums ---- */

size_t wgi_fn_steady_work(const wg_function *f) {
    return round_up(sizeof(call_state)) + wg_function_work(f, NULL);
}

struct wgi_fn_steady *wgi_fn_steady_open(const wg_function *f, const wg_points *x,
                                         const wg_results *y, void *work) {
    char *at = aligned(work);
    call_state *const s = piece(&at, sizeof *s);
    prepare(begin(s, f, 1, x, y, 1, at));
    return (struct wgi_fn_steady *)(void *)s;
}

wg_status wgi_fn_steady_run(struct wgi_fn_steady *steady, size_t points,
                            wg_function_guard *guard) {
    call_state *const s = (call_state *)(void *)steady;
    worker *const own = worker_at(s, 0);
    const size_t step = s->p->native != NULL ? s->p->native_points : s->p->lanes;
    own->failed = 0;
    for (size_t at = 0; at < points; at += step)
        stretch(own, at, points - at < step ? points : at + step, NULL);
    return outcome(s, own, guard);
}
