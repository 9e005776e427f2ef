/* SPDX-License-Identifier: MIT */
/* Kept code: what each statement computed, enough to recompute its value and its derivatives of
 * any order. tape.h draws the stream, statement.h the bit code of a statement. */
#include "tape.h"

#include <stdio.h>
#include <string.h>

static wg_status room(wgi_core *c, const char *call, size_t more) {
    c->head.kept_limit = NULL;
    const size_t used = (size_t)(WGI_CODE_START + c->head.code_words) * 8;
    const wg_status s = wgi_extent_need(c, &c->code, used + more * 8, used);
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for %zu words of code", call, more);
    return WG_OK;
}

/* ---- statements ---- */

/* Takes one symbol off the low end of the bit code; counts its bits. */
enum { OPERAND = -1, NUMBER = -2 };
static inline int symbol(wgi_bits *code, unsigned *at) {
    const unsigned bits = (unsigned)*code, two = bits & 3;
    if (two < 2) {
        *code >>= 2, *at += 2;
        return two == 0 ? OPERAND : NUMBER;
    }
    if (two == 2) {
        *code >>= 4, *at += 4;
        return (int)(bits >> 2 & 3) + 1;
    }
    *code >>= 9, *at += 9;
    return (int)(bits >> 2 & 127);
}

void wgi_code_put(wg_tape *t, const wgi_site *site, size_t n, const uint64_t *handle,
                  const double *x, const double *number) {
    unsigned variables = 0;
    for (size_t i = 0; i < n; i++) variables += wgi_slot(handle[i]) != 0;
    const unsigned bits = site->head >> 36 & 4095;
    unsigned numbers = (unsigned)(site->head >> 56), constants = (unsigned)n - variables;
    uint64_t *const w = t->code + t->code_words;
    WGI_AHEAD(w);
    const uint64_t head =
        WGI_CODE_HEAD(t->slots, WGI_ENTRY_STATEMENT, bits, variables, numbers + constants);
    memcpy(w, &head, sizeof head);

    const size_t before = bits > 64 ? 3 : 2;
    wgi_halves *pair = (wgi_halves *)(void *)(w + before);
    uint32_t first = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = wgi_slot(handle[i]);
        if (slot == 0) continue;
        if (first == 0) first = slot;
        else *pair++ = (wgi_halves){first, slot}, first = 0;
    }
    if (first != 0) *pair++ = (wgi_halves){first, 0};

    /* constants: from now on they are numbers, among those of the statement */
    double *to = (double *)(void *)pair;
    wgi_bits code = site->code, rest = code;
    for (unsigned at = 0; constants != 0;) {
        const unsigned start = at;
        const int what = symbol(&rest, &at);
        if (what == OPERAND) {
            if (wgi_slot(*handle++) == 0) *to++ = *x, code |= (wgi_bits)1 << start, constants--;
            x++;
        } else if (what == NUMBER || what == WGI_OP_USER) {
            *to++ = *number++, numbers--;
        }
    }
    for (; numbers != 0; numbers--) *to++ = *number++;
    w[1] = (uint64_t)code;
    if (before == 3) w[2] = (uint64_t)(code >> 64);
    t->code_words = (uint64_t)((uint64_t *)(void *)to - t->code);
}

wg_status wgi_code_keep(wgi_core *c, const wgi_statement *s) {
    const wg_status status = room(c, "wg_let", WGI_STATEMENT_WORDS);
    if (status != WG_OK) return status;
    const wgi_site site = {s->code, WGI_CODE_HEAD(0, 0, s->bits, 0, s->numbers), NULL};
    c->head.code = wgi_code_words(c);
    wgi_code_put(&c->head, &site, s->operands, s->handle, s->x, s->number);
    return WG_OK;
}

/* ---- array operations and guards ---- */

wg_status wgi_code_keep_array(wgi_core *c, const char *call, unsigned op, size_t n,
                              const wg_real *x, size_t numbers, const double *number) {
    size_t constants = 0;
    for (size_t i = 0; i < n; i++) constants += x[i].at.slot == 0;
    if (room(c, call, 3 + (n + 1) / 2 + constants + numbers) != WG_OK) return c->status;
    uint64_t *w = wgi_code_words(c) + c->head.code_words;
    *w++ = WGI_CODE_HEAD(c->head.slots, WGI_ENTRY_ARRAY, op, 0, 0);
    *w++ = n;
    *w++ = constants + numbers;
    uint32_t *slot = (uint32_t *)(void *)w;
    for (size_t i = 0; i < n; i++) slot[i] = x[i].at.slot;
    if (n & 1) slot[n] = 0;
    w += (n + 1) / 2;
    /* numbers of the operation first, then the values of its constants in order */
    if (numbers != 0) memcpy(w, number, numbers * sizeof *number);
    w += numbers;
    for (size_t i = 0; i < n; i++)
        if (x[i].at.slot == 0) memcpy(w++, &x[i].value, sizeof(double));
    c->head.code_words = (uint64_t)(w - wgi_code_words(c));
    return WG_OK;
}

wg_status wgi_code_keep_guard(wgi_core *c, const char *call, unsigned comparison, int outcome,
                              wg_real x, wg_real y) {
    if (room(c, call, 4) != WG_OK) return c->status;
    uint64_t *w = wgi_code_words(c) + c->head.code_words;
    *w++ = WGI_CODE_HEAD(c->head.slots, WGI_ENTRY_GUARD, comparison * 2 + (outcome != 0), 2, 2);
    *w++ = (uint64_t)x.at.slot | (uint64_t)y.at.slot << 32;
    memcpy(w++, &x.value, sizeof(double));
    memcpy(w++, &y.value, sizeof(double));
    c->head.code_words = (uint64_t)(w - wgi_code_words(c));
    wgi_limit_set(c);
    return WG_OK;
}

/* ---- a statement taken apart ---- */

/* The next 64 bits of long code. */
static inline wgi_bits bits_from(const wgi_words *words, unsigned at) {
    const unsigned k = at / 64, r = at % 64;
    const uint64_t next = k + 1 < WGI_MOST_WORDS ? words->w[k + 1] : 0;
    return r == 0 ? words->w[k] : words->w[k] >> r | next << (64 - r);
}

/* words: NULL, or the code. */
static inline void take_apart(size_t operands, const double *number, unsigned bits,
                              wgi_bits code, const wgi_words *words, wgi_statement_code *p) {
    uint8_t stack[WGI_MOST_NODES];
    int depth = 0, operand = 0;
    p->operands = p->nodes = (int)operands;
    for (int i = 0; i < p->operands; i++) {
        p->node[i].op = NULL;
        p->node[i].first = (uint8_t)i;
        p->node[i].last = (uint8_t)(i + 1);
    }
    wgi_bits rest = code;
    for (unsigned at = 0; at < bits;) {
        if (words != NULL) rest = bits_from(words, at);
        const int what = symbol(&rest, &at);
        if (what == OPERAND) {
            stack[depth++] = (uint8_t)operand++;
            continue;
        }
        struct wgi_step *n = &p->node[p->nodes];
        n->op = NULL;
        n->first = n->last = (uint8_t)operand;
        if (what == NUMBER) {
            n->value = *number++;
        } else {
            if (what == WGI_OP_USER) {
                uintptr_t address = 0;
                memcpy(&address, number++, sizeof address);
                n->op = (const wg_scalar_op *)address;
            } else {
                n->op = &wgi_scalar_ops[what];
            }
            depth -= (int)n->op->arity;
            for (unsigned i = 0; i < n->op->arity; i++) n->arg[i] = stack[depth + (int)i];
            n->first = p->node[n->arg[0]].first;
        }
        stack[depth++] = (uint8_t)p->nodes++;
    }
}

void wgi_statement_code_of(const wgi_entry *e, wgi_statement_code *p) {
    take_apart(e->operands, e->number, e->bits, e->code, NULL, p);
}

void wgi_statement_code_of_new(const wgi_statement *s, wgi_statement_code *p) {
    take_apart(s->operands, s->number, s->bits, s->code, s->words, p);
}

static void operand_values(const wgi_statement_code *p, const struct wgi_step *n, double *a) {
    for (unsigned k = 0; k < n->op->arity; k++) a[k] = p->node[n->arg[k]].value;
}

double wgi_statement_code_run(wgi_statement_code *p, const double *x) {
    for (int i = 0; i < p->operands; i++) p->node[i].value = x[i];
    for (int i = p->operands; i < p->nodes; i++) {
        struct wgi_step *n = &p->node[i];
        if (n->op == NULL) continue;
        double a[4];
        operand_values(p, n, a);
        n->value = n->op->value(a);
    }
    return p->node[p->nodes - 1].value;
}

/* The partial by each operand j, g[j], of the largest subtree so far that contains the operand.
 */
static void scale_gradient(const wgi_statement_code *p, const struct wgi_step *n,
                           const double *d, double *g) {
    for (unsigned k = 0; k < n->op->arity; k++) {
        const double scale = n->op->zero_first >> k & 1 ? 0 : d[k];
        if (scale == 1) continue;
        for (int j = p->node[n->arg[k]].first; j < p->node[n->arg[k]].last; j++)
            g[j] = scale == 0 ? 0 : wgi_product(scale, g[j]);
    }
}

void wgi_statement_code_partials(const wgi_statement_code *p, double *partial) {
    for (int j = 0; j < p->operands; j++) partial[j] = 1;
    for (int i = p->operands; i < p->nodes; i++) {
        const struct wgi_step *n = &p->node[i];
        if (n->op == NULL || n->first == n->last) continue;
        double a[4], d[4];
        operand_values(p, n, a);
        n->op->first(a, n->value, d);
        scale_gradient(p, n, d, partial);
    }
}

/* ---- comparisons ---- */

int wgi_compare(unsigned which, double a, double b) {
    switch (which) {
    case 0:
        return a < b;
    case 1:
        return a <= b;
    case 2:
        return a > b;
    case 3:
        return a >= b;
    case 4:
        return a == b;
    default:
        return a != b;
    }
}

const char *wgi_comparison_name(unsigned which) {
    static const char *const name[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    return name[which];
}

/* ---- text ---- */

static size_t put(char *buffer, size_t bytes, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static size_t put(char *buffer, size_t bytes, size_t at, const char *format, ...) {
    __builtin_va_list args;
    __builtin_va_start(args, format);
    const size_t left = at < bytes ? bytes - at : 0;
    const int n = vsnprintf(left != 0 ? buffer + at : NULL, left, format, args);
    __builtin_va_end(args);
    return n > 0 ? at + (size_t)n : at;
}

/* Prints a slot, or for slot 0 the number in its place. */
static size_t put_operand(char *buffer, size_t bytes, size_t at, uint32_t slot, double number) {
    char text[WGI_NUMBER_TEXT];
    if (slot != 0) return put(buffer, bytes, at, "s%u", slot);
    return put(buffer, bytes, at, "%s", wgi_number_text(text, number));
}

size_t wgi_code_text(const wgi_entry *e, char *buffer, size_t bytes) {
    size_t at = 0;
    if (bytes != 0) buffer[0] = 0;
    if (e->type == WGI_ENTRY_GUARD) {
        at = put(buffer, bytes, at, "%s(", wgi_comparison_name(e->op / 2));
        at = put_operand(buffer, bytes, at, e->slot[0], e->number[0]);
        at = put(buffer, bytes, at, ", ");
        at = put_operand(buffer, bytes, at, e->slot[1], e->number[1]);
        return put(buffer, bytes, at, ") was %s", e->op & 1 ? "true" : "false");
    }
    if (e->type == WGI_ENTRY_ARRAY) {
        /* operands; the values of constants follow the operation's own numbers, in order */
        const double *constant = e->number + wgi_array_numbers(e);
        at = put(buffer, bytes, at, "%s(", wgi_array_name(e->op));
        for (const double *p = e->number; p != constant && at < bytes; p++) {
            at = put_operand(buffer, bytes, at, 0, *p);
            at = put(buffer, bytes, at, p + 1 == constant ? "; " : ", ");
        }
        for (size_t i = 0; i < e->operands && at < bytes; i++) {
            if (i != 0) at = put(buffer, bytes, at, ", ");
            at = put_operand(buffer, bytes, at, e->slot[i], e->slot[i] == 0 ? *constant++ : 0);
        }
        return put(buffer, bytes, at, ")");
    }
    wgi_statement_code p;
    wgi_statement_code_of(e, &p);
    /* what is still to be printed, the next one last: a node, or a separator */
    enum { COMMA = 254, CLOSE = 255 };
    uint8_t pending[4 * WGI_MAX_NODES];
    int n = 0;
    pending[n++] = (uint8_t)(p.nodes - 1);
    while (n > 0) {
        const uint8_t i = pending[--n];
        if (i == COMMA || i == CLOSE) {
            at = put(buffer, bytes, at, i == COMMA ? ", " : ")");
        } else if (i < p.operands) {
            at = put_operand(buffer, bytes, at, e->slot[i], 0);
        } else if (p.node[i].op == NULL) {
            at = put_operand(buffer, bytes, at, 0, p.node[i].value);
        } else {
            at = put(buffer, bytes, at, "%s(", p.node[i].op->name);
            pending[n++] = CLOSE;
            for (unsigned k = p.node[i].op->arity; k-- > 0;) {
                pending[n++] = p.node[i].arg[k];
                if (k > 0) pending[n++] = COMMA;
            }
        }
    }
    return at;
}
