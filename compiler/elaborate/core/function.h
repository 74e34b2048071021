/* What a program calls: defs, layers, definers and builtins, with their arguments. */
#ifndef NNC_ELABORATE_FUNCTION_H
#define NNC_ELABORATE_FUNCTION_H

#include <string.h>
#include "elaborate/core/value.h"

enum { MAX_FORMALS = 16 };

struct Function {
  const char *name;
  const AstStmt *stmt;
  bool is_prelude;
  enum { OWNS_UNKNOWN, OWNS_VISITING, OWNS_NOTHING, OWNS_VARIABLES } owns;
};

/* What the text of a function begins with that is a part of others: it is not offered. */
#define INTERNAL_MARK "Internal: "

static inline bool function_doc_is_internal(const char *doc) {
  return strncmp(doc, INTERNAL_MARK, sizeof INTERNAL_MARK - 1) == 0;
}

/* Of the prelude alone; its text is the comment directly above. */
static inline bool function_is_internal(const Function *function) {
  static const char mark[] = "# " INTERNAL_MARK;
  const Span at = function->stmt->span;
  const char *first = "";
  size_t length;
  for (int line = at.line - 1; function->is_prelude && line > 0; line--) {
    const char *text = source_line(at.file, line, &length);
    if (length == 0 || *text != '#') break;
    first = text;
  }
  return strncmp(first, mark, sizeof mark - 1) == 0;
}

static inline int function_find_formal(const Function *function, const char *name) {
  const AstFormals *formals = &function->stmt->function.formals;
  for (int i = 0; i < formals->count; i++)
    if (formals->items[i].name.text == name) return i;
  return -1;
}

/* An argument as it was written, evaluated. */
typedef struct Argument {
  AstName name; /* text NULL: positional */
  Value value;
  Span span;
  Span given; /* the same in the user's call, where the library hands on what it was given */
} Argument;

/* A call with `_`: its parameters belong to the layer, each use shares them. */
struct Layer {
  Value callee;
  int count; /* arguments, in the order written */
  Argument *arguments;
  bool *is_hole; /* such an argument has no value */
  const char *path;
  Span span;
  const Layer *followed; /* of averaged(): the layer whose parameters it averages */
  Deferred *average;     /* and how: ema(0.99) */
  bool is_evaluated;     /* of evaluated(): `training` is false in its calls */
};

/* optimizer, init or schedule with arguments. */
struct Deferred {
  Function *function;
  Value *arguments; /* one a formal */
  Span *given;      /* where these stand in the user's call */
  Span span;
  const AstExpr *expr; /* identity over the traces */
  const char *path;    /* of the frame that evaluated it */
  const char *scalar;  /* schedules: the name of the host scalar, once it has one */
};

typedef struct Arguments {
  int count;
  Argument *items;
  Span call;           /* the whole call */
  Span callee;         /* the name called */
  const AstExpr *expr; /* the call in the tree; NULL where it was not written */
} Arguments;

/* Arguments of a builtin, in the order of its formals. */
typedef struct Bound {
  const Builtin *builtin;
  Value values[MAX_FORMALS];
  Span spans[MAX_FORMALS];
  bool given[MAX_FORMALS];
  int rest_count; /* of a variadic first formal */
  Value *rest;
  Span *rest_spans;
  Span call;
  const AstExpr *expr; /* NULL where it was not written */
} Bound;

typedef Value BuiltinFunction(Elaborator *e, const Bound *bound);

typedef struct Signature Signature; /* as eval/bind.c reads it */

struct Builtin {
  const char *name;
  const char *signature; /* "sum(x: tensor, axis: axes = none, keep: bool = false)" */
  const char *doc;
  BuiltinFunction *call;
  int data;           /* an Op, for families */
  const char *family; /* of the documentation */
};

#endif
