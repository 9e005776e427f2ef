/* SPDX-License-Identifier: MIT */
/* adjoint.c - the functions that run forwards and back, from steps and a plan. */
#include <string.h>
#include "convert/sweeps.h"

const char *one_declaration(const routine *r, const decl *d, const char *name) {
    const file *const f = d->file;
    const char *const init = d->init != NULL ? print(r, d->init) : "";
    if (strchr(leaf_type(d->type)->spelling, '(') != NULL) { /* of a type without a name */
        const type *const t = leaf_type(d->type);
        const decl *const of = t->kind == TYPE_RECORD ? t->record->definition : NULL;
        const size_t rest = specifiers_end(f, d->begin, d->end);
        const char *const specifiers =
            of == NULL ? copy_text(f->text + d->begin, rest - d->begin)
                       : format("%s%s%s", d->is_static ? "static " : "",
                                is_constant(d->type) ? "const " : "",
                                copy_text(of->file->text + of->begin, of->end - of->begin));
        return format("%s %s", specifiers,
                      replaced(f, d->at, d->end, d->init != NULL ? 2 : 1,
                               (part[]){{d->at, d->at + strlen(d->name), name},
                                        {d->init != NULL ? d->init->begin : 0,
                                         d->init != NULL ? d->init->end : 0, init}}));
    }
    return format("%s%s%s%s%s", d->is_static ? "static " : "",
                  is_constant(d->type) && d->type->kind != TYPE_POINTER ? "const " : "",
                  declared_as(d->type, name), d->init != NULL ? " = " : "", init);
}

static bool is_sized(const variable *x) {
    return x->type->kind == TYPE_ARRAY && x->type->count < 0;
}

/* What stands in the frame, at its beginning; its shadows, where they stand beside it or
 * here. */
static void put_framed(const emitter *m, const variable *x) {
    const routine *const r = m->r;
    const bool aggregate = x->type->kind == TYPE_ARRAY || x->type->kind == TYPE_RECORD;
    if (is_sized(x)) {
        if (m->back) return;
        putf(m->to, "    %s = NULL;\n", x->name);
        if (x->holds) putf(m->to, "    %s_b = NULL;\n", x->name);
        return;
    }
    const char *const b = shadow_name(r, x->name);
    const bool parameter = x->d != NULL && x->d->kind == DECL_PARAMETER;
    const bool handed = parameter && is_handle(r->a, x->type); /* its shadow, too */
    if (x->holds && m->back && !r->shadows && !handed)
        putf(m->to, "    %s;\n", without_const(declared_as(x->type, b)));
    if (x->holds && m->back != r->shadows && !handed)
        putf(m->to, aggregate ? "    memset(&%s, 0, sizeof %s);\n" : "    %s = 0;\n", b, b);
    if (m->back || !parameter) return;
    if (x->holds && handed && r->shadows) putf(m->to, "    %s = %s_b;\n", b, x->d->name);
    putf(m->to, "    %s = %s;\n", x->name, x->d->name);
}

static void put_locals(emitter *m) {
    const routine *const r = m->r;
    if (!r->lends) put_extent(m, &r->frame, "    ");
    for (size_t i = 0; i < r->variables.n; i++) {
        const variable *const x = r->variables.at[i];
        const decl *const d = x->d;
        const bool aggregate = x->type->kind == TYPE_ARRAY || x->type->kind == TYPE_RECORD;
        if (x->framed) {
            put_framed(m, x);
            continue;
        }
        if (d != NULL && d->is_static) continue;
        if (d != NULL && aggregate) { /* it keeps its initialiser */
            putf(m->to, "    %s;\n", one_declaration(r, d, x->name));
            continue;
        }
        const bool pointer = x->type->kind == TYPE_POINTER;
        putf(m->to, "    %s = 0;\n", assignable(x->type, x->name));
        if (x->holds && (m->back || (pointer && r->shadows)))
            putf(m->to, "    %s = 0;\n", shadow_type(x->type, shadow_name(r, x->name)));
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
        if (s->kind != STEP_COPY && s->kind != STEP_SORT && n != NULL && n->kind == NODE_NAME &&
            n->decl == p)
            return true; /* a copy goes where it leads */
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

/* Locals and parameters whose last values go over to the way back. */
static void find_saved(routine *r) {
    for (size_t i = 0; i < r->stretches.n; i++)
        find_again(r, &((stretch *)r->stretches.at[i])->steps);
    for (size_t i = 0; i < r->variables.n + r->v->function->parameters.n; i++) {
        const variable *of;
        if (i < r->variables.n) {
            of = r->variables.at[i];
            if (!is_saved(r, of)) continue;
        } else {
            const decl *const p = r->v->function->parameters.at[i - r->variables.n];
            cell *const c = r->v->of_decl[p->index];
            if (c == NULL || !real_cell(c)->needed || !assigns(r, p) ||
                real_cell(c)->addressed || p->type->kind == TYPE_RECORD)
                continue;
            variable *const x = arena_get(sizeof *x);
            *x = (variable){
                .d = p, .name = p->name, .type = p->type, .holds = param_holds(r, p)};
            of = x;
        }
        saved *const x = arena_get(sizeof *x);
        x->of = of;
        push(&r->saved, x);
    }
}
static void put_saved(emitter *m) {
    for (size_t i = 0; i < m->r->saved.n; i++) {
        const saved *const x = m->r->saved.at[i];
        const char *const name = x->of->name;
        if (m->back) put_restore(m->to, "    ", name, x->kept, x->of->type);
        else put_keep(m->to, "    ", x->kept, name, x->of->type);
        if (x->kept_shadow == NULL) continue;
        const char *const b = shadow_name(m->r, name);
        if (m->back) putf(m->to, "    %s = wgc_pointer(%s);\n", b, x->kept_shadow);
        else putf(m->to, "    %s = %s;\n", x->kept_shadow, b);
    }
}

/* Does the way there need shadows: to keep a pointer with that of what it leads to? */
static bool needs_shadows(const routine *r, const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        const bool pointer = is_kind(s->to.type, TYPE_POINTER) && target_holds(s);
        if (s->kind == STEP_CALL) {
            if (pointer || routine_of(r, s->callee)->shadows) return true;
        } else if (s->kind == STEP_ASSIGN && pointer && !s->again) return true;
        if (needs_shadows(r, &s->body) || needs_shadows(r, &s->other)) return true;
    }
    return false;
}
static void find_shadows(const list *routines) {
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < routines->n; i++) {
            routine *const r = routines->at[i];
            bool needs = r->v == r->a->root || gives_pointer(r->v);
            for (size_t k = 0; k < r->stretches.n; k++)
                needs |= needs_shadows(r, &((stretch *)r->stretches.at[k])->steps);
            more |= needs != r->shadows;
            r->shadows = needs;
        }
    }
}

static bool is_framed(const routine *r, const decl *p) {
    const variable *const x = table_get(r->names, format("%u", p->number));
    return x != NULL && x->framed;
}

/* A piece that is run many times says so. */
static void put_piece(emitter *m, const stretch *s) {
    if (s->steps.n == 0) return;
    put(m->to, "    {\n");
    put_extent(m, s->turn, "        ");
    forward(m, &s->steps, "        ");
    end_extent(m, s->turn, "        ");
    if (!is_idle(&s->steps)) putf(m->to, "        wgc_push_i(wgc_s, %u);\n", s->number);
    put(m->to, "    }\n");
}

static void put_forward(emitter *m) {
    const routine *const r = m->r;
    const type *const result = r->v->function->type->of;
    const bool returns = result->kind != TYPE_VOID;
    m->back = false;
    putf(m->to, "%s {\n", signature(r, false));
    if (returns)
        putf(m->to, "    %s%s;\n", declared_as(result, "wgc_result"),
             result->kind == TYPE_RECORD ? "" : " = 0");
    if (gives_pointer(r->v)) putf(m->to, "    %s = 0;\n", shadow_type(result, "wgc_result_b"));
    put_locals(m);
    for (size_t i = 0; i < r->stretches.n; i++) {
        const stretch *const s = r->stretches.at[i];
        if (s->noted != NULL) putf(m->to, "    %s = 0;\n", s->noted);
    }
    for (size_t i = 0; i < r->stretches.n; i++) {
        const stretch *const s = r->stretches.at[i];
        if (s->opens) putf(m->to, "    %s = 1;\n    wgc_push_i(wgc_s, 0);\n", s->noted);
        else if (s->text != NULL) putf(m->to, "    %s\n", s->text);
        else if (s->repeated) put_piece(m, s);
        else {
            if (s->noted != NULL) putf(m->to, "    %s = 1;\n", s->noted);
            forward(m, &s->steps, "    ");
        }
    }
    if (r->jumps) put(m->to, "    goto wgc_end;\nwgc_end:;\n");
    put_saved(m);
    if (gives_pointer(r->v)) put(m->to, "    *wgc_result_to = wgc_result_b;\n");
    if (!r->lends) end_extent(m, &r->frame, "    ");
    putf(m->to, "%s}\n\n", returns ? "    return wgc_result;\n" : "");
}

/* Pieces that were run in any order, from behind the last one; gives where they begin. */
static size_t put_pieces_back(emitter *m, size_t last) {
    const routine *const r = m->r;
    size_t first = last;
    while (!((stretch *)r->stretches.at[first])->opens) first--;
    putf(m->to,
         "    for (int wgc_more = %s != 0; wgc_more;)\n        switch (wgc_pop_i(wgc_s)) {\n",
         ((stretch *)r->stretches.at[first])->noted);
    for (size_t i = first + 1; i <= last; i++) {
        const stretch *const s = r->stretches.at[i];
        if (s->text != NULL || is_idle(&s->steps)) continue;
        putf(m->to, "        case %u: {\n", s->number);
        put_extent(m, s->turn, "            ");
        backward(m, &s->steps, "            ");
        end_extent(m, s->turn, "            ");
        put(m->to, "            break;\n        }\n");
    }
    put(m->to, "        default: wgc_more = 0;\n        }\n");
    return first;
}

static void put_stretches_back(emitter *m) {
    const routine *const r = m->r;
    for (size_t i = r->stretches.n; i-- > 0;) {
        const stretch *const s = r->stretches.at[i];
        if (s->repeated) i = put_pieces_back(m, i);
        else if (s->text == NULL && s->noted == NULL) backward(m, &s->steps, "    ");
        else if (s->text == NULL) {
            putf(m->to, "    if (%s != 0) {\n", s->noted);
            backward(m, &s->steps, "        ");
            put(m->to, "    }\n");
        }
    }
}

static void put_backward(emitter *m) {
    const routine *const r = m->r;
    const decl *const f = r->v->function;
    m->back = true;
    putf(m->to, "%s {\n", signature(r, true));
    if (f->type->of->kind != TYPE_VOID)
        putf(m->to, "    %s;\n", declared_as(f->type->of, "wgc_result"));
    if (gives_pointer(r->v))
        putf(m->to, "    %s = 0;\n", shadow_type(f->type->of, "wgc_result_b"));
    put_locals(m);
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (param_holds(r, p) && p->type->kind == TYPE_REAL && !is_framed(r, p))
            putf(m->to, "    %s = 0;\n", shadow_type(p->type, format("%s_b", p->name)));
    }
    put_saved(m);
    put_stretches_back(m);
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!param_holds(r, p) || !is_value(r->a, p->type)) continue;
        const char *const b =
            shadow_name(r, format("%s%s", is_framed(r, p) ? "wgc_f->" : "", p->name));
        if (p->type->kind == TYPE_REAL) putf(m->to, "    *wgc_%s_b += %s;\n", p->name, b);
        else move_record(m, format("(*wgc_%s_b)", p->name), b, p->type, "    ");
    }
    if (!r->lends) end_extent(m, &r->frame, "    ");
    put(m->to, "}\n\n");
}

/* What else runs the text of a version may lead pointers of it to the same memory, which lead
 * to two in it: its plan is for both. */
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
    const size_t n = v->function->nodes;
    for (size_t i = 0; i < n; i++) {
        if (v->of_node[i] == NULL || v->like->of_node[i] == NULL) continue;
        cell *const c = real_cell(v->of_node[i]);
        if (c->number == 0) c->number = (unsigned)i + 1; /* the first one of this memory */
        else join_for_plan(v->like->of_node[c->number - 1], v->like->of_node[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (v->of_node[i] != NULL) real_cell(v->of_node[i])->number = 0;
}

/* Which routines others call than those of their file? */
static void find_shared(const routine *by, const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if (s->kind == STEP_CALL) {
            routine *const r = routine_of(by, s->callee);
            r->shared |= r->home != by->home;
        }
        find_shared(by, &s->body);
        find_shared(by, &s->other);
    }
}

/* The routines of all that has to do with variables; NULL, when one is refused. */
static list *routines_of(analysis *a) {
    for (size_t i = 0; i < a->versions.n; i++) {
        const version *const v = a->versions.at[i];
        if (v->touched && v->like != v) join_like(v);
    }
    list reached = {NULL, 0, 0}, likes = {NULL, 0, 0};
    push(&reached, a->root);
    find_reached(a->root, a->root->function->body, &reached);
    for (size_t i = 0; i < reached.n; i++) push(&likes, ((version *)reached.at[i])->like);
    list *const all = arena_get(sizeof *all);
    for (size_t i = 0; i < a->versions.n; i++) {
        version *const v = a->versions.at[i];
        if (!v->touched || v->like != v || !list_has(&likes, v)) continue;
        routine *const r = steps_of(a, v);
        if (r->refused) return NULL;
        r->all = all;
        find_results(r);
        push(all, r);
    }
    return all;
}

bool make_adjoint(writer *w, list *routines) {
    list *all;
    for (bool planned = false; !planned;) {
        all = routines_of(w->a);
        if (all == NULL) return false;
        planned = plan(all);
        if (errors_said() != 0) return false;
        if (!planned) name_versions(w->a);
    }
    find_shadows(all);
    for (size_t i = 0; i < all->n; i++) {
        routine *const r = all->at[i];
        for (size_t k = 0; k < r->stretches.n; k++)
            find_shared(r, &((stretch *)r->stretches.at[k])->steps);
        find_saved(r);
    }
    lay_out_all(all, routines);
    return true;
}

static bool calls(const list *steps, const version *v) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if ((s->kind == STEP_CALL && s->callee == v) || calls(&s->body, v) ||
            calls(&s->other, v))
            return true;
    }
    return false;
}
static bool is_called_in(const list *routines, const file *f, const routine *r) {
    for (size_t i = 0; i < routines->n; i++) {
        const routine *const by = routines->at[i];
        for (size_t k = 0; by->home == f && k < by->stretches.n; k++)
            if (calls(&((stretch *)by->stretches.at[k])->steps, r->v)) return true;
    }
    return false;
}

static bool has_steps(const list *steps, step_kind kind) {
    for (size_t i = 0; i < steps->n; i++) {
        const step *const s = steps->at[i];
        if (s->kind == kind || has_steps(&s->body, kind) || has_steps(&s->other, kind))
            return true;
    }
    return false;
}
static bool file_has_steps(const list *routines, const file *f, step_kind kind) {
    for (size_t i = 0; i < routines->n; i++) {
        const routine *const r = routines->at[i];
        for (size_t k = 0; r->home == f && k < r->stretches.n; k++)
            if (has_steps(&((stretch *)r->stretches.at[k])->steps, kind)) return true;
    }
    return false;
}

const char *write_adjoint(const list *routines, const file *f) {
    text to = {NULL, 0, 0}, begin = {NULL, 0, 0}, end = {NULL, 0, 0};
    bool alone = true;
    for (size_t i = 0; i < routines->n; i++) alone &= ((routine *)routines->at[i])->home == f;
    const analysis *const a = ((const routine *)routines->at[0])->a;
    const size_t place = headers_place(f);
    put_n(&to, f->text, place);
    put_headers(
        a->program, f,
        "#include <math.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
        "#include <string.h>\n#include <wengert.h>\n",
        &to);
    put_n(&to, f->text + place, f->n - place);
    putf(&to, "\n%s\n",
         stack_definition(file_has_steps(routines, f, STEP_SORT),
                          file_has_steps(routines, f, STEP_ROUTINE)));
    put_local_types(routines, f, &to);
    for (size_t i = 0; i < routines->n; i++) {
        routine *const r = routines->at[i];
        if (r->home == f) put(&to, text_of(&r->types));
    }
    for (size_t i = 0; i < routines->n; i++) {
        routine *const r = routines->at[i];
        if (r->home == f || is_called_in(routines, f, r))
            putf(&to, "%s;\n%s;\n", signature(r, false), signature(r, true));
        if (r->home == f) put_statics(&(emitter){.r = r, .to = &to}, &begin);
    }
    put_globals(routines, f, alone, &to, &begin, &end);
    if (errors_said() != 0) return "";
    put_around(routines, f, "begin", text_of(&begin), &to);
    put_around(routines, f, "end", text_of(&end), &to);
    put(&to, "\n#pragma GCC diagnostic push\n");
    static const char *const quiet[] = {
        "unused-parameter",         "unused-variable", "unused-but-set-variable",
        "unused-but-set-parameter", "unused-label",    "implicit-fallthrough"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        putf(&to, "#pragma GCC diagnostic ignored \"-W%s\"\n", quiet[i]);
    for (size_t i = 0; i < routines->n; i++) {
        emitter m = {.r = routines->at[i], .to = &to};
        if (m.r->home != f) continue;
        put_forward(&m);
        put_backward(&m);
    }
    put(&to, "#pragma GCC diagnostic pop\n");
    return text_of(&to);
}
