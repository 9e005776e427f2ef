/* SPDX-License-Identifier: MIT */
/* generate - writes the generated headers from the one table of operations.
 *
 *   generate scalar         > include/wengert/scalar.h
 *   generate let            > include/wengert/let.h
 *   generate lists          > include/wengert/statement_lists.h
 *   generate dual           > include/wengert/dual_ops.h
 *   generate elementwise    > include/wengert/elementwise_ops.h
 *   generate generic_double > include/wengert/generic_double.h     also _dual, _tape
 *   generate operations     > ops/operations.md
 *   generate special_text   > ops/scalar/special_text.h; see generate_text.c
 *   generate dense_text     > ops/matrix/dense_text.h
 *
 * scalar.h: for every row of scalar.def the inline value and partials, its number, and the macro
 * that users call. statement_lists.h: one structure per operand count and what is done with it;
 * exact counts in the type are what lets a compiler dissolve a whole statement. A host program:
 * no part of the library. */
#include "generate_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OPERANDS = 8, MAX_NUMBERS = 8, MOST_OPERANDS = 24, MOST_NUMBERS = 24 };

/* ---- scalar.h ---------------------------------------------------------------------------- */

struct row {
    const char *name, *class, *source;
    int arity;
    const char *value, *partial[4];
};

static const struct row rows[] = {
#define OP1(name, value, d, dd, class, source) {#name, #class, source, 1, #value, {#d}},
#define OP2(name, value, da, db, daa, dab, dbb, class, source)                                 \
    {#name, #class, source, 2, #value, {#da, #db}},
#define OP3(name, value, da, db, dc, daa, dab, dac, dbb, dbc, dcc, class, source)              \
    {#name, #class, source, 3, #value, {#da, #db, #dc}},
#define OP4(name, value, da, db, dc, dd, class, source)                                        \
    {#name, #class, source, 4, #value, {#da, #db, #dc, #dd}},
#include "scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
};

#define ROWS ((int)(sizeof rows / sizeof *rows))

/* The names of a user's operation begin with user where those of a row have its name: wgi_op_user_NAME_v,
 * and wgi_op_NAME_v. Gives the row that would be in the way. */
static const char *row_of_users(void) {
    for (int i = 0; i < ROWS; i++)
        if (strncmp(rows[i].name, "user", 4) == 0) return rows[i].name;
    return NULL;
}

static const char letter[] = "abcd", argument[] = "xyzw", index_of[] = "ijkm";

/* Is the letter used in the text as an identifier of its own? */
static int uses(const char *text, char c) {
    for (const char *p = text; *p; p++) {
        const int before = p > text && (strchr("_.", p[-1]) || (p[-1] >= '0' && p[-1] <= '9') ||
                                        (p[-1] >= 'a' && p[-1] <= 'z') ||
                                        (p[-1] >= 'A' && p[-1] <= 'Z'));
        const int after = p[1] == '_' || (p[1] >= '0' && p[1] <= '9') ||
                          (p[1] >= 'a' && p[1] <= 'z') || (p[1] >= 'A' && p[1] <= 'Z');
        if (*p == c && !before && !after) return 1;
    }
    return 0;
}

/* A text that is arithmetic and nothing else is a macro: there is no call for the compiler to dissolve, and code
 * that is not optimised moves no arguments. Partials are given names of variables and numbers, values any operand:
 * theirs has each of its letters once, since a macro evaluates it where it stands. */
static int is_macro(const struct row *r, const char *text, int with_v) {
    for (int i = 0; i < r->arity && !with_v; i++)
        if (strchr(text, letter[i]) != strrchr(text, letter[i])) return 0;
    return text[strspn(text, "abcdv0123456789.+-*/() ")] == 0;
}

static void text_of(const struct row *r, const char *suffix, const char *text, int with_v) {
    const int macro = is_macro(r, text, with_v);
    printf(macro ? "#define wgi_op_%s_%s(" : "WGI_FUNCTION double wgi_op_%s_%s(", r->name, suffix);
    for (int i = 0; i < r->arity; i++) printf("%s%s%c", i ? ", " : "", macro ? "" : "double ", letter[i]);
    if (with_v) printf(macro ? ", v" : ", double v");
    if (macro) {
        const int whole = text[strspn(text, "-0123456789")] == 0;
        printf(") (");
        for (const char *p = text; *p != 0; p++) printf(strchr("abcdv", *p) != NULL ? "(%c)" : "%c", *p);
        printf("%s)\n", whole ? ".0" : "");
        return;
    }
    printf(") {");
    for (int i = 0; i < r->arity; i++)
        if (!uses(text, letter[i])) printf(" (void)%c;", letter[i]);
    if (with_v && !uses(text, 'v')) printf(" (void)v;");
    printf(" return %s; }\n", text);
}

/* Does a partial call a function, other than those that are an instruction? */
static int calls(const struct row *r) {
    static const char *const plain[] = {"fabs", "copysign", "signbit"};
    for (int k = 0; k < r->arity; k++)
        for (const char *p = r->partial[k]; (p = strchr(p, '(')) != NULL; p++) {
            const char *from = p;
            while (from > r->partial[k] && (isalnum((unsigned char)from[-1]) || from[-1] == '_')) from--;
            int is_plain = from == p;
            for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
                is_plain |= strlen(plain[i]) == (size_t)(p - from) &&
                            strncmp(plain[i], from, (size_t)(p - from)) == 0;
            if (!is_plain) return 1;
        }
    return 0;
}

/* How statement.h takes its partials. */
static const char *slope(const struct row *r) {
    if (!calls(r)) return "AS_IT_IS";
    return strcmp(r->name, "sin") == 0 || strcmp(r->name, "cos") == 0 ? "SINCOS" : "IF_ACTIVE";
}

static void write_scalar(void) {
    const int n = ROWS;
    puts("/* SPDX-License-Identifier: MIT */");
    puts("/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.");
    puts(" *");
    puts(" * Per operation: its value, its first partials (wgi_op_NAME_da is d/da), whether they call functions, and the macro.");
    puts(" * Letters: a b c d operand values, v the value. */");
    puts("#ifndef WENGERT_SCALAR_H\n#define WENGERT_SCALAR_H\n");
    puts("#include <math.h>\n#include <wengert/special.h>\n#include <wengert/statement.h>\n");
    puts("/* The number of an operation in kept code; only ever appended to. */\nenum {");
    for (int i = 0; i < n; i++) printf("    WGI_OP_%s = %d,\n", rows[i].name, i);
    printf("    WGI_OP_COUNT = %d\n};\n", n);
    puts("\n/* Numbers are compared for equality on purpose. */\n#pragma GCC diagnostic push\n"
         "#pragma GCC diagnostic ignored \"-Wfloat-equal\"");
    for (int i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        printf("\n/* %s: %s */\n", r->name, r->source);
        text_of(r, "v", r->value, 0);
        for (int k = 0; k < r->arity; k++) {
            const char suffix[] = {'d', letter[k], 0};
            text_of(r, suffix, r->partial[k], 1);
        }
        printf("enum { WGI_CODE_%s = WGI_CODE(%d), WGI_ADDS_%s = WGI_ADDS(%d), WGI_CALLS_%s = %d };\n",
               r->name, i, r->name, i, r->name, calls(r));
    }
    puts("\n#pragma GCC diagnostic pop\n\n#ifdef __cplusplus\n#include <wengert/scalar.hpp>\n#else\n");
    for (int i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        printf("#define wg_%s(", r->name);
        for (int k = 0; k < r->arity; k++) printf("%s%c", k ? ", " : "", argument[k]);
        printf(") __extension__({ ");
        for (int k = 0; k < r->arity; k++) printf("WGI_%c (%c); ", "XYZW"[k], argument[k]);
        /* gcc quotes this line where wg_let was forgotten */
        printf("WGI_OPERATION%d(WGI_%s, %s); wgi_e; }) /* needs wg_let */\n", r->arity, slope(r), r->name);
    }
    puts("\n#endif");
    puts("\n#endif");
}

/* ---- dual_ops.h -------------------------------------------------------------------------- */

/* A function call `stem_name(letters...)`, or its head with `type` before each letter. */
static void letters(const char *type, const char *of, int n, const char *last) {
    for (int k = 0; k < n; k++) printf("%s%s%c", k ? ", " : "", type, of[k]);
    printf("%s", last);
}

/* What the chain rule does with a partial of this text. */
static const char *rule_of(const char *text) {
    if (strcmp(text, "1") == 0) return "WGI_PLUS";
    if (strcmp(text, "-1") == 0 || strcmp(text, "-1.0") == 0) return "WGI_MINUS";
    return "WGI_TIMES";
}

static void write_dual_function(const struct row *r) {
    int terms = 0;
    for (int k = 0; k < r->arity; k++) terms += strcmp(r->partial[k], "0") != 0;
    printf("WGI_FUNCTION wg_dual wgi_dual_%s(", r->name);
    for (int k = 0; k < r->arity; k++)
        printf("%swg_dual %c, int %c", k ? ", " : "", argument[k], index_of[k]);
    printf(") {\n    const double ");
    for (int k = 0; k < r->arity; k++) printf("%c = %c.value, ", letter[k], argument[k]);
    printf("v = wgi_op_%s_v(", r->name);
    letters("", letter, r->arity, ");\n   ");
    for (int k = 0; k < r->arity; k++)
        if (strcmp(r->partial[k], "0") == 0) printf(" (void)%c;", index_of[k]);
    if (terms == 0) printf(" return wg_dual_constant(v");
    else printf(" return wgi_dual_chain%d(v", terms);
    for (int k = 0; k < r->arity; k++) {
        const char *const rule = rule_of(r->partial[k]);
        if (strcmp(r->partial[k], "0") == 0) continue;
        printf(",\n        %c ? %s : WGI_NONE, ", index_of[k], rule);
        if (strcmp(rule, "WGI_TIMES") == 0) {
            printf("%c ? wgi_op_%s_d%c(", index_of[k], r->name, letter[k]);
            letters("", letter, r->arity, ", v) : 0");
        } else {
            printf("0");
        }
        printf(", %c", argument[k]);
    }
    printf(");\n}\nWGI_FUNCTION wg_dual wg_dual_%s(", r->name);
    letters("wg_dual ", argument, r->arity, ") {");
    printf(" return wgi_dual_%s(", r->name);
    for (int k = 0; k < r->arity; k++) printf("%s%c, 1", k ? ", " : "", argument[k]);
    puts("); }");
}

/* The namespace of C++ of an operation: `found` of those that <math.h> has (statement.hpp). */
static const char *space_of(const char *name) {
    static const char list[] =
        " fma fmod remainder sqrt cbrt pow hypot exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos "
        "atan atan2 sinh cosh tanh asinh acosh atanh erf erfc lgamma tgamma j0 j1 y0 y1 floor ceil trunc round rint "
        "fabs copysign fmax fmin fdim ";
    char word[32];
    (void)snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL ? "found" : "named";
}

/* The operators of C++, for the macros so named. */
static void operators(const char *macro) {
    printf("\n%s2(+, add)\n%s2(-, sub)\n%s2(*, mul)\n", macro, macro, macro);
    printf("%s2(/, div)\n%s1(-, neg)\n", macro, macro);
}

static void write_dual(void) {
    puts("/* SPDX-License-Identifier: MIT */");
    puts("/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.");
    puts(" *");
    puts(" * wg_dual_NAME of duals, and wgi_dual_NAME where each operand says whether it is a dual");
    puts(" * (1) or a number (0), whose partial is then not computed. Included by dual.h. */");
    puts("#ifndef WENGERT_DUAL_OPS_H\n#define WENGERT_DUAL_OPS_H\n");
    puts("#include <wengert/dual.h>\n\n#pragma GCC system_header");
    for (int i = 0; i < ROWS; i++) {
        printf("\n/* %s: %s */\n", rows[i].name, rows[i].source);
        write_dual_function(&rows[i]);
    }
    puts("\n#if defined(__cplusplus) && __cplusplus >= 201703L");
    for (int i = 0; i < ROWS; i++)
        printf("WGI_DUAL_TEMPLATE%d(%s, %s)\n", rows[i].arity, space_of(rows[i].name), rows[i].name);
    operators("WGI_DUAL_OPERATOR");
    puts("#endif\n\n#endif");
}

/* ---- elementwise_ops.h ------------------------------------------------------------------- */

static void write_elementwise(void) {
    puts("/* SPDX-License-Identifier: MIT */");
    puts("/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.");
    puts(" *");
    puts(" * wg_mat_NAME, element by element, for every operation; see elementwise.h. */");
    puts("#ifndef WENGERT_ELEMENTWISE_OPS_H\n#define WENGERT_ELEMENTWISE_OPS_H\n");
    puts("#include <wengert/block.h>\n\nWG_BEGIN_DECLS");
    for (int i = 0; i < ROWS; i++) {
        printf("\n/* %s: %s */\nWG_API wg_mat wg_mat_%s(wg_tape *t, ", rows[i].name,
               rows[i].source, rows[i].name);
        letters("wg_mat ", letter, rows[i].arity, ");\n");
    }
    puts("\nWG_END_DECLS\n\n#endif");
}

/* ---- scalar.hpp --------------------------------------------------------------------------- */

static void write_cxx(void) {
    puts("/* SPDX-License-Identifier: MIT */");
    puts("/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.");
    puts(" *");
    puts(" * wg_NAME of variables, expressions and numbers, wg::NAME of wg::active, for every operation. */");
    puts("#ifndef WENGERT_SCALAR_HPP\n#define WENGERT_SCALAR_HPP\n");
    puts("#include <wengert/scalar.h>\n#include <wengert/statement.hpp>\n");
    puts("#pragma GCC system_header\n");
    for (int i = 0; i < ROWS; i++)
        printf("WGI_TEMPLATE%d(%s, %s)\n", rows[i].arity, space_of(rows[i].name), rows[i].name);
    operators("WGI_OPERATOR");
    puts("\n#endif");
}

/* ---- generic_double.h, generic_dual.h, generic_tape.h ------------------------------------- */

/* What is retyped beside the operations: name, parameters (NULL: none), its text where variables
 * are doubles and where they are duals. */
static const struct retyped {
    const char *name, *parameters, *as_double, *as_dual;
} retyped[] = {
    {"wg_real", NULL, "double", "wg_dual"},
    {"wg_let", "t, e", "((void)(t), (double)(e))", "WGI_DUAL_LET(t, e)"},
    {"wg_constant", "c", "((double)(c))", "wg_dual_constant((double)(c))"},
    {"wg_value", "x", "((double)(x))", "wg_dual_value(x)"},
    {"wg_input", "t, c", "((void)(t), (double)(c))", "((void)(t), wg_dual_constant((double)(c)))"},
    {"wg_inputs", "t, n, a, x", "((void)(t), wgi_double_inputs(n, a, x))",
     "((void)(t), wgi_dual_inputs(n, a, x))"},
    {"wg_let_given", "t, v, n, x, p", "((void)(t), wgi_double_given(v, n, x, p))",
     "((void)(t), wgi_dual_given(v, n, x, p))"},
    {"wg_terms", NULL, "wgi_double_terms", "wgi_dual_terms"},
    {"wg_terms_open", "t", "((void)(t), wgi_double_terms_open())",
     "((void)(t), wgi_dual_terms_open())"},
    {"wg_terms_add", "s, x, p", "wgi_double_terms_add(s, x, p)", "wgi_dual_terms_add(s, x, p)"},
    {"wg_terms_close", "s, v", "wgi_double_terms_close(s, v)", "wgi_dual_terms_close(s, v)"},
    {"wg_label", "t, x, text", "((void)(t), (void)(x), (void)(text), WG_OK)",
     "((void)(t), (void)(x), (void)(text), WG_OK)"},
#define COMPARISON(name, sign)                                                                 \
    {"wg_" #name, "t, x, y", "((void)(t), (double)(x) " sign " (double)(y))",                  \
     "((void)(t), WGI_DUAL_NUMBER(x) " sign " WGI_DUAL_NUMBER(y))"},
    COMPARISON(lt, "<") COMPARISON(le, "<=") COMPARISON(gt, ">") COMPARISON(ge, ">=")
    COMPARISON(eq, "==") COMPARISON(ne, "!=")
#undef COMPARISON
#define ARRAY(name, parameters)                                                                \
    {"wg_" #name, "t, " parameters, "((void)(t), wgi_double_" #name "(" parameters "))",       \
     "((void)(t), wgi_dual_" #name "(" parameters "))"},
    ARRAY(sum, "n, x") ARRAY(product, "n, x") ARRAY(dot, "n, x, y") ARRAY(linear, "n, c, x")
    ARRAY(polynomial, "n, c, z") ARRAY(norm2, "n, x") ARRAY(squared_norm, "n, x")
    ARRAY(logsumexp, "n, x") ARRAY(maximum, "n, x") ARRAY(minimum, "n, x") ARRAY(mean, "n, x")
    ARRAY(lookup, "index, n, x")
#undef ARRAY
    {"WG_CALL1", "name, x", "wgi_op_user_##name##_v((double)(x))", "WGI_DUAL_USER1(name, x)"},
    {"WG_CALL2", "name, x, y", "wgi_op_user_##name##_v((double)(x), (double)(y))",
     "WGI_DUAL_USER2(name, x, y)"},
    {"WG_CALL3", "name, x, y, z", "wgi_op_user_##name##_v((double)(x), (double)(y), (double)(z))",
     "WGI_DUAL_USER3(name, x, y, z)"},
    {"WG_CALL4", "name, x, y, z, w",
     "wgi_op_user_##name##_v((double)(x), (double)(y), (double)(z), (double)(w))",
     "WGI_DUAL_USER4(name, x, y, z, w)"},
};
#define RETYPED ((int)(sizeof retyped / sizeof *retyped))

static void write_retyped(const char *what, int dual) {
    printf("/* SPDX-License-Identifier: MIT */\n");
    puts("/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.");
    puts(" *");
    printf(" * The names of a kernel where its variables are %s. Included by generic.h, as often\n"
           " * as it is asked to; generic_tape.h gives the names their meaning back. */\n", what);
    puts("#pragma GCC system_header\n");
    for (int i = 0; i < RETYPED; i++) {
        const struct retyped *const r = &retyped[i];
        printf("#pragma push_macro(\"%s\")\n#undef %s\n#define %s", r->name, r->name, r->name);
        if (r->parameters) printf("(%s)", r->parameters);
        printf(" %s\n", dual ? r->as_dual : r->as_double);
    }
    for (int i = 0; i < ROWS; i++) {
        const struct row *const r = &rows[i];
        printf("#pragma push_macro(\"wg_%s\")\n#undef wg_%s\n#define wg_%s(", r->name, r->name,
               r->name);
        letters("", argument, r->arity, ") ");
        if (dual) {
            printf("WGI_DUAL_CALL%d(%s, ", r->arity, r->name);
            letters("", argument, r->arity, ")\n");
        } else {
            printf("wgi_op_%s_v(", r->name);
            for (int k = 0; k < r->arity; k++)
                printf("%s(double)(%c)", k ? ", " : "", argument[k]);
            puts(")");
        }
        printf("#pragma push_macro(\"wg_let_%s\")\n#undef wg_let_%s\n#define wg_let_%s(t, ", r->name,
               r->name, r->name);
        letters("", argument, r->arity, ") ((void)(t), wg_");
        printf("%s(", r->name);
        letters("", argument, r->arity, "))\n");
    }
}

static void write_generic_double(void) { write_retyped("doubles", 0); }
static void write_generic_dual(void) { write_retyped("duals", 1); }

static void write_generic_tape(void) {
    puts("/* SPDX-License-Identifier: MIT */");
    puts("/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.");
    puts(" *");
    puts(" * The names of a kernel mean the taped variable again. Included by generic.h. */");
    for (int i = 0; i < RETYPED; i++) printf("#pragma pop_macro(\"%s\")\n", retyped[i].name);
    for (int i = 0; i < ROWS; i++)
        printf("#pragma pop_macro(\"wg_%s\")\n#pragma pop_macro(\"wg_let_%s\")\n", rows[i].name,
               rows[i].name);
}

/* ---- statement_lists.h -------------------------------------------------------------------
 * A list of n operands is wgi_s<n>: partials p, values x, handles h as words (slot in the low half). A lone
 * variable is its wg_handle (its partial is 1); in names that list is called r. Index -1 stands for it. */

enum { LONE = -1, KEPT_OPERANDS = 4, WORDS = 7 };

static int count(int k) { return k == LONE ? 1 : k; }
static const char *type_of(int k) {
    static char text[4][16];
    static int turn;
    char *s = text[turn++ & 3];
    if (k == LONE) return "wg_handle";
    snprintf(s, sizeof text[0], "wgi_s%d", k);
    return s;
}
static const char *mark_of(int k) {
    static char text[4][16];
    static int turn;
    char *s = text[turn++ & 3];
    if (k == LONE) return "r";
    snprintf(s, sizeof text[0], "%d", k);
    return s;
}

/* wgi_put_<m>: what operand a brings to the list of a statement, by the chain rule: its partials times d. */
static void write_put(int m) {
    printf("WGI_LIST void wgi_put_%d(const ", m);
    printf(m == 0 ? "void" : "wgi_s%d", m);
    puts(" *a, double d, double *p, double *x, uint64_t *h, unsigned n) {\n    (void)n;");
    if (m == 0) puts("    (void)a; (void)d; (void)p; (void)x; (void)h;");
    for (int i = 0; i < m; i++)
        printf("    p[%d] = d * a->p[%d], x[%d] = a->x[%d], h[%d] = a->h[%d];\n", i, i, i, i, i, i);
    puts("}");
}

/* A list of n operands, more than MAX_OPERANDS: one by one, so that a compiler knows where each goes. */
static void write_put_many(void) {
    puts("WGI_LIST void wgi_put_many(const wgi_many *a, double d, double *p, double *x, uint64_t *h, unsigned n) {");
    for (int i = 0; i < MOST_OPERANDS; i++)
        printf("    if (n > %d) p[%d] = d * a->p[%d], x[%d] = a->x[%d], h[%d] = a->h[%d];\n", i, i, i, i, i, i, i);
    puts("}");
}

/* Record `at` of operands i and i + 1, of n; its partials are p<i> and p<i + 1>, or given. Beyond WORDS
 * operands there are not enough registers for whole words. */
static void write_record(const char *indent, int at, int i, int n, const char *p, const char *q) {
    const int two = i + 1 < n;
    char own[2][16];
    snprintf(own[0], sizeof own[0], "p%d", i);
    snprintf(own[1], sizeof own[1], two ? "p%d" : "0.0", i + 1);
    printf("%sWGI_RECORD%s((r + %d), to, s->h[%d], ", indent, n > 2 && n <= WORDS ? "S" : "", at, i);
    if (two) printf("s->h[%d]", i + 1);
    else printf("0");
    printf(", %s, %s);\n", p ? p : own[0], q ? q : own[1]);
}

/* The same pair of variables in every whole pair, (x, y) (x, y) ..: one record for them all. */
static void write_merged(int n) {
    const int pairs = n / 2;
    printf("    if ((");
    for (int k = 1; k < pairs; k++)
        printf("%s(s->h[0] ^ s->h[%d]) | (s->h[1] ^ s->h[%d])", k > 1 ? " | " : "", 2 * k, 2 * k + 1);
    puts(") == 0) {");
    char sum[2][128] = {"", ""};
    for (int side = 0; side < 2; side++)
        for (int k = 0, at = 0; k < pairs; k++)
            at += snprintf(sum[side] + at, sizeof sum[side] - (size_t)at,
                           k ? " + WGI_ROUNDED(p%d)" : "WGI_ROUNDED(p%d)", 2 * k + side);
    write_record("        ", 0, 0, n, sum[0], sum[1]);
    if (n % 2 == 1) write_record("        ", 1, n - 1, n, NULL, NULL);
    printf("        t->top = r + %d;\n        return wgi_result(t, value, out);\n    }\n",
           1 + n % 2);
}

/* Is one of the partials a NaN? Two per test. */
static void write_unordered(int n) {
    for (int i = 0; i < n; i += 2)
        printf("%s__builtin_isunordered(s->p[%d], s->p[%d])", i ? " | " : "", i, i + 1 < n ? i + 1 : i);
}

/* wgi_ready_<n>: is there room, are the operands variables of this tape, and where products were formed, is
 * none a NaN, which by the zero rule may have to be 0? Stamps are compared with those of operands 0 and 1, as
 * wgi_append_<n> compares the variables; beyond WORDS operands there are not enough registers to keep that. */
static void write_ready(int n) {
    printf("WGI_LIST int wgi_ready_%d(const wg_tape *t, const wgi_record *limit, const wgi_s%d *s, int products) {\n", n, n);
    printf("    const uint64_t k = wgi_stamp_word(t);\n"
           "    return (t->top < limit) & ((");
    for (int i = 0; i < n; i++)
        if (i < 2 || n > WORDS) printf("%s(s->h[%d] ^ k)", i ? " | " : "", i);
        else printf(" | (s->h[%d] ^ s->h[%d])", i & 1, i);
    printf(") >> 32 == 0) &\n        (!products | !(");
    write_unordered(n);
    puts("));\n}");
}

static void write_append(int n) {
    const int records = (n + 1) / 2;
    write_ready(n);
    printf("WGI_LIST wg_real wgi_append_%d(wg_tape *t, double value, const wgi_s%d *s) {\n", n, n);
    puts("    wgi_record *const r = t->top;\n    const uint32_t out = t->slots;\n"
         "    const uint64_t to = (uint64_t)out << 32;\n    t->slots = out + 1;");
    for (int k = 0; k < records; k += 2)
        printf("    WGI_AHEAD(r + %d);\n", k);
    printf("    double p0 = s->p[0]");
    for (int i = 1; i < n; i++) printf(", p%d = s->p[%d]", i, i);
    puts(";");
    if (n >= 4) write_merged(n);
    for (int k = 0; k < records; k++) write_record("    ", k, 2 * k, n, NULL, NULL);
    printf("    t->top = r + %d;\n", records);
    printf("    return wgi_result(t, value, out);\n}\n");
}

/* wgi_places_<n>: handles in one word, which is 0 where all are constants. */
static void write_places(int n) {
    printf("WGI_FUNCTION uint64_t wgi_places_%d(const wgi_s%d *s) { return ", n, n);
    for (int i = 0; i < n; i++) printf("%ss->h[%d]", i ? " | " : "", i);
    puts("; }");
}

static void write_choice(const char *macro, const char *stem) {
    printf("#define %s(s) _Generic(s", macro);
    for (int n = LONE; n <= MAX_OPERANDS; n++)
        printf(", \\\n    %s: wgi_%s_%s", type_of(n), stem, mark_of(n));
    printf(", \\\n    wgi_many: wgi_%s_many)\n", stem);
}

/* By the list; for the empty one, a lone variable and lists of more there is nothing to be done. */
static void write_choice_of_lists(const char *macro, const char *stem, int most, const char *more) {
    printf("#define %s(s) _Generic(s", macro);
    for (int n = 1; n <= most; n++) printf(", wgi_s%d: wgi_%s_%d", n, stem, n);
    printf("%s)\n", more);
}

/* By the number of something known when compiling. */
static void write_choice_by_number(const char *macro, const char *stem) {
    printf("#define %s(n) _Generic((char(*)[n + 1])0", macro);
    for (int n = 0; n <= MAX_OPERANDS; n++) printf(", \\\n    wgi_c%d: wgi_%s%d", n, stem, n);
    printf(", default: wgi_%smany)\n", stem);
}

/* The numbers of an operand: one by one; copied as a whole they would be built in memory on the fast path, too. */
static void write_numbers(int k) {
    printf("WGI_FUNCTION void wgi_numbers_%d(double *to, const double *from, unsigned n) { (void)n;%s", k,
           k == 0 ? " (void)to; (void)from;" : "");
    for (int i = 0; i < k; i++) printf(" to[%d] = from[%d];", i, i);
    puts(" }");
}

static void write_numbers_many(void) {
    puts("WGI_FUNCTION void wgi_numbers_many(double *to, const double *from, unsigned n) {");
    for (int i = 0; i < MOST_NUMBERS; i++) printf("    if (n > %d) to[%d] = from[%d];\n", i, i, i);
    puts("}");
}

/* wgi_kept_<n>: a tape that only keeps its code, and has room, gets the value and the code of a statement but for
 * its numbers; they go to where the result points (NULL: not so). Statements of few variables do it where they
 * stand, for around a call all values in registers go through memory; of more it would take the compiler too long,
 * and wgi_let_<n> does it. Stamps are not compared as in wgi_ready_<n>: compilers would do it once, and keep the
 * result for here, there. */
static void write_kept(int n) {
    printf("%s double *wgi_kept_%d(wg_tape *t, double value, const wgi_s%d *s, int products, uint64_t head,\n"
           "    wgi_bits code) {\n"
           "    if (t->top >= t->kept_limit || (uint32_t)(s->h[0] >> 32) != t->stamp",
           n <= KEPT_OPERANDS ? "WGI_LIST" : "WGI_FUNCTION", n, n);
    if (n > 1) printf(" ||\n        (");
    for (int i = 1; i < n; i++) printf("%s(s->h[0] ^ s->h[%d])", i > 1 ? " | " : "", i);
    if (n > 1) printf(") >> 32 != 0");
    printf(" ||\n        (products && (");
    write_unordered(n);
    printf(")))\n        return NULL;\n"
           "    const size_t slots = (head >> 36 & 4095) > 64 ? 3 : 2;\n"
           "    uint64_t *const w = t->code + t->code_words;\n"
           "    WGI_AHEAD(w);\n"
           "    wgi_halves *const h = (wgi_halves *)(void *)w;\n"
           "    const uint32_t out = t->slots;\n"
           "    h->first = out, h->second = (uint32_t)(head >> 32);\n"
           "    w[1] = (uint64_t)code;\n"
           "    if (slots == 3) w[2] = (uint64_t)(code >> 64);\n");
    for (int i = 0; i < n; i += 2) {
        printf("    h[slots + %d].first = (uint32_t)s->h[%d], h[slots + %d].second = ", i / 2, i, i / 2);
        if (i + 1 < n) printf("(uint32_t)s->h[%d];\n", i + 1);
        else puts("0;");
    }
    printf("    t->values[out] = value;\n"
           "    t->code_words += slots + %d + (head >> 56);\n"
           "    return (double *)(void *)(w + slots + %d);\n}\n", (n + 1) / 2, (n + 1) / 2);
}

/* wgi_none_<n>: are all operands constants, on a tape where that is all there is to know? Then the result is one,
 * and nothing is recorded. Asked first, as many statements of retyped codes are such, and of the first operand by
 * itself: of variables that is all that is asked. In C not of MAX_OPERANDS, for which there are not enough registers. */
static void write_none(int n) {
    printf("WGI_LIST int wgi_none_%d(const wg_tape *t, const wgi_s%d *s) {\n    return WGI_AT_TIMES(s->h[0] == 0) && WGI_LIKELY((", n, n);
    for (int i = 1; i < n; i++) printf("s->h[%d] | ", i);
    puts("t->watches) == 0);\n}");
}

/* wgi_append_some_<n>: as wgi_append_<n>, where some operands are constants, which are left out, and where it is not
 * known what has kept the statement from the fast path: if that is something else the result has the slot WGI_OUTSIDE,
 * and is none. Of few operands where the statement stands, by halves of records: around a call all values in registers
 * go through memory. There are no more than 3 variables among them, so that no pairs can be the same. */
static void write_some_here(int n) {
    printf("WGI_FUNCTION wg_real wgi_append_some_%d(wg_tape *t, double value, const wgi_s%d *s) {\n", n, n);
    puts("    const uint32_t out = t->slots;\n"
         "    const uint64_t k = wgi_stamp_word(t), result = (uint64_t)out << 32;\n"
         "    const wg_real nothing = {0, {WGI_OUTSIDE, 0}};\n"
         "    char *half = (char *)t->top; /* where the next one goes */\n"
         "    size_t step = 8;             /* 8 to the second half of a record, 24 from there */\n"
         "    uint64_t to = result, apart = 0;");
    printf("    if ((t->top >= t->limit) | ");
    write_unordered(n);
    puts(") return nothing;\n    WGI_AHEAD(half);");
    for (int i = 0; i < n; i++) printf("    if (s->h[%d] != 0) WGI_HALF(s->h[%d], s->p[%d]);\n", i, i, i);
    puts("    if (apart >> 32 != 0) return nothing;\n"
         "    if (step == 24) WGI_HALF(k, 0.0);\n"
         "    t->slots = out + 1;\n"
         "    t->top = (wgi_record *)(void *)half;\n"
         "    return wgi_result(t, value, out);\n}");
}

static void write_some_there(int n) {
    printf("WGI_FUNCTION wg_real wgi_append_some_%d(wg_tape *t, double value, const wgi_s%d *s) {\n"
           "    return wgi_some_%d(t, value", n, n, n);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n; i++) printf(", s->%c[%d]", "hp"[k], i);
    puts(");\n}");
}

/* Those of many operands are functions of the library. */
static void write_some(void) {
    for (int n = KEPT_OPERANDS + 1; n <= MAX_OPERANDS; n++) {
        printf("WGI_API wg_real wgi_some_%d(wg_tape *t, double value", n);
        for (int i = 0; i < n; i++) printf(", uint64_t h%d", i);
        for (int i = 0; i < n; i++) printf(", double p%d", i);
        puts(");");
    }
    puts("#ifdef __cplusplus /* in C statements with constants are left to wgi_let_<n> at once */");
    for (int n = 1; n <= MAX_OPERANDS; n++) {
        if (n <= KEPT_OPERANDS) write_some_here(n);
        else write_some_there(n);
    }
    puts("#endif");
}

/* The function that the fast path leaves to. The list field by field: a structure that is handed on as a whole is in
 * memory on the fast path, too. */
static void write_slow(int n) {
    const int operands = count(n);
    printf("WGI_API wg_real wgi_let_%s(wg_tape *t, double value", mark_of(n));
    for (int i = 0; i < operands; i++) printf(", uint64_t h%d", i);
    printf(",\n    const wgi_site *site, const double *number");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < operands; i++) printf(", double %c%d", "px"[k], i);
    printf(");\nWGI_FUNCTION wg_real wgi_leave_%s(wg_tape *t, double value, const %s *s, const double *number,\n"
           "    const wgi_site *site) {\n", mark_of(n), type_of(n));
    if (n == 0) puts("    (void)s;");
    printf("    return wgi_let_%s(t, value", mark_of(n));
    if (n == LONE) printf(", wgi_word(*s)");
    for (int i = 0; i < n; i++) printf(", s->h[%d]", i);
    printf(", site, number");
    if (n == LONE) printf(", 1, value");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n; i++) printf(", s->%c[%d]", "px"[k], i);
    puts(");\n}");
}

/* wgi_short_<n>: a statement whose code is to be small. Its numbers stand behind its list, in the expression. */
static void write_short(int n) {
    printf("WGI_API wg_real wgi_short_%s(wg_tape *t, double value, const %s *s, uint64_t head, wgi_bits code,\n"
           "    const char *file);\n", mark_of(n), n == LONE ? "void" : type_of(n));
}

static void write_lists(void) {
    puts("/* SPDX-License-Identifier: MIT */");
    puts("/* Generated by ops/scalar/generate.c: `make generate`. Do not edit.");
    puts(" *");
    puts(" * wgi_s<n>: n operands of one statement: partials p, values x, handles h as words (slot in the low half). A lone");
    puts(" * variable is its wg_handle (partial 1), called r in names. wgi_put_<n>: the chain rule, what an operand with n");
    puts(" * operands of its own (their partials times d) brings to those of a statement. wgi_many: more operands than eight;");
    puts(" * statements of them are never ready for the fast path, and left to wgi_let_long. */");
    puts("#ifndef WENGERT_STATEMENT_LISTS_H\n#define WENGERT_STATEMENT_LISTS_H\n");
    for (int n = 0; n <= MAX_OPERANDS; n++)
        printf("typedef char (*wgi_c%d)[%d];\ntypedef struct wgi_s%d {\n    double p[%d], x[%d];\n    uint64_t h[%d];\n} wgi_s%d;\n"
               "extern wgi_s%d wgi_type%d; /* its type is meant: there is no such variable */\n",
               n, n + 1, n, n, n, n, n, n, n);
    printf("typedef struct wgi_many {\n    double p[%d], x[%d];\n    uint64_t h[%d];\n} wgi_many;\n"
           "extern wgi_many wgi_typemany;\n", MOST_OPERANDS, MOST_OPERANDS, MOST_OPERANDS);
    write_choice_by_number("WGI_LIST_OF", "type");
    puts("");
    for (int m = 0; m <= MAX_OPERANDS; m++) write_put(m);
    write_put_many();
    write_choice_of_lists("WGI_PUT", "put", MAX_OPERANDS, ", wgi_many: wgi_put_many, default: wgi_put_0");
    puts("");
    for (int k = 0; k <= MAX_NUMBERS; k++) write_numbers(k);
    write_numbers_many();
    write_choice_by_number("WGI_PUT_NUMBERS", "numbers_");
    puts("");
    puts("WGI_LIST int wgi_ready_0(const wg_tape *t, const wgi_record *limit, const wgi_s0 *s, int products) {\n    (void)t; (void)limit; (void)s; (void)products;\n    return 0;\n}");
    puts("WGI_LIST wg_real wgi_append_0(wg_tape *t, double value, const wgi_s0 *s) {\n    (void)t; (void)s;\n    return wg_constant(value);\n}");
    puts("WGI_LIST int wgi_ready_r(const wg_tape *t, const wgi_record *limit, const wg_handle *s, int products) {\n    (void)t; (void)limit; (void)s; (void)products;\n    return 0;\n}");
    puts("WGI_LIST wg_real wgi_append_r(wg_tape *t, double value, const wg_handle *s) {\n    (void)t;\n    return (wg_real){value, *s};\n}");
    for (int n = 1; n <= MAX_OPERANDS; n++) write_append(n);
    puts("WGI_LIST int wgi_ready_many(const wg_tape *t, const wgi_record *limit, const wgi_many *s, int products) {\n    (void)t; (void)limit; (void)s; (void)products;\n    return 0;\n}");
    puts("WGI_LIST wg_real wgi_append_many(wg_tape *t, double value, const wgi_many *s) {\n    (void)t; (void)s;\n    return wg_constant(value);\n}");
    printf("enum { WGI_KEPT_OPERANDS = %d };\n", KEPT_OPERANDS);
    puts("WGI_LIST double *wgi_kept_0(wg_tape *t, double value, const void *s, int products, uint64_t head,\n    wgi_bits code) {\n    (void)t; (void)value; (void)s; (void)products; (void)head; (void)code;\n    return NULL;\n}");
    for (int n = 1; n <= MAX_OPERANDS; n++) write_kept(n);
    puts("WGI_LIST int wgi_none_0(const wg_tape *t, const void *s) {\n    (void)t; (void)s;\n    return 0;\n}");
    for (int n = 1; n <= MAX_OPERANDS; n++) write_none(n);
    puts("WGI_FUNCTION uint64_t wgi_places_0(const void *s) { (void)s; return 0; }\n"
         "WGI_FUNCTION uint64_t wgi_places_r(const wg_handle *s) { return wgi_word(*s); }\n"
         "WGI_FUNCTION uint64_t wgi_places_many(const wgi_many *s) { (void)s; return 1; }");
    for (int n = 1; n <= MAX_OPERANDS; n++) write_places(n);
    write_some();
    for (int n = LONE; n <= MAX_OPERANDS; n++) write_slow(n);
    puts("WGI_FUNCTION wg_real wgi_leave_many(wg_tape *t, double value, const wgi_many *s, const double *number,\n    const wgi_site *site) {\n    (void)t; (void)s; (void)number; (void)site;\n    return wg_constant(value);\n}");
    for (int n = LONE; n <= MAX_OPERANDS; n++)
        if (n != 0) write_short(n);
    write_choice("WGI_READY", "ready");
    write_choice("WGI_APPEND", "append");
    write_choice("WGI_LEAVE", "leave");
    write_choice_of_lists("WGI_SHORT", "short", MAX_OPERANDS, ", default: wgi_short_r");
    write_choice_of_lists("WGI_KEPT", "kept", KEPT_OPERANDS, ", default: wgi_kept_0");
    write_choice_of_lists("WGI_PLACES", "places", MAX_OPERANDS,
                          ", wg_handle: wgi_places_r, wgi_many: wgi_places_many, default: wgi_places_0");
    write_choice_of_lists("WGI_NONE", "none", MAX_OPERANDS, ", default: wgi_none_0");
    puts("\n#endif");
}

/* ---- operations.md ----------------------------------------------------------------------- */

/* In a table, where a bar would end the cell. */
static void cell(const char *text) {
    for (; *text != 0; text++) printf("%s%c", *text == '|' ? "\\" : "", *text);
}

static void code(const char *text) {
    fputs("`", stdout);
    cell(text);
    fputs("`", stdout);
}

/* To which order a row can be differentiated as part of a function. */
static const char *order(const struct row *r) {
    static const char *const ends[][2] = {
#define FORMULA(name, k, text)
#define SECOND(name, k, text)
#define CAREFUL(name)
#define ORDER(name, k) {#name, #k},
#include "formula.def"
#undef FORMULA
#undef SECOND
#undef CAREFUL
#undef ORDER
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i][0], r->name) == 0) return ends[i][1];
    return "any";
}

static void write_operations(void) {
    puts(
        "<!-- Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit. -->");
    puts("# The scalar operations\n");
    printf(
        "All %d of them, each `wg_NAME` of variables, expressions and numbers. Letters: a b c d\n"
        "operands, v the value; C over libm and the helpers of `wengert/special.h`.\n\n",
        ROWS);
    puts(
        "Domain: ARITH, the derivatives are finite whenever the operands are; GUARD, a derivative may");
    puts(
        "be exactly 0, and then counts as 0 whatever it is multiplied with; SING, a derivative may be");
    puts("infinite or NaN at a finite operand. Order: of the derivatives that functions have.\n");
    puts("| operation | operands | value | derivatives | domain | order | source |");
    puts("|---|---|---|---|---|---|---|");
    for (int i = 0; i < ROWS; i++) {
        const struct row *const r = &rows[i];
        printf("| `wg_%s` | %d | ", r->name, r->arity);
        code(r->value);
        fputs(" | ", stdout);
        for (int k = 0; k < r->arity; k++) {
            printf("%sd%c: ", k ? "<br>" : "", letter[k]);
            code(r->partial[k]);
        }
        printf(" | %s | %s | ", r->class, order(r));
        cell(r->source);
        puts(" |");
    }
}

/* ---- let.h -------------------------------------------------------------------------------- */

static void write_let(void) {
    puts("/* SPDX-License-Identifier: MIT */\n"
         "/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.\n"
         " *\n"
         " * wg_let_NAME(t, a, ..) - wg_let(t, wg_NAME(a, ..)) by a call: of each operation, with as\n"
         " * many operands as that has. It compiles in a seventh of the time and costs a call, where\n"
         " * wg_let has its arithmetic in line; a statement of several operations becomes as many\n"
         " * statements. `wengert-convert` writes these for code that runs seldom.\n"
         " * Operands: variables; a number as wg_constant(number), a number of the statement.\n"
         " * Places:  that a tape keeps or tells are rows of ops/scalar/scalar.def, not lines of calls.\n"
         " * Cost:    one record of 32 bytes per two operands, one slot of 8 bytes in the sweep.\n"
         " * Errors:  (the result is a passive NaN, the tape keeps the status) those of wg_let. */\n"
         "#ifndef WENGERT_LET_H\n#define WENGERT_LET_H\n\n#include <wengert/tape.h>\n\nWG_BEGIN_DECLS\n");
    for (int i = 0; i < ROWS; i++) {
        const struct row *const r = &rows[i];
        printf("WG_API wg_real wg_let_%s(wg_tape *t", r->name);
        for (int k = 0; k < r->arity; k++) printf(", wg_real %c", letter[k]);
        printf(");\n");
    }
    puts("\nWG_END_DECLS\n\n#endif");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*write)(void);
    } headers[] = {{"scalar", write_scalar},
                   {"let", write_let},
                   {"lists", write_lists},
                   {"dual", write_dual},
                   {"elementwise", write_elementwise},
                   {"generic_double", write_generic_double},
                   {"generic_dual", write_generic_dual},
                   {"generic_tape", write_generic_tape},
                   {"cxx", write_cxx},
                   {"operations", write_operations},
                   {"special_text", write_special_text},
                   {"dense_text", write_dense_text}};
    const size_t n = sizeof headers / sizeof *headers;
    if (row_of_users() != NULL) {
        fprintf(stderr, "generate: names that begin with user are the users': %s\n", row_of_users());
        return 1;
    }
    for (size_t i = 0; i < n && argc == 2; i++)
        if (strcmp(argv[1], headers[i].name) == 0) {
            headers[i].write();
            return ferror(stdout) ? 1 : 0;
        }
    fputs("usage: generate", stderr);
    for (size_t i = 0; i < n; i++) fprintf(stderr, "%s%s", i ? "|" : " ", headers[i].name);
    fputs("\n", stderr);
    return 2;
}
