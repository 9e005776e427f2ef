/* SPDX-License-Identifier: MIT */
/* vjp.c - the function that users call of an adjoint without a tape: y = f(x), g = J'w. It
 * makes the original's arguments and their shadows, puts the inputs in, runs forwards, takes
 * the outputs and puts the weights into their shadows, and goes back. */
#include <string.h>
#include "convert/adjoint.h"
#include "convert/callback.h"

enum { FIRST_WORDS = 2048 }; /* of the stack of adjoints: small functions obtain no memory */

static const char *shadow_of(const type *t, const char *name) {
    const char *s = declared_as(t, format("%s_b", name));
    text to = {NULL, 0, 0};
    for (const char *p; (p = strstr(s, "const ")) != NULL; s = p + 6)
        put_n(&to, s, (size_t)(p - s));
    put(&to, s);
    return text_of(&to);
}
static const char *own_copy(const type *t, const char *name) {
    const char *const s = shadow_of(t, name);
    const char *const b = strstr(s, format("%s_b", name));
    return format("%s%s%s", copy_text(s, (size_t)(b - s)), name, b + strlen(name) + 2);
}

/* Memory for n of what a pointer leads to, and for `tail`, an array behind the last of them. */
static void obtain(text *to, const char *into, const char *n, const char *tail,
                   const char *indent) {
    if (tail == NULL)
        putf(to, "%s%s = wgc_zeroed(wgc_s, %s, sizeof *%s, __alignof__(*%s));\n", indent, into,
             n, into, into);
    else
        putf(to, "%s%s = wgc_zeroed(wgc_s, (%s) * sizeof *%s + %s, 1, __alignof__(*%s));\n",
             indent, into, n, into, tail, into);
}

/* How many bytes the array at the end of a structure has; NULL: it is none that goes on
 * behind. */
static const char *tail_bytes(const writer *w, const char *name, const type *t, const char *x) {
    const decl *const tail = tail_of(w, t);
    return tail == NULL ? NULL
                        : format("wgc_from->%s_%s_count * sizeof %s->%s[0]", name, tail->name,
                                 x, tail->name);
}
static void copy_tail(const writer *w, const type *t, const char *x, const char *given,
                      const char *bytes, text *to, const char *indent) {
    const decl *const tail = tail_of(w, t);
    if (bytes != NULL)
        putf(to, "%sif (%s != NULL && %s != 0) memcpy(%s->%s, %s->%s, %s);\n", indent, given,
             bytes, x, tail->name, given, tail->name, bytes);
}

/* What each of the n pointers at x, in the arguments at `from`, leads to: as many numbers as
 * the arguments say, copied, and their shadows. */
static void make_rows(const type *row_type, const char *x, const char *shadow, const char *from,
                      const char *counts, const char *n, const char *indent, text *to) {
    const char *const as = without_const(declared_as(row_type->of, "**"));
    const char *const row = format("((%s)%s)[wgc_k]", as, x),
                      *const b = format("((%s)%s)[wgc_k]", as, shadow),
                      *const count = format("wgc_from->%s_counts[wgc_k]", counts),
                      *const given = format("%s[wgc_k]", from),
                      *const within = format("%s    ", indent);
    const char *const number = without_const(declared_as(row_type->of, "*wgc_row"));
    putf(to,
         "%sfor (size_t wgc_k = 0; %s != NULL && wgc_k < %s; wgc_k++) {\n"
         "%sif (%s == NULL) continue;\n%s%s, *wgc_row_b;\n",
         indent, from, n, within, given, within, number);
    obtain(to, "wgc_row", count, NULL, within);
    obtain(to, "wgc_row_b", count, NULL, within);
    putf(to,
         "%sif (%s != 0) memcpy(wgc_row, %s, %s * sizeof *wgc_row);\n"
         "%s%s = wgc_row, %s = wgc_row_b;\n%s}\n",
         within, count, given, count, within, row, b, indent);
}

/* Fields that are pointers: as many elements as the arguments say, copied, and their
 * shadows. */
static void make_fields(const writer *w, const decl *p, const record *r, text *to) {
    const bool pointer = pointed(p) != NULL;
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        if (!is_held_pointer(w, f)) continue;
        const char *const n = elements_of(w, p, f), *const at = pointer ? "[wgc_i]." : ".";
        const char *const x = format("%s%s%s", p->name, at, f->name), *const b = format(
                                                                          "%s_b%s%s", p->name,
                                                                          at, f->name);
        if (pointer)
            putf(to,
                 "        for (size_t wgc_i = 0; wgc_from->%s != NULL && wgc_i < %s; wgc_i++)",
                 p->name, elements_of(w, p, NULL));
        else put(to, "       ");
        putf(to, " if (%s != 0) {\n            %s;\n", n, declared_as(f->type, "wgc_given"));
        putf(to, "            wgc_given = wgc_from->%s;\n", x);
        const char *const tail =
            tail_bytes(w, format("%s_%s", p->name, f->name), f->type->of, x);
        obtain(to, x, n, tail, "            ");
        putf(
            to,
            "            if (wgc_given != NULL) memcpy((void *)%s, wgc_given, %s * sizeof *%s);\n",
            x, n, x);
        copy_tail(w, f->type->of, x, "wgc_given", tail, to, "            ");
        obtain(to, b, n, tail, "            ");
        if (leads_to_rows(f))
            make_rows(f->type->of, x, b, "wgc_given", format("%s_%s", p->name, f->name), n,
                      "            ", to);
        put(to, "        }\n");
    }
}

static void make(const writer *w, const decl *p, text *to) {
    const char *const x = p->name;
    if (!root_holds(w, p) || is_function(p)) {
        putf(to, "    %s = wgc_from->%s;\n", declared_as(p->type, x), x);
        return;
    }
    const type *const t = pointed(p);
    if (t == NULL) {
        putf(to, "    %s = wgc_from->%s;\n", own_copy(p->type, x), x);
        putf(to, "    %s;\n    memset(&%s_b, 0, sizeof %s_b);\n", shadow_of(p->type, x), x, x);
        if (p->type->kind == TYPE_RECORD) make_fields(w, p, p->type->record, to);
        return;
    }
    bool single;
    const bool named =
        declared_dimension(p) != NULL || reached_elements(w, p, NULL, &single) != NULL;
    const char *const n = elements_of(w, p, NULL);
    putf(to, "    %s = NULL;\n    %s = NULL;\n", own_copy(p->type, x), shadow_of(p->type, x));
    if (named) put(to, "    {\n");
    else putf(to, "    if (wgc_from->%s != NULL) {\n", x);
    const char *const tail = tail_bytes(w, x, t, x), *const b = format("%s_b", x);
    obtain(to, x, n, tail, "        ");
    putf(to, "        if (wgc_from->%s != NULL) memcpy(%s, wgc_from->%s, (%s) * sizeof *%s);\n",
         x, x, x, n, x);
    copy_tail(w, t, x, format("wgc_from->%s", x), tail, to, "        ");
    obtain(to, b, n, tail, "        ");
    if (t->kind == TYPE_RECORD) make_fields(w, p, t->record, to);
    if (t->kind == TYPE_POINTER)
        make_rows(t, x, b, format("wgc_from->%s", x), x, n, "        ", to);
    put(to, "    }\n");
}

/* The path to a number, or to its shadow. */
static const char *path(const selection *s, bool shadow) {
    text to = {NULL, 0, 0};
    const char *p = s->path;
    const char *const root = s->root == NULL ? "return" : s->root->name;
    const bool global = s->root != NULL && s->root->is_global;
    putf(&to, "%s%s",
         s->root == NULL ? "wgc_result"
         : global        ? own_global(s->root)
                         : root,
         shadow ? "_b" : "");
    for (p += strlen(root); *p; p++)
        if (*p == '@') putf(&to, "wgc_k%c", *++p);
        else put_n(&to, p, 1);
    return text_of(&to);
}

static const char *element_path(const selection *s, bool shadow) {
    const char *const q = path(s, shadow);
    if (s->ranges == 0 && s->type->kind == TYPE_ARRAY)
        return format("((double *)%s)[wgc_k]", q);
    if (s->ranges == 0 && s->type->kind == TYPE_POINTER) return format("*%s", q);
    if (selection_is_flat(s))
        return format("((double *)%s)[wgc_k0]", copy_text(q, (size_t)(strchr(q, '[') - q)));
    return q;
}

/* A statement for each number of the selections, with %s for it, or for its shadow. */
static void each(const list *l, bool shadow, const char *how, text *to) {
    for (size_t at = 0; at < l->n;) {
        const selection *const s = l->at[at];
        size_t n = 1;
        while (at + n < l->n && ((selection *)l->at[at + n])->follows) n++;
        put(to, "   ");
        if (s->ranges == 0 && s->type->kind == TYPE_ARRAY)
            putf(to, " for (size_t wgc_k = 0; wgc_k < %s; wgc_k++)", count_of_selection(s));
        for (size_t i = 0; i < s->ranges; i++)
            putf(to,
                 " for (size_t wgc_k%zu = (size_t)(%s); wgc_k%zu < (size_t)(%s); wgc_k%zu++)",
                 i, s->from[i], i, s->end[i], i);
        put(to, " {");
        for (size_t i = 0; i < n; i++) {
            put(to, " ");
            putf(to, how, element_path(l->at[at + i], shadow));
        }
        put(to, " }\n");
        at += n;
    }
}

static const char *prototype(const writer *w) {
    return format(
        "%swg_status %s_vjp(size_t wgc_n, const double *wgc_x, size_t wgc_m, double *wgc_y,\n"
        "    const double *wgc_w, double *wgc_g, const %s *wgc_from)",
        w->rows ? "static " : "", w->a->root->name, arguments_name(w));
}

const char *vjp_declaration(writer *w) {
    if (w->rows) return whole_declaration(w);
    text to = {NULL, 0, 0};
    put(&to, arguments_declaration(w));
    putf(
        &to,
        "\n/* %s_vjp - y = f(x) and g = J'w, without a tape.\n * Shapes: x and g of n, y and w of m.\n"
        " * Errors: WG_ENULL, WG_ESHAPE, WG_ENOMEM, WG_EARG (a pointer leads to a function that was not converted, or into\n"
        " * the structure that has it), WG_ESINGULAR (a matrix is, that LAPACK solves with); then y and g are of no use. */\n%s;\n",
        w->a->root->name, prototype(w));
    return text_of(&to);
}

const char *vjp_header(writer *w) {
    if (cannot_make(w) != NULL)
        return "/* There is no function for drivers: an argument is of a type that is not copied by itself. */\n";
    return in_header(w)
               ? vjp_declaration(w)
               : "/* What there is is declared where the types of its arguments are: in the source. */\n";
}

bool has_deep_pointers(const writer *w) {
    const decl *const f = w->a->root->function;
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const type *const t = root_holds(w, p) ? pointed(p) : NULL;
        if (t != NULL && t->kind == TYPE_POINTER && t->of->kind != TYPE_REAL) return true;
    }
    return false;
}

const char *vjp_definition(writer *w) {
    const version *const v = w->a->root;
    const decl *const f = v->function;
    text to = {NULL, 0, 0}, body = {NULL, 0, 0}, args = {NULL, 0, 0}, fore = {NULL, 0, 0},
         back = {NULL, 0, 0}, check = {NULL, 0, 0};
    const decl *const missing = cannot_make(w);
    if (missing != NULL || has_deep_pointers(w)) {
        error_at(
            place_in(f->file, f->at),
            "%s is of a type that is not copied by itself: there is no function for drivers",
            missing != NULL ? format("'%s'", missing->name) : "an argument");
        return "";
    }
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const bool rows =
            root_holds(w, p) && pointed(p) != NULL && pointed(p)->kind == TYPE_POINTER;
        putf(&args, rows ? "(void *)%s, " : "%s, ", p->name); /* with const on the way */
    }
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!root_holds(w, p)) make(w, p, &body);
    }
    put_apart(w, &body);
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!root_holds(w, p)) continue;
        make(w, p, &body);
        if (!is_value(w->a, p->type))
            putf(&fore, "%s_b, ", p->name), putf(&back, "%s_b, ", p->name);
        else putf(&back, "&%s_b, ", p->name);
    }
    check_counts(w, false, &check);
    putf(&body, "    if (wgc_n != %s || wgc_m != %s) return WG_ESHAPE;\n",
         total_of(&w->a->inputs), total_of(&w->a->outputs));
    check_rows(w, false, "        return %s;\n", &body);
    each(&w->a->inputs, false, "%s = wgc_x[wgc_at++];", &body);
    const bool number = v->result != NULL && is_variable(v->result),
               structure = v->result != NULL && f->type->of->kind == TYPE_RECORD &&
                           holds_variables(v->result);
    const bool pointer = gives_pointer(v);
    if (pointer) putf(&body, "    %s = NULL;\n", shadow_of(f->type->of, "wgc_result"));
    putf(&body, "    %s%s_forward(%s%s%swgc_s);\n",
         number || structure || pointer
             ? format("%s = ", declared_as(f->type->of, "wgc_result"))
             : "(void)",
         v->name, text_of(&args), text_of(&fore), pointer ? "&wgc_result_b, " : "");
    put(&body, "    wgc_at = 0;\n");
    each(&w->a->outputs, false, "wgc_y[wgc_at++] = %s;", &body);
    if (number) put(&body, "    (void)wgc_result;\n    double wgc_result_b = 0;\n");
    if (structure)
        putf(
            &body,
            "    (void)wgc_result;\n    %s;\n    memset(&wgc_result_b, 0, sizeof wgc_result_b);\n",
            shadow_of(f->type->of, "wgc_result"));
    put(&body, "    wgc_at = 0;\n");
    each(&w->a->outputs, true, "%s += wgc_w[wgc_at++];", &body);
    putf(&body, "    %s_backward(%s%s%swgc_s);\n    wgc_at = 0;\n", v->name, text_of(&args),
         text_of(&back),
         number      ? "wgc_result_b, "
         : structure ? "&wgc_result_b, "
                     : "");
    each(&w->a->inputs, true, "wgc_g[wgc_at++] = %s;", &body);

    if (strstr(text_of(&body), "wgc_larger") != NULL) put(&to, larger_text);
    putf(
        &to,
        "__attribute__((noinline)) static wg_status %s_both(wgc_stack *wgc_s, size_t wgc_n, const double *wgc_x,\n"
        "    size_t wgc_m, double *wgc_y, const double *wgc_w, double *wgc_g, const %s *wgc_from) {\n    size_t wgc_at = 0;\n%s%s    return WG_OK;\n}\n\n",
        w->a->root->name, arguments_name(w), text_of(&check), text_of(&body));
    putf(
        &to,
        "%s {\n    union wgc_word wgc_room[%d];\n    struct wgc_chunk wgc_first;\n    wgc_stack wgc_s;\n    wg_status wgc_status;\n"
        "    if (wgc_from == NULL || (wgc_n != 0 && (wgc_x == NULL || wgc_g == NULL)) ||\n"
        "        (wgc_m != 0 && (wgc_y == NULL || wgc_w == NULL)))\n        return WG_ENULL;\n"
        "    wgc_open(&wgc_s, &wgc_first, wgc_room, %d);\n"
        "    %s_begin();\n    switch (setjmp(wgc_s.out)) {\n"
        "    case 0: wgc_status = %s_both(&wgc_s, wgc_n, wgc_x, wgc_m, wgc_y, wgc_w, wgc_g, wgc_from); break;\n"
        "    case 1: wgc_status = WG_ENOMEM; break;\n    case 3: wgc_status = WG_ESINGULAR; break;\n    default: wgc_status = WG_EARG;\n    }\n"
        "    %s_end();\n    wgc_close(&wgc_s);\n    return wgc_status;\n}\n",
        prototype(w), FIRST_WORDS, FIRST_WORDS, w->a->root->name, w->a->root->name,
        w->a->root->name);
    return text_of(&to);
}
