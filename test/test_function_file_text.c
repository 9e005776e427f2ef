/* SPDX-License-Identifier: MIT */
/* test_function_file_text.c - functions as text and as graphs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "tape/function/make/finish.h"
#include "tape/function/graph/dense_node.h"
#include "file_case.h"

/* ---- text and graphs ---- */

static struct {
    size_t used;
    char bytes[1 << 14];
} out;
static int collect(void *ctx, const char *text, size_t bytes) {
    (void)ctx;
    if (out.used + bytes >= sizeof out.bytes) return 1;
    memcpy(out.bytes + out.used, text, bytes);
    out.used += bytes;
    out.bytes[out.used] = 0;
    return 0;
}
static const char *dump_of(const wg_function *f) {
    out.used = 0;
    assert_int_equal(wg_function_dump(f, collect, NULL), WG_OK);
    return out.bytes;
}
static const char *dot_of(const wg_function *f) {
    out.used = 0;
    assert_int_equal(wg_function_dot(f, collect, NULL), WG_OK);
    return out.bytes;
}

static void a_dump_has_a_line_per_operation(void **state) {
    (void)state;
    uint8_t bytes[sizeof first_version];
    memcpy(bytes, first_version, sizeof bytes);
    seal(bytes, sizeof bytes);
    wg_function *f = loaded(bytes, sizeof bytes);
    assert_string_equal(dump_of(f), "input x[2]\n"
                                    "input p shared passive\n"
                                    "output y summed\n"
                                    "t4 = mul(x[0], p)  ; each\n"
                                    "t5 = add(t4, 0.5)  ; each\n"
                                    "t6 = sum(t5)  ; after\n"
                                    "guard 0: gt(x[0], 0.5) was true\n"
                                    "y = t6\n");
    wg_function_free(f);
    f = sample_of(1);
    assert_string_equal(dump_of(f), "input x[2]\n"
                                    "input s[1,2] shared\n"
                                    "output J[2,3]\n"
                                    "output total[3] summed\n"
                                    "output c[4]\n"
                                    "t8 = area(s[0], s[1])  ; once\n"
                                    "t9 = pow.ab(s[0], t8)  ; once\n"
                                    "t10 = pow.b(x[0], x[1])  ; each\n"
                                    "t11 = softsign.aa(x[1])  ; each\n"
                                    "t12 = times(t10, t11)  ; each\n"
                                    "t13 = norm2(x[0], x[1], s[0], s[1])  ; each\n"
                                    "t14 = sum(t12)  ; after\n"
                                    "t15 = sum(t9)  ; after\n"
                                    "t16 = pow(t15, t14)  ; after\n"
                                    "guard 0: le(x[0], s[0]) was false\n"
                                    "guard 1: ne(t16, -inf) was true\n"
                                    "J[0,0] = t10\n"
                                    "J[1,0] = t9\n"
                                    "J[0,1] = t11\n"
                                    "J[1,1] = t12\n"
                                    "J[0,2] = t13\n"
                                    "J[1,2] = x[1]\n"
                                    "total[0] = t14\n"
                                    "total[1] = t16\n"
                                    "total[2] = s[1]\n"
                                    "c[0] = nan\n"
                                    "c[1] = -0\n"
                                    "c[2] = 4.94065645841247e-324\n"
                                    "c[3] = -inf\n");
    wg_function_free(f);
}

static void a_graph_has_a_cluster_per_kind_of_work(void **state) {
    (void)state;
    uint8_t bytes[sizeof first_version];
    memcpy(bytes, first_version, sizeof bytes);
    seal(bytes, sizeof bytes);
    wg_function *f = loaded(bytes, sizeof bytes);
    assert_string_equal(dot_of(f), "digraph function {\n"
                                   "    t0 [shape=box, label=\"x[0]\"];\n"
                                   "    t1 [shape=box, label=\"x[1]\"];\n"
                                   "    t2 [shape=box, label=\"p\"];\n"
                                   "    subgraph cluster_each {\n"
                                   "        label=\"each\";\n"
                                   "        t4 [label=\"t4\\nmul(x[0], p)\"];\n"
                                   "        t5 [label=\"t5\\nadd(t4, 0.5)\"];\n"
                                   "    }\n"
                                   "    subgraph cluster_after {\n"
                                   "        label=\"after\";\n"
                                   "        t6 [label=\"t6\\nsum(t5)\"];\n"
                                   "    }\n"
                                   "    t0 -> t4;\n"
                                   "    t2 -> t4;\n"
                                   "    t4 -> t5;\n"
                                   "    t5 -> t6;\n"
                                   "    g0 [shape=diamond, label=\"gt(x[0], 0.5) was true\"];\n"
                                   "    t0 -> g0;\n"
                                   "    r0 [shape=box, peripheries=2, label=\"y\"];\n"
                                   "    t6 -> r0;\n"
                                   "}\n");
    wg_function_free(f);
    f = sample_of(2);
    assert_string_equal(dot_of(f), "digraph function {\n"
                                   "    r0 [shape=box, peripheries=2, label=\"y = 0.1\"];\n"
                                   "}\n");
    wg_function_free(f);
}

static void names_are_escaped_in_graphs(void **state) {
    (void)state;
    wg_scalar_op odd = wgi_user_softsign;
    odd.name = "a \"b\\N\"\nc";
    wg_function *const f = apply(&odd);
    assert_has(dot_of(f), "    t1 [label=\"t1\\na \\\"b\\\\N\\\" c(x)\"];\n");
    assert_has(dump_of(f), "t1 = a \\\"b\\\\N\\\" c(x)  ; each\n");
    wg_function_free(f);
}

static void long_lists_of_operands_are_cut_in_graphs_only(void **state) {
    (void)state;
    enum { N = 100 };
    wgi_graph g;
    wg_function *f = NULL;
    const wg_argument in = {"x", N, 1, 0}, result = {"y", 1, 1, 0};
    uint32_t x[N];
    wgi_graph_open(&g, wgi_core_of(tape), "long");
    for (int i = 0; i < N; i++) x[i] = wgi_graph_input(&g, WGI_EACH);
    const uint32_t y = wgi_graph_array(&g, WGI_ARRAY_maximum, N, x);
    assert_int_equal(wgi_function_finish(&g, 1, &in, 1, &result, &y, &f), WG_OK);
    assert_has(dot_of(f), "maximum(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], ...)\"");
    assert_has(out.bytes, "    t99 -> t100;\n");
    assert_has(dump_of(f), ", x[98], x[99])  ; each\n");
    wg_function_free(f);
}

/* Inputs of many shapes, some of no entries: each entry finds its own. */
static void entries_of_many_inputs_are_named(void **state) {
    (void)state;
    enum { INPUTS = 1000 };
    static wg_argument in[INPUTS];
    static char name[INPUTS][8];
    size_t n = 0;
    for (size_t k = 0; k < INPUTS; k++) {
        snprintf(name[k], sizeof name[k], "i%zu", k);
        in[k] = (wg_argument){name[k], k % 3, 1, 0};
        n += k % 3;
    }
    wgi_graph g;
    wgi_graph_open(&g, wgi_core_of(tape), "many");
    for (size_t i = 0; i < n; i++) (void)wgi_graph_input(&g, WGI_EACH);
    const wg_argument result = {"y", n, 1, 0};
    uint32_t *const y = malloc(n * sizeof *y);
    for (size_t i = 0; i < n; i++) y[i] = (uint32_t)i;
    wg_function *f = NULL;
    assert_int_equal(wgi_function_finish(&g, INPUTS, in, 1, &result, y, &f), WG_OK);
    free(y);
    FILE *const file = tmpfile();
    assert_non_null(file);
    assert_int_equal(wg_function_dump(f, wg_write_file, file), WG_OK);
    rewind(file);
    char line[64], expected[64];
    for (size_t k = 0; k <= INPUTS; k++) assert_non_null(fgets(line, sizeof line, file));
    for (size_t k = 0, j = 0; k < INPUTS; k++)
        for (size_t e = 0; e < k % 3; e++, j++) {
            assert_non_null(fgets(line, sizeof line, file));
            if (k % 3 == 1) snprintf(expected, sizeof expected, "y[%zu] = i%zu\n", j, k);
            else snprintf(expected, sizeof expected, "y[%zu] = i%zu[%zu]\n", j, k, e);
            assert_string_equal(line, expected);
        }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    wg_function_free(f);
}

static void a_dump_lists_bodies_below(void **state) {
    (void)state;
    wg_function *const f = sample(tape, 4);
    assert_has(dump_of(f), "input s[2]\n"
                           "input p shared\n"
                           "input u[3]\n"
                           "output y[5]\n"
                           "output sum summed\n"
                           "t9 = body1(0.5, p, 0.5)  ; once, 2 steps\n"
                           "t11 = body0(s[0], s[1], p, u[0], u[1], u[2])  ; each, 3 steps\n"
                           "t17 = mul(t11[11], t9[2])  ; each\n"
                           "t18 = sum(t17)  ; after\n"
                           "guard 0: gt(s[0], -1.75) was true\n"
                           "y[0] = t11[6]\n"
                           "y[1] = t11[7]\n"
                           "y[2] = t11[9]\n"
                           "y[3] = t11[2]\n"
                           "y[4] = 0\n"
                           "sum = t18\n"
                           "body0:\n"
                           "    input s[2] carried\n"
                           "    input p\n"
                           "    input u stepped\n"
                           "    output s[2] carried\n"
                           "    output e stepped\n"
                           "    output total\n"
                           "    t5 = body0.0(p, s[0], s[1])  ; each, 2 steps\n"
                           "    t9 = sub(s[1], t5[1])  ; each\n"
                           "    t10 = mul(u, t5[0])  ; each\n"
                           "    t11 = add(s[0], t10)  ; each\n"
                           "    t12 = softplus(t9)  ; each\n"
                           "    guard 0: lt(u, 1.75) was true\n"
                           "    s[0] = t11\n"
                           "    s[1] = t9\n"
                           "    e = t5[2]\n"
                           "    total = t12\n"
                           "    body0.0:\n"
                           "        input a shared\n"
                           "        input x stepped\n"
                           "        output y stepped\n"
                           "        output sum summed\n"
                           "        t2 = mul(a, x)  ; each\n"
                           "        t3 = sin(t2)  ; each\n"
                           "        t4 = mul(x, t3)  ; each\n"
                           "        t5 = sum(t4)  ; after\n"
                           "        y = t3\n"
                           "        sum = t5\n"
                           "body1:\n"
                           "    input a shared\n");
    wg_function_free(f);
    uint8_t bytes[sizeof in_steps];
    memcpy(bytes, in_steps, sizeof bytes);
    bytes[REPEAT_AT + 8] = 1;
    seal(bytes, sizeof bytes);
    wg_function *const g = loaded(bytes, sizeof bytes);
    assert_has(dump_of(g), "t3 = body0(x, u[0], u[1])  ; each, 2 steps backwards\n");
    wg_function_free(g);
}

/* Names of what is in a body have its own in front; results that go the same way are one edge.
 */
static void a_graph_has_a_cluster_per_body(void **state) {
    (void)state;
    static const char *const parts[] = {
        "        t11 [label=\"t11\\nbody0(s[0], s[1], p, u[0], u[1], u[2])\\n3 steps\"];\n",
        "    t5 -> t11;\n    t11 -> t17;\n    t9 -> t17;\n",
        "    r0 [shape=box, peripheries=2, label=\"y[0] = t11[6]\"];\n    t11 -> r0;\n",
        "    t18 -> r5;\n"
        "    subgraph cluster_b0 {\n"
        "        label=\"body0\";\n"
        "        b0_t0 [shape=box, label=\"s[0]\"];\n",
        "        subgraph cluster_b0_each {\n"
        "            label=\"each\";\n"
        "            b0_t5 [label=\"t5\\nbody0.0(p, s[0], s[1])\\n2 steps\"];\n",
        "        b0_g0 [shape=diamond, label=\"lt(u, 1.75) was true\"];\n"
        "        b0_t3 -> b0_g0;\n",
        "        subgraph cluster_b0_0 {\n"
        "            label=\"body0.0\";\n"
        "            b0_0_t0 [shape=box, label=\"a\"];\n",
        "            b0_0_t5 -> b0_0_r1;\n"
        "        }\n"
        "    }\n"
        "    subgraph cluster_b1 {\n",
    };
    wg_function *const f = sample(tape, 4);
    (void)dot_of(f);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) assert_has(out.bytes, parts[i]);
    wg_function_free(f);
    wgi_graph g;
    wg_function *few = NULL;
    const wg_argument x = {"x", 3, 1, 0}, y = {"y", 1, 1, 0};
    const wgi_repeat *const r = of_points(wgi_core_of(tape));
    wgi_graph_open(&g, wgi_core_of(tape), "few");
    for (int i = 0; i < 3; i++) (void)wgi_graph_input(&g, WGI_EACH);
    const uint32_t part = wgi_graph_repeat(&g, r, (uint32_t[]){0, 1, 2}) + 1;
    const uint32_t most =
        wgi_graph_array(&g, WGI_ARRAY_maximum, 3, (uint32_t[]){part, part + 1, part + 2});
    assert_int_equal(wgi_function_finish(&g, 1, &x, 1, &y, &most, &few), WG_OK);
    assert_has(dot_of(few), "    t2 -> t3;\n    t3 -> t7;\n    r0 ");
    wg_function_free(few);
}

static void operations_on_matrices_are_drawn_with_their_first_operands(void **state) {
    (void)state;
    wgi_graph g;
    wg_function *f = NULL;
    uint32_t x[14];
    const wg_argument in = {"x", 14, 1, 0}, y = {"y", 2, 1, 0};
    const wgi_dense_op solve = {WGI_DENSE_SOLVE, WGI_DENSE_RULE | WGI_DENSE_TURNED, {2, 2, 0}};
    const wgi_dense_op product = {WGI_DENSE_PRODUCT, 0, {1, 3, 2}};
    wg_tape_reset(tape);
    wgi_graph_open(&g, wgi_core_of(tape), "drawn");
    for (size_t k = 0; k < 14; k++) x[k] = wgi_graph_input(&g, WGI_EACH);
    const uint32_t first = wgi_graph_dense(&g, &solve, x) + 1;
    const uint32_t a[] = {first, first + 2, first, x[0], x[1], x[2], x[3], first + 3};
    const uint32_t parts = wgi_graph_dense(&g, &product, a) + 1;
    const uint32_t to[] = {first + 3, parts + 1};
    assert_int_equal(wgi_function_finish(&g, 1, &in, 1, &y, to, &f), WG_OK);
    wg_tape_reset(tape);
    assert_has(
        dump_of(f),
        "t14 = solve(2x2, rule, turned)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], "
        "...)  ; each\n"
        "t18 = product(1x3x2)(t14[0], t14[2], t14[0], x[0], x[1], x[2], x[3], t14[3])  ; "
        "each\n"
        "y[0] = t14[3]\n"
        "y[1] = t18[1]\n");
    assert_has(dot_of(f),
               "        t14 [label=\"t14\\nsolve(2x2, rule, turned)(x[0], x[1], x[2], "
               "x[3], x[4], x[5], x[6], x[7], ...)\"];\n");
    assert_has(out.bytes, "    t13 -> t14;\n    t14 -> t18;\n    t0 -> t18;\n");
    assert_has(out.bytes,
               "    r1 [shape=box, peripheries=2, label=\"y[1] = t18[1]\"];\n    t18 -> r1;\n");
    wg_function_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_dump_has_a_line_per_operation),
        TEST(a_graph_has_a_cluster_per_kind_of_work),
        TEST(names_are_escaped_in_graphs),
        TEST(long_lists_of_operands_are_cut_in_graphs_only),
        TEST(entries_of_many_inputs_are_named),
        TEST(a_dump_lists_bodies_below),
        TEST(a_graph_has_a_cluster_per_body),
        TEST(operations_on_matrices_are_drawn_with_their_first_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
