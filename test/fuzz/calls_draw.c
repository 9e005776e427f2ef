/* SPDX-License-Identifier: MIT */
/* calls_draw.c - how arguments are drawn, and what becomes of results. */
#include <stdarg.h>
#include "calls.h"

struct call call;
volatile double sink;
double results[1 << 16];

/* splitmix64 (Steele, Lea, Flood 2014) */
uint64_t draw(void) {
    uint64_t z = call.state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- numbers ---- */

static const double hostile[] = {0,      -0.0,     NAN,    INFINITY, -INFINITY, 1e300, -1e300,
                                 1e-300, -1e-300,  5e-324, DBL_MAX,  1e16,      -1,    1,
                                 1e-16,  -DBL_MIN, 0x1p53, 1e8,      710,       -745};

static double honest(void) { return (double)(int64_t)draw() * 0x1p-62; }

double number(void) {
    if (one_in(9)) return hostile[below(sizeof hostile / sizeof *hostile)];
    if (one_in(4)) return (double)below(5) - 1;
    return honest();
}

double draw_number(const char *name) {
    const double x = number();
    named(name, "%.17g", x);
    return x;
}

double draw_positive(const char *name) {
    const double x = one_in(9) ? number() : fabs(honest()) + 0.125;
    named(name, "%.17g", x);
    return x;
}

/* Entries of an array or a matrix, all of one kind. */
static void fill(double *a, size_t n) {
    const double same = number();
    const size_t kind = below(10);
    for (size_t i = 0; i < n; i++)
        a[i] = kind == 0 ? same : kind == 1 ? 0 : kind == 2 || kind == 3 ? number() : honest();
    if (kind == 4 && n != 0) a[below(n)] = hostile[below(sizeof hostile / sizeof *hostile)];
}

static void fill_spd(double *a, size_t n) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++)
            a[i + j * n] = a[j + i * n] = i == j ? (double)n + fabs(honest()) : honest();
}

/* ---- sizes and letters ---- */

static size_t dim(void) {
    static const size_t few[] = {2, 2, 2, 3, 3, 1, 1, 4, 2, 3, 5, 0};
    if (one_in(120)) return 6 + below(MOST - 6);
    return few[below(one_in(4) ? 12 : 9)];
}
size_t draw_dim(const char *name) {
    const size_t n = dim();
    named(name, "%zu", n);
    return n;
}
size_t draw_size(const char *name) {
    static const size_t huge[] = {SIZE_MAX,          SIZE_MAX / 2 + 1, SIZE_MAX / 8,
                                  (size_t)1 << 32,   UINT32_MAX,       (size_t)1 << 31,
                                  (size_t)INT32_MAX, (size_t)1 << 40,  (size_t)1 << 27};
    const size_t n = one_in(12) ? huge[below(sizeof huge / sizeof *huge)] : dim();
    named(name, "%zu", n);
    return n;
}
size_t draw_below(const char *name, size_t n) {
    const size_t k = below(n);
    named(name, "%zu", k);
    return k;
}
size_t draw_count(const char *name) {
    static const size_t few[] = {1, 2, 2, 3, 3, 4, 1, 2, 0};
    const size_t n = few[below(9)];
    named(name, "%zu", n);
    return n;
}
char draw_flag(const char *name, const char *letters) {
    static const char other[] = {'x', 0, 'n', -1, 'C', 'B'};
    const char c = one_in(30) ? other[below(sizeof other)] : letters[below(strlen(letters))];
    named(name, "(char)%d", c);
    return c;
}
wg_axis draw_axis(const char *name) {
    const int k = one_in(30) ? (int)below(9) - 3 : (int)below(3);
    named(name, "%d", k);
    return (wg_axis)k;
}

/* ---- tapes ---- */

/* A tape in failure does nothing more: mostly it is reset, or rewound, first. */
static wg_tape *take(struct room *r) {
    call.room = r;
    const size_t choice = below(8);
    if (wg_tape_status(r->tape) == WG_OK || choice < 2) return r->tape;
    if (choice == 2) {
        aside("wg_tape_rewind(t%zu, mark 0)", room_number(r));
        (void)status(wg_tape_rewind(r->tape, r->mark[0]));
    } else {
        aside("wg_tape_reset(t%zu)", room_number(r));
        wg_tape_reset(r->tape);
    }
    return r->tape;
}

static wg_tape *draw_room(const char *name, struct room *r) {
    if (one_in(60)) {
        call.room = r;
        named(name, "NULL");
        return NULL;
    }
    for (size_t k = 0; k < PARALLELS; k++) {
        const struct parallel *const l = &world.parallel[k];
        if (!l->open || l->tape != room_number(r) || one_in(4)) continue;
        call.room = r;
        named(name, "a segment of s%zu", k);
        return wg_parallel_tape(l->p, below(wg_parallel_segments(l->p)));
    }
    named(name, "t%zu", room_number(r));
    return take(r);
}

wg_tape *draw_tape(const char *name) {
    return draw_room(name, &world.room[one_in(3) ? below(TAPES) : 0]);
}
wg_tape *draw_code_tape(const char *name) {
    return draw_room(name, &world.room[one_in(12) ? below(TAPES) : 0]);
}
wg_tape *draw_driver_tape(const char *name) {
    return draw_room(name, &world.room[one_in(6) ? below(TAPES) : 1]);
}

/* ---- variables ---- */

static int alive(const wg_tape *t, wg_handle at) {
    return at.slot == 0 || (at.stamp == t->stamp && at.slot < t->slots);
}

static wg_real real_of(struct room *r) {
    for (size_t k = below(REALS), i = 0; i < 4; i++, k = (k + 1) % REALS)
        if (alive(r->tape, r->real[k].at) && (r->real[k].at.slot != 0 || i == 3))
            return r->real[k];
    const double x = number();
    const size_t k = below(REALS);
    aside("real r%zu = wg_input(t%zu, %.17g)", k, room_number(r), x);
    return r->real[k] = wg_input(r->tape, x);
}

static wg_real one_real(void) {
    if (one_in(50)) return world.room[below(TAPES)].real[below(REALS)];
    if (one_in(50)) return wg_constant(number());
    return real_of(call.room);
}

wg_real draw_real(const char *name) {
    const wg_real x = one_real();
    named(name, "{%.17g, slot %u, stamp %u}", x.value, x.at.slot, x.at.stamp);
    return x;
}

enum { ARRAYS = 4, SHORT = 64, LONG = 4096 };
static size_t arrays; /* drawn so far by this call */
void draw_begin(void) { arrays = 0; }

const wg_real *draw_reals(const char *name, size_t n) {
    static wg_real room[ARRAYS][SHORT];
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    wg_real *const x = room[arrays++ % ARRAYS];
    for (size_t i = 0; i < n && i < SHORT; i++) x[i] = one_real();
    named(name, "{%zu variables, the first of slot %u}", n, n != 0 ? x[0].at.slot : 0);
    return x;
}

/* ---- arrays ---- */

const double *draw_doubles(const char *name, size_t n) {
    static double room[ARRAYS][LONG], plenty[1 << 19];
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    named(name, "{%zu numbers}", n);
    if (n > LONG) return plenty;
    double *const a = room[arrays++ % ARRAYS];
    fill(a, n < 2 * SHORT ? n : 2 * SHORT);
    return a;
}
double *draw_results(const char *name, size_t n) {
    if (n > LONG || one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    named(name, "{room for %zu}", n);
    return results + arrays++ % (sizeof results / sizeof *results / LONG) * LONG;
}
const size_t *draw_indices(const char *name, size_t n, size_t limit) {
    static size_t room[ARRAYS][LONG];
    if (one_in(60) || n > LONG) {
        named(name, "NULL");
        return NULL;
    }
    size_t *const index = room[arrays++ % ARRAYS];
    for (size_t i = 0; i < n; i++) index[i] = below(limit != 0 ? limit : 1);
    if (n != 0 && one_in(20)) index[below(n)] = one_in(2) ? limit : SIZE_MAX;
    named(name, "{%zu indices from %zu}", n, n != 0 ? index[0] : 0);
    return index;
}

/* ---- matrices ---- */

static int usable(const struct room *r, const wg_mat *a) {
    return a->value != NULL && a->at.stamp == r->tape->stamp && a->at.slot < r->tape->slots;
}

static wg_mat new_mat(struct room *r, size_t rows, size_t cols, int spd) {
    static double steady[MOST * MOST]; /* borrowed: it never changes */
    double a[MOST * MOST];
    const size_t k = below(MATS), way = below(8);
    if (steady[0] == 0)
        for (size_t i = 0; i < MOST * MOST; i++) steady[i] = 1 + 0.5 * sin((double)i);
    if (spd) fill_spd(a, rows);
    else fill(a, rows * cols);
    wg_mat m;
    const char *made;
    if (way == 0) {
        m = wg_mat_constant(r->tape, rows, cols, a, rows);
        made = "wg_mat_constant";
    } else if (way == 1 && !spd) {
        m = wg_mat_input_borrowed(r->tape, rows, cols, steady, rows);
        made = "wg_mat_input_borrowed";
    } else {
        m = wg_mat_input(r->tape, rows, cols, a, rows);
        made = "wg_mat_input";
    }
    r->mat[k] = m;
    r->spd[k] = (unsigned char)spd;
    if (call.printing) {
        char text[200] = "";
        size_t at = 0;
        for (size_t i = 0; i < rows * cols && at < sizeof text - 30; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%.17g", i != 0 ? ", " : "",
                                   a[i]);
        aside("matrix m%zu = %s(t%zu, %zu, %zu, {%s})", k, made, room_number(r), rows, cols,
              text);
    }
    return m;
}

static wg_mat fitting(struct room *r, size_t rows, size_t cols, int spd) {
    if (!one_in(6))
        for (size_t k = below(MATS), i = 0; i < MATS; i++, k = (k + 1) % MATS)
            if (r->mat[k].rows == rows && r->mat[k].cols == cols && (!spd || r->spd[k] != 0) &&
                usable(r, &r->mat[k]))
                return r->mat[k];
    return new_mat(r, rows, cols, spd);
}

static wg_mat any_mat(void) {
    struct room *const r = one_in(16) ? &world.room[below(TAPES)] : call.room;
    const size_t k = below(MATS), rows = dim(), cols = dim();
    if (one_in(60)) return wg_mat_failed(rows, cols);
    if (!one_in(12) && !usable(r, &r->mat[k])) return fitting(r, rows, cols, 0);
    return r->mat[k];
}

static wg_mat mat(size_t rows, size_t cols, int spd) {
    if (rows > MOST || cols > MOST) return wg_mat_failed(rows, cols);
    const size_t way = below(60);
    if (way == 0) return any_mat();
    if (way < 5 && !spd) return wg_mat_transpose(fitting(call.room, cols, rows, 0));
    if (way < 9 && !spd && rows < MOST - 2 && cols < MOST - 2)
        return wg_mat_block(fitting(call.room, rows + 2, cols + 1, 0), 1, 1, rows, cols);
    return fitting(call.room, rows, cols, spd);
}

static wg_mat shown(const char *name, wg_mat a) {
    named(name, "{%s%zux%zu, slot %u, stamp %u}", a.value == NULL ? "failed " : "", a.rows,
          a.cols, a.at.slot, a.at.stamp);
    return a;
}
wg_mat draw_mat(const char *name, size_t rows, size_t cols) {
    return shown(name, mat(rows, cols, 0));
}
wg_mat draw_spd(const char *name, size_t n) { return shown(name, mat(n, n, !one_in(8))); }
wg_mat draw_any_mat(const char *name) { return shown(name, any_mat()); }

/* ---- marks, functions, pools ---- */

wg_mark draw_mark(const char *name) {
    const struct room *const r = one_in(30) ? &world.room[below(TAPES)] : call.room;
    const size_t k = below(MARKS);
    named(name, "mark %zu of t%zu", k, room_number(r));
    return r->mark[k];
}

/* Derivatives of derivatives grow: what is too large is left alone. */
static int small(const wg_function *f) {
    wg_function_stats s;
    size_t entries = 0;
    if (f == NULL || wg_function_statistics(f, &s) != WG_OK) return 0;
    for (size_t k = 0; k < wg_function_inputs(f); k++)
        entries += wg_function_input(f, k)->rows * wg_function_input(f, k)->cols;
    for (size_t k = 0; k < wg_function_outputs(f); k++)
        entries += wg_function_output(f, k)->rows * wg_function_output(f, k)->cols;
    return s.once + s.each + s.after + s.operations < 400 && entries < 100;
}

const wg_function *draw_function(const char *name) {
    const size_t k = below(FUNCTIONS), h = below(HOUSE);
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    if (!one_in(4) && small(world.function[k])) {
        named(name, "f%zu", k);
        return world.function[k];
    }
    named(name, "house %zu", h);
    return house_function[h];
}

const wg_callable *draw_callable(const char *name) {
    const size_t k = below(CALLABLES), h = below(HOUSE);
    if (one_in(60)) {
        named(name, "NULL");
        return NULL;
    }
    if (one_in(3) && world.callable[k] != NULL) {
        world.callable_tapes[k] |= 1U << room_number(call.room);
        named(name, "k%zu", k);
        return world.callable[k];
    }
    named(name, "house %zu", h);
    return house_callable[h];
}

wg_threads *draw_pool(const char *name) {
    const size_t k = below(POOLS);
    if (one_in(2) || world.pool[k] == NULL) {
        named(name, "NULL");
        return NULL;
    }
    if (call.room != NULL) world.pool_tapes[k] |= 1U << room_number(call.room);
    named(name, "p%zu", k);
    return world.pool[k];
}

/* ---- keeping ---- */

wg_status status(wg_status s) {
    if ((unsigned)s >= WG_STATUS_COUNT) finding("a status that is none");
    if (call.printing) aside("    %s", wg_status_text(s));
    return s;
}
void keep_status(wg_status s) { (void)status(s); }

void keep_real(wg_real x) { call.room->real[below(REALS)] = x; }

void keep_mat(wg_mat a) {
    struct room *const r = call.room;
    const size_t k = below(MATS);
    r->mat[k] = a;
    r->spd[k] = 0;
    if (a.rows == 0 || a.cols == 0 || !usable(r, &a)) return;
    const size_t i = below(a.rows), j = below(a.cols);
    const wg_real first = wg_mat_at(a, 0, 0), last = wg_mat_at(a, a.rows - 1, a.cols - 1);
    sink = first.value + last.value;
    if (one_in(2)) r->real[below(REALS)] = wg_mat_at(a, i, j);
}

void keep_function(wg_status s, wg_function *f) {
    const size_t k = below(FUNCTIONS);
    if ((status(s) == WG_OK) != (f != NULL)) finding("a function and a status that disagree");
    if (f == NULL) return;
    wg_function_free(world.function[k]);
    world.function[k] = f;
    if (call.printing) aside("    kept as f%zu", k);
}

/* Text to nowhere; ctx, if not NULL: the number of calls that still succeed. */
int fuzz_write(void *ctx, const char *text, size_t bytes) {
    int *const left = ctx;
    if (one_in(4)) meddle();
    for (size_t i = 0; i < bytes; i++) sink = text[i];
    return left != NULL && (*left)-- <= 0;
}

/* ---- files ---- */

struct file draw_file(const char *name) {
    struct file f = {below(FILES), 0, 1 << 30};
    if (one_in(8)) f.left = (int)below(6);
    named(name, "file %zu", f.which);
    return f;
}
int to_file(void *ctx, const char *text, size_t bytes) {
    struct file *const f = ctx;
    if (one_in(12)) meddle();
    if (f->left-- <= 0 || f->at + bytes > FILE_BYTES) return 1;
    memcpy(world.file[f->which].bytes + f->at, text, bytes);
    world.file[f->which].length = f->at += bytes;
    return 0;
}
size_t from_file(void *ctx, void *data, size_t bytes) {
    struct file *const f = ctx;
    const size_t left = world.file[f->which].length - f->at;
    if (one_in(12)) meddle();
    if (bytes > left) bytes = left;
    memcpy(data, world.file[f->which].bytes + f->at, bytes);
    f->at += bytes;
    return bytes;
}
