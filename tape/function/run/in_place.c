/* SPDX-License-Identifier: MIT */
/* Rows of points by native code. */
#include "in_place.h"
#include "bytecode.h"
#include "tape/function/graph/repeat.h"

#include <string.h>

/* ALIGNED: what native code asks of addresses, in bytes. */
enum { LANES = WGI_FN_NATIVE_LANES, ALIGNED = sizeof(double) };

/* ---- which functions ---- */

/* Comparisons of uniforms stay with the interpreter, and so does what is computed from sums;
 * repeats that are done once compare uniforms. */
static int guards_uniforms(const wg_function *f) {
    const uint32_t *const side = f->bytecode->guard_uniform;
    if (wgi_repeat_guards(f) != f->guards) return 1;
    for (size_t k = 0; k < f->guards; k++)
        if (side[2 * k] != WGI_NO_NODE && side[2 * k + 1] != WGI_NO_NODE) return 1;
    return 0;
}

static int sums_only(const wg_function *f) {
    const wgi_bytecode *const p = f->bytecode;
    for (size_t j = 0; j < f->m; j++)
        if (p->result_uniform[j] != WGI_NO_NODE && p->result_uniform[j] >= p->sum_at + p->sums)
            return 0;
    return 1;
}

static int fits(const wg_function *f) {
    return f->bytecode->native != NULL && sums_only(f) && !guards_uniforms(f);
}

/* ---- prepare ---- */

void wgi_in_place_prepare(wgi_in_place *s, const wg_function *f, size_t points, wgi_pieces *p) {
    memset(s, 0, sizeof *s);
    if (f == NULL || !fits(f)) return;
    const wgi_bytecode *const bytecode = f->bytecode;
    const size_t in = bytecode->native_inputs, out = bytecode->native_results;
    s->f = f;
    s->inputs = in;
    s->results = out;
    s->uniform = wgi_pieces_doubles(p, bytecode->uniforms);
    s->sum = wgi_pieces_doubles(p, bytecode->sums * LANES);
    s->column = wgi_pieces_doubles(p, (in + out) * LANES);
    s->unwanted = wgi_pieces_doubles(p, points + LANES);
    s->from = wgi_pieces_take(p, in * sizeof *s->from);
    s->to = wgi_pieces_take(p, out * sizeof *s->to);
    s->tail_from = wgi_pieces_take(p, in * sizeof *s->tail_from);
    s->tail_to = wgi_pieces_take(p, out * sizeof *s->tail_to);
    s->read = wgi_pieces_take(p, in * sizeof *s->read);
    s->written = wgi_pieces_take(p, out * sizeof *s->written);
    s->moving = wgi_pieces_take(p, (in + out) * sizeof *s->moving);
    s->once = wgi_pieces_take(p, f->once != 0 ? wgi_fn_once_work(f) : 0);
    if (p->base == NULL) return;
    for (size_t k = 0; k < in; k++) s->tail_from[k] = s->column + k * LANES;
    for (size_t k = 0; k < out; k++) s->tail_to[k] = s->column + (in + k) * LANES;
    s->uniform[0] = 0;
    wgi_fn_load_numbers(bytecode, s->uniform);
}

/* ---- where everything stands ---- */

static int odd(const double *p) { return ((uintptr_t)p & (ALIGNED - 1)) != 0; }

/* Rows that the code reads; 0: it cannot read all of them where they stand. */
static int find_inputs(const wgi_in_place *s, const wg_points *x) {
    const wgi_bytecode *const p = s->f->bytecode;
    size_t k = 0;
    for (size_t g = 0; g < p->loads; g++) {
        const wgi_fn_group *const group = &p->load[g];
        const wg_points *const a = &x[group->argument];
        if (group->wanted == 0) continue;
        if (a->data == NULL || a->point != 1) return 0;
        for (uint32_t i = 0; i < group->count; i++) {
            if ((group->wanted >> i & 1) == 0) continue;
            const double *const at = a->data + (ptrdiff_t)(group->entry + i) * a->entry;
            if (odd(at)) return 0;
            s->from[k++] = (double *)(uintptr_t)at;
        }
    }
    return 1;
}

/* Which result of the code entry i of a group is; from `results` on it is a uniform. */
static size_t result_of(const wgi_in_place *s, const wgi_fn_group *group, uint32_t i) {
    const size_t stride = s->f->bytecode->native_points * sizeof(double);
    return group->native[i] / stride - 1 - s->inputs;
}

/* Rows that the code writes; 0: it cannot. */
static int find_results(const wgi_in_place *s, const wg_results *y) {
    const wgi_bytecode *const p = s->f->bytecode;
    for (size_t k = 0; k < s->results; k++) s->to[k] = s->unwanted;
    for (size_t g = 0; g < p->stores; g++) {
        const wgi_fn_group *const group = &p->store[g];
        const wg_results *const a = &y[group->argument];
        if (a->data == NULL) continue;
        if (a->point != 1) return 0;
        for (uint32_t i = 0; i < group->count; i++) {
            double *const at = a->data + (ptrdiff_t)(group->entry + i) * a->entry;
            const size_t k = result_of(s, group, i);
            if (odd(at)) return 0;
            if (k < s->results && s->to[k] == s->unwanted) s->to[k] = at;
        }
    }
    return 1;
}

/* Outputs that the code does not write: another output once more, or a uniform. */
static void copy_outputs(const wgi_in_place *s, size_t points, const wg_results *y) {
    const wgi_bytecode *const p = s->f->bytecode;
    for (size_t g = 0; g < p->stores; g++) {
        const wgi_fn_group *const group = &p->store[g];
        const wg_results *const a = &y[group->argument];
        for (uint32_t i = 0; i < group->count && a->data != NULL; i++) {
            double *const at = a->data + (ptrdiff_t)(group->entry + i) * a->entry;
            const size_t k = result_of(s, group, i);
            if (k < s->results) {
                if (s->to[k] != at) memcpy(at, s->to[k], points * sizeof *at);
                continue;
            }
            const double u = s->uniform[p->native_constant[k - s->results].uniform];
            for (size_t q = 0; q < points; q++) at[q] = u;
        }
    }
}

/* ---- load and once ---- */

/* Without shared inputs, what is done once is the same in all runs, but for how many points
 * there are. */
static inline void load(const wgi_in_place *s, size_t points, const wg_points *x) {
    wgi_fn_load(s->f, points, x, s->uniform);
    if (s->f->once != 0) wgi_fn_once(s->f, s->uniform, s->once);
}

/* ---- each block ---- */

static int run(const wgi_in_place *s, double *const *from, double *const *to, size_t points,
               size_t valid) {
    return s->f->bytecode->native(s->uniform, (const double *const *)from, to, s->sum, points,
                                  valid);
}

/* Points from `first` on that do not fill a vector. Gives what the code gave. */
static int run_tail(const wgi_in_place *s, size_t first, size_t points) {
    double *to = s->column;
    for (size_t k = 0; k < s->inputs; k++, to += LANES) {
        const double *const from = s->from[k] + first;
        for (size_t i = 0; i < LANES; i++) to[i] = from[i < points ? i : points - 1];
    }
    const int said = run(s, s->tail_from, s->tail_to, LANES, points);
    for (size_t k = 0; k < s->results; k++, to += LANES)
        memcpy(s->to[k] + first, to, points * sizeof *to);
    return said;
}

/* A block, whose sums are added up apart. beyond: the last vector may go beyond the points. */
static inline int run_block(const wgi_in_place *s, size_t points, int beyond) {
    const wgi_bytecode *const p = s->f->bytecode;
    const size_t whole = (beyond ? points + LANES - 1 : points) / LANES * LANES;
    if (p->sums != 0) memset(s->sum, 0, p->sums * LANES * sizeof *s->sum);
    if (whole != 0 && run(s, s->from, s->to, whole, whole < points ? whole : points) != 0)
        return 0;
    if (whole < points && run_tail(s, whole, points - whole) != 0) return 0;
    for (size_t k = 0; k < p->sums; k++)
        s->uniform[p->sum_at + k] += wgi_fn_across(s->sum + k * LANES, LANES);
    return 1;
}

/* ---- store ---- */

void wgi_in_place_store(const wgi_in_place *s, const wg_results *y) {
    wgi_fn_store_sums(s->f, s->uniform, y);
}

/* ---- rows that the caller says with every run ---- */

int wgi_in_place_run(wgi_in_place *s, size_t points, const wg_points *x, const wg_results *y) {
    s->aimed = 0;
    if (s->f == NULL || !find_inputs(s, x) || !find_results(s, y)) return 0;
    const wgi_bytecode *const p = s->f->bytecode;
    const size_t step = p->sums != 0 ? p->block : points;
    load(s, points, x);
    for (size_t first = 0; first < points; first += step) {
        const size_t left = points - first, count = step < left ? step : left;
        if (!run_block(s, count, 0)) return 0;
        for (size_t k = 0; k < s->inputs && count < left; k++) s->from[k] += count;
        for (size_t k = 0; k < s->results && count < left; k++) s->to[k] += count;
    }
    if (points > step) (void)find_results(s, y);
    copy_outputs(s, points, y);
    wgi_in_place_store(s, y);
    return 1;
}

/* ---- rows that are known beforehand ---- */

void wgi_in_place_input(const wgi_in_place *s, size_t k, size_t *argument, size_t *entry) {
    const wgi_bytecode *const p = s->f->bytecode;
    for (size_t g = 0; g < p->loads; g++)
        for (uint32_t i = 0; i < p->load[g].count; i++)
            if ((p->load[g].wanted >> i & 1) != 0 && k-- == 0) {
                *argument = p->load[g].argument;
                *entry = p->load[g].entry + i;
                return;
            }
}

size_t wgi_in_place_result(const wgi_in_place *s, size_t argument, size_t entry) {
    const wgi_bytecode *const p = s->f->bytecode;
    size_t g = 0;
    while (p->store[g].argument != argument || entry < p->store[g].entry ||
           entry >= p->store[g].entry + p->store[g].count)
        g++;
    return result_of(s, &p->store[g], (uint32_t)(entry - p->store[g].entry));
}

int wgi_in_place_zero(const wgi_in_place *s, size_t result) {
    const wgi_bytecode *const p = s->f->bytecode;
    if (result < s->results) return 0;
    const size_t u = p->native_constant[result - s->results].uniform;
    return u >= 1 && u <= p->numbers && p->number[u - 1] == 0;
}

int wgi_in_place_walks(const wgi_in_place *s, size_t points) {
    return s->f != NULL && (s->f->bytecode->sums == 0 || points <= s->f->bytecode->block);
}

static double *place(const wgi_spot *at, ptrdiff_t further) {
    return *at->base + at->skip + (at->still ? 0 : further);
}

static void list_moving(wgi_in_place *s) {
    s->moves = 0;
    for (size_t k = 0; k < s->inputs + s->results; k++) {
        const int reads = k < s->inputs;
        const wgi_spot *const at = reads ? &s->read[k] : &s->written[k - s->inputs];
        double **const row = reads ? &s->from[k] : &s->to[k - s->inputs];
        if (at->moves) s->moving[s->moves++] = (wgi_moving){row, at->base, *row - *at->base};
    }
}

/* Points `from` and `to` at the rows, `further` on. From the third walk at the same place on,
 * only rows that move are pointed at again, unless all rows move. */
static inline void aim(wgi_in_place *s, ptrdiff_t further) {
    const int again = s->aimed != 0 && s->further == further;
    if (again && s->aimed > 1 && s->moves < s->inputs + s->results) {
        for (size_t n = 0; n < s->moves; n++)
            *s->moving[n].row = *s->moving[n].base + s->moving[n].skip;
        return;
    }
    for (size_t k = 0; k < s->inputs; k++) s->from[k] = place(&s->read[k], further);
    for (size_t k = 0; k < s->results; k++) s->to[k] = place(&s->written[k], further);
    if (again && s->aimed > 1) return;
    if (again) list_moving(s);
    s->aimed = 1 + again;
    s->further = further;
}

int wgi_in_place_walk(wgi_in_place *s, size_t points, ptrdiff_t further, int beyond,
                      const wg_points *x) {
    load(s, points, x);
    aim(s, further);
    return run_block(s, points, beyond);
}
