/* What all parts of elaboration share.
 *
 * An Elaborator traces the program once for each entry graph: it executes the statements as a script
 * that runs at compile time, and what they compute with tensors becomes nodes (a Trace). Nodes are
 * added to the graph of the current Region: that of the trace, or for a while the init or the host
 * graph. A Frame is one call of a def: its scope, its path, and who called it, for messages. */
#ifndef NNC_ELABORATE_ELABORATOR_H
#define NNC_ELABORATE_ELABORATOR_H

#include "elaborate/core/function.h"
#include "elaborate/core/region.h"
#include "elaborate/core/scope.h"
#include "elaborate/elaborate.h"

enum {
  MAX_CALL_DEPTH = 256,
  MAX_EVALUATION_DEPTH = 5000, /* expressions inside each other, through calls */
  MAX_OWNER_DEPTH = 500,       /* defs that call each other, looked through for variables */
  MAX_NODES = 1000000,         /* in one entry graph */
  MAX_ITERATIONS = 1000000     /* of one `for`, and elements of one list */
};
#define MAX_TOTAL_BYTES 0x1p50               /* of the tensors of one entry graph: 1 PiB */
#define MAX_ELEMENTS_MADE ((int64_t)4000000) /* of lists, in one trace */
#define MAX_STATEMENTS ((int64_t)4000000)    /* executed in one trace */

/* The innermost scan whose body a frame is in. */
typedef struct ScanFrame {
  const AstScan *scan;
  VEC(Node *) yields;
  bool has_yielded, failed;
} ScanFrame;

struct Frame {
  Frame *parent;        /* the caller */
  const char *function; /* NULL at the top level */
  Span call;
  Span user_call;        /* the innermost call that stands in the user's file */
  const char *path;      /* "" at the top level */
  const char *layer;     /* path of the shared layer it is a use of, or NULL */
  const Layer *follower; /* the averaged() layer that it is inside of, or NULL */
  bool is_evaluated;     /* it is inside of an evaluated() layer */
  Scope *scope;
  const AstBlock *body; /* NULL at the top level */
  const AstStmts *stmts;
  const char *binding; /* the name that the current statement binds for the first and only time */
  const char *rebound; /* the name that it would be, were it the only statement that binds it */
  Span rebound_at;
  int owners;        /* calls that own variables on its right side */
  const char *label; /* path of the nodes of the current statement */
  int loops;         /* `for`s around the current statement */
  ScanFrame *scan;   /* NULL outside */
  VEC(struct {
    const char *element;
    int count;
  })
  elements;                 /* path elements given out */
  const char *state_prefix; /* optimizers: "h1.w:" */
  Type *state_type;         /* optimizers: the type a state has by default */
  VEC(Value) returned;
  const AstStmt *return_stmt; /* that has returned */
  bool has_returned;
  int depth;
};

typedef struct TrainPlan TrainPlan; /* train.h */

/* A group of parameters that says `frozen` (frozen.c). */
typedef struct FrozenGroup {
  const AstEntry *entry;
  bool frozen;
} FrozenGroup;

/* Scores of classes and the true ones, as `classified` was told; rows of results, and where they come from. */
typedef struct Classified {
  const Node *origin, *truth;
  Node *scores, *label;
  bool is_own; /* said by the program itself, not by a loss of the library */
} Classified;

/* What the examples of a set are ordered by, and whether each is true: rows of results. Or found boxes and true ones. */
typedef struct Ranked {
  const char *name; /* MODULE_RANKING */
  Node *scores, *label;
} Ranked;

/* A use of gradient_norm (sections/gradient_norm.c). In training its numbers are made with the update; NULL: not yet, or
 * train minimizes another loss. */
typedef struct GradientNorm {
  const Node *scalar; /* what the program sees, which metrics alone may read */
  const Node *loss;
  Node *squares; /* their sum over the gradients so far */
  Node *norm;
  Span span;
} GradientNorm;

typedef struct Trace {
  EntryKind entry;
  bool training;
  bool single; /* batch of one */
  Region region;
  Scope *globals;
  VEC(Slot *) slots;
  Scope *slot_names;   /* by path: symbols with a slot */
  Scope *keys;         /* random keys given out */
  VEC(Output) results; /* predict */
  Node *tokens, *next; /* generate: the input, and the logits of what follows; NULL: not told */
  VEC(Classified) classified;
  VEC(Ranked) ranked;    /* of evaluation */
  VEC(Node *) per_batch; /* what is reported as the mean over batches */
  int ranking_count;     /* metrics of this kind so far */
  VEC(GradientNorm) gradient_norms;
  TrainPlan *train;  /* NULL until the block is reached */
  bool knows_frozen; /* the groups below were looked up */
  VEC(FrozenGroup) frozen_groups;
  int64_t statements; /* executed, and rounds of loops */
  int64_t elements;   /* of lists made */
  bool exhausted;     /* a limit was reached and reported */
} Trace;

typedef struct HostScalar {
  const void *identity; /* the call in the tree */
  const char *path;     /* of the frame that made it */
  const char *name;     /* output of the host graph */
} HostScalar;

/* What executes a kind of statement. */
typedef void StatementFunction(Elaborator *e, const AstStmt *stmt);

struct Elaborator {
  Arena *arena;
  Diagnostics *diagnostics;
  const AstProgram *program;
  const ElaborateOptions *options;
  Module *module;
  StatementFunction *const *statements; /* by kind: those that lie above evaluation (program.c) */
  Scope *root;                          /* builtins and prelude */
  Trace *trace;
  Region *region;
  int64_t checked_indices; /* check_index nodes so far */
  Region init, host;
  Frame *frame;
  Span at;         /* the expression being evaluated */
  int errors;      /* reported, repetitions included */
  int depth;       /* of evaluate_expr() */
  int owner_depth; /* of paths.c looking through defs */
  DType default_float;
  double loss_scale;      /* of train; a power of two */
  bool has_dynamic_scale; /* it is found by itself instead */
  bool uses_grad;         /* the program may ask for gradients as values */
  const char *batch_name; /* NULL until an input tells */
  VEC(Usage *) usages;
  PointerTable usage_table; /* indices in `usages` by the name's place in the tree */
  VEC(Function *) functions;
  VEC(const Signature *) signatures; /* of builtins that were called */
  PointerTable signature_table;      /* indices in `signatures` by the builtin */
  VEC(HostScalar) scalars;
  Scope *variable_names;         /* by path: symbols with the number of the module's variable */
  VEC(const AstStmt *) sections; /* train and predict blocks seen */
  bool *definition_used;         /* by number of -D */
  AstExpr **definition_exprs;
};

/* The expression of -D for a constant or "train.key", which counts as used; NULL without one. */
AstExpr *elaborator_definition(Elaborator *e, const char *name);

#endif
