/* SPDX-License-Identifier: MIT */
/* callback.c - the function that drivers call: it puts the inputs where the converted function finds
 * them, and takes the outputs from where it leaves them. What is not an input is copied from the
 * arguments of the original. */
#include <string.h>
#include "convert/callback.h"

const char *declared_as(const type *t, const char *name) {
    const char *s = t->spelling;
    if (starts_with(s, "const ") && t->kind != TYPE_POINTER) s += 6;
    const char *const star = strstr(s, "(*");
    if (star != NULL)
        return format("%s%s%s", copy_text(s, (size_t)(star - s) + 2), name, star + 2);
    if (t->kind == TYPE_FUNCTION && strchr(s, '(') != NULL)
        return format("%s(*%s)%s", copy_text(s, (size_t)(strchr(s, '(') - s)), name, strchr(s, '('));
    const char *const bracket = t->kind == TYPE_ARRAY ? strchr(s, '[') : NULL;
    if (bracket != NULL)
        return format("%s%s%s%s", copy_text(s, (size_t)(bracket - s)), bracket > s && bracket[-1] != '*' && bracket[-1] != ' ' ? " " : "", name, bracket);
    const size_t n = strlen(s);
    return format("%s%s%s", s, n != 0 && s[n - 1] == '*' ? "" : " ", name);
}

bool root_holds(const writer *w, const decl *d) {
    cell *const c = cell_of(w->a, w->a->root, d);
    return c != NULL && holds_variables(c);
}

const char *count_of_array(const type *t) {
    long long n = 1;
    for (; t->kind == TYPE_ARRAY; t = t->of) {
        if (t->count < 0) return NULL;
        n *= t->count;
    }
    return format("%lld", n);
}

/* What is behind the ranges of a selection: all elements of an array, if one range does not go through
 * it; then they are counted from the first number. */
bool selection_is_flat(const selection *s) { return s->type->kind == TYPE_ARRAY && s->ranges == 1; }

/* How many numbers a selection has, as C. */
const char *count_of_selection(const selection *s) {
    if (s->ranges == 0) {
        const char *const n = s->type->kind == TYPE_ARRAY ? count_of_array(s->type) : "1";
        return n != NULL ? n : "1";
    }
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < s->ranges; i++) {
        const char *const n = same(s->from[i], "0") ? s->end[i] : format("(%s) - (%s)", s->end[i], s->from[i]);
        if (s->ranges == 1) return n;
        putf(&to, "%s(%s)", i != 0 ? " * " : "", n);
    }
    return text_of(&to);
}

const char *total_of(const list *l) {
    text to = {NULL, 0, 0};
    unsigned long sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        const char *const n = count_of_selection(l->at[i]);
        if (strspn(n, "0123456789") == strlen(n)) {
            unsigned long k = 0;
            for (const char *p = n; *p; p++) k = 10 * k + (unsigned long)(*p - '0');
            sum += k;
        } else putf(&to, "%s(size_t)(%s)", to.n != 0 ? " + " : "", n);
    }
    if (to.n == 0 || sum != 0) putf(&to, "%s%lu", to.n != 0 ? " + " : "", sum);
    return text_of(&to);
}
static bool is_number(const char *s) { return strspn(s, "0123456789") == strlen(s); }

/* The dimension that the parameter's text declares, as in double r[3]; or what selections of all of it
 * reach to; NULL: not known. */
const char *elements_of(const writer *w, const decl *p) {
    const file *const f = p->file;
    const char *const s = copy_text(f->text + p->at + strlen(p->name), p->end - p->at - strlen(p->name));
    const char *const close = strchr(s, ']');
    if (*s == '[' && close != NULL && close > s + 1) {
        const char *inside = copy_text(s + 1, (size_t)(close - s - 1));
        if (starts_with(inside, "static ")) inside += 7;
        if (is_number(inside)) return inside;
    }
    text most = {NULL, 0, 0};
    size_t ends = 0;
    const list *const both[] = {&w->a->inputs, &w->a->outputs};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < both[i]->n; k++) {
            const selection *const q = both[i]->at[k];
            const size_t m = strlen(p->name);
            if (q->root != p) continue;
            const bool ranged = q->ranges != 0 && strncmp(q->path + m, "[@0]", 4) == 0;
            if (!ranged && !same(q->path, p->name)) continue;
            const char *const end = ranged ? q->end[0] : "1";
            if (ends++ == 0) putf(&most, "(size_t)(%s)", end);
            else if (strstr(text_of(&most), format("(%s)", end)) == NULL) {
                const char *const before = text_of(&most);
                most = (text){NULL, 0, 0};
                putf(&most, "wgc_larger(%s, (size_t)(%s))", before, end);
            }
        }
    return ends != 0 ? text_of(&most) : NULL;
}

const char *arguments_name(const writer *w) { return format("%s_arguments", w->a->root->name); }

const type *pointed(const decl *p) {
    return p->type->kind == TYPE_POINTER || p->type->kind == TYPE_ARRAY ? p->type->of : NULL;
}

/* Is there a way to make this parameter of the original's arguments? */
static bool can_make(const writer *w, const decl *p) {
    if (!root_holds(w, p)) return true;
    const type *const t = pointed(p) != NULL ? pointed(p) : p->type;
    if (p->type->kind == TYPE_FUNCTION || t->kind == TYPE_FUNCTION) return true;
    const type *e = t;
    while (e->kind == TYPE_ARRAY) e = e->of;
    return e->kind == TYPE_REAL || e->kind == TYPE_RECORD;
}

static bool visible(const writer *w, const type *t) {
    const type *const l = leaf_type(t);
    return l->kind != TYPE_RECORD || l->record->definition == NULL || l->record->definition->file != w->a->root->function->file;
}

bool in_header(const writer *w) {
    const decl *const f = w->a->root->function;
    for (size_t i = 0; i < f->parameters.n; i++)
        if (!visible(w, ((decl *)f->parameters.at[i])->type)) return false;
    return true;
}

const decl *cannot_make(const writer *w) {
    const decl *const f = w->a->root->function;
    for (size_t i = 0; i < f->parameters.n; i++)
        if (!can_make(w, f->parameters.at[i])) return f->parameters.at[i];
    return NULL;
}

bool is_function(const decl *p) { return leaf_type(p->type)->kind == TYPE_FUNCTION; }

/* Counts that the user has to give: of what nothing else says how many there are. */
static bool wants_count(const writer *w, const decl *p) {
    return root_holds(w, p) && p->type->kind == TYPE_POINTER && !is_function(p) && elements_of(w, p) == NULL &&
           leaf_type(p->type)->kind == TYPE_REAL;
}

/* A parameter that is a function with variables, as a pointer, however it is written. */
static const char *function_pointer(writer *w, const decl *p) {
    const char *const s = retyped(w, p->file, p->begin, p->end);
    if (strstr(s, "(*") != NULL || strstr(s, "( *") != NULL) return s;
    for (const char *at = strstr(s, p->name); at != NULL; at = strstr(at + 1, p->name)) {
        const char *const behind = at + strlen(p->name);
        const char *q = behind;
        while (*q == ' ') q++;
        if (*q == '(') return format("%s(*%s)%s", copy_text(s, (size_t)(at - s)), p->name, behind);
    }
    return s;
}

static void write_field_counts(const writer *w, const char *before, const record *r, text *to, unsigned depth) {
    for (size_t i = 0; i < r->fields.n && depth < 3; i++) {
        const decl *const f = r->fields.at[i];
        if (!root_holds(w, f)) continue;
        if (f->type->kind == TYPE_POINTER && leaf_type(f->type)->kind != TYPE_FUNCTION)
            putf(to, "    size_t %s_%s_count; /* how many elements %s->%s has; 0: it is NULL */\n", before, f->name, before, f->name);
    }
}

const char *arguments_declaration(writer *w) {
    text to = {NULL, 0, 0};
    const decl *const f = w->a->root->function;
    const char *const name = w->a->root->name;
    putf(&to, "/* The arguments of %s, for %s_callback as `data`. Inputs are not read, but where they are to\n * be constants; what is written stays as it is. */\n", f->name, name);
    putf(&to, "typedef struct %s {\n", arguments_name(w));
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (is_function(p) && root_holds(w, p)) putf(&to, "    %s; /* a converted one */\n", function_pointer(w, p));
        else putf(&to, "    %s;\n", declared_as(p->type, p->name));
        if (wants_count(w, p)) putf(&to, "    size_t %s_count; /* how many numbers %s has */\n", p->name, p->name);
        const type *const t = leaf_type(p->type);
        if (root_holds(w, p) && t->kind == TYPE_RECORD) write_field_counts(w, p->name, t->record, &to, 0);
    }
    if (f->parameters.n == 0) put(&to, "    int nothing;\n");
    putf(&to, "} %s;\n\n", arguments_name(w));
    text in = {NULL, 0, 0}, out = {NULL, 0, 0};
    for (size_t i = 0; i < w->a->inputs.n; i++) putf(&in, "%s%s", i != 0 ? ", " : "", ((selection *)w->a->inputs.at[i])->text);
    for (size_t i = 0; i < w->a->outputs.n; i++) putf(&out, "%s%s", i != 0 ? ", " : "", ((selection *)w->a->outputs.at[i])->text);
    const char *const n = total_of(&w->a->inputs), *const m = total_of(&w->a->outputs);
    if (is_number(n) && is_number(m)) putf(&to, "enum { %s_inputs = %s, %s_outputs = %s };\n", name, n, name, m);
    putf(&to,
         "/* %s_callback - %s as drivers call it, wg_jacobian among them.\n * x: %s\n * y: %s\n * Errors: WG_ENULL, "
         "WG_ESHAPE, WG_ENOMEM. */\n",
         name, f->name, text_of(&in), text_of(&out));
    putf(&to, "wg_status %s_callback(wg_tape *tape, size_t n, const wg_real *x, size_t m, wg_real *y,\n    void *data);\n", name);
    return text_of(&to);
}

/* ---- copies of structures ----------------------------------------------------------------- */

const char *record_name(const record *r) {
    return r->tagged ? format("%s %s", r->is_union ? "union" : "struct", r->name) : r->name;
}

static void write_copies(writer *w, const record *r, list *done, text *to) {
    if (list_has(done, r)) return;
    push(done, (void *)r);
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        const type *const t = leaf_type(f->type);
        if (t->kind == TYPE_RECORD && record_holds(w->a, t->record)) write_copies(w, t->record, done, to);
    }
    putf(to, "static void wgc_copy_%s(%s_wg *to, const %s *from) {\n", r->name, record_name(r), record_name(r));
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        const char *const x = f->name;
        const type *e = f->type;
        while (e->kind == TYPE_ARRAY) e = e->of;
        if (!*x) continue;
        if (!root_holds(w, f) && !(e->kind == TYPE_RECORD && record_holds(w->a, e->record))) {
            if (f->type->kind == TYPE_ARRAY) {
                if (f->type->count > 0) putf(to, "    memcpy(to->%s, from->%s, sizeof to->%s);\n", x, x, x);
            } else if (f->type->constant)
                putf(to, "    memcpy((void *)&to->%s, &from->%s, sizeof to->%s);\n", x, x, x);
            else putf(to, "    to->%s = from->%s;\n", x, x);
        } else if (f->type->kind == TYPE_POINTER) putf(to, "    to->%s = NULL;\n", x);
        else if (e->kind == TYPE_RECORD && f->type->kind == TYPE_ARRAY)
            putf(to, "    for (size_t wgc_k = 0; wgc_k < sizeof to->%s / sizeof(%s_wg); wgc_k++)\n        wgc_copy_%s((%s_wg *)to->%s + wgc_k, (const %s *)from->%s + wgc_k);\n",
                 x, record_name(e->record), e->record->name, record_name(e->record), x, record_name(e->record), x);
        else if (e->kind == TYPE_RECORD) putf(to, "    wgc_copy_%s(&to->%s, &from->%s);\n", e->record->name, x, x);
        else if (f->type->kind == TYPE_ARRAY)
            putf(to, "    for (size_t wgc_k = 0; wgc_k < sizeof to->%s / sizeof(wg_real); wgc_k++)\n        ((wg_real *)to->%s)[wgc_k] = wg_constant(((const %s *)from->%s)[wgc_k]);\n",
                 x, x, e->spelling, x);
        else putf(to, "    to->%s = wg_constant(from->%s);\n", x, x);
    }
    put(to, "}\n\n");
}

/* ---- the callback ------------------------------------------------------------------------- */

static const char *converted(const writer *w, const type *t) {
    const type *e = t;
    while (e->kind == TYPE_ARRAY) e = e->of;
    (void)w;
    return e->kind == TYPE_RECORD ? format("%s_wg", record_name(e->record)) : "wg_real";
}

const char *dimensions(const type *t) {
    text to = {NULL, 0, 0};
    for (; t->kind == TYPE_ARRAY; t = t->of) putf(&to, "[%lld]", t->count);
    return text_of(&to);
}

/* Memory for n elements, which is given back at the end. */
static void obtain(text *to, const char *into, const char *n) {
    putf(to,
         "        void *const wgc_memory = calloc(%s != 0 ? %s : 1, sizeof *%s);\n        if (wgc_memory == NULL) {\n"
         "            wgc_status = WG_ENOMEM;\n            goto wgc_done;\n        }\n        wgc_held[wgc_holds++] = wgc_memory;\n        %s = wgc_memory;\n",
         n, n, into, into);
}

static void make_pointer_fields(writer *w, const decl *p, const record *r, text *to) {
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        if (!root_holds(w, f) || f->type->kind != TYPE_POINTER || leaf_type(f->type)->kind == TYPE_FUNCTION) continue;
        const type *const e = f->type->of;
        const char *const n = format("wgc_from->%s_%s_count", p->name, f->name);
        const char *const path = format("%s->%s", p->name, f->name);
        putf(to, "    if (%s != 0) {\n", n);
        obtain(to, path, n);
        if (e->kind == TYPE_REAL)
            putf(to, "        for (size_t wgc_k = 0; wgc_k < %s; wgc_k++) %s[wgc_k] = wg_constant(wgc_from->%s->%s[wgc_k]);\n", n, path, p->name, f->name);
        else if (e->kind == TYPE_RECORD)
            putf(to, "        for (size_t wgc_k = 0; wgc_k < %s; wgc_k++) wgc_copy_%s(&%s[wgc_k], &wgc_from->%s->%s[wgc_k]);\n", n, e->record->name, path, p->name, f->name);
        put(to, "    }\n");
    }
}

static void make_parameter(writer *w, const decl *p, text *to) {
    const char *const x = p->name;
    if (!root_holds(w, p) || is_function(p)) {
        if (is_function(p) && root_holds(w, p)) putf(to, "    %s = wgc_from->%s;\n", function_pointer(w, p), x);
        else putf(to, "    %s = wgc_from->%s;\n", declared_as(p->type, x), x);
        return;
    }
    const type *const t = pointed(p);
    if (t == NULL) {
        putf(to, "    %s %s%s;\n", converted(w, p->type), x, p->type->kind == TYPE_REAL ? format(" = wg_constant(wgc_from->%s)", x) : "");
        if (p->type->kind == TYPE_RECORD) putf(to, "    wgc_copy_%s(&%s, &wgc_from->%s);\n", p->type->record->name, x, x);
        return;
    }
    const char *const count = elements_of(w, p);
    const type *e = t;
    while (e->kind == TYPE_ARRAY) e = e->of;
    const char *const d = dimensions(t);
    putf(to, "    %s %s%s%s%s = NULL;\n", converted(w, t), *d ? "(*" : "*", x, *d ? ")" : "", d);
    putf(to, "    if (%s) {\n", count != NULL ? "1" : format("wgc_from->%s != NULL", x));
    const char *const n = count != NULL ? count : e->kind == TYPE_REAL ? format("wgc_from->%s_count", x) : "(size_t)1";
    obtain(to, x, n);
    const char *const inner = count_of_array(t);
    if (e->kind == TYPE_RECORD)
        putf(to, "        for (size_t wgc_k = 0; wgc_from->%s != NULL && wgc_k < %s; wgc_k++) wgc_copy_%s(&%s[wgc_k], &wgc_from->%s[wgc_k]);\n", x, n, e->record->name, x, x);
    else
        putf(to, "        for (size_t wgc_k = 0; wgc_from->%s != NULL && wgc_k < (%s)%s; wgc_k++)\n            ((wg_real *)%s)[wgc_k] = wg_constant(((const %s *)wgc_from->%s)[wgc_k]);\n", x, n,
             *d ? format(" * %s", inner != NULL ? inner : "1") : "", x, e->bits == 32 ? "float" : e->bits == 80 ? "long double" : "double", x);
    put(to, "    }\n");
    if (e->kind == TYPE_RECORD && t->kind == TYPE_RECORD) {
        text inside = {NULL, 0, 0};
        make_pointer_fields(w, p, e->record, &inside);
        if (inside.n != 0) putf(to, "    if (%s != NULL) {\n%s    }\n", x, text_of(&inside));
    }
}

/* The path, with the names that the callback has for parameters, globals, the result and indices. */
static const char *path_of(const writer *w, const selection *s) {
    text to = {NULL, 0, 0};
    const char *p = s->path;
    if (s->root == NULL) put(&to, "wgc_result"), p += strlen("return");
    else if (s->root->is_global && root_holds(w, s->root)) putf(&to, "%s_wg", s->root->name), p += strlen(s->root->name);
    for (; *p; p++)
        if (*p == '@') putf(&to, "wgc_k%c", *++p);
        else put_n(&to, p, 1);
    return text_of(&to);
}

/* Moves all numbers of a selection, and of those that follow it element by element: `how` has %s for
 * one of them. The result is how many selections that were. */
static size_t move(const writer *w, const list *l, size_t at, const char *how, text *to) {
    const selection *const s = l->at[at];
    const char *path = path_of(w, s);
    size_t n = 1;
    while (at + n < l->n && ((selection *)l->at[at + n])->follows) n++;
    put(to, "   ");
    if (s->ranges == 0 && s->type->kind == TYPE_ARRAY) {
        const char *const count = count_of_array(s->type);
        putf(to, " for (size_t wgc_k = 0; wgc_k < %s; wgc_k++)", count != NULL ? count : "1");
        path = format("((wg_real *)%s)[wgc_k]", path);
    } else if (s->ranges == 0 && s->type->kind == TYPE_POINTER) path = format("*%s", path);
    if (selection_is_flat(s)) path = format("((wg_real *)%s)[wgc_k0]", copy_text(path, (size_t)(strchr(path, '[') - path)));
    for (size_t i = 0; i < s->ranges; i++)
        putf(to, " for (size_t wgc_k%zu = (size_t)(%s); wgc_k%zu < (size_t)(%s); wgc_k%zu++)", i, s->from[i], i, s->end[i], i);
    put(to, n > 1 ? " { " : " ");
    putf(to, how, path);
    for (size_t i = 1; i < n; i++) {
        put(to, " ");
        putf(to, how, path_of(w, l->at[at + i]));
    }
    put(to, n > 1 ? " }\n" : "\n");
    return n;
}

static size_t pointers(const writer *w) {
    size_t n = 0;
    const decl *const f = w->a->root->function;
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (!root_holds(w, p)) continue;
        n++;
        const type *const t = leaf_type(p->type);
        if (t->kind == TYPE_RECORD) n += t->record->fields.n;
    }
    return n;
}

const char *callback_declaration(writer *w) {
    const decl *const missing = cannot_make(w);
    if (missing != NULL)
        return format("/* There is no callback: '%s' is of a type that is not copied by itself. */\n", missing->name);
    return in_header(w) ? arguments_declaration(w) : format("/* The callback is declared where the types of its arguments are: in the source. */\n");
}

const char *callback_definition(writer *w) {
    const decl *const f = w->a->root->function;
    const version *const v = w->a->root;
    text to = {NULL, 0, 0}, args = {NULL, 0, 0};
    list done = {NULL, 0, 0};
    if (cannot_make(w) != NULL) {
        warn_at(place_in(f->file, f->at), "no callback is written: '%s' is of a type that is not copied by itself", cannot_make(w)->name);
        return "";
    }
    put(&to, "\n/* ---- for drivers */\n\n");
    if (!in_header(w)) putf(&to, "%s\n", arguments_declaration(w));
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const type *const t = leaf_type(p->type);
        if (root_holds(w, p) && t->kind == TYPE_RECORD) {
            for (size_t k = 0; k < t->record->fields.n; k++) {
                const decl *const q = t->record->fields.at[k];
                const type *const u = leaf_type(q->type);
                if (root_holds(w, q) && u->kind == TYPE_RECORD) write_copies(w, u->record, &done, &to);
            }
            write_copies(w, t->record, &done, &to);
        }
    }
    text body = {NULL, 0, 0};
    for (size_t i = 0; i < f->parameters.n; i++) putf(&args, ", %s", ((decl *)f->parameters.at[i])->name);
    for (size_t i = 0; i < f->parameters.n; i++) /* sizes first */
        if (!root_holds(w, f->parameters.at[i])) make_parameter(w, f->parameters.at[i], &body);
    for (size_t i = 0; i < f->parameters.n; i++)
        if (root_holds(w, f->parameters.at[i])) make_parameter(w, f->parameters.at[i], &body);
    putf(&body, "    if (wgc_n != %s || wgc_m != %s) {\n        wgc_status = WG_ESHAPE;\n        goto wgc_done;\n    }\n", total_of(&w->a->inputs), total_of(&w->a->outputs));
    for (size_t i = 0; i < w->a->inputs.n;) i += move(w, &w->a->inputs, i, "%s = wgc_x[wgc_in++];", &body);
    const bool returns = v->result != NULL && holds_variables(v->result);
    const char *const result = !returns ? "(void)" : f->type->of->kind == TYPE_POINTER ? "wg_real *const wgc_result = " : format("const %s wgc_result = ", converted(w, f->type->of));
    putf(&body, "    %s%s(%s%s);\n", result, v->name, w->tape, text_of(&args));
    for (size_t i = 0; i < w->a->outputs.n;) i += move(w, &w->a->outputs, i, "wgc_y[wgc_out++] = %s;", &body);
    if (returns) put(&body, "    (void)wgc_result;\n");
    if (strstr(text_of(&body), "wgc_larger") != NULL)
        put(&to, "static size_t wgc_larger(size_t a, size_t b) { return a > b ? a : b; }\n\n");
    putf(&to,
         "wg_status %s_callback(wg_tape *%s, size_t wgc_n, const wg_real *wgc_x,\n    size_t wgc_m, wg_real *wgc_y, void *wgc_data) {\n"
         "    const %s *const wgc_from = wgc_data;\n    wg_status wgc_status = WG_OK;\n    void *wgc_held[%zu];\n    size_t wgc_holds = 0, wgc_in = 0, wgc_out = 0;\n",
         v->name, w->tape, arguments_name(w), pointers(w) + 1);
    putf(&to, "    if (wgc_from == NULL) return WG_ENULL;\n%s", text_of(&body));
    putf(&to, "%s    while (wgc_holds != 0) free(wgc_held[--wgc_holds]);\n    return wgc_status;\n}\n", "    goto wgc_done;\nwgc_done:\n");
    return text_of(&to);
}
