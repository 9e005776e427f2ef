/* SPDX-License-Identifier: MIT */
/* adjoint.c - the functions that run forwards and back, from steps and a plan. */
#include <string.h>
#include "convert/adjoint.h"

/* The stack, as it stands in the file that is written. */
static const char stack_text[] =
    "/* ---- adjoints */\n\n"
    "#include <math.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#include <wengert/special.h>\n\n#ifndef WGC_STACK\n#define WGC_STACK\n"
    "/* What is overwritten and needed again, and frames of functions, in words. Nothing in it moves. Without\n"
    " * memory it jumps out. */\n"
    "union wgc_word { double d; int64_t i; void *p; };\n"
    "struct wgc_chunk { struct wgc_chunk *before; size_t n, room; union wgc_word at[]; };\n"
    "struct wgc_given { struct wgc_given *before; void *p; };\n"
    "typedef struct wgc_stack {\n    union wgc_word *at;\n    size_t n, room;\n    struct wgc_chunk *chunk, *spare;\n    struct wgc_given *given;\n    jmp_buf out;\n} wgc_stack;\n"
    "/* What free was called for is given back at the end, with what was obtained for variables: until then it is\n"
    " * read. */\n"
    "__attribute__((noinline, unused)) static void wgc_later(wgc_stack *s, void *p) {\n"
    "    struct wgc_given *const g = p == NULL ? NULL : malloc(sizeof *g);\n"
    "    if (p == NULL) return;\n"
    "    if (g == NULL) free(p), longjmp(s->out, 1);\n"
    "    *g = (struct wgc_given){s->given, p}, s->given = g;\n}\n"
    "__attribute__((noinline, unused)) static void *wgc_memory(wgc_stack *s, size_t n, size_t size) {\n"
    "    void *const p = calloc(n != 0 ? n : 1, size != 0 ? size : 1);\n"
    "    if (p == NULL) longjmp(s->out, 1);\n"
    "    wgc_later(s, p);\n    return p;\n}\n"
    "__attribute__((noinline, unused)) static void wgc_grow(wgc_stack *s, size_t words) {\n"
    "    struct wgc_chunk *c = s->spare;\n"
    "    const size_t twice = s->chunk == NULL ? 1024 : s->chunk->room < 262144 ? 2 * s->chunk->room : s->chunk->room;\n"
    "    const size_t room = words > twice ? words : twice;\n"
    "    s->spare = NULL;\n"
    "    if (c != NULL && c->room < words) free(c), c = NULL;\n"
    "    if (c == NULL && (c = malloc(sizeof *c + room * sizeof *c->at)) != NULL) c->room = room;\n"
    "    if (c == NULL) longjmp(s->out, 1);\n"
    "    if (s->chunk != NULL) s->chunk->n = s->n;\n"
    "    c->before = s->chunk, s->chunk = c, s->at = c->at, s->n = 0, s->room = c->room;\n}\n"
    "__attribute__((noinline, unused)) static void wgc_shrink(wgc_stack *s) {\n"
    "    while (s->n == 0 && s->chunk != NULL && s->chunk->before != NULL) {\n"
    "        struct wgc_chunk *const c = s->chunk;\n"
    "        free(s->spare);\n"
    "        s->spare = c, s->chunk = c->before, s->at = s->chunk->at, s->n = s->chunk->n, s->room = s->chunk->room;\n    }\n"
    "}\n"
    "__attribute__((unused)) static void wgc_close(wgc_stack *s) {\n"
    "    free(s->spare);\n"
    "    for (struct wgc_given *g = s->given; g != NULL;) {\n        struct wgc_given *const before = g->before;\n        free(g->p), free(g);\n        g = before;\n    }\n"
    "    for (struct wgc_chunk *c = s->chunk; c != NULL;) {\n        struct wgc_chunk *const before = c->before;\n        free(c);\n        c = before;\n    }\n}\n"
;
static const char stack_text_more[] =
    "#define WGC_ROOM(s) do { if (__builtin_expect((s)->n == (s)->room, 0)) wgc_grow(s, 1); } while (0)\n"
    "#define WGC_LAST(s) do { if (__builtin_expect((s)->n == 0, 0)) wgc_shrink(s); } while (0)\n"
    "__attribute__((unused)) static inline void wgc_push(wgc_stack *s, double x) { WGC_ROOM(s); s->at[s->n++].d = x; }\n"
    "__attribute__((unused)) static inline double wgc_pop(wgc_stack *s) { WGC_LAST(s); return s->at[--s->n].d; }\n"
    "__attribute__((unused)) static inline void wgc_push_i(wgc_stack *s, int64_t x) { WGC_ROOM(s); s->at[s->n++].i = x; }\n"
    "__attribute__((unused)) static inline int64_t wgc_pop_i(wgc_stack *s) { WGC_LAST(s); return s->at[--s->n].i; }\n"
    "__attribute__((unused)) static inline void wgc_push_p(wgc_stack *s, const void *x) { WGC_ROOM(s); s->at[s->n++].p = (void *)(uintptr_t)x; }\n"
    "__attribute__((unused)) static inline void *wgc_pop_p(wgc_stack *s) { WGC_LAST(s); return s->at[--s->n].p; }\n"
    "#define WGC_WORDS(bytes) (((bytes) + sizeof(union wgc_word) - 1) / sizeof(union wgc_word))\n"
    "__attribute__((unused)) static inline void *wgc_frame(wgc_stack *s, size_t words) {\n"
    "    if (__builtin_expect(s->room - s->n < words, 0)) wgc_grow(s, words);\n"
    "    s->n += words;\n    return s->at + s->n - words;\n}\n"
    "__attribute__((unused)) static inline void wgc_unframe(wgc_stack *s, size_t words) {\n"
    "    if (s->n == 0 && words != 0) wgc_shrink(s);\n    s->n -= words;\n}\n"
    "__attribute__((unused)) static void wgc_push_all(wgc_stack *s, const void *x, size_t bytes) {\n"
    "    memcpy(wgc_frame(s, WGC_WORDS(bytes)), x, bytes);\n}\n"
    "__attribute__((unused)) static void wgc_pop_all(wgc_stack *s, void *x, size_t bytes) {\n"
    "    wgc_unframe(s, WGC_WORDS(bytes));\n    memcpy(x, s->at + s->n, bytes);\n}\n"
    "/* What went from x to y, which may overlap, goes back: each shadow of y is taken before anything is added to it. */\n"
    "__attribute__((unused)) static void wgc_move(double *y, double *x, size_t n) {\n"
    "    if (x == y) return;\n"
    "    for (size_t k = 0; k < n; k++) {\n        const size_t i = (uintptr_t)x < (uintptr_t)y ? k : n - 1 - k;\n"
    "        const double b = y[i];\n        y[i] = 0;\n        x[i] += b;\n    }\n}\n"
    "/* Nothing flows back through a partial that is infinite, if nothing came. */\n"
    "__attribute__((unused)) static inline double wgc_times(double x, double partial) { return x == 0 ? 0 : x * partial; }\n#endif\n";

typedef struct emitter {
    routine *r;
    text *to;
    unsigned loops;
} emitter;

const char *without_const(const char *s) {
    text to = {NULL, 0, 0};
    const tokens t = lex(s, strlen(s));
    size_t at = 0;
    for (size_t i = 0; i < t.n; i++) {
        if (!token_is(s, &t.at[i], "const")) continue;
        put_n(&to, s + at, t.at[i].begin - at);
        at = t.at[i].end;
        while (s[at] == ' ') at++;
    }
    put(&to, s + at);
    return text_of(&to);
}
/* A variable that can be assigned to: what it points to stays const. */
static const char *assignable(const type *t, const char *name) {
    const char *const s = declared_as(t, name);
    if (t->kind != TYPE_POINTER) return without_const(s);
    const tokens k = lex(s, strlen(s));
    for (size_t i = 1; i < k.n; i++) {
        if (!token_is(s, &k.at[i], name)) continue;
        size_t first = i;
        while (first > 0 && (token_is(s, &k.at[first - 1], "const") ||
                             token_is(s, &k.at[first - 1], "restrict")))
            first--;
        return format("%s%s", copy_text(s, k.at[first].begin), s + k.at[i].begin);
    }
    return s;
}
static const char *shadow_type(const type *t, const char *name) {
    return without_const(declared_as(t, name));
}

static bool is_kind(const type *t, type_kind k) { return t != NULL && t->kind == k; }

/* ---- keeping values ---------------------------------------------------------------------- */

static void put_push(text *to, const char *indent, const char *x, const char *b,
                     const type *t) {
    if (is_kind(t, TYPE_REAL) && t->bits <= 64) putf(to, "%swgc_push(wgc_s, %s);\n", indent, x);
    else if (is_kind(t, TYPE_WHOLE)) putf(to, "%swgc_push_i(wgc_s, (int64_t)%s);\n", indent, x);
    else if (is_kind(t, TYPE_POINTER)) {
        putf(to, "%swgc_push_p(wgc_s, %s);\n", indent, x);
        if (b != NULL) putf(to, "%swgc_push_p(wgc_s, %s);\n", indent, b);
    } else putf(to, "%swgc_push_all(wgc_s, &%s, sizeof %s);\n", indent, x, x);
}
static void put_pop(text *to, const char *indent, const char *x, const char *b, const type *t) {
    if (is_kind(t, TYPE_REAL) && t->bits <= 64)
        putf(to, t->bits == 32 ? "%s%s = (float)wgc_pop(wgc_s);\n" : "%s%s = wgc_pop(wgc_s);\n",
             indent, x);
    else if (is_kind(t, TYPE_WHOLE))
        putf(to, "%s%s = %swgc_pop_i(wgc_s);\n", indent, x,
             strchr(t->spelling, '(') == NULL ? format("(%s)", t->spelling) : "");
    else if (is_kind(t, TYPE_POINTER)) {
        if (b != NULL) putf(to, "%s%s = wgc_pop_p(wgc_s);\n", indent, b);
        putf(to, "%s%s = wgc_pop_p(wgc_s);\n", indent, x);
    } else putf(to, "%swgc_pop_all(wgc_s, &%s, sizeof %s);\n", indent, x, x);
}

static bool target_holds(const step *s) {
    return s->to.cell != NULL && holds_variables(s->to.cell);
}
static bool target_active(const step *s) {
    return is_kind(s->to.type, TYPE_REAL) && s->to.cell != NULL && is_variable(s->to.cell);
}

/* ---- forwards ---------------------------------------------------------------------------- */

static void forward(emitter *m, const list *steps, const char *indent);
static const char *deeper(const char *indent) { return format("%s    ", indent); }

/* The arguments of a call; back: with addresses of the shadows of numbers. */
static const char *call_arguments(const emitter *m, const step *s, bool back) {
    const routine *const r = m->r;
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < s->args.n; i++) {
        const argument *const g = s->args.at[i];
        putf(&to, "%s, ", g->name != NULL ? g->name : print(r, g->n));
    }
    for (size_t i = 0; i < s->args.n; i++) {
        const argument *const g = s->args.at[i];
        if (!g->holds) continue;
        const char *const b = g->name != NULL ? format("%s_b", g->name) : print_shadow(r, g->n);
        const bool value = is_kind(g->type, TYPE_REAL) || is_kind(g->type, TYPE_RECORD);
        if (!value) putf(&to, "%s, ", b);
        else if (back) putf(&to, "&%s, ", b);
    }
    return text_of(&to);
}

static bool is_memory(const emitter *m, const step *s) {
    const node *n = s->e;
    while (n != NULL && (n->kind == NODE_PAREN || n->kind == NODE_CAST)) n = n->child[0];
    if (s->text != NULL || n == NULL || n->kind != NODE_CALL ||
        n->child[0]->kind != NODE_NAME || m->r->instead[n->number] != NULL)
        return false;
    const char *const f = bare(n->child[0])->decl->name;
    return same(f, "malloc") || same(f, "calloc");
}

static void forward_assign(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    text *const to = m->to;
    const char *const x = print_target(r, &s->to);
    const bool pointer = is_kind(s->to.type, TYPE_POINTER), holds = target_holds(s);
    const char *const b = pointer && holds ? shadow_target(r, &s->to) : NULL;
    if (s->push && s->undo == NULL) put_push(to, indent, x, b, s->to.type);
    const char *const instead =
        s->e != NULL && s->text == NULL ? r->instead[s->e->number] : NULL;
    const bool own = instead != NULL && s->to.name != NULL && same(instead, s->to.name);
    /* what has this name is printed without it */
    if (own) r->instead[s->e->number] = NULL;
    if (is_memory(m, s) && holds) {
        const node *n = s->e;
        while (n->kind == NODE_PAREN || n->kind == NODE_CAST) n = n->child[0];
        const bool zeroed = same(bare(n->child[0])->decl->name, "calloc");
        const char *const count = zeroed ? print(r, n->child[1]) : "1",
                          *const size = print(r, n->child[zeroed ? 2 : 1]);
        putf(to, "%s%s = wgc_memory(wgc_s, %s, %s);\n", indent, x, count, size);
        putf(to, "%s%s = wgc_memory(wgc_s, %s, %s);\n", indent, b, count, size);
    } else {
        const char *const e = s->text != NULL ? s->text : print(r, s->e);
        putf(to, "%s%s %s %s;\n", indent, x, s->add > 0 ? "+=" : s->add < 0 ? "-=" : "=", e);
        if (b != NULL)
            putf(to, "%s%s = %s;\n", indent, b,
                 s->text != NULL ? format("%s%s", b, s->text + strlen(x))
                                 : print_shadow(r, s->e));
    }
    if (own) r->instead[s->e->number] = instead;
}

static void forward_counted(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const char *const i = print_target(r, &s->to);
    if (s->push) put_push(m->to, indent, i, NULL, s->to.type);
    putf(m->to, "%sfor (%s = %s; %s %s %s; %s %s %ld) {\n", indent, i, print(r, s->from), i,
         s->compare, print(r, s->bound), i,
         s->by > 0 ? "+=" : "-=", s->by > 0 ? s->by : -s->by);
    forward(m, &s->body, deeper(indent));
    putf(m->to, "%s}\n", indent);
}

static void forward(emitter *m, const list *steps, const char *indent) {
    const routine *const r = m->r;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        switch (s->kind) {
        case STEP_ASSIGN:
            forward_assign(m, s, indent);
            break;
        case STEP_CALL:
            if (s->push)
                put_push(m->to, indent, s->to.name,
                         is_kind(s->to.type, TYPE_POINTER) && target_holds(s)
                             ? format("%s_b", s->to.name)
                             : NULL,
                         s->to.type);
            putf(m->to, "%s%s%s_forward(%swgc_s);\n", indent,
                 s->to.name != NULL ? format("%s = ", s->to.name) : "", s->callee->name,
                 call_arguments(m, s, false));
            break;
        case STEP_PLAIN: {
            if (s->text == NULL && s->to.name != NULL) break; /* a declaration keeps it */
            const char *const e = s->text != NULL ? s->text : print(r, s->e);
            /* memory is given back when all is done */
            if (s->text == NULL && is_free(s->e)) {
                const node *const p = s->e->child[1];
                const node *q = p;
                while (q->kind == NODE_CAST || q->kind == NODE_PAREN) q = q->child[0];
                if (!node_holds(r, q)) putf(m->to, "%swgc_later(wgc_s, %s);\n", indent, print(r, p));
            } else putf(m->to, "%s%s;\n", indent, e);
            break;
        }
        case STEP_CLEAR: {
            const char *const x = s->to.name;
            if (s->push) putf(m->to, "%swgc_push_all(wgc_s, &%s, sizeof %s);\n", indent, x, x);
            putf(m->to, "%smemset(&%s, 0, sizeof %s);\n", indent, x, x);
            break;
        }
        case STEP_COPY: {
            const char *const x = print(r, s->to.n);
            if (s->push) putf(m->to, "%swgc_push_all(wgc_s, %s, %s);\n", indent, x, s->text);
            if (s->e != NULL)
                putf(m->to, "%smemmove(%s, %s, %s);\n", indent, x, print(r, s->e), s->text);
            else putf(m->to, "%smemset(%s, 0, %s);\n", indent, x, s->text);
            break;
        }
        case STEP_ARRAY: {
            const char *const x = s->to.name, *const e = leaf_type(s->to.type)->spelling;
            putf(m->to, "%swgc_push_p(wgc_s, %s);\n", indent, x); /* of the turn before */
            if (target_holds(s)) putf(m->to, "%swgc_push_p(wgc_s, %s_b);\n", indent, x);
            putf(m->to, "%s%s = wgc_frame(wgc_s, WGC_WORDS((size_t)(%s) * sizeof(%s)));\n",
                 indent, x, s->text, e);
            if (target_holds(s))
                putf(
                    m->to,
                    "%s%s_b = wgc_frame(wgc_s, WGC_WORDS((size_t)(%s) * sizeof(%s)));\n%smemset(%s_b, 0, (size_t)(%s) * sizeof(%s));\n",
                    indent, x, s->text, e, indent, x, s->text, e);
            putf(m->to, "%swgc_push_i(wgc_s, (int64_t)WGC_WORDS((size_t)(%s) * sizeof(%s)));\n",
                 indent, s->text, e);
            break;
        }
        case STEP_IF:
            putf(m->to, "%sif (%s) {\n", indent, print(r, s->e));
            forward(m, &s->body, deeper(indent));
            putf(m->to, "%s    wgc_push_i(wgc_s, 1);\n%s} else {\n", indent, indent);
            forward(m, &s->other, deeper(indent));
            putf(m->to, "%s    wgc_push_i(wgc_s, 0);\n%s}\n", indent, indent);
            break;
        case STEP_COUNTED:
            forward_counted(m, s, indent);
            break;
        case STEP_LOOP: {
            const unsigned k = ++m->loops;
            putf(m->to, "%s{\n%s    int64_t wgc_n%u = 0;\n", indent, indent, k);
            if (s->at_end) putf(m->to, "%s    do {\n", indent);
            else
                putf(m->to, "%s    while (%s) {\n", indent,
                     s->e != NULL ? print(r, s->e) : "1");
            forward(m, &s->body, deeper(deeper(indent)));
            putf(m->to, "%s        wgc_n%u++;\n", indent, k);
            if (s->at_end) putf(m->to, "%s    } while (%s);\n", indent, print(r, s->e));
            else putf(m->to, "%s    }\n", indent);
            putf(m->to, "%s    wgc_push_i(wgc_s, wgc_n%u);\n%s}\n", indent, k, indent);
            break;
        }
        }
    }
}

/* ---- backwards --------------------------------------------------------------------------- */

static void backward(emitter *m, const list *steps, const char *indent);

/* Adjoints of all numbers of a structure, or of an array in one, move from `from` to `to`. */
static void move_all(const emitter *m, const char *to, const char *from, const type *t,
                     const char *indent, unsigned depth) {
    if (t->kind == TYPE_REAL)
        putf(m->to, "%s%s += %s;\n%s%s = 0;\n", indent, to, from, indent, from);
    else if (t->kind == TYPE_ARRAY) {
        const char *const k = format("wgc_k%u", depth), *const at = format("[%s]", k);
        putf(m->to, "%sfor (size_t %s = 0; %s < sizeof %s / sizeof *%s; %s++) {\n", indent, k, k,
             to, to, k);
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
static void move_record(const emitter *m, const char *to, const char *from, const type *t,
                        const char *indent) {
    if (same(to, from)) return;
    /* one structure by two names: nothing moves */
    putf(m->to, "%sif (&%s != &%s) {\n", indent, to, from);
    move_all(m, to, from, t, deeper(indent), 0);
    putf(m->to, "%s}\n", indent);
}

static void backward_assign(emitter *m, const step *s, const char *indent) {
    routine *const r = m->r;
    const char *const x = print_target(r, &s->to);
    const bool pointer = is_kind(s->to.type, TYPE_POINTER);
    const char *const b = pointer && target_holds(s) ? shadow_target(r, &s->to) : NULL;
    if (s->push && s->undo != NULL) putf(m->to, "%s%s = %s %s;\n", indent, x, x, s->undo);
    else if (s->push) put_pop(m->to, indent, x, b, s->to.type);
    if (is_kind(s->to.type, TYPE_RECORD) && target_holds(s) && s->text == NULL) {
        move_record(m, print_shadow(r, s->e), shadow_target(r, &s->to), s->to.type, indent);
        return;
    }
    if (!target_active(s)) return;
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
    const bool pointer = is_kind(s->to.type, TYPE_POINTER);
    const char *const result =
        s->to.name != NULL && target_active(s) ? format("%s_b, ", s->to.name) : "";
    putf(m->to, "%s%s_backward(%s%swgc_s);\n", indent, s->callee->name,
         call_arguments(m, s, true), result);
    if (*result) putf(m->to, "%s%s_b = 0;\n", indent, s->to.name);
    if (s->push)
        put_pop(m->to, indent, s->to.name,
                pointer && target_holds(s) ? format("%s_b", s->to.name) : NULL, s->to.type);
}

static void backward_counted(emitter *m, const step *s, const char *indent) {
    const routine *const r = m->r;
    const char *const i = print_target(r, &s->to), *const from = print(r, s->from),
                      *const bound = print(r, s->bound);
    const bool last = strlen(s->compare) == 2; /* <=, >= */
    const long by = s->by > 0 ? s->by : -s->by;
    if (by == 1 && s->by > 0)
        putf(m->to, "%sfor (%s = (%s)%s; %s-- > (%s);) {\n", indent, i, bound,
             last ? " + 1" : "", i, from);
    else if (by == 1)
        putf(m->to, "%sfor (%s = (%s)%s; %s <= (%s); %s++) {\n", indent, i, bound,
             last ? "" : " + 1", i, from, i);
    else {
        const char *const span = s->by > 0
                                     ? format("(int64_t)(%s) - (int64_t)(%s)", bound, from)
                                     : format("(int64_t)(%s) - (int64_t)(%s)", from, bound);
        const unsigned k = ++m->loops;
        putf(
            m->to,
            "%sfor (int64_t wgc_n%u = (%s%s + %ld) / %ld; wgc_n%u-- > 0;) {\n%s    %s = (__typeof__(%s))((%s) %s wgc_n%u * %ld);\n",
            indent, k, span, last ? " + 1" : "", by - 1, by, k, indent, i, i, from,
            s->by > 0 ? "+" : "-", k, by);
    }
    backward(m, &s->body, deeper(indent));
    putf(m->to, "%s}\n", indent);
    if (s->push) put_pop(m->to, indent, i, NULL, s->to.type);
}

/* The shadow of an array or pointer, as one of numbers in a row. */
static const char *flat_shadow(const routine *r, const node *n) {
    return format("(double *)(%s)", print_shadow(r, n));
}

static void backward(emitter *m, const list *steps, const char *indent) {
    const routine *const r = m->r;
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if (s->kind == STEP_ASSIGN && s->again) {
            const bool push = s->push;
            step copy = *s;
            copy.push = false;
            forward_assign(m, &copy, indent);
            (void)push;
        }
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
            if (s->push)
                putf(m->to, "%swgc_pop_all(wgc_s, &%s, sizeof %s);\n", indent, s->to.name,
                     s->to.name);
            if (target_holds(s))
                putf(m->to, "%smemset(&%s_b, 0, sizeof %s_b);\n", indent, s->to.name,
                     s->to.name);
            break;
        case STEP_COPY:
            if (s->push)
                putf(m->to, "%swgc_pop_all(wgc_s, %s, %s);\n", indent, print(r, s->to.n),
                     s->text);
            if (s->e != NULL)
                putf(m->to, "%swgc_move(%s, %s, (%s) / sizeof(double));\n", indent,
                     flat_shadow(r, s->to.n), flat_shadow(r, s->e), s->text);
            else
                putf(m->to, "%smemset(%s, 0, %s);\n", indent, flat_shadow(r, s->to.n), s->text);
            break;
        case STEP_ARRAY:
            putf(m->to, "%s{\n%s    const size_t wgc_words = (size_t)wgc_pop_i(wgc_s);\n",
                 indent, indent);
            if (target_holds(s)) putf(m->to, "%s    wgc_unframe(wgc_s, wgc_words);\n", indent);
            putf(m->to, "%s    wgc_unframe(wgc_s, wgc_words);\n", indent);
            if (target_holds(s))
                putf(m->to, "%s    %s_b = wgc_pop_p(wgc_s);\n", indent, s->to.name);
            putf(m->to, "%s    %s = wgc_pop_p(wgc_s);\n%s}\n", indent, s->to.name, indent);
            break;
        case STEP_IF:
            putf(m->to, "%sif (wgc_pop_i(wgc_s) != 0) {\n", indent);
            backward(m, &s->body, deeper(indent));
            putf(m->to, "%s} else {\n", indent);
            backward(m, &s->other, deeper(indent));
            putf(m->to, "%s}\n", indent);
            break;
        case STEP_COUNTED:
            backward_counted(m, s, indent);
            break;
        case STEP_LOOP: {
            const unsigned k = ++m->loops;
            putf(m->to,
                 "%sfor (int64_t wgc_n%u = wgc_pop_i(wgc_s); wgc_n%u > 0; wgc_n%u--) {\n",
                 indent, k, k, k);
            backward(m, &s->body, deeper(indent));
            putf(m->to, "%s}\n", indent);
            break;
        }
        }
    }
}

/* ---- whole functions ---------------------------------------------------------------------- */

static bool param_holds(const routine *r, const decl *p) {
    cell *const c = r->v->of_decl[p->index];
    return c != NULL && holds_variables(c);
}
static bool is_value(const decl *p) {
    return p->type->kind == TYPE_REAL || p->type->kind == TYPE_RECORD;
}

static const char *signature(const routine *r, bool back) {
    const decl *const f = r->v->function;
    const type *const result = f->type->of;
    text to = {NULL, 0, 0};
    const char *const name = format("%s_%s(", r->v->name, back ? "backward" : "forward");
    put(&to, "static ");
    put(&to, back ? format("void %s", name) : declared_as(result, name));
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        putf(&to, "%s, ", assignable(p->type, p->name));
    }
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!param_holds(r, p)) continue;
        if (!is_value(p)) putf(&to, "%s, ", shadow_type(p->type, format("%s_b", p->name)));
        else if (back) putf(&to, "%s, ", shadow_type(p->type, format("*wgc_%s_b", p->name)));
    }
    if (back && r->v->result != NULL && is_variable(r->v->result))
        put(&to, "double wgc_result_b, ");
    put(&to, "wgc_stack *wgc_s)");
    return text_of(&to);
}

static const char *frame_type(const routine *r) {
    return format("struct %s_frame", r->v->name);
}
static bool has_frame(const routine *r) {
    for (size_t i = 0; i < r->variables.n; i++)
        if (((variable *)r->variables.at[i])->framed) return true;
    return false;
}

/* What has an address, and its shadows: one structure on the stack, for both ways. */
static void put_frame(const emitter *m) {
    const routine *const r = m->r;
    if (!has_frame(r)) return;
    putf(m->to, "%s {\n", frame_type(r));
    for (size_t i = 0; i < r->variables.n; i++) {
        const variable *const x = r->variables.at[i];
        if (!x->framed) continue;
        const char *const name = x->name + strlen("wgc_f->");
        const type *t = x->type;
        const bool sized = t->kind == TYPE_ARRAY && t->count < 0;
        const char *s = sized ? declared_as(t->of, format("*%s", name)) : declared_as(t, name);
        putf(m->to, "    %s;\n", without_const(s));
        if (x->holds)
            putf(m->to, "    %s;\n",
                 without_const(sized ? declared_as(t->of, format("*%s_b", name))
                                     : declared_as(t, format("%s_b", name))));
    }
    put(m->to, "};\n");
}

/* The declaration of d alone, by another name. */
static const char *one_declaration(const decl *d, const char *name) {
    const file *const f = d->file;
    const size_t rest = specifiers_end(f, d->begin, d->end);
    return format(
        "%s %s", copy_text(f->text + d->begin, rest - d->begin),
        replaced(f, d->at, d->end, 1, (part[]){{d->at, d->at + strlen(d->name), name}}));
}

/* Static variables stand at the top, for both ways. */
static void put_statics(const emitter *m) {
    const routine *const r = m->r;
    for (size_t i = 0; i < r->variables.n; i++) {
        const variable *const x = r->variables.at[i];
        if (x->d != NULL && x->d->is_static)
            putf(m->to, "__attribute__((unused)) %s;\n", one_declaration(x->d, x->name));
    }
}

static void put_locals(const emitter *m, bool back) {
    const routine *const r = m->r;
    if (has_frame(r)) {
        if (back) putf(m->to, "    %s *const wgc_f = wgc_pop_p(wgc_s);\n", frame_type(r));
        else
            putf(m->to, "    %s *const wgc_f = wgc_frame(wgc_s, WGC_WORDS(sizeof *wgc_f));\n",
                 frame_type(r));
    }
    for (size_t i = 0; i < r->variables.n; i++) {
        const variable *const x = r->variables.at[i];
        const decl *const d = x->d;
        const bool aggregate = x->type->kind == TYPE_ARRAY || x->type->kind == TYPE_RECORD;
        if (x->framed) {
            if (back) continue;
            if (x->type->kind == TYPE_ARRAY && x->type->count < 0) {
                putf(m->to, "    %s = NULL;\n", x->name);
                if (x->holds) putf(m->to, "    %s_b = NULL;\n", x->name);
            }
            if (x->holds && !(x->type->kind == TYPE_ARRAY && x->type->count < 0))
                putf(m->to,
                     aggregate ? "    memset(&%s_b, 0, sizeof %s_b);\n" : "    %s_b = 0;\n",
                     x->name, x->name);
            if (d != NULL && d->kind == DECL_PARAMETER)
                putf(m->to, "    %s = %s;\n", x->name, d->name);
            continue;
        }
        if (d != NULL && d->is_static) continue;
        if (d != NULL && aggregate) { /* it keeps its initialiser */
            putf(m->to, "    %s;\n", one_declaration(d, x->name));
            continue;
        }
        const bool pointer = x->type->kind == TYPE_POINTER;
        putf(m->to, "    %s = 0;\n", assignable(x->type, x->name));
        if (x->holds && (back || pointer))
            putf(m->to, "    %s = 0;\n", shadow_type(x->type, format("%s_b", x->name)));
    }
}

/* Is the last value of a local variable asked for, backwards? */
static bool is_saved(const routine *r, const variable *x) {
    (void)r;
    if (x->cell == NULL || !real_cell(x->cell)->needed || x->again || x->framed) return false;
    return x->type->kind != TYPE_ARRAY && x->type->kind != TYPE_RECORD &&
           !(x->d != NULL && x->d->is_static);
}

static void find_again(routine *r, const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        const bool counts = s->kind == STEP_COUNTED && !s->everywhere;
        if (s->again || counts)
            for (size_t k = 0; k < r->variables.n; k++) {
                variable *const x = r->variables.at[k];
                if (x->cell != NULL && s->to.cell != NULL &&
                    real_cell(x->cell) == real_cell(s->to.cell))
                    x->again = true;
            }
        find_again(r, &s->body);
        find_again(r, &s->other);
    }
}

static bool is_param_assigned(const routine *r, const list *steps, const decl *p) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        const node *const n = s->to.n != NULL ? bare(s->to.n) : NULL;
        if (n != NULL && n->kind == NODE_NAME && n->decl == p) return true;
        if (s->kind == STEP_COUNTED && s->to.name != NULL && same(s->to.name, p->name))
            return true;
        if (is_param_assigned(r, &s->body, p) || is_param_assigned(r, &s->other, p))
            return true;
    }
    return false;
}
static bool assigns(const routine *r, const decl *p) {
    for (size_t i = 0; i < r->stretches.n; i++)
        if (is_param_assigned(r, &((stretch *)r->stretches.at[i])->steps, p)) return true;
    return false;
}

/* Locals and parameters whose last values go over to the way back; `back` takes them. */
static void put_saved(emitter *m, bool back) {
    const routine *const r = m->r;
    list all = {NULL, 0, 0};
    for (size_t i = 0; i < r->variables.n; i++) {
        variable *const x = r->variables.at[i];
        if (is_saved(r, x)) push(&all, x);
    }
    for (size_t i = 0; i < r->v->function->parameters.n; i++) {
        const decl *const p = r->v->function->parameters.at[i];
        cell *const c = r->v->of_decl[p->index];
        if (c == NULL || !real_cell(c)->needed || !assigns(r, p) || real_cell(c)->addressed ||
            p->type->kind == TYPE_RECORD)
            continue;
        variable *const x = arena_get(sizeof *x);
        *x = (variable){.d = p, .name = p->name, .type = p->type, .holds = param_holds(r, p)};
        push(&all, x);
    }
    for (size_t i = 0; i < all.n; i++) {
        const variable *const x = all.at[back ? all.n - 1 - i : i];
        const char *const b =
            x->holds && x->type->kind == TYPE_POINTER ? format("%s_b", x->name) : NULL;
        if (back) put_pop(m->to, "    ", x->name, b, x->type);
        else put_push(m->to, "    ", x->name, b, x->type);
    }
}

static bool is_framed(const routine *r, const decl *p) {
    const variable *const x = table_get(r->names, format("%u", p->number));
    return x != NULL && x->framed;
}

static void put_forward(emitter *m) {
    const routine *const r = m->r;
    const type *const result = r->v->function->type->of;
    const bool returns = result->kind != TYPE_VOID;
    putf(m->to, "%s {\n", signature(r, false));
    if (returns)
        putf(m->to, "    %s%s;\n", declared_as(result, "wgc_result"),
             result->kind == TYPE_REAL || result->kind == TYPE_WHOLE ? " = 0" : "");
    put_locals(m, false);
    if (r->jumps) put(m->to, "    wgc_push_i(wgc_s, 0);\n");
    for (size_t i = 0; i < r->stretches.n; i++) {
        const stretch *const s = r->stretches.at[i];
        if (s->text != NULL) {
            putf(m->to, "    %s\n", s->text);
            continue;
        }
        if (s->steps.n == 0) continue;
        forward(m, &s->steps, "    ");
        if (r->jumps) putf(m->to, "    wgc_push_i(wgc_s, %u);\n", s->number);
    }
    if (r->jumps) put(m->to, "    goto wgc_end;\nwgc_end:;\n");
    put_saved(m, false);
    if (has_frame(r)) put(m->to, "    wgc_push_p(wgc_s, wgc_f);\n");
    putf(m->to, "%s}\n\n", returns ? "    return wgc_result;\n" : "");
}

static void put_backward(emitter *m) {
    const routine *const r = m->r;
    const decl *const f = r->v->function;
    putf(m->to, "%s {\n", signature(r, true));
    if (f->type->of->kind != TYPE_VOID)
        putf(m->to, "    %s;\n", declared_as(f->type->of, "wgc_result"));
    put_locals(m, true);
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (param_holds(r, p) && p->type->kind == TYPE_REAL && !is_framed(r, p))
            putf(m->to, "    %s = 0;\n", shadow_type(p->type, format("%s_b", p->name)));
    }
    put_saved(m, true);
    if (!r->jumps) {
        for (size_t i = r->stretches.n; i-- > 0;)
            backward(m, &((stretch *)r->stretches.at[i])->steps, "    ");
    } else {
        put(m->to,
            "    for (int wgc_more = 1; wgc_more;)\n        switch (wgc_pop_i(wgc_s)) {\n");
        for (size_t i = 0; i < r->stretches.n; i++) {
            const stretch *const s = r->stretches.at[i];
            if (s->text != NULL || s->steps.n == 0) continue;
            putf(m->to, "        case %u: {\n", s->number);
            backward(m, &s->steps, "            ");
            put(m->to, "            break;\n        }\n");
        }
        put(m->to, "        default: wgc_more = 0;\n        }\n");
    }
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!param_holds(r, p) || !is_value(p)) continue;
        const char *const b = format("%s%s_b", is_framed(r, p) ? "wgc_f->" : "", p->name);
        if (p->type->kind == TYPE_REAL) putf(m->to, "    *wgc_%s_b += %s;\n", p->name, b);
        else move_record(m, format("(*wgc_%s_b)", p->name), b, p->type, "    ");
    }
    if (has_frame(r)) put(m->to, "    wgc_unframe(wgc_s, WGC_WORDS(sizeof *wgc_f));\n");
    put(m->to, "}\n\n");
}

/* Is it called by one of the functions? What is in its memory may have been used before, then. */
static bool is_called(const analysis *a, const version *v) {
    for (size_t i = 0; i < a->versions.n; i++) {
        const version *const by = a->versions.at[i];
        for (size_t k = 0; k < by->function->nodes; k++)
            if (by->called[k] != NULL && by->called[k]->like == v) return true;
    }
    return false;
}

/* What else runs the text of a version may lead pointers of it to the same memory, which lead to two in it:
 * its plan is for both. */
static void join_for_plan(cell *a, cell *b) {
    a = real_cell(a), b = real_cell(b);
    if (a == b) return;
    b->joined = a;
    a->addressed |= b->addressed, a->forced |= b->forced;
    a->varied |= b->varied, a->useful |= b->useful, a->active |= b->active;
    if (a->type == NULL) a->type = b->type;
    if (a->target == NULL) a->target = b->target;
    else if (b->target != NULL) join_for_plan(a->target, b->target);
}
static void join_like(const version *v) {
    for (size_t i = 0; i < v->function->nodes; i++)
        for (size_t k = 0; v->of_node[i] != NULL && k < i; k++)
            if (v->of_node[k] != NULL && real_cell(v->of_node[k]) == real_cell(v->of_node[i]) &&
                v->like->of_node[k] != NULL && v->like->of_node[i] != NULL)
                join_for_plan(v->like->of_node[k], v->like->of_node[i]);
}

const char *write_adjoint(writer *w, const file *f, const output *o) {
    text to = {NULL, 0, 0};
    list routines = {NULL, 0, 0};
    (void)o;
    for (size_t i = 0; i < w->a->versions.n; i++) {
        const version *const v = w->a->versions.at[i];
        if (v->touched && v->like != v) join_like(v);
    }
    put_n(&to, f->text, f->n);
    putf(&to, "\n%s%s\n", stack_text, stack_text_more);
    for (size_t i = 0; i < w->a->versions.n; i++) {
        version *const v = w->a->versions.at[i];
        if (!v->touched || v->like != v) continue;
        routine *const r = steps_of(w->a, v);
        if (r->refused) return "";
        push(&routines, r);
    }
    for (size_t i = 0; i < w->a->program->globals.n; i++) {
        const decl *const g = w->a->program->globals.at[i];
        if (w->a->of_decl[g->number] != NULL && holds_variables(w->a->of_decl[g->number])) {
            error_at(
                place_in(g->file, g->at),
                "'%s' depends on the inputs and is global, which no adjoint without a tape has: pass it as an argument",
                g->name);
            return "";
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < routines.n; i++) more |= mark_needed(routines.at[i]);
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < routines.n; i++)
            more |= plan(routines.at[i], ((routine *)routines.at[i])->v == w->a->root &&
                                             !is_called(w->a, w->a->root));
    }
    if (errors_said() != 0) return "";
    for (size_t i = 0; i < routines.n; i++) {
        routine *const r = routines.at[i];
        for (size_t k = 0; k < r->stretches.n; k++)
            find_again(r, &((stretch *)r->stretches.at[k])->steps);
        putf(&to, "%s;\n%s;\n", signature(r, false), signature(r, true));
        put_statics(&(emitter){.r = r, .to = &to});
        put_frame(&(emitter){.r = r, .to = &to});
    }
    put(&to, "\n#pragma GCC diagnostic push\n");
    static const char *const quiet[] = {"unused-parameter", "unused-variable", "unused-but-set-variable", "unused-label",
                                        "implicit-fallthrough"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        putf(&to, "#pragma GCC diagnostic ignored \"-W%s\"\n", quiet[i]);
    for (size_t i = 0; i < routines.n; i++) {
        emitter m = {.r = routines.at[i], .to = &to};
        put_forward(&m);
        put_backward(&m);
    }
    put(&to, "#pragma GCC diagnostic pop\n");
    return text_of(&to);
}
