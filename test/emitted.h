/* SPDX-License-Identifier: MIT */
/* emitted.h - functions drawn as graphs, their values at one point node by node, and emitted
 * text compiled and loaded. */
#ifndef WENGERT_TEST_EMITTED_H
#define WENGERT_TEST_EMITTED_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ops/scalar/array.h"
#include "tape/function/make/finish.h"
#include "tape/function/graph/graph.h"
#include "depth.h"
#include "graph_walk.h"
#include "sanitized.h"
#include "scratch.h"
#include <wengert/emit.h>

/* ---- numbers ---- */

static uint64_t random_state = 1;
static inline size_t below(size_t n) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state >> 11) % n;
}
static inline double uniform(double lo, double hi) {
    return lo + (hi - lo) * (double)below((size_t)1 << 50) * 0x1p-50;
}
static inline int same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}
static const double special[] = {0.0,   -0.0,   1.0,       -1.0,    0.5,    -0.5,   2.0,
                                 -3.0,  1e-5,   1e-300,    -1e-310, 1e300,  -1e300, INFINITY,
                                 -20.5, 0.9999, -INFINITY, NAN,     100.25, 709.9,  1e9};
enum { SPECIALS = sizeof special / sizeof *special };

/* ---- functions by hand ---- */

typedef struct hand {
    wg_tape *t;
    wgi_graph g;
    wg_argument in[16], out[16];
    size_t ins, outs, n, m;
    uint32_t result[4096];
    wg_function *f;
} hand;

static inline void hand_open(hand *h) {
    const wg_options options = {.flags = WG_KEEP_CODE};
    memset(h, 0, sizeof *h);
    h->t = wg_tape_new(&options);
    assert_non_null(h->t);
    wgi_graph_open(&h->g, wgi_core_of(h->t), "test");
}
static inline uint32_t hand_input(hand *h, const char *name, size_t rows, size_t cols,
                                  unsigned flags) {
    const uint32_t first = (uint32_t)h->g.nodes;
    h->in[h->ins++] = (wg_argument){name, rows, cols, flags};
    for (size_t e = 0; e < rows * cols; e++)
        (void)wgi_graph_input(&h->g, flags & WG_SHARED ? WGI_ONCE : WGI_EACH);
    h->n += rows * cols;
    return first;
}
static inline void hand_output(hand *h, const char *name, size_t rows, size_t cols,
                               unsigned flags, const uint32_t *node) {
    h->out[h->outs++] = (wg_argument){name, rows, cols, flags};
    for (size_t e = 0; e < rows * cols; e++)
        h->result[h->m++] = flags & WG_SUMMED ? wgi_graph_sum(&h->g, node[e]) : node[e];
}
static inline void hand_finish(hand *h) {
    assert_int_equal(wg_tape_status(h->t), WG_OK);
    assert_int_equal(
        wgi_function_finish(&h->g, h->ins, h->in, h->outs, h->out, h->result, &h->f), WG_OK);
}
static inline void hand_close(hand *h) {
    wg_function_free(h->f);
    wg_tape_free(h->t);
}

static inline const wg_scalar_op *op_named(const char *name) {
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        if (strcmp(wgi_scalar_ops[i].name, name) == 0) return &wgi_scalar_ops[i];
    fail_msg("%s", name);
    return NULL;
}
static inline uint32_t hand_partial(hand *h, const wg_scalar_op *op, wgi_node_kind kind,
                                    unsigned part, const uint32_t *x) {
    wgi_node like;
    memset(&like, 0, sizeof like);
    like.op = op;
    like.kind = (unsigned char)kind;
    like.part = part;
    return wgi_graph_node(&h->g, &like, op->arity, x);
}

/* The value and all partials of every row, each of inputs of its own. */
static inline void hand_every_row(hand *h, size_t first, size_t last) {
    uint32_t node[2048];
    size_t nodes = 0, inputs = 0;
    for (size_t k = first; k < last; k++) inputs += wgi_scalar_ops[k].arity;
    uint32_t x = hand_input(h, "x", inputs, 1, 0);
    for (size_t k = first; k < last; k++) {
        const wg_scalar_op *const op = &wgi_scalar_ops[k];
        uint32_t operand[4];
        for (unsigned i = 0; i < op->arity; i++) operand[i] = x++;
        const unsigned partials = op->arity * (op->arity + 1) / 2;
        node[nodes++] = hand_partial(h, op, WGI_NODE_OP, 0, operand);
        for (unsigned i = 0; i < op->arity; i++)
            node[nodes++] = hand_partial(h, op, WGI_NODE_FIRST, i, operand);
        for (unsigned i = 0; i < partials && op->second != NULL; i++)
            if ((op->zero_second >> i & 1) == 0)
                node[nodes++] = hand_partial(h, op, WGI_NODE_SECOND, i, operand);
    }
    hand_output(h, "y", nodes, 1, 0, node);
    hand_finish(h);
}

/* Elementary operations, products by the zero rule, arrays, comparisons; sums and shared inputs
 * if wanted. Comparisons are with a number that no operand has. */
static inline void hand_draw(hand *h, uint64_t seed, size_t nodes, int sums, int guards) {
    static const char *const list[] = {
        "add",       "sub",       "mul",   "add",   "sub",  "mul",  "neg",
        "fabs",      "sqrt",      "div",   "relu",  "sign", "fmax", "fmin",
        "fma",       "floor",     "clamp", "exp",   "tanh", "log",  "select_lt",
        "select_ge", "select_eq", "hypot", "atan2", "sin"};
    uint32_t pool[4096];
    size_t in_pool = 0;
    random_state = seed * 2654435761u + 1;
    for (size_t k = 0; k < 3; k++) {
        static const char *const name[] = {"x", "double", "t3"};
        const uint32_t first = hand_input(h, name[k], 2, k + 1, sums && k == 1 ? WG_SHARED : 0);
        for (uint32_t e = 0; e < 2 * (k + 1); e++) pool[in_pool++] = first + e;
    }
    for (size_t i = 0; i < nodes; i++) {
        uint32_t x[4];
        for (int k = 0; k < 4; k++)
            x[k] = pool[below(3) ? in_pool - 1 - below(6) : below(in_pool)];
        const size_t kind = below(24);
        if (kind < 6) pool[in_pool] = wgi_graph_times(&h->g, x[0], x[1]);
        else if (kind == 6)
            pool[in_pool] =
                wgi_graph_array(&h->g,
                                (unsigned[]){WGI_ARRAY_norm2, WGI_ARRAY_logsumexp,
                                             WGI_ARRAY_maximum, WGI_ARRAY_minimum}[below(4)],
                                2 + below(3), x);
        else if (kind == 7) pool[in_pool] = wgi_graph_number(&h->g, uniform(-1, 1));
        else if (kind == 8)
            pool[in_pool] =
                hand_partial(h, op_named("fmax"), WGI_NODE_FIRST, (unsigned)below(2), x);
        else if (kind == 9)
            pool[in_pool] =
                hand_partial(h, op_named("pow"), WGI_NODE_FIRST, (unsigned)below(2), x);
        else
            pool[in_pool] =
                wgi_graph_op(&h->g, op_named(list[below(sizeof list / sizeof *list)]), x);
        in_pool++;
    }
    for (size_t k = 0; guards && k < 5; k++) {
        const uint32_t side = pool[below(in_pool)],
                       number = wgi_graph_number(&h->g, 0.31 + (double)k);
        const unsigned comparison = (unsigned)below(4);
        const int outcome = (int)below(2);
        if (h->g.node[side].kind != WGI_NODE_NUMBER)
            wgi_graph_guard_add(&h->g, side, number, comparison, outcome);
    }
    uint32_t out[8];
    for (int k = 0; k < 8; k++) out[k] = pool[in_pool - 1 - below(20)];
    out[3] = wgi_graph_number(&h->g, 0);
    out[5] = pool[0];
    hand_output(h, "y", 2, 3, 0, out);
    if (sums) hand_output(h, "dy/dx", 4, 2, WG_SUMMED, out);
    hand_finish(h);
}

/* ---- compiled ---- */

typedef struct emitted {
    char directory[SCRATCH_BYTES];
    void *library;
} emitted;

static const char *const emitted_compilers[] = {"gcc", "clang"};

/* The compiler of this program: each is looked at where the tests are built with it. */
#ifdef __clang__
#define EMITTED_COMPILER "clang"
#else
#define EMITTED_COMPILER "gcc"
#endif

/* Is it the compiler of this program, and there by this name? */
static inline int has_compiler(const char *name) {
    char line[128];
    if (strcmp(name, EMITTED_COMPILER) != 0) return 0;
    (void)snprintf(line, sizeof line, "%s --version >/dev/null 2>&1", name);
    return system(line) == 0;
}

/* How a text of hundreds of kilobytes is compiled. Optimised, gcc takes up to 15 s for one and
 * clang as long or twice that: so it is by gcc alone, with DEPTH=2. What is shorter is optimised
 * by both. */
static inline const char *emitted_level(const char *compiler) {
    return is_deep() && strcmp(compiler, "gcc") == 0 ? "-O1" : "-O0";
}

/* Compiles the text and loads it. What was compiled before, of the same text, with the same
 * flags, by the same compiler, is taken from there: a name in COMPILED_BEFORE is the digest of
 * these three, and is given only to a library that was compiled to its end. */
static inline void emitted_load(emitted *e, const char *compiler, const char *flags) {
    char line[1024];
    (void)snprintf(line, sizeof line,
                   "set -e; mkdir -p " COMPILED_BEFORE "\n"
                   "flags='%s -ffp-contract=off -fPIC -shared'\n"
                   "key=$({ %s --version; echo \"$flags\"; cat %s/e.c; } | sha256sum)\n"
                   "so=" COMPILED_BEFORE "/emitted-${key%%%% *}.so\n"
                   "[ -f $so ] || {\n"
                   "    %s $flags -o $so.$$ %s/e.c -lm || { rm -f $so.$$; exit 1; }\n"
                   "    mv $so.$$ $so\n"
                   "}\n"
                   "cp $so %s/e.so\n",
                   flags, compiler, e->directory, compiler, e->directory, e->directory);
    assert_int_equal(system(line), 0);
    (void)snprintf(line, sizeof line, "%s/e.so", e->directory);
    e->library = dlopen(line, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(e->library);
}
/* As strict C99 without a warning. */
static inline void emitted_open(emitted *e, const char *compiler, const char *more) {
    char flags[256];
    (void)snprintf(flags, sizeof flags,
                   "-std=c99 -Wall -Wextra -Wpedantic -Werror %s -fno-builtin-pow", more);
    emitted_load(e, compiler, flags);
}
static inline void emitted_close(emitted *e) {
    char line[128];
    (void)dlclose(e->library);
    (void)snprintf(line, sizeof line, "%s/e.so", e->directory);
    (void)unlink(line);
}
static inline FILE *emitted_text(emitted *e) {
    char line[128];
    assert_int_equal(scratch_make(e->directory), 0);
    (void)snprintf(line, sizeof line, "%s/e.c", e->directory);
    FILE *const f = fopen(line, "w");
    assert_non_null(f);
    return f;
}
static inline void emitted_remove(const emitted *e) {
    assert_int_equal(scratch_remove(e->directory), 0);
}
static inline void *emitted_symbol(const emitted *e, const char *name, const char *suffix) {
    char line[256];
    (void)snprintf(line, sizeof line, "%.128s%.64s", name, suffix);
    void *const p = dlsym(e->library, line);
    if (p == NULL) fail_msg("no %s", line);
    return p;
}
/* A function pointer; ISO C has no conversion. */
#define EMITTED(e, name, suffix, to)                                                           \
    do {                                                                                       \
        void *const p_ = emitted_symbol(e, name, suffix);                                      \
        memcpy(&(to), &p_, sizeof p_);                                                         \
    } while (0)

#endif
