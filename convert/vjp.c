/* SPDX-License-Identifier: MIT */
/* vjp.c - the function that users call of an adjoint without a tape: y = f(x), g = J'w. It makes the
 * original's arguments and their shadows, puts the inputs in, runs forwards, takes the outputs and puts
 * the weights into their shadows, and goes back. */
#include <string.h>
#include "convert/callback.h"

static const char *shadow_of(const type *t, const char *name) {
    const char *s = declared_as(t, format("%s_b", name));
    text to = {NULL, 0, 0};
    for (const char *p; (p = strstr(s, "const ")) != NULL; s = p + 6) put_n(&to, s, (size_t)(p - s));
    put(&to, s);
    return text_of(&to);
}
static const char *own_copy(const type *t, const char *name) {
    const char *const s = shadow_of(t, name);
    const char *const b = strstr(s, format("%s_b", name));
    return format("%s%s%s", copy_text(s, (size_t)(b - s)), name, b + strlen(name) + 2);
}

static void obtain(text *to, const char *into, const char *n) {
    putf(to,
         "    %s = calloc((%s) != 0 ? (%s) : 1, sizeof *%s);\n    if (%s == NULL) {\n        wgc_status = WG_ENOMEM;\n"
         "        goto wgc_done;\n    }\n    wgc_held[wgc_holds++] = %s;\n",
         into, n, n, into, into, into);
}

/* Fields that are pointers to numbers or structures: as many elements as the arguments say. */
static void make_fields(const writer *w, const decl *p, const record *r, text *to) {
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        if (!root_holds(w, f) || f->type->kind != TYPE_POINTER || leaf_type(f->type)->kind == TYPE_FUNCTION) continue;
        const char *const n = format("wgc_from->%s_%s_count", p->name, f->name);
        const char *const x = format("%s->%s", p->name, f->name), *const b = format("%s_b->%s", p->name, f->name);
        putf(to, "    if (%s != 0) {\n", n);
        obtain(to, x, n);
        putf(to, "    memcpy(%s, wgc_from->%s, %s * sizeof *%s);\n", x, x, n, x);
        obtain(to, b, n);
        put(to, "    }\n");
    }
}

static void make(writer *w, const decl *p, text *to) {
    const char *const x = p->name;
    if (!root_holds(w, p) || is_function(p)) {
        putf(to, "    %s = wgc_from->%s;\n", declared_as(p->type, x), x);
        return;
    }
    const type *const t = pointed(p);
    if (t == NULL) {
        putf(to, "    %s = wgc_from->%s;\n", own_copy(p->type, x), x);
        putf(to, "    %s;\n    memset(&%s_b, 0, sizeof %s_b);\n", shadow_of(p->type, x), x, x);
        return;
    }
    const char *const count = elements_of(w, p), *const inner = count_of_array(t);
    const type *e = t;
    while (e->kind == TYPE_ARRAY) e = e->of;
    const char *const n = count != NULL ? count : e->kind == TYPE_REAL ? format("wgc_from->%s_count", x) : "(size_t)1";
    (void)inner;
    putf(to, "    %s = NULL;\n    %s = NULL;\n", own_copy(p->type, x), shadow_of(p->type, x));
    if (count == NULL) putf(to, "    if (wgc_from->%s != NULL) {\n", x);
    obtain(to, x, n);
    putf(to, "    if (wgc_from->%s != NULL) memcpy(%s, wgc_from->%s, (%s) * sizeof *%s);\n", x, x, x, n, x);
    obtain(to, format("%s_b", x), n);
    if (e->kind == TYPE_RECORD) make_fields(w, p, e->record, to);
    if (count == NULL) put(to, "    }\n");
}

/* The path to a number, or to its shadow. */
static const char *path(const selection *s, bool shadow) {
    text to = {NULL, 0, 0};
    const char *p = s->path;
    const char *const root = s->root == NULL ? "return" : s->root->name;
    putf(&to, "%s%s", s->root == NULL ? "wgc_result" : root, shadow ? "_b" : "");
    for (p += strlen(root); *p; p++)
        if (*p == '@') putf(&to, "wgc_k%c", *++p);
        else put_n(&to, p, 1);
    return text_of(&to);
}

static const char *element_path(const selection *s, bool shadow) {
    const char *const q = path(s, shadow);
    if (s->ranges == 0 && s->type->kind == TYPE_ARRAY) return format("((double *)%s)[wgc_k]", q);
    if (s->ranges == 0 && s->type->kind == TYPE_POINTER) return format("*%s", q);
    if (selection_is_flat(s)) return format("((double *)%s)[wgc_k0]", copy_text(q, (size_t)(strchr(q, '[') - q)));
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
            putf(to, " for (size_t wgc_k%zu = (size_t)(%s); wgc_k%zu < (size_t)(%s); wgc_k%zu++)", i, s->from[i], i, s->end[i], i);
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
    return format("wg_status %s_vjp(size_t wgc_n, const double *wgc_x, size_t wgc_m, double *wgc_y,\n"
                  "    const double *wgc_w, double *wgc_g, const %s *wgc_from)",
                  w->a->root->name, arguments_name(w));
}

const char *vjp_declaration(writer *w) {
    text to = {NULL, 0, 0};
    const char *const whole = arguments_declaration(w);
    /* the arguments, without the callback of a tape */
    const char *const end = strstr(whole, "/* ----");
    put(&to, end != NULL ? copy_text(whole, (size_t)(end - whole)) : whole);
    putf(&to,
         "\n/* %s_vjp - y = f(x) and g = J'w, without a tape.\n * Shapes: x and g of n, y and w of m.\n"
         " * Errors: WG_ENULL, WG_ESHAPE, WG_ENOMEM; then y and g are of no use. */\n%s;\n",
         w->a->root->name, prototype(w));
    return text_of(&to);
}

const char *vjp_definition(writer *w) {
    const version *const v = w->a->root;
    const decl *const f = v->function;
    text to = {NULL, 0, 0}, body = {NULL, 0, 0}, args = {NULL, 0, 0}, fore = {NULL, 0, 0}, back = {NULL, 0, 0};
    size_t held = 2;
    if (cannot_make(w) != NULL) {
        warn_at(place_in(f->file, f->at), "no function for drivers is written: '%s' is of a type that is not copied by itself", cannot_make(w)->name);
        return "";
    }
    for (size_t i = 0; i < f->parameters.n; i++) putf(&args, "%s, ", ((decl *)f->parameters.at[i])->name);
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!root_holds(w, p)) make(w, p, &body);
    }
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!root_holds(w, p)) continue;
        make(w, p, &body);
        held += 2;
        if (leaf_type(p->type)->kind == TYPE_RECORD) held += 2 * leaf_type(p->type)->record->fields.n;
        if (p->type->kind != TYPE_REAL && p->type->kind != TYPE_RECORD) putf(&fore, "%s_b, ", p->name), putf(&back, "%s_b, ", p->name);
        else putf(&back, "&%s_b, ", p->name);
    }
    putf(&body, "    if (wgc_n != %s || wgc_m != %s) {\n        wgc_status = WG_ESHAPE;\n        goto wgc_done;\n    }\n", total_of(&w->a->inputs), total_of(&w->a->outputs));
    each(&w->a->inputs, false, "%s = wgc_x[wgc_at++];", &body);
    const bool returns = v->result != NULL && is_variable(v->result);
    putf(&body, "    %s%s_forward(%s%s&wgc_stacked);\n", returns ? "const double wgc_result = " : "(void)", v->name, text_of(&args), text_of(&fore));
    put(&body, "    wgc_at = 0;\n");
    each(&w->a->outputs, false, "wgc_y[wgc_at++] = %s;", &body);
    if (returns) put(&body, "    (void)wgc_result;\n    double wgc_result_b = 0;\n");
    put(&body, "    wgc_at = 0;\n");
    each(&w->a->outputs, true, "%s += wgc_w[wgc_at++];", &body);
    putf(&body, "    %s_backward(%s%s%s&wgc_stacked);\n    wgc_at = 0;\n", v->name, text_of(&args), text_of(&back), returns ? "wgc_result_b, " : "");
    each(&w->a->inputs, true, "wgc_g[wgc_at++] = %s;", &body);

    if (strstr(text_of(&body), "wgc_larger") != NULL)
        put(&to, "static size_t wgc_larger(size_t a, size_t b) { return a > b ? a : b; }\n\n");
    putf(&to, "static wg_status wgc_run(wgc_stack *wgc_s, void **wgc_held, size_t wgc_n, const double *wgc_x,\n"
              "    size_t wgc_m, double *wgc_y, const double *wgc_w, double *wgc_g, const %s *wgc_from) {\n", arguments_name(w));
    (void)held;
    putf(&to, "#define wgc_stacked (*wgc_s)\n#define wgc_holds (wgc_s->holds)\n    wg_status wgc_status = WG_OK;\n    size_t wgc_at = 0;\n%s"
              "    goto wgc_done;\nwgc_done:\n    return wgc_status;\n#undef wgc_stacked\n#undef wgc_holds\n}\n\n", text_of(&body));
    putf(&to,
         "%s {\n    wgc_stack wgc_s;\n    void *wgc_held[%zu];\n    wg_status wgc_status;\n"
         "    if (wgc_from == NULL || (wgc_x == NULL && wgc_n != 0) || (wgc_g == NULL && wgc_n != 0) ||\n"
         "        ((wgc_y == NULL || wgc_w == NULL) && wgc_m != 0))\n        return WG_ENULL;\n"
         "    memset(&wgc_s, 0, sizeof wgc_s);\n"
         "    if (setjmp(wgc_s.out) != 0) wgc_status = WG_ENOMEM;\n"
         "    else wgc_status = wgc_run(&wgc_s, wgc_held, wgc_n, wgc_x, wgc_m, wgc_y, wgc_w, wgc_g, wgc_from);\n"
         "    for (size_t wgc_k = 0; wgc_k < wgc_s.holds; wgc_k++) free(wgc_held[wgc_k]);\n    wgc_close(&wgc_s);\n    return wgc_status;\n}\n",
         prototype(w), held);
    return text_of(&to);
}
