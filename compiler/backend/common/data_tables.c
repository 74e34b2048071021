/* The data sets of nnc_the_model: lines with their calls, and the inputs that stages look at. */
#include "backend/common/emitter.h"
#include "backend/common/c.h"

#include <string.h>

enum { ITEMS_A_LINE = 2 };
typedef VEC(const InputInfo *) LookedInputs;

/* Into one growing text: a table has thousands of columns. */
static void add_value(Emitter *emitter, Text *text, const DataValue *value) {
  switch (value->kind) {
  case DATA_NUMBER:
    text_printf(text, "{.kind = NNC_NUMBER, .number = %s}",
                c_literal(emitter->arena, DTYPE_F64, value->number));
    return;
  case DATA_BOOL:
    text_printf(text, "{.kind = NNC_BOOLEAN, .number = %d}", value->number != 0);
    return;
  case DATA_STRING:
    text_printf(text, "{.kind = NNC_STRING, .string = %s}",
                code_string(emitter->arena, value->string));
    return;
  case DATA_NAME:
    text_printf(text, "{.kind = NNC_FIELD, .string = %s}",
                code_string(emitter->arena, value->string));
    return;
  case DATA_OPTION:
    text_printf(text, "{.kind = NNC_OPTION, .number = %d, .string = %s}",
                module_option_index(emitter->program->module, value->string),
                code_string(emitter->arena, value->string));
    return;
  case DATA_LIST: break;
  }
  if (value->count == 0) {
    text_add(text, "{.kind = NNC_LIST}");
    return;
  }
  text_printf(text, "{.kind = NNC_LIST, .count = %d, .items = (const nnc_value[]){", value->count);
  for (int i = 0; i < value->count; i++) {
    text_add(text, i == 0 ? "" : i % ITEMS_A_LINE == 0 ? ",\n    " : ", ");
    add_value(emitter, text, &value->items[i]);
  }
  text_add(text, "}}");
}

static void emit_arguments(Emitter *emitter, const DataCall *call, const char *name) {
  Arena *arena = emitter->arena;
  const char **rows = ARENA_ARRAY(arena, const char *, call->argument_count + 1);
  for (int i = 0; i < call->argument_count; i++) {
    const DataArgument *argument = &call->arguments[i];
    Text text = {0};
    text_printf(&text, "{%s, ", code_string(arena, argument->name ? argument->name : ""));
    add_value(emitter, &text, &argument->value);
    text_add_char(&text, '}');
    rows[i] = text_take(&text, arena);
  }
  emitter_rows(emitter, arena_printf(arena, "nnc_argument %s[%d]", name, call->argument_count),
               call->argument_count, rows);
}

static const char *emit_pipeline(Emitter *emitter, const DataPipeline *pipeline, const char *name) {
  Arena *arena = emitter->arena;
  Code *code = &emitter->code;
  Text fields = {0};
  for (int i = 0; i < pipeline->field_count; i++)
    text_printf(&fields, "%s%s", i ? ", " : "", code_string(emitter->arena, pipeline->fields[i]));
  code_line(code, "static const char *const %s_fields[%d] = {%s};", name, pipeline->field_count,
            fields.data);
  text_free(&fields);
  for (int i = 0; i < pipeline->call_count; i++)
    emit_arguments(emitter, &pipeline->calls[i], arena_printf(arena, "%s_call_%d", name, i));
  const char **rows = ARENA_ARRAY(arena, const char *, pipeline->call_count + 1);
  for (int i = 0; i < pipeline->call_count; i++) {
    const DataCall *call = &pipeline->calls[i];
    const char *arguments =
        call->argument_count > 0 ? arena_printf(arena, "%s_call_%d", name, i) : "NULL";
    rows[i] = arena_printf(
        arena,
        "{.function = %s, .%s = &nnc_%s_%s, .argument_count = %d, .arguments = %s, .line = %d, "
        ".column = %d}",
        code_string(arena, call->function), i == 0 ? "source" : "stage",
        i == 0 ? "source" : "stage", call->function, call->argument_count, arguments,
        call->span.line, call->span.column);
  }
  emitter_rows(emitter, arena_printf(arena, "nnc_call %s_calls[%d]", name, pipeline->call_count),
               pipeline->call_count, rows);
  return arena_printf(arena, "{%d, %s_fields, %d, %s_calls}", pipeline->field_count, name,
                      pipeline->call_count, name);
}

void emitter_data_sets(Emitter *emitter) {
  static const char *const orders[DATA_ORDER_COUNT] = {"NNC_ORDER_SHUFFLED", "NNC_ORDER_FILE",
                                                       "NNC_ORDER_STREAMS", "NNC_ORDER_WITHIN"};
  const Module *module = emitter->program->module;
  Arena *arena = emitter->arena;
  Code *code = &emitter->code;
  if (module->data_sets.count == 0) return;
  code_blank(code);
  const char **rows = ARENA_ARRAY(arena, const char *, module->data_sets.count);
  for (int i = 0; i < module->data_sets.count; i++) {
    const DataSet *set = &module->data_sets.items[i];
    const char *pipelines = "";
    for (int p = 0; p < set->pipeline_count; p++)
      pipelines = arena_printf(
          arena, "%s%s%s", pipelines, p ? ", " : "",
          emit_pipeline(emitter, &set->pipelines[p], arena_printf(arena, "data_%d_%d", i, p)));
    code_line(code, "static const nnc_pipeline data_%d[%d] = {%s};", i,
              set->pipeline_count > 0 ? set->pipeline_count : 1,
              set->pipeline_count > 0 ? pipelines : "{0}");
    rows[i] = arena_printf(arena, "{%s, %d, data_%d, %s, %d, %lld}",
                           code_string(emitter->arena, set->name), set->pipeline_count, i,
                           orders[set->order], set->wrap_tail, (long long)set->within);
  }
  emitter_rows(emitter, arena_printf(arena, "nnc_data_set data_sets[%d]", module->data_sets.count),
               module->data_sets.count, rows);
}

/* ---- inputs that stages look at ---- */

static void add_looked_at(Emitter *emitter, const char *field, LookedInputs *found) {
  const InputInfo *input = module_find_input(emitter->program->module, field);
  bool is_new = input != NULL;
  for (int k = 0; k < found->count; k++) is_new = is_new && found->items[k] != input;
  if (is_new) vec_push(emitter->arena, found, input);
}

static void add_looked_at_by(Emitter *emitter, const DataPipeline *pipeline, const DataCall *call,
                             LookedInputs *found) {
  if (strcmp(call->function, "with") == 0) return; /* it names a field of another line */
  for (int i = 0; i < call->argument_count; i++) {
    const DataArgument *argument = &call->arguments[i];
    if (argument->value.kind == DATA_NAME && argument->name && argument->name[0])
      add_looked_at(emitter, argument->value.string, found);
  }
  if (strcmp(call->function, "boxes") == 0) add_looked_at(emitter, pipeline->fields[0], found);
}

/* An entry has the inputs that it computes with; a stage may choose rows by others. */
int emitter_looked_at(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  LookedInputs found = {0};
  for (int i = 0; i < module->data_sets.count; i++)
    for (int p = 0; p < module->data_sets.items[i].pipeline_count; p++) {
      const DataPipeline *pipeline = &module->data_sets.items[i].pipelines[p];
      for (int c = 1; c < pipeline->call_count; c++)
        add_looked_at_by(emitter, pipeline, &pipeline->calls[c], &found);
    }
  if (found.count == 0) return 0;
  code_blank(code);
  const char **rows = ARENA_ARRAY(emitter->arena, const char *, found.count);
  for (int i = 0; i < found.count; i++)
    rows[i] = emitter_tensor(emitter, found.items[i]->name, found.items[i]->type, 0);
  emitter_rows(emitter, arena_printf(emitter->arena, "nnc_tensor looked_at[%d]", found.count),
               found.count, rows);
  return found.count;
}
