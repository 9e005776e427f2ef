/* SPDX-License-Identifier: MIT */
/* live.c - along the statements that may run next, until all of them have read or
 * overwritten it. */
#include <string.h>
#include "convert/live.h"

typedef enum fate { PASSES, READ, OVERWRITTEN } fate;

static bool text_names(const node *n, const decl *d) {
    const tokens *const t = &n->file->tokens;
    for (size_t i = token_from(t, n->begin); i < t->n && t->at[i].begin < n->end; i++)
        if (t->at[i].kind == TOKEN_WORD && token_is(n->file->text, &t->at[i], d->name))
            return true;
    return false;
}

bool names_it(const node *n, const decl *d) {
    if (n == NULL) return false;
    if (n->by_macro || n->kind == NODE_OPAQUE || n->kind == NODE_OTHER) return text_names(n, d);
    if (n->kind == NODE_NAME) return n->decl == d;
    for (size_t i = 0; i < n->children; i++)
        if (names_it(n->child[i], d)) return true;
    for (size_t i = 0; i < n->decls.n; i++) {
        const decl *const l = n->decls.at[i];
        if (l->init != NULL && names_it(l->init, d)) return true;
    }
    return false;
}

bool is_named_outside(const node *block, size_t first, size_t last, const decl *d) {
    for (const node *n = block, *inner = NULL; n != NULL; inner = n, n = n->parent)
        for (size_t i = 0; i < n->children; i++) {
            const node *const c = n->child[i];
            if (c == NULL || c == inner || (n == block && i >= first && i <= last)) continue;
            if (names_it(c, d)) return true;
        }
    return false;
}

static bool has_kind(const node *n, node_kind k) {
    if (n == NULL) return false;
    if (n->kind == k) return true;
    for (size_t i = 0; i < n->children; i++)
        if (has_kind(n->child[i], k)) return true;
    return false;
}

static fate both(fate a, fate b) { return a == READ || b == READ ? READ : a == b ? a : PASSES; }
static fate then(fate a, const node *n, const decl *d);

/* Does it leave the statement around it otherwise than at its end? */
static bool leaves(const node *n) {
    return has_kind(n, NODE_BREAK) || has_kind(n, NODE_CONTINUE) || has_kind(n, NODE_RETURN);
}

static bool has_label(const node *n) {
    return has_kind(n, NODE_CASE) || has_kind(n, NODE_DEFAULT);
}

static fate fate_of(const node *n, const decl *d) {
    if (n == NULL || !names_it(n, d)) {
        if (n != NULL && n->kind == NODE_DECLARE && list_has(&n->decls, d)) return OVERWRITTEN;
        return PASSES;
    }
    switch (n->kind) {
    case NODE_ASSIGN:
        if (same(n->op, "=") && bare(n->child[0])->kind == NODE_NAME &&
            bare(n->child[0])->decl == d && d->type->kind == TYPE_REAL)
            return names_it(n->child[1], d) ? READ : OVERWRITTEN;
        return READ;
    case NODE_DECLARE: {
        fate f = PASSES;
        for (size_t i = 0; i < n->decls.n && f == PASSES; i++) {
            const decl *const l = n->decls.at[i];
            f = fate_of(l->init, d);
            if (l == d && f == PASSES) f = OVERWRITTEN;
        }
        return f;
    }
    case NODE_BLOCK: {
        fate f = PASSES;
        for (size_t i = 0; i < n->children && f == PASSES; i++) {
            f = fate_of(n->child[i], d);
            if (f == OVERWRITTEN && i > 0) /* if nothing before it has left the block */
                for (size_t k = 0; k < i; k++)
                    if (leaves(n->child[k])) f = READ;
        }
        return f;
    }
    case NODE_IF: {
        const fate c = fate_of(n->child[0], d);
        if (c != PASSES) return c;
        return both(fate_of(n->child[1], d),
                    n->children > 2 ? fate_of(n->child[2], d) : PASSES);
    }
    case NODE_FOR: {
        const fate f = then(fate_of(n->child[0], d), n->child[1], d);
        if (f != PASSES) return f;
        return then(fate_of(n->child[3], d), n->child[2], d) == READ ? READ : PASSES;
    }
    case NODE_SWITCH: {
        const node *const body = n->child[n->children - 1];
        if (body == NULL || body->kind != NODE_BLOCK || names_it(n->child[0], d)) return READ;
        for (size_t i = 0; i < body->children; i++) { /* each may be the first that runs */
            const node *const c = body->child[i];
            if (fate_of(c, d) == READ || (names_it(c, d) && has_label(c))) return READ;
        }
        return PASSES;
    }
    case NODE_WHILE:
    case NODE_DO: {
        fate worst = PASSES;
        for (size_t i = 0; i < n->children; i++)
            if (fate_of(n->child[i], d) == READ) worst = READ;
        return worst;
    }
    case NODE_PAREN:
        return fate_of(n->child[0], d);
    default:
        return READ;
    }
}
static fate then(fate a, const node *n, const decl *d) {
    return a != PASSES ? a : fate_of(n, d);
}

static bool is_loop(const node *n) {
    return n->kind == NODE_FOR || n->kind == NODE_WHILE || n->kind == NODE_DO;
}

/* Is it read where a loop goes round: once more from its head? */
static bool read_in_next_turn(const node *n, const decl *d) {
    for (size_t i = n->kind == NODE_FOR; i < n->children; i++)
        if (fate_of(n->child[i], d) == READ) return true;
    return false;
}

/* Behind n, which has run to its end; `seen`: loops that are gone round already. */
static bool live_behind(const node *n, const decl *d, list *seen);

/* Where a jump out of n may lead. */
static bool live_by_jumps(const node *n, const decl *d, list *seen) {
    const bool breaks = has_kind(n, NODE_BREAK), goes_on = has_kind(n, NODE_CONTINUE);
    const node *p = n->parent;
    bool done_break = !breaks, done_continue = !goes_on;
    for (; p != NULL && !(done_break && done_continue); p = p->parent) {
        if (!done_break && (is_loop(p) || p->kind == NODE_SWITCH)) {
            if (live_behind(p, d, seen)) return true;
            done_break = true;
        }
        if (!done_continue && is_loop(p)) {
            if (read_in_next_turn(p, d) || live_behind(p, d, seen)) return true;
            done_continue = true;
        }
    }
    return false;
}

static bool live_behind(const node *n, const decl *d, list *seen) {
    const node *const p = n->parent;
    if (p == NULL) return false;
    if (p->kind == NODE_BLOCK) {
        size_t i = 0;
        while (i < p->children && p->child[i] != n) i++;
        for (i++; i < p->children; i++) {
            const node *const c = p->child[i];
            if (leaves(c) && live_by_jumps(c, d, seen)) return true;
            const fate f = fate_of(c, d);
            if (f != PASSES) return f == READ;
            if (c->kind == NODE_RETURN) return false;
            if (c->kind == NODE_BREAK || c->kind == NODE_CONTINUE) return false;
        }
        return live_behind(p, d, seen);
    }
    if (is_loop(p)) {
        if (list_has(seen, p)) return false;
        push(seen, (void *)p);
        return read_in_next_turn(p, d) || live_behind(p, d, seen);
    }
    return live_behind(p, d, seen);
}

bool is_live_after(const node *block, size_t last, const decl *d) {
    const node *const body = block->owner != NULL ? block->owner->body : NULL;
    if (body == NULL || has_kind(body, NODE_GOTO) || has_kind(body, NODE_STATEMENTS))
        return true;
    list seen = {NULL, 0, 0};
    return live_behind(block->child[last], d, &seen);
}
