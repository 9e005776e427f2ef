/* SPDX-License-Identifier: MIT */
/* read_declarations.c - from libclang's cursors to files, places, types and declarations. */
#include <string.h>
#include "convert/reader.h"

const char *taken(CXString s) {
    const char *const c = clang_getCString(s);
    const char *const copy = c != NULL ? copy_text(c, strlen(c)) : "";
    clang_disposeString(s);
    return copy;
}

/* ---- files and places ------------------------------------------------------------------- */

/* A file may be included by several names. */
const char *key_of(CXFile f) {
    const char *const real = taken(clang_File_tryGetRealPathName(f));
    return *real ? real : taken(clang_getFileName(f));
}

file *file_of(reader *r, CXFile f, CXSourceLocation at) {
    if (f == NULL) return NULL;
    if (f == r->asked) return r->answer;
    const char *const key = key_of(f);
    file *found = table_get(r->files, key);
    r->asked = f;
    r->answer = found;
    if (found != NULL) return found;
    r->answer = found = arena_get(sizeof *found);
    found->name = taken(clang_getFileName(f));
    found->of_system = clang_Location_isInSystemHeader(at) != 0;
    size_t n = 0;
    const char *const read = clang_getFileContents(r->unit, f, &n);
    found->text = copy_text(read, read != NULL ? n : 0);
    found->n = read != NULL ? n : 0;
    if (!found->of_system) found->tokens = lex(found->text, found->n);
    table_set(r->files, key, found);
    push(&r->p->files, found);
    return found;
}

file *located(reader *r, CXSourceLocation at, size_t *offset) {
    CXFile f;
    unsigned o;
    clang_getExpansionLocation(at, &f, NULL, NULL, &o);
    *offset = o;
    return file_of(r, f, at);
}

file *extent(reader *r, CXCursor c, size_t *begin, size_t *end) {
    const CXSourceRange range = clang_getCursorExtent(c);
    size_t other = 0;
    file *const f = located(r, clang_getRangeStart(range), begin);
    (void)located(r, clang_getRangeEnd(range), &other);
    *end = other;
    return f;
}

/* ---- types ------------------------------------------------------------------------------ */

static enum CXVisitorResult field(CXCursor c, CXClientData data) {
    struct {
        reader *r;
        record *to;
    } *const d = data;
    decl *const f = decl_of(d->r, c);
    f->record = d->to;
    push(&d->to->fields, f);
    return CXVisit_Continue;
}

/* What no other declaration has. What has no name has its place: libclang gives all structures
 * without a name in another one, and their fields, the same. */
static const char *key_of_cursor(reader *r, CXCursor c) {
    const char *const usr = taken(clang_getCursorUSR(c)),
                     *const name = taken(clang_getCursorSpelling(c));
    const bool nameless = clang_getCursorKind(c) == CXCursor_FieldDecl
                              ? *name == 0
                              : clang_Cursor_isAnonymous(c) != 0;
    if (*usr && !nameless) return usr;
    size_t at;
    const file *const f = located(r, clang_getCursorLocation(c), &at);
    return format("%s@%s@%zu@%s", usr, f != NULL ? f->name : "", at, name);
}

static record *record_of(reader *r, CXType t) {
    const CXCursor c = clang_getTypeDeclaration(t);
    const char *const usr = key_of_cursor(r, c);
    const char *const key = format("record %s", usr);
    record *found = table_get(r->p->by_usr, key);
    if (found != NULL && (found->fields.n != 0 || found->definition != NULL)) return found;
    if (found == NULL) {
        found = arena_get(sizeof *found);
        table_set(r->p->by_usr, key, found);
        found->number = (unsigned)r->p->records.n;
        push(&r->p->records, found);
    }
    found->usr = usr;
    found->is_union = clang_getCursorKind(c) == CXCursor_UnionDecl;
    found->of_system = clang_Location_isInSystemHeader(clang_getCursorLocation(c)) != 0;
    found->name = taken(clang_getCursorSpelling(c));
    found->tagged = *found->name && *found->name != '(' && strchr(found->name, ' ') == NULL;
    if (!found->tagged) { /* its type has a name, the structure none */
        const char *s = taken(clang_getTypeSpelling(clang_getCursorType(c)));
        found->name = starts_with(s, "const ") ? s + 6 : s;
    }
    const CXCursor definition = clang_getCursorDefinition(c);
    if (!clang_Cursor_isNull(definition)) {
        struct {
            reader *r;
            record *to;
        } d = {r, found};
        found->definition = decl_of(r, definition);
        found->definition->record = found;
        clang_Type_visitFields(clang_getCanonicalType(clang_getCursorType(definition)), field,
                               &d);
    }
    return found;
}

/* The elements of an array: libclang says of arrays that they are const, of elements not. */
static const type *element_of(const type *t) {
    const type *const of = t->of;
    if (!t->constant || of->constant || strchr(of->spelling, '(') != NULL) return of;
    type *const e = arena_get(sizeof *e);
    *e = *of;
    e->constant = true;
    e->spelling = format(of->kind == TYPE_POINTER ? "%sconst" : "const %s", of->spelling);
    return e;
}

/* Parameters that are written as arrays or functions are pointers. */
const type *decayed(const type *t) {
    if (t->kind != TYPE_ARRAY && t->kind != TYPE_FUNCTION) return t;
    type *const p = arena_get(sizeof *p);
    const type *const of = t->kind == TYPE_ARRAY ? element_of(t) : t;
    *p = (type){.kind = TYPE_POINTER, .of = of};
    const char *const s = of->spelling, *const hole = t->kind == TYPE_FUNCTION ? strchr(s, '(')
                                                                               : strchr(s, '[');
    if (hole != NULL) p->spelling = format("%s(*)%s", copy_text(s, (size_t)(hole - s)), hole);
    else p->spelling = format("%s%s*", s, s[strlen(s) - 1] == '*' ? "" : " ");
    return p;
}

static const type *function_type(reader *r, CXType t, type *to) {
    const int n = clang_getNumArgTypes(t);
    to->kind = TYPE_FUNCTION;
    to->of = type_of(r, clang_getResultType(t));
    to->variadic = clang_isFunctionTypeVariadic(t) != 0;
    to->parameters = n > 0 ? (size_t)n : 0;
    to->parameter = arena_get((to->parameters + 1) * sizeof *to->parameter);
    for (size_t i = 0; i < to->parameters; i++)
        to->parameter[i] = decayed(type_of(r, clang_getArgType(t, (unsigned)i)));
    return to;
}

const type *type_of(reader *r, CXType given) {
    const CXType t = clang_getCanonicalType(given);
    const char *spelling = taken(clang_getTypeSpelling(t));
    if (t.kind == CXType_Record)
        spelling =
            format("%s %s", spelling, taken(clang_getCursorUSR(clang_getTypeDeclaration(t))));
    type *to = table_get(r->types, spelling);
    if (to != NULL) return to;
    to = arena_get(sizeof *to);
    to->spelling = taken(clang_getTypeSpelling(given));
    to->constant = clang_isConstQualifiedType(t) != 0;
    table_set(r->types, spelling, to);
    switch (t.kind) {
    case CXType_Void:
        to->kind = TYPE_VOID;
        break;
    case CXType_Float16:
    case CXType_Half:
    case CXType_Float:
        to->kind = TYPE_REAL, to->bits = 32;
        break;
    case CXType_Double:
        to->kind = TYPE_REAL, to->bits = 64;
        break;
    case CXType_Float128:
    case CXType_LongDouble:
        to->kind = TYPE_REAL, to->bits = 80;
        break;
    case CXType_Complex:
        to->kind = TYPE_COMPLEX;
        break;
    case CXType_Pointer:
        to->kind = TYPE_POINTER;
        to->of = type_of(r, clang_getPointeeType(t));
        break;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray:
        to->kind = TYPE_ARRAY;
        to->of = type_of(r, clang_getArrayElementType(t));
        to->count = t.kind == CXType_ConstantArray ? clang_getArraySize(t) : -1;
        break;
    case CXType_Record:
        to->kind = TYPE_RECORD;
        to->record = record_of(r, t);
        break;
    case CXType_FunctionProto:
    case CXType_FunctionNoProto:
        (void)function_type(r, t, to);
        break;
    default:
        to->kind = (t.kind >= CXType_Bool && t.kind <= CXType_Int128) || t.kind == CXType_Enum
                       ? TYPE_WHOLE
                       : TYPE_OTHER;
    }
    return to;
}

/* ---- declarations ----------------------------------------------------------------------- */

static decl_kind kind_of(enum CXCursorKind k) {
    switch (k) {
    case CXCursor_FunctionDecl:
        return DECL_FUNCTION;
    case CXCursor_ParmDecl:
        return DECL_PARAMETER;
    case CXCursor_FieldDecl:
        return DECL_FIELD;
    case CXCursor_TypedefDecl:
        return DECL_TYPEDEF;
    case CXCursor_EnumDecl:
        return DECL_ENUM;
    case CXCursor_EnumConstantDecl:
        return DECL_CONSTANT;
    case CXCursor_StructDecl:
    case CXCursor_UnionDecl:
        return DECL_RECORD;
    default:
        return DECL_VARIABLE;
    }
}

void set_place(reader *r, decl *d, CXCursor c) {
    d->file = extent(r, c, &d->begin, &d->end);
    (void)located(r, clang_getCursorLocation(c), &d->at);
}

decl *decl_of(reader *r, CXCursor c) {
    const char *const usr = key_of_cursor(r, c);
    decl *d = table_get(r->p->by_usr, usr);
    if (d != NULL) return d;
    d = arena_get(sizeof *d);
    table_set(r->p->by_usr, usr, d);
    d->usr = usr;
    d->kind = kind_of(clang_getCursorKind(c));
    d->name = taken(clang_getCursorSpelling(c));
    d->number = (unsigned)r->p->decls++;
    d->of_system = clang_Location_isInSystemHeader(clang_getCursorLocation(c)) != 0;
    const enum CX_StorageClass s = clang_Cursor_getStorageClass(c);
    d->is_static = s == CX_SC_Static;
    d->is_extern = s == CX_SC_Extern;
    d->is_bits = d->kind == DECL_FIELD && clang_Cursor_isBitField(c) != 0;
    d->is_inline = d->kind == DECL_FUNCTION && clang_Cursor_isFunctionInlined(c) != 0;
    set_place(r, d, c);
    if (d->kind == DECL_VARIABLE) {
        const enum CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(c));
        d->is_global = parent == CXCursor_TranslationUnit;
    }
    d->type = type_of(r, d->kind == DECL_TYPEDEF ? clang_getTypedefDeclUnderlyingType(c)
                                                 : clang_getCursorType(c));
    if (d->kind == DECL_PARAMETER) d->type = decayed(d->type);
    if (d->kind == DECL_TYPEDEF && !d->of_system) push(&r->p->typedefs, d);
    if (d->is_global && !d->of_system) push(&r->p->globals, d);
    return d;
}
