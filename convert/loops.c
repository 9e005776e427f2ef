/* SPDX-License-Identifier: MIT */
/* loops.c - loops that comments name, their heads, and the text around their bodies. */
#include <string.h>
#include "convert/cells.h"
#include "convert/loops.h"
#include "convert/region.h"

/* ---- the comments ------------------------------------------------------------------------ */

static node *loop_at(node *n, size_t begin) {
    if (n == NULL || n->begin > begin || n->end <= begin) return NULL;
    if (n->kind == NODE_FOR && n->begin == begin) return n;
    node *found = NULL;
    for (size_t i = 0; i < n->children && found == NULL; i++)
        found = loop_at(n->child[i], begin);
    return found;
}

void mark_loops(analysis *a) {
    for (size_t i = 0; i < a->program->files.n; i++) {
        const file *const f = a->program->files.at[i];
        for (size_t k = 0; k < f->tokens.n; k++) {
            const int what = said_of_loop(f, &f->tokens.at[k]);
            if (what == LOOP_PLAIN) continue;
            const size_t behind = token_from(&f->tokens, f->tokens.at[k].end);
            node *loop = NULL;
            for (size_t j = 0; j < a->program->functions.n && behind < f->tokens.n; j++) {
                const decl *const d = a->program->functions.at[j];
                if (d->file == f && loop == NULL)
                    loop = loop_at(d->body, f->tokens.at[behind].begin);
            }
            a->loops = true;
            if (loop != NULL) loop->loop = what;
            else
                error_at(place_in(f, f->tokens.at[k].begin),
                         "wengert: %s stands before a for loop",
                         what == LOOP_MAP ? "map" : "scan");
        }
    }
}

bool is_recorded_loop(const writer *w, const node *n) {
    return n->kind == NODE_FOR && n->loop != LOOP_PLAIN && !w->generic && !w->blocks;
}

/* ---- the head ---------------------------------------------------------------------------- */

static bool refuse_head(const node *n, const char *why) {
    error_at(place_of(n), "this loop cannot be one record: %s", why);
    return false;
}

static bool is_counter(const node *n, const decl *d) {
    return bare(n)->kind == NODE_NAME && bare(n)->decl == d;
}

static const decl *counter_of(const node *init) {
    if (init == NULL) return NULL;
    if (init->kind == NODE_DECLARE && init->decls.n == 1) return init->decls.at[0];
    if (init->kind == NODE_ASSIGN && same(init->op, "=") &&
        bare(init->child[0])->kind == NODE_NAME)
        return bare(init->child[0])->decl;
    return NULL;
}

/* By which number the counter grows; NULL: by 1. False: it does something else. */
static bool grows_by(const node *step, const decl *d, const node **by) {
    *by = NULL;
    if (step == NULL) return false;
    step = bare(step);
    if (step->kind == NODE_UNARY && (same(step->op, "++") || same(step->op, "--")))
        return is_counter(step->child[0], d);
    if (step->kind != NODE_ASSIGN || !(same(step->op, "+=") || same(step->op, "-=")) ||
        !is_counter(step->child[0], d))
        return false;
    *by = step->child[1];
    return true;
}

static bool check_head(turn *t) {
    const node *const n = t->loop, *const cond = n->child[1] != NULL ? bare(n->child[1]) : NULL,
                      *by;
    const decl *const d = counter_of(n->child[0]);
    if (n->by_macro) return refuse_head(n, "it is a macro's");
    if (d == NULL || d->type->kind != TYPE_WHOLE || d->owner != t->v->function ||
        d->is_static || starts_with(d->type->spelling, "unsigned char") ||
        starts_with(d->type->spelling, "unsigned short"))
        return refuse_head(n,
                           "its head begins with i = .., a whole number of the function's own");
    static const char *const small[] = {"char",    "signed char", "short",    "_Bool",
                                        "uint8_t", "int8_t",      "uint16_t", "int16_t"};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (same(d->type->spelling, small[i]))
            return refuse_head(n, "its counter is of a small type");
    cell *const c = cell_of(t->w->a, t->v, d);
    if (c != NULL && real_cell(c)->addressed)
        return refuse_head(n, "something points to its counter");
    t->counter = d;
    t->course[d->index] = GROWS;
    if (cond == NULL || cond->kind != NODE_BINARY ||
        !(same(cond->op, "<") || same(cond->op, "<=") || same(cond->op, ">") ||
          same(cond->op, ">=")) ||
        !is_counter(cond->child[0], d) || course_of(t, cond->child[1]) != SAME)
        return refuse_head(
            n, "its head goes on as i < .. (or <=, >, >=), a whole number that stays as it is");
    if (!grows_by(n->child[2], d, &by) || (by != NULL && course_of(t, by) != SAME))
        return refuse_head(
            n,
            "its head ends with i++, i--, i += .. or i -= .., a whole number that stays as it is");
    return true;
}

/* ---- what is each turn's own ------------------------------------------------------------- */

static bool names(const node *n, const decl *d) {
    if (n == NULL) return false;
    if (n->kind == NODE_NAME && n->decl == d) return true;
    for (size_t i = 0; i < n->children; i++)
        if (names(n->child[i], d)) return true;
    for (size_t i = 0; i < n->decls.n; i++)
        if (names(((const decl *)n->decls.at[i])->init, d)) return true;
    return false;
}

/* How often d is named outside of the loop, but for free(d). */
static size_t named_outside(const node *n, const node *loop, const decl *d) {
    if (n == NULL || n == loop) return 0;
    if (n->kind == NODE_NAME) return n->decl == d;
    if (n->kind == NODE_CALL && n->children == 2 && bare(n->child[0])->kind == NODE_NAME &&
        same(bare(n->child[0])->decl->name, "free") && bare(n->child[1])->kind == NODE_NAME)
        return 0;
    size_t k = 0;
    for (size_t i = 0; i < n->children; i++) k += named_outside(n->child[i], loop, d);
    for (size_t i = 0; i < n->decls.n; i++)
        k += named_outside(((const decl *)n->decls.at[i])->init, loop, d);
    return k;
}

/* Is it a whole number that is the same wherever the function is? */
static bool is_fixed(const node *body, const node *n) {
    if (n->by_macro && n->kind != NODE_NAME) return *macro_number(n) != 0;
    if (n->kind == NODE_NAME) {
        const decl *const d = n->decl;
        if (d->kind == DECL_CONSTANT) return true;
        return d->kind == DECL_PARAMETER && d->type->kind == TYPE_WHOLE && !assigns_to(body, d);
    }
    if (n->kind != NODE_NUMBER && n->kind != NODE_PAREN && n->kind != NODE_BINARY &&
        n->kind != NODE_SIZEOF && n->kind != NODE_CAST)
        return false;
    for (size_t i = 0; i < n->children; i++)
        if (!is_fixed(body, n->child[i])) return false;
    return true;
}

/* The bytes that malloc was asked for; NULL: it is something else. */
static const char *bytes_of(writer *w, const node *body, const node *n) {
    while (n->kind == NODE_PAREN || n->kind == NODE_CAST) n = n->child[0];
    if (n->kind != NODE_CALL || bare(n->child[0])->kind != NODE_NAME) return NULL;
    const char *const name = bare(n->child[0])->decl->name;
    if (!same(name, "malloc") || n->children != 2) return NULL;
    const bool before = w->bytes;
    w->bytes = true;
    const char *const bytes = is_fixed(body, n->child[1]) ? write_number(w, n->child[1]) : NULL;
    w->bytes = before;
    return bytes;
}

/* Numbers, arrays and memory that stand outside and are used by the loop only. */
static const char *privates(turn *t) {
    const decl *const f = t->v->function;
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < f->locals.n; i++) {
        const decl *const d = f->locals.at[i];
        if (d->is_static || leaf_type(d->type)->kind != TYPE_REAL || is_of_turn(t, d) ||
            declared_in(t->loop, d) || !names(t->loop, d) ||
            named_outside(f->body, t->loop, d) != 0)
            continue;
        /* what has a value before the first turn may be read there, or be the state of a
         * scan */
        if (d->init != NULL && d->type->kind != TYPE_POINTER) continue;
        if (d->type->kind == TYPE_REAL || d->type->kind == TYPE_ARRAY)
            putf(&to, " wg_turns_private(wgc_turns, &%s, sizeof %s);", d->name, d->name);
        const char *const bytes = d->type->kind == TYPE_POINTER && d->init != NULL
                                      ? bytes_of(t->w, f->body, d->init)
                                      : NULL;
        if (bytes != NULL && !assigns_to(f->body, d))
            putf(&to, " wg_turns_private(wgc_turns, %s, %s);", d->name, bytes);
    }
    return text_of(&to);
}

/* ---- the text ---------------------------------------------------------------------------- */

const char *write_loop(writer *w, const node *n) {
    const decl *const f = w->v->function;
    turn t = {.w = w, .v = w->v, .loop = n};
    t.course = arena_get(f->parameters.n + f->locals.n + 1);
    if (!check_head(&t) || !check_turn(&t, n->child[3])) return source(n);
    const node *const body = n->child[3];
    const char *const head = replaced(
        n->file, n->begin, body->begin, 3,
        (part[]){{n->child[0]->begin, n->child[0]->end, write_statement(w, n->child[0])},
                 {n->child[1]->begin, n->child[1]->end, write_number(w, n->child[1])},
                 {n->child[2]->begin, n->child[2]->end, write_number(w, n->child[2])}});
    const char *const where = place_of(n), *const slash = strrchr(where, '/');
    const char *const own = privates(&t), *turn_text = write_turn(&t, body);
    const char *const flags =
        n->loop == LOOP_SCAN
            ? (t.each ? "WG_TURNS_CARRIED | WG_TURNS_EACH" : "WG_TURNS_CARRIED")
            : (t.each ? "WG_TURNS_EACH" : "0");
    if (body->kind != NODE_BLOCK) turn_text = format("%s;", turn_text);
    if (*own != 0) turn_text = format("{%s %s }", own, turn_text);
    return format(
        "{ static char wgc_site; wg_turns *const wgc_turns = wg_turns_begin(%s, &wgc_site, \"%s\", %s);\n"
        "    %sif (wg_turns_next(wgc_turns)) %s\n"
        "    (void)wg_turns_end(wgc_turns); }",
        w->tape, slash != NULL ? slash + 1 : where, flags, head, turn_text);
}

const char *turn_function_name(turn *t, version *v, const node *call) {
    writer *const w = t->w;
    const size_t n = v->function->parameters.n;
    unsigned char *const courses = arena_get(n + 1);
    for (size_t i = 0; i < n; i++) {
        const decl *const p = v->function->parameters.at[i];
        courses[i] = (unsigned char)argument_course(t, p, call->child[i + 1]);
    }
    for (size_t i = 0; i < w->turns.n; i++) {
        const turn_function *const f = w->turns.at[i];
        if (f->v == v && memcmp(f->course, courses, n) == 0) return f->name;
    }
    turn_function *const f = arena_get(sizeof *f);
    *f = (turn_function){v, courses, format("%s_turn%zu", v->function->name, w->turns.n)};
    push(&w->turns, f);
    return f->name;
}

/* static wg_real f_turn0(wg_turns *wgc_turns, int n, const wg_real *x) */
static const char *signature(writer *w, const turn_function *f) {
    const decl *const d = f->v->function;
    text to = {NULL, 0, 0};
    putf(&to, "static %s %s(wg_turns *wgc_turns",
         d->type->of->kind == TYPE_VOID ? "void" : "wg_real", f->name);
    for (size_t i = 0; i < d->parameters.n; i++) {
        const decl *const p = d->parameters.at[i];
        cell *const c = f->v->of_decl[p->index];
        if (p->type->kind == TYPE_REAL) putf(&to, ", wg_real %s", p->name);
        else if (c != NULL && holds_variables(c))
            putf(&to, ", %s", retyped(w, p->file, p->begin, p->end));
        else putf(&to, ", %s", copy_text(p->file->text + p->begin, p->end - p->begin));
    }
    put(&to, ")");
    return text_of(&to);
}

const char *turn_functions(writer *w) {
    text before = {NULL, 0, 0}, to = {NULL, 0, 0};
    version *const v = w->v;
    for (; w->turns_written < w->turns.n; w->turns_written++) { /* they may need more */
        const turn_function *const f = w->turns.at[w->turns_written];
        w->v = f->v;
        turn t = {.w = w, .v = f->v};
        const decl *const d = f->v->function;
        t.course = arena_get(d->parameters.n + d->locals.n + 1);
        for (size_t i = 0; i < d->parameters.n; i++)
            t.course[((const decl *)d->parameters.at[i])->index] = f->course[i];
        while (follow(&t, d->body)) {
        }
        const char *const head = signature(w, f), *const body = write_turn(&t, d->body);
        putf(&before, "%s;\n", head);
        putf(&to, "%s {\n    (void)wgc_turns;%s\n\n", head, body + 1);
    }
    w->v = v;
    return before.n == 0 ? "" : format("%s\n%s", text_of(&before), text_of(&to));
}
