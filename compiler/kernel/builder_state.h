/* Inside of the builder: its state, and what build.c (values) and build_kernel.c (stores,
 * templates) call of each other. */
#ifndef NNC_KERNEL_BUILDER_STATE_H
#define NNC_KERNEL_BUILDER_STATE_H

#include "kernel/builder.h"

typedef struct Memo Memo; /* a value already built */
struct Memo {
  Memo *next;
  const Node *node;
  const Guard *guard; /* the innermost guard at that time */
  Index *at[MAX_RANK];
  Expr *value;
};

enum { MEMO_BUCKETS = 64 };

typedef VEC(const char *) NameList;

/* One loop: the domain alone, a reduction's, or that of a store stage. */
typedef struct Loop Loop;
struct Loop {
  Loop *outer;
  int axis_count; /* inner axes */
  int64_t extent[KERNEL_MAX_AXES];
  Memo *memo[MEMO_BUCKETS];
};

typedef struct Anchor {
  const Node *node;
  Index *at[MAX_RANK];
} Anchor;

/* Guards in force, innermost first. */
typedef struct GuardScope GuardScope;
struct GuardScope {
  GuardScope *outer;
  int count;
  const Guard *guards;
};

struct KernelBuilder {
  Arena *arena;
  const BuilderHost *host;
  Kernel *kernel;
  /* the frame */
  const Node *node;
  Index *const *at;
  Expr *returned;
  /* the loop */
  Loop *loop;
  int64_t extents[2 * KERNEL_MAX_AXES];
  GuardScope *guards;
  Expr *result; /* of the template */
  const Node *template_node;
  bool reduced;     /* the frame's rule has made a stage */
  Memo *reductions; /* values over EXPR_STAGE; for all loops */
  VEC(Anchor) anchors;
  VEC(KernelOperand) operands;
  VEC(const Node *) nodes; /* by operand */
  VEC(int64_t) starts;     /* by operand: the node's element that it begins with */
  NameList scalars, keys;
  VEC(Stage) stages;
  VEC(Store) stores; /* of the open store stage or the epilogue */
  const char *failure;
  const Node *blame;
};

/* build.c */
void builder_fail(KernelBuilder *builder, const Node *blame, const char *reason);
/* The element of `node` at `at`, whatever it takes. */
Expr *builder_element(KernelBuilder *builder, const Node *node, Index *const *at);
Expr *builder_new_expr(KernelBuilder *builder, ExprKind kind, DType dtype);
int builder_add_operand(KernelBuilder *builder, const Node *node, int64_t start, bool is_output);
int builder_operand_number(KernelBuilder *builder, const Node *node, bool is_output);
/* How far apart neighbours along each axis lie in the node's memory. */
void builder_node_strides(const KernelBuilder *builder, const Node *node, int64_t *stride);
/* The element of the node's memory at `at`. */
Index *builder_flat_index(KernelBuilder *builder, const Node *node, Index *const *at);
void builder_normalize_point(KernelBuilder *builder, const Node *node, Index *const *asked,
                             Index **at);
void builder_open_loop(KernelBuilder *builder, int axis_count, const int64_t *extents);
void builder_close_loop(KernelBuilder *builder);

#endif
