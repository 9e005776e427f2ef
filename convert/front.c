/* SPDX-License-Identifier: MIT */
/* front.c - libclang reads the files; from what stands at their top, and from their macros,
 * to the tree. */
#include <string.h>
#include "convert/reader.h"

/* ---- the top of a file ------------------------------------------------------------------ */

static void read_function(reader *r, CXCursor c, decl *d) {
    const cursors inside = children(c);
    r->function = d;
    d->parameters.n = 0;
    for (size_t i = 0; i < inside.n; i++) {
        const enum CXCursorKind k = clang_getCursorKind(inside.at[i]);
        if (k == CXCursor_ParmDecl) {
            decl *const p = decl_of(r, inside.at[i]);
            p->owner = d;
            push(&d->parameters, p);
            invocation *const by = p->file != NULL ? macro_at(p->file, p->at) : NULL;
            if (by != NULL) by->variables = true; /* it has or makes the name */
        } else if (k == CXCursor_CompoundStmt) d->body = build(r, inside.at[i], false);
    }
    r->function = NULL;
    push(&r->p->functions, d);
}

static enum CXChildVisitResult top(CXCursor c, CXCursor parent, CXClientData data) {
    reader *const r = data;
    const enum CXCursorKind k = clang_getCursorKind(c);
    (void)parent;
    if (clang_isPreprocessing(k) || !clang_isDeclaration(k)) return CXChildVisit_Continue;
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    decl *const d = decl_of(r, c);
    file *const f = d->file;
    if (f == NULL) return CXChildVisit_Continue;
    const bool definition = clang_isCursorDefinition(c) != 0;
    decl *shown = d;
    size_t begin, end;
    (void)extent(r, c, &begin, &end);
    if (begin != d->begin || extent(r, c, &begin, &end) != d->file) {
        if (definition && !d->defined) {
            /* what was declared before is defined here: the former place is kept in a twin */
            decl *const twin = arena_get(sizeof *twin);
            *twin = *d;
            twin->redeclared = true;
            for (size_t i = 0; i < d->file->declarations.n; i++)
                if (d->file->declarations.at[i] == d) d->file->declarations.at[i] = twin;
            set_place(r, d, c);
            if (clang_Cursor_getStorageClass(c) != CX_SC_Extern) d->is_extern = false;
        } else {
            shown = arena_get(sizeof *shown);
            *shown = *d;
            shown->redeclared = true;
            set_place(r, shown, c);
        }
    }
    for (size_t i = 0; i < shown->file->declarations.n; i++) {
        const decl *const e = shown->file->declarations.at[i];
        if (e->begin == shown->begin && e->at == shown->at) return CXChildVisit_Continue;
    }
    shown->order = ++r->p->order;
    push(&shown->file->declarations, shown);
    if (shown != d) return CXChildVisit_Continue;
    if (k == CXCursor_FunctionDecl && definition && !d->defined) {
        d->defined = true;
        read_function(r, c, d);
    } else if (k == CXCursor_VarDecl && !d->defined && (definition || !d->is_extern)) {
        const CXCursor init = clang_Cursor_getVarDeclInitializer(c);
        d->defined = true;
        r->global = d;
        if (!clang_Cursor_isNull(init)) d->init = build(r, init, false);
        r->global = NULL;
    } else if (k == CXCursor_StructDecl || k == CXCursor_UnionDecl) {
        d->defined = definition;
        (void)type_of(r, clang_getCursorType(c));
    }
    return CXChildVisit_Continue;
}

/* ---- the preprocessor ------------------------------------------------------------------- */

static const char *place_key(CXFile f, size_t offset) {
    return format("@%s@%zu", key_of(f), offset);
}

static void read_macro(reader *r, CXCursor c) {
    size_t begin, end;
    const CXSourceRange range = clang_getCursorExtent(c);
    CXFile f;
    unsigned o;
    clang_getExpansionLocation(clang_getRangeStart(range), &f, NULL, NULL, &o);
    begin = o;
    clang_getExpansionLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &o);
    end = o;
    if (f == NULL) return;
    size_t n = 0;
    const char *const read = clang_getFileContents(r->unit, f, &n);
    if (read == NULL || end > n || begin >= end) return;
    macro *const m = arena_get(sizeof *m);
    const char *const s = copy_text(read + begin, end - begin);
    const tokens t = lex(s, end - begin);
    m->name = taken(clang_getCursorSpelling(c));
    m->with_arguments = t.n > 1 && token_is(s, &t.at[1], "(") && t.at[1].begin == t.at[0].end;
    m->of_system = clang_Location_isInSystemHeader(clang_getCursorLocation(c)) != 0;
    size_t i = 1;
    if (m->with_arguments)
        for (i = 2; i < t.n && !token_is(s, &t.at[i], ")"); i++) {
            if (t.at[i].kind == TOKEN_WORD)
                push(&m->parameters, copy_text(s + t.at[i].begin, t.at[i].end - t.at[i].begin));
            if (token_is(s, &t.at[i], "...")) {
                m->variadic = true;
                push(&m->parameters, copy_text("__VA_ARGS__", 11));
            }
        }
    if (m->with_arguments) i++;
    m->body = i < t.n ? s + t.at[i].begin : "";
    m->at = begin;
    m->file = file_of(r, f, clang_getCursorLocation(c));
    const macro *const before = table_get(r->macros, m->name);
    m->several = before != NULL && (before->several || !same(before->body, m->body));
    table_set(r->macros, m->name, m);
    table_set(r->macros, place_key(f, begin), m);
}

static enum CXChildVisitResult preprocessing(CXCursor c, CXCursor parent, CXClientData data) {
    reader *const r = data;
    (void)parent;
    const enum CXCursorKind k = clang_getCursorKind(c);
    if (k == CXCursor_MacroDefinition) {
        if (!clang_Cursor_isMacroBuiltin(c)) read_macro(r, c);
    } else if (k == CXCursor_InclusionDirective) {
        size_t begin;
        file *const f = located(r, clang_getCursorLocation(c), &begin);
        const CXFile of = clang_getIncludedFile(c);
        if (f == NULL || f->of_system || of == NULL) return CXChildVisit_Continue;
        inclusion *const i = arena_get(sizeof *i);
        *i = (inclusion){begin, file_of(r, of, clang_getLocation(r->unit, of, 1, 1))};
        if (i->of != NULL && !i->of->of_system) push(&f->inclusions, i);
    } else if (k == CXCursor_MacroExpansion &&
               !clang_Location_isInSystemHeader(clang_getCursorLocation(c))) {
        size_t begin, end;
        file *const f = extent(r, c, &begin, &end);
        if (f == NULL || f->of_system) return CXChildVisit_Continue;
        const size_t t = token_from(&f->tokens, begin);
        if (t == f->tokens.n || f->tokens.at[t].begin != begin)
            return CXChildVisit_Continue; /* in a directive */
        const invocation *const last =
            f->invocations.n != 0 ? f->invocations.at[f->invocations.n - 1] : NULL;
        if (last != NULL && begin < last->end)
            return CXChildVisit_Continue; /* within another */
        invocation *const v = arena_get(sizeof *v);
        const CXCursor definition = clang_getCursorReferenced(c);
        const macro *m = NULL;
        if (!clang_Cursor_isNull(definition)) {
            CXFile in;
            unsigned o;
            clang_getExpansionLocation(clang_getRangeStart(clang_getCursorExtent(definition)),
                                       &in, NULL, NULL, &o);
            if (in != NULL) m = table_get(r->macros, place_key(in, o));
        }
        *v =
            (invocation){.begin = begin, .end = end, .name = taken(clang_getCursorSpelling(c))};
        v->with_arguments = end > begin + strlen(v->name);
        v->macro = m;
        v->of_system = m != NULL && m->of_system;
        push(&f->invocations, v);
    }
    return CXChildVisit_Continue;
}

static int errors_of(CXTranslationUnit unit) {
    int errors = 0;
    const unsigned n = clang_getNumDiagnostics(unit);
    for (unsigned i = 0; i < n; i++) {
        const CXDiagnostic d = clang_getDiagnostic(unit, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            CXFile f;
            unsigned line;
            clang_getExpansionLocation(clang_getDiagnosticLocation(d), &f, &line, NULL, NULL);
            error_at(format("%s:%u", f != NULL ? taken(clang_getFileName(f)) : "(command line)",
                            line),
                     "%s", taken(clang_getDiagnosticSpelling(d)));
            errors++;
        }
        clang_disposeDiagnostic(d);
    }
    return errors;
}

/* Which files a given one includes. */
typedef struct inclusions {
    reader *r;
    file *by;
} inclusions;
static void included(CXFile f, CXSourceLocation *stack, unsigned n, CXClientData data) {
    const inclusions *const i = data;
    (void)stack, (void)n;
    const char *const name = taken(clang_getFileName(f)), *const slash = strrchr(name, '/');
    if (slash != NULL && same(slash, "/math.h")) i->by->has_math = true;
    file *const found = table_get(i->r->files, key_of(f));
    if (found != NULL && !list_has(&found->readers, i->by)) push(&found->readers, i->by);
}

program *read_program(size_t files, const char *const *name, int flags, const char *const *flag,
                      size_t texts, const changed *instead, table **macros) {
    reader r = {.p = arena_get(sizeof(program)),
                .files = table_new(),
                .types = table_new(),
                .macros = table_new()};
    struct CXUnsavedFile *const unsaved = arena_get((texts + 1) * sizeof *unsaved);
    bool failed = false;
    r.p->by_usr = table_new();
    for (size_t i = 0; i < texts; i++)
        unsaved[i] =
            (struct CXUnsavedFile){instead[i].name, instead[i].text, strlen(instead[i].text)};
    for (size_t i = 0; i < files && !failed; i++) {
        const CXIndex index = clang_createIndex(0, 0);
        const enum CXErrorCode e = clang_parseTranslationUnit2(
            index, name[i], flag, flags, unsaved, (unsigned)texts,
            CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing,
            &r.unit);
        if (e != CXError_Success) {
            error_at(name[i], "cannot be read");
            failed = true;
        } else {
            failed = errors_of(r.unit) != 0;
            if (!failed) {
                const CXCursor all = clang_getTranslationUnitCursor(r.unit);
                clang_visitChildren(all, preprocessing, &r);
                clang_visitChildren(all, top, &r);
                file *const f = table_get(r.files, key_of(clang_getFile(r.unit, name[i])));
                if (f != NULL) {
                    f->given = true;
                    clang_getInclusions(r.unit, included, &(inclusions){&r, f});
                }
            }
            clang_disposeTranslationUnit(r.unit);
            r.asked = NULL;
        }
        clang_disposeIndex(index);
    }
    if (macros != NULL) *macros = r.macros;
    return failed ? NULL : r.p;
}
