/* The program's side of the builder: it opens a kernel over a domain, asks for values of nodes at
 * points, and stores them.  The program decides, by a BuilderHost, what the kernel
 * computes itself and what it loads.
 *
 * A request that one kernel cannot fulfil (a reduction inside of another loop's axes, a value that
 * the kernel itself stores but at another point, an index load under a guard, an operand of a
 * template that is no strided view) does not stop the work: it is remembered with the node to
 * blame, and the program builds again after putting that node into a kernel of its own. So fusion
 * needs no second copy of the rules: it tries. */
#ifndef NNC_KERNEL_BUILDER_H
#define NNC_KERNEL_BUILDER_H

#include "kernel/build.h"

struct Target; /* target/target.h */
struct Layout; /* kernel/layout.h */

typedef struct BuilderHost {
  void *context;
  /* True when the kernel computes `node` itself; else it is loaded from its buffer. */
  bool (*is_computed)(void *context, const Node *node);
  /* The operator's rule. */
  void (*lower)(KernelBuilder *builder, const Node *node);
  const struct Target *target; /* that the kernel is for */
  /* How `node` lies in memory; NULL, the function or what it says: row-major. */
  const struct Layout *(*layout)(void *context, const Node *node);
  bool keeps_weights; /* templates may read parameters from copies that stay from run to run */
} BuilderHost;

KernelBuilder *builder_create(Arena *arena, const BuilderHost *host, int axis_count,
                              const int64_t *extents);
/* `node` is one that the kernel may store: it is asked for at `at` and nowhere else. */
void builder_anchor(KernelBuilder *builder, const Node *node, Index *const *at);
/* Opens a store stage with inner axes, numbered after the domain's. */
void builder_begin_stores(KernelBuilder *builder, int axis_count, const int64_t *extents);
/* In a store stage or, for a template kernel, in its epilogue: node's value at `at` into an
 * operand of the node's own. */
void builder_store(KernelBuilder *builder, const Node *node, Index *const *at);
void builder_end_stores(KernelBuilder *builder);
/* Runs the rule of a template node over the domain of its result; its value is EXPR_RESULT
 * then. */
void builder_template(KernelBuilder *builder, const Node *node);

/* Runs the rule of `node` at the domain's point; true when it is a template. */
bool builder_probe(KernelBuilder *builder, const Node *node);

/* What went wrong first: a phrase, and the node to blame; NULL when all is well. */
const char *builder_failure(const KernelBuilder *builder, const Node **blame);

typedef struct BuiltKernel {
  Kernel *kernel;
  const Node **nodes;   /* by operand: the node loaded or stored */
  int64_t *starts;      /* by operand: the node's element that it begins with; 0 but for views */
  const char **scalars; /* by scalar number: its name */
  const char **keys;    /* by number of the key */
} BuiltKernel;
/* The name and comment are set by the caller. */
BuiltKernel builder_finish(KernelBuilder *builder);

/* Joins adjacent axes wherever every access treats them as one, and makes indices as short as they get. */
void kernel_collapse(Arena *arena, Kernel *kernel);
/* Makes all rows of a contraction but the innermost axis part of its batch, where it is turned (contract_is_turned): what
 * it stores then goes along memory for many rows, without a division for each. */
void kernel_part_turned_rows(Kernel *kernel);
/* The same as kernel_collapse of a loop's domain and stages; of axes `axis` and `axis + 1` of a domain alone: false
 * when an access would not treat them as one. */
void kernel_collapse_stages(Arena *arena, Kernel *kernel);
bool kernel_collapse_pair(Arena *arena, Kernel *kernel, int axis);
/* x / s becomes x * (1 / s) where s is the same in the whole launch; 1 / s leaves the loops. */
void kernel_multiply_by_reciprocals(Arena *arena, Kernel *kernel);
/* Operands that are only read become the part that is read; first[i]: the element that operand i
 * begins with afterwards. */
void kernel_trim_operands(Arena *arena, Kernel *kernel, int64_t *first);
/* Makes operand `from` the same memory as `into`: an update in place.  Both are accessed at equal
 * indices only (kernel_can_unify). */
bool kernel_can_unify(const Kernel *kernel, int into, int from);
void kernel_unify(Arena *arena, Kernel *kernel, int into, int from);

/* Expressions, operands before users, each once. */
typedef VEC(Expr *) ExprList;
/* Stages of a loop kernel; for a template kernel one: its epilogue. */
int kernel_stage_count(const Kernel *kernel);
Stage kernel_stage(const Kernel *kernel, int stage);
ExprList kernel_expressions(Arena *arena, const Kernel *kernel, int stage);

/* index_substitute with the extents of the axes that the new indices are over. */
Index *index_substitute_in(Arena *arena, Index *index, Index *const *by, int count,
                           const int64_t *extents, int axis_count);
/* Quotients of a complete index without the terms that never reach the next one. */
Index *index_shorten(Arena *arena, Index *index, const int64_t *extents, int axis_count);
/* The number by which `part` must be multiplied to take its first term out of `index`. */
bool index_factor(Arena *arena, const Index *index, const Index *part, int64_t *factor);

#endif
