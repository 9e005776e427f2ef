/* SPDX-License-Identifier: MIT */
/* place.c - the places that a region reads and assigns to: which is which, and what each
 * holds now. */
#include <stdlib.h>
#include <string.h>
#include "convert/front.h"
#include "convert/region.h"

number fails(region *r) {
    r->failed = true;
    return (number){"0", NO_VERTEX, 0};
}

binding *bound(const region *r, const decl *d) {
    const list *const all = &r->frame->bindings;
    for (size_t i = all->n; i-- > 0;)
        if (((binding *)all->at[i])->d == d) return all->at[i];
    return NULL;
}

/* The digits that a macro without arguments stands for; "": it is not known. */
const char *macro_number(const node *n) {
    const list *const all = &n->file->invocations;
    for (size_t i = 0; i < all->n; i++) {
        const invocation *const v = all->at[i];
        if (v->begin != n->begin || v->end != n->end || v->with_arguments || v->macro == NULL)
            continue;
        const char *s = v->macro->body;
        while (*s == '(' || *s == ' ') s++;
        const size_t k = strspn(s, "0123456789");
        return s[k + strspn(s + k, ") ")] == 0 ? copy_text(s, k) : "";
    }
    return "";
}

bool known_integer(const region *r, const node *n, long *is) {
    n = bare(n);
    long a, b;
    if (n->type == NULL || n->type->kind != TYPE_WHOLE) return false;
    if (n->kind == NODE_NUMBER || n->by_macro) {
        const char *const s = n->by_macro ? macro_number(n) : source(n);
        const size_t k = strspn(s, "0123456789");
        if (k == 0 || k > 8 || s[k] != 0 || (s[0] == '0' && k > 1)) return false;
        *is = strtol(s, NULL, 10);
        return true;
    }
    if (n->kind == NODE_NAME) {
        const binding *const x = bound(r, n->decl);
        if (x != NULL && x->constant) *is = x->is;
        return x != NULL && x->constant;
    }
    if (n->kind == NODE_UNARY && same(n->op, "-") && known_integer(r, n->child[0], &a)) {
        *is = -a;
        return true;
    }
    if (n->kind != NODE_BINARY || strchr("+-*", *n->op) == NULL || n->op[1] != 0 ||
        !known_integer(r, n->child[0], &a) || !known_integer(r, n->child[1], &b))
        return false;
    *is = *n->op == '+' ? a + b : *n->op == '-' ? a - b : a * b;
    return *is > -100000000 && *is < 100000000;
}

const char *known_text(const type *t, long is) {
    const char *const name = t->spelling + (starts_with(t->spelling, "const ") ? 6 : 0);
    return same(name, "int") && is >= 0 ? format("%ld", is) : format("((%s)%ld)", name, is);
}

/* Names and numbers of an expression whose value is the same each time. */
static bool is_steady(const node *n) {
    if (n->by_macro || n->kind == NODE_CALL || n->kind == NODE_ASSIGN ||
        n->kind == NODE_STATEMENTS || n->kind == NODE_OPAQUE ||
        (n->kind == NODE_UNARY && (same(n->op, "++") || same(n->op, "--"))))
        return false;
    for (size_t i = 0; i < n->children; i++)
        if (!is_steady(n->child[i])) return false;
    return true;
}

/* Remembers names in an index whose numbers may be changed otherwise than by these. */
static void note_shared(region *r, const node *n) {
    if (n->kind == NODE_NAME && n->decl != NULL) {
        const decl *const d = n->decl;
        cell *const c = cell_of(r->w->a, r->w->v, d);
        const bool own = d->owner != NULL && !d->is_static && (c == NULL || !c->addressed);
        if (!own) push(&r->shared, (void *)d->name);
    }
    for (size_t i = 0; i < n->children; i++) note_shared(r, n->child[i]);
}

/* An index as a symbol and a number. */
static bool split_index(region *r, const node *n, const char **symbol, long *offset) {
    n = bare(n);
    *symbol = NULL;
    if (known_integer(r, n, offset)) return true;
    *offset = 0;
    if (n->kind == NODE_BINARY && (same(n->op, "+") || same(n->op, "-"))) {
        long k;
        if (known_integer(r, n->child[1], &k)) {
            if (!split_index(r, n->child[0], symbol, offset)) return false;
            *offset += *n->op == '+' ? k : -k;
            return true;
        }
        if (*n->op == '+' && known_integer(r, n->child[0], &k)) {
            if (!split_index(r, n->child[1], symbol, offset)) return false;
            *offset += k;
            return true;
        }
    }
    if (!is_steady(n)) return false;
    *symbol = write_number(r->w, n);
    note_shared(r, n);
    return !r->failed;
}

static const char *in_parentheses(const char *s) {
    for (const char *p = s; *p; p++)
        if (strchr("+-*/%?<>=&|^ ", *p) != NULL) return format("(%s)", s);
    return s;
}

static const char *index_text(const char *symbol, long offset) {
    if (symbol == NULL) return format("%ld", offset);
    if (offset == 0) return symbol;
    return format("%s %c %ld", in_parentheses(symbol), offset < 0 ? '-' : '+', labs(offset));
}

static bool add_index(address *p, const char *symbol, long offset) {
    p->offset += offset;
    if (symbol == NULL) return true;
    if (p->symbol == NULL) {
        p->symbol = symbol;
        return true;
    }
    p->symbol = format("%s + %s", in_parentheses(p->symbol), in_parentheses(symbol));
    return true;
}

/* Is it of the region only: of a function that is run in it, or declared in a block of its
 * own? */
static bool is_own(const region *r, const decl *d) {
    return d->owner != NULL && (r->frame->caller != NULL || list_has(&r->own, d));
}
static const char *own_key(const region *r, const decl *d) {
    return format("@%u_%s_%u", r->frame->number, d->name, d->number);
}

/* The text of an object that is no number: a structure, an array. */
static bool find_object(region *r, const node *n, const char **key, bool *object);

static bool element(const address *p, place *to) {
    if (p->text == NULL) {
        if (p->symbol != NULL || p->offset != 0) return false;
        to->key = p->object;
        to->root = NULL;
        to->object = p->array;
        to->array = p->d;
        return true;
    }
    if (*p->text == '@' && p->symbol != NULL) return false;
    to->key = format("%s[%s]", p->text, index_text(p->symbol, p->offset));
    to->root = p->text, to->symbol = p->symbol, to->offset = p->offset, to->object = p->array;
    to->array = p->d;
    return true;
}

bool find_pointer(region *r, const node *n, address *p) {
    n = bare(n);
    *p = (address){.text = NULL};
    if (n->type == NULL) return false;
    switch (n->kind) {
    case NODE_NAME: {
        const binding *const b = bound(r, n->decl);
        if (b != NULL && b->pointer != NULL) {
            *p = *b->pointer;
            return !p->gone;
        }
        p->array = n->type->kind == TYPE_ARRAY;
        if (r->frame->caller != NULL && n->decl->owner != NULL &&
            (!p->array || n->decl->is_static))
            return false;
        p->text = is_own(r, n->decl) ? own_key(r, n->decl) : write_place(r->w, n);
        if (p->array && n->decl->owner != NULL && n->decl->kind == DECL_VARIABLE &&
            !n->decl->is_static)
            p->d = n->decl;
        return true;
    }
    case NODE_INDEX:
    case NODE_MEMBER:
        if (n->type->kind != TYPE_ARRAY && n->type->kind != TYPE_POINTER) return false;
        if (r->frame->caller != NULL && n->type->kind == TYPE_POINTER) return false;
        return find_object(r, n, &p->text, &p->array) &&
               (p->array &= n->type->kind == TYPE_ARRAY, true);
    case NODE_UNARY:
        if (same(n->op, "&")) {
            const node *const of = bare(n->child[0]);
            const char *symbol;
            long offset;
            if (of->kind == NODE_INDEX)
                return find_pointer(r, of->child[0], p) &&
                       split_index(r, of->child[1], &symbol, &offset) && p->text != NULL &&
                       add_index(p, symbol, offset);
            if (of->kind != NODE_NAME && of->kind != NODE_MEMBER) return false;
            return find_object(r, of, &p->object, &p->array);
        }
        return false;
    case NODE_BINARY: {
        const char *symbol;
        long offset;
        if (!same(n->op, "+") || !find_pointer(r, n->child[0], p) || p->text == NULL)
            return false;
        return split_index(r, n->child[1], &symbol, &offset) && add_index(p, symbol, offset);
    }
    default:
        return false;
    }
}

static bool find_object(region *r, const node *n, const char **key, bool *object) {
    n = bare(n);
    address p;
    place e = {.key = NULL};
    const char *symbol, *inner;
    long offset;
    switch (n->kind) {
    case NODE_NAME: {
        const binding *const b = bound(r, n->decl);
        if (b != NULL) return false;
        *object = true;
        *key = is_own(r, n->decl) ? own_key(r, n->decl) : write_place(r->w, n);
        return true;
    }
    case NODE_INDEX:
        if (!find_pointer(r, n->child[0], &p) ||
            !split_index(r, n->child[1], &symbol, &offset) || !add_index(&p, symbol, offset) ||
            !element(&p, &e))
            return false;
        *key = e.key, *object = p.array;
        return true;
    case NODE_UNARY:
        if (!same(n->op, "*") || !find_pointer(r, n->child[0], &p) || !element(&p, &e))
            return false;
        *key = e.key, *object = p.array;
        return true;
    case NODE_MEMBER:
        if (n->decl->is_bits) return false;
        if (!n->arrow) {
            if (!find_object(r, n->child[0], &inner, object)) return false;
            *key = format("%s.%s", inner, n->decl->name);
            return true;
        }
        if (!find_pointer(r, n->child[0], &p)) return false;
        if (p.text != NULL && p.symbol == NULL && p.offset == 0 && !p.array) {
            *key = format("%s->%s", in_parentheses(p.text), n->decl->name);
        } else {
            if (!element(&p, &e)) return false;
            *key = format("%s.%s", e.key, n->decl->name);
        }
        *object = p.array;
        return true;
    default:
        return false;
    }
}

bool find_place(region *r, const node *n, place *p) {
    n = bare(n);
    *p = (place){.key = NULL};
    cell *const c =
        r->w->v->of_node[n->number] != NULL ? real_cell(r->w->v->of_node[n->number]) : NULL;
    p->cell = c;
    p->now = (number){NULL, NO_VERTEX, 0};
    if (n->by_macro) return false;
    if (n->kind == NODE_NAME) {
        const decl *const d = n->decl;
        if (d->kind != DECL_VARIABLE && d->kind != DECL_PARAMETER) return false;
        if (p->cell == NULL) p->cell = cell_of(r->w->a, r->w->v, d);
        if (p->cell == NULL || bound(r, d) != NULL) return false;
        p->object = true;
        if (is_own(r, d)) {
            if (d->is_static) return false;
            p->key = own_key(r, d);
            p->local = true;
        } else {
            p->key = write_place(r->w, n);
            p->local = d->owner != NULL && !d->is_static && !real_cell(p->cell)->addressed;
            if (p->local) p->d = d, p->key = format("%s@%u", d->name, d->number);
        }
        return true;
    }
    if (c == NULL) return false;
    address q;
    const char *symbol;
    long offset;
    if (n->kind == NODE_INDEX)
        return find_pointer(r, n->child[0], &q) &&
               split_index(r, n->child[1], &symbol, &offset) && add_index(&q, symbol, offset) &&
               element(&q, p);
    if (n->kind == NODE_UNARY && same(n->op, "*"))
        return find_pointer(r, n->child[0], &q) && element(&q, p);
    return n->kind == NODE_MEMBER && find_object(r, n, &p->key, &p->object);
}

/* ---- what places hold -------------------------------------------------------------------- */

static place *known_place(const region *r, const char *key) {
    for (size_t i = 0; i < r->n; i++)
        if (same(r->at[i].key, key)) return &r->at[i];
    return NULL;
}

static bool may_overlap(const place *a, const place *b) {
    if (same(a->key, b->key)) return true;
    if (a->local || b->local || *a->key == '@' || *b->key == '@') return false;
    if (a->cell != NULL && b->cell != NULL && real_cell(a->cell) != real_cell(b->cell))
        return false;
    if (a->root != NULL && b->root != NULL) {
        const bool alike = (a->symbol == NULL) == (b->symbol == NULL) &&
                           (a->symbol == NULL || same(a->symbol, b->symbol));
        if (same(a->root, b->root) && alike) return a->offset == b->offset;
        if (a->object && b->object && strpbrk(a->root, "[.>") == NULL &&
            strpbrk(b->root, "[.>") == NULL)
            return same(a->root, b->root);
        return true;
    }
    /* two objects by their names */
    return !(a->object && b->object && strpbrk(a->key, "[.>*") == NULL &&
             strpbrk(b->key, "[.>*") == NULL);
}

number here(region *r, number x) {
    if (x.vertex == NO_VERTEX || x.depth == r->depth) return x;
    level *const inner = r->level;
    r->level = inner->outer, r->depth--;
    const number y = here(r, x);
    r->level = inner, r->depth++;
    chain *const c = &inner->chain;
    for (size_t v = 0; v < c->n; v++)
        if (c->at[v].leaf && c->at[v].outer == y.vertex)
            return (number){x.value, (int)v, r->depth};
    return (number){x.value, chain_leaf(c, NULL, x.value, y.vertex), r->depth};
}

static place *add_place(region *r, const place *p) {
    if (r->n == r->room) {
        place *const more = arena_get((r->room = 2 * r->room + 16) * sizeof *more);
        if (r->n != 0) memcpy(more, r->at, r->n * sizeof *more);
        r->at = more;
    }
    r->at[r->n] = *p;
    return &r->at[r->n++];
}

void region_perhaps(region *r, int by) {
    if (r != NULL) r->perhaps += by;
}

number read_place(region *r, const place *p) {
    r->operands++;
    const place *const old = known_place(r, p->key);
    if (old != NULL) return old->stale || old->now.value == NULL ? fails(r) : here(r, old->now);
    if (*p->key == '@') return fails(r);
    /* memory that is there only if something else is so */
    if (r->perhaps != 0 && !p->local && !(p->object && p->symbol == NULL)) return fails(r);
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i].dirty && may_overlap(&r->at[i], p)) return fails(r);
    place x = *p;
    const decl *const whole = p->d != NULL ? p->d : p->array;
    if (whole != NULL && !list_has(&r->loaded, whole)) push(&r->loaded, (void *)whole);
    if (read_in_turn(r, p, &x.now)) {
        add_place(r, &x);
        return x.now;
    }
    if (!load_before_turns(r, p)) return fails(r);
    const char *const name = chain_name(&r->x);
    level *outermost = r->level;
    while (outermost->outer != NULL) outermost = outermost->outer;
    const char *const at = p->d != NULL ? p->d->name : p->key;
    if (r->depth == 0 && r->guarded != NULL)
        putf(&r->x.to, "%swg_real %s = wg_constant(0);\n%sif (%s) %s = %s;\n", r->x.indent,
             name, r->x.indent, r->guarded, name, at);
    else if (r->depth == 0) putf(&r->x.to, "%sconst wg_real %s = %s;\n", r->x.indent, name, at);
    else {
        putf(&r->before, "%swg_real %s = wg_constant(0);\n", r->indent, name);
        putf(&r->x.to, "%s%s%s = %s;\n", r->x.indent,
             r->guarded != NULL ? format("if (%s) ", r->guarded) : "", name, at);
    }
    x.now = (number){format("%s.value", name), 0, 0};
    x.now.vertex = chain_leaf(&outermost->chain, name, x.now.value, NO_VERTEX);
    r->vertices++;
    x.now = here(r, x.now);
    add_place(r, &x);
    return x.now;
}
void replace_place(region *r, const place *p) {
    place *const old = known_place(r, p->key);
    if (old != NULL) *old = *p;
    else add_place(r, p);
}

void outdate_others(region *r, const place *p) {
    for (size_t i = 0; i < r->n; i++)
        if (!same(r->at[i].key, p->key) && may_overlap(&r->at[i], p)) r->at[i].stale = true;
}

void assign_place(region *r, place *p, number x) {
    outdate_others(r, p);
    place *old = known_place(r, p->key);
    if (old == NULL) old = add_place(r, p);
    old->array = p->array;
    old->now = x;
    old->dirty = true, old->stale = false;
    old->order = ++r->order;
    r->records += (r->operands + 1) / 2;
    r->operands = 0;
}

/* ---- numbers in texts -------------------------------------------------------------------- */

const char *region_number(region *r, const node *n) {
    place p;
    address q;
    if (n->kind == NODE_NAME) {
        const binding *const b = bound(r, n->decl);
        if (b != NULL && b->name != NULL) return b->name;
        if (b != NULL) {
            /* its address is no question */
            if (b->pointer->array || b->pointer->gone) return fails(r).value;
            if (b->pointer->text == NULL) {
                if (b->pointer->object == NULL || *b->pointer->object == '@')
                    return fails(r).value;
                return format("(&%s)", b->pointer->object);
            }
            return *b->pointer->text == '@' ? fails(r).value
                   : b->pointer->symbol == NULL && b->pointer->offset == 0
                       ? b->pointer->text
                       : format("(%s + %s)", b->pointer->text,
                                index_text(b->pointer->symbol, b->pointer->offset));
        }
    }
    const bool place_like = n->kind == NODE_NAME || n->kind == NODE_MEMBER ||
                            n->kind == NODE_INDEX ||
                            (n->kind == NODE_UNARY && same(n->op, "*"));
    if (!place_like) return NULL;
    if (is_active(r->w, n)) {
        if (!find_place(r, n, &p)) return fails(r).value;
        return read_place(r, &p).value;
    }
    if (r->frame->caller == NULL) return NULL;
    if (n->kind == NODE_NAME) return n->decl->owner != NULL ? fails(r).value : NULL;
    if (n->kind == NODE_INDEX || n->kind == NODE_UNARY) {
        const char *symbol = NULL;
        long offset = 0;
        place e = {.key = NULL};
        if (!find_pointer(r, n->child[0], &q) ||
            (n->kind == NODE_INDEX && !split_index(r, n->child[1], &symbol, &offset)) ||
            !add_index(&q, symbol, offset) || !element(&q, &e) || *e.key == '@')
            return fails(r).value;
        return e.key;
    }
    bool object;
    const char *key;
    return find_object(r, n, &key, &object) && *key != '@' ? key : fails(r).value;
}
