/* Which names of a program's text mean the same thing, from the syntax tree alone: so it is known in functions that
 * nothing calls and beside mistakes, too.
 *
 * A thing is what a name stands for within a scope: the program, a function, its gradient, or the body of a scan. It may be bound
 * at several places (x = f(x)). */
#ifndef NNC_SERVER_RESOLVE_H
#define NNC_SERVER_RESOLVE_H

#include <stdbool.h>
#include "elaborate/elaborate.h"
#include "support/table.h"

typedef enum ThingKind {
  THING_CONST,
  THING_OPTION,
  THING_INPUT,
  THING_PARAM,
  THING_STATE,
  THING_STREAM,
  THING_FUNCTION,
  THING_VALUE,
  THING_LOOP,
  THING_FORMAL,
  THING_KIND_COUNT
} ThingKind;

typedef struct NameScope NameScope;

typedef struct Thing {
  const char *name;
  ThingKind kind;
  const AstStmt *stmt;     /* that binds it first; of a formal its function */
  const AstFormal *formal; /* NULL for all others */
  NameScope *scope;
  VEC(Span) bindings; /* in the order of the statements */
  int bound;          /* how many of them the second walk has passed */
} Thing;

struct NameScope {
  NameScope *parent;
  const AstStmt *function; /* whose formals and body it is; NULL: the program's, or a scan's */
  Span span;               /* line 0: the whole program */
  VEC(Thing *) things;
  PointerTable table; /* by the interned name */
};

/* A name where it stands. */
typedef struct Mention {
  const char *name;
  Span at;
  Thing *thing;    /* NULL: of the library, of the language, or unknown */
  bool binds;      /* the name is bound here, not read */
  Span binding;    /* of the thing: where the value that is read was bound, or the place itself */
  const void *key; /* the AstExpr, or the AstName of a binding: its identity in the tree */
  const AstExpr *call; /* the call whose callee it is; NULL */
  const char *callee;  /* the name is that of an argument of this function */
} Mention;

typedef struct Names {
  Arena *arena;
  VEC(Mention) mentions; /* in the order of the text */
  VEC(NameScope *) scopes;
} Names;

extern const char *const thing_words[THING_KIND_COUNT]; /* "constant", "option", ... */

Names *resolve_names(Arena *arena, const AstProgram *program);
/* What the name means in that scope; NULL. */
Thing *resolve_find(const NameScope *scope, const char *name);
/* The innermost scope around a place of the text. */
NameScope *resolve_scope_at(const Names *names, int line, int column);
/* Whether `a` begins before `b` does. */
bool resolve_is_before(Span a, Span b);

#endif
