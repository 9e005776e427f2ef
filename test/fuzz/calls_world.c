/* SPDX-License-Identifier: MIT */
/* calls_world.c - the world that sequences of calls act on: its memory, which is counted and
 * may be refused at random; tapes of all kinds; and what has to hold when a sequence is
 * over. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include <pthread.h>
#include <sys/mman.h>
#include "calls.h"
#if defined(__SANITIZE_ADDRESS__)
#define POISONS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS
#endif
#endif
#ifdef POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

struct world world;
wg_function *house_function[HOUSE];
wg_callable *house_callable[HOUSE];

/* ---- memory ----
 * Ranges of powers of two of pages, cut from one piece, used again last in, first out: what is
 * stale stands in the way of what is new. Longer ones than LARGEST are refused. */

enum { PAGE = 4096, CLASSES = 11, LARGEST = PAGE << (CLASSES - 1) };
static const size_t ROOM = (size_t)1 << 30;
static struct {
    char *base;
    size_t used, live, held, wrong; /* live ranges, and of how many bytes they are */
    void *free[CLASSES];            /* the next one stands in link[] */
    void **link;
    uint32_t *bytes, *committed; /* of the range that starts at a page; 0: none */
} memory;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* parallel loops ask in their threads */

static size_t class_of(size_t bytes) {
    size_t k = 0;
    while (((size_t)PAGE << k) < bytes) k++;
    return k;
}
static size_t page_of(const void *p) { return (size_t)((const char *)p - memory.base) / PAGE; }

static int refused(void) {
    if (world.odds == 0) return 0;
    call.memory = call.memory * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (call.memory >> 33) % world.odds == 0;
}

static void give(size_t k, char *p) {
    memory.link[page_of(p)] = memory.free[k];
    memory.free[k] = p;
}
static char *taken(size_t k) {
    char *const p = memory.free[k];
    if (p != NULL) memory.free[k] = memory.link[page_of(p)];
    return p;
}

static void *reserve_locked(size_t bytes) {
    if (bytes == 0 || bytes % PAGE != 0) memory.wrong++;
    if (bytes > LARGEST || refused()) return NULL;
    const size_t k = class_of(bytes);
    char *p = taken(k);
    if (p == NULL && memory.used + ((size_t)PAGE << k) <= ROOM) {
        p = memory.base + memory.used;
        memory.used += (size_t)PAGE << k;
    }
    /* the first part of a larger one, whose others are there for later */
    for (size_t larger = k + 1; p == NULL && larger < CLASSES; larger++) {
        p = taken(larger);
        for (size_t part = larger; p != NULL && part > k; part--)
            give(part - 1, p + ((size_t)PAGE << (part - 1)));
    }
    if (p == NULL) return NULL;
    memory.bytes[page_of(p)] = (uint32_t)bytes;
    memory.committed[page_of(p)] = 0;
    memory.held += (size_t)PAGE << k;
    memory.live++;
    return p;
}

static int commit_locked(void *p, size_t bytes) {
    size_t start = page_of(p);
    const size_t page = start;
    /* the range it is in: mostly one that begins here, or not far before */
    while (memory.bytes[start] == 0 && start > 0) start--;
    if (bytes == 0 || bytes % PAGE != 0 || (page - start) * PAGE != memory.committed[start] ||
        memory.committed[start] + bytes > memory.bytes[start]) {
        memory.wrong++;
        return 1;
    }
    if (refused()) return 1;
    memory.committed[start] += (uint32_t)bytes;
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    return 0;
}

static void release_locked(void *p, size_t bytes) {
    const size_t page = page_of(p), k = class_of(bytes);
    if ((char *)p < memory.base || page >= ROOM / PAGE || memory.bytes[page] != bytes) {
        memory.wrong++;
        return;
    }
    ASAN_POISON_MEMORY_REGION(p, bytes);
    memory.bytes[page] = 0;
    give(k, p);
    memory.held -= (size_t)PAGE << k;
    memory.live--;
}

static void *fuzz_reserve(void *ctx, size_t bytes) {
    (void)ctx;
    (void)pthread_mutex_lock(&lock);
    void *const p = reserve_locked(bytes);
    (void)pthread_mutex_unlock(&lock);
    return p;
}
static int fuzz_commit(void *ctx, void *p, size_t bytes) {
    (void)ctx;
    (void)pthread_mutex_lock(&lock);
    const int failed = commit_locked(p, bytes);
    (void)pthread_mutex_unlock(&lock);
    return failed;
}
static void fuzz_release(void *ctx, void *p, size_t bytes) {
    (void)ctx;
    (void)pthread_mutex_lock(&lock);
    release_locked(p, bytes);
    (void)pthread_mutex_unlock(&lock);
}

wg_memory fuzz_memory(void) {
    return (wg_memory){fuzz_reserve, fuzz_commit, fuzz_release, NULL};
}

static int memory_open(void) {
    const int map = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (memory.base != NULL) return 0;
    memory.base = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, map, -1, 0);
    memory.link = calloc(ROOM / PAGE, sizeof *memory.link);
    memory.bytes = calloc(ROOM / PAGE, sizeof *memory.bytes);
    memory.committed = calloc(ROOM / PAGE, sizeof *memory.committed);
    if (memory.base == MAP_FAILED || !memory.link || !memory.bytes || !memory.committed)
        return 1;
    ASAN_POISON_MEMORY_REGION(memory.base, ROOM);
    return 0;
}

/* Every sequence begins with all of it, whatever sizes those before it have cut; what they
 * wrote is still there. */
static void memory_renew(void) {
    if (memory.live != 0) return;
    memory.used = 0;
    memset(memory.free, 0, sizeof memory.free);
}

/* ---- tapes ---- */

enum { CODE = WG_KEEP_CODE, PLACES = WG_KEEP_PLACES, TRACE = WG_TRACE, CHECKED = WG_CHECKED };
static const struct {
    unsigned flags;
    size_t budget, buffer, max_slots, reserve, loops_over;
    int system; /* memory is the system's */
} configs[] = {
    {CODE, 0, 0, 0, 1 << 20, 0, 0},
    {0, 0, 0, 0, 1 << 20, 0, 0},
    {CODE | CHECKED, 0, 0, 0, 1 << 20, 0, 0},
    {CODE, 0, 0, 0, 0, 20, 0},
    {CODE, 0, 0, 0, 1 << 20, 30, 0},
    {CODE | PLACES | TRACE, 0, 0, 0, 1 << 20, 0, 0},
    {CODE, 1 << 19, 0, 0, 1 << 20, 0, 1},
    {CODE, 0, 1 << 19, 0, 0, 10, 0},
    {CODE | PLACES | TRACE | CHECKED, 1 << 22, 0, 0, 4096, 0, 1},
    {CODE, 0, 0, 40, 1 << 20, 0, 0},
    {PLACES, 0, 0, 0, 1 << 20, 0, 0},
    {TRACE, 0, 0, 0, 1 << 20, 0, 0},
    {CHECKED, 0, 0, 0, 1 << 20, 0, 0},
    {0, 1 << 18, 0, 0, 1 << 20, 0, 1},
    {0, 0, 1 << 18, 0, 0, 0, 0},
    {CODE, 1 << 22, 0, 0, 0, 0, 1},
};
enum { CONFIGS = sizeof configs / sizeof *configs, ORDINARY = 4 };

static wg_tape *new_tape(unsigned config, char *buffer) {
    const wg_options o = {
        .flags = configs[config].flags,
        .budget = configs[config].budget,
        .buffer = buffer,
        .buffer_bytes = configs[config].buffer,
        .max_slots = configs[config].max_slots,
        .reserve = configs[config].reserve,
        .loops_over = configs[config].loops_over,
        .memory = configs[config].system ? (wg_memory){0} : fuzz_memory(),
    };
    return wg_tape_new(&o);
}

int tape_open(struct room *r, unsigned config) {
    r->config = config % CONFIGS;
    r->buffer = NULL;
    if (configs[r->config].buffer != 0) {
        r->buffer = malloc(configs[r->config].buffer);
        if (r->buffer == NULL) return 1;
    }
    r->tape = new_tape(r->config, r->buffer);
    r->work = r->tape != NULL ? new_tape(1, NULL) : NULL;
    if (r->work != NULL) return 0;
    wg_tape_free(r->tape);
    free(r->buffer);
    r->tape = NULL;
    r->buffer = NULL;
    return 1;
}

void forget(struct room *r) {
    for (size_t i = 0; i < MATS; i++) r->mat[i] = wg_mat_failed(1, 1), r->spd[i] = 0;
    memset(r->factor, 0, sizeof r->factor);
    memset(r->pattern, 0, sizeof r->pattern);
    memset(r->mark, 0, sizeof r->mark);
}

size_t room_number(const struct room *r) { return (size_t)(r - world.room); }

void branches_close(size_t k) {
    wg_branches_free(world.branch[k].branches);
    world.branch[k].branches = NULL;
}

void model_close(size_t k) {
    wg_model_free(world.model[k].model);
    world.model[k].model = NULL;
}

/* Not in threads that come in an order of chance are requests for memory refused. */
wg_status parallel_join(struct parallel *l) {
    const unsigned odds = world.odds;
    if (l->pool < POOLS) world.odds = 0;
    const wg_status s = wg_parallel_join(l->p);
    world.odds = odds;
    l->open = 0;
    return s;
}
/* Segments are not freed while a loop is open. */
void parallel_close(size_t k) {
    struct parallel *const l = &world.parallel[k];
    if (l->open) (void)parallel_join(l);
    wg_parallel_free(l->p);
    *l = (struct parallel){NULL, TAPES, POOLS, 0};
}

void tape_close(struct room *r) {
    const size_t k = room_number(r);
    for (size_t i = 0; i < PARALLELS; i++)
        if (world.parallel[i].tape == k) parallel_close(i);
    for (size_t i = 0; i < BRANCHES; i++)
        if (world.branch[i].tape == k) branches_close(i);
    for (size_t i = 0; i < MODELS; i++)
        if (world.model[i].tape == k) model_close(i);
    wg_tape_free(r->tape);
    wg_tape_free(r->work);
    free(r->buffer);
    r->tape = r->work = NULL;
    r->buffer = NULL;
    for (size_t i = 0; i < CALLABLES; i++) world.callable_tapes[i] &= ~(1U << k);
    for (size_t i = 0; i < POOLS; i++) world.pool_tapes[i] &= ~(1U << k);
    forget(r);
}

/* Recordings that may need what is to be freed are given up first. */
static void give_up(unsigned *tapes) {
    for (size_t k = 0; k < TAPES; k++)
        if ((*tapes >> k & 1) != 0) wg_tape_reset(world.room[k].tape);
    *tapes = 0;
}
void callable_close(size_t k) {
    give_up(&world.callable_tapes[k]);
    wg_callable_free(world.callable[k]);
    world.callable[k] = NULL;
}
void pool_close(size_t k) {
    for (size_t i = 0; i < PARALLELS; i++)
        if (world.parallel[i].pool == k) parallel_close(i);
    give_up(&world.pool_tapes[k]);
    wg_threads_free(world.pool[k]);
    world.pool[k] = NULL;
}

/* ---- the reference program ---- */

enum { REFERENCE = 40 };
struct reference {
    double bits[REFERENCE];
    size_t count;
};

static void note(struct reference *r, double x) {
    if (r->count < REFERENCE) r->bits[r->count++] = x;
}

static wg_status hill(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(wg_exp(wg_neg(wg_mul(x[0], x[0]))), wg_sin(x[1])));
    return WG_OK;
}

static void refer_to_function(wg_tape *t, struct reference *r) {
    static const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    const double x[] = {0.5, 0.25};
    double y = 0;
    wg_function *f = NULL;
    note(r, wg_function_record(t, hill, NULL, 1, &in, x, 1, &out, &f));
    if (f == NULL) return;
    void *const work = malloc(wg_function_work(f, NULL));
    note(r, wg_function_evaluate(f, 1, &(wg_points){x, 2, 1}, &(wg_results){&y, 1, 1}, NULL,
                                 work, NULL));
    note(r, y);
    free(work);
    wg_function_free(f);
}

/* Scalars, matrices, a sweep, drivers, a function: numbers and statuses. */
static void refer(wg_tape *t, struct reference *r) {
    const double a[] = {2, 0.5, 0.25, 3}, b[] = {1, -1}, at[] = {0.75, -0.5}, v[] = {1, 2};
    double value = 0, g[2] = {0, 0}, h[4] = {0, 0, 0, 0};
    memset(r, 0, sizeof *r);
    wg_real x[2];
    note(r, wg_inputs(t, 2, at, x));
    const wg_real y = wg_let(t, wg_add(wg_mul(x[0], wg_exp(x[1])), wg_sqrt(wg_fabs(x[0]))));
    const wg_mat m = wg_mat_input(t, 2, 2, a, 2), c = wg_mat_constant(t, 2, 1, b, 2);
    const wg_mat s = wg_solve(t, m, wg_mat_add(t, c, c));
    const wg_real z = wg_let(t, wg_mul(y, wg_mat_sum(t, s)));
    note(r, wg_tape_status(t));
    note(r, z.value);
    note(r, wg_reverse(t, z));
    note(r, wg_adjoint(t, x[0]));
    note(r, wg_adjoint(t, x[1]));
    note(r, wg_mat_adjoint(t, m, h, 2));
    for (size_t i = 0; i < 4; i++) note(r, h[i]);
    note(r, wg_tape_hvp(t, y, 2, x, v, g));
    note(r, g[0]);
    note(r, g[1]);
    note(r, wg_gradient(t, hill, NULL, 2, at, &value, g));
    note(r, value);
    note(r, g[0]);
    note(r, wg_hessian(t, hill, NULL, 2, at, &value, g, h, 2));
    note(r, h[1]);
    wg_tape_reset(t);
    refer_to_function(t, r);
    wg_tape_reset(t);
}

static struct reference expected[CONFIGS];

static int expect(unsigned config) {
    if (expected[config].count != 0) return 0;
    struct room r = {0};
    if (tape_open(&r, config) != 0) return 1;
    refer(r.tape, &expected[config]);
    wg_tape_free(r.tape);
    wg_tape_free(r.work);
    free(r.buffer);
    return 0;
}

/* After a reset a tape is as good as a new one. */
static const char *cured(struct room *r) {
    static char why[800];
    struct reference now;
    wg_tape_reset(r->tape);
    if (wg_tape_status(r->tape) != WG_OK) return "a reset leaves a status";
    if (wg_tape_forward(r->tape, 0) != WG_OK) return "a tape cannot become an ordinary one";
    if (wg_tape_progress(r->tape, NULL) != WG_OK) return "a tape goes on telling";
    refer(r->tape, &now);
    const struct reference *const good = &expected[r->config];
    if (memcmp(&now, good, sizeof now) == 0) return NULL;
    int at =
        snprintf(why, sizeof why,
                 "a reset does not cure tape t%zu, of kind %u:", room_number(r), r->config);
    for (size_t i = 0; i < REFERENCE; i++)
        if (memcmp(&now.bits[i], &good->bits[i], sizeof(double)) != 0 && at < 700)
            at += snprintf(why + at, sizeof why - (size_t)at, " %zu: %.17g not %.17g;", i,
                           now.bits[i], good->bits[i]);
    return why;
}

/* ---- from beginning to end ---- */

static wg_status bilinear(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_mul(x[0], wg_sin(x[2])), wg_mul(x[1], wg_square(x[3]))));
    return WG_OK;
}
static wg_status step(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(x[1], wg_mul(0.1, wg_sub(wg_mul(x[0], x[1]), wg_cube(x[1])))));
    return WG_OK;
}
static wg_status summed(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], wg_mul(x[1], x[2])));
    y[1] = wg_let(t, wg_add(x[1], x[0]));
    y[2] = wg_let(t, wg_exp(wg_neg(x[2])));
    return WG_OK;
}
static wg_status guarded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    const wg_mat a = wg_mat_gather(t, 2, 2, x), b = wg_mat_gather(t, 2, 1, x + 4);
    const wg_mat s = wg_solve(t, a, b);
    for (size_t i = 0; i < 2; i++) y[i] = wg_mat_at(s, i, 0);
    if (wg_lt(t, y[0], wg_constant(0))) y[1] = wg_let(t, wg_neg(y[1]));
    return wg_tape_status(t);
}

int house_open(void) {
    static const wg_argument in[HOUSE][2] = {{{"a", 2, 1, WG_SHARED}, {"x", 2, 1, 0}},
                                             {{"p", 1, 1, WG_SHARED}, {"x", 1, 1, 0}},
                                             {{"a", 1, 1, WG_SHARED}, {"x", 2, 1, 0}},
                                             {{"a", 2, 2, 0}, {"b", 2, 1, 0}}};
    static const wg_argument out[HOUSE][2] = {{{"y", 1, 1, 0}},
                                              {{"x", 1, 1, 0}},
                                              {{"s", 1, 1, WG_SUMMED}, {"y", 2, 1, 0}},
                                              {{"x", 2, 1, 0}}};
    static const size_t outputs[HOUSE] = {1, 1, 2, 1};
    static wg_callback *const f[HOUSE] = {bilinear, step, summed, guarded};
    const double x[] = {1.5, 0.5, 0.25, 2, 1, 0.75};
    const wg_options o = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&o);
    int bad = t == NULL || memory_open() != 0;
    for (size_t k = 0; k < HOUSE && !bad; k++)
        bad = wg_function_record(t, f[k], NULL, 2, in[k], x, outputs[k], out[k],
                                 &house_function[k]) != WG_OK ||
              wg_callable_new(t, house_function[k], &house_callable[k]) != WG_OK;
    bad = bad || house_ode_open(t) != 0;
    wg_tape_free(t);
    for (unsigned c = 0; c < CONFIGS && !bad; c++) bad = expect(c);
    return bad;
}

int world_open(uint64_t seed) {
    static const unsigned odds[] = {0, 0, 0, 6, 30, 200};
    call.state = seed;
    world.seed = seed;
    world.odds = 0;
    memory_renew();
    for (size_t k = 0; k < TAPES; k++) {
        struct room *const r = &world.room[k];
        memset(r, 0, sizeof *r);
        forget(r);
        const size_t c = k == 1 || one_in(2) ? below(ORDINARY) : below(CONFIGS);
        if (tape_open(r, (unsigned)c) != 0) return 1;
        for (size_t i = 0; i < REALS; i++) r->real[i] = wg_constant(0.5);
    }
    for (size_t k = 0; k < MODELS; k++) world.model[k].tape = TAPES;
    for (size_t k = 0; k < BRANCHES; k++) world.branch[k].tape = TAPES;
    for (size_t k = 0; k < PARALLELS; k++)
        world.parallel[k] = (struct parallel){NULL, TAPES, POOLS, 0};
    for (size_t k = 0; k < FILES; k++) world.file[k].length = 0;
    world.odds = odds[below(sizeof odds / sizeof *odds)];
    return 0;
}

static void objects_close(void) {
    for (size_t k = 0; k < MODELS; k++) model_close(k);
    for (size_t k = 0; k < PARALLELS; k++) parallel_close(k);
    for (size_t k = 0; k < FUNCTIONS; k++) {
        wg_function_free(world.function[k]);
        world.function[k] = NULL;
    }
    for (size_t k = 0; k < CALLABLES; k++) callable_close(k);
    for (size_t k = 0; k < SPARSITIES; k++) {
        wg_sparsity_free(world.sparsity[k]);
        world.sparsity[k] = NULL;
    }
}

/* What is made on a tape is of its budget: where one has a budget it is freed before that tape
 * is looked at, otherwise in one half of the sequences, and in the other half after the tapes,
 * unless it holds most of the memory that there is here: no reset of a tape gives back what
 * others hold. */
static int objects_go_first(void) {
    int first = world.seed % 2 == 0 || memory.held > ROOM / 2;
    for (size_t k = 0; k < TAPES; k++) first |= configs[world.room[k].config].budget != 0;
    return first;
}

const char *world_close(void) {
    const char *why = NULL;
    world.odds = 0;
    for (size_t k = 0; k < BRANCHES; k++) branches_close(k);
    if (objects_go_first()) objects_close();
    for (size_t k = 0; k < TAPES && why == NULL; k++) why = cured(&world.room[k]);
    for (size_t k = 0; k < MODELS; k++) model_close(k);
    for (size_t k = 0; k < TAPES; k++) tape_close(&world.room[k]);
    objects_close();
    for (size_t k = 0; k < POOLS; k++) {
        wg_threads_free(world.pool[k]);
        world.pool[k] = NULL;
        world.pool_tapes[k] = 0;
    }
    if (why == NULL && memory.live != 0) why = "a range of memory is not given back";
    if (why == NULL && memory.wrong != 0) why = "a memory callback is called wrongly";
    return why;
}
