/* The reference: a case's training steps on the differentiated but otherwise untouched module, in
 * double, with the spread of every result under imitated rounding (numeric.c). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "graph/textual.h"
#include "passes/pass.h"
#include "support/panic.h"

enum { NOISY_RUNS = 3 };

/* ---- copies ---- */

Module *module_copy(Arena *arena, const Module *module) {
  Text first = {0}, second = {0};
  module_print(&first, module);
  Diagnostics *diagnostics = diagnostics_create(arena);
  const SourceFile *dump = source_from_text(arena, "fuzz.dump", first.data, first.length);
  Module *copy = module_parse(arena, diagnostics, dump);
  if (!copy) {
    diagnostics_print(diagnostics, stderr, 0);
    panic("a dump cannot be read back:\n%s", first.data);
  }
  module_print(&second, copy);
  if (first.length != second.length || memcmp(first.data, second.data, first.length) != 0)
    panic("print -> parse -> print differs; first:\n%s\nthen:\n%s", first.data, second.data);
  text_free(&first);
  text_free(&second);
  return copy;
}

static Module *differentiated(Arena *arena, const Module *module) {
  Module *copy = module_copy(arena, module);
  pass_find("differentiate")->run(copy, diagnostics_create(arena));
  return copy;
}

/* ---- steps ---- */

Binding *case_bind_inputs(Arena *arena, const Case *test) {
  Binding *bindings = ARENA_ARRAY(arena, Binding, test->inputs.count + 1);
  for (int i = 0; i < test->inputs.count; i++)
    bindings[i] = (Binding){OP_INPUT, test->module->inputs.items[i].name, test->inputs.items[i]};
  return bindings;
}

static void copy_values(Tensor *into, const Tensor *from) {
  CHECK(shape_equal(into->type.shape, from->type.shape));
  size_t bytes = sizeof(double) * (size_t)shape_elements(from->type.shape);
  if (bytes > 0) memcpy(into->data, from->data, bytes);
}

void case_set_start(const Case *test, Interpreter *interpreter) {
  for (int i = 0; i < test->start.count; i++)
    copy_values(interpreter_variable(interpreter, test->module->variables.items[i].path),
                test->start.items[i]);
}

/* One step from the interpreter's variables into them. */
static Numbers play_step(Arena *arena, const Case *test, const Module *module,
                         Interpreter *interpreter, int step, Noise *noise) {
  Binding *bindings, *inputs = case_bind_inputs(arena, test);
  int count = interpreter_bind(interpreter, arena, test->inputs.count, inputs, step, 0, test->steps,
                               test->steps, &bindings);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  EvaluateContext context = {.seed = (uint64_t)module->run.seed, .step = (uint64_t)step};
  Numbers numbers = numbers_of_graph(arena, graph, test->gap, count, bindings, &context, noise);
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind == OUTPUT_STORE)
      copy_values(interpreter_variable(interpreter, output->name),
                  numbers.values[output->node->id]);
  }
  return numbers;
}

int case_find_steps(const Case *test) {
  Arena *arena = arena_create();
  Module *module = differentiated(arena, test->module);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  Interpreter *interpreter = interpreter_create(arena, module, (uint64_t)module->run.seed);
  case_set_start(test, interpreter);
  int steady = 0;
  for (; steady < test->steps; steady++) {
    Numbers numbers = play_step(arena, test, module, interpreter, steady + 1, NULL);
    bool good = numbers_find_unsteady(&numbers, graph) == NULL;
    for (int i = 0; i < graph->nodes.count && good; i++) {
      const Tensor *value = numbers.values[graph->nodes.items[i]->id];
      good = !value || tensor_magnitude(value) < (dtype_is_float(value->type.dtype) ? 1e5 : 0x1p50);
    }
    if (!good) break;
  }
  interpreter_destroy(interpreter);
  arena_destroy(arena);
  return steady;
}

/* ---- the reference ---- */

static Tensor *kept_copy(Arena *arena, const Tensor *tensor) {
  Tensor *copy = tensor_create(arena, tensor->type);
  copy_values(copy, tensor);
  return copy;
}

/* Errors of one unit of double would be rounded away themselves: 1 + 2^-53 is 1. They are imitated
 * so many times larger, and what they move is taken as many times smaller. */
static const double enlarged[] = {[PRECISION_DOUBLE] = 16, [PRECISION_OWN] = 1};

/* The first run gives the value, the others its spread. */
static void record(Arena *arena, Expected *expected, const char *name, const Tensor *value,
                   int kind) {
  if (kind < 0) {
    *expected = (Expected){.name = name, .value = kept_copy(arena, value)};
    return;
  }
  for (int64_t i = 0; i < shape_elements(value->type.shape); i++)
    expected->spread[kind] =
        fmax(expected->spread[kind],
             fabs(value->data[i] - expected->value->data[i]) / enlarged[kind]);
}

static Noise make_noise(int kind, int run) {
  Noise noise = {.state = (uint64_t)(run + 1) * 0x9E3779B97F4A7C15u};
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) noise.unit[dtype] = 0x1p-53 * enlarged[kind];
  if (kind == PRECISION_DOUBLE) return noise;
  noise.unit[DTYPE_F32] = 0x1p-24;
  noise.unit[DTYPE_BF16] = 0x1p-9;
  noise.unit[DTYPE_F16] = 0x1p-12;
  return noise;
}

static void record_init(Arena *arena, const Case *test, Reference *reference, int kind,
                        Noise *noise) {
  Arena *scratch = arena_create();
  const Graph *init = reference->module->entries[ENTRY_INIT];
  EvaluateContext context = {.seed = (uint64_t)test->module->run.seed};
  Numbers numbers = numbers_of_graph(scratch, init, test->gap, 0, NULL, &context, noise);
  for (int i = 0; i < test->start.count; i++) {
    const char *path = test->module->variables.items[i].path;
    const Output *output = graph_find_output((Graph *)init, OUTPUT_STORE, path);
    record(arena, &reference->init[i], path, numbers.values[output->node->id], kind);
  }
  arena_destroy(scratch);
}

/* Indices, comparisons and the like of a step without noise. */
typedef struct Choices {
  Tensor **values; /* by node id; NULL of floats and of what nothing needs */
} Choices;

static Choices choices_keep(Arena *arena, const Graph *graph, const Numbers *numbers) {
  Choices choices = {ARENA_ARRAY(arena, Tensor *, graph->next_id + 1)};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Tensor *value = dtype_is_float(node->type.dtype) ? NULL : numbers->values[node->id];
    choices.values[node->id] = value ? kept_copy(arena, value) : NULL;
  }
  return choices;
}

static bool choices_hold(const Choices *choices, const Graph *graph, const Numbers *numbers) {
  for (int i = 0; i < graph->nodes.count; i++) {
    int id = graph->nodes.items[i]->id;
    const Tensor *kept = choices->values[id];
    for (int64_t k = 0; kept && k < shape_elements(kept->type.shape); k++)
      if (kept->data[k] != numbers->values[id]->data[k]) return false;
  }
  return true;
}

static void record_run(Arena *arena, const Case *test, Reference *reference, Choices *choices,
                       int kind, Noise *noise) {
  Module *module = reference->module;
  const Graph *graph = module->entries[ENTRY_TRAIN];
  Arena *scratch = arena_create();
  Interpreter *interpreter = interpreter_create(scratch, module, (uint64_t)module->run.seed);
  case_set_start(test, interpreter);
  for (int step = 0; step < test->steps; step++) {
    Numbers numbers = play_step(scratch, test, module, interpreter, step + 1, noise);
    if (kind < 0) choices[step] = choices_keep(arena, graph, &numbers);
    else if (kind == PRECISION_OWN && !choices_hold(&choices[step], graph, &numbers))
      reference->is_steady_in_own = false;
    for (int i = 0; i < graph->outputs.count; i++)
      record(arena, &reference->outputs[step][i], graph->outputs.items[i].name,
             numbers.values[graph->outputs.items[i].node->id], kind);
    for (int i = 0; i < test->start.count; i++) {
      const char *path = test->module->variables.items[i].path;
      record(arena, &reference->variables[step][i], path, interpreter_variable(interpreter, path),
             kind);
    }
  }
  interpreter_destroy(interpreter);
  arena_destroy(scratch);
}

Reference *reference_create(Arena *arena, const Case *test) {
  Reference *reference = ARENA_NEW(arena, Reference);
  reference->module = differentiated(arena, test->module);
  reference->output_count = reference->module->entries[ENTRY_TRAIN]->outputs.count;
  reference->is_steady_in_own = true;
  reference->init = ARENA_ARRAY(arena, Expected, test->start.count + 1);
  for (int step = 0; step < test->steps; step++) {
    reference->variables[step] = ARENA_ARRAY(arena, Expected, test->start.count + 1);
    reference->outputs[step] = ARENA_ARRAY(arena, Expected, reference->output_count + 1);
  }
  Choices choices[MOST_STEPS];
  record_init(arena, test, reference, -1, NULL);
  record_run(arena, test, reference, choices, -1, NULL);
  for (int kind = 0; kind < 2; kind++)
    for (int run = 0; run < NOISY_RUNS; run++) {
      Noise noise = make_noise(kind, run);
      record_init(arena, test, reference, kind, &noise);
      record_run(arena, test, reference, choices, kind, &noise);
    }
  return reference;
}

/* ---- comparing ---- */

static double least_normal(DType dtype) { return dtype == DTYPE_F16 ? 0x1p-14 : FLT_MIN; }

/* An executable may take what is smaller than the least normal number for 0. Norm-wise: errors
 * against the tensor's greatest element, and against how far rounding moves it. The factor covers
 * what a few noisy runs miss, and functions that are good to some ulps. */
const char *expected_differs(Arena *arena, const Expected *expected, const double *given,
                             Precision precision) {
  static const double of_double = 1e-10, least_double = DBL_MIN;
  static const double of_own[DTYPE_COUNT] = {[DTYPE_F64] = 0x1p-20,
                                             [DTYPE_F32] = 0x1p-20,
                                             [DTYPE_BF16] = 0x1p-7,
                                             [DTYPE_F16] = 0x1p-10};
  const Tensor *value = expected->value;
  DType dtype = value->type.dtype;
  bool is_own = precision == PRECISION_OWN;
  double allowed = 0;
  if (dtype_is_float(dtype))
    allowed = (is_own ? least_normal(dtype) : least_double) +
              (is_own ? of_own[dtype] : of_double) * tensor_magnitude(value) +
              32 * expected->spread[precision];
  double worst = 0;
  int64_t where = -1, count = shape_elements(value->type.shape);
  for (int64_t i = 0; i < count; i++) {
    double error = fabs(given[i] - value->data[i]);
    if (error <= allowed || (error <= worst && where >= 0)) continue;
    worst = error;
    where = i;
  }
  if (where < 0) return NULL;
  Text type = {0};
  text_add_type(&type, value->type);
  const char *text = arena_printf(arena,
                                  "%s %s: element %lld is %.17g and should be %.17g (error %.3g, "
                                  "allowed %.3g, spread %.3g)",
                                  expected->name, type.data, (long long)where, given[where],
                                  value->data[where], worst, allowed, expected->spread[precision]);
  text_free(&type);
  return text;
}
