/* SPDX-License-Identifier: MIT */
/* A wg_sparsity is made: a pattern, which was found or given, is sorted and coloured, and
 * copied with the plan of its sweeps into memory of its own. Until then everything stands in
 * the arena of the tape. */
#include "pattern_plan.h"

#include <string.h>

enum { LANES = WGI_SWEEP_LANES };

/* ---- lines ---- */

static void *keep(wgi_core *c, size_t count, size_t size) {
    if (count > SIZE_MAX / 64) {
        (void)wgi_fail(c, WG_ENOMEM, "a pattern of %zu entries", count);
        return NULL;
    }
    return wg_tape_keep(&c->head, (count + 1) * size, NULL);
}

static wg_status room(wgi_core *c, wgi_lines *a, size_t lines, size_t across, size_t entries,
                      int wanted) {
    *a = (wgi_lines){lines, across, NULL, NULL, NULL};
    a->start = keep(c, lines + 1, sizeof *a->start);
    a->index = keep(c, entries, sizeof *a->index);
    if (wanted) a->wanted = keep(c, entries, 1);
    if (c->status == WG_OK) memset(a->start, 0, (lines + 1) * sizeof *a->start);
    return c->status;
}

/* Transposes lines; those of b are in order, even if those of a are not. */
static wg_status transpose(wgi_core *c, const wgi_lines *a, wgi_lines *b) {
    if (room(c, b, a->across, a->lines, wgi_entries_of(a), a->wanted != NULL) != WG_OK)
        return c->status;
    for (size_t e = 0; e < wgi_entries_of(a); e++) b->start[a->index[e] + 1]++;
    for (size_t i = 0; i < b->lines; i++) b->start[i + 1] += b->start[i];
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++) {
            const size_t to = b->start[a->index[e]]++;
            b->index[to] = (uint32_t)i;
            if (a->wanted != NULL) b->wanted[to] = a->wanted[e];
        }
    for (size_t i = b->lines; i > 0; i--) b->start[i] = b->start[i - 1];
    b->start[0] = 0;
    return WG_OK;
}

/* Where an entry stands, among lines that are in order; SIZE_MAX: it is not there. */
static size_t find(const size_t *start, const uint32_t *index, size_t line, uint32_t across) {
    size_t low = start[line], high = start[line + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index[middle] < across) low = middle + 1;
        else high = middle;
    }
    return low < start[line + 1] && index[low] == across ? low : SIZE_MAX;
}

/* ---- making ---- */

/* Several arrays in one piece of memory; with NULL they are only counted. */
typedef struct pieces {
    char *base;
    size_t used;
} pieces;

static void *piece(pieces *q, size_t count, size_t size) {
    q->used = (q->used + 15) / 16 * 16;
    void *const p = q->base != NULL ? q->base + q->used : NULL;
    q->used += count * size;
    return p;
}

typedef struct parts {
    wg_sparsity *s;
    size_t *start, *whole_start, *sweep_start;
    uint32_t *row, *col, *whole_col, *colour[2], *sweep_entry, *child, *parent, *step;
    unsigned char *swapped;
} parts;

static size_t cut(const wgi_plan *p, char *base, parts *to) {
    pieces q = {base, 0};
    const size_t rows = p->rows.lines, cols = p->rows.across;
    const int substituted = p->by.edge != NULL,
              several = wgi_plan_sweeps(p) > 1 && !substituted;
    memset(to, 0, sizeof *to);
    to->s = piece(&q, 1, sizeof *to->s);
    to->start = piece(&q, (p->layout == WG_ROW_MAJOR ? rows : cols) + 1, sizeof(size_t));
    to->whole_start = piece(&q, rows + 1, sizeof(size_t));
    if (several) to->sweep_start = piece(&q, wgi_plan_sweeps(p) + 1, sizeof(size_t));
    to->row = piece(&q, p->entries, sizeof(uint32_t));
    to->col = piece(&q, p->entries, sizeof(uint32_t));
    to->whole_col = piece(&q, wgi_entries_of(&p->rows), sizeof(uint32_t));
    if (p->side[0].colour != NULL) to->colour[0] = piece(&q, cols, sizeof(uint32_t));
    if (p->side[1].colour != NULL) to->colour[1] = piece(&q, rows, sizeof(uint32_t));
    if (several) to->sweep_entry = piece(&q, p->entries, sizeof(uint32_t));
    if ((p->hessian && !substituted) || p->side[1].colour != NULL)
        to->swapped = piece(&q, p->entries, 1);
    if (substituted) {
        to->child = piece(&q, p->by.steps, sizeof(uint32_t));
        to->parent = piece(&q, p->by.steps, sizeof(uint32_t));
        to->step = piece(&q, p->entries, sizeof(uint32_t));
    }
    return q.used;
}

/* Lists the entries in the order of the layout. By columns, a cursor goes along each row: rows
 * are in order, and so are the entries of a column. */
static void put_entries(const wgi_plan *p, const parts *to) {
    const wgi_lines *const a = &p->rows;
    const int by_rows = p->layout == WG_ROW_MAJOR;
    const size_t lines = by_rows ? a->lines : a->across;
    size_t *const start = to->start;
    memset(start, 0, (lines + 1) * sizeof *start);
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (wgi_plan_wants(p, i, e)) start[(by_rows ? i : a->index[e]) + 1]++;
    for (size_t i = 0; i < lines; i++) start[i + 1] += start[i];
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++) {
            if (!wgi_plan_wants(p, i, e)) continue;
            const size_t k = start[by_rows ? i : a->index[e]]++;
            to->row[k] = (uint32_t)i;
            to->col[k] = a->index[e];
            if (to->swapped != NULL) to->swapped[k] = p->swapped == NULL || p->swapped[e];
            if (to->step != NULL && i != a->index[e]) to->step[k] = p->by.step[p->by.edge[e]];
        }
    for (size_t i = lines; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
}

/* The sweep that gives entry k. */
static size_t sweep_of(const wgi_plan *p, const parts *to, size_t k) {
    const int across = to->swapped != NULL && to->swapped[k];
    const size_t line = across ? to->row[k] : to->col[k];
    if (p->hessian || !across) return p->side[0].colour[line] / LANES;
    return wgi_sweeps(p->side[0].colours) + p->side[1].colour[line] / LANES;
}

static void put_sweeps(const wgi_plan *p, const parts *to) {
    const size_t count = wgi_plan_sweeps(p);
    size_t *const start = to->sweep_start;
    memset(start, 0, (count + 1) * sizeof *start);
    for (size_t k = 0; k < p->entries; k++) start[sweep_of(p, to, k) + 1]++;
    for (size_t i = 0; i < count; i++) start[i + 1] += start[i];
    for (size_t k = 0; k < p->entries; k++)
        to->sweep_entry[start[sweep_of(p, to, k)]++] = (uint32_t)k;
    for (size_t i = count; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
}

static uint64_t identity_of(const wgi_plan *p) {
    const wgi_lines *const a = &p->rows;
    uint64_t h = wgi_mix(p->n, p->m, (uint64_t)p->hessian);
    for (size_t i = 0; i < a->lines; i++) {
        h = wgi_mix(h, i, a->start[i + 1]);
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++) h = wgi_mix(h, a->index[e], i);
    }
    return h != 0 ? h : 1;
}

/* Colours p->rows, and makes the object. */
static wg_status finish(wgi_plan *p, wg_sparsity **out) {
    wgi_core *const c = p->c;
    const wgi_lines *const a = &p->rows;
    if (wgi_entries_of(a) >= UINT32_MAX)
        return wgi_fail(c, WG_ENOMEM, "%s: %zu entries", p->call, wgi_entries_of(a));
    wg_status s = p->hessian ? wgi_plan_hessian(p) : transpose(c, a, &p->cols);
    if (s == WG_OK && !p->hessian) s = wgi_plan_jacobian(p);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++)
            p->entries += (size_t)wgi_plan_wants(p, i, e);
    parts to;
    wgi_home home;
    void *base;
    s = wgi_home_obtain(c, cut(p, NULL, &to), &home, &base);
    if (s != WG_OK)
        return wgi_fail(c, s, "%s: no memory for a pattern of %zu entries", p->call,
                        p->entries);
    wg_sparsity *const made = base;
    (void)cut(p, base, &to);
    put_entries(p, &to);
    if (to.sweep_start != NULL) put_sweeps(p, &to);
    if (to.step != NULL && p->by.steps != 0) {
        memcpy(to.child, p->by.child, p->by.steps * sizeof *to.child);
        memcpy(to.parent, p->by.parent, p->by.steps * sizeof *to.parent);
    }
    memcpy(to.whole_start, a->start, (a->lines + 1) * sizeof *a->start);
    memcpy(to.whole_col, a->index, wgi_entries_of(a) * sizeof *a->index);
    for (int k = 0; k < 2; k++)
        if (p->side[k].colour != NULL)
            memcpy(to.colour[k], p->side[k].colour,
                   (k ? a->lines : a->across) * sizeof *to.colour[k]);
    *made = (wg_sparsity){
        .pattern = {a->lines, a->across, p->entries, p->layout, to.start, to.row, to.col},
        .home = home,
        .n = p->n,
        .m = p->m,
        .hessian = p->hessian,
        .triangle = p->triangle,
        .flags = p->flags,
        .no_tangents = p->no_tangents,
        .recording = p->recording,
        .identity = identity_of(p),
        .whole_start = to.whole_start,
        .whole_col = to.whole_col,
        .side = {{p->side[0].colours, to.colour[0]}, {p->side[1].colours, to.colour[1]}},
        .sweep_start = to.sweep_start,
        .sweep_entry = to.sweep_entry,
        .swapped = to.swapped,
        .steps = p->by.steps,
        .child = to.child,
        .parent = to.parent,
        .step = to.step,
    };
    *out = made;
    return WG_OK;
}

/* ---- from a recording ---- */

static wg_status check_plan(const wgi_plan *p) {
    if (p->layout != WG_ROW_MAJOR && p->layout != WG_COL_MAJOR)
        return wgi_fail(p->c, WG_EARG, "%s: %d is no layout", p->call, (int)p->layout);
    if (p->hessian && p->triangle != 'L' && p->triangle != 'U' && p->triangle != 'F')
        return wgi_fail(p->c, WG_EARG, "%s: triangle '%c' is not 'L', 'U' or 'F'", p->call,
                        p->triangle);
    if ((p->flags & ~(unsigned)WG_SPARSITY_TRUSTED) != 0)
        return wgi_fail(p->c, WG_EARG, "%s: flags 0x%x", p->call, p->flags);
    if (p->n >= UINT32_MAX - 1 || p->m >= UINT32_MAX - 1)
        return wgi_fail(p->c, WG_ENOMEM, "%s: %zu inputs and %zu outputs", p->call, p->n, p->m);
    return WG_OK;
}

static wg_status no_out(const wgi_drive *d) {
    return wgi_fail(d->c, WG_ENULL, "%s: out is NULL", d->call);
}

static wg_status needs_code(const wgi_drive *d) {
    if (d->c->flags & WG_KEEP_CODE) return WG_OK;
    return wgi_fail(d->c, WG_EMODE, "%s: the tape was not opened with WG_KEEP_CODE", d->call);
}

/* The union of lines with the same lines transposed; both are in order. */
static wg_status join_lines(wgi_core *c, const wgi_lines *a, const wgi_lines *b,
                            wgi_lines *both) {
    if (room(c, both, a->lines, a->across, wgi_entries_of(a) + wgi_entries_of(b), 0) != WG_OK)
        return c->status;
    size_t n = 0;
    for (size_t i = 0; i < a->lines; i++) {
        const uint32_t *x = a->index + a->start[i], *const x_end = a->index + a->start[i + 1];
        const uint32_t *y = b->index + b->start[i], *const y_end = b->index + b->start[i + 1];
        while (x != x_end || y != y_end) {
            const int left = y == y_end || (x != x_end && *x <= *y);
            const uint32_t next = left ? *x : *y;
            x += x != x_end && *x == next;
            y += y != y_end && *y == next;
            both->index[n++] = next;
        }
        both->start[i + 1] = n;
    }
    return WG_OK;
}

/* The pattern of what was recorded, in order. */
static wg_status find_rows(wgi_drive *d, int hessian, wgi_lines *rows) {
    wgi_sets k;
    wgi_lines found, turned, again;
    int half = 0; /* some entries may be in one triangle only */
    wg_status s = wgi_sets_open(&k, d->c, d->call, (uint32_t)d->n);
    if (s == WG_OK)
        s = hessian ? wgi_find_hessian(d, &k, &found, &half) : wgi_find_jacobian(d, &k, &found);
    const int whole = hessian && !half; /* the pattern is its own transpose */
    if (s == WG_OK) s = transpose(d->c, &found, whole ? rows : &turned);
    if (s == WG_OK && !whole) s = transpose(d->c, &turned, half ? &again : rows);
    if (s == WG_OK && half) s = join_lines(d->c, &turned, &again, rows);
    wgi_sets_close(&k);
    return s;
}

static int no_tangents(const wgi_core *c) {
    for (const wgi_block *b = c->head.last_block; b != NULL; b = b->prev)
        if (b->op->value != NULL && b->op->jvp == NULL) return 1;
    return 0;
}

static wg_status detect(wgi_plan *p, wg_tape *t, wg_callback *f, void *data, const double *x,
                        wg_sparsity **out) {
    wgi_drive d;
    if (out != NULL) *out = NULL;
    wg_status s = wgi_drive_open(&d, t, p->call, f, data, p->n, p->m, 0);
    p->c = d.c;
    if (s == WG_OK && out == NULL) s = no_out(&d);
    if (s == WG_OK) s = check_plan(p);
    if (s == WG_OK && p->hessian) s = needs_code(&d);
    if (s == WG_OK) s = wgi_drive_run(&d, 0, x);
    if (s == WG_OK) s = wgi_refuse_always(d.c, p->call, 0);
    if (s == WG_OK) s = wgi_records_ordered(d.c);
    if (s == WG_OK) p->recording = wgi_recording_hash(&d, p->hessian);
    if (s == WG_OK) s = d.c->status;
    if (s == WG_OK) s = find_rows(&d, p->hessian, &p->rows);
    if (s == WG_OK) p->no_tangents = no_tangents(d.c);
    if (s == WG_OK) s = finish(p, out);
    return wgi_drive_close(&d, s);
}

wg_status wg_jacobian_sparsity(wg_tape *t, wg_callback *f, void *data, size_t n,
                               const double *x, size_t m, wg_layout layout, wg_sparsity **out) {
    wgi_plan p = {.call = "wg_jacobian_sparsity", .n = n, .m = m, .layout = layout};
    return detect(&p, t, f, data, x, out);
}

wg_status wg_hessian_sparsity(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                              size_t m, char triangle, wg_layout layout, wg_sparsity **out) {
    wgi_plan p = {.call = "wg_hessian_sparsity",
                  .n = n,
                  .m = m,
                  .hessian = 1,
                  .triangle = triangle,
                  .layout = layout};
    return detect(&p, t, f, data, x, out);
}

wg_status wgi_sparsity_fits(wgi_drive *d, const wg_sparsity *s) {
    wgi_core *const c = d->c;
    if (wgi_records_ordered(c) != WG_OK) return c->status;
    if (s->flags & WG_SPARSITY_TRUSTED) return WG_OK;
    const uint64_t now = wgi_recording_hash(d, s->hessian);
    if (c->status != WG_OK || now == s->recording) return c->status;
    if (now == c->fits && s->identity == c->fits_into) return WG_OK;
    wgi_lines rows;
    wg_status r = find_rows(d, s->hessian, &rows);
    for (size_t i = 0; r == WG_OK && i < rows.lines; i++) {
        size_t k = s->whole_start[i];
        for (size_t e = rows.start[i]; r == WG_OK && e < rows.start[i + 1]; e++) {
            const size_t end = s->whole_start[i + 1];
            while (k < end && s->whole_col[k] < rows.index[e]) k++;
            if (k == end || s->whole_col[k] != rows.index[e])
                r = wgi_fail(c, WG_EMISMATCH,
                             "%s: what was recorded here has entry (%zu, %u) of the %s, which "
                             "is not in the pattern",
                             d->call, i, rows.index[e], s->hessian ? "Hessian" : "Jacobian");
        }
    }
    if (r == WG_OK) c->fits = now, c->fits_into = s->identity;
    return r;
}

/* ---- from coordinates ---- */

/* Are the coordinates in range and, of a Hessian, in the triangle? */
static wg_status check_entries(const wgi_plan *p, size_t rows, size_t entries,
                               const uint32_t *row, const uint32_t *col) {
    if (entries != 0 && (row == NULL || col == NULL))
        return wgi_fail(p->c, WG_ENULL, "%s: rows or columns of %zu entries are NULL", p->call,
                        entries);
    for (size_t k = 0; k < entries; k++) {
        if (row[k] >= rows || col[k] >= p->n)
            return wgi_fail(p->c, WG_EARG, "%s: entry %zu, (%u, %u), of a %zu-by-%zu matrix",
                            p->call, k, row[k], col[k], rows, p->n);
        if (p->hessian && !wgi_in_triangle(p->triangle, row[k], col[k]))
            return wgi_fail(p->c, WG_EARG, "%s: entry %zu, (%u, %u), is not in triangle '%c'",
                            p->call, k, row[k], col[k], p->triangle);
    }
    return WG_OK;
}

/* Makes lines of coordinates, in order; of a triangle, both triangles. */
static wg_status sort_entries(wgi_plan *p, size_t rows, size_t entries, const uint32_t *row,
                              const uint32_t *col) {
    wgi_core *const c = p->c;
    const int mirror = p->hessian && p->triangle != 'F';
    wgi_lines found, turned;
    if (entries > SIZE_MAX / 128)
        return wgi_fail(c, WG_ENOMEM, "%s: too many entries", p->call);
    if (room(c, &found, rows, p->n, entries * 2, 0) != WG_OK) return c->status;
    size_t *const start = found.start;
    for (size_t k = 0; k < entries; k++) {
        start[row[k] + 1]++;
        if (mirror && row[k] != col[k]) start[col[k] + 1]++;
    }
    for (size_t i = 0; i < rows; i++) start[i + 1] += start[i];
    for (size_t k = 0; k < entries; k++) {
        found.index[start[row[k]]++] = col[k];
        if (mirror && row[k] != col[k]) found.index[start[col[k]]++] = row[k];
    }
    for (size_t i = rows; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
    if (transpose(c, &found, &turned) != WG_OK) return c->status;
    if (transpose(c, &turned, &p->rows) != WG_OK) return c->status;
    const wgi_lines *const a = &p->rows;
    for (size_t i = 0; i < rows; i++)
        for (size_t e = a->start[i] + 1; e < a->start[i + 1]; e++)
            if (a->index[e] == a->index[e - 1])
                return wgi_fail(c, WG_EARG, "%s: entry (%zu, %u) is there twice", p->call, i,
                                a->index[e]);
    if (!p->hessian || mirror) return WG_OK;
    for (size_t i = 0; i < rows; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (find(a->start, a->index, a->index[e], (uint32_t)i) == SIZE_MAX)
                return wgi_fail(c, WG_EARG, "%s: entry (%zu, %u) is there, (%u, %zu) is not",
                                p->call, i, a->index[e], a->index[e], i);
    return WG_OK;
}

static wg_status from_entries(wgi_plan *p, size_t entries, const uint32_t *row,
                              const uint32_t *col, wg_sparsity **out) {
    const size_t rows = p->hessian ? p->n : p->m;
    wg_status s = check_plan(p);
    if (s == WG_OK) s = check_entries(p, rows, entries, row, col);
    if (s == WG_OK) s = sort_entries(p, rows, entries, row, col);
    return s == WG_OK ? finish(p, out) : s;
}

wg_status wgi_sparsity_given(wgi_core *c, const char *call, size_t rows, size_t cols,
                             size_t entries, const uint32_t *row, const uint32_t *col,
                             wg_layout layout, wg_sparsity **out) {
    wgi_plan p = {.c = c,
                  .call = call,
                  .n = cols,
                  .m = rows,
                  .layout = layout,
                  .flags = WG_SPARSITY_TRUSTED};
    return from_entries(&p, entries, row, col, out);
}

static wg_status given(wgi_plan *p, wg_tape *t, size_t entries, const uint32_t *row,
                       const uint32_t *col, wg_sparsity **out) {
    wgi_drive d;
    if (out != NULL) *out = NULL;
    wg_status s = wgi_drive_open_alone(&d, t, p->call);
    p->c = d.c;
    if (s == WG_OK && out == NULL) s = no_out(&d);
    if (s == WG_OK) s = from_entries(p, entries, row, col, out);
    return wgi_drive_close(&d, s);
}

wg_status wg_jacobian_sparsity_of(wg_tape *t, size_t n, size_t m, size_t entries,
                                  const uint32_t *row, const uint32_t *col, wg_layout layout,
                                  unsigned flags, wg_sparsity **out) {
    wgi_plan p = {
        .call = "wg_jacobian_sparsity_of", .n = n, .m = m, .layout = layout, .flags = flags};
    return given(&p, t, entries, row, col, out);
}

wg_status wg_hessian_sparsity_of(wg_tape *t, size_t n, size_t m, size_t entries,
                                 const uint32_t *row, const uint32_t *col, char triangle,
                                 wg_layout layout, unsigned flags, wg_sparsity **out) {
    wgi_plan p = {.call = "wg_hessian_sparsity_of",
                  .n = n,
                  .m = m,
                  .hessian = 1,
                  .triangle = triangle,
                  .layout = layout,
                  .flags = flags};
    return given(&p, t, entries, row, col, out);
}

/* Marks the chosen entries in the whole pattern. */
static wg_status choose(wgi_plan *p, const wg_sparsity *from, size_t entries,
                        const uint32_t *row, const uint32_t *col) {
    const wg_pattern *const a = &from->pattern;
    const int by_rows = a->layout == WG_ROW_MAJOR;
    memset(p->rows.wanted, 0, wgi_entries_of(&p->rows));
    for (size_t k = 0; k < entries; k++) {
        const size_t at = by_rows ? find(a->start, a->col, row[k], col[k])
                                  : find(a->start, a->row, col[k], row[k]);
        if (at == SIZE_MAX)
            return wgi_fail(p->c, WG_EARG, "%s: entry %zu, (%u, %u), is not in the pattern",
                            p->call, k, row[k], col[k]);
        unsigned char *const mark =
            &p->rows.wanted[find(p->rows.start, p->rows.index, row[k], col[k])];
        if (*mark)
            return wgi_fail(p->c, WG_EARG, "%s: entry (%u, %u) is there twice", p->call, row[k],
                            col[k]);
        *mark = 1;
    }
    return WG_OK;
}

/* These entries of a pattern, coloured as wished. */
static wg_status select_entries(wg_tape *t, const char *call, const wg_sparsity *from,
                                size_t entries, const uint32_t *row, const uint32_t *col,
                                const wg_colouring *wish, wg_sparsity **out) {
    wgi_plan p = {.call = call};
    wgi_drive d;
    if (out != NULL) *out = NULL;
    wg_status s = wgi_drive_open_alone(&d, t, p.call);
    p.c = d.c;
    if (s == WG_OK && out == NULL) s = no_out(&d);
    if (s == WG_OK && from == NULL) s = wgi_fail(p.c, WG_ENULL, "%s: s is NULL", p.call);
    if (s == WG_OK && wish != NULL) {
        p.wish = *wish;
        if ((unsigned)wish->order >= WG_ORDER_COUNT ||
            (unsigned)wish->sweeps >= WG_SWEEPS_COUNT)
            s = wgi_fail(p.c, WG_EARG, "%s: order %d, sweeps %d", p.call, (int)wish->order,
                         (int)wish->sweeps);
    }
    if (s == WG_OK) {
        p.n = from->n, p.m = from->m;
        p.hessian = from->hessian;
        p.triangle = from->triangle;
        p.layout = from->pattern.layout;
        p.flags = from->flags;
        p.no_tangents = from->no_tangents;
        p.recording = from->recording;
        s = check_entries(&p, from->pattern.rows, entries, row, col);
    }
    const size_t whole = from != NULL ? from->whole_start[from->pattern.rows] : 0;
    if (s == WG_OK) s = room(p.c, &p.rows, from->pattern.rows, p.n, whole, 1);
    if (s == WG_OK) {
        memcpy(p.rows.start, from->whole_start, (p.rows.lines + 1) * sizeof *p.rows.start);
        memcpy(p.rows.index, from->whole_col, whole * sizeof *p.rows.index);
        s = choose(&p, from, entries, row, col);
    }
    if (s == WG_OK) s = finish(&p, out);
    return wgi_drive_close(&d, s);
}

wg_status wg_sparsity_select(wg_tape *t, const wg_sparsity *from, size_t entries,
                             const uint32_t *row, const uint32_t *col, wg_sparsity **out) {
    return select_entries(t, "wg_sparsity_select", from, entries, row, col, NULL, out);
}

wg_status wg_sparsity_colour(wg_tape *t, const wg_sparsity *from, const wg_colouring *o,
                             wg_sparsity **out) {
    const wg_pattern none = {0}, *const a = from != NULL ? &from->pattern : &none;
    return select_entries(t, "wg_sparsity_colour", from, a->entries, a->row, a->col, o, out);
}

/* ---- reading ---- */

void wg_sparsity_free(wg_sparsity *s) {
    if (s == NULL) return;
    wgi_home_release(&s->home, s);
}

const wg_pattern *wg_sparsity_pattern(const wg_sparsity *s) {
    return s != NULL ? &s->pattern : NULL;
}

size_t wg_sparsity_colours(const wg_sparsity *s) {
    return s != NULL ? s->side[0].colours + s->side[1].colours : 0;
}
