/* Kernels: what one launch computes, independent of the target.
 *
 * A kernel is a nest of `axes` (its domain; all but reduction loops run in parallel) around a
 * short list of stages. Each stage is a loop over inner axes of its own that either reduces an
 * expression to a scalar or stores expressions into operands:
 *
 *     softmax rows, domain [b]:   stage 0  reduce max  over j:  m = x[b,j]
 *                                 stage 1  reduce sum  over j:  s = exp(x[b,j] - m)
 *                                 stage 2  store       over j:  y[b,j] = exp(x[b,j] - m) / s
 *
 * An elementwise kernel has one store stage without inner axes; a column sum (bias gradient) is
 * domain [n], one reduce over b, one store.  Template kernels (contraction, convolution, pooling,
 * scatter) have slots instead of a written-out nest: the target owns loop order and tiles; what is
 * fused into them is the `epilogue`, expressions over the template's result (EXPR_RESULT) and
 * other operands.
 *
 * Operands are flat arrays, accessed at an index that is an integer expression over the axes.
 * Nothing here knows offsets: a Program binds operands to buffers, so equal structure is one
 * kernel (key). */
#ifndef NNC_KERNEL_KERNEL_H
#define NNC_KERNEL_KERNEL_H

#include "graph/graph.h"

/* ---- integer index expressions, simplified on construction (kernel/index.c) ---- */

typedef enum IndexKind {
  INDEX_CONST,
  INDEX_AXIS, /* axis number: domain axes first, then the stage's inner axes */
  INDEX_ADD,
  INDEX_MUL, /* any two; MUL has a constant right side after simplification */
  INDEX_DIV,
  INDEX_MOD, /* floor division and modulus by a positive constant */
  INDEX_LOAD /* an integer loaded from an operand, clamped to [0, bound): gather */
} IndexKind;

typedef struct Index Index;
struct Index {
  IndexKind kind;
  int64_t value;       /* CONST; AXIS: its number; DIV, MOD: the divisor; LOAD: bound */
  Index *left, *right; /* LOAD: left is the element's index */
  int operand;         /* LOAD */
};

/* A condition 0 <= index < bound; padding and concat are loads under conditions. */
typedef struct Guard {
  Index *index;
  int64_t bound;
} Guard;

/* ---- scalar expressions: a DAG; shared nodes are computed once per point ---- */

typedef enum ExprKind {
  EXPR_CONST,  /* value */
  EXPR_LOAD,   /* operand[index], or `value` where a guard fails */
  EXPR_SCALAR, /* host scalar number `operand` of the launch (f64) */
  EXPR_INDEX,  /* an index as a number: iota */
  EXPR_OP,     /* an elementwise operator on args (also cast) */
  EXPR_STAGE,  /* result of the earlier reduce stage number `operand` */
  EXPR_RESULT, /* template kernels: the contraction's / convolution's element */
  EXPR_RANDOM  /* op: OP_RANDOM_*; index: the node's element; operand: number of the launch's key;
                 * stream; value: elements of one example. Counter: worker's example * value +
                 * index */
} ExprKind;

enum { EXPR_MOST_ARGS = 4 };

typedef struct Expr Expr;
struct Expr {
  ExprKind kind;
  DType dtype;
  Op op; /* OP, RANDOM */
  double value;
  int operand;
  int64_t stream;
  Index *index;
  int guard_count;
  Guard *guards;
  int arg_count;
  Expr *args[EXPR_MOST_ARGS];
};

/* ---- kernels ---- */

enum { KERNEL_MAX_AXES = 2 * MAX_RANK };

typedef enum StageKind { STAGE_REDUCE, STAGE_STORE } StageKind;

typedef struct Store {
  int operand;
  Index *index;
  Expr *value;
} Store;

typedef struct Stage {
  StageKind kind;
  int axis_count; /* inner axes; numbered after the domain's */
  int64_t extent[KERNEL_MAX_AXES];
  Op reduce;   /* OP_REDUCE_SUM, _MAX, _MIN, _PROD; OP_ARGMAX, OP_ARGMIN (one axis:
                                 * its index, i32) */
  Expr *value; /* STAGE_REDUCE */
  int store_count;
  Store *stores; /* STAGE_STORE */
} Stage;

typedef enum KernelKind {
#define KERNEL(identifier, name) KERNEL_##identifier,
#include "kernel/kernels.def"
  KERNEL_KIND_COUNT
} KernelKind;

/* A group of axes that behaves like one: extents with strides in an operand. */
typedef struct AxisGroup {
  int count;
  int64_t extent[MAX_RANK];
  int64_t stride[3][MAX_RANK]; /* in elements: [0] left, [1] right, [2] result; 0 where absent */
} AxisGroup;

/* Product of the extents; 1 when there are none. */
int64_t axis_group_extent(const AxisGroup *group);
/* Whether the element of a flat number lies that number of the last axis' strides from the first. */
bool axis_group_is_linear(const AxisGroup *group, int slot);

/* The types of the templates' slots. */
#define SLOTS(type, member, ...)                                                                   \
  typedef struct type {                                                                            \
    __VA_ARGS__                                                                                    \
  } type;
#include "kernel/kernels.def"

typedef struct KernelOperand {
  DType dtype;
  int64_t elements;
  bool is_output;   /* stored; an update in place also loads it, where it stores it */
  const char *name; /* for the emitted parameter, from the model: "h1_w" */
} KernelOperand;

typedef struct Kernel Kernel;
struct Kernel {
  KernelKind kind;
  const char *name; /* a C identifier from the model's names: "h1_relu" */
  int operand_count;
  KernelOperand *operands; /* template kernels: 0 left / x / dy, 1 right / w, then the rest */
  int scalar_count;        /* host scalars it reads, EXPR_SCALAR */
  int key_count;           /* random keys, EXPR_RANDOM */
  int axis_count;          /* the domain; template kernels: axes of the result (epilogue) */
  int64_t extent[KERNEL_MAX_AXES];
  int stage_count;
  Stage *stages;
#define SLOTS(type, member, ...) type member;
#include "kernel/kernels.def" /* those of its kind; the others are zero */
  int epilogue_count;         /* template kernels: one store at least */
  Store *epilogue;
  int64_t variant; /* of those in which the target has it; 0: the one that its cost model picks */
  bool is_serial;  /* one worker does all of it (block.h): cut for its caches alone */
  bool is_tight;   /* it takes less of a worker's block than is best for its time, if it can */
  bool has_few_registers; /* of vectors (Target); of contractions */
  bool is_x3;             /* products of f32 as three of bf16 (kernel_split_products) */
  bool is_tf32;           /* products of f32 (kernel_allow_tf32): operands may be rounded to tf32 */
  bool
      keeps_weights; /* a template reads operand 1 from a copy in its own order, which stays from run to run
                        * (Step.kept): the operand is read only to make that */
  DType accumulate; /* F32 or F64: of contractions and of reductions of floats; those of
                                 * integers are in i64 */
  const Kernel *
      feeder; /* computes what the template reads as operand 0, part by part (feed.h); NULL: memory */
  int *feed;           /* by operand of the feeder: which it is of this kernel; -1: its result */
  const char *comment; /* the expression and its place: "relu(x @ w + b), mnist.net:14" */
};

/* The type in which a contraction or convolution adds up: integers in theirs, floats in f32 or f64. */
DType kernel_sum_type(const Kernel *kernel);
/* A contraction of bf16 that adds up in f32, or a convolution that may be computed as one: some processors
 * multiply its pairs along k in one instruction, whose bits are its own (nnc_gemm_bf16.h). */
bool kernel_multiplies_bf16(const Kernel *kernel);
/* Whether what a contraction stores first goes along memory from row to row, not from column to column. */
bool contract_is_turned(const Kernel *kernel);
/* Sets is_x3 of a contraction, or of a convolution that is one, of f32. */
void kernel_split_products(Kernel *kernel);
/* Sets is_tf32 of a contraction, a convolution or attention of f32. */
void kernel_allow_tf32(Kernel *kernel);

/* Index arithmetic. */
Index *index_const(Arena *arena, int64_t value);
Index *index_axis(Arena *arena, int axis);
Index *index_add(Arena *arena, Index *a, Index *b);
Index *index_mul(Arena *arena, Index *a, int64_t factor);
Index *index_div(Arena *arena, Index *a, int64_t divisor, const int64_t *extents, int axis_count);
Index *index_mod(Arena *arena, Index *a, int64_t divisor, const int64_t *extents, int axis_count);
Index *index_load(Arena *arena, int operand, Index *element, int64_t bound);
/* Replaces axis i by by[i]. */
Index *index_substitute(Arena *arena, Index *index, Index *const *by, int count);
bool index_equal(const Index *a, const Index *b);
/* True with coefficients when the index is base + sum coefficient[i] * axis i. */
bool index_is_affine(const Index *index, int axis_count, int64_t *base, int64_t *coefficient);
/* Least and greatest value over the axes' extents (a load is within its bound); false when an axis
 * beyond axis_count is involved. */
bool index_range(const Index *index, const int64_t *extents, int axis_count, int64_t *least,
                 int64_t *greatest);

/* All but loops: slots instead of stages, and an epilogue. */
static inline bool kernel_is_template(const Kernel *kernel) { return kernel->kind != KERNEL_LOOP; }
/* How many operands, the first ones, the template itself reads; 0 for loops. */
int kernel_template_operands(const Kernel *kernel);
/* A text that is equal for two kernels exactly when they compute the same with equal structure
 * (names and comments left out): the key under which code is shared. */
const char *kernel_key(Arena *arena, const Kernel *kernel);
/* Readable form, for dumps and comments. */
void kernel_print(Text *text, const Kernel *kernel);
/* NULL, or what is wrong: axis and operand numbers, stage order, accesses outside an operand. */
const char *kernel_verify(Arena *arena, const Kernel *kernel);

typedef struct KernelBuilder KernelBuilder; /* kernel/build.h */

#endif
