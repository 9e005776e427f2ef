/* SPDX-License-Identifier: MIT */
/* A C program as a tree: files, types, declarations, expressions and statements, each with its
 * place in the text. It is what the front end makes of libclang's cursors, and all that the
 * rest knows. */
#ifndef CONVERT_TREE_H
#define CONVERT_TREE_H

#include "convert/lex.h"

typedef struct file file;
typedef struct type type;
typedef struct record record;
typedef struct decl decl;
typedef struct node node;

/* A macro that is used: where, what it stands for. */
typedef struct invocation {
    size_t begin, end; /* with its arguments */
    const char *name;
    bool with_arguments, of_system;
    const struct macro *macro; /* its definition, if it is known */
    bool variables;            /* what it stands for has variables, calls or statements */
} invocation;

/* A file that another one includes: where the directive begins. */
typedef struct inclusion {
    size_t begin;
    file *of;
} inclusion;

/* A part of a text, and what stands there instead. */
typedef struct edit {
    size_t begin, end;
    const char *s;
} edit;

struct file {
    const char *name; /* as it was given, or found */
    const char *text; /* with the macros expanded that had to be */
    size_t n;
    tokens tokens;
    bool of_system;
    bool given;        /* on the command line */
    bool has_math;     /* it includes math.h, maybe through others */
    list invocations;  /* in order, those outermost, not in directives */
    list inclusions;   /* of files that are not of the system */
    list typeofs;      /* edit: of numbers, by the name of their type */
    list declarations; /* decl: what stands at its top, in order, of all kinds */
    list readers;      /* the files given that include it */
};

typedef enum type_kind {
    TYPE_VOID,
    TYPE_WHOLE, /* integers, characters, _Bool, enumerations */
    TYPE_REAL,
    TYPE_COMPLEX,
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_RECORD,
    TYPE_FUNCTION,
    TYPE_OTHER
} type_kind;

struct type {
    type_kind kind;
    unsigned bits;   /* of a TYPE_REAL: 32, 64; 80: long double */
    const type *of;  /* of pointers and arrays; what a function gives */
    long long count; /* of an array; -1: not known when compiled */
    record *record;
    const type **parameter; /* of a function */
    size_t parameters;
    bool variadic, constant;
    const char *spelling; /* as C writes it */
};

struct record {
    const char *name; /* its tag, or the name of its type */
    const char *usr;
    bool is_union, of_system, tagged;
    list fields; /* decl */
    decl *definition;
    unsigned number;
};

typedef enum decl_kind {
    DECL_VARIABLE,
    DECL_PARAMETER,
    DECL_FUNCTION,
    DECL_FIELD,
    DECL_TYPEDEF,
    DECL_RECORD,
    DECL_ENUM,
    DECL_CONSTANT /* of an enumeration */
} decl_kind;

struct decl {
    decl_kind kind;
    const char *name, *usr;
    const type *type;
    file *file;            /* of the definition, or of the first declaration */
    size_t begin, end, at; /* of the definition; where its name is */
    bool is_static, is_extern, is_global, defined, of_system, is_inline, redeclared;
    bool passive;            /* said to be, in a comment */
    bool is_bits;            /* a field of some bits */
    node *init;              /* of a variable */
    node *body;              /* of a function */
    node *group;             /* the statement that declares a local variable */
    list parameters, locals; /* of a function: decl */
    list
        names; /* of a function, or a global's initialiser: functions and globals that it names */
    bool looked_at,
        changed;    /* a function: for what it changes; a static local: it may be written to */
    bool reached;   /* from the function that is converted */
    record *record; /* of a field: whose; of DECL_RECORD */
    decl *owner;    /* of a parameter, or of a local variable or name of a type: the function */
    unsigned number; /* of all decls */
    unsigned order;  /* at the top of a file: as they come in the whole text */
    size_t index;    /* among parameters and locals of its function */
    size_t nodes;    /* of a function: their number */
};

typedef enum node_kind {
    /* expressions */
    NODE_NAME,
    NODE_MEMBER, /* child 0 . decl, or -> */
    NODE_CALL,   /* child 0 is called */
    NODE_NUMBER,
    NODE_STRING,
    NODE_PAREN,
    NODE_UNARY,  /* op before, or behind: `postfix` */
    NODE_INDEX,  /* array or pointer, index: in this order, however they are written */
    NODE_BINARY, /* also , && || */
    NODE_ASSIGN, /* op = or += .. */
    NODE_CHOICE, /* a ? b : c; with two children a ?: b */
    NODE_CAST,
    NODE_COMPOUND, /* a compound literal; child 0 is its list */
    NODE_LIST,     /* an initialiser { .. } */
    NODE_DESIGNATED,
    NODE_SIZEOF,     /* child 0 if of an expression; of a type the sizes of its arrays */
    NODE_STATEMENTS, /* ({ .. }) */
    NODE_OPAQUE,     /* what is left as it stands: a macro, what is not known */
    /* statements */
    NODE_BLOCK,
    NODE_DECLARE, /* `decls` */
    NODE_IF,
    NODE_FOR, /* children: init, condition, step, body; NULL where there is none */
    NODE_WHILE,
    NODE_DO, /* body, condition */
    NODE_SWITCH,
    NODE_CASE,    /* value (GNU's range: two), what follows */
    NODE_DEFAULT, /* what follows */
    NODE_LABEL,
    NODE_GOTO,
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_RETURN,
    NODE_EMPTY,
    NODE_OTHER /* a statement that is not known */
} node_kind;

struct node {
    node_kind kind;
    file *file;
    size_t begin, end;
    const type *type; /* of an expression */
    const char *op;   /* "+", "+=", "sizeof", .. */
    bool postfix, arrow, by_macro;
    bool made;      /* of x *= e: x * e, which does not stand in the source */
    decl *decl;     /* NAME, MEMBER, DESIGNATED */
    const type *of; /* CAST, COMPOUND */
    /* of those, and of SIZEOF of a type with sizes, which is 0 elsewhere: where the type's name
     * ends (it begins behind the parenthesis) */
    size_t type_end;
    node **child;
    size_t children;
    node *parent;
    decl *owner;   /* the function */
    list decls;    /* DECLARE */
    size_t number; /* in its function */
    int loop;      /* FOR: what a comment says that it is (loops.h) */
};

typedef struct program {
    list files;     /* all that were read */
    list functions; /* decl, those defined in files that are not of the system */
    list globals;   /* decl */
    list records;
    list typedefs;       /* decl */
    size_t decls, nodes; /* nodes: of initialisers of globals */
    unsigned order;
    table *by_usr;
} program;

/* Where a node or declaration stands: file:line. */
const char *place_in(const file *f, size_t offset);
const char *place_of(const node *n);
const char *source(const node *n); /* its text */
bool is_expression(const node *n);
const node *bare(const node *n);      /* without parentheses */
bool is_address(const node *n);       /* a pointer or an array */
const type *leaf_type(const type *t); /* what pointers and arrays lead to */
/* Is a field, or one of a structure in it, of this kind, or does it lead to one? */
bool record_has(const record *r, type_kind kind);
bool is_constant(const type *t); /* it, or the elements of an array, are const */
decl *function_named(const program *p, const char *name);

#endif
