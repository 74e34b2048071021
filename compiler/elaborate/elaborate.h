/* Elaboration: syntax tree -> module.
 *
 * The statements of a program are executed several times, as a script that runs at compile
 * time: for training, for evaluation, and with a batch of one. Names, shapes and types are settled
 * here; what comes out is a module of entry graphs that the verifier accepts. */
#ifndef NNC_ELABORATE_ELABORATE_H
#define NNC_ELABORATE_ELABORATE_H

#include "graph/module.h"
#include "support/diagnostics.h"
#include "support/vec.h"
#include "syntax/ast.h"

/* The library, parsed once for several elaborations. */
typedef struct Prelude {
  int count;
  const AstProgram **files;
} Prelude;

/* -D name=value or -D train.key=value */
typedef struct Definition {
  const char *name;  /* "batch", "train.epochs" */
  const char *value; /* text of an expression */
} Definition;

/* A name that a body binds more than once: its layers are not called like it, but numbered. */
typedef struct Rebinding {
  const char *name;         /* "h" */
  const char *path;         /* of its layer, were it bound once: "encoder.h" */
  const AstStmts *body;     /* where it is bound */
  Span at;                  /* the first of the statements that own a layer */
  VEC(const char *) layers; /* the paths that these have instead */
} Rebinding;

typedef VEC(Rebinding) Rebindings;

typedef struct ElaborateOptions {
  int definition_count;
  const Definition *definitions;
  bool check_only;        /* only mistakes and variables are wanted; the module need not train */
  bool check_indices;     /* the executable stops at an index outside of its axis */
  const Prelude *prelude; /* NULL: it is parsed now */
  Rebindings *rebindings; /* filled, of the program's own functions alone; NULL: nobody asks */
  const struct Observer *observer; /* elaborate/core/observer.h; NULL: nobody looks on */
} ElaborateOptions;

/* Lives as long as the arena. */
Prelude *elaborate_prelude(Arena *arena, Diagnostics *diagnostics);

/* NULL after errors. A program without a `train` block is a mistake; with `check_only` it is a
 * warning. `options` may be NULL. */
Module *elaborate(Arena *arena, Diagnostics *diagnostics, const AstProgram *program,
                  const ElaborateOptions *options);

#endif
