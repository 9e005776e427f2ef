/* SPDX-License-Identifier: MIT */
/* arguments.c - the original's arguments as a structure, which is the data of a function for
 * drivers: how many elements each of them has, and how many numbers the inputs and outputs
 * are. */
#include <string.h>
#include "convert/callback.h"

const char *declared_as(const type *t, const char *name) {
    const char *s = t->spelling;
    const type *e = t;
    while (e->kind == TYPE_ARRAY) e = e->of;
    if (starts_with(s, "const ") && e->kind != TYPE_POINTER) s += 6;
    const char *const star = strstr(s, "(*");
    if (star != NULL) {
        const char *at = star + 2; /* behind (*const */
        for (size_t n = 1; n != 0; at += n)
            n = starts_with(at, "const") ? 5 : *at == '*' || *at == ' ' ? 1 : 0;
        return format("%s%s%s%s", copy_text(s, (size_t)(at - s)), at[-1] == 't' ? " " : "",
                      name, at);
    }
    if (t->kind == TYPE_FUNCTION && strchr(s, '(') != NULL)
        return format("%s(*%s)%s", copy_text(s, (size_t)(strchr(s, '(') - s)), name,
                      strchr(s, '('));
    const char *const bracket = t->kind == TYPE_ARRAY ? strchr(s, '[') : NULL;
    if (bracket != NULL)
        return format("%s%s%s%s", copy_text(s, (size_t)(bracket - s)),
                      bracket > s && bracket[-1] != '*' && bracket[-1] != ' ' ? " " : "", name,
                      bracket);
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

/* What is behind the ranges of a selection: all elements of an array, if one range does not go
 * through it; then they are counted from the first number. */
bool selection_is_flat(const selection *s) {
    return s->type->kind == TYPE_ARRAY && s->ranges == 1;
}

/* How many numbers a selection has, as C. */
const char *count_of_selection(const selection *s) {
    if (s->ranges == 0) {
        const char *const n = s->type->kind == TYPE_ARRAY ? count_of_array(s->type) : "1";
        return n != NULL ? n : "1";
    }
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < s->ranges; i++) {
        const char *const n =
            same(s->from[i], "0") ? s->end[i] : format("(%s) - (%s)", s->end[i], s->from[i]);
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

/* How far a selection reaches at the end of `name` in its path: the end of a range, the element
 * behind an index, one for what is pointed to; NULL: it has no such part. */
static const char *reach_of(const selection *s, const char *behind) {
    if (strncmp(behind, "[@", 2) == 0) return s->end[behind[2] - '0'];
    const char *const close = *behind == '[' ? strchr(behind, ']') : NULL;
    if (close != NULL)
        return format("%s + 1", copy_text(behind + 1, (size_t)(close - behind - 1)));
    return "1";
}

/* How many elements of a parameter, or of the field of one, the selections reach, as C; NULL:
 * none is named.
 * *single: it is one number by pointer. */
const char *reached_elements(const writer *w, const decl *p, const decl *field, bool *single) {
    text most = {NULL, 0, 0};
    size_t ends = 0;
    const list *const both[] = {&w->a->inputs, &w->a->outputs};
    *single = true;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < both[i]->n; k++) {
            const selection *const q = both[i]->at[k];
            if (q->root != p ||
                (field != NULL && (q->fields.n == 0 || q->fields.at[0] != field)))
                continue;
            const char *behind = q->path + strlen(p->name);
            if (field != NULL) behind = strstr(behind, field->name) + strlen(field->name);
            const char *const end = reach_of(q, behind);
            if (!same(end, "1")) *single = false;
            if (ends++ == 0) putf(&most, "(size_t)(%s)", end);
            else if (strstr(text_of(&most), format("(%s)", end)) == NULL) {
                const char *const before = text_of(&most);
                most = (text){NULL, 0, 0};
                putf(&most, "wgc_larger(%s, (size_t)(%s))", before, end);
            }
        }
    *single &= ends != 0;
    return ends != 0 ? text_of(&most) : NULL;
}

/* The dimension that the parameter's text declares, as in double r[3]; NULL: there is none. */
const char *declared_dimension(const decl *p) {
    const file *const f = p->file;
    const char *const s =
        copy_text(f->text + p->at + strlen(p->name), p->end - p->at - strlen(p->name));
    const char *const close = strchr(s, ']');
    if (*s != '[' || close == NULL || close == s + 1) return NULL;
    const char *inside = copy_text(s + 1, (size_t)(close - s - 1));
    if (starts_with(inside, "static ")) inside += 7;
    return is_number(inside) ? inside : NULL;
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
    while (e->kind == TYPE_ARRAY || (e == t && e->kind == TYPE_POINTER)) {
        if (e->kind == TYPE_ARRAY && e->count < 0) return false; /* rows of n numbers */
        e = e->of;
    }
    return e->kind == TYPE_REAL || e->kind == TYPE_RECORD;
}

static bool visible(const writer *w, const type *t) {
    const type *const l = leaf_type(t);
    return l->kind != TYPE_RECORD || l->record->definition == NULL ||
           l->record->definition->file != w->a->root->function->file;
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

/* A parameter that is a function with variables, as a pointer, however it is written. */
const char *function_pointer(writer *w, const decl *p) {
    const char *const s = retyped(w, p->file, p->begin, p->end);
    if (strstr(s, "(*") != NULL || strstr(s, "( *") != NULL) return s;
    for (const char *at = strstr(s, p->name); at != NULL; at = strstr(at + 1, p->name)) {
        const char *const behind = at + strlen(p->name);
        const char *q = behind;
        while (*q == ' ') q++;
        if (*q == '(')
            return format("%s(*%s)%s", copy_text(s, (size_t)(at - s)), p->name, behind);
    }
    return s;
}

/* Elements of what a pointer leads to, in the arguments; and of a field of what it leads to. */
bool is_held_pointer(const writer *w, const decl *d) {
    return root_holds(w, d) && d->type->kind == TYPE_POINTER && !is_function(d);
}

bool leads_to_rows(const decl *d) {
    const type *const t = d->type->kind == TYPE_POINTER ? d->type->of : d->type;
    return t->kind == TYPE_POINTER && t->of->kind == TYPE_REAL;
}

const decl *tail_of(const writer *w, const type *t) {
    if (t->kind != TYPE_RECORD || t->record->is_union || t->record->fields.n < 2) return NULL;
    const decl *const d = t->record->fields.at[t->record->fields.n - 1];
    if (d->type->kind != TYPE_ARRAY || d->type->count > 1) return NULL;
    const type *const e = d->type->of;
    const bool of_records = e->kind == TYPE_RECORD && record_holds(w->a, e->record);
    return of_records || (e->kind == TYPE_REAL && root_holds(w, d)) ? d : NULL;
}

static void write_row_counts(const type *e, const char *name, text *to) {
    if (e->kind == TYPE_POINTER)
        putf(to, "    const size_t *%s_counts; /* how many numbers each of these leads to */\n",
             name);
}

static void write_count(const writer *w, const decl *p, const decl *field, text *to) {
    bool single;
    const decl *const d = field != NULL ? field : p;
    const char *const ends = reached_elements(w, p, field, &single);
    const type *const e = d->type->of;
    const char *const name = field != NULL ? format("%s_%s", p->name, d->name) : p->name;
    const char *const path = field != NULL ? format("%s->%s", p->name, d->name) : p->name;
    if (field == NULL && single && e->kind == TYPE_REAL) return;
    if (field == NULL && declared_dimension(p) != NULL) {
        write_row_counts(e, name, to);
        return;
    }
    putf(to, "    size_t %s_count; /* how many %s %s has", name,
         e->kind == TYPE_RECORD    ? "structures"
         : e->kind == TYPE_POINTER ? "pointers"
         : e->kind == TYPE_ARRAY   ? "rows"
                                   : "numbers",
         path);
    if (ends != NULL) put(to, "; 0: as many as inputs and outputs need");
    else if (field != NULL) put(to, "; 0: it is NULL");
    else if (e->kind == TYPE_RECORD) put(to, "; 0: one");
    put(to, " */\n");
    write_row_counts(e, name, to);
    const decl *const tail = tail_of(w, e);
    if (tail != NULL)
        putf(
            to,
            "    size_t %s_%s_count; /* how many elements %s->%s has, the last field; 0: as it is declared */\n",
            name, tail->name, path, tail->name);
}

static void write_counts(const writer *w, const decl *p, text *to) {
    if (is_held_pointer(w, p)) write_count(w, p, NULL, to);
    const type *const t = leaf_type(p->type);
    for (size_t i = 0; t->kind == TYPE_RECORD && i < t->record->fields.n; i++)
        if (is_held_pointer(w, t->record->fields.at[i]))
            write_count(w, p, t->record->fields.at[i], to);
}

const char *arguments_declaration(writer *w) {
    text to = {NULL, 0, 0};
    const decl *const f = w->a->root->function;
    const char *const name = w->a->root->name;
    putf(
        &to,
        "/* The arguments of %s. Inputs are not read, but where they are to be constants; what is written\n * stays as it is. */\n",
        f->name);
    putf(&to, "typedef struct %s {\n", arguments_name(w));
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        if (is_function(p) && root_holds(w, p))
            putf(&to, "    %s; /* a converted one */\n", function_pointer(w, p));
        else putf(&to, "    %s;\n", declared_as(p->type, p->name));
        if (root_holds(w, p)) write_counts(w, p, &to);
    }
    if (f->parameters.n == 0) put(&to, "    int nothing;\n");
    putf(&to, "} %s;\n\n", arguments_name(w));
    const char *const n = total_of(&w->a->inputs), *const m = total_of(&w->a->outputs);
    if (is_number(n) && is_number(m))
        putf(&to, "enum { %s_inputs = %s, %s_outputs = %s };\n", name, n, name, m);
    return text_of(&to);
}

/* What of the inputs and outputs a comment says. */
const char *selections_text(const list *l) {
    text to = {NULL, 0, 0};
    for (size_t i = 0; i < l->n; i++)
        putf(&to, "%s%s", i != 0 ? ", " : "", ((selection *)l->at[i])->text);
    return text_of(&to);
}

const char *record_name(const record *r) {
    return r->tagged ? format("%s %s", r->is_union ? "union" : "struct", r->name) : r->name;
}

const char *dimensions(const type *t) {
    text to = {NULL, 0, 0};
    for (; t->kind == TYPE_ARRAY; t = t->of) putf(&to, "[%lld]", t->count);
    return text_of(&to);
}

const char *elements_of(const writer *w, const decl *p, const decl *field) {
    bool single;
    const decl *const d = field != NULL ? field : p;
    const char *const ends = reached_elements(w, p, field, &single);
    if (field == NULL && declared_dimension(p) != NULL) return declared_dimension(p);
    if (field == NULL && single && d->type->of->kind == TYPE_REAL) return ends;
    const char *const count = field != NULL ? format("wgc_from->%s_%s_count", p->name, d->name)
                                            : format("wgc_from->%s_count", p->name);
    if (ends != NULL) return format("wgc_larger(%s, %s)", count, ends);
    return d->type->of->kind == TYPE_RECORD && field == NULL
               ? format("wgc_larger(%s, 1)", count)
               : count;
}

void put_apart(const writer *w, text *to) {
    const decl *const f = w->a->root->function;
    for (size_t i = 0; i < f->parameters.n; i++) {
        const decl *const p = f->parameters.at[i];
        const type *const t = pointed(p);
        if (!root_holds(w, p) || t == NULL || t->kind != TYPE_RECORD) continue;
        const decl *const tail = tail_of(w, t);
        const char *const n = elements_of(w, p, NULL), *const x =
                                                           format("wgc_from->%s", p->name);
        /* an array at the end may go on behind it, from there on */
        const decl *const last =
            t->record->fields.n != 0 ? t->record->fields.at[t->record->fields.n - 1] : NULL;
        const bool open =
            last != NULL && last->type->kind == TYPE_ARRAY && last->type->count <= 1;
        const char *end = format("(uintptr_t)(%s + (%s))%s", x, n, open ? " + 1" : "");
        if (tail != NULL)
            end = format("%s + wgc_from->%s_%s_count * sizeof %s->%s[0]", end, p->name,
                         tail->name, x, tail->name);
        for (size_t k = 0; k < t->record->fields.n; k++) {
            const decl *const q = t->record->fields.at[k];
            if (!is_held_pointer(w, q)) continue;
            putf(
                to,
                "    for (size_t wgc_i = 0; %s != NULL && wgc_i < (%s); wgc_i++)\n"
                "        if ((uintptr_t)%s[wgc_i].%s >= (uintptr_t)%s && (uintptr_t)%s[wgc_i].%s < %s) return WG_EARG;\n",
                x, n, x, q->name, x, x, q->name, end);
        }
    }
}
