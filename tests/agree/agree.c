/* The executable against the reference interpreter, on whole training steps.
 *
 *     agree NNC MODEL.net FLOAT STEPS WORKDIR
 *
 * Elaborates MODEL, lets the interpreter initialize it and take STEPS steps in double on generated
 * inputs; compiles it at -O0 (not where AGREE_FULL is set, nor in f32: the code is that of f64; but always if AGREE_LONG
 * is set) and at -O1 and lets each executable take the same steps from the same weights (command `step`) with 1 and 2 threads.  Weights must agree norm-wise with the
 * interpreter's within the tolerance of FLOAT, losses too, and files of different thread counts
 * byte for byte.  FLOAT is f64 or f32, all floats' type, or bf16 or f16, the precision of train;
 * there, and where AGREE_PLAIN is set, the optimizer is sgd, since Adam gives all gradients one size,
 * also those that are mostly rounding.
 * The C of -O0 and of f64 is compiled without optimization, in a quarter of the time, unless
 * AGREE_LONG is set; all else as NNC does.
 * Prints one line a check. AGREE_OPTIONS holds further options for NNC, e.g.
 * --memory-limit=4M; AGREE_DEFINE definitions ("batch=4 steps=2") for both sides; AGREE_SECOND variables
 * of the environment for the run with 2 threads, or "none", and there is no such run; AGREE_CFLAGS
 * more flags for the C of f32 at -O1. Without, it is what all others compile, and may be in the cache. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elaborate/elaborate.h"
#include "interpret/inputs.h"
#include "interpret/interpret.h"
#include "passes/pass.h"
#include "ops/retype.h"
#include "lib/storage.h"
#include "syntax/parse.h"

enum { MOST_INPUTS = 64, MOST_DEFINITIONS = 16, SEED = 7 };

typedef struct Case {
  const char *nnc, *model, *work;
  Definition definitions[MOST_DEFINITIONS];
  int definition_count;
  DType float_type;
  int steps;
  Arena *arena;
  Module *module;
  Interpreter *interpreter;
  double *losses; /* the interpreter's, by step */
  double worst_weight, worst_loss;
  int passed, failed;
} Case;

static void die(const char *what, const char *name) {
  fprintf(stderr, "agree: %s %s\n", what, name);
  exit(2);
}

static void verdict(Case *test, bool good, const char *check, double value, double limit) {
  printf("%s %s %s: %.3g (at most %.3g)\n", good ? "ok  " : "FAIL", test->model, check, value,
         limit);
  good ? test->passed++ : test->failed++;
}

/* ---- the two sides ---- */

/* Rounds to what the executable can hold, so that both sides start from equal weights. */
static void save_start(Case *test) {
  StorageWriter writer = {.arena = test->arena};
  for (int i = 0; i < test->module->variables.count; i++) {
    const Variable *variable = &test->module->variables.items[i];
    Tensor *value = interpreter_variable(test->interpreter, variable->path);
    int64_t count = shape_elements(value->type.shape);
    for (int64_t k = 0; k < count && variable->type.dtype == DTYPE_F32; k++)
      value->data[k] = (float)value->data[k];
    if (variable->kind == VARIABLE_PARAM || variable->kind == VARIABLE_STATE)
      storage_add(&writer, variable->path, variable->type.dtype, value);
  }
  storage_save(&writer, arena_printf(test->arena, "%s/start.safetensors", test->work));
}

/* The inputs of minibatch number `batch`, also written to the file of inputs; returns their
 * count. */
static int make_inputs(Case *test, StorageWriter *writer, int64_t batch,
                       Binding bindings[MOST_INPUTS]) {
  int count = 0;
  for (int i = 0; i < test->module->inputs.count; i++) {
    const InputInfo *input = &test->module->inputs.items[i];
    if (count == MOST_INPUTS) die("too many inputs in", test->model);
    Tensor *value = random_input(test->arena, test->module, input, (uint64_t)(1000 + batch));
    int64_t elements = shape_elements(value->type.shape);
    for (int64_t k = 0; k < elements && input->type.dtype == DTYPE_F32; k++)
      value->data[k] = (float)value->data[k];
    const char *name = arena_printf(test->arena, "%d/%s", (int)batch, input->name);
    storage_add(writer, name, input->type.dtype, value);
    bindings[count++] = (Binding){OP_INPUT, input->name, value};
  }
  return count;
}

/* Adds the accumulators of one run to those of the step. */
static void tally(Case *test, EntryKind entry, const Evaluation *result, int64_t part,
                  double *sums) {
  const Graph *graph = test->module->entries[entry];
  for (int i = 0, k = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind != OUTPUT_ACCUMULATOR) continue;
    double value = evaluation_output(result, i)->data[0];
    double parts = (double)test->module->run.accumulate;
    switch (output->combine) {
    case COMBINE_MEAN:
    case COMBINE_BATCHES: sums[k] += value / parts; break;
    case COMBINE_COUNTS: sums[k] += value / parts / (double)test->module->run.batch; break;
    case COMBINE_SUM: sums[k] += value; break;
    case COMBINE_MAX: sums[k] = part == 0 ? value : fmax(sums[k], value); break;
    case COMBINE_MIN: sums[k] = part == 0 ? value : fmin(sums[k], value); break;
    default: sums[k] = value; break;
    }
    k++;
  }
}

/* The loss as the finish entry makes it of the step's accumulators. */
static double finish_loss(Case *test, const double *sums) {
  const Graph *train = test->module->entries[ENTRY_TRAIN],
              *finish = test->module->entries[ENTRY_FINISH];
  Binding *bindings = ARENA_ARRAY(test->arena, Binding, train->outputs.count + 1);
  int count = 0;
  for (int i = 0; i < train->outputs.count; i++) {
    const Output *output = &train->outputs.items[i];
    if (output->kind != OUTPUT_ACCUMULATOR) continue;
    Tensor *value = tensor_create(test->arena, type_scalar(DTYPE_F64));
    value->data[0] = sums[count];
    bindings[count++] = (Binding){OP_SCALAR, output->name, value};
  }
  EvaluateContext context = {0};
  Evaluation *metrics = graph_evaluate(test->arena, finish, count, bindings, &context);
  for (int i = 0; i < finish->outputs.count; i++)
    if (!strcmp(finish->outputs.items[i].name, "loss"))
      return evaluation_output(metrics, i)->data[0];
  die("there is no loss in", test->model);
  return 0;
}

static void interpret_steps(Case *test) {
  StorageWriter writer = {.arena = test->arena};
  test->losses = ARENA_ARRAY(test->arena, double, test->steps);
  int64_t parts = test->module->run.accumulate;
  double *sums =
      ARENA_ARRAY(test->arena, double, test->module->entries[ENTRY_TRAIN]->outputs.count + 1);
  for (int step = 0; step < test->steps; step++) {
    memset(sums, 0, sizeof *sums * (size_t)test->module->entries[ENTRY_TRAIN]->outputs.count);
    for (int64_t part = 0; part < parts; part++) {
      Binding bindings[MOST_INPUTS];
      int count = make_inputs(test, &writer, step * parts + part, bindings);
      interpreter_set_example(test->interpreter, (uint64_t)(part * test->module->run.batch));
      EntryKind entry = part + 1 < parts ? ENTRY_ACCUMULATE : ENTRY_TRAIN;
      Evaluation *result = interpreter_run(test->interpreter, entry, count, bindings,
                                           (RunTime){step + 1, 0, test->steps, test->steps});
      tally(test, entry, result, part, sums);
    }
    test->losses[step] = finish_loss(test, sums);
  }
  storage_save(&writer, arena_printf(test->arena, "%s/inputs.safetensors", test->work));
}

static void run_command(Case *test, const char *command) {
  if (system(command) != 0) die("this command failed:", command);
}

static double norm_of_all(const Case *test) {
  double norm = 0;
  for (int i = 0; i < test->module->variables.count; i++) {
    const Variable *variable = &test->module->variables.items[i];
    if (variable->kind != VARIABLE_PARAM) continue;
    const Tensor *value = interpreter_variable(test->interpreter, variable->path);
    for (int64_t k = 0; k < shape_elements(variable->type.shape); k++)
      norm += value->data[k] * value->data[k];
  }
  return sqrt(norm);
}

/* Largest norm-wise difference of a variable from the interpreter's. One that is a millionth of the
 * whole at most is taken for that: a bias of keys starts at 0, and its gradient is rounding alone. */
static double compare_weights(Case *test, const char *path) {
  nnc_safetensors *file = nnc_safetensors_open(path);
  if (!file) die("cannot read", path);
  double worst = 0, least = 1e-6 * norm_of_all(test);
  int compared = 0;
  for (int i = 0; i < test->module->variables.count; i++) {
    const Variable *variable = &test->module->variables.items[i];
    if (variable->kind != VARIABLE_PARAM && variable->kind != VARIABLE_STATE) continue;
    const Tensor *expected = interpreter_variable(test->interpreter, variable->path);
    int64_t count = shape_elements(variable->type.shape);
    const double *values = storage_load(test->arena, file, variable->path, variable->type);
    double difference = 0, norm = 0;
    for (int64_t k = 0; k < count; k++) {
      double d = values[k] - expected->data[k];
      difference += d * d;
      norm += expected->data[k] * expected->data[k];
    }
    double relative = sqrt(difference) / fmax(fmax(sqrt(norm), least), 1e-12);
    worst = fmax(worst, isnan(relative) ? INFINITY : relative);
    if (getenv("AGREE_VERBOSE")) printf("     %-32s %.3g\n", variable->path, relative);
    compared++;
  }
  if (compared == 0) die("nothing to compare in", path);
  nnc_safetensors_close(file);
  return worst;
}

/* Largest relative difference of the loss over the steps printed as JSON lines. */
static double compare_losses(Case *test, const char *path) {
  FILE *stream = fopen(path, "r");
  if (!stream) die("cannot read", path);
  char line[4096];
  double worst = 0;
  int step = 0;
  while (fgets(line, sizeof line, stream)) {
    const char *loss = strstr(line, "\"loss\": ");
    if (!loss || step >= test->steps) die("unexpected line", line);
    double value = strtod(loss + 8, NULL);
    double relative = fabs(value - test->losses[step]) / (fabs(test->losses[step]) + 1e-12);
    worst = fmax(worst, isnan(relative) ? INFINITY : relative);
    step++;
  }
  fclose(stream);
  if (step != test->steps) die("too few steps in", path);
  return worst;
}

/* In 16 bits a value beside a tie rounds either way, and pooling takes the other of two equals. */
static const struct {
  double weights, losses;
} limits[DTYPE_COUNT] = {[DTYPE_F64] = {1e-10, 1e-10},
                         [DTYPE_F32] = {1e-3, 1e-3},
                         [DTYPE_BF16] = {4e-2, 2e-3},
                         [DTYPE_F16] = {2e-2, 1e-3}};

#define PLAIN_OPTIMIZER "sgd(lr = 0.01)"

static bool is_plain(const Case *test) {
  return dtype_is_half(test->float_type) || getenv("AGREE_PLAIN");
}

static void define(Case *test, const char *name, const char *value) {
  if (test->definition_count == MOST_DEFINITIONS) die("too many definitions for", test->model);
  test->definitions[test->definition_count++] = (Definition){name, value};
}

static void read_definitions(Case *test) {
  if (is_plain(test)) define(test, "train.optimizer", PLAIN_OPTIMIZER);
  if (dtype_is_half(test->float_type))
    define(test, "train.precision", dtype_name(test->float_type));
  const char *more = getenv("AGREE_DEFINE");
  char *text = arena_printf(test->arena, "%s", more ? more : "");
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
    char *equals = strchr(word, '=');
    if (!equals) die("no NAME=VALUE:", word);
    *equals = 0;
    define(test, word, equals + 1);
  }
}

static const char *definition_flags(const Case *test) {
  const char *flags = "";
  for (int i = 0; i < test->definition_count; i++)
    flags = arena_printf(test->arena, "%s -D '%s=%s'", flags, test->definitions[i].name,
                         test->definitions[i].value);
  return flags;
}

static void run_level(Case *test, int level) {
  /* Adam divides small gradients by their own size, so float32 rounding shows in its first
   * steps. */
  double limit = limits[test->float_type].weights, loss_limit = limits[test->float_type].losses;
  const char *results[2];
  const char *more = getenv("AGREE_OPTIONS"), *cflags = getenv("AGREE_CFLAGS");
  const char *second = getenv("AGREE_SECOND");
  bool has_second = !second || strcmp(second, "none") != 0;
  const char *type = dtype_is_half(test->float_type)
                         ? ""
                         : arena_printf(test->arena, "--float=%s", dtype_name(test->float_type));
  const char *units = "";
  if ((level == 0 || test->float_type == DTYPE_F64) && !getenv("AGREE_LONG")) {
    cflags = "-O0";
    units = "--units=1";
  }
  run_command(test,
              arena_printf(test->arena, "'%s' '%s' -O%d %s %s --cflags=%s %s %s -o '%s/model%d'",
                           test->nnc, test->model, level, definition_flags(test), type,
                           cflags ? cflags : "", units, more ? more : "", test->work, level));
  for (int threads = 1; threads <= 1 + has_second; threads++) {
    results[threads - 1] =
        arena_printf(test->arena, "%s/result%d.%d.safetensors", test->work, level, threads);
    const char *losses = arena_printf(test->arena, "%s/losses%d.%d", test->work, level, threads);
    run_command(
        test,
        arena_printf(test->arena,
                     "%s '%s/model%d' step --inputs '%s/inputs.safetensors' --init "
                     "'%s/start.safetensors' --steps %d --threads %d --seed %d --quiet '%s' > '%s'",
                     threads > 1 && second ? second : "", test->work, level, test->work, test->work,
                     test->steps, threads, SEED, results[threads - 1], losses));
    char check[64];
    snprintf(check, sizeof check, "-O%d %d thread%s weights", level, threads,
             threads > 1 ? "s" : "");
    double worst = compare_weights(test, results[threads - 1]);
    verdict(test, worst <= limit, check, worst, limit);
    snprintf(check, sizeof check, "-O%d %d thread%s losses", level, threads,
             threads > 1 ? "s" : "");
    worst = compare_losses(test, losses);
    verdict(test, worst <= loss_limit, check, worst, loss_limit);
  }
  if (!has_second) return;
  verdict(test, storage_files_equal(results[0], results[1]),
          level ? "-O1 bits of 1 and 2 threads differ" : "-O0 bits of 1 and 2 threads differ",
          !storage_files_equal(results[0], results[1]), 0);
}

static void load(Case *test) {
  const char *reason = NULL;
  SourceFile *source = source_read(test->arena, test->model, &reason);
  if (!source) die("cannot read", test->model);
  Diagnostics *diagnostics = diagnostics_create(test->arena);
  bool is_mixed = dtype_is_half(test->float_type);
  /* -O0 stops at an index outside of its axis: so the inputs made up must know these. */
  ElaborateOptions options = {.check_indices = true,
                              .definition_count = test->definition_count,
                              .definitions = test->definitions};
  AstProgram *program = parse_program(test->arena, diagnostics, source);
  test->module = diagnostics_error_count(diagnostics)
                     ? NULL
                     : elaborate(test->arena, diagnostics, program, &options);
  diagnostics_print(diagnostics, stderr, 0);
  if (!test->module) die("cannot elaborate", test->model);
  if (!is_mixed) module_retype_floats(test->module, test->float_type);
  /* As early as the interpreter can: what later passes make of it is judged, too. */
  PipelineOptions passes = {.level = 0, .stop_after = "differentiate"};
  bool stopped = false;
  if (!passes_run(test->module, diagnostics, &passes, &stopped) && !stopped)
    die("passes fail on", test->model);
  test->interpreter = interpreter_create(test->arena, test->module, SEED);
}

int main(int argc, char **argv) {
  if (argc != 6) die("usage:", "agree NNC MODEL.net f64|f32|bf16|f16 STEPS WORKDIR");
  Case test = {.nnc = argv[1],
               .model = argv[2],
               .steps = atoi(argv[4]),
               .work = argv[5],
               .arena = arena_create()};
  if (!dtype_parse(argv[3], &test.float_type)) die("no such type:", argv[3]);
  read_definitions(&test);
  load(&test);
  save_start(&test);
  interpret_steps(&test);
  /* A limit is for the optimized program; -O0 stores every value. */
  bool is_repeated =
      (test.float_type == DTYPE_F32 || getenv("AGREE_FULL")) && !getenv("AGREE_LONG");
  if (getenv("AGREE_OPTIONS") == NULL && !is_repeated) run_level(&test, 0);
  run_level(&test, 1);
  arena_destroy(test.arena);
  return test.failed ? 1 : 0;
}
