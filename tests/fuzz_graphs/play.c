/* The reference: a case's training steps on the differentiated but otherwise untouched module, in
 * double, with the spread of every result under imitated rounding (numeric.c). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "graph/textual.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "support/panic.h"

enum {
  NOISY_RUNS = 3,
  NOISY_RUNS_FAR = 6,
  MARGIN_RUNS = 2,
  MARGIN = 64,
  LEAP = 4,
  LEAP_SHARE = 16
};

/* ---- copies ---- */

Module *module_copy(Arena *arena, const Module *module) {
  Text first = {0}, second = {0};
  module_print(&first, module);
  Diagnostics *diagnostics = diagnostics_create(arena);
  const SourceFile *dump = source_from_text(arena, "fuzz.dump", first.data, first.length);
  Module *copy = module_parse(arena, diagnostics, dump, module_find_violation);
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
  int count = interpreter_bind(interpreter, arena, test->inputs.count, inputs,
                               (RunTime){step, 0, test->steps, test->steps}, &bindings);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  EvaluateContext context = {.seed = (uint64_t)module->run.seed, .step = (uint64_t)step};
  Numbers numbers =
      numbers_of_graph(arena, graph, test->standard, count, bindings, &context, noise);
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
      const Node *node = graph->nodes.items[i];
      good = !numbers.values[node->id] || numbers_have_size(&numbers, node, 1e5, 0x1p50);
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

/* Values of a step without noise that noise must leave as they are: indices, comparisons and the
 * like. In far cases of floats too, as far as they are infinite or NaN, or whole by an operator. */
typedef struct Choices {
  Tensor **values; /* by node id; NULL of what may move, and of what nothing needs */
} Choices;

/* A run through init and all steps: the first gives values, the others what moves under noise. */
typedef struct Run {
  const Case *test;
  Reference *reference;
  Choices *choices; /* by step */
  Noise *noise;     /* NULL in the first */
  int kind;         /* of the noise */
  double times;     /* as large as rounding */
} Run;

static void record(Arena *arena, const Run *run, Expected *expected, const char *name,
                   const Tensor *value) {
  bool is_far = run->test->standard.is_far;
  if (!run->noise) {
    *expected = (Expected){.name = name, .value = kept_copy(arena, value)};
    if (is_far) expected->spreads = tensor_create(arena, value->type);
    return;
  }
  for (int64_t i = 0; i < shape_elements(value->type.shape); i++) {
    double moved = fabs(value->data[i] - expected->value->data[i]);
    double *spread = is_far ? &expected->spreads->data[i] : &expected->spread[run->kind];
    /* What saturates is not moved in proportion: far values keep what errors of one unit move. What
     * errors of one unit do not show, as a direction that turns round, may turn in an executable. */
    bool leaps = run->times == MARGIN && moved > LEAP * MARGIN * *spread;
    moved /= leaps ? LEAP_SHARE : is_far ? run->times : enlarged[run->kind];
    *spread = fmax(*spread, moved); /* of two infinities NaN, which fmax leaves out */
  }
}

/* `times` as large as rounding. */
static Noise make_noise(int kind, int run, double times) {
  Noise noise = {.state = (uint64_t)(run + 1) * 0x9E3779B97F4A7C15u};
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) noise.unit[dtype] = 0x1p-53 * enlarged[kind];
  if (kind == PRECISION_OWN) {
    noise.unit[DTYPE_F32] = 0x1p-24;
    noise.unit[DTYPE_BF16] = 0x1p-9;
    noise.unit[DTYPE_F16] = 0x1p-12;
  }
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) noise.unit[dtype] *= times;
  return noise;
}

static void record_init(Arena *arena, const Run *run) {
  Arena *scratch = arena_create();
  const Case *test = run->test;
  const Graph *init = run->reference->module->entries[ENTRY_INIT];
  EvaluateContext context = {.seed = (uint64_t)test->module->run.seed};
  Numbers numbers = numbers_of_graph(scratch, init, test->standard, 0, NULL, &context, run->noise);
  for (int i = 0; i < test->start.count; i++) {
    const char *path = test->module->variables.items[i].path;
    const Output *output = graph_find_output((Graph *)init, OUTPUT_STORE, path);
    record(arena, run, &run->reference->init[i], path, numbers.values[output->node->id]);
  }
  arena_destroy(scratch);
}

static Choices choices_keep(Arena *arena, const Case *test, const Graph *graph,
                            const Numbers *numbers) {
  Choices choices = {ARENA_ARRAY(arena, Tensor *, graph->next_id + 1)};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool may_move = dtype_is_float(node->type.dtype) && !test->standard.is_far;
    Tensor *value = may_move ? NULL : numbers->values[node->id];
    choices.values[node->id] = value ? kept_copy(arena, value) : NULL;
  }
  return choices;
}

static bool is_whole_by_operator(Op op) {
  return op == OP_SIGN || op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND || op == OP_FLOORDIV;
}

/* Noise moves a whole number of 10^7 by less than 1/2, and turns one of 1 over by 1. */
static bool choice_holds(const Node *node, double kept, double now) {
  if (kept == now || (isnan(kept) && isnan(now))) return true;
  if (!dtype_is_float(node->type.dtype) || !isfinite(kept) || !isfinite(now)) return false;
  return !is_whole_by_operator(node->op) || fabs(now - kept) < 0.5 ||
         fabs(now - kept) < 1e-3 * fabs(kept);
}

static bool choices_hold(const Choices *choices, const Graph *graph, const Numbers *numbers) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const Tensor *kept = choices->values[node->id];
    for (int64_t k = 0; kept && k < shape_elements(kept->type.shape); k++)
      if (!choice_holds(node, kept->data[k], numbers->values[node->id]->data[k])) return false;
  }
  return true;
}

static void record_steps(Arena *arena, const Run *run) {
  const Case *test = run->test;
  Reference *reference = run->reference;
  Module *module = reference->module;
  const Graph *graph = module->entries[ENTRY_TRAIN];
  Arena *scratch = arena_create();
  Interpreter *interpreter = interpreter_create(scratch, module, (uint64_t)module->run.seed);
  case_set_start(test, interpreter);
  for (int step = 0; step < test->steps; step++) {
    Numbers numbers = play_step(scratch, test, module, interpreter, step + 1, run->noise);
    if (!run->noise) run->choices[step] = choices_keep(arena, test, graph, &numbers);
    else if ((run->kind == PRECISION_OWN || test->standard.is_far) &&
             !choices_hold(&run->choices[step], graph, &numbers))
      reference->is_steady_in_own = false;
    for (int i = 0; i < graph->outputs.count; i++)
      record(arena, run, &reference->outputs[step][i], graph->outputs.items[i].name,
             numbers.values[graph->outputs.items[i].node->id]);
    for (int i = 0; i < test->start.count; i++) {
      const char *path = test->module->variables.items[i].path;
      record(arena, run, &reference->variables[step][i], path,
             interpreter_variable(interpreter, path));
    }
  }
  interpreter_destroy(interpreter);
  arena_destroy(scratch);
}

static void record_run(Arena *arena, const Run *run) {
  record_init(arena, run);
  record_steps(arena, run);
}

/* Element by element a few runs may all be small by chance, or lie on one side of what has two, as
 * max(x, 0) beside 0: so two runs each have the same errors with opposite signs, and the last two
 * have MARGIN times the errors, of what they move a MARGINth counts. Choices have that margin too. */
static void record_far(Arena *arena, Run *run) {
  run->kind = case_is_in_own_types(run->test) ? PRECISION_OWN : PRECISION_DOUBLE;
  for (int i = 0; i < NOISY_RUNS_FAR + MARGIN_RUNS; i++) {
    run->times = i < NOISY_RUNS_FAR ? 1 : MARGIN;
    Noise noise = make_noise(run->kind, i / 2, i % 2 == 0 ? run->times : -run->times);
    run->noise = &noise;
    record_run(arena, run);
  }
}

static void record_usual(Arena *arena, Run *run) {
  for (int kind = 0; kind < 2; kind++)
    for (int i = 0; i < NOISY_RUNS; i++) {
      Noise noise = make_noise(kind, i, 1);
      run->noise = &noise;
      run->kind = kind;
      record_run(arena, run);
    }
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
  Run run = {.test = test, .reference = reference, .choices = choices};
  record_run(arena, &run);
  (test->standard.is_far ? record_far : record_usual)(arena, &run);
  return reference;
}

/* ---- what can be judged ---- */

/* Results that rounding alone moves by a large part of their own magnitude are noise: terms cancelled
 * to nothing but their rounding, or were divided by what had. There an executable may give anything
 * of that size, of either sign, and a few noisy runs tell neither how large nor how it is
 * distributed: equal terms round alike in an executable, and never in an imitation. So elements that
 * errors of MARGIN units move by as much as they are, or errors of one unit by a MARGINth, are known
 * by their order of magnitude alone: NOISE_FACTOR times the tolerance shows only what is no noise at
 * all. In 16 bits, whose units are large, they are those that errors of one unit move by a 16th; there
 * the usual tolerance is twice their size, and stays. In cases near 1 the greatest element speaks for
 * a tensor. */
enum { NOISE_FACTOR = 128 };

static double noise_part(DType dtype) { return dtype_is_half(dtype) ? 0x1p-4 : 1.0 / MARGIN; }

/* What an element is held to. */
typedef struct Standing {
  const Expected *expected;
  Precision precision;
  double norm; /* of the tensor; in far cases each element is its own */
} Standing;

static Standing standing_of(const Expected *expected, Precision precision) {
  Standing standing = {expected, precision, 0};
  const Tensor *value = expected->value;
  for (int64_t i = 0; !expected->spreads && i < shape_elements(value->type.shape); i++)
    if (isfinite(value->data[i])) standing.norm = fmax(standing.norm, fabs(value->data[i]));
  return standing;
}

static double size_of(const Standing *standing, int64_t i) {
  const Expected *expected = standing->expected;
  return expected->spreads ? fabs(expected->value->data[i]) : standing->norm;
}

static double spread_of(const Standing *standing, int64_t i) {
  const Expected *expected = standing->expected;
  if (!dtype_is_float(expected->value->type.dtype)) return 0;
  return expected->spreads ? expected->spreads->data[i] : expected->spread[standing->precision];
}

static bool is_noise(const Standing *standing, int64_t i) {
  double spread = spread_of(standing, i), size = size_of(standing, i);
  double part = noise_part(standing->expected->value->type.dtype);
  return isfinite(size) && spread > 0 && spread >= part * size;
}

/* ---- how many are, and how far they are ---- */

static void count_values(const Expected *expected, Precision precision, Counts *counts) {
  Standing standing = standing_of(expected, precision);
  bool is_float = dtype_is_float(expected->value->type.dtype);
  for (int64_t i = 0; i < shape_elements(expected->value->type.shape); i++) {
    double size = fabs(expected->value->data[i]);
    bool noise = is_noise(&standing, i);
    counts->judged += !noise;
    counts->noise += noise;
    if (!is_float) continue;
    counts->floats++;
    counts->special += !isfinite(size);
    counts->far += isfinite(size) && size != 0 && (size < 1e-3 || size > 1e3);
  }
}

Counts reference_count(const Reference *reference, const Case *test) {
  Precision precision = case_is_in_own_types(test) ? PRECISION_OWN : PRECISION_DOUBLE;
  Counts counts = {0};
  for (int step = 0; step < test->steps; step++)
    for (int i = 0; i < reference->output_count; i++)
      count_values(&reference->outputs[step][i], precision, &counts);
  return counts;
}

/* ---- comparing ---- */

/* The same infinity, or both NaN. */
static bool is_same_special(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static double least_normal(DType dtype) { return dtype == DTYPE_F16 ? 0x1p-14 : FLT_MIN; }

/* An executable may take what is smaller than the least normal number for 0. Norm-wise: errors
 * against the tensor's greatest element, and against how far rounding moves it; in far cases each
 * element against itself. The factor covers what a few noisy runs miss, and functions that are good
 * to some ulps. What is infinite or NaN must be that. */
static double allowed_error(const Standing *standing, int64_t i) {
  static const double of_double = 1e-10, least_double = DBL_MIN;
  static const double of_own[DTYPE_COUNT] = {
      [DTYPE_F64] = 0x1p-20, [DTYPE_F32] = 0x1p-20, [DTYPE_BF16] = 0x1p-7, [DTYPE_F16] = 0x1p-10};
  DType dtype = standing->expected->value->type.dtype;
  if (!dtype_is_float(dtype) || !isfinite(standing->expected->value->data[i])) return 0;
  bool is_own = standing->precision == PRECISION_OWN;
  double base = is_own ? least_normal(dtype) : least_double;
  double relative = is_own ? of_own[dtype] : of_double;
  double allowed = base + relative * size_of(standing, i) + 32 * spread_of(standing, i);
  return is_noise(standing, i) && !dtype_is_half(dtype) ? NOISE_FACTOR * allowed : allowed;
}

const char *expected_differs(Arena *arena, const Expected *expected, const double *given,
                             Precision precision) {
  const Tensor *value = expected->value;
  Standing standing = standing_of(expected, precision);
  double worst = 0, most = 0;
  int64_t where = -1;
  for (int64_t i = 0; i < shape_elements(value->type.shape); i++) {
    if (is_same_special(given[i], value->data[i])) continue;
    double error = fabs(given[i] - value->data[i]), allowed = allowed_error(&standing, i);
    if (error <= allowed || (error <= worst && where >= 0)) continue;
    worst = error;
    most = allowed;
    where = i;
  }
  if (where < 0) return NULL;
  Text type = {0};
  text_add_type(&type, value->type);
  const char *text = arena_printf(
      arena, "%s %s: element %lld is %.17g and should be %.17g (error %.3g, allowed %.3g)",
      expected->name, type.data, (long long)where, given[where], value->data[where], worst, most);
  text_free(&type);
  return text;
}
