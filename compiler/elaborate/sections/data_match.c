/* Sources whose names of files are patterns: a stage of its own says so to the runtime, so that what patterns need is
 * linked where they are used. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"
#include "support/names.h"

static bool value_has_pattern(const DataValue *value) {
  for (int i = 0; value->kind == DATA_LIST && i < value->count; i++)
    if (value_has_pattern(&value->items[i])) return true;
  return value->kind == DATA_STRING && data_is_pattern(value->string);
}

bool data_add_match(Elaborator *e, DataPipeline *pipeline) {
  static const char *const takers[] = {"csv",   "npy",    "npz",  "idx",      "raw",
                                       "cifar", "shards", "text", "wav_list", "image_list"};
  const DataCall *source = &pipeline->calls[0];
  const DataArgument *pattern = NULL;
  for (int i = 0; i < source->argument_count && !pattern; i++) {
    const DataArgument *argument = &source->arguments[i];
    bool are_files = !argument->name[0] || !strcmp(argument->name, "file") ||
                     !strcmp(argument->name, "files") || !strcmp(argument->name, "folder");
    bool is_list = !strcmp(source->function, "image_list") || !strcmp(source->function, "wav_list");
    if (is_list && !strcmp(argument->name, "folder")) continue; /* names of pictures follow it */
    if (are_files && value_has_pattern(&argument->value)) pattern = argument;
  }
  bool takes = !pattern;
  for (size_t i = 0; i < sizeof takers / sizeof takers[0] && pattern; i++)
    takes = takes || !strcmp(source->function, takers[i]);
  if (!takes) {
    Diagnostic *d = report_error(e, source->span, "'%s' takes no pattern", source->function);
    diag_help(d, "patterns of files (with * and ?) are for csv, npy, npz, idx, raw, cifar, shards, "
                 "text, image_list and wav_list; concat(...) joins other sources");
    return false;
  }
  if (pattern)
    pipeline->calls[pipeline->call_count++] =
        (DataCall){.function = name_intern("match"), .span = source->span};
  return true;
}
