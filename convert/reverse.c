/* SPDX-License-Identifier: MIT */
/* reverse.c - the adjoint of one expression: what of it is needed as a value has a name; then
 * from the result to the operands, each adjoint times a partial derivative of the table of
 * operations. */
#include <string.h>
#include "convert/adjoint.h"
#include "convert/known.h"

typedef struct row {
    const char *name, *partial[4];
    bool singular;
} row;
#define ARITH false
#define GUARD false
#define SING true
#define OP1(name, value, d, dd, class, from) {#name, {#d, NULL, NULL, NULL}, class},
#define OP2(name, value, da, db, daa, dab, dbb, class, from)                                   \
    {#name, {#da, #db, NULL, NULL}, class},
#define OP3(name, value, da, db, dc, daa, dab, dac, dbb, dbc, dcc, class, from)                \
    {#name, {#da, #db, #dc, NULL}, class},
#define OP4(name, value, da, db, dc, dd, class, from) {#name, {#da, #db, #dc, #dd}, class},
static const row rows[] = {
#include "ops/scalar/scalar.def"
};

static const row *row_of(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (same(rows[i].name, name)) return &rows[i];
    return NULL;
}
const char *partial_text(const char *name, size_t k) {
    const row *const r = row_of(name);
    return r != NULL && k < 4 ? r->partial[k] : NULL;
}
bool partial_is_singular(const char *name) {
    const row *const r = row_of(name);
    return r != NULL && r->singular;
}

/* ---- operations ------------------------------------------------------------------------- */

const char *operation_of(const routine *r, const node *n) {
    (void)r;
    if (n->kind == NODE_BINARY) {
        switch (*n->op) {
        case '+':
            return "add";
        case '-':
            return "sub";
        case '*':
            return "mul";
        case '/':
            return "div";
        default:
            return NULL;
        }
    }
    if (n->kind == NODE_UNARY) return same(n->op, "-") ? "neg" : NULL;
    if (n->kind != NODE_CALL) return NULL;
    const node *const f = bare(n->child[0]);
    if (f->kind != NODE_NAME || f->decl->kind != DECL_FUNCTION || f->decl->body != NULL)
        return NULL;
    const known *const k = known_function(f->decl->name, NULL);
    return k->kind == KNOWN_OPERATION ? k->as + 3 : NULL;
}

/* A number times a power of two. */
bool is_scaled(const node *n) {
    const node *const f = n->kind == NODE_CALL ? bare(n->child[0]) : NULL;
    return f != NULL && f->kind == NODE_NAME && f->decl->kind == DECL_FUNCTION &&
           f->decl->body == NULL && known_function(f->decl->name, NULL)->kind == KNOWN_SCALED;
}

size_t operands_of(const node *n, const node **arg) {
    const size_t first = n->kind == NODE_CALL;
    size_t k = 0;
    for (size_t i = first; i < n->children && k < 4; i++) arg[k++] = n->child[i];
    return k;
}

static bool is_leaf(const routine *r, const node *n) {
    if (r->instead[n->number] != NULL) return true;
    return n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
           n->kind == NODE_NUMBER || (n->kind == NODE_UNARY && same(n->op, "*"));
}

static bool mentions(const char *partial, const char *letter) {
    const tokens t = lex(partial, strlen(partial));
    for (size_t i = 0; i < t.n; i++)
        if (t.at[i].kind == TOKEN_WORD && token_is(partial, &t.at[i], letter)) return true;
    return false;
}

static const char *const letters[] = {"a", "b", "c", "d"};

/* x to a power that is a whole number: a product. */
static const char *special_partial(const char *name, size_t k, const node *const *arg) {
    if (!same(name, "pow")) return NULL;
    const node *const p = bare(arg[1]);
    if (p->kind != NODE_NUMBER) return NULL;
    const char *const s = source(p);
    const bool two = same(s, "2") || same(s, "2.0") || same(s, "2."),
               three = same(s, "3") || same(s, "3.0") || same(s, "3.");
    if (k == 0 && two) return "2 * a";
    if (k == 0 && three) return "3 * a * a";
    return NULL;
}

/* ---- values ----------------------------------------------------------------------------- */

typedef struct reversal {
    routine *r;
    text *to;
    const char *indent;
    list named; /* nodes whose values have names here */
    unsigned names;
} reversal;

static void name_value(reversal *x, const node *n) {
    n = bare(n);
    if (is_leaf(x->r, n)) return;
    const char *const name = format("wgc_v%u", ++x->names);
    putf(x->to, "%sconst double %s = %s;\n", x->indent, name, print(x->r, n));
    x->r->instead[n->number] = name;
    push(&x->named, (void *)n);
}

static bool is_needed_by(const routine *r, const node *n, const char *letter) {
    const char *const name = operation_of(r, n);
    const node *arg[4];
    const size_t k = operands_of(n, arg);
    for (size_t i = 0; name != NULL && i < k; i++) {
        if (!step_is_active(r, arg[i])) continue;
        const char *const s = special_partial(name, i, arg);
        if (mentions(s != NULL ? s : partial_text(name, i), letter)) return true;
    }
    return false;
}

static bool has_kept_partial(const routine *r, const node *n) {
    return r->results[n->number] != NULL && r->results[n->number]->partial;
}

static void name_values(reversal *x, const node *n) {
    const routine *const r = x->r;
    if (!step_is_active(r, n)) return;
    if (is_leaf(r, n) && r->results[n->number] == NULL) return;
    if (n->kind == NODE_PAREN || n->kind == NODE_CAST) {
        name_values(x, n->child[0]);
        return;
    }
    if (n->kind == NODE_BINARY && same(n->op, ",")) {
        name_values(x, n->child[1]);
        return;
    }
    if (n->kind == NODE_CHOICE) return; /* what is not chosen is not computed */
    const char *const name = operation_of(r, n);
    const node *arg[4];
    const size_t k = operands_of(n, arg);
    for (size_t i = 0; i < k; i++) name_values(x, arg[i]);
    if (has_kept_partial(r, n)) return;
    for (size_t i = 0; name != NULL && i < k; i++)
        if (is_needed_by(r, n, letters[i])) name_value(x, arg[i]);
    if (name != NULL && is_needed_by(r, n, "v")) name_value(x, n);
}

/* ---- adjoints --------------------------------------------------------------------------- */

static const char *in_parentheses(const char *s) {
    for (const char *p = s; *p; p++)
        if (strchr("+-*/?<>= ", *p) != NULL) return format("(%s)", s);
    return s;
}

/* The table's texts are of double: 1 / b is no division of integers. */
static const char *as_double(const routine *r, const node *n) {
    const bool is_double = n->type != NULL && n->type->kind == TYPE_REAL && n->type->bits == 64;
    const char *const named = r->instead[n->number];
    return is_double || (named != NULL && starts_with(named, "wgc_v"))
               ? print(r, n)
               : format("(double)%s", in_parentheses(print(r, n)));
}

static const char *filled(const reversal *x, const char *partial, const node *n,
                          const node *const *arg, size_t k) {
    const tokens t = lex(partial, strlen(partial));
    text to = {NULL, 0, 0};
    size_t at = 0;
    for (size_t i = 0; i < t.n; i++) {
        const char *with = NULL;
        for (size_t j = 0; j < k; j++)
            if (token_is(partial, &t.at[i], letters[j])) with = as_double(x->r, bare(arg[j]));
        if (token_is(partial, &t.at[i], "v")) with = print(x->r, n);
        if (t.at[i].kind != TOKEN_WORD || with == NULL) continue;
        put_n(&to, partial + at, t.at[i].begin - at);
        put(&to, in_parentheses(with));
        at = t.at[i].end;
    }
    put(&to, partial + at);
    return text_of(&to);
}

static const char *named_seed(reversal *x, const char *seed) {
    if (strpbrk(seed, " *(") == NULL) return seed;
    const char *const name = format("wgc_v%u", ++x->names);
    putf(x->to, "%sconst double %s = %s;\n", x->indent, name, seed);
    return name;
}

static void go_back(reversal *x, const node *n, const char *seed);

static void back_choice(reversal *x, const node *n, const char *seed) {
    const char *const before = x->indent;
    seed = named_seed(x, seed);
    putf(x->to, "%sif (%s) {\n", before, print(x->r, n->child[0]));
    for (size_t i = 0; i < 2; i++) { /* a ?: b is a, if that is not 0 */
        const node *const chosen = n->child[n->children - 2 + i];
        const size_t named = x->named.n;
        x->indent = format("%s    ", before);
        name_values(x, chosen);
        go_back(x, chosen, seed);
        while (x->named.n > named)
            x->r->instead[((node *)x->named.at[--x->named.n])->number] = NULL;
        putf(x->to, i == 0 ? "%s} else {\n" : "%s}\n", before);
    }
    x->indent = before;
}

static void go_back(reversal *x, const node *n, const char *seed) {
    const routine *const r = x->r;
    if (!step_is_active(r, n)) return;
    if (n->kind == NODE_PAREN || n->kind == NODE_CAST ||
        (n->kind == NODE_UNARY && same(n->op, "+"))) {
        go_back(x, n->child[0], seed);
        return;
    }
    if (n->kind == NODE_BINARY && same(n->op, ",")) {
        go_back(x, n->child[1], seed);
        return;
    }
    const char *const instead = r->instead[n->number];
    const bool leaf = n->kind == NODE_NAME || n->kind == NODE_MEMBER || n->kind == NODE_INDEX ||
                      (n->kind == NODE_UNARY && same(n->op, "*"));
    if (leaf || (instead != NULL && !starts_with(instead, "wgc_v"))) {
        if (*seed == '-' && strchr(seed, ' ') == NULL)
            putf(x->to, "%s%s -= %s;\n", x->indent, print_shadow(r, n), seed + 1);
        else putf(x->to, "%s%s += %s;\n", x->indent, print_shadow(r, n), seed);
        return;
    }
    if (n->kind == NODE_CHOICE) {
        back_choice(x, n, seed);
        return;
    }
    const char *const name = operation_of(r, n);
    const node *arg[4];
    const size_t k = operands_of(n, arg);
    size_t active = 0;
    for (size_t i = 0; i < k; i++) active += step_is_active(r, arg[i]);
    if (is_scaled(n)) {
        go_back(x, n->child[1], format("ldexp(%s, (int)(%s))", seed, print(r, n->child[2])));
        return;
    }
    if (name == NULL) {
        error_at(place_of(n), "'%s' cannot be turned round%s", source(n),
                 n->kind == NODE_CHOICE ? ": write all three parts of it" : "");
        return;
    }
    if (active > 1) seed = named_seed(x, seed);
    for (size_t i = 0; i < k; i++) {
        if (!step_is_active(r, arg[i])) continue;
        const char *const special = has_kept_partial(r, n) ? r->results[n->number]->kept
                                                           : special_partial(name, i, arg);
        const char *const p = special != NULL ? special : partial_text(name, i);
        const char *next;
        if (same(p, "0")) continue;
        if (same(p, "1")) next = seed;
        else if (same(p, "-1.0"))
            next = *seed == '-'                 ? format("%s", seed + 1)
                   : strpbrk(seed, " ") != NULL ? format("-(%s)", seed)
                                                : format("-%s", seed);
        else if (partial_is_singular(name))
            next = format("wgc_times(%s, %s)", seed, filled(x, p, n, arg, k));
        else
            next = format("%s * %s",
                          strpbrk(seed, "+- ") != NULL && !starts_with(seed, "wgc_")
                              ? format("(%s)", seed)
                              : seed,
                          in_parentheses(filled(x, p, n, arg, k)));
        go_back(x, arg[i], next);
    }
}

/* ---- results that are kept --------------------------------------------------------------- */

/* Is it worth while to keep it? Roots and absolute values are computed as fast. */
static bool is_dear(const routine *r, const node *n, bool *partial) {
    if (n->kind != NODE_CALL || n->type == NULL || n->type->kind != TYPE_REAL ||
        n->type->bits != 64 || !step_is_active(r, n))
        return false;
    const char *const name = operation_of(r, n);
    const node *arg[4];
    const size_t k = operands_of(n, arg);
    if (name == NULL || same(name, "sqrt") || same(name, "fabs")) return false;
    bool of_value = false;
    for (size_t i = 0; i < k; i++)
        if (step_is_active(r, arg[i]))
            of_value |=
                special_partial(name, i, arg) == NULL && mentions(partial_text(name, i), "v");
    *partial = k == 1 && !of_value && strchr(partial_text(name, 0), '(') != NULL;
    return of_value || *partial;
}

/* Those of an expression that are computed whatever its conditions say. */
static void add_results(routine *r, step *s, const node *n) {
    if (n == NULL || r->instead[n->number] != NULL || n->kind == NODE_CHOICE ||
        n->kind == NODE_SIZEOF || n->by_macro ||
        (n->kind == NODE_BINARY &&
         (same(n->op, "&&") || same(n->op, "||") || same(n->op, ","))))
        return;
    for (size_t i = n->kind == NODE_CALL; i < n->children; i++) add_results(r, s, n->child[i]);
    bool partial = false;
    if (!is_dear(r, n, &partial)) return;
    kept_call *const x = arena_get(sizeof *x);
    *x = (kept_call){.call = n, .partial = partial};
    r->results[n->number] = x;
    push(&s->results, x);
}
static void results_of(routine *r, const list *steps) {
    for (size_t i = 0; i < steps->n; i++) {
        step *const s = steps->at[i];
        const bool active = s->to.type != NULL && s->to.type->kind == TYPE_REAL &&
                            s->to.cell != NULL && is_variable(s->to.cell);
        if (s->kind == STEP_ASSIGN && active && s->text == NULL && s->e != NULL) {
            /* what gets its name here has none yet */
            const char **const instead = &r->instead[s->e->number], *const name = *instead;
            const bool own = name != NULL && s->to.name != NULL && same(name, s->to.name);
            if (own) *instead = NULL;
            add_results(r, s, s->e);
            *instead = name;
        }
        results_of(r, &s->body);
        results_of(r, &s->other);
    }
}
void find_results(routine *r) {
    for (size_t i = 0; i < r->stretches.n; i++)
        results_of(r, &((stretch *)r->stretches.at[i])->steps);
}

const char *partial_of_result(const routine *r, const kept_call *x) {
    const reversal none = {.r = (routine *)r};
    const node *arg[4];
    const size_t k = operands_of(x->call, arg);
    return filled(&none, partial_text(operation_of(r, x->call), 0), x->call, arg, k);
}

void put_adjoint(routine *r, const step *s, text *to, const char *indent) {
    reversal x = {.r = r, .to = to, .indent = indent};
    const char *const b = shadow_target(r, &s->to);
    const bool active = s->text == NULL && s->e != NULL && step_is_active(r, s->e);
    for (size_t i = 0; active && i < s->results.n; i++) {
        const kept_call *const k = s->results.at[i];
        if (k->partial) continue;
        const char *const name = format("wgc_v%u", ++x.names);
        putf(to, "%sconst double %s = %s;\n", indent, name, k->kept);
        r->instead[k->call->number] = name;
        push(&x.named, (void *)k->call);
    }
    if (active) name_values(&x, s->e);
    /* by a name: what is assigned to may be an operand, too, as in x += x * y */
    if (active) putf(to, "%sconst double wgc_b = %s;\n", indent, b);
    if (s->add == 0) putf(to, "%s%s = 0;\n", indent, b);
    if (active) go_back(&x, s->e, s->add < 0 ? "-wgc_b" : "wgc_b");
    for (size_t i = 0; i < x.named.n; i++) r->instead[((node *)x.named.at[i])->number] = NULL;
}
