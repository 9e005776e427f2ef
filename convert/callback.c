/* SPDX-License-Identifier: MIT */
/* callback.c - the function that drivers call: it puts the inputs where the converted function
 * finds them, and takes the outputs from where it leaves them. What is not an input is copied
 * from the arguments of the original. */
#include <string.h>
#include "convert/callback.h"
#include "convert/forward.h"
#include "convert/generic.h"

const char *whole_declaration(writer *w) {
    const char *const name = w->a->root->name;
    if (w->generic) return generic_declaration(w, arguments_declaration(w));
    return format(
        "%s/* %s_callback - %s as drivers call it, wg_jacobian among them.\n * x: %s\n * y: %s\n * Errors: WG_ENULL, "
        "WG_ESHAPE, WG_ENOMEM, WG_EARG (a pointer leads into the structure that\n * has it, or, by rows of the adjoint, to a function that was not converted). */\n"
        "wg_status %s_callback(wg_tape *tape, size_t n, const wg_real *x, size_t m, wg_real *y,\n    void *data);\n",
        arguments_declaration(w), name, w->a->root->function->name,
        selections_text(&w->a->inputs), selections_text(&w->a->outputs), name);
}

/* ---- copies of structures ---------------------------------------------------------------- */

/* Has it neither a tag nor a name of its type? Then what is written has no name for it, either. */
static bool is_nameless(const type *t) {
    return t->kind == TYPE_RECORD && !t->record->tagged && strchr(t->record->name, '(') != NULL;
}

/* The fields of `path`, of a structure of type r in `from`, into those in `to`. */
static void copy_fields(writer *w, const record *r, const char *path, const char *indent,
                        text *to) {
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        const char *const x = format("%s%s", path, f->name);
        const type *e = f->type;
        while (e->kind == TYPE_ARRAY) e = e->of;
        const type *const l = leaf_type(f->type);
        const bool holds = e->kind == TYPE_RECORD && record_holds(w->a, e->record);
        if (!*f->name) { /* its fields are those of r; or bits between others */
            if (e->kind == TYPE_RECORD) copy_fields(w, e->record, path, indent, to);
        } else if (is_nameless(e) && holds) {
            const char *item = x, *within = indent;
            for (const type *t = f->type; t->kind == TYPE_ARRAY; t = t->of) {
                const char *const k = format("wgc_k%zu", strlen(within));
                putf(to,
                     "%sfor (size_t %s = 0; %s < sizeof to->%s / sizeof to->%s[0]; %s++) {\n",
                     within, k, k, item, item, k);
                item = format("%s[%s]", item, k), within = format("%s    ", within);
            }
            copy_fields(w, e->record, format("%s.", item), within, to);
            for (size_t n = strlen(within); n > strlen(indent); n -= 4)
                putf(to, "%s}\n", within + strlen(within) - (n - 4));
        } else if (e->kind == TYPE_POINTER &&
                   (l->kind == TYPE_RECORD ? record_holds(w->a, l->record)
                                           : f->type->kind == TYPE_ARRAY && root_holds(w, f)))
            /* nobody says where a pointer to converted structures leads to here, nor one of
             * an array */
            putf(to,
                 f->type->kind == TYPE_POINTER && !f->type->constant
                     ? "%sto->%s = NULL;\n"
                     : "%smemset((void *)&to->%s, 0, sizeof to->%s);\n",
                 indent, x, x);
        else if (!root_holds(w, f) && !holds) {
            if (f->type->kind == TYPE_ARRAY) {
                if (f->type->count > 0)
                    putf(to, "%smemcpy(to->%s, from->%s, sizeof to->%s);\n", indent, x, x, x);
            } else if (f->type->constant || is_nameless(e))
                putf(to, "%smemcpy((void *)&to->%s, &from->%s, sizeof to->%s);\n", indent, x, x,
                     x);
            else putf(to, "%sto->%s = from->%s;\n", indent, x, x);
        } else if (f->type->kind == TYPE_POINTER) putf(to, "%sto->%s = NULL;\n", indent, x);
        else if (e->kind == TYPE_RECORD && f->type->kind == TYPE_ARRAY)
            putf(
                to,
                "%sfor (size_t wgc_k = 0; wgc_k < sizeof to->%s / sizeof(%s_wg); wgc_k++)\n%s    wgc_copy_%s((%s_wg *)to->%s + wgc_k, (const %s *)from->%s + wgc_k);\n",
                indent, x, record_name(e->record), indent, e->record->name,
                record_name(e->record), x, record_name(e->record), x);
        else if (e->kind == TYPE_RECORD)
            putf(to, "%swgc_copy_%s(&to->%s, &from->%s);\n", indent, e->record->name, x, x);
        else if (f->type->kind == TYPE_ARRAY)
            putf(
                to,
                "%sfor (size_t wgc_k = 0; wgc_k < sizeof to->%s / sizeof(wg_real); wgc_k++)\n%s    ((wg_real *)to->%s)[wgc_k] = wg_constant(((const %s *)from->%s)[wgc_k]);\n",
                indent, x, indent, x, e->spelling, x);
        else putf(to, "%sto->%s = wg_constant(from->%s);\n", indent, x, x);
    }
}

static void write_copies(writer *w, const record *r, list *done, text *to) {
    if (list_has(done, r)) return;
    push(done, (void *)r);
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        const type *const t = leaf_type(f->type);
        if (t->kind == TYPE_RECORD && record_holds(w->a, t->record))
            write_copies(w, t->record, done, to);
    }
    if (is_nameless(&(type){.kind = TYPE_RECORD, .record = (record *)r})) return;
    text fields = {NULL, 0, 0};
    copy_fields(w, r, "", "    ", &fields);
    const bool only_pointers = strstr(text_of(&fields), "from->") == NULL;
    putf(to, "static void wgc_copy_%s(%s_wg *to, const %s *from) {\n%s%s}\n\n", r->name,
         record_name(r), record_name(r), only_pointers ? "    (void)from;\n" : "",
         text_of(&fields));
}

/* ---- the callback ------------------------------------------------------------------------ */

static const char *converted(const writer *w, const type *t) {
    const type *e = t;
    while (e->kind == TYPE_ARRAY) e = e->of;
    (void)w;
    return e->kind == TYPE_RECORD ? format("%s_wg", record_name(e->record)) : "wg_real";
}

/* What holds memory until the end, in the text that is written. */
const char *const memory_text =
    "#ifndef WGC_MEMORY\n#define WGC_MEMORY\n/* Memory that a callback holds: zeroed, given back at its end; the first of it is its own. */\n"
    "typedef union wgc_block {\n    union wgc_block *next;\n    max_align_t align;\n} wgc_block;\n\n"
    "typedef struct wgc_memory {\n    wgc_block *held;\n    size_t n;\n    max_align_t own[64];\n} wgc_memory;\n\n"
    "static void *wgc_obtain(wgc_memory *m, size_t n, size_t size) {\n"
    "    const size_t unit = sizeof m->own[0], left = sizeof m->own / unit - m->n;\n"
    "    if (n <= left * unit / size) {\n"
    "        void *const p = m->own + m->n;\n"
    "        m->n += (n * size + unit - 1) / unit;\n"
    "        return memset(p, 0, n * size);\n    }\n"
    "    if (n > (SIZE_MAX - sizeof(wgc_block)) / size) return NULL;\n"
    "    wgc_block *const b = calloc(1, sizeof *b + n * size);\n"
    "    if (b == NULL) return NULL;\n"
    "    b->next = m->held;\n    m->held = b;\n    return b + 1;\n}\n\n"
    "static void wgc_return(const wgc_memory *m) {\n"
    "    for (wgc_block *b = m->held; b != NULL;) {\n        wgc_block *const next = b->next;\n        free(b);\n        b = next;\n    }\n}\n#endif\n\n";

const char *const larger_text =
    "#ifndef WGC_LARGER\n#define WGC_LARGER\nstatic size_t wgc_larger(size_t a, size_t b) { return a > b ? a : b; }\n#endif\n\n";

/* Memory for n elements at `into`. */
static void obtain(text *to, const char *into, const char *n, const char *indent) {
    putf(
        to,
        "%s%s = wgc_obtain(&wgc_held, %s, sizeof *%s);\n%sif (%s == NULL) goto wgc_no_memory;\n",
        indent, into, n, into, indent, into);
}

static const char *real_name(const type *t) {
    return t->bits == 32 ? "float" : t->bits == 80 ? "long double" : "double";
}

/* The elements that pointer `into` leads to: n of them, with the values that `from` leads to.
 * `counts`: of pointers, how many numbers each leads to. */
static void make_elements(const writer *w, const type *t, const char *into, const char *from,
                          const char *n, const char *name, const char *indent, text *to) {
    const type *e = t;
    while (e->kind == TYPE_ARRAY) e = e->of;
    const char *const counts = format("wgc_from->%s_counts", name);
    const decl *const tail = tail_of(w, t);
    if (tail != NULL) {
        const char *const more = format("wgc_from->%s_%s_count", name, tail->name),
                          *const x = tail->name;
        const type *const item = tail->type->of;
        putf(
            to,
            "%s%s = wgc_obtain(&wgc_held, 1, sizeof *%s + %s * sizeof *%s->%s);\n%sif (%s == NULL) goto wgc_no_memory;\n",
            indent, into, into, more, into, x, indent, into);
        putf(
            to,
            "%sif (%s != NULL) {\n%s    wgc_copy_%s(%s, %s);\n%s    for (size_t wgc_k = 0; wgc_k < %s; wgc_k++) ",
            indent, from, indent, e->record->name, into, from, indent, more);
        if (item->kind == TYPE_RECORD)
            putf(to, "wgc_copy_%s(&%s->%s[wgc_k], &%s->%s[wgc_k]);\n", item->record->name, into,
                 x, from, x);
        else putf(to, "%s->%s[wgc_k] = wg_constant(%s->%s[wgc_k]);\n", into, x, from, x);
        putf(to, "%s}\n", indent);
        return;
    }
    const char *const inner =
        t->kind == TYPE_ARRAY
            ? format(" * %s", count_of_array(t) != NULL ? count_of_array(t) : "1")
            : "";
    obtain(to, into, n, indent);
    putf(to, "%sfor (size_t wgc_k = 0; %s != NULL && wgc_k < %s%s; wgc_k++)", indent, from, n,
         inner);
    if (e->kind == TYPE_RECORD)
        putf(to, "\n%s    wgc_copy_%s((%s_wg *)%s + wgc_k, (const %s *)%s + wgc_k);\n", indent,
             e->record->name, record_name(e->record), into, record_name(e->record), from);
    else if (e->kind == TYPE_POINTER) {
        putf(to, " {\n%s    if (%s[wgc_k] == NULL) continue;\n%s    wg_real *wgc_numbers;\n",
             indent, from, indent);
        obtain(to, "wgc_numbers", format("%s[wgc_k]", counts), format("%s    ", indent));
        putf(
            to,
            "%s    for (size_t wgc_i = 0; wgc_i < %s[wgc_k]; wgc_i++) wgc_numbers[wgc_i] = wg_constant(%s[wgc_k][wgc_i]);\n%s    %s[wgc_k] = wgc_numbers;\n%s}\n",
            indent, counts, from, indent,
            t->constant && strchr(into, '.') != NULL /* a field is declared as it was */
                ? format("((wg_real **)%s)", into)
                : into,
            indent);
    } else
        putf(to, "\n%s    ((wg_real *)%s)[wgc_k] = wg_constant(((const %s *)%s)[wgc_k]);\n",
             indent, into, real_name(e), from);
}

static void make_pointer_fields(writer *w, const decl *p, const record *r, text *to) {
    const bool pointer = pointed(p) != NULL;
    for (size_t i = 0; i < r->fields.n; i++) {
        const decl *const f = r->fields.at[i];
        if (!is_held_pointer(w, f) ||
            (f->type->of->kind != TYPE_REAL && f->type->of->kind != TYPE_RECORD &&
             f->type->of->kind != TYPE_ARRAY && !leads_to_rows(f)))
            continue;
        const char *const n = elements_of(w, p, f);
        const char *const at = pointer ? "[wgc_s]." : ".";
        const char *const from = format("wgc_from->%s%s%s", p->name, at, f->name),
                          *const into = format("%s%s%s", p->name, at, f->name);
        if (pointer)
            putf(to,
                 "        for (size_t wgc_s = 0; wgc_from->%s != NULL && wgc_s < %s; wgc_s++)",
                 p->name, elements_of(w, p, NULL));
        else put(to, "       ");
        putf(to, " if (%s != 0) {\n", n);
        make_elements(w, f->type->of, into, from, n, format("%s_%s", p->name, f->name),
                      "            ", to);
        put(to, "        }\n");
    }
}

static void make_parameter(writer *w, const decl *p, text *to) {
    const char *const x = p->name;
    if (!root_holds(w, p) || is_function(p)) {
        if (is_function(p) && root_holds(w, p))
            putf(to, "    %s = wgc_from->%s;\n", function_pointer(w, p), x);
        else putf(to, "    %s = wgc_from->%s;\n", declared_as(p->type, x), x);
        return;
    }
    const type *const t = pointed(p);
    if (t == NULL) {
        putf(to, "    %s %s%s;\n", converted(w, p->type), x,
             p->type->kind == TYPE_REAL ? format(" = wg_constant(wgc_from->%s)", x) : "");
        if (p->type->kind == TYPE_RECORD) {
            putf(to, "    wgc_copy_%s(&%s, &wgc_from->%s);\n", p->type->record->name, x, x);
            make_pointer_fields(w, p, p->type->record, to);
        }
        return;
    }
    bool single;
    const bool named =
        declared_dimension(p) != NULL || reached_elements(w, p, NULL, &single) != NULL;
    const char *const d = dimensions(t);
    putf(to, "    %s %s%s%s%s = NULL;\n", converted(w, t->kind == TYPE_POINTER ? t->of : t),
         *d                        ? "(*"
         : t->kind == TYPE_POINTER ? "**"
                                   : "*",
         x, *d ? ")" : "", d);
    if (named) put(to, "    {\n");
    else putf(to, "    if (wgc_from->%s != NULL) {\n", x);
    make_elements(w, t, x, format("wgc_from->%s", x), elements_of(w, p, NULL), x, "        ",
                  to);
    if (t->kind == TYPE_RECORD) make_pointer_fields(w, p, t->record, to);
    put(to, "    }\n");
}

/* The path, with the names that the callback has for parameters, globals, the result and
 * indices. */
static const char *path_of(const writer *w, const selection *s) {
    text to = {NULL, 0, 0};
    const char *p = s->path;
    if (s->root == NULL) put(&to, "wgc_result"), p += strlen("return");
    else if (s->root->is_global && root_holds(w, s->root))
        putf(&to, "%s_wg", s->root->name), p += strlen(s->root->name);
    for (; *p; p++)
        if (*p == '@') putf(&to, "wgc_k%c", *++p);
        else put_n(&to, p, 1);
    return text_of(&to);
}
/* The loops over the ranges of a selection. */
static void put_ranges(const selection *s, text *to) {
    for (size_t i = 0; i < s->ranges; i++)
        putf(to, " for (size_t wgc_k%zu = (size_t)(%s); wgc_k%zu < (size_t)(%s); wgc_k%zu++)",
             i, s->from[i], i, s->end[i], i);
}

/* Moves all numbers of a selection, and of those that follow it element by element: `how` has
 * %s for one of them. The result is how many selections that were. */
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
    if (selection_is_flat(s))
        path = format("((wg_real *)%s)[wgc_k0]",
                      copy_text(path, (size_t)(strchr(path, '[') - path)));
    put_ranges(s, to);
    put(to, n > 1 ? " { " : " ");
    putf(to, how, path);
    for (size_t i = 1; i < n; i++) {
        put(to, " ");
        putf(to, how, path_of(w, l->at[at + i]));
    }
    put(to, n > 1 ? " }\n" : "\n");
    return n;
}

const char *callback_declaration(writer *w) {
    const decl *const missing = cannot_make(w);
    if (missing != NULL)
        return format(
            "/* There is no callback: '%s' is of a type that is not copied by itself. */\n",
            missing->name);
    return in_header(w)
               ? whole_declaration(w)
               : format(
                     "/* The callback is declared where the types of its arguments are: in the source. */\n");
}

/* ---- globals ----------------------------------------------------------------------------- */

static bool begins_anew(const writer *w, const file *f, const decl *d) {
    const type *e = d->type;
    while (e->kind == TYPE_ARRAY) e = e->of;
    const bool here =
        d->defined && d->file->given ? d->file == f : f == w->a->root->function->file;
    return here && (e->kind == TYPE_REAL || e->kind == TYPE_RECORD) && !is_constant(d->type) &&
           root_holds(w, d);
}
static bool has_begin(const writer *w, const file *f) {
    if (!f->given) return false;
    for (size_t i = 0; i < w->a->program->globals.n; i++)
        if (begins_anew(w, f, w->a->program->globals.at[i])) return true;
    return false;
}
static const char *begin_name(const writer *w, const file *f) {
    size_t number =
        1; /* among the files given: those of the system are not everywhere the same */
    for (size_t i = 0; w->a->program->files.at[i] != f; i++)
        number += ((const file *)w->a->program->files.at[i])->given;
    return format("%s_begin%zu", w->a->root->name, number);
}

const char *write_begin(writer *w, const file *f, list *done) {
    text to = {NULL, 0, 0}, body = {NULL, 0, 0};
    if (!has_begin(w, f)) return "";
    for (size_t i = 0; i < w->a->program->globals.n; i++) {
        const decl *const d = w->a->program->globals.at[i];
        if (!begins_anew(w, f, d)) continue;
        const type *e = d->type;
        while (e->kind == TYPE_ARRAY) e = e->of;
        if (e->kind == TYPE_RECORD) write_copies(w, e->record, done, &to);
        const char *const item = converted(w, d->type);
        const char *const own = e->kind == TYPE_RECORD ? record_name(e->record) : real_name(e);
        const char *const left = format("(%s *)&%s_wg + wgc_k", item, d->name),
                          *const right = format("(const %s *)&%s + wgc_k", own, d->name);
        putf(&body,
             "    for (size_t wgc_k = 0; wgc_k < sizeof %s_wg / sizeof(%s); wgc_k++)\n        ",
             d->name, item);
        if (e->kind == TYPE_RECORD)
            putf(&body, "wgc_copy_%s(%s, %s);\n", e->record->name, left, right);
        else putf(&body, "*(%s) = wg_constant(*(%s));\n", left, right);
    }
    putf(
        &to,
        "\n/* Variables of this file begin with what the originals have. */\nvoid %s(void);\nvoid %s(void) {\n%s}\n",
        begin_name(w, f), begin_name(w, f), text_of(&body));
    return text_of(&to);
}

const char *misfit(const writer *w, bool taped, const char *why) {
    return !taped || w->generic ? "WG_ESHAPE"
                                : format("wg_tape_refuse(%s, WG_ESHAPE, \"%s_callback: %s\")",
                                         w->tape, w->a->root->name, why);
}

void check_counts(const writer *w, bool taped, text *to) {
    const decl *const f = w->a->root->function;
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        bool single;
        const bool counted = is_held_pointer(w, p) && declared_dimension(p) == NULL &&
                             reached_elements(w, p, NULL, &single) == NULL;
        if (counted && p->type->of->kind != TYPE_RECORD)
            putf(
                to,
                "    if (wgc_from->%s != NULL && wgc_from->%s_count == 0)\n        return %s;\n",
                p->name, p->name, misfit(w, taped, format("%s_count is 0", p->name)));
        if (is_held_pointer(w, p) && p->type->of->kind == TYPE_POINTER)
            putf(
                to,
                "    if (wgc_from->%s != NULL && wgc_from->%s_counts == NULL)\n        return %s;\n",
                p->name, p->name, misfit(w, taped, format("%s_counts is NULL", p->name)));
        const type *const t = pointed(p) != NULL ? pointed(p) : p->type;
        for (size_t k = 0; t->kind == TYPE_RECORD && k < t->record->fields.n; k++) {
            const decl *const d = t->record->fields.at[k];
            if (!root_holds(w, p) || !is_held_pointer(w, d) || !leads_to_rows(d)) continue;
            const char *const name = format("%s_%s_counts", p->name, d->name);
            putf(to, "    if (%s != 0 && wgc_from->%s == NULL)\n        return %s;\n",
                 elements_of(w, p, d), name, misfit(w, taped, format("%s is NULL", name)));
        }
    }
}

/* What the brackets at *s hold; *s is behind them then. */
static const char *in_brackets(const char **s) {
    const char *const open = *s, *const close = strchr(open, ']');
    *s = close + 1;
    return copy_text(open + 1, (size_t)(close - open) - 1);
}

void check_rows(const writer *w, bool taped, const char *refusal, text *to) {
    for (size_t k = 0; k < w->a->inputs.n; k++) {
        const selection *const s = w->a->inputs.at[k];
        const decl *const p = s->root, *const field = s->fields.n != 0 ? s->fields.at[0] : NULL,
                          *const d = field != NULL ? field : p;
        if (p == NULL || p->is_global || !root_holds(w, p) || !is_held_pointer(w, d) ||
            !leads_to_rows(d))
            continue;
        const char *const path = path_of(w, s), *at = path + strlen(p->name);
        if (field != NULL) at = strstr(at, field->name) + strlen(field->name);
        if (*at != '[') continue;
        const char *const from = copy_text(path, (size_t)(at - path)),
                          *const name =
                              field != NULL ? format("%s_%s", p->name, field->name) : p->name;
        const char *const row = in_brackets(&at);
        const char *const col = *at == '[' ? in_brackets(&at) : "0";
        put(to, "   ");
        put_ranges(s, to);
        put(to, " if (");
        if (field != NULL && pointed(p) != NULL) putf(to, "wgc_from->%s == NULL || ", p->name);
        putf(
            to,
            "wgc_from->%s == NULL || wgc_from->%s[%s] == NULL || wgc_from->%s_counts[%s] <= (size_t)(%s)) {\n",
            from, from, row, name, row, col);
        putf(to, refusal,
             misfit(w, taped, format("%s leads to fewer numbers than there are inputs", from)));
        put(to, "    }\n");
    }
}

const char *callback_definition(writer *w, const char *in) {
    const decl *const f = w->a->root->function;
    const version *const v = w->a->root;
    text to = {NULL, 0, 0}, args = {NULL, 0, 0};
    list done = {NULL, 0, 0};
    if (cannot_make(w) != NULL) {
        warn_at(place_in(f->file, f->at),
                "no callback is written: '%s' is of a type that is not copied by itself",
                cannot_make(w)->name);
        return format("\nunsigned long %s_run;\n%s", v->name, write_begin(w, f->file, &done));
    }
    putf(&to, "\nunsigned long %s_run;\n%s\n/* ---- for drivers */\n\n", v->name,
         write_begin(w, f->file, &done));
    if (!in_header(w)) {
        put(&to, names_of_variables(w));
        put_once(&to, w, in, whole_declaration(w), false);
        putf(&to, "\n%s", names_of_duals(w));
    }
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const type *const t = leaf_type(p->type);
        if (root_holds(w, p) && t->kind == TYPE_RECORD) {
            for (size_t k = 0; k < t->record->fields.n; k++) {
                const decl *const q = t->record->fields.at[k];
                const type *const u = leaf_type(q->type);
                if (root_holds(w, q) && u->kind == TYPE_RECORD)
                    write_copies(w, u->record, &done, &to);
            }
            write_copies(w, t->record, &done, &to);
        }
    }
    text body = {NULL, 0, 0};
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const bool twice =
            root_holds(w, p) && pointed(p) != NULL && pointed(p)->kind == TYPE_POINTER;
        putf(&args, ", %s%s",
             twice ? pointed(p)->of->constant ? "(const wg_real **)" : "(wg_real **)" : "",
             p->name);
    }
    for (size_t i = 0; i < f->parameters.n; i++) /* sizes first */
        if (!root_holds(w, f->parameters.at[i])) make_parameter(w, f->parameters.at[i], &body);
    check_counts(w, true, &body);
    put_apart(w, &body);
    for (size_t i = 0; i < f->parameters.n; i++)
        if (root_holds(w, f->parameters.at[i])) make_parameter(w, f->parameters.at[i], &body);
    const char *const fit =
        format("wgc_n != %s || wgc_m != %s", total_of(&w->a->inputs), total_of(&w->a->outputs));
    putf(&body,
         strstr(text_of(&body), "wgc_obtain") != NULL
             ? "    if (%s) {\n        wgc_status = %s;\n        goto wgc_done;\n    }\n"
             : "    if (%s)\n        return %s;\n",
         fit, misfit(w, true, "other numbers of inputs or outputs"));
    check_rows(w, true, "        wgc_status = %s;\n        goto wgc_done;\n", &body);
    /* comparisons in regions are no guards: a tape that keeps its code refuses, whichever
     * way is taken */
    size_t given = 0;
    for (size_t i = 0; i < w->a->program->files.n; i++)
        given += ((const file *)w->a->program->files.at[i])->given;
    if (w->blocks && w->duals == 0 && (w->names != 0 || given > 1))
        putf(
            &body,
            "    const double wgc_none = 0;\n    while (wgc_in < wgc_n && wgc_x[wgc_in].at.slot == 0) wgc_in++;\n"
            "    if (wgc_in < wgc_n) (void)wg_let_given(%s, 0, 1, &wgc_x[wgc_in], &wgc_none);\n    wgc_in = 0;\n",
            w->tape);
    for (size_t i = 0; i < w->a->inputs.n;)
        i += move(w, &w->a->inputs, i, "%s = wgc_x[wgc_in++];", &body);
    const bool returns = v->result != NULL && holds_variables(v->result);
    const char *const result =
        !returns ? "(void)"
        : f->type->of->kind == TYPE_POINTER
            ? "wg_real *const wgc_result = "
            : format("const %s wgc_result = ", converted(w, f->type->of));
    putf(&body, "    %s%s(%s%s);\n", result, v->name, w->tape, text_of(&args));
    for (size_t i = 0; i < w->a->outputs.n;)
        i += move(w, &w->a->outputs, i, "wgc_y[wgc_out++] = %s;", &body);
    if (returns) put(&body, "    (void)wgc_result;\n");
    const bool holding = strstr(text_of(&body), "wgc_obtain") != NULL;
    if (holding) put(&to, memory_text);
    if (strstr(text_of(&body), "wgc_larger") != NULL) put(&to, larger_text);
    for (size_t i = 0; i < w->a->program->files.n; i++)
        if (has_begin(w, w->a->program->files.at[i]))
            putf(&to, "void %s(void);\n", begin_name(w, w->a->program->files.at[i]));
    putf(
        &to,
        "%swg_status %s_%s(wg_tape *%s, size_t wgc_n, const wg_real *wgc_x,\n    size_t wgc_m, wg_real *wgc_y, void *wgc_data) {\n"
        "    const %s *const wgc_from = wgc_data;\n%s    size_t wgc_in = 0, wgc_out = 0;\n",
        w->duals != 0 ? "static " : "", v->name, w->duals != 0 ? "duals" : "callback", w->tape,
        arguments_name(w),
        holding
            ? "    wg_status wgc_status = WG_OK;\n    wgc_memory wgc_held;\n    wgc_held.held = NULL, wgc_held.n = 0;\n"
            : "");
    putf(&to, "    if (wgc_from == NULL) return WG_ENULL;\n    %s_run++;\n", v->name);
    for (size_t i = 0; i < w->a->program->files.n; i++)
        if (has_begin(w, w->a->program->files.at[i]))
            putf(&to, "    %s();\n", begin_name(w, w->a->program->files.at[i]));
    put(&to, text_of(&body));
    put(&to,
        holding
            ? "    goto wgc_done;\nwgc_no_memory:\n    wgc_status = WG_ENOMEM;\nwgc_done:\n    wgc_return(&wgc_held);\n    return wgc_status;\n}\n"
            : "    return WG_OK;\n}\n");
    if (w->duals != 0) putf(&to, "%s%s", names_of_variables(w), forward_callback(w));
    return text_of(&to);
}
