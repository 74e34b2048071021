/* Running an entry as a Program, on the leaf values of evaluate_graphs.h, and comparing every
 * output with what the interpreter says. */
#ifndef NNC_TESTS_UNIT_RUN_PROGRAM_H
#define NNC_TESTS_UNIT_RUN_PROGRAM_H

#include "backend/c/kernels.h"
#include "evaluate_graphs.h"
#include "program/evaluate.h"
#include "program/program.h"

static inline const Node *find_leaf_node(const Graph *graph, const char *name, bool is_input) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    LeafKind leaf = op_info(node->op)->class->leaf;
    bool fits = is_input ? leaf == LEAF_INPUT : leaf == LEAF_PARAM || leaf == LEAF_STATE;
    if (fits && strcmp(node_string(node, ATTR_NAME), name) == 0) return node;
  }
  return NULL;
}

/* Values of all variables and inputs that the entry reads. */
static inline void fill_leaves(Arena *arena, Machine *machine, const Program *program,
                               EntryKind entry) {
  const Graph *graph = program->module->entries[entry];
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    bool is_input = buffer->kind == BUFFER_INPUT && buffer->entry == (int)entry;
    if (buffer->kind != BUFFER_VARIABLE && !is_input) continue;
    const Node *leaf = find_leaf_node(graph, buffer->name, is_input);
    if (leaf) machine_write(machine, i, leaf_value(arena, leaf)->data);
  }
}

static inline double *scalar_values(Arena *arena, const Program *program) {
  double *scalars = ARENA_ARRAY(arena, double, program->scalar_names.count + 1);
  for (int i = 0; i < program->scalar_names.count; i++) {
    Attribute name = attr_make_string(ATTR_NAME, program->scalar_names.items[i]);
    Node leaf = {
        .op = OP_SCALAR, .type = type_scalar(DTYPE_F64), .attribute_count = 1, .attributes = &name};
    scalars[i] = leaf_value(arena, &leaf)->data[0];
  }
  return scalars;
}

static inline int output_buffer(const Program *program, EntryKind entry, int number) {
  const Graph *graph = program->module->entries[entry];
  const Output *output = &graph->outputs.items[number];
  int result = 0;
  if (output->kind == OUTPUT_STORE) {
    for (int i = 0; i < program->buffers.count; i++)
      if (program->buffers.items[i].kind == BUFFER_VARIABLE &&
          strcmp(program->buffers.items[i].name, output->name) == 0)
        return i;
  }
  for (int i = 0; i < number; i++)
    result += graph->outputs.items[i].kind == OUTPUT_ACCUMULATOR ||
              graph->outputs.items[i].kind == OUTPUT_RESULT;
  return program->entries[entry].results.items[result];
}

/* NULL when all agree; else which output differs and how. */
static inline const char *compare_outputs(Arena *arena, const Program *program, EntryKind entry,
                                          double tolerance) {
  const Graph *graph = program->module->entries[entry];
  Machine *machine = machine_create(arena, program);
  fill_leaves(arena, machine, program, entry);
  EvaluateContext context = {.seed = 5, .step = 1}; /* that of evaluate() */
  machine_run(machine, entry, scalar_values(arena, program), &context);
  const Evaluation *expected = evaluate(arena, graph);
  for (int i = 0; i < graph->outputs.count; i++) {
    const Tensor *value = evaluation_output(expected, i);
    int64_t count = shape_elements(value->type.shape);
    double *given = ARENA_ARRAY(arena, double, count + 1);
    machine_read(machine, output_buffer(program, entry, i), given);
    for (int64_t k = 0; k < count; k++) {
      double a = given[k], b = value->data[k];
      bool same = a == b || (isnan(a) && isnan(b)) ||
                  fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
      if (!same)
        return arena_printf(arena, "output %s: element %lld is %.17g and should be %.17g",
                            graph->outputs.items[i].name, (long long)k, a, b);
    }
  }
  return NULL;
}

/* `blocks` > 0: with task loops of so many blocks wherever they are possible. */
static inline Program *make_program_in_blocks(Arena *arena, const Module *module, int64_t blocks) {
  ProgramOptions options = {.level = 1, .target = &target_c, .blocks = blocks};
  return program_create(arena, module, &options);
}

static inline Program *make_program(Arena *arena, const Module *module, int level) {
  ProgramOptions options = {.level = level, .target = &target_c};
  return program_create(arena, module, &options);
}

/* Lowers and runs the entry plainly, optimized, and so in blocks. */
static inline void check_program(Arena *arena, const Module *module, EntryKind entry,
                                 double tolerance, const char *what) {
  for (int variant = 0; variant <= 3; variant++) {
    int level = variant > 0;
    const Program *program = variant < 2 ? make_program(arena, module, level)
                                         : make_program_in_blocks(arena, module, variant);
    const char *wrong = compare_outputs(arena, program, entry, tolerance);
    if (wrong == NULL) continue;
    Text text = {0};
    graph_print(&text, module->entries[entry]);
    program_print(&text, program);
    printf("%s\n", text.data);
    fail_msg("%s, variant %d: %s", what, variant, wrong);
  }
}

#endif
