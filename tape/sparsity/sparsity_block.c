/* SPDX-License-Identifier: MIT */
/* What the results of an operation on matrices depend on, element by element where that is
 * known: for the library's own operations; for operations element by element; for operations
 * that only move elements, which are called with labels to show where each went; for sparse
 * products; for calls, maps and scans; and by rows and columns for products, solves, batches
 * and operations along lines. Results of any other operation depend on all operands, and are
 * not linear in them unless the operation says so. */
#include "sparsity.h"

#include <string.h>

static size_t length_of(const wgi_operand *o) { return o->trans ? o->cols : o->rows; }
static size_t columns_of(const wgi_operand *o) { return o->trans ? o->rows : o->cols; }
static size_t size_of(const wgi_operand *o) { return (size_t)o->rows * o->cols; }

/* The slot of element e of an operand, column after column; a row or column that is repeated
 * over a result of `rows` rows has fewer elements. */
static uint32_t slot_of(const wgi_operand *o, size_t rows, size_t e) {
    const size_t i = o->rows == 1 ? 0 : e % rows, j = o->cols == 1 ? 0 : e / rows;
    return o->slot + (uint32_t)(o->trans ? j + i * o->ld : i + j * o->ld);
}

static int is_small(const wgi_block *b) { return b->op == &wgi_small_op; }
static const wgi_small *small_of(const wgi_block *b) {
    return (const wgi_small *)(const void *)b;
}

/* ---- who moved what ---- */

/* A label for every element of the operands, in two ways: no constant among the results can
 * have both. */
static double tag(uint64_t number, int way) {
    return way == 0 ? (double)number : -(double)number - 0.5;
}

/* Calls a function of an operation while what is being found stands on the tape. */
static wg_status held(wgi_core *c, const wgi_block *b, wg_status (*f)(wg_block *),
                      wg_block *call) {
    const wgi_hold before = wgi_tape_hold(c);
    const wg_status s = f(call);
    if (!wgi_tape_release(c, before)) return s;
    return wgi_fail(c, WG_EMODE, "%s has recorded on the tape, or would reset or rewind it",
                    b->op->name);
}

/* For an operation that only moves elements: the slot that each element of its results comes
 * from, 0 for a constant. NULL: it failed, or refuses. In the arena of the tape. */
static const uint32_t *origins(wgi_core *c, const wgi_block *b) {
    wg_block_arg arg[2 * WGI_MAX_ARGS];
    wg_block call;
    memset(&call, 0, sizeof call);
    call.params = b->params;
    call.inputs = b->inputs, call.outputs = b->outputs;
    call.in = arg, call.out = arg + b->inputs;
    uint64_t elements = 1;
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        const size_t ld = length_of(o) != 0 ? length_of(o) : 1;
        arg[i] = (wg_block_arg){o->rows, o->cols, ld, ld, o->trans, NULL, NULL};
        if (i < b->inputs) elements += size_of(o);
    }
    if (held(c, b, b->op->shape, &call) != WG_OK) return NULL;
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) {
        arg[i].ld = arg[i].bar_ld =
            length_of(&b->operand[i]) != 0 ? length_of(&b->operand[i]) : 1;
        arg[i].value =
            wg_tape_keep(&c->head, (size_of(&b->operand[i]) + 1) * sizeof(double), NULL);
    }
    uint32_t *const slot_by_tag = wg_tape_keep(&c->head, elements * sizeof(uint32_t), NULL);
    uint64_t *const first = wg_tape_keep(&c->head, (b->outs + 1) * sizeof *first, NULL);
    uint32_t *const from = wg_tape_keep(&c->head, (b->outs + 1) * sizeof *from, NULL);
    call.saved = wg_tape_keep(&c->head, call.saved_bytes + 1, NULL);
    call.work = wg_tape_keep(&c->head, call.work_bytes + 1, NULL);
    if (c->status != WG_OK) return NULL;
    for (int way = 0; way < 2; way++) {
        uint64_t number = 1;
        for (uint32_t i = 0; i < b->inputs; i++) {
            const wgi_operand *const o = &b->operand[i];
            double *to = arg[i].value;
            for (size_t j = 0; j < columns_of(o); j++)
                for (size_t r = 0; r < length_of(o); r++, number++) {
                    *to++ = tag(number, way);
                    slot_by_tag[number] =
                        o->slot != 0 ? o->slot + (uint32_t)(r + j * o->ld) : 0;
                }
        }
        if (held(c, b, b->op->value, &call) != WG_OK) return NULL;
        size_t e = 0;
        for (uint32_t i = 0; i < b->outputs; i++) {
            const double *const v = call.out[i].value;
            for (size_t l = 0; l < size_of(&b->operand[b->inputs + i]); l++, e++)
                if (way == 0) {
                    const int whole = v[l] >= 1 && v[l] < (double)elements;
                    first[e] = whole ? (uint64_t)v[l] : 0;
                } else {
                    const int same = first[e] != 0 && v[l] == tag(first[e], way);
                    from[e] = same ? slot_by_tag[first[e]] : 0;
                }
        }
    }
    return from;
}

static const uint32_t *moved(wgi_core *c, const wgi_block *b) {
    if (wgi_is_gather(b)) return wgi_gather_slots(b);
    return (b->op->flags & WG_OP_MOVES) != 0 && b->outs != 0 ? origins(c, b) : NULL;
}

/* ---- sparse products ---- */

/* Called for each product: element `to` of the result depends on values[k] and on element
 * `from` of X. */
typedef void spmm_term(void *ctx, const wgi_block *b, size_t k, size_t from, size_t to);

/* The slot of an element, counted column after column; 0: it is a constant. */
static size_t slot_at(const wgi_operand *o, size_t e) {
    return o->slot != 0 ? slot_of(o, o->rows, e) : 0;
}

static int spmm_terms(const wgi_block *b, spmm_term *f, void *ctx) {
    int trans = 0, vector = 0;
    const wgi_traits of_op = wgi_traits_of(b->op);
    if (of_op.pattern == NULL) return 0;
    const wg_csr *const s = of_op.pattern(b->params, &trans, &vector);
    const wgi_operand *const x = &b->operand[1], *const y = &b->operand[b->inputs];
    const size_t rows = vector ? size_of(x) : x->rows;
    for (size_t c = 0; c < y->cols; c++)
        for (size_t i = 0; i < s->rows; i++)
            for (size_t k = s->start[i]; k < s->start[i + 1]; k++)
                f(ctx, b, k, (trans ? i : s->col[k]) + c * rows,
                  (trans ? s->col[k] : i) + c * y->rows);
    return 1;
}

/* ---- matrices of sets ---- */

/* The slots of a matrix as an operation reads them; slot 0: it is a constant. */
typedef struct lattice {
    uint32_t slot;
    size_t rows, cols, down, across;
} lattice;

static lattice lattice_turned(lattice a) {
    return (lattice){a.slot, a.cols, a.rows, a.across, a.down};
}

static lattice lattice_whole(const wgi_operand *o) {
    return (lattice){o->slot, o->rows, o->cols, o->trans ? o->ld : 1, o->trans ? 1 : o->ld};
}

/* The union of all its sets. */
static wgi_set join_lattice(wgi_sets *k, const wgi_set *of, lattice a) {
    if (a.slot == 0 || !wgi_sets_room(k, WGI_INDEX_STACK, 0, a.rows * a.cols)) return 0;
    wgi_set *const set = wgi_sets_words(k, WGI_INDEX_STACK);
    size_t n = 0;
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) set[n++] = of[a.slot + i * a.down + j * a.across];
    return wgi_sets_join(k, n, set);
}

/* The union of the sets of all operands. */
static wgi_set join_all(wgi_sets *k, const wgi_block *b, const wgi_set *of) {
    wgi_set set[WGI_MAX_ARGS];
    for (uint32_t i = 0; i < b->inputs; i++)
        set[i] = join_lattice(k, of, lattice_whole(&b->operand[i]));
    return wgi_sets_join(k, b->inputs, set);
}

/* ---- element by element, products, points of a map ---- */

/* For an operation element by element: the set of each operand on which element e of result y
 * depends; that of a constant is empty. */
static void sets_of_element(const wgi_block *b, const wgi_set *of, const wgi_operand *y,
                            size_t e, wgi_set *set) {
    for (uint32_t i = 0; i < b->inputs; i++)
        set[i] = b->operand[i].slot != 0 ? of[slot_of(&b->operand[i], y->rows, e)] : 0;
}

static void each_sets(wgi_sets *k, const wgi_block *b, wgi_set *of) {
    wgi_set set[WGI_MAX_ARGS];
    for (const wgi_operand *y = b->operand + b->inputs; y < b->operand + b->inputs + b->outputs;
         y++)
        for (size_t e = 0; e < size_of(y); e++) {
            sets_of_element(b, of, y, e, set);
            of[y->slot + e] = wgi_sets_join(k, b->inputs, set);
        }
}

typedef struct term_sets {
    wgi_sets *k;
    wgi_set *of;
} term_sets;

static void join_term(void *ctx, const wgi_block *b, size_t k, size_t from, size_t to) {
    const term_sets *const t = ctx;
    const wgi_set set[] = {t->of[b->out + to], t->of[slot_at(&b->operand[0], k)],
                           t->of[slot_at(&b->operand[1], from)]};
    t->of[b->out + to] = wgi_sets_join(t->k, 3, set);
}

/* The union of what all points of a map share (point SIZE_MAX), or of that and what belongs to
 * a point. */
static wgi_set join_point(wgi_sets *k, const wgi_block *b, const wgi_set *of,
                          const wgi_by_point *p, size_t point, wgi_set shared) {
    size_t n = 0;
    for (uint32_t i = 0; i < b->inputs; i++)
        n += point == SIZE_MAX && p->in[i] == 0 ? size_of(&b->operand[i]) : p->in[i];
    if (!wgi_sets_room(k, WGI_INDEX_STACK, 0, n + 1)) return 0;
    wgi_set *const set = wgi_sets_words(k, WGI_INDEX_STACK);
    n = 0;
    set[n++] = shared;
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        const int all = point == SIZE_MAX && p->in[i] == 0;
        if (o->slot == 0 || (p->passive >> i & 1) != 0 || (point == SIZE_MAX && !all)) continue;
        const size_t count = all ? size_of(o) : p->in[i], first = all ? 0 : point * p->in[i];
        for (size_t e = 0; e < count; e++) set[n++] = of[slot_at(o, first + e)];
    }
    return wgi_sets_join(k, n, set);
}

/* ---- rows, columns, members of a batch ---- */

/* Operand k, or behind the operands the result, for one member of a batch. */
static lattice lattice_of(const wgi_block *b, const wgi_parts *p, uint32_t k, size_t member) {
    lattice a = lattice_whole(&b->operand[k]);
    a.cols /= p->count;
    if (a.slot != 0) a.slot += (uint32_t)(member * a.cols * a.across);
    if (k >= b->inputs || k >= WGI_PART_OPERANDS) return a;
    if ((p->column >> k & 1) && a.cols != 1) a = lattice_turned(a);
    return p->turned >> k & 1 ? lattice_turned(a) : a;
}

static lattice row_of(lattice a, size_t i) {
    if (a.slot != 0) a.slot += (uint32_t)(i * a.down);
    a.rows = 1;
    return a;
}
static lattice column_of(lattice a, size_t j) {
    if (a.slot != 0) a.slot += (uint32_t)(j * a.across);
    a.cols = 1;
    return a;
}

/* What elements of the result depend on, for one member of a batch and operand by operand: it
 * may differ from row to row, or from column to column, or not at all. */
typedef struct member_sets {
    const wgi_block *b;
    const wgi_parts *p;
    const wgi_set *of;
    lattice in[WGI_MAX_ARGS], out;
    wgi_set *line[WGI_MAX_ARGS]; /* for each row, each column, or for all */
    int by_row, by_column;
} member_sets;

static wgi_part part_of(const wgi_parts *p, uint32_t k) {
    return k < WGI_PART_OPERANDS ? p->part[k] : WGI_ALL_OF_IT;
}

static int open_member(wgi_sets *k, member_sets *s, size_t member) {
    const wgi_block *const b = s->b;
    s->by_row = s->by_column = 0;
    s->out = lattice_of(b, s->p, b->inputs, member);
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_part part = part_of(s->p, i);
        const lattice a = s->in[i] = lattice_of(b, s->p, i, member);
        const size_t lines = part == WGI_ITS_ROW ? a.rows : part == WGI_ITS_COLUMN ? a.cols : 1;
        s->by_row |= part == WGI_ITS_ROW || part == WGI_ITS_ELEMENT;
        s->by_column |= part == WGI_ITS_COLUMN || part == WGI_ITS_ELEMENT;
        s->line[i] = wg_tape_keep(&k->c->head, (lines + 1) * sizeof *s->line[i], NULL);
        if (s->line[i] == NULL) return 0;
        for (size_t l = 0; l < lines && part != WGI_ITS_ELEMENT; l++)
            s->line[i][l] = join_lattice(k, s->of,
                                         part == WGI_ITS_ROW      ? row_of(a, l)
                                         : part == WGI_ITS_COLUMN ? column_of(a, l)
                                                                  : a);
    }
    return k->c->status == WG_OK;
}

static void sets_of_parts(const member_sets *s, size_t i, size_t j, wgi_set *set) {
    for (uint32_t k = 0; k < s->b->inputs; k++) {
        const wgi_part part = part_of(s->p, k);
        const lattice a = s->in[k];
        if (part != WGI_ITS_ELEMENT)
            set[k] = s->line[k][part == WGI_ITS_ROW ? i : part == WGI_ITS_COLUMN ? j : 0];
        else set[k] = a.slot != 0 ? s->of[a.slot + i * a.down + j * a.across] : 0;
    }
}

static int part_sets(wgi_sets *k, const wgi_block *b, wgi_set *of) {
    wgi_parts p;
    wgi_set set[WGI_MAX_ARGS];
    if (b->outputs != 1 || !wgi_parts_of(b->op, b->params, &p)) return 0;
    member_sets s = {.b = b, .p = &p, .of = of};
    for (size_t m = 0; m < p.count && open_member(k, &s, m); m++)
        for (size_t j = 0; j < s.out.cols; j++)
            for (size_t i = 0; i < s.out.rows; i++) {
                const uint32_t y = s.out.slot + (uint32_t)(i + j * s.out.rows);
                if (i != 0 && !s.by_row) of[y] = of[y - 1];
                else if (j != 0 && !s.by_column) of[y] = of[y - s.out.rows];
                else {
                    sets_of_parts(&s, i, j, set);
                    of[y] = wgi_sets_join(k, b->inputs, set);
                }
            }
    return 1;
}

static int scatter_sets(wgi_sets *k, const wgi_block *b, wgi_set *of) {
    size_t n = 0;
    const wgi_traits of_op = wgi_traits_of(b->op);
    if (of_op.scatter == NULL) return 0;
    const size_t *const to = of_op.scatter(b->params, &n);
    for (uint32_t e = 0; e < b->outs; e++) of[b->out + e] = of[slot_at(&b->operand[0], e)];
    for (size_t i = 0; i < n; i++) {
        const wgi_set set[] = {of[b->out + to[i]], of[slot_at(&b->operand[1], i)]};
        of[b->out + to[i]] = wgi_sets_join(k, 2, set);
    }
    return 1;
}

/* Asks the operation itself. */
static int own_sets(wgi_sets *k, const wgi_block *b, wgi_set *of) {
    const wgi_traits of_op = wgi_traits_of(b->op);
    return of_op.sets != NULL && of_op.sets(k, b, of, of + b->out);
}

void wgi_block_sets(wgi_sets *k, const wgi_block *b, wgi_set *of) {
    wgi_set set[WGI_MAX_ARGS];
    if (is_small(b)) {
        const wgi_small *const s = small_of(b);
        for (uint32_t e = 0; e < b->outs; e++) {
            set[0] = s->in[0] != 0 ? of[s->in[0] + e] : 0;
            set[1] = s->in[1] != 0 ? of[s->in[1] + e] : 0;
            of[b->out + e] = wgi_sets_join(k, 2, set);
        }
        return;
    }
    if (b->outs == 0) return;
    const uint32_t *const from = moved(k->c, b);
    if (from != NULL) {
        for (uint32_t e = 0; e < b->outs; e++) of[b->out + e] = of[from[e]];
    } else if (spmm_terms(b, join_term, &(term_sets){k, of}) || scatter_sets(k, b, of) ||
               part_sets(k, b, of) || own_sets(k, b, of)) {
        return;
    } else if (b->op->flags & WG_OP_EACH) {
        each_sets(k, b, of);
    } else if (!wgi_is_gather(b)) {
        const wgi_set all = join_all(k, b, of);
        for (uint32_t e = 0; e < b->outs; e++) of[b->out + e] = all;
    }
}

/* ---- second order ---- */

/* The scalar operation that a block does element by element; NULL: it does something else. */
static const wg_scalar_op *scalar_op(const wgi_block *b) {
    if (is_small(b)) return wgi_small_row(small_of(b));
    return wgi_row_of(b->op, b->params);
}

/* Pairs of operands whose second partial is not always 0: bit j of near[i]. */
static void near_operands(const wgi_block *b, unsigned operands, uint16_t *near) {
    const wg_scalar_op *const op = scalar_op(b);
    memset(near, 0, operands * sizeof *near);
    for (unsigned i = 0, pair = 0; i < operands; i++)
        for (unsigned j = i; j < operands; j++, pair++)
            if (op == NULL || (op->zero_second >> pair & 1) == 0)
                near[i] |= (uint16_t)(1u << j), near[j] |= (uint16_t)(1u << i);
}

static void small_curves(wgi_curves *q, const wgi_block *b) {
    const wgi_small *const s = small_of(b);
    uint16_t near[2];
    near_operands(b, 2, near);
    for (uint32_t e = 0; e < s->outs && (near[0] | near[1]) != 0; e++) {
        wgi_set of[2];
        for (int i = 0; i < 2; i++) of[i] = s->in[i] != 0 ? q->of[s->in[i] + e] : 0;
        wgi_connect_near(q, 2, of, near);
    }
}

static void each_curves(wgi_curves *q, const wgi_block *b) {
    wgi_set of[WGI_MAX_ARGS];
    uint16_t near[WGI_MAX_ARGS];
    near_operands(b, b->inputs, near);
    for (const wgi_operand *y = b->operand + b->inputs; y < b->operand + b->inputs + b->outputs;
         y++)
        for (size_t e = 0; e < size_of(y) && q->k->c->status == WG_OK; e++) {
            sets_of_element(b, q->of, y, e, of);
            wgi_connect_near(q, b->inputs, of, near);
        }
}

static void connect_term(void *ctx, const wgi_block *b, size_t k, size_t from, size_t to) {
    wgi_curves *const q = ctx;
    (void)to;
    wgi_connect_both(q, q->of[slot_at(&b->operand[0], k)],
                     q->of[slot_at(&b->operand[1], from)]);
}

static void dot_curves(wgi_curves *q, const wgi_block *b) {
    const wgi_operand *const x = &b->operand[0], *const y = &b->operand[1];
    for (size_t e = 0; e < size_of(x); e++)
        wgi_connect_both(q, q->of[slot_at(x, e)], q->of[slot_at(y, e)]);
}

static int part_curves(wgi_curves *q, const wgi_block *b) {
    wgi_parts p;
    wgi_set set[WGI_MAX_ARGS];
    if (b->outputs != 1 || b->inputs > WGI_PART_OPERANDS || !wgi_parts_of(b->op, b->params, &p))
        return 0;
    member_sets s = {.b = b, .p = &p, .of = q->of};
    for (size_t m = 0; m < p.count && p.product; m++) {
        const lattice x = lattice_of(b, &p, 0, m), y = lattice_of(b, &p, 1, m);
        for (size_t l = 0; l < x.cols; l++)
            wgi_connect_both(q, join_lattice(q->k, q->of, column_of(x, l)),
                             join_lattice(q->k, q->of, row_of(y, l)));
    }
    for (size_t m = 0; m < p.count && !p.product && open_member(q->k, &s, m); m++)
        for (size_t j = 0; j < (s.by_column ? s.out.cols : s.out.cols != 0); j++)
            for (size_t i = 0; i < (s.by_row ? s.out.rows : s.out.rows != 0); i++) {
                sets_of_parts(&s, i, j, set);
                wgi_connect_near(q, b->inputs, set, p.near);
            }
    return 1;
}

static void map_curves(wgi_curves *q, const wgi_block *b) {
    wgi_by_point p;
    memset(&p, 0, sizeof p);
    b->op->traits->by_point(b, &p);
    const wgi_set shared = join_point(q->k, b, q->of, &p, SIZE_MAX, 0);
    for (size_t point = 0; point < p.points && q->k->c->status == WG_OK; point++) {
        const wgi_set own = join_point(q->k, b, q->of, &p, point, shared);
        wgi_connect(q, own, own);
    }
}

void wgi_block_curves(wgi_curves *q, const wgi_block *b) {
    const wgi_traits of_op = wgi_traits_of(b->op);
    if (is_small(b)) {
        small_curves(q, b);
        return;
    }
    if (of_op.inner) {
        dot_curves(q, b);
        return;
    }
    if (spmm_terms(b, connect_term, q)) return;
    if (of_op.by_point != NULL) {
        map_curves(q, b);
        return;
    }
    if (wgi_is_gather(b) || (b->op->flags & (WG_OP_MOVES | WG_OP_LINEAR)) != 0) return;
    if (b->op->flags & WG_OP_EACH) {
        each_curves(q, b);
        return;
    }
    if (part_curves(q, b)) return;
    if (of_op.curves != NULL) {
        of_op.curves(q, b);
        return;
    }
    const wgi_set all = join_all(q->k, b, q->of);
    wgi_connect(q, all, all);
}

int wgi_block_is_alive(const wgi_block *b, const unsigned char *mark) {
    for (uint32_t e = 0; e < b->outs; e++)
        if (mark[b->out + e]) return 1;
    return 0;
}

void wgi_block_mark(const wgi_block *b, unsigned char *mark, int anyway) {
    if (!anyway && !wgi_block_is_alive(b, mark)) return;
    if (is_small(b)) {
        for (int i = 0; i < 2; i++)
            if (small_of(b)->in[i] != 0) memset(mark + small_of(b)->in[i], 1, b->outs);
        return;
    }
    const uint32_t *const from = wgi_gather_slots(b);
    for (uint32_t e = 0; from != NULL && e < b->outs; e++) mark[from[e]] = 1;
    for (uint32_t i = 0; i < b->inputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        for (size_t j = 0; o->slot != 0 && j < columns_of(o); j++)
            memset(mark + o->slot + j * o->ld, 1, length_of(o));
    }
}

/* ---- fingerprint ---- */

uint64_t wgi_block_hash(wgi_core *c, const wgi_block *b, uint64_t h) {
    h = wgi_mix(h, (uint64_t)(uintptr_t)b->op, (uint64_t)b->out << 32 | b->outs);
    if (is_small(b)) {
        const wgi_small *const s = small_of(b);
        return wgi_mix(h, (uint64_t)s->in[0] << 32 | s->in[1], s->kind);
    }
    h = wgi_mix(h, b->inputs, b->outputs);
    for (uint32_t i = 0; i < b->inputs + b->outputs; i++) {
        const wgi_operand *const o = &b->operand[i];
        h = wgi_mix(h, (uint64_t)o->rows << 32 | o->cols, (uint64_t)o->ld << 32 | o->slot);
        h = wgi_mix(h, o->trans, i);
    }
    const uint32_t *const from = moved(c, b);
    for (uint32_t e = 0; from != NULL && e < b->outs; e++) h = wgi_mix(h, from[e], e);
    const wgi_traits of_op = wgi_traits_of(b->op);
    if (of_op.row_given) h = wgi_mix(h, (uint64_t)(uintptr_t)wgi_row_of(b->op, b->params), 1);
    if (of_op.pattern != NULL) {
        int trans = 0, vector = 0;
        const wg_csr *const s = of_op.pattern(b->params, &trans, &vector);
        h = wgi_mix(h, (uint64_t)trans << 1 | (uint64_t)vector, s->rows);
        for (size_t i = 0; i < s->rows; i++) {
            h = wgi_mix(h, s->start[i + 1], i);
            for (size_t k = s->start[i]; k < s->start[i + 1]; k++) h = wgi_mix(h, s->col[k], i);
        }
    }
    if (of_op.scatter != NULL) {
        size_t n = 0;
        const size_t *const index = of_op.scatter(b->params, &n);
        for (size_t i = 0; i < n; i++) h = wgi_mix(h, index[i], i);
    }
    wgi_parts part;
    if (wgi_parts_of(b->op, b->params, &part)) {
        h = wgi_mix(h, part.count, (uint64_t)part.column << 32 | part.turned);
        for (int k = 0; k < WGI_PART_OPERANDS; k++) h = wgi_mix(h, part.part[k], part.near[k]);
    }
    return of_op.hash != NULL ? of_op.hash(b, h) : h;
}
