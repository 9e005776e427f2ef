/* SPDX-License-Identifier: MIT */
/* front.c - from libclang's cursors to the tree. Macros of the preprocessor that are left in the text
 * are leaves of it (NODE_OPAQUE), whose inner nodes are marked `by_macro`. */
#include <clang-c/Index.h>
#include <string.h>
#include "convert/front.h"

typedef struct reader {
    program *p;
    CXTranslationUnit unit;
    CXFile asked; /* last; what it is */
    file *answer;
    table *files;   /* by name */
    table *types;   /* by spelling */
    table *macros;  /* by name */
    decl *function; /* whose body is read */
    decl *global;   /* whose initialiser is read */
} reader;

static const char *taken(CXString s) {
    const char *const c = clang_getCString(s);
    const char *const copy = c != NULL ? copy_text(c, strlen(c)) : "";
    clang_disposeString(s);
    return copy;
}

/* ---- files and places ------------------------------------------------------------------- */

/* A file may be included by several names. */
static const char *key_of(CXFile f) {
    const char *const real = taken(clang_File_tryGetRealPathName(f));
    return *real ? real : taken(clang_getFileName(f));
}

static file *file_of(reader *r, CXFile f, CXSourceLocation at) {
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

static file *located(reader *r, CXSourceLocation at, size_t *offset) {
    CXFile f;
    unsigned o;
    clang_getExpansionLocation(at, &f, NULL, NULL, &o);
    *offset = o;
    return file_of(r, f, at);
}

static file *extent(reader *r, CXCursor c, size_t *begin, size_t *end) {
    const CXSourceRange range = clang_getCursorExtent(c);
    size_t other = 0;
    file *const f = located(r, clang_getRangeStart(range), begin);
    (void)located(r, clang_getRangeEnd(range), &other);
    *end = other;
    return f;
}

/* The macro that is used where `offset` is, or NULL. */
static invocation *macro_at(const file *f, size_t offset) {
    size_t low = 0, high = f->invocations.n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        const invocation *const v = f->invocations.at[mid];
        if (v->end <= offset) low = mid + 1;
        else high = mid;
    }
    if (low == f->invocations.n) return NULL;
    invocation *const v = f->invocations.at[low];
    return v->begin <= offset ? v : NULL;
}

/* ---- types ------------------------------------------------------------------------------ */

static decl *decl_of(reader *r, CXCursor c);
static const type *type_of(reader *r, CXType t);

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

static record *record_of(reader *r, CXType t) {
    const CXCursor c = clang_getTypeDeclaration(t);
    const char *const usr = taken(clang_getCursorUSR(c));
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

/* Parameters that are written as arrays or functions are pointers. */
static const type *decayed(const type *t) {
    if (t->kind != TYPE_ARRAY && t->kind != TYPE_FUNCTION) return t;
    type *const p = arena_get(sizeof *p);
    const type *const of = t->kind == TYPE_ARRAY ? t->of : t;
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

static const type *type_of(reader *r, CXType given) {
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

static void set_place(reader *r, decl *d, CXCursor c) {
    d->file = extent(r, c, &d->begin, &d->end);
    (void)located(r, clang_getCursorLocation(c), &d->at);
}

static decl *decl_of(reader *r, CXCursor c) {
    const char *usr = taken(clang_getCursorUSR(c));
    if (!*usr) {
        size_t at;
        const file *const f = located(r, clang_getCursorLocation(c), &at);
        usr = format("@%s@%zu@%s", f != NULL ? f->name : "", at,
                     taken(clang_getCursorSpelling(c)));
    }
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

/* ---- expressions and statements --------------------------------------------------------- */

typedef struct cursors {
    CXCursor *at;
    size_t n, room;
} cursors;
static enum CXChildVisitResult collect(CXCursor c, CXCursor parent, CXClientData data) {
    cursors *const to = data;
    (void)parent;
    if (to->n == to->room) {
        CXCursor *const more = arena_get((to->room = 2 * to->room + 8) * sizeof *more);
        if (to->n != 0) memcpy(more, to->at, to->n * sizeof *more);
        to->at = more;
    }
    to->at[to->n++] = c;
    return CXChildVisit_Continue;
}
static cursors children(CXCursor c) {
    cursors to = {NULL, 0, 0};
    clang_visitChildren(c, collect, &to);
    return to;
}

static node *build(reader *r, CXCursor c, bool by_macro);

static void adopt(node *to, node *child) {
    if (child != NULL) child->parent = to;
    to->child[to->children++] = child;
}
static void adopt_all(reader *r, node *to, const cursors *from) {
    to->child = arena_get((from->n + 1) * sizeof *to->child);
    for (size_t i = 0; i < from->n; i++) {
        const enum CXCursorKind k = clang_getCursorKind(from->at[i]);
        if (clang_isReference(k) || clang_isAttribute(k)) continue;
        node *const n = build(r, from->at[i], to->by_macro);
        if (n != NULL) adopt(to, n);
    }
}

static const char *token_text(const file *f, size_t i) {
    if (i >= f->tokens.n) return "";
    const token *const t = &f->tokens.at[i];
    return copy_text(f->text + t->begin, t->end - t->begin);
}

/* The operator between two operands. */
static const char *operator_behind(const node *n, const node *left) {
    return token_text(n->file, token_from(&n->file->tokens, left->end));
}

static node_kind expression_kind(enum CXCursorKind k) {
    switch (k) {
    case CXCursor_DeclRefExpr:
        return NODE_NAME;
    case CXCursor_MemberRefExpr:
        return NODE_MEMBER;
    case CXCursor_CallExpr:
        return NODE_CALL;
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
        return NODE_NUMBER;
    case CXCursor_StringLiteral:
        return NODE_STRING;
    case CXCursor_ParenExpr:
        return NODE_PAREN;
    case CXCursor_UnaryOperator:
        return NODE_UNARY;
    case CXCursor_ArraySubscriptExpr:
        return NODE_INDEX;
    case CXCursor_BinaryOperator:
        return NODE_BINARY;
    case CXCursor_CompoundAssignOperator:
        return NODE_ASSIGN;
    case CXCursor_ConditionalOperator:
        return NODE_CHOICE;
    case CXCursor_CStyleCastExpr:
        return NODE_CAST;
    case CXCursor_CompoundLiteralExpr:
        return NODE_COMPOUND;
    case CXCursor_InitListExpr:
        return NODE_LIST;
    case CXCursor_UnaryExpr:
        return NODE_SIZEOF;
    case CXCursor_StmtExpr:
        return NODE_STATEMENTS;
    case CXCursor_CompoundStmt:
        return NODE_BLOCK;
    case CXCursor_DeclStmt:
        return NODE_DECLARE;
    case CXCursor_IfStmt:
        return NODE_IF;
    case CXCursor_ForStmt:
        return NODE_FOR;
    case CXCursor_WhileStmt:
        return NODE_WHILE;
    case CXCursor_DoStmt:
        return NODE_DO;
    case CXCursor_SwitchStmt:
        return NODE_SWITCH;
    case CXCursor_CaseStmt:
        return NODE_CASE;
    case CXCursor_DefaultStmt:
        return NODE_DEFAULT;
    case CXCursor_LabelStmt:
        return NODE_LABEL;
    case CXCursor_GotoStmt:
        return NODE_GOTO;
    case CXCursor_BreakStmt:
        return NODE_BREAK;
    case CXCursor_ContinueStmt:
        return NODE_CONTINUE;
    case CXCursor_ReturnStmt:
        return NODE_RETURN;
    case CXCursor_NullStmt:
        return NODE_EMPTY;
    default:
        return clang_isExpression(k) ? NODE_OPAQUE : NODE_OTHER;
    }
}

/* The closing parenthesis of the one that token `open` is. */
static size_t closing(const file *f, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < f->tokens.n; i++) {
        const token *const t = &f->tokens.at[i];
        if (t->kind != TOKEN_SIGN || t->end - t->begin != 1) continue;
        const char s = f->text[t->begin];
        if (s == '(' || s == '[' || s == '{') depth++;
        if ((s == ')' || s == ']' || s == '}') && --depth == 0) return i;
    }
    return f->tokens.n;
}

/* The parts of a `for` are told apart by its semicolons. */
static void parts_of_for(node *n) {
    const file *const f = n->file;
    node *part[4] = {NULL, NULL, NULL, NULL};
    size_t open = token_from(&f->tokens, n->begin) + 1, semicolon[2] = {0, 0}, k = 0, depth = 0;
    while (open < f->tokens.n && !token_is(f->text, &f->tokens.at[open], "(")) open++;
    const size_t close = closing(f, open);
    for (size_t i = open; i < close && k < 2; i++) {
        const token *const t = &f->tokens.at[i];
        if (t->kind != TOKEN_SIGN) continue;
        const char s = f->text[t->begin];
        if (s == '(' || s == '{' || s == '[') depth++;
        if (s == ')' || s == '}' || s == ']') depth--;
        if (s == ';' && depth == 1) semicolon[k++] = t->begin;
    }
    const size_t end = close < f->tokens.n ? f->tokens.at[close].begin : n->end;
    for (size_t i = 0; i < n->children; i++) {
        node *const c = n->child[i];
        part[c->begin < semicolon[0]   ? 0
             : c->begin < semicolon[1] ? 1
             : c->begin < end          ? 2
                                       : 3] = c;
    }
    n->child = arena_get(4 * sizeof *n->child);
    memcpy(n->child, part, sizeof part);
    n->children = 4;
}

static void declare(reader *r, node *n, const cursors *inside) {
    for (size_t i = 0; i < inside->n; i++) {
        const CXCursor c = inside->at[i];
        if (clang_getCursorKind(c) != CXCursor_VarDecl) continue;
        decl *const d = decl_of(r, c);
        d->owner = r->function;
        d->group = n;
        d->defined = true;
        const CXCursor init = clang_Cursor_getVarDeclInitializer(c);
        if (!clang_Cursor_isNull(init)) {
            d->init = build(r, init, n->by_macro);
            if (d->init != NULL) d->init->parent = n;
        }
        /* sizes of arrays that are known when it runs */
        const cursors parts = children(c);
        for (size_t k = 0; k < parts.n; k++) {
            const CXCursor part = parts.at[k];
            if (!clang_isExpression(clang_getCursorKind(part)) ||
                clang_equalCursors(part, init))
                continue;
            node *const size = build(r, part, n->by_macro);
            if (size != NULL) {
                node **const more = arena_get((n->children + 2) * sizeof *more);
                if (n->children != 0) memcpy(more, n->child, n->children * sizeof *more);
                n->child = more;
                adopt(n, size);
            }
        }
        push(&n->decls, d);
        push(&r->function->locals, d);
    }
}

/* What is inside of a macro that is left is not to be changed: so what a change could be needed for is
 * noted, and the macro expanded. */
static void note_macro(invocation *v, const node *n) {
    const type *const t = leaf_type(n->type), *const of = leaf_type(n->of);
    const bool holds = t != NULL && (t->kind == TYPE_REAL || t->kind == TYPE_RECORD ||
                                     t->kind == TYPE_COMPLEX);
    if (n->kind == NODE_NAME && n->decl != NULL &&
        (n->decl->kind == DECL_VARIABLE || n->decl->kind == DECL_PARAMETER) && holds &&
        !(n->decl->is_global && n->decl->type->constant))
        v->variables = true;
    if (n->kind == NODE_NAME && n->decl != NULL && n->decl->kind == DECL_FUNCTION &&
        !(v->of_system && n->decl->of_system))
        v->variables = true;
    if ((n->kind == NODE_MEMBER && holds) || n->kind == NODE_ASSIGN ||
        n->kind == NODE_STATEMENTS || !is_expression(n))
        v->variables = true;
    if ((n->kind == NODE_CAST || n->kind == NODE_COMPOUND) && of != NULL &&
        (of->kind == TYPE_REAL || of->kind == TYPE_RECORD) && n->children != 0 &&
        n->child[0]->kind != NODE_NUMBER)
        v->variables = true;
    if (n->kind == NODE_SIZEOF && n->children == 0) v->variables = true;
    if (n->kind == NODE_CALL && holds && n->type->kind == TYPE_POINTER) v->variables = true;
}

static node *only_child(reader *r, CXCursor c, bool by_macro) {
    const cursors inside = children(c);
    node *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < inside.n; i++) {
        const enum CXCursorKind k = clang_getCursorKind(inside.at[i]);
        if (clang_isReference(k)) return NULL; /* a designator */
        if (clang_isExpression(k)) found = n++ == 0 ? build(r, inside.at[i], by_macro) : NULL;
    }
    return n == 1 ? found : NULL;
}

/* Where the name of a type ends that stands in parentheses behind `offset`. */
static void find_type_name(node *n) {
    size_t i = token_from(&n->file->tokens, n->begin);
    while (i < n->file->tokens.n && !token_is(n->file->text, &n->file->tokens.at[i], "(")) i++;
    const size_t close = closing(n->file, i);
    n->type_end = close < n->file->tokens.n ? n->file->tokens.at[close].begin : n->end;
}

/* What a designator of an initialiser names: the field that is referred to last. */
static decl *designated(reader *r, const cursors *inside) {
    decl *d = NULL;
    for (size_t i = 0; i < inside->n; i++)
        if (clang_getCursorKind(inside->at[i]) == CXCursor_MemberRef)
            d = decl_of(r, clang_getCursorReferenced(inside->at[i]));
    return d;
}

static bool is_designation(const node *n) {
    const char s = n->begin < n->file->n ? n->file->text[n->begin] : 0;
    return s == '[' || (s == '.' && !(n->file->text[n->begin + 1] >= '0' &&
                                      n->file->text[n->begin + 1] <= '9'));
}

static void note_reference(reader *r, decl *d) {
    decl *const by = r->function != NULL ? r->function : r->global;
    if ((d->kind == DECL_FUNCTION || d->is_global) && by != NULL && !list_has(&by->names, d))
        push(&by->names, d);
}

/* libclang gives what is computed of a parameter that is written as an array the type of that array. */
static void decay(node *n) {
    if (n->type == NULL || n->type->kind != TYPE_ARRAY) return;
    switch (n->kind) {
    case NODE_BINARY:
    case NODE_ASSIGN:
    case NODE_CHOICE:
    case NODE_CAST:
    case NODE_CALL:
        n->type = decayed(n->type);
        break;
    case NODE_UNARY:
        if (!same(n->op, "*")) n->type = decayed(n->type);
        break;
    default:
        break;
    }
}

static node *build(reader *r, CXCursor c, bool by_macro) {
    const enum CXCursorKind k = clang_getCursorKind(c);
    size_t begin, end;
    file *const f = extent(r, c, &begin, &end);
    if (f == NULL) return NULL;
    invocation *const v = macro_at(f, begin), *const w = end > begin ? macro_at(f, end - 1) : v;
    if (k == CXCursor_UnexposedExpr) {
        /* a conversion that is not written, or something that libclang has no name for */
        node *const inner = only_child(r, c, by_macro);
        if (inner != NULL &&
            (by_macro || v != NULL || (inner->begin == begin && inner->end == end)))
            return inner;
    }
    node *const n = arena_get(sizeof *n);
    n->kind = expression_kind(k);
    n->op = ""; /* of what a macro has in it, it stays */
    n->file = f;
    n->begin = v != NULL ? v->begin : begin;
    n->end = w != NULL ? w->end : end;
    n->owner = r->function;
    n->number = r->function != NULL ? r->function->nodes++ : r->p->nodes++;
    n->by_macro = by_macro || (v != NULL && v == w);
    if (clang_isExpression(k)) n->type = type_of(r, clang_getCursorType(c));
    if (v != NULL && (v != w || !n->by_macro) && !is_expression(n) && n->kind != NODE_DECLARE)
        v->variables = true;

    const cursors inside = children(c);
    switch (n->kind) {
    case NODE_NAME:
        n->decl = decl_of(r, clang_getCursorReferenced(c));
        note_reference(r, n->decl);
        if (n->decl->kind == DECL_PARAMETER) n->type = n->decl->type;
        break;
    case NODE_DECLARE:
        declare(r, n, &inside);
        break;
    default:
        adopt_all(r, n, &inside);
    }
    if (n->kind == NODE_MEMBER) n->decl = decl_of(r, clang_getCursorReferenced(c));
    if (n->kind == NODE_CAST &&
        n->children > 1) { /* before what is cast: sizes within the type */
        n->child[0] = n->child[n->children - 1];
        n->children = 1;
    }
    if (n->kind == NODE_CAST || n->kind == NODE_COMPOUND) n->of = n->type;
    if (n->kind == NODE_PAREN && n->children == 1) n->type = n->child[0]->type;
    if (n->by_macro) {
        if (n->kind != NODE_UNARY) decay(n);
        if (v != NULL) note_macro(v, n);
        if (!by_macro && is_expression(n) && n->kind != NODE_CALL) n->kind = NODE_OPAQUE;
        else if (!by_macro && n->kind == NODE_CALL) n->kind = NODE_OPAQUE;
        return n;
    }
    if (n->kind == NODE_BINARY && n->children == 2) {
        n->op = operator_behind(n, n->child[0]);
        if (same(n->op, "=")) n->kind = NODE_ASSIGN;
    } else if (n->kind == NODE_ASSIGN && n->children == 2)
        n->op = operator_behind(n, n->child[0]);
    else if (n->kind == NODE_UNARY && n->children == 1) {
        n->postfix = n->child[0]->begin == n->begin;
        n->op = n->postfix ? operator_behind(n, n->child[0])
                           : token_text(f, token_from(&f->tokens, n->begin));
    } else if (n->kind == NODE_MEMBER && n->children == 1)
        n->arrow = same(operator_behind(n, n->child[0]), "->");
    else if (n->kind == NODE_CAST || n->kind == NODE_COMPOUND) find_type_name(n);
    else if (n->kind == NODE_FOR) parts_of_for(n);
    else if (n->kind == NODE_OPAQUE && k == CXCursor_UnexposedExpr && is_designation(n)) {
        n->kind = NODE_DESIGNATED;
        n->decl = designated(r, &inside);
    } else if (n->kind == NODE_OPAQUE && n->children >= 2 && k == CXCursor_UnexposedExpr &&
               same(operator_behind(n, n->child[0]), "?")) {
        n->kind = NODE_CHOICE; /* the first child may come again, as condition and as value */
        n->child[1] = n->child[n->children - 1];
        n->children = 2;
    }
    decay(n);
    return n;
}

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
