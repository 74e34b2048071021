/* Scopes: what the names of a program stand for, and whether anything reads them. */
#ifndef NNC_ELABORATE_SCOPE_H
#define NNC_ELABORATE_SCOPE_H

#include "elaborate/core/value.h"
#include "graph/module.h"
#include "support/table.h"
#include "support/vec.h"

typedef enum SymbolKind {
  SYMBOL_BUILTIN, /* functions and constants of the language and the prelude */
  SYMBOL_CONST,
  SYMBOL_OPTION, /* a number that the running program is given */
  SYMBOL_DEF,
  SYMBOL_INPUT,
  SYMBOL_PARAM,
  SYMBOL_STATE,
  SYMBOL_LOCAL, /* = */
  SYMBOL_LOOP,  /* the pattern of a for */
  SYMBOL_FORMAL,
  SYMBOL_AMBIENT, /* t, shape, ... inside a definer */
  SYMBOL_KIND_COUNT
} SymbolKind;

/* Whether anything reads a name of the user's file, over all traces. */
typedef struct Usage {
  const AstName *name; /* identity: its place in the tree */
  const char *what;    /* "function", "value", ... */
  bool used;
} Usage;

/* A variable as the current trace sees it. */
typedef struct Slot {
  const char *path;
  VariableKind kind;
  Type type;
  Node *leaf;    /* its value at the start of the step */
  Node *current; /* what a reader sees now */
  bool stored;
  bool is_fresh;           /* a stream of a single example: begins anew, is never stored */
  const char *owner_layer; /* path of the shared layer that made it, or NULL */
  Span span;
} Slot;

typedef struct Symbol {
  const char *name;
  SymbolKind kind;
  Value value;
  Span span;
  Span given;   /* of a formal: the argument in the user's call; no file: its default */
  Slot *slot;   /* param, state */
  Usage *usage; /* NULL where it does not matter */
  bool is_over; /* of a loop that has ended */
  /* What a reader sees where that is not `value`; else NULL. */
  Value (*read)(Elaborator *e, const struct Symbol *symbol);
} Symbol;

typedef struct Scope {
  struct Scope *parent;
  bool is_body; /* of a def: hides the values of the program around it */
  bool is_scan; /* of a scan: may not bind a name that it has read from around it */
  VEC(Symbol *) symbols;
  PointerTable outer; /* of a scan: names of values around it that were read */
  PointerTable table; /* indices in `symbols` by the interned name */
} Scope;

Scope *scope_create(Arena *arena, Scope *parent, bool is_body);
/* In this scope alone; NULL when absent. */
Symbol *scope_find_own(const Scope *scope, const char *name);
/* Outward; *hidden is a symbol that a def may not see (then NULL is returned). */
Symbol *scope_find(const Scope *scope, const char *name, Symbol **hidden);
/* A scan on the way outward remembers that `name` was read from around it. */
void scope_note_outer(Arena *arena, Scope *scope, const char *name);
/* Binds or rebinds in this scope. */
Symbol *scope_bind(Arena *arena, Scope *scope, SymbolKind kind, const char *name, Value value,
                   Span span);
const char *scope_kind_text(SymbolKind kind); /* "a constant", "an input" */

/* The record of a name, which all tracings share: its identity is its place in the tree. */
Usage *scope_usage(Elaborator *e, const AstName *name, const char *what);
/* The input is read by other than an expression: by a stage of data. */
void scope_mark_input(Elaborator *e, const char *name);
void scope_warn_unused(Elaborator *e);

#endif
