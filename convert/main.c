/* SPDX-License-Identifier: MIT */
/* main.c - wengert-convert: options, and the way from files to files. */
#include <clang-c/CXCompilationDatabase.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "convert/adjoint.h"
#include "convert/callback.h"
#include "convert/expand.h"

static const char usage[] =
    "usage: wengert-convert FILE.c .. --function NAME --with-respect-to INPUTS --of OUTPUTS -o OUT.c\n"
    "           [--to tape|adjoint] [--passive NAME] [--calls PARAMETER=FUNCTION] [--accept-integers] [-p FOLDER] [-- COMPILER FLAGS]\n"
    "INPUTS, OUTPUTS: parameters and globals of the function, by commas: x, *p, p[0:n], s->field, s->{a,b}, return\n"
    "-p FOLDER: flags from the compile_commands.json there. More: man wengert-convert\n";

/* How a file that is written begins. */
static const char written[] = "/* Written by wengert-convert";

typedef struct options {
    list files, passive, flags, calls;
    const char *function, *inputs, *outputs, *out, *database, *to;
    bool accept_integers;
} options;

static int misused(const char *what) {
    fprintf(stderr, "wengert-convert: %s\n%s", what, usage);
    return 2;
}

static int read_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const char *const s = argv[i], *const next = i + 1 < argc ? argv[i + 1] : NULL;
        struct {
            const char *name;
            const char **to;
        } const with_value[] = {{"--function", &o->function}, {"--with-respect-to", &o->inputs},
                                {"--of", &o->outputs},        {"-o", &o->out},
                                {"-p", &o->database},         {"--to", &o->to}};
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
    if (o->function == NULL || o->inputs == NULL || o->outputs == NULL || o->out == NULL)
        return misused("--function, --with-respect-to, --of and -o are needed");
    if (o->to == NULL) o->to = "tape";
    if (!same(o->to, "tape") && !same(o->to, "adjoint"))
        return misused(format("--to %s: tape or adjoint", o->to));
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

/* All functions that may be called from this one, also through tables. */
static void reach(decl *d, list *to) {
    if (d->reached) return;
    d->reached = true;
    if (d->kind == DECL_FUNCTION && d->body != NULL) push(to, d);
    for (size_t i = 0; i < d->names.n; i++) reach(d->names.at[i], to);
}

/* Reads the files, with the macros expanded in those functions (NULL: of all that are reached). */
static program *read_expanded(const options *o, const list *only, bool *expanded) {
    changed *texts = arena_get(64 * sizeof *texts);
    size_t n = 1;
    texts[0] = (changed){plain_name, plain_header};
    list flags = {NULL, 0, 0};
    for (size_t i = 0; i < o->flags.n; i++) push(&flags, o->flags.at[i]);
    push(&flags, (void *)"-include");
    push(&flags, (void *)plain_name);
    push(&flags, (void *)"-w");
    push(&flags, (void *)"-Wno-error=implicit-function-declaration");
    for (int round = 0; round < 8; round++) {
        table *macros = NULL;
        program *const p =
            read_program(o->files.n, (const char *const *)o->files.at, (int)flags.n,
                         (const char *const *)flags.at, n, texts, &macros);
        if (p == NULL) return NULL;
        decl *const f = function_named(p, o->function);
        if (f == NULL) {
            error_at(o->files.at[0], "no function '%s' is defined in the files given",
                     o->function);
            return NULL;
        }
        list functions = {NULL, 0, 0}, chosen = {NULL, 0, 0};
        reach(f, &functions);
        for (size_t i = 0; i < o->calls.n; i++) {
            decl *const d = function_named(p, strchr(o->calls.at[i], '=') + 1);
            if (d != NULL) reach(d, &functions);
        }
        for (size_t i = 0; i < functions.n; i++) {
            const decl *const d = functions.at[i];
            bool wanted = only == NULL;
            for (size_t k = 0; only != NULL && k < only->n; k++)
                wanted |= same(only->at[k], d->usr);
            if (wanted) push(&chosen, functions.at[i]);
        }
        bool again = false;
        for (size_t i = 0; i < p->files.n;
             i++) /* what has to go from all files is known behind the last one */
            if (!((file *)p->files.at[i])->of_system)
                (void)expanded_file(p->files.at[i], &chosen, macros);
        for (size_t i = 0; i < p->files.n; i++) {
            const file *const g = p->files.at[i];
            if (g->of_system) continue;
            const char *const s = expanded_file(g, &chosen, macros);
            if (s == NULL) continue;
            size_t k = 0;
            while (k < n && !same(texts[k].name, g->name)) k++;
            if (k == 64) return p;
            texts[k] = (changed){g->name, s};
            if (k == n) n++;
            again = true;
            *expanded = true;
        }
        if (!again) return p;
    }
    error_at(o->files.at[0], "macros that expand without end");
    return NULL;
}

static analysis *analysed(const options *o, program *p) {
    analysis *const a = arena_get(sizeof *a);
    decl *const f = function_named(p, o->function);
    a->program = p;
    a->accept_integers = o->accept_integers;
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
    const bool in = parse_selections(a, f, o->inputs, &a->inputs),
               out = parse_selections(a, f, o->outputs, &a->outputs);
    return in && out && analyse(a, f) ? a : NULL;
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

/* That of the function's file is as it was asked for, others are beside it. */
static const char *output_name(const options *o, const analysis *a, const file *f) {
    if (a->root->function->file == f) return o->out;
    const char *const slash = strrchr(o->out, '/');
    return format("%s/%s_wg.c",
                  slash != NULL ? copy_text(o->out, (size_t)(slash - o->out)) : ".",
                  beside(last_part(f->name), ""));
}

static bool write_all(const options *o, analysis *a) {
    writer w = {.a = a, .tape = uses_word(a->program, "tape") ? "wg_t" : "tape"};
    const char *const header = beside(o->out, ".h");
    output out = {.source = o->out, .header = last_part(header), .alone = o->files.n == 1};
    bool good = true;
    for (size_t i = 0; i < a->program->files.n; i++) {
        const file *const f = a->program->files.at[i];
        if (!f->given || !is_converted(&w, f)) continue;
        const bool first = a->root->function->file == f;
        const char *const name = output_name(o, a, f);
        const char *const body = write_file(&w, f, &out);
        const char *const s =
            format("%s from %s. Do not edit: convert again. */\n%s%s", written,
                   last_part(f->name), without_plain(body),
                   first ? callback_definition(&w) : write_begin(&w, f, &(list){NULL, 0, 0}));
        if (errors_said() != 0) return false;
        good &= write_text(name, s);
    }
    return good && write_text(header, write_header(&w, &out, callback_declaration(&w)));
}

static bool write_adjoints(const options *o, analysis *a) {
    writer w = {.a = a, .tape = "tape"};
    const file *const root = a->root->function->file;
    const char *const header = beside(o->out, ".h");
    const output out = {.source = o->out, .header = last_part(header), .alone = true};
    list routines = {NULL, 0, 0};
    if (!make_adjoint(&w, &routines)) return false;
    bool good = true;
    for (size_t i = 0; i < a->program->files.n; i++) {
        const file *const f = a->program->files.at[i];
        if (!f->given || !has_adjoint(&routines, f)) continue;
        const char *const body = write_adjoint(&routines, f);
        const char *const s = format(
            "%s from %s. Do not edit: convert again. */\n%s\n%s%s%s%s", written,
            last_part(f->name), without_plain(body), f == root ? "#include <wengert.h>\n" : "",
            f == root ? vjp_declaration(&w) : "", f == root ? "\n" : "",
            f == root ? vjp_definition(&w) : "");
        if (errors_said() != 0) return false;
        good &= write_text(output_name(o, a, f), s);
    }
    return good && write_text(header, write_header(&w, &out, vjp_header(&w)));
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

static int convert(const options *o) {
    bool expanded = false;
    for (size_t i = 0; i < o->files.n; i++)
        if (is_output(o->files.at[i]))
            error_at(format("%s:1", (char *)o->files.at[i]),
                     "has been converted already: give the file that it was written from");
    if (errors_said() != 0) return 1;
    program *p = read_expanded(o, NULL, &expanded);
    analysis *a = p != NULL ? analysed(o, p) : NULL;
    for (int round = 0; a != NULL && round < 3 && expanded; round++) {
        /* macros stay where nothing is changed */
        list touched = {NULL, 0, 0};
        for (size_t i = 0; i < a->versions.n; i++) {
            const version *const v = a->versions.at[i];
            if (v->touched) push(&touched, (void *)v->function->usr);
        }
        p = read_expanded(o, &touched, &expanded);
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
    if (a == NULL) return 1;
    return (same(o->to, "adjoint") ? write_adjoints(o, a) : write_all(o, a)) &&
                   errors_said() == 0
               ? 0
               : 1;
}

int main(int argc, char **argv) {
    options o = {.function = NULL};
    int status = read_options(argc, argv, &o);
    if (status == 0) status = (o.database == NULL || read_database(&o)) ? convert(&o) : 1;
    arena_free_all();
    return status < 0 ? 0 : status;
}
