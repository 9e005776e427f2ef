/* SPDX-License-Identifier: MIT */
/* frames.c - where what is kept stands. What is kept once for each call, or a number of times
 * that is known when this is written, is a field of the function's frame; that of a function
 * whose whole frame is of one size is a field of the caller's. In loops each turn has an extent
 * of its own: for all turns at once, where nothing else goes on the stack meanwhile. */
#include <stdlib.h>
#include <string.h>
#include "convert/sweeps.h"

enum {
    MOST_TURNS = 16,
    MOST_COPIES = 64
}; /* of a loop that is laid out in the extent around it */

typedef struct layout {
    routine *r;
    list *
        order; /* routines that are laid out: each behind those whose frames it has in its own */
} layout;

/* Where fields go: how often each of them is there, and which is meant. */
typedef struct shelf {
    routine *r;
    extent *in;
    const char *dimensions, *index; /* [3][2], [i][j - 1] */
    long copies;
    const char *access; /* wgc_f-> */
} shelf;

static void lay_out(routine *r, list *order);

/* ---- questions -------------------------------------------------------------------------- */

static long number_at(const node *n) {
    n = bare(n);
    const char *const s = n->kind == NODE_NUMBER ? source(n) : "";
    const size_t digits = strspn(s, "0123456789");
    if (digits == 0 || digits > 8 || s[digits] != 0 || (*s == '0' && digits > 1)) return -1;
    return strtol(s, NULL, 10);
}
/* How often a loop turns, if that is a small number; -1. */
static long few_turns(const step *s) {
    const long from = number_at(s->from), bound = number_at(s->bound);
    if (from < 0 || bound < 0) return -1;
    const long by = s->by > 0 ? s->by : -s->by, last = strlen(s->compare) == 2;
    const long span = (s->by > 0 ? bound - from : from - bound) + last;
    const long turns = span > 0 ? (span + by - 1) / by : 0;
    return turns <= MOST_TURNS ? turns : -1;
}

bool is_idle(const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        const bool holds = s->to.cell != NULL && holds_variables(s->to.cell);
        switch (s->kind) {
        case STEP_PLAIN:
            break;
        case STEP_ASSIGN:
            if (s->push || (holds && s->to.type->kind != TYPE_POINTER)) return false;
            break;
        case STEP_CLEAR:
            if (s->push || holds) return false;
            break;
        case STEP_ROUTINE:
            if (s->push || routine_pushes(s) || routine_goes_back(s)) return false;
            break;
        case STEP_IF:
        case STEP_COUNTED:
        case STEP_LOOP:
            if (s->push || !is_idle(&s->body) || !is_idle(&s->other)) return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

static routine *called_routine(const layout *l, const step *s) {
    routine *const r = routine_of(l->r, s->callee);
    lay_out(r, l->order);
    return r;
}

/* Is anything kept, or left on the stack, by these steps? */
static bool keeps(const layout *l, const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if ((s->push && s->undo == NULL) || s->results.n != 0) return true;
        if (s->kind == STEP_ARRAY || routine_pushes(s)) return true;
        if (s->kind == STEP_CALL) {
            const routine *const r = called_routine(l, s);
            if (!r->lends || r->frame.n != 0) return true;
        }
        if ((s->kind == STEP_IF || s->kind == STEP_LOOP) &&
            !(is_idle(&s->body) && is_idle(&s->other)))
            return true;
        if (s->kind == STEP_COUNTED && keeps(l, &s->body)) return true;
    }
    return false;
}

/* Does all that is kept by these steps have its place in the extent around them? */
static bool is_settled(const layout *l, const list *steps, long copies) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if (s->kind == STEP_ARRAY || s->kind == STEP_SORT ||
            (s->kind == STEP_COPY && s->push) || routine_pushes(s))
            return false;
        if (s->kind == STEP_CALL && !called_routine(l, s)->lends) return false;
        const bool loops = s->kind == STEP_COUNTED || s->kind == STEP_LOOP;
        long turns = 1;
        if (loops && keeps(l, &s->body)) {
            turns = s->kind == STEP_COUNTED ? few_turns(s) : -1;
            if (turns < 0 || copies * turns > MOST_COPIES) return false;
        }
        if (!is_settled(l, &s->body, copies * turns) ||
            !is_settled(l, &s->other, copies * turns))
            return false;
    }
    return true;
}

/* ---- fields ------------------------------------------------------------------------------ */

/* What a value is kept as. */
static const char *kept_as(const type *t, const char *name) {
    switch (t->kind) {
    case TYPE_REAL:
        return t->bits <= 64 ? format("double %s", name) : format("long double %s", name);
    case TYPE_WHOLE:
        return format("int64_t %s", name);
    case TYPE_POINTER:
        return format("const void *%s", name);
    default:
        return without_const(declared_as(t, name));
    }
}

static const char *new_field(const shelf *at) {
    return format("wgc_k%u%s", ++at->in->n, at->dimensions);
}
static const char *last_field(const shelf *at) {
    return format("%swgc_k%u%s", at->access, at->in->n, at->index);
}
static const char *keep(const shelf *at, const type *t) {
    at->r->keeps_pointers |= t->kind == TYPE_POINTER;
    putf(&at->in->fields, "    %s;\n", kept_as(t, new_field(at)));
    return last_field(at);
}
static const char *keep_number(const shelf *at) {
    putf(&at->in->fields, "    double %s;\n", new_field(at));
    return last_field(at);
}
static const char *keep_whole(const shelf *at) {
    putf(&at->in->fields, "    int64_t %s;\n", new_field(at));
    return last_field(at);
}
static const char *keep_pointer(const shelf *at) {
    at->r->keeps_pointers = true;
    putf(&at->in->fields, "    const void *%s;\n", new_field(at));
    return last_field(at);
}

static extent *new_extent(layout *l) {
    extent *const e = arena_get(sizeof *e);
    e->name = format("wgc_f%u", ++l->r->own);
    e->type = format("struct %s_%s", l->r->v->name, e->name + strlen("wgc_"));
    return e;
}
static void define(const layout *l, const extent *e) {
    if (e->n != 0) putf(&l->r->types, "%s {\n%s};\n", e->type, text_of(&e->fields));
}

static bool holds_pointer(const target *t) {
    return t->type->kind == TYPE_POINTER && t->cell != NULL && holds_variables(t->cell);
}

static void lay(layout *l, const list *steps, const shelf *at);

static void lay_loop(layout *l, step *s, const shelf *at) {
    if (s->kind == STEP_LOOP && !is_idle(&s->body)) s->noted = keep_whole(at);
    if (!keeps(l, &s->body)) return;
    const char *const i = s->kind == STEP_COUNTED ? print_target(l->r, &s->to) : NULL;
    const char *index = NULL;
    if (i != NULL) {
        const char *const from = print(l->r, s->from);
        const long by = s->by > 0 ? s->by : -s->by;
        index = same(from, "0") && s->by > 0 ? i
                : s->by > 0                  ? format("%s - (%s)", i, from)
                                             : format("(%s) - %s", from, i);
        if (by != 1) index = format("(%s) / %ld", index, by);
    }
    const long turns = i != NULL ? few_turns(s) : -1;
    if (turns >= 0 && at->copies * turns <= MOST_COPIES &&
        is_settled(l, &s->body, at->copies * turns)) {
        const shelf within = {l->r,
                              at->in,
                              format("%s[%ld]", at->dimensions, turns != 0 ? turns : 1),
                              format("%s[%s]", at->index, index),
                              at->copies * turns,
                              at->access};
        lay(l, &s->body, &within);
        return;
    }
    at->in->dynamic = true;
    s->turn = new_extent(l);
    if (i != NULL && is_settled(l, &s->body, 1)) s->turned = index;
    const shelf own = {l->r,
                       s->turn,
                       "",
                       "",
                       1,
                       s->turned != NULL ? format("%s[%s].", s->turn->name, index)
                                         : format("%s->", s->turn->name)};
    lay(l, &s->body, &own);
    define(l, s->turn);
}

static void lay(layout *l, const list *steps, const shelf *at) {
    for (size_t i = 0; i < steps->n; i++) {
        step *const s = steps->at[i];
        if (s->push && s->undo == NULL && s->kind != STEP_COPY && s->kind != STEP_SORT) {
            s->kept = keep(at, s->to.type);
            if (holds_pointer(&s->to)) s->kept_shadow = keep_pointer(at);
        }
        for (size_t k = 0; k < s->results.n; k++)
            ((kept_call *)s->results.at[k])->kept = keep_number(at);
        switch (s->kind) {
        case STEP_CALL: {
            const routine *const r = called_routine(l, s);
            if (!r->lends) at->in->dynamic = true;
            else if (r->frame.n != 0) {
                putf(&at->in->fields, "    %s %s;\n", r->frame.type, new_field(at));
                s->lent = format("&%s", last_field(at));
            }
            break;
        }
        case STEP_ARRAY: /* what it was in the turn before, and how long it is */
            s->kept = keep_pointer(at);
            if (s->to.cell != NULL && holds_variables(s->to.cell))
                s->kept_shadow = keep_pointer(at);
            s->noted = keep_whole(at);
            at->in->dynamic = true;
            break;
        case STEP_COPY:
        case STEP_SORT:
            if (s->push) at->in->dynamic = true;
            break;
        case STEP_ROUTINE:
            if (routine_pushes(s)) at->in->dynamic = true;
            break;
        case STEP_IF:
            if (!(is_idle(&s->body) && is_idle(&s->other))) s->noted = keep_whole(at);
            lay(l, &s->body, at);
            lay(l, &s->other, at);
            break;
        case STEP_COUNTED:
        case STEP_LOOP:
            lay_loop(l, s, at);
            break;
        default:
            break;
        }
    }
}

/* ---- functions --------------------------------------------------------------------------- */

/* Does it take memory of the stack, or leave by it? */
static bool takes_memory(const routine *r, const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if (s->kind == STEP_PLAIN && (s->text == NULL ? is_free(s->e) : s->e == NULL))
            return true; /* or jumps out of it */
        if (s->kind == STEP_ROUTINE) return true;
        if (s->kind == STEP_ASSIGN && memory_call(r, s) != NULL) return true;
        if (takes_memory(r, &s->body) || takes_memory(r, &s->other)) return true;
    }
    return false;
}

static bool may_lend(const layout *l) {
    const routine *const r = l->r;
    if (r->v == r->a->root || r->shared) return false;
    for (size_t i = 0; i < r->stretches.n; i++) {
        const stretch *const s = r->stretches.at[i];
        if (s->opens || takes_memory(r, &s->steps) || !is_settled(l, &s->steps, 1))
            return false;
    }
    return true;
}

/* Is it memory of pointers, in the frame or elsewhere, which the way back takes them from? */
static bool holds_pointers(const variable *x) {
    const bool stored = x->framed || (x->d != NULL && x->d->is_static);
    size_t depth = 0;
    const type *t = x->type;
    for (; t->kind == TYPE_ARRAY || t->kind == TYPE_POINTER; t = t->of) {
        if (t->kind == TYPE_POINTER && (depth != 0 || stored) && t->of->kind != TYPE_FUNCTION)
            return true;
        depth++;
    }
    return false;
}

/* Variables that have addresses. */
static void lay_framed(const routine *r, extent *frame) {
    for (size_t i = 0; i < r->variables.n; i++) {
        const variable *const x = r->variables.at[i];
        if (!x->framed) continue;
        const char *const name = x->name + strlen("wgc_f->");
        const type *const t = x->type;
        const bool sized = t->kind == TYPE_ARRAY && t->count < 0;
        for (int shadow = 0; shadow <= (x->holds && (r->shadows || sized)); shadow++) {
            const char *const s = shadow ? format("%s_b", name) : name;
            putf(&frame->fields, "    %s;\n",
                 sized    ? without_const(declared_as(t->of, format("*%s", s)))
                 : shadow ? shadow_type(t, s)
                          : assignable(t, s));
        }
        frame->n++;
    }
}

static void lay_saved(routine *r, const shelf *at) {
    for (size_t i = 0; i < r->saved.n; i++) {
        saved *const x = r->saved.at[i];
        x->kept = keep(at, x->of->type);
        if (x->of->holds && x->of->type->kind == TYPE_POINTER)
            x->kept_shadow = keep_pointer(at);
    }
}

static void lay_out(routine *r, list *order) {
    if (r->laid_out || r->is_being_laid_out) return;
    r->is_being_laid_out = true;
    layout l = {.r = r, .order = order};
    r->frame.name = "wgc_f";
    r->frame.type = format("struct %s_frame", r->v->name);
    const bool lends = may_lend(&l);
    lay_framed(r, &r->frame);
    for (size_t i = 0; i < r->variables.n; i++)
        r->keeps_pointers |= holds_pointers(r->variables.at[i]);
    const shelf whole = {r, &r->frame, "", "", 1, "wgc_f->"};
    for (size_t i = 0; i < r->stretches.n; i++) {
        stretch *const s = r->stretches.at[i];
        if (s->opens) s->noted = keep_whole(&whole), r->frame.dynamic = true;
        if (s->text != NULL) continue;
        if (!s->repeated) {
            if (r->jumps && i != 0 && !is_idle(&s->steps)) s->noted = keep_whole(&whole);
            lay(&l, &s->steps, &whole);
            continue;
        }
        s->turn = new_extent(&l);
        const shelf own = {r, s->turn, "", "", 1, format("%s->", s->turn->name)};
        lay(&l, &s->steps, &own);
        define(&l, s->turn);
    }
    lay_saved(r, &whole);
    define(&l, &r->frame);
    r->lends = lends;
    r->laid_out = true;
    push(order, r);
}

/* Does one that is called with pointers keep them? */
static bool lends_pointers(const routine *r, const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        bool pointers = false;
        for (size_t k = 0; k < s->args.n; k++)
            pointers |= is_kind(((argument *)s->args.at[k])->type, TYPE_POINTER);
        if ((s->kind == STEP_CALL && pointers && routine_of(r, s->callee)->keeps_pointers) ||
            lends_pointers(r, &s->body) || lends_pointers(r, &s->other))
            return true;
    }
    return false;
}

void lay_out_all(const list *routines, list *order) {
    for (size_t i = 0; i < routines->n; i++) lay_out(routines->at[i], order);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < routines->n; i++) {
            routine *const r = routines->at[i];
            for (size_t k = 0; !r->keeps_pointers && k < r->stretches.n; k++)
                more |= r->keeps_pointers =
                    lends_pointers(r, &((stretch *)r->stretches.at[k])->steps);
        }
    }
}
