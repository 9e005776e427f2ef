/* SPDX-License-Identifier: MIT */
/* Computations of a model: functions of its placeholders and variables, extracted from the
 * recording, and run with what these hold. Sums over points and derivatives become nodes by
 * such functions. */
#include "model.h"
#include "tape/function/run/bytecode.h"
#include "tape/function/flatten/recording.h"

#include <stdio.h>
#include <string.h>
#include <wengert/derive.h>

/* ---- extracting ---- */

/* Inputs and outputs of a function under construction; in scratch. */
typedef struct ends {
    size_t inputs, outputs;
    wg_argument *input, *output;
    wg_real *x, *y;
    size_t made; /* functions whose outputs are the derived nodes among the inputs */
    const wg_function **f;
} ends;

static wg_real *put_elements(wg_real *to, const wgi_node_of *n) {
    for (size_t j = 0; j < n->mat.cols; j++)
        for (size_t i = 0; i < n->mat.rows; i++) *to++ = wg_mat_at(n->mat, i, j);
    return to;
}

static wg_argument argument_of(const wgi_node_of *n, const char *name, unsigned flags) {
    return (wg_argument){name, n->dim[0].size, n->dim[1].size, flags};
}

static void add_function(ends *e, const wg_function *f) {
    size_t k = 0;
    while (k < e->made && e->f[k] != f) k++;
    if (k == e->made) e->f[e->made++] = f;
}

/* Finds what the outputs depend on: placeholders, variables, and derived nodes. */
static wg_status find_ends(wg_model *m, const char *call, size_t count, wgi_node_of *const *y,
                           const char *const *name, ends *e) {
    enum { ENDS = WG_PLACEHOLDER | WG_VARIABLE | WGI_DERIVED };
    wgi_slots s;
    wg_status status = wgi_slots_open(m, call, &s);
    if (status != WG_OK) return status;
    wgi_slots_walk(&s, count, y, WGI_REACH_DERIVED);
    size_t n = 0, outputs = 0, inputs = 0;
    for (const wgi_node_of *i = m->first; i != NULL; i = i->next)
        if ((i->kind & ENDS) && wgi_slots_marked(&s, i)) n += wgi_model_size(i), inputs++;
    for (size_t k = 0; k < count; k++) outputs += wgi_model_size(y[k]);
    memset(e, 0, sizeof *e);
    e->input = wgi_model_scratch(m, call, (inputs + count + 1) * sizeof *e->input);
    e->x =
        e->input == NULL ? NULL : wgi_model_scratch(m, call, (n + outputs + 1) * sizeof *e->x);
    e->f = e->x == NULL ? NULL : wgi_model_scratch(m, call, (inputs + 1) * sizeof *e->f);
    if (e->f == NULL) return wg_tape_status(m->scratch);
    e->output = e->input + inputs;
    wg_real *to = e->x;
    for (const wgi_node_of *i = m->first; i != NULL; i = i->next) {
        if (!(i->kind & ENDS) || !wgi_slots_marked(&s, i)) continue;
        const int derived = (i->kind & WGI_DERIVED) != 0;
        e->input[e->inputs++] =
            argument_of(i, derived ? i->output : i->name, derived ? 0 : i->flags);
        if (derived) add_function(e, i->made->f);
        to = put_elements(to, i);
    }
    e->y = to;
    for (size_t k = 0; k < count; k++) {
        e->output[e->outputs++] = argument_of(y[k], name[k], 0);
        to = put_elements(to, y[k]);
    }
    return WG_OK;
}

/* What failed on the workspace tape becomes a refusal of the model's tape, with its message. */
static wg_status from_work(wg_model *m, const char *call, wg_status s) {
    if (s == WG_OK) return s;
    (void)WGI_MODEL_REFUSE(m, s, "%s: %s", call, wg_tape_message(m->work));
    wg_tape_reset(m->work);
    return s;
}

/* Replaces inputs that are derived nodes by the functions of which they are outputs. */
static wg_status put_in(wg_model *m, const char *call, const ends *e, wg_function **f) {
    wg_function *joined = NULL, *whole = NULL;
    const wg_function *inner = e->f[0];
    wg_status s = WG_OK;
    if (e->made > 1) {
        s = wg_function_join(m->work, e->made, e->f, &joined);
        inner = joined;
    }
    if (s == WG_OK) s = wg_function_compose(m->work, *f, inner, &whole);
    wg_function_free(joined);
    wg_function_free(*f);
    *f = whole;
    return from_work(m, call, s);
}

/* Makes a function of nodes, with these names, of placeholders and variables. */
static wg_status extract(wg_model *m, const char *call, size_t count, wgi_node_of *const *y,
                         const char *const *name, wg_function **out) {
    ends e;
    wg_status s = find_ends(m, call, count, y, name, &e);
    if (s == WG_OK)
        s = wgi_function_extract(m->t, call, e.inputs, e.input, e.x, e.outputs, e.output, e.y,
                                 out);
    if (s == WG_OK && e.made != 0) s = put_in(m, call, &e, out);
    return s;
}

static wg_status known(wg_model *m, const char *call, const wg_mat *a, const char *what,
                       wgi_node_of **n) {
    *n = wgi_model_node_of(m, a);
    return *n != NULL ? WG_OK : WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s is no node", call, what);
}

wg_status wg_model_function(wg_model *m, size_t count, const wg_mat *y, wg_function **out) {
    static const char call[] = "wg_model_function";
    if (out != NULL) *out = NULL;
    if (m == NULL) return WG_ENULL;
    wg_status s = wgi_model_ready(m, call);
    if (s != WG_OK) return s;
    if (out == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: out is NULL", call);
    if (count != 0 && y == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: y is NULL", call);
    wgi_node_of **const node = wgi_model_scratch(m, call, (count + 1) * sizeof(wgi_node_of *));
    const char **const name =
        node == NULL ? NULL : wgi_model_scratch(m, call, (count + 1) * sizeof *name);
    if (name == NULL) s = wg_tape_status(m->scratch);
    for (size_t k = 0; k < count && s == WG_OK; k++) {
        s = known(m, call, &y[k], "an output", &node[k]);
        if (s == WG_OK) name[k] = node[k]->name;
    }
    if (s == WG_OK) s = extract(m, call, count, node, name, out);
    wg_tape_reset(m->scratch);
    return s;
}

/* ---- nodes that are made by a function ---- */

/* The values of the outputs at the recorded point, one output after the other. */
static wg_status evaluate(wg_model *m, const char *call, const wg_function *f, double **value) {
    size_t entries = 0;
    wg_points *const x = wgi_model_scratch(m, call, (f->inputs + 1) * sizeof *x);
    wg_results *const y =
        x == NULL ? NULL : wgi_model_scratch(m, call, (f->outputs + 1) * sizeof *y);
    void *const work = y == NULL ? NULL : wgi_model_scratch(m, call, wg_function_work(f, NULL));
    for (size_t k = 0; k < f->outputs; k++) entries += wgi_argument_size(&f->output[k]);
    *value = work == NULL ? NULL : wgi_model_scratch(m, call, (entries + 1) * sizeof(double));
    if (*value == NULL) return wg_tape_status(m->scratch);
    for (size_t k = 0; k < f->inputs; k++)
        x[k] = (wg_points){wgi_model_leaf(m, f->input[k].name)->mat.value, 0, 1};
    for (size_t k = 0, e = 0; k < f->outputs; e += wgi_argument_size(&f->output[k++]))
        y[k] = (wg_results){*value + e, 0, 1};
    /* at the recorded point: a comparison that differs by a last bit took the recorded branch
     */
    wg_status s = wg_function_evaluate(f, 1, x, y, NULL, work, NULL);
    if (s == WG_EGUARD) s = WG_OK;
    return s == WG_OK ? s : WGI_MODEL_REFUSE(m, s, "%s: %s", call, wg_status_text(s));
}

/* Makes the function the model's, until the model is freed. */
static const wgi_made *own(wg_model *m, const char *call, wg_function *f) {
    wgi_made *const made = wgi_model_keep(m, call, sizeof *made, NULL);
    if (made == NULL) {
        wg_function_free(f);
        return NULL;
    }
    *made = (wgi_made){m->made, f};
    m->made = made;
    return made;
}

/* Makes a node of output k of a function, with that value and the dimensions of another node.
 */
static wgi_node_of *derived(wg_model *m, const char *call, const wgi_made *made, size_t k,
                            const double *value, const char *operation, const wgi_node_of *like,
                            const char *file, int line) {
    const wg_argument *const a = &made->f->output[k];
    const wg_mat y = wg_mat_input(m->t, a->rows, a->cols, value, a->rows != 0 ? a->rows : 1);
    wgi_node_of *const n = wgi_model_add(m, call, WG_OPERATION | WGI_DERIVED, a->name,
                                         operation, y, like->dim, file, line);
    if (n == NULL) return NULL;
    n->made = made;
    n->output = a->name;
    return n;
}

/* What was only refused so far becomes a failure of the recording. */
static wg_status recording_failed(wg_model *m, wg_status s, const char *file, int line) {
    char message[sizeof m->c->message];
    if (m->c->status != WG_OK) return m->c->status;
    memcpy(message, m->c->message, sizeof message);
    (void)wgi_fail(m->c, s, "%s", message);
    wgi_fail_where(m->c, file, line);
    return s;
}

/* The first of stem, stem_2, stem_3, ... for number 1, 2, 3, ... */
static const char *free_name(wg_model *m, const char *stem, size_t k) {
    char place[24] = "";
    if (k > 1) (void)snprintf(place, sizeof place, "_%zu", k);
    return wgi_argument_name(wgi_core_of(m->scratch), stem, place, "");
}

/* ---- sums ---- */

static wg_status make_sum(wg_model *m, const char *call, wgi_node_of *of, const char *file,
                          int line, wg_mat *out) {
    wg_function *f = NULL, *sum = NULL;
    const char *const stem = wgi_argument_name(wgi_core_of(m->scratch), "sum_", of->name, "");
    const char *name = NULL;
    for (size_t k = 1; stem != NULL && (name == NULL || wgi_model_name_taken(m, name)); k++)
        if ((name = free_name(m, stem, k)) == NULL) break;
    if (name == NULL)
        return WGI_MODEL_REFUSE(m, wg_tape_status(m->scratch), "%s: no memory", call);
    wg_status s = extract(m, call, 1, &of, &name, &f);
    if (s == WG_OK) s = from_work(m, call, wg_function_flag(m->work, f, name, WG_SUMMED, &sum));
    wg_function_free(f);
    double *value = NULL;
    const wgi_made *const made = s == WG_OK ? own(m, call, sum) : NULL;
    if (s == WG_OK) s = made == NULL ? m->c->status : evaluate(m, call, made->f, &value);
    if (s != WG_OK) return s;
    wgi_node_of *const n = derived(m, call, made, 0, value, "sum over points", of, file, line);
    if (n == NULL) return m->c->status;
    n->from[0] = of;
    *out = n->mat;
    return WG_OK;
}

wg_mat wgi_model_sum_at(const char *file, int line, wg_model *m, wg_mat a) {
    static const char call[] = "wg_model_sum";
    wg_mat y = wg_mat_failed(a.rows, a.cols);
    if (m == NULL) return y;
    wgi_node_of *of;
    wg_status s = wgi_model_ready(m, call);
    if (s == WG_OK) s = known(m, call, &a, "what is summed", &of);
    if (s == WG_OK) s = make_sum(m, call, of, file, line, &y);
    if (s != WG_OK) (void)recording_failed(m, s, file, line);
    wg_tape_reset(m->scratch);
    return y;
}

/* ---- gradients ---- */

static wg_status check_gradient(wg_model *m, const char *call, const wg_mat *y, size_t n,
                                const wg_mat *x, const wg_mat *dx, wgi_node_of **of,
                                wgi_node_of **by) {
    wg_status s = known(m, call, y, "y", of);
    if (s != WG_OK) return s;
    if (n != 0 && (x == NULL || dx == NULL))
        return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: x or dx is NULL", call);
    if (wgi_model_size(*of) != 1)
        return WGI_MODEL_REFUSE(m, WG_ESHAPE, "%s: %s is %zux%zu, not one number", call,
                                (*of)->name, (*of)->dim[0].size, (*of)->dim[1].size);
    for (size_t k = 0; k < n; k++) {
        s = known(m, call, &x[k], "one of x", &by[k]);
        if (s != WG_OK) return s;
        if (!(by[k]->kind & (WG_PLACEHOLDER | WG_VARIABLE)))
            return WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s is no placeholder and no variable",
                                    call, by[k]->name);
        if (by[k]->flags & WG_PASSIVE)
            return WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s is passive", call, by[k]->name);
        for (size_t i = 0; i < k; i++)
            if (by[i] == by[k])
                return WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s twice", call, by[k]->name);
    }
    return WG_OK;
}

/* A name for y with which the names of all dy/dx are free; those go to `name`. */
static const char *names_of(wg_model *m, const wgi_node_of *y, size_t n, wgi_node_of *const *by,
                            const char **name) {
    wgi_core *const c = wgi_core_of(m->scratch);
    for (size_t k = 1;; k++) {
        const char *const stem = free_name(m, y->name, k);
        int taken = 0;
        for (size_t i = 0; stem != NULL && i < n; i++) {
            const char *const dy = wgi_argument_name(c, "d", stem, "/d");
            name[i] = dy == NULL ? NULL : wgi_argument_name(c, dy, by[i]->name, "");
            if (name[i] == NULL) return NULL;
            taken |= wgi_model_name_taken(m, name[i]);
        }
        if (!taken) return stem;
    }
}

/* Makes the function whose outputs are dy/dx for those x that y depends on; these come first in
 * `name` and `by`, the others behind them. */
static wg_status make_function(wg_model *m, const char *call, wgi_node_of *y, size_t n,
                               wgi_node_of **by, const char **name, size_t *there,
                               wg_function **out) {
    wg_function *f = NULL, *all = NULL;
    const char *const stem = names_of(m, y, n, by, name);
    if (stem == NULL)
        return WGI_MODEL_REFUSE(m, wg_tape_status(m->scratch), "%s: no memory", call);
    wg_status s = extract(m, call, 1, &y, &stem, &f);
    if (s == WG_OK) s = from_work(m, call, wg_function_gradient(m->work, f, &all));
    size_t k = 0;
    for (size_t i = 0; s == WG_OK && i < n; i++)
        if (wgi_argument_find(f->inputs, f->input, by[i]->name) != f->inputs) {
            const char *const text = name[i];
            wgi_node_of *const node = by[i];
            name[i] = name[k], by[i] = by[k];
            name[k] = text, by[k++] = node;
        }
    if (s == WG_OK) s = from_work(m, call, wg_function_select(m->work, all, k, name, out));
    wg_function_free(f);
    wg_function_free(all);
    *there = k;
    return s;
}

static wg_status make_gradient(wg_model *m, const char *call, wg_mat y, size_t n,
                               const wg_mat *x, wg_mat *dx, const char *file, int line) {
    wgi_node_of *of = NULL;
    wgi_node_of **const by = wgi_model_scratch(m, call, (n + 1) * sizeof(wgi_node_of *));
    const char **const name =
        by == NULL ? NULL : wgi_model_scratch(m, call, (n + 1) * sizeof *name);
    if (name == NULL) return wg_tape_status(m->scratch);
    wg_status s = check_gradient(m, call, &y, n, x, dx, &of, by);
    if (s != WG_OK || n == 0) return s;
    size_t there = 0, e = 0;
    wg_function *f = NULL;
    double *value = NULL;
    s = make_function(m, call, of, n, by, name, &there, &f);
    const wgi_made *const made = s == WG_OK ? own(m, call, f) : NULL;
    if (s == WG_OK) s = made == NULL ? m->c->status : evaluate(m, call, made->f, &value);
    for (size_t k = 0; s == WG_OK && k < n; k++) {
        wgi_node_of *node;
        if (k < there) {
            node = derived(m, call, made, k, value + e, "derivative", by[k], file, line);
            e += wgi_model_size(by[k]);
            if (node != NULL) node->from[0] = of, node->from[1] = by[k];
        } else {
            const wg_mat zero = wg_mat_fill(m->t, by[k]->dim[0].size, by[k]->dim[1].size, 0);
            node =
                wgi_model_add(m, call, WG_CONSTANT, name[k], "", zero, by[k]->dim, file, line);
        }
        if (node == NULL) return m->c->status;
        for (size_t i = 0; i < n; i++)
            if (wgi_model_node_of(m, &x[i]) == by[k]) dx[i] = node->mat;
    }
    return s;
}

wg_status wgi_model_gradient_at(const char *file, int line, wg_model *m, wg_mat y, size_t n,
                                const wg_mat *x, wg_mat *dx) {
    static const char call[] = "wg_model_gradient";
    for (size_t k = 0; dx != NULL && k < n; k++)
        dx[k] = x == NULL ? wg_mat_failed(0, 0) : wg_mat_failed(x[k].rows, x[k].cols);
    if (m == NULL) return WG_ENULL;
    wg_status s = wgi_model_ready(m, call);
    if (s == WG_OK) s = make_gradient(m, call, y, n, x, dx, file, line);
    if (s != WG_OK) s = recording_failed(m, s, file, line);
    wg_tape_reset(m->scratch);
    return s;
}

/* ---- running ---- */

/* Finds where the numbers of an input are. */
static wg_status input_of(wg_model *m, const char *call, const wg_argument *a, wg_points *x) {
    const wgi_node_of *const n = wgi_model_leaf(m, a->name);
    if (n == NULL)
        return WGI_MODEL_REFUSE(m, WG_EARG, "%s: the model has no placeholder or variable %s",
                                call, a->name);
    if (a->rows != n->dim[0].size || a->cols != n->dim[1].size)
        return WGI_MODEL_REFUSE(m, WG_ESHAPE, "%s: %s is %zux%zu, the input %zux%zu", call,
                                a->name, n->dim[0].size, n->dim[1].size, a->rows, a->cols);
    if ((a->flags ^ n->flags) & WG_SHARED)
        return WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s is %s, the input is not", call, a->name,
                                n->flags & WG_SHARED ? "shared" : "one per point");
    *x = n->kind & WG_VARIABLE ? (wg_points){n->values, 0, 1} : n->feed;
    return x->data != NULL || wgi_argument_size(a) == 0
               ? WG_OK
               : WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s is not fed", call, a->name);
}

/* The variable that an output updates; NULL: none. */
static wgi_node_of *updated(const wg_model *m, const char *name) {
    for (const wgi_node_of *n = m->first; n != NULL; n = n->next)
        if (n->updates != NULL && strcmp(n->name, name) == 0) return n->updates;
    return NULL;
}

/* Finds where an output goes: to the caller, or, if it updates a variable, to scratch first. */
static wg_status output_of(wg_model *m, const char *call, const wg_function *f, size_t k,
                           size_t entry, wgi_node_of **variable, wg_results *y) {
    const wg_argument *const a = &f->output[k];
    wgi_node_of *const v = variable[k] = updated(m, a->name);
    if (v == NULL) return WG_OK;
    if (a->rows != v->dim[0].size || a->cols != v->dim[1].size)
        return WGI_MODEL_REFUSE(m, WG_ESHAPE, "%s: %s is %zux%zu, the output %s %zux%zu", call,
                                v->name, v->dim[0].size, v->dim[1].size, a->name, a->rows,
                                a->cols);
    for (size_t i = 0; i < k; i++)
        if (variable[i] == v)
            return WGI_MODEL_REFUSE(m, WG_EARG, "%s: two outputs update %s", call, v->name);
    for (size_t e = 0; e < wgi_argument_size(a); e++)
        if (f->node[f->result[entry + e]].when == WGI_EACH)
            return WGI_MODEL_REFUSE(m, WG_EARG, "%s: the update %s of %s is one per point",
                                    call, a->name, v->name);
    y->data = wgi_model_scratch(m, call, (wgi_argument_size(a) + 1) * sizeof(double));
    y->point = 0, y->entry = 1;
    return y->data != NULL ? WG_OK : wg_tape_status(m->scratch);
}

static wg_status run(wg_model *m, const char *call, const wg_function *f, size_t points,
                     const wg_results *results, wg_threads *threads) {
    wg_points *const x = wgi_model_scratch(m, call, (f->inputs + 1) * sizeof *x);
    wg_results *const y =
        x == NULL ? NULL : wgi_model_scratch(m, call, (f->outputs + 1) * sizeof *y);
    wgi_node_of **const variable =
        y == NULL ? NULL : wgi_model_scratch(m, call, (f->outputs + 1) * sizeof(wgi_node_of *));
    void *const work =
        variable == NULL ? NULL : wgi_model_scratch(m, call, wg_function_work(f, threads));
    wg_function_guard guard = {0, 0};
    wg_status s = work == NULL ? wg_tape_status(m->scratch) : WG_OK;
    for (size_t k = 0; k < f->inputs && s == WG_OK; k++)
        s = input_of(m, call, &f->input[k], &x[k]);
    for (size_t k = 0, e = 0; k < f->outputs && s == WG_OK;
         e += wgi_argument_size(&f->output[k++])) {
        y[k] = results == NULL ? (wg_results){NULL, 0, 0} : results[k];
        s = output_of(m, call, f, k, e, variable, &y[k]);
    }
    if (s != WG_OK) return s;
    wgi_progress *const progress = wgi_progress_of(m->c);
    wgi_progress_begin(progress);
    s = wgi_function_evaluate(f, points, x, y, threads, work, &guard,
                              wgi_progress_points(progress, 0, points));
    if (s == WG_EGUARD)
        return WGI_MODEL_REFUSE(m, s,
                                "%s: comparison %zu comes out differently from the recording "
                                "at point %zu",
                                call, guard.guard, guard.point);
    if (s != WG_OK) return WGI_MODEL_REFUSE(m, s, "%s: %s", call, wg_status_text(s));
    /* without points only sums are written, as 0 */
    for (size_t k = 0; k < f->outputs; k++)
        if (variable[k] != NULL && (points != 0 || (f->output[k].flags & WG_SUMMED)))
            memcpy(variable[k]->values, y[k].data,
                   wgi_argument_size(&f->output[k]) * sizeof(double));
    return WG_OK;
}

wg_status wg_model_run(wg_model *m, const wg_function *f, size_t points, const wg_results *y,
                       wg_threads *threads) {
    static const char call[] = "wg_model_run";
    if (m == NULL) return WG_ENULL;
    if (f == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: the function is NULL", call);
    const wg_status s = run(m, call, f, points, y, threads);
    wg_tape_reset(m->scratch);
    return s;
}
