/* SPDX-License-Identifier: MIT */
/* operand.c - expressions on variables as operands of a statement, which is recorded in
 * parts if it is long. */
#include <string.h>
#include "convert/called.h"
#include "convert/expression.h"

/* A statement has at most so many of each; longer ones are recorded in parts. */
enum { MOST_VARIABLES = 8, MOST_NUMBERS = 8, MOST_OPERATIONS = 24 };

static operand leaf(const char *s) { return (operand){s, 1, 0, 0}; }
static operand recorded(const writer *w, operand o) {
    return o.operations == 0 ? o : leaf(format("wg_let(%s, %s)", w->tape, o.s));
}

/* The operation that is named wg_.. as a call, of variables: what stands in line is one. */
static operand call(const writer *w, const char *name, size_t n, const operand *o) {
    text to = {NULL, 0, 0};
    putf(&to, "wg_let_%s(%s", name + strlen("wg_"), w->tape);
    /* duals are not to multiply by a number as by another dual */
    const char *const number = w->generic ? ", WGC_NUMBER(%s)" : ", wg_constant(%s)";
    for (size_t i = 0; i < n; i++)
        putf(&to, o[i].variables != 0 ? ", %s" : number, recorded(w, o[i]).s);
    put(&to, ")");
    return leaf(text_of(&to));
}

static bool is_too_long(const operand *o, size_t n) {
    unsigned v = 0, k = 0, p = 1;
    for (size_t i = 0; i < n; i++) v += o[i].variables, k += o[i].numbers, p += o[i].operations;
    return v > MOST_VARIABLES || k > MOST_NUMBERS || p > MOST_OPERATIONS;
}

/* The operation of name that node `of` is. */
static operand apply(const writer *w, const node *of, const char *name, size_t n, operand *o) {
    if (by_calls(w, of)) return call(w, name, n, o);
    while (is_too_long(o, n)) {
        size_t largest = 0;
        for (size_t i = 1; i < n; i++)
            if (o[i].operations > o[largest].operations) largest = i;
        if (o[largest].operations == 0) break;
        o[largest] = recorded(w, o[largest]);
    }
    text to = {NULL, 0, 0};
    operand out = {NULL, 0, 0, 1};
    putf(&to, "%s(", name);
    for (size_t i = 0; i < n; i++) {
        putf(&to, "%s%s", i != 0 ? ", " : "", o[i].s);
        out.variables += o[i].variables;
        out.numbers += o[i].numbers;
        out.operations += o[i].operations;
    }
    put(&to, ")");
    out.s = text_of(&to);
    return out;
}

/* The same of n's operands. A kernel for three types does not say in which order they are
 * evaluated: where it matters, one after the other. */
static operand apply_in_order(const writer *w, const node *n, const char *name, size_t k,
                              operand *o) {
    if (!w->generic || k < 2 || !may_change(n)) return apply(w, n, name, k, o);
    text before = {NULL, 0, 0};
    for (size_t i = 0; i + 1 < k; i++) {
        putf(&before, "const __auto_type wgc_%zu = %s; ", i, o[i].s);
        o[i].s = format("wgc_%zu", i);
    }
    operand out = apply(w, n, name, k, o);
    out.s = format("__extension__({ %s%s; })", text_of(&before), out.s);
    return out;
}

/* Functions that give a number, and a part of it by pointer, which has no derivative: the whole
 * part, the exponent, the quotient. */
static operand parts_operand(writer *w, const node *n, const known *k) {
    const char *const x = write_variable(w, n->child[1]), *const t = w->tape;
    if (same(k->name, "modf"))
        return leaf(format(
            "__extension__({ const wg_real wgc_x = %s; const double wgc_whole = trunc(wg_value(wgc_x)); "
            "*(%s) = %s; wg_let(%s, wg_sub(wgc_x, wgc_whole)); })",
            x, write_number(w, n->child[2]),
            expression_holds(w, n->child[2]) ? "wg_constant(wgc_whole)" : "wgc_whole", t));
    if (same(k->name, "frexp")) /* by two factors: one may be too large */
        return leaf(format(
            "__extension__({ const wg_real wgc_x = %s; int wgc_e; (void)frexp(wg_value(wgc_x), &wgc_e); "
            "*(%s) = wgc_e; "
            "wg_let(%s, wg_mul(wg_let(%s, wg_mul(wgc_x, ldexp(1.0, -wgc_e / 2))), ldexp(1.0, wgc_e / 2 - wgc_e))); })",
            x, write_number(w, n->child[2]), t, t));
    return leaf(format(
        "__extension__({ const wg_real wgc_x = %s, wgc_y = %s; "
        "(void)remquo(wg_value(wgc_x), wg_value(wgc_y), %s); wg_let(%s, wg_remainder(wgc_x, wgc_y)); })",
        x, write_variable(w, n->child[2]), write_number(w, n->child[3]), t));
}

static bool is_small_integer(const node *n) {
    n = bare(n);
    if (n->kind == NODE_UNARY && same(n->op, "-")) n = bare(n->child[0]);
    return n->kind == NODE_NUMBER && strspn(source(n), "0123456789") == strlen(source(n)) &&
           strlen(source(n)) <= 3;
}

/* x 2^n: a power of two that is no number is applied in parts, of which all but the last are
 * exact. */
static operand scaled_operand(writer *w, const node *n) {
    if (!is_small_integer(n->child[2]))
        return leaf(format(
            "__extension__({ wg_real wgc_x = %s; long wgc_n = %s; "
            "wgc_n = wgc_n > 3000 ? 3000 : wgc_n < -3000 ? -3000 : wgc_n; "
            "for (; wgc_n > 1023; wgc_n -= 1023) wgc_x = wg_let(%s, wg_mul(wgc_x, 0x1p1023)); "
            "for (; wgc_n < -1022; wgc_n += 969) wgc_x = wg_let(%s, wg_mul(wgc_x, 0x1p-969)); "
            "wg_let(%s, wg_mul(wgc_x, ldexp(1.0, (int)wgc_n))); })",
            write_variable(w, n->child[1]), write_number(w, n->child[2]), w->tape, w->tape,
            w->tape));
    operand o[2] = {write_operand(w, n->child[1]),
                    {format("ldexp(1.0, %s)", write_number(w, n->child[2])), 0, 1, 0}};
    return apply(w, n, "wg_mul", 2, o);
}

static operand call_operand(writer *w, const node *n) {
    unsigned bits;
    const known *const k = known_of(n, &bits);
    operand o[4];
    switch (k->kind) {
    case KNOWN_OPERATION:
        for (size_t i = 0; i < k->numbers && i + 1 < n->children; i++)
            o[i] = write_operand(w, n->child[i + 1]);
        return apply_in_order(w, n, k->as, k->numbers, o);
    case KNOWN_SCALED:
        return scaled_operand(w, n);
    case KNOWN_PARTS:
        return parts_operand(w, n, k);
    default:
        return leaf(write_call(w, n));
    }
}

/* A number as the argument of a macro or function of the library: a comma is in parentheses,
 * and what has bits only is an integer. */
const char *number_argument(writer *w, const node *n) {
    const char *const s = write_number(w, n);
    const node *const e = bare(n);
    if (e->kind == NODE_MEMBER && e->decl->is_bits) return format("+%s", s);
    return n->kind == NODE_BINARY && same(n->op, ",") ? format("(%s)", s) : s;
}

operand write_operand(writer *w, const node *n) {
    if (!is_active(w, n)) return (operand){number_argument(w, n), 0, 1, 0};
    if (is_place(n)) return leaf(write_place(w, n));
    operand o[2];
    switch (n->kind) {
    case NODE_PAREN:
        return write_operand(w, n->child[0]);
    case NODE_CAST:
        if (n->type->bits == 32 && n->child[0]->type->bits != 32 &&
            w->rounded != w->v->function) {
            warn_at(
                place_of(n),
                "'%s' is not rounded to float, and nothing in '%s' is: variables are double",
                source(n), w->v->function->name);
            w->rounded = w->v->function;
        }
        return write_operand(w, n->child[0]);
    case NODE_UNARY:
        if (same(n->op, "++") || same(n->op, "--"))
            return leaf(format("(%s)", write_step(w, n, true)));
        o[0] = write_operand(w, n->child[0]);
        return same(n->op, "-") ? apply(w, n, "wg_neg", 1, o) : o[0];
    case NODE_BINARY:
        if (same(n->op, ","))
            return leaf(format("(%s, %s)", write_statement(w, n->child[0]),
                               write_variable(w, n->child[1])));
        o[0] = write_operand(w, n->child[0]);
        o[1] = write_operand(w, n->child[1]);
        return apply_in_order(w, n, operation(n->op), 2, o);
    case NODE_CHOICE:
        if (n->children == 2)
            return leaf(format(
                "__extension__({ const wg_real wgc_x = %s; wg_ne(%s, wgc_x, 0) ? wgc_x : %s; })",
                write_variable(w, n->child[0]), w->tape, write_variable(w, n->child[1])));
        return leaf(format("(%s ? %s : %s)", write_condition(w, n->child[0]),
                           write_variable(w, n->child[1]), write_variable(w, n->child[2])));
    case NODE_ASSIGN:
        return leaf(format("(%s)", write_assignment(w, n)));
    case NODE_CALL:
        return call_operand(w, n);
    default:
        return leaf(write_variable(w, n));
    }
}

const char *write_operation(writer *w, const node *n, const char *name, const char *x,
                            const node *y) {
    operand o[2] = {leaf(x), {"1", 0, 1, 0}};
    if (y != NULL) o[1] = write_operand(w, y);
    return recorded(w, apply(w, n, name, 2, o)).s;
}

const char *write_variable(writer *w, const node *n) {
    if (!is_active(w, n)) return format("wg_constant(%s)", number_argument(w, n));
    if (n->kind == NODE_STATEMENTS) { /* the last one is its value */
        const node *const block = n->child[0];
        part *const p = arena_get(block->children * sizeof *p);
        for (size_t i = 0; i < block->children; i++) {
            const node *const c = block->child[i];
            p[i] =
                (part){c->begin, c->end,
                       i + 1 == block->children ? write_variable(w, c) : write_statement(w, c)};
        }
        return replaced(n->file, n->begin, n->end, block->children, p);
    }
    if (n->kind == NODE_ASSIGN) return write_assignment(w, n);
    if (n->kind == NODE_PAREN && is_place(n)) return write_place(w, bare(n));
    return recorded(w, write_operand(w, n)).s;
}
