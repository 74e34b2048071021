/* The stage with the C compiler: the executable's `step` command against the reference.
 *
 * The module in its own types and with all floats in f64, each at -O0 and -O1: emitted, compiled, run
 * with 1 and 2 threads from the case's values. The two results must be the same bytes; variables after
 * the last step and metrics of every step must be what the reference says. In f64 that is 1e-10 of a
 * tensor's greatest element; in f32 2^-20 of it. To both comes 32 times the spread that imitated
 * rounding of the types gives (numeric.c), which is nearly all of it where terms cancel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/c/compile.h"
#include "backend/c/emit.h"
#include "fuzz.h"
#include "passes/pass.h"
#include "passes/retype.h"
#include "program/program.h"
#include "safetensors.h"
#include "support/panic.h"

typedef struct CJudge {
  Arena *arena;
  const Case *test;
  const CStage *stage;
  const Reference *reference;
  const Module *module;  /* retyped, not yet through the passes */
  Precision precision;
  const char *what;      /* "f64 -O1" */
} CJudge;

/* ---- values in files ---- */

static void to_storage(const Tensor *tensor, DType dtype, void *into) {
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++) {
    double value = tensor->data[i];
    switch (dtype) {
    case DTYPE_F64: ((double *)into)[i] = value; break;
    case DTYPE_F32: ((float *)into)[i] = (float)value; break;
    case DTYPE_I64: ((int64_t *)into)[i] = (int64_t)value; break;
    case DTYPE_I32: ((int32_t *)into)[i] = (int32_t)value; break;
    case DTYPE_U8: case DTYPE_BOOL: ((uint8_t *)into)[i] = (uint8_t)value; break;
    default: panic("no values of type %s", dtype_name(dtype));
    }
  }
}

static void from_storage(const void *from, DType dtype, int64_t count, double *values) {
  for (int64_t i = 0; i < count; i++) {
    switch (dtype) {
    case DTYPE_F64: values[i] = ((const double *)from)[i]; break;
    case DTYPE_F32: values[i] = ((const float *)from)[i]; break;
    case DTYPE_I64: values[i] = (double)((const int64_t *)from)[i]; break;
    case DTYPE_I32: values[i] = ((const int32_t *)from)[i]; break;
    case DTYPE_U8: case DTYPE_BOOL: values[i] = ((const uint8_t *)from)[i]; break;
    default: panic("no values of type %s", dtype_name(dtype));
    }
  }
}

typedef struct Writer {
  VEC(nnc_tensor *) tensors;
  VEC(const Tensor *) values;
  int64_t bytes;
} Writer;

static void writer_add(Arena *arena, Writer *writer, const char *name, DType dtype, const Tensor *value) {
  nnc_tensor *tensor = ARENA_NEW(arena, nnc_tensor);
  Shape shape = value->type.shape;
  *tensor = (nnc_tensor){.name = name, .dtype = (int)dtype, .rank = shape.rank, .offset = writer->bytes};
  for (int i = 0; i < shape.rank; i++) tensor->dim[i] = shape.dim[i];
  writer->bytes += (type_bytes(type_make(dtype, shape)) + 63) / 64 * 64;
  vec_push(arena, &writer->tensors, tensor);
  vec_push(arena, &writer->values, value);
}

static const char *writer_save(const CJudge *judge, const Writer *writer, const char *name) {
  const char *path = arena_printf(judge->arena, "%s/%s", judge->stage->work, name);
  char *bytes = ARENA_ARRAY(judge->arena, char, writer->bytes + 64);
  for (int i = 0; i < writer->tensors.count; i++)
    to_storage(writer->values.items[i], (DType)writer->tensors.items[i]->dtype,
               bytes + writer->tensors.items[i]->offset);
  if (!nnc_safetensors_write(path, NULL, writer->tensors.count,
                             (const nnc_tensor *const *)writer->tensors.items, bytes, 0, NULL))
    panic("cannot write %s", path);
  return path;
}

static void write_values(const CJudge *judge) {
  Writer start = {0}, inputs = {0};
  const Module *module = judge->module;
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    if (variable->kind == VARIABLE_PARAM || variable->kind == VARIABLE_STATE)
      writer_add(judge->arena, &start, variable->path, variable->type.dtype, judge->test->start.items[i]);
  }
  for (int i = 0; i < module->inputs.count; i++)
    writer_add(judge->arena, &inputs, module->inputs.items[i].name, module->inputs.items[i].type.dtype,
               judge->test->inputs.items[i]);
  writer_save(judge, &start, "start.safetensors");
  writer_save(judge, &inputs, "inputs.safetensors");
}

/* ---- the executable ---- */

static void build(const CJudge *judge, int level) {
  panic_set_context(judge->what);
  Module *module = module_copy(judge->arena, judge->module);
  PassOptions passes = {.level = level};
  bool stopped;
  if (!passes_run(module, diagnostics_create(judge->arena), &passes, &stopped)) panic("the passes failed");
  ProgramOptions lowering = {.level = level, .vector_bytes = 64};
  Program *program = program_create(judge->arena, module, &lowering);
  const char *broken = program_verify(judge->arena, program);
  if (broken) panic("the program is not sound: %s", broken);
  CompileOptions compile = {.prefix = judge->stage->build, .cflags = judge->stage->optimize,
                            .output = arena_printf(judge->arena, "%s/model", judge->stage->work)};
  if (!compile_prepare(judge->arena, &compile)) panic("there is no C compiler");
  CSource source = {0};
  emit_source(judge->arena, &source, program, &compile);
  if (!compile_c(judge->arena, &compile, &source)) panic("the C compiler refuses the code");
  source_free(&source);
}

static const char *path_in_work(const CJudge *judge, const char *name, int threads) {
  return arena_printf(judge->arena, "%s/%s.%d", judge->stage->work, name, threads);
}

static const char *run_steps(const CJudge *judge, int threads) {
  const char *work = judge->stage->work;
  const char *start = judge->test->start.count > 0
                        ? arena_printf(judge->arena, "--init '%s/start.safetensors'", work) : "";
  const char *command = arena_printf(
    judge->arena, "'%s/model' step --inputs '%s/inputs.safetensors' %s --steps %d --threads %d --quiet "
    "'%s' > '%s'", work, work, start, judge->test->steps, threads,
    path_in_work(judge, "result", threads), path_in_work(judge, "metrics", threads));
  int status = system(command);
  if (status == 0) return NULL;
  return arena_printf(judge->arena, "%s: status %d of %s", judge->what, status, command);
}

/* ---- comparing ---- */

static const char *differs(const CJudge *judge, const Expected *expected, const double *given, int step) {
  const char *text = expected_differs(judge->arena, expected, given, judge->precision);
  return text ? arena_printf(judge->arena, "%s: step %d, %s", judge->what, step + 1, text) : NULL;
}

static const char *check_variables(const CJudge *judge, int threads) {
  const char *path = path_in_work(judge, "result", threads), *text = NULL;
  nnc_safetensors *file = nnc_safetensors_open(path);
  if (!file) panic("cannot read %s", path);
  for (int i = 0; i < judge->module->variables.count && !text; i++) {
    const Variable *variable = &judge->module->variables.items[i];
    const nnc_stored *stored = nnc_safetensors_find(file, variable->path);
    if (!stored) panic("%s lacks %s", path, variable->path);
    int64_t count = shape_elements(variable->type.shape);
    char *raw = ARENA_ARRAY(judge->arena, char, type_bytes(variable->type) + 8);
    double *values = ARENA_ARRAY(judge->arena, double, count + 1);
    if (!nnc_safetensors_read(file, stored, raw)) panic("cannot read %s of %s", variable->path, path);
    from_storage(raw, variable->type.dtype, count, values);
    int last = judge->test->steps - 1;
    text = differs(judge, &judge->reference->variables[last][i], values, last);
  }
  nnc_safetensors_close(file);
  return text;
}

/* One JSON line a step; the finish entry gives accumulators as they are. */
static const char *check_metrics(const CJudge *judge, int threads) {
  const char *path = path_in_work(judge, "metrics", threads), *text = NULL;
  const Graph *train = judge->module->entries[ENTRY_TRAIN];
  size_t room = 0;
  char *line = NULL;
  FILE *stream = fopen(path, "r");
  if (!stream) panic("cannot read %s", path);
  for (int step = 0; step < judge->test->steps && !text; step++) {
    if (getline(&line, &room, stream) < 0) panic("%s has too few lines", path);
    for (int i = 0; i < train->outputs.count && !text; i++) {
      if (train->outputs.items[i].kind != OUTPUT_ACCUMULATOR) continue;
      const char *key = arena_printf(judge->arena, "\"%s\": ", train->outputs.items[i].name);
      const char *at = strstr(line, key);
      if (!at) panic("%s lacks %s", path, key);
      double value = strtod(at + strlen(key), NULL);
      text = differs(judge, &judge->reference->outputs[step][i], &value, step);
    }
  }
  free(line);
  fclose(stream);
  return text;
}

static bool same_bytes(const char *a, const char *b) {
  FILE *one = fopen(a, "rb"), *two = fopen(b, "rb");
  if (!one || !two) panic("cannot read %s", a);
  int c, d;
  do {
    c = getc(one);
    d = getc(two);
  } while (c == d && c != EOF);
  fclose(one);
  fclose(two);
  return c == d;
}

static const char *judge_level(CJudge *judge, int level) {
  judge->what = arena_printf(judge->arena, "executable in %s -O%d",
                             judge->precision == PRECISION_OWN ? "its own types" : "f64", level);
  build(judge, level);
  const char *text = NULL;
  for (int threads = 1; threads <= 2 && !text; threads++) {
    text = run_steps(judge, threads);
    if (!text) text = check_variables(judge, threads);
    if (!text) text = check_metrics(judge, threads);
  }
  if (!text && !same_bytes(path_in_work(judge, "result", 1), path_in_work(judge, "result", 2)))
    text = arena_printf(judge->arena, "%s: 1 and 2 threads give different bits", judge->what);
  return text;
}

const char *judge_case_c(const Case *test, Arena *arena, const CStage *stage) {
  CJudge judge = {.arena = arena, .test = test, .stage = stage, .reference = reference_create(arena, test)};
  const char *text = NULL;
  for (int wide = 0; wide <= 1 && !text; wide++) {
    Module *module = module_copy(arena, test->module);
    if (wide) module_retype_floats(module, DTYPE_F64);
    judge.module = module;
    judge.precision = wide ? PRECISION_DOUBLE : PRECISION_OWN;
    write_values(&judge);
    for (int level = 0; level <= 1 && !text; level++) text = judge_level(&judge, level);
  }
  panic_set_context(NULL);
  return text;
}
