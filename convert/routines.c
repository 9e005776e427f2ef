/* SPDX-License-Identifier: MIT */
/* routines.c - BLAS and LAPACK: a row for each routine that the library has on arrays of
 * variables; what it computes of what; its calls. */
#include <string.h>
#include "convert/cells.h"
#include "convert/routines.h"

static const routine_row all[] = {
    {"ddot", "nAnAn", "", 'r', false, 'p', ""},
    {"dnrm2", "nAn", "", 'r', false, 's', ""},
    {"dasum", "nAn", "", 'r', false, 's', ""},
    {"idamax", "nAn", "", 'i', false, 0, ""},
    {"daxpy", "naAnBn", "", 0, false, 'p', "1"},
    {"dscal", "naBn", "", 0, false, 'm', "1"},
    {"dcopy", "nAnBn", "", 0, false, 'c', "1"},
    {"dswap", "nBnBn", "", 0, true, 'c', "11"},
    {"dgemv", "ofnnaAnAnaBn", "", 0, false, 'p', "t"},
    {"dsymv", "ofnaAnAnaBn", "", 0, false, 'p', "3"},
    {"dger", "onnaAnAnBn", "", 0, false, 'p', "23"},
    {"dtrmv", "offfnAnBn", "", 0, false, 'm', "5"},
    {"dtrsv", "offfnAnBn", "", 0, false, 'd', "5"},
    {"dgemm", "offnnnaAnAnaBn", "", 0, false, 'p', "45"},
    {"dsymm", "offnnaAnAnaBn", "", 0, false, 'p', "45"},
    {"dsyrk", "offnnaAnaBn", "", 0, false, 'q', "44"},
    {"dtrmm", "offffnnaAnBn", "", 0, false, 'm', "67"},
    {"dtrsm", "offffnnaAnBn", "", 0, false, 'd', "67"},
    {"dgetrf", "onnBni", "", 's', false, 'f', "23"},
    {"dgetrs", "ofnnAniBn", "", 's', false, 'd', "34"},
    {"dgesv", "onnBniBn", "", 's', true, 'v', "2223"},
    {"dpotrf", "ofnBn", "", 's', false, 'f', "33"},
    {"dpotrs", "ofnnAnBn", "", 's', false, 'd', "34"},
    {"dposv", "ofnnBnBn", "", 's', true, 'v', "3334"},
    {"dgels", "ofnnnBnBn", "wl", 's', true, 0, ""},
    {"dsyev", "offnBnB", "wl", 's', true, 0, ""},
};

static const char *const prefixes[] = {"cblas_", "LAPACKE_"};

/* The name without what the interface adds; *fortran: NAME_. */
static const char *bare_name(const char *s, bool *fortran) {
    const size_t n = strlen(s);
    *fortran = false;
    for (size_t i = 0; i < 2; i++)
        if (starts_with(s, prefixes[i])) return s + strlen(prefixes[i]);
    if (n < 2 || s[n - 1] != '_') return NULL;
    *fortran = true;
    return copy_text(s, n - 1);
}

bool is_routine_name(const char *s) {
    return starts_with(s, prefixes[0]) || starts_with(s, prefixes[1]);
}

const routine_row *routine_called(const node *n, bool *fortran) {
    const node *const f = bare(n->child[0]);
    if (f->kind != NODE_NAME || f->decl->kind != DECL_FUNCTION || f->decl->body != NULL)
        return NULL;
    const char *const name = bare_name(f->decl->name, fortran);
    for (size_t i = 0; name != NULL && i < sizeof all / sizeof *all; i++) {
        if (!same(all[i].name, name)) continue;
        const bool lapack = all[i].result == 's';
        if (!*fortran && lapack != starts_with(f->decl->name, prefixes[1])) return NULL;
        const size_t least = strlen(all[i].arguments) - (*fortran && *all[i].arguments == 'o') +
                             (*fortran ? strlen(all[i].more) + lapack : 0);
        return n->children > least ? &all[i] : NULL;
    }
    return NULL;
}

char routine_argument(const routine_row *r, bool fortran, size_t i) {
    const char *s = r->arguments + (fortran && *r->arguments == 'o');
    const size_t n = strlen(s);
    if (i <= n) return s[i - 1];
    i -= n + 1;
    if (!fortran) return 0;
    const size_t more = strlen(r->more);
    return i < more ? r->more[i] : i == more && r->result == 's' ? 's' : 0;
}

/* ---- what is computed of what ------------------------------------------------------------ */

static bool is_array(char k) { return k == 'A' || k == 'B'; }

/* What leads to a field leads to the numbers behind it, too: &p.x to p.x, p.y, p.z. */
static void join_behind(analysis *a, const node *arg, cell *numbers) {
    const node *e = arg;
    while (e->kind == NODE_PAREN || e->kind == NODE_CAST) e = e->child[0];
    const node *const m = e->kind == NODE_UNARY && same(e->op, "&") ? bare(e->child[0]) : e;
    if (m == e || m->kind != NODE_MEMBER || m->children == 0 || m->type->kind != TYPE_REAL)
        return;
    const type *const t = m->child[0]->type;
    join_numbers(a, m->arrow ? t->of : t, numbers);
}

/* The cell of argument i: the numbers that it leads to, or the number. */
static cell *argument_cell(analysis *a, version *v, const node *arg, char k, bool fortran) {
    const bool numbers = is_array(k) || (fortran && k == 'a');
    const bool pointer =
        arg->type != NULL && (arg->type->kind == TYPE_POINTER || arg->type->kind == TYPE_ARRAY);
    cell *const c = pointer ? pointee(a, v, arg) : evaluate(a, v, arg);
    if (pointer && is_array(k)) join_behind(a, arg, c);
    return pointer == numbers && (numbers || k == 'a') ? c : NULL;
}

cell *call_routine(analysis *a, version *v, const node *n, const routine_row *r, bool fortran) {
    cell *const out = new_cell(a, n->type);
    const size_t args = n->children - 1;
    cell **const of = arena_get((args + 1) * sizeof *of);
    for (size_t i = 1; i <= args; i++)
        of[i] = argument_cell(a, v, n->child[i], routine_argument(r, fortran, i), fortran);
    for (size_t i = 1; i <= args; i++) {
        if (of[i] == NULL) continue;
        if (r->result == 'r') flow(of[i], out);
        if (routine_argument(r, fortran, i) != 'B') continue;
        for (size_t k = 1; k <= args; k++)
            if (of[k] != NULL && k != i &&
                (k < i || (r->each_way && routine_argument(r, fortran, k) == 'B')))
                flow(of[k], of[i]);
    }
    note(&a->recorded, v, n, "it is a routine of BLAS or LAPACK without an adjoint here");
    note(&a->routines, v, n, "");
    return out;
}

/* Does one of its arguments have variables? */
bool routine_varies(const version *v, const node *n, const routine_row *r, bool fortran) {
    for (size_t i = 1; i < n->children; i++) {
        const char k = routine_argument(r, fortran, i);
        const node *const arg = n->child[i];
        cell *const c = k == 'a' || is_array(k) ? node_cell(v, arg) : NULL;
        if (c != NULL && holds_variables(c)) return true;
    }
    return false;
}

/* Where one argument is a variable, all that is written to is. False: nothing was to be
 * done. */
bool force_routines(const analysis *a) {
    bool forced = false;
    for (size_t i = 0; i < a->routines.n; i++) {
        const remark *const m = a->routines.at[i];
        bool fortran;
        const routine_row *const r = routine_called(m->n, &fortran);
        if (!routine_varies(m->v, m->n, r, fortran)) continue;
        for (size_t k = 1; k < m->n->children; k++) {
            if (routine_argument(r, fortran, k) != 'B') continue;
            cell *c = node_cell(m->v, m->n->child[k]);
            while (c != NULL && c->target != NULL) c = real_cell(c->target);
            if (c == NULL || is_variable(c)) continue;
            c->forced = forced = true;
        }
    }
    return forced;
}

/* ---- calls ------------------------------------------------------------------------------- */

/* An argument that is a pointer, in Fortran: what it leads to. */
static const char *led_to(writer *w, const node *arg) {
    const node *const e = bare(arg);
    if (e->kind == NODE_UNARY && same(e->op, "&")) return write_number(w, e->child[0]);
    return format("*(%s)", write_number(w, arg));
}
static const char *variable_led_to(writer *w, const node *arg) {
    const node *const e = bare(arg);
    const bool active = node_cell(w->v, arg) != NULL && holds_variables(node_cell(w->v, arg));
    return active ? e->kind == NODE_UNARY && same(e->op, "&")
                        ? write_place(w, e->child[0])
                        : format("*(%s)", write_number(w, arg))
                  : format("wg_constant(%s)", led_to(w, arg));
}

const char *write_routine(writer *w, const node *n, const routine_row *r, bool fortran) {
    text to = {NULL, 0, 0};
    const char *status = NULL, *work = NULL, *length = NULL;
    if (w->generic)
        error_at(place_of(n),
                 "'%s' has variables, and is no kernel for three types: use --to tape",
                 source(n));
    putf(&to, "wg_%s(%s%s", r->name, w->tape, fortran && *r->arguments == 'o' ? ", 'C'" : "");
    for (size_t i = 1; i < n->children; i++) {
        const node *const arg = n->child[i];
        switch (routine_argument(r, fortran, i)) {
        case 'o':
        case 'f':
        case 'n':
            putf(&to, ", %s", fortran ? led_to(w, arg) : write_number(w, arg));
            break;
        case 'a':
            putf(&to, ", %s", fortran ? variable_led_to(w, arg) : write_variable(w, arg));
            break;
        case 'A':
            putf(&to, ", WG_ARRAY(%s)", write_number(w, arg));
            break;
        case 'B':
        case 'i':
            putf(&to, ", %s", write_number(w, arg));
            break;
        case 'w':
            work = write_number(w, arg);
            break;
        case 'l':
            length = led_to(w, arg);
            break;
        case 's':
            status = led_to(w, arg);
            break;
        default:
            break;
        }
    }
    put(&to, ")");
    const char *s = text_of(&to);
    if (work != NULL) s = format("(%s == -1 ? (*(%s) = 1, 0) : %s)", length, work, s);
    if (r->result == 'i' && fortran) s = format("(%s + 1)", s);
    return status != NULL ? format("%s = %s", status, s) : s;
}
