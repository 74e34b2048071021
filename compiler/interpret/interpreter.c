/* The interpreter of a whole run: the values of all variables between steps.
 *
 * An entry is evaluated on the variables as they stand, and its stores are performed afterwards,
 * all at once, as a compiled step does. Each run has an arena of its own, which lives until the
 * next run has ended. */
#include "interpret/interpret.h"

#include <string.h>

#include "support/names.h"
#include "support/panic.h"

struct Interpreter {
  Arena *arena;
  const Module *module;
  uint64_t seed, example;
  Tensor **values;  /* one a variable of the module, in its order */
  Arena *run_arena; /* of the latest run */
};

Tensor *interpreter_variable(Interpreter *interpreter, const char *path) {
  const Module *module = interpreter->module;
  for (int i = 0; i < module->variables.count; i++)
    if (strcmp(module->variables.items[i].path, path) == 0) return interpreter->values[i];
  panic("module %s has no variable %s", module->name, path);
}

/* The new values of variables; nothing reads old ones any more. */
static void store(Interpreter *interpreter, const Graph *graph, const Evaluation *evaluation) {
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind == OUTPUT_STORE)
      tensor_copy(interpreter_variable(interpreter, output->name)->data,
                  evaluation_output(evaluation, i));
  }
}

static Evaluation *run(Interpreter *interpreter, const Graph *graph, Arena *arena, int count,
                       const Binding *bindings, uint64_t step) {
  EvaluateContext context = {interpreter->seed, step, interpreter->example};
  Evaluation *evaluation = graph_evaluate_outputs(arena, graph, count, bindings, &context);
  store(interpreter, graph, evaluation);
  if (interpreter->run_arena) arena_destroy(interpreter->run_arena);
  interpreter->run_arena = arena;
  return evaluation;
}

typedef VEC(Binding) Bindings;

static const Tensor *number_tensor(Arena *arena, double number) {
  Tensor *value = tensor_create(arena, type_scalar(DTYPE_F64));
  value->data[0] = number;
  return value;
}

static void bind_number(Arena *arena, Bindings *bindings, const char *name, double number) {
  Binding binding = {OP_SCALAR, name_intern(name), number_tensor(arena, number)};
  vec_push(arena, bindings, binding);
}

/* What the executable is given on its command line; by default what the program says. */
static void bind_options(const Interpreter *interpreter, Arena *arena, Bindings *bindings) {
  for (int i = 0; i < interpreter->module->options.count; i++) {
    const RunOption *option = &interpreter->module->options.items[i];
    bind_number(arena, bindings, name_printf("%s%s", MODULE_OPTION, option->name), option->start);
  }
}

Interpreter *interpreter_create(Arena *arena, const Module *module, uint64_t seed) {
  Interpreter *interpreter = ARENA_NEW(arena, Interpreter);
  *interpreter = (Interpreter){.arena = arena, .module = module, .seed = seed};
  interpreter->values = ARENA_ARRAY(arena, Tensor *, module->variables.count);
  for (int i = 0; i < module->variables.count; i++)
    interpreter->values[i] = tensor_create(arena, module->variables.items[i].type);
  const Graph *init = module->entries[ENTRY_INIT];
  if (init) {
    Arena *own = arena_create();
    Bindings bindings = {0};
    bind_options(interpreter, own, &bindings);
    run(interpreter, init, own, bindings.count, bindings.items, 0);
  }
  return interpreter;
}

void interpreter_destroy(Interpreter *interpreter) {
  if (interpreter->run_arena) arena_destroy(interpreter->run_arena);
  interpreter->run_arena = NULL;
}

void interpreter_set_example(Interpreter *interpreter, uint64_t example) {
  interpreter->example = example;
}

/* ---- bindings ---- */

/* The outputs of the host entry, which reads the scalars bound so far. */
static void bind_host_scalars(const Interpreter *interpreter, Arena *arena, Bindings *bindings) {
  const Graph *host = interpreter->module->entries[ENTRY_HOST];
  if (!host) return;
  EvaluateContext context = {.seed = interpreter->seed};
  Evaluation *evaluation = graph_evaluate(arena, host, bindings->count, bindings->items, &context);
  for (int i = 0; i < host->outputs.count; i++)
    if (host->outputs.items[i].kind == OUTPUT_SCALAR)
      bind_number(arena, bindings, host->outputs.items[i].name,
                  evaluation_output(evaluation, i)->data[0]);
}

static void bind_variables(const Interpreter *interpreter, Arena *arena, Bindings *bindings) {
  const Module *module = interpreter->module;
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    Op op = variable->kind == VARIABLE_PARAM ? OP_PARAM : OP_STATE;
    vec_push(arena, bindings, ((Binding){op, variable->path, interpreter->values[i]}));
  }
}

/* The values of plateaus, as a run begins; options may give them. */
static void bind_plateaus(const Interpreter *interpreter, Arena *arena, Bindings *bindings) {
  const Module *module = interpreter->module;
  const Graph *host = module->entries[ENTRY_HOST];
  int first = bindings->count;
  bool from_options = false;
  for (int i = 0; i < module->plateaus.count; i++) {
    const Plateau *plateau = &module->plateaus.items[i];
    from_options = from_options || plateau->numbers[PLATEAU_START].scalar;
    bind_number(arena, bindings, plateau->name, plateau->numbers[PLATEAU_START].value);
  }
  if (!from_options || !host) return;
  EvaluateContext context = {.seed = interpreter->seed};
  Evaluation *evaluation = graph_evaluate(arena, host, bindings->count, bindings->items, &context);
  for (int i = 0; i < module->plateaus.count; i++) {
    const char *scalar = module->plateaus.items[i].numbers[PLATEAU_START].scalar;
    for (int k = 0; scalar && k < host->outputs.count; k++)
      if (strcmp(host->outputs.items[k].name, scalar) == 0)
        bindings->items[first + i].value =
            number_tensor(arena, evaluation_output(evaluation, k)->data[0]);
  }
}

int interpreter_bind(Interpreter *interpreter, Arena *arena, int input_count, const Binding *inputs,
                     RunTime time, Binding **result) {
  Bindings bindings = {0};
  for (int i = 0; i < input_count; i++) vec_push(arena, &bindings, inputs[i]);
  bind_number(arena, &bindings, "t", (double)time.t);
  bind_number(arena, &bindings, "epoch", (double)time.epoch);
  bind_number(arena, &bindings, "steps", (double)time.steps);
  bind_number(arena, &bindings, "steps_per_epoch", (double)time.steps_per_epoch);
  bind_options(interpreter, arena, &bindings);
  bind_plateaus(interpreter, arena, &bindings);
  bind_host_scalars(interpreter, arena, &bindings);
  bind_variables(interpreter, arena, &bindings);
  *result = bindings.items;
  return bindings.count;
}

Evaluation *interpreter_run(Interpreter *interpreter, EntryKind entry, int input_count,
                            const Binding *inputs, RunTime time) {
  const Graph *graph = interpreter->module->entries[entry];
  if (!graph) panic("module %s has no entry %s", interpreter->module->name, entry_name(entry));
  Arena *arena = arena_create();
  Binding *bindings;
  int count = interpreter_bind(interpreter, arena, input_count, inputs, time, &bindings);
  bool trains = entry == ENTRY_TRAIN || entry == ENTRY_ACCUMULATE;
  return run(interpreter, graph, arena, count, bindings, trains ? (uint64_t)time.t : 0);
}
