/* SPDX-License-Identifier: MIT */
/* read_nodes.c - from libclang's cursors to expressions and statements. Macros of the
 * preprocessor that are left in the text are leaves of the tree (NODE_OPAQUE), whose inner
 * nodes are marked `by_macro`. */
#include <string.h>
#include "convert/reader.h"

/* The macro that is used where `offset` is, or NULL. */
invocation *macro_at(const file *f, size_t offset) {
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
cursors children(CXCursor c) {
    cursors to = {NULL, 0, 0};
    clang_visitChildren(c, collect, &to);
    return to;
}

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

/* The type of an expression, in the declaration of a number or a cast to one, between two
 * places: what is written has none for it. */
static void note_typeof(file *f, size_t begin, size_t end, CXType real) {
    for (size_t i = token_from(&f->tokens, begin);
         i < f->tokens.n && f->tokens.at[i].begin < end; i++) {
        const token *const t = &f->tokens.at[i];
        if (!token_is(f->text, t, "typeof") && !token_is(f->text, t, "__typeof") &&
            !token_is(f->text, t, "__typeof__"))
            continue;
        if (macro_at(f, t->begin) != NULL) return;
        for (size_t k = 0; k < f->typeofs.n; k++)
            if (((edit *)f->typeofs.at[k])->begin == t->begin) return;
        const size_t close = closing(f, token_from(&f->tokens, t->end));
        const char *const s = taken(clang_getTypeSpelling(clang_getCanonicalType(real)));
        edit *const e = arena_get(sizeof *e);
        *e = (edit){t->begin, close < f->tokens.n ? f->tokens.at[close].end : end,
                    starts_with(s, "const ") ? s + 6 : s};
        push(&f->typeofs, e);
        return;
    }
}

static void declare(reader *r, node *n, const cursors *inside) {
    for (size_t i = 0; i < inside->n; i++) {
        const CXCursor c = inside->at[i];
        if (clang_getCursorKind(c) == CXCursor_TypedefDecl) decl_of(r, c)->owner = r->function;
        if (clang_getCursorKind(c) != CXCursor_VarDecl) continue;
        decl *const d = decl_of(r, c);
        d->owner = r->function;
        d->group = n;
        d->defined = true;
        if (d->type->kind == TYPE_REAL)
            note_typeof(d->file, d->begin, d->at, clang_getCursorType(c));
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

/* What is inside of a macro that is left is not to be changed: so what a change could be needed
 * for is noted, and the macro expanded. */
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
    if (n->kind == NODE_SIZEOF &&
        (n->children == 0 || leaf_type(n->child[0]->type)->kind == TYPE_WHOLE))
        v->variables = true;
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

/* Is it sizeof(double[n]), whose child is n? An expression begins next to the keyword. */
static bool is_of_type(const node *n) {
    const tokens *const t = &n->file->tokens;
    const size_t first = token_from(t, n->begin);
    const size_t next = first < t->n ? token_from(t, t->at[first].end) : first;
    return n->children != 0 && next < t->n && t->at[next].begin < n->child[0]->begin;
}

/* The sizes in the name of a type, in order, each once: libclang says some twice. */
static void sort_sizes(node *n) {
    size_t kept = 0;
    for (size_t i = 1; i < n->children; i++)
        for (size_t k = i; k > 0 && n->child[k - 1]->begin > n->child[k]->begin; k--) {
            node *const x = n->child[k];
            n->child[k] = n->child[k - 1], n->child[k - 1] = x;
        }
    for (size_t i = 0; i < n->children; i++)
        if (kept == 0 || n->child[i]->begin >= n->child[kept - 1]->end)
            n->child[kept++] = n->child[i];
    n->children = kept;
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

/* libclang gives what is computed of a parameter that is written as an array the type of
 * that array. */
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

node *build(reader *r, CXCursor c, bool by_macro) {
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
        for (size_t i = 0; i < n->decls.n; i++) { /* names that a macro has or makes */
            const decl *const d = n->decls.at[i];
            const type_kind of = leaf_type(d->type)->kind;
            invocation *const by = macro_at(f, d->at);
            if (by != NULL && (of == TYPE_REAL || of == TYPE_RECORD || of == TYPE_COMPLEX))
                by->variables = true;
        }
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
    if (n->kind == NODE_INDEX && n->children == 2 && !is_address(n->child[0])) { /* i[x] */
        node *const x = n->child[1];
        n->child[1] = n->child[0], n->child[0] = x;
    }
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
    else if (n->kind == NODE_CAST || n->kind == NODE_COMPOUND) {
        find_type_name(n);
        if (n->type->kind == TYPE_REAL)
            note_typeof(f, n->begin, n->type_end, clang_getCursorType(c));
    } else if (n->kind == NODE_SIZEOF && is_of_type(n)) {
        find_type_name(n);
        sort_sizes(n);
    } else if (n->kind == NODE_FOR) parts_of_for(n);
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
