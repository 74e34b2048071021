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
/* The same for the outputs alone: memory of other nodes is used again, their values are gone. */
Evaluation *graph_evaluate_outputs(Arena *arena, const Graph *graph, int binding_count,
                                   const Binding *bindings, const EvaluateContext *context);
/* The value of a node or of output number `i`. */
const Tensor *evaluation_node(const Evaluation *evaluation, const Node *node);
const Tensor *evaluation_output(const Evaluation *evaluation, int i);
/* The leaf's own value, for writing; then evaluation_refresh() computes again what depends on it,
 * but for what is constant to differentiation (stop_gradient, outside of scans): that stays. Only after graph_evaluate(). */
Tensor *evaluation_leaf(Evaluation *evaluation, const Node *leaf);
void evaluation_refresh(Evaluation *evaluation, const Node *leaf);

/* The first node with a value that is NaN, or else infinite, although the values that it was computed from are
 * finite; NULL: there is none. Only after graph_evaluate(). */
const Node *evaluation_find_odd(const Evaluation *evaluation, int64_t *element);
/* Where the infinity arose that an operand of the node has; NULL: none has one. */
const Node *evaluation_find_infinity(const Evaluation *evaluation, const Node *node);

Tensor *tensor_create(Arena *arena, Type type); /* zeros */

/* A whole training run in double: variables start from the init entry (or are set), then steps. */
typedef struct Interpreter Interpreter;
Interpreter *interpreter_create(Arena *arena, const Module *module, uint64_t seed);
/* Current value of a variable; writing into it is allowed. */
Tensor *interpreter_variable(Interpreter *interpreter, const char *path);
/* For random operators of an evaluation: the number of the batch's first example; 0 at first. */
void interpreter_set_example(Interpreter *interpreter, uint64_t example);
/* What the host knows before it computes schedules: the step, from 1, and the rest of module.h. */
typedef struct RunTime {
  int64_t t, epoch, steps, steps_per_epoch;
} RunTime;

/* Everything that an entry's leaves may ask for: variables, host scalars (through the host entry)
 * and the given inputs. In the arena; values are the interpreter's own. Returns their number. */
int interpreter_bind(Interpreter *interpreter, Arena *arena, int input_count, const Binding *inputs,
                     RunTime time, Binding **bindings);
/* Runs one entry (train, accumulate, eval, ...) on inputs bound by name, with host scalars from
 * the host entry at that time; performs its stores. `inputs` may also
 * bind host scalars (OP_SCALAR), as the finish entry needs: the accumulators by name. Results are
 * output values, valid until the end of the next run. Random operators see step t while training,
 * else 0. */
Evaluation *interpreter_run(Interpreter *interpreter, EntryKind entry, int input_count,
                            const Binding *inputs, RunTime time);
/* Frees what runs allocated; the interpreter itself belongs to its arena. */
void interpreter_destroy(Interpreter *interpreter);

#endif
