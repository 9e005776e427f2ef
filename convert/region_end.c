/* SPDX-License-Identifier: MIT */
/* region_end.c - a region as a whole: where it begins and ends, what is on the tape then, also
 * where control leaves before. */
#include <string.h>
#include "convert/called.h"
#include "convert/live.h"
#include "convert/region.h"

static const node *last_of(const node *n) {
    while (n != NULL && n->kind == NODE_BLOCK)
        n = n->children != 0 ? n->child[n->children - 1] : NULL;
    return n;
}
bool is_exit(const region *r, const node *n) {
    if (r->depth != 0 || r->frame->caller != NULL || r->turns != NULL || n->children != 2)
        return false;
    const node *const jump = last_of(n->child[1]);
    if (jump == NULL ||
        (jump->kind != NODE_RETURN && jump->kind != NODE_BREAK && jump->kind != NODE_CONTINUE))
        return false;
    const node *const all = n->child[1];
    if (all->kind != NODE_BLOCK) return true;
    for (size_t i = 0; i + 1 < all->children; i++)
        if (has_jump(all->child[i])) return false;
    return all->child[all->children - 1] == jump;
}

/* ---- a region as a whole ----------------------------------------------------------------- */

snapshot save_region(const region *r) {
    snapshot s = {.at = arena_get((r->n + 1) * sizeof *s.at),
                  .n = r->n,
                  .text = r->x.to.n,
                  .before = r->before.n,
                  .bindings = r->frame->bindings.n,
                  .declared = r->declared.n,
                  .own = r->own.n,
                  .records = r->records,
                  .all = r->vertices,
                  .order = r->order,
                  .depth = r->depth,
                  .level = r->level,
                  .frame = r->frame,
                  .turns = r->turns};
    if (r->n != 0) memcpy(s.at, r->at, r->n * sizeof *s.at);
    size_t k = 0;
    for (const level *l = r->level; l != NULL; l = l->outer) s.chains[k++] = l->chain.n;
    return s;
}

static void cut(text *t, size_t n) {
    if (t->s != NULL && t->n >= n) t->s[n] = 0, t->n = n;
}

void restore_region(region *r, const snapshot *s) {
    r->frame = s->frame, r->level = s->level, r->depth = s->depth, r->turns = s->turns;
    r->w->v = r->frame->v;
    r->at = arena_get((s->n + 1) * sizeof *r->at);
    if (s->n != 0) memcpy(r->at, s->at, s->n * sizeof *s->at);
    r->n = r->room = s->n;
    size_t k = 0;
    for (level *l = r->level; l != NULL; l = l->outer) l->chain.n = s->chains[k++];
    cut(&r->x.to, s->text), cut(&r->before, s->before);
    r->frame->bindings.n = s->bindings;
    r->declared.n = s->declared, r->own.n = s->own;
    r->records = s->records, r->vertices = s->all, r->order = s->order;
    r->operands = 0;
    r->failed = false;
    r->frame->returned = false;
    r->guarded = NULL;
}

static const char *place_text(const place *p) { return p->d != NULL ? p->d->name : p->key; }

/* Is an array handed to nobody but functions that are run in the region? */
static bool is_only_indexed(const node *n, const decl *d) {
    if (n == NULL) return true;
    if (n->by_macro) return !names_it(n, d);
    if (n->kind == NODE_NAME && n->decl == d) {
        const node *p = n->parent, *inner = n;
        while (p != NULL && p->kind == NODE_PAREN) inner = p, p = p->parent;
        return p != NULL && ((p->kind == NODE_INDEX && p->child[0] == inner &&
                              p->type->kind != TYPE_ARRAY) ||
                             (p->kind == NODE_CALL && p->child[0] != inner));
    }
    for (size_t i = 0; i < n->children; i++)
        if (!is_only_indexed(n->child[i], d)) return false;
    for (size_t i = 0; i < n->decls.n; i++)
        if (!is_only_indexed(((const decl *)n->decls.at[i])->init, d)) return false;
    return true;
}

/* Does nobody see behind the region what an array holds? */
static bool is_inside(const region *r, size_t first, size_t last, const decl *d) {
    if (is_named_outside(r->block, first, last, d)) return false;
    for (size_t i = first; i <= last; i++)
        if (!is_only_indexed(r->block->child[i], d)) return false;
    return !list_has(&r->loaded, d);
}

static bool is_read_later(const region *r, size_t first, size_t last, const place *p) {
    if (!list_has(&r->loaded, p->d) && !is_named_outside(r->block, first, last, p->d))
        return false;
    return is_live_after(r->block, last, p->d);
}

/* The text so far, with records of what is stored and returned. */
static void put_state(region *r, const bool *stored, text *out) {
    chain *const c = &r->level->chain;
    const frame *const f = r->frame;
    for (size_t i = 0; i < r->n; i++)
        if (stored[i] && r->at[i].now.vertex != NO_VERTEX)
            c->at[r->at[i].now.vertex].kept = true;
    if (f->returned && f->result.value != NULL && f->result.vertex != NO_VERTEX)
        c->at[f->result.vertex].kept = true;
    chain_eliminate(c, &r->x, false);
    const bool by_call = is_seldom(r->w, r->block);
    for (size_t v = 0; v < c->n; v++)
        if (c->at[v].kept && !c->at[v].gone && !c->at[v].leaf)
            chain_record(c, &r->x, (int)v, r->w->tape, by_call);
    put(out, text_of(&r->x.to));
    for (unsigned order = 0; order <= r->order; order++)
        for (size_t i = 0; i < r->n; i++) {
            const place *const p = &r->at[i];
            if (!stored[i] || p->order != order) continue;
            const bool declares = p->d != NULL && list_has(&r->declared, p->d);
            putf(out, "%s%s%s = %s;\n", r->x.indent, declares ? "wg_real " : "", place_text(p),
                 p->now.vertex == NO_VERTEX ? format("wg_constant(%s)", p->now.value)
                                            : c->at[p->now.vertex].handle);
        }
    if (f->returned)
        putf(out, "%sreturn%s;\n", r->x.indent,
             f->plain != NULL                ? format(" %s", f->plain)
             : f->result.value == NULL       ? ""
             : f->result.vertex == NO_VERTEX ? format(" wg_constant(%s)", f->result.value)
                                             : format(" %s", c->at[f->result.vertex].handle));
}

static void finish(region *r, size_t first, size_t last, text *out) {
    const frame *const f = r->frame;
    bool *const stored = arena_get(r->n + 1);
    for (size_t i = 0; i < r->n; i++) {
        const place *const p = &r->at[i];
        stored[i] = p->dirty && *p->key != '@' &&
                    (p->array == NULL || !is_inside(r, first, last, p->array)) &&
                    (p->d == NULL || (!f->returned && is_read_later(r, first, last, p)));
    }
    *out = (text){NULL, 0, 0};
    put_state(r, stored, out);
    for (size_t k = 0; k < r->declared.n; k++) {
        const decl *const d = r->declared.at[k];
        bool done = false;
        for (size_t i = 0; i < r->n; i++) done |= r->at[i].d == d && stored[i];
        if (!done && is_named_outside(r->block, first, last, d))
            putf(out, "%swg_real %s;\n", r->x.indent, d->name);
    }
}

/* What the tape has to have where control leaves is put there, and the region goes on behind
 * it. */
bool run_exit(region *r, const node *n) {
    if (!stands_as_it_is(r, n->child[0])) return false;
    const char *const cond = write_number(r->w, n->child[0]), *const indent = r->x.indent;
    forget_assigned(r, n->child[0]);
    if (r->failed) return false;
    const snapshot s = save_region(r);
    const text whole = r->x.to, before = r->before;
    chain own = r->level->chain;
    r->level->chain = copy_chain(&own);
    r->x.to = (text){NULL, 0, 0};
    r->x.indent = format("%s    ", indent);
    const node *const all = n->child[1], *const jump = last_of(all);
    bool good = true;
    for (size_t i = 0; all->kind == NODE_BLOCK && i + 1 < all->children && good; i++)
        good = run_statement(r, all->child[i]);
    frame *const f = r->frame;
    if (good && jump->kind == NODE_RETURN) good = run_statement(r, jump);
    bool *const stored = arena_get(r->n + 1);
    for (size_t i = 0; good && i < r->n; i++) {
        const place *const p = &r->at[i];
        const bool declares = p->d != NULL && list_has(&r->declared, p->d);
        stored[i] = p->dirty && *p->key != '@' && (p->d == NULL || (!f->returned && !declares));
    }
    text out = {NULL, 0, 0};
    if (good) {
        put_state(r, stored, &out);
        if (!f->returned)
            putf(&out, "%s%s;\n", r->x.indent, jump->kind == NODE_BREAK ? "break" : "continue");
    }
    const size_t records = r->records;
    const char *const declared = /* what the way out has declared before itself */
        r->before.n > before.n ? copy_text(r->before.s + before.n, r->before.n - before.n) : "";
    r->x.to = whole, r->before = before, r->x.indent = indent;
    r->level->chain = own;
    restore_region(r, &s);
    if (!good) return false;
    r->records = records;
    put(&r->before, declared);
    putf(&r->x.to, "%sif (%s) {\n%s%s}\n", indent, cond, text_of(&out), indent);
    return true;
}

static bool has_directive(const file *f, size_t begin, size_t end) {
    size_t low = 0, high = f->tokens.n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (f->tokens.at[middle].begin < begin) low = middle + 1;
        else high = middle;
    }
    for (; low < f->tokens.n && f->tokens.at[low].begin < end; low++)
        if (f->tokens.at[low].kind == TOKEN_DIRECTIVE) return true;
    return false;
}

static size_t column_of(const node *n) {
    size_t at = n->begin;
    while (at > 0 && n->file->text[at - 1] != '\n') at--;
    return at;
}

const char *write_region(writer *w, const node *block, size_t first, size_t *count) {
    if (w->region != NULL) return NULL;
    level top = {.outer = NULL};
    frame f = {.v = w->v};
    const node *const n = block->child[first];
    const size_t line = column_of(n);
    const size_t blanks = strspn(n->file->text + line, " \t");
    region r = {.w = w,
                .block = block,
                .level = &top,
                .frame = &f,
                .x = {.indent = copy_text(n->file->text + line, blanks), .names = &w->names}};
    r.indent = r.x.indent;
    w->region = &r;
    size_t last = first;
    for (; last < block->children && !f.returned; last++) {
        const node *const c = block->child[last];
        const size_t begin = last == first ? c->begin : block->child[last - 1]->end;
        if (c->file != n->file || has_directive(c->file, begin, c->end)) break;
        const snapshot s = save_region(&r);
        const text whole = r.x.to;
        r.operands = 0;
        if (run_statement(&r, block->child[last]) && !r.failed) continue;
        r.x.to = whole;
        r.x.indent = r.indent;
        restore_region(&r, &s);
        break;
    }
    text out;
    if (last > first && top.chain.n != 0) finish(&r, first, last - 1, &out);
    w->region = NULL;
    *count = last - first;
    if (last == first || top.chain.n == 0 || chain_operands(&top.chain) >= r.records)
        return NULL;
    const char *const s = tidied(format("%s%s", text_of(&r.before), text_of(&out)));
    size_t length = strlen(s);
    if (length <= blanks) return "";
    while (length > blanks && s[length - 1] == '\n') length--;
    const node *const end = block->child[last - 1];
    if (end->file->text[end->end] == ';' && s[length - 1] == ';') length--;
    return copy_text(s + blanks, length - blanks);
}
