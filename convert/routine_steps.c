/* SPDX-License-Identifier: MIT */
/* routine_steps.c - --to adjoint: calls of BLAS and LAPACK as steps. Forwards the source's own
 * call is run, back one of wengert/blas_vjp.h, which finds values where they stand: which of
 * them it asks for says the row of the routine. */
#include <stdlib.h>
#include <string.h>
#include "convert/builder.h"
#include "convert/planner.h"
#include "convert/routines.h"
#include "convert/sweeps.h"

/* ---- from the tree ----------------------------------------------------------------------- */

static bool is_array_letter(char kind) { return kind == 'A' || kind == 'B'; }
static bool is_address_of(const node *n) { return n->kind == NODE_UNARY && same(n->op, "&"); }

/* What an argument leads to, if it is a pointer or an array; (double *)p to the numbers of
 * structures. */
static cell *memory_of(const routine *r, const node *n) {
    const node *const x = bare(n);
    cell *const c = cell_at(r, x);
    if (x->type == NULL || c == NULL) return NULL;
    if (x->type->kind == TYPE_ARRAY) return c;
    return x->type->kind == TYPE_POINTER && c->target != NULL ? real_cell(c->target) : NULL;
}

/* The type of parameter i, from 1, of what is called: double, where a float is passed. */
static const type *parameter_type(const node *call, size_t i) {
    const type *const t = bare(call->child[0])->decl->type;
    const bool is_declared = t->kind == TYPE_FUNCTION && i <= t->parameters;
    return is_declared ? t->parameter[i - 1] : call->child[i]->type;
}

bool routine_step(builder *b, const node *n) {
    routine *const r = b->r;
    bool fortran;
    const routine_row *const row = routine_called(n, &fortran);
    if (row == NULL || row->result == 'i') return false;
    /* one without variables may overwrite what is asked for again */
    const bool varies = routine_varies(r->v, n, row, fortran);
    if (!varies && (row->back == 0 || strchr(row->arguments, 'B') == NULL)) return false;
    if (row->back == 0) {
        refuse_node(r, n, "a routine without an adjoint here, which --to tape has");
        return true;
    }
    list operands = {NULL, 0, 0};
    for (size_t i = 1; i < n->children; i++) {
        const node *const e = n->child[i];
        routine_operand *const o = arena_get(sizeof *o);
        *o = (routine_operand){.n = e, .kind = routine_argument(row, fortran, i)};
        o->memory = memory_of(r, e);
        const bool number = o->kind == 'a' && !fortran;
        o->holds = number ? step_is_active(r, e)
                          : (o->kind == 'a' || is_array_letter(o->kind)) && node_holds(r, e);
        const node *const place = r->place[e->number];
        if (number && o->holds && (r->instead[e->number] == NULL || place != NULL)) {
            step *const s = add_step(b, STEP_ASSIGN); /* for a shadow that is its own */
            s->to = new_name(r, parameter_type(n, i), cell_at(r, e));
            s->e = place != NULL ? place : e;
            r->instead[e->number] = s->to.name, r->place[e->number] = NULL;
        } else if (number && o->holds && e->type->bits != 64) {
            refuse_node(r, e, "a factor that is no double: assign it to one before");
            return true;
        }
        push(&operands, o);
    }
    step *const s = add_step(b, STEP_ROUTINE);
    s->call = n, s->routine = row, s->fortran = fortran, s->operands = operands;
    if (n->type == NULL || n->type->kind == TYPE_VOID) return true;
    cell *const of = arena_get(sizeof *of);
    of->type = n->type;
    of->forced = row->result == 'r';
    s->to = new_name(r, n->type, of);
    r->instead[n->number] = s->to.name;
    return true;
}

/* ---- which values are asked for ---------------------------------------------------------- */

bool routine_goes_back(const step *s) {
    for (size_t i = 0; i < s->operands.n; i++)
        if (((routine_operand *)s->operands.at[i])->holds) return true;
    return false;
}

/* Does the way back find what the routine has left? Otherwise what was there before. */
static bool asks_for_results(const routine_row *row) {
    return row->back == 'd' || row->back == 'f' || row->back == 'v';
}

/* May the value of argument k be asked for: of an array, or of the old value of one that is
 * written to? Those of a product are, where another factor has an adjoint. */
static bool is_asked(const step *s, size_t k) {
    const routine_operand *const o = s->operands.at[k];
    const char form = routine_goes_back(s) ? s->routine->back : 'c';
    bool another = false, varies = false, beta = false;
    size_t factors = 0;
    for (size_t i = 0; i < s->operands.n; i++) {
        const routine_operand *const x = s->operands.at[i];
        const bool number = x->kind == 'a';
        if (number && factors++ != 0) beta = x->holds;
        else if (number || x->kind == 'A') another |= x->holds && i != k, varies |= x->holds;
    }
    switch (form) {
    case 'p':
        return o->kind == 'A' ? another : beta;
    case 'q':
        return o->kind == 'A' ? varies : beta;
    case 'm':
    case 'd':
        return o->kind == 'A' || varies;
    case 'c':
        return false;
    default:
        return true;
    }
}

/* Is what it leads to overwritten? */
static bool is_written(const step *s, const routine_operand *o) {
    const bool pivots = o->kind == 'i' && s->routine->back != 'd';
    return o->memory != NULL && (o->kind == 'B' || o->kind == 's' || o->kind == 'w' || pivots);
}
bool routine_changes(const step *s, const cell *c) {
    for (size_t i = 0; i < s->operands.n; i++) {
        const routine_operand *const o = s->operands.at[i];
        if (is_written(s, o) && real_cell(o->memory) == c) return true;
    }
    return false;
}

void walk_routine(planner *p, step *s) {
    const bool results = asks_for_results(s->routine);
    for (size_t i = 0; i < s->operands.n; i++) {
        const routine_operand *const o = s->operands.at[i];
        if (o->kind == 's' || o->kind == 'w' || o->kind == 'l') continue;
        const node *const e = bare(o->n);
        const bool number = strchr("ofna", o->kind) != NULL;
        use_value(p, number && is_address_of(e) ? e->child[0] : o->n);
        if (number && s->fortran) use(p, o->memory);
        else if (o->kind == 'A' && is_asked(s, i)) use(p, o->memory);
        else if (o->kind == 'B' && !results && is_asked(s, i)) use(p, o->memory);
        else if (o->kind == 'i' && !is_written(s, o) && routine_goes_back(s)) use(p, o->memory);
    }
    for (size_t i = 0; i < s->operands.n && !p->marking && !p->r->refused; i++) {
        routine_operand *const o = s->operands.at[i];
        if (!is_written(s, o) || !has_flag(&p->used, cell_number(p, real_cell(o->memory))))
            continue;
        if (o->kind == 's' || o->kind == 'w') {
            refuse_node(p->r, o->n,
                        "it is overwritten, and derivatives ask for its numbers again");
            return;
        }
        p->grown |= !o->push;
        o->push = true;
    }
    for (size_t i = 0; i < s->operands.n && results; i++) {
        const routine_operand *const o = s->operands.at[i];
        if (is_written(s, o) && (o->kind == 'i' || o->kind == 'B') && is_asked(s, i))
            use(p, o->memory);
    }
}

/* ---- the two ways ------------------------------------------------------------------------ */

bool routine_pushes(const step *s) {
    for (size_t i = 0; i < s->operands.n; i++)
        if (((routine_operand *)s->operands.at[i])->push) return true;
    return false;
}

/* An argument as a number. */
static const char *number_of(const routine *r, const step *s, const routine_operand *o) {
    const node *const e = bare(o->n);
    if (!s->fortran) return print(r, o->n);
    if (is_address_of(e) && r->instead[e->number] == NULL) return print(r, e->child[0]);
    return format("*(%s)", print(r, o->n));
}
/* Argument k of CBLAS's or LAPACKE's, from 1, the order among them. */
static const char *numbered(const routine *r, const step *s, size_t k) {
    const bool ordered = *s->routine->arguments == 'o';
    if (s->fortran && ordered && k == 1) return "102";
    return number_of(r, s, s->operands.at[k - 1 - (s->fortran && ordered)]);
}
static const char *digit(const routine *r, const step *s, const char *lengths) {
    return numbered(r, s, (size_t)(*lengths - '0'));
}

/* Bytes of what argument k, from 0, leads to, `lengths` being those of it. */
static const char *bytes_of(const routine *r, const step *s, size_t k, const char *lengths) {
    const routine_operand *const o = s->operands.at[k];
    if (o->kind == 'i')
        return format("wgc_turns(%s) * sizeof *(%s)", digit(r, s, lengths), print(r, o->n));
    const char *const step_to_next = number_of(r, s, s->operands.at[k + 1]);
    const char *const a = s->routine->arguments;
    if (*lengths == 't')
        return format("wgc_line(wgc_rows(%s, %s, %s), %s)", numbered(r, s, 2),
                      numbered(r, s, 3), numbered(r, s, 4), step_to_next);
    const bool matrix = *a == 'o' && lengths[1] != 0;
    return matrix ? format("wgc_plane(%s, %s, %s, %s)", numbered(r, s, 1), digit(r, s, lengths),
                           digit(r, s, lengths + 1), step_to_next)
                  : format("wgc_line(%s, %s)", digit(r, s, lengths), step_to_next);
}

/* What is kept, in order; `back`: it goes back, from the last one on. */
static void put_pushes(emitter *m, const step *s, bool back, const char *indent) {
    const char *lengths = s->routine->lengths;
    const size_t each = *s->routine->arguments == 'o' && strlen(lengths) > 1 ? 2 : 1;
    list lines = {NULL, 0, 0};
    for (size_t i = 0; i < s->operands.n; i++) {
        const routine_operand *const o = s->operands.at[i];
        const bool pivots = o->kind == 'i' && is_written(s, o);
        if (o->push)
            push(&lines,
                 (void *)format("%swgc_%s_all(wgc_s, %s, %s);\n", indent, back ? "pop" : "push",
                                print(m->r, o->n),
                                bytes_of(m->r, s, i, pivots ? s->routine->lengths : lengths)));
        if (o->kind == 'B') lengths += each;
    }
    for (size_t i = 0; i < lines.n; i++) put(m->to, lines.at[back ? lines.n - 1 - i : i]);
}

void forward_routine(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const char **const instead = &r->instead[s->call->number], *const name = *instead;
    put_pushes(m, s, false, indent);
    keep_old(m, s, indent);
    *instead = NULL;
    putf(m->to, "%s%s%s;\n", indent, name != NULL ? format("%s = ", name) : "",
         print(r, s->call));
    *instead = name;
}

static void put_vjp(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const char *const a = s->routine->arguments;
    text to = {NULL, 0, 0};
    putf(&to, "wg_vjp_%s(%s", s->routine->name, s->fortran && *a == 'o' ? "'C', " : "");
    for (size_t i = 0; i < s->operands.n; i++) {
        const routine_operand *const o = s->operands.at[i];
        const bool array = is_array_letter(o->kind);
        if (strchr("swl", o->kind) != NULL) break;
        putf(&to, "%s%s", i != 0 ? ", " : "",
             array || o->kind == 'i' ? print(r, o->n) : number_of(r, s, o));
        if (!array && o->kind != 'a') continue;
        putf(&to, ", %s%s", o->holds && !array && !s->fortran ? "&" : "",
             !o->holds             ? "NULL"
             : array || s->fortran ? shadow_pointer(r, o->n)
                                   : shadow_name(r, r->instead[o->n->number]));
    }
    if (s->routine->result == 'r') putf(&to, ", %s", shadow_name(r, s->to.name));
    if (s->routine->result != 's') {
        putf(m->to, "%swgc_went(wgc_s, %s));\n", indent, text_of(&to));
        return;
    }
    const char *const first = strchr(a, 'n');
    const size_t n = (size_t)(first - a) + 1;
    const char *const room = format("wg_vjp_room(%s, %s)", numbered(r, s, n),
                                    s->routine->back == 'f' ? "0" : numbered(r, s, n + 1));
    putf(
        m->to,
        "%s{\n%s    double *const wgc_work = wgc_frame(wgc_s, %s);\n%s    wgc_went(wgc_s, %s, wgc_work));\n"
        "%s    (void)wgc_back(wgc_s, %s);\n%s}\n",
        indent, indent, room, indent, text_of(&to), indent, room, indent);
}

void backward_routine(emitter *m, const step *s, const char *indent) {
    const bool results = asks_for_results(s->routine);
    if (!results) put_pushes(m, s, true, indent);
    if (routine_goes_back(s)) put_vjp(m, s, indent);
    if (results) put_pushes(m, s, true, indent);
    if (s->routine->result == 'r')
        putf(m->to, "%s%s = 0;\n", indent, shadow_name(m->r, s->to.name));
    restore_old(m, s, indent);
}
