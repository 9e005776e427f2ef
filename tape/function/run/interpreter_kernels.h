/* SPDX-License-Identifier: MIT */
/* interpreter_kernels.h - the interpreter of bytecode for one instruction set. A file defines
 *     WIDTH    doubles in a vector: 2, 4 or 8
 *     MACHINE  the name of a pointer to the table
 * beside what vectors.h asks for, and includes this. */
#include "bytecode.h"
#include "ops/scalar/vectors.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Vectors in memory, where they begin at a multiple of their size; and anywhere. */
typedef V VA __attribute__((may_alias));
typedef M MA __attribute__((may_alias));
typedef V U __attribute__((aligned(8), may_alias));
typedef M MU __attribute__((aligned(8), may_alias));

/* Where a > b, in the form of mask that this machine compares to. */
#if WIDTH == 8
typedef __mmask8 chosen;
INNER chosen v_greater(V a, V b) {
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
}
INNER V v_choose(chosen m, V x, V y) {
    return (V)_mm512_mask_blend_pd(m, (__m512d)y, (__m512d)x);
}
#else
typedef M chosen;
INNER chosen v_greater(V a, V b) { return a > b; }
#if WIDTH == 4
INNER V v_choose(chosen m, V x, V y) {
    return (V)_mm256_blendv_pd((__m256d)y, (__m256d)x, (__m256d)m);
}
#else
INNER V v_choose(chosen m, V x, V y) { return v_if(m, x, y); }
#endif
#endif

/* ---- operations: value and first partial of a row are v_row_NAME and v_row_NAME_d ---- */

#define ROW(name, value, da, ...)                                                              \
    INNER V v_row_##name(__VA_ARGS__) { return value; }                                        \
    INNER V v_row_##name##_d(__VA_ARGS__) {                                                    \
        const V v = value;                                                                     \
        (void)v;                                                                               \
        return (da)-ZERO;                                                                      \
    }
#define P(k) 1.0
#define V1(name, value, da) ROW(name, value, da, V a)
#define V2(name, value, da, db) ROW(name, value, da, V a, V b)
#define V3(name, value, da, db, dc) ROW(name, value, da, V a, V b, V c)
#define V4(name, value, da, db, dc, dd) ROW(name, value, da, V a, V b, V c, V d)
#define V1K(name, function)
#include "ops/scalar/elementwise_simd.def"
#undef P
#undef EACH
INNER V v_same(V a) { return a; }
INNER V v_madd(V c, V a, V b) { return c + a * b; }
INNER V v_msub(V c, V a, V b) { return c - a * b; }
INNER V v_mrsb(V c, V a, V b) { return a * b - c; }

/* A product by the zero rule; notes whether the rule has changed anything. */
INNER V times_rule(wgi_fn_run *r, V w, V d) {
    V p = w * d;
    if (WGI_UNLIKELY(any_nan(p))) {
        const M zero = (p != p) & ((w == 0) | (d == 0));
        r->rescued |= any(zero);
        p = v_if(zero, ZERO, p);
    }
    return p;
}
#define TIMES_RULE(w, d) times_rule(r, w, d)
#define TIMES_ADD(c, w, d) ((c) + times_rule(r, w, d))
#define TIMES_SUB(c, w, d) ((c)-times_rule(r, w, d))

static int column_nan(const double *column, size_t lanes) {
    const VA *const x = (const VA *)(const void *)column;
    M bad = (M)ZERO;
    for (size_t k = 0; k < lanes / WIDTH; k++) bad |= x[k] != x[k];
    return any(bad);
}

/* ---- between memory and columns ----
 *
 * Entry e of point p stands at p * point + e * entry. With entry = 1, four entries of eight
 * points (or eight of four) are turned in registers. */

#define AT(offset) wgi_fn_column(r, offset)

/* Prefetches the memory of the next run: rows of a structure are too far apart for the machine
 * to guess it. */
INNER void ask(const double *p, ptrdiff_t ahead) {
    __builtin_prefetch((const void *)((uintptr_t)p + (uintptr_t)ahead * sizeof *p), 0, 2);
}
INNER void ask_to_write(const double *p, ptrdiff_t ahead) {
    __builtin_prefetch((const void *)((uintptr_t)p + (uintptr_t)ahead * sizeof *p), 1);
}

#if WIDTH == 8
/* From row j of 4 entries to 4 columns of 8 points: halves [row 0 | row 2], [1 | 3], [4 | 6],
 * [5 | 7] are interleaved, and then their quarters put in order. */
#define TURN(m0, m1, m2, m3)                                                                   \
    const __m512d t0 = _mm512_unpacklo_pd(m0, m1), t1 = _mm512_unpackhi_pd(m0, m1);            \
    const __m512d t2 = _mm512_unpacklo_pd(m2, m3), t3 = _mm512_unpackhi_pd(m2, m3);            \
    m0 = _mm512_shuffle_f64x2(t0, t2, 0x88), m1 = _mm512_shuffle_f64x2(t1, t3, 0x88);          \
    m2 = _mm512_shuffle_f64x2(t0, t2, 0xDD), m3 = _mm512_shuffle_f64x2(t1, t3, 0xDD)
#define HALVES(p, q, mask)                                                                     \
    _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_maskz_loadu_pd(mask, p)),                 \
                       _mm256_maskz_loadu_pd(mask, q), 1)

/* Fields at x, of points that are `point` apart, into columns; `points` fill whole vectors. */
static void turn_in(size_t points, const double *x, ptrdiff_t point, ptrdiff_t ahead,
                    size_t count, double *const *to) {
    for (size_t p = 0; p < points; p += 8, x += 8 * point) {
        for (ptrdiff_t i = 0; i < 8; i++) ask(x + i * point, ahead);
        const double *from = x;
        for (size_t e = 0; e < count; e += 4, from += 4) {
            const __mmask8 mask = (__mmask8)(count - e >= 4 ? 15 : (1 << (count - e)) - 1);
            const double *const odd = from + point;
            __m512d m0 = HALVES(from, from + 2 * point, mask);
            __m512d m1 = HALVES(odd, odd + 2 * point, mask);
            __m512d m2 = HALVES(from + 4 * point, from + 6 * point, mask);
            __m512d m3 = HALVES(odd + 4 * point, odd + 6 * point, mask);
            TURN(m0, m1, m2, m3);
            _mm512_store_pd(to[e] + p, m0);
            _mm512_store_pd(to[e + 1] + p, m1);
            _mm512_store_pd(to[e + 2] + p, m2);
            _mm512_store_pd(to[e + 3] + p, m3);
        }
    }
}

#define BESIDE(p, q)                                                                           \
    _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(p)), _mm256_load_pd(q), 1)
static void turn_out(size_t points, double *y, ptrdiff_t point, ptrdiff_t ahead, size_t count,
                     double *const *from) {
    for (size_t p = 0; p < points; p += 4, y += 4 * point) {
        for (ptrdiff_t i = 0; i < 4; i++) ask_to_write(y + i * point, ahead);
        double *to = y;
        for (size_t e = 0; e < count; e += 8, to += 8) {
            double *const *const c = from + e;
            __m512d m0 = BESIDE(c[0] + p, c[2] + p), m1 = BESIDE(c[1] + p, c[3] + p);
            __m512d m2 = BESIDE(c[4] + p, c[6] + p), m3 = BESIDE(c[5] + p, c[7] + p);
            TURN(m0, m1, m2, m3);
            if (count - e >= 8) {
                _mm512_storeu_pd(to, m0);
                _mm512_storeu_pd(to + point, m1);
                _mm512_storeu_pd(to + 2 * point, m2);
                _mm512_storeu_pd(to + 3 * point, m3);
            } else {
                const __mmask8 mask = (__mmask8)((1u << (count - e)) - 1);
                _mm512_mask_storeu_pd(to, mask, m0);
                _mm512_mask_storeu_pd(to + point, mask, m1);
                _mm512_mask_storeu_pd(to + 2 * point, mask, m2);
                _mm512_mask_storeu_pd(to + 3 * point, mask, m3);
            }
        }
    }
}
enum { TURNS_IN = 8, TURNS_OUT = 4, TURNS_ANY = 1 };
#elif WIDTH == 4
#define TURN(m0, m1, m2, m3)                                                                   \
    const __m256d t0 = _mm256_unpacklo_pd(m0, m1), t1 = _mm256_unpackhi_pd(m0, m1);            \
    const __m256d t2 = _mm256_unpacklo_pd(m2, m3), t3 = _mm256_unpackhi_pd(m2, m3);            \
    m0 = _mm256_permute2f128_pd(t0, t2, 0x20), m1 = _mm256_permute2f128_pd(t1, t3, 0x20);      \
    m2 = _mm256_permute2f128_pd(t0, t2, 0x31), m3 = _mm256_permute2f128_pd(t1, t3, 0x31)
static void turn_in(size_t points, const double *x, ptrdiff_t point, ptrdiff_t ahead,
                    size_t count, double *const *to) {
    for (size_t p = 0; p < points; p += 4, x += 4 * point) {
        for (ptrdiff_t i = 0; i < 4; i++) ask(x + i * point, ahead);
        const double *from = x;
        for (size_t e = 0; e < count; e += 4, from += 4) {
            __m256d m0 = _mm256_loadu_pd(from), m1 = _mm256_loadu_pd(from + point);
            __m256d m2 = _mm256_loadu_pd(from + 2 * point);
            __m256d m3 = _mm256_loadu_pd(from + 3 * point);
            TURN(m0, m1, m2, m3);
            _mm256_store_pd(to[e] + p, m0);
            _mm256_store_pd(to[e + 1] + p, m1);
            _mm256_store_pd(to[e + 2] + p, m2);
            _mm256_store_pd(to[e + 3] + p, m3);
        }
    }
}
static void turn_out(size_t points, double *y, ptrdiff_t point, ptrdiff_t ahead, size_t count,
                     double *const *from) {
    for (size_t p = 0; p < points; p += 4, y += 4 * point) {
        for (ptrdiff_t i = 0; i < 4; i++) ask_to_write(y + i * point, ahead);
        double *to = y;
        for (size_t e = 0; e < count; e += 4, to += 4) {
            double *const *const c = from + e;
            __m256d m0 = _mm256_load_pd(c[0] + p), m1 = _mm256_load_pd(c[1] + p);
            __m256d m2 = _mm256_load_pd(c[2] + p), m3 = _mm256_load_pd(c[3] + p);
            TURN(m0, m1, m2, m3);
            _mm256_storeu_pd(to, m0);
            _mm256_storeu_pd(to + point, m1);
            _mm256_storeu_pd(to + 2 * point, m2);
            _mm256_storeu_pd(to + 3 * point, m3);
        }
    }
}
enum { TURNS_IN = 4, TURNS_OUT = 4, TURNS_ANY = 0 };
#endif

/* How many of `count` entries are transposed in registers. */
INNER size_t turned(size_t count) {
#if WIDTH == 2
    (void)count;
    return 0;
#else
    return TURNS_ANY ? (count > 1 ? count : 0) : count / 4 * 4;
#endif
}

/* Entries that are `entry` apart, of points that are `point` apart, into columns. */
static void load_entries(const wgi_fn_run *r, const double *x, ptrdiff_t point, ptrdiff_t entry,
                         size_t count, double *const *column) {
    const ptrdiff_t ahead = (ptrdiff_t)r->lanes * point;
    const double *const dump = AT(r->dump);
    size_t done = 0, whole = 0; /* entries that are transposed, and at how many points */
    x += (ptrdiff_t)r->first * point;
#if WIDTH != 2
    if (entry == 1 && point != 1 && (done = turned(count)) != 0) {
        whole = r->rows / TURNS_IN * TURNS_IN;
        turn_in(whole, x, point, ahead, done, column);
    }
#endif
    for (size_t i = 0; i < count; i++, x += entry) {
        double *const to = column[i];
        size_t p = i < done ? whole : 0;
        if (to == dump) continue;
        if (point == 1) {
            for (; p + WIDTH <= r->rows; p += WIDTH)
                *(VA *)(void *)(to + p) = *(const U *)(const void *)(x + p);
            for (; p < r->rows; p++) to[p] = x[p];
        } else
            for (; p < r->rows; p++) {
                const double *const cell = x + (ptrdiff_t)p * point;
                to[p] = *cell;
                if (i == 0) ask(cell, ahead);
            }
        for (; p < r->lanes; p++) to[p] = to[r->rows - 1];
    }
}

static void store_entries(const wgi_fn_run *r, double *y, ptrdiff_t point, ptrdiff_t entry,
                          size_t count, double *const *column) {
    const ptrdiff_t ahead = (ptrdiff_t)r->lanes * point;
    size_t done = 0, whole = 0;
    y += (ptrdiff_t)r->first * point;
#if WIDTH != 2
    if (entry == 1 && point != 1 && (done = turned(count)) != 0) {
        whole = r->rows / TURNS_OUT * TURNS_OUT;
        turn_out(whole, y, point, ahead, done, column);
    }
#endif
    for (size_t i = 0; i < count; i++, y += entry) {
        const double *const from = column[i];
        size_t p = i < done ? whole : 0;
        if (point == 1) {
            for (; p + WIDTH <= r->rows; p += WIDTH)
                *(U *)(void *)(y + p) = *(const VA *)(const void *)(from + p);
            for (; p < r->rows; p++) y[p] = from[p];
        } else
            for (; p < r->rows; p++) {
                double *const cell = y + (ptrdiff_t)p * point;
                *cell = from[p];
                if (i == 0) ask_to_write(cell, ahead);
            }
    }
}

/* ---- groups ---- */

/* Fields that are collected to be moved together: groups next to each other in memory, of at
 * most so many entries. */
enum { TOGETHER = 256 };
typedef struct fields {
    size_t count;
    ptrdiff_t point, entry;
    const double *end; /* where the next field stands if it can join; NULL: none can */
    double *column[TOGETHER + WGI_FN_GROUP];
} fields;

/* From entry to entry; a single entry counts as contiguous. */
INNER ptrdiff_t step_of(const wgi_fn_group *g, ptrdiff_t entry) {
    return g->count == 1 ? 1 : entry;
}

INNER int joins(const fields *f, const wgi_fn_group *g, const double *at, ptrdiff_t point,
                ptrdiff_t entry) {
    return at == f->end && point == f->point && step_of(g, entry) == 1 && f->count < TOGETHER;
}

INNER void join(const wgi_fn_run *r, fields *f, const wgi_fn_group *g, const double *at,
                int native) {
    const uint32_t *const column = native ? g->native : g->column;
    for (size_t i = 0; i < WGI_FN_GROUP; i++) f->column[f->count + i] = AT(column[i]);
    f->count += g->count;
    f->end = f->entry == 1 && f->point != 1 ? at + g->count : NULL;
}

/* Transposing needs columns up to a multiple of 8; what is written to the additional ones is
 * never read. */
INNER void pad(const wgi_fn_run *r, fields *f) {
    if (f->point == 1 || f->count == 1) return;
    for (size_t i = f->count; i % WGI_FN_GROUP != 0; i++) f->column[i] = AT(r->dump);
}

static void load_fields(const wgi_fn_run *r, const double *x, fields *f) {
    if (f->count == 0) return;
    pad(r, f);
    load_entries(r, x, f->point, f->entry, f->count, f->column);
}
static void store_fields(const wgi_fn_run *r, double *y, fields *f) {
    if (f->count == 0) return;
    pad(r, f);
    store_entries(r, y, f->point, f->entry, f->count, f->column);
}

/* For a single point: the ways for many would take longer. */
static void load_one(const wgi_fn_run *r, const wgi_fn_group *g, const uint32_t *column) {
    const wg_points *const x = &r->x[g->argument];
    const double *at =
        x->data + (ptrdiff_t)r->first * x->point + (ptrdiff_t)g->entry * x->entry;
    for (size_t i = 0; i < g->count; i++, at += x->entry) {
        double *const to = AT(column[i]);
        size_t p = 0;
        for (; p + WIDTH <= r->lanes; p += WIDTH) *(VA *)(void *)(to + p) = splat(*at);
        for (; p < r->lanes; p++) to[p] = *at;
    }
}

static void load(const wgi_fn_run *r, const wgi_fn_group *g, size_t groups, int native) {
    const double *first = NULL;
    fields f;
    f.count = 0, f.end = NULL;
    for (const wgi_fn_group *const end = g + groups; g < end; g++) {
        const wg_points *const x = &r->x[g->argument];
        const uint32_t *const column = native ? g->native : g->column;
        if (g->wanted == 0) continue;
        if (x->data == NULL) {
            for (size_t i = 0; i < g->count; i++)
                memset(AT(column[i]), 0, r->lanes * sizeof(double));
            continue;
        }
        if (r->rows == 1) {
            load_one(r, g, column);
            continue;
        }
        const double *const at = x->data + (ptrdiff_t)g->entry * x->entry;
        if (!joins(&f, g, at, x->point, x->entry)) {
            load_fields(r, first, &f);
            f.count = 0, f.point = x->point, f.entry = step_of(g, x->entry);
            first = at;
        }
        join(r, &f, g, at, native);
    }
    load_fields(r, first, &f);
}

/* Where all points are stored at one place, only the last point of the call writes: so no two
 * threads write there. */
INNER int writes(const wgi_fn_run *r, const wg_results *y) {
    return y->data != NULL && (y->point != 0 || r->first + r->rows == r->points);
}

static void store_one(const wgi_fn_run *r, const wgi_fn_group *g, const uint32_t *column) {
    const wg_results *const y = &r->y[g->argument];
    double *at = y->data + (ptrdiff_t)r->first * y->point + (ptrdiff_t)g->entry * y->entry;
    for (size_t i = 0; i < g->count; i++, at += y->entry) *at = *AT(column[i]);
}

static void store(const wgi_fn_run *r, const wgi_fn_group *g, size_t groups, int native) {
    double *first = NULL;
    fields f;
    f.count = 0, f.end = NULL;
    for (const wgi_fn_group *const end = g + groups; g < end; g++) {
        const wg_results *const y = &r->y[g->argument];
        if (!writes(r, y)) continue;
        if (r->rows == 1) {
            store_one(r, g, native ? g->native : g->column);
            continue;
        }
        double *const at = y->data + (ptrdiff_t)g->entry * y->entry;
        if (!joins(&f, g, at, y->point, y->entry)) {
            store_fields(r, first, &f);
            f.count = 0, f.point = y->point, f.entry = step_of(g, y->entry);
            first = at;
        }
        join(r, &f, g, at, native);
    }
    store_fields(r, first, &f);
}

static void store_checked(wgi_fn_run *r, const wgi_fn_group *g, size_t groups) {
    M bad = (M)ZERO;
    for (size_t k = 0; !r->careful && k < groups; k++)
        for (uint32_t left = g[k].check; left != 0; left &= left - 1) {
            const VA *const x = (const VA *)(const void *)AT(g[k].column[__builtin_ctz(left)]);
            for (size_t i = 0; i < r->lanes / WIDTH; i++) bad |= x[i] != x[i];
        }
    r->nan |= any(bad);
    store(r, g, groups, 0);
}

/* ---- array operations ---- */

#define OPERAND(i, k) (((const VA *)(const void *)AT(list[i]))[k])
#define FIXED(which) ((VA *)(void *)AT(wgi_fn_offset(which)))

/* y becomes exp(y) or log1p(y). */
static void in_place(const wgi_fn_run *r, unsigned row, VA *y) {
    wg_block_arg a;
    memset(&a, 0, sizeof a);
    a.value = (double *)(void *)y;
    r->bytecode->simd->row[row].value(r->lanes, &a, &a, NULL, NULL);
}

/* y: the largest or smallest x; NaN if there is one. */
static void extremum(const wgi_fn_run *r, const uint32_t *list, size_t n, int least, VA *y) {
    for (size_t k = 0; k < r->lanes / WIDTH; k++) {
        V m = splat(least ? INFINITY : -INFINITY), nan = ZERO;
        M bad = (M)ZERO;
        for (size_t i = 0; i < n; i++) {
            const V x = OPERAND(i, k);
            m = v_if(least ? x < m : x > m, x, m);
            nan = v_if((x != x) & ~bad, x, nan);
            bad |= x != x;
        }
        y[k] = v_if(bad, nan, m);
    }
}

/* Where squares vanish or overflow, `odd` is set: the scalar operation is to be used there. */
static void norm(const wgi_fn_run *r, const uint32_t *list, size_t n, VA *y, VA *odd) {
    for (size_t k = 0; k < r->lanes / WIDTH; k++) {
        V m = ZERO, s = ZERO;
        for (size_t i = 0; i < n; i++) {
            const V x = OPERAND(i, k), size = v_abs(x);
            m = v_if(size > m, size, m);
            s += x * x;
        }
        y[k] = v_sqrt(s);
        odd[k] = (V) ~((m > 1e-140) & (m < 1e140) & (s == s));
    }
}

/* The largest term, the first of them in a tie, is left out of the sum. */
static void log_sum_exp(const wgi_fn_run *r, const uint32_t *list, size_t n, VA *y) {
    const size_t vectors = r->lanes / WIDTH;
    VA *const t = FIXED(WGI_FN_SCRATCH), *const m = FIXED(WGI_FN_SCRATCH2);
    MA *const seen = (MA *)FIXED(WGI_FN_DUMP);
    extremum(r, list, n, 0, m);
    for (size_t k = 0; k < vectors; k++) y[k] = ZERO, seen[k] = (M)ZERO;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < vectors; k++) t[k] = OPERAND(i, k) - m[k];
        in_place(r, WGI_ROW_exp, t);
        for (size_t k = 0; k < vectors; k++) {
            const M largest = (OPERAND(i, k) == m[k]) & ~seen[k];
            y[k] += v_if(largest, ZERO, t[k]);
            seen[k] |= largest;
        }
    }
    in_place(r, WGI_ROW_log1p, y);
    for (size_t k = 0; k < vectors; k++) y[k] = v_if(v_abs(m[k]) < INFINITY, m[k] + y[k], m[k]);
}

static void look_up(const wgi_fn_run *r, const uint32_t *list, size_t n, double *y) {
    const double *const index = AT(list[n - 1]);
    for (size_t p = 0; p < r->lanes; p++) {
        const size_t k = wgi_array_index(n - 1, index[p]);
        y[p] = k < n - 1 ? AT(list[k])[p] : NAN;
    }
}

/* The column of the result is none of the operands'. */
static void array(wgi_fn_run *r, const wgi_fn_call *call) {
    const uint32_t *const list = r->bytecode->list + call->list;
    const size_t n = call->operands;
    VA *const y = (VA *)(void *)AT(list[n]), *const odd = FIXED(WGI_FN_SCRATCH);
    switch (call->array) {
    case WGI_ARRAY_norm2:
        norm(r, list, n, y, odd);
        for (size_t p = 0; p < r->lanes; p++)
            if (((const double *)odd)[p] != 0) wgi_fn_array_row(r, call, p);
        return;
    case WGI_ARRAY_logsumexp:
        log_sum_exp(r, list, n, y);
        return;
    case WGI_ARRAY_maximum:
    case WGI_ARRAY_minimum:
        extremum(r, list, n, call->array == WGI_ARRAY_minimum, y);
        return;
    case WGI_ARRAY_lookup:
        look_up(r, list, n, (double *)(void *)y);
        return;
    default:
        for (size_t p = 0; p < r->lanes; p++) wgi_fn_array_row(r, call, p);
    }
}

/* ---- comparisons ---- */

#define HOLDS(op)                                                                              \
    for (size_t k = 0; k < r->lanes / WIDTH; k++) {                                            \
        const M holds = (M)(a[k] op b[k]);                                                     \
        somewhere |= holds;                                                                    \
        elsewhere |= ~holds;                                                                   \
    }                                                                                          \
    break

static void guard(wgi_fn_run *r, const wgi_fn_code *code) {
    const VA *const a = (const VA *)(const void *)AT(code->a);
    const VA *const b = (const VA *)(const void *)AT(code->b);
    const wgi_graph_guard *const g = &r->function->guard[code->c];
    M somewhere = (M)ZERO, elsewhere = (M)ZERO;
    switch (g->comparison) { /* as wgi_compare */
    case 0:
        HOLDS(<);
    case 1:
        HOLDS(<=);
    case 2:
        HOLDS(>);
    case 3:
        HOLDS(>=);
    case 4:
        HOLDS(==);
    default:
        HOLDS(!=);
    }
    if (any(g->outcome ? elsewhere : somewhere)) wgi_fn_guard_run(r, code);
}

/* Addresses of labels: one jump per instruction, so that each is predicted by itself. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#define VECTORS 1
#define RUN run1
#include "interpreter.h"
#define VECTORS 2
#define RUN run2
#include "interpreter.h"
#define VECTORS 4
#define RUN run4
#include "interpreter.h"
#define VECTORS 8
#define RUN run8
#include "interpreter.h"
#pragma GCC diagnostic pop

static const wgi_fn_machine machine = {WIDTH, {run1, run2, run4, run8}, load, store, column_nan,
                                       array};
const wgi_fn_machine *const MACHINE = &machine;
