/* SPDX-License-Identifier: MIT */
/* sweeps.c - steps forwards, which keep what frames.c has found a place for, and back. */
#include <string.h>
#include "convert/sweeps.h"

bool is_kind(const type *t, type_kind k) { return t != NULL && t->kind == k; }
bool target_holds(const step *s) { return s->to.cell != NULL && holds_variables(s->to.cell); }
static bool target_active(const step *s) {
    return is_kind(s->to.type, TYPE_REAL) && s->to.cell != NULL && is_variable(s->to.cell);
}
static bool holds_pointer(const step *s) {
    return is_kind(s->to.type, TYPE_POINTER) && target_holds(s);
}

routine *routine_of(const routine *r, const version *v) {
    for (size_t i = 0; i < r->all->n; i++)
        if (((routine *)r->all->at[i])->v == v) return r->all->at[i];
    return NULL;
}

const node *memory_call(const routine *r, const step *s) {
    const node *const n = s->e != NULL && s->text == NULL ? behind_casts(s->e) : NULL;
    if (n == NULL || n->kind != NODE_CALL || n->child[0]->kind != NODE_NAME ||
        r->instead[n->number] != NULL || !target_holds(s))
        return NULL;
    const char *const f = bare(n->child[0])->decl->name;
    return same(f, "malloc") || same(f, "calloc") ? n : NULL;
}

static const char *deeper(const char *indent) { return format("%s    ", indent); }

/* ---- extents ----------------------------------------------------------------------------- */

void put_extent(emitter *m, const extent *e, const char *indent) {
    if (e == NULL || e->n == 0) return;
    putf(m->to, "%s%s *const %s = ", indent, e->type, e->name);
    if (m->back && e->dynamic) put(m->to, "wgc_pop_p(wgc_s);\n");
    else putf(m->to, "%s(wgc_s, %s, 1);\n", m->back ? "WGC_BACK" : "WGC_FRAME", e->type);
}
void end_extent(emitter *m, const extent *e, const char *indent) {
    if (e == NULL || e->n == 0 || !e->dynamic) return;
    if (m->back) putf(m->to, "%s(void)WGC_BACK(wgc_s, %s, 1);\n", indent, e->type);
    else putf(m->to, "%swgc_push_p(wgc_s, %s);\n", indent, e->name);
}

void put_keep(text *to, const char *indent, const char *kept, const char *x, const type *t) {
    if (is_kind(t, TYPE_REAL) || is_kind(t, TYPE_POINTER))
        putf(to, "%s%s = %s;\n", indent, kept, x);
    else if (is_kind(t, TYPE_WHOLE)) putf(to, "%s%s = (int64_t)%s;\n", indent, kept, x);
    else putf(to, "%smemcpy(&%s, &%s, sizeof %s);\n", indent, kept, x, x);
}
void put_restore(text *to, const char *indent, const char *x, const char *kept, const type *t) {
    if (is_kind(t, TYPE_REAL))
        putf(to, t->bits == 32 ? "%s%s = (float)%s;\n" : "%s%s = %s;\n", indent, x, kept);
    else if (is_kind(t, TYPE_WHOLE))
        putf(to, "%s%s = %s%s;\n", indent, x,
             strchr(t->spelling, '(') == NULL ? format("(%s)", t->spelling) : "", kept);
    else if (is_kind(t, TYPE_POINTER)) putf(to, "%s%s = wgc_pointer(%s);\n", indent, x, kept);
    else putf(to, "%smemcpy(&%s, &%s, sizeof %s);\n", indent, x, kept, x);
}

void keep_old(emitter *m, const step *s, const char *indent) {
    if (s->kept == NULL) return;
    put_keep(m->to, indent, s->kept, print_target(m->r, &s->to), s->to.type);
    if (s->kept_shadow != NULL)
        putf(m->to, "%s%s = %s;\n", indent, s->kept_shadow, shadow_target(m->r, &s->to));
}
void restore_old(emitter *m, const step *s, const char *indent) {
    if (s->kept == NULL) return;
    put_restore(m->to, indent, print_target(m->r, &s->to), s->kept, s->to.type);
    if (s->kept_shadow != NULL)
        putf(m->to, "%s%s = wgc_pointer(%s);\n", indent, shadow_target(m->r, &s->to),
             s->kept_shadow);
}

/* How often a loop turns. */
static const char *turns_of(const routine *r, const step *s) {
    const char *const from = print(r, s->from), *const bound = print(r, s->bound);
    const long by = s->by > 0 ? s->by : -s->by,
               more = by - 1 + (strlen(s->compare) == 2); /* <=, >= */
    const char *span = s->by > 0 ? format("(int64_t)(%s) - (int64_t)(%s)", bound, from)
                                 : format("(int64_t)(%s) - (int64_t)(%s)", from, bound);
    if (more != 0) span = format("%s + %ld", span, more);
    return by == 1 ? span : format("(%s) / %ld", span, by);
}

/* Extents of all turns of a loop, in a block around it. */
static const char *open_turns(emitter *m, const step *s, const char *indent) {
    if (s->turned == NULL || s->turn->n == 0) return indent;
    putf(m->to, "%s{\n", indent);
    const char *const within = deeper(indent);
    putf(m->to, "%s%s *const %s = %s(wgc_s, %s, wgc_turns(%s));\n", within, s->turn->type,
         s->turn->name, m->back ? "WGC_BACK" : "WGC_FRAME", s->turn->type, turns_of(m->r, s));
    return within;
}
static void close_turns(emitter *m, const step *s, const char *indent) {
    if (s->turned != NULL && s->turn->n != 0) putf(m->to, "%s}\n", indent);
}
static const extent *own_turn(const step *s) { return s->turned == NULL ? s->turn : NULL; }

/* ---- forwards ---------------------------------------------------------------------------- */

/* The arguments of a call; back: with addresses of the shadows of numbers. */
static const char *call_arguments(const emitter *m, const step *s, const char *result) {
    const routine *const r = m->r, *const to_call = routine_of(r, s->callee);
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < s->args.n; i++) {
        const argument *const g = s->args.at[i];
        putf(&to, "%s, ", g->name != NULL ? g->name : print(r, g->n));
    }
    for (size_t i = 0; i < s->args.n && (m->back || to_call->shadows); i++) {
        const argument *const g = s->args.at[i];
        if (!g->holds) continue;
        const char *const b =
            g->name != NULL ? shadow_name(r, g->name) : shadow_pointer(r, g->n);
        if (!is_value(r->a, g->type)) putf(&to, "%s, ", b);
        else if (m->back) putf(&to, "&%s, ", b);
    }
    if (result != NULL) putf(&to, "%s, ", result);
    if (!to_call->lends) put(&to, "wgc_s, ");
    else if (s->lent != NULL) putf(&to, "%s, ", s->lent);
    return to.n == 0 ? "" : copy_text(to.s, to.n - 2);
}

/* Results that are kept: the values have names in what is printed then. */
static void put_results(emitter *m, const step *s, const char *indent) {
    for (size_t i = 0; i < s->results.n; i++) {
        const kept_call *const x = s->results.at[i];
        putf(m->to, "%s%s = %s;\n", indent, x->kept,
             x->partial ? partial_of_result(m->r, x) : print(m->r, x->call));
        if (!x->partial) m->r->instead[x->call->number] = x->kept;
    }
}

static void forward_assign(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    text *const to = m->to;
    const char *const x = print_target(r, &s->to);
    const char *const b =
        holds_pointer(s) && (m->back || r->shadows) ? shadow_target(r, &s->to) : NULL;
    if (!m->back) keep_old(m, s, indent);
    const char *const instead =
        s->e != NULL && s->text == NULL ? r->instead[s->e->number] : NULL;
    const bool own = instead != NULL && s->to.name != NULL && same(instead, s->to.name);
    /* what has this name is printed without it */
    if (own) r->instead[s->e->number] = NULL;
    const node *const n = memory_call(r, s);
    if (n != NULL) {
        const bool zeroed = same(bare(n->child[0])->decl->name, "calloc");
        const char *const count = zeroed ? print(r, n->child[1]) : "1",
                          *const size = print(r, n->child[zeroed ? 2 : 1]);
        putf(to, "%s%s = wgc_memory(wgc_s, %s, %s);\n", indent, x, count, size);
        putf(to, "%s%s = wgc_memory(wgc_s, %s, %s);\n", indent, b, count, size);
    } else {
        put_results(m, s, indent);
        const char *const e = s->text != NULL ? s->text : print(r, s->e);
        putf(to, "%s%s %s %s;\n", indent, x, s->add > 0 ? "+=" : s->add < 0 ? "-=" : "=", e);
        if (b != NULL)
            putf(to, "%s%s = %s;\n", indent, b,
                 s->text != NULL ? format("%s%s", b, s->text + strlen(x))
                                 : shadow_pointer(r, s->e));
    }
    for (size_t i = 0; i < s->results.n; i++)
        r->instead[((kept_call *)s->results.at[i])->call->number] = NULL;
    if (own) r->instead[s->e->number] = instead;
}

static void forward_plain(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    if (s->text == NULL && s->to.name != NULL) return; /* a declaration keeps it */
    if (s->text == NULL && is_free(s->e)) {
        /* memory is given back when all is done */
        const node *const p = s->e->child[1];
        if (!node_holds(r, behind_casts(p)))
            putf(m->to, "%swgc_later(wgc_s, %s);\n", indent, print(r, p));
        return;
    }
    putf(m->to, "%s%s;\n", indent, s->text != NULL ? s->text : print(r, s->e));
}

static void forward_array(emitter *m, const step *s, const char *indent) {
    const char *const x = s->to.name;
    const char *const bytes =
        format("(size_t)(%s) * sizeof(%s)", s->text, leaf_type(s->to.type)->spelling);
    putf(m->to, "%s%s = %s;\n", indent, s->kept, x); /* of the turn before */
    if (s->kept_shadow != NULL) putf(m->to, "%s%s = %s_b;\n", indent, s->kept_shadow, x);
    putf(m->to, "%s%s = (int64_t)WGC_WORDS(%s);\n", indent, s->noted, bytes);
    putf(m->to, "%s%s = wgc_frame(wgc_s, (size_t)%s);\n", indent, x, s->noted);
    if (s->kept_shadow != NULL)
        putf(m->to, "%s%s_b = wgc_frame(wgc_s, (size_t)%s);\n%smemset(%s_b, 0, %s);\n", indent,
             x, s->noted, indent, x, bytes);
}

static void forward_counted(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const char *const i = print_target(r, &s->to), *const around = indent;
    keep_old(m, s, indent);
    indent = open_turns(m, s, indent);
    putf(m->to, "%sfor (%s = %s; %s %s %s; %s %s %ld) {\n", indent, i, print(r, s->from), i,
         s->compare, print(r, s->bound), i,
         s->by > 0 ? "+=" : "-=", s->by > 0 ? s->by : -s->by);
    put_extent(m, own_turn(s), deeper(indent));
    forward(m, &s->body, deeper(indent));
    end_extent(m, own_turn(s), deeper(indent));
    putf(m->to, "%s}\n", indent);
    close_turns(m, s, around);
}

static void forward_loop(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const char *const within = deeper(indent);
    if (s->noted != NULL) putf(m->to, "%s%s = 0;\n", indent, s->noted);
    if (s->at_end) putf(m->to, "%sdo {\n", indent);
    else putf(m->to, "%swhile (%s) {\n", indent, s->e != NULL ? print(r, s->e) : "1");
    put_extent(m, s->turn, within);
    forward(m, &s->body, within);
    end_extent(m, s->turn, within);
    if (s->noted != NULL) putf(m->to, "%s%s++;\n", within, s->noted);
    if (s->at_end) putf(m->to, "%s} while (%s);\n", indent, print(r, s->e));
    else putf(m->to, "%s}\n", indent);
}

void forward(emitter *m, const list *steps, const char *indent) {
    const routine *const r = m->r;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        switch (s->kind) {
        case STEP_ASSIGN:
            forward_assign(m, s, indent);
            break;
        case STEP_CALL:
            keep_old(m, s, indent);
            putf(m->to, "%s%s%s_forward(%s);\n", indent,
                 s->to.name != NULL ? format("%s = ", s->to.name) : "", s->callee->name,
                 call_arguments(m, s,
                                holds_pointer(s) ? format("&%s", shadow_name(r, s->to.name))
                                                 : NULL));
            break;
        case STEP_PLAIN:
            forward_plain(m, s, indent);
            break;
        case STEP_CLEAR:
            keep_old(m, s, indent);
            putf(m->to, "%smemset(&%s, 0, sizeof %s);\n", indent, s->to.name, s->to.name);
            break;
        case STEP_ROUTINE:
            forward_routine(m, s, indent);
            break;
        case STEP_SORT:
            putf(m->to, "%swgc_sort(wgc_s, %s, %s, %s);\n", indent, print(r, s->to.n), s->text,
                 print(r, s->call->child[4]));
            break;
        case STEP_COPY: {
            const char *const x = print(r, s->to.n);
            if (s->push) putf(m->to, "%swgc_push_all(wgc_s, %s, %s);\n", indent, x, s->text);
            if (s->e != NULL)
                putf(m->to, "%smemmove(%s, %s, %s);\n", indent, x, print(r, s->e), s->text);
            else putf(m->to, "%smemset(%s, 0, %s);\n", indent, x, s->text);
            break;
        }
        case STEP_ARRAY:
            forward_array(m, s, indent);
            break;
        case STEP_IF:
            putf(m->to, "%sif (%s) {\n", indent, s->text != NULL ? s->text : print(r, s->e));
            if (s->noted != NULL) putf(m->to, "%s    %s = 1;\n", indent, s->noted);
            forward(m, &s->body, deeper(indent));
            if (s->noted != NULL || s->other.n != 0) putf(m->to, "%s} else {\n", indent);
            if (s->noted != NULL) putf(m->to, "%s    %s = 0;\n", indent, s->noted);
            forward(m, &s->other, deeper(indent));
            putf(m->to, "%s}\n", indent);
            break;
        case STEP_COUNTED:
            forward_counted(m, s, indent);
            break;
        case STEP_LOOP:
            forward_loop(m, s, indent);
            break;
        }
    }
}

/* ---- backwards --------------------------------------------------------------------------- */

/* Adjoints of all numbers of a structure, or of an array in one, move from `from` to `to`. */
static void move_all(const emitter *m, const char *to, const char *from, const type *t,
                     const char *indent, unsigned depth) {
    if (t->kind == TYPE_REAL)
        putf(m->to, "%s%s += %s;\n%s%s = 0;\n", indent, to, from, indent, from);
    else if (t->kind == TYPE_ARRAY) {
        const char *const k = format("wgc_k%u", depth), *const at = format("[%s]", k);
        putf(m->to, "%sfor (size_t %s = 0; %s < sizeof %s / sizeof *%s; %s++) {\n", indent, k,
             k, to, to, k);
        move_all(m, format("%s%s", to, at), format("%s%s", from, at), t->of, deeper(indent),
                 depth + 1);
        putf(m->to, "%s}\n", indent);
    } else if (t->kind == TYPE_RECORD)
        for (size_t i = 0; i < t->record->fields.n; i++) {
            const decl *const f = t->record->fields.at[i];
            cell *const c = cell_of(m->r->a, NULL, f);
            if (c == NULL || !holds_variables(c)) continue;
            move_all(m, format("%s.%s", to, f->name), format("%s.%s", from, f->name), f->type,
                     indent, depth);
        }
}
void move_record(const emitter *m, const char *to, const char *from, const type *t,
                 const char *indent) {
    if (same(to, from)) return;
    /* one structure by two names: nothing moves */
    putf(m->to, "%sif (&%s != &%s) {\n", indent, to, from);
    move_all(m, to, from, t, deeper(indent), 0);
    putf(m->to, "%s}\n", indent);
}

static void backward_parts(emitter *m, const step *s, const char *indent) {
    const char *const b = shadow_target(m->r, &s->to);
    for (size_t i = 0; i < s->factors.n; i++) {
        const factor *const x = s->factors.at[i];
        putf(m->to, "%s%s += ", indent, shadow_target(m->r, &x->of));
        putf(m->to, x->how, b);
        put(m->to, ";\n");
    }
    putf(m->to, "%s%s = 0;\n", indent, b);
}

static void backward_assign(emitter *m, const step *s, const char *indent) {
    routine *const r = m->r;
    if (s->push && s->undo != NULL) {
        const char *const x = print_target(r, &s->to);
        putf(m->to, "%s%s = %s %s;\n", indent, x, x, s->undo);
    } else restore_old(m, s, indent);
    if (is_kind(s->to.type, TYPE_RECORD) && target_holds(s) && s->text == NULL) {
        move_record(m, print_shadow(r, s->e), shadow_target(r, &s->to), s->to.type, indent);
        return;
    }
    if (!target_active(s)) return;
    if (s->parts) {
        backward_parts(m, s, indent);
        return;
    }
    if (s->text != NULL && s->add == 0)
        error_at(place_of(s->e), "'%s' cannot be turned round", source(s->e));
    const char *const instead = s->text == NULL ? r->instead[s->e->number] : NULL;
    const bool own = instead != NULL && s->to.name != NULL && same(instead, s->to.name);
    if (own) r->instead[s->e->number] = NULL;
    putf(m->to, "%s{\n", indent);
    put_adjoint(r, s, m->to, deeper(indent));
    putf(m->to, "%s}\n", indent);
    if (own) r->instead[s->e->number] = instead;
}

static void backward_call(emitter *m, const step *s, const char *indent) {
    const char *const b = s->to.name != NULL ? shadow_name(m->r, s->to.name) : NULL;
    const bool structure = is_kind(s->to.type, TYPE_RECORD) && target_holds(s);
    const char *const result = structure ? format("&%s", b) : target_active(s) ? b : NULL;
    putf(m->to, "%s%s_backward(%s);\n", indent, s->callee->name, call_arguments(m, s, result));
    if (result != NULL && !structure) putf(m->to, "%s%s = 0;\n", indent, b);
    restore_old(m, s, indent);
}

static void backward_counted(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const char *const i = print_target(r, &s->to), *const from = print(r, s->from),
                      *const bound = print(r, s->bound), *const around = indent;
    const bool last = strlen(s->compare) == 2; /* <=, >= */
    const long by = s->by > 0 ? s->by : -s->by;
    if (is_idle(&s->body)) {
        restore_old(m, s, indent);
        return;
    }
    indent = open_turns(m, s, indent);
    if (by == 1 && s->by > 0)
        putf(m->to, "%sfor (%s = (%s)%s; %s-- > (%s);) {\n", indent, i, bound,
             last ? " + 1" : "", i, from);
    else if (by == 1)
        putf(m->to, "%sfor (%s = (%s)%s; %s <= (%s); %s++) {\n", indent, i, bound,
             last ? "" : " + 1", i, from, i);
    else {
        const unsigned k = ++m->loops;
        putf(
            m->to,
            "%sfor (int64_t wgc_n%u = %s; wgc_n%u-- > 0;) {\n%s    %s = (__typeof__(%s))((%s) %s wgc_n%u * %ld);\n",
            indent, k, turns_of(r, s), k, indent, i, i, from, s->by > 0 ? "+" : "-", k, by);
    }
    put_extent(m, own_turn(s), deeper(indent));
    backward(m, &s->body, deeper(indent));
    end_extent(m, own_turn(s), deeper(indent));
    putf(m->to, "%s}\n", indent);
    close_turns(m, s, around);
    restore_old(m, s, around);
}

static void backward_loop(emitter *m, const step *s, const char *indent) {
    const char *const within = deeper(indent);
    if (s->noted == NULL) return;
    const unsigned k = ++m->loops;
    putf(m->to, "%sfor (int64_t wgc_n%u = %s; wgc_n%u > 0; wgc_n%u--) {\n", indent, k, s->noted,
         k, k);
    put_extent(m, s->turn, within);
    backward(m, &s->body, within);
    end_extent(m, s->turn, within);
    putf(m->to, "%s}\n", indent);
}

/* The shadow of an array or pointer, as one of numbers in a row. */
static const char *flat_shadow(const routine *r, const node *n, const type *t) {
    return format("(%s *)(%s)", t->kind == TYPE_REAL ? "double" : without_const(t->spelling),
                  print_shadow(r, n));
}

/* What was copied: each shadow is taken before anything is added to it. */
static void backward_copy(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const type *const t = leaf_type(s->to.type);
    const char *const to = flat_shadow(r, s->to.n, t);
    if (s->e == NULL) {
        putf(m->to, "%smemset(%s, 0, %s);\n", indent, to, s->text);
        return;
    }
    const char *const from = flat_shadow(r, s->e, t);
    if (t->kind == TYPE_REAL) {
        putf(m->to, "%swgc_move(%s, %s, (%s) / sizeof(double));\n", indent, to, from, s->text);
        return;
    }
    const char *const within = deeper(indent), *const of = without_const(t->spelling);
    putf(
        m->to,
        "%s{\n%s%s *const wgc_y = %s, *const wgc_x = %s;\n%sconst size_t wgc_n = (%s) / sizeof *wgc_y;\n"
        "%sfor (size_t wgc_i = 0; wgc_i < wgc_n; wgc_i++) {\n"
        "%s    const size_t wgc_j = (uintptr_t)wgc_x < (uintptr_t)wgc_y ? wgc_i : wgc_n - 1 - wgc_i;\n",
        indent, within, of, to, from, within, s->text, within, within);
    move_record(m, "wgc_x[wgc_j]", "wgc_y[wgc_j]", t, deeper(within));
    putf(m->to, "%s}\n%s}\n", within, indent);
}

static void backward_array(emitter *m, const step *s, const char *indent) {
    const char *const x = s->to.name;
    if (s->kept_shadow != NULL)
        putf(m->to, "%s(void)wgc_back(wgc_s, (size_t)%s);\n%s%s_b = wgc_pointer(%s);\n", indent,
             s->noted, indent, x, s->kept_shadow);
    putf(m->to, "%s(void)wgc_back(wgc_s, (size_t)%s);\n%s%s = wgc_pointer(%s);\n", indent,
         s->noted, indent, x, s->kept);
}

void backward(emitter *m, const list *steps, const char *indent) {
    const routine *const r = m->r;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if (s->kind == STEP_ASSIGN && s->again) forward_assign(m, s, indent);
    }
    for (size_t i = steps->n; i-- > 0;) {
        const step *const s = steps->at[i];
        switch (s->kind) {
        case STEP_ASSIGN:
            backward_assign(m, s, indent);
            break;
        case STEP_CALL:
            backward_call(m, s, indent);
            break;
        case STEP_PLAIN:
            break;
        case STEP_CLEAR:
            restore_old(m, s, indent);
            if (target_holds(s)) {
                const char *const b = shadow_name(r, s->to.name);
                putf(m->to, "%smemset(&%s, 0, sizeof %s);\n", indent, b, b);
            }
            break;
        case STEP_ROUTINE:
            backward_routine(m, s, indent);
            break;
        case STEP_SORT:
            putf(m->to, "%swgc_unsort(wgc_s, %s, %s, %s);\n", indent, print(r, s->to.n),
                 print_shadow(r, s->to.n), s->text);
            break;
        case STEP_COPY:
            if (s->push)
                putf(m->to, "%swgc_pop_all(wgc_s, %s, %s);\n", indent, print(r, s->to.n),
                     s->text);
            backward_copy(m, s, indent);
            break;
        case STEP_ARRAY:
            backward_array(m, s, indent);
            break;
        case STEP_IF:
            if (s->noted == NULL) break;
            putf(m->to, "%sif (%s != 0) {\n", indent, s->noted);
            backward(m, &s->body, deeper(indent));
            if (!is_idle(&s->other)) {
                putf(m->to, "%s} else {\n", indent);
                backward(m, &s->other, deeper(indent));
            }
            putf(m->to, "%s}\n", indent);
            break;
        case STEP_COUNTED:
            backward_counted(m, s, indent);
            break;
        case STEP_LOOP:
            backward_loop(m, s, indent);
            break;
        }
    }
}
