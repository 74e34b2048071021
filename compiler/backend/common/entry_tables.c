/* The tables of an entry of nnc_the_model: inputs, accumulators and results. */
#include "backend/common/emitter.h"
#include "backend/common/c.h"

#include <string.h>
#include "ops/limits.h"

static const char *const combine_enumerators[COMBINE_COUNT] = {
    "NNC_MEAN", "NNC_COUNTS", "NNC_BATCHES", "NNC_SUM",
    "NNC_MAX",  "NNC_MIN",    "NNC_LAST",    "NNC_STEPS"};

/* "TYPE ENTRY_NAME[COUNT]" */
static const char *entry_table(Emitter *emitter, const char *type, const char *entry,
                               const char *name, int count) {
  return arena_printf(emitter->arena, "%s %s_%s[%d]", type, entry, name, count);
}

/* A number for each input. */
typedef struct InputNumbers {
  const char *type, *name, *member; /* of the table, and what the nnc_entry calls it */
  int64_t usual, *numbers;
} InputNumbers;

/* The table of these numbers: that of an earlier entry, or a new one. */
static const char *number_table(Emitter *emitter, const char *entry, int count,
                                const InputNumbers *of) {
  const char *numbers = code_integers(emitter->arena, count, of->numbers);
  for (int i = 0; i < emitter->numbers.count; i++) {
    const NumberTable *table = &emitter->numbers.items[i];
    if (strcmp(table->type, of->type) == 0 && strcmp(table->numbers, numbers) == 0)
      return table->name;
  }
  NumberTable table = {arena_printf(emitter->arena, "%s_%s", entry, of->name), of->type, numbers};
  vec_push(emitter->arena, &emitter->numbers, table);
  code_line(&emitter->code, "static const %s = {%s};",
            entry_table(emitter, of->type, entry, of->name, count), numbers);
  return table.name;
}

/* Writes them where not all are `usual`; what that adds to the initializer of the nnc_entry. */
static const char *emit_input_numbers(Emitter *emitter, const char *entry, int count,
                                      const InputNumbers *of) {
  bool is_usual = true;
  for (int i = 0; i < count; i++) is_usual = is_usual && of->numbers[i] == of->usual;
  if (is_usual) return "";
  return arena_printf(emitter->arena, ", .%s = %s", of->member,
                      number_table(emitter, entry, count, of));
}

static const char *emit_inputs(Emitter *emitter, const char *name, const ProgramEntry *entry) {
  const Program *program = emitter->program;
  const Graph *graph = program->module->entries[entry->entry];
  Arena *arena = emitter->arena;
  const int count = entry->inputs.count;
  int64_t *batched = ARENA_ARRAY(arena, int64_t, count);
  int64_t *limits = ARENA_ARRAY(arena, int64_t, count);
  int64_t *exceptions = ARENA_ARRAY(arena, int64_t, count);
  const char **rows = ARENA_ARRAY(arena, const char *, count);
  for (int i = 0; i < count; i++) {
    const Buffer *buffer = &program->buffers.items[entry->inputs.items[i]];
    InputLimit limit = graph_input_limit(arena, graph, buffer->name);
    rows[i] = emitter_tensor(emitter, buffer->name, buffer->type,
                             emitter_offset(program, entry->inputs.items[i]));
    batched[i] = module_find_input(program->module, buffer->name)->is_batched;
    limits[i] = limit.bound;
    exceptions[i] = limit.has_exception ? limit.exception : INT64_MIN;
  }
  emitter_rows(emitter, entry_table(emitter, "nnc_tensor", name, "inputs", count), count, rows);
  const InputNumbers tables[] = {
      {"unsigned char", "batched", "input_is_batched", 0, batched},
      {"int64_t", "limits", "input_limits", 0, limits},
      {"int64_t", "exceptions", "input_exceptions", INT64_MIN, exceptions}};
  const char *text = arena_printf(arena, ", .input_count = %d, .inputs = %s_inputs", count, name);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    text = arena_printf(arena, "%s%s", text, emit_input_numbers(emitter, name, count, &tables[i]));
  return text;
}

/* Accumulators and results of an entry, in the graph's order; returns how many. */
static int emit_outputs(Emitter *emitter, const char *name, const ProgramEntry *entry,
                        OutputKind kind) {
  const Program *program = emitter->program;
  const Graph *graph = program->module->entries[entry->entry];
  int count = 0, number = 0, row = 0;
  for (int i = 0; i < graph->outputs.count; i++) count += graph->outputs.items[i].kind == kind;
  if (count == 0) return 0;
  bool is_result = kind == OUTPUT_RESULT;
  const char **rows = ARENA_ARRAY(emitter->arena, const char *, count);
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind != OUTPUT_RESULT && output->kind != OUTPUT_ACCUMULATOR) continue;
    int buffer = entry->results.items[number++];
    if (output->kind != kind) continue;
    const char *tensor =
        emitter_tensor(emitter, output->name, output->node->type, emitter_offset(program, buffer));
    rows[row++] = is_result ? tensor
                            : arena_printf(emitter->arena, "{%s, %s, %s}",
                                           code_string(emitter->arena, output->name),
                                           combine_enumerators[output->combine], tensor);
  }
  emitter_rows(emitter,
               entry_table(emitter, is_result ? "nnc_tensor" : "nnc_accumulator", name,
                           is_result ? "results" : "accumulators", count),
               count, rows);
  return count;
}

/* Whether some kernel of an entry has tasks for several workers. */
static bool is_for_all(const ProgramEntry *entry) {
  for (int i = 0; i < entry->steps.count; i++)
    if (entry->steps.items[i].task_count > 1) return true;
  return false;
}

const char *emitter_entry_tables(Emitter *emitter, EntryKind kind) {
  const ProgramEntry *entry = &emitter->program->entries[kind];
  if (!entry->present) return NULL;
  const char *name = entry_name(kind);
  Arena *arena = emitter->arena;
  Text *out = emitter->code.out;
  size_t before = out->length;
  const char *text = arena_printf(
      arena, "{.batch = %lld, .flops = %s, .bytes = %s", (long long)entry->batch,
      c_literal(arena, DTYPE_F64, entry->flops), c_literal(arena, DTYPE_F64, entry->bytes));
  if (entry->product_flops != 0)
    text = arena_printf(arena, "%s, .product_flops = %s", text,
                        c_literal(arena, DTYPE_F64, entry->product_flops));
  if (is_for_all(entry)) text = arena_printf(arena, "%s, .is_for_all = 1", text);
  if (entry->inputs.count > 0)
    text = arena_printf(arena, "%s%s", text, emit_inputs(emitter, name, entry));
  int accumulators = emit_outputs(emitter, name, entry, OUTPUT_ACCUMULATOR);
  if (accumulators > 0)
    text = arena_printf(arena, "%s, .accumulator_count = %d, .accumulators = %s_accumulators", text,
                        accumulators, name);
  int results = emit_outputs(emitter, name, entry, OUTPUT_RESULT);
  if (results > 0)
    text =
        arena_printf(arena, "%s, .result_count = %d, .results = %s_results", text, results, name);
  const char *steps = emitter_step_table(emitter, name, entry);
  const char *plan = emitter_plan_table(emitter, name, entry);
  if (out->length > before) text_insert(out, before, "\n");
  return arena_printf(arena, "%s%s%s}", text, steps, plan);
}
