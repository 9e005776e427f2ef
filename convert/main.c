/* SPDX-License-Identifier: MIT */
/* main.c - wengert-convert: options, and the way from files to files. */
#include <clang-c/CXCompilationDatabase.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "convert/adjoint.h"
#include "convert/annotate.h"
#include "convert/callback.h"
#include "convert/called.h"
#include "convert/forward.h"
#include "convert/generic.h"
#include "convert/reading.h"
#include "convert/rows.h"

static const char usage[] =
    "usage: wengert-convert FILE.c .. --function NAME --with-respect-to INPUTS --of OUTPUTS -o OUT.c\n"
    "           [--to tape|generic|blocks|adjoint] [--directions N] [--rows N] [--inline N] [--passive NAME] [--calls PARAMETER=FUNCTION] [--accept-integers] [-p FOLDER] [-- COMPILER FLAGS]\n"
    "INPUTS, OUTPUTS: parameters and globals of the function, by commas: x, *p, p[0:n], s->field, s->{a,b}, return\n"
    "-p FOLDER: flags from the compile_commands.json there. More: man wengert-convert\n";

/* How a file that is written begins. */
static const char written[] = "/* Written by wengert-convert";

static int misused(const char *what) {
    fprintf(stderr, "wengert-convert: %s\n%s", what, usage);
    return 2;
}

/* What comments of the files say, and the command does not: of the function that it names,
 * or of the only one. */
static bool take_annotations(options *o) {
    list all = {NULL, 0, 0};
    const annotation *chosen = NULL;
    for (size_t i = 0; i < o->files.n; i++) annotations_in(o->files.at[i], &all);
    for (size_t i = 0; i < all.n; i++) {
        const annotation *const a = all.at[i];
        for (size_t k = 0; a->function == NULL && k < a->passive.n; k++)
            push(&o->passive, a->passive.at[k]);
        if (a->function == NULL || (o->function != NULL && !same(a->function, o->function)))
            continue;
        if (chosen != NULL && !same(a->function, chosen->function)) {
            error_at(a->where,
                     "wengert: this is the second function, '%s': say --function NAME",
                     a->function);
            return false;
        }
        if (chosen == NULL) chosen = a;
    }
    if (chosen == NULL) return errors_said() == 0;
    o->function = chosen->function;
    if (o->inputs == NULL) o->inputs = chosen->inputs;
    if (o->outputs == NULL) o->outputs = chosen->outputs;
    if (o->to == NULL) o->to = chosen->to;
    for (size_t k = 0; k < chosen->passive.n; k++) push(&o->passive, chosen->passive.at[k]);
    for (size_t k = 0; k < chosen->calls.n; k++) push(&o->calls, chosen->calls.at[k]);
    o->accept_integers |= chosen->accept_integers;
    return errors_said() == 0;
}

static bool is_at_most(const char *n, unsigned long most) {
    return *n != 0 && strspn(n, "0123456789") == strlen(n) && strlen(n) <= 2 &&
           strtoul(n, NULL, 10) <= most;
}

static int read_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const char *const s = argv[i], *const next = i + 1 < argc ? argv[i + 1] : NULL;
        struct {
            const char *name;
            const char **to;
        } const with_value[] = {{"--function", &o->function},
                                {"--with-respect-to", &o->inputs},
                                {"--of", &o->outputs},
                                {"-o", &o->out},
                                {"-p", &o->database},
                                {"--to", &o->to},
                                {"--directions", &o->directions},
                                {"--rows", &o->rows},
                                {"--inline", &o->in_line}};
        bool taken = false;
        if (same(s, "--")) {
            for (i++; i < argc; i++) push(&o->flags, argv[i]);
            break;
        }
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value && !taken; k++)
            if (same(s, with_value[k].name)) {
                if (next == NULL) return misused(format("%s needs a value", s));
                *with_value[k].to = next;
                taken = true, i++;
            }
        if (taken) continue;
        if (same(s, "--passive")) {
            if (next == NULL) return misused("--passive needs the name of a function");
            push(&o->passive, argv[++i]);
        } else if (same(s, "--calls")) {
            if (next == NULL || strchr(next, '=') == NULL)
                return misused("--calls needs PARAMETER=FUNCTION");
            push(&o->calls, argv[++i]);
        } else if (same(s, "--accept-integers")) o->accept_integers = true;
        else if (same(s, "--help")) {
            fputs(usage, stdout);
            return -1;
        } else if (*s == '-') return misused(format("%s is no option", s));
        else push(&o->files, argv[i]);
    }
    if (o->files.n == 0) return misused("no file is given");
    if (!take_annotations(o)) return 1;
    if (o->function == NULL || o->inputs == NULL || o->outputs == NULL || o->out == NULL)
        return misused("--function, --with-respect-to, --of and -o are needed");
    if (o->to == NULL) o->to = "tape";
    if (!same(o->to, "tape") && !same(o->to, "generic") && !same(o->to, "blocks") &&
        !same(o->to, "adjoint"))
        return misused(format("--to %s: tape, generic, blocks or adjoint", o->to));
    if (o->directions == NULL) o->directions = "8";
    if (o->rows == NULL) o->rows = "1";
    if (o->in_line != NULL && (*o->in_line == 0 || strlen(o->in_line) > 9 ||
                               strspn(o->in_line, "0123456789") != strlen(o->in_line)))
        return misused(format("--inline %s: a number of operations", o->in_line));
    if (!is_at_most(o->directions, MOST_DIRECTIONS))
        return misused(
            format("--directions %s: a number of 0 to %d", o->directions, MOST_DIRECTIONS));
    if (!is_at_most(o->rows, MOST_ROWS))
        return misused(format("--rows %s: a number of 0 to %d", o->rows, MOST_ROWS));
    return 0;
}

/* A flag with a path of the folder that the build was made in. */
static const char *flag_from(const char *folder, const char *flag) {
    static const char *const with_path[] = {"-I", "-isystem", "-iquote", "-include"};
    for (size_t i = 0; i < sizeof with_path / sizeof *with_path; i++) {
        const size_t n = strlen(with_path[i]);
        if (strncmp(flag, with_path[i], n) != 0 || flag[n] == 0 || flag[n] == '/') continue;
        return format("%s%s/%s", with_path[i], folder, flag + n);
    }
    return copy_text(flag, strlen(flag));
}

/* The flags that a build used for the first file. */
static bool read_database(options *o) {
    CXCompilationDatabase_Error e;
    const CXCompilationDatabase db = clang_CompilationDatabase_fromDirectory(o->database, &e);
    if (e != CXCompilationDatabase_NoError) {
        error_at(o->database, "has no compile_commands.json that can be read");
        return false;
    }
    const CXCompileCommands all =
        clang_CompilationDatabase_getCompileCommands(db, o->files.at[0]);
    if (clang_CompileCommands_getSize(all) != 0) {
        const CXCompileCommand c = clang_CompileCommands_getCommand(all, 0);
        const unsigned n = clang_CompileCommand_getNumArgs(c);
        const CXString folder = clang_CompileCommand_getDirectory(c);
        bool is_path = false; /* what follows -I, and a space */
        for (unsigned i = 1; i < n; i++) {
            const CXString s = clang_CompileCommand_getArg(c, i);
            const char *const flag = clang_getCString(s);
            const bool source = strstr(flag, ".c") != NULL && flag[strlen(flag) - 1] == 'c';
            if (same(flag, "-o") || same(flag, "-c") || same(flag, "--")) i += same(flag, "-o");
            else if (is_path && *flag != '/')
                push(&o->flags, format("%s/%s", clang_getCString(folder), flag));
            else if (!source)
                push(&o->flags, (void *)flag_from(clang_getCString(folder), flag));
            is_path = same(flag, "-I") || same(flag, "-isystem") || same(flag, "-iquote") ||
                      same(flag, "-include");
            clang_disposeString(s);
        }
        clang_disposeString(folder);
    }
    clang_CompileCommands_dispose(all);
    clang_CompilationDatabase_dispose(db);
    return true;
}

static analysis *analysed(const options *o, program *p) {
    analysis *const a = arena_get(sizeof *a);
    decl *const f = function_named(p, o->function);
    a->program = p;
    a->accept_integers = o->accept_integers;
    a->without_tape = same(o->to, "adjoint");
    for (size_t i = 0; i < o->passive.n; i++)
        for (size_t k = 0; k < p->functions.n; k++) {
            decl *const d = p->functions.at[k];
            if (same(d->name, o->passive.at[i])) push(&a->accepted, d);
        }
    for (size_t i = 0; i < o->passive.n; i++) {
        void *const d = table_get(p->by_usr, format("c:@F@%s", (char *)o->passive.at[i]));
        if (d != NULL && !list_has(&a->accepted, d)) push(&a->accepted, d);
    }
    for (size_t i = 0; i < o->calls.n; i++) push(&a->calls, o->calls.at[i]);
    mark_passive(a);
    mark_loops(a);
    refuse_names(p);
    type_arguments(a, f);
    const bool in = parse_selections(a, f, o->inputs, &a->inputs),
               out = parse_selections(a, f, o->outputs, &a->outputs);
    return in && out && errors_said() == 0 && analyse(a, f) ? a : NULL;
}

static bool write_text(const char *name, const char *s) {
    FILE *const f = fopen(name, "w");
    const bool good = f != NULL && fputs(s, f) >= 0;
    if ((f != NULL && fclose(f) != 0) || !good) {
        error_at(name, "cannot be written");
        return false;
    }
    return true;
}

static bool uses_word(const program *p, const char *word) {
    for (size_t i = 0; i < p->files.n; i++) {
        const file *const f = p->files.at[i];
        for (size_t k = 0; k < f->tokens.n; k++)
            if (f->tokens.at[k].kind == TOKEN_WORD && token_is(f->text, &f->tokens.at[k], word))
                return true;
    }
    return false;
}

static const char *beside(const char *name, const char *suffix) {
    const char *const dot = strrchr(name, '.');
    return format("%s%s", dot != NULL ? copy_text(name, (size_t)(dot - name)) : name, suffix);
}
static const char *last_part(const char *name) {
    const char *const slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

/* The text that is written behind a source. The source may have made macros of the names of
 * fields in it (#define q s->q): these are undone first, as nothing of the source follows. */
static const char *behind_macros(const writer *w, const char *s) {
    const tokens t = lex(s, strlen(s));
    const table *const defined = defined_names(w->a->program, table_new());
    list done = {NULL, 0, 0};
    text to = {NULL, 0, 0}, end = {NULL, 0, 0};
    for (size_t i = 1; i < t.n; i++) {
        if (t.at[i].kind != TOKEN_WORD ||
            !(token_is(s, &t.at[i - 1], "->") || token_is(s, &t.at[i - 1], ".")))
            continue;
        const char *const name = copy_text(s + t.at[i].begin, t.at[i].end - t.at[i].begin);
        bool known = false;
        for (size_t k = 0; k < done.n && !known; k++) known = same(done.at[k], name);
        if (known) continue;
        push(&done, (void *)name);
        if (table_get(defined, name) == NULL) continue;
        if (w->generic) { /* the next round has them again */
            putf(&to, "#pragma push_macro(\"%s\")\n", name);
            putf(&end, "#pragma pop_macro(\"%s\")\n", name);
        }
        putf(&to, "#undef %s\n", name);
    }
    return to.n == 0 ? s : format("\n%s%s%s", text_of(&to), s, text_of(&end));
}

/* That of the function's file is as it was asked for, others are beside it. */
static const char *output_name(const options *o, const analysis *a, const file *f) {
    if (a->root->function->file == f) return o->out;
    const char *const slash = strrchr(o->out, '/');
    return format("%s/%s_wg.c",
                  slash != NULL ? copy_text(o->out, (size_t)(slash - o->out)) : ".",
                  beside(last_part(f->name), ""));
}

static bool write_all(const options *o, analysis *a) {
    writer w = {.a = a,
                .tape = uses_word(a->program, "tape") ? "wg_t" : "tape",
                .generic = same(o->to, "generic"),
                .blocks = same(o->to, "blocks")};
    if (w.blocks) w.duals = dual_width(&w, (unsigned)strtoul(o->directions, NULL, 10));
    if (w.duals == 0) choose_calls(&w, o->in_line);
    const char *const header = beside(o->out, ".h");
    output out = {.source = o->out, .header = last_part(header), .alone = o->files.n == 1};
    refuse_lent(a);
    const char *const declarations = callback_declaration(&w);
    bool good = true;
    for (size_t i = 0; i < a->program->files.n && errors_said() == 0; i++) {
        const file *const f = a->program->files.at[i];
        if (!f->given || !is_converted(&w, f)) continue;
        const bool first = a->root->function->file == f;
        const char *const name = output_name(o, a, f);
        const char *const in = last_part(name), *const body = write_file(&w, f, in, &out);
        const char *const s = with_few_headers(format(
            "%s from %s. Do not edit: convert again. */\n%s", written, last_part(f->name),
            in_rounds(&w, in,
                      format("%s%s", without_plain(body),
                             first ? behind_macros(&w, callback_definition(&w, in))
                                   : format("%s%s", write_begin(&w, f, &(list){NULL, 0, 0}),
                                            names_of_variables(&w))))));
        if (errors_said() != 0) return false;
        good &= write_text(name, s);
    }
    return good && errors_said() == 0 &&
           write_text(header, write_header(&w, &out, declarations));
}

/* A file that is written when all of them are made. */
typedef struct made {
    const char *name, *text;
} made;

static void push_made(list *to, const char *name, const char *s) {
    made *const x = arena_get(sizeof *x);
    *x = (made){name, s};
    push(to, x);
}

/* `rows`: with a callback that records rows of the adjoint. False, too, if there is none. */
static bool make_adjoints(const options *o, analysis *a, bool rows, list *all) {
    writer w = {.a = a, .tape = "tape", .rows = rows};
    const file *const root = a->root->function->file;
    const char *const header = beside(o->out, ".h");
    const output out = {.source = o->out, .header = last_part(header), .alone = true};
    refuse_recorded(a);
    leave_functions(a);
    list routines = {NULL, 0, 0};
    if (rows && !can_have_rows(&w)) return false;
    if (!make_adjoint(&w, &routines)) return false;
    for (size_t i = 0; i < a->program->files.n; i++) {
        const file *const f = a->program->files.at[i];
        if (!f->given || !has_adjoint(&routines, f)) continue;
        const char *const body = write_adjoint(&routines, f);
        const char *behind = "";
        if (f == root)
            behind = format("%s\n%s", vjp_declaration(&w),
                            behind_macros(&w, rows ? rows_definition(&w) : vjp_definition(&w)));
        push_made(
            all, output_name(o, a, f),
            with_few_headers(format("%s from %s. Do not edit: convert again. */\n%s\n%s",
                                    written, last_part(f->name), without_plain(body), behind)));
    }
    push_made(all, header, write_header(&w, &out, vjp_header(&w)));
    return errors_said() == 0;
}

static bool write_made(const list *all) {
    bool good = true;
    for (size_t i = 0; i < all->n; i++) {
        const made *const x = all->at[i];
        good &= write_text(x->name, x->text);
    }
    return good;
}

/* Does a file begin as those that are written do? */
static bool is_output(const char *name) {
    char line[sizeof written] = "";
    FILE *const f = fopen(name, "r");
    if (f == NULL) return false;
    const size_t n = fread(line, 1, sizeof line - 1, f);
    (void)fclose(f);
    return n == sizeof line - 1 && same(line, written);
}

/* The files read, with the macros expanded that have to be, and analysed. */
static analysis *analysed_files(const options *o, reading *r) {
    bool expanded = false;
    program *p = read_expanded(o, r, NULL, &expanded);
    analysis *a = p != NULL ? analysed(o, p) : NULL;
    for (int round = 0; a != NULL && round < 3 && expanded; round++) {
        /* macros stay where nothing is changed */
        list touched = {NULL, 0, 0};
        for (size_t i = 0; i < a->versions.n; i++) {
            const version *const v = a->versions.at[i];
            if (v->touched) push(&touched, (void *)v->function->usr);
        }
        const program *const before = p;
        p = read_expanded(o, r, &touched, &expanded);
        if (p == before) break;
        a = p != NULL ? analysed(o, p) : NULL;
        bool all = true;
        for (size_t i = 0; a != NULL && i < a->versions.n; i++) {
            const version *const v = a->versions.at[i];
            bool had = !v->touched;
            for (size_t k = 0; k < touched.n && !had; k++)
                had = same(touched.at[k], v->function->usr);
            all &= had;
        }
        if (all) break;
    }
    return a;
}

/* --to blocks by rows of the adjoint, if it has few and can be written; otherwise nothing is
 * said of it. */
static bool made_by_rows(const options *o, reading *r, list *all) {
    analysis named = {.program = NULL};
    hold_messages();
    named.program = read_plain(o, r);
    decl *const f = named.program != NULL ? function_named(named.program, o->function) : NULL;
    if (f != NULL) type_arguments(&named, f);
    bool good = f != NULL && parse_selections(&named, f, o->inputs, &named.inputs) &&
                parse_selections(&named, f, o->outputs, &named.outputs) &&
                has_few_rows(&named, (unsigned)strtoul(o->directions, NULL, 10),
                             (unsigned)strtoul(o->rows, NULL, 10));
    if (good) {
        options adjoint = *o;
        adjoint.to = "adjoint";
        analysis *const a = analysed_files(&adjoint, arena_get(sizeof(reading)));
        good = a != NULL && make_adjoints(&adjoint, a, true, all);
    }
    release_messages(good);
    return good;
}

static int convert(const options *o) {
    for (size_t i = 0; i < o->files.n; i++)
        if (is_output(o->files.at[i]))
            error_at(format("%s:1", (char *)o->files.at[i]),
                     "has been converted already: give the file that it was written from");
    if (errors_said() != 0) return 1;
    reading *const r = arena_get(sizeof *r);
    list all = {NULL, 0, 0};
    if (same(o->to, "blocks") && made_by_rows(o, r, &all)) return !write_made(&all);
    analysis *const a = analysed_files(o, r);
    if (a == NULL) return 1;
    if (!same(o->to, "adjoint")) return !write_all(o, a);
    all.n = 0;
    return !(make_adjoints(o, a, false, &all) && write_made(&all));
}

int main(int argc, char **argv) {
    options o = {.function = NULL};
    int status = read_options(argc, argv, &o);
    if (status == 0) status = (o.database == NULL || read_database(&o)) ? convert(&o) : 1;
    arena_free_all();
    return status < 0 ? 0 : status;
}
