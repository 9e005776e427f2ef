/* SPDX-License-Identifier: MIT */
/* The branches of a callback. Points are evaluated in stretches, by the branch that was right
 * last. At the first point where its comparisons come out differently the other branches are
 * tried, and then a new one is recorded. Stretches grow while a branch is right, and shrink
 * where it is not. */
#include "tape/function/run/bytecode.h"
#include "tape/function/graph/arguments.h"
#include "tape/function/loops/callable.h"

#include <string.h>
#include <wengert/branches.h>

enum { SHORTEST = 16, LONGEST = 4096 };

struct wg_branches {
    wgi_home home, list; /* of this, and of the list of branches */
    wg_tape *t;    /* the caller's tape, on which callbacks are recorded and derivatives made */
    wg_tape *work; /* workspace for evaluations */
    wg_callback *f;
    void *data;
    wg_derivation *derive;
    size_t inputs, outputs;
    const wg_argument *input, *output;
    wg_function **branch;
    size_t branches, room;
};

wg_status wg_branches_new(wg_tape *t, wg_callback *f, void *data, size_t inputs,
                          const wg_argument *input, size_t outputs, const wg_argument *output,
                          wg_derivation *derive, wg_branches **out) {
    static const char call[] = "wg_branches_new";
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (out == NULL) return wgi_refuse(c, WG_ENULL, "%s: out is NULL", call);
    if (f == NULL || (inputs != 0 && input == NULL) || (outputs != 0 && output == NULL))
        return wgi_refuse(c, WG_ENULL, "%s: the callback or its arguments are NULL", call);
    if (!(c->flags & WG_KEEP_CODE))
        return wgi_refuse(c, WG_EMODE, "%s: the tape was not opened with WG_KEEP_CODE", call);
    const wg_options options = {.flags = 0};
    wgi_home home;
    void *base;
    wg_tape *work = NULL;
    wg_status s = wgi_home_obtain(c, sizeof(wg_branches), &home, &base);
    if (s == WG_OK && (s = wgi_tape_beside(c, &options, &work)) != WG_OK)
        wgi_home_release(&home, base);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no memory", call);
    wg_branches *const b = base;
    *b = (wg_branches){.home = home};
    b->t = t, b->work = work;
    b->f = f, b->data = data, b->derive = derive;
    b->inputs = inputs, b->input = input;
    b->outputs = outputs, b->output = output;
    *out = b;
    return WG_OK;
}

void wg_branches_free(wg_branches *b) {
    if (b == NULL) return;
    for (size_t i = 0; i < b->branches; i++) wg_function_free(b->branch[i]);
    wg_tape_free(b->work);
    if (b->room != 0) wgi_home_release(&b->list, b->branch);
    wgi_home_release(&b->home, b);
}

size_t wg_branches_count(const wg_branches *b) { return b == NULL ? 0 : b->branches; }

/* ---- a further branch ---- */

static wg_status room_for_one(wg_branches *b) {
    if (b->branches < b->room) return WG_OK;
    wgi_home home;
    void *base;
    const wg_status s =
        wgi_home_obtain(wgi_core_of(b->t), (2 * b->room + 1) * sizeof *b->branch, &home, &base);
    if (s != WG_OK) return s;
    wg_function **const list = base;
    for (size_t i = 0; i < b->branches; i++) list[i] = b->branch[i];
    if (b->room != 0) wgi_home_release(&b->list, b->branch);
    b->branch = list;
    b->list = home;
    b->room = home.bytes / sizeof(wg_function *);
    return WG_OK;
}

/* Refuses a function whose results for the points of one branch and for the others do not add
 * up. */
static wg_status check_sums(wg_branches *b, const wg_function *f) {
    int adds_up = 1;
    if (!wgi_results_add_up(b->work, f, &adds_up)) return wg_tape_status(b->work);
    return adds_up
               ? WG_OK
               : wgi_refuse(wgi_core_of(b->t), WG_EMODE,
                            "wg_branches_evaluate: a summed output is no plain sum over the "
                            "points: branches cannot be added");
}

static wg_status record(wg_branches *b, size_t point, const wg_points *x) {
    wg_status s = room_for_one(b);
    if (s != WG_OK) return s;
    const wg_mark before = wg_tape_mark(b->work);
    const size_t n = wgi_arguments_size(b->inputs, b->input);
    double *const at = wg_tape_keep(b->work, (n + 1) * sizeof *at, NULL);
    if (at == NULL) return wg_tape_status(b->work);
    double *to = at;
    for (size_t k = 0; k < b->inputs; k++) {
        const ptrdiff_t step = b->input[k].flags & WG_SHARED ? 0 : x[k].point;
        for (size_t e = 0; e < wgi_argument_size(&b->input[k]); e++)
            *to++ = x[k].data == NULL
                        ? 0
                        : x[k].data[(ptrdiff_t)point * step + (ptrdiff_t)e * x[k].entry];
    }
    wg_function *f = NULL, *derived = NULL;
    s = wg_function_record(b->t, b->f, b->data, b->inputs, b->input, at, b->outputs, b->output,
                           &f);
    if (s == WG_OK && b->derive != NULL) {
        s = b->derive(b->t, f, &derived);
        wg_function_free(f);
        f = derived;
        if (s == WG_OK && f == NULL) s = WG_ECALLBACK;
    }
    if (s == WG_OK) s = check_sums(b, f);
    if (s != WG_OK) {
        wg_function_free(f);
        f = NULL;
    }
    const wg_status back = wg_tape_rewind(b->work, before);
    if (s == WG_OK) s = back;
    if (s == WG_OK) b->branch[b->branches++] = f;
    return s;
}

/* ---- a stretch of points by one branch ---- */

typedef struct stretch {
    const wg_points *x;
    const wg_results *y;
    wg_points *x_at; /* the same, from a later point on */
    wg_results *y_at;
    double *sum; /* of all summed outputs, over one stretch */
    void *work;
    wgi_progress_part progress; /* of all points */
} stretch;

static wg_status open(wg_branches *b, const wg_function *f, const wg_points *x,
                      const wg_results *y, stretch *s) {
    const size_t in = wg_function_inputs(f), out = wg_function_outputs(f);
    s->x = x, s->y = y;
    s->x_at = wg_tape_keep(b->work, (in + 1) * sizeof *s->x_at, NULL);
    s->y_at = wg_tape_keep(b->work, (out + 1) * sizeof *s->y_at, NULL);
    s->sum = wg_tape_keep(b->work, (f->m + 1) * sizeof *s->sum, NULL);
    s->work = wg_tape_keep(b->work, wg_function_work(f, NULL), NULL);
    return wg_tape_status(b->work);
}

static wg_status evaluate(const wg_function *f, const stretch *s, size_t first, size_t count,
                          wg_function_guard *guard) {
    wgi_progress_part progress = s->progress;
    progress.from = (double)first * progress.each;
    double *sum = s->sum;
    for (size_t k = 0; k < f->inputs; k++) {
        s->x_at[k] = s->x[k];
        if (s->x[k].data != NULL && !(f->input[k].flags & WG_SHARED))
            s->x_at[k].data += (ptrdiff_t)first * s->x[k].point;
    }
    for (size_t k = 0; k < f->outputs; k++) {
        s->y_at[k] = s->y[k];
        if (f->output[k].flags & WG_SUMMED) {
            s->y_at[k] = (wg_results){sum, 0, 1};
            sum += wgi_argument_size(&f->output[k]);
        } else if (s->y[k].data != NULL) {
            s->y_at[k].data += (ptrdiff_t)first * s->y[k].point;
        }
    }
    return wgi_function_evaluate(f, count, s->x_at, s->y_at, NULL, s->work, guard, progress);
}

/* Adds the sums over a stretch to the results, which were cleared at the beginning. */
static void add_sums(const wg_function *f, const stretch *s) {
    const double *sum = s->sum;
    for (size_t k = 0; k < f->outputs; k++) {
        const size_t entries = wgi_argument_size(&f->output[k]);
        if (!(f->output[k].flags & WG_SUMMED)) continue;
        for (size_t e = 0; s->y[k].data != NULL && e < entries; e++)
            s->y[k].data[(ptrdiff_t)e * s->y[k].entry] += sum[e];
        sum += entries;
    }
}

/* Evaluates f from point `first` on, at `count` points at most; *held: at how many its
 * comparisons held. */
static wg_status advance(const wg_function *f, const stretch *s, size_t first, size_t count,
                         size_t *held) {
    wg_function_guard guard = {count, 0};
    wg_status status = evaluate(f, s, first, count, &guard);
    *held = count;
    if (status == WG_EGUARD) {
        *held = guard.point;
        if (*held == 0) return WG_OK;
        status = evaluate(f, s, first, *held, &guard);
    }
    if (status == WG_OK) add_sums(f, s);
    return status;
}

static void clear_sums(const wg_function *f, const wg_results *y) {
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++)
            if ((f->output[k].flags & WG_SUMMED) && y[k].data != NULL)
                y[k].data[(ptrdiff_t)e * y[k].entry] = 0;
}

/* Evaluates points from `first` on by the first branch that holds there, and moves it to the
 * front of the list. */
static wg_status next_stretch(wg_branches *b, size_t points, size_t first, size_t count,
                              const wg_points *x, const wg_results *y, size_t *held) {
    for (size_t i = 0;; i++) {
        const int new_one = i == b->branches;
        wg_status s = new_one ? record(b, first, x) : WG_OK;
        if (s != WG_OK) return s;
        wg_function *const f = b->branch[i];
        if (new_one && i == 0) clear_sums(f, y);
        const wg_mark before = wg_tape_mark(b->work);
        stretch st;
        s = open(b, f, x, y, &st);
        st.progress = wgi_progress_points(wgi_progress_of(wgi_core_of(b->t)), 0, points);
        if (s == WG_OK) s = advance(f, &st, first, new_one || i != 0 ? 1 : count, held);
        const wg_status back = wg_tape_rewind(b->work, before);
        if (s == WG_OK) s = back;
        if (s != WG_OK) return s;
        if (*held == 0 && !new_one) continue;
        if (*held == 0) return WG_EGUARD;
        for (size_t k = i; k > 0; k--) b->branch[k] = b->branch[k - 1];
        b->branch[0] = f;
        return WG_OK;
    }
}

/* A message for a failure of which the caller's tape has none. */
static wg_status explain(wg_branches *b, wg_status s, size_t point) {
    wgi_core *const c = wgi_core_of(b->t);
    if (wg_tape_status(b->work) != WG_OK)
        return wgi_refuse(c, s, "wg_branches_evaluate: %s", wg_tape_message(b->work));
    if (s == WG_EMODE || c->status == s) return s;
    return wgi_refuse(c, s, "wg_branches_evaluate: at point %zu: %s", point, wg_status_text(s));
}

wg_status wg_branches_evaluate(wg_branches *b, size_t points, const wg_points *x,
                               const wg_results *y) {
    if (b == NULL || (b->inputs != 0 && x == NULL) || (b->outputs != 0 && y == NULL))
        return WG_ENULL;
    if (wgi_is_telling(wgi_core_of(b->t))) return WG_EMODE; /* it may be evaluated already */
    wg_tape_reset(b->work);
    wgi_progress_begin(wgi_progress_of(wgi_core_of(b->t)));
    if (b->branches != 0) clear_sums(b->branch[0], y);
    size_t count = SHORTEST;
    for (size_t first = 0, held = 0; first < points; first += held) {
        if (count > points - first) count = points - first;
        const wg_status s = next_stretch(b, points, first, count, x, y, &held);
        if (s != WG_OK) return explain(b, s, first);
        if (held == count) count = 2 * count < LONGEST ? 2 * count : LONGEST;
        else count = SHORTEST;
    }
    return WG_OK;
}
