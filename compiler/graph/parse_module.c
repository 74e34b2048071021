/* Reading a module back from the textual form (dump_words.h shows it).
 *
 * A recursive descent over items, each found by its keyword in a table. What is read is a module
 * only after the verifier agrees; its complaint becomes a diagnostic at the node's line in the
 * dump. */
#include "graph/textual.h"

#include <string.h>
#include "graph/dump_reader.h"
#include "graph/dump_words.h"
#include "support/names.h"

enum { DEEPEST_LIST = 32 }; /* of a data argument; bounds the recursion */

typedef VEC(const char *) StringList;
typedef VEC(DataValue) ValueList;
typedef VEC(DataArgument) ArgumentList;
typedef VEC(DataCall) CallList;
typedef VEC(DataPipeline) PipelineList;

/* ---- run, files --------------------------------------------------------------------------- */

static bool read_scans(Reader *reader, RunConfig *run) {
  int choice;
  if (!reader_expect_mark(reader, '=') ||
      !reader_choice(reader, dump_scan_words, SCAN_CHOICE_COUNT, "auto, unroll or loop", &choice))
    return false;
  run->scans = (ScanChoice)choice;
  return true;
}

static bool read_run_field(Reader *reader, RunConfig *run) {
  if (reader_accept_word(reader, "batch_name"))
    return reader_expect_mark(reader, '=') && reader_string(reader, &run->batch_name);
  if (reader_accept_word(reader, "definitions"))
    return reader_expect_mark(reader, '=') && reader_string(reader, &run->definitions);
  if (reader_accept_word(reader, "precision"))
    return reader_expect_mark(reader, '=') && reader_dtype(reader, &run->precision);
  if (reader_accept_word(reader, "tf32")) return run->allows_tf32 = true;
  if (reader_accept_word(reader, "bf16x3")) return run->splits_products = true;
  if (reader_accept_word(reader, "scans")) return read_scans(reader, run);
  for (int i = 0; i < dump_run_field_count; i++) {
    int64_t value;
    if (!reader_accept_word(reader, dump_run_fields[i].name)) continue;
    if (!reader_expect_mark(reader, '=') || !reader_integer(reader, INT64_MIN, INT64_MAX, &value))
      return false;
    memcpy((char *)run + dump_run_fields[i].offset, &value, sizeof value);
    return true;
  }
  return reader_fail(reader, "expected a field of the run configuration");
}

static bool read_run(Reader *reader) {
  if (!reader_expect_mark(reader, '{')) return false;
  do {
    if (!read_run_field(reader, &reader->module->run)) return false;
  } while (reader_accept_mark(reader, ','));
  return reader_expect_mark(reader, '}');
}

static bool read_source(Reader *reader) {
  const char *name;
  Text text = {0};
  if (reader->files.items[0]) return reader_fail(reader, "a dump has one source");
  if (!reader_string(reader, &name)) return false;
  SourceFile *file = ARENA_NEW(reader->arena, SourceFile);
  file->name = name;
  file->is_prelude = reader_accept_word(reader, "prelude");
  reader->files.items[0] = file;
  reader->module->source = file;
  if (!reader_accept_mark(reader, '{')) return !reader->failed;
  bool fine = true;
  while (fine && !reader_sees_mark(reader, '}')) fine = reader_string_text(reader, &text);
  file->text = arena_strndup(reader->arena, text.data ? text.data : "", text.length);
  file->length = text.length;
  text_free(&text);
  return fine && reader_expect_mark(reader, '}');
}

static bool read_file(Reader *reader) {
  int64_t number;
  const char *name;
  int expected = reader->files.count;
  if (!reader_integer(reader, expected, expected, &number) || !reader_string(reader, &name))
    return false;
  SourceFile *file = ARENA_NEW(reader->arena, SourceFile);
  file->name = name;
  file->is_prelude = reader_accept_word(reader, "prelude");
  vec_push(reader->arena, &reader->files, file);
  return !reader->failed;
}

/* ---- what is a line each ------------------------------------------------------------------ */

static bool read_element(Reader *reader, const DumpList *list) {
  DumpItems *items = dump_items(list, reader->module);
  if (items->count == items->capacity)
    items->items = vec_grow(reader->arena, items->items, &items->capacity, list->size);
  char *record = items->items + (size_t)items->count++ * list->size;
  return record_read(reader, list->fields, list->field_count, record);
}

/* Whether an element is next, whose keyword it consumes. */
static bool sees_element(Reader *reader, const DumpList *list) {
  if (list->keyword) return reader_accept_word(reader, list->keyword);
  for (int kind = 0; kind < VARIABLE_KIND_COUNT; kind++)
    if (reader_sees_word(reader, dump_variable_words[kind])) return true;
  return false;
}

static bool read_extern(Reader *reader) {
  ExternInfo external = {0};
  StringList files = {0};
  if (!reader_string(reader, &external.function)) return false;
  while (files.count == 0 || reader->token.kind == TOKEN_STRING) {
    const char *file;
    if (files.count == 0 && reader_sees_word(reader, "cuda")) break;
    if (!reader_string(reader, &file)) return false;
    vec_push(reader->arena, &files, file);
  }
  if (reader_accept_word(reader, "cuda") && !reader_string(reader, &external.cuda)) return false;
  external.file_count = files.count;
  external.files = files.items;
  if (!reader_optional_place(reader, &external.span)) return false;
  vec_push(reader->arena, &reader->module->externs, external);
  return true;
}

/* ---- data --------------------------------------------------------------------------------- */

static bool read_value(Reader *reader, int depth, DataValue *value);

static bool read_list(Reader *reader, int depth, DataValue *value) {
  ValueList list = {0};
  if (depth == DEEPEST_LIST) return reader_fail(reader, "lists are nested too deeply");
  while (!reader_sees_mark(reader, ']')) {
    DataValue item = {0};
    if (list.count > 0 && !reader_expect_mark(reader, ',')) return false;
    if (!read_value(reader, depth + 1, &item)) return false;
    vec_push(reader->arena, &list, item);
  }
  value->kind = DATA_LIST;
  value->count = list.count;
  value->items = list.items;
  return reader_expect_mark(reader, ']');
}

/* The options stand before the data. */
static bool read_option_name(Reader *reader, DataValue *value) {
  value->kind = DATA_OPTION;
  if (!reader_string(reader, &value->string)) return false;
  const RunOption *option = module_find_option(reader->module, value->string);
  if (!option) return reader_fail(reader, "there is no option of this name");
  value->number = option->start;
  return true;
}

static bool read_value(Reader *reader, int depth, DataValue *value) {
  if (reader_accept_mark(reader, '[')) return read_list(reader, depth, value);
  if (reader->token.kind == TOKEN_STRING) {
    value->kind = DATA_STRING;
    return reader_string(reader, &value->string);
  }
  if (reader_accept_word(reader, "field")) {
    value->kind = DATA_NAME;
    return reader_string(reader, &value->string);
  }
  if (reader_accept_word(reader, "option")) return read_option_name(reader, value);
  bool is_true = reader_accept_word(reader, "true");
  if (is_true || reader_accept_word(reader, "false")) {
    value->kind = DATA_BOOL;
    value->number = is_true;
    return true;
  }
  value->kind = DATA_NUMBER;
  return reader_double(reader, &value->number);
}

static bool read_call(Reader *reader, DataCall *call) {
  ArgumentList arguments = {0};
  if (!reader_word(reader, &call->function) || !reader_expect_mark(reader, '(')) return false;
  while (!reader_sees_mark(reader, ')')) {
    DataArgument argument = {0};
    if (arguments.count > 0 && !reader_expect_mark(reader, ',')) return false;
    if (!reader_word(reader, &argument.name) || !reader_expect_mark(reader, '=') ||
        !read_value(reader, 0, &argument.value))
      return false;
    if (strcmp(argument.name, DUMP_NO_NAME) == 0) argument.name = name_intern("");
    vec_push(reader->arena, &arguments, argument);
  }
  call->argument_count = arguments.count;
  call->arguments = arguments.items;
  return reader_expect_mark(reader, ')') && reader_optional_place(reader, &call->span);
}

/* "x", "y" = source() | stage() ; @place */
static bool read_pipeline(Reader *reader, DataPipeline *pipeline) {
  StringList fields = {0};
  CallList calls = {0};
  do {
    const char *field;
    if (!reader_string(reader, &field)) return false;
    vec_push(reader->arena, &fields, field);
  } while (reader_accept_mark(reader, ','));
  if (!reader_expect_mark(reader, '=')) return false;
  do {
    DataCall call = {0};
    if (!read_call(reader, &call)) return false;
    vec_push(reader->arena, &calls, call);
  } while (reader_accept_mark(reader, '|'));
  pipeline->field_count = fields.count;
  pipeline->fields = fields.items;
  pipeline->call_count = calls.count;
  pipeline->calls = calls.items;
  return reader_expect_mark(reader, ';') && reader_optional_place(reader, &pipeline->span);
}

static bool read_data_set(Reader *reader) {
  DataSet set = {0};
  PipelineList pipelines = {0};
  if (!reader_string(reader, &set.name)) return false;
  for (int i = 1; i < DATA_ORDER_COUNT; i++)
    if (reader_accept_word(reader, dump_order_words[i])) set.order = (DataOrder)i;
  if (set.order == DATA_ORDER_WITHIN && !reader_integer(reader, 1, DATA_MOST_WITHIN, &set.within))
    return false;
  set.wrap_tail = reader_accept_word(reader, "wrap_tail");
  if (!reader_optional_place(reader, &set.span) || !reader_expect_mark(reader, '{')) return false;
  while (!reader_sees_mark(reader, '}')) {
    DataPipeline pipeline = {0};
    if (!read_pipeline(reader, &pipeline)) return false;
    vec_push(reader->arena, &pipelines, pipeline);
  }
  set.pipeline_count = pipelines.count;
  set.pipelines = pipelines.items;
  vec_push(reader->arena, &reader->module->data_sets, set);
  return reader_expect_mark(reader, '}');
}

/* ---- the whole ---------------------------------------------------------------------------- */

typedef struct Item {
  const char *keyword;
  bool (*read)(Reader *reader); /* what stands after the keyword */
} Item;

static const Item items[] = {
    {"run", read_run},       {"source", read_source}, {"file", read_file},
    {"data", read_data_set}, {"entry", reader_entry}, {"extern", read_extern},
};

static bool read_item(Reader *reader) {
  for (size_t i = 0; i < sizeof items / sizeof *items; i++)
    if (reader_accept_word(reader, items[i].keyword)) return items[i].read(reader);
  for (int i = 0; i < DUMP_LIST_COUNT; i++)
    if (sees_element(reader, &dump_lists[i])) return read_element(reader, &dump_lists[i]);
  return false;
}

static bool read_heading(Reader *reader) {
  int64_t version;
  const char *name;
  if (!reader_expect_word(reader, DUMP_MAGIC) ||
      !reader_integer(reader, DUMP_VERSION, DUMP_VERSION, &version) ||
      !reader_expect_word(reader, "module") || !reader_string(reader, &name))
    return false;
  reader->module = module_create(reader->arena, name, NULL);
  return true;
}

/* The line of a node in the dump; the heading when the violation is elsewhere. */
static Span violation_place(const Reader *reader, const Violation *violation) {
  Span heading = {reader->dump, 1, 1, 1, 1 + (int)strlen(DUMP_MAGIC)};
  if (!violation->node) return heading;
  const Graph *graph = reader->module->entries[violation->entry];
  for (int i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i] == violation->node)
      return reader->node_places[violation->entry].items[i];
  return heading;
}

bool module_read(Reader *reader, FindViolation *find) {
  Violation violation;
  if (!read_heading(reader)) return false;
  while (read_item(reader)) continue;
  if (reader->failed) return false;
  if (!find(reader->arena, reader->module, &violation)) return true;
  return reader_fail_at(reader, violation_place(reader, &violation), "%s", violation.message);
}

Module *module_parse(Arena *arena, Diagnostics *diagnostics, const SourceFile *dump,
                     FindViolation *find) {
  Reader reader;
  reader_start(&reader, arena, diagnostics, dump);
  if (!module_read(&reader, find)) return NULL;
  if (reader.token.kind == TOKEN_END) return reader.module;
  reader_fail(&reader, "expected an item of a dump (run, source, param, entry, ...)");
  return NULL;
}
