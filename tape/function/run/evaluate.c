/* SPDX-License-Identifier: MIT */
/* The road of a function through its evaluation; bytecode.h says what runs on it.
 *
 *     prepare      the workspace is cut: uniforms, and for each thread columns and lanes of sums
 *     load         numbers and shared inputs become uniforms
 *     once         what is the same at all points is computed
 *     each block   blocks of points, a fixed number in each, which threads take one after the
 *                  other: their inputs are loaded into columns, and their results stored, by
 *                  instructions of the bytecode, or before and after native code
 *     after        what depends on sums over the points is computed
 *     store        summed outputs go to the caller
 *
 * A function that is evaluated again and again (wgi_fn_steady_open) is prepared, loaded and
 * done once when it is opened. Other files have stations of these names.
 *
 * Sums are added up apart in each block, lane by lane, then the lanes in a fixed order, then
 * the blocks in theirs: no bit depends on the number of threads. The sums of a block that is
 * done before its turn wait in a ring. Where only a part of the points is here
 * (wg_function_evaluate_part), all sums of blocks stay, and somebody else adds them up.
 *
 * Products by the zero rule are plain ones at first. Where no result, no term of a sum and
 * nothing that could hide a NaN is NaN, the rule would have changed nothing; otherwise a
 * stretch of points, a run or, where there are sums, a block, is done again by the rule. */
#include "bytecode.h"
#include "tape/function/graph/pieces.h"

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
    for (uint32_t k = 0; k < call->results; k++) wgi_fn_fill(r, COLUMN(y_at[k]));
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
    double *const residual = COLUMN(wgi_fn_offset(WGI_FN_SCRATCH2));
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
    if (call->how == WGI_FN_VALUE) call->kernel(r->lanes, in, &out, residual, call->op);
    else if (call->how == WGI_FN_SLOPE)
        call->kernel(r->lanes, in, &out, COLUMN(y_at[1]), call->op);
    else {
        /* -0 + d is d, even where d is a zero of either sign */
        double *const d = out.value;
        for (size_t p = 0; p < r->lanes; p++) d[p] = -0.0;
        out.value = call->value != WGI_NO_NODE ? COLUMN(call->value) : scratch;
        if (call->value == WGI_NO_NODE) call->kernel(r->lanes, in, &out, residual, call->op);
        out.bar = COLUMN(wgi_fn_offset(WGI_FN_ONES));
        in[call->part].bar = d;
        call->adjoint(r->lanes, in, &out, residual, call->op);
    }
}

/* ---- prepare: workspace ---- */

typedef struct call_state call_state;

/* Who adds up the sums of blocks that are not all here. */
typedef struct part_sums {
    size_t all; /* points, with those elsewhere */
    wg_adding *add;
    void *ctx;
} part_sums;

/* One thread's part of a call. */
typedef struct worker {
    call_state *s;
    wgi_fn_run r;
    wgi_fn_run native;      /* of native code, with columns of its own */
    double **native_column; /* those of its inputs, then of its results */
    int careful;            /* the next stretch begins with the zero rule */
    int failed;             /* a comparison came out differently: the first one is `guard` */
    wg_function_guard guard;
} worker;

struct call_state {
    const wg_function *f;
    const wgi_bytecode *p;
    size_t points, blocks;
    size_t lanes; /* of a run, at most */
    const wg_points *x;
    const wg_results *y;
    double *uniform;
    char *workers;
    size_t worker_bytes;
    atomic_size_t next; /* the first block that no thread has taken yet */
    int alone;          /* only the caller's thread works, and nothing is locked */
    wgi_progress_part progress;
    pthread_t caller; /* the thread that tells of it */
    /* a comparison failed of what is done once or after: `guard` is the first */
    int failed;
    wg_function_guard guard;
    /* blocks before `committed` are added up; the `ring` from there on have a place for their
     * sums, and a mark that says that these are there. Those of a part all stay */
    double *ring_sum;
    unsigned char *ring_done;
    size_t ring, committed;
    const part_sums *part; /* NULL: all points are here */
    pthread_mutex_t lock;
    pthread_cond_t moved; /* `committed` has moved on */
};

/* Bytes of a run that are set when it is prepared: marks of as many lanes as are run alone. To
 * set all takes as long as a few operations at one point. */
#define PREPARED offsetof(wgi_fn_run, valid[WGI_FN_FEWEST])
enum { RING = 4 /* places per thread */, LINE = 64, NATIVE_LANES = WGI_FN_NATIVE_LANES };

static size_t lanes_of_sum(const wgi_bytecode *p) {
    return p->machine->width > NATIVE_LANES ? p->machine->width : NATIVE_LANES;
}

/* The lanes of a run of so many points. */
static size_t lanes_of(const wgi_bytecode *p, size_t points) {
    size_t lanes = WGI_FN_FEWEST;
    while (lanes < points && lanes < p->lanes) lanes *= 2;
    return lanes;
}

static size_t column_bytes(const wgi_bytecode *p, size_t lanes) {
    const size_t line = WGI_FN_FEWEST * sizeof(double);
    size_t most = p->part[WGI_EACH].slots * lanes * sizeof(double);
    if (p->part[WGI_ONCE].slots * line > most) most = p->part[WGI_ONCE].slots * line;
    if (p->part[WGI_AFTER].slots * line > most) most = p->part[WGI_AFTER].slots * line;
    return most;
}

/* One column beside those that count is never read. */
static size_t native_bytes(const wgi_bytecode *p) {
    return (1 + p->native_inputs + p->native_results + p->native_constants) * p->native_points *
           sizeof(double);
}

/* What the instructions of any part work on, those of each point on at most so many lanes. */
static void cut_run(wgi_fn_run *r, const wg_function *f, size_t lanes, wgi_pieces *c) {
    const wgi_bytecode *const p = f->bytecode;
    r->function = f;
    r->bytecode = p;
    r->column = wgi_pieces_take(c, column_bytes(p, lanes));
    r->operand = wgi_pieces_doubles(c, p->operands);
    r->whole = wgi_pieces_take(c, p->whole_bytes);
}

static void cut_worker(worker *w, const wg_function *f, size_t lanes, wgi_pieces *c) {
    const wgi_bytecode *const p = f->bytecode;
    cut_run(&w->r, f, lanes, c);
    w->r.sum = wgi_pieces_doubles(c, p->sums * lanes_of_sum(p));
    w->native.column = wgi_pieces_take(c, native_bytes(p));
    w->native_column =
        wgi_pieces_take(c, (p->native_inputs + p->native_results) * sizeof(double *));
}

/* What all threads share; workers stand behind it. */
static void cut_call(call_state *s, const wgi_bytecode *p, size_t ring, wgi_pieces *c) {
    s->ring = ring;
    s->uniform = wgi_pieces_doubles(c, p->uniforms);
    s->ring_sum = wgi_pieces_doubles(c, s->ring * p->sums);
    s->ring_done = wgi_pieces_take(c, s->ring);
}

static size_t work_of(const wg_function *f, size_t threads, size_t lanes, size_t ring) {
    call_state call;
    worker one;
    wgi_pieces shared = {NULL, 0}, own = {NULL, 0};
    cut_call(&call, f->bytecode, ring, &shared);
    (void)wgi_pieces_take(&own, sizeof one);
    cut_worker(&one, f, lanes, &own);
    return LINE + shared.used + threads * own.used;
}

size_t wg_function_work(const wg_function *f, const wg_threads *threads) {
    const size_t count = wg_threads_count(threads);
    return f != NULL ? work_of(f, count, f->bytecode->lanes, RING * count) : 0;
}

static size_t blocks_of(const wgi_bytecode *p, size_t points) {
    return points / p->block + (points % p->block != 0);
}

size_t wg_function_block(const wg_function *f) { return f != NULL ? f->bytecode->block : 0; }

size_t wg_function_work_part(const wg_function *f, size_t points, const wg_threads *threads) {
    return f != NULL ? work_of(f, wg_threads_count(threads), f->bytecode->lanes,
                               blocks_of(f->bytecode, points))
                     : 0;
}

static worker *worker_at(const call_state *s, size_t k) {
    return (worker *)(void *)(s->workers + k * s->worker_bytes);
}

/* The first worker also says how large each of them is. */
static worker *new_worker(call_state *s, size_t k) {
    wgi_pieces c = {s->workers + k * s->worker_bytes, 0};
    worker *const w = wgi_pieces_take(&c, sizeof *w);
    memset(&w->r, 0, PREPARED);
    cut_worker(w, s->f, s->lanes, &c);
    s->worker_bytes = c.used;
    w->s = s;
    w->careful = w->failed = 0;
    w->guard = (wg_function_guard){0, 0};
    w->r.uniform = s->uniform;
    w->r.points = s->points;
    w->r.x = s->x;
    w->r.y = s->y;
    return w;
}

/* Gives the caller's own worker. */
static worker *prepare(call_state *s, const wg_function *f, size_t points, size_t lanes,
                       const wg_points *x, const wg_results *y, size_t threads,
                       const part_sums *part, wgi_pieces *c) {
    const wgi_bytecode *const p = f->bytecode;
    memset(s, 0, sizeof *s);
    s->f = f, s->p = p, s->x = x, s->y = y;
    s->points = points;
    s->lanes = lanes;
    s->blocks = blocks_of(p, points);
    s->part = part;
    cut_call(s, p, part != NULL ? s->blocks : RING * threads, c);
    memset(s->ring_done, 0, s->ring);
    s->workers = c->base + c->used;
    return new_worker(s, 0);
}

/* ---- runs of bytecode ---- */

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

/* Lays columns out for so many lanes, and fills the one of ones. */
static void fixed_columns(wgi_fn_run *r, size_t lanes) {
    r->lanes = lanes;
    for (r->shift = 0; (size_t)WGI_FN_FEWEST << r->shift < lanes;) r->shift++;
    r->dump = wgi_fn_offset(WGI_FN_DUMP);
    for (size_t i = 0; i < lanes; i++) COLUMN(wgi_fn_offset(WGI_FN_ONES))[i] = 1;
}

/* Columns that hold a uniform in every lane. */
static void constants(const wgi_fn_run *r, size_t count, const wgi_fn_constant *c) {
    for (size_t k = 0; k < count; k++) {
        double *const to = COLUMN(c[k].column);
        for (size_t i = 0; i < r->lanes; i++) to[i] = r->uniform[c[k].uniform];
    }
}

/* ---- once, and after the points ---- */

static void run_alone(wgi_fn_run *r, wgi_when when) {
    r->first = 0;
    r->rows = 1;
    r->laid = 0;
    r->careful = 1;
    fixed_columns(r, WGI_FN_FEWEST);
    run(r, r->bytecode->part[when].code);
}

/* A repeat in that part may compare, and be told to stop. */
static void part_alone(call_state *s, wgi_fn_run *r, wgi_when when) {
    r->failed = s->failed, r->guard = s->guard;
    r->progress = s->progress;
    run_alone(r, when);
    s->failed = r->failed, s->guard = r->guard;
}

static void once(call_state *s, worker *own) {
    if (s->f->once != 0) part_alone(s, &own->r, WGI_ONCE);
}

static void after(call_state *s, worker *own) {
    if (s->f->after != 0) part_alone(s, &own->r, WGI_AFTER);
}

size_t wgi_fn_once_work(const wg_function *f) {
    wgi_fn_run counted;
    wgi_pieces c = {NULL, 0};
    cut_run(&counted, f, WGI_FN_FEWEST, &c);
    return c.used;
}

void wgi_fn_once(const wg_function *f, double *uniform, void *work) {
    wgi_fn_run r;
    wgi_pieces c = {work, 0};
    memset(&r, 0, PREPARED);
    cut_run(&r, f, WGI_FN_FEWEST, &c);
    r.uniform = uniform;
    run_alone(&r, WGI_ONCE);
}

/* ---- each block: runs of points ---- */

/* What stays of native code from run to run, in its columns too. */
static void open_native(worker *w) {
    const wgi_bytecode *const p = w->s->p;
    wgi_fn_run *const r = &w->native;
    if (p->native == NULL) return;
    char *const column = r->column;
    memcpy(r, &w->r, PREPARED);
    r->column = column;
    r->lanes = p->native_points;
    r->shift = 0;
    r->dump = 0;
    constants(r, p->native_constants, p->native_constant);
    for (size_t k = 0; k < p->native_inputs + p->native_results; k++)
        w->native_column[k] = (double *)(void *)column + (1 + k) * p->native_points;
}

static void run_points(wgi_fn_run *r, size_t first, size_t end) {
    const wgi_bytecode *const bytecode = r->bytecode;
    r->first = first;
    r->rows = end - first < bytecode->lanes ? end - first : bytecode->lanes;
    const size_t lanes = lanes_of(bytecode, r->rows);
    if (lanes != r->laid) { /* the first run, or the last points of a call */
        fixed_columns(r, lanes);
        constants(r, bytecode->constants, bytecode->constant);
        r->laid = lanes;
    }
    for (size_t p = 0; r->rows < r->lanes && p < r->lanes; p++)
        r->valid[p] = p < r->rows ? -1 : 0;
    run(r, bytecode->part[WGI_EACH].code);
}

/* Gives what the native code gave. */
static int run_native(worker *w, size_t first, size_t end) {
    const wgi_bytecode *const p = w->s->p;
    const size_t rows = end - first < p->native_points ? end - first : p->native_points;
    wgi_fn_run *const r = &w->native;
    r->lanes = (rows + NATIVE_LANES - 1) / NATIVE_LANES * NATIVE_LANES;
    r->first = first;
    r->rows = rows;
    p->machine->load(r, p->load, p->loads, 1);
    const int said = p->native(r->uniform, (const double *const *)w->native_column,
                               w->native_column + p->native_inputs, r->sum, r->lanes, r->rows);
    if (said == 0) p->machine->store(r, p->store, p->stores, 1);
    return said;
}

/* The points below `end` are done; nonzero: no further ones are to be. Out of the way of runs
 * of which nobody is told. */
static __attribute__((noinline, cold)) int stops(wgi_fn_run *r, size_t end) {
    return wgi_fn_stopped(&r->progress) ||
           wgi_progress_stops(r->progress.of,
                              r->progress.from + r->progress.each * (double)end);
}

/* Points [first, end) in one way; gives 0 if they have to be done again with care. Where it is
 * told to stop it leaves the rest. */
typedef enum { NATIVE, PLAIN, CAREFUL } way;
static int done(worker *w, way how, size_t first, size_t end) {
    const wgi_bytecode *const p = w->s->p;
    wgi_fn_run *const r = &w->r;
    const size_t lanes = how == NATIVE ? NATIVE_LANES : p->machine->width;
    r->careful = how == CAREFUL;
    r->nan = r->rescued = r->failed = 0;
    if (p->sums != 0) memset(r->sum, 0, p->sums * lanes * sizeof(double));
    const size_t points = how == NATIVE ? p->native_points : p->lanes;
    for (size_t at = first; at < end; at += points) {
        if (how == NATIVE) r->nan = run_native(w, at, end);
        else run_points(r, at, end);
        if (r->nan && how != CAREFUL) return 0;
        if (r->progress.of != NULL && stops(r, end - at < points ? end : at + points)) return 1;
    }
    if (how != PLAIN || !p->check_sums) return 1;
    return !p->machine->any_nan(r->sum, p->sums * lanes);
}

/* Points that are done again together where a plain product was not enough. */
static void stretch(worker *w, size_t first, size_t end, double *sum) {
    const wgi_bytecode *const p = w->s->p;
    wgi_fn_run *const r = &w->r;
    way how = p->native != NULL ? NATIVE : w->careful ? CAREFUL : PLAIN;
    if (!done(w, how, first, end)) {
        how = CAREFUL;
        (void)done(w, how, first, end);
    }
    /* where the rule has changed something it may do so again */
    w->careful = how == CAREFUL && r->rescued;
    if (r->failed && (!w->failed || r->guard.point < w->guard.point)) {
        w->failed = 1;
        w->guard = r->guard;
    }
    const size_t lanes = how == NATIVE ? NATIVE_LANES : p->machine->width;
    for (size_t s = 0; s < p->sums; s++) sum[s] = wgi_fn_across(r->sum + s * lanes, lanes);
}

/* ---- each block: who takes it, and its turn ---- */

/* The number of the next block, once there is a place for its sums; from s->blocks on there is
 * none. */
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

/* The sums of a block are there: adds up all blocks whose turn has come. */
static void commit(call_state *s, size_t block) {
    if (s->p->sums == 0 || s->part != NULL) return;
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

/* Points [first, end), a stretch at a time. */
static void stretches(worker *w, size_t first, size_t end, double *sum) {
    const wgi_bytecode *const p = w->s->p;
    const size_t step = p->sums != 0        ? p->block
                        : p->native != NULL ? p->native_points
                                            : p->lanes;
    for (size_t at = first; at < end && !wgi_fn_stopped(&w->r.progress); at += step)
        stretch(w, at, end - at < step ? end : at + step, sum);
}

static void work_on_blocks(worker *w) {
    call_state *const s = w->s;
    int begun = 0;
    w->r.progress = s->progress;
    if (!s->alone && !pthread_equal(s->caller, pthread_self())) w->r.progress.of = NULL;
    for (size_t block; (block = next_block(s)) < s->blocks; commit(s, block)) {
        if (!begun) open_native(w);
        begun = 1;
        const size_t first = block * s->p->block;
        const size_t end = s->points - first < s->p->block ? s->points : first + s->p->block;
        stretches(w, first, end, sum_of(s, block));
        /* blocks that others have begun are done */
        if (wgi_fn_stopped(&w->r.progress)) atomic_store(&s->next, s->blocks);
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

static wg_status each_block(call_state *s, wg_threads *threads) {
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

/* Sums of the blocks of a part become those of all points. */
static wg_status add_part(call_state *s) {
    const wgi_bytecode *const p = s->p;
    if (s->part == NULL || p->sums == 0) return WG_OK;
    return s->part->add(s->part->ctx, s->blocks, p->sums, s->ring_sum, s->uniform + p->sum_at);
}

/* ---- comparisons ---- */

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

/* ---- a call ---- */

static char *aligned(void *work) { return (char *)work + (-(uintptr_t)work & (LINE - 1)); }

/* NULL where there is nobody to tell. */
static wgi_progress *listening(wgi_progress *p) {
    return p != NULL && (p->to.call != NULL || p->stopped) ? p : NULL;
}

/* Numbers stay in their places for all runs; what depends on the caller is loaded. */
static void load(const call_state *s) {
    wgi_fn_load_numbers(s->p, s->uniform);
    wgi_fn_load(s->f, s->part != NULL ? s->part->all : s->points, s->x, s->uniform);
}

static wg_status evaluate(const wg_function *f, size_t points, const wg_points *x,
                          const wg_results *y, wg_threads *threads, void *work,
                          wg_function_guard *guard, wgi_progress_part progress,
                          const part_sums *part) {
    if (f == NULL || work == NULL || (x == NULL && f->inputs != 0) ||
        (y == NULL && f->outputs != 0))
        return WG_ENULL;
    call_state s;
    wgi_pieces c = {aligned(work), 0};
    worker *const own =
        prepare(&s, f, points, f->bytecode->lanes, x, y, wg_threads_count(threads), part, &c);
    s.progress = progress;
    s.progress.of = listening(progress.of);
    s.caller = pthread_self();
    load(&s);
    once(&s, own);
    wg_status status = wgi_fn_stopped(&s.progress) ? WG_ESTOPPED : each_block(&s, threads);
    if (status == WG_OK && !wgi_fn_stopped(&s.progress)) status = add_part(&s);
    if (status == WG_OK && !wgi_fn_stopped(&s.progress)) after(&s, own);
    if (wgi_fn_stopped(&s.progress)) status = WG_ESTOPPED;
    if (status != WG_OK) return status;
    wgi_fn_store_sums(f, s.uniform, y);
    return outcome(&s, own, guard);
}

wg_status wgi_function_evaluate(const wg_function *f, size_t points, const wg_points *x,
                                const wg_results *y, wg_threads *threads, void *work,
                                wg_function_guard *guard, wgi_progress_part progress) {
    return evaluate(f, points, x, y, threads, work, guard, progress, NULL);
}

wg_status wg_function_evaluate(const wg_function *f, size_t points, const wg_points *x,
                               const wg_results *y, wg_threads *threads, void *work,
                               wg_function_guard *guard) {
    return wgi_function_evaluate(f, points, x, y, threads, work, guard,
                                 (wgi_progress_part){NULL, 0, 0});
}

wg_status wg_function_evaluate_progress(const wg_function *f, size_t points, const wg_points *x,
                                        const wg_results *y, wg_threads *threads, void *work,
                                        wg_function_guard *guard, const wg_progress *progress) {
    wgi_progress told;
    memset(&told, 0, sizeof told);
    if (progress != NULL) told.to = *progress;
    return wgi_function_evaluate(f, points, x, y, threads, work, guard,
                                 wgi_progress_points(&told, 0, points));
}

wg_status wg_function_evaluate_part(const wg_function *f, size_t all, size_t points,
                                    const wg_points *x, const wg_results *y,
                                    wg_threads *threads, void *work, wg_function_guard *guard,
                                    wg_adding *add, void *ctx) {
    const part_sums part = {all, add, ctx};
    if (add == NULL) return WG_ENULL;
    return evaluate(f, points, x, y, threads, work, guard, (wgi_progress_part){NULL, 0, 0},
                    &part);
}

/* ---- again and again ---- */

size_t wgi_fn_steady_work(const wg_function *f, size_t points) {
    if (f == NULL) return 0;
    return (sizeof(call_state) + LINE - 1) / LINE * LINE +
           work_of(f, 1, lanes_of(f->bytecode, points), RING);
}

struct wgi_fn_steady *wgi_fn_steady_open(const wg_function *f, size_t points,
                                         const wg_points *x, const wg_results *y, void *work,
                                         wgi_progress *progress) {
    wgi_pieces c = {aligned(work), 0};
    call_state *const s = wgi_pieces_take(&c, sizeof *s);
    worker *const own = prepare(s, f, 1, lanes_of(f->bytecode, points), x, y, 1, NULL, &c);
    s->alone = 1;
    s->progress.of = listening(progress);
    load(s);
    once(s, own);
    own->r.progress = s->progress;
    open_native(own);
    return (struct wgi_fn_steady *)(void *)s;
}

void wgi_fn_steady_load(struct wgi_fn_steady *steady) {
    call_state *const s = (call_state *)(void *)steady;
    worker *const own = worker_at(s, 0);
    wgi_fn_load(s->f, 1, s->x, s->uniform);
    s->failed = 0;
    once(s, own);
    /* columns of constants are to be filled anew */
    own->r.laid = 0;
    open_native(own);
}

/* After the only block of a function with sums. */
static wg_status close_block(call_state *s, worker *own, wg_function_guard *guard) {
    const int failed = s->failed; /* of what is done once */
    const wg_function_guard noted = s->guard;
    memset(s->uniform + s->p->sum_at, 0, s->p->sums * sizeof *s->uniform);
    s->committed = 0;
    add_up(s);
    after(s, own);
    wgi_fn_store_sums(s->f, s->uniform, s->y);
    const wg_status status = outcome(s, own, guard);
    s->failed = failed, s->guard = noted;
    return status;
}

wg_status wgi_fn_steady_run(struct wgi_fn_steady *steady, size_t points,
                            wg_function_guard *guard) {
    call_state *const s = (call_state *)(void *)steady;
    worker *const own = worker_at(s, 0);
    own->failed = 0;
    stretches(own, 0, points, sum_of(s, 0));
    if (wgi_fn_stopped(&s->progress)) return WG_ESTOPPED;
    return s->p->totals != 0 ? close_block(s, own, guard) : outcome(s, own, guard);
}
