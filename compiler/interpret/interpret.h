/* The reference interpreter: evaluates any graph slowly and plainly in double. */
#ifndef NNC_INTERPRET_INTERPRET_H
#define NNC_INTERPRET_INTERPRET_H

#include "graph/module.h"
#include "ops/tensor.h"

/* Values of leaves by op kind and name; copied by the interpreter, never kept. */
typedef struct Binding {
  Op op;            /* OP_INPUT, OP_PARAM, OP_STATE, OP_SCALAR */
  const char *name; /* interned */
  const Tensor *value;
} Binding;

typedef struct Evaluation Evaluation;

/* Evaluates every node that an output depends on.  Panics on a leaf without binding or with a
 * binding of another shape. `arena` owns the values. */
Evaluation *graph_evaluate(Arena *arena, const Graph *graph, int binding_count,
                           const Binding *bindings, const EvaluateContext *context);
/* The value of a node or of output number `i`. */
const Tensor *evaluation_node(const Evaluation *evaluation, const Node *node);
const Tensor *evaluation_output(const Evaluation *evaluation, int i);

Tensor *tensor_create(Arena *arena, Type type); /* zeros */

/* A whole training run in double: variables start from the init entry (or are set), then steps. */
typedef struct Interpreter Interpreter;
Interpreter *interpreter_create(Arena *arena, const Module *module, uint64_t seed);
/* Current value of a variable; writing into it is allowed. */
Tensor *interpreter_variable(Interpreter *interpreter, const char *path);
/* Runs one entry (train, accumulate, eval, ...) on inputs bound by name, with host scalars from the host
 * entry at step t (from 1) and the given epoch; performs its stores. Results are output values. */
Evaluation *interpreter_run(Interpreter *interpreter, EntryKind entry, int input_count,
                            const Binding *inputs, int64_t t, int64_t epoch, int64_t steps,
                            int64_t steps_per_epoch);
#endif
