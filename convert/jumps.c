/* SPDX-License-Identifier: MIT */
/* jumps.c - code that jumps: text around pieces, each a list of steps. */
#include "convert/builder.h"

/* Does a statement leave the list that it stands in otherwise than at its end? */
bool jumps(const node *n) {
    if (n == NULL || is_expression(n)) return false;
    switch (n->kind) {
    case NODE_GOTO:
    case NODE_LABEL:
    case NODE_BREAK:
    case NODE_CONTINUE:
    case NODE_RETURN:
    case NODE_SWITCH:
    case NODE_CASE:
    case NODE_DEFAULT:
        return true;
    default:
        break;
    }
    if ((n->kind == NODE_WHILE && has_effects(n->child[0])) ||
        (n->kind == NODE_DO && has_effects(n->child[1])) ||
        (n->kind == NODE_FOR && n->child[1] != NULL && has_effects(n->child[1])))
        return true;
    for (size_t i = 0; i < n->children; i++)
        if (jumps(n->child[i])) return true;
    return false;
}
static stretch *new_stretch(routine *r, const char *s) {
    stretch *const t = arena_get(sizeof *t);
    t->text = s;
    t->repeated = r->loops != 0;
    push(&r->stretches, t);
    return t;
}
static stretch *piece(routine *r) {
    stretch *const last = r->stretches.n != 0 ? r->stretches.at[r->stretches.n - 1] : NULL;
    return last != NULL && last->text == NULL ? last : new_stretch(r, NULL);
}
static builder here(routine *r, const char *next) {
    return (builder){r, &piece(r)->steps, next};
}

void open_loop(routine *r) {
    if (r->loops == 0) new_stretch(r, "")->opens = true;
    r->loops++;
}

static void flow_condition(routine *r, const node *cond, const char *how) {
    builder b = here(r, NULL);
    pure(&b, cond);
    new_stretch(r, format(how, print(r, cond)));
}

static void flow_loop(routine *r, const node *n) {
    const node *const cond = n->kind == NODE_WHILE ? n->child[0] : n->child[1];
    const node *const body = n->kind == NODE_FOR  ? n->child[3]
                             : n->kind == NODE_DO ? n->child[0]
                                                  : n->child[1];
    const char *const next = n->kind == NODE_WHILE ? NULL : format("wgc_next_%u", ++r->own);
    if (n->kind == NODE_FOR && n->child[0] != NULL) {
        builder b = here(r, NULL);
        statement(&b, n->child[0]);
    }
    open_loop(r);
    new_stretch(r, "for (;;) {");
    if (n->kind != NODE_DO && cond != NULL) flow_condition(r, cond, "if (!(%s)) break;");
    make_jumps(r, body, next);
    if (next != NULL) new_stretch(r, format("goto %s; %s:;", next, next));
    if (n->kind == NODE_FOR && n->child[2] != NULL) {
        builder b = here(r, NULL);
        statement(&b, n->child[2]);
    }
    if (n->kind == NODE_DO) flow_condition(r, cond, "if (!(%s)) break;");
    new_stretch(r, "}");
    r->loops--;
}

void flow_return(routine *r, const node *n) {
    if (n->children != 0 && r->v->function->type->of->kind != TYPE_VOID) {
        builder b = here(r, NULL);
        pure(&b, n->child[0]);
        const target t = {NULL, "wgc_result", r->v->function->type->of,
                          r->v->result != NULL ? real_cell(r->v->result) : NULL, NULL};
        assign_to(&b, &t, n->child[0], "=");
    }
}

void make_jumps(routine *r, const node *n, const char *next) {
    n = without_attributes(n);
    if (n == NULL) return;
    if (!jumps(n)) {
        builder b = here(r, next);
        statement(&b, n);
        return;
    }
    switch (n->kind) {
    case NODE_BLOCK:
        for (size_t i = 0; i < n->children; i++) make_jumps(r, n->child[i], next);
        break;
    case NODE_IF:
        flow_condition(r, n->child[0], "if (%s) {");
        make_jumps(r, n->child[1], next);
        if (n->children > 2) {
            new_stretch(r, "} else {");
            make_jumps(r, n->child[2], next);
        }
        new_stretch(r, "}");
        break;
    case NODE_FOR:
    case NODE_WHILE:
    case NODE_DO:
        flow_loop(r, n);
        break;
    case NODE_SWITCH:
        flow_condition(r, n->child[0], "switch (%s) {");
        make_jumps(r, n->child[1], next);
        new_stretch(r, "}");
        break;
    case NODE_CASE:
        new_stretch(r,
                    n->children == 3 /* GNU's, of a range */
                        ? format("case %s ... %s:;", source(n->child[0]), source(n->child[1]))
                        : format("case %s:;", source(n->child[0])));
        make_jumps(r, n->child[n->children - 1], next);
        break;
    case NODE_DEFAULT:
        new_stretch(r, "default:;");
        make_jumps(r, n->child[0], next);
        break;
    case NODE_LABEL: {
        const tokens *const t = &n->file->tokens;
        const token *const name = &t->at[token_from(t, n->begin)];
        new_stretch(
            r, format("%s:;", copy_text(n->file->text + name->begin, name->end - name->begin)));
        make_jumps(r, n->child[n->children - 1], next);
        break;
    }
    case NODE_BREAK:
        new_stretch(r, "break;");
        break;
    case NODE_CONTINUE:
        new_stretch(r, next != NULL ? format("goto %s;", next) : "continue;");
        break;
    case NODE_GOTO:
        new_stretch(r, format("%s;", source(n)));
        break;
    case NODE_RETURN:
        flow_return(r, n);
        new_stretch(r, "goto wgc_end;");
        break;
    default:
        refuse_node(r, n, "a statement that is not known");
    }
}
