/* What the rooms of elaboration share.
 *
 * An Elaborator walks the program once for each entry graph (a Walk). Nodes are added to the graph
 * of the current Room: that of the walk, or for a while the init or the host graph. A Frame is one
 * call of a def: its scope, its path, and who called it, for messages. */
#ifndef NNC_ELABORATE_ELABORATOR_H
#define NNC_ELABORATE_ELABORATOR_H

#include "elaborate/elaborate.h"
#include "elaborate/core/value.h"
#include "support/vec.h"

typedef struct Elaborator Elaborator;
typedef struct Frame Frame;

enum {
  MAX_CALL_DEPTH = 256,
  MAX_EVALUATION_DEPTH = 5000, /* expressions inside each other, through calls */
  MAX_OWNER_DEPTH = 500,       /* defs that call each other, looked through for variables */
  MAX_NODES = 1000000,         /* in one entry graph */
  MAX_ITERATIONS = 1000000,    /* of one `for`, and elements of one list */
  MAX_FORMALS = 16
};
#define MAX_TOTAL_BYTES 0x1p50               /* of the tensors of one entry graph: 1 PiB */
#define MAX_ELEMENTS_MADE ((int64_t)4000000) /* of lists, in one walk */
#define MAX_STATEMENTS ((int64_t)4000000)    /* executed in one walk */

/* ---- names (scope.c) ---------------------------------------------------------------------- */

typedef enum SymbolKind {
  SYMBOL_BUILTIN, /* functions and constants of the language and the prelude */
  SYMBOL_CONST,
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

/* Whether anything reads a name of the user's file, over all walks. */
typedef struct Usage {
  const AstName *name; /* identity: its place in the tree */
  const char *what;    /* "function", "value", ... */
  bool used;
} Usage;

/* A variable as the current walk sees it. */
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
  Slot *slot;   /* param, state */
  Usage *usage; /* NULL where nobody asks */
} Symbol;

typedef struct Scope {
  struct Scope *parent;
  bool is_body; /* of a def: hides the values of the program around it */
  bool is_scan; /* of a scan: may not bind the names around it again */
  VEC(Symbol *) symbols;
  Symbol **table; /* hash by the interned name; open addressing */
  int capacity;
} Scope;

Scope *scope_create(Arena *arena, Scope *parent, bool is_body);
/* In this scope alone; NULL when absent. */
Symbol *scope_find_own(const Scope *scope, const char *name);
/* Outward; *hidden is a symbol that a def may not see (then NULL is returned). */
Symbol *scope_find(const Scope *scope, const char *name, Symbol **hidden);
/* Binds or rebinds in this scope. */
Symbol *scope_bind(Arena *arena, Scope *scope, SymbolKind kind, const char *name, Value value,
                   Span span);
const char *symbol_kind_text(SymbolKind kind); /* "a constant", "an input" */

/* ---- functions, calls --------------------------------------------------------------------- */

struct Function {
  const char *name;
  const AstStmt *stmt;
  bool is_prelude;
  enum { OWNS_UNKNOWN, OWNS_VISITING, OWNS_NOTHING, OWNS_VARIABLES } owns;
};

/* A call with `_`: its parameters belong to the layer, each use shares them. */
struct Layer {
  Value callee;
  int count;     /* arguments, in the order written */
  Value *values; /* those of holes are unused */
  bool *is_hole;
  AstName *names; /* text NULL: positional */
  Span *spans;
  const char *path;
  Span span;
  const Layer *followed; /* of averaged(): the layer whose parameters it averages */
  Deferred *average;     /* and how: ema(0.99) */
};

/* optimizer, init or schedule with arguments. */
struct Deferred {
  Function *function;
  Value *arguments; /* one a formal */
  Span span;
  const AstExpr *expr; /* identity over the walks */
  const char *path;    /* of the frame that evaluated it */
  const char *scalar;  /* schedules: the name of the host scalar, once it has one */
};

/* Arguments as they were written, evaluated. */
typedef struct Argument {
  AstName name; /* text NULL: positional */
  Value value;
  Span span;
} Argument;

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

struct Builtin {
  const char *name;
  const char *signature; /* "sum(x: tensor, axis: axes = none, keep: bool = false)" */
  const char *doc;
  BuiltinFunction *call;
  int data;           /* an Op, for families */
  const char *family; /* of the documentation */
};

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
  Scope *scope;
  const AstBlock *body; /* NULL at the top level */
  const AstStmts *stmts;
  const char *binding; /* the name that the current statement binds for the first and only time */
  int owners;          /* calls that own variables on its right side */
  const char *label;   /* path of the nodes of the current statement */
  int loops;           /* `for`s around the current statement */
  ScanFrame *scan;     /* NULL outside */
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

/* ---- the elaborator ----------------------------------------------------------------------- */

/* What a body reads from the room around it: operands of its scan, in this order. */
typedef enum ArgumentKind {
  ARGUMENT_CARRY,
  ARGUMENT_SEQUENCE,
  ARGUMENT_INVARIANT,
  ARGUMENT_KINDS
} ArgumentKind;

typedef struct RoomArgument {
  ArgumentKind kind;
  Node *outer; /* in the room around */
  Node *leaf;
} RoomArgument;

/* A graph under construction. */
typedef struct Room {
  Graph *graph;
  VEC(bool) is_host;   /* by node id */
  VEC(Node *) scalars; /* one leaf a name */
  double bytes;        /* of all nodes */
  int stream;          /* of random operators */
  const char *key;     /* of random operators; NULL: the path of the call */
  bool is_host_only;   /* host and finish: everything is f64 */
  struct Room *outer;  /* of a scan's body or a gradient: the room around it; else NULL */
  bool is_rule;        /* a gradient of one's own (own_gradient.c) */
  int64_t length;      /* of a scan's body: steps */
  VEC(RoomArgument) arguments;
} Room;

typedef struct TrainPlan TrainPlan; /* train.h */

/* A group of parameters that says `frozen` (frozen.c). */
typedef struct FrozenGroup {
  const AstEntry *entry;
  bool frozen;
} FrozenGroup;

typedef struct Walk {
  EntryKind entry;
  bool training;
  bool single; /* batch of one */
  Room room;
  Scope *globals;
  VEC(Slot *) slots;
  Scope *slot_names;   /* by path: symbols with a slot */
  Scope *keys;         /* random keys given out */
  VEC(Output) results; /* predict */
  TrainPlan *train;    /* NULL until the block is reached */
  bool knows_frozen;   /* the groups below were looked up */
  VEC(FrozenGroup) frozen_groups;
  int64_t statements; /* executed, and rounds of loops */
  int64_t elements;   /* of lists made */
  bool exhausted;     /* a limit was reached and reported */
} Walk;

typedef struct HostScalar {
  const void *identity; /* the call in the tree */
  const char *path;     /* of the frame that made it */
  const char *name;     /* output of the host graph */
} HostScalar;

struct Elaborator {
  Arena *arena;
  Diagnostics *diagnostics;
  const AstProgram *program;
  const ElaborateOptions *options;
  Module *module;
  Scope *root; /* builtins and prelude */
  Walk *walk;
  Room *room;
  int64_t checked_indices; /* check_index nodes so far */
  Room init, host;
  Frame *frame;
  Span at;         /* the expression being evaluated */
  int errors;      /* reported, repetitions included */
  int depth;       /* of evaluate() */
  int owner_depth; /* of paths.c looking through defs */
  DType default_float;
  double loss_scale;      /* of train; a power of two */
  bool uses_grad;         /* the program may ask for gradients as values */
  const char *batch_name; /* NULL until an input tells */
  VEC(Usage *) usages;
  Usage **usage_table; /* hash by the name's place in the tree */
  int usage_capacity;
  VEC(Function *) functions;
  VEC(HostScalar) scalars;
  Scope *variable_names;         /* by path: symbols with the number of the module's variable */
  VEC(const AstStmt *) sections; /* train and predict blocks seen */
  bool *definition_used;         /* by number of -D */
  AstExpr **definition_exprs;
};

/* ---- messages (report.c) ------------------------------------------------------------------ */

/* An error at `at` with the chain of calls; in the prelude the caret goes to the user's call. */
Diagnostic *report_error(Elaborator *e, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
Diagnostic *report_warning(Elaborator *e, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Where a tensor came from, with its type. */
void report_note_tensor(Elaborator *e, Diagnostic *diagnostic, const char *what, const Node *node);
void report_suggest(Diagnostic *diagnostic, const char *name, const char *const *candidates,
                    int count);
/* The candidate that was probably meant, by its spelling or as another framework's word; or NULL. */
const char *report_meant(const char *name, const char *const *candidates, int count);
/* Which candidate another framework's word means; NULL when none (synonyms.c). */
const char *synonym_find(const char *name, const char *const *candidates, int count);
/* "an integer" where another was found: "WHAT must be WANTED, found FOUND". */
Value report_kind(Elaborator *e, Span at, const char *what, const char *wanted, Value found);
/* The place in the user's file that stands for `at`. */
Span report_user_span(const Elaborator *e, Span at);
const char *type_text(Arena *arena, Type type);
const char *shape_text(Arena *arena, Shape shape);

/* ---- building nodes (build.c) ------------------------------------------------------------- */

Room room_create(Arena *arena, const char *name, int stream);
/* After nodes were added to the graph by other hands (graph_copy_tree). */
void room_sync(Elaborator *e);
/* NULL after an error, which is reported at e->at. */
Node *emit(Elaborator *e, Op op, int operand_count, Node *const *operands, int attribute_count,
           const Attribute *attributes);
Node *emit_leaf(Elaborator *e, Op op, Type type, int attribute_count, const Attribute *attributes);
Node *emit_unary(Elaborator *e, Op op, Node *x);
Node *emit_binary(Elaborator *e, Op op, Node *x, Node *y);
Node *emit_constant(Elaborator *e, double value, Type type);
Node *emit_scalar(Elaborator *e, const char *name); /* a host scalar leaf, one an entry */
Node *emit_cast(Elaborator *e, Node *x, DType dtype);
/* The axis `from` at place `to`, the others in their order; NULL of NULL (scan.c). */
Node *move_axis(Elaborator *e, Node *x, int from, int to);
/* check_index.c: `index`, which `taker` ("pick") uses along axis `axis` of that extent; checked where
 * the executable is to check. */
Node *emit_check_index(Elaborator *e, Node *index, const char *taker, int axis, int64_t extent);
Node *emit_reshape(Elaborator *e, Node *x, Shape shape);
Node *emit_transpose(Elaborator *e, Node *x, const int *permutation);
/* NumPy broadcasting; the shapes must fit. */
Node *emit_broadcast(Elaborator *e, Node *x, Shape shape);
Node *emit_broadcast_axes(Elaborator *e, Node *x, Shape shape, const int64_t *axes);
Node *emit_slice(Elaborator *e, Node *x, const int64_t *start, const int64_t *stop,
                 const int64_t *step);
Node *emit_reduce(Elaborator *e, Op op, Node *x, int axis_count, const int64_t *axes);
Node *emit_concat(Elaborator *e, int count, Node *const *parts, int axis);
/* A tensor value; NULL gives an error value. */
Value value_tensor(Elaborator *e, Node *node);
/* Room for `count` more elements of lists; else reports. */
bool allow_elements(Elaborator *e, int64_t count);
bool node_is_host(const Elaborator *e, const Node *node);
/* True when a tensor of this shape may exist; else reports. */
bool check_shape(Elaborator *e, Span at, Shape shape);
/* True when a tensor may have so many axes; else reports. */
bool check_rank(Elaborator *e, Span at, int rank);

/* ---- conversions (convert.c) -------------------------------------------------------------- */

/* A value as a node of the current graph: tensors, numbers (as `dtype`), nested lists of numbers,
 * schedules, quantities. NULL after an error. */
Node *convert_tensor(Elaborator *e, Value value, DType dtype, Span at);
/* True, and reported, of several tensors under one name, which would be stacked unasked. */
bool convert_refuse_results(Elaborator *e, Value value, Span at);
/* The same where a tensor keeps its own type; numbers become the default float, i32 or bool. */
/* The dtype that a value becomes there. */
DType convert_own_dtype(Elaborator *e, Value value);
Node *convert_any_tensor(Elaborator *e, Value value, Span at);
/* As the type of a variable: weak numbers and host scalars adapt, shapes broadcast. */
Node *convert_to_type(Elaborator *e, Value value, Type type, Span at, const char *what);
/* Whether a number is representable; else reports. */
bool convert_fits(Elaborator *e, Value number, DType dtype, Span at);
/* Quantities and schedules become what arithmetic knows. */
Value convert_plain(Elaborator *e, Value value, Span at);
bool convert_int(Elaborator *e, Value value, Span at, const char *what, int64_t *result);
bool convert_number(Elaborator *e, Value value, Span at, const char *what, double *result);
/* A shape: an integer or a sequence of integers; `allow_negative` admits one -1. */
bool convert_shape(Elaborator *e, Value value, Span at, const char *what, bool allow_negative,
                   Shape *shape);
/* Axes in [0, rank), sorted and unique; none gives all. */
bool convert_axes(Elaborator *e, Value value, Span at, int rank, int *count, int64_t *axes);
bool convert_axis(Elaborator *e, Value value, Span at, int rank, int *axis);

/* ---- evaluation --------------------------------------------------------------------------- */

Value evaluate(Elaborator *e, const AstExpr *expr); /* expression.c */
Value operate_binary(Elaborator *e, AstOperator op, Value a, Value b, Span a_at, Span b_at);
Value operate_unary(Elaborator *e, AstOperator op, Value a, Span a_at); /* operators.c */
Value operate_matmul(Elaborator *e, Value a, Value b, Span a_at, Span b_at);
/* Whether products are summed in the type: floats, i32 and i64. */
bool dtype_is_product(DType dtype);
/* Of i32 and i64, the operands of a product, both become i64. */
void widen_product(Elaborator *e, Node **x, Node **y);
/* Common type of two tensor operands, broadcast; false after an error. */
bool operate_unify(Elaborator *e, const char *what, Value a, Value b, Span a_at, Span b_at,
                   Node **x, Node **y);
Value evaluate_index(Elaborator *e, const AstExpr *expr); /* index.c */
Value evaluate_call(Elaborator *e, const AstExpr *expr);  /* call.c */
Value call_value(Elaborator *e, Value callee, const Arguments *arguments);
/* Runs the body of a definer with its formals bound and `ambient` names. */
Frame *call_definer(Elaborator *e, const Deferred *deferred, int ambient_count,
                    const Symbol *ambient, const char *path);
/* An application with default arguments; NULL after an error. */
Deferred *call_defaults(Elaborator *e, Function *function, Span at);
bool bind_builtin(Elaborator *e, const Builtin *builtin, const Arguments *arguments, Bound *bound);
void evaluate_block(Elaborator *e, const AstStmts *stmts); /* statement.c */
/* Checks a tensor argument against the type written at a formal. */
bool check_formal_type(Elaborator *e, const AstFormal *formal, Value value, Span at);
/* A written type; dims may be shapes. False after an error. */
bool evaluate_type(Elaborator *e, const AstType *ast, Type *type);

/* ---- scans (scan.c) ----------------------------------------------------------------------- */

Value evaluate_scan(Elaborator *e, const AstExpr *expr);
/* The same where `wanted` names are bound: final carries follow what is yielded if they fit. */
Value evaluate_scan_for(Elaborator *e, const AstExpr *expr, int wanted);
void evaluate_yield(Elaborator *e, const AstStmt *stmt);
/* A node of a room around the current one as an argument of the bodies between; NULL when `graph` is
 * not around. */
Node *scan_capture(Elaborator *e, Node *node, const Graph *graph);
/* A random leaf; inside a body, one drawn outside for all steps. */
Node *scan_random(Elaborator *e, Op op, Type type, int attribute_count,
                  const Attribute *attributes);

/* ---- operators of one's own (extern.c) ---------------------------------------------------- */

/* In the frame of the call, with the formals bound to `values`. */
Value evaluate_extern(Elaborator *e, const Function *function, Span call, const Value *values);

/* ---- gradients of one's own (own_gradient.c) ---------------------------------------------- */

/* In the frame of a call that gave `result`: the same with the gradient that the def has behind
 * it. `values` are those of its formals. */
Value own_gradient(Elaborator *e, const Function *function, Span call, const Value *values,
                   Value result);
/* Whether the room is a gradient or inside of one. */
bool room_in_rule(const Room *room);

/* ---- layers that follow others (follow.c) ------------------------------------------------- */

/* Whether the parameter of this path is an average of another layer's: then a state. */
bool follow_is_average(const Elaborator *e, const char *path);
/* That state; new in this walk. */
Slot *follow_slot(Elaborator *e, const char *path, Type type, Span span);

/* ---- gradients as values (grad.c) --------------------------------------------------------- */

/* Whether the text has the name `grad`: then gradients of one's own matter to evaluation, too. */
bool grad_is_mentioned(const SourceFile *file);

/* ---- builtins ----------------------------------------------------------------------------- */

extern const Builtin builtins_math[], builtins_shape[], builtins_reduce[], builtins_window[],
    builtins_random[], builtins_other[], builtins_schedule[], builtins_gradient[],
    builtins_follow[];
void builtins_bind(Elaborator *e);
/* The i-th table and its family; NULL at the end. */
const Builtin *builtins_table(int i);
extern const Builtin documented_words[]; /* no functions: words.c */
Value builtin_einsum(Elaborator *e, const Bound *bound);
/* The parts of a signature: name, kind and default text of formal `i`; false past the end. */
typedef struct FormalText {
  char name[32], kind[16], fallback[32];
  bool is_variadic, has_fallback;
} FormalText;
bool builtin_formal(const Builtin *builtin, int i, FormalText *formal);

/* ---- paths (paths.c) ---------------------------------------------------------------------- */

const char *path_join(const char *parent, const char *element);
/* The path of a call of `function` from the current frame. */
const char *path_of_call(Elaborator *e, Function *function, const char *name);
const char *path_of_layer(Elaborator *e, Value callee, const char *name);
/* Of a layer that `function`, a builtin, makes of another. */
const char *path_of_copy(Elaborator *e, const char *function);
/* Sets frame->binding and ->owners for the statement that binds `names` to `value`. */
void path_begin_statement(Elaborator *e, const AstNames *names, const AstExpr *value);
const char *path_unique_key(Elaborator *e);

/* ---- variables (variables.c) -------------------------------------------------------------- */

void declare_variable(Elaborator *e, const AstStmt *stmt);
void store_variable(Elaborator *e, const AstStmt *stmt);
/* f32 for bf16 and f16: the type of what is kept of a variable beside it, states of optimizers and
 * averages. */
Type type_widened(Type type);
Slot *find_slot(const Walk *walk, const char *path);
Variable *find_variable(const Elaborator *e, const char *path); /* NULL when there is none */
/* In evaluation, the leaf that stands for a parameter with an average; else NULL (average.c). */
Node *average_leaf(Elaborator *e, const char *path, Type type);
/* The initial value of `slot` for the variable `path`, too. */
void initialize_like(Elaborator *e, const Slot *slot, const char *path);
/* Stores into `average` what the definer makes of it and of the value that it averages. */
void move_average(Elaborator *e, Deferred *definer, Slot *average, Node *value);
/* An optimizer's own state without a declaration: "path:accumulated". */
Slot *create_slot(Elaborator *e, VariableKind kind, const char *path, Type type, Span span);
/* What a reader sees of it; in the body of a scan, too. */
Value value_slot(Elaborator *e, const Slot *slot);
void store_slot(Elaborator *e, Slot *slot, Node *value);
/* In an initial value: what the parameter of this leaf begins with; NULL after a diagnostic. */
Node *first_of_variable(Elaborator *e, const Node *leaf, Span at);
void report_not_initial(Elaborator *e, Value tensor, Span at);
/* Evaluates an initial value in the init graph and stores it. */
void initialize_variable(Elaborator *e, const char *path, Type type, const AstExpr *expr,
                         Value given, Span at);

/* ---- plateaus (plateau.c) ----------------------------------------------------------------- */

/* Behind metrics_build: the metrics and data sets that plateaus follow are there. */
void check_plateaus(Elaborator *e);

/* ---- sections ----------------------------------------------------------------------------- */

void evaluate_data(Elaborator *e, const AstStmt *stmt); /* data.c */
void check_data(Elaborator *e);
void evaluate_train(Elaborator *e, const AstStmt *stmt);   /* train.c */
void evaluate_predict(Elaborator *e, const AstStmt *stmt); /* predict.c */
/* The value of a schedule as a leaf of the current graph; NULL after an error. */
Node *host_schedule(Elaborator *e, Deferred *deferred, const char *name); /* host.c */
void host_ambient(Elaborator *e, Symbol ambient[4]);

Usage *usage_of(Elaborator *e, const AstName *name, const char *what);
void warn_unused(Elaborator *e);

/* The text of -D for `name`, or NULL. */
AstExpr *definition_find(Elaborator *e, const char *name);

#endif
