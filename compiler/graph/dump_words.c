/* The words of the textual form: see the header. */
#include "graph/dump_words.h"

const char *const dump_variable_words[VARIABLE_KIND_COUNT] = {
    [VARIABLE_PARAM] = "param",
    [VARIABLE_STATE] = "state",
    [VARIABLE_STREAM] = "stream",
    [VARIABLE_OPTIMIZER] = "optimizer",
};

const char *const dump_order_words[DATA_ORDER_COUNT] = {NULL, "file_order", "stream_order"};

const char *const dump_output_words[OUTPUT_KIND_COUNT] = {
    [OUTPUT_STORE] = "store",
    [OUTPUT_ACCUMULATOR] = "accumulator",
    [OUTPUT_RESULT] = "result",
    [OUTPUT_SCALAR] = "scalar",
};

const char *const dump_scan_words[SCAN_CHOICE_COUNT] = {"auto", "unroll", "loop"};

const char *const dump_combine_words[COMBINE_COUNT] = {
    [COMBINE_MEAN] = "mean", [COMBINE_BATCHES] = "batches", [COMBINE_SUM] = "sum",
    [COMBINE_MAX] = "max",   [COMBINE_MIN] = "min",         [COMBINE_LAST] = "last",
};

const DumpRunField dump_run_fields[] = {
    {"batch", offsetof(RunConfig, batch)},
    {"epochs", offsetof(RunConfig, epochs)},
    {"steps", offsetof(RunConfig, steps)},
    {"validate_steps", offsetof(RunConfig, validate_steps)},
    {"accumulate", offsetof(RunConfig, accumulate)},
    {"seed", offsetof(RunConfig, seed)},
};
const int dump_run_field_count = sizeof dump_run_fields / sizeof *dump_run_fields;
