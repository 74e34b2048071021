/* Indices and scalar expressions of kernels as text of a dialect. */
#ifndef NNC_BACKEND_COMMON_EXPRESSION_H
#define NNC_BACKEND_COMMON_EXPRESSION_H

#include "backend/common/code.h"
#include "backend/common/dialect.h"
#include "kernel/kernel.h"

/* An expression that was computed before, and the text of its value. */
typedef struct Hoisted {
  const Expr *expr;
  const char *name;
} Hoisted;

/* What the names in an expression stand for at the place where it is written. */
typedef struct ExprScope {
  Arena *arena;
  const Dialect *dialect;
  const Kernel *kernel;
  const char **operands; /* parameters, by operand */
  const char **blocks;   /* by operand: where stores write instead, unless NULL; NULL: none does */
  const char **scalars, **keys;
  const char *axes[2 * KERNEL_MAX_AXES]; /* variables: the domain's, then the stage's */
  int64_t extents[2 * KERNEL_MAX_AXES];
  int axis_count;
  const char **stages; /* text of each earlier stage's result */
  const char *result;  /* text of the template's element, of type result_dtype */
  DType result_dtype;
  int *temporaries; /* numbers used so far in this function: t0, t1, ... */
  VEC(Hoisted) hoisted;
  bool near; /* no argument is far: operators with a quick form for such are written in it */
  bool asks; /* the loop that is opened only asks whether any argument is far */
} ExprScope;

const char *expression_index(const ExprScope *scope, const Index *index);
/* An index as a factor: in parentheses unless it is a name or a number. */
const char *expression_index_atom(const ExprScope *scope, const Index *index);

/* The offset that an element of a group of axes has in an operand (slot); `flat` is the text of the
 * element's number, in parentheses unless it is a name.  NULL: it is 0, since no axis moves in the operand. */
const char *expression_group_offset(Arena *arena, const AxisGroup *group, int slot,
                                    const char *flat);

/* Whether an access of any stage or of the epilogue depends on the axis of the domain. */
bool expression_uses_axis(Arena *arena, const Kernel *kernel, int axis);

/* The same of the arguments of stage `number` that may be far. */
bool expression_asks_for_axis(const ExprScope *scope, int number, int axis);

/* Writes, before the loops over a stage's own axes, what is expensive and the same in all of them. */
void expression_hoist(Code *code, ExprScope *scope, int stage);
/* Whether the value that a stage reduces is expensive, and later stages over as many elements of one
 * axis compute it again, and no other ones: then it is worth a row of memory. */
bool expression_is_computed_again(const ExprScope *scope, int stage);
/* Writes temporaries for what is used more than once, and returns the text of every root: the
 * value of a reduction, or the stores' values. Roots may not be read from memory after the first
 * store: with several stores they are names of temporaries. */
const char **expression_render(Code *code, const ExprScope *scope, int stage);
/* A loop over points of a stage. `open` writes its head and the axes' names, `body` what it does;
 * `declare`, unless NULL, is called at the end of each loop and declares, at its beginning, the axes
 * that it turned out to use. */
typedef struct LoopParts {
  void (*open)(void *context);
  void (*body)(void *context);
  void (*declare)(void *context);
  void *context;
} LoopParts;

/* Whether a stage has operators that are long chains of operations, as exp. */
bool expression_is_costly(const ExprScope *scope, int stage);
/* Whether a stage has operators of which the runtime has a form for "near" arguments only, as sin. */
bool expression_has_near(const ExprScope *scope, int stage);
/* Writes the loop; where expression_has_near, twice, after a loop that asks whether an argument of
 * any of its points is far. It should run over at most some hundred points. */
void expression_write_loop(Code *code, ExprScope *scope, int stage, const LoopParts *parts);
/* Renders a stage and writes its stores; of a template the stage is its epilogue. */
void expression_write_stores(Code *code, const ExprScope *scope, int stage);

#endif
