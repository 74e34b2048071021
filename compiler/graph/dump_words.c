/* The words of the textual form: see the header. */
#include "graph/dump_words.h"

const char *const dump_variable_words[VARIABLE_KIND_COUNT] = {
    [VARIABLE_PARAM] = "param",         [VARIABLE_STATE] = "state",   [VARIABLE_STREAM] = "stream",
    [VARIABLE_OPTIMIZER] = "optimizer", [VARIABLE_FITTED] = "fitted",
};

const char *const dump_order_words[DATA_ORDER_COUNT] = {NULL, "file_order", "stream_order",
                                                        "order_within"};

const char *const dump_output_words[OUTPUT_KIND_COUNT] = {
    [OUTPUT_STORE] = "store",
    [OUTPUT_ACCUMULATOR] = "accumulator",
    [OUTPUT_RESULT] = "result",
    [OUTPUT_SCALAR] = "scalar",
};

const char *const dump_scan_words[SCAN_CHOICE_COUNT] = {"auto", "unroll", "loop"};

const char *const dump_unit_words[UNIT_COUNT] = {"number", "epochs", "steps"};

const char *const dump_combine_words[COMBINE_COUNT] = {
    [COMBINE_MEAN] = "mean",   [COMBINE_BATCHES] = "batches", [COMBINE_SUM] = "sum",
    [COMBINE_MAX] = "max",     [COMBINE_MIN] = "min",         [COMBINE_LAST] = "last",
    [COMBINE_STEPS] = "steps", [COMBINE_COUNTS] = "counts",
};

const DumpRunField dump_run_fields[] = {
    {"batch", offsetof(RunConfig, batch), false},
    {"epochs", offsetof(RunConfig, epochs), false},
    {"steps", offsetof(RunConfig, steps), false},
    {"validate_steps", offsetof(RunConfig, validate_steps), false},
    {"accumulate", offsetof(RunConfig, accumulate), false},
    {"seed", offsetof(RunConfig, seed), false},
    {"keep", offsetof(RunConfig, keep), true},
    {"save_steps", offsetof(RunConfig, save_steps), true},
    {"save_epochs", offsetof(RunConfig, save_epochs), true},
    {"save_minutes", offsetof(RunConfig, save_minutes), true},
    {"class_losses", offsetof(RunConfig, class_losses), true},
    {"losses", offsetof(RunConfig, losses), true},
};
const int dump_run_field_count = sizeof dump_run_fields / sizeof *dump_run_fields;

static const char *const dump_watch_words[WATCH_KIND_COUNT] = {"best", "stop"};

static const Field input_fields[] = {
    FIELD("", STRING, InputInfo, name),
    FIELD(" : ", TYPE, InputInfo, type),
    FIELD(" batched", FLAG, InputInfo, is_batched),
    FIELD("", PLACE, InputInfo, span),
};
static const Field variable_fields[] = {
    FIELD("", WORD, Variable, kind, .most = VARIABLE_KIND_COUNT, .choices = dump_variable_words),
    FIELD(" ", STRING, Variable, path),
    FIELD(" : ", TYPE, Variable, type),
    FIELD(" frozen", FLAG, Variable, frozen),
    FIELD(" file ", GIVEN, Variable, file),
    FIELD(" entry ", GIVEN, Variable, entry),
    FIELD("", PLACE, Variable, span),
};
static const Field metric_fields[] = {
    FIELD("", STRING, MetricInfo, name),
    FIELD("", PLACE, MetricInfo, span),
};
#define PLATEAU_NUMBER(part)                                                                       \
  FIELD(" ", DOUBLE, Plateau, numbers[part].value),                                                \
      FIELD(" from ", GIVEN, Plateau, numbers[part].scalar)
static const Field plateau_fields[] = {
    FIELD("", STRING, Plateau, name),
    FIELD(" metric ", STRING, Plateau, metric),
    FIELD(" of ", STRING, Plateau, set),
    FIELD(" max", FLAG, Plateau, is_max),
    FIELD(" relative", FLAG, Plateau, is_relative),
    PLATEAU_NUMBER(PLATEAU_START),
    PLATEAU_NUMBER(PLATEAU_FACTOR),
    PLATEAU_NUMBER(PLATEAU_PATIENCE),
    PLATEAU_NUMBER(PLATEAU_THRESHOLD),
    PLATEAU_NUMBER(PLATEAU_COOLDOWN),
    PLATEAU_NUMBER(PLATEAU_FLOOR),
    PLATEAU_NUMBER(PLATEAU_LEAST),
    FIELD("", PLACE, Plateau, span),
};

static const Field option_fields[] = {
    FIELD("", STRING, RunOption, name),
    FIELD(" whole", FLAG, RunOption, is_whole),
    FIELD(" ", WORD, RunOption, unit, .most = UNIT_COUNT, .choices = dump_unit_words),
    FIELD(" ", DOUBLE, RunOption, start),
    FIELD(" from ", DOUBLE, RunOption, least),
    FIELD(" below ", DOUBLE, RunOption, limit),
    FIELD(" sets_epochs", FLAG, RunOption, sets_epochs),
    FIELD(" sets_steps", FLAG, RunOption, sets_steps),
    FIELD(" sets_validate", FLAG, RunOption, sets_validate),
    FIELD(" sets_seed", FLAG, RunOption, sets_seed),
    FIELD(" sets_rows", FLAG, RunOption, sets_rows),
    FIELD("", PLACE, RunOption, span),
};

static const Field rate_fields[] = {
    FIELD("", STRING, Rate, name),
    FIELD(" is ", STRING, Rate, scalar),
    FIELD("", PLACE, Rate, span),
};

static const Field watch_fields[] = {
    FIELD("", WORD, Watch, kind, .most = WATCH_KIND_COUNT, .choices = dump_watch_words),
    FIELD(" ", STRING, Watch, metric),
    FIELD(" of ", STRING, Watch, set),
    FIELD(" max", FLAG, Watch, is_max),
    FIELD(" ", DOUBLE, Watch, threshold),
    FIELD(" ", INT64, Watch, count, 1, INT32_MAX),
    FIELD("", PLACE, Watch, span),
};

const DumpList dump_lists[DUMP_LIST_COUNT] = {
    {"input", RECORD(input_fields), offsetof(Module, inputs), sizeof(InputInfo)},
    {NULL, RECORD(variable_fields), offsetof(Module, variables), sizeof(Variable)},
    {"metric", RECORD(metric_fields), offsetof(Module, metrics), sizeof(MetricInfo)},
    {"plateau", RECORD(plateau_fields), offsetof(Module, plateaus), sizeof(Plateau)},
    {"option", RECORD(option_fields), offsetof(Module, options), sizeof(RunOption)},
    {"watch", RECORD(watch_fields), offsetof(Module, watches), sizeof(Watch)},
    {"rate", RECORD(rate_fields), offsetof(Module, rates), sizeof(Rate)},
};
