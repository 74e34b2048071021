/* The abstract syntax tree of one `.net` file.
 *
 * Two families of nodes, expressions and statements, each one struct with a kind and a union.
 * Everything lives in the arena given to parse_program(); every text is interned (support/names.h),
 * so names compare with ==, except the decoded bytes of strings, which are interned as well but may
 * be long.  Every node has the span of its text; operators and names have spans of their own, so a
 * message can put its caret on exactly the right token.
 *
 * Trees are bounded: brackets nest at most AST_MAX_NESTING deep, and no statement is more than
 * AST_MAX_DEPTH nodes high, all blocks and expressions in it included (a + a + a + ... counts).
 * So walking a tree recursively is safe. */
#ifndef NNC_SYNTAX_AST_H
#define NNC_SYNTAX_AST_H

#include <stdint.h>
#include "support/arena.h"
#include "support/source.h"
#include "support/text.h"
#include "support/vec.h"

enum { AST_MAX_NESTING = 256, AST_MAX_DEPTH = 1000 };

typedef struct AstExpr AstExpr;
typedef struct AstStmt AstStmt;

/* A name where it stands: a binding, a formal, a member, a named argument, a unit. */
typedef struct AstName {
  const char *text; /* interned; NULL where a name is optional and absent; may be "_" */
  Span span;
} AstName;

typedef VEC(AstName) AstNames;
typedef VEC(AstExpr *) AstExprs;
typedef VEC(AstStmt *) AstStmts;

/* { ... }; the span includes the braces. */
typedef struct AstBlock {
  AstStmts stmts;
  int depth; /* of the highest statement */
  Span span;
} AstBlock;

/* name = value: one of a `const` list, one carry of a scan's `with`. */
typedef struct AstBinding {
  AstName name;
  AstExpr *value;
} AstBinding;

typedef VEC(AstBinding) AstBindings;

/* ---- types, formals ----------------------------------------------------------------------- */

/* f32[batch, 3] | f32 | f32[...] | [n, m] (element type omitted: the default float). */
typedef struct AstType {
  AstName element; /* text NULL when omitted */
  AstExprs dims;   /* empty for a scalar; an expression may be a whole shape (f32[x.shape]) */
  int any_shape;   /* [...]: any rank and sizes; dims is empty */
  Span span;
} AstType;

typedef struct AstFormal {
  AstName name;
  AstType *type;          /* NULL when none is written */
  AstExpr *default_value; /* NULL when none: the argument is required */
  Span span;
} AstFormal;

typedef VEC(AstFormal) AstFormals;

/* gradient (dy) { ... } after a def or an extern. */
typedef struct AstGradient {
  AstFormals formals; /* one adjoint for each result */
  AstBlock *body;
  Span keyword;
} AstGradient;

/* ---- expressions -------------------------------------------------------------------------- */

typedef enum AstExprKind {
  AST_NAME,        /* .name */
  AST_INTEGER,     /* .number */
  AST_FLOAT,       /* .number */
  AST_STRING,      /* .string */
  AST_BOOL,        /* .boolean */
  AST_QUANTITY,    /* .quantity:  5 epochs */
  AST_PLACEHOLDER, /* _ */
  AST_TUPLE,       /* .items:  (a, b)  (a,) */
  AST_LIST,        /* .items:  [a, b]  [] */
  AST_UNARY,       /* .unary */
  AST_BINARY,      /* .binary */
  AST_TERNARY,     /* .ternary:  condition ? then : otherwise */
  AST_RANGE,       /* .range:  from..to, `to` excluded */
  AST_MEMBER,      /* .member:  object.name */
  AST_CALL,        /* .call */
  AST_INDEX,       /* .index:  x[i, a:b, ..., none] */
  AST_SCAN,        /* .scan */
  AST_EXPR_KINDS
} AstExprKind;

typedef enum AstOperator {
  AST_ADD,
  AST_SUB,
  AST_MUL,
  AST_DIV,
  AST_FLOORDIV,
  AST_MOD,
  AST_MATMUL,
  AST_POW,
  AST_EQ,
  AST_NE,
  AST_LT,
  AST_GT,
  AST_LE,
  AST_GE,
  AST_AND,
  AST_OR,
  AST_NEG, /* unary */
  AST_NOT, /* unary */
  AST_OPERATORS
} AstOperator;

/* "+" "-" "*" "/" "//" "%" "@" "^" "==" "!=" "<" ">" "<=" ">=" "&&" "||" "-" "!" */
const char *ast_operator_text(AstOperator op);

/* One argument of a call. */
typedef struct AstArgument {
  AstName name; /* text NULL for a positional one */
  AstExpr *value;
  Span span; /* name = value */
} AstArgument;

typedef VEC(AstArgument) AstArguments;

typedef enum AstIndexKind {
  AST_AT,       /* .at: one position, or a list, or a tensor of positions */
  AST_SLICE,    /* .from : .to : .step, each may be NULL */
  AST_ELLIPSIS, /* ... */
  AST_NEW_AXIS  /* none */
} AstIndexKind;

typedef struct AstIndex {
  AstIndexKind kind;
  AstExpr *at;
  AstExpr *from, *to, *step;
  Span span;
} AstIndex;

typedef VEC(AstIndex) AstIndices;

/* scan PATTERN in SOURCES along AXIS recompute with CARRIES { BODY } */
typedef struct AstScan {
  AstNames pattern;    /* one name for each source */
  AstExprs sources;    /* sequences, or a range */
  AstExpr *along;      /* the axis it goes along; NULL when not written */
  int recomputes;      /* `recompute` is written */
  AstBindings carries; /* name and initial value */
  AstBlock *body;      /* ends with `yield` */
  Span keyword;
} AstScan;

struct AstExpr {
  AstExprKind kind;
  int depth; /* 1 for a leaf; at most AST_MAX_DEPTH */
  Span span; /* without parentheses around it */
  union {
    const char *name; /* AST_NAME */
    struct {
      const char *literal; /* exactly as written: "1e-3", "007" */
      int64_t integer;     /* AST_INTEGER: 0 <= integer */
      double floating;     /* the value in either case */
    } number;
    struct {
      const char *bytes; /* escapes decoded, NUL-terminated, no NUL inside */
      size_t length;
    } string;
    int boolean; /* AST_BOOL */
    struct {
      AstExpr *number; /* AST_INTEGER or AST_FLOAT */
      AstName unit;    /* epochs, steps, ... : not checked here */
    } quantity;
    AstExprs items; /* AST_TUPLE, AST_LIST */
    struct {
      AstOperator op;
      Span op_span;
      AstExpr *operand;
    } unary;
    struct {
      AstOperator op;
      Span op_span;
      AstExpr *left, *right;
    } binary;
    struct {
      AstExpr *condition, *then, *otherwise;
      Span op_span; /* the '?' */
    } ternary;
    struct {
      AstExpr *from, *to;
      Span op_span; /* the '..' */
    } range;
    struct {
      AstExpr *object;
      AstName name;
    } member;
    struct {
      AstExpr *callee;
      AstArguments arguments; /* positional ones stand before named ones */
      Span parentheses;
    } call;
    struct {
      AstExpr *object;
      AstIndices indices; /* at least one; at most one AST_ELLIPSIS */
      Span brackets;
    } index;
    AstScan *scan;
  };
};

/* ---- statements --------------------------------------------------------------------------- */

typedef enum AstEntryKind {
  AST_ENTRY_SET,   /* names = source | stage | ... */
  AST_ENTRY_PARAMS /* params "*.b", "*.gamma" { ... }: a group, only in `train` */
} AstEntryKind;

typedef struct AstEntry AstEntry;
typedef VEC(AstEntry) AstEntries;

/* One line of a data, train, predict or extern block, or of a params group. */
struct AstEntry {
  AstEntryKind kind;
  Span span;
  /* AST_ENTRY_SET */
  AstNames names;  /* one, except in data and predict blocks */
  AstExpr *value;  /* the value, or the source of the pipeline */
  AstExprs stages; /* after each '|'; only in data blocks */
  /* AST_ENTRY_PARAMS */
  AstExprs patterns; /* AST_STRINGs */
  AstEntries entries;
};

typedef enum AstStmtKind {
  AST_CONST,     /* .constants */
  AST_OPTION,    /* .option */
  AST_INPUT,     /* .variable (type always, value never) */
  AST_PARAM,     /* .variable */
  AST_STATE,     /* .variable */
  AST_STREAM,    /* .variable */
  AST_DATA,      /* .section, with a name */
  AST_TRAIN,     /* .section */
  AST_PREDICT,   /* .section */
  AST_GENERATE,  /* .section */
  AST_DEF,       /* .function */
  AST_OPTIMIZER, /* .function */
  AST_INIT,      /* .function */
  AST_SCHEDULE,  /* .function */
  AST_EXTERN,    /* .function (result and entries, no body) */
  AST_ASSIGN,    /* .assignment:  a, b = value */
  AST_STORE,     /* .assignment:  s <- value */
  AST_FOR,       /* .loop */
  AST_IF,        /* .branch */
  AST_RETURN,    /* .values */
  AST_YIELD,     /* .values */
  AST_STMT_KINDS
} AstStmtKind;

/* "const", "input", ... as a message names it; "assignment" and "store" for those two. */
const char *ast_stmt_kind_text(AstStmtKind kind);

struct AstStmt {
  AstStmtKind kind;
  int depth; /* 1 + the highest expression or block in it; at most AST_MAX_DEPTH */
  Span span;
  Span keyword; /* the first word; for AST_ASSIGN and AST_STORE the '=' or '<-' */
  union {
    AstBindings constants;
    struct {
      AstName name;
      AstExpr *value;  /* by default */
      AstExpr *limits; /* a..b; NULL when not written */
    } option;
    struct {
      AstName name;
      AstType *type;  /* NULL when not written */
      AstExpr *value; /* the initial value; NULL when not written */
    } variable;
    struct {
      AstName name; /* data train: "train"; text NULL for all other blocks */
      AstEntries entries;
    } section;
    struct {
      AstName name;
      AstFormals formals;
      AstBlock *body;        /* NULL for extern */
      AstGradient *gradient; /* def and extern: NULL when not written */
      AstType *result;       /* extern only */
      AstEntries entries;    /* extern only */
    } function;
    struct {
      AstNames names;
      AstExpr *value;
    } assignment;
    struct {
      AstNames pattern; /* for (a, b) in ... and for a, b in ... are the same */
      AstExpr *sequence;
      AstBlock *body;
    } loop;
    struct {
      AstExpr *condition;
      AstBlock *then;
      AstBlock *otherwise; /* NULL without else; `else if` is a block of just that AST_IF */
      int is_else_if;      /* otherwise was written `else if`, without braces */
    } branch;
    AstExprs values; /* at least one */
  };
};

typedef struct AstProgram {
  const SourceFile *file;
  AstStmts stmts;
} AstProgram;

/* The tree as an S-expression, one statement a line (blocks indented): for tests.
 * Spans are not printed, so programs that differ only in layout and comments print the same. */
void ast_print(Text *out, const AstProgram *program);

#endif
