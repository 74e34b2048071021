/* What the compiler asks of an operator: one OpClass record each, beside its rules in ops/.
 *
 * Passes ask these properties and never name operators; only ops/ and passes/rules/ do. */
#ifndef NNC_OPS_OP_H
#define NNC_OPS_OP_H

#include "graph/graph.h"
#include "kernel/kernel.h"
#include "ops/infer.h"
#include "ops/make.h"
#include "ops/philox.h"
#include "ops/tensor.h"
#include "target/target.h"

typedef enum OpFamily {
  FAMILY_LEAF,
  FAMILY_ELEMENTWISE,
  FAMILY_REDUCTION,
  FAMILY_MOVEMENT,
  FAMILY_CONTRACTION,
  FAMILY_CONVOLUTION,
  FAMILY_POOLING,
  FAMILY_INDEXING,
  FAMILY_ATTENTION,
  FAMILY_RANDOM,
  FAMILY_SCAN,
  FAMILY_EXTERN,
  FAMILY_SPECIAL
} OpFamily;

/* Leaves that stand for something of the module; ATTR_NAME says what, but for constants. */
typedef enum LeafKind {
  LEAF_NONE, /* not a leaf, or one that needs nothing from outside (iota, random) */
  LEAF_INPUT,
  LEAF_PARAM,
  LEAF_STATE,
  LEAF_SCALAR,
  LEAF_CONSTANT,
  LEAF_ARGUMENT /* only in the body of a scan */
} LeafKind;

/* What an operator on f32 becomes with train { precision = bf16 } or f16; passes/mix.c. */
typedef enum MixRule {
  MIX_WIDE,   /* computed in f32 */
  MIX_NARROW, /* of operands of 16 bits, summed in f32; the result has 16 bits */
  MIX_FOLLOW, /* in 16 bits where an operand has 16; the others too, or constants, parameters */
  MIX_SCALE   /* the same where just one has: the first, or any where operands commute */
} MixRule;

/* Answers of OpClass.cut that are no axis. */
enum {
  AXIS_WHOLE = -1, /* every piece reads all of the operand */
  AXIS_UNCUT = -2  /* there is no such axis, or no pieces along it */
};

typedef struct Cost {
  double flops; /* multiply-add counts two */
  double bytes; /* read and written once each */
} Cost;

/* The place where a gradient rule adds nodes. */
typedef struct GradientContext {
  Maker maker;   /* with the forward node's place, and a path that ends in ".grad" */
  Node *node;    /* being differentiated */
  Node *adjoint; /* of `node`; its type */
} GradientContext;

typedef struct OpClass {
  OpFamily family;
  /* Sets `type` to that of the result; false with a reason when operands or attributes do not fit. */
  bool (*infer)(Inference *in);
  /* The adjoint of operand `i`, or NULL when it is zero everywhere (integer, index, comparison).
   * NULL rule: no operand has a gradient. */
  Node *(*gradient)(const GradientContext *context, int operand);
  /* Plain evaluation in double; result is allocated with the node's shape. */
  void (*evaluate)(const Node *node, const Tensor *const *operands, Tensor *result);
  /* Random operators instead: an element, given its block of words. CSE never merges them. */
  double (*draw)(PhiloxBlock block, uint64_t element);
  /* NULL: no flops, bytes of operands and result. */
  Cost (*cost)(const Node *node);
  /* Elementwise operators only: one element, given the result's dtype. NULL for cast, which needs
   * the operand's too: folding asks node_scalar(). */
  double (*scalar)(const double *operands, DType dtype);
  /* The kernel that computes the node from its operands alone (kernel/build.h); NULL for leaves
   * and for those that the differentiate pass removes. */
  void (*lower)(KernelBuilder *builder, const Node *node);
  /* The same value from these operands (the node's, in another graph) by nodes that lower better for
   * the target; NULL when the node is as good. NULL rule: it always is. */
  Node *(*prepare)(const Maker *maker, const Target *target, const Node *node,
                   Node *const *operands);
  /* The kind of kernel (kernels.def, SOME_KERNEL) without which a target cannot compute the operator;
   * KERNEL_LOOP: every target can. */
  KernelKind needs;
  /* For targets without that kind: the same value from these operands by operators that all have. */
  Node *(*expand)(const Maker *maker, const Node *node, Node *const *operands);
  /* For targets without that kind that have the kind `whole`: the same value from these operands as a part
   * of the result of an operator that needs it. NULL rule: it is part of none. */
  KernelKind whole;
  Node *(*part)(const Maker *maker, const Node *node, Node *const *operands);
  /* When operand `i` holds indices: how many values they may take (indices lie in [0, n)); else 0.
   * NULL rule: no operand does. The runtime checks data against it before training. */
  int64_t (*index_bound)(const Node *node, int operand);
  /* How the operator is computed in equal pieces, one after the other. Its loop runs over the axes
   * of the result and, numbered after these, those that it sums over. The axis of operand `operand`
   * that is cut along with axis `axis` of the loop, or an answer from above; the same one for any
   * number of pieces that divides both extents. A piece is the same operator, ATTR_SHAPE and
   * ATTR_STOP being as large as the result's piece. NULL rule: never. Micro-batches cut by it, and
   * ops/flow.h follows single examples by it: without a rule an operator mixes them. */
  int (*cut)(const Node *node, int axis, int operand);
  Op join;           /* what joins the pieces along axes that it sums over: OP_ADD, OP_MAX, ... */
  bool commutes;     /* a op b == b op a */
  bool is_costly;    /* an element is worth storing rather than computing twice: exp, random */
  LeafKind leaf;     /* what the verifier looks up in the module, and hoisting asks */
  bool owns_body;    /* a scan: node->body is what one step computes */
  bool owns_rule;    /* an own_gradient: node->rule is what its operands receive */
  bool keeps_order;  /* the elements of operand 0 in the same row-major order: a reshape */
  bool stands_alone; /* its value is stored; a template's kernel computes nothing else */
  /* differentiation takes its value for a constant, so central differences compute it
   * once and keep it while they change a parameter */
  bool is_constant;
  /* what the forward part notes down of its values for the gradients, so that they need not stay */
  bool is_note;
  /* its loop compares what it reads with what it has read: both must be the same bits, of memory */
  bool reads_twice;
  bool is_alias;     /* its value is that of operand 0, whatever the others are */
  bool moves_values; /* elements of the result are elements of operand 0, perhaps converted */
  MixRule mix;
} OpClass;

typedef struct OpInfo {
  const char *name;
  int least_operands, most_operands; /* most -1: any */
  const OpClass *class;
} OpInfo;

/* OpClass.evaluate of what has the elements of operand 0 in their order. */
void evaluate_copy(const Node *node, const Tensor *const *operands, Tensor *result);
const OpInfo *op_info(Op op);
/* "+": what stands between two operands where people write them; NULL: the operator is written as a function. */
const char *op_sign(Op op);
/* Whether the target has what the operator needs. A target of NULL has what all have. */
bool op_has_kernel(Op op, const Target *target);
/* The same of the operator with these operands: heads of attention may be too deep for its kernels. */
bool node_has_kernel(const Node *node, const Target *target);
/* Kernels for attention and its adjoints, apart or together. */
bool op_attention_has_kernels(const Target *target);
bool op_attention_fits(const Target *target, DType dtype, int64_t depth, int64_t value_depth);
bool op_attention_gains(const Target *target, const AttentionUse *use);
/* False: its kernels of attention are slower than products, which alone have tensor cores. */
bool op_attention_has_units(const Target *target, DType dtype, int64_t depth, int64_t value_depth);
/* Whether cheap values that gradients need are computed again there (Target.computes_again). */
bool op_values_are_remade(const Target *target);
/* By node id: the forward part, which the accumulators (loss, metrics) depend on, with what it notes down for the
 * gradients (OpClass.is_note). */
bool *op_forward_nodes(Arena *arena, const Graph *graph);
/* The type of the node by its operator's rule; false with *reason, in the arena. */
bool node_infer(Arena *arena, const Node *node, Type *type, const char **reason);
bool op_is_elementwise(Op op);
/* Whether the node is another one in other order or shape: its value may have the same memory. */
bool op_is_view(const Node *node);
bool op_joins_parts(const Node *node); /* pad, concat */
/* Whether adjoints go on to operands: by the operator's rule, or, for scans and their results, by
 * that of the graph that the scan owns (scan_gradient.c). */
bool op_passes_gradient(Op op);
bool node_passes_gradient(const Node *node); /* the same, and the node is a float */
Cost node_cost(const Node *node);
double node_bytes(const Node *node); /* of operands and result */
Cost cost_nothing(const Node *node); /* OpClass.cost of what does no work */
/* An element of it takes many operations: a loop had better keep it than compute it again. */
bool node_is_expensive(const Node *node);
/* Whether it is a transposition that moves axis 1, of channels, to the end, and nothing else. */
bool node_ends_with_channels(const Node *node);
/* The value of a node, given those of its operands; not of scans. */
void node_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                   const EvaluateContext *context);
/* One element of an elementwise node, given those of its operands: what `evaluate` computes. */
double node_scalar(const Node *node, const double *operands);

/* A record whose rules bear its name; what follows are more of its fields. */
#define OP_CLASS(name, of_family, ...)                                                             \
  const OpClass op_class_##name = {.family = of_family,                                            \
                                   .infer = name##_infer,                                          \
                                   .gradient = name##_gradient,                                    \
                                   .evaluate = name##_evaluate,                                    \
                                   .lower = lower_##name,                                          \
                                   .cut = name##_cut,                                              \
                                   __VA_ARGS__};

/* The records, one a line of ops.def. */
#define OP(identifier, name, least, most, table) extern const OpClass op_class_##table;
#include "ops/ops.def"
#undef OP

#endif
