/* A small module that has one of everything a dump can hold. */
#ifndef NNC_TESTS_UNIT_SAMPLE_MODULE_H
#define NNC_TESTS_UNIT_SAMPLE_MODULE_H

#include <math.h>
#include "graphs.h"

#define SAMPLE_SOURCE                                                                              \
  "const batch = 4   # \"quotes\", a tab\t and \xc3\xa9\\\n"                                       \
  "input x : f32[batch, 3]\n"                                                                      \
  "no newline at the end"

typedef struct Sample {
  Module *module;
  SourceFile *prelude;
} Sample;

static inline Span sample_span(const SourceFile *file, int line) {
  return (Span){file, line, 1, line, 8};
}

static inline DataValue *sample_values(Arena *arena) {
  DataValue *items = ARENA_ARRAY(arena, DataValue, 5);
  items[0] = (DataValue){.kind = DATA_NUMBER, .number = 0.1};
  items[1] = (DataValue){.kind = DATA_STRING, .string = name_intern("a \"b\"\n")};
  items[2] = (DataValue){.kind = DATA_BOOL, .number = 1};
  items[3] = (DataValue){.kind = DATA_NAME, .string = name_intern("label")};
  items[4] = (DataValue){.kind = DATA_LIST};
  return items;
}

static inline void sample_data(Sample *sample) {
  Module *module = sample->module;
  Arena *arena = module->arena;
  DataArgument *arguments = ARENA_ARRAY(arena, DataArgument, 2);
  arguments[0] = (DataArgument){"file", {.kind = DATA_STRING, .string = "train.csv"}};
  arguments[1] =
      (DataArgument){"options", {.kind = DATA_LIST, .count = 5, .items = sample_values(arena)}};
  DataCall *calls = ARENA_ARRAY(arena, DataCall, 2);
  calls[0] = (DataCall){"csv", 2, arguments, sample_span(module->source, 1)};
  DataArgument *fields_of = ARENA_NEW(arena, DataArgument);
  *fields_of = (DataArgument){"", {.kind = DATA_NAME, .string = "x"}};
  calls[1] = (DataCall){"standardize", 1, fields_of, (Span){0}};
  const char **fields = ARENA_ARRAY(arena, const char *, 2);
  fields[0] = "x";
  fields[1] = "label";
  DataPipeline *pipeline = ARENA_NEW(arena, DataPipeline);
  *pipeline = (DataPipeline){.field_count = 2,
                             .fields = fields,
                             .call_count = 2,
                             .calls = calls,
                             .span = sample_span(module->source, 2)};
  DataSet train = {"train", 1, pipeline, true, 0, true, sample_span(module->source, 1)};
  DataSet test = {.name = "test"};
  vec_push(arena, &module->data_sets, train);
  vec_push(arena, &module->data_sets, test);
}

static inline void sample_tables(Sample *sample) {
  Module *module = sample->module;
  add_input(module, "x", TYPE(F32, 4, 3), true);
  add_input(module, "mask", TYPE(BOOL, 3), false);
  add_variable(module, VARIABLE_PARAM, "h.w", TYPE(F32, 3, 2));
  add_variable(module, VARIABLE_STATE, "h.mean", TYPE(F32, 2));
  add_variable(module, VARIABLE_STREAM, "memory", TYPE(F32, 2));
  add_variable(module, VARIABLE_OPTIMIZER, "h.w:m", TYPE(F32, 3, 2));
  module->variables.items[0].frozen = true;
  module->variables.items[0].span = sample_span(sample->prelude, 12);
  module->inputs.items[0].span = sample_span(module->source, 2);
  MetricInfo loss = {"loss", sample_span(module->source, 3)};
  loss.name = name_intern("loss");
  vec_push(module->arena, &module->metrics, loss);
  module->run = (RunConfig){.batch = 4,
                            .batch_name = "batch",
                            .epochs = 5,
                            .validate_steps = 7,
                            .accumulate = 2,
                            .seed = -3,
                            .precision = DTYPE_F32};
}

/* y = x @ w, [4, 2] */
static inline Node *sample_forward(const Maker *maker) {
  Node *x = leaf(maker, OP_INPUT, TYPE(F32, 4, 3), "x");
  Node *w = leaf(maker, OP_PARAM, TYPE(F32, 3, 2), "h.w");
  ContractAxes axes = {.sum_count = 1, .sum_left = {1}, .sum_right = {0}};
  return make_contract(maker, x, w, &axes);
}

static inline void sample_train(Sample *sample) {
  Maker maker = entry_maker(sample->module, ENTRY_TRAIN, "h.linear");
  maker.span = sample_span(sample->prelude, 14);
  Node *y = sample_forward(&maker);
  maker.path = "loss";
  maker.span = sample_span(sample->module->source, 3);
  Node *loss = make_reduce(&maker, OP_REDUCE_MEAN, y, 2, (int64_t[]){0, 1});
  Node *lr = leaf(&maker, OP_SCALAR, type_scalar(DTYPE_F64), "lr");
  Node *rate = make_broadcast(&maker, make_cast(&maker, lr, DTYPE_F32), SHAPE(2), NULL);
  Node *mean = leaf(&maker, OP_STATE, TYPE(F32, 2), "h.mean");
  output(maker.graph, OUTPUT_STORE, "h.mean", make_binary(&maker, OP_MUL, mean, rate));
  output(maker.graph, OUTPUT_ACCUMULATOR, "loss", loss);
  sample->module->entries[ENTRY_ACCUMULATE] = graph_create(sample->module->arena, "accumulate");
}

static inline void sample_others(Sample *sample) {
  Module *module = sample->module;
  Maker maker = entry_maker(module, ENTRY_INIT, "init");
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    output(maker.graph, OUTPUT_STORE, variable->path,
           make_constant(&maker, variable->type, i == 0 ? -0.0 : 0.1 * i));
  }
  maker = entry_maker(module, ENTRY_HOST, "schedule");
  Node *t = leaf(&maker, OP_SCALAR, type_scalar(DTYPE_F64), "t");
  output(maker.graph, OUTPUT_SCALAR, "lr", make_binary_value(&maker, OP_MUL, t, 1e-3));
  maker = entry_maker(module, ENTRY_EVAL, "y");
  Node *y = sample_forward(&maker);
  Node *total = make_reduce(&maker, OP_REDUCE_SUM, y, 2, (int64_t[]){0, 1});
  graph_add_output(
      maker.graph,
      (Output){.kind = OUTPUT_ACCUMULATOR, .combine = COMBINE_SUM, .name = "loss", .node = total});
  output(maker.graph, OUTPUT_STORE, "memory", make_constant(&maker, TYPE(F32, 2), INFINITY));
  maker = entry_maker(module, ENTRY_PREDICT, "y");
  output(maker.graph, OUTPUT_RESULT, "y", sample_forward(&maker));
  maker = entry_maker(module, ENTRY_FINISH, "loss");
  Node *sum = leaf(&maker, OP_SCALAR, type_scalar(DTYPE_F64), "loss");
  output(maker.graph, OUTPUT_SCALAR, "loss", make_unary(&maker, OP_EXP, sum));
}

static inline Sample sample_create(Arena *arena) {
  SourceFile *source = source_from_text(arena, "sample.net", SAMPLE_SOURCE, strlen(SAMPLE_SOURCE));
  Sample sample = {.module = module_create(arena, "sample", source),
                   .prelude = source_from_text(arena, "<prelude>/layers.net", "", 0)};
  sample.prelude->is_prelude = 1;
  sample_tables(&sample);
  sample_data(&sample);
  sample_train(&sample);
  sample_others(&sample);
  return sample;
}

#endif
