/* SPDX-License-Identifier: MIT */
/* Models: their life, their nodes, and the dimensions of these. */
#include "model.h"
#include "tape/function/graph/words.h"

#include <stdio.h>
#include <string.h>
#include <wengert/special.h>

/* ---- life ---- */

wg_status wg_model_new(wg_tape *t, wg_model **out) {
    static const char call[] = "wg_model_new";
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (out == NULL) return wgi_refuse(c, WG_ENULL, "%s: out is NULL", call);
    if (!(c->flags & WG_KEEP_CODE) || c->width != 0)
        return wgi_refuse(c, WG_EMODE, "%s: the tape does not keep its code", call);
    wg_options options;
    memset(&options, 0, sizeof options);
    wg_tape *own[3] = {NULL, NULL, NULL};
    wg_status s = WG_OK;
    for (int k = 0; k < 3 && s == WG_OK; k++) s = wgi_tape_beside(c, &options, &own[k]);
    wg_model *const m = s == WG_OK ? wg_tape_keep(own[0], sizeof *m, NULL) : NULL;
    if (m == NULL) {
        if (s == WG_OK) s = wg_tape_status(own[0]);
        for (int k = 0; k < 3; k++) wg_tape_free(own[k]);
        return wgi_refuse(c, s, "%s: no memory", call);
    }
    memset(m, 0, sizeof *m);
    m->t = t;
    m->store = own[0], m->scratch = own[1], m->work = own[2];
    m->c = c;
    m->generation = c->generation;
    m->last = &m->first;
    *out = m;
    return WG_OK;
}

void wg_model_free(wg_model *m) {
    if (m == NULL) return;
    for (wgi_made *f = m->made; f != NULL; f = f->next) wg_function_free(f->f);
    wg_tape_free(m->work);
    wg_tape_free(m->scratch);
    wg_tape_free(m->store);
}

wg_status wgi_model_ready(wg_model *m, const char *call) {
    if (m->c->status == WG_OK && m->generation != m->c->generation)
        return wgi_refuse(m->c, WG_ESTALE, "%s: the tape of the model was reset", call);
    return m->c->status;
}

/* Clears a failure of the store: what is there stays, and less may fit. */
static void give_back(wg_model *m, wg_mark before) {
    const wg_status again = wg_tape_rewind(m->store, before);
    WG_ASSERT(again == WG_OK);
    (void)again;
}

void *wgi_model_keep(wg_model *m, const char *call, size_t bytes, const void *data) {
    const wg_mark before = wg_tape_mark(m->store);
    void *const p = wg_tape_keep(m->store, bytes, data);
    if (p != NULL || bytes == 0) return p;
    (void)wgi_fail(m->c, wg_tape_status(m->store), "%s: no memory for %zu bytes", call, bytes);
    give_back(m, before);
    return NULL;
}

void *wgi_model_scratch(wg_model *m, const char *call, size_t bytes) {
    char *const p = wg_tape_keep(m->scratch, bytes + 64, NULL);
    if (p != NULL) return p + (-(uintptr_t)p & 63);
    (void)WGI_MODEL_REFUSE(m, wg_tape_status(m->scratch), "%s: no memory for %zu bytes", call,
                           bytes);
    return NULL;
}

/* ---- finding nodes ---- */

static int same(const char *a, const char *b) { return strcmp(a, b) == 0; }

size_t wgi_model_size(const wgi_node_of *n) { return n->dim[0].size * n->dim[1].size; }

wgi_node_of *wgi_model_node_of(const wg_model *m, const wg_mat *a) {
    for (wgi_node_of *n = m->first; n != NULL && a->value != NULL; n = n->next) {
        const wg_mat *const b = &n->mat;
        if (b->value == a->value && b->rows == a->rows && b->cols == a->cols &&
            b->ld == a->ld && b->trans == a->trans && b->at.slot == a->at.slot)
            return n;
    }
    return NULL;
}

wgi_node_of *wgi_model_leaf(const wg_model *m, const char *name) {
    for (wgi_node_of *n = m->first; n != NULL; n = n->next)
        if ((n->kind & (WG_PLACEHOLDER | WG_VARIABLE)) && same(n->name, name)) return n;
    return NULL;
}

int wgi_model_name_taken(const wg_model *m, const char *name) {
    for (const wgi_node_of *n = m->first; n != NULL; n = n->next)
        if (same(n->name, name) || (n->output != NULL && same(n->output, name))) return 1;
    return 0;
}

/* ---- dimensions ---- */

/* Columns as they are stored: how many there are, or how long each is. */
static size_t stored(const wg_mat *a, int across) {
    return (a->trans != 0) == across ? a->rows : a->cols;
}

/* The dimensions of an operand: those of the node that it is, or a view of, as long as a
 * dimension is not cut. Gives that node, or NULL. */
static const wgi_node_of *dimensions_of(const wg_model *m, const wg_mat *a, wg_dim *dim) {
    dim[0] = (wg_dim){NULL, a->rows};
    dim[1] = (wg_dim){NULL, a->cols};
    const wgi_node_of *n = wgi_model_node_of(m, a);
    for (const wgi_node_of *i = m->first; n == NULL && i != NULL; i = i->next) {
        const wg_mat *const b = &i->mat;
        if (a->value == NULL || b->value == NULL || a->ld != b->ld || b->cols * b->rows == 0)
            continue;
        const size_t last = (stored(b, 1) - 1) * b->ld + stored(b, 0) - 1;
        if ((uintptr_t)a->value >= (uintptr_t)b->value &&
            (uintptr_t)a->value <= (uintptr_t)(b->value + last))
            n = i;
    }
    if (n == NULL) return NULL;
    const int turned = (a->trans != 0) != (n->mat.trans != 0);
    for (int k = 0; k < 2; k++)
        if (n->dim[k ^ turned].size == dim[k].size) dim[k].name = n->dim[k ^ turned].name;
    return n;
}

/* Operations whose dimensions are known. A letter stands for the same dimension wherever it
 * occurs. Operations element by element, where a dimension of size 1 fits any other, have a
 * list of their own. */
static const struct rule {
    const char *name, *in[3], *out;
} rules[] = {
    {"wg_matmul", {"ij", "jk", NULL}, "ik"},      {"wg_solve", {"ij", "ik", NULL}, "jk"},
    {"wg_solve_spd", {"ij", "ik", NULL}, "jk"},   {"wg_inverse", {"ij", NULL, NULL}, "ji"},
    {"wg_inverse_spd", {"ij", NULL, NULL}, "ji"}, {"wg_mat_copy", {"ij", NULL, NULL}, "ij"},
    {"wg_flip_rows", {"ij", NULL, NULL}, "ij"},   {"wg_flip_cols", {"ij", NULL, NULL}, "ij"}};
static const struct rule elementwise = {NULL, {"ij", "ij", "ij"}, "ij"};

static const struct rule *rule_of(const char *name) {
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (same(rules[k].name, name)) return &rules[k];
    for (size_t k = 0; k < WGI_ROWS; k++)
        if (same(wgi_elementwise_ops[k].name, name)) return &elementwise;
    return NULL;
}

enum { LETTERS = 3, DIM_TEXT = 64 };

static const char *dim_text(char *text, const wg_dim *d) {
    if (d->name == NULL) (void)snprintf(text, DIM_TEXT, "%zu", d->size);
    else (void)snprintf(text, DIM_TEXT, "%.40s %zu", d->name, d->size);
    return text;
}

/* "wg_matmul of [outputs 3, features 2], [4, 1]: features 2 meets 4 (model.c:12)" */
static wg_status differ(wg_model *m, const char *name, size_t inputs, wg_dim in[][2],
                        const wg_dim *a, const wg_dim *b, const char *file, int line) {
    char text[3 * (2 * DIM_TEXT + 8)] = "", one[DIM_TEXT], two[DIM_TEXT];
    size_t at = 0;
    for (size_t k = 0; k < inputs; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s[%s, %s]", k == 0 ? "" : ", ",
                               dim_text(one, &in[k][0]), dim_text(two, &in[k][1]));
    const wg_status s = wgi_fail(m->c, WG_ESHAPE, "%s of %s: %s meets %s", name, text,
                                 dim_text(one, a), dim_text(two, b));
    wgi_fail_where(m->c, file, line);
    return s;
}

/* The dimension that two operands have together; 0: they do not fit. */
static int meet(const wg_dim *a, const wg_dim *b, int stretch, wg_dim *out) {
    if (stretch && (a->size == 1) != (b->size == 1)) {
        *out = a->size == 1 ? *b : *a;
        return 1;
    }
    if (a->size != b->size) return 0;
    if (a->name != NULL && b->name != NULL && !same(a->name, b->name)) return 0;
    *out = a->name != NULL ? *a : *b;
    return 1;
}

static wg_status check(wg_model *m, const char *name, const struct rule *r, size_t inputs,
                       wg_dim in[][2], wg_dim *out, const char *file, int line) {
    wg_dim met[LETTERS];
    int there[LETTERS] = {0};
    for (size_t k = 0; k < inputs; k++)
        for (int d = 0; r->in[k] != NULL && d < 2; d++) {
            const int letter = r->in[k][d] - 'i';
            wg_dim *const old = &met[letter];
            if (!there[letter]) *old = in[k][d];
            else if (!meet(old, &in[k][d], r == &elementwise, old))
                return differ(m, name, inputs, in, old, &in[k][d], file, line);
            there[letter] = 1;
        }
    for (int d = 0; d < 2; d++) out[d] = met[r->out[d] - 'i'];
    return WG_OK;
}

/* ---- making nodes ---- */

static const char *text_copy(wg_model *m, const char *call, const char *text) {
    return text == NULL ? NULL : wgi_model_keep(m, call, strlen(text) + 1, text);
}

static wg_status good_name(wg_model *m, const char *call, const char *name, const char *file,
                           int line) {
    wg_status s = WG_OK;
    if (name == NULL) return WG_OK;
    if (strlen(name) > WGI_LONGEST_NAME)
        s = wgi_fail(m->c, WG_EARG, "%s: a name of %zu bytes, more than %d", call, strlen(name),
                     WGI_LONGEST_NAME);
    else if (!wgi_is_word(name, strlen(name)))
        s = wgi_fail(m->c, WG_EARG, "%s: no word: '%s'", call, name);
    else if (wgi_model_name_taken(m, name))
        s = wgi_fail(m->c, WG_EARG, "%s: the name %s is taken", call, name);
    if (s != WG_OK) wgi_fail_where(m->c, file, line);
    return s;
}

/* A name made of that of the operation and a number: matmul_7, of wg_matmul. */
static const char *made_up(wg_model *m, const char *call, const char *operation) {
    char name[64];
    const char *stem = operation[0] == 0 ? "node" : operation;
    if (strncmp(stem, "wg_", 3) == 0) stem += 3;
    if (strncmp(stem, "mat_", 4) == 0) stem += 4;
    size_t k = m->nodes;
    do
        (void)snprintf(name, sizeof name, "%.32s_%zu",
                       wgi_is_word(stem, strlen(stem)) ? stem : "node", k++);
    while (wgi_model_name_taken(m, name));
    return text_copy(m, call, name);
}

static wgi_node_of *add(wg_model *m, const char *call, unsigned kind, const char *name,
                        const char *operation, wg_mat a, const wg_dim *dim, const char *file,
                        int line) {
    if (m->c->status != WG_OK) return NULL;
    wgi_node_of *const n = wgi_model_keep(m, call, sizeof *n, NULL);
    if (n == NULL) return NULL;
    memset(n, 0, sizeof *n);
    n->kind = kind;
    n->mat = a;
    /* nodes without elements are told apart by the address of their values */
    if (a.value != NULL && a.rows * a.cols == 0)
        n->mat.value = wgi_model_keep(m, call, sizeof *a.value, NULL);
    n->operation = operation;
    n->line = line;
    n->name = name != NULL ? text_copy(m, call, name) : made_up(m, call, operation);
    n->file = text_copy(m, call, file == NULL ? "" : file);
    for (int d = 0; d < 2; d++) {
        n->dim[d].size = dim[d].size;
        if (dim[d].name != NULL) n->dim[d].name = text_copy(m, call, dim[d].name);
    }
    if (m->c->status != WG_OK) return NULL;
    if (a.at.slot != 0 && a.rows != 0 && a.cols != 0 && wgi_label_of(m->c, a.at.slot) == NULL) {
        const wg_status s = wg_label(m->t, wg_mat_at(a, 0, 0), n->name);
        if (s != WG_OK) {
            (void)wgi_fail(m->c, s, "%s: no memory for the label of %s", call, n->name);
            return NULL;
        }
    }
    *m->last = n;
    m->last = &n->next;
    m->nodes++;
    return n;
}

wgi_node_of *wgi_model_add(wg_model *m, const char *call, unsigned kind, const char *name,
                           const char *operation, wg_mat a, const wg_dim *dim, const char *file,
                           int line) {
    wgi_node_of *const n = add(m, call, kind, name, operation, a, dim, file, line);
    if (n != NULL) return n;
    wgi_fail_as(m->c, call);
    wgi_fail_where(m->c, file, line);
    return NULL;
}

/* The checks before a node is added. */
static wg_status may_add(wg_model *m, const char *call, const char *name, const char *file,
                         int line) {
    wg_status s = wgi_model_ready(m, call);
    if (s == WG_ESTALE && m->c->status == WG_OK)
        s = wgi_fail(m->c, s, "%s: the tape of the model was reset", call);
    return s == WG_OK ? good_name(m, call, name, file, line) : s;
}

static wg_status need_name(wg_model *m, const char *call, const char *name) {
    if (name != NULL || m->c->status != WG_OK) return m->c->status;
    return wgi_fail(m->c, WG_ENULL, "%s: the name is NULL", call);
}

static wg_status fits(wg_model *m, const char *call, const char *name, const wg_dim *dim) {
    if (dim[1].size == 0 || dim[0].size <= SIZE_MAX / 64 / dim[1].size) return WG_OK;
    return wgi_fail(m->c, WG_ESHAPE, "%s: %s of %zux%zu", call, name, dim[0].size, dim[1].size);
}

wg_mat wgi_model_placeholder_at(const char *file, int line, wg_model *m, const char *name,
                                wg_dim rows, wg_dim cols, unsigned flags,
                                const double *sample) {
    static const char call[] = "wg_model_placeholder";
    const wg_dim dim[2] = {rows, cols};
    const wg_mat failed = wg_mat_failed(rows.size, cols.size);
    if (m == NULL) return failed;
    if (may_add(m, call, name, file, line) != WG_OK) return failed;
    wg_status s = need_name(m, call, name);
    if (s == WG_OK) s = fits(m, call, name, dim);
    if (s == WG_OK && (flags & ~(unsigned)(WG_SHARED | WG_PASSIVE)) != 0)
        s = wgi_fail(m->c, WG_EARG, "%s: flags %u of %s", call, flags, name);
    if (s != WG_OK) {
        wgi_fail_where(m->c, file, line);
        return failed;
    }
    const double zero = 0;
    const wg_mat a = sample != NULL
                         ? wg_mat_input(m->t, rows.size, cols.size, sample, rows.size)
                         : wg_mat_input_strided(m->t, rows.size, cols.size, &zero, 0, 0);
    wgi_node_of *const n = wgi_model_add(m, call, WG_PLACEHOLDER, name, "", a, dim, file, line);
    if (n == NULL) return failed;
    n->flags = flags;
    return n->mat;
}

/* ---- initial values ---- */

/* Number e of a seed, in (0, 1): splitmix64.   Source: Steele, Lea, Flood 2014. */
static double random_number(uint64_t seed, size_t e) {
    uint64_t z = seed + ((uint64_t)e + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 12) + 0.5) * 0x1p-52;
}

static void initialise(wgi_node_of *n) {
    const wg_initial *const i = &n->initial;
    for (size_t e = 0; e < wgi_model_size(n); e++) {
        double *const v = &n->values[e];
        switch (i->kind) {
        case WGI_INITIAL_VALUES:
            *v = i->values[e];
            break;
        case WGI_INITIAL_UNIFORM:
            *v = i->a + (i->b - i->a) * random_number(i->seed, e);
            break;
        case WGI_INITIAL_NORMAL:
            *v = i->a + i->b * wgi_inv_Phi(random_number(i->seed, e));
            break;
        default:
            *v = i->a;
        }
    }
}

static int finite(double x) { return x - x == 0; }

/* Can a variable have that initial value? */
static wg_status check_initial(wg_model *m, const char *call, const char *name,
                               const wg_initial *i) {
    char a[WGI_NUMBER_TEXT], b[WGI_NUMBER_TEXT];
    switch (i->kind) {
    case WGI_INITIAL_FILL:
        return WG_OK;
    case WGI_INITIAL_VALUES:
        if (i->values != NULL) return WG_OK;
        return wgi_fail(m->c, WG_ENULL, "%s: the initial values of %s are NULL", call, name);
    case WGI_INITIAL_UNIFORM:
        if (i->a <= i->b && finite(i->b - i->a)) return WG_OK;
        return wgi_fail(m->c, WG_EARG, "%s: %s between %s and %s", call, name,
                        wgi_number_text(a, i->a), wgi_number_text(b, i->b));
    case WGI_INITIAL_NORMAL:
        if (finite(i->a) && i->b >= 0 && finite(i->b)) return WG_OK;
        return wgi_fail(m->c, WG_EARG, "%s: %s with mean %s and deviation %s", call, name,
                        wgi_number_text(a, i->a), wgi_number_text(b, i->b));
    default:
        return wgi_fail(m->c, WG_EARG, "%s: initial values of kind %d for %s", call, i->kind,
                        name);
    }
}

/* Asks for all memory of a variable before any of it is touched: what there is no room for is
 * not begun. The room on the tape comes last, which could be given up for another tape. */
static wg_status variable_room(wg_model *m, const char *call, wgi_node_of *n) {
    const size_t bytes = wgi_model_size(n) * sizeof(double);
    const wg_mark before = wg_tape_mark(m->store);
    if (wgi_slots_need(m->c, call, wgi_model_size(n)) != WG_OK) return m->c->status;
    n->values = wgi_model_keep(m, call, bytes + sizeof(double), NULL);
    if (n->initial.kind == WGI_INITIAL_VALUES && bytes != 0 && n->values != NULL)
        n->initial.values = wgi_model_keep(m, call, bytes, n->initial.values);
    wg_status s = m->c->status;
    if (s == WG_OK && (s = wgi_payload_need(m->c, bytes)) != WG_OK)
        (void)wgi_fail(m->c, s, "%s: no memory for %zu bytes", call, bytes);
    if (s == WG_OK) return s;
    give_back(m, before);
    return s;
}

wg_mat wgi_model_variable_at(const char *file, int line, wg_model *m, const char *name,
                             wg_dim rows, wg_dim cols, wg_initial initial) {
    static const char call[] = "wg_model_variable";
    wgi_node_of first;
    memset(&first, 0, sizeof first);
    first.dim[0] = rows, first.dim[1] = cols;
    const wg_mat failed = wg_mat_failed(rows.size, cols.size);
    if (m == NULL) return failed;
    if (may_add(m, call, name, file, line) != WG_OK) return failed;
    wg_status s = need_name(m, call, name);
    if (s == WG_OK) s = fits(m, call, name, first.dim);
    if (s == WG_OK) s = check_initial(m, call, name, &initial);
    if (s != WG_OK) {
        wgi_fail_where(m->c, file, line);
        return failed;
    }
    first.initial = initial;
    if (variable_room(m, call, &first) != WG_OK) {
        wgi_fail_where(m->c, file, line);
        return failed;
    }
    initialise(&first);
    const wg_mat a = wg_mat_input(m->t, rows.size, cols.size, first.values, rows.size);
    wgi_node_of *const n =
        wgi_model_add(m, call, WG_VARIABLE, name, "", a, first.dim, file, line);
    if (n == NULL) return failed;
    n->flags = WG_SHARED;
    n->values = first.values;
    n->initial = first.initial;
    return n->mat;
}

double *wg_model_values(wg_model *m, wg_mat variable) {
    wgi_node_of *const n = m == NULL ? NULL : wgi_model_node_of(m, &variable);
    return n == NULL ? NULL : n->values;
}

wg_status wg_model_initialise(wg_model *m) {
    if (m == NULL) return WG_ENULL;
    for (wgi_node_of *n = m->first; n != NULL; n = n->next)
        if (n->kind & WG_VARIABLE) initialise(n);
    return WG_OK;
}

/* ---- operations ---- */

typedef struct operation {
    const char *file;
    int line;
    wg_model *m;
    const char *name;
    const struct rule *rule;
    wg_dim out[2];
    const wgi_node_of *from[4]; /* empty, unless all operands are known */
} operation;

static wg_status open(operation *o, size_t inputs, const wg_mat *a) {
    wg_dim in[3][2];
    wg_status s = may_add(o->m, o->name, NULL, o->file, o->line);
    if (s != WG_OK) return s;
    for (size_t k = 0; k < inputs; k++) o->from[k] = dimensions_of(o->m, &a[k], in[k]);
    for (size_t k = 0; k < inputs; k++)
        if (o->from[k] == NULL) o->from[0] = NULL;
    o->rule = rule_of(o->name);
    return o->rule == NULL
               ? WG_OK
               : check(o->m, o->name, o->rule, inputs, in, o->out, o->file, o->line);
}

static wg_mat close(operation *o, wg_mat y) {
    wg_model *const m = o->m;
    const wg_mat failed = wg_mat_failed(y.rows, y.cols);
    if (m->c->status != WG_OK || y.value == NULL) return failed;
    if (wgi_model_node_of(m, &y) != NULL) return y; /* a view of a node that is there */
    wg_dim dim[2] = {{NULL, y.rows}, {NULL, y.cols}};
    for (int d = 0; o->rule != NULL && d < 2; d++) dim[d].name = o->out[d].name;
    const char *const name = text_copy(m, o->name, o->name);
    if (name == NULL) return failed;
    const unsigned kind = y.at.slot == 0 ? WG_CONSTANT : WG_OPERATION;
    wgi_node_of *const n =
        wgi_model_add(m, o->name, kind, NULL, name, y, dim, o->file, o->line);
    if (n == NULL) return failed;
    if (kind == WG_OPERATION) memcpy(n->from, o->from, sizeof n->from);
    return n->mat;
}

#define OPERATION(count, type, ...)                                                            \
    const wg_mat in[] = {__VA_ARGS__}, failed = wg_mat_failed(0, 0);                           \
    operation o = {file, line, m, name, NULL, {{NULL, 0}, {NULL, 0}}, {NULL}};                 \
    if (m == NULL) return failed;                                                              \
    if (name == NULL || f == NULL) {                                                           \
        (void)wgi_fail(m->c, WG_ENULL, "wg_model_op: the operation is NULL");                  \
        return failed;                                                                         \
    }                                                                                          \
    return open(&o, count, in) != WG_OK ? failed : close(&o, f(m->t, __VA_ARGS__))

wg_mat wgi_model_op1_at(const char *file, int line, wg_model *m, const char *name,
                        wgi_model_f1 *f, wg_mat a) {
    OPERATION(1, f1, a);
}
wg_mat wgi_model_op2_at(const char *file, int line, wg_model *m, const char *name,
                        wgi_model_f2 *f, wg_mat a, wg_mat b) {
    OPERATION(2, f2, a, b);
}
wg_mat wgi_model_op3_at(const char *file, int line, wg_model *m, const char *name,
                        wgi_model_f3 *f, wg_mat a, wg_mat b, wg_mat c) {
    OPERATION(3, f3, a, b, c);
}

/* ---- names, tags ---- */

/* Gives a node another name or other axes. */
static wg_status rename_node(wg_model *m, const char *call, wgi_node_of *n, const char *name,
                             const char *const *axis) {
    if (name != NULL && !same(name, n->name)) {
        if (n->kind & (WG_PLACEHOLDER | WG_VARIABLE))
            return wgi_fail(m->c, WG_EARG, "%s: %s keeps its name", call, n->name);
        const char *const copy = text_copy(m, call, name);
        if (copy == NULL) return m->c->status;
        n->name = copy;
        if (n->mat.at.slot != 0 && wgi_model_size(n) != 0)
            (void)wg_label(m->t, wg_mat_at(n->mat, 0, 0), copy);
    }
    for (int d = 0; d < 2; d++)
        if (axis[d] != NULL) n->dim[d].name = text_copy(m, call, axis[d]);
    return m->c->status;
}

wg_mat wgi_model_name_at(const char *file, int line, wg_model *m, wg_mat a, const char *name,
                         const char *rows, const char *cols) {
    static const char call[] = "wg_model_name";
    const char *const axis[2] = {rows, cols};
    const wg_mat failed = wg_mat_failed(a.rows, a.cols);
    if (m == NULL) return failed;
    wgi_node_of *n = wgi_model_node_of(m, &a);
    const int renamed = n != NULL && name != NULL && !same(name, n->name);
    if (may_add(m, call, n == NULL || renamed ? name : NULL, file, line) != WG_OK)
        return failed;
    if (a.value == NULL || wgi_mat_stale(m->c, &a)) {
        (void)wgi_fail(m->c, a.value == NULL ? WG_ESHAPE : WG_ESTALE,
                       "%s: %s is no matrix of this tape", call, name == NULL ? "a" : name);
        return failed;
    }
    if (n != NULL) return rename_node(m, call, n, name, axis) == WG_OK ? a : failed;
    const wgi_block *const b = a.at.slot == 0 ? NULL : wgi_block_of(m->c, a.at.slot);
    const wg_dim dim[2] = {{rows, a.rows}, {cols, a.cols}};
    n = wgi_model_add(m, call, a.at.slot == 0 ? WG_CONSTANT : WG_OPERATION, name,
                      b == NULL ? "" : b->op->name, a, dim, file, line);
    if (n == NULL) return failed;
    n->mat = a; /* so that the caller's matrix is found, even if it has no elements */
    return a;
}

/* The node that a matrix is; or a refusal. */
static wg_status known(wg_model *m, const char *call, const wg_mat *a, wgi_node_of **n) {
    *n = wgi_model_node_of(m, a);
    return *n != NULL ? WG_OK : WGI_MODEL_REFUSE(m, WG_EARG, "%s: no node", call);
}

wg_status wg_model_tag(wg_model *m, wg_mat a, const char *tag) {
    static const char call[] = "wg_model_tag";
    if (m == NULL) return WG_ENULL;
    if (m->c->status != WG_OK) return m->c->status;
    if (tag == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: the tag is NULL", call);
    wgi_node_of *n;
    wg_status s = known(m, call, &a, &n);
    if (s != WG_OK) return s;
    wgi_tag *const new = wgi_model_keep(m, call, sizeof *new, NULL);
    if (new == NULL) return m->c->status;
    *new = (wgi_tag){NULL, text_copy(m, call, tag)};
    if (new->text == NULL) return m->c->status;
    wgi_tag **at = &n->tag;
    while (*at != NULL) at = &(*at)->next;
    *at = new;
    return WG_OK;
}

wg_status wg_model_node(wg_model *m, wg_mat a, wg_node *out) {
    static const char call[] = "wg_model_node";
    if (m == NULL) return WG_ENULL;
    if (out == NULL) return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: out is NULL", call);
    wgi_node_of *n;
    const wg_status s = known(m, call, &a, &n);
    if (s != WG_OK) return s;
    out->kind = n->kind & ~(unsigned)WGI_DERIVED;
    out->name = n->name, out->operation = n->operation;
    out->rows = n->dim[0], out->cols = n->dim[1];
    out->file = n->file;
    out->line = n->line;
    return WG_OK;
}

wg_status wg_model_update(wg_model *m, wg_mat variable, wg_mat next) {
    static const char call[] = "wg_model_update";
    wgi_node_of *v, *n;
    wg_dim both;
    if (m == NULL) return WG_ENULL;
    wg_status s = wgi_model_ready(m, call);
    if (s == WG_OK) s = known(m, call, &variable, &v);
    if (s == WG_OK) s = known(m, call, &next, &n);
    if (s == WG_OK && wgi_mat_stale(m->c, &n->mat))
        s = WGI_MODEL_REFUSE(m, WG_ESTALE, "%s: the tape was rewound to before %s", call,
                             n->name);
    if (s != WG_OK) return s;
    if (!(v->kind & WG_VARIABLE))
        return WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s is no variable", call, v->name);
    for (int d = 0; d < 2; d++)
        if (!meet(&v->dim[d], &n->dim[d], 0, &both)) {
            char a[DIM_TEXT], b[DIM_TEXT];
            return WGI_MODEL_REFUSE(m, WG_ESHAPE, "%s: %s has %s where %s has %s", call,
                                    v->name, dim_text(a, &v->dim[d]), n->name,
                                    dim_text(b, &n->dim[d]));
        }
    n->updates = v;
    return WG_OK;
}

wg_status wg_model_feed(wg_model *m, wg_mat placeholder, const double *data, ptrdiff_t point,
                        ptrdiff_t entry) {
    static const char call[] = "wg_model_feed";
    if (m == NULL) return WG_ENULL;
    wgi_node_of *n;
    const wg_status s = known(m, call, &placeholder, &n);
    if (s != WG_OK) return s;
    if (!(n->kind & WG_PLACEHOLDER))
        return WGI_MODEL_REFUSE(m, WG_EARG, "%s: %s is no placeholder", call, n->name);
    if (data == NULL)
        return WGI_MODEL_REFUSE(m, WG_ENULL, "%s: the data of %s are NULL", call, n->name);
    n->feed = (wg_points){data, point, entry};
    return WG_OK;
}
