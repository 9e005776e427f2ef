/* SPDX-License-Identifier: MIT */
/* expression.c - expressions on variables. What has none stays as it stands. */
#include <string.h>
#include "convert/expression.h"
#include "convert/region.h"
#include "convert/routines.h"

const char *replaced(const file *f, size_t begin, size_t end, size_t n, const part *p) {
    text to = {NULL, 0, 0};
    size_t at = begin;
    for (size_t i = 0; i < n; i++) {
        if (p[i].begin > at) put_n(&to, f->text + at, p[i].begin - at);
        put(&to, p[i].s);
        if (p[i].end > at) at = p[i].end;
    }
    if (end > at) put_n(&to, f->text + at, end - at);
    return text_of(&to);
}

void in_text_order(size_t n, part *p) {
    if (n != 2 || p[0].begin < p[1].end) return;
    const part first = p[1];
    p[1] = p[0], p[0] = first;
}

static bool gives_real(const node *n) { return n->type != NULL && n->type->kind == TYPE_REAL; }

bool is_place(const node *n) {
    n = bare(n);
    return n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
           (n->kind == NODE_UNARY && n->op != NULL && same(n->op, "*"));
}

const known *known_of(const node *call, unsigned *bits) {
    const node *const f = bare(call->child[0]);
    static const char plain[] = "wgi_plain_";
    if (f->kind != NODE_NAME || f->decl->kind != DECL_FUNCTION || f->decl->body != NULL)
        return known_function("", bits);
    return known_function(starts_with(f->decl->name, plain) ? f->decl->name + strlen(plain)
                                                            : f->decl->name,
                          bits);
}

/* The cell of a function that is called through a pointer and has variables; or NULL. */
static cell *called_cell(const writer *w, const node *call) {
    const node *const f = bare(call->child[0]);
    cell *c = w->v->of_node[f->number];
    if (c == NULL) return NULL;
    c = real_cell(c);
    if (c->target != NULL) c = real_cell(c->target);
    return c->type != NULL && c->type->kind == TYPE_FUNCTION && function_varies(c) ? c : NULL;
}

static version *called(const writer *w, const node *call) {
    version *const v = called_by(w->v, call);
    return v != NULL && v->touched ? v : NULL;
}

bool is_active(const writer *w, const node *n) {
    if (!gives_real(n) || w->v == NULL) return false;
    cell *const c = w->v->of_node[n->number];
    switch (n->kind) {
    case NODE_NAME:
    case NODE_MEMBER:
    case NODE_INDEX:
        return c != NULL && is_variable(c);
    case NODE_PAREN:
        return is_active(w, n->child[0]);
    case NODE_UNARY:
        if (same(n->op, "*")) return c != NULL && is_variable(c);
        return is_active(w, n->child[0]);
    case NODE_ASSIGN:
        return is_active(w, n->child[0]);
    case NODE_BINARY:
        if (same(n->op, ",")) return is_active(w, n->child[1]);
        return is_active(w, n->child[0]) || is_active(w, n->child[1]);
    case NODE_CHOICE:
        for (size_t i = n->children == 2 ? 0 : 1; i < n->children; i++)
            if (is_active(w, n->child[i])) return true;
        return false;
    case NODE_CAST:
        return is_active(w, n->child[0]);
    case NODE_CALL: {
        const known *const k = known_of(n, NULL);
        if (k->kind == KNOWN_OPERATION || k->kind == KNOWN_SCALED || k->kind == KNOWN_PARTS) {
            for (size_t i = 1; i < n->children; i++)
                if (is_active(w, n->child[i])) return true;
            return false;
        }
        bool fortran;
        const routine_row *const r = routine_called(n, &fortran);
        if (r != NULL) return r->result == 'r' && routine_varies(w->v, n, r, fortran);
        if (called(w, n) != NULL)
            return called(w, n)->result != NULL && is_variable(called(w, n)->result);
        const cell *const f = called_cell(w, n);
        return f != NULL && f->result != NULL && is_variable(f->result);
    }
    case NODE_STATEMENTS: {
        const node *const block = n->children != 0 ? n->child[0] : NULL;
        return block != NULL && block->children != 0 &&
               is_active(w, block->child[block->children - 1]);
    }
    default:
        return false;
    }
}

bool expression_holds(const writer *w, const node *n) {
    cell *const c = w->v != NULL ? w->v->of_node[n->number] : NULL;
    return c != NULL && holds_variables(c);
}

/* The source with all children written as numbers. */
const char *with_children(writer *w, const node *n) {
    part *const p = arena_get((n->children + 1) * sizeof *p);
    size_t k = 0;
    if (n->by_macro) return source(n);
    for (size_t i = 0; i < n->children; i++) {
        const node *const c = n->child[i];
        if (c == NULL || c->by_macro) continue;
        p[k++] = (part){c->begin, c->end, write_number(w, c)};
    }
    in_text_order(k, p);
    return replaced(n->file, n->begin, n->end, k, p);
}

/* Pointers to numbers go where pointers to numbers are expected, those to variables where these
 * are: what this finds is a fault of the analysis, and said, as what is written would be
 * wrong. */
static void check_pointer(writer *w, const node *n, const type *t, cell *c) {
    if (c == NULL || t == NULL || t->kind != TYPE_POINTER || t->of->kind != TYPE_REAL ||
        n->type == NULL)
        return;
    if ((n->type->kind != TYPE_POINTER && n->type->kind != TYPE_ARRAY) ||
        leaf_type(n->type)->kind != TYPE_REAL)
        return;
    if (holds_variables(c) != expression_holds(w, n))
        error_at(place_of(n),
                 "'%s': it was not seen whether this leads to variables; please report it",
                 source(n));
}

static const char *argument(writer *w, const node *n, const type *t, cell *c) {
    check_pointer(w, n, t, c);
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    if (t != NULL && t->kind == TYPE_REAL && c != NULL && is_variable(c))
        return write_variable(w, n);
    return write_number(w, n);
}

/* qsort of variables, or by their values. */
static const char *write_sort(writer *w, const node *n) {
    const char *const base = write_number(w, n->child[1]), *const count =
                                                               write_number(w, n->child[2]);
    const bool holds = expression_holds(w, n->child[1]), before = w->bytes;
    if (holds && strstr(source(n->child[3]), "sizeof") == NULL)
        error_at(place_of(n), "'%s' sorts variables, but their size is not written with sizeof",
                 source(n));
    w->bytes = holds;
    const char *const size = write_number(w, n->child[3]);
    w->bytes = before;
    w->sorts = true;
    return format("wgc_sort(%s, %s, %s, %s, %s)", w->tape, base, count, size,
                  write_number(w, n->child[4]));
}

/* A call of a function that was given: of the version with variables, with the tape. */
const char *write_call(writer *w, const node *n) {
    const version *const v = called(w, n);
    const node *const f = bare(n->child[0]);
    const cell *const through = v == NULL ? called_cell(w, n) : NULL;
    if (v == NULL && through == NULL) {
        const known *const k = known_of(n, NULL);
        if (k->kind == KNOWN_SORT && n->children == 5 &&
            (expression_holds(w, n->child[1]) || expression_holds(w, n->child[4])))
            return write_sort(w, n);
        bool fortran;
        const routine_row *const r = routine_called(n, &fortran);
        if (r != NULL && routine_varies(w->v, n, r, fortran))
            return write_routine(w, n, r, fortran);
        const bool before = w->bytes;
        const bool memory = k->kind == KNOWN_MEMORY || k->kind == KNOWN_AGAIN;
        const bool moved = k->kind == KNOWN_COPY || k->kind == KNOWN_FILL;
        if ((memory && expression_holds(w, n)) ||
            ((moved || k->kind == KNOWN_AGAIN) && n->children > 1 &&
             expression_holds(w, n->child[1]))) {
            bool sized = false;
            for (size_t i = 1; i < n->children; i++)
                sized |= strstr(source(n->child[i]), "sizeof") != NULL;
            if (!sized)
                error_at(place_of(n),
                         "'%s' is memory of variables, but its size is not written with sizeof",
                         source(n));
            w->bytes = true;
        }
        const char *const s =
            f->kind == NODE_NAME && same(f->decl->name, "wgi_plain_assert") && n->children == 2
                ? replaced(n->file, n->begin, n->end, 1,
                           (part[]){{n->child[1]->begin, n->child[1]->end,
                                     write_condition(w, n->child[1])}})
                : with_children(w, n);
        w->bytes = before;
        return s;
    }
    part *const p = arena_get((n->children + 2) * sizeof *p);
    size_t k = 0;
    const tokens *const t = &n->file->tokens;
    const size_t open = token_from(t, n->child[0]->end);
    p[k++] = (part){n->child[0]->begin, n->child[0]->end,
                    v != NULL ? v->name : write_number(w, n->child[0])};
    p[k++] = (part){t->at[open].end, t->at[open].end,
                    n->children > 1 ? format("%s, ", w->tape) : w->tape};
    for (size_t i = 1; i < n->children; i++) {
        const node *const arg = n->child[i];
        const char *s;
        if (v != NULL && i <= v->function->parameters.n) {
            const decl *const d = v->function->parameters.at[i - 1];
            s = argument(w, arg, d->type, v->of_decl[d->index]);
        } else if (through != NULL && i <= through->parameters.n)
            s = argument(w, arg, through->type->parameter[i - 1],
                         through->parameters.at[i - 1]);
        else s = write_number(w, arg);
        p[k++] = (part){arg->begin, arg->end, s};
    }
    return replaced(n->file, n->begin, n->end, k, p);
}

const char *written_name(const writer *w, const node *n) {
    if (n->decl->kind == DECL_FUNCTION) {
        cell *const c = w->v != NULL ? w->v->of_node[n->number] : NULL;
        if (c != NULL && holds_variables(c)) {
            const list *const versions = &real_cell(c)->versions;
            for (size_t i = 0; i < versions->n; i++) {
                const version *const v = versions->at[i];
                if (v->function == n->decl && v->touched) return v->like->name;
            }
        }
        return source(n);
    }
    if (n->decl->is_global && w->a->of_decl[n->decl->number] != NULL &&
        holds_variables(w->a->of_decl[n->decl->number]))
        return format("%s_wg", n->decl->name);
    return source(n);
}

const char *write_place(writer *w, const node *n) {
    switch (n->kind) {
    case NODE_NAME:
        return written_name(w, n);
    case NODE_PAREN:
        return replaced(
            n->file, n->begin, n->end, 1,
            (part[]){{n->child[0]->begin, n->child[0]->end, write_place(w, n->child[0])}});
    case NODE_MEMBER:
        if (n->children == 0) return source(n);
        return replaced(
            n->file, n->begin, n->end, 1,
            (part[]){{n->child[0]->begin, n->child[0]->end, write_number(w, n->child[0])}});
    case NODE_COMPOUND:
        return write_compound(w, n);
    default:
        return with_children(w, n);
    }
}

bool may_change(const node *n) {
    if (n == NULL) return false;
    if (n->kind == NODE_ASSIGN || n->kind == NODE_STATEMENTS) return true;
    if (n->kind == NODE_CALL && known_of(n, NULL)->kind != KNOWN_OPERATION) return true;
    if (n->kind == NODE_UNARY && n->op != NULL && (same(n->op, "++") || same(n->op, "--")))
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (may_change(n->child[i])) return true;
    return false;
}

const char *operation(const char *op) {
    switch (*op) {
    case '+':
        return "wg_add";
    case '-':
        return "wg_sub";
    case '*':
        return "wg_mul";
    default:
        return "wg_div";
    }
}

/* x = e, x += e; the result is a variable. */
const char *write_assignment(writer *w, const node *n) {
    const node *const to = n->child[0], *const e = n->child[1];
    if (same(n->op, "="))
        return replaced(n->file, n->begin, n->end, 2,
                        (part[]){{to->begin, to->end, write_place(w, to)},
                                 {e->begin, e->end, write_variable(w, e)}});
    const char *const o = operation(n->op);
    if (!may_change(to)) {
        const char *const x = write_place(w, to);
        return format("%s = %s", x, write_operation(w, n, o, x, e));
    }
    return format("__extension__({ wg_real *const wgc_at = &%s; *wgc_at = %s; })",
                  write_place(w, to), write_operation(w, n, o, "*wgc_at", e));
}

/* x++, --x */
const char *write_step(writer *w, const node *n, bool used) {
    const node *const to = n->child[0];
    const char *const o = same(n->op, "++") ? "wg_add" : "wg_sub";
    const char *const x = write_place(w, to);
    if (!may_change(to) && (!n->postfix || !used))
        return format("%s = %s", x, write_operation(w, n, o, x, NULL));
    return format("__extension__({ wg_real *const wgc_at = &%s; %s*wgc_at = %s;%s })", x,
                  n->postfix ? "const wg_real wgc_before = *wgc_at; " : "",
                  write_operation(w, n, o, "*wgc_at", NULL), n->postfix ? " wgc_before;" : "");
}

static bool is_zero(const node *n) {
    return n->kind == NODE_LIST && n->children == 1 && n->child[0]->kind == NODE_NUMBER &&
           strspn(source(n->child[0]), "0.") == strlen(source(n->child[0]));
}

static const char *initial_number(writer *w, const node *n, cell *c, bool constant) {
    if (c == NULL || !is_variable(c)) return write_number(w, n);
    return constant
               ? format(w->generic ? "WGC_INITIAL(%s)" : "{.value = %s}", write_number(w, n))
               : write_variable(w, n);
}

/* The initialiser of one element of a list: an expression, a list in braces, or one of several
 * expressions that stand for a list without its braces. */
static const char *initial(writer *w, const node *n, const type *t, cell *c, bool constant) {
    if (n->kind == NODE_DESIGNATED && n->children != 0) {
        const node *const e = n->child[n->children - 1];
        cell *const of = n->decl != NULL ? w->a->of_decl[n->decl->number] : c;
        const type *const of_type = n->decl != NULL ? n->decl->type : t;
        return replaced(n->file, n->begin, n->end, 1,
                        (part[]){{e->begin, e->end, initial(w, e, of_type, of, constant)}});
    }
    if (n->kind == NODE_LIST) return write_initialiser(w, n, t, c, constant);
    while (t != NULL && t->kind == TYPE_ARRAY) t = t->of;
    if (t != NULL && t->kind == TYPE_REAL) return initial_number(w, n, c, constant);
    return write_number(w, n);
}

const char *write_initialiser(writer *w, const node *n, const type *t, cell *c, bool constant) {
    if (n->kind != NODE_LIST) return initial(w, n, t, c, constant);
    if (is_zero(n) && t->kind != TYPE_REAL) {
        /* compilers know {0} outside of lists; in one, an array of variables is a list of
         * structures */
        const bool inside = n->parent != NULL && n->parent->kind == NODE_LIST;
        return inside && t->kind == TYPE_ARRAY && c != NULL && is_variable(c) ? "{}" : "{0}";
    }
    part *const p = arena_get((n->children + 1) * sizeof *p);
    size_t field = 0;
    for (size_t i = 0; i < n->children; i++) {
        const node *const e = n->child[i];
        const type *of = t->kind == TYPE_ARRAY ? t->of : t;
        cell *to = c;
        if (t->kind == TYPE_RECORD) {
            if (e->kind == NODE_DESIGNATED) {
                for (size_t k = 0; k < t->record->fields.n; k++)
                    if (t->record->fields.at[k] == e->decl) field = k + 1;
            } else if (field < t->record->fields.n) {
                const decl *const d = t->record->fields.at[field++];
                of = d->type;
                to = w->a->of_decl[d->number];
                const bool aggregate =
                    of->kind == TYPE_ARRAY || (of->kind == TYPE_RECORD && e->type != NULL &&
                                               e->type->kind != TYPE_RECORD);
                if (aggregate && e->kind != NODE_LIST && e->kind != NODE_STRING &&
                    record_holds(w->a, t->record))
                    error_at(place_of(e), "write the braces around the elements of '%s'",
                             d->name);
            }
        }
        p[i] = (part){e->begin, e->end, initial(w, e, of, to, constant)};
    }
    return replaced(n->file, n->begin, n->end, n->children, p);
}
