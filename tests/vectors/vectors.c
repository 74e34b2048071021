/* A program against reference vectors that PyTorch made (tests/vectors/make.py).
 *
 *     vectors NNC PROGRAM.net VECTORS.safetensors WORKDIR [loop | bf16 | f16 | f64]
 *
 * VECTORS holds values that variables start from ("x3", "y3.w"), minibatches of inputs ("0/x", or
 * "x" for all steps) and, with '=' in front, what variables must hold at the end ("=y3.out",
 * "=x3:d"), with '>' what `predict` gives then (">e3"); "=loss" is the loss of each step and gives
 * their number, else there is one.  A variable without a start keeps its initial value.  The
 * interpreter takes the steps in double; then executables of f64 and of f32 do, by their command
 * `step`.  Each expected tensor must agree within the tolerance, relative to its greatest element;
 * infinities and NaNs must be where they are expected. Where VECTORS_EXACT is set, and VECTORS_LONG is not, there is no
 * executable of f32.  Metadata of the file may give "tolerance_f32" and "tolerance_f64".  With `loop` scans stay loops, in
 * f64 alone unless VECTORS_LONG is set.  With a type the program computes in that type by its own declarations: nothing is
 * retyped, and of 16 bits the tolerance is "units" of the last place of the greatest element, 2^-8 or 2^-11 of it each.
 * The C is compiled without optimization, in a quarter of the time, unless VECTORS_LONG is set.  VECTORS_OPTIONS holds
 * further options for NNC.  Prints what differs and how much was
 * compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elaborate/elaborate.h"
#include "nnc_half.h"
#include "interpret/inputs.h"
#include "interpret/interpret.h"
#include "passes/pass.h"
#include "ops/retype.h"
#include "core/number.h"
#include "core/safetensors.h"
#include "support/names.h"
#include "syntax/parse.h"

enum { MOST_INPUTS = 16, MOST_STEPS = 1000, SEED = 7 };

typedef struct Case {
  const char *nnc, *program, *work;
  Arena *arena;
  Module *module;
  Interpreter *interpreter;
  nnc_safetensors *vectors;
  bool loops;
  DType own_type; /* that the program declares; DTYPE_COUNT: it is retyped to f64 and to f32 */
  int steps;
  int passed, failed;
} Case;

static void die(const char *what, const char *name) {
  fprintf(stderr, "vectors: %s %s\n", what, name);
  exit(2);
}

/* ---- values ---- */

static void to_storage(DType dtype, int64_t count, const double *from, char *into) {
  for (int64_t i = 0; i < count; i++) switch (dtype) {
    case DTYPE_F64: ((double *)into)[i] = from[i]; break;
    case DTYPE_F32: ((float *)into)[i] = (float)from[i]; break;
    case DTYPE_BF16: ((uint16_t *)into)[i] = nnc_to_bf16((float)from[i]); break;
    case DTYPE_F16: ((uint16_t *)into)[i] = nnc_to_f16((float)from[i]); break;
    case DTYPE_I64: ((int64_t *)into)[i] = (int64_t)from[i]; break;
    case DTYPE_I32: ((int32_t *)into)[i] = (int32_t)from[i]; break;
    case DTYPE_U8:
    case DTYPE_BOOL: ((uint8_t *)into)[i] = (uint8_t)from[i]; break;
    default: die("cannot write values of type", dtype_name(dtype));
    }
}

static double from_storage(int dtype, const char *from, int64_t i) {
  switch (dtype) {
  case DTYPE_F64: return ((const double *)from)[i];
  case DTYPE_F32: return ((const float *)from)[i];
  case DTYPE_BF16: return nnc_from_bf16(((const uint16_t *)from)[i]);
  case DTYPE_F16: return nnc_from_f16(((const uint16_t *)from)[i]);
  case DTYPE_I64: return (double)((const int64_t *)from)[i];
  case DTYPE_I32: return ((const int32_t *)from)[i];
  case DTYPE_U8:
  case DTYPE_BOOL: return ((const uint8_t *)from)[i];
  default: die("cannot read values of type", dtype_name((DType)dtype)); return 0;
  }
}

static int64_t stored_count(const nnc_stored *stored) {
  int64_t count = 1;
  for (int i = 0; i < stored->rank; i++) count *= stored->dim[i];
  return count;
}

/* The values of a tensor in a file, as doubles. */
static double *read_values(Case *test, nnc_safetensors *file, const nnc_stored *stored) {
  int64_t count = stored_count(stored);
  char *raw = ARENA_ARRAY(test->arena, char, (stored->end - stored->begin) + 8);
  double *values = ARENA_ARRAY(test->arena, double, count + 1);
  if (stored->dtype < 0 || !nnc_safetensors_read(file, stored, raw))
    die("cannot read", stored->name);
  for (int64_t i = 0; i < count; i++) values[i] = from_storage(stored->dtype, raw, i);
  return values;
}

static bool same_shape(const nnc_stored *stored, Shape shape) {
  bool same = stored->rank == shape.rank;
  for (int i = 0; same && i < shape.rank; i++) same = stored->dim[i] == shape.dim[i];
  return same;
}

/* ---- files for the executable ---- */

typedef struct Writer {
  VEC(nnc_tensor *) tensors;
  char *bytes;
  size_t used, room;
} Writer;

static void writer_add(Case *test, Writer *writer, const char *name, Type type,
                       const double *values) {
  nnc_tensor *entry = ARENA_NEW(test->arena, nnc_tensor);
  *entry = (nnc_tensor){.name = name,
                        .dtype = (int)type.dtype,
                        .rank = type.shape.rank,
                        .offset = (int64_t)writer->used};
  for (int i = 0; i < entry->rank; i++) entry->dim[i] = type.shape.dim[i];
  size_t bytes = (size_t)type_bytes(type);
  while (writer->used + bytes + 64 > writer->room) {
    writer->room = writer->room ? 2 * writer->room : 1 << 16;
    writer->bytes = realloc(writer->bytes, writer->room);
    if (!writer->bytes) die("no memory for", name);
  }
  to_storage(type.dtype, shape_elements(type.shape), values, writer->bytes + writer->used);
  writer->used += (bytes + 63) / 64 * 64;
  vec_push(test->arena, &writer->tensors, entry);
}

static void read_tensor(const void *source, const nnc_tensor *tensor, int64_t from, int64_t count,
                        void *to) {
  int64_t size = nnc_dtype_size(tensor->dtype);
  memcpy(to, (const char *)source + tensor->offset + from * size, (size_t)(count * size));
}

static void writer_save(Case *test, Writer *writer, const char *name) {
  const char *path = arena_printf(test->arena, "%s/%s", test->work, name);
  nnc_safetensors_content content = {.count = writer->tensors.count,
                                     .tensors = (const nnc_tensor *const *)writer->tensors.items,
                                     .read = read_tensor,
                                     .source = writer->bytes};
  if (!nnc_safetensors_write(path, NULL, &content)) die("cannot write", path);
  free(writer->bytes);
}

static bool is_retyped(const Case *test) { return test->own_type == DTYPE_COUNT; }

static Type as_float(const Case *test, Type type, DType float_type) {
  if (is_retyped(test) && dtype_is_float(type.dtype)) type.dtype = float_type;
  return type;
}

/* The values of input number `i` in a step: "STEP/NAME" or "NAME". */
static double *input_values(Case *test, const InputInfo *input, int step) {
  const nnc_stored *stored =
      nnc_safetensors_find(test->vectors, arena_printf(test->arena, "%d/%s", step, input->name));
  if (!stored) stored = nnc_safetensors_find(test->vectors, input->name);
  if (!stored || !same_shape(stored, input->type.shape))
    die("no values of this shape for", input->name);
  return read_values(test, test->vectors, stored);
}

/* What an executable of `float_type` starts from and is given. */
static void save_files(Case *test, DType float_type) {
  Writer start = {0}, inputs = {0};
  for (int i = 0; i < test->module->variables.count; i++) {
    const Variable *variable = &test->module->variables.items[i];
    if (variable->kind != VARIABLE_PARAM && variable->kind != VARIABLE_STATE) continue;
    const Tensor *value = interpreter_variable(test->interpreter, variable->path);
    Type type = as_float(test, variable->type, float_type);
    writer_add(test, &start, variable->path, type, value->data);
  }
  for (int step = 0; step < test->steps; step++)
    for (int i = 0; i < test->module->inputs.count; i++) {
      const InputInfo *input = &test->module->inputs.items[i];
      writer_add(test, &inputs, arena_printf(test->arena, "%d/%s", step, input->name),
                 as_float(test, input->type, float_type), input_values(test, input, step));
    }
  const char *type = dtype_name(float_type);
  writer_save(test, &start, arena_printf(test->arena, "start.%s", type));
  writer_save(test, &inputs, arena_printf(test->arena, "inputs.%s", type));
}

/* ---- comparison ---- */

static void check_one(Case *test, const char *by, const char *name, int64_t count,
                      const double *found, const double *expected, double tolerance) {
  double greatest = 0, worst = 0;
  for (int64_t i = 0; i < count; i++)
    if (isfinite(expected[i])) greatest = fmax(greatest, fabs(expected[i]));
  if (greatest == 0) greatest = 1;
  for (int64_t i = 0; i < count; i++) {
    double difference = fabs(found[i] - expected[i]) / greatest;
    if (!isfinite(expected[i])) {
      bool same = isnan(expected[i]) ? isnan(found[i]) : found[i] == expected[i];
      difference = same ? 0 : INFINITY;
    } else if (isnan(found[i])) {
      difference = INFINITY;
    }
    worst = fmax(worst, difference);
  }
  if (worst <= tolerance) {
    test->passed++;
    return;
  }
  test->failed++;
  printf("FAIL %s %s: %s differs by %.3g (at most %.3g)\n", test->program, by, name, worst,
         tolerance);
  for (int64_t i = 0; i < count && i < 4; i++)
    printf("       [%d] %.17g, expected %.17g\n", (int)i, found[i], expected[i]);
}

static double tolerance_of(Case *test, DType float_type) {
  if (dtype_is_half(test->own_type)) {
    const char *units = nnc_safetensors_metadata(test->vectors, "units");
    return strtod(units ? units : "1", NULL) * (test->own_type == DTYPE_BF16 ? 0x1p-8 : 0x1p-11);
  }
  bool is_double = float_type == DTYPE_F64;
  const char *text =
      nnc_safetensors_metadata(test->vectors, is_double ? "tolerance_f64" : "tolerance_f32");
  return text ? strtod(text, NULL) : is_double ? 1e-10 : 1e-5;
}

static void compare_interpreter(Case *test) {
  for (int i = 0; i < test->vectors->count; i++) {
    const nnc_stored *expected = &test->vectors->tensors[i];
    if (expected->name[0] != '=' || !strcmp(expected->name, "=loss")) continue;
    const Variable *variable = module_find_variable(test->module, name_intern(expected->name + 1));
    if (!variable || !same_shape(expected, variable->type.shape)) {
      printf("FAIL %s: %s has another shape or is missing\n", test->program, expected->name + 1);
      test->failed++;
      continue;
    }
    const Tensor *found = interpreter_variable(test->interpreter, variable->path);
    check_one(test, "interpreter", variable->path, stored_count(expected), found->data,
              read_values(test, test->vectors, expected), tolerance_of(test, DTYPE_F64));
  }
}

/* ---- predictions ---- */

static void check_prediction(Case *test, const char *by, const nnc_stored *expected,
                             const double *found, DType float_type) {
  check_one(test, by, expected->name, stored_count(expected), found,
            read_values(test, test->vectors, expected), tolerance_of(test, float_type));
}

static bool has_predictions(const Case *test) {
  for (int i = 0; i < test->vectors->count; i++)
    if (test->vectors->tensors[i].name[0] == '>') return true;
  return false;
}

static void interpret_predictions(Case *test, int count, const Binding *bindings) {
  Evaluation *result = interpreter_run(test->interpreter, ENTRY_PREDICT, count, bindings,
                                       (RunTime){test->steps, 0, test->steps, test->steps});
  const Graph *graph = test->module->entries[ENTRY_PREDICT];
  for (int k = 0; k < test->vectors->count; k++) {
    const nnc_stored *expected = &test->vectors->tensors[k];
    int i = 0;
    if (expected->name[0] != '>') continue;
    while (i < graph->outputs.count && strcmp(graph->outputs.items[i].name, expected->name + 1))
      i++;
    if (i == graph->outputs.count ||
        !same_shape(expected, graph->outputs.items[i].node->type.shape))
      die("there is no prediction of this shape:", expected->name);
    check_prediction(test, "interpreter", expected, evaluation_output(result, i)->data, DTYPE_F64);
  }
}

/* Numbers of the one line of JSON that `predict` prints: {"e3": [[1, 2], [3, 4]], ...}. */
static void compare_predictions(Case *test, const char *path, DType float_type) {
  enum { LONGEST = 1 << 20 };
  FILE *stream = fopen(path, "r");
  char *line = ARENA_ARRAY(test->arena, char, LONGEST);
  if (!stream || !fgets(line, LONGEST, stream)) die("cannot read", path);
  fclose(stream);
  for (int k = 0; k < test->vectors->count; k++) {
    const nnc_stored *expected = &test->vectors->tensors[k];
    if (expected->name[0] != '>') continue;
    char *at = strstr(line, arena_printf(test->arena, "\"%s\":", expected->name + 1));
    if (!at) die("predict does not print", expected->name + 1);
    at += strlen(expected->name) + 2;
    double *found = ARENA_ARRAY(test->arena, double, stored_count(expected) + 1);
    for (int64_t i = 0; i < stored_count(expected); i++) {
      at += strspn(at, "[], ");
      found[i] = strtod(at, &at);
    }
    check_prediction(test, dtype_name(float_type), expected, found, float_type);
  }
}

static void run_predictions(Case *test, DType float_type) {
  const char *work = test->work;
  const char *predictions = arena_printf(test->arena, "%s/predictions", work);
  const char *command =
      arena_printf(test->arena,
                   "printf '0\\n' > '%s/input.csv' && '%s/program' predict --init "
                   "'%s/result' --quiet '%s/input.csv' > '%s'",
                   work, work, work, work, predictions);
  if (system(command) != 0) die("this command failed:", command);
  compare_predictions(test, predictions, float_type);
}

static void compare_losses(Case *test, const char *path, DType float_type) {
  FILE *stream = fopen(path, "r");
  if (!stream) die("cannot read", path);
  char line[4096];
  double found[MOST_STEPS];
  int step = 0;
  for (; step < test->steps && fgets(line, sizeof line, stream); step++) {
    const char *loss = strstr(line, "\"loss\": ");
    if (!loss) die("unexpected line", line);
    found[step] = strtod(loss + 8, NULL);
  }
  fclose(stream);
  if (step < test->steps) die("too few steps in", path);
  const nnc_stored *expected = nnc_safetensors_find(test->vectors, "=loss");
  if (expected)
    check_one(test, dtype_name(float_type), "loss", test->steps, found,
              read_values(test, test->vectors, expected), tolerance_of(test, float_type));
}

static void compare_result(Case *test, const char *path, DType float_type) {
  nnc_safetensors *result = nnc_safetensors_open(path);
  if (!result) die("cannot read", path);
  for (int i = 0; i < test->vectors->count; i++) {
    const nnc_stored *expected = &test->vectors->tensors[i];
    if (expected->name[0] != '=' || !strcmp(expected->name, "=loss")) continue;
    const nnc_stored *found = nnc_safetensors_find(result, expected->name + 1);
    if (!found || stored_count(found) != stored_count(expected)) {
      test->failed++;
      printf("FAIL %s: the result lacks %s\n", test->program, expected->name + 1);
      continue;
    }
    check_one(test, dtype_name(float_type), found->name, stored_count(found),
              read_values(test, result, found), read_values(test, test->vectors, expected),
              tolerance_of(test, float_type));
  }
  nnc_safetensors_close(result);
}

/* ---- the two sides ---- */

static void load(Case *test) {
  const char *reason = NULL;
  SourceFile *source = source_read(test->arena, test->program, &reason);
  if (!source) die("cannot read", test->program);
  Diagnostics *diagnostics = diagnostics_create(test->arena);
  AstProgram *program = parse_program(test->arena, diagnostics, source);
  bool good = diagnostics_error_count(diagnostics) == 0;
  test->module = good ? elaborate(test->arena, diagnostics, program, NULL) : NULL;
  diagnostics_print(diagnostics, stderr, 0);
  if (!test->module) die("cannot elaborate", test->program);
  if (is_retyped(test)) module_retype_floats(test->module, DTYPE_F64);
  if (test->loops) test->module->run.scans = SCANS_LOOP;
  PipelineOptions options = {.level = 0};
  bool stopped = false;
  if (!passes_run(test->module, diagnostics, &options, &stopped))
    die("passes fail on", test->program);
  test->interpreter = interpreter_create(test->arena, test->module, SEED);
}

/* Every value of the file that is neither expected nor an input belongs to a variable. */
static void set_start(Case *test) {
  const nnc_stored *loss = nnc_safetensors_find(test->vectors, "=loss");
  test->steps = loss ? (int)stored_count(loss) : 1;
  if (test->steps > MOST_STEPS) die("too many steps in", test->program);
  for (int i = 0; i < test->vectors->count; i++) {
    const nnc_stored *stored = &test->vectors->tensors[i];
    bool is_input =
        module_find_input(test->module, name_intern(stored->name)) || strchr(stored->name, '/');
    if (strchr("=>", stored->name[0]) || is_input) continue;
    const Variable *variable = module_find_variable(test->module, name_intern(stored->name));
    if (!variable || !same_shape(stored, variable->type.shape))
      die("there is no variable of this name and shape:", stored->name);
    Tensor *value = interpreter_variable(test->interpreter, variable->path);
    memcpy(value->data, read_values(test, test->vectors, stored),
           sizeof *value->data * (size_t)stored_count(stored));
  }
}

static void interpret(Case *test) {
  for (int step = 0; step < test->steps; step++) {
    Binding bindings[MOST_INPUTS];
    int count = 0;
    for (; count < test->module->inputs.count && count < MOST_INPUTS; count++) {
      const InputInfo *input = &test->module->inputs.items[count];
      Tensor *value = tensor_create(test->arena, as_float(test, input->type, DTYPE_F64));
      memcpy(value->data, input_values(test, input, step),
             sizeof *value->data * (size_t)shape_elements(input->type.shape));
      bindings[count] = (Binding){OP_INPUT, input->name, value};
    }
    interpreter_run(test->interpreter, ENTRY_TRAIN, count, bindings,
                    (RunTime){step + 1, 0, test->steps, test->steps});
    if (step + 1 == test->steps && has_predictions(test))
      interpret_predictions(test, count, bindings);
  }
}

static void run_executable(Case *test, DType float_type) {
  const char *type = dtype_name(float_type), *work = test->work, *more = getenv("VECTORS_OPTIONS");
  const char *commands[] = {
      arena_printf(test->arena, "'%s' '%s'%s%s%s%s %s -o '%s/program'", test->nnc, test->program,
                   is_retyped(test) ? " --float=" : "", is_retyped(test) ? type : "",
                   test->loops ? " --scans=loop" : "",
                   getenv("VECTORS_LONG") ? "" : " --cflags=-O0 --units=1", more ? more : "", work),
      arena_printf(test->arena,
                   "'%s/program' step --inputs '%s/inputs.%s' --init '%s/start.%s' --steps %d "
                   "--seed %d --quiet '%s/result' > '%s/losses'",
                   work, work, type, work, type, test->steps, SEED, work, work),
  };
  for (int i = 0; i < 2; i++)
    if (system(commands[i]) != 0) die("this command failed:", commands[i]);
  compare_result(test, arena_printf(test->arena, "%s/result", work), float_type);
  compare_losses(test, arena_printf(test->arena, "%s/losses", work), float_type);
  if (has_predictions(test)) run_predictions(test, float_type);
}

int main(int argc, char **argv) {
  bool loops = argc == 6 && strcmp(argv[5], "loop") == 0;
  DType own_type = DTYPE_COUNT;
  bool has_type = argc == 6 && dtype_parse(argv[5], &own_type) && dtype_is_float(own_type);
  if (argc != 5 && !loops && !has_type)
    die("usage:", "vectors NNC PROGRAM.net VECTORS.safetensors WORKDIR [loop | bf16 | f16 | f64]");
  const DType types[] = {has_type ? own_type : DTYPE_F64, DTYPE_F32};
  bool is_exact = (loops || getenv("VECTORS_EXACT")) && !getenv("VECTORS_LONG");
  const int type_count = has_type || is_exact ? 1 : 2;
  Case test = {.nnc = argv[1],
               .program = argv[2],
               .work = argv[4],
               .arena = arena_create(),
               .own_type = own_type,
               .loops = loops};
  test.vectors = nnc_safetensors_open(argv[3]);
  if (!test.vectors) die("cannot read", argv[3]);
  load(&test);
  set_start(&test);
  for (int i = 0; i < type_count; i++) save_files(&test, types[i]);
  interpret(&test);
  compare_interpreter(&test);
  for (int i = 0; i < type_count; i++) run_executable(&test, types[i]);
  printf("%s: %d compared, %d differ\n", test.program, test.passed + test.failed, test.failed);
  interpreter_destroy(test.interpreter);
  nnc_safetensors_close(test.vectors);
  arena_destroy(test.arena);
  return test.failed || !test.passed ? 1 : 0;
}
