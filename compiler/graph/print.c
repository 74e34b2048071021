/* Printing a module in the textual form (dump_words.h shows it).
 *
 * Everything of the module is printed, in the order of its arrays, so that reading the text back
 * and printing again gives the same bytes. Files other than the source get numbers from 1 in the
 * order in which the printed text first mentions them. */
#include "graph/textual.h"

#include <string.h>
#include "graph/dump_words.h"
#include "support/panic.h"

typedef struct Printer {
  Text *text;
  Arena *arena;   /* scratch */
  FileList files; /* numbered from 1; items[0] is the source (NULL if the module has none) */
  bool with_places;
} Printer;

/* ---- places ------------------------------------------------------------------------------- */

static int file_number(const FileList *files, const SourceFile *file) {
  int number = files->count - 1;
  while (number >= 0 && files->items[number] != file) number--;
  return number;
}

static void mention(Printer *printer, Span span) {
  if (span.line != 0 && file_number(&printer->files, span.file) < 0)
    vec_push(printer->arena, &printer->files, span.file);
}

void text_add_place(Text *text, Span span, const FileList *files) {
  if (span.line == 0) return;
  int number = file_number(files, span.file);
  CHECK(number >= 0);
  text_add(text, " @");
  if (number > 0) text_printf(text, "%d/", number);
  text_printf(text, "%d:%d-%d:%d", span.line, span.column, span.end_line, span.end_column);
}

static void print_place(Printer *printer, Span span) {
  if (!printer->with_places) return;
  mention(printer, span);
  text_add_place(printer->text, span, &printer->files);
}

/* ---- the module's tables ------------------------------------------------------------------ */

static void print_run(Text *text, const RunConfig *run) {
  text_add(text, "run {");
  for (int i = 0; i < dump_run_field_count; i++) {
    int64_t value;
    memcpy(&value, (const char *)run + dump_run_fields[i].offset, sizeof value);
    if (dump_run_fields[i].is_optional && value == 0) continue;
    text_printf(text, "%s = %lld, ", dump_run_fields[i].name, (long long)value);
  }
  if (run->batch_name) {
    text_add(text, "batch_name = ");
    text_add_quoted(text, run->batch_name);
    text_add(text, ", ");
  }
  if (run->definitions) {
    text_add(text, "definitions = ");
    text_add_quoted(text, run->definitions);
    text_add(text, ", ");
  }
  if (run->scans) text_printf(text, "scans = %s, ", dump_scan_words[run->scans]);
  if (run->allows_tf32) text_add(text, "tf32, ");
  if (run->splits_products) text_add(text, "bf16x3, ");
  text_printf(text, "precision = %s}\n", dtype_name(run->precision));
}

static void print_file_flags(Text *text, const SourceFile *file) {
  if (file->is_prelude) text_add(text, " prelude");
}

/* A string a line of the file. */
static void print_source(Printer *printer, const SourceFile *source) {
  if (!source) return;
  Text *text = printer->text;
  text_add(text, "source ");
  text_add_quoted(text, source->name);
  print_file_flags(text, source);
  if (!source->text) {
    text_add_char(text, '\n');
    return;
  }
  CHECK(strlen(source->text) == source->length);
  text_add(text, " {\n");
  for (const char *at = source->text; *at;) {
    const char *newline = strchr(at, '\n');
    size_t length = newline ? (size_t)(newline - at) + 1 : strlen(at);
    text_add(text, "  ");
    text_add_quoted(text, arena_strndup(printer->arena, at, length));
    text_add_char(text, '\n');
    at += length;
  }
  text_add(text, "}\n");
}

static void print_files(Printer *printer) {
  for (int i = 1; i < printer->files.count; i++) {
    const SourceFile *file = printer->files.items[i];
    text_printf(printer->text, "file %d ", i);
    text_add_quoted(printer->text, file->name);
    print_file_flags(printer->text, file);
    text_add_char(printer->text, '\n');
  }
}

static void print_list(Printer *printer, const DumpList *list, const Module *module) {
  const DumpItems *items = dump_items(list, module);
  for (int i = 0; i < items->count; i++) {
    const char *record = items->items + (size_t)i * list->size;
    for (int k = 0; k < list->field_count; k++)
      if (list->fields[k].kind == FIELD_PLACE)
        mention(printer, *(const Span *)(record + list->fields[k].offset));
    if (list->keyword) text_printf(printer->text, "%s ", list->keyword);
    record_print(printer->text, list->fields, list->field_count, record, &printer->files);
    text_add_char(printer->text, '\n');
  }
}

/* extern "swish" "swish.c" "tables.a" cuda "swish.cu" @place */
static void print_extern(Printer *printer, const ExternInfo *external) {
  Text *text = printer->text;
  text_add(text, "extern ");
  text_add_quoted(text, external->function);
  for (int i = 0; i < external->file_count; i++) {
    text_add_char(text, ' ');
    text_add_quoted(text, external->files[i]);
  }
  if (external->cuda) {
    text_add(text, " cuda ");
    text_add_quoted(text, external->cuda);
  }
  print_place(printer, external->span);
  text_add_char(text, '\n');
}

/* ---- data --------------------------------------------------------------------------------- */

static void print_data_value(Text *text, const DataValue *value) {
  switch (value->kind) {
  case DATA_NUMBER: text_add_double(text, value->number); break;
  case DATA_STRING: text_add_quoted(text, value->string); break;
  case DATA_BOOL: text_add(text, value->number != 0 ? "true" : "false"); break;
  case DATA_NAME:
    text_add(text, "field ");
    text_add_quoted(text, value->string);
    break;
  case DATA_OPTION:
    text_add(text, "option ");
    text_add_quoted(text, value->string);
    break;
  case DATA_LIST:
    text_add_char(text, '[');
    for (int i = 0; i < value->count; i++) {
      if (i > 0) text_add(text, ", ");
      print_data_value(text, &value->items[i]);
    }
    text_add_char(text, ']');
    break;
  }
}

static void print_call(Printer *printer, const DataCall *call) {
  Text *text = printer->text;
  text_printf(text, "%s(", call->function);
  for (int i = 0; i < call->argument_count; i++) {
    const char *name = call->arguments[i].name;
    text_printf(text, "%s%s = ", i > 0 ? ", " : "", *name ? name : DUMP_NO_NAME);
    print_data_value(text, &call->arguments[i].value);
  }
  text_add_char(text, ')');
  print_place(printer, call->span);
}

static void print_data_set(Printer *printer, const DataSet *set) {
  Text *text = printer->text;
  text_add(text, "data ");
  text_add_quoted(text, set->name);
  if (set->order) text_printf(text, " %s", dump_order_words[set->order]);
  if (set->order == DATA_ORDER_WITHIN) text_printf(text, " %lld", (long long)set->within);
  if (set->wrap_tail) text_add(text, " wrap_tail");
  print_place(printer, set->span);
  text_add(text, " {\n");
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    text_add(text, "  ");
    for (int k = 0; k < pipeline->field_count; k++) {
      if (k > 0) text_add(text, ", ");
      text_add_quoted(text, pipeline->fields[k]);
    }
    text_add(text, " =");
    for (int k = 0; k < pipeline->call_count; k++) {
      text_add(text, k > 0 ? " | " : " ");
      print_call(printer, &pipeline->calls[k]);
    }
    text_add(text, " ;");
    print_place(printer, pipeline->span);
    text_add_char(text, '\n');
  }
  text_add(text, "}\n");
}

/* ---- graphs ------------------------------------------------------------------------------- */

static void print_attribute(Text *text, const Attribute *attribute) {
  text_printf(text, "%s = ", attribute_name(attribute->key));
  switch (attribute_kind(attribute->key)) {
  case ATTRIBUTE_INT:
    if (attribute->key == ATTR_DTYPE && attribute->integer >= 0 && attribute->integer < DTYPE_COUNT)
      text_add(text, dtype_name((DType)attribute->integer));
    else text_printf(text, "%lld", (long long)attribute->integer);
    break;
  case ATTRIBUTE_FLOAT: text_add_double(text, attribute->real); break;
  case ATTRIBUTE_STRING: text_add_quoted(text, attribute->string); break;
  case ATTRIBUTE_INTS:
    text_add_char(text, '[');
    for (int i = 0; i < attribute->count; i++)
      text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)attribute->ints[i]);
    text_add_char(text, ']');
    break;
  }
}

static void print_graph(Printer *printer, const Graph *graph, int depth);

static void print_node(Printer *printer, const Node *node, int depth) {
  Text *text = printer->text;
  text_printf(text, "%*s%%%d : ", 2 * depth, "", node->id);
  text_add_type(text, node->type);
  text_printf(text, " = %s(", op_name(node->op));
  for (int i = 0; i < node->operand_count; i++)
    text_printf(text, "%s%%%d", i > 0 ? ", " : "", node->operands[i]->id);
  text_add_char(text, ')');
  for (int i = 0; i < node->attribute_count; i++) {
    text_add(text, i > 0 ? ", " : " {");
    print_attribute(text, &node->attributes[i]);
  }
  if (node->attribute_count > 0) text_add_char(text, '}');
  text_add_char(text, ' ');
  text_add_quoted(text, node->path);
  print_place(printer, node->span);
  if (node_inner(node)) {
    text_add(text, " {\n");
    print_graph(printer, node_inner(node), depth + 1);
    text_printf(text, "%*s}", 2 * depth, "");
  }
  text_add_char(text, '\n');
}

static void print_output(Printer *printer, const Output *output, int depth) {
  Text *text = printer->text;
  text_printf(text, "%*s%s ", 2 * depth, "", dump_output_words[output->kind]);
  if (output->kind == OUTPUT_ACCUMULATOR)
    text_printf(text, "%s ", dump_combine_words[output->combine]);
  text_add_quoted(text, output->name);
  text_printf(text, " = %%%d", output->node->id);
  print_place(printer, output->span);
  text_add_char(text, '\n');
}

static void print_graph(Printer *printer, const Graph *graph, int depth) {
  for (int i = 0; i < graph->nodes.count; i++) print_node(printer, graph->nodes.items[i], depth);
  for (int i = 0; i < graph->outputs.count; i++)
    print_output(printer, &graph->outputs.items[i], depth);
}

static void print_entry(Printer *printer, const Graph *graph) {
  text_printf(printer->text, "entry %s {\n", graph->name);
  print_graph(printer, graph, 1);
  text_add(printer->text, "}\n");
}

/* What mentions files is printed first. */
void module_print_files(Text *text, const Module *module, Arena *arena, FileList *files) {
  Text body = {0};
  Printer printer = {.text = &body, .arena = arena, .with_places = true};
  vec_push(arena, &printer.files, module->source);
  for (int i = 0; i < DUMP_LIST_COUNT; i++) print_list(&printer, &dump_lists[i], module);
  for (int i = 0; i < module->externs.count; i++) print_extern(&printer, &module->externs.items[i]);
  for (int i = 0; i < module->data_sets.count; i++)
    print_data_set(&printer, &module->data_sets.items[i]);
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) print_entry(&printer, module->entries[i]);
  printer.text = text;
  text_printf(text, "%s %d\nmodule ", DUMP_MAGIC, DUMP_VERSION);
  text_add_quoted(text, module->name);
  text_add_char(text, '\n');
  print_run(text, &module->run);
  print_source(&printer, module->source);
  print_files(&printer);
  if (body.length > 0) text_add_bytes(text, body.data, body.length);
  text_free(&body);
  *files = printer.files;
}

void module_print(Text *text, const Module *module) {
  Arena *scratch = arena_create();
  FileList files;
  module_print_files(text, module, scratch, &files);
  arena_destroy(scratch);
}

/* Without places: their files are listed only with a whole module. */
void graph_print(Text *text, const Graph *graph) {
  Printer printer = {.text = text};
  print_entry(&printer, graph);
}
